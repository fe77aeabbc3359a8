//! Compliance in physical units: neither the time step nor the number of iterations is a stiffness.

mod strain_common;

use pliant::glam::{DVec3, Quat};
use pliant::simd::Path;
use pliant::solver::{Effort, Order, StrainSolver};
use strain_common::*;

/// The tet with edges of 1 along the axes, all pinned but one node: a weight there stretches or shears it as the compliance
/// of that constraint says, however time is cut. With a frame it is the frame's axes that count.
#[test]
fn a_weight_hangs_as_its_compliance_says() {
    let mesh = one_tet();
    let (mass, gravity, spring) = (2.0, 9.81, 60.0);
    let turned = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    // Along x: stretch of axis 1, or of axis 2 of a frame turned by a right angle. Along y: shear of axes 1 and 2.
    let cases = [(0, None, DVec3::X), (1, Some([turned]), DVec3::X), (3, None, DVec3::Y)];
    for (constraint, frame, down) in cases {
        for (substeps, iterations) in [(1, 1), (4, 1), (4, 3), (16, 1)] {
            let frame = frame.as_ref().map(|frame| &frame[..]);
            let pinned = [true, false, true, true];
            let solver = StrainSolver::new(&mesh, &pinned, frame, Order::Layered, Path::best());
            let solver = solver.expect("available");
            let mut state = solver.state();
            state.use_compliance(true);
            let h = 1.0 / 60.0 / f64::from(substeps);
            let compliance = (1.0 / spring / (h * h)) as f32;
            solver.set_stiffness(&mut state, |_| {
                std::array::from_fn(|k| if k == constraint { compliance } else { f32::INFINITY })
            });
            let mut nodes = moved(&mesh, (1.0 / mass) as f32, |p| p);
            let start = place(nodes[1]);
            let mut velocity = DVec3::ZERO;
            for _ in 0..600 * substeps {
                let before = place(nodes[1]);
                velocity += down * gravity * h;
                nodes[1] = node(before + velocity * h, nodes[1][3]);
                let effort = Effort { iterations, consolidating: 0, mass_gain: 1.0, volume_sweeps: 0 };
                solver.solve(&mut state, &mut nodes, effort);
                velocity = (place(nodes[1]) - before) / h * (1.0 - 2.0 * h);
            }
            let found = (place(nodes[1]) - start).dot(down);
            let expected = mass * gravity / spring;
            // What f32 rounds away of a place is a share of what a step falls.
            let rounded = f64::from(f32::EPSILON) / (gravity * h * h);
            assert!(
                (found / expected - 1.0).abs() < 1e-3 + rounded,
                "{constraint}, {substeps} {iterations}: {found} {expected}"
            );
        }
    }
}
