//! Compliance in physical units: neither the time step nor the number of iterations is a stiffness.

mod solver_common;

use pliant::body::bench_block;
use pliant::glam::DVec3;
use pliant::simd::Path;
use pliant::solver::{Solver, SolverState};
use solver_common::*;

/// A weight on a spring comes to rest at `m g / k` below, however time is cut.
#[test]
fn a_weight_hangs_as_its_spring_says() {
    let mesh = one_tet();
    let (mass, gravity, spring) = (2.0, 9.81, 60.0);
    for (substeps, iterations) in [(1, 1), (4, 1), (4, 3), (16, 1)] {
        let solver = Solver::new(&mesh, Path::best()).expect("available");
        let mut state = solver.state();
        state.use_compliance(true);
        let h = 1.0 / 60.0 / f64::from(substeps);
        let compliance = (1.0 / spring / (h * h)) as f32;
        solver.set_stretch(&mut state, |nodes| if nodes == [0, 1] { compliance } else { f32::INFINITY });
        let mut nodes = moved(&mesh, 0.0, |p| p);
        nodes[1][3] = (1.0 / mass) as f32;
        let mut velocity = DVec3::ZERO;
        for _ in 0..600 * substeps {
            let before = place(nodes[1]);
            velocity += DVec3::X * gravity * h;
            nodes[1] = node(before + velocity * h, nodes[1][3]);
            solver.solve(&mut state, &mut nodes, &[], &[], iterations, 0);
            velocity = (place(nodes[1]) - before) / h * (1.0 - 2.0 * h);
        }
        let found = place(nodes[1]).x - 1.0;
        let expected = mass * gravity / spring;
        // What f32 rounds away of a place is a share of what a step falls.
        let rounded = f64::from(f32::EPSILON) / (gravity * h * h);
        assert!(
            (found / expected - 1.0).abs() < 1e-3 + rounded,
            "{substeps} {iterations}: {found} {expected}"
        );
    }
}

/// The same for a tet that three pinned nodes hold: its height falls until the pressure carries the fourth.
#[test]
fn a_weight_stands_on_a_tet_as_its_volume_says() {
    let mesh = one_tet();
    let (mass, gravity, stiffness) = (1.0, 9.81, 2000.0);
    for substeps in [1, 8] {
        let solver = Solver::new(&mesh, Path::best()).expect("available");
        let mut state = solver.state();
        state.use_compliance(true);
        let h = 1.0 / 60.0 / f64::from(substeps);
        solver.set_volume(&mut state, |_| (1.0 / stiffness / (h * h)) as f32);
        let mut nodes = moved(&mesh, 0.0, |p| p);
        nodes[3][3] = (1.0 / mass) as f32;
        let mut velocity = DVec3::ZERO;
        for _ in 0..600 * substeps {
            let before = place(nodes[3]);
            velocity -= DVec3::Z * gravity * h;
            nodes[3] = node(before + velocity * h, nodes[3][3]);
            solver.solve(&mut state, &mut nodes, &[], &[], 1, 0);
            velocity = (place(nodes[3]) - before) / h * (1.0 - 2.0 * h);
        }
        // Energy k C^2 / 2 with C = (z - 1)/6: force k C / 6 = m g.
        let expected = -36.0 * mass * gravity / stiffness;
        let found = place(nodes[3]).z - 1.0;
        assert!((found / expected - 1.0).abs() < 2e-3, "{substeps}: {found} {expected}");
    }
}

/// And for a node bound to a point.
#[test]
fn a_weight_hangs_from_its_bind() {
    let mesh = one_tet();
    let solver = Solver::new(&mesh, Path::best()).expect("available");
    let mut state = solver.state();
    state.use_compliance(true);
    let (h, spring) = (1.0 / 120.0, 500.0);
    let mut nodes = moved(&mesh, 1.0, |p| p);
    let binds = [[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.5, 0.5], [0.0, 1.0, 0.5, 0.5], [0.0, 0.0, 1.5, 0.5]];
    let compliance = (1.0 / spring / (h * h)) as f32;
    let mut velocity = [DVec3::ZERO; 4];
    for _ in 0..1200 {
        let before: Vec<DVec3> = nodes.iter().map(|n| place(*n)).collect();
        for i in 1..4 {
            velocity[i] -= DVec3::Z * 9.81 * h;
            nodes[i] = node(before[i] + velocity[i] * h, 1.0);
        }
        solver.solve(
            &mut state,
            &mut nodes,
            &binds,
            &[f32::INFINITY, compliance, compliance, compliance],
            2,
            0,
        );
        (1..4).for_each(|i| velocity[i] = (place(nodes[i]) - before[i]) / h * (1.0 - 2.0 * h));
    }
    assert_eq!(nodes[0], [0.0, 0.0, 0.0, 1.0], "no bind");
    for i in 1..4 {
        let fallen = f64::from(binds[i][2]) - 0.5 - place(nodes[i]).z;
        assert!((fallen / (9.81 / spring) - 1.0).abs() < 5e-3, "node {i}: {fallen}");
    }
}

/// A bar pulled at one end, held at the other: more iterations than enough change nothing, and compliance does.
#[test]
fn what_has_converged_does_not_change_with_iterations() {
    let mesh = bench_block([8, 2, 2], DVec3::ZERO, DVec3::new(8.0, 2.0, 2.0)).expect("sound");
    let solver = Solver::new(&mesh, Path::best()).expect("available");
    let solve = |compliance: f32, iterations: u32| {
        let mut state: SolverState = solver.state();
        state.use_compliance(true);
        solver.set_stretch(&mut state, |_| compliance);
        solver.set_volume(&mut state, |_| compliance);
        let mut nodes = moved(&mesh, 1.0, |p| DVec3::new(p.x * 1.1, p.y, p.z));
        let ends = mesh.positions().iter().zip(&mut nodes).filter(|(p, _)| p.x == 0.0 || p.x == 8.0);
        ends.for_each(|(_, n)| n[3] = 0.0);
        solver.solve(&mut state, &mut nodes, &[], &[], iterations, 0);
        nodes
    };
    for compliance in [0.3, 3.0] {
        let (some, more) = (solve(compliance, 400), solve(compliance, 800));
        assert!(farthest(&some, &more) < 2e-5, "{compliance}: {}", farthest(&some, &more));
    }
    assert!(farthest(&solve(0.3, 400), &solve(3.0, 400)) > 0.02);
}
