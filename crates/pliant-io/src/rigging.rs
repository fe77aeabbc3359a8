//! A surface, a skeleton and weights from three files, put together into a character.

pub mod dmat;
pub mod makehuman;
pub mod tgf;

use crate::obj::ObjMesh;
use crate::text::{named, refused};
use crate::{Problem, ReadError, Warning, bvh};
use pliant::asset::{Character, Clip, Painted, Part, RawCharacter, Skeleton, Surface, Weights};
use pliant::rig::weights::{self, BoneDistances, DistanceSettings, rest_size};

/// A character made of files that are not one, and what was odd about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Rigged {
    /// The character.
    pub character: Character,
    /// What was odd.
    pub warnings: Vec<Warning>,
}

/// A skeleton read from a file of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Rig {
    /// The joints; all deform.
    pub skeleton: Skeleton,
    /// The joint that each column of a `.dmat` drives. Where a skeleton file knows no columns, all joints in order.
    pub columns: Vec<u32>,
    /// A motion that came with the skeleton (BVH).
    pub clips: Vec<Clip>,
    /// What was odd.
    pub warnings: Vec<Warning>,
}

/// Weights as a file has them: entries of vertices and joints, not normalised yet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileWeights {
    /// Vertex, joint and weight; in order of vertices.
    entries: Vec<(u32, u32, f32)>,
    /// What was odd.
    pub warnings: Vec<Warning>,
}

impl FileWeights {
    /// Entries in any order.
    pub(crate) fn new(mut entries: Vec<(u32, u32, f32)>, warnings: Vec<Warning>) -> Self {
        entries.sort_by_key(|e| (e.0, e.1));
        Self { entries, warnings }
    }

    /// Vertex, joint and weight of every entry, in order of vertices.
    pub fn entries(&self) -> &[(u32, u32, f32)] {
        &self.entries
    }
}

/// The letters after the last dot, in lower case.
fn extension(file: &str) -> String {
    file.rsplit_once('.').map_or(file, |(_, after)| after).to_ascii_lowercase()
}

/// Reads a skeleton for a surface: `.tgf`, `.bvh` or `.mhskel`, told by the end of the file's name (or the extension
/// alone).
pub fn read_skeleton(file: &str, bytes: &[u8], mesh: &ObjMesh) -> Result<Rig, ReadError> {
    match extension(file).as_str() {
        "tgf" => tgf::read(bytes),
        "mhskel" => makehuman::read_skeleton(bytes, mesh),
        "bvh" => {
            let bvh = bvh::read(bytes)?;
            Ok(Rig {
                columns: (0..bvh.skeleton.len() as u32).collect(),
                skeleton: bvh.skeleton,
                clips: bvh.clip.into_iter().collect(),
                warnings: bvh.warnings,
            })
        }
        other => Err(unknown("skeleton", other, ".tgf, .bvh or .mhskel")),
    }
}

/// Reads weights for a surface and a skeleton: `.dmat`, `.mhw` or `.json`, told by the end of the file's name.
pub fn read_weights(file: &str, bytes: &[u8], mesh: &ObjMesh, rig: &Rig) -> Result<FileWeights, ReadError> {
    match extension(file).as_str() {
        "dmat" => dmat::read_weights(bytes, mesh, rig),
        "mhw" | "json" => makehuman::read_weights(bytes, mesh, rig),
        other => Err(unknown("weights", other, ".dmat, .mhw or .json")),
    }
}

fn unknown(what: &str, extension: &str, known: &str) -> ReadError {
    Problem::new("", format!("\".{extension}\" is not a kind of {what} file that can be read"))
        .hint(format!("give {known}"))
        .into()
}

/// Puts a character together. Its vertices are the `v` lines of the OBJ, in order. Without weights they are computed
/// by straight-line distance to the bones.
pub fn assemble(mesh: &ObjMesh, rig: Rig, given: Option<&FileWeights>) -> Result<Rigged, ReadError> {
    let mut warnings = mesh.warnings.clone();
    warnings.extend(rig.warnings);
    let skeleton = rig.skeleton;
    let weights = match given {
        Some(given) => {
            warnings.extend(given.warnings.iter().cloned());
            normalised(mesh, &skeleton, given, &mut warnings)?
        }
        None => weights::distance(&mesh.positions, &skeleton, DistanceSettings::default())
            .map_err(refused("skeleton"))?,
    };
    let triangles = skin_triangles(mesh, &mut warnings);
    let color = mesh.colors.as_ref().map_or([0.6; 3], |colors| {
        // One colour a part: the mean.
        let sum = colors.iter().fold([0.0f64; 3], |s, c| [0, 1, 2].map(|i| s[i] + f64::from(c[i])));
        sum.map(|s| (s / colors.len().max(1) as f64).clamp(0.0, 1.0) as f32)
    });
    let paint = mesh.colors.as_deref().map_or(Vec::new(), |colors| painted(colors, &mut warnings));
    let part = Part {
        name: mesh.groups.first().filter(|_| mesh.groups.len() == 1).map_or(String::new(), |g| named(g)),
        mesh: 0,
        vertices: 0..mesh.positions.len() as u32,
        triangles: 0..triangles.len() as u32,
        has_normals: false,
        color,
    };
    let character = Character::new(RawCharacter {
        surface: Surface::new(mesh.positions.clone(), None, triangles).map_err(refused("surface"))?,
        slots: weights::slots(&skeleton),
        skeleton,
        parts: vec![part],
        weights,
        morphs: Vec::new(),
        clips: rig.clips,
        paint,
    });
    Ok(Rigged { character: character.map_err(refused("character"))?, warnings })
}

/// The channels of vertex colours, by the names that glTF would give them.
fn painted(colors: &[[f32; 3]], warnings: &mut Vec<Warning>) -> Vec<Painted> {
    let beyond = colors.iter().flatten().filter(|c| !(0.0..=1.0).contains(*c)).count();
    if beyond > 0 {
        warnings.push(Warning::new("surface", "a colour beyond 0 to 1 is cut to that", beyond));
    }
    let channel = |(k, name): (usize, &str)| Painted {
        name: format!("COLOR_0.{name}"),
        values: colors.iter().map(|color| color[k].clamp(0.0, 1.0)).collect(),
    };
    ["r", "g", "b"].into_iter().enumerate().map(channel).collect()
}

/// Weights that sum to one; vertices without any are bound to the nearest bone.
fn normalised(
    mesh: &ObjMesh,
    skeleton: &Skeleton,
    given: &FileWeights,
    warnings: &mut Vec<Warning>,
) -> Result<Weights, ReadError> {
    let size = rest_size(&mesh.positions, skeleton);
    let bones = BoneDistances::new(skeleton, size).map_err(refused("skeleton"))?;
    let mut slot_of_joint = Vec::with_capacity(skeleton.len());
    let mut count = 0usize;
    for joint in skeleton.joints() {
        slot_of_joint.push(count as u16);
        count += usize::from(joint.deforms);
    }
    let mut rest = given.entries();
    let slot_of_joint = &slot_of_joint;
    let per_vertex = (0..mesh.positions.len() as u32).map(|vertex| {
        let count = rest.iter().take_while(|e| e.0 <= vertex).count();
        let (mine, others) = rest.split_at(count);
        rest = others;
        mine.iter().filter_map(|e| Some((*slot_of_joint.get(e.1 as usize)?, e.2)))
    });
    let nearest = |vertex: usize| mesh.positions.get(vertex).map(|p| bones.nearest(p.as_dvec3()));
    let (weights, repairs) = Weights::normalised(per_vertex, count, nearest).map_err(refused("weights"))?;
    for (count, what) in [
        (repairs.unnormalised, "the weights of a vertex do not sum to one and are scaled to"),
        (repairs.zero, "a vertex has no weight and is bound to the nearest bone"),
    ] {
        if count > 0 {
            warnings.push(Warning::new("weights", what, count));
        }
    }
    Ok(weights)
}

/// The triangles that are skin. MakeHuman's base mesh holds, beside the group `body`, helper geometry and a cube at
/// each joint: their vertices say where the joints are, their faces are not skin.
pub fn skin_triangles(mesh: &ObjMesh, warnings: &mut Vec<Warning>) -> Vec<[u32; 3]> {
    let body = mesh.groups.iter().position(|g| g == "body");
    let helpers = mesh.groups.iter().any(|g| g.starts_with("joint-") || g.starts_with("helper-"));
    let Some(body) = body.filter(|_| helpers) else { return mesh.triangles.clone() };
    let both = mesh.triangles.iter().zip(&mesh.triangle_groups);
    let kept: Vec<_> = both.filter(|(_, group)| **group as usize == body).map(|(t, _)| *t).collect();
    let what = "a triangle of a helper or joint group beside the group \"body\" is left out";
    warnings.push(Warning::new("surface", what, mesh.triangles.len() - kept.len()));
    kept
}
