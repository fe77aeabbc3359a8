//! The reference: plain Rust, one point after the other. What every other path must equal to the last bit.

use super::gives::{GiveRow, Giving};
use super::kernel::{AreaJob, Block, FLAT, Row, SettleJob, StepJob, Stepped, Sums, TakeJob, WeighJob};
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

fn gain(area: Vec3, away: Option<&[Row]>, place: usize) -> f32 {
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
            weights[place] * gain(of(&job.areas[place / BATCH], place % BATCH), job.away, place);
    }
    Sums::all(&lanes)
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
                let begin = neighbour(rows.start) - x;
                let mut before = begin;
                for r in rows.start + 1..rows.end {
                    let next = neighbour(r) - x;
                    area += cross(before, next);
                    before = next;
                }
                if job.pack.closed[batch] {
                    area += cross(before, begin);
                }
            }
            lanes[0][lane] += dot(x - origin, area);
            if let Some(Stepped { weights, moves }) = job.stepped {
                lanes[1][lane] += weights[place] * gain(area, job.away, place);
                lanes[2][lane] += dot(area, of(&moves[batch], lane));
            }
            put(&mut areas[k], lane, area);
        }
    }
    Sums::all(&lanes)
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
    Sums::all(&lanes)
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
pub(super) fn settle(job: &SettleJob<'_>, points: &[Row], settled: &mut [Row], normals: &mut [Row]) {
    for (k, settled) in settled.iter_mut().enumerate() {
        *settled = row(at(&points[k]) + of(&job.moves[k / BATCH], k % BATCH) * job.more);
    }
    for (k, normal) in normals.iter_mut().enumerate() {
        let (batch, lane) = (k / BATCH, k % BATCH);
        let [begin, end] = job.areas.map(|areas| of(&areas[batch], lane));
        *normal = row(turn(at(normal), of(&job.skinned[batch], lane), end + (end - begin) * job.more));
    }
}

/// See [`super::kernel::carry`].
pub(super) fn carry([a, b, c]: &[[f32; 3]; 3], rest: &[Block], areas: &mut [Block]) {
    for (areas, [x, y, z]) in areas.iter_mut().zip(rest) {
        for i in 0..3 {
            for lane in 0..BATCH {
                areas[i][lane] = a[i] * x[lane] + b[i] * y[lane] + c[i] * z[lane];
            }
        }
    }
}

/// See [`super::kernel::give`].
pub(super) fn give(giving: &Giving, row: &GiveRow, weights: &mut [f32]) {
    for (lane, weight) in weights.iter_mut().enumerate() {
        let x = (giving.reach - row.froms[lane]) / giving.over;
        let x = if x >= 0.0 { x } else { 0.0 };
        let x = if 1.0 >= x { x } else { 1.0 };
        *weight += giving.amount * row.shares[lane] * (x * x * (3.0 - 2.0 * x));
    }
}

/// A normal that turns as that of an area does.
pub(super) fn turn(normal: Vec3, was: Vec3, now: Vec3) -> Vec3 {
    let turned = now * (1.0 / dot(now, now).sqrt()) - was * (1.0 / dot(was, was).sqrt());
    let some = |x: f32| if x * x >= 0.0 { x } else { 0.0 };
    let turned = normal + Vec3::new(some(turned.x), some(turned.y), some(turned.z));
    let square = dot(turned, turned);
    if square >= FLAT { turned * (1.0 / square.sqrt()) } else { normal }
}
