//! Baked GLBs against the judge: at every frame the vertices that were baked, and all that was not baked as it was.

mod judge;

use judge::data::{data, for_all, gltf_files};
use judge::hostile::hostile;
use judge::matrix::{Matrix, Vec3, distance, dot};
use judge::{Judge, Primitive, diagonal, off, open_skinned};
use pliant::asset::Character;
use pliant::method::{self, Shape};
use pliant::rig::Pose;
use pliant::simd;
use pliant_io::Files;
use pliant_io::files::{Folder, NoFiles};
use pliant_io::gltf::{BakedClip, Loaded, bake, read};
use serde_json::Value;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Of the body's diagonal: a rest position and an offset, both f32.
const TOLERANCE: f64 = 1e-6;
/// Radians: as above, and the sum is no longer quite unit.
const NORMAL_TOLERANCE: f64 = 1e-5;

/// Clips to bake and the times of their frames; a still where there is no clip.
fn plan(character: &Character) -> Vec<(Option<usize>, Vec<f64>)> {
    let times = |end: f64| (0..=(end * 30.0 + 1e-6).floor() as usize).map(|i| i as f64 / 30.0).collect();
    let clips: Vec<_> =
        (0..character.clips().len().min(2)).map(|c| (Some(c), times(character.clips()[c].end()))).collect();
    if clips.is_empty() { vec![(None, vec![0.0])] } else { clips }
}

fn frames(character: &Character, plan: &[(Option<usize>, Vec<f64>)]) -> Vec<Shape> {
    let deformer = method::prepare_default("lbs", character, simd::Path::best()).expect("lbs is a method");
    let mut instance = deformer.instance();
    let mut frames = Vec::new();
    for (clip, times) in plan {
        for &time in times {
            let mut shape = Shape::rest(character);
            let pose = Pose::sample(character, clip.map(|c| &character.clips()[c]), time);
            instance.step(&pose, 1.0 / 30.0, &mut shape, &mut |_| {});
            frames.push(shape);
        }
    }
    frames
}

/// Bakes a file and checks everything about what came out; says how far it is off.
fn trial(input: &Judge, loaded: &Loaded, files: &dyn Files) -> f64 {
    let character = &loaded.character;
    let plan = plan(character);
    let frames = frames(character, &plan);
    let name = |clip: Option<usize>| clip.map_or("", |c| character.clips()[c].name());
    let clips: Vec<BakedClip> =
        plan.iter().map(|(clip, times)| BakedClip { clip: *clip, name: name(*clip), times }).collect();
    let (glb, _) = bake(&loaded.document, character, files, &clips, &frames).expect("it bakes");
    let output = Judge::parse(&glb, Path::new("/nowhere")).expect("what was baked is valid and complete");

    assert!(output.skinned(None, 0.0).is_empty(), "nothing is skinned any more");
    let moving: Vec<&str> = plan.iter().filter(|p| p.0.is_some()).map(|p| name(p.0)).collect();
    assert_eq!(output.animations().iter().map(|a| a.0).collect::<Vec<_>>(), moving, "the baked clips only");
    kept(&input.json, &output.json);

    let size = diagonal(&input.rest());
    let parts = input.rest();
    let mut worst = 0.0f64;
    let mut next = frames.iter();
    for (number, (clip, times)) in plan.iter().enumerate() {
        for &time in times {
            // The key as it is stored.
            let time = f64::from(time as f32);
            let found = output.unskinned(clip.map(|_| number), time);
            let frame = next.next().expect("a frame for each time");
            let off = shown(&found, &parts, frame, size);
            worst = worst.max(off);
            assert!(off <= TOLERANCE, "clip {clip:?} at {time:.4}: off by {off:.1e}");
            rigid(&input.unskinned(*clip, time), &found, size);
            nodes(input, &input.globals(*clip, time), &output.globals(clip.map(|_| number), time), size);
        }
    }
    worst
}

fn of(all: &[Primitive], node: usize, primitive: usize) -> &Primitive {
    let found = all.iter().find(|p| (p.node, p.primitive) == (node, primitive));
    found.unwrap_or_else(|| panic!("node {node} still shows primitive {primitive}"))
}

/// Largest distance of what is shown from what was baked, over `size`; normals are checked on the way.
fn shown(found: &[Primitive], parts: &[Primitive], frame: &Shape, size: f64) -> f64 {
    let (mut vertex, mut worst) = (0, 0.0f64);
    for part in parts {
        let found = of(found, part.node, part.primitive);
        assert_eq!(found.positions.len(), part.positions.len());
        assert_eq!(found.normals.is_some(), part.normals.is_some());
        for (v, &p) in found.positions.iter().enumerate() {
            worst = worst.max(off(p, frame.positions[vertex].as_dvec3().to_array(), size));
            if let Some(normals) = &found.normals {
                let baked = frame.normals[vertex].as_dvec3().to_array();
                assert!(apart(normals[v], baked) <= NORMAL_TOLERANCE, "normal {v} of node {}", part.node);
            }
            vertex += 1;
        }
    }
    assert_eq!(vertex, frame.positions.len(), "every vertex was looked at");
    worst
}

/// Distance between directions.
fn apart(a: Vec3, b: Vec3) -> f64 {
    let unit = |v: Vec3| v.map(|x| x / dot(v, v).sqrt());
    distance(unit(a), unit(b))
}

/// Meshes without skin, where they were.
fn rigid(before: &[Primitive], after: &[Primitive], size: f64) {
    for part in before {
        let found = of(after, part.node, part.primitive);
        for (&a, &b) in found.positions.iter().zip(&part.positions) {
            let scale = dot(b, b).sqrt().max(size);
            assert!(distance(a, b) <= 1e-9 * scale, "rigid node {} has moved", part.node);
        }
        let normals = found.normals.iter().flatten().zip(part.normals.iter().flatten());
        assert!(
            normals.into_iter().all(|(&a, &b)| distance(a, b) <= 1e-9),
            "rigid node {} has turned",
            part.node
        );
        let counts = |p: &Primitive| (p.positions.len(), p.normals.as_ref().map(Vec::len));
        assert_eq!(counts(found), counts(part));
    }
}

/// Every node that showed no skinned mesh stands where it stood.
fn nodes(input: &Judge, before: &[Matrix], after: &[Matrix], size: f64) {
    for (n, node) in list(&input.json, "nodes").iter().enumerate() {
        if node.get("skin").is_none() {
            for point in [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
                let (a, b) = (before[n].point(point), after[n].point(point));
                assert!(distance(a, b) <= 1e-9 * dot(a, a).sqrt().max(size), "node {n} has moved");
            }
        }
    }
}

fn list<'a>(json: &'a Value, key: &str) -> &'a [Value] {
    json.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Materials, textures, cameras, and every node's own things are still there.
fn kept(before: &Value, after: &Value) {
    for key in ["materials", "textures", "samplers", "cameras"] {
        assert_eq!(before.get(key), after.get(key), "{key}");
    }
    assert_eq!(list(before, "images").len(), list(after, "images").len(), "images");
    assert_eq!(before.get("scene"), after.get("scene"));
    assert_eq!(list(before, "scenes").len(), list(after, "scenes").len());
    for (n, (a, b)) in list(before, "nodes").iter().zip(list(after, "nodes")).enumerate() {
        assert_eq!(a.get("name"), b.get("name"), "name of node {n}");
        assert_eq!(a.get("extras"), b.get("extras"), "extras of node {n}");
        if a.get("skin").is_none() {
            assert_eq!(a.get("camera"), b.get("camera"), "camera of node {n}");
            assert_eq!(a.get("mesh"), b.get("mesh"), "mesh of node {n}");
            assert_eq!(a.get("extensions"), b.get("extensions"), "extensions of node {n}");
        }
    }
    assert!(list(after, "nodes").len() >= list(before, "nodes").len(), "no node is lost");
    // What a primitive wears stays on, whichever mesh a node now shows.
    let worn = |json: &Value| -> Vec<(usize, Vec<Value>)> {
        let nodes = list(json, "nodes").iter().enumerate();
        let shown = nodes.filter_map(|(n, node)| Some((n, node.get("mesh")?.as_u64()? as usize)));
        shown
            .map(|(n, m)| (n, list(&list(json, "meshes")[m], "primitives").iter().map(clothes).collect()))
            .collect()
    };
    assert_eq!(worn(before), worn(after), "materials, colours and texture coordinates of primitives");
    for extension in list(before, "extensionsUsed") {
        let needed = extension != "KHR_mesh_quantization" && extension != "KHR_meshopt_compression";
        assert!(!needed || list(after, "extensionsUsed").contains(extension), "{extension} is still used");
    }
}

/// Material, mode, and names of the attributes that have nothing to do with shape.
fn clothes(primitive: &Value) -> Value {
    let shape = ["POSITION", "NORMAL", "TANGENT", "JOINTS_", "WEIGHTS_"];
    let names = primitive["attributes"].as_object().into_iter().flat_map(|a| a.keys());
    let names: Vec<&String> = names.filter(|n| !shape.iter().any(|s| n.starts_with(s))).collect();
    serde_json::json!([primitive.get("material"), primitive.get("mode"), names])
}

#[test]
fn real_files_reload_as_they_were_baked() {
    let Some(data) = data() else { return };
    let folder = data.join("gltf");
    let complaints = Mutex::new(Vec::new());
    let judged = AtomicUsize::new(0);
    for_all(&gltf_files(&folder), |path| {
        let name = path.strip_prefix(&folder).unwrap_or(path).display();
        let input = match open_skinned(path) {
            Ok(Some(judge)) => judge,
            Ok(None) => return println!("{name}: compressed, or without a skin"),
            Err(why) => {
                return complaints.lock().expect("no thread panicked").push(format!("{name}: {why}"));
            }
        };
        let verdict = std::panic::catch_unwind(|| {
            let files = Folder::of(path);
            let loaded =
                read(std::fs::read(path).expect("it is there"), &files).expect("a valid file is read");
            trial(&input, &loaded, &files)
        });
        match verdict {
            Ok(worst) => {
                judged.fetch_add(1, Ordering::Relaxed);
                println!("{name}: off by {worst:.1e} of the diagonal");
            }
            Err(why) => {
                let why = why.downcast_ref::<String>().cloned().unwrap_or_default();
                complaints.lock().expect("no thread panicked").push(format!("{name}: {why}"));
            }
        }
    });
    let complaints = complaints.into_inner().expect("no thread panicked");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(judged.into_inner() > 25, "most files of the set have a skin");
}

#[test]
fn hostile_files_reload_as_they_were_baked() {
    for seed in 0..8 {
        let bytes = hostile(seed);
        let input = Judge::parse(&bytes, Path::new(".")).expect("hostile, but valid");
        let loaded = read(bytes, &NoFiles).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        println!("seed {seed}: off by {:.1e} of the diagonal", trial(&input, &loaded, &NoFiles));
    }
}
