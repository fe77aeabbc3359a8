//! The points of feet that may touch the floor.

use super::frame::Stance;
use super::humanoid::{Role, Side, Tree};
use crate::asset::Character;
use glam::{DAffine3, DQuat, DVec3};

/// Vertices of a foot that are no higher above its lowest one than this share of its height are of its sole.
const SOLE: f64 = 0.25;
/// Ways along the floor in which a sole's outermost vertex is taken.
const WAYS: usize = 8;

/// A point of a sole: it moves with a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sole {
    pub(super) joint: u32,
    /// From the joint to the point, in the pose in which it is on the floor.
    pub(super) arm: DVec3,
}

impl Sole {
    /// Where it is, with its joint turned from that pose.
    pub(super) fn at(&self, joint: &DAffine3, turn: DQuat) -> DVec3 {
        joint.translation + turn * self.arm
    }
}

/// The soles under a skeleton's feet: below ankles and toes, and where toes end.
pub(super) fn of_joints(stance: &Stance<'_>, side: Side, up: DVec3) -> Vec<Sole> {
    let mut points = Vec::new();
    for joint in [Role::Foot(side), Role::Toes(side)].into_iter().filter_map(|role| stance.body.joint(role)) {
        points.push((joint, stance.at(joint)));
        points.extend(stance.tip(joint).map(|tip| (joint, tip)));
    }
    let lowest = points.iter().map(|(_, p)| p.dot(up)).fold(f64::INFINITY, f64::min);
    let sole = |(joint, p): (u32, DVec3)| {
        let on_floor = p + up * (lowest - p.dot(up));
        Sole { joint, arm: on_floor - stance.at(joint) }
    };
    points.into_iter().map(sole).collect()
}

/// The soles of a character's skin; those of its joints where no skin is on its feet.
pub(super) fn of_skin(
    character: &Character,
    stance: &Stance<'_>,
    side: Side,
    forward: DVec3,
    up: DVec3,
) -> Vec<Sole> {
    let skeleton = character.skeleton();
    let tree = Tree::new(skeleton);
    let feet: Vec<u32> =
        [Role::Toes(side), Role::Foot(side)].into_iter().filter_map(|role| stance.body.joint(role)).collect();
    // Whatever is on a toe below the foot's joint is the foot's.
    let foot_of = |joint: u32| feet.iter().copied().find(|&f| f == joint || tree.is_below(joint, f));
    let of_slot: Vec<Option<u32>> = character.slots().iter().map(|slot| foot_of(slot.joint)).collect();
    let mut points: Vec<(u32, DVec3)> = Vec::new();
    for (vertex, position) in character.surface().positions().iter().enumerate() {
        let heaviest = character.weights().of(vertex).max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some(joint) = heaviest.and_then(|(slot, _)| of_slot[slot as usize]) {
            points.push((joint, position.as_dvec3()));
        }
    }
    let height = |p: &(u32, DVec3)| p.1.dot(up);
    let lowest = points.iter().map(height).fold(f64::INFINITY, f64::min);
    let highest = points.iter().map(height).fold(f64::NEG_INFINITY, f64::max);
    points.retain(|p| height(p) <= lowest + SOLE * (highest - lowest));
    let left = up.cross(forward);
    let mut soles: Vec<Sole> = Vec::new();
    for way in 0..WAYS {
        let (sine, cosine) = libm::sincos(std::f64::consts::TAU * way as f64 / WAYS as f64);
        let way = forward * cosine + left * sine;
        let outermost = points.iter().max_by(|a, b| a.1.dot(way).total_cmp(&b.1.dot(way)));
        soles.extend(outermost.map(|&(joint, p)| Sole { joint, arm: p - stance.at(joint) }));
    }
    if soles.is_empty() { of_joints(stance, side, up) } else { soles }
}
