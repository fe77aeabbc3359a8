//! Dual quaternion skinning with scale in two phases: no collapse under twist, a bulge under bend.

use super::{Deformer, PrepareError, Setup, Skinned};
use crate::asset::Character;
use crate::skin::{Blend, Skinner};

pub(super) const NAME: &str = "dqs";

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let skinner = Skinner::new(Blend::DualQuaternion, character.surface(), character.weights(), setup.path)?;
    Ok(Box::new(Skinned { character, skinner, warnings: Vec::new() }))
}
