//! Motion capture on the command line.

mod common;

use common::{edited, fails, json, pliant, refused, sample, text, works};
use std::fs;
use std::path::{Path, PathBuf};

/// A BVH of a body with other names, other units and Z up: arms out to the sides, and a few frames.
fn recording(folder: &Path, frames: usize, first: &str) -> PathBuf {
    let mut bvh = String::from(
        "HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n",
    );
    let joint = |bvh: &mut String, name: &str, at: [f64; 3]| {
        *bvh += &format!(
            "JOINT {name}\n{{\nOFFSET {} {} {}\nCHANNELS 3 Zrotation Xrotation Yrotation\n",
            at[0], at[1], at[2]
        );
    };
    let site = |bvh: &mut String, at: [f64; 3]| {
        *bvh += &format!("End Site\n{{\nOFFSET {} {} {}\n}}\n", at[0], at[1], at[2])
    };
    joint(&mut bvh, "Spine", [0.0, 0.0, 10.0]);
    joint(&mut bvh, "Spine1", [0.0, 0.0, 15.0]);
    for (side, x) in [("Left", 1.0), ("Right", -1.0)] {
        joint(&mut bvh, &format!("{side}Shoulder"), [3.0 * x, 0.0, 15.0]);
        joint(&mut bvh, &format!("{side}Arm"), [12.0 * x, 0.0, 0.0]);
        joint(&mut bvh, &format!("{side}ForeArm"), [28.0 * x, 0.0, 0.0]);
        joint(&mut bvh, &format!("{side}Hand"), [25.0 * x, 0.0, 0.0]);
        site(&mut bvh, [15.0 * x, 0.0, 0.0]);
        bvh += "}\n}\n}\n}\n";
    }
    joint(&mut bvh, "Neck", [0.0, 0.0, 22.0]);
    joint(&mut bvh, "Head", [0.0, 0.0, 10.0]);
    site(&mut bvh, [0.0, 0.0, 18.0]);
    bvh += "}\n}\n}\n}\n";
    for (side, x) in [("Left", 1.0), ("Right", -1.0)] {
        joint(&mut bvh, &format!("{side}UpLeg"), [9.0 * x, 0.0, -5.0]);
        joint(&mut bvh, &format!("{side}Leg"), [0.0, 0.0, -42.0]);
        joint(&mut bvh, &format!("{side}Foot"), [0.0, 0.0, -42.0]);
        joint(&mut bvh, &format!("{side}ToeBase"), [0.0, -14.0, -8.0]);
        site(&mut bvh, [0.0, -7.0, 0.0]);
        bvh += "}\n}\n}\n}\n";
    }
    bvh += &format!("}}\nMOTION\nFrames: {frames}\nFrame Time: 0.02\n");
    let joints = bvh.matches("JOINT").count();
    for frame in 0..frames {
        if frame == 0 && !first.is_empty() {
            bvh += first;
        } else {
            // On its way against Y, knees and elbows bending.
            bvh += &format!("0 {} 97 0 0 0", -2.0 * frame as f64);
        }
        for joint in 0..joints {
            bvh += &format!(" 0 {} 0", if frame == 0 && !first.is_empty() { 0 } else { (joint + frame) % 7 });
        }
        bvh += "\n";
    }
    let file = folder.join("take.bvh");
    fs::write(&file, bvh).unwrap();
    file
}

#[test]
fn a_recording_plays_on_a_character_by_every_method() {
    let (folder, character) = sample("human", 1500);
    let motion = recording(folder.path(), 26, "");
    let out = folder.path().join("out.glb");
    for method in ["lbs", "dqs", "position"] {
        let args = [
            "bake",
            text(&character),
            "--motion",
            text(&motion),
            "--method",
            method,
            "-o",
            text(&out),
            "--json",
        ];
        let report = json(&works(&args));
        assert_eq!(report["clip"], "take");
        assert_eq!(report["frames"], 26, "at its own rate");
        assert!((report["fps"].as_f64().unwrap() - 50.0).abs() < 1e-9);
        assert!(report["edge_stretch"]["max"].as_f64().unwrap() < 3.0);
    }
    // Start and end are the recording's, however fast it is played.
    let cut = ["--start", "0.1", "--end", "0.3", "--speed", "2"];
    let args = ["bake", text(&character), "--motion", text(&motion), "-o", text(&out), "--json"];
    let report = json(&works(&[&args[..], &cut[..]].concat()));
    assert_eq!(report["frames"], 6, "a fifth of a second in half the time, 50 a second");
    // What is written is sound, and its joints move.
    let about = json(&works(&["inspect", text(&out), "--json"]));
    assert_eq!(about["clips"][0]["name"], "take");
    let still = folder.path().join("still.png");
    works(&[
        "picture",
        text(&character),
        "--motion",
        text(&motion),
        "--time",
        "50%",
        "--size",
        "64x64",
        "-o",
        text(&still),
    ]);
}

#[test]
fn inspect_shows_what_belongs_together() {
    let (folder, character) = sample("human", 1500);
    let motion = recording(folder.path(), 26, "70 300 97 0 0 90");
    let args = ["inspect", text(&character), "--motion", text(&motion), "--json"];
    let about = json(&works(&args));
    let pairs = about["motion"]["joints"].as_array().unwrap();
    let moves = |from: &str, to: &str| pairs.iter().any(|p| p["motion"] == from && p["character"] == to);
    for (from, to) in
        [("Hips", "Hips"), ("Spine1", "Chest"), ("LeftArm", "LeftUpperArm"), ("RightLeg", "RightLowerLeg")]
    {
        assert!(moves(from, to), "{from} {to}: {pairs:?}");
    }
    assert_eq!(about["motion"]["skipped"], 1);
    let warnings = about["warnings"].to_string();
    assert!(warnings.contains("first frame is left out"), "{warnings}");
    // A map has the last word, and "" leaves a joint out.
    let map = folder.path().join("map.toml");
    fs::write(&map, "LeftArm = \"RightUpperArm\"\n\"Head\" = \"\"\n").unwrap();
    let about = json(&works(&[&args[..], &["--map", text(&map)]].concat()));
    let pairs = about["motion"]["joints"].to_string();
    assert!(pairs.contains(r#"{"character":"RightUpperArm","motion":"LeftArm"}"#), "{pairs}");
    assert_eq!(about["motion"]["unmoved"].as_array().unwrap().iter().filter(|j| *j == "Head").count(), 1);
}

/// A VRM says which joint is which bone, in a list (0.x) or by name (1.0): what its joints are called does not matter.
#[test]
fn a_vrm_tells_its_bones() {
    let (folder, character) = sample("human", 1500);
    let motion = recording(folder.path(), 26, "");
    let glb = fs::read(&character).unwrap();
    let pairs = |file: &Path| {
        let about = json(&works(&["inspect", text(file), "--motion", text(&motion), "--json"]));
        about["motion"]["joints"].as_array().unwrap().clone()
    };
    let expected = pairs(&character);
    for is_new in [false, true] {
        let vrm = edited(&glb, |about| {
            let (mut list, mut by_name) = (Vec::new(), serde_json::Map::new());
            for (node, about) in about["nodes"].as_array_mut().unwrap().iter_mut().enumerate() {
                let name = about["name"].as_str().unwrap_or_default().to_owned();
                // The standard's names are the sample's, but for the case of their first letter.
                let bone = name[..1].to_lowercase() + &name[1..];
                list.push(serde_json::json!({"bone": bone, "node": node}));
                by_name.insert(bone, serde_json::json!({"node": node}));
                about["name"] = format!("n{node}").into();
            }
            let (name, bones) = match is_new {
                true => ("VRMC_vrm", serde_json::Value::from(by_name)),
                false => ("VRM", list.into()),
            };
            about["extensions"] = serde_json::json!({name: {"humanoid": {"humanBones": bones}}});
            about["extensionsUsed"] = serde_json::json!([name]);
        });
        let file = folder.path().join("bones.vrm");
        fs::write(&file, vrm).unwrap();
        let found = pairs(&file);
        let moved = |pairs: &[serde_json::Value]| -> Vec<String> {
            pairs.iter().map(|pair| pair["motion"].to_string()).collect()
        };
        assert_eq!(moved(&found), moved(&expected), "new: {is_new}");
        assert!(found.iter().all(|pair| pair["character"].as_str().unwrap().starts_with('n')));
    }
}

#[test]
fn what_cannot_be_used_is_one_line() {
    let (folder, character) = sample("human", 1500);
    let motion = recording(folder.path(), 26, "");
    let map = folder.path().join("map.toml");
    let args = ["inspect", text(&character), "--motion", text(&motion), "--map", text(&map)];
    for (lines, parts) in [
        ("# none\nLeftAm = \"Chest\"", ["line 2", "LeftAm", "did you mean 'LeftArm'?"]),
        ("\"LeftArm\" = \"LeftUperArm\"", ["line 1", "LeftUperArm", "did you mean 'LeftUpperArm'?"]),
        ("\n\nLeftArm = 3", ["line 3", "LeftArm", "in quotes"]),
        ("LeftArm = ", ["line 1", "not TOML", ""]),
        ("LeftArm = \"Head\"\nLeftArm = \"Neck\"", ["line 2", "not TOML", "duplicate"]),
    ] {
        fs::write(&map, lines).unwrap();
        let said = refused(&args);
        assert!(parts.iter().all(|part| said.contains(part)), "{lines}: {said}");
    }
    let said = refused(&["inspect", "sample:octopus", "--motion", text(&motion)]);
    assert!(
        said.contains("too few joints") && said.contains("--map") && said.contains("'LeftArm'"),
        "{said}"
    );
    for broken in ["", "HIERARCHY", "HIERARCHY\nROOT a\n{\nOFFSET 0 0 nan\n", "no bvh at all"] {
        let file = folder.path().join("broken.bvh");
        fs::write(&file, broken).unwrap();
        refused(&["inspect", text(&character), "--motion", text(&file)]);
    }
    fails(&["inspect", text(&character), "--speed", "2"], 2);
    fails(&["inspect", text(&character), "--motion", "x.dmat"], 2);
    fails(&["inspect", text(&character), "--motion", text(&motion), "--speed", "0"], 2);
}

#[test]
fn a_body_without_units_is_as_tall_as_people_are() {
    let folder = tempfile::tempdir().unwrap();
    let motion = recording(folder.path(), 5, "");
    let out = folder.path().join("out.pc2");
    let bake = ["bake", text(&motion), "--method", "position", "-o", text(&out)];
    let said = String::from_utf8(pliant(&bake).stderr).unwrap();
    // Feet to the top of the head are some 1.8 m in centimetres, so that a unit is near to one.
    assert!(
        said.contains("1.7 m tall: a unit is 0.010 m") || said.contains("1.7 m tall: a unit is 0.009 m"),
        "{said}"
    );
    let said =
        String::from_utf8(pliant(&[&bake[..], &["--metres-per-unit", "0.01"]].concat()).stderr).unwrap();
    assert!(!said.contains("a unit is"), "{said}");
}
