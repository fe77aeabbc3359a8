use super::*;
use crate::asset::Skeleton;
use crate::asset::{Joint, Local, Part, RawCharacter, Surface};
use glam::DAffine3;
use glam::{DVec3, Vec3};
use proptest::prelude::*;

fn skeleton(offsets: &[(Option<u32>, DVec3)]) -> Skeleton {
    let mut joints: Vec<Joint> = Vec::new();
    for &(parent, offset) in offsets {
        let above = parent.map_or(DVec3::ZERO, |p| joints[p as usize].world_from_rest.translation);
        joints.push(Joint {
            name: String::new(),
            parent,
            local: Local::offset(offset),
            world_from_rest: DAffine3::from_translation(above + offset),
            deforms: true,
            tails: Vec::new(),
        });
    }
    Skeleton::new(joints).unwrap()
}

fn limb() -> Skeleton {
    skeleton(&[(None, DVec3::ZERO), (Some(0), DVec3::X), (Some(1), DVec3::X * 1e-12)])
}

#[test]
fn the_law_holds_between_two_bones() {
    // Bones 0..1 and (leaf, half as long) 1..1.5; the third joint has only a bone of no length.
    let skeleton = skeleton(&[(None, DVec3::ZERO), (Some(0), DVec3::X)]);
    let p = Vec3::new(1.3, 0.4, 0.0);
    let weights = distance(&[p], &skeleton, DistanceSettings::default()).unwrap();
    let (near, far) = (0.4f64, 0.5f64);
    let expected = libm::pow(near / far, 4.0);
    let found: Vec<_> = weights.of(0).collect();
    assert_eq!(found[0].0, 1);
    assert!((f64::from(found[1].1 / found[0].1) - expected).abs() < 1e-6);
}

#[test]
fn bones_of_no_length_are_passed_over() {
    let weights = distance(&[Vec3::new(0.5, 0.1, 0.0)], &limb(), DistanceSettings::default()).unwrap();
    assert_eq!(weights.slot_count(), 3);
    assert!(weights.of(0).all(|(slot, _)| slot == 0));
}

#[test]
fn a_joint_that_hangs_on_no_bone_is_a_point() {
    let both = skeleton(&[(None, DVec3::ZERO), (Some(0), DVec3::X), (None, DVec3::X * 5.0)]);
    let weights = distance(&[Vec3::new(5.0, 0.1, 0.0)], &both, DistanceSettings::default()).unwrap();
    assert!(weights.of(0).next().is_some_and(|w| w.0 == 2 && w.1 > 0.9));
}

#[test]
fn a_lone_joint_takes_all_and_none_is_an_error() {
    let lone = skeleton(&[(None, DVec3::ONE)]);
    let weights = distance(&[Vec3::ONE, Vec3::ZERO], &lone, DistanceSettings::default()).unwrap();
    assert_eq!(weights.of(0).collect::<Vec<_>>(), [(0, 1.0)]);
    assert!(distance(&[Vec3::ZERO], &skeleton(&[]), DistanceSettings::default()).is_err());
    assert_eq!(rest_size(&[], &skeleton(&[])), 0.0);
}

/// A skin of one triangle strip along x, every vertex bound as `bound` says.
fn strip(xs: &[f32], skeleton: Skeleton, bound: impl Fn(f32) -> u16) -> Character {
    let positions: Vec<Vec3> =
        xs.iter().flat_map(|&x| [Vec3::new(x, 0.1, 0.0), Vec3::new(x, -0.1, 0.0)]).collect();
    let squares = (0..xs.len() as u32 - 1).map(|i| 2 * i);
    let triangles = squares.flat_map(|i| [[i, i + 1, i + 2], [i + 2, i + 1, i + 3]]).collect();
    let bound: Vec<Vec<(u16, f32)>> = positions.iter().map(|p| vec![(bound(p.x), 1.0)]).collect();
    let slots = slots(&skeleton);
    let part = Part {
        name: String::new(),
        mesh: 0,
        vertices: 0..positions.len() as u32,
        triangles: 0..2 * (xs.len() as u32 - 1),
        has_normals: false,
        color: [0.5; 3],
    };
    Character::new(RawCharacter {
        surface: Surface::new(positions, None, triangles).unwrap(),
        parts: vec![part],
        weights: Weights::new(&bound, slots.len()).unwrap(),
        slots,
        skeleton,
        morphs: Vec::new(),
        clips: Vec::new(),
        paint: Vec::new(),
    })
    .unwrap()
}

#[test]
fn handles_without_skin_get_none() {
    // An arm of two joints with an end, and a handle that lies beside it but hangs on the root.
    let skeleton = skeleton(&[
        (None, DVec3::ZERO),
        (Some(0), DVec3::X),
        (Some(1), DVec3::X),
        (Some(0), DVec3::new(1.5, 0.1, 0.0)),
    ]);
    let xs: Vec<f32> = (0..=20).map(|i| i as f32 * 0.1).collect();
    let character = strip(&xs, skeleton, |x| u16::from(x > 1.0));
    let handle = |c: &Character| {
        let weights = weigh_straight(c, WeightKind::default()).unwrap();
        let joint = |slot: u16| slots(c.skeleton())[slot as usize].joint;
        (0..weights.vertex_count()).flat_map(|v| weights.of(v).map(|w| joint(w.0)).collect::<Vec<_>>()).max()
    };
    assert_eq!(handle(&character), Some(3), "it is the nearest of some");
    let used = only_used(character).unwrap();
    assert_eq!(handle(&used), Some(1));
    // The forearm is as long as it was.
    let bones = used.skeleton().bones();
    assert_eq!(bones.len(), 2);
    assert!((bones[1].end - DVec3::X * 2.0).length() < 1e-9);
}

#[test]
fn segments_are_stiff_and_shared_at_their_ends() {
    let limb = skeleton(&[(None, DVec3::ZERO), (Some(0), DVec3::X), (Some(1), DVec3::X)]);
    let xs: Vec<f32> = (0..=20).map(|i| i as f32 * 0.1).collect();
    let character = strip(&xs, limb, |_| 0);
    let weights = weigh_straight(&character, WeightKind::Segment).unwrap();
    for (v, p) in character.surface().positions().iter().enumerate() {
        let found: Vec<(u16, f32)> = weights.of(v).collect();
        // Two bones meet at x 1; a sixth of each is shared.
        if (p.x - 1.0).abs() < 0.15 {
            assert!(found.len() == 2 && found.iter().all(|w| w.1 == 0.5 && w.0 < 2), "{p}: {found:?}");
        } else if p.x < 1.8 {
            assert_eq!(found, [(u16::from(p.x > 1.0), 1.0)], "{p}");
        }
    }
}

#[test]
fn no_more_influences_than_asked_for() {
    let chain: Vec<_> = (0..8u32).map(|i| (i.checked_sub(1), DVec3::X * 0.1)).collect();
    let xs: Vec<f32> = (0..=20).map(|i| i as f32 * 0.05).collect();
    let character = strip(&xs, skeleton(&chain), |_| 0);
    for influences in 1..6 {
        let kind = WeightKind::Geodesic(GeodesicSettings { influences, ..GeodesicSettings::default() });
        let most = weigh_straight(&character, kind).unwrap().max_influences();
        assert_eq!(most, influences);
    }
}

#[test]
fn smoothing_minds_how_long_edges_are() {
    // Vertices 0.1 from the bones, where 0.9 and 1.1 or, coarse, 0.6 and 1.4 are neighbours across the joint.
    let limb = || skeleton(&[(None, DVec3::ZERO), (Some(0), DVec3::X), (Some(1), DVec3::X)]);
    let passes = |xs: &[f32], at: usize, passes: usize| {
        let character = strip(xs, limb(), |_| 0);
        let kind = WeightKind::Geodesic(GeodesicSettings { passes, ..GeodesicSettings::default() });
        let weights = weigh_straight(&character, kind).unwrap();
        weights.of(2 * at).find(|w| w.0 == 0).map_or(0.0, |w| w.1)
    };
    let taken = |xs: &[f32], at: usize| passes(xs, at, 0) - passes(xs, at, 3);
    let fine: Vec<f32> = (0..=10).map(|i| 0.1 + i as f32 * 0.2).collect();
    assert!(taken(&fine, 4) > 0.02, "fine skins are smoothed: {}", taken(&fine, 4));
    let coarse = [0.2, 0.6, 1.4, 1.8];
    let lost = taken(&coarse, 1);
    assert!(lost > 0.0 && lost < 0.1, "coarse ones hardly: {lost}");
}

proptest! {
    #[test]
    fn sums_to_one_and_nearest_is_heaviest(
        points in proptest::collection::vec(proptest::array::uniform3(-3.0f32..3.0), 1..20),
        offsets in proptest::collection::vec(proptest::array::uniform3(-1.0f64..1.0), 1..12),
        power in 0.5f64..12.0,
    ) {
        let chain: Vec<_> = offsets.iter().enumerate()
            .map(|(i, &o)| ((i > 0).then(|| (i as u32 - 1) / 2), DVec3::from_array(o))).collect();
        let skeleton = skeleton(&chain);
        let points: Vec<Vec3> = points.into_iter().map(Vec3::from_array).collect();
        let weights = distance(&points, &skeleton, DistanceSettings { power, influences: 4 }).unwrap();
        let bones = BoneDistances::new(&skeleton, rest_size(&points, &skeleton)).unwrap();
        let mut near = Vec::new();
        for (v, point) in points.iter().enumerate() {
            let sum: f32 = weights.of(v).map(|e| e.1).sum();
            prop_assert!((sum - 1.0).abs() < 1e-5 && weights.of(v).len() <= 4);
            bones.measure(point.as_dvec3(), &mut near);
            let of = |slot| near.iter().find(|n| n.1 == slot).unwrap().0;
            let heaviest = weights.of(v).next().unwrap().0;
            let shortest = near.iter().map(|n| n.0).fold(f64::MAX, f64::min);
            prop_assert!(of(heaviest) <= shortest * (1.0 + 1e-6));
            prop_assert_eq!(of(bones.nearest(point.as_dvec3())), shortest);
        }
    }

    /// Turning, moving and scaling body and skeleton together changes no weight.
    #[test]
    fn weights_do_not_depend_on_the_frame(
        p in proptest::array::uniform3(-2.0f64..2.0), angle in 0.0f64..6.0, scale in 0.01f64..100.0,
    ) {
        let shift = DVec3::new(5.0, -2.0, 1.0) * scale;
        let turn = DAffine3::from_scale_rotation_translation(
            DVec3::splat(scale), glam::DQuat::from_rotation_y(angle), shift);
        let build = |m: DAffine3| {
            let at = |p: DVec3| m.transform_point3(p);
            let [a, b, c] = [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.3)].map(at);
            let body = [DVec3::from_array(p), DVec3::new(-1.0, 0.0, 0.0)].map(|p| at(p).as_vec3());
            let skeleton = skeleton(&[(None, a), (Some(0), b - a), (Some(1), c - b)]);
            distance(&body, &skeleton, DistanceSettings::default()).unwrap()
        };
        let (plain, moved) = (build(DAffine3::IDENTITY), build(turn));
        for (slot, weight) in plain.of(0) {
            let other = moved.of(0).find(|e| e.0 == slot).map_or(0.0, |e| e.1);
            prop_assert!((weight - other).abs() < 2e-4, "{} {}", weight, other);
        }
    }
}
