use super::write_character;
use crate::files::NoFiles;
use crate::gltf;
use crate::testing::{Glb, sample};
use crate::validator::assert_valid;
use glam::{DAffine3, DMat4, DQuat, DVec3, Mat4, Vec3};
use pliant::asset::*;
use pliant::rig::Pose;
use pliant::zoo;
use serde_json::Value;

fn index(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

/// World transforms of all nodes with a clip at one of its keys, straight from the JSON.
fn worlds(glb: &Glb, animation: Option<usize>, time: f64) -> Vec<DMat4> {
    let nodes = glb.list("nodes");
    let vector = |v: &Value, default: DVec3| {
        v.as_array().map_or(default, |a| DVec3::from_array([0, 1, 2].map(|i| a[i].as_f64().unwrap())))
    };
    let mut trs: Vec<_> = nodes
        .iter()
        .map(|n| {
            let q = n["rotation"]
                .as_array()
                .map_or(DQuat::IDENTITY, |a| DQuat::from_array([0, 1, 2, 3].map(|i| a[i].as_f64().unwrap())));
            (vector(&n["scale"], DVec3::ONE), q, vector(&n["translation"], DVec3::ZERO))
        })
        .collect();
    if let Some(animation) = animation {
        let animation = &glb.json["animations"][animation];
        for channel in animation["channels"].as_array().unwrap() {
            let sampler = &animation["samplers"][index(&channel["sampler"])];
            let times = glb.numbers(&sampler["input"]);
            let Some(key) = times.iter().rposition(|t| *t <= time) else { continue };
            assert!(key + 1 == times.len() || times[key] == time || sampler["interpolation"] == "STEP");
            let values = glb.numbers(&sampler["output"]);
            let at = |width: usize, c: usize| match sampler["interpolation"].as_str().unwrap() {
                "CUBICSPLINE" => values[(key * 3 + 1) * width + c],
                _ => values[key * width + c],
            };
            let entry = &mut trs[index(&channel["target"]["node"])];
            match channel["target"]["path"].as_str().unwrap() {
                "translation" => entry.2 = DVec3::from_array([0, 1, 2].map(|c| at(3, c))),
                "scale" => entry.0 = DVec3::from_array([0, 1, 2].map(|c| at(3, c))),
                "rotation" => entry.1 = DQuat::from_array([0, 1, 2, 3].map(|c| at(4, c))),
                _ => {}
            }
        }
    }
    let mut worlds = vec![None; nodes.len()];
    let mut stack: Vec<_> = glb.json["scenes"][0]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| (index(n), DMat4::IDENTITY))
        .collect();
    while let Some((node, parent)) = stack.pop() {
        let local = match nodes[node]["matrix"].as_array() {
            Some(m) => DMat4::from_cols_array(&std::array::from_fn(|i| m[i].as_f64().unwrap())),
            None => DMat4::from_scale_rotation_translation(trs[node].0, trs[node].1, trs[node].2),
        };
        worlds[node] = Some(parent * local);
        stack.extend(
            nodes[node]["children"].as_array().into_iter().flatten().map(|c| (index(c), parent * local)),
        );
    }
    worlds.into_iter().map(|w| w.expect("every node is in the scene")).collect()
}

/// Linear blend skinning of the file by the letter of the standard, morphs left out.
fn skinned(glb: &Glb, animation: Option<usize>, time: f64) -> Vec<Vec3> {
    let worlds = worlds(glb, animation, time);
    let mut out = Vec::new();
    for node in glb.list("nodes").iter().filter(|n| n["mesh"].is_u64()) {
        let skin = &glb.json["skins"][index(&node["skin"])];
        let inverse = glb.numbers(&skin["inverseBindMatrices"]);
        let joints: Vec<DMat4> = skin["joints"]
            .as_array()
            .unwrap()
            .iter()
            .zip(inverse.chunks(16))
            .map(|(j, m)| worlds[index(j)] * DMat4::from_cols_slice(m))
            .collect();
        for primitive in glb.json["meshes"][index(&node["mesh"])]["primitives"].as_array().unwrap() {
            let attributes = &primitive["attributes"];
            let positions = glb.vectors(&attributes["POSITION"]);
            let mut sums = vec![DVec3::ZERO; positions.len()];
            for set in 0.. {
                let Some(indices) = attributes.get(format!("JOINTS_{set}")) else { break };
                let weights = glb.numbers(&attributes[&format!("WEIGHTS_{set}")]);
                for (i, (j, w)) in glb.numbers(indices).iter().zip(weights).enumerate() {
                    sums[i / 4] += joints[*j as usize].transform_point3(positions[i / 4].as_dvec3()) * w;
                }
            }
            out.extend(sums.iter().map(|s| s.as_vec3()));
        }
    }
    out
}

fn expected(character: &Character, clip: Option<usize>, time: f64) -> Vec<Vec3> {
    let pose = Pose::sample(character, clip.map(|c| &character.clips()[c]), time);
    let mut matrices = Vec::new();
    pose.skin_matrices(character, &mut matrices);
    let point = |v: usize| {
        let p = character.surface().positions()[v].extend(1.0).to_array();
        let mut sum = Vec3::ZERO;
        for (slot, weight) in character.weights().of(v) {
            let row = |r: usize| (0..4).map(|c| matrices[slot as usize][r][c] * p[c]).sum::<f32>();
            sum += Vec3::new(row(0), row(1), row(2)) * weight;
        }
        sum
    };
    (0..character.surface().positions().len()).map(point).collect()
}

#[test]
fn the_standard_gives_the_same_skin() {
    let character = sample();
    let bytes = write_character(&character).unwrap();
    assert_valid(&[&bytes]);
    let glb = Glb::new(&bytes);
    for (clip, time) in [(None, 0.0), (Some(0), 0.0), (Some(0), 1.0), (Some(1), 2.0)] {
        let (found, wanted) = (skinned(&glb, clip, time), expected(&character, clip, time));
        assert_eq!(found.len(), wanted.len());
        for (a, b) in found.iter().zip(&wanted) {
            assert!(a.distance(*b) < 1e-5, "clip {clip:?} at {time}: {a} for {b}");
        }
    }
}

#[test]
fn everything_is_there() {
    let character = sample();
    let glb = Glb::new(&write_character(&character).unwrap());
    // Four joints, an end site, the common root, the second binding of the knee, two meshes.
    assert_eq!(glb.list("nodes").len(), 9);
    assert_eq!(glb.list("materials").len(), 2);
    assert_eq!(glb.json["asset"]["generator"], "pliant");
    let body = &glb.list("meshes")[0];
    assert_eq!((&body["name"], body["primitives"].as_array().unwrap().len()), (&"body".into(), 2));
    assert_eq!(body["weights"], serde_json::json!([0.0, 0.5]));
    assert_eq!(body["extras"]["targetNames"][0], "smile");
    assert!(glb.list("meshes")[1]["primitives"][0]["targets"].is_null());
    assert!(glb.list("meshes")[1]["primitives"][0]["attributes"]["NORMAL"].is_null());
    let first = &body["primitives"][0];
    assert!(
        first["attributes"]["JOINTS_1"].is_u64() && body["primitives"][1]["attributes"]["JOINTS_1"].is_null()
    );
    let normals = glb.vectors(&first["attributes"]["NORMAL"]);
    assert_eq!(normals, character.surface().normals()[..4]);
    let smile = glb.vectors(&first["targets"][0]["POSITION"]);
    assert_eq!(smile[..2], character.morphs()[0].positions[..2]);
    assert_eq!(smile[2..], [Vec3::ZERO; 2]);
    assert!(glb.vectors(&first["targets"][1]["POSITION"]).iter().all(|d| *d == Vec3::ZERO));
    let corners: Vec<f64> =
        character.surface().triangles()[4..8].iter().flatten().map(|&v| f64::from(v - 4)).collect();
    assert_eq!(glb.numbers(&body["primitives"][1]["indices"]), corners);

    let animations = glb.list("animations");
    assert_eq!(animations.len(), 4);
    assert_eq!(animations[0]["channels"].as_array().unwrap().len(), 3);
    assert_eq!(animations[1]["samplers"][0]["interpolation"], "CUBICSPLINE");
    assert_eq!(animations[2]["channels"][0]["target"]["path"], "weights");
    assert_eq!(glb.numbers(&animations[2]["samplers"][0]["output"]), [0.0, 0.0, 1.0, 0.5, 0.25, 0.75]);
    assert_eq!(animations[3]["channels"].as_array().unwrap().len(), 1);
}

#[test]
fn nothing_at_all_is_a_valid_file() {
    let empty = Character::new(RawCharacter {
        skeleton: Skeleton::new(vec![]).unwrap(),
        surface: Surface::new(vec![], None, vec![]).unwrap(),
        parts: vec![],
        slots: vec![],
        weights: Weights::new(&[], 0).unwrap(),
        morphs: vec![],
        clips: vec![Clip::new("none".into(), vec![])],
        paint: vec![],
    });
    assert_valid(&[&write_character(&empty.unwrap()).unwrap()]);
}

#[test]
fn many_joints_and_vertices_need_wider_numbers() {
    let joint = |i: usize| Joint {
        name: format!("j{i}"),
        parent: i.checked_sub(1).map(|p| p as u32),
        local: Local::IDENTITY,
        world_from_rest: DAffine3::IDENTITY,
        deforms: true,
        tails: vec![],
    };
    let (joints, vertices) = (300, 70_000);
    let raw = RawCharacter {
        skeleton: Skeleton::new((0..joints).map(joint).collect()).unwrap(),
        surface: Surface::new(
            (0..vertices).map(|v| Vec3::new(v as f32, (v % 7) as f32, 0.0)).collect(),
            None,
            vec![[0, 1, vertices as u32 - 1]],
        )
        .unwrap(),
        parts: vec![Part {
            name: "long".into(),
            mesh: 0,
            vertices: 0..vertices as u32,
            triangles: 0..1,
            has_normals: true,
            color: [0.5; 3],
        }],
        slots: (0..joints as u32).map(|joint| Slot { joint, joint_from_rest: DAffine3::IDENTITY }).collect(),
        weights: Weights::new(
            &(0..vertices).map(|v| vec![((v % joints) as u16, 1.0)]).collect::<Vec<_>>(),
            joints,
        )
        .unwrap(),
        morphs: vec![],
        clips: vec![],
        paint: vec![],
    };
    let bytes = write_character(&Character::new(raw).unwrap()).unwrap();
    assert_valid(&[&bytes]);
    let glb = Glb::new(&bytes);
    let primitive = &glb.list("meshes")[0]["primitives"][0];
    assert_eq!(glb.numbers(&primitive["indices"]), [0.0, 1.0, 69_999.0]);
    assert_eq!(glb.numbers(&primitive["attributes"]["JOINTS_0"])[4 * 299], 299.0);
}

#[test]
fn morphs_of_one_mesh_with_keys_of_their_own_are_joined() {
    let mut raw = sample().into_raw();
    let track = |times: &[f32], values: &[f32]| {
        Track::new(Interpolation::Linear, 1, times.to_vec(), values.to_vec()).unwrap()
    };
    let channels = vec![
        Channel { target: Target::Morphs { first: 0, count: 1 }, track: track(&[0.0, 2.0], &[0.0, 1.0]) },
        Channel { target: Target::Morphs { first: 1, count: 1 }, track: track(&[1.0, 2.0], &[0.5, 0.0]) },
    ];
    raw.clips = vec![Clip::new("two".into(), channels)];
    let glb = Glb::new(&write_character(&Character::new(raw).unwrap()).unwrap());
    let sampler = &glb.list("animations")[0]["samplers"][0];
    assert_eq!(glb.numbers(&sampler["input"]), [0.0, 1.0, 2.0]);
    assert_eq!(glb.numbers(&sampler["output"]), [0.0, 0.5, 0.5, 0.5, 1.0, 0.0]);
}

#[test]
fn matrices_go_in_column_by_column() {
    let m = DAffine3::from_rotation_translation(
        DQuat::from_array([0.6, 0.0, 0.0, 0.8]),
        DVec3::new(1.0, 2.0, 3.0),
    );
    let columns = super::columns(m).map(|x| x as f32);
    assert!(Mat4::from_cols_array(&columns).abs_diff_eq(Mat4::from(m.as_affine3a()), 1e-6));
}

#[test]
fn bones_that_end_in_no_joint_come_back() {
    let character = zoo::character("hand", Some(800)).unwrap();
    let back = gltf::read(write_character(&character).unwrap(), &NoFiles).unwrap().character;
    let (bones, read) = (character.skeleton().bones(), back.skeleton().bones());
    assert!(bones.iter().any(|b| b.end_joint.is_none()));
    assert_eq!(bones.len(), read.len());
    for (a, b) in bones.iter().zip(&read) {
        assert!(a.start.distance(b.start) + a.end.distance(b.end) < 1e-5 * character.diagonal());
    }
}
