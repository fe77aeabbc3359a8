//! What settings may be, and what regions come to on a character.

use pliant::asset::{Character, Painted};
use pliant::glam::DVec3;
use pliant::method::{self, Place, PrepareError, Preset, Region, SOFTNESS, Settings, SettingsError, Setup};
use pliant::{simd, zoo};
use proptest::prelude::*;
use std::sync::LazyLock;

fn region(on: Place) -> Region {
    Region::new("r", on, Preset::Fat)
}

fn refused(change: impl FnOnce(&mut Settings)) -> SettingsError {
    let mut settings = Settings::default();
    change(&mut settings);
    settings.check().expect_err("it should be refused")
}

fn sphere(radius: f64, falloff: Option<f64>) -> Place {
    Place::Sphere { center: [0.0; 3], radius, falloff }
}

#[test]
fn defaults_are_sound() {
    assert_eq!(Settings::default().check(), Ok(()));
}

#[test]
fn numbers_out_of_range_are_refused_by_path() {
    let with = |r: Region| move |s: &mut Settings| s.regions = vec![region(Place::All), r];
    let cases: [(SettingsError, &str); 19] = [
        (refused(|s| s.method = Some("lps".into())), "method"),
        (refused(|s| s.body.tets = Some(3)), "body.tets"),
        (refused(|s| s.body.cell = Some(0.0)), "body.cell"),
        (refused(|s| (s.body.cell, s.body.tets) = (Some(0.1), Some(5000))), "body.cell"),
        (refused(|s| s.simulation.step = Some(f64::NAN)), "simulation.step"),
        (refused(|s| s.simulation.iterations = Some(0)), "simulation.iterations"),
        (refused(|s| s.simulation.volume_sweeps = Some(1 << 30)), "simulation.volume_sweeps"),
        (refused(|s| s.simulation.preroll = f64::INFINITY), "simulation.preroll"),
        (refused(|s| s.simulation.gravity = Some([0.0, f64::NAN, 0.0])), "simulation.gravity"),
        (refused(|s| s.simulation.metres_per_unit = Some(0.0)), "simulation.metres_per_unit"),
        (refused(|s| s.simulation.teleport = -1.0), "simulation.teleport"),
        (refused(|s| s.simulation.substeps = 0), "simulation.substeps"),
        (refused(|s| s.position.stretch = 1.1), "position.stretch"),
        (refused(|s| s.position.poisson = 0.5), "position.poisson"),
        (refused(with(Region { softness: Some(-0.1), ..region(Place::All) })), "region[1].softness"),
        (refused(with(Region { damping: Some(f64::NAN), ..region(Place::All) })), "region[1].damping"),
        (refused(with(Region { start: Some(2.0), end: Some(1.0), ..region(Place::All) })), "region[1].end"),
        (refused(with(region(sphere(0.0, None)))), "region[1].on.sphere.radius"),
        (refused(with(region(Place::Weights(vec![])))), "region[1].on.weights"),
    ];
    for (error, path) in cases {
        assert_eq!(error.path, path);
        assert!(error.to_string().starts_with(path) && !error.allowed.is_empty(), "{error}");
    }
    let many = refused(|s| s.regions = vec![region(Place::All); 257]);
    assert_eq!(many.path, "region");
}

#[test]
fn preparing_checks_too() {
    let character = zoo::character("cylinder", Some(500)).unwrap();
    let mut settings = Settings::default();
    settings.simulation.iterations = Some(0);
    let setup = Setup { path: simd::Path::best(), settings: &settings, tets: None, progress: &mut |_| true };
    let error = method::prepare("lbs", &character, setup).err();
    assert!(matches!(error, Some(PrepareError::Settings(e)) if e.path == "simulation.iterations"));
}

/// From the firmest to the softest: everything that moves flesh less goes down.
#[test]
fn presets_are_in_order_and_what_is_set_counts_more() {
    let tissues = [Preset::Firm, Preset::Muscle, Preset::Fat, Preset::Jelly].map(Preset::tissue);
    for pair in tissues.windows(2) {
        assert!(pair[0].softness <= pair[1].softness);
        assert!(pair[0].stretch > pair[1].stretch);
        assert!(pair[0].bind > pair[1].bind);
        assert!(pair[0].damping > pair[1].damping);
    }
    assert_eq!((tissues[0].softness, tissues[0].stretch, tissues[0].bind), (0.0, 1.0, 1.0));
    let jelly = Region { bind: Some(0.5), ..Region::new("", Place::All, Preset::Jelly) }.resolved();
    assert_eq!(jelly.bind, 0.5);
    assert_eq!(jelly.damping, Preset::Jelly.tissue().damping);
    let unsaid = Region { preset: None, ..region(Place::All) };
    assert_eq!(unsaid.resolved(), Preset::Fat.tissue());
}

fn arm() -> Character {
    zoo::character("cylinder", Some(1000)).unwrap()
}

#[test]
fn a_sphere_fades_smoothly_with_distance() {
    let character = arm();
    let center = character.surface().positions()[0].as_dvec3();
    let size = character.diagonal();
    let (radius, falloff) = (0.15 * size, 0.2 * size);
    let on = Place::Sphere { center: center.to_array(), radius, falloff: Some(falloff) };
    let choice = region(on).choice(&character).unwrap();
    let mut seen = [0; 3];
    for (p, c) in character.rest_positions().iter().zip(&choice) {
        let d = p.as_dvec3().distance(center);
        let t = (d - radius) / falloff;
        let expected = if t <= 0.0 {
            1.0
        } else if t >= 1.0 {
            0.0
        } else {
            1.0 - t * t * (3.0 - 2.0 * t)
        };
        assert!((f64::from(*c) - expected).abs() < 1e-6, "{d}: {c} {expected}");
        seen[if t <= 0.0 {
            0
        } else if t >= 1.0 {
            2
        } else {
            1
        }] += 1;
    }
    assert!(seen.iter().all(|&n| n > 20), "{seen:?}");
    // Half the radius where nothing is said.
    let on = |falloff| Place::Sphere { center: center.to_array(), radius, falloff };
    let choices = [None, Some(0.5 * radius)].map(|f| region(on(f)).choice(&character).unwrap());
    assert_eq!(choices[0], choices[1]);
    // No fading at all: all or nothing.
    let hard = region(on(Some(0.0))).choice(&character).unwrap();
    assert!(hard.iter().all(|&c| c == 0.0 || c == 1.0) && hard.contains(&1.0) && hard.contains(&0.0));
}

#[test]
fn a_capsule_is_measured_from_its_axis() {
    let character = arm();
    let skeleton = character.skeleton();
    let bones = skeleton.bones();
    let (from, to) = (bones[0].start, bones[0].end);
    let radius = 0.05 * character.diagonal();
    let on = Place::Capsule { from: from.to_array(), to: to.to_array(), radius, falloff: Some(radius) };
    let choice = region(on).choice(&character).unwrap();
    let along = |p: DVec3| (p - from).dot((to - from).normalize());
    for (p, &c) in character.rest_positions().iter().zip(&choice) {
        let (a, length) = (along(p.as_dvec3()), from.distance(to));
        let beside = (0.0..=length).contains(&a);
        let d = if beside {
            (p.as_dvec3() - from).reject_from((to - from).normalize()).length()
        } else {
            p.as_dvec3().distance(from).min(p.as_dvec3().distance(to))
        };
        assert_eq!(c == 1.0, d <= radius, "{d}");
        assert_eq!(c == 0.0, d >= 2.0 * radius - 1e-9, "{d} {c}");
    }
}

/// The bone's own length is the measure: the choice does not depend on the units.
#[test]
fn a_bone_is_measured_in_its_own_lengths() {
    let character = arm();
    let bone = character.skeleton().bones()[0];
    let name = character.skeleton().joints()[bone.joint as usize].name.clone();
    let length = bone.start.distance(bone.end);
    let thick =
        character.rest_positions().iter().map(|p| bone.distance(p.as_dvec3())).fold(f64::MAX, f64::min);
    let reach = 1.2 * thick / length;
    let choice = region(Place::Bone { joint: name, reach, falloff: 1.0 }).choice(&character).unwrap();
    let mut ends = [false; 2];
    for (p, &c) in character.rest_positions().iter().zip(&choice) {
        let lengths = bone.distance(p.as_dvec3()) / length;
        assert_eq!(c == 1.0, lengths <= reach, "{lengths}");
        assert!(c == 1.0 || (c > 0.0) == (lengths < reach + 1.0 - 1e-6), "{lengths} {c}");
        ends[0] |= c == 1.0;
        ends[1] |= c < 1.0;
    }
    assert_eq!(ends, [true, true]);
}

#[test]
fn weights_add_up_and_joints_may_be_numbered() {
    let character = zoo::character("human", Some(2000)).unwrap();
    let joints = character.skeleton().joints();
    let deforming: Vec<usize> = (0..joints.len()).filter(|&j| joints[j].deforms).collect();
    let all: Vec<String> = deforming.iter().map(|&j| joints[j].name.clone()).collect();
    let whole = region(Place::Weights(all.clone())).choice(&character).unwrap();
    assert!(whole.iter().all(|c| (c - 1.0).abs() < 1e-5));
    let (left, right) = all.split_at(all.len() / 2);
    let [a, b] = [left, right].map(|half| region(Place::Weights(half.to_vec())).choice(&character).unwrap());
    assert!(a.iter().zip(&b).all(|(a, b)| (a + b - 1.0).abs() < 1e-5));
    assert!(a.iter().any(|&c| c > 0.2 && c < 0.8), "some vertices are shared");
    let numbered = left.iter().zip(&deforming).map(|(_, j)| format!("#{j}")).collect();
    assert_eq!(region(Place::Weights(numbered)).choice(&character).unwrap(), a);
}

fn painted(name: &str) -> Character {
    let mut raw = arm().into_raw();
    let count = raw.surface.positions().len();
    let values = (0..count).map(|v| v as f32 / count as f32).collect();
    raw.paint = vec![Painted { name: name.into(), values }];
    Character::new(raw).unwrap()
}

#[test]
fn paint_is_taken_as_it_is() {
    let character = painted("COLOR_0.g");
    let choice = region(Place::Painted("COLOR_0.g".into())).choice(&character).unwrap();
    assert_eq!(choice, character.paint()[0].values);
}

#[test]
fn paint_must_be_numbers_from_0_to_1_for_every_vertex() {
    for values in [vec![0.5; 3], vec![f32::NAN; 1000], vec![1.5; 1000]] {
        let mut raw = arm().into_raw();
        raw.paint = vec![Painted { name: "_X".into(), values }];
        assert!(Character::new(raw).is_err());
    }
    let mut raw = painted("_X").into_raw();
    raw.paint.push(raw.paint[0].clone());
    assert!(Character::new(raw).is_err(), "a name twice");
}

#[test]
fn names_that_are_not_there_are_told_with_what_was_meant() {
    let character = zoo::character("human", Some(500)).unwrap();
    let joint = character.skeleton().joints().iter().rfind(|j| j.deforms).unwrap().name.clone();
    let wrong = format!("{joint}x");
    let mut settings = Settings::default();
    let bone = Place::Bone { joint: wrong.clone(), reach: 0.5, falloff: 0.5 };
    for (on, path, meant) in [
        (bone, "region[1].on.bone.joint", &joint[..]),
        (Place::Weights(vec![joint.clone(), wrong]), "region[1].on.weights", &joint),
        (Place::Weights(vec!["#100000".into()]), "region[1].on.weights", "there are '"),
        (Place::Painted("_SOFTNES".into()), "region[1].on.painted", "there are none"),
    ] {
        settings.regions = vec![region(Place::All), region(on)];
        let error = settings.check_on(&character).unwrap_err();
        assert_eq!(error.path, path);
        assert!(error.to_string().contains(meant), "{error}");
        assert_eq!(settings.choices(&character).unwrap_err(), error);
    }
    settings.regions = vec![region(Place::Painted("_softness".into()))];
    let error = settings.check_on(&painted(SOFTNESS)).unwrap_err().to_string();
    assert!(error.contains("did you mean '_SOFTNESS'?"), "{error}");
}

/// The order in which regions count: the whole body, what the file brings, what the user names.
#[test]
fn a_character_brings_its_own_regions() {
    let (plain, soft) = (arm(), painted(SOFTNESS));
    let spring = Region::new("hair", Place::All, Preset::Jelly);
    let names = |settings: &Settings| settings.regions.iter().map(|r| r.name.clone()).collect::<Vec<_>>();

    let mut settings = Settings::default();
    assert!(settings.add_regions_of(&plain, vec![]).is_empty());
    assert_eq!(names(&settings), [""; 0]);
    let notes = settings.add_regions_of(&soft, vec![spring.clone()]);
    assert_eq!(names(&settings), ["hair", SOFTNESS]);
    assert_eq!(settings.regions[1].resolved(), Preset::Fat.tissue());
    assert!(notes.len() == 2 && notes[1].contains(SOFTNESS), "{notes:?}");

    // Who names regions has said what is soft.
    let mut settings = Settings { regions: vec![region(Place::All)], ..Settings::default() };
    settings.add_regions_of(&soft, vec![spring.clone()]);
    assert_eq!(names(&settings), ["hair", "r"]);
    let mut settings = Settings { preset: Some(Preset::Firm), ..Settings::default() };
    settings.add_regions_of(&soft, vec![]);
    assert_eq!(names(&settings), [""; 0]);
    let mut settings = Settings { file_regions: false, ..Settings::default() };
    assert!(settings.add_regions_of(&soft, vec![spring]).is_empty());
    assert_eq!(names(&settings), [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever passes the check gives choices from 0 to 1.
    #[test]
    fn choices_are_shares(
        center in prop::array::uniform3(-1e12f64..1e12),
        near in prop::array::uniform3(-2f64..2.0),
        radius in 1e-9f64..1e12,
        falloff in prop::option::of(0f64..1e12),
        small in 1e-9f64..1.0,
    ) {
        static CHARACTER: LazyLock<Character> = LazyLock::new(arm);
        let joint = "#0".to_owned();
        for on in [
            Place::Sphere { center, radius, falloff },
            Place::Sphere { center: near, radius: small, falloff },
            Place::Capsule { from: center, to: near, radius: small, falloff: Some(small) },
            Place::Capsule { from: near, to: near, radius, falloff },
            Place::Bone { joint, reach: small, falloff: 100.0 * small },
        ] {
            let settings = Settings { regions: vec![region(on)], ..Settings::default() };
            prop_assert_eq!(settings.check(), Ok(()));
            if let Ok(choices) = settings.choices(&CHARACTER) {
                prop_assert!(choices[0].iter().all(|c| (0.0..=1.0).contains(c)));
            }
        }
    }
}
