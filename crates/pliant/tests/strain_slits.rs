//! Slits narrower than the body's cells: what swings does not open or shut them, what the bones do does.

mod position_common;

use pliant::asset::Character;
use pliant::glam::{DAffine3, DVec3, Vec3};
use pliant::method::Shape;
use pliant::simd::Path;
use position_common::{Limb, figure, linear, pose_at, prepare_as, scripted, settings, step};
use std::collections::HashMap;

/// A mouth's height; cells are eight times as large.
const SLIT: f32 = 0.02;
/// Radians by which a jaw shakes to either side.
const SHAKEN: f64 = 0.12;

/// A block with a mouth in its front, nearer to the top than to the bottom: one lip is thinner than the other.
struct Head {
    character: Character,
    /// Points of the lips' edges, one above the other, away from the corners.
    lips: Vec<[usize; 2]>,
}

/// What is below a mouth.
#[derive(Clone, Copy, PartialEq)]
enum Mouth {
    /// All is one bone's.
    OfHead,
    /// A jaw with a bone of its own.
    OfJaw,
    /// The same, and the mouth has no corners: it is as wide as the head.
    Through,
}

/// The bone of the jaw moves what is in front and below the mouth, if there is one.
fn head(mouth: Mouth) -> Head {
    let (jaw, wide) = (mouth != Mouth::OfHead, mouth == Mouth::Through);
    let cuts = |from: f32, to: f32, count: u32| -> Vec<f32> {
        (0..=count).map(|k| from + (to - from) * k as f32 / count as f32).collect()
    };
    let x = cuts(-1.0, 1.0, 20);
    let y = [cuts(-0.5, 0.2, 7), cuts(0.2 + SLIT, 0.5, 4)].concat();
    let z = cuts(-0.5, 0.5, 10);
    let slit = 7;
    let is_filled = |[i, j, k]: [i32; 3]| {
        let within = |at: i32, cuts: &[f32]| at >= 0 && (at as usize) < cuts.len() - 1;
        let is_mouth = j == slit && (wide || (4..16).contains(&i)) && k >= 4;
        within(i, &x) && within(j, &y) && within(k, &z) && !is_mouth
    };
    let (mut points, mut triangles, mut index) = (Vec::new(), Vec::new(), HashMap::new());
    let cells =
        (0..20).flat_map(|i| (0..y.len() as i32 - 1).flat_map(move |j| (0..10).map(move |k| [i, j, k])));
    for cell in cells.filter(|&c| is_filled(c)) {
        for (axis, side) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
            let mut beyond = cell;
            beyond[axis] += 2 * side - 1;
            if is_filled(beyond) {
                continue;
            }
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let face = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[a, b]| {
                let mut corner = cell;
                corner[axis] += side;
                corner[u] += a;
                corner[v] += b;
                *index.entry(corner).or_insert_with(|| {
                    let [i, j, k] = corner.map(|c| c as usize);
                    points.push(Vec3::new(x[i], y[j], z[k]));
                    points.len() as u32 - 1
                })
            });
            let [a, b, c, d] = if side == 1 { face } else { [face[0], face[3], face[2], face[1]] };
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let lips = (6..=14).map(|i| [slit, slit + 1].map(|j| index[&[i, j, 10]] as usize)).collect();
    let is_jaw = |p: &Vec3| jaw && p.y < 0.2 + 0.5 * SLIT && p.z > -0.15 && (wide || p.x.abs() < 0.55);
    let weights: Vec<Vec<(u16, f32)>> = points.iter().map(|p| vec![(u16::from(is_jaw(p)), 1.0)]).collect();
    let mut limbs = vec![Limb {
        name: "Head",
        parent: None,
        from: DVec3::new(-0.9, 0.0, -0.4),
        to: DVec3::new(0.9, 0.0, -0.4),
    }];
    if jaw {
        let (from, to) = (DVec3::new(0.0, 0.0, -0.2), DVec3::new(0.0, 0.0, 0.4));
        limbs.push(Limb { name: "Jaw", parent: Some(0), from, to });
    }
    Head { character: figure(points, triangles, &weights, &limbs), lips }
}

/// How far apart lips are, up and down.
fn open(lips: &[[usize; 2]], positions: &[Vec3]) -> Vec<f32> {
    lips.iter().map(|&[below, above]| positions[above].y - positions[below].y).collect()
}

#[test]
fn lips_swing_together() {
    let Head { character, lips } = head(Mouth::OfHead);
    let motion = scripted(&character, |time: f64, joint, local: DAffine3| {
        let shake = DAffine3::from_translation(DVec3::Y * 0.15 * libm::sin(25.0 * time));
        if joint == 0 { shake * local } else { local }
    });
    let deformer = prepare_as("strain", &character, &settings(4000), Path::best());
    let cell = deformer.body().expect("flesh").cell() as f32;
    assert!(cell > 5.0 * SLIT, "{cell}");
    let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
    let (mut swing, mut parted) = (0.0f32, 0.0f32);
    for frame in 0..=60 {
        let time = f64::from(frame) / 60.0;
        step(instance.as_mut(), &motion, time, &mut shape);
        let carried = linear(&character, &pose_at(&motion, time));
        let off = lips.iter().flatten().map(|&v| carried[v].distance(shape.positions[v]));
        swing = off.fold(swing, f32::max);
        parted =
            open(&lips, &shape.positions).into_iter().map(|gap| (gap - SLIT).abs()).fold(parted, f32::max);
    }
    assert!(swing > 0.01, "the lips swing by {swing}");
    assert!(parted < 0.03 * swing, "the lips part by {parted} of {swing}");
}

#[test]
fn a_jaw_opens_its_mouth() {
    let Head { character, lips } = head(Mouth::OfJaw);
    let motion = scripted(&character, |time: f64, joint, local: DAffine3| {
        let turn = DAffine3::from_rotation_x(0.25 * (2.0 * time).min(1.0));
        if joint == 1 { local * turn } else { local }
    });
    let deformer = prepare_as("strain", &character, &settings(4000), Path::best());
    let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
    for frame in 0..=90 {
        step(instance.as_mut(), &motion, f64::from(frame) / 60.0, &mut shape);
    }
    let asked = open(&lips, &linear(&character, &pose_at(&motion, 1.5)));
    let got = open(&lips, &shape.positions);
    let mean = |gaps: &[f32]| gaps.iter().sum::<f32>() / gaps.len() as f32;
    // The flesh at its corners holds a mouth together a little.
    let (asked, got) = (mean(&asked), mean(&got));
    assert!(asked > 5.0 * SLIT && got > 0.75 * asked, "the lips are {got} apart, not {asked}");
}

/// Shakes the jaw of a head and calls `see` for each pair of lips in each frame: where linear blending has them, and where
/// they are.
fn shaken(Head { character, lips }: &Head, mut see: impl FnMut([Vec3; 2], [Vec3; 2])) {
    let motion = scripted(character, |time: f64, joint, local: DAffine3| {
        let turn = DAffine3::from_rotation_x(0.2 + SHAKEN * libm::sin(40.0 * time));
        if joint == 1 { local * turn } else { local }
    });
    let deformer = prepare_as("strain", character, &settings(4000), Path::best());
    let (mut instance, mut shape) = (deformer.instance(), Shape::rest(character));
    for frame in 0..=60 {
        let time = f64::from(frame) / 60.0;
        step(instance.as_mut(), &motion, time, &mut shape);
        let carried = linear(character, &pose_at(&motion, time));
        lips.iter().for_each(|lips| see(lips.map(|v| carried[v]), lips.map(|v| shape.positions[v])));
    }
}

#[test]
fn a_jaw_that_shakes_leaves_the_lip_above_it_alone() {
    let (mut moved, mut count) = (0.0, 0.0);
    shaken(&head(Mouth::OfJaw), |[_, rest], [_, above]| {
        moved += above.distance(rest);
        count += 1.0;
    });
    // The flesh at the corners of the mouth takes it along a little. The jaw is 0.6 long.
    let share = moved / count / (0.6 * SHAKEN as f32);
    assert!(share < 0.165, "{share}");
}

#[test]
fn two_flaps_on_bones_of_their_own_swing_each_its_own_way() {
    let (mut along, mut square) = (0.0, 0.0);
    shaken(&head(Mouth::Through), |carried, [below, above]| {
        let swing = below - carried[0];
        along += swing.dot(above - carried[1]);
        square += swing.length_squared();
    });
    assert!(
        square > 0.0 && (along / square).abs() < 0.3,
        "one follows {} of the other's swing",
        along / square
    );
}
