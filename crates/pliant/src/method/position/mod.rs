//! Linear blend skinning on tets, repaired by position-based dynamics: joints keep their volume, soft regions swing.

pub(super) mod materials;
mod predict;

use super::flesh::{self, Carried, Flesh, NodeTissue, Physics, Run};
use super::{Deformer, Model, Prediction, PrepareError, Settings, Setup};
use crate::asset::Character;
use crate::body::{Body, Node, topology};
use crate::skin::{self, Blend, Skinner};
use crate::solver::{Check, Solver, SolverState};
use glam::Vec3;

pub(super) const NAME: &str = "position";

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let density = setup.settings.position.density;
    let skinning = setup.settings.skinning;
    flesh::prepare(character, setup, skinning, density, |flesh, _| Position::new(flesh))
}

/// What all copies share.
struct Position {
    solver: Solver,
    /// Dual quaternions of the nodes, where the prediction asks for them.
    turned: Option<Skinner<'static>>,
    /// Under compliance: every edge once, in order, and a sixth of the volume of the tets around it.
    edges: Vec<([u32; 2], f32)>,
    nodes: usize,
}

/// What each copy has.
#[derive(Clone)]
struct State {
    solver: SolverState,
    turned: Option<skin::State>,
    places: Vec<Vec3>,
    /// Point on the bone and distance to keep from it, per node, and how stiff.
    binds: Vec<[f32; 4]>,
    bind_stiffness: Vec<f32>,
    /// Bind stiffness per node where no joint frees it.
    bind: Vec<f32>,
}

impl Position {
    fn new(flesh: &Flesh<'_>) -> Result<Self, PrepareError> {
        let Flesh { character, settings, body, rig, path, .. } = flesh;
        let turned = match settings.position.prediction {
            Prediction::DualQuaternion => {
                Some(flesh::node_skinner(Blend::DualQuaternion, character, body, rig, *path)?)
            }
            Prediction::Advected | Prediction::Linear => None,
        };
        let compliant = settings.simulation.model == Model::Compliance;
        Ok(Self {
            solver: Solver::new(body.tets(), *path)?,
            turned,
            edges: if compliant { edge_volumes(body) } else { Vec::new() },
            nodes: body.tets().positions().len(),
        })
    }

    /// What an edge stands for of the body's volume.
    fn edge_volume(&self, nodes: [u32; 2]) -> f32 {
        let edge = [nodes[0].min(nodes[1]), nodes[0].max(nodes[1])];
        self.edges.binary_search_by_key(&edge, |e| e.0).map_or(0.0, |at| self.edges[at].1)
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

impl Physics for Position {
    type State = State;

    fn state(&self, settings: &Settings) -> State {
        let mut solver = self.solver.state();
        solver.use_compliance(settings.simulation.model == Model::Compliance);
        State {
            solver,
            turned: self.turned.as_ref().map(Skinner::state),
            places: vec![Vec3::ZERO; if self.turned.is_some() { self.nodes } else { 0 }],
            binds: vec![[0.0; 4]; self.nodes],
            bind_stiffness: vec![0.0; self.nodes],
            bind: vec![0.0; self.nodes],
        }
    }

    fn is_live(&self, old: &Settings, new: &Settings) -> bool {
        old.position.density == new.position.density
    }

    fn tissue(&self, _settings: &Settings) -> NodeTissue {
        NodeTissue::FIRM
    }

    fn set(
        &self,
        flesh: &Flesh<'_>,
        settings: &Settings,
        tissue: &[NodeTissue],
        seconds: f64,
        state: &mut State,
    ) {
        self.set_stiffness(flesh, settings, tissue, seconds, state);
    }

    fn set_targets(&self, flesh: &Flesh<'_>, carried: &Carried, unscaled: bool, state: &mut State) -> f64 {
        self.scale_targets(flesh, carried, unscaled, &mut state.solver)
    }

    fn predict(&self, flesh: &Flesh<'_>, run: &mut Run, state: &mut State, seconds: f32, inert: bool) {
        self.start_from(flesh, run, state, seconds, inert);
        predict::bind(flesh, run, state);
    }

    fn solve(&self, run: &mut Run, state: &mut State) {
        let Run { settings, nodes, .. } = run;
        let (iterations, sweeps) = (materials::iterations(settings), materials::volume_sweeps(settings));
        let State { solver, binds, bind_stiffness, .. } = state;
        self.solver.solve(solver, nodes, binds, bind_stiffness, iterations, sweeps);
    }

    fn check(&self, nodes: &[Node], state: &mut State) -> Check {
        self.solver.check(&mut state.solver, nodes, 0.0)
    }

    fn sweep_volume(&self, nodes: &mut [Node], sweeps: u32, state: &mut State) {
        self.solver.sweep_volume(&mut state.solver, nodes, sweeps);
    }

    fn residual(&self, nodes: &[Node], state: &mut State) -> f32 {
        self.solver.residual(&mut state.solver, nodes)
    }
}
