//! Order and packing, and every register width against the plain code through emulated registers: also those that this
//! machine has not got.

use super::*;
use crate::body::{bench_bend, bench_block, bench_body};
use glam::{DVec3, Vec3};

dispatch::kernels_of!(four: crate::simd::Emulated<4>);
dispatch::kernels_of!(eight: crate::simd::Emulated<8>);
dispatch::kernels_of!(sixteen: crate::simd::Emulated<16>);

/// A hub in the middle of a ball of triangles: every tet has the hub.
fn star(rings: usize, around: usize) -> TetMesh {
    let mut positions = vec![Vec3::ZERO, Vec3::Z, Vec3::NEG_Z];
    for ring in 1..rings {
        let (sine, cosine) = libm::sincos(ring as f64 / rings as f64 * std::f64::consts::PI);
        for step in 0..around {
            let (y, x) = libm::sincos(step as f64 / around as f64 * std::f64::consts::TAU);
            positions.push(DVec3::new(sine * x, sine * y, cosine).as_vec3());
        }
    }
    let at = |ring: usize, step: usize| match ring {
        0 => 1,
        r if r == rings => 2,
        r => (3 + (r - 1) * around + step % around) as u32,
    };
    let mut tets = Vec::new();
    for ring in 0..rings {
        for step in 0..around {
            let (a, b) = (at(ring, step), at(ring, step + 1));
            let (c, d) = (at(ring + 1, step), at(ring + 1, step + 1));
            tets.extend(
                [[0, a, c, b], [0, b, c, d]].into_iter().filter(|[_, x, y, z]| x != y && y != z && z != x),
            );
        }
    }
    TetMesh::new(positions, tets).expect("sound")
}

pub(super) fn meshes() -> Vec<(&'static str, TetMesh)> {
    let block = |cells: [usize; 3]| {
        let high = DVec3::from_array(cells.map(|n| n as f64));
        bench_block(cells, DVec3::ZERO, high).expect("sound")
    };
    let mut single = block([1, 1, 1]);
    single = TetMesh::new(single.positions().to_vec(), single.tets()[..1].to_vec()).expect("sound");
    // Two blocks far apart, and one tet more.
    let (a, b) = (block([9, 4, 4]), block([3, 3, 8]));
    let mut positions = a.positions().to_vec();
    positions.extend(b.positions().iter().map(|p| *p + Vec3::X * 100.0));
    positions.extend([Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z].map(|p| p - Vec3::Y * 50.0));
    let count = a.positions().len() as u32;
    let mut tets = a.tets().to_vec();
    tets.extend(b.tets().iter().map(|tet| tet.map(|node| node + count)));
    let last = positions.len() as u32 - 4;
    tets.push([last, last + 1, last + 2, last + 3]);
    let pieces = TetMesh::new(positions, tets).expect("sound");
    // Nodes shuffled, so that the order of the file says nothing.
    let bar = block([60, 6, 6]);
    let nodes = bar.positions().len();
    let to = |node: usize| (node * 1009) % nodes;
    let mut shuffled = vec![Vec3::ZERO; nodes];
    bar.positions().iter().enumerate().for_each(|(node, p)| shuffled[to(node)] = *p);
    let tets = bar.tets().iter().map(|tet| tet.map(|node| to(node as usize) as u32)).collect();
    vec![
        ("one tet", single),
        ("pieces", pieces),
        ("long", block([1500, 1, 1])),
        ("star", star(12, 24)),
        ("cube", block([11, 11, 11])),
        ("shuffled", TetMesh::new(shuffled, tets).expect("sound")),
    ]
}

/// Every constraint once, on nodes of its slab and the next, and lanes that share no node from fetching a batch of
/// clusters to giving it back.
#[test]
fn batches_hold_every_constraint_once_and_no_node_twice() {
    fn check<const N: usize>(name: &str, solver: &Solver, pack: &Pack<N>, mut expected: Vec<[u32; N]>)
    where
        [u32; N]: Clustering<N>,
    {
        let mut found = Vec::new();
        for slab in 0..solver.slabs {
            let mut slots = Vec::new();
            pack.for_each(&solver.places, slab, |slot, nodes| {
                slots.push(slot);
                found.push(nodes);
            });
            assert!(slots.is_sorted_by(|a, b| a < b), "{name}: slots in order, each once");
            let rows = pack.slab(slab);
            assert!(slots.iter().all(|slot| (rows.start * BATCH..rows.end * BATCH).contains(slot)), "{name}");
            let last = solver.places.starts[(slab + 2).min(solver.slabs)] - solver.places.starts[slab];
            let filler = 4 * (solver.places.slab(slab).len() as u32 - 1);
            let mut offsets = pack.slab_offsets(slab);
            for (kind, count) in pack.batches[slab].into_iter().enumerate() {
                let nodes = [<[u32; N]>::NODES, N][kind];
                for batch in offsets[..nodes * count as usize].chunks(nodes) {
                    let mut on: Vec<u32> =
                        batch.iter().flat_map(|row| row.0).filter(|&at| at != filler).collect();
                    let all = on.len();
                    assert!(on.iter().all(|&at| at % 4 == 0 && at / 4 < last), "{name}: out of the window");
                    on.sort_unstable();
                    on.dedup();
                    assert_eq!(on.len(), all, "{name}: a node twice in a batch");
                }
                offsets = &offsets[nodes * count as usize..];
            }
        }
        expected.iter_mut().for_each(|nodes| nodes.sort_unstable());
        found.sort_unstable();
        expected.sort_unstable();
        assert!(found == expected, "{name}: not every constraint once");
    }
    for (name, mesh) in meshes() {
        let solver = Solver::with_kernels(&mesh, Path::Scalar, Some(eight::KERNELS));
        check(name, &solver, &solver.stretch, topology::edges(&mesh));
        check(name, &solver, &solver.volume, mesh.tets().to_vec());
    }
}

/// The plain code goes through the same constraints in the same order, wound the same way.
#[test]
fn the_plain_order_is_that_of_the_kernels() {
    for (name, mesh) in meshes() {
        let plain = Solver::with_kernels(&mesh, Path::Scalar, None);
        let packed = Solver::with_kernels(&mesh, Path::Scalar, Some(eight::KERNELS));
        for slab in 0..plain.slabs {
            let [mut a, mut b] = [Vec::new(), Vec::new()];
            plain.volume.for_each(&plain.places, slab, |slot, nodes| a.push((slot, nodes)));
            packed.volume.for_each(&packed.places, slab, |slot, nodes| b.push((slot, nodes)));
            assert!(a == b && !a.is_empty(), "{name}");
        }
        assert!(plain.volume.rest == packed.volume.rest && plain.stretch.rest == packed.stretch.rest);
    }
}

#[test]
fn bodies_are_cut_into_slabs_and_batches_are_full() {
    for (name, mesh) in meshes() {
        let solver = Solver::with_kernels(&mesh, Path::Scalar, Some(eight::KERNELS));
        let (tets, slots) = (solver.tets(), solver.volume.slots());
        match name {
            "long" | "cube" | "shuffled" => {
                assert!(solver.slabs >= 2, "{name}: {} slabs of {tets} tets", solver.slabs);
                assert!(tets as f64 > 0.9 * slots as f64, "{name}: {tets} of {slots}");
                let edges = solver.edges() as f64 / solver.stretch.slots() as f64;
                assert!(edges > 0.9, "{name}: {edges}");
                let fours = |batches: &[[u32; 2]]| batches.iter().map(|b| b[0] as usize).sum::<usize>() * 64;
                assert!(fours(&solver.volume.batches) as f64 > 0.85 * slots as f64, "{name}: strips");
                assert!(fours(&solver.stretch.batches) as f64 > 0.7 * solver.edges() as f64, "{name}: rings");
            }
            _ => {}
        }
    }
}

/// Neighbours of a shuffled bar are as near as they were before it was shuffled.
#[test]
fn renumbering_brings_neighbours_together() {
    let (_, mesh) = meshes().pop().expect("the shuffled bar");
    let new_of_old = renumbering(&mesh);
    let mut seen = new_of_old.clone();
    seen.sort_unstable();
    assert!(seen.iter().enumerate().all(|(i, &n)| i as u32 == n), "each number once");
    let widest =
        |at: &dyn Fn(u32) -> u32| topology::edges(&mesh).iter().map(|e| at(e[0]).abs_diff(at(e[1]))).max();
    assert!(widest(&|n| n) > Some(2000));
    // A cross-section has 49 nodes; an edge goes at most two levels on.
    assert!(
        widest(&|n| new_of_old[n as usize]) <= Some(2 * 49 + 49),
        "{:?}",
        widest(&|n| new_of_old[n as usize])
    );
}

fn run(
    mesh: &TetMesh,
    start: &[Node],
    kernels: Option<Kernels>,
    compliant: bool,
) -> (Vec<[u32; 4]>, u32, Check) {
    let solver = Solver::with_kernels(mesh, Path::Scalar, kernels);
    let mut state = solver.state();
    state.use_compliance(compliant);
    let uneven = |nodes: &[u32]| nodes.iter().sum::<u32>() % 7;
    let number = move |nodes: &[u32]| match (uneven(nodes), compliant) {
        (0, true) => f32::INFINITY,
        (1, _) => 0.0,
        (n, _) => n as f32 / 7.0,
    };
    solver.set_stretch(&mut state, |nodes| number(&nodes));
    solver.set_volume(&mut state, |nodes| number(&nodes));
    solver.set_volumes(&mut state, |nodes, rest| if nodes[0] % 5 == 0 { 1.5 * rest } else { rest });
    let binds: Vec<Node> =
        start.iter().enumerate().map(|(i, n)| [n[0], 0.0, n[2], (i % 3) as f32 * 0.2]).collect();
    let stiffness: Vec<f32> = (0..start.len() as u32).map(|node| number(&[node])).collect();
    let mut nodes = start.to_vec();
    solver.solve(&mut state, &mut nodes, &binds, &stiffness, 5, 2);
    let residual = solver.residual(&mut state, &nodes).to_bits();
    let check = solver.check(&mut state, &nodes, 0.9);
    (nodes.iter().map(|n| n.map(f32::to_bits)).collect(), residual, check)
}

#[test]
fn all_widths_have_the_bits_of_the_plain_code() {
    let mut bodies: Vec<(&str, TetMesh, Vec<Node>)> = Vec::new();
    for (name, mesh) in meshes() {
        let mut nodes = crate::body::rest_nodes(&mesh);
        for (i, node) in nodes.iter_mut().enumerate() {
            let shake = |k: usize| ((i * 37 + k * 101) % 64) as f32 / 128.0;
            *node = [node[0] + shake(0), node[1] - shake(1), node[2] + shake(2), (i % 4) as f32];
        }
        bodies.push((name, mesh, nodes));
    }
    let (mesh, _) = bench_body(3000, 8).expect("sound");
    bodies.push(("bent", mesh.clone(), bench_bend(&mesh, 2.0)));
    // All in one place, and in a line: no direction anywhere.
    bodies.push(("fallen", mesh.clone(), vec![[0.0, -0.0, 1.0, 1.0]; mesh.positions().len()]));
    let line = mesh.positions().iter().map(|p| [p.x, 0.0, 0.0, 1.0]).collect();
    bodies.push(("line", mesh, line));
    for (name, mesh, start) in bodies {
        for compliant in [false, true] {
            let expected = run(&mesh, &start, None, compliant);
            assert!(expected.2.finite, "{name}");
            for (width, kernels) in [(4, four::KERNELS), (8, eight::KERNELS), (16, sixteen::KERNELS)] {
                assert!(
                    run(&mesh, &start, Some(kernels), compliant) == expected,
                    "{name}, {width}, {compliant}"
                );
            }
        }
    }
}

#[test]
fn a_path_of_another_machine_is_refused_by_name() {
    let (mesh, _) = bench_body(30, 8).expect("sound");
    let missing = if cfg!(target_arch = "wasm32") { Path::Avx2 } else { Path::Simd128 };
    let error = Solver::new(&mesh, missing).expect_err("not here");
    assert!(error.to_string().contains(missing.name()));
}
