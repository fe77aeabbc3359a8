//! Skinned meshes to a character.

use super::accessor::{Elements, Raw, Store};
use super::document::PartSource;
use super::json::{Map, Whole};
use super::schema::{Component, Primitive, Root};
use super::skin::{Rig, SkinRig};
use super::tree::Tree;
use super::{humanoid, motion, paint, springs, worn};
use crate::text::named;
use crate::{Problem, ReadError, Warning};
use glam::{DMat3, Vec3};
use pliant::asset::{Bone, Character, Morph, Part, RawCharacter, Surface, Weights};
use pliant::method::{Region, SOFTNESS};

/// Vertices (and triangles, morph offsets, animated numbers) allowed beyond the size in bytes of the file and what it
/// refers to: a small file may show one mesh many times, but not fill the memory (some 150 bytes a vertex).
const INSTANCING_LIMIT: usize = 400_000;
/// Vertices looked at for all morph targets, most of which may not move: a second's worth.
const MORPH_READS: usize = 1 << 28;
/// Distances measured to bind vertices without weights: a few seconds' worth.
const NEAREST_BUDGET: usize = 1 << 31;

/// A character, and where its pieces came from.
pub(crate) struct Built {
    pub(crate) character: Character,
    /// Whether the file has a weight for any vertex.
    pub(crate) has_weights: bool,
    /// Regions that the file describes: firm and soft ones.
    pub(crate) regions: Vec<Region>,
    /// Joints that the file says are bones of a human body.
    pub(crate) bones: Vec<(u32, String)>,
    pub(crate) parts: Vec<PartSource>,
    pub(crate) joint_nodes: Vec<usize>,
    pub(crate) clip_animations: Vec<usize>,
}

/// Counts down what a file may still ask for.
pub(crate) struct Budget(usize);

impl Budget {
    pub(crate) fn new(store: &Store<'_>) -> Self {
        Self(INSTANCING_LIMIT.saturating_add(store.size()))
    }

    pub(crate) fn take<P: Into<String>>(
        &mut self,
        count: usize,
        place: impl FnOnce() -> P,
        what: &str,
    ) -> Result<(), ReadError> {
        self.0 = self.0.checked_sub(count).ok_or_else(|| {
            Problem::new(place(), format!("too many {what} for a file of this size"))
                .hint("split the file, or apply the instances")
        })?;
        Ok(())
    }
}

/// The skin of all parts while it grows.
#[derive(Default)]
struct Skin {
    positions: Vec<Vec3>,
    /// Zero where the file has none.
    normals: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Slots and weights of all vertices, as in the file; `weights_of` has where those of each part are.
    weights: Vec<(u16, f32)>,
    weights_of: Vec<PartWeights>,
    parts: Vec<Part>,
    sources: Vec<PartSource>,
    morphs: Vec<Morph>,
}

struct PartWeights {
    first_vertex: usize,
    first_weight: usize,
    per_vertex: usize,
    skin: usize,
}

struct Build<'r, 'a, 'd> {
    root: &'r Root<'a>,
    store: &'r Store<'d>,
    rig: &'r Rig,
    skin: Skin,
    warnings: &'r mut Vec<Warning>,
    triangles: Budget,
    influences: Budget,
    offsets: Budget,
    morph_reads: Budget,
}

/// Builds the character of a file that was checked and has at least one skinned mesh.
pub(crate) fn build(
    root: &Root<'_>,
    tree: &Tree,
    store: &Store<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Built, ReadError> {
    count_vertices(root, Budget::new(store))?;
    let rig = Rig::new(root, tree, store)?;
    let budget = || Budget::new(store);
    let mut build = Build {
        root,
        store,
        rig: &rig,
        skin: Skin::default(),
        warnings,
        triangles: budget(),
        influences: budget(),
        offsets: budget(),
        morph_reads: Budget(MORPH_READS),
    };
    // For each node the first of its morphs and how many there are.
    let mut morphs_of_node = vec![None; root.nodes.len()];
    let mut mesh_number = 0;
    for (n, node) in root.nodes.iter().enumerate() {
        let (Some(mesh), Some(skin)) = (node.mesh, node.skin) else { continue };
        let first = build.skin.morphs.len();
        build.node(n, mesh.0, skin.0, mesh_number)?;
        let count = build.skin.morphs.len() - first;
        if count > 0 {
            morphs_of_node[n] = Some((first as u32, count as u32));
        }
        mesh_number += 1;
    }
    let skin = std::mem::take(&mut build.skin);
    let (weights, has_weights) = weigh(&skin, &rig, warnings)?;
    let asset = |place: &'static str| move |e: pliant::asset::AssetError| Problem::new(place, e.to_string());
    let normals = skin.normals.iter().any(|&n| n != Vec3::ZERO).then_some(skin.normals);
    let surface = Surface::new(skin.positions, normals, skin.triangles).map_err(asset("meshes"))?;
    let mut regions: Vec<Region> = worn::region(root, tree, &rig).into_iter().collect();
    regions.extend(springs::regions(root, tree, &rig, warnings));
    let bones = humanoid::bones(root, &rig);
    let clips = motion::clips(root, store, &rig.joint_of_node, &morphs_of_node)?;
    let character = Character::new(RawCharacter {
        skeleton: rig.skeleton,
        surface,
        parts: skin.parts,
        slots: rig.slots,
        weights,
        morphs: skin.morphs,
        clips,
        paint: paint::read(root, store, &skin.sources, SOFTNESS, warnings)?.into_iter().collect(),
    });
    Ok(Built {
        has_weights,
        regions,
        bones,
        character: character.map_err(asset(""))?,
        parts: skin.sources,
        joint_nodes: rig.joint_nodes,
        clip_animations: (0..root.animations.len()).collect(),
    })
}

/// Refuses too many vertices before there is memory for any.
fn count_vertices(root: &Root<'_>, mut budget: Budget) -> Result<(), ReadError> {
    for mesh in root.nodes.iter().filter(|n| n.skin.is_some()).filter_map(|n| n.mesh) {
        for (p, primitive) in root.meshes[mesh.0].primitives.iter().enumerate() {
            if let Some(index) = primitive.attributes.get("POSITION") {
                let place = || format!("meshes[{}].primitives[{p}]", mesh.0);
                budget.take(root.accessors[index.0].count.0, place, "vertices")?;
            }
        }
    }
    Ok(())
}

/// Makes the weights of every vertex sum to one; vertices without any follow the nearest bone of their skin. Also says
/// whether any vertex has weights.
fn weigh(skin: &Skin, rig: &Rig, warnings: &mut Vec<Warning>) -> Result<(Weights, bool), ReadError> {
    let part_of = |v: usize| skin.weights_of.partition_point(|p| p.first_vertex <= v) - 1;
    let per_vertex = skin.weights_of.iter().enumerate().flat_map(|(p, part)| {
        let end = skin.weights_of.get(p + 1).map_or(skin.positions.len(), |next| next.first_vertex);
        (part.first_vertex..end).map(move |v| {
            let first = part.first_weight + (v - part.first_vertex) * part.per_vertex;
            skin.weights[first..first + part.per_vertex].iter().copied()
        })
    });
    let mut bones: Option<Vec<Bone>> = None;
    let mut budget = NEAREST_BUDGET;
    let nearest = |v: usize| -> Option<u16> {
        let slots = &rig.skins[skin.weights_of[part_of(v)].skin].as_ref()?.slots;
        let bones = bones.get_or_insert_with(|| rig.skeleton.bones());
        budget = budget.checked_sub(bones.len() + slots.len() + rig.skeleton.len())?;
        let mut slot_of_joint = vec![None; rig.skeleton.len()];
        for &slot in slots {
            slot_of_joint[rig.slots[slot as usize].joint as usize].get_or_insert(slot);
        }
        let point = skin.positions[v].as_dvec3();
        let mut best: Option<(f64, u16)> = None;
        for bone in bones.iter() {
            let Some(slot) = slot_of_joint[bone.joint as usize] else { continue };
            let distance = bone.distance(point);
            if best.is_none_or(|(nearest, _)| distance < nearest) {
                best = Some((distance, slot));
            }
        }
        best.map(|b| b.1)
    };
    let (weights, repairs) = Weights::normalised(per_vertex, rig.slots.len(), nearest)
        .map_err(|e| Problem::new("meshes", e.to_string()).hint("paint weights for all vertices"))?;
    if repairs.unnormalised > 0 {
        let what = "vertices whose weights do not sum to one were normalised";
        warnings.push(Warning::new("meshes", what, repairs.unnormalised));
    }
    let has_weights = repairs.zero < weights.vertex_count();
    if repairs.zero > 0 && has_weights {
        let what = "vertices without weights were bound to the nearest bone";
        warnings.push(Warning::new("meshes", what, repairs.zero));
    }
    Ok((weights, has_weights))
}

impl Build<'_, '_, '_> {
    fn node(&mut self, n: usize, mesh: usize, skin: usize, mesh_number: u32) -> Result<(), ReadError> {
        let (root, rig) = (self.root, self.rig);
        let about = &root.meshes[mesh];
        let Some(skin_rig) = &rig.skins[skin] else { return Ok(()) };
        let node = &root.nodes[n];
        let name = node.name.as_deref().or(about.name.as_deref()).unwrap_or("");
        let name = if name.is_empty() { format!("node{n}") } else { named(name) };
        let first_part = self.skin.parts.len();
        for (p, primitive) in about.primitives.iter().enumerate() {
            let name = if about.primitives.len() > 1 { format!("{name}.{p}") } else { name.clone() };
            let place = format!("meshes[{mesh}].primitives[{p}]");
            let part = self.primitive(&place, primitive, skin, skin_rig)?;
            let color =
                primitive.material.and_then(|m| root.materials[m.0].pbr_metallic_roughness.base_color_factor);
            let [r, g, b, _] = color.unwrap_or([1.0; 4]).map(|c| c as f32);
            self.skin.parts.push(Part { name, mesh: mesh_number, color: [r, g, b], ..part });
            self.skin.sources.push(PartSource { node: n, primitive: p });
        }
        let targets = about.primitives.first().map_or(0, |p| p.targets.len());
        let defaults = node.weights.as_ref().or(about.weights.as_ref());
        for t in 0..targets {
            let mut morph = Morph {
                name: about.extras.target_names.get(t).map_or(String::new(), |n| named(n)),
                vertices: Vec::new(),
                positions: Vec::new(),
                normals: Vec::new(),
                default_weight: defaults.and_then(|w| w.get(t)).map_or(0.0, |&w| w as f32),
            };
            for (p, primitive) in about.primitives.iter().enumerate() {
                let place = format!("meshes[{mesh}].primitives[{p}].targets[{t}]");
                self.target(&place, primitive, t, first_part + p, skin_rig, &mut morph)?;
            }
            self.skin.morphs.push(morph);
        }
        Ok(())
    }

    /// Adds the vertices, triangles and weights of a primitive. The part comes without name, mesh and colour.
    fn primitive(
        &mut self,
        place: &str,
        primitive: &Primitive<'_>,
        skin: usize,
        rig: &SkinRig,
    ) -> Result<Part, ReadError> {
        let first = self.skin.positions.len();
        let first_triangle = self.skin.triangles.len();
        let attributes = &primitive.attributes;
        let in_attributes = format!("{place}.attributes");
        let mut part = Part {
            name: String::new(),
            mesh: 0,
            vertices: first as u32..first as u32,
            triangles: first_triangle as u32..first_triangle as u32,
            has_normals: false,
            color: [1.0; 3],
        };
        let Some(index) = attributes.get("POSITION") else { return Ok(part) };
        let count = self.root.accessors[index.0].count.0;
        let to_rest = rig.rest_from_mesh;
        if let Some(positions) = elements(self.root, self.store, &in_attributes, attributes, "POSITION")? {
            let out = &mut self.skin.positions;
            out.reserve(count);
            positions
                .for_each(|p| out.push(to_rest.transform_point3(Vec3::from_array(p).as_dvec3()).as_vec3()));
        }
        match elements(self.root, self.store, &in_attributes, attributes, "NORMAL")? {
            Some(normals) => {
                let turn = normal_matrix(to_rest.matrix3);
                let out = &mut self.skin.normals;
                out.reserve(count);
                normals.for_each(|n| out.push((turn * Vec3::from_array(n).as_dvec3()).as_vec3()));
                part.has_normals = true;
            }
            None => self.skin.normals.resize(first + count, Vec3::ZERO),
        }
        self.connect(place, primitive, first as u32, count)?;
        self.weights(&in_attributes, primitive, first, count, skin, rig)?;
        part.vertices.end = self.skin.positions.len() as u32;
        part.triangles.end = self.skin.triangles.len() as u32;
        Ok(part)
    }

    /// Triangles of lists, strips and fans.
    fn connect(
        &mut self,
        place: &str,
        primitive: &Primitive<'_>,
        first: u32,
        count: usize,
    ) -> Result<(), ReadError> {
        let mode = primitive.mode.map_or(4, |m| m.0);
        if !(4..=6).contains(&mode) {
            let what = "points and lines have no surface: they move, but are not measured";
            self.warnings.push(Warning::new(place, what, 1));
            return Ok(());
        }
        let corners = match primitive.indices {
            Some(index) => self.root.accessors[index.0].count.0,
            None => count,
        };
        let triangles = if mode == 4 { corners / 3 } else { corners.saturating_sub(2) };
        self.triangles.take(triangles, || place, "triangles")?;
        let indices = match primitive.indices {
            Some(index) => {
                let elements = self.store.elements(self.root, index.0);
                elements
                    .ok_or_else(|| Problem::new(format!("{place}.indices"), "has no data"))?
                    .wholes::<1>()
                    .into_flattened()
            }
            None => (0..count as u32).collect(),
        };
        if mode == 4 && corners % 3 != 0 {
            let what = format!("{corners} corners do not make whole triangles: the last ones are left out");
            self.warnings.push(Warning::new(place, what, 1));
        }
        triangulate(mode, &indices, first, &mut self.skin.triangles);
        Ok(())
    }

    fn weights(
        &mut self,
        place: &str,
        primitive: &Primitive<'_>,
        first: usize,
        count: usize,
        skin: usize,
        rig: &SkinRig,
    ) -> Result<(), ReadError> {
        let mut sets = Vec::new();
        loop {
            let named = |name: &str| {
                let name = format!("{name}_{}", sets.len());
                elements(self.root, self.store, place, &primitive.attributes, &name)
            };
            let (Some(joints), Some(weights)) = (named("JOINTS")?, named("WEIGHTS")?) else { break };
            self.influences.take(count, || place, "skin weights")?;
            sets.push((joints, weights));
        }
        if sets.is_empty() {
            self.warnings.push(Warning::new(place, "a skinned primitive has no joints and weights", 1));
        }
        let first_weight = self.skin.weights.len();
        let per_vertex = sets.len() * 4;
        self.skin.weights.resize(first_weight + count * per_vertex, (0, 0.0));
        let mut missing = 0;
        for (s, (joints, weights)) in sets.iter().enumerate() {
            let rows = self.skin.weights[first_weight..].chunks_exact_mut(per_vertex);
            let rows = rows.map(|row| &mut row[s * 4..s * 4 + 4]);
            let (out_of_range, wrong) = match joints.component {
                Component::U8 => bind(joints.rows::<u8, 4>(), weights, &rig.slots, rows),
                _ => bind(joints.rows::<u16, 4>(), weights, &rig.slots, rows),
            };
            missing += out_of_range;
            if let Some((vertex, joint, weight)) = wrong {
                let problem = if weight < 0.0 {
                    let what = format!("vertex {vertex} has the negative weight {weight}");
                    Problem::new(format!("{place}.WEIGHTS_{s}"), what)
                } else {
                    let joints = rig.slots.len();
                    let what =
                        format!("vertex {vertex} is bound to joint {joint}, but skin {skin} has {joints}");
                    Problem::new(format!("{place}.JOINTS_{s}"), what)
                };
                return Err(problem.into());
            }
        }
        if missing > 0 {
            let what = "joints that are not there, at weight 0, are passed over";
            self.warnings.push(Warning::new(place, what, missing));
        }
        self.skin.weights_of.push(PartWeights { first_vertex: first, first_weight, per_vertex, skin });
        Ok(())
    }

    /// Adds what a morph target does to a primitive.
    fn target(
        &mut self,
        place: &str,
        primitive: &Primitive<'_>,
        target: usize,
        part: usize,
        rig: &SkinRig,
        morph: &mut Morph,
    ) -> Result<(), ReadError> {
        let Some(map) = primitive.targets.get(target) else { return Ok(()) };
        let vertices = self.skin.parts[part].vertices.clone();
        self.morph_reads.take(vertices.len(), || place, "morph targets")?;
        let positions = elements(self.root, self.store, place, map, "POSITION")?.map(|e| e.vectors::<3>());
        let normals = elements(self.root, self.store, place, map, "NORMAL")?.map(|e| e.vectors::<3>());
        let base = match &normals {
            Some(_) => elements(self.root, self.store, place, &primitive.attributes, "NORMAL")?
                .map(|e| e.vectors::<3>()),
            None => None,
        };
        let turn = normal_matrix(rig.rest_from_mesh.matrix3);
        let before = morph.vertices.len();
        for (i, vertex) in vertices.enumerate() {
            let at = |list: &Option<Vec<[f32; 3]>>| {
                list.as_ref().and_then(|l| l.get(i).copied()).unwrap_or([0.0; 3])
            };
            let (offset, turned) = (at(&positions), at(&normals));
            if offset == [0.0; 3] && turned == [0.0; 3] {
                continue;
            }
            // The rest normal was made unit; what is added to it shrinks alike.
            let length = (turn * Vec3::from_array(at(&base)).as_dvec3()).length();
            let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
            morph.vertices.push(vertex);
            morph
                .positions
                .push((rig.rest_from_mesh.matrix3 * Vec3::from_array(offset).as_dvec3()).as_vec3());
            morph.normals.push((turn * Vec3::from_array(turned).as_dvec3() * scale).as_vec3());
        }
        self.offsets.take(morph.vertices.len() - before, || place, "morph offsets")
    }
}

/// The triangles of a list (4), a strip (5) or a fan (6).
pub(crate) fn triangulate(mode: usize, indices: &[u32], first: u32, out: &mut Vec<[u32; 3]>) {
    match mode {
        4 => out.extend(indices.as_chunks::<3>().0.iter().map(|t| t.map(|v| v + first))),
        5 => out.extend(indices.windows(3).enumerate().filter_map(|(i, w)| {
            let [a, b, c] = if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[0], w[2], w[1]] };
            // Strips are stitched with triangles of no area.
            (a != b && b != c && c != a).then_some([a + first, b + first, c + first])
        })),
        6 => {
            let hub = indices.first().copied().unwrap_or(0) + first;
            out.extend(indices.windows(2).skip(1).map(|w| [w[0] + first, w[1] + first, hub]));
        }
        _ => {}
    }
}

/// Writes the slots and weights of one set. Gives the number of joints out of range at weight zero, and the first
/// vertex, joint and weight that cannot be.
fn bind<'o, J: Raw + Into<u32>>(
    mut joints: impl Iterator<Item = [J; 4]>,
    weights: &Elements<'_>,
    slots: &[u16],
    mut out: impl Iterator<Item = &'o mut [(u16, f32)]>,
) -> (usize, Option<(usize, u32, f32)>) {
    let (mut missing, mut wrong, mut vertex) = (0, None, 0);
    weights.for_each::<4>(|weights| {
        let (Some(joints), Some(row)) = (joints.next(), out.next()) else { return };
        for k in 0..4 {
            let (joint, weight): (u32, f32) = (joints[k].into(), weights[k]);
            match slots.get(joint as usize) {
                Some(&slot) if weight >= 0.0 => row[k] = (slot, weight),
                None if weight == 0.0 => missing += 1,
                _ => drop(wrong.get_or_insert((vertex, joint, weight))),
            }
        }
        vertex += 1;
    });
    (missing, wrong)
}

/// The elements of an attribute that is there.
fn elements<'d>(
    root: &Root<'_>,
    store: &Store<'d>,
    place: &str,
    map: &Map<'_, Whole>,
    name: &str,
) -> Result<Option<Elements<'d>>, ReadError> {
    let Some(index) = map.get(name) else { return Ok(None) };
    let elements = store.elements(root, index.0);
    Ok(Some(elements.ok_or_else(|| Problem::new(format!("{place}.{name}"), "has no data"))?))
}

/// The inverse transpose, up to a positive factor that keeps its numbers near one.
fn normal_matrix(m: DMat3) -> DMat3 {
    let cofactors =
        DMat3::from_cols(m.y_axis.cross(m.z_axis), m.z_axis.cross(m.x_axis), m.x_axis.cross(m.y_axis));
    let size = cofactors.to_cols_array().iter().fold(0.0, |a: f64, c| a.max(c.abs()));
    cofactors / if m.determinant() < 0.0 { -size } else { size }
}
