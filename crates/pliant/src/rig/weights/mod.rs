//! Skin weights made from a skeleton and distances to its bones: along straight lines, or as plain data from whoever can
//! measure through the inside of a body.

mod bones;
mod distance;
mod geodesic;
mod segment;
#[cfg(test)]
mod tests;

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
