//! A motion that a file did not bring, put into its document: what is baked moves its rigid parts along.

use super::document::{Bytes, Document};
use super::out::{Accessor, F32, View, time_bounds};
use crate::WriteError;
use glam::Quat;
use pliant::asset::{Channel, Clip, Interpolation, Local, Skeleton, Target};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

impl Document {
    /// Adds a clip of the character's joints, as an animation after all others. `skeleton` is the character's. Morphs
    /// are left out: a bake writes its own.
    pub fn add_clip(&mut self, skeleton: &Skeleton, clip: &Clip) -> Result<(), WriteError> {
        let wrong = |what: String| WriteError::at(format!("clip {}", clip.name()), what);
        let mut root: Map<String, Value> =
            serde_json::from_slice(self.json()).map_err(|error| wrong(error.to_string()))?;
        let mut data = Data { bytes: Vec::new(), buffer: self.buffers.len() as u32 };
        let mut inputs: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        let (mut channels, mut samplers) = (Vec::new(), Vec::new());
        let mut moved = BTreeMap::new();
        // Of several channels with one target the last counts, and they stand together.
        for same in clip.channels().chunk_by(|a, b| a.target == b.target) {
            let Channel { target, track } = &same[same.len() - 1];
            let (joint, path, kind) = match *target {
                Target::Translation(joint) => (joint, "translation", "VEC3"),
                Target::Rotation(joint) => (joint, "rotation", "VEC4"),
                Target::Scale(joint) => (joint, "scale", "VEC3"),
                Target::Morphs { .. } => continue,
            };
            let times = track.times();
            let key = times.iter().flat_map(|t| t.to_le_bytes()).collect::<Vec<u8>>();
            let input = match inputs.get(&key) {
                Some(&input) => input,
                None => {
                    let input = data.put(&mut root, times, "SCALAR", 1, true)?;
                    inputs.insert(key, input);
                    input
                }
            };
            let output = data.put(&mut root, track.values(), kind, track.width(), false)?;
            let interpolation = match track.interpolation() {
                Interpolation::Linear => "LINEAR",
                Interpolation::Step => "STEP",
                Interpolation::CubicSpline => "CUBICSPLINE",
            };
            let at = joint as usize;
            let (Some(&node), Some(bone)) = (self.joint_nodes.get(at), skeleton.joints().get(at)) else {
                return Err(wrong(format!("moves joint {joint}, which this document does not have")));
            };
            moved.insert(node, bone.local);
            channels.push(json!({"sampler": samplers.len(), "target": {"node": node, "path": path}}));
            samplers.push(json!({"input": input, "output": output, "interpolation": interpolation}));
        }
        for (node, local) in moved {
            unpack(&mut root, node, local);
        }
        push(&mut root, "buffers", json!({"byteLength": data.bytes.len()}));
        let animation = json!({"name": clip.name(), "channels": channels, "samplers": samplers});
        self.clip_animations.push(push(&mut root, "animations", animation));
        self.buffers.push(Bytes::Own(data.bytes));
        let json = serde_json::to_vec(&root).map_err(|error| wrong(error.to_string()))?;
        // Ranges of the file stay where they are.
        let start = self.file.len();
        self.file.extend(json);
        self.json = start..self.file.len();
        Ok(())
    }
}

/// A new buffer.
struct Data {
    bytes: Vec<u8>,
    buffer: u32,
}

impl Data {
    /// Numbers into the buffer; their accessor.
    fn put(
        &mut self,
        root: &mut Map<String, Value>,
        values: &[f32],
        kind: &'static str,
        width: usize,
        is_time: bool,
    ) -> Result<usize, WriteError> {
        let view = View::new(self.bytes.len() as u64, 4 * values.len() as u64);
        self.bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        let view = push(root, "bufferViews", value(&View { buffer: self.buffer, ..view })?);
        let accessor = Accessor::new(view, F32, kind, values.len() / width);
        let accessor = if is_time { accessor.bounded(time_bounds(values)) } else { accessor };
        Ok(push(root, "accessors", value(&accessor)?))
    }
}

fn value(item: &impl Serialize) -> Result<Value, WriteError> {
    serde_json::to_value(item).map_err(|error| WriteError::at("clip", error.to_string()))
}

/// Puts an item at the end of a list; its number.
fn push(root: &mut Map<String, Value>, key: &str, item: Value) -> usize {
    match root.entry(key).or_insert_with(|| json!([])) {
        Value::Array(list) => {
            list.push(item);
            list.len() - 1
        }
        other => {
            *other = json!([item]);
            0
        }
    }
}

/// glTF does not animate a node that has a matrix: it gets translation, rotation and scale.
fn unpack(root: &mut Map<String, Value>, node: usize, local: Local) {
    let node = root.get_mut("nodes").and_then(|nodes| nodes.get_mut(node));
    let Some(node) = node.and_then(Value::as_object_mut) else { return };
    if node.remove("matrix").is_none() {
        return;
    }
    let (scale, rotation, translation) = local.to_affine().to_scale_rotation_translation();
    let rotation: Quat = rotation.as_quat().normalize();
    node.insert("translation".into(), json!(translation.as_vec3().to_array()));
    node.insert("rotation".into(), json!(rotation.to_array()));
    node.insert("scale".into(), json!(scale.as_vec3().to_array()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::zoo;

    /// The human's shoulders come before its legs, and under another parent.
    #[test]
    fn joints_of_a_character_from_elsewhere_move_their_own_nodes() {
        let character = zoo::character("human", Some(600)).unwrap();
        let joints = character.skeleton().joints();
        let mut document = Document::of(&character).unwrap();
        let clip = character.clips().iter().max_by_key(|clip| clip.channels().len()).unwrap();
        document.add_clip(character.skeleton(), clip).unwrap();
        let json: Value = serde_json::from_slice(document.json()).unwrap();
        let added = json["animations"].as_array().unwrap().last().unwrap();
        let nodes = added["channels"].as_array().unwrap().iter().map(|c| &c["target"]["node"]);
        let moved: Vec<&Value> =
            nodes.map(|n| &json["nodes"][n.as_u64().unwrap() as usize]["name"]).collect();
        let mut expected: Vec<_> = clip.channels().iter().map(|c| (c.target, c.target.joint())).collect();
        expected.dedup();
        let expected: Vec<&str> =
            expected.iter().filter_map(|&(_, joint)| Some(&joints[joint? as usize].name[..])).collect();
        assert!(!expected.is_empty());
        assert_eq!(moved, expected);
        assert_eq!(document.joint_nodes().len(), joints.len());
    }
}
