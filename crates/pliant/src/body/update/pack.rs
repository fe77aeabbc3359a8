//! A skin in its tets as the kernels read it: sixteen vertices or nodes at a time, a register's row a number.

use crate::asset::TetMesh;
use crate::body::Embedding;
use crate::body::topology::{FACES, NONE, tets_of_nodes};
use crate::parallel;
use glam::{DVec3, Vec3};

/// Vertices or nodes taken together: the widest register.
pub(super) const BATCH: usize = 16;

/// Vertices a thread takes at a time.
pub(super) const CHUNK: usize = 64 * BATCH;

/// Nodes a thread takes at a time; within them those of as many neighbours are taken together.
pub(super) const NODE_CHUNK: usize = 16 * BATCH;

/// A number for each of a batch.
pub(super) type Row<T> = [T; BATCH];

/// Numbers of an [`Entry`].
pub(super) const NUMBERS: usize = 12;

/// What a vertex's corner gives it: three rows of a node's cofactors and, last in each, of its position. Aligned, so
/// that no row lies across two cache lines.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(16))]
pub(super) struct Entry(pub [f32; NUMBERS]);

/// Where the vertices of a batch sit. Corner 0 has the largest weight, which is what the other three leave of one.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(super) struct Places {
    /// Where the corners' nodes start, in numbers.
    pub nodes: [Row<u32>; 4],
    pub weights: [Row<f32>; 3],
}

/// What the normals of a batch need besides.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(super) struct Shades {
    /// Where the corners' entries start, in numbers.
    pub entries: [Row<u32>; 4],
    pub normals: [Row<f32>; 3],
}

/// Nodes with as many rows of neighbours.
#[derive(Debug, Clone)]
pub(super) struct Ring {
    /// Where the nodes start, in numbers.
    pub nodes: Row<u32>,
    /// First of the rows of neighbours, and how many.
    pub first: u32,
    pub count: u32,
}

/// One neighbour of each node of a ring: `F = sum (x_other - x) gradient^T`.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(super) struct Spokes {
    pub others: Row<u32>,
    pub gradients: [Row<f32>; 3],
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Pack {
    pub places: Vec<Places>,
    pub shades: Vec<Shades>,
    pub rings: Vec<Ring>,
    pub spokes: Vec<Spokes>,
}

impl Pack {
    pub(super) fn new(mesh: &TetMesh, embedding: &Embedding, normals: &[Vec3]) -> Self {
        let mut pack = Self::default();
        let entry_of_node = pack.add_rings(mesh, embedding);
        for (index, normals) in normals.chunks(BATCH).enumerate() {
            let mut places = Places { nodes: [[0; BATCH]; 4], weights: [[0.0; BATCH]; 3] };
            let mut shades = Shades { entries: [[0; BATCH]; 4], normals: [[0.0; BATCH]; 3] };
            for (lane, normal) in normals.iter().enumerate() {
                let vertex = index * BATCH + lane;
                let tet = mesh.tets()[embedding.tets()[vertex] as usize];
                let weights = embedding.weights()[vertex];
                let largest = (1..4).fold(0, |best, k| if weights[k] > weights[best] { k } else { best });
                let order = [largest, (largest + 1) % 4, (largest + 2) % 4, (largest + 3) % 4];
                for (k, &corner) in order.iter().enumerate() {
                    places.nodes[k][lane] = tet[corner] * 4;
                    shades.entries[k][lane] = entry_of_node[tet[corner] as usize] * NUMBERS as u32;
                }
                for axis in 0..3 {
                    places.weights[axis][lane] = weights[order[axis + 1]];
                    shades.normals[axis][lane] = normal[axis];
                }
            }
            pack.places.push(places);
            pack.shades.push(shades);
        }
        pack
    }

    /// How many entries a step makes: one per node that a vertex hangs on, in whole batches.
    pub(super) fn entry_count(&self) -> usize {
        self.rings.len() * BATCH
    }

    /// Rings of all nodes that vertices hang on. Returns where in them each node is.
    fn add_rings(&mut self, mesh: &TetMesh, embedding: &Embedding) -> Vec<u32> {
        let mut hung_on = vec![false; mesh.positions().len()];
        for &tet in embedding.tets() {
            mesh.tets()[tet as usize].iter().for_each(|&node| hung_on[node as usize] = true);
        }
        let mut nodes: Vec<u32> = (0..hung_on.len() as u32).filter(|&n| hung_on[n as usize]).collect();
        let tets_of = tets_of_nodes(mesh);
        // Batches of one count waste no rows; sorted only nearby, so that neighbours stay near in memory.
        for chunk in nodes.chunks_mut(NODE_CHUNK) {
            chunk.sort_by_key(|&node| tets_of.of(node as usize).len());
        }
        let spokes = parallel::map(nodes.len(), |i| gradients(mesh, nodes[i], tets_of.of(nodes[i] as usize)));
        let mut entry_of_node = vec![NONE; mesh.positions().len()];
        for (batch, spokes) in spokes.chunks(BATCH).enumerate() {
            let nodes = &nodes[batch * BATCH..][..spokes.len()];
            let count = spokes.iter().map(Vec::len).max().unwrap_or(0);
            let mut ring = Ring { nodes: [0; BATCH], first: self.spokes.len() as u32, count: count as u32 };
            for (lane, &node) in nodes.iter().enumerate() {
                ring.nodes[lane] = node * 4;
                entry_of_node[node as usize] = (batch * BATCH + lane) as u32;
            }
            for row in 0..count {
                // A filler is the node itself, from which it differs by nothing.
                let mut filled = Spokes { others: ring.nodes, gradients: [[0.0; BATCH]; 3] };
                for (lane, spokes) in spokes.iter().enumerate() {
                    if let Some((other, gradient)) = spokes.get(row) {
                        filled.others[lane] = other * 4;
                        for axis in 0..3 {
                            filled.gradients[axis][lane] = gradient[axis] as f32;
                        }
                    }
                }
                self.spokes.push(filled);
            }
            self.rings.push(ring);
        }
        entry_of_node
    }
}

/// How the mean deformation of a node's tets, by volume, hangs on its neighbours: for each one the mean gradient of its
/// shape function.
fn gradients(mesh: &TetMesh, node: u32, tets: &[u32]) -> Vec<(u32, DVec3)> {
    let mut spokes: Vec<(u32, DVec3)> = Vec::new();
    let mut volume = 0.0;
    for &tet in tets {
        volume += mesh.volume_of(tet as usize);
        let corners = mesh.corners(tet as usize);
        for (face, other) in FACES.into_iter().zip(mesh.tets()[tet as usize]) {
            if other != node {
                // A tet's volume times a corner's gradient: a third of the opposite face, inwards. No division, so
                // that slivers do no harm.
                let [a, b, c] = face.map(|c| corners[c]);
                let gradient = (b - a).cross(c - a) / -6.0;
                match spokes.iter_mut().find(|spoke| spoke.0 == other) {
                    Some(spoke) => spoke.1 += gradient,
                    None => spokes.push((other, gradient)),
                }
            }
        }
    }
    spokes.iter_mut().for_each(|spoke| spoke.1 /= volume);
    spokes
}
