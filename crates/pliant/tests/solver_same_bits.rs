//! Every path and any number of threads: the same bits.

mod solver_common;

use pliant::body::{Node, bench_bend, bench_body, rest_nodes};
use pliant::glam::DVec3;
use pliant::simd::Path;
use pliant::solver::Solver;
use solver_common::*;

#[test]
fn paths_and_threads_agree() {
    let random = &mut Random(7);
    let mut bodies = vec![
        {
            let (mesh, _) = bench_body(20_000, 8).expect("sound");
            let nodes = bench_bend(&mesh, 2.0);
            (mesh, nodes)
        },
        {
            let mesh = one_tet();
            let nodes = moved(&mesh, 1.0, |p| p * 0.3);
            (mesh, nodes)
        },
    ];
    let wild = shaken_block(random, [30, 6, 5], DVec3::new(100.0, 40.0, 7.0), DVec3::new(104.0, 40.9, 7.5));
    for mesh in [Some(wild), armadillo()].into_iter().flatten() {
        let size = diagonal(&mesh);
        let mut nodes = rest_nodes(&mesh);
        for node in &mut nodes {
            let by = (random.vector() * size * 0.05).as_vec3();
            *node = [node[0] + by.x, node[1] + by.y, node[2] + by.z, random.below(3) as f32];
        }
        bodies.push((mesh, nodes));
    }
    for (mesh, start) in bodies {
        let binds: Vec<Node> = start.iter().map(|n| [n[0], n[1], 0.0, 0.1]).collect();
        let bind_stiffness: Vec<f32> = (0..start.len()).map(|i| (i % 3) as f32 * 0.1).collect();
        for compliant in [false, true] {
            let run = |path: Path| {
                let solver = Solver::new(&mesh, path).expect("available");
                let mut state = solver.state();
                state.use_compliance(compliant);
                solver.set_stretch(&mut state, |[a, b]| ((a ^ b) % 8) as f32 / 20.0);
                solver.set_volume(&mut state, |[a, b, _, _]| 1.0 / (1 + (a + b) % 3) as f32);
                let mut nodes = start.clone();
                solver.solve(&mut state, &mut nodes, &binds, &bind_stiffness, 6, 3);
                let residual = solver.residual(&mut state, &nodes).to_bits();
                let check = solver.check(&mut state, &nodes, 0.5);
                let bits: Vec<[u32; 4]> = nodes.iter().map(|n| n.map(f32::to_bits)).collect();
                (bits, residual, check)
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
    for size in [5000, 90_000] {
        let (mesh, _) = bench_body(size, 8).expect("sound");
        for path in Path::available() {
            let solver = Solver::new(&mesh, path).expect("available");
            let mut state = solver.state();
            state.use_compliance(true);
            let each = (solver.bytes() + state.bytes()) / solver.tets();
            assert!(each <= 120, "{path}: {each} bytes a tet");
        }
    }
}
