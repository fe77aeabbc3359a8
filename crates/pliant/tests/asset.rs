//! No asset can hold what is not sound, and poses follow the keys.

use glam::{DAffine3, DQuat, DVec3, Vec3};
use pliant::asset::*;
use pliant::glam;
use pliant::rig::Pose;
use proptest::prelude::*;
use std::f64::consts::PI;

fn joint(name: &str, parent: Option<u32>, offset: DVec3, at: DVec3) -> Joint {
    Joint {
        name: name.into(),
        parent,
        local: Local::offset(offset),
        world_from_rest: DAffine3::from_translation(at),
        deforms: true,
        tails: vec![],
    }
}

fn chain() -> Skeleton {
    Skeleton::new(vec![
        joint("root", None, DVec3::ZERO, DVec3::ZERO),
        joint("elbow", Some(0), DVec3::Y, DVec3::Y),
        joint("hand", Some(1), DVec3::Y, 2.0 * DVec3::Y),
    ])
    .unwrap()
}

/// Two triangles that share an edge, once indexed and once as six loose vertices.
fn quad(loose: bool) -> RawCharacter {
    let corners = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y];
    let triangles = [[0, 1, 2], [0, 2, 3u32]];
    let (positions, triangles): (Vec<Vec3>, Vec<[u32; 3]>) = if loose {
        let loose = triangles.iter().flatten().map(|&v| corners[v as usize]).collect();
        (loose, vec![[0, 1, 2], [3, 4, 5]])
    } else {
        (corners.to_vec(), triangles.to_vec())
    };
    let count = positions.len() as u32;
    let weights = Weights::new(&vec![vec![(0, 0.25), (1, 0.75)]; count as usize], 2).unwrap();
    let slot = |joint| Slot { joint, joint_from_rest: DAffine3::IDENTITY };
    RawCharacter {
        skeleton: chain(),
        surface: Surface::new(positions, None, triangles).unwrap(),
        parts: vec![Part {
            name: "quad".into(),
            mesh: 0,
            vertices: 0..count,
            triangles: 0..2,
            has_normals: false,
            color: [1.0; 3],
        }],
        slots: vec![slot(0), slot(1)],
        weights,
        morphs: vec![],
        clips: vec![],
        paint: vec![],
    }
}

fn morph_of(vertex: u32) -> Morph {
    Morph {
        name: String::new(),
        vertices: vec![vertex],
        positions: vec![Vec3::X],
        normals: vec![Vec3::ZERO],
        default_weight: 0.0,
    }
}

#[test]
fn surfaces_refuse_bad_indices_and_numbers() {
    let p = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    assert!(matches!(
        Surface::new(p.clone(), None, vec![[0, 1, 3]]),
        Err(AssetError::OutOfRange { value: 3, count: 3, .. })
    ));
    let nan = vec![Vec3::ZERO, Vec3::NAN, Vec3::Y];
    assert!(matches!(Surface::new(nan, None, vec![]), Err(AssetError::NotFinite { index: 1, .. })));
    let short = Some(vec![Vec3::Z]);
    assert!(matches!(Surface::new(p, short, vec![]), Err(AssetError::Length { .. })));
}

#[test]
fn missing_normals_are_computed_and_long_ones_made_unit() {
    let p = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let given = vec![Vec3::ZERO, Vec3::Z * 5.0, Vec3::X];
    let s = Surface::new(p, Some(given), vec![[0, 1, 2]]).unwrap();
    assert_eq!(s.normals(), [Vec3::Z, Vec3::Z, Vec3::X]);
}

#[test]
fn skeletons_refuse_cycles_and_forward_parents() {
    for parent in [0, 1, 7] {
        let joints = vec![joint("a", Some(parent), DVec3::ZERO, DVec3::ZERO)];
        assert!(matches!(Skeleton::new(joints), Err(AssetError::ParentOrder { joint: 0, .. })));
    }
    let mut long = joint("a", None, DVec3::ZERO, DVec3::ZERO);
    let rotation = DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0);
    long.local = Local::Trs { translation: DVec3::ZERO, rotation, scale: DVec3::ONE };
    assert!(matches!(Skeleton::new(vec![long]), Err(AssetError::NotUnit { .. })));
    let bad = joint("a", None, DVec3::new(f64::NAN, 0.0, 0.0), DVec3::ZERO);
    assert!(matches!(Skeleton::new(vec![bad]), Err(AssetError::NotFinite { .. })));
}

#[test]
fn every_deforming_joint_has_a_bone() {
    let bones = chain().bones();
    assert_eq!(bones.len(), 3);
    assert_eq!((bones[0].joint, bones[0].end_joint), (0, Some(1)));
    // The hand has no child: half a forearm, straight on.
    assert_eq!(bones[2].end, DVec3::new(0.0, 2.5, 0.0));
    let mut joints = chain().joints().to_vec();
    joints[0].deforms = false;
    assert_eq!(Skeleton::new(joints).unwrap().bones().len(), 2);
}

#[test]
fn weights_are_mended_and_counted() {
    let given = [vec![(0, 2.0f32), (1, 2.0)], vec![], vec![(1, 0.5), (1, 0.5), (9, 0.0)], vec![(0, 1.0)]];
    let (w, repairs) = Weights::normalised(given.iter().map(|v| v.iter().copied()), 2, |_| Some(1)).unwrap();
    assert_eq!(w.of(0).collect::<Vec<_>>(), [(0, 0.5), (1, 0.5)]);
    assert_eq!(w.of(1).collect::<Vec<_>>(), [(1, 1.0)]);
    assert_eq!(w.of(2).collect::<Vec<_>>(), [(1, 1.0)]);
    assert_eq!(repairs, Repairs { unnormalised: 1, zero: 1, dropped_out_of_range: 1 });
}

#[test]
fn weights_that_cannot_be_mended_are_refused() {
    let refuse = |v: Vec<(u16, f32)>| Weights::new(&[v], 2).unwrap_err();
    assert!(matches!(refuse(vec![(0, f32::NAN)]), AssetError::NotFinite { .. }));
    assert!(matches!(refuse(vec![(0, -0.5), (1, 1.5)]), AssetError::Weights { .. }));
    assert!(matches!(refuse(vec![(2, 1.0)]), AssetError::OutOfRange { .. }));
    assert!(matches!(refuse(vec![]), AssetError::Weights { .. }));
    assert!(matches!(refuse(vec![(0, 0.5)]), AssetError::Weights { .. }));
    // Two that are finite, but not their sum.
    assert!(matches!(refuse(vec![(0, 3e38), (0, 3e38)]), AssetError::Weights { .. }));
}

proptest! {
    #[test]
    fn weights_sum_to_one_whatever_the_file_says(
        given in prop::collection::vec(prop::collection::vec((0u16..40, 0.0f32..1e6), 0..20), 1..30)
    ) {
        let vertices = given.iter().map(|v| v.iter().copied());
        let (w, _) = Weights::normalised(vertices, 40, |_| Some(3)).unwrap();
        for v in 0..w.vertex_count() {
            let sum: f64 = w.of(v).map(|e| f64::from(e.1)).sum();
            prop_assert!((sum - 1.0).abs() < 1e-5);
            let largest_first = w.of(v).map(|e| e.1).is_sorted_by(|a, b| a >= b);
            prop_assert!(largest_first && w.of(v).all(|e| e.1 > 0.0));
        }
    }

    #[test]
    fn rotations_go_along_the_shorter_arc(angle in -3.0f64..3.0, u in 0.0f64..1.0, flip: bool) {
        let a = DQuat::IDENTITY;
        let b = DQuat::from_axis_angle(DVec3::Z, angle) * if flip { -1.0 } else { 1.0 };
        let values = [a, b].iter().flat_map(|q| q.to_array()).map(|c| c as f32).collect();
        let track = Track::new(Interpolation::Linear, 4, vec![0.0, 1.0], values).unwrap();
        let expected = DQuat::from_axis_angle(DVec3::Z, angle * u);
        prop_assert!(track.sample_rotation(u).dot(expected).abs() > 1.0 - 1e-12);
    }
}

#[test]
fn tracks_refuse_disorder() {
    let new = |times: &[f32], values: &[f32]| {
        Track::new(Interpolation::Linear, 1, times.to_vec(), values.to_vec()).unwrap_err()
    };
    assert!(matches!(new(&[], &[]), AssetError::Empty { .. }));
    assert!(matches!(new(&[0.0, 0.0], &[1.0, 2.0]), AssetError::KeyOrder { key: 1 }));
    assert!(matches!(new(&[0.0, f32::INFINITY], &[1.0, 2.0]), AssetError::NotFinite { .. }));
    assert!(matches!(new(&[0.0], &[f32::NAN]), AssetError::NotFinite { .. }));
    assert!(matches!(new(&[0.0], &[1.0, 2.0]), AssetError::Length { .. }));
}

#[test]
fn a_recording_needs_a_rate() {
    for rate in [0.0, -30.0, f64::NAN, f64::INFINITY] {
        assert!(
            matches!(Clip::recorded(String::new(), vec![], 3, rate), Err(AssetError::Rate { .. })),
            "{rate}"
        );
    }
    assert_eq!(Clip::recorded(String::new(), vec![], 3, 2.0).unwrap().end(), 1.0);
}

#[test]
fn tracks_hold_their_ends_and_follow_their_kind() {
    let times = vec![1.0, 2.0];
    let linear = Track::new(Interpolation::Linear, 1, times.clone(), vec![10.0, 20.0]).unwrap();
    assert_eq!([0.0, 1.25, 9.0].map(|t| linear.sample(t, 0)), [10.0, 12.5, 20.0]);
    let step = Track::new(Interpolation::Step, 1, times.clone(), vec![10.0, 20.0]).unwrap();
    assert_eq!([1.99, 2.0].map(|t| step.sample(t, 0)), [10.0, 20.0]);
    // A cubic with the slopes of x^3 on [1, 2] is x^3 itself.
    let keys = vec![0.0, 1.0, 3.0, 12.0, 8.0, 0.0];
    let cubic = Track::new(Interpolation::CubicSpline, 1, times, keys).unwrap();
    assert!((cubic.sample(1.5, 0) - 1.5f64.powi(3)).abs() < 1e-12);
}

#[test]
fn characters_refuse_parts_and_channels_that_point_nowhere() {
    assert!(Character::new(quad(false)).is_ok());
    let mut raw = quad(false);
    raw.slots[1].joint = 3;
    assert!(matches!(Character::new(raw), Err(AssetError::OutOfRange { target: "joint", .. })));
    for (vertices, triangles) in [(0..3, 0..2), (0..5, 0..2), (0..4, 0..3), (0..4, 0..1)] {
        let mut raw = quad(false);
        (raw.parts[0].vertices, raw.parts[0].triangles) = (vertices, triangles);
        let error = Character::new(raw).unwrap_err();
        assert!(matches!(error, AssetError::Length { .. } | AssetError::Part { .. }), "{error}");
    }
    let mut raw = quad(false);
    raw.parts[0].color = [f32::NAN; 3];
    assert!(matches!(Character::new(raw), Err(AssetError::NotFinite { .. })));
    // A triangle that joins two parts.
    let mut raw = quad(false);
    raw.parts[0].vertices = 0..3;
    raw.parts.push(Part { vertices: 3..4, triangles: 2..2, ..raw.parts[0].clone() });
    assert!(matches!(Character::new(raw), Err(AssetError::Part { part: 0, .. })));
    // Parts of mesh 0, then 1, then 0 again.
    let mut raw = quad(false);
    for mesh in [1, 0] {
        raw.parts.push(Part { mesh, vertices: 4..4, triangles: 2..2, ..raw.parts[0].clone() });
    }
    assert!(matches!(Character::new(raw), Err(AssetError::Part { part: 2, .. })));
    let mut raw = quad(false);
    let track = Track::new(Interpolation::Linear, 3, vec![0.0], vec![0.0; 3]).unwrap();
    raw.clips = vec![Clip::new(String::new(), vec![Channel { target: Target::Scale(3), track }])];
    assert!(matches!(Character::new(raw), Err(AssetError::OutOfRange { what: "channel", .. })));
    let mut raw = quad(false);
    raw.morphs = vec![morph_of(4)];
    assert!(matches!(Character::new(raw), Err(AssetError::OutOfRange { target: "vertex", .. })));
}

#[test]
fn welding_closes_seams_and_nothing_else() {
    let whole = Weld::new(&Character::new(quad(false)).unwrap());
    let loose = Weld::new(&Character::new(quad(true)).unwrap());
    assert_eq!(whole.len(), 4);
    assert_eq!(loose.len(), 4);
    assert_eq!(loose.triangles, whole.triangles);

    // A vertex with other weights, or moved by a morph, is another point.
    let mut raw = quad(true);
    let mut weights = vec![vec![(0u16, 0.25f32), (1, 0.75)]; 6];
    weights[3] = vec![(0, 0.5), (1, 0.5)];
    raw.weights = Weights::new(&weights, 2).unwrap();
    assert_eq!(Weld::new(&Character::new(raw).unwrap()).len(), 5);
    let mut raw = quad(true);
    raw.morphs = vec![morph_of(3)];
    assert_eq!(Weld::new(&Character::new(raw).unwrap()).len(), 5);
}

#[test]
fn a_pose_follows_parents_and_resampling_forgets() {
    let mut raw = quad(false);
    let turn = DQuat::from_rotation_z(PI / 2.0).as_quat().to_array().to_vec();
    let track = Track::new(Interpolation::Linear, 4, vec![0.0], turn).unwrap();
    raw.clips = vec![Clip::new("turn".into(), vec![Channel { target: Target::Rotation(1), track }])];
    let character = Character::new(raw).unwrap();
    let mut pose = Pose::sample(&character, Some(&character.clips()[0]), 0.0);
    let hand = pose.world_from_joint[2].translation;
    assert!(hand.distance(DVec3::new(-1.0, 1.0, 0.0)) < 1e-7, "{hand}");
    pose.resample(&character, None, 0.0);
    assert_eq!(pose, Pose::sample(&character, None, 0.0));
}
