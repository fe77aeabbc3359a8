//! SSE2, AVX and AVX-512F behind [`Lanes`]: one intrinsic a method wherever there is one.

use super::{Lanes, Tables};
use std::arch::x86_64::*;

/// 128 bits, what every x86-64 has.
#[derive(Clone, Copy)]
pub(crate) struct Sse(__m128);

/// 256 bits.
#[derive(Clone, Copy)]
pub(crate) struct Avx(__m256);

/// 512 bits.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(__m512);

/// The wrappers that differ in the intrinsic's name alone.
macro_rules! wrappers {
    ($own:ident: $($name:ident($($arg:ident),+) = $intrinsic:path;)*) => {
        $(#[inline(always)]
        unsafe fn $name($($arg: Self),+) -> Self {
            // SAFETY: the caller has the instruction set.
            unsafe { $own($intrinsic($($arg.0),+)) }
        })*
    };
}

impl Lanes for Sse {
    const WIDTH: usize = 4;
    type Mask = __m128;

    wrappers! { Sse:
        zip_low(a, b) = _mm_unpacklo_ps;
        zip_high(a, b) = _mm_unpackhi_ps;
        pairs_low(a, b) = _mm_movelh_ps;
        add(self, b) = _mm_add_ps;
        sub(self, b) = _mm_sub_ps;
        mul(self, b) = _mm_mul_ps;
        div(self, b) = _mm_div_ps;
        max(self, b) = _mm_max_ps;
        sqrt(self) = _mm_sqrt_ps;
    }
    #[inline(always)]
    unsafe fn pairs_high(a: Self, b: Self) -> Self {
        // SAFETY: as above.
        unsafe { Sse(_mm_movehl_ps(b.0, a.0)) }
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: as above.
        unsafe { Sse(_mm_set1_ps(x)) }
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller gives four readable numbers.
        unsafe { Sse(_mm_loadu_ps(from)) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller gives room for four numbers.
        unsafe { _mm_storeu_ps(to, self.0) }
    }
    #[inline(always)]
    unsafe fn ge(self, b: Self) -> __m128 {
        // SAFETY: as above.
        unsafe { _mm_cmpge_ps(self.0, b.0) }
    }
    #[inline(always)]
    unsafe fn select(mask: __m128, yes: Self, no: Self) -> Self {
        // SAFETY: as above.
        unsafe { Sse(_mm_or_ps(_mm_and_ps(mask, yes.0), _mm_andnot_ps(mask, no.0))) }
    }
    #[inline(always)]
    unsafe fn turn(self, sign: Self) -> Self {
        // SAFETY: as above.
        unsafe { Sse(_mm_xor_ps(self.0, _mm_and_ps(sign.0, _mm_set1_ps(-0.0)))) }
    }
    #[inline(always)]
    unsafe fn load_groups(from: *const f32, _stride: usize) -> Self {
        // SAFETY: as above.
        unsafe { Self::load(from) }
    }
    #[inline(always)]
    unsafe fn store_groups(self, to: *mut f32, _stride: usize) {
        // SAFETY: as above.
        unsafe { self.store(to) }
    }
    #[inline(always)]
    unsafe fn gather_groups(from: *const f32, offsets: *const u32) -> Self {
        // SAFETY: the caller gives an offset, and four readable numbers there.
        unsafe { Self::load(from.add(offsets.read() as usize)) }
    }
    #[inline(always)]
    unsafe fn scatter_groups(self, to: *mut f32, offsets: *const u32) {
        // SAFETY: the caller gives an offset, and room for four numbers there.
        unsafe { self.store(to.add(offsets.read() as usize)) }
    }
    #[inline(always)]
    unsafe fn store_xyz(x: Self, y: Self, z: Self, to: *mut f32) {
        let (x, y, z) = (x.0, y.0, z.0);
        // SAFETY: the caller gives room for twelve numbers.
        unsafe {
            // Immediates read from the right: 0b10_00_01_00 is lanes 0 and 1 of the first, 0 and 2 of the second.
            let a =
                _mm_shuffle_ps::<0b10_00_01_00>(_mm_unpacklo_ps(x, y), _mm_shuffle_ps::<0b01_01_00_00>(z, x));
            let b =
                _mm_shuffle_ps::<0b01_00_10_00>(_mm_shuffle_ps::<0b01_01_01_01>(y, z), _mm_unpackhi_ps(x, y));
            let c = _mm_shuffle_ps::<0b10_00_10_00>(
                _mm_shuffle_ps::<0b11_11_10_10>(z, x),
                _mm_shuffle_ps::<0b11_11_11_11>(y, z),
            );
            _mm_storeu_ps(to, a);
            _mm_storeu_ps(to.add(4), b);
            _mm_storeu_ps(to.add(8), c);
        }
    }
}

impl Lanes for Avx {
    const WIDTH: usize = 8;
    type Mask = __m256;

    wrappers! { Avx:
        zip_low(a, b) = _mm256_unpacklo_ps;
        zip_high(a, b) = _mm256_unpackhi_ps;
        pairs_low(a, b) = _mm256_shuffle_ps::<0b01_00_01_00>;
        pairs_high(a, b) = _mm256_shuffle_ps::<0b11_10_11_10>;
        add(self, b) = _mm256_add_ps;
        sub(self, b) = _mm256_sub_ps;
        mul(self, b) = _mm256_mul_ps;
        div(self, b) = _mm256_div_ps;
        max(self, b) = _mm256_max_ps;
        sqrt(self) = _mm256_sqrt_ps;
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: as above.
        unsafe { Avx(_mm256_set1_ps(x)) }
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller gives eight readable numbers.
        unsafe { Avx(_mm256_loadu_ps(from)) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller gives room for eight numbers.
        unsafe { _mm256_storeu_ps(to, self.0) }
    }
    #[inline(always)]
    unsafe fn ge(self, b: Self) -> __m256 {
        // SAFETY: as above.
        unsafe { _mm256_cmp_ps::<_CMP_GE_OQ>(self.0, b.0) }
    }
    #[inline(always)]
    unsafe fn select(mask: __m256, yes: Self, no: Self) -> Self {
        // SAFETY: as above.
        unsafe { Avx(_mm256_blendv_ps(no.0, yes.0, mask)) }
    }
    #[inline(always)]
    unsafe fn turn(self, sign: Self) -> Self {
        // SAFETY: as above.
        unsafe { Avx(_mm256_xor_ps(self.0, _mm256_and_ps(sign.0, _mm256_set1_ps(-0.0)))) }
    }
    #[inline(always)]
    unsafe fn load_groups(from: *const f32, stride: usize) -> Self {
        // SAFETY: the caller gives four readable numbers per group.
        unsafe {
            let low = _mm256_castps128_ps256(_mm_loadu_ps(from));
            Avx(_mm256_insertf128_ps::<1>(low, _mm_loadu_ps(from.add(stride))))
        }
    }
    #[inline(always)]
    unsafe fn store_groups(self, to: *mut f32, stride: usize) {
        // SAFETY: the caller gives room for four numbers per group.
        unsafe {
            _mm_storeu_ps(to, _mm256_castps256_ps128(self.0));
            _mm_storeu_ps(to.add(stride), _mm256_extractf128_ps::<1>(self.0));
        }
    }
    #[inline(always)]
    unsafe fn gather_groups(from: *const f32, offsets: *const u32) -> Self {
        // SAFETY: the caller gives an offset per group, and four readable numbers there.
        unsafe {
            let low = _mm256_castps128_ps256(_mm_loadu_ps(from.add(offsets.read() as usize)));
            let high = _mm_loadu_ps(from.add(offsets.add(4).read() as usize));
            Avx(_mm256_insertf128_ps::<1>(low, high))
        }
    }
    #[inline(always)]
    unsafe fn scatter_groups(self, to: *mut f32, offsets: *const u32) {
        // SAFETY: the caller gives an offset per group, and room for four numbers there.
        unsafe {
            _mm_storeu_ps(to.add(offsets.read() as usize), _mm256_castps256_ps128(self.0));
            _mm_storeu_ps(to.add(offsets.add(4).read() as usize), _mm256_extractf128_ps::<1>(self.0));
        }
    }
    #[inline(always)]
    unsafe fn store_xyz(x: Self, y: Self, z: Self, to: *mut f32) {
        let (x, y, z) = (x.0, y.0, z.0);
        // SAFETY: the caller gives room for 24 numbers.
        unsafe {
            // As for `Sse` in either half, then the halves in order.
            let a = _mm256_shuffle_ps::<0b10_00_01_00>(
                _mm256_unpacklo_ps(x, y),
                _mm256_shuffle_ps::<0b01_01_00_00>(z, x),
            );
            let b = _mm256_shuffle_ps::<0b01_00_10_00>(
                _mm256_shuffle_ps::<0b01_01_01_01>(y, z),
                _mm256_unpackhi_ps(x, y),
            );
            let c = _mm256_shuffle_ps::<0b10_00_10_00>(
                _mm256_shuffle_ps::<0b11_11_10_10>(z, x),
                _mm256_shuffle_ps::<0b11_11_11_11>(y, z),
            );
            _mm256_storeu_ps(to, _mm256_permute2f128_ps::<0x20>(a, b));
            _mm256_storeu_ps(to.add(8), _mm256_permute2f128_ps::<0x30>(c, a));
            _mm256_storeu_ps(to.add(16), _mm256_permute2f128_ps::<0x31>(b, c));
        }
    }
}

/// A mask that the compiler does not know. It makes an insertion, which goes through the one shuffling unit, of a masked
/// load whose mask it knows; the load needs no unit at all.
#[inline(always)]
fn unknown(mask: __mmask16) -> __mmask16 {
    let mut out = u32::from(mask);
    // SAFETY: a comment, no instruction.
    unsafe { std::arch::asm!("/* {0:e} */", inout(reg) out, options(pure, nomem, nostack, preserves_flags)) };
    out as __mmask16
}

impl Lanes for Avx512 {
    const WIDTH: usize = 16;
    type Mask = __mmask16;

    wrappers! { Avx512:
        zip_low(a, b) = _mm512_unpacklo_ps;
        zip_high(a, b) = _mm512_unpackhi_ps;
        pairs_low(a, b) = _mm512_shuffle_ps::<0b01_00_01_00>;
        pairs_high(a, b) = _mm512_shuffle_ps::<0b11_10_11_10>;
        add(self, b) = _mm512_add_ps;
        sub(self, b) = _mm512_sub_ps;
        mul(self, b) = _mm512_mul_ps;
        div(self, b) = _mm512_div_ps;
        max(self, b) = _mm512_max_ps;
        sqrt(self) = _mm512_sqrt_ps;
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: as above.
        unsafe { Avx512(_mm512_set1_ps(x)) }
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller gives sixteen readable numbers.
        unsafe { Avx512(_mm512_loadu_ps(from)) }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller gives room for sixteen numbers.
        unsafe { _mm512_storeu_ps(to, self.0) }
    }
    #[inline(always)]
    unsafe fn ge(self, b: Self) -> __mmask16 {
        // SAFETY: as above.
        unsafe { _mm512_cmp_ps_mask::<_CMP_GE_OQ>(self.0, b.0) }
    }
    #[inline(always)]
    unsafe fn select(mask: __mmask16, yes: Self, no: Self) -> Self {
        // SAFETY: as above.
        unsafe { Avx512(_mm512_mask_blend_ps(mask, no.0, yes.0)) }
    }
    #[inline(always)]
    unsafe fn turn(self, sign: Self) -> Self {
        // SAFETY: as above. Integer logic: the float form needs AVX-512DQ.
        unsafe {
            let sign = _mm512_and_si512(_mm512_castps_si512(sign.0), _mm512_set1_epi32(i32::MIN));
            Avx512(_mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(self.0), sign)))
        }
    }
    #[inline(always)]
    unsafe fn load_groups(from: *const f32, stride: usize) -> Self {
        // SAFETY: the caller gives four readable numbers per group.
        unsafe {
            let a = _mm512_castps128_ps512(_mm_loadu_ps(from));
            let b = _mm512_insertf32x4::<1>(a, _mm_loadu_ps(from.add(stride)));
            let c = _mm512_insertf32x4::<2>(b, _mm_loadu_ps(from.add(2 * stride)));
            Avx512(_mm512_insertf32x4::<3>(c, _mm_loadu_ps(from.add(3 * stride))))
        }
    }
    #[inline(always)]
    unsafe fn store_groups(self, to: *mut f32, stride: usize) {
        // SAFETY: the caller gives room for four numbers per group.
        unsafe {
            _mm_storeu_ps(to, _mm512_castps512_ps128(self.0));
            _mm_storeu_ps(to.add(stride), _mm512_extractf32x4_ps::<1>(self.0));
            _mm_storeu_ps(to.add(2 * stride), _mm512_extractf32x4_ps::<2>(self.0));
            _mm_storeu_ps(to.add(3 * stride), _mm512_extractf32x4_ps::<3>(self.0));
        }
    }
    #[inline(always)]
    unsafe fn gather_groups(from: *const f32, offsets: *const u32) -> Self {
        // SAFETY: the caller gives an offset per group, and four readable numbers there.
        unsafe {
            let [k1, k2, k3] = [unknown(0x00f0), unknown(0x0f00), unknown(0xf000)];
            let a = _mm512_castps128_ps512(_mm_loadu_ps(from.add(offsets.read() as usize)));
            let b =
                _mm512_mask_broadcast_f32x4(a, k1, _mm_loadu_ps(from.add(offsets.add(4).read() as usize)));
            let c =
                _mm512_mask_broadcast_f32x4(b, k2, _mm_loadu_ps(from.add(offsets.add(8).read() as usize)));
            let d = _mm_loadu_ps(from.add(offsets.add(12).read() as usize));
            Avx512(_mm512_mask_broadcast_f32x4(c, k3, d))
        }
    }
    #[inline(always)]
    unsafe fn scatter_groups(self, to: *mut f32, offsets: *const u32) {
        // SAFETY: the caller gives an offset per group, and room for four numbers there.
        unsafe {
            _mm_storeu_ps(to.add(offsets.read() as usize), _mm512_castps512_ps128(self.0));
            _mm_storeu_ps(to.add(offsets.add(4).read() as usize), _mm512_extractf32x4_ps::<1>(self.0));
            _mm_storeu_ps(to.add(offsets.add(8).read() as usize), _mm512_extractf32x4_ps::<2>(self.0));
            _mm_storeu_ps(to.add(offsets.add(12).read() as usize), _mm512_extractf32x4_ps::<3>(self.0));
        }
    }
    #[inline(always)]
    unsafe fn store_xyz(x: Self, y: Self, z: Self, to: *mut f32) {
        for part in 0..3 {
            // SAFETY: the caller gives room for 48 numbers; the picks are sixteen indices each.
            unsafe {
                let [first, second] = &INTERLEAVE[part];
                let xy = _mm512_permutex2var_ps(x.0, _mm512_loadu_epi32(first.as_ptr()), y.0);
                let xyz = _mm512_permutex2var_ps(xy, _mm512_loadu_epi32(second.as_ptr()), z.0);
                _mm512_storeu_ps(to.add(16 * part), xyz);
            }
        }
    }
}

impl Tables for Avx512 {
    type Index = __m512i;

    #[inline(always)]
    unsafe fn load_index(from: *const u16) -> __m512i {
        // SAFETY: the caller gives sixteen readable indices.
        unsafe { _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast())) }
    }
    #[inline(always)]
    unsafe fn lookup(low: Self, index: __m512i, high: Self) -> Self {
        // SAFETY: as above.
        unsafe { Avx512(_mm512_permutex2var_ps(low.0, index, high.0)) }
    }
}

/// Picks that interleave x, y and z, sixteen numbers of the result at a time: first from x (0..16) and y (16..32),
/// then from that and z (16..32).
static INTERLEAVE: [[[i32; 16]; 2]; 3] = interleave();

const fn interleave() -> [[[i32; 16]; 2]; 3] {
    let mut picks = [[[0; 16]; 2]; 3];
    let mut at = 0;
    while at < 48 {
        let (vertex, part, lane) = ((at / 3) as i32, at / 16, at % 16);
        picks[part][0][lane] = if at % 3 == 1 { 16 + vertex } else { vertex };
        picks[part][1][lane] = if at % 3 == 2 { 16 + vertex } else { lane as i32 };
        at += 1;
    }
    picks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picks through an emulated `vpermt2ps`: this machine may not have it.
    #[test]
    fn interleaving_picks_give_xyz_in_order() {
        let axis = |axis: usize| -> Vec<usize> { (0..16).map(|v| 3 * v + axis).collect() };
        let permute = |low: &[usize], pick: &[i32; 16], high: &[usize]| -> Vec<usize> {
            pick.iter().map(|&i| if i < 16 { low[i as usize] } else { high[i as usize - 16] }).collect()
        };
        for (part, [first, second]) in INTERLEAVE.iter().enumerate() {
            let xy = permute(&axis(0), first, &axis(1));
            let out = permute(&xy, second, &axis(2));
            assert_eq!(out, (16 * part..16 * part + 16).collect::<Vec<_>>());
        }
    }
}
