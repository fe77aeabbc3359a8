//! Skins made by code, and what every body must fulfil.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use pliant::asset::TetMesh;
use pliant::body::quality::Quality;
use pliant::body::topology::{Adjacency, neighbours};
use pliant::body::{Body, BodyError, Fate, Fineness};
use pliant::glam::{DVec3, Vec3};
use pliant::zoo;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A skin at rest, in double precision until it is meshed.
#[derive(Clone, Default)]
pub struct Skin {
    pub points: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Skin {
    pub fn sample(name: &str) -> Self {
        let character = zoo::character(name, None).expect("a sample");
        let surface = character.surface();
        let points = surface.positions().iter().map(|p| p.as_dvec3()).collect();
        Self { points, triangles: surface.triangles().to_vec() }
    }

    /// A ball with `rings` from pole to pole.
    pub fn sphere(centre: DVec3, radius: f64, rings: u32) -> Self {
        let around = 2 * rings;
        let mut points = vec![centre + radius * DVec3::Z];
        for ring in 1..rings {
            let (sin, cos) = libm::sincos(std::f64::consts::PI * f64::from(ring) / f64::from(rings));
            for k in 0..around {
                let (s, c) = libm::sincos(std::f64::consts::TAU * f64::from(k) / f64::from(around));
                points.push(centre + radius * DVec3::new(sin * c, sin * s, cos));
            }
        }
        points.push(centre - radius * DVec3::Z);
        let at = |ring: u32, k: u32| 1 + (ring - 1) * around + k % around;
        let last = points.len() as u32 - 1;
        let mut triangles = Vec::new();
        for k in 0..around {
            triangles.push([0, at(1, k), at(1, k + 1)]);
            triangles.push([last, at(rings - 1, k + 1), at(rings - 1, k)]);
            for ring in 1..rings - 1 {
                triangles.push([at(ring, k), at(ring + 1, k), at(ring + 1, k + 1)]);
                triangles.push([at(ring, k), at(ring + 1, k + 1), at(ring, k + 1)]);
            }
        }
        Self { points, triangles }
    }

    /// The surface of some boxes of a grid whose planes are given.
    pub fn blocks(planes: [&[f64]; 3], filled: impl Fn([usize; 3]) -> bool) -> Self {
        let inside = |cell: [usize; 3], axis: usize, side: isize| {
            let mut near = cell.map(|c| c as isize);
            near[axis] += side;
            (0..3).all(|k| (0..planes[k].len() as isize - 1).contains(&near[k]))
                && filled(near.map(|c| c as usize))
        };
        let mut index: BTreeMap<[usize; 3], u32> = BTreeMap::new();
        let mut skin = Self::default();
        for cell in grid([planes[0].len() - 1, planes[1].len() - 1, planes[2].len() - 1]) {
            for (axis, side) in [(0, 1), (1, 1), (2, 1), (0, -1), (1, -1), (2, -1)] {
                if !filled(cell) || inside(cell, axis, side) {
                    continue;
                }
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let mut corner = |du: usize, dv: usize| {
                    let mut at = cell;
                    at[axis] += usize::from(side > 0);
                    at[u] += du;
                    at[v] += dv;
                    *index.entry(at).or_insert_with(|| {
                        skin.points.push(DVec3::from([0, 1, 2].map(|k| planes[k][at[k]])));
                        skin.points.len() as u32 - 1
                    })
                };
                let quad = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                let [a, b, c, d] = if side > 0 { quad } else { [quad[0], quad[3], quad[2], quad[1]] };
                skin.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        skin
    }

    pub fn cuboid(low: DVec3, high: DVec3) -> Self {
        Self::blocks([&[low.x, high.x], &[low.y, high.y], &[low.z, high.z]], |_| true)
    }

    /// An open sheet over the unit square.
    pub fn sheet(across: u32, place: impl Fn(f64, f64) -> DVec3) -> Self {
        let mut skin = Self::default();
        for (j, i) in (0..=across).flat_map(|j| (0..=across).map(move |i| (j, i))) {
            skin.points.push(place(f64::from(i) / f64::from(across), f64::from(j) / f64::from(across)));
        }
        for (j, i) in (0..across).flat_map(|j| (0..across).map(move |i| (j, i))) {
            let a = j * (across + 1) + i;
            skin.triangles.extend([[a, a + 1, a + across + 2], [a, a + across + 2, a + across + 1]]);
        }
        skin
    }

    pub fn and(mut self, other: &Self) -> Self {
        let first = self.points.len() as u32;
        self.points.extend(&other.points);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + first)));
        self
    }

    pub fn inside_out(mut self) -> Self {
        self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        self
    }

    pub fn moved(mut self, by: impl Fn(DVec3) -> DVec3) -> Self {
        self.points.iter_mut().for_each(|p| *p = by(*p));
        self
    }

    /// By the divergence theorem.
    pub fn volume(&self) -> f64 {
        let origin = self.points[0];
        let of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| self.points[v as usize] - origin);
            a.dot(b.cross(c)) / 6.0
        };
        self.triangles.iter().map(of).sum()
    }

    pub fn diagonal(&self) -> f64 {
        let low = self.points.iter().fold(DVec3::INFINITY, |l, p| l.min(*p));
        low.distance(self.points.iter().fold(DVec3::NEG_INFINITY, |h, p| h.max(*p)))
    }

    pub fn positions(&self) -> Vec<Vec3> {
        self.points.iter().map(|p| p.as_vec3()).collect()
    }

    pub fn meshed(&self, fineness: Fineness) -> Result<Body, BodyError> {
        Body::of_skin(&self.positions(), &self.triangles, fineness, &mut |_| true)
    }

    pub fn body(&self, fineness: Fineness) -> Body {
        self.meshed(fineness).expect("a body")
    }
}

pub fn grid(size: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let [nx, ny, nz] = size;
    (0..nx * ny * nz).map(move |k| [k % nx, k / nx % ny, k / (nx * ny)])
}

pub fn fates(body: &Body) -> Vec<Fate> {
    body.shells().iter().map(|s| s.fate).collect()
}

/// What holds of every body whatever the skin; the misses in words.
pub fn unsound(skin: &Skin, body: &Body) -> Vec<String> {
    let mut misses = Vec::new();
    let mut miss = |wrong: bool, what: String| {
        if wrong {
            misses.push(what);
        }
    };
    let mesh = body.tets();
    let count = mesh.tets().len();
    let inverted = (0..count).filter(|&t| mesh.volume_of(t) <= 0.0).count();
    miss(inverted > 0, format!("{inverted} inverted tets"));
    let adjacency = Adjacency::new(mesh);
    miss(adjacency.crowded > 0, format!("{} faces of more than two tets", adjacency.crowded));
    let mut used = vec![false; mesh.positions().len()];
    mesh.tets().iter().flatten().for_each(|&n| used[n as usize] = true);
    miss(used.contains(&false), "nodes of no tet".into());
    let fill_wrong = body.fill().iter().filter(|f| !(**f > 0.0 && **f <= 1.0)).count();
    miss(fill_wrong > 0 || body.fill().len() != count, format!("{fill_wrong} fills out of (0, 1]"));
    let volumes = body.node_volumes();
    let wrong = volumes.iter().filter(|v| v.partial_cmp(&&0.0) != Some(std::cmp::Ordering::Greater)).count();
    miss(wrong > 0 || volumes.len() != used.len(), format!("{wrong} node volumes not above 0"));
    let sum: f64 = volumes.iter().map(|&v| f64::from(v)).sum();
    let ratio = sum / body.skin_volume();
    miss((ratio - 1.0).abs() > 1e-3, format!("node volumes sum to {ratio:.5} of the skin's"));
    let mut farthest = 0.0f64;
    for (v, p) in skin.points.iter().enumerate() {
        let corners = mesh.corners(body.embedding().tets()[v] as usize);
        let weights = body.embedding().weights()[v];
        let back: DVec3 = (0..4).map(|k| corners[k] * f64::from(weights[k])).sum();
        farthest = farthest.max(back.distance(p.as_vec3().as_dvec3()));
    }
    let share = farthest / skin.diagonal();
    miss(share.is_nan() || share > 1e-5, format!("rest is reproduced to {share:.1e} of the diagonal"));
    miss(body.pieces().iter().sum::<u32>() as usize != count, "pieces do not add up".into());
    misses
}

/// The goals that are for clean skins of `wanted` tets; the misses in words.
pub fn short_of_goals(skin: &Skin, body: &Body, wanted: usize, pieces: usize) -> Vec<String> {
    let mut misses = unsound(skin, body);
    let q = Quality::of(body.tets());
    if q.dihedral_min < 10.0 || q.dihedral_max > 155.0 || q.dihedral_p1 < 20.0 {
        let Quality { dihedral_min, dihedral_p1, dihedral_max, .. } = q;
        misses
            .push(format!("dihedrals {dihedral_min:.1}..{dihedral_max:.1}, 1st percentile {dihedral_p1:.1}"));
    }
    let share = q.tets as f64 / wanted as f64;
    if (share - 1.0).abs() > 0.05 {
        misses.push(format!("{} tets of {wanted}", q.tets));
    }
    if body.pieces().len() != pieces {
        misses.push(format!("pieces of {:?} tets", body.pieces()));
    }
    let outside = body.outside(&skin.positions());
    let flesh = outside.iter().enumerate().filter(|(v, _)| !body.rides(*v)).map(|(_, &d)| f64::from(d));
    let farthest = flesh.fold(0.0, f64::max) / body.cell();
    if farthest > 0.75 {
        misses.push(format!("a vertex {farthest:.2} cells outside"));
    }
    misses
}

/// How far it is along edges of tets from some nodes to the nearest of others.
pub fn way(mesh: &TetMesh, from: &[u32], to: &[u32]) -> f64 {
    let near = neighbours(mesh);
    let mut far = vec![f64::INFINITY; mesh.positions().len()];
    let mut heap = BinaryHeap::new();
    for &node in from {
        far[node as usize] = 0.0;
        heap.push(Reverse((0u64, node)));
    }
    while let Some(Reverse((bits, node))) = heap.pop() {
        let reached = f64::from_bits(bits);
        if reached > far[node as usize] {
            continue;
        }
        for &next in near.of(node as usize) {
            let [a, b] = [node, next].map(|n| mesh.positions()[n as usize].as_dvec3());
            let through = reached + a.distance(b);
            if through < far[next as usize] {
                far[next as usize] = through;
                // Of numbers that are not negative the bits have the same order.
                heap.push(Reverse((through.to_bits(), next)));
            }
        }
    }
    to.iter().map(|&n| far[n as usize]).fold(f64::INFINITY, f64::min)
}

/// The nodes of the tets that some of the skin's vertices are in.
pub fn nodes_under(skin: &Skin, body: &Body, chosen: impl Fn(DVec3) -> bool) -> Vec<u32> {
    let vertices = (0..skin.points.len()).filter(|&v| chosen(skin.points[v]));
    vertices.flat_map(|v| body.tets().tets()[body.embedding().tets()[v] as usize]).collect()
}
