//! Motions by code: a pose for every moment, sampled into keys.

use super::field::smoothstep;
use super::figure::{Figure, rotation};
use crate::asset::{AssetError, Channel, Clip, Interpolation, Target, Track};
use glam::{DQuat, DVec3};

/// Keys a second: dense enough that straight lines between them look smooth and no joint turns far.
const KEYS_PER_SECOND: f64 = 30.0;

/// Sets a pose for a moment in seconds.
type Pose = Box<dyn Fn(&mut Posing<'_>, f64)>;

/// A named motion: how long, and the pose at each moment in seconds.
pub(super) struct Motion {
    pub name: &'static str,
    pub seconds: f64,
    pub pose: Pose,
}

impl Motion {
    pub(super) fn new(
        name: &'static str,
        seconds: f64,
        pose: impl Fn(&mut Posing<'_>, f64) + 'static,
    ) -> Self {
        Self { name, seconds, pose: Box::new(pose) }
    }

    /// Samples the motion; joints that stay at rest get no channel.
    pub(super) fn clip(&self, figure: &Figure) -> Result<Clip, AssetError> {
        let steps = (self.seconds * KEYS_PER_SECOND).round().max(1.0) as usize;
        let count = figure.pins.len();
        let times: Vec<f32> = (0..=steps).map(|k| (k as f64 * self.seconds / steps as f64) as f32).collect();
        let mut turns: Vec<Vec<DQuat>> = vec![Vec::new(); count];
        let mut shifts: Vec<Vec<DVec3>> = vec![Vec::new(); count];
        for k in 0..=steps {
            let mut posing = Posing::new(figure);
            (self.pose)(&mut posing, k as f64 * self.seconds / steps as f64);
            for j in 0..count {
                let turn = posing.turn[j].normalize();
                let same_side = turns[j].last().is_none_or(|last| last.dot(turn) >= 0.0);
                turns[j].push(if same_side { turn } else { -turn });
                shifts[j].push(posing.shift[j]);
            }
        }
        let mut channels = Vec::new();
        for j in 0..count {
            if turns[j].iter().any(|&q| q != DQuat::IDENTITY) {
                let values = turns[j].iter().flat_map(|q| q.as_quat().to_array()).collect();
                let track = Track::new(Interpolation::Linear, 4, times.clone(), values)?;
                channels.push(Channel { target: Target::Rotation(j as u32), track });
            }
            if shifts[j].iter().any(|&s| s != DVec3::ZERO) {
                let rest =
                    figure.pins[j].at - figure.pins[j].parent.map_or(DVec3::ZERO, |p| figure.pins[p].at);
                let values = shifts[j].iter().flat_map(|&s| (rest + s).as_vec3().to_array()).collect();
                let track = Track::new(Interpolation::Linear, 3, times.clone(), values)?;
                channels.push(Channel { target: Target::Translation(j as u32), track });
            }
        }
        Ok(Clip::new(self.name.to_owned(), channels))
    }
}

/// A pose in the making. Turns are about axes of the parent's frame and add up in the order in which they are made.
pub(super) struct Posing<'a> {
    figure: &'a Figure,
    turn: Vec<DQuat>,
    shift: Vec<DVec3>,
}

impl<'a> Posing<'a> {
    fn new(figure: &'a Figure) -> Self {
        let count = figure.pins.len();
        Self { figure, turn: vec![DQuat::IDENTITY; count], shift: vec![DVec3::ZERO; count] }
    }

    /// The joint of a name. Names are this crate's own, and every motion is played in the tests.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let found = self.figure.pins.iter().position(|p| p.name == name);
        debug_assert!(found.is_some(), "no joint {name}");
        found
    }

    /// Turns a joint about an axis of its parent's frame.
    pub(super) fn turn(&mut self, name: &str, axis: DVec3, degrees: f64) {
        if let Some(j) = self.find(name) {
            self.turn[j] = rotation(axis, degrees) * self.turn[j];
        }
    }

    /// Swings a bone, from where it points now, towards a direction of its parent's frame.
    pub(super) fn swing(&mut self, name: &str, toward: DVec3, degrees: f64) {
        let Some(j) = self.find(name) else { return };
        let axis = (self.turn[j] * self.figure.direction(j)).cross(toward);
        if axis.length() > 1e-9 {
            self.turn[j] = rotation(axis, degrees) * self.turn[j];
        }
    }

    /// Turns a bone about itself.
    pub(super) fn twist(&mut self, name: &str, degrees: f64) {
        if let Some(j) = self.find(name) {
            self.turn[j] *= rotation(self.figure.direction(j), degrees);
        }
    }

    /// Moves a joint against its parent.
    pub(super) fn shift(&mut self, name: &str, by: DVec3) {
        if let Some(j) = self.find(name) {
            self.shift[j] += by;
        }
    }

    /// Where a joint is at rest.
    pub(super) fn rest(&self, name: &str) -> DVec3 {
        self.find(name).map_or(DVec3::ZERO, |j| self.figure.pins[j].at)
    }

    /// Orientation and place of a joint in the scene.
    pub(super) fn world(&self, joint: usize) -> (DQuat, DVec3) {
        let pin = &self.figure.pins[joint];
        match pin.parent {
            None => (self.turn[joint], pin.at + self.shift[joint]),
            Some(p) => {
                let (turn, at) = self.world(p);
                let offset = pin.at - self.figure.pins[p].at + self.shift[joint];
                (turn * self.turn[joint], at + turn * offset)
            }
        }
    }

    /// Bends a limb of two bones so that its end, the joint `end`, comes to `target` (or as near as it reaches),
    /// the middle joint pushed towards `pole`. `end` then gets the orientation `facing` in the scene.
    pub(super) fn reach(&mut self, bones: [&str; 3], target: DVec3, pole: DVec3, facing: DQuat) {
        let [Some(upper), Some(lower), Some(end)] = bones.map(|n| self.find(n)) else { return };
        let rest = |j: usize| self.figure.pins[j].at;
        let (a, b) = (rest(lower) - rest(upper), rest(end) - rest(lower));
        let (long, short) = (a.length(), b.length());
        self.turn[upper] = DQuat::IDENTITY;
        let (parent, from) = self.world(upper);
        let way = target - from;
        let far = way.length().clamp((long - short).abs() * 1.02 + 1e-9, (long + short) * 0.999);
        let along = way.normalize_or(DVec3::NEG_Y);
        let side = (pole - along * pole.dot(along)).normalize_or(DVec3::Z);
        // The law of cosines: how far along the way the middle joint is, and how far off it.
        let foot = (far * far + long * long - short * short) / (2.0 * far);
        let off = libm::sqrt((long * long - foot * foot).max(0.0));
        let middle = along * foot + side * off;
        let upper_world = DQuat::from_rotation_arc((parent * a).normalize(), middle.normalize()) * parent;
        self.turn[upper] = parent.inverse() * upper_world;
        let shin = along * far - middle;
        let lower_world =
            DQuat::from_rotation_arc((upper_world * b).normalize(), shin.normalize()) * upper_world;
        self.turn[lower] = upper_world.inverse() * lower_world;
        self.turn[end] = lower_world.inverse() * facing;
    }
}

/// Sine of a number of whole turns.
pub(super) fn wave(turns: f64) -> f64 {
    libm::sin(turns * std::f64::consts::TAU)
}

/// A value that eases from key to key, each a time and a value.
pub(super) fn ease(t: f64, keys: &[(f64, f64)]) -> f64 {
    let after = keys.partition_point(|k| k.0 <= t);
    match (after.checked_sub(1).and_then(|k| keys.get(k)), keys.get(after)) {
        (Some(a), Some(b)) => a.1 + (b.1 - a.1) * smoothstep(a.0, b.0, t),
        (Some(only), None) | (None, Some(only)) => only.1,
        (None, None) => 0.0,
    }
}

/// From 0 to 1 at an even pace over the first three quarters of a motion, then held.
pub(super) fn ramp(t: f64, seconds: f64) -> f64 {
    (t / (0.75 * seconds)).min(1.0)
}

/// A swing to and fro that stops dead in full motion: `hertz` times a second for `until` seconds, then nothing.
pub(super) fn stop_dead(t: f64, hertz: f64, until: f64) -> f64 {
    if t < until { wave(t * hertz) * smoothstep(0.0, 0.25 / hertz, t) } else { 0.0 }
}
