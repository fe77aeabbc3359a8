//! The flesh under a skin: a tet mesh inside it, the skin embedded in the tets, and what methods need of both.

mod aabb;
mod bench;
mod bvh;
mod distance;
mod embedding;
mod error;
pub mod mesher;
pub mod quality;
pub mod topology;
mod update;

#[doc(hidden)]
pub use bench::{bench_bend, bench_block, bench_body};
pub use distance::{DistanceWarning, InsideDistances, Weighed, weigh};
pub use embedding::Embedding;
pub use error::BodyError;
pub use update::{EmbeddedSkin, Node, SkinScratch, rest_nodes};

use crate::asset::TetMesh;

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
    cell: f64,
    skin_volume: f64,
}

impl Body {
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

    /// Edge of a lattice cell; for a body read from a file, of the lattice that would have tets as large.
    pub fn cell(&self) -> f64 {
        self.cell
    }

    /// The volume that the skin encloses, overlaps counted once.
    pub fn skin_volume(&self) -> f64 {
        self.skin_volume
    }
}
