//! The simulation's own clock: what comes out does not depend on how often it is asked for, and cycles close.

mod position_common;

use pliant::asset::{Channel, Character, Clip, Interpolation, Target, Track};
use pliant::glam::{DAffine3, DVec3, Quat, Vec3};
use pliant::method::{Place, Preset, Region, Settings, Shape};
use pliant::rig::{Motion, Playback, Pose};
use position_common::{bits, farthest, play, pose_at, prepare, sample, settings, step};

fn jelly(tets: usize) -> Settings {
    let mut settings = settings(tets);
    settings.regions.push(Region::new("all", Place::All, Preset::Jelly));
    settings
}

#[test]
fn output_rates_agree_where_their_times_meet() {
    let character = sample("cylinder");
    let deformer = prepare(&character, &jelly(2000));
    for clip in ["twist", "shake"] {
        let motion = play(&character, clip);
        // All of these rates have a frame at every third of a second.
        let at_thirds = |fps: u32| -> Vec<Vec<u32>> {
            let mut instance = deformer.instance();
            let mut shape = Shape::rest(&character);
            let frames = (0..=2 * fps).filter_map(|frame| {
                step(instance.as_mut(), &motion, f64::from(frame) / f64::from(fps), &mut shape);
                (frame % (fps / 3) == 0).then(|| bits(&shape))
            });
            frames.collect()
        };
        let expected = at_thirds(24);
        assert_eq!(expected.len(), 7);
        assert_ne!(expected[0], expected[3]);
        for fps in [30, 60, 165] {
            assert!(at_thirds(fps) == expected, "{clip} at {fps}");
        }
    }
}

/// A bar that nods while it travels: in a second by three of its lengths.
const TRAVEL: DVec3 = DVec3::new(3.0, 0.0, 1.0);

fn traveller() -> Character {
    let mut raw = sample("cylinder").into_raw();
    let keys = 31;
    let times: Vec<f32> = (0..keys).map(|k| k as f32 / 30.0).collect();
    let way = (0..keys).flat_map(|k| (TRAVEL * f64::from(k) / 30.0).as_vec3().to_array()).collect();
    let nod = |k: i32| 0.5 * libm::sinf(k as f32 / 30.0 * std::f32::consts::TAU);
    let turns = (0..keys).flat_map(|k| Quat::from_rotation_z(nod(k)).to_array()).collect();
    let track =
        |width, values| Track::new(Interpolation::Linear, width, times.clone(), values).expect("keys");
    let channels = vec![
        Channel { target: Target::Translation(0), track: track(3, way) },
        Channel { target: Target::Rotation(1), track: track(4, turns) },
    ];
    raw.clips = vec![Clip::new("walk".into(), channels)];
    Character::new(raw).expect("sound")
}

/// The cycle without its seams: the root goes on and on.
struct Endless<'c>(Playback<'c>);

impl Motion for Endless<'_> {
    fn pose(&self, seconds: f64, out: &mut Pose) {
        self.0.pose(seconds, out);
        let period = self.0.period().expect("a cycle");
        let far = DAffine3::from_translation(TRAVEL * (seconds / period + 1e-9).floor());
        out.world_from_joint.iter_mut().for_each(|m| *m = far * *m);
    }
}

/// The skin as the root sees it, frame by frame.
fn seen_from_root(character: &Character, motion: &dyn Motion, frames: i32) -> Vec<Vec<Vec3>> {
    let deformer = prepare(character, &jelly(1500));
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(character);
    let frame = |frame: i32| {
        let time = f64::from(frame) / 50.0;
        step(instance.as_mut(), motion, time, &mut shape);
        let root = pose_at(motion, time).world_from_joint[0].inverse();
        shape.positions.iter().map(|p| root.transform_point3(p.as_dvec3()).as_vec3()).collect()
    };
    (0..frames).map(frame).collect()
}

#[test]
fn a_travelling_cycle_closes() {
    let character = traveller();
    let cycle = Playback::cycle(&character, &character.clips()[0]);
    let frames = seen_from_root(&character, &cycle, 500);
    for (early, late) in frames[400..450].iter().zip(&frames[450..]) {
        let far = farthest(early, late);
        assert!(far < 1e-4, "{far}");
    }
    // The flesh does not feel the seam: it moves as that of a root that never jumps back.
    let endless = seen_from_root(&character, &Endless(cycle), 220);
    for (frame, (a, b)) in frames.iter().zip(&endless).enumerate() {
        let far = farthest(a, b);
        // Far from the origin the endless run is rounded coarser, and jelly forgets slowly.
        let rounded = if frame <= 50 { 1e-5 } else { 4e-4 };
        assert!(far < rounded, "frame {frame}: {far}");
    }
    // It does swing.
    let still = &frames[0];
    assert!(frames.iter().map(|f| farthest(f, still)).fold(0.0, f32::max) > 0.01);
}
