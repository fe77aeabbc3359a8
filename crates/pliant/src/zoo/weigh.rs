//! Skin weights as an artist would paint them: whole on a bone, blended over the joints, nothing across a gap.

use super::field::{Field, smoothstep};
use super::figure::Figure;
use crate::parallel;
use glam::DVec3;

/// Weights blend over this many limb radii on both sides of a joint.
const BLEND: f64 = 0.75;
/// Where other flesh is nearer, a limb has a say up to this many of its radii from its own, unless it says itself.
const SAY: f64 = 0.6;
/// Flesh this many radii nearer than all other is its limb's alone, wherever the joint's plane runs.
const SURE: f64 = 1.2;
/// Half-steps of smoothing over the skin: where a thin limb leaves a coarse body, a blend is narrower than an edge.
const SMOOTHINGS: usize = 3;
/// Most joints on a vertex, and the weight below which one is dropped.
const MOST: usize = 4;
const LEAST: f64 = 2e-3;

/// What is needed to weigh points of one figure.
pub(super) struct Scale<'a> {
    field: &'a Field,
    joints: Vec<JointPlane>,
    /// Beyond this much farther than the nearest, flesh no longer counts.
    horizon: f64,
}

struct JointPlane {
    parent: Option<usize>,
    children: Vec<usize>,
    at: DVec3,
    normal: DVec3,
    radius: f64,
    say: f64,
}

impl<'a> Scale<'a> {
    pub(super) fn new(figure: &Figure, field: &'a Field) -> Self {
        let plane = |j: usize| {
            let parent = figure.pins[j].parent;
            // Where a limb only goes on, the joint's plane alone decides; at a branch flesh has to be near as well.
            let only_child = parent.is_some_and(|p| figure.children(p).count() == 1);
            let say = if only_child { f64::INFINITY } else { SAY * figure.radius(j) };
            JointPlane {
                parent,
                children: figure.children(j).collect(),
                at: figure.pins[j].at,
                normal: figure.across(j),
                radius: figure.radius(j),
                say: figure.pins[j].say.unwrap_or(say),
            }
        };
        let joints: Vec<JointPlane> = (0..figure.pins.len()).map(plane).collect();
        let reach =
            |j: &JointPlane| if j.say.is_finite() { j.say.max(SURE * j.radius) } else { SURE * j.radius };
        let horizon = joints.iter().map(reach).fold(0.0, f64::max);
        Self { field, joints, horizon }
    }

    /// Weights of a point on the skin. Each joint, from the root on, hands to its children what lies beyond their
    /// planes and near their flesh. Every step is continuous in the point, and so are the weights.
    pub(super) fn weights(&self, p: DVec3) -> Vec<(u16, f64)> {
        let count = self.joints.len();
        let mut nearest = f64::INFINITY;
        for j in 0..count {
            nearest = nearest.min(self.field.own_distance(j, p, nearest));
        }
        let own: Vec<f64> =
            (0..count).map(|j| self.field.own_distance(j, p, nearest + self.horizon)).collect();
        // Distance to the flesh of each limb, then to all flesh outside it.
        let mut limb = own.clone();
        for j in (1..count).rev() {
            if let Some(up) = self.joints[j].parent {
                limb[up] = limb[up].min(limb[j]);
            }
        }
        let mut rest = vec![f64::INFINITY; count];
        let mut weight = vec![0.0; count];
        weight[0] = 1.0;
        for up in 0..count {
            if weight[up] <= 0.0 {
                continue;
            }
            let children = &self.joints[up].children;
            let mut asked = 0.0;
            for &j in children {
                let others = children.iter().filter(|&&s| s != j).map(|&s| limb[s]);
                rest[j] = others.fold(rest[up].min(own[up]), f64::min);
                weight[j] = self.share(j, p, rest[j] - limb[j]);
                asked += weight[j];
            }
            // A joint gives what its children ask for, and no more than it has.
            for &j in children {
                weight[j] *= weight[up] / f64::max(asked, 1.0);
            }
            weight[up] *= (1.0 - asked).max(0.0);
        }
        (0..count).map(|j| (j as u16, weight[j])).filter(|e| e.1 > 0.0).collect()
    }

    /// How much of its parent's weight a joint asks for at a point whose limb is `nearer` than all other flesh.
    fn share(&self, joint: usize, p: DVec3, nearer: f64) -> f64 {
        let JointPlane { at, normal, radius, say, .. } = self.joints[joint];
        let reach = BLEND * radius;
        let beyond = smoothstep(-reach, reach, (p - at).dot(normal));
        if nearer > 0.0 {
            return beyond.max(smoothstep(0.5 * SURE * radius, SURE * radius, nearer));
        }
        if say.is_finite() { beyond * (1.0 - smoothstep(0.0, say, -nearer)) } else { beyond }
    }
}

/// Smooths weights over the skin, then keeps the largest few of each vertex.
pub(super) fn finish(mut weights: Vec<Vec<(u16, f64)>>, triangles: &[[u32; 3]]) -> Vec<Vec<(u16, f32)>> {
    // On a closed surface each edge runs once each way: a vertex's neighbours are where its sides lead.
    let mut sides: Vec<(u32, u32)> =
        triangles.iter().flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]).collect();
    sides.sort_unstable();
    for _ in 0..SMOOTHINGS {
        weights = parallel::map(weights.len(), |v| {
            let first = sides.partition_point(|s| (s.0 as usize) < v);
            let around: Vec<u32> =
                sides[first..].iter().take_while(|s| s.0 as usize == v).map(|s| s.1).collect();
            let mut mixed: Vec<(u16, f64)> = weights[v].iter().map(|&(j, w)| (j, 0.5 * w)).collect();
            for &neighbour in &around {
                for &(j, w) in &weights[neighbour as usize] {
                    let w = 0.5 * w / around.len() as f64;
                    match mixed.iter_mut().find(|e| e.0 == j) {
                        Some(entry) => entry.1 += w,
                        None => mixed.push((j, w)),
                    }
                }
            }
            mixed
        });
    }
    let keep = |mut found: Vec<(u16, f64)>| {
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(MOST);
        found.retain(|e| e.1 > LEAST);
        let sum: f64 = found.iter().map(|e| e.1).sum();
        found.into_iter().map(|(j, w)| (j, (w / sum) as f32)).collect()
    };
    weights.into_iter().map(keep).collect()
}
