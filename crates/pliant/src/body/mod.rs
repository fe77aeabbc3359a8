//! The flesh under a skin: a tet mesh inside it, the skin embedded in the tets, and what methods need of both.

mod aabb;
mod apart;
mod balls;
mod bench;
mod bvh;
mod distance;
mod embedding;
mod error;
mod frames;
mod mesher;
mod on_skin;
pub mod quality;
mod slits;
pub mod topology;
mod update;

pub use balls::{Ball, Balls};
#[doc(hidden)]
pub use bench::{bench_bend, bench_block, bench_body};
pub(crate) use bvh::Bvh;
pub use distance::{DistanceWarning, InsideDistances, Weighed, weigh};
pub use embedding::Embedding;
pub use error::BodyError;
pub use frames::{FrameField, near_curves};
pub(crate) use on_skin::{OnSkin, prune, spread, surface_nodes};
pub(crate) use slits::slits;
pub use update::{EmbeddedSkin, Node, SkinScratch, rest_nodes};

use crate::asset::{AssetError, TetMesh};
use glam::Vec3;

/// How fine a body is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fineness {
    /// About this many tets, within a few percent.
    Tets(usize),
    /// Lattice cells of this edge, in the character's units.
    Cell(f64),
}

impl Default for Fineness {
    /// 8,000 tets: fingers of a whole body are still told apart, a frame takes about a millisecond.
    fn default() -> Self {
        Self::Tets(8000)
    }
}

/// Told how far the work is, from 0 to 1; answers whether to go on.
pub type Progress<'a> = &'a mut dyn FnMut(f32) -> bool;

/// A connected piece of a skin, and whether there is flesh in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Shell {
    /// Its first vertex in the skin.
    pub vertex: u32,
    /// How many vertices it has.
    pub vertices: u32,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a shell of the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is filled with tets.
    Flesh,
    /// It has too large an opening to have an inside, and rides on the nearest flesh.
    Open,
    /// It is too thin for a cell of this size, and rides on the nearest flesh.
    Thin,
    /// It is smaller than a cell, and rides on the nearest flesh.
    Small,
}

/// A tet body with a skin embedded in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    tets: TetMesh,
    surface: Vec<([u32; 3], u32)>,
    embedding: Embedding,
    fill: Vec<f32>,
    node_volumes: Vec<f32>,
    pieces: Vec<u32>,
    shells: Vec<Shell>,
    shell_of_vertex: Vec<u32>,
    /// Where parts are filled each for itself: which part nodes and vertices are of.
    part_of_node: Vec<u32>,
    part_of_vertex: Vec<u32>,
    cell: f64,
    skin_volume: f64,
}

impl Body {
    /// Meshes a skin at rest and embeds it. The skin may be in pieces, open, and cross itself; what has no inside
    /// rides on the nearest flesh (see [`Body::shells`]).
    pub fn of_skin(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        fineness: Fineness,
        progress: Progress,
    ) -> Result<Self, BodyError> {
        check(positions, triangles)?;
        let meshed = mesher::mesh(positions, triangles, fineness, progress)?;
        let adjacency = topology::Adjacency::new(&meshed.tets);
        let surface = adjacency.surface(&meshed.tets);
        let embedding = Embedding::accepted(&meshed.tets, &surface, positions, |v, t| meshed.belongs(v, t));
        let fill = meshed.fill();
        let pieces = adjacency.pieces().sizes;
        if !progress(1.0) {
            return Err(BodyError::Stopped);
        }
        let node_volumes = whole_volumes(topology::node_volumes(&meshed.tets, &fill), meshed.skin_volume);
        Ok(Self {
            surface,
            embedding,
            fill,
            node_volumes,
            pieces,
            shells: meshed.shells,
            shell_of_vertex: meshed.shell_of_vertex,
            part_of_node: Vec::new(),
            part_of_vertex: Vec::new(),
            cell: meshed.cell,
            skin_volume: meshed.skin_volume,
            tets: meshed.tets,
        })
    }

    /// A body from tets made elsewhere, with a skin embedded in them. All tets count as full.
    pub fn of_tets(tets: TetMesh, positions: &[Vec3]) -> Self {
        let adjacency = topology::Adjacency::new(&tets);
        let surface = adjacency.surface(&tets);
        let embedding = Embedding::new(&tets, &surface, positions);
        let fill = vec![1.0; tets.tets().len()];
        let volume = tets.volume();
        Self {
            surface,
            embedding,
            node_volumes: topology::node_volumes(&tets, &fill),
            fill,
            pieces: adjacency.pieces().sizes,
            shells: Vec::new(),
            shell_of_vertex: Vec::new(),
            part_of_node: Vec::new(),
            part_of_vertex: Vec::new(),
            cell: libm::cbrt(12.0 * volume / tets.tets().len() as f64),
            skin_volume: volume,
            tets,
        }
    }

    /// The tet mesh.
    pub fn tets(&self) -> &TetMesh {
        &self.tets
    }

    /// The triangles that only one tet has, seen anticlockwise from outside, with that tet.
    pub fn surface(&self) -> &[([u32; 3], u32)] {
        &self.surface
    }

    /// Where the skin's vertices sit.
    pub fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    /// How much of each tet the skin encloses, 0 to 1. Thin parts have tets thicker than themselves.
    pub fn fill(&self) -> &[f32] {
        &self.fill
    }

    /// The volume of flesh that each node stands for; times a density it is the node's mass. Never 0.
    pub fn node_volumes(&self) -> &[f32] {
        &self.node_volumes
    }

    /// The number of tets of each piece, largest first. Tets of one piece are joined by faces.
    pub fn pieces(&self) -> &[u32] {
        &self.pieces
    }

    /// The connected pieces of the skin, in order of their first vertices. None for a body read from a file.
    pub fn shells(&self) -> &[Shell] {
        &self.shells
    }

    /// Whether a vertex of the skin is on a shell without flesh, so that it rides on flesh that is not its own.
    pub fn rides(&self, vertex: usize) -> bool {
        let shell = self.shell_of_vertex.get(vertex).and_then(|&s| self.shells.get(s as usize));
        shell.is_some_and(|s| s.fate != Fate::Flesh)
    }

    /// The shell that each vertex of the skin is of; one that there is not, for vertices of no triangle.
    pub(crate) fn shell_of_vertex(&self) -> &[u32] {
        &self.shell_of_vertex
    }

    /// Which part of the body a node is of, where parts are filled each for itself.
    pub(crate) fn part_of_node(&self, node: usize) -> u32 {
        self.part_of_node.get(node).copied().unwrap_or(0)
    }

    /// Which part of the body a vertex of the skin is of.
    pub(crate) fn part_of_vertex(&self, vertex: u32) -> u32 {
        self.part_of_vertex.get(vertex as usize).copied().unwrap_or(0)
    }

    /// How many parts are filled each for itself.
    pub(crate) fn part_count(&self) -> u32 {
        self.part_of_node.last().map_or(1, |last| last + 1)
    }

    /// Those of a skin's triangles that have flesh under them; all where none has.
    pub(crate) fn fleshy(&self, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
        let rides = |t: &[u32; 3]| t.iter().any(|&v| self.rides(v as usize));
        let fleshy: Vec<[u32; 3]> = triangles.iter().copied().filter(|t| !rides(t)).collect();
        if fleshy.is_empty() { triangles.to_vec() } else { fleshy }
    }

    /// How far each vertex of the skin lies outside its tet; 0 within it.
    pub fn outside(&self, positions: &[Vec3]) -> Vec<f32> {
        let distance = |vertex: usize| {
            let weights = self.embedding.weights()[vertex];
            if weights.iter().all(|&w| w >= 0.0) {
                return 0.0;
            }
            let corners = self.tets.corners(self.embedding.tets()[vertex] as usize);
            let place = positions[vertex].as_dvec3();
            let to_face =
                topology::FACES.map(|f| bvh::nearest_on(place, f.map(|k| corners[k])).1.distance(place));
            to_face.into_iter().fold(f64::INFINITY, f64::min) as f32
        };
        crate::parallel::map(positions.len(), distance)
    }

    /// Edge of a lattice cell; for a body read from a file, of the lattice that would have tets as large.
    pub fn cell(&self) -> f64 {
        self.cell
    }

    /// The volume that the skin encloses, overlaps counted once; of parts that are filled each for itself, the sum.
    pub fn skin_volume(&self) -> f64 {
        self.skin_volume
    }
}

/// Whether triangles and numbers are sound.
fn check(positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), AssetError> {
    if let Some(index) = positions.iter().position(|p| !p.is_finite()) {
        return Err(AssetError::NotFinite { what: "position", index });
    }
    let count = positions.len();
    for (index, triangle) in triangles.iter().enumerate() {
        if let Some(&value) = triangle.iter().find(|&&v| v as usize >= count) {
            let value = value as usize;
            return Err(AssetError::OutOfRange { what: "triangle", index, target: "vertex", value, count });
        }
    }
    Ok(())
}

/// Node volumes scaled to sum to the skin's: flesh weighs what the skin holds, however it is meshed.
fn whole_volumes(mut volumes: Vec<f32>, skin_volume: f64) -> Vec<f32> {
    let sum: f64 = volumes.iter().map(|&v| f64::from(v)).sum();
    let scale = (skin_volume / sum) as f32;
    volumes.iter_mut().for_each(|v| *v *= scale);
    volumes
}
