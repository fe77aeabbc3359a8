//! The two baseline skinnings: linear blend and dual quaternions.
//!
//! A [`Skinner`] is prepared once and shared; each moving copy has a [`State`]. All paths and any number of threads
//! give the same bits.

pub mod balls;
mod bench;
mod dispatch;
mod influences;
mod kernel;
pub(crate) mod mesh;
mod morph;
pub mod overlap;
mod pack;
mod plain;
mod rigid;
mod signs;
pub mod smooth;
#[cfg(test)]
mod tests;
pub mod volume;

pub use bench::{bench_pose, bench_rig};
pub(crate) use plain::linear_blend;
pub(crate) use rigid::turn_and_scale;

use crate::asset::{Morph, Surface, Weights};
use crate::parallel;
use crate::rig::SkinMatrix;
use crate::simd::Path;
use dispatch::Kernels;
use glam::Vec3;
use influences::Influences;
use kernel::{Entry, EntryTable, Job, Kernel, NUMBERS};
use morph::Morphed;
use pack::{CHUNK, Kind, Layout, Pack, TABLE, Vectors};
use rigid::Rigid;
use signs::Signs;
use std::borrow::Cow;
use std::ops::Range;
use thiserror::Error;

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
    surface: Cow<'a, Surface>,
    slot_count: usize,
    influences: Influences,
    signs: Signs,
    pack: Pack,
    positions: Vec<Vectors>,
    normals: Vec<Vectors>,
    /// None: the plain code.
    kernels: Option<Kernels>,
}

/// What one moving copy of a skin needs from step to step. Reused, so that steps allocate nothing.
#[derive(Clone)]
pub struct State {
    rigids: Vec<Rigid>,
    unsuited: Vec<u32>,
    entries: Vec<Entry>,
    table: Option<Box<EntryTable>>,
    morphed: Option<Morphed>,
}

impl<'a> Skinner<'a> {
    /// Prepares a skin.
    pub fn new(blend: Blend, surface: &'a Surface, weights: &Weights, path: Path) -> Result<Self, SkinError> {
        if !path.is_available() {
            return Err(SkinError::Unavailable { path, available: Path::available() });
        }
        Self::with_kernels(blend, Cow::Borrowed(surface), weights, path, dispatch::kernels(path))
    }

    /// As [`Skinner::new`], keeping the surface: for points that are no character's skin.
    pub fn owning(
        blend: Blend,
        surface: Surface,
        weights: &Weights,
        path: Path,
    ) -> Result<Skinner<'static>, SkinError> {
        if !path.is_available() {
            return Err(SkinError::Unavailable { path, available: Path::available() });
        }
        Skinner::with_kernels(blend, Cow::Owned(surface), weights, path, dispatch::kernels(path))
    }

    fn with_kernels(
        blend: Blend,
        surface: Cow<'a, Surface>,
        weights: &Weights,
        path: Path,
        kernels: Option<Kernels>,
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
            signs: Signs::default(),
            pack: Pack::default(),
            positions: Vec::new(),
            normals: Vec::new(),
            kernels,
        };
        if kernels.is_some() {
            let surface = &skinner.surface;
            skinner.pack = Pack::new(&skinner.influences, weights.slot_count(), layout(path));
            if blend == Blend::DualQuaternion {
                skinner.signs = Signs::new(&skinner.influences, weights.slot_count());
            }
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
        let tabled = matches!(self.pack.kinds.first(), Some(Kind::Table(_))) && self.slot_count <= TABLE;
        State {
            rigids: Vec::with_capacity(self.slot_count),
            unsuited: Vec::new(),
            entries: Vec::with_capacity(self.slot_count),
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
            state.morphed.get_or_insert_with(|| Morphed::new(&self.surface, &self.positions, &self.normals));
        morphed.update(&self.surface, morphs, weights);
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
        let State { rigids, unsuited, entries, table, morphed } = state;
        entries.clear();
        let (mut scaled, mut redone) = (false, 0);
        match self.blend {
            Blend::Linear => entries.extend(matrices.iter().map(matrix_entry)),
            Blend::DualQuaternion => {
                rigids.clear();
                rigids.extend(matrices.iter().map(Rigid::new));
                scaled = !rigids.iter().all(Rigid::is_unscaled);
                self.signs.align(rigids);
                redone = self.signs.find_unsuited(rigids, unsuited);
                entries.extend(rigids.iter().map(rigid_entry));
            }
        }
        let kernel = self.kernels.map(|kernels| match self.blend {
            Blend::Linear => kernels.linear,
            Blend::DualQuaternion if scaled => kernels.scaled_dual,
            Blend::DualQuaternion => kernels.dual,
        });
        // Infinity times a weight of zero would spread to neighbours: the plain code takes such a step.
        let finite = entries.iter().all(|entry| entry.0.iter().all(|x| x.is_finite()));
        let mostly_suited = redone <= self.vertex_count() / 2;
        let mut table = table.as_deref_mut().filter(|_| self.slot_count <= TABLE);
        if let (Some(table), Some(Kind::Table(list))) = (&mut table, self.pack.kinds.first()) {
            **table = EntryTable::new(list, entries);
        }
        let active = morphed.as_ref().filter(|m| m.is_active());
        Step {
            skinner: self,
            kernel: kernel.filter(|_| finite && mostly_suited),
            scaled,
            matrices,
            rigids,
            unsuited,
            rest_positions: active.map_or(self.surface.positions(), |m| &m.plain_positions),
            rest_normals: active.map_or(self.surface.normals(), |m| &m.plain_normals),
            job: Job {
                pack: &self.pack,
                entries,
                table: table.map(|table| &*table),
                positions: active.map_or(&self.positions, |m| &m.positions),
                normals: active.map_or(&self.normals, |m| &m.normals),
            },
        }
    }
}

/// How a path wants its skin.
fn layout(path: Path) -> Layout {
    Layout {
        tables: path == Path::Avx512,
        // Where both ways took the same time. Broadcasting a number is a load on AVX, a load and a shuffle before it.
        sharing: if matches!(path, Path::Sse | Path::Simd128) { 1.3 } else { 2.25 },
    }
}

fn matrix_entry(matrix: &SkinMatrix) -> Entry {
    let mut entry = Entry([0.0; NUMBERS]);
    entry.0[..12].copy_from_slice(matrix.as_flattened());
    entry
}

fn rigid_entry(rigid: &Rigid) -> Entry {
    let mut entry = Entry([0.0; NUMBERS]);
    entry.0[..4].copy_from_slice(&rigid.rotation);
    entry.0[4..8].copy_from_slice(&rigid.dual);
    entry.0[8..14].copy_from_slice(&rigid.scale);
    entry
}

/// One step, ready to run chunk by chunk.
struct Step<'a> {
    skinner: &'a Skinner<'a>,
    kernel: Option<Kernel>,
    /// Whether any joint has a scale: without, dual quaternions take a shorter way.
    scaled: bool,
    matrices: &'a [SkinMatrix],
    rigids: &'a [Rigid],
    unsuited: &'a [u32],
    rest_positions: &'a [Vec3],
    rest_normals: &'a [Vec3],
    job: Job<'a>,
}

impl Step<'_> {
    fn run(&self, chunk: usize, positions: &mut [Vec3], normals: &mut [Vec3]) {
        let vertices = chunk * CHUNK..chunk * CHUNK + positions.len();
        let Some(kernel) = self.kernel else { return self.plain(vertices, positions, normals) };
        // SAFETY: the path was found available when the skinner was made; the job is of this skinner, with an entry
        // per slot, and the output is that of the chunk.
        unsafe { kernel(&self.job, chunk, positions, normals) }
        if self.skinner.blend == Blend::DualQuaternion {
            for vertex in self.skinner.signs.vertices(self.unsuited, vertices.clone()) {
                let at = vertex - vertices.start;
                let normal = normals.get_mut(at..at + 1).unwrap_or_default();
                self.plain(vertex..vertex + 1, &mut positions[at..at + 1], normal);
            }
        }
    }

    /// The reference. Writes positions, and normals unless that slice is empty.
    fn plain(&self, vertices: Range<usize>, positions: &mut [Vec3], normals: &mut [Vec3]) {
        let influences = &self.skinner.influences;
        match self.skinner.blend {
            Blend::Linear => {
                for (index, vertex) in vertices.enumerate() {
                    let blend = plain::linear_blend(influences.of(vertex), self.matrices);
                    positions[index] = plain::linear_position(&blend, self.rest_positions[vertex]);
                    if let Some(normal) = normals.get_mut(index) {
                        *normal = plain::linear_normal(&blend, self.rest_normals[vertex]);
                    }
                }
            }
            Blend::DualQuaternion => {
                for (index, vertex) in vertices.enumerate() {
                    let lead = &self.rigids[usize::from(influences.lead(vertex))];
                    let blend = plain::dual_blend(influences.of(vertex), lead, self.rigids, self.scaled);
                    let (rest, rest_normal) = (self.rest_positions[vertex], self.rest_normals[vertex]);
                    positions[index] = match self.scaled {
                        true => plain::dual_position(&blend, rest),
                        false => plain::rigid_position(&blend, rest),
                    };
                    if let Some(normal) = normals.get_mut(index) {
                        *normal = match self.scaled {
                            true => plain::dual_normal(&blend, rest_normal),
                            false => plain::rigid_normal(&blend, rest_normal),
                        };
                    }
                }
            }
        }
    }
}
