//! Whether settings can be computed with.

use super::NAMES;
use super::names::{listed, nearest, quoted};
use super::settings::limits::{self, Limits};
use super::settings::{
    BodySettings, CorrectionMap, Fibre, Paint, Place, PositionSettings, Region, Settings, SimulationSettings,
    StrainSettings, VolumeSettings,
};
use std::fmt::Display;
use thiserror::Error;

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{path}: {what}; {allowed}")]
pub struct SettingsError {
    /// The key, such as `region[2].softness` (from 0).
    pub path: String,
    /// What is wrong with it.
    pub what: String,
    /// What is right.
    pub allowed: String,
}

impl SettingsError {
    pub(super) fn new(path: impl Into<String>, what: impl Into<String>, allowed: impl Into<String>) -> Self {
        Self { path: path.into(), what: what.into(), allowed: allowed.into() }
    }

    /// The same, with its key under another.
    pub(super) fn under(self, path: &str) -> Self {
        Self { path: format!("{path}.{}", self.path), ..self }
    }

    /// A name that is not there, what was meant, and what is there.
    pub(super) fn unknown<'k>(
        path: &str,
        kind: &str,
        name: &str,
        known: impl Iterator<Item = &'k str> + Clone,
    ) -> Self {
        let what = format!("there is no {kind} {}", quoted(name));
        let meant = nearest(name, known.clone()).map(|meant| format!("did you mean {}? ", quoted(meant)));
        let list = listed(known);
        let there = if list.is_empty() { "there are none".to_owned() } else { format!("there are {list}") };
        Self::new(path, what, meant.unwrap_or_default() + &there)
    }
}

pub(super) type Checked = Result<(), SettingsError>;

impl Settings {
    /// Whether every number is one that can be computed with. Whether joints and painted attributes are there depends
    /// on the character: see [`Settings::check_on`].
    pub fn check(&self) -> Checked {
        if let Some(name) = &self.method
            && !NAMES.contains(&&name[..])
        {
            return Err(SettingsError::unknown("method", "method", name, NAMES.into_iter()));
        }
        self.body.check().map_err(|e| e.under("body"))?;
        self.simulation.check().map_err(|e| e.under("simulation"))?;
        self.smooth.check().map_err(|e| e.under("smooth"))?;
        self.volume.check().map_err(|e| e.under("volume"))?;
        self.position.check().map_err(|e| e.under("position"))?;
        self.strain.check().map_err(|e| e.under("strain"))?;
        self.metaballs.check().map_err(|e| e.under("metaballs"))?;
        let count = self.regions.len();
        if count > limits::REGIONS {
            let allowed = format!("{} at most", limits::REGIONS);
            return Err(SettingsError::new("region", format!("{count} are too many"), allowed));
        }
        for (index, region) in self.regions.iter().enumerate() {
            region.check().map_err(|e| e.under(&format!("region[{index}]")))?;
        }
        let count = self.fibres.len();
        if count > limits::FIBRES {
            let allowed = format!("{} at most", limits::FIBRES);
            return Err(SettingsError::new("fibre", format!("{count} are too many"), allowed));
        }
        for (index, fibre) in self.fibres.iter().enumerate() {
            fibre.check().map_err(|e| e.under(&format!("fibre[{index}]")))?;
        }
        let count = self.paints.len();
        if count > limits::PAINTS {
            let allowed = format!("{} at most", limits::PAINTS);
            return Err(SettingsError::new("paint", format!("{count} are too many"), allowed));
        }
        for (index, paint) in self.paints.iter().enumerate() {
            paint.check().map_err(|e| e.under(&format!("paint[{index}]")))?;
        }
        Ok(())
    }
}

impl Paint {
    fn check(&self) -> Checked {
        if !self.name.starts_with('_') {
            let what = format!("{} is no name for paint", quoted(&self.name));
            return Err(SettingsError::new("name", what, "it starts with _, such as _SOFTNESS"));
        }
        if self.vertices.len() != self.values.len() {
            let what = format!("{} numbers for {} vertices", self.values.len(), self.vertices.len());
            return Err(SettingsError::new("values", what, "give one for each vertex"));
        }
        self.values.iter().try_for_each(|&value| within("values", f64::from(value), limits::SHARE))
    }
}

impl BodySettings {
    fn check(&self) -> Checked {
        if self.tets.is_some() && self.cell.is_some() {
            return Err(SettingsError::new("cell", "goes in place of 'tets'", "leave out one of them"));
        }
        optional("tets", self.tets, limits::TETS)?;
        optional("cell", self.cell, limits::LENGTH)
    }
}

impl SimulationSettings {
    fn check(&self) -> Checked {
        optional("step", self.step, limits::STEP)?;
        optional("iterations", self.iterations, limits::ITERATIONS)?;
        optional("volume_sweeps", self.volume_sweeps, limits::SWEEPS)?;
        within("preroll", self.preroll, limits::PREROLL)?;
        for part in self.gravity.iter().flatten() {
            within("gravity", *part, limits::GRAVITY)?;
        }
        optional("metres_per_unit", self.metres_per_unit, limits::UNIT)?;
        within("teleport", self.teleport, limits::TELEPORT)?;
        within("substeps", self.substeps, limits::SUBSTEPS)
    }
}

impl VolumeSettings {
    fn check(&self) -> Checked {
        within("alpha", self.alpha, limits::POWER)?;
        within("beta", self.beta, limits::POWER)?;
        within("smoothing", self.smoothing, limits::SMOOTHINGS)?;
        match &self.painted {
            Some(name) => named("painted", name)?,
            None if self.map == CorrectionMap::Painted => {
                return Err(SettingsError::new(
                    "map",
                    "nothing is painted",
                    "name an attribute as 'painted'",
                ));
            }
            None => {}
        }
        self.merged.iter().flatten().try_for_each(|joint| named("merged", joint))?;
        self.excluded.iter().try_for_each(|joint| named("excluded", joint))
    }
}

impl PositionSettings {
    fn check(&self) -> Checked {
        within("stretch", self.stretch, limits::SHARE)?;
        within("volume", self.volume, limits::SHARE)?;
        within("bind", self.bind, limits::SHARE)?;
        within("young", self.young, limits::YOUNG)?;
        within("poisson", self.poisson, limits::POISSON)?;
        within("density", self.density, limits::DENSITY)
    }
}

impl StrainSettings {
    fn check(&self) -> Checked {
        self.stretch.iter().try_for_each(|&k| within("stretch", k, limits::SHARE))?;
        self.shear.iter().try_for_each(|&k| within("shear", k, limits::SHARE))?;
        within("volume", self.volume, limits::SHARE)?;
        optional("consolidating", self.consolidating, limits::SWEEPS)?;
        within("mass_gain", self.mass_gain, limits::GAIN)?;
        within("damping", self.damping, limits::DAMPING)?;
        within("hold", self.hold, limits::DAMPING)?;
        within("young", self.young, limits::YOUNG)?;
        within("poisson", self.poisson, limits::STRAIN_POISSON)?;
        within("density", self.density, limits::DENSITY)
    }
}

impl Fibre {
    fn check(&self) -> Checked {
        match &self.file {
            None => drop(self.curve()?),
            Some(file) => {
                let beside = [
                    ("points", !self.points.is_empty()),
                    ("degree", self.degree.is_some()),
                    ("weights", self.weights.is_some()),
                    ("knots", self.knots.is_some()),
                ];
                if let Some((key, _)) = beside.iter().find(|(_, is_set)| *is_set) {
                    return Err(SettingsError::new(
                        *key,
                        "'file' goes in its place",
                        "leave out one of them",
                    ));
                }
                named("file", file)?;
            }
        }
        optional("radius", self.radius, limits::LENGTH)?;
        optional("falloff", self.falloff, limits::FALLOFF)?;
        self.stretch.iter().flatten().try_for_each(|&k| within("stretch", k, limits::SHARE))?;
        self.shear.iter().flatten().try_for_each(|&k| within("shear", k, limits::SHARE))?;
        optional("volume", self.volume, limits::SHARE)
    }
}

impl Region {
    fn check(&self) -> Checked {
        self.on.check().map_err(|e| e.under("on"))?;
        optional("softness", self.softness, limits::SHARE)?;
        optional("stretch", self.stretch, limits::TIMES)?;
        optional("volume", self.volume, limits::TIMES)?;
        optional("bind", self.bind, limits::TIMES)?;
        self.along.iter().flatten().try_for_each(|&k| within("along", k, limits::TIMES))?;
        self.shear.iter().flatten().try_for_each(|&k| within("shear", k, limits::TIMES))?;
        optional("damping", self.damping, limits::DAMPING)?;
        optional("start", self.start, limits::SECONDS)?;
        optional("end", self.end, limits::SECONDS)?;
        match (self.start, self.end) {
            (Some(start), Some(end)) if start > end => {
                let what = format!("{end} s is before the start at {start} s");
                Err(SettingsError::new("end", what, "a time after the start is needed"))
            }
            _ => Ok(()),
        }
    }
}

impl Place {
    fn check(&self) -> Checked {
        match self {
            Self::All => Ok(()),
            Self::Painted(name) => named("painted", name),
            Self::Bone { joint, reach, falloff } => {
                named("bone.joint", joint)?;
                within("bone.reach", *reach, limits::REACH)?;
                within("bone.falloff", *falloff, limits::REACH)
            }
            Self::Sphere { center, radius, falloff } => {
                point("sphere.center", center)?;
                within("sphere.radius", *radius, limits::LENGTH)?;
                optional("sphere.falloff", *falloff, limits::FALLOFF)
            }
            Self::Capsule { from, to, radius, falloff } => {
                point("capsule.from", from)?;
                point("capsule.to", to)?;
                within("capsule.radius", *radius, limits::LENGTH)?;
                optional("capsule.falloff", *falloff, limits::FALLOFF)
            }
            Self::Weights(joints) => {
                if joints.is_empty() {
                    return Err(SettingsError::new("weights", "is empty", "name at least one joint"));
                }
                joints.iter().try_for_each(|joint| named("weights", joint))
            }
        }
    }
}

pub(super) fn named(path: &str, name: &str) -> Checked {
    if name.is_empty() {
        return Err(SettingsError::new(path, "is empty", "a name is needed"));
    }
    Ok(())
}

pub(super) fn point(path: &str, point: &[f64; 3]) -> Checked {
    point.iter().try_for_each(|&c| within(path, c, limits::COORDINATE))
}

/// NaN is within nothing.
pub(super) fn within<T: PartialOrd + Display + Copy>(
    path: &str,
    value: T,
    (low, high): Limits<T>,
) -> Checked {
    if low <= value && value <= high {
        return Ok(());
    }
    Err(SettingsError::new(path, format!("{value} is out of range"), format!("{low} to {high} are allowed")))
}

pub(super) fn optional<T: PartialOrd + Display + Copy>(
    path: &str,
    value: Option<T>,
    limits: Limits<T>,
) -> Checked {
    value.map_or(Ok(()), |value| within(path, value, limits))
}
