//! How stiff each tet is, by either model.

use super::Strain;
use crate::method::flesh::{Flesh, NodeTissue};
use crate::method::{Model, Settings};
use crate::solver::{Effort, StrainState, per_iteration};

/// Solver iterations in a tick, and sweeps of volume alone after them, where the settings do not say.
pub(in crate::method) const ITERATIONS: u32 = 10;
pub(in crate::method) const VOLUME_SWEEPS: u32 = 2;
/// Stiffness per iteration from which on it pays to count finished layers as heavy; softer flesh converges worse so.
const STIFF: f32 = 0.3;
/// In how many of the iterations then.
const CONSOLIDATING: f64 = 0.6;

/// Iterations in a tick: under compliance its substeps share them.
fn iterations(settings: &Settings) -> u32 {
    let simulation = &settings.simulation;
    let iterations = simulation.iterations.unwrap_or(ITERATIONS);
    match simulation.model {
        Model::Stiffness => iterations,
        Model::Compliance => iterations.div_ceil(simulation.substeps.max(1)),
    }
}

pub(super) fn effort(settings: &Settings) -> Effort {
    let iterations = iterations(settings);
    let strain = &settings.strain;
    let compliant = settings.simulation.model == Model::Compliance;
    let stiffest = strain.stretch.into_iter().fold(0.0, f64::max);
    let is_stiff = !compliant && per_iteration(stiffest, iterations) >= STIFF;
    let most = if is_stiff { (f64::from(iterations) * CONSOLIDATING).round() as u32 } else { 0 };
    Effort {
        iterations,
        consolidating: strain.consolidating.unwrap_or(most).min(iterations),
        mass_gain: strain.mass_gain as f32,
        volume_sweeps: settings.simulation.volume_sweeps.unwrap_or(VOLUME_SWEEPS),
    }
}

/// Sets the seven stiffnesses of all tets: three stretches, three shears, volume.
pub(super) fn set(
    Strain { solver, fibres, .. }: &Strain,
    flesh: &Flesh<'_>,
    settings: &Settings,
    tissue: &[NodeTissue],
    seconds: f64,
    state: &mut StrainState,
) {
    let strain = &settings.strain;
    let mesh = flesh.body.tets();
    // Shares of the method's stiffness that the regions leave.
    let shares = |tet: usize| -> [f64; 7] {
        let mut sums = [0.0f32; 7];
        for &node in &mesh.tets()[tet] {
            let own = &tissue[node as usize];
            for k in 0..3 {
                sums[k] += 0.25 * own.stretch * own.along[k];
                sums[3 + k] += 0.25 * own.shear[k];
            }
            sums[6] += 0.25 * own.volume;
        }
        sums.map(f64::from)
    };
    let given = |tet: usize| {
        let ([a, b, c], [d, e, f]) = (strain.stretch, strain.shear);
        fibres.given(settings, tet, [a, b, c, d, e, f, strain.volume])
    };
    match settings.simulation.model {
        Model::Stiffness => {
            let iterations = iterations(settings);
            solver.set_stiffness(state, |tet| {
                let (given, shares) = (given(tet), shares(tet));
                std::array::from_fn(|k| per_iteration(given[k] * shares[k], iterations))
            });
        }
        Model::Compliance => {
            // Lame's constants: an energy density of `mu sum e_ii^2 + mu/2 sum S_ij^2 + lambda/2 (det F - 1)^2`.
            let mu = strain.young / (2.0 * (1.0 + strain.poisson));
            let lambda =
                strain.young * strain.poisson / ((1.0 + strain.poisson) * (1.0 - 2.0 * strain.poisson));
            let moduli = [2.0 * mu, 2.0 * mu, 2.0 * mu, mu, mu, mu, lambda];
            let cubed = flesh.metres_per_unit.powi(3);
            let square = seconds * seconds;
            solver.set_stiffness(state, |tet| {
                let (given, shares, volume) = (given(tet), shares(tet), mesh.volume_of(tet) * cubed);
                let compliance = |k: usize| 1.0 / (moduli[k] * given[k] * shares[k] * volume * square);
                std::array::from_fn(|k| compliance(k).clamp(0.0, 1e30) as f32)
            });
        }
    }
}
