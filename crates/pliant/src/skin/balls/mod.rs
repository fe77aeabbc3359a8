//! Skin that many carriers move (balls of flesh, joints, bones), each by a matrix, and its detail kept around joints.
//!
//! A [`BallSkin`] is prepared once and shared; each moving copy has a [`BallSkinState`].

mod rings;

use super::mesh::Mesh;
use super::smooth::{Around, Normals};
use super::{Blend, SkinError, Skinner, State};
use crate::asset::{AssetError, Character, Morph, Surface, Weights};
use crate::parallel;
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

/// Points within which those with as many neighbours are brought together.
const WINDOW: usize = 512;
/// Points a parallel task, and vertices.
const CHUNK: usize = 1024;
/// Detail below this share is not worth the while.
const LEAST: f32 = 0.05;
const NONE: u32 = u32::MAX;

/// Skin on carriers: shared by all copies of a character.
pub struct BallSkin {
    skinner: Skinner<'static>,
    /// The offsets of points with detail from the middle of their neighbours, as if they were places.
    offsets: Skinner<'static>,
    lengths: Vec<f32>,
    border: Rings,
    detailed: Rings,
    /// The vertex of each place: points with detail, other bent ones, those around them. And the place of each vertex.
    vertices: Vec<u32>,
    place_of_vertex: Vec<u32>,
    /// The vertices of bent points, in order, and how many come before each chunk.
    bent: Vec<u32>,
    bent_before: Vec<u32>,
    /// Of the bent ones, in their order.
    normals: Normals,
    rest_normals: Vec<Vec3>,
    /// Vertices with none but bent ones around them.
    is_inside: Vec<bool>,
}

/// What one moving copy needs from step to step. Reused, so that steps allocate nothing.
#[derive(Clone)]
pub struct BallSkinState {
    skin: State,
    turning: State,
    turns: Vec<SkinMatrix>,
    offsets: Vec<Vec3>,
    /// And one at the origin, and one that is not used.
    places: Vec<Vec3>,
    next: Vec<Vec3>,
    around: Around,
}

impl BallSkin {
    /// Prepares the skin.
    pub fn new(character: &Character, carried: &Carried<'_>, path: Path) -> Result<Self, BallSkinError> {
        let weights = Weights::new(carried.weights, carried.carriers)?;
        let skinner = Skinner::owning(Blend::Linear, character.surface().clone(), &weights, path)?;
        let mesh = Mesh::new(character);
        let vertex_of = |point: u32| mesh.vertex_of_point[point as usize] as usize;
        let mut morphed = vec![false; mesh.point_of_vertex.len()];
        character.morphs().iter().flat_map(|m| &m.vertices).for_each(|&v| morphed[v as usize] = true);
        let is_bent = |&p: &u32| carried.is_bent[vertex_of(p)] && !mesh.around.of(p as usize).is_empty();
        // Morphs have a detail of their own, which rest does not know.
        let has_detail = |&p: &u32| carried.detail[vertex_of(p)] > LEAST && !morphed[vertex_of(p)];
        let bent = (0..mesh.len() as u32).filter(is_bent);
        let (mut points, smooth): (Vec<u32>, Vec<u32>) = bent.partition(has_detail);
        points.chunks_mut(WINDOW).for_each(|w| w.sort_by_key(|&p| (mesh.around.of(p as usize).len(), p)));
        let detailed = points.len();
        points.extend(smooth);
        let own = points.len();

        let mut local = vec![NONE; mesh.len()];
        points.iter().enumerate().for_each(|(k, &p)| local[p as usize] = k as u32);
        let mut rings: Vec<Vec<u32>> = Vec::with_capacity(own);
        for k in 0..own {
            let mut ring: Vec<u32> = Vec::new();
            mesh.for_neighbours(points[k] as usize, |n| ring.push(n as u32));
            ring.sort_unstable();
            ring.dedup();
            for n in &mut ring {
                if local[*n as usize] == NONE {
                    local[*n as usize] = points.len() as u32;
                    points.push(*n);
                }
                *n = local[*n as usize];
            }
            rings.push(ring);
        }
        let rest = character.surface().positions();
        let vertices: Vec<u32> = points.iter().map(|&p| mesh.vertex_of_point[p as usize]).collect();
        let mut places: Vec<Vec3> = vertices.iter().map(|&v| rest[v as usize]).collect();
        let middle = |ring: &[u32]| {
            ring.iter().fold(Vec3::ZERO, |sum, &n| sum + places[n as usize]) / ring.len().max(1) as f32
        };
        let offsets: Vec<Vec3> = (0..detailed).map(|k| places[k] - middle(&rings[k])).collect();
        let lengths = offsets.iter().map(|o| o.length()).collect();
        let of_points = vertices[..detailed].iter().map(|&v| weights.of(v as usize));
        let (of_points, _) = Weights::normalised(of_points, carried.carriers, |_| None)?;
        let surface = Surface::new(offsets, Some(vec![Vec3::Y; detailed]), Vec::new())?;
        let offsets = Skinner::owning(Blend::Linear, surface, &of_points, path)?;
        let ring = |place: u32| rings::Point {
            place,
            detail: carried.detail[vertices[place as usize] as usize],
            around: rings[place as usize].clone(),
        };
        let all: Vec<rings::Point> = (0..detailed as u32).map(ring).collect();
        let at_border = |&k: &u32| carried.is_border[vertices[k as usize] as usize];
        let border: Vec<rings::Point> = (0..detailed as u32).filter(at_border).map(ring).collect();
        let nothing = places.len() as u32;

        // Normals of bent points come from the triangles around them.
        let place_of = |vertex: u32| local[mesh.point_of_vertex[vertex as usize] as usize];
        let is_own = |vertex: &u32| (place_of(*vertex) as usize) < own;
        let bent: Vec<u32> = (0..rest.len() as u32).filter(is_own).collect();
        let before = |first: usize| bent.partition_point(|&v| (v as usize) < first) as u32;
        let bent_before = (0..=rest.len().div_ceil(CHUNK)).map(|chunk| before(chunk * CHUNK)).collect();
        let mut normals_of = bent.clone();
        let mut number = vec![NONE; rest.len()];
        normals_of.iter().enumerate().for_each(|(k, &v)| number[v as usize] = k as u32);
        let mut faces = Vec::new();
        for triangle in character.surface().triangles().iter().filter(|t| t.iter().any(is_own)) {
            faces.push(triangle.map(|v| {
                if number[v as usize] == NONE {
                    number[v as usize] = normals_of.len() as u32;
                    normals_of.push(v);
                }
                number[v as usize]
            }));
        }
        let mut rest_normals: Vec<Vec3> =
            normals_of.iter().map(|&v| character.surface().normals()[v as usize]).collect();
        let place_of_normal: Vec<u32> = normals_of.iter().map(|&v| place_of(v)).collect();
        places.extend([Vec3::ZERO; 2]);
        let normals = Normals::new(&places, &faces, &place_of_normal, &rest_normals, path);
        rest_normals.truncate(bent.len());
        let is_inside =
            |v: u32| is_own(&v) && rings[place_of(v) as usize].iter().all(|&n| (n as usize) < own);
        Ok(Self {
            skinner,
            offsets,
            lengths,
            border: Rings::new(&border, nothing, path),
            detailed: Rings::new(&all, nothing, path),
            vertices,
            place_of_vertex: (0..rest.len() as u32).map(place_of).collect(),
            is_inside: (0..rest.len() as u32).map(is_inside).collect(),
            bent,
            bent_before,
            normals,
            rest_normals,
        })
    }

    /// A state for one copy.
    pub fn state(&self) -> BallSkinState {
        BallSkinState {
            skin: self.skinner.state(),
            turning: self.offsets.state(),
            turns: Vec::new(),
            offsets: vec![Vec3::ZERO; self.lengths.len() + 1],
            places: vec![Vec3::ZERO; self.vertices.len() + 2],
            next: vec![Vec3::ZERO; self.detailed.room()],
            around: Around::default(),
        }
    }

    /// Poses the skin, by one matrix per carrier.
    ///
    /// # Panics
    /// If sizes are not the character's (there may be no normals), or the state is of another skin.
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
        if normals.is_empty() {
            self.skinner.positions(matrices, &mut state.skin, positions);
        } else {
            self.skinner.positions_and_normals(matrices, &mut state.skin, positions, normals);
        }
    }

    /// Brings back the skin's own detail where balls carry it: a point goes a `share` of the way to where its turned offset
    /// from the middle of its neighbours has it, `steps` times, and half the way `border_steps` times before that where what
    /// moves the skin changes. What moves rigidly stays. That is done to the first vertex of each point: the rest, and
    /// normals, are for [`BallSkin::show`].
    ///
    /// # Panics
    /// As [`BallSkin::pose`].
    pub fn filter(
        &self,
        matrices: &[SkinMatrix],
        (border_steps, steps, share): (u32, u32, f32),
        state: &mut BallSkinState,
        positions: &mut [Vec3],
    ) {
        let BallSkinState { turning, turns, offsets, places, next, .. } = state;
        let now = &*positions;
        parallel::for_each_chunk_mut(&mut places[..self.vertices.len()], CHUNK, |chunk, places| {
            let vertices = &self.vertices[chunk * CHUNK..];
            places.iter_mut().zip(vertices).for_each(|(place, &v)| *place = now[v as usize]);
        });
        if border_steps == 0 && steps == 0 {
            return;
        }
        turns.clear();
        turns.extend(matrices.iter().map(|m| m.map(|[x, y, z, _]| [x, y, z, 0.0])));
        let count = self.lengths.len();
        self.offsets.positions(turns, turning, &mut offsets[..count]);
        parallel::for_each_chunk_mut(&mut offsets[..count], CHUNK, |chunk, offsets| {
            for (offset, &length) in offsets.iter_mut().zip(&self.lengths[chunk * CHUNK..]) {
                let now = offset.length();
                *offset *= if now > 0.0 { length / now } else { 0.0 };
            }
        });
        for _ in 0..border_steps {
            self.border.step(offsets, 0.5, places, next);
        }
        for _ in 0..steps {
            self.detailed.step(offsets, share, places, next);
        }
        places.iter().zip(&self.vertices[..count]).for_each(|(place, &v)| positions[v as usize] = *place);
    }

    /// Whether [`BallSkin::show`] shows all of a vertex's moves, so that nobody else need.
    pub fn shows(&self, vertex: u32) -> bool {
        self.is_inside[vertex as usize]
    }

    /// Closes the seams of bent skin and finds its normals. The first vertices of points that were `moved` since
    /// [`BallSkin::filter`] are where they are to be.
    ///
    /// # Panics
    /// As [`BallSkin::pose`].
    pub fn show(
        &self,
        moved: impl Iterator<Item = u32>,
        state: &mut BallSkinState,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        let BallSkinState { places, around, .. } = state;
        for vertex in moved {
            if let Some(place) = places.get_mut(self.place_of_vertex[vertex as usize] as usize) {
                *place = positions[vertex as usize];
            }
        }
        if normals.is_empty() {
            let places = &*places;
            return parallel::for_each_chunk_mut(positions, CHUNK, |chunk, positions| {
                let [first, last] = [chunk, chunk + 1].map(|c| self.bent_before[c] as usize);
                for &vertex in &self.bent[first..last] {
                    let place = self.place_of_vertex[vertex as usize];
                    positions[vertex as usize - chunk * CHUNK] = places[place as usize];
                }
            });
        }
        self.normals.look(places, around);
        let (places, around) = (&*places, &*around);
        parallel::for_each_chunk_pair_mut(positions, normals, CHUNK, |chunk, positions, normals| {
            let [first, last] = [chunk, chunk + 1].map(|c| self.bent_before[c] as usize);
            for (k, &vertex) in self.bent[first..last].iter().enumerate() {
                let (number, at) = (first + k, vertex as usize - chunk * CHUNK);
                positions[at] = places[self.place_of_vertex[vertex as usize] as usize];
                normals[at] = self.normals.normal(number, places, &self.rest_normals, false, around);
            }
        });
    }
}
