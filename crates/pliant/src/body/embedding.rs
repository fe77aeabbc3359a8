//! A skin that rides on tets.

/// Where each vertex of a skin sits in a tet mesh: a tet and four weights on its nodes that sum to one. A vertex
/// outside its tet has weights below 0 and above 1; the rest pose comes out as it was either way.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    tets: Vec<u32>,
    weights: Vec<[f32; 4]>,
}

impl Embedding {
    /// The tet of each vertex.
    pub fn tets(&self) -> &[u32] {
        &self.tets
    }

    /// The weights of each vertex on its tet's nodes.
    pub fn weights(&self) -> &[[f32; 4]] {
        &self.weights
    }
}
