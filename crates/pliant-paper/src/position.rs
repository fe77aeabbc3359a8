//! Abu Rumman & Fratarcangeli 2015: linear blending on tets, then position-based dynamics.

use crate::lab::{self, Lab, Paced, Watch, moments, number, rows, settings_of, text};
use crate::plot::{Plot, short};
use crate::result::{Results, Verdict};
use crate::{Chapter, Experiment};
use anyhow::{Context, Result};
use pliant::asset::{Bone, Character};
use pliant::glam::{DVec3, Vec3};
use pliant::measure::Summary;
use pliant::method::{Place, Prediction, Preset, Region, Settings, Shape};
use pliant::rig::Pose;

pub(crate) const CHAPTER: Chapter = Chapter {
    name: "000",
    title: "000: position-based skinning",
    about: "Abu Rumman and Fratarcangeli, *Position-based skinning for soft articulated characters*, 2015: the method \
            `position`. Built-in characters of the same sizes stand in for the paper's.",
    source: include_str!("position.rs"),
    experiments: &[
        Experiment { name: "table", title: "Table 1: milliseconds a frame and volume lost", run: table },
        Experiment { name: "joints", title: "Candy wrapper and elbow", run: joints },
        Experiment { name: "prediction", title: "Where nodes start from", run: prediction },
        Experiment { name: "volume", title: "Volume through every kind of motion", run: volume },
        Experiment { name: "jiggle", title: "Jiggle that decays", run: jiggle },
        Experiment { name: "violent", title: "A violent clip", run: violent },
    ],
};

/// What the paper's text says of its largest model.
const PAPER_CONSTRAINTS: f64 = 34_000.0;
const PAPER_FPS: f64 = 72.0;

fn table(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let json = lab.json(&["bench", "--table", "--threads", "1,2"])?;
    let mut lines = Vec::new();
    let mut finest = (0.0, f64::NAN);
    for row in rows(&json) {
        let [ms, paper, loss, paper_loss] =
            ["/total_ms", "/paper_ms", "/volume_loss_percent", "/paper_volume_loss_percent"]
                .map(|p| number(row, p));
        let constraints = number(row, "/tets") + number(row, "/stretch") + number(row, "/bind");
        lines.push(vec![
            text(row, "/model").to_owned(),
            format!("{:.0}", number(row, "/vertices")),
            format!("{:.0}", number(row, "/tets")),
            format!("{constraints:.0}"),
            format!("{:.0}", number(row, "/threads")),
            format!("{:.3}", number(row, "/volume_ms")),
            format!("{:.3}", number(row, "/stretch_ms")),
            format!("{:.3}", number(row, "/bind_ms")),
            format!("{ms:.2}"),
            format!("{paper}"),
            format!("{:.1}", paper / ms),
            format!("{loss:.2}"),
            format!("{paper_loss}"),
        ]);
        if number(row, "/threads") == 1.0 {
            let name = text(row, "/model");
            let verdict = Verdict::of(paper > ms);
            results.find(
                format!("{name}: a frame"),
                format!("{paper} ms"),
                format!("{ms:.2} ms"),
                Some(paper / ms),
                verdict,
            );
            results.claim(
                format!("{name}: volume lost"),
                format!("{paper_loss} %"),
                format!("{loss:.3} %"),
                loss <= paper_loss.max(0.5),
            );
            if constraints > finest.0 {
                finest = (constraints, ms);
            }
        }
    }
    let (constraints, ms) = finest;
    results.find(
        "the largest model in real time, one thread",
        format!("{PAPER_CONSTRAINTS:.0} constraints at {PAPER_FPS} fps"),
        format!("{constraints:.0} constraints at {:.0} fps", 1000.0 / ms),
        Some(1000.0 / PAPER_FPS / ms),
        Verdict::of(1000.0 / ms > PAPER_FPS),
    );
    let head = [
        "model",
        "vertices",
        "tets",
        "constraints",
        "threads",
        "volume ms",
        "stretch ms",
        "bind ms",
        "frame ms",
        "paper ms",
        "ratio",
        "loss %",
        "paper loss %",
    ];
    results.table(
        "12 iterations, 10 ms steps. The parts are as many sweeps of one kind of constraint alone.",
        &head,
        lines,
    );
    results.note(
        "The paper's times are of a 2.5 GHz i5 laptop. A loss counts as reproduced where it is no larger than the paper's, \
         or than the 0.5 % that the paper gives as its bound.",
    );
    Ok(results)
}

/// Section and volume of a limb's clip at its worst.
fn worst(name: &str, clip: &str, method: &str, settings: &Settings, times: &[f64]) -> Result<Summary> {
    let character = lab::sample(name)?;
    let motion = lab::clip(&character, clip)?;
    lab::measure(&character, method, settings, &motion, &Watch { times, crossings: false })
}

fn joints(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let mut lines = Vec::new();
    // The samples twist by 120 and bend by 100 degrees a second, then hold: half a turn, and 120 degrees.
    for (clip, until, what) in [
        ("twist", 1.5, "twisted by 180 degrees"),
        ("bend", 1.2, "bent by 120 degrees"),
        ("bend", 1.5, "bent by 150 degrees"),
    ] {
        for name in ["cylinder", "arm"] {
            let mut found = Vec::new();
            for method in ["lbs", "dqs", "position"] {
                let summary =
                    worst(name, clip, method, &settings_of(5000), &moments(0.0, until, 1.0 / 30.0))?;
                let section = summary.section.context("no sections")?;
                let volume = summary.volume_error_percent.context("no volume")?.max;
                lines.push(vec![
                    format!("{name} {what}"),
                    method.to_owned(),
                    format!("{:.3}", section.min),
                    format!("{:.3}", section.max),
                    format!("{volume:.2}"),
                    summary.inverted_tets_max.map_or_else(String::new, |n| n.to_string()),
                ]);
                found.push((section, volume));
            }
            let [linear, ours] = [found[0].0, found[2].0];
            let claim = if clip == "twist" { "no candy wrapper" } else { "no collapse" };
            results.claim(
                format!("{name} {what}: {claim} (smallest section)"),
                format!("gone; linear blending here {:.2}", linear.min),
                format!("{:.2}", ours.min),
                ours.min >= 0.85,
            );
            if clip == "bend" {
                let [dual, ours] = [bulge(name, "dqs", until)?, bulge(name, "position", until)?];
                results.claim(
                    format!("{name} {what}: no bulge of dual quaternions (how much farther from its bones skin stands on the outside, in limb radii)"),
                    format!("gone; dual quaternions here {dual:.2}"),
                    format!("{ours:.2}"),
                    ours < dual,
                );
            }
        }
    }
    let head =
        ["limb", "method", "smallest section", "largest section", "skin volume off, %", "inverted tets"];
    results.table("Worst frame on the way.", &head, lines);
    results.note(
        "Dual quaternions hardly bulge on these limbs. Flesh that keeps its volume has to go somewhere when a joint is bent this \
         far: on the arm, whose bone lies near the outside of the bend, it rounds the elbow.",
    );
    let methods = ["lbs", "dqs", "position"];
    results.figure("Half a turn of twist.", lab.arms("twist", 1.5, &methods)?);
    results.figure("A bend of 120 degrees.", lab.arms("bend", 1.2, &methods)?);
    Ok(results)
}

/// How much farther than at rest the skin stands off its bones on the outside of a limb's bend, in limb radii.
fn bulge(name: &str, method: &str, seconds: f64) -> Result<f64> {
    let character = lab::sample(name)?;
    let motion = lab::clip(&character, "bend")?;
    let deformer = lab::prepare(method, &character, &settings_of(5000))?;
    let mut skin = Vec::new();
    let watch = Watch { times: &moments(0.0, seconds, 1.0 / 30.0), crossings: false };
    lab::play(&character, deformer.as_ref(), &motion, &watch, &mut |_, shape: &Shape| {
        skin.clone_from(&shape.positions)
    });
    Ok(stand_off(&character, &lab::pose_at(&motion, seconds), &skin))
}

fn stand_off(character: &Character, pose: &Pose, skin: &[Vec3]) -> f64 {
    let rest = character.skeleton().bones();
    let joints = character.skeleton().joints();
    let mut posed = rest.clone();
    for bone in &mut posed {
        let joint = bone.joint as usize;
        let moved = pose.world_from_joint[joint] * joints[joint].world_from_rest.inverse();
        (bone.start, bone.end) = (moved.transform_point3(bone.start), moved.transform_point3(bone.end));
    }
    // The joint that bends is where the second bone starts; outside is away from where the two ends lie.
    let elbow = posed[1].start;
    let inside = (posed[0].start + posed[1].end) / 2.0 - elbow;
    let nearest =
        |bones: &[Bone], p: DVec3| bones.iter().map(|b| b.distance(p)).fold(f64::INFINITY, f64::min);
    let (mut radii, mut near, mut most) = (0.0, 0.0, 0f64);
    for (now, before) in skin.iter().zip(&character.rest_positions()) {
        let (now, before) = (now.as_dvec3(), before.as_dvec3());
        let radius = nearest(&rest, before);
        if before.distance(rest[1].start) < 1.7 * radius {
            (radii, near) = (radii + radius, near + 1.0);
            if (now - elbow).dot(inside) < 0.0 {
                most = most.max(nearest(&posed, now) - radius);
            }
        }
    }
    most * near / radii
}

fn prediction(_: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let mut lines = Vec::new();
    let mut least = Vec::new();
    for (prediction, name) in [
        (Prediction::Advected, "carried on by the bones (default)"),
        (Prediction::Linear, "reset to linear blending, as published"),
        (Prediction::DualQuaternion, "reset to dual quaternions"),
    ] {
        let mut settings = settings_of(5000);
        settings.position.prediction = prediction;
        for (clip, what) in [("twist", "twist 180"), ("bend", "bend 150")] {
            let summary = worst("cylinder", clip, "position", &settings, &moments(0.0, 1.5, 1.0 / 30.0))?;
            let section = summary.section.context("no sections")?;
            let volume = summary.tet_volume_error_percent.context("no flesh")?.max;
            let inverted = summary.inverted_tets_max.unwrap_or_default();
            lines.push(vec![
                name.into(),
                what.into(),
                format!("{:.2}", section.min),
                format!("{volume:.2}"),
                inverted.to_string(),
            ]);
            least.push((section.min, inverted));
        }
    }
    results.claim(
        "half a turn cannot be repaired from linear blending's own places (smallest section)",
        "0.13, 97 inverted tets (a trial of the published rule)",
        format!("{:.2}, {} inverted", least[2].0, least[2].1),
        least[2].0 < 0.5,
    );
    results.claim(
        "from places carried on by the bones it can",
        "0.98, none inverted (the same trial)",
        format!("{:.2}, {} inverted", least[0].0, least[0].1),
        least[0].0 >= 0.9 && least[0].1 == 0,
    );
    results.table(
        "A cylinder of 5000 tets.",
        &["nodes start", "motion", "smallest section", "flesh off, %", "inverted tets"],
        lines,
    );
    Ok(results)
}

fn volume(lab: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let mut lines = Vec::new();
    let mut series = Vec::new();
    let shown = [
        ("human", "walk", 5000),
        ("human", "kick", 5000),
        ("human", "run", 10_500),
        ("bunny", "jump", 7800),
        ("bunny", "run", 14_000),
        ("octopus", "wave", 4300),
        ("horse", "run", 6100),
        ("torso", "wave", 4300),
    ];
    let mut most = 0f64;
    for (name, clip, tets) in shown {
        let character = lab::sample(name)?;
        let mut settings = settings_of(tets);
        if name == "bunny" {
            settings.regions.push(lab::belly(&character, Preset::Fat)?);
        }
        let motion = lab::clip(&character, clip)?;
        let end = character.clips().iter().find(|c| c.name() == clip).map_or(1.0, |c| c.end());
        let times = moments(0.0, end, 1.0 / 30.0);
        let summary = lab::measure(
            &character,
            "position",
            &settings,
            &motion,
            &Watch { times: &times, crossings: false },
        )?;
        let linear =
            lab::measure(&character, "lbs", &settings, &motion, &Watch { times: &times, crossings: false })?;
        let flesh = summary.tet_volume_error_percent.context("no flesh")?;
        let skin = summary.volume_error_percent.context("no volume")?;
        most = most.max(flesh.max);
        lines.push(vec![
            format!("{name} {clip}"),
            format!("{tets}"),
            format!("{:.3}", flesh.max),
            format!("{:.3}", flesh.mean),
            format!("{:.3}", skin.max),
            linear.volume_error_percent.map_or_else(String::new, |v| format!("{:.2}", v.max)),
            format!("{}", summary.inverted_tets_max.unwrap_or_default()),
        ]);
        let curve = summary.times.iter().zip(&summary.frames);
        let curve = curve.filter_map(|(t, f)| Some((t / end * 100.0, f.tet_volume_error_percent?)));
        series.push((format!("{name} {clip}"), curve.collect()));
    }
    results.claim(
        "volume error on every character and clip",
        "at most 0.5 %",
        format!("at most {most:.2} %"),
        most <= 0.5,
    );
    let head = [
        "motion",
        "tets asked",
        "flesh off at most, %",
        "mean, %",
        "skin off at most, %",
        "skin by lbs, %",
        "inverted",
    ];
    results.table("", &head, lines);
    let plot =
        Plot { title: "Volume of the flesh", x: "% of the clip", y: "off by, %", log_y: false, series };
    results.figure("Bellies of the bunny are soft; all else is firm.", lab.plot("volume", &plot)?);
    Ok(results)
}

fn jiggle(lab: &Lab<'_>) -> Result<Results> {
    lab.jiggle("position", &settings_of(5000))
}

fn violent(_: &Lab<'_>) -> Result<Results> {
    let mut results = Results::default();
    let mut lines = Vec::new();
    let mut is_sound = true;
    for (name, speed) in [("human", 4.0), ("octopus", 4.0), ("bunny", 4.0)] {
        let character = lab::sample(name)?;
        let mut settings = settings_of(5000);
        settings.regions.push(Region::new("all", Place::All, Preset::Fat));
        let shake = lab::clip(&character, "shake")?;
        let motion = Paced { motion: &shake, speed };
        let times = moments(0.0, 3.0, 0.02);
        let summary = lab::measure(
            &character,
            "position",
            &settings,
            &motion,
            &Watch { times: &times, crossings: false },
        )?;
        let broken = summary.frames.iter().filter(|f| f.non_finite > 0 || f.held > 0).count();
        let last = summary.frames.last().context("no frames")?;
        let left = last.jiggle_energy.unwrap_or(f64::NAN) / summary.jiggle_energy_max.unwrap_or(f64::NAN);
        is_sound &= broken == 0 && left < 0.02 && last.inverted_tets == Some(0);
        lines.push(vec![
            format!("{name}, `shake` at {speed} times its speed, all of it fat"),
            broken.to_string(),
            summary.inverted_tets_max.unwrap_or_default().to_string(),
            last.inverted_tets.unwrap_or_default().to_string(),
            short(100.0 * left),
        ]);
    }
    results.claim(
        "stable under a violent clip",
        "stable",
        if is_sound { "every frame finite, all energy lost after it" } else { "see the table" },
        is_sound,
    );
    results.table(
        "",
        &["motion", "broken frames", "inverted tets at the worst", "at the end", "energy left, % of peak"],
        lines,
    );
    Ok(results)
}
