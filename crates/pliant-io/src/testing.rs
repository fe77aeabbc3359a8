//! What the tests of the writers share: a character with one of everything, and a reading of GLBs that owes nothing
//! to the reader.

use crate::files::{Files, Folder};
use crate::gltf::Document;
use crate::gltf::testing::{document, split};
use glam::{DAffine3, DQuat, DVec3, Vec3};
use pliant::asset::*;
use serde_json::Value;
use std::path::Path;

/// Two meshes of three parts, four joints in two trees, five influences, two morphs, four clips.
pub(crate) fn sample() -> Character {
    let joint = |name: &str, parent, local: Local, world: DAffine3, tails| Joint {
        name: name.into(),
        parent,
        local,
        world_from_rest: world,
        deforms: true,
        tails,
    };
    let at = |x, y, z| DAffine3::from_translation(DVec3::new(x, y, z));
    let turn = DQuat::from_array([0.0, 0.6, 0.0, 0.8]);
    let turned = Local::Trs { translation: DVec3::new(0.0, 1.0, 0.0), rotation: turn, scale: DVec3::ONE };
    let world = turned.to_affine();
    let joints = vec![
        joint("hip", None, Local::IDENTITY, DAffine3::IDENTITY, vec![]),
        joint("knee", Some(0), turned, world, vec![]),
        joint("", Some(1), Local::Matrix(at(0.0, 1.0, 0.0)), world * at(0.0, 1.0, 0.0), vec![DVec3::Y]),
        joint("tail", None, Local::offset(DVec3::X), at(1.0, 0.0, 0.0), vec![]),
    ];
    let slots: Vec<Slot> = [0u32, 1, 2, 3, 1]
        .iter()
        .enumerate()
        .map(|(i, &joint)| {
            let rest = joints[joint as usize].world_from_rest;
            // The last slot binds the knee a second time, elsewhere.
            let moved = if i == 4 { at(0.0, 0.25, 0.0) } else { DAffine3::IDENTITY };
            Slot { joint, joint_from_rest: (moved * rest).inverse() }
        })
        .collect();
    // Three tetrahedra.
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for part in 0..3u32 {
        positions.extend(corners.map(|c| c * 0.1 + Vec3::new(0.3, part as f32 * 0.7, -0.2)));
        triangles.extend([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(|t| t.map(|v: u32| v + part * 4)));
    }
    let mut weights: Vec<Vec<(u16, f32)>> =
        (0..12).map(|v| vec![((v % 4) as u16, 0.75), (1, 0.25)]).collect();
    weights[2] = vec![(0, 0.3), (1, 0.25), (2, 0.2), (3, 0.15), (4, 0.1)];
    weights[9] = vec![(4, 1.0)];
    for entries in &mut weights {
        entries.sort_by_key(|e| e.0);
        entries.dedup_by(|b, a| {
            let same = a.0 == b.0;
            if same {
                a.1 += b.1;
            }
            same
        });
    }
    let part = |name: &str, mesh, index: u32, has_normals, color| Part {
        name: name.into(),
        mesh,
        vertices: index * 4..index * 4 + 4,
        triangles: index * 4..index * 4 + 4,
        has_normals,
        color,
    };
    let morph = |name: &str, vertices: Vec<u32>, default_weight| Morph {
        name: name.into(),
        positions: vertices.iter().map(|&v| Vec3::new(0.01 * v as f32, -0.5, 0.0)).collect(),
        normals: vertices.iter().map(|_| Vec3::new(0.0, 0.125, 0.0)).collect(),
        vertices,
        default_weight,
    };
    let track = |interpolation, width, times: &[f32], values: &[f32]| {
        Track::new(interpolation, width, times.to_vec(), values.to_vec()).unwrap()
    };
    use Interpolation::*;
    let channel = |target, track| Channel { target, track };
    let bend = [
        channel(
            Target::Rotation(1),
            track(Linear, 4, &[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.6, 0.0, 0.0, 0.8]),
        ),
        channel(Target::Translation(0), track(Step, 3, &[0.0, 0.5], &[0.0, 0.0, 0.0, 0.0, 0.5, 0.0])),
        channel(Target::Scale(2), track(Linear, 3, &[0.0, 1.0], &[1.0, 1.0, 1.0, 2.0, 1.5, 1.0])),
    ];
    let cubic = channel(
        Target::Translation(3),
        track(CubicSpline, 3, &[0.0, 2.0], &(0..18).map(|i| i as f32 * 0.1).collect::<Vec<_>>()),
    );
    let smile = channel(
        Target::Morphs { first: 0, count: 2 },
        track(Linear, 2, &[0.0, 1.0, 2.0], &[0.0, 0.0, 1.0, 0.5, 0.25, 0.75]),
    );
    Character::new(RawCharacter {
        skeleton: Skeleton::new(joints).unwrap(),
        surface: Surface::new(positions, None, triangles).unwrap(),
        parts: vec![
            part("body", 0, 0, true, [1.0, 0.5, 0.25]),
            part("body", 0, 1, true, [0.0, 0.5, 1.0]),
            part("näse", 1, 2, false, [1.0, 0.5, 0.25]),
        ],
        weights: Weights::new(&weights, slots.len()).unwrap(),
        slots,
        morphs: vec![morph("smile", vec![0, 1, 5], 0.0), morph("", vec![4, 6], 0.5)],
        clips: vec![
            Clip::new("bend".into(), bend.to_vec()),
            Clip::new("spline".into(), vec![cubic]),
            Clip::new("smile".into(), vec![smile]),
            Clip::new(String::new(), vec![]),
        ],
        paint: vec![],
    })
    .unwrap()
}

/// A GLB's JSON, and its numbers.
pub(crate) struct Glb {
    pub(crate) json: Value,
    pub(crate) document: Document,
}

impl Glb {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let (json, _) = split(bytes);
        Self { json, document: document(bytes.to_vec(), &crate::files::NoFiles) }
    }

    pub(crate) fn list(&self, key: &str) -> &[Value] {
        self.json[key].as_array().map_or(&[], Vec::as_slice)
    }

    /// The numbers of an accessor, each component type as it is stored (not normalised).
    pub(crate) fn numbers(&self, accessor: &Value) -> Vec<f64> {
        let accessor = &self.json["accessors"][accessor.as_u64().unwrap() as usize];
        let count = accessor["count"].as_u64().unwrap() as usize;
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let Some(view) = accessor["bufferView"].as_u64() else { return vec![0.0; count * width] };
        let view_json = &self.json["bufferViews"][view as usize];
        let number = |v: &Value| v.as_u64().unwrap_or(0) as usize;
        let start = number(&view_json["byteOffset"]);
        let view_bytes = match self.document.decoded_views.get(view as usize) {
            Some(Some(bytes)) => bytes,
            _ => {
                let buffer = self.document.buffer(number(&view_json["buffer"]));
                &buffer[start..start + number(&view_json["byteLength"])]
            }
        };
        let kind = accessor["componentType"].as_u64().unwrap();
        let size = match kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            _ => 4,
        };
        let stride = view_json["byteStride"].as_u64().map_or(size * width, |s| s as usize);
        let at = |i: usize, c: usize| {
            let b = &view_bytes[number(&accessor["byteOffset"]) + i * stride + c * size..][..size];
            match kind {
                5120 => f64::from(b[0] as i8),
                5121 => f64::from(b[0]),
                5122 => f64::from(i16::from_le_bytes([b[0], b[1]])),
                5123 => f64::from(u16::from_le_bytes([b[0], b[1]])),
                5125 => f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
                _ => f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            }
        };
        (0..count).flat_map(|i| (0..width).map(move |c| (i, c))).map(|(i, c)| at(i, c)).collect()
    }

    pub(crate) fn vectors(&self, accessor: &Value) -> Vec<Vec3> {
        self.numbers(accessor).chunks(3).map(|v| Vec3::new(v[0] as f32, v[1] as f32, v[2] as f32)).collect()
    }
}

/// A file on disk as a document, without the reader.
pub(crate) fn open(path: &Path) -> Document {
    document(std::fs::read(path).unwrap(), &Folder::of(path) as &dyn Files)
}

#[test]
fn data_is_found_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (here, nowhere) = (folder.path(), folder.path().join("nowhere"));
    assert_eq!(crate::data::choose(Some(here.into()), &nowhere).as_deref(), Some(here));
    assert_eq!(crate::data::choose(None, here).as_deref(), Some(here));
    assert_eq!(crate::data::choose(None, &nowhere), None);
}

#[test]
#[should_panic(expected = "which is no folder")]
fn data_that_is_asked_for_must_be_there() {
    crate::data::choose(Some("/no/such/folder".into()), &std::env::temp_dir());
}

#[test]
#[should_panic(expected = "PLIANT_VALIDATOR is set, but there is no gltf-validator")]
fn a_validator_that_is_asked_for_must_be_there() {
    crate::validator::validate_with(Some("/no/such/folder".into()), &[]);
}
