//! The methods: each is prepared once from a character, then fed poses in time order, and writes the skin.

mod check;
mod clock;
mod dqs;
mod fibres;
mod flesh;
mod hull;
mod lbs;
mod metaballs;
mod names;
mod position;
mod regions;
mod settings;
mod skinned;
mod smooth;
mod strain;
mod volume;

pub use check::SettingsError;
pub use metaballs::{BallJoint, BallWeights, Driver, MetaballsSettings, Muscle, MusclePoint};
pub use names::nearest;
pub use regions::{SOFTNESS, Tissue};
pub use settings::{
    BodySettings, CorrectionMap, Damping, Direction, Fibre, Model, Paint, Place, PositionSettings,
    Prediction, Preset, Region, Settings, SimulationSettings, Skinning, StrainOrder, StrainSettings,
    VolumeSettings,
};
pub use smooth::{SmoothJoint, SmoothSettings, SmoothWeights};

use crate::asset::{AssetError, Character, TetMesh};
use crate::body::{Balls, Body, BodyError, Fineness, Node};
use crate::rig::Motion;
use crate::simd::Path;
use crate::skin::SkinError;
use crate::solver::SolverError;
use glam::{Quat, Vec3};
use thiserror::Error;

/// A method by name, and how it is prepared.
type Entry =
    (&'static str, for<'c> fn(&'c Character, Setup<'_>) -> Result<Box<dyn Deformer + 'c>, PrepareError>);

/// Every method there is, in the order in which help lists them.
const METHODS: [Entry; 7] = [
    (lbs::NAME, lbs::prepare),
    (dqs::NAME, dqs::prepare),
    (smooth::NAME, smooth::prepare),
    (volume::NAME, volume::prepare),
    (position::NAME, position::prepare),
    (strain::NAME, strain::prepare),
    (metaballs::NAME, metaballs::prepare),
];

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
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// No method has this name.
    #[error("unknown method '{name}': one of {}", NAMES.join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
    },
    /// A setting that cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The skinning cannot be set up.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// The body cannot be made.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// The solver cannot be set up.
    #[error(transparent)]
    Solver(#[from] SolverError),
    /// The flesh cannot be rigged.
    #[error(transparent)]
    Asset(#[from] AssetError),
    /// A change that asks for a new preparation.
    #[error("body, step, model, density and the places of regions cannot change while playing: prepare anew")]
    NotLive,
}

/// What a method is prepared with beside the character.
pub struct Setup<'a> {
    /// The instructions to use.
    pub path: Path,
    /// What the user has set.
    pub settings: &'a Settings,
    /// Tets to use as the body, in place of making them.
    pub tets: Option<TetMesh>,
    /// Told how far the work is, from 0 to 1; answers whether to go on.
    pub progress: &'a mut dyn FnMut(f32) -> bool,
}

/// Prepares a method for a character, once the settings are checked.
pub fn prepare<'c>(
    name: &str,
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let method = METHODS.iter().find(|m| m.0 == name);
    let (_, prepare) = method.ok_or_else(|| PrepareError::Unknown { name: name.to_owned() })?;
    let Setup { path, settings, tets, progress } = setup;
    settings.check()?;
    prepare(character, Setup { path, settings: &settings.spelled_out(), tets, progress })
}

impl Settings {
    /// With what is not set filled in where its default depends on the method: for shells that show numbers to change.
    pub fn filled_in(&self, method: &str) -> Self {
        let mut filled = self.clone();
        let simulation = &mut filled.simulation;
        let (iterations, sweeps) = match method {
            position::NAME => (position::materials::ITERATIONS, position::materials::VOLUME_SWEEPS),
            strain::NAME => (strain::materials::ITERATIONS, strain::materials::VOLUME_SWEEPS),
            _ => (metaballs::ITERATIONS, 0),
        };
        simulation.iterations.get_or_insert(iterations);
        simulation.volume_sweeps.get_or_insert(sweeps);
        let parts = [volume::NAME, metaballs::NAME].contains(&method);
        filled.overlap.get_or_insert(parts);
        if let (None, None, Fineness::Tets(tets)) = (filled.body.tets, filled.body.cell, Fineness::default())
        {
            filled.body.tets = Some(tets);
        }
        filled
    }
}

/// As [`prepare`], with all settings at their defaults.
pub fn prepare_default<'c>(
    name: &str,
    character: &'c Character,
    path: Path,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let settings = Settings::default();
    prepare(name, character, Setup { path, settings: &settings, tets: None, progress: &mut |_| true })
}

/// The deformed skin: caller-owned, one position and, where they are wanted, one unit normal per vertex of the character's
/// surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Positions in scene space.
    pub positions: Vec<Vec3>,
    /// Unit normals. Where there are none, steps find none: that takes less time, and positions are the same.
    pub normals: Vec<Vec3>,
}

impl Shape {
    /// A shape of the right size, at rest.
    pub fn rest(character: &Character) -> Self {
        Self { positions: character.rest_positions(), normals: character.surface().normals().to_vec() }
    }

    /// The same without normals.
    pub fn positions_alone(character: &Character) -> Self {
        Self { positions: character.rest_positions(), normals: Vec::new() }
    }

    fn resize(&mut self, vertices: usize) {
        self.positions.resize(vertices, Vec3::ZERO);
        if !self.normals.is_empty() {
            self.normals.resize(vertices, Vec3::Y);
        }
    }
}

/// The stages of a step that are timed apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Pose to skin (or to tets) by weights.
    Skin,
    /// Constraint projection.
    Solve,
    /// Tets or balls to skin.
    Embed,
    /// Detail of the skin brought back.
    Filter,
    /// Overlaps parted, where nothing else is done in the same go.
    Overlap,
}

/// The balls of a body.
#[derive(Debug, Clone, Copy)]
pub struct Packing<'a> {
    /// The balls at rest, and how well they fill the body.
    pub balls: &'a Balls,
    /// The slot of the bone that each goes with most.
    pub slots: &'a [u16],
    /// Which of them springs join.
    pub springs: &'a [[u32; 2]],
}

/// A method prepared for a character: shared by all its instances.
pub trait Deformer: Send + Sync {
    /// A new instance at rest.
    fn instance(&self) -> Box<dyn Instance + Send + '_>;

    /// The tet body, where the method has one.
    fn body(&self) -> Option<&Body> {
        None
    }

    /// Whether a frame depends on the ones before it.
    fn remembers(&self) -> bool {
        false
    }

    /// What was odd about the character, in words.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// The balls that fill the body, where the method has any.
    fn packing(&self) -> Option<Packing<'_>> {
        None
    }

    /// For each node of the body the slot of the bone that holds it, or `u32::MAX`; where the method pins nodes.
    fn pins(&self) -> Option<&[u32]> {
        None
    }

    /// For each tet of the body its frame, the first axis along the fibre; where the method has any.
    fn frames(&self) -> Option<&[Quat]> {
        None
    }
}

/// One moving copy of a prepared character.
pub trait Instance {
    /// Advances to `seconds` of the motion and writes the skin; times must not decrease from call to call. The first
    /// call starts there. A simulated method asks the motion for the poses of its own clock's ticks on the way.
    /// `finished` hears the end of each stage, so that a caller with a clock can time them.
    fn step(
        &mut self,
        motion: &dyn Motion,
        seconds: f64,
        out: &mut Shape,
        finished: &mut dyn FnMut(Stage),
    ) -> Health;

    /// Takes other numbers, from the next tick on, with nothing prepared anew: stiffness, softness, damping, time windows,
    /// iterations, gravity. What the preparation rests on (body, step, where regions are) cannot change so.
    fn tune(&mut self, settings: &Settings) -> Result<(), PrepareError> {
        settings.check().map_err(PrepareError::from)
    }

    /// A copy as it is now, to go on from later: what it makes of a motion is what this one would make of it, to the bit.
    fn copy<'a>(&self) -> Box<dyn Instance + Send + 'a>
    where
        Self: 'a;

    /// Where the body's nodes are at the time of the last step, in the order of [`Deformer::body`]'s tets.
    fn nodes(&self) -> Option<&[Node]> {
        None
    }

    /// Where the balls of [`Deformer::packing`] are at the time of the last step, and their radii.
    fn balls(&self) -> Option<&[[f32; 4]]> {
        None
    }
}

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Health {
    /// Mean constraint residual, where there are constraints.
    pub residual: Option<f32>,
    /// Nodes that had to be held at their skinned places, because nothing finite could be found for them.
    pub held: usize,
    /// Volume that was missing (or too much) before overlaps were repaired, over the volume there should be.
    /// Not known of steps without normals, which look at the skin once.
    pub off_before_overlap: Option<f64>,
    /// The same of the skin as it is, where the method keeps its volume.
    pub off: Option<f64>,
    /// Vertices that the repair of overlaps has moved.
    pub parted: Option<usize>,
}
