//! The same bits for any number of threads, on every path, and in a crowd.

mod position_common;

use pliant::asset::Character;
use pliant::method::{Deformer, Model, Place, Preset, Region, Settings, Shape};
use pliant::rig::{Motion, Pose};
use pliant::simd::Path;
use position_common::{bits, play, prepare, prepare_on, sample, settings, step};
use rayon::prelude::*;

fn soft(model: Model) -> Settings {
    let mut settings = settings(2000);
    settings.simulation.model = model;
    settings.regions.push(Region::new("tip", Place::Weights(vec!["Upper".into()]), Preset::Fat));
    settings
}

/// All bits of half a second of a clip.
fn frames(character: &Character, deformer: &dyn Deformer, motion: &dyn Motion) -> Vec<u32> {
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(character);
    let frame = |frame: i32| {
        step(instance.as_mut(), motion, f64::from(frame) / 24.0, &mut shape);
        bits(&shape)
    };
    (0..=12).flat_map(frame).collect()
}

#[test]
fn threads_and_paths_change_no_bit() {
    let character = sample("cylinder");
    for model in [Model::Stiffness, Model::Compliance] {
        for clip in ["twist", "bend"] {
            let motion = play(&character, clip);
            let on = |threads: usize, path: Path| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                pool.install(|| {
                    let deformer = prepare_on(&character, &soft(model), path);
                    frames(&character, deformer.as_ref(), &motion)
                })
            };
            let expected = on(1, Path::Scalar);
            for threads in [2, 3, 8] {
                assert!(on(threads, Path::best()) == expected, "{clip}, {threads} threads");
            }
            for path in Path::available() {
                assert!(on(1, path) == expected, "{clip}, {path}");
            }
        }
    }
}

/// A motion that starts later.
struct Late<'m>(&'m dyn Motion, f64);

impl Motion for Late<'_> {
    fn pose(&self, seconds: f64, out: &mut Pose) {
        self.0.pose(seconds - self.1, out);
    }
}

#[test]
fn each_of_a_crowd_moves_as_if_alone() {
    let character = sample("cylinder");
    let deformer = prepare(&character, &soft(Model::Stiffness));
    let motion = play(&character, "shake");
    let late = |member: u32| Late(&motion, f64::from(member) * 0.03);
    let alone: Vec<Vec<u32>> =
        (0..8).map(|member| frames(&character, deformer.as_ref(), &late(member))).collect();
    let mut crowd: Vec<_> = (0..8).map(|_| (deformer.instance(), Shape::rest(&character))).collect();
    let mut together: Vec<Vec<u32>> = vec![Vec::new(); 8];
    for frame in 0..=12 {
        crowd.par_iter_mut().zip(&mut together).enumerate().for_each(|(member, ((instance, shape), all))| {
            step(instance.as_mut(), &late(member as u32), f64::from(frame) / 24.0, shape);
            all.extend(bits(shape));
        });
    }
    assert!(together == alone);
    assert!(alone[0] != alone[1]);
}
