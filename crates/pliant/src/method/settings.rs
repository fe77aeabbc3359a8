//! What a user may set. One type for the command, the page and the library; every field has a default that works on
//! any character.

use serde::{Deserialize, Serialize};

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// How fine the tet body is.
    pub body: BodySettings,
    /// Clock, iterations, gravity: what all simulated methods share.
    pub simulation: SimulationSettings,
    /// The method `position`.
    pub position: PositionSettings,
    /// Parts of the body that are softer than the rest, in order: of two on one place the later counts.
    #[serde(rename = "region")]
    pub regions: Vec<Region>,
}

/// How fine the tet body is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct BodySettings {
    /// About so many tets (default 8000).
    pub tets: Option<usize>,
    /// Lattice cells of this edge, in the character's units, in place of `tets`.
    pub cell: Option<f64>,
}

/// Clock, iterations, gravity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SimulationSettings {
    /// Seconds from tick to tick of the simulation's own clock, whatever the output rate.
    pub step: f64,
    /// Solver iterations in a tick.
    pub iterations: u32,
    /// Sweeps of the volume constraints alone after the last iteration.
    pub volume_sweeps: u32,
    /// Seconds, at most, to settle in the first pose before the first frame.
    pub preroll: f64,
    /// Gravity in metres per second squared; where not set, 9.81 downwards in soft regions.
    pub gravity: Option<[f64; 3]>,
    /// Metres that one unit of the character is long; where not set, guessed for OBJ and BVH, 1 for glTF.
    pub metres_per_unit: Option<f64>,
    /// A root that moves faster than this, in body lengths a second, has been cut to another place: velocities are
    /// dropped instead of throwing the flesh.
    pub teleport: f64,
    /// What stiffness means.
    pub model: Model,
    /// Parts that a tick is cut into under [`Model::Compliance`].
    pub substeps: u32,
}

impl Default for SimulationSettings {
    fn default() -> Self {
        Self {
            step: 0.01,
            iterations: 12,
            volume_sweeps: 8,
            preroll: 1.0,
            gravity: None,
            metres_per_unit: None,
            teleport: 30.0,
            model: Model::Stiffness,
            substeps: 4,
        }
    }
}

/// What stiffness means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// A number from 0 to 1: the share of an error that a tick removes, whatever the iterations (PBD).
    #[default]
    Stiffness,
    /// Physical units, whatever the step and the iterations (XPBD).
    Compliance,
}

/// The method `position`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PositionSettings {
    /// Where nodes start from in a tick.
    pub prediction: Prediction,
    /// How much of their lengths edges keep, 0 to 1.
    pub stretch: f64,
    /// How much of their volumes tets keep, 0 to 1.
    pub volume: f64,
    /// How firmly nodes keep their distance from the bone, 0 to 1.
    pub bind: f64,
    /// Under [`Model::Compliance`]: Young's modulus in pascals.
    pub young: f64,
    /// Under [`Model::Compliance`]: Poisson's ratio, 0.25 to below 0.5.
    pub poisson: f64,
    /// Kilograms per cubic metre.
    pub density: f64,
}

impl Default for PositionSettings {
    fn default() -> Self {
        Self {
            prediction: Prediction::Advected,
            stretch: 0.6,
            volume: 1.0,
            bind: 0.3,
            young: 3e4,
            poisson: 0.45,
            density: 1000.0,
        }
    }
}

/// Where nodes start from in a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Prediction {
    /// The last solved place, carried on by the bones, and held to linear blend skinning away from bent joints.
    #[default]
    Advected,
    /// Linear blend skinning: cannot repair what that has collapsed.
    Linear,
    /// Dual quaternion skinning: no memory, but pops where bones are turned by half a turn.
    DualQuaternion,
}

/// A part of the body that is softer than the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// What the report calls it.
    #[serde(default)]
    pub name: String,
    /// Which part of the skin; the flesh between it and the nearest bone goes with it.
    pub on: Place,
    /// A tissue that people know; what is set beside it counts more.
    pub preset: Option<Preset>,
    /// How far the flesh follows its own inertia instead of the bones, 0 to 1.
    pub softness: Option<f64>,
    /// Times the method's stretch stiffness.
    pub stretch: Option<f64>,
    /// Times the method's volume stiffness.
    pub volume: Option<f64>,
    /// Times the method's bind stiffness.
    pub bind: Option<f64>,
    /// Share of the motion against the bones that is lost in a second, as a rate: `exp(-damping t)`.
    pub damping: Option<f64>,
    /// Seconds of the clip from which on it is soft.
    pub start: Option<f64>,
    /// Seconds of the clip until which it is soft.
    pub end: Option<f64>,
}

/// Which part of the skin, and how much of each vertex, 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Place {
    /// All of it.
    All,
    /// A number painted on the file's vertices: `_SOFTNESS`, or a colour channel such as `COLOR_0.r`.
    Painted(String),
    /// Skin around the bones of a joint: 1 as far as `reach` of the bone's length, 0 from `reach + falloff` on.
    Bone {
        /// The joint's name.
        joint: String,
        /// Distance from the bone, in bone lengths, up to which skin is chosen wholly.
        reach: f64,
        /// Over how many bone lengths more the choice fades.
        falloff: f64,
    },
    /// A ball in the rest pose.
    Sphere {
        /// Its middle.
        center: [f64; 3],
        /// Its radius.
        radius: f64,
        /// Over which length outside the choice fades.
        falloff: f64,
    },
    /// A capsule in the rest pose.
    Capsule {
        /// One end of its axis.
        from: [f64; 3],
        /// The other.
        to: [f64; 3],
        /// Its radius.
        radius: f64,
        /// Over which length outside the choice fades.
        falloff: f64,
    },
    /// As much as the skin weights of these joints add up to.
    Weights(Vec<String>),
}

/// Tissues that people know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Follows the bones; joints keep their volume, nothing swings.
    Firm,
    /// Tense muscle: a short, small swing.
    Muscle,
    /// Belly and cheeks: two or three swings.
    Fat,
    /// Swings long and far.
    Jelly,
}
