//! Linear blend skinning: `v' = sum_j w_j S_j v`. Fast, known everywhere, and collapses where joints bend or twist.

use super::{Deformer, PrepareError, Setup, Skinned};
use crate::asset::Character;
use crate::skin::{Blend, Skinner};

pub(super) const NAME: &str = "lbs";

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let skinner = Skinner::new(Blend::Linear, character.surface(), character.weights(), setup.path)?;
    Ok(Box::new(Skinned { character, skinner, warnings: Vec::new() }))
}
