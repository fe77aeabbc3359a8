//! What the strain solver's tests share.
#![allow(dead_code, unused_imports, unreachable_pub, reason = "each test file uses its part")]

#[path = "../solver_common/mod.rs"]
mod solver_common;

use pliant::asset::TetMesh;
use pliant::body::{Node, bench_block, rest_nodes};
use pliant::glam::{DQuat, DVec3, Quat};
pub use solver_common::*;

/// A bar four times as long as thick with a bone along its axis that has a joint in the middle. Nodes on the bone are
/// pinned, but not around the joint.
pub struct Limb {
    pub mesh: TetMesh,
    pub pinned: Vec<bool>,
}

impl Limb {
    /// With so many cells across.
    pub fn new(across: usize) -> Self {
        let half = DVec3::new(2.0, 0.5, 0.5);
        let mesh = bench_block([4 * across, across, across], -half, half).expect("sound");
        // Two cells by two: a line alone would let flesh turn about it.
        let core = 1.05 / across as f32;
        let is_pinned = |p: &pliant::glam::Vec3| p.y.abs() < core && p.z.abs() < core && p.x.abs() > 0.5;
        let pinned = mesh.positions().iter().map(is_pinned).collect();
        Self { mesh, pinned }
    }

    /// Nodes of one mass, moved; pinned ones stay.
    pub fn moved(&self, mut by: impl FnMut(DVec3) -> DVec3) -> Vec<Node> {
        let mut nodes: Vec<Node> = rest_nodes(&self.mesh).iter().map(|n| [n[0], n[1], n[2], 1.0]).collect();
        for (n, _) in nodes.iter_mut().zip(&self.pinned).filter(|(_, pinned)| !**pinned) {
            *n = node(by(place(*n)), 1.0);
        }
        nodes
    }

    /// Flesh at rest, but the bone bent at its joint by an angle in radians.
    pub fn bent(&self, angle: f64) -> Vec<Node> {
        let mut nodes = self.moved(|p| p);
        let turn = DQuat::from_rotation_z(angle);
        for (n, _) in nodes.iter_mut().zip(&self.pinned).filter(|(n, pinned)| **pinned && n[0] > 0.0) {
            *n = node(turn * place(*n), 1.0);
        }
        nodes
    }
}

/// A frame for each tet.
pub fn random_frames(random: &mut Random, count: usize) -> Vec<Quat> {
    (0..count).map(|_| random.rotation().as_quat()).collect()
}
