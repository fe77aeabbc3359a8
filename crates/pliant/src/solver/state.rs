//! What one copy of a character keeps for the solver.

use super::cluster::Clustering;
use super::kernel::{BindRows, Task};
use super::pack::{BATCH, Pack, Row};
use super::{Node, Solver};
use crate::body::topology::NONE;
use crate::parallel;

/// Nodes a thread moves at a time into the solver's order and back.
const CHUNK: usize = 4096;

/// How far a tet may move in one projection, in edges of a regular tet of its volume: so far where one node is free, and
/// four nodes of one mass a quarter of it each. With half of it, tets that have turned inside out come back too slowly;
/// with twice as much or no limit, a quarter more of a collapsed limb's tets are still inverted after 12 iterations.
const REACH: f64 = 1.0;

/// State of a [`Solver`]: stiffness and target of every constraint, and scratch. Steps allocate nothing.
#[derive(Debug, Clone)]
pub struct SolverState {
    compliant: bool,
    pub(super) stretch: Coefficients,
    pub(super) volume: Coefficients,
    pub(super) bind: BindState,
    /// In the solver's order. Fillers are of inverse mass 0, at 0.
    pub(super) nodes: Vec<Node>,
    /// What was found in each slab.
    pub(super) found: Vec<Found>,
}

/// What was found in a slab.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    /// Of errors, or a count.
    pub(super) sum: f64,
    /// Whether all is numbers.
    pub(super) finite: bool,
}

/// Numbers of the constraints of a kind, per slot.
#[derive(Debug, Clone)]
pub(super) struct Coefficients {
    targets: Vec<Row>,
    stiffness: Vec<Row>,
    limits: Vec<Row>,
    multipliers: Vec<Row>,
}

/// The same, to read.
#[derive(Clone, Copy)]
pub(super) struct Numbers<'a> {
    targets: &'a [f32],
    stiffness: &'a [f32],
    limits: &'a [f32],
}

/// Numbers of the binds, in the solver's order.
#[derive(Debug, Clone)]
pub(super) struct BindState {
    pub(super) numbers: Vec<BindRows>,
    pub(super) multipliers: Vec<f32>,
}

impl Coefficients {
    fn new<const N: usize>(pack: &Pack<N>) -> Self {
        let none = vec![Row([0.0; BATCH]); pack.rest.len()];
        Self { targets: none.clone(), stiffness: none, limits: Vec::new(), multipliers: Vec::new() }
    }

    pub(super) fn targets_mut(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.targets)
    }

    pub(super) fn stiffness_mut(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.stiffness)
    }

    fn use_compliance(&mut self, compliant: bool) {
        let (none, count) = if compliant { (f32::INFINITY, self.targets.len()) } else { (0.0, 0) };
        self.stiffness.fill(Row([none; BATCH]));
        self.multipliers.clear();
        self.multipliers.resize(count, Row([0.0; BATCH]));
    }

    /// What a sweep reads, and what it changes.
    pub(super) fn parts(&mut self) -> (Numbers<'_>, &mut [f32]) {
        let numbers = Numbers {
            targets: bytemuck::cast_slice(&self.targets),
            stiffness: bytemuck::cast_slice(&self.stiffness),
            limits: bytemuck::cast_slice(&self.limits),
        };
        (numbers, bytemuck::cast_slice_mut(&mut self.multipliers))
    }

    fn bytes(&self) -> usize {
        let rows = self.targets.len() + self.stiffness.len() + self.limits.len() + self.multipliers.len();
        rows * size_of::<Row>()
    }
}

impl<'a> Numbers<'a> {
    /// The constraints of a slab. Multipliers are cut from the slab on.
    pub(super) fn task<const N: usize>(
        &self,
        pack: &'a Pack<N>,
        slab: usize,
        multipliers: &'a mut [f32],
    ) -> Task<'a, N>
    where
        [u32; N]: Clustering<N>,
    {
        let rows = pack.slab(slab);
        let slots = rows.start * BATCH..rows.end * BATCH;
        let kept = slots.len().min(multipliers.len());
        Task {
            plain: pack.plain.get(slots.clone()).unwrap_or(&[]),
            offsets: pack.slab_offsets(slab),
            batches: pack.batches[slab],
            targets: &self.targets[slots.clone()],
            stiffness: &self.stiffness[slots.clone()],
            limits: self.limits.get(slots).unwrap_or(&[]),
            multipliers: &mut multipliers[..kept],
        }
    }
}

impl SolverState {
    pub(super) fn new(solver: &Solver) -> Self {
        let places = solver.places.node_at.len();
        let mut volume = Coefficients::new(&solver.volume);
        volume.limits = volume.targets.clone();
        let mut state = Self {
            compliant: false,
            stretch: Coefficients::new(&solver.stretch),
            volume,
            bind: BindState {
                numbers: vec![[Row([0.0; BATCH]); 5]; places / BATCH],
                multipliers: Vec::new(),
            },
            nodes: vec![[0.0; 4]; places],
            found: vec![Found { sum: 0.0, finite: true }; solver.slabs],
        };
        solver.reset_targets(&mut state);
        state
    }

    /// Whether constraints have compliance instead of stiffness.
    pub fn uses_compliance(&self) -> bool {
        self.compliant
    }

    /// From now on constraints have compliance over the square of the time step, or stiffness per iteration. Until it is
    /// set there is no constraint: compliance is infinite, stiffness 0.
    pub fn use_compliance(&mut self, compliant: bool) {
        self.compliant = compliant;
        self.stretch.use_compliance(compliant);
        self.volume.use_compliance(compliant);
        self.bind.multipliers.clear();
        self.bind.multipliers.resize(if compliant { self.nodes.len() } else { 0 }, 0.0);
    }

    /// Memory of this copy.
    pub fn bytes(&self) -> usize {
        self.stretch.bytes()
            + self.volume.bytes()
            + size_of_val(&self.bind.numbers[..])
            + size_of_val(&self.bind.multipliers[..])
            + size_of_val(&self.nodes[..])
            + size_of_val(&self.found[..])
    }

    /// How far tets may move, from what they aim at.
    pub(super) fn set_limits(&mut self) {
        let Coefficients { targets, limits, .. } = &mut self.volume;
        parallel::for_each_chunk_pair_mut(targets, limits, CHUNK / BATCH, |_, targets, limits| {
            for (target, limit) in
                targets.iter().flat_map(|row| row.0).zip(limits.iter_mut().flat_map(|row| &mut row.0))
            {
                // A regular tet's volume is `edge^3 / (6 sqrt 2)`.
                let edge = libm::cbrt(f64::from(target.abs()) * std::f64::consts::SQRT_2);
                *limit = (1.0 / (REACH * edge * REACH * edge)).min(f64::from(f32::MAX)) as f32;
            }
        });
    }

    pub(super) fn forget_multipliers(&mut self) {
        self.stretch.multipliers.fill(Row([0.0; BATCH]));
        self.volume.multipliers.fill(Row([0.0; BATCH]));
        self.bind.multipliers.fill(0.0);
    }

    /// Copies nodes into the solver's order.
    pub(super) fn take_nodes(&mut self, solver: &Solver, nodes: &[Node]) {
        assert_eq!(nodes.len(), solver.nodes(), "one place per node");
        let rows = [self.nodes.len(), self.stretch.targets.len(), self.volume.targets.len()];
        let expected = [solver.places.node_at.len(), solver.stretch.rest.len(), solver.volume.rest.len()];
        assert_eq!(rows, expected, "the state is of another solver");
        parallel::for_each_chunk_mut(&mut self.nodes, CHUNK, |chunk, to| {
            for (to, &node) in to.iter_mut().zip(&solver.places.node_at[chunk * CHUNK..]) {
                if node != NONE {
                    *to = nodes[node as usize];
                }
            }
        });
    }

    /// Copies nodes back.
    pub(super) fn give_nodes(&self, solver: &Solver, nodes: &mut [Node]) {
        parallel::for_each_chunk_mut(nodes, CHUNK, |chunk, to| {
            for (to, &place) in to.iter_mut().zip(&solver.places.place_of[chunk * CHUNK..]) {
                *to = self.nodes[place as usize];
            }
        });
    }

    /// Copies binds into the solver's order.
    pub(super) fn take_binds(&mut self, solver: &Solver, binds: &[Node], stiffness: &[f32]) {
        assert_eq!(binds.len(), stiffness.len(), "one stiffness per bind");
        if binds.is_empty() {
            return;
        }
        assert_eq!(binds.len(), solver.nodes(), "one bind per node");
        assert_eq!(self.nodes.len(), solver.places.node_at.len(), "the state is of another solver");
        parallel::for_each_chunk_mut(&mut self.bind.numbers, CHUNK / BATCH, |chunk, numbers| {
            let nodes = solver.places.node_at[chunk * CHUNK..].chunks_exact(BATCH);
            for (rows, nodes) in numbers.iter_mut().zip(nodes) {
                for (lane, &node) in nodes.iter().enumerate().filter(|(_, node)| **node != NONE) {
                    let [x, y, z, distance] = binds[node as usize];
                    let own = [x, y, z, distance, stiffness[node as usize]];
                    rows.iter_mut().zip(own).for_each(|(row, number)| row.0[lane] = number);
                }
            }
        });
    }
}
