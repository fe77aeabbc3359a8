//! Smooth skinning: bones blended along the arc about their joint, twist apart, and a bulge where flesh is squeezed.

mod settings;

pub use settings::{SmoothJoint, SmoothSettings, SmoothWeights};

use super::{Deformer, PrepareError, Setup, Skinning, skinned};
use crate::asset::Character;
use crate::rig::weights::{self, AngleSettings, BoneDistances, NearBones};
use crate::skin::smooth::{JointControl, LEAST_LIMIT, SmoothOptions, SmoothSkin};
use std::borrow::Cow;

pub(super) const NAME: &str = "smooth";

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    skinned::prepare(character, &setup, Skinning::Smooth, false)
}

/// The skin, and the character with the weights that it has.
pub(super) fn skin<'c>(
    character: &'c Character,
    setup: &Setup<'_>,
    keeps_volume: bool,
) -> Result<(Cow<'c, Character>, SmoothSkin), PrepareError> {
    let settings = &setup.settings.smooth;
    let parts = setup.settings.parts(keeps_volume);
    let options = settings.options(character, parts).map_err(|e| e.under("smooth"))?;
    let character = match settings.weights {
        SmoothWeights::File => Cow::Borrowed(character),
        SmoothWeights::Angle => Cow::Owned(weighed(character, &options)?),
    };
    let skin = SmoothSkin::new(&character, character.weights(), &options, setup.path)?;
    Ok((character, skin))
}

/// The character with weights from angles in place of its own.
fn weighed(character: &Character, options: &SmoothOptions) -> Result<Character, PrepareError> {
    let character = weights::only_used(character.clone())?;
    let (positions, skeleton) = (character.surface().positions(), character.skeleton());
    let bones = BoneDistances::new(skeleton, weights::rest_size(positions, skeleton))?;
    let near = NearBones::straight(positions, &bones);
    // Where limits move they are made for the least, so that all that a pose may blend is there.
    let most = if options.dynamic_limit { LEAST_LIMIT } else { f64::MAX };
    let limit = |control: &JointControl| control.limit_angle.min(most);
    let joints = options.joints.iter().map(|(&joint, control)| (joint, limit(control))).collect();
    let settings = AngleSettings { limit: limit(&options.usual), joints };
    let made = weights::angle(positions, skeleton, &bones, &near, &settings)?;
    Ok(weights::bind(character, made)?)
}
