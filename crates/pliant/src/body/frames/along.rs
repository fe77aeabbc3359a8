//! Frames along a curve that turn no more than they must.

use crate::asset::CurvePoint;
use glam::DVec3;

/// Second axes along a curve, each perpendicular to its tangent, by double reflection (Wang, Juettler, Zheng and Liu
/// 2008): the first reflection takes a point to the next one, the second its tangent to the next one's. The error of
/// the whole curve falls with the fourth power of the step.
pub(super) fn normals(curve: &[CurvePoint]) -> Vec<DVec3> {
    let Some(first) = curve.first() else { return Vec::new() };
    let mut normal = first.tangent.any_orthonormal_vector();
    let mut normals = Vec::with_capacity(curve.len());
    normals.push(normal);
    for pair in curve.windows(2) {
        let way = pair[1].position - pair[0].position;
        let tangent = reflected(pair[0].tangent, way);
        let turn = pair[1].tangent - tangent;
        let next = perpendicular(reflected(reflected(normal, way), turn), pair[1].tangent);
        normal = next.unwrap_or_else(|| pair[1].tangent.any_orthonormal_vector());
        normals.push(normal);
    }
    normals
}

/// `v` in the mirror across `way`; where that has no length, as it is.
fn reflected(v: DVec3, way: DVec3) -> DVec3 {
    let square = way.length_squared();
    if square > 0.0 { v - way * (2.0 * v.dot(way) / square) } else { v }
}

/// `v` made perpendicular to a unit vector, of length one; nothing where it points along it.
pub(super) fn perpendicular(v: DVec3, to: DVec3) -> Option<DVec3> {
    (v - to * v.dot(to)).try_normalize()
}
