//! Motion capture onto a character.

use crate::host::Host;
use crate::input::{self, Input, Request};
use anyhow::{Context, Result, bail};
use pliant::asset::{Clip, Skeleton};
use pliant::rig::retarget::{Link, Mapping, Named, RetargetError, retarget};
use pliant_io::bvh::Bvh;
use pliant_io::joint_map::{self, JointMap};
use pliant_io::{Warning, bvh};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Joints that a message names.
const LISTED: usize = 8;

/// A recording, and what the user says of its joints.
pub struct Mocap<'a> {
    recording: Bvh,
    file: &'a Path,
    map: Option<(&'a PathBuf, JointMap)>,
    speed: f64,
}

/// How a recording came onto a character.
#[derive(Debug, Clone, Serialize)]
pub struct Mapped {
    frames: usize,
    fps: Option<f64>,
    seconds: f64,
    /// Frames at the start that are left out.
    skipped: usize,
    /// The character's legs over the recording's.
    scale: f64,
    joints: Vec<Pair>,
    /// Joints of the recording that move, but move nothing here.
    unused: Vec<String>,
    /// Parts of the character's body that nothing moves.
    unmoved: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
struct Pair {
    motion: String,
    character: String,
}

impl<'a> Mocap<'a> {
    /// Reads the recording that `--motion` names, if it is one.
    pub fn read(args: &'a Request, host: &dyn Host) -> Result<Option<Self>> {
        let Some(file) = args.motion.as_deref().filter(|file| input::extension(file) == "bvh") else {
            return Ok(None);
        };
        let recording = bvh::read(&host.bytes(file)?).with_context(|| file.display().to_string())?;
        let map = args.map.as_ref().map(|path| {
            let map = joint_map::read(&host.bytes(path)?).with_context(|| path.display().to_string())?;
            anyhow::Ok((path, map))
        });
        Ok(Some(Self { recording, file, map: map.transpose()?, speed: args.speed.unwrap_or(1.0) }))
    }

    /// The recording as a clip of a character.
    pub fn onto(&self, input: &Input) -> Result<(Clip, Mapped)> {
        let named = || self.file.display().to_string();
        let Some(clip) = &self.recording.clip else { bail!("{}: there are no frames in it", named()) };
        let (own, skeleton) = (&self.recording.skeleton, input.character.skeleton());
        let wishes = match &self.map {
            Some((path, map)) => map.joints(own, skeleton).with_context(|| path.display().to_string())?,
            None => vec![],
        };
        let (from, to) = (Named::new(own), Named::with_bones(skeleton, &input.bones));
        let mapping = Mapping::find(&from, &to, &wishes);
        let done = match retarget(&from, clip, &input.character, &mapping) {
            Err(error @ RetargetError::NothingInCommon) => bail!(
                "{}: {error}; say which by --map: the motion has {}, the character {}",
                named(),
                listed(own.joints().iter().map(|j| &j.name)),
                listed(skeleton.joints().iter().filter(|j| j.deforms).map(|j| &j.name)),
            ),
            done => done.with_context(named)?,
        };
        let name = |of: &Skeleton, joint: u32| of.joints()[joint as usize].name.clone();
        let pair = |l: &Link| Pair { motion: name(own, l.from), character: name(skeleton, l.to) };
        let share = |(to, [low, high]): (u32, [u32; 2])| Pair {
            motion: format!("between {} and {}", name(own, low), name(own, high)),
            character: name(skeleton, to),
        };
        let about = Mapped {
            frames: self.recording.frames - done.skipped,
            fps: clip.frame_rate(),
            seconds: done.clip.end(),
            skipped: done.skipped,
            scale: done.scale,
            joints: mapping.links.iter().map(pair).chain(mapping.shared().into_iter().map(share)).collect(),
            unused: done.unused.iter().map(|&j| name(own, j)).collect(),
            unmoved: mapping.unmoved().iter().map(|&j| name(skeleton, j)).collect(),
        };
        let title = self.file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        Ok((done.clip.named(title).sped(self.speed)?, about))
    }

    /// What was odd about the recording.
    pub fn warnings(&self) -> &[Warning] {
        &self.recording.warnings
    }
}

impl Mapped {
    /// What a user should know of it.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut say = |what: String| warnings.push(Warning::new("--motion", what, 1));
        if self.skipped > 0 {
            say("the first frame is left out: it is far from the others, a pose to calibrate by".to_owned());
        }
        if !self.unused.is_empty() {
            say(format!("joints of the motion that move nothing here: {}", listed(&self.unused)));
        }
        if !self.unmoved.is_empty() {
            say(format!("joints of the character that nothing moves: {}", listed(&self.unmoved)));
        }
        warnings
    }
}

fn listed<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    let mut names = names.into_iter();
    let mut list: Vec<String> = names.by_ref().take(LISTED).map(|name| format!("'{name}'")).collect();
    let more = names.count();
    if more > 0 {
        list.push(format!("and {more} more"));
    }
    list.join(", ")
}
