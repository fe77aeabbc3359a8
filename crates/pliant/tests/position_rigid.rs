//! Motions that deform nothing: rest, a root that turns and travels, joints that are scaled; and skin without flesh.

mod position_common;

use pliant::asset::{Character, Surface, Weights};
use pliant::body::Node;
use pliant::glam::{DAffine3, DVec3, Vec3};
use pliant::method::{self, Deformer, Settings, Shape, Skinning};
use pliant::rig::Pose;
use pliant::simd::Path;
use position_common::{farthest, finite, linear, play, pose_at, prepare, sample, scripted, settings, step};

fn volume(deformer: &dyn Deformer, nodes: &[Node]) -> f64 {
    let tets = deformer.body().expect("flesh").tets().tets();
    let at = |n: u32| DVec3::from_array([0, 1, 2].map(|k| f64::from(nodes[n as usize][k])));
    let six = tets.iter().map(|tet| {
        let [a, b, c, d] = tet.map(at);
        (b - a).cross(c - a).dot(d - a)
    });
    six.sum::<f64>() / 6.0
}

fn moved(character: &Character, by: &DAffine3) -> Vec<Vec3> {
    character.rest_positions().iter().map(|p| by.transform_point3(p.as_dvec3()).as_vec3()).collect()
}

#[test]
fn rest_in_gives_rest_out() {
    for name in ["cylinder", "arm"] {
        let character = sample(name);
        let deformer = prepare(&character, &settings(2000));
        let mut instance = deformer.instance();
        let (rest, mut shape) = (Pose::rest(&character), Shape::rest(&character));
        for frame in 0..20 {
            step(instance.as_mut(), &rest, f64::from(frame) / 30.0, &mut shape);
        }
        let far = farthest(&shape.positions, &character.rest_positions());
        assert!(f64::from(far) < 2e-6 * character.diagonal(), "{name}: {far}");
    }
}

#[test]
fn firm_flesh_follows_a_root_rigidly() {
    for name in ["cylinder", "arm"] {
        let character = sample(name);
        let deformer = prepare(&character, &settings(2000));
        let rest = deformer.body().expect("flesh").tets().volume();
        let axis = DVec3::new(1.0, 2.0, -0.5).normalize();
        let rigid = |time: f64| {
            let turn = DAffine3::from_axis_angle(axis, 4.0 * time);
            DAffine3::from_translation(DVec3::new(2.0, 1.0, 0.0) * libm::sin(3.0 * time)) * turn
        };
        let motion =
            scripted(&character, |time, joint, local| if joint == 0 { rigid(time) * local } else { local });
        let mut instance = deformer.instance();
        let mut shape = Shape::rest(&character);
        for frame in 0..60 {
            let time = f64::from(frame) / 30.0;
            step(instance.as_mut(), &motion, time, &mut shape);
            let far = f64::from(farthest(&shape.positions, &moved(&character, &rigid(time))));
            assert!(far < 1e-4 * character.diagonal(), "{name} {time}: {far}");
            let grown = volume(deformer.as_ref(), instance.nodes().expect("nodes")) / rest - 1.0;
            assert!(grown.abs() < 1e-5, "{name} {time}: {grown}");
        }
    }
}

/// Up from 0 to 1 within a second, a second there, and down again.
fn hill(time: f64) -> f64 {
    time.min(3.0 - time).clamp(0.0, 1.0)
}

#[test]
fn a_scaled_root_scales_the_flesh() {
    let character = sample("cylinder");
    let deformer = prepare(&character, &settings(2000));
    let rest = deformer.body().expect("flesh").tets().volume();
    let motion = scripted(&character, |time, joint, local: DAffine3| {
        let scale = DAffine3::from_scale(DVec3::splat(1.0 + hill(time)));
        if joint == 0 { local * scale } else { local }
    });
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(&character);
    for frame in 0..=100 {
        let time = f64::from(frame) / 30.0;
        step(instance.as_mut(), &motion, time, &mut shape);
        let scale = 1.0 + hill(time);
        let expected = moved(&character, &DAffine3::from_scale(DVec3::splat(scale)));
        let far = f64::from(farthest(&shape.positions, &expected));
        assert!(far < 1e-3 * character.diagonal(), "{time}: {far}");
        let grown = volume(deformer.as_ref(), instance.nodes().expect("nodes")) / rest;
        assert!((grown / (scale * scale * scale) - 1.0).abs() < 0.01, "{time}: {grown}");
    }
}

#[test]
fn a_joint_scaled_to_nothing_comes_back() {
    let character = sample("cylinder");
    let deformer = prepare(&character, &settings(2000));
    for scaled in [0, 1] {
        let motion = scripted(&character, |time, joint, local: DAffine3| {
            let scale = DAffine3::from_scale(DVec3::splat(1.0 - hill(time)));
            if joint == scaled { local * scale } else { local }
        });
        let mut instance = deformer.instance();
        let mut shape = Shape::rest(&character);
        for frame in 0..=120 {
            let time = f64::from(frame) / 30.0;
            let health = step(instance.as_mut(), &motion, time, &mut shape);
            assert!(finite(&shape.positions) && finite(&shape.normals), "joint {scaled} at {time}");
            assert_eq!(health.held, 0, "joint {scaled} at {time}");
            let away = farthest(&shape.positions, &linear(&character, &pose_at(&motion, time)));
            assert!(f64::from(away) < 0.1 * character.diagonal(), "joint {scaled} at {time}: {away}");
        }
        let far = f64::from(farthest(&shape.positions, &character.rest_positions()));
        assert!(far < 1e-3 * character.diagonal(), "joint {scaled}: {far}");
    }
}

/// A sheet on the bones of the cylinder.
fn sheet() -> Character {
    const COLUMNS: u32 = 10;
    const ROWS: u32 = 20;
    let mut raw = sample("cylinder").into_raw();
    let places = (0..ROWS).flat_map(|r| (0..COLUMNS).map(move |c| [c, r]));
    let positions: Vec<Vec3> =
        places.map(|[c, r]| Vec3::new(c as f32 / 20.0 - 0.22, r as f32 / 19.0, 0.0)).collect();
    let weights: Vec<Vec<(u16, f32)>> = positions.iter().map(|p| vec![(0, 1.0 - p.y), (1, p.y)]).collect();
    let (weights, _) =
        Weights::normalised(weights.iter().map(|w| w.iter().copied()), raw.slots.len(), |_| None)
            .expect("sound");
    let cells = (0..ROWS - 1).flat_map(|r| (0..COLUMNS - 1).map(move |c| r * COLUMNS + c));
    let triangles: Vec<[u32; 3]> =
        cells.flat_map(|v| [[v, v + 1, v + COLUMNS], [v + 1, v + COLUMNS + 1, v + COLUMNS]]).collect();
    raw.parts.truncate(1);
    raw.parts[0].vertices = 0..positions.len() as u32;
    raw.parts[0].triangles = 0..triangles.len() as u32;
    raw.surface = Surface::new(positions, None, triangles).expect("sound");
    raw.weights = weights;
    raw.paint.clear();
    raw.morphs.clear();
    Character::new(raw).expect("sound")
}

#[test]
fn skin_without_volume_is_skinned_linearly() {
    let character = sheet();
    let flat = prepare(&character, &Settings::default());
    assert!(flat.body().is_none() && !flat.remembers());
    assert_eq!(flat.warnings().len(), 1);
    assert!(flat.warnings()[0].contains("no volume"), "{}", flat.warnings()[0]);
    let skinned = method::prepare_default("lbs", &character, Path::best()).expect("prepared");
    let motion = play(&character, "bend");
    let (mut a, mut b) = (Shape::rest(&character), Shape::rest(&character));
    step(flat.instance().as_mut(), &motion, 1.0, &mut a);
    step(skinned.instance().as_mut(), &motion, 1.0, &mut b);
    assert_eq!(a, b);
    assert!(farthest(&a.positions, &character.rest_positions()) > 0.1);
}

#[test]
fn a_vertex_of_no_triangle_is_skinned_linearly() {
    let mut raw = sample("cylinder").into_raw();
    let slots = raw.slots.len();
    let mut positions = raw.surface.positions().to_vec();
    let mut weights: Vec<Vec<(u16, f32)>> =
        (0..positions.len()).map(|v| raw.weights.of(v).collect()).collect();
    // Beside the bend, where flesh is not where linear blending has it.
    let helper = positions.len();
    positions.push(positions[helper / 2]);
    weights.push(weights[helper / 2].clone());
    let triangles = raw.surface.triangles().to_vec();
    raw.parts.truncate(1);
    raw.parts[0].vertices = 0..positions.len() as u32;
    raw.parts[0].triangles = 0..triangles.len() as u32;
    raw.surface = Surface::new(positions, None, triangles).expect("sound");
    raw.weights = Weights::new(&weights, slots).expect("sound");
    raw.paint.clear();
    raw.morphs.clear();
    let character = Character::new(raw).expect("sound");
    let motion = play(&character, "bend");
    let deformer = prepare(&character, &settings(2000));
    let mut shape = Shape::rest(&character);
    step(deformer.instance().as_mut(), &motion, 1.0, &mut shape);
    let skinned = linear(&character, &pose_at(&motion, 1.0));
    let off = |vertex: usize| shape.positions[vertex].distance(skinned[vertex]);
    assert!(off(helper) < 1e-5, "{}", off(helper));
    assert!(off(helper / 2) > 0.01, "the flesh goes its own way: {}", off(helper / 2));
}

#[test]
fn every_skinning_carries_the_flesh() {
    let character = sample("arm");
    let motion = play(&character, "twist");
    for skinning in [Skinning::Lbs, Skinning::Dqs, Skinning::Smooth] {
        let deformer = prepare(&character, &Settings { skinning, ..settings(2000) });
        let rest = deformer.body().expect("flesh").tets().volume();
        let mut shape = Shape::rest(&character);
        step(deformer.instance().as_mut(), &Pose::rest(&character), 0.5, &mut shape);
        let far = farthest(&shape.positions, &character.rest_positions());
        assert!(f64::from(far) < 1e-4 * character.diagonal(), "{skinning:?}: {far}");
        let mut instance = deformer.instance();
        for frame in 0..=15 {
            step(instance.as_mut(), &motion, f64::from(frame) / 10.0, &mut shape);
            let grown = volume(deformer.as_ref(), instance.nodes().expect("nodes")) / rest - 1.0;
            assert!(grown.abs() < 0.01, "{skinning:?} {frame}: {grown}");
        }
        let skinned = linear(&character, &pose_at(&motion, 1.5));
        let far = farthest(&shape.positions, &skinned);
        assert!(f64::from(far) < 0.1 * character.diagonal(), "{skinning:?}: {far}");
    }
}
