//! Order and packing, and every register width against the plain code through emulated registers: also those that this
//! machine has not got.

use super::super::tests::meshes;
use super::*;
use crate::body::{bench_bend, bench_body, rest_nodes};

dispatch::kernels_of!(four: crate::simd::Emulated<4>);
dispatch::kernels_of!(eight: crate::simd::Emulated<8>);
dispatch::kernels_of!(sixteen: crate::simd::Emulated<16>);
dispatch::kernels_of!(twin: crate::simd::Twin<crate::simd::Emulated<8>>);

const TWO: Kernels = Kernels { sweep_two: Some(two), ..sixteen::KERNELS };

unsafe fn two(tasks: [&mut kernel::Task<'_>; 2], kind: Kind, nodes: [&mut [Node]; 2]) {
    // SAFETY: the caller's promise, passed on.
    unsafe { kernel::sweep_two::<crate::simd::Emulated<16>>(tasks, kind, nodes) }
}

/// Every seventh node.
fn some_pins(mesh: &TetMesh) -> Vec<bool> {
    (0..mesh.positions().len()).map(|node| node % 7 == 3).collect()
}

/// Every free tet once, on nodes of its slab and the next, lanes that share no node, and the tets of a node layer by
/// layer within a slab but for one layer ahead.
#[test]
fn batches_hold_every_tet_once_and_no_node_twice() {
    for (name, mesh) in meshes() {
        for pins in [some_pins(&mesh), vec![false; mesh.positions().len()]] {
            let order = Order::Layered;
            let kernels = Some(eight::KERNELS);
            let solver = StrainSolver::with_kernels(&mesh, &pins, None, order, Path::Scalar, kernels);
            let solver = solver.expect("sound");
            let layers = layers(&mesh, &pins);
            for slab in 0..solver.slabs {
                let end = solver.places.starts[(slab + 2).min(solver.slabs)] - solver.places.starts[slab];
                let filler = 4 * (solver.places.slab(slab).len() as u32 - 1);
                let mut reached = vec![0; mesh.positions().len()];
                for batch in solver.pack.slab(slab) {
                    let offsets = &solver.pack.offsets[4 * batch..4 * batch + 4];
                    let on = offsets.iter().flat_map(|row| row.0).filter(|&at| at != filler);
                    let mut on: Vec<u32> = on.collect();
                    let all = on.len();
                    assert!(on.iter().all(|&at| at % 4 == 0 && at / 4 < end), "{name}: out of the window");
                    on.sort_unstable();
                    on.dedup();
                    assert_eq!(on.len(), all, "{name}: a node twice in a batch");
                    for &tet in &solver.pack.tet_at[batch * BATCH..(batch + 1) * BATCH] {
                        let Some(nodes) = mesh.tets().get(tet as usize) else { continue };
                        for &node in nodes {
                            let layer = layers[tet as usize];
                            let most = &mut reached[node as usize];
                            assert!(*most <= layer + 1, "{name}: two layers before its time");
                            *most = layer.max(*most);
                        }
                    }
                }
            }
            let mut found = solver.sequence();
            found.sort_unstable();
            let free = (0..mesh.tets().len() as u32).filter(|&tet| layers[tet as usize] > 0);
            assert!(found == free.collect::<Vec<_>>(), "{name}: not every tet once");
        }
    }
}

#[test]
fn batches_are_full() {
    let fill = |mesh: &TetMesh, pins: &[bool]| {
        let kernels = Some(eight::KERNELS);
        let solver = StrainSolver::with_kernels(mesh, pins, None, Order::Layered, Path::Scalar, kernels);
        let solver = solver.expect("sound");
        assert!(solver.slabs >= 2, "{} slabs", solver.slabs);
        solver.free_tets() as f64 / solver.pack.tet_at.len() as f64
    };
    for (name, mesh) in meshes() {
        if ["long", "cube", "shuffled"].contains(&name) {
            let full = fill(&mesh, &vec![false; mesh.positions().len()]);
            assert!(full > 0.95, "{name}: {full}");
        }
    }
    // Layers around a bone: slabs of small bodies are half as large, and fill less.
    for (tets, least) in [(14_000, 0.9), (24_000, 0.93)] {
        let (mesh, _) = bench_body(tets, 8).expect("sound");
        let pins: Vec<bool> = mesh.positions().iter().map(|p| p.y.abs() < 0.1 && p.z.abs() < 0.1).collect();
        let full = fill(&mesh, &pins);
        assert!(full > least, "{tets} tets: {full}");
    }
}

type Outcome = (Vec<[u32; 4]>, u32, Check);

fn run(mesh: &TetMesh, start: &[Node], kernels: Option<Kernels>, compliant: bool, scaled: bool) -> Outcome {
    let pins = some_pins(mesh);
    let frames: Vec<Quat> =
        (0..mesh.tets().len()).map(|tet| Quat::from_rotation_y(tet as f32).normalize()).collect();
    let order = Order::Layered;
    let solver = StrainSolver::with_kernels(mesh, &pins, Some(&frames), order, Path::Scalar, kernels);
    let solver = solver.expect("sound");
    let mut state = solver.state();
    state.use_compliance(compliant);
    let number = |n: usize| match (n % 7, compliant) {
        (0, true) => f32::INFINITY,
        (1, _) => 0.0,
        (n, _) => n as f32 / 7.0,
    };
    solver.set_stiffness(&mut state, |tet| match tet % 5 {
        0..4 => [0.2; 7],
        _ => std::array::from_fn(|k| number(tet + k)),
    });
    if scaled {
        solver.set_scale(&mut state, |tet| 1.0 + (tet % 3) as f32 * 0.1);
    }
    let mut nodes = start.to_vec();
    let effort = Effort { iterations: 4, consolidating: 2, mass_gain: 7.0, volume_sweeps: 2 };
    solver.solve(&mut state, &mut nodes, effort);
    let residual = solver.residual(&mut state, &nodes).to_bits();
    let check = solver.check(&mut state, &nodes, 0.9);
    (nodes.iter().map(|n| n.map(f32::to_bits)).collect(), residual, check)
}

#[test]
fn all_widths_have_the_bits_of_the_plain_code() {
    let mut bodies: Vec<(&str, TetMesh, Vec<Node>)> = Vec::new();
    for (name, mesh) in meshes() {
        let mut nodes = rest_nodes(&mesh);
        for (i, node) in nodes.iter_mut().enumerate() {
            let shake = |k: usize| ((i * 37 + k * 101) % 64) as f32 / 128.0;
            *node = [node[0] + shake(0), node[1] - shake(1), node[2] + shake(2), (i % 4) as f32];
        }
        bodies.push((name, mesh, nodes));
    }
    let (mesh, _) = bench_body(3000, 8).expect("sound");
    bodies.push(("bent", mesh.clone(), bench_bend(&mesh, 2.0)));
    // All in one place, and in a line: no direction anywhere. And nothing that could move.
    bodies.push(("fallen", mesh.clone(), vec![[0.0, -0.0, 1.0, 1.0]; mesh.positions().len()]));
    let line = |w: f32| mesh.positions().iter().map(|p| [p.x, 0.0, 0.0, w]).collect();
    bodies.push(("line", mesh.clone(), line(1.0)));
    bodies.push(("held", mesh.clone(), line(0.0)));
    for (name, mesh, start) in bodies {
        for (compliant, scaled) in [(false, false), (true, false), (false, true)] {
            let expected = run(&mesh, &start, None, compliant, scaled);
            assert!(expected.2.finite, "{name}");
            let widths = [("4", four::KERNELS), ("8", eight::KERNELS), ("16", sixteen::KERNELS)];
            for (width, kernels) in widths.into_iter().chain([("8 and 8", twin::KERNELS), ("two slabs", TWO)])
            {
                let found = run(&mesh, &start, Some(kernels), compliant, scaled);
                assert!(found == expected, "{name}, {width}, {compliant}, {scaled}");
            }
        }
    }
}
