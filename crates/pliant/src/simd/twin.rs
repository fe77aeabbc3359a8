//! Two registers as one.

use super::Lanes;

/// Every operation on one register, then on the other: while one waits for a quotient the other goes on. Worth it where
/// a kernel is one long chain; with few registers to keep things in, it is not.
#[derive(Clone, Copy)]
pub(crate) struct Twin<V>(V, V);

macro_rules! halves {
    ($($name:ident($($arg:ident),+);)*) => {
        $(#[inline(always)]
        unsafe fn $name($($arg: Self),+) -> Self {
            // SAFETY: the caller has the instruction set.
            unsafe { Twin(V::$name($($arg.0),+), V::$name($($arg.1),+)) }
        })*
    };
}

impl<V: Lanes> Lanes for Twin<V> {
    const WIDTH: usize = 2 * V::WIDTH;
    type Mask = (V::Mask, V::Mask);

    halves! {
        zip_low(a, b);
        zip_high(a, b);
        pairs_low(a, b);
        pairs_high(a, b);
        add(self, b);
        sub(self, b);
        mul(self, b);
        div(self, b);
        max(self, b);
        sqrt(self);
        turn(self, sign);
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: as above.
        unsafe { Twin(V::splat(x), V::splat(x)) }
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller gives as many readable numbers as both have.
        unsafe { Twin(V::load(from), V::load(from.add(V::WIDTH))) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller gives room for both.
        unsafe {
            self.0.store(to);
            self.1.store(to.add(V::WIDTH));
        }
    }
    #[inline(always)]
    unsafe fn ge(self, b: Self) -> Self::Mask {
        // SAFETY: as above.
        unsafe { (self.0.ge(b.0), self.1.ge(b.1)) }
    }
    #[inline(always)]
    unsafe fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        // SAFETY: as above.
        unsafe { Twin(V::select(mask.0, yes.0, no.0), V::select(mask.1, yes.1, no.1)) }
    }
    #[inline(always)]
    unsafe fn load_groups(from: *const f32, stride: usize) -> Self {
        // SAFETY: the caller gives four readable numbers per group of either.
        unsafe { Twin(V::load_groups(from, stride), V::load_groups(from.add(V::WIDTH / 4 * stride), stride)) }
    }
    #[inline(always)]
    unsafe fn store_groups(self, to: *mut f32, stride: usize) {
        // SAFETY: the caller gives room for four numbers per group of either.
        unsafe {
            self.0.store_groups(to, stride);
            self.1.store_groups(to.add(V::WIDTH / 4 * stride), stride);
        }
    }
    #[inline(always)]
    unsafe fn gather_groups(from: *const f32, offsets: *const u32) -> Self {
        // SAFETY: the caller gives an offset per group of either, and four readable numbers there.
        unsafe { Twin(V::gather_groups(from, offsets), V::gather_groups(from, offsets.add(V::WIDTH))) }
    }
    #[inline(always)]
    unsafe fn scatter_groups(self, to: *mut f32, offsets: *const u32) {
        // SAFETY: the caller gives an offset per group of either, and room for four numbers there.
        unsafe {
            self.0.scatter_groups(to, offsets);
            self.1.scatter_groups(to, offsets.add(V::WIDTH));
        }
    }
    #[inline(always)]
    unsafe fn store_xyz(x: Self, y: Self, z: Self, to: *mut f32) {
        // SAFETY: the caller gives room for three numbers per lane of either.
        unsafe {
            V::store_xyz(x.0, y.0, z.0, to);
            V::store_xyz(x.1, y.1, z.1, to.add(3 * V::WIDTH));
        }
    }
}
