//! Registers of any width in plain Rust, so that the wide algorithms are tested on machines without the instructions.

use super::{Lanes, Tables};

/// `N` numbers; `N` a multiple of four.
#[derive(Clone, Copy)]
pub(crate) struct Emulated<const N: usize>([f32; N]);

impl<const N: usize> Emulated<N> {
    fn with(f: impl Fn(usize) -> f32) -> Self {
        let mut lanes = [0.0; N];
        lanes.iter_mut().enumerate().for_each(|(i, lane)| *lane = f(i));
        Self(lanes)
    }

    /// In each group of four, lane `k` is lane `pick[k].1` of `a` (0) or `b` (1).
    fn shuffle(a: Self, b: Self, pick: [(usize, usize); 4]) -> Self {
        Self::with(|i| {
            let (source, lane) = pick[i % 4];
            [a, b][source].0[i / 4 * 4 + lane]
        })
    }
}

impl<const N: usize> Lanes for Emulated<N> {
    const WIDTH: usize = N;
    type Mask = [bool; N];

    unsafe fn splat(x: f32) -> Self {
        Self([x; N])
    }
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller gives `N` readable numbers.
        Self::with(|i| unsafe { from.add(i).read() })
    }
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller gives room for `N` numbers.
        self.0.iter().enumerate().for_each(|(i, &x)| unsafe { to.add(i).write(x) });
    }
    unsafe fn add(self, b: Self) -> Self {
        Self::with(|i| self.0[i] + b.0[i])
    }
    unsafe fn sub(self, b: Self) -> Self {
        Self::with(|i| self.0[i] - b.0[i])
    }
    unsafe fn mul(self, b: Self) -> Self {
        Self::with(|i| self.0[i] * b.0[i])
    }
    unsafe fn div(self, b: Self) -> Self {
        Self::with(|i| self.0[i] / b.0[i])
    }
    unsafe fn max(self, b: Self) -> Self {
        Self::with(|i| if self.0[i] > b.0[i] { self.0[i] } else { b.0[i] })
    }
    unsafe fn sqrt(self) -> Self {
        Self::with(|i| self.0[i].sqrt())
    }
    unsafe fn ge(self, b: Self) -> [bool; N] {
        let mut mask = [false; N];
        mask.iter_mut().enumerate().for_each(|(i, m)| *m = self.0[i] >= b.0[i]);
        mask
    }
    unsafe fn select(mask: [bool; N], yes: Self, no: Self) -> Self {
        Self::with(|i| if mask[i] { yes.0[i] } else { no.0[i] })
    }
    unsafe fn turn(self, sign: Self) -> Self {
        Self::with(|i| f32::from_bits(self.0[i].to_bits() ^ (sign.0[i].to_bits() & 0x8000_0000)))
    }
    unsafe fn load_groups(from: *const f32, stride: usize) -> Self {
        // SAFETY: the caller gives four readable numbers per group.
        Self::with(|i| unsafe { from.add(i / 4 * stride + i % 4).read() })
    }
    unsafe fn store_groups(self, to: *mut f32, stride: usize) {
        for (i, &x) in self.0.iter().enumerate() {
            // SAFETY: the caller gives room for four numbers per group.
            unsafe { to.add(i / 4 * stride + i % 4).write(x) };
        }
    }
    unsafe fn gather_groups(from: *const f32, offsets: *const u32) -> Self {
        // SAFETY: the caller gives an offset per group, and four readable numbers there.
        Self::with(|i| unsafe { from.add(offsets.add(i / 4 * 4).read() as usize + i % 4).read() })
    }
    unsafe fn scatter_groups(self, to: *mut f32, offsets: *const u32) {
        for (i, &x) in self.0.iter().enumerate() {
            // SAFETY: the caller gives an offset per group, and room for four numbers there.
            unsafe { to.add(offsets.add(i / 4 * 4).read() as usize + i % 4).write(x) };
        }
    }
    unsafe fn zip_low(a: Self, b: Self) -> Self {
        Self::shuffle(a, b, [(0, 0), (1, 0), (0, 1), (1, 1)])
    }
    unsafe fn zip_high(a: Self, b: Self) -> Self {
        Self::shuffle(a, b, [(0, 2), (1, 2), (0, 3), (1, 3)])
    }
    unsafe fn pairs_low(a: Self, b: Self) -> Self {
        Self::shuffle(a, b, [(0, 0), (0, 1), (1, 0), (1, 1)])
    }
    unsafe fn pairs_high(a: Self, b: Self) -> Self {
        Self::shuffle(a, b, [(0, 2), (0, 3), (1, 2), (1, 3)])
    }
    unsafe fn store_xyz(x: Self, y: Self, z: Self, to: *mut f32) {
        for i in 0..N {
            for (c, v) in [x, y, z].iter().enumerate() {
                // SAFETY: the caller gives room for `3 N` numbers.
                unsafe { to.add(3 * i + c).write(v.0[i]) };
            }
        }
    }
}

impl<const N: usize> Tables for Emulated<N> {
    type Index = [u16; N];

    unsafe fn load_index(from: *const u16) -> [u16; N] {
        let mut index = [0; N];
        // SAFETY: the caller gives `N` readable indices.
        index.iter_mut().enumerate().for_each(|(i, x)| *x = unsafe { from.add(i).read() });
        index
    }
    unsafe fn lookup(low: Self, index: [u16; N], high: Self) -> Self {
        // As the instruction does: one bit picks the register, the bits below it the lane.
        Self::with(|i| {
            let at = usize::from(index[i]);
            [low, high][at / N % 2].0[at % N]
        })
    }
}
