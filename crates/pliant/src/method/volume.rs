//! Skinning whose volume is kept exactly, joint by joint; and the repairs that follow any skinning.

use super::check::SettingsError;
use super::hull::{Hull, HullState};
use super::regions::{Joints, no_joint};
use super::{
    CorrectionMap, Deformer, Direction, Health, PrepareError, Settings, Setup, Shape, Skinning, Stage,
    VolumeSettings, skinned,
};
use crate::asset::Character;
use crate::body::{Body, Node};
use crate::parallel;
use crate::rig::{Pose, SkinMatrix};
use crate::skin::overlap::{Overlap, OverlapState};
use crate::skin::volume::{Contacts, Map, Options, Volume, VolumeState};

pub(super) const NAME: &str = "volume";

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    skinned::prepare(character, &setup, setup.settings.skinning, true)
}

impl VolumeSettings {
    /// Names looked up.
    pub(super) fn options<'c>(&self, character: &'c Character) -> Result<Options<'c>, SettingsError> {
        let mut options = Options::new(character);
        options.map = match self.map {
            CorrectionMap::Rubber => Map::Rubber,
            CorrectionMap::Organic => Map::Organic,
            CorrectionMap::Painted => Map::Painted,
        };
        (options.alpha, options.beta, options.smoothing) = (self.alpha, self.beta, self.smoothing);
        options.away = self.direction == Direction::AwayFromBone;
        if let Some(name) = &self.painted {
            let paint = character.paint();
            let names = paint.iter().map(|p| &p.name[..]);
            let missing = || SettingsError::unknown("painted", "painted attribute", name, names);
            let painted = paint.iter().find(|p| p.name == *name).ok_or_else(missing)?;
            options.painted = Some(&painted.values);
        }
        let joints = Joints::of(character.skeleton());
        let slots_of = |key: &str, name: &String| -> Result<Vec<usize>, SettingsError> {
            let found = joints.find(name).ok_or_else(|| no_joint(key, name, character.skeleton()))?;
            let slots = character.slots().iter().enumerate();
            Ok(slots.filter(|(_, s)| found.contains(&s.joint)).map(|(slot, _)| slot).collect())
        };
        for group in &self.merged {
            let mut slots = Vec::new();
            for name in group {
                slots.extend(slots_of("merged", name)?);
            }
            let numbers: Vec<u16> = slots.iter().map(|&s| options.joint_of_slot[s]).collect();
            let Some(&first) = numbers.iter().min() else { continue };
            let merge = options.joint_of_slot.iter_mut().filter(|j| numbers.contains(j));
            merge.for_each(|joint| *joint = first);
        }
        for name in &self.excluded {
            slots_of("excluded", name)?.into_iter().for_each(|slot| options.left_out[slot] = true);
        }
        Ok(options)
    }
}

impl Settings {
    /// Whether overlaps are parted after a skinning.
    pub(super) fn parts(&self, keeps_volume: bool) -> bool {
        self.overlap.unwrap_or(keeps_volume)
    }
}

/// What follows a skinning.
#[derive(Default)]
pub(super) struct Repairs {
    overlap: Option<Overlap>,
    parts: bool,
    keeper: Keeper,
}

/// What keeps the volume.
#[derive(Default)]
enum Keeper {
    #[default]
    None,
    Skin(Box<Volume>),
    /// The body of an open skin.
    Hull(Box<Hull>),
}

/// What each copy needs for it.
#[derive(Clone)]
pub(super) struct RepairState {
    overlap: Option<OverlapState>,
    volume: Option<VolumeState>,
    hull: Option<Box<HullState>>,
}

impl Repairs {
    pub(super) fn new(
        character: &Character,
        skinning: Skinning,
        setup: &Setup<'_>,
        keeps_volume: bool,
    ) -> Result<Self, PrepareError> {
        let parts = setup.settings.parts(keeps_volume);
        // Flesh inside a bend is not pushed through itself, parted or not.
        let overlap =
            (parts || keeps_volume).then(|| Overlap::new(character, parts, setup.path)).transpose()?;
        if !keeps_volume {
            return Ok(Self { overlap, parts, keeper: Keeper::None });
        }
        let mut options = setup.settings.volume.options(character).map_err(|e| e.under("volume"))?;
        options.is_rigid = skinning.blend().is_some();
        options.gives = overlap.as_ref().filter(|_| parts).map_or(Vec::new(), Overlap::givers);
        let volume = Volume::new(character, &options, setup.path)?;
        let keeper = match setup.tets.clone().filter(|_| volume.is_open()) {
            Some(tets) => Keeper::Hull(Box::new(Hull::new(character, tets, skinning, setup)?)),
            None => Keeper::Skin(Box::new(volume)),
        };
        Ok(Self { overlap, parts, keeper })
    }

    /// What was odd about what keeps the volume.
    pub(super) fn warnings(&self) -> &[String] {
        match &self.keeper {
            Keeper::None => &[],
            Keeper::Skin(volume) => volume.warnings(),
            Keeper::Hull(hull) => hull.warnings(),
        }
    }

    /// The body that the volume is taken through.
    pub(super) fn body(&self) -> Option<&Body> {
        match &self.keeper {
            Keeper::Hull(hull) => Some(&hull.body),
            _ => None,
        }
    }

    pub(super) fn state(&self) -> RepairState {
        let (volume, hull) = match &self.keeper {
            Keeper::None => (None, None),
            Keeper::Skin(volume) => (Some(volume.state()), None),
            Keeper::Hull(hull) => (None, Some(Box::new(hull.state()))),
        };
        RepairState { overlap: self.overlap.as_ref().map(Overlap::state), volume, hull }
    }

    /// Repairs a skinned shape.
    pub(super) fn run(
        &self,
        pose: &Pose,
        matrices: &[SkinMatrix],
        state: &mut RepairState,
        out: &mut Shape,
        finished: &mut dyn FnMut(Stage),
    ) -> Health {
        let health = parallel::within(|| self.repair(&pose.morph_weights, matrices, state, out));
        if self.overlap.is_some() || !matches!(self.keeper, Keeper::None) {
            finished(Stage::Solve);
        }
        health
    }

    fn repair(
        &self,
        morph_weights: &[f32],
        matrices: &[SkinMatrix],
        state: &mut RepairState,
        out: &mut Shape,
    ) -> Health {
        let mut health = Health::default();
        let RepairState { overlap: parting, volume: keeping, hull: of_hull } = state;
        if let (Keeper::Hull(hull), Some(of_hull)) = (&self.keeper, of_hull) {
            // Before overlaps are parted, which the tets do not see.
            let [before, left] = hull.correct(matrices, morph_weights, of_hull, out);
            (health.off_before_overlap, health.off) = (Some(before), Some(left));
        }
        let Shape { positions, normals } = out;
        let parting = self.overlap.as_ref().zip(parting.as_mut());
        match (&self.keeper, keeping, parting) {
            (Keeper::Skin(volume), Some(keeping), Some((overlap, parting))) if normals.is_empty() => {
                let count = overlap.part(matrices, parting, positions);
                let (moved, givings) = (parting.moved(), parting.givings());
                let contacts = Contacts { moved, givings, holds: parting.holds() };
                let left = volume.correct_positions(matrices, morph_weights, contacts, keeping, positions);
                health.off = Some(left);
                health.parted = self.parts.then_some(count);
                overlap.show(|vertex| !volume.shows(vertex), parting, positions, normals);
            }
            (Keeper::Skin(volume), Some(keeping), Some((overlap, parting))) => {
                volume.read(keeping, positions);
                let (count, before) = parallel::both(
                    || overlap.part(matrices, parting, positions),
                    || volume.look(matrices, morph_weights, keeping),
                );
                let (moved, givings) = (parting.moved(), parting.givings());
                let contacts = Contacts { moved, givings, holds: parting.holds() };
                health.off = Some(volume.correct(matrices, contacts, keeping, positions, normals));
                health.off_before_overlap = Some(before);
                health.parted = self.parts.then_some(count);
                // Skin without a volume of its own.
                overlap.show(|vertex| !volume.shows(vertex), parting, positions, normals);
            }
            (_, _, Some((overlap, parting))) => {
                let count = overlap.part(matrices, parting, positions);
                overlap.show(|_| true, parting, positions, normals);
                health.parted = self.parts.then_some(count);
            }
            _ => {}
        }
        health
    }
}

impl RepairState {
    /// Where the nodes of [`Repairs::body`] are.
    pub(super) fn nodes(&self) -> Option<&[Node]> {
        self.hull.as_ref().map(|hull| &hull.nodes[..])
    }
}
