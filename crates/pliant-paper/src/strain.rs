//! Cai & Lin 2021: strain constraints in layers, with an anisotropic frame field.

use crate::lab::{self, Lab, Watch, moments, number, rows, settings_of, text};
use crate::plot::Plot;
use crate::result::{Results, Verdict};
use crate::{Chapter, Experiment};
use anyhow::{Context, Result};
use pliant::body::{Node, bench_block, rest_nodes};
use pliant::glam::{DVec3, Quat, Vec3};
use pliant::method::Shape;
use pliant::simd::Path;
use pliant::solver::{Effort, Order, StrainSolver};
use serde_json::Value;

pub(crate) const CHAPTER: Chapter = Chapter {
    name: "001",
    title: "001: anisotropic strain in layers",
    about: "Cai and Lin 2021: the method `strain`. Flesh is pinned to bones, solved from them outwards, and may be stiffer \
            along its fibres.",
    source: include_str!("strain.rs"),
    experiments: &[
        Experiment {
            name: "table",
            title: "Table 2: milliseconds a tick, without and with a frame field",
            run: table,
        },
        Experiment { name: "layers", title: "Layers: residual, fineness, recovery", run: layers },
        Experiment { name: "joints", title: "Joints", run: joints },
        Experiment { name: "fibres", title: "Stiff along the fibre", run: fibres },
        Experiment { name: "pictures", title: "Pins, frames, wrinkles", run: pictures },
        Experiment { name: "mocap", title: "Motion capture on other people's characters", run: mocap },
        Experiment { name: "memory", title: "Memory", run: memory },
    ],
};

/// How many times faster than the paper a tick should be.
const FASTER: f64 = 15.0;

fn table(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let json = lab.json(&["bench", "--table", "--method", "strain", "--threads", "1,2"])?;
    let mut lines = Vec::new();
    let mut dearest = f64::NEG_INFINITY;
    for row in rows(&json) {
        let [ms, frames, paper, paper_frames] =
            ["/ms", "/frames_ms", "/paper_ms", "/paper_frames_ms"].map(|p| number(row, p));
        let name = format!(
            "{} {}/{}",
            text(row, "/model"),
            number(row, "/iterations"),
            number(row, "/consolidating")
        );
        let threads = number(row, "/threads");
        lines.push(vec![
            name.clone(),
            format!("{:.0}", number(row, "/tets")),
            format!("{:.0}", number(row, "/free_tets")),
            format!("{threads:.0}"),
            format!("{ms:.3} / {frames:.3}"),
            format!("{paper} / {paper_frames}"),
            format!("{:.1} / {:.1}", paper / ms, paper_frames / frames),
            format!("{:.2}", number(row, "/volume_loss_percent")),
            format!("{:.0}", number(row, "/inverted")),
        ]);
        if threads == 1.0 {
            let verdict = Verdict::of(paper >= FASTER * ms);
            results.find(
                format!("{name}: a tick on one thread, asked: a {FASTER}th"),
                format!("{paper} ms"),
                format!("{ms:.3} ms"),
                Some(paper / ms),
                verdict,
            );
            dearest = dearest.max(100.0 * (frames / ms - 1.0));
        }
    }
    results.claim(
        "what a frame field costs",
        "about 25 % (asked: at most 3 %)",
        format!("{dearest:+.1} % at most"),
        dearest <= 3.0,
    );
    let head = [
        "model, iterations",
        "tets",
        "free",
        "threads",
        "ms without / with frames",
        "paper",
        "ratio",
        "volume off, %",
        "inverted",
    ];
    results.table("", &head, lines);
    results.note("The paper's times are of an i7-4770, one thread. Iterations are all / consolidating.");
    Ok(results)
}

/// One curve of `bench --curves`.
fn curve<'j>(
    json: &'j Value,
    bend: usize,
    stiffness: f64,
    order: &str,
    consolidating: f64,
) -> Result<&'j Value> {
    let all = rows(&json["residual"]);
    let bends: Vec<f64> = all.iter().map(|c| number(c, "/bend_degrees")).collect();
    let mut angles = bends.clone();
    angles.dedup();
    let found = all.iter().find(|c| {
        number(c, "/bend_degrees") == angles[bend.min(angles.len() - 1)]
            && (number(c, "/stiffness") - stiffness).abs() < 1e-6
            && text(c, "/order") == order
            && number(c, "/consolidating_of_ten") == consolidating
    });
    found.with_context(|| format!("no curve of {order} at stiffness {stiffness}"))
}

fn layers(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let json = lab.json(&["bench", "--curves"])?;
    for stiffness in [1.0, 0.5, 0.1] {
        let mut series = Vec::new();
        for (order, consolidating, name) in [
            ("layered", 6.0, "layered, 6 of 10 consolidating"),
            ("layered", 0.0, "layered"),
            ("unordered", 0.0, "unordered"),
        ] {
            let found = curve(&json, 0, stiffness, order, consolidating)?;
            let points = rows(&found["iterations"]).iter().zip(rows(&found["residual"]));
            series.push((
                name.to_owned(),
                points.filter_map(|(x, y)| Some((x.as_f64()?, y.as_f64()?))).collect(),
            ));
        }
        for bend in 0..3 {
            let at = |order: &str, consolidating: f64, iterations: f64| -> Result<(f64, f64)> {
                let found = curve(&json, bend, stiffness, order, consolidating)?;
                let index = rows(&found["iterations"])
                    .iter()
                    .position(|n| n.as_f64() == Some(iterations))
                    .context("no such count")?;
                Ok((number(found, "/bend_degrees"), number(&found["residual"], &format!("/{index}"))))
            };
            let ((degrees, ours), (_, theirs)) = (at("layered", 6.0, 10.0)?, at("unordered", 0.0, 50.0)?);
            let claim = format!(
                "stiffness {stiffness}, leg bent by {degrees:.0}: residual of 10 layered iterations (6 consolidating) against 50 unordered"
            );
            let words = format!("{ours:.3} against {theirs:.3} ({:+.0} %)", 100.0 * (ours / theirs - 1.0));
            let asked = if stiffness >= 0.5 {
                "the same (asked: within 10 %)"
            } else {
                "the same (nothing asked of soft flesh)"
            };
            results.claim(claim, asked, words, ours <= 1.1 * theirs);
        }
        let title = format!("Residual of a leg of 24,837 tets, stiffness {stiffness}");
        let plot = Plot { title: &title, x: "iterations", y: "mean residual", log_y: true, series };
        results.figure(
            "Bones bent at once, flesh still at rest.",
            lab.plot(&format!("residual-{stiffness}"), &plot)?,
        );
    }
    let mut lines = Vec::new();
    for row in rows(&json["fineness"]) {
        let [k, consolidating, mean, worst] =
            ["/stiffness", "/consolidating_of_ten", "/mean_percent", "/worst_percent"]
                .map(|p| number(row, p));
        let order = text(row, "/order");
        lines.push(vec![
            format!("{k:.1}"),
            format!("{order} 10/{consolidating}"),
            format!("{mean:.3}"),
            format!("{worst:.2}"),
        ]);
        if order == "layered" && consolidating == 6.0 && k >= 0.45 {
            results.claim(
                format!(
                    "stiffness {k:.1}: 3,452 and 24,837 tets give the same shape, mean over the leg's length"
                ),
                "the same (asked: within 1 %)",
                format!("{mean:.3} %, worst node {worst:.1} %"),
                mean <= 1.0,
            );
        }
    }
    results.table(
        "Skin of 3,452 tets against that of 24,837, % of the leg's length.",
        &["stiffness", "order, iterations", "mean", "worst node"],
        lines,
    );
    let mut lines = Vec::new();
    let mut comes_back = true;
    for row in rows(&json["recovery"]) {
        let pinned = row["pinned"].as_bool().unwrap_or_default();
        let (start, iterations) = (text(row, "/start"), row["iterations"].as_u64());
        let asked = pinned && (!start.contains("thrown") || start.contains("0.1"));
        comes_back &= !asked || iterations.is_some();
        lines.push(vec![
            format!("{start}, {}", if pinned { "pinned" } else { "loose" }),
            format!("{:.1}", number(row, "/stiffness")),
            iterations.map_or_else(|| format!("never: {} left", row["inverted"]), |n| n.to_string()),
            row["off_percent"].as_f64().map_or_else(String::new, |off| format!("{off:.2}")),
        ]);
    }
    results.claim("flattened, turned inside out or thrown by a tenth of its size, a pinned body comes back within 300 iterations", "recovers", if comes_back { "in all cases" } else { "see the table" }, comes_back);
    results.table(
        "From where a body comes back.",
        &["released", "stiffness", "no inverted tet after", "worst node from rest, %"],
        lines,
    );
    Ok(results)
}

/// Of the built-in limbs.
const RADIUS: f64 = 0.12;

fn joints(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let mut lines = Vec::new();
    for (name, clip, what) in [
        ("cylinder", "twist", "twist 180"),
        ("arm", "twist", "twist 180"),
        ("cylinder", "bend", "bend 150"),
        ("arm", "bend", "bend 150"),
    ] {
        let character = lab::sample(name)?;
        let motion = lab::clip(&character, clip)?;
        let deformer = lab::prepare("strain", &character, &settings_of(5000))?;
        // Held from 1.5 s on.
        let times = [moments(0.0, 1.5, 1.0 / 30.0), moments(2.0, 2.3, 0.01)].concat();
        let (mut before, mut jitter): (Vec<Vec3>, f64) = (Vec::new(), 0.0);
        let summary = lab::play(
            &character,
            deformer.as_ref(),
            &motion,
            &Watch { times: &times, crossings: false },
            &mut |index, shape: &Shape| {
                if times[index] > 2.005 {
                    jitter = jitter.max(lab::farthest(&before, &shape.positions) / RADIUS);
                }
                before.clone_from(&shape.positions);
            },
        );
        let section = summary.section.context("no sections")?;
        let volume = summary.tet_volume_error_percent.context("no flesh")?.max;
        let inverted = summary.inverted_tets_max.unwrap_or_default();
        lines.push(vec![
            format!("{name}, {what}"),
            format!("{:.3}", section.min),
            format!("{:.3}", section.max),
            format!("{volume:.2}"),
            inverted.to_string(),
            format!("{jitter:.1e}"),
        ]);
        results.claim(
            format!("{name}, {what}: section, flesh's volume, inverted tets, jitter when held"),
            "at least 0.85, within 1 %, none, none",
            format!("{:.2}, {volume:.2} %, {inverted}, {jitter:.0e} radii a tick", section.min),
            section.min >= 0.85 && volume <= 1.0 && inverted == 0 && jitter < 2e-3,
        );
    }
    results.table(
        "",
        &["limb", "smallest section", "largest", "flesh off, %", "inverted tets", "jitter, radii a tick"],
        lines,
    );
    results.figure("Half a turn of twist.", lab.arms("twist", 1.5, &["lbs", "strain"])?);
    results.figure("A bend of 150 degrees.", lab.arms("bend", 1.5, &["lbs", "strain"])?);
    Ok(results)
}

const CELLS: usize = 3;

/// How far a unit cube stretches along one of its axes when it is pulled along it, in the compliance model, converged.
fn stretched(moduli: [f64; 3], volume: f64, axis: usize) -> Result<f64> {
    let mesh = bench_block([CELLS; 3], DVec3::ZERO, DVec3::ONE)?;
    let frames = vec![Quat::IDENTITY; mesh.tets().len()];
    let pinned = vec![false; mesh.positions().len()];
    let solver = StrainSolver::new(&mesh, &pinned, Some(&frames), Order::Unordered, Path::best())?;
    let mut state = solver.state();
    state.use_compliance(true);
    solver.set_stiffness(&mut state, |tet| {
        let of = |modulus: f64| {
            if modulus > 0.0 { (1.0 / (modulus * mesh.volume_of(tet))) as f32 } else { f32::INFINITY }
        };
        let shear = of(moduli.iter().sum::<f64>() / 3.0);
        [of(moduli[0]), of(moduli[1]), of(moduli[2]), shear, shear, shear, of(volume)]
    });
    // Pulled apart at both ends by forces that are even over them: a node at an edge has half a share.
    const LOAD: f64 = 0.02;
    let end = |p: Vec3| {
        if p[axis] > 0.999 {
            1.0
        } else if p[axis] < 0.001 {
            -1.0
        } else {
            0.0
        }
    };
    let share = |p: Vec3| -> f64 {
        let across =
            (0..3).filter(|&k| k != axis).map(|k| if p[k] < 0.001 || p[k] > 0.999 { 0.5 } else { 1.0 });
        across.product::<f64>() / (CELLS * CELLS) as f64
    };
    let pull: Vec<f32> = mesh.positions().iter().map(|&p| (LOAD * end(p) * share(p)) as f32).collect();
    let mut nodes: Vec<Node> = rest_nodes(&mesh);
    nodes.iter_mut().for_each(|n| n[3] = 1.0);
    // Overdamped ticks until nothing moves.
    for _ in 0..400 {
        nodes.iter_mut().zip(&pull).for_each(|(n, f)| n[axis] += f);
        solver.solve(
            &mut state,
            &mut nodes,
            Effort { iterations: 30, consolidating: 0, mass_gain: 1.0, volume_sweeps: 0 },
        );
    }
    let mean = |side: f64| {
        let of_side: Vec<f64> = (nodes.iter().zip(mesh.positions()))
            .filter(|(_, p)| end(**p) == side)
            .map(|(n, _)| f64::from(n[axis]))
            .collect();
        of_side.iter().sum::<f64>() / of_side.len() as f64
    };
    Ok(mean(1.0) - mean(-1.0) - 1.0)
}

fn fibres(_: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    for moduli in [[2.0, 1.0, 1.0], [4.0, 1.0, 1.0], [4.0, 2.0, 1.0]] {
        let stiff =
            |i: usize, j: usize, l: usize| moduli[i] + moduli[j] * moduli[l] / (moduli[j] + moduli[l]);
        for (volume, wanted, what) in
            [(0.0, moduli[0] / moduli[1], "off"), (300.0, stiff(0, 1, 2) / stiff(1, 0, 2), "on")]
        {
            let ratio = stretched(moduli, volume, 1)? / stretched(moduli, volume, 0)?;
            results.claim(
                format!("moduli {moduli:?}, volume {what}: stretch across over stretch along"),
                format!("{wanted:.3} (within 5 %)"),
                format!("{ratio:.3}"),
                (ratio / wanted - 1.0).abs() < 0.05,
            );
        }
    }
    results.note("A cube under even loads in the compliance model, converged. With volume kept, an axis is as stiff as `k_i + k_j k_l / (k_j + k_l)`.");
    Ok(results)
}

fn pictures(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let bunny = "sample:bunny --clip run --time 0.35";
    for view in ["side", "quarter"] {
        let mut pictures = vec![lab.picture(
            &format!("bunny-lbs-{view}"),
            "lbs",
            &format!("{bunny} --method lbs --view {view}"),
        )?];
        for kind in ["isotropic", "anisotropic"] {
            let words = format!("{bunny} --view {view} --config examples/{kind}.toml");
            pictures.push(lab.picture(&format!("bunny-{kind}-{view}"), kind, &words)?);
        }
        results.figure("The paper's Figure 8: flesh that is stiff along its fibres wrinkles at the belly, and its ears flop.", pictures);
    }
    results.figure(
        "The paper's Figure 4: what bones hold, free at the joints; and the frames along the bones.",
        vec![
            lab.picture(
                "human-pins",
                "pins",
                "sample:human --clip kick --time 0.6 --method strain --show pins",
            )?,
            lab.picture("human-frames", "frames", "sample:human --method strain --show frames")?,
        ],
    );
    let far = {
        let character = lab::sample("bunny")?;
        let motion = lab::clip(&character, "run")?;
        let mut skins = Vec::new();
        for stretch in [[0.2; 3], [0.9, 0.05, 0.05]] {
            let mut settings = settings_of(8000);
            (settings.strain.stretch, settings.strain.shear) = (stretch, [0.02; 3]);
            (settings.strain.hold, settings.strain.damping) = (2.0, 8.0);
            let deformer = lab::prepare("strain", &character, &settings)?;
            let mut last = Vec::new();
            lab::play(
                &character,
                deformer.as_ref(),
                &motion,
                &Watch { times: &moments(0.0, 0.35, 0.05), crossings: false },
                &mut |_, shape: &Shape| last.clone_from(&shape.positions),
            );
            skins.push(last);
        }
        lab::farthest(&skins[0], &skins[1]) / character.diagonal()
    };
    results.claim(
        "fibres change the shape: farthest vertex between the two",
        "seen in pictures",
        format!("{:.1} % of the body", 100.0 * far),
        far > 0.01,
    );
    Ok(results)
}

fn mocap(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let rig = [
        ("--skeleton", "obj/makehuman/cmu_mb.mhskel"),
        ("--weights-file", "obj/makehuman/weights.cmu_mb.json"),
    ];
    // A name, the file, and what the command is to be given with it.
    let characters = [
        ("sample:human", None, &[][..]),
        ("CesiumMan", Some("gltf/CesiumMan.glb"), &[]),
        ("KayKit-Knight", Some("gltf/KayKit-Knight.glb"), &[]),
        ("MakeHuman", Some("obj/makehuman/base.obj"), &rig),
    ];
    // A walk, a kick and a dance.
    let clips =
        [("walk", "bvh/cmu_02_01.bvh"), ("kick", "bvh/cmu_13_11.bvh"), ("dance", "bvh/cmu_05_11.bvh")];
    let mut lines = Vec::new();
    for (name, file, beside) in characters {
        let here = |file: &str| lab.data(file).map(|p| p.to_string_lossy().into_owned());
        // The character and what belongs to it, as the command takes them; nothing where a file is missing.
        let mut words =
            Some(vec![file.map_or_else(|| name.to_owned(), |file| here(file).unwrap_or_default())]);
        for (option, file) in beside {
            words =
                words.zip(here(file)).map(|(words, file)| [words, vec![(*option).to_owned(), file]].concat());
        }
        let words = words.filter(|words| !words[0].is_empty());
        let found: Vec<_> = clips.iter().filter_map(|(what, file)| Some((*what, here(file)?))).collect();
        let Some(words) = words.filter(|_| found.len() == clips.len()) else {
            results.find(
                format!("{name} by motion capture"),
                "",
                "its files are not here",
                None,
                Verdict::NotRun,
            );
            continue;
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut pictures = Vec::new();
        let (mut inverted, mut volume) = (0.0f64, 0.0f64);
        for (what, clip) in found {
            let motion = [&words[..], &["--motion", &clip, "--method", "strain"]].concat();
            let report = lab.bake(&[&motion[..], &["--fps", "30", "--end", "4"]].concat())?;
            inverted = inverted.max(number(&report, "/inverted_tets_max"));
            volume = volume.max(number(&report, "/tet_volume_error_percent/max"));
            let ms = number(&report, "/ms_per_frame/total");
            lines.push(vec![
                format!("{name}, {what}"),
                format!("{:.0}", number(&report, "/tets")),
                format!("{:.0}", number(&report, "/frames")),
                format!("{:.2}", number(&report, "/tet_volume_error_percent/max")),
                format!("{:.0}", number(&report, "/inverted_tets_max")),
                format!("{:.2}", number(&report, "/joint_section_min")),
                format!("{ms:.1}"),
            ]);
            let slug = name.replace("sample:", "");
            let still = [&motion[..], &["--time", "2.4"]].concat();
            pictures.push(lab.picture_of(&format!("mocap-{slug}-{what}"), what, &still)?);
        }
        results.claim(
            format!("{name}: inverted tets and volume of the flesh in walk, kick and dance"),
            "none, within 1 %",
            format!("{inverted:.0}, {volume:.2} %"),
            inverted == 0.0 && volume <= 1.0,
        );
        results.figure(format!("{name} at 2.4 s."), pictures);
    }
    results.table(
        "Four seconds of each recording.",
        &[
            "character, motion",
            "tets",
            "frames",
            "flesh off, %",
            "inverted",
            "smallest section",
            "ms a frame",
        ],
        lines,
    );
    Ok(results)
}

fn memory(_: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    for across in [8, 15] {
        let half = DVec3::new(2.0, 0.5, 0.5);
        let mesh = bench_block([4 * across, across, across], -half, half)?;
        let frames = vec![Quat::IDENTITY; mesh.tets().len()];
        let pinned = vec![false; mesh.positions().len()];
        let solver = StrainSolver::new(&mesh, &pinned, Some(&frames), Order::Layered, Path::best())?;
        let bytes = (solver.bytes() + solver.state().bytes()) as f64 / mesh.tets().len() as f64;
        results.claim(
            format!("bytes a tet, a bar of {} tets with frames", mesh.tets().len()),
            "at most 250",
            format!("{bytes:.0}"),
            bytes <= 250.0,
        );
    }
    Ok(results)
}
