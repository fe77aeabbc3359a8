//! What the skinning tests share.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use pliant::asset::{Surface, Weights};
use pliant::glam::{DAffine3, DQuat, DVec3, Vec3};
use pliant::rig::SkinMatrix;
use pliant::simd::Path;
use pliant::skin::{Blend, Skinner};

/// SplitMix64: the same rigs on every machine.
pub struct Random(pub u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
    /// In -1..1.
    pub fn number(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }
    pub fn rotation(&mut self) -> DQuat {
        DQuat::from_xyzw(self.number(), self.number(), self.number(), self.number() + 1.5).normalize()
    }
    /// Rotation and translation.
    pub fn rigid(&mut self) -> DAffine3 {
        DAffine3::from_rotation_translation(self.rotation(), self.vector())
    }
}

/// A skin with weights.
pub struct Skin {
    pub surface: Surface,
    pub weights: Weights,
}

impl Skin {
    /// Random vertices in a cube of side 2, each bound to at most `influences` of `slots`.
    pub fn random(random: &mut Random, vertices: usize, slots: usize, influences: usize) -> Self {
        let weights: Vec<Vec<(u16, f32)>> = (0..vertices)
            .map(|_| {
                let count = 1 + random.below(influences);
                (0..count)
                    .map(|_| (random.below(slots) as u16, (random.number().abs() + 1e-3) as f32))
                    .collect()
            })
            .collect();
        let positions = (0..vertices).map(|_| random.vector().as_vec3()).collect();
        let normals = (0..vertices).map(|_| random.vector().as_vec3()).collect();
        Self::new(positions, normals, &weights, slots)
    }

    pub fn new(positions: Vec<Vec3>, normals: Vec<Vec3>, weights: &[Vec<(u16, f32)>], slots: usize) -> Self {
        let weights = Weights::normalised(weights.iter().map(|w| w.iter().copied()), slots, |_| None);
        Self {
            surface: Surface::new(positions, Some(normals), Vec::new()).expect("finite"),
            weights: weights.expect("in range").0,
        }
    }

    /// Positions and normals posed by a path.
    pub fn pose_by(&self, blend: Blend, path: Path, matrices: &[SkinMatrix]) -> (Vec<Vec3>, Vec<Vec3>) {
        let skinner = Skinner::new(blend, &self.surface, &self.weights, path).expect("available");
        let mut positions = vec![Vec3::NAN; skinner.vertex_count()];
        let mut normals = positions.clone();
        skinner.positions_and_normals(matrices, &mut skinner.state(), &mut positions, &mut normals);
        (positions, normals)
    }

    /// Positions and normals posed by the best path.
    pub fn pose(&self, blend: Blend, transforms: &[DAffine3]) -> (Vec<Vec3>, Vec<Vec3>) {
        self.pose_by(blend, Path::best(), &matrices(transforms))
    }
}

pub fn matrices(transforms: &[DAffine3]) -> Vec<SkinMatrix> {
    let rows = |m: &DAffine3| {
        [0, 1, 2].map(|i| {
            let m3 = &m.matrix3;
            [m3.x_axis[i], m3.y_axis[i], m3.z_axis[i], m.translation[i]].map(|x| x as f32)
        })
    };
    transforms.iter().map(rows).collect()
}

/// The bits of vectors: what "the same" means between paths.
pub fn bits(vectors: &[Vec3]) -> Vec<[u32; 3]> {
    vectors.iter().map(|v| v.to_array().map(f32::to_bits)).collect()
}

pub const BLENDS: [Blend; 2] = [Blend::Linear, Blend::DualQuaternion];
