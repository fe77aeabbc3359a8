//! The kernels, written once for every register width. Operation by operation they do what `plain` does.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use none of it")
)]

use super::Node;
use super::pack::{BATCH, CHUNK, Entry, NODE_CHUNK, NUMBERS, Pack, Row, Spokes};
use crate::simd::vectors::{add, cross, dot, keep_rest, scale, sub, unit_or, unsigned_zeros};
use crate::simd::{Lanes, gather_rows, store_rows};
use glam::Vec3;

/// What a step reads.
pub(super) struct Job<'a> {
    pub pack: &'a Pack,
    pub nodes: &'a [Node],
}

impl Job<'_> {
    /// The position of the node that starts at this number.
    pub(super) fn position(&self, at: u32) -> Vec3 {
        let [x, y, z, _] = self.nodes[at as usize / 4];
        Vec3::new(x, y, z)
    }
}

/// Fills a chunk of entries.
///
/// # Safety
/// The machine must have the kernel's instructions; the job's parts must belong together, and the output be the chunk's.
pub(super) type NodeKernel = unsafe fn(job: &Job<'_>, chunk: usize, entries: &mut [Entry]);

/// Moves a chunk of vertices. Writes positions, and normals unless that slice is empty; then entries are not read.
///
/// # Safety
/// As for [`NodeKernel`].
pub(super) type VertexKernel =
    unsafe fn(job: &Job<'_>, entries: &[Entry], chunk: usize, positions: &mut [Vec3], normals: &mut [Vec3]);

#[inline(always)]
pub(super) unsafe fn nodes<V: Lanes>(job: &Job<'_>, chunk: usize, entries: &mut [Entry]) {
    let from = job.nodes.as_ptr().cast::<f32>();
    let first = chunk * (NODE_CHUNK / BATCH);
    for (batch, to) in entries.chunks_exact_mut(BATCH).enumerate() {
        let ring = &job.pack.rings[first + batch];
        let spokes = &job.pack.spokes[ring.first as usize..][..ring.count as usize];
        for lane in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: the pack names nodes; `lane` is a multiple of the width below sixteen; the output has sixteen
            // entries.
            unsafe {
                let own = gather_position::<V>(from, &ring.nodes, lane);
                let [x, y, z] = deformation::<V>(from, own, spokes, lane);
                let to = to.as_mut_ptr().cast::<f32>().add(lane * NUMBERS);
                let (cx, cy, cz) = (cross(y, z), cross(z, x), cross(x, y));
                store_rows([cx[0], cx[1], cx[2], own[0]], to, NUMBERS);
                store_rows([cy[0], cy[1], cy[2], own[1]], to.add(4), NUMBERS);
                store_rows([cz[0], cz[1], cz[2], own[2]], to.add(8), NUMBERS);
            }
        }
    }
}

/// The rows of the nodes' mean deformation.
#[inline(always)]
unsafe fn deformation<V: Lanes>(
    from: *const f32,
    own: [V; 3],
    spokes: &[Spokes],
    lane: usize,
) -> [[V; 3]; 3] {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let mut rows = [[V::splat(0.0); 3]; 3];
        for spokes in spokes {
            let along = sub(gather_position::<V>(from, &spokes.others, lane), own);
            let gradient = load_vectors::<V>(&spokes.gradients, lane);
            rows[0] = add(rows[0], scale(gradient, along[0]));
            rows[1] = add(rows[1], scale(gradient, along[1]));
            rows[2] = add(rows[2], scale(gradient, along[2]));
        }
        rows
    }
}

#[inline(always)]
pub(super) unsafe fn vertices<V: Lanes>(
    job: &Job<'_>,
    entries: &[Entry],
    chunk: usize,
    positions: &mut [Vec3],
    normals: &mut [Vec3],
) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        if normals.is_empty() {
            vertices_with::<V, false>(job, entries, chunk, positions, normals);
        } else {
            vertices_with::<V, true>(job, entries, chunk, positions, normals);
        }
    }
}

#[inline(always)]
unsafe fn vertices_with<V: Lanes, const NORMALS: bool>(
    job: &Job<'_>,
    entries: &[Entry],
    chunk: usize,
    positions: &mut [Vec3],
    normals: &mut [Vec3],
) {
    // A last batch that is short goes by way of these.
    let (mut last_positions, mut last_normals) = ([Vec3::ZERO; BATCH], [Vec3::ZERO; BATCH]);
    let first = chunk * (CHUNK / BATCH);
    for batch in 0..positions.len().div_ceil(BATCH) {
        let at = batch * BATCH;
        let full = at + BATCH <= positions.len();
        let to = if full { positions[at..].as_mut_ptr() } else { last_positions.as_mut_ptr() }.cast::<f32>();
        let normals_to = match NORMALS && full {
            true => normals[at..at + BATCH].as_mut_ptr(),
            false => last_normals.as_mut_ptr(),
        };
        for lane in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: the pack names nodes and entries; both outputs have room for a batch.
            unsafe {
                let [x, y, z] = match NORMALS {
                    true => {
                        let (position, [x, y, z]) = shaded::<V>(job, entries, first + batch, lane);
                        V::store_xyz(x, y, z, normals_to.cast::<f32>().add(3 * lane));
                        position
                    }
                    false => placed::<V>(job, first + batch, lane),
                };
                V::store_xyz(x, y, z, to.add(3 * lane));
            }
        }
    }
    keep_rest(positions, &last_positions);
    if NORMALS {
        keep_rest(normals, &last_normals);
    }
}

/// Positions from nodes.
#[inline(always)]
unsafe fn placed<V: Lanes>(job: &Job<'_>, batch: usize, lane: usize) -> [V; 3] {
    let places = &job.pack.places[batch];
    let from = job.nodes.as_ptr().cast::<f32>();
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let weights = load_vectors::<V>(&places.weights, lane);
        let first = gather_position::<V>(from, &places.nodes[0], lane);
        let mut sum = first;
        for k in 1..4 {
            let corner = gather_position::<V>(from, &places.nodes[k], lane);
            sum = add(sum, scale(sub(corner, first), weights[k - 1]));
        }
        unsigned_zeros(sum)
    }
}

/// Positions and normals from entries, axis by axis: one row of an entry is a row of its matrix and the position's part.
#[inline(always)]
unsafe fn shaded<V: Lanes>(job: &Job<'_>, entries: &[Entry], batch: usize, lane: usize) -> ([V; 3], [V; 3]) {
    let (places, shades) = (&job.pack.places[batch], &job.pack.shades[batch]);
    let from = entries.as_ptr().cast::<f32>();
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let zero = V::splat(0.0);
        let weights = load_vectors::<V>(&places.weights, lane);
        let rest = load_vectors::<V>(&shades.normals, lane);
        let own = V::splat(1.0).sub(weights[0]).sub(weights[1]).sub(weights[2]);
        let shares = [positive(own), positive(weights[0]), positive(weights[1]), positive(weights[2])];
        let (mut first, mut position, mut normal) = ([zero; 3], [zero; 3], [zero; 3]);
        // Corner by corner: offsets are read once for all three rows.
        for k in 0..4 {
            let at = shades.entries[k].as_ptr().add(lane);
            for axis in 0..3 {
                let [a, b, c, corner] = gather_rows::<V>(from.add(4 * axis), at);
                normal[axis] = normal[axis].add(dot([a, b, c], rest).mul(shares[k]));
                if k == 0 {
                    first[axis] = corner;
                    position[axis] = corner;
                } else {
                    position[axis] = position[axis].add(corner.sub(first[axis]).mul(weights[k - 1]));
                }
            }
        }
        (unsigned_zeros(position), unsigned_zeros(unit_or(normal, rest)))
    }
}

#[inline(always)]
unsafe fn positive<V: Lanes>(x: V) -> V {
    // SAFETY: the caller has the instructions.
    unsafe { V::select(x.ge(V::splat(0.0)), x, V::splat(0.0)) }
}

#[inline(always)]
unsafe fn gather_position<V: Lanes>(nodes: *const f32, at: &Row<u32>, lane: usize) -> [V; 3] {
    // SAFETY: the caller's promise, passed on.
    let [x, y, z, _] = unsafe { gather_rows::<V>(nodes, at.as_ptr().add(lane)) };
    [x, y, z]
}

#[inline(always)]
unsafe fn load_vectors<V: Lanes>([x, y, z]: &[Row<f32>; 3], lane: usize) -> [V; 3] {
    // SAFETY: `lane` is a multiple of the width below sixteen.
    unsafe { [V::load(x.as_ptr().add(lane)), V::load(y.as_ptr().add(lane)), V::load(z.as_ptr().add(lane))] }
}
