//! The reference: plain Rust, one vertex after the other. What every other path must equal to the last bit, and what
//! benches compare with.

use super::kernel::Job;
use super::pack::{BATCH, CHUNK, Entry, NODE_CHUNK, NUMBERS};
use crate::simd::vectors::plain::{dot, unit_or, unsigned_zeros};
use glam::Vec3;

pub(super) fn positions(job: &Job<'_>, chunk: usize, positions: &mut [Vec3]) {
    for (index, position) in positions.iter_mut().enumerate() {
        let (batch, lane) = ((chunk * CHUNK + index) / BATCH, index % BATCH);
        let places = &job.pack.places[batch];
        let corner = |k: usize| job.position(places.nodes[k][lane]);
        let first = corner(0);
        let part = |k: usize| (corner(k) - first) * places.weights[k - 1][lane];
        *position = unsigned_zeros(first + part(1) + part(2) + part(3));
    }
}

/// The cofactors of each node's deformation, and its position.
pub(super) fn nodes(job: &Job<'_>, chunk: usize, entries: &mut [Entry]) {
    for (index, entry) in entries.iter_mut().enumerate() {
        let (batch, lane) = ((chunk * NODE_CHUNK + index) / BATCH, index % BATCH);
        let ring = &job.pack.rings[batch];
        let own = job.position(ring.nodes[lane]);
        let mut rows = [Vec3::ZERO; 3];
        for spokes in &job.pack.spokes[ring.first as usize..][..ring.count as usize] {
            let along = job.position(spokes.others[lane]) - own;
            let gradient = Vec3::from(spokes.gradients.map(|row| row[lane]));
            for axis in 0..3 {
                rows[axis] += gradient * along[axis];
            }
        }
        let [x, y, z] = rows;
        for (axis, cofactors) in [y.cross(z), z.cross(x), x.cross(y)].into_iter().enumerate() {
            entry.0[4 * axis..][..4].copy_from_slice(&cofactors.extend(own[axis]).to_array());
        }
    }
}

pub(super) fn normals(job: &Job<'_>, entries: &[Entry], chunk: usize, normals: &mut [Vec3]) {
    for (index, normal) in normals.iter_mut().enumerate() {
        let (batch, lane) = ((chunk * CHUNK + index) / BATCH, index % BATCH);
        let [b, c, d] = job.pack.places[batch].weights.map(|row| row[lane]);
        let shades = &job.pack.shades[batch];
        let rest = Vec3::from(shades.normals.map(|row| row[lane]));
        let mut sum = Vec3::ZERO;
        for (k, weight) in [1.0 - b - c - d, b, c, d].into_iter().enumerate() {
            let share = if weight >= 0.0 { weight } else { 0.0 };
            let entry = &entries[shades.entries[k][lane] as usize / NUMBERS].0;
            let row = |axis: usize| dot(Vec3::from_slice(&entry[4 * axis..]), rest);
            sum += Vec3::new(row(0), row(1), row(2)) * share;
        }
        *normal = unsigned_zeros(unit_or(sum, rest));
    }
}
