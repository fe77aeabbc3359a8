//! Limbs that twist and bend: joints keep their sections and their volume, and do so again in every loop.

mod position_common;

use pliant::asset::Character;
use pliant::glam::{DAffine3, DVec3, Vec3};
use pliant::measure::TetJudge;
use pliant::method::Shape;
use pliant::rig::Motion;
use position_common::{farthest, judge, linear, play, pose_at, prepare, sample, scripted, settings, step};

struct Seen {
    least: f64,
    most: f64,
    volume_percent: f64,
    inverted: usize,
    linear_least: f64,
}

/// Plays a clip at 30 frames a second and gives its worst frames.
fn worst(character: &Character, clip: &str, tets: usize) -> Seen {
    let deformer = prepare(character, &settings(tets));
    let judge = judge(character);
    let flesh = TetJudge::new(character, deformer.body().expect("flesh"));
    let motion = play(character, clip);
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(character);
    let mut seen = Seen { least: 1.0, most: 1.0, volume_percent: 0.0, inverted: 0, linear_least: 1.0 };
    for frame in 0..=60 {
        let time = f64::from(frame) / 30.0;
        let health = step(instance.as_mut(), &motion, time, &mut shape);
        assert_eq!(health.held, 0);
        let pose = pose_at(&motion, time);
        let section = judge.frame(&pose, &shape.positions).section().expect("sections");
        seen.least = seen.least.min(section.min);
        seen.most = seen.most.max(section.max);
        let tets = flesh.frame(&pose, instance.nodes().expect("nodes")).expect("finite");
        seen.volume_percent = seen.volume_percent.max(tets.volume_error_percent.expect("not scaled"));
        seen.inverted = seen.inverted.max(tets.inverted);
        let section = judge.frame(&pose, &linear(character, &pose)).section().expect("sections");
        seen.linear_least = seen.linear_least.min(section.min);
    }
    seen
}

/// A joint section may be read off by as much.
const TOLERANCE: f64 = 0.02;

#[test]
fn joints_keep_their_sections_and_volume() {
    for name in ["cylinder", "arm"] {
        let character = sample(name);
        for (clip, most) in [("twist", 1.05), ("bend", 1.20)] {
            let seen = worst(&character, clip, 5000);
            assert!(seen.least >= 0.85 - TOLERANCE, "{name} {clip}: {}", seen.least);
            assert!(seen.most <= most + TOLERANCE, "{name} {clip}: {}", seen.most);
            assert!(seen.volume_percent <= 0.5, "{name} {clip}: {} %", seen.volume_percent);
            assert_eq!(seen.inverted, 0, "{name} {clip}");
            assert!(seen.linear_least < 0.3, "{name} {clip}: nothing to repair, {}", seen.linear_least);
        }
    }
}

/// From `least` to 1 and back, in a second.
fn there_and_back(seconds: f64, least: f64) -> f64 {
    least + (1.0 - least) * (0.5 - 0.5 * libm::cos(seconds * std::f64::consts::TAU))
}

fn repeats(motion: &dyn Motion, character: &Character) -> f32 {
    const RADIUS: f32 = 0.12;
    let deformer = prepare(character, &settings(3000));
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(character);
    let mut before: Vec<Vec<Vec3>> = Vec::new();
    let mut worst = 0.0f32;
    for cycle in 0..20 {
        let mut frames = Vec::new();
        for frame in 0..10 {
            let time = f64::from(cycle) + f64::from(frame) / 10.0;
            step(instance.as_mut(), motion, time, &mut shape);
            frames.push(shape.positions.clone());
        }
        if cycle >= 6 {
            let far = frames.iter().zip(&before).map(|(a, b)| farthest(a, b));
            worst = worst.max(far.fold(0.0, f32::max) / RADIUS);
        }
        before = frames;
    }
    worst
}

/// From rest, where linear blending takes the flesh back, and from half the way, where nothing does.
#[test]
fn loops_repeat() {
    let character = sample("cylinder");
    for (axis, degrees) in [(DVec3::NEG_Z, 150.0), (DVec3::Y, 180.0f64)] {
        for least in [0.0, 0.5] {
            let motion = scripted(&character, |time, joint, local: DAffine3| {
                let angle = degrees.to_radians() * there_and_back(time, least);
                let turn = DAffine3::from_axis_angle(axis, angle);
                if joint == 1 { local * turn } else { local }
            });
            let far = repeats(&motion, &character);
            assert!(far < 1e-3, "{axis} from {least}: {far} of the radius");
        }
    }
}
