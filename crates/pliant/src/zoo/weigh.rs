//! Skin weights as an artist would paint them: whole on a bone, blended over the joints, nothing across a gap.

use super::field::{Field, smoothstep};
use super::figure::Figure;
use glam::DVec3;

/// Weights blend over this many limb radii on both sides of a joint.
const BLEND: f64 = 0.75;
/// A limb has a say up to this many of its radii from its flesh, where other flesh is nearer.
const SAY: f64 = 0.35;
/// Joints this many bones away from the one whose flesh is nearest may have weight.
const HOPS: usize = 2;
/// Most joints on a vertex, and the weight below which one is dropped.
const MOST: usize = 4;
const LEAST: f64 = 2e-3;

/// What is needed to weigh points of one figure.
pub(super) struct Scale<'a> {
    field: &'a Field,
    joints: Vec<JointPlane>,
    /// For each joint the joints within [`HOPS`] of it, parents first.
    near: Vec<Vec<usize>>,
}

struct JointPlane {
    parent: Option<usize>,
    at: DVec3,
    normal: DVec3,
    radius: f64,
}

impl<'a> Scale<'a> {
    pub(super) fn new(figure: &Figure, field: &'a Field) -> Self {
        let plane = |j: usize| JointPlane {
            parent: figure.pins[j].parent,
            at: figure.pins[j].at,
            normal: figure.across(j),
            radius: figure.radius(j),
        };
        let count = figure.pins.len();
        let near = (0..count)
            .map(|j| {
                let mut hops = vec![usize::MAX; count];
                hops[j] = 0;
                for _ in 0..HOPS {
                    let before = hops.clone();
                    for (c, pin) in figure.pins.iter().enumerate() {
                        if let Some(p) = pin.parent {
                            hops[c] = hops[c].min(before[p].saturating_add(1));
                            hops[p] = hops[p].min(before[c].saturating_add(1));
                        }
                    }
                }
                (0..count).filter(|&k| hops[k] <= HOPS).collect()
            })
            .collect();
        Self { field, joints: (0..count).map(plane).collect(), near }
    }

    /// Weights of a point on the skin. Starting from the topmost joint nearby, each joint hands on to its children
    /// what lies beyond their planes and near their flesh: so weights are continuous, along short bones too.
    pub(super) fn weights(&self, p: DVec3) -> Vec<(u16, f32)> {
        let count = self.joints.len();
        let mut distance = vec![f64::INFINITY; count];
        let (mut nearest, mut owner) = (f64::INFINITY, 0);
        for j in 0..count {
            distance[j] = self.field.own_distance(j, p, nearest);
            if distance[j] < nearest {
                (nearest, owner) = (distance[j], j);
            }
        }
        let near = &self.near[owner];
        for &j in near {
            distance[j] = self.field.own_distance(j, p, nearest + SAY * self.joints[j].radius);
        }
        let parent = |j: usize| self.joints[j].parent.filter(|p| near.contains(p));
        // Distance to the flesh of the joint or of what hangs on it.
        let mut limb = distance;
        for &j in near.iter().rev() {
            if let Some(up) = parent(j) {
                limb[up] = limb[up].min(limb[j]);
            }
        }
        let mut share = vec![0.0; count];
        let mut asked = vec![0.0; count];
        for &j in near {
            let joint = &self.joints[j];
            let Some(up) = parent(j) else {
                share[j] = 1.0;
                continue;
            };
            let reach = BLEND * joint.radius;
            let beyond = smoothstep(-reach, reach, (p - joint.at).dot(joint.normal));
            let close = 1.0 - smoothstep(0.0, SAY * joint.radius, limb[j] - nearest);
            share[j] = beyond * close;
            asked[up] += share[j];
        }
        // A parent gives what its children ask for, and no more than it has.
        let mut weight = vec![0.0; count];
        for &j in near {
            let given = parent(j).map_or(1.0, |up| share[j] / asked[up].max(1.0) * weight[up]);
            weight[j] = given;
        }
        for &j in near.iter().rev() {
            weight[j] *= (1.0 - asked[j]).max(0.0);
        }
        let mut found: Vec<(usize, f64)> =
            near.iter().map(|&j| (j, weight[j])).filter(|e| e.1 > LEAST).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(MOST);
        let sum: f64 = found.iter().map(|e| e.1).sum();
        found.into_iter().map(|(j, w)| (j as u16, (w / sum) as f32)).collect()
    }
}
