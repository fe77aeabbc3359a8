//! The methods: each is prepared once from a character, then fed poses in time order, and writes the skin.

use crate::asset::Character;
use crate::rig::Pose;
use glam::Vec3;

/// The deformed skin: caller-owned, one position and unit normal per vertex of the character's surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Positions in scene space.
    pub positions: Vec<Vec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
}

impl Shape {
    /// A shape of the right size, at rest.
    pub fn rest(character: &Character) -> Self {
        Self { positions: character.rest_positions(), normals: character.surface().normals().to_vec() }
    }
}

/// The stages of a step that are timed apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Pose to skin (or to tets) by weights.
    Skin,
    /// Constraint projection.
    Solve,
    /// Tets to skin.
    Embed,
}

/// A method prepared for a character: shared by all its instances.
pub trait Deformer: Send + Sync {
    /// A new instance at rest.
    fn instance(&self) -> Box<dyn Instance + Send + '_>;
}

/// One moving copy of a prepared character.
pub trait Instance {
    /// Advances by `seconds` to `pose` and writes the skin. `finished` hears the end of each stage, so that a caller
    /// with a clock can time them.
    fn step(&mut self, pose: &Pose, seconds: f64, out: &mut Shape, finished: &mut dyn FnMut(Stage));
}
