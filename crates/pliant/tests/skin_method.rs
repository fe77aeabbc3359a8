//! Skinning as a method: the registry, morphs, and what a step may not do.

use pliant::asset::{Character, Morph};
use pliant::glam::Vec3;
use pliant::method::{self, Shape, Stage};
use pliant::rig::Pose;
use pliant::simd::Path;
use pliant::skin::{bench_pose, bench_rig};

/// The limb, with one morph that lifts the first 100 vertices and turns their normals, and one that widens all.
fn morphing() -> Character {
    let mut raw = bench_rig(3000, 10, 4).expect("a sound rig").into_raw();
    let lift = Morph {
        name: "lift".into(),
        vertices: (0..100).collect(),
        positions: vec![Vec3::new(0.0, 0.5, 0.0); 100],
        normals: vec![Vec3::new(0.3, 0.0, 0.0); 100],
        default_weight: 0.0,
    };
    let normals = raw.surface.normals().to_vec();
    let widen = Morph {
        name: "widen".into(),
        vertices: (0..3000).collect(),
        positions: normals,
        normals: vec![Vec3::ZERO; 3000],
        default_weight: 0.0,
    };
    raw.morphs = vec![lift, widen];
    Character::new(raw).expect("sound with morphs")
}

fn step(character: &Character, name: &str, path: Path, pose: &Pose) -> Shape {
    let deformer = method::prepare_default(name, character, path).expect("known and available");
    let mut shape = Shape::rest(character);
    let mut stages = Vec::new();
    deformer.instance().step(pose, 1.0 / 30.0, &mut shape, &mut |stage| stages.push(stage));
    assert_eq!(stages, [Stage::Skin]);
    shape
}

#[test]
fn an_unknown_method_lists_the_known() {
    let character = bench_rig(100, 2, 2).expect("a sound rig");
    let error =
        method::prepare_default("wobble", &character, Path::Scalar).err().expect("unknown").to_string();
    assert!(error.contains("wobble"));
    assert!(method::NAMES.iter().all(|name| error.contains(name)) && method::NAMES.contains(&"lbs"));
}

#[test]
fn morphs_come_before_the_pose_and_go_without_a_trace() {
    let character = morphing();
    let mut pose = bench_pose(&character);
    for name in ["lbs", "dqs"] {
        for path in Path::available() {
            let plain = step(&character, name, path, &pose);
            pose.morph_weights = vec![0.5, -0.1];
            let morphed = step(&character, name, path, &pose);

            // The same as a character whose rest skin has the morphs in it.
            let mut raw = character.clone().into_raw();
            let (mut positions, mut normals) =
                (raw.surface.positions().to_vec(), raw.surface.normals().to_vec());
            for v in 0..3000 {
                let rest = normals[v];
                if v < 100 {
                    positions[v] += Vec3::new(0.0, 0.25, 0.0);
                    normals[v] += Vec3::new(0.15, 0.0, 0.0);
                }
                positions[v] += rest * -0.1;
            }
            raw.surface =
                pliant::asset::Surface::new(positions, Some(normals), raw.surface.triangles().to_vec())
                    .expect("finite");
            raw.morphs.clear();
            let baked = Character::new(raw).expect("sound");
            let mut still = pose.clone();
            still.morph_weights.clear();
            let expected = step(&baked, name, path, &still);
            let far =
                |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            assert!(far(&morphed.positions, &expected.positions) < 2e-6, "{name} {path}");
            assert!(far(&morphed.normals, &expected.normals) < 2e-6, "{name} {path}");
            assert!(far(&morphed.positions, &plain.positions) > 0.1);

            // One instance through several weights: each as if it were the first, and zero leaves nothing behind.
            let deformer = method::prepare_default(name, &character, path).expect("known");
            let mut instance = deformer.instance();
            let mut shape = Shape::rest(&character);
            for weights in [[0.0, 0.0], [1.0, 0.0], [0.5, -0.1], [0.5, -0.1]] {
                pose.morph_weights = weights.to_vec();
                instance.step(&pose, 0.1, &mut shape, &mut |_| {});
            }
            assert_eq!(shape, morphed);
            pose.morph_weights = vec![0.0, 0.0];
            instance.step(&pose, 0.1, &mut shape, &mut |_| {});
            assert_eq!(shape, plain);
        }
    }
}

#[test]
fn instances_do_not_disturb_each_other() {
    let character = morphing();
    let mut pose = bench_pose(&character);
    let deformer = method::prepare_default("dqs", &character, Path::best()).expect("known");
    let (mut a, mut b) = (deformer.instance(), deformer.instance());
    let (mut first, mut second, mut again) =
        (Shape::rest(&character), Shape::rest(&character), Shape::rest(&character));
    a.step(&pose, 0.1, &mut first, &mut |_| {});
    pose.morph_weights = vec![1.0, 1.0];
    b.step(&pose, 0.1, &mut second, &mut |_| {});
    pose.morph_weights = vec![0.0, 0.0];
    a.step(&pose, 0.1, &mut again, &mut |_| {});
    assert_eq!(first, again);
    assert_ne!(first, second);
}
