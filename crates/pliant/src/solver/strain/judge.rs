//! The kernels that look at nodes and move none.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use none of it")
)]

use super::super::judge::{Sums, add_row};
use super::super::pack::BATCH;
use super::kernel::{Task, column};
use crate::body::Node;
use crate::simd::vectors::{add, cross, dot, scale, sub};
use crate::simd::{Lanes, gather_rows};

/// Sums up `|C|` of all constraints.
///
/// # Safety
/// As for [`super::kernel::Sweep`].
pub(super) type Errors = unsafe fn(task: &Task<'_>, nodes: &[Node]) -> Sums;

/// Counts tets whose volume is at most a share of what they aim at.
///
/// # Safety
/// As for [`super::kernel::Sweep`].
pub(super) type Flat = unsafe fn(task: &Task<'_>, nodes: &[Node], share: f32) -> Sums;

#[inline(always)]
pub(super) unsafe fn errors<V: Lanes>(task: &Task<'_>, nodes: &[Node]) -> Sums {
    // SAFETY: the caller's promise, passed on.
    unsafe { tets::<V, false>(task, nodes, 0.0) }
}

#[inline(always)]
pub(super) unsafe fn flat<V: Lanes>(task: &Task<'_>, nodes: &[Node], share: f32) -> Sums {
    // SAFETY: the caller's promise, passed on.
    unsafe { tets::<V, true>(task, nodes, share) }
}

/// Errors, or a count of what is flat. Fillers give 0.
#[inline(always)]
unsafe fn tets<V: Lanes, const FLAT: bool>(task: &Task<'_>, nodes: &[Node], share: f32) -> Sums {
    let nodes = nodes.as_ptr().cast::<f32>();
    let mut sums = [0.0; BATCH];
    for batch in 0..task.columns.len() {
        let mut found = [0.0f32; BATCH];
        for lane in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: `lane` is a multiple of the width below sixteen; the caller's promise.
            unsafe {
                let offsets = task.offsets.as_ptr().add(4 * batch).cast::<u32>().add(lane);
                let columns = task.columns.as_ptr().add(batch).cast::<f32>().add(lane);
                let [x, y, z, _] = gather_rows::<V>(nodes, offsets);
                let from_first = [x, y, z];
                let a = edge(nodes, offsets.add(BATCH), from_first);
                let b = edge(nodes, offsets.add(2 * BATCH), from_first);
                let d = edge(nodes, offsets.add(3 * BATCH), from_first);
                let f0 = gradient(a, b, d, column::<V>(columns, 0));
                let f1 = gradient(a, b, d, column::<V>(columns, 1));
                let f2 = gradient(a, b, d, column::<V>(columns, 2));
                let (zero, one) = (V::splat(0.0), V::splat(1.0));
                let det = dot(f0, cross(f1, f2));
                let number = if FLAT {
                    V::select(V::splat(share).ge(det), one, zero)
                } else {
                    let s0 = size(dot(f0, f0).sqrt().sub(one));
                    let s1 = size(dot(f1, f1).sqrt().sub(one));
                    let s2 = size(dot(f2, f2).sqrt().sub(one));
                    let shear = size(dot(f0, f1)).add(size(dot(f0, f2))).add(size(dot(f1, f2)));
                    s0.add(s1).add(s2).add(shear).add(size(det.sub(one)))
                };
                let is_filler = zero.ge(V::load(columns.add(9 * BATCH)));
                V::select(is_filler, zero, number).store(found.as_mut_ptr().add(lane));
            }
        }
        add_row(&mut sums, &found);
    }
    sums
}

/// From the first node to another.
#[inline(always)]
unsafe fn edge<V: Lanes>(nodes: *const f32, offsets: *const u32, from: [V; 3]) -> [V; 3] {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let [x, y, z, _] = gather_rows::<V>(nodes, offsets);
        sub([x, y, z], from)
    }
}

#[inline(always)]
unsafe fn gradient<V: Lanes>(a: [V; 3], b: [V; 3], d: [V; 3], c: [V; 3]) -> [V; 3] {
    // SAFETY: the caller's promise, passed on.
    unsafe { add(add(scale(a, c[0]), scale(b, c[1])), scale(d, c[2])) }
}

/// `|x|`
#[inline(always)]
unsafe fn size<V: Lanes>(x: V) -> V {
    // SAFETY: the caller's promise, passed on.
    unsafe { x.turn(x) }
}
