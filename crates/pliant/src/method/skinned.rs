//! Skin by its weights alone: linear, by dual quaternions or smooth, and the repairs that follow.

use super::volume::{RepairState, Repairs};
use super::{Deformer, Health, Instance, PrepareError, Settings, Setup, Shape, Skinning, Stage, smooth};
use crate::asset::Character;
use crate::body::{Body, Node};
use crate::parallel;
use crate::rig::{Motion, Pose, SkinMatrix};
use crate::simd::Path;
use crate::skin::smooth::{SmoothSkin, SmoothSkinState};
use crate::skin::{self, Blend, Skinner};
use std::borrow::Cow;

/// Prepares a skinning with the repairs that are asked for.
pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: &Setup<'_>,
    skinning: Skinning,
    keeps_volume: bool,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let (character, base) = match skinning.blend() {
        Some(_) => (Cow::Borrowed(character), Base::new(character, setup.settings, skinning, setup.path)?),
        None => {
            let (character, skin) = smooth::skin(character, setup, keeps_volume)?;
            (character, Base::Smooth(Box::new(skin)))
        }
    };
    let repairs = Repairs::new(&character, skinning, setup, keeps_volume)?;
    let warnings = repairs.warnings().to_vec();
    Ok(Box::new(Skinned { character, base, repairs, warnings }))
}

impl Skinning {
    /// What is blended; nothing where bones are followed one after another.
    pub(super) fn blend(self) -> Option<Blend> {
        match self {
            Self::Lbs => Some(Blend::Linear),
            Self::Dqs => Some(Blend::DualQuaternion),
            Self::Smooth => None,
        }
    }
}

/// What moves the skin.
pub(super) enum Base<'c> {
    Blend(Box<Skinner<'c>>),
    Smooth(Box<SmoothSkin>),
}

/// What each copy needs for it.
#[derive(Clone)]
pub(super) enum BaseState {
    Blend(skin::State),
    Smooth(Box<SmoothSkinState>),
}

impl<'c> Base<'c> {
    /// For skin that other things keep full: without a bulge, by the character's own weights.
    pub(super) fn new(
        character: &'c Character,
        settings: &Settings,
        skinning: Skinning,
        path: Path,
    ) -> Result<Self, PrepareError> {
        if let Some(blend) = skinning.blend() {
            let skinner = Skinner::new(blend, character.surface(), character.weights(), path)?;
            return Ok(Self::Blend(Box::new(skinner)));
        }
        let mut options = settings.smooth.options(character, false).map_err(|e| e.under("smooth"))?;
        options.dynamic_limit = false;
        options.usual.gain = 0.0;
        options.joints.values_mut().for_each(|joint| joint.gain = 0.0);
        Ok(Self::Smooth(Box::new(SmoothSkin::new(character, character.weights(), &options, path)?)))
    }

    pub(super) fn state(&self) -> BaseState {
        match self {
            Self::Blend(skinner) => BaseState::Blend(skinner.state()),
            Self::Smooth(skin) => BaseState::Smooth(Box::new(skin.state())),
        }
    }

    /// The skin of a pose, morphs in it.
    ///
    /// # Panics
    /// If the state is of another base.
    pub(super) fn pose(
        &self,
        character: &Character,
        morph_weights: &[f32],
        matrices: &[SkinMatrix],
        state: &mut BaseState,
        out: &mut Shape,
    ) {
        out.resize(character.surface().positions().len());
        let Shape { positions, normals } = out;
        match (self, state) {
            (Self::Blend(skinner), BaseState::Blend(state)) => {
                skinner.morph(character.morphs(), morph_weights, state);
                if normals.is_empty() {
                    skinner.positions(matrices, state, positions);
                } else {
                    skinner.positions_and_normals(matrices, state, positions, normals);
                }
            }
            (Self::Smooth(skin), BaseState::Smooth(state)) => {
                skin.morph(morph_weights, state);
                parallel::within(|| skin.pose(matrices, state, positions, normals));
            }
            _ => panic!("a state of another skinning"),
        }
    }
}

/// A method that is skinning alone.
pub(super) struct Skinned<'c> {
    pub(super) character: Cow<'c, Character>,
    pub(super) base: Base<'c>,
    pub(super) repairs: Repairs,
    pub(super) warnings: Vec<String>,
}

impl Deformer for Skinned<'_> {
    fn instance(&self) -> Box<dyn Instance + Send + '_> {
        Box::new(Moving {
            prepared: self,
            state: self.base.state(),
            repairs: self.repairs.state(),
            pose: Pose::rest(&self.character),
            matrices: Vec::with_capacity(self.character.slots().len()),
        })
    }

    fn body(&self) -> Option<&Body> {
        self.repairs.body()
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

#[derive(Clone)]
struct Moving<'p> {
    prepared: &'p Skinned<'p>,
    state: BaseState,
    repairs: RepairState,
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
        let Skinned { character, base, repairs, .. } = self.prepared;
        motion.pose(seconds, &mut self.pose);
        self.pose.skin_matrices(character, &mut self.matrices);
        base.pose(character, &self.pose.morph_weights, &self.matrices, &mut self.state, out);
        finished(Stage::Skin);
        repairs.run(&self.pose, &self.matrices, &mut self.repairs, out, finished)
    }

    fn nodes(&self) -> Option<&[Node]> {
        self.repairs.nodes()
    }

    fn copy<'a>(&self) -> Box<dyn Instance + Send + 'a>
    where
        Self: 'a,
    {
        Box::new(self.clone())
    }
}
