//! Steps allocate nothing. Alone in its file: a neighbour's allocations would be counted too.

mod counting;

use counting::ALLOCATIONS;
use pliant::asset::{Character, Morph};
use pliant::glam::Vec3;
use pliant::method::{self, Instance, Shape};
use pliant::rig::Pose;
use pliant::simd::Path;
use pliant::skin::{bench_pose, bench_rig};
use std::sync::atomic::Ordering;

#[test]
fn steps_after_the_first_allocate_nothing() {
    let mut raw = bench_rig(5000, 10, 4).expect("a sound rig").into_raw();
    raw.morphs.push(Morph {
        name: "lift".into(),
        vertices: (0..5000).step_by(3).collect(),
        positions: vec![Vec3::Y; 1667],
        normals: vec![Vec3::X; 1667],
        default_weight: 0.0,
    });
    let character = Character::new(raw).expect("sound with a morph");
    let poses: Vec<Pose> = [0.0, 0.4, 0.9, 0.0]
        .into_iter()
        .map(|weight| Pose { morph_weights: vec![weight], ..bench_pose(&character) })
        .collect();
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        if threads == 2 {
            // A worker's first theft of work allocates, once in its life: let it happen here.
            let both = std::sync::Barrier::new(2);
            pool.install(|| rayon::join(|| both.wait(), || both.wait()));
        }
        for name in ["lbs", "dqs", "smooth"] {
            for path in Path::available() {
                let deformer = method::prepare_default(name, &character, path).expect("known");
                let mut shape = Shape::rest(&character);
                let allocations = pool.install(|| {
                    let mut instance = deformer.instance();
                    let round = |instance: &mut dyn Instance, shape: &mut Shape| {
                        for pose in &poses {
                            instance.step(pose, 0.1, shape, &mut |_| {});
                        }
                    };
                    round(&mut *instance, &mut shape);
                    let before = ALLOCATIONS.load(Ordering::Relaxed);
                    (0..50).for_each(|_| round(&mut *instance, &mut shape));
                    ALLOCATIONS.load(Ordering::Relaxed) - before
                });
                assert_eq!(allocations, 0, "{name} {path}, {threads} threads, 200 steps");
            }
        }
    }
}
