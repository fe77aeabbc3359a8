//! The blend of two bones, written once for every register width; [`One`] makes it the scalar reference.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use the scalar reference alone")
)]

use super::program::{MOST_INFLUENCES, Op, Programs, Shares};
use super::tree::Bend;
use crate::rig::SkinMatrix;
use crate::simd::vectors::{add, cross, dot, scale, sub, unsigned_zeros};
use crate::simd::{Lanes, gather_rows};
use crate::skin::pack::{BATCH, Vectors};
use glam::Vec3;
use std::mem::MaybeUninit;

/// Batches a parallel task: a few microseconds of work.
pub(super) const CHUNK: usize = 32;

/// What a step's kernels read.
pub(super) struct Job<'a> {
    pub programs: &'a Programs,
    /// `W` and twist of each blend: the programs' own, or those of this pose.
    pub shares: &'a [Shares],
    /// One per slot.
    pub matrices: &'a [SkinMatrix],
    /// Rest positions of joints, one per slot.
    pub joints: &'a [[f32; 3]],
    /// One per slot.
    pub bends: &'a [Bend],
    /// Rest positions, a batch each.
    pub rest: &'a [Vectors],
}

/// Poses batches from `first` on; `out` has sixteen places for each.
///
/// # Safety
/// The machine must have the kernel's instructions; the job's parts must belong together.
pub(super) type Kernel = unsafe fn(job: &Job<'_>, first: usize, out: &mut [Vec3]);

/// See [`Kernel`].
#[inline(always)]
pub(super) unsafe fn run<V: Lanes>(job: &Job<'_>, first: usize, out: &mut [Vec3]) {
    for (index, out) in out.chunks_exact_mut(BATCH).enumerate() {
        let batch = &job.programs.batches[first + index];
        let ops = &job.programs.ops[batch.ops as usize..(batch.ops + batch.count) as usize];
        let to = out.as_mut_ptr().cast::<f32>();
        let [x, y, z] = &job.rest[first + index].0;
        for lane in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: the caller has the instructions; rows are sixteen long and `lane` is a multiple of the width. A
            // program leaves one place on the stack, and never holds more than it has influences.
            unsafe {
                let p = [
                    V::load(x.as_ptr().add(lane)),
                    V::load(y.as_ptr().add(lane)),
                    V::load(z.as_ptr().add(lane)),
                ];
                let mut stack = [const { MaybeUninit::<[V; 3]>::uninit() }; MOST_INFLUENCES + 1];
                let mut anchor = [V::splat(0.0); 3];
                let (mut top, mut row) = (0, batch.shares as usize);
                for op in ops {
                    match *op {
                        Op::Push(slot) => {
                            stack[top].write(carry(&job.matrices[usize::from(slot)], p));
                            top += 1;
                        }
                        Op::Merge(slot) => {
                            let shares = &job.shares[row];
                            let w = V::load(shares.child.as_ptr().add(lane));
                            let bend = &job.bends[usize::from(slot)];
                            let (x, q) = (stack[top - 2].assume_init(), stack[top - 1].assume_init());
                            stack[top - 2].write(blend(bend, splat3(bend.joint[0]), x, q, w, None));
                            (top, row) = (top - 1, row + 1);
                        }
                        Op::Anchor(slot, of) => {
                            let w = V::load(job.shares[row].child.as_ptr().add(lane));
                            let at = splat3(job.joints[usize::from(of)]);
                            anchor = add(anchor, scale(carry(&job.matrices[usize::from(slot)], at), w));
                            row += 1;
                        }
                        Op::Join(slot) => {
                            let shares = &job.shares[row];
                            let w = V::load(shares.child.as_ptr().add(lane));
                            let twist = V::load(shares.twist.as_ptr().add(lane));
                            let bend = &job.bends[usize::from(slot)];
                            let (x, q) = (stack[top - 2].assume_init(), stack[top - 1].assume_init());
                            stack[top - 2].write(blend(bend, anchor, x, q, w, Some(twist)));
                            anchor = [V::splat(0.0); 3];
                            (top, row) = (top - 1, row + 1);
                        }
                    }
                }
                let [x, y, z] = unsigned_zeros(stack[0].assume_init());
                V::store_xyz(x, y, z, to.add(3 * lane));
            }
        }
    }
}

// No closures from here on: they would not have the kernel's instructions, and every operation would be a call.

#[inline(always)]
unsafe fn carry<V: Lanes>(&[x, y, z]: &SkinMatrix, p: [V; 3]) -> [V; 3] {
    // SAFETY: the caller has the instructions.
    unsafe { [carry_row(x, p), carry_row(y, p), carry_row(z, p)] }
}

#[inline(always)]
unsafe fn carry_row<V: Lanes>([x, y, z, t]: [f32; 4], p: [V; 3]) -> V {
    // SAFETY: the caller has the instructions.
    unsafe { dot([V::splat(x), V::splat(y), V::splat(z)], p).add(V::splat(t)) }
}

#[inline(always)]
pub(super) unsafe fn splat3<V: Lanes>([x, y, z]: [f32; 3]) -> [V; 3] {
    // SAFETY: the caller has the instructions.
    unsafe { [V::splat(x), V::splat(y), V::splat(z)] }
}

/// Three numbers from each of some offsets; a fourth after them must be there to be read.
#[inline(always)]
pub(in crate::skin) unsafe fn gather<V: Lanes>(from: *const f32, offsets: *const u32) -> [V; 3] {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        if V::WIDTH == 1 {
            let from = from.add(offsets.read() as usize);
            return [V::load(from), V::load(from.add(1)), V::load(from.add(2))];
        }
        let [x, y, z, _] = gather_rows::<V>(from, offsets);
        [x, y, z]
    }
}

/// Squared lengths below this share of the larger one are none: such a place is the joint itself.
const NOTHING: f32 = 1e-12;
/// Beyond this cosine both ways are nearly opposite, and the swing's axis says which way round.
const OPPOSITE: f32 = -0.995;

/// `x` (parent's side, which carries the joint to `j1`) and `q` (child's side) blended at the child's share `w`: seed
/// 002, Eqs. 7 and 8, about the joint.
///
/// Twist first: both sides are brought to the same share of it, so that only the swing is left to compensate. With
/// `a`, `b` from the joint, `theta` between them: `c (cos(theta (1-w)) b/|b| + sin(theta (1-w)) x/|x|)`, `x` the part of
/// `a` across `b`, `c = l1 W' + l2 (1 - W')`, `W' = 1 - 4 (w - 1/2)^2`, `l1 = |b| w + |a| (1-w)`,
/// `l2 = |w b + (1-w) a|`.
#[inline(always)]
unsafe fn blend<V: Lanes>(bend: &Bend, j1: [V; 3], x: [V; 3], q: [V; 3], w: V, twist: Option<V>) -> [V; 3] {
    // SAFETY: the caller has the instructions.
    unsafe {
        let one = V::splat(1.0);
        let j2 = splat3::<V>(bend.joint[1]);
        let rest = one.sub(w);
        let (mut a, mut b) = (sub(x, j1), sub(q, j2));
        if bend.twist != 0.0 {
            let turn = V::splat(bend.twist);
            let turn = match twist {
                Some(share) => turn.mul(share),
                None => turn,
            };
            let forth = sine_cosine(turn.mul(w));
            let back = match twist {
                Some(_) => sine_cosine(V::splat(0.0).sub(turn.mul(rest))),
                // All of the twist is split: what is left of it by the sines of sums.
                None => {
                    let (s, c) = (V::splat(bend.twist_sines[0]), V::splat(bend.twist_sines[1]));
                    (forth.0.mul(c).sub(s.mul(forth.1)), c.mul(forth.1).add(s.mul(forth.0)))
                }
            };
            a = rotate(splat3(bend.axis[0]), forth, a);
            b = rotate(splat3(bend.axis[1]), back, b);
        }
        // Where the joint itself is moved it goes straight.
        let at = add(j1, scale(sub(j2, j1), w));
        let line = add(scale(a, rest), scale(b, w));
        let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
        let (la, lb) = (aa.sqrt(), bb.sqrt());
        let tiny = V::splat(f32::MIN_POSITIVE);
        let over_b = one.div(lb.max(tiny));
        let unit_b = scale(b, over_b);
        let cosine_a = ab.mul(over_b);
        let across = sub(a, scale(unit_b, cosine_a));
        // Nearly opposite: from the child back along the swing.
        let opposed = V::splat(OPPOSITE).mul(la).sub(cosine_a).max(V::splat(0.0)).mul(V::splat(20.0));
        let back = cross(unit_b, splat3(bend.swing_axis));
        let across = add(across, scale(back, opposed));
        let sine_a = dot(across, across).sqrt();
        let theta = angle(sine_a, cosine_a);
        let (sine, cosine) = sine_cosine(theta.mul(rest));
        let unit_across = scale(across, one.div(sine_a.max(tiny)));
        let l1 = lb.mul(w).add(la.mul(rest));
        let l2 = dot(line, line).sqrt();
        let off = w.sub(V::splat(0.5));
        let share = one.sub(V::splat(4.0).mul(off.mul(off)));
        let c = l1.mul(share).add(l2.mul(one.sub(share)));
        let arc = add(scale(unit_b, c.mul(cosine)), scale(unit_across, c.mul(sine)));
        let least = aa.max(bb).mul(V::splat(NOTHING)).max(tiny);
        let (has_a, has_b) = (aa.ge(least), bb.ge(least));
        let mut blended = [at[0]; 3];
        for k in 0..3 {
            let moved = V::select(has_a, V::select(has_b, arc[k], line[k]), line[k]);
            blended[k] = at[k].add(moved);
        }
        blended
    }
}

/// `v` turned about a unit axis by an angle of this sine and cosine (Rodrigues).
#[inline(always)]
unsafe fn rotate<V: Lanes>(axis: [V; 3], (sine, cosine): (V, V), v: [V; 3]) -> [V; 3] {
    // SAFETY: the caller has the instructions.
    unsafe {
        let along = dot(axis, v).mul(V::splat(1.0).sub(cosine));
        add(add(scale(v, cosine), scale(cross(axis, v), sine)), scale(axis, along))
    }
}

/// Polynomials through Chebyshev points, to f32's rounding: sine and cosine over -pi to pi in squares, arctangent over
/// 0 to 1.
const SINE: [f32; 8] = [
    1.0,
    -0.166_666_67,
    0.008_333_333,
    -1.984_125_4e-4,
    2.755_670_2e-6,
    -2.503_868_2e-8,
    1.589_647_5e-10,
    -6.610_124e-13,
];
const COSINE: [f32; 8] =
    [1.0, -0.5, 0.041_666_663, -1.388_886_3e-3, 2.480_055e-5, -2.753_476_7e-7, 2.060_333e-9, -9.721_734e-12];
const ARCTANGENT: [f32; 10] = [
    1.0,
    -0.333_332_76,
    0.199_980_75,
    -0.142_600_16,
    0.109_323_41,
    -0.083_497_25,
    0.057_089_556,
    -0.030_351_865,
    0.010_487_649,
    -0.001_701_17,
];

/// Even and odd powers apart: chains of operations that wait for each other are half as long.
#[inline(always)]
pub(super) unsafe fn polynomial<V: Lanes>(coefficients: &[f32], x: V) -> V {
    // SAFETY: the caller has the instructions.
    unsafe {
        let square = x.mul(x);
        let mut sums = [V::splat(0.0); 2];
        for (power, &c) in coefficients.iter().enumerate().rev() {
            let own = &mut sums[power % 2];
            *own =
                if power + 2 < coefficients.len() { own.mul(square).add(V::splat(c)) } else { V::splat(c) };
        }
        sums[0].add(sums[1].mul(x))
    }
}

/// Of an angle of at most half a turn.
#[inline(always)]
pub(super) unsafe fn sine_cosine<V: Lanes>(x: V) -> (V, V) {
    // SAFETY: the caller has the instructions.
    unsafe {
        let square = x.mul(x);
        (polynomial::<V>(&SINE, square).mul(x), polynomial(&COSINE, square))
    }
}

/// The angle, 0 to pi, of a sine (not negative) and a cosine of one scale.
#[inline(always)]
unsafe fn angle<V: Lanes>(sine: V, cosine: V) -> V {
    // SAFETY: the caller has the instructions.
    unsafe {
        let zero = V::splat(0.0);
        let width = cosine.max(zero.sub(cosine));
        let steep = sine.ge(width);
        let (low, high) = (V::select(steep, width, sine), V::select(steep, sine, width));
        let t = low.div(high.max(V::splat(f32::MIN_POSITIVE)));
        let flat = polynomial::<V>(&ARCTANGENT, t.mul(t)).mul(t);
        let upper = V::select(steep, V::splat(std::f32::consts::FRAC_PI_2).sub(flat), flat);
        V::select(cosine.ge(zero), upper, V::splat(std::f32::consts::PI).sub(upper))
    }
}

/// One number as a register: the kernel on it is the scalar reference. What shuffles groups of four lanes is not used
/// here and leaves its first operand.
#[derive(Clone, Copy)]
pub(in crate::skin) struct One(f32);

impl Lanes for One {
    const WIDTH: usize = 1;
    type Mask = bool;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        Self(x)
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller gives a readable number.
        Self(unsafe { from.read() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller gives room for a number.
        unsafe { to.write(self.0) }
    }
    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        Self(self.0 + b.0)
    }
    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        Self(self.0 - b.0)
    }
    #[inline(always)]
    unsafe fn mul(self, b: Self) -> Self {
        Self(self.0 * b.0)
    }
    #[inline(always)]
    unsafe fn div(self, b: Self) -> Self {
        Self(self.0 / b.0)
    }
    #[inline(always)]
    unsafe fn max(self, b: Self) -> Self {
        if self.0 > b.0 { self } else { b }
    }
    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }
    #[inline(always)]
    unsafe fn ge(self, b: Self) -> bool {
        self.0 >= b.0
    }
    #[inline(always)]
    unsafe fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    unsafe fn turn(self, sign: Self) -> Self {
        Self(f32::from_bits(self.0.to_bits() ^ (sign.0.to_bits() & 0x8000_0000)))
    }
    #[inline(always)]
    unsafe fn load_groups(from: *const f32, _stride: usize) -> Self {
        // SAFETY: passed on.
        unsafe { Self::load(from) }
    }
    #[inline(always)]
    unsafe fn store_groups(self, to: *mut f32, _stride: usize) {
        // SAFETY: passed on.
        unsafe { self.store(to) }
    }
    #[inline(always)]
    unsafe fn gather_groups(from: *const f32, offsets: *const u32) -> Self {
        // SAFETY: passed on.
        unsafe { Self::load(from.add(offsets.read() as usize)) }
    }
    #[inline(always)]
    unsafe fn scatter_groups(self, to: *mut f32, offsets: *const u32) {
        // SAFETY: passed on.
        unsafe { self.store(to.add(offsets.read() as usize)) }
    }
    #[inline(always)]
    unsafe fn zip_low(a: Self, _b: Self) -> Self {
        a
    }
    #[inline(always)]
    unsafe fn zip_high(a: Self, _b: Self) -> Self {
        a
    }
    #[inline(always)]
    unsafe fn pairs_low(a: Self, _b: Self) -> Self {
        a
    }
    #[inline(always)]
    unsafe fn pairs_high(a: Self, _b: Self) -> Self {
        a
    }
    #[inline(always)]
    unsafe fn store_xyz(x: Self, y: Self, z: Self, to: *mut f32) {
        // SAFETY: the caller gives room for three numbers.
        unsafe {
            to.write(x.0);
            to.add(1).write(y.0);
            to.add(2).write(z.0);
        }
    }
}

/// `kernel(path)` and what it chooses from: the function `run` of the module for each width.
macro_rules! kernels {
    ($kernel:ty, $($argument:ident: $type:ty),*) => {
        /// The kernel of a path.
        pub(super) fn kernel(path: crate::simd::Path) -> $kernel {
            use crate::simd::Path;
            match path {
                #[cfg(target_arch = "x86_64")]
                Path::Sse => sse,
                #[cfg(target_arch = "x86_64")]
                Path::Avx2 => avx2,
                #[cfg(target_arch = "x86_64")]
                Path::Avx512 => avx512,
                #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                Path::Simd128 => wasm,
                _ => scalar,
            }
        }

        $crate::skin::smooth::kernel::kernels! {
            @each ($($argument: $type),*)
            scalar = run::<$crate::skin::smooth::kernel::One>;
            #[cfg(target_arch = "x86_64")]
            sse = run::<crate::simd::Sse>;
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            avx2 = run::<crate::simd::Avx>;
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f")]
            avx512 = run::<crate::simd::Avx512>;
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            wasm = run::<crate::simd::Wasm>;
        }
    };
    (@each $arguments:tt $($(#[$attribute:meta])* $name:ident = $run:expr;)*) => {
        $($crate::skin::smooth::kernel::kernels! { @one $arguments $(#[$attribute])* $name = $run; })*
    };
    (@one ($($argument:ident: $type:ty),*) $(#[$attribute:meta])* $name:ident = $run:expr;) => {
        $(#[$attribute])*
        unsafe fn $name($($argument: $type),*) {
            // SAFETY: the caller's promise, passed on.
            unsafe { $run($($argument),*) }
        }
    };
}
pub(in crate::skin) use kernels;

kernels!(Kernel, job: &Job<'_>, first: usize, out: &mut [Vec3]);
