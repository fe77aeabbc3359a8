//! What one copy of a character keeps for the strain solver.

use super::super::pack::{BATCH, Row};
use super::super::state::Found;
use super::StrainSolver;
use super::kernel::Task;
use super::pack::{Columns, Seven};
use crate::body::Node;
use crate::body::topology::NONE;
use crate::parallel;

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
    stiffness: &'a [Seven],
    block_of: &'a [u32],
    lighter: f32,
}

impl<'a> Numbers<'a> {
    /// The tets of a slab. Multipliers are cut from the slab on.
    pub(super) fn task(&self, slab: usize, multipliers: &'a mut [Seven]) -> Task<'a> {
        let pack = &self.solver.pack;
        let batches = pack.slab(slab);
        let kept = batches.len().min(multipliers.len());
        Task {
            plain: pack.plain.get(batches.start * BATCH..batches.end * BATCH).unwrap_or(&[]),
            offsets: pack.offsets.get(batches.start * 4..batches.end * 4).unwrap_or(&[]),
            columns: &self.columns[batches.clone()],
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
        Self {
            compliant: false,
            stiffness: vec![NO_NUMBERS; batches],
            block_of: vec![0; batches],
            multipliers: Vec::new(),
            scaled: Vec::new(),
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
        let numbers =
            Numbers { solver, columns, stiffness: &self.stiffness, block_of: &self.block_of, lighter };
        (numbers, &mut self.multipliers, &mut self.nodes, &mut self.found)
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
        parallel::for_each_chunk_mut(&mut self.nodes, CHUNK, |chunk, to| {
            for (to, &node) in to.iter_mut().zip(&solver.places.node_at[chunk * CHUNK..]) {
                if node != NONE {
                    let [x, y, z, w] = nodes[node as usize];
                    *to = [x, y, z, if solver.pinned[node as usize] { 0.0 } else { w }];
                }
            }
        });
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
