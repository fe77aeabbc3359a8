//! Dual quaternion skinning with scale in two phases: no collapse under twist, a bulge under bend.

use super::{Deformer, PrepareError, Skinned};
use crate::asset::Character;
use crate::simd::Path;
use crate::skin::{Blend, Skinner};

pub(super) const NAME: &str = "dqs";

pub(super) fn prepare(character: &Character, path: Path) -> Result<Box<dyn Deformer + '_>, PrepareError> {
    let skinner = Skinner::new(Blend::DualQuaternion, character.surface(), character.weights(), path)?;
    Ok(Box::new(Skinned { character, skinner }))
}
