//! Meshes without a skin: armour, eyes, weapons that ride on a joint. They are not deformed, but belong in a picture.

use glam::Vec3;
use pliant::asset::Surface;
use pliant::rig::Pose;

/// A rigid mesh and the joint (or plain node of the skeleton) that carries it.
#[derive(Debug, Clone, PartialEq)]
pub struct Prop {
    /// Its name in the file.
    pub name: String,
    /// The joint that carries it.
    pub joint: u32,
    /// Its surface, in the joint's space.
    pub surface: Surface,
    /// Base colour, linear RGB.
    pub color: [f32; 3],
}

impl Prop {
    /// Where its vertices are in a pose, in scene space.
    pub fn positions(&self, pose: &Pose) -> Vec<Vec3> {
        let world_from_joint = pose.world_from_joint[self.joint as usize];
        let moved = |p: &Vec3| world_from_joint.transform_point3(p.as_dvec3()).as_vec3();
        self.surface.positions().iter().map(moved).collect()
    }
}
