//! Arithmetic of vectors, a register a number. Operation by operation what plain code would do.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use none of it")
)]

use super::Lanes;

/// Squared lengths between which an f32 vector has a direction: products of its numbers neither vanish nor overflow.
/// A normal outside (a joint scaled to nothing, a flat tet) keeps its rest direction.
pub(crate) const LENGTH_SQUARED_MIN: f32 = 1e-36;
/// See [`LENGTH_SQUARED_MIN`].
pub(crate) const LENGTH_SQUARED_MAX: f32 = 1e36;

#[inline(always)]
pub(crate) unsafe fn dot<V: Lanes>(a: [V; 3], b: [V; 3]) -> V {
    // SAFETY: the caller has the instructions.
    unsafe { a[0].mul(b[0]).add(a[1].mul(b[1])).add(a[2].mul(b[2])) }
}

#[inline(always)]
pub(crate) unsafe fn cross<V: Lanes>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    // SAFETY: the caller has the instructions.
    unsafe {
        [
            a[1].mul(b[2]).sub(a[2].mul(b[1])),
            a[2].mul(b[0]).sub(a[0].mul(b[2])),
            a[0].mul(b[1]).sub(a[1].mul(b[0])),
        ]
    }
}

#[inline(always)]
pub(crate) unsafe fn add<V: Lanes>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    // SAFETY: the caller has the instructions.
    unsafe { [a[0].add(b[0]), a[1].add(b[1]), a[2].add(b[2])] }
}

#[inline(always)]
pub(crate) unsafe fn sub<V: Lanes>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    // SAFETY: the caller has the instructions.
    unsafe { [a[0].sub(b[0]), a[1].sub(b[1]), a[2].sub(b[2])] }
}

#[inline(always)]
pub(crate) unsafe fn scale<V: Lanes>(a: [V; 3], s: V) -> [V; 3] {
    // SAFETY: the caller has the instructions.
    unsafe { [a[0].mul(s), a[1].mul(s), a[2].mul(s)] }
}

#[inline(always)]
pub(crate) unsafe fn unsigned_zeros<V: Lanes>(a: [V; 3]) -> [V; 3] {
    // SAFETY: the caller has the instructions.
    unsafe { add(a, [V::splat(0.0); 3]) }
}

/// The other way where `sign` is below zero, not where it is minus zero.
#[inline(always)]
pub(crate) unsafe fn turned<V: Lanes>(a: [V; 3], sign: V) -> [V; 3] {
    // SAFETY: the caller has the instructions.
    unsafe {
        let sign = sign.add(V::splat(0.0));
        [a[0].turn(sign), a[1].turn(sign), a[2].turn(sign)]
    }
}

#[inline(always)]
pub(crate) unsafe fn unit_or<V: Lanes>(a: [V; 3], fallback: [V; 3]) -> [V; 3] {
    // SAFETY: the caller has the instructions.
    unsafe {
        let square = dot(a, a);
        let [x, y, z] = scale(a, V::splat(1.0).div(square.sqrt()));
        let (long, short) =
            (square.ge(V::splat(LENGTH_SQUARED_MIN)), V::splat(LENGTH_SQUARED_MAX).ge(square));
        [
            V::select(long, V::select(short, x, fallback[0]), fallback[0]),
            V::select(long, V::select(short, y, fallback[1]), fallback[1]),
            V::select(long, V::select(short, z, fallback[2]), fallback[2]),
        ]
    }
}

/// The same for one vector.
pub(crate) mod plain {
    use super::{LENGTH_SQUARED_MAX, LENGTH_SQUARED_MIN};
    use glam::Vec3;

    pub(crate) fn dot(a: Vec3, b: Vec3) -> f32 {
        a.x * b.x + a.y * b.y + a.z * b.z
    }

    /// `v` at length one, or `fallback` where it has no length worth the name.
    pub(crate) fn unit_or(v: Vec3, fallback: Vec3) -> Vec3 {
        let square = dot(v, v);
        if (LENGTH_SQUARED_MIN..=LENGTH_SQUARED_MAX).contains(&square) {
            v * (1.0 / square.sqrt())
        } else {
            fallback
        }
    }

    /// Minus zero to zero. A term of weight zero, with which batches are filled up, changes nothing else.
    pub(crate) fn unsigned_zeros(v: Vec3) -> Vec3 {
        v + Vec3::ZERO
    }
}

/// The last batch is worked out whole, beside the output: what there is room for is copied.
#[inline(always)]
pub(crate) fn keep_rest<const BATCH: usize>(out: &mut [glam::Vec3], last: &[glam::Vec3; BATCH]) {
    let rest = out.len() % BATCH;
    let at = out.len() - rest;
    out[at..].copy_from_slice(&last[..rest]);
}
