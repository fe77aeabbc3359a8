//! How far the bones are, through the inside of the body.

mod march;
mod seeds;
#[cfg(test)]
mod tests;

use super::{Embedding, topology};
use crate::asset::{AssetError, Bone, Character, TetMesh, Weights};
use crate::parallel;
use crate::rig::weights::{self, BoneDistances, KEEP, Near, NearBones, WeightKind, rest_size};
use glam::{DVec3, Vec3};
use march::{Field, Graph};
pub(super) use seeds::clip;
use std::collections::BTreeMap;

/// Labels of nodes held at a time, 16 bytes each, over all bones that are followed at once.
const LABELS: usize = 1 << 22;
/// Bones followed at once, for threads to share. More are followed farther than need be: only those before them tell
/// how far is far enough.
const BATCH: usize = u8::BITS as usize;
/// Vertices of an island that are asked which bone is nearest; more add nothing but time.
const ASKED: usize = 64;

/// What is odd about bones and tets. Joints are the skeleton's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistanceWarning {
    /// All bones of this joint lie outside the body. Distances count the gap between.
    Outside {
        /// The joint that the bones move with.
        joint: u32,
    },
    /// No bone lies in this piece of the body. As a whole it is bound to the bone that is nearest in a straight line.
    Island {
        /// Which piece, in order of size: see [`topology::pieces`].
        piece: u32,
        /// The first of the skin's vertices that ride on it.
        vertex: u32,
        /// How many do.
        vertices: u32,
        /// The joint that it is bound to.
        joint: u32,
    },
}

/// How far the nearest bones are from the nodes of a body and the vertices of its skin, without leaving the body.
///
/// Where nothing is in the way the distance is that of a straight line. Only the nearest slots of each point are
/// remembered, so that memory is linear in points whatever the number of bones.
#[derive(Debug, Clone, PartialEq)]
pub struct InsideDistances {
    nodes: NearBones,
    vertices: NearBones,
    outside: Vec<u32>,
    islands: Vec<Island>,
}

/// A piece of the body without a bone. Distances to its nodes and vertices are straight lines.
#[derive(Debug, Clone, PartialEq)]
struct Island {
    piece: u32,
    vertices: Vec<u32>,
    bound_to: Near,
}

impl InsideDistances {
    /// Measures from all bones to all nodes and to the skin at `positions` that is embedded in the tets. Remembered are
    /// the nearest `keep` slots of each ([`KEEP`] is enough for weights).
    pub fn new(
        mesh: &TetMesh,
        embedding: &Embedding,
        positions: &[Vec3],
        bones: &BoneDistances,
        keep: usize,
    ) -> Result<Self, AssetError> {
        check(mesh, embedding, positions)?;
        let graph = Graph::new(mesh);
        let paths = seeds::paths(&graph, bones);
        let pieces = topology::pieces(mesh);
        let mut has_bone = vec![false; pieces.sizes.len()];
        paths.iter().flatten().for_each(|hit| has_bone[pieces.of_tet[hit.tet as usize] as usize] = true);
        // Where bones outside are let in: a piece without a bone inside is an island, unless all are.
        let none = !has_bone.contains(&true);
        let is_open = |&t: &u32| none || has_bone[pieces.of_tet[t as usize] as usize];
        let mut doors: Vec<u32> = (0..mesh.positions().len() as u32).collect();
        doors.retain(|&n| graph.tets_of(n as usize).iter().any(is_open));

        let mut nodes = NearBones::new(mesh.positions().len(), keep);
        let mut vertices = NearBones::new(positions.len(), keep);
        let places = places(bones, keep);
        // Far apart in the skeleton, so that the first ones tell the others how far is far enough.
        let mut fields_of = vec![0u8; nodes.len()];
        let batches = places.len().div_ceil((LABELS / nodes.len().max(1)).clamp(1, BATCH));
        for batch in 0..batches {
            let batch: Vec<&[usize]> = places[batch..].iter().step_by(batches).map(|p| &p[..]).collect();
            let fields = parallel::map(batch.len(), |i| {
                let (bone, path) = (&bones.bones()[batch[i][0]].1, &paths[batch[i][0]]);
                let mut field = Field::new(nodes.len());
                if path.is_empty() {
                    let nearest = seeds::nearest_node(&graph, bone, &doors);
                    nearest.into_iter().for_each(|n| seeds::seed_outside(&mut field, &graph, bone, n));
                } else {
                    seeds::seed_inside(&mut field, &graph, bone, path);
                }
                field.march(&graph, |node| nodes.reach(node));
                field
            });
            let near = |bone: usize, distance: f64| {
                let distance = distance.max(bones.smallest()).min(f64::from(f32::MAX)) as f32;
                Near { distance, bone: bone as u32, slot: bones.bones()[bone].0 }
            };
            nodes.for_each_mut(|node, entries| {
                for (field, place) in fields.iter().zip(&batch) {
                    let distance = field.labels[node].distance;
                    if distance.is_finite() {
                        place.iter().for_each(|&bone| weights::add(entries, near(bone, distance)));
                    }
                }
            });
            // Most bones come to few nodes: which do is asked of each node once, not for each vertex around it.
            fields_of.iter_mut().for_each(|fields| *fields = 0);
            for (k, field) in fields.iter().enumerate() {
                for (fields, label) in fields_of.iter_mut().zip(&field.labels) {
                    *fields |= u8::from(label.distance.is_finite()) << k;
                }
            }
            vertices.for_each_mut(|vertex, entries| {
                let tet = mesh.tets()[embedding.tets()[vertex] as usize];
                let (shares, point) = (embedding.weights()[vertex], positions[vertex].as_dvec3());
                let mut left = tet.iter().fold(0, |left, &node| left | fields_of[node as usize]);
                while left != 0 {
                    let k = left.trailing_zeros() as usize;
                    left &= left - 1;
                    if let Some(distance) = at_vertex(&fields[k], tet, shares, point) {
                        batch[k].iter().for_each(|&bone| weights::add(entries, near(bone, distance)));
                    }
                }
            });
        }

        // A joint with one bone inside is not told of: it has flesh to move.
        let all: Vec<(u32, bool)> =
            bones.bones().iter().zip(&paths).map(|((_, bone), path)| (bone.joint, path.is_empty())).collect();
        let of_joints = all.chunk_by(|a, b| a.0 == b.0);
        let outside = of_joints.filter(|bones| bones.iter().all(|b| b.1)).map(|bones| bones[0].0).collect();
        let mut distances = Self { outside, islands: Vec::new(), nodes, vertices };
        distances.add_islands(mesh, &pieces, embedding, positions, bones);
        Ok(distances)
    }

    /// Pieces that no bone reaches are measured to in straight lines.
    fn add_islands(
        &mut self,
        mesh: &TetMesh,
        pieces: &topology::Pieces,
        embedding: &Embedding,
        positions: &[Vec3],
        bones: &BoneDistances,
    ) {
        let mut riders: Vec<Vec<u32>> = vec![Vec::new(); pieces.sizes.len()];
        for (vertex, &tet) in embedding.tets().iter().enumerate() {
            if self.vertices.of(vertex).is_empty() {
                riders[pieces.of_tet[tet as usize] as usize].push(vertex as u32);
            }
        }
        let straight = |near: &mut NearBones, positions: &[Vec3]| {
            near.for_each_mut(|point, entries| {
                if !entries[0].distance.is_finite() {
                    weights::straight(positions[point].as_dvec3(), bones, entries);
                }
            });
        };
        straight(&mut self.nodes, mesh.positions());
        straight(&mut self.vertices, positions);
        for (piece, vertices) in riders.into_iter().enumerate().filter(|(_, v)| !v.is_empty()) {
            let asked = vertices.iter().step_by(vertices.len().div_ceil(ASKED));
            let points: Vec<DVec3> = asked.map(|&v| positions[v as usize].as_dvec3()).collect();
            let far =
                |bone: &Bone| points.iter().map(|p| bone.distance(*p)).sum::<f64>() / points.len() as f64;
            let all = bones.bones().iter().enumerate().map(|(index, (slot, bone))| Near {
                distance: far(bone).max(bones.smallest()).min(f64::from(f32::MAX)) as f32,
                bone: index as u32,
                slot: *slot,
            });
            if let Some(bound_to) = all.min_by(|a, b| a.distance.total_cmp(&b.distance)) {
                self.islands.push(Island { piece: piece as u32, vertices, bound_to });
            }
        }
    }

    /// The nearest bones of each node.
    pub fn nodes(&self) -> &NearBones {
        &self.nodes
    }

    /// The nearest bones of each vertex of the skin.
    pub fn vertices(&self) -> &NearBones {
        &self.vertices
    }

    /// What was odd: bones outside in order of joints, then islands in order of pieces.
    pub fn warnings(&self, bones: &BoneDistances) -> Vec<DistanceWarning> {
        let outside = self.outside.iter().map(|&joint| DistanceWarning::Outside { joint });
        let islands = self.islands.iter().map(|island| DistanceWarning::Island {
            piece: island.piece,
            vertex: island.vertices[0],
            vertices: island.vertices.len() as u32,
            joint: bones.bones()[island.bound_to.bone as usize].1.joint,
        });
        outside.chain(islands).collect()
    }

    /// The nearest bones of each vertex, for weights: those of an island all have the one bone that it is bound to.
    fn into_bound(self) -> NearBones {
        let mut near = self.vertices;
        for island in &self.islands {
            island.vertices.iter().for_each(|&v| near.set_only(v as usize, island.bound_to));
        }
        near
    }
}

/// Bones in one place are followed once: of each place its bones, the first of each slot, as many as are remembered.
fn places(bones: &BoneDistances, keep: usize) -> Vec<Vec<usize>> {
    let mut places: Vec<Vec<usize>> = Vec::new();
    let mut known: BTreeMap<[u64; 6], usize> = BTreeMap::new();
    for (index, (slot, bone)) in bones.bones().iter().enumerate() {
        let [a, b] = [bone.start, bone.end].map(|p| p.to_array().map(f64::to_bits));
        let place = *known.entry([a[0], a[1], a[2], b[0], b[1], b[2]]).or_insert(places.len());
        if place == places.len() {
            places.push(Vec::new());
        }
        // Bones are in order of slots.
        let is_new = places[place].last().is_none_or(|&last| bones.bones()[last].0 != *slot);
        if is_new && places[place].len() < keep.max(1) {
            places[place].push(index);
        }
    }
    places
}

fn check(mesh: &TetMesh, embedding: &Embedding, positions: &[Vec3]) -> Result<(), AssetError> {
    let (expected, found) = (positions.len(), embedding.tets().len());
    if expected != found {
        return Err(AssetError::Length { what: "embedded vertices", expected, found });
    }
    let count = mesh.tets().len();
    match embedding.tets().iter().position(|&t| t as usize >= count) {
        None => Ok(()),
        Some(index) => {
            let value = embedding.tets()[index] as usize;
            Err(AssetError::OutOfRange { what: "embedded vertex", index, target: "tet", value, count })
        }
    }
}

/// The distance at a point in a tet, or outside a tet that it rides on: that from the origins that the corners see,
/// mixed by how near they are, so that it is exact where all see the same one and steady everywhere.
fn at_vertex(field: &Field, tet: [u32; 4], shares: [f32; 4], point: DVec3) -> Option<f64> {
    let (mut sum, mut total) = (0.0, 0.0);
    for (node, share) in tet.into_iter().zip(shares) {
        let label = field.labels[node as usize];
        if share > 0.0 && label.distance.is_finite() {
            sum += f64::from(share) * field.origins[label.origin as usize].distance(point);
            total += f64::from(share);
        }
    }
    (total > 0.0).then(|| sum / total)
}

/// Weights for a character's skin, and what was odd. They refer to [`weights::slots`] of its skeleton, whatever its own
/// slots are: see [`weights::bind`].
#[derive(Debug, Clone, PartialEq)]
pub struct Weighed {
    /// The weights.
    pub weights: Weights,
    /// What was odd.
    pub warnings: Vec<DistanceWarning>,
}

/// Makes weights by distances through the inside of a body. `embedding` is that of the character's surface at rest.
/// Without a body see [`weights::weigh_straight`].
pub fn weigh(
    character: &Character,
    mesh: &TetMesh,
    embedding: &Embedding,
    kind: WeightKind,
) -> Result<Weighed, AssetError> {
    let positions = character.surface().positions();
    if let WeightKind::Distance(settings) = kind {
        let weights = weights::distance(positions, character.skeleton(), settings)?;
        return Ok(Weighed { weights, warnings: Vec::new() });
    }
    let bones = BoneDistances::new(character.skeleton(), rest_size(positions, character.skeleton()))?;
    let distances = InsideDistances::new(mesh, embedding, positions, &bones, KEEP)?;
    let warnings = distances.warnings(&bones);
    let weights = weights::weigh(character, &bones, &distances.into_bound(), kind)?;
    Ok(Weighed { weights, warnings })
}
