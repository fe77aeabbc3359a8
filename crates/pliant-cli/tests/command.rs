//! The command as a user runs it: what it writes, what it says, how it ends.

mod common;

use common::{fails, files_in, json, pliant, refused, sample, text, works};
use pliant::asset::{Character, Clip};
use serde_json::Value;
use std::fs;
use std::process::Command;

#[test]
fn every_sample_is_listed_with_its_motions() {
    let list = works(&["sample", "--list"]);
    for name in
        ["cylinder", "arm", "leg", "torso", "human", "bunny", "octopus", "horse", "giraffe", "elephant"]
    {
        assert!(list.contains(name), "{name}");
    }
    for name in
        ["hand", "chubby", "armadillo", "bend", "twist", "walk", "run", "kick", "jump", "shake", "wave"]
    {
        assert!(list.contains(name), "{name}");
    }
}

#[test]
fn a_report_has_every_key() {
    let (folder, file) = sample("cylinder", 600);
    let out = folder.path().join("out.glb");
    let report = json(&works(&["bake", text(&file), "--clip", "bend", "-o", text(&out), "--json"]));
    for key in [
        "method",
        "weights",
        "frames",
        "vertices",
        "tets",
        "threads",
        "prepare_ms",
        "ms_per_frame",
        "volume_error_percent",
        "tet_volume_error_percent",
        "volume_error_before_overlap_percent",
        "volume_source",
        "inverted_tets_max",
        "min_det_f",
        "edge_stretch",
        "area_ratio",
        "joint_section_min",
        "joint_section_max",
        "self_intersections_max",
        "kinetic_energy_max",
        "residual_mean",
        "flagged_frames",
        "warnings",
        "per_frame",
        "state_hash",
    ] {
        assert!(report.get(key).is_some(), "{key} is missing");
    }
    for key in ["total", "skin", "solve", "embed"] {
        assert!(report["ms_per_frame"].get(key).is_some(), "ms_per_frame.{key} is missing");
    }
    assert_eq!(report["vertices"], 600);
    assert_eq!(report["volume_source"], "skin");
    assert_eq!(report["per_frame"].as_array().unwrap().len(), report["frames"].as_u64().unwrap() as usize);
    // A limb bent by 150 degrees with linear blending collapses, and the report must show it.
    assert!(report["joint_section_min"].as_f64().unwrap() < 0.9, "{}", report["joint_section_min"]);
    assert!(report["volume_error_percent"]["max"].as_f64().unwrap() > 1.0);
}

#[test]
fn dual_quaternions_cure_the_candy_wrapper() {
    let section = |method: &str| {
        let (folder, file) = sample("cylinder", 2000);
        let out = folder.path().join("out.npz");
        let report = json(&works(&[
            "bake",
            text(&file),
            "--clip",
            "twist",
            "--method",
            method,
            "-o",
            text(&out),
            "--json",
        ]));
        report["joint_section_min"].as_f64().unwrap()
    };
    let (lbs, dqs) = (section("lbs"), section("dqs"));
    assert!(lbs < 0.3, "lbs keeps a section of {lbs}");
    assert!(dqs > 0.9, "dqs keeps a section of {dqs}");
}

#[test]
fn the_rest_pose_is_measured_as_perfect() {
    let (folder, file) = sample("human", 1500);
    let out = folder.path().join("rest.npz");
    let report = json(&works(&["bake", text(&file), "--rest", "-o", text(&out), "--json"]));
    assert_eq!(report["frames"], 1);
    assert!(report["volume_error_percent"]["max"].as_f64().unwrap() < 1e-6);
    assert!((report["edge_stretch"]["max"].as_f64().unwrap() - 1.0).abs() < 1e-6);
    assert_eq!(report["self_intersections_max"]["adjacent"], 0);
    assert_eq!(report["self_intersections_max"]["other"], 0);
}

#[test]
fn threads_and_instructions_do_not_change_a_bit() {
    let (folder, file) = sample("octopus", 3000);
    let out = folder.path().join("out.npz");
    let hash = |method: &str, extra: &[&str]| {
        let mut args = vec!["bake", text(&file), "--method", method, "-o", text(&out), "--json"];
        args.extend(extra);
        json(&works(&args))["state_hash"].as_str().unwrap().to_owned()
    };
    for method in ["lbs", "dqs"] {
        let expected = hash(method, &["--threads", "1", "--simd", "scalar"]);
        for path in pliant::simd::Path::available() {
            assert_eq!(hash(method, &["--simd", path.name()]), expected, "{method} {path}");
        }
        for threads in ["2", "3", "8"] {
            assert_eq!(hash(method, &["--threads", threads]), expected, "{method} {threads} threads");
        }
    }
}

#[test]
fn a_cut_gives_the_frames_of_the_whole() {
    let (folder, file) = sample("arm", 500);
    let read = |extra: &[&str]| {
        let out = folder.path().join("out.mdd");
        let mut args = vec!["bake", text(&file), "--clip", "bend", "--fps", "20", "-o", text(&out)];
        args.extend(extra);
        works(&args);
        let bytes = fs::read(&out).unwrap();
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let (frames, points) = (number(0), number(4));
        bytes[8 + 4 * frames..].chunks(points * 12).map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let (whole, cut) = (read(&[]), read(&["--start", "0.5", "--end", "1"]));
    assert_eq!(cut.len(), 11);
    assert_eq!(cut, whole[10..=20]);
}

#[test]
fn every_format_is_written() {
    let (folder, file) = sample("cylinder", 500);
    let at = |name: &str| folder.path().join(name);
    for name in ["a.glb", "a.pc2", "a.mdd", "a.npz"] {
        works(&["bake", text(&file), "--end", "0.2", "-o", text(&at(name))]);
        assert!(fs::metadata(at(name)).unwrap().len() > 500 * 12, "{name}");
    }
    works(&["bake", text(&file), "--end", "0.2", "-o", text(&at("seq.obj"))]);
    let frames = files_in(folder.path()).iter().filter(|n| n.ends_with(".obj")).count();
    assert_eq!(frames, 7);
    works(&["bake", text(&file), "--end", "0.2", "-o", text(&at("b.glb")), "--report", text(&at("r.html"))]);
    let page = fs::read_to_string(at("r.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("data:image/png;base64,"));
    // Self-contained: nothing is fetched from anywhere.
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"));
    // All clips: one GLB, or one cache for each.
    works(&["bake", text(&file), "--clip", "all", "--fps", "5", "-o", text(&at("all.glb"))]);
    works(&["bake", text(&file), "--clip", "all", "--fps", "5", "-o", text(&at("all.npz"))]);
    for clip in ["bend", "twist", "shake"] {
        assert!(at(&format!("all-{clip}.npz")).exists(), "{clip}");
    }
}

#[test]
fn clips_of_one_name_do_not_overwrite_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut raw = pliant::zoo::character("cylinder", Some(500)).unwrap().into_raw();
    raw.clips = raw.clips.iter().map(|c| Clip::new("../walk".into(), c.channels().to_vec())).collect();
    let clips = raw.clips.len();
    let file = folder.path().join("twins.glb");
    let bytes = pliant_io::gltf::write_character(&Character::new(raw).unwrap()).unwrap();
    fs::write(&file, bytes).unwrap();
    works(&["bake", text(&file), "--clip", "all", "--fps", "2", "-o", text(&folder.path().join("out.npz"))]);
    let written = files_in(folder.path());
    assert_eq!(
        written.iter().filter(|n| n.starts_with("out-") && n.ends_with(".npz")).count(),
        clips,
        "{written:?}"
    );
}

#[test]
fn frames_of_several_clips_say_whose_they_are() {
    let (folder, file) = sample("cylinder", 500);
    let out = folder.path().join("out.glb");
    let report =
        json(&works(&["bake", text(&file), "--clip", "all", "--fps", "4", "-o", text(&out), "--json"]));
    let frames = report["per_frame"].as_array().unwrap();
    for clip in ["bend", "twist", "shake"] {
        let own: Vec<_> = frames.iter().filter(|f| f["clip"] == clip).collect();
        assert!(own.len() > 2 && own[0]["time"] == 0.0, "{clip}");
        assert!(own[0]["kinetic_energy"].is_null(), "a cut between clips is no motion");
    }
}

#[test]
fn a_baked_glb_is_a_character_that_any_tool_can_look_into() {
    let (folder, file) = sample("human", 800);
    let out = folder.path().join("out.glb");
    works(&["bake", text(&file), "--clip", "walk", "-o", text(&out)]);
    let about = json(&works(&["inspect", text(&out), "--json"]));
    assert_eq!(about["bakeable"], false);
    assert!(about["morph_targets"].as_u64().unwrap() > 10);
}

#[test]
fn pictures_are_written_in_the_size_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("p.png");
    for heat in ["none", "stretch", "volume"] {
        works(&[
            "picture",
            "sample:cylinder",
            "--clip",
            "bend",
            "--time",
            "0.5",
            "--heat",
            heat,
            "--size",
            "160x120",
            "-o",
            text(&out),
        ]);
        let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(&out).unwrap()));
        let info = decoder.read_info().unwrap().info().size();
        assert_eq!(info, (160, 120));
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    fails(&["bake", "x.glb", "-o", "y.glb", "--method", "magic"], 2);
    fails(&["bake", "x.glb", "-o", "y.fbx"], 2);
    fails(&["bake", "x.glb", "-o", "y.glb", "--report", "r.pdf"], 2);
    fails(&["bake", "x.glb"], 2);
    fails(&["frobnicate"], 2);
    fails(&["sample", "human", "-o", "x.glb", "--threads", "0"], 2);
    fails(&["sample", "human", "-o", "x.glb", "--vertices", "3"], 2);
    fails(&["sample", "human", "-o", "x.glb", "--vertices", "999999999999"], 2);
    fails(&["bake", "x.glb", "-o", "y.glb", "--fps", "0"], 2);
    fails(&["bake", "x.glb", "-o", "y.glb", "--fps", "nan"], 2);
    fails(&["bake", "x.glb", "-o", "y.glb", "--start", "1", "--end", "0.5"], 2);
    fails(&["bench", "--sizes", "0"], 2);
    fails(&["sample", "human", "-o", "x.glb", "--threads", "1,2"], 2);
    fails(&["picture", "x.glb", "-o", "p.png", "--size", "1x1"], 2);
}

#[test]
fn unusable_input_is_one_line_and_exit_code_1() {
    let (folder, file) = sample("cylinder", 500);
    let out = folder.path().join("out.glb");
    let at = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let before = files_in(folder.path());
    let said = refused(&["bake", "no-such-file.glb", "-o", text(&out)]);
    assert!(said.contains("no-such-file.glb"), "{said}");
    refused(&["bake", text(folder.path()), "-o", text(&out)]);
    let said = refused(&["bake", text(&file), "--clip", "dance", "-o", text(&out)]);
    assert!(said.contains("bend") && said.contains("twist"), "names what there is: {said}");
    refused(&["bake", text(&file), "--start", "99", "-o", text(&out)]);
    refused(&["bake", text(&file), "--fps", "100000", "-o", text(&out)]);
    refused(&["bake", text(&file), "-o", text(&folder.path().join("no/such/folder/out.glb"))]);
    let said = refused(&["sample", "humann", "-o", text(&out)]);
    assert!(said.contains("human"), "{said}");
    refused(&["inspect", "sample:nobody"]);
    assert_eq!(files_in(folder.path()), before, "nothing was written");

    let half = fs::read(&file).unwrap();
    for (name, bytes) in [
        ("empty.glb", &b""[..]),
        ("half.glb", &half[..half.len() / 2]),
        ("text.gltf", b"hello"),
        ("empty.obj", b""),
        ("text.bvh", b"HIERARCHY"),
        ("character.fbx", b"x"),
    ] {
        let bad = at(name, bytes);
        let said = refused(&["inspect", text(&bad)]);
        assert!(said.contains(name), "{said}");
        refused(&["bake", text(&bad), "-o", text(&out)]);
        refused(&["picture", text(&bad), "-o", text(&folder.path().join("p.png"))]);
    }
    assert!(!out.exists());
}

#[test]
fn what_was_there_survives_a_bake_that_fails() {
    let (folder, file) = sample("cylinder", 500);
    let out = folder.path().join("out.glb");
    fs::write(&out, b"precious").unwrap();
    let said = refused(&["bake", text(&file), "--fps", "5000", "-o", text(&out)]);
    assert!(said.contains(".pc2"), "more than 2,000 frames: names the way out: {said}");
    assert_eq!(fs::read(&out).unwrap(), b"precious");
    assert_eq!(files_in(folder.path()), ["character.glb", "out.glb"]);
}

#[test]
fn inputs_are_not_written_over() {
    let (folder, file) = sample("cylinder", 500);
    let before = fs::read(&file).unwrap();
    let said = refused(&["bake", text(&file), "--end", "0.1", "-q", "-o", text(&file)]);
    assert!(said.contains("input"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(files_in(folder.path()), ["character.glb"]);
    refused(&["bake", "sample:cylinder", "--skeleton", "x.tgf", "-o", "never.glb"]);
    // A report that cannot be written is found out before the bake, and leaves no output either.
    let out = folder.path().join("out.glb");
    refused(&["bake", text(&file), "-o", text(&out), "--report", text(&folder.path().join("no/r.json"))]);
    assert!(!out.exists());
}

#[cfg(unix)]
#[test]
fn an_interrupted_bake_leaves_nothing_behind() {
    let (folder, file) = sample("human", 20_000);
    let out = folder.path().join("out.npz");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(["bake", text(&file), "--fps", "20000", "-o", text(&out)])
        .spawn()
        .unwrap();
    let has_temporary = || files_in(folder.path()).iter().any(|n| n.starts_with(".pliant-"));
    while !has_temporary() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it began to write");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(files_in(folder.path()), ["character.glb"]);
}

#[cfg(unix)]
#[test]
fn a_terminal_that_is_gone_is_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("c.glb");
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(full) = full else { return };
    let status = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(["sample", "cylinder", "--vertices", "500", "-o", text(&out)])
        .stderr(full)
        .status()
        .unwrap();
    assert!(status.success() && out.exists());
}

#[test]
fn an_obj_wants_a_skeleton_and_a_bvh_moves_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("box.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
        .unwrap();
    fs::write(at("rig.tgf"), "1 0.1 0.1 0.1\n2 0.3 0.3 0.3\n3 0.5 0.5 0.5\n#\n1 2 1 0 0\n2 3 1 0 0\n")
        .unwrap();
    let about = json(&works(&["inspect", text(&at("box.obj")), "--json"]));
    assert_eq!((&about["vertices"], &about["bakeable"]), (&Value::from(4), &Value::from(false)));
    let said = refused(&["bake", text(&at("box.obj")), "-o", text(&at("out.glb"))]);
    assert!(said.contains("--skeleton"), "{said}");
    let obj = at("box.obj");
    let rig = at("rig.tgf");
    works(&["bake", text(&obj), "--skeleton", text(&rig), "-o", text(&at("out.glb"))]);

    let walk = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
                JOINT b\n{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n}\n\
                MOTION\nFrames: 3\nFrame Time: 0.5\n0 0 0 0 0 0 0 0 0\n0 0 0 0 0 0 45 0 0\n0 0 0 0 0 0 90 0 0\n";
    fs::write(at("walk.bvh"), walk).unwrap();
    let report = json(&works(&["bake", text(&at("walk.bvh")), "-o", text(&at("walk.glb")), "--json"]));
    assert_eq!((&report["frames"], &report["fps"]), (&Value::from(3), &Value::from(2.0)));
}

#[test]
fn bench_prints_scalar_beside_the_real_path() {
    let rows = json(&works(&["bench", "--sizes", "500", "--threads", "1", "--json"]));
    let rows = rows.as_array().unwrap();
    let of = |method: &str| rows.iter().filter(|row| row["method"] == method).count();
    assert_eq!(["lbs", "dqs", "embed"].map(of), [2; 3], "with and without normals");
    assert_eq!(of("tets"), 3, "samples");
    assert_eq!(of("position"), 1, "bars");
    assert_eq!(of("strain"), 2, "bars, without frames and with");
    assert_eq!(of("smooth"), 4, "without bulge and with, and a whole frame, with normals and without");
    assert_eq!(of("volume"), 5, "skinning; with volume, and with overlaps parted, with normals and without");
    assert_eq!(
        of("metaballs"),
        4,
        "skinning, with balls, and with overlaps parted, with normals and without"
    );
    assert_eq!(rows.len(), 25);
    for row in rows {
        for key in [
            "method",
            "vertices",
            "tets",
            "iterations",
            "threads",
            "path",
            "ms",
            "scalar_ms",
            "ratio",
            "residual",
            "state_hash",
        ] {
            assert!(row.get(key).is_some(), "{key} is missing");
        }
        assert!(row["ms"].as_f64().unwrap() > 0.0);
        let is_skin = !["tets", "position", "strain"].contains(&row["method"].as_str().unwrap());
        assert_eq!(row["ns_per_vertex"].is_number(), is_skin);
    }
}

#[test]
fn bench_projects_bars_and_bodies_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let bench = |extra: &[&str]| {
        let mut args = vec!["bench", "--method", "position", "--threads", "1,2", "--json"];
        args.extend(extra);
        json(&works(&args))
    };
    let rows = bench(&["--sizes", "600", "--save", text(folder.path())]);
    let (one, two) = (&rows[0], &rows[1]);
    assert_eq!((&one["threads"], &two["threads"]), (&Value::from(1), &Value::from(2)));
    assert_eq!((&one["iterations"], &one["tets"]), (&Value::from(12), &Value::from(594)));
    for key in ["state_hash", "residual", "vertices"] {
        assert_eq!(one[key], two[key], "{key}");
    }
    for key in ["stretch_ms", "bind_ms", "volume_ms", "scalar_ms"] {
        assert!(one[key].as_f64().unwrap() > 0.0, "{key}");
    }
    // More iterations bring the constraints nearer to rest.
    let residual = |iterations: &str| {
        let rows = bench(&["--sizes", "600", "--no-bind", "--iterations", iterations]);
        rows[0]["residual"].as_f64().unwrap()
    };
    let (few, many) = (residual("12"), residual("400"));
    assert!(many < 0.8 * few, "{few} to {many}");
    // What was saved is the same bar.
    let rest = folder.path().join("bar-594-rest.mesh");
    assert!(folder.path().join("bar-594-bent.mesh").exists());
    let read = bench(&["--body", text(&rest)]);
    assert_eq!((&read[0]["tets"], &read[0]["output"]), (&Value::from(594), &Value::from("file")));
    let near = |key: &str| (read[0][key].as_f64().unwrap() / one[key].as_f64().unwrap() - 1.0).abs();
    assert!(near("residual") < 1e-2, "{} {}", read[0]["residual"], one["residual"]);
    fails(&["bench", "--body", text(&rest), "--sizes", "100"], 2);
}

#[test]
fn completions_and_help_have_examples() {
    assert!(works(&["completions", "bash"]).contains("pliant"));
    for command in ["sample", "inspect", "bake", "compare", "picture", "tets", "bench"] {
        assert!(works(&[command, "--help"]).contains("xample"), "{command}");
    }
    assert!(String::from_utf8_lossy(&pliant(&[]).stderr).contains("pliant bake"));
}
