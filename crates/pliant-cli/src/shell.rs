//! The command as a shell of the kit: files from disk, bars on the terminal, arguments to wishes.

use crate::args::{Common, FinenessArgs, FleshArgs, InputArgs, SettingsArgs, StudioArgs, WeightsArg};
use crate::progress::Bar;
use crate::terminal::say;
use anyhow::{Context, Result, bail};
use pliant::method::{BodySettings, Settings};
use pliant::simd;
use pliant_io::files::{Folder, read_limited};
use pliant_io::settings;
use pliant_io::{Files, Warning};
use pliant_kit::host::{Host, Progress};
use pliant_kit::input::{Request, WeightsWish};
use pliant_kit::wishes::Wishes;
use std::path::{Path, PathBuf};

/// Larger files than this (4 GiB, glTF's own limit for a GLB) are refused unread.
pub(crate) const MAX_FILE_BYTES: u64 = u32::MAX as u64;

/// A file's bytes, or why not, by name.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>> {
    read_limited(path, MAX_FILE_BYTES).with_context(|| format!("{}: cannot read it", path.display()))
}

impl Host for Common {
    fn bytes(&self, path: &Path) -> Result<Vec<u8>> {
        bytes(path)
    }

    fn beside(&self, path: &Path) -> Box<dyn Files> {
        Box::new(Folder::of(path))
    }

    /// A bar where the work takes long. Interrupted, the whole command ends (see `main`).
    fn progress(&self, what: &str, steps: usize) -> Box<dyn Progress> {
        Box::new(Bar::new(what, steps, self.quiet))
    }
}

impl Common {
    /// The instructions to use.
    pub(crate) fn path(&self) -> simd::Path {
        self.simd.unwrap_or_else(simd::Path::best)
    }
}

/// Says on standard error what is odd, unless asked to be quiet.
pub(crate) fn warn(warnings: &[Warning], common: &Common) {
    if !common.quiet {
        warnings.iter().for_each(|warning| say(&format!("warning: {warning}")));
    }
}

impl InputArgs {
    /// What to open.
    pub(crate) fn request(&self) -> Request {
        let Self { file, skeleton, weights, weights_file, tets, motion, map, speed } = self.clone();
        let weights = weights.map(|weights| match weights {
            WeightsArg::Segment => WeightsWish::Segment,
            WeightsArg::Geodesic => WeightsWish::Geodesic,
            WeightsArg::Distance => WeightsWish::Distance,
            WeightsArg::Angle => WeightsWish::Angle,
            WeightsArg::File => WeightsWish::File,
        });
        Request { file, skeleton, weights, weights_file, tets, motion, map, speed, usual_weights: None }
    }

    /// Refuses to write over what was read: the rig, once baked, could not be had back.
    pub(crate) fn check_not_among<'p>(&'p self, outputs: impl Iterator<Item = &'p Path>) -> Result<()> {
        let beside =
            [&self.skeleton, &self.weights_file, &self.motion, &self.map, &self.tets].map(Option::as_ref);
        check_not_among(std::iter::once(Some(&self.file)).chain(beside).flatten(), outputs)
    }
}

impl StudioArgs {
    /// What to open, where there is anything.
    pub(crate) fn request(&self) -> Option<Request> {
        let (skeleton, weights_file) = (self.skeleton.clone(), self.weights_file.clone());
        Some(Request { file: self.file.clone()?, skeleton, weights_file, ..Request::default() })
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

impl SettingsArgs {
    /// Reads the settings file; the command line counts more.
    pub(crate) fn wishes(&self) -> Result<Wishes> {
        let mut wishes = self.flesh.wishes()?;
        let file = wishes.settings.method.take();
        wishes.settings.method = self.method.clone().or(file);
        Ok(wishes)
    }
}

impl FleshArgs {
    /// Reads the settings file; the command line counts more. The method is the file's.
    pub(crate) fn wishes(&self) -> Result<Wishes> {
        let file = self.config.as_ref().map(|path| {
            let named = || path.display().to_string();
            let bytes = read_limited(path, settings::MAX_BYTES);
            let bytes = bytes.with_context(|| format!("{}: cannot read it", named()))?;
            let mut file = settings::read(&bytes).with_context(named)?;
            file.fetch(&Folder::of(path)).with_context(named)?;
            anyhow::Ok((path.clone(), file))
        });
        let file = file.transpose()?;
        let mut settings = file.as_ref().map_or_else(Settings::default, |(_, file)| file.settings.clone());
        settings.preset = self.preset.map(Into::into).or(settings.preset);
        settings.skinning = self.skinning.map_or(settings.skinning, Into::into);
        settings.overlap = self.overlap.or(settings.overlap);
        settings.strain.settled |= self.settled;
        let metres = &mut settings.simulation.metres_per_unit;
        *metres = self.metres_per_unit.or(*metres);
        Ok(Wishes { settings, file })
    }
}

impl FinenessArgs {
    /// Makes the body as fine as the command line says, where it does.
    pub(crate) fn refine(&self, wishes: &mut Wishes) {
        if self.is_given() {
            wishes.settings.body = BodySettings { tets: self.target, cell: self.cell };
        }
    }
}
