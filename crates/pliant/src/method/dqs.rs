//! Dual quaternion skinning with scale in two phases: no collapse under twist, a bulge under bend.

use super::{Deformer, PrepareError, Setup, Skinning, skinned};
use crate::asset::Character;

pub(super) const NAME: &str = "dqs";

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    skinned::prepare(character, &setup, Skinning::Dqs, false)
}
