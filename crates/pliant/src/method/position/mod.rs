//! Linear blend skinning on tets, repaired by position-based dynamics: joints keep their volume, soft regions swing.

mod materials;
mod predict;
mod rig;
mod show;
mod state;
mod tissue;

use super::{Deformer, Health, Instance, Model, Prediction, PrepareError, Settings, Setup, Shape, Stage};
use crate::asset::{Character, Surface, Weights};
use crate::body::{Body, BodyError, EmbeddedSkin, Fineness, Node, OnSkin, topology};
use crate::rig::Motion;
use crate::simd::Path;
use crate::skin::{Blend, Skinner};
use crate::solver::Solver;
use glam::Vec3;
use rig::NodeRig;
use state::State;
use tissue::NodeRegion;

pub(super) const NAME: &str = "position";

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let skinner = Skinner::new(Blend::Linear, character.surface(), character.weights(), setup.path)?;
    let rest = character.rest_positions();
    let triangles = character.surface().triangles();
    let given = setup.settings.body.clone();
    let body = match setup.tets {
        Some(tets) => Body::of_tets(tets, &rest),
        None => {
            let cell = given.cell.map(Fineness::Cell);
            let fineness = cell.or(given.tets.map(Fineness::Tets)).unwrap_or_default();
            match Body::of_skin(&rest, triangles, fineness, setup.progress) {
                Ok(body) => body,
                Err(BodyError::NoVolume { why }) => {
                    let what =
                        format!("the skin encloses no volume ({why}): it is skinned linearly, without flesh");
                    return Ok(Box::new(super::Skinned { character, skinner, warnings: vec![what] }));
                }
                Err(error) => return Err(error.into()),
            }
        }
    };
    Ok(Box::new(Prepared::new(character, setup.settings.clone(), body, skinner, setup.path)?))
}

/// What all instances share.
struct Prepared<'c> {
    character: &'c Character,
    settings: Settings,
    body: Body,
    rig: NodeRig,
    regions: Vec<NodeRegion>,
    skinner: Skinner<'c>,
    skin: EmbeddedSkin,
    /// Linear blending of the nodes, and dual quaternions where the prediction asks for them.
    points: Skinner<'static>,
    turned: Option<Skinner<'static>>,
    solver: Solver,
    inverse_masses: Vec<f32>,
    metres_per_unit: f64,
    /// Under compliance: every edge once, in order, and a sixth of the volume of the tets around it.
    edges: Vec<([u32; 2], f32)>,
    /// Vertices that keep their linear detail whatever the joints do: those of shells without flesh, and of morphs.
    details: Vec<bool>,
    /// The topmost joint that the skin is bound to: where it jumps, all jumps.
    root: usize,
}

impl<'c> Prepared<'c> {
    fn new(
        character: &'c Character,
        settings: Settings,
        body: Body,
        skinner: Skinner<'c>,
        path: Path,
    ) -> Result<Self, PrepareError> {
        let rest = character.rest_positions();
        let on_skin = OnSkin::new(&body, &rest, character.surface().triangles());
        let rig = NodeRig::new(character, &body, &on_skin);
        let distances: Vec<f32> = rig.bounds.iter().map(|b| b.distance).collect();
        let regions = NodeRegion::all(&settings, character, &body, &on_skin, &distances)?;
        let skin = EmbeddedSkin::new(body.tets(), body.embedding(), character.surface().normals(), path)?;
        let nodes = body.tets().positions();
        let surface = || Surface::new(nodes.to_vec(), Some(vec![Vec3::Y; nodes.len()]), Vec::new());
        let weights: Vec<Vec<(u16, f32)>> = (0..nodes.len()).map(|n| rig.weights.of(n).to_vec()).collect();
        let weights = Weights::new(&weights, character.slots().len())?;
        let points = Skinner::owning(Blend::Linear, surface()?, &weights, path)?;
        let turned = match settings.position.prediction {
            Prediction::DualQuaternion => {
                Some(Skinner::owning(Blend::DualQuaternion, surface()?, &weights, path)?)
            }
            Prediction::Advected | Prediction::Linear => None,
        };
        let solver = Solver::new(body.tets(), path)?;
        let metres_per_unit = settings.simulation.metres_per_unit.unwrap_or(1.0);
        let compliant = settings.simulation.model == Model::Compliance;
        let inverse_mass = |&volume: &f32| {
            // Masses in kilograms, lengths in units: `m |v|^2 / 2` in joules asks for metres per unit squared.
            let mass = settings.position.density * f64::from(volume) * metres_per_unit.powi(5);
            if compliant { (1.0 / mass) as f32 } else { 1.0 }
        };
        let inverse_masses = body.node_volumes().iter().map(inverse_mass).collect();
        let edges = if compliant { edge_volumes(&body) } else { Vec::new() };
        let mut details: Vec<bool> = (0..rest.len()).map(|v| body.rides(v)).collect();
        character.morphs().iter().flat_map(|m| &m.vertices).for_each(|&v| details[v as usize] = true);
        let root = character.skeleton().joints().iter().position(|j| j.deforms).unwrap_or(0);
        Ok(Self {
            character,
            settings,
            body,
            rig,
            regions,
            skinner,
            skin,
            points,
            turned,
            solver,
            inverse_masses,
            metres_per_unit,
            edges,
            details,
            root,
        })
    }

    /// What an edge stands for of the body's volume.
    fn edge_volume(&self, nodes: [u32; 2]) -> f32 {
        let edge = [nodes[0].min(nodes[1]), nodes[0].max(nodes[1])];
        self.edges.binary_search_by_key(&edge, |e| e.0).map_or(0.0, |at| self.edges[at].1)
    }

    /// In units per second squared.
    fn gravity(&self, settings: &Settings) -> Vec3 {
        let metres = settings.simulation.gravity.unwrap_or([0.0, -9.81, 0.0]);
        Vec3::from_array(metres.map(|g| (g / self.metres_per_unit) as f32))
    }
}

/// Every edge once, in order, and a sixth of the volume of the tets around it: together they stand for the body.
fn edge_volumes(body: &Body) -> Vec<([u32; 2], f32)> {
    const CORNERS: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    let mesh = body.tets();
    let mut edges: Vec<([u32; 2], f32)> = topology::edges(mesh).into_iter().map(|e| (e, 0.0)).collect();
    for (tet, nodes) in mesh.tets().iter().enumerate() {
        let share = (mesh.volume_of(tet) / 6.0) as f32;
        for [a, b] in CORNERS.map(|c| c.map(|k| nodes[k])) {
            if let Ok(at) = edges.binary_search_by_key(&[a.min(b), a.max(b)], |e| e.0) {
                edges[at].1 += share;
            }
        }
    }
    edges
}

impl Deformer for Prepared<'_> {
    fn instance(&self) -> Box<dyn Instance + Send + '_> {
        Box::new(State::new(self))
    }

    fn body(&self) -> Option<&Body> {
        Some(&self.body)
    }

    fn remembers(&self) -> bool {
        true
    }
}

impl Instance for State<'_> {
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
}
