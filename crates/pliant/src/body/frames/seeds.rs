//! The tets that curves pass, and their frames.

use super::along::normals;
use super::smooth::mean;
use super::{Frame, STEP, cell};
use crate::asset::{Curve, CurvePoint, TetMesh};
use crate::body::aabb::{Aabb, Queue, Tree};
use crate::body::distance::clip;
use crate::body::embedding::triangle_distance_squared;
use crate::parallel;
use glam::DVec3;

/// What curves say about tets.
pub(super) struct Seeds {
    /// Tets, in order, with their frames.
    pub(super) frames: Vec<(u32, Frame)>,
    /// Curves without a tet.
    pub(super) missed: Vec<usize>,
}

/// A part of a curve in a tet: which point of the curve it is at, how far on towards the next, and how long it is.
struct Hit {
    tet: u32,
    point: usize,
    share: f64,
    length: f64,
}

struct Finder<'a> {
    mesh: &'a TetMesh,
    surface: &'a [([u32; 3], u32)],
    tets: Tree,
    faces: Tree,
    reach: f64,
}

/// Frames of the tets that curves pass. `default` frames say how a curve's frames are turned about it.
pub(super) fn find(
    mesh: &TetMesh,
    surface: &[([u32; 3], u32)],
    curves: &[Curve],
    reach: f64,
    default: &[Frame],
) -> Seeds {
    let at = |node: u32| mesh.positions()[node as usize];
    let tets: Vec<Aabb> = mesh.tets().iter().map(|tet| Aabb::of(tet.map(at))).collect();
    let faces: Vec<Aabb> = surface.iter().map(|(face, _)| Aabb::of(face.map(at))).collect();
    let finder = Finder { mesh, surface, tets: Tree::new(&tets), faces: Tree::new(&faces), reach };
    let step = STEP * cell(mesh);
    let found: Vec<Vec<(u32, Frame, f64)>> = parallel::map(curves.len(), |curve| {
        let points = curves[curve].drawn(step);
        let hits = finder.hits(&points);
        framed(&points, &hits, default)
    });
    let missed = (0..curves.len()).filter(|&curve| found[curve].is_empty()).collect();
    let mut all = found.concat();
    all.sort_by_key(|hit| hit.0);
    let of_tet = all.chunk_by(|a, b| a.0 == b.0).map(|hits| {
        let frames = hits.iter().map(|hit| (hit.1, hit.2));
        // Whichever is longest in the tet is matched to, so that it does not matter from which end a curve was drawn.
        let longest = hits.iter().fold(&hits[0], |a, b| if b.2 > a.2 { b } else { a });
        (hits[0].0, mean(longest.1, frames))
    });
    Seeds { frames: of_tet.collect(), missed }
}

impl Finder<'_> {
    fn hits(&self, points: &[CurvePoint]) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (point, pair) in points.windows(2).enumerate() {
            let way = [pair[0].position, pair[1].position];
            let length = way[0].distance(way[1]);
            self.tets.touching(Aabb::of(way.map(|p| p.as_vec3())).grown(0.0), |tet| {
                if let Some([from, to]) = clip(self.mesh.corners(tet as usize), way) {
                    hits.push(Hit { tet, point, share: 0.5 * (from + to), length: (to - from) * length });
                }
            });
        }
        let mut queue = Queue::default();
        for (point, place) in points.iter().enumerate() {
            if let Some(tet) = self.outside(place.position, &mut queue) {
                let after = points[(point + 1).min(points.len() - 1)].position;
                let before = points[point.saturating_sub(1)].position;
                hits.push(Hit { tet, point, share: 0.0, length: 0.5 * before.distance(after) });
            }
        }
        hits
    }

    /// The nearest tet of a point that is in none, if it is within reach.
    fn outside(&self, p: DVec3, queue: &mut Queue) -> Option<u32> {
        let mut inside = false;
        self.tets.touching(Aabb::of([p.as_vec3()]).grown(0.0), |tet| {
            inside = inside || clip(self.mesh.corners(tet as usize), [p, p]).is_some();
        });
        if inside {
            return None;
        }
        let corners =
            |face: u32| self.surface[face as usize].0.map(|n| self.mesh.positions()[n as usize].as_dvec3());
        let mut nearest = None;
        let distance = |face: u32| triangle_distance_squared(corners(face), p);
        self.faces.by_distance(p, queue, distance, |face, distance_squared| {
            if distance_squared <= self.reach * self.reach {
                nearest = Some(self.surface[face as usize].1);
            }
            false
        });
        nearest
    }
}

/// The frames of the hits of one curve: rotation-minimising along it. The one angle that is free is that at which their
/// second and third axes are nearest to those of the default frames, over the whole curve: from whichever end it was
/// drawn, and however the character stands.
fn framed(points: &[CurvePoint], hits: &[Hit], default: &[Frame]) -> Vec<(u32, Frame, f64)> {
    let normals = normals(points);
    let frames: Vec<(u32, Frame, f64)> = hits
        .iter()
        .map(|hit| {
            let next = (hit.point + 1).min(points.len() - 1);
            let between = |a: DVec3, b: DVec3| a * (1.0 - hit.share) + b * hit.share;
            let own = points[hit.point].tangent;
            let tangent = between(own, points[next].tangent).try_normalize().unwrap_or(own);
            let normal = between(normals[hit.point], normals[next]);
            (hit.tet, Frame::nearest(tangent, normal, normals[hit.point]), hit.length)
        })
        .collect();
    // `max over angle of sum w cos 2(angle - phi)`, with phi the angle of a default axis.
    let (mut sine, mut cosine) = (0.0, 0.0);
    for (tet, frame, weight) in &frames {
        let (own, wanted) = (frame.axes(), default[*tet as usize].axes());
        for (axis, sign) in [(wanted.y_axis, 1.0), (wanted.z_axis, -1.0)] {
            let (y, z) = (axis.dot(own.y_axis), axis.dot(own.z_axis));
            cosine += weight * sign * (y * y - z * z);
            sine += weight * sign * 2.0 * y * z;
        }
    }
    let (sine, cosine) = libm::sincos(0.5 * libm::atan2(sine, cosine));
    let rolled = |frame: Frame| {
        let axes = frame.axes();
        Frame { second: axes.y_axis * cosine + axes.z_axis * sine, ..frame }
    };
    frames.into_iter().map(|(tet, frame, weight)| (tet, rolled(frame), weight)).collect()
}
