//! What the strain solver does to nodes: geometry and mechanics.

mod strain_common;

use pliant::asset::TetMesh;
use pliant::body::{Node, bench_bend, bench_block, bench_body, rest_nodes};
use pliant::glam::{DMat3, DVec3, Quat};
use pliant::simd::Path;
use pliant::solver::{Effort, Order, StrainSolver, StrainState, Textbook, layers};
use strain_common::*;

const SWEEP: Effort = Effort { iterations: 1, consolidating: 0, mass_gain: 10.0, volume_sweeps: 0 };

fn sweeps(iterations: u32) -> Effort {
    Effort { iterations, ..SWEEP }
}

/// The best path, nothing pinned, one material.
fn solver(mesh: &TetMesh, frames: Option<&[Quat]>, stiffness: [f32; 7]) -> (StrainSolver, StrainState) {
    let free = vec![false; mesh.positions().len()];
    let solver = StrainSolver::new(mesh, &free, frames, Order::Layered, Path::best()).expect("available");
    let mut state = solver.state();
    solver.set_stiffness(&mut state, |_| stiffness);
    (solver, state)
}

/// A tet of random shape, not too flat, and nodes of random masses somewhat moved from it.
fn random_tet(random: &mut Random) -> (TetMesh, Vec<Node>) {
    loop {
        let corners: Vec<_> = (0..4).map(|_| random.vector().as_vec3()).collect();
        let Ok(mesh) = TetMesh::new(corners, vec![[0, 1, 2, 3]]) else { continue };
        if mesh.volume() < 0.05 {
            continue;
        }
        let mut nodes = rest_nodes(&mesh);
        for n in &mut nodes {
            let by = random.vector() * 0.15;
            *n = node(place(*n) + by, (0.2 + random.number().abs()) as f32);
        }
        return (mesh, nodes);
    }
}

/// `F Q` in f64.
fn gradient(mesh: &TetMesh, tet: usize, frame: Quat, nodes: &[Node]) -> DMat3 {
    let edges = |[a, b, c, d]: [DVec3; 4]| DMat3::from_cols(b - a, c - a, d - a);
    let posed = edges(mesh.tets()[tet].map(|n| place(nodes[n as usize])));
    posed * edges(mesh.corners(tet)).inverse() * DMat3::from_quat(frame.as_dquat())
}

/// The seven constraints of a tet in f64.
fn constraints(mesh: &TetMesh, tet: usize, frame: Quat, nodes: &[Node]) -> [f64; 7] {
    let f = gradient(mesh, tet, frame, nodes);
    let (a, b, c) = (f.x_axis, f.y_axis, f.z_axis);
    let [s1, s2, s3] = [a, b, c].map(|f| f.length() - 1.0);
    [s1, s2, s3, a.dot(b), a.dot(c), b.dot(c), f.determinant() - 1.0]
}

#[test]
fn rest_and_rigid_motions_of_it_are_left_alone() {
    let random = &mut Random(1);
    let mut meshes = vec![one_tet(), shaken_block(random, [8, 4, 4], DVec3::splat(-1.0), DVec3::ONE)];
    meshes.extend(armadillo());
    for mesh in meshes {
        let frames = random_frames(random, mesh.tets().len());
        let size = diagonal(&mesh);
        let turn = random.rotation();
        let rotated = moved(&mesh, 1.0, |p| turn * p);
        for frames in [None, Some(&frames[..])] {
            let (solver, mut state) = solver(&mesh, frames, [1.0; 7]);
            for start in [rest_nodes(&mesh), rotated.clone()] {
                let start: Vec<Node> = start.iter().map(|n| [n[0], n[1], n[2], 1.0]).collect();
                let mut nodes = start.clone();
                solver.solve(&mut state, &mut nodes, Effort { volume_sweeps: 3, ..sweeps(10) });
                let by = farthest(&nodes, &start) / size;
                assert!(by < 3e-6, "moved by {by} of the size");
                assert!(solver.residual(&mut state, &nodes) < 2e-4);
                assert_eq!(solver.check(&mut state, &nodes, 0.9).flat, 0);
            }
        }
    }
}

/// `dp_i = -k w_i C grad_i / (sum_j w_j |grad_j|^2 + reg)`, with gradients by differences in f64.
#[test]
fn each_constraint_follows_its_gradient_and_meets_itself() {
    let random = &mut Random(2);
    for case in 0..140 {
        let (mesh, start) = random_tet(random);
        let k = case % 7;
        let frame = [random.rotation().as_quat()];
        let mut stiffness = [0.0; 7];
        stiffness[k] = 1.0;
        let (solver, mut state) = solver(&mesh, Some(&frame), stiffness);
        let value = |nodes: &[Node]| constraints(&mesh, 0, frame[0], nodes)[k];
        let error = value(&start);
        let gradient = |i: usize, axis: usize| {
            let at = |by: f32| {
                let mut nodes = start.clone();
                nodes[i][axis] += by;
                (value(&nodes), f64::from(nodes[i][axis]))
            };
            let (high, low) = (at(1e-3), at(-1e-3));
            (high.0 - low.0) / (high.1 - low.1)
        };
        let gradients: Vec<DVec3> =
            (0..4).map(|i| DVec3::new(gradient(i, 0), gradient(i, 1), gradient(i, 2))).collect();
        let over: f64 = gradients.iter().zip(&start).map(|(g, n)| g.length_squared() * f64::from(n[3])).sum();
        let mut nodes = start.clone();
        solver.solve(&mut state, &mut nodes, SWEEP);
        let size = (0..4).map(|i| place(nodes[i]).distance(place(start[i]))).fold(0.0, f64::max);
        for i in 0..4 {
            let expected = gradients[i] * (-f64::from(start[i][3]) * error / over);
            let found = place(nodes[i]) - place(start[i]);
            // The denominator has a small share added.
            assert!(found.distance(expected) < 0.04 * size + 1e-6, "{case}, node {i}: {found} {expected}");
        }
        assert!(size > 1e-5, "{case}: nothing moved");
        solver.solve(&mut state, &mut nodes, sweeps(12));
        assert!(value(&nodes).abs() < 1e-5 + 1e-4 * error.abs(), "{case}: {} of {error}", value(&nodes));
    }
}

/// Tets one after another, constraint by constraint, as published: the same to rounding.
#[test]
fn the_fused_form_is_the_textbook_one() {
    let random = &mut Random(3);
    let mut bodies = vec![random_tet(random), {
        let (mesh, _) = bench_body(9000, 8).expect("sound");
        let nodes = bench_bend(&mesh, 1.5);
        (mesh, nodes)
    }];
    bodies.extend(armadillo().map(|mesh| {
        let nodes = moved(&mesh, 1.0, |p| DVec3::new(p.x * 1.1, p.y * 0.9, p.z) + p.y * DVec3::X * 0.1);
        (mesh, nodes)
    }));
    for (mesh, mut start) in bodies {
        start.iter_mut().for_each(|n| n[3] = (0.3 + random.number().abs()) as f32);
        let frames = random_frames(random, mesh.tets().len());
        for frames in [None, Some(&frames[..])] {
            let stiffness = |tet: usize| [0.1, 0.2, 0.3, 0.05, 0.1, 0.15, [0.3, 0.9][tet % 2]];
            let (solver, mut state) = solver(&mesh, frames, [0.0; 7]);
            solver.set_stiffness(&mut state, stiffness);
            let textbook = Textbook::new(&mesh, &solver.sequence(), frames, stiffness);
            let (mut nodes, mut expected) = (start.clone(), start.clone());
            solver.solve(&mut state, &mut nodes, sweeps(3));
            (0..3).for_each(|_| textbook.sweep(&mut expected));
            let size = diagonal(&mesh);
            let (off, by) = (farthest(&nodes, &expected) / size, farthest(&nodes, &start) / size);
            assert!(off < 1e-3 * by && by > 1e-3, "{off} of {by}");
        }
    }
}

#[test]
fn momentum_is_kept() {
    let random = &mut Random(4);
    let mesh = shaken_block(random, [10, 5, 5], DVec3::splat(-1.0), DVec3::new(3.0, 1.0, 1.0));
    for k in 0..8 {
        let mut stiffness = [if k == 7 { 0.4 } else { 0.0 }; 7];
        stiffness[k.min(6)] = 0.8;
        let (solver, mut state) = solver(&mesh, None, stiffness);
        let mut start = rest_nodes(&mesh);
        for n in &mut start {
            *n = node(place(*n) + random.vector() * 0.03, (0.3 + random.number().abs()) as f32);
        }
        let mut nodes = start.clone();
        solver.solve(&mut state, &mut nodes, Effort { volume_sweeps: 2, ..sweeps(8) });
        let (mut sum, mut turned, mut total) = (DVec3::ZERO, DVec3::ZERO, 0.0);
        for (a, b) in nodes.iter().zip(&start) {
            let (mass, by) = (1.0 / f64::from(a[3]), place(*a) - place(*b));
            sum += mass * by;
            turned += mass * place(*b).cross(by);
            total += mass * by.length();
        }
        assert!(total > 0.1, "{k}: nothing moved");
        assert!(sum.length() < 1e-5 * total, "{k}: shifted by {sum} of {total}");
        // A projection turns nothing to first order: gradients are at where the constraint stands.
        assert!(turned.length() < 0.02 * total, "{k}: turned by {turned} of {total}");
    }
}

#[test]
fn pinned_nodes_stay_whatever_their_mass() {
    let (mesh, _) = bench_body(3000, 8).expect("sound");
    let start = bench_bend(&mesh, 1.5);
    let pinned: Vec<bool> = mesh.positions().iter().map(|p| p.x.abs() > 1.5).collect();
    let solver = StrainSolver::new(&mesh, &pinned, None, Order::Layered, Path::best()).expect("available");
    let mut state = solver.state();
    solver.set_stiffness(&mut state, |_| [0.5; 7]);
    let mut nodes = start.clone();
    solver.solve(&mut state, &mut nodes, Effort { consolidating: 6, volume_sweeps: 2, ..sweeps(10) });
    for (node, is_pinned) in pinned.iter().enumerate() {
        assert_eq!(nodes[node] == start[node], *is_pinned, "node {node}");
        assert_eq!(nodes[node][3], 1.0);
    }
    let all_pinned = mesh.tets().iter().filter(|tet| tet.iter().all(|&n| pinned[n as usize])).count();
    assert!(all_pinned > 0);
    assert_eq!(solver.free_tets(), mesh.tets().len() - all_pinned);
    assert_eq!(solver.tets(), mesh.tets().len());
}

/// Alone in the world and of any shape: soft ones take their time, since a shear fades as its columns shorten.
#[test]
fn an_inverted_tet_comes_back() {
    let random = &mut Random(5);
    for case in 0..60 {
        let (mesh, start) = random_tet(random);
        for stiffness in [[0.1; 7], [0.5; 7], [1.0; 7]] {
            let (solver, mut state) = solver(&mesh, None, stiffness);
            let turn = random.rotation();
            for squeeze in [-1.0, -0.3, 0.0] {
                let mut nodes = start.clone();
                for (n, rest) in nodes.iter_mut().zip(rest_nodes(&mesh)) {
                    *n = node(turn * (place(rest) * DVec3::new(1.0, 1.0, squeeze)), n[3]);
                }
                assert_eq!(solver.check(&mut state, &nodes, 1e-6).flat, 1);
                solver.solve(&mut state, &mut nodes, sweeps(3000));
                let residual = solver.residual(&mut state, &nodes);
                assert!(residual < 0.05, "{case}, {stiffness:?}, {squeeze}: {residual} {nodes:?}");
                assert_eq!(solver.check(&mut state, &nodes, 0.9).flat, 0);
            }
        }
    }
}

#[test]
fn layers_of_a_bar_count_from_its_pins() {
    let cells = [12, 2, 2];
    let mesh = bench_block(cells, DVec3::ZERO, DVec3::from_array(cells.map(|n| n as f64))).expect("sound");
    let pinned: Vec<bool> = mesh.positions().iter().map(|p| p.x < 1.5).collect();
    let found = layers(&mesh, &pinned);
    for (tet, &layer) in found.iter().enumerate() {
        // A tet of the cell from x to x + 1 shares a node with the cell before.
        let low = mesh.corners(tet).iter().map(|p| p.x).fold(f64::MAX, f64::min);
        assert_eq!(f64::from(layer), low, "tet {tet}");
    }
    let solver = StrainSolver::new(&mesh, &pinned, None, Order::Layered, Path::best()).expect("available");
    assert_eq!(solver.layer_count(), 11);
    let sequence = solver.sequence();
    let mut seen = vec![0; mesh.positions().len()];
    for &tet in &sequence {
        for &node in &mesh.tets()[tet as usize] {
            let (layer, seen) = (found[tet as usize], &mut seen[node as usize]);
            assert!(layer + 1 >= *seen, "tets of a node go layer by layer, at most one ahead");
            *seen = layer.max(*seen);
        }
    }
    assert_eq!(sequence.len(), solver.free_tets());
    // A body of two pieces of which one is pinned, and one without pins at all.
    let mut positions = mesh.positions().to_vec();
    positions.extend(mesh.positions().iter().map(|p| *p + 100.0));
    let mut tets = mesh.tets().to_vec();
    tets.extend(mesh.tets().iter().map(|t| t.map(|n| n + mesh.positions().len() as u32)));
    let two = TetMesh::new(positions, tets).expect("sound");
    let mut pins = pinned.clone();
    pins.resize(2 * pinned.len(), false);
    for pins in [pins, vec![false; 2 * pinned.len()]] {
        let found = layers(&two, &pins);
        let free = found.iter().filter(|&&layer| layer > 0).count();
        let solver = StrainSolver::new(&two, &pins, None, Order::Layered, Path::best()).expect("available");
        assert_eq!(solver.free_tets(), free);
        let mut all = solver.sequence();
        all.sort_unstable();
        assert!(all.iter().zip((0..).filter(|&t| found[t] > 0)).all(|(&a, b)| a as usize == b), "each once");
    }
}

#[test]
fn rest_lengths_scale() {
    let random = &mut Random(6);
    let mesh = shaken_block(random, [6, 3, 3], DVec3::splat(-1.0), DVec3::ONE);
    let (solver, mut state) = solver(&mesh, None, [0.5; 7]);
    let start = moved(&mesh, 1.0, |p| 1.3 * p);
    assert!(solver.residual(&mut state, &start) > 0.1);
    solver.set_scale(&mut state, |_| 1.3);
    assert!(solver.residual(&mut state, &start) < 1e-4);
    let mut nodes = start.clone();
    solver.solve(&mut state, &mut nodes, sweeps(10));
    assert!(farthest(&nodes, &start) < 1e-5);
    solver.set_scale(&mut state, |_| 1.0);
    solver.solve(&mut state, &mut nodes, sweeps(200));
    let volume: f64 = mesh.tets().iter().map(|&tet| strain_common::volume(tet, &nodes)).sum();
    assert!((volume / mesh.volume() - 1.0).abs() < 0.01, "{volume}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let mesh = one_tet();
    let error = |pinned: &[bool], frames: Option<&[Quat]>| {
        let made = StrainSolver::new(&mesh, pinned, frames, Order::Layered, Path::best());
        made.expect_err("refused").to_string()
    };
    assert_eq!(error(&[false; 3], None), "3 pinned flags for a mesh with 4");
    assert_eq!(error(&[false; 4], Some(&[Quat::IDENTITY; 2])), "2 frames for a mesh with 1");
    let squashed = Quat::from_xyzw(0.1, 0.0, 0.0, 0.1);
    assert_eq!(error(&[false; 4], Some(&[squashed])), "the frame of tet 0 is no rotation");
    assert!(error(&[false; 4], Some(&[Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0)])).contains("no rotation"));
}
