//! Every path and any number of threads: the same bits.

mod strain_common;

use pliant::body::{bench_bend, bench_body, rest_nodes};
use pliant::simd::Path;
use pliant::solver::{Effort, Order, StrainSolver};
use strain_common::*;

#[test]
fn paths_and_threads_agree() {
    let random = &mut Random(7);
    let limb = Limb::new(10);
    let mut bodies = vec![(limb.mesh.clone(), limb.pinned.clone(), limb.bent(1.0)), {
        let mesh = one_tet();
        let nodes = moved(&mesh, 1.0, |p| p * 0.3);
        (mesh, vec![false; 4], nodes)
    }];
    bodies.extend(armadillo().map(|mesh| {
        let size = diagonal(&mesh);
        let mut nodes = rest_nodes(&mesh);
        for n in &mut nodes {
            *n = node(place(*n) + random.vector() * size * 0.05, random.below(3) as f32);
        }
        let pinned = (0..nodes.len()).map(|node| node % 9 == 0).collect();
        (mesh, pinned, nodes)
    }));
    for (mesh, pinned, start) in bodies {
        let frames = random_frames(random, mesh.tets().len());
        for compliant in [false, true] {
            let run = |path: Path| {
                let solver = StrainSolver::new(&mesh, &pinned, Some(&frames), Order::Layered, path);
                let solver = solver.expect("available");
                let mut state = solver.state();
                state.use_compliance(compliant);
                solver.set_stiffness(&mut state, |tet| {
                    [0.1, 0.2, 0.3, 0.1, 0.0, 0.1, (tet / 64 % 3) as f32 / 3.0]
                });
                let mut nodes = start.clone();
                let effort = Effort { iterations: 4, consolidating: 2, mass_gain: 10.0, volume_sweeps: 2 };
                solver.solve(&mut state, &mut nodes, effort);
                let residual = solver.residual(&mut state, &nodes).to_bits();
                let check = solver.check(&mut state, &nodes, 0.5);
                (nodes.iter().map(|n| n.map(f32::to_bits)).collect::<Vec<_>>(), residual, check)
            };
            let expected = run(Path::Scalar);
            assert!(expected.2.finite);
            for path in Path::available() {
                for threads in [1, 2, 3, 8] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                    assert!(pool.install(|| run(path)) == expected, "{path}, {threads} threads, {compliant}");
                }
                assert!(run(path) == expected, "{path}, from outside the pool");
            }
        }
    }
}

#[test]
fn memory_is_within_its_bounds() {
    for across in [6, 14] {
        let limb = Limb::new(across);
        for path in Path::available() {
            let solver = StrainSolver::new(&limb.mesh, &limb.pinned, None, Order::Layered, path);
            let solver = solver.expect("available");
            let mut state = solver.state();
            state.use_compliance(true);
            solver.set_scale(&mut state, |_| 1.1);
            let each = (solver.bytes() + state.bytes()) / solver.tets();
            assert!(each <= 250, "{path}: {each} bytes a tet");
        }
    }
}

/// Materials may change at any time, and what they were leaves no trace.
#[test]
fn stiffness_is_what_was_set_last() {
    let (mesh, _) = bench_body(5000, 8).expect("sound");
    let free = vec![false; mesh.positions().len()];
    let solver = StrainSolver::new(&mesh, &free, None, Order::Layered, Path::best()).expect("available");
    let start = bench_bend(&mesh, 1.0);
    let patchy = |tet: usize| [0.1; 7].map(|k| if tet % 11 < 3 { 3.0 * k } else { k });
    let solve = |state: &mut pliant::solver::StrainState| {
        let mut nodes = start.clone();
        let effort = Effort { iterations: 3, consolidating: 0, mass_gain: 1.0, volume_sweeps: 1 };
        solver.solve(state, &mut nodes, effort);
        nodes
    };
    let mut fresh = solver.state();
    solver.set_stiffness(&mut fresh, patchy);
    let expected = solve(&mut fresh);
    let mut state = solver.state();
    assert!(solve(&mut state) == start, "no stiffness at first");
    for _ in 0..2 {
        solver.set_stiffness(&mut state, |_| [0.5; 7]);
        let uniform = solve(&mut state);
        solver.set_stiffness(&mut state, patchy);
        let found = solve(&mut state);
        assert!(found == expected && found != uniform);
    }
}
