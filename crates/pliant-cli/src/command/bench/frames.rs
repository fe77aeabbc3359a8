//! `volume` and `metaballs`: a whole frame of a character in motion, and what of it is plain skinning.

use super::{Bench, Work, best_of};
use anyhow::{Result, anyhow};
use pliant::method::{self, Settings, Setup, Shape};
use pliant::rig::{Motion, Playback, Pose};
use pliant::simd::Path;
use pliant::zoo;
use pliant_kit::hash::StateHash;

pub(super) const VOLUME: &str = "volume";
pub(super) const METABALLS: &str = "metaballs";

/// The character, and the clip and second at which both arms and legs are bent.
const CHARACTER: &str = "armadillo";
const CLIP: &str = "run";
const SECONDS: f64 = 0.3;

/// What a frame does beyond skinning: nothing, the method's own, and that with overlaps parted.
fn outputs(method: &str) -> [(&'static str, &str, bool); 3] {
    let [alone, parted] = match method {
        VOLUME => ["volume", "volume+overlap"],
        _ => ["metaballs", "metaballs+overlap"],
    };
    [("lbs frame", "lbs", false), (alone, method, false), (parted, method, true)]
}

impl Bench<'_> {
    /// Frames of one pose, best of many: positions and normals, from skin matrices on.
    pub(super) fn frames(&mut self, name: &'static str, vertices: usize) -> Result<()> {
        let count = vertices.clamp(zoo::MIN_VERTICES, zoo::MAX_VERTICES);
        let character = zoo::character(CHARACTER, Some(count))?;
        let clip = character.clips().iter().find(|c| c.name() == CLIP);
        let motion = Playback::once(&character, clip);
        let mut pose = Pose::default();
        motion.pose(SECONDS, &mut pose);
        for (output, method, overlap) in outputs(name) {
            let settings = Settings { overlap: Some(overlap), ..Settings::default() };
            let work = Work { method: name, output, vertices: count, tets: None, iterations: None };
            self.measure(&work, |path: Path| {
                let setup = Setup { path, settings: &settings, tets: None, progress: &mut |_| true };
                let deformer = method::prepare(method, &character, setup).map_err(|e| anyhow!("{e}"))?;
                let mut shape = Shape::rest(&character);
                let mut instance = deformer.instance();
                let best = best_of(
                    &mut shape,
                    |_| {},
                    |shape| {
                        instance.step(&pose, 0.0, shape, &mut |_| {});
                    },
                );
                let mut hasher = StateHash::default();
                hasher.frame(&shape.positions);
                Ok(super::Timed::new(best, hasher.hex()))
            })?;
        }
        Ok(())
    }
}
