//! In which order the bones of a point are blended: two at a time, from the leaves of the tree to its root.
//!
//! Never by size of weight: then places jump where two weights swap.

use super::tree::Tree;
use crate::asset::Weights;
use crate::skin::pack::BATCH;
use std::collections::BTreeMap;

/// Influences of a point that count: of more, the largest.
pub(super) const MOST_INFLUENCES: usize = 24;

/// One step for all points of a batch, on a stack of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Op {
    /// Puts the point on the stack as this slot carries it.
    Push(u16),
    /// Takes what hangs on this slot, and what its parent and the branches before it made; puts their blend.
    Merge(u16),
    /// As `Merge` for bones that hang on nothing in common: a straight blend.
    Lerp,
}

/// Sixteen points of one program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch {
    /// The first of the program's operations.
    pub ops: u32,
    /// How many.
    pub count: u32,
    /// The first of its rows in [`Programs::shares`]: one for each blend.
    pub shares: u32,
}

/// A blend's numbers for each point of a batch.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Shares {
    /// `W`: how much of it is the child.
    pub child: [f32; BATCH],
    /// How much of the joint's twist to split: the parent's own part of what is blended with.
    pub twist: [f32; BATCH],
}

/// Points sorted by what they hang on.
#[derive(Debug, Default)]
pub(super) struct Programs {
    pub ops: Vec<Op>,
    pub batches: Vec<Batch>,
    pub shares: Vec<Shares>,
    /// For each place in batches the point; `u32::MAX` fills up.
    pub point_of_place: Vec<u32>,
    /// The reverse.
    pub place_of_point: Vec<u32>,
}

/// A point's blends, operation by operation.
#[derive(Debug, Default, Clone)]
struct Walk {
    ops: Vec<Op>,
    /// Child's and twist's share of each blend.
    shares: Vec<[f32; 2]>,
}

impl Programs {
    pub(super) fn new(tree: &Tree, weights: &Weights) -> Self {
        let count = weights.vertex_count();
        let mut walker = Walker::new(tree);
        // Programs in order of first use, so that neighbours stay together.
        let mut known: BTreeMap<Vec<Op>, usize> = BTreeMap::new();
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut offsets = vec![0u32];
        let mut all: Vec<[f32; 2]> = Vec::new();
        for point in 0..count {
            let walk = walker.walk(weights, point);
            let next = members.len();
            let program = match known.get(&walk.ops) {
                Some(&program) => program,
                None => {
                    known.insert(walk.ops.clone(), next);
                    members.push(Vec::new());
                    next
                }
            };
            members[program].push(point as u32);
            all.extend(&walk.shares);
            offsets.push(all.len() as u32);
        }
        let mut by_program: Vec<&[Op]> = vec![&[]; members.len()];
        known.iter().for_each(|(ops, &program)| by_program[program] = ops);
        let mut made = Self { place_of_point: vec![0; count], ..Self::default() };
        for (ops, points) in by_program.iter().zip(&members) {
            let first = made.ops.len() as u32;
            made.ops.extend_from_slice(ops);
            let blends = ops.iter().filter(|op| !matches!(op, Op::Push(_))).count();
            for batch in points.chunks(BATCH) {
                made.batches.push(Batch {
                    ops: first,
                    count: ops.len() as u32,
                    shares: made.shares.len() as u32,
                });
                for blend in 0..blends {
                    let mut row = Shares { child: [0.0; BATCH], twist: [0.0; BATCH] };
                    for lane in 0..BATCH {
                        let point = batch[lane.min(batch.len() - 1)] as usize;
                        [row.child[lane], row.twist[lane]] = all[offsets[point] as usize + blend];
                    }
                    made.shares.push(row);
                }
                for lane in 0..BATCH {
                    if let Some(&point) = batch.get(lane) {
                        made.place_of_point[point as usize] = made.point_of_place.len() as u32;
                    }
                    made.point_of_place.push(batch.get(lane).copied().unwrap_or(u32::MAX));
                }
            }
        }
        made
    }
}

/// Walks the tree once for each point.
struct Walker<'t> {
    tree: &'t Tree,
    /// Of the current point: a slot's own weight, and that of all that hangs on it.
    own: Vec<f32>,
    sums: Vec<f32>,
    touched: Vec<u16>,
    walk: Walk,
}

impl<'t> Walker<'t> {
    fn new(tree: &'t Tree) -> Self {
        let zeros = vec![0.0; tree.nodes.len()];
        Self { tree, own: zeros.clone(), sums: zeros, touched: Vec::new(), walk: Walk::default() }
    }

    fn walk(&mut self, weights: &Weights, point: usize) -> &Walk {
        for slot in self.touched.drain(..) {
            self.own[slot as usize] = 0.0;
            self.sums[slot as usize] = 0.0;
        }
        self.walk.ops.clear();
        self.walk.shares.clear();
        let mut tops: Vec<u16> = Vec::new();
        for (slot, weight) in weights.of(point).take(MOST_INFLUENCES) {
            self.own[slot as usize] += weight;
            let mut at = slot;
            loop {
                self.sums[at as usize] += weight;
                self.touched.push(at);
                match self.tree.nodes[at as usize].parent {
                    Some(parent) => at = parent,
                    None => break,
                }
            }
            if !tops.contains(&at) {
                tops.push(at);
            }
        }
        tops.sort_unstable();
        let mut before = 0.0;
        for top in tops {
            self.visit(top);
            let sum = self.sums[top as usize];
            if before > 0.0 {
                self.walk.ops.push(Op::Lerp);
                self.walk.shares.push([sum / (before + sum), 0.0]);
            }
            before += sum;
        }
        &self.walk
    }

    fn visit(&mut self, slot: u16) {
        let tree = self.tree;
        let own = self.own[slot as usize];
        let mut before = own;
        if own > 0.0 {
            self.walk.ops.push(Op::Push(slot));
        }
        for &child in &tree.children[slot as usize] {
            let sum = self.sums[child as usize];
            if sum <= 0.0 {
                continue;
            }
            self.visit(child);
            if before > 0.0 {
                self.walk.ops.push(Op::Merge(child));
                self.walk.shares.push([sum / (before + sum), own / before]);
            }
            before += sum;
        }
    }
}
