//! `pliant bench`: the real path beside the plain scalar reference, in one run, best of several.

mod balls_table;
mod curves;
mod frames;
mod solve;
mod strain;
mod strain_table;
mod table;

use crate::Outcome;
use crate::args::{BenchArgs, Common};
use anyhow::{Context, Result, bail, ensure};
use pliant::body::topology::Adjacency;
use pliant::body::{Body, EmbeddedSkin, Embedding, Fineness, bench_bend, bench_body};
use pliant::glam::Vec3;
use pliant::simd::Path;
use pliant::skin::smooth::{JointControl, SmoothOptions, SmoothSkin};
use pliant::skin::{Blend, Skinner, bench_pose, bench_rig};
use pliant::zoo;
use pliant_kit::hash::StateHash;
use serde::Serialize;
use std::io::Write;
use std::time::{Duration, Instant};

/// The skin from its tets, and the tets from a skin: what is measured besides the methods.
pub(crate) const EMBED: &str = "embed";
pub(crate) const TETS: &str = "tets";

/// Smooth skinning.
const SMOOTH: &str = "smooth";

/// The solver of strain.
pub(crate) const STRAIN: &str = "strain";

/// The rig that published figures are measured on: a character's usual bones and influences.
const BONES: usize = 30;
const INFLUENCES: usize = 4;

/// The body under a skin that is embedded, in tets: the usual one.
const BODY: usize = 8000;

/// Skins, in vertices, and bodies, in tets.
const SKINS: [usize; 4] = [8620, 24461, 34594, 200_000];
const BODIES: [usize; 2] = [7000, 90_000];

/// What is filled with tets: a whole body, thin parts side by side, and many long ones.
const CHARACTERS: [&str; 3] = ["human", "hand", "octopus"];

/// How long each row of a frame's work is measured; the best run counts.
const BUDGET: Duration = Duration::from_millis(400);

/// How often a body is made; the best counts.
const TIMES: usize = 3;

#[derive(Serialize)]
struct Row {
    method: &'static str,
    /// `positions`, or `positions+normals`; of `tets`, the sample that is filled; of `position`, the body; of
    /// `strain`, the body, or `frames` where each tet has its own.
    output: &'static str,
    /// Of the skin; of `position` and `strain`, the body's nodes.
    vertices: usize,
    tets: Option<usize>,
    iterations: Option<u32>,
    threads: u16,
    path: &'static str,
    ms: f64,
    /// Of work on the vertices of a skin.
    ns_per_vertex: Option<f64>,
    /// The scalar reference, on one thread.
    scalar_ms: f64,
    ratio: f64,
    residual: Option<f64>,
    /// Of `strain`: one constraint after another with its own gradients, as published, on one thread.
    textbook_ms: Option<f64>,
    textbook_ratio: Option<f64>,
    /// Of `position`: as many sweeps of each kind of constraint alone.
    stretch_ms: Option<f64>,
    bind_ms: Option<f64>,
    volume_ms: Option<f64>,
    /// Of the positions; of `tets`, of the nodes' positions and the tets' corners.
    state_hash: String,
}

/// What rows of one piece of work have in common.
struct Work {
    method: &'static str,
    output: &'static str,
    vertices: usize,
    tets: Option<usize>,
    iterations: Option<u32>,
}

/// A best time, and what came out.
#[derive(Clone)]
struct Timed {
    best: Duration,
    state_hash: String,
    residual: Option<f64>,
    parts: Option<Parts>,
    /// Of the reference alone.
    textbook: Option<Duration>,
}

/// Best times of each kind of constraint alone.
#[derive(Clone, Copy)]
struct Parts {
    stretch: Duration,
    bind: Duration,
    volume: Duration,
}

impl Timed {
    fn new(best: Duration, state_hash: String) -> Self {
        Self { best, state_hash, residual: None, parts: None, textbook: None }
    }
}

struct Bench<'a> {
    args: &'a BenchArgs,
    threads: Vec<u16>,
    path: Path,
    rows: Vec<Row>,
}

pub(crate) fn run(args: &BenchArgs, common: &Common) -> Result<Outcome> {
    let all = std::thread::available_parallelism().map_or(1, |n| n.get().min(1024) as u16);
    let mut threads = if common.threads.is_empty() { vec![1, all] } else { common.threads.clone() };
    threads.dedup();
    let path = common.simd.unwrap_or_else(Path::best);
    if args.curves {
        curves::run(path, args.json)?;
        return Ok(Outcome::Done);
    }
    if args.table {
        match args.method.as_deref() {
            Some(STRAIN) => strain_table::run(&threads, path, args.json)?,
            Some(frames::METABALLS) => balls_table::run(&threads, path, args.json)?,
            None | Some("position") => table::run(&threads, path, args.json)?,
            Some(_) => bail!("--table: only position, strain and metaballs have one"),
        }
        return Ok(Outcome::Done);
    }
    let mut bench = Bench { args, threads, path, rows: Vec::new() };
    if !args.json {
        writeln!(
            std::io::stdout(),
            "{:8} {:18} {:>8} {:>7} {:>7} {:7} {:>10} {:>9} {:>10} {:>6}  state_hash",
            "method",
            "output",
            "vertices",
            "tets",
            "threads",
            "path",
            "ms",
            "ns/vertex",
            "scalar_ms",
            "ratio"
        )?;
    }
    for &vertices in args.sizes.as_deref().unwrap_or(&SKINS) {
        bench.skinnings(vertices)?;
        if bench.is_asked(SMOOTH) {
            bench.smooth(vertices)?;
        }
        for name in [SMOOTH, frames::VOLUME, frames::METABALLS] {
            if bench.is_asked(name) {
                bench.frames(name, vertices)?;
            }
        }
        if bench.is_asked(EMBED) {
            bench.embed(vertices)?;
        }
    }
    if bench.is_asked(solve::NAME) {
        bench.solve()?;
    }
    if bench.is_asked(STRAIN) {
        bench.strain()?;
    }
    if bench.is_asked(TETS) {
        for name in CHARACTERS {
            bench.tets(name)?;
        }
    }
    if args.json {
        writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&bench.rows)?)?;
    }
    Ok(Outcome::Done)
}

impl Bench<'_> {
    fn is_asked(&self, method: &str) -> bool {
        self.args.method.as_ref().is_none_or(|m| m == method)
    }

    fn skinnings(&mut self, vertices: usize) -> Result<()> {
        let mut asked = SKINNINGS.to_vec();
        asked.retain(|(name, _)| self.is_asked(name));
        if asked.is_empty() {
            return Ok(());
        }
        let character = bench_rig(vertices, BONES, INFLUENCES)?;
        let mut matrices = Vec::new();
        bench_pose(&character).skin_matrices(&character, &mut matrices);
        for (method, blend) in asked {
            for (output, with_normals) in OUTPUTS {
                let work = Work { method, output, vertices, tets: None, iterations: None };
                self.measure(&work, |path| {
                    let skinner = Skinner::new(blend, character.surface(), character.weights(), path)?;
                    let mut state = skinner.state();
                    Ok(best_frame(vertices, |positions, normals| {
                        if with_normals {
                            skinner.positions_and_normals(&matrices, &mut state, positions, normals);
                        } else {
                            skinner.positions(&matrices, &mut state, positions);
                        }
                    }))
                })?;
            }
        }
        Ok(())
    }

    /// Smooth skinning, without and with the bulge.
    fn smooth(&mut self, vertices: usize) -> Result<()> {
        let character = bench_rig(vertices, BONES, INFLUENCES)?;
        let mut matrices = Vec::new();
        bench_pose(&character).skin_matrices(&character, &mut matrices);
        for (output, gain) in [("positions+normals", 0.0), ("bulge+normals", 1.0)] {
            let usual = JointControl { gain, ..JointControl::default() };
            let options = SmoothOptions { usual, ..SmoothOptions::default() };
            let work = Work { method: SMOOTH, output, vertices, tets: None, iterations: None };
            self.measure(&work, |path| {
                let skin = SmoothSkin::new(&character, character.weights(), &options, path)?;
                let mut state = skin.state();
                Ok(best_frame(vertices, |positions, normals| {
                    skin.pose(&matrices, &mut state, positions, normals);
                }))
            })?;
        }
        Ok(())
    }

    fn embed(&mut self, vertices: usize) -> Result<()> {
        let (mesh, skin) = bench_body(BODY, vertices)?;
        let embedding = Embedding::new(&mesh, &Adjacency::new(&mesh).surface(&mesh), skin.positions());
        let nodes = bench_bend(&mesh, 2.0);
        for (output, with_normals) in OUTPUTS {
            let tets = Some(mesh.tets().len());
            let work = Work { method: EMBED, output, vertices, tets, iterations: None };
            self.measure(&work, |path| {
                let skin = EmbeddedSkin::new(&mesh, &embedding, skin.normals(), path)?;
                let mut scratch = skin.scratch();
                Ok(best_frame(vertices, |positions, normals| {
                    if with_normals {
                        skin.positions_and_normals(&nodes, &mut scratch, positions, normals);
                    } else {
                        skin.positions(&nodes, positions);
                    }
                }))
            })?;
        }
        Ok(())
    }

    /// The body of a sample. Plain code alone: its rows compare threads.
    fn tets(&mut self, name: &'static str) -> Result<()> {
        let character = zoo::character(name, None)?;
        let (positions, triangles) = (character.surface().positions(), character.surface().triangles());
        for &target in self.args.sizes.as_deref().unwrap_or(&BODIES) {
            let make = || -> Result<(usize, Timed)> {
                let (mut best, mut made) = (Duration::MAX, None);
                for _ in 0..TIMES {
                    let before = Instant::now();
                    let body = Body::of_skin(positions, triangles, Fineness::Tets(target), &mut |_| true)?;
                    best = best.min(before.elapsed());
                    made = Some(body);
                }
                let mut hasher = StateHash::default();
                let tets = made.as_ref().map(Body::tets).context("no body was made")?;
                hasher.frame(tets.positions());
                hasher.corners(tets.tets());
                Ok((tets.tets().len(), Timed::new(best, hasher.hex())))
            };
            let (count, scalar) = pool(1)?.install(make)?;
            let work = Work {
                method: TETS,
                output: name,
                vertices: positions.len(),
                tets: Some(count),
                iterations: None,
            };
            for threads in self.threads.clone() {
                let timed = if threads == 1 { scalar.clone() } else { pool(threads)?.install(make)?.1 };
                self.add(&work, threads, Path::Scalar, &scalar, timed)?;
            }
        }
        Ok(())
    }

    /// The scalar reference, then the real path with each number of threads.
    fn measure(&mut self, work: &Work, time: impl Fn(Path) -> Result<Timed> + Sync) -> Result<()> {
        let scalar = pool(1)?.install(|| time(Path::Scalar))?;
        for threads in self.threads.clone() {
            let timed = pool(threads)?.install(|| time(self.path))?;
            self.add(work, threads, self.path, &scalar, timed)?;
        }
        Ok(())
    }

    fn add(&mut self, work: &Work, threads: u16, path: Path, scalar: &Timed, timed: Timed) -> Result<()> {
        let Timed { best, state_hash, residual, parts, .. } = timed;
        ensure!(
            state_hash == scalar.state_hash && residual == scalar.residual,
            "{} on {path} with {threads} threads differs from the scalar reference: a bug; please report it",
            work.method
        );
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (ms, scalar_ms) = (milliseconds(best), milliseconds(scalar.best));
        let is_per_vertex = ![TETS, STRAIN, solve::NAME].contains(&work.method);
        let row = Row {
            method: work.method,
            output: work.output,
            vertices: work.vertices,
            tets: work.tets,
            iterations: work.iterations,
            threads,
            path: path.name(),
            ms,
            ns_per_vertex: is_per_vertex.then(|| ms * 1e6 / work.vertices as f64),
            scalar_ms,
            ratio: scalar_ms / ms,
            residual,
            textbook_ms: scalar.textbook.map(milliseconds),
            textbook_ratio: scalar.textbook.map(|time| milliseconds(time) / ms),
            stretch_ms: parts.map(|p| milliseconds(p.stretch)),
            bind_ms: parts.map(|p| milliseconds(p.bind)),
            volume_ms: parts.map(|p| milliseconds(p.volume)),
            state_hash,
        };
        if !self.args.json {
            let alone = match (row.stretch_ms, row.bind_ms, row.volume_ms, row.residual) {
                (Some(s), Some(b), Some(v), Some(r)) => {
                    format!("  stretch {s:.3} bind {b:.3} volume {v:.3} ms alone; residual {r:.5}")
                }
                _ => match (row.textbook_ms, row.textbook_ratio, row.residual) {
                    (Some(t), Some(ratio), Some(r)) => {
                        format!("  textbook {t:.2} ms, ratio {ratio:.1}; residual {r:.5}")
                    }
                    _ => String::new(),
                },
            };
            writeln!(
                std::io::stdout(),
                "{:8} {:18} {:8} {:>7} {:7} {:7} {:10.4} {:>9} {:10.4} {:6.2}  {}{alone}",
                row.method,
                row.output,
                row.vertices,
                row.tets.map_or(String::new(), |t| t.to_string()),
                row.threads,
                row.path,
                row.ms,
                row.ns_per_vertex.map_or(String::new(), |ns| format!("{ns:.2}")),
                row.scalar_ms,
                row.ratio,
                row.state_hash
            )?;
        }
        self.rows.push(row);
        Ok(())
    }
}

/// The methods that are skinning alone.
const SKINNINGS: [(&str, Blend); 2] = [("lbs", Blend::Linear), ("dqs", Blend::DualQuaternion)];

/// What a frame gives, and whether that includes normals.
const OUTPUTS: [(&str, bool); 2] = [("positions", false), ("positions+normals", true)];

fn pool(threads: u16) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build().context("cannot start threads")
}

/// Best time of some work on what is prepared anew each time.
fn best_of<S>(state: &mut S, mut prepare: impl FnMut(&mut S), mut work: impl FnMut(&mut S)) -> Duration {
    let (mut best, start) = (Duration::MAX, Instant::now());
    while best == Duration::MAX || start.elapsed() < BUDGET {
        prepare(state);
        let before = Instant::now();
        work(state);
        best = best.min(before.elapsed());
    }
    best
}

/// Best time of a frame, and the hash of its positions.
fn best_frame(vertices: usize, mut frame: impl FnMut(&mut [Vec3], &mut [Vec3])) -> Timed {
    let mut skin = [vec![Vec3::ZERO; vertices], vec![Vec3::ZERO; vertices]];
    let best = best_of(&mut skin, |_| {}, |[positions, normals]| frame(positions, normals));
    let mut hasher = StateHash::default();
    hasher.frame(&skin[0]);
    Timed::new(best, hasher.hex())
}
