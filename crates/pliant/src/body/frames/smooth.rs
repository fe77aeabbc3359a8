//! Frames that are the mean of those around them.

use super::Frame;
use super::along::perpendicular;
use crate::body::topology::{Adjacency, NONE};
use glam::DVec3;

/// Sweeps over all tets at most. What a sweep still changes then is spread over so many tets that none of them sees it.
const SWEEPS: usize = 30;
/// Sweeps of the second axes: about their fibres they are a matter of taste.
const SECOND_SWEEPS: usize = 10;
/// A sweep that moves axes by less than this (in radians, root mean square) is the last: a tenth of a degree.
const STILL: f64 = 0.002;
/// How far a sweep goes beyond the mean. 1 is Gauss-Seidel; near 2, what seeds say reaches far in a few sweeps. From 2
/// on it never ends.
const BEYOND: f64 = 1.7;

/// A weighted mean of frames, each matched to `start` up to sign.
///
/// It is the rotational factor of the polar decomposition of their sum, in the limit where the first axis counts
/// infinitely more than the others: the mean of the fibres, and around it the mean of the second axes. With all axes
/// alike the others drag the fibres along: frames along a helix turn about it from winding to winding, and fibres around
/// the helix of the tests would typically lean over by 3.4 degrees instead of 2.0.
pub(super) fn mean(start: Frame, frames: impl Iterator<Item = (Frame, f64)>) -> Frame {
    let (mut first, mut second) = (DVec3::ZERO, DVec3::ZERO);
    for (frame, weight) in frames {
        // Each axis by its own sign; the third is their product, so the frame stays a rotation.
        first += matched(frame.first, start.first) * weight;
        second += matched(frame.second, start.second) * weight;
    }
    Frame::nearest(first.try_normalize().unwrap_or(start.first), second, start.second)
}

/// An axis with the sign that is nearer to another.
fn matched(axis: DVec3, to: DVec3) -> DVec3 {
    if axis.dot(to) < 0.0 { -axis } else { axis }
}

/// Spreads the frames of seeds over the pieces that they are in, so that every other frame is the mean of those across
/// its tet's faces. Other pieces stay as they are.
pub(super) fn spread(adjacency: &Adjacency, seeds: &[(u32, Frame)], frames: &mut [Frame]) {
    let order = outwards(adjacency, seeds, frames);
    // In order of the walk, neighbours are near each other in memory too.
    let mut place_of = vec![NONE; frames.len()];
    order.iter().zip(0..).for_each(|(&tet, place)| place_of[tet as usize] = place);
    let placed = |tet: u32| if tet == NONE { NONE } else { place_of[tet as usize] };
    let across: Vec<[u32; 4]> = order.iter().map(|&tet| adjacency.across[tet as usize].map(placed)).collect();
    let mut firsts: Vec<DVec3> = order.iter().map(|&tet| frames[tet as usize].first).collect();
    relax(&mut firsts, &across, seeds.len(), SWEEPS, BEYOND, |_, sum| sum.try_normalize());
    let second = |i: usize| Frame::nearest(firsts[i], frames[order[i] as usize].second, DVec3::ZERO).second;
    let mut seconds: Vec<DVec3> = (0..order.len()).map(second).collect();
    relax(&mut seconds, &across, seeds.len(), SECOND_SWEEPS, 1.0, |i, sum| perpendicular(sum, firsts[i]));
    for ((&tet, &first), &second) in order.iter().zip(&firsts).zip(&seconds) {
        frames[tet as usize] = Frame { first, second };
    }
}

/// Sweeps that make every axis but the `fixed` first ones the mean of those across, made an axis again by `unit`.
fn relax(
    axes: &mut [DVec3],
    across: &[[u32; 4]],
    fixed: usize,
    sweeps: usize,
    beyond: f64,
    unit: impl Fn(usize, DVec3) -> Option<DVec3>,
) {
    let free = axes.len() - fixed;
    for sweep in 0..sweeps {
        let mut moved = 0.0;
        for step in 0..free {
            // There and back: what one end says is heard at the other within one sweep.
            let i = if sweep % 2 == 0 { fixed + step } else { axes.len() - 1 - step };
            let old = axes[i];
            let others = across[i].iter().filter(|&&other| other != NONE);
            let sum = others.fold(DVec3::ZERO, |sum, &other| sum + matched(axes[other as usize], old));
            let Some(mean) = unit(i, sum) else { continue };
            let new = unit(i, old + (mean - old) * beyond).unwrap_or(mean);
            moved += new.distance_squared(old);
            axes[i] = new;
        }
        if moved <= STILL * STILL * free as f64 {
            break;
        }
    }
}

/// Gives every tet of a seeded piece the mean of those before it, and their order from the seeds on.
fn outwards(adjacency: &Adjacency, seeds: &[(u32, Frame)], frames: &mut [Frame]) -> Vec<u32> {
    let mut known = vec![false; frames.len()];
    for &(tet, frame) in seeds {
        frames[tet as usize] = frame;
        known[tet as usize] = true;
    }
    let mut order: Vec<u32> = seeds.iter().map(|seed| seed.0).collect();
    let mut layer = 0;
    while layer < order.len() {
        let beside = order[layer..].iter().flat_map(|&tet| adjacency.across[tet as usize]);
        let mut next: Vec<u32> = beside.filter(|&tet| tet != NONE && !known[tet as usize]).collect();
        next.sort_unstable();
        next.dedup();
        for &tet in &next {
            let across = adjacency.across[tet as usize].iter();
            let before = across.filter(|&&n| n != NONE && known[n as usize]).map(|&n| frames[n as usize]);
            // Each has one: it was reached from it.
            let start = before.clone().next().unwrap_or(frames[tet as usize]);
            frames[tet as usize] = mean(start, before.map(|frame| (frame, 1.0)));
        }
        next.iter().for_each(|&tet| known[tet as usize] = true);
        layer = order.len();
        order.extend(next);
    }
    order
}
