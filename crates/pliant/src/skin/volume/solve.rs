//! The correction of one frame.

use super::gives::Giving;
use super::kernel::{AreaJob, Block, Row, SettleJob, StepJob, Stepped, Sums, TakeJob};
use super::pack::{BATCH, CHUNK, Carried, Pack, RUN, Run};
use super::regions::NONE;
use super::{Region, Volume, VolumeState, at, plain, row};
use crate::parallel::{self, Scattered};
use crate::rig::SkinMatrix;
use crate::skin::overlap::affine;
use glam::{DAffine3, DMat3, DVec3, Vec3};
use std::ops::Range;

/// A region is done when what is missing is less than this of its own volume, or a twentieth of it of the whole.
const EXACT: f64 = 1.5e-7;
/// What a step may move a point by, over its distance from the bone; as many steps at most.
const CAPS: [f32; 8] = [0.25, 0.25, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05];
/// A guess that is off by more than this is followed by a look, for the normals' sake: areas do not quite change evenly.
const EVEN: f32 = 0.05;
/// How far beyond its first guess a step may go, where caps cut the guess short.
const FARTHEST: f64 = 1.25;

/// Parts of what a pass changes, from a chunk on. Those that it does not are empty.
#[derive(Default)]
struct Parts<'a> {
    chunk: usize,
    rows: [&'a mut [Row]; 2],
    blocks: [&'a mut [Block]; 2],
    numbers: [&'a mut [f32]; 2],
    sums: [&'a mut [Sums]; 2],
    flags: &'a mut [bool],
}

impl Parts<'_> {
    fn split(self, pack: &Pack, chunk: usize) -> (Self, Self) {
        fn cut<T>(pair: [&mut [T]; 2], at: usize) -> [[&mut [T]; 2]; 2] {
            let [(a, b), (c, d)] = pair.map(|slice| slice.split_at_mut(at.min(slice.len())));
            [[a, c], [b, d]]
        }
        let batches = (chunk - self.chunk) * CHUNK;
        let places = batches * BATCH;
        let runs = (pack.run_starts[chunk] - pack.run_starts[self.chunk]) as usize;
        let ([a, b], [c, d]) = (cut(self.rows, places), cut(self.numbers, places));
        let ([e, f], [g, h]) = (cut(self.sums, runs), cut(self.blocks, batches));
        let (i, j) = self.flags.split_at_mut(runs.min(self.flags.len()));
        (
            Self { chunk: self.chunk, rows: a, numbers: c, sums: e, blocks: g, flags: i },
            Self { chunk, rows: b, numbers: d, sums: f, blocks: h, flags: j },
        )
    }

    /// The runs of the chunk, with where they are in its sums and in its places.
    fn runs(chunk: usize, pack: &Pack) -> impl Iterator<Item = (usize, &Run, Range<usize>)> {
        let start = chunk * CHUNK * BATCH;
        let own = move |run: &Run| run.places().start - start..run.places().end - start;
        pack.runs_of(chunk).iter().enumerate().map(move |(k, run)| (k, run, own(run)))
    }

    /// Where a run's batches are in a chunk's blocks.
    fn batches(chunk: usize, run: &Run) -> Range<usize> {
        run.batches.start - chunk * CHUNK..run.batches.end - chunk * CHUNK
    }
}

impl Volume {
    /// How far the volume is off, and how much each place would take.
    pub(super) fn measure(&self, matrices: &[SkinMatrix], state: &mut VolumeState) -> f64 {
        self.begin(matrices, state);
        let VolumeState { points, origins, begun, weights, looks, dirty, given, target, .. } = &mut *state;
        let areas = AreaJob { pack: &self.pack, points, origins, stepped: None, away: None };
        let weigh = self.weigh_job(matrices, target, points);
        let parts = Parts {
            blocks: [begun, &mut []],
            numbers: [weights, &mut []],
            sums: [looks, &mut []],
            flags: given,
            ..Parts::default()
        };
        self.pass(parts, |chunk, parts| {
            let ([begun, _], [weights, _], [looks, _]) = (parts.blocks, parts.numbers, parts.sums);
            let first = self.pack.run_starts[chunk] as usize;
            for (k, run, own) in Parts::runs(chunk, &self.pack) {
                let begun = &mut begun[Parts::batches(chunk, run)];
                looks[k] = self.first_look(&areas, matrices, run, dirty[first + k], begun);
                self.weigh(&weigh, run, &mut weights[own], &mut parts.flags[k]);
            }
        });
        self.collect(state, |_| true);
        off(state, whole(state))
    }

    /// Where volumes are measured from, and what fans add to them.
    pub(super) fn begin(&self, matrices: &[SkinMatrix], state: &mut VolumeState) {
        let VolumeState { regions, origins, .. } = state;
        regions.fill(Region::default());
        origins.clear();
        // Not where the skin is: that depends on when it is looked at.
        let there = |&(slot, rest): &(u16, DVec3)| affine(&matrices[slot as usize]).transform_point3(rest);
        origins.extend(self.origins.iter().map(|origin| row(there(origin).as_vec3())));
        self.fan_volumes(state);
    }

    /// What a run's areas sum to, before anything is done to it.
    fn first_look(
        &self,
        areas: &AreaJob<'_>,
        matrices: &[SkinMatrix],
        run: &Run,
        dirty: bool,
        begun: &mut [Block],
    ) -> Sums {
        match &run.carried {
            // Areas follow where anybody asks for them.
            Some(carried) if !dirty => {
                let origin = at(&areas.origins[run.region as usize]).as_dvec3();
                Turn::new(&matrices[carried.slot as usize]).sums(carried, origin)
            }
            // SAFETY: the path was found available; all arrays are of this pack.
            _ => unsafe { (self.kernels.areas)(areas, run, begun) },
        }
    }

    /// Moves points until regions have their volumes; how far the whole is off then.
    pub(super) fn solve(&self, matrices: &[SkinMatrix], givings: &[Giving], state: &mut VolumeState) -> f64 {
        self.take(matrices, givings, state);
        state.touched.fill(false);
        state.more.fill(0.0);
        let whole = whole(state);
        for (step, &cap) in CAPS.iter().enumerate() {
            if !choose(state, whole) {
                break;
            }
            self.step(matrices, state, cap, step == 0);
            self.find_lengths(state);
            if step == 0 && !self.are_left(state, whole) {
                break;
            }
            self.go_on(matrices, state);
        }
        off(state, whole)
    }

    /// What fans add to the volumes: borders do not move in a correction.
    pub(super) fn fan_volumes(&self, state: &mut VolumeState) {
        let VolumeState { regions, points, origins, .. } = state;
        regions.iter_mut().for_each(|region| region.fans = 0.0);
        for fan in &self.pack.fans {
            let apex = at(&points[self.pack.len() + fan.apex as usize]).as_dvec3();
            let origin = at(&origins[fan.region as usize]).as_dvec3();
            let from = |p: u32| at(&points[p as usize]).as_dvec3() - apex;
            let area: DVec3 = fan.edges.iter().map(|&[a, b]| from(a).cross(from(b))).sum();
            regions[fan.region as usize].fans += (apex - origin).dot(area);
        }
    }

    /// Looks again where the skin was moved, or at all of it where it has not been looked at, and finds how much each place
    /// takes.
    fn take(&self, matrices: &[SkinMatrix], givings: &[Giving], state: &mut VolumeState) {
        let VolumeState {
            points,
            origins,
            begun,
            skinned,
            weights,
            keeps,
            looks,
            taken,
            away,
            dirty,
            turns,
            given,
            target,
            ..
        } = &mut *state;
        let areas = AreaJob { pack: &self.pack, points, origins, stepped: None, away: None };
        let weigh = self.weigh_job(matrices, target, points);
        let parts = Parts {
            blocks: [begun, skinned],
            numbers: [weights, keeps],
            sums: [looks, taken],
            flags: given,
            ..Parts::default()
        };
        self.pass(parts, |chunk, parts| {
            let ([begun, skinned], [weights, keeps], [looks, taken], given) =
                (parts.blocks, parts.numbers, parts.sums, parts.flags);
            let first = self.pack.run_starts[chunk] as usize;
            let runs = Parts::runs(chunk, &self.pack);
            for (k, run, own) in runs.filter(|(k, ..)| !*turns || dirty[first + k]) {
                if !*turns {
                    let begun = &mut begun[Parts::batches(chunk, run)];
                    looks[k] = self.first_look(&areas, matrices, run, dirty[first + k], begun);
                    self.weigh(&weigh, run, &mut weights[own], &mut given[k]);
                    continue;
                }
                let batches = Parts::batches(chunk, run);
                self.carry(matrices, run, &mut begun[batches.clone()]);
                skinned[batches.clone()].copy_from_slice(&begun[batches.clone()]);
                // SAFETY: the path was found available; all arrays are of this pack.
                looks[k] = unsafe { (self.kernels.areas)(&areas, run, &mut begun[batches]) };
                self.weigh(&weigh, run, &mut weights[own], &mut given[k]);
            }
            self.gives.add(self.kernels.give, givings, chunk, weights, given);
            for (k, run, own) in Parts::runs(chunk, &self.pack) {
                if !given[k] && self.influences.are_none(run) {
                    keeps[own].fill(1.0);
                    taken[k] = Sums::default();
                    continue;
                }
                if !dirty[first + k] {
                    self.carry(matrices, run, &mut begun[Parts::batches(chunk, run)]);
                }
                let away = away.as_ref().map(|away| &away[run.places()]);
                let job = TakeJob { areas: &begun[Parts::batches(chunk, run)], away };
                // SAFETY: the path was found available; all are of the run.
                taken[k] = unsafe { (self.kernels.take)(&job, &mut weights[own.clone()], &mut keeps[own]) };
            }
        });
        self.collect(state, |_| true);
        let VolumeState { regions, taken, going, looking, .. } = state;
        regions.iter_mut().for_each(|region| region.gram = 0.0);
        looking.fill(false);
        for (index, (run, taken)) in self.pack.runs.iter().zip(taken).enumerate() {
            let gram = taken.0[1];
            regions[run.region as usize].gram += gram;
            going[index] = gram > 0.0;
            if going[index] {
                self.pack.runs_of_run.of(index).iter().for_each(|&other| looking[other as usize] = true);
            }
        }
    }

    /// One step along the gradient, as long as the volume asks for at first sight, and a look at where that leads.
    fn step(&self, matrices: &[SkinMatrix], state: &mut VolumeState, cap: f32, is_first: bool) {
        let VolumeState {
            points,
            areas,
            begun,
            moves,
            weights,
            away,
            steps,
            scales,
            active,
            going,
            looking,
            ..
        } = state;
        let areas = if is_first { begun } else { areas };
        let job = StepJob { scales, areas, weights, caps: &self.caps, cap, away: away.as_deref() };
        let (rows, blocks) = ([&mut points[..self.pack.len()], &mut []], [&mut moves[..], &mut []]);
        let parts = Parts { rows, blocks, sums: [steps, &mut []], ..Parts::default() };
        self.pass(parts, |chunk, parts| {
            let ([points, _], [moves, _], [steps, _]) = (parts.rows, parts.blocks, parts.sums);
            let first = self.pack.run_starts[chunk] as usize;
            let runs = Parts::runs(chunk, &self.pack);
            for (k, run, own) in runs.filter(|(_, run, _)| active[run.region as usize]) {
                let moves = &mut moves[Parts::batches(chunk, run)];
                if going[first + k] {
                    // SAFETY: the path was found available; all arrays are of this pack.
                    steps[k] = unsafe { (self.kernels.step)(&job, run, &mut points[own], moves) };
                } else if looking[first + k] {
                    moves.fill([[0.0; BATCH]; 3]);
                }
            }
        });
        self.look_again(matrices, state);
    }

    /// Areas of active regions, and what they sum to.
    fn look_again(&self, matrices: &[SkinMatrix], state: &mut VolumeState) {
        let VolumeState {
            points,
            origins,
            begun,
            areas,
            moves,
            weights,
            away,
            looks,
            active,
            dirty,
            going,
            looking,
            turns,
            ..
        } = state;
        let stepped = Some(Stepped { weights, moves });
        let job = AreaJob { pack: &self.pack, points, origins, stepped, away: away.as_deref() };
        let parts = Parts { blocks: [areas, begun], sums: [looks, &mut []], ..Parts::default() };
        self.pass(parts, |chunk, parts| {
            let ([areas, begun], [looks, _]) = (parts.blocks, parts.sums);
            let first = self.pack.run_starts[chunk] as usize;
            for (k, run, _) in Parts::runs(chunk, &self.pack) {
                if looking[first + k] && active[run.region as usize] {
                    if *turns && !dirty[first + k] && !going[first + k] {
                        self.carry(matrices, run, &mut begun[Parts::batches(chunk, run)]);
                    }
                    let areas = &mut areas[Parts::batches(chunk, run)];
                    // SAFETY: the path was found available; all arrays are of this pack.
                    looks[k] = unsafe { (self.kernels.areas)(&job, run, areas) };
                }
            }
        });
    }

    /// How much farther each region goes along the step it has just taken, and its volume there.
    fn find_lengths(&self, state: &mut VolumeState) {
        let VolumeState { regions, looks, steps, scales, active, going, looking, target, .. } = state;
        for region in regions.iter_mut() {
            (region.end, region.slopes) = (region.fans, [0.0; 2]);
        }
        for (index, run) in self.pack.runs.iter().enumerate() {
            let region = &mut regions[run.region as usize];
            region.end += looks[index].0[0];
            if going[index] {
                region.slopes[0] += steps[index].0[0] / 6.0;
            }
            if looking[index] {
                region.slopes[1] += looks[index].0[2] / 6.0;
            }
        }
        for (r, region) in regions.iter_mut().enumerate().filter(|(r, _)| active[*r]) {
            let way = Way::new(region.end / 18.0 - region.volume, region.slopes);
            scales[r] = (way.length(target.volumes[r] - region.volume) - 1.0) as f32;
            region.volume += way.grown(1.0 + f64::from(scales[r]));
        }
    }

    /// Regions that their first step leads to their volume go there when points are settled, and are no longer active.
    /// Whether any are left.
    fn are_left(&self, state: &mut VolumeState, whole: f64) -> bool {
        let VolumeState { regions, scales, more, active, target, .. } = state;
        for (r, active) in active.iter_mut().enumerate().filter(|(_, active)| **active) {
            *active = !is_exact(&regions[r], target.volumes[r], whole) || scales[r].abs() > EVEN;
            more[r] = if *active { 0.0 } else { scales[r] };
        }
        active.contains(&true)
    }

    /// Active regions go the rest of their way and are looked at there.
    fn go_on(&self, matrices: &[SkinMatrix], state: &mut VolumeState) {
        let VolumeState { points, moves, scales, active, going, .. } = &mut *state;
        let places = self.pack.len();
        parallel::for_each_chunk_mut(&mut points[..places], CHUNK * BATCH, |chunk, points| {
            let first = self.pack.run_starts[chunk] as usize;
            for (k, run, own) in Parts::runs(chunk, &self.pack) {
                if going[first + k] && active[run.region as usize] {
                    let more = scales[run.region as usize];
                    let batches = points[own].chunks_exact_mut(BATCH).zip(&moves[run.batches.clone()]);
                    for (points, moves) in batches {
                        for (lane, point) in points.iter_mut().enumerate() {
                            (0..3).for_each(|i| point[i] += more * moves[i][lane]);
                        }
                    }
                }
            }
        });
        self.look_again(matrices, state);
        let active = std::mem::take(&mut state.active);
        self.collect(state, |region| active[region as usize]);
        state.active = active;
    }

    /// Points go where the lengths of steps say, and are shown there; normals, if any, turn as those of the welded skin do.
    pub(super) fn settle(&self, state: &mut VolumeState, positions: &mut [Vec3], normals: &mut [Vec3]) {
        let VolumeState {
            points,
            areas,
            begun,
            skinned,
            moves,
            more,
            dirty,
            going,
            looking,
            touched,
            turns,
            ..
        } = state;
        for (index, run) in self.pack.runs.iter().enumerate() {
            // What was not touched has not been looked at either.
            looking[index] &= touched[run.region as usize];
            // Beside what has moved it is normals alone that change, and contacts have been shown.
            looking[index] &= *turns || going[index];
            dirty[index] &= *turns;
        }
        let areas = Settled { volume: self, areas, begun, skinned, moves, more, dirty, looking };
        let (positions, normals) = (Scattered::new(positions), Scattered::new(normals));
        let chunks = 0..self.pack.run_starts.len() - 1;
        parallel::for_each_part(
            chunks,
            (),
            |(), _| ((), ()),
            |chunk, ()| {
                let first = self.pack.run_starts[chunk] as usize;
                let mut rows = [[[0f32; 4]; RUN * BATCH]; 2];
                for (k, run, _) in Parts::runs(chunk, &self.pack).filter(|(k, ..)| areas.changes(first + k)) {
                    let (places, count) = (run.places(), run.places().len());
                    let [settled, turned] = &mut rows;
                    let vertices = &self.shown.of_place[places.clone()];
                    let count_turned = if *turns { count } else { 0 };
                    let shown = turned[..count_turned].iter_mut().zip(vertices);
                    for (normal, &vertex) in shown.filter(|(_, v)| **v != NONE) {
                        // SAFETY: a vertex shows one place, which is in one run.
                        *normal = row(unsafe { normals.get(vertex as usize) });
                    }
                    let (settled, turned) = (&mut settled[..count], &mut turned[..count_turned]);
                    // SAFETY: the path was found available; all are of the run.
                    unsafe { (self.kernels.settle)(&areas.job(first + k), &points[places], settled, turned) };
                    for (settled, &vertex) in settled.iter().zip(vertices).filter(|(_, v)| **v != NONE) {
                        // SAFETY: as above.
                        unsafe { positions.set(vertex as usize, at(settled)) };
                    }
                    for (normal, &vertex) in turned.iter().zip(vertices).filter(|(_, v)| **v != NONE) {
                        // SAFETY: as above.
                        unsafe { normals.set(vertex as usize, at(normal)) };
                    }
                }
                for &(place, vertex) in self.shown.others_of(chunk) {
                    let run = self.pack.run_of_batch[place as usize / BATCH] as usize;
                    // Without normals nobody has said where contacts have moved it.
                    if !*turns || areas.changes(run) {
                        // SAFETY: each vertex is listed once, and none that a run has.
                        unsafe {
                            positions.set(vertex as usize, areas.place(place, &points[place as usize]));
                        }
                        if *turns {
                            let [was, now] = areas.around(self.pack.point_of_place[place as usize]);
                            // SAFETY: as above.
                            unsafe {
                                let normal = normals.get(vertex as usize);
                                normals.set(vertex as usize, plain::turn(normal, was, now));
                            }
                        }
                    }
                }
            },
        );
    }

    /// Volumes and Gram numbers of regions from the last look.
    fn collect(&self, state: &mut VolumeState, asked: impl Fn(u32) -> bool) {
        let VolumeState { regions, looks, .. } = state;
        for (_, region) in regions.iter_mut().enumerate().filter(|(r, _)| asked(*r as u32)) {
            (region.volume, region.gram) = (region.fans / 18.0, 0.0);
        }
        for (run, look) in self.pack.runs.iter().zip(looks.iter()).filter(|(run, _)| asked(run.region)) {
            let region = &mut regions[run.region as usize];
            region.volume += look.0[0] / 18.0;
            region.gram += look.0[1];
        }
    }

    /// Areas of a run that a bone carries.
    fn carry(&self, matrices: &[SkinMatrix], run: &Run, areas: &mut [Block]) {
        if let Some(carried) = &run.carried {
            let turns = Turn::new(&matrices[carried.slot as usize]).cofactors.as_mat3().to_cols_array_2d();
            // SAFETY: the path was found available.
            unsafe { (self.kernels.carry)(&turns, &self.pack.rest_areas[run.batches.clone()], areas) };
        }
    }

    /// Calls `work` with each chunk and its parts.
    fn pass(&self, whole: Parts<'_>, work: impl Fn(usize, Parts<'_>) + Sync + Send + Copy) {
        let chunks = 0..self.pack.run_starts.len() - 1;
        parallel::for_each_part(chunks, whole, |parts, chunk| parts.split(&self.pack, chunk), work);
    }
}

/// Areas when all steps are taken.
struct Settled<'a> {
    volume: &'a Volume,
    areas: &'a [Block],
    begun: &'a [Block],
    skinned: &'a [Block],
    moves: &'a [Block],
    more: &'a [f32],
    dirty: &'a [bool],
    looking: &'a [bool],
}

impl<'a> Settled<'a> {
    /// Whether anything has changed a run.
    fn changes(&self, run: usize) -> bool {
        self.dirty[run] || self.looking[run]
    }

    /// Where a place gets to.
    fn place(&self, place: u32, point: &Row) -> Vec3 {
        let run = self.volume.pack.run_of_batch[place as usize / BATCH] as usize;
        let (job, k) = (self.job(run), place as usize - self.volume.pack.runs[run].places().start);
        at(point) + plain::of(&job.moves[k / BATCH], k % BATCH) * job.more
    }

    fn job(&self, index: usize) -> SettleJob<'a> {
        let run = &self.volume.pack.runs[index];
        let (batches, moved) = (run.batches.clone(), self.looking[index]);
        let begun = &self.begun[batches.clone()];
        SettleJob {
            skinned: if self.dirty[index] { &self.skinned[batches.clone()] } else { begun },
            areas: [begun, if moved { &self.areas[batches.clone()] } else { begun }],
            // Any numbers of this frame where nothing has moved: none of them is gone by.
            moves: if moved { &self.moves[batches] } else { begun },
            more: if moved { self.more[run.region as usize] } else { 0.0 },
        }
    }

    /// What the areas of a point sum to over its regions, before and now: their fans cancel out.
    fn around(&self, point: u32) -> [Vec3; 2] {
        let pack = &self.volume.pack;
        let mut sums = [Vec3::ZERO; 2];
        for &place in pack.places_of_point.of(point as usize) {
            let run = pack.run_of_batch[place as usize / BATCH] as usize;
            let (job, k) = (self.job(run), place as usize - pack.runs[run].places().start);
            let (batch, lane) = (k / BATCH, k % BATCH);
            let [begin, end] = job.areas.map(|areas| plain::of(&areas[batch], lane));
            sums[0] += plain::of(&job.skinned[batch], lane);
            sums[1] += end + (end - begin) * job.more;
        }
        sums
    }
}

/// How a bone turns areas: `x = L r + t` and `A = cof(L) A_rest`.
struct Turn {
    place: DAffine3,
    cofactors: DMat3,
}

impl Turn {
    fn new(matrix: &SkinMatrix) -> Self {
        let place = affine(matrix);
        let [x, y, z] = [place.matrix3.x_axis, place.matrix3.y_axis, place.matrix3.z_axis];
        Self { place, cofactors: DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y)) }
    }

    /// What `(x - origin) . A` sums to over what the bone carries.
    fn sums(&self, carried: &Carried, origin: DVec3) -> Sums {
        let (scale, from) =
            (self.place.matrix3.x_axis.dot(self.cofactors.x_axis), self.place.translation - origin);
        Sums([scale * carried.volume + from.dot(self.cofactors * carried.area), 0.0, 0.0])
    }
}

fn whole(state: &VolumeState) -> f64 {
    state.target.volumes.iter().map(|v| v.abs()).sum()
}

/// How far the whole is off, over what it should be. A piece modelled inside out counts like the others.
fn off(state: &VolumeState, whole: f64) -> f64 {
    let each = state.regions.iter().zip(&state.target.volumes);
    let sum: f64 = each.map(|(region, target)| (region.volume - target) * target.signum()).sum();
    if whole > 0.0 { sum / whole } else { 0.0 }
}

fn is_exact(region: &Region, target: f64, whole: f64) -> bool {
    (target - region.volume).abs() <= EXACT * target.abs().max(0.05 * whole)
}

/// Which regions still miss their volumes and can do something about it, and how far they are to go; whether any.
fn choose(state: &mut VolumeState, whole: f64) -> bool {
    let VolumeState { regions, scales, active, touched, target, .. } = state;
    for (r, region) in regions.iter().enumerate() {
        let missing = target.volumes[r] - region.volume;
        // V(x + s w A) = V + s gram / 6 + ...
        let scale = (6.0 * missing / region.gram) as f32;
        active[r] = !is_exact(region, target.volumes[r], whole) && region.gram > 0.0 && scale.is_finite();
        scales[r] = if active[r] { scale } else { 0.0 };
        touched[r] |= active[r];
    }
    active.contains(&true)
}

/// How the volume grows along a step, `V(t) = c1 t + c2 t^2 + c3 t^3`: known by its value at 1 and its slopes at 0 and 1.
struct Way([f64; 3]);

impl Way {
    fn new(end: f64, [c1, slope]: [f64; 2]) -> Self {
        let c3 = slope + c1 - 2.0 * end;
        Self([c1, end - c1 - c3, c3])
    }

    fn grown(&self, t: f64) -> f64 {
        let [c1, c2, c3] = self.0;
        t * (c1 + t * (c2 + t * c3))
    }

    /// Where it meets what is missing.
    fn length(&self, missing: f64) -> f64 {
        let [c1, c2, c3] = self.0;
        let mut t = 1.0;
        // Newton's steps from a guess that is some percent off: four are enough for f64.
        for _ in 0..6 {
            let slope = c1 + t * (2.0 * c2 + t * 3.0 * c3);
            let next = t - (self.grown(t) - missing) / slope;
            if !next.is_finite() || next <= 0.0 {
                return 1.0;
            }
            t = next.min(FARTHEST);
        }
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Areas and volumes of what a bone turns, stretches and carries off are those of its points there.
    #[test]
    fn what_a_bone_carries_is_not_looked_at() {
        let matrix = [[0.0, -2.0, 0.5, 3.0], [1.0, 0.0, 0.0, -4.0], [0.0, 0.0, 1.5, 5.0]];
        let place = affine(&matrix);
        let origin = DVec3::new(1.0, 2.0, -3.0);
        let mut carried = Carried { slot: 0, area: DVec3::ZERO, volume: 0.0 };
        let (mut rest, mut areas) = ([[[0.0; BATCH]; 3]], [[[0.0; BATCH]; 3]]);
        let (mut there, mut sum) = (Vec::new(), 0.0);
        for lane in 0..BATCH {
            let k = lane as f64;
            let [at, u, v] = [1.0, 2.0, 3.0].map(|a| DVec3::new(a, 0.3 * a * k, 1.0 - k / a));
            carried.area += u.cross(v);
            carried.volume += at.dot(u.cross(v));
            plain::put(&mut rest[0], lane, u.cross(v).as_vec3());
            there.push(place.transform_vector3(u).cross(place.transform_vector3(v)));
            sum += (place.transform_point3(at) - origin).dot(there[lane]);
        }
        let turn = Turn::new(&matrix);
        let sums = turn.sums(&carried, origin);
        plain::carry(&turn.cofactors.as_mat3().to_cols_array_2d(), &rest, &mut areas);
        assert!((sums.0[0] - sum).abs() < 1e-9 * sum.abs(), "{} {sum}", sums.0[0]);
        for (lane, there) in there.iter().enumerate() {
            let off = plain::of(&areas[0], lane).as_dvec3() - *there;
            assert!(off.length() < 1e-5 * there.length().max(1.0), "{lane}: {off}");
        }
    }

    /// A ball blown up along its normals: its volume is a cubic of how far, and known by its ends.
    #[test]
    fn a_way_is_known_by_its_ends() {
        let ball = |t: f64| 4.0 / 3.0 * std::f64::consts::PI * (1.0 + 0.1 * t).powi(3);
        let slope = |t: f64| 0.4 * std::f64::consts::PI * (1.0 + 0.1 * t).powi(2);
        let way = Way::new(ball(1.0) - ball(0.0), [slope(0.0), slope(1.0)]);
        for t in [0.3, 0.8, 1.0, 1.2] {
            assert!((way.grown(t) - (ball(t) - ball(0.0))).abs() < 1e-14);
            assert!((way.length(ball(t) - ball(0.0)) - t).abs() < 1e-12, "{t}");
        }
        // No farther than a guess may be stretched.
        assert_eq!(way.length(ball(2.0) - ball(0.0)), FARTHEST);
    }
}
