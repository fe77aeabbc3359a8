//! Fibres show: a block that is stiffer along one axis stretches less along it, by the ratio of the moduli.

use pliant::body::{Node, bench_block, rest_nodes};
use pliant::glam::{DVec3, Quat, Vec3};
use pliant::simd::Path;
use pliant::solver::{Effort, Order, StrainSolver};

const CELLS: usize = 3;

/// How far a unit cube stretches along an axis of its frames when it is pulled along it, at rest.
fn stretched(moduli: [f64; 3], volume: f64, axis: usize, turn: Quat) -> f64 {
    let mesh = bench_block([CELLS; 3], DVec3::ZERO, DVec3::ONE).expect("a block");
    let frames = vec![turn; mesh.tets().len()];
    // The cube's own axes are the frames': stiff along one of them. Shear is off: nothing shears.
    let pinned = vec![false; mesh.positions().len()];
    let solver =
        StrainSolver::new(&mesh, &pinned, Some(&frames), Order::Unordered, Path::best()).expect("available");
    let mut state = solver.state();
    state.use_compliance(true);
    solver.set_stiffness(&mut state, |tet| {
        let v = mesh.volume_of(tet);
        let of = |modulus: f64| if modulus > 0.0 { (1.0 / (modulus * v)) as f32 } else { f32::INFINITY };
        let shear = of(moduli.iter().sum::<f64>() / 3.0);
        [of(moduli[0]), of(moduli[1]), of(moduli[2]), shear, shear, shear, of(volume)]
    });
    let direction = turn.mul_vec3(Vec3::AXES[axis]);
    let side = |p: Vec3| (p - 0.5).dot(direction);
    let mut nodes: Vec<Node> = rest_nodes(&mesh);
    nodes.iter_mut().for_each(|n| n[3] = 1.0);
    // Pulled apart at both ends by forces that are even over them: a corner has a quarter of a node's share.
    let load = 0.02;
    let share = |p: Vec3| -> f64 {
        let across = (0..3).filter(|&k| Vec3::AXES[k].dot(direction).abs() < 0.5);
        across.map(|k| if p[k] < 1e-3 || p[k] > 0.999 { 0.5 } else { 1.0 }).product::<f64>()
            / (CELLS * CELLS) as f64
    };
    let pull: Vec<Vec3> = mesh
        .positions()
        .iter()
        .map(|&p| {
            let end = if side(p) > 0.499 {
                1.0
            } else if side(p) < -0.499 {
                -1.0
            } else {
                0.0
            };
            direction * (load * end * share(p)) as f32
        })
        .collect();
    // Overdamped ticks of one second until nothing moves.
    for _ in 0..400 {
        nodes.iter_mut().zip(&pull).for_each(|(n, f)| (0..3).for_each(|k| n[k] += f[k]));
        let effort = Effort { iterations: 30, consolidating: 0, mass_gain: 1.0, volume_sweeps: 0 };
        solver.solve(&mut state, &mut nodes, effort);
    }
    let extent = |nodes: &[Node]| {
        let ends = nodes.iter().zip(mesh.positions()).filter(|(_, p)| side(**p) > 0.499);
        let sums = ends.map(|(n, p)| (Vec3::new(n[0], n[1], n[2]).dot(direction), p.dot(direction)));
        let (now, then, count) = sums.fold((0.0, 0.0, 0.0), |s, (a, b)| (s.0 + a, s.1 + b, s.2 + 1.0));
        f64::from((now - then) / count)
    };
    // Half of it: the middle stays.
    2.0 * extent(&nodes)
}

#[test]
fn stiff_along_the_fibre_by_the_ratio_of_the_moduli() {
    let moduli = [4.0, 1.0, 1.0];
    for turn in [Quat::IDENTITY, Quat::from_rotation_y(std::f32::consts::FRAC_PI_2)] {
        let (along, across) = (stretched(moduli, 0.0, 0, turn), stretched(moduli, 0.0, 1, turn));
        let ratio = across / along;
        assert!((ratio / 4.0 - 1.0).abs() < 0.05, "without volume: {across} over {along} is {ratio}");
        // With volume kept, stretching one axis by e draws the others in: k_i + k_j k_l / (k_j + k_l).
        let stiff =
            |i: usize, j: usize, l: usize| moduli[i] + moduli[j] * moduli[l] / (moduli[j] + moduli[l]);
        let (along, across) = (stretched(moduli, 300.0, 0, turn), stretched(moduli, 300.0, 1, turn));
        let (ratio, expected) = (across / along, stiff(0, 1, 2) / stiff(1, 0, 2));
        assert!((ratio / expected - 1.0).abs() < 0.05, "with volume: {ratio}, not {expected}");
    }
}
