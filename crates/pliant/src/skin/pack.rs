//! The prepared skin: vertices in batches of sixteen, the same for every width of register.

use crate::asset::Weights;
use glam::Vec3;

/// Vertices a batch: the widest register there is.
pub(super) const BATCH: usize = 16;

/// Vertices a parallel task: a few microseconds of work, and enough tasks for a few threads at 10k vertices.
pub(super) const CHUNK: usize = 64 * BATCH;

/// Entries that a table in two 16-lane registers holds.
pub(super) const TABLE: usize = 32;

/// Entries that a `u16` can name.
const ENTRIES_MAX: usize = 1 << 16;

/// Sixteen vectors, one register a component.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Vectors(pub [[f32; BATCH]; 3]);

impl Vectors {
    /// Packs vectors; the last one fills up the last batch.
    pub(super) fn pack(vectors: &[Vec3]) -> Vec<Self> {
        let pack_batch = |batch: &[Vec3]| {
            let mut packed = Self([[0.0; BATCH]; 3]);
            for lane in 0..BATCH {
                packed.set(lane, batch[lane.min(batch.len() - 1)]);
            }
            packed
        };
        vectors.chunks(BATCH).map(pack_batch).collect()
    }

    /// Sets one of the sixteen.
    pub(super) fn set(&mut self, lane: usize, v: Vec3) {
        for (component, value) in self.0.iter_mut().zip(v.to_array()) {
            component[lane] = value;
        }
    }
}

/// One influence of each vertex of a batch.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Slots(pub [u16; BATCH]);

/// One weight of each vertex of a batch.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Shares(pub [f32; BATCH]);

/// How a chunk's `slots` are meant.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// They are entries.
    Rows,
    /// They are places in this list of at most [`TABLE`] entries.
    Table(Vec<u16>),
    /// The chunk needs entries that have no number: the plain code takes it.
    Plain,
}

/// Influences, batch by batch. A batch has as many as its vertex with the most; the others are filled up with weight
/// zero of their largest.
#[derive(Debug, Default)]
pub(super) struct Pack {
    /// Batch `b` owns rows `starts[b]..starts[b + 1]` of the two below.
    pub starts: Vec<u32>,
    pub slots: Vec<Slots>,
    pub shares: Vec<Shares>,
    /// What an entry is made from: the largest influence of a vertex (where that matters) and the influence itself.
    pub entries: Vec<[u16; 2]>,
    /// One per chunk.
    pub kinds: Vec<Kind>,
}

impl Pack {
    /// `by_lead`: whether an entry depends on the vertex's largest influence. `tables`: whether the path has them.
    pub(super) fn new(weights: &Weights, by_lead: bool, tables: bool) -> Self {
        let count = weights.vertex_count();
        let keys = |vertex: usize| {
            let lead = weights.of(vertex).next().map_or(0, |(slot, _)| slot);
            weights.of(vertex).map(move |(slot, weight)| ([if by_lead { lead } else { 0 }, slot], weight))
        };
        let mut entries: Vec<[u16; 2]> = Vec::new();
        for chunk in 0..count.div_ceil(CHUNK) {
            let vertices = chunk * CHUNK..count.min((chunk + 1) * CHUNK);
            entries.extend(vertices.flat_map(|v| keys(v).map(|(key, _)| key)));
            // Chunk by chunk, so that the list stays short.
            entries.sort_unstable();
            entries.dedup();
        }
        entries.truncate(ENTRIES_MAX);
        // A key past the end of a list that was cut is not found.
        let entry_of = |key: [u16; 2]| entries.binary_search(&key).ok().map(|entry| entry as u16);

        let mut pack = Self { starts: vec![0], ..Self::default() };
        let mut lanes: Vec<Vec<(u16, f32)>> = vec![Vec::new(); BATCH];
        for first in (0..count).step_by(CHUNK) {
            let last = count.min(first + CHUNK);
            let start = pack.slots.len();
            let mut plain = false;
            for batch in (first..last).step_by(BATCH) {
                for (lane, influences) in lanes.iter_mut().enumerate() {
                    influences.clear();
                    for (key, weight) in keys((batch + lane).min(last - 1)) {
                        let entry = entry_of(key);
                        plain |= entry.is_none();
                        influences.push((entry.unwrap_or(0), weight));
                    }
                }
                let most = lanes.iter().map(Vec::len).max().unwrap_or(0);
                for k in 0..most {
                    let (mut slots, mut shares) = (Slots([0; BATCH]), Shares([0.0; BATCH]));
                    for (lane, influences) in lanes.iter().enumerate() {
                        let filler = influences.first().map_or((0, 0.0), |&(entry, _)| (entry, 0.0));
                        (slots.0[lane], shares.0[lane]) = influences.get(k).copied().unwrap_or(filler);
                    }
                    pack.slots.push(slots);
                    pack.shares.push(shares);
                }
                pack.starts.push(pack.slots.len() as u32);
            }
            let kind = match plain {
                true => Kind::Plain,
                false if tables => table(&mut pack.slots[start..], entries.len()),
                false => Kind::Rows,
            };
            pack.kinds.push(kind);
        }
        pack.entries = entries;
        pack
    }
}

/// Renumbers a chunk's slots into a table of their own, where they are few enough.
fn table(slots: &mut [Slots], entries: usize) -> Kind {
    if entries <= TABLE {
        return Kind::Table((0..entries as u16).collect());
    }
    let mut used: Vec<u16> = Vec::new();
    for slot in slots.iter().flat_map(|s| s.0) {
        if let Err(at) = used.binary_search(&slot) {
            if used.len() == TABLE {
                return Kind::Rows;
            }
            used.insert(at, slot);
        }
    }
    for slot in slots.iter_mut().flat_map(|s| &mut s.0) {
        *slot = used.binary_search(slot).unwrap_or(0) as u16;
    }
    Kind::Table(used)
}
