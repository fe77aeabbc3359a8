//! A clip, frame by frame.

use super::frame::Stance;
use super::humanoid::Humanoid;
use crate::asset::{Channel, Clip, Skeleton, Target};
use crate::rig::pose::place_joints;
use glam::{DAffine3, DQuat};

/// Frames a second that a clip is taken at where it does not say.
const RATE: f64 = 30.0;
/// Frames that are looked at to find which way is up and where the floor is.
const LOOKED_AT: usize = 1000;
/// A first frame is no part of the motion where it is further from the second than this many times the farthest that any
/// other frame is from its next, and by this share of the body's size.
const JUMP: f64 = 4.0;
const JUMP_SIZE: f64 = 0.1;
/// Frames that it takes to know a motion's pace.
const PACE: usize = 4;

/// A clip frame by frame.
pub(super) struct Recording<'a> {
    pub(super) skeleton: &'a Skeleton,
    clip: &'a Clip,
    pub(super) rate: f64,
    pub(super) frames: usize,
    /// Frames at the start that are no part of the motion.
    pub(super) skipped: usize,
}

impl<'a> Recording<'a> {
    pub(super) fn new(skeleton: &'a Skeleton, clip: &'a Clip) -> Self {
        let rate = clip.frame_rate().unwrap_or(RATE);
        let frames = (clip.end() * rate + 1e-6).floor() as usize + 1;
        let whole = Self { skeleton, clip, rate, frames, skipped: 0 };
        let skipped = usize::from(whole.starts_apart());
        Self { skipped, ..whole }
    }

    /// Where the joints are in a frame.
    pub(super) fn at(&self, frame: usize, worlds: &mut Vec<DAffine3>) {
        place_joints(self.skeleton, Some(self.clip), frame as f64 / self.rate, worlds);
    }

    pub(super) fn stance<'s>(&'s self, body: &'s Humanoid, worlds: &'s [DAffine3]) -> Stance<'s> {
        Stance { body, skeleton: self.skeleton, worlds }
    }

    /// Some of the frames that are taken, from the first to the last.
    pub(super) fn some(&self) -> impl Iterator<Item = usize> {
        let step = (self.frames - self.skipped).div_ceil(LOOKED_AT).max(1);
        (self.skipped..self.frames).step_by(step)
    }

    /// Whether the first frame is in another place than the motion that follows.
    fn starts_apart(&self) -> bool {
        if self.frames < PACE {
            return false;
        }
        let (mut now, mut next) = (Vec::new(), Vec::new());
        self.at(0, &mut now);
        let size = size(&now);
        let (mut first, mut pace) = (0.0, 0.0);
        for frame in 1..self.frames {
            self.at(frame, &mut next);
            let far =
                now.iter().zip(&next).map(|(a, b)| a.translation.distance(b.translation)).fold(0.0, f64::max);
            match frame {
                1 => first = far,
                _ => pace = far.max(pace),
            }
            std::mem::swap(&mut now, &mut next);
        }
        first > JUMP * pace && first > JUMP_SIZE * size
    }

    /// Whether a joint turns against its parent at all.
    pub(super) fn moves(&self, joint: u32) -> bool {
        let turns = |c: &&Channel| c.target == Target::Rotation(joint);
        let Some(track) = self.clip.channels().iter().find(turns).map(|c| &c.track) else { return false };
        let first = track.sample_rotation(self.skipped as f64 / self.rate);
        // Within a degree a joint stands still.
        let same = |frame: usize| track.sample_rotation(frame as f64 / self.rate).dot(first).abs() > 0.999_96;
        !self.some().all(same)
    }
}

/// The diagonal of the box around all joints.
pub(super) fn size(worlds: &[DAffine3]) -> f64 {
    let Some(first) = worlds.first().map(|w| w.translation) else { return 0.0 };
    let (low, high) = worlds
        .iter()
        .fold((first, first), |(low, high), w| (low.min(w.translation), high.max(w.translation)));
    high.distance(low)
}

pub(super) fn rotation(world: &DAffine3) -> DQuat {
    world.to_scale_rotation_translation().1.normalize()
}
