//! `pliant bench`: the real path beside the plain scalar reference, in one run, best of several.

use crate::Outcome;
use crate::args::{BenchArgs, Common};
use crate::report::StateHash;
use anyhow::{Context, Result, ensure};
use pliant::glam::Vec3;
use pliant::method::NAMES;
use pliant::rig::SkinMatrix;
use pliant::simd;
use pliant::skin::{Blend, Skinner, bench_pose, bench_rig};
use serde::Serialize;
use std::io::Write;
use std::time::{Duration, Instant};

/// The rig that published figures are measured on: a character's usual bones and influences.
const BONES: usize = 30;
const INFLUENCES: usize = 4;

/// How long each row is measured; the best run counts.
const BUDGET: Duration = Duration::from_millis(400);

#[derive(Serialize)]
struct Row {
    method: &'static str,
    /// `positions`, or `positions+normals`.
    output: &'static str,
    vertices: usize,
    tets: Option<usize>,
    iterations: Option<usize>,
    threads: u16,
    path: &'static str,
    ms: f64,
    /// The scalar reference, on one thread.
    scalar_ms: f64,
    ratio: f64,
    residual: Option<f64>,
    state_hash: String,
}

pub(crate) fn run(args: &BenchArgs, common: &Common) -> Result<Outcome> {
    let threads = if common.threads.is_empty() { &[1, 2][..] } else { &common.threads };
    let path = common.simd.unwrap_or_else(simd::Path::best);
    let mut rows = Vec::new();
    let mut out = std::io::stdout().lock();
    if !args.json {
        writeln!(
            out,
            "{:6} {:18} {:>8} {:>7} {:7} {:>9} {:>9} {:>6}  state_hash",
            "method", "output", "vertices", "threads", "path", "ms", "scalar_ms", "ratio"
        )?;
    }
    for &vertices in &args.sizes {
        let character = bench_rig(vertices, BONES, INFLUENCES)?;
        let mut matrices = Vec::new();
        bench_pose(&character).skin_matrices(&character, &mut matrices);
        for method in NAMES.into_iter().filter(|name| args.method.as_ref().is_none_or(|m| m == name)) {
            let blend = match method {
                "lbs" => Blend::Linear,
                "dqs" => Blend::DualQuaternion,
                other => anyhow::bail!("there is no benchmark of '{other}'"),
            };
            for normals in [false, true] {
                let skinner = |path| Skinner::new(blend, character.surface(), character.weights(), path);
                let (scalar, hash) =
                    pool(1)?.install(|| best(&skinner(simd::Path::Scalar)?, &matrices, normals))?;
                for &threads in threads {
                    let (best, state_hash) =
                        pool(threads)?.install(|| best(&skinner(path)?, &matrices, normals))?;
                    ensure!(
                        state_hash == hash,
                        "{method} on {path} differs from the scalar reference: a bug; please report it"
                    );
                    let (ms, scalar_ms) = (best.as_secs_f64() * 1e3, scalar.as_secs_f64() * 1e3);
                    let row = Row {
                        method,
                        output: if normals { "positions+normals" } else { "positions" },
                        vertices,
                        tets: None,
                        iterations: None,
                        threads,
                        path: path.name(),
                        ms,
                        scalar_ms,
                        ratio: scalar_ms / ms,
                        residual: None,
                        state_hash,
                    };
                    if !args.json {
                        writeln!(
                            out,
                            "{:6} {:18} {:8} {:7} {:7} {:9.4} {:9.4} {:6.2}  {}",
                            row.method,
                            row.output,
                            row.vertices,
                            row.threads,
                            row.path,
                            row.ms,
                            row.scalar_ms,
                            row.ratio,
                            row.state_hash
                        )?;
                    }
                    rows.push(row);
                }
            }
        }
    }
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
    }
    Ok(Outcome::Done)
}

fn pool(threads: u16) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build().context("cannot start threads")
}

/// Best time of a step, and the hash of its positions.
fn best(skinner: &Skinner<'_>, matrices: &[SkinMatrix], with_normals: bool) -> Result<(Duration, String)> {
    let mut state = skinner.state();
    let mut positions = vec![Vec3::ZERO; skinner.vertex_count()];
    let mut normals = positions.clone();
    let (mut best, start) = (Duration::MAX, Instant::now());
    while best == Duration::MAX || start.elapsed() < BUDGET {
        let before = Instant::now();
        if with_normals {
            skinner.positions_and_normals(matrices, &mut state, &mut positions, &mut normals);
        } else {
            skinner.positions(matrices, &mut state, &mut positions);
        }
        best = best.min(before.elapsed());
    }
    let mut hasher = StateHash::default();
    hasher.frame(&positions);
    Ok((best, hasher.hex()))
}
