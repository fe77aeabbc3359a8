//! Motion capture onto a character.

use crate::args::InputArgs;
use crate::load;
use anyhow::{Context, Result, bail};
use pliant::asset::{Character, Clip};
use pliant::rig::retarget::{Mapping, Named, retarget};
use pliant_io::bvh::Bvh;
use pliant_io::{Warning, bvh};
use std::path::Path;

/// Joints that a message names.
const LISTED: usize = 8;

/// A recording, and which of its joints move which of a character's.
pub(crate) struct Mocap<'a> {
    pub(crate) recording: Bvh,
    file: &'a Path,
}

impl<'a> Mocap<'a> {
    /// Reads the recording that `--motion` names, if it is one.
    pub(crate) fn read(args: &'a InputArgs) -> Result<Option<Self>> {
        let Some(file) = args.motion.as_deref().filter(|file| load::extension(file) == "bvh") else {
            return Ok(None);
        };
        let recording = bvh::read(&load::bytes(file)?).with_context(|| file.display().to_string())?;
        Ok(Some(Self { recording, file }))
    }

    /// The recording as a clip of a character.
    pub(crate) fn onto(&self, character: &Character, warnings: &mut Vec<Warning>) -> Result<Clip> {
        let named = || self.file.display().to_string();
        let Some(clip) = &self.recording.clip else { bail!("{}: there are no frames in it", named()) };
        let (from, to) = (Named::new(&self.recording.skeleton), Named::new(character.skeleton()));
        let mapping = Mapping::find(&from, &to, &[]);
        let done = retarget(&from, clip, &to, &mapping).with_context(named)?;
        warnings.extend(self.recording.warnings.iter().cloned());
        let mut say = |what: String| warnings.push(Warning::new("--motion", what, 1));
        if done.skipped > 0 {
            say("the first frame is left out: it is a pose to calibrate by".to_owned());
        }
        if !done.unused.is_empty() {
            say(format!("these joints move nothing: {}", listed(&from, &done.unused)));
        }
        let unmoved = mapping.unmoved();
        if !unmoved.is_empty() {
            say(format!("these joints of the character are not moved: {}", listed(&to, &unmoved)));
        }
        let name = self.file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(done.clip.named(name))
    }
}

fn listed(names: &Named<'_>, joints: &[u32]) -> String {
    let mut list: Vec<String> =
        joints.iter().take(LISTED).map(|&j| format!("'{}'", names.names[j as usize])).collect();
    if joints.len() > LISTED {
        list.push(format!("and {} more", joints.len() - LISTED));
    }
    list.join(", ")
}
