//! People: `human`, `chubby`, `torso`.

use super::figure::{Figure, v};
use glam::DVec3;

/// What makes one person differ from another.
struct Build {
    /// Girth of trunk and limbs against an average person's.
    trunk: f64,
    limbs: f64,
    /// How far shoulders and hips are moved outwards, in metres.
    wider: f64,
}

/// The joints of the trunk that everything else hangs on.
struct Trunk {
    hips: usize,
    chest: usize,
}

pub(super) fn human() -> Figure {
    person(0.0115, [0.80, 0.55, 0.42], &Build { trunk: 1.0, limbs: 1.0, wider: 0.0 })
}

pub(super) fn chubby() -> Figure {
    let build = Build { trunk: 1.5, limbs: 1.45, wider: 0.07 };
    let mut f = person(0.0125, [0.85, 0.60, 0.46], &build);
    // A paunch, love handles and a double chin.
    f.ball(1, v(0.0, 1.06, 0.09), v(0.23, 0.19, 0.20)).soft(0.15);
    f.ball(0, v(0.0, 0.95, 0.02), v(0.25, 0.13, 0.21)).soft(0.12);
    let head = f.pins.iter().position(|p| p.name == "Head").unwrap_or_default();
    f.ball(head, v(0.0, 1.575, 0.045), v(0.085, 0.055, 0.075)).soft(0.05);
    f
}

fn person(cell: f64, color: [f32; 3], build: &Build) -> Figure {
    let mut f = Figure::standing(cell, color);
    let g = build.trunk;
    let hips = f.root("Hips", v(0.0, 0.97, 0.0));
    f.ball(hips, v(0.0, 0.945, 0.0), v(0.158, 0.105, 0.112) * v(g, 1.0, g));
    f.ball(hips, v(0.075 * g, 0.90, -0.055 * g), v(0.085, 0.092, 0.082) * g).soft(0.06).both();
    let spine = f.joint(hips, "Spine", v(0.0, 1.06, 0.0));
    f.ball(spine, v(0.0, 1.09, 0.003), v(0.132, 0.14, 0.096) * v(g, 1.0, g));
    f.set(spine).radius = Some(0.09);
    f.blend(spine, 0.14, 0.45);
    let chest = f.joint(spine, "Chest", v(0.0, 1.21, -0.005));
    f.ball(chest, v(0.0, 1.28, -0.008), v(0.160, 0.165, 0.108) * v(g, 1.0, g));
    f.ball(chest, v(0.0, 1.385, -0.025), v(0.165 + build.wider, 0.062, 0.075 * g)).soft(0.08);
    f.ball(chest, v(0.072 * g, 1.305, 0.062 * g), v(0.080, 0.062, 0.045) * g.min(1.15)).soft(0.05).both();
    f.set(chest).radius = Some(0.09);
    f.blend(chest, 0.14, 0.45);
    head(&mut f, chest, build.limbs.min(1.25));
    let trunk = Trunk { hips, chest };
    arm(&mut f, &trunk, build);
    leg(&mut f, &trunk, build);
    f.mirror();
    f
}

/// An upper body, cut at the thighs, with more bones in trunk and neck than a whole person.
pub(super) fn torso() -> Figure {
    let mut f = Figure::new(0.0105, [0.74, 0.48, 0.35]);
    let build = Build { trunk: 1.08, limbs: 1.18, wider: 0.025 };
    let g = build.trunk;
    let hips = f.root("Hips", v(0.0, 0.97, 0.0));
    f.ball(hips, v(0.0, 0.945, 0.0), v(0.165, 0.105, 0.118));
    f.ball(hips, v(0.08, 0.90, -0.055), v(0.088, 0.092, 0.085)).soft(0.06).both();
    let low = f.joint(hips, "Spine1", v(0.0, 1.05, 0.0));
    f.ball(low, v(0.0, 1.06, 0.003), v(0.138, 0.12, 0.098));
    let high = f.joint(low, "Spine2", v(0.0, 1.14, 0.0));
    f.ball(high, v(0.0, 1.16, 0.003), v(0.142, 0.12, 0.098));
    let belly = f.joint(low, "Belly", v(0.0, 1.07, 0.06));
    f.ball(belly, v(0.0, 1.08, 0.045), v(0.10, 0.11, 0.070));
    f.set(belly).tail = Some(v(0.0, 1.07, 0.12));
    f.set(belly).across = Some(DVec3::Z);
    let chest = f.joint(high, "Chest", v(0.0, 1.23, -0.005));
    f.ball(chest, v(0.0, 1.285, -0.008), v(0.165, 0.16, 0.108) * v(g, 1.0, g));
    f.ball(chest, v(0.0, 1.385, -0.025), v(0.195, 0.065, 0.082)).soft(0.08);
    f.ball(chest, v(0.10, 1.27, -0.06), v(0.085, 0.12, 0.06)).soft(0.05).both();
    for (joint, radius) in [(low, 0.07), (high, 0.07), (chest, 0.08), (belly, 0.07)] {
        f.set(joint).radius = Some(radius);
        f.blend(joint, 0.12, 0.45);
    }
    let breast = f.joint(chest, "LeftPec", v(0.080, 1.31, 0.055));
    f.ball(breast, v(0.085, 1.305, 0.062), v(0.088, 0.068, 0.052));
    f.set(breast).tail = Some(v(0.088, 1.30, 0.115));
    f.set(breast).across = Some(DVec3::Z);
    f.set(breast).radius = Some(0.05);
    f.blend(breast, 0.05, 0.2);
    let neck = head(&mut f, chest, 1.08);
    // Two joints in the neck, and a jaw.
    f.set(neck).name = "Neck1".to_owned();
    let top = neck + 1;
    f.set(top).name = "Neck2".to_owned();
    let (above, lumps) = (v(0.0, 1.585, 0.010), f.set(top).lumps.split_off(0));
    f.set(top).at = v(0.0, 1.515, -0.005);
    f.set(top).tail = None;
    f.cone(top, v(0.0, 1.515, -0.005), 0.057, v(0.0, 1.59, 0.012), 0.055);
    f.set(top).radius = Some(0.05);
    let skull = f.joint(top, "Head", above);
    f.set(skull).lumps = lumps;
    let chin = f.set(skull).lumps.remove(1);
    f.set(skull).tail = Some(v(0.0, 1.75, 0.0));
    f.set(skull).radius = Some(0.05);
    f.blend(skull, 0.05, 0.2);
    let jaw = f.joint(skull, "Jaw", v(0.0, 1.62, 0.02));
    f.set(jaw).lumps.push(chin);
    f.set(jaw).tail = Some(v(0.0, 1.565, 0.085));
    f.set(jaw).across = Some(v(0.0, -1.0, 0.35));
    f.set(jaw).radius = Some(0.045);
    f.blend(jaw, 0.05, 0.2);
    arm(&mut f, &Trunk { hips, chest }, &build);
    let thigh = f.joint(hips, "LeftUpperLeg", v(0.10, 0.90, 0.0));
    f.cone(thigh, v(0.10, 0.89, 0.0), 0.098, v(0.112, 0.70, 0.006), 0.085);
    f.set(thigh).tail = Some(v(0.115, 0.62, 0.008));
    f.set(thigh).say = Some(0.04);
    f.set(thigh).across = Some(v(0.55, -0.85, 0.0));
    f.set(thigh).radius = Some(0.09);
    f.blend(thigh, 0.06, 0.22);
    f.mirror();
    f
}

/// Neck and head; returns the neck.
fn head(f: &mut Figure, chest: usize, girth: f64) -> usize {
    let neck = f.joint(chest, "Neck", v(0.0, 1.465, -0.015));
    f.cone(neck, v(0.0, 1.42, -0.025), 0.062 * girth, v(0.0, 1.56, 0.005), 0.053 * girth);
    f.cone(neck, v(0.02, 1.475, -0.035), 0.034, v(0.125, 1.425, -0.03), 0.030).soft(0.04).both();
    f.set(neck).radius = Some(0.055);
    f.blend(neck, 0.07, 0.16);
    let head = f.joint(neck, "Head", v(0.0, 1.555, 0.002));
    f.ball(head, v(0.0, 1.655, 0.0), v(0.078, 0.098, 0.098));
    f.cone(head, v(0.0, 1.61, 0.03), 0.058, v(0.0, 1.575, 0.062), 0.034).soft(0.05);
    // Nose, brow, eyes, lips and ears.
    f.cone(head, v(0.0, 1.655, 0.090), 0.010, v(0.0, 1.628, 0.110), 0.0135).soft(0.014);
    f.cone(head, v(-0.035, 1.678, 0.078), 0.016, v(0.035, 1.678, 0.078), 0.016).soft(0.02);
    f.ball(head, v(0.030, 1.657, 0.0815), v(0.0135, 0.0125, 0.0125)).soft(0.004).both();
    f.ball(head, v(0.0, 1.598, 0.090), v(0.024, 0.0085, 0.013)).soft(0.008);
    f.ball(head, v(0.079, 1.640, -0.005), v(0.010, 0.032, 0.021)).turn(DVec3::Y, 20.0).soft(0.008).both();
    f.set(head).tail = Some(v(0.0, 1.75, 0.0));
    f.set(head).radius = Some(0.055);
    f.blend(head, 0.05, 0.15);
    neck
}

fn arm(f: &mut Figure, trunk: &Trunk, build: &Build) {
    let (g, wide) = (build.limbs, v(build.wider, 0.0, 0.0));
    let along = v(0.77, -0.638, 0.0).normalize();
    let shoulder_at = v(0.172, 1.405, -0.02) + wide;
    let elbow_at = shoulder_at + along * 0.285 + v(0.0, 0.0, -0.01);
    let wrist_at = elbow_at + along * 0.25 + v(0.0, 0.0, 0.025);

    let shoulder = f.joint(trunk.chest, "LeftShoulder", v(0.035, 1.415, -0.01));
    f.cone(shoulder, v(0.05, 1.41, -0.022), 0.052 * g, shoulder_at + v(-0.03, -0.002, 0.0), 0.054 * g);
    f.set(shoulder).radius = Some(0.08);
    f.set(shoulder).across = Some(v(1.0, 0.1, 0.0));
    let upper = f.joint(shoulder, "LeftUpperArm", shoulder_at);
    f.ball(upper, shoulder_at + v(0.006, -0.014, 0.0), v(0.056, 0.064, 0.060) * g);
    f.cone(upper, shoulder_at + v(0.0, -0.008, 0.0), 0.050 * g, elbow_at, 0.040 * g);
    f.cone(
        upper,
        shoulder_at + along * 0.12 + v(0.0, 0.0, 0.012),
        0.040 * g,
        shoulder_at + along * 0.20,
        0.036 * g,
    );
    f.set(upper).radius = Some(0.068 * g);
    f.set(upper).across = Some(v(1.0, -0.25, 0.0));
    f.blend(upper, 0.06, 0.19);
    let lower = f.joint(upper, "LeftLowerArm", elbow_at);
    f.cone(lower, elbow_at, 0.041 * g, elbow_at + along * 0.085, 0.043 * g);
    f.cone(lower, elbow_at + along * 0.085, 0.043 * g, wrist_at, 0.028 * (0.5 + 0.5 * g));
    f.set(lower).radius = Some(0.045 * g);

    // The palm faces the thigh: width along z, thickness along `flat`.
    let flat = v(0.638, 0.77, 0.0);
    let h = 0.75 + 0.25 * g;
    let hand = f.joint(lower, "LeftHand", wrist_at);
    let palm_end = wrist_at + along * 0.088;
    f.cone(hand, wrist_at + along * 0.01, 0.029 * h, palm_end, 0.042 * h).flat(flat, 0.42);
    f.set(hand).radius = Some(0.03 * g);
    f.blend(hand, 0.02, 0.09);
    let fingers = f.joint(hand, "LeftFingers", palm_end + along * 0.005);
    for (z, length) in [(-0.0285, 0.060), (-0.0095, 0.078), (0.0095, 0.085), (0.0285, 0.075)] {
        let root = palm_end + v(0.0, 0.0, z * h) - along * 0.012;
        let tip = palm_end + v(0.0, 0.0, z * h) + along * length - flat * 0.008;
        f.cone(fingers, root, 0.0125 * h, tip, 0.0112 * h).soft(0.008);
    }
    f.set(fingers).tail = Some(palm_end + along * 0.085);
    f.set(fingers).radius = Some(0.022);
    f.set(fingers).say = Some(0.03);
    f.blend(fingers, 0.012, 0.06);
    let thumb_at = wrist_at + along * 0.022 + v(0.0, 0.0, 0.018);
    let thumb_end = thumb_at + (along * 0.5 + DVec3::Z * 0.85 - flat * 0.2).normalize() * 0.068;
    let thumb = f.joint(hand, "LeftThumb", thumb_at);
    f.cone(thumb, thumb_at, 0.0165 * h, thumb_end, 0.0115 * h);
    f.set(thumb).tail = Some(thumb_end);
    f.set(thumb).seam = Some(thumb_at.lerp(thumb_end, 0.25));
    f.set(thumb).say = Some(0.02);
    f.blend(thumb, 0.022, 0.075);
}

fn leg(f: &mut Figure, trunk: &Trunk, build: &Build) {
    let (g, wide) = (build.limbs, v(build.wider, 0.0, 0.0));
    let (hip, knee, ankle) = (v(0.088, 0.915, 0.0), v(0.108, 0.50, 0.012), v(0.118, 0.085, -0.022));
    let (hip, knee, ankle) = (hip + wide, knee + wide, ankle + wide);
    let upper = f.joint(trunk.hips, "LeftUpperLeg", hip);
    f.cone(upper, hip + v(0.0, -0.03, 0.0), 0.082 * g, knee + v(0.0, 0.0, -0.004), 0.050 * g);
    f.cone(upper, hip + v(0.006, -0.10, 0.02), 0.066 * g, knee + v(0.0, 0.10, 0.01), 0.048 * g);
    f.set(upper).radius = Some(0.095 * g);
    f.set(upper).across = Some(v(0.55, -0.85, 0.0));
    f.set(upper).say = Some(0.04);
    f.blend(upper, 0.06, 0.22 + build.wider);
    let lower = f.joint(upper, "LeftLowerLeg", knee);
    f.cone(lower, knee, 0.049 * g, ankle, 0.032 * (0.5 + 0.5 * g));
    f.cone(lower, knee + v(0.0, -0.07, -0.016), 0.046 * g, knee + v(0.0, -0.20, -0.018), 0.038 * g)
        .soft(0.04);
    f.ball(lower, knee + v(0.0, 0.0, 0.022 * g), v(0.032, 0.045, 0.030) * g).soft(0.04);
    f.set(lower).radius = Some(0.056 * g);
    let foot = f.joint(lower, "LeftFoot", ankle);
    let ball = v(0.128, 0.026, 0.095) + wide;
    f.cone(foot, ankle, 0.034, ankle + v(0.004, -0.045, 0.0), 0.036);
    f.ball(foot, ankle + v(0.0, -0.050, -0.022), v(0.034, 0.034, 0.040)).soft(0.02);
    f.cone(foot, ankle + v(0.002, -0.042, 0.01), 0.036, ball, 0.030).soft(0.03);
    f.ball(foot, ball + v(0.0, 0.0, -0.01), v(0.046, 0.024, 0.06)).soft(0.02);
    f.set(foot).radius = Some(0.040);
    f.set(foot).across = Some(v(0.0, -0.75, 0.45));
    let toes = f.joint(foot, "LeftToes", ball);
    f.ball(toes, ball + v(0.0, -0.006, 0.025), v(0.045, 0.019, 0.05));
    f.ball(toes, ball + v(-0.022, -0.005, 0.055), v(0.018, 0.018, 0.025)).soft(0.008);
    f.set(toes).tail = Some(ball + v(0.004, -0.004, 0.075));
    f.set(toes).radius = Some(0.03);
    f.blend(toes, 0.02, 0.12);
}
