//! The volume of an open skin, taken through the tets of its body: they have an inside where the skin has none.
//!
//! The nodes hang on the bones as the skin above them does. The tets' outer surface is closed: its volume is kept as a
//! closed skin's is, and each vertex of the skin goes with the tet that it sits in.

use super::flesh::hang;
use super::skinned::{Base, BaseState};
use super::{PrepareError, Setup, Shape, Skinning};
use crate::asset::{Character, Morph, Painted, Part, Surface, TetMesh, Weights};
use crate::body::{Body, Node, OnSkin};
use crate::parallel;
use crate::rig::SkinMatrix;
use crate::skin::Skinner;
use crate::skin::smooth::SmoothSkin;
use crate::skin::volume::{Contacts, Volume, VolumeState};
use glam::Vec3;

/// Vertices a parallel task.
const CHUNK: usize = 2048;

/// A body that keeps the volume for its skin: shared by all copies.
pub(super) struct Hull {
    pub(super) body: Body,
    /// The nodes as a character of their own, its skin the tets' outer surface.
    nodes: Character,
    base: Base<'static>,
    volume: Volume,
}

/// What each copy needs for it.
#[derive(Clone)]
pub(super) struct HullState {
    base: BaseState,
    volume: VolumeState,
    /// The nodes by their weights, and where the volume is kept.
    skinned: Shape,
    kept: Shape,
    /// The same as the latter.
    pub(super) nodes: Vec<Node>,
}

impl Hull {
    pub(super) fn new(
        character: &Character,
        tets: TetMesh,
        skinning: Skinning,
        setup: &Setup<'_>,
    ) -> Result<Self, PrepareError> {
        let rest = character.rest_positions();
        let body = Body::of_tets(tets, &rest);
        let on_skin = OnSkin::new(&body, &rest, character.surface().triangles());
        let nodes = nodes(character, &body, &on_skin)?;
        let base = match skinning.blend() {
            Some(blend) => {
                let surface = nodes.surface().clone();
                Base::Blend(Box::new(Skinner::owning(blend, surface, nodes.weights(), setup.path)?))
            }
            None => {
                let options = setup.settings.smooth.options(&nodes, false);
                let mut options = options.map_err(|e| e.under("smooth"))?;
                // What the nodes have of weights is not made of angles alone.
                options.dynamic_limit = false;
                Base::Smooth(Box::new(SmoothSkin::new(&nodes, nodes.weights(), &options, setup.path)?))
            }
        };
        let mut options = setup.settings.volume.options(&nodes).map_err(|e| e.under("volume"))?;
        options.is_rigid = skinning.blend().is_some();
        let volume = Volume::new(&nodes, &options, setup.path)?;
        Ok(Self { body, nodes, base, volume })
    }

    pub(super) fn warnings(&self) -> &[String] {
        self.volume.warnings()
    }

    pub(super) fn state(&self) -> HullState {
        let rest = Shape::rest(&self.nodes);
        HullState {
            base: self.base.state(),
            volume: self.volume.state(),
            nodes: rest.positions.iter().map(|p| [p.x, p.y, p.z, 0.0]).collect(),
            skinned: rest.clone(),
            kept: rest,
        }
    }

    /// Corrects a skinned shape: how far its volume was off, and is.
    pub(super) fn correct(
        &self,
        matrices: &[SkinMatrix],
        morph_weights: &[f32],
        state: &mut HullState,
        out: &mut Shape,
    ) -> [f64; 2] {
        let HullState { base, volume, skinned, kept, nodes } = state;
        self.base.pose(&self.nodes, morph_weights, matrices, base, skinned);
        kept.positions.copy_from_slice(&skinned.positions);
        kept.normals.copy_from_slice(&skinned.normals);
        let Shape { positions, normals } = &mut *kept;
        self.volume.read(volume, positions);
        let before = self.volume.look(matrices, morph_weights, volume);
        let left = self.volume.correct(matrices, Contacts::none(), volume, positions, normals);
        nodes.iter_mut().zip(&*positions).for_each(|(n, p)| *n = [p.x, p.y, p.z, 0.0]);
        let (skinned, kept) = (&*skinned, &*kept);
        let Shape { positions, normals } = out;
        if normals.is_empty() {
            parallel::for_each_chunk_mut(positions, CHUNK, |chunk, positions| {
                for (k, position) in positions.iter_mut().enumerate() {
                    let carriers = self.carriers(chunk * CHUNK + k);
                    *position += carriers
                        .map(|(n, weight)| (kept.positions[n] - skinned.positions[n]) * weight)
                        .sum::<Vec3>();
                }
            });
            return [before, left];
        }
        parallel::for_each_chunk_pair_mut(positions, normals, CHUNK, |chunk, positions, normals| {
            for (k, (position, normal)) in positions.iter_mut().zip(normals).enumerate() {
                let (mut moved, mut turned) = (Vec3::ZERO, Vec3::ZERO);
                for (node, weight) in self.carriers(chunk * CHUNK + k) {
                    moved += (kept.positions[node] - skinned.positions[node]) * weight;
                    turned += (kept.normals[node] - skinned.normals[node]) * weight;
                }
                *position += moved;
                *normal = (*normal + turned).try_normalize().unwrap_or(*normal);
            }
        });
        [before, left]
    }

    /// The nodes of the tet that a vertex sits in, with their weights.
    fn carriers(&self, vertex: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let embedding = self.body.embedding();
        let corners = self.body.tets().tets()[embedding.tets()[vertex] as usize];
        corners.into_iter().map(|n| n as usize).zip(embedding.weights()[vertex])
    }
}

/// The nodes of a body as a character: with the skeleton of another, and what its skin has nearest to each node.
fn nodes(character: &Character, body: &Body, on_skin: &OnSkin) -> Result<Character, PrepareError> {
    let mut raw = character.clone().into_raw();
    let positions = body.tets().positions().to_vec();
    let count = positions.len();
    let triangles: Vec<[u32; 3]> = body.surface().iter().map(|face| face.0).collect();
    raw.parts = vec![Part {
        name: "body".into(),
        mesh: 0,
        vertices: 0..count as u32,
        triangles: 0..triangles.len() as u32,
        has_normals: false,
        color: [1.0; 3],
    }];
    raw.weights = Weights::new(&hang(character, body, on_skin), raw.slots.len())?;
    raw.surface = Surface::new(positions, None, triangles)?;
    for paint in &mut raw.paint {
        let values = (0..count).map(|node| on_skin.value(node, &paint.values)).collect();
        *paint = Painted { name: std::mem::take(&mut paint.name), values };
    }
    for morph in &mut raw.morphs {
        let mut offsets = vec![Vec3::ZERO; character.surface().positions().len()];
        morph.vertices.iter().zip(&morph.positions).for_each(|(&v, &offset)| offsets[v as usize] = offset);
        let at_node = |node| on_skin.of(node).map(|(v, share)| offsets[v as usize] * share).sum::<Vec3>();
        let moved = (0..count).map(|node| (node as u32, at_node(node))).filter(|m| m.1 != Vec3::ZERO);
        let (vertices, positions): (Vec<u32>, Vec<Vec3>) = moved.unzip();
        let normals = vec![Vec3::ZERO; vertices.len()];
        *morph = Morph { vertices, positions, normals, ..morph.clone() };
    }
    // The clips' morph channels are the skin's: poses bring their weights along.
    raw.clips.clear();
    Ok(Character::new(raw)?)
}
