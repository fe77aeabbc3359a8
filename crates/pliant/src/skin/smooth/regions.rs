//! The volume around each joint: triangles, closed by fans over the borders of their region.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use the scalar reference alone")
)]

use super::kernel::gather;
use crate::parallel;
use crate::rig::SkinMatrix;
use crate::simd::vectors::{cross, dot, sub};
use crate::simd::{Lanes, Path};
use crate::skin::pack::BATCH;
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use std::ops::Range;

/// No joint, no record.
pub(super) const NONE: u32 = u32::MAX;

/// Triangles a parallel task, of one region.
const TASK: usize = 1024;

/// Determinants of joints closer to one than this are rounding of f32 matrices.
const NO_SCALE: f64 = 1e-5;

/// Sixteen triangles: the places of their corners, as offsets in numbers. Fillers have one place for all.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(super) struct Corners([[u32; BATCH]; 3]);

/// Skin that is measured in one go.
#[derive(Debug)]
pub(super) struct Task {
    pub region: u32,
    batches: Range<u32>,
    /// Whether it is the one that its region's borders are measured with.
    has_borders: bool,
    /// Joints whose bulges move any of it.
    pub joints: Vec<u16>,
}

/// All regions, one per joint.
#[derive(Debug)]
pub(super) struct Regions {
    corners: Vec<Corners>,
    tasks: Vec<Task>,
    /// Tasks of each region.
    tasks_of: Vec<Range<u32>>,
    /// A place of each region, to measure from: less cancellation.
    origins: Vec<u32>,
    /// Pieces of border, each closed by a fan around its middle.
    borders: Vec<Vec<Vec<[u32; 2]>>>,
    volumes: Vec<f64>,
    /// How much each slot carries of a region: its volume goes with their scales.
    carriers: Vec<Vec<(u16, f64)>>,
    /// How many places are needed: up to the last that is named, and one more to read over its end.
    needed: usize,
    kernel: Kernel,
}

/// What one moving copy needs.
#[derive(Debug, Default, Clone)]
pub(super) struct State {
    sums: Vec<f64>,
    /// Of each region.
    pub volumes: Vec<f64>,
}

/// Six times the volume between an origin and triangles.
///
/// # Safety
/// The machine must have the kernel's instructions; the places must be those of the corners, and one more.
type Kernel = unsafe fn(corners: &[Corners], places: &[Vec3], origin: Vec3, sum: &mut f64);

/// See [`Kernel`]. Each lane has its own sum, whatever the width: they are added in order.
#[inline(always)]
unsafe fn run<V: Lanes>(corners: &[Corners], places: &[Vec3], origin: Vec3, sum: &mut f64) {
    let places = places.as_ptr().cast::<f32>();
    let mut sums = [0f32; BATCH];
    for lane in (0..BATCH).step_by(V::WIDTH) {
        // SAFETY: the caller's promise; rows are sixteen long and `lane` is a multiple of the width.
        unsafe {
            let origin = [V::splat(origin.x), V::splat(origin.y), V::splat(origin.z)];
            let mut total = V::splat(0.0);
            for Corners([a, b, c]) in corners {
                let a = gather::<V>(places, a.as_ptr().add(lane));
                let b = gather::<V>(places, b.as_ptr().add(lane));
                let c = gather::<V>(places, c.as_ptr().add(lane));
                total = total.add(dot(sub(a, origin), cross(sub(b, a), sub(c, a))));
            }
            total.store(sums.as_mut_ptr().add(lane));
        }
    }
    *sum = sums.iter().map(|&x| f64::from(x)).sum();
}

super::kernel::kernels!(Kernel, corners: &[Corners], places: &[Vec3], origin: Vec3, sum: &mut f64);

impl Regions {
    /// `triangles` in any order; `region_of` says where each belongs. `rest` places are followed by one that is not used.
    pub(super) fn new(
        count: usize,
        rest: &[Vec3],
        triangles: &[[u32; 3]],
        region_of: impl Fn(&[u32; 3]) -> u32,
        slots: impl Fn(usize) -> Vec<(u16, f64)>,
        path: Path,
    ) -> Self {
        let mut made = Self {
            corners: Vec::new(),
            tasks: Vec::new(),
            tasks_of: vec![0..0; count],
            origins: vec![0; count],
            borders: vec![Vec::new(); count],
            volumes: Vec::new(),
            carriers: vec![Vec::new(); count],
            needed: triangles.iter().flatten().max().map_or(0, |&last| last as usize + 2),
            kernel: kernel(path),
        };
        let mut sorted: Vec<[u32; 3]> = triangles.iter().copied().filter(|t| region_of(t) != NONE).collect();
        sorted.sort_by_key(&region_of);
        for own in sorted.chunk_by(|a, b| region_of(a) == region_of(b)) {
            let (region, first) = (region_of(&own[0]), made.tasks.len() as u32);
            for (index, own) in own.chunks(TASK).enumerate() {
                let start = made.corners.len() as u32;
                made.corners.extend(own.chunks(BATCH).map(Corners::new));
                let batches = start..made.corners.len() as u32;
                made.tasks.push(Task { region, batches, has_borders: index == 0, joints: Vec::new() });
            }
            let region = region as usize;
            made.tasks_of[region] = first..made.tasks.len() as u32;
            made.origins[region] = own[0][0];
            made.borders[region] = borders(own);
            made.carriers[region] = carriers(own, rest, &slots);
        }
        let mut state = State::default();
        made.measure(rest, |_| true, &mut state);
        made.volumes = state.volumes;
        made
    }

    /// Says which joints' bulges move each place.
    pub(super) fn set_movers(&mut self, movers: impl Fn(u32) -> Vec<u16>) {
        for task in &mut self.tasks {
            let corners = &self.corners[task.batches.start as usize..task.batches.end as usize];
            let mut places: Vec<u32> = corners.iter().flat_map(|c| c.0).flatten().map(|o| o / 3).collect();
            if task.has_borders {
                places.extend(self.borders[task.region as usize].iter().flatten().flatten());
            }
            places.sort_unstable();
            places.dedup();
            task.joints = places.into_iter().flat_map(&movers).collect();
            task.joints.sort_unstable();
            task.joints.dedup();
        }
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

    /// The volume of each region, of which wanted tasks are looked at again.
    pub(super) fn measure(
        &self,
        places: &[Vec3],
        is_wanted: impl Fn(&Task) -> bool + Sync + Send,
        state: &mut State,
    ) {
        assert!(places.len() >= self.needed, "the places of these triangles, and one more");
        let State { sums, volumes } = state;
        sums.resize(self.tasks.len(), 0.0);
        parallel::for_each_chunk_mut(sums, 1, |index, sum| {
            let task = &self.tasks[index];
            if !is_wanted(task) {
                return;
            }
            let region = task.region as usize;
            let origin = places[self.origins[region] as usize];
            let corners = &self.corners[task.batches.start as usize..task.batches.end as usize];
            // SAFETY: the path was found available when the skin was made; there are as many places as it needs.
            unsafe { (self.kernel)(corners, places, origin, &mut sum[0]) }
            for border in self.borders[region].iter().filter(|_| task.has_borders) {
                let at = |p: u32| places[p as usize] - origin;
                let share = 1.0 / border.len() as f32;
                let middle = border.iter().fold(Vec3::ZERO, |sum, edge| sum + at(edge[0]) * share);
                let fan = border.iter().map(|&[a, b]| f64::from(middle.dot(at(b).cross(at(a)))));
                sum[0] += fan.sum::<f64>();
            }
        });
        volumes.clear();
        volumes.extend(
            self.tasks_of
                .iter()
                .map(|tasks| sums[tasks.start as usize..tasks.end as usize].iter().sum::<f64>() / 6.0),
        );
    }
}

impl Corners {
    fn new(triangles: &[[u32; 3]]) -> Self {
        let mut made = Self([[3 * triangles[0][0]; BATCH]; 3]);
        for (lane, corners) in triangles.iter().enumerate() {
            (0..3).for_each(|k| made.0[k][lane] = 3 * corners[k]);
        }
        made
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
