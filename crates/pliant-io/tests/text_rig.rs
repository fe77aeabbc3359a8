//! Surfaces with skeletons and weights from other files.

mod text_data;

use pliant::asset::Character;
use pliant::glam::{DAffine3, DVec3};
use pliant::rig::Pose;
use pliant_io::obj::{self, ObjMesh};
use pliant_io::rigging::{Rig, Rigged, assemble, dmat, read_skeleton, read_weights};
use proptest::prelude::*;
use std::path::Path;
use text_data::data::data;
use text_data::{Random, broken};

fn bytes(folder: &Path, file: &str) -> Vec<u8> {
    std::fs::read(folder.join("obj").join(file)).unwrap()
}

/// A bar along x, of quads around it.
fn bar() -> ObjMesh {
    let mut text = String::new();
    for i in 0..9 {
        for (y, z) in [(-1, -1), (1, -1), (1, 1), (-1, 1)] {
            text.push_str(&format!("v {} {y} {z}\n", i));
        }
    }
    for i in 0..8 {
        for k in 0..4 {
            let (a, b) = (4 * i + k + 1, 4 * i + (k + 1) % 4 + 1);
            text.push_str(&format!("f {a} {b} {} {}\n", b + 4, a + 4));
        }
    }
    text.push_str("f 4 3 2 1\nf 33 34 35 36\n");
    obj::read(text.as_bytes()).unwrap()
}

fn load(folder: &Path, surface: &str, skeleton: &str, weights: Option<&str>) -> (ObjMesh, Rig, Rigged) {
    let mesh = obj::read(&bytes(folder, surface)).unwrap();
    let rig = read_skeleton(skeleton, &bytes(folder, skeleton), &mesh)
        .unwrap_or_else(|e| panic!("{skeleton}: {e}"));
    let given = weights.map(|file| {
        read_weights(file, &bytes(folder, file), &mesh, &rig).unwrap_or_else(|e| panic!("{file}: {e}"))
    });
    let rigged = assemble(&mesh, rig.clone(), given.as_ref()).unwrap_or_else(|e| panic!("{surface}: {e}"));
    (mesh, rig, rigged)
}

fn sums_to_one(character: &Character) {
    for v in 0..character.weights().vertex_count() {
        let sum: f32 = character.weights().of(v).map(|e| e.1).sum();
        assert!((sum - 1.0).abs() < 1e-5, "vertex {v}: {sum}");
    }
}

/// At rest every skin matrix is the identity: bind and default pose agree.
fn rests(character: &Character) {
    let pose = Pose::sample(character, None, 0.0);
    let size = character.diagonal();
    for slot in character.slots() {
        let skin = pose.world_from_joint[slot.joint as usize] * slot.joint_from_rest;
        assert!(skin.abs_diff_eq(DAffine3::IDENTITY, 1e-12 * (1.0 + size)));
    }
}

fn count(rigged: &Rigged, what: &str) -> usize {
    rigged.warnings.iter().filter(|w| w.what.contains(what)).map(|w| w.count).sum()
}

const LIMB: &str = "1 0 0 0\n2 4 0 0\n3 8 0 0\n#\n1 2\n2 3\n#\n";

#[test]
fn tgf_edges_are_joints_at_their_start() {
    // As in files where a handle has several bones: listed children first, with flags, and a handle apart.
    let text = "1 0 0 0 junk\n2 1 0 0\n3 2 1 0\n4 2 -1 0\n7 9 9 9\n#\n2 3 1 0 0\n2 4 1 0 0\n1 2 1 0 0\n3 4 0 0 1\n#\n";
    let rig = read_skeleton("x.TGF", text.as_bytes(), &bar()).unwrap();
    let joints = rig.skeleton.joints();
    let names: Vec<&str> = rig.columns.iter().map(|&c| joints[c as usize].name.as_str()).collect();
    assert_eq!(names, ["7", "2-3", "2-4", "1-2"]);
    assert_eq!(rig.warnings[0].count, 1);
    let at = |name: &str| joints.iter().position(|j| j.name == name).unwrap();
    assert_eq!(joints[at("2-3")].parent, Some(at("1-2") as u32));
    assert_eq!(joints[at("2-4")].parent, Some(at("1-2") as u32));
    for (bone, ends) in [
        ("1-2", [[0.0, 0.0], [1.0, 0.0]]),
        ("2-3", [[1.0, 0.0], [2.0, 1.0]]),
        ("2-4", [[1.0, 0.0], [2.0, -1.0]]),
    ] {
        let [start, end] = ends.map(|[x, y]| DVec3::new(x, y, 0.0));
        let mut bones = rig.skeleton.bones();
        bones.retain(|b| b.joint as usize == at(bone));
        assert!(
            !bones.is_empty() && bones.iter().all(|b| (b.start, b.end) == (start, end)),
            "{bone} {bones:?}"
        );
    }
}

#[test]
fn wrong_skeletons_and_weights_are_refused_with_the_place() {
    let mesh = bar();
    let skeleton =
        |name: &str, text: &str| read_skeleton(name, text.as_bytes(), &mesh).unwrap_err().to_string();
    for (text, what) in [
        ("", "no handles"),
        ("1 0 0\n#\n", "line 1: a handle needs"),
        ("1 0 0 nan\n#\n", "line 1: \"nan\""),
        ("1 0 0 0\n1 0 0 0\n#\n", "line 2: handle 1 is there twice"),
        ("1 0 0 0\n2 1 0 0\n#\n1 3\n", "line 4: there is no handle 3"),
        ("1 0 0 0\n2 1 0 0\n#\n1\n", "line 4: an edge needs"),
        ("1 0 0 0\n2 1 0 0\n#\n1 1\n", "line 4: an edge goes"),
        ("1 0 0 0\n2 1 0 0\n3 1 1 0\n#\n1 2\n2 3\n3 1\n", "line 5: the bones go round"),
        ("1.5 0 0 0\n#\n", "line 1: \"1.5\" is not the number"),
    ] {
        assert!(skeleton("a.tgf", text).contains(what), "{text:?}: {}", skeleton("a.tgf", text));
    }
    for (text, what) in [
        ("{", "line 1, column 1: EOF"),
        ("{\"bones\": {}, \"joints\": {}}", "no bones"),
        (
            "{\"bones\": {\"a\": {\"head\": \"h\", \"tail\": \"t\"}}, \"joints\": {\"h\": [0], \"t\": []}}",
            "joints.t: no vertices",
        ),
        (
            "{\"bones\": {\"a\": {\"head\": \"h\", \"tail\": \"h\"}}, \"joints\": {\"h\": [99]}}",
            "joints.h: vertex 99",
        ),
        (
            "{\"bones\": {\"a\": {\"head\": \"h\", \"tail\": \"h\", \"parent\": \"b\"}}, \"joints\": {\"h\": [1]}}",
            "bones.a.parent: there is no bone \"b\"",
        ),
        (
            "{\"bones\": {\"a\": {\"head\": \"h\", \"tail\": \"h\", \"parent\": \"a\"}}, \"joints\": {\"h\": [1]}}",
            "in a circle",
        ),
    ] {
        assert!(skeleton("a.mhskel", text).contains(what), "{text:?}: {}", skeleton("a.mhskel", text));
    }
    assert!(skeleton("a.fbx", "").contains("\".fbx\"") && skeleton("noext", "").contains(".tgf, .bvh"));

    let rig = read_skeleton("tgf", LIMB.as_bytes(), &mesh).unwrap();
    let weights = |name: &str, text: &[u8]| read_weights(name, text, &mesh, &rig).unwrap_err().to_string();
    for (text, what) in [
        (&b""[..], "two counts"),
        (b"2 36\n1 2 3", "more than the file holds"),
        (b"2 2\n1 2 3 \n", "ends after 3 of 4"),
        (b"2 2\n1 2 x 4\n", "line 2: \"x\""),
        (b"1 2\n0.5 0.5\n", "2 rows and 1 columns"),
        (b"99999999999 99999999999\n", "not a count"),
        (b"4294967295 4294967295\n1", "more than the file holds"),
        (b"0 0\n4294967295 4294967295\nxxxxxxxx", "only 8 bytes"),
        (b"0 0\n1 1\n\0\0\0\0\0\0\xf0\x7f", "column 1, row 1: the number is inf"),
        (b"-1 2\n", "not a count"),
    ] {
        assert!(weights("w.dmat", text).contains(what), "{text:?}: {}", weights("w.dmat", text));
    }
    let negative = format!("2 36\n{}", "-0.5\n".repeat(72));
    assert!(weights("w.dmat", negative.as_bytes()).contains("vertex 1, joint 0: the weight -0.5"));
    for (text, what) in [
        ("{\"weights\": {\"1-2\": [[36, 1.0]]}}", "weights.1-2[0]: vertex 36"),
        ("{\"weights\": {\"1-2\": [[3, -1.0]]}}", "weights.1-2[0]: the weight -1"),
        ("{\"weights\": {\"other\": [[3, 1.0]]}}", "no bone of the skeleton"),
        ("{\"weights\": {\"1-2\": [[-3, 1.0]]}}", "line 1"),
        ("[]", "line 1"),
    ] {
        assert!(
            weights("w.json", text.as_bytes()).contains(what),
            "{text}: {}",
            weights("w.json", text.as_bytes())
        );
    }
}

#[test]
fn weights_are_mended_with_a_count() {
    let mesh = bar();
    let rig = read_skeleton("tgf", LIMB.as_bytes(), &mesh).unwrap();
    let entries: Vec<String> =
        (0..32).map(|v| format!("[{v}, {}]", if v < 10 { 0.5 } else { 1.0 })).collect();
    let text = format!("{{\"weights\": {{\"1-2\": [{}], \"nowhere\": [[1, 1]]}}}}", entries.join(","));
    let given = read_weights("w.mhw", text.as_bytes(), &mesh, &rig).unwrap();
    let rigged = assemble(&mesh, rig, Some(&given)).unwrap();
    assert_eq!(count(&rigged, "sum to one"), 10);
    assert_eq!(count(&rigged, "nearest bone"), 4);
    assert_eq!(count(&rigged, "not in the skeleton"), 1);
    // The last four vertices are at the far end: the second bone takes them.
    assert!((32..36).all(|v| rigged.character.weights().of(v).collect::<Vec<_>>() == [(1, 1.0)]));
    sums_to_one(&rigged.character);
}

#[test]
fn helper_faces_are_left_out_beside_a_body() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\ng body\nf 1 2 3\ng helper-skirt\nf 1 2 4\ng joint-hip\nf 2 3 4\n";
    let rigged = |text: &str| {
        let mesh = obj::read(text.as_bytes()).unwrap();
        assemble(&mesh, read_skeleton("tgf", LIMB.as_bytes(), &mesh).unwrap(), None).unwrap()
    };
    let helped = rigged(text);
    assert_eq!(helped.character.surface().triangles(), [[0, 1, 2]]);
    assert_eq!(helped.character.surface().positions().len(), 4);
    assert_eq!(count(&helped, "helper or joint group"), 2);
    let plain = rigged(&text.replace("helper-skirt", "skirt").replace("joint-hip", "hip"));
    assert_eq!(plain.character.surface().triangles().len(), 3);
}

#[test]
fn libigl_characters_come_with_their_weights() {
    let Some(data) = data() else { return };
    for (name, bones) in [("arm", 4), ("elephant", 24)] {
        let [surface, skeleton, weights] =
            [".obj", ".tgf", "-weights.dmat"].map(|end| format!("libigl/{name}{end}"));
        let (mesh, rig, rigged) = load(&data, &surface, &skeleton, Some(&weights));
        let character = &rigged.character;
        assert_eq!((rig.columns.len(), character.slots().len()), (bones, bones), "{name}");
        assert_eq!(character.surface().positions(), mesh.positions);
        assert_eq!(
            (count(&rigged, "sum to one"), count(&rigged, "nearest bone")),
            (0, 0),
            "{:?}",
            rigged.warnings
        );
        sums_to_one(character);
        rests(character);
        // The columns are in the right order: the flesh of a bone lies about its middle, nearer than with the columns
        // shifted.
        let mut flesh = vec![(DVec3::ZERO, 0.0); bones];
        for (v, p) in mesh.positions.iter().enumerate() {
            for (slot, weight) in character.weights().of(v) {
                flesh[slot as usize].0 += p.as_dvec3() * f64::from(weight);
                flesh[slot as usize].1 += f64::from(weight);
            }
        }
        let all = character.skeleton().bones();
        let middle =
            |joint: u32| all.iter().find(|b| b.joint == joint).map(|b| (b.start + b.end) / 2.0).unwrap();
        let column_of = |joint: u32| rig.columns.iter().position(|&c| c == joint).unwrap();
        let total = |shift: usize| -> f64 {
            let slots = character.slots().iter().zip(&flesh);
            let apart = slots.map(|(slot, (sum, weight))| {
                let joint = rig.columns[(column_of(slot.joint) + shift) % bones];
                (*sum / *weight).distance(middle(joint))
            });
            apart.sum()
        };
        assert!((1..bones).all(|shift| total(shift) > 2.0 * total(0)), "{name}: {}", total(0));
    }
}

#[test]
fn the_elephant_moves_as_its_matrices_say() {
    let Some(data) = data() else { return };
    let (_, rig, rigged) =
        load(&data, "libigl/elephant.obj", "libigl/elephant.tgf", Some("libigl/elephant-weights.dmat"));
    let file = bytes(&data, "libigl/elephant-anim.dmat");
    let clip = dmat::read_clip(&file, &rig, 30.0).unwrap();
    let matrix = dmat::read(&file).unwrap();
    assert_eq!((matrix.rows, matrix.columns), (288, 457));
    assert!((clip.end() - 456.0 / 30.0).abs() < 1e-12);
    let character = &rigged.character;
    let size = character.diagonal();
    let mut worst = 0.0f64;
    for frame in 0..457 {
        let pose = Pose::sample(character, Some(&clip), frame as f64 / 30.0);
        let column = &matrix.values[288 * frame..288 * (frame + 1)];
        for (bone, &joint) in rig.columns.iter().enumerate() {
            let slot = character.slots().iter().find(|s| s.joint == joint).unwrap();
            let skin = pose.world_from_joint[joint as usize] * slot.joint_from_rest;
            // Where the bone's start goes, by the file's numbers.
            let p = character.skeleton().rest_position(joint) + DVec3::new(0.1, 0.2, 0.3) * size;
            let expected = DVec3::from_array([0, 1, 2].map(|row| {
                let e = &column[96 * row + 4 * bone..][..4];
                e[0] * p.x + e[1] * p.y + e[2] * p.z + e[3]
            }));
            worst = worst.max(skin.transform_point3(p).distance(expected) / size);
        }
    }
    println!("elephant: {worst:.1e}");
    assert!(worst < 1e-6, "{worst}");
    assert!(dmat::read_clip(&file, &rig, 0.0).is_err());
    let mesh = bar();
    let other = read_skeleton("tgf", LIMB.as_bytes(), &mesh).unwrap();
    assert!(dmat::read_clip(&file, &other, 30.0).unwrap_err().to_string().contains("288 rows"));
}

#[test]
fn makehuman_characters_come_with_their_weights() {
    let Some(data) = data() else { return };
    for (skeleton, weights, joints) in
        [("default.mhskel", "default_weights.mhw", 163), ("cmu_mb.mhskel", "weights.cmu_mb.json", 31)]
    {
        let (mesh, _, rigged) = load(
            &data,
            "makehuman/base.obj",
            &format!("makehuman/{skeleton}"),
            Some(&format!("makehuman/{weights}")),
        );
        let character = &rigged.character;
        assert_eq!(character.skeleton().len(), joints);
        assert_eq!(character.surface().positions(), mesh.positions);
        sums_to_one(character);
        rests(character);
        let dropped = count(&rigged, "helper or joint group");
        assert_eq!(dropped + character.surface().triangles().len(), 36972);
        assert!(dropped > 1000);
        println!("{skeleton}: {:?}", rigged.warnings);
        // README: sums of the default weights are off by up to 0.679, those of the other by up to 1e-4.
        assert_eq!(count(&rigged, "sum to one") > 0, skeleton.starts_with("default"));
        // The skeleton is inside the body: hands far out on both sides, the head on top.
        let at = |name: &str| {
            let joint = character.skeleton().joints().iter().position(|j| j.name == name).unwrap();
            character.skeleton().rest_position(joint as u32)
        };
        let (left, right, head) =
            if joints == 31 { ("LeftHand", "RightHand", "Head") } else { ("wrist.L", "wrist.R", "head") };
        assert!((at(left) + at(right) * DVec3::new(1.0, -1.0, -1.0)).length() < 0.05 * character.diagonal());
        let (low, high) =
            mesh.positions.iter().fold((f32::MAX, f32::MIN), |(l, h), p| (l.min(p.y), h.max(p.y)));
        assert!(at(head).y > f64::from(low + 0.8 * (high - low)));
    }
}

#[test]
fn every_shared_surface_takes_a_skeleton_without_weights() {
    let Some(data) = data() else { return };
    for (surface, skeleton) in [
        ("libigl/arm.obj", "libigl/arm.tgf"),
        ("libigl/elephant.obj", "libigl/elephant.tgf"),
        ("makehuman/base.obj", "makehuman/cmu_mb.mhskel"),
        ("makehuman/base.obj", "makehuman/default.mhskel"),
        ("spot.obj", "../bvh/cmu_103_01.bvh"),
        ("penguin.obj", "../tet/libigl/hand.tgf"),
    ] {
        let (_, _, rigged) = load(&data, surface, skeleton, None);
        sums_to_one(&rigged.character);
        rests(&rigged.character);
        assert!(rigged.character.weights().max_influences() <= 4);
        assert_eq!(rigged.character.clips().len(), usize::from(skeleton.ends_with(".bvh")));
    }
}

#[test]
fn broken_copies_never_panic() {
    let mesh = bar();
    let limb = read_skeleton("tgf", LIMB.as_bytes(), &mesh).unwrap();
    let mhskel = "{\"bones\": {\"a\": {\"head\": \"h\", \"tail\": \"t\", \"parent\": null}, \"b\": {\"head\": \"t\", \
        \"tail\": \"u\", \"parent\": \"a\"}}, \"joints\": {\"h\": [0, 1, 2, 3], \"t\": [16, 17], \"u\": [32]}}";
    let mhw = "{\"weights\": {\"1-2\": [[0, 1.0], [1, 0.5]], \"2-3\": [[1, 0.25], [35, 1]]}}";
    let dense = format!("2 36\n{}", "0.5\n".repeat(72));
    let mut binary = b"0 0\n2 36\n".to_vec();
    (0..72).for_each(|i| binary.extend(f64::from(i % 2).to_le_bytes()));
    let samples: [(&str, &[u8]); 5] = [
        ("a.tgf", LIMB.as_bytes()),
        ("a.mhskel", mhskel.as_bytes()),
        ("a.mhw", mhw.as_bytes()),
        ("a.dmat", dense.as_bytes()),
        ("a.dmat", &binary),
    ];
    let mut random = Random(23);
    let (mut read_ok, mut refused) = (0, 0);
    for round in 0..10_000 {
        let (name, sample) = samples[round % samples.len()];
        let bytes = broken(sample, &mut random);
        let result = if name.ends_with("tgf") || name.ends_with("mhskel") {
            read_skeleton(name, &bytes, &mesh).and_then(|rig| assemble(&mesh, rig, None))
        } else {
            let given = read_weights(name, &bytes, &mesh, &limb);
            given.and_then(|given| assemble(&mesh, limb.clone(), Some(&given)))
        };
        match result {
            Ok(rigged) => {
                read_ok += 1;
                sums_to_one(&rigged.character);
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(read_ok > 100 && refused > 100, "{read_ok} read, {refused} refused");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Text and binary matrices hold the same numbers, column by column.
    #[test]
    fn matrices_round_trip(columns in 1usize..6, rows in 1usize..6, seed in 1u64..) {
        let mut random = Random(seed);
        let values: Vec<f64> = (0..columns * rows).map(|_| random.below(2_000_001) as f64 / 1e3 - 1e3).collect();
        let words: Vec<String> = values.iter().map(f64::to_string).collect();
        let text = format!("{columns} {rows}\r\n{}", words.join("\r\n"));
        let mut binary = format!("0 0\n{columns} {rows}\n").into_bytes();
        values.iter().for_each(|v| binary.extend(v.to_le_bytes()));
        let expected = dmat::Matrix { rows, columns, values };
        prop_assert_eq!(dmat::read(text.as_bytes()).unwrap(), expected.clone());
        prop_assert_eq!(dmat::read(&binary).unwrap(), expected);
    }

    /// However weights are scaled, vertex by vertex, the character has the same ones.
    #[test]
    fn scaled_weights_are_the_same_weights(scales in proptest::collection::vec(0.01f64..50.0, 36)) {
        let mesh = bar();
        let rig = read_skeleton("tgf", LIMB.as_bytes(), &mesh).unwrap();
        let second = |v: usize| f64::from(mesh.positions[v].x) / 8.0;
        let build = |scale: &dyn Fn(usize) -> f64| {
            let first = (0..36).map(|v| ((1.0 - second(v)) * scale(v)).to_string());
            let text: Vec<String> = first.chain((0..36).map(|v| (second(v) * scale(v)).to_string())).collect();
            let text = format!("2 36\n{}\n", text.join("\n"));
            let given = read_weights("dmat", text.as_bytes(), &mesh, &rig).unwrap();
            assemble(&mesh, rig.clone(), Some(&given)).unwrap().character
        };
        let (plain, scaled) = (build(&|_| 1.0), build(&|v| scales[v]));
        for v in 0..36 {
            for (slot, weight) in plain.weights().of(v) {
                let other = scaled.weights().of(v).find(|e| e.0 == slot).map_or(0.0, |e| e.1);
                prop_assert!((weight - other).abs() < 1e-6);
            }
        }
    }
}

/// Bones that share a joint made of very many vertices.
#[test]
fn a_joint_of_many_bones_is_looked_at_once() {
    let mesh = pliant_io::obj::read(b"v 0 0 0\nv 0 2 0\nv 1 0 0\nf 1 2 3\n").unwrap();
    let vertices = vec!["0,1"; 100_000].join(",");
    let bones: Vec<_> = (0..20_000).map(|k| format!(r#""b{k}":{{"head":"j","tail":"k"}}"#)).collect();
    let file = format!(r#"{{"bones":{{{}}},"joints":{{"j":[{vertices}],"k":[2]}}}}"#, bones.join(","));
    let start = std::time::Instant::now();
    let rig = pliant_io::rigging::makehuman::read_skeleton(file.as_bytes(), &mesh).unwrap();
    assert!(start.elapsed() < std::time::Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(rig.skeleton.len(), 20_000);
    assert_eq!(rig.skeleton.rest_position(19_999).to_array(), [0.0, 1.0, 0.0]);
}
