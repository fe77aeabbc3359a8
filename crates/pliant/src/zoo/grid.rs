//! From field to triangles: marching tetrahedra on cubes cut into six. Every tet face is shared by two tets that cut
//! it alike, so the surface is closed and manifold whatever the field does.

use super::field::{Field, Probe, STEEPEST};
use crate::parallel;
use glam::DVec3;

/// Cells along a block's edge: blocks far from the surface are skipped whole.
const BLOCK: i64 = 6;

/// Where the surface cuts a lattice edge: its first point, which of the seven edges from there (bits: x, y, z), and
/// how far along.
type Cut = (i64, u8, f64);

/// A field cut into blocks that know which flesh matters in them: the same values, much faster near the surface.
pub(super) struct Body {
    field: Field,
    origin: DVec3,
    cell: f64,
    /// Blocks along x, y and z.
    blocks: [i64; 3],
    near: Vec<Option<Field>>,
}

impl Body {
    /// Blocks of lattice cells of the given size.
    pub(super) fn new(field: Field, cell: f64) -> Self {
        let (low, high) = field.bounds();
        // An odd shift keeps symmetric bodies from having lattice points on their surface.
        let origin = low - DVec3::new(2.137, 2.293, 2.411) * cell;
        let blocks = ((high - origin) / (cell * BLOCK as f64) + 1.5).to_array().map(|b| b as i64);
        let mut body = Self { field, origin, cell, blocks, near: Vec::new() };
        // From the middle of a block to its corners.
        let radius = 0.8661 * cell * BLOCK as f64;
        body.near = parallel::map((blocks[0] * blocks[1] * blocks[2]) as usize, |block| {
            let [x, y, z] = body.block(block);
            let center = body.at(x, y, z) + 0.5 * cell * BLOCK as f64;
            let close = body.field.probe(center).distance.abs() <= STEEPEST * radius;
            close.then(|| body.field.near(center, radius))
        });
        body
    }

    /// First lattice point of a block.
    fn block(&self, index: usize) -> [i64; 3] {
        let [bx, by, _] = self.blocks;
        let index = index as i64;
        [index % bx, index / bx % by, index / (bx * by)].map(|b| b * BLOCK)
    }

    /// A lattice point.
    fn at(&self, x: i64, y: i64, z: i64) -> DVec3 {
        self.origin + DVec3::new(x as f64, y as f64, z as f64) * self.cell
    }

    pub(super) fn probe(&self, p: DVec3) -> Probe {
        let [x, y, z] = ((p - self.origin) / (self.cell * BLOCK as f64)).to_array().map(|c| c.floor() as i64);
        let [bx, by, bz] = self.blocks;
        let within = x >= 0 && y >= 0 && z >= 0 && x < bx && y < by && z < bz;
        let block = if within { self.near[((z * by + y) * bx + x) as usize].as_ref() } else { None };
        block.unwrap_or(&self.field).probe(p)
    }

    /// Moves a point onto the surface by Newton steps no longer than `stride`.
    pub(super) fn project(&self, mut p: DVec3, stride: f64, steps: usize) -> (DVec3, Probe) {
        let mut probe = self.probe(p);
        for _ in 0..steps {
            let slope = probe.gradient.length_squared().max(0.25);
            let step = probe.gradient * (probe.distance / slope);
            p -= step * (stride / step.length().max(stride));
            probe = self.probe(p);
        }
        (p, probe)
    }

    /// The surface where the field is zero: vertices, then triangles.
    pub(super) fn polygonise(&self) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let points = self.blocks.map(|b| b * BLOCK + 1);
        let index = |x: i64, y: i64, z: i64| (z * points[1] + y) * points[0] + x;
        let cut = parallel::map(self.near.len(), |block| {
            let Some(field) = &self.near[block] else { return Vec::new() };
            let [x0, y0, z0] = self.block(block);
            let slot = |x: i64, y: i64, z: i64| ((z * (BLOCK + 1) + y) * (BLOCK + 1) + x) as usize;
            let values: Vec<f64> = cube(BLOCK + 1)
                .map(|(x, y, z)| field.probe(self.at(x0 + x, y0 + y, z0 + z)).distance)
                .collect();
            let mut triangles: Vec<[Cut; 3]> = Vec::new();
            for (x, y, z) in cube(BLOCK) {
                let corner = |c: u8| [c & 1, c >> 1 & 1, c >> 2].map(i64::from);
                let value = |c: u8| {
                    let [dx, dy, dz] = corner(c);
                    values[slot(x + dx, y + dy, z + dz)]
                };
                let inside = (0..8).fold(0u8, |mask, c| mask | u8::from(value(c) < 0.0) << c);
                if inside != 0 && inside != 255 {
                    let cut = |from: u8, edge: u8| {
                        let [dx, dy, dz] = corner(from);
                        let (a, b) = (value(from), value(from | edge));
                        // Kept off the lattice points: no triangle of no area.
                        let at = (a / (a - b)).clamp(0.08, 0.92);
                        (index(x0 + x + dx, y0 + y + dy, z0 + z + dz), edge, at)
                    };
                    cut_cube(inside, cut, &mut triangles);
                }
            }
            triangles
        });
        let cut: Vec<[Cut; 3]> = cut.into_iter().flatten().collect();
        let key = |c: &Cut| (c.0, c.1);
        let mut cuts: Vec<Cut> = cut.iter().flatten().copied().collect();
        cuts.sort_unstable_by_key(key);
        cuts.dedup_by_key(|c| key(c));
        let vertex = |&(point, edge, at): &Cut| {
            let (x, y, z) =
                (point % points[0], point / points[0] % points[1], point / (points[0] * points[1]));
            let [dx, dy, dz] = [edge & 1, edge >> 1 & 1, edge >> 2].map(i64::from);
            self.at(x, y, z).lerp(self.at(x + dx, y + dy, z + dz), at)
        };
        let find = |c: &Cut| cuts.binary_search_by_key(&key(c), key).unwrap_or_default() as u32;
        let triangles = cut.iter().map(|t| [find(&t[0]), find(&t[1]), find(&t[2])]).collect();
        (cuts.iter().map(vertex).collect(), triangles)
    }
}

fn cube(side: i64) -> impl Iterator<Item = (i64, i64, i64)> {
    (0..side * side * side).map(move |i| (i % side, i / side % side, i / (side * side)))
}

/// Corners (bits: x, y, z) along the six monotone paths from 0 to 7, each a tet.
const TETS: [[u8; 4]; 6] =
    [[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]];

/// The triangles of one cube; `cut` says where the edge from a corner in a direction is cut.
fn cut_cube(inside: u8, cut: impl Fn(u8, u8) -> Cut, out: &mut Vec<[Cut; 3]>) {
    let corner = |c: u8| DVec3::new(f64::from(c & 1), f64::from(c >> 1 & 1), f64::from(c >> 2));
    for tet in TETS {
        let is_in = |c: &u8| inside >> c & 1 == 1;
        let (ins, outs): (Vec<u8>, Vec<u8>) = tet.iter().partition(|c| is_in(c));
        // Crossed edges in cyclic order, each from an inner to an outer corner.
        let crossed: Vec<(u8, u8)> = match (&ins[..], &outs[..]) {
            (&[a], &[b, c, d]) => vec![(a, b), (a, c), (a, d)],
            (&[b, c, d], &[a]) => vec![(b, a), (c, a), (d, a)],
            (&[a, b], &[c, d]) => vec![(a, c), (a, d), (b, d), (b, c)],
            _ => continue,
        };
        let outward =
            |corners: &[u8]| corners.iter().map(|&c| corner(c)).sum::<DVec3>() / corners.len() as f64;
        let outward = outward(&outs) - outward(&ins);
        for k in 2..crossed.len() {
            let mut triangle = [crossed[0], crossed[k - 1], crossed[k]];
            let [a, b, c] = triangle.map(|(i, o)| corner(i) + corner(o));
            if (b - a).cross(c - a).dot(outward) < 0.0 {
                triangle.swap(1, 2);
            }
            out.push(triangle.map(|(i, o)| cut(i.min(o), i ^ o)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoo::written;

    #[test]
    fn blocks_know_the_whole_field() {
        // A block's cut-down field must agree to the last bit, or blocks would not fit together.
        for name in ["hand", "octopus", "elephant"] {
            let figure = written(name).unwrap().0;
            let body = Body::new(figure.field(), figure.cell);
            let mut near = 0;
            for (index, field) in body.near.iter().enumerate() {
                let Some(field) = field else { continue };
                near += 1;
                let [x, y, z] = body.block(index);
                for (dx, dy, dz) in cube(2) {
                    let p = body.at(x + dx * BLOCK, y + dy * BLOCK, z + dz * BLOCK);
                    let (part, whole) = (field.probe(p).distance, body.field.probe(p).distance);
                    assert_eq!(part.to_bits(), whole.to_bits(), "{name} at {p}");
                }
            }
            assert!(near > 100 && near < body.near.len() / 2, "{name}: {near} of {}", body.near.len());
        }
    }

    #[test]
    fn the_first_mesh_is_closed_near_zero_and_outward() {
        let figure = written("arm").unwrap().0;
        let body = Body::new(figure.field(), figure.cell);
        let (points, triangles) = body.polygonise();
        assert!(super::super::mesh::Mesh::new(points.clone(), &triangles).is_some());
        assert!(points.iter().all(|&p| body.probe(p).distance.abs() < figure.cell));
        let volume: f64 = triangles
            .iter()
            .map(|t| t.map(|v| points[v as usize]))
            .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
            .sum();
        // An arm of 0.74 m, 4 to 6 cm thick.
        assert!((0.003..0.009).contains(&volume), "{volume}");
    }
}
