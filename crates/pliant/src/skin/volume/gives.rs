//! Flesh beside a contact that gives way to what the contact has displaced.

use super::pack::{BATCH, CHUNK, Pack};
use super::regions::NONE;
use crate::skin::mesh::smooth;

/// A vertex beside a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Giver {
    /// The first vertex of a point.
    pub vertex: u32,
    /// How much of it gives way.
    pub share: f32,
    /// How far from the contact it is.
    pub from: f32,
}

/// A contact in a frame: how much is asked of the flesh beside it, from how far on nothing is, and over which way that fades.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Giving {
    /// What is asked at most.
    pub amount: f32,
    /// Distance from which on nothing is.
    pub reach: f32,
    /// The way over which it fades.
    pub over: f32,
}

/// Givers chunk by chunk, so that chunks can be worked out side by side.
pub(super) struct Gives {
    contacts: usize,
    /// The first giver of each contact in each chunk; one more at the end.
    starts: Vec<u32>,
    /// Nearest to the contact first.
    givers: Vec<Giver>,
}

impl Gives {
    /// `per_place` is what shares are multiplied by. Vertices become places.
    pub(super) fn new(gives: &[Vec<Giver>], pack: &Pack, place_of_vertex: &[u32], per_place: &[f32]) -> Self {
        let mut keyed: Vec<(usize, Giver)> = Vec::new();
        for (contact, givers) in gives.iter().enumerate() {
            for giver in givers {
                let place = place_of_vertex[giver.vertex as usize];
                let share = if place == NONE { 0.0 } else { giver.share * per_place[place as usize] };
                if share > 0.0 {
                    let key = place as usize / (CHUNK * BATCH) * gives.len() + contact;
                    keyed.push((key, Giver { vertex: place, share, from: giver.from }));
                }
            }
        }
        keyed
            .sort_by(|(a, g), (b, h)| a.cmp(b).then(g.from.total_cmp(&h.from)).then(g.vertex.cmp(&h.vertex)));
        let keys = gives.len() * (pack.run_starts.len() - 1);
        let start = |key: usize| keyed.partition_point(|k| k.0 < key) as u32;
        Self {
            contacts: gives.len(),
            starts: (0..=keys).map(start).collect(),
            givers: keyed.iter().map(|k| k.1).collect(),
        }
    }

    /// Adds what contacts ask of a chunk to its weights.
    pub(super) fn add(&self, givings: &[Giving], chunk: usize, weights: &mut [f32]) {
        let starts = &self.starts[chunk * self.contacts..=(chunk + 1) * self.contacts];
        for (giving, range) in givings.iter().zip(starts.windows(2)).filter(|(g, _)| g.amount > 0.0) {
            for giver in &self.givers[range[0] as usize..range[1] as usize] {
                if giver.from >= giving.reach {
                    break;
                }
                let level = smooth((giving.reach - giver.from) / giving.over);
                weights[giver.vertex as usize % (CHUNK * BATCH)] += giving.amount * giver.share * level;
            }
        }
    }
}
