//! The correction map: how much of a region's correction each point takes.

use super::Options;
use super::regions::Regions;
use crate::body::Bvh;
use crate::parallel;
use crate::skin::mesh::{Mesh, OnBone};

/// Weights are f32 and sum to one but for this.
const ROUNDING: f64 = 1e-5;
/// What of the most that is taken in a region is hardly anything.
const LEAST: f64 = 0.04;

/// What the skin gives way by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Map {
    /// `(1 - w_max)^alpha`: alike all around the joint.
    Rubber,
    /// That times `d^beta`, `d` the distance to the nearest bone: more where there is more flesh.
    Organic,
    /// What is painted, alone.
    Painted,
}

/// How far bones other than the first move each point: `1 - w_max`, with merged joints counted as one and those left out
/// counted to whichever they go with.
pub(super) fn softness(mesh: &Mesh, options: &Options<'_>) -> Vec<f64> {
    let mut sums: Vec<(u16, f64)> = Vec::new();
    let of_point = |point: usize| {
        sums.clear();
        let mut out = 0.0;
        for &(slot, weight) in mesh.weights(point) {
            let weight = f64::from(weight);
            if options.left_out.get(slot as usize).copied().unwrap_or(false) {
                out += weight;
                continue;
            }
            let joint = options.joint_of_slot[slot as usize];
            match sums.iter_mut().find(|s| s.0 == joint) {
                Some(sum) => sum.1 += weight,
                None => sums.push((joint, weight)),
            }
        }
        let most = sums.iter().map(|s| s.1).fold(0.0, f64::max);
        let soft = 1.0 - most - out;
        if soft > ROUNDING { soft } else { 0.0 }
    };
    (0..mesh.len()).map(of_point).collect()
}

/// The map, smoothed over the skin; nothing where the skin is held or has no area.
pub(super) fn map(
    mesh: &Mesh,
    regions: &Regions,
    soft: &[f64],
    near: &[OnBone],
    radius: &[f64],
    options: &Options<'_>,
) -> Vec<f64> {
    let mut gamma: Vec<f64> = (0..mesh.len())
        .map(|p| {
            let rubber = if soft[p] > 0.0 { libm::pow(soft[p], options.alpha) } else { 0.0 };
            let painted =
                options.painted.map_or(1.0, |values| f64::from(values[mesh.vertex_of_point[p] as usize]));
            match options.map {
                Map::Rubber => rubber * painted,
                Map::Organic => {
                    let distance = near[p].distance / radius[p];
                    rubber * painted * if distance > 0.0 { libm::pow(distance, options.beta) } else { 0.0 }
                }
                Map::Painted => painted,
            }
        })
        .collect();
    let hold = |gamma: &mut [f64]| {
        gamma.iter_mut().zip(&regions.held).filter(|(_, held)| **held).for_each(|(g, _)| *g = 0.0);
    };
    hold(&mut gamma);
    let mut next = gamma.clone();
    for _ in 0..options.smoothing {
        for (p, next) in next.iter_mut().enumerate() {
            let (mut sum, mut count) = (0.0, 0.0);
            mesh.for_neighbours(p, |n| {
                sum += gamma[n];
                count += 1.0;
            });
            *next = if count > 0.0 { 0.5 * (gamma[p] + sum / count) } else { gamma[p] };
        }
        std::mem::swap(&mut gamma, &mut next);
        hold(&mut gamma);
    }
    // Last, or what is thin would be smoothed into. Squared, as distances are by default.
    gamma.iter_mut().zip(thickness(mesh, radius)).for_each(|(gamma, thick)| *gamma *= thick * thick);
    if options.map != Map::Painted {
        end(&mut gamma, regions);
    }
    gamma
}

/// Weights and their smoothing never quite end: what takes hardly anything takes nothing, and the rest as much less, so that
/// there is no edge.
fn end(gamma: &mut [f64], regions: &Regions) {
    let mut least = vec![0.0; gamma.len()];
    for triangles in &regions.triangles {
        let points = || triangles.iter().flatten().map(|&p| p as usize).filter(|p| *p < gamma.len());
        let most = points().map(|p| gamma[p]).fold(0.0, f64::max);
        points().for_each(|p| least[p] = LEAST * most);
    }
    gamma.iter_mut().zip(least).for_each(|(gamma, least)| *gamma = (*gamma - least).max(0.0));
}

/// How thick the flesh is under each point, over the limb's radius and at most one: what would be little for the limb is
/// much for its teeth and claws. The least under the triangles around it.
fn thickness(mesh: &Mesh, radius: &[f64]) -> Vec<f64> {
    /// How far under the skin a look starts, over the limb's radius: not on the triangle that it is for.
    const UNDER: f64 = 1e-6;
    let bvh = Bvh::new(&mesh.points, &mesh.triangles);
    let under = parallel::map(mesh.triangles.len(), |t| {
        let corners = mesh.triangles[t];
        let [a, b, c] = corners.map(|p| mesh.points[p as usize]);
        let Some(normal) = (b - a).cross(c - a).try_normalize() else { return 1.0 };
        let reach = corners.iter().map(|&p| radius[p as usize]).fold(0.0, f64::max);
        let middle = (a + b + c) / 3.0;
        let mut crossings = Vec::new();
        bvh.crossings(middle - normal * (UNDER * reach), middle - normal * reach, &mut crossings);
        crossings.iter().find(|c| c.step < 0).map_or(1.0, |out| out.at)
    });
    let least = |p: usize| mesh.around.of(p).iter().map(|&t| under[t as usize]).fold(1.0, f64::min);
    (0..mesh.len()).map(least).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What takes hardly anything of what its own region does takes nothing, however much or little that is; nothing grows,
    /// and what takes more still does.
    #[test]
    fn tails_end() {
        let triangles = vec![vec![[0, 1, 2], [1, 2, 3]], vec![[4, 5, 6]]];
        let regions = Regions { count: 2, triangles, ..Regions::default() };
        for scale in [1.0, 1e-3] {
            let before =
                [1.0, 0.9 * LEAST, 1.1 * LEAST, 0.5, 0.5 * LEAST, 0.2 * LEAST, 0.0].map(|g| g * scale);
            let mut gamma = before.to_vec();
            end(&mut gamma, &regions);
            assert!(gamma.iter().zip(&before).all(|(now, was)| now <= was && *now >= 0.0));
            let takes: Vec<bool> = gamma.iter().map(|g| *g > 0.0).collect();
            assert_eq!(takes, [true, false, true, true, true, true, false], "{gamma:?}");
            assert!(gamma[0] > gamma[3] && gamma[3] > gamma[2] && gamma[4] > gamma[5]);
        }
    }
}
