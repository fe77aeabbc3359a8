//! The skin from its tets, frame by frame.
//!
//! A position is `x0 + sum_k w_k (x_k - x0)` over its tet's corners, `x0` the one with the largest weight: differences
//! keep an f32 from losing digits far from the origin, and a common motion of the corners comes out as it went in.
//!
//! A normal goes by the inverse transpose of the deformation, up to a length by its cofactors. Within a tet the
//! deformation is one matrix and at its faces it jumps: a skin shaded tet by tet shows the tets. So each node gets the
//! mean deformation of its tets by volume, which is a sum over its neighbours, and a vertex the mean of its corners'
//! cofactors. That varies as smoothly as the positions do, is exact where the body's motion is affine, keeps the
//! author's normals and hard edges, and needs no triangles. Not taken: normals from the deformed triangles of the welded
//! skin, which crease where the skin crosses from tet to tet and lose what the author had set. At the surface the mean
//! is one-sided, so a single normal may be no nearer to the truth than its tet's; it is the jumps that shrink. Outside
//! weights count 0 for normals: extrapolated turns would overshoot. Where flesh is turned inside out the normal still
//! goes with the winding of the triangles, so that it turns over smoothly on the way.
//!
//! All paths and any number of threads give the same bits.

mod dispatch;
mod kernel;
mod pack;
mod plain;
#[cfg(test)]
mod tests;

use super::{BodyError, Embedding};
use crate::asset::TetMesh;
use crate::parallel;
use crate::simd::Path;
use dispatch::Kernels;
use glam::Vec3;
use kernel::Job;
use pack::{CHUNK, Entry, NODE_CHUNK, Pack};

/// A node as the solver keeps it: x, y, z, and its inverse mass, which is not read here.
pub type Node = [f32; 4];

/// The nodes of a mesh at rest, of inverse mass 0.
pub fn rest_nodes(mesh: &TetMesh) -> Vec<Node> {
    mesh.positions().iter().map(|p| [p.x, p.y, p.z, 0.0]).collect()
}

/// A skin prepared to follow its tets: shared by all copies of a character.
pub struct EmbeddedSkin {
    path: Path,
    node_count: usize,
    vertex_count: usize,
    pack: Pack,
    /// None: the plain code.
    kernels: Option<Kernels>,
}

/// What a step needs and nobody after it. Reused, so that steps allocate nothing.
#[derive(Clone)]
pub struct SkinScratch {
    entries: Vec<Entry>,
}

impl EmbeddedSkin {
    /// Prepares a skin with these unit normals at rest.
    ///
    /// # Panics
    /// If the embedding is not of this mesh, or there is not a normal per vertex.
    pub fn new(
        mesh: &TetMesh,
        embedding: &Embedding,
        normals: &[Vec3],
        path: Path,
    ) -> Result<Self, BodyError> {
        if !path.is_available() {
            return Err(BodyError::Unavailable { path });
        }
        Ok(Self::with_kernels(mesh, embedding, normals, path, dispatch::kernels(path)))
    }

    fn with_kernels(
        mesh: &TetMesh,
        embedding: &Embedding,
        normals: &[Vec3],
        path: Path,
        kernels: Option<Kernels>,
    ) -> Self {
        assert_eq!(embedding.tets().len(), normals.len(), "one normal per vertex");
        let pack = Pack::new(mesh, embedding, normals);
        Self { path, node_count: mesh.positions().len(), vertex_count: normals.len(), pack, kernels }
    }

    /// The instructions used.
    pub fn path(&self) -> Path {
        self.path
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// How many nodes the mesh has.
    pub fn node_count(&self) -> usize {
        self.node_count
    }

    /// Scratch for steps, one at a time.
    pub fn scratch(&self) -> SkinScratch {
        SkinScratch { entries: vec![Entry::default(); self.pack.entry_count()] }
    }

    /// The skin's positions.
    ///
    /// # Panics
    /// If `nodes` or `positions` are not as many as the mesh's nodes and the skin's vertices.
    pub fn positions(&self, nodes: &[Node], positions: &mut [Vec3]) {
        let job = self.job(nodes, positions.len());
        let entries: &[Entry] = &[];
        parallel::for_each_chunk_mut(positions, CHUNK, |chunk, positions| match self.kernels {
            // SAFETY: the path was found available when the skin was made; the pack names nodes of the mesh, of which
            // there are enough, and the output is the chunk's.
            Some(kernels) => unsafe { (kernels.vertices)(&job, entries, chunk, positions, &mut []) },
            None => plain::positions(&job, chunk, positions),
        });
    }

    /// The skin's positions, to the bit those of [`EmbeddedSkin::positions`], and unit normals.
    ///
    /// # Panics
    /// As [`EmbeddedSkin::positions`], or if the scratch is of another skin.
    pub fn positions_and_normals(
        &self,
        nodes: &[Node],
        scratch: &mut SkinScratch,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        let job = self.job(nodes, positions.len());
        assert_eq!(normals.len(), self.vertex_count, "one normal per vertex");
        assert_eq!(scratch.entries.len(), self.pack.entry_count(), "the scratch is of another skin");
        parallel::for_each_chunk_mut(&mut scratch.entries, NODE_CHUNK, |chunk, entries| match self.kernels {
            // SAFETY: as above.
            Some(kernels) => unsafe { (kernels.nodes)(&job, chunk, entries) },
            None => plain::nodes(&job, chunk, entries),
        });
        let entries = &scratch.entries[..];
        parallel::for_each_chunk_pair_mut(positions, normals, CHUNK, |chunk, p, n| match self.kernels {
            // SAFETY: as above; the pack names entries, of which there are enough.
            Some(kernels) => unsafe { (kernels.vertices)(&job, entries, chunk, p, n) },
            None => {
                plain::positions(&job, chunk, p);
                plain::normals(&job, entries, chunk, n);
            }
        });
    }

    fn job<'a>(&'a self, nodes: &'a [Node], positions: usize) -> Job<'a> {
        assert_eq!(nodes.len(), self.node_count, "one place per node");
        assert_eq!(positions, self.vertex_count, "one position per vertex");
        Job { pack: &self.pack, nodes }
    }
}
