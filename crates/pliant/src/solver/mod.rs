//! Position-based constraints on the nodes of a tet mesh, projected one after another (Gauss-Seidel).
//!
//! Per unique edge a *stretch* constraint `C = |p1 - p2| - d`; per tet a *volume* constraint
//! `C = (p21 x p31).p41/6 - V`, signed, so that a tet turned inside out comes back; per node a *bind* to a point that
//! rides on a bone, `C = |p - b| - d`, which moves only the node. A projection moves nodes by
//! `dp_i = -k w_i C grad_i / sum_j w_j |grad_j|^2` with inverse masses `w`: nodes of `w = 0` stay (M. Mueller et al.,
//! Position Based Dynamics, 2007). With compliance instead of stiffness the multiplier of each constraint is kept through
//! a solve: `dl = (-C - a l)/(sum_j w_j |grad_j|^2 + a)`, `a` the compliance over the square of the time step
//! (M. Macklin et al., XPBD, 2016).
//!
//! Where a tet has collapsed onto a line its gradients vanish and the step would grow beyond all bounds. The denominator
//! is at least `C^2 sum_j w_j / r^2`, with `r` a multiple of the tet's rest size: so `sum_j |dp_j|^2/w_j` is at most
//! `r^2 / sum_j w_j`, the step fades out as gradients vanish, and a tet near its rest does not feel it. Not taken: a
//! threshold below which nothing is done, which leaves huge steps just above it.
//!
//! Nodes lie in an order that keeps neighbours near, cut into slabs so that a constraint spans at most two neighbours.
//! Even slabs are projected in parallel, then the odd ones: two barriers a sweep, and an order that depends on the mesh
//! alone. A slab goes through its stretch, bind and volume constraints in turn while its nodes are at hand; to finish
//! one kind in all slabs before the next takes twice the barriers and left the same error. Within a slab constraints are fused in
//! clusters that share nodes, and sixteen clusters that share none are taken at a time whatever the width of a register.
//! All paths and any number of threads give the same bits.

mod cluster;
mod dispatch;
mod error;
mod judge;
mod kernel;
mod order;
mod pack;
mod plain;
mod state;
mod strain;
#[cfg(test)]
mod tests;

pub use error::SolverError;
pub use order::renumbering;
pub use state::SolverState;
pub use strain::{Effort, Order, StrainSolver, StrainState, Textbook, layers};

use crate::asset::TetMesh;
use crate::body::{Node, topology};
use crate::parallel;
use crate::simd::Path;
use cluster::Clustering;
use dispatch::Kernels;
use glam::Vec3;
use kernel::Binds;
use order::Slabs;
use pack::{BATCH, Pack, Places};
use state::{Found, Numbers};

/// Shortest length, as a share of the target, at which a constraint has a direction to trust: below, it is noise, and
/// the step fades out.
const DIRECTION_FLOOR: f32 = 1e-6;

/// Compliance from which on a constraint counts as none.
const NO_STIFFNESS: f32 = 1e30;

/// Stiffness for each of `iterations` that together remove the share `k` of an error: `1 - (1 - k)^(1/iterations)`. So the
/// number of iterations is no stiffness.
pub fn per_iteration(k: f64, iterations: u32) -> f32 {
    let k = k.clamp(0.0, 1.0);
    -libm::expm1(libm::log1p(-k) / f64::from(iterations.max(1))) as f32
}

/// What [`Solver::check`] finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    /// Tets whose volume is at most the given share of its target.
    pub flat: usize,
    /// Whether all nodes are numbers.
    pub finite: bool,
}

/// Which constraints a sweep projects.
#[derive(Clone, Copy)]
struct Kinds {
    stretch: bool,
    bind: bool,
    volume: bool,
}

/// Constraints of a mesh, prepared for a path: shared by all copies of a character.
#[derive(Debug)]
pub struct Solver {
    path: Path,
    slabs: usize,
    places: Places,
    stretch: Pack<2>,
    volume: Pack<4>,
    /// None: the plain code.
    kernels: Option<Kernels>,
}

impl Solver {
    /// Prepares a mesh.
    ///
    /// # Panics
    /// If the mesh has more than a thousand million nodes.
    pub fn new(mesh: &TetMesh, path: Path) -> Result<Self, SolverError> {
        if !path.is_available() {
            return Err(SolverError::Unavailable { path });
        }
        Ok(Self::with_kernels(mesh, path, dispatch::kernels(path)))
    }

    /// Prepares nodes that only springs join: unique edges, lower node first, in ascending order.
    pub fn of_springs(nodes: &[Vec3], edges: &[[u32; 2]], path: Path) -> Result<Self, SolverError> {
        if !path.is_available() {
            return Err(SolverError::Unavailable { path });
        }
        let mut joined: Vec<[u32; 2]> = edges.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
        joined.sort_unstable();
        let starts: Vec<[u32; 1]> = joined.iter().map(|e| [e[0]]).collect();
        let neighbours = topology::Lists::group(nodes.len(), &starts).with(|e| joined[e as usize][1]);
        let new_of_old = order::renumbered(&neighbours);
        let slabs = Slabs::new(nodes.len(), &renumber(edges, &new_of_old));
        let places = Places::new(&new_of_old, &slabs);
        let kernels = dispatch::kernels(path);
        let stretch = springs(nodes, edges, &new_of_old, &slabs, &places, kernels.is_none());
        let volume = Pack::new(&new_of_old, &slabs, &places, &[], |_, _: [u32; 4]| 0.0, kernels.is_none());
        Ok(Self { path, slabs: slabs.len(), places, stretch, volume, kernels })
    }

    fn with_kernels(mesh: &TetMesh, path: Path, kernels: Option<Kernels>) -> Self {
        let new_of_old = renumbering(mesh);
        let slabs = Slabs::new(new_of_old.len(), &renumber(mesh.tets(), &new_of_old));
        let places = Places::new(&new_of_old, &slabs);
        let plain = kernels.is_none();
        let stretch = springs(mesh.positions(), &topology::edges(mesh), &new_of_old, &slabs, &places, plain);
        let volume = |tet: u32, nodes| {
            let volume = mesh.volume_of(tet as usize) as f32;
            if same_winding(mesh.tets()[tet as usize], nodes) { volume } else { -volume }
        };
        let volume = Pack::new(&new_of_old, &slabs, &places, mesh.tets(), volume, plain);
        Self { path, slabs: slabs.len(), places, stretch, volume, kernels }
    }

    /// The instructions used.
    pub fn path(&self) -> Path {
        self.path
    }

    /// How many nodes the mesh has.
    pub fn nodes(&self) -> usize {
        self.places.place_of.len()
    }

    /// How many unique edges the mesh has.
    pub fn edges(&self) -> usize {
        self.stretch.count
    }

    /// How many tets the mesh has.
    pub fn tets(&self) -> usize {
        self.volume.count
    }

    /// Memory that is shared by all copies.
    pub fn bytes(&self) -> usize {
        self.places.bytes() + self.stretch.bytes() + self.volume.bytes()
    }

    /// State for one copy: no stiffness, targets at rest.
    pub fn state(&self) -> SolverState {
        SolverState::new(self)
    }

    /// Sets the stretch stiffness of every edge, given its nodes in ascending order: 0 to 1 per iteration; or its compliance over the square
    /// of the time step where the state uses compliance.
    pub fn set_stretch(&self, state: &mut SolverState, stiffness: impl Fn([u32; 2]) -> f32 + Sync) {
        self.for_each(&self.stretch, state.stretch.stiffness_mut(), |nodes, _| stiffness(nodes));
    }

    /// Sets the volume stiffness of every tet, given its nodes in ascending order, as [`Solver::set_stretch`].
    pub fn set_volume(&self, state: &mut SolverState, stiffness: impl Fn([u32; 4]) -> f32 + Sync) {
        // Kernels count in six volumes, and so does their compliance: twice.
        let by = if state.uses_compliance() { 36.0 } else { 1.0 };
        self.for_each(&self.volume, state.volume.stiffness_mut(), |nodes, _| stiffness(nodes) * by);
    }

    /// Sets the length that each edge aims at, given its nodes in ascending order and its rest length.
    pub fn set_lengths(&self, state: &mut SolverState, target: impl Fn([u32; 2], f32) -> f32 + Sync) {
        self.for_each(&self.stretch, state.stretch.targets_mut(), target);
    }

    /// Sets the volume that each tet aims at, given its nodes in ascending order and its rest volume.
    pub fn set_volumes(&self, state: &mut SolverState, target: impl Fn([u32; 4], f32) -> f32 + Sync) {
        self.for_each(&self.volume, state.volume.targets_mut(), |nodes, rest| {
            6.0 * target(nodes, rest.abs()) * 1f32.copysign(rest)
        });
        state.set_limits();
    }

    /// Sets all targets to what they are at rest.
    pub fn reset_targets(&self, state: &mut SolverState) {
        self.set_lengths(state, |_, rest| rest);
        self.set_volumes(state, |_, rest| rest);
    }

    /// Fills in a number for every constraint. Fillers keep theirs.
    fn for_each<const N: usize>(
        &self,
        pack: &Pack<N>,
        numbers: &mut [f32],
        number: impl Fn([u32; N], f32) -> f32 + Sync,
    ) where
        [u32; N]: Clustering<N>,
    {
        let rest: &[f32] = bytemuck::cast_slice(&pack.rest);
        assert_eq!(numbers.len(), rest.len(), "the state is of another solver");
        let first = |slab: usize| pack.starts[slab] as usize * BATCH;
        let (number, whole) = (&number, (0, numbers));
        let cut = |tail, slab| split_at(tail, first(slab));
        parallel::for_each_part(0..self.slabs, whole, cut, |slab, (from, numbers)| {
            pack.for_each(&self.places, slab, |slot, nodes| numbers[slot - from] = number(nodes, rest[slot]));
        });
    }

    /// One tick's projection: `iterations` sweeps of stretch, bind and volume, then `volume_sweeps` of volume alone.
    ///
    /// `binds` has for each node the point on its bone and the distance to keep from it, `bind_stiffness` the stiffness
    /// per iteration (0: none), or the compliance over the square of the time step (infinity: none) where the state uses
    /// compliance. Both may be empty: no binds. Multipliers of compliance start from 0.
    ///
    /// # Panics
    /// If the nodes or binds are not as many as the mesh's nodes, or the state is of another solver.
    pub fn solve(
        &self,
        state: &mut SolverState,
        nodes: &mut [Node],
        binds: &[[f32; 4]],
        bind_stiffness: &[f32],
        iterations: u32,
        volume_sweeps: u32,
    ) {
        let bind = !binds.is_empty();
        self.run(state, nodes, |solver, state| {
            state.take_binds(solver, binds, bind_stiffness);
            state.forget_multipliers();
            for _ in 0..iterations {
                solver.sweep(state, Kinds { stretch: true, bind, volume: true });
            }
            for _ in 0..volume_sweeps {
                solver.sweep(state, Kinds { stretch: false, bind: false, volume: true });
            }
        });
    }

    /// Sweeps of stretch alone.
    ///
    /// # Panics
    /// As [`Solver::solve`].
    pub fn sweep_stretch(&self, state: &mut SolverState, nodes: &mut [Node], sweeps: u32) {
        self.run(state, nodes, |solver, state| {
            (0..sweeps)
                .for_each(|_| solver.sweep(state, Kinds { stretch: true, bind: false, volume: false }));
        });
    }

    /// Sweeps of volume alone, as they close a tick.
    ///
    /// # Panics
    /// As [`Solver::solve`].
    pub fn sweep_volume(&self, state: &mut SolverState, nodes: &mut [Node], sweeps: u32) {
        self.run(state, nodes, |solver, state| {
            (0..sweeps)
                .for_each(|_| solver.sweep(state, Kinds { stretch: false, bind: false, volume: true }));
        });
    }

    /// Sweeps of bind alone.
    ///
    /// # Panics
    /// As [`Solver::solve`].
    pub fn sweep_bind(
        &self,
        state: &mut SolverState,
        nodes: &mut [Node],
        binds: &[[f32; 4]],
        bind_stiffness: &[f32],
        sweeps: u32,
    ) {
        let sweeps = if binds.is_empty() { 0 } else { sweeps };
        self.run(state, nodes, |solver, state| {
            state.take_binds(solver, binds, bind_stiffness);
            (0..sweeps)
                .for_each(|_| solver.sweep(state, Kinds { stretch: false, bind: true, volume: false }));
        });
    }

    /// Runs `work` on the nodes in the solver's order.
    fn run(
        &self,
        state: &mut SolverState,
        nodes: &mut [Node],
        work: impl FnOnce(&Self, &mut SolverState) + Send,
    ) {
        parallel::within(|| {
            state.take_nodes(self, nodes);
            work(self, state);
            state.give_nodes(self, nodes);
        });
    }

    /// Projects each constraint of these kinds once.
    fn sweep(&self, state: &mut SolverState, kinds: Kinds) {
        for parity in 0..2 {
            self.half_sweep(state, kinds, parity);
        }
    }

    /// Every second slab, each with the nodes of the next.
    fn half_sweep(&self, state: &mut SolverState, kinds: Kinds, parity: usize) {
        let SolverState { stretch, volume, bind, nodes, .. } = state;
        let (stretch, stretch_multipliers) = stretch.parts();
        let (volume, volume_multipliers) = volume.parts();
        let whole = Span {
            slab: 0,
            nodes,
            stretch: stretch_multipliers,
            volume: volume_multipliers,
            bind: &mut bind.multipliers,
        };
        let slab_of = |part: usize| (2 * part + parity).min(self.slabs);
        let (_, whole) = whole.cut(self, slab_of(0));
        let parts = (self.slabs - slab_of(0)).div_ceil(2);
        let cut = |span, part| Span::cut(span, self, slab_of(part));
        parallel::for_each_part(0..parts, whole, cut, |part, span| {
            let slab = slab_of(part);
            if kinds.stretch {
                let mut task = stretch.task(&self.stretch, slab, span.stretch);
                match self.kernels {
                    // SAFETY: the path was found available when the solver was made, and the constraints packed for it;
                    // they are on nodes of this slab and the next, which the span holds; the numbers are the slab's.
                    Some(kernels) => unsafe { (kernels.stretch)(&mut task, span.nodes) },
                    None => plain::stretch(&mut task, span.nodes),
                }
            }
            if kinds.bind {
                let own = self.places.slab(slab);
                let (nodes, multipliers) =
                    (&mut span.nodes[..own.len()], own_multipliers(span.bind, own.len()));
                let numbers = &bind.numbers[own.start / BATCH..own.end / BATCH];
                let mut binds = Binds { numbers, multipliers };
                match self.kernels {
                    // SAFETY: as above; a slab's places are whole batches.
                    Some(kernels) => unsafe { (kernels.bind)(&mut binds, nodes) },
                    None => plain::bind(&mut binds, nodes),
                }
            }
            if kinds.volume {
                let mut task = volume.task(&self.volume, slab, span.volume);
                match self.kernels {
                    // SAFETY: as for stretch.
                    Some(kernels) => unsafe { (kernels.volume)(&mut task, span.nodes) },
                    None => plain::volume(&mut task, span.nodes),
                }
            }
        });
    }

    /// The mean of `|C|` over its target, of all stretch and volume constraints.
    ///
    /// # Panics
    /// As [`Solver::solve`].
    pub fn residual(&self, state: &mut SolverState, nodes: &[Node]) -> f32 {
        self.judge(state, nodes, |slab, window, stretch, volume| {
            let (stretch, volume) =
                (stretch.task(&self.stretch, slab, &mut []), volume.task(&self.volume, slab, &mut []));
            let (edges, tets) = match self.kernels {
                // SAFETY: as for sweeps; the window holds the slab's nodes, the next's and more.
                Some(kernels) => unsafe {
                    ((kernels.stretch_errors)(&stretch, window), (kernels.volume_errors)(&volume, window))
                },
                None => (plain::stretch_errors(&stretch, window), plain::volume_errors(&volume, window)),
            };
            Found { sum: edges.iter().chain(&tets).sum(), finite: true }
        });
        let sum: f64 = state.found.iter().map(|slab| slab.sum).sum();
        (sum / (self.edges() + self.tets()) as f64) as f32
    }

    /// Counts the tets whose volume is at most this share of its target, and looks for nodes that are no numbers.
    ///
    /// # Panics
    /// As [`Solver::solve`].
    pub fn check(&self, state: &mut SolverState, nodes: &[Node], share: f32) -> Check {
        self.judge(state, nodes, |slab, window, _, volume| {
            let volume = volume.task(&self.volume, slab, &mut []);
            let flat = match self.kernels {
                // SAFETY: as above.
                Some(kernels) => unsafe { (kernels.flat)(&volume, window, share) },
                None => plain::flat(&volume, window, share),
            };
            // As integers, numbers without their sign are in order, and what is none is above all.
            let own = &window[..self.places.slab(slab).len()];
            let largest = own.iter().flatten().fold(0, |m: u32, x| m.max(x.to_bits() & 0x7fff_ffff));
            Found { sum: flat.iter().sum(), finite: largest < f32::INFINITY.to_bits() }
        });
        let counted: f64 = state.found.iter().map(|slab| slab.sum).sum();
        // Fillers are all flat.
        let fillers = self.volume.slots() - self.tets();
        Check { flat: counted as usize - fillers, finite: state.found.iter().all(|slab| slab.finite) }
    }

    /// Looks at each slab, given its nodes and all after them.
    fn judge(
        &self,
        state: &mut SolverState,
        nodes: &[Node],
        look: impl Fn(usize, &[Node], Numbers<'_>, Numbers<'_>) -> Found + Sync + Send,
    ) {
        parallel::within(|| {
            state.take_nodes(self, nodes);
            let SolverState { stretch, volume, nodes, found, .. } = state;
            let (stretch, volume, nodes) = (stretch.parts().0, volume.parts().0, &nodes[..]);
            parallel::for_each_chunk_mut(found, 1, |slab, found| {
                found[0] = look(slab, &nodes[self.places.starts[slab] as usize..], stretch, volume);
            });
        });
    }
}

/// What joins nodes, in their new order.
fn renumber<const N: usize>(items: &[[u32; N]], new_of_old: &[u32]) -> Vec<[u32; N]> {
    items.iter().map(|item| item.map(|node| new_of_old[node as usize])).collect()
}

/// Constraints on the lengths of edges.
fn springs(
    nodes: &[Vec3],
    edges: &[[u32; 2]],
    new_of_old: &[u32],
    slabs: &Slabs,
    places: &Places,
    plain: bool,
) -> Pack<2> {
    let at = |node: u32| nodes[node as usize].as_dvec3();
    let length = |_, [a, b]: [u32; 2]| at(a).distance(at(b)) as f32;
    Pack::new(new_of_old, slabs, places, edges, length, plain)
}

/// Whether two orders of the same nodes differ by an even number of swaps. By counting: the sign of a computed volume may
/// change with the order where a tet is all but flat.
fn same_winding(mut a: [u32; 4], b: [u32; 4]) -> bool {
    let mut even = true;
    for k in 0..3 {
        if let Some(found) = (k + 1..4).find(|&i| a[i] == b[k] && a[k] != b[k]) {
            a.swap(k, found);
            even = !even;
        }
    }
    even
}

/// The multipliers of a slab's own nodes; none of none.
fn own_multipliers(multipliers: &mut [f32], count: usize) -> &mut [f32] {
    let count = count.min(multipliers.len());
    &mut multipliers[..count]
}

/// Numbers, and the index of the first.
type Tail<'a> = (usize, &'a mut [f32]);

/// Numbers from index `from` on, cut at index `to`.
fn split_at((from, numbers): Tail<'_>, to: usize) -> (Tail<'_>, Tail<'_>) {
    let (before, after) = numbers.split_at_mut(to - from);
    ((from, before), (to, after))
}

/// What a sweep changes, from a slab on. Multipliers are empty where there is stiffness.
struct Span<'a> {
    slab: usize,
    nodes: &'a mut [Node],
    stretch: &'a mut [f32],
    volume: &'a mut [f32],
    bind: &'a mut [f32],
}

impl<'a> Span<'a> {
    /// What lies before a slab, and what lies from it on.
    fn cut(self, solver: &Solver, slab: usize) -> (Self, Self) {
        fn split<'a, T>(
            data: &'a mut [T],
            starts: &[u32],
            from: usize,
            to: usize,
            each: usize,
        ) -> [&'a mut [T]; 2] {
            let at = (starts[to] - starts[from]) as usize * each;
            let (before, after) = data.split_at_mut(at.min(data.len()));
            [before, after]
        }
        let from = self.slab;
        let nodes = split(self.nodes, &solver.places.starts, from, slab, 1);
        let stretch = split(self.stretch, &solver.stretch.starts, from, slab, BATCH);
        let volume = split(self.volume, &solver.volume.starts, from, slab, BATCH);
        let bind = split(self.bind, &solver.places.starts, from, slab, 1);
        let span =
            |slab, nodes: &'a mut [Node], stretch, volume, bind| Self { slab, nodes, stretch, volume, bind };
        let ([n, n2], [s, s2], [v, v2], [b, b2]) = (nodes, stretch, volume, bind);
        (span(from, n, s, v, b), span(slab, n2, s2, v2, b2))
    }
}
