use super::triangle;
use crate::asset::{Character, Weld};
use glam::{DVec3, Vec3};
use std::ops::Range;

/// The welded skin: points, triangles, edges and closed pieces.
#[derive(Debug, Clone)]
pub(super) struct Topology {
    pub(super) point_of_vertex: Vec<u32>,
    pub(super) vertex_of_point: Vec<u32>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Each once, lower point first, in order.
    pub(super) edges: Vec<[u32; 2]>,
    /// Closed pieces, as ranges of `closed`.
    pub(super) pieces: Vec<Range<usize>>,
    /// Triangles of closed pieces, piece by piece.
    closed: Vec<u32>,
    /// For each triangle the first triangle of its piece.
    pub(super) piece_of: Vec<u32>,
    /// Pieces, open ones included.
    pub(super) piece_count: usize,
    /// Edges with more triangles in one direction than in the other.
    pub(super) open_edges: usize,
}

impl Topology {
    pub(super) fn new(character: &Character) -> Self {
        let Weld { point_of_vertex, vertex_of_point, triangles, .. } = Weld::new(character);
        // (low point, high point, triangle, whether the triangle runs from low to high)
        let mut sides = Vec::with_capacity(triangles.len() * 3);
        for (index, &[a, b, c]) in triangles.iter().enumerate() {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                sides.push((from.min(to), from.max(to), index as u32, from < to));
            }
        }
        sides.sort_unstable();

        let mut leader: Vec<u32> = (0..triangles.len() as u32).collect();
        let mut edges = Vec::with_capacity(sides.len() / 2);
        let mut uneven = Vec::new();
        for group in sides.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
            edges.push([group[0].0, group[0].1]);
            let up = group.iter().filter(|s| s.3).count();
            if 2 * up != group.len() {
                uneven.push(group[0].2);
            }
            for side in &group[1..] {
                unite(&mut leader, group[0].2, side.2);
            }
        }
        let mut open = vec![false; triangles.len()];
        for &triangle in &uneven {
            open[find(&mut leader, triangle) as usize] = true;
        }
        let of: Vec<u32> = (0..triangles.len() as u32).map(|t| find(&mut leader, t)).collect();
        let mut closed: Vec<u32> =
            (0..triangles.len() as u32).filter(|&t| !open[of[t as usize] as usize]).collect();
        closed.sort_by_key(|&t| of[t as usize]);
        let (mut pieces, mut start) = (Vec::new(), 0);
        for piece in closed.chunk_by(|&a, &b| of[a as usize] == of[b as usize]) {
            pieces.push(start..start + piece.len());
            start += piece.len();
        }
        let piece_count = of.iter().enumerate().filter(|&(t, &first)| t == first as usize).count();
        let open_edges = uneven.len();
        Self {
            point_of_vertex,
            vertex_of_point,
            triangles,
            edges,
            pieces,
            closed,
            piece_of: of,
            piece_count,
            open_edges,
        }
    }

    /// Positions of the welded points.
    pub(super) fn points(&self, positions: &[Vec3]) -> Vec<DVec3> {
        self.vertex_of_point.iter().map(|&v| positions[v as usize].as_dvec3()).collect()
    }

    /// Triangles of a closed piece.
    pub(super) fn piece(&self, piece: &Range<usize>) -> &[u32] {
        &self.closed[piece.clone()]
    }

    /// Signed volume of a closed piece; `origin` near it keeps the sum from cancelling.
    pub(super) fn piece_volume(&self, piece: &Range<usize>, points: &[DVec3], origin: DVec3) -> f64 {
        let sum: f64 = self
            .piece(piece)
            .iter()
            .map(|&t| triangle::cone(self.triangles[t as usize].map(|p| points[p as usize]), origin))
            .sum();
        sum / 6.0
    }

    /// Share of the area that belongs to closed pieces.
    pub(super) fn closed_share(&self, areas: &[f64]) -> f64 {
        let closed: f64 = self.closed.iter().map(|&t| areas[t as usize]).sum();
        let all: f64 = areas.iter().sum();
        if all > 0.0 { closed / all } else { 0.0 }
    }
}

pub(super) fn centroid(points: &[DVec3]) -> DVec3 {
    points.iter().sum::<DVec3>() / points.len().max(1) as f64
}

fn find(leader: &mut [u32], of: u32) -> u32 {
    let mut at = of;
    while leader[at as usize] != at {
        leader[at as usize] = leader[leader[at as usize] as usize];
        at = leader[at as usize];
    }
    at
}

/// The lower index leads, so that pieces are in order of their first triangle.
fn unite(leader: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(leader, a), find(leader, b));
    leader[a.max(b) as usize] = a.min(b);
}
