//! What a user may set for smooth skinning.

use crate::asset::Character;
use crate::method::check::{Checked, SettingsError, named, optional, within};
use crate::method::regions::{Joints, no_joint};
use crate::method::settings::limits;
use crate::skin::smooth::{JointControl, SmoothOptions};
use serde::{Deserialize, Serialize};

/// Degrees, the limit angle.
pub(super) const LIMIT_ANGLE: limits::Limits<f64> = (5.0, 80.0);
const RIDGE_WIDTH: limits::Limits<f64> = (0.2, 4.0);
/// Limb radii.
const FAT_RADIUS: limits::Limits<f64> = (0.1, 100.0);
const JOINTS: usize = 1024;

/// The method `smooth`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SmoothSettings {
    /// Which weights it blends by.
    pub weights: SmoothWeights,
    /// Degrees from a bone within which the skin moves with that bone alone, under `angle`; the bulge's ridge lies there.
    #[cfg_attr(feature = "schema", schemars(range(min = LIMIT_ANGLE.0, max = LIMIT_ANGLE.1)))]
    pub limit_angle: f64,
    /// Whether the limit angle shrinks as a joint bends, to at most half the angle between the bones, under `angle`
    /// (default: where `overlap` parts the skin; it costs volume).
    pub dynamic_limit: Option<bool>,
    /// Times the bulge that brings the volume back; 0 is none.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::TIMES.0, max = limits::TIMES.1)))]
    pub bulge: f64,
    /// How wide the bulge's ridge is.
    #[cfg_attr(feature = "schema", schemars(range(min = RIDGE_WIDTH.0, max = RIDGE_WIDTH.1)))]
    pub ridge_width: f64,
    /// How far from a joint flesh bulges, in radii of the limb.
    #[cfg_attr(feature = "schema", schemars(range(min = FAT_RADIUS.0, max = FAT_RADIUS.1)))]
    pub fat_radius: f64,
    /// How much each vertex may bulge: a number painted on the file's vertices, or a colour's channel.
    pub fat: Option<String>,
    /// Joints with settings of their own.
    #[serde(rename = "joint")]
    #[cfg_attr(feature = "schema", schemars(length(max = JOINTS)))]
    pub joints: Vec<SmoothJoint>,
}

impl Default for SmoothSettings {
    fn default() -> Self {
        Self {
            weights: SmoothWeights::File,
            limit_angle: 30.0,
            dynamic_limit: None,
            bulge: 1.0,
            ridge_width: 1.6,
            fat_radius: 4.0,
            fat: None,
            joints: Vec::new(),
        }
    }
}

/// Which weights `smooth` blends by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SmoothWeights {
    /// The character's own; from angles where its file has none.
    #[default]
    File,
    /// From the angles at the joints, whatever the file has.
    Angle,
}

/// A joint of the method `smooth`; what is not set is as for the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SmoothJoint {
    /// The joint's name, or `#N` for the Nth of the skeleton, from 0 on.
    pub joint: String,
    /// Degrees from a bone within which the skin moves with that bone alone.
    #[cfg_attr(feature = "schema", schemars(range(min = LIMIT_ANGLE.0, max = LIMIT_ANGLE.1)))]
    pub limit_angle: Option<f64>,
    /// Times the bulge that brings the volume back; 0 is none.
    #[cfg_attr(feature = "schema", schemars(range(min = limits::TIMES.0, max = limits::TIMES.1)))]
    pub bulge: Option<f64>,
    /// How wide the bulge's ridge is.
    #[cfg_attr(feature = "schema", schemars(range(min = RIDGE_WIDTH.0, max = RIDGE_WIDTH.1)))]
    pub ridge_width: Option<f64>,
    /// How far from the joint flesh bulges, in radii of the limb.
    #[cfg_attr(feature = "schema", schemars(range(min = FAT_RADIUS.0, max = FAT_RADIUS.1)))]
    pub fat_radius: Option<f64>,
    /// How much each vertex may bulge here: a painted attribute.
    pub fat: Option<String>,
}

impl SmoothSettings {
    /// Whether the numbers can be computed with.
    pub(in crate::method) fn check(&self) -> Checked {
        within("limit_angle", self.limit_angle, LIMIT_ANGLE)?;
        within("bulge", self.bulge, limits::TIMES)?;
        within("ridge_width", self.ridge_width, RIDGE_WIDTH)?;
        within("fat_radius", self.fat_radius, FAT_RADIUS)?;
        self.fat.iter().try_for_each(|fat| named("fat", fat))?;
        if self.joints.len() > JOINTS {
            let what = format!("{} are too many", self.joints.len());
            return Err(SettingsError::new("joint", what, format!("{JOINTS} at most")));
        }
        for (index, joint) in self.joints.iter().enumerate() {
            joint.check().map_err(|e| e.under(&format!("joint[{index}]")))?;
        }
        Ok(())
    }

    /// The painted attributes that are named.
    pub fn painted(&self) -> impl Iterator<Item = &str> {
        self.fat.iter().chain(self.joints.iter().filter_map(|j| j.fat.as_ref())).map(|name| &name[..])
    }

    /// What is set, for a character: looks up joints and paint. `parts`: whether overlaps are parted afterwards.
    pub(in crate::method) fn options(
        &self,
        character: &Character,
        parts: bool,
    ) -> Result<SmoothOptions, SettingsError> {
        let usual = JointControl {
            limit_angle: self.limit_angle.to_radians(),
            gain: self.bulge,
            ridge_width: self.ridge_width,
            fat_radius: self.fat_radius,
            fat: self.fat.as_ref().map(|fat| paint(character, fat)).transpose()?,
        };
        let dynamic_limit = self.dynamic_limit.unwrap_or(parts) && self.weights == SmoothWeights::Angle;
        let mut options = SmoothOptions { usual, dynamic_limit, ..SmoothOptions::default() };
        let joints = Joints::of(character.skeleton());
        for (index, joint) in self.joints.iter().enumerate() {
            let under = |e: SettingsError| e.under(&format!("joint[{index}]"));
            let missing = || under(no_joint("joint", &joint.joint, character.skeleton()));
            let fat = joint.fat.as_ref().map(|fat| paint(character, fat).map_err(under)).transpose()?;
            for number in joints.find(&joint.joint).ok_or_else(missing)? {
                let control = options.joints.entry(number).or_insert_with(|| options.usual.clone());
                control.limit_angle = joint.limit_angle.map_or(control.limit_angle, f64::to_radians);
                control.gain = joint.bulge.unwrap_or(control.gain);
                control.ridge_width = joint.ridge_width.unwrap_or(control.ridge_width);
                control.fat_radius = joint.fat_radius.unwrap_or(control.fat_radius);
                if fat.is_some() {
                    control.fat.clone_from(&fat);
                }
            }
        }
        Ok(options)
    }
}

impl SmoothJoint {
    fn check(&self) -> Checked {
        named("joint", &self.joint)?;
        optional("limit_angle", self.limit_angle, LIMIT_ANGLE)?;
        optional("bulge", self.bulge, limits::TIMES)?;
        optional("ridge_width", self.ridge_width, RIDGE_WIDTH)?;
        optional("fat_radius", self.fat_radius, FAT_RADIUS)?;
        self.fat.iter().try_for_each(|fat| named("fat", fat))
    }
}

fn paint(character: &Character, name: &str) -> Result<Vec<f32>, SettingsError> {
    let found = character.paint().iter().find(|p| p.name == name);
    let names = character.paint().iter().map(|p| &p.name[..]);
    let missing = || SettingsError::unknown("fat", "painted attribute", name, names);
    Ok(found.ok_or_else(missing)?.values.clone())
}
