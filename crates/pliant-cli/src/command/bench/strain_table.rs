//! Table 2 of the paper that `strain` comes from (Abu Rumman, Schwarz and Fratarcangeli), on the built-in characters at
//! the same numbers of tets, with the same steps and iterations: milliseconds of a tick, without and with a frame field.

use super::{best_of, pool};
use anyhow::{Context, Result};
use pliant::measure::TetJudge;
use pliant::method::{self, Settings, Setup, Shape};
use pliant::rig::{Motion, Playback, Pose};
use pliant::simd::Path;
use pliant::solver::{Effort, Order, StrainSolver, per_iteration};
use pliant::zoo;
use serde::Serialize;
use std::io::Write;

/// A row of the paper, and what stands in for its model here.
struct Paper {
    model: &'static str,
    sample: &'static str,
    motion: &'static str,
    tets: usize,
    step: f64,
    iterations: u32,
    consolidating: u32,
    ms: f64,
    frames_ms: f64,
}

#[rustfmt::skip]
const PAPER: [Paper; 8] = [
    Paper { model: "cylinder", sample: "cylinder", motion: "twist", tets: 2214, step: 0.042, iterations: 3, consolidating: 1, ms: 2.3, frames_ms: 2.8 },
    Paper { model: "leg, low", sample: "leg", motion: "bend", tets: 3452, step: 0.033, iterations: 10, consolidating: 2, ms: 11.6, frames_ms: 14.6 },
    Paper { model: "leg, low", sample: "leg", motion: "bend", tets: 3452, step: 0.033, iterations: 10, consolidating: 6, ms: 11.8, frames_ms: 14.6 },
    Paper { model: "arm", sample: "arm", motion: "bend", tets: 10_760, step: 0.042, iterations: 6, consolidating: 2, ms: 21.5, frames_ms: 27.1 },
    Paper { model: "leg, high", sample: "leg", motion: "bend", tets: 24_837, step: 0.033, iterations: 10, consolidating: 6, ms: 87.5, frames_ms: 108.5 },
    Paper { model: "bunny", sample: "bunny", motion: "jump", tets: 27_350, step: 0.033, iterations: 4, consolidating: 1, ms: 37.8, frames_ms: 48.3 },
    Paper { model: "male", sample: "human", motion: "kick", tets: 74_288, step: 0.008, iterations: 10, consolidating: 1, ms: 258.5, frames_ms: 335.1 },
    Paper { model: "fat man", sample: "chubby", motion: "walk", tets: 89_876, step: 0.033, iterations: 10, consolidating: 2, ms: 317.7, frames_ms: 408.5 },
];

/// Vertices of the samples: the paper has none of its own.
const VERTICES: usize = 8000;

#[derive(Serialize)]
struct Row {
    model: &'static str,
    motion: &'static str,
    tets: usize,
    free_tets: usize,
    step: f64,
    iterations: u32,
    consolidating: u32,
    threads: u16,
    /// The solve of a tick in the middle of the motion, without and with frames.
    ms: f64,
    frames_ms: f64,
    /// Largest over the motion, of the tets' volume.
    volume_loss_percent: f64,
    inverted: usize,
    paper_ms: f64,
    paper_frames_ms: f64,
    /// The paper's times over ours.
    ratio: f64,
    frames_ratio: f64,
}

/// Prints the table.
pub(super) fn run(threads: &[u16], path: Path, json: bool) -> Result<()> {
    let mut rows = Vec::new();
    if !json {
        writeln!(
            std::io::stdout(),
            "{:10} {:>6} {:>9} {:>6} {:>10} {:>7} {:>8} {:>9} {:>6} {:>8} {:>8} {:>14} {:>6} {:>12}",
            "model",
            "tets",
            "free_tets",
            "step",
            "iterations",
            "threads",
            "ms",
            "frames_ms",
            "loss_%",
            "inverted",
            "paper_ms",
            "paper_frames",
            "ratio",
            "frames_ratio"
        )?;
    }
    for paper in &PAPER {
        for &count in threads {
            let row = pool(count)?.install(|| measure(paper, count, path))?;
            if !json {
                writeln!(
                    std::io::stdout(),
                    "{:10} {:6} {:9} {:6.3} {:>10} {:7} {:8.3} {:9.3} {:6.3} {:8} {:8.1} {:14.1} {:6.1} {:12.1}",
                    row.model,
                    row.tets,
                    row.free_tets,
                    row.step,
                    format!("{}/{}", row.iterations, row.consolidating),
                    row.threads,
                    row.ms,
                    row.frames_ms,
                    row.volume_loss_percent,
                    row.inverted,
                    row.paper_ms,
                    row.paper_frames_ms,
                    row.ratio,
                    row.frames_ratio
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
    let &Paper { model, sample, motion, tets, step, iterations, consolidating, ms: paper_ms, .. } = paper;
    let character = zoo::character(sample, Some(VERTICES))?;
    let clip =
        character.clips().iter().find(|c| c.name() == motion).context("the sample has lost its motion")?;
    let mut settings = Settings::default();
    settings.body.tets = Some(tets);
    settings.simulation.step = Some(step);
    settings.simulation.iterations = Some(iterations);
    settings.strain.consolidating = Some(consolidating);
    let setup = Setup { path, settings: &settings, tets: None, progress: &mut |_| true };
    let deformer = method::prepare("strain", &character, setup)?;
    let body = deformer.body().context("the sample has no body")?;
    let judge = TetJudge::new(&character, body);
    let playback = Playback::once(&character, Some(clip));
    let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
    let mut pose = Pose::rest(&character);
    let ticks = (clip.end() / step).floor() as usize;
    let (mut loss, mut inverted, mut posed) = (0.0f64, 0, Vec::new());
    for tick in 0..=ticks {
        let seconds = tick as f64 * step;
        instance.step(&playback, seconds, &mut shape, &mut |_| {});
        playback.pose(seconds, &mut pose);
        let nodes = instance.nodes().context("the method has no nodes")?;
        if let Some(found) = judge.frame(&pose, nodes) {
            loss = loss.max(found.volume_error_percent.unwrap_or(0.0).abs());
            inverted = inverted.max(found.inverted);
        }
        if tick == ticks / 2 {
            posed = nodes.to_vec();
        }
    }
    // The same solve without frames and with, from the middle of the motion on.
    let pins = deformer.pins().context("the method has no pins")?;
    let pinned: Vec<bool> = pins.iter().map(|&p| p != u32::MAX).collect();
    let per = |k: f64| per_iteration(k, iterations);
    let strain = &settings.strain;
    let ([a, b, c], [d, e, f]) = (strain.stretch.map(per), strain.shear.map(per));
    let effort = Effort { iterations, consolidating, mass_gain: strain.mass_gain as f32, volume_sweeps: 0 };
    let mut free_tets = 0;
    let mut timed = |frames| -> Result<f64> {
        let solver = StrainSolver::new(body.tets(), &pinned, frames, Order::Layered, path)?;
        free_tets = solver.free_tets();
        let mut state = solver.state();
        solver.set_stiffness(&mut state, |_| [a, b, c, d, e, f, per(strain.volume)]);
        let mut nodes = posed.clone();
        let start = |nodes: &mut Vec<_>| nodes.copy_from_slice(&posed);
        let best = best_of(&mut nodes, start, |nodes| solver.solve(&mut state, nodes, effort));
        Ok(best.as_secs_f64() * 1e3)
    };
    let (ms, frames_ms) = (timed(None)?, timed(deformer.frames())?);
    Ok(Row {
        model,
        motion,
        tets: body.tets().tets().len(),
        free_tets,
        step,
        iterations,
        consolidating,
        threads,
        ms,
        frames_ms,
        volume_loss_percent: loss,
        inverted,
        paper_ms,
        paper_frames_ms: paper.frames_ms,
        ratio: paper_ms / ms,
        frames_ratio: paper.frames_ms / frames_ms,
    })
}
