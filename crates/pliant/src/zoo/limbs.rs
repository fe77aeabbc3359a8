//! Single limbs: `cylinder`, `arm`, `leg`, `hand`.

use super::figure::{Figure, v};
use super::motion::{Motion, ease, ramp, stop_dead, wave};
use glam::DVec3;

/// Degrees of a full bend and a full twist.
const BEND: f64 = 150.0;
const TWIST: f64 = 180.0;

pub(super) fn cylinder() -> Figure {
    let mut f = Figure::new(0.03, [0.30, 0.52, 0.75]);
    let (low, middle, high) = (v(0.0, 0.0, 0.0), v(0.0, 0.5, 0.0), v(0.0, 1.0, 0.0));
    let lower = f.root("Lower", low);
    f.cone(lower, v(0.0, 0.12, 0.0), 0.12, middle, 0.12);
    let upper = f.joint(lower, "Upper", middle);
    f.cone(upper, middle, 0.12, v(0.0, 0.88, 0.0), 0.12);
    f.set(upper).tail = Some(high);
    // The two halves are one cylinder: nothing to melt.
    f.blend(upper, 0.0, 0.1);
    f
}

pub(super) fn cylinder_motions() -> Vec<Motion> {
    vec![
        Motion::new("bend", 2.0, |p, t| p.swing("Upper", DVec3::X, BEND * ramp(t, 2.0))),
        Motion::new("twist", 2.0, |p, t| p.twist("Upper", TWIST * ramp(t, 2.0))),
        Motion::new("shake", 2.0, |p, t| p.swing("Upper", DVec3::X, 30.0 * stop_dead(t, 2.5, 1.2))),
    ]
}

pub(super) fn arm() -> Figure {
    let mut f = Figure::new(0.008, [0.80, 0.55, 0.42]);
    // The bone lies towards the outside of the bend, which goes up: flesh inside it.
    let (shoulder, elbow, wrist) = (v(0.0, 0.10, 0.0), v(0.30, 0.092, 0.0), v(0.56, 0.102, 0.0));
    let upper = f.root("UpperArm", shoulder);
    f.cone(upper, v(0.02, 0.112, 0.0), 0.062, v(0.29, 0.106, 0.0), 0.044);
    f.cone(upper, v(0.12, 0.130, 0.0), 0.047, v(0.20, 0.128, 0.0), 0.044).soft(0.03);
    f.cone(upper, v(0.09, 0.092, 0.0), 0.048, v(0.17, 0.092, 0.0), 0.044).soft(0.03);
    let lower = f.joint(upper, "LowerArm", elbow);
    f.cone(lower, v(0.30, 0.104, 0.0), 0.043, v(0.38, 0.112, 0.0), 0.049);
    f.cone(lower, v(0.38, 0.112, 0.0), 0.049, v(0.55, 0.105, 0.0), 0.029).soft(0.04);
    f.set(lower).radius = Some(0.046);
    let hand = f.joint(lower, "Hand", wrist);
    f.cone(hand, v(0.56, 0.105, 0.0), 0.030, v(0.645, 0.105, 0.0), 0.043).flat(DVec3::Y, 0.5);
    f.cone(hand, v(0.645, 0.107, 0.0), 0.038, v(0.705, 0.112, 0.0), 0.032).flat(DVec3::Y, 0.42).soft(0.03);
    f.cone(hand, v(0.59, 0.110, 0.025), 0.017, v(0.64, 0.125, 0.062), 0.012).soft(0.015);
    f.set(hand).tail = Some(v(0.735, 0.112, 0.0));
    f.set(hand).radius = Some(0.034);
    f.blend(hand, 0.025, 0.1);
    f
}

pub(super) fn arm_motions() -> Vec<Motion> {
    vec![
        Motion::new("bend", 2.0, |p, t| p.swing("LowerArm", DVec3::Y, BEND * ramp(t, 2.0))),
        Motion::new("twist", 2.0, |p, t| p.twist("LowerArm", TWIST * ramp(t, 2.0))),
        Motion::new("shake", 2.0, |p, t| {
            let s = stop_dead(t, 2.5, 1.2);
            p.swing("UpperArm", DVec3::Y, 18.0 * s);
            p.swing("LowerArm", DVec3::Y, 25.0 + 20.0 * s);
        }),
        Motion::new("wave", 2.0, |p, t| {
            let up = ease(t, &[(0.0, 0.0), (0.5, 1.0), (1.5, 1.0), (2.0, 0.0)]);
            p.swing("LowerArm", DVec3::Y, up * (80.0 + 25.0 * wave(2.0 * t)));
            p.swing("Hand", DVec3::Y, up * -20.0 * wave(2.0 * t - 0.1));
        }),
    ]
}

pub(super) fn leg() -> Figure {
    let mut f = Figure::standing(0.011, [0.80, 0.55, 0.42]);
    let (hip, knee, ankle, ball) =
        (v(0.0, 0.92, 0.0), v(0.0, 0.50, 0.012), v(0.0, 0.085, -0.02), v(0.006, 0.026, 0.10));
    let upper = f.root("UpperLeg", hip);
    f.cone(upper, v(0.0, 0.90, -0.01), 0.088, v(0.0, 0.53, 0.0), 0.055);
    f.cone(upper, v(0.0, 0.80, 0.03), 0.062, v(0.0, 0.62, 0.02), 0.052).soft(0.05);
    f.cone(upper, v(0.0, 0.80, -0.035), 0.060, v(0.0, 0.64, -0.025), 0.046).soft(0.05);
    let lower = f.joint(upper, "LowerLeg", knee);
    f.cone(lower, knee + v(0.0, 0.0, -0.008), 0.052, ankle, 0.034);
    f.cone(lower, v(0.0, 0.42, -0.026), 0.049, v(0.0, 0.31, -0.030), 0.040).soft(0.05);
    f.ball(lower, v(0.0, 0.505, 0.034), v(0.036, 0.045, 0.030)).soft(0.04);
    f.set(lower).radius = Some(0.058);
    let foot = f.joint(lower, "Foot", ankle);
    f.cone(foot, ankle, 0.036, v(0.0, 0.042, -0.025), 0.040);
    f.cone(foot, v(0.0, 0.045, -0.01), 0.036, ball, 0.030).soft(0.03);
    f.ball(foot, ball + v(0.0, 0.0, -0.01), v(0.046, 0.026, 0.06)).soft(0.02);
    f.set(foot).radius = Some(0.042);
    f.set(foot).across = Some(v(0.0, -0.75, 0.45));
    let toes = f.joint(foot, "Toes", ball);
    f.ball(toes, ball + v(0.0, -0.005, 0.025), v(0.045, 0.020, 0.05));
    f.ball(toes, ball + v(-0.022, -0.004, 0.055), v(0.018, 0.019, 0.026)).soft(0.01);
    f.set(toes).tail = Some(ball + v(0.0, -0.004, 0.075));
    f.set(toes).radius = Some(0.03);
    f.blend(toes, 0.02, 0.12);
    f
}

pub(super) fn leg_motions() -> Vec<Motion> {
    vec![
        Motion::new("bend", 2.0, |p, t| p.swing("LowerLeg", DVec3::NEG_Z, BEND * ramp(t, 2.0))),
        Motion::new("twist", 2.0, |p, t| p.twist("LowerLeg", TWIST * ramp(t, 2.0))),
        Motion::new("kick", 1.5, |p, t| {
            let hip = ease(t, &[(0.0, 0.0), (0.35, -30.0), (0.6, 65.0), (0.8, 60.0), (1.5, 0.0)]);
            let knee = ease(t, &[(0.0, 0.0), (0.4, 85.0), (0.62, 5.0), (0.9, 25.0), (1.5, 0.0)]);
            let foot = ease(t, &[(0.0, 0.0), (0.4, 35.0), (0.7, 30.0), (1.5, 0.0)]);
            p.swing("UpperLeg", DVec3::Z, hip);
            p.swing("LowerLeg", DVec3::NEG_Z, knee);
            p.turn("Foot", DVec3::X, foot);
        }),
        Motion::new("shake", 2.0, |p, t| {
            let s = stop_dead(t, 3.0, 1.0);
            p.swing("UpperLeg", DVec3::Z, 12.0 * s);
            p.swing("LowerLeg", DVec3::NEG_Z, 20.0 + 18.0 * s);
        }),
    ]
}

/// Fingers by name, where they leave the palm, their length, spread in degrees and radius.
const FINGERS: [(&str, f64, f64, f64, f64, f64); 4] = [
    ("Index", 0.0300, 0.192, 0.080, 9.0, 0.0098),
    ("Middle", 0.0090, 0.197, 0.088, 2.0, 0.0100),
    ("Ring", -0.0125, 0.192, 0.082, -6.0, 0.0095),
    ("Little", -0.0325, 0.180, 0.064, -15.0, 0.0083),
];

pub(super) fn hand() -> Figure {
    let mut f = Figure::new(0.0036, [0.82, 0.58, 0.46]);
    // Fingers up, the palm to the front, the thumb to +X.
    let forearm = f.root("Forearm", v(0.0, 0.0, 0.0));
    f.cone(forearm, v(0.0, 0.030, 0.0), 0.031, v(0.0, 0.085, 0.0), 0.028).flat(DVec3::Z, 0.8);
    let hand = f.joint(forearm, "Hand", v(0.0, 0.095, 0.0));
    f.cone(hand, v(0.0, 0.100, 0.0), 0.028, v(0.0, 0.155, 0.0), 0.034).flat(DVec3::Z, 0.48);
    f.ball(hand, v(-0.002, 0.168, 0.0), v(0.043, 0.030, 0.0145)).soft(0.02);
    f.ball(hand, v(0.022, 0.125, 0.007), v(0.020, 0.030, 0.015)).turn(DVec3::Z, -25.0).soft(0.012);
    f.ball(hand, v(-0.025, 0.130, 0.005), v(0.014, 0.032, 0.013)).soft(0.012);
    f.set(hand).radius = Some(0.028);
    f.blend(hand, 0.03, 0.10);
    for (name, x, y, length, spread, radius) in FINGERS {
        let tilt = spread.to_radians();
        let along = v(libm::sin(tilt), libm::cos(tilt), 0.04);
        let root = v(x, y, 0.0);
        let knuckle = |u: f64| root + along * (u * length);
        let names = [1, 2, 3].map(|k| format!("{name}{k}"));
        let joints = [
            (names[0].as_str(), knuckle(0.0), radius * 1.12),
            (names[1].as_str(), knuckle(0.45), radius * 1.0),
            (names[2].as_str(), knuckle(0.74), radius * 0.92),
        ];
        let made = f.limb(hand, &joints, (knuckle(1.0), radius * 0.82));
        f.cone(made[0], root - along * 0.022, radius * 1.1, root, radius * 1.12);
        f.set(made[0]).radius = Some(radius * 1.2);
        f.blend(made[0], 0.011, 0.032);
        // Less than the gap between fingers.
        f.set(made[0]).say = Some(0.004);
    }
    let thumb = [
        ("Thumb1", v(0.026, 0.118, 0.008), 0.0155),
        ("Thumb2", v(0.054, 0.147, 0.014), 0.0120),
        ("Thumb3", v(0.073, 0.170, 0.016), 0.0108),
    ];
    let made = f.limb(hand, &thumb, (v(0.088, 0.190, 0.016), 0.0090));
    f.blend(made[0], 0.016, 0.05);
    f
}

/// Curls the fingers by a share of a fist.
fn curl(p: &mut super::motion::Posing<'_>, fingers: &[&str], share: f64) {
    for finger in fingers {
        for (k, degrees) in [(1, 82.0), (2, 100.0), (3, 62.0)] {
            p.turn(&format!("{finger}{k}"), DVec3::X, share * degrees);
        }
    }
}

pub(super) fn hand_motions() -> Vec<Motion> {
    const ALL: [&str; 4] = ["Index", "Middle", "Ring", "Little"];
    vec![
        Motion::new("bend", 2.0, |p, t| {
            let share = ramp(t, 2.0);
            curl(p, &ALL, share);
            // The thumb closes over the fingers.
            p.turn("Thumb1", v(0.3, 1.0, 0.0), -35.0 * share);
            p.turn("Thumb2", v(-0.6, 0.8, 0.3), -45.0 * share);
            p.turn("Thumb3", v(-0.6, 0.8, 0.3), -50.0 * share);
        }),
        Motion::new("wave", 2.0, |p, t| {
            p.turn("Hand", DVec3::Z, 24.0 * wave(t));
            for (k, finger) in ALL.iter().enumerate() {
                curl(p, &[finger], 0.12 * (1.0 + wave(t - 0.12 * k as f64)));
            }
        }),
        Motion::new("twist", 2.0, |p, t| p.twist("Hand", TWIST * ramp(t, 2.0))),
        Motion::new("shake", 2.0, |p, t| {
            let s = stop_dead(t, 4.0, 1.0);
            p.turn("Hand", DVec3::X, 30.0 * s);
            curl(p, &ALL, 0.12 + 0.1 * s);
        }),
    ]
}
