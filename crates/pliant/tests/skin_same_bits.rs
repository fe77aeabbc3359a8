//! Every path and any number of threads give the same bits.

mod skin_common;

use pliant::glam::{DAffine3, DVec3, Vec3};
use pliant::simd::Path;
use pliant::skin::Skinner;
use proptest::prelude::*;
use skin_common::{BLENDS, Random, Skin, bits, matrices};

/// Transforms of every sort: rigid, scaled, mirrored, flat, scaled to nothing.
fn transforms(random: &mut Random, count: usize) -> Vec<DAffine3> {
    let scales =
        [DVec3::ONE, DVec3::splat(2.0), DVec3::new(-1.0, 1.0, 1.0), DVec3::new(1.0, 0.0, 0.5), DVec3::ZERO];
    (0..count)
        .map(|_| random.rigid() * DAffine3::from_scale(scales[random.below(20).min(scales.len() - 1)]))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn paths_agree(
        seed in any::<u64>(),
        vertices in 1usize..2200,
        slots in prop_oneof![1usize..8, Just(32usize), Just(33), 300usize..700],
        influences in 1usize..13,
    ) {
        let random = &mut Random(seed);
        let skin = Skin::random(random, vertices, slots, influences);
        let matrices = matrices(&transforms(random, slots));
        for blend in BLENDS {
            let (positions, normals) = skin.pose_by(blend, Path::Scalar, &matrices);
            prop_assert!(positions.iter().chain(&normals).all(|v| v.is_finite()));
            for path in Path::available() {
                let other = skin.pose_by(blend, path, &matrices);
                prop_assert_eq!(bits(&other.0), bits(&positions), "positions, {:?}, {}", blend, path);
                prop_assert_eq!(bits(&other.1), bits(&normals), "normals, {:?}, {}", blend, path);
            }
        }
    }
}

#[test]
fn threads_agree() {
    let random = &mut Random(7);
    let skin = Skin::random(random, 20_011, 60, 6);
    let matrices = matrices(&transforms(random, 60));
    for blend in BLENDS {
        for path in Path::available() {
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                pool.install(|| skin.pose_by(blend, path, &matrices))
            };
            let one = run(1);
            for threads in [2, 3, 8] {
                let many = run(threads);
                assert_eq!(bits(&many.0), bits(&one.0), "{blend:?} {path} {threads}");
                assert_eq!(bits(&many.1), bits(&one.1), "{blend:?} {path} {threads}");
            }
        }
    }
}

#[test]
fn positions_alone_are_those_that_come_with_normals() {
    let random = &mut Random(8);
    let skin = Skin::random(random, 3001, 40, 5);
    let matrices = matrices(&transforms(random, 40));
    for blend in BLENDS {
        for path in Path::available() {
            let skinner = Skinner::new(blend, &skin.surface, &skin.weights, path).expect("available");
            let mut alone = vec![Vec3::NAN; 3001];
            skinner.positions(&matrices, &mut skinner.state(), &mut alone);
            assert_eq!(bits(&alone), bits(&skin.pose_by(blend, path, &matrices).0));
        }
    }
}

#[test]
fn an_empty_skin_is_no_trouble() {
    let skin = Skin::new(Vec::new(), Vec::new(), &[], 3);
    for blend in BLENDS {
        for path in Path::available() {
            let posed = skin.pose_by(blend, path, &matrices(&[DAffine3::IDENTITY; 3]));
            assert!(posed.0.is_empty());
        }
    }
}

#[test]
fn a_matrix_gone_to_infinity_spoils_no_vertex_but_its_own() {
    let random = &mut Random(9);
    let skin = Skin::random(random, 500, 12, 3);
    let mut matrices = matrices(&transforms(random, 12));
    for blend in BLENDS {
        for path in Path::available() {
            let before = skin.pose_by(blend, path, &matrices);
            let kept = std::mem::replace(&mut matrices[5][1][2], f32::INFINITY);
            let after = skin.pose_by(blend, path, &matrices);
            matrices[5][1][2] = kept;
            for v in (0..500).filter(|&v| skin.weights.of(v).all(|(slot, _)| slot != 5)) {
                assert_eq!(bits(&before.0[v..=v]), bits(&after.0[v..=v]), "{blend:?} {path} {v}");
                assert_eq!(bits(&before.1[v..=v]), bits(&after.1[v..=v]), "{blend:?} {path} {v}");
            }
        }
    }
}
