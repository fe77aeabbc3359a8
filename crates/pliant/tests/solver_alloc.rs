//! A tick of the solver allocates nothing. Alone in its file: a neighbour's allocations would be counted too.

mod counting;

use counting::ALLOCATIONS;
use pliant::body::{bench_bend, bench_body};
use pliant::simd::Path;
use pliant::solver::Solver;
use std::sync::atomic::Ordering;

#[test]
fn ticks_allocate_nothing() {
    let (mesh, _) = bench_body(20_000, 8).expect("sound");
    let mut nodes = bench_bend(&mesh, 1.0);
    let binds = nodes.clone();
    let bind_stiffness = vec![0.1; nodes.len()];
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        if threads == 2 {
            // A worker's first theft of work allocates, once in its life: let it happen here.
            let both = std::sync::Barrier::new(2);
            pool.install(|| rayon::join(|| both.wait(), || both.wait()));
        }
        for path in Path::available() {
            let solver = Solver::new(&mesh, path).expect("available");
            for compliant in [false, true] {
                let mut state = solver.state();
                state.use_compliance(compliant);
                let allocations = pool.install(|| {
                    let before = ALLOCATIONS.load(Ordering::Relaxed);
                    for _ in 0..10 {
                        solver.set_stretch(&mut state, |_| 0.5);
                        solver.set_volume(&mut state, |_| 1.0);
                        solver.set_lengths(&mut state, |_, rest| 1.01 * rest);
                        solver.set_volumes(&mut state, |_, rest| 1.01 * rest);
                        solver.solve(&mut state, &mut nodes, &binds, &bind_stiffness, 3, 2);
                        solver.residual(&mut state, &nodes);
                        solver.check(&mut state, &nodes, 0.1);
                        solver.reset_targets(&mut state);
                    }
                    ALLOCATIONS.load(Ordering::Relaxed) - before
                });
                assert_eq!(allocations, 0, "{path}, {threads} threads");
            }
        }
    }
}
