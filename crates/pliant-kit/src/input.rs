//! Any character file, opened one way.

use crate::flesh::{self, FROM_FILE, Fleshed};
use crate::host::Host;
use crate::mocap::{Mapped, Mocap};
use crate::motion::DEFAULT_FPS;
use anyhow::{Context, Result, anyhow, bail};
use pliant::asset::{Character, Painted, TetMesh};
use pliant::method::{Deformer, Region};
use pliant::rig::weights::WeightKind;
use pliant::zoo;
use pliant_io::files::NoFiles;
use pliant_io::gltf::Document;
use pliant_io::rigging::{self, Rigged};
use pliant_io::{Files, Warning, bvh, gltf, obj};
use std::path::{Path, PathBuf};

/// The formats that are told apart by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.glb`, `.gltf`, `.vrm`.
    Gltf,
    /// `.obj`.
    Obj,
    /// `.bvh`.
    Bvh,
}

impl Format {
    /// By the ending; `None` for endings nobody here reads.
    pub fn of(path: &Path) -> Option<Self> {
        match extension(path).as_str() {
            "glb" | "gltf" | "vrm" => Some(Self::Gltf),
            "obj" => Some(Self::Obj),
            "bvh" => Some(Self::Bvh),
            _ => None,
        }
    }
}

/// A file's ending in lower case.
pub fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// What to open, and how.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The character: a file, or `sample:NAME`.
    pub file: PathBuf,
    /// Skeleton of an OBJ.
    pub skeleton: Option<PathBuf>,
    /// Which weights.
    pub weights: Option<WeightsWish>,
    /// Skin weights of an OBJ.
    pub weights_file: Option<PathBuf>,
    /// Tets to use as the body in place of making them.
    pub tets: Option<PathBuf>,
    /// A recording, or for an OBJ a `.dmat` of bone transforms.
    pub motion: Option<PathBuf>,
    /// Which joint of a recording moves which of the character's.
    pub map: Option<PathBuf>,
    /// How fast the motion is played.
    pub speed: Option<f64>,
    /// What serves a file that has no weights where none are asked for: the method's choice.
    pub usual_weights: Option<WeightKind>,
}

/// Where skin weights are to come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightsWish {
    /// Stiff between joints.
    Segment,
    /// Smooth, by distances inside the body.
    Geodesic,
    /// Smooth, by straight lines.
    Distance,
    /// From the angles at the joints.
    Angle,
    /// The file's own; an error where it has none.
    File,
}

/// A character ready to be deformed, and the glTF document that its output is made from.
pub struct Input {
    /// What it is called: the file's name without its ending.
    pub name: String,
    /// The character.
    pub character: Character,
    /// Where its weights come from, in words.
    pub weights: &'static str,
    /// Tets that were given for its body.
    pub tets: Option<TetMesh>,
    /// The document that its output is made from.
    pub document: Document,
    /// The files that the document may still refer to (images).
    pub files: Box<dyn Files>,
    /// What was odd.
    pub warnings: Vec<Warning>,
    /// Regions that the file describes.
    pub regions: Vec<Region>,
    /// The clip that `--motion` gives, and how it came about.
    pub motion: Option<(usize, Mapped)>,
    /// Joints that the file says are bones of a human body.
    pub bones: Vec<(u32, String)>,
    /// Whether the file's units may be anything.
    pub is_unitless: bool,
    /// What is painted on the skin and can be had from the document, by name.
    pub paintable: Vec<String>,
}

impl Input {
    /// Opens a character, with its motion among its clips.
    pub fn open(args: &Request, host: &dyn Host) -> Result<Self> {
        let mocap = Mocap::read(args, host)?;
        let mut input = Self::of(args, host)?;
        if let Some(mocap) = mocap {
            let (clip, about) = mocap.onto(&input)?;
            input.warnings.extend(mocap.warnings().iter().cloned().chain(about.warnings()));
            input.motion = Some((input.character.clips().len(), about));
            input.document.add_clip(input.character.skeleton(), &clip)?;
            let mut raw = input.character.into_raw();
            raw.clips.push(clip);
            input.character = Character::new(raw)?;
        }
        Ok(input)
    }

    fn of(args: &Request, host: &dyn Host) -> Result<Self> {
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
                host,
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
                let files = host.beside(path);
                let loaded = gltf::read(host.bytes(path)?, files.as_ref()).with_context(named)?;
                let mut warnings = loaded.warnings;
                let has_weights = loaded.summary.influences_max > 0;
                let fleshed = flesh::weigh(loaded.character, has_weights, args, host, &mut warnings)?;
                let input = Self::new(name, fleshed, loaded.document, files, warnings);
                let (regions, paintable) = (loaded.regions, loaded.summary.painted);
                Ok(Self { regions, paintable, bones: loaded.bones, ..input })
            }
            Format::Bvh => {
                let rigged =
                    bvh::read(&host.bytes(path)?).and_then(bvh::stick_character).with_context(named)?;
                let input = Self::from_character(rigged.character, name, rigged.warnings, true, args, host)?;
                Ok(Self { is_unitless: true, ..input })
            }
            Format::Obj => {
                let Some(skeleton) = &args.skeleton else {
                    bail!(
                        "{}: an OBJ has no skeleton; give one with --skeleton (.tgf, .bvh or .mhskel)",
                        named()
                    );
                };
                let rigged = rig_obj(args, skeleton, host)?;
                let has_weights = args.weights_file.is_some();
                let Rigged { character, warnings } = rigged;
                let input = Self::from_character(character, name, warnings, has_weights, args, host)?;
                Ok(Self { is_unitless: true, ..input })
            }
        }
    }

    /// Says where tets were given that neither the weights nor the method have a use for.
    pub fn unused_tets(&self, deformer: &dyn Deformer) -> Vec<String> {
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
        args: &Request,
        host: &dyn Host,
    ) -> Result<Self> {
        let fleshed = flesh::weigh(character, has_weights, args, host, &mut warnings)?;
        let document = Document::of(&fleshed.character)?;
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
        Self {
            name,
            character,
            weights,
            tets,
            document,
            files,
            warnings,
            regions,
            motion: None,
            bones: vec![],
            is_unitless: false,
            paintable,
        }
    }

    /// Puts more paint on the character.
    pub fn add_paint(mut self, paint: Vec<Painted>) -> Result<Self> {
        if !paint.is_empty() {
            let mut raw = self.character.into_raw();
            raw.paint.extend(paint);
            self.character = Character::new(raw)?;
        }
        Ok(self)
    }
}

/// An OBJ with a skeleton and weights from files of their own.
fn rig_obj(args: &Request, skeleton: &Path, host: &dyn Host) -> Result<Rigged> {
    let path = &args.file;
    let mesh = obj::read(&host.bytes(path)?).with_context(|| path.display().to_string())?;
    let mut rig = rigging::read_skeleton(&skeleton.to_string_lossy(), &host.bytes(skeleton)?, &mesh)
        .with_context(|| skeleton.display().to_string())?;
    if let Some(file) = args.motion.as_ref().filter(|file| extension(file) == "dmat") {
        let clip = rigging::dmat::read_clip(&host.bytes(file)?, &rig, DEFAULT_FPS)
            .with_context(|| file.display().to_string())?;
        rig.clips.insert(0, clip.sped(args.speed.unwrap_or(1.0))?);
    }
    let weights = args
        .weights_file
        .as_ref()
        .map(|file| {
            rigging::read_weights(&file.to_string_lossy(), &host.bytes(file)?, &mesh, &rig)
                .with_context(|| file.display().to_string())
        })
        .transpose()?;
    rigging::assemble(&mesh, rig, weights.as_ref()).with_context(|| path.display().to_string())
}

/// The sample that `sample:NAME` stands for.
pub fn sample_name(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix("sample:")
}

/// The error for endings nobody here reads.
pub fn unknown_format(path: &Path) -> anyhow::Error {
    anyhow!("{}: unknown kind of file; a character is .glb, .gltf, .vrm, .obj or .bvh", path.display())
}
