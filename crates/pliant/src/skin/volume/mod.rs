//! Volume kept exactly, joint by joint, by moving the skinned skin as little as that takes.
//!
//! In each region (see `regions.rs`) minimise `sum a_k rho_k^2 / gamma_k` subject to `V(x + rho n) = V0`, with `a_k` the
//! rest area and `gamma_k` the correction map of a point. The gradient of the volume at a point is a third of the vector
//! area around it, which is also the way of its normal: `rho n = s (gamma / a) A` in closed form. Borders of regions are
//! held, and their fans with them: on rigid skin there is nothing to move, and a border that moved would show where regions
//! go by different `s`. So regions have no unknowns in common, and their Gram matrix is its diagonal.
//!
//! Along one step `V(x + t d)` is a cubic in `t`; values and slopes at both ends give it exactly, so that the length that
//! meets the volume is found without further looks at the skin.
//!
//! A [`Volume`] is prepared once and shared; each moving copy has a [`VolumeState`].

mod dispatch;
mod kernel;
mod map;
mod pack;
mod plain;
mod regions;
mod solve;
mod target;

pub use map::Map;

use super::SkinError;
use super::mesh::{Mesh, OnBone, SlotBones, smooth_step};
use crate::asset::Character;
use crate::parallel;
use crate::rig::SkinMatrix;
use crate::simd::Path;
use dispatch::Kernels;
use glam::Vec3;
use kernel::{Row, Sums, WeighJob};
use pack::{BATCH, CHUNK, Pack};
use regions::{NONE, Regions};
use target::Targets;

/// Activity is whole where the bones' ways are this far apart, over the limb's radius.
const ACTIVE: f64 = 0.1;
/// Bones whose ways are apart by less than this, over the diagonal, have not moved: rounding of f32 matrices.
const STILL: f64 = 2e-6;
/// Radii from a region's border over which flesh in contact begins to give way.
const FROM_HELD: f64 = 1.5;
/// Vertices a task when positions are read and written.
const SHOWN: usize = 2048;
/// A point of less than this share of the mean area counts as this: one sliver is not thrown for its neighbours.
const LEAST_AREA: f64 = 0.1;

/// What a correction is prepared with.
pub struct Options<'a> {
    /// What the skin gives way by.
    pub map: Map,
    /// Power of `1 - w_max`.
    pub alpha: f64,
    /// Power of the distance to the bone.
    pub beta: f64,
    /// Half-steps of smoothing of the map over the skin.
    pub smoothing: u32,
    /// Away from the bone, in place of along the normal.
    pub away: bool,
    /// A number for each vertex that the map is multiplied by.
    pub painted: Option<&'a [f32]>,
    /// For each slot a number of its joint: those of one number are one joint.
    pub joint_of_slot: Vec<u16>,
    /// For each slot whether its joint is left out: nothing is corrected between it and others.
    pub left_out: Vec<bool>,
    /// Vertices that may give way beside those of the map, where they are in contact.
    pub gives: Vec<u32>,
}

/// A vertex in contact with other skin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// The first vertex of a point.
    pub vertex: u32,
    /// How much of the volume that contact has displaced it takes.
    pub give: f32,
    /// The share of it that stays where it is.
    pub hold: f32,
}

impl Options<'_> {
    /// Defaults for a character.
    pub fn new(character: &Character) -> Self {
        let slots = character.slots();
        // A joint that several skins bind has a slot in each.
        let first = |joint: u32| slots.iter().position(|s| s.joint == joint).unwrap_or(0) as u16;
        Self {
            map: Map::Organic,
            alpha: 0.5,
            beta: 2.0,
            smoothing: 8,
            away: false,
            painted: None,
            joint_of_slot: slots.iter().map(|s| first(s.joint)).collect(),
            left_out: vec![false; slots.len()],
            gives: Vec::new(),
        }
    }
}

/// A correction prepared for a character: shared by all its copies.
pub struct Volume {
    kernels: Kernels,
    pack: Pack,
    targets: Targets,
    /// Per place: map over area, what it gives way in contact over area, cap of a step, one over the distance of full
    /// activity.
    gammas: Vec<f32>,
    gives: Vec<f32>,
    caps: Vec<f32>,
    rates: Vec<f32>,
    region_of_place: Vec<u32>,
    rest: Vec<Row>,
    /// Slots and weights of places, sixteen side by side.
    influences: Influences,
    /// Where each place's flesh hangs on a bone, for corrections away from it.
    hooks: Option<Vec<(u16, Vec3)>>,
    vertex_of_place: Vec<u32>,
    /// The place of each vertex that a correction moves or turns, else [`NONE`].
    place_of_vertex: Vec<u32>,
    still: f32,
    warnings: Vec<String>,
}

#[derive(Default)]
struct Influences {
    starts: Vec<u32>,
    slots: Vec<u32>,
    shares: Vec<f32>,
}

/// What one moving copy needs from step to step. Reused, so that steps allocate nothing.
pub struct VolumeState {
    points: Vec<Row>,
    areas: Vec<Row>,
    /// Areas before the correction.
    areas_before: Vec<Row>,
    moves: Vec<Row>,
    weights: Vec<f32>,
    away: Option<Vec<Row>>,
    /// Per run: of the last look, and of the last step.
    looks: Vec<Sums>,
    steps: Vec<Sums>,
    regions: Vec<Region>,
    origins: Vec<Row>,
    scales: Vec<f32>,
    active: Vec<bool>,
    /// Regions that any step of the frame has changed.
    touched: Vec<bool>,
    target: target::State,
}

/// One region in a frame.
#[derive(Debug, Clone, Copy, Default)]
struct Region {
    /// What fans add to 18 volumes.
    fans: f64,
    volume: f64,
    gram: f64,
    /// 18 volumes at the end of a step.
    end: f64,
    /// Slopes at both ends of a step.
    slopes: [f64; 2],
}

/// How a correction went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Corrected {
    /// Volume that was missing (or too much), over the volume there should be.
    pub before: f64,
    /// The same afterwards.
    pub left: f64,
}

impl Volume {
    /// Prepares a correction.
    pub fn new(character: &Character, options: &Options<'_>, path: Path) -> Result<Self, SkinError> {
        if !path.is_available() {
            return Err(SkinError::Unavailable { path, available: Path::available() });
        }
        let mesh = Mesh::new(character);
        let part_of = |vertex: u32| {
            let part = character.parts().iter().find(|p| p.vertices.contains(&vertex));
            part.map_or(String::new(), |p| p.name.clone())
        };
        let soft = map::softness(&mesh, options);
        let regions = Regions::new(&mesh, &soft, &part_of);
        let bones = SlotBones::new(character);
        let near: Vec<OnBone> = parallel::map(mesh.len(), |p| bones.nearest(mesh.points[p], mesh.weights(p)));
        let diagonal = character.diagonal();
        let radius = radii(&mesh, &near, character.slots().len(), diagonal);
        let gamma = map::map(&mesh, &regions, &soft, &near, &radius, options);
        let mut moves: Vec<bool> = gamma.iter().map(|&g| g > 0.0).collect();
        options.gives.iter().for_each(|&v| moves[mesh.point_of_vertex[v as usize] as usize] = true);
        moves.iter_mut().zip(&regions.held).for_each(|(moves, held)| *moves &= !held);
        let pack = Pack::new(&mesh, &regions, &moves);
        let mean = mesh.areas.iter().sum::<f64>() / mesh.len().max(1) as f64;
        let of_place = |value: &dyn Fn(usize) -> f64| -> Vec<f32> {
            let places = pack.point_of_place.iter().zip(&pack.filler);
            places.map(|(&p, &filler)| if filler { 0.0 } else { value(p as usize) as f32 }).collect()
        };
        // Flesh of no area is left out, and what is held.
        let per_area = |p: usize| {
            let counts = mesh.areas[p] > 1e-6 * mean && !regions.held[p];
            if counts { 1.0 / mesh.areas[p].max(LEAST_AREA * mean) } else { 0.0 }
        };
        let from_held = regions::from_held(&mesh, &regions.held);
        let gammas = of_place(&|p| gamma[p] * per_area(p));
        let mut region_of_place = vec![NONE; pack.len()];
        let mut moving = vec![false; pack.len()];
        for run in &pack.runs {
            for place in run.batches.start * BATCH..run.batches.end * BATCH {
                (region_of_place[place], moving[place]) = (run.region, run.moving);
            }
        }
        let place_of = |&point: &u32| {
            let place = pack.place_of_point[point as usize];
            if place != NONE && moving[place as usize] { place } else { NONE }
        };
        Ok(Self {
            kernels: dispatch::kernels(path),
            targets: Targets::new(character, &mesh, &regions),
            gives: of_place(&|p| per_area(p) * smooth_step(from_held[p] / (FROM_HELD * radius[p]))),
            caps: of_place(&|p| near[p].distance),
            rates: of_place(&|p| 1.0 / (ACTIVE * radius[p])),
            rest: pack.point_of_place.iter().map(|&p| row(mesh.points[p as usize].as_vec3())).collect(),
            influences: Influences::new(&mesh, &pack, &gammas),
            hooks: options.away.then(|| {
                let hook = |&p: &u32| (near[p as usize].slot, near[p as usize].point.as_vec3());
                pack.point_of_place.iter().map(hook).collect()
            }),
            vertex_of_place: pack.point_of_place.iter().map(|&p| mesh.vertex_of_point[p as usize]).collect(),
            place_of_vertex: mesh.point_of_vertex.iter().map(place_of).collect(),
            still: (STILL * diagonal) as f32,
            warnings: regions.warnings,
            gammas,
            region_of_place,
            pack,
        })
    }

    /// What was odd about the skin, in words.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether some of the skin has no volume of its own: it is open.
    pub fn is_open(&self) -> bool {
        !self.warnings.is_empty()
    }

    /// How many regions keep their volumes.
    pub fn region_count(&self) -> usize {
        self.pack.origins.len()
    }

    /// A state for one copy.
    pub fn state(&self) -> VolumeState {
        let (places, apexes, regions) = (self.pack.len(), self.pack.apexes.len(), self.region_count());
        let zeros = vec![[0.0; 4]; places];
        VolumeState {
            points: vec![[0.0; 4]; places + apexes],
            areas: zeros.clone(),
            areas_before: zeros.clone(),
            moves: zeros.clone(),
            weights: vec![0.0; places],
            away: self.hooks.as_ref().map(|_| zeros),
            looks: vec![Sums::default(); self.pack.runs.len()],
            steps: vec![Sums::default(); self.pack.runs.len()],
            regions: vec![Region::default(); regions],
            origins: Vec::with_capacity(regions),
            scales: vec![0.0; regions],
            active: vec![false; regions],
            touched: vec![false; regions],
            target: self.targets.state(&self.rest),
        }
    }

    /// Corrects skinned positions, and turns normals along. `contacts` are vertices with how much each gives way beside what
    /// the map says, and the share of it that is held.
    ///
    /// # Panics
    /// If matrices, positions or normals are not of the character's size, or the state is of another correction.
    pub fn correct(
        &self,
        matrices: &[SkinMatrix],
        morph_weights: &[f32],
        contacts: impl Iterator<Item = Contact> + Clone,
        state: &mut VolumeState,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) -> Corrected {
        if self.pack.runs.is_empty() {
            return Corrected::default();
        }
        self.read(positions, state);
        self.targets.set(&self.pack, matrices, morph_weights, &mut state.target);
        self.weigh(matrices, state);
        for contact in contacts.clone().filter(|c| c.give > 0.0) {
            let place = self.place_of_vertex[contact.vertex as usize] as usize;
            if let Some(weight) = state.weights.get_mut(place) {
                *weight += contact.give * self.gives[place];
            }
        }
        for contact in contacts.filter(|c| c.hold > 0.0) {
            let place = self.place_of_vertex[contact.vertex as usize] as usize;
            if let Some(weight) = state.weights.get_mut(place) {
                *weight *= 1.0 - contact.hold;
            }
        }
        let corrected = self.solve(state);
        self.write(state, positions, normals);
        corrected
    }

    /// How far the volume of positions is off, over what it should be.
    ///
    /// # Panics
    /// As [`Volume::correct`].
    pub fn off(
        &self,
        matrices: &[SkinMatrix],
        morph_weights: &[f32],
        state: &mut VolumeState,
        positions: &[Vec3],
    ) -> f64 {
        if self.pack.runs.is_empty() {
            return 0.0;
        }
        self.read(positions, state);
        self.targets.set(&self.pack, matrices, morph_weights, &mut state.target);
        self.measure(state)
    }

    /// The skinned places.
    fn read(&self, positions: &[Vec3], state: &mut VolumeState) {
        let places = self.pack.len();
        let vertices = &self.vertex_of_place;
        parallel::for_each_chunk_mut(&mut state.points[..places], SHOWN, |chunk, points| {
            for (point, &vertex) in points.iter_mut().zip(&vertices[chunk * SHOWN..]) {
                *point = row(positions[vertex as usize]);
            }
        });
        for (apex, around) in self.pack.apexes.iter().enumerate() {
            let sum = around.iter().map(|&p| at(&state.points[p as usize]).as_dvec3()).sum::<glam::DVec3>();
            state.points[places + apex] = row((sum / around.len().max(1) as f64).as_vec3());
        }
    }

    /// How much each place takes.
    fn weigh(&self, matrices: &[SkinMatrix], state: &mut VolumeState) {
        let job = WeighJob {
            starts: &self.influences.starts,
            slots: &self.influences.slots,
            shares: &self.influences.shares,
            matrices,
            rest: state.target.rest(&self.rest),
            points: &state.points,
            gammas: &self.gammas,
            rates: &self.rates,
            still: self.still,
        };
        parallel::for_each_chunk_mut(&mut state.weights, CHUNK * BATCH, |chunk, weights| {
            for (k, weights) in weights.chunks_exact_mut(BATCH).enumerate() {
                let batch = chunk * CHUNK + k;
                if job.starts[batch] < job.starts[batch + 1] {
                    // SAFETY: the path was found available; slots are those of the character, whose matrices these are.
                    unsafe { (self.kernels.weigh)(&job, batch, weights) }
                } else {
                    weights.fill(0.0);
                }
            }
        });
        if let (Some(hooks), Some(away)) = (&self.hooks, &mut state.away) {
            let points = &state.points;
            parallel::for_each_chunk_mut(away, SHOWN, |chunk, away| {
                for (k, away) in away.iter_mut().enumerate() {
                    let (slot, hook) = hooks[chunk * SHOWN + k];
                    let [a, b, c] = &matrices[slot as usize];
                    let number = |m: &[f32; 4]| m[0] * hook.x + m[1] * hook.y + m[2] * hook.z + m[3];
                    let from = Vec3::new(number(a), number(b), number(c));
                    *away = row((at(&points[chunk * SHOWN + k]) - from).normalize_or_zero());
                }
            });
        }
    }

    /// The corrected places; normals turn as those of the welded skin do.
    fn write(&self, state: &VolumeState, positions: &mut [Vec3], normals: &mut [Vec3]) {
        parallel::for_each_chunk_pair_mut(positions, normals, SHOWN, |chunk, positions, normals| {
            let places = &self.place_of_vertex[chunk * SHOWN..];
            for ((position, normal), &place) in positions.iter_mut().zip(normals).zip(places) {
                if place == NONE || !state.touched[self.region_of_place[place as usize] as usize] {
                    continue;
                }
                let place = place as usize;
                *position = at(&state.points[place]);
                let turned = *normal + at(&state.moves[place]);
                let square = turned.length_squared();
                if square > 1e-12 {
                    *normal = turned * (1.0 / square.sqrt());
                }
            }
        });
    }
}

impl Influences {
    fn new(mesh: &Mesh, pack: &Pack, gammas: &[f32]) -> Self {
        let mut all = Self::default();
        for batch in 0..pack.batch_count() {
            all.starts.push((all.slots.len() / BATCH) as u32);
            let places = batch * BATCH..(batch + 1) * BATCH;
            if gammas[places.clone()].iter().all(|&g| g == 0.0) {
                continue;
            }
            let of = |place: usize| mesh.weights(pack.point_of_place[place] as usize);
            let most = places.clone().map(|p| of(p).len()).max().unwrap_or(0);
            for r in 0..most {
                for place in places.clone() {
                    // A filler names a slot that the point has anyway.
                    let (slot, share) = of(place).get(r).copied().unwrap_or((of(place)[0].0, 0.0));
                    all.slots.push(12 * u32::from(slot));
                    all.shares.push(share);
                }
            }
        }
        all.starts.push((all.slots.len() / BATCH) as u32);
        all
    }
}

/// The limb's radius at each point: the mean distance from the bone, by area, of the skin that mostly the same bone moves.
fn radii(mesh: &Mesh, near: &[OnBone], slots: usize, diagonal: f64) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); slots];
    let lead = |p: usize| mesh.weights(p).first().map_or(0, |w| w.0 as usize);
    for p in 0..mesh.len() {
        let sum = &mut sums[lead(p)];
        *sum = (sum.0 + mesh.areas[p] * near[p].distance, sum.1 + mesh.areas[p]);
    }
    let least = (1e-4 * diagonal).max(f64::MIN_POSITIVE);
    let radius = |(sum, area): (f64, f64)| if area > 0.0 { (sum / area).max(least) } else { least };
    (0..mesh.len()).map(|p| radius(sums[lead(p)])).collect()
}

fn at(row: &Row) -> Vec3 {
    Vec3::new(row[0], row[1], row[2])
}

fn row(v: Vec3) -> Row {
    [v.x, v.y, v.z, 0.0]
}
