//! Tets as the kernels read them: slab by slab, sixteen at a time that share no node.
//!
//! Tets that share no node commute, so a batch may mix layers and a slab is still swept layer by layer: what counts is that
//! of two tets that share a node the one in the lower layer goes first. That fills batches where a slab's layer alone
//! could not; lanes that would still idle take a tet one layer ahead of its time. A filler has columns of 0 and all its nodes on a filler of inverse mass 0.

use super::super::order::Slabs;
use super::super::pack::{BATCH, Offsets, POOL, Places, Row};
use crate::body::topology::{Lists, NONE};
use crate::parallel;
use std::ops::Range;

/// Sixteen tets at rest: row `3 i + k` is number `k` of column `c_i` of `Dm^-1 Q`; row 9 the share of the summed inverse
/// masses that keeps denominators up (see [`super::REGULAR`]).
pub(super) type Columns = [Row; 10];

/// Sixteen tets with the inverse masses of their nodes: `M_00, M_01, M_02, M_11, M_12, M_22`, and what keeps denominators up.
pub(super) type Gram = [Row; 7];

/// Seven numbers of sixteen tets: stretch 1, 2, 3; shear 12, 13, 23; volume.
pub(super) type Seven = [Row; 7];

/// What a tet brings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub tet: u32,
    pub nodes: [u32; 4],
    pub layer: u32,
    /// Which corners are in layers before: 8 for the first, then 4, 2 and 1.
    pub finished: u8,
    /// As [`Columns`].
    pub columns: [f32; 10],
}

/// Tets in batches of sixteen.
#[derive(Debug)]
pub(super) struct Pack {
    /// For the plain code: each slot's places within the window. Empty for kernels.
    pub plain: Vec<[u32; 4]>,
    /// For kernels: a row per corner of each batch. Empty for the plain code.
    pub offsets: Vec<Offsets>,
    pub columns: Vec<Columns>,
    /// Which corners are in finished layers, as [`Item::finished`].
    pub finished: Vec<Row>,
    /// The tet of each slot; [`NONE`] for a filler.
    pub tet_at: Vec<u32>,
    /// First batch of each slab, and the number of batches.
    pub starts: Vec<u32>,
    /// How many tets there are.
    pub count: usize,
}

impl Pack {
    /// `new_of_old` is the new index of each node, by which slabs are cut.
    pub(super) fn new(
        items: &[Item],
        new_of_old: &[u32],
        slabs: &Slabs,
        places: &Places,
        plain: bool,
    ) -> Self {
        let lowest = |item: &Item| item.nodes.map(|node| new_of_old[node as usize]).into_iter().min();
        let of_slab: Vec<[u32; 1]> =
            items.iter().map(|item| [slabs.of(lowest(item).unwrap_or(0)) as u32]).collect();
        let by_slab = Lists::group(slabs.len(), &of_slab);
        let packed = parallel::map(slabs.len(), |slab| {
            let mut order = by_slab.of(slab).to_vec();
            order.sort_by_key(|&item| (items[item as usize].layer, mixed(item)));
            let window = places.starts[slab]..places.starts[(slab + 2).min(slabs.len())];
            let local = |&item: &u32| {
                items[item as usize].nodes.map(|node| {
                    let place = places.place_of[node as usize];
                    assert!(window.contains(&place), "a tet spans more than two slabs");
                    place - window.start
                })
            };
            let local: Vec<[u32; 4]> = order.iter().map(local).collect();
            let layers: Vec<u32> = order.iter().map(|&item| items[item as usize].layer).collect();
            let mut batches = batches(&local, &layers, window.len());
            batches.iter_mut().flatten().for_each(|index| *index = order[*index as usize]);
            batches
        });
        let mut pack = Self {
            plain: Vec::new(),
            offsets: Vec::new(),
            columns: Vec::new(),
            finished: Vec::new(),
            tet_at: Vec::new(),
            starts: vec![0],
            count: items.len(),
        };
        for (slab, batches) in packed.iter().enumerate() {
            let first = places.starts[slab];
            let filler = places.slab(slab).len() as u32 - 1;
            for batch in batches {
                let item = |lane: usize| batch.get(lane).map(|&item| &items[item as usize]);
                let place = |lane: usize, corner: usize| {
                    item(lane).map_or(filler, |item| places.place_of[item.nodes[corner] as usize] - first)
                };
                if plain {
                    let corners = |lane| std::array::from_fn(|corner| place(lane, corner));
                    pack.plain.extend((0..BATCH).map(corners));
                } else {
                    let offsets = |corner| Offsets(std::array::from_fn(|lane| 4 * place(lane, corner)));
                    pack.offsets.extend((0..4).map(offsets));
                }
                let row = |number: &dyn Fn(&Item) -> f32| {
                    Row(std::array::from_fn(|lane| item(lane).map_or(0.0, number)))
                };
                pack.columns.push(std::array::from_fn(|k| row(&|item| item.columns[k])));
                pack.finished.push(row(&|item| item.finished.into()));
                pack.tet_at.extend((0..BATCH).map(|lane| item(lane).map_or(NONE, |item| item.tet)));
            }
            pack.starts.push(pack.columns.len() as u32);
        }
        pack
    }

    /// The batches of a slab.
    pub(super) fn slab(&self, slab: usize) -> Range<usize> {
        self.starts[slab] as usize..self.starts[slab + 1] as usize
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.plain[..])
            + size_of_val(&self.offsets[..])
            + size_of_val(&self.columns[..])
            + size_of_val(&self.finished[..])
            + size_of_val(&self.tet_at[..])
            + size_of_val(&self.starts[..])
    }
}

/// A number of no pattern, another for every item. Swept from one end of a limb to the other, a layer is left with more
/// error at one of them.
fn mixed(item: u32) -> u32 {
    let item = (item ^ item >> 16).wrapping_mul(0x9e37_79b1);
    (item ^ item >> 15).wrapping_mul(0x85eb_ca6b)
}

/// Batches of tets that share no place, given in order of their layers. At a place lower layers go first, but for one
/// ahead where a lane would idle; else in the order given: with those on places with most tets left first, batches are a
/// hundredth fuller, but ten iterations leave a fifth to a half more. Where there is a choice a batch shares no place with
/// the one before either, so that it need not wait for it.
fn batches(tets: &[[u32; 4]], layers: &[u32], places: usize) -> Vec<Vec<u32>> {
    let mut done = Vec::with_capacity(tets.len() / BATCH + BATCH);
    let at_place = Lists::group(places, tets);
    let mut is_taken = vec![false; tets.len()];
    // Of each place: the first of the tets that are left, and which batch touched it last, counted from 2.
    let (mut next, mut touched) = (vec![0usize; places], vec![0u32; places]);
    let (mut pool, mut later) = (Vec::with_capacity(POOL), 0..tets.len() as u32);
    loop {
        pool.extend(later.by_ref().take(POOL - pool.len()));
        if pool.is_empty() {
            return done;
        }
        let number = done.len() as u32 + 2;
        let mut batch: Vec<u32> = Vec::with_capacity(BATCH);
        for (free_since, ahead) in [(number - 1, 0), (number, 0), (number, 1)] {
            for &tet in &pool {
                if batch.len() == BATCH {
                    break;
                }
                let on = tets[tet as usize].map(|place| place as usize);
                let is_due = |&place: &usize| {
                    let lowest = layers[at_place.of(place)[next[place]] as usize];
                    touched[place] < free_since && lowest + ahead >= layers[tet as usize]
                };
                if !is_taken[tet as usize] && on.iter().all(is_due) {
                    batch.push(tet);
                    is_taken[tet as usize] = true;
                    for place in on {
                        touched[place] = number;
                        let left = at_place.of(place)[next[place]..].iter();
                        next[place] += left.take_while(|&&tet| is_taken[tet as usize]).count();
                    }
                }
            }
        }
        pool.retain(|&tet| !is_taken[tet as usize]);
        done.push(batch);
    }
}
