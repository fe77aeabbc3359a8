//! The kernels that look at nodes and move none.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use none of it")
)]

use super::Node;
use super::cluster::{Clustering, FOUR, RING, STRIP};
use super::kernel::Task;
use super::pack::{BATCH, Offsets};
use crate::simd::vectors::{cross, dot, sub};
use crate::simd::{Lanes, gather_rows};
use std::mem::MaybeUninit;

/// Sums over rows of constraints, lane by lane. Fillers count.
pub(super) type Sums = [f64; BATCH];

/// Sums up `|C|/target`.
///
/// # Safety
/// As for [`super::kernel::Sweep`].
pub(super) type Errors<const N: usize> = unsafe fn(task: &Task<'_, N>, nodes: &[Node]) -> Sums;

/// Counts tets whose volume is at most a share of its target.
///
/// # Safety
/// As for [`super::kernel::Sweep`].
pub(super) type Flat = unsafe fn(task: &Task<'_, 4>, nodes: &[Node], share: f32) -> Sums;

#[inline(always)]
pub(super) unsafe fn stretch_errors<V: Lanes>(task: &Task<'_, 2>, nodes: &[Node]) -> Sums {
    let nodes = nodes.as_ptr().cast::<f32>();
    let mut sums = [0.0; BATCH];
    let (mut row, mut offsets) = (0, task.offsets.as_ptr());
    // SAFETY: the caller's promise, passed on.
    unsafe {
        for _ in 0..task.batches[0] {
            for step in RING {
                row_of_edges::<V>(task, row, nodes, offsets, step, &mut sums);
                row += 1;
            }
            offsets = offsets.add(<[u32; 2]>::NODES);
        }
        for _ in 0..task.batches[1] {
            row_of_edges::<V>(task, row, nodes, offsets, [0, 1], &mut sums);
            row += 1;
            offsets = offsets.add(2);
        }
    }
    sums
}

/// Edges on these of a batch's nodes.
#[inline(always)]
unsafe fn row_of_edges<V: Lanes>(
    task: &Task<'_, 2>,
    row: usize,
    nodes: *const f32,
    offsets: *const Offsets,
    [a, b]: [usize; 2],
    sums: &mut Sums,
) {
    let mut found = [0.0f32; BATCH];
    for lane in (0..BATCH).step_by(V::WIDTH) {
        // SAFETY: `lane` is a multiple of the width below sixteen; the caller's promise.
        unsafe {
            let [ax, ay, az, _] = gather_rows::<V>(nodes, offsets.add(a).cast::<u32>().add(lane));
            let [bx, by, bz, _] = gather_rows::<V>(nodes, offsets.add(b).cast::<u32>().add(lane));
            let along = sub([ax, ay, az], [bx, by, bz]);
            let target = V::load(task.targets.as_ptr().add(row * BATCH + lane));
            error(dot(along, along).sqrt(), target).store(found.as_mut_ptr().add(lane));
        }
    }
    add_row(sums, &found);
}

#[inline(always)]
pub(super) unsafe fn volume_errors<V: Lanes>(task: &Task<'_, 4>, nodes: &[Node]) -> Sums {
    // SAFETY: the caller's promise, passed on.
    unsafe { tets::<V, false>(task, nodes, 0.0) }
}

#[inline(always)]
pub(super) unsafe fn flat<V: Lanes>(task: &Task<'_, 4>, nodes: &[Node], share: f32) -> Sums {
    // SAFETY: the caller's promise, passed on.
    unsafe { tets::<V, true>(task, nodes, share) }
}

/// Errors, or a count of what is flat.
#[inline(always)]
unsafe fn tets<V: Lanes, const FLAT: bool>(task: &Task<'_, 4>, nodes: &[Node], share: f32) -> Sums {
    let nodes = nodes.as_ptr().cast::<f32>();
    let mut sums = [0.0; BATCH];
    let (mut row, mut offsets) = (0, task.offsets.as_ptr());
    // SAFETY: the caller's promise, passed on.
    unsafe {
        for _ in 0..task.batches[0] {
            const NODES: usize = <[u32; 4]>::NODES;
            rows_of_tets::<V, NODES, FOUR, FLAT>(task, row, nodes, offsets, STRIP, share, &mut sums);
            (row, offsets) = (row + FOUR, offsets.add(NODES));
        }
        for _ in 0..task.batches[1] {
            rows_of_tets::<V, 4, 1, FLAT>(task, row, nodes, offsets, [[0, 1, 2, 3]], share, &mut sums);
            (row, offsets) = (row + 1, offsets.add(4));
        }
    }
    sums
}

/// A batch of strips.
#[inline(always)]
unsafe fn rows_of_tets<V: Lanes, const NODES: usize, const STEPS: usize, const FLAT: bool>(
    task: &Task<'_, 4>,
    row: usize,
    nodes: *const f32,
    offsets: *const Offsets,
    steps: [[usize; 4]; STEPS],
    share: f32,
    sums: &mut Sums,
) {
    let mut found = [[0.0f32; BATCH]; STEPS];
    for lane in (0..BATCH).step_by(V::WIDTH) {
        // SAFETY: as above.
        unsafe {
            let mut on = MaybeUninit::<[[V; 3]; NODES]>::uninit();
            let on = on.as_mut_ptr().cast::<[V; 3]>();
            for node in 0..NODES {
                let [x, y, z, _] = gather_rows::<V>(nodes, offsets.add(node).cast::<u32>().add(lane));
                on.add(node).write([x, y, z]);
            }
            for step in 0..STEPS {
                let [a, b, c, d] = steps[step];
                let first = on.add(a).read();
                let (b, c, d) = (on.add(b).read(), on.add(c).read(), on.add(d).read());
                let signed = V::load(task.targets.as_ptr().add((row + step) * BATCH + lane));
                let six_volumes = dot(sub(b, first), cross(sub(c, first), sub(d, first)));
                // Of a tet wound the other way both are negative.
                let (six_volumes, target) = (six_volumes.turn(signed), signed.turn(signed));
                let found = found[step].as_mut_ptr().add(lane);
                if FLAT {
                    let is_flat = target.mul(V::splat(share)).ge(six_volumes);
                    V::select(is_flat, V::splat(1.0), V::splat(0.0)).store(found);
                } else {
                    error(six_volumes, target).store(found);
                }
            }
        }
    }
    for row in &found {
        add_row(sums, row);
    }
}

#[inline(always)]
pub(super) fn add_row(sums: &mut Sums, row: &[f32; BATCH]) {
    for lane in 0..BATCH {
        sums[lane] += f64::from(row[lane]);
    }
}

/// `|value - target| / target`; 0 without a target.
#[inline(always)]
unsafe fn error<V: Lanes>(value: V, target: V) -> V {
    // SAFETY: the caller has the instructions.
    unsafe {
        let zero = V::splat(0.0);
        let by = value.sub(target);
        V::select(zero.ge(target), zero, by.max(zero.sub(by)).div(target))
    }
}
