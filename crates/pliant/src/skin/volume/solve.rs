//! The correction of one frame.

use super::kernel::{AreaJob, Row, StepJob, Sums};
use super::pack::{BATCH, CHUNK, Pack, Run};
use super::{Corrected, Region, Volume, VolumeState, at};
use crate::parallel;
use glam::DVec3;

/// A region is done when what is missing is less than this of its own volume, or a twentieth of it of the whole.
const EXACT: f64 = 1.5e-7;
/// What a step may move a point by, over its distance from the bone; as many steps at most.
const CAPS: [f32; 8] = [0.25, 0.25, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05];
/// How far beyond its first guess a step may go, where caps cut the guess short.
const FARTHEST: f64 = 1.25;

/// Parts of the rows and sums of a pass, from a chunk on.
struct Rows<'a> {
    chunk: usize,
    first: &'a mut [Row],
    second: &'a mut [Row],
    sums: &'a mut [Sums],
}

impl<'a> Rows<'a> {
    fn split(self, pack: &Pack, chunk: usize) -> (Self, Self) {
        let places = (chunk - self.chunk) * CHUNK * BATCH;
        let runs = (pack.run_starts[chunk] - pack.run_starts[self.chunk]) as usize;
        let (a, b) = self.first.split_at_mut(places.min(self.first.len()));
        let (c, d) = self.second.split_at_mut(places.min(self.second.len()));
        let (e, f) = self.sums.split_at_mut(runs);
        (
            Self { chunk: self.chunk, first: a, second: c, sums: e },
            Self { chunk, first: b, second: d, sums: f },
        )
    }
}

impl Volume {
    /// Moves points until regions have their volumes.
    pub(super) fn solve(&self, state: &mut VolumeState) -> Corrected {
        parallel::within(|| {
            state.touched.fill(false);
            let before = self.measure(state);
            let whole: f64 = state.target.volumes.iter().map(|v| v.abs()).sum();
            for (step, &cap) in CAPS.iter().enumerate() {
                if !choose(state, whole) {
                    break;
                }
                self.step(state, cap, step == 0);
            }
            self.turn(state);
            Corrected { before, left: off(state, whole) }
        })
    }

    /// How far the volume is off.
    pub(super) fn measure(&self, state: &mut VolumeState) -> f64 {
        self.fan_volumes(state);
        self.look(state, true);
        self.collect(state);
        off(state, state.target.volumes.iter().map(|v| v.abs()).sum())
    }

    /// What fans add to the volumes: borders do not move in a correction.
    fn fan_volumes(&self, state: &mut VolumeState) {
        let VolumeState { regions, points, origins, .. } = state;
        regions.fill(Region::default());
        origins.clear();
        origins.extend(self.pack.origins.iter().map(|&place| points[place as usize]));
        for fan in &self.pack.fans {
            let apex = at(&points[self.pack.len() + fan.apex as usize]).as_dvec3();
            let origin = at(&origins[fan.region as usize]).as_dvec3();
            let from = |p: u32| at(&points[p as usize]).as_dvec3() - apex;
            let area: DVec3 = fan.edges.iter().map(|&[a, b]| from(a).cross(from(b))).sum();
            regions[fan.region as usize].fans += (apex - origin).dot(area);
        }
    }

    /// One step along the gradient, as long as the volume asks for.
    fn step(&self, state: &mut VolumeState, cap: f32, is_first: bool) {
        let VolumeState { points, areas, areas_before, moves, weights, away, steps, scales, active, .. } =
            state;
        let places = self.pack.len();
        let areas = if is_first { areas_before } else { areas };
        let job = StepJob { scales, areas, weights, caps: &self.caps, cap, away: away.as_deref() };
        self.pass(&mut points[..places], moves, steps, |run, points, moves| {
            let asked = run.moving && active[run.region as usize];
            // SAFETY: the path was found available; all arrays are of this pack.
            asked.then(|| unsafe { (self.kernels.step)(&job, run, points, moves) })
        });
        self.look(state, false);
        self.find_lengths(state);
        let VolumeState { points, moves, scales, active, .. } = state;
        parallel::for_each_chunk_mut(&mut points[..places], CHUNK * BATCH, |chunk, points| {
            let start = chunk * CHUNK * BATCH;
            for run in self.pack.runs_of(chunk).iter().filter(|run| run.moving && active[run.region as usize])
            {
                let more = scales[run.region as usize];
                let places = run.batches.start * BATCH..run.batches.end * BATCH;
                let points = &mut points[places.start - start..places.end - start];
                for (point, moved) in points.iter_mut().zip(&moves[places]) {
                    for i in 0..3 {
                        point[i] += more * moved[i];
                    }
                }
            }
        });
        self.look(state, false);
        self.collect(state);
    }

    /// How much farther each region goes along the step it has just taken.
    fn find_lengths(&self, state: &mut VolumeState) {
        let VolumeState { regions, looks, steps, scales, active, target, .. } = state;
        for region in regions.iter_mut() {
            (region.end, region.slopes) = (region.fans, [0.0; 2]);
        }
        for ((run, look), step) in self.pack.runs.iter().zip(looks.iter()).zip(steps.iter()) {
            let region = &mut regions[run.region as usize];
            region.end += look.0[0];
            if run.moving {
                region.slopes[0] += step.0[0] / 6.0;
                region.slopes[1] += look.0[2] / 6.0;
            }
        }
        for (r, region) in regions.iter().enumerate().filter(|(r, _)| active[*r]) {
            let grown = region.end / 18.0 - region.volume;
            scales[r] = (length(target.volumes[r] - region.volume, grown, region.slopes) - 1.0) as f32;
        }
    }

    /// How the normals of touched regions turn, in place of their last moves.
    fn turn(&self, state: &mut VolumeState) {
        let VolumeState { areas, areas_before, moves, steps, touched, .. } = state;
        let (areas, before) = (&*areas, &*areas_before);
        self.pass(moves, &mut [], steps, |run, turns, _| {
            if run.moving && touched[run.region as usize] {
                let places = run.batches.start * BATCH..run.batches.end * BATCH;
                // SAFETY: the path was found available; all are of the run.
                unsafe { (self.kernels.turn)(&before[places.clone()], &areas[places], turns) };
            }
            None
        });
    }

    /// Areas, and what they sum to. Those of the first look of a frame are kept.
    fn look(&self, state: &mut VolumeState, whole: bool) {
        let VolumeState { points, origins, areas, areas_before, moves, weights, away, looks, active, .. } =
            state;
        let areas = if whole { areas_before } else { areas };
        let job = AreaJob { pack: &self.pack, points, origins, weights, moves, away: away.as_deref() };
        self.pass(areas, &mut [], looks, |run, areas, _| {
            let asked = whole || (run.moving && active[run.region as usize]);
            // SAFETY: the path was found available; all arrays are of this pack.
            asked.then(|| unsafe { (self.kernels.areas)(&job, run, areas) })
        });
    }

    /// Volumes and Gram numbers of the regions from the last look.
    fn collect(&self, state: &mut VolumeState) {
        let VolumeState { regions, looks, .. } = state;
        for region in regions.iter_mut() {
            (region.volume, region.gram) = (region.fans, 0.0);
        }
        for (run, look) in self.pack.runs.iter().zip(looks.iter()) {
            let region = &mut regions[run.region as usize];
            region.volume += look.0[0];
            region.gram += look.0[1];
        }
        regions.iter_mut().for_each(|region| region.volume /= 18.0);
    }

    /// Calls `work` with each run and its rows; where it gives nothing the run's sums stay.
    fn pass(
        &self,
        first: &mut [Row],
        second: &mut [Row],
        sums: &mut [Sums],
        work: impl Fn(&Run, &mut [Row], &mut [Row]) -> Option<Sums> + Sync + Send + Copy,
    ) {
        let pack = &self.pack;
        let whole = Rows { chunk: 0, first, second, sums };
        let chunks = 0..pack.run_starts.len() - 1;
        parallel::for_each_part(
            chunks,
            whole,
            |rows, chunk| rows.split(pack, chunk),
            |chunk, rows| {
                for (run, sums) in pack.runs_of(chunk).iter().zip(rows.sums) {
                    let start = chunk * CHUNK;
                    let places = (run.batches.start - start) * BATCH..(run.batches.end - start) * BATCH;
                    let second = rows.second.get_mut(places.clone()).unwrap_or_default();
                    if let Some(new) = work(run, &mut rows.first[places], second) {
                        *sums = new;
                    }
                }
            },
        );
    }
}

/// How far the whole is off, over what it should be. A piece modelled inside out counts like the others.
fn off(state: &VolumeState, whole: f64) -> f64 {
    let each = state.regions.iter().zip(&state.target.volumes);
    let sum: f64 = each.map(|(region, target)| (region.volume - target) * target.signum()).sum();
    if whole > 0.0 { sum / whole } else { 0.0 }
}

/// Which regions still miss their volumes and can do something about it, and how far they are to go; whether any.
fn choose(state: &mut VolumeState, whole: f64) -> bool {
    let VolumeState { regions, scales, active, touched, target, .. } = state;
    for (r, region) in regions.iter().enumerate() {
        let missing = target.volumes[r] - region.volume;
        let exact = EXACT * target.volumes[r].abs().max(0.05 * whole);
        // V(x + s w A) = V + s gram / 6 + ...
        let scale = (6.0 * missing / region.gram) as f32;
        active[r] = missing.abs() > exact && region.gram > 0.0 && scale.is_finite();
        scales[r] = if active[r] { scale } else { 0.0 };
        touched[r] |= active[r];
    }
    active.contains(&true)
}

/// Where `V(t) = c1 t + c2 t^2 + c3 t^3`, known by its value at 1 and its slopes at 0 and 1, meets what is missing.
fn length(missing: f64, end: f64, [c1, slope]: [f64; 2]) -> f64 {
    let c3 = slope + c1 - 2.0 * end;
    let c2 = end - c1 - c3;
    let mut t = 1.0;
    // Newton's steps from a guess that is some percent off: four are enough for f64.
    for _ in 0..6 {
        let slope = c1 + t * (2.0 * c2 + t * 3.0 * c3);
        let next = t - (t * (c1 + t * (c2 + t * c3)) - missing) / slope;
        if !next.is_finite() || next <= 0.0 {
            return 1.0;
        }
        t = next.min(FARTHEST);
    }
    t
}
