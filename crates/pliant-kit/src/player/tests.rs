use super::*;
use crate::drive::Drive;
use crate::hash::StateHash;
use crate::motion::{MAX_FRAMES, Schedule};
use glam::Vec3;
use pliant::method::{self, Preset, Region, Setup};
use pliant::{simd, zoo};

fn character() -> Character {
    zoo::character("cylinder", Some(600)).unwrap()
}

/// Soft all over, so that every moment depends on those before it.
fn soft() -> Settings {
    let mut settings = Settings::default();
    settings.body.tets = Some(600);
    settings.regions = vec![Region::new("all", method::Place::All, Preset::Fat)];
    settings
}

fn prepared<'c>(name: &str, character: &'c Character, settings: &Settings) -> Box<dyn Deformer + 'c> {
    let setup = Setup { path: simd::Path::best(), settings, tets: None, progress: &mut |_| true };
    method::prepare(name, character, setup).unwrap()
}

fn hash(positions: &[Vec3]) -> String {
    let mut hash = StateHash::default();
    hash.frame(positions);
    hash.hex()
}

/// What a bake gives, frame by frame.
fn baked(character: &Character, deformer: &dyn Deformer) -> Vec<(f64, String)> {
    let clip = &character.clips()[0];
    let schedule = Schedule::new(Some(clip), Some(30.0), None, None, MAX_FRAMES).unwrap();
    let mut frames = Vec::new();
    let mut sink = |frame: crate::drive::Frame<'_>| {
        frames.push((frame.time, hash(&frame.shape.positions)));
        Ok(())
    };
    Drive::new(character, deformer).play(Some(clip), &schedule, &mut (), &mut sink).unwrap();
    frames
}

#[test]
fn every_moment_is_what_a_bake_gives_in_whatever_order() {
    let character = character();
    for name in ["lbs", "volume", "position", "strain", "metaballs"] {
        let deformer = prepared(name, &character, &soft());
        let frames = baked(&character, &*deformer);
        let mut player = Player::new(&character, &*deformer);
        let count = frames.len();
        assert!(count > 40);
        // Back and forth, with steps of all sizes, and some moments twice.
        for k in 0..60 {
            let (time, wanted) = &frames[(k * k * 7 + k * 13) % count];
            player.seek(Some(0), *time);
            assert_eq!(hash(&player.shape().positions), *wanted, "{name} at {time}");
            // Between frames, and by hand: neither leaves a trace.
            if k % 3 == 0 {
                player.hold(&[Turn { joint: 1, turn: DQuat::from_rotation_z(0.3) }], 0.02);
            }
            if k % 5 == 0 {
                player.seek(Some(0), time + 0.0123);
            }
        }
    }
}

#[test]
fn playing_is_what_a_bake_gives_until_the_clip_starts_again() {
    let character = character();
    let deformer = prepared("position", &character, &soft());
    let frames = baked(&character, &*deformer);
    let mut player = Player::new(&character, &*deformer);
    player.seek(Some(0), 0.0);
    for (time, wanted) in &frames {
        player.play(*time, true);
        assert_eq!(hash(&player.shape().positions), *wanted, "at {time}");
    }
    // The next cycle: flesh does not jump from one frame to the next by more than it moves anyway.
    let farthest = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    let end = character.clips()[0].end();
    let (mut before, mut most_within, mut most_after) = (player.shape().positions.clone(), 0.0f32, 0.0f32);
    for k in 1..90 {
        player.play(end + f64::from(k) / 30.0, true);
        let moved = farthest(&before, &player.shape().positions);
        before.clone_from(&player.shape().positions);
        if k > 1 {
            most_within = most_within.max(moved)
        } else {
            most_after = moved
        }
        let wanted = (f64::from(k) / 30.0) % end;
        assert!((player.seconds() - wanted).abs() < 1e-6 || (player.seconds() - wanted).abs() > end - 1e-6);
    }
    assert!(most_within > 0.0 && most_after < 2.0 * most_within, "{most_after} {most_within}");
}

#[test]
fn tuned_numbers_count_at_once_and_from_the_start() {
    let character = character();
    let mut stiff = soft();
    stiff.regions[0].softness = Some(0.2);
    let (deformer, wanted) =
        (prepared("position", &character, &soft()), prepared("position", &character, &stiff));
    let frames = baked(&character, &*wanted);
    let mut player = Player::new(&character, &*deformer);
    player.seek(Some(0), 0.5);
    let before = player.shape().positions.clone();
    player.tune(&stiff).unwrap();
    player.play(0.6, false);
    assert_ne!(before, player.shape().positions);
    let (time, wanted) = &frames[18];
    player.seek(Some(0), *time);
    assert_eq!(hash(&player.shape().positions), *wanted);
}

#[test]
fn a_joint_turned_by_hand_takes_along_what_hangs_on_it() {
    let character = character();
    let deformer = prepared("lbs", &character, &Settings::default());
    let mut player = Player::new(&character, &*deformer);
    player.seek(None, 0.0);
    let before = player.pose().clone();
    let turn = DQuat::from_rotation_x(0.7);
    player.hold(&[Turn { joint: 1, turn }], 0.0);
    for (index, joint) in character.skeleton().joints().iter().enumerate() {
        let (a, b) = (before.world_from_joint[index], player.pose().world_from_joint[index]);
        let wanted = match joint.parent {
            _ if index == 0 => a,
            _ if index == 1 => a * DAffine3::from_quat(turn),
            Some(p) => {
                let p = p as usize;
                player.pose().world_from_joint[p] * before.world_from_joint[p].inverse() * a
            }
            None => a,
        };
        assert!(b.abs_diff_eq(wanted, 1e-9), "joint {index}");
    }
}
