//! Skin that has passed through itself is parted, and nothing pops.

mod volume_common;

use pliant::asset::Character;
use pliant::glam::Vec3;
use pliant::method::{Settings, Shape};
use pliant::rig::{Motion, Playback, Pose};
use pliant::simd::Path;
use volume_common::{farthest, judge, prepare, sample, with_overlap};

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

/// Elbow and knee at 150 degrees: nine in ten pairs that cross are parted, after any skinning.
#[test]
fn folds_are_parted() {
    for name in ["arm", "leg"] {
        let character = sample(name, None);
        let (before, _) = crossings(&character, "lbs", &with_overlap(false), 2.0);
        assert!(before > 100, "{name}: {before}");
        for method in ["lbs", "volume"] {
            let (after, _) = crossings(&character, method, &with_overlap(true), 2.0);
            assert!(10 * after <= before, "{name} by {method}: {before} -> {after}");
        }
    }
}

/// Where nothing crosses nothing is touched.
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
        for (motion, seconds) in [(&rest as &dyn Motion, 0.0), (&motion, 0.4)] {
            let (parted, count) = run(true, motion, seconds);
            assert_eq!(count, Some(0), "{method} at {seconds} s");
            assert_eq!(parted, run(false, motion, seconds).0);
        }
    }
}

/// Steps of a hundredth of the bend: no vertex goes much farther than its limb's fastest.
#[test]
fn nothing_pops() {
    for name in ["arm", "leg"] {
        let character = sample(name, Some(2000));
        let motion = bend(&character);
        let speeds = |method: &str, on: bool| {
            let deformer = prepare(method, &character, &with_overlap(on), Path::best());
            let mut instance = deformer.instance();
            let mut shape = Shape::rest(&character);
            let mut before: Vec<Vec3> = Vec::new();
            let mut most = 0f64;
            for step in 0..=200 {
                instance.step(&motion, f64::from(step) * 0.01, &mut shape, &mut |_| {});
                if step > 0 {
                    most = most.max(farthest(&before, &shape.positions));
                }
                before.clone_from(&shape.positions);
            }
            most
        };
        let plain = speeds("lbs", false);
        for method in ["lbs", "volume"] {
            let parted = speeds(method, true);
            assert!(parted < 1.5 * plain, "{name} by {method}: {parted} a step, {plain} without");
        }
    }
}
