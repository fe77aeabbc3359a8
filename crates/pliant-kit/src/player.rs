//! A character played live: onwards, to any moment and back, or held and turned by hand.

use crate::drive::{Milliseconds, timed_step};
use glam::{DAffine3, DQuat};
use pliant::asset::{Character, Clip, Skeleton};
use pliant::method::{Deformer, Health, Instance, PrepareError, Settings, Shape};
use pliant::rig::{Motion, Playback, Pose};

/// Seconds between checkpoints: to go back costs at most that much of playing.
const APART: f64 = 0.25;
/// Most checkpoints of a clip: each is as large as the flesh.
const MOST: f64 = 64.0;
/// Seconds of the cycle's end that flesh is played through before the cycle begins, so that it swings as it comes in.
const RUN_UP: f64 = 0.5;

/// A joint turned by hand, on top of the clip, in its own axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    /// Of the skeleton.
    pub joint: usize,
    /// By how much.
    pub turn: DQuat,
}

/// How the instance came to where it is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Course {
    /// Played once from the clip's start: what a bake gives.
    Once,
    /// Played over and over.
    Cycle,
    /// Held, and turned by hand.
    Held,
}

/// A character's instance, and where it was before.
pub struct Player<'a> {
    character: &'a Character,
    deformer: &'a dyn Deformer,
    /// What was changed since the method was prepared.
    tuned: Option<Settings>,
    instance: Box<dyn Instance + Send + 'a>,
    /// Moments of the clip played once, in order.
    checkpoints: Vec<(f64, Box<dyn Instance + Send + 'a>)>,
    course: Course,
    clip: Option<usize>,
    /// How far the instance has been played, in seconds of its motion.
    reached: f64,
    /// The moment of the clip that is shown.
    seconds: f64,
    /// Whether anything was played yet.
    started: bool,
    /// Whether numbers have changed on the way, so that it is no longer what a bake gives.
    strayed: bool,
    held: Pose,
    pose: Pose,
    shape: Shape,
    health: Health,
    ms: Milliseconds,
}

impl<'a> Player<'a> {
    /// At rest.
    pub fn new(character: &'a Character, deformer: &'a dyn Deformer) -> Self {
        Self {
            character,
            deformer,
            tuned: None,
            instance: deformer.instance(),
            checkpoints: Vec::new(),
            course: Course::Once,
            clip: None,
            reached: 0.0,
            seconds: 0.0,
            started: false,
            strayed: false,
            held: Pose::rest(character),
            pose: Pose::rest(character),
            shape: Shape::rest(character),
            health: Health::default(),
            ms: Milliseconds::default(),
        }
    }

    /// The skin as it is now.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The joints as they are now.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// The copy that moves.
    pub fn instance(&self) -> &dyn Instance {
        &*self.instance
    }

    /// The clip that is played; none is the default pose.
    pub fn clip(&self) -> Option<usize> {
        self.clip
    }

    /// The moment of the clip that is shown.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// How the last step went.
    pub fn health(&self) -> Health {
        self.health
    }

    /// How long the last step took.
    pub fn milliseconds(&self) -> Milliseconds {
        self.ms
    }

    /// Takes other numbers from the next step on.
    pub fn tune(&mut self, settings: &Settings) -> Result<(), PrepareError> {
        self.instance.tune(settings)?;
        self.tuned = Some(settings.clone());
        self.checkpoints.clear();
        self.strayed = true;
        Ok(())
    }

    /// To a moment of a clip: what playing from its start gives, to the bit. Without a clip it is the default pose.
    pub fn seek(&mut self, clip: Option<usize>, seconds: f64) {
        let clip = clip.filter(|&c| c < self.character.clips().len());
        let end = self.end_of(clip);
        let seconds = if seconds.is_finite() { seconds.clamp(0.0, end) } else { 0.0 };
        if clip != self.clip {
            self.checkpoints.clear();
        }
        let goes_on = self.started
            && !self.strayed
            && self.course == Course::Once
            && clip == self.clip
            && self.reached <= seconds;
        self.clip = clip;
        if !self.deformer.remembers() {
            self.course = Course::Once;
        } else if !goes_on {
            self.go_back(seconds);
        }
        let apart = APART.max(end / MOST);
        let mut ms = Milliseconds::default();
        while self.deformer.remembers() {
            let next = self.checkpoints.len() as f64 * apart;
            if next >= seconds || next < self.reached {
                break;
            }
            ms = sum(ms, self.once(next));
            self.checkpoints.push((next, self.instance.copy()));
        }
        self.ms = sum(ms, self.once(seconds));
        self.seconds = seconds;
    }

    /// Goes on to a time that counts from the clip's start; past its end the clip starts again if it `cycles`, else its end
    /// is held.
    pub fn play(&mut self, seconds: f64, cycles: bool) {
        let end = self.end_of(self.clip);
        let clip = self.clip.map(|c| &self.character.clips()[c]);
        let cycle = clip.filter(|_| cycles && end > 0.0);
        if self.course != Course::Cycle {
            match cycle {
                Some(clip) if seconds > end || self.course == Course::Held => {
                    // Flesh comes in swinging, not settled.
                    let run_up = if self.deformer.remembers() { RUN_UP.min(end) } else { 0.0 };
                    self.renew();
                    self.course = Course::Cycle;
                    let start = (seconds - run_up).max(0.0);
                    self.step(&Playback::cycle(self.character, clip), start);
                }
                _ if self.strayed && self.course == Course::Once => {
                    let ms = self.once(seconds.clamp(self.reached, end.max(self.reached)));
                    (self.ms, self.seconds) = (ms, self.reached);
                    return;
                }
                _ => return self.seek(self.clip, seconds),
            }
        }
        let seconds = seconds.max(self.reached);
        match cycle {
            Some(clip) => {
                self.step(&Playback::cycle(self.character, clip), seconds);
                self.seconds = (seconds - (seconds / end + 1e-9).floor() * end).max(0.0);
            }
            // No longer to start again: the end of this cycle is held.
            None => self.seek(self.clip, self.seconds.max(seconds % end.max(f64::MIN_POSITIVE))),
        }
    }

    /// Holds the pose of the clip as it is, with joints turned by hand, and lets so many seconds pass.
    pub fn hold(&mut self, turns: &[Turn], seconds: f64) {
        if self.course != Course::Held && turns.is_empty() && seconds <= 0.0 {
            return;
        }
        if self.course != Course::Held {
            let clip = self.clip.map(|c| &self.character.clips()[c]);
            Playback::once(self.character, clip).pose(self.seconds, &mut self.held);
            self.course = Course::Held;
        }
        let pose = turned(self.character.skeleton(), &self.held, turns);
        self.step(&pose, self.reached + seconds.clamp(0.0, 1.0));
    }

    fn end_of(&self, clip: Option<usize>) -> f64 {
        clip.map_or(0.0, |c| Clip::end(&self.character.clips()[c]))
    }

    /// Starts anew.
    fn renew(&mut self) {
        self.instance = self.deformer.instance();
        if let Some(settings) = &self.tuned {
            // They were taken before.
            let taken = self.instance.tune(settings);
            debug_assert!(taken.is_ok());
        }
        self.course = Course::Once;
        self.reached = 0.0;
        self.started = false;
        self.strayed = false;
    }

    /// To the last checkpoint at or before a moment, or to the start.
    fn go_back(&mut self, seconds: f64) {
        let known = self.checkpoints.partition_point(|(at, _)| *at <= seconds);
        match known.checked_sub(1).map(|last| &self.checkpoints[last]) {
            Some((at, checkpoint)) => {
                self.reached = *at;
                self.instance = checkpoint.copy();
                self.course = Course::Once;
                (self.started, self.strayed) = (true, false);
            }
            None => self.renew(),
        }
    }

    /// To a moment of the clip played once. The first step of all is at its start, as a bake's is.
    fn once(&mut self, seconds: f64) -> Milliseconds {
        let clip = self.clip.map(|c| &self.character.clips()[c]);
        let motion = Playback::once(self.character, clip);
        let mut ms = Milliseconds::default();
        if !self.started && self.deformer.remembers() {
            self.step(&motion, 0.0);
            ms = self.ms;
        }
        self.step(&motion, seconds);
        sum(ms, self.ms)
    }

    fn step(&mut self, motion: &dyn Motion, seconds: f64) {
        (self.health, self.ms) = timed_step(&mut *self.instance, motion, seconds, &mut self.shape);
        motion.pose(seconds, &mut self.pose);
        self.reached = seconds;
        self.started = true;
    }
}

/// Both together; stages that neither has are none.
fn sum(a: Milliseconds, b: Milliseconds) -> Milliseconds {
    let stage = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (None, None) => None,
        _ => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
    };
    Milliseconds {
        total: a.total + b.total,
        skin: stage(a.skin, b.skin),
        solve: stage(a.solve, b.solve),
        embed: stage(a.embed, b.embed),
        filter: stage(a.filter, b.filter),
        overlap: stage(a.overlap, b.overlap),
    }
}

/// A pose with joints turned in their own axes; what hangs on them goes along.
fn turned(skeleton: &Skeleton, held: &Pose, turns: &[Turn]) -> Pose {
    let mut pose = held.clone();
    for (index, joint) in skeleton.joints().iter().enumerate() {
        let own = held.world_from_joint[index];
        // What carries this joint from where it was held to where its parent has gone.
        let by = joint.parent.map_or(DAffine3::IDENTITY, |p| {
            let before = held.world_from_joint[p as usize];
            let inverse = before.inverse();
            if inverse.is_finite() { pose.world_from_joint[p as usize] * inverse } else { DAffine3::IDENTITY }
        });
        let turn = turns.iter().rfind(|t| t.joint == index && t.turn.is_finite());
        let turn = turn.map_or(DQuat::IDENTITY, |t| t.turn.normalize());
        pose.world_from_joint[index] = by * own * DAffine3::from_quat(turn);
    }
    pose
}

#[cfg(test)]
mod tests;
