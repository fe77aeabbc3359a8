//! The JSON of a baked file, before anything is added: skinned nodes moved to the root and stripped of their skins,
//! instanced meshes copied, animations reduced to what still moves.

use super::{BakedClip, Target};
use crate::gltf::Document;
use crate::{Warning, WriteError};
use pliant::asset::Character;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What goes with a node's transform and not with its mesh.
const SPATIAL: [&str; 6] = ["camera", "children", "matrix", "rotation", "scale", "translation"];
const SPATIAL_EXTENSIONS: [&str; 2] = ["KHR_lights_punctual", "VRMC_node_constraint"];

pub(super) struct Scene {
    pub(super) map: Map<String, Value>,
    pub(super) targets: Vec<Target>,
    /// The nodes that show the targets.
    pub(super) nodes: BTreeSet<usize>,
    pub(super) warnings: Vec<Warning>,
}

impl Scene {
    pub(super) fn new(
        document: &Document,
        character: &Character,
        clips: &[BakedClip],
    ) -> Result<Self, WriteError> {
        let text = document.json();
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let map = serde_json::from_slice(text).map_err(|e| WriteError::at("JSON", e.to_string()))?;
        let mut scene = Self { map, targets: Vec::new(), nodes: BTreeSet::new(), warnings: Vec::new() };
        WriteError::check_length("parts of the file", character.parts().len(), document.parts.len())?;
        let old_meshes = scene.meshes(document, character)?;
        let stand_ins = scene.unhook(&document.parts.iter().map(|p| p.node).collect());
        scene.skins(&stand_ins);
        scene.animations(document, clips, &stand_ins, &old_meshes)?;
        scene.expressions(&old_meshes);
        Ok(scene)
    }

    fn list(&mut self, key: &str) -> &mut [Value] {
        self.map.get_mut(key).and_then(Value::as_array_mut).map_or(&mut [], Vec::as_mut_slice)
    }

    /// Gives every baked node a mesh of its own, without what skinned or morphed it. Gives the meshes that were baked.
    fn meshes(&mut self, document: &Document, character: &Character) -> Result<BTreeSet<u64>, WriteError> {
        let mut parts_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (part, source) in document.parts.iter().enumerate() {
            parts_of.entry(source.node).or_default().push(part);
        }
        let mesh_of = |node: &Value| node["mesh"].as_u64();
        let taken = self.list("nodes").iter().enumerate();
        let mut taken: BTreeSet<u64> =
            taken.filter(|(n, _)| !parts_of.contains_key(n)).filter_map(|(_, n)| mesh_of(n)).collect();
        let mut meshes = self.map.get("meshes").and_then(Value::as_array).cloned().unwrap_or_default();
        let originals = meshes.clone();
        let mut old = BTreeSet::new();
        for (&node, parts) in &parts_of {
            let place = || format!("nodes[{node}].mesh");
            let missing = || WriteError::at(place(), "there is no such mesh");
            let old_mesh = self.list("nodes").get(node).and_then(mesh_of).ok_or_else(missing)?;
            let mut mesh = originals.get(old_mesh as usize).cloned().ok_or_else(missing)?;
            old.insert(old_mesh);
            let index = if taken.insert(old_mesh) { old_mesh as usize } else { meshes.len() };
            let primitives = mesh
                .get_mut("primitives")
                .and_then(Value::as_array_mut)
                .map(std::mem::take)
                .unwrap_or_default();
            let mut kept = Vec::new();
            for (number, mut primitive) in primitives.into_iter().enumerate() {
                let place = || format!("meshes[{old_mesh}].primitives[{number}]");
                let Some(&part) = parts.iter().find(|p| document.parts[**p].primitive == number) else {
                    let what = "it is no part of the character's skin and cannot follow it: left out";
                    self.warnings.push(Warning::new(place(), what, 1));
                    continue;
                };
                let part = &character.parts()[part];
                if part.vertices.is_empty() {
                    continue;
                }
                let positions = primitive["attributes"]["POSITION"].as_u64();
                let count = positions
                    .and_then(|a| self.list("accessors").get(a as usize)?["count"].as_u64())
                    .ok_or_else(|| WriteError::at(place(), "it has no positions"))?;
                WriteError::check_length("vertices of a part", count as usize, part.vertices.len())?;
                strip_primitive(&mut primitive).map_err(|what| WriteError::at(place(), what))?;
                self.targets.push(Target {
                    vertices: part.vertices.start as usize..part.vertices.end as usize,
                    normals: part.has_normals,
                    mesh: index,
                    primitive: kept.len(),
                });
                kept.push(primitive);
            }
            if kept.is_empty() {
                // glTF allows no empty mesh.
                self.list("nodes")[node].as_object_mut().map(|n| n.remove("mesh"));
                continue;
            }
            if let Some(mesh) = mesh.as_object_mut() {
                mesh.insert("primitives".into(), kept.into());
                mesh.remove("weights");
                strip_names(mesh);
            }
            if index == meshes.len() {
                meshes.push(mesh)
            } else {
                meshes[index] = mesh
            }
            self.list("nodes")[node]["mesh"] = index.into();
            self.nodes.insert(node);
        }
        if !meshes.is_empty() {
            self.map.insert("meshes".into(), meshes.into());
        }
        Ok(old)
    }

    /// Moves baked nodes to the roots of their scenes. Where something hangs on a node's transform, a new node takes its
    /// place; gives those, by baked node.
    fn unhook(&mut self, baked: &BTreeSet<usize>) -> BTreeMap<usize, Option<usize>> {
        let scenes_of = self.scenes_of(baked);
        let joints: BTreeSet<u64> = self.list("skins").iter().flat_map(skin_nodes).collect();
        let mut nodes = std::mem::take(self.map.entry("nodes").or_insert(json!([])));
        let Some(list) = nodes.as_array_mut() else { return BTreeMap::new() };
        let mut parents = vec![None; list.len()];
        for (index, node) in list.iter().enumerate() {
            for child in indices(&node["children"]) {
                if let Some(parent) = parents.get_mut(child) {
                    *parent = Some(index);
                }
            }
        }
        let mut stand_ins = BTreeMap::new();
        for &index in baked {
            let next = list.len();
            let Some(node) = list.get_mut(index).and_then(Value::as_object_mut) else { continue };
            ["skin", "weights"].iter().for_each(|key| drop(node.remove(*key)));
            let mut place: Map<String, Value> =
                SPATIAL.iter().filter_map(|key| node.remove_entry(*key)).collect();
            let extensions: Map<String, Value> =
                match node.get_mut("extensions").and_then(Value::as_object_mut) {
                    Some(all) => SPATIAL_EXTENSIONS.iter().filter_map(|key| all.remove_entry(*key)).collect(),
                    None => Map::new(),
                };
            if node.get("extensions").and_then(Value::as_object).is_some_and(Map::is_empty) {
                node.remove("extensions");
            }
            let carries = !extensions.is_empty()
                || place.contains_key("camera")
                || place.contains_key("children")
                || joints.contains(&(index as u64));
            let stand_in = carries.then_some(next);
            if carries {
                if !extensions.is_empty() {
                    place.insert("extensions".into(), extensions.into());
                }
                if let Some(name) = node.get("name") {
                    place.insert("name".into(), name.clone());
                }
                for child in place.get("children").map(indices).unwrap_or_default() {
                    if let Some(parent) = parents.get_mut(child) {
                        *parent = Some(next);
                    }
                }
                list.push(place.into());
                parents.push(parents[index]);
            }
            if let Some(parent) = parents[index].and_then(|p| list.get_mut(p)).and_then(Value::as_object_mut)
            {
                replace(parent, "children", index, stand_in);
            }
            parents[index] = None;
            stand_ins.insert(index, stand_in);
        }
        if !list.is_empty() {
            self.map.insert("nodes".into(), nodes);
        } else {
            self.map.remove("nodes");
        }
        for (number, scene) in self.list("scenes").iter_mut().enumerate() {
            let Some(scene) = scene.as_object_mut() else { continue };
            for (&index, &stand_in) in &stand_ins {
                replace(scene, "nodes", index, stand_in);
            }
            let roots = stand_ins.keys().filter(|n| scenes_of.get(n).is_some_and(|s| s.contains(&number)));
            let roots: Vec<Value> = roots.map(|&n| n.into()).collect();
            if !roots.is_empty()
                && let Some(list) = scene.entry("nodes").or_insert(json!([])).as_array_mut()
            {
                list.extend(roots);
            }
        }
        stand_ins
    }

    /// The scenes that show each of some nodes.
    fn scenes_of(&mut self, wanted: &BTreeSet<usize>) -> BTreeMap<usize, Vec<usize>> {
        let children: Vec<Vec<usize>> = self.list("nodes").iter().map(|n| indices(&n["children"])).collect();
        let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, scene) in self.list("scenes").iter().enumerate() {
            let mut seen = vec![false; children.len()];
            let mut stack = indices(&scene["nodes"]);
            while let Some(node) = stack.pop() {
                if seen.get(node) != Some(&false) {
                    continue;
                }
                seen[node] = true;
                stack.extend(&children[node]);
                if wanted.contains(&node) {
                    found.entry(node).or_default().push(number);
                }
            }
        }
        found
    }

    /// Skins that a node still uses stay, all of them, so that their numbers hold.
    fn skins(&mut self, stand_ins: &BTreeMap<usize, Option<usize>>) {
        if !self.list("nodes").iter().any(|n| n["skin"].is_u64()) {
            self.map.remove("skins");
        }
        let moved = |value: &mut Value| {
            let node = value.as_u64().and_then(|v| stand_ins.get(&(v as usize)).copied().flatten());
            if let Some(node) = node {
                *value = node.into();
            }
        };
        for skin in self.list("skins").iter_mut().filter_map(Value::as_object_mut) {
            skin.get_mut("skeleton").into_iter().for_each(moved);
            skin.get_mut("joints").and_then(Value::as_array_mut).into_iter().flatten().for_each(moved);
        }
    }

    /// One animation per baked clip, in order, with the channels that still have something to move; `null` for a still
    /// that has no clip.
    fn animations(
        &mut self,
        document: &Document,
        clips: &[BakedClip],
        stand_ins: &BTreeMap<usize, Option<usize>>,
        meshes: &BTreeSet<u64>,
    ) -> Result<(), WriteError> {
        let old = self.map.remove("animations").unwrap_or_default();
        let mut animations = Vec::new();
        for clip in clips {
            if clip.clip.is_none() && clip.times.len() <= 1 {
                animations.push(Value::Null);
                continue;
            }
            let mut animation = match clip.clip {
                None => Map::new(),
                Some(index) => {
                    let source = document.clip_animations.get(index).and_then(|&a| old[a].as_object());
                    let missing =
                        || WriteError::at(format!("clip {index}"), "the file has no such animation");
                    source.cloned().ok_or_else(missing)?
                }
            };
            let mut channels = match animation.remove("channels") {
                Some(Value::Array(channels)) => channels,
                _ => Vec::new(),
            };
            channels.retain_mut(|channel| match channel.get_mut("target") {
                Some(target) => retarget(target, stand_ins, meshes),
                None => false,
            });
            let samplers = animation.remove("samplers").unwrap_or_default();
            // Samplers that lost their channels go; the others move up.
            let mut kept = Vec::new();
            let mut number_of = BTreeMap::new();
            for channel in &mut channels {
                let Some(sampler) = channel["sampler"].as_u64() else { continue };
                let number = *number_of.entry(sampler).or_insert_with(|| {
                    kept.push(samplers[sampler as usize].clone());
                    kept.len() - 1
                });
                channel["sampler"] = number.into();
            }
            animation.insert("channels".into(), channels.into());
            animation.insert("samplers".into(), kept.into());
            if clip.name.is_empty() {
                animation.remove("name");
            } else {
                animation.insert("name".into(), clip.name.into());
            }
            animations.push(animation.into());
        }
        if !animations.is_empty() {
            self.map.insert("animations".into(), animations.into());
        }
        Ok(())
    }

    /// VRM faces are made of morphs by number: those of baked meshes are gone, and a frame is not a smile.
    fn expressions(&mut self, meshes: &BTreeSet<u64>) {
        let Some(extensions) = self.map.get_mut("extensions") else { return };
        if let Some(groups) =
            extensions.pointer_mut("/VRM/blendShapeMaster/blendShapeGroups").and_then(Value::as_array_mut)
        {
            for binds in groups.iter_mut().filter_map(|g| g.get_mut("binds")?.as_array_mut()) {
                binds.retain(|b| !b["mesh"].as_u64().is_some_and(|m| meshes.contains(&m)));
            }
        }
        for kind in ["preset", "custom"] {
            let expressions = extensions.pointer_mut(&format!("/VRMC_vrm/expressions/{kind}"));
            for expression in
                expressions.and_then(Value::as_object_mut).into_iter().flat_map(|e| e.values_mut())
            {
                let Some(expression) = expression.as_object_mut() else { continue };
                let Some(binds) = expression.get_mut("morphTargetBinds").and_then(Value::as_array_mut) else {
                    continue;
                };
                binds.retain(|b| !b["node"].as_u64().is_some_and(|n| self.nodes.contains(&(n as usize))));
                if binds.is_empty() {
                    expression.remove("morphTargetBinds");
                }
            }
        }
    }
}

/// Takes out what skins or morphs a primitive, and what no longer fits: its positions, normals and tangents.
fn strip_primitive(primitive: &mut Value) -> Result<(), &'static str> {
    let Some(primitive) = primitive.as_object_mut() else { return Err("it is no object") };
    if primitive.get("extensions").is_some_and(|e| e.get("KHR_draco_mesh_compression").is_some()) {
        return Err("it is compressed by Draco; decompress the file first, for example with gltf-transform");
    }
    primitive.remove("targets");
    let Some(attributes) = primitive.get_mut("attributes").and_then(Value::as_object_mut) else {
        return Err("it has no attributes");
    };
    attributes.retain(|name, _| {
        !(name.starts_with("JOINTS_")
            || name.starts_with("WEIGHTS_")
            || ["POSITION", "NORMAL", "TANGENT"].contains(&name.as_str()))
    });
    Ok(())
}

/// The names of the morphs that a mesh had.
fn strip_names(mesh: &mut Map<String, Value>) {
    if let Some(extras) = mesh.get_mut("extras").and_then(Value::as_object_mut) {
        extras.remove("targetNames");
        if extras.is_empty() {
            mesh.remove("extras");
        }
    }
}

/// Whether an animated thing is still there; what moved is followed.
pub(super) fn retarget(
    target: &mut Value,
    stand_ins: &BTreeMap<usize, Option<usize>>,
    meshes: &BTreeSet<u64>,
) -> bool {
    if let Some(pointer) = target.pointer_mut("/extensions/KHR_animation_pointer/pointer") {
        let text = pointer.as_str().unwrap_or_default();
        let mut steps = text.splitn(4, '/').skip(1);
        let (kind, index, property) = (steps.next(), steps.next(), steps.next().unwrap_or_default());
        let index = index.and_then(|i| i.parse::<usize>().ok());
        return match (kind, index) {
            (Some("meshes"), Some(mesh)) => {
                !(meshes.contains(&(mesh as u64)) && property.starts_with("weights"))
            }
            (Some("nodes"), Some(node)) => match stand_ins.get(&node) {
                None => true,
                Some(_) if property.starts_with("weights") => false,
                Some(_) if !["translation", "rotation", "scale"].contains(&property) => true,
                Some(None) => false,
                Some(Some(stand_in)) => {
                    *pointer = format!("/nodes/{stand_in}/{property}").into();
                    true
                }
            },
            _ => true,
        };
    }
    let Some(stand_in) = target["node"].as_u64().and_then(|n| stand_ins.get(&(n as usize))) else {
        return true;
    };
    match stand_in {
        Some(node) if target["path"] != "weights" => {
            target["node"] = (*node).into();
            true
        }
        _ => false,
    }
}

/// In a list of indices, another in place of one, or none; an empty list goes altogether.
fn replace(owner: &mut Map<String, Value>, key: &str, from: usize, to: Option<usize>) {
    let Some(list) = owner.get_mut(key).and_then(Value::as_array_mut) else { return };
    match to {
        Some(to) => list.iter_mut().filter(|v| v.as_u64() == Some(from as u64)).for_each(|v| *v = to.into()),
        None => list.retain(|v| v.as_u64() != Some(from as u64)),
    }
    if list.is_empty() {
        owner.remove(key);
    }
}

fn indices(list: &Value) -> Vec<usize> {
    list.as_array().into_iter().flatten().filter_map(|v| Some(v.as_u64()? as usize)).collect()
}

fn skin_nodes(skin: &Value) -> Vec<u64> {
    let joints = skin["joints"].as_array().into_iter().flatten();
    joints.chain(skin.get("skeleton")).filter_map(Value::as_u64).collect()
}
