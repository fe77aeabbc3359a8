//! What simulated methods share: a body of tets on a skeleton, a clock of its own, and the skin on it. How the flesh moves
//! in a tick is each method's [`Physics`].

mod carried;
mod mend;
mod parts;
mod rig;
mod show;
mod state;
mod tissue;

pub(super) use carried::{Carried, apply, at, put};
pub(super) use rig::{NodeRig, hang, smooth};
pub(super) use state::{CHUNK, Run};
pub(super) use tissue::{NodeTissue, presence};

use super::skinned::{Base, Skinned};
use super::volume::Repairs;
use super::{Deformer, Health, Instance, Model, PrepareError, Settings, Setup, Shape, Skinning, Stage};
use crate::asset::{Character, Surface, Weights};
use crate::body::{Body, BodyError, EmbeddedSkin, Fineness, Node, OnSkin, topology};
use crate::rig::{Motion, SkinMatrix};
use crate::simd::Path;
use crate::skin::smooth::{Smooth, SmoothState};
use crate::skin::{self, Blend, Skinner};
use crate::solver::Check;
use glam::{Quat, Vec3};
use state::State;
use std::borrow::Cow;
use tissue::NodeRegion;

/// What a method does to the flesh in a tick: the part that all copies share.
pub(super) trait Physics: Send + Sync {
    /// The part of one copy.
    type State: Send + Clone;

    /// For a new copy.
    fn state(&self, settings: &Settings) -> Self::State;

    /// Seconds from tick to tick for a motion, where the settings do not say.
    fn step(&self, _motion: &dyn Motion) -> f64 {
        0.01
    }

    /// Whether settings can change to others with nothing prepared anew, as far as the method's own go.
    fn is_live(&self, old: &Settings, new: &Settings) -> bool;

    /// What flesh is like where no region says.
    fn tissue(&self, settings: &Settings) -> NodeTissue;

    /// Takes over what flesh is like, for ticks of so many seconds.
    fn set(
        &self,
        flesh: &Flesh<'_>,
        settings: &Settings,
        tissue: &[NodeTissue],
        seconds: f64,
        state: &mut Self::State,
    );

    /// Sets targets to what the joints' scales make of them; gives the volume of all.
    fn set_targets(
        &self,
        flesh: &Flesh<'_>,
        carried: &Carried,
        unscaled: bool,
        state: &mut Self::State,
    ) -> f64;

    /// Where nodes start from: [`Run::nodes`], from [`Run::origin`]. What follows its inertia does so if `inert`.
    fn predict(&self, flesh: &Flesh<'_>, run: &mut Run, state: &mut Self::State, seconds: f32, inert: bool);

    /// Projects the constraints.
    fn solve(&self, run: &mut Run, state: &mut Self::State);

    /// Looks for tets that are inside out.
    fn check(&self, nodes: &[Node], state: &mut Self::State) -> Check;

    /// Projects volumes alone.
    fn sweep_volume(&self, nodes: &mut [Node], sweeps: u32, state: &mut Self::State);

    /// How much of the constraints is left.
    fn residual(&self, nodes: &[Node], state: &mut Self::State) -> f32;

    /// See [`Deformer::pins`].
    fn pins(&self) -> Option<&[u32]> {
        None
    }

    /// See [`Deformer::frames`].
    fn frames(&self) -> Option<&[Quat]> {
        None
    }
}

/// A body on a skeleton: what all copies share, whatever the method.
pub(super) struct Flesh<'c> {
    pub(super) character: &'c Character,
    pub(super) settings: Settings,
    pub(super) body: Body,
    pub(super) rig: NodeRig,
    pub(super) neighbours: topology::Lists,
    tets_of_node: topology::Lists,
    pub(super) inverse_masses: Vec<f32>,
    pub(super) metres_per_unit: f64,
    pub(super) path: Path,
    regions: Vec<NodeRegion>,
    base: Base<'c>,
    skin: EmbeddedSkin,
    /// Skinning of the nodes.
    points: Points,
    /// Vertices that keep their linear detail whatever the joints do: those of shells without flesh, and of morphs.
    details: Vec<bool>,
    /// How much of each vertex's motion is not the flesh's.
    strays: Vec<f32>,
    /// The topmost joint that the skin is bound to: where it jumps, all jumps.
    root: usize,
}

/// A method prepared for a character.
struct Prepared<'c, P> {
    flesh: Flesh<'c>,
    physics: P,
    warnings: Vec<String>,
}

/// Prepares a method: its body, then its physics, which may warn. Where the skin has no inside it is skinned linearly.
pub(super) fn prepare<'c, P: Physics + 'c>(
    character: &'c Character,
    setup: Setup<'_>,
    skinning: Skinning,
    density: f64,
    physics: impl FnOnce(&Flesh<'c>, &mut Vec<String>) -> Result<P, PrepareError>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let (path, settings) = (setup.path, setup.settings);
    let body = match body(character, setup)? {
        Ok(body) => body,
        Err(why) => return without_flesh(character, settings, skinning, path, why),
    };
    let base = Base::new(character, settings, skinning, path)?;
    let flesh = Flesh::new(character, settings.clone(), body, base, skinning, path, density)?;
    let mut warnings = Vec::new();
    let physics = physics(&flesh, &mut warnings)?;
    Ok(Box::new(Prepared { flesh, physics, warnings }))
}

/// The body that a character is simulated in: given, or made, its parts each for itself; or why its skin has no inside.
fn body(character: &Character, setup: Setup<'_>) -> Result<Result<Body, String>, PrepareError> {
    made(character, setup, |body| parts::parts(character, body))
}

/// The same as one flesh, whatever its shells hang on: for methods to which it is only room to fill.
pub(super) fn whole_body(
    character: &Character,
    setup: Setup<'_>,
) -> Result<Result<Body, String>, PrepareError> {
    made(character, setup, |body| vec![0; body.shells().len()])
}

fn made(
    character: &Character,
    setup: Setup<'_>,
    parts: impl FnOnce(&Body) -> Vec<u32>,
) -> Result<Result<Body, String>, PrepareError> {
    let rest = character.rest_positions();
    let given = &setup.settings.body;
    if let Some(tets) = setup.tets {
        return Ok(Ok(Body::of_tets(tets, &rest)));
    }
    let cell = given.cell.map(Fineness::Cell);
    let fineness = cell.or(given.tets.map(Fineness::Tets)).unwrap_or_default();
    match Body::of_parts(&rest, character.surface().triangles(), fineness, parts, setup.progress) {
        Ok(body) => Ok(Ok(body)),
        Err(BodyError::NoVolume { why }) => Ok(Err(why.to_string())),
        Err(error) => Err(error.into()),
    }
}

/// Skin that has no inside is skinned, and that is said.
pub(super) fn without_flesh<'c>(
    character: &'c Character,
    settings: &Settings,
    skinning: Skinning,
    path: Path,
    why: String,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let what = format!("the skin encloses no volume ({why}): it is skinned linearly, without flesh");
    Ok(Box::new(Skinned {
        character: Cow::Borrowed(character),
        base: Base::new(character, settings, skinning, path)?,
        repairs: Repairs::default(),
        warnings: vec![what],
    }))
}

impl<'c> Flesh<'c> {
    /// `density` in kilograms per cubic metre counts under compliance; else all nodes weigh the same.
    fn new(
        character: &'c Character,
        settings: Settings,
        body: Body,
        base: Base<'c>,
        skinning: Skinning,
        path: Path,
        density: f64,
    ) -> Result<Self, PrepareError> {
        let rest = character.rest_positions();
        let on_skin = OnSkin::new(&body, &rest, character.surface().triangles());
        let rig = NodeRig::new(character, &body, &on_skin);
        let distances: Vec<f32> = rig.bounds.iter().map(|b| b.distance).collect();
        let regions = NodeRegion::all(&settings, character, &body, &on_skin, &distances)?;
        let skin = EmbeddedSkin::new(body.tets(), body.embedding(), character.surface().normals(), path)?;
        let points = Points::new(skinning, character, &body, &rig, path)?;
        let neighbours = topology::neighbours(body.tets());
        let tets_of_node = topology::Lists::group(body.tets().positions().len(), body.tets().tets());
        let metres_per_unit = settings.simulation.metres_per_unit.unwrap_or(1.0);
        let compliant = settings.simulation.model == Model::Compliance;
        let inverse_mass = |&volume: &f32| {
            // Masses in kilograms, lengths in units: `m |v|^2 / 2` in joules asks for metres per unit squared.
            let mass = density * f64::from(volume) * metres_per_unit.powi(5);
            if compliant { (1.0 / mass) as f32 } else { 1.0 }
        };
        let inverse_masses = body.node_volumes().iter().map(inverse_mass).collect();
        let mut details: Vec<bool> = (0..rest.len()).map(|v| body.rides(v)).collect();
        character.morphs().iter().flat_map(|m| &m.vertices).for_each(|&v| details[v as usize] = true);
        let strays = strays(character, &body, &rig);
        let root = character.skeleton().joints().iter().position(|j| j.deforms).unwrap_or(0);
        Ok(Self {
            character,
            settings,
            body,
            rig,
            neighbours,
            tets_of_node,
            inverse_masses,
            metres_per_unit,
            path,
            regions,
            base,
            skin,
            points,
            details,
            strays,
            root,
        })
    }

    /// In units per second squared.
    pub(super) fn gravity(&self, metres: [f64; 3]) -> Vec3 {
        Vec3::from_array(metres.map(|g| (g / self.metres_per_unit) as f32))
    }
}

/// Shares of a vertex's weights in those of its tet, below which it goes its own way, and above which with the flesh.
const AT_ODDS: f32 = 0.25;
const AGREED: f32 = 0.5;

/// How much vertices stray from their flesh. A body that is coarser than the gaps between limbs has tets across them,
/// which follow one limb or the other: what the skin's weights say of a vertex then has little to do with its tet's.
/// Vertices of no triangle are not skin at all.
fn strays(character: &Character, body: &Body, rig: &NodeRig) -> Vec<f32> {
    let joint = |slot: u16| character.slots()[slot as usize].joint;
    let (tets, embedding) = (body.tets().tets(), body.embedding());
    let mut is_skin = vec![false; character.weights().vertex_count()];
    character.surface().triangles().iter().flatten().for_each(|&v| is_skin[v as usize] = true);
    crate::parallel::map(is_skin.len(), |vertex| {
        if !is_skin[vertex] {
            return 1.0;
        }
        let nodes = tets[embedding.tets()[vertex] as usize];
        let within = embedding.weights()[vertex].map(|w| w.max(0.0));
        let whole: f32 = within.iter().sum();
        let in_tet = |of: u32| -> f32 {
            let of_node = |node: u32| -> f32 {
                let own = rig.weights.of(node as usize).iter();
                own.into_iter().filter(|w| joint(w.0) == of).map(|w| w.1).sum()
            };
            (0..4).map(|c| within[c] / whole * of_node(nodes[c])).sum()
        };
        let own = character.weights().of(vertex);
        let shared: f32 = own.map(|(slot, weight)| weight.min(in_tet(joint(slot)))).sum();
        ((AGREED - shared) / (AGREED - AT_ODDS)).clamp(0.0, 1.0)
    })
}

/// Skinning of a body's nodes.
enum Points {
    Blend(Box<Skinner<'static>>),
    Smooth(Box<Smooth>),
}

/// What each copy needs for it.
#[derive(Clone)]
pub(super) enum PointsState {
    Blend(skin::State),
    Smooth(Box<SmoothState>),
}

impl Points {
    fn new(
        skinning: Skinning,
        character: &Character,
        body: &Body,
        rig: &NodeRig,
        path: Path,
    ) -> Result<Self, PrepareError> {
        if let Some(blend) = skinning.blend() {
            return Ok(Self::Blend(Box::new(node_skinner(blend, character, body, rig, path)?)));
        }
        let (nodes, weights) = (body.tets().positions(), node_weights(character, body, rig)?);
        let smooth = Smooth::new(nodes, &weights, character.skeleton(), character.slots(), path)?;
        Ok(Self::Smooth(Box::new(smooth)))
    }

    fn state(&self) -> PointsState {
        match self {
            Self::Blend(skinner) => PointsState::Blend(skinner.state()),
            Self::Smooth(smooth) => PointsState::Smooth(Box::new(smooth.state())),
        }
    }

    /// # Panics
    /// If the state is of another skinning.
    fn positions(&self, matrices: &[SkinMatrix], state: &mut PointsState, out: &mut [Vec3]) {
        match (self, state) {
            (Self::Blend(skinner), PointsState::Blend(state)) => skinner.positions(matrices, state, out),
            (Self::Smooth(smooth), PointsState::Smooth(state)) => smooth.positions(matrices, state, out),
            _ => panic!("a state of another skinning"),
        }
    }
}

fn node_weights(character: &Character, body: &Body, rig: &NodeRig) -> Result<Weights, PrepareError> {
    let nodes = 0..body.tets().positions().len();
    let weights: Vec<Vec<(u16, f32)>> = nodes.map(|n| rig.weights.of(n).to_vec()).collect();
    Ok(Weights::new(&weights, character.slots().len())?)
}

/// Blending of a body's nodes.
pub(super) fn node_skinner(
    blend: Blend,
    character: &Character,
    body: &Body,
    rig: &NodeRig,
    path: Path,
) -> Result<Skinner<'static>, PrepareError> {
    let nodes = body.tets().positions();
    let surface = Surface::new(nodes.to_vec(), Some(vec![Vec3::Y; nodes.len()]), Vec::new())?;
    Ok(Skinner::owning(blend, surface, &node_weights(character, body, rig)?, path)?)
}

impl<P: Physics> Deformer for Prepared<'_, P> {
    fn instance(&self) -> Box<dyn Instance + Send + '_> {
        Box::new(State::new(&self.flesh, &self.physics))
    }

    fn body(&self) -> Option<&Body> {
        Some(&self.flesh.body)
    }

    fn remembers(&self) -> bool {
        true
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn pins(&self) -> Option<&[u32]> {
        self.physics.pins()
    }

    fn frames(&self) -> Option<&[Quat]> {
        self.physics.frames()
    }
}

impl<P: Physics> Instance for State<'_, P> {
    fn step(
        &mut self,
        motion: &dyn Motion,
        seconds: f64,
        out: &mut Shape,
        finished: &mut dyn FnMut(Stage),
    ) -> Health {
        self.advance(motion, seconds, finished);
        self.show(motion, seconds, out, finished)
    }

    fn tune(&mut self, settings: &Settings) -> Result<(), PrepareError> {
        settings.check()?;
        State::tune(self, settings.spelled_out())
    }

    fn nodes(&self) -> Option<&[Node]> {
        Some(&self.shown)
    }

    fn copy<'a>(&self) -> Box<dyn Instance + Send + 'a>
    where
        Self: 'a,
    {
        Box::new(self.clone())
    }
}
