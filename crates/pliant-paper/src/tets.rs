//! Tet bodies from skins: samples, and other people's characters.

use crate::lab::{Lab, number};
use crate::result::{Results, Verdict};
use crate::{Chapter, Experiment};
use anyhow::Result;
use serde_json::Value;

pub(crate) const CHAPTER: Chapter = Chapter {
    name: "tets",
    title: "Tet bodies",
    about: "Isosurface stuffing with thin parts kept, against its goals: one piece, nothing inverted, the count asked for.",
    source: include_str!("tets.rs"),
    experiments: &[
        Experiment { name: "samples", title: "Built-in characters", run: samples },
        Experiment { name: "time", title: "Time", run: time },
        Experiment { name: "files", title: "Other people's characters", run: files },
    ],
};

const TARGET: f64 = 7000.0;

/// Fills characters and holds the bodies against the goals; a clean skin must keep its volume closer.
fn fill(
    lab: &Lab<'_>,
    characters: &[(String, String)],
    volume_within: f64,
    results: &mut Results,
) -> Result<()> {
    let out = lab.temporary("body.mesh");
    let mut lines = Vec::new();
    let (mut bodies, mut whole, mut counts, mut angles, mut volumes, mut crowded) = (0, 0, 0, 0, 0, 0);
    let mut near = 0;
    for (name, file) in characters {
        let report = match lab.json(&[
            "tets",
            file,
            "--target",
            &TARGET.to_string(),
            "--quiet",
            "-o",
            &out.to_string_lossy(),
        ]) {
            Ok(report) => report,
            Err(error) => {
                lines.push(vec![
                    name.clone(),
                    format!("{error:#}").lines().next().unwrap_or_default().replace(file, name),
                ]);
                continue;
            }
        };
        bodies += 1;
        let [tets, inverted, least, most, first, ratio, ms] = [
            "/tets",
            "/inverted_tets",
            "/dihedral/min",
            "/dihedral/max",
            "/dihedral/p1",
            "/volume_ratio",
            "/milliseconds",
        ]
        .map(|p| number(&report, p));
        let pieces = report.pointer("/pieces/count").and_then(Value::as_u64).unwrap_or_default();
        let shells = report.pointer("/shells/flesh").and_then(Value::as_u64).unwrap_or_default();
        whole += usize::from(inverted == 0.0 && pieces <= shells.max(1));
        counts += usize::from((tets / TARGET - 1.0).abs() <= 0.05);
        angles += usize::from(least >= 10.0 && most <= 155.0 && first >= 20.0);
        volumes += usize::from((ratio - 1.0).abs() <= volume_within);
        let farthest = number(&report, "/farthest_outside/flesh/cells");
        // None where no vertex is outside.
        near += usize::from(farthest.is_nan() || farthest <= 0.75);
        crowded += usize::from(number(&report, "/crowded_faces") > 0.0);
        lines.push(vec![
            name.clone(),
            format!("{tets:.0}"),
            format!("{pieces} of {shells}"),
            format!("{inverted:.0}"),
            format!("{least:.1} / {first:.1} / {most:.1}"),
            format!("{ratio:.3}"),
            format!("{ms:.0}"),
        ]);
    }
    let of = |count: usize| format!("{count} of {bodies}");
    results.claim("no inverted tet, at most one piece per shell", "all", of(whole), whole == bodies);
    results.claim("count within 5 % of what was asked", "all", of(counts), counts == bodies);
    results.claim(
        "dihedral angles from 10 to 155 degrees, first percentile at least 20",
        "all",
        of(angles),
        angles == bodies,
    );
    results.claim(
        format!("volume within {:.0} %", 100.0 * volume_within),
        "all",
        of(volumes),
        volumes == bodies,
    );
    results.claim("no skin of the flesh farther than 0.75 cells outside", "all", of(near), near == bodies);
    results.claim("faces shared by more than two tets", "none", crowded.to_string(), crowded == 0);
    lines.iter_mut().for_each(|line| line.resize(7, String::new()));
    results.table(
        format!("{TARGET} tets asked."),
        &[
            "character",
            "tets",
            "pieces of shells",
            "inverted",
            "dihedral least / 1st percentile / most",
            "volume over skin's",
            "ms",
        ],
        lines,
    );
    Ok(())
}

fn samples(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let all: Vec<(String, String)> =
        pliant::zoo::list().iter().map(|s| (s.name.to_owned(), format!("sample:{}", s.name))).collect();
    fill(lab, &all, 0.02, &mut results)?;
    Ok(results)
}

fn time(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let (file, out) = (lab.temporary("human.glb"), lab.temporary("body.mesh"));
    let (file, out) = (file.to_string_lossy(), out.to_string_lossy());
    lab.run(&["sample", "human", "--vertices", "10000", "--quiet", "-o", &file])?;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let report =
            lab.json(&["tets", &file, "--target", "7000", "--threads", "1", "--quiet", "-o", &out])?;
        best = best.min(number(&report, "/milliseconds"));
    }
    results.claim(
        "7,000 tets under 10,000 vertices on one core",
        "0.5 s",
        format!("{:.2} s", best / 1e3),
        best <= 500.0,
    );
    results.note("Against fTetWild: [bench](bench/README.md).");
    Ok(results)
}

fn files(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let names = [
        "CesiumMan.glb",
        "KayKit-Knight.glb",
        "Quaternius-Frog.glb",
        "Quaternius-KnightCharacter.glb",
        "Quaternius-Men-Casual.glb",
        "Quaternius-Shark.glb",
        "Quaternius-Trex.glb",
        "Quaternius-Wolf.glb",
        "RobotExpressive.glb",
        "Babylon-r_hand_rhs.glb",
    ];
    let found: Vec<(String, String)> = names
        .iter()
        .filter_map(|name| {
            Some(((*name).to_owned(), lab.data(&format!("gltf/{name}"))?.to_string_lossy().into_owned()))
        })
        .collect();
    if found.is_empty() {
        results.find("other people's characters", "", "their files are not here", None, Verdict::NotRun);
        return Ok(results);
    }
    fill(lab, &found, 0.15, &mut results)?;
    Ok(results)
}
