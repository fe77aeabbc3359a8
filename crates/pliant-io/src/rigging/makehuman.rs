//! MakeHuman's skeletons (`.mhskel`) and weights (`.mhw`, and the `.json` of its Blender add-on), both JSON.

use super::{FileWeights, Rig};
use crate::obj::ObjMesh;
use crate::text::{Problems, named, refused, shown};
use crate::{Problem, ReadError, Warning};
use pliant::asset::{Joint, Local, Skeleton};
use pliant::glam::{DAffine3, DVec3};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap, VecDeque};

#[derive(Deserialize)]
struct SkeletonFile {
    bones: BTreeMap<String, BoneEntry>,
    joints: BTreeMap<String, Vec<u64>>,
}

#[derive(Deserialize)]
struct BoneEntry {
    head: String,
    tail: String,
    parent: Option<String>,
}

#[derive(Deserialize)]
struct WeightsFile {
    weights: BTreeMap<String, Vec<(u64, f64)>>,
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8], what: &str) -> Result<T, ReadError> {
    serde_json::from_slice(crate::text::without_bom(bytes)).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let place = format!("line {}, column {}", error.line(), error.column());
        Problem::new(place, message).hint(format!("is this a MakeHuman {what} file?")).into()
    })
}

/// Reads a `.mhskel`: bones with a head and a tail, each the mean of some vertices of the surface.
///
/// A bone becomes a joint at its head, without rotation at rest (as in MakeHuman's own BVH files), so the roll of a
/// bone does not matter; its tail is an end site unless a bone below it starts there.
pub fn read_skeleton(bytes: &[u8], mesh: &ObjMesh) -> Result<Rig, ReadError> {
    let file: SkeletonFile = parse(bytes, "skeleton")?;
    let mut problems = Problems::default();
    // Bones share joints, and a joint may be the mean of the whole surface: each is looked at once.
    let mut known: HashMap<&str, Result<DVec3, Problem>> = HashMap::new();
    let mut place = |bone: &str, end: &str, name| match known
        .entry(name)
        .or_insert_with(|| joint_position(&file, name, mesh))
    {
        Ok(at) => *at,
        Err(problem) => {
            let mut problem = problem.clone();
            problem.what = format!("{} (the {end} of bone \"{}\")", problem.what, shown(bone.as_bytes()));
            problems.push(problem);
            DVec3::ZERO
        }
    };
    let names: Vec<&String> = file.bones.keys().collect();
    let number: HashMap<&str, usize> = names.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
    let ends: Vec<[DVec3; 2]> = file
        .bones
        .iter()
        .map(|(name, bone)| [place(name, "head", &bone.head), place(name, "tail", &bone.tail)])
        .collect();
    let mut parents: Vec<Option<usize>> = Vec::with_capacity(names.len());
    for (name, bone) in &file.bones {
        let parent = bone.parent.as_deref().filter(|p| !p.is_empty());
        parents.push(parent.and_then(|p| number.get(p).copied()));
        if let Some(parent) = parent.filter(|p| !number.contains_key(p)) {
            let what = format!("there is no bone \"{}\"", shown(parent.as_bytes()));
            problems.push(Problem::new(format!("bones.{}.parent", shown(name.as_bytes())), what));
        }
    }
    problems.check()?;
    if names.is_empty() {
        return Err(Problem::new("bones", "there are no bones").into());
    }

    let mut children: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    for (bone, parent) in parents.iter().enumerate() {
        if let Some(parent) = *parent {
            children[parent].push(bone);
        }
    }
    let size = ends.iter().flatten().map(|p| p.distance(ends[0][0])).fold(0.0, f64::max);
    let mut joint_of: Vec<Option<u32>> = vec![None; names.len()];
    let mut joints = Vec::with_capacity(names.len());
    let mut next: VecDeque<usize> = (0..names.len()).filter(|&b| parents[b].is_none()).collect();
    while let Some(bone) = next.pop_front() {
        let [head, tail] = ends[bone];
        let above = parents[bone].map_or(DVec3::ZERO, |p| ends[p][0]);
        // Where a child starts at the tail the bone is there already.
        let goes_on = children[bone].iter().any(|&c| ends[c][0].distance(tail) <= 1e-6 * size);
        joint_of[bone] = Some(joints.len() as u32);
        joints.push(Joint {
            name: named(names[bone]),
            parent: parents[bone].and_then(|p| joint_of[p]),
            local: Local::offset(head - above),
            world_from_rest: DAffine3::from_translation(head),
            deforms: true,
            tails: if goes_on { Vec::new() } else { vec![tail - head] },
        });
        next.extend(&children[bone]);
    }
    if let Some(bone) = joint_of.iter().position(Option::is_none) {
        let place = format!("bones.{}.parent", shown(names[bone].as_bytes()));
        return Err(Problem::new(place, "the parents of the bone go round in a circle").into());
    }
    let columns = (0..joints.len() as u32).collect();
    let skeleton = Skeleton::new(joints).map_err(refused("bones"))?;
    Ok(Rig { skeleton, columns, clips: Vec::new(), warnings: Vec::new() })
}

fn joint_position(file: &SkeletonFile, name: &str, mesh: &ObjMesh) -> Result<DVec3, Problem> {
    let place = format!("joints.{}", shown(name.as_bytes()));
    let Some(vertices) = file.joints.get(name).filter(|v| !v.is_empty()) else {
        return Err(Problem::new(place, "no vertices are given for the joint"));
    };
    let mut sum = DVec3::ZERO;
    for &vertex in vertices {
        let at = usize::try_from(vertex).ok().and_then(|v| mesh.positions.get(v));
        let at = at.ok_or_else(|| {
            let count = mesh.positions.len();
            let what = format!("vertex {vertex} is named, but the surface has only {count}");
            Problem::new(&place, what).hint("is this the surface that the skeleton was made for?")
        })?;
        sum += at.as_dvec3();
    }
    Ok(sum / vertices.len() as f64)
}

/// Reads weights by bone name: lists of `[vertex, weight]`.
pub fn read_weights(bytes: &[u8], mesh: &ObjMesh, rig: &Rig) -> Result<FileWeights, ReadError> {
    let file: WeightsFile = parse(bytes, "weights")?;
    let joints = rig.skeleton.joints();
    let number: HashMap<&str, u32> =
        joints.iter().enumerate().map(|(i, joint)| (joint.name.as_str(), i as u32)).collect();
    let mut problems = Problems::default();
    let mut entries = Vec::new();
    let mut unknown = (0, String::new());
    for (bone, list) in &file.weights {
        let place = |index: usize| format!("weights.{}[{index}]", shown(bone.as_bytes()));
        let joint = number.get(bone.as_str());
        for (index, &(vertex, weight)) in list.iter().enumerate() {
            let in_range = usize::try_from(vertex).is_ok_and(|v| v < mesh.positions.len());
            if !in_range {
                let count = mesh.positions.len();
                let what = format!("vertex {vertex} is named, but the surface has only {count}");
                problems.push(Problem::new(place(index), what));
            } else if !(0.0..=1e6).contains(&weight) {
                problems.push(Problem::new(place(index), format!("the weight {weight} cannot be used")));
            } else if let Some(&joint) = joint
                && weight > 0.0
            {
                entries.push((vertex as u32, joint, weight as f32));
            }
        }
        if joint.is_none() {
            unknown.0 += 1;
            unknown.1.clone_from(bone);
        }
        if problems.full() {
            break;
        }
    }
    problems.check()?;
    if entries.is_empty() {
        let what = "no bone of the skeleton has weights";
        return Err(Problem::new("weights", what).hint("do skeleton and weights belong together?").into());
    }
    let mut warnings = Vec::new();
    if unknown.0 > 0 {
        let what = format!(
            "a bone that is not in the skeleton, such as \"{}\", is left out",
            shown(unknown.1.as_bytes())
        );
        warnings.push(Warning::new("weights", what, unknown.0));
    }
    Ok(FileWeights::new(entries, warnings))
}
