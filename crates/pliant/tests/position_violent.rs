//! Motions that no flesh bears: cuts, whirls, numbers that are none. What comes out is finite, and it recovers.

mod position_common;

use pliant::asset::Character;
use pliant::glam::{DAffine3, DVec3};
use pliant::method::{Place, Preset, Region, Settings, Shape};
use pliant::rig::Motion;
use position_common::{
    belly, coarse, farthest, finite, linear, navel, pose_at, prepare, sample, scripted, settings, step,
};

#[test]
fn a_cut_does_not_throw_the_belly() {
    let character = coarse("chubby", 3000);
    let mut settings = settings(3000);
    settings.regions.push(belly(&character, Preset::Fat));
    let deformer = prepare(&character, &settings);
    let far = DVec3::new(0.6, 0.0, 0.8) * 100.0 * character.diagonal();
    let motion = scripted(&character, |time, joint, local: DAffine3| {
        let there = DAffine3::from_translation(if time > 0.495 { far } else { DVec3::ZERO })
            * DAffine3::from_rotation_y(if time > 0.495 { 2.0 } else { 0.0 });
        if joint == 0 { there * local } else { local }
    });
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(&character);
    let vertex = navel(&character);
    let mut hung = Vec::new();
    for tick in 0..150 {
        let time = f64::from(tick) / 100.0;
        step(instance.as_mut(), &motion, time, &mut shape);
        let place = linear(&character, &pose_at(&motion, time))[vertex];
        let away = f64::from(shape.positions[vertex].distance(place)) / character.diagonal();
        assert!(away < 0.03, "{time}: {away}");
        hung.push(away);
    }
    // It hangs as it did before.
    assert!((hung[49] - hung[149]).abs() < 1e-3, "{} {}", hung[49], hung[149]);
}

/// SplitMix64 of a number, to -1..1.
fn noise(seed: u64) -> f64 {
    let z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn kinds(tets: usize) -> Vec<(&'static str, Settings)> {
    let mut soft = settings(tets);
    soft.regions.push(Region::new("all", Place::All, Preset::Fat));
    vec![("firm", settings(tets)), ("fat", soft)]
}

/// Runs a motion at 50 frames a second until a second after `until`, and gives the last skin.
fn end_of(character: &Character, settings: &Settings, motion: &dyn Motion, until: f64) -> Shape {
    let deformer = prepare(character, settings);
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(character);
    for frame in 0..=((until + 1.0) * 50.0) as i32 {
        let time = f64::from(frame) / 50.0;
        step(instance.as_mut(), motion, time, &mut shape);
        assert!(finite(&shape.positions) && finite(&shape.normals), "{time}");
    }
    shape
}

#[test]
fn whirls_and_cuts_leave_no_trace() {
    const UNTIL: f64 = 1.0;
    let character = sample("cylinder");
    let whirl = |about: DVec3, time: f64| {
        let angle = if time < UNTIL { 10.0 * std::f64::consts::TAU * time } else { 0.0 };
        DAffine3::from_axis_angle(about, angle)
    };
    let limb = |axis: DVec3| {
        scripted(
            &character,
            move |time, joint, local: DAffine3| {
                if joint == 1 { local * whirl(axis, time) } else { local }
            },
        )
    };
    let root =
        scripted(
            &character,
            |time, joint, local: DAffine3| {
                if joint == 0 { whirl(DVec3::new(0.6, 0.0, 0.8), time) * local } else { local }
            },
        );
    let cuts = scripted(&character, |time, joint, local: DAffine3| {
        let seed = (time * 20.0) as u64 * 3;
        let far = DVec3::new(noise(seed), noise(seed + 1), noise(seed + 2)) * 100.0;
        let far = if time < UNTIL { far } else { DVec3::ZERO };
        let there = DAffine3::from_translation(far) * whirl(DVec3::Z, time);
        if joint == 0 { there * local } else { local * whirl(DVec3::X, time) }
    });
    let (bend, twist) = (limb(DVec3::Z), limb(DVec3::Y));
    let motions: [(&str, &dyn Motion); 4] =
        [("bend", &bend), ("twist", &twist), ("root", &root), ("cuts", &cuts)];
    let still = scripted(&character, |_, _, local| local);
    for (kind, settings) in kinds(1500) {
        let expected = end_of(&character, &settings, &still, UNTIL);
        for (name, motion) in motions {
            let shape = end_of(&character, &settings, motion, UNTIL);
            let far = f64::from(farthest(&shape.positions, &expected.positions)) / character.diagonal();
            assert!(far < 1e-2, "{kind} {name}: {far}");
        }
    }
}

#[test]
fn numbers_that_are_none_are_told_and_forgotten() {
    let character = sample("cylinder");
    let still = scripted(&character, |_, _, local| local);
    for (kind, settings) in kinds(1500) {
        let expected = end_of(&character, &settings, &still, 0.6);
        let deformer = prepare(&character, &settings);
        for bad in [f64::NAN, f64::INFINITY, 1e30, 1e38, 1e200] {
            for joint in [0, 1] {
                let motion = scripted(&character, |time, index, mut local: DAffine3| {
                    if index == joint && (0.295..0.345).contains(&time) {
                        local.translation.x = bad;
                    }
                    local
                });
                let mut instance = deformer.instance();
                let mut shape = Shape::rest(&character);
                for tick in 0..160 {
                    let time = f64::from(tick) / 100.0;
                    let health = step(instance.as_mut(), &motion, time, &mut shape);
                    let asked = finite(&linear(&character, &pose_at(&motion, time)));
                    let sound = finite(&shape.positions);
                    assert!(sound || !asked, "{kind}, {bad} in joint {joint} at {time}");
                    assert!(sound || health.held > 0, "{kind}, {bad} in joint {joint} at {time}: not told");
                }
                let far = f64::from(farthest(&shape.positions, &expected.positions)) / character.diagonal();
                assert!(far < 1e-2, "{kind}, {bad} in joint {joint}: {far}");
            }
        }
    }
}
