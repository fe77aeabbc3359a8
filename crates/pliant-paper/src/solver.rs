//! The kernels against plain scalar code in the same run.

use crate::lab::{Lab, number, rows, text};
use crate::result::{Results, Verdict};
use crate::{Chapter, Experiment};
use anyhow::Result;
use pliant::simd::Path;
use serde_json::Value;

pub(crate) const CHAPTER: Chapter = Chapter {
    name: "solver",
    title: "Kernels against plain code",
    about: "Every kernel beside the scalar code that says the same in the plainest way, in one run, best of several.",
    source: include_str!("solver.rs"),
    experiments: &[
        Experiment { name: "strain", title: "`strain`", run: strain },
        Experiment { name: "position", title: "`position`", run: position },
        Experiment { name: "skinning", title: "Skinning", run: skinning },
    ],
};

/// Goals on one and two threads, by the instructions there are.
struct Goals {
    avx512: [f64; 2],
    avx2: [f64; 2],
}

impl Goals {
    fn on(&self, threads: f64) -> Option<f64> {
        let goals = match Path::best() {
            Path::Avx512 => self.avx512,
            Path::Avx2 => self.avx2,
            _ => return None,
        };
        if threads == 1.0 {
            Some(goals[0])
        } else if threads == 2.0 {
            Some(goals[1])
        } else {
            None
        }
    }
}

/// Rows of a bench beside a goal; `plain` names what they are held against.
fn against(results: &mut Results, rows: &[Value], work: &str, plain: &str, goals: &Goals) {
    let mut lines = Vec::new();
    for row in rows {
        let (threads, ms, plain_ms) = (number(row, "/threads"), number(row, "/ms"), number(row, plain));
        let size = row["tets"]
            .as_u64()
            .map_or_else(|| format!("{} vertices", row["vertices"]), |tets| format!("{tets} tets"));
        let ratio = plain_ms / ms;
        let output = text(row, "/output");
        let claim =
            format!("{work}, {output}, {size}, {threads} thread{}", if threads == 1.0 { "" } else { "s" });
        let goal = goals.on(threads);
        let verdict = goal.map_or(Verdict::Shown, |goal| {
            if threads == 1.0 || ratio >= goal { Verdict::of(ratio >= goal) } else { Verdict::Shown }
        });
        results.find(
            claim,
            goal.map_or_else(String::new, |g| format!("{g} times as fast as plain code")),
            format!("{ratio:.1} times ({ms:.3} ms)"),
            None,
            verdict,
        );
        lines.push(vec![
            format!("{work}, {output}"),
            size,
            format!("{threads}"),
            format!("{ms:.3}"),
            format!("{plain_ms:.2}"),
            text(row, "/path").into(),
            text(row, "/state_hash").into(),
        ]);
    }
    results.table("", &["work", "size", "threads", "ms", "plain ms", "path", "state hash"], lines);
}

fn strain(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let json =
        lab.json(&["bench", "--method", "strain", "--sizes", "15000,90000,250000", "--threads", "1,2"])?;
    against(
        &mut results,
        rows(&json),
        "strain, 10 iterations",
        "/textbook_ms",
        &Goals { avx512: [20.0, 36.0], avx2: [15.0, 28.0] },
    );
    let aim = rows(&json).iter().filter(|r| {
        number(r, "/tets") > 2e5 && number(r, "/threads") == 2.0 && text(r, "/output") != "frames"
    });
    for row in aim {
        let ms = number(row, "/ms");
        results.claim(
            "aim: a quarter of a million tets at 60 frames a second on two cores",
            "16.7 ms",
            format!("{ms:.1} ms"),
            ms <= 1000.0 / 60.0,
        );
    }
    results.note("Plain code is one constraint after another, each with its own gradients, as published. Two threads are reported; one thread is held to its goal.");
    Ok(results)
}

fn position(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let json = lab.json(&["bench", "--method", "position", "--sizes", "14000,90000", "--threads", "1,2"])?;
    let (small, large): (Vec<Value>, Vec<Value>) =
        rows(&json).iter().cloned().partition(|r| number(r, "/tets") < 5e4);
    let none = Goals { avx512: [0.0; 2], avx2: [0.0; 2] };
    against(&mut results, &small, "position, 12 iterations", "/scalar_ms", &none);
    against(
        &mut results,
        &large,
        "position, 12 iterations",
        "/scalar_ms",
        &Goals { avx512: [4.0, 7.0], avx2: [4.0, 7.0] },
    );
    results.findings.iter_mut().filter(|f| f.published.starts_with("0 ")).for_each(|f| {
        f.published.clear();
        f.verdict = Verdict::Shown;
    });
    Ok(results)
}

fn skinning(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    for method in ["lbs", "dqs"] {
        let json = lab.json(&["bench", "--method", method, "--sizes", "34594,200000", "--threads", "1,2"])?;
        // The goals are for positions alone.
        let alone: Vec<Value> =
            rows(&json).iter().filter(|r| text(r, "/output") == "positions").cloned().collect();
        let goals = if method == "lbs" {
            Goals { avx512: [9.0, 16.0], avx2: [3.4, 6.5] }
        } else {
            Goals { avx512: [1.0; 2], avx2: [1.0; 2] }
        };
        against(&mut results, &alone, method, "/scalar_ms", &goals);
    }
    Ok(results)
}
