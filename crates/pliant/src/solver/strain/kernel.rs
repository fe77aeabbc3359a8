//! The kernel that moves nodes, written once for every register width. Operation by operation it does what `plain` does.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use none of it")
)]

use super::super::pack::{BATCH, Offsets, Row};
use super::super::{DIRECTION_FLOOR, NO_STIFFNESS};
use super::pack::{Columns, Gram, Seven};
use super::{LIMIT, VOLUME};
use crate::body::Node;
use crate::simd::vectors::{add, cross, dot, scale, sub};
use crate::simd::{Lanes, gather_rows, prefetch, scatter_rows, stack_on_cache_lines};
use std::sync::atomic::{Ordering, compiler_fence};

/// How many batches ahead numbers are asked for: large bodies come from the last cache, a line of which takes as long as half
/// a batch.
const AHEAD: usize = 2;

/// What a sweep projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// All seven constraints.
    All,
    /// The same, corners in finished layers heavier.
    Consolidating,
    /// Volume alone.
    Volume,
}

/// The tets of a slab, batch by batch.
pub(super) struct Task<'a> {
    pub plain: &'a [[u32; 4]],
    /// Four rows a batch.
    pub offsets: &'a [Offsets],
    pub columns: &'a [Columns],
    /// Of the kind of sweep.
    pub grams: &'a [Gram],
    pub finished: &'a [Row],
    /// Or compliances, where there are multipliers.
    pub stiffness: &'a [Seven],
    /// Which of them a batch reads.
    pub block_of: &'a [u32],
    /// Empty: stiffness. Else compliance.
    pub multipliers: &'a mut [Seven],
    /// What inverse masses of corners in finished layers are multiplied with while consolidating.
    pub lighter: f32,
}

/// Projects a task's tets on the nodes of its window.
///
/// # Safety
/// The machine must have the kernel's instructions, the task be packed for kernels, its slices have as many batches each
/// and its offsets be within the window.
pub(super) type Sweep = unsafe fn(task: &mut Task<'_>, kind: Kind, nodes: &mut [Node]);

/// Makes the grams of a task for a kind of sweep.
///
/// # Safety
/// As for [`Sweep`]; there are as many grams as batches.
pub(super) type Weigh = unsafe fn(task: &Task<'_>, kind: Kind, nodes: &[Node], grams: &mut [Gram]);

/// Projects the tets of two slabs that share no node, side by side.
///
/// # Safety
/// As for [`Sweep`], for either.
pub(super) type SweepTwo = unsafe fn(tasks: [&mut Task<'_>; 2], kind: Kind, nodes: [&mut [Node]; 2]);

#[inline(always)]
pub(super) unsafe fn sweep<V: Lanes>(task: &mut Task<'_>, kind: Kind, nodes: &mut [Node]) {
    stack_on_cache_lines();
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match (kind, task.multipliers.is_empty()) {
            (Kind::All, true) => batches::<V, false, false, false>(task, 0, nodes),
            (Kind::All, false) => batches::<V, true, false, false>(task, 0, nodes),
            (Kind::Consolidating, true) => batches::<V, false, true, false>(task, 0, nodes),
            (Kind::Consolidating, false) => batches::<V, true, true, false>(task, 0, nodes),
            (Kind::Volume, true) => batches::<V, false, false, true>(task, 0, nodes),
            (Kind::Volume, false) => batches::<V, true, false, true>(task, 0, nodes),
        }
    }
}

/// Volume alone is not worth it: the one slab, then the other.
#[inline(always)]
pub(super) unsafe fn sweep_two<V: Lanes>(
    [a, b]: [&mut Task<'_>; 2],
    kind: Kind,
    [on_a, on_b]: [&mut [Node]; 2],
) {
    stack_on_cache_lines();
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match (kind, a.multipliers.is_empty()) {
            (Kind::All, true) => in_turn::<V, false, false>(a, b, on_a, on_b),
            (Kind::All, false) => in_turn::<V, true, false>(a, b, on_a, on_b),
            (Kind::Consolidating, true) => in_turn::<V, false, true>(a, b, on_a, on_b),
            (Kind::Consolidating, false) => in_turn::<V, true, true>(a, b, on_a, on_b),
            (Kind::Volume, true) => {
                batches::<V, false, false, true>(a, 0, on_a);
                batches::<V, false, false, true>(b, 0, on_b);
            }
            (Kind::Volume, false) => {
                batches::<V, true, false, true>(a, 0, on_a);
                batches::<V, true, false, true>(b, 0, on_b);
            }
        }
    }
}

/// The batches of a slab from `first` on.
#[inline(always)]
unsafe fn batches<V: Lanes, const COMPLIANT: bool, const CONSOLIDATING: bool, const VOLUME: bool>(
    task: &mut Task<'_>,
    first: usize,
    nodes: &mut [Node],
) {
    for batch in first..task.columns.len() {
        for lane in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: lanes are multiples of the width below sixteen; the caller's promise.
            unsafe {
                let mut tets = Tets::<V, COMPLIANT>::begin::<CONSOLIDATING>(task, nodes, batch, lane);
                tets.volume();
                if !VOLUME {
                    tets.stretches();
                    tets.shears();
                }
                tets.end();
            }
        }
    }
}

/// A tet is one long chain of roots and quotients, and what waits in it keeps what could go on from getting in. So two
/// slabs are swept at once, one of them half a tet behind: each goes on while the other waits. Spelt out: in loops and
/// closures nothing stays in registers.
#[inline(always)]
unsafe fn in_turn<V: Lanes, const COMPLIANT: bool, const CONSOLIDATING: bool>(
    task_a: &mut Task<'_>,
    task_b: &mut Task<'_>,
    on_a: &mut [Node],
    on_b: &mut [Node],
) {
    let both = task_a.columns.len().min(task_b.columns.len());
    // SAFETY: the caller's promise, passed on; a register is a whole batch.
    unsafe {
        if both > 0 {
            let mut a = Tets::<V, COMPLIANT>::begin::<CONSOLIDATING>(task_a, on_a, 0, 0);
            a.volume();
            a.stretches();
            for batch in 1..both {
                let mut b = Tets::<V, COMPLIANT>::begin::<CONSOLIDATING>(task_b, on_b, batch - 1, 0);
                a.shear::<0, 1, 3>();
                b.volume();
                a.shear::<0, 2, 4>();
                b.stretch::<0>();
                a.shear::<1, 2, 5>();
                b.stretch::<1>();
                a.end();
                b.stretch::<2>();
                a = Tets::<V, COMPLIANT>::begin::<CONSOLIDATING>(task_a, on_a, batch, 0);
                b.shear::<0, 1, 3>();
                a.volume();
                b.shear::<0, 2, 4>();
                a.stretch::<0>();
                b.shear::<1, 2, 5>();
                a.stretch::<1>();
                b.end();
                a.stretch::<2>();
            }
            a.shears();
            a.end();
        }
        batches::<V, COMPLIANT, CONSOLIDATING, false>(task_a, both, on_a);
        batches::<V, COMPLIANT, CONSOLIDATING, false>(task_b, both.saturating_sub(1), on_b);
    }
}

/// The inverse mass of a corner, times `lighter` where its flag is set, and the flags below.
#[inline(always)]
unsafe fn heavier<V: Lanes>(w: V, flags: V, flag: f32, lighter: V) -> (V, V) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let flag = V::splat(flag);
        let is_set = flags.ge(flag);
        (V::select(is_set, w.mul(lighter), w), V::select(is_set, flags.sub(flag), flags))
    }
}

/// The inverse masses that count in a sweep.
#[inline(always)]
unsafe fn masses<V: Lanes, const CONSOLIDATING: bool>(
    task: &Task<'_>,
    batch: usize,
    lane: usize,
    [mut w0, mut w1, mut w2, mut w3]: [V; 4],
) -> [V; 4] {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        if CONSOLIDATING {
            let finished = task.finished.as_ptr().add(batch).cast::<f32>().add(lane);
            let (mut flags, lighter) = (V::load(finished), V::splat(task.lighter));
            (w0, flags) = heavier(w0, flags, 8.0, lighter);
            (w1, flags) = heavier(w1, flags, 4.0, lighter);
            (w2, flags) = heavier(w2, flags, 2.0, lighter);
            (w3, _) = heavier(w3, flags, 1.0, lighter);
        }
        [w0, w1, w2, w3]
    }
}

/// What inverse masses and columns make together: the same in all sweeps of a kind.
#[inline(always)]
pub(super) unsafe fn weigh<V: Lanes>(task: &Task<'_>, kind: Kind, nodes: &[Node], grams: &mut [Gram]) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match kind {
            Kind::Consolidating => weigh_all::<V, true>(task, nodes, grams),
            Kind::All | Kind::Volume => weigh_all::<V, false>(task, nodes, grams),
        }
    }
}

#[inline(always)]
unsafe fn weigh_all<V: Lanes, const CONSOLIDATING: bool>(
    task: &Task<'_>,
    nodes: &[Node],
    grams: &mut [Gram],
) {
    for (batch, gram) in grams.iter_mut().enumerate() {
        for lane in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: lanes are multiples of the width below sixteen; the caller's promise.
            unsafe {
                let nodes = nodes.as_ptr().cast::<f32>();
                let offsets = task.offsets.as_ptr().add(4 * batch).cast::<u32>().add(lane);
                let columns = task.columns.as_ptr().add(batch).cast::<f32>().add(lane);
                let [_, _, _, w0] = gather_rows::<V>(nodes, offsets);
                let [_, _, _, w1] = gather_rows::<V>(nodes, offsets.add(BATCH));
                let [_, _, _, w2] = gather_rows::<V>(nodes, offsets.add(2 * BATCH));
                let [_, _, _, w3] = gather_rows::<V>(nodes, offsets.add(3 * BATCH));
                let [w0, w1, w2, w3] = masses::<V, CONSOLIDATING>(task, batch, lane, [w0, w1, w2, w3]);
                let (c0, c1, c2) =
                    (column::<V>(columns, 0), column::<V>(columns, 1), column::<V>(columns, 2));
                let (s0, s1, s2) = (sum(c0), sum(c1), sum(c2));
                let wc0 = [w1.mul(c0[0]), w2.mul(c0[1]), w3.mul(c0[2])];
                let wc1 = [w1.mul(c1[0]), w2.mul(c1[1]), w3.mul(c1[2])];
                let wc2 = [w1.mul(c2[0]), w2.mul(c2[1]), w3.mul(c2[2])];
                let (ws0, ws1, ws2) = (w0.mul(s0), w0.mul(s1), w0.mul(s2));
                let to = gram.as_mut_ptr().cast::<f32>().add(lane);
                dot(wc0, c0).add(ws0.mul(s0)).store(to);
                dot(wc0, c1).add(ws0.mul(s1)).store(to.add(BATCH));
                dot(wc0, c2).add(ws0.mul(s2)).store(to.add(2 * BATCH));
                dot(wc1, c1).add(ws1.mul(s1)).store(to.add(3 * BATCH));
                dot(wc1, c2).add(ws1.mul(s2)).store(to.add(4 * BATCH));
                dot(wc2, c2).add(ws2.mul(s2)).store(to.add(5 * BATCH));
                let least = w0.add(w1).add(w2).add(w3).mul(V::load(columns.add(9 * BATCH)));
                // Nothing to move: any number that keeps quotients finite.
                let least = V::select(V::splat(0.0).ge(least), V::splat(1.0), least);
                least.store(to.add(6 * BATCH));
            }
        }
    }
}

/// Tets as their constraints see them, one a lane.
struct Tets<V, const COMPLIANT: bool> {
    nodes: *mut f32,
    offsets: *const u32,
    columns: *const f32,
    /// The seven numbers, a row apart, and their multipliers.
    stiffness: *const f32,
    multipliers: *mut f32,
    /// As fetched: x, y, z and inverse mass.
    own: [[V; 4]; 4],
    /// The inverse masses that count.
    w: [V; 4],
    /// The columns of `F Q`.
    f: [[V; 3]; 3],
    /// What is to be added to the nodes: `dp_k = w_k sum_i c_i[k] L_i`.
    pull: [[V; 3]; 3],
    /// `M`, and what keeps denominators up.
    gram: *const f32,
}

impl<V: Lanes, const COMPLIANT: bool> Tets<V, COMPLIANT> {
    /// Fetches the tets of a batch from `lane` on.
    #[inline(always)]
    unsafe fn begin<const CONSOLIDATING: bool>(
        task: &mut Task<'_>,
        nodes: &mut [Node],
        batch: usize,
        lane: usize,
    ) -> Self {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            let nodes = nodes.as_mut_ptr().cast::<f32>();
            let offsets = task.offsets.as_ptr().add(4 * batch).cast::<u32>().add(lane);
            let columns = task.columns.as_ptr().add(batch).cast::<f32>().add(lane);
            for row in 0..9 {
                prefetch(columns.wrapping_add((AHEAD * 10 + row) * BATCH));
            }
            let gram = task.grams.as_ptr().add(batch).cast::<f32>().add(lane);
            for row in 0..7 {
                prefetch(gram.wrapping_add((AHEAD * 7 + row) * BATCH));
            }
            for row in 0..4 {
                prefetch(offsets.wrapping_add((AHEAD * 4 + row) * BATCH));
            }
            let block = *task.block_of.get_unchecked(batch) as usize;
            let stiffness = task.stiffness.as_ptr().add(block).cast::<f32>().add(lane);
            let multipliers = match COMPLIANT {
                true => task.multipliers.as_mut_ptr().add(batch).cast::<f32>().add(lane),
                false => std::ptr::null_mut(),
            };
            let n0 = gather_rows::<V>(nodes, offsets);
            let n1 = gather_rows::<V>(nodes, offsets.add(BATCH));
            let n2 = gather_rows::<V>(nodes, offsets.add(2 * BATCH));
            let n3 = gather_rows::<V>(nodes, offsets.add(3 * BATCH));
            let [w0, w1, w2, w3] =
                masses::<V, CONSOLIDATING>(task, batch, lane, [n0[3], n1[3], n2[3], n3[3]]);
            let (p0, p1, p2, p3) = (xyz(n0), xyz(n1), xyz(n2), xyz(n3));
            let (a, b, d) = (sub(p1, p0), sub(p2, p0), sub(p3, p0));
            let (c0, c1, c2) = (column::<V>(columns, 0), column::<V>(columns, 1), column::<V>(columns, 2));
            let f0 = add(add(scale(a, c0[0]), scale(b, c0[1])), scale(d, c0[2]));
            let f1 = add(add(scale(a, c1[0]), scale(b, c1[1])), scale(d, c1[2]));
            let f2 = add(add(scale(a, c2[0]), scale(b, c2[1])), scale(d, c2[2]));
            let zero = V::splat(0.0);
            Self {
                nodes,
                offsets,
                columns,
                stiffness,
                multipliers,
                own: [n0, n1, n2, n3],
                w: [w0, w1, w2, w3],
                f: [f0, f1, f2],
                pull: [[zero; 3]; 3],
                gram,
            }
        }
    }

    /// Gives the nodes back, moved.
    #[inline(always)]
    unsafe fn end(self) {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            let [n0, n1, n2, n3] = self.own;
            let [w0, w1, w2, w3] = self.w;
            let (u1, u2, u3) = (self.moves(0), self.moves(1), self.moves(2));
            self.put(0, sub(xyz(n0), scale(add(add(u1, u2), u3), w0)), n0[3]);
            self.put(1, add(xyz(n1), scale(u1, w1)), n1[3]);
            self.put(2, add(xyz(n2), scale(u2, w2)), n2[3]);
            self.put(3, add(xyz(n3), scale(u3, w3)), n3[3]);
        }
    }

    #[inline(always)]
    unsafe fn put(&self, corner: usize, [x, y, z]: [V; 3], w: V) {
        // SAFETY: the caller's promise, passed on.
        unsafe { scatter_rows([x, y, z, w], self.nodes, self.offsets.add(corner * BATCH)) }
    }

    /// `sum_i c_i[k] L_i`
    #[inline(always)]
    unsafe fn moves(&self, k: usize) -> [V; 3] {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            let c0 = V::load(self.columns.add(k * BATCH));
            let c1 = V::load(self.columns.add((3 + k) * BATCH));
            let c2 = V::load(self.columns.add((6 + k) * BATCH));
            add(add(scale(self.pull[0], c0), scale(self.pull[1], c1)), scale(self.pull[2], c2))
        }
    }

    /// What to add to the multiplier of constraint `k`, divided by `length` where there is one.
    #[inline(always)]
    unsafe fn step(&self, k: usize, short: V, length: Option<V>, over: V) -> V {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            let stiffness = V::load(self.stiffness.add(k * BATCH));
            if !COMPLIANT {
                let over = match length {
                    Some(length) => length.mul(over),
                    None => over,
                };
                return stiffness.mul(short).div(over);
            }
            let multiplier = self.multipliers.add(k * BATCH);
            let before = V::load(multiplier);
            let over = over.add(stiffness);
            let over = match length {
                Some(length) => length.mul(over),
                None => over,
            };
            let step = short.sub(stiffness.mul(before)).div(over);
            let step = V::select(stiffness.ge(V::splat(NO_STIFFNESS)), V::splat(0.0), step);
            let added = match length {
                Some(length) => step.mul(length),
                None => step,
            };
            before.add(added).store(multiplier);
            step
        }
    }

    /// `M_ij`. Read where it is asked for: kept from one constraint to the next, it would push others out of registers.
    #[inline(always)]
    unsafe fn m<const I: usize, const J: usize>(&self) -> V {
        let row = const { [[0, 1, 2], [1, 3, 4], [2, 4, 5]][I][J] };
        // SAFETY: the caller's promise, passed on.
        unsafe { V::load(self.gram.add(row * BATCH)) }
    }

    /// What keeps denominators up.
    #[inline(always)]
    unsafe fn least(&self) -> V {
        // SAFETY: the caller's promise, passed on.
        unsafe { V::load(self.gram.add(6 * BATCH)) }
    }

    /// All three.
    #[inline(always)]
    unsafe fn stretches(&mut self) {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            self.stretch::<0>();
            self.stretch::<1>();
            self.stretch::<2>();
        }
    }

    /// All three.
    #[inline(always)]
    unsafe fn shears(&mut self) {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            self.shear::<0, 1, 3>();
            self.shear::<0, 2, 4>();
            self.shear::<1, 2, 5>();
        }
    }

    /// `C = |f_i| - 1`
    #[inline(always)]
    unsafe fn stretch<const I: usize>(&mut self) {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            compiler_fence(Ordering::SeqCst);
            let floor = V::splat(DIRECTION_FLOOR);
            let square = dot(self.f[I], self.f[I]);
            let has_none = V::splat(DIRECTION_FLOOR * DIRECTION_FLOOR).ge(square);
            self.f[I][I] = V::select(has_none, floor, self.f[I][I]);
            let f = self.f[I];
            let length = square.sqrt().max(floor);
            let short = V::splat(1.0).sub(length);
            let step = self.step(I, short, Some(length), self.m::<I, I>().add(self.least()));
            let by = scale(f, step);
            self.pull[I] = add(self.pull[I], by);
            self.f[0] = add(self.f[0], scale(by, self.m::<I, 0>()));
            self.f[1] = add(self.f[1], scale(by, self.m::<I, 1>()));
            self.f[2] = add(self.f[2], scale(by, self.m::<I, 2>()));
        }
    }

    /// `C = f_i . f_j`, the constraint `K`.
    #[inline(always)]
    unsafe fn shear<const I: usize, const J: usize, const K: usize>(&mut self) {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            compiler_fence(Ordering::SeqCst);
            let (a, b) = (self.f[I], self.f[J]);
            let value = dot(a, b);
            let mixed = self.m::<I, J>().add(self.m::<I, J>()).mul(value);
            let first = self.m::<I, I>().mul(dot(b, b)).add(mixed);
            let over = first.add(self.m::<J, J>().mul(dot(a, a)).add(self.least()));
            let step = self.step(K, V::splat(0.0).sub(value), None, over);
            let (on_i, on_j) = (scale(b, step), scale(a, step));
            self.pull[I] = add(self.pull[I], on_i);
            self.pull[J] = add(self.pull[J], on_j);
            self.f[0] = add(self.f[0], add(scale(on_i, self.m::<I, 0>()), scale(on_j, self.m::<J, 0>())));
            self.f[1] = add(self.f[1], add(scale(on_i, self.m::<I, 1>()), scale(on_j, self.m::<J, 1>())));
            self.f[2] = add(self.f[2], add(scale(on_i, self.m::<I, 2>()), scale(on_j, self.m::<J, 2>())));
        }
    }

    /// `C = det F - 1`, the first that a tet meets.
    #[inline(always)]
    unsafe fn volume(&mut self) {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            compiler_fence(Ordering::SeqCst);
            let [a, b, c] = self.f;
            let (g0, g1, g2) = (cross(b, c), cross(c, a), cross(a, b));
            let short = V::splat(1.0).sub(dot(a, g0));
            let h0 = self.weighed::<0>(g0, g1, g2);
            let h1 = self.weighed::<1>(g0, g1, g2);
            let h2 = self.weighed::<2>(g0, g1, g2);
            let over = dot(g0, h0).add(dot(g1, h1)).add(dot(g2, h2)).add(self.least());
            let over = short.mul(short).mul(self.least().mul(V::splat(LIMIT))).max(over);
            let step = self.step(VOLUME, short, None, over);
            self.pull = [scale(g0, step), scale(g1, step), scale(g2, step)];
            self.f = [add(a, scale(h0, step)), add(b, scale(h1, step)), add(c, scale(h2, step))];
        }
    }

    /// `sum_i M_ia g_i`: what a pull by `g` adds to a column.
    #[inline(always)]
    unsafe fn weighed<const A: usize>(&self, g0: [V; 3], g1: [V; 3], g2: [V; 3]) -> [V; 3] {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            let (x, y) = (scale(g0, self.m::<0, A>()), scale(g1, self.m::<1, A>()));
            add(add(x, y), scale(g2, self.m::<2, A>()))
        }
    }
}

#[inline(always)]
fn xyz<V: Copy>([x, y, z, _]: [V; 4]) -> [V; 3] {
    [x, y, z]
}

#[inline(always)]
unsafe fn sum<V: Lanes>([x, y, z]: [V; 3]) -> V {
    // SAFETY: the caller's promise, passed on.
    unsafe { x.add(y).add(z) }
}

/// Column `i` of `Dm^-1 Q`.
#[inline(always)]
pub(super) unsafe fn column<V: Lanes>(columns: *const f32, i: usize) -> [V; 3] {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let first = columns.add(3 * i * BATCH);
        [V::load(first), V::load(first.add(BATCH)), V::load(first.add(2 * BATCH))]
    }
}
