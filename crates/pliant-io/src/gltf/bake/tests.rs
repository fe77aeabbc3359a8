use super::*;
use crate::data::data;
use crate::files::{Folder, NoFiles};
use crate::gltf::testing::{document, place, stand_in};
use crate::gltf::write_character;
use crate::testing::{Glb, open, sample};
use crate::validator::{assert_no_new_errors, assert_valid};
use std::collections::BTreeMap;

fn index(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

/// Frames that have nothing to do with each other.
fn shapes(character: &Character, count: usize) -> Vec<Shape> {
    let vertices = character.surface().positions().len();
    let frame = |f: usize| Shape {
        positions: (0..vertices).map(|v| place(v, f + 1)).collect(),
        normals: (0..vertices).map(|v| place(v, f + 7).normalize_or(Vec3::Z)).collect(),
    };
    (0..count).map(frame).collect()
}

/// What a player shows at key `key` of an animation (or without one), in the order of the character's parts: rest plus
/// weighted targets, in f32.
fn shown(glb: &Glb, document: &Document, play: Option<(usize, usize)>) -> (Vec<Vec3>, Vec<Option<Vec3>>) {
    let (mut positions, mut normals) = (Vec::new(), Vec::new());
    for source in &document.parts {
        let node = &glb.json["nodes"][source.node];
        assert!(
            ["skin", "translation", "rotation", "scale", "matrix", "children", "weights"]
                .iter()
                .all(|k| node[*k].is_null())
        );
        let mesh = &glb.json["meshes"][index(&node["mesh"])];
        let mut weights: Vec<f32> =
            mesh["weights"].as_array().into_iter().flatten().map(|w| w.as_f64().unwrap() as f32).collect();
        if let Some((animation, key)) = play {
            let animation = &glb.json["animations"][animation];
            let is_ours = |c: &&Value| c["target"]["node"] == source.node && c["target"]["path"] == "weights";
            let channel = animation["channels"].as_array().unwrap().iter().find(is_ours).unwrap();
            let sampler = &animation["samplers"][index(&channel["sampler"])];
            let output = glb.numbers(&sampler["output"]);
            let count = weights.len();
            weights = output[key * count..(key + 1) * count].iter().map(|w| *w as f32).collect();
        }
        let primitive = &mesh["primitives"][source.primitive];
        let targets = primitive["targets"].as_array().map_or(&[][..], Vec::as_slice);
        assert_eq!(targets.len(), weights.len());
        let sum = |name: &str| {
            let mut values = glb.vectors(&primitive["attributes"][name]);
            for (target, weight) in targets.iter().zip(&weights).filter(|(_, w)| **w != 0.0) {
                for (value, delta) in values.iter_mut().zip(glb.vectors(&target[name])) {
                    *value += delta * *weight;
                }
            }
            values
        };
        positions.extend(sum("POSITION"));
        if primitive["attributes"]["NORMAL"].is_u64() {
            normals.extend(sum("NORMAL").into_iter().map(Some));
        } else {
            normals.resize(positions.len(), None);
        }
    }
    (positions, normals)
}

fn assert_shows(glb: &Glb, document: &Document, play: Option<(usize, usize)>, wanted: &Shape) {
    let (positions, normals) = shown(glb, document, play);
    assert_eq!(positions.len(), wanted.positions.len());
    for (v, (found, wanted)) in positions.iter().zip(&wanted.positions).enumerate() {
        // Values within 1.5 of the origin, deltas within 3: an ulp of those.
        assert!((*found - *wanted).abs().max_element() <= 2.4e-7, "vertex {v}: {found} for {wanted}");
    }
    for (found, wanted) in normals.iter().zip(&wanted.normals) {
        assert!(found.is_none_or(|n| (n - *wanted).abs().max_element() <= 1.2e-7));
    }
}

#[test]
fn every_frame_of_every_clip_shows() {
    let character = sample();
    let input = write_character(&character).unwrap();
    let document = document(input.clone(), &NoFiles);
    let frames = shapes(&character, 5);
    let clips = [
        BakedClip { clip: Some(2), name: "smile", times: &[0.0, 1.0, 2.0] },
        BakedClip { clip: Some(0), name: "bend", times: &[0.5, 1.0] },
    ];
    let (bytes, warnings) = bake(&document, &character, &NoFiles, &clips, &frames).unwrap();
    assert!(warnings.is_empty());
    assert_valid(&[&bytes]);
    let glb = Glb::new(&bytes);
    for (play, frame) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)].iter().zip(&frames) {
        assert_shows(&glb, &document, Some(*play), frame);
    }
    assert_shows(&glb, &document, None, &Shape::rest(&character));

    assert!(glb.json["skins"].is_null());
    let animations = glb.list("animations");
    assert_eq!((animations.len(), &animations[1]["name"]), (2, &"bend".into()));
    // The joints still bend; the morphs of the input do not move any more.
    let paths = |a: &Value| -> Vec<String> {
        a["channels"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c["target"]["path"].as_str().unwrap().into())
            .collect()
    };
    assert_eq!(paths(&animations[1]), ["translation", "rotation", "scale", "weights", "weights"]);
    assert_eq!(paths(&animations[0]), ["weights", "weights"]);
    assert_eq!(glb.numbers(&animations[1]["samplers"][3]["input"]), [0.5, 1.0]);
    for primitive in glb.list("meshes").iter().flat_map(|m| m["primitives"].as_array().unwrap()) {
        let attributes = primitive["attributes"].as_object().unwrap();
        assert!(attributes.keys().all(|k| ["POSITION", "NORMAL"].contains(&k.as_str())), "{attributes:?}");
    }
}

#[test]
fn a_still_shows_without_playing_and_no_frame_is_the_rest_pose() {
    let character = sample();
    let document = document(write_character(&character).unwrap(), &NoFiles);
    let frames = shapes(&character, 1);
    for clip in [None, Some(0)] {
        let still = [BakedClip { clip, name: "still", times: &[0.25] }];
        let (bytes, _) = bake(&document, &character, &NoFiles, &still, &frames).unwrap();
        assert_valid(&[&bytes]);
        let glb = Glb::new(&bytes);
        assert_shows(&glb, &document, None, &frames[0]);
        assert_eq!(glb.list("animations").len(), usize::from(clip.is_some()));
    }
    let (bytes, _) = bake(&document, &character, &NoFiles, &[], &[]).unwrap();
    assert_valid(&[&bytes]);
    assert_shows(&Glb::new(&bytes), &document, None, &Shape::rest(&character));
}

/// The longest numbers that JSON can need fit into the room that was left for them.
#[test]
fn bounds_of_any_length_fit() {
    let character = sample();
    let document = document(write_character(&character).unwrap(), &NoFiles);
    let numbers =
        [-1.2345678e-38, -0.000012345679, -1234567900000000.0, -1.234_568e37, f32::MIN_POSITIVE, -1e-45];
    let mut frames = shapes(&character, numbers.len());
    for (frame, number) in frames.iter_mut().zip(numbers) {
        frame.positions.iter_mut().for_each(|p| *p = Vec3::splat(number));
    }
    let times: Vec<f64> = (0..numbers.len()).map(|i| i as f64).collect();
    let clip = [BakedClip { clip: None, name: "far", times: &times }];
    let (bytes, _) = bake(&document, &character, &NoFiles, &clip, &frames).unwrap();
    assert_valid(&[&bytes]);
    let longest = numbers.iter().map(|n| serde_json::to_string(n).unwrap().len()).max();
    assert!(longest <= Some(NUMBER_ROOM + 3), "{longest:?}");
}

/// On disk the file appears when it is whole.
#[test]
fn a_file_is_streamed_to_disk() {
    let character = sample();
    let document = document(write_character(&character).unwrap(), &NoFiles);
    let frames = shapes(&character, 3);
    let clip = [BakedClip { clip: Some(1), name: "spline", times: &[0.0, 1.0, 2.0] }];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.glb");
    let sink = WholeFile::create(&path).unwrap();
    let (file, _) = GlbBake::new(sink, &document, &character, &NoFiles, &clip).unwrap();
    let mut file: Box<dyn FrameWriter> = Box::new(file);
    frames.iter().for_each(|f| file.push(f).unwrap());
    assert!(!path.exists());
    let written = crate::files::commit(file.finish().unwrap()).unwrap();
    assert_eq!(written, std::slice::from_ref(&path));
    let (bytes, _) = bake(&document, &character, &NoFiles, &clip, &frames).unwrap();
    assert!(std::fs::read(&path).unwrap() == bytes);
}

#[test]
fn frames_without_a_clip_play_alone() {
    let character = sample();
    let document = document(write_character(&character).unwrap(), &NoFiles);
    let frames = shapes(&character, 2);
    let clip = [BakedClip { clip: None, name: "mocap", times: &[0.0, 1.0] }];
    let (bytes, _) = bake(&document, &character, &NoFiles, &clip, &frames).unwrap();
    assert_valid(&[&bytes]);
    assert_shows(&Glb::new(&bytes), &document, Some((0, 1)), &frames[1]);
}

/// Changes the JSON of a GLB.
fn edited(bytes: &[u8], edit: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (mut json, data) = crate::gltf::testing::split(bytes);
    edit(&mut json);
    let mut text = serde_json::to_vec(&json).unwrap();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = glb_head(&text, data.len() as u64);
    out.extend(&bytes[data]);
    out
}

/// The skinned node is itself a joint, has a rigid child, a camera and a light, is animated, lies below a joint and in
/// two scenes, and its mesh is used by another skinned node and by a rigid one.
#[test]
fn what_hangs_on_a_skinned_node_stays_where_it_was() {
    let character = sample();
    let mut skinned = 0;
    let input = edited(&write_character(&character).unwrap(), |json| {
        let nodes = json["nodes"].as_array_mut().unwrap();
        skinned = nodes.iter().position(|n| n["mesh"] == 0).unwrap();
        let rigid = nodes.len();
        nodes.push(json!({"name": "rigid", "mesh": 0}));
        nodes.push(json!({"name": "second", "mesh": 0, "skin": 0}));
        nodes[skinned]["children"] = json!([rigid]);
        nodes[skinned]["translation"] = json!([1, 2, 3]);
        nodes[skinned]["camera"] = 0.into();
        nodes[skinned]["extensions"] = json!({"KHR_lights_punctual": {"light": 0}, "ACME_tag": {}});
        nodes[skinned]["extras"] = json!({"mine": 12345678901234567890u64});
        nodes[1]["children"].as_array_mut().unwrap().push(skinned.into());
        json["skins"][0]["joints"].as_array_mut().unwrap().push(skinned.into());
        json["skins"][0].as_object_mut().unwrap().remove("inverseBindMatrices");
        let roots = json["scenes"][0]["nodes"].as_array_mut().unwrap();
        roots.retain(|n| *n != skinned);
        roots.push((rigid + 1).into());
        let root = roots[0].clone();
        json["scenes"].as_array_mut().unwrap().push(json!({"nodes": [root]}));
        json["cameras"] = json!([{"type": "perspective", "perspective": {"yfov": 0.123_456_789_012_345_68, "znear": 1e-3}}]);
        json["extensions"] = json!({"KHR_lights_punctual": {"lights": [{"type": "point"}]}});
        json["extensionsUsed"] = json!(["KHR_lights_punctual", "ACME_tag"]);
        json["animations"][0]["channels"][0]["target"]["node"] = skinned.into();
    });
    let document = document(input.clone(), &NoFiles);
    assert_eq!(document.parts.len(), 5);
    let character = stand_in(&document);
    let frames = shapes(&character, 1);
    let clip = [BakedClip { clip: Some(0), name: "bend", times: &[0.0] }];
    let (bytes, _) = bake(&document, &character, &NoFiles, &clip, &frames).unwrap();
    let (before, glb) = (Glb::new(&input), Glb::new(&bytes));
    assert_shows(&glb, &document, None, &frames[0]);

    let nodes = glb.list("nodes");
    let new = before.list("nodes").len();
    let stand_in = &nodes[new];
    assert_eq!(nodes.len(), new + 1);
    for key in ["children", "translation", "camera"] {
        assert_eq!(stand_in[key], before.list("nodes")[skinned][key], "{key}");
    }
    assert_eq!(stand_in["extensions"], json!({"KHR_lights_punctual": {"light": 0}}));
    assert_eq!(nodes[skinned]["extensions"], json!({"ACME_tag": {}}));
    assert_eq!(nodes[skinned]["extras"]["mine"], json!(12345678901234567890u64));
    let children = |n: &Value| n["children"].as_array().unwrap().clone();
    assert!(children(&nodes[1]).contains(&new.into()) && !children(&nodes[1]).contains(&skinned.into()));
    assert_eq!(glb.json["animations"][0]["channels"][0]["target"]["node"], new);
    assert_eq!(glb.json["cameras"], before.json["cameras"]);
    for scene in glb.list("scenes") {
        let roots = scene["nodes"].as_array().unwrap();
        assert_eq!(roots.iter().filter(|n| **n == skinned).count(), 1);
    }
    // The rigid user keeps the mesh as it was (nothing is renumbered where an unknown extension might refer to it); each
    // baked one has its own.
    assert_eq!(nodes[new - 2]["mesh"], 0);
    assert_eq!(glb.list("meshes")[0], before.list("meshes")[0]);
    let used: BTreeSet<_> = nodes.iter().filter_map(|n| n["mesh"].as_u64()).collect();
    assert_eq!(used.len(), glb.list("meshes").len());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input.glb");
    std::fs::write(&path, &input).unwrap();
    assert_no_new_errors(&[(path, bytes)]);
}

#[test]
fn images_are_embedded_and_missing_ones_stay() {
    let character = sample();
    let input = edited(&write_character(&character).unwrap(), |json| {
        json["images"] = json!([
            {"uri": "a%20b.png"},
            {"uri": "gone.png", "name": "gone"},
            {"uri": "data:image/png;base64,iVBORw0KGgo="},
            {"uri": "text.png"},
        ]);
        json["textures"] = json!([{"source": 0}]);
    });
    let document = document(input, &NoFiles);
    let png = b"\x89PNG\r\n\x1a\n and so on".to_vec();
    let files: BTreeMap<String, Vec<u8>> =
        [("a b.png".to_string(), png.clone()), ("text.png".to_string(), b"hello".to_vec())].into();
    let (bytes, warnings) = bake(&document, &character, &files, &[], &[]).unwrap();
    let glb = Glb::new(&bytes);
    let images = glb.list("images");
    assert_eq!(images[0]["mimeType"], "image/png");
    assert!(images[0]["uri"].is_null());
    let view = &glb.list("bufferViews")[index(&images[0]["bufferView"])];
    let start = index(&view["byteOffset"]);
    assert_eq!(glb.document.buffer(0)[start..start + index(&view["byteLength"])], png);
    assert_eq!(images[1], json!({"uri": "gone.png", "name": "gone"}));
    assert!(images[2]["uri"].as_str().unwrap().starts_with("data:"));
    let places: Vec<_> = warnings.iter().map(|w| w.place.as_str()).collect();
    assert_eq!(places, ["images[1].uri", "images[3].uri"]);
}

#[test]
fn compressed_views_come_out_plain_and_dead_ones_not_at_all() {
    let character = sample();
    let input = write_character(&character).unwrap();
    let normal = Glb::new(&input);
    let indices = index(&normal.list("meshes")[0]["primitives"][0]["indices"]);
    let view = index(&normal.list("accessors")[indices]["bufferView"]);
    let plain = normal.numbers(&indices.into());
    // The index view pretends to be compressed: its bytes are elsewhere.
    let input = edited(&input, |json| {
        let stored = json["bufferViews"][view].clone();
        let extension = json!({"buffer": 0, "byteOffset": 0, "byteLength": 4, "count": 1, "byteStride": 4, "mode": "TRIANGLES"});
        json["bufferViews"][view]["extensions"] = json!({"EXT_meshopt_compression": extension});
        json["bufferViews"][view]["buffer"] = 1.into();
        json["bufferViews"][view]["byteOffset"] = 0.into();
        let length = stored["byteLength"].clone();
        let fallback =
            json!({"byteLength": length, "extensions": {"EXT_meshopt_compression": {"fallback": true}}});
        json["buffers"].as_array_mut().unwrap().push(fallback);
        json["extensionsUsed"] = json!(["EXT_meshopt_compression"]);
        json["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
    });
    let mut document = document(input, &NoFiles);
    document.buffers[1] = crate::gltf::document::Bytes::Own(Vec::new());
    let bytes = plain.iter().flat_map(|v| (*v as u16).to_le_bytes()).collect();
    document.decoded_views[view] = Some(bytes);
    let (bytes, _) = bake(&document, &character, &NoFiles, &[], &[]).unwrap();
    assert_valid(&[&bytes]);
    let glb = Glb::new(&bytes);
    assert_eq!(glb.numbers(&glb.list("meshes")[0]["primitives"][0]["indices"]), plain);
    assert!(glb.json["extensionsRequired"].is_null() && glb.json["extensionsUsed"].is_null());
    assert_eq!(glb.list("buffers").len(), 1);
    // Three index accessors and five of rest vectors.
    assert_eq!(glb.list("accessors").len(), 8);
    assert_eq!(glb.list("bufferViews").len(), 4);
}

#[test]
fn overlapping_views_are_written_once() {
    let character = sample();
    let input = edited(&write_character(&character).unwrap(), |json| {
        let length = json["buffers"][0]["byteLength"].clone();
        for _ in 0..1000 {
            let views = json["bufferViews"].as_array_mut().unwrap();
            views.push(json!({"buffer": 0, "byteLength": length}));
        }
        // Unknown, so nothing may be left out.
        json["extensions"] = json!({"ACME_views": {}});
    });
    let length = input.len();
    let document = document(input, &NoFiles);
    let (bytes, _) = bake(&document, &character, &NoFiles, &[], &[]).unwrap();
    assert!(bytes.len() < length + 2000 * 30, "{} from {length}", bytes.len());
}

#[test]
fn vrm_faces_let_go_of_baked_morphs() {
    let character = sample();
    let input = edited(&write_character(&character).unwrap(), |json| {
        json["extensions"] = json!({
            "VRM": {"blendShapeMaster": {"blendShapeGroups": [{"name": "joy", "binds": [{"mesh": 0, "index": 1}, {"mesh": 7, "index": 0}]}]}},
            "VRMC_vrm": {"expressions": {"preset": {"happy": {"isBinary": true, "morphTargetBinds": [{"node": 7, "index": 0}]}}}},
        });
    });
    let document = document(input, &NoFiles);
    assert_eq!(document.parts[0].node, 7);
    let (bytes, _) = bake(&document, &character, &NoFiles, &[], &[]).unwrap();
    let extensions = &Glb::new(&bytes).json["extensions"];
    assert_eq!(
        extensions["VRM"]["blendShapeMaster"]["blendShapeGroups"][0]["binds"],
        json!([{"mesh": 7, "index": 0}])
    );
    assert_eq!(extensions["VRMC_vrm"]["expressions"]["preset"]["happy"], json!({"isBinary": true}));
}

#[test]
fn pointers_follow_what_moved() {
    let stand_ins: BTreeMap<usize, Option<usize>> = [(3, None), (4, Some(9))].into();
    let meshes: BTreeSet<u64> = [1].into();
    let pointer = |text: &str| {
        let mut target =
            json!({"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": text}}});
        let kept = scene::retarget(&mut target, &stand_ins, &meshes);
        kept.then(|| target["extensions"]["KHR_animation_pointer"]["pointer"].as_str().unwrap().to_string())
    };
    let same = |text: &str| assert_eq!(pointer(text).as_deref(), Some(text));
    same("/materials/3/alphaCutoff");
    same("/nodes/2/translation");
    same("/nodes/3/extensions/KHR_node_visibility/visible");
    same("/meshes/0/weights/2");
    assert_eq!(pointer("/meshes/1/weights"), None);
    assert_eq!(pointer("/nodes/4/weights"), None);
    assert_eq!(pointer("/nodes/3/scale"), None);
    assert_eq!(pointer("/nodes/4/rotation").as_deref(), Some("/nodes/9/rotation"));
}

#[test]
fn what_cannot_be_baked_is_refused_with_a_way_out() {
    let character = sample();
    let document = document(write_character(&character).unwrap(), &NoFiles);
    let start = |clip: BakedClip| {
        GlbBake::new(Cursor::new(Vec::new()), &document, &character, &NoFiles, &[clip]).map(|f| f.0)
    };
    let times: Vec<f64> = (0..2001).map(f64::from).collect();
    let error = start(BakedClip { clip: None, name: "", times: &times }).err().unwrap().to_string();
    assert!(error.contains("2001") && error.contains(".pc2"), "{error}");
    for times in [[0.0, 0.0], [1.0, 0.5], [-1.0, 0.0], [0.0, f64::NAN], [1.0, 1.0 + 1e-12]] {
        assert!(start(BakedClip { clip: None, name: "", times: &times }).is_err(), "{times:?}");
    }
    assert!(start(BakedClip { clip: Some(9), name: "", times: &[0.0] }).is_err());

    let mut file = start(BakedClip { clip: None, name: "", times: &[0.0, 1.0] }).unwrap();
    let good = shapes(&character, 3);
    let mut bad = good[0].clone();
    bad.normals[3].x = f32::INFINITY;
    let error = file.push(&bad).unwrap_err();
    assert!(matches!(error, WriteError::NotFinite { what: "normal", vertex: 3, frame: 0 }), "{error}");
    bad.positions.pop();
    assert!(matches!(file.push(&bad), Err(WriteError::Length { .. })));
    file.push(&good[0]).unwrap();
    assert!(file.finish().is_err(), "a frame is missing");
}

/// A sink that only counts: the size is known, and refused, before a byte is kept.
#[test]
fn four_gibibytes_are_refused_before_writing() {
    let mut raw = sample().into_raw();
    let count = 100_000u32;
    raw.surface = pliant::asset::Surface::new(vec![Vec3::ONE; count as usize], None, vec![]).unwrap();
    raw.weights =
        pliant::asset::Weights::new(&vec![vec![(0, 1.0)]; count as usize], raw.slots.len()).unwrap();
    raw.parts.truncate(1);
    (raw.parts[0].vertices, raw.parts[0].triangles) = (0..count, 0..0);
    raw.morphs.clear();
    raw.clips.clear();
    let character = Character::new(raw).unwrap();
    let document = document(write_character(&character).unwrap(), &NoFiles);
    let times: Vec<f64> = (0..1900).map(f64::from).collect();
    let clips = [BakedClip { clip: None, name: "long", times: &times }];
    let error = GlbBake::new(Cursor::new(Vec::new()), &document, &character, &NoFiles, &clips).err().unwrap();
    assert!(matches!(error, WriteError::TooLarge { .. }) && error.to_string().contains(".pc2"), "{error}");
}

/// Every real file with a skin, with made-up frames: valid, and everything else as it was.
#[test]
fn real_files_keep_what_is_not_baked() {
    let Some(folder) = data().map(|d| d.join("gltf")) else { return };
    let mut outputs = Vec::new();
    for name in [
        "RecursiveSkeletons.glb",
        "KayKit-Knight.glb",
        "Alien/Alien.gltf",
        "RobotExpressive.glb",
        "Fox/Fox.gltf",
        "SimpleSkin/SimpleSkin.gltf",
        "SimpleSkin-embedded.gltf",
        "CesiumMan.glb",
        "Quaternius-Wolf.glb",
        "VRM0-sphere.vrm",
        "assimp-quad_skin-10-influences.glb",
        "InterpolationTest.glb",
    ] {
        let path = folder.join(name);
        let document = open(&path);
        let character = stand_in(&document);
        let clip = (!document.clip_animations.is_empty()).then_some(0);
        let frames = shapes(&character, 2);
        let clips = [BakedClip { clip, name: "baked", times: &[0.0, 0.5] }];
        let (bytes, warnings) = bake(&document, &character, &Folder::of(&path), &clips, &frames).unwrap();
        assert_eq!(warnings.len(), if name.starts_with("Alien") { 3 } else { 0 }, "{name}: {warnings:?}");
        let glb = Glb::new(&bytes);
        if !document.parts.is_empty() {
            assert_shows(&glb, &document, Some((0, 1)), &frames[1]);
        }
        let before: Value = serde_json::from_slice(document.json()).unwrap();
        for key in ["materials", "textures", "samplers", "cameras", "asset", "extensions", "extensionsUsed"] {
            assert_eq!(glb.json[key], before[key], "{name}: {key}");
        }
        assert_eq!(
            glb.list("nodes").len(),
            before["nodes"].as_array().unwrap().len(),
            "{name}: no stand-ins"
        );
        if let (Some(_), true) = (clip, document.parts.is_empty()) {
            assert_eq!(glb.list("animations")[0]["channels"], before["animations"][0]["channels"]);
        }
        outputs.push((path, bytes));
    }
    assert_no_new_errors(&outputs);
}

/// One accessor for each part and frame, and as many morph targets: a list of gigabytes.
#[test]
fn too_many_parts_times_frames_are_refused() {
    let mut json: Value = json!({"asset": {"version": "2.0"}, "nodes": [], "meshes": [
        {"primitives": [{"attributes": {"POSITION": 0}}]}], "skins": [{"joints": [0]}],
        "accessors": [{"componentType": 5126, "count": 1, "type": "VEC3"}]});
    json["nodes"] = vec![json!({"mesh": 0, "skin": 0}); 1001].into();
    let document = document(json.to_string().into_bytes(), &NoFiles);
    let character = stand_in(&document);
    let times: Vec<f64> = (0..1000).map(f64::from).collect();
    let clip = BakedClip { clip: None, name: "", times: &times };
    let new =
        |clips: &[BakedClip]| GlbBake::new(Cursor::new(Vec::new()), &document, &character, &NoFiles, clips);
    let error = new(&[clip]).err().expect("a refusal");
    assert!(matches!(error, WriteError::TooManyParts { parts: 1001, frames: 1000 }), "{error}");
    assert!(error.to_string().contains(".npz") && error.to_string().contains(".pc2"), "{error}");
    assert!(new(&[BakedClip { times: &times[..10], ..clip }]).is_ok());
}
