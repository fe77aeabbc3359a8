//! Linear blend skinning: `v' = sum_j w_j S_j v`. Fast, known everywhere, and collapses where joints bend or twist.

use super::{Deformer, PrepareError, Setup, volume};
use crate::asset::Character;
use crate::skin::Blend;

pub(super) const NAME: &str = "lbs";

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    volume::skinned(character, &setup, Blend::Linear, false)
}
