//! Motions of what goes on four legs.

use super::figure::{rotation, v};
use super::motion::{Motion, Posing, ease, ramp, stop_dead, wave};
use glam::DVec3;

/// A leg by its joints, without the side: two bones that reach for the third joint, and the joint that stands still
/// on the ground while the foot rolls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leg {
    pub reach: [&'static str; 3],
    pub pivot: &'static str,
    /// Where the middle joint points.
    pub pole: DVec3,
    /// Pitch of the third joint when the foot lands, leaves, and in mid-swing, degrees.
    pub pitch: [f64; 3],
}

/// How one beast moves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gait {
    pub front: Leg,
    pub hind: Leg,
    /// Ground covered by a foot in one walking step, metres, how high it is lifted, and how far the body sinks.
    pub stride: f64,
    pub lift: f64,
    pub sink: f64,
    /// Seconds of a walking and a running cycle, and how much longer strides are when running.
    pub cycles: [f64; 2],
    pub leap: f64,
    pub spine: &'static [&'static str],
    pub neck: &'static [&'static str],
    pub tail: &'static [&'static str],
    pub ears: &'static [&'static str],
    /// What bends in `bend`: joints, axis, degrees each.
    pub bend: (&'static [&'static str], DVec3, f64),
}

/// The motions of a beast, in the order of `BEAST`.
pub(super) fn motions(gait: &Gait) -> Vec<Motion> {
    let g = *gait;
    let [walking, running] = g.cycles;
    vec![
        Motion::new("walk", walking, move |p, t| walk(p, &g, t / walking)),
        Motion::new("run", running, move |p, t| run(p, &g, t / running)),
        Motion::new("jump", 2.0, move |p, t| jump(p, &g, t)),
        Motion::new("shake", 2.0, move |p, t| shake(p, &g, t)),
        Motion::new("bend", 2.0, move |p, t| {
            for joint in g.bend.0 {
                p.turn(joint, g.bend.1, g.bend.2 * ramp(t, 2.0));
            }
        }),
    ]
}

/// Puts a foot at its rest place moved by `by`, its third joint pitched, what follows kept level by `level`.
fn plant(p: &mut Posing<'_>, side: &str, leg: &Leg, by: DVec3, pitch: f64, level: f64) {
    let names = leg.reach.map(|n| format!("{side}{n}"));
    let pivot = format!("{side}{}", leg.pivot);
    let facing = rotation(DVec3::X, pitch);
    let target = p.rest(&pivot) + by + facing * (p.rest(&names[2]) - p.rest(&pivot));
    p.reach([&names[0], &names[1], &names[2]], target, leg.pole, facing);
    if leg.pivot != leg.reach[2] {
        p.turn(&pivot, DVec3::X, -pitch * level);
    }
}

/// A foot in a step cycle: forward in strides, height in lifts, pitch, and how level the foot is kept.
fn step(leg: &Leg, phase: f64, duty: f64) -> (f64, f64, f64, f64) {
    let phase = phase.rem_euclid(1.0);
    let [landing, leaving, middle] = leg.pitch;
    let half = 0.5 * (1.0 + duty);
    let pitch = ease(phase, &[(0.0, landing), (duty, leaving), (half, middle), (1.0, landing)]);
    if phase < duty {
        return (0.5 - phase / duty, 0.0, pitch, 1.0);
    }
    let s = (phase - duty) / (1.0 - duty);
    let pace = (1.0 - duty) / duty;
    let forward = -0.5 + s * s * (3.0 - 2.0 * s) - pace * s * (1.0 - s) * (1.0 - 2.0 * s);
    let up = libm::sin(s * std::f64::consts::PI);
    (forward, up, pitch, 1.0 - 1.3 * up)
}

/// All four feet: phases of left hind, right hind, left front and right front.
fn feet(p: &mut Posing<'_>, g: &Gait, phase: f64, phases: [f64; 4], duty: f64, stride: f64, lift: f64) {
    let legs = [("Left", &g.hind), ("Right", &g.hind), ("Left", &g.front), ("Right", &g.front)];
    for ((side, leg), offset) in legs.into_iter().zip(phases) {
        let (forward, up, pitch, level) = step(leg, phase + offset, duty);
        plant(p, side, leg, v(0.0, lift * up, stride * forward), pitch, level);
    }
}

fn each(p: &mut Posing<'_>, joints: &[&str], axis: DVec3, degrees: f64) {
    for joint in joints {
        p.turn(joint, axis, degrees / joints.len() as f64);
    }
}

fn walk(p: &mut Posing<'_>, g: &Gait, phase: f64) {
    let twice = wave(2.0 * phase + 0.1);
    p.shift("Hips", v(0.0, -g.sink * (1.0 + 0.4 * twice), 0.0));
    p.turn("Hips", DVec3::Y, -2.5 * libm::cos(phase * std::f64::consts::TAU));
    each(p, g.spine, DVec3::Y, 5.0 * libm::cos(phase * std::f64::consts::TAU));
    each(p, g.neck, DVec3::X, 4.0 + 5.0 * twice);
    each(p, g.tail, DVec3::Z, 25.0 * wave(phase));
    each(p, g.ears, DVec3::X, 4.0 * twice);
    // Left hind, left front, right hind, right front.
    feet(p, g, phase, [0.0, 0.5, 0.75, 0.25], 0.64, g.stride, g.lift);
}

fn run(p: &mut Posing<'_>, g: &Gait, phase: f64) {
    let pitch = wave(phase + 0.1);
    p.shift("Hips", v(0.0, g.sink * (-1.0 + 1.8 * wave(phase - 0.35)), 0.0));
    p.turn("Hips", DVec3::X, 5.0 * pitch);
    each(p, g.spine, DVec3::X, 9.0 * wave(phase + 0.3));
    each(p, g.neck, DVec3::X, 14.0 - 10.0 * wave(phase + 0.2));
    each(p, g.tail, DVec3::X, 55.0 + 20.0 * pitch);
    each(p, g.ears, DVec3::X, -20.0 + 10.0 * pitch);
    // A gallop: the hind feet one after the other, then the front feet, then a moment in the air.
    feet(p, g, phase, [0.0, -0.1, -0.42, -0.54], 0.34, g.stride * g.leap, g.lift * 1.7);
}

fn jump(p: &mut Posing<'_>, g: &Gait, t: f64) {
    let (take_off, landing) = (0.65, 1.25);
    let air = if (take_off..landing).contains(&t) { (t - take_off) / (landing - take_off) } else { 0.0 };
    let high = 4.0 * air * (1.0 - air) * 2.6 * g.lift;
    let crouch = ease(
        t,
        &[
            (0.0, 0.0),
            (0.4, 1.0),
            (take_off, -0.1),
            (landing, 0.0),
            (landing + 0.12, 1.2),
            (1.7, 0.3),
            (2.0, 0.0),
        ],
    );
    let nose =
        ease(t, &[(0.0, 0.0), (0.4, 3.0), (take_off, -16.0), (0.95, -4.0), (landing, 11.0), (1.45, 0.0)]);
    p.shift("Hips", v(0.0, high - 2.6 * g.sink * crouch, 0.0));
    p.turn("Hips", DVec3::X, nose);
    each(p, g.spine, DVec3::X, 5.0 * crouch);
    each(p, g.neck, DVec3::X, -1.2 * nose + 8.0 * crouch);
    each(p, g.tail, DVec3::X, 60.0 * ease(t, &[(0.4, 0.0), (0.9, 1.0), (1.5, 0.0)]));
    let tuck = 4.0 * air * (1.0 - air);
    // The front feet leave the ground first and meet it first.
    let rear = ease(t, &[(0.4, 0.0), (take_off, 1.0), (landing - 0.05, 0.25), (landing, 0.0)]);
    for side in ["Left", "Right"] {
        let front = v(0.0, high + g.lift * (1.2 * rear + 0.6 * tuck), 0.0);
        plant(p, side, &g.front, front, g.front.pitch[2] * (0.7 * rear).max(tuck), 1.0 - tuck);
        let hind = v(0.0, high + 0.5 * g.lift * tuck, -0.35 * g.stride * tuck);
        plant(p, side, &g.hind, hind, g.hind.pitch[2] * tuck, 1.0 - tuck);
    }
}

fn shake(p: &mut Posing<'_>, g: &Gait, t: f64) {
    let s = stop_dead(t, 2.5, 1.2);
    each(p, g.spine, DVec3::Z, 7.0 * s);
    each(p, g.neck, DVec3::Y, 30.0 * s);
    each(p, g.neck, DVec3::Z, 14.0 * s);
    each(p, g.tail, DVec3::Z, 60.0 * s);
    for ear in g.ears {
        p.turn(ear, DVec3::Z, 12.0 * s);
    }
}
