//! Fibres where nobody has drawn any: along the nearest bone.

use super::smooth::mean;
use super::{Frame, centre};
use crate::asset::{Bone, TetMesh};
use crate::body::bvh::map_with_scratch;
use crate::rig::weights::{BoneDistances, Near, NearBones};
use glam::DVec3;

/// Bones up to so much farther than the nearest one, as a share of its distance, have a say: around a joint fibres turn
/// from one bone to the next instead of breaking. More, and they no longer follow the nearest in the middle of a limb.
const BLEND: f64 = 0.5;
/// A way from the bone shorter than this share of itself along the bone has no direction across it.
const AXIAL: f64 = 1e-6;

/// A frame for each tet: the first axis along the nearest bone, the second away from it. What has no bone with a
/// direction is as the rest pose.
pub(super) fn frames(mesh: &TetMesh, bones: &BoneDistances, near: &NearBones) -> Vec<Frame> {
    map_with_scratch(mesh.tets().len(), |tet, own: &mut Vec<Far>| {
        distances(mesh, near, tet, own);
        let nearest = own.iter().map(|far| far.distance).fold(f64::INFINITY, f64::min);
        let parts = own.iter().filter_map(|far| {
            let share = 1.0 - (far.distance / nearest - 1.0) / BLEND;
            let frame = beside(mesh, tet, &bones.bones()[far.bone as usize].1);
            frame.filter(|_| share > 0.0).map(|frame| (frame, share))
        });
        let start = parts.clone().reduce(|a, b| if b.1 > a.1 { b } else { a });
        start.map_or(Frame { first: DVec3::X, second: DVec3::Y }, |start| mean(start.0, parts))
    })
}

/// A bone, and how far it is from the corners of a tet on the mean.
struct Far {
    bone: u32,
    distance: f64,
    /// How many corners it is near to.
    corners: usize,
}

/// The bones near all corners of a tet, in order; those near the most corners where none is near all.
fn distances(mesh: &TetMesh, near: &NearBones, tet: usize, all: &mut Vec<Far>) {
    all.clear();
    for Near { distance, bone, .. } in mesh.tets()[tet].iter().flat_map(|&node| near.of(node as usize)) {
        let distance = f64::from(*distance);
        match all.iter_mut().find(|far| far.bone == *bone) {
            Some(far) => {
                far.distance += distance;
                far.corners += 1;
            }
            None => all.push(Far { bone: *bone, distance, corners: 1 }),
        }
    }
    let most = all.iter().map(|far| far.corners).max().unwrap_or(0);
    all.retain(|far| far.corners == most);
    all.iter_mut().for_each(|far| far.distance /= far.corners as f64);
    all.sort_unstable_by_key(|far| far.bone);
}

/// The frame of a tet beside a bone, if the bone has a direction.
fn beside(mesh: &TetMesh, tet: usize, bone: &Bone) -> Option<Frame> {
    let along = (bone.end - bone.start).try_normalize()?;
    let away = |p: DVec3| {
        let way = p - bone.start;
        way - along * way.dot(along)
    };
    let own = away(centre(mesh, tet));
    // A tet that the bone goes through in the middle: away to the corner that is farthest from it.
    let corners = mesh.corners(tet).map(away);
    let farthest = corners.into_iter().fold(own, |a, b| if b.length() > a.length() { b } else { a });
    let second = if own.length() > AXIAL * farthest.length() { own } else { farthest };
    Some(Frame::nearest(along, second, farthest))
}
