//! Strain constraints on the tets of a mesh, projected one after another (Gauss-Seidel), from the pinned tets outwards.
//!
//! With `F = Ds Dm^-1` and a frame `Q` per tet, the columns of `F Q` are `f_i = Ds c_i`, `c_i` the columns of `Dm^-1 Q`. A
//! tet has seven constraints: *stretch* `C = |f_i| - 1`, *shear* `C = f_i . f_j` (M. Mueller et al., Strain Based Dynamics,
//! 2014) and *volume* `C = det F - 1`, signed, so that a tet turned inside out comes back. Frames are in the columns: they
//! cost nothing.
//!
//! All gradients are sums of `v c_i^T` with some vectors `v`, so a projection adds to the nodes
//! `dp_k = w_k sum_i c_i[k] L_i` (and to the first what keeps the momentum) and to the columns `df_a = sum_i M_ia L_i` with
//! `M_ij = sum_k w_k c_i[k] c_j[k] + w_0 s_i s_j`, `s_i = sum_k c_i[k]`. So the seven constraints of a tet are met one after
//! another, each seeing what those before did, while its nodes are fetched and given back once.
//!
//! Volume is met first. A tet that is inside out is turned by it alone; stretches and shears hold for the mirror image
//! as well, and where they come first they settle the tet there.
//!
//! A tet with one free node may have next to no gradient, and one that has collapsed none at all. Denominators therefore
//! have a share of `w/l^2` added, with the mean inverse mass and the mean rest edge ([`REGULAR`]), and that of volume is
//! at least `C^2 w/l^2` ([`LIMIT`]), which fades out where a tet nears its rest.
//!
//! Layers (J. Cai and F. Lin, 2021): tets whose nodes are all pinned are the first and drop out of the solve; each next
//! layer shares a node with the one before. In consolidating iterations corners that are in a layer before count as
//! heavier, so that what has been done in there is kept. Slabs, as in [`super::Solver`], are swept layer by layer.

mod dispatch;
mod judge;
mod kernel;
mod layers;
mod pack;
mod plain;
mod state;
#[cfg(test)]
mod tests;
mod textbook;

pub use layers::layers;
pub use state::StrainState;
pub use textbook::Textbook;

use super::order::{Slabs, renumbering};
use super::pack::{BATCH, Places};
use super::state::Found;
use super::{Check, SolverError};
use crate::asset::TetMesh;
use crate::body::Node;
use crate::body::topology::NONE;
use crate::parallel;
use crate::simd::Path;
use dispatch::Kernels;
use glam::{DMat3, DVec3, Quat};
use kernel::Kind;
use pack::{Item, Pack, Seven};
use state::Numbers;

/// What is added to denominators, in `w/l^2` with the mean inverse mass of a tet and its mean rest edge. A full tet's are
/// about 2: it takes 1 % of a step. Without it a node that is alone free in its tet jumps by many edges.
const REGULAR: f64 = 0.02;

/// How far a tet may move for its volume, as the denominator's least number: `C^2` times this of what [`REGULAR`] adds is
/// `C^2 w/l^2`, a step of an edge.
const LIMIT: f32 = 50.0;

/// Columns of the shear constraints.
const SHEARS: [[usize; 2]; 3] = [[0, 1], [0, 2], [1, 2]];

/// Constraints of a tet.
const SEVEN: usize = 7;

/// Which of them is volume.
const VOLUME: usize = 6;

/// In which order tets are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// From the pinned tets outwards.
    #[default]
    Layered,
    /// As they lie; no iteration consolidates. To compare with.
    Unordered,
}

/// What a solve does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Sweeps of all constraints.
    pub iterations: u32,
    /// How many of them, the first ones, consolidate.
    pub consolidating: u32,
    /// How many times as heavy nodes of finished layers count then: 15 usually.
    pub mass_gain: f32,
    /// Closing sweeps of volume alone.
    pub volume_sweeps: u32,
}

/// Strain constraints of a mesh, prepared for a path: shared by all copies of a character.
#[derive(Debug)]
pub struct StrainSolver {
    path: Path,
    slabs: usize,
    places: Places,
    /// Of each node of the mesh.
    pinned: Vec<bool>,
    pack: Pack,
    tets: usize,
    layers: usize,
    /// None: the plain code.
    kernels: Option<Kernels>,
}

impl StrainSolver {
    /// Prepares a mesh. Nodes that are `pinned` never move, whatever their inverse mass. Each tet may have a frame, whose
    /// axes are then what its three stretches and shears are along; else those of the world at rest.
    ///
    /// # Panics
    /// If the mesh has more than a thousand million nodes.
    pub fn new(
        mesh: &TetMesh,
        pinned: &[bool],
        frames: Option<&[Quat]>,
        order: Order,
        path: Path,
    ) -> Result<Self, SolverError> {
        if !path.is_available() {
            return Err(SolverError::Unavailable { path });
        }
        Self::with_kernels(mesh, pinned, frames, order, path, dispatch::kernels(path))
    }

    fn with_kernels(
        mesh: &TetMesh,
        pinned: &[bool],
        frames: Option<&[Quat]>,
        order: Order,
        path: Path,
        kernels: Option<Kernels>,
    ) -> Result<Self, SolverError> {
        let (nodes, tets) = (mesh.positions().len(), mesh.tets().len());
        if pinned.len() != nodes {
            return Err(SolverError::Count { what: "pinned flags", found: pinned.len(), expected: nodes });
        }
        if let Some(frames) = frames {
            if frames.len() != tets {
                return Err(SolverError::Count { what: "frames", found: frames.len(), expected: tets });
            }
            // As near to a rotation as f32 gets; the exact one is made of it.
            let is_rotation = |q: &Quat| (q.length_squared() - 1.0).abs() < 1e-3;
            if let Some(tet) = frames.iter().position(|q| !is_rotation(q)) {
                return Err(SolverError::Frame { tet });
            }
        }
        let distances = layers::distances(mesh, pinned);
        let layers = layers::of_distances(mesh, pinned, &distances);
        let item = |tet: usize| {
            let (nodes, layer) = (mesh.tets()[tet], layers[tet]);
            // A node's first layer is its distance, and at least 1.
            let is_finished = |node: u32| distances[node as usize].max(1) < layer;
            let finished = nodes.iter().fold(0, |bits, &node| 2 * bits + u8::from(is_finished(node)));
            let columns = columns(mesh, tet, frames.map(|frames| frames[tet]));
            match order {
                Order::Layered => Item { tet: tet as u32, nodes, layer, finished, columns },
                Order::Unordered => Item { tet: tet as u32, nodes, layer: 1, finished: 0, columns },
            }
        };
        let items: Vec<Item> = (0..tets).filter(|&tet| layers[tet] > 0).map(item).collect();
        let new_of_old = renumbering(mesh);
        let renumbered: Vec<[u32; 4]> =
            items.iter().map(|item| item.nodes.map(|node| new_of_old[node as usize])).collect();
        let slabs = Slabs::new(new_of_old.len(), &renumbered);
        let places = Places::new(&new_of_old, &slabs);
        let pack = Pack::new(&items, &new_of_old, &slabs, &places, kernels.is_none());
        let layers = items.iter().map(|item| item.layer as usize).max().unwrap_or(0);
        Ok(Self { path, slabs: slabs.len(), places, pinned: pinned.to_vec(), pack, tets, layers, kernels })
    }

    /// The instructions used.
    pub fn path(&self) -> Path {
        self.path
    }

    /// How many nodes the mesh has.
    pub fn nodes(&self) -> usize {
        self.pinned.len()
    }

    /// How many tets the mesh has.
    pub fn tets(&self) -> usize {
        self.tets
    }

    /// How many tets have a node that is not pinned: the others are not solved.
    pub fn free_tets(&self) -> usize {
        self.pack.count
    }

    /// How many layers of free tets there are.
    pub fn layer_count(&self) -> usize {
        self.layers
    }

    /// Memory that is shared by all copies.
    pub fn bytes(&self) -> usize {
        self.places.bytes() + self.pack.bytes() + size_of_val(&self.pinned[..])
    }

    /// The free tets in the order in which a sweep projects them.
    pub fn sequence(&self) -> Vec<u32> {
        let slabs = (0..self.slabs).step_by(2).chain((1..self.slabs).step_by(2));
        let slots = slabs.flat_map(|slab| {
            let batches = self.pack.slab(slab);
            &self.pack.tet_at[batches.start * BATCH..batches.end * BATCH]
        });
        slots.copied().filter(|&tet| tet != NONE).collect()
    }

    /// State for one copy: no stiffness.
    pub fn state(&self) -> StrainState {
        StrainState::new(self)
    }

    /// Sets the stiffness of every free tet: stretch along axes 1, 2 and 3, shear between axes 12, 13 and 23, volume; 0 to 1
    /// per iteration, or compliance over the square of the time step where the state uses compliance.
    ///
    /// # Panics
    /// If the state is of another solver.
    pub fn set_stiffness(&self, state: &mut StrainState, stiffness: impl Fn(usize) -> [f32; 7] + Sync) {
        state.check(self);
        let StrainState { stiffness: blocks, block_of, .. } = state;
        let whole = (0, &mut blocks[..], &mut block_of[..]);
        let cut = |blocks, slab| cut_blocks(blocks, self.pack.starts[slab] as usize);
        let stiffness = &stiffness;
        parallel::for_each_part(0..self.slabs, whole, cut, |slab, (_, blocks, block_of)| {
            let batches = self.pack.slab(slab);
            // The last block of which all lanes agree.
            let mut uniform: Option<(u32, [f32; SEVEN])> = None;
            for (at, batch) in batches.enumerate() {
                let tets = &self.pack.tet_at[batch * BATCH..(batch + 1) * BATCH];
                // The first lane is never a filler; fillers take its numbers.
                let first = stiffness(tets[0] as usize);
                let rows = &mut blocks[at];
                let mut agree = true;
                for (lane, &tet) in tets.iter().enumerate() {
                    let own = if lane == 0 || tet == NONE { first } else { stiffness(tet as usize) };
                    agree &= own == first;
                    (0..SEVEN).for_each(|k| rows[k].0[lane] = own[k]);
                }
                block_of[at] = match uniform {
                    Some((block, numbers)) if agree && numbers == first => block,
                    _ => at as u32,
                };
                if agree && block_of[at] == at as u32 {
                    uniform = Some((at as u32, first));
                }
            }
        });
    }

    /// Sets by how much the rest lengths of every free tet are larger than the mesh's. The first call takes memory for it.
    ///
    /// # Panics
    /// If the state is of another solver.
    pub fn set_scale(&self, state: &mut StrainState, scale: impl Fn(usize) -> f32 + Sync) {
        state.check(self);
        if state.scaled.is_empty() {
            state.scaled = self.pack.columns.clone();
        }
        state.forget_grams();
        parallel::for_each_chunk_mut(&mut state.scaled, BATCH, |chunk, to| {
            for (index, to) in to.iter_mut().enumerate() {
                let batch = chunk * BATCH + index;
                for lane in 0..BATCH {
                    let tet = self.pack.tet_at[batch * BATCH + lane];
                    if tet == NONE {
                        continue;
                    }
                    let by = 1.0 / scale(tet as usize);
                    for (k, row) in to.iter_mut().enumerate() {
                        let by = if k < 9 { by } else { by * by };
                        row.0[lane] = self.pack.columns[batch][k].0[lane] * by;
                    }
                }
            }
        });
    }

    /// One tick's projection. Multipliers of compliance start from 0.
    ///
    /// # Panics
    /// If the nodes are not as many as the mesh's, or the state is of another solver.
    pub fn solve(&self, state: &mut StrainState, nodes: &mut [Node], effort: Effort) {
        let lighter = 1.0 / effort.mass_gain.max(1.0);
        parallel::within(|| {
            state.take_nodes(self, nodes);
            state.forget_multipliers();
            for iteration in 0..effort.iterations {
                let kind = if iteration < effort.consolidating { Kind::Consolidating } else { Kind::All };
                state.weigh(self, kind, lighter);
                self.sweep(state, kind, lighter);
            }
            for _ in 0..effort.volume_sweeps {
                state.weigh(self, Kind::Volume, lighter);
                self.sweep(state, Kind::Volume, lighter);
            }
            state.give_nodes(self, nodes);
        });
    }

    /// Projects each tet once: even slabs, each with the nodes of the next, then odd ones. Where there are enough of them
    /// for all threads, two at a time.
    fn sweep(&self, state: &mut StrainState, kind: Kind, lighter: f32) {
        for parity in 0..2 {
            let (numbers, multipliers, nodes, _) = state.parts(self, lighter);
            let slab_of = |index: usize| (2 * index + parity).min(self.slabs);
            let whole = Span { slab: 0, nodes, multipliers };
            let (_, whole) = whole.cut(self, slab_of(0));
            let count = (self.slabs - slab_of(0)).div_ceil(2);
            let sweep_two = self.kernels.and_then(|kernels| kernels.sweep_two);
            let sweep_two = sweep_two.filter(|_| count >= 2 * parallel::threads());
            let each = if sweep_two.is_some() { 2 } else { 1 };
            let cut = |span, part| Span::cut(span, self, slab_of(each * part));
            parallel::for_each_part(0..count.div_ceil(each), whole, cut, |part, span| {
                let [first, second] = [slab_of(each * part), slab_of(each * part + 1)];
                if let Some(sweep_two) = sweep_two.filter(|_| second < self.slabs) {
                    let (a, b) = span.cut(self, second);
                    let tasks = [
                        &mut numbers.task(first, kind, a.multipliers),
                        &mut numbers.task(second, kind, b.multipliers),
                    ];
                    // SAFETY: as below, and slabs with another between them share no node.
                    return unsafe { sweep_two(tasks, kind, [a.nodes, b.nodes]) };
                }
                let mut task = numbers.task(first, kind, span.multipliers);
                match self.kernels {
                    // SAFETY: the path was found available when the solver was made, and the tets packed for it; they are
                    // on nodes of this slab and the next, which the span holds; the numbers are the slab's.
                    Some(kernels) => unsafe { (kernels.sweep)(&mut task, kind, span.nodes) },
                    None => plain::sweep(&mut task, kind, span.nodes),
                }
            });
        }
    }

    /// The mean of `|C|` over all seven constraints of all free tets, whatever their stiffness.
    ///
    /// # Panics
    /// As [`StrainSolver::solve`].
    pub fn residual(&self, state: &mut StrainState, nodes: &[Node]) -> f32 {
        let sum = self.judge(state, nodes, |slab, window, numbers| {
            let task = numbers.task(slab, Kind::All, &mut []);
            let errors = match self.kernels {
                // SAFETY: as for sweeps; the window holds the slab's nodes, the next's and more.
                Some(kernels) => unsafe { (kernels.errors)(&task, window) },
                None => plain::errors(&task, window),
            };
            Found { sum: errors.iter().sum(), finite: true }
        });
        (sum.0 / (SEVEN * self.free_tets()).max(1) as f64) as f32
    }

    /// Counts the free tets whose volume is at most this share of what they aim at, and looks for nodes that are no
    /// numbers.
    ///
    /// # Panics
    /// As [`StrainSolver::solve`].
    pub fn check(&self, state: &mut StrainState, nodes: &[Node], share: f32) -> Check {
        let (flat, finite) = self.judge(state, nodes, |slab, window, numbers| {
            let task = numbers.task(slab, Kind::All, &mut []);
            let flat = match self.kernels {
                // SAFETY: as above.
                Some(kernels) => unsafe { (kernels.flat)(&task, window, share) },
                None => plain::flat(&task, window, share),
            };
            // As integers, numbers without their sign are in order, and what is none is above all.
            let own = &window[..self.places.slab(slab).len()];
            let largest = own.iter().flatten().fold(0, |m: u32, x| m.max(x.to_bits() & 0x7fff_ffff));
            Found { sum: flat.iter().sum(), finite: largest < f32::INFINITY.to_bits() }
        });
        Check { flat: flat as usize, finite }
    }

    /// Looks at each slab, given its nodes and all after them: the sum, and whether all is numbers.
    fn judge(
        &self,
        state: &mut StrainState,
        nodes: &[Node],
        look: impl Fn(usize, &[Node], Numbers<'_>) -> Found + Sync + Send,
    ) -> (f64, bool) {
        parallel::within(|| {
            state.take_nodes(self, nodes);
            let (numbers, _, nodes, found) = state.parts(self, 1.0);
            let nodes = &nodes[..];
            parallel::for_each_chunk_mut(found, 1, |slab, found| {
                found[0] = look(slab, &nodes[self.places.starts[slab] as usize..], numbers);
            });
            (found.iter().map(|slab| slab.sum).sum(), found.iter().all(|slab| slab.finite))
        })
    }
}

/// `Dm^-1 Q` column by column, and the share of the summed inverse masses that is added to denominators.
fn columns(mesh: &TetMesh, tet: usize, frame: Option<Quat>) -> [f32; 10] {
    let corners = mesh.corners(tet);
    let [a, b, c, d] = corners;
    let frame = frame.map_or(DMat3::IDENTITY, |q| DMat3::from_quat(q.as_dquat().normalize()));
    let columns = DMat3::from_cols(b - a, c - a, d - a).inverse() * frame;
    let edges = [a - b, a - c, a - d, b - c, b - d, c - d].map(DVec3::length);
    let edge = edges.iter().sum::<f64>() / 6.0;
    let mut numbers = [0.0; 10];
    numbers[..9].iter_mut().zip(columns.to_cols_array()).for_each(|(to, number)| *to = number as f32);
    numbers[9] = (REGULAR / (4.0 * edge * edge)) as f32;
    numbers
}

/// Blocks of stiffness and which batch reads which, from a batch on.
type Blocks<'a> = (usize, &'a mut [Seven], &'a mut [u32]);

/// What lies before a batch, and what lies from it on.
fn cut_blocks((from, blocks, block_of): Blocks<'_>, to: usize) -> (Blocks<'_>, Blocks<'_>) {
    let (blocks, blocks_after) = blocks.split_at_mut(to - from);
    let (block_of, block_of_after) = block_of.split_at_mut(to - from);
    ((from, blocks, block_of), (to, blocks_after, block_of_after))
}

/// What lies before an index, and what lies from it on; an index beyond the end is the end.
fn slice_at<T>(data: &mut [T], at: usize) -> (&mut [T], &mut [T]) {
    let at = at.min(data.len());
    data.split_at_mut(at)
}

/// What a sweep changes, from a slab on. Multipliers are empty where there is stiffness.
struct Span<'a> {
    slab: usize,
    nodes: &'a mut [Node],
    multipliers: &'a mut [Seven],
}

impl Span<'_> {
    /// What lies before a slab, and what lies from it on.
    fn cut(self, solver: &StrainSolver, slab: usize) -> (Self, Self) {
        let between = |starts: &[u32]| (starts[slab] - starts[self.slab]) as usize;
        let (nodes, nodes_after) = slice_at(self.nodes, between(&solver.places.starts));
        let (own, after) = slice_at(self.multipliers, between(&solver.pack.starts));
        (
            Self { slab: self.slab, nodes, multipliers: own },
            Self { slab, nodes: nodes_after, multipliers: after },
        )
    }
}
