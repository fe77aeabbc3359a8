//! What a kernel may do with a register, the same on every instruction set.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use none of it, and only AVX-512 tables")
)]

/// A register of `WIDTH` f32 numbers. Kernels are written once against this; each instruction set adds thin wrappers,
/// and [`super::Emulated`] stands in where the machine has not got it. Arithmetic is IEEE, each operation rounded on
/// its own, so the width of a register never shows in the result.
///
/// # Safety
/// Methods may be called only where the instruction set is enabled: from a function that carries its
/// `target_feature`, into which everything here is inlined. Pointers must be good for the whole access; none need be
/// aligned.
pub(crate) trait Lanes: Copy {
    /// How many numbers.
    const WIDTH: usize;
    /// The result of a comparison.
    type Mask: Copy;

    /// `x` in every lane.
    unsafe fn splat(x: f32) -> Self;
    /// `WIDTH` numbers in a row.
    unsafe fn load(from: *const f32) -> Self;
    /// The reverse.
    unsafe fn store(self, to: *mut f32);
    /// `self + b`
    unsafe fn add(self, b: Self) -> Self;
    /// `self - b`
    unsafe fn sub(self, b: Self) -> Self;
    /// `self * b`
    unsafe fn mul(self, b: Self) -> Self;
    /// `self / b`
    unsafe fn div(self, b: Self) -> Self;
    /// The larger of both; `b` where they are equal or one is NaN.
    unsafe fn max(self, b: Self) -> Self;
    /// Square root, correctly rounded.
    unsafe fn sqrt(self) -> Self;
    /// `self >= b`: false for NaN.
    unsafe fn ge(self, b: Self) -> Self::Mask;
    /// `yes` where the mask holds, else `no`.
    unsafe fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// `self` with its sign turned where `sign` is negative.
    unsafe fn turn(self, sign: Self) -> Self;

    /// Group `g` of four lanes from `from + g * stride`.
    unsafe fn load_groups(from: *const f32, stride: usize) -> Self;
    /// The reverse.
    unsafe fn store_groups(self, to: *mut f32, stride: usize);
    /// Group `g` of four lanes from `from + offsets[4 g]`.
    unsafe fn gather_groups(from: *const f32, offsets: *const u32) -> Self;
    /// Group `g` of four lanes to `to + offsets[4 g]`.
    unsafe fn scatter_groups(self, to: *mut f32, offsets: *const u32);
    /// In each group of four: `a0 b0 a1 b1`.
    unsafe fn zip_low(a: Self, b: Self) -> Self;
    /// In each group of four: `a2 b2 a3 b3`.
    unsafe fn zip_high(a: Self, b: Self) -> Self;
    /// In each group of four: `a0 a1 b0 b1`.
    unsafe fn pairs_low(a: Self, b: Self) -> Self;
    /// In each group of four: `a2 a3 b2 b3`.
    unsafe fn pairs_high(a: Self, b: Self) -> Self;
    /// `x0 y0 z0 x1 y1 z1 ...`: `3 * WIDTH` numbers.
    unsafe fn store_xyz(x: Self, y: Self, z: Self, to: *mut f32);
}

/// Registers that can look numbers up in a table held in two of them: the `vpermt2ps` of AVX-512.
///
/// # Safety
/// As for [`Lanes`].
pub(crate) trait Tables: Lanes {
    /// One index per lane.
    type Index: Copy;

    /// `WIDTH` indices in a row.
    unsafe fn load_index(from: *const u16) -> Self::Index;
    /// Lane by lane, the number at `index` in `low` followed by `high`.
    unsafe fn lookup(low: Self, index: Self::Index, high: Self) -> Self;
}

/// Rows of four numbers from `from + offsets[lane]`, one per lane, as four columns. By whole rows: gathering number by
/// number takes twice the time.
#[inline(always)]
pub(crate) unsafe fn gather_rows<V: Lanes>(from: *const f32, offsets: *const u32) -> [V; 4] {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        transpose(
            V::gather_groups(from, offsets),
            V::gather_groups(from, offsets.add(1)),
            V::gather_groups(from, offsets.add(2)),
            V::gather_groups(from, offsets.add(3)),
        )
    }
}

/// Four columns to rows of four numbers at `to + lane * stride`.
#[inline(always)]
pub(crate) unsafe fn store_rows<V: Lanes>([a, b, c, d]: [V; 4], to: *mut f32, stride: usize) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let rows = transpose(a, b, c, d);
        for k in 0..4 {
            rows[k].store_groups(to.add(k * stride), 4 * stride);
        }
    }
}

/// Four columns to rows of four numbers at `to + offsets[lane]`: the reverse of [`gather_rows`].
#[inline(always)]
pub(crate) unsafe fn scatter_rows<V: Lanes>([a, b, c, d]: [V; 4], to: *mut f32, offsets: *const u32) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let rows = transpose(a, b, c, d);
        for k in 0..4 {
            rows[k].scatter_groups(to, offsets.add(k));
        }
    }
}

/// Rows of four numbers one after another, one per lane, as four columns: the reverse of [`store_rows`] at stride 4.
#[inline(always)]
pub(crate) unsafe fn load_rows<V: Lanes>(from: *const f32) -> [V; 4] {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        transpose(
            V::load_groups(from, 16),
            V::load_groups(from.add(4), 16),
            V::load_groups(from.add(8), 16),
            V::load_groups(from.add(12), 16),
        )
    }
}

/// Four registers of rows to four of columns, in each group of four lanes.
#[inline(always)]
pub(crate) unsafe fn transpose<V: Lanes>(a: V, b: V, c: V, d: V) -> [V; 4] {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        let (ab, cd) = (V::zip_low(a, b), V::zip_low(c, d));
        let (ab2, cd2) = (V::zip_high(a, b), V::zip_high(c, d));
        [V::pairs_low(ab, cd), V::pairs_high(ab, cd), V::pairs_low(ab2, cd2), V::pairs_high(ab2, cd2)]
    }
}
