//! The reference: plain Rust, one constraint after the other. What every other path must equal to the last bit, and what
//! benches compare with.

use super::judge::Sums;
use super::kernel::{Binds, Task};
use super::pack::BATCH;
use super::{DIRECTION_FLOOR, NO_STIFFNESS, Node};
use crate::simd::vectors::plain::dot;
use glam::Vec3;

fn split([x, y, z, w]: Node) -> (Vec3, f32) {
    (Vec3::new(x, y, z), w)
}

fn join(p: Vec3, w: f32) -> Node {
    [p.x, p.y, p.z, w]
}

/// The larger; `b` where they are equal or one is NaN.
fn max(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

pub(super) fn stretch(task: &mut Task<'_, 2>, nodes: &mut [Node]) {
    match task.multipliers.is_empty() {
        true => stretch_with::<false>(task, nodes),
        false => stretch_with::<true>(task, nodes),
    }
}

fn stretch_with<const COMPLIANT: bool>(task: &mut Task<'_, 2>, nodes: &mut [Node]) {
    for (slot, &[first, second]) in task.plain.iter().enumerate() {
        if first == second {
            continue;
        }
        let (a, wa) = split(nodes[first as usize]);
        let (b, wb) = split(nodes[second as usize]);
        let (target, stiffness) = (task.targets[slot], task.stiffness[slot]);
        let along = a - b;
        let length = dot(along, along).sqrt();
        let over = max(length, target * DIRECTION_FLOOR);
        let weight = wa + wb;
        let still = over * weight <= 0.0;
        let step = if COMPLIANT {
            compliant_step(still, target - length, weight, stiffness, &mut task.multipliers[slot]) / over
        } else {
            stiffness * (target - length) / (over * weight)
        };
        let step = if still { 0.0 } else { step };
        nodes[first as usize] = join(a + along * (step * wa), wa);
        nodes[second as usize] = join(b - along * (step * wb), wb);
    }
}

/// `(short - a l) / (weight + a)`, added to the multiplier `l`.
fn compliant_step(still: bool, short: f32, weight: f32, compliance: f32, multiplier: &mut f32) -> f32 {
    let mut step = 0.0;
    if !still && compliance < NO_STIFFNESS {
        step = (short - compliance * *multiplier) / (weight + compliance);
    }
    *multiplier += step;
    step
}

pub(super) fn volume(task: &mut Task<'_, 4>, nodes: &mut [Node]) {
    match task.multipliers.is_empty() {
        true => volume_with::<false>(task, nodes),
        false => volume_with::<true>(task, nodes),
    }
}

fn volume_with<const COMPLIANT: bool>(task: &mut Task<'_, 4>, nodes: &mut [Node]) {
    for (slot, corners) in task.plain.iter().enumerate() {
        if corners[0] == corners[1] {
            continue;
        }
        let [n1, n2, n3, n4] = corners.map(|n| n as usize);
        let ((p1, w1), (p2, w2)) = (split(nodes[n1]), split(nodes[n2]));
        let ((p3, w3), (p4, w4)) = (split(nodes[n3]), split(nodes[n4]));
        let (a, b, c) = (p2 - p1, p3 - p1, p4 - p1);
        let (g2, g3, g4) = (b.cross(c), c.cross(a), a.cross(b));
        // The negative of the gradient.
        let g1 = g2 + g3 + g4;
        let mut short = task.targets[slot] - dot(a, g2);
        let mut over = dot(g1, g1) * w1 + dot(g2, g2) * w2 + dot(g3, g3) * w3 + dot(g4, g4) * w4;
        let stiffness = task.stiffness[slot];
        let still = over <= 0.0;
        let mut pull = stiffness * short;
        if COMPLIANT {
            short -= stiffness * task.multipliers[slot];
            over += stiffness;
            pull = if stiffness < NO_STIFFNESS { short } else { 0.0 };
        }
        let least = short * short * task.limits[slot] * (w1 + w2 + w3 + w4);
        let step = if still { 0.0 } else { pull / max(least, over) };
        if COMPLIANT {
            task.multipliers[slot] += step;
        }
        nodes[n1] = join(p1 - g1 * (step * w1), w1);
        nodes[n2] = join(p2 + g2 * (step * w2), w2);
        nodes[n3] = join(p3 + g3 * (step * w3), w3);
        nodes[n4] = join(p4 + g4 * (step * w4), w4);
    }
}

pub(super) fn bind(binds: &mut Binds<'_>, nodes: &mut [Node]) {
    for (slot, node) in nodes.iter_mut().enumerate() {
        let (p, w) = split(*node);
        let [x, y, z, target, stiffness] = binds.numbers[slot / BATCH].map(|row| row.0[slot % BATCH]);
        let point = Vec3::new(x, y, z);
        let along = p - point;
        let length = dot(along, along).sqrt();
        let over = max(length, target * DIRECTION_FLOOR);
        let still = over * w <= 0.0;
        let step = match binds.multipliers.get_mut(slot) {
            Some(multiplier) => compliant_step(still, target - length, w, stiffness, multiplier) * w / over,
            None => stiffness * (target - length) / over,
        };
        let step = if still { 0.0 } else { step };
        *node = join(p + along * step, w);
    }
}

pub(super) fn stretch_errors(task: &Task<'_, 2>, nodes: &[Node]) -> Sums {
    let mut sums = [0.0; BATCH];
    for (slot, ends) in task.plain.iter().enumerate() {
        let [a, b] = ends.map(|n| split(nodes[n as usize]).0);
        sums[slot % BATCH] += error(dot(a - b, a - b).sqrt(), task.targets[slot]);
    }
    sums
}

pub(super) fn volume_errors(task: &Task<'_, 4>, nodes: &[Node]) -> Sums {
    let mut sums = [0.0; BATCH];
    for slot in 0..task.plain.len() {
        let (six_volumes, target) = volume_and_target(task, nodes, slot);
        sums[slot % BATCH] += error(six_volumes, target);
    }
    sums
}

pub(super) fn flat(task: &Task<'_, 4>, nodes: &[Node], share: f32) -> Sums {
    let mut sums = [0.0; BATCH];
    for slot in 0..task.plain.len() {
        let (six_volumes, target) = volume_and_target(task, nodes, slot);
        sums[slot % BATCH] += if six_volumes <= target * share { 1.0 } else { 0.0 };
    }
    sums
}

/// Six times the volume and what it aims at, of a tet wound the other way with their signs changed.
fn volume_and_target(task: &Task<'_, 4>, nodes: &[Node], slot: usize) -> (f32, f32) {
    let [p1, p2, p3, p4] = task.plain[slot].map(|n| split(nodes[n as usize]).0);
    let (six_volumes, target) = (dot(p2 - p1, (p3 - p1).cross(p4 - p1)), task.targets[slot]);
    if target.is_sign_negative() { (-six_volumes, -target) } else { (six_volumes, target) }
}

fn error(value: f32, target: f32) -> f64 {
    if target <= 0.0 { 0.0 } else { f64::from((value - target).abs() / target) }
}
