//! One tick of the strain solver on a bar of flesh around a bone, both bent and twisted.

use super::solve::Bar;
use super::{Bench, STRAIN, Timed, Work, best_of};
use anyhow::Result;
use pliant::body::Node;
use pliant::glam::{Quat, Vec3, Vec3Swizzles};
use pliant::simd::Path;
use pliant::solver::{Effort, Order, StrainSolver, Textbook, per_iteration};
use pliant_kit::hash::StateHash;

/// Bars, in tets.
const BODIES: [usize; 4] = [5000, 14_000, 90_000, 250_000];

/// How much of an error a tick of as many iterations as usual removes: the method's defaults.
const STRETCH: f64 = 0.4;
const SHEAR: f64 = 0.18;
const VOLUME: f64 = 1.0;
const USUAL_ITERATIONS: u32 = 10;

/// Half the thickness of the bone inside the bar, whose sides are 1: its nodes are pinned.
const BONE: f32 = 0.17;

impl Bench<'_> {
    /// Bars without frames, and with one per tet.
    pub(super) fn strain(&mut self) -> Result<()> {
        self.bars(&BODIES, |bench, bar| {
            let iterations = bench.args.iterations.unwrap_or(USUAL_ITERATIONS);
            let volume = if bench.args.no_volume { 0.0 } else { VOLUME };
            let [stretch, shear, volume] =
                [STRETCH, SHEAR, volume].map(|k| per_iteration(k, USUAL_ITERATIONS));
            let stiffness = [stretch, stretch, stretch, shear, shear, shear, volume];
            // Fibres that wind around the bar.
            let frame = |tet: usize| {
                let middle = bar.mesh.corners(tet).iter().map(|p| p.x).sum::<f64>() / 4.0;
                Quat::from_rotation_x((3.0 * middle) as f32) * Quat::from_rotation_y(0.5)
            };
            let frames: Vec<Quat> = (0..bar.mesh.tets().len()).map(frame).collect();
            for (output, frames) in [(bar.name, None), ("frames", Some(&frames[..]))] {
                let work = Work {
                    method: STRAIN,
                    output,
                    vertices: bar.mesh.positions().len(),
                    tets: Some(bar.mesh.tets().len()),
                    iterations: Some(iterations),
                };
                bench.measure(&work, |path| tick(bar, frames, stiffness, iterations, path))?;
            }
            Ok(())
        })
    }
}

/// Best time of a tick's projection.
fn tick(
    bar: &Bar,
    frames: Option<&[Quat]>,
    stiffness: [f32; 7],
    iterations: u32,
    path: Path,
) -> Result<Timed> {
    let pinned: Vec<bool> = bar.mesh.positions().iter().map(|p| p.yz().abs().max_element() < BONE).collect();
    let solver = StrainSolver::new(&bar.mesh, &pinned, frames, Order::Layered, path)?;
    let mut state = solver.state();
    solver.set_stiffness(&mut state, |_| stiffness);
    let mut start = bar.bent.clone();
    start.iter_mut().zip(&pinned).filter(|(_, pinned)| **pinned).for_each(|(node, _)| node[3] = 0.0);
    let mut nodes = start.clone();
    let mut timed = |work: &mut dyn FnMut(&mut [Node])| {
        best_of(&mut nodes, |nodes| nodes.copy_from_slice(&start), |nodes| work(nodes))
    };
    let textbook = (path == Path::Scalar).then(|| {
        let mut tets = solver.sequence();
        tets.sort_unstable();
        let textbook = Textbook::new(&bar.mesh, &tets, frames, |_| stiffness);
        timed(&mut |nodes| (0..iterations).for_each(|_| textbook.sweep(nodes)))
    });
    let effort = Effort { iterations, consolidating: 0, mass_gain: 1.0, volume_sweeps: 0 };
    let best = timed(&mut |nodes| solver.solve(&mut state, nodes, effort));
    let mut hasher = StateHash::default();
    hasher.frame(&nodes.iter().map(|n| Vec3::new(n[0], n[1], n[2])).collect::<Vec<_>>());
    Ok(Timed {
        best,
        state_hash: hasher.hex(),
        residual: Some(solver.residual(&mut state, &nodes).into()),
        parts: None,
        textbook,
    })
}
