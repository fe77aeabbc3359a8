//! What tests of smooth skinning share.
#![allow(dead_code, reason = "each test uses its part")]

use pliant::asset::Character;
use pliant::glam::{DVec3, Vec3};
use pliant::method::{self, Settings, Setup, Shape, SmoothWeights};
use pliant::rig::{Playback, Pose};
use pliant::simd::Path;

/// Settings with weights from angles and this much bulge.
pub fn angles(bulge: f64) -> Settings {
    let mut settings = Settings::default();
    settings.smooth.weights = SmoothWeights::Angle;
    settings.smooth.bulge = bulge;
    settings
}

/// Shapes at some times of a clip, by a method.
pub fn played(
    character: &Character,
    method: &str,
    settings: &Settings,
    clip: &str,
    times: &[f64],
) -> Vec<Shape> {
    let setup = Setup { path: Path::best(), settings, tets: None, progress: &mut |_| true };
    let deformer = method::prepare(method, character, setup).expect("prepared");
    let mut instance = deformer.instance();
    let clip = character.clips().iter().find(|c| c.name() == clip).expect("a clip of that name");
    let motion = Playback::once(character, Some(clip));
    times
        .iter()
        .map(|&time| {
            let mut shape = Shape::rest(character);
            instance.step(&motion, time, &mut shape, &mut |_| {});
            shape
        })
        .collect()
}

/// The shape of a pose that is held.
pub fn held(character: &Character, method: &str, settings: &Settings, pose: &Pose) -> Shape {
    let setup = Setup { path: Path::best(), settings, tets: None, progress: &mut |_| true };
    let deformer = method::prepare(method, character, setup).expect("prepared");
    let mut shape = Shape::rest(character);
    deformer.instance().step(pose, 0.0, &mut shape, &mut |_| {});
    shape
}

/// Volume of a closed skin.
pub fn volume(character: &Character, positions: &[Vec3]) -> f64 {
    let corners = |t: &[u32; 3]| t.map(|v| positions[v as usize].as_dvec3());
    let triangles = character.surface().triangles().iter().map(corners);
    triangles.map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum()
}

/// Volume against rest less one, in percent.
pub fn change(character: &Character, positions: &[Vec3]) -> f64 {
    100.0 * (volume(character, positions) / volume(character, character.surface().positions()) - 1.0)
}

/// Area-weighted unit normals of a skin without seams.
pub fn normals(character: &Character, positions: &[Vec3]) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; positions.len()];
    for t in character.surface().triangles() {
        let [a, b, c] = t.map(|v| positions[v as usize].as_dvec3());
        t.iter().for_each(|&v| sums[v as usize] += (b - a).cross(c - a));
    }
    sums.iter().map(|s| s.normalize_or_zero()).collect()
}

pub fn farthest(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a.distance(*b))).fold(0.0, f64::max)
}
