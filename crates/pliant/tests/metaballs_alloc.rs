//! Steps allocate nothing. Alone in its file: a neighbour's allocations would be counted too.

mod counting;
mod volume_common;

use counting::ALLOCATIONS;
use pliant::method::{Preset, Settings, Shape};
use pliant::rig::Playback;
use pliant::simd::Path;
use std::sync::atomic::Ordering;
use volume_common::{prepare, sample};

#[test]
fn steps_after_the_first_allocate_nothing() {
    let character = sample("arm", Some(2000));
    let soft = Settings { preset: Some(Preset::Fat), ..Settings::default() };
    let motion = Playback::once(&character, character.clips().first());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("threads");
    let deformer = prepare("metaballs", &character, &soft, Path::best());
    let mut shape = Shape::rest(&character);
    let allocations = pool.install(|| {
        let mut instance = deformer.instance();
        let mut round = || {
            for step in 0..20 {
                instance.step(&motion, f64::from(step) * 0.1, &mut shape, &mut |_| {});
            }
        };
        round();
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        round();
        ALLOCATIONS.load(Ordering::Relaxed) - before
    });
    assert_eq!(allocations, 0);
}
