//! The table of the paper that `metaballs` comes from, on the built-in characters at the same numbers of vertices: milliseconds
//! of a frame, beside those of linear and dual quaternion skinning, and stage by stage.

use super::pool;
use anyhow::{Context, Result};
use pliant::method::{self, Settings, Setup, Shape, Stage};
use pliant::rig::Pose;
use pliant::simd::Path;
use pliant::zoo;
use serde::Serialize;
use std::io::Write;
use std::time::Instant;

/// A row of the paper, and what stands in for its model here.
struct Paper {
    model: &'static str,
    sample: &'static str,
    vertices: usize,
    balls: usize,
    springs: usize,
    lbs_ms: f64,
    dqs_ms: f64,
    ms: f64,
}

#[rustfmt::skip]
const PAPER: [Paper; 3] = [
    Paper { model: "armadillo", sample: "armadillo", vertices: 34_594, balls: 564, springs: 2269, lbs_ms: 19.13, dqs_ms: 14.75, ms: 22.43 },
    Paper { model: "chubby", sample: "chubby", vertices: 8620, balls: 467, springs: 577, lbs_ms: 3.07, dqs_ms: 3.37, ms: 3.01 },
    Paper { model: "human", sample: "human", vertices: 24_461, balls: 512, springs: 2268, lbs_ms: 6.71, dqs_ms: 8.08, ms: 11.87 },
];

/// The clip and second at which both arms and legs are bent.
const CLIP: &str = "run";
const SECONDS: f64 = 0.3;

/// Frames of which the best counts.
const FRAMES: usize = 200;

/// Milliseconds of a frame, and of its stages.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Times {
    total: f64,
    /// Bones to balls, and muscles.
    balls: f64,
    springs: f64,
    /// Balls and joints' balls to skin: one blend.
    skin: f64,
    filter: f64,
    overlap: f64,
}

#[derive(Serialize)]
struct Row {
    model: &'static str,
    vertices: usize,
    balls: usize,
    springs: usize,
    coverage_percent: f64,
    threads: u16,
    lbs_ms: f64,
    dqs_ms: f64,
    ms: Times,
    paper_balls: usize,
    paper_springs: usize,
    paper_lbs_ms: f64,
    paper_dqs_ms: f64,
    paper_ms: f64,
    /// The paper's time over ours.
    ratio: f64,
}

/// Prints the table.
pub(super) fn run(threads: &[u16], path: Path, json: bool) -> Result<()> {
    let mut rows = Vec::new();
    if !json {
        writeln!(
            std::io::stdout(),
            "{:10} {:>8} {:>5} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}  {:>6} {:>7} {:>6} {:>6} {:>7}  {:>20} {:>6}",
            "model",
            "vertices",
            "balls",
            "springs",
            "cover_%",
            "threads",
            "lbs_ms",
            "dqs_ms",
            "ms",
            "balls",
            "springs",
            "skin",
            "filter",
            "overlap",
            "paper: lbs dqs balls",
            "ratio"
        )?;
    }
    for paper in &PAPER {
        for &count in threads {
            let row = pool(count)?.install(|| measure(paper, count, path))?;
            if !json {
                let Times { total, balls, springs, skin, filter, overlap } = row.ms;
                writeln!(
                    std::io::stdout(),
                    "{:10} {:8} {:5} {:7} {:7.1} {:7} {:7.3} {:7.3} {:7.3}  {:6.3} {:7.3} {:6.3} {:6.3} {:7.3}  {:>20} {:6.1}",
                    row.model,
                    row.vertices,
                    row.balls,
                    row.springs,
                    row.coverage_percent,
                    row.threads,
                    row.lbs_ms,
                    row.dqs_ms,
                    total,
                    balls,
                    springs,
                    skin,
                    filter,
                    overlap,
                    format!("{} {} {}", row.paper_lbs_ms, row.paper_dqs_ms, row.paper_ms),
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
    let character = zoo::character(paper.sample, Some(paper.vertices))?;
    let clip =
        character.clips().iter().find(|c| c.name() == CLIP).context("the sample has lost its motion")?;
    let pose = Pose::sample(&character, Some(clip), SECONDS);
    let mut settings = Settings::default();
    settings.metaballs.balls = paper.balls;
    let mut found = (0, 0, 0.0);
    let mut times = |name: &str| -> Result<Times> {
        let setup = Setup { path, settings: &settings, tets: None, progress: &mut |_| true };
        let deformer = method::prepare(name, &character, setup)?;
        if let Some(packing) = deformer.packing() {
            let balls = packing.balls;
            found = (balls.balls().len(), packing.springs.len(), balls.coverage() * 100.0);
        }
        let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
        let mut best = Times { total: f64::INFINITY, ..Times::default() };
        for _ in 0..FRAMES {
            let mut own = Times::default();
            let started = Instant::now();
            let mut last = started;
            instance.step(&pose, 0.0, &mut shape, &mut |stage| {
                let now = Instant::now();
                let spent = now.duration_since(last).as_secs_f64() * 1e3;
                last = now;
                match stage {
                    Stage::Skin => own.balls += spent,
                    Stage::Solve => own.springs += spent,
                    Stage::Embed => own.skin += spent,
                    Stage::Filter => own.filter += spent,
                    Stage::Overlap => own.overlap += spent,
                }
            });
            own.total = started.elapsed().as_secs_f64() * 1e3;
            if own.total < best.total {
                best = own;
            }
        }
        Ok(best)
    };
    let (lbs, dqs, ms) = (times("lbs")?, times("dqs")?, times("metaballs")?);
    let (balls, springs, coverage_percent) = found;
    Ok(Row {
        model: paper.model,
        vertices: character.surface().positions().len(),
        balls,
        springs,
        coverage_percent,
        threads,
        lbs_ms: lbs.total,
        dqs_ms: dqs.total,
        ms,
        paper_balls: paper.balls,
        paper_springs: paper.springs,
        paper_lbs_ms: paper.lbs_ms,
        paper_dqs_ms: paper.dqs_ms,
        paper_ms: paper.ms,
        ratio: paper.ms / ms.total,
    })
}
