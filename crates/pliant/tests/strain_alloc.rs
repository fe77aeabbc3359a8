//! A solve of strain allocates nothing. Alone in its file: a neighbour's allocations would be counted too.

mod counting;

use counting::ALLOCATIONS;
use pliant::body::{bench_bend, bench_body};
use pliant::simd::Path;
use pliant::solver::{Effort, Order, StrainSolver};
use std::sync::atomic::Ordering;

#[test]
fn solves_allocate_nothing() {
    let (mesh, _) = bench_body(20_000, 8).expect("sound");
    let mut nodes = bench_bend(&mesh, 1.0);
    let pinned: Vec<bool> = mesh.positions().iter().map(|p| p.y.abs() < 0.1 && p.z.abs() < 0.1).collect();
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        if threads == 2 {
            // A worker's first theft of work allocates, once in its life: let it happen here.
            let both = std::sync::Barrier::new(2);
            pool.install(|| rayon::join(|| both.wait(), || both.wait()));
        }
        for path in Path::available() {
            let solver = StrainSolver::new(&mesh, &pinned, None, Order::Layered, path).expect("available");
            for compliant in [false, true] {
                let mut state = solver.state();
                state.use_compliance(compliant);
                solver.set_scale(&mut state, |_| 1.0);
                let allocations = pool.install(|| {
                    let before = ALLOCATIONS.load(Ordering::Relaxed);
                    for tick in 0..5 {
                        solver
                            .set_stiffness(&mut state, |tet| [0.1; 7].map(|k| k * (tet % (1 + tick)) as f32));
                        solver.set_scale(&mut state, |tet| if tet % 2 == 0 { 1.0 } else { 1.01 });
                        let effort =
                            Effort { iterations: 3, consolidating: 1, mass_gain: 10.0, volume_sweeps: 2 };
                        solver.solve(&mut state, &mut nodes, effort);
                        solver.residual(&mut state, &nodes);
                        solver.check(&mut state, &nodes, 0.1);
                    }
                    ALLOCATIONS.load(Ordering::Relaxed) - before
                });
                assert_eq!(allocations, 0, "{path}, {threads} threads");
            }
        }
    }
}
