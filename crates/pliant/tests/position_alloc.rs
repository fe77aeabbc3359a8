//! A step of a simulated method allocates nothing. Alone in its file: a neighbour's allocations would be counted too.

mod counting;
mod position_common;

use counting::ALLOCATIONS;
use pliant::method::{Model, Place, Prediction, Preset, Region, Shape};
use pliant::simd::Path;
use position_common::{play, prepare_as, sample, settings, step};
use std::sync::atomic::Ordering;

#[test]
fn steps_allocate_nothing() {
    let character = sample("cylinder");
    let motion = play(&character, "bend");
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        if threads == 2 {
            // A worker's first theft of work allocates, once in its life: let it happen here.
            let both = std::sync::Barrier::new(2);
            pool.install(|| rayon::join(|| both.wait(), || both.wait()));
        }
        for model in [Model::Stiffness, Model::Compliance] {
            let methods = [
                ("position", Prediction::Advected),
                ("position", Prediction::DualQuaternion),
                ("strain", Prediction::Advected),
            ];
            for (method, prediction) in methods {
                let mut settings = settings(1500);
                settings.simulation.model = model;
                settings.position.prediction = prediction;
                // Comes and goes while it is counted.
                let region = Region::new("all", Place::All, Preset::Fat);
                settings.regions.push(Region { start: Some(0.3), end: Some(0.8), ..region });
                let deformer = prepare_as(method, &character, &settings, Path::best());
                let mut instance = deformer.instance();
                let mut shape = Shape::rest(&character);
                let allocations = pool.install(|| {
                    let mut frame = |frame: i32| {
                        step(instance.as_mut(), &motion, f64::from(frame) / 30.0, &mut shape);
                    };
                    (0..3).for_each(&mut frame);
                    let before = ALLOCATIONS.load(Ordering::Relaxed);
                    (3..36).for_each(&mut frame);
                    ALLOCATIONS.load(Ordering::Relaxed) - before
                });
                assert_eq!(allocations, 0, "{method}, {model:?}, {prediction:?}, {threads} threads");
            }
        }
    }
}
