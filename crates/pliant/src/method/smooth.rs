//! Smooth skinning: bones blended along the arc about their joint, twist apart, and a bulge where flesh is squeezed.

use super::{Deformer, Health, Instance, PrepareError, Setup, Shape, Stage};
use crate::asset::Character;
use crate::rig::{Motion, Pose, SkinMatrix};
use crate::skin::smooth::{SmoothOptions, SmoothSkin, SmoothSkinState};
use glam::Vec3;

pub(super) const NAME: &str = "smooth";

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let skin = SmoothSkin::new(character, character.weights(), &SmoothOptions::default(), setup.path)?;
    Ok(Box::new(Prepared { character, skin, warnings: Vec::new() }))
}

struct Prepared<'c> {
    character: &'c Character,
    skin: SmoothSkin<'c>,
    warnings: Vec<String>,
}

impl Deformer for Prepared<'_> {
    fn instance(&self) -> Box<dyn Instance + Send + '_> {
        Box::new(Moving {
            prepared: self,
            state: self.skin.state(),
            pose: Pose::rest(self.character),
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
