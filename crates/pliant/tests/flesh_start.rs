//! Flesh starts with the speed of its bones: it feels no speed, only its change.

mod position_common;

use pliant::asset::Character;
use pliant::glam::{DAffine3, DVec3, Vec3};
use pliant::method::{Place, Preset, Region, Settings, Shape};
use pliant::rig::Motion;
use pliant::simd::Path;
use position_common::{Scripted, coarse, farthest, prepare_as, scripted, settings, step};

/// A body in which all swings: its methods, and their settings.
fn soft() -> [(&'static str, Settings); 2] {
    let mut plain = settings(2000);
    plain.simulation.preroll = 5.0;
    let mut jelly = plain.clone();
    jelly.regions.push(Region::new("all", Place::All, Preset::Jelly));
    [("strain", plain), ("position", jelly)]
}

/// The whole body goes along `way`, which tells where it is.
fn along<'c>(
    character: &'c Character,
    period: Option<f64>,
    way: impl Fn(f64) -> DVec3 + Sync + 'c,
) -> Scripted<'c, impl Fn(f64, usize, DAffine3) -> DAffine3 + Sync + 'c> {
    let local = move |time: f64, joint, local: DAffine3| {
        if joint == 0 { DAffine3::from_translation(way(time)) * local } else { local }
    };
    Scripted { period, ..scripted(character, local) }
}

/// The skin in `frames` frames of a hundredth of a second from `start` on.
fn skins(
    (method, settings): &(&str, Settings),
    character: &Character,
    motion: &dyn Motion,
    start: f64,
    frames: i32,
) -> Vec<Vec<Vec3>> {
    let deformer = prepare_as(method, character, settings, Path::best());
    let (mut instance, mut shape) = (deformer.instance(), Shape::rest(character));
    let frame = |frame: i32| {
        step(instance.as_mut(), motion, start + 0.01 * f64::from(frame), &mut shape);
        shape.positions.clone()
    };
    (0..frames).map(frame).collect()
}

/// How far frames are from those of a body that stays where it is.
fn off(still: &[Vec<Vec3>], moving: &[Vec<Vec3>], way: impl Fn(f64) -> DVec3) -> Vec<f32> {
    let back = |frame: usize| {
        let moved = way(0.01 * frame as f64).as_vec3();
        moving[frame].iter().map(|&p| p - moved).collect::<Vec<Vec3>>()
    };
    (0..moving.len()).map(|frame| farthest(&back(frame), &still[frame])).collect()
}

#[test]
fn a_body_that_moves_from_the_start_is_not_hit() {
    let character = coarse("bunny", 1500);
    let size = character.diagonal();
    // Twice its size in a second: 2 % of it from frame to frame.
    let speed = DVec3::new(2.0, 0.0, 0.5) * size;
    for soft in soft() {
        let still = skins(&soft, &character, &along(&character, None, |_| DVec3::ZERO), 0.0, 30);
        let moving = skins(&soft, &character, &along(&character, None, |t| speed * t), 0.0, 30);
        let far = off(&still, &moving, |t| speed * t);
        assert!(far.iter().all(|&far| f64::from(far) < 2e-4 * size), "{}: {far:?} of {size}", soft.0);
    }
}

#[test]
fn a_cycle_that_starts_at_its_seam_is_not_hit() {
    let character = coarse("bunny", 1500);
    let size = character.diagonal();
    let speed = DVec3::new(2.0, 0.0, 0.5) * size;
    for soft in soft() {
        let still = skins(&soft, &character, &along(&character, None, |_| DVec3::ZERO), 0.0, 20);
        // The first tick is the last of a cycle: the next is back at the start.
        let cycle = along(&character, Some(0.5), |t| speed * t);
        let moving = skins(&soft, &character, &cycle, 0.49, 20);
        let far = off(&still, &moving, |t| if t < 0.005 { speed * 0.49 } else { speed * (t - 0.01) });
        assert!(far.iter().all(|&far| f64::from(far) < 2e-4 * size), "{}: {far:?} of {size}", soft.0);
    }
}

#[test]
fn a_body_that_jumps_at_the_start_is_not_thrown() {
    let character = coarse("bunny", 1500);
    let size = character.diagonal();
    let jump = |t: f64| DVec3::X * if t > 0.005 { 2.0 * size } else { 0.0 };
    for soft in soft() {
        let still = skins(&soft, &character, &along(&character, None, |_| DVec3::ZERO), 0.0, 20);
        let moving = skins(&soft, &character, &along(&character, None, jump), 0.0, 20);
        let far = off(&still, &moving, jump);
        assert!(far.iter().all(|&far| f64::from(far) < 2e-4 * size), "{}: {far:?} of {size}", soft.0);
    }
}
