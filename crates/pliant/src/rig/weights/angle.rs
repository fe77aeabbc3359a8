//! Weights from influence angles (seed 002): at each joint, how far a point is from either bone, as an angle.

use super::{BoneDistances, NearBones};
use crate::asset::{AssetError, Skeleton, Weights};
use crate::parallel;
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Of the angle between two bones at rest, what a limit angle may be at most: nearer to half of it the ratio becomes a
/// step, and beyond turns its sign.
const MOST_OF_ANGLE: f64 = 0.4;
/// Distances to a joint's bones, over that to the nearest bone of all, between which angles at the joint cease to count:
/// seen from an elbow, a foot is in some direction too.
const LOCAL: [f64; 2] = [1.5, 2.5];
/// Joints in one place that a search for a bone of some length passes, at most.
const MOST_IN_ONE_PLACE: usize = 256;
/// How sharply a point belongs to the nearer of two bones: as the distance to this power.
const SHARPNESS: i32 = 8;
/// What is left to each of several branches whose cones a point lies in at once.
const BRANCH: f64 = 0.05;
/// Weights below this are none; it is taken off all, so that they still fade.
const LEAST: f64 = 1e-3;

/// How [`angle`] weighs bones.
#[derive(Debug, Clone, PartialEq)]
pub struct AngleSettings {
    /// Radians from a bone within which a point moves with that bone alone; 30 degrees normally. It is never more than
    /// 0.4 of the angle between the bones.
    pub limit: f64,
    /// Joints, by number in the skeleton, with limits of their own.
    pub joints: BTreeMap<u32, f64>,
}

impl Default for AngleSettings {
    fn default() -> Self {
        Self { limit: PI / 6.0, joints: BTreeMap::new() }
    }
}

impl AngleSettings {
    /// The limit at a joint.
    pub fn at(&self, joint: u32) -> f64 {
        self.joints.get(&joint).copied().unwrap_or(self.limit)
    }
}

/// The limit angle that can be used between bones at an angle of `between`.
pub fn limit_angle(wanted: f64, between: f64) -> f64 {
    wanted.min(MOST_OF_ANGLE * between)
}

/// The child's share at a joint, from the angles to the parent's and the child's bone: `r = n_p / (n_p + n_c)` with
/// `n = max(angle - limit, 0)`, `W(r) = -6.4 r^5 + 16 r^4 - 14.8 r^3 + 6.2 r^2`.
pub fn child_share(to_parent: f64, to_child: f64, limit: f64) -> f64 {
    let (parent, child) = ((to_parent - limit).max(0.0), (to_child - limit).max(0.0));
    let r = if parent + child > 0.0 { parent / (parent + child) } else { 0.5 };
    r * r * (6.2 + r * (-14.8 + r * (16.0 - 6.4 * r)))
}

/// The angle between two vectors; a right one where one of them has no length.
pub fn between(a: DVec3, b: DVec3) -> f64 {
    if a == DVec3::ZERO || b == DVec3::ZERO { PI / 2.0 } else { libm::atan2(a.cross(b).length(), a.dot(b)) }
}

/// A slot among the bones.
struct Node {
    joint: u32,
    at: DVec3,
    parent: Option<u16>,
    children: Vec<u16>,
    /// Directions of its bones, and to the other end of the bone before it.
    bones: Vec<DVec3>,
    back: Option<DVec3>,
    /// One after the last slot that hangs on it; they follow one another in `order`.
    rank: usize,
    end: usize,
}

struct Tree {
    nodes: Vec<Node>,
    roots: Vec<u16>,
}

impl Tree {
    fn new(skeleton: &Skeleton, bones: &BoneDistances) -> Self {
        let joints = skeleton.joints();
        let mut slot_of_joint: Vec<Option<u16>> = Vec::with_capacity(joints.len());
        let mut nodes: Vec<Node> = Vec::new();
        let mut roots = Vec::new();
        for (index, joint) in joints.iter().enumerate() {
            let above = joint.parent.and_then(|p| slot_of_joint[p as usize]);
            if !joint.deforms {
                // What hangs on a plain node hangs on what carries that.
                slot_of_joint.push(above);
                continue;
            }
            let slot = nodes.len() as u16;
            slot_of_joint.push(Some(slot));
            match above {
                Some(parent) => nodes[parent as usize].children.push(slot),
                None => roots.push(slot),
            }
            let at = joint.world_from_rest.translation;
            let mut back = None;
            let mut up = above;
            for _ in 0..MOST_IN_ONE_PLACE {
                let Some(p) = up.filter(|_| back.is_none()) else { break };
                let way = nodes[p as usize].at - at;
                back = (way.length() > bones.smallest()).then_some(way);
                up = nodes[p as usize].parent;
            }
            let children = Vec::new();
            nodes.push(Node {
                joint: index as u32,
                at,
                parent: above,
                children,
                bones: Vec::new(),
                back,
                rank: 0,
                end: 0,
            });
        }
        for (slot, bone) in bones.bones() {
            let way = bone.end - bone.start;
            if way.length() > bones.smallest() {
                nodes[*slot as usize].bones.push(way);
            }
        }
        let mut made = Self { nodes, roots };
        made.rank();
        made
    }

    /// Numbers slots so that all that hangs on one follows it.
    fn rank(&mut self) {
        let mut stack: Vec<(u16, bool)> = self.roots.iter().rev().map(|&r| (r, false)).collect();
        let mut next = 0;
        while let Some((slot, is_done)) = stack.pop() {
            if is_done {
                self.nodes[slot as usize].end = next;
                continue;
            }
            self.nodes[slot as usize].rank = next;
            next += 1;
            stack.push((slot, true));
            stack.extend(self.nodes[slot as usize].children.iter().rev().map(|&c| (c, false)));
        }
    }
}

/// What is near a point.
struct View<'a> {
    tree: &'a Tree,
    settings: &'a AngleSettings,
    point: DVec3,
    /// Slots with their distances, nearest first.
    near: Vec<(u16, f64)>,
    /// How many there are at most.
    room: usize,
}

impl View<'_> {
    fn distance(&self, slot: u16) -> f64 {
        self.near.iter().find(|n| n.0 == slot).map_or(f64::INFINITY, |n| n.1)
    }

    fn nearest(&self) -> f64 {
        self.near.first().map_or(1.0, |n| n.1)
    }

    /// The distance, over the nearest, from which on bones are not known of: those that are fade out before it.
    fn horizon(&self) -> f64 {
        let last = self.near.last().map_or(f64::INFINITY, |n| n.1 / self.nearest());
        if self.near.len() < self.room { f64::INFINITY } else { last.max(1.0 + 1e-6) }
    }

    /// 1 for what is as near as another, or nearer; less and less beyond, to nothing at the horizon.
    fn nearness(&self, other: f64, distance: f64) -> f64 {
        if distance <= other {
            return 1.0;
        }
        let least = power(1.0 / self.horizon());
        ((power(other / distance) - least) / (1.0 - least)).max(0.0)
    }

    /// How much of the point is with the bones that hang on a slot, and how far the nearest of them is.
    fn side(&self, slot: u16) -> (f64, f64) {
        let node = &self.tree.nodes[slot as usize];
        let (mut own, mut all, mut nearest) = (0.0, 0.0, f64::INFINITY);
        let least = power(1.0 / self.horizon());
        for &(other, distance) in &self.near {
            let mass = (power(self.nearest() / distance) - least).max(0.0);
            all += mass;
            if (node.rank..node.end).contains(&self.tree.nodes[other as usize].rank) {
                own += mass;
                nearest = nearest.min(distance);
            }
        }
        (if all > 0.0 { own / all } else { 0.0 }, nearest)
    }

    /// The child's share at the joint of a slot, and how near what hangs on it is.
    fn share(&self, slot: u16) -> (f64, f64) {
        let node = &self.tree.nodes[slot as usize];
        let (side, nearest) = self.side(slot);
        let (Some(back), Some(parent), false) = (node.back, node.parent, node.bones.is_empty()) else {
            return (side, nearest);
        };
        let reach = self.distance(slot).min(self.distance(parent)) / self.nearest();
        let end = LOCAL[1].min(self.horizon());
        let start = 1.0 + (end - 1.0) * (LOCAL[0] - 1.0) / (LOCAL[1] - 1.0);
        let t = ((reach - start) / (end - start)).clamp(0.0, 1.0);
        let local = 1.0 - t * t * (3.0 - 2.0 * t);
        if local <= 0.0 {
            return (side, nearest);
        }
        let way = self.point - node.at;
        let to_child = node.bones.iter().map(|&b| between(way, b)).fold(PI, f64::min);
        let at_rest = node.bones.iter().map(|&b| between(back, b)).fold(PI, f64::min);
        let limit = limit_angle(self.settings.at(node.joint), at_rest);
        let share = child_share(between(way, back), to_child, limit);
        (local * share + (1.0 - local) * side, nearest)
    }

    /// Weights along the tree: `1 - W1, W1 (1 - W2), W1 W2`; branches in proportion to `W/(1 - W)`.
    fn weights(&self) -> Vec<(u16, f32)> {
        let mut found: Vec<(u16, f64)> = Vec::new();
        let mut stack: Vec<(u16, f64)> = Vec::new();
        let roots = self.tree.roots.iter().map(|&root| (root, self.side(root).0));
        stack.extend(roots.filter(|r| r.1 > 0.0));
        while let Some((slot, part)) = stack.pop() {
            let children = &self.tree.nodes[slot as usize].children;
            let shares: Vec<(u16, f64, f64)> = children
                .iter()
                .map(|&child| {
                    let (share, nearest) = self.share(child);
                    (child, share.clamp(0.0, 1.0), nearest)
                })
                .filter(|s| s.1 > 0.0)
                .collect();
            if let [(child, share, _)] = shares[..] {
                found.push((slot, part * (1.0 - share)));
                stack.push((child, part * share));
                continue;
            }
            let own: f64 = shares.iter().map(|s| 1.0 - s.1).product();
            let branch = |k: usize| {
                let (_, share, distance) = shares[k];
                let others = shares.iter().enumerate().filter(|(other, _)| *other != k);
                // As far as another claims the point, this one steps back, and the more the nearer the other is.
                others.fold(share, |part, (_, other)| {
                    let apart = 1.0 - (1.0 - BRANCH) * other.1;
                    part * apart * (1.0 - other.1 * (1.0 - self.nearness(other.2, distance)))
                })
            };
            let parts: Vec<f64> = (0..shares.len()).map(branch).collect();
            let total = own + parts.iter().sum::<f64>();
            if total <= 0.0 {
                found.push((slot, part));
                continue;
            }
            found.push((slot, part * own / total));
            stack.extend(shares.iter().zip(&parts).map(|(s, p)| (s.0, part * p / total)));
        }
        let cut = |w: f64| (w - LEAST).max(0.0);
        let total: f64 = found.iter().map(|f| cut(f.1)).sum();
        found.iter().map(|f| (f.0, (cut(f.1) / total) as f32)).filter(|f| f.1 > 0.0).collect()
    }
}

fn power(x: f64) -> f64 {
    let square = x * x;
    debug_assert_eq!(SHARPNESS, 8);
    let fourth = square * square;
    fourth * fourth
}

/// Weights by influence angles at the joints. Slots are those of [`super::slots`].
pub fn angle(
    positions: &[Vec3],
    skeleton: &Skeleton,
    bones: &BoneDistances,
    near: &NearBones,
    settings: &AngleSettings,
) -> Result<Weights, AssetError> {
    let (expected, found) = (positions.len(), near.len());
    if expected != found {
        return Err(AssetError::Length { what: "points with near bones", expected, found });
    }
    let tree = Tree::new(skeleton, bones);
    let room = near.room();
    let bound = parallel::map(positions.len(), |vertex| {
        let near = near.of(vertex).iter();
        let near: Vec<(u16, f64)> =
            near.map(|n| (n.slot, f64::from(n.distance).max(bones.smallest()))).collect();
        let view = View { tree: &tree, settings, point: positions[vertex].as_dvec3(), near, room };
        view.weights()
    });
    Ok(Weights::normalised(bound.iter().map(|v| v.iter().copied()), bones.slot_count(), |vertex| {
        near.of(vertex).first().map(|n| n.slot)
    })?
    .0)
}
