//! Real files through reader and writers: what is written says the same as what was read.

#[path = "common/data.rs"]
mod data;
#[path = "common/validator.rs"]
mod validator;

use data::{data, gltf_files};
use glam::{DVec3, Vec3};
use pliant::asset::{Character, Weights};
use pliant::method::Shape;
use pliant::rig::Pose;
use pliant_io::files::{Files, Folder, NoFiles};
use pliant_io::gltf::{self, BakedClip, Loaded};
use std::path::{Path, PathBuf};

/// The files of the folder that the reader takes.
fn loaded() -> Vec<(PathBuf, Loaded)> {
    let Some(data) = data() else { return Vec::new() };
    let paths = gltf_files(&data.join("gltf"));
    let load = |path: &PathBuf| gltf::read(std::fs::read(path).unwrap(), &Folder::of(path)).ok();
    let files: Vec<_> = paths.into_iter().filter_map(|p| load(&p).map(|l| (p, l))).collect();
    assert!(files.len() >= 20, "most of the files have skins");
    files
}

/// Plain linear skinning in f64: the frames to write.
fn skinned(character: &Character, clip: Option<usize>, time: f64) -> Shape {
    let pose = Pose::sample(character, clip.map(|c| &character.clips()[c]), time);
    let matrices: Vec<_> = character
        .slots()
        .iter()
        .map(|s| pose.world_from_joint[s.joint as usize] * s.joint_from_rest)
        .collect();
    let mut rest: Vec<DVec3> = character.surface().positions().iter().map(|p| p.as_dvec3()).collect();
    for (morph, &weight) in character.morphs().iter().zip(&pose.morph_weights) {
        for (&v, offset) in morph.vertices.iter().zip(&morph.positions) {
            rest[v as usize] += offset.as_dvec3() * f64::from(weight);
        }
    }
    let mut shape = Shape::rest(character);
    for (v, rest) in rest.into_iter().enumerate() {
        let entries = || character.weights().of(v).map(|(s, w)| (matrices[s as usize], f64::from(w)));
        let point: DVec3 = entries().map(|(m, w)| m.transform_point3(rest) * w).sum();
        let normal = shape.normals[v].as_dvec3();
        let turned: DVec3 = entries().map(|(m, w)| m.transform_vector3(normal) * w).sum();
        shape.positions[v] = point.as_vec3();
        shape.normals[v] = turned.normalize_or(DVec3::Y).as_vec3();
    }
    shape
}

fn assert_close(name: &str, found: &[Vec3], wanted: &[Vec3], tolerance: f64) {
    assert_eq!(found.len(), wanted.len(), "{name}");
    for (v, (a, b)) in found.iter().zip(wanted).enumerate() {
        let distance = a.as_dvec3().distance(b.as_dvec3());
        assert!(distance <= tolerance, "{name}: vertex {v} is {a}, not {b}");
    }
}

/// Names, and weights by joint name, which survive a renumbering of joints.
fn bindings(character: &Character) -> Vec<Vec<(String, f32)>> {
    let weights: &Weights = character.weights();
    let name = |slot: u16| {
        let joint = character.slots()[slot as usize].joint as usize;
        character.skeleton().joints()[joint].name.clone()
    };
    let of = |v| {
        let mut entries: Vec<_> = weights.of(v).map(|(s, w)| (name(s), w)).collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        entries
    };
    (0..weights.vertex_count()).map(of).collect()
}

#[test]
fn a_fresh_file_reads_as_the_same_character() {
    let mut outputs = Vec::new();
    for (path, Loaded { character, .. }) in loaded() {
        let name = path.display().to_string();
        let bytes = gltf::write_character(&character).unwrap();
        let again = gltf::read(bytes.clone(), &NoFiles).unwrap_or_else(|e| panic!("{name}: {e}")).character;
        outputs.push(bytes);
        let tolerance = character.diagonal() * 2e-6;
        assert_close(&name, again.surface().positions(), character.surface().positions(), tolerance);
        assert_close(&name, again.surface().normals(), character.surface().normals(), 1e-5);
        assert_eq!(again.surface().triangles(), character.surface().triangles(), "{name}");
        assert_eq!(again.parts(), character.parts(), "{name}");
        assert_eq!(again.morphs().len(), character.morphs().len(), "{name}");
        assert_eq!(again.clips().len(), character.clips().len(), "{name}");
        for (a, b) in bindings(&again).iter().zip(bindings(&character)) {
            assert_eq!(a.len(), b.len(), "{name}");
            assert!(a.iter().zip(&b).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-6), "{name}");
        }
        for clip in (0..character.clips().len()).map(Some).chain([None]).take(20) {
            let end = clip.map_or(0.0, |c| character.clips()[c].end());
            for time in [0.0, end * 0.37, end] {
                let (found, wanted) = (skinned(&again, clip, time), skinned(&character, clip, time));
                // Bind matrices are f32 in the file, and scaled rigs multiply their rounding.
                assert_close(&name, &found.positions, &wanted.positions, character.diagonal() * 1e-5);
            }
        }
    }
    let outputs: Vec<&[u8]> = outputs.iter().map(Vec::as_slice).collect();
    validator::assert_valid(&outputs);
}

/// What a baked file shows at a key, by the letter of the standard; parts in order of node and primitive.
struct Baked {
    /// Nodes that had a skin.
    nodes: Vec<u64>,
    json: serde_json::Value,
    data: Vec<u8>,
}

impl Baked {
    fn new(bytes: &[u8], before: &gltf::Document) -> Self {
        let before: serde_json::Value = serde_json::from_slice(before.json()).unwrap();
        let nodes = before["nodes"].as_array().unwrap().iter().enumerate();
        let nodes = nodes.filter(|(_, n)| n["skin"].is_u64()).map(|(i, _)| i as u64).collect();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let end = 20 + word(12);
        Self {
            nodes,
            json: serde_json::from_slice(&bytes[20..end]).unwrap(),
            data: bytes[end + 8..].to_vec(),
        }
    }

    fn floats(&self, accessor: &serde_json::Value) -> Vec<f32> {
        let accessor = &self.json["accessors"][accessor.as_u64().unwrap() as usize];
        let view = &self.json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let number = |v: &serde_json::Value| v.as_u64().unwrap_or(0) as usize;
        let start = number(&view["byteOffset"]) + number(&accessor["byteOffset"]);
        let width = if accessor["type"] == "VEC3" { 3 } else { 1 };
        let bytes = &self.data[start..start + number(&accessor["count"]) * width * 4];
        bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    /// Positions of all baked nodes at a key of an animation.
    fn positions(&self, animation: usize, key: usize) -> Vec<Vec3> {
        let animation = &self.json["animations"][animation];
        let mut channels: Vec<_> = animation["channels"].as_array().unwrap().iter().collect();
        let baked = |node: &serde_json::Value| node.as_u64().is_some_and(|n| self.nodes.contains(&n));
        channels.retain(|c| c["target"]["path"] == "weights" && baked(&c["target"]["node"]));
        channels.sort_by_key(|c| c["target"]["node"].as_u64());
        let mut out = Vec::new();
        for channel in channels {
            let node = &self.json["nodes"][channel["target"]["node"].as_u64().unwrap() as usize];
            let mesh = &self.json["meshes"][node["mesh"].as_u64().unwrap() as usize];
            let weights =
                self.floats(&animation["samplers"][channel["sampler"].as_u64().unwrap() as usize]["output"]);
            let count = mesh["weights"].as_array().unwrap().len();
            let weights = &weights[key * count..(key + 1) * count];
            for primitive in mesh["primitives"].as_array().unwrap() {
                let mut values = self.floats(&primitive["attributes"]["POSITION"]);
                for (target, &weight) in primitive["targets"].as_array().unwrap().iter().zip(weights) {
                    if weight != 0.0 {
                        let deltas = self.floats(&target["POSITION"]);
                        values.iter_mut().zip(deltas).for_each(|(v, d)| *v += d * weight);
                    }
                }
                out.extend(values.chunks(3).map(Vec3::from_slice));
            }
        }
        out
    }
}

#[test]
fn a_baked_file_shows_every_frame() {
    let mut outputs = Vec::new();
    for (path, Loaded { character, document, .. }) in loaded() {
        let name = path.display().to_string();
        // The first and the last clip, or two poses where there is none.
        let count = character.clips().len();
        let which: Vec<Option<usize>> = match count {
            0 => vec![None],
            1 => vec![Some(0)],
            _ => vec![Some(0), Some(count - 1)],
        };
        let times = |clip: Option<usize>| {
            let end = clip.map_or(1.0, |c| character.clips()[c].end());
            (0..4).map(|i| end * f64::from(i) / 3.0).collect::<Vec<_>>()
        };
        let times: Vec<Vec<f64>> =
            which.iter().map(|c| times(*c)).map(|t| if t[1] > 0.0 { t } else { vec![0.0] }).collect();
        let clips: Vec<BakedClip> = which
            .iter()
            .zip(&times)
            .map(|(&clip, times)| BakedClip {
                clip,
                name: clip.map_or("pose", |c| character.clips()[c].name()),
                times,
            })
            .collect();
        let frames: Vec<Shape> = which
            .iter()
            .zip(&times)
            .flat_map(|(&clip, times)| times.iter().map(move |&t| (clip, t)))
            .map(|(clip, time)| skinned(&character, clip, time))
            .collect();
        let files: &dyn Files = &Folder::of(Path::new(&path));
        let (bytes, _) = gltf::bake(&document, &character, files, &clips, &frames)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let baked = Baked::new(&bytes, &document);
        let mut frame = 0;
        for (animation, times) in times.iter().enumerate() {
            for key in 0..times.len() {
                let far = frames[frame].positions.iter().fold(0f32, |far, p| far.max(p.abs().max_element()));
                assert_close(
                    &name,
                    &baked.positions(animation, key),
                    &frames[frame].positions,
                    f64::from(far) * 4e-7,
                );
                frame += 1;
            }
        }
        gltf::inspect(bytes.clone(), &NoFiles).unwrap_or_else(|e| panic!("{name}: {e}"));
        outputs.push((path, bytes));
    }
    validator::assert_no_new_errors(&outputs);
}

/// No file of the set has compressed skins, so a compressed one gets a skin: what is not baked comes out decompressed.
#[test]
fn compressed_meshes_come_out_plain() {
    let Some(folder) = data().map(|d| d.join("gltf/MeshoptCubeTest")) else { return };
    let path = folder.join("MeshoptCubeTest.gltf");
    let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let nodes = json["nodes"].as_array_mut().unwrap();
    let skinned = nodes.iter().position(|n| n["mesh"].is_u64()).unwrap();
    nodes[skinned]["skin"] = 0.into();
    let joint = nodes.len();
    nodes.push(serde_json::json!({"name": "joint"}));
    json["scenes"][0]["nodes"].as_array_mut().unwrap().push(joint.into());
    json["skins"] = serde_json::json!([{"joints": [joint]}]);
    let text = serde_json::to_vec(&json).unwrap();
    let Loaded { character, document, .. } = gltf::read(text, &Folder::of(&path)).unwrap();
    let frames = [Shape::rest(&character), skinned_up(&character)];
    let clips = [BakedClip { clip: Some(0), name: "up", times: &[0.0, 1.0] }];
    let (bytes, warnings) = gltf::bake(&document, &character, &Folder::of(&path), &clips, &frames).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let baked = Baked::new(&bytes, &document);
    assert_close("up", &baked.positions(0, 1), &frames[1].positions, 1e-6);
    let text = baked.json.to_string();
    assert!(!text.contains("meshopt_compression") && text.contains("KHR_mesh_quantization"));
    assert_eq!(baked.json["buffers"].as_array().unwrap().len(), 1);
    assert_eq!(baked.json["meshes"].as_array().unwrap().len(), json["meshes"].as_array().unwrap().len());
    validator::assert_valid(&[&bytes]);
}

fn skinned_up(character: &Character) -> Shape {
    let mut shape = Shape::rest(character);
    shape.positions.iter_mut().for_each(|p| p.y += 1.0);
    shape
}
