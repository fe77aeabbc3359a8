//! Skin that has passed through itself is parted, and nothing pops.

mod measure_bodies;
mod volume_common;

use pliant::asset::Character;
use pliant::glam::{DAffine3, DVec3, Vec3};
use pliant::method::{Settings, Shape};
use pliant::rig::{Motion, Playback, Pose};
use pliant::simd::Path;
use volume_common::{farthest, judge, prepare, sample, skin, turned, with_overlap};

fn bend(character: &Character) -> Playback<'_> {
    Playback::once(character, character.clips().iter().find(|c| c.name() == "bend"))
}

fn crossings(character: &Character, method: &str, settings: &Settings, seconds: f64) -> (usize, usize) {
    let motion = bend(character);
    let deformer = prepare(method, character, settings, Path::best());
    let mut shape = Shape::rest(character);
    deformer.instance().step(&motion, seconds, &mut shape, &mut |_| {});
    let mut pose = Pose::default();
    motion.pose(seconds, &mut pose);
    let found = judge(character, true).frame(&pose, &shape.positions).self_intersections.unwrap();
    (found.adjacent, found.other)
}

/// Elbow, knee and fist, on the way and at 150 degrees: nine in ten pairs that cross are parted, after any skinning.
#[test]
fn folds_are_parted() {
    for (name, seconds) in ["arm", "leg", "hand"].into_iter().flat_map(|name| [(name, 1.0), (name, 2.0)]) {
        let character = sample(name, None);
        let (before, _) = crossings(&character, "lbs", &with_overlap(false), seconds);
        assert!(before > 100, "{name}: {before}");
        for method in ["lbs", "volume"] {
            let (after, _) = crossings(&character, method, &with_overlap(true), seconds);
            assert!(10 * after <= before, "{name} at {seconds} s by {method}: {before} -> {after}");
        }
    }
}

/// Flesh that gives volume back does not go through itself where the skin had not, up to where it is about to; nor, a little
/// later, where it was parted.
#[test]
fn mild_bends_do_not_cross() {
    for (name, seconds, later) in [("arm", 0.4, 0.7), ("leg", 0.5, 0.8), ("hand", 0.8, 0.9)] {
        let character = sample(name, None);
        let all = [("lbs", false, seconds), ("volume", false, seconds), ("volume", true, seconds)];
        for (method, parts, seconds) in all.into_iter().chain([("volume", true, later)]) {
            let found = crossings(&character, method, &with_overlap(parts), seconds);
            assert_eq!(found, (0, 0), "{name} by {method} at {seconds} s, overlaps parted: {parts}");
        }
    }
}

/// Where nothing crosses nothing is moved, or next to nothing.
#[test]
fn sound_skin_is_left_alone() {
    let character = sample("arm", None);
    let rest = Pose::rest(&character);
    for method in ["lbs", "dqs"] {
        let run = |on: bool, motion: &dyn Motion, seconds: f64| {
            let mut shape = Shape::rest(&character);
            let deformer = prepare(method, &character, &with_overlap(on), Path::best());
            let health = deformer.instance().step(motion, seconds, &mut shape, &mut |_| {});
            (shape.positions, health.parted)
        };
        let motion = bend(&character);
        let (parted, count) = run(true, &rest, 0.0);
        assert_eq!(count, Some(0), "{method} at rest");
        assert_eq!(parted, run(false, &rest, 0.0).0);
        // Flesh beside the fold gives way a little before it meets.
        let moved = farthest(&run(true, &motion, 0.2).0, &run(false, &motion, 0.2).0);
        assert!(moved < 5e-3 * character.diagonal(), "{method}: {moved}");
    }
}

/// A hip's bone, shorter than the trunk is thick and askew in it: a bow by 20 degrees is no fold.
#[test]
fn trunks_on_short_bones_are_not_pressed_in() {
    let mesh = measure_bodies::limb_mesh();
    let hips = DVec3::new(0.0, -0.25, -0.3);
    let trunk =
        measure_bodies::character(&mesh, &[hips, DVec3::ZERO], DVec3::Y * measure_bodies::HALF, |_, p| {
            measure_bodies::blend(p)
        });
    let bow = DAffine3::from_rotation_x(-20f64.to_radians());
    let pose = measure_bodies::pose(&trunk, &[DAffine3::IDENTITY, bow]);
    let [on, off] = [true, false].map(|on| skin("lbs", &trunk, &with_overlap(on), &pose).0);
    let pressed = farthest(&on.positions, &off.positions);
    assert!(pressed < 0.02, "{pressed} radii");
}

/// A limb laid back onto itself, by two joints: its ends are parted. With armour around one of them they are left alone, for
/// what is known of a limb is one radius in each direction, and neither skin is there.
#[test]
fn what_has_armour_over_it_is_not_parted() {
    let flesh = measure_bodies::tube(6.0, 1.0, 96, 24, true);
    let mut armoured = flesh.clone();
    armoured.add(&measure_bodies::tube(2.2, 1.5, 36, 24, true).map(|p| p - DVec3::Y * 3.2));
    let joints = [-5.0, -0.7, 0.7].map(|y| DVec3::Y * y);
    let moved = |mesh: &measure_bodies::Mesh| {
        let limb = measure_bodies::character(mesh, &joints, DVec3::Y * 5.0, |_, p| {
            let [low, high] = [p.y + 0.7, p.y - 0.7].map(|y| (0.5 + y).clamp(0.0, 1.0) as f32);
            let mut own = vec![(0, 1.0 - low), (1, low - high), (2, high)];
            own.retain(|w| w.1 > 0.0);
            own.sort_by(|a, b| b.1.total_cmp(&a.1));
            own
        });
        let pose = turned(&limb, &[(1, DVec3::X, 85.0), (2, DVec3::X, 90.0)]);
        let [on, off] = [true, false].map(|on| skin("lbs", &limb, &with_overlap(on), &pose).0.positions);
        let ends = (0..on.len()).filter(|&v| mesh.positions[v].y.abs() > 2.5);
        ends.map(|v| on[v].distance(off[v])).fold(0.0, f32::max)
    };
    let bare = moved(&flesh);
    assert!(bare > 0.1, "{bare} radii");
    assert_eq!(moved(&armoured), 0.0);
}

/// Small steps of the bend: the skin that is parted is no faster than the limb's tip. Where limbs meet it may be, but then
/// goes less far in smaller steps: a pop would not.
#[test]
fn nothing_pops() {
    for name in ["arm", "leg", "hand"] {
        let character = sample(name, Some(2000));
        let motion = bend(&character);
        let farthest_step = |method: &str, on: bool, steps: u32| {
            let deformer = prepare(method, &character, &with_overlap(on), Path::best());
            let mut instance = deformer.instance();
            let mut shape = Shape::rest(&character);
            let mut before: Vec<Vec3> = Vec::new();
            let mut most = 0f64;
            for step in 0..=steps {
                let seconds = 2.0 * f64::from(step) / f64::from(steps);
                instance.step(&motion, seconds, &mut shape, &mut |_| {});
                if step > 0 {
                    most = most.max(farthest(&before, &shape.positions));
                }
                before.clone_from(&shape.positions);
            }
            most
        };
        let plain = farthest_step("lbs", false, 500);
        for method in ["lbs", "volume"] {
            let parted = farthest_step(method, true, 500);
            if name == "hand" {
                let finer = farthest_step(method, true, 2000);
                assert!(finer < 0.6 * parted, "{name} by {method}: {parted} a step, {finer} a quarter");
            } else {
                assert!(parted < 1.2 * plain, "{name} by {method}: {parted} a step, {plain} without");
            }
        }
    }
}

/// Both repairs turn normals with the skin that they move: what the skinning left is off by twice as much.
#[test]
fn normals_follow_the_skin() {
    for name in ["arm", "leg"] {
        let character = sample(name, None);
        let motion = bend(&character);
        let skin = |method: &str, overlap: bool| {
            let mut shape = Shape::rest(&character);
            let deformer = prepare(method, &character, &with_overlap(overlap), Path::best());
            deformer.instance().step(&motion, 1.0, &mut shape, &mut |_| {});
            shape
        };
        let (plain, kept) = (skin("lbs", false), skin("volume", true));
        let mut areas = vec![Vec3::ZERO; kept.positions.len()];
        for t in character.surface().triangles() {
            let [a, b, c] = t.map(|v| kept.positions[v as usize]);
            t.iter().for_each(|&v| areas[v as usize] += (b - a).cross(c - a));
        }
        let off = |normals: &[Vec3]| {
            let angles = areas.iter().zip(normals).map(|(area, normal)| area.angle_between(*normal));
            let all = angles.zip(plain.positions.iter().zip(&kept.positions));
            let moved = all.filter(|(angle, (a, b))| angle.is_finite() && a.distance(**b) > 0.0);
            moved.map(|(angle, _)| f64::from(angle)).sum::<f64>()
        };
        let (before, after) = (off(&plain.normals), off(&kept.normals));
        assert!(2.0 * after < before, "{name}: {before} -> {after}");
    }
}
