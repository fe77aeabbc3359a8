//! A long bone's twist against its parent, spread along the bone.
//!
//! A limb that is turned about itself is wrung between what its parent holds and what it holds itself: most of all where
//! it is thin, since a tube resists twist by the fourth power of its radius. In a body it is not: skin at the shoulder
//! stays with the trunk while that at the elbow turns with the arm. So what a long bone holds takes its swing wholly, and
//! its twist by a share that grows from none at the bone's start to all of it at its end.

use super::pins::Pin;
use crate::asset::Bone;
use crate::method::flesh::{Carried, Flesh};
use glam::{DQuat, DVec3, Vec3};
use std::f64::consts::TAU;

/// Bones that are shorter than this, in radii of the limb where they start, hold their flesh rigidly: heads, hands, feet.
const LONG: f64 = 3.0;

/// A long bone that goes on from one joint to the next.
struct Long {
    slot: u16,
    parent: u16,
    start: DVec3,
    axis: DVec3,
}

/// Which nodes long bones hold.
pub(super) struct Twists {
    bones: Vec<Long>,
    /// For each node a bone, and the share of its twist that the node does not take.
    undone: Vec<Option<(u32, f64)>>,
}

/// How far each long bone is twisted, in radians. A twist goes on past half a turn: the flesh has come that way.
pub(super) type Angles = Vec<f64>;

impl Twists {
    pub(super) fn new(flesh: &Flesh<'_>, pins: &[Pin]) -> Self {
        let Flesh { character, body, rig, .. } = flesh;
        let (joints, slots) = (character.skeleton().joints(), character.slots());
        let slot_of = |joint: u32| slots.iter().position(|s| s.joint == joint).map(|s| s as u16);
        let all = character.skeleton().bones();
        let (mut bones, mut undone) = (Vec::new(), vec![None; pins.len()]);
        for (index, joint) in (0u32..).zip(joints).filter(|(i, _)| rig.radii[*i as usize] > 0.0) {
            let Some(bone) = longest(&all, index).filter(|b| b.end_joint.is_some()) else { continue };
            let way = bone.end - bone.start;
            let slots_of = (slot_of(index), joint.parent.and_then(slot_of));
            let (Some(slot), Some(parent)) = slots_of else { continue };
            if way.length() < LONG * rig.radii[index as usize] {
                continue;
            }
            let held = |pin: &Pin| matches!(pin, Pin::Bone(slot) if slots[*slot as usize].joint == index);
            for (node, _) in pins.iter().enumerate().filter(|(_, pin)| held(pin)) {
                let off = body.tets().positions()[node].as_dvec3() - bone.start;
                let along = (off.dot(way) / way.length_squared()).clamp(0.0, 1.0);
                undone[node] = Some((bones.len() as u32, 1.0 - along));
            }
            bones.push(Long { slot, parent, start: bone.start, axis: way.normalize() });
        }
        Self { bones, undone }
    }

    /// At rest.
    pub(super) fn angles(&self) -> Angles {
        vec![0.0; self.bones.len()]
    }

    /// Goes on to a pose.
    pub(super) fn follow(&self, carried: &Carried, angles: &mut Angles) {
        for (bone, angle) in self.bones.iter().zip(angles) {
            let [own, parent] = [bone.slot, bone.parent].map(usize::from);
            if carried.sure[own] && carried.sure[parent] {
                let turn = carried.turns[parent].conjugate() * carried.turns[own];
                let about = DVec3::new(turn.x, turn.y, turn.z).dot(bone.axis);
                let on = 2.0 * libm::atan2(about, turn.w) - *angle;
                *angle += on - TAU * (on / TAU).round();
            }
        }
    }

    /// From where at rest the bone takes a node along.
    pub(super) fn untwisted(&self, node: usize, rest: Vec3, angles: &Angles) -> Vec3 {
        let Some((index, share)) = self.undone[node] else { return rest };
        let Long { start, axis, .. } = self.bones[index as usize];
        let (sine, cosine) = libm::sincos(-0.5 * share * angles[index as usize]);
        let back = DQuat::from_xyzw(axis.x * sine, axis.y * sine, axis.z * sine, cosine);
        (start + back * (rest.as_dvec3() - start)).as_vec3()
    }
}

/// The longest of a joint's bones, of all in order of their joints.
fn longest(bones: &[Bone], joint: u32) -> Option<&Bone> {
    let length = |b: &Bone| b.start.distance(b.end);
    let first = bones.partition_point(|b| b.joint < joint);
    let own = bones[first..].iter().take_while(|b| b.joint == joint);
    own.max_by(|a, b| length(a).total_cmp(&length(b)))
}
