//! Constraints as the kernels read them: slab by slab, sixteen at a time that share no node.
//!
//! The batches are the same for every register width, so that every path projects in one order. A cluster that fills up
//! a batch is on a filler node of inverse mass 0, all its nodes at once: it has no direction and moves nothing.

use super::cluster::{Cluster, Clustering};
use super::order::Slabs;
use crate::body::topology::{Lists, NONE};
use crate::parallel;
use std::ops::Range;

/// Constraints or clusters taken together: the widest register.
pub(super) const BATCH: usize = 16;

/// Clusters from which batches are picked. Picking looks at all of them for each batch, so that in a slab as large as
/// the mesh it would take the square of its size.
pub(super) const POOL: usize = 2048;

/// A number for each constraint of a batch.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(super) struct Row(pub [f32; BATCH]);

/// Where a node of each cluster of a batch starts in their window, in numbers.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(super) struct Offsets(pub [u32; BATCH]);

/// Where nodes lie: slab after slab, each filled up to whole batches with at least one filler at its end.
#[derive(Debug)]
pub(super) struct Places {
    /// The node of the mesh at each place; [`NONE`] for a filler.
    pub node_at: Vec<u32>,
    /// The place of each node of the mesh.
    pub place_of: Vec<u32>,
    /// First place of each slab, and the number of places.
    pub starts: Vec<u32>,
}

impl Places {
    /// From the new index of each node.
    pub(super) fn new(new_of_old: &[u32], slabs: &Slabs) -> Self {
        let mut old_of_new = vec![0; new_of_old.len()];
        new_of_old.iter().enumerate().for_each(|(old, &new)| old_of_new[new as usize] = old as u32);
        let mut places = Self { node_at: Vec::new(), place_of: vec![0; new_of_old.len()], starts: vec![0] };
        for slab in 0..slabs.len() {
            for new in slabs.nodes(slab) {
                places.place_of[old_of_new[new as usize] as usize] = places.node_at.len() as u32;
                places.node_at.push(old_of_new[new as usize]);
            }
            let filled = (places.node_at.len() + 1).next_multiple_of(BATCH);
            places.node_at.resize(filled, NONE);
            places.starts.push(filled as u32);
        }
        assert!(places.node_at.len() < u32::MAX as usize / 4, "too many nodes");
        places
    }

    pub(super) fn slab(&self, slab: usize) -> Range<usize> {
        self.starts[slab] as usize..self.starts[slab + 1] as usize
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.node_at[..]) + size_of_val(&self.place_of[..]) + size_of_val(&self.starts[..])
    }
}

/// Constraints on `N` nodes each, a row of sixteen after another. In a slab first come batches of sixteen clusters, a row
/// for each of their constraints, then batches of single constraints.
#[derive(Debug)]
pub(super) struct Pack<const N: usize> {
    /// For the plain code: each slot's places within the window. Empty for kernels.
    pub plain: Vec<[u32; N]>,
    /// For kernels: a row per node of each batch. Empty for the plain code.
    pub offsets: Vec<Offsets>,
    /// Which of `offsets` each slab begins with, and their number.
    pub offset_starts: Vec<u32>,
    /// How many batches of clusters, and of single constraints, each slab has.
    pub batches: Vec<[u32; 2]>,
    /// What a constraint is at rest: a length, a volume, negative where its nodes are wound the other way. 0 for fillers.
    pub rest: Vec<Row>,
    /// First row of each slab, and the number of rows.
    pub starts: Vec<u32>,
    /// How many constraints there are.
    pub count: usize,
}

impl<const N: usize> Pack<N>
where
    [u32; N]: Clustering<N>,
{
    /// Packs constraints given by nodes of the mesh; `rest` has the number of each, given its nodes in some order.
    pub(super) fn new(
        new_of_old: &[u32],
        slabs: &Slabs,
        places: &Places,
        items: &[[u32; N]],
        rest: impl Fn(u32, [u32; N]) -> f32,
        plain: bool,
    ) -> Self {
        let lowest = |item: &[u32; N]| item.iter().map(|&n| new_of_old[n as usize]).min().unwrap_or(0);
        let of_slab: Vec<[u32; 1]> = items.iter().map(|item| [slabs.of(lowest(item)) as u32]).collect();
        let by_slab = Lists::group(slabs.len(), &of_slab);
        let packed = parallel::map(slabs.len(), |slab| {
            let mut order = by_slab.of(slab).to_vec();
            order.sort_by_key(|&item| lowest(&items[item as usize]));
            let window = places.starts[slab]..places.starts[(slab + 2).min(slabs.len())];
            // In order: which way a tet is wound must not change which come after which.
            let local = |&item: &u32| {
                let mut local = items[item as usize].map(|node| {
                    let place = places.place_of[node as usize];
                    assert!(window.contains(&place), "a constraint spans more than two slabs");
                    place - window.start
                });
                local.sort_unstable();
                local
            };
            let local: Vec<[u32; N]> = order.iter().map(local).collect();
            let (mut fours, mut ones) = <[u32; N]>::clusters(&local, window.len());
            for item in fours.iter_mut().chain(&mut ones).flat_map(|cluster| &mut cluster.items) {
                *item = order.get(*item as usize).map_or(NONE, |&item| item);
            }
            [batches(&fours, <[u32; N]>::NODES, window.len()), batches(&ones, N, window.len())]
        });
        let mut pack = Self {
            plain: Vec::new(),
            offsets: Vec::new(),
            offset_starts: vec![0],
            batches: Vec::new(),
            rest: Vec::new(),
            starts: vec![0],
            count: items.len(),
        };
        for (slab, [fours, ones]) in packed.iter().enumerate() {
            let node_at = |place: u32| places.node_at[places.starts[slab] as usize + place as usize];
            let filler = places.slab(slab).len() as u32 - 1;
            let one: [usize; N] = std::array::from_fn(|end| end);
            let fours = fours.iter().map(|batch| (batch, &<[u32; N]>::STEPS[..], <[u32; N]>::NODES));
            let ones = ones.iter().map(|batch| (batch, std::slice::from_ref(&one), N));
            pack.batches.push([fours.len() as u32, ones.len() as u32]);
            for (batch, steps, nodes) in fours.chain(ones) {
                let place =
                    |lane: usize, node: usize| batch.get(lane).map_or(filler, |cluster| cluster.nodes[node]);
                for (index, step) in steps.iter().enumerate() {
                    let ends: [[u32; N]; BATCH] =
                        std::array::from_fn(|lane| step.map(|node| place(lane, node)));
                    if plain {
                        pack.plain.extend(ends);
                    }
                    let at_rest = |lane: usize| match batch.get(lane) {
                        Some(cluster) => rest(cluster.items[index], ends[lane].map(node_at)),
                        None => 0.0,
                    };
                    pack.rest.push(Row(std::array::from_fn(at_rest)));
                }
                if !plain {
                    let offsets = |node| Offsets(std::array::from_fn(|lane| 4 * place(lane, node)));
                    pack.offsets.extend((0..nodes).map(offsets));
                }
            }
            pack.offset_starts.push(pack.offsets.len() as u32);
            pack.starts.push(pack.rest.len() as u32);
        }
        pack
    }

    /// Calls `each(slot, nodes)` for every constraint of a slab, with nodes of the mesh in ascending order.
    pub(super) fn for_each(&self, places: &Places, slab: usize, mut each: impl FnMut(usize, [u32; N])) {
        let first = places.starts[slab] as usize;
        let mut call = |slot: usize, local: [u32; N]| {
            let mut nodes = local.map(|place| places.node_at[first + place as usize]);
            if nodes[0] != NONE {
                nodes.sort_unstable();
                each(slot, nodes);
            }
        };
        let rows = self.slab(slab);
        let mut slot = rows.start * BATCH;
        if let Some(plain) = self.plain.get(slot..rows.end * BATCH) {
            plain.iter().enumerate().for_each(|(index, &local)| call(slot + index, local));
            return;
        }
        let one: [usize; N] = std::array::from_fn(|end| end);
        let mut offsets = self.slab_offsets(slab);
        for (kind, count) in self.batches[slab].into_iter().enumerate() {
            let (steps, nodes) = match kind {
                0 => (&<[u32; N]>::STEPS[..], <[u32; N]>::NODES),
                _ => (std::slice::from_ref(&one), N),
            };
            for _ in 0..count {
                for step in steps {
                    for lane in 0..BATCH {
                        call(slot + lane, step.map(|node| offsets[node].0[lane] / 4));
                    }
                    slot += BATCH;
                }
                offsets = &offsets[nodes..];
            }
        }
    }

    /// How many places for constraints there are, fillers among them.
    pub(super) fn slots(&self) -> usize {
        self.rest.len() * BATCH
    }

    /// The rows of a slab.
    pub(super) fn slab(&self, slab: usize) -> Range<usize> {
        self.starts[slab] as usize..self.starts[slab + 1] as usize
    }

    /// The offsets of a slab; none for the plain code.
    pub(super) fn slab_offsets(&self, slab: usize) -> &[Offsets] {
        &self.offsets[self.offset_starts[slab] as usize..self.offset_starts[slab + 1] as usize]
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.plain[..])
            + size_of_val(&self.offsets[..])
            + size_of_val(&self.offset_starts[..])
            + size_of_val(&self.batches[..])
            + size_of_val(&self.rest[..])
            + size_of_val(&self.starts[..])
    }
}

/// Batches of clusters that share no place, as full as can be: those on places with most clusters left go first. Where
/// there is a choice a batch shares no place with the one before either, so that it need not wait for it.
fn batches(clusters: &[Cluster], nodes: usize, places: usize) -> Vec<Vec<Cluster>> {
    let mut done = Vec::with_capacity(clusters.len() / BATCH + BATCH);
    // Which batch touched a place last, counted from 2; and how many clusters are still to.
    let (mut touched, mut left) = (vec![0u32; places], vec![0u32; places]);
    let (mut pool, mut sorted): (Vec<Cluster>, Vec<Cluster>) = (Vec::new(), Vec::new());
    let mut counts = Vec::new();
    for clusters in clusters.chunks(POOL) {
        pool.extend(clusters);
        pool.iter().flat_map(|cluster| &cluster.nodes[..nodes]).for_each(|&place| left[place as usize] += 1);
        while !pool.is_empty() {
            // The most clusters left at a place.
            let urgency = |cluster: &Cluster| {
                let on = cluster.nodes[..nodes].iter();
                on.map(|&place| left[place as usize] as usize).max().unwrap_or(0)
            };
            by_urgency(&pool, urgency, &mut counts, &mut sorted);
            std::mem::swap(&mut pool, &mut sorted);
            let number = done.len() as u32 + 2;
            let mut batch: Vec<Cluster> = Vec::with_capacity(BATCH);
            for free_since in [number - 1, number] {
                pool.retain(|cluster| {
                    let on = &cluster.nodes[..nodes];
                    let free = on.iter().all(|&place| touched[place as usize] < free_since);
                    let take = batch.len() < BATCH && free;
                    if take {
                        batch.push(*cluster);
                        for &place in on {
                            touched[place as usize] = number;
                            left[place as usize] -= 1;
                        }
                    }
                    !take
                });
            }
            done.push(batch);
        }
    }
    done
}

/// Sorts by urgency, largest first; of equals the order stays.
fn by_urgency<T: Copy>(
    pool: &[T],
    urgency: impl Fn(&T) -> usize,
    counts: &mut Vec<usize>,
    sorted: &mut Vec<T>,
) {
    counts.clear();
    for item in pool {
        let urgency = urgency(item);
        if counts.len() <= urgency {
            counts.resize(urgency + 1, 0);
        }
        counts[urgency] += 1;
    }
    let mut first = 0;
    for count in counts.iter_mut().rev() {
        first += std::mem::replace(count, first);
    }
    sorted.clear();
    sorted.extend_from_slice(pool);
    for item in pool {
        let at = &mut counts[urgency(item)];
        sorted[*at] = *item;
        *at += 1;
    }
}
