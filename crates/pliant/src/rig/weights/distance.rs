use super::{BoneDistances, rest_size};
use crate::asset::{AssetError, Skeleton, Weights};
use crate::parallel;
use glam::Vec3;

/// How [`distance`] weighs bones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistanceSettings {
    /// `k` in `w ~ (1/d)^k`; 4 normally. Less is softer; much more is stiff between bones and creased at joints.
    pub power: f64,
    /// How many joints a vertex is bound to at most; 4 normally, as much as game engines take.
    pub influences: usize,
}

impl Default for DistanceSettings {
    fn default() -> Self {
        Self { power: 4.0, influences: 4 }
    }
}

/// Weights by straight-line distance: `w ~ (1/d)^k` over the nearest bones, each joint counted once, by its nearest
/// bone. Slots are those of [`super::slots`].
///
/// A straight line leaves the body between an arm and the hip beside it: good for limbs apart from each other.
pub fn distance(
    positions: &[Vec3],
    skeleton: &Skeleton,
    settings: DistanceSettings,
) -> Result<Weights, AssetError> {
    let bones = BoneDistances::new(skeleton, rest_size(positions, skeleton))?;
    // Vertices by the thousand, so that scratch is made seldom.
    const CHUNK: usize = 1024;
    let chunks = parallel::map(positions.len().div_ceil(CHUNK), |chunk| {
        let mut near = Vec::new();
        let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(positions.len());
        let weigh = |point: &Vec3| {
            bones.measure(point.as_dvec3(), &mut near);
            near.sort_by(|a, b| a.0.total_cmp(&b.0));
            near.truncate(settings.influences.max(1));
            let first = near.first().map_or(1.0, |n| n.0);
            // Against the nearest, which has 1: no power overflows.
            near.iter().map(|&(d, slot)| (slot, libm::pow(first / d, settings.power) as f32)).collect()
        };
        positions[range].iter().map(weigh).collect::<Vec<Vec<(u16, f32)>>>()
    });
    let count = skeleton.joints().iter().filter(|j| j.deforms).count();
    let per_vertex = chunks.iter().flatten().map(|v| v.iter().copied());
    Ok(Weights::normalised(per_vertex, count, |_| None)?.0)
}
