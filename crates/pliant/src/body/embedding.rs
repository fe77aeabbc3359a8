//! A skin that rides on tets.

use super::aabb::{Aabb, Queue, Tree};
use crate::asset::TetMesh;
use crate::parallel;
use glam::{DVec3, Vec3};

/// How far below 0 a weight may be in a tet that holds a point, as a share of the tet's height. Rounding must not push a
/// point on a face out of the tets on both its sides; a billion times what f64 rounds, and nothing that anyone sees.
const INSIDE: f64 = -1e-9;

/// Distances whose squares are within this share are equal: a point nearest to an edge or a corner is as near to all
/// faces there, and the choice is not rounding's.
const EQUAL: f64 = 1e-6;

/// How many of the nearest faces are tried for a tet that is accepted. A sheet that almost touches another is within
/// the first few; more cost time, and reach across the body.
const FACES_TRIED: usize = 16;

/// Least height of a tet over its face, as a share of the root of the face's area, to extrapolate from it by more than
/// that height. A regular tet has 1.24. A point outside moves by what the tet's far corner moves times its distance over
/// the height: from a sliver it would fly about. Higher, and points leave their nearest face for another one too easily.
const FLAT: f64 = 0.1;

/// Points placed at a time, for each thread.
const CHUNK: usize = 256;

/// Where each vertex of a skin sits in a tet mesh: a tet and four weights on its nodes that sum to one. A vertex
/// outside its tet has weights below 0 and above 1; the rest pose comes out as it was either way.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    tets: Vec<u32>,
    weights: Vec<[f32; 4]>,
}

impl Embedding {
    /// Places each point in a tet that holds it (the lowest of several), else in the tet behind the nearest face of the
    /// mesh's `surface` (see [`super::topology::surface`]); a tet that is all but flat only if there is no other near.
    /// Points at one place get one tet and the same weights, so that seams stay closed.
    pub fn new(tets: &TetMesh, surface: &[([u32; 3], u32)], points: &[Vec3]) -> Self {
        Self::accepted(tets, surface, points, |_, _| true)
    }

    /// As [`Embedding::new`], where not every tet will do: bodies overlap themselves, when thin parts that almost touch
    /// have been thickened, and a point of one must not ride on the other. `accept(point, tet)` says which tets suit
    /// a point. Taken is the lowest accepted tet that holds the point, else the accepted tet behind the nearest of the
    /// 16 nearest faces, else what would be taken were all accepted. Of points at one place the first is asked about.
    pub fn accepted(
        tets: &TetMesh,
        surface: &[([u32; 3], u32)],
        points: &[Vec3],
        accept: impl Fn(usize, u32) -> bool + Sync + Send,
    ) -> Self {
        let finder = Finder::new(tets, surface);
        let (firsts, place_of_point) = places(points);
        let mut places = vec![(0u32, [0.0f32; 4]); firsts.len()];
        parallel::for_each_chunk_mut(&mut places, CHUNK, |chunk, places| {
            let mut queue = Queue::default();
            for (place, &point) in places.iter_mut().zip(&firsts[chunk * CHUNK..]) {
                let accept = |tet| accept(point as usize, tet);
                let (tet, weights) = finder.place(points[point as usize], &mut queue, accept);
                *place = (tet, rounded(weights));
            }
        });
        Self {
            tets: place_of_point.iter().map(|&p| places[p as usize].0).collect(),
            weights: place_of_point.iter().map(|&p| places[p as usize].1).collect(),
        }
    }

    /// Where each point sits: its tet, and its weights there.
    pub(super) fn of(tets: Vec<u32>, weights: Vec<[f32; 4]>) -> Self {
        Self { tets, weights }
    }

    /// The points of two embeddings in the same tets, one after the other.
    pub fn and(mut self, other: &Self) -> Self {
        self.tets.extend(&other.tets);
        self.weights.extend(&other.weights);
        self
    }

    /// The tet of each vertex.
    pub fn tets(&self) -> &[u32] {
        &self.tets
    }

    /// The weights of each vertex on its tet's nodes.
    pub fn weights(&self) -> &[[f32; 4]] {
        &self.weights
    }
}

/// The first point of each place, and the place of each point. 0 and -0 are one place.
pub(super) fn places(points: &[Vec3]) -> (Vec<u32>, Vec<u32>) {
    let bits = |p: Vec3| p.to_array().map(|c| (c + 0.0).to_bits());
    let mut order: Vec<([u32; 3], u32)> =
        points.iter().zip(0..).map(|(&p, index)| (bits(p), index)).collect();
    order.sort_unstable();
    let (mut firsts, mut place_of_point) = (Vec::new(), vec![0; points.len()]);
    for group in order.chunk_by(|a, b| a.0 == b.0) {
        group.iter().for_each(|&(_, point)| place_of_point[point as usize] = firsts.len() as u32);
        firsts.push(group[0].1);
    }
    (firsts, place_of_point)
}

/// Weights to f32: the last three as they are, the first what is left of one.
fn rounded(weights: [f64; 4]) -> [f32; 4] {
    let [_, b, c, d] = weights.map(|w| w as f32);
    let rest = f64::from(b) + f64::from(c) + f64::from(d);
    [(1.0 - rest) as f32, b, c, d]
}

/// A tet for a point, and how well it suits.
struct Found {
    tet: u32,
    weights: [f64; 4],
    distance_squared: f64,
}

/// Looks for the tets of points.
struct Finder<'a> {
    mesh: &'a TetMesh,
    surface: &'a [([u32; 3], u32)],
    tets: Tree,
    faces: Tree,
}

impl<'a> Finder<'a> {
    fn new(mesh: &'a TetMesh, surface: &'a [([u32; 3], u32)]) -> Self {
        let at = |node: u32| mesh.positions()[node as usize];
        let tets: Vec<Aabb> = mesh.tets().iter().map(|tet| Aabb::of(tet.map(at))).collect();
        let faces: Vec<Aabb> = surface.iter().map(|(face, _)| Aabb::of(face.map(at))).collect();
        Self { mesh, surface, tets: Tree::new(&tets), faces: Tree::new(&faces) }
    }

    fn place(&self, point: Vec3, queue: &mut Queue, accept: impl Fn(u32) -> bool) -> (u32, [f64; 4]) {
        let p = point.as_dvec3();
        let weights = |tet: u32| barycentrics(self.mesh.corners(tet as usize), p);
        let (mut suited, mut held) = (None, None);
        self.tets.around(point, |tet| {
            let lower = |than: Option<(u32, _)>| than.is_none_or(|(t, _)| tet < t);
            if !lower(suited) {
                return;
            }
            let weights = weights(tet);
            if lowest(weights) >= INSIDE {
                if lower(held) {
                    held = Some((tet, weights));
                }
                if accept(tet) {
                    suited = Some((tet, weights));
                }
            }
        });
        if let Some(suited) = suited {
            return suited;
        }
        let (mut suited, mut flat, mut nearest) = (None, None, None);
        let (mut tried, face_distance) = (0, |face: u32| self.distance_squared(face, p));
        self.faces.by_distance(p, queue, face_distance, |face, distance_squared| {
            if suited.as_ref().is_some_and(|found| !as_near(distance_squared, found)) || tried == FACES_TRIED
            {
                return false;
            }
            tried += 1;
            let tet = self.surface[face as usize].1;
            let weights = weights(tet);
            if held.is_none() {
                offer(&mut nearest, Found { tet, weights, distance_squared });
            }
            if accept(tet) {
                let to = if lowest(weights) < -1.0 && self.is_flat(face) { &mut flat } else { &mut suited };
                offer(to, Found { tet, weights, distance_squared });
            }
            true
        });
        let found = |found: Found| (found.tet, found.weights);
        // A mesh always has a surface; were it not given, any tet will do.
        suited.or(flat).map(found).or(held).or(nearest.map(found)).unwrap_or_else(|| (0, weights(0)))
    }

    fn distance_squared(&self, face: u32, p: DVec3) -> f64 {
        triangle_distance_squared(self.face(face), p)
    }

    fn is_flat(&self, face: u32) -> bool {
        let [a, b, c] = self.face(face);
        let area = (b - a).cross(c - a).length() / 2.0;
        let height = 3.0 * self.mesh.volume_of(self.surface[face as usize].1 as usize) / area;
        height < FLAT * area.sqrt()
    }

    fn face(&self, face: u32) -> [DVec3; 3] {
        self.surface[face as usize].0.map(|n| self.mesh.positions()[n as usize].as_dvec3())
    }
}

fn as_near(distance_squared: f64, as_found: &Found) -> bool {
    distance_squared <= as_found.distance_squared * (1.0 + EQUAL)
}

/// Takes the nearer; of equals the one from which the point is the least extrapolated.
fn offer(best: &mut Option<Found>, new: Found) {
    match best {
        None => *best = Some(new),
        Some(old) if as_near(new.distance_squared, old) && lowest(new.weights) > lowest(old.weights) => {
            *old = Found { distance_squared: old.distance_squared, ..new };
        }
        Some(_) => {}
    }
}

fn lowest(weights: [f64; 4]) -> f64 {
    weights.into_iter().fold(f64::INFINITY, f64::min)
}

/// The weights of a tet's corners that give the point.
fn barycentrics([a, b, c, d]: [DVec3; 4], p: DVec3) -> [f64; 4] {
    let (ab, ac, ad, ap) = (b - a, c - a, d - a, p - a);
    let (over_b, over_c, over_d) = (ac.cross(ad), ad.cross(ab), ab.cross(ac));
    let volume = ab.dot(over_b);
    let [b, c, d] = [over_b, over_c, over_d].map(|area| area.dot(ap) / volume);
    [1.0 - b - c - d, b, c, d]
}

/// The square of a point's distance to a triangle, which may be a line or a point.
pub(super) fn triangle_distance_squared([a, b, c]: [DVec3; 3], p: DVec3) -> f64 {
    let normal = (b - a).cross(c - a);
    let square = normal.length_squared();
    let sides = [(a, b), (b, c), (c, a)];
    let over = |(from, to): (DVec3, DVec3)| normal.cross(to - from).dot(p - from) >= 0.0;
    if square > 0.0 && sides.into_iter().all(over) {
        let height = normal.dot(p - a);
        return height * height / square;
    }
    let to_side = |(from, to): (DVec3, DVec3)| {
        let (along, to_p) = (to - from, p - from);
        let length_squared = along.length_squared();
        let t = if length_squared > 0.0 { (along.dot(to_p) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
        to_p.distance_squared(along * t)
    };
    sides.into_iter().map(to_side).fold(f64::INFINITY, f64::min)
}
