//! Numbers painted on the skin: read, cut to 0 to 1, kept in what is written.

mod common;

use common::damage::{glb, sample, split};
use common::data::data;
use pliant::asset::{Character, Painted};
use pliant::method::{Place, Preset, Region, SOFTNESS, Shape};
use pliant::zoo;
use pliant_io::files::NoFiles;
use pliant_io::gltf::{self, BakedClip, Loaded, write_character};
use pliant_io::{Warning, obj, rigging};
use serde_json::{Value, json};

const F32: u32 = 5126;
const U16: u32 = 5123;
const U8: u32 = 5121;

/// An attribute of the sample's four vertices.
struct Attribute {
    name: &'static str,
    component: u32,
    kind: &'static str,
    normalized: bool,
    bytes: Vec<u8>,
}

fn floats(name: &'static str, kind: &'static str, values: &[f32]) -> Attribute {
    let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Attribute { name, component: F32, kind, normalized: false, bytes }
}

/// The sample with more attributes.
fn painted(attributes: &[Attribute]) -> Vec<u8> {
    let (text, mut bin) = split(&sample());
    let mut json: Value = serde_json::from_slice(&text).unwrap();
    let mut push = |list: &str, value: Value| {
        let list = json[list].as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    };
    let mut added = Vec::new();
    for a in attributes {
        bin.resize(bin.len().next_multiple_of(4), 0);
        let mut view = json!({"buffer": 0, "byteOffset": bin.len(), "byteLength": a.bytes.len()});
        let size = a.bytes.len() / 4;
        if !size.is_multiple_of(4) {
            view["byteStride"] = json!(4);
            view["byteLength"] = json!(16);
            a.bytes.chunks(size).for_each(|element| {
                bin.extend(element);
                bin.resize(bin.len().next_multiple_of(4), 0);
            });
        } else {
            bin.extend(&a.bytes);
        }
        let view = push("bufferViews", view);
        let accessor = json!({"bufferView": view, "componentType": a.component, "count": 4, "type": a.kind,
            "normalized": a.normalized});
        added.push((a.name, push("accessors", accessor)));
    }
    for (name, index) in added {
        json["meshes"][0]["primitives"][0]["attributes"][name] = index.into();
    }
    json["buffers"][0]["byteLength"] = bin.len().into();
    glb(json.to_string().as_bytes(), &bin)
}

fn load(attributes: &[Attribute]) -> Loaded {
    gltf::read(painted(attributes), &NoFiles).unwrap()
}

fn softness(loaded: &Loaded) -> &[f32] {
    let [Painted { name, values }] = loaded.character.paint() else { panic!("no paint") };
    assert_eq!(name, SOFTNESS);
    values
}

#[test]
fn softness_is_part_of_the_character() {
    let loaded = load(&[floats(SOFTNESS, "SCALAR", &[0.0, 0.25, 1.0, 0.5])]);
    assert_eq!(softness(&loaded), [0.0, 0.25, 1.0, 0.5]);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    assert_eq!(loaded.summary.painted, [SOFTNESS]);
    let [region] = &loaded.summary.soft_regions[..] else { panic!("{:?}", loaded.summary.soft_regions) };
    assert_eq!((&region.name[..], region.softness), (SOFTNESS, 1.0));

    let small = Attribute {
        name: SOFTNESS,
        component: U8,
        kind: "SCALAR",
        normalized: true,
        bytes: vec![0, 51, 255, 102],
    };
    assert_eq!(softness(&load(&[small])), [0.0, 0.2, 1.0, 0.4]);
    let bytes = [0u16, 13107, 65535, 26214].iter().flat_map(|v| v.to_le_bytes()).collect();
    let wide = Attribute { name: SOFTNESS, component: U16, kind: "SCALAR", normalized: true, bytes };
    assert_eq!(softness(&load(&[wide])), [0.0, 0.2, 1.0, 0.4]);
    // A yes or no.
    let marks = Attribute {
        name: SOFTNESS,
        component: U8,
        kind: "SCALAR",
        normalized: false,
        bytes: vec![0, 1, 1, 0],
    };
    assert_eq!(softness(&load(&[marks])), [0.0, 1.0, 1.0, 0.0]);
}

#[test]
fn numbers_beyond_are_cut_and_no_numbers_are_an_error() {
    let loaded = load(&[floats(SOFTNESS, "SCALAR", &[-3.0, 0.5, 1e9, 1.0])]);
    assert_eq!(softness(&loaded), [0.0, 0.5, 1.0, 1.0]);
    assert_eq!(loaded.warnings.len(), 1);
    assert_eq!((loaded.warnings[0].count, &loaded.warnings[0].place[..]), (2, SOFTNESS));
    for bad in [f32::NAN, f32::INFINITY] {
        let file = painted(&[floats(SOFTNESS, "SCALAR", &[0.0, 0.5, bad, 1.0])]);
        let error = gltf::read(file, &NoFiles).unwrap_err().to_string();
        assert_eq!(error, "accessors[6]: element 2 is not a finite number");
        // Colours are looked at when they are asked for.
        let loaded =
            load(&[floats("COLOR_0", "VEC3", &[0.0, 0.5, bad, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])]);
        let error = loaded.document.paint("COLOR_0.b", &mut vec![]).unwrap_err().to_string();
        assert_eq!(error, "meshes[0].primitives[0].attributes.COLOR_0: vertex 0 is not a finite number");
        assert!(loaded.document.paint("COLOR_0.r", &mut vec![]).is_ok());
    }
    // Two numbers are no softness: someone else's attribute.
    let loaded = load(&[floats(SOFTNESS, "VEC2", &[0.5; 8])]);
    assert!(loaded.character.paint().is_empty() && loaded.summary.painted.is_empty());
}

#[test]
fn colours_and_other_attributes_come_when_asked_for() {
    let three = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 7.0];
    let bytes = (0..16u8).map(|i| i * 17).collect();
    let loaded = load(&[
        floats("COLOR_0", "VEC3", &three),
        Attribute { name: "COLOR_1", component: U8, kind: "VEC4", normalized: true, bytes },
        floats("_FAT", "SCALAR", &[0.0, 0.1, 0.2, 0.3]),
        floats("_FLOW", "VEC3", &three),
    ]);
    assert!(loaded.character.paint().is_empty());
    let mut names: Vec<_> = loaded.summary.painted.iter().map(String::as_str).collect();
    names.sort_unstable();
    let known =
        ["COLOR_0.b", "COLOR_0.g", "COLOR_0.r", "COLOR_1.a", "COLOR_1.b", "COLOR_1.g", "COLOR_1.r", "_FAT"];
    assert_eq!(names, known);
    let mut warnings: Vec<Warning> = vec![];
    let mut values = |name: &str| {
        let painted = loaded.document.paint(name, &mut warnings).unwrap();
        painted.map(|p| (p.name, p.values))
    };
    assert_eq!(values("COLOR_0.g"), Some(("COLOR_0.g".into(), vec![0.1, 0.4, 0.7, 1.0])));
    assert_eq!(values("COLOR_0.b"), Some(("COLOR_0.b".into(), vec![0.2, 0.5, 0.8, 1.0])));
    let alpha = [3.0, 7.0, 11.0, 15.0].map(|v: f32| v * 17.0 / 255.0);
    assert_eq!(values("COLOR_1.a"), Some(("COLOR_1.a".into(), alpha.to_vec())));
    assert_eq!(values("_FAT"), Some(("_FAT".into(), vec![0.0, 0.1, 0.2, 0.3])));
    for none in
        ["COLOR_0", "COLOR_0.a", "COLOR_0.x", "COLOR_2.r", "_FLOW", "_fat", "POSITION", "WEIGHTS_0", ""]
    {
        assert_eq!(values(none), None, "{none}");
    }
    assert_eq!(warnings.len(), 1, "7 is no colour: {warnings:?}");
}

/// A part without the attribute is not chosen; those with it are, each in its place.
#[test]
fn parts_without_paint_are_zero() {
    let file = painted(&[floats(SOFTNESS, "SCALAR", &[0.1, 0.2, 0.3, 0.4])]);
    let (text, bin) = split(&file);
    let mut json: Value = serde_json::from_slice(&text).unwrap();
    let own = json["meshes"][0]["primitives"][0].clone();
    let mut bare = own.clone();
    bare["attributes"].as_object_mut().unwrap().remove(SOFTNESS);
    json["meshes"][0]["primitives"] = json!([bare, own, bare]);
    let loaded = gltf::read(glb(json.to_string().as_bytes(), &bin), &NoFiles).unwrap();
    let zero = [0.0; 4];
    assert_eq!(softness(&loaded), [zero, [0.1, 0.2, 0.3, 0.4], zero].concat());
}

/// What the bake did not need is in its output as it came.
#[test]
fn baked_files_keep_what_was_painted() {
    let attributes = [
        floats(SOFTNESS, "SCALAR", &[0.0, 0.25, 1.0, 0.5]),
        Attribute {
            name: "COLOR_0",
            component: U8,
            kind: "VEC4",
            normalized: true,
            bytes: (0..16).collect(),
        },
        floats("_FLOW", "VEC3", &[0.5; 12]),
    ];
    let loaded = load(&attributes);
    let (character, document) = (&loaded.character, &loaded.document);
    let shape = Shape::rest(character);
    let clip = BakedClip { clip: Some(0), name: "c", times: &[0.0, 0.5] };
    let (file, _) = gltf::bake(document, character, &NoFiles, &[clip], [&shape, &shape]).unwrap();
    let (text, bin) = split(&file);
    let json: Value = serde_json::from_slice(&text).unwrap();
    let mesh = json["nodes"].as_array().unwrap().iter().find_map(|n| n["mesh"].as_u64()).unwrap();
    for a in &attributes {
        let index = &json["meshes"][mesh as usize]["primitives"][0]["attributes"][a.name];
        let accessor =
            &json["accessors"][index.as_u64().unwrap_or_else(|| panic!("{} is lost", a.name)) as usize];
        assert_eq!((&accessor["type"], &accessor["componentType"]), (&json!(a.kind), &json!(a.component)));
        assert_eq!(accessor["normalized"].as_bool().unwrap_or(false), a.normalized);
        let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let at = |value: &Value| value.as_u64().unwrap_or(0) as usize;
        let start = at(&view["byteOffset"]) + at(&accessor["byteOffset"]);
        assert_eq!(bin[start..start + a.bytes.len()], a.bytes, "{}", a.name);
    }
}

/// A character made by code keeps its paint in a file.
#[test]
fn written_characters_keep_their_paint() {
    let mut raw = zoo::character("arm", Some(600)).unwrap().into_raw();
    let count = raw.surface.positions().len();
    let values: Vec<f32> = (0..count).map(|v| v as f32 / count as f32).collect();
    let paint = |name: &str| Painted { name: name.into(), values: values.clone() };
    raw.paint = vec![paint(SOFTNESS), paint("_FAT"), paint("COLOR_0.r")];
    let character = Character::new(raw).unwrap();
    let loaded = gltf::read(write_character(&character).unwrap(), &NoFiles).unwrap();
    assert_eq!(loaded.character.paint(), &character.paint()[..1]);
    assert_eq!(loaded.document.paint("_FAT", &mut vec![]).unwrap().as_ref(), Some(&character.paint()[1]));
    let on = Place::Painted(SOFTNESS.into());
    let choice = Region::new("", on, Preset::Fat).choice(&loaded.character).unwrap();
    assert_eq!(choice, values);
}

#[test]
fn real_colours_can_be_had() {
    let Some(data) = data() else { return };
    for (file, name) in [("RecursiveSkeletons.glb", "COLOR_0.a"), ("Alien/Alien.gltf", "COLOR_0.r")] {
        let loaded = common::read(&data.join("gltf").join(file)).unwrap();
        assert!(loaded.summary.painted.iter().any(|p| p == name), "{file}: {:?}", loaded.summary.painted);
        let painted = loaded.document.paint(name, &mut vec![]).unwrap().unwrap();
        assert_eq!(painted.values.len(), loaded.character.surface().positions().len());
        let mut raw = loaded.character.into_raw();
        raw.paint.push(painted);
        Character::new(raw).unwrap_or_else(|e| panic!("{file}: {e}"));
    }
}

#[test]
fn colours_of_an_obj_are_paint() {
    let text = b"v 0 0 0 1 0 0.5\nv 1 0 0 0 1 0.25\nv 0 1 0 0.5 2 0\nv 0 0 1 0 0 0\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    let mesh = obj::read(text).unwrap();
    let rig = rigging::read_skeleton("a.tgf", b"1 0 0 0\n2 0 1 0\n#\n1 2 1 0 0\n", &mesh).unwrap();
    let rigged = rigging::assemble(&mesh, rig, None).unwrap();
    let paint = rigged.character.paint();
    assert_eq!(
        paint.iter().map(|p| &p.name[..]).collect::<Vec<_>>(),
        ["COLOR_0.r", "COLOR_0.g", "COLOR_0.b"]
    );
    assert_eq!(paint[0].values, [1.0, 0.0, 0.5, 0.0]);
    assert_eq!(paint[1].values, [0.0, 1.0, 1.0, 0.0]);
    assert!(rigged.warnings.iter().any(|w| w.what.contains("colour")), "{:?}", rigged.warnings);
}
