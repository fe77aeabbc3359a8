//! Constraints as the kernels read them: slab by slab, sixteen at a time that share no node.
//!
//! The batches are the same for every register width, so that every path projects in one order. A constraint that fills
//! up a batch is on a filler node of inverse mass 0, all its ends at once: it has no direction and moves nothing.

use super::order::Slabs;
use crate::body::topology::{Lists, NONE};
use crate::parallel;
use std::ops::Range;

/// Constraints taken together: the widest register.
pub(super) const BATCH: usize = 16;

/// Constraints from which batches are picked. Picking looks at all of them for each batch, so that in a slab as large as
/// the mesh it would take the square of its size.
const POOL: usize = 2048;

/// A number for each constraint of a batch.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(super) struct Row(pub [f32; BATCH]);

/// Where the nodes of a batch start in their window, in numbers, end by end.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(super) struct Offsets<const N: usize>(pub [[u32; BATCH]; N]);

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

/// Constraints on `N` nodes each.
#[derive(Debug)]
pub(super) struct Pack<const N: usize> {
    /// For the plain code: each slot's places within the window. Empty for kernels.
    pub plain: Vec<[u32; N]>,
    /// For kernels. Empty for the plain code.
    pub rows: Vec<Offsets<N>>,
    /// What a constraint is at rest: a length, a volume. 0 for fillers.
    pub rest: Vec<Row>,
    /// First batch of each slab, and the number of batches.
    pub starts: Vec<u32>,
    /// How many constraints there are.
    pub count: usize,
}

impl<const N: usize> Pack<N> {
    /// Packs constraints given by nodes of the mesh and numbers at rest.
    pub(super) fn new(
        new_of_old: &[u32],
        slabs: &Slabs,
        places: &Places,
        items: &[[u32; N]],
        rest: impl Fn(usize) -> f32,
        plain: bool,
    ) -> Self {
        let lowest = |item: &[u32; N]| item.iter().map(|&n| new_of_old[n as usize]).min().unwrap_or(0);
        let of_slab: Vec<[u32; 1]> = items.iter().map(|item| [slabs.of(lowest(item)) as u32]).collect();
        let by_slab = Lists::group(slabs.len(), &of_slab);
        let batches = parallel::map(slabs.len(), |slab| {
            let mut order = by_slab.of(slab).to_vec();
            order.sort_by_key(|&item| lowest(&items[item as usize]));
            let window = places.starts[slab]..places.starts[(slab + 2).min(slabs.len())];
            let local = |item: u32| {
                items[item as usize].map(|node| {
                    let place = places.place_of[node as usize];
                    assert!(window.contains(&place), "a constraint spans more than two slabs");
                    place - window.start
                })
            };
            batches(&order, window.len(), &local)
        });
        let mut pack = Self {
            plain: Vec::new(),
            rows: Vec::new(),
            rest: Vec::new(),
            starts: vec![0],
            count: items.len(),
        };
        for (slab, batches) in batches.iter().enumerate() {
            let filler = places.slab(slab).len() as u32 - 1;
            for batch in batches {
                let slot = |lane: usize| batch.get(lane).map_or([filler; N], |picked| picked.1);
                if plain {
                    pack.plain.extend((0..BATCH).map(slot));
                } else {
                    let mut offsets = Offsets([[0; BATCH]; N]);
                    for lane in 0..BATCH {
                        for (end, place) in slot(lane).into_iter().enumerate() {
                            offsets.0[end][lane] = place * 4;
                        }
                    }
                    pack.rows.push(offsets);
                }
                let mut numbers = Row([0.0; BATCH]);
                for (lane, picked) in batch.iter().enumerate() {
                    numbers.0[lane] = rest(picked.0 as usize);
                }
                pack.rest.push(numbers);
            }
            pack.starts.push(pack.rest.len() as u32);
        }
        pack
    }

    /// How many places for constraints there are, fillers among them.
    pub(super) fn slots(&self) -> usize {
        self.rest.len() * BATCH
    }

    pub(super) fn slab(&self, slab: usize) -> Range<usize> {
        self.starts[slab] as usize..self.starts[slab + 1] as usize
    }

    /// The nodes of the mesh of a slot in a slab; none for a filler.
    pub(super) fn nodes(&self, places: &Places, slab: usize, slot: usize) -> Option<[u32; N]> {
        let local = match self.plain.get(slot) {
            Some(&local) => local,
            None => {
                let rows = &self.rows[slot / BATCH].0;
                std::array::from_fn(|end| rows[end][slot % BATCH] / 4)
            }
        };
        let first = places.starts[slab] as usize;
        let nodes = local.map(|place| places.node_at[first + place as usize]);
        (nodes[0] != NONE).then_some(nodes)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.plain[..])
            + size_of_val(&self.rows[..])
            + size_of_val(&self.rest[..])
            + size_of_val(&self.starts[..])
    }
}

/// A constraint and its places in the window.
type Picked<const N: usize> = (u32, [u32; N]);

/// Batches of constraints that share no place, as full as can be: those on places with most constraints left go first.
/// Where there is a choice a batch shares no place with the one before either, so that it need not wait for it.
fn batches<const N: usize>(
    order: &[u32],
    places: usize,
    local: &impl Fn(u32) -> [u32; N],
) -> Vec<Vec<Picked<N>>> {
    let mut done = Vec::with_capacity(order.len() / BATCH + BATCH);
    // Which batch touched a place last, counted from 2; and how many constraints are still to.
    let (mut touched, mut left) = (vec![0u32; places], vec![0u32; places]);
    let (mut pool, mut sorted): (Vec<Picked<N>>, Vec<Picked<N>>) = (Vec::new(), Vec::new());
    let mut counts: Vec<usize> = Vec::new();
    for items in order.chunks(POOL) {
        pool.clear();
        pool.extend(items.iter().map(|&item| (item, local(item))));
        pool.iter().flat_map(|picked| picked.1).for_each(|place| left[place as usize] += 1);
        while !pool.is_empty() {
            by_urgency(&pool, &left, &mut counts, &mut sorted);
            std::mem::swap(&mut pool, &mut sorted);
            let number = done.len() as u32 + 2;
            let mut batch: Vec<Picked<N>> = Vec::with_capacity(BATCH);
            for free_since in [number - 1, number] {
                pool.retain(|picked| {
                    let free = picked.1.iter().all(|&place| touched[place as usize] < free_since);
                    let take = batch.len() < BATCH && free;
                    if take {
                        batch.push(*picked);
                        for place in picked.1 {
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

/// Sorts by the most constraints left at a place of each, largest first; of equals the order stays.
fn by_urgency<const N: usize>(
    pool: &[Picked<N>],
    left: &[u32],
    counts: &mut Vec<usize>,
    sorted: &mut Vec<Picked<N>>,
) {
    let urgency =
        |picked: &Picked<N>| picked.1.iter().map(|&place| left[place as usize] as usize).max().unwrap_or(0);
    counts.clear();
    for picked in pool {
        let urgency = urgency(picked);
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
    sorted.resize(pool.len(), (0, [0; N]));
    for picked in pool {
        let at = &mut counts[urgency(picked)];
        sorted[*at] = *picked;
        *at += 1;
    }
}
