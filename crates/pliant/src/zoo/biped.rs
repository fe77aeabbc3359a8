//! Motions of what goes on two legs: people, the bunny, the armadillo.

use super::figure::{rotation, v};
use super::motion::{Motion, Posing, ease, ramp, stop_dead, wave};
use glam::{DQuat, DVec3};

/// How one biped moves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// Degrees from the rest pose to hanging arms.
    drop: f64,
    /// Length of a step cycle on the ground when walking, metres, and how high feet are lifted.
    stride: f64,
    lift: f64,
    /// How far the hips sink when walking, metres.
    sink: f64,
    /// Degrees that the knee and the elbow bend in `bend`.
    knee: f64,
    elbow: f64,
    /// Joints that follow through: ears or a tail.
    trailing: &'static [&'static str],
}

pub(super) const HUMAN: Manner =
    Manner { drop: 40.0, stride: 0.68, lift: 0.13, sink: 0.03, knee: 150.0, elbow: 150.0, trailing: &[] };
pub(super) const CHUBBY: Manner = Manner { drop: 17.0, stride: 0.55, lift: 0.10, sink: 0.02, ..HUMAN };
pub(super) const BUNNY: Manner = Manner {
    drop: 35.0,
    stride: 0.20,
    lift: 0.035,
    sink: 0.012,
    knee: 110.0,
    elbow: 150.0,
    trailing: &["LeftEar1", "LeftEar2", "LeftEar3", "RightEar1", "RightEar2", "RightEar3"],
};
pub(super) const ARMADILLO: Manner = Manner {
    drop: 20.0,
    stride: 0.42,
    lift: 0.10,
    sink: 0.03,
    knee: 120.0,
    elbow: 150.0,
    trailing: &["Tail1", "Tail2", "Tail3", "Tail4", "Tail5"],
};

const SIDES: [(&str, f64); 2] = [("Left", 1.0), ("Right", -1.0)];

/// The motions of a biped, in the order of `PERSON`.
pub(super) fn motions(manner: &Manner) -> Vec<Motion> {
    let m = *manner;
    vec![
        Motion::new("walk", 1.2, move |p, t| walk(p, &m, t / 1.2)),
        Motion::new("run", 0.8, move |p, t| run(p, &m, t / 0.8)),
        Motion::new("bend", 2.0, move |p, t| {
            let share = ramp(t, 2.0);
            for (side, _) in SIDES {
                p.swing(&format!("{side}LowerArm"), DVec3::Z, m.elbow * share);
            }
            p.swing("LeftUpperLeg", DVec3::Z, 60.0 * share);
            p.swing("LeftLowerLeg", DVec3::NEG_Z, m.knee * share);
        }),
        Motion::new("twist", 2.0, |p, t| twist(p, ramp(t, 2.0))),
        Motion::new("kick", 1.5, move |p, t| kick(p, &m, t)),
        Motion::new("jump", 2.0, move |p, t| jump(p, &m, t)),
        Motion::new("shake", 2.0, move |p, t| shake(p, &m, t)),
        Motion::new("wave", 2.0, wave_arm),
    ]
}

/// What an upper body can do without legs.
pub(super) fn torso_motions() -> Vec<Motion> {
    vec![
        Motion::new("bend", 2.0, |p, t| {
            let share = ramp(t, 2.0);
            for (side, _) in SIDES {
                p.swing(&format!("{side}LowerArm"), DVec3::Z, 150.0 * share);
            }
            for spine in ["Spine1", "Spine2", "Chest"] {
                p.turn(spine, DVec3::X, 14.0 * share);
            }
        }),
        Motion::new("twist", 2.0, |p, t| {
            let share = ramp(t, 2.0);
            p.twist("LeftLowerArm", 180.0 * share);
            p.twist("RightLowerArm", -180.0 * share);
            for spine in ["Spine1", "Spine2", "Chest", "Neck1"] {
                p.turn(spine, DVec3::Y, 20.0 * share);
            }
        }),
        Motion::new("shake", 2.0, |p, t| {
            let s = stop_dead(t, 2.5, 1.2);
            for (joint, degrees) in [("Spine1", 8.0), ("Spine2", 10.0), ("Chest", 10.0), ("Neck2", 6.0)] {
                p.turn(joint, DVec3::Y, degrees * s);
            }
        }),
        Motion::new("wave", 2.0, wave_arm),
    ]
}

/// Hangs the arms at the sides, then swings them: degrees forward of the left and the right one.
fn hang_arms(p: &mut Posing<'_>, m: &Manner, left: f64, right: f64, elbow: f64) {
    for ((side, _), swing) in SIDES.into_iter().zip([left, right]) {
        let upper = format!("{side}UpperArm");
        p.swing(&upper, DVec3::NEG_Y, m.drop);
        p.turn(&upper, DVec3::X, -swing);
        p.swing(&format!("{side}LowerArm"), DVec3::Z, elbow + 0.25 * swing.max(0.0));
    }
}

/// Puts a foot where its ball is to be, pitched by degrees (toes down is positive), with the toes flat on the ground
/// when the heel is up.
fn plant(p: &mut Posing<'_>, side: &str, ball: DVec3, pitch: f64) {
    let [upper, lower, foot, toes] = ["UpperLeg", "LowerLeg", "Foot", "Toes"].map(|n| format!("{side}{n}"));
    let facing = if pitch == 0.0 { DQuat::IDENTITY } else { rotation(DVec3::X, pitch) };
    let ankle = ball + facing * (p.rest(&foot) - p.rest(&toes));
    p.reach([&upper, &lower, &foot], ankle, DVec3::Z, facing);
    p.turn(&toes, DVec3::X, -pitch.max(0.0) * 0.8);
}

/// One foot in a step cycle: on the ground and carried back for a `duty` share of it, then swung forward. How far
/// forward (in strides), how high (of the lift) and its pitch.
fn step(phase: f64, duty: f64, toe_off: f64) -> (f64, f64, f64) {
    let phase = phase.rem_euclid(1.0);
    let pitch = ease(
        phase,
        &[
            (0.0, -18.0),
            (0.12 * duty, 0.0),
            (0.6 * duty, 0.0),
            (duty, toe_off),
            (0.5 + 0.5 * duty, 20.0),
            (1.0, -18.0),
        ],
    );
    if phase < duty {
        return (0.5 - phase / duty, 0.0, pitch);
    }
    let s = (phase - duty) / (1.0 - duty);
    // Leaves and meets the ground at the ground's own pace.
    let pace = (1.0 - duty) / duty;
    let forward = -0.5 + s * s * (3.0 - 2.0 * s) - pace * s * (1.0 - s) * (1.0 - 2.0 * s);
    (forward, libm::sin(s * std::f64::consts::PI), pitch)
}

fn feet(p: &mut Posing<'_>, phase: f64, duty: f64, stride: f64, lift: f64, toe_off: f64) {
    for ((side, _), offset) in SIDES.into_iter().zip([0.0, 0.5]) {
        let (forward, up, pitch) = step(phase + offset, duty, toe_off);
        let ball = p.rest(&format!("{side}Toes"));
        // With the toes up the heel stands on the ground.
        let heel = libm::sin((-pitch).max(0.0).to_radians()) * 0.75 * ball.z.abs();
        let at = v(ball.x * 0.9, ball.y + lift * up + heel, ball.z + stride * forward);
        plant(p, side, at, pitch);
    }
}

fn trail(p: &mut Posing<'_>, m: &Manner, axis: DVec3, degrees: f64) {
    for joint in m.trailing {
        p.turn(joint, axis, degrees);
    }
}

fn walk(p: &mut Posing<'_>, m: &Manner, phase: f64) {
    // The left foot lands at phase 0: the body is lowest just after, highest when the legs pass each other.
    let bob = -m.sink * (1.0 + 0.45 * libm::cos((phase - 0.05) * 2.0 * std::f64::consts::TAU));
    p.shift("Hips", v(0.5 * m.sink * wave(phase + 0.05), bob, 0.0));
    let turn = libm::cos(phase * std::f64::consts::TAU);
    p.turn("Hips", DVec3::Y, -6.0 * turn);
    p.turn("Hips", DVec3::Z, -2.5 * wave(phase));
    p.turn("Spine", DVec3::Y, 5.0 * turn);
    p.turn("Spine", DVec3::Z, 2.0 * wave(phase));
    p.turn("Chest", DVec3::Y, 6.0 * turn);
    p.turn("Chest", DVec3::X, 2.0);
    p.turn("Neck", DVec3::Y, -4.0 * turn);
    hang_arms(p, m, -24.0 * turn, 24.0 * turn, 14.0);
    feet(p, phase, 0.6, m.stride, m.lift, 38.0);
    trail(p, m, DVec3::X, 3.0 * wave(2.0 * phase));
}

fn run(p: &mut Posing<'_>, m: &Manner, phase: f64) {
    // Two flights a cycle, each after a foot leaves the ground.
    let flight = libm::cos((phase - 0.18) * 2.0 * std::f64::consts::TAU);
    p.shift("Hips", v(0.0, -m.sink * (1.2 + 1.1 * flight), 0.0));
    let turn = libm::cos((phase - 0.05) * std::f64::consts::TAU);
    p.turn("Hips", DVec3::X, 8.0);
    p.turn("Hips", DVec3::Y, -9.0 * turn);
    p.turn("Spine", DVec3::Y, 8.0 * turn);
    p.turn("Chest", DVec3::Y, 10.0 * turn);
    p.turn("Neck", DVec3::X, -6.0);
    p.turn("Neck", DVec3::Y, -8.0 * turn);
    hang_arms(p, m, -42.0 * turn, 42.0 * turn, 82.0);
    feet(p, phase, 0.36, m.stride * 1.15, m.lift * 2.4, 50.0);
    trail(p, m, DVec3::X, 8.0 * flight);
}

fn twist(p: &mut Posing<'_>, share: f64) {
    p.twist("LeftLowerArm", 180.0 * share);
    p.twist("RightLowerArm", -180.0 * share);
    p.turn("Spine", DVec3::Y, 25.0 * share);
    p.turn("Chest", DVec3::Y, 30.0 * share);
    p.turn("Neck", DVec3::Y, 25.0 * share);
    p.turn("Head", DVec3::Y, 25.0 * share);
}

fn kick(p: &mut Posing<'_>, m: &Manner, t: f64) {
    let hip = ease(t, &[(0.0, 0.0), (0.4, -35.0), (0.65, 80.0), (0.8, 75.0), (1.5, 0.0)]);
    let knee = ease(t, &[(0.0, 0.0), (0.42, 80.0), (0.68, 3.0), (0.95, 45.0), (1.5, 0.0)]);
    let lean = ease(t, &[(0.0, 0.0), (0.4, 8.0), (0.68, -16.0), (1.5, 0.0)]);
    let sink = ease(t, &[(0.0, 0.0), (0.35, 1.0), (0.68, 0.4), (1.5, 0.0)]);
    p.shift("Hips", v(-0.04 * sink, -m.sink * sink, 0.02 * sink));
    p.turn("Hips", DVec3::X, 0.4 * lean);
    p.turn("Spine", DVec3::X, 0.6 * lean);
    hang_arms(p, m, -0.4 * hip, 0.4 * hip, 25.0);
    let ball = p.rest("RightToes");
    plant(p, "Right", ball, 0.0);
    p.swing("LeftUpperLeg", DVec3::Z, hip);
    p.swing("LeftLowerLeg", DVec3::NEG_Z, knee);
    p.turn("LeftFoot", DVec3::X, ease(t, &[(0.0, 0.0), (0.4, 30.0), (0.8, 25.0), (1.5, 0.0)]));
}

/// When the feet leave the ground and when they hit it again, seconds.
const TAKE_OFF: f64 = 0.55;
const LANDING: f64 = 1.1;

fn jump(p: &mut Posing<'_>, m: &Manner, t: f64) {
    let gravity = 9.81;
    let leg = p.rest("LeftUpperLeg").y;
    let flight = LANDING - TAKE_OFF;
    // Smaller bodies would fly as high: their flight is slowed down to their size.
    let size = (leg / 0.9).min(1.0);
    let high = if (TAKE_OFF..LANDING).contains(&t) {
        0.5 * gravity * (t - TAKE_OFF) * (LANDING - t) * size
    } else {
        0.0
    };
    let deep = 0.26 * leg;
    // Down, up and off; then a landing that stops the fall within a tenth of a second.
    let crouch = ease(
        t,
        &[
            (0.0, 0.0),
            (0.35, 1.0),
            (TAKE_OFF, -0.04),
            (LANDING, 0.08),
            (LANDING + 0.12, 1.15),
            (1.6, 0.5),
            (2.0, 0.0),
        ],
    );
    let tuck = if high > 0.0 { libm::sin((t - TAKE_OFF) / flight * std::f64::consts::PI) } else { 0.0 };
    p.shift("Hips", v(0.0, high - deep * crouch, -0.05 * leg * crouch.max(0.0)));
    p.turn("Hips", DVec3::X, 22.0 * crouch.max(0.0));
    p.turn("Chest", DVec3::X, 12.0 * crouch.max(0.0));
    p.turn("Neck", DVec3::X, -20.0 * crouch.max(0.0));
    let arms =
        ease(t, &[(0.0, 0.0), (0.35, -45.0), (0.62, 140.0), (LANDING, 60.0), (1.3, -10.0), (2.0, 0.0)]);
    hang_arms(p, m, arms, arms, 15.0);
    for (side, _) in SIDES {
        let ball = p.rest(&format!("{side}Toes"));
        plant(p, side, ball + v(0.0, high + 0.10 * leg * tuck, -0.06 * leg * tuck), 30.0 * tuck);
    }
    trail(p, m, DVec3::X, ease(t, &[(0.4, 0.0), (0.7, -8.0), (1.1, 6.0), (1.25, 10.0), (2.0, 0.0)]));
}

fn shake(p: &mut Posing<'_>, m: &Manner, t: f64) {
    let s = stop_dead(t, 2.5, 1.2);
    p.turn("Spine", DVec3::Y, 12.0 * s);
    p.turn("Chest", DVec3::Y, 14.0 * s);
    p.turn("Neck", DVec3::Y, -10.0 * s);
    p.turn("Head", DVec3::Z, 8.0 * s);
    for (side, sign) in SIDES {
        p.turn(&format!("{side}UpperArm"), DVec3::Z, sign * 6.0 * s);
    }
    trail(p, m, DVec3::Z, 5.0 * s);
}

fn wave_arm(p: &mut Posing<'_>, t: f64) {
    let up = ease(t, &[(0.0, 0.0), (0.45, 1.0), (1.55, 1.0), (2.0, 0.0)]);
    p.turn("LeftShoulder", DVec3::Z, 14.0 * up);
    p.turn("LeftUpperArm", DVec3::Z, 36.0 * up);
    p.swing("LeftLowerArm", v(0.0, 1.0, 0.25), up * (75.0 + 22.0 * wave(2.0 * t)));
    p.swing("LeftHand", v(-1.0, 0.0, 0.0), up * 14.0 * wave(2.0 * t - 0.1));
    p.turn("Head", DVec3::Z, -6.0 * up);
}
