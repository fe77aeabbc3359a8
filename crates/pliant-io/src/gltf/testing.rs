//! Documents for the writers' tests, made without the reader.

use super::Document;
use super::document::{Bytes, PartSource};
use crate::files::Files;
use glam::{DAffine3, Vec3};
use pliant::asset::*;
use serde_json::Value;

/// JSON and binary chunk of a GLB, or the JSON of a `.gltf`.
pub(crate) fn split(bytes: &[u8]) -> (Value, std::ops::Range<usize>) {
    if !bytes.starts_with(b"glTF") {
        return (serde_json::from_slice(bytes).unwrap(), 0..0);
    }
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(word(8), bytes.len(), "length of the file");
    let end = 20 + word(12);
    assert_eq!(&bytes[16..20], b"JSON");
    let json = serde_json::from_slice(&bytes[20..end]).unwrap();
    if end == bytes.len() {
        return (json, 0..0);
    }
    assert_eq!((word(end) + end + 8, &bytes[end + 4..end + 8]), (bytes.len(), &b"BIN\0"[..]));
    (json, end + 8..bytes.len())
}

fn base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        bits = (bits << 6) | alphabet.iter().position(|a| *a == c).unwrap() as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

/// A file as a document: every primitive of every skinned node is a part, every animation a clip.
pub(crate) fn document(bytes: Vec<u8>, files: &dyn Files) -> Document {
    let (json, data) = split(&bytes);
    let list = |key: &str| json[key].as_array().cloned().unwrap_or_default();
    let buffers = list("buffers").into_iter().map(|buffer| match buffer["uri"].as_str() {
        None => Bytes::InFile(data.clone()),
        Some(uri) if uri.starts_with("data:") => Bytes::Own(base64(uri.split_once(',').unwrap().1)),
        Some(uri) => Bytes::Own(files.read(uri, u64::MAX - 1).unwrap()),
    });
    let mut parts = Vec::new();
    for (node, value) in list("nodes").iter().enumerate().filter(|(_, n)| n["skin"].is_u64()) {
        let mesh = &json["meshes"][value["mesh"].as_u64().unwrap() as usize];
        let count = mesh["primitives"].as_array().unwrap().len();
        parts.extend((0..count).map(|primitive| PartSource { node, primitive }));
    }
    let range = if bytes.starts_with(b"glTF") {
        20..20 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize
    } else {
        0..bytes.len()
    };
    Document {
        json: range,
        buffers: buffers.collect(),
        decoded_views: vec![None; list("bufferViews").len()],
        parts,
        joint_nodes: Vec::new(),
        clip_animations: (0..list("animations").len()).collect(),
        file: bytes,
    }
}

/// A character with the document's parts and made-up positions: enough to bake.
pub(crate) fn stand_in(document: &Document) -> Character {
    let json: Value = serde_json::from_slice(document.json()).unwrap();
    let mut parts = Vec::new();
    let mut count = 0;
    for source in &document.parts {
        let node = &json["nodes"][source.node];
        let primitive =
            &json["meshes"][node["mesh"].as_u64().unwrap() as usize]["primitives"][source.primitive];
        let attributes = &primitive["attributes"];
        let accessor = &json["accessors"][attributes["POSITION"].as_u64().unwrap() as usize];
        let end = count + accessor["count"].as_u64().unwrap() as u32;
        parts.push(Part {
            name: node["name"].as_str().unwrap_or_default().into(),
            mesh: source.node as u32,
            vertices: count..end,
            triangles: 0..0,
            has_normals: attributes["NORMAL"].is_u64(),
            color: [1.0; 3],
        });
        count = end;
    }
    let positions: Vec<Vec3> = (0..count).map(|v| place(v as usize, 0)).collect();
    let joint = Joint {
        name: String::new(),
        parent: None,
        local: Local::IDENTITY,
        world_from_rest: DAffine3::IDENTITY,
        deforms: true,
        tails: Vec::new(),
    };
    let clip = Clip::new(String::new(), Vec::new());
    Character::new(RawCharacter {
        skeleton: Skeleton::new(vec![joint]).unwrap(),
        surface: Surface::new(positions, None, Vec::new()).unwrap(),
        parts,
        slots: vec![Slot { joint: 0, joint_from_rest: DAffine3::IDENTITY }],
        weights: Weights::new(&vec![vec![(0, 1.0)]; count as usize], 1).unwrap(),
        morphs: Vec::new(),
        clips: vec![clip; document.clip_animations.len()],
        paint: Vec::new(),
    })
    .unwrap()
}

/// Somewhere within 3 of the origin, elsewhere for each vertex and frame.
pub(crate) fn place(vertex: usize, frame: usize) -> Vec3 {
    let mut state = (vertex as u64 * 1_000_003 + frame as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut number = || {
        state ^= state >> 29;
        state = state.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (state >> 40) as f32 / (1 << 24) as f32 * 3.0 - 1.5
    };
    Vec3::new(number(), number(), number())
}
