//! The judge of tet bodies, on bodies whose measures are known.
#![allow(clippy::disallowed_methods)]
mod measure_bodies;

use measure_bodies::*;
use pliant::asset::{Character, TetMesh};
use pliant::body::{Body, Fineness, Node};
use pliant::glam::{DAffine3, DMat3, DVec3, Vec3};
use pliant::measure::{Judge, Options, TetJudge, TetMeasures, VolumeSource};

const REST: [DAffine3; 2] = [DAffine3::IDENTITY; 2];

/// A limb of two joints with a body in it.
fn fleshed() -> (Character, Body) {
    let limb = limb(&limb_mesh());
    let surface = limb.surface();
    let body = Body::of_skin(surface.positions(), surface.triangles(), Fineness::Tets(1500), &mut |_| true);
    (limb, body.unwrap())
}

fn nodes(mesh: &TetMesh, f: impl Fn(DVec3) -> DVec3) -> Vec<Node> {
    let moved = mesh.positions().iter().map(|p| f(p.as_dvec3()).as_vec3());
    moved.map(|p| [p.x, p.y, p.z, 1.0]).collect()
}

fn scaled(s: f64) -> DAffine3 {
    DAffine3::from_scale(DVec3::splat(s))
}

fn frame(limb: &Character, body: &Body, moves: &[DAffine3], f: impl Fn(DVec3) -> DVec3) -> TetMeasures {
    TetJudge::new(limb, body).frame(&pose(limb, moves), &nodes(body.tets(), f)).unwrap()
}

#[test]
fn rest_and_rigid_motion_are_perfect() {
    let (limb, body) = fleshed();
    for turned in [DAffine3::IDENTITY, DAffine3::from_translation(DVec3::X * 3.0) * turn(DVec3::Z, 70.0)] {
        let m = frame(&limb, &body, &[turned; 2], |p| turned.transform_point3(p));
        assert!(m.volume_error_percent.unwrap() < 1e-4, "{m:?}");
        assert!((m.min_det_f.unwrap() - 1.0).abs() < 1e-2, "{m:?}");
        assert_eq!(m.inverted, 0);
    }
}

#[test]
fn growth_without_a_scaled_joint_is_an_error() {
    let (limb, body) = fleshed();
    let m = frame(&limb, &body, &REST, |p| DVec3::new(1.1 * p.x, 0.5 * p.y, 2.0 * p.z));
    assert!((m.volume_error_percent.unwrap() - 10.0).abs() < 1e-3, "{m:?}");
    assert!((m.min_det_f.unwrap() - 1.1).abs() < 1e-2, "the determinant of one matrix: {m:?}");
}

#[test]
fn flesh_of_scaled_joints_is_as_large_as_they_ask() {
    let (limb, body) = fleshed();
    for s in [0.01, 0.5, 3.0] {
        let m = frame(&limb, &body, &[scaled(s); 2], |p| s * p);
        assert!(m.volume_error_percent.unwrap() < 1e-3, "{s}: {m:?}");
        assert!((m.min_det_f.unwrap() - 1.0).abs() < 1e-2 && m.inverted == 0, "{s}: {m:?}");
        // Flesh that stays as it was is then wrong by what the joints ask.
        let m = frame(&limb, &body, &[scaled(s); 2], |p| p);
        let asked = 100.0 * (1.0 / (s * s * s) - 1.0).abs();
        assert!((m.volume_error_percent.unwrap() / asked - 1.0).abs() < 1e-3, "{s}: {m:?}");
    }
    // One joint alone scales its own end of the limb: half of it is asked to be an eighth.
    let half = frame(&limb, &body, &[DAffine3::IDENTITY, scaled(0.5)], |p| p);
    let asked = 100.0 * (1.0 / (0.5 + 0.5 / 8.0) - 1.0);
    assert!((half.volume_error_percent.unwrap() / asked - 1.0).abs() < 0.1, "{half:?}, not {asked}");
    assert!((half.min_det_f.unwrap() - 1.0).abs() < 1e-2, "the other end is as it was: {half:?}");
}

#[test]
fn a_mirrored_rig_is_not_inside_out() {
    let (limb, body) = fleshed();
    let mirror = DAffine3::from_scale(DVec3::new(-1.0, 1.0, 1.0));
    let m = frame(&limb, &body, &[mirror; 2], |p| mirror.transform_point3(p));
    assert!(m.volume_error_percent.unwrap() < 1e-4 && m.inverted == 0, "{m:?}");
    // Mirrored by nobody's wish, it is.
    let m = frame(&limb, &body, &REST, |p| mirror.transform_point3(p));
    assert_eq!(m.inverted, body.tets().tets().len());
    assert!(
        (m.min_det_f.unwrap() + 1.0).abs() < 1e-2 && (m.volume_error_percent.unwrap() - 200.0).abs() < 1e-3
    );
}

#[test]
fn flesh_scaled_to_nothing_is_not_judged() {
    let (limb, body) = fleshed();
    let m = frame(&limb, &body, &[scaled(0.0); 2], |_| DVec3::ZERO);
    assert_eq!((m.inverted, m.min_det_f, m.volume_error_percent), (0, None, None));
    // Without that wish flat flesh counts as inside out.
    let m = frame(&limb, &body, &REST, |p| DVec3::new(p.x, p.y, 0.0));
    assert_eq!((m.inverted, m.min_det_f), (body.tets().tets().len(), Some(0.0)));
}

/// Two tets on one face, the skin of a limb around them.
fn pair() -> (Character, Body) {
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE];
    let mesh = TetMesh::new(corners.to_vec(), vec![[0, 1, 2, 3], [1, 2, 3, 4]]).unwrap();
    let limb = limb(&limb_mesh());
    let body = Body::of_tets(mesh, limb.surface().positions());
    (limb, body)
}

#[test]
fn one_inverted_tet_is_counted() {
    let (limb, body) = pair();
    // The tip goes through the face that it stands on, half as far on the other side: det F -1/2 of the tet at 0.
    let through = |p: DVec3| if p == DVec3::ZERO { DVec3::splat(0.5) } else { p };
    let m = frame(&limb, &body, &REST, through);
    assert_eq!(m.inverted, 1);
    assert!((m.min_det_f.unwrap() + 0.5).abs() < 1e-6, "{m:?}");
    // Volumes are signed: 1/3 - 1/12 are left of 1/3 + 1/6.
    assert!((m.volume_error_percent.unwrap() - 50.0).abs() < 1e-4, "{m:?}");
}

#[test]
fn energy_of_nodes_is_by_the_flesh_around_them() {
    let (limb, body) = pair();
    let judge = TetJudge::new(&limb, &body);
    let rest = nodes(body.tets(), |p| p);
    let all = nodes(body.tets(), |p| p + DVec3::new(0.0, 0.3, 0.0));
    assert!((judge.kinetic_energy(&rest, &all, 0.1).unwrap() - 4.5).abs() < 1e-5);
    // The tip of the tet of 1/6 has a quarter of that, 1/24 of the whole 1/2.
    let tip = nodes(body.tets(), |p| if p == DVec3::ZERO { DVec3::X } else { p });
    assert!((judge.kinetic_energy(&rest, &tip, 1.0).unwrap() - 0.5 / 12.0).abs() < 1e-6);
    assert_eq!(judge.kinetic_energy(&rest, &all, 0.0), None);
    assert_eq!(judge.kinetic_energy(&rest[1..], &all, 0.1), None);
}

#[test]
fn broken_nodes_are_not_measured() {
    let (limb, body) = pair();
    let judge = TetJudge::new(&limb, &body);
    let mut broken = nodes(body.tets(), |p| p);
    assert!(judge.frame(&pose(&limb, &REST), &broken[1..]).is_none());
    broken[2][1] = f32::NAN;
    assert!(judge.frame(&pose(&limb, &REST), &broken).is_none());
}

#[test]
fn a_piece_without_skin_goes_with_the_nearest() {
    // The second piece lies far below the limb's lower end, which joint 0 carries.
    let limb = limb(&limb_mesh());
    let far = Vec3::new(0.0, -50.0, 0.0);
    let mut corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    corners.extend(corners.clone().iter().map(|p| *p + far));
    let mesh = TetMesh::new(corners, vec![[0, 1, 2, 3], [4, 5, 6, 7]]).unwrap();
    // Skin in the first piece alone.
    let body = Body::of_tets(mesh, &[Vec3::splat(0.1)]);
    let m = frame(&limb, &body, &[scaled(2.0); 2], |p| 2.0 * p);
    assert!(m.volume_error_percent.unwrap() < 1e-3, "{m:?}");
}

#[test]
fn a_record_has_both_skin_and_tets() {
    let (limb, body) = fleshed();
    let (judge, tets) = (Judge::new(&limb, Options::default()), TetJudge::new(&limb, &body));
    let mut record = judge.record(Some(&tets));
    for (k, s) in [1.0, 1.1, 0.9].into_iter().enumerate() {
        let moved = nodes(body.tets(), |p| s * p);
        let skin: Vec<Vec3> = limb.rest_positions().iter().map(|p| *p * s as f32).collect();
        record.frame(0.1 * k as f64, &pose(&limb, &REST), &skin, Some(&moved)).residual = Some(k as f64);
    }
    let summary = record.finish();
    let error = summary.tet_volume_error_percent.unwrap();
    assert!((error.max - 33.1).abs() < 1e-3 && (error.mean - (33.1 + 27.1) / 3.0).abs() < 1e-3, "{error:?}");
    assert!((summary.min_det_f.unwrap() - 0.729).abs() < 1e-2);
    assert_eq!((summary.inverted_tets_max, summary.residual_mean), (Some(0), Some(1.0)));
    assert_eq!(summary.volume_source, Some(VolumeSource::Skin));
    assert!(summary.tet_kinetic_energy_max.unwrap() > 0.0 && summary.flagged_frames.is_empty());
    // By linear blend skinning it would not have moved: all of its motion is against that.
    let diagonal = limb.diagonal();
    let farthest = limb.rest_positions().iter().map(|p| p.length()).fold(0.0, f32::max);
    assert!((summary.lbs_distance_max.unwrap() - 0.1 * f64::from(farthest) / diagonal).abs() < 1e-6);
    let (all, jiggle) = (summary.kinetic_energy_max.unwrap(), summary.jiggle_energy_max.unwrap());
    assert!((all / jiggle - 1.0).abs() < 1e-9);
}

#[test]
fn skin_that_goes_with_its_bones_does_not_jiggle() {
    let limb = limb(&limb_mesh());
    let judge = Judge::new(&limb, Options::default());
    let mut record = judge.record(None);
    for degrees in [0.0, 40.0, 90.0] {
        let bend = [turn(DVec3::X, degrees), turn(DVec3::X, degrees) * turn(DVec3::Z, degrees)];
        record.frame(degrees, &pose(&limb, &bend), &skinned(&limb, &bend), None);
    }
    let summary = record.finish();
    assert!(summary.lbs_distance_max.unwrap() < 1e-6, "{:?}", summary.lbs_distance_max);
    assert!(summary.jiggle_energy_max.unwrap() < 1e-9 * summary.kinetic_energy_max.unwrap());
}

#[test]
fn an_open_skin_takes_its_volume_from_the_tets() {
    let open = limb(&tube(2.0, 0.5, 8, 12, false));
    let corners = [DVec3::new(0.0, -2.0, 0.0), DVec3::X, DVec3::Z, DVec3::Y].map(|p| p.as_vec3());
    let body = Body::of_tets(
        TetMesh::new(corners.to_vec(), vec![[0, 1, 2, 3]]).unwrap(),
        open.surface().positions(),
    );
    let (judge, tets) = (Judge::new(&open, Options::default()), TetJudge::new(&open, &body));
    let mut record = judge.record(Some(&tets));
    let grown = nodes(body.tets(), |p| DMat3::from_diagonal(DVec3::new(1.0, 1.0, 1.2)) * p);
    record.frame(0.0, &pose(&open, &REST), &open.rest_positions(), Some(&grown));
    let summary = record.finish();
    assert_eq!(summary.volume_source, Some(VolumeSource::Tets));
    assert!((summary.volume_error_percent.unwrap().max - 20.0).abs() < 1e-4);
    assert!(summary.warnings.iter().any(|w| w.contains("tet body")), "{:?}", summary.warnings);
}

#[test]
fn held_nodes_and_inverted_tets_flag_a_frame() {
    let (limb, body) = pair();
    let (judge, tets) = (Judge::new(&limb, Options::default()), TetJudge::new(&limb, &body));
    let mut record = judge.record(Some(&tets));
    let (rest, asked) = (nodes(body.tets(), |p| p), pose(&limb, &REST));
    let turned = nodes(body.tets(), |p| if p == DVec3::ZERO { DVec3::splat(0.5) } else { p });
    let skin = limb.rest_positions();
    record.frame(0.0, &asked, &skin, Some(&rest));
    record.frame(0.1, &asked, &skin, Some(&turned));
    record.frame(0.2, &asked, &skin, Some(&rest)).held = 2;
    record.frame(0.3, &asked, &skin, Some(&rest));
    assert_eq!(record.finish().flagged_frames, [1, 2]);
}
