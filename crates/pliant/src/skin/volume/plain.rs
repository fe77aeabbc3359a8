//! The reference: plain Rust, one point after the other. What every other path must equal to the last bit.

use super::kernel::{AreaJob, Block, Row, SettleJob, StepJob, Stepped, Sums, TakeJob, WeighJob};
use super::pack::{BATCH, Run};
use crate::simd::vectors::plain::dot;
use glam::Vec3;

fn at(row: &Row) -> Vec3 {
    Vec3::new(row[0], row[1], row[2])
}

fn row(v: Vec3) -> Row {
    [v.x, v.y, v.z, 0.0]
}

/// One vector of a block.
pub(super) fn of(block: &Block, lane: usize) -> Vec3 {
    Vec3::new(block[0][lane], block[1][lane], block[2][lane])
}

pub(super) fn put(block: &mut Block, lane: usize, v: Vec3) {
    (block[0][lane], block[1][lane], block[2][lane]) = (v.x, v.y, v.z);
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    Vec3::new(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}

fn give(area: Vec3, away: Option<&[Row]>, place: usize) -> f32 {
    match away {
        Some(away) => {
            let along = dot(area, at(&away[place]));
            along * along
        }
        None => dot(area, area),
    }
}

/// See [`super::kernel::take`].
pub(super) fn take(job: &TakeJob<'_>, weights: &mut [f32], keeps: &mut [f32]) -> Sums {
    let mut lanes = [[0f32; BATCH]; 3];
    for place in 0..weights.len() {
        weights[place] *= std::mem::replace(&mut keeps[place], 1.0);
        lanes[1][place % BATCH] +=
            weights[place] * give(of(&job.areas[place / BATCH], place % BATCH), job.away, place);
    }
    Sums::of(&lanes)
}

/// See [`super::kernel::areas`].
pub(super) fn areas(job: &AreaJob<'_>, run: &Run, areas: &mut [Block]) -> Sums {
    let origin = at(&job.origins[run.region as usize]);
    let mut lanes = [[0f32; BATCH]; 3];
    for (k, batch) in run.batches.clone().enumerate() {
        let rows = job.pack.starts[batch] as usize..job.pack.starts[batch + 1] as usize;
        for lane in 0..BATCH {
            let place = batch * BATCH + lane;
            let x = at(&job.points[place]);
            let neighbour = |r: usize| at(&job.points[job.pack.rings[r * BATCH + lane] as usize / 4]);
            let mut area = Vec3::ZERO;
            if !rows.is_empty() {
                let mut before = neighbour(rows.start) - x;
                for r in rows.start + 1..rows.end {
                    let next = neighbour(r) - x;
                    area += cross(before, next);
                    before = next;
                }
            }
            lanes[0][lane] += dot(x - origin, area);
            if let Some(Stepped { weights, moves }) = job.stepped {
                lanes[1][lane] += weights[place] * give(area, job.away, place);
                lanes[2][lane] += dot(area, of(&moves[batch], lane));
            }
            put(&mut areas[k], lane, area);
        }
    }
    Sums::of(&lanes)
}

/// See [`super::kernel::step`].
pub(super) fn step(job: &StepJob<'_>, run: &Run, points: &mut [Row], moves: &mut [Block]) -> Sums {
    let scale = job.scales[run.region as usize];
    let mut lanes = [[0f32; BATCH]; 3];
    for (k, batch) in run.batches.clone().enumerate() {
        for lane in 0..BATCH {
            let place = batch * BATCH + lane;
            let area = of(&job.areas[batch], lane);
            let way = match job.away {
                Some(away) => {
                    let away = at(&away[place]);
                    away * dot(area, away)
                }
                None => area,
            };
            let mut moved = way * (scale * job.weights[place]);
            let (square, cap) = (dot(moved, moved), job.caps[place] * job.cap);
            let within = cap * cap >= square;
            if !within {
                moved *= cap / square.sqrt();
            }
            points[k * BATCH + lane] = row(at(&points[k * BATCH + lane]) + moved);
            put(&mut moves[k], lane, moved);
            lanes[0][lane] += dot(area, moved);
        }
    }
    Sums::of(&lanes)
}

/// See [`super::kernel::weigh`].
pub(super) fn weigh(job: &WeighJob<'_>, batch: usize, weights: &mut [f32]) {
    let rows = job.starts[batch] as usize..job.starts[batch + 1] as usize;
    for lane in 0..BATCH {
        let place = batch * BATCH + lane;
        let (rest, now) = (of(&job.rest[batch], lane), at(&job.points[place]));
        let mut apart = 0f32;
        for r in rows.clone() {
            let [a, b, c] = &job.matrices[job.slots[r * BATCH + lane] as usize / 12];
            let number = |m: &[f32; 4]| m[0] * rest.x + m[1] * rest.y + m[2] * rest.z + m[3];
            let off = Vec3::new(number(a), number(b), number(c)) - now;
            apart += job.shares[r * BATCH + lane] * dot(off, off).sqrt();
        }
        let active = (apart - job.still) * job.rates[place];
        let active = if active >= 0.0 { active } else { 0.0 };
        let active = if 1.0 >= active { active } else { 1.0 };
        weights[lane] = job.gammas[place] * active;
    }
}

/// See [`super::kernel::settle`].
pub(super) fn settle(job: &SettleJob<'_>, points: &mut [Row], turns: &mut [Row]) {
    for (k, (point, turned)) in points.iter_mut().zip(turns).enumerate() {
        let (batch, lane) = (k / BATCH, k % BATCH);
        *point = row(at(point) + of(&job.moves[batch], lane) * job.more);
        let [begin, end] = job.areas.map(|areas| of(&areas[batch], lane));
        *turned = row(turn(of(&job.skinned[batch], lane), end + (end - begin) * job.more));
    }
}

/// How the normal of an area turns.
pub(super) fn turn(was: Vec3, now: Vec3) -> Vec3 {
    let turned = now * (1.0 / dot(now, now).sqrt()) - was * (1.0 / dot(was, was).sqrt());
    let some = |x: f32| if x * x >= 0.0 { x } else { 0.0 };
    Vec3::new(some(turned.x), some(turned.y), some(turned.z))
}
