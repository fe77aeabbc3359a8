//! The passes of a correction, written once for all widths of register.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use none of it")
)]

use super::gives::{GiveRow, Giving};
use super::pack::{BATCH, Pack, Run};
use crate::rig::SkinMatrix;
use crate::simd::vectors::{add, cross, dot, scale, sub};
use crate::simd::{Lanes, gather_rows, load_rows, store_rows};

/// A vector and one number that is not used: rows are read whole.
pub(super) type Row = [f32; 4];

/// Vectors of a batch, number by number: what is not read from anywhere else.
pub(super) type Block = [[f32; BATCH]; 3];

/// What the areas of a run sum to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums(pub [f64; 3]);

impl Sums {
    /// Of one kind alone. Each lane has its own sum, whatever the width: they are added half to half.
    #[inline(always)]
    pub(super) fn of(kind: usize, lanes: &[f32; BATCH]) -> Self {
        let mut sums = Self::default();
        sums.0[kind] = sum(lanes);
        sums
    }

    #[inline(always)]
    pub(super) fn all(lanes: &[[f32; BATCH]; 3]) -> Self {
        Self([sum(&lanes[0]), sum(&lanes[1]), sum(&lanes[2])])
    }
}

#[inline(always)]
fn sum(lanes: &[f32; BATCH]) -> f64 {
    let mut sums = [0.0; BATCH / 2];
    for (k, sum) in sums.iter_mut().enumerate() {
        *sum = f64::from(lanes[k]) + f64::from(lanes[k + BATCH / 2]);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// A normal whose squared length is below this stays as it is.
pub(super) const FLAT: f32 = 1e-12;

/// A row of several slots.
pub(super) const MIXED: u32 = u32::MAX;

pub(super) struct AreaJob<'a> {
    pub pack: &'a Pack,
    /// Places, then apexes.
    pub points: &'a [Row],
    /// Per region, what its volume is measured from: the same in all passes of a frame.
    pub origins: &'a [Row],
    /// What the last step went by, once there is one.
    pub stepped: Option<Stepped<'a>>,
    /// Which way points may go, where not along their normals.
    pub away: Option<&'a [Row]>,
}

#[derive(Clone, Copy)]
pub(super) struct Stepped<'a> {
    pub weights: &'a [f32],
    pub moves: &'a [Block],
}

pub(super) struct TakeJob<'a> {
    pub areas: &'a [Block],
    pub away: Option<&'a [Row]>,
}

/// The end of a run's way.
pub(super) struct SettleJob<'a> {
    /// Areas of the skinned skin, those that the way began with, and those after its first guess.
    pub skinned: &'a [Block],
    pub areas: [&'a [Block]; 2],
    pub moves: &'a [Block],
    /// How much farther than the guess it went.
    pub more: f32,
}

pub(super) struct StepJob<'a> {
    /// Per region.
    pub scales: &'a [f32],
    pub areas: &'a [Block],
    pub weights: &'a [f32],
    pub caps: &'a [f32],
    /// Times that.
    pub cap: f32,
    pub away: Option<&'a [Row]>,
}

pub(super) struct WeighJob<'a> {
    /// For each batch the first of its rows of sixteen in `slots` and `shares`.
    pub starts: &'a [u32],
    /// Per row of sixteen, the slot that all of it is of, or [`MIXED`].
    pub slot_of_row: &'a [u32],
    /// As offsets in the matrices' numbers.
    pub slots: &'a [u32],
    pub shares: &'a [f32],
    pub matrices: &'a [SkinMatrix],
    pub rest: &'a [Block],
    pub points: &'a [Row],
    pub gammas: &'a [f32],
    /// One over the distance at which a point is wholly active.
    pub rates: &'a [f32],
    /// Bones this near to each other have not moved.
    pub still: f32,
}

pub(super) type Areas = unsafe fn(&AreaJob<'_>, &Run, &mut [Block]) -> Sums;
pub(super) type Step = unsafe fn(&StepJob<'_>, &Run, &mut [Row], &mut [Block]) -> Sums;
pub(super) type Take = unsafe fn(&TakeJob<'_>, &mut [f32], &mut [f32]) -> Sums;
pub(super) type Settle = unsafe fn(&SettleJob<'_>, &[Row], &mut [Row], &mut [Row]);
pub(super) type Carry = unsafe fn(&[[f32; 3]; 3], &[Block], &mut [Block]);
pub(super) type Give = unsafe fn(&Giving, &GiveRow, &mut [f32]);
pub(super) type Weigh = unsafe fn(&WeighJob<'_>, usize, &mut [f32]);

/// Twice the vector area around each point, `A = sum (x_i - x) x (x_j - x)`, so that the volume's gradient is `A / 6`.
/// Sums of `(x - origin) . A`; after a step also of `w g^2` with `g` what of `A` lies along the way that the point may go,
/// and of `A . d`.
///
/// # Safety
/// The instructions of `V` must be enabled; the job's arrays have a number for each place, and `areas` one block for each
/// of the run's batches.
#[inline(always)]
pub(super) unsafe fn areas<V: Lanes>(job: &AreaJob<'_>, run: &Run, areas: &mut [Block]) -> Sums {
    debug_assert_eq!(areas.len(), run.batches.len());
    let mut lanes = [[0f32; BATCH]; 3];
    let points = job.points.as_flattened().as_ptr();
    let origin = job.origins[run.region as usize];
    // SAFETY: the caller's promise; offsets are those of places and apexes.
    unsafe {
        let origin = [V::splat(origin[0]), V::splat(origin[1]), V::splat(origin[2])];
        for first in (0..BATCH).step_by(V::WIDTH) {
            let mut sums = [V::splat(0.0); 3];
            for (k, batch) in run.batches.clone().enumerate() {
                let place = batch * BATCH + first;
                let [x, y, z, _] = load_rows::<V>(points.add(4 * place));
                let x = [x, y, z];
                let mut area = [V::splat(0.0); 3];
                let rows = job.pack.starts[batch] as usize..job.pack.starts[batch + 1] as usize;
                if !rows.is_empty() {
                    // No closures in here: they would not have the instructions, and nothing would be inlined into them.
                    let ring = job.pack.rings.as_ptr().add(first);
                    let begin = sub(neighbour(points, ring.add(rows.start * BATCH)), x);
                    let mut before = begin;
                    for r in rows.start + 1..rows.end {
                        let next = sub(neighbour(points, ring.add(r * BATCH)), x);
                        area = add(area, cross(before, next));
                        before = next;
                    }
                    if job.pack.closed[batch] {
                        area = add(area, cross(before, begin));
                    }
                }
                sums[0] = sums[0].add(dot(sub(x, origin), area));
                if let Some(Stepped { weights, moves }) = job.stepped {
                    let gain = gain(area, job.away, place);
                    sums[1] = sums[1].add(V::load(weights.as_ptr().add(place)).mul(gain));
                    sums[2] = sums[2].add(dot(area, load(&moves[batch], first)));
                }
                store(area, &mut areas[k], first);
            }
            sums[0].store(lanes[0].as_mut_ptr().add(first));
            sums[1].store(lanes[1].as_mut_ptr().add(first));
            sums[2].store(lanes[2].as_mut_ptr().add(first));
        }
    }
    if job.stepped.is_some() { Sums::all(&lanes) } else { Sums::of(0, &lanes[0]) }
}

#[inline(always)]
unsafe fn load<V: Lanes>(block: &Block, first: usize) -> [V; 3] {
    // SAFETY: the caller has the instructions; `first` is that of a register's width of numbers.
    unsafe {
        [
            V::load(block[0].as_ptr().add(first)),
            V::load(block[1].as_ptr().add(first)),
            V::load(block[2].as_ptr().add(first)),
        ]
    }
}

#[inline(always)]
unsafe fn store<V: Lanes>([x, y, z]: [V; 3], block: &mut Block, first: usize) {
    // SAFETY: as for [`load`].
    unsafe {
        x.store(block[0].as_mut_ptr().add(first));
        y.store(block[1].as_mut_ptr().add(first));
        z.store(block[2].as_mut_ptr().add(first));
    }
}

/// The square of what of an area lies along the way that its point may go.
#[inline(always)]
unsafe fn gain<V: Lanes>(area: [V; 3], away: Option<&[Row]>, place: usize) -> V {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        match away {
            Some(away) => {
                let [u, v, w, _] = load_rows::<V>(away.as_flattened().as_ptr().add(4 * place));
                let along = dot(area, [u, v, w]);
                along.mul(along)
            }
            None => dot(area, area),
        }
    }
}

/// What is held takes less; the sum of `w g^2`. `keeps` are as nothing is held afterwards. All slices are of one run.
///
/// # Safety
/// As [`areas`]; all have a number for each place of the run.
#[inline(always)]
pub(super) unsafe fn take<V: Lanes>(job: &TakeJob<'_>, weights: &mut [f32], keeps: &mut [f32]) -> Sums {
    debug_assert!(weights.len() == keeps.len() && job.areas.len() * BATCH == weights.len());
    let mut lanes = [0f32; BATCH];
    // SAFETY: the caller's promise.
    unsafe {
        for first in (0..BATCH).step_by(V::WIDTH) {
            let mut sum = V::splat(0.0);
            for (k, areas) in job.areas.iter().enumerate() {
                let place = k * BATCH + first;
                let weight = weights.as_mut_ptr().add(place);
                let keep = keeps.as_mut_ptr().add(place);
                let taken = V::load(weight).mul(V::load(keep));
                taken.store(weight);
                V::splat(1.0).store(keep);
                sum = sum.add(taken.mul(gain(load(areas, first), job.away, place)));
            }
            sum.store(lanes.as_mut_ptr().add(first));
        }
    }
    Sums::of(1, &lanes)
}

/// Points by their offsets.
#[inline(always)]
unsafe fn neighbour<V: Lanes>(points: *const f32, offsets: *const u32) -> [V; 3] {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let [x, y, z, _] = gather_rows::<V>(points, offsets);
        [x, y, z]
    }
}

/// A row of matrices by their offsets, times points.
#[inline(always)]
unsafe fn number<V: Lanes>(row: *const f32, offsets: *const u32, [x, y, z]: [V; 3]) -> V {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let [a, b, c, d] = gather_rows::<V>(row, offsets);
        a.mul(x).add(b.mul(y)).add(c.mul(z)).add(d)
    }
}

/// A row of one matrix, times points.
#[inline(always)]
unsafe fn same_number<V: Lanes>(row: *const f32, [x, y, z]: [V; 3]) -> V {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let (a, b) = (V::splat(row.read()), V::splat(row.add(1).read()));
        let (c, d) = (V::splat(row.add(2).read()), V::splat(row.add(3).read()));
        a.mul(x).add(b.mul(y)).add(c.mul(z)).add(d)
    }
}

/// Where points get to at the end of their way, and normals, which turn as the unit vectors of areas do since the skinned
/// skin. They do not where either has no length. Areas change evenly along the way, up to the square of how moves differ
/// from point to point times how far the guess was off.
///
/// # Safety
/// As [`areas`]; all have a row for each place of the run, but there may be no normals.
#[inline(always)]
pub(super) unsafe fn settle<V: Lanes>(
    job: &SettleJob<'_>,
    points: &[Row],
    settled: &mut [Row],
    normals: &mut [Row],
) {
    let count = points.len();
    debug_assert!(settled.len() == count && job.skinned.len() * BATCH == count);
    debug_assert!(normals.is_empty() || normals.len() == count);
    debug_assert!(job.areas.iter().chain([&job.moves]).all(|a| a.len() * BATCH == count));
    // SAFETY: the caller's promise.
    unsafe {
        let (zero, one, more) = (V::splat(0.0), V::splat(1.0), V::splat(job.more));
        for place in (0..count).step_by(V::WIDTH) {
            let (batch, first) = (place / BATCH, place % BATCH);
            let [x, y, z, _] = load_rows::<V>(points.as_flattened().as_ptr().add(4 * place));
            let [x, y, z] = add([x, y, z], scale(load(&job.moves[batch], first), more));
            store_rows([x, y, z, zero], settled.as_flattened_mut().as_mut_ptr().add(4 * place), 4);
            if normals.is_empty() {
                continue;
            }
            let was: [V; 3] = load(&job.skinned[batch], first);
            let end = load(&job.areas[1][batch], first);
            let now = add(end, scale(sub(end, load(&job.areas[0][batch], first)), more));
            let (one_was, one_now) = (one.div(dot(was, was).sqrt()), one.div(dot(now, now).sqrt()));
            let [x, y, z] = sub(scale(now, one_now), scale(was, one_was));
            // Of no length, not a number: neither is larger than anything.
            let (some_x, some_y, some_z) = (x.mul(x).ge(zero), y.mul(y).ge(zero), z.mul(z).ge(zero));
            let turn = [V::select(some_x, x, zero), V::select(some_y, y, zero), V::select(some_z, z, zero)];
            let normal = normals.as_flattened_mut().as_mut_ptr().add(4 * place);
            let [x, y, z, _] = load_rows::<V>(normal);
            let turned = add([x, y, z], turn);
            let square = dot(turned, turned);
            let [u, v, w] = scale(turned, one.div(square.sqrt()));
            let some = square.ge(V::splat(FLAT));
            store_rows(
                [V::select(some, u, x), V::select(some, v, y), V::select(some, w, z), zero],
                normal,
                4,
            );
        }
    }
}

/// Areas that turn with a bone, by the columns of its cofactors.
///
/// # Safety
/// As [`areas`]; there are as many areas as were given.
#[inline(always)]
pub(super) unsafe fn carry<V: Lanes>([a, b, c]: &[[f32; 3]; 3], rest: &[Block], areas: &mut [Block]) {
    for (rest, areas) in rest.iter().zip(areas) {
        for first in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: the caller's promise.
            unsafe {
                let [x, y, z] = load::<V>(rest, first);
                for i in 0..3 {
                    let sum = V::splat(a[i]).mul(x).add(V::splat(b[i]).mul(y)).add(V::splat(c[i]).mul(z));
                    sum.store(areas[i].as_mut_ptr().add(first));
                }
            }
        }
    }
}

/// What a contact asks of a batch beside it.
///
/// # Safety
/// As [`areas`]; `weights` are the batch's sixteen.
#[inline(always)]
pub(super) unsafe fn give<V: Lanes>(giving: &Giving, row: &GiveRow, weights: &mut [f32]) {
    debug_assert_eq!(weights.len(), BATCH);
    // SAFETY: the caller's promise.
    unsafe {
        let (zero, one) = (V::splat(0.0), V::splat(1.0));
        let (two, three) = (V::splat(2.0), V::splat(3.0));
        for first in (0..BATCH).step_by(V::WIDTH) {
            let from = V::load(row.froms.as_ptr().add(first));
            let x = V::splat(giving.reach).sub(from).div(V::splat(giving.over));
            let x = V::select(x.ge(zero), x, zero);
            let x = V::select(one.ge(x), x, one);
            let level = x.mul(x).mul(three.sub(two.mul(x)));
            let asked = V::splat(giving.amount).mul(V::load(row.shares.as_ptr().add(first))).mul(level);
            let weight = weights.as_mut_ptr().add(first);
            V::load(weight).add(asked).store(weight);
        }
    }
}

/// Moves points by `d = s w A` (or what of that lies along their way), none by more than its cap; the sum of `A . d`.
///
/// # Safety
/// As [`areas`]; `points` have a row for each place of the run, `moves` a block for each batch.
#[inline(always)]
pub(super) unsafe fn step<V: Lanes>(
    job: &StepJob<'_>,
    run: &Run,
    points: &mut [Row],
    moves: &mut [Block],
) -> Sums {
    debug_assert!(points.len() == run.batches.len() * BATCH && moves.len() == run.batches.len());
    let mut lanes = [0f32; BATCH];
    // SAFETY: the caller's promise.
    unsafe {
        let [factor, cap_factor] = [V::splat(job.scales[run.region as usize]), V::splat(job.cap)];
        for first in (0..BATCH).step_by(V::WIDTH) {
            let mut sum = V::splat(0.0);
            for (k, batch) in run.batches.clone().enumerate() {
                let place = batch * BATCH + first;
                let area = load(&job.areas[batch], first);
                let way = match job.away {
                    Some(away) => {
                        let [u, v, w, _] = load_rows::<V>(away.as_flattened().as_ptr().add(4 * place));
                        scale([u, v, w], dot(area, [u, v, w]))
                    }
                    None => area,
                };
                let moved = scale(way, factor.mul(V::load(job.weights.as_ptr().add(place))));
                let square = dot(moved, moved);
                let cap = V::load(job.caps.as_ptr().add(place)).mul(cap_factor);
                let shorter = scale(moved, cap.div(square.sqrt()));
                let within = cap.mul(cap).ge(square);
                let moved = [
                    V::select(within, moved[0], shorter[0]),
                    V::select(within, moved[1], shorter[1]),
                    V::select(within, moved[2], shorter[2]),
                ];
                let to = points.as_flattened_mut().as_mut_ptr().add(4 * (k * BATCH + first));
                let [x, y, z, _] = load_rows::<V>(to);
                let [x, y, z] = add([x, y, z], moved);
                store_rows([x, y, z, V::splat(0.0)], to, 4);
                store(moved, &mut moves[k], first);
                sum = sum.add(dot(area, moved));
            }
            sum.store(lanes.as_mut_ptr().add(first));
        }
    }
    Sums::of(0, &lanes)
}

/// How much each point of a batch takes: the map times `min(1, s/s0)`, `s = sum_j w_j |S_j v - v'|`.
///
/// # Safety
/// As [`areas`]; `weights` are the batch's sixteen, slots are offsets of matrices.
#[inline(always)]
pub(super) unsafe fn weigh<V: Lanes>(job: &WeighJob<'_>, batch: usize, weights: &mut [f32]) {
    debug_assert_eq!(weights.len(), BATCH);
    // SAFETY: the caller's promise.
    unsafe {
        let matrices = job.matrices.as_flattened().as_flattened().as_ptr();
        let (zero, one) = (V::splat(0.0), V::splat(1.0));
        for first in (0..BATCH).step_by(V::WIDTH) {
            let place = batch * BATCH + first;
            let [x, y, z] = load(&job.rest[batch], first);
            let [u, v, w, _] = load_rows::<V>(job.points.as_flattened().as_ptr().add(4 * place));
            let mut apart = zero;
            for r in job.starts[batch] as usize..job.starts[batch + 1] as usize {
                let slots = job.slots.as_ptr().add(r * BATCH + first);
                let slot = job.slot_of_row[r];
                let place = if slot != MIXED {
                    let matrix = matrices.add(slot as usize);
                    [
                        same_number(matrix, [x, y, z]),
                        same_number(matrix.add(4), [x, y, z]),
                        same_number(matrix.add(8), [x, y, z]),
                    ]
                } else {
                    [
                        number(matrices, slots, [x, y, z]),
                        number(matrices.add(4), slots, [x, y, z]),
                        number(matrices.add(8), slots, [x, y, z]),
                    ]
                };
                let off = sub(place, [u, v, w]);
                let share = V::load(job.shares.as_ptr().add(r * BATCH + first));
                apart = apart.add(share.mul(dot(off, off).sqrt()));
            }
            let active = apart.sub(V::splat(job.still)).mul(V::load(job.rates.as_ptr().add(place)));
            let active = V::select(active.ge(zero), active, zero);
            let active = V::select(one.ge(active), active, one);
            V::load(job.gammas.as_ptr().add(place)).mul(active).store(weights.as_mut_ptr().add(first));
        }
    }
}
