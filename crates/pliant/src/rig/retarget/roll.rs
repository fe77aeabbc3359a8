//! Rolls of an arm that cancel.
//!
//! Recordings have elbows that are hinges: the plane of the bend says how far the upper arm is rolled about itself. A
//! straight elbow has no such plane, and one that is bent backwards by a few degrees has it on the wrong side, so that
//! the upper arm is rolled by up to half a turn and the hand is rolled back by as much. Nobody sees that in a stick
//! figure, but flesh would be wrung at the shoulder and at the wrist. What shoulder and wrist undo between them is taken
//! out, the more the straighter the elbow is: the forearm points where it did, and the hand is as it was.

use super::frame::Stance;
use super::humanoid::{Role, Side};
use glam::{DQuat, DVec3};
use std::f64::consts::TAU;

/// Degrees of an elbow's bend up to which it says nothing of the roll, and from which on it says all.
const STRAIGHT: [f64; 2] = [15.0, 30.0];

/// One arm of the character.
pub(super) struct Arm {
    pub(super) upper: u32,
    pub(super) lower: u32,
    pub(super) hand: u32,
    /// Which way the upper arm and the forearm point at rest.
    ways: [DVec3; 2],
}

/// How far the upper arm was rolled against what carries it, and the hand against the forearm, in the frame before.
pub(super) type Rolls = Option<[f64; 2]>;

impl Arm {
    /// The arms of a body at rest that have an elbow and a wrist.
    pub(super) fn both(rest: &Stance<'_>) -> Vec<Self> {
        let arm = |side| {
            let roles = [Role::UpperArm(side), Role::LowerArm(side), Role::Hand(side)];
            let [upper, lower, hand] = roles.map(|role| rest.body.joint(role));
            let (upper, lower, hand) = (upper?, lower?, hand?);
            let way = |from, to| (rest.at(to) - rest.at(from)).try_normalize();
            Some(Self { upper, lower, hand, ways: [way(upper, lower)?, way(lower, hand)?] })
        };
        Side::BOTH.into_iter().filter_map(arm).collect()
    }

    /// What rolls the upper arm and the forearm back, in the scene. Turns are from rest: of what carries the arm, of
    /// the upper arm, the forearm and the hand.
    pub(super) fn unrolled(&self, turns: [DQuat; 4], before: &mut Rolls) -> [DQuat; 2] {
        let [carrier, upper, lower, hand] = turns;
        let ways = [upper * self.ways[0], lower * self.ways[1]];
        let bend = libm::acos(ways[0].dot(ways[1]).clamp(-1.0, 1.0)).to_degrees();
        let open = ((STRAIGHT[1] - bend) / (STRAIGHT[1] - STRAIGHT[0])).clamp(0.0, 1.0);
        let rolls =
            [roll(carrier.inverse() * upper, self.ways[0]), roll(lower.inverse() * hand, self.ways[1])];
        // While the elbow is straight a roll goes on past half a turn; a bent one shows which it is.
        let rolls = match *before {
            Some(before) if open > 0.0 => [0, 1].map(|k| before[k] + nearest(rolls[k] - before[k])),
            _ => rolls,
        };
        *before = Some(rolls);
        let [shoulder, wrist] = rolls;
        let cancelled = if shoulder * wrist < 0.0 { shoulder.abs().min(wrist.abs()) } else { 0.0 };
        let back = -cancelled.copysign(shoulder) * open * open * (3.0 - 2.0 * open);
        let (sine, cosine) = libm::sincos(0.5 * back);
        ways.map(|way| DQuat::from_xyzw(way.x * sine, way.y * sine, way.z * sine, cosine).normalize())
    }
}

/// How far a turn rolls about an axis, within half a turn.
fn roll(turn: DQuat, axis: DVec3) -> f64 {
    nearest(2.0 * libm::atan2(DVec3::new(turn.x, turn.y, turn.z).dot(axis), turn.w))
}

/// The same angle within half a turn.
fn nearest(angle: f64) -> f64 {
    angle - TAU * (angle / TAU).round()
}
