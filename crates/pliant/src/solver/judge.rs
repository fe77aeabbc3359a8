//! The kernels that look at nodes and move none.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use none of it")
)]

use super::Node;
use super::cluster::{Clustering, RING, STRIP};
use super::kernel::Task;
use super::pack::{BATCH, Offsets};
use crate::simd::vectors::{cross, dot, sub};
use crate::simd::{Lanes, gather_rows};

/// Sums over the slots of a slab, fillers among them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    /// Of `|C|/target`, lane by lane.
    pub errors: [f64; BATCH],
    /// How many are at or below a share of their target.
    pub flat: usize,
    /// Whether the slab's nodes are numbers.
    pub finite: bool,
}

/// Sums over a task; a volume counts as flat at or below `share` of its target.
///
/// # Safety
/// As for [`super::kernel::Sweep`].
pub(super) type Judge<const N: usize> = unsafe fn(task: &Task<'_, N>, nodes: &[Node], share: f32) -> Sums;

#[inline(always)]
pub(super) unsafe fn judge_stretch<V: Lanes>(task: &Task<'_, 2>, nodes: &[Node], _share: f32) -> Sums {
    let nodes = nodes.as_ptr().cast::<f32>();
    let mut sums = Sums::default();
    let (mut row, mut offsets) = (0, task.offsets.as_ptr());
    // SAFETY: the caller's promise, passed on.
    unsafe {
        for _ in 0..task.batches[0] {
            for step in RING {
                judge_edges::<V>(task, row, nodes, offsets, step, &mut sums);
                row += 1;
            }
            offsets = offsets.add(<[u32; 2]>::NODES);
        }
        for _ in 0..task.batches[1] {
            judge_edges::<V>(task, row, nodes, offsets, [0, 1], &mut sums);
            row += 1;
            offsets = offsets.add(2);
        }
    }
    sums
}

/// A row of edges on these of a batch's nodes.
#[inline(always)]
unsafe fn judge_edges<V: Lanes>(
    task: &Task<'_, 2>,
    row: usize,
    nodes: *const f32,
    offsets: *const Offsets,
    [a, b]: [usize; 2],
    sums: &mut Sums,
) {
    let mut errors = [0.0f32; BATCH];
    for lane in (0..BATCH).step_by(V::WIDTH) {
        // SAFETY: `lane` is a multiple of the width below sixteen; the caller's promise.
        unsafe {
            let [ax, ay, az, _] = gather_rows::<V>(nodes, offsets.add(a).cast::<u32>().add(lane));
            let [bx, by, bz, _] = gather_rows::<V>(nodes, offsets.add(b).cast::<u32>().add(lane));
            let along = sub([ax, ay, az], [bx, by, bz]);
            let target = V::load(task.targets.as_ptr().add(row * BATCH + lane));
            error(dot(along, along).sqrt(), target).store(errors.as_mut_ptr().add(lane));
        }
    }
    for lane in 0..BATCH {
        sums.errors[lane] += f64::from(errors[lane]);
    }
}

#[inline(always)]
pub(super) unsafe fn judge_volume<V: Lanes>(task: &Task<'_, 4>, nodes: &[Node], share: f32) -> Sums {
    let nodes = nodes.as_ptr().cast::<f32>();
    let mut sums = Sums::default();
    let (mut row, mut offsets) = (0, task.offsets.as_ptr());
    // SAFETY: the caller's promise, passed on.
    unsafe {
        for _ in 0..task.batches[0] {
            for step in STRIP {
                judge_tets::<V>(task, row, nodes, offsets, step, share, &mut sums);
                row += 1;
            }
            offsets = offsets.add(<[u32; 4]>::NODES);
        }
        for _ in 0..task.batches[1] {
            judge_tets::<V>(task, row, nodes, offsets, [0, 1, 2, 3], share, &mut sums);
            row += 1;
            offsets = offsets.add(4);
        }
    }
    sums
}

/// A row of tets on these of a batch's nodes.
#[inline(always)]
unsafe fn judge_tets<V: Lanes>(
    task: &Task<'_, 4>,
    row: usize,
    nodes: *const f32,
    offsets: *const Offsets,
    [a, b, c, d]: [usize; 4],
    share: f32,
    sums: &mut Sums,
) {
    let (mut errors, mut flat) = ([0.0f32; BATCH], [0.0f32; BATCH]);
    for lane in (0..BATCH).step_by(V::WIDTH) {
        // SAFETY: as above.
        unsafe {
            let [ax, ay, az, _] = gather_rows::<V>(nodes, offsets.add(a).cast::<u32>().add(lane));
            let [bx, by, bz, _] = gather_rows::<V>(nodes, offsets.add(b).cast::<u32>().add(lane));
            let [cx, cy, cz, _] = gather_rows::<V>(nodes, offsets.add(c).cast::<u32>().add(lane));
            let [dx, dy, dz, _] = gather_rows::<V>(nodes, offsets.add(d).cast::<u32>().add(lane));
            let first = [ax, ay, az];
            let (b, c, d) = (sub([bx, by, bz], first), sub([cx, cy, cz], first), sub([dx, dy, dz], first));
            // Of a tet wound the other way both are negative.
            let signed = V::load(task.targets.as_ptr().add(row * BATCH + lane));
            let (six_volumes, target) = (dot(b, cross(c, d)).turn(signed), signed.turn(signed));
            error(six_volumes, target).store(errors.as_mut_ptr().add(lane));
            let is_flat = target.mul(V::splat(share)).ge(six_volumes);
            V::select(is_flat, V::splat(1.0), V::splat(0.0)).store(flat.as_mut_ptr().add(lane));
        }
    }
    for lane in 0..BATCH {
        sums.errors[lane] += f64::from(errors[lane]);
        sums.flat += flat[lane] as usize;
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
