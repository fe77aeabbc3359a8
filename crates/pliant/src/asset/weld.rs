use super::{Character, Weights};
use glam::Vec3;

/// Which vertices are one point of the body. Files split vertices at texture seams and hard edges, or share none at
/// all; topology (volume, edges, loops, smoothing) runs on the welded skin and results are copied back.
///
/// Vertices are one point where rest position, weights and morphs agree.
#[derive(Debug, Clone, PartialEq)]
pub struct Weld {
    /// The point of each vertex.
    pub point_of_vertex: Vec<u32>,
    /// The first vertex of each point.
    pub vertex_of_point: Vec<u32>,
    /// Triangles between points, in the surface's order; those that fell together are left out.
    pub triangles: Vec<[u32; 3]>,
}

/// Weights closer than this (summed over slots) are the same: exporters round the two sides of a seam differently.
const WEIGHT_TOLERANCE: f32 = 1e-4;

/// Different points at one place that a vertex is compared with. A seam has a few; a mesh folded into one place has
/// thousands, and comparing them all would take minutes to no use.
const MAX_POINTS_AT_A_PLACE: usize = 32;

impl Weld {
    /// Welds a character's skin.
    pub fn new(character: &Character) -> Self {
        Self::by_weights(character, character.weights())
    }

    /// As [`Weld::new`] with other weights than the character's, one set for each vertex.
    pub fn by_weights(character: &Character, weights: &Weights) -> Self {
        let positions = character.surface().positions();
        let morphs = MorphsByVertex::new(character);
        let same = |a: u32, b: u32| {
            let (a, b) = (a as usize, b as usize);
            weights_agree(weights, a, b) && morphs.agree(a, b)
        };
        // Sorting by position, then by index, brings candidates together, lowest vertex first.
        let mut order: Vec<u32> = (0..positions.len() as u32).collect();
        order.sort_unstable_by_key(|&v| (position_bits(positions[v as usize]), v));
        let mut first_like: Vec<u32> = (0..positions.len() as u32).collect();
        for group in order.chunk_by(|&a, &b| positions[a as usize] == positions[b as usize]) {
            for (k, &vertex) in group.iter().enumerate() {
                let different = group[..k].iter().filter(|&&w| first_like[w as usize] == w);
                let twin = different.take(MAX_POINTS_AT_A_PLACE).find(|&&w| same(w, vertex));
                if let Some(&twin) = twin {
                    first_like[vertex as usize] = twin;
                }
            }
        }
        let mut vertex_of_point = Vec::new();
        let mut point_of_vertex = vec![0u32; positions.len()];
        for vertex in 0..positions.len() {
            let first = first_like[vertex] as usize;
            if first == vertex {
                point_of_vertex[vertex] = vertex_of_point.len() as u32;
                vertex_of_point.push(vertex as u32);
            } else {
                point_of_vertex[vertex] = point_of_vertex[first];
            }
        }
        let triangles = character.surface().triangles().iter();
        let triangles = triangles.map(|triangle| triangle.map(|v| point_of_vertex[v as usize]));
        let triangles = triangles.filter(|[a, b, c]| a != b && b != c && c != a).collect();
        Self { point_of_vertex, vertex_of_point, triangles }
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.vertex_of_point.len()
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.vertex_of_point.is_empty()
    }
}

/// Equal for equal positions (0 and -0 are equal) and otherwise any order.
fn position_bits(p: Vec3) -> [u32; 3] {
    p.to_array().map(|c| (c + 0.0).to_bits())
}

fn weights_agree(weights: &Weights, a: usize, b: usize) -> bool {
    let weight_in = |of: usize, slot: u16| weights.of(of).find(|e| e.0 == slot).map_or(0.0, |e| e.1);
    let left: f32 = weights.of(a).map(|(slot, w)| (w - weight_in(b, slot)).abs()).sum();
    let right: f32 = weights.of(b).filter(|e| weight_in(a, e.0) == 0.0).map(|e| e.1).sum();
    left + right < WEIGHT_TOLERANCE
}

/// For each vertex its morph offsets, as `(morph, offset)` in order of morphs.
struct MorphsByVertex {
    offsets: Vec<Vec<(u32, Vec3)>>,
}

impl MorphsByVertex {
    fn new(character: &Character) -> Self {
        let mut offsets = Vec::new();
        if !character.morphs().is_empty() {
            offsets.resize(character.surface().positions().len(), Vec::new());
        }
        for (index, morph) in character.morphs().iter().enumerate() {
            for (&v, &offset) in morph.vertices.iter().zip(&morph.positions) {
                if offset != Vec3::ZERO {
                    offsets[v as usize].push((index as u32, offset));
                }
            }
        }
        Self { offsets }
    }

    /// Morphs of different parts never agree unless they move neither vertex.
    fn agree(&self, a: usize, b: usize) -> bool {
        self.offsets.is_empty() || self.offsets[a] == self.offsets[b]
    }
}
