//! The two baseline skinnings: linear blend and dual quaternions.
//!
//! A [`Skinner`] is prepared once and shared; each moving copy has a [`State`]. All paths and any number of threads
//! give the same bits.

mod bench;
mod dispatch;
mod influences;
mod kernel;
mod morph;
mod pack;
mod plain;
mod rigid;
#[cfg(test)]
mod tests;

pub use bench::{bench_pose, bench_rig};

use crate::asset::{Morph, Surface, Weights};
use crate::parallel;
use crate::rig::SkinMatrix;
use crate::simd::Path;
use glam::Vec3;
use influences::Influences;
use kernel::{Entry, EntryTable, Job, Kernel, NUMBERS};
use morph::Morphed;
use pack::{CHUNK, Kind, Layout, Pack, TABLE, Vectors};
use rigid::Rigid;
use thiserror::Error;

/// Squared lengths between which an f32 vector has a direction: products of its numbers neither vanish nor overflow.
/// A normal outside (a joint scaled to nothing) keeps its rest direction.
const LENGTH_SQUARED_MIN: f32 = 1e-36;
const LENGTH_SQUARED_MAX: f32 = 1e36;

/// How the transforms of several joints become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blend {
    /// Matrices, number by number: `v' = sum_j w_j S_j v`.
    Linear,
    /// Rotation and translation as dual quaternions; scale, applied first, as matrices.
    DualQuaternion,
}

/// Why a skinner cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SkinError {
    /// The path needs instructions that this machine has not got.
    #[error("this machine cannot run the SIMD path '{path}': use one of {}", names(.available))]
    Unavailable {
        /// The path asked for.
        path: Path,
        /// The paths that the machine can run.
        available: Vec<Path>,
    },
    /// Surface and weights that are not of one character.
    #[error("{vertices} vertices with weights for {weighted}: surface and weights must be of one character")]
    Mismatch {
        /// Vertices of the surface.
        vertices: usize,
        /// Vertices that the weights are for.
        weighted: usize,
    },
}

fn names(paths: &[Path]) -> String {
    paths.iter().map(|p| p.name()).collect::<Vec<_>>().join(", ")
}

/// A skin prepared for one blend and one path: shared by all copies of a character.
pub struct Skinner<'a> {
    blend: Blend,
    path: Path,
    surface: &'a Surface,
    slot_count: usize,
    influences: Influences,
    pack: Pack,
    positions: Vec<Vectors>,
    normals: Vec<Vectors>,
    /// None: the plain code.
    kernel: Option<Kernel>,
}

/// What one moving copy of a skin needs from step to step. Reused, so that steps allocate nothing.
pub struct State {
    rigids: Vec<Rigid>,
    entries: Vec<Entry>,
    table: Option<Box<EntryTable>>,
    morphed: Option<Morphed>,
}

impl<'a> Skinner<'a> {
    /// Prepares a skin.
    pub fn new(
        blend: Blend,
        surface: &'a Surface,
        weights: &'a Weights,
        path: Path,
    ) -> Result<Self, SkinError> {
        if !path.is_available() {
            return Err(SkinError::Unavailable { path, available: Path::available() });
        }
        Self::with_kernel(blend, surface, weights, path, dispatch::kernel(blend, path))
    }

    fn with_kernel(
        blend: Blend,
        surface: &'a Surface,
        weights: &'a Weights,
        path: Path,
        kernel: Option<Kernel>,
    ) -> Result<Self, SkinError> {
        let (vertices, weighted) = (surface.positions().len(), weights.vertex_count());
        if vertices != weighted {
            return Err(SkinError::Mismatch { vertices, weighted });
        }
        let mut skinner = Self {
            blend,
            path,
            surface,
            slot_count: weights.slot_count(),
            influences: Influences::new(weights),
            pack: Pack::default(),
            positions: Vec::new(),
            normals: Vec::new(),
            kernel,
        };
        if kernel.is_some() {
            skinner.pack = Pack::new(&skinner.influences, layout(blend, path));
            skinner.positions = Vectors::pack(surface.positions());
            skinner.normals = Vectors::pack(surface.normals());
        }
        Ok(skinner)
    }

    /// How transforms are blended.
    pub fn blend(&self) -> Blend {
        self.blend
    }

    /// The instructions used.
    pub fn path(&self) -> Path {
        self.path
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> usize {
        self.surface.positions().len()
    }

    /// A state for one copy of the skin.
    pub fn state(&self) -> State {
        let few = !self.pack.entries.is_empty() && self.pack.entries.len() <= TABLE;
        let tabled = few && self.pack.kinds.iter().any(|k| matches!(k, Kind::Table(_)));
        State {
            rigids: Vec::with_capacity(self.slot_count),
            entries: vec![Entry([0.0; NUMBERS]); self.pack.entries.len()],
            table: tabled.then(|| Box::new(EntryTable::new(&[], &[]))),
            morphed: None,
        }
    }

    /// Blends morphs into the skin that later steps of this state start from. Costs nothing while all weights stay
    /// zero, and next to nothing while they stay the same.
    pub fn morph(&self, morphs: &[Morph], weights: &[f32], state: &mut State) {
        let idle = weights.iter().all(|&w| w == 0.0) || morphs.is_empty();
        if idle && state.morphed.is_none() {
            return;
        }
        let morphed =
            state.morphed.get_or_insert_with(|| Morphed::new(self.surface, &self.positions, &self.normals));
        morphed.update(self.surface, morphs, weights);
    }

    /// Poses the skin's positions alone, by one matrix per slot.
    ///
    /// # Panics
    /// If `matrices` or `positions` are not of the character's size, or the state is of another skinner.
    pub fn positions(&self, matrices: &[SkinMatrix], state: &mut State, positions: &mut [Vec3]) {
        let step = self.prepare(matrices, state);
        assert_eq!(positions.len(), self.vertex_count(), "one position per vertex");
        parallel::for_each_chunk_mut(positions, CHUNK, |chunk, out| step.run(chunk, out, &mut []));
    }

    /// Poses the skin's positions and unit normals.
    ///
    /// # Panics
    /// As [`Skinner::positions`].
    pub fn positions_and_normals(
        &self,
        matrices: &[SkinMatrix],
        state: &mut State,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        let step = self.prepare(matrices, state);
        assert_eq!(positions.len(), self.vertex_count(), "one position per vertex");
        assert_eq!(normals.len(), self.vertex_count(), "one normal per vertex");
        parallel::for_each_chunk_pair_mut(positions, normals, CHUNK, |chunk, p, n| step.run(chunk, p, n));
    }

    /// What all chunks of a step share.
    fn prepare<'s>(&'s self, matrices: &'s [SkinMatrix], state: &'s mut State) -> Step<'s> {
        assert_eq!(matrices.len(), self.slot_count, "one matrix per slot");
        assert_eq!(state.entries.len(), self.pack.entries.len(), "a state of this skinner");
        let State { rigids, entries, table, morphed } = state;
        if self.blend == Blend::DualQuaternion {
            rigids.clear();
            rigids.extend(matrices.iter().map(Rigid::new));
        }
        for (entry, &[lead, slot]) in entries.iter_mut().zip(&self.pack.entries) {
            let (lead, slot) = (usize::from(lead), usize::from(slot));
            match self.blend {
                Blend::Linear => *entry = matrix_entry(&matrices[slot]),
                Blend::DualQuaternion => *entry = rigid_entry(&rigids[lead], &rigids[slot]),
            }
        }
        // Infinity times a weight of zero would spread to neighbours: the plain code takes such a step.
        let finite = entries.iter().all(|entry| entry.0.iter().all(|x| x.is_finite()));
        if let (Some(table), Some(Kind::Table(list))) = (table.as_deref_mut(), self.pack.kinds.first()) {
            *table = EntryTable::new(list, entries);
        }
        let active = morphed.as_ref().filter(|m| m.is_active());
        Step {
            skinner: self,
            kernel: self.kernel.filter(|_| finite),
            matrices,
            rigids,
            rest_positions: active.map_or(self.surface.positions(), |m| &m.plain_positions),
            rest_normals: active.map_or(self.surface.normals(), |m| &m.plain_normals),
            job: Job {
                pack: &self.pack,
                entries,
                table: table.as_deref(),
                positions: active.map_or(&self.positions, |m| &m.positions),
                normals: active.map_or(&self.normals, |m| &m.normals),
            },
        }
    }
}

/// How a path wants its skin.
fn layout(blend: Blend, path: Path) -> Layout {
    Layout {
        by_lead: blend == Blend::DualQuaternion,
        tables: blend == Blend::Linear && path == Path::Avx512,
        // Found by trying: broadcasting a number is a load on AVX, a load and a shuffle before it.
        sharing: if matches!(path, Path::Sse | Path::Simd128) { 1.0 } else { 2.0 },
    }
}

fn matrix_entry(matrix: &SkinMatrix) -> Entry {
    let mut entry = Entry([0.0; NUMBERS]);
    entry.0[..12].copy_from_slice(matrix.as_flattened());
    entry
}

/// With the sign that the largest influence asks for: found once per pair of slots, not once per vertex.
fn rigid_entry(lead: &Rigid, rigid: &Rigid) -> Entry {
    let sign = if plain::opposed(lead, rigid) { -1.0 } else { 1.0 };
    let mut entry = Entry([0.0; NUMBERS]);
    for i in 0..4 {
        entry.0[i] = sign * rigid.rotation[i];
        entry.0[4 + i] = sign * rigid.dual[i];
    }
    entry.0[8..14].copy_from_slice(&rigid.scale);
    entry
}

/// One step, ready to run chunk by chunk.
struct Step<'a> {
    skinner: &'a Skinner<'a>,
    kernel: Option<Kernel>,
    matrices: &'a [SkinMatrix],
    rigids: &'a [Rigid],
    rest_positions: &'a [Vec3],
    rest_normals: &'a [Vec3],
    job: Job<'a>,
}

impl Step<'_> {
    fn run(&self, chunk: usize, positions: &mut [Vec3], normals: &mut [Vec3]) {
        match self.kernel {
            Some(kernel) if self.skinner.pack.kinds[chunk] != Kind::Plain => {
                // SAFETY: the path was found available when the skinner was made; the job is of this skinner, and the
                // chunk of the output is `chunk`.
                unsafe { kernel(&self.job, chunk, positions, normals) }
            }
            _ => self.plain(chunk * CHUNK, positions, normals),
        }
    }

    /// The reference, from vertex `first` on.
    fn plain(&self, first: usize, positions: &mut [Vec3], normals: &mut [Vec3]) {
        let influences = &self.skinner.influences;
        for (index, position) in positions.iter_mut().enumerate() {
            let vertex = first + index;
            let (rest, rest_normal) = (self.rest_positions[vertex], self.rest_normals[vertex]);
            match self.skinner.blend {
                Blend::Linear => {
                    let blend = plain::linear_blend(influences.of(vertex), self.matrices);
                    *position = plain::linear_position(&blend, rest);
                    if let Some(normal) = normals.get_mut(index) {
                        *normal = plain::linear_normal(&blend, rest_normal);
                    }
                }
                Blend::DualQuaternion => {
                    let lead = &self.rigids[influences.lead(vertex) as usize];
                    let blend = plain::dual_blend(influences.of(vertex), lead, self.rigids);
                    *position = plain::dual_position(&blend, rest);
                    if let Some(normal) = normals.get_mut(index) {
                        *normal = plain::dual_normal(&blend, rest_normal);
                    }
                }
            }
        }
    }
}
