//! What is thin is not blown up for the limb that it grows on.

mod smooth_common;

use pliant::asset::{Character, Surface};
use pliant::glam::{DAffine3, Vec3};
use pliant::method::Settings;
use pliant::rig::Pose;
use smooth_common::{change, farthest, held, off_centre_arm};

/// An arm of this radius with a fin along its elbow, as high as the arm is thick, and the two edges of the fin.
fn finned(radius: f64) -> (Character, Vec<[usize; 2]>) {
    let arm = off_centre_arm([radius, radius], 0.0);
    let (ring, rings) = (48, 36..61);
    let mut raw = arm.into_raw();
    let mut positions: Vec<Vec3> = raw.surface.positions().to_vec();
    for at in rings.clone() {
        for k in [0, 1, 47] {
            positions[at * ring + k].y += 2.0 * radius as f32;
        }
    }
    raw.surface = Surface::new(positions, None, raw.surface.triangles().to_vec()).expect("sound");
    let edges = rings.map(|at| [at * ring + 1, at * ring + 47]).collect();
    (Character::new(raw).expect("sound"), edges)
}

#[test]
fn a_fin_stays_thin() {
    let radius = 0.2;
    let (character, edges) = finned(radius);
    let settings = Settings { overlap: Some(false), ..Settings::default() };
    // The fin is on neither side of the bend.
    let mut pose = Pose::rest(&character);
    pose.world_from_joint[1] *= DAffine3::from_rotation_y(1.4);
    let plain = held(&character, "lbs", &settings, &pose).positions;
    let kept = held(&character, "volume", &settings, &pose).positions;
    let [lost, left] = [&plain, &kept].map(|shape| change(&character, shape).abs());
    assert!(lost > 1.0 && left < 1e-4, "{lost} % are lost, {left} % after the correction");
    assert!(farthest(&plain, &kept) > 0.05 * radius, "the limb gives way");
    let width = |shape: &[Vec3], [a, b]: [usize; 2]| shape[a].distance(shape[b]);
    let grown = edges.iter().map(|&edge| width(&kept, edge) / width(&plain, edge)).fold(0.0, f32::max);
    assert!(grown < 1.5, "{grown} times as thick");
}
