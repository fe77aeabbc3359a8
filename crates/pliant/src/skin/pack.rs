//! The prepared skin: vertices in batches of sixteen, the same for every width of register.

use super::influences::Influences;
use glam::Vec3;

/// Vertices a batch: the widest register there is.
pub(super) const BATCH: usize = 16;

/// Vertices a parallel task: a few microseconds of work, and enough tasks for a few threads at 10k vertices.
pub(super) const CHUNK: usize = 64 * BATCH;

/// Triangles around a point from which on their order is not looked for: that takes the square of the time.
const LONGEST: usize = 256;

/// Entries that a table in two 16-lane registers holds.
pub(super) const TABLE: usize = 32;

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

/// One weight of each vertex of a batch.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Shares(pub [f32; BATCH]);

/// Sixteen vertices' influences.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch {
    /// The first of its rows in [`Pack::shares`].
    pub shares: u32,
    /// How many rows.
    pub count: u32,
    /// The first of its slots in [`Pack::slots`].
    pub slots: u32,
    /// One slot a row, for all sixteen; else one per vertex and row.
    pub shared: bool,
}

/// What the slots of a chunk's batches, where not shared, are numbers of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Entries, one per slot of the character, as shared slots are.
    Rows,
    /// Places in this list of at most [`TABLE`] entries.
    Table(Vec<u16>),
}

/// Influences, batch by batch. Where a vertex has fewer than its batch, weight zero fills up.
#[derive(Debug, Default)]
pub(super) struct Pack {
    pub batches: Vec<Batch>,
    pub slots: Vec<u16>,
    pub shares: Vec<Shares>,
    /// One per chunk.
    pub kinds: Vec<Kind>,
}

/// What a path prefers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Whether registers can hold tables.
    pub tables: bool,
    /// A batch's slots are shared where they are at most this many times the influences of its vertex with the most.
    pub sharing: f32,
}

impl Pack {
    pub(super) fn new(influences: &Influences, slot_count: usize, layout: Layout) -> Self {
        let count = influences.vertex_count();
        let mut pack = Self::default();
        let mut lanes: Vec<Vec<(u16, f32)>> = vec![Vec::new(); BATCH];
        for first in (0..count).step_by(CHUNK) {
            let last = count.min(first + CHUNK);
            let first_batch = pack.batches.len();
            for batch in (first..last).step_by(BATCH) {
                for (lane, of_lane) in lanes.iter_mut().enumerate() {
                    of_lane.clear();
                    of_lane.extend(influences.of((batch + lane).min(last - 1)));
                }
                pack.push(&lanes, layout.sharing);
            }
            let kind = if layout.tables { pack.tabulate(first_batch, slot_count) } else { Kind::Rows };
            pack.kinds.push(kind);
        }
        pack
    }

    fn push(&mut self, lanes: &[Vec<(u16, f32)>], sharing: f32) {
        let most = lanes.iter().map(Vec::len).max().unwrap_or(0);
        let mut distinct: Vec<u16> = lanes.iter().flatten().map(|influence| influence.0).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let shared = distinct.len() as f32 <= sharing * most as f32;
        let count = if shared { distinct.len() } else { most };
        self.batches.push(Batch {
            shares: self.shares.len() as u32,
            count: count as u32,
            slots: self.slots.len() as u32,
            shared,
        });
        for row in 0..count {
            let mut shares = Shares([0.0; BATCH]);
            for (lane, influences) in lanes.iter().enumerate() {
                let influence = match shared {
                    true => influences.iter().copied().find(|influence| influence.0 == distinct[row]),
                    false => influences.get(row).copied(),
                };
                shares.0[lane] = influence.map_or(0.0, |influence| influence.1);
                if !shared {
                    // A filler names an entry that the vertex has anyway.
                    let filler = influences.first().map_or(0, |influence| influence.0);
                    self.slots.push(influence.map_or(filler, |influence| influence.0));
                }
            }
            self.shares.push(shares);
        }
        if shared {
            self.slots.extend(&distinct);
        }
    }

    /// Renumbers the slots of a chunk's batches into a table of their own, where they are few enough.
    fn tabulate(&mut self, first_batch: usize, slot_count: usize) -> Kind {
        if slot_count <= TABLE {
            return Kind::Table((0..slot_count as u16).collect());
        }
        let own = |batch: &&Batch| !batch.shared;
        let range = |batch: &Batch| batch.slots as usize..(batch.slots + batch.count * BATCH as u32) as usize;
        let mut used: Vec<u16> = Vec::new();
        for batch in self.batches[first_batch..].iter().filter(own) {
            used.extend(&self.slots[range(batch)]);
            used.sort_unstable();
            used.dedup();
            if used.len() > TABLE {
                return Kind::Rows;
            }
        }
        for batch in self.batches[first_batch..].iter().filter(own) {
            for slot in &mut self.slots[range(batch)] {
                *slot = used.binary_search(slot).unwrap_or(0) as u16;
            }
        }
        Kind::Table(used)
    }
}

/// The triangles around a point as one walk: each pair in it once, the point itself where the walk breaks off.
pub(super) fn ring(point: u32, mut pairs: Vec<[u32; 2]>) -> Vec<u32> {
    let mut ring = Vec::with_capacity(pairs.len() + 1);
    if pairs.len() > LONGEST {
        return pairs.iter().flat_map(|&[a, b]| [a, b, point]).collect();
    }
    while !pairs.is_empty() {
        // From a loose end, where there is one.
        let ends = |pairs: &[[u32; 2]]| pairs.iter().position(|p| pairs.iter().all(|q| q[1] != p[0]));
        let [first, mut last] = pairs.swap_remove(ends(&pairs).unwrap_or(0));
        if !ring.is_empty() {
            ring.push(point);
        }
        ring.extend([first, last]);
        while let Some(next) = pairs.iter().position(|p| p[0] == last) {
            last = pairs.swap_remove(next)[1];
            ring.push(last);
        }
    }
    ring
}
