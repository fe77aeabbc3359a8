//! Regions to numbers: how much of each skin vertex a region takes, and what its tissue is.

use super::check::SettingsError;
use super::metaballs;
use super::settings::{Place, Preset, Region, Settings};
use crate::asset::{Bone, Character, Painted, RawCharacter, Skeleton};
use glam::DVec3;
use std::collections::BTreeMap;

/// The painted attribute that needs no settings.
pub const SOFTNESS: &str = "_SOFTNESS";

/// A bone shorter than this, over the skin's size, has no length to measure by.
const SHORTEST_BONE: f64 = 1e-6;
/// What serves it instead, over the skin's size: a limb's thickness.
const LONE_LENGTH: f64 = 0.1;

/// What flesh is like, in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tissue {
    /// How far it follows its own inertia instead of the bones, 0 to 1.
    pub softness: f64,
    /// Times the method's stretch stiffness.
    pub stretch: f64,
    /// Times the method's volume stiffness.
    pub volume: f64,
    /// Times the method's bind stiffness.
    pub bind: f64,
    /// Times the stretch stiffness along each axis of the frames once more.
    pub along: [f64; 3],
    /// Times the shear stiffness between them.
    pub shear: [f64; 3],
    /// Rate at which motion against the bones is lost: `exp(-damping t)`.
    pub damping: f64,
}

impl Preset {
    /// What the tissue is like.
    ///
    /// Against the method's stretch 0.75 and bind 0.3, fat comes to 0.1 and 0.05: two or three visible swings. Muscle is
    /// four times as stiff along its fibres as across.
    pub fn tissue(self) -> Tissue {
        let [softness, stretch, bind, damping] = match self {
            Self::Firm => [0.0, 1.0, 1.0, 6.0],
            Self::Muscle => [0.5, 0.5, 0.6, 5.0],
            Self::Fat => [1.0, 0.13, 0.17, 1.5],
            Self::Jelly => [1.0, 0.065, 0.06, 0.6],
        };
        let along = if self == Self::Muscle { [4.0, 1.0, 1.0] } else { [1.0; 3] };
        Tissue { softness, stretch, volume: 1.0, bind, along, shear: [stretch; 3], damping }
    }
}

impl Region {
    /// A region with a preset, called `name`.
    pub fn new(name: impl Into<String>, on: Place, preset: Preset) -> Self {
        Self {
            name: name.into(),
            on,
            preset: Some(preset),
            softness: None,
            stretch: None,
            volume: None,
            bind: None,
            along: None,
            shear: None,
            damping: None,
            start: None,
            end: None,
        }
    }

    /// Its tissue: the preset's, with what is set beside it.
    pub fn resolved(&self) -> Tissue {
        let preset = self.preset.unwrap_or(Preset::Fat).tissue();
        let stretch = self.stretch.unwrap_or(preset.stretch);
        Tissue {
            softness: self.softness.unwrap_or(preset.softness),
            stretch,
            volume: self.volume.unwrap_or(preset.volume),
            bind: self.bind.unwrap_or(preset.bind),
            along: self.along.unwrap_or(preset.along),
            shear: self.shear.unwrap_or([stretch; 3]),
            damping: self.damping.unwrap_or(preset.damping),
        }
    }

    /// Whether its flesh follows its own inertia.
    pub fn is_soft(&self) -> bool {
        self.resolved().softness > 0.0
    }

    /// How much of each vertex of the skin it takes, 0 to 1. Fades are smooth at both ends.
    pub fn choice(&self, character: &Character) -> Result<Vec<f32>, SettingsError> {
        let found = Found::new(&self.on, character).map_err(|e| e.under("on"))?;
        Ok(found.choice(character))
    }
}

impl Settings {
    /// Whether the character has the joints and painted attributes that regions and methods name.
    pub fn check_on(&self, character: &Character) -> Result<(), SettingsError> {
        let check =
            |region: &Region| Found::new(&region.on, character).map(|_| ()).map_err(|e| e.under("on"));
        self.each_region(check).map(|_: Vec<()>| ())?;
        self.smooth.options(character, false).map(|_| ()).map_err(|e| e.under("smooth"))?;
        self.volume.options(character).map(|_| ()).map_err(|e| e.under("volume"))?;
        metaballs::check_on(character, &self.metaballs).map_err(|e| e.under("metaballs"))
    }

    /// How much of each vertex of the skin each region takes: see [`Region::choice`].
    pub fn choices(&self, character: &Character) -> Result<Vec<Vec<f32>>, SettingsError> {
        self.each_region(|region| region.choice(character))
    }

    fn each_region<T>(
        &self,
        work: impl Fn(&Region) -> Result<T, SettingsError>,
    ) -> Result<Vec<T>, SettingsError> {
        let numbered = self.regions.iter().enumerate();
        numbered.map(|(i, region)| work(region).map_err(|e| e.under(&format!("region[{i}]")))).collect()
    }

    /// Puts the settings' own paint on a character, in the place of any of the same name.
    pub fn paint(&self, character: &mut RawCharacter) -> Result<(), SettingsError> {
        let count = character.surface.positions().len();
        for (index, paint) in self.paints.iter().enumerate() {
            let mut values = vec![0.0; count];
            for (&vertex, &value) in paint.vertices.iter().zip(&paint.values) {
                let place = values.get_mut(vertex as usize).ok_or_else(|| {
                    let what = format!("there is no vertex {vertex}: the skin has {count}");
                    let allowed = "this paint is of another character, or of another export of it";
                    SettingsError::new(format!("paint[{index}].vertices"), what, allowed)
                })?;
                *place = value;
            }
            character.paint.retain(|painted| painted.name != paint.name);
            character.paint.push(Painted { name: paint.name.clone(), values });
        }
        Ok(())
    }

    /// Puts regions that the character brings before those that the user has set, unless `file_regions` is off:
    /// `described` are those that its file describes; a painted `_SOFTNESS` is fat where the user has named neither a
    /// preset nor a region. Gives a line to tell the user for each soft one.
    pub fn add_regions_of(&mut self, character: &Character, described: Vec<Region>) -> Vec<String> {
        if !self.file_regions {
            return Vec::new();
        }
        let mut brought = described;
        let soft = brought.iter().filter(|r| r.is_soft());
        let mut notes: Vec<String> = soft.map(|r| format!("'{}' is soft", r.name)).collect();
        let silent = self.preset.is_none() && self.regions.is_empty();
        if silent && character.paint().iter().any(|p| p.name == SOFTNESS) {
            brought.push(Region::new(SOFTNESS, Place::Painted(SOFTNESS.to_owned()), Preset::Fat));
            notes.push(format!("what is painted {SOFTNESS} is soft as fat"));
        }
        self.regions.splice(0..0, brought);
        notes
    }

    /// With a preset for the whole body turned into the first region, for methods that look at regions alone.
    pub(super) fn spelled_out(&self) -> Self {
        let mut spelled = self.clone();
        if let Some(preset) = spelled.preset.take() {
            spelled.regions.insert(0, Region::new("all", Place::All, preset));
        }
        spelled
    }
}

/// A place whose names have been looked up.
enum Found<'a> {
    All,
    Painted(&'a [f32]),
    /// Bones, each with the distances to which it chooses wholly and over which it fades.
    Bones(Vec<(Bone, f64, f64)>),
    /// A capsule (a ball where both ends are one).
    Capsule {
        axis: Bone,
        radius: f64,
        falloff: f64,
    },
    /// For each slot whether it counts.
    Slots(Vec<bool>),
}

impl<'a> Found<'a> {
    fn new(place: &Place, character: &'a Character) -> Result<Self, SettingsError> {
        let skeleton = character.skeleton();
        match place {
            Place::All => Ok(Self::All),
            Place::Painted(name) => {
                let paint = character.paint();
                let painted = paint.iter().find(|p| p.name == *name);
                let names = paint.iter().map(|p| &p.name[..]);
                let missing = || SettingsError::unknown("painted", "painted attribute", name, names);
                Ok(Self::Painted(&painted.ok_or_else(missing)?.values))
            }
            Place::Bone { joint, reach, falloff } => {
                let joints = Joints::of(skeleton)
                    .find(joint)
                    .ok_or_else(|| no_joint("bone.joint", joint, skeleton))?;
                let mut bones = skeleton.bones();
                bones.retain(|bone| joints.contains(&bone.joint));
                if bones.is_empty() {
                    let what = format!("no skin is bound to '{joint}'");
                    return Err(SettingsError::new("bone.joint", what, "name a joint that moves skin"));
                }
                let size = character.diagonal();
                let measured = bones.into_iter().map(|bone| {
                    let length = bone.start.distance(bone.end);
                    let length = if length > SHORTEST_BONE * size { length } else { LONE_LENGTH * size };
                    (bone, reach * length, falloff * length)
                });
                Ok(Self::Bones(measured.collect()))
            }
            Place::Sphere { center, radius, falloff } => Ok(Self::capsule(center, center, *radius, *falloff)),
            Place::Capsule { from, to, radius, falloff } => Ok(Self::capsule(from, to, *radius, *falloff)),
            Place::Weights(names) => {
                let joints = Joints::of(skeleton);
                let mut counts = vec![false; skeleton.len()];
                for name in names {
                    let found = joints.find(name).ok_or_else(|| no_joint("weights", name, skeleton))?;
                    found.iter().for_each(|&joint| counts[joint as usize] = true);
                }
                Ok(Self::Slots(character.slots().iter().map(|slot| counts[slot.joint as usize]).collect()))
            }
        }
    }

    fn capsule(from: &[f64; 3], to: &[f64; 3], radius: f64, falloff: Option<f64>) -> Self {
        let [start, end] = [from, to].map(|&p| DVec3::from_array(p));
        let axis = Bone { joint: 0, end_joint: None, start, end };
        Self::Capsule { axis, radius, falloff: falloff.unwrap_or(0.5 * radius) }
    }

    fn choice(&self, character: &Character) -> Vec<f32> {
        let each = |work: &dyn Fn(DVec3) -> f64| {
            character.rest_positions().iter().map(|p| work(p.as_dvec3()) as f32).collect()
        };
        let count = character.surface().positions().len();
        match self {
            Self::All => vec![1.0; count],
            Self::Painted(values) => values.to_vec(),
            Self::Bones(bones) => each(&|p| {
                let choices = bones.iter().map(|(bone, reach, over)| fade(bone.distance(p), *reach, *over));
                choices.fold(0.0, f64::max)
            }),
            Self::Capsule { axis, radius, falloff } => each(&|p| fade(axis.distance(p), *radius, *falloff)),
            Self::Slots(counts) => {
                let sum = |vertex: usize| -> f32 {
                    let counted = character.weights().of(vertex).filter(|w| counts[w.0 as usize]);
                    counted.map(|w| w.1).sum::<f32>().min(1.0)
                };
                (0..count).map(sum).collect()
            }
        }
    }
}

/// 1 up to a distance, then smoothly to 0 over another: `1 - t^2 (3 - 2t)`.
fn fade(distance: f64, reach: f64, over: f64) -> f64 {
    if distance <= reach {
        return 1.0;
    }
    // Over no length at all there is no fading.
    let t = ((distance - reach) / over).min(1.0);
    1.0 - t * t * (3.0 - 2.0 * t)
}

/// Joints by name: several may share one.
pub(super) struct Joints<'s> {
    by_name: BTreeMap<&'s str, Vec<u32>>,
    count: usize,
}

impl<'s> Joints<'s> {
    pub(super) fn of(skeleton: &'s Skeleton) -> Self {
        let mut by_name: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (index, joint) in skeleton.joints().iter().enumerate() {
            by_name.entry(&joint.name).or_default().push(index as u32);
        }
        Self { by_name, count: skeleton.len() }
    }

    /// By name, or by `#N` where none is called that.
    pub(super) fn find(&self, name: &str) -> Option<Vec<u32>> {
        let numbered = || name.strip_prefix('#')?.parse().ok().filter(|&n| (n as usize) < self.count);
        self.by_name.get(name).cloned().or_else(|| numbered().map(|n| vec![n]))
    }
}

pub(super) fn no_joint(path: &str, name: &str, skeleton: &Skeleton) -> SettingsError {
    // What has no bone is a poor suggestion; what has no name none at all.
    let joints = skeleton.joints().iter().filter(|j| j.deforms && !j.name.is_empty());
    SettingsError::unknown(path, "joint", name, joints.map(|j| &j.name[..]))
}
