//! The `elephant`.

use super::figure::{Figure, v};
use super::quadruped::{Gait, Leg};
use glam::DVec3;

pub(super) const ELEPHANT: Gait = Gait {
    front: Leg {
        reach: ["Arm", "Forearm", "FrontFoot"],
        pivot: "FrontFoot",
        pole: DVec3::new(0.0, 0.0, -1.0),
        pitch: [-6.0, 16.0, 50.0],
    },
    hind: Leg {
        reach: ["Thigh", "Shin", "HindFoot"],
        pivot: "HindFoot",
        pole: DVec3::new(0.0, 0.0, 1.0),
        pitch: [-6.0, 16.0, 45.0],
    },
    stride: 0.85,
    lift: 0.22,
    sink: 0.045,
    cycles: [1.8, 1.2],
    leap: 1.2,
    spine: &["Spine1", "Spine2", "Spine3"],
    neck: &["Neck"],
    tail: &["Tail1", "Tail2", "Tail3"],
    ears: &["LeftEar1", "LeftEar2", "RightEar1", "RightEar2"],
    bend: (
        &["Trunk1", "Trunk2", "Trunk3", "Trunk4", "Trunk5", "Trunk6", "Trunk7", "Trunk8"],
        DVec3::new(-1.0, 0.0, 0.0),
        26.0,
    ),
};

pub(super) fn elephant() -> Figure {
    let mut f = Figure::standing(0.04, [0.42, 0.42, 0.45]);
    let hips = f.root("Hips", v(0.0, 2.10, -0.95));
    f.ball(hips, v(0.0, 1.80, -0.95), v(0.66, 0.72, 0.62));
    let mut spine = hips;
    let barrel = [
        (v(0.0, 2.25, -0.60), v(0.0, 1.78, -0.40), v(0.80, 0.84, 0.70)),
        (v(0.0, 2.30, -0.10), v(0.0, 1.75, 0.15), v(0.84, 0.86, 0.70)),
        (v(0.0, 2.30, 0.40), v(0.0, 1.85, 0.60), v(0.72, 0.80, 0.60)),
    ];
    for (k, (at, center, radii)) in barrel.into_iter().enumerate() {
        spine = f.joint(spine, &format!("Spine{}", k + 1), at);
        f.ball(spine, center, radii);
        f.set(spine).radius = Some(0.42);
        f.set(spine).across = Some(DVec3::Z);
        f.blend(spine, 0.4, 1.6);
    }
    let neck = f.joint(spine, "Neck", v(0.0, 2.25, 0.98));
    f.cone(neck, v(0.0, 2.10, 0.85), 0.50, v(0.0, 2.32, 1.35), 0.42);
    f.set(neck).radius = Some(0.38);
    f.blend(neck, 0.3, 1.0);
    head(&mut f, neck);
    legs(&mut f, hips, spine);
    let tail = f.chain(
        hips,
        "Tail",
        &[
            (v(0.0, 2.05, -1.52), 0.085),
            (v(0.0, 1.75, -1.66), 0.070),
            (v(0.0, 1.40, -1.70), 0.060),
            (v(0.0, 1.08, -1.70), 0.060),
        ],
    );
    f.ball(tail[2], v(0.0, 1.04, -1.70), v(0.075, 0.15, 0.075)).soft(0.04);
    f.set(tail[2]).tail = Some(v(0.0, 0.92, -1.70));
    f.mirror();
    f
}

fn head(f: &mut Figure, neck: usize) {
    let head = f.joint(neck, "Head", v(0.0, 2.35, 1.38));
    f.ball(head, v(0.0, 2.42, 1.52), v(0.40, 0.46, 0.42));
    f.ball(head, v(0.13, 2.68, 1.50), v(0.22, 0.22, 0.26)).soft(0.15).both();
    f.ball(head, v(0.0, 2.16, 1.70), v(0.30, 0.28, 0.28)).soft(0.2);
    f.ball(head, v(0.335, 2.46, 1.74), v(0.055, 0.06, 0.06)).soft(0.025).both();
    // Tusks grow from beside the trunk, forward and up.
    f.cone(head, v(0.24, 2.06, 1.72), 0.095, v(0.37, 1.74, 2.02), 0.080).soft(0.05).both();
    f.cone(head, v(0.37, 1.74, 2.02), 0.080, v(0.41, 1.67, 2.34), 0.066).soft(0.04).both();
    f.cone(head, v(0.41, 1.67, 2.34), 0.066, v(0.37, 1.80, 2.62), 0.045).soft(0.03).both();
    f.set(head).tail = Some(v(0.0, 2.90, 1.52));
    f.set(head).radius = Some(0.36);
    f.set(head).across = Some(DVec3::Z);
    f.blend(head, 0.25, 0.9);
    let jaw = f.joint(head, "Jaw", v(0.0, 2.02, 1.55));
    f.cone(jaw, v(0.0, 1.98, 1.55), 0.20, v(0.0, 1.76, 1.74), 0.10);
    f.set(jaw).tail = Some(v(0.0, 1.72, 1.78));
    f.set(jaw).across = Some(v(0.0, -1.0, -0.2));
    f.set(jaw).radius = Some(0.12);
    f.blend(jaw, 0.10, 0.4);
    let trunk = f.chain(
        head,
        "Trunk",
        &[
            (v(0.0, 2.26, 1.90), 0.250),
            (v(0.0, 2.02, 2.06), 0.205),
            (v(0.0, 1.76, 2.15), 0.180),
            (v(0.0, 1.50, 2.19), 0.158),
            (v(0.0, 1.24, 2.20), 0.138),
            (v(0.0, 0.98, 2.20), 0.122),
            (v(0.0, 0.73, 2.21), 0.108),
            (v(0.0, 0.51, 2.27), 0.098),
            (v(0.0, 0.36, 2.42), 0.085),
        ],
    );
    f.set(trunk[0]).radius = Some(0.22);
    f.blend(trunk[0], 0.2, 0.55);
    let ear = f.joint(head, "LeftEar1", v(0.38, 2.48, 1.38));
    f.ball(ear, v(0.52, 2.38, 1.32), v(0.28, 0.42, 0.055)).swell(0.035).turn(DVec3::Y, 28.0);
    f.set(ear).across = Some(v(0.9, 0.0, -0.4));
    f.set(ear).radius = Some(0.16);
    f.blend(ear, 0.10, 0.55);
    let flap = f.joint(ear, "LeftEar2", v(0.72, 2.36, 1.22));
    f.ball(flap, v(0.84, 2.28, 1.14), v(0.34, 0.50, 0.055)).swell(0.035).turn(DVec3::Y, 28.0);
    f.ball(flap, v(0.78, 1.98, 1.16), v(0.20, 0.34, 0.055)).swell(0.035).turn(DVec3::Y, 28.0).soft(0.2);
    f.set(flap).tail = Some(v(1.12, 2.26, 0.98));
    f.set(flap).across = Some(v(0.9, 0.0, -0.4));
    f.set(flap).radius = Some(0.22);
    f.blend(flap, 0.14, 1.0);
}

fn legs(f: &mut Figure, hips: usize, spine: usize) {
    let front = [
        ("LeftShoulder", v(0.30, 1.95, 0.62), 0.36),
        ("LeftArm", v(0.42, 1.50, 0.72), 0.33),
        ("LeftForearm", v(0.42, 0.86, 0.66), 0.245),
        ("LeftFrontFoot", v(0.42, 0.30, 0.68), 0.215),
    ];
    let made = f.limb(spine, &front, (v(0.42, 0.20, 0.70), 0.235));
    f.ball(made[3], v(0.42, 0.115, 0.72), v(0.285, 0.118, 0.30)).soft(0.08);
    f.set(made[3]).tail = Some(v(0.42, 0.0, 0.74));
    f.set(made[0]).across = Some(v(0.7, -0.7, 0.1));
    f.blend(made[0], 0.25, 0.9);
    f.set(made[1]).across = Some(v(0.3, -0.95, 0.1));
    f.blend(made[1], 0.2, 0.8);
    let hind = [
        ("LeftThigh", v(0.38, 1.72, -0.92), 0.42),
        ("LeftShin", v(0.42, 0.92, -0.82), 0.27),
        ("LeftHindFoot", v(0.42, 0.30, -0.92), 0.210),
    ];
    let made = f.limb(hips, &hind, (v(0.42, 0.20, -0.90), 0.230));
    f.ball(made[2], v(0.42, 0.115, -0.88), v(0.275, 0.118, 0.30)).soft(0.08);
    f.set(made[2]).tail = Some(v(0.42, 0.0, -0.86));
    f.set(made[0]).across = Some(v(0.4, -0.9, 0.1));
    f.set(made[0]).radius = Some(0.36);
    f.blend(made[0], 0.28, 0.95);
}
