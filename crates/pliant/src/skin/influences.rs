//! Weights in the order in which they are summed.

use crate::asset::Weights;

/// Each vertex's influences by ascending slot: so neighbours, bound to the same joints, add them up in the same order,
/// and a batch can take a joint for all its vertices at once.
#[derive(Debug)]
pub(super) struct Influences {
    starts: Vec<u32>,
    slots: Vec<u16>,
    weights: Vec<f32>,
    leads: Vec<u16>,
}

impl Influences {
    pub(super) fn new(weights: &Weights) -> Self {
        let mut sorted = Self { starts: vec![0], slots: Vec::new(), weights: Vec::new(), leads: Vec::new() };
        let mut of_vertex: Vec<(u16, f32)> = Vec::new();
        for vertex in 0..weights.vertex_count() {
            of_vertex.clear();
            of_vertex.extend(weights.of(vertex));
            sorted.leads.push(of_vertex.first().map_or(0, |influence| influence.0));
            of_vertex.sort_unstable_by_key(|influence| influence.0);
            sorted.slots.extend(of_vertex.iter().map(|influence| influence.0));
            sorted.weights.extend(of_vertex.iter().map(|influence| influence.1));
            sorted.starts.push(sorted.slots.len() as u32);
        }
        sorted
    }

    pub(super) fn vertex_count(&self) -> usize {
        self.leads.len()
    }

    /// The slots and weights of a vertex.
    pub(super) fn of(&self, vertex: usize) -> impl Iterator<Item = (u16, f32)> + '_ {
        let range = self.starts[vertex] as usize..self.starts[vertex + 1] as usize;
        self.slots[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// The slot of a vertex's largest weight.
    pub(super) fn lead(&self, vertex: usize) -> u16 {
        self.leads[vertex]
    }
}
