//! Soft and spiky fellows: `bunny`, `octopus`, `armadillo`.

use super::figure::{Figure, rotation, v};
use super::motion::{Motion, ramp, stop_dead, wave};
use glam::DVec3;

pub(super) fn bunny() -> Figure {
    let mut f = Figure::standing(0.013, [0.72, 0.68, 0.66]);
    let hips = f.root("Hips", v(0.0, 0.30, -0.02));
    f.ball(hips, v(0.0, 0.30, -0.01), v(0.23, 0.19, 0.21));
    let spine = f.joint(hips, "Spine", v(0.0, 0.42, -0.03));
    f.ball(spine, v(0.0, 0.44, 0.0), v(0.22, 0.20, 0.20));
    f.set(spine).radius = Some(0.13);
    f.blend(spine, 0.16, 0.6);
    let belly = f.joint(hips, "Belly", v(0.0, 0.37, 0.10));
    f.ball(belly, v(0.0, 0.37, 0.09), v(0.22, 0.21, 0.20));
    f.set(belly).tail = Some(v(0.0, 0.36, 0.29));
    f.set(belly).across = Some(DVec3::Z);
    f.set(belly).radius = Some(0.17);
    f.blend(belly, 0.16, 0.7);
    f.set(belly).say = Some(0.12);
    let chest = f.joint(spine, "Chest", v(0.0, 0.58, -0.02));
    f.ball(chest, v(0.0, 0.62, -0.005), v(0.155, 0.15, 0.135));
    f.set(chest).radius = Some(0.12);
    f.set(chest).across = Some(DVec3::Y);
    f.blend(chest, 0.16, 0.6);
    let neck = f.joint(chest, "Neck", v(0.0, 0.735, 0.0));
    f.cone(neck, v(0.0, 0.70, 0.0), 0.095, v(0.0, 0.80, 0.015), 0.09);
    f.set(neck).radius = Some(0.07);
    f.blend(neck, 0.08, 0.3);
    bunny_head(&mut f, neck);

    let shoulder = f.joint(chest, "LeftShoulder", v(0.06, 0.67, 0.0));
    f.ball(shoulder, v(0.10, 0.675, 0.0), v(0.07, 0.065, 0.065));
    f.set(shoulder).radius = Some(0.06);
    f.set(shoulder).across = Some(DVec3::X);
    f.blend(shoulder, 0.06, 0.2);
    let arm = [
        ("LeftUpperArm", v(0.155, 0.680, 0.0), 0.060),
        ("LeftLowerArm", v(0.285, 0.640, 0.005), 0.052),
        ("LeftHand", v(0.400, 0.600, 0.02), 0.050),
    ];
    let made = f.limb(shoulder, &arm, (v(0.462, 0.578, 0.03), 0.058));
    f.ball(made[2], v(0.445, 0.588, 0.068), v(0.026, 0.026, 0.038)).soft(0.02);
    f.set(made[0]).across = Some(v(1.0, -0.3, 0.0));
    f.blend(made[0], 0.05, 0.18);
    f.set(made[0]).say = Some(0.06);
    f.set(shoulder).say = Some(0.08);

    let leg = [
        ("LeftUpperLeg", v(0.13, 0.265, 0.02), 0.125),
        ("LeftLowerLeg", v(0.155, 0.165, 0.06), 0.088),
        ("LeftFoot", v(0.155, 0.070, 0.0), 0.060),
    ];
    let made = f.limb(hips, &leg, (v(0.16, 0.050, 0.08), 0.050));
    f.set(made[0]).across = Some(v(0.55, -0.8, 0.2));
    f.set(made[0]).radius = Some(0.11);
    f.blend(made[0], 0.06, 0.3);
    f.set(made[0]).say = Some(0.12);
    f.set(made[0]).radius = Some(0.13);
    f.ball(made[2], v(0.155, 0.045, -0.02), v(0.055, 0.045, 0.06)).soft(0.03);
    f.ball(made[2], v(0.16, 0.044, 0.09), v(0.068, 0.044, 0.11)).soft(0.04);
    f.set(made[2]).tail = None;
    let toes = f.joint(made[2], "LeftToes", v(0.165, 0.042, 0.17));
    f.ball(toes, v(0.17, 0.042, 0.19), v(0.075, 0.042, 0.085));
    f.set(toes).tail = Some(v(0.17, 0.04, 0.27));
    f.set(toes).radius = Some(0.05);
    f.blend(toes, 0.03, 0.2);
    let tail = f.joint(hips, "Tail", v(0.0, 0.25, -0.20));
    f.ball(tail, v(0.0, 0.25, -0.245), v(0.075, 0.075, 0.075));
    f.set(tail).tail = Some(v(0.0, 0.25, -0.32));
    f.set(tail).across = Some(DVec3::NEG_Z);
    f.blend(tail, 0.02, 0.15);
    f.mirror();
    f
}

fn bunny_head(f: &mut Figure, neck: usize) {
    let head = f.joint(neck, "Head", v(0.0, 0.80, 0.01));
    f.ball(head, v(0.0, 0.915, 0.03), v(0.165, 0.155, 0.155));
    f.ball(head, v(0.075, 0.855, 0.115), v(0.085, 0.072, 0.075)).soft(0.05).both();
    f.ball(head, v(0.0, 0.865, 0.165), v(0.052, 0.045, 0.045)).soft(0.03);
    f.ball(head, v(0.0, 0.893, 0.207), v(0.022, 0.016, 0.016)).soft(0.006);
    f.ball(head, v(0.068, 0.958, 0.150), v(0.032, 0.042, 0.028)).soft(0.008).both();
    // Two front teeth.
    f.ball(head, v(0.0, 0.815, 0.163), v(0.030, 0.034, 0.018)).soft(0.010);
    f.set(head).tail = Some(v(0.0, 1.06, 0.02));
    f.set(head).radius = Some(0.09);
    f.blend(head, 0.06, 0.25);
    let ear = f.chain(
        head,
        "LeftEar",
        &[
            (v(0.070, 1.03, 0.0), 0.048),
            (v(0.095, 1.19, -0.015), 0.066),
            (v(0.125, 1.36, -0.02), 0.064),
            (v(0.150, 1.53, -0.01), 0.038),
        ],
    );
    for &joint in &ear {
        f.set(joint).lumps[0].flat(v(-0.3, 0.0, 1.0), 0.4).swell(0.008);
        f.set(joint).radius = Some(0.05);
        f.blend(joint, 0.02, 0.12);
    }
    f.ball(ear[1], v(0.112, 1.275, -0.02), v(0.068, 0.15, 0.026)).swell(0.008).soft(0.03);
    f.blend(ear[0], 0.04, 0.12);
}

/// Arms of the octopus on one side, and joints of each.
const ARMS: usize = 4;
const ARM_JOINTS: usize = 7;

pub(super) fn octopus() -> Figure {
    let mut f = Figure::standing(0.0125, [0.66, 0.22, 0.20]);
    let body = f.root("Body", v(0.0, 0.22, 0.0));
    f.ball(body, v(0.0, 0.22, 0.0), v(0.155, 0.115, 0.150));
    // The mantle is a soft bag that leans back.
    let mantle = [
        (v(0.0, 0.30, -0.01), v(0.0, 0.345, -0.01), 0.130),
        (v(0.0, 0.40, -0.03), v(0.0, 0.455, -0.04), 0.165),
        (v(0.0, 0.51, -0.07), v(0.0, 0.560, -0.08), 0.185),
        (v(0.0, 0.62, -0.11), v(0.0, 0.650, -0.115), 0.150),
    ];
    let mut up = body;
    for (k, (at, center, radius)) in mantle.into_iter().enumerate() {
        up = f.joint(up, &format!("Mantle{}", k + 1), at);
        f.ball(up, center, v(radius, 0.14, radius));
        f.set(up).radius = Some(0.11);
        f.blend(up, 0.12, 0.4);
    }
    f.set(up).tail = Some(v(0.0, 0.79, -0.15));
    let eye = f.joint(body, "LeftEye", v(0.085, 0.315, 0.085));
    f.ball(eye, v(0.098, 0.335, 0.098), v(0.056, 0.056, 0.056));
    f.ball(eye, v(0.112, 0.350, 0.112), v(0.050, 0.034, 0.050)).soft(0.008);
    f.set(eye).tail = Some(v(0.150, 0.35, 0.150));
    f.set(eye).across = Some(v(0.6, 0.5, 0.6));
    f.set(eye).radius = Some(0.05);
    f.blend(eye, 0.02, 0.1);
    for arm in 0..ARMS {
        let around = rotation(DVec3::Y, 22.5 + 45.0 * arm as f64);
        // Out, down to the ground and up again at the tip.
        let profile = [
            (0.10, 0.160, 0.070),
            (0.215, 0.120, 0.057),
            (0.325, 0.078, 0.050),
            (0.432, 0.050, 0.043),
            (0.535, 0.040, 0.036),
            (0.635, 0.055, 0.029),
            (0.715, 0.110, 0.023),
            (0.725, 0.195, 0.015),
        ];
        // Each arm curves sideways its own way.
        let sway = [0.05, -0.04, 0.045, -0.05][arm];
        let points: Vec<(DVec3, f64)> = profile
            .iter()
            .map(|&(out, y, r)| {
                let side = sway * wave(0.8 * (out - 0.10));
                (around * v(side, 0.0, out) + v(0.0, y, 0.0), r)
            })
            .collect();
        let made = f.chain(body, &format!("LeftArm{}_", arm + 1), &points);
        f.set(made[0]).across = Some(around * v(0.0, -0.35, 1.0));
        f.set(made[0]).radius = Some(0.075);
        f.blend(made[0], 0.055, 0.17);
    }
    f.mirror();
    f
}

/// Calls `work(name, place around the body in turns, side, joint along the arm)` for every arm joint.
fn each_arm(mut work: impl FnMut(&str, f64, f64, usize)) {
    for (side, sign) in [("Left", 1.0), ("Right", -1.0)] {
        for arm in 1..=ARMS {
            for joint in 1..=ARM_JOINTS {
                let place = sign * (arm as f64 - 0.5) / (2 * ARMS) as f64;
                work(&format!("{side}Arm{arm}_{joint}"), place, sign, joint);
            }
        }
    }
}

pub(super) fn octopus_motions() -> Vec<Motion> {
    vec![
        Motion::new("wave", 2.0, |p, t| {
            each_arm(|name, place, _, joint| {
                let along = joint as f64 / ARM_JOINTS as f64;
                // A wave that runs out along the arms and around the body.
                p.swing(name, DVec3::Y, (5.0 + 20.0 * along) * (0.75 + wave(0.5 * t + place - 0.9 * along)));
            });
            for k in 1..=4 {
                p.turn(&format!("Mantle{k}"), DVec3::Z, 4.0 * wave(0.5 * t - 0.1 * f64::from(k)));
            }
        }),
        Motion::new("twist", 2.0, |p, t| {
            let share = ramp(t, 2.0);
            for k in 1..=4 {
                p.turn(&format!("Mantle{k}"), DVec3::Y, 45.0 * share);
            }
            each_arm(|name, _, _, _| p.turn(name, DVec3::Y, -14.0 * share));
        }),
        Motion::new("shake", 2.0, |p, t| {
            let s = stop_dead(t, 2.5, 1.2);
            p.turn("Body", DVec3::Y, 14.0 * s);
            for k in 1..=4 {
                p.turn(&format!("Mantle{k}"), DVec3::Z, 9.0 * s);
            }
            each_arm(|name, _, _, _| p.turn(name, DVec3::Y, -6.0 * s));
        }),
        Motion::new("bend", 2.0, |p, t| {
            let share = ramp(t, 2.0);
            p.shift("Body", v(0.0, 0.12 * share, 0.0));
            each_arm(|name, _, _, joint| {
                p.swing(name, DVec3::Y, if joint == 1 { 0.0 } else { 25.0 * share });
            });
        }),
    ]
}

pub(super) fn armadillo() -> Figure {
    let mut f = Figure::standing(0.0105, [0.55, 0.44, 0.30]);
    let hips = f.root("Hips", v(0.0, 0.50, -0.02));
    f.ball(hips, v(0.0, 0.50, -0.01), v(0.20, 0.15, 0.17));
    let spine = f.joint(hips, "Spine", v(0.0, 0.60, -0.03));
    f.ball(spine, v(0.0, 0.63, 0.01), v(0.20, 0.16, 0.17));
    f.set(spine).radius = Some(0.11);
    f.blend(spine, 0.14, 0.5);
    let chest = f.joint(spine, "Chest", v(0.0, 0.74, -0.03));
    f.ball(chest, v(0.0, 0.80, 0.0), v(0.20, 0.155, 0.15));
    f.ball(chest, v(0.085, 0.83, 0.10), v(0.085, 0.065, 0.05)).soft(0.04).both();
    f.set(chest).radius = Some(0.11);
    f.blend(chest, 0.14, 0.5);
    shell(&mut f, [hips, spine, chest]);
    let neck = f.joint(chest, "Neck", v(0.0, 0.93, 0.01));
    f.cone(neck, v(0.0, 0.90, 0.0), 0.085, v(0.0, 1.02, 0.045), 0.075);
    f.set(neck).radius = Some(0.07);
    f.blend(neck, 0.07, 0.25);
    armadillo_head(&mut f, neck);
    armadillo_arm(&mut f, chest);
    armadillo_leg(&mut f, hips);
    let tail = f.chain(
        hips,
        "Tail",
        &[
            (v(0.0, 0.45, -0.15), 0.085),
            (v(0.0, 0.34, -0.27), 0.068),
            (v(0.0, 0.25, -0.40), 0.054),
            (v(0.0, 0.20, -0.53), 0.042),
            (v(0.0, 0.19, -0.66), 0.032),
            (v(0.0, 0.24, -0.78), 0.016),
        ],
    );
    f.blend(tail[0], 0.07, 0.25);
    for &joint in &tail[1..4] {
        let at = f.pins[joint].at;
        let radius = f.radius(joint);
        let out = v(0.0, 0.9, -0.25);
        f.cone(joint, at + out * (0.5 * radius), 0.028, at + out * (radius + 0.05), 0.010).soft(0.012);
    }
    f.mirror();
    f
}

/// A domed shell on the back with rows of spikes.
fn shell(f: &mut Figure, trunk: [usize; 3]) {
    let domes = [
        (v(0.0, 0.50, -0.10), v(0.19, 0.12, 0.13)),
        (v(0.0, 0.64, -0.115), v(0.215, 0.12, 0.145)),
        (v(0.0, 0.80, -0.10), v(0.21, 0.125, 0.135)),
    ];
    for ((joint, (center, radii)), rows) in trunk.into_iter().zip(domes).zip([1, 2, 2]) {
        f.ball(joint, center, radii).soft(0.012);
        // Below the lowest row the tail begins.
        for row in 0..rows {
            let high = 0.12 - 0.46 * f64::from(row);
            for (turns, count) in [(0.0, 1), (0.085, 2), (0.17, 2)] {
                let (sine, cosine) = libm::sincos(turns * std::f64::consts::TAU);
                let out = v(sine, high + 0.25, -cosine).normalize();
                let at = center + out * radii;
                let spike = f.cone(joint, at - out * 0.02, 0.026, at + out * 0.062, 0.010).soft(0.010);
                if count == 2 {
                    spike.both();
                }
            }
        }
    }
}

fn armadillo_head(f: &mut Figure, neck: usize) {
    let head = f.joint(neck, "Head", v(0.0, 1.02, 0.04));
    f.ball(head, v(0.0, 1.08, 0.06), v(0.105, 0.10, 0.12));
    f.cone(head, v(0.0, 1.075, 0.12), 0.078, v(0.0, 1.045, 0.27), 0.045).soft(0.04);
    f.ball(head, v(0.0, 1.06, 0.305), v(0.028, 0.024, 0.022)).soft(0.008);
    f.ball(head, v(0.058, 1.125, 0.135), v(0.028, 0.028, 0.028)).soft(0.006).both();
    // Brows, and a crest of spikes.
    f.cone(head, v(0.025, 1.142, 0.140), 0.018, v(0.080, 1.152, 0.105), 0.018).soft(0.03).both();
    for (y, z) in [(1.17, 0.05), (1.145, -0.02), (1.09, -0.055)] {
        let out = (v(0.0, y, z) - v(0.0, 1.08, 0.06)).normalize();
        let at = v(0.0, y, z) - out * 0.02;
        f.cone(head, at, 0.024, at + out * 0.078, 0.010).soft(0.010);
    }
    f.set(head).tail = Some(v(0.0, 1.05, 0.32));
    f.set(head).across = Some(v(0.0, 1.0, 0.3));
    f.set(head).radius = Some(0.075);
    f.blend(head, 0.04, 0.2);
    let jaw = f.joint(head, "Jaw", v(0.0, 1.035, 0.10));
    f.cone(jaw, v(0.0, 1.025, 0.10), 0.055, v(0.0, 0.99, 0.235), 0.027);
    f.set(jaw).tail = Some(v(0.0, 0.985, 0.26));
    f.set(jaw).across = Some(v(0.0, -0.9, 0.3));
    f.set(jaw).radius = Some(0.05);
    f.blend(jaw, 0.02, 0.12);
    let ear = f.joint(head, "LeftEar", v(0.085, 1.135, 0.03));
    f.cone(ear, v(0.085, 1.13, 0.03), 0.034, v(0.155, 1.21, 0.005), 0.060).flat(v(0.2, 0.0, 1.0), 0.38);
    f.cone(ear, v(0.155, 1.21, 0.005), 0.060, v(0.215, 1.30, -0.01), 0.018)
        .flat(v(0.2, 0.0, 1.0), 0.38)
        .soft(0.03);
    f.set(ear).tail = Some(v(0.22, 1.31, -0.01));
    f.set(ear).radius = Some(0.04);
    f.set(ear).across = Some(v(0.7, 0.7, 0.0));
    f.blend(ear, 0.02, 0.08);
}

fn armadillo_arm(f: &mut Figure, chest: usize) {
    let shoulder = f.joint(chest, "LeftShoulder", v(0.07, 0.88, -0.01));
    f.cone(shoulder, v(0.09, 0.87, -0.01), 0.075, v(0.18, 0.88, -0.01), 0.075);
    f.set(shoulder).across = Some(DVec3::X);
    f.blend(shoulder, 0.06, 0.25);
    let arm = [
        ("LeftUpperArm", v(0.225, 0.875, -0.01), 0.080),
        ("LeftLowerArm", v(0.395, 0.765, -0.015), 0.058),
        ("LeftHand", v(0.545, 0.665, 0.02), 0.042),
    ];
    let made = f.limb(shoulder, &arm, (v(0.605, 0.625, 0.035), 0.046));
    f.set(made[0]).across = Some(v(1.0, -0.3, 0.0));
    f.blend(made[0], 0.05, 0.2);
    f.cone(made[1], v(0.43, 0.745, -0.01), 0.060, v(0.48, 0.71, 0.0), 0.054).soft(0.03);
    for (k, at) in [(0, v(0.335, 0.80, -0.015)), (1, v(0.45, 0.73, -0.01))] {
        let out = v(0.45, 0.6, -0.66);
        f.cone(made[k], at + out * 0.035, 0.024, at + out * 0.115, 0.010).soft(0.010);
    }
    let along = (v(0.605, 0.625, 0.035) - v(0.545, 0.665, 0.02)).normalize();
    f.set(made[2]).tail = None;
    for (name, side) in [("LeftClaw1", -0.036), ("LeftClaw2", 0.0), ("LeftClaw3", 0.036)] {
        let root = v(0.605, 0.625, 0.035) + v(0.0, 0.0, side);
        let knuckle = root + along * 0.055 + v(0.0, 0.0, 0.35 * side);
        let claw = f.joint(made[2], name, root);
        f.cone(claw, root, 0.024, knuckle, 0.019);
        let tip = knuckle + along * 0.055 + v(-0.01, -0.025, 0.2 * side);
        f.cone(claw, knuckle, 0.019, tip, 0.010).soft(0.008);
        f.set(claw).tail = Some(tip);
        f.blend(claw, 0.014, 0.05);
    }
}

fn armadillo_leg(f: &mut Figure, hips: usize) {
    let leg = [
        ("LeftUpperLeg", v(0.125, 0.46, 0.0), 0.120),
        ("LeftLowerLeg", v(0.165, 0.27, 0.07), 0.078),
        ("LeftFoot", v(0.165, 0.085, -0.015), 0.052),
    ];
    let made = f.limb(hips, &leg, (v(0.17, 0.05, 0.08), 0.048));
    f.set(made[0]).across = Some(v(0.55, -0.8, 0.1));
    f.set(made[0]).radius = Some(0.11);
    f.blend(made[0], 0.06, 0.26);
    f.ball(made[2], v(0.165, 0.045, -0.03), v(0.052, 0.045, 0.06)).soft(0.03);
    f.cone(made[0], v(0.215, 0.38, 0.07), 0.026, v(0.265, 0.40, 0.13), 0.010).soft(0.010);
    f.cone(made[1], v(0.165, 0.29, 0.125), 0.026, v(0.165, 0.325, 0.20), 0.010).soft(0.010);
    f.set(made[2]).tail = None;
    let toes = f.joint(made[2], "LeftToes", v(0.17, 0.042, 0.095));
    f.ball(toes, v(0.17, 0.042, 0.105), v(0.075, 0.040, 0.05));
    for side in [-0.050, 0.0, 0.050] {
        let root = v(0.17 + side, 0.036, 0.135);
        f.cone(toes, root, 0.030, root + v(0.2 * side, -0.010, 0.035), 0.024).soft(0.01);
        f.cone(toes, root + v(0.2 * side, -0.006, 0.035), 0.021, root + v(0.4 * side, -0.024, 0.10), 0.010)
            .soft(0.006);
    }
    f.set(toes).tail = Some(v(0.17, 0.03, 0.20));
    f.set(toes).radius = Some(0.04);
    f.blend(toes, 0.02, 0.12);
}
