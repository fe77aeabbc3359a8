//! The kernels that move nodes, written once for every register width. Operation by operation they do what `plain` does.
//!
//! A projection waits for a root and a quotient. So two registers of lanes are worked on in turn wherever a batch has
//! two, which its clusters may since they share no node: one goes on while the other waits.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use none of it")
)]

use super::cluster::{Clustering, FOUR, STRIP};
use super::pack::{BATCH, Offsets, Row};
use super::{DIRECTION_FLOOR, NO_STIFFNESS, Node};
use crate::simd::vectors::{add, cross, dot, scale, sub};
use crate::simd::{Lanes, gather_rows, load_rows, scatter_rows, store_rows};
use std::mem::MaybeUninit;

/// The constraints of a kind in a slab: numbers are per slot.
pub(super) struct Task<'a, const N: usize> {
    pub plain: &'a [[u32; N]],
    pub offsets: &'a [Offsets],
    /// Batches of clusters, and of single constraints.
    pub batches: [u32; 2],
    pub targets: &'a [f32],
    /// Or compliances, where there are multipliers.
    pub stiffness: &'a [f32],
    /// Volume only: `1/r^2`, with `r` how far a tet may move.
    pub limits: &'a [f32],
    /// Empty: stiffness. Else compliance.
    pub multipliers: &'a mut [f32],
}

/// The binds of nodes in a row.
pub(super) struct Binds<'a> {
    pub numbers: &'a [BindRows],
    pub multipliers: &'a mut [f32],
}

/// The binds of sixteen nodes: x, y and z of the point, distance, stiffness or compliance.
pub(super) type BindRows = [Row; 5];

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

/// A node of each cluster in one or two registers of lanes: x, y, z and inverse mass of either.
type Twin<V> = [[V; 4]; 2];

/// Registers of lanes that are worked on in turn.
const fn groups<V: Lanes>() -> usize {
    if V::WIDTH < BATCH { 2 } else { 1 }
}

/// Where some lanes of a batch are: the window's nodes, the first node's offsets, the first constraint's slot.
#[derive(Clone, Copy)]
struct At {
    nodes: *mut f32,
    offsets: *const u32,
    slot: usize,
}

impl At {
    /// The lanes from `lane` on of a batch that begins with these rows.
    #[inline(always)]
    unsafe fn new<const N: usize>(
        task: &Task<'_, N>,
        nodes: *mut f32,
        [offsets, row]: [usize; 2],
        lane: usize,
    ) -> Self {
        // SAFETY: the caller's promise, passed on.
        let offsets = unsafe { task.offsets.as_ptr().add(offsets).cast::<u32>().add(lane) };
        Self { nodes, offsets, slot: row * BATCH + lane }
    }

    /// A node of the clusters.
    #[inline(always)]
    unsafe fn get<V: Lanes>(self, node: usize) -> Twin<V> {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            let offsets = self.offsets.add(node * BATCH);
            let first = gather_rows::<V>(self.nodes, offsets);
            match groups::<V>() {
                2 => [first, gather_rows::<V>(self.nodes, offsets.add(V::WIDTH))],
                _ => [first; 2],
            }
        }
    }

    /// The reverse.
    #[inline(always)]
    unsafe fn put<V: Lanes>(self, node: usize, [first, second]: Twin<V>) {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            let offsets = self.offsets.add(node * BATCH);
            scatter_rows(first, self.nodes, offsets);
            if groups::<V>() == 2 {
                scatter_rows(second, self.nodes, offsets.add(V::WIDTH));
            }
        }
    }
}

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
    let [rings, ones] = task.batches.map(|count| count as usize);
    let clusters = <[u32; 2]>::NODES;
    // SAFETY: lanes are multiples of the width below sixteen; the caller's promise.
    unsafe {
        for batch in 0..rings {
            for lane in (0..BATCH).step_by(groups::<V>() * V::WIDTH) {
                let at = At::new(task, nodes, [batch * clusters, batch * FOUR], lane);
                let (mut n0, mut n1) = (at.get::<V>(0), at.get::<V>(1));
                stretch_pair::<V, COMPLIANT>(task, at.slot, &mut n0, &mut n1);
                let (mut n2, mut n3) = (at.get::<V>(2), at.get::<V>(3));
                stretch_pair::<V, COMPLIANT>(task, at.slot + BATCH, &mut n2, &mut n3);
                stretch_pair::<V, COMPLIANT>(task, at.slot + 2 * BATCH, &mut n1, &mut n2);
                stretch_pair::<V, COMPLIANT>(task, at.slot + 3 * BATCH, &mut n3, &mut n0);
                at.put(1, n1);
                at.put(2, n2);
                at.put(3, n3);
                at.put(0, n0);
            }
        }
        for batch in 0..ones {
            for lane in (0..BATCH).step_by(groups::<V>() * V::WIDTH) {
                let rows = [rings * clusters + batch * 2, rings * FOUR + batch];
                let at = At::new(task, nodes, rows, lane);
                let (mut n0, mut n1) = (at.get::<V>(0), at.get::<V>(1));
                stretch_pair::<V, COMPLIANT>(task, at.slot, &mut n0, &mut n1);
                at.put(0, n0);
                at.put(1, n1);
            }
        }
    }
}

#[inline(always)]
unsafe fn stretch_pair<V: Lanes, const COMPLIANT: bool>(
    task: &mut Task<'_, 2>,
    slot: usize,
    a: &mut Twin<V>,
    b: &mut Twin<V>,
) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        [a[0], b[0]] = stretch_step::<V, COMPLIANT>(task, slot, a[0], b[0]);
        if groups::<V>() == 2 {
            [a[1], b[1]] = stretch_step::<V, COMPLIANT>(task, slot + V::WIDTH, a[1], b[1]);
        }
    }
}

/// `C = |a - b| - d`
#[inline(always)]
unsafe fn stretch_step<V: Lanes, const COMPLIANT: bool>(
    task: &mut Task<'_, 2>,
    slot: usize,
    [ax, ay, az, wa]: [V; 4],
    [bx, by, bz, wb]: [V; 4],
) -> [[V; 4]; 2] {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let zero = V::splat(0.0);
        let (a, b) = ([ax, ay, az], [bx, by, bz]);
        let target = V::load(task.targets.as_ptr().add(slot));
        let stiffness = V::load(task.stiffness.as_ptr().add(slot));
        let along = sub(a, b);
        let length = dot(along, along).sqrt();
        let over = length.max(target.mul(V::splat(DIRECTION_FLOOR)));
        let weight = wa.add(wb);
        let step = if COMPLIANT {
            let multiplier = task.multipliers.as_mut_ptr().add(slot);
            compliant_step(target.sub(length), weight, over, stiffness, multiplier).div(over)
        } else {
            stiffness.mul(target.sub(length)).div(over.mul(weight))
        };
        let step = V::select(zero.ge(over.mul(weight)), zero, step);
        let [ax, ay, az] = add(a, scale(along, step.mul(wa)));
        let [bx, by, bz] = sub(b, scale(along, step.mul(wb)));
        [[ax, ay, az, wa], [bx, by, bz, wb]]
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
    let [strips, ones] = task.batches.map(|count| count as usize);
    let [nodes_each, rows_each] = [<[u32; 4]>::NODES, FOUR];
    // SAFETY: as above.
    unsafe {
        for batch in 0..strips {
            let rows = [batch * nodes_each, batch * rows_each];
            strip::<V, { <[u32; 4]>::NODES }, FOUR, COMPLIANT>(task, nodes, rows, STRIP);
        }
        for batch in 0..ones {
            let rows = [strips * nodes_each + batch * 4, strips * rows_each + batch];
            strip::<V, 4, 1, COMPLIANT>(task, nodes, rows, [[0, 1, 2, 3]]);
        }
    }
}

/// A batch of strips. Their nodes are too many for registers: spelt out as rings are, it takes three times the code and
/// the same time.
#[inline(always)]
unsafe fn strip<V: Lanes, const NODES: usize, const STEPS: usize, const COMPLIANT: bool>(
    task: &mut Task<'_, 4>,
    nodes: *mut f32,
    rows: [usize; 2],
    steps: [[usize; 4]; STEPS],
) {
    for lane in (0..BATCH).step_by(groups::<V>() * V::WIDTH) {
        // SAFETY: as above.
        unsafe {
            let at = At::new(task, nodes, rows, lane);
            let mut on = MaybeUninit::<[Twin<V>; NODES]>::uninit();
            let on = on.as_mut_ptr().cast::<Twin<V>>();
            for node in 0..NODES {
                on.add(node).write(at.get(node));
            }
            for step in 0..STEPS {
                let [a, b, c, d] = steps[step];
                let [a, b, c, d] = [on.add(a), on.add(b), on.add(c), on.add(d)];
                for group in 0..groups::<V>() {
                    let slot = at.slot + step * BATCH + group * V::WIDTH;
                    let own = [(*a)[group], (*b)[group], (*c)[group], (*d)[group]];
                    let own = volume_step::<V, COMPLIANT>(task, slot, own);
                    [(*a)[group], (*b)[group], (*c)[group], (*d)[group]] = own;
                }
            }
            for node in 0..NODES {
                at.put(node, on.add(node).read());
            }
        }
    }
}

/// `6 C = (p21 x p31).p41 - 6 V`
#[inline(always)]
unsafe fn volume_step<V: Lanes, const COMPLIANT: bool>(
    task: &mut Task<'_, 4>,
    slot: usize,
    [[x1, y1, z1, w1], [x2, y2, z2, w2], [x3, y3, z3, w3], [x4, y4, z4, w4]]: [[V; 4]; 4],
) -> [[V; 4]; 4] {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let zero = V::splat(0.0);
        let (p1, p2, p3, p4) = ([x1, y1, z1], [x2, y2, z2], [x3, y3, z3], [x4, y4, z4]);
        let (a, b, c) = (sub(p2, p1), sub(p3, p1), sub(p4, p1));
        let (g2, g3, g4) = (cross(b, c), cross(c, a), cross(a, b));
        // The negative of the gradient.
        let g1 = add(add(g2, g3), g4);
        let stiffness = V::load(task.stiffness.as_ptr().add(slot));
        let multiplier = task.multipliers.as_mut_ptr();
        let mut short = V::load(task.targets.as_ptr().add(slot)).sub(dot(a, g2));
        let weight = w1.add(w2).add(w3).add(w4);
        let first = dot(g1, g1).mul(w1).add(dot(g2, g2).mul(w2));
        let mut over = first.add(dot(g3, g3).mul(w3)).add(dot(g4, g4).mul(w4));
        let still = zero.ge(over);
        if COMPLIANT {
            short = short.sub(stiffness.mul(V::load(multiplier.add(slot))));
            over = over.add(stiffness);
        }
        let least = short.mul(short).mul(V::load(task.limits.as_ptr().add(slot))).mul(weight);
        let pull = if COMPLIANT { short } else { stiffness.mul(short) };
        let mut step = V::select(still, zero, pull.div(least.max(over)));
        if COMPLIANT {
            step = V::select(stiffness.ge(V::splat(NO_STIFFNESS)), zero, step);
            V::load(multiplier.add(slot)).add(step).store(multiplier.add(slot));
        }
        let [x1, y1, z1] = sub(p1, scale(g1, step.mul(w1)));
        let [x2, y2, z2] = add(p2, scale(g2, step.mul(w2)));
        let [x3, y3, z3] = add(p3, scale(g3, step.mul(w3)));
        let [x4, y4, z4] = add(p4, scale(g4, step.mul(w4)));
        [[x1, y1, z1, w1], [x2, y2, z2, w2], [x3, y3, z3, w3], [x4, y4, z4, w4]]
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

/// `C = |p - b| - d`
#[inline(always)]
unsafe fn bind_with<V: Lanes, const COMPLIANT: bool>(binds: &mut Binds<'_>, nodes: &mut [Node]) {
    let count = nodes.len();
    let nodes = nodes.as_mut_ptr().cast::<f32>();
    let numbers = binds.numbers.as_ptr();
    for slot in (0..count).step_by(V::WIDTH) {
        // SAFETY: nodes are in whole batches; the caller's promise.
        unsafe {
            let zero = V::splat(0.0);
            let [x, y, z, w] = load_rows::<V>(nodes.add(4 * slot));
            let rows = numbers.add(slot / BATCH).cast::<f32>().add(slot % BATCH);
            let (px, py, pz) = (V::load(rows), V::load(rows.add(BATCH)), V::load(rows.add(2 * BATCH)));
            let (target, stiffness) = (V::load(rows.add(3 * BATCH)), V::load(rows.add(4 * BATCH)));
            let along = sub([x, y, z], [px, py, pz]);
            let length = dot(along, along).sqrt();
            let over = length.max(target.mul(V::splat(DIRECTION_FLOOR)));
            let step = if COMPLIANT {
                let multiplier = binds.multipliers.as_mut_ptr().add(slot);
                compliant_step(target.sub(length), w, over, stiffness, multiplier).mul(w).div(over)
            } else {
                stiffness.mul(target.sub(length)).div(over)
            };
            let step = V::select(zero.ge(over.mul(w)), zero, step);
            let [x, y, z] = add([x, y, z], scale(along, step));
            store_rows([x, y, z, w], nodes.add(4 * slot), 4);
        }
    }
}
