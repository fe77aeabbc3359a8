//! The reference: plain Rust, one vertex after the other. What every other path must equal to the last bit, and what
//! benches compare with.

use super::rigid::Rigid;
use crate::rig::SkinMatrix;
use crate::simd::vectors::plain::{dot, unit_or, unsigned_zeros};
use glam::Vec3;

/// The blended matrix of a vertex.
pub(crate) fn linear_blend(
    influences: impl Iterator<Item = (u16, f32)>,
    matrices: &[SkinMatrix],
) -> SkinMatrix {
    let mut blend = [[0.0; 4]; 3];
    for (slot, weight) in influences {
        let matrix = &matrices[slot as usize];
        for row in 0..3 {
            for column in 0..4 {
                blend[row][column] += weight * matrix[row][column];
            }
        }
    }
    blend
}

pub(super) fn linear_position([r0, r1, r2]: &SkinMatrix, p: Vec3) -> Vec3 {
    let row = |r: &[f32; 4]| r[0] * p.x + r[1] * p.y + r[2] * p.z + r[3];
    unsigned_zeros(Vec3::new(row(r0), row(r1), row(r2)))
}

/// By the inverse transpose: the cofactors, turned about where the matrix mirrors.
pub(super) fn linear_normal([r0, r1, r2]: &SkinMatrix, n: Vec3) -> Vec3 {
    let cross = |a: &[f32; 4], b: &[f32; 4]| {
        Vec3::new(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    };
    let (c0, c1, c2) = (cross(r1, r2), cross(r2, r0), cross(r0, r1));
    let det = r0[0] * c0.x + r0[1] * c0.y + r0[2] * c0.z;
    unsigned_zeros(unit_or(turned(Vec3::new(dot(c0, n), dot(c1, n), dot(c2, n)), det), n))
}

/// The blended dual quaternion of a vertex, and its scale if there is any. No blend comes near zero: with signs aligned
/// to the largest influence, its share of that one's rotation is at least the largest weight.
pub(super) fn dual_blend(
    influences: impl Iterator<Item = (u16, f32)>,
    lead: &Rigid,
    slots: &[Rigid],
    scaled: bool,
) -> Rigid {
    let mut blend = Rigid { rotation: [0.0; 4], dual: [0.0; 4], scale: [0.0; 6] };
    for (slot, weight) in influences {
        let rigid = &slots[slot as usize];
        let signed = if opposed(lead, rigid) { -weight } else { weight };
        for i in 0..4 {
            blend.rotation[i] += signed * rigid.rotation[i];
            blend.dual[i] += signed * rigid.dual[i];
        }
        if scaled {
            for i in 0..6 {
                blend.scale[i] += weight * rigid.scale[i];
            }
        }
    }
    blend
}

/// Whether the shorter way from one rotation to the other goes through the other's negative.
pub(super) fn opposed(a: &Rigid, b: &Rigid) -> bool {
    let (a, b) = (a.rotation, b.rotation);
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0.0
}

/// The scale, then the rotation and translation.
pub(super) fn dual_position(blend: &Rigid, p: Vec3) -> Vec3 {
    let [xx, yy, zz, xy, xz, yz] = blend.scale;
    let v = Vec3::new(
        xx * p.x + xy * p.y + xz * p.z,
        xy * p.x + yy * p.y + yz * p.z,
        xz * p.x + yz * p.y + zz * p.z,
    );
    rigid_position(blend, v)
}

/// `v + 2 (r x (r x v + w v + d) + w d - dw r) / |q|^2`: rotation and translation in one, and no square root.
pub(super) fn rigid_position(blend: &Rigid, v: Vec3) -> Vec3 {
    let [dx, dy, dz, dw] = blend.dual;
    let (r, w, d) = (Vec3::from_slice(&blend.rotation), blend.rotation[3], Vec3::new(dx, dy, dz));
    let inner = r.cross(v) + v * w + d;
    unsigned_zeros(v + (r.cross(inner) + d * w - r * dw) * two_over_square(blend))
}

/// By the inverse transpose of the blended scale, then the blended rotation.
pub(super) fn dual_normal(blend: &Rigid, n: Vec3) -> Vec3 {
    let [xx, yy, zz, xy, xz, yz] = blend.scale;
    let c0 = Vec3::new(yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
    let c1 = Vec3::new(c0.y, xx * zz - xz * xz, xy * xz - xx * yz);
    let c2 = Vec3::new(c0.z, c1.z, xx * yy - xy * xy);
    let det = xx * c0.x + xy * c0.y + xz * c0.z;
    rigid_normal(blend, unit_or(turned(Vec3::new(dot(c0, n), dot(c1, n), dot(c2, n)), det), n))
}

/// By the blended rotation.
pub(super) fn rigid_normal(blend: &Rigid, v: Vec3) -> Vec3 {
    let (r, w) = (Vec3::from_slice(&blend.rotation), blend.rotation[3]);
    unsigned_zeros(v + r.cross(r.cross(v) + v * w) * two_over_square(blend))
}

fn two_over_square(blend: &Rigid) -> f32 {
    let [x, y, z, w] = blend.rotation;
    2.0 / (x * x + y * y + z * z + w * w)
}

fn turned(v: Vec3, sign: f32) -> Vec3 {
    if sign < 0.0 { -v } else { v }
}
