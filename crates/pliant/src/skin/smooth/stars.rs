//! The skin around points, sixteen points side by side: its vector area there, written once for every register width.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(dead_code, reason = "machines without wide registers use the scalar reference alone")
)]

use super::kernel::gather;
use crate::parallel;
use crate::simd::vectors::{add, cross, dot, sub, unit_or};
use crate::simd::{Lanes, Path};
use crate::skin::pack::{BATCH, ring};
use glam::Vec3;

/// Points within which those with rings of one length are brought together.
const WINDOW: usize = 512;
/// Batches a parallel task.
const CHUNK: usize = 32;

/// Points with the triangles around them.
#[derive(Debug)]
pub(super) struct Stars {
    /// For each batch the first of its rows of sixteen in `rings`; one more at the end.
    starts: Vec<u32>,
    /// The places around each point, one after the other, as offsets in numbers: consecutive ones make triangles with it.
    rings: Vec<u32>,
    /// Whether all rings of a batch are closed: then their last places make triangles with their first.
    closed: Vec<bool>,
    /// The points' own places.
    centres: Vec<u32>,
    /// How many places a look needs: up to the last that is named, and one more to read over its end.
    needed: usize,
    kernel: Kernel,
}

/// What a step finds, sixteen numbers a batch.
#[derive(Debug, Default, Clone)]
pub(in crate::skin) struct Around {
    /// Unit normals; zero where there is none.
    pub normals: Vec<Vec3>,
    /// Twice the area across the normal.
    pub areas: Vec<f32>,
}

/// Normals and areas of the batches from `first` on.
///
/// # Safety
/// The machine must have the kernel's instructions; the places must be those of the stars, and one more.
type Kernel =
    unsafe fn(stars: &Stars, first: usize, places: &[Vec3], normals: &mut [Vec3], areas: &mut [f32]);

impl Stars {
    /// Stars of points, each a place and the other two corners of each triangle there; and the point of each lane. Those of
    /// one `group` come one after the other, and share batches with no others: the last one fills up.
    pub(super) fn new(
        points: Vec<(u32, Vec<[u32; 2]>)>,
        group: impl Fn(u32) -> u32,
        path: Path,
    ) -> (Self, Vec<u32>) {
        let rings = points.into_iter().map(|(place, pairs)| (place, ring(place, pairs)));
        let rings: Vec<(u32, Vec<u32>)> = rings.collect();
        let mut sorted: Vec<u32> = (0..rings.len() as u32).collect();
        let mut lanes = Vec::with_capacity(rings.len().next_multiple_of(BATCH));
        for own in sorted.chunk_by_mut(|&a, &b| group(rings[a as usize].0) == group(rings[b as usize].0)) {
            own.chunks_mut(WINDOW).for_each(|w| w.sort_by_key(|&k| rings[k as usize].1.len()));
            lanes.extend_from_slice(own);
            lanes.resize(lanes.len().next_multiple_of(BATCH), own[own.len() - 1]);
        }
        let (centres, kernel) = (Vec::new(), kernel(path));
        let (closed, needed) = (Vec::new(), 0);
        let mut made = Self { starts: vec![0], rings: Vec::new(), closed, centres, needed, kernel };
        for batch in lanes.chunks(BATCH) {
            let own = |lane: usize| &rings[batch[lane] as usize];
            let closed = (0..BATCH).all(|lane| own(lane).1.first() == own(lane).1.last());
            let once = |lane: usize| own(lane).1.len().saturating_sub(usize::from(closed));
            let longest = (0..BATCH).map(once).max().unwrap_or(0);
            for row in 0..longest {
                // The last again where a ring is shorter than others, so that nothing is added.
                let last = |lane: usize| row.min(once(lane).saturating_sub(1));
                let place = |lane: usize| own(lane).1.get(last(lane)).unwrap_or(&own(lane).0);
                made.rings.extend((0..BATCH).map(|lane| 3 * place(lane)));
            }
            made.closed.push(closed);
            made.centres.extend((0..BATCH).map(|lane| 3 * own(lane).0));
            made.starts.push((made.rings.len() / BATCH) as u32);
        }
        made.needed = made.rings.iter().chain(&made.centres).max().map_or(0, |&last| last as usize / 3 + 2);
        (made, lanes)
    }

    /// The skin around all points. `places` are followed by one that is not used.
    pub(super) fn look(&self, places: &[Vec3], around: &mut Around) {
        assert!(places.len() >= self.needed, "the places of these points, and one more");
        around.normals.resize(self.centres.len(), Vec3::ZERO);
        around.areas.resize(self.centres.len(), 0.0);
        let Around { normals, areas } = around;
        parallel::for_each_chunk_pair_mut(normals, areas, CHUNK * BATCH, |chunk, normals, areas| {
            // SAFETY: the path was found available when the skin was made; there are as many places as it needs.
            unsafe { (self.kernel)(self, chunk * CHUNK, places, normals, areas) }
        });
    }
}

/// See [`Kernel`].
#[inline(always)]
unsafe fn run<V: Lanes>(
    stars: &Stars,
    first: usize,
    places: &[Vec3],
    normals: &mut [Vec3],
    areas: &mut [f32],
) {
    let places = places.as_ptr().cast::<f32>();
    let (normals_to, areas_to) = (normals.as_mut_ptr().cast::<f32>(), areas.as_mut_ptr());
    for index in 0..areas.len() / BATCH {
        let batch = first + index;
        let rows = stars.starts[batch] as usize..stars.starts[batch + 1] as usize;
        for lane in (0..BATCH).step_by(V::WIDTH) {
            // SAFETY: the caller's promise; rows are sixteen long and `lane` is a multiple of the width.
            unsafe {
                let x = gather::<V>(places, stars.centres.as_ptr().add(batch * BATCH + lane));
                let ring = stars.rings.as_ptr().add(lane);
                let mut area = [V::splat(0.0); 3];
                if !rows.is_empty() {
                    let begin = sub(gather::<V>(places, ring.add(rows.start * BATCH)), x);
                    let mut before = begin;
                    for row in rows.start + 1..rows.end {
                        let next = sub(gather::<V>(places, ring.add(row * BATCH)), x);
                        area = add(area, cross(before, next));
                        before = next;
                    }
                    if stars.closed[batch] {
                        area = add(area, cross(before, begin));
                    }
                }
                let [nx, ny, nz] = unit_or(area, [V::splat(0.0); 3]);
                let to = index * BATCH + lane;
                dot(area, [nx, ny, nz]).store(areas_to.add(to));
                V::store_xyz(nx, ny, nz, normals_to.add(3 * to));
            }
        }
    }
}

super::kernel::kernels!(
    Kernel,
    stars: &Stars,
    first: usize,
    places: &[Vec3],
    normals: &mut [Vec3],
    areas: &mut [f32]
);
