//! The command on every real and every hostile file of the shared data set, where it is at hand.

mod common;
#[path = "../../pliant-io/tests/common/data.rs"]
mod data;

use common::shares;
use data::{data, files_below, for_all, gltf_files};
use pliant_io::rigging::{read_skeleton, skin_triangles};
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn pliant(args: &[&str]) -> Output {
    let started = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_pliant")).args(args).output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{args:?}: {said}");
    // Far beyond what a loaded machine takes: a hang, not a matter of speed.
    assert!(started.elapsed() < Duration::from_secs(600), "{args:?} took {:?}", started.elapsed());
    output
}

fn one_line(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    said
}

/// Why a file of the set may be refused: the reasons that its table gives.
fn expected_refusal(file: &Path) -> Option<&'static str> {
    let name = file.to_str()?;
    let no_skin = [
        "InterpolationTest",
        "AnimatedMorphCube",
        "SimpleSparseAccessor",
        "MeshoptCubeTest",
        "Accessor_SparseType",
        "Animation_SamplerType",
        "Kenney-character-rigid",
    ];
    if name.contains("CesiumMan-Draco") {
        return Some("Draco");
    }
    no_skin.iter().any(|n| name.contains(n)).then_some("skin")
}

#[test]
fn every_character_bakes_with_every_clip_or_is_refused_by_name() {
    let Some(data) = data() else { return };
    let mut files = gltf_files(&data.join("gltf"));
    files.extend(files_below(&data.join("bvh"), &["bvh"]));
    assert!(files.len() > 50, "{}", files.len());
    for_all(&files, |file| {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.npz");
        for method in ["lbs", "dqs"] {
            let clip: &[&str] = if has_clips(file) { &["--clip", "all"] } else { &[] };
            let mut args = vec!["bake", file.to_str().unwrap(), "--quiet", "--method", method];
            args.extend(clip);
            args.extend(["-o", out.to_str().unwrap()]);
            let output = pliant(&args);
            match expected_refusal(file) {
                None => {
                    let said = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success(), "{}: {said}", file.display());
                    assert!(std::fs::read_dir(folder.path()).unwrap().count() > 0, "{}", file.display());
                }
                Some(reason) => {
                    assert_eq!(output.status.code(), Some(1), "{}", file.display());
                    let said = one_line(&output);
                    assert!(said.contains(reason), "{}: {said}", file.display());
                    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{}", file.display());
                }
            }
        }
    });
}

fn has_clips(file: &Path) -> bool {
    let output = pliant(&["inspect", file.to_str().unwrap(), "--json"]);
    let about: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    about["clips"].as_array().is_some_and(|c| !c.is_empty())
        || about["frames"].as_u64().is_some_and(|n| n > 0)
}

#[test]
fn every_obj_with_a_skeleton_bakes() {
    let Some(data) = data() else { return };
    let obj = data.join("obj");
    let rigs = [
        ("libigl/arm.obj", "libigl/arm.tgf", Some("libigl/arm-weights.dmat")),
        ("libigl/arm.obj", "libigl/arm.tgf", None),
        ("libigl/elephant.obj", "libigl/elephant.tgf", Some("libigl/elephant-weights.dmat")),
        ("makehuman/base.obj", "makehuman/default.mhskel", Some("makehuman/default_weights.mhw")),
        ("makehuman/base.obj", "makehuman/cmu_mb.mhskel", Some("makehuman/weights.cmu_mb.json")),
        ("makehuman/base.obj", "makehuman/cmu_mb.mhskel", None),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (mesh, skeleton, weights) in rigs {
        let [mesh, skeleton] = [mesh, skeleton].map(|f| obj.join(f).to_str().unwrap().to_owned());
        let weights = weights.map(|w| obj.join(w).to_str().unwrap().to_owned());
        for method in ["lbs", "dqs"] {
            for out in ["out.glb", "out.npz"].map(|o| folder.path().join(o)) {
                let mut args = vec!["bake", &mesh, "--skeleton", &skeleton, "--quiet", "--method", method];
                if let Some(weights) = &weights {
                    args.extend(["--weights-file", weights]);
                }
                args.extend(["-o", out.to_str().unwrap()]);
                let output = pliant(&args);
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{args:?}: {said}");
                assert!(out.exists(), "{args:?}");
            }
        }
    }
}

#[test]
fn every_skin_with_flesh_gets_a_body() {
    let Some(data) = data() else { return };
    let mut files = gltf_files(&data.join("gltf"));
    files.extend(files_below(&data.join("obj"), &["obj"]));
    files.retain(|file| expected_refusal(file).is_none());
    // Flat on purpose: they show a feature of glTF, not a body.
    let flat = |file: &Path| {
        let name = file.to_str().unwrap_or_default();
        ["Animation_Skin", "SimpleSkin", "quad_skin", "shape_key_skinned"].iter().any(|n| name.contains(n))
    };
    assert!(files.iter().filter(|f| !flat(f)).count() > 20);
    for_all(&files, |file| {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("body.vtu");
        let name = file.to_str().unwrap();
        let output =
            pliant(&["tets", name, "--target", "2000", "--quiet", "--json", "-o", out.to_str().unwrap()]);
        if !output.status.success() {
            assert!(flat(file) && output.status.code() == Some(1), "{name}: {output:?}");
            assert!(one_line(&output).contains("no volume"), "{name}");
            assert!(!out.exists(), "{name}");
            return;
        }
        let about: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(out.exists() && about["inverted_tets"] == 0, "{name}: {about}");
        assert!(about["dihedral"]["min"].as_f64().unwrap() > 5.0, "{name}: {about}");
    });
}

/// A report of a bake, which must not have flagged a frame.
fn report(args: &[&str]) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.npz");
    let output = pliant(&[&["bake", "--json", "--quiet", "-o", out.to_str().unwrap()], args].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(report: &serde_json::Value, pointer: &str) -> f64 {
    report.pointer(pointer).and_then(serde_json::Value::as_f64).unwrap()
}

/// The quickest second of a dance and of a run, and steps that press a stout figure's arms into its sides, on four
/// characters of other proportions and names.
#[test]
fn recordings_drive_flesh_on_real_characters() {
    let Some(data) = data() else { return };
    let at = |name: &str| data.join(name).to_str().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let human = folder.path().join("human.glb").to_str().unwrap().to_owned();
    assert!(pliant(&["sample", "human", "--quiet", "-o", &human]).status.success());
    let makehuman =
        ["obj/makehuman/base.obj", "obj/makehuman/default.mhskel", "obj/makehuman/default_weights.mhw"]
            .map(at);
    let [mesh, skeleton, weights] = makehuman.each_ref().map(String::as_str);
    let (cesium, knight) = (at("gltf/CesiumMan.glb"), at("gltf/KayKit-Knight.glb"));
    let characters: [Vec<&str>; 4] = [
        vec![&human],
        vec![&cesium],
        vec![&knight],
        vec![mesh, "--skeleton", skeleton, "--weights-file", weights],
    ];
    let [dance, run, walk] =
        ["cmu_05_11", "cmu_09_01", "cmu_02_01"].map(|name| at(&format!("bvh/{name}.bvh")));
    let clips = [(&dance, "2.0", "3.0"), (&run, "0.2", "1.2"), (&walk, "1.9", "2.2")];
    let all: Vec<_> = characters.iter().flat_map(|c| clips.map(|clip| (c, clip))).collect();
    for_all(&all, |(character, (motion, start, end))| {
        let how = ["--method", "strain", "--motion", motion, "--start", start, "--end", end, "--fps", "30"];
        let report = report(&[&character[..], &how[..]].concat());
        let what = format!("{} {motion}", character[0]);
        assert_eq!(report["inverted_tets_max"], 0, "{what}");
        let volume = number(&report, "/tet_volume_error_percent/max");
        assert!(volume < 1.0, "{what}: {volume} %");
        let away = number(&report, "/lbs_distance_max");
        assert!(away < 0.2, "{what}: a vertex is {away} of the body from where weights have it");
        // It is the recording that moves it: a second of quick motion, none of it lost on the way.
        assert!(number(&report, "/kinetic_energy_max") > 0.0, "{what}");
    });
}

/// A stout figure's arms are stuck into its trunk: as one flesh with it, sleeves and collar crumple where they are pressed
/// together.
#[test]
fn a_knights_sleeves_keep_their_shape() {
    let Some(data) = data() else { return };
    let at = |name: &str| data.join(name).to_str().unwrap().to_owned();
    let (knight, dance) = (at("gltf/KayKit-Knight.glb"), at("bvh/rokoko_jesse_dance.bvh"));
    for method in ["strain", "position"] {
        let how = ["--method", method, "--motion", &dance, "--start", "2.0", "--end", "3.0", "--fps", "30"];
        let report = report(&[&[&knight[..]], &how[..]].concat());
        let section = number(&report, "/joint_section_min");
        assert!(section > 0.5, "{method}: a section is {section} of what it was");
        let volume = number(&report, "/volume_error_percent/max");
        assert!(volume < 0.5, "{method}: {volume} %");
    }
    // The body that the method has is the one that is shown.
    let folder = tempfile::tempdir().unwrap();
    let picture = |more: &[&str]| {
        let out = folder.path().join("tets.png");
        let args = ["picture", &knight, "--show", "tets", "--size", "100x100", "--quiet", "-o"];
        assert!(pliant(&[&args[..], &[out.to_str().unwrap()], more].concat()).status.success());
        std::fs::read(out).unwrap()
    };
    assert_ne!(picture(&[]), picture(&["--method", "strain"]));
    assert_eq!(picture(&["--method", "position"]), picture(&["--method", "strain"]));
    assert_eq!(picture(&[]), picture(&["--method", "lbs"]));
}

/// All toes of a foot are in a few tets, some in two at once: none lags behind the others in a run.
#[test]
fn a_runners_toes_stay_together() {
    let Some(data) = data() else { return };
    let at = |name: &str| data.join(name).to_str().unwrap().to_owned();
    let makehuman =
        ["base.obj", "cmu_mb.mhskel", "weights.cmu_mb.json"].map(|f| at(&format!("obj/makehuman/{f}")));
    let [mesh, skeleton, weights] = makehuman.each_ref().map(String::as_str);
    let run = at("bvh/cmu_09_01.bvh");
    let report = report(&[
        mesh,
        "--skeleton",
        skeleton,
        "--weights-file",
        weights,
        "--method",
        "strain",
        "--motion",
        &run,
        "--start",
        "0.2",
        "--end",
        "1.2",
        "--fps",
        "30",
    ]);
    let stretch = number(&report, "/edge_stretch/max");
    assert!(stretch < 12.0, "an edge is {stretch} times as long as it was");
}

/// Dozens of hands, the smallest far finer than the body's cells: they stay apart.
#[test]
fn limbs_finer_than_the_body_go_by_their_weights() {
    let Some(data) = data() else { return };
    let file = data.join("gltf/RecursiveSkeletons.glb");
    for method in ["position", "strain"] {
        let report = report(&[file.to_str().unwrap(), "--method", method, "--start", "0.8", "--end", "1.2"]);
        let away = number(&report, "/lbs_distance_max");
        assert!(away < 0.1, "{method}: {away}");
        assert_eq!(report["inverted_tets_max"], 0, "{method}");
    }
}

#[test]
fn makehuman_without_weights_walks_on_two_legs() {
    let Some(data) = data() else { return };
    let at = |name: &str| data.join("obj/makehuman").join(name);
    let (obj, rig) = (at("base.obj"), at("cmu_mb.mhskel"));
    let mesh = pliant_io::obj::read(&std::fs::read(&obj).unwrap()).unwrap();
    let skeleton = read_skeleton("mhskel", &std::fs::read(&rig).unwrap(), &mesh).unwrap().skeleton;
    let joint = |name: &str| skeleton.joints().iter().position(|j| j.name == name).unwrap();
    let left = ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"].map(joint);
    // Vertices of the right leg, from a third down the thigh on, where the legs part.
    let height = |joint: usize| skeleton.joints()[joint].world_from_rest.translation.y as f32;
    let from = 0.7 * height(left[0]) + 0.3 * height(left[1]);
    let mut right: Vec<u32> = skin_triangles(&mesh, &mut Vec::new()).into_flattened();
    right.retain(|&v| mesh.positions[v as usize].y < from && mesh.positions[v as usize].x < 0.0);
    let bleed = |weights: &[&str]| {
        let shares = shares(&obj, &rig, skeleton.len(), &left, weights);
        right.iter().map(|&v| shares[v as usize]).fold(0.0, f32::max)
    };
    for weights in [&[][..], &["--weights", "segment"]] {
        let bleed = bleed(weights);
        assert!(bleed < 0.001, "{weights:?}: the left leg pulls the right one by {bleed}");
    }
    let straight = bleed(&["--weights", "distance"]);
    assert!(straight > 0.02, "in straight lines it does, which is what this is about: {straight}");
}

#[test]
fn the_elephant_walks_by_its_own_matrices() {
    let Some(data) = data() else { return };
    let at = |name: &str| data.join("obj/libigl").join(name).to_str().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("elephant.glb");
    let (mesh, skeleton) = (at("elephant.obj"), at("elephant.tgf"));
    let (weights, motion) = (at("elephant-weights.dmat"), at("elephant-anim.dmat"));
    let output = pliant(&[
        "bake",
        &mesh,
        "--skeleton",
        &skeleton,
        "--weights-file",
        &weights,
        "--motion",
        &motion,
        "--quiet",
        "-o",
        out.to_str().unwrap(),
        "--end",
        "2",
        "--json",
    ]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["frames"], 61);
    // It walks, and linear blending with good weights keeps most of its volume.
    assert!(report["kinetic_energy_max"].as_f64().unwrap() > 1e-4);
    assert!(report["volume_error_percent"]["max"].as_f64().unwrap() < 10.0);
}

#[test]
fn nothing_bad_panics_hangs_or_leaves_a_file() {
    let Some(data) = data() else { return };
    let files = files_below(&data.join("bad"), &["glb", "gltf", "vrm", "obj"]);
    assert!(files.len() > 120, "{}", files.len());
    for_all(&files, |file| {
        let name = file.to_str().unwrap();
        let inspected = pliant(&["inspect", name, "--json"]);
        match inspected.status.code() {
            Some(0) => {
                assert!(serde_json::from_slice::<serde_json::Value>(&inspected.stdout).is_ok(), "{name}")
            }
            Some(1) => assert!(one_line(&inspected).starts_with("error: "), "{name}"),
            other => panic!("{name}: exit code {other:?}"),
        }
        let folder = tempfile::tempdir().unwrap();
        let body = folder.path().join("body.mesh");
        let meshed = pliant(&["tets", name, "--target", "500", "--quiet", "-o", body.to_str().unwrap()]);
        if meshed.status.success() {
            std::fs::remove_file(&body).unwrap();
        } else {
            assert_eq!(meshed.status.code(), Some(1), "{name}");
            one_line(&meshed);
        }
        let out = folder.path().join("out.glb");
        let baked = pliant(&["bake", name, "--quiet", "-o", out.to_str().unwrap()]);
        if baked.status.success() {
            assert!(inspected.status.success(), "{name}: bakes, but is not valid");
        } else {
            assert_eq!(baked.status.code(), Some(1), "{name}");
            one_line(&baked);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");
        }
    });
}
