//! The volume around each joint: triangles, closed by fans over the borders of their region.

use crate::parallel;
use crate::rig::SkinMatrix;
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use std::ops::Range;

/// No joint, no record.
pub(super) const NONE: u32 = u32::MAX;

/// Triangles a parallel task.
const TASK: usize = 1024;

/// Determinants of joints closer to one than this are rounding of f32 matrices.
const NO_SCALE: f64 = 1e-5;

/// All regions, one per joint.
#[derive(Debug, Default)]
pub(super) struct Regions {
    /// A corner of each triangle; by region, in the order of the skin's.
    corners: Vec<u32>,
    /// Region and triangles of each task.
    tasks: Vec<(u32, Range<u32>)>,
    /// Tasks of each region.
    tasks_of: Vec<Range<u32>>,
    /// A place of each region, to measure from: less cancellation.
    origins: Vec<u32>,
    /// Pieces of border, each closed by a fan around its middle.
    borders: Vec<Vec<Vec<[u32; 2]>>>,
    volumes: Vec<f64>,
    /// How much each slot carries of a region: its volume goes with their scales.
    carriers: Vec<Vec<(u16, f64)>>,
}

/// What one moving copy needs.
#[derive(Debug, Default, Clone)]
pub(super) struct State {
    sums: Vec<f64>,
    /// Of each region.
    pub volumes: Vec<f64>,
}

impl Regions {
    /// `triangles` sorted by region, those of none last; `region_of` says which.
    pub(super) fn new(
        count: usize,
        rest: &[Vec3],
        triangles: &[[u32; 3]],
        region_of: impl Fn(&[u32; 3]) -> u32,
        slots: impl Fn(usize) -> Vec<(u16, f64)>,
    ) -> Self {
        let mut made = Self {
            corners: triangles.iter().map(|t| t[0]).collect(),
            tasks_of: vec![0..0; count],
            origins: vec![0; count],
            borders: vec![Vec::new(); count],
            volumes: vec![0.0; count],
            carriers: vec![Vec::new(); count],
            ..Self::default()
        };
        let mut start = 0;
        for run in triangles.chunk_by(|a, b| region_of(a) == region_of(b)) {
            let (region, end) = (region_of(&run[0]), start + run.len());
            if region != NONE {
                let first_task = made.tasks.len() as u32;
                for from in (start..end).step_by(TASK) {
                    made.tasks.push((region, from as u32..end.min(from + TASK) as u32));
                }
                let region = region as usize;
                made.tasks_of[region] = first_task..made.tasks.len() as u32;
                made.origins[region] = run[0][0];
                made.borders[region] = borders(run);
                made.carriers[region] = carriers(run, rest, &slots);
            }
            start = end;
        }
        let area = |&[a, b, c]: &[u32; 3]| {
            let [a, b, c] = [rest[a as usize], rest[b as usize], rest[c as usize]];
            (b - a).cross(c - a)
        };
        let mut state = State::default();
        made.measure(rest, &triangles.iter().map(area).collect::<Vec<_>>(), &mut state);
        made.volumes = state.volumes;
        made
    }

    /// The volume of a region at rest.
    pub(super) fn volume(&self, region: usize) -> f64 {
        self.volumes[region]
    }

    /// -1 where the skin is modelled inside out.
    pub(super) fn sign(&self, region: usize) -> f64 {
        if self.volumes[region] < 0.0 { -1.0 } else { 1.0 }
    }

    /// What the joints' scales make of a region's volume.
    pub(super) fn scale(&self, region: usize, matrices: &[SkinMatrix]) -> f64 {
        let of_slot = |slot: u16| {
            let [x, y, z] =
                matrices[usize::from(slot)].map(|r| DVec3::new(r[0].into(), r[1].into(), r[2].into()));
            let det = x.dot(y.cross(z));
            if (det - 1.0).abs() < NO_SCALE { 1.0 } else { det }
        };
        self.carriers[region].iter().map(|&(slot, share)| share * of_slot(slot)).sum()
    }

    /// The volume of each region: `areas` are twice the area vectors of all triangles.
    pub(super) fn measure(&self, places: &[Vec3], areas: &[Vec3], state: &mut State) {
        let State { sums, volumes } = state;
        sums.resize(self.tasks.len(), 0.0);
        let origin = |region: usize| places[self.origins[region] as usize];
        parallel::for_each_chunk_mut(sums, 1, |task, sum| {
            let (region, range) = &self.tasks[task];
            let range = range.start as usize..range.end as usize;
            let origin = origin(*region as usize);
            let triangles = self.corners[range.clone()].iter().zip(&areas[range]);
            sum[0] = triangles.map(|(&p, area)| f64::from((places[p as usize] - origin).dot(*area))).sum();
        });
        volumes.clear();
        for (region, tasks) in self.tasks_of.iter().enumerate() {
            let mut total: f64 = sums[tasks.start as usize..tasks.end as usize].iter().sum();
            let origin = origin(region);
            for border in &self.borders[region] {
                let at = |p: u32| places[p as usize] - origin;
                let share = 1.0 / border.len() as f32;
                let middle = border.iter().fold(Vec3::ZERO, |sum, edge| sum + at(edge[0]) * share);
                let fan = border.iter().map(|&[a, b]| f64::from(middle.dot(at(b).cross(at(a)))));
                total += fan.sum::<f64>();
            }
            volumes.push(total / 6.0);
        }
    }
}

/// The edges that only one side of belongs to the region, as connected pieces.
fn borders(triangles: &[[u32; 3]]) -> Vec<Vec<[u32; 2]>> {
    // Of each edge, by its lower end first, how often it is passed that way less how often the other way.
    let mut passes: BTreeMap<(u32, u32), i32> = BTreeMap::new();
    for &[a, b, c] in triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            *passes.entry((from.min(to), from.max(to))).or_default() += if from < to { 1 } else { -1 };
        }
    }
    let mut edges: Vec<[u32; 2]> = Vec::new();
    for ((low, high), count) in passes {
        let ends = if count > 0 { [low, high] } else { [high, low] };
        edges.extend((0..count.unsigned_abs()).map(|_| ends));
    }
    // Pieces by the lowest place that they reach.
    let mut first: BTreeMap<u32, u32> = edges.iter().flatten().map(|&p| (p, p)).collect();
    fn root(first: &mut BTreeMap<u32, u32>, mut place: u32) -> u32 {
        while first[&place] != place {
            let up = first[&first[&place]];
            first.insert(place, up);
            place = up;
        }
        place
    }
    for &[a, b] in &edges {
        let (a, b) = (root(&mut first, a), root(&mut first, b));
        first.insert(a.max(b), a.min(b));
    }
    let mut pieces: BTreeMap<u32, Vec<[u32; 2]>> = BTreeMap::new();
    for ends in edges {
        let piece = root(&mut first, ends[0]);
        pieces.entry(piece).or_default().push(ends);
    }
    pieces.into_values().collect()
}

/// How much each slot carries, by area.
fn carriers(
    triangles: &[[u32; 3]],
    rest: &[Vec3],
    slots: &impl Fn(usize) -> Vec<(u16, f64)>,
) -> Vec<(u16, f64)> {
    let mut sums: BTreeMap<u16, f64> = BTreeMap::new();
    for corners in triangles {
        let [a, b, c] = corners.map(|p| rest[p as usize].as_dvec3());
        let area = (b - a).cross(c - a).length().max(f64::MIN_POSITIVE);
        for &corner in corners {
            for (slot, weight) in slots(corner as usize) {
                *sums.entry(slot).or_default() += area * weight;
            }
        }
    }
    let total: f64 = sums.values().sum();
    sums.into_iter().map(|(slot, sum)| (slot, sum / total)).collect()
}
