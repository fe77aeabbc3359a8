//! Which way the fibres of the flesh run: a frame for each tet, its first axis along the fibre.
//!
//! Fibres have a line and no direction: a frame may turn by half a turn about any of its axes, which changes the sign of
//! two of them, and stay the same frame. All that compares frames does so up to that.

mod along;
mod bones;
mod seeds;
mod smooth;
#[cfg(test)]
mod tests;

use super::aabb::{Aabb, Tree};
use super::topology::Adjacency;
use crate::asset::{Curve, TetMesh};
use crate::parallel;
use crate::rig::weights::{BoneDistances, NearBones};
use along::perpendicular;
use glam::{DMat3, DQuat, DVec3, Quat};

/// Over the cell of a mesh: how far apart the points are that a curve is drawn with. What lies between them is
/// followed from tet to tet, so this is only how well a curve's bends are seen.
const STEP: f64 = 0.25;

/// The frames of a body's tets.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameField {
    /// For each tet a rotation, from the frame's axes to the rest pose: x along the fibre.
    pub frames: Vec<Quat>,
    /// The tets whose frames are a curve's, in order.
    pub seeds: Vec<u32>,
    /// The curves that pass no tet, by index.
    pub missed: Vec<usize>,
}

impl FrameField {
    /// Fibres along the curves; pieces of the body that no curve passes have them along the nearest bone, the second
    /// axis away from it.
    ///
    /// `near` are the bones near the mesh's nodes. A curve outside the body is taken to the tets nearest to it as far
    /// as `reach`.
    ///
    /// # Panics
    /// If `near` is not of the mesh's nodes and of `bones`.
    pub fn new(
        mesh: &TetMesh,
        bones: &BoneDistances,
        near: &NearBones,
        curves: &[Curve],
        reach: f64,
    ) -> Self {
        let mut frames = bones::frames(mesh, bones, near);
        let (mut seeds, mut missed) = (Vec::new(), Vec::new());
        if !curves.is_empty() {
            let adjacency = Adjacency::new(mesh);
            let found = seeds::find(mesh, &adjacency.surface(mesh), curves, reach, &frames);
            smooth::spread(&adjacency, &found.frames, &mut frames);
            seeds = found.frames.iter().map(|seed| seed.0).collect();
            missed = found.missed;
        }
        let frames = frames.iter().map(|frame| DQuat::from_mat3(&frame.axes()).as_quat());
        Self { frames: frames.collect(), seeds, missed }
    }
}

/// The first two axes of a frame, of length one and perpendicular; the third is their product, so that it is always a
/// rotation, whichever of them change sign.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Frame {
    first: DVec3,
    second: DVec3,
}

impl Frame {
    /// With this first axis, of length one, and the second as near to another as can be; where that is the first, as near
    /// to yet another.
    fn nearest(first: DVec3, second: DVec3, else_second: DVec3) -> Self {
        let found = perpendicular(second, first).or_else(|| perpendicular(else_second, first));
        Self { first, second: found.unwrap_or_else(|| first.any_orthonormal_vector()) }
    }

    /// All three axes.
    fn axes(&self) -> DMat3 {
        DMat3::from_cols(self.first, self.second, self.first.cross(self.second))
    }
}

/// How much of each tet lies near a curve: 1 as far as `radius`, fading to 0 over `falloff` more.
pub fn near_curves(mesh: &TetMesh, curves: &[Curve], radius: f64, falloff: f64) -> Vec<f32> {
    let mut ways: Vec<[DVec3; 2]> = Vec::new();
    for curve in curves {
        ways.extend(curve.drawn(STEP * cell(mesh)).windows(2).map(|w| [w[0].position, w[1].position]));
    }
    let boxes: Vec<Aabb> = ways.iter().map(|way| Aabb::of(way.map(|p| p.as_vec3()))).collect();
    let tree = Tree::new(&boxes);
    parallel::map(mesh.tets().len(), |tet| {
        let place = centre(mesh, tet);
        let mut nearest = f64::INFINITY;
        tree.touching(Aabb::of([place.as_vec3()]).grown(radius + falloff), |way| {
            nearest = nearest.min(distance(place, ways[way as usize]));
        });
        fade(nearest, radius, falloff) as f32
    })
}

/// 1 up to a distance, then smoothly to 0 over another: `1 - t^2 (3 - 2t)`.
fn fade(distance: f64, reach: f64, over: f64) -> f64 {
    if distance <= reach {
        return 1.0;
    }
    // Over no length at all there is no fading.
    let t = ((distance - reach) / over).min(1.0);
    1.0 - t * t * (3.0 - 2.0 * t)
}

fn distance(point: DVec3, [start, end]: [DVec3; 2]) -> f64 {
    let (way, to_point) = (end - start, point - start);
    let square = way.length_squared();
    let along = if square > 0.0 { (to_point.dot(way) / square).clamp(0.0, 1.0) } else { 0.0 };
    to_point.distance(way * along)
}

fn centre(mesh: &TetMesh, tet: usize) -> DVec3 {
    mesh.corners(tet).into_iter().sum::<DVec3>() / 4.0
}

/// Edge of the lattice that would have tets as large.
fn cell(mesh: &TetMesh) -> f64 {
    libm::cbrt(12.0 * mesh.volume() / mesh.tets().len() as f64)
}
