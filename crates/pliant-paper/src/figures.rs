//! Goals that no paper has: from a file to the first frame.

use crate::lab::{self, Lab};
use crate::result::Results;
use crate::{Chapter, Experiment};
use anyhow::Result;
use std::time::Instant;

pub(crate) const CHAPTER: Chapter = Chapter {
    name: "figures",
    title: "Goals of our own",
    about: "What Pliant asks of itself beside the papers. Speed beside other programs, and how cost grows with size up to a \
            million tets, are in [bench](bench/README.md).",
    source: include_str!("figures.rs"),
    experiments: &[
        Experiment { name: "start", title: "From a file to the first moving frame", run: start },
        Experiment { name: "crowd", title: "A preparation for many", run: crowd },
    ],
};

/// Best seconds of a whole run of the command, from a file on disk to two frames written.
fn seconds(lab: &Lab<'_>, file: &str, words: &[&str]) -> Result<f64> {
    let out = lab.temporary("first.npz");
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let started = Instant::now();
        lab.run(
            &[&["bake", file, "--end", "0.034", "--quiet", "-o", &out.to_string_lossy()], words].concat(),
        )?;
        best = best.min(started.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn start(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let file = lab.temporary("human.glb").to_string_lossy().into_owned();
    lab.run(&["sample", "human", "--vertices", "10000", "--quiet", "-o", &file])?;
    for method in ["lbs", "dqs", "smooth", "volume", "position", "strain", "metaballs"] {
        let taken = seconds(lab, &file, &["--clip", "walk", "--method", method])?;
        results.claim(
            format!("10,000 vertices by `{method}`: the whole command, its file written"),
            "under a second",
            format!("{taken:.2} s"),
            taken < 1.0,
        );
    }
    let fine = lab.settings("fine.toml", "[body]\ntets = 90000\n")?;
    for method in ["position", "strain"] {
        let taken = seconds(lab, &file, &["--clip", "walk", "--method", method, "--config", &fine])?;
        results.claim(
            format!("90,000 tets by `{method}`: the same"),
            "under five seconds",
            format!("{taken:.2} s"),
            taken < 5.0,
        );
    }
    results.note("A step asks for no memory: `crates/pliant/tests/*_alloc.rs` count it in every method.");
    Ok(results)
}

fn crowd(_: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let character = lab::sample("human")?;
    let deformer = lab::prepare("position", &character, &lab::settings_of(5000))?;
    let started = Instant::now();
    let instances: Vec<_> = (0..100).map(|_| deformer.instance()).collect();
    results.show(
        "a hundred instances of a prepared human of 5000 tets",
        format!("{:.1} ms for {}", started.elapsed().as_secs_f64() * 1e3, instances.len()),
    );
    Ok(results)
}
