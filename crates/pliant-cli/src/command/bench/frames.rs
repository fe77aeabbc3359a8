//! `smooth`, `volume` and `metaballs`: whole frames of a character in motion, and what of them is plain skinning.

use super::{Bench, SMOOTH, Timed, Work};
use anyhow::{Context, Result, anyhow};
use pliant::method::{self, Deformer, Settings, Setup, Shape};
use pliant::rig::{Motion, Playback, Pose};
use pliant::simd::Path;
use pliant::zoo;
use pliant_kit::hash::StateHash;
use std::time::{Duration, Instant};

pub(super) const VOLUME: &str = "volume";
pub(super) const METABALLS: &str = "metaballs";

/// The character, and the clip that is played: what repairs cost depends on the pose, by more than twice.
const CHARACTER: &str = "armadillo";
const CLIP: &str = "run";
const RATE: f64 = 30.0;

/// How long each row is played, and how often at least; of each frame the best counts.
const PLAYED: Duration = Duration::from_millis(1000);
const ROUNDS: usize = 3;

/// Rows of a method: what they are called with normals and, where that is measured, with positions alone; the method, and
/// whether overlaps are parted.
type Output<'a> = (&'static str, Option<&'static str>, &'a str, bool);

/// What a frame does beyond skinning: nothing, the method's own, and that with overlaps parted.
fn outputs(method: &str) -> Vec<Output<'_>> {
    let plain = ("lbs frame", None, "lbs", false);
    match method {
        SMOOTH => vec![("smooth frame", Some("smooth frame, positions"), method, false)],
        VOLUME => vec![
            plain,
            ("volume", Some("volume, positions"), method, false),
            ("volume+overlap", Some("volume+overlap, positions"), method, true),
        ],
        _ => vec![
            plain,
            ("metaballs", None, method, false),
            ("metaballs+overlap", Some("metaballs+overlap, positions"), method, true),
        ],
    }
}

impl Bench<'_> {
    /// The mean frame of a clip, from poses on.
    pub(super) fn frames(&mut self, name: &'static str, vertices: usize) -> Result<()> {
        let count = vertices.clamp(zoo::MIN_VERTICES, zoo::MAX_VERTICES);
        let character = zoo::character(CHARACTER, Some(count))?;
        let clip = character.clips().iter().find(|c| c.name() == CLIP).context("no such clip")?;
        let motion = Playback::once(&character, Some(clip));
        let frames = (clip.end() * RATE) as usize;
        let poses: Vec<Pose> = (0..frames)
            .map(|frame| {
                let mut pose = Pose::default();
                motion.pose(frame as f64 / RATE, &mut pose);
                pose
            })
            .collect();
        for (whole, alone, method, overlap) in outputs(name) {
            let settings = Settings { overlap: Some(overlap), ..Settings::default() };
            for (output, turns) in std::iter::once((whole, true)).chain(alone.map(|name| (name, false))) {
                let work = Work { method: name, output, vertices: count, tets: None, iterations: None };
                self.measure(&work, |path: Path| {
                    let setup = Setup { path, settings: &settings, tets: None, progress: &mut |_| true };
                    let deformer = method::prepare(method, &character, setup).map_err(|e| anyhow!("{e}"))?;
                    let shape = if turns { Shape::rest } else { Shape::positions_alone };
                    Ok(played(&*deformer, shape(&character), &poses))
                })?;
            }
        }
        Ok(())
    }
}

/// The mean over poses of the best time of each, played one after the other, over and over.
fn played(deformer: &dyn Deformer, mut shape: Shape, poses: &[Pose]) -> Timed {
    let mut instance = deformer.instance();
    let mut best = vec![Duration::MAX; poses.len()];
    let (start, mut rounds) = (Instant::now(), 0);
    let mut hasher = StateHash::default();
    while rounds < ROUNDS || start.elapsed() < PLAYED {
        for (pose, best) in poses.iter().zip(&mut best) {
            let before = Instant::now();
            instance.step(pose, 0.0, &mut shape, &mut |_| {});
            *best = before.elapsed().min(*best);
            if rounds == 0 {
                hasher.frame(&shape.positions);
            }
        }
        rounds += 1;
    }
    Timed::new(best.iter().sum::<Duration>() / poses.len().max(1) as u32, hasher.hex())
}
