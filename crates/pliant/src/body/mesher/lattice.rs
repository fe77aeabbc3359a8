//! The body-centred cubic lattice: its neighbours, its tets, and which of its nodes lie inside.

use super::solid::Solid;
use glam::{DVec3, IVec3};

/// Steps to a node's neighbours, in half cells: six along the axes (long edges, one cell), eight along the diagonals
/// (short edges, 0.87 of a cell).
pub(crate) const STEPS: [IVec3; 14] = {
    let mut steps = [IVec3::ZERO; 14];
    let mut k = 0;
    while k < 6 {
        let length = if k % 2 == 0 { 2 } else { -2 };
        steps[k] = match k / 2 {
            0 => IVec3::new(length, 0, 0),
            1 => IVec3::new(0, length, 0),
            _ => IVec3::new(0, 0, length),
        };
        k += 1;
    }
    while k < 14 {
        let bits = k as i32 - 6;
        steps[k] = IVec3::new(1 - 2 * (bits & 1), 1 - (bits & 2), 1 - ((bits & 4) >> 1));
        k += 1;
    }
    steps
};

/// Directions below this are long edges.
pub(crate) const LONG: usize = 6;

/// The direction of a step between neighbours.
pub(crate) fn direction(step: IVec3) -> usize {
    if step.x & 1 == 0 {
        let axis = if step.x != 0 { 0 } else { 1 + usize::from(step.z != 0) };
        2 * axis + usize::from(step[axis] < 0)
    } else {
        let bit = |c: i32| usize::from(c < 0);
        6 + bit(step.x) + 2 * bit(step.y) + 4 * bit(step.z)
    }
}

/// The way back.
pub(crate) fn opposite(direction: usize) -> usize {
    if direction < LONG { direction ^ 1 } else { 6 + (7 ^ (direction - 6)) }
}

/// The 24 tets at a node, as directions to the other three corners. Each has one long edge at each corner.
pub(crate) fn star() -> Vec<[usize; 3]> {
    let mut tets = Vec::with_capacity(24);
    for long in 0..LONG {
        let ring: Vec<usize> = (LONG..14).filter(|&d| STEPS[d].dot(STEPS[long]) > 0).collect();
        for &p in &ring {
            for &q in &ring {
                // Neighbours on the ring are a long edge apart; each pair once, in the turn that makes it positive.
                let apart = STEPS[p] - STEPS[q];
                let positive =
                    STEPS[long].as_dvec3().cross(STEPS[p].as_dvec3()).dot(STEPS[q].as_dvec3()) > 0.0;
                if apart.length_squared() == 4 && positive {
                    tets.push([long, p, q]);
                }
            }
        }
    }
    tets
}

/// A lattice in space. Nodes have coordinates in half cells, all even or all odd.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lattice {
    pub(crate) origin: DVec3,
    pub(crate) cell: f64,
}

impl Lattice {
    /// Centred on the body, so that a body and its mirror image get mirrored lattices, then moved by `shift` cells in
    /// y and z; and by a hair, since bodies made of round numbers would otherwise have their sides exactly through
    /// nodes.
    pub(crate) fn new(solid: &Solid, cell: f64, shift: f64) -> Self {
        let hair = DVec3::new(1.31, 1.73, 1.13) * 1e-6;
        let shift = DVec3::new(0.0, shift, shift) + hair;
        Self { origin: (solid.low + solid.high) / 2.0 + shift * cell, cell }
    }

    pub(crate) fn place(&self, node: IVec3) -> DVec3 {
        self.origin + node.as_dvec3() * (self.cell / 2.0)
    }

    /// In half cells.
    pub(crate) fn coordinates(&self, place: DVec3) -> DVec3 {
        (place - self.origin) * (2.0 / self.cell)
    }

    /// The node nearest to a place, never farther than 0.56 of a cell.
    pub(crate) fn nearest(&self, place: DVec3) -> IVec3 {
        let at = self.coordinates(place);
        let even = (at / 2.0).round().as_ivec3() * 2;
        let odd = ((at - 1.0) / 2.0).round().as_ivec3() * 2 + 1;
        let squared = |node: IVec3| (node.as_dvec3() - at).length_squared();
        if squared(even) <= squared(odd) { even } else { odd }
    }

    /// The nodes that the solid encloses, with their winding numbers, in order of z, y, x.
    pub(crate) fn inside(&self, solid: &Solid) -> Vec<(IVec3, i32)> {
        let mut crossings = self.line_crossings(solid, 2, &[IVec3::ZERO, IVec3::ONE]);
        crossings.sort_unstable_by(|a, b| a.line.cmp(&b.line).then(a.at.total_cmp(&b.at)));
        let mut nodes = Vec::new();
        for line in crossings.chunk_by(|a, b| a.line == b.line) {
            let (z, y) = line[0].line;
            let odd = y & 1;
            let mut winding = 0;
            for pair in line.windows(2) {
                winding += pair[0].step;
                if winding > 0 {
                    // Nodes x = odd + 2 i strictly between the two.
                    let first = ((pair[0].at - f64::from(odd)) / 2.0).ceil() as i32;
                    let last = ((pair[1].at - f64::from(odd)) / 2.0).ceil() as i32;
                    nodes.extend((first..last).map(|i| (IVec3::new(odd + 2 * i, y, z), winding)));
                }
            }
        }
        nodes
    }

    /// The volume inside, overlaps counted once, by lines `cell / fine` apart.
    pub(crate) fn volume_inside(&self, solid: &Solid, fine: f64) -> f64 {
        let finer = Self { origin: self.origin, cell: self.cell / fine };
        let mut crossings = finer.line_crossings(solid, 1, &[IVec3::ZERO]);
        crossings.sort_unstable_by(|a, b| a.line.cmp(&b.line).then(a.at.total_cmp(&b.at)));
        let mut length = 0.0;
        for line in crossings.chunk_by(|a, b| a.line == b.line) {
            let mut winding = 0;
            for pair in line.windows(2) {
                winding += pair[0].step;
                length += if winding > 0 { pair[1].at - pair[0].at } else { 0.0 };
            }
        }
        let half = finer.cell / 2.0;
        length * half * half * half
    }

    /// Where triangles cross lines along x, through the grids of points `start + stride (0, j, k)`.
    fn line_crossings(&self, solid: &Solid, stride: i32, starts: &[IVec3]) -> Vec<LineCrossing> {
        let mut found = Vec::new();
        for triangle in &solid.triangles {
            let corners = triangle.map(|p| self.coordinates(solid.points[p as usize]));
            let low = corners[0].min(corners[1]).min(corners[2]);
            let high = corners[0].max(corners[1]).max(corners[2]);
            let area = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
            for start in starts {
                let first = |low: f64, s: i32| ((low - f64::from(s)) / f64::from(stride)).ceil() as i32;
                let last = |high: f64, s: i32| ((high - f64::from(s)) / f64::from(stride)).floor() as i32;
                for k in first(low.z, start.z)..=last(high.z, start.z) {
                    for j in first(low.y, start.y)..=last(high.y, start.y) {
                        let (y, z) = (start.y + stride * j, start.z + stride * k);
                        let place = DVec3::new(0.0, f64::from(y), f64::from(z));
                        let left = |a: usize, b: usize| left_of(place, triangle, &corners, a, b);
                        let turn = left(0, 1);
                        if left(1, 2) == turn && left(2, 0) == turn {
                            let x = corners[0].x
                                - ((place.y - corners[0].y) * area.y + (place.z - corners[0].z) * area.z)
                                    / area.x;
                            // Seen edge on, the triangle gives no x of its own.
                            let at = if x.is_finite() { x.clamp(low.x, high.x) } else { low.x };
                            // Into the front is in: a face that looks back along the line is entered.
                            found.push(LineCrossing { line: (z, y), at, step: if turn { -1 } else { 1 } });
                        }
                    }
                }
            }
        }
        found
    }
}

#[derive(Debug, Clone, Copy)]
struct LineCrossing {
    line: (i32, i32),
    at: f64,
    step: i32,
}

/// Whether a line along x passes a directed edge on its left; the two triangles at an edge get opposite answers.
fn left_of(place: DVec3, triangle: &[u32; 3], corners: &[DVec3; 3], i: usize, j: usize) -> bool {
    let side = |p: DVec3, q: DVec3| (q.y - p.y) * (place.z - p.z) - (q.z - p.z) * (place.y - p.y);
    if triangle[i] < triangle[j] {
        side(corners[i], corners[j]) > 0.0
    } else {
        side(corners[j], corners[i]) <= 0.0
    }
}
