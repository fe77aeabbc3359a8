//! Linear blend skinning: `v' = sum_j w_j S_j v`. Fast, known everywhere, and collapses where joints bend or twist.

use super::{Deformer, PrepareError, Setup, Skinning, skinned};
use crate::asset::Character;

pub(super) const NAME: &str = "lbs";

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    skinned::prepare(character, &setup, Skinning::Lbs, false)
}
