//! Skin weights made from a skeleton and distances to its bones: along straight lines, or as plain data from whoever can
//! measure through the inside of a body.

mod angle;
mod bones;
mod distance;
mod geodesic;
mod segment;
#[cfg(test)]
mod tests;

pub use angle::{AngleSettings, angle, between, child_share, limit_angle};
pub use bones::{BoneDistances, KEEP, Near, NearBones, add, rest_size, straight};
pub use distance::{DistanceSettings, distance};
pub use geodesic::{GeodesicSettings, geodesic};
pub use segment::segment;

use crate::asset::{AssetError, Character, Skeleton, Slot, Weights};

/// A way to make weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WeightKind {
    /// See [`segment`]: stiff between joints.
    Segment,
    /// See [`geodesic`]: smooth, the one for files without weights.
    Geodesic(GeodesicSettings),
    /// See [`distance`]: along straight lines whether there is a body or not.
    Distance(DistanceSettings),
    /// See [`angle`]: made for the method `smooth`.
    Angle,
}

impl Default for WeightKind {
    fn default() -> Self {
        Self::Geodesic(GeodesicSettings::default())
    }
}

/// A slot for each deforming joint, in order, bound at the skeleton's rest. Weights made here refer to these.
pub fn slots(skeleton: &Skeleton) -> Vec<Slot> {
    let joints = skeleton.joints().iter().enumerate().filter(|(_, joint)| joint.deforms);
    joints
        .map(|(index, joint)| Slot { joint: index as u32, joint_from_rest: joint.world_from_rest.inverse() })
        .collect()
}

/// Weights of a character's skin from what is near its vertices. Slots are those of [`slots`], not the character's.
pub fn weigh(
    character: &Character,
    bones: &BoneDistances,
    near: &NearBones,
    kind: WeightKind,
) -> Result<Weights, AssetError> {
    let positions = character.surface().positions();
    match kind {
        WeightKind::Segment => segment(positions, bones, near),
        WeightKind::Geodesic(settings) => geodesic(character, bones, near, settings),
        WeightKind::Distance(settings) => distance(positions, character.skeleton(), settings),
        WeightKind::Angle => angle(positions, character.skeleton(), bones, near, &AngleSettings::default()),
    }
}

/// As [`weigh`] for a character without a body: distances are straight lines.
pub fn weigh_straight(character: &Character, kind: WeightKind) -> Result<Weights, AssetError> {
    let positions = character.surface().positions();
    let bones = BoneDistances::new(character.skeleton(), rest_size(positions, character.skeleton()))?;
    weigh(character, &bones, &NearBones::straight(positions, &bones), kind)
}

/// The character with weights that refer to [`slots`] in place of its own.
pub fn bind(character: Character, weights: Weights) -> Result<Character, AssetError> {
    let mut raw = character.into_raw();
    raw.slots = slots(&raw.skeleton);
    raw.weights = weights;
    Character::new(raw)
}

/// The character with only those joints deforming that its own weights use, for other weights to be made. Rigs hold
/// targets and handles beside the bones (a knee's target before the knee, a root between the feet); who made them gave
/// them no skin.
///
/// A joint that had a bone only to such a handle, or to the end of a finger, keeps it.
pub fn only_used(character: Character) -> Result<Character, AssetError> {
    let mut raw = character.into_raw();
    let mut joints = raw.skeleton.joints().to_vec();
    let mut used = vec![false; joints.len()];
    for vertex in 0..raw.surface.positions().len() {
        let slots = raw.weights.of(vertex).filter(|w| w.1 > 0.0).map(|w| &raw.slots[w.0 as usize]);
        slots.for_each(|slot| used[slot.joint as usize] = true);
    }
    let mut has_bone: Vec<bool> = joints.iter().map(|j| !j.tails.is_empty()).collect();
    let parents: Vec<Option<usize>> = joints.iter().map(|j| j.parent.map(|p| p as usize)).collect();
    for (_, parent) in parents.iter().enumerate().filter(|(child, _)| used[*child]) {
        parent.iter().for_each(|&p| has_bone[p] = true);
    }
    for (child, parent) in parents.iter().enumerate() {
        let is_end = joints[child].deforms && !used[child];
        if let Some(parent) = parent.filter(|&p| is_end && used[p] && !has_bone[p]) {
            let end = joints[child].world_from_rest.translation;
            let tail = joints[parent].world_from_rest.inverse().transform_point3(end);
            joints[parent].tails.push(tail);
        }
    }
    joints.iter_mut().zip(&used).for_each(|(joint, used)| joint.deforms &= used);
    raw.skeleton = Skeleton::new(joints)?;
    Character::new(raw)
}
