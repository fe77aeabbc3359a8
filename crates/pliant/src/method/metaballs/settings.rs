//! What a user may set of balls.

use super::super::check::{Checked, SettingsError, named, optional, point, within};
use super::super::settings::limits::{self, Limits};
use serde::{Deserialize, Serialize};

const BALLS: Limits<usize> = (10, 10_000);
/// Times the limb's radius.
const RADII: Limits<f64> = (0.0, 10.0);
const PASSES: Limits<u32> = (0, 100);
/// Least and most that a muscle grows by in a bend of 90 degrees, over its radius.
const BULGE: Limits<f64> = (-0.9, 5.0);
const MUSCLES: usize = 256;
const WAY_POINTS: usize = 64;

/// The method `metaballs`. Joints are named, or `#N` for the Nth of the skeleton, from 0 on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MetaballsSettings {
    /// About so many balls fill the body.
    #[cfg_attr(feature = "schema", schemars(range(min = BALLS.0, max = BALLS.1)))]
    pub balls: usize,
    /// Which weights tie balls and skin to the bones.
    pub weights: BallWeights,
    /// How much of their lengths springs between balls keep, 0 to 1: 0 leaves them out.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SHARE.0, max = limits::SHARE.1)))]
    pub springs: f64,
    /// How far a joint's ball reaches, in radii of the limb: 0 leaves them out.
    #[cfg_attr(feature = "schema", schemars(range(min = RADII.0, max = RADII.1)))]
    pub joint_radius: f64,
    /// The part of `joint_radius`, from the joint, within which the skin follows the joint's ball alone.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SHARE.0, max = limits::SHARE.1)))]
    pub inner_radius: f64,
    /// Times the swelling that keeps the volume of flesh that a bend squeezes at a joint: 0 leaves it out. Where overlaps are
    /// parted there is none, since it would swell into itself.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::TIMES.0, max = limits::TIMES.1)))]
    pub joint_swelling: f64,
    /// Half-steps of smoothing where joints' balls end: 0 leaves them out.
    #[cfg_attr(feature = "schema", schemars(range(min = PASSES.0, max = PASSES.1)))]
    pub border_steps: u32,
    /// How often the shape filter brings back the skin's own detail around joints: 0 leaves it out.
    #[cfg_attr(feature = "schema", schemars(range(min = PASSES.0, max = PASSES.1)))]
    pub filter_steps: u32,
    /// How much of the skin's detail each of the `filter_steps` brings back, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::SHARE.0, max = limits::SHARE.1)))]
    pub filter: f64,
    /// How much the muscles of a human body (biceps, triceps, quadriceps, hamstrings, calf, deltoid) grow in a bend of
    /// 90 degrees, over their radius; where not set there are none but those of `muscle`.
    #[cfg_attr(feature = "schema", schemars(range(min = BULGE.0, max = BULGE.1)))]
    pub humanoid_muscles: Option<f64>,
    /// Muscles of the user's own.
    #[serde(rename = "muscle")]
    #[cfg_attr(feature = "schema", schemars(length(max = MUSCLES)))]
    pub muscles: Vec<Muscle>,
    /// Joints whose ball is larger or smaller than others.
    #[serde(rename = "joint")]
    pub joints: Vec<BallJoint>,
}

impl Default for MetaballsSettings {
    fn default() -> Self {
        Self {
            balls: 500,
            weights: BallWeights::Auto,
            springs: 0.5,
            joint_radius: 2.2,
            inner_radius: 0.5,
            joint_swelling: 1.0,
            border_steps: 4,
            filter_steps: 2,
            filter: 0.5,
            humanoid_muscles: None,
            muscles: Vec::new(),
            joints: Vec::new(),
        }
    }
}

/// Which weights tie balls and skin to the bones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BallWeights {
    /// `inside` where that agrees with the character's own on whose skin is whose, else `file`.
    #[default]
    Auto,
    /// By distances from the bones through the inside of the body, whatever the file has: `(1/d)^8`.
    Inside,
    /// The character's own: what its file has, or what was made of distances through the inside where it has none.
    File,
}

/// The ball of a joint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BallJoint {
    /// The joint's name, or `#N` for the Nth of the skeleton, from 0 on.
    pub joint: String,
    /// How far its ball reaches, in radii of the limb, in place of `joint_radius`.
    #[cfg_attr(feature = "schema", schemars(range(min = RADII.0, max = RADII.1)))]
    pub radius: f64,
}

/// A muscle along a line from one bone to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Muscle {
    /// What warnings call it.
    #[serde(default)]
    pub name: String,
    /// Where it starts.
    pub from: MusclePoint,
    /// Points on its way.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = WAY_POINTS)))]
    pub via: Vec<MusclePoint>,
    /// Where it ends: on the bone that it moves.
    pub to: MusclePoint,
    /// How much it grows in a bend of 90 degrees, or when it has shortened to nothing, over its radius.
    #[serde(default = "Muscle::default_gain")]
    #[cfg_attr(feature = "schema", schemars(range(min = BULGE.0, max = BULGE.1)))]
    pub gain: f64,
    /// Distance from its line up to which flesh is its own, in the character's units (default: a third of its length).
    #[cfg_attr(feature = "schema", schemars(range(min = limits::LENGTH.0, max = limits::LENGTH.1)))]
    pub radius: Option<f64>,
    /// What it grows with.
    #[serde(default)]
    pub driver: Driver,
}

impl Muscle {
    fn default_gain() -> f64 {
        0.3
    }
}

/// A point that goes with a bone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MusclePoint {
    /// The joint whose bone it goes with: its name, or `#N`.
    pub joint: String,
    /// Where it is in the rest pose, in the character's units (default: the middle of the bone).
    #[cfg_attr(feature = "schema", schemars(inner(range(min = limits::COORDINATE.0, max = limits::COORDINATE.1))))]
    pub at: Option<[f64; 3]>,
}

/// What a muscle grows with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Driver {
    /// The bend of the bone that it ends on against the one that it starts on, as long as the line is shorter than at rest:
    /// `r (1 + gain bend/90)`.
    #[default]
    Bend,
    /// What the line is shorter than at rest by: `r (1 + gain (1 - l/l0))`.
    Shortening,
}

impl MetaballsSettings {
    pub(in crate::method) fn check(&self) -> Checked {
        within("balls", self.balls, BALLS)?;
        within("springs", self.springs, limits::SHARE)?;
        within("joint_radius", self.joint_radius, RADII)?;
        within("inner_radius", self.inner_radius, limits::SHARE)?;
        within("joint_swelling", self.joint_swelling, limits::TIMES)?;
        within("border_steps", self.border_steps, PASSES)?;
        within("filter_steps", self.filter_steps, PASSES)?;
        within("filter", self.filter, limits::SHARE)?;
        optional("humanoid_muscles", self.humanoid_muscles, BULGE)?;
        few("muscle", self.muscles.len(), MUSCLES)?;
        for (index, muscle) in self.muscles.iter().enumerate() {
            muscle.check().map_err(|e| e.under(&format!("muscle[{index}]")))?;
        }
        for (index, joint) in self.joints.iter().enumerate() {
            let check = named("joint", &joint.joint).and_then(|()| within("radius", joint.radius, RADII));
            check.map_err(|e| e.under(&format!("joint[{index}]")))?;
        }
        Ok(())
    }
}

impl Muscle {
    /// Its points, from its start to its end, and what they are called in a settings file.
    pub(super) fn points(&self) -> impl Iterator<Item = (String, &MusclePoint)> {
        let via = self.via.iter().enumerate().map(|(k, point)| (format!("via[{k}]"), point));
        let (from, to) = (("from".to_owned(), &self.from), ("to".to_owned(), &self.to));
        std::iter::once(from).chain(via).chain(std::iter::once(to))
    }

    fn check(&self) -> Checked {
        few("via", self.via.len(), WAY_POINTS)?;
        for (key, place) in self.points() {
            named("joint", &place.joint).map_err(|e| e.under(&key))?;
            place.at.iter().try_for_each(|at| point("at", at)).map_err(|e| e.under(&key))?;
        }
        within("gain", self.gain, BULGE)?;
        optional("radius", self.radius, limits::LENGTH)
    }
}

fn few(path: &str, count: usize, most: usize) -> Checked {
    if count > most {
        return Err(SettingsError::new(path, format!("{count} are too many"), format!("{most} at most")));
    }
    Ok(())
}
