//! What smooth skinning must do to shapes.

mod smooth_common;

use pliant::asset::{Character, Morph, Painted, Surface, Weights};
use pliant::glam::{DAffine3, DQuat, DVec3, Vec3};
use pliant::method::{self, Settings, Setup, Shape, SmoothJoint};
use pliant::rig::Pose;
use pliant::simd::Path;
use pliant::skin::smooth::Smooth;
use pliant::zoo;
use smooth_common::{angles, change, farthest, held, normals, played};

fn sample(name: &str, vertices: usize) -> Character {
    zoo::character(name, Some(vertices)).expect("a sample")
}

/// The rest pose with one joint, and all that hangs on it, transformed about its place.
fn turned(character: &Character, joint: usize, by: DAffine3) -> Pose {
    let mut pose = Pose::rest(character);
    let joints = character.skeleton().joints();
    let at = joints[joint].world_from_rest.translation;
    let about = DAffine3::from_translation(at) * by * DAffine3::from_translation(-at);
    let mut hangs = vec![false; joints.len()];
    for (index, of) in joints.iter().enumerate() {
        hangs[index] = index == joint || of.parent.is_some_and(|p| hangs[p as usize]);
        if hangs[index] {
            pose.world_from_joint[index] = about * pose.world_from_joint[index];
        }
    }
    pose
}

#[test]
fn rest_stays_and_rigid_motion_is_rigid() {
    for name in ["arm", "hand"] {
        let character = sample(name, 1500);
        let motion = DAffine3::from_rotation_translation(
            DQuat::from_xyzw(0.3, -0.5, 0.2, 0.7).normalize(),
            DVec3::new(0.3, -0.2, 0.5),
        );
        for by in [DAffine3::IDENTITY, motion] {
            let mut pose = Pose::rest(&character);
            pose.world_from_joint.iter_mut().for_each(|m| *m = by * *m);
            let shape = held(&character, "smooth", &Settings::default(), &pose);
            let surface = character.surface();
            let expected: Vec<_> =
                surface.positions().iter().map(|p| by.transform_point3(p.as_dvec3()).as_vec3()).collect();
            assert!(farthest(&shape.positions, &expected) < 2e-6 * character.diagonal().max(1.0), "{name}");
            let expected: Vec<_> =
                surface.normals().iter().map(|n| by.transform_vector3(n.as_dvec3()).as_vec3()).collect();
            assert!(farthest(&shape.normals, &expected) < 2e-3, "{name}");
        }
    }
}

#[test]
fn normals_are_those_of_the_bent_skin() {
    let character = sample("cylinder", 2000);
    for clip in ["bend", "twist"] {
        let shape = &played(&character, "smooth", &Settings::default(), clip, &[0.9])[0];
        let expected = normals(&character, &shape.positions);
        for (vertex, (n, e)) in shape.normals.iter().zip(&expected).enumerate() {
            assert!((n.length() - 1.0).abs() < 1e-5);
            assert!(n.as_dvec3().dot(*e) > 0.999, "{clip}, vertex {vertex}: {n} for {e}");
        }
    }
}

/// With all of a vertex on one joint there is nothing to blend.
#[test]
fn one_influence_each_is_linear() {
    let mut raw = sample("arm", 1000).into_raw();
    let lead: Vec<Vec<(u16, f32)>> = (0..raw.weights.vertex_count())
        .map(|v| vec![(raw.weights.of(v).next().map_or(0, |w| w.0), 1.0)])
        .collect();
    raw.weights = pliant::asset::Weights::new(&lead, raw.slots.len()).expect("sound");
    let character = Character::new(raw).expect("sound");
    let mut settings = Settings::default();
    settings.smooth.bulge = 0.0;
    let [a, b] = ["lbs", "smooth"].map(|m| played(&character, m, &settings, "bend", &[1.0]).remove(0));
    assert!(farthest(&a.positions, &b.positions) < 1e-6);
}

/// Half a turn, scales of nothing and of minus one, joints pulled off: finite, and nothing is thrown.
#[test]
fn degenerate_poses_stay_together() {
    let character = sample("arm", 1000);
    let axis = DVec3::new(0.2, 0.1, 1.0).normalize();
    let by = [
        DAffine3::from_quat(DQuat::from_xyzw(axis.x, axis.y, axis.z, 0.0)),
        DAffine3::from_quat(DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0)),
        DAffine3::from_quat(DQuat::from_xyzw(0.0, 1.0, 0.0, 1e-9)),
        DAffine3::from_scale(DVec3::ZERO),
        DAffine3::from_scale(DVec3::new(1.0, 0.0, 1.0)),
        DAffine3::from_scale(DVec3::new(-1.0, 1.0, 1.0)),
        DAffine3::from_scale(DVec3::splat(1.5)),
        DAffine3::from_translation(DVec3::new(0.1, 0.05, 0.0)),
    ];
    for settings in [Settings::default(), angles(1.0)] {
        for (index, by) in by.iter().enumerate() {
            let pose = turned(&character, 1, *by);
            let shape = held(&character, "smooth", &settings, &pose);
            assert!(shape.positions.iter().chain(&shape.normals).all(|p| p.is_finite()), "case {index}");
            assert!(shape.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-4), "case {index}");
            let plain = held(&character, "lbs", &settings, &pose);
            let far = farthest(&shape.positions, &plain.positions) / character.diagonal();
            assert!(far < 0.15, "case {index}: {far} of the body");
        }
    }
}

/// A joint that is moved, and nothing else, moves the skin as linear blending does.
#[test]
fn pure_translation_is_linear() {
    let character = sample("arm", 1000);
    let pose = turned(&character, 1, DAffine3::from_translation(DVec3::new(0.05, 0.02, -0.03)));
    let mut settings = Settings::default();
    settings.smooth.bulge = 0.0;
    let [a, b] = ["lbs", "smooth"].map(|m| held(&character, m, &settings, &pose));
    assert!(farthest(&a.positions, &b.positions) < 1e-6);
}

/// Scaling all joints scales the bulge too.
#[test]
fn size_does_not_matter() {
    let character = sample("arm", 1500);
    let bent = turned(&character, 1, DAffine3::from_quat(DQuat::from_rotation_z(1.5)));
    let mut large = bent.clone();
    large.world_from_joint.iter_mut().for_each(|m| *m = DAffine3::from_scale(DVec3::splat(3.0)) * *m);
    let [a, b] = [&bent, &large].map(|pose| held(&character, "smooth", &Settings::default(), pose));
    let scaled: Vec<_> = a.positions.iter().map(|p| *p * 3.0).collect();
    assert!(farthest(&b.positions, &scaled) < 1e-4);
}

#[test]
fn controls_of_a_joint_are_heard() {
    let character = sample("arm", 2000);
    let loss = |settings: &Settings| {
        let shape = &played(&character, "smooth", settings, "bend", &[0.9])[0];
        change(&character, &shape.positions)
    };
    let joint = |joint: &str| SmoothJoint {
        joint: joint.into(),
        limit_angle: None,
        bulge: None,
        ridge_width: None,
        fat_radius: None,
        fat: None,
    };
    let mut settings = Settings::default();
    let full = loss(&settings);
    settings.smooth.joints = vec![SmoothJoint { bulge: Some(0.0), ..joint("LowerArm") }];
    let none = loss(&settings);
    settings.smooth.joints = vec![SmoothJoint { bulge: Some(0.0), ..joint("Hand") }];
    let elsewhere = loss(&settings);
    settings.smooth.joints = vec![SmoothJoint { bulge: Some(0.5), ..joint("#1") }];
    let half = loss(&settings);
    assert!(none < full - 0.5 && (elsewhere - full).abs() < 0.05, "{none} {full} {elsewhere}");
    assert!(none < half - 0.1 && half < full - 0.1, "{none} {half} {full}");
    settings.smooth.joints = vec![joint("LowerLeg")];
    let setup =
        method::Setup { path: Path::best(), settings: &settings, tets: None, progress: &mut |_| true };
    let error = method::prepare("smooth", &character, setup).err().expect("no such joint").to_string();
    assert!(error.contains("smooth.joint[0].joint") && error.contains("LowerArm"), "{error}");
}

/// With a limit that follows the bend more of the skin is blended when the joint is bent, and at rest all is as without.
#[test]
fn the_limit_angle_follows_the_bend() {
    let character = sample("cylinder", 2000);
    let mut moving = angles(0.0);
    moving.smooth.dynamic_limit = Some(true);
    let times = [0.0, 0.3, 1.4];
    let still = played(&character, "smooth", &angles(0.0), "bend", &times);
    let moving = played(&character, "smooth", &moving, "bend", &times);
    let far = |k: usize| farthest(&still[k].positions, &moving[k].positions);
    assert!(far(0) < 1e-5 && far(1) < 2e-3, "{} {}", far(0), far(1));
    assert!(far(2) > 0.01 && far(2) < 0.1, "{}", far(2));
    // Unset, it does so where overlaps are parted.
    for parts in [false, true] {
        let [unset, set] = [None, Some(parts)].map(|dynamic_limit| {
            let mut settings = Settings { overlap: Some(parts), ..angles(0.0) };
            settings.smooth.dynamic_limit = dynamic_limit;
            played(&character, "smooth", &settings, "bend", &times)
        });
        let other = if parts { &still } else { &moving };
        assert!(unset[2].positions == set[2].positions, "overlap {parts}");
        assert!(farthest(&unset[2].positions, &other[2].positions) > 0.01);
    }
}

/// Any points with weights, such as a body's nodes.
#[test]
fn points_without_a_skin_can_be_posed() {
    let character = sample("arm", 1000);
    let pose = turned(&character, 1, DAffine3::from_quat(DQuat::from_rotation_z(1.0)));
    let mut matrices = Vec::new();
    pose.skin_matrices(&character, &mut matrices);
    let positions = character.surface().positions();
    let smooth =
        Smooth::new(positions, character.weights(), character.skeleton(), character.slots(), Path::best())
            .expect("prepared");
    let mut out = vec![pliant::glam::Vec3::ZERO; positions.len()];
    smooth.positions(&matrices, &mut smooth.state(), &mut out);
    let mut settings = Settings::default();
    settings.smooth.bulge = 0.0;
    assert!(farthest(&out, &held(&character, "smooth", &settings, &pose).positions) < 1e-6);
}

/// A chain as long as a file may have it, and a hub with as many arms: no stack is used up, and no time.
#[test]
fn skeletons_of_any_shape_are_walked() {
    use pliant::asset::{Joint, Local, Skeleton, Weights};
    use pliant::glam::Vec3;
    use pliant::rig::weights;
    const COUNT: u32 = 60_000;
    let shapes: [fn(u32) -> Option<u32>; 2] = [|k| k.checked_sub(1), |k| (k > 0).then_some(0)];
    for parent in shapes {
        let joints = (0..COUNT).map(|k| Joint {
            name: String::new(),
            parent: parent(k),
            local: Local::IDENTITY,
            world_from_rest: DAffine3::from_translation(DVec3::X * f64::from(k)),
            deforms: true,
            tails: Vec::new(),
        });
        let skeleton = Skeleton::new(joints.collect()).expect("sound");
        let bound: Vec<Vec<(u16, f32)>> = (0..4000u16)
            .map(|p| vec![(14 * p, 0.5), (14 * p + 1, 0.5)])
            .chain([vec![(1, 0.5), (59_999, 0.5)]])
            .collect();
        let points: Vec<Vec3> = (0..bound.len()).map(|p| Vec3::X * p as f32).collect();
        let bound = Weights::new(&bound, COUNT as usize).expect("sound");
        let slots = weights::slots(&skeleton);
        let smooth = Smooth::new(&points, &bound, &skeleton, &slots, Path::best()).expect("prepared");
        let rest = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
        let mut out = vec![Vec3::ZERO; points.len()];
        smooth.positions(&vec![rest; COUNT as usize], &mut smooth.state(), &mut out);
        assert!(farthest(&out, &points) < 0.05, "{}", farthest(&out, &points));
    }
}

/// An arm that a morph makes stronger is posed as an arm that is stronger.
#[test]
fn morphs_are_posed_and_bulge_as_a_shape_of_their_own() {
    let arm = sample("arm", 2500);
    let (vertices, offsets): (Vec<u32>, Vec<Vec3>) = (arm.surface().positions().iter().enumerate())
        .filter(|(_, p)| p.x > 0.1 && p.x < 0.45)
        .map(|(v, p)| (v as u32, Vec3::new(0.0, p.y - 0.1, p.z) * 0.3))
        .unzip();
    let mut morphed: Vec<Vec3> = arm.surface().positions().to_vec();
    vertices.iter().zip(&offsets).for_each(|(&v, &offset)| morphed[v as usize] += 0.5 * offset);
    let mut raw = arm.clone().into_raw();
    raw.surface = Surface::new(morphed, None, arm.surface().triangles().to_vec()).expect("sound");
    let strong = Character::new(raw).expect("sound");
    let mut raw = arm.into_raw();
    let normals = vec![Vec3::ZERO; vertices.len()];
    raw.morphs =
        vec![Morph { name: "strong".into(), vertices, positions: offsets, normals, default_weight: 0.0 }];
    let character = Character::new(raw).expect("sound");
    let elbow = character.skeleton().joints().iter().position(|j| j.name == "LowerArm").expect("an elbow");
    let mut plain = Settings::default();
    plain.smooth.bulge = 0.0;
    let mut pose = turned(&character, elbow, DAffine3::from_rotation_z(1.2));
    let without = held(&strong, "smooth", &plain, &pose);
    let bulged = held(&strong, "smooth", &Settings::default(), &pose);
    pose.morph_weights = vec![0.5];
    let size = character.diagonal();
    let with_morph = held(&character, "smooth", &plain, &pose);
    assert!(farthest(&with_morph.positions, &without.positions) < 1e-6 * size);
    assert!(farthest(&with_morph.normals, &without.normals) < 2e-2);
    // What can bulge is told by the skin without morphs, by how much by the one with them.
    let with_morph = held(&character, "smooth", &Settings::default(), &pose);
    assert!(change(&strong, &without.positions) < -1.0);
    for shape in [&with_morph, &bulged] {
        assert!(change(&strong, &shape.positions).abs() < 0.3, "{} %", change(&strong, &shape.positions));
    }
    // Weights that come and go leave nothing behind.
    let setup =
        Setup { path: Path::best(), settings: &Settings::default(), tets: None, progress: &mut |_| true };
    let deformer = method::prepare("smooth", &character, setup).expect("prepared");
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(&character);
    for weight in [0.0, 1.0, 0.5] {
        pose.morph_weights = vec![weight];
        instance.step(&pose, 0.0, &mut shape, &mut |_| {});
    }
    assert!(shape == with_morph);
}

/// Two skins on one skeleton, each with slots of its own, are posed as each would be alone.
#[test]
fn skins_that_share_joints_do_not_share_flesh() {
    let arm = sample("arm", 1500);
    let count = arm.surface().positions().len();
    let slots = arm.slots().len() as u16;
    let mut raw = arm.clone().into_raw();
    let twice = |v: &[Vec3]| [v, v].concat();
    let triangles = arm.surface().triangles();
    let second = triangles.iter().map(|t| t.map(|v| v + count as u32));
    let triangles: Vec<[u32; 3]> = triangles.iter().copied().chain(second).collect();
    let mut part = raw.parts[0].clone();
    (part.mesh, part.vertices) = (1, count as u32..2 * count as u32);
    part.triangles = (triangles.len() / 2) as u32..triangles.len() as u32;
    raw.parts.push(part);
    let positions = twice(arm.surface().positions());
    raw.surface = Surface::new(positions, Some(twice(arm.surface().normals())), triangles).expect("sound");
    raw.slots = [arm.slots(), arm.slots()].concat();
    let own = |v: usize| {
        let slot = |slot: u16| if v < count { slot } else { slot + slots };
        arm.weights().of(v % count).map(|(s, weight)| (slot(s), weight)).collect::<Vec<_>>()
    };
    let weights: Vec<Vec<(u16, f32)>> = (0..2 * count).map(own).collect();
    raw.weights = Weights::new(&weights, raw.slots.len()).expect("sound");
    raw.paint.clear();
    let both = Character::new(raw).expect("sound");
    let elbow = arm.skeleton().joints().iter().position(|j| j.name == "LowerArm").expect("an elbow");
    let pose = turned(&arm, elbow, DAffine3::from_rotation_z(1.4));
    let alone = held(&arm, "smooth", &Settings::default(), &pose);
    let together = held(&both, "smooth", &Settings::default(), &pose);
    for half in [&together.positions[..count], &together.positions[count..]] {
        assert!(farthest(half, &alone.positions) < 1e-4 * arm.diagonal());
    }
}

/// Flesh bulges where fat is painted, and only there.
#[test]
fn painted_fat_alone_bulges() {
    let arm = sample("arm", 2500);
    let elbow = arm.skeleton().joints().iter().position(|j| j.name == "LowerArm").expect("an elbow");
    let pose = turned(&arm, elbow, DAffine3::from_rotation_z(1.2));
    let is_fat = |p: &Vec3| p.z > 0.0;
    let painted = |values: Vec<f32>| {
        let mut raw = arm.clone().into_raw();
        raw.paint.push(Painted { name: "_FAT".into(), values });
        let mut settings = Settings::default();
        settings.smooth.fat = Some("_FAT".into());
        held(&Character::new(raw).expect("sound"), "smooth", &settings, &pose).positions
    };
    let mut plain = Settings::default();
    plain.smooth.bulge = 0.0;
    let lean = held(&arm, "smooth", &plain, &pose).positions;
    let full = held(&arm, "smooth", &Settings::default(), &pose).positions;
    let rest = arm.surface().positions();
    assert!(painted(vec![0.0; rest.len()]) == lean, "no fat");
    assert!(painted(vec![1.0; rest.len()]) == full, "all fat");
    let half = painted(rest.iter().map(|p| f32::from(u8::from(is_fat(p)))).collect());
    let moved = |fat: bool| {
        let own = (0..rest.len()).filter(|&v| is_fat(&rest[v]) == fat);
        own.map(|v| half[v].distance(lean[v])).fold(0.0, f32::max)
    };
    assert!(moved(true) > 1e-3 && moved(false) == 0.0, "{} {}", moved(true), moved(false));
}
