//! Flesh beside a contact that gives way to what the contact has displaced.

use super::kernel::Give;
use super::pack::{BATCH, CHUNK, Pack};
use super::regions::NONE;

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

/// Givers of one contact in one batch.
pub(super) struct GiveRow {
    /// In its chunk, as is its run.
    batch: u32,
    run: u32,
    /// How far from the contact the nearest is.
    nearest: f32,
    /// None where there is no giver.
    pub shares: [f32; BATCH],
    pub froms: [f32; BATCH],
}

/// Givers chunk by chunk, so that chunks can be worked out side by side.
pub(super) struct Gives {
    contacts: usize,
    /// The first row of each contact in each chunk; one more at the end.
    starts: Vec<u32>,
    /// Nearest to the contact first.
    rows: Vec<GiveRow>,
}

impl Gives {
    /// `per_place` is what shares are multiplied by.
    pub(super) fn new(gives: &[Vec<Giver>], pack: &Pack, place_of_vertex: &[u32], per_place: &[f32]) -> Self {
        let mut keyed: Vec<(usize, GiveRow)> = Vec::new();
        for (contact, givers) in gives.iter().enumerate() {
            let place = |giver: &Giver| place_of_vertex[giver.vertex as usize];
            let mut known: Vec<&Giver> = givers.iter().filter(|giver| place(giver) != NONE).collect();
            known.retain(|giver| giver.share * per_place[place(giver) as usize] > 0.0);
            known.sort_by_key(|giver| place(giver));
            for givers in known.chunk_by(|a, b| place(a) as usize / BATCH == place(b) as usize / BATCH) {
                let batch = place(givers[0]) as usize / BATCH;
                let zeros = [0.0; BATCH];
                let mut row = GiveRow {
                    batch: (batch % CHUNK) as u32,
                    run: pack.run_of_batch[batch] - pack.run_starts[batch / CHUNK],
                    nearest: givers.iter().map(|g| g.from).fold(f32::INFINITY, f32::min),
                    shares: zeros,
                    froms: zeros,
                };
                for giver in givers {
                    let (place, lane) = (place(giver) as usize, place(giver) as usize % BATCH);
                    (row.shares[lane], row.froms[lane]) = (giver.share * per_place[place], giver.from);
                }
                keyed.push((batch / CHUNK * gives.len() + contact, row));
            }
        }
        let from = |row: &GiveRow| (row.nearest, row.batch);
        keyed.sort_by(|(a, r), (b, s)| {
            let ((near, batch), (other, other_batch)) = (from(r), from(s));
            a.cmp(b).then(near.total_cmp(&other)).then(batch.cmp(&other_batch))
        });
        let keys = gives.len() * (pack.run_starts.len() - 1);
        let start = |key: usize| keyed.partition_point(|k| k.0 < key) as u32;
        Self {
            contacts: gives.len(),
            starts: (0..=keys).map(start).collect(),
            rows: keyed.into_iter().map(|k| k.1).collect(),
        }
    }

    /// Adds what contacts ask of a chunk to its weights, and marks the runs that they ask.
    pub(super) fn add(
        &self,
        give: Give,
        givings: &[Giving],
        chunk: usize,
        weights: &mut [f32],
        given: &mut [bool],
    ) {
        let starts = &self.starts[chunk * self.contacts..=(chunk + 1) * self.contacts];
        for (giving, range) in givings.iter().zip(starts.windows(2)).filter(|(g, _)| g.amount > 0.0) {
            let rows = &self.rows[range[0] as usize..range[1] as usize];
            for row in rows.iter().take_while(|row| row.nearest < giving.reach) {
                given[row.run as usize] = true;
                let weights = &mut weights[row.batch as usize * BATCH..][..BATCH];
                // SAFETY: the path was found available.
                unsafe { give(giving, row, weights) }
            }
        }
    }
}
