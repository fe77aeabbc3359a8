//! Dual quaternion skinning with scale in two phases: no collapse under twist, a bulge under bend.

use super::{Deformer, PrepareError, Setup, volume};
use crate::asset::Character;
use crate::skin::Blend;

pub(super) const NAME: &str = "dqs";

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    volume::skinned(character, &setup, Blend::DualQuaternion, false)
}
