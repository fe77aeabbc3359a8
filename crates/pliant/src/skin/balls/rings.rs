//! Points and the ones around them, side by side in memory.

use crate::parallel;
use crate::skin::mesh::Mesh;
use glam::Vec3;

/// Points a parallel task.
const CHUNK: usize = 512;

/// The neighbours of some points, by their places among those points and the ones around them.
pub(super) struct Rings {
    starts: Vec<u32>,
    around: Vec<u32>,
    /// Those that are smoothed more.
    border: Vec<u32>,
}

impl Rings {
    /// Of these points. Also all points that places are of: these, then those around them.
    pub(super) fn new(mesh: &Mesh, points: &[u32], is_border: impl Fn(u32) -> bool) -> (Self, Vec<u32>) {
        let mut local = vec![u32::MAX; mesh.len()];
        let mut locals = points.to_vec();
        points.iter().enumerate().for_each(|(k, &p)| local[p as usize] = k as u32);
        let (mut starts, mut around) = (vec![0], Vec::new());
        let mut own: Vec<usize> = Vec::new();
        for &point in points {
            own.clear();
            mesh.for_neighbours(point as usize, |n| own.push(n));
            own.sort_unstable();
            own.dedup();
            for &n in &own {
                if local[n] == u32::MAX {
                    local[n] = locals.len() as u32;
                    locals.push(n as u32);
                }
                around.push(local[n]);
            }
            starts.push(around.len() as u32);
        }
        let border = (0..points.len() as u32).filter(|&k| is_border(points[k as usize])).collect();
        (Self { starts, around, border }, locals)
    }

    fn of(&self, point: usize) -> &[u32] {
        &self.around[self.starts[point] as usize..self.starts[point + 1] as usize]
    }

    /// The middle of a point's neighbours.
    pub(super) fn middle(&self, point: usize, places: &[Vec3]) -> Vec3 {
        let ring = self.of(point);
        let sum = ring.iter().fold(Vec3::ZERO, |sum, &n| sum + places[n as usize]);
        sum / ring.len().max(1) as f32
    }

    fn moved(&self, point: usize, offset: Vec3, share: f32, places: &[Vec3]) -> Vec3 {
        let own = places[point];
        own + (self.middle(point, places) + offset - own) * share
    }

    /// All points at once go a share of the way to their offset from the middle of their neighbours.
    pub(super) fn step(
        &self,
        offsets: &[Vec3],
        detail: &[f32],
        share: f32,
        places: &mut [Vec3],
        next: &mut [Vec3],
    ) {
        let now = &*places;
        parallel::for_each_chunk_mut(next, CHUNK, |chunk, next| {
            for (k, next) in next.iter_mut().enumerate() {
                let point = chunk * CHUNK + k;
                *next = self.moved(point, offsets[point], share * detail[point], now);
            }
        });
        places[..next.len()].copy_from_slice(next);
    }

    /// The same of those at borders alone.
    pub(super) fn border_step(
        &self,
        offsets: &[Vec3],
        detail: &[f32],
        share: f32,
        places: &mut [Vec3],
        next: &mut [Vec3],
    ) {
        let (now, next) = (&*places, &mut next[..self.border.len()]);
        parallel::for_each_chunk_mut(next, CHUNK, |chunk, next| {
            for (next, &point) in next.iter_mut().zip(&self.border[chunk * CHUNK..]) {
                let point = point as usize;
                *next = self.moved(point, offsets[point], share * detail[point], now);
            }
        });
        for (&point, next) in self.border.iter().zip(next) {
            places[point as usize] = *next;
        }
    }
}
