//! Moving a skin with its tets allocates nothing. Alone in its file: a neighbour's allocations would be counted too.

mod counting;

use counting::ALLOCATIONS;
use pliant::body::{EmbeddedSkin, Embedding, bench_bend, bench_body, topology};
use pliant::glam::Vec3;
use pliant::simd::Path;
use std::sync::atomic::Ordering;

#[test]
fn updates_allocate_nothing() {
    let (mesh, surface) = bench_body(6000, 5000).expect("sound");
    let embedding = Embedding::new(&mesh, &topology::surface(&mesh), surface.positions());
    let nodes = bench_bend(&mesh, 1.0);
    let (mut positions, mut normals) = (vec![Vec3::ZERO; 5000], vec![Vec3::ZERO; 5000]);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        if threads == 2 {
            // A worker's first theft of work allocates, once in its life: let it happen here.
            let both = std::sync::Barrier::new(2);
            pool.install(|| rayon::join(|| both.wait(), || both.wait()));
        }
        for path in Path::available() {
            let skin = EmbeddedSkin::new(&mesh, &embedding, surface.normals(), path).expect("available");
            let mut scratch = skin.scratch();
            let allocations = pool.install(|| {
                let before = ALLOCATIONS.load(Ordering::Relaxed);
                for _ in 0..100 {
                    skin.positions(&nodes, &mut positions);
                    skin.positions_and_normals(&nodes, &mut scratch, &mut positions, &mut normals);
                }
                ALLOCATIONS.load(Ordering::Relaxed) - before
            });
            assert_eq!(allocations, 0, "{path}, {threads} threads");
        }
    }
}
