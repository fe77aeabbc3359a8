//! The methods: each is prepared once from a character, then fed poses in time order, and writes the skin.

mod dqs;
mod lbs;

use crate::asset::Character;
use crate::rig::{Pose, SkinMatrix};
use crate::simd::Path;
use crate::skin::{SkinError, Skinner, State};
use glam::Vec3;
use thiserror::Error;

/// A method by name, and how it is prepared.
type Entry = (&'static str, fn(&Character, Path) -> Result<Box<dyn Deformer + '_>, PrepareError>);

/// Every method there is, in the order in which help lists them.
const METHODS: [Entry; 2] = [(lbs::NAME, lbs::prepare), (dqs::NAME, dqs::prepare)];

/// The names of all methods.
pub const NAMES: [&str; METHODS.len()] = {
    let mut names = [""; METHODS.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = METHODS[i].0;
        i += 1;
    }
    names
};

/// Why a method cannot be prepared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// No method has this name.
    #[error("unknown method '{name}': one of {}", NAMES.join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
    },
    /// The skinning cannot be set up.
    #[error(transparent)]
    Skin(#[from] SkinError),
}

/// Prepares a method for a character.
pub fn prepare<'c>(
    name: &str,
    character: &'c Character,
    path: Path,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let method = METHODS.iter().find(|m| m.0 == name);
    let (_, prepare) = method.ok_or_else(|| PrepareError::Unknown { name: name.to_owned() })?;
    prepare(character, path)
}

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

/// A method that is skinning alone.
struct Skinned<'c> {
    character: &'c Character,
    skinner: Skinner<'c>,
}

impl Deformer for Skinned<'_> {
    fn instance(&self) -> Box<dyn Instance + Send + '_> {
        let matrices = Vec::with_capacity(self.character.slots().len());
        Box::new(SkinnedInstance { prepared: self, state: self.skinner.state(), matrices })
    }
}

struct SkinnedInstance<'p> {
    prepared: &'p Skinned<'p>,
    state: State,
    matrices: Vec<SkinMatrix>,
}

impl Instance for SkinnedInstance<'_> {
    fn step(&mut self, pose: &Pose, _seconds: f64, out: &mut Shape, finished: &mut dyn FnMut(Stage)) {
        let Skinned { character, skinner } = self.prepared;
        pose.skin_matrices(character, &mut self.matrices);
        skinner.morph(character.morphs(), &pose.morph_weights, &mut self.state);
        let count = skinner.vertex_count();
        out.positions.resize(count, Vec3::ZERO);
        out.normals.resize(count, Vec3::Y);
        skinner.positions_and_normals(&self.matrices, &mut self.state, &mut out.positions, &mut out.normals);
        finished(Stage::Skin);
    }
}
