use super::joints::Carriers;
use super::section::Loop;
use super::topology::Topology;
use super::{LENGTH_FLOOR, topology, triangle};
use crate::asset::Character;
use glam::DVec3;

/// What the reference of any pose is made from.
#[derive(Debug, Clone)]
pub(super) struct RestShape {
    /// Welded points with no morph applied.
    points: Vec<DVec3>,
    morphs: Vec<PointMorph>,
    pub(super) carriers: Carriers,
    /// A third of the rest area of the triangles around each point.
    pub(super) masses: Vec<f64>,
    /// Of the bounding box of the rest skin.
    pub(super) diagonal: f64,
}

/// A morph on welded points.
#[derive(Debug, Clone)]
struct PointMorph {
    moves: Vec<(u32, DVec3)>,
    default_weight: f32,
}

impl RestShape {
    pub(super) fn new(character: &Character, topology: &Topology) -> Self {
        let points = topology.points(character.surface().positions());
        // The first vertex of a point speaks for it; a vertex may be moved twice by one morph.
        let speaks = |v: u32| topology.vertex_of_point[topology.point_of_vertex[v as usize] as usize] == v;
        let morphs = character.morphs().iter().map(|morph| {
            let moves = morph.vertices.iter().zip(&morph.positions).filter(|(v, _)| speaks(**v));
            let moves = moves.map(|(&v, d)| (topology.point_of_vertex[v as usize], d.as_dvec3())).collect();
            PointMorph { moves, default_weight: morph.default_weight }
        });
        let morphs = morphs.collect();
        let carriers = Carriers::new(character, &topology.vertex_of_point);
        let masses = vec![0.0; points.len()];
        let mut shape = Self { points, morphs, carriers, masses, diagonal: character.diagonal() };
        let rest = shape.points(&[]);
        for t in &topology.triangles {
            let share = triangle::area(t.map(|p| rest[p as usize])) / 3.0;
            t.iter().for_each(|&p| shape.masses[p as usize] += share);
        }
        shape
    }

    fn weight(&self, morph: usize, given: &[f32]) -> f32 {
        given.get(morph).copied().filter(|w| w.is_finite()).unwrap_or(self.morphs[morph].default_weight)
    }

    /// Whether these morph weights are other than the defaults.
    pub(super) fn morphed(&self, weights: &[f32]) -> bool {
        (0..self.morphs.len()).any(|m| self.weight(m, weights) != self.morphs[m].default_weight)
    }

    /// Rest points with morphs applied; those not given are at their defaults.
    pub(super) fn points(&self, morph_weights: &[f32]) -> Vec<DVec3> {
        let mut points = self.points.clone();
        for (index, morph) in self.morphs.iter().enumerate() {
            let weight = f64::from(self.weight(index, morph_weights));
            if weight != 0.0 {
                morph.moves.iter().for_each(|&(p, d)| points[p as usize] += d * weight);
            }
        }
        points
    }
}

/// What lengths, areas and volumes are compared with. Zero where there is nothing to compare with.
#[derive(Debug, Clone)]
pub(super) struct Reference {
    /// Per edge.
    pub(super) lengths: Vec<f64>,
    /// Per triangle.
    pub(super) areas: Vec<f64>,
    /// Per closed piece, signed.
    pub(super) volumes: Vec<f64>,
    /// Per loop.
    pub(super) sections: Vec<f64>,
}

impl Reference {
    pub(super) fn new(
        topology: &Topology,
        loops: &[Loop],
        rest: &[DVec3],
        scales: Option<&[f64]>,
        diagonal: f64,
    ) -> Self {
        let floor = diagonal * LENGTH_FLOOR;
        let signed = |p: u32| scales.map_or(1.0, |s| s[p as usize]);
        let scale = |p: u32| signed(p).abs();
        let at = |p: u32| rest[p as usize];

        let length = |&[a, b]: &[u32; 2]| {
            let length = at(a).distance(at(b)) * 0.5 * (scale(a) + scale(b));
            if length > floor { length } else { 0.0 }
        };
        let area = |&[a, b, c]: &[u32; 3]| {
            let corners = [at(a), at(b), at(c)];
            let mean = (scale(a) + scale(b) + scale(c)) / 3.0;
            let area = triangle::area(corners) * mean * mean;
            // Thinner than the floor: its area is rounding.
            if 2.0 * area > floor * triangle::longest_side(corners) * mean { area } else { 0.0 }
        };
        let origin = topology::centroid(rest);
        let volume = |piece: &std::ops::Range<usize>| {
            let mut grown = (0.0, 0.0);
            if scales.is_some() {
                for &t in topology.piece(piece) {
                    let [a, b, c] = topology.triangles[t as usize];
                    let area = triangle::area([at(a), at(b), at(c)]);
                    let cube = |p| signed(p) * signed(p) * signed(p);
                    grown.0 += area * (cube(a) + cube(b) + cube(c)) / 3.0;
                    grown.1 += area;
                }
            }
            let growth = if grown.1 > 0.0 { grown.0 / grown.1 } else { 1.0 };
            topology.piece_volume(piece, rest, origin) * growth
        };
        let section = |l: &Loop| {
            let mean = l.mean(scale);
            let area = l.area(rest) * mean * mean;
            if area > floor * floor { area } else { 0.0 }
        };
        Self {
            lengths: topology.edges.iter().map(length).collect(),
            areas: topology.triangles.iter().map(area).collect(),
            volumes: topology.pieces.iter().map(volume).collect(),
            sections: loops.iter().map(section).collect(),
        }
    }

    /// All pieces together, however each is wound.
    pub(super) fn total_volume(&self) -> f64 {
        self.volumes.iter().map(|v| v.abs()).sum()
    }

    /// All pieces together, each counted as positive where it is wound as in `rest`.
    pub(super) fn signed_volume(&self, rest: &[f64]) -> f64 {
        self.volumes.iter().zip(rest).map(|(v, rest)| v * rest.signum()).sum()
    }
}
