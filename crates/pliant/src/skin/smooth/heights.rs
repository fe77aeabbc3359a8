//! How high a bulge raises the points around its joint, written once for every register width.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use the scalar reference alone")
)]

use super::kernel::{polynomial, sine_cosine, splat3};
use crate::simd::Lanes;
use crate::simd::vectors::dot;
use crate::skin::pack::{BATCH, Vectors};
use std::f32::consts::PI;

/// Sixteen points side by side, some of which one joint can raise, at rest.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(super) struct Block {
    /// Unit, from the bone out to the point.
    pub out: Vectors,
    /// `y`, radians.
    pub angle: [f32; BATCH],
    /// Child's share.
    pub child: [f32; BATCH],
    /// What all fades leave; 0 where the joint does not raise it.
    pub base: [f32; BATCH],
    /// The mean curvature of the limb there.
    pub curvature: [f32; BATCH],
    pub joint: u16,
    /// Of the points.
    pub batch: u32,
}

/// Sixteen heights.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct Heights(pub [f32; BATCH]);

/// A joint in a pose, at rest's angles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bent {
    /// Unit, to the inner side of the bend.
    pub inner: [f32; 3],
    /// The swing's axis.
    pub axis: [f32; 3],
    pub twist: f32,
    /// Limit angle `a0`, radians.
    pub limit: f32,
    /// Ridge width `q`.
    pub width: f32,
    pub is_bent: bool,
}

/// Cosine of the azimuth up to which nothing is raised, on the outer side; from there to the sides it fades in.
const OUTER: f32 = -0.87;

/// `arccos(c) / sqrt(1 - c)` over 0 to 1, to 2e-7, through Chebyshev points.
const ARCCOSINE: [f32; 7] =
    [1.570_796_1, -0.214_582, 0.088_718_09, -0.048_644_333, 0.026_597_796, -0.010_879_67, 0.002_207_656];

/// Fills in the heights of blocks, for `A = 1`.
///
/// # Safety
/// The machine must have the kernel's instructions; each block's joint must be among `bent`.
pub(super) type Kernel = unsafe fn(blocks: &[Block], bent: &[Bent], out: &mut [Heights]);

/// See [`Kernel`].
#[inline(always)]
unsafe fn run<V: Lanes>(blocks: &[Block], bent: &[Bent], out: &mut [Heights]) {
    for (block, out) in blocks.iter().zip(out) {
        let joint = &bent[usize::from(block.joint)];
        if !joint.is_bent {
            out.0 = [0.0; BATCH];
            continue;
        }
        for lane in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: the caller has the instructions; rows are sixteen long and `lane` is a multiple of the width.
            unsafe { height::<V>(block, joint, lane).store(out.0.as_mut_ptr().add(lane)) }
        }
    }
}

#[inline(always)]
unsafe fn height<V: Lanes>(block: &Block, joint: &Bent, lane: usize) -> V {
    // SAFETY: the caller's promise.
    unsafe {
        let load = |row: &[f32; BATCH]| V::load(row.as_ptr().add(lane));
        let (zero, one) = (V::splat(0.0), V::splat(1.0));
        let out = [load(&block.out.0[0]), load(&block.out.0[1]), load(&block.out.0[2])];
        let mut cosine = dot(out, splat3(joint.inner));
        if joint.twist != 0.0 {
            // The inner side, as the point's share of the twist turns it.
            let (s, c) = sine_cosine(load(&block.child).mul(V::splat(joint.twist)));
            cosine = cosine.mul(c).sub(dot(out, splat3(joint.axis)).mul(s));
        }
        let size = cosine.max(zero.sub(cosine));
        let acute = one.sub(size).max(zero).sqrt().mul(polynomial(&ARCCOSINE, size));
        let azimuth = V::select(cosine.ge(zero), acute, V::splat(PI).sub(acute));
        let slope = (2.0 * PI - 4.0 * joint.limit) / (PI * PI);
        let ridge = V::splat(slope).mul(azimuth.mul(azimuth)).add(V::splat(joint.limit));
        let off = load(&block.angle).div(ridge).sub(one).mul(V::splat(1.0 / joint.width));
        let bump = one.sub(V::splat(4.0).mul(off.mul(off))).max(zero);
        let side = cosine.sub(V::splat(OUTER)).mul(V::splat(-1.0 / OUTER)).max(zero);
        let side = one.sub(one.sub(side).max(zero));
        let fade = side.mul(side).mul(V::splat(3.0).sub(side.add(side)));
        load(&block.base).mul(bump.mul(bump)).mul(fade)
    }
}

super::kernel::kernels!(Kernel, blocks: &[Block], bent: &[Bent], out: &mut [Heights]);
