//! Smooth skinning: bones blended along the arc about their joint, twist apart, and a bulge where flesh is squeezed.

mod settings;

pub use settings::{SmoothJoint, SmoothSettings, SmoothWeights};

use super::{Deformer, Health, Instance, PrepareError, Setup, Shape, Stage};
use crate::asset::Character;
use crate::rig::weights::{self, AngleSettings, BoneDistances, NearBones};
use crate::rig::{Motion, Pose, SkinMatrix};
use crate::skin::smooth::{JointControl, LEAST_LIMIT, SmoothOptions, SmoothSkin, SmoothSkinState};
use glam::Vec3;
use std::borrow::Cow;

pub(super) const NAME: &str = "smooth";

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let settings = &setup.settings.smooth;
    let options = settings.options(character).map_err(|e| e.under("smooth"))?;
    let character = match settings.weights {
        SmoothWeights::File => Cow::Borrowed(character),
        SmoothWeights::Angle => Cow::Owned(weighed(character, &options)?),
    };
    let skin = SmoothSkin::new(&character, character.weights(), &options, setup.path)?;
    Ok(Box::new(Prepared { character, skin, warnings: Vec::new() }))
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

struct Prepared<'c> {
    character: Cow<'c, Character>,
    skin: SmoothSkin,
    warnings: Vec<String>,
}

impl Deformer for Prepared<'_> {
    fn instance(&self) -> Box<dyn Instance + Send + '_> {
        Box::new(Moving {
            prepared: self,
            state: self.skin.state(),
            pose: Pose::rest(&self.character),
            matrices: Vec::with_capacity(self.character.slots().len()),
        })
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

struct Moving<'p> {
    prepared: &'p Prepared<'p>,
    state: SmoothSkinState,
    pose: Pose,
    matrices: Vec<SkinMatrix>,
}

impl Instance for Moving<'_> {
    fn step(
        &mut self,
        motion: &dyn Motion,
        seconds: f64,
        out: &mut Shape,
        finished: &mut dyn FnMut(Stage),
    ) -> Health {
        let Prepared { character, skin, .. } = self.prepared;
        motion.pose(seconds, &mut self.pose);
        self.pose.skin_matrices(character, &mut self.matrices);
        skin.morph(&self.pose.morph_weights, &mut self.state);
        let count = skin.vertex_count();
        out.positions.resize(count, Vec3::ZERO);
        out.normals.resize(count, Vec3::Y);
        skin.positions_and_normals(&self.matrices, &mut self.state, &mut out.positions, &mut out.normals);
        finished(Stage::Skin);
        Health::default()
    }
}
