//! Skin that many carriers move (balls of flesh, joints, bones), each by a matrix, and its detail kept around joints.
//!
//! A [`BallSkin`] is prepared once and shared; each moving copy has a [`BallSkinState`].

mod rings;

use super::mesh::Mesh;
use super::smooth::{Around, Normals};
use super::{Blend, SkinError, Skinner, State};
use crate::asset::{AssetError, Character, Morph, Surface, Weights};
use crate::body::topology::Lists;
use crate::rig::SkinMatrix;
use crate::simd::Path;
use glam::Vec3;
use rings::Rings;
use thiserror::Error;

/// Why skin cannot be prepared.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum BallSkinError {
    /// Its weights are not sound.
    #[error(transparent)]
    Weights(#[from] AssetError),
    /// The skinning cannot be set up.
    #[error(transparent)]
    Skin(#[from] SkinError),
}

/// What vertices hang on.
pub struct Carried<'a> {
    /// Carriers and weights of each vertex.
    pub weights: &'a [Vec<(u16, f32)>],
    /// How many carriers there are.
    pub carriers: usize,
    /// Vertices that are not moved rigidly.
    pub is_bent: &'a [bool],
    /// How much of each vertex's detail is to be kept, 0 to 1, where it is bent.
    pub detail: &'a [f32],
    /// Vertices where what moves the skin changes: their detail is kept more.
    pub is_border: &'a [bool],
}

/// Skin on carriers: shared by all copies of a character.
pub struct BallSkin {
    skinner: Skinner<'static>,
    /// The offsets of bent points from the middle of their neighbours, as if they were places.
    offsets: Skinner<'static>,
    lengths: Vec<f32>,
    /// How much of each is brought back.
    detail: Vec<f32>,
    rings: Rings,
    /// The vertex of each bent point and of those around them; then all vertices of bent points.
    vertices: Vec<u32>,
    vertices_of_point: Lists,
    normals: Normals,
    /// The vertices that normals are of: those of bent points first.
    normals_of: Vec<u32>,
    own_normals: usize,
    rest_normals: Vec<Vec3>,
}

/// What one moving copy needs from step to step. Reused, so that steps allocate nothing.
pub struct BallSkinState {
    skin: State,
    turning: State,
    turns: Vec<SkinMatrix>,
    offsets: Vec<Vec3>,
    /// Places of bent points and of those around them, and one more that is not used.
    places: Vec<Vec3>,
    next: Vec<Vec3>,
    around: Around,
    normals: Vec<Vec3>,
}

impl BallSkin {
    /// Prepares the skin.
    pub fn new(character: &Character, carried: &Carried<'_>, path: Path) -> Result<Self, BallSkinError> {
        let weights = Weights::new(carried.weights, carried.carriers)?;
        let skinner = Skinner::owning(Blend::Linear, character.surface().clone(), &weights, path)?;
        let mesh = Mesh::new(character);
        let mut morphed = vec![false; mesh.point_of_vertex.len()];
        character.morphs().iter().flat_map(|m| &m.vertices).for_each(|&v| morphed[v as usize] = true);
        // Morphs have a detail of their own, which rest does not know.
        let bent = |point: usize| {
            let vertex = mesh.vertex_of_point[point] as usize;
            carried.is_bent[vertex] && !morphed[vertex] && !mesh.around.of(point).is_empty()
        };
        let points: Vec<u32> = (0..mesh.len() as u32).filter(|&p| bent(p as usize)).collect();
        // Those with detail to keep first.
        let detail = |point: &u32| carried.detail[mesh.vertex_of_point[*point as usize] as usize];
        let (mut points, smooth): (Vec<u32>, Vec<u32>) = points.into_iter().partition(|p| detail(p) > 0.0);
        let filtered = points.len();
        points.extend(smooth);
        let detail = points[..filtered].iter().map(detail).collect();
        let (rings, locals) = Rings::new(&mesh, &points, |point| {
            carried.is_border[mesh.vertex_of_point[point as usize] as usize]
        });
        let vertices: Vec<u32> = locals.iter().map(|&p| mesh.vertex_of_point[p as usize]).collect();

        let rest = character.surface().positions();
        let mut places: Vec<Vec3> = vertices.iter().map(|&v| rest[v as usize]).collect();
        let offsets: Vec<Vec3> = (0..filtered).map(|k| places[k] - rings.middle(k, &places)).collect();
        let lengths = offsets.iter().map(|o| o.length()).collect();
        let of_points: Vec<Vec<(u16, f32)>> =
            points[..filtered].iter().map(|&p| weights.of(mesh.vertex_of_point[p as usize] as usize).collect()).collect();
        let surface = Surface::new(offsets, Some(vec![Vec3::Y; filtered]), Vec::new())?;
        let of_points = Weights::new(&of_points, carried.carriers)?;
        let offsets = Skinner::owning(Blend::Linear, surface, &of_points, path)?;

        // Normals of bent points come from the triangles around them.
        let mut local = vec![u32::MAX; mesh.len()];
        locals.iter().enumerate().for_each(|(k, &p)| local[p as usize] = k as u32);
        let own = |vertex: u32| (local[mesh.point_of_vertex[vertex as usize] as usize] as usize) < points.len();
        let all = 0..rest.len() as u32;
        let mut normals_of: Vec<u32> = all.filter(|&v| own(v)).collect();
        let own_normals = normals_of.len();
        let mut number = vec![u32::MAX; rest.len()];
        normals_of.iter().enumerate().for_each(|(k, &v)| number[v as usize] = k as u32);
        let mut faces = Vec::new();
        for triangle in character.surface().triangles().iter().filter(|t| t.iter().any(|&v| own(v))) {
            faces.push(triangle.map(|v| {
                if number[v as usize] == u32::MAX {
                    number[v as usize] = normals_of.len() as u32;
                    normals_of.push(v);
                }
                number[v as usize]
            }));
        }
        let rest_normals: Vec<Vec3> =
            normals_of.iter().map(|&v| character.surface().normals()[v as usize]).collect();
        let place_of: Vec<u32> =
            normals_of.iter().map(|&v| local[mesh.point_of_vertex[v as usize] as usize]).collect();
        places.push(Vec3::ZERO);
        let normals = Normals::new(&places, &faces, &place_of, &rest_normals, path);
        let members: Vec<[u32; 1]> = normals_of[..own_normals]
            .iter()
            .map(|&v| [local[mesh.point_of_vertex[v as usize] as usize]])
            .collect();
        let vertices_of_point = Lists::group(points.len(), &members).with(|k| normals_of[k as usize]);
        Ok(Self {
            skinner,
            offsets,
            lengths,
            detail,
            rings,
            vertices,
            vertices_of_point,
            normals,
            normals_of,
            own_normals,
            rest_normals,
        })
    }

    /// A state for one copy.
    pub fn state(&self) -> BallSkinState {
        BallSkinState {
            skin: self.skinner.state(),
            turning: self.offsets.state(),
            turns: Vec::new(),
            offsets: vec![Vec3::ZERO; self.lengths.len()],
            places: vec![Vec3::ZERO; self.vertices.len() + 1],
            next: vec![Vec3::ZERO; self.lengths.len()],
            around: Around::default(),
            normals: vec![Vec3::Y; self.normals_of.len()],
        }
    }

    /// Poses the skin, by one matrix per carrier.
    ///
    /// # Panics
    /// If sizes are not the character's, or the state is of another skin.
    pub fn pose(
        &self,
        morphs: &[Morph],
        matrices: &[SkinMatrix],
        morph_weights: &[f32],
        state: &mut BallSkinState,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        self.skinner.morph(morphs, morph_weights, &mut state.skin);
        self.skinner.positions_and_normals(matrices, &mut state.skin, positions, normals);
    }

    /// Brings back the skin's own detail around joints: a point goes a `share` of the way to where its turned offset from
    /// the middle of its neighbours has it, `border_steps` times where what moves the skin changes, then `steps` times
    /// wherever it is bent. What moves rigidly stays.
    ///
    /// # Panics
    /// As [`BallSkin::pose`].
    pub fn filter(
        &self,
        matrices: &[SkinMatrix],
        (border_steps, steps, share): (u32, u32, f32),
        state: &mut BallSkinState,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        let BallSkinState { turning, turns, offsets, places, next, around, normals: turned, .. } = state;
        places.iter_mut().zip(&self.vertices).for_each(|(place, &v)| *place = positions[v as usize]);
        if border_steps > 0 || steps > 0 {
            turns.clear();
            turns.extend(matrices.iter().map(|m| m.map(|[x, y, z, _]| [x, y, z, 0.0])));
            self.offsets.positions(turns, turning, offsets);
            for (offset, &length) in offsets.iter_mut().zip(&self.lengths) {
                let now = offset.length();
                *offset *= if now > 0.0 { length / now } else { 0.0 };
            }
            for _ in 0..border_steps {
                self.rings.border_step(offsets, &self.detail, 0.5, places, next);
            }
            for _ in 0..steps {
                self.rings.step(offsets, &self.detail, share, places, next);
            }
            for (point, place) in places[..self.lengths.len()].iter().enumerate() {
                self.vertices_of_point.of(point).iter().for_each(|&v| positions[v as usize] = *place);
            }
        }
        self.normals.normals(places, &self.rest_normals, |_| false, around, turned);
        for (&vertex, normal) in self.normals_of[..self.own_normals].iter().zip(turned) {
            normals[vertex as usize] = *normal;
        }
    }
}
