//! What a user may set. One type for the command, the page and the library; every field has a default that works on
//! any character.

use super::metaballs::MetaballsSettings;
use super::smooth::SmoothSettings;
use crate::asset::Curve;
use serde::{Deserialize, Serialize};

/// What numbers may be: checked by [`Settings::check`], and said in the schema.
pub(super) mod limits {
    /// The lowest and the highest.
    pub(crate) type Limits<T> = (T, T);

    /// Regions, those that the character's file brings too.
    pub(crate) const REGIONS: usize = 256;
    /// Fibres, each a curve or a file of curves.
    pub(crate) const FIBRES: usize = 1024;
    /// Painted attributes.
    pub(crate) const PAINTS: usize = 64;
    pub(crate) const TETS: Limits<usize> = (50, 10_000_000);
    pub(crate) const STEP: Limits<f64> = (1e-4, 0.1);
    pub(crate) const ITERATIONS: Limits<u32> = (1, 1000);
    pub(crate) const SWEEPS: Limits<u32> = (0, 1000);
    pub(crate) const SUBSTEPS: Limits<u32> = (1, 100);
    pub(crate) const PREROLL: Limits<f64> = (0.0, 60.0);
    pub(crate) const GRAVITY: Limits<f64> = (-1000.0, 1000.0);
    pub(crate) const UNIT: Limits<f64> = (1e-6, 1e6);
    pub(crate) const TELEPORT: Limits<f64> = (0.1, 1e6);
    /// Of a whole: 0 to 1.
    pub(crate) const SHARE: Limits<f64> = (0.0, 1.0);
    /// Times something else.
    pub(crate) const TIMES: Limits<f64> = (0.0, 10.0);
    pub(crate) const YOUNG: Limits<f64> = (1.0, 1e9);
    /// At 0.5 nothing can be squeezed at all, which has no finite compliance.
    pub(crate) const POISSON: Limits<f64> = (0.25, 0.499);
    pub(crate) const STRAIN_POISSON: Limits<f64> = (0.0, 0.499);
    pub(crate) const GAIN: Limits<f64> = (1.0, 1e6);
    pub(crate) const DENSITY: Limits<f64> = (1.0, 1e5);
    pub(crate) const DAMPING: Limits<f64> = (0.0, 1000.0);
    pub(crate) const SECONDS: Limits<f64> = (0.0, 1e9);
    /// Bone lengths.
    pub(crate) const REACH: Limits<f64> = (0.0, 100.0);
    /// In the character's units, as the next two.
    pub(crate) const LENGTH: Limits<f64> = (1e-9, 1e12);
    pub(crate) const FALLOFF: Limits<f64> = (0.0, 1e12);
    pub(crate) const COORDINATE: Limits<f64> = (-1e12, 1e12);
    /// Powers of the correction map.
    pub(crate) const POWER: Limits<f64> = (0.0, 8.0);
    pub(crate) const SMOOTHINGS: Limits<u32> = (0, 200);
}

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The method by name, where it is not chosen otherwise.
    #[cfg_attr(feature = "schema", schemars(extend("examples" = super::NAMES)))]
    pub method: Option<String>,
    /// A tissue for the whole body: a region on all of it, before all others.
    pub preset: Option<Preset>,
    /// Whether regions that the character's file brings count: flesh under rigid parts, which is firm, VRM springs, and
    /// painted `_SOFTNESS` where neither `preset` nor `region` is set.
    pub file_regions: bool,
    /// How fine the tet body is.
    pub body: BodySettings,
    /// Clock, iterations, gravity: what all simulated methods share.
    pub simulation: SimulationSettings,
    /// The method `smooth`.
    pub smooth: SmoothSettings,
    /// What skins the character under `volume`, and the nodes of the body under `position`.
    pub skinning: Skinning,
    /// Whether skin that has passed through itself at bent joints, or into another limb, is parted after `lbs`, `dqs`,
    /// `smooth`, `volume` and `metaballs` (default: after the last two alone).
    pub overlap: Option<bool>,
    /// The method `volume`.
    pub volume: VolumeSettings,
    /// The method `position`.
    pub position: PositionSettings,
    /// The method `strain`.
    pub strain: StrainSettings,
    /// The method `metaballs`.
    pub metaballs: MetaballsSettings,
    /// Parts of the body that are softer than the rest, in order: of two on one place the later counts.
    #[serde(rename = "region")]
    #[cfg_attr(feature = "schema", schemars(length(max = limits::REGIONS)))]
    pub regions: Vec<Region>,
    /// Fibres of the flesh for the method `strain`: where there are none they follow the bones.
    #[serde(rename = "fibre")]
    #[cfg_attr(feature = "schema", schemars(length(max = limits::FIBRES)))]
    pub fibres: Vec<Fibre>,
    /// Numbers painted on vertices, beside those of the character's file or in their place: for regions `on` what is
    /// painted, for `smooth.fat` and for `volume.painted`.
    #[serde(rename = "paint")]
    #[cfg_attr(feature = "schema", schemars(length(max = limits::PAINTS)))]
    pub paints: Vec<Paint>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: None,
            preset: None,
            file_regions: true,
            body: BodySettings::default(),
            simulation: SimulationSettings::default(),
            smooth: SmoothSettings::default(),
            skinning: Skinning::Lbs,
            overlap: None,
            volume: VolumeSettings::default(),
            position: PositionSettings::default(),
            strain: StrainSettings::default(),
            metaballs: MetaballsSettings::default(),
            regions: Vec::new(),
            fibres: Vec::new(),
            paints: Vec::new(),
        }
    }
}

/// How fine the tet body is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct BodySettings {
    /// About so many tets (default 8000).
    #[cfg_attr(feature = "schema", schemars(range(min = limits::TETS.0, max = limits::TETS.1)))]
    pub tets: Option<usize>,
    /// Lattice cells of this edge, in the character's units, in place of `tets`.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::LENGTH.0, max = limits::LENGTH.1)))]
    pub cell: Option<f64>,
}

/// Clock, iterations, gravity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SimulationSettings {
    /// Seconds from tick to tick of the simulation's own clock, whatever the output rate (default 0.01; `strain` with a
    /// BVH: equal parts of its frame time, of at most 1/60).
    #[cfg_attr(feature = "schema", schemars(range(min = limits::STEP.0, max = limits::STEP.1)))]
    pub step: Option<f64>,
    /// Solver iterations in a tick (default 12 for `position`, 10 for `strain`).
    #[cfg_attr(feature = "schema", schemars(range(min = limits::ITERATIONS.0, max = limits::ITERATIONS.1)))]
    pub iterations: Option<u32>,
    /// Sweeps of the volume constraints alone after the last iteration (default 8 for `position`, 2 for `strain`).
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SWEEPS.0, max = limits::SWEEPS.1)))]
    pub volume_sweeps: Option<u32>,
    /// Seconds, at most, to settle in the first pose before the first frame.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::PREROLL.0, max = limits::PREROLL.1)))]
    pub preroll: f64,
    /// Gravity in metres per second squared; where not set, 9.81 downwards (-Y) in soft regions of `position` and
    /// `metaballs` and in `strain` that is settled, else none.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = limits::GRAVITY.0, max = limits::GRAVITY.1))))]
    pub gravity: Option<[f64; 3]>,
    /// Metres that one unit of the character is long; where not set, guessed for OBJ and BVH, 1 for glTF.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::UNIT.0, max = limits::UNIT.1)))]
    pub metres_per_unit: Option<f64>,
    /// A root that moves faster than this, in body lengths a second, has been cut to another place: velocities are
    /// dropped instead of throwing the flesh.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::TELEPORT.0, max = limits::TELEPORT.1)))]
    pub teleport: f64,
    /// What stiffness means.
    pub model: Model,
    /// Parts that a tick is cut into under the model `compliance`.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SUBSTEPS.0, max = limits::SUBSTEPS.1)))]
    pub substeps: u32,
}

impl Default for SimulationSettings {
    fn default() -> Self {
        Self {
            step: None,
            iterations: None,
            volume_sweeps: None,
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

/// How bones move what has weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Skinning {
    /// Linear blend skinning.
    #[default]
    Lbs,
    /// Dual quaternion skinning.
    Dqs,
    /// As the method `smooth`; under `position` without its bulge, by the character's own weights.
    Smooth,
}

/// The method `volume`. Joints are named, or `#N` for the Nth of the skeleton, from 0 on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct VolumeSettings {
    /// Which skin gives way.
    pub map: CorrectionMap,
    /// Power of the share of weight that a point's first bone has not got: higher, and only the joint itself gives way.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::POWER.0, max = limits::POWER.1)))]
    pub alpha: f64,
    /// Power of the distance from the bone, with the map `organic`.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::POWER.0, max = limits::POWER.1)))]
    pub beta: f64,
    /// Half-steps of smoothing of the map over the skin.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SMOOTHINGS.0, max = limits::SMOOTHINGS.1)))]
    pub smoothing: u32,
    /// Which way skin goes.
    pub direction: Direction,
    /// A painted attribute that the map is multiplied by: `_SOFTNESS`, another of one number whose name starts with `_`, or
    /// a colour channel such as `COLOR_0.r`.
    pub painted: Option<String>,
    /// Joints that count as one, in groups: nothing is corrected between them.
    pub merged: Vec<Vec<String>>,
    /// Joints at which nothing is corrected.
    pub excluded: Vec<String>,
}

impl Default for VolumeSettings {
    fn default() -> Self {
        Self {
            map: CorrectionMap::Organic,
            alpha: 0.5,
            beta: 2.0,
            smoothing: 8,
            direction: Direction::Normals,
            painted: None,
            merged: Vec::new(),
            excluded: Vec::new(),
        }
    }
}

/// Which skin gives way when volume is corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CorrectionMap {
    /// Skin that several bones move, alike all around the joint.
    Rubber,
    /// The same, and more the farther it is from the bone: where there is more flesh.
    #[default]
    Organic,
    /// What is `painted`, alone.
    Painted,
}

/// Which way skin goes when volume is corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Along its normals.
    #[default]
    Normals,
    /// Away from the nearest point of its bone.
    AwayFromBone,
}

/// The method `position`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PositionSettings {
    /// Where nodes start from in a tick.
    pub prediction: Prediction,
    /// How much of their lengths edges keep, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SHARE.0, max = limits::SHARE.1)))]
    pub stretch: f64,
    /// How much of their volumes tets keep, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SHARE.0, max = limits::SHARE.1)))]
    pub volume: f64,
    /// How firmly nodes keep their distance from the bone, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SHARE.0, max = limits::SHARE.1)))]
    pub bind: f64,
    /// Under the model `compliance`: Young's modulus in pascals.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::YOUNG.0, max = limits::YOUNG.1)))]
    pub young: f64,
    /// Under the model `compliance`: Poisson's ratio, 0.25 to below 0.5.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::POISSON.0, max = limits::POISSON.1)))]
    pub poisson: f64,
    /// Kilograms per cubic metre.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::DENSITY.0, max = limits::DENSITY.1)))]
    pub density: f64,
}

impl Default for PositionSettings {
    fn default() -> Self {
        Self {
            prediction: Prediction::Advected,
            stretch: 0.75,
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

/// The method `strain`. Numbers along axes are for the first, second and third axis of the flesh's frames (the first
/// goes along fibres, or along bones); shear is between the first and second, first and third, second and third.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct StrainSettings {
    /// How much of their lengths tets keep along each axis, 0 to 1; under `compliance`, times the modulus.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = limits::SHARE.0, max = limits::SHARE.1))))]
    pub stretch: [f64; 3],
    /// How much of their angles tets keep between axes, 0 to 1; under `compliance`, times the modulus.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = limits::SHARE.0, max = limits::SHARE.1))))]
    pub shear: [f64; 3],
    /// How much of their volumes tets keep, 0 to 1; under `compliance`, times the modulus.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SHARE.0, max = limits::SHARE.1)))]
    pub volume: f64,
    /// In how many of the iterations layers count as heavy once they are done (default: 6 in 10 where the flesh is stiff,
    /// none where it is soft).
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SWEEPS.0, max = limits::SWEEPS.1)))]
    pub consolidating: Option<u32>,
    /// How many times heavier a layer counts in consolidating iterations once it is done.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::GAIN.0, max = limits::GAIN.1)))]
    pub mass_gain: f64,
    /// In which order tets are solved.
    pub order: StrainOrder,
    /// How motion against the bones dies away.
    pub damping_model: Damping,
    /// How fast motion against the bones dies away, per second: `exp(-damping t)`.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::DAMPING.0, max = limits::DAMPING.1)))]
    pub damping: f64,
    /// How fast flesh returns to where its bones carry it as long as the joints nearby are straight, per second, times the
    /// `bind` of regions: 0 leaves it to the constraints alone, and what a bone does not reach may turn far from it.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::DAMPING.0, max = limits::DAMPING.1)))]
    pub hold: f64,
    /// Whether the rest shape is what gravity has made of the flesh: then gravity is on, and the rest pose does not sag.
    pub settled: bool,
    /// Young's modulus in pascals, under `compliance`.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::YOUNG.0, max = limits::YOUNG.1)))]
    pub young: f64,
    /// Poisson's ratio, under `compliance`.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::STRAIN_POISSON.0, max = limits::STRAIN_POISSON.1)))]
    pub poisson: f64,
    /// Kilograms per cubic metre.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::DENSITY.0, max = limits::DENSITY.1)))]
    pub density: f64,
}

impl Default for StrainSettings {
    fn default() -> Self {
        Self {
            stretch: [0.4; 3],
            shear: [0.18; 3],
            volume: 1.0,
            consolidating: None,
            mass_gain: 15.0,
            order: StrainOrder::Layered,
            damping_model: Damping::Viscous,
            damping: 40.0,
            hold: 30.0,
            settled: false,
            young: 3e4,
            poisson: 0.45,
            density: 1000.0,
        }
    }
}

/// In which order tets are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StrainOrder {
    /// From the bones outwards.
    #[default]
    Layered,
    /// As they come: to compare with.
    Unordered,
}

/// How motion dies away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Damping {
    /// All motion against the bones, as in a syrup that goes with them.
    #[default]
    Viscous,
    /// Only what is not motion of the whole: its momentum and angular momentum stay.
    Momentum,
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
    /// A tissue that people know (where none is named, fat); what is set beside it counts more.
    pub preset: Option<Preset>,
    /// How far the flesh follows its own inertia instead of the bones, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SHARE.0, max = limits::SHARE.1)))]
    pub softness: Option<f64>,
    /// Times the method's stretch stiffness.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::TIMES.0, max = limits::TIMES.1)))]
    pub stretch: Option<f64>,
    /// Times the method's volume stiffness.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::TIMES.0, max = limits::TIMES.1)))]
    pub volume: Option<f64>,
    /// Times the method's bind stiffness.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::TIMES.0, max = limits::TIMES.1)))]
    pub bind: Option<f64>,
    /// Times the stretch stiffness along each axis of the frames once more: fibres (`strain`).
    #[cfg_attr(feature = "schema", schemars(inner(range(min = limits::TIMES.0, max = limits::TIMES.1))))]
    pub along: Option<[f64; 3]>,
    /// Times the shear stiffness between the axes (`strain`); where not set, as `stretch`.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = limits::TIMES.0, max = limits::TIMES.1))))]
    pub shear: Option<[f64; 3]>,
    /// How fast its swings against the bones die away, per second: `exp(-damping t)`.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::DAMPING.0, max = limits::DAMPING.1)))]
    pub damping: Option<f64>,
    /// Seconds of the clip from which on it is soft.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SECONDS.0, max = limits::SECONDS.1)))]
    pub start: Option<f64>,
    /// Seconds of the clip until which it is soft.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SECONDS.0, max = limits::SECONDS.1)))]
    pub end: Option<f64>,
}

/// Which part of the skin, and how much of each vertex, 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Place {
    /// All of it.
    All,
    /// A number painted on the file's vertices: `_SOFTNESS`, another attribute of one number whose name starts with
    /// `_`, or a colour channel such as `COLOR_0.r`.
    Painted(String),
    /// Skin around the bones of a joint: 1 as far as `reach` of the bone's length, 0 from `reach + falloff` on.
    Bone {
        /// The joint's name, or `#N` for the Nth of the skeleton, from 0 on.
        joint: String,
        /// Distance from the bone, in bone lengths, up to which skin is chosen wholly.
        #[serde(default = "Place::default_reach")]
        #[cfg_attr(feature = "schema", schemars(range(min = limits::REACH.0, max = limits::REACH.1)))]
        reach: f64,
        /// Over how many bone lengths beyond `reach` the choice fades.
        #[serde(default = "Place::default_reach")]
        #[cfg_attr(feature = "schema", schemars(range(min = limits::REACH.0, max = limits::REACH.1)))]
        falloff: f64,
    },
    /// A ball in the rest pose.
    Sphere {
        /// Its middle, in the character's units.
        #[cfg_attr(feature = "schema", schemars(inner(range(min = limits::COORDINATE.0, max = limits::COORDINATE.1))))]
        center: [f64; 3],
        /// Its radius.
        #[cfg_attr(feature = "schema", schemars(range(min = limits::LENGTH.0, max = limits::LENGTH.1)))]
        radius: f64,
        /// Over which length outside the choice fades; half the radius where not set.
        #[cfg_attr(feature = "schema", schemars(range(min = limits::FALLOFF.0, max = limits::FALLOFF.1)))]
        falloff: Option<f64>,
    },
    /// A capsule in the rest pose.
    Capsule {
        /// One end of its axis, in the character's units.
        #[cfg_attr(feature = "schema", schemars(inner(range(min = limits::COORDINATE.0, max = limits::COORDINATE.1))))]
        from: [f64; 3],
        /// The other end of its axis.
        #[cfg_attr(feature = "schema", schemars(inner(range(min = limits::COORDINATE.0, max = limits::COORDINATE.1))))]
        to: [f64; 3],
        /// Its radius.
        #[cfg_attr(feature = "schema", schemars(range(min = limits::LENGTH.0, max = limits::LENGTH.1)))]
        radius: f64,
        /// Over which length outside the choice fades; half the radius where not set.
        #[cfg_attr(feature = "schema", schemars(range(min = limits::FALLOFF.0, max = limits::FALLOFF.1)))]
        falloff: Option<f64>,
    },
    /// As much as the skin weights of these joints add up to. Joints by name, or `#N`.
    Weights(Vec<String>),
}

impl Place {
    /// Half a bone's length: a limb is about as thick.
    fn default_reach() -> f64 {
        0.5
    }
}

/// A fibre of the flesh: a NURBS curve in the rest pose, or a file of curves. The flesh around runs along it, and may have
/// a material of its own near it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Fibre {
    /// What warnings call it.
    pub name: String,
    /// Control points in the rest pose, in the character's units.
    pub points: Vec<[f64; 3]>,
    /// Degree of the curve: 1 is straight from point to point (default: what the knots ask for, else 3, or less where there are fewer points).
    pub degree: Option<usize>,
    /// Weights of the control points, one for each (default: all 1).
    pub weights: Option<Vec<f64>>,
    /// Knots, as many as points and degree and one together (default: clamped, evenly spaced).
    pub knots: Option<Vec<f64>>,
    /// A `.json` or `.obj` file of curves in place of `points`, in the folder of the settings file or below.
    pub file: Option<String>,
    /// Distance up to which `stretch`, `shear` and `volume` count wholly (default: a twentieth of the character's size).
    #[cfg_attr(feature = "schema", schemars(range(min = limits::LENGTH.0, max = limits::LENGTH.1)))]
    pub radius: Option<f64>,
    /// Over which length beyond `radius` its `stretch`, `shear` and `volume` fade (default: half the radius).
    #[cfg_attr(feature = "schema", schemars(range(min = limits::FALLOFF.0, max = limits::FALLOFF.1)))]
    pub falloff: Option<f64>,
    /// In place of the method's stretch stiffness.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = limits::SHARE.0, max = limits::SHARE.1))))]
    pub stretch: Option<[f64; 3]>,
    /// In place of the method's shear stiffness.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = limits::SHARE.0, max = limits::SHARE.1))))]
    pub shear: Option<[f64; 3]>,
    /// In place of the method's volume stiffness.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SHARE.0, max = limits::SHARE.1)))]
    pub volume: Option<f64>,
    /// The curves of `file` with their names, once it is read.
    #[serde(skip)]
    pub drawn: Vec<(String, Curve)>,
}

/// A painted attribute. Vertices are those of all skinned meshes one after the other, in the file's order, from 0 on; those
/// that are not listed are 0.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Paint {
    /// What regions and methods call it; starts with `_`.
    pub name: String,
    /// The vertices that have paint.
    pub vertices: Vec<u32>,
    /// How much each has, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = limits::SHARE.0, max = limits::SHARE.1))))]
    pub values: Vec<f32>,
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

#[cfg(feature = "schema")]
impl Settings {
    /// The JSON schema of a settings file.
    pub fn schema() -> schemars::Schema {
        schemars::schema_for!(Self)
    }
}
