//! Points and the ones around them, sixteen points side by side: each goes a share of the way to its offset from the middle of
//! its neighbours. Written once for every register width.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use the scalar reference alone")
)]

use crate::parallel;
use crate::simd::vectors::{add, scale, sub};
use crate::simd::{Lanes, Path};
use crate::skin::pack::BATCH;
use crate::skin::smooth::kernel::{gather, kernels};
use glam::Vec3;

/// Batches a parallel task.
const CHUNK: usize = 32;

/// A point to move: its place, how much of each step it makes, and the places around it.
pub(super) struct Point {
    pub(super) place: u32,
    pub(super) detail: f32,
    pub(super) around: Vec<u32>,
}

/// Points with their neighbours, in the order given.
pub(super) struct Rings {
    /// For each batch the first of its rows of sixteen in `around`; one more at the end.
    starts: Vec<u32>,
    /// Neighbours, and the points' own places, as offsets in numbers.
    around: Vec<u32>,
    own: Vec<u32>,
    /// One over the number of neighbours, and how much of each step a point makes.
    over: Vec<f32>,
    detail: Vec<f32>,
    /// How many places a step needs.
    needed: usize,
    /// The place of each point.
    places: Vec<u32>,
    kernel: Kernel,
}

/// What a step goes by.
pub(super) struct Step<'a> {
    /// Places, then one at the origin and one that is not used.
    pub(super) places: &'a [Vec3],
    /// By place, and one that is not used.
    pub(super) offsets: &'a [Vec3],
    pub(super) share: f32,
}

/// New places of the points of the batches from `first` on.
///
/// # Safety
/// The machine must have the kernel's instructions; places and offsets must be as many as the rings need.
type Kernel = unsafe fn(rings: &Rings, first: usize, step: &Step<'_>, next: &mut [Vec3]);

impl Rings {
    /// `nothing` is the place at the origin.
    pub(super) fn new(points: &[Point], nothing: u32, path: Path) -> Self {
        let mut made = Self {
            starts: vec![0],
            around: Vec::new(),
            own: Vec::new(),
            over: Vec::new(),
            detail: Vec::new(),
            needed: nothing as usize + 2,
            places: points.iter().map(|p| p.place).collect(),
            kernel: kernel(path),
        };
        for batch in points.chunks(BATCH) {
            // The last one fills up.
            let own = |lane: usize| &batch[lane.min(batch.len() - 1)];
            let longest = (0..BATCH).map(|lane| own(lane).around.len()).max().unwrap_or(0);
            for row in 0..longest {
                made.around.extend((0..BATCH).map(|lane| 3 * own(lane).around.get(row).unwrap_or(&nothing)));
            }
            made.own.extend((0..BATCH).map(|lane| 3 * own(lane).place));
            made.over.extend((0..BATCH).map(|lane| 1.0 / own(lane).around.len().max(1) as f32));
            made.detail.extend((0..BATCH).map(|lane| own(lane).detail));
            made.starts.push((made.around.len() / BATCH) as u32);
        }
        made
    }

    /// Room for what a step finds.
    pub(super) fn room(&self) -> usize {
        self.own.len()
    }

    /// All points at once.
    pub(super) fn step(&self, offsets: &[Vec3], share: f32, places: &mut [Vec3], next: &mut [Vec3]) {
        let most = self.places.iter().max().map_or(0, |&p| p as usize + 2);
        assert!(places.len() >= self.needed && offsets.len() >= most, "places and offsets of these points");
        let (next, step) = (&mut next[..self.room()], Step { places, offsets, share });
        parallel::for_each_chunk_mut(next, CHUNK * BATCH, |chunk, next| {
            // SAFETY: the path was found available when the skin was made; there are as many places as needed.
            unsafe { (self.kernel)(self, chunk * CHUNK, &step, next) }
        });
        for (&place, next) in self.places.iter().zip(next) {
            places[place as usize] = *next;
        }
    }
}

/// See [`Kernel`].
#[inline(always)]
unsafe fn run<V: Lanes>(rings: &Rings, first: usize, step: &Step<'_>, next: &mut [Vec3]) {
    let (places, offsets) = (step.places.as_ptr().cast::<f32>(), step.offsets.as_ptr().cast::<f32>());
    let to = next.as_mut_ptr().cast::<f32>();
    for index in 0..next.len() / BATCH {
        let batch = first + index;
        let rows = rings.starts[batch] as usize..rings.starts[batch + 1] as usize;
        for lane in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: the caller's promise; rows are sixteen long and `lane` is a multiple of the width.
            unsafe {
                let at = batch * BATCH + lane;
                let own = rings.own.as_ptr().add(at);
                let x = gather::<V>(places, own);
                let mut sum = [V::splat(0.0); 3];
                for row in rows.clone() {
                    sum = add(sum, gather::<V>(places, rings.around.as_ptr().add(row * BATCH + lane)));
                }
                let over = V::load(rings.over.as_ptr().add(at));
                let goal = add(scale(sum, over), gather::<V>(offsets, own));
                let share = V::load(rings.detail.as_ptr().add(at)).mul(V::splat(step.share));
                let [x, y, z] = add(x, scale(sub(goal, x), share));
                V::store_xyz(x, y, z, to.add(3 * (index * BATCH + lane)));
            }
        }
    }
}

kernels!(Kernel, rings: &Rings, first: usize, step: &Step<'_>, next: &mut [Vec3]);
