//! Volume kept exactly, joint by joint, by moving the skinned skin as little as that takes.
//!
//! In each region (see `regions.rs`) minimise `sum a_k rho_k^2 / gamma_k` subject to `V(x + rho n) = V0`, with `a_k` the
//! rest area and `gamma_k` the correction map of a point. The gradient of the volume at a point is a third of the vector
//! area around it, which is also the way of its normal: `rho n = s (gamma / a) A` in closed form. Borders of regions are
//! held, and their fans with them: on rigid skin there is nothing to move, and a border that moved would show where regions
//! go by different `s`. So regions have no unknowns in common, and their Gram matrix is its diagonal.
//!
//! Along one step `V(x + t d)` is a cubic in `t`; values and slopes at both ends give it exactly, so that the length that
//! meets the volume is found, and gone, without further looks at the skin. Only where points go as far as they may and that
//! is not enough are there more steps.
//!
//! The skin is looked at as it was skinned, while overlaps are parted. Where that has moved it, it is looked at again.
//!
//! A [`Volume`] is prepared once and shared; each moving copy has a [`VolumeState`].

mod dispatch;
mod gives;
mod kernel;
mod map;
mod pack;
mod plain;
mod regions;
mod solve;
mod target;

pub use map::Map;

use super::SkinError;
use super::mesh::{Mesh, OnBone, Rows, SlotBones, smooth_step};
use crate::asset::Character;
use crate::body::topology::Lists;
use crate::parallel;
use crate::rig::SkinMatrix;
use crate::simd::Path;
use dispatch::Kernels;
use gives::Gives;
pub use gives::{Giver, Giving};
use glam::{DVec3, Vec3};
use kernel::{Block, MIXED, Row, Sums, WeighJob};
use pack::{BATCH, CHUNK, Pack, Run};
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
    /// What may give way beside what the map says, where skin is in contact: for each contact its vertices.
    pub gives: Vec<Vec<Giver>>,
    /// Whether the skinning moves what hangs on one bone as that bone, and no other way.
    pub is_rigid: bool,
}

/// A vertex that is held where it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hold {
    /// The first vertex of a point.
    pub vertex: u32,
    /// How much of it is.
    pub share: f32,
}

/// What contact of skin with skin has done to it.
pub struct Contacts<'a, H> {
    /// The welded points that were moved: their first vertices alone.
    pub moved: &'a [u32],
    /// How much each of [`Options::gives`] gives way.
    pub givings: &'a [Giving],
    /// What is held.
    pub holds: H,
}

impl Contacts<'_, std::iter::Empty<Hold>> {
    /// None.
    pub fn none() -> Self {
        Self { moved: &[], givings: &[], holds: std::iter::empty() }
    }
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
            is_rigid: false,
        }
    }
}

/// A correction prepared for a character: shared by all its copies.
pub struct Volume {
    kernels: Kernels,
    pack: Pack,
    targets: Targets,
    /// Per region a place on its skin that goes along with one of its slots: where its volume is measured from.
    origins: Vec<(u16, DVec3)>,
    /// Per place: map over area, cap of a step, one over the distance of full activity.
    gammas: Vec<f32>,
    caps: Vec<f32>,
    rates: Vec<f32>,
    gives: Gives,
    rest: Vec<Block>,
    /// Slots and weights of places, sixteen side by side.
    influences: Influences,
    /// Where each place's flesh hangs on a bone, for corrections away from it.
    hooks: Option<Vec<(u16, Vec3)>>,
    vertex_of_place: Vec<u32>,
    shown: Shown,
    /// The place of each vertex that is in a region, else [`NONE`].
    place_of_vertex: Vec<u32>,
    still: f32,
    warnings: Vec<String>,
}

/// Which vertices show where a place gets to.
struct Shown {
    /// One that is the place's alone, else [`NONE`].
    of_place: Vec<u32>,
    /// All others, with the places that they show, chunk by chunk: those of points in several regions, and where files split
    /// vertices. The first of each chunk, and one more at the end.
    others: Vec<(u32, u32)>,
    starts: Vec<u32>,
}

#[derive(Default)]
struct Influences {
    starts: Vec<u32>,
    /// Per row of sixteen, the slot that all of it is of, or [`MIXED`].
    slot_of_row: Vec<u32>,
    slots: Vec<u32>,
    shares: Vec<f32>,
}

/// What one moving copy needs from step to step. Reused, so that steps allocate nothing.
#[derive(Clone)]
pub struct VolumeState {
    points: Vec<Row>,
    /// Areas that the correction begins with, and those after its last step.
    begun: Vec<Block>,
    areas: Vec<Block>,
    /// Areas of the skinned skin, in runs that were moved before the correction.
    skinned: Vec<Block>,
    moves: Vec<Block>,
    weights: Vec<f32>,
    /// The share that is not held: one but while contacts are brought in.
    keeps: Vec<f32>,
    away: Option<Vec<Row>>,
    /// Per run: of the last look, of what was taken, and of the last step.
    looks: Vec<Sums>,
    taken: Vec<Sums>,
    steps: Vec<Sums>,
    /// Per run, whether it was moved before the correction, whether the correction moves it, and whether it moves anything
    /// around it.
    dirty: Vec<bool>,
    going: Vec<bool>,
    looking: Vec<bool>,
    /// And whether a contact asks anything of it.
    given: Vec<bool>,
    regions: Vec<Region>,
    origins: Vec<Row>,
    scales: Vec<f32>,
    /// How much farther each region is to go along its step, at the end.
    more: Vec<f32>,
    active: Vec<bool>,
    /// Regions that any step of the frame has changed.
    touched: Vec<bool>,
    /// Whether anybody asks for normals.
    turns: bool,
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
        // What bones carry alone is as far from them as ever, and never active.
        let hangs = |p: usize| options.is_rigid && mesh.weights(p).len() == 1;
        let soft: Vec<bool> =
            (0..mesh.len()).map(|p| gamma[p] > 0.0 && !regions.held[p] && !hangs(p)).collect();
        let mut morphs = vec![false; mesh.len()];
        for &vertex in character.morphs().iter().flat_map(|morph| &morph.vertices) {
            morphs[mesh.point_of_vertex[vertex as usize] as usize] = true;
        }
        let bone = |p: u32| {
            let carries = hangs(p as usize) && !morphs[p as usize];
            carries.then(|| mesh.weights(p as usize)[0].0)
        };
        let pack = Pack::new(&mesh, &regions, &soft, &bone);
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
        let gammas = of_place(&|p| if soft[p] { gamma[p] * per_area(p) } else { 0.0 });
        let gives = of_place(&|p| per_area(p) * smooth_step(from_held[p] / (FROM_HELD * radius[p])));
        let place_of_vertex: Vec<u32> =
            mesh.point_of_vertex.iter().map(|&point| pack.place_of_point[point as usize]).collect();
        let origin = |&place: &u32| {
            let point = pack.point_of_place[place as usize] as usize;
            (mesh.weights(point).first().map_or(0, |w| w.0), mesh.points[point])
        };
        Ok(Self {
            kernels: dispatch::kernels(path),
            origins: pack.origins.iter().map(origin).collect(),
            targets: Targets::new(character, &mesh, &regions),
            gives: Gives::new(&options.gives, &pack, &place_of_vertex, &gives),
            caps: of_place(&|p| near[p].distance),
            rates: of_place(&|p| 1.0 / (ACTIVE * radius[p])),
            rest: rest_blocks(&mesh, &pack),
            influences: Influences::new(&mesh, &pack, &gammas),
            hooks: options.away.then(|| {
                let hook = |&p: &u32| (near[p as usize].slot, near[p as usize].point.as_vec3());
                pack.point_of_place.iter().map(hook).collect()
            }),
            shown: Shown::new(&mesh, &pack),
            vertex_of_place: pack.point_of_place.iter().map(|&p| mesh.vertex_of_point[p as usize]).collect(),
            place_of_vertex,
            still: (STILL * diagonal) as f32,
            warnings: regions.warnings,
            gammas,
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
        self.origins.len()
    }

    /// Whether the vertex that speaks for a point is in a region: then [`Volume::correct`] shows where it was moved to.
    pub fn shows(&self, vertex: u32) -> bool {
        self.place_of_vertex[vertex as usize] != NONE
    }

    /// A state for one copy.
    pub fn state(&self) -> VolumeState {
        let (places, apexes, regions) = (self.pack.len(), self.pack.apexes.len(), self.region_count());
        let runs = self.pack.runs.len();
        let zeros = vec![[[0.0; BATCH]; 3]; self.pack.batch_count()];
        VolumeState {
            points: vec![[0.0; 4]; places + apexes],
            begun: zeros.clone(),
            areas: zeros.clone(),
            skinned: zeros.clone(),
            moves: zeros,
            weights: vec![0.0; places],
            keeps: vec![1.0; places],
            away: self.hooks.as_ref().map(|_| vec![[0.0; 4]; places]),
            looks: vec![Sums::default(); runs],
            taken: vec![Sums::default(); runs],
            steps: vec![Sums::default(); runs],
            dirty: vec![false; runs],
            going: vec![false; runs],
            looking: vec![false; runs],
            given: vec![false; runs],
            regions: vec![Region::default(); regions],
            origins: Vec::with_capacity(regions),
            scales: vec![0.0; regions],
            more: vec![0.0; regions],
            active: vec![false; regions],
            touched: vec![false; regions],
            turns: true,
            target: self.targets.state(&self.rest),
        }
    }

    /// Takes in skinned positions: what every frame begins with.
    ///
    /// # Panics
    /// If positions are not of the character's size, or the state is of another correction.
    pub fn read(&self, state: &mut VolumeState, positions: &[Vec3]) {
        let places = self.pack.len();
        let vertices = &self.vertex_of_place;
        let rows = Rows::new(positions);
        parallel::for_each_chunk_mut(&mut state.points[..places], SHOWN, |chunk, points| {
            for (point, &vertex) in points.iter_mut().zip(&vertices[chunk * SHOWN..]) {
                *point = rows.of(vertex).to_array();
            }
        });
        self.set_apexes(state);
    }

    fn set_apexes(&self, state: &mut VolumeState) {
        for (apex, around) in self.pack.apexes.iter().enumerate() {
            let sum = around.iter().map(|&p| at(&state.points[p as usize]).as_dvec3()).sum::<glam::DVec3>();
            state.points[self.pack.len() + apex] = row((sum / around.len().max(1) as f64).as_vec3());
        }
    }

    /// How far the volume of the skin that was read is off, over what it should be.
    ///
    /// # Panics
    /// As [`Volume::read`], and if matrices are not of the character's size.
    pub fn look(&self, matrices: &[SkinMatrix], morph_weights: &[f32], state: &mut VolumeState) -> f64 {
        if self.pack.runs.is_empty() {
            return 0.0;
        }
        state.dirty.fill(false);
        self.targets.set(&self.pack, matrices, morph_weights, &mut state.target);
        self.measure(matrices, state)
    }

    /// Corrects the skin that was looked at, where contacts have left it, and turns normals along. How far its volume is
    /// off then, over what it should be.
    ///
    /// # Panics
    /// As [`Volume::look`].
    pub fn correct<H: Iterator<Item = Hold> + Send>(
        &self,
        matrices: &[SkinMatrix],
        contacts: Contacts<'_, H>,
        state: &mut VolumeState,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) -> f64 {
        if self.pack.runs.is_empty() {
            return 0.0;
        }
        let mut keeps = std::mem::take(&mut state.keeps);
        let (moved, holds) = (contacts.moved, contacts.holds);
        parallel::both(|| self.bring(moved, state, positions), || self.hold(holds, &mut keeps));
        state.keeps = keeps;
        self.finish(matrices, contacts.givings, state, positions, normals)
    }

    /// Corrects a skin without normals where contacts have left it: nobody need know how it was skinned, so that it is read
    /// and looked at once. Else as [`Volume::correct`], to the bit.
    ///
    /// # Panics
    /// As [`Volume::look`].
    pub fn correct_positions<H: Iterator<Item = Hold> + Send>(
        &self,
        matrices: &[SkinMatrix],
        morph_weights: &[f32],
        contacts: Contacts<'_, H>,
        state: &mut VolumeState,
        positions: &mut [Vec3],
    ) -> f64 {
        if self.pack.runs.is_empty() {
            return 0.0;
        }
        let mut keeps = std::mem::take(&mut state.keeps);
        let (moved, holds) = (contacts.moved, contacts.holds);
        let marks = || {
            self.read(state, positions);
            self.mark(&self.pack.carried_of_point, moved, &mut state.dirty);
        };
        parallel::both(marks, || self.hold(holds, &mut keeps));
        state.keeps = keeps;
        self.targets.set(&self.pack, matrices, morph_weights, &mut state.target);
        self.begin(matrices, state);
        self.finish(matrices, contacts.givings, state, positions, &mut [])
    }

    /// From what is known of the skin to where it goes.
    fn finish(
        &self,
        matrices: &[SkinMatrix],
        givings: &[Giving],
        state: &mut VolumeState,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) -> f64 {
        state.turns = !normals.is_empty();
        self.aim(matrices, state);
        let left = self.solve(matrices, givings, state);
        self.settle(state, positions, normals);
        left
    }

    /// What is held gives way less.
    fn hold(&self, holds: impl Iterator<Item = Hold>, keeps: &mut [f32]) {
        for hold in holds {
            if let Some(keep) = keeps.get_mut(self.place_of_vertex[hold.vertex as usize] as usize) {
                *keep *= 1.0 - hold.share;
            }
        }
    }

    /// Points that were moved since the skin was read.
    fn bring(&self, moved: &[u32], state: &mut VolumeState, positions: &[Vec3]) {
        for &point in moved {
            for &place in self.pack.places_of_point.of(point as usize) {
                state.points[place as usize] = row(positions[self.vertex_of_place[place as usize] as usize]);
            }
        }
        if self.mark(&self.pack.runs_of_point, moved, &mut state.dirty) {
            self.set_apexes(state);
            self.fan_volumes(state);
        }
    }

    /// Which of some runs are not as they were skinned, where points were moved; whether apexes are not.
    fn mark(&self, runs_of_point: &Lists, moved: &[u32], dirty: &mut [bool]) -> bool {
        let pack = &self.pack;
        dirty.fill(false);
        let mut apexes_move = false;
        for &point in moved {
            runs_of_point.of(point as usize).iter().for_each(|&run| dirty[run as usize] = true);
            apexes_move |= pack.is_around_apex[point as usize];
        }
        if apexes_move {
            for apex in pack.place_of_point.len()..runs_of_point.len() {
                runs_of_point.of(apex).iter().for_each(|&run| dirty[run as usize] = true);
            }
        }
        apexes_move
    }

    /// What weights are made from.
    fn weigh_job<'a>(
        &'a self,
        matrices: &'a [SkinMatrix],
        target: &'a target::State,
        points: &'a [Row],
    ) -> WeighJob<'a> {
        WeighJob {
            starts: &self.influences.starts,
            slot_of_row: &self.influences.slot_of_row,
            slots: &self.influences.slots,
            shares: &self.influences.shares,
            matrices,
            rest: target.rest(&self.rest),
            points,
            gammas: &self.gammas,
            rates: &self.rates,
            still: self.still,
        }
    }

    /// How much each place of a run takes of itself; nothing has been `given` to it then.
    fn weigh(&self, job: &WeighJob<'_>, run: &Run, weights: &mut [f32], given: &mut bool) {
        if self.influences.are_none(run) {
            if std::mem::take(given) {
                weights.fill(0.0);
            }
            return;
        }
        *given = false;
        for (batch, weights) in run.batches.clone().zip(weights.chunks_exact_mut(BATCH)) {
            if job.starts[batch] < job.starts[batch + 1] {
                // SAFETY: the path was found available; slots are those of the character, whose matrices these are.
                unsafe { (self.kernels.weigh)(job, batch, weights) }
            } else {
                weights.fill(0.0);
            }
        }
    }

    /// Which way points may go, where not along their normals.
    fn aim(&self, matrices: &[SkinMatrix], state: &mut VolumeState) {
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
}

impl Shown {
    fn new(mesh: &Mesh, pack: &Pack) -> Self {
        let mut of_place = vec![NONE; pack.len()];
        let mut others = Vec::new();
        for (vertex, &point) in (0..).zip(&mesh.point_of_vertex) {
            match pack.places_of_point.of(point as usize) {
                [] => {}
                &[place] if of_place[place as usize] == NONE => of_place[place as usize] = vertex,
                places => others.push((places[0], vertex)),
            }
        }
        others.sort_unstable();
        let ends = (0..pack.run_starts.len()).map(|chunk| chunk * CHUNK * BATCH);
        let starts = ends.map(|end| others.partition_point(|o| (o.0 as usize) < end) as u32).collect();
        Self { of_place, others, starts }
    }

    fn others_of(&self, chunk: usize) -> &[(u32, u32)] {
        &self.others[self.starts[chunk] as usize..self.starts[chunk + 1] as usize]
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
            let takes = |place: &usize| gammas[*place] > 0.0;
            let mut slots: Vec<u16> = places.clone().filter(takes).flat_map(of).map(|w| w.0).collect();
            slots.sort_unstable();
            slots.dedup();
            // A row of one slot takes a third of the time of one that gathers its matrices.
            if slots.len() <= 2 * most {
                for &slot in &slots {
                    all.slot_of_row.push(12 * u32::from(slot));
                    for place in places.clone() {
                        let share = of(place).iter().filter(|w| w.0 == slot).map(|w| w.1).sum();
                        all.slots.push(12 * u32::from(slot));
                        all.shares.push(share);
                    }
                }
                continue;
            }
            for r in 0..most {
                all.slot_of_row.push(MIXED);
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

    /// Whether a run has none: it never takes anything of itself.
    fn are_none(&self, run: &Run) -> bool {
        self.starts[run.batches.start] == self.starts[run.batches.end]
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

fn rest_blocks(mesh: &Mesh, pack: &Pack) -> Vec<Block> {
    let mut blocks = vec![[[0.0; BATCH]; 3]; pack.batch_count()];
    for (place, &p) in pack.point_of_place.iter().enumerate() {
        plain::put(&mut blocks[place / BATCH], place % BATCH, mesh.points[p as usize].as_vec3());
    }
    blocks
}

fn at(row: &Row) -> Vec3 {
    Vec3::new(row[0], row[1], row[2])
}

fn row(v: Vec3) -> Row {
    [v.x, v.y, v.z, 0.0]
}
