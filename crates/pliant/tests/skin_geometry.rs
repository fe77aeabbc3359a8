//! What skinning must do to shapes, whatever the arithmetic.

mod skin_common;

use pliant::glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use pliant::skin::Blend;
use skin_common::{BLENDS, Random, Skin};

fn farthest(a: &[Vec3], b: impl Iterator<Item = DVec3>) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.as_dvec3().distance(b)).fold(0.0, f64::max)
}

/// Inverse transpose, unit.
fn turned(m: DMat3, n: Vec3) -> DVec3 {
    (m.inverse().transpose() * n.as_dvec3()).normalize()
}

#[test]
fn linear_blend_equals_its_formula_in_f64() {
    let random = &mut Random(1);
    let skin = Skin::random(random, 3000, 50, 12);
    let transforms: Vec<DAffine3> =
        (0..50).map(|_| random.rigid() * DAffine3::from_scale(DVec3::splat(1.5) + random.vector())).collect();
    let blended = |v: usize| {
        let sum = skin.weights.of(v).fold((DMat3::ZERO, DVec3::ZERO), |(m, t), (slot, w)| {
            let s = transforms[slot as usize];
            (m + s.matrix3 * f64::from(w), t + s.translation * f64::from(w))
        });
        DAffine3 { matrix3: sum.0, translation: sum.1 }
    };
    let (positions, normals) = skin.pose(Blend::Linear, &transforms);
    let rest = skin.surface.positions();
    let expected = (0..3000).map(|v| blended(v).transform_point3(rest[v].as_dvec3()));
    assert!(farthest(&positions, expected) < 5e-6);
    for v in 0..3000 {
        let m = blended(v).matrix3;
        // Where the blend is nearly flat its normal is a matter of rounding.
        if m.determinant().abs() > 0.05 {
            let expected = turned(m, skin.surface.normals()[v]);
            assert!(normals[v].as_dvec3().distance(expected) < 1e-4, "vertex {v}");
        }
    }
}

/// Straight from the definition, with matrices to check the quaternions by.
fn dual_in_f64(skin: &Skin, transforms: &[(DQuat, DVec3, DMat3)], v: usize) -> (DVec3, DVec3) {
    let influences: Vec<_> = skin.weights.of(v).collect();
    let lead = transforms[influences[0].0 as usize].0;
    let (mut real, mut dual) = (DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0));
    let mut scale = DMat3::ZERO;
    for (slot, w) in influences {
        let (q, t, a) = transforms[slot as usize];
        let w = f64::from(w);
        let sign = if q.dot(lead) < 0.0 { -w } else { w };
        real += q * sign;
        dual += (DQuat::from_xyzw(t.x, t.y, t.z, 0.0) * q) * (0.5 * sign);
        scale += a * w;
    }
    let length = real.length();
    let (real, dual) = (real / length, dual / length);
    let moved = dual * real.conjugate() * 2.0;
    let rotation = DMat3::from_quat(real);
    let p =
        rotation * (scale * skin.surface.positions()[v].as_dvec3()) + DVec3::new(moved.x, moved.y, moved.z);
    (p, turned(rotation * scale, skin.surface.normals()[v]))
}

#[test]
fn dual_quaternions_equal_their_formula_in_f64() {
    let random = &mut Random(2);
    let skin = Skin::random(random, 3000, 40, 8);
    let parts: Vec<(DQuat, DVec3, DMat3)> = (0..40)
        .map(|_| {
            let axes = DMat3::from_quat(random.rotation());
            let stretch = DMat3::from_diagonal(DVec3::splat(1.4) + random.vector());
            (random.rotation(), random.vector(), axes * stretch * axes.transpose())
        })
        .collect();
    let transforms: Vec<DAffine3> = parts
        .iter()
        .map(|&(q, translation, a)| DAffine3 { matrix3: DMat3::from_quat(q) * a, translation })
        .collect();
    let (positions, normals) = skin.pose(Blend::DualQuaternion, &transforms);
    for v in 0..3000 {
        let (p, n) = dual_in_f64(&skin, &parts, v);
        assert!(positions[v].as_dvec3().distance(p) < 1e-5, "vertex {v}");
        assert!(normals[v].as_dvec3().distance(n) < 1e-4, "vertex {v}");
    }
}

#[test]
fn a_rigid_motion_of_all_bones_moves_the_skin_rigidly() {
    let random = &mut Random(3);
    let skin = Skin::random(random, 2000, 20, 6);
    for motion in [random.rigid(), random.rigid(), DAffine3::from_translation(DVec3::new(3.0, -2.0, 0.5))] {
        for blend in BLENDS {
            let (positions, normals) = skin.pose(blend, &[motion; 20]);
            let expected = skin.surface.positions().iter().map(|p| motion.transform_point3(p.as_dvec3()));
            assert!(farthest(&positions, expected) < 3e-6, "{blend:?}");
            let expected = skin.surface.normals().iter().map(|n| motion.transform_vector3(n.as_dvec3()));
            assert!(farthest(&normals, expected) < 1e-6, "{blend:?}");
        }
    }
}

#[test]
fn one_influence_is_the_joint_itself_for_both() {
    let random = &mut Random(4);
    let skin = Skin::random(random, 500, 30, 1);
    let transforms: Vec<DAffine3> = (0..30)
        .map(|i| {
            let sign = if i % 3 == 0 { -1.0 } else { 1.0 };
            random.rigid() * DAffine3::from_scale(DVec3::new(sign * 0.7, 1.2, 2.0))
        })
        .collect();
    let expected = |v: usize| {
        let slot = skin.weights.of(v).next().expect("one influence").0;
        let s = transforms[slot as usize];
        (
            s.transform_point3(skin.surface.positions()[v].as_dvec3()),
            turned(s.matrix3, skin.surface.normals()[v]),
        )
    };
    for blend in BLENDS {
        let (positions, normals) = skin.pose(blend, &transforms);
        assert!(farthest(&positions, (0..500).map(|v| expected(v).0)) < 3e-6, "{blend:?}");
        assert!(farthest(&normals, (0..500).map(|v| expected(v).1)) < 3e-6, "{blend:?}");
    }
}

/// A ring of radius 1 about x, bound half and half to slots 0 and 1.
fn ring() -> Skin {
    let points: Vec<Vec3> = (0..40)
        .map(|i| {
            let (sine, cosine) = libm::sincosf(i as f32 / 40.0 * std::f32::consts::TAU);
            Vec3::new(0.0, cosine, sine)
        })
        .collect();
    Skin::new(points.clone(), points, &vec![vec![(0, 0.5), (1, 0.5)]; 40], 2)
}

#[test]
fn a_half_turn_of_twist_keeps_the_section_with_dual_quaternions_and_collapses_without() {
    let skin = ring();
    // Just short of the half turn, where the sense of the twist is still told.
    for degrees in [90.0f64, 150.0, 179.9] {
        let angle = degrees.to_radians();
        let twist = DAffine3::from_axis_angle(DVec3::X, angle);
        let (dual, normals) = skin.pose(Blend::DualQuaternion, &[DAffine3::IDENTITY, twist]);
        let (linear, _) = skin.pose(Blend::Linear, &[DAffine3::IDENTITY, twist]);
        let half = DQuat::from_rotation_x(angle / 2.0);
        let turned = skin.surface.positions().iter().map(|p| half * p.as_dvec3());
        assert!(farthest(&dual, turned.clone()) < 1e-5, "{degrees}");
        assert!(farthest(&normals, turned) < 1e-5, "{degrees}");
        for p in linear {
            assert!((f64::from(p.length()) - libm::cos(angle / 2.0)).abs() < 1e-6);
        }
    }
    let half_turn = DAffine3::from_axis_angle(DVec3::X, std::f64::consts::PI);
    let (dual, _) = skin.pose(Blend::DualQuaternion, &[DAffine3::IDENTITY, half_turn]);
    assert!(dual.iter().all(|p| (p.length() - 1.0).abs() < 1e-5), "no candy wrapper");
}

#[test]
fn the_sign_of_a_quaternion_does_not_matter() {
    // One turn by 350 degrees and one by -10 are the same matrix; beside a joint at 170 and -170 degrees the blend must
    // take the short way round, through 180.
    let skin = ring();
    let by = |degrees: f64| DAffine3::from_axis_angle(DVec3::X, degrees.to_radians());
    let (a, _) = skin.pose(Blend::DualQuaternion, &[by(350.0), by(10.0)]);
    assert!(farthest(&a, skin.surface.positions().iter().map(|p| p.as_dvec3())) < 1e-6);
    let (b, _) = skin.pose(Blend::DualQuaternion, &[by(170.0), by(-170.0)]);
    let opposite = skin.surface.positions().iter().map(|p| DVec3::new(0.0, f64::from(-p.y), f64::from(-p.z)));
    assert!(farthest(&b, opposite) < 1e-6);
}

#[test]
fn a_scale_of_all_joints_scales_the_skin() {
    let random = &mut Random(5);
    let skin = Skin::random(random, 1000, 12, 4);
    let rigid: Vec<DAffine3> = (0..12).map(|_| random.rigid()).collect();
    for blend in BLENDS {
        let (plain, plain_normals) = skin.pose(blend, &rigid);
        for factor in [0.01, 2.0, 100.0] {
            let size = DAffine3::from_scale(DVec3::splat(factor));
            let scaled: Vec<DAffine3> = rigid.iter().map(|&m| size * m).collect();
            let (positions, normals) = skin.pose(blend, &scaled);
            let expected = plain.iter().map(|p| p.as_dvec3() * factor);
            assert!(farthest(&positions, expected) < 3e-6 * factor, "{blend:?} {factor}");
            // Where a linear blend collapses, its normal is a matter of rounding.
            let same = normals.iter().zip(&plain_normals).filter(|(a, b)| a.distance(**b) < 1e-4).count();
            assert!(same > 990, "{blend:?} {factor}: {same}");
        }
    }
}

#[test]
fn a_mirrored_character_is_the_mirror_image() {
    let random = &mut Random(6);
    let skin = Skin::random(random, 1000, 12, 4);
    let rigid: Vec<DAffine3> = (0..12).map(|_| random.rigid()).collect();
    let mirror = DAffine3::from_scale(DVec3::new(-1.0, 1.0, 1.0));
    let mirrored: Vec<DAffine3> = rigid.iter().map(|&m| mirror * m).collect();
    for blend in BLENDS {
        let (plain, plain_normals) = skin.pose(blend, &rigid);
        let (positions, normals) = skin.pose(blend, &mirrored);
        let image = |v: &Vec3| mirror.transform_vector3(v.as_dvec3());
        assert!(farthest(&positions, plain.iter().map(image)) < 5e-6, "{blend:?}");
        let same = normals.iter().zip(&plain_normals).filter(|(a, b)| a.as_dvec3().distance(image(b)) < 1e-4);
        assert!(same.count() > 990, "{blend:?}");
    }
}

#[test]
fn translations_blend_linearly_in_both() {
    let random = &mut Random(9);
    let skin = Skin::random(random, 1000, 12, 4);
    let moves: Vec<DAffine3> = (0..12).map(|_| DAffine3::from_translation(random.vector())).collect();
    let expected = |v: usize| {
        let shift: DVec3 =
            skin.weights.of(v).map(|(slot, w)| moves[slot as usize].translation * f64::from(w)).sum();
        skin.surface.positions()[v].as_dvec3() + shift
    };
    for blend in BLENDS {
        let (positions, normals) = skin.pose(blend, &moves);
        assert!(farthest(&positions, (0..1000).map(expected)) < 2e-6, "{blend:?}");
        assert!(farthest(&normals, skin.surface.normals().iter().map(|n| n.as_dvec3())) < 1e-6);
    }
}

#[test]
fn joints_scaled_to_nothing_give_finite_skin_and_unit_normals() {
    let random = &mut Random(10);
    let skin = Skin::random(random, 1000, 8, 4);
    for scale in [DVec3::ZERO, DVec3::new(1.0, 1.0, 0.0), DVec3::new(0.0, 0.0, 1.0), DVec3::splat(1e-30)] {
        let transforms: Vec<DAffine3> =
            (0..8).map(|_| random.rigid() * DAffine3::from_scale(scale)).collect();
        for blend in BLENDS {
            let (positions, normals) = skin.pose(blend, &transforms);
            assert!(positions.iter().all(|p| p.is_finite()), "{blend:?} {scale}");
            assert!(normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-5), "{blend:?} {scale}");
        }
    }
}
