//! Bakes of flesh that remembers: loops, cuts, flags and how the command ends.

mod common;

use common::{fails, json, pliant, sample, text, works};
use pliant::asset::{Channel, Character, Clip, Interpolation, Target, Track};
use std::fs;
use std::path::Path;

/// The frames of an MDD, each as bytes.
fn frames(path: &Path) -> Vec<Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let (frames, points) = (number(0), number(4));
    bytes[8 + 4 * frames..].chunks(points * 12).map(<[u8]>::to_vec).collect()
}

fn numbers(frame: &[u8]) -> Vec<f32> {
    frame.as_chunks().0.iter().map(|n| f32::from_be_bytes(*n)).collect()
}

/// The largest distance of a vertex in one frame from its place in another.
fn farthest(a: &[u8], b: &[u8]) -> f32 {
    let (a, b) = (numbers(a), numbers(b));
    let square =
        |(a, b): (&[f32; 3], &[f32; 3])| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
    a.as_chunks().0.iter().zip(b.as_chunks().0).map(square).fold(0.0, f32::max).sqrt()
}

/// A body of few tets, so that a bake is quick.
fn coarse(folder: &Path, more: &str) -> String {
    let file = folder.join("coarse.toml");
    fs::write(&file, format!("[body]\ntets = 1000\n{more}")).unwrap();
    text(&file).to_owned()
}

#[test]
fn a_cut_of_flesh_gives_the_frames_of_the_whole() {
    let (folder, file) = sample("arm", 800);
    let config = coarse(folder.path(), "");
    let out = folder.path().join("out.mdd");
    let bake = |extra: &[&str]| {
        let mut args =
            vec!["bake", text(&file), "--clip", "bend", "--method", "position", "--config", &config];
        args.extend(["--fps", "25", "-o", text(&out), "--json"]);
        args.extend(extra);
        let report = json(&works(&args));
        (frames(&out), report)
    };
    let (whole, of_whole) = bake(&[]);
    let (cut, of_cut) = bake(&["--start", "0.6", "--end", "1"]);
    assert_eq!(cut.len(), 11);
    assert!(cut == whole[15..=25], "to the bit");
    // What came before the first frame counts apart, and settling in its pose too.
    let number = |report: &serde_json::Value, key: &str| report[key].as_f64().unwrap();
    assert!(number(&of_cut, "preroll_ms") > number(&of_whole, "preroll_ms"));
    assert!(number(&of_whole, "preroll_ms") > number(&of_whole["per_frame"][0]["ms"], "total"));
    assert_eq!(of_cut["per_frame"][0]["time"], 0.6);
}

#[test]
fn a_loop_ends_as_it_begins() {
    let (folder, file) = sample("human", 1500);
    let config = coarse(folder.path(), "");
    let out = folder.path().join("out.mdd");
    let bake = |method: &str, extra: &[&str]| {
        let mut args = vec!["bake", text(&file), "--clip", "run", "--method", method, "--config", &config];
        args.extend(["-o", text(&out), "--json"]);
        args.extend(extra);
        let report = json(&works(&args));
        (frames(&out), report)
    };
    let (looped, report) = bake("position", &["--loop"]);
    let cycles = report["loop"]["cycles"].as_u64().unwrap();
    assert!((1..30).contains(&cycles), "{cycles}");
    assert!(report["loop"]["closes_within"].as_f64().unwrap() < 1e-4);
    assert!(report["preroll_ms"].as_f64().unwrap() > 0.0);
    let (first, last) = (&looped[0], &looped[looped.len() - 1]);
    assert!(first == last, "to the bit");
    let steps: Vec<f32> = looped.windows(2).map(|w| farthest(&w[0], &w[1])).collect();
    let usual = steps[..steps.len() - 1].iter().fold(0.0, |m: f32, s| m.max(*s));
    assert!(steps[steps.len() - 1] <= usual, "no jump into the last frame: {steps:?}");

    let (once, report) = bake("position", &[]);
    assert!(report["loop"].is_null() && once.len() == looped.len());
    assert!(once[0] != looped[0], "the first cycle starts from rest, the one that is written does not");

    // Plain skinning has nothing to settle.
    let (plain, report) = bake("lbs", &["--loop"]);
    assert_eq!(report["loop"]["cycles"], 0);
    assert!(report["loop"]["closes_within"].as_f64().unwrap() < 1e-4);
    assert!(plain == bake("lbs", &[]).0);
}

#[test]
fn a_run_that_travels_loops_where_it_has_come_to() {
    let folder = tempfile::tempdir().unwrap();
    let mut raw = pliant::zoo::character("human", Some(1500)).unwrap().into_raw();
    let run = raw.clips.iter().find(|c| c.name() == "run").unwrap();
    let end = run.end();
    // Two metres a cycle, on top of what the hips do.
    let mut channels = run.channels().to_vec();
    let old = channels.iter().find(|c| c.target == Target::Translation(0)).cloned();
    let times: Vec<f32> = (0..=24).map(|k| (end * f64::from(k) / 24.0) as f32).collect();
    let places = times.iter().flat_map(|&t| {
        let still = raw.skeleton.joints()[0].local.to_affine().translation;
        let hips = old.as_ref().map_or(still, |c| c.track.sample_vector(t.into()));
        (hips + 2.0 * f64::from(t) / end * pliant::glam::DVec3::Z).as_vec3().to_array()
    });
    let track = Track::new(Interpolation::Linear, 3, times.clone(), places.collect()).unwrap();
    channels.push(Channel { target: Target::Translation(0), track });
    raw.clips = vec![Clip::new("run".into(), channels)];
    let file = folder.path().join("run.glb");
    let bytes = pliant_io::gltf::write_character(&Character::new(raw).unwrap()).unwrap();
    fs::write(&file, bytes).unwrap();
    let (config, out) = (coarse(folder.path(), ""), folder.path().join("out.mdd"));
    let args = ["bake", text(&file), "--method", "position", "--config", &config, "--loop", "--json"];
    let report = json(&works(&[&args[..], &["-o", text(&out)]].concat()));
    assert!(report["loop"]["closes_within"].as_f64().unwrap() < 1e-4, "{}", report["loop"]);
    assert_eq!(report["warnings"].as_array().unwrap().len(), 0);
    let baked = frames(&out);
    let (first, last) = (numbers(&baked[0]), numbers(&baked[baked.len() - 1]));
    for (a, b) in first.as_chunks::<3>().0.iter().zip(last.as_chunks::<3>().0) {
        let off = [b[0] - a[0], b[1] - a[1], b[2] - a[2] - 2.0];
        assert!(off.iter().all(|o| o.abs() < 1e-4), "{off:?}");
    }
    assert!(report["min_det_f"].as_f64().unwrap() > 0.1, "flesh is not torn at the seam");
}

#[test]
fn several_clips_loop_each_by_itself() {
    let (folder, file) = sample("human", 1500);
    let out = folder.path().join("out.mdd");
    let args = ["bake", text(&file), "--clip", "all", "--loop", "--fps", "10", "-o", text(&out), "--json"];
    let output = pliant(&args);
    assert!(output.status.success());
    let report = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(report["loop"]["cycles"], 0);
    // Clips that end elsewhere say so.
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    for clip in ["walk", "run"] {
        assert!(!said.contains(&format!("'{clip}' ends in another pose")), "{said}");
    }
    // The rate at which a clip comes out even is near the one asked for.
    let fps = report["fps"].as_f64().unwrap();
    assert!((9.0..11.0).contains(&fps), "{fps}");
}

#[test]
fn a_loop_that_jumps_says_so() {
    let (folder, file) = sample("arm", 600);
    let out = folder.path().join("out.npz");
    let output = pliant(&["bake", text(&file), "--clip", "bend", "--loop", "-o", text(&out)]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("ends in another pose"), "{said}");
    let quiet = pliant(&["bake", text(&file), "--clip", "bend", "--loop", "-q", "-o", text(&out)]);
    assert!(quiet.status.success() && quiet.stderr.is_empty());
}

#[test]
fn a_loop_is_of_a_whole_motion() {
    let (folder, file) = sample("cylinder", 500);
    let out = folder.path().join("out.npz");
    for wrong in [&["--start", "0.5"][..], &["--end", "1"], &["--rest"]] {
        let mut args = vec!["bake", text(&file), "--loop", "-o", text(&out)];
        args.extend(wrong);
        assert!(fails(&args, 2).contains("--loop"));
    }
    // Without a motion there is nothing to loop.
    let mut raw = pliant::zoo::character("cylinder", Some(500)).unwrap().into_raw();
    raw.clips.clear();
    let still = folder.path().join("still.glb");
    let character = Character::new(raw).unwrap();
    fs::write(&still, pliant_io::gltf::write_character(&character).unwrap()).unwrap();
    let output = pliant(&["bake", text(&still), "--loop", "-o", text(&out), "--json"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no motion"));
    let report = json(&String::from_utf8(output.stdout).unwrap());
    assert!(report["frames"] == 1 && report["loop"].is_null());
}

#[test]
fn frames_with_inverted_tets_are_flagged_with_or_without_a_report() {
    let (folder, file) = sample("cylinder", 600);
    // A body, and beside its bones a sliver that only the skin's weights hold: half a turn of its upper edge, and it is
    // inside out, whatever flesh would do.
    let made = folder.path().join("body.mesh");
    works(&["tets", text(&file), "--target", "500", "-o", text(&made)]);
    let mesh = fs::read_to_string(&made).unwrap();
    let mut lines: Vec<String> = mesh.lines().map(str::to_owned).collect();
    let mut add = |heading: &str, more: &dyn Fn(usize) -> Vec<String>| -> usize {
        let at = lines.iter().position(|l| l == heading).unwrap() + 1;
        let count: usize = lines[at].trim().parse().unwrap();
        let more = more(count);
        lines[at] = (count + more.len()).to_string();
        let end = at + 1 + count;
        lines.splice(end..end, more);
        count
    };
    let corners = ["-0.01 0.15 0.07 0", "0.01 0.15 0.07 0", "0 0.85 0.07 0", "0 0.85 0.08 0"];
    let nodes = add("Vertices", &|_| corners.map(str::to_owned).to_vec());
    let corners: Vec<String> = [1, 2, 4, 3].map(|k| (nodes + k).to_string()).to_vec();
    add("Tetrahedra", &|_| vec![format!("{} 0", corners.join(" "))]);
    fs::write(&made, lines.join("\n")).unwrap();
    let (out, report) = (folder.path().join("out.npz"), folder.path().join("r.json"));
    let args = ["bake", text(&file), "--clip", "twist", "--method", "strain", "--tets", text(&made)];
    let args = [&args[..], &["-o", text(&out)]].concat();
    let said = fails(&args, 3);
    assert!(
        said.contains("warning: flagged") && said.contains("inside out") && said.contains("'twist'"),
        "{said}"
    );
    assert!(out.exists(), "it is written all the same");
    assert_eq!(fails(&[&args[..], &["-q"]].concat(), 3), "");
    fails(&[&args[..], &["--report", text(&report)]].concat(), 3);
    let report = json(&fs::read_to_string(&report).unwrap());
    let flagged: Vec<u64> =
        report["flagged_frames"].as_array().unwrap().iter().map(|f| f.as_u64().unwrap()).collect();
    let inside_out = report["per_frame"].as_array().unwrap().iter().filter(|f| f["inverted_tets"] != 0);
    assert_eq!(inside_out.map(|f| f["frame"].as_u64().unwrap()).collect::<Vec<_>>(), flagged);

    // A comparison ends the same way, and says which method it is.
    let compared = folder.path().join("compared");
    let args = ["compare", text(&file), "--clip", "twist", "--methods", "lbs,strain", "--tets", text(&made)];
    let said = fails(&[&args[..], &["--frames", "1", "-o", text(&compared)]].concat(), 3);
    assert!(said.contains("warning: strain: flagged") && !said.contains("lbs: flagged"), "{said}");
    let page = fs::read_to_string(compared.join("index.html")).unwrap();
    assert!(page.contains(&format!("strain: flagged, {} of ", flagged.len())));
    assert!(!flagged.is_empty() && report["min_det_f"].as_f64().unwrap() <= 0.0);
    assert!(said.contains(&format!("{} of {} frames", flagged.len(), report["frames"])), "{said}");
    assert!(report["warnings"].as_array().unwrap().iter().any(|w| w.as_str().unwrap().contains("flagged")));
}

#[test]
fn a_report_of_flesh_tells_of_its_tets() {
    let (folder, file) = sample("arm", 800);
    let config = coarse(folder.path(), "");
    let out = folder.path().join("out.npz");
    let args = [
        "bake",
        text(&file),
        "--clip",
        "bend",
        "--fps",
        "10",
        "--config",
        &config,
        "--json",
        "-o",
        text(&out),
    ];
    let flesh = json(&works(&[&args[..], &["--method", "position"]].concat()));
    let tets = flesh["tets"].as_u64().unwrap();
    assert!((700..1300).contains(&tets), "{tets}");
    for key in ["tet_volume_error_percent", "min_det_f", "residual_mean", "tet_kinetic_energy_max"] {
        assert!(!flesh[key].is_null(), "{key}");
    }
    assert_eq!((&flesh["inverted_tets_max"], &flesh["volume_source"]), (&0.into(), &"skin".into()));
    assert!(flesh["ms_per_frame"]["solve"].as_f64().unwrap() > 0.0);
    let away = flesh["lbs_distance_max"].as_f64().unwrap();
    assert!((1e-3..0.2).contains(&away), "a bent elbow is not where plain skinning has it: {away}");
    let plain = json(&works(&args));
    assert!(plain["lbs_distance_max"].as_f64().unwrap() < 1e-6);
    for key in ["tets", "tet_volume_error_percent", "min_det_f", "residual_mean", "tet_kinetic_energy_max"] {
        assert!(plain[key].is_null(), "{key}");
    }
}

#[test]
fn given_tets_are_the_body() {
    let (folder, file) = sample("arm", 800);
    let (tets, out) = (folder.path().join("body.mesh"), folder.path().join("out.npz"));
    let made = json(&works(&["tets", text(&file), "--target", "500", "-o", text(&tets), "--json"]));
    let args = ["bake", text(&file), "--tets", text(&tets), "--end", "0.1", "-o", text(&out), "--json"];
    let output = pliant(&[&args[..], &["--method", "position"]].concat());
    let report = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(report["tets"], made["tets"]);
    assert!(output.stderr.is_empty());
    let output = pliant(&args);
    assert!(String::from_utf8_lossy(&output.stderr).contains("not used"), "plain skinning has no flesh");
}

#[test]
fn a_picture_of_flesh_is_of_the_motion_up_to_there() {
    let (folder, file) = sample("arm", 800);
    let config = coarse(folder.path(), "");
    let at = |name: &str| folder.path().join(name);
    let picture = |name: &str, extra: &[&str]| {
        let out = at(name);
        let mut args =
            vec!["picture", text(&file), "--config", &config, "--size", "120x120", "-o", text(&out)];
        args.extend(extra);
        works(&args);
        fs::read(&out).unwrap()
    };
    let bend = ["--clip", "bend", "--time", "1"];
    let flesh = picture("flesh.png", &[&bend[..], &["--method", "position"]].concat());
    assert!(flesh != picture("plain.png", &bend), "flesh is elsewhere than plain skinning has it");
    let tets = ["--show", "tets", "--method", "position"];
    let bent = picture("bent.png", &[&bend[..], &tets].concat());
    assert!(bent != picture("rest.png", &tets), "the tets move");
    fails(&["picture", text(&file), "--show", "tets", "--heat", "stretch", "-o", text(&at("p.png"))], 2);
    let said = fails(&["picture", text(&file), "--show", "tets", "--time", "1", "-o", text(&at("p.png"))], 1);
    assert!(said.contains("position"), "{said}");
}

/// Balls are told of in the report, drawn, and need no memory unless something is soft.
#[test]
fn balls_are_baked_reported_and_drawn() {
    let (folder, file) = sample("arm", 1500);
    let at = |name: &str| folder.path().join(name);
    let bake = |out: &str, extra: &[&str]| {
        let mut args = vec!["bake", text(&file), "--method", "metaballs", "--clip", "bend", "--json"];
        let out = at(out);
        args.extend(["--fps", "10", "-o", text(&out)]);
        args.extend(extra);
        json(&works(&args))
    };
    let report = bake("a.mdd", &["--threads", "1"]);
    let balls = &report["balls"];
    assert!((50..=500).contains(&balls["count"].as_u64().unwrap()), "{balls}");
    assert!(
        balls["springs"].as_u64().unwrap() > 100 && balls["coverage_percent"].as_f64().unwrap() > 90.0,
        "{balls}"
    );
    for stage in ["skin", "solve", "embed", "filter", "overlap"] {
        assert!(report["ms_per_frame"][stage].as_f64().unwrap() > 0.0, "{stage}");
    }
    assert!(report["overlap_vertices_max"].as_u64().unwrap() > 0);
    assert_eq!(report["preroll_ms"], 0.0);
    assert_eq!(bake("b.mdd", &["--threads", "2"])["state_hash"], report["state_hash"]);
    assert_ne!(bake("c.mdd", &["--preset", "jelly"])["state_hash"], report["state_hash"]);
    let config = at("muscle.toml");
    let muscle = |joint: &str| {
        let text = format!(
            "[[metaballs.muscle]]\nfrom = {{ joint = 'UpperArm' }}\nto = {{ joint = '{joint}' }}\ngain = 0.5\n"
        );
        fs::write(&config, text).unwrap();
    };
    muscle("LowerArm");
    assert_ne!(bake("d.mdd", &["--config", text(&config)])["state_hash"], report["state_hash"]);
    muscle("LowerArn");
    let none = at("e.mdd");
    let bad = ["bake", text(&file), "--method", "metaballs", "--config", text(&config), "-o", text(&none)];
    let said = fails(&bad, 1);
    assert!(said.contains("metaballs.muscle[0].to.joint") && said.contains("LowerArm"), "{said}");
    assert!(!none.exists());
    let picture = |name: &str, extra: &[&str]| {
        let out = at(name);
        let mut args =
            vec!["picture", text(&file), "--method", "metaballs", "--show", "balls", "--size", "120x120"];
        args.extend(["-q", "-o", text(&out)]);
        args.extend(extra);
        works(&args);
        fs::read(&out).unwrap()
    };
    let (rest, moved) = (picture("r.png", &[]), picture("m.png", &["--clip", "bend", "--time", "1"]));
    assert!(rest != moved && rest.len() > 500);
}
