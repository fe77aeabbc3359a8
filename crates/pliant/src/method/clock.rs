//! The clock of a simulation: ticks of its own, whatever the output rate.

use crate::rig::{Motion, Pose, has_inverse};
use glam::DAffine3;

/// Where a simulation is in time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clock {
    /// Whether it runs.
    pub(super) started: bool,
    /// Seconds from tick to tick.
    pub(super) step: f64,
    /// The last tick.
    pub(super) tick: i64,
    /// Ticks in a cycle of a motion that has one.
    cycle: Option<i64>,
}

impl Clock {
    /// Starts at the tick at or before a time. Ticks fit a motion's period.
    pub(super) fn start(motion: &dyn Motion, seconds: f64, mut step: f64) -> Self {
        let mut cycle = None;
        if let Some(period) = motion.period() {
            let ticks = (period / step - 1e-6).ceil().max(1.0);
            step = period / ticks;
            cycle = Some(ticks as i64);
        }
        Self { started: true, step, cycle, tick: (seconds / step + 1e-6).floor() as i64 }
    }

    /// The time of a tick.
    pub(super) fn at(&self, tick: i64) -> f64 {
        tick as f64 * self.step
    }

    /// The first tick at or after a time.
    pub(super) fn reach(&self, seconds: f64) -> i64 {
        (seconds / self.step - 1e-6).ceil() as i64
    }

    /// Whether a tick is both the end of a cycle and the start of the next; these may lie apart (a walk that gets on).
    pub(super) fn is_seam(&self, tick: i64) -> bool {
        self.cycle.is_some_and(|ticks| tick % ticks == 0)
    }

    /// The time of the clip at a time of the motion.
    pub(super) fn in_clip(&self, time: f64) -> f64 {
        match self.cycle {
            Some(ticks) => {
                time - (time / (ticks as f64 * self.step) + 1e-9).floor() * ticks as f64 * self.step
            }
            None => time,
        }
    }

    /// How the root jumps at a seam, and the pose after it.
    pub(super) fn seam(
        &self,
        motion: &dyn Motion,
        tick: i64,
        root: usize,
        before: &mut Pose,
        after: &mut Pose,
    ) -> DAffine3 {
        motion.pose((tick as f64 - 1e-6) * self.step, before);
        motion.pose(self.at(tick), after);
        between_roots(before, after, root)
    }
}

/// The rigid way from where a joint is in one pose to where it is in another.
pub(super) fn between_roots(from: &Pose, to: &Pose, root: usize) -> DAffine3 {
    let rigid = |m: &DAffine3| {
        let (_, turn, place) = m.to_scale_rotation_translation();
        has_inverse(m).then(|| DAffine3::from_rotation_translation(turn.normalize(), place))
    };
    let (from, to) = (rigid(&from.world_from_joint[root]), rigid(&to.world_from_joint[root]));
    from.zip(to).map_or(DAffine3::IDENTITY, |(from, to)| to * from.inverse())
}
