//! Which clips of a character, and at which moments.

use crate::input::Input;
use anyhow::{Result, bail};
use pliant::asset::Clip;

/// Frames a second where neither the user nor the file says.
pub const DEFAULT_FPS: f64 = 30.0;

/// More frames than this are a mistake (a wrong unit, or a broken key time), not a wish.
pub const MAX_FRAMES: usize = 1_000_000;

/// The clips that `--clip` names, as indices; none means the default pose.
pub fn choose(input: &Input, wish: Option<&str>) -> Result<Vec<usize>> {
    let clips = input.character.clips();
    match wish {
        None if input.motion.is_some() => Ok(input.motion.iter().map(|m| m.0).collect()),
        None => Ok(if clips.is_empty() { vec![] } else { vec![0] }),
        Some("all") => Ok((0..clips.len()).collect()),
        Some(wish) => {
            // A name wins over an index: a clip may be called "1".
            let by_name = clips.iter().position(|c| c.name() == wish);
            let by_index = || wish.parse::<usize>().ok().filter(|&i| i < clips.len());
            match by_name.or_else(by_index) {
                Some(index) => Ok(vec![index]),
                None if clips.is_empty() => bail!("there is no clip '{wish}': the file has none"),
                None => bail!("there is no clip '{wish}'; there are {}", names(clips)),
            }
        }
    }
}

fn names(clips: &[Clip]) -> String {
    const SHOWN: usize = 12;
    let mut list: Vec<String> =
        clips.iter().take(SHOWN).enumerate().map(|(i, c)| format!("{i} '{}'", c.name())).collect();
    if clips.len() > SHOWN {
        list.push(format!("and {} more", clips.len() - SHOWN));
    }
    list.join(", ")
}

/// The moments to bake of one clip.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Frames a second.
    pub fps: f64,
    /// Seconds from the clip's start: `start + i/fps`.
    pub times: Vec<f64>,
}

impl Schedule {
    /// Frames from `start` to `end` of a clip at `fps`, at the `most` so many; one frame at 0 where there is no clip.
    pub fn new(
        clip: Option<&Clip>,
        fps: Option<f64>,
        start: Option<f64>,
        end: Option<f64>,
        most: usize,
    ) -> Result<Self> {
        let fps = rate(clip, fps)?;
        let last = clip.map_or(0.0, Clip::end);
        let (start, end) = (start.unwrap_or(0.0), end.unwrap_or(last));
        if !(start.is_finite() && end.is_finite() && 0.0 <= start && start <= end) {
            bail!("--start {start} --end {end}: must be in order, from 0 on (the clip ends at {last} s)");
        }
        if start > last + 1e-6 {
            bail!("--start {start}: the clip ends at {last} s");
        }
        let end = end.min(last.max(start));
        // A whole number of frames may come out a rounding short.
        let count = ((end - start) * fps + 1e-6).floor() + 1.0;
        if count > most as f64 {
            bail!(TOO_MANY);
        }
        // A start on a frame of the whole gives exactly that frame and those after it.
        let first = (start * fps).round();
        let on_frame = (start * fps - first).abs() < 1e-6;
        let time = |i: usize| if on_frame { (first + i as f64) / fps } else { start + i as f64 / fps };
        Ok(Self { fps, times: (0..count as usize).map(time).collect() })
    }

    /// All frames of a clip that is played as a cycle, its end included. A loop of frames that do not come out even would
    /// jump at its end, so the nearest rate is taken at which they do. One frame where the clip is a still.
    pub fn cycle(clip: &Clip, fps: Option<f64>, most: usize) -> Result<Self> {
        let fps = rate(Some(clip), fps)?;
        let frames = (clip.end() * fps).round().max(1.0);
        if clip.end() <= 0.0 {
            return Self::new(Some(clip), Some(fps), None, None, most);
        }
        if frames + 1.0 > most as f64 {
            bail!(TOO_MANY);
        }
        // Ends are single precision: a rounding is not uneven.
        let is_even = (clip.end() * fps - frames).abs() < 1e-6 * frames;
        let fps = if is_even { fps } else { frames / clip.end() };
        Ok(Self { fps, times: (0..=frames as usize).map(|i| i as f64 / fps).collect() })
    }

    /// The frames that the whole clip has before the first of these.
    pub fn before(&self) -> impl Iterator<Item = f64> {
        let first = self.times.first().copied().unwrap_or(0.0);
        (0..).map(|i| f64::from(i) / self.fps).take_while(move |&time| time < first)
    }
}

const TOO_MANY: &str =
    "over 1000000 frames are too many: lower --fps, cut with --start and --end, or bake fewer clips";

/// Frames a second: as wished, as recorded, or the usual.
fn rate(clip: Option<&Clip>, wish: Option<f64>) -> Result<f64> {
    let fps = wish.or(clip.and_then(Clip::frame_rate)).unwrap_or(DEFAULT_FPS);
    if !(fps.is_finite() && (1e-3..=1e5).contains(&fps)) {
        bail!("--fps {fps}: must lie between 0.001 and 100000");
    }
    Ok(fps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::asset::{Channel, Interpolation, Target, Track};

    fn clip(end: f32) -> Clip {
        let track = Track::new(Interpolation::Linear, 3, vec![0.0, end], vec![0.0; 6]).unwrap();
        Clip::new("c".into(), vec![Channel { target: Target::Translation(0), track }])
    }

    #[test]
    fn a_whole_number_of_frames_includes_the_last() {
        let times = Schedule::new(Some(&clip(0.7)), Some(10.0), None, None, MAX_FRAMES).unwrap().times;
        assert_eq!(times.len(), 8);
        assert!((times[7] - 0.7).abs() < 1e-6);
    }

    #[test]
    fn a_cut_gives_the_frames_of_the_whole() {
        let whole = Schedule::new(Some(&clip(2.0)), None, None, None, MAX_FRAMES).unwrap();
        let cut = Schedule::new(Some(&clip(2.0)), None, Some(0.5), Some(1.0), MAX_FRAMES).unwrap();
        assert_eq!(whole.times.len(), 61);
        assert_eq!(cut.times.len(), 16);
        for first in 0..60 {
            let start = f64::from(first) * (1.0 / 30.0);
            let cut = Schedule::new(Some(&clip(2.0)), None, Some(start), None, MAX_FRAMES).unwrap();
            assert_eq!(cut.times, whole.times[first as usize..], "from {start} on, to the bit");
        }
    }

    #[test]
    fn what_comes_before_a_cut_are_frames_of_the_whole() {
        let whole = Schedule::new(Some(&clip(2.0)), None, None, None, MAX_FRAMES).unwrap();
        let before = |start: f64| {
            let cut = Schedule::new(Some(&clip(2.0)), None, Some(start), None, MAX_FRAMES).unwrap();
            cut.before().collect::<Vec<_>>()
        };
        assert!(before(0.0).is_empty());
        assert_eq!(before(0.5), whole.times[..15]);
        assert_eq!(before(0.51), whole.times[..16]);
    }

    #[test]
    fn a_cycle_comes_out_even() {
        let even = Schedule::cycle(&clip(2.0), None, MAX_FRAMES).unwrap();
        assert_eq!(even, Schedule::new(Some(&clip(2.0)), None, None, None, MAX_FRAMES).unwrap());
        // In single precision 1.2 s is a millionth of a frame more than 36 of them.
        let rounded = Schedule::cycle(&clip(1.2), None, MAX_FRAMES).unwrap();
        assert_eq!((rounded.fps, rounded.times.len()), (30.0, 37));
        for (end, fps, frames) in [(0.75, 30.0, 23), (0.01, 30.0, 1), (1.0, 2.4, 2)] {
            let Schedule { fps, times } = Schedule::cycle(&clip(end), Some(fps), MAX_FRAMES).unwrap();
            assert_eq!(times.len(), frames + 1);
            assert!((fps - frames as f64 / f64::from(end)).abs() < 1e-9);
            assert!(times[0] == 0.0 && (times[frames] - f64::from(end)).abs() < 1e-12);
        }
        let still = Clip::new("still".into(), vec![]);
        assert_eq!(Schedule::cycle(&still, None, MAX_FRAMES).unwrap().times, [0.0]);
        assert!(Schedule::cycle(&clip(2.0), Some(7.3), 10).is_err());
    }

    #[test]
    fn no_clip_is_one_frame() {
        assert_eq!(Schedule::new(None, None, None, None, MAX_FRAMES).unwrap().times, [0.0]);
    }

    #[test]
    fn nonsense_is_refused() {
        for (fps, start, end) in [
            (Some(0.0), None, None),
            (Some(f64::NAN), None, None),
            (Some(1e9), None, None),
            (Some(600.0), None, None),
            (None, Some(-1.0), None),
            (None, Some(1.0), Some(0.5)),
            (None, Some(3.0), None),
        ] {
            assert!(
                Schedule::new(Some(&clip(2.0)), fps, start, end, 1000).is_err(),
                "{fps:?} {start:?} {end:?}"
            );
        }
    }
}
