//! Stiffness of the constraints, by either model, and their targets where joints are scaled.

use super::{Position, State};
use crate::method::flesh::{Carried, Flesh, NodeTissue, apply};
use crate::method::{Model, Settings};
use crate::rig::SkinMatrix;
use crate::solver::{SolverState, per_iteration};
use glam::Vec3;

/// Solver iterations in a tick, and sweeps of volume alone after them, where the settings do not say.
pub(in crate::method) const ITERATIONS: u32 = 12;
pub(in crate::method) const VOLUME_SWEEPS: u32 = 8;

/// Solver iterations in one solve. Under compliance a tick is cut into substeps, which share them.
pub(super) fn iterations(settings: &Settings) -> u32 {
    let simulation = &settings.simulation;
    let iterations = simulation.iterations.unwrap_or(ITERATIONS);
    match simulation.model {
        Model::Stiffness => iterations,
        Model::Compliance => iterations.div_ceil(simulation.substeps.max(1)),
    }
}

pub(super) fn volume_sweeps(settings: &Settings) -> u32 {
    settings.simulation.volume_sweeps.unwrap_or(VOLUME_SWEEPS)
}

impl Position {
    /// Sets the stiffness of all constraints, and that of the binds where no joint frees the flesh.
    pub(super) fn set_stiffness(
        &self,
        flesh: &Flesh<'_>,
        settings: &Settings,
        tissue: &[NodeTissue],
        seconds: f64,
        state: &mut State,
    ) {
        let State { solver: state, bind, .. } = state;
        let position = &settings.position;
        let mean = |nodes: &[u32], number: fn(&NodeTissue) -> f32| {
            let sum: f32 = nodes.iter().map(|&n| number(&tissue[n as usize])).sum();
            f64::from(sum / nodes.len() as f32)
        };
        match settings.simulation.model {
            Model::Stiffness => {
                let iterations = iterations(settings);
                let per = |k: f64| per_iteration(k, iterations);
                let solver = &self.solver;
                solver.set_stretch(state, |nodes| per(position.stretch * mean(&nodes, |t| t.stretch)));
                solver.set_volume(state, |nodes| per(position.volume * mean(&nodes, |t| t.volume)));
                for (bind, tissue) in bind.iter_mut().zip(tissue) {
                    *bind = per(position.bind * f64::from(tissue.bind));
                }
            }
            Model::Compliance => {
                // With Lame's constants mu and lambda: springs along all edges of energy density `15 mu e^2 / 2`, spread over
                // all directions, are an isotropic body with both constants mu; volume constraints add `lambda - mu`.
                let mu = position.young / (2.0 * (1.0 + position.poisson));
                let lambda = position.young * position.poisson
                    / ((1.0 + position.poisson) * (1.0 - 2.0 * position.poisson));
                let metre = flesh.metres_per_unit;
                let rest = flesh.body.tets().positions();
                let square = seconds * seconds;
                let stiff = |number: f64| (number.clamp(0.0, 1e30)) as f32;
                let solver = &self.solver;
                solver.set_stretch(state, |nodes| {
                    let [a, b] = nodes.map(|n| rest[n as usize].as_dvec3());
                    let volume = f64::from(self.edge_volume(nodes));
                    let modulus = 15.0 * mu * mean(&nodes, |t| t.stretch);
                    stiff(a.distance_squared(b) / (modulus * volume * metre.powi(3) * square))
                });
                solver.set_volume(state, |nodes| {
                    let [a, b, c, d] = nodes.map(|n| rest[n as usize].as_dvec3());
                    let volume = (b - a).cross(c - a).dot(d - a) / 6.0;
                    let modulus = (lambda - mu) * position.volume * mean(&nodes, |t| t.volume);
                    stiff(volume / (modulus * metre.powi(3) * square))
                });
                let cell = flesh.body.cell();
                let volumes = flesh.body.node_volumes();
                for (node, (bind, tissue)) in bind.iter_mut().zip(tissue).enumerate() {
                    let modulus = position.young * position.bind * f64::from(tissue.bind);
                    *bind =
                        stiff(cell * cell / (modulus * f64::from(volumes[node]) * metre.powi(3) * square));
                }
            }
        }
    }

    /// Sets the targets of all constraints to what the joints' scales make of them; gives the volume of all.
    pub(super) fn scale_targets(
        &self,
        flesh: &Flesh<'_>,
        carried: &Carried,
        unscaled: bool,
        state: &mut SolverState,
    ) -> f64 {
        let solver = &self.solver;
        if unscaled {
            solver.reset_targets(state);
            return flesh.body.tets().volume();
        }
        let rest = flesh.body.tets().positions();
        // A length goes with the mean of what each bone makes of it, a volume with that of the determinants: exact where
        // all bones agree, and no change where they only turn.
        let blended = |node: u32, of: &dyn Fn(&SkinMatrix) -> f32| -> f32 {
            let weights = flesh.rig.weights.of(node as usize).iter();
            weights.map(|&(slot, weight)| weight * of(&carried.linear[slot as usize])).sum()
        };
        solver.set_lengths(state, |nodes, _| {
            let edge = rest[nodes[1] as usize] - rest[nodes[0] as usize];
            let long = |m: &SkinMatrix| (apply(m, edge) - apply(m, Vec3::ZERO)).length();
            nodes.iter().map(|&n| 0.5 * blended(n, &long)).sum()
        });
        let det = |m: &SkinMatrix| {
            let [x, y, z] = m.map(|r| Vec3::new(r[0], r[1], r[2]));
            x.dot(y.cross(z)).max(0.0)
        };
        let scale = |nodes: [u32; 4]| nodes.iter().map(|&n| 0.25 * blended(n, &det)).sum::<f32>();
        solver.set_volumes(state, |nodes, volume| volume * scale(nodes));
        let tets = flesh.body.tets();
        let volume = |(tet, nodes): (usize, &[u32; 4])| tets.volume_of(tet) * f64::from(scale(*nodes));
        tets.tets().iter().enumerate().map(volume).sum()
    }
}
