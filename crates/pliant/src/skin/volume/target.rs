//! The volume that each region should have: that of the rest shape with the pose's morphs, times the cube of what the pose
//! scales it by.

use super::kernel::Block;
use super::pack::{BATCH, Pack};
use super::plain;
use super::regions::{NONE, Regions};
use crate::asset::Character;
use crate::rig::SkinMatrix;
use crate::skin::mesh::Mesh;
use glam::{DMat3, DVec3};

/// Scales closer to one than this are rounding.
const UNSCALED: f64 = 1e-6;

/// What targets are made from.
pub(super) struct Targets {
    points: Vec<DVec3>,
    /// Of the rest shape with morphs at zero.
    volumes: Vec<f64>,
    triangles: Vec<Vec<[u32; 3]>>,
    apexes: Vec<Vec<u32>>,
    piece: Vec<u32>,
    morphs: Vec<Moves>,
    /// Regions that any morph moves.
    morphed: Vec<bool>,
    /// Points of each region with their areas and weights, to tell how much it is scaled.
    shares: Vec<Vec<Share>>,
}

/// A point's area in a region, and its weights.
type Share = (f64, Vec<(u16, f32)>);

struct Moves {
    moves: Vec<(u32, DVec3)>,
    default_weight: f32,
}

/// The targets of one copy's frame.
#[derive(Clone)]
pub(super) struct State {
    pub volumes: Vec<f64>,
    /// Morph weights that `morphed` and `points` are for.
    weights: Vec<f32>,
    points: Vec<DVec3>,
    /// Of the rest shape with morphs.
    morphed: Vec<f64>,
    rest: Option<Vec<Block>>,
    scales: Vec<f64>,
    /// Per piece: volume as the regions are scaled, area times cubed scale, area.
    pieces: Vec<[f64; 4]>,
}

impl State {
    /// The rest shape with morphs.
    pub(super) fn rest<'a>(&'a self, plain: &'a [Block]) -> &'a [Block] {
        self.rest.as_deref().unwrap_or(plain)
    }
}

impl Targets {
    pub(super) fn new(character: &Character, mesh: &Mesh, regions: &Regions) -> Self {
        let speaks = |v: u32| mesh.vertex_of_point[mesh.point_of_vertex[v as usize] as usize] == v;
        let morphs = character.morphs().iter().map(|morph| {
            let moves = morph.vertices.iter().zip(&morph.positions).filter(|(v, _)| speaks(**v));
            let moves = moves.map(|(&v, d)| (mesh.point_of_vertex[v as usize], d.as_dvec3())).collect();
            Moves { moves, default_weight: morph.default_weight }
        });
        let morphs: Vec<Moves> = morphs.collect();
        let mut is_moved = vec![false; mesh.len()];
        morphs.iter().flat_map(|m| &m.moves).for_each(|m| is_moved[m.0 as usize] = true);
        let touched = |p: u32| is_moved.get(p as usize).copied().unwrap_or(true);
        let mut targets = Self {
            points: mesh.points.clone(),
            volumes: Vec::new(),
            triangles: regions.triangles.clone(),
            apexes: regions.apexes.clone(),
            piece: regions.piece.clone(),
            morphed: regions
                .triangles
                .iter()
                .map(|t| !morphs.is_empty() && t.iter().flatten().any(|&p| touched(p)))
                .collect(),
            morphs,
            shares: vec![Vec::new(); regions.count],
        };
        targets.volumes = (0..regions.count).map(|r| targets.volume(r, &targets.points)).collect();
        // Each point's area goes where its triangles are.
        let mut areas: Vec<f64> = vec![0.0; mesh.len()];
        for (region, triangles) in targets.triangles.iter().enumerate() {
            let own = triangles.iter().filter(|t| t.iter().all(|&p| (p as usize) < mesh.len()));
            let mut touched: Vec<u32> = Vec::new();
            for t in own {
                let [a, b, c] = t.map(|p| mesh.points[p as usize]);
                let share = (b - a).cross(c - a).length() / 6.0;
                t.iter().for_each(|&p| areas[p as usize] += share);
                touched.extend(t);
            }
            touched.sort_unstable();
            touched.dedup();
            for p in touched {
                let area = std::mem::take(&mut areas[p as usize]);
                targets.shares[region].push((area, mesh.weights(p as usize).to_vec()));
            }
        }
        targets
    }

    pub(super) fn state(&self, rest: &[Block]) -> State {
        let has_morphs = !self.morphs.is_empty();
        State {
            volumes: self.volumes.clone(),
            weights: vec![0.0; self.morphs.len()],
            points: if has_morphs { self.points.clone() } else { Vec::new() },
            morphed: self.volumes.clone(),
            rest: has_morphs.then(|| rest.to_vec()),
            scales: Vec::new(),
            pieces: vec![[0.0; 4]; self.piece.iter().max().map_or(0, |p| *p as usize + 1)],
        }
    }

    /// Six volumes are the sum of triple products; one corner as origin keeps numbers small.
    fn volume(&self, region: usize, points: &[DVec3]) -> f64 {
        let apex = |a: u32| {
            let around = &self.apexes[a as usize - points.len()];
            around.iter().map(|&p| points[p as usize]).sum::<DVec3>() / around.len().max(1) as f64
        };
        let place = |p: u32| if (p as usize) < points.len() { points[p as usize] } else { apex(p) };
        let triangles = &self.triangles[region];
        let Some(origin) = triangles.first().map(|t| place(t[0])) else { return 0.0 };
        // Fans come last and name one apex many times over.
        let mut last = (NONE, DVec3::ZERO);
        let mut sum = 0.0;
        for t in triangles {
            let corner = |p: u32, last: &mut (u32, DVec3)| {
                if (p as usize) < points.len() {
                    return points[p as usize] - origin;
                }
                if last.0 != p {
                    *last = (p, place(p));
                }
                last.1 - origin
            };
            let [a, b, c] = t.map(|p| corner(p, &mut last));
            sum += a.dot(b.cross(c));
        }
        sum / 6.0
    }

    /// Sets the targets of a frame.
    pub(super) fn set(&self, pack: &Pack, matrices: &[SkinMatrix], morph_weights: &[f32], state: &mut State) {
        self.morph(pack, morph_weights, state);
        state.volumes.copy_from_slice(&state.morphed);
        state.scales.clear();
        state.scales.extend(matrices.iter().map(|m| {
            let column = |i: usize| DVec3::new(m[0][i].into(), m[1][i].into(), m[2][i].into());
            let scale = libm::cbrt(DMat3::from_cols(column(0), column(1), column(2)).determinant());
            if scale.is_finite() { scale } else { 1.0 }
        }));
        if state.scales.iter().all(|s| (s - 1.0).abs() < UNSCALED) {
            return;
        }
        // Each region by its own scale, then each piece as a whole by its own.
        state.pieces.fill([0.0; 4]);
        for (region, shares) in self.shares.iter().enumerate() {
            let (mut grown, mut area) = (0.0, 0.0);
            for (share, weights) in shares {
                let scale: f64 =
                    weights.iter().map(|&(slot, w)| f64::from(w) * state.scales[slot as usize]).sum();
                grown += share * scale * scale * scale;
                area += share;
            }
            let plain = state.volumes[region];
            state.volumes[region] *= if area > 0.0 { grown / area } else { 1.0 };
            let piece = &mut state.pieces[self.piece[region] as usize];
            let sums = [plain, state.volumes[region], grown, area];
            piece.iter_mut().zip(sums).for_each(|(sum, x)| *sum += x);
        }
        for (region, volume) in state.volumes.iter_mut().enumerate() {
            let [plain, scaled, grown, area] = state.pieces[self.piece[region] as usize];
            let factor = plain * (grown / area) / scaled;
            if factor.is_finite() {
                *volume *= factor;
            }
        }
    }

    fn morph(&self, pack: &Pack, given: &[f32], state: &mut State) {
        let weight = |m: usize| {
            given.get(m).copied().filter(|w| w.is_finite()).unwrap_or(self.morphs[m].default_weight)
        };
        if (0..self.morphs.len()).all(|m| state.weights[m] == weight(m)) {
            return;
        }
        let State { points, weights, rest, .. } = state;
        let is_touched = |m: usize| weights[m] != 0.0 || weight(m) != 0.0;
        for m in (0..self.morphs.len()).filter(|&m| is_touched(m)) {
            for &(p, _) in &self.morphs[m].moves {
                points[p as usize] = self.points[p as usize];
            }
        }
        for m in (0..self.morphs.len()).filter(|&m| weight(m) != 0.0) {
            for &(p, offset) in &self.morphs[m].moves {
                points[p as usize] += offset * f64::from(weight(m));
            }
        }
        if let Some(rest) = rest {
            for m in (0..self.morphs.len()).filter(|&m| is_touched(m)) {
                for &(p, _) in &self.morphs[m].moves {
                    // Points on borders are held: only their first place counts.
                    let place = pack.place_of_point[p as usize] as usize;
                    if let Some(block) = rest.get_mut(place / BATCH) {
                        plain::put(block, place % BATCH, points[p as usize].as_vec3());
                    }
                }
            }
        }
        for m in 0..self.morphs.len() {
            state.weights[m] = weight(m);
        }
        for region in (0..self.volumes.len()).filter(|&r| self.morphed[r]) {
            state.morphed[region] = self.volume(region, &state.points);
        }
    }
}
