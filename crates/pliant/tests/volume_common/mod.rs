//! What the tests of volume and overlap share.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use pliant::asset::Character;
use pliant::glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use pliant::measure::{Judge, Options};
use pliant::method::{self, Deformer, Health, Settings, Setup, Shape};
use pliant::rig::Pose;
use pliant::simd::Path;
use pliant::zoo;

pub fn sample(name: &str, vertices: Option<usize>) -> Character {
    zoo::character(name, vertices).expect("a sample")
}

pub fn joint(character: &Character, name: &str) -> usize {
    let joints = character.skeleton().joints();
    joints.iter().position(|j| j.name == name).unwrap_or_else(|| panic!("no joint {name}"))
}

/// The default pose with some joints turned about axes of the scene, in degrees.
pub fn turned(character: &Character, turns: &[(usize, DVec3, f64)]) -> Pose {
    let mut pose = Pose::rest(character);
    let joints = character.skeleton().joints();
    for (index, joint) in joints.iter().enumerate() {
        let mut local = joint.local.to_affine();
        for (_, axis, degrees) in turns.iter().filter(|t| t.0 == index) {
            // About the scene's axis at rest, seen from the parent.
            let above = joint.parent.map_or(DAffine3::IDENTITY, |p| joints[p as usize].world_from_rest);
            let axis = (above.matrix3.inverse() * *axis).normalize();
            let turn = DMat3::from_quat(DQuat::from_axis_angle(axis, degrees.to_radians()));
            local = DAffine3 { matrix3: turn * local.matrix3, translation: local.translation };
        }
        let parent = joint.parent.map_or(DAffine3::IDENTITY, |p| pose.world_from_joint[p as usize]);
        pose.world_from_joint[index] = parent * local;
    }
    pose
}

pub fn prepare<'c>(
    name: &str,
    character: &'c Character,
    settings: &Settings,
    path: Path,
) -> Box<dyn Deformer + 'c> {
    let setup = Setup { path, settings, tets: None, progress: &mut |_| true };
    method::prepare(name, character, setup).expect("prepared")
}

/// The skin in a pose.
pub fn skin(name: &str, character: &Character, settings: &Settings, pose: &Pose) -> (Shape, Health) {
    let deformer = prepare(name, character, settings, Path::best());
    let mut shape = Shape::rest(character);
    let health = deformer.instance().step(pose, 0.0, &mut shape, &mut |_| {});
    (shape, health)
}

pub fn judge(character: &Character, crossings: bool) -> Judge {
    Judge::new(character, Options { self_intersections: crossings })
}

pub fn farthest(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a.distance(*b))).fold(0.0, f64::max)
}

pub fn with_overlap(on: bool) -> Settings {
    Settings { overlap: Some(on), ..Settings::default() }
}
