//! Table 1 of the paper that `position` comes from (Abu Rumman and Fratarcangeli 2015), on the built-in characters of the
//! same sizes: constraints, milliseconds of a tick, volume lost in a motion.

use super::{best_of, pool};
use anyhow::{Context, Result};
use pliant::body::{Body, Node};
use pliant::measure::TetJudge;
use pliant::method::{self, Settings, Setup, Shape, Stage};
use pliant::rig::{Motion, Playback, Pose};
use pliant::simd::Path;
use pliant::solver::{Solver, per_iteration};
use pliant::zoo;
use serde::Serialize;
use std::io::Write;
use std::time::{Duration, Instant};

/// A row of the paper, and what stands in for its model here.
struct Paper {
    model: &'static str,
    sample: &'static str,
    motion: &'static str,
    vertices: usize,
    tets: usize,
    /// Stretch stiffness.
    k: f64,
    ms: f64,
    loss_percent: f64,
}

#[rustfmt::skip]
const PAPER: [Paper; 7] = [
    Paper { model: "human", sample: "human", motion: "kick", vertices: 9528, tets: 4998, k: 0.9, ms: 6.81, loss_percent: 0.09 },
    Paper { model: "human, fine", sample: "human", motion: "run", vertices: 9528, tets: 10_516, k: 0.9, ms: 10.17, loss_percent: 0.12 },
    Paper { model: "big bunny", sample: "bunny", motion: "jump", vertices: 8111, tets: 7827, k: 0.6, ms: 7.98, loss_percent: 0.27 },
    Paper { model: "big bunny, fine", sample: "bunny", motion: "jump", vertices: 8111, tets: 14_022, k: 0.6, ms: 13.92, loss_percent: 0.39 },
    Paper { model: "octopus", sample: "octopus", motion: "wave", vertices: 4000, tets: 4339, k: 0.6, ms: 6.87, loss_percent: 0.45 },
    Paper { model: "horse", sample: "horse", motion: "run", vertices: 3833, tets: 6126, k: 0.8, ms: 7.69, loss_percent: 0.17 },
    Paper { model: "torso", sample: "torso", motion: "bend", vertices: 4345, tets: 4280, k: 0.6, ms: 6.71, loss_percent: 0.15 },
];

/// Ticks a second, as in the paper.
const TICKS: f64 = 100.0;

/// How often each motion is run.
const RUNS: usize = 5;

/// Iterations, as in the paper.
const ITERATIONS: u32 = 12;

#[derive(Serialize)]
struct Row {
    model: &'static str,
    motion: &'static str,
    vertices: usize,
    tets: usize,
    bones: usize,
    stretch: usize,
    bind: usize,
    iterations: u32,
    threads: u16,
    /// Each kind of constraint alone, the whole solve of a tick, and the whole tick with skinning and embedding.
    volume_ms: f64,
    stretch_ms: f64,
    bind_ms: f64,
    solve_ms: f64,
    total_ms: f64,
    /// Largest over the motion, of the tets' volume.
    volume_loss_percent: f64,
    k: f64,
    paper_ms: f64,
    paper_volume_loss_percent: f64,
    /// The paper's time, which is of the constraints alone, over ours.
    ratio: f64,
}

/// Prints the table.
pub(super) fn run(threads: &[u16], path: Path, json: bool) -> Result<()> {
    let mut rows = Vec::new();
    if !json {
        writeln!(
            std::io::stdout(),
            "{:16} {:>8} {:>6} {:>5} {:>7} {:>5} {:>7} {:>9} {:>10} {:>7} {:>8} {:>8} {:>6} {:>4} {:>8} {:>6}",
            "model",
            "vertices",
            "tets",
            "bones",
            "stretch",
            "bind",
            "threads",
            "volume_ms",
            "stretch_ms",
            "bind_ms",
            "solve_ms",
            "total_ms",
            "loss_%",
            "k",
            "paper_ms",
            "ratio"
        )?;
    }
    for paper in &PAPER {
        for &count in threads {
            let row = pool(count)?.install(|| measure(paper, count, path))?;
            if !json {
                writeln!(
                    std::io::stdout(),
                    "{:16} {:8} {:6} {:5} {:7} {:5} {:7} {:9.3} {:10.3} {:7.3} {:8.3} {:8.3} {:6.3} {:4} {:8.2} {:6.1}",
                    row.model,
                    row.vertices,
                    row.tets,
                    row.bones,
                    row.stretch,
                    row.bind,
                    row.threads,
                    row.volume_ms,
                    row.stretch_ms,
                    row.bind_ms,
                    row.solve_ms,
                    row.total_ms,
                    row.volume_loss_percent,
                    row.k,
                    row.paper_ms,
                    row.ratio
                )?;
            }
            rows.push(row);
        }
    }
    if json {
        writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&rows)?)?;
    }
    Ok(())
}

fn measure(paper: &Paper, threads: u16, path: Path) -> Result<Row> {
    let &Paper { model, sample, motion, vertices, tets, k, ms: paper_ms, loss_percent: paper_loss } = paper;
    let character = zoo::character(sample, Some(vertices))?;
    let clip =
        character.clips().iter().find(|c| c.name() == motion).context("the sample has lost its motion")?;
    let mut settings = Settings::default();
    settings.body.tets = Some(tets);
    settings.position.stretch = k;
    settings.simulation.iterations = Some(ITERATIONS);
    let setup = Setup { path, settings: &settings, tets: None, progress: &mut |_| true };
    let deformer = method::prepare("position", &character, setup)?;
    let body = deformer.body().context("the sample has no body")?;
    let judge = TetJudge::new(&character, body);
    let playback = Playback::once(&character, Some(clip));
    let (mut shape, mut pose) = (Shape::rest(&character), Pose::rest(&character));
    let ticks = (clip.end() * TICKS).floor() as usize;
    // Every tick does the same work each time: its best time counts.
    let (mut solve, mut total) = (vec![Duration::MAX; ticks], vec![Duration::MAX; ticks]);
    let (mut loss, mut posed) = (0.0f64, Vec::new());
    for run in 0..RUNS {
        let mut instance = deformer.instance();
        // The first step also goes from rest to the first pose and settles there.
        instance.step(&playback, 0.0, &mut shape, &mut |_| {});
        for tick in 0..ticks {
            let seconds = (tick + 1) as f64 / TICKS;
            let before = Instant::now();
            let (mut last, mut solving) = (before, Duration::ZERO);
            instance.step(&playback, seconds, &mut shape, &mut |stage| {
                if stage == Stage::Solve {
                    solving += last.elapsed();
                }
                last = Instant::now();
            });
            total[tick] = total[tick].min(before.elapsed());
            solve[tick] = solve[tick].min(solving);
            if run > 0 {
                continue;
            }
            playback.pose(seconds, &mut pose);
            let nodes = instance.nodes().context("the method has no nodes")?;
            let error = judge.frame(&pose, nodes).and_then(|m| m.volume_error_percent);
            loss = loss.max(error.unwrap_or(0.0).abs());
            if tick == ticks / 2 {
                posed = nodes.to_vec();
            }
        }
    }
    let per_tick = |times: &[Duration]| times.iter().sum::<Duration>().as_secs_f64() * 1e3 / ticks as f64;
    let (solve_ms, total_ms) = (per_tick(&solve), per_tick(&total));
    let [stretch_ms, bind_ms, volume_ms] = kinds(body, &posed, &settings, path)?;
    let solver = Solver::new(body.tets(), path)?;
    Ok(Row {
        model,
        motion,
        vertices,
        tets: body.tets().tets().len(),
        bones: character.skeleton().bones().len(),
        stretch: solver.edges(),
        bind: body.tets().positions().len(),
        iterations: ITERATIONS,
        threads,
        volume_ms,
        stretch_ms,
        bind_ms,
        solve_ms,
        total_ms,
        volume_loss_percent: loss,
        k,
        paper_ms,
        paper_volume_loss_percent: paper_loss,
        ratio: paper_ms / solve_ms,
    })
}

/// Milliseconds of a tick's iterations of stretch, bind and volume, each alone, on a body in motion.
fn kinds(body: &Body, posed: &[Node], settings: &Settings, path: Path) -> Result<[f64; 3]> {
    let solver = Solver::new(body.tets(), path)?;
    let mut state = solver.state();
    let position = &settings.position;
    let [stretch, volume, bind] =
        [position.stretch, position.volume, position.bind].map(|k| per_iteration(k, ITERATIONS));
    solver.set_stretch(&mut state, |_| stretch);
    solver.set_volume(&mut state, |_| volume);
    // A point beside each node: the work is the same wherever it is.
    let binds: Vec<[f32; 4]> =
        posed.iter().map(|n| [n[0] + body.cell() as f32, n[1], n[2], body.cell() as f32]).collect();
    let bind = vec![bind; binds.len()];
    let mut nodes = posed.to_vec();
    let mut timed = |work: &mut dyn FnMut(&mut [Node])| {
        let best = best_of(&mut nodes, |nodes| nodes.copy_from_slice(posed), |nodes| work(nodes));
        best.as_secs_f64() * 1e3
    };
    Ok([
        timed(&mut |nodes| solver.sweep_stretch(&mut state, nodes, ITERATIONS)),
        timed(&mut |nodes| solver.sweep_bind(&mut state, nodes, &binds, &bind, ITERATIONS)),
        timed(&mut |nodes| solver.sweep_volume(&mut state, nodes, ITERATIONS)),
    ])
}
