//! WASM's 128-bit registers behind [`Lanes`].

use super::Lanes;
use std::arch::wasm32::*;

/// 128 bits.
#[derive(Clone, Copy)]
pub(crate) struct Wasm(v128);

impl Lanes for Wasm {
    const WIDTH: usize = 4;
    type Mask = v128;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        Wasm(f32x4_splat(x))
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller gives four readable numbers.
        unsafe { Wasm(v128_load(from.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller gives room for four numbers.
        unsafe { v128_store(to.cast(), self.0) }
    }
    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        Wasm(f32x4_add(self.0, b.0))
    }
    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        Wasm(f32x4_sub(self.0, b.0))
    }
    #[inline(always)]
    unsafe fn mul(self, b: Self) -> Self {
        Wasm(f32x4_mul(self.0, b.0))
    }
    #[inline(always)]
    unsafe fn div(self, b: Self) -> Self {
        Wasm(f32x4_div(self.0, b.0))
    }
    #[inline(always)]
    unsafe fn max(self, b: Self) -> Self {
        // `pmax(a, b)` is `if a < b { b } else { a }`.
        Wasm(f32x4_pmax(b.0, self.0))
    }
    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        Wasm(f32x4_sqrt(self.0))
    }
    #[inline(always)]
    unsafe fn ge(self, b: Self) -> v128 {
        f32x4_ge(self.0, b.0)
    }
    #[inline(always)]
    unsafe fn select(mask: v128, yes: Self, no: Self) -> Self {
        Wasm(v128_bitselect(yes.0, no.0, mask))
    }
    #[inline(always)]
    unsafe fn turn(self, sign: Self) -> Self {
        Wasm(v128_xor(self.0, v128_and(sign.0, f32x4_splat(-0.0))))
    }
    #[inline(always)]
    unsafe fn load_groups(from: *const f32, _stride: usize) -> Self {
        // SAFETY: the caller's promise, passed on.
        unsafe { Self::load(from) }
    }
    #[inline(always)]
    unsafe fn store_groups(self, to: *mut f32, _stride: usize) {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.store(to) }
    }
    #[inline(always)]
    unsafe fn gather_groups(from: *const f32, offsets: *const u32) -> Self {
        // SAFETY: the caller's promise, passed on.
        unsafe { Self::load(from.add(offsets.read() as usize)) }
    }
    #[inline(always)]
    unsafe fn scatter_groups(self, to: *mut f32, offsets: *const u32) {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.store(to.add(offsets.read() as usize)) }
    }
    #[inline(always)]
    unsafe fn zip_low(a: Self, b: Self) -> Self {
        Wasm(i32x4_shuffle::<0, 4, 1, 5>(a.0, b.0))
    }
    #[inline(always)]
    unsafe fn zip_high(a: Self, b: Self) -> Self {
        Wasm(i32x4_shuffle::<2, 6, 3, 7>(a.0, b.0))
    }
    #[inline(always)]
    unsafe fn pairs_low(a: Self, b: Self) -> Self {
        Wasm(i32x4_shuffle::<0, 1, 4, 5>(a.0, b.0))
    }
    #[inline(always)]
    unsafe fn pairs_high(a: Self, b: Self) -> Self {
        Wasm(i32x4_shuffle::<2, 3, 6, 7>(a.0, b.0))
    }
    #[inline(always)]
    unsafe fn store_xyz(x: Self, y: Self, z: Self, to: *mut f32) {
        let (x, y, z) = (x.0, y.0, z.0);
        let a =
            i32x4_shuffle::<0, 1, 4, 6>(i32x4_shuffle::<0, 4, 1, 5>(x, y), i32x4_shuffle::<0, 0, 5, 5>(z, x));
        let b =
            i32x4_shuffle::<0, 2, 4, 5>(i32x4_shuffle::<1, 1, 5, 5>(y, z), i32x4_shuffle::<2, 6, 3, 7>(x, y));
        let c =
            i32x4_shuffle::<0, 2, 4, 6>(i32x4_shuffle::<2, 2, 7, 7>(z, x), i32x4_shuffle::<3, 3, 7, 7>(y, z));
        // SAFETY: the caller gives room for twelve numbers.
        unsafe {
            v128_store(to.cast(), a);
            v128_store(to.add(4).cast(), b);
            v128_store(to.add(8).cast(), c);
        }
    }
}
