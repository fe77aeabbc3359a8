//! Times both skinnings against the plain reference: `cargo run --release --example skin_bench [vertices...]`.
//! Best of many runs; the hash shows that every path and thread count gives the same bits.

use pliant::glam::Vec3;
use pliant::rig::SkinMatrix;
use pliant::simd::Path;
use pliant::skin::{Blend, Skinner, bench_pose, bench_rig};
use std::time::{Duration, Instant};

const BONES: usize = 30;
const INFLUENCES: usize = 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sizes: Vec<usize> = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() { vec![8_600, 24_500, 34_600, 200_000] } else { sizes };
    println!("method  output      vertices  threads  path      us       scalar us  ratio  hash");
    for vertices in sizes {
        let character = bench_rig(vertices, BONES, INFLUENCES)?;
        let mut matrices = Vec::new();
        bench_pose(&character).skin_matrices(&character, &mut matrices);
        for (name, blend) in [("lbs", Blend::Linear), ("dqs", Blend::DualQuaternion)] {
            for normals in [false, true] {
                let output = if normals { "with normals" } else { "positions" };
                let mut scalar = f64::NAN;
                for threads in [1, 2] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
                    for path in Path::available() {
                        let skinner = Skinner::new(blend, character.surface(), character.weights(), path)?;
                        let (us, hash) = pool.install(|| best(&skinner, &matrices, normals));
                        if path == Path::Scalar && threads == 1 {
                            scalar = us;
                        }
                        let ratio = scalar / us;
                        println!(
                            "{name:6}  {output:12}  {vertices:7}  {threads:7}  {path:8}  {us:7.1}  {scalar:9.1}  {ratio:5.2}  {hash:016x}"
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

/// Best time of a step in microseconds, and a hash of its result.
fn best(skinner: &Skinner<'_>, matrices: &[SkinMatrix], with_normals: bool) -> (f64, u64) {
    let mut state = skinner.state();
    let mut positions = vec![Vec3::ZERO; skinner.vertex_count()];
    let mut normals = positions.clone();
    let (mut best, start) = (Duration::MAX, Instant::now());
    while start.elapsed() < Duration::from_millis(300) {
        let before = Instant::now();
        if with_normals {
            skinner.positions_and_normals(matrices, &mut state, &mut positions, &mut normals);
        } else {
            skinner.positions(matrices, &mut state, &mut positions);
        }
        best = best.min(before.elapsed());
    }
    let numbers = positions.iter().chain(&normals).flat_map(|v| v.to_array());
    // FNV-1a.
    let hash = numbers.fold(0xcbf2_9ce4_8422_2325, |h: u64, x| {
        (h ^ u64::from(x.to_bits())).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (best.as_secs_f64() * 1e6, hash)
}
