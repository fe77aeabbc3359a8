//! The flesh around the joints, at rest: which points a bulge can raise, and where they are about the joint.

use super::regions::NONE;
use super::tree::Tree;
use super::{JointControl, SmoothOptions};
use crate::asset::Weights;
use crate::rig::weights::{between, limit_angle};
use glam::{DVec3, Vec3};
use std::f64::consts::PI;

/// Shares of a bone between which the bulge fades.
const BONE_FADE: [f64; 2] = [0.5, 0.95];
/// Limit angles below this, radians, leave no room for a ridge: the bones are folded at rest.
const LEAST_LIMIT: f64 = 0.05;
/// Branches of one joint.
const MOST_BRANCHES: usize = 64;
/// What is raised by less than this share is not raised.
const LEAST: f64 = 1e-3;

/// What a bulge is prepared from: points in order of places.
pub(super) struct Flesh<'a> {
    pub tree: &'a Tree,
    pub weights: &'a Weights,
    /// `u32::MAX` where there is none.
    pub point_of_place: &'a [u32],
    /// And one more.
    pub rest: &'a [Vec3],
}

/// How a bulge raises a point, at rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    /// Unit, from the bone out to the point.
    pub out: Vec3,
    /// `y`, radians.
    pub angle: f32,
    /// Child's share.
    pub child: f32,
    /// What all fades leave.
    pub base: f32,
    /// Half of one over the distance from the bone: the mean curvature of a round limb.
    pub curvature: f32,
    /// Which of the joints that can bulge.
    pub joint: u16,
}

/// Which side of the joint a point is on, and the angle and the share of the bone there.
struct Side {
    angle: f64,
    /// Unit, away from the joint.
    bone: DVec3,
    along: f64,
    is_child: bool,
}

impl Flesh<'_> {
    /// Places that hold a point.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.point_of_place.len()).filter(|&place| self.point_of_place[place] != u32::MAX)
    }

    /// The joints, as slots, at the ends of a slot's bones. Where there are too many to be a body's they are left out.
    fn ends(&self, slot: u16) -> impl Iterator<Item = u16> + '_ {
        let children = &self.tree.children[usize::from(slot)][..];
        let children = if children.len() <= MOST_BRANCHES { children } else { &[] };
        std::iter::once(slot).chain(children.iter().copied())
    }

    /// Slots and weights of the point at a place, largest first.
    pub(super) fn own(&self, place: usize) -> impl Iterator<Item = (u16, f64)> + '_ {
        let own = self.weights.of(self.point_of_place[place] as usize);
        own.map(|(slot, weight)| (slot, f64::from(weight)))
    }

    /// The limit angle of each slot whose joint has two bones to be bent.
    pub(super) fn limits(&self, options: &SmoothOptions) -> Vec<Option<f64>> {
        let nodes = self.tree.nodes.iter();
        nodes
            .map(|node| {
                let (back, _) = node.back?;
                let at_rest = node.bones.iter().map(|bone| between(bone.0, back)).reduce(f64::min)?;
                Some(limit_angle(options.control(node.joint).limit_angle, at_rest))
                    .filter(|&limit| limit > LEAST_LIMIT)
            })
            .collect()
    }

    /// For each place the nearest joint, as a slot, of the bone that carries most of it.
    pub(super) fn nearest_joints(&self, limits: &[Option<f64>]) -> Vec<u32> {
        let mut joints = vec![NONE; self.rest.len()];
        for place in self.places() {
            let Some((lead, _)) = self.own(place).next() else { continue };
            let can = self.ends(lead).filter(|&slot| limits[usize::from(slot)].is_some());
            let p = self.rest[place].as_dvec3();
            let far = |slot: u16| p.distance_squared(self.tree.nodes[usize::from(slot)].at);
            let nearest = can.min_by(|&a, &b| far(a).total_cmp(&far(b)).then(a.cmp(&b)));
            joints[place] = nearest.map_or(NONE, u32::from);
        }
        joints
    }

    /// The limb's radius at a joint: the median distance from the bone of the points beside it.
    pub(super) fn radius(&self, slot: usize, joint_of_place: &[u32]) -> Option<f64> {
        let own = self.rest.iter().zip(joint_of_place).filter(|(_, j)| **j as usize == slot);
        let sides = own.filter_map(|(p, _)| {
            let side = self.side(slot, p.as_dvec3())?;
            Some((side.angle, p.as_dvec3().distance(self.tree.nodes[slot].at) * libm::sin(side.angle)))
        });
        let sides: Vec<(f64, f64)> = sides.collect();
        let beside = |least: f64| sides.iter().filter(|s| s.0 > least).map(|s| s.1).collect::<Vec<_>>();
        let mut distances = beside(PI / 4.0);
        if distances.len() < 3 {
            distances = beside(0.0);
        }
        distances.sort_by(f64::total_cmp);
        distances.get(distances.len() / 2).copied().filter(|&r| r > 1e-9 * self.tree.size)
    }

    /// The joints, as slots, that may raise a point: of its bones, at either end.
    pub(super) fn near_joints(&self, place: usize) -> Vec<u16> {
        let mut near: Vec<u16> = self.own(place).flat_map(|(slot, _)| self.ends(slot)).collect();
        near.sort_unstable();
        near.dedup();
        near
    }

    fn side(&self, slot: usize, p: DVec3) -> Option<Side> {
        let node = &self.tree.nodes[slot];
        let way = p - node.at;
        let one = |bone: (DVec3, f64), is_child: bool| {
            let angle = between(way, bone.0);
            Side { angle, bone: bone.0, along: way.dot(bone.0) / bone.1, is_child }
        };
        let bones = node.bones.iter().map(|&bone| one(bone, true)).chain([one(node.back?, false)]);
        bones.min_by(|a, b| a.angle.total_cmp(&b.angle)).filter(|_| way != DVec3::ZERO)
    }

    /// How the bulge of a joint raises a point, if it does.
    pub(super) fn record(
        &self,
        place: usize,
        slot: u16,
        radius: f64,
        control: &JointControl,
    ) -> Option<Record> {
        let node = &self.tree.nodes[usize::from(slot)];
        let p = self.rest[place].as_dvec3();
        let side = self.side(usize::from(slot), p)?;
        let way = p - node.at;
        let reach = control.fat_radius * radius;
        let faded = fade(BONE_FADE[0], BONE_FADE[1], side.along) * fade(0.5 * reach, reach, way.length());
        if faded < LEAST {
            return None;
        }
        let own: Vec<(u16, f64)> = self.own(place).collect();
        let weight = |of: u16| own.iter().find(|w| w.0 == of).map_or(0.0, |w| w.1);
        let parent = node.parent.map_or(0.0, weight);
        let below: f64 = own.iter().filter(|w| self.tree.hangs(w.0, slot)).map(|w| w.1).sum();
        let child = if parent + below > 0.0 { below / (parent + below) } else { f64::from(side.is_child) };
        let bone = if side.is_child { side.bone } else { node.along };
        let axis = (bone * child - node.back?.0 * (1.0 - child)).try_normalize()?;
        let out = (way - axis * axis.dot(way)).try_normalize()?;
        // Points that neither bone holds much of are another joint's.
        let held = (2.0 * (parent + weight(slot))).min(1.0);
        let point = self.point_of_place[place] as usize;
        let painted = control.fat.as_ref().map_or(1.0, |fat| f64::from(fat[point]));
        let base = faded * held * painted;
        let distance = (way.length() * libm::sin(side.angle)).max(0.1 * radius);
        Some(Record {
            out: out.as_vec3(),
            angle: side.angle as f32,
            child: child as f32,
            base: base as f32,
            curvature: (0.5 / distance) as f32,
            joint: 0,
        })
        .filter(|_| base >= LEAST)
    }
}

/// 1 up to one number, smoothly to 0 at another.
fn fade(from: f64, to: f64, x: f64) -> f64 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    1.0 - t * t * (3.0 - 2.0 * t)
}
