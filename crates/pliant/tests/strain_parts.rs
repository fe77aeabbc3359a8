//! Figures put together from limbs that are stuck into a trunk: each is filled for itself where it has bones of its own.

mod position_common;

use pliant::asset::Character;
use pliant::body::{BodyError, Fate};
use pliant::glam::{DAffine3, DVec3, Vec3};
use pliant::method::{self, PrepareError, Settings, Setup, Shape};
use pliant::rig::Pose;
use pliant::simd::Path;
use position_common::{Limb, linear, pose_at, prepare_as, scripted, settings, step};
use std::ops::Range;

const SHOULDER: DVec3 = DVec3::new(0.45, 0.5, 0.0);
/// A trunk that stands, an arm that starts inside it, and a flat badge above the arm's middle.
struct Figure {
    character: Character,
    trunk: Range<usize>,
    arm: Range<usize>,
    badge: Range<usize>,
}

/// A closed tube with round ends.
fn tube(from: Vec3, to: Vec3, radius: f32, points: &mut Vec<Vec3>, triangles: &mut Vec<[u32; 3]>) {
    const AROUND: u32 = 24;
    const RINGS: u32 = 20;
    let along = (to - from).normalize();
    let (side, first) = (along.any_orthonormal_vector(), points.len() as u32);
    let up = along.cross(side);
    for ring in 0..=RINGS {
        // Finer towards the ends, which are closed by points of no size.
        let share = 0.5 - 0.5 * libm::cosf(std::f32::consts::PI * ring as f32 / RINGS as f32);
        let way = (share - 0.5).abs() * 2.0;
        let wide = if ring % RINGS == 0 { 0.0 } else { radius * (1.0 - way.powi(8)).sqrt() };
        for k in 0..AROUND {
            let (s, c) = libm::sincosf(std::f32::consts::TAU * k as f32 / AROUND as f32);
            points.push(from.lerp(to, share) + (side * c + up * s) * wide);
        }
    }
    let at = |ring: u32, k: u32| first + ring * AROUND + k % AROUND;
    for (ring, k) in (0..RINGS).flat_map(|r| (0..AROUND).map(move |k| (r, k))) {
        if ring > 0 {
            triangles.push([at(ring, k), at(ring, k + 1), at(ring + 1, k)]);
        }
        if ring + 1 < RINGS {
            triangles.push([at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k)]);
        }
    }
}

/// How much of the arm's root goes with the trunk is `blended`.
fn figure(blended: f32) -> Figure {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    tube(Vec3::new(0.0, -1.0, 0.0), Vec3::new(0.0, 1.0, 0.0), 0.5, &mut points, &mut triangles);
    let trunk = 0..points.len();
    tube(Vec3::new(0.1, 0.5, 0.0), Vec3::new(1.6, 0.5, 0.0), 0.18, &mut points, &mut triangles);
    let arm = trunk.end..points.len();
    let corner = |x: f32, z: f32| Vec3::new(1.0 + x, 0.72, z);
    let first = points.len() as u32;
    points.extend([corner(0.0, 0.0), corner(0.1, 0.0), corner(0.1, 0.1), corner(0.0, 0.1)]);
    triangles.extend([[first, first + 2, first + 1], [first, first + 3, first + 2]]);
    let badge = arm.end..points.len();
    let weights: Vec<Vec<(u16, f32)>> = (0..points.len())
        .map(|v| match (v < trunk.end, arm.contains(&v) && points[v].x < 0.9) {
            (true, _) => vec![(0, 1.0)],
            (false, true) if blended > 0.0 => vec![(0, blended), (1, 1.0 - blended)],
            _ => vec![(1, 1.0)],
        })
        .collect();
    let foot = DVec3::new(0.0, -1.0, 0.0);
    let limbs = [
        Limb { name: "Trunk", parent: None, from: foot, to: DVec3::new(0.0, 1.0, 0.0) },
        Limb { name: "Arm", parent: Some(0), from: SHOULDER, to: DVec3::new(1.6, 0.5, 0.0) },
    ];
    let character = position_common::figure(points, triangles, &weights, &limbs);
    Figure { character, trunk, arm, badge }
}

/// Presses the arm down into the trunk's flank; the pose at the end, and the skin.
fn pressed(method: &str, character: &Character, settings: &Settings) -> (Pose, Shape) {
    let motion = scripted(character, |time: f64, joint, local: DAffine3| {
        let turn = DAffine3::from_rotation_z(-(75f64.to_radians()) * (2.0 * time).min(1.0));
        if joint == 1 { local * turn } else { local }
    });
    let deformer = prepare_as(method, character, settings, Path::best());
    let (mut instance, mut shape) = (deformer.instance(), Shape::rest(character));
    for frame in 0..=30 {
        step(instance.as_mut(), &motion, f64::from(frame) / 30.0, &mut shape);
    }
    (pose_at(&motion, 1.0), shape)
}

fn off(range: &Range<usize>, a: &[Vec3], b: &[Vec3]) -> f32 {
    range.clone().map(|v| a[v].distance(b[v])).fold(0.0, f32::max)
}

#[test]
fn a_limb_stuck_into_a_trunk_does_not_drag_it_along() {
    for method in ["strain", "position"] {
        let Figure { character, trunk, arm, badge } = figure(0.0);
        let (pose, shape) = pressed(method, &character, &settings(3000));
        let carried = linear(&character, &pose);
        let dent = off(&trunk, &shape.positions, &character.rest_positions());
        assert!(dent < 2e-3, "{method}: the trunk gives way by {dent}");
        // It has one bone, which turns it as a whole; soft flesh may still swing a little.
        let lag = off(&arm, &shape.positions, &carried);
        assert!(lag < 0.02, "{method}: the arm is {lag} off its bone");
        let lag = off(&badge, &shape.positions, &carried);
        assert!(lag < 0.05, "{method}: what rides on the arm is {lag} off it");
    }
}

#[test]
fn shells_are_filled_apart_where_they_have_bones_of_their_own() {
    let apart = figure(0.0).character;
    let joined = figure(0.5).character;
    let body = |character: &Character, method: &str| {
        let deformer = prepare_as(method, character, &settings(3000), Path::best());
        deformer.body().expect("flesh").clone()
    };
    let fates = |body: &pliant::body::Body| body.shells().iter().map(|s| s.fate).collect::<Vec<_>>();
    for method in ["strain", "position"] {
        let (two, one) = (body(&apart, method), body(&joined, method));
        assert_eq!((two.pieces().len(), one.pieces().len()), (2, 1), "{method}");
        assert_eq!(fates(&two), [Fate::Flesh, Fate::Flesh, Fate::Open]);
        // What overlaps is there twice: the arm's root, which is round, less what the trunk curves away.
        let (a, b) = (two.tets().volume(), one.tets().volume());
        let root = (a - b) / (std::f64::consts::PI * 0.18 * 0.18 * 0.4);
        assert!((0.5..1.0).contains(&root), "{method}: {a} and {b}");
        assert!((two.skin_volume() / a - 1.0).abs() < 0.02, "{method}: {} and {a}", two.skin_volume());
        let masses: f64 = two.node_volumes().iter().map(|&v| f64::from(v)).sum();
        assert!((masses / two.skin_volume() - 1.0).abs() < 1e-3);
        // Each vertex sits in its own part, where it was.
        let rest = apart.rest_positions();
        for (vertex, (&tet, w)) in two.embedding().tets().iter().zip(two.embedding().weights()).enumerate() {
            let nodes = two.tets().tets()[tet as usize].map(|n| two.tets().positions()[n as usize]);
            let place: Vec3 = (0..4).map(|k| nodes[k] * w[k]).sum();
            assert!(place.distance(rest[vertex]) < 1e-4, "{method}: vertex {vertex}");
        }
        assert!(two.outside(&rest).iter().all(|&d| d < 0.15), "{method}");
    }
    // Balls fill what is there once, whatever it hangs on.
    let balls = |character: &Character| {
        let deformer = prepare_as("metaballs", character, &settings(3000), Path::best());
        deformer.packing().expect("balls").balls.balls().to_vec()
    };
    assert_eq!(balls(&apart), balls(&joined));
}

#[test]
fn preparing_parts_rises_to_one_and_can_be_stopped() {
    let character = figure(0.0).character;
    let settings = settings(600);
    let run = |progress: &mut dyn FnMut(f32) -> bool| {
        let setup = Setup { path: Path::best(), settings: &settings, tets: None, progress };
        method::prepare("strain", &character, setup).map(|_| ())
    };
    let mut told = Vec::new();
    run(&mut |share| {
        told.push(share);
        true
    })
    .expect("prepared");
    assert!(told.is_sorted() && told.len() > 10, "{told:?}");
    assert_eq!((told[0], told[told.len() - 1]), (0.0, 1.0));
    for last in 0..told.len() {
        let mut calls = 0;
        let stopped = run(&mut |_| {
            calls += 1;
            calls <= last
        });
        assert!(matches!(stopped, Err(PrepareError::Body(BodyError::Stopped))), "call {last}: {stopped:?}");
        assert_eq!(calls, last + 1, "it goes on after it was stopped");
    }
}
