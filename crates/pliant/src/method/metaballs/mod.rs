//! Flesh of balls (seed 004): the bones move balls, springs and muscles change them, and balls move the skin; at joints it
//! turns with a ball of its own. Everything that moves skin is a matrix, so that one blend takes in all of it.

mod jiggle;
mod joints;
mod moving;
mod muscles;
mod pose;
mod rig;
mod settings;
mod spread;

pub use settings::{BallJoint, BallWeights, Driver, MetaballsSettings, Muscle, MusclePoint};

use super::check::SettingsError;
use super::{Deformer, Instance, Packing, PrepareError, Settings, Setup, flesh};
use crate::asset::{AssetError, Character};
use crate::body::Body;
use crate::parallel;
use crate::simd::Path;
use crate::skin::balls::{BallSkin, BallSkinError, Carried};
use crate::skin::mesh::smooth;
use crate::skin::overlap::Overlap;
use crate::solver::Solver;
use glam::DVec3;
use jiggle::Jiggle;
use joints::{JointBalls, RUNGS};
use moving::Moving;
use muscles::Line;
use pose::{Carriers, Swelling};
use rig::{BallRig, Bound};

pub(super) const NAME: &str = "metaballs";

/// Sweeps of the springs, where the settings do not say.
pub(super) const ITERATIONS: u32 = 6;
/// Skin with this much of its weight on one bone is moved rigidly.
const RIGID: f32 = 0.999;
/// The part of a joint's ball, by its weight there, in which skin is smoothed more.
const BORDER: f64 = 0.3;
/// Balls of one bone alone stay where it has them; from this much of their weight elsewhere on springs move them wholly.
const FREE: f32 = 0.25;

/// A character filled with balls: what all copies share.
struct Metaballs<'c> {
    rig: BallRig<'c>,
    joints: JointBalls,
    lines: Vec<Line>,
    swelling: Vec<Swelling>,
    carriers: Carriers,
    skin: BallSkin,
    solver: Solver,
    inverse_masses: Vec<f32>,
    /// The bone that each ball goes with most.
    main_slots: Vec<u16>,
    overlap: Option<Overlap>,
    jiggle: Option<Jiggle>,
    settings: Settings,
    warnings: Vec<String>,
}

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let (path, settings) = (setup.path, setup.settings);
    let body = match flesh::whole_body(character, setup)? {
        Ok(body) => body,
        Err(why) => return flesh::without_flesh(character, settings, settings.skinning, path, why),
    };
    let rig = BallRig::new(character, &body, &settings.metaballs)?;
    Ok(Box::new(Metaballs::new(rig, &body, settings, path)?))
}

/// Whether the character has the joints that settings name.
pub(super) fn check_on(character: &Character, settings: &MetaballsSettings) -> Result<(), SettingsError> {
    muscles::check_on(character, settings)?;
    JointBalls::reaches(character.skeleton(), settings).map(|_| ())
}

impl From<BallSkinError> for PrepareError {
    fn from(error: BallSkinError) -> Self {
        match error {
            BallSkinError::Weights(error) => error.into(),
            BallSkinError::Skin(error) => error.into(),
        }
    }
}

impl<'c> Metaballs<'c> {
    fn new(rig: BallRig<'c>, body: &Body, settings: &Settings, path: Path) -> Result<Self, PrepareError> {
        let own = &settings.metaballs;
        let character = &rig.character;
        let joints = JointBalls::new(character, body, own).map_err(|e| e.under("metaballs"))?;
        let (lines, warnings) = muscles::lines(&rig, own).map_err(|e| e.under("metaballs"))?;
        let jiggle = Jiggle::new(&rig, settings)?;
        let carriers =
            Carriers { balls: rig.balls().len(), pairs: joints.pairs.len(), bones: character.slots().len() };
        let (count, limit) = (carriers.len(), u16::MAX as usize + 1);
        if count > limit {
            return Err(AssetError::TooMany { what: "balls, joints and bones", count, limit }.into());
        }
        // How much a muscle or its own weight may move each ball.
        let mut liveliness = jiggle.as_ref().map_or(vec![0.0; carriers.balls], Jiggle::softness);
        for &(ball, share) in lines.iter().flat_map(|line| &line.balls) {
            let own = &mut liveliness[ball as usize];
            *own = own.max(share as f32);
        }
        let on = parallel::map(character.weights().vertex_count(), |vertex| {
            hang(&rig, &joints, carriers, &liveliness, vertex)
        });
        let weights: Vec<Bound> = on.iter().map(|on| on.weights.clone()).collect();
        let is_bent: Vec<bool> = on.iter().map(|on| on.is_bent).collect();
        let detail: Vec<f32> = on.iter().map(|on| on.detail).collect();
        let is_border: Vec<bool> = on.iter().map(|on| on.is_border).collect();
        let carried = Carried {
            weights: &weights,
            carriers: count,
            is_bent: &is_bent,
            detail: &detail,
            is_border: &is_border,
        };
        let skin = BallSkin::new(character, &carried, path)?;
        let centers: Vec<_> = rig.balls().iter().map(|b| b.center).collect();
        let solver = Solver::of_springs(&centers, &rig.springs, path)?;
        let freedom = |on: &Bound| smooth((1.0 - on.first().map_or(1.0, |b| b.1)) / FREE);
        let inverse_masses = rig.on_bones.iter().map(freedom).collect();
        let parts = settings.overlap.unwrap_or(true);
        let overlap = parts.then(|| Overlap::new(character, true, path)).transpose()?;
        Ok(Self {
            swelling: swelling(&rig),
            main_slots: rig.on_bones.iter().map(|on| on.first().map_or(0, |b| b.0)).collect(),
            joints,
            lines,
            carriers,
            skin,
            solver,
            inverse_masses,
            overlap,
            jiggle,
            settings: settings.clone(),
            warnings,
            rig,
        })
    }
}

/// What a vertex hangs on.
struct Hung {
    weights: Bound,
    is_bent: bool,
    /// How much of it balls carry: joints' ladders leave no lumps, and filtering them would draw in what is twisted.
    detail: f32,
    is_border: bool,
}

/// Balls, rungs of joints and bones that carry a vertex: `(1 - w) v_l + w v_e`, with `w` the joints' share.
fn hang(
    rig: &BallRig<'_>,
    joints: &JointBalls,
    carriers: Carriers,
    liveliness: &[f32],
    vertex: usize,
) -> Hung {
    let character = &rig.character;
    let at = character.surface().positions()[vertex].as_dvec3();
    let own: Bound = character.weights().of(vertex).collect();
    let fleshy = rig.share[vertex];
    // What has no flesh goes with its bones, at joints too.
    let mut on_joints = if fleshy > 0.0 { joints.of(at, &own) } else { Vec::new() };
    // Nor does a joint hold what is to swing or grow.
    let lively: f32 = rig.on_balls[vertex].iter().map(|&(ball, w)| w * liveliness[ball as usize]).sum();
    on_joints.iter_mut().for_each(|j| j.2 *= 1.0 - f64::from(smooth(2.0 * lively)));
    let whole: f64 = on_joints.iter().map(|j| j.2).sum();
    let mut weights: Bound = Vec::new();
    let mut of_bones = vec![0.0f32; carriers.bones];
    for &(pair, height, weight) in &on_joints {
        let weight = weight as f32;
        let rung = height * RUNGS as f64;
        let low = (rung.floor() as usize).min(RUNGS - 1);
        let up = (rung - low as f64) as f32;
        weights.push((carriers.rung(pair, low), weight * (1.0 - up)));
        weights.push((carriers.rung(pair, low + 1), weight * up));
        let [a, b] = joints.pairs[pair].slots.map(usize::from);
        of_bones[a] += weight * (1.0 - height as f32);
        of_bones[b] += weight * height as f32;
    }
    let left = 1.0 - whole as f32;
    for &(ball, weight) in &rig.on_balls[vertex] {
        let weight = weight * left * fleshy;
        weights.push((ball, weight));
        rig.on_bones[ball as usize].iter().for_each(|&(s, w)| of_bones[s as usize] += weight * w);
    }
    for &(slot, weight) in &own {
        let weight = weight * left * (1.0 - fleshy);
        weights.push((carriers.bone(slot), weight));
        of_bones[slot as usize] += weight;
    }
    weights.retain(|w| w.1 > 0.0);
    let most = of_bones.iter().copied().fold(0.0, f32::max);
    let is_bent = lively > 0.0 || most < RIGID;
    Hung { weights, is_bent, detail: left * fleshy, is_border: whole > 0.0 && whole < BORDER }
}

/// The lines that balls swell about: their first bone's nearest piece.
fn swelling(rig: &BallRig<'_>) -> Vec<Swelling> {
    let character = &rig.character;
    let bones = character.skeleton().bones();
    let of_ball = |(ball, on): (&crate::body::Ball, &Bound)| {
        let at = ball.center.as_dvec3();
        let joint = on.first().map(|b| character.slots()[b.0 as usize].joint);
        let own = bones.iter().filter(|b| Some(b.joint) == joint);
        let nearest = own.min_by(|a, b| a.distance(at).total_cmp(&b.distance(at)));
        let line = nearest.map(|b| (b.start, b.end - b.start));
        let (point, way) = line.unwrap_or((at, DVec3::ZERO));
        Swelling { point, axis: way.normalize_or_zero() }
    };
    rig.balls().iter().zip(&rig.on_bones).map(of_ball).collect()
}

impl Deformer for Metaballs<'_> {
    fn instance(&self) -> Box<dyn Instance + Send + '_> {
        Box::new(Moving::new(self))
    }

    fn remembers(&self) -> bool {
        self.jiggle.is_some()
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn packing(&self) -> Option<Packing<'_>> {
        Some(Packing { balls: &self.rig.packing, slots: &self.main_slots, springs: &self.rig.springs })
    }
}
