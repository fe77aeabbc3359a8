//! Weights from angles: continuous everywhere, also where bones are short, and where they branch.

use pliant::asset::{Joint, Local, Skeleton};
use pliant::glam::{DAffine3, DVec3, Vec3};
use pliant::rig::weights::{AngleSettings, BoneDistances, NearBones, angle, child_share, rest_size};

fn skeleton(joints: &[(Option<u32>, [f64; 3])]) -> Skeleton {
    let joints = joints.iter().enumerate().map(|(index, &(parent, at))| Joint {
        name: format!("joint {index}"),
        parent,
        local: Local::IDENTITY,
        world_from_rest: DAffine3::from_translation(DVec3::from_array(at)),
        deforms: true,
        tails: Vec::new(),
    });
    Skeleton::new(joints.collect()).expect("sound")
}

/// Weights by slot at some points.
fn weights(skeleton: &Skeleton, points: &[Vec3]) -> Vec<Vec<f32>> {
    let bones = BoneDistances::new(skeleton, rest_size(points, skeleton)).expect("bones");
    let near = NearBones::straight(points, &bones);
    let made = angle(points, skeleton, &bones, &near, &AngleSettings::default()).expect("weights");
    (0..points.len())
        .map(|p| {
            let mut of = vec![0.0; skeleton.len()];
            made.of(p).for_each(|(slot, w)| of[usize::from(slot)] = w);
            of
        })
        .collect()
}

/// The largest change of a weight between neighbours on lines through a box, at points at least `clear` from all joints.
fn largest_jump(skeleton: &Skeleton, low: DVec3, high: DVec3, clear: f64, steps: usize) -> f32 {
    let mut worst: f32 = 0.0;
    let lines = 5;
    for axis in 0..3 {
        for i in 0..lines {
            for j in 0..lines {
                let points: Vec<Vec3> = (0..=steps)
                    .map(|k| {
                        let mut u = DVec3::ZERO;
                        u[axis] = k as f64 / steps as f64;
                        u[(axis + 1) % 3] = (i as f64 + 0.43) / lines as f64;
                        u[(axis + 2) % 3] = (j as f64 + 0.57) / lines as f64;
                        (low + (high - low) * u).as_vec3()
                    })
                    .collect();
                let of = weights(skeleton, &points);
                for k in 0..steps {
                    let near = |p: Vec3| {
                        let joints = 0..skeleton.len() as u32;
                        joints.map(|j| skeleton.rest_position(j).distance(p.as_dvec3())).fold(9e9, f64::min)
                    };
                    if near(points[k]) > clear && near(points[k + 1]) > clear {
                        let change = |s: usize| (of[k][s] - of[k + 1][s]).abs();
                        worst = (0..skeleton.len()).map(change).fold(worst, f32::max);
                    }
                }
            }
        }
    }
    worst
}

/// Finer steps must make smaller changes, in proportion: a jump would stay as it is.
fn is_continuous(what: &str, skeleton: &Skeleton, low: DVec3, high: DVec3, clear: f64) {
    let [coarse, fine] = [800, 6400].map(|steps| largest_jump(skeleton, low, high, clear, steps));
    assert!(fine < 0.02 && fine < 0.2 * coarse, "{what}: {coarse} at 800 steps, {fine} at 6400");
}

#[test]
fn on_a_chain_of_long_bones() {
    let limb = skeleton(&[(None, [0.0; 3]), (Some(0), [1.0, 0.0, 0.0]), (Some(1), [2.0, 0.0, 0.0])]);
    is_continuous("long", &limb, DVec3::new(-0.5, -0.4, -0.4), DVec3::new(3.0, 0.4, 0.4), 0.1);
}

#[test]
fn on_bones_as_short_as_they_are_thick() {
    let joints: Vec<(Option<u32>, [f64; 3])> =
        (0..14).map(|k: u32| (k.checked_sub(1), [0.25 * f64::from(k), 0.0, 0.0])).collect();
    is_continuous("short", &skeleton(&joints), DVec3::new(-0.4, -0.4, -0.4), DVec3::new(4.0, 0.4, 0.4), 0.1);
}

#[test]
fn at_a_branch() {
    let hips = skeleton(&[
        (None, [0.0, 1.0, 0.0]),
        (Some(0), [0.0, 1.5, 0.0]),
        (Some(0), [0.1, 0.9, 0.0]),
        (Some(2), [0.12, 0.45, 0.0]),
        (Some(0), [-0.1, 0.9, 0.0]),
        (Some(4), [-0.12, 0.45, 0.0]),
    ]);
    is_continuous("branch", &hips, DVec3::new(-0.35, -0.1, -0.2), DVec3::new(0.35, 1.7, 0.2), 0.05);
}

#[test]
fn weights_are_the_seeds() {
    for (r, w) in [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)] {
        // Angles whose ratio is r, beyond a limit of 0.3.
        assert!((child_share(0.3 + r, 0.3 + 1.0 - r, 0.3) - w).abs() < 1e-12);
    }
    assert_eq!(child_share(0.1, 0.2, 0.3), 0.5);
    let limb = skeleton(&[(None, [0.0; 3]), (Some(0), [1.0, 0.0, 0.0]), (Some(1), [2.0, 0.0, 0.0])]);
    // 20 degrees from the first bone at the joint: that bone alone; right above the joint: both alike.
    let of = weights(&limb, &[Vec3::new(0.45, 0.2, 0.0), Vec3::new(1.0, 0.3, 0.0), Vec3::new(1.5, 0.1, 0.0)]);
    assert!((of[0][0] - 1.0).abs() < 1e-3 && (of[2][1] - 1.0).abs() < 1e-3, "{of:?}");
    assert!((of[1][0] - 0.5).abs() < 1e-3 && (of[1][1] - 0.5).abs() < 1e-3, "{of:?}");
}

#[test]
fn a_foot_is_no_part_of_the_other_leg() {
    let hips = skeleton(&[
        (None, [0.0, 1.0, 0.0]),
        (Some(0), [0.1, 0.9, 0.0]),
        (Some(1), [0.12, 0.45, 0.0]),
        (Some(0), [-0.1, 0.9, 0.0]),
        (Some(3), [-0.12, 0.45, 0.0]),
    ]);
    // On the inside of the left leg.
    for y in [0.3, 0.45, 0.6, 0.75] {
        let of = &weights(&hips, &[Vec3::new(0.05, y, 0.0)])[0];
        assert!(of[3] + of[4] < 0.02, "{y}: {of:?}");
    }
}
