//! Seed 002, Figure 5: volume against the angle of a bend.

mod smooth_common;

use pliant::asset::Character;
use pliant::body::{Body, Fineness};
use pliant::glam::Vec3;
use pliant::measure::{Judge, Options};
use pliant::method::{Settings, Shape};
use pliant::rig::weights::{self, WeightKind};
use pliant::rig::{Motion, Playback, Pose};
use pliant::zoo;
use smooth_common::{angles, bent, change, held, off_centre_arm, played, sharpest};

/// Of linear blending, of the arc alone, and of the arc with the bulge.
fn curves(name: &str, degrees: &[f64]) -> (Character, Vec<[Shape; 3]>) {
    let character = zoo::character(name, None).expect("a sample");
    // The clip bends by 150 degrees at an even pace over a second and a half.
    let times: Vec<f64> = degrees.iter().map(|d| d / 100.0).collect();
    let made = weights::weigh_straight(&character, WeightKind::Angle).expect("weights");
    let bound = weights::bind(character.clone(), made).expect("bound");
    let plain = played(&bound, "lbs", &Settings::default(), "bend", &times);
    let arc = played(&character, "smooth", &angles(0.0), "bend", &times);
    let bulged = played(&character, "smooth", &angles(1.0), "bend", &times);
    let together = plain.into_iter().zip(arc).zip(bulged).map(|((plain, arc), bulged)| [plain, arc, bulged]);
    (character, together.collect())
}

/// Volume change in percent, flesh that crosses other flesh counted once.
fn change_once(character: &Character, positions: &[Vec3]) -> f64 {
    let volume = |positions: &[Vec3]| {
        let triangles = character.surface().triangles();
        let body = Body::of_skin(positions, triangles, Fineness::Tets(20_000), &mut |_| true);
        body.expect("a body").skin_volume()
    };
    100.0 * (volume(positions) / volume(character.surface().positions()) - 1.0)
}

#[test]
fn the_cylinder_keeps_its_volume() {
    let degrees: Vec<f64> = (2..=15).map(|d| f64::from(d) * 10.0).collect();
    let (character, curves) = curves("cylinder", &degrees);
    for (degrees, shapes) in degrees.iter().zip(curves) {
        let [plain, arc, bulged] = shapes.each_ref().map(|s| change(&character, &s.positions));
        assert!(plain < arc && arc < bulged, "order at {degrees}: {plain} {arc} {bulged}");
        assert!(bulged.abs() < 0.5, "{bulged} % at {degrees}");
    }
}

/// Linear, compensated, with bulge, in that order. Linear blending folds the inside of a bend through itself; the signed
/// volume counts what is crossed twice, so that from where the skin crosses itself only what is counted once compares.
fn in_order(name: &str, character: &Character, degrees: f64, shapes: &[Shape; 3]) {
    const CROSSED: f64 = 95.0;
    let signed = shapes.each_ref().map(|s| change(character, &s.positions));
    let once = match degrees > CROSSED {
        true => shapes.each_ref().map(|s| change_once(character, &s.positions)),
        false => signed,
    };
    let [[plain, arc, bulged], [plain_once, arc_once, bulged_once]] = [signed, once];
    println!(
        "{name} {degrees:4}: linear {plain:7.3} ({plain_once:7.3} once) compensated {arc:7.3} ({arc_once:7.3}) \
         with bulge {bulged:7.3} ({bulged_once:7.3}) %"
    );
    assert!(plain_once < arc_once && arc_once < bulged_once, "{name}: order at {degrees}: {once:?}");
    assert!(degrees > 90.0 || bulged.abs() < 0.5, "{name}: {bulged} % at {degrees}");
    assert!(degrees > 120.0 || bulged.abs() < 3.0, "{name}: {bulged} % at {degrees}");
}

/// As far as the ridge is not hard: its height is bounded, and so are its folds.
#[test]
fn an_arm_with_flesh_inside_the_bend_keeps_most_of_it() {
    for off in [0.2, 0.4] {
        let character = off_centre_arm([0.3, 0.24], off);
        let (none, full) = (angles(0.0), angles(1.0));
        for degrees in (2..=13).map(|d| f64::from(d) * 10.0).chain([135.0]) {
            let pose = bent(&character, degrees);
            let shapes = [("lbs", &none), ("smooth", &none), ("smooth", &full)]
                .map(|(method, settings)| held(&character, method, settings, &pose));
            in_order(&format!("{off} off-centre"), &character, degrees, &shapes);
            if degrees == 90.0 {
                // Between the caps, whose rims are sharp.
                let rest = character.surface().positions();
                let middle = |v: u32| (rest[v as usize].x - 1.0).abs() < 0.9;
                let sharp = [1, 2].map(|k| sharpest(&character, &shapes[k].positions, middle));
                println!("    sharpest folds: {:.1} without, {:.1} with the bulge", sharp[0], sharp[1]);
                assert!(sharp[1] < 96.0, "a hard ridge of {} degrees", sharp[1]);
            }
        }
    }
}

/// The built-in arm, whose muscles lie on both sides.
#[test]
fn the_built_in_arm_keeps_its_volume() {
    let degrees = [20.0, 40.0, 60.0, 80.0, 90.0, 100.0, 110.0, 120.0, 135.0];
    let (character, curves) = curves("arm", &degrees);
    for (&degrees, shapes) in degrees.iter().zip(&curves) {
        in_order("arm", &character, degrees, shapes);
        let bulged = change(&character, &shapes[2].positions);
        assert!(bulged.abs() < 0.5, "{bulged} % at {degrees}");
    }
}

fn smallest_section(character: &Character, settings: &Settings, time: f64) -> f64 {
    let shape = &played(character, "smooth", settings, "twist", &[time])[0];
    let clip = character.clips().iter().find(|c| c.name() == "twist");
    let mut pose = Pose::default();
    Playback::once(character, clip).pose(time, &mut pose);
    let judge = Judge::new(character, Options { self_intersections: false });
    let sections = judge.frame(&pose, &shape.positions).sections;
    sections.iter().map(|s| s.min).fold(f64::INFINITY, f64::min)
}

#[test]
fn half_a_turn_of_twist_does_not_wring_the_limb() {
    for name in ["cylinder", "arm"] {
        let character = zoo::character(name, None).expect("a sample");
        for settings in [Settings::default(), angles(1.0)] {
            for time in [0.75, 1.2, 1.5] {
                let smallest = smallest_section(&character, &settings, time);
                assert!(smallest > 0.95, "{name} at {time} s: {smallest}");
            }
        }
    }
}
