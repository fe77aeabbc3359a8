use super::Pose;
use crate::asset::{Character, Clip};

/// Where the joints are at any time.
pub trait Motion: Sync {
    /// The pose at `seconds`, into `out`.
    fn pose(&self, seconds: f64, out: &mut Pose);

    /// Seconds after which the motion starts again, if it does: a pose at `t` is that at `t` less whole periods.
    fn period(&self) -> Option<f64> {
        None
    }
}

/// A pose that is held.
impl Motion for Pose {
    fn pose(&self, _seconds: f64, out: &mut Pose) {
        out.copy_from(self);
    }
}

/// A clip played on a character; before its start and after its end it holds.
#[derive(Debug, Clone, Copy)]
pub struct Playback<'a> {
    character: &'a Character,
    clip: Option<&'a Clip>,
    cycles: bool,
}

impl<'a> Playback<'a> {
    /// Plays a clip once, or holds the character's default pose.
    pub fn once(character: &'a Character, clip: Option<&'a Clip>) -> Self {
        Self { character, clip, cycles: false }
    }

    /// Plays a clip over and over.
    pub fn cycle(character: &'a Character, clip: &'a Clip) -> Self {
        Self { character, clip: Some(clip), cycles: true }
    }
}

impl Motion for Playback<'_> {
    fn pose(&self, seconds: f64, out: &mut Pose) {
        let time = match self.period() {
            // The end of a cycle is the start of the next, whatever rounding says.
            Some(period) => (seconds - (seconds / period + 1e-9).floor() * period).max(0.0),
            None => seconds,
        };
        out.resample(self.character, self.clip, time);
    }

    fn period(&self) -> Option<f64> {
        let end = self.clip.filter(|_| self.cycles)?.end();
        Some(end).filter(|&end| end > 0.0)
    }
}
