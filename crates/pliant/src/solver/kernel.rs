//! The kernels, written once for every register width. Operation by operation they do what `plain` does.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use none of it")
)]

use super::pack::{BATCH, Offsets};
use super::{DIRECTION_FLOOR, NO_STIFFNESS, Node};
use crate::simd::vectors::{add, cross, dot, scale, sub};
use crate::simd::{Lanes, gather_rows, load_rows, scatter_rows, store_rows};

/// The constraints of a kind in a slab: numbers are per slot.
pub(super) struct Task<'a, const N: usize> {
    pub plain: &'a [[u32; N]],
    pub rows: &'a [Offsets<N>],
    pub targets: &'a [f32],
    /// Or compliances, where there are multipliers.
    pub stiffness: &'a [f32],
    /// Volume only: `1/reach^2`, see [`super::Solver`].
    pub limits: &'a [f32],
    /// Empty: stiffness. Else compliance.
    pub multipliers: &'a mut [f32],
}

/// The binds of nodes in a row.
pub(super) struct Binds<'a> {
    /// Point and distance.
    pub points: &'a [Node],
    pub stiffness: &'a [f32],
    pub multipliers: &'a mut [f32],
}

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

/// Projects a task's constraints on the nodes of its window.
///
/// # Safety
/// The machine must have the kernel's instructions, the task be packed for kernels, its numbers one per slot and its
/// offsets within the window.
pub(super) type Sweep<const N: usize> = unsafe fn(task: &mut Task<'_, N>, nodes: &mut [Node]);

/// Projects binds on their nodes, in whole batches.
///
/// # Safety
/// As for [`Sweep`].
pub(super) type Bind = unsafe fn(binds: &mut Binds<'_>, nodes: &mut [Node]);

/// Sums over a task; a volume counts as flat at or below `share` of its target.
///
/// # Safety
/// As for [`Sweep`].
pub(super) type Judge<const N: usize> = unsafe fn(task: &Task<'_, N>, nodes: &[Node], share: f32) -> Sums;

#[inline(always)]
pub(super) unsafe fn stretch<V: Lanes>(task: &mut Task<'_, 2>, nodes: &mut [Node]) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match task.multipliers.is_empty() {
            true => stretch_with::<V, false>(task, nodes),
            false => stretch_with::<V, true>(task, nodes),
        }
    }
}

#[inline(always)]
unsafe fn stretch_with<V: Lanes, const COMPLIANT: bool>(task: &mut Task<'_, 2>, nodes: &mut [Node]) {
    let nodes = nodes.as_mut_ptr().cast::<f32>();
    for (batch, offsets) in task.rows.iter().enumerate() {
        for lane in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: `lane` is a multiple of the width below sixteen; the caller's promise.
            unsafe {
                let slot = batch * BATCH + lane;
                let at = [offsets.0[0].as_ptr().add(lane), offsets.0[1].as_ptr().add(lane)];
                let [ax, ay, az, wa] = gather_rows::<V>(nodes, at[0]);
                let [bx, by, bz, wb] = gather_rows::<V>(nodes, at[1]);
                let (a, b) = ([ax, ay, az], [bx, by, bz]);
                let target = V::load(task.targets.as_ptr().add(slot));
                let stiffness = V::load(task.stiffness.as_ptr().add(slot));
                let along = sub(a, b);
                let length = dot(along, along).sqrt();
                let over = length.max(target.mul(V::splat(DIRECTION_FLOOR)));
                let weight = wa.add(wb);
                let step = if COMPLIANT {
                    let multiplier = task.multipliers.as_mut_ptr().add(slot);
                    let step = compliant_step(target.sub(length), weight, over, stiffness, multiplier);
                    step.div(over)
                } else {
                    stiffness.mul(target.sub(length)).div(over.mul(weight))
                };
                let step = V::select(V::splat(0.0).ge(over.mul(weight)), V::splat(0.0), step);
                let [ax, ay, az] = add(a, scale(along, step.mul(wa)));
                let [bx, by, bz] = sub(b, scale(along, step.mul(wb)));
                scatter_rows([ax, ay, az, wa], nodes, at[0]);
                scatter_rows([bx, by, bz, wb], nodes, at[1]);
            }
        }
    }
}

/// `(short - a l) / (weight + a)`, added to the multiplier `l`; nothing where `weight * over` is 0 or there is no
/// stiffness at all.
#[inline(always)]
unsafe fn compliant_step<V: Lanes>(short: V, weight: V, over: V, compliance: V, multiplier: *mut f32) -> V {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let zero = V::splat(0.0);
        let before = V::load(multiplier);
        let step = short.sub(compliance.mul(before)).div(weight.add(compliance));
        let step = V::select(zero.ge(over.mul(weight)), zero, step);
        let step = V::select(compliance.ge(V::splat(NO_STIFFNESS)), zero, step);
        before.add(step).store(multiplier);
        step
    }
}

#[inline(always)]
pub(super) unsafe fn volume<V: Lanes>(task: &mut Task<'_, 4>, nodes: &mut [Node]) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match task.multipliers.is_empty() {
            true => volume_with::<V, false>(task, nodes),
            false => volume_with::<V, true>(task, nodes),
        }
    }
}

#[inline(always)]
unsafe fn volume_with<V: Lanes, const COMPLIANT: bool>(task: &mut Task<'_, 4>, nodes: &mut [Node]) {
    let nodes = nodes.as_mut_ptr().cast::<f32>();
    for (batch, offsets) in task.rows.iter().enumerate() {
        for lane in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: as above.
            unsafe {
                let zero = V::splat(0.0);
                let slot = batch * BATCH + lane;
                let at = [0, 1, 2, 3].map(|k: usize| offsets.0[k].as_ptr().add(lane));
                let [x1, y1, z1, w1] = gather_rows::<V>(nodes, at[0]);
                let [x2, y2, z2, w2] = gather_rows::<V>(nodes, at[1]);
                let [x3, y3, z3, w3] = gather_rows::<V>(nodes, at[2]);
                let [x4, y4, z4, w4] = gather_rows::<V>(nodes, at[3]);
                let (p1, p2, p3, p4) = ([x1, y1, z1], [x2, y2, z2], [x3, y3, z3], [x4, y4, z4]);
                let (a, b, c) = (sub(p2, p1), sub(p3, p1), sub(p4, p1));
                let (g2, g3, g4) = (cross(b, c), cross(c, a), cross(a, b));
                // The negative of the gradient.
                let g1 = add(add(g2, g3), g4);
                let six_volumes = dot(a, g2);
                let stiffness = V::load(task.stiffness.as_ptr().add(slot));
                let multiplier = task.multipliers.as_mut_ptr();
                let mut short = V::load(task.targets.as_ptr().add(slot)).sub(six_volumes);
                let weight = w1.add(w2).add(w3).add(w4);
                let mut over = dot(g1, g1)
                    .mul(w1)
                    .add(dot(g2, g2).mul(w2))
                    .add(dot(g3, g3).mul(w3))
                    .add(dot(g4, g4).mul(w4));
                let still = zero.ge(over);
                if COMPLIANT {
                    short = short.sub(stiffness.mul(V::load(multiplier.add(slot))));
                    over = over.add(stiffness);
                }
                let limit = V::load(task.limits.as_ptr().add(slot));
                let least = short.mul(short).mul(limit).mul(weight);
                let pull = if COMPLIANT { short } else { stiffness.mul(short) };
                let mut step = V::select(still, zero, pull.div(least.max(over)));
                if COMPLIANT {
                    step = V::select(stiffness.ge(V::splat(NO_STIFFNESS)), zero, step);
                    V::load(multiplier.add(slot)).add(step).store(multiplier.add(slot));
                }
                let [x1, y1, z1] = sub(p1, scale(g1, step.mul(w1)));
                scatter_rows([x1, y1, z1, w1], nodes, at[0]);
                let [x2, y2, z2] = add(p2, scale(g2, step.mul(w2)));
                scatter_rows([x2, y2, z2, w2], nodes, at[1]);
                let [x3, y3, z3] = add(p3, scale(g3, step.mul(w3)));
                scatter_rows([x3, y3, z3, w3], nodes, at[2]);
                let [x4, y4, z4] = add(p4, scale(g4, step.mul(w4)));
                scatter_rows([x4, y4, z4, w4], nodes, at[3]);
            }
        }
    }
}

#[inline(always)]
pub(super) unsafe fn bind<V: Lanes>(binds: &mut Binds<'_>, nodes: &mut [Node]) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match binds.multipliers.is_empty() {
            true => bind_with::<V, false>(binds, nodes),
            false => bind_with::<V, true>(binds, nodes),
        }
    }
}

#[inline(always)]
unsafe fn bind_with<V: Lanes, const COMPLIANT: bool>(binds: &mut Binds<'_>, nodes: &mut [Node]) {
    let count = nodes.len();
    let nodes = nodes.as_mut_ptr().cast::<f32>();
    let points = binds.points.as_ptr().cast::<f32>();
    for slot in (0..count).step_by(V::WIDTH) {
        // SAFETY: nodes are in whole batches; the caller's promise.
        unsafe {
            let zero = V::splat(0.0);
            let [x, y, z, w] = load_rows::<V>(nodes.add(4 * slot));
            let [px, py, pz, target] = load_rows::<V>(points.add(4 * slot));
            let stiffness = V::load(binds.stiffness.as_ptr().add(slot));
            let along = sub([x, y, z], [px, py, pz]);
            let length = dot(along, along).sqrt();
            let over = length.max(target.mul(V::splat(DIRECTION_FLOOR)));
            let step = if COMPLIANT {
                let multiplier = binds.multipliers.as_mut_ptr().add(slot);
                let step = compliant_step(target.sub(length), w, over, stiffness, multiplier);
                step.mul(w).div(over)
            } else {
                stiffness.mul(target.sub(length)).div(over)
            };
            let step = V::select(zero.ge(over.mul(w)), zero, step);
            let [x, y, z] = add([x, y, z], scale(along, step));
            store_rows([x, y, z, w], nodes.add(4 * slot), 4);
        }
    }
}

#[inline(always)]
pub(super) unsafe fn judge_stretch<V: Lanes>(task: &Task<'_, 2>, nodes: &[Node], _share: f32) -> Sums {
    let nodes = nodes.as_ptr().cast::<f32>();
    let mut sums = Sums::default();
    for (batch, offsets) in task.rows.iter().enumerate() {
        let mut errors = [0.0f32; BATCH];
        for lane in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: as above.
            unsafe {
                let target = V::load(task.targets.as_ptr().add(batch * BATCH + lane));
                let [ax, ay, az, _] = gather_rows::<V>(nodes, offsets.0[0].as_ptr().add(lane));
                let [bx, by, bz, _] = gather_rows::<V>(nodes, offsets.0[1].as_ptr().add(lane));
                let along = sub([ax, ay, az], [bx, by, bz]);
                error(dot(along, along).sqrt(), target).store(errors.as_mut_ptr().add(lane));
            }
        }
        for lane in 0..BATCH {
            sums.errors[lane] += f64::from(errors[lane]);
        }
    }
    sums
}

#[inline(always)]
pub(super) unsafe fn judge_volume<V: Lanes>(task: &Task<'_, 4>, nodes: &[Node], share: f32) -> Sums {
    let nodes = nodes.as_ptr().cast::<f32>();
    let mut sums = Sums::default();
    for (batch, offsets) in task.rows.iter().enumerate() {
        let (mut errors, mut flat) = ([0.0f32; BATCH], [0.0f32; BATCH]);
        for lane in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: as above.
            unsafe {
                let target = V::load(task.targets.as_ptr().add(batch * BATCH + lane));
                let corner = |k: usize| {
                    let [x, y, z, _] = gather_rows::<V>(nodes, offsets.0[k].as_ptr().add(lane));
                    [x, y, z]
                };
                let first = corner(0);
                let (a, b, c) = (sub(corner(1), first), sub(corner(2), first), sub(corner(3), first));
                let six_volumes = dot(a, cross(b, c));
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
    sums
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
