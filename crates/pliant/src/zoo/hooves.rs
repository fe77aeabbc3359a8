//! Hoofed beasts: `horse`, `giraffe`.

use super::figure::{Figure, v};
use super::quadruped::{Gait, Leg};
use glam::DVec3;

const FRONT: Leg = Leg {
    reach: ["Forearm", "FrontCannon", "FrontPastern"],
    pivot: "FrontHoof",
    pole: DVec3::Z,
    pitch: [-8.0, 25.0, 75.0],
};
const HIND: Leg = Leg {
    reach: ["Thigh", "Shin", "HindCannon"],
    pivot: "HindPastern",
    pole: DVec3::Z,
    pitch: [-14.0, 28.0, 50.0],
};
pub(super) const HORSE: Gait = Gait {
    front: FRONT,
    hind: HIND,
    stride: 0.62,
    lift: 0.17,
    sink: 0.025,
    cycles: [1.2, 0.7],
    leap: 1.45,
    spine: &["Spine1", "Spine2", "Spine3", "Spine4"],
    neck: &["Neck1", "Neck2", "Neck3", "Neck4", "Neck5"],
    tail: &["Tail1", "Tail2", "Tail3", "Tail4"],
    ears: &["LeftEar", "RightEar"],
    bend: (&["Neck1", "Neck2", "Neck3", "Neck4", "Neck5"], DVec3::X, 15.0),
};
pub(super) const GIRAFFE: Gait = Gait {
    stride: 1.0,
    lift: 0.30,
    sink: 0.05,
    cycles: [1.8, 1.1],
    leap: 1.35,
    spine: &["Spine1", "Spine2", "Spine3"],
    neck: &["Neck1", "Neck2", "Neck3", "Neck4", "Neck5", "Neck6", "Neck7"],
    tail: &["Tail1", "Tail2", "Tail3"],
    bend: (&["Neck1", "Neck2", "Neck3", "Neck4", "Neck5", "Neck6"], DVec3::X, 25.0),
    ..HORSE
};

pub(super) fn horse() -> Figure {
    let mut f = Figure::standing(0.020, [0.42, 0.22, 0.11]);
    let hips = f.root("Hips", v(0.0, 1.33, -0.52));
    f.ball(hips, v(0.0, 1.23, -0.54), v(0.245, 0.27, 0.28));
    f.ball(hips, v(0.11, 1.20, -0.60), v(0.15, 0.23, 0.20)).soft(0.12).both();
    let mut spine = hips;
    let barrel = [
        (v(0.0, 1.36, -0.34), v(0.0, 1.17, -0.26), v(0.245, 0.265, 0.26)),
        (v(0.0, 1.33, -0.14), v(0.0, 1.14, -0.05), v(0.265, 0.285, 0.26)),
        (v(0.0, 1.33, 0.06), v(0.0, 1.14, 0.15), v(0.260, 0.290, 0.26)),
        (v(0.0, 1.36, 0.26), v(0.0, 1.18, 0.36), v(0.225, 0.300, 0.25)),
    ];
    for (k, (at, center, radii)) in barrel.into_iter().enumerate() {
        spine = f.joint(spine, &format!("Spine{}", k + 1), at);
        f.ball(spine, center, radii);
        f.set(spine).radius = Some(0.16);
        f.set(spine).across = Some(DVec3::Z);
        f.blend(spine, 0.16, 0.5);
    }
    // Breast and withers.
    f.ball(spine, v(0.0, 1.16, 0.50), v(0.17, 0.22, 0.16)).soft(0.12);
    f.ball(spine, v(0.0, 1.43, 0.26), v(0.09, 0.09, 0.22)).soft(0.12);
    neck_and_head(&mut f, spine);
    front_leg(&mut f, spine);
    hind_leg(&mut f, hips);
    let tail = f.chain(
        hips,
        "Tail",
        &[
            (v(0.0, 1.39, -0.78), 0.055),
            (v(0.0, 1.35, -0.87), 0.062),
            (v(0.0, 1.25, -0.93), 0.078),
            (v(0.0, 1.12, -0.96), 0.092),
            (v(0.0, 0.98, -0.975), 0.096),
            (v(0.0, 0.84, -0.985), 0.088),
            (v(0.0, 0.70, -0.99), 0.068),
            (v(0.0, 0.55, -1.00), 0.030),
        ],
    );
    f.blend(tail[0], 0.05, 0.2);
    f.mirror();
    f
}

fn neck_and_head(f: &mut Figure, spine: usize) {
    let points = [
        (v(0.0, 1.35, 0.46), 0.235),
        (v(0.0, 1.49, 0.59), 0.205),
        (v(0.0, 1.62, 0.70), 0.178),
        (v(0.0, 1.75, 0.79), 0.155),
        (v(0.0, 1.87, 0.86), 0.135),
        (v(0.0, 1.97, 0.92), 0.122),
    ];
    let neck = f.chain(spine, "Neck", &points);
    for (k, &joint) in neck.iter().enumerate() {
        f.set(joint).tail = None;
        f.set(joint).radius = Some(0.15 - 0.012 * k as f64);
        // The neck is narrow and deep; the mane stands on its crest.
        f.set(joint).lumps[0].flat(DVec3::X, 0.68);
        let [low, high] = [k, k + 1].map(|i| points[i].0 + v(0.0, 0.70, -0.72) * (points[i].1 + 0.022));
        f.cone(joint, low, 0.052, high, 0.052).flat(DVec3::X, 0.6).soft(0.010);
    }
    f.blend(neck[0], 0.20, 0.5);
    let head = f.joint(neck[4], "Head", v(0.0, 1.985, 0.95));
    f.cone(head, v(0.0, 1.975, 0.965), 0.128, v(0.0, 1.86, 1.13), 0.105).flat(DVec3::X, 0.8);
    f.cone(head, v(0.0, 1.875, 1.12), 0.098, v(0.0, 1.755, 1.335), 0.066).flat(DVec3::X, 0.85).soft(0.06);
    f.ball(head, v(0.0, 1.735, 1.355), v(0.068, 0.070, 0.072)).soft(0.03);
    f.ball(head, v(0.078, 1.965, 1.06), v(0.022, 0.026, 0.026)).soft(0.008).both();
    f.ball(head, v(0.042, 1.755, 1.412), v(0.018, 0.020, 0.018)).soft(0.012).both();
    f.ball(head, v(0.0, 2.075, 0.985), v(0.035, 0.04, 0.06)).soft(0.03);
    f.set(head).tail = Some(v(0.0, 1.75, 1.42));
    f.set(head).radius = Some(0.10);
    f.blend(head, 0.06, 0.3);
    let jaw = f.joint(head, "Jaw", v(0.0, 1.875, 1.03));
    f.cone(jaw, v(0.0, 1.865, 1.02), 0.098, v(0.0, 1.70, 1.29), 0.050).flat(DVec3::X, 0.75);
    f.set(jaw).tail = Some(v(0.0, 1.69, 1.34));
    f.set(jaw).across = Some(v(0.0, -0.8, -0.25));
    f.set(jaw).radius = Some(0.06);
    f.blend(jaw, 0.05, 0.6);
    let ear = f.joint(head, "LeftEar", v(0.055, 2.07, 0.945));
    f.cone(ear, v(0.055, 2.06, 0.945), 0.034, v(0.066, 2.135, 0.945), 0.034).flat(DVec3::Z, 0.7);
    f.cone(ear, v(0.066, 2.135, 0.945), 0.034, v(0.062, 2.215, 0.955), 0.013).flat(DVec3::Z, 0.7);
    f.set(ear).tail = Some(v(0.062, 2.22, 0.955));
    f.set(ear).across = Some(DVec3::Y);
    f.blend(ear, 0.025, 0.08);
}

fn front_leg(f: &mut Figure, spine: usize) {
    let joints = [
        ("LeftShoulder", v(0.10, 1.34, 0.34), 0.11),
        ("LeftArm", v(0.145, 1.06, 0.47), 0.115),
        ("LeftForearm", v(0.150, 0.90, 0.36), 0.105),
        ("LeftFrontCannon", v(0.145, 0.50, 0.385), 0.055),
        ("LeftFrontPastern", v(0.145, 0.19, 0.375), 0.047),
        ("LeftFrontHoof", v(0.145, 0.095, 0.415), 0.042),
    ];
    let made = f.limb(spine, &joints, (v(0.145, 0.045, 0.43), 0.058));
    for (joint, flat) in made.iter().zip([0.6, 0.75, 0.8]) {
        f.set(*joint).lumps[0].flat(DVec3::X, flat);
    }
    hoof(f, made[5], v(0.145, 0.0, 0.44));
    f.cone(made[2], v(0.150, 0.84, 0.37), 0.085, v(0.146, 0.62, 0.385), 0.055).soft(0.04);
    f.ball(made[3], v(0.145, 0.495, 0.392), v(0.050, 0.062, 0.054)).soft(0.04);
    f.ball(made[4], v(0.145, 0.19, 0.370), v(0.048, 0.050, 0.052)).soft(0.03);
    f.cone(made[3], v(0.145, 0.44, 0.385), 0.042, v(0.145, 0.24, 0.38), 0.040);
    f.set(made[3]).lumps.remove(0);
    f.set(made[0]).across = Some(v(1.0, -0.3, 0.1));
    f.set(made[0]).radius = Some(0.12);
    f.blend(made[0], 0.12, 0.4);
    f.blend(made[1], 0.16, 0.4);
    f.set(made[2]).across = Some(v(0.0, -1.0, 0.0));
    f.set(made[2]).radius = Some(0.11);
    f.blend(made[2], 0.08, 0.25);
}

/// A hoof that stands on the ground around `at`.
fn hoof(f: &mut Figure, joint: usize, at: DVec3) {
    let pin = f.set(joint);
    pin.lumps.clear();
    pin.tail = Some(at);
    let start = pin.at;
    f.cone(joint, start, 0.043, at + v(0.0, 0.052, -0.005), 0.054);
    f.ball(joint, at + v(0.0, 0.030, 0.002), v(0.066, 0.032, 0.070)).soft(0.02);
    f.set(joint).radius = Some(0.045);
}

fn hind_leg(f: &mut Figure, hips: usize) {
    let joints = [
        ("LeftThigh", v(0.125, 1.22, -0.56), 0.20),
        ("LeftShin", v(0.160, 0.92, -0.44), 0.120),
        ("LeftHindCannon", v(0.145, 0.565, -0.68), 0.060),
        ("LeftHindPastern", v(0.145, 0.20, -0.665), 0.047),
        ("LeftHindHoof", v(0.145, 0.10, -0.625), 0.042),
    ];
    let made = f.limb(hips, &joints, (v(0.145, 0.045, -0.61), 0.058));
    for (joint, flat) in made.iter().zip([0.7, 0.72]) {
        f.set(*joint).lumps[0].flat(DVec3::X, flat);
    }
    hoof(f, made[4], v(0.145, 0.0, -0.60));
    f.ball(made[2], v(0.145, 0.585, -0.69), v(0.050, 0.065, 0.062)).soft(0.04);
    f.ball(made[3], v(0.145, 0.20, -0.67), v(0.048, 0.050, 0.052)).soft(0.03);
    f.set(made[0]).across = Some(v(0.5, -0.85, 0.15));
    f.set(made[0]).radius = Some(0.17);
    f.blend(made[0], 0.14, 0.45);
    f.set(made[1]).radius = Some(0.12);
    f.blend(made[1], 0.14, 0.4);
}

pub(super) fn giraffe() -> Figure {
    let mut f = Figure::standing(0.034, [0.78, 0.52, 0.20]);
    let hips = f.root("Hips", v(0.0, 2.10, -0.55));
    f.ball(hips, v(0.0, 1.98, -0.58), v(0.30, 0.34, 0.34));
    let mut spine = hips;
    let barrel = [
        (v(0.0, 2.18, -0.32), v(0.0, 2.00, -0.25), v(0.34, 0.40, 0.36)),
        (v(0.0, 2.26, -0.02), v(0.0, 2.06, 0.08), v(0.37, 0.45, 0.36)),
        (v(0.0, 2.38, 0.26), v(0.0, 2.16, 0.36), v(0.33, 0.47, 0.34)),
    ];
    for (k, (at, center, radii)) in barrel.into_iter().enumerate() {
        spine = f.joint(spine, &format!("Spine{}", k + 1), at);
        f.ball(spine, center, radii);
        f.set(spine).radius = Some(0.22);
        f.set(spine).across = Some(DVec3::Z);
        f.blend(spine, 0.22, 0.8);
    }
    let neck = f.chain(
        spine,
        "Neck",
        &[
            (v(0.0, 2.42, 0.56), 0.30),
            (v(0.0, 2.70, 0.74), 0.24),
            (v(0.0, 2.98, 0.90), 0.205),
            (v(0.0, 3.26, 1.05), 0.18),
            (v(0.0, 3.54, 1.19), 0.16),
            (v(0.0, 3.82, 1.32), 0.145),
            (v(0.0, 4.08, 1.43), 0.135),
            (v(0.0, 4.30, 1.52), 0.13),
        ],
    );
    for &joint in &neck {
        f.set(joint).tail = None;
        f.set(joint).lumps[0].flat(DVec3::X, 0.8);
    }
    f.blend(neck[0], 0.28, 0.8);
    let head = f.joint(neck[6], "Head", v(0.0, 4.32, 1.54));
    f.cone(head, v(0.0, 4.33, 1.56), 0.145, v(0.0, 4.22, 1.82), 0.10).flat(DVec3::X, 0.85);
    f.cone(head, v(0.0, 4.23, 1.80), 0.10, v(0.0, 4.10, 2.05), 0.075).soft(0.06);
    f.ball(head, v(0.115, 4.345, 1.68), v(0.035, 0.042, 0.045)).soft(0.02).both();
    // Ossicones.
    f.cone(head, v(0.065, 4.42, 1.52), 0.036, v(0.085, 4.60, 1.48), 0.034).soft(0.03).both();
    f.ball(head, v(0.087, 4.615, 1.478), v(0.045, 0.045, 0.045)).soft(0.02).both();
    f.set(head).tail = Some(v(0.0, 4.08, 2.10));
    f.set(head).radius = Some(0.12);
    f.blend(head, 0.07, 0.4);
    let ear = f.joint(head, "LeftEar", v(0.12, 4.41, 1.50));
    f.cone(ear, v(0.10, 4.40, 1.50), 0.035, v(0.20, 4.43, 1.47), 0.07).flat(v(0.0, 0.3, 1.0), 0.55);
    f.cone(ear, v(0.20, 4.43, 1.47), 0.07, v(0.30, 4.45, 1.45), 0.03).flat(v(0.0, 0.3, 1.0), 0.55).soft(0.04);
    f.set(ear).tail = Some(v(0.32, 4.45, 1.45));
    f.set(ear).radius = Some(0.05);
    f.set(ear).across = Some(DVec3::X);
    f.blend(ear, 0.04, 0.14);

    let front = [
        ("LeftShoulder", v(0.14, 2.28, 0.42), 0.18),
        ("LeftArm", v(0.21, 1.90, 0.48), 0.17),
        ("LeftForearm", v(0.22, 1.62, 0.40), 0.155),
        ("LeftFrontCannon", v(0.215, 0.90, 0.43), 0.088),
        ("LeftFrontPastern", v(0.215, 0.26, 0.42), 0.075),
        ("LeftFrontHoof", v(0.215, 0.13, 0.46), 0.070),
    ];
    let made = f.limb(spine, &front, (v(0.215, 0.075, 0.475), 0.085));
    f.ball(made[3], v(0.215, 0.90, 0.44), v(0.088, 0.11, 0.09)).soft(0.05);
    foot(&mut f, made[5], v(0.215, 0.0, 0.49));
    f.set(made[0]).across = Some(v(1.0, -0.3, 0.1));
    f.blend(made[0], 0.2, 0.7);
    f.blend(made[1], 0.2, 0.6);
    f.set(made[2]).across = Some(v(0.0, -1.0, 0.0));
    f.blend(made[2], 0.12, 0.4);
    let hind = [
        ("LeftThigh", v(0.17, 2.00, -0.58), 0.26),
        ("LeftShin", v(0.21, 1.57, -0.46), 0.165),
        ("LeftHindCannon", v(0.20, 0.95, -0.72), 0.092),
        ("LeftHindPastern", v(0.20, 0.26, -0.70), 0.075),
        ("LeftHindHoof", v(0.20, 0.13, -0.66), 0.070),
    ];
    let made = f.limb(hips, &hind, (v(0.20, 0.075, -0.645), 0.085));
    f.set(made[0]).lumps[0].flat(DVec3::X, 0.8);
    foot(&mut f, made[4], v(0.20, 0.0, -0.63));
    f.set(made[0]).across = Some(v(0.5, -0.85, 0.15));
    f.set(made[0]).radius = Some(0.22);
    f.blend(made[0], 0.2, 0.7);
    f.blend(made[1], 0.18, 0.5);
    let tail = f.chain(
        hips,
        "Tail",
        &[
            (v(0.0, 2.14, -0.88), 0.062),
            (v(0.0, 1.95, -1.00), 0.050),
            (v(0.0, 1.70, -1.05), 0.050),
            (v(0.0, 1.40, -1.08), 0.075),
        ],
    );
    f.ball(tail[2], v(0.0, 1.36, -1.08), v(0.08, 0.16, 0.08)).soft(0.05);
    f.set(tail[2]).tail = Some(v(0.0, 1.22, -1.08));
    f.mirror();
    f
}

/// The giraffe's larger hoof.
fn foot(f: &mut Figure, joint: usize, at: DVec3) {
    let pin = f.set(joint);
    pin.lumps.clear();
    pin.tail = Some(at);
    let start = pin.at;
    f.cone(joint, start, 0.072, at + v(0.0, 0.080, 0.0), 0.088);
    f.ball(joint, at + v(0.0, 0.050, 0.005), v(0.105, 0.052, 0.115)).soft(0.03);
    f.set(joint).radius = Some(0.075);
}
