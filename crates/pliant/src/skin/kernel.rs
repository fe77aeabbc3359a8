//! The kernels, written once for every register width. Operation by operation they do what `plain` does.
//!
//! A batch's numbers (a matrix each, or a dual quaternion and a scale) are blended first, one of three ways:
//! - neighbours mostly hang on the same few joints: then each joint is taken for all sixteen vertices, those that do
//!   not hang on it with weight zero;
//! - else each vertex sums the entries of its joints as they lie in memory (one to four registers, no gather), and
//!   sixteen vertices are turned to one register a number;
//! - or, where registers can hold tables (AVX-512) and the joints fit, sixteen vertices look each number up.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use none of it, and only AVX-512 tables")
)]

use super::pack::{BATCH, CHUNK, Kind, Pack, TABLE, Vectors};
use crate::simd::vectors::{add, cross, dot, keep_rest, scale, sub, turned, unit_or, unsigned_zeros};
use crate::simd::{Lanes, Tables, transpose};
use glam::Vec3;

/// Numbers an entry: a matrix's twelve, or a dual quaternion's eight and a scale's six.
pub(super) const NUMBERS: usize = 16;

/// What an influence adds to a vertex's blend, in the order in which the methods below read it.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Entry(pub [f32; NUMBERS]);

/// A table of entries, number by number.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(super) struct EntryTable([[f32; TABLE]; NUMBERS]);

impl EntryTable {
    /// The table of the listed entries.
    pub(super) fn new(list: &[u16], entries: &[Entry]) -> Self {
        let mut table = Self([[0.0; TABLE]; NUMBERS]);
        for (place, &entry) in list.iter().enumerate().take(TABLE) {
            for (number, row) in table.0.iter_mut().enumerate() {
                row[place] = entries[entry as usize].0[number];
            }
        }
        table
    }
}

/// What a step's kernels read.
pub(super) struct Job<'a> {
    pub pack: &'a Pack,
    /// One per slot.
    pub entries: &'a [Entry],
    /// The table of all entries, where they are few enough.
    pub table: Option<&'a EntryTable>,
    /// Rest positions, a batch each.
    pub positions: &'a [Vectors],
    /// Rest normals, a batch each.
    pub normals: &'a [Vectors],
}

/// Skins a chunk. Writes positions, and normals unless that slice is empty.
///
/// # Safety
/// The machine must have the kernel's instructions; the job's parts must belong together, and the outputs be the
/// chunk's.
pub(super) type Kernel = unsafe fn(job: &Job<'_>, chunk: usize, positions: &mut [Vec3], normals: &mut [Vec3]);

/// What is made of a vertex's blended numbers.
pub(super) trait Method {
    /// How many numbers of an entry count.
    const COUNT: usize;
    /// The posed position.
    unsafe fn position<V: Lanes>(m: &[V; NUMBERS], p: [V; 3]) -> [V; 3];
    /// The posed unit normal.
    unsafe fn normal<V: Lanes>(m: &[V; NUMBERS], n: [V; 3]) -> [V; 3];
}

/// Numbers are the rows of a matrix.
pub(super) struct Linear;

/// Numbers are a rotation and its dual part.
pub(super) struct Dual;

/// Numbers are a rotation, its dual part, and a symmetric scale (xx yy zz xy xz yz).
pub(super) struct ScaledDual;

impl Method for Linear {
    const COUNT: usize = 12;

    #[inline(always)]
    unsafe fn position<V: Lanes>(m: &[V; NUMBERS], p: [V; 3]) -> [V; 3] {
        // SAFETY: the caller has the instructions.
        unsafe {
            let x = dot([m[0], m[1], m[2]], p).add(m[3]);
            let y = dot([m[4], m[5], m[6]], p).add(m[7]);
            let z = dot([m[8], m[9], m[10]], p).add(m[11]);
            unsigned_zeros([x, y, z])
        }
    }

    #[inline(always)]
    unsafe fn normal<V: Lanes>(m: &[V; NUMBERS], n: [V; 3]) -> [V; 3] {
        // SAFETY: the caller has the instructions.
        unsafe {
            let (r0, r1, r2) = ([m[0], m[1], m[2]], [m[4], m[5], m[6]], [m[8], m[9], m[10]]);
            let (c0, c1, c2) = (cross(r1, r2), cross(r2, r0), cross(r0, r1));
            let v = turned([dot(c0, n), dot(c1, n), dot(c2, n)], dot(r0, c0));
            unsigned_zeros(unit_or(v, n))
        }
    }
}

impl Method for Dual {
    const COUNT: usize = 8;

    #[inline(always)]
    unsafe fn position<V: Lanes>(m: &[V; NUMBERS], v: [V; 3]) -> [V; 3] {
        let (r, w, d, dw) = ([m[0], m[1], m[2]], m[3], [m[4], m[5], m[6]], m[7]);
        // SAFETY: the caller has the instructions.
        unsafe {
            let inner = add(add(cross(r, v), scale(v, w)), d);
            let moved = sub(add(cross(r, inner), scale(d, w)), scale(r, dw));
            unsigned_zeros(add(v, scale(moved, two_over_square(m))))
        }
    }

    #[inline(always)]
    unsafe fn normal<V: Lanes>(m: &[V; NUMBERS], v: [V; 3]) -> [V; 3] {
        let (r, w) = ([m[0], m[1], m[2]], m[3]);
        // SAFETY: the caller has the instructions.
        unsafe {
            let inner = add(cross(r, v), scale(v, w));
            unsigned_zeros(add(v, scale(cross(r, inner), two_over_square(m))))
        }
    }
}

impl Method for ScaledDual {
    const COUNT: usize = 14;

    #[inline(always)]
    unsafe fn position<V: Lanes>(m: &[V; NUMBERS], p: [V; 3]) -> [V; 3] {
        let [xx, yy, zz, xy, xz, yz] = [m[8], m[9], m[10], m[11], m[12], m[13]];
        // SAFETY: the caller has the instructions.
        unsafe { Dual::position(m, [dot([xx, xy, xz], p), dot([xy, yy, yz], p), dot([xz, yz, zz], p)]) }
    }

    #[inline(always)]
    unsafe fn normal<V: Lanes>(m: &[V; NUMBERS], n: [V; 3]) -> [V; 3] {
        let [xx, yy, zz, xy, xz, yz] = [m[8], m[9], m[10], m[11], m[12], m[13]];
        // SAFETY: the caller has the instructions.
        unsafe {
            let (xz_yz, xy_yz, xy_xz) = (xz.mul(yz), xy.mul(yz), xy.mul(xz));
            let c0 = [yy.mul(zz).sub(yz.mul(yz)), xz_yz.sub(xy.mul(zz)), xy_yz.sub(xz.mul(yy))];
            let c1 = [c0[1], xx.mul(zz).sub(xz.mul(xz)), xy_xz.sub(xx.mul(yz))];
            let c2 = [c0[2], c1[2], xx.mul(yy).sub(xy.mul(xy))];
            let v = turned([dot(c0, n), dot(c1, n), dot(c2, n)], dot([xx, xy, xz], c0));
            Dual::normal(m, unit_or(v, n))
        }
    }
}

#[inline(always)]
unsafe fn two_over_square<V: Lanes>(m: &[V; NUMBERS]) -> V {
    // SAFETY: the caller has the instructions.
    unsafe {
        let square = dot([m[0], m[1], m[2]], [m[0], m[1], m[2]]).add(m[3].mul(m[3]));
        V::splat(2.0).div(square)
    }
}

/// Skins a chunk, of any number of entries.
#[inline(always)]
pub(super) unsafe fn rows<V: Lanes, M: Method>(
    job: &Job<'_>,
    chunk: usize,
    positions: &mut [Vec3],
    normals: &mut [Vec3],
) {
    // SAFETY: the caller's promise, passed on.
    unsafe { skin::<V, M, _>(&Rows(job.entries), job, chunk, positions, normals) }
}

/// Skins a chunk by entries looked up in registers, or by summing rows where it has too many.
#[inline(always)]
pub(super) unsafe fn tabled<V: Tables, M: Method>(
    job: &Job<'_>,
    chunk: usize,
    positions: &mut [Vec3],
    normals: &mut [Vec3],
) {
    const { assert!(V::WIDTH == BATCH) };
    let Kind::Table(list) = &job.pack.kinds[chunk] else {
        // SAFETY: the caller's promise, passed on.
        return unsafe { rows::<V, M>(job, chunk, positions, normals) };
    };
    let own;
    let table = match job.table {
        Some(table) => table,
        None => {
            own = EntryTable::new(list, job.entries);
            &own
        }
    };
    // SAFETY: the caller's promise, passed on.
    unsafe { skin::<V, M, _>(table, job, chunk, positions, normals) }
}

#[inline(always)]
unsafe fn skin<V: Lanes, M: Method, S: Source<V, M>>(
    source: &S,
    job: &Job<'_>,
    chunk: usize,
    positions: &mut [Vec3],
    normals: &mut [Vec3],
) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        if normals.is_empty() {
            skin_with::<V, M, S, false>(source, job, chunk, positions, normals);
        } else {
            skin_with::<V, M, S, true>(source, job, chunk, positions, normals);
        }
    }
}

#[inline(always)]
unsafe fn skin_with<V: Lanes, M: Method, S: Source<V, M>, const NORMALS: bool>(
    source: &S,
    job: &Job<'_>,
    chunk: usize,
    positions: &mut [Vec3],
    normals: &mut [Vec3],
) {
    let mut scratch = Scratch { numbers: [[0.0; BATCH]; NUMBERS], sums: [Entry([0.0; NUMBERS]); BATCH] };
    // A last batch that is short goes by way of these.
    let (mut last_positions, mut last_normals) = ([Vec3::ZERO; BATCH], [Vec3::ZERO; BATCH]);
    let first = chunk * (CHUNK / BATCH);
    for index in 0..positions.len().div_ceil(BATCH) {
        let (at, batch) = (index * BATCH, &job.pack.batches[first + index]);
        let count = batch.count as usize;
        let slots = job.pack.slots[batch.slots as usize..].as_ptr();
        let shares = job.pack.shares[batch.shares as usize..].as_ptr().cast::<f32>();
        let full = at + BATCH <= positions.len();
        let to = if full { positions[at..].as_mut_ptr() } else { last_positions.as_mut_ptr() }.cast::<f32>();
        let normals_to = match NORMALS && full {
            true => normals[at..at + BATCH].as_mut_ptr(),
            false => last_normals.as_mut_ptr(),
        };
        // SAFETY: by the making of the pack, slots and shares are as many as the batch says, and slots name entries;
        // both outputs have room for a batch.
        unsafe {
            // The usual counts spelled out, for loops without branches.
            if batch.shared {
                let entries = job.entries.as_ptr();
                match count {
                    1 => share::<V, M>(1, entries, slots, shares, &mut scratch),
                    2 => share::<V, M>(2, entries, slots, shares, &mut scratch),
                    3 => share::<V, M>(3, entries, slots, shares, &mut scratch),
                    4 => share::<V, M>(4, entries, slots, shares, &mut scratch),
                    5 => share::<V, M>(5, entries, slots, shares, &mut scratch),
                    6 => share::<V, M>(6, entries, slots, shares, &mut scratch),
                    n => share::<V, M>(n, entries, slots, shares, &mut scratch),
                }
            } else {
                match count {
                    2 => source.blend(2, slots, shares, &mut scratch),
                    3 => source.blend(3, slots, shares, &mut scratch),
                    4 => source.blend(4, slots, shares, &mut scratch),
                    n => source.blend(n, slots, shares, &mut scratch),
                }
            }
            for lane in (0..BATCH).step_by(V::WIDTH) {
                let mut m = [V::splat(0.0); NUMBERS];
                for number in 0..M::COUNT {
                    m[number] = V::load(scratch.numbers[number].as_ptr().add(lane));
                }
                let p = load_vectors::<V>(&job.positions[first + index], lane);
                let [x, y, z] = M::position(&m, p);
                V::store_xyz(x, y, z, to.add(3 * lane));
                if NORMALS {
                    let n = load_vectors::<V>(&job.normals[first + index], lane);
                    let [x, y, z] = M::normal(&m, n);
                    V::store_xyz(x, y, z, normals_to.cast::<f32>().add(3 * lane));
                }
            }
        }
    }
    keep_rest(positions, &last_positions);
    if NORMALS {
        keep_rest(normals, &last_normals);
    }
}

#[inline(always)]
unsafe fn load_vectors<V: Lanes>(vectors: &Vectors, lane: usize) -> [V; 3] {
    let [x, y, z] = &vectors.0;
    // SAFETY: `lane` is a multiple of the width below sixteen.
    unsafe { [V::load(x.as_ptr().add(lane)), V::load(y.as_ptr().add(lane)), V::load(z.as_ptr().add(lane))] }
}

/// A batch on its way.
#[repr(C, align(64))]
struct Scratch {
    /// Blended, number by number.
    numbers: [[f32; BATCH]; NUMBERS],
    /// Blended, vertex by vertex.
    sums: [Entry; BATCH],
}

/// Blends entries that all sixteen vertices share: `count` slots, and as many rows of shares.
#[inline(always)]
unsafe fn share<V: Lanes, M: Method>(
    count: usize,
    entries: *const Entry,
    slots: *const u16,
    shares: *const f32,
    scratch: &mut Scratch,
) {
    // Four numbers of two registers of vertices at a time fill half of sixteen registers: no spills, and enough sums
    // under way to hide an addition's latency.
    let step = if 2 * V::WIDTH <= BATCH { 2 * V::WIDTH } else { V::WIDTH };
    for lane in (0..BATCH).step_by(step) {
        for row in (0..M::COUNT).step_by(4) {
            // SAFETY: slots name entries; rows of shares are sixteen long.
            unsafe {
                let mut low = [V::splat(0.0); 4];
                let mut high = [V::splat(0.0); 4];
                for k in 0..count {
                    let entry = entries.add(usize::from(slots.add(k).read())).cast::<f32>().add(row);
                    let share = V::load(shares.add(k * BATCH + lane));
                    let share_high = V::load(shares.add(k * BATCH + lane + step - V::WIDTH));
                    for n in 0..4 {
                        if row + n < M::COUNT {
                            let number = V::splat(entry.add(n).read());
                            let (part, part_high) = (share.mul(number), share_high.mul(number));
                            low[n] = if k == 0 { part } else { low[n].add(part) };
                            if step > V::WIDTH {
                                high[n] = if k == 0 { part_high } else { high[n].add(part_high) };
                            }
                        }
                    }
                }
                for n in 0..4 {
                    if row + n < M::COUNT {
                        let to = scratch.numbers[row + n].as_mut_ptr().add(lane);
                        low[n].store(to);
                        if step > V::WIDTH {
                            high[n].store(to.add(V::WIDTH));
                        }
                    }
                }
            }
        }
    }
}

/// Where the numbers of batches that share no slots come from.
trait Source<V: Lanes, M: Method> {
    /// Blends a batch: `slots` and `shares` hold `count` rows of sixteen.
    unsafe fn blend(&self, count: usize, slots: *const u16, shares: *const f32, scratch: &mut Scratch);
}

/// Entries summed as they lie, vertex by vertex.
struct Rows<'a>(&'a [Entry]);

impl<V: Lanes, M: Method> Source<V, M> for Rows<'_> {
    #[inline(always)]
    unsafe fn blend(&self, count: usize, slots: *const u16, shares: *const f32, scratch: &mut Scratch) {
        let entries = self.0.as_ptr();
        let registers = M::COUNT.div_ceil(V::WIDTH);
        let Scratch { numbers, sums } = scratch;
        for lane in 0..BATCH {
            // SAFETY: slots name entries; an entry is a whole number of registers.
            unsafe {
                let entry = entries.add(usize::from(slots.add(lane).read())).cast::<f32>();
                let share = V::splat(shares.add(lane).read());
                let mut total = [share; 4];
                for r in 0..registers {
                    total[r] = share.mul(V::load(entry.add(r * V::WIDTH)));
                }
                for k in 1..count {
                    let entry = entries.add(usize::from(slots.add(k * BATCH + lane).read())).cast::<f32>();
                    let share = V::splat(shares.add(k * BATCH + lane).read());
                    for r in 0..registers {
                        total[r] = total[r].add(share.mul(V::load(entry.add(r * V::WIDTH))));
                    }
                }
                for r in 0..registers {
                    total[r].store(sums[lane].0.as_mut_ptr().add(r * V::WIDTH));
                }
            }
        }
        for lane in (0..BATCH).step_by(V::WIDTH) {
            for row in (0..M::COUNT).step_by(4) {
                // SAFETY: `WIDTH` sums from `lane` on; lane `4 g + k` is number `k` of group `g`.
                unsafe {
                    let at = sums.as_ptr().add(lane).cast::<f32>().add(row);
                    let columns = transpose(
                        V::load_groups(at, 4 * NUMBERS),
                        V::load_groups(at.add(NUMBERS), 4 * NUMBERS),
                        V::load_groups(at.add(2 * NUMBERS), 4 * NUMBERS),
                        V::load_groups(at.add(3 * NUMBERS), 4 * NUMBERS),
                    );
                    for n in 0..4 {
                        columns[n].store(numbers[row + n].as_mut_ptr().add(lane));
                    }
                }
            }
        }
    }
}

impl<V: Tables, M: Method> Source<V, M> for EntryTable {
    #[inline(always)]
    unsafe fn blend(&self, count: usize, slots: *const u16, shares: *const f32, scratch: &mut Scratch) {
        for number in 0..M::COUNT {
            // SAFETY: a row of the table is two registers.
            unsafe {
                let low = V::load(self.0[number].as_ptr());
                let high = V::load(self.0[number].as_ptr().add(V::WIDTH));
                let mut total = V::lookup(low, V::load_index(slots), high).mul(V::load(shares));
                for k in 1..count {
                    let found = V::lookup(low, V::load_index(slots.add(k * BATCH)), high);
                    total = total.add(V::load(shares.add(k * BATCH)).mul(found));
                }
                total.store(scratch.numbers[number].as_mut_ptr());
            }
        }
    }
}
