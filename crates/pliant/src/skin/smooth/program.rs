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
    /// Takes what hangs on this slot, and what its parent made of the point; puts their blend.
    Merge(u16),
    /// Adds to the anchor where the first slot carries the joint of the second.
    Anchor(u16, u16),
    /// As `Merge` with other branches, or with bones that hang on nothing in common: the joint is where these carry it,
    /// the anchor.
    Join(u16),
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
    frames: Vec<Frame>,
    /// Slots that were put on the stack, in order, with their weights.
    pushed: Vec<(u16, f32)>,
    walk: Walk,
}

/// A slot whose branches are being visited.
struct Frame {
    slot: u16,
    /// Where to look for the next of its children.
    next: usize,
    /// Weight that is blended already, and the first of its slots in `pushed`.
    before: f32,
    first: usize,
    /// Where the branch under way began in `pushed`.
    branch: usize,
}

impl<'t> Walker<'t> {
    fn new(tree: &'t Tree) -> Self {
        let zeros = vec![0.0; tree.nodes.len()];
        Self {
            tree,
            own: zeros.clone(),
            sums: zeros,
            touched: Vec::new(),
            frames: Vec::new(),
            pushed: Vec::new(),
            walk: Walk::default(),
        }
    }

    fn walk(&mut self, weights: &Weights, point: usize) -> &Walk {
        for slot in self.touched.drain(..) {
            self.own[slot as usize] = 0.0;
            self.sums[slot as usize] = 0.0;
        }
        self.walk.ops.clear();
        self.walk.shares.clear();
        self.pushed.clear();
        let tops = self.tops(weights, point);
        for (slot, weight) in weights.of(point).take(MOST_INFLUENCES) {
            self.own[slot as usize] += weight;
            let mut at = slot;
            loop {
                if self.sums[at as usize] == 0.0 {
                    self.touched.push(at);
                }
                self.sums[at as usize] += weight;
                match self.tree.nodes[at as usize].parent.filter(|_| !tops.contains(&at)) {
                    Some(parent) => at = parent,
                    None => break,
                }
            }
        }
        self.touched.sort_unstable();
        let mut before = 0.0;
        for top in tops {
            let branch = self.pushed.len();
            self.visit(top);
            let sum = self.sums[top as usize];
            if before > 0.0 {
                self.join(top, 0..branch, before, [sum / (before + sum), 0.0]);
            }
            before += sum;
        }
        &self.walk
    }

    /// The lowest slot that all of a point's hang on; where there is none, the roots that they do.
    fn tops(&self, weights: &Weights, point: usize) -> Vec<u16> {
        let mut tops = Vec::new();
        let mut low: Vec<u16> = weights.of(point).take(MOST_INFLUENCES).map(|w| w.0).collect();
        while low.len() > 1 || (!tops.is_empty() && !low.is_empty()) {
            low.sort_unstable_by_key(|&slot| (self.tree.nodes[slot as usize].depth, slot));
            low.dedup();
            if low.len() == 1 && tops.is_empty() {
                break;
            }
            let Some(deepest) = low.pop() else { break };
            match self.tree.nodes[deepest as usize].parent {
                Some(parent) => low.push(parent),
                None => tops.push(deepest),
            }
        }
        tops.extend(low);
        tops.sort_unstable();
        tops
    }

    /// The next child of a slot, after those before `next`, that the point hangs on, and where to go on from.
    fn next_child(&self, slot: u16, next: usize) -> Option<(u16, usize)> {
        let children = &self.tree.children[slot as usize];
        if children.len() <= self.touched.len() {
            let rest = children.iter().enumerate().skip(next);
            let mut rest = rest.filter(|(_, child)| self.sums[**child as usize] > 0.0);
            return rest.next().map(|(index, &child)| (child, index + 1));
        }
        let mut rest = self.touched.iter().enumerate().skip(next);
        let is_child = |child: u16| self.tree.nodes[child as usize].parent == Some(slot);
        rest.find(|(_, child)| is_child(**child)).map(|(index, &child)| (child, index + 1))
    }

    fn enter(&mut self, slot: u16) {
        let (own, first) = (self.own[slot as usize], self.pushed.len());
        if own > 0.0 {
            self.walk.ops.push(Op::Push(slot));
            self.pushed.push((slot, own));
        }
        self.frames.push(Frame { slot, next: 0, before: own, first, branch: first });
    }

    /// Leaves first. No recursion: a chain may be as long as a file likes.
    fn visit(&mut self, top: u16) {
        self.enter(top);
        while let Some(frame) = self.frames.last() {
            match self.next_child(frame.slot, frame.next) {
                Some((child, next)) => {
                    let branch = self.pushed.len();
                    if let Some(frame) = self.frames.last_mut() {
                        (frame.next, frame.branch) = (next, branch);
                    }
                    self.enter(child);
                }
                None => {
                    let done = self.frames.pop().map(|frame| frame.slot);
                    done.into_iter().for_each(|child| self.merge(child));
                }
            }
        }
    }

    /// Blends a branch that is done into what its parent has so far.
    fn merge(&mut self, child: u16) {
        let Some(frame) = self.frames.last_mut() else { return };
        let sum = self.sums[child as usize];
        let (before, own) = (frame.before, self.own[frame.slot as usize]);
        let (first, branch) = (frame.first, frame.branch);
        frame.before += sum;
        if before <= 0.0 {
            return;
        }
        let shares = [sum / (before + sum), own / before];
        if own > 0.0 && branch == first + 1 {
            self.walk.ops.push(Op::Merge(child));
            self.walk.shares.push(shares);
        } else {
            self.join(child, first..branch, before, shares);
        }
    }

    fn join(&mut self, child: u16, others: std::ops::Range<usize>, before: f32, shares: [f32; 2]) {
        for &(slot, weight) in &self.pushed[others] {
            self.walk.ops.push(Op::Anchor(slot, child));
            self.walk.shares.push([weight / before, 0.0]);
        }
        self.walk.ops.push(Op::Join(child));
        self.walk.shares.push(shares);
    }
}
