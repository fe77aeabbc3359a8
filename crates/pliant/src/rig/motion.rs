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

    /// Seconds between the frames that the motion was recorded at, if it was.
    fn frame_time(&self) -> Option<f64> {
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

    fn frame_time(&self) -> Option<f64> {
        Some(1.0 / self.clip?.frame_rate()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::{Channel, Target, Track};
    use crate::zoo;

    #[test]
    fn every_cycle_starts_at_the_start() {
        let mut raw = zoo::character("cylinder", Some(500)).unwrap().into_raw();
        // Ends that no binary number is: multiples of them are rounded, some of them down.
        raw.clips = (2..200)
            .map(|keys| {
                let track =
                    Track::recorded(3, 120.0, (0..3 * keys).map(|k| (k / 3) as f32).collect()).unwrap();
                let channel = Channel { target: Target::Translation(0), track };
                Clip::recorded("walk".into(), vec![channel], keys, 120.0).unwrap()
            })
            .collect();
        let character = Character::new(raw).unwrap();
        let mut pose = Pose::default();
        for clip in character.clips() {
            let motion = Playback::cycle(&character, clip);
            let period = motion.period().unwrap();
            for cycle in 0..40 {
                let mut at = |seconds: f64| {
                    motion.pose(seconds, &mut pose);
                    pose.world_from_joint[0].translation.x
                };
                let start = f64::from(cycle) * period;
                assert!(at(start).abs() < 1e-6, "cycle {cycle} of {period} s");
                let end = clip.end() * 120.0;
                assert!((at(start + 0.999 * period) - 0.999 * end).abs() < 1e-6 * end);
            }
        }
    }
}
