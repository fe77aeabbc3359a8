//! A fresh GLB from a character: what was made by code or read from another format, for any glTF tool to open.

use super::out::{
    Accessor, F32, INDICES, U8, U16, U32, VERTICES, View, glb_head, time_bounds, vector_bounds,
};
use crate::WriteError;
use glam::{DAffine3, Vec3};
use pliant::asset::{Channel, Character, Clip, Interpolation, Local, Part, Target, Track};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// A rigged GLB: joints as nodes, one skinned node and mesh per `Part::mesh` with a primitive per part, weights, bind
/// matrices, normals, flat colours, morphs, clips, and what is painted under names that start with `_`. Reading it gives
/// the character back; painted attributes but `_SOFTNESS` when asked for.
///
/// End sites become plain nodes below their joints; joints without a common root get one, as glTF asks.
pub fn write_character(character: &Character) -> Result<Vec<u8>, WriteError> {
    let mut file = File::default();
    let roots = file.joints(character);
    file.meshes(character)?;
    for clip in character.clips() {
        file.clip(character, clip)?;
    }
    file.finish(roots)
}

/// For each joint of a character, the node that [`write_character`] makes of it.
pub(crate) fn joint_nodes(character: &Character) -> Vec<usize> {
    (0..character.skeleton().joints().len()).collect()
}

/// A file in the making. Joint `j` is node `j`.
#[derive(Default)]
struct File {
    data: Vec<u8>,
    views: Vec<View>,
    accessors: Vec<Accessor>,
    nodes: Vec<Value>,
    meshes: Vec<Value>,
    materials: Vec<Value>,
    skins: Vec<Value>,
    /// For each skin, its joint nodes and the slot or joint that each stands for.
    skin_joints: Vec<Vec<Bound>>,
    /// By slot, the node that stands in for its joint.
    twins: BTreeMap<u16, usize>,
    animations: Vec<Value>,
    /// Skinned nodes, and the morphs of each.
    skinned: Vec<(usize, Range<usize>)>,
}

/// A joint of a skin: its node, and the slot it is the joint of, if any vertex may refer to it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    node: usize,
    slot: Option<u16>,
}

impl File {
    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        self.data.resize(self.data.len().next_multiple_of(4), 0);
        let view = View::new(self.data.len() as u64, bytes.len() as u64);
        self.views.push(View { target, ..view });
        self.data.extend(bytes);
        self.views.len() - 1
    }

    fn accessor(&mut self, accessor: Accessor) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn floats(&mut self, values: &[f32], kind: &'static str, count: usize) -> usize {
        let view = self.view(&float_bytes(values), None);
        self.accessor(Accessor::new(view, F32, kind, count))
    }

    fn vectors(&mut self, values: &[Vec3], bounded: bool) -> usize {
        let view = self.view(&vector_bytes(values), Some(VERTICES));
        let accessor = Accessor::new(view, F32, "VEC3", values.len());
        self.accessor(if bounded {
            accessor.bounded(vector_bounds(values.iter().copied()))
        } else {
            accessor
        })
    }

    /// Nodes for the joints; gives the scene's roots.
    fn joints(&mut self, character: &Character) -> Vec<usize> {
        let joints = character.skeleton().joints();
        let mut children = vec![Vec::new(); joints.len()];
        let mut roots = Vec::new();
        for (index, joint) in joints.iter().enumerate() {
            match joint.parent {
                Some(parent) => children[parent as usize].push(index),
                None => roots.push(index),
            }
        }
        let mut tails = Vec::new();
        for (joint, own) in joints.iter().zip(&mut children) {
            for tail in &joint.tails {
                own.push(joints.len() + tails.len());
                tails.push(json!({"name": format!("{}_end", joint.name), "translation": tail.to_array()}));
            }
        }
        let mut animated = vec![false; joints.len()];
        for channel in character.clips().iter().flat_map(Clip::channels) {
            if let Some(joint) = channel.target.joint() {
                animated[joint as usize] = true;
            }
        }
        // A clip without channels gets one that holds the first joint: see `clip`.
        if character.clips().iter().any(|c| c.channels().is_empty()) {
            animated.iter_mut().take(1).for_each(|a| *a = true);
        }
        for (index, joint) in joints.iter().enumerate() {
            let mut node = Map::new();
            if !joint.name.is_empty() {
                node.insert("name".into(), joint.name.clone().into());
            }
            if !children[index].is_empty() {
                node.insert("children".into(), json!(children[index]));
            }
            transform(&mut node, joint.local, animated[index]);
            self.nodes.push(node.into());
        }
        self.nodes.extend(tails);
        if roots.len() > 1 {
            self.nodes.push(json!({"name": "root", "children": roots}));
            roots = vec![self.nodes.len() - 1];
        }
        roots
    }

    /// One skinned node per mesh.
    fn meshes(&mut self, character: &Character) -> Result<(), WriteError> {
        let groups: Vec<&[Part]> = character.parts().chunk_by(|a, b| a.mesh == b.mesh).collect();
        let morphs = morph_ranges(character, &groups);
        for (parts, morphs) in groups.into_iter().zip(morphs) {
            let skin = self.skin(character, parts);
            let mut primitives = Vec::new();
            for part in parts.iter().filter(|p| !p.vertices.is_empty()) {
                primitives.push(self.primitive(character, part, skin, morphs.clone())?);
            }
            if primitives.is_empty() {
                continue;
            }
            let name = mesh_name(parts);
            let mut mesh = json!({"name": name, "primitives": primitives});
            let all = &character.morphs()[morphs.clone()];
            if !all.is_empty() {
                mesh["weights"] = json!(all.iter().map(|m| m.default_weight).collect::<Vec<_>>());
            }
            // The one place that glTF has for the names of morphs.
            if all.iter().any(|m| !m.name.is_empty()) {
                let names: Vec<_> = all.iter().map(|m| &m.name).collect();
                mesh["extras"] = json!({"targetNames": names});
            }
            self.meshes.push(mesh);
            self.skinned.push((self.nodes.len(), morphs));
            let mut node = json!({"mesh": self.meshes.len() - 1, "name": name});
            if !self.skin_joints[skin].is_empty() {
                node["skin"] = skin.into();
            }
            self.nodes.push(node);
        }
        // A character without slots has no vertices, so such a skin has no user.
        self.skins.retain(|s| s["joints"].as_array().is_some_and(|j| !j.is_empty()));
        Ok(())
    }

    /// The skin of a mesh: all slots, those that the mesh uses first in line for their joints, then joints that deform
    /// without a slot, so that the topmost joint, which says where rest is, is always there.
    fn skin(&mut self, character: &Character, parts: &[Part]) -> usize {
        let (slots, joints) = (character.slots(), character.skeleton().joints());
        let mut used = vec![false; slots.len()];
        for v in parts.iter().flat_map(|p| p.vertices.clone()) {
            character.weights().of(v as usize).for_each(|(slot, _)| used[slot as usize] = true);
        }
        let mut chosen: Vec<Option<u16>> = vec![None; joints.len()];
        let mut twins = Vec::new();
        for wanted in [true, false] {
            for (index, slot) in slots.iter().enumerate().filter(|(i, _)| used[*i] == wanted) {
                match &mut chosen[slot.joint as usize] {
                    empty @ None => *empty = Some(index as u16),
                    Some(_) if wanted => twins.push(index as u16),
                    Some(_) => {}
                }
            }
        }
        let mut bound: Vec<Bound> = Vec::new();
        for (index, slot) in slots.iter().enumerate() {
            let index = index as u16;
            if chosen[slot.joint as usize] == Some(index) {
                bound.push(Bound { node: slot.joint as usize, slot: Some(index) });
            } else if twins.contains(&index) {
                // Bound twice to one joint: glTF wants a node for each, so a still child stands in.
                let node = self.twin(index, slot.joint as usize, &joints[slot.joint as usize].name);
                bound.push(Bound { node, slot: Some(index) });
            }
        }
        for (index, joint) in joints.iter().enumerate() {
            if joint.deforms && chosen[index].is_none() && joint.world_from_rest.inverse().is_finite() {
                bound.push(Bound { node: index, slot: None });
            }
        }
        if let Some(same) = self.skin_joints.iter().position(|b| *b == bound) {
            return same;
        }
        let inverse = |b: &Bound| match b.slot {
            Some(slot) => slots[slot as usize].joint_from_rest,
            None => joints[b.node].world_from_rest.inverse(),
        };
        let matrices: Vec<f32> = bound.iter().flat_map(|b| columns(inverse(b))).map(|x| x as f32).collect();
        let nodes: Vec<_> = bound.iter().map(|b| b.node).collect();
        let mut skin = json!({"joints": nodes});
        if !bound.is_empty() {
            skin["inverseBindMatrices"] = self.floats(&matrices, "MAT4", bound.len()).into();
        }
        self.skins.push(skin);
        self.skin_joints.push(bound);
        self.skins.len() - 1
    }

    /// The still child of a joint that stands in for it in one of its slots.
    fn twin(&mut self, slot: u16, joint: usize, name: &str) -> usize {
        if let Some(&node) = self.twins.get(&slot) {
            return node;
        }
        let node = self.nodes.len();
        self.twins.insert(slot, node);
        self.nodes.push(json!({"name": format!("{name}_bind")}));
        let parent = &mut self.nodes[joint];
        match parent["children"].as_array_mut() {
            Some(children) => children.push(node.into()),
            None => parent["children"] = json!([node]),
        }
        node
    }

    fn primitive(
        &mut self,
        character: &Character,
        part: &Part,
        skin: usize,
        morphs: Range<usize>,
    ) -> Result<Value, WriteError> {
        let surface = character.surface();
        let vertices = part.vertices.start as usize..part.vertices.end as usize;
        let triangles = &surface.triangles()[part.triangles.start as usize..part.triangles.end as usize];
        let corners: Vec<u32> = triangles.iter().flatten().map(|v| v - part.vertices.start).collect();
        let mut attributes = Map::new();
        let positions = self.vectors(&surface.positions()[vertices.clone()], true);
        attributes.insert("POSITION".into(), positions.into());
        if part.has_normals {
            let normals = self.vectors(&surface.normals()[vertices.clone()], false);
            attributes.insert("NORMAL".into(), normals.into());
        }
        self.weights(character, vertices.clone(), skin, &mut attributes);
        // Names that glTF leaves to everyone; colours would tint the skin.
        for painted in character.paint().iter().filter(|p| p.name.starts_with('_')) {
            let view = self.view(&float_bytes(&painted.values[vertices.clone()]), Some(VERTICES));
            let values = self.accessor(Accessor::new(view, F32, "SCALAR", vertices.len()));
            attributes.insert(painted.name.clone(), values.into());
        }
        let mut primitive = json!({"attributes": attributes, "material": self.material(part.color)});
        if !corners.is_empty() {
            primitive["indices"] = self.indices(&corners, vertices.len()).into();
        } else {
            // Without triangles the vertices are still there, as points.
            primitive["mode"] = 0.into();
        }
        if !morphs.is_empty() {
            let targets: Vec<_> = morphs.map(|m| self.target(character, part, m)).collect();
            primitive["targets"] = targets.into();
        }
        Ok(primitive)
    }

    fn indices(&mut self, corners: &[u32], vertices: usize) -> usize {
        // The largest u16 means "restart" and is no index.
        let (bytes, kind): (Vec<u8>, _) = if vertices <= usize::from(u16::MAX) {
            (corners.iter().flat_map(|&v| (v as u16).to_le_bytes()).collect(), U16)
        } else {
            (corners.iter().flat_map(|v| v.to_le_bytes()).collect(), U32)
        };
        let view = self.view(&bytes, Some(INDICES));
        self.accessor(Accessor::new(view, kind, "SCALAR", corners.len()))
    }

    /// As many sets of four joints and weights as the vertices need.
    fn weights(
        &mut self,
        character: &Character,
        vertices: Range<usize>,
        skin: usize,
        attributes: &mut Map<String, Value>,
    ) {
        let bound = &self.skin_joints[skin];
        let mut index_of = vec![0u16; character.slots().len()];
        for (index, b) in bound.iter().enumerate() {
            if let Some(slot) = b.slot {
                index_of[slot as usize] = index as u16;
            }
        }
        let small = bound.len() <= 256;
        let most = vertices.clone().map(|v| character.weights().of(v).len()).max().unwrap_or(0);
        for set in 0..most.div_ceil(4).max(1) {
            let (mut joints, mut values) = (Vec::new(), Vec::new());
            for v in vertices.clone() {
                let mut entries = character.weights().of(v).skip(set * 4);
                for _ in 0..4 {
                    let (slot, weight) = entries.next().map_or((0, 0.0), |(s, w)| (index_of[s as usize], w));
                    if small {
                        joints.push(slot as u8)
                    } else {
                        joints.extend(slot.to_le_bytes())
                    }
                    values.push(weight);
                }
            }
            let view = self.view(&joints, Some(VERTICES));
            let kind = if small { U8 } else { U16 };
            let joints = self.accessor(Accessor::new(view, kind, "VEC4", vertices.len()));
            let view = self.view(&float_bytes(&values), Some(VERTICES));
            let weights = self.accessor(Accessor::new(view, F32, "VEC4", vertices.len()));
            attributes.insert(format!("JOINTS_{set}"), joints.into());
            attributes.insert(format!("WEIGHTS_{set}"), weights.into());
        }
    }

    fn material(&mut self, [r, g, b]: [f32; 3]) -> usize {
        let unit = |x: f32| if x.is_finite() { x.clamp(0.0, 1.0) } else { 1.0 };
        let material = json!({"pbrMetallicRoughness": {
            "baseColorFactor": [unit(r), unit(g), unit(b), 1.0],
            "metallicFactor": 0.0,
            "roughnessFactor": 0.8,
        }});
        self.materials.iter().position(|m| *m == material).unwrap_or_else(|| {
            self.materials.push(material);
            self.materials.len() - 1
        })
    }

    /// One morph on one part.
    fn target(&mut self, character: &Character, part: &Part, morph: usize) -> Value {
        let morph = &character.morphs()[morph];
        let count = part.vertices.len();
        let (mut positions, mut normals) = (vec![Vec3::ZERO; count], vec![Vec3::ZERO; count]);
        let mut moved = false;
        for (i, v) in morph.vertices.iter().enumerate().filter(|(_, v)| part.vertices.contains(v)) {
            let at = (v - part.vertices.start) as usize;
            (positions[at], normals[at]) = (morph.positions[i], morph.normals[i]);
            moved = true;
        }
        let mut target = Map::new();
        let mut put = |name: &str, values: &[Vec3], bounded| {
            let accessor = if moved {
                self.vectors(values, bounded)
            } else {
                // An accessor without a view is all zeros.
                let zeros = Accessor { buffer_view: None, ..Accessor::new(0, F32, "VEC3", count) };
                self.accessor(if bounded { zeros.bounded(vector_bounds(None)) } else { zeros })
            };
            target.insert(name.into(), accessor.into());
        };
        put("POSITION", &positions, true);
        if part.has_normals {
            put("NORMAL", &normals, false);
        }
        target.into()
    }

    fn clip(&mut self, character: &Character, clip: &Clip) -> Result<(), WriteError> {
        let mut tracks: Vec<(usize, &str, Cow<Track>)> = Vec::new();
        // Of several channels with one target the last counts, and they stand together.
        for same in clip.channels().chunk_by(|a, b| a.target == b.target) {
            let Channel { target, track } = &same[same.len() - 1];
            let (joint, path) = match *target {
                Target::Translation(joint) => (joint, "translation"),
                Target::Rotation(joint) => (joint, "rotation"),
                Target::Scale(joint) => (joint, "scale"),
                Target::Morphs { .. } => continue,
            };
            tracks.push((joint as usize, path, Cow::Borrowed(track)));
        }
        for (node, morphs) in &self.skinned {
            if let Some(track) = morph_track(character, clip, morphs.clone())? {
                tracks.push((*node, "weights", Cow::Owned(track)));
            }
        }
        if let (true, Some(joint)) = (tracks.is_empty(), character.skeleton().joints().first()) {
            // glTF wants at least one channel: the first joint stays where it is.
            let still = joint.local.to_affine().translation.as_vec3().to_array();
            let times = if clip.end() > 0.0 { vec![0.0, clip.end() as f32] } else { vec![0.0] };
            let values = still.repeat(times.len());
            let track = Track::new(Interpolation::Step, 3, times, values);
            let track = track.map_err(|e| WriteError::at(format!("clip {}", clip.name()), e.to_string()))?;
            tracks.push((0, "translation", Cow::Owned(track)));
        }
        // Many channels have the same keys.
        let mut inputs: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        let (mut channels, mut samplers) = (Vec::new(), Vec::new());
        for (node, path, track) in tracks {
            let input = *inputs.entry(float_bytes(track.times())).or_insert_with_key(|bytes| {
                let view = self.view(bytes, None);
                let input = Accessor::new(view, F32, "SCALAR", track.times().len());
                self.accessor(input.bounded(time_bounds(track.times())))
            });
            let (kind, width) = match path {
                "rotation" => ("VEC4", 4),
                "weights" => ("SCALAR", 1),
                _ => ("VEC3", 3),
            };
            let output = self.floats(track.values(), kind, track.values().len() / width);
            let interpolation = match track.interpolation() {
                Interpolation::Linear => "LINEAR",
                Interpolation::Step => "STEP",
                Interpolation::CubicSpline => "CUBICSPLINE",
            };
            channels.push(json!({"sampler": samplers.len(), "target": {"node": node, "path": path}}));
            samplers.push(json!({"input": input, "output": output, "interpolation": interpolation}));
        }
        if !channels.is_empty() {
            let mut animation = json!({"channels": channels, "samplers": samplers});
            if !clip.name().is_empty() {
                animation["name"] = clip.name().into();
            }
            self.animations.push(animation);
        }
        Ok(())
    }

    fn finish(mut self, mut roots: Vec<usize>) -> Result<Vec<u8>, WriteError> {
        roots.extend(self.skinned.iter().map(|(node, _)| *node));
        self.data.resize(self.data.len().next_multiple_of(4), 0);
        let mut root = Map::new();
        root.insert("asset".into(), json!({"generator": "pliant", "version": "2.0"}));
        root.insert("scene".into(), 0.into());
        // glTF allows no empty lists.
        root.insert("scenes".into(), if roots.is_empty() { json!([{}]) } else { json!([{"nodes": roots}]) });
        if !self.data.is_empty() {
            root.insert("buffers".into(), json!([{"byteLength": self.data.len()}]));
        }
        let mut put = |key: &str, list: Value| {
            if list.as_array().is_some_and(|l| !l.is_empty()) {
                root.insert(key.into(), list);
            }
        };
        put("nodes", self.nodes.into());
        put("meshes", self.meshes.into());
        put("materials", self.materials.into());
        put("skins", self.skins.into());
        put("animations", self.animations.into());
        put("accessors", json!(self.accessors));
        put("bufferViews", json!(self.views));
        let mut text = serde_json::to_vec(&root).map_err(std::io::Error::from)?;
        text.resize(text.len().next_multiple_of(4), b' ');
        let bytes = text.len() as u64 + self.data.len() as u64 + 64;
        if bytes > u64::from(u32::MAX) {
            return Err(WriteError::TooLarge {
                format: ".glb",
                bytes,
                hint: "write fewer vertices or clips",
            });
        }
        let mut file = glb_head(&text, self.data.len() as u64);
        drop(text);
        file.extend(self.data);
        Ok(file)
    }
}

/// A node's transform, in the form that clips can animate where they do.
fn transform(node: &mut Map<String, Value>, local: Local, animated: bool) {
    let (scale, rotation, translation) = match local {
        Local::Trs { translation, rotation, scale } => (scale, rotation, translation),
        Local::Matrix(m) if animated => m.to_scale_rotation_translation(),
        Local::Matrix(m) => {
            node.insert("matrix".into(), json!(columns(m)));
            return;
        }
    };
    let mut put = |key: &str, values: &[f64], default: &[f64]| {
        if values != default {
            node.insert(key.into(), json!(values));
        }
    };
    put("translation", &translation.to_array(), &[0.0; 3]);
    put("rotation", &rotation.to_array(), &[0.0, 0.0, 0.0, 1.0]);
    put("scale", &scale.to_array(), &[1.0; 3]);
}

/// What a mesh is called: parts of a mesh of several are numbered by the reader.
pub(crate) fn mesh_name(parts: &[Part]) -> &str {
    let name = &parts[0].name;
    if parts.len() > 1 { name.strip_suffix(".0").unwrap_or(name) } else { name }
}

/// A 4x4 matrix, column by column.
fn columns(m: DAffine3) -> [f64; 16] {
    let [x, y, z] = [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis];
    let t = m.translation;
    [x.x, x.y, x.z, 0.0, y.x, y.y, y.z, 0.0, z.x, z.y, z.z, 0.0, t.x, t.y, t.z, 1.0]
}

fn float_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn vector_bytes(values: &[Vec3]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_array()).flat_map(f32::to_le_bytes).collect()
}

/// Which morphs each mesh has: from the first to the last that moves it, with whatever a channel animates together
/// with them. Morphs that move nothing go to the mesh before them.
fn morph_ranges(character: &Character, meshes: &[&[Part]]) -> Vec<Range<usize>> {
    let morphs = character.morphs();
    let moves = |parts: &[Part], morph: usize| {
        morphs[morph].vertices.iter().any(|v| parts.iter().any(|p| p.vertices.contains(v)))
    };
    let mut ranges: Vec<Range<usize>> = meshes
        .iter()
        .map(|parts| {
            let first = (0..morphs.len()).find(|&m| moves(parts, m)).unwrap_or(0);
            let end = (first..morphs.len()).rev().find(|&m| moves(parts, m)).map_or(first, |m| m + 1);
            first..end
        })
        .collect();
    for target in character.clips().iter().flat_map(Clip::channels).map(|c| c.target) {
        if let Target::Morphs { first, count } = target {
            let (first, end) = (first as usize, first as usize + count as usize);
            for range in ranges.iter_mut().filter(|r| r.start < end && first < r.end) {
                *range = range.start.min(first)..range.end.max(end);
            }
        }
    }
    for morph in 0..morphs.len() {
        if morphs[morph].vertices.is_empty() && !ranges.iter().any(|r| r.contains(&morph)) {
            let before = ranges.iter().rposition(|r| r.start < r.end && r.end == morph).unwrap_or(0);
            match ranges.get_mut(before) {
                Some(range) if range.start == range.end => *range = morph..morph + 1,
                Some(range) if range.end == morph => range.end += 1,
                _ => {}
            }
        }
    }
    ranges
}

/// The keys of the morphs of one mesh: glTF has one channel for all of them, a clip may have several.
fn morph_track(
    character: &Character,
    clip: &Clip,
    morphs: Range<usize>,
) -> Result<Option<Track>, WriteError> {
    // For each morph, the channel that animates it and its place in there; the last counts.
    let mut sources: Vec<Option<(&Track, usize)>> = vec![None; morphs.len()];
    for channel in clip.channels() {
        if let Target::Morphs { first, count } = channel.target {
            for k in 0..count as usize {
                if let Some(source) =
                    (first as usize + k).checked_sub(morphs.start).and_then(|m| sources.get_mut(m))
                {
                    *source = Some((&channel.track, k));
                }
            }
        }
    }
    let tracks: Vec<&Track> = sources.iter().flatten().map(|s| s.0).collect();
    let Some(&lead) = tracks.first() else { return Ok(None) };
    let interpolation = lead.interpolation();
    let same_keys = tracks.iter().all(|t| t.times() == lead.times());
    if tracks.iter().any(|t| t.interpolation() != interpolation)
        || (interpolation == Interpolation::CubicSpline && !same_keys)
    {
        let what = "the morphs of one mesh have keys that do not fit into one glTF channel";
        return Err(WriteError::at(format!("clip {}", clip.name()), what));
    }
    let mut times: Vec<f32> = tracks.iter().flat_map(|t| t.times()).copied().collect();
    times.sort_by(f32::total_cmp);
    times.dedup();
    let groups = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let mut values = Vec::with_capacity(times.len() * groups * morphs.len());
    for (key, &time) in times.iter().enumerate() {
        for group in 0..groups {
            for (source, morph) in sources.iter().zip(&character.morphs()[morphs.clone()]) {
                values.push(match source {
                    // Not animated: its default, with flat tangents.
                    None if groups == 1 || group == 1 => morph.default_weight,
                    None => 0.0,
                    Some((track, k)) if same_keys => {
                        track.values()[(key * groups + group) * track.width() + k]
                    }
                    Some((track, k)) => track.sample(f64::from(time), *k) as f32,
                });
            }
        }
    }
    let track = Track::new(interpolation, morphs.len(), times, values);
    track.map(Some).map_err(|e| WriteError::at(format!("clip {}", clip.name()), e.to_string()))
}

#[cfg(test)]
mod tests;
