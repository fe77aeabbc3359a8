//! Linear blend skinning: `v' = sum_j w_j S_j v`. Fast, known everywhere, and collapses where joints bend or twist.

use super::{Deformer, PrepareError, Skinned};
use crate::asset::Character;
use crate::simd::Path;
use crate::skin::{Blend, Skinner};

pub(super) const NAME: &str = "lbs";

pub(super) fn prepare(character: &Character, path: Path) -> Result<Box<dyn Deformer + '_>, PrepareError> {
    let skinner = Skinner::new(Blend::Linear, character.surface(), character.weights(), path)?;
    Ok(Box::new(Skinned { character, skinner }))
}
