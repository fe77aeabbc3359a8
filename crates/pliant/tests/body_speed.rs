//! How long it takes: `cargo test --release -p pliant --test body_speed -- --ignored --nocapture`. Asserts nothing.

use pliant::body::{EmbeddedSkin, Embedding, bench_bend, bench_body, topology};
use pliant::glam::Vec3;
use pliant::simd::Path;
use std::hint::black_box;
use std::time::Instant;

fn best_ms(runs: usize, mut work: impl FnMut()) -> f64 {
    let mut time = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..runs).map(|_| time()).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "a measurement"]
fn embedding_and_update() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| {
        for (tets, vertices) in [(8000, 10_000), (8000, 50_000), (50_000, 50_000), (50_000, 200_000)] {
            let (mesh, skin) = bench_body(tets, vertices).expect("sound");
            let surface = topology::surface(&mesh);
            let embed = best_ms(3, || {
                black_box(Embedding::new(&mesh, &surface, skin.positions()));
            });
            let embedding = Embedding::new(&mesh, &surface, skin.positions());
            println!("{} tets, {vertices} vertices: embedded in {embed:.1} ms", mesh.tets().len());
            let nodes = bench_bend(&mesh, 1.5);
            let (mut positions, mut normals) = (vec![Vec3::ZERO; vertices], vec![Vec3::ZERO; vertices]);
            for path in Path::available() {
                let prepare = best_ms(1, || {
                    black_box(EmbeddedSkin::new(&mesh, &embedding, skin.normals(), path).expect("here"));
                });
                let embedded = EmbeddedSkin::new(&mesh, &embedding, skin.normals(), path).expect("here");
                let mut scratch = embedded.scratch();
                let alone = best_ms(200, || embedded.positions(&nodes, &mut positions));
                let both = best_ms(200, || {
                    embedded.positions_and_normals(&nodes, &mut scratch, &mut positions, &mut normals);
                });
                let each = |ms: f64| ms * 1e6 / vertices as f64;
                println!(
                    "  {path:8} prepared in {prepare:.1} ms; positions {:.2} ns, with normals {:.2} ns a vertex",
                    each(alone),
                    each(both)
                );
            }
        }
    });
}

#[test]
#[ignore = "a measurement"]
fn topology_of_a_million_tets() {
    let (mesh, _) = bench_body(1_000_000, 64).expect("sound");
    let report = |what: &str, ms: f64| println!("{} tets, {what}: {ms:.0} ms", mesh.tets().len());
    report("node tets", best_ms(3, || drop(black_box(topology::tets_of_nodes(&mesh)))));
    report("neighbours", best_ms(3, || drop(black_box(topology::neighbours(&mesh)))));
    report("edges", best_ms(3, || drop(black_box(topology::edges(&mesh)))));
    report("adjacency", best_ms(3, || drop(black_box(topology::Adjacency::new(&mesh)))));
    report("pieces", best_ms(3, || drop(black_box(topology::pieces(&mesh)))));
    report("layers", best_ms(3, || drop(black_box(topology::layers(&mesh, [0])))));
}
