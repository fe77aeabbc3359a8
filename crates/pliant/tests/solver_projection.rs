//! What a projection does to nodes: geometry and mechanics.

mod solver_common;

use pliant::asset::TetMesh;
use pliant::body::{Node, bench_bend, bench_block, bench_body, rest_nodes, topology};
use pliant::glam::{DQuat, DVec3};
use pliant::simd::Path;
use pliant::solver::{Solver, per_iteration};
use solver_common::*;

/// A tet of random shape, not too flat, and nodes of random masses somewhat moved from it.
fn random_tet(random: &mut Random) -> (TetMesh, Vec<Node>) {
    loop {
        let corners: Vec<_> = (0..4).map(|_| random.vector().as_vec3()).collect();
        let Ok(mesh) = TetMesh::new(corners, vec![[0, 1, 2, 3]]) else { continue };
        if mesh.volume() < 0.05 {
            continue;
        }
        let mut nodes = moved(&mesh, 0.0, |p| p + random_at(p) * 0.1);
        nodes.iter_mut().for_each(|n| n[3] = (0.2 + random.number().abs()) as f32);
        return (mesh, nodes);
    }
}

/// A shift that looks random, and is the same for the same place.
fn random_at(p: DVec3) -> DVec3 {
    let seed = p.to_array().iter().fold(7u64, |s, x| s.wrapping_mul(31).wrapping_add(x.to_bits()));
    Random(seed).vector()
}

/// `dp_i = -k w_i C grad_i / sum_j w_j |grad_j|^2`, with gradients by differences in f64.
#[test]
fn corrections_follow_the_gradient() {
    let random = &mut Random(1);
    for case in 0..200 {
        let (mesh, start) = random_tet(random);
        let edge = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]][case % 6];
        let rest = rest_nodes(&mesh);
        let tet = mesh.tets()[0];
        let length = |nodes: &[Node]| distance(nodes, edge[0], edge[1]);
        for is_volume in [false, true] {
            let value = |nodes: &[Node]| if is_volume { volume(tet, nodes) } else { length(nodes) };
            let error = value(&start) - value(&rest);
            let step = 1e-3;
            let gradient = |i: usize, axis: usize| {
                let at = |by: f32| {
                    let mut nodes = start.clone();
                    nodes[i][axis] += by;
                    (value(&nodes), f64::from(nodes[i][axis]))
                };
                let (high, low) = (at(step), at(-step));
                (high.0 - low.0) / (high.1 - low.1)
            };
            let gradients: Vec<DVec3> =
                (0..4).map(|i| DVec3::new(gradient(i, 0), gradient(i, 1), gradient(i, 2))).collect();
            let over: f64 =
                gradients.iter().zip(&start).map(|(g, n)| g.length_squared() * f64::from(n[3])).sum();
            let (solver, mut state) = solver(&mesh, 0.0, if is_volume { 0.7 } else { 0.0 });
            if !is_volume {
                let chosen = edge.map(|n| n as u32);
                solver.set_stretch(&mut state, |nodes| if nodes == chosen { 0.7 } else { 0.0 });
            }
            let mut nodes = start.clone();
            solver.solve(&mut state, &mut nodes, &[], &[], 1, 0);
            let size = (0..4).map(|i| place(nodes[i]).distance(place(start[i]))).fold(0.0, f64::max);
            for i in 0..4 {
                let expected = gradients[i] * (-0.7 * f64::from(start[i][3]) * error / over);
                let found = place(nodes[i]) - place(start[i]);
                let off = found.distance(expected);
                assert!(off < 2e-3 * size + 1e-6, "{case} {is_volume}, node {i}: {found} {expected}");
            }
            assert!(size > 1e-4, "{case}: nothing moved");
        }
    }
}

#[test]
fn a_rigid_motion_of_the_rest_moves_nothing() {
    let random = &mut Random(2);
    let mut meshes = vec![one_tet(), shaken_block(random, [8, 4, 4], DVec3::splat(-1.0), DVec3::ONE)];
    meshes.extend(armadillo());
    for mesh in meshes {
        let centre =
            mesh.positions().iter().map(|p| p.as_dvec3()).sum::<DVec3>() / mesh.positions().len() as f64;
        let size = diagonal(&mesh);
        let turn = random.rotation();
        let start = moved(&mesh, 1.0, |p| turn * (p - centre));
        let binds: Vec<Node> = start.iter().map(|n| [n[0], n[1] + 1.0, n[2], 1.0]).collect();
        let (solver, mut state) = solver(&mesh, 1.0, 1.0);
        let mut nodes = start.clone();
        solver.solve(&mut state, &mut nodes, &binds, &vec![1.0; start.len()], 12, 4);
        // A place itself is rounded to 6e-8 of the size, and errors of a tet add up over its height.
        let by = farthest(&nodes, &start) / size;
        assert!(by < 2e-6, "moved by {by} of the size");
        assert!(solver.residual(&mut state, &nodes) < 1e-4);
    }
}

#[test]
fn one_constraint_of_full_stiffness_is_met() {
    let random = &mut Random(3);
    for case in 0..50 {
        let (mesh, start) = random_tet(random);
        let rest = rest_nodes(&mesh);
        let (solver, mut state) = solver(&mesh, 0.0, 1.0);
        solver.set_stretch(&mut state, |nodes| if nodes == [1, 3] { 1.0 } else { 0.0 });
        let mut nodes = start.clone();
        solver.sweep_stretch(&mut state, &mut nodes, 1);
        assert!((distance(&nodes, 1, 3) - distance(&rest, 1, 3)).abs() < 1e-6, "{case}: stretch");
        // Volume is linear in one node, so that one step meets it where the others are held.
        let mut nodes = start.clone();
        (0..3).for_each(|i| nodes[i][3] = 0.0);
        solver.sweep_volume(&mut state, &mut nodes, 1);
        assert!((volume(mesh.tets()[0], &nodes) - mesh.volume()).abs() < 1e-6, "{case}: volume, one node");
        assert_eq!(nodes[..3], [0, 1, 2].map(|i| [start[i][0], start[i][1], start[i][2], 0.0]));
        let mut nodes = start.clone();
        solver.sweep_volume(&mut state, &mut nodes, 6);
        assert!((volume(mesh.tets()[0], &nodes) - mesh.volume()).abs() < 1e-6, "{case}: volume");
    }
}

/// Wherever in a body of many slabs, each of its constraints alone is met and moves its own nodes only.
#[test]
fn every_constraint_of_a_body_is_projected() {
    let (mesh, _) = bench_body(12_000, 8).expect("sound");
    let start = bench_bend(&mesh, 1.5);
    let rest = rest_nodes(&mesh);
    let (solver, mut state) = solver(&mesh, 0.0, 0.0);
    let moved = |nodes: &[Node]| (0..nodes.len()).filter(|&i| nodes[i] != start[i]).count();
    let edges = topology::edges(&mesh);
    // Some are met at the start.
    let mut all = 0;
    for &edge in edges.iter().step_by(edges.len() / 60) {
        solver.set_stretch(&mut state, |nodes| if nodes == edge { 1.0 } else { 0.0 });
        let mut nodes = start.clone();
        solver.sweep_stretch(&mut state, &mut nodes, 1);
        let [a, b] = edge.map(|n| n as usize);
        assert!((distance(&nodes, a, b) - distance(&rest, a, b)).abs() < 1e-6, "{edge:?}");
        assert!(moved(&nodes) <= 2, "{edge:?}");
        all += moved(&nodes);
    }
    for &tet in mesh.tets().iter().step_by(mesh.tets().len() / 60) {
        let mut own = tet;
        own.sort_unstable();
        solver.set_volume(&mut state, |nodes| if nodes == own { 1.0 } else { 0.0 });
        let mut nodes = start.clone();
        solver.sweep_volume(&mut state, &mut nodes, 5);
        let (found, expected) = (volume(tet, &nodes), volume(tet, &rest));
        // Places are rounded to 6e-8 each, beside edges of 0.1.
        assert!((found / expected - 1.0).abs() < 1e-4, "{tet:?}: {found} {expected}");
        assert!(moved(&nodes) <= 4, "{tet:?}");
        all += moved(&nodes);
    }
    assert!(all > 300, "{all}");
    let binds: Vec<Node> = start.iter().map(|n| [n[0], n[1], n[2] + 1.0, 0.5]).collect();
    let mut nodes = start.clone();
    solver.sweep_bind(&mut state, &mut nodes, &binds, &vec![1.0; start.len()], 1);
    for (node, bind) in nodes.iter().zip(&binds) {
        assert!((place(*node).distance(place(*bind)) - 0.5).abs() < 1e-6);
    }
}

#[test]
fn binds_keep_their_distance() {
    let mesh = one_tet();
    let (solver, mut state) = solver(&mesh, 0.0, 0.0);
    let start = moved(&mesh, 1.0, |p| p * 2.0);
    let points = [[0.0, 0.0, 0.0, 1.0], [2.0, 3.0, 0.0, 1.0], [0.5, 0.5, 0.5, 0.0], [0.0, 0.0, 1.0, 0.25]];
    let mut nodes = start.clone();
    solver.sweep_bind(&mut state, &mut nodes, &points, &[1.0; 4], 1);
    assert_eq!(nodes[0], start[0], "on its point: no direction");
    let near = |node: usize, x: f64, y: f64, z: f64| place(nodes[node]).distance(DVec3::new(x, y, z)) < 1e-6;
    assert!(near(1, 2.0, 2.0, 0.0), "out to its distance, {:?}", nodes[1]);
    assert!(near(2, 0.5, 0.5, 0.5), "distance 0: to the point, {:?}", nodes[2]);
    assert!(near(3, 0.0, 0.0, 1.25), "in to its distance, {:?}", nodes[3]);
    // Without stiffness, or without a mass to move, nothing.
    let mut nodes = start.clone();
    nodes[3][3] = 0.0;
    solver.sweep_bind(&mut state, &mut nodes, &points, &[0.0, 0.0, 0.0, 1.0], 3);
    assert_eq!(nodes[..3], start[..3]);
    assert_eq!(nodes[3][..3], start[3][..3]);
    // On the point at distance 0 is where it wants to be.
    let mut nodes = start.clone();
    solver.sweep_bind(&mut state, &mut nodes, &[[0.0; 4]; 4], &[1.0; 4], 2);
    assert!(nodes.iter().all(|n| place(*n).length() < 1e-6 && n[3] == 1.0), "{nodes:?}");
}

#[test]
fn stretch_and_volume_keep_momentum() {
    let random = &mut Random(4);
    let mesh = shaken_block(random, [10, 5, 5], DVec3::splat(-1.0), DVec3::new(3.0, 1.0, 1.0));
    for (stretch, volume) in [(0.8, 0.0), (0.0, 1.0), (0.5, 1.0)] {
        let (solver, mut state) = solver(&mesh, stretch, volume);
        let mut start = moved(&mesh, 0.0, |p| p + random_at(p) * 0.05);
        start.iter_mut().for_each(|n| n[3] = (0.3 + random.number().abs()) as f32);
        let mut nodes = start.clone();
        solver.solve(&mut state, &mut nodes, &[], &[], 8, 2);
        let (mut sum, mut turned, mut total) = (DVec3::ZERO, DVec3::ZERO, 0.0);
        for (a, b) in nodes.iter().zip(&start) {
            let by = (place(*a) - place(*b)) / f64::from(a[3]);
            sum += by;
            turned += place(*b).cross(by);
            total += by.length();
        }
        assert!(total > 1.0, "{total}");
        assert!(sum.length() < 2e-6 * total, "momentum {} of {total}", sum.length());
        // Forces along edges and heights have no moment, to first order of a step.
        assert!(turned.length() < 0.02 * total, "angular momentum {} of {total}", turned.length());
    }
}

#[test]
fn tets_turned_inside_out_come_back() {
    let mesh = one_tet();
    let (solver, mut state) = solver(&mesh, 0.0, 1.0);
    let mut nodes = moved(&mesh, 1.0, |p| DVec3::new(p.x, p.y, -p.z));
    assert_eq!(solver.check(&mut state, &nodes, 0.0).flat, 1);
    solver.sweep_volume(&mut state, &mut nodes, 30);
    assert!((volume(mesh.tets()[0], &nodes) * 6.0 - 1.0).abs() < 1e-5, "{nodes:?}");
    // In a body: inner nodes thrown across their neighbours.
    let mesh = bench_block([8, 6, 6], DVec3::ZERO, DVec3::new(8.0, 6.0, 6.0)).expect("sound");
    let (solver, mut state) = solver_common::solver(&mesh, per_iteration(0.6, 40), 1.0);
    let mut nodes =
        moved(&mesh, 1.0, |p| if p == DVec3::splat(3.0) { p + DVec3::new(1.4, 1.3, 0.2) } else { p });
    let before = solver.check(&mut state, &nodes, 0.0);
    solver.solve(&mut state, &mut nodes, &[], &[], 40, 10);
    let after = solver.check(&mut state, &nodes, 0.0);
    assert!(before.flat > 3 && after.flat == 0 && after.finite, "{before:?} {after:?}");
    let counted = mesh.tets().iter().filter(|&&tet| volume(tet, &nodes) <= 0.0).count();
    assert_eq!(counted, after.flat);
}

/// A block squeezed and twisted, of three masses.
fn twisted(mesh: &TetMesh, scale: f64) -> Vec<Node> {
    let mut nodes = moved(mesh, 1.0, |p| {
        let p = p / scale;
        DQuat::from_rotation_x(0.7 * p.x) * DVec3::new(p.x, p.y * 0.6, p.z * 1.1) * scale
    });
    nodes.iter_mut().enumerate().for_each(|(i, n)| n[3] = (i % 3) as f32);
    nodes
}

fn solved(mesh: &TetMesh, start: &[Node], scale: f64) -> Vec<Node> {
    let (solver, mut state) = solver(mesh, per_iteration(0.6, 10), 1.0);
    let binds: Vec<Node> = start.iter().map(|n| [n[0], 0.0, 0.0, 0.5 * scale as f32]).collect();
    let mut nodes = start.to_vec();
    solver.solve(&mut state, &mut nodes, &binds, &vec![0.1; start.len()], 10, 4);
    nodes
}

#[test]
fn a_mirrored_body_moves_as_its_mirror_image() {
    let random = &mut Random(5);
    let mesh = shaken_block(random, [9, 4, 4], DVec3::new(-2.0, -1.0, -1.0), DVec3::new(2.0, 1.0, 1.0));
    let flip = |p: DVec3| DVec3::new(p.x, p.y, -p.z);
    let flipped = mesh.positions().iter().map(|p| flip(p.as_dvec3()).as_vec3()).collect();
    let mirrored = TetMesh::new(flipped, mesh.tets().to_vec()).expect("sound");
    let start = twisted(&mesh, 1.0);
    let expected: Vec<Node> = solved(&mesh, &start, 1.0).iter().map(|n| [n[0], n[1], -n[2], n[3]]).collect();
    let start: Vec<Node> = start.iter().map(|n| [n[0], n[1], -n[2], n[3]]).collect();
    let found = solved(&mirrored, &start, 1.0);
    assert!(farthest(&start, &found) > 0.1, "it moved");
    assert!(farthest(&expected, &found) < 2e-5, "{}", farthest(&expected, &found));
}

#[test]
fn size_does_not_matter() {
    let random = &mut Random(6);
    let mesh = shaken_block(random, [9, 4, 4], DVec3::new(-2.0, -1.0, -1.0), DVec3::new(2.0, 1.0, 1.0));
    let expected = solved(&mesh, &twisted(&mesh, 1.0), 1.0);
    for scale in [1000.0, 0.001] {
        let scaled = mesh.positions().iter().map(|p| (p.as_dvec3() * scale).as_vec3()).collect();
        let scaled = TetMesh::new(scaled, mesh.tets().to_vec()).expect("sound");
        let found = solved(&scaled, &twisted(&scaled, scale), scale);
        let back: Vec<Node> = found.iter().map(|n| node(place(*n) / scale, n[3])).collect();
        assert!(farthest(&expected, &back) < 2e-5, "{scale}: {}", farthest(&expected, &back));
        // Nor does the unit of mass.
        let mut heavy = twisted(&mesh, 1.0);
        heavy.iter_mut().for_each(|n| n[3] *= scale as f32);
        let heavy = solved(&mesh, &heavy, 1.0);
        assert!(farthest(&expected, &heavy) < 2e-5, "{scale}: {}", farthest(&expected, &heavy));
    }
}

#[test]
fn iterations_are_no_stiffness() {
    let mesh = one_tet();
    for iterations in [1, 6, 24] {
        let k = per_iteration(0.6, iterations);
        let solver = Solver::new(&mesh, Path::best()).expect("available");
        let mut state = solver.state();
        solver.set_stretch(&mut state, |nodes| if nodes == [0, 1] { k } else { 0.0 });
        let mut nodes = moved(&mesh, 1.0, |p| p * 1.5);
        solver.solve(&mut state, &mut nodes, &[], &[], iterations, 0);
        let left = (distance(&nodes, 0, 1) - 1.0) / 0.5;
        assert!((left - 0.4).abs() < 1e-5, "{iterations}: {left}");
    }
    assert_eq!(per_iteration(1.0, 12), 1.0);
    assert_eq!(per_iteration(0.0, 12), 0.0);
    assert!((f64::from(per_iteration(1e-7, 4)) / 2.5e-8 - 1.0).abs() < 1e-6);
}

#[test]
fn pinned_nodes_stay_and_collapsed_bodies_stay_finite() {
    let mesh = bench_block([6, 3, 3], DVec3::ZERO, DVec3::new(6.0, 3.0, 3.0)).expect("sound");
    let (solver, mut state) = solver(&mesh, 1.0, 1.0);
    // Everything pinned.
    let start = moved(&mesh, 0.0, |p| p + random_at(p));
    let mut nodes = start.clone();
    let binds = vec![[0.0, 0.0, 0.0, 1.0]; nodes.len()];
    solver.solve(&mut state, &mut nodes, &binds, &vec![1.0; binds.len()], 5, 2);
    assert_eq!(nodes, start);
    // Half pinned; a point, a line, a plane.
    let shapes: [&dyn Fn(DVec3) -> DVec3; 4] =
        [&|_| DVec3::ONE, &|p| DVec3::X * p.x, &|p| DVec3::new(p.x, p.y, 0.0), &|p| {
            DVec3::new(p.x, 1e-5 * p.y, 1e-5 * p.z)
        }];
    for (case, shape) in shapes.into_iter().enumerate() {
        let mut nodes = moved(&mesh, 1.0, shape);
        nodes.iter_mut().step_by(2).for_each(|n| n[3] = 0.0);
        let start = nodes.clone();
        solver.solve(&mut state, &mut nodes, &binds, &vec![0.1; binds.len()], 20, 4);
        assert!(solver.check(&mut state, &nodes, 0.0).finite, "{case}");
        for (n, s) in nodes.iter().zip(&start) {
            assert!(n[3] != 0.0 || n == s, "{case}: a pinned node moved");
            assert!(place(*n).length() < 100.0, "{case}: thrown to {n:?}");
        }
    }
    let mut nodes = start;
    nodes[7][1] = f32::NAN;
    assert!(!solver.check(&mut state, &nodes, 0.0).finite);
    nodes[7][1] = f32::NEG_INFINITY;
    assert!(!solver.check(&mut state, &nodes, 0.0).finite);
}

#[test]
fn targets_are_what_a_body_aims_at() {
    let mesh = bench_block([4, 2, 2], DVec3::ZERO, DVec3::new(4.0, 2.0, 2.0)).expect("sound");
    let (solver, mut state) = solver(&mesh, 0.5, 1.0);
    solver.set_lengths(&mut state, |_, rest| 1.2 * rest);
    solver.set_volumes(&mut state, |_, rest| 1.2 * 1.2 * 1.2 * rest);
    let start = moved(&mesh, 1.0, |p| p);
    let mut nodes = start.clone();
    solver.solve(&mut state, &mut nodes, &[], &[], 300, 0);
    let total: f64 = mesh.tets().iter().map(|&tet| volume(tet, &nodes)).sum();
    assert!((total / 16.0 / 1.728 - 1.0).abs() < 1e-3, "{total}");
    assert!(solver.residual(&mut state, &nodes) < 1e-3);
    solver.reset_targets(&mut state);
    let residual = solver.residual(&mut state, &nodes);
    // Edges are 0.2 too long, tets 0.728 too large.
    let expected = (0.2 * solver.edges() as f64 + 0.728 * solver.tets() as f64)
        / (solver.edges() + solver.tets()) as f64;
    assert!((f64::from(residual) - expected).abs() < 2e-3, "{residual} {expected}");
    assert_eq!(solver.check(&mut state, &start, 1.5).flat, solver.tets());
    assert_eq!(solver.check(&mut state, &start, 0.9).flat, 0);
}

/// A joint scaled by a negative number turns flesh inside out, and its volume is to be negative.
#[test]
fn a_negative_target_is_aimed_at() {
    let mesh = one_tet();
    let (solver, mut state) = solver(&mesh, 0.0, 1.0);
    solver.set_volumes(&mut state, |_, rest| -rest);
    let mut nodes = moved(&mesh, 1.0, |p| p);
    assert_eq!(solver.check(&mut state, &nodes, 0.0).flat, 1, "the wrong way round");
    solver.sweep_volume(&mut state, &mut nodes, 40);
    assert!((volume(mesh.tets()[0], &nodes) * 6.0 + 1.0).abs() < 1e-5, "{nodes:?}");
    assert_eq!(solver.check(&mut state, &nodes, 0.9).flat, 0);
}
