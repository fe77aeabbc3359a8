//! What one copy of a character keeps for the strain solver.

use super::super::pack::{BATCH, Row};
use super::super::state::Found;
use super::StrainSolver;
use super::kernel::{Kind, Task};
use super::pack::{Columns, Gram, Seven};
use crate::body::Node;
use crate::body::topology::NONE;
use crate::parallel;
use std::sync::atomic::{AtomicBool, Ordering};

/// Nodes a thread moves at a time into the solver's order and back.
const CHUNK: usize = 4096;

const NO_NUMBERS: Seven = [Row([0.0; BATCH]); 7];

/// State of a [`StrainSolver`]: stiffness of every tet, and scratch. Solves allocate nothing.
#[derive(Debug, Clone)]
pub struct StrainState {
    compliant: bool,
    /// A block per batch. Written and read only where no block before has the same numbers.
    pub(super) stiffness: Vec<Seven>,
    /// For each batch the block with its numbers, counted within its slab: of a body of few materials few blocks are
    /// read, and they stay at hand.
    pub(super) block_of: Vec<u32>,
    /// As stiffness, or empty.
    pub(super) multipliers: Vec<Seven>,
    /// Columns of scaled tets; empty: those of the solver.
    pub(super) scaled: Vec<Columns>,
    /// What inverse masses make of the columns, for the sweeps that do not consolidate and for those that do; empty for
    /// the plain code.
    grams: [Vec<Gram>; 2],
    /// The `lighter` that each were made with; none where masses or columns have changed since.
    made_with: [Option<f32>; 2],
    /// In the solver's order. Fillers are of inverse mass 0, at 0.
    pub(super) nodes: Vec<Node>,
    /// What was found in each slab.
    pub(super) found: Vec<Found>,
}

/// What a sweep reads.
#[derive(Clone, Copy)]
pub(super) struct Numbers<'a> {
    solver: &'a StrainSolver,
    columns: &'a [Columns],
    grams: [&'a [Gram]; 2],
    stiffness: &'a [Seven],
    block_of: &'a [u32],
    lighter: f32,
}

impl<'a> Numbers<'a> {
    /// The tets of a slab for a kind of sweep. Multipliers are cut from the slab on.
    pub(super) fn task(&self, slab: usize, kind: Kind, multipliers: &'a mut [Seven]) -> Task<'a> {
        let pack = &self.solver.pack;
        let batches = pack.slab(slab);
        let kept = batches.len().min(multipliers.len());
        Task {
            plain: pack.plain.get(batches.start * BATCH..batches.end * BATCH).unwrap_or(&[]),
            offsets: pack.offsets.get(batches.start * 4..batches.end * 4).unwrap_or(&[]),
            columns: &self.columns[batches.clone()],
            grams: self.grams[of_kind(kind)].get(batches.clone()).unwrap_or(&[]),
            finished: &pack.finished[batches.clone()],
            stiffness: &self.stiffness[batches.clone()],
            block_of: &self.block_of[batches],
            multipliers: &mut multipliers[..kept],
            lighter: self.lighter,
        }
    }
}

impl StrainState {
    pub(super) fn new(solver: &StrainSolver) -> Self {
        let batches = solver.pack.columns.len();
        let grams = vec![NO_NUMBERS; if solver.kernels.is_some() { batches } else { 0 }];
        Self {
            compliant: false,
            stiffness: vec![NO_NUMBERS; batches],
            block_of: vec![0; batches],
            multipliers: Vec::new(),
            scaled: Vec::new(),
            grams: [grams.clone(), grams],
            made_with: [None; 2],
            nodes: vec![[0.0; 4]; solver.places.node_at.len()],
            found: vec![Found { sum: 0.0, finite: true }; solver.slabs],
        }
    }

    /// Whether constraints have compliance instead of stiffness.
    pub fn uses_compliance(&self) -> bool {
        self.compliant
    }

    /// From now on constraints have compliance over the square of the time step, or stiffness per iteration. Until it is
    /// set there is no constraint: compliance is infinite, stiffness 0.
    pub fn use_compliance(&mut self, compliant: bool) {
        self.compliant = compliant;
        let (none, count) = if compliant { (f32::INFINITY, self.stiffness.len()) } else { (0.0, 0) };
        self.stiffness.fill([Row([none; BATCH]); 7]);
        self.block_of.fill(0);
        self.multipliers.clear();
        self.multipliers.resize(count, NO_NUMBERS);
    }

    /// Memory of this copy.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.stiffness[..])
            + size_of_val(&self.block_of[..])
            + size_of_val(&self.multipliers[..])
            + size_of_val(&self.scaled[..])
            + self.grams.iter().map(|grams| size_of_val(&grams[..])).sum::<usize>()
            + size_of_val(&self.nodes[..])
            + size_of_val(&self.found[..])
    }

    /// What a sweep reads, and the multipliers and nodes that it changes. Corners in finished layers count with their
    /// inverse mass times `lighter`.
    pub(super) fn parts<'a>(
        &'a mut self,
        solver: &'a StrainSolver,
        lighter: f32,
    ) -> (Numbers<'a>, &'a mut [Seven], &'a mut [Node], &'a mut [Found]) {
        let columns = if self.scaled.is_empty() { &solver.pack.columns } else { &self.scaled };
        let grams = self.grams.each_ref().map(|grams| &grams[..]);
        let numbers =
            Numbers { solver, columns, grams, stiffness: &self.stiffness, block_of: &self.block_of, lighter };
        (numbers, &mut self.multipliers, &mut self.nodes, &mut self.found)
    }

    /// Columns or masses are others.
    pub(super) fn forget_grams(&mut self) {
        self.made_with = [None; 2];
    }

    /// Makes what sweeps of a kind go by, where that is not at hand.
    pub(super) fn weigh(&mut self, solver: &StrainSolver, kind: Kind, lighter: f32) {
        let of = of_kind(kind);
        let Some(kernels) = solver.kernels.filter(|_| self.made_with[of] != Some(lighter)) else { return };
        let mut grams = std::mem::take(&mut self.grams[of]);
        let (numbers, _, nodes, _) = self.parts(solver, lighter);
        let (nodes, first) = (&*nodes, &solver.pack.starts);
        let cut = |grams, slab| cut_grams(grams, first[slab] as usize);
        parallel::for_each_part(0..solver.slabs, (0, &mut grams[..]), cut, |slab, (_, grams)| {
            let task = numbers.task(slab, kind, &mut []);
            // SAFETY: the path was found available when the solver was made, and the tets packed for it; nodes are given
            // from the slab's own on, and grams are cut by the slab's batches.
            unsafe { (kernels.weigh)(&task, kind, &nodes[solver.places.starts[slab] as usize..], grams) }
        });
        self.grams[of] = grams;
        self.made_with[of] = Some(lighter);
    }

    pub(super) fn forget_multipliers(&mut self) {
        parallel::for_each_chunk_mut(&mut self.multipliers, CHUNK / BATCH, |_, m| m.fill(NO_NUMBERS));
    }

    pub(super) fn check(&self, solver: &StrainSolver) {
        let found = [self.nodes.len(), self.stiffness.len(), self.found.len()];
        let expected = [solver.places.node_at.len(), solver.pack.columns.len(), solver.slabs];
        assert_eq!(found, expected, "the state is of another solver");
    }

    /// Copies nodes into the solver's order.
    pub(super) fn take_nodes(&mut self, solver: &StrainSolver, nodes: &[Node]) {
        assert_eq!(nodes.len(), solver.nodes(), "one place per node");
        self.check(solver);
        let masses_change = AtomicBool::new(false);
        parallel::for_each_chunk_mut(&mut self.nodes, CHUNK, |chunk, to| {
            let mut change = false;
            for (to, &node) in to.iter_mut().zip(&solver.places.node_at[chunk * CHUNK..]) {
                if node != NONE {
                    let [x, y, z, w] = nodes[node as usize];
                    let w = if solver.pinned[node as usize] { 0.0 } else { w };
                    change |= w != to[3];
                    *to = [x, y, z, w];
                }
            }
            if change {
                masses_change.store(true, Ordering::Relaxed);
            }
        });
        if masses_change.into_inner() {
            self.forget_grams();
        }
    }

    /// Copies nodes back; pinned ones stay as they are.
    pub(super) fn give_nodes(&self, solver: &StrainSolver, nodes: &mut [Node]) {
        parallel::for_each_chunk_mut(nodes, CHUNK, |chunk, to| {
            let first = chunk * CHUNK;
            for (index, to) in to.iter_mut().enumerate() {
                if !solver.pinned[first + index] {
                    *to = self.nodes[solver.places.place_of[first + index] as usize];
                }
            }
        });
    }
}

/// Which grams sweeps of a kind go by.
fn of_kind(kind: Kind) -> usize {
    usize::from(kind == Kind::Consolidating)
}

/// Grams from a batch on.
type Grams<'a> = (usize, &'a mut [Gram]);

/// What lies before a batch, and what lies from it on.
fn cut_grams((from, grams): Grams<'_>, to: usize) -> (Grams<'_>, Grams<'_>) {
    let (before, after) = grams.split_at_mut(to - from);
    ((from, before), (to, after))
}
