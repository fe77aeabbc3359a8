//! Volume, stretch, area, sections and energy of shapes whose measures are known.
#![allow(clippy::disallowed_methods)]
mod measure_bodies;

use measure_bodies::*;
use pliant::asset::Morph;
use pliant::glam::{DAffine3, DVec3, Vec3};
use pliant::measure::{FrameMeasures, Judge, Options, VolumeSource};
use proptest::prelude::*;

const REST: [DAffine3; 2] = [DAffine3::IDENTITY; 2];

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

fn assert_unchanged(m: &FrameMeasures, tolerance: f64) {
    assert!(m.volume_error_percent.unwrap() < 100.0 * tolerance, "{m:?}");
    let stretch = m.edge_stretch.unwrap();
    assert!(close(stretch.max, 1.0, tolerance) && close(stretch.p99, 1.0, tolerance), "{m:?}");
    let (area, section) = (m.area_ratio.unwrap(), m.section().unwrap());
    assert!(close(area.min, 1.0, tolerance) && close(area.max, 1.0, tolerance), "{m:?}");
    assert!(close(section.min, 1.0, tolerance) && close(section.max, 1.0, tolerance), "{m:?}");
    let crossings = m.self_intersections.unwrap();
    assert_eq!((crossings.adjacent, crossings.other), (0, 0));
}

/// No joint is scaled, so growth by `s` must show as growth.
fn assert_grown(m: &FrameMeasures, s: f64) {
    assert!(close(m.volume_error_percent.unwrap(), 100.0 * (s * s * s - 1.0).abs(), 1e-2), "{m:?}");
    assert!(close(m.edge_stretch.unwrap().max, s, 1e-4) && close(m.edge_stretch.unwrap().p99, s, 1e-4));
    let (area, section) = (m.area_ratio.unwrap(), m.section().unwrap());
    assert!(close(area.min, s * s, 1e-4) && close(area.max, s * s, 1e-4), "{m:?}");
    assert!(close(section.min, s * s, 1e-4) && close(section.max, s * s, 1e-4), "{m:?}");
}

#[test]
fn a_box_and_a_ball_have_their_volumes() {
    // Four sides of a tube stretched along one axis by 1.5: half as much volume again.
    let brick = limb(&tube(2.0, 1.0, 2, 4, true));
    let judge = Judge::new(&brick, Options::default());
    let wide = moved(&brick, |p| DVec3::new(1.5 * p.x, p.y, p.z));
    let error = judge.frame(&pose(&brick, &REST), &wide).volume_error_percent.unwrap();
    assert!(close(error, 50.0, 1e-3), "{error}");

    let ball = limb(&sphere(DVec3::new(3.0, 1.0, -2.0), 2.0, 20, 30));
    let judge = Judge::new(&ball, Options::default());
    let shrunk = moved(&ball, |p| DVec3::new(3.0, 1.0, -2.0) + 0.9 * (p - DVec3::new(3.0, 1.0, -2.0)));
    let error = judge.frame(&pose(&ball, &REST), &shrunk).volume_error_percent.unwrap();
    assert!(close(error, 27.1, 1e-3), "{error}");
}

#[test]
fn rest_is_perfect() {
    let body = limb(&limb_mesh());
    let judge = Judge::new(&body, Options::default());
    assert!(judge.warnings().is_empty(), "{:?}", judge.warnings());
    assert_eq!(judge.volume_source(), Some(VolumeSource::Skin));
    let rest = judge.frame(&pose(&body, &REST), &body.rest_positions());
    assert_unchanged(&rest, 1e-6);
    // The elbow; the root ends no bone.
    assert_eq!(rest.sections.iter().map(|s| s.joint).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_split_skin_measures_like_a_welded_one() {
    let (whole, split) = (limb_mesh(), limb_mesh().unindexed());
    let bend = [DAffine3::IDENTITY, turn(DVec3::Z, 70.0)];
    let measure = |mesh: &Mesh| {
        let body = limb(mesh);
        Judge::new(&body, Options::default()).frame(&pose(&body, &bend), &skinned(&body, &bend))
    };
    let (a, b) = (measure(&whole), measure(&split));
    assert!(close(a.volume_error_percent.unwrap(), b.volume_error_percent.unwrap(), 1e-9));
    assert!(close(a.edge_stretch.unwrap().p99, b.edge_stretch.unwrap().p99, 1e-12));
    assert!(close(a.section().unwrap().min, b.section().unwrap().min, 1e-12));
    assert_eq!(a.self_intersections, b.self_intersections);
}

#[test]
fn a_bend_by_blending_loses_the_cosine() {
    // Half of each matrix: the section in the plane of the bend shrinks by cos(angle / 2).
    for degrees in [30.0f64, 90.0, 120.0] {
        let body = limb(&limb_mesh());
        let bend = [DAffine3::IDENTITY, turn(DVec3::Z, degrees)];
        let judge = Judge::new(&body, Options::default());
        let m = judge.frame(&pose(&body, &bend), &skinned(&body, &bend));
        let expected = (degrees / 2.0).to_radians().cos();
        let section = m.section().unwrap();
        assert!(close(section.min, expected, 0.01), "{degrees}: {section:?}, expected {expected}");
        assert!(m.volume_error_percent.unwrap() > 0.3, "{m:?}");
    }
}

#[test]
fn a_perfect_bend_keeps_its_sections() {
    // Each ring stays a flat circle, square to an arc of radius 3 that goes on straight: nothing collapses.
    let body = limb(&tube(HALF, 1.0, 80, 48, true));
    let (radius, half_angle) = (3.0, 45.0f64.to_radians());
    let arc = |p: DVec3| {
        let angle = (p.y / radius).clamp(-half_angle, half_angle);
        let beyond = p.y - angle * radius;
        let (sin, cos) = angle.sin_cos();
        let centre = DVec3::new(radius * (1.0 - cos), radius * sin, 0.0) + beyond * DVec3::new(sin, cos, 0.0);
        centre + p.x * DVec3::new(cos, -sin, 0.0) + p.z * DVec3::Z
    };
    let judge = Judge::new(&body, Options::default());
    let m = judge.frame(&pose(&body, &REST), &moved(&body, arc));
    let section = m.section().unwrap();
    assert!(section.min > 0.99 && section.max < 1.001, "{section:?}");
    // Pappus: bending about the centre line keeps the volume.
    assert!(m.volume_error_percent.unwrap() < 0.2, "{m:?}");
    // Outside the arc is longer by 1 + r / R.
    assert!(close(m.edge_stretch.unwrap().max, 1.0 + 1.0 / radius, 0.02), "{m:?}");
}

#[test]
fn a_candy_wrapper_shows() {
    let body = limb(&limb_mesh());
    let judge = Judge::new(&body, Options::default());
    for (degrees, at_most) in [(180.0, 0.02), (150.0, 0.1)] {
        let twist = [DAffine3::IDENTITY, turn(DVec3::Y, degrees)];
        let m = judge.frame(&pose(&body, &twist), &skinned(&body, &twist));
        assert!(m.section().unwrap().min < at_most, "{degrees}: {m:?}");
        let heat = judge.volume_field(&pose(&body, &twist), &skinned(&body, &twist));
        assert!(heat.iter().any(|&h| h < -0.8) && heat.iter().all(|&h| h < 0.2));
    }
    // Twisted with its radius kept, no section shrinks.
    let whole = moved(&body, |p| turn(DVec3::Y, 45.0 * p.y.clamp(-1.0, 1.0)).transform_point3(p));
    let section = judge.frame(&pose(&body, &REST), &whole).section().unwrap();
    assert!(section.min > 0.97 && section.max < 1.001, "{section:?}");
}

#[test]
fn a_bulge_shows_above_one() {
    let body = limb(&limb_mesh());
    let judge = Judge::new(&body, Options::default());
    let swell = |p: DVec3| {
        let s = 1.0 + 0.2 * (1.0 - p.y * p.y).max(0.0);
        DVec3::new(p.x * s, p.y, p.z * s)
    };
    let m = judge.frame(&pose(&body, &REST), &moved(&body, swell));
    assert!(close(m.section().unwrap().max, 1.44, 0.01), "{m:?}");
    let heat = judge.volume_field(&pose(&body, &REST), &moved(&body, swell));
    assert!(heat.iter().any(|&h| h > 0.3), "the swelling shows");
    assert!(heat.iter().zip(body.rest_positions()).all(|(h, p)| p.y.abs() < 1.3 || h.abs() < 1e-4));
}

#[test]
fn an_open_skin_has_no_volume_and_says_so() {
    let body = limb(&tube(HALF, 1.0, 20, 12, false));
    let judge = Judge::new(&body, Options::default());
    assert_eq!(judge.volume_source(), None);
    assert!(judge.warnings().iter().any(|w| w.contains("edges: 24,")), "{:?}", judge.warnings());
    let m = judge.frame(&pose(&body, &REST), &body.rest_positions());
    assert_eq!(m.volume_error_percent, None);
    assert!(close(m.section().unwrap().min, 1.0, 1e-6), "slices need no caps");

    // With a small closed ball inside the skin is still open; with a small open patch outside it is not.
    let mut eyes = tube(HALF, 1.0, 20, 12, false);
    eyes.add(&sphere(DVec3::Y, 0.3, 6, 8));
    assert_eq!(Judge::new(&limb(&eyes), Options::default()).volume_source(), None);
    let mut patched = limb_mesh();
    patched.add(&Mesh {
        positions: vec![DVec3::X * 2.0, DVec3::X * 3.0, DVec3::Z * 2.0],
        triangles: vec![[0, 1, 2]],
    });
    let judge = Judge::new(&limb(&patched), Options::default());
    assert_eq!(judge.volume_source(), Some(VolumeSource::Skin));
    assert!(judge.warnings().iter().any(|w| w.contains("1 of 2 pieces") && w.contains("edges: 3,")));
}

#[test]
fn a_piece_inside_out_counts_like_the_others() {
    let mut mesh = limb_mesh();
    let mut ball = sphere(DVec3::X * 6.0, 2.0, 8, 12);
    ball.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    mesh.add(&ball);
    let body = limb(&mesh);
    let judge = Judge::new(&body, Options::default());
    assert_grown(&judge.frame(&pose(&body, &REST), &moved(&body, |p| p * 1.1)), 1.1);
}

#[test]
fn the_loop_around_the_bone_is_the_one_measured() {
    // A second, shrinking limb beside the first, and a sleeve around it: neither is the flesh around the bone.
    let mut mesh = limb_mesh();
    mesh.add(&tube(HALF, 1.0, 20, 12, true).map(|p| p + DVec3::X * 5.0));
    mesh.add(&tube(2.0, 1.5, 10, 12, true));
    let body = limb(&mesh);
    let judge = Judge::new(&body, Options::default());
    let inner = |p: DVec3| DVec3::new(p.x, 0.0, p.z).length() < 1.01;
    let squeezed = moved(&body, |p| if inner(p) { p } else { DVec3::new(p.x * 0.5, p.y, p.z * 0.5) });
    let section = judge.frame(&pose(&body, &REST), &squeezed).section().unwrap();
    assert!(close(section.min, 1.0, 1e-6) && close(section.max, 1.0, 1e-6), "{section:?}");
}

/// Beads on a string, each with a joint: slices look at what is near, not at all there is.
#[test]
fn a_thousand_joints_are_sliced_in_time() {
    let count = 1000;
    let place = |k: usize| DVec3::X * 3.0 * k as f64;
    let mut mesh = Mesh::default();
    (0..count).for_each(|k| mesh.add(&sphere(place(k), 1.0, 9, 14)));
    let per_bead = mesh.positions.len() / count;
    let joints: Vec<_> = (0..count).map(place).collect();
    let body = character(&mesh, &joints, place(count), |v, _| vec![((v / per_bead) as u16, 1.0)]);
    let start = std::time::Instant::now();
    let judge = Judge::new(&body, Options { self_intersections: false });
    let grown = moved(&body, |p| p * 2.0);
    let sections = judge.frame(&pose(&body, &vec![DAffine3::IDENTITY; count]), &grown).sections;
    // Sixteen slices of every joint through all 220000 triangles would take minutes unoptimised.
    assert!(start.elapsed() < std::time::Duration::from_secs(30), "{:?}", start.elapsed());
    assert_eq!(sections.len(), count - 1);
    assert!(sections.iter().all(|s| close(s.min, 4.0, 1e-4) && close(s.max, 4.0, 1e-4)));
}

/// All bones from one point: every slice meets every bone.
#[test]
fn a_crowd_of_joints_is_given_up_on_and_counted() {
    let count = 3000;
    let place = |k: usize| DVec3::X * 1e-3 * k as f64;
    let mut mesh = Mesh::default();
    (0..count).for_each(|k| mesh.add(&sphere(place(k), 10.0, 6, 8)));
    let per_bead = mesh.positions.len() / count;
    let joints: Vec<_> = (0..count).map(place).collect();
    let body = character(&mesh, &joints, place(count), |v, _| vec![((v / per_bead) as u16, 1.0)]);
    let start = std::time::Instant::now();
    let judge = Judge::new(&body, Options { self_intersections: false });
    assert!(start.elapsed() < std::time::Duration::from_secs(60), "{:?}", start.elapsed());
    let warning = judge.warnings().iter().find(|w| w.contains("left out")).expect("a warning");
    let left_out: usize = warning.split_whitespace().find_map(|w| w.parse().ok()).expect("a count");
    assert!((1..count).contains(&left_out), "{warning}");
    let sections = judge.frame(&pose(&body, &vec![DAffine3::IDENTITY; count]), &moved(&body, |p| p)).sections;
    assert!(sections.len() <= count - left_out);
}

#[test]
fn a_control_that_moves_no_skin_has_no_sections() {
    let joints = [DVec3::Y * -HALF, DVec3::ZERO, DVec3::Y * 2.0];
    let body = character(&limb_mesh(), &joints, DVec3::Y * HALF, |_, p| blend(p));
    let judge = Judge::new(&body, Options::default());
    let m = judge.frame(&pose(&body, &[DAffine3::IDENTITY; 3]), &body.rest_positions());
    assert_eq!(m.sections.iter().map(|s| s.joint).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_trunk_is_not_taken_for_a_limb() {
    // From y = -1 on down the body is five times as wide: those slices do not count as the limb's.
    let widen = |p: DVec3| if p.y < -0.99 { DVec3::new(5.0 * p.x, p.y, 5.0 * p.z) } else { p };
    let body = limb(&limb_mesh().map(widen));
    let judge = Judge::new(&body, Options::default());
    let below = |p: DVec3| if p.y < -0.99 { p * DVec3::new(0.1, 1.0, 0.1) } else { p };
    let section = judge.frame(&pose(&body, &REST), &moved(&body, below)).section().unwrap();
    assert!(section.min > 0.15, "{section:?}");
    let trunk_alone = |p: DVec3| if p.y < -1.2 { p * DVec3::new(0.1, 1.0, 0.1) } else { p };
    let section = judge.frame(&pose(&body, &REST), &moved(&body, trunk_alone)).section().unwrap();
    assert!(close(section.min, 1.0, 1e-6), "{section:?}");
}

#[test]
fn scaled_joints_scale_what_is_expected() {
    let body = limb(&limb_mesh());
    let judge = Judge::new(&body, Options::default());
    for s in [0.5, 2.0] {
        let scale = DAffine3::from_scale(DVec3::splat(s));
        let all = [scale, scale];
        assert_unchanged(&judge.frame(&pose(&body, &all), &skinned(&body, &all)), 1e-5);
        assert_grown(&judge.frame(&pose(&body, &REST), &skinned(&body, &all)), s);
        let heat = judge.volume_field(&pose(&body, &all), &skinned(&body, &all));
        assert!(heat.iter().all(|h| h.abs() < 1e-4));
    }
    // A mirrored joint turns volume inside out, as it should.
    let mirror = [DAffine3::from_scale(DVec3::new(-1.0, 1.0, 1.0)); 2];
    assert_unchanged(&judge.frame(&pose(&body, &mirror), &skinned(&body, &mirror)), 1e-5);
    // A skin turned inside out that nobody asked for is 200 % wrong.
    let error = judge.frame(&pose(&body, &REST), &skinned(&body, &mirror)).volume_error_percent.unwrap();
    assert!(close(error, 200.0, 1e-3));
    // Joints scaled to nothing hide a body: nothing to compare with, nothing to panic about.
    let gone = [DAffine3::from_scale(DVec3::ZERO); 2];
    let m = judge.frame(&pose(&body, &gone), &skinned(&body, &gone));
    assert_eq!((m.volume_error_percent, m.edge_stretch, m.area_ratio, m.section()), (None, None, None, None));
}

#[test]
fn a_morph_is_no_stretch() {
    let mesh = limb_mesh();
    let swell = Morph {
        name: "swell".into(),
        vertices: (0..mesh.positions.len() as u32).collect(),
        positions: mesh.positions.iter().map(|p| Vec3::new(p.x as f32, 0.0, p.z as f32) * 0.5).collect(),
        normals: vec![Vec3::ZERO; mesh.positions.len()],
        default_weight: 0.0,
    };
    let body = raw(&mesh, &[DVec3::Y * -HALF, DVec3::ZERO], DVec3::Y * HALF, |_, p| blend(p), vec![swell]);
    let judge = Judge::new(&body, Options::default());
    let swollen = moved(&body, |p| DVec3::new(1.5 * p.x, p.y, 1.5 * p.z));
    let mut asked = pose(&body, &REST);
    assert!(judge.frame(&asked, &swollen).volume_error_percent.unwrap() > 100.0);
    asked.morph_weights = vec![1.0];
    assert_unchanged(&judge.frame(&asked, &swollen), 1e-5);
    assert!(judge.stretch(&asked, &swollen).iter().all(|s| s.abs() < 1e-5));
    assert!(judge.volume_field(&asked, &swollen).iter().all(|s| s.abs() < 1e-4));
}

#[test]
fn heat_of_growth_is_growth() {
    let body = limb(&limb_mesh());
    let judge = Judge::new(&body, Options::default());
    let grown = moved(&body, |p| p * 1.2);
    assert!(judge.stretch(&pose(&body, &REST), &grown).iter().all(|s| close(f64::from(*s), 0.2, 1e-4)));
    // The apex on the bone grows with the body only where the bone starts at the origin: at the cap it stays behind.
    let long = moved(&body, |p| DVec3::new(1.2 * p.x, p.y, 1.2 * p.z));
    let heat = judge.volume_field(&pose(&body, &REST), &long);
    assert!(
        heat.iter()
            .zip(body.rest_positions())
            .all(|(&h, p)| { p.y.abs() > 4.7 || close(f64::from(h), 0.44, 1e-3) })
    );
    assert_eq!(heat.len(), body.surface().positions().len());
}

#[test]
fn energy_is_half_the_square_of_speed() {
    let body = limb(&limb_mesh());
    let judge = Judge::new(&body, Options { self_intersections: false });
    let mut record = judge.record(None);
    for frame in 0..4 {
        let time = f64::from(frame) / 30.0;
        let at = moved(&body, |p| p + DVec3::X * 3.0 * time);
        let m = record.frame(time, &pose(&body, &REST), &at, None);
        assert_eq!(m.self_intersections, None);
        assert_eq!(m.kinetic_energy.is_none(), frame == 0);
    }
    let summary = record.finish();
    assert!(close(summary.kinetic_energy_max.unwrap(), 4.5, 1e-3), "{summary:?}");
    assert_eq!(summary.frames.len(), 4);
    let mut single = judge.record(None);
    single.frame(0.0, &pose(&body, &REST), &body.rest_positions(), None);
    assert_eq!(single.finish().kinetic_energy_max, None);
}

#[test]
fn a_summary_is_the_worst_of_its_frames() {
    let body = limb(&limb_mesh());
    let judge = Judge::new(&body, Options::default());
    let mut record = judge.record(None);
    for (frame, s) in [1.0, 1.2, 0.9].into_iter().enumerate() {
        record.frame(frame as f64, &pose(&body, &REST), &moved(&body, |p| p * s), None);
    }
    let summary = record.finish();
    let volume = summary.volume_error_percent.unwrap();
    assert!(close(volume.max, 72.8, 1e-2) && close(volume.mean, (72.8 + 27.1) / 3.0, 1e-2), "{volume:?}");
    assert!(close(summary.edge_stretch.unwrap().max, 1.2, 1e-4));
    let (area, section) = (summary.area_ratio.unwrap(), summary.section.unwrap());
    assert!(close(area.min, 0.81, 1e-4) && close(area.max, 1.44, 1e-4), "{area:?}");
    assert!(close(section.min, 0.81, 1e-4) && close(section.max, 1.44, 1e-4), "{section:?}");
    assert_eq!(summary.sections.len(), 1);
    assert!(summary.flagged_frames.is_empty());
    assert_eq!((summary.min_det_f, summary.inverted_tets_max, summary.residual_mean), (None, None, None));
}

#[test]
fn the_percentile_lies_between_edges() {
    // A tube with one ring of long edges: fewer than one in a hundred, so that they are the maximum and not p99.
    let body = limb(&tube(HALF, 1.0, 200, 12, true));
    let judge = Judge::new(&body, Options { self_intersections: false });
    let m = judge.frame(&pose(&body, &REST), &moved(&body, |p| if p.y > 0.01 { p + DVec3::Y } else { p }));
    let stretch = m.edge_stretch.unwrap();
    assert!(stretch.max > 10.0 && close(stretch.p99, 1.0, 1e-4), "{stretch:?}");
}

#[test]
fn broken_frames_are_flagged_and_nothing_panics() {
    let body = limb(&limb_mesh());
    let judge = Judge::new(&body, Options::default());
    let mut broken = body.rest_positions();
    broken[7].x = f32::NAN;
    let mut record = judge.record(None);
    record.frame(0.0, &pose(&body, &REST), &body.rest_positions(), None);
    assert_eq!(record.frame(0.1, &pose(&body, &REST), &broken, None).non_finite, 1);
    assert!(record.frame(0.2, &Default::default(), &[], None).non_finite > 0);
    record.frame(0.3, &Default::default(), &body.rest_positions(), None);
    let summary = record.finish();
    assert_eq!(summary.flagged_frames, [1, 2]);
    assert_eq!(summary.warnings.len(), 1);
    assert!(judge.stretch(&pose(&body, &REST), &[]).iter().all(|&s| s == 0.0));

    let empty = limb(&Mesh::default());
    let judge = Judge::new(&empty, Options::default());
    let m = judge.frame(&pose(&empty, &REST), &[]);
    assert_eq!((m.volume_error_percent, m.edge_stretch, m.section()), (None, None, None));
    let flat = Mesh { positions: vec![DVec3::ONE; 3], triangles: vec![[0, 1, 2], [0, 0, 1]] };
    let flat = limb(&flat);
    Judge::new(&flat, Options::default()).frame(&pose(&flat, &REST), &flat.rest_positions());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rigid_motion_is_no_deformation(
        axis in prop::array::uniform3(-1.0..1.0f64), degrees in -180.0..180.0f64,
        shift in prop::array::uniform3(-20.0..20.0f64),
    ) {
        prop_assume!(DVec3::from(axis).length() > 0.1);
        let body = limb(&limb_mesh());
        let judge = Judge::new(&body, Options::default());
        let motion = [DAffine3::from_translation(shift.into()) * turn(axis.into(), degrees); 2];
        let skin = skinned(&body, &motion);
        assert_unchanged(&judge.frame(&pose(&body, &motion), &skin), 1e-4);
        prop_assert!(judge.stretch(&pose(&body, &motion), &skin).iter().all(|s| s.abs() < 1e-4));
        prop_assert!(judge.volume_field(&pose(&body, &motion), &skin).iter().all(|s| s.abs() < 1e-3));
    }

    #[test]
    fn growth_is_measured(s in 0.2..3.0f64) {
        let body = limb(&limb_mesh());
        let judge = Judge::new(&body, Options { self_intersections: false });
        assert_grown(&judge.frame(&pose(&body, &REST), &moved(&body, |p| p * s)), s);
    }

    #[test]
    fn a_mirrored_scene_measures_the_same(degrees in 0.0..150.0f64, twist in -90.0..90.0f64) {
        let mirror = |p: DVec3| DVec3::new(-p.x, p.y, p.z);
        let left = limb(&limb_mesh());
        let right = limb(&limb_mesh().map(mirror));
        let moves = |sign: f64| [DAffine3::IDENTITY, turn(DVec3::Z, sign * degrees) * turn(DVec3::Y, sign * twist)];
        let a = Judge::new(&left, Options::default()).frame(&pose(&left, &moves(1.0)), &skinned(&left, &moves(1.0)));
        let b = Judge::new(&right, Options::default()).frame(&pose(&right, &moves(-1.0)), &skinned(&right, &moves(-1.0)));
        prop_assert!(close(a.volume_error_percent.unwrap(), b.volume_error_percent.unwrap(), 1e-4));
        prop_assert!(close(a.edge_stretch.unwrap().max, b.edge_stretch.unwrap().max, 1e-5));
        prop_assert!(close(a.area_ratio.unwrap().min, b.area_ratio.unwrap().min, 1e-5));
        prop_assert!(close(a.section().unwrap().min, b.section().unwrap().min, 1e-5));
        prop_assert!(close(a.section().unwrap().max, b.section().unwrap().max, 1e-5));
    }

    #[test]
    fn the_size_of_the_scene_does_not_matter(power in -3..4i32, degrees in 10.0..120.0f64) {
        let s = 10f64.powi(power);
        let measure = |s: f64| {
            let body = character(&limb_mesh().map(|p| p * s), &[DVec3::Y * -HALF * s, DVec3::ZERO], DVec3::Y * HALF * s, |_, p| blend(p / s));
            let bend = [DAffine3::IDENTITY, turn(DVec3::Z, degrees)];
            Judge::new(&body, Options { self_intersections: false }).frame(&pose(&body, &bend), &skinned(&body, &bend))
        };
        let (a, b) = (measure(1.0), measure(s));
        prop_assert!(close(a.volume_error_percent.unwrap(), b.volume_error_percent.unwrap(), 1e-3));
        prop_assert!(close(a.edge_stretch.unwrap().max, b.edge_stretch.unwrap().max, 1e-4));
        prop_assert!(close(a.section().unwrap().min, b.section().unwrap().min, 1e-4));
    }
}
