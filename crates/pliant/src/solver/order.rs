//! Where nodes lie in memory: neighbours near, and cut into slabs that threads can take.

use crate::asset::TetMesh;
use crate::body::topology::{Lists, NONE, neighbours};
use std::ops::Range;

/// Least number of tets in a slab. Threads share slabs: with fewer tets there is more to hand out, with more the batches of
/// sixteen fill better, of tets in layers 11 in 12 lanes with 1200 and 19 in 20 with twice as many.
const SLAB_TETS: usize = 2400;

/// The same in a body that has not eight such slabs, two for either of two threads at a time.
const SMALL_SLAB: usize = 1200;

/// Least thickness of a slab, in edges. Of slabs one edge thick every second one sees the others as they were, and the
/// same iterations leave half as much error again; two are as good as three, and three as one slab for all.
const SLAB_LEVELS: usize = 2;

/// The new index of each node in an order that keeps neighbours near each other: reverse Cuthill-McKee, piece by piece.
///
/// E. Cuthill and J. McKee, Reducing the bandwidth of sparse symmetric matrices, 1969; the reversal is A. George's, the
/// start from a far end is George and Liu's, 1979.
pub fn renumbering(mesh: &TetMesh) -> Vec<u32> {
    renumbered(&neighbours(mesh))
}

/// The same for nodes of any kind, given who is joined to whom.
pub(super) fn renumbered(neighbours: &Lists) -> Vec<u32> {
    let count = neighbours.len();
    let mut walk = Walk { level: vec![NONE; count], queue: Vec::with_capacity(count) };
    let mut placed = vec![false; count];
    let mut order: Vec<u32> = Vec::with_capacity(count);
    for seed in 0..count as u32 {
        if !placed[seed as usize] {
            let start = far_end(neighbours, &mut walk, seed);
            add_piece(neighbours, &mut placed, &mut order, start);
        }
    }
    let mut new_of_old = vec![0; count];
    for (place, &node) in order.iter().rev().enumerate() {
        new_of_old[node as usize] = place as u32;
    }
    new_of_old
}

/// Nodes by their distance from a start, in edges.
struct Walk {
    level: Vec<u32>,
    queue: Vec<u32>,
}

impl Walk {
    /// Returns the last level.
    fn from(&mut self, neighbours: &Lists, start: u32) -> u32 {
        self.forget();
        self.level[start as usize] = 0;
        self.queue.push(start);
        let mut next = 0;
        while next < self.queue.len() {
            let node = self.queue[next] as usize;
            next += 1;
            for &other in neighbours.of(node) {
                if self.level[other as usize] == NONE {
                    self.level[other as usize] = self.level[node] + 1;
                    self.queue.push(other);
                }
            }
        }
        self.queue.last().map_or(0, |&node| self.level[node as usize])
    }

    fn forget(&mut self) {
        self.queue.drain(..).for_each(|node| self.level[node as usize] = NONE);
    }
}

/// A node of the seed's piece from which the piece is as long as can be seen.
fn far_end(neighbours: &Lists, walk: &mut Walk, seed: u32) -> u32 {
    let (mut start, mut length) = (seed, walk.from(neighbours, seed));
    loop {
        let last = walk.queue.iter().filter(|&&node| walk.level[node as usize] == length);
        let Some(&candidate) = last.min_by_key(|&&node| (neighbours.of(node as usize).len(), node)) else {
            break;
        };
        let seen = walk.from(neighbours, candidate);
        if seen <= length {
            break;
        }
        (start, length) = (candidate, seen);
    }
    walk.forget();
    start
}

/// Level by level, a node's neighbours in order of their own numbers of neighbours.
fn add_piece(neighbours: &Lists, placed: &mut [bool], order: &mut Vec<u32>, start: u32) {
    let mut next = order.len();
    placed[start as usize] = true;
    order.push(start);
    while next < order.len() {
        let first = order.len();
        for &other in neighbours.of(order[next] as usize) {
            if !std::mem::replace(&mut placed[other as usize], true) {
                order.push(other);
            }
        }
        order[first..].sort_unstable_by_key(|&node| (neighbours.of(node as usize).len(), node));
        next += 1;
    }
}

/// Nodes in their order, cut so that a tet whose lowest node is in a slab has all its nodes in that slab and the next.
#[derive(Debug)]
pub(super) struct Slabs {
    /// First node of each slab, and the number of nodes.
    bounds: Vec<u32>,
}

impl Slabs {
    /// Cuts nodes `0..count`, given the tets (or what else joins nodes) in the new order.
    pub(super) fn new<const N: usize>(count: usize, tets: &[[u32; N]]) -> Self {
        let least = if tets.len() >= 8 * SLAB_TETS { SLAB_TETS } else { SMALL_SLAB };
        let ends = |tet: &[u32; N]| {
            let low = tet.iter().fold(u32::MAX, |low, &node| low.min(node));
            (low, tet.iter().fold(0, |high, &node| high.max(node)))
        };
        // By lowest node: how many tets, and how far up they reach.
        let (mut tets_at, mut reach) = (vec![0usize; count], vec![0u32; count + 1]);
        for (low, high) in tets.iter().map(ends) {
            tets_at[low as usize] += 1;
            reach[low as usize + 1] = reach[low as usize + 1].max(high + 1);
        }
        for node in 0..count {
            reach[node + 1] = reach[node + 1].max(reach[node]).max(node as u32 + 1);
        }
        let levels_on = |node: u32| (0..SLAB_LEVELS).fold(node, |node, _| reach[node as usize]) as usize;
        let most = (tets.len() / least).max(1);
        // As many even ones as odd ones, of either as many for one of two threads as for the other, and where there are
        // enough an even number of those, to sweep two at a time.
        let slabs = match most {
            8.. => most / 8 * 8,
            4..8 => 4,
            _ => most,
        };
        let mut bounds = vec![0];
        let (mut taken, mut left) = (0, tets.len());
        for node in 0..count {
            taken += tets_at[node];
            // The slab before must not reach past this one, and this one be thick enough.
            let thick = node + 1 >= levels_on(bounds[bounds.len() - 1]);
            if thick && taken * slabs >= tets.len() && taken < left {
                bounds.push(node as u32 + 1);
                left -= std::mem::take(&mut taken);
            }
        }
        bounds.push(count as u32);
        Self { bounds }
    }

    pub(super) fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    pub(super) fn nodes(&self, slab: usize) -> Range<u32> {
        self.bounds[slab]..self.bounds[slab + 1]
    }

    pub(super) fn of(&self, node: u32) -> usize {
        self.bounds.partition_point(|&first| first <= node) - 1
    }
}
