//! Any character file, opened one way.

use crate::args::{Common, InputArgs};
use crate::flesh::{self, FROM_FILE, Fleshed};
use crate::mocap::Mocap;
use crate::motion::DEFAULT_FPS;
use crate::terminal::say;
use anyhow::{Context, Result, anyhow, bail};
use pliant::asset::{Character, Painted, TetMesh};
use pliant::method::{Deformer, Region};
use pliant::zoo;
use pliant_io::files::{Folder, NoFiles, read_limited};
use pliant_io::gltf::Document;
use pliant_io::rigging::{self, Rigged};
use pliant_io::{Files, Warning, bvh, gltf, obj};
use std::path::{Path, PathBuf};

/// Larger files than this (4 GiB, glTF's own limit for a GLB) are refused unread.
pub(crate) const MAX_FILE_BYTES: u64 = u32::MAX as u64;

/// The formats that are told apart by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Gltf,
    Obj,
    Bvh,
}

impl Format {
    /// By the ending; `None` for endings nobody here reads.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match extension(path).as_str() {
            "glb" | "gltf" | "vrm" => Some(Self::Gltf),
            "obj" => Some(Self::Obj),
            "bvh" => Some(Self::Bvh),
            _ => None,
        }
    }
}

/// A file's ending in lower case.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// A file's bytes, or why not, by name.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>> {
    read_limited(path, MAX_FILE_BYTES).with_context(|| format!("{}: cannot read it", path.display()))
}

/// A character ready to be deformed, and the glTF document that its output is made from.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) character: Character,
    /// Where its weights come from, in words.
    pub(crate) weights: &'static str,
    /// Tets that were given for its body.
    pub(crate) tets: Option<TetMesh>,
    pub(crate) document: Document,
    /// The files that the document may still refer to (images).
    pub(crate) files: Box<dyn Files>,
    pub(crate) warnings: Vec<Warning>,
    /// Soft regions that the file describes.
    pub(crate) regions: Vec<Region>,
    /// The clip that `--motion` gives.
    pub(crate) motion: Option<usize>,
    /// What is painted on the skin and can be had from the document, by name.
    pub(crate) paintable: Vec<String>,
}

impl Input {
    pub(crate) fn open(args: &InputArgs, common: &Common) -> Result<Self> {
        let mocap = Mocap::read(args)?;
        let mut input = Self::of(args, common)?;
        if let Some(mocap) = mocap {
            let clip = mocap.onto(&input.character, &mut input.warnings)?;
            let mut raw = input.character.into_raw();
            input.motion = Some(raw.clips.len());
            raw.clips.push(clip);
            input.character = Character::new(raw)?;
        }
        Ok(input)
    }

    fn of(args: &InputArgs, common: &Common) -> Result<Self> {
        let path = &args.file;
        if let Some(name) = sample_name(path) {
            if args.skeleton.is_some() {
                bail!("{}: --skeleton is for an OBJ; a sample brings its own", path.display());
            }
            return Self::from_character(
                zoo::character(name, None)?,
                name.to_owned(),
                vec![],
                true,
                args,
                common,
            );
        }
        let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let named = || path.display().to_string();
        let format = Format::of(path).ok_or_else(|| unknown_format(path))?;
        if format != Format::Obj && args.skeleton.is_some() {
            bail!("{}: --skeleton is for an OBJ; this file brings its own", named());
        }
        match format {
            Format::Gltf => {
                let files = Folder::of(path);
                let loaded = gltf::read(bytes(path)?, &files).with_context(named)?;
                let mut warnings = loaded.warnings;
                let has_weights = loaded.summary.influences_max > 0;
                let fleshed = flesh::weigh(loaded.character, has_weights, args, common, &mut warnings)?;
                let input = Self::new(name, fleshed, loaded.document, Box::new(files), warnings);
                Ok(Self { regions: loaded.regions, paintable: loaded.summary.painted, ..input })
            }
            Format::Bvh => {
                let rigged = bvh::read(&bytes(path)?).and_then(bvh::stick_character).with_context(named)?;
                Self::from_character(rigged.character, name, rigged.warnings, true, args, common)
            }
            Format::Obj => {
                let Some(skeleton) = &args.skeleton else {
                    bail!(
                        "{}: an OBJ has no skeleton; give one with --skeleton (.tgf, .bvh or .mhskel)",
                        named()
                    );
                };
                let rigged = rig_obj(args, skeleton)?;
                let has_weights = args.weights_file.is_some();
                Self::from_character(rigged.character, name, rigged.warnings, has_weights, args, common)
            }
        }
    }

    /// Says what is odd about it.
    pub(crate) fn warn(&self, common: &Common) {
        warn(&self.warnings, common);
    }

    /// Says where tets were given that neither the weights nor the method have a use for.
    pub(crate) fn unused_tets(&self, deformer: &dyn Deformer) -> Vec<String> {
        let is_unused = self.tets.is_some() && self.weights == FROM_FILE && deformer.body().is_none();
        let what = "--tets: they are not used: the weights are the file's own, and the method has no flesh";
        if is_unused { vec![what.to_owned()] } else { vec![] }
    }

    /// A character that has no glTF document gets one.
    fn from_character(
        character: Character,
        name: String,
        mut warnings: Vec<Warning>,
        has_weights: bool,
        args: &InputArgs,
        common: &Common,
    ) -> Result<Self> {
        let fleshed = flesh::weigh(character, has_weights, args, common, &mut warnings)?;
        let file = gltf::write_character(&fleshed.character)?;
        let document = gltf::read(file, &NoFiles)?.document;
        Ok(Self::new(name, fleshed, document, Box::new(NoFiles), warnings))
    }

    fn new(
        name: String,
        fleshed: Fleshed,
        document: Document,
        files: Box<dyn Files>,
        warnings: Vec<Warning>,
    ) -> Self {
        let Fleshed { character, weights, tets } = fleshed;
        let (regions, paintable) = (vec![], vec![]);
        Self { name, character, weights, tets, document, files, warnings, regions, motion: None, paintable }
    }

    /// Puts more paint on the character.
    pub(crate) fn add_paint(mut self, paint: Vec<Painted>) -> Result<Self> {
        if !paint.is_empty() {
            let mut raw = self.character.into_raw();
            raw.paint.extend(paint);
            self.character = Character::new(raw)?;
        }
        Ok(self)
    }
}

/// An OBJ with a skeleton and weights from files of their own.
fn rig_obj(args: &InputArgs, skeleton: &Path) -> Result<Rigged> {
    let path = &args.file;
    let mesh = obj::read(&bytes(path)?).with_context(|| path.display().to_string())?;
    let mut rig = rigging::read_skeleton(&skeleton.to_string_lossy(), &bytes(skeleton)?, &mesh)
        .with_context(|| skeleton.display().to_string())?;
    if let Some(file) = args.motion.as_ref().filter(|file| extension(file) == "dmat") {
        let clip = rigging::dmat::read_clip(&bytes(file)?, &rig, DEFAULT_FPS)
            .with_context(|| file.display().to_string())?;
        rig.clips.insert(0, clip);
    }
    let weights = args
        .weights_file
        .as_ref()
        .map(|file| {
            rigging::read_weights(&file.to_string_lossy(), &bytes(file)?, &mesh, &rig)
                .with_context(|| file.display().to_string())
        })
        .transpose()?;
    rigging::assemble(&mesh, rig, weights.as_ref()).with_context(|| path.display().to_string())
}

/// Says on standard error what is odd, unless asked to be quiet.
pub(crate) fn warn(warnings: &[Warning], common: &Common) {
    if !common.quiet {
        warnings.iter().for_each(|warning| say(&format!("warning: {warning}")));
    }
}

impl InputArgs {
    /// Refuses to write over what was read: the rig, once baked, could not be had back.
    pub(crate) fn check_not_among<'p>(&'p self, outputs: impl Iterator<Item = &'p Path>) -> Result<()> {
        let beside = [&self.skeleton, &self.weights_file, &self.motion, &self.tets].map(Option::as_ref);
        check_not_among(std::iter::once(Some(&self.file)).chain(beside).flatten(), outputs)
    }
}

/// Refuses to write over what was read.
pub(crate) fn check_not_among<'p>(
    inputs: impl Iterator<Item = &'p PathBuf>,
    outputs: impl Iterator<Item = &'p Path>,
) -> Result<()> {
    let inputs: Vec<PathBuf> = inputs.filter_map(|p| p.canonicalize().ok()).collect();
    for output in outputs {
        if output.canonicalize().is_ok_and(|output| inputs.contains(&output)) {
            bail!("{}: this is an input; write to another file", output.display());
        }
    }
    Ok(())
}

/// The sample that `sample:NAME` stands for.
pub(crate) fn sample_name(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix("sample:")
}

pub(crate) fn unknown_format(path: &Path) -> anyhow::Error {
    anyhow!("{}: unknown kind of file; a character is .glb, .gltf, .vrm, .obj or .bvh", path.display())
}
