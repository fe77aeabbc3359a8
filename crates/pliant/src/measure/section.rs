//! Slices of the rest skin around joints, carried along as material.
//!
//! Around each joint that ends a bone and moves some skin (not controls and IK targets) there are 13 slices within 1.7 local radii: before the joint perpendicular to
//! the bone that ends there, from the joint on perpendicular to the bone that goes straightest on. Slices stay on
//! these two bones: where a bone is shorter than 1.7 radii they lie closer. The local radius is that of a disc as
//! large as the smallest of three slices: at the joint and a quarter along either bone (at a shoulder the first takes
//! in half the chest). Of a slice only the loop around the bone counts, the smallest where shells are nested. A slice
//! more than three times larger or smaller than the median of its joint is left out: it cut a trunk for a limb, or
//! just a fingertip.

use super::summary::JointSection;
use super::topology::Topology;
use crate::asset::{Bone, Character};
use crate::parallel;
use glam::{DVec2, DVec3};
use std::collections::{BTreeMap, BTreeSet};

/// Slices on either side of a joint; with the one at the joint 13.
const SLICES_PER_SIDE: i32 = 6;
/// How far the outermost slices are from the joint, in local radii.
const REACH: f64 = 1.7;
/// How many times larger or smaller than the median of its joint a slice may be.
const JUMP: f64 = 3.0;
/// Bones shorter than this fraction of the diagonal have no direction.
const SHORTEST_BONE: f64 = 1e-6;

/// A closed line around a limb, in terms of the edges that it crosses.
#[derive(Debug, Clone)]
pub(super) struct Loop {
    /// The joint that it belongs to.
    joint: u32,
    /// Two points each, and how far from the first to the second the line crosses.
    crossings: Vec<(u32, u32, f64)>,
}

impl Loop {
    /// Length of the vector area of the loop: the area it spans if it is flat, less if it is crumpled or twisted.
    pub(super) fn area(&self, points: &[DVec3]) -> f64 {
        let at = |&(a, b, t): &(u32, u32, f64)| points[a as usize].lerp(points[b as usize], t);
        let Some(origin) = self.crossings.first().map(at) else { return 0.0 };
        let (mut sum, mut before) = (DVec3::ZERO, DVec3::ZERO);
        for crossing in &self.crossings[1..] {
            let here = at(crossing) - origin;
            sum += before.cross(here);
            before = here;
        }
        0.5 * sum.length()
    }

    /// Mean along the loop of a value given at points.
    pub(super) fn mean(&self, value: impl Fn(u32) -> f64) -> f64 {
        let sum: f64 = self.crossings.iter().map(|&(a, b, t)| value(a) * (1.0 - t) + value(b) * t).sum();
        sum / self.crossings.len().max(1) as f64
    }
}

/// For each joint the smallest and largest ratio of its loops; loops of a joint are neighbours.
pub(super) fn ratios(loops: &[Loop], reference: &[f64], points: &[DVec3]) -> Vec<JointSection> {
    let areas = parallel::map(loops.len(), |k| loops[k].area(points));
    let mut sections: Vec<JointSection> = Vec::new();
    for (k, l) in loops.iter().enumerate() {
        let ratio = areas[k] / reference[k];
        if !ratio.is_finite() {
            continue;
        }
        match sections.last_mut() {
            Some(last) if last.joint == l.joint => {
                (last.min, last.max) = (last.min.min(ratio), last.max.max(ratio));
            }
            _ => sections.push(JointSection { joint: l.joint, min: ratio, max: ratio }),
        }
    }
    sections
}

/// All loops of a character, joint by joint.
pub(super) fn loops(character: &Character, topology: &Topology, rest: &[DVec3], diagonal: f64) -> Vec<Loop> {
    let bones = character.skeleton().bones();
    let skin = Skin::new(topology, rest);
    let mut moves_skin = vec![false; character.skeleton().len()];
    for &v in &topology.vertex_of_point {
        for (slot, _) in character.weights().of(v as usize) {
            moves_skin[character.slots()[slot as usize].joint as usize] = true;
        }
    }
    let of_joint = parallel::map(moves_skin.len(), |joint| {
        if !moves_skin[joint] {
            return Vec::new();
        }
        let elbow = Elbow::new(character, &bones, joint as u32, diagonal * SHORTEST_BONE);
        elbow.map_or_else(Vec::new, |e| e.loops(&skin))
    });
    of_joint.into_iter().flatten().collect()
}

/// A joint and the two bones that meet there: unit directions, both away from the root, and lengths.
struct Elbow {
    joint: u32,
    at: DVec3,
    before: (DVec3, f64),
    after: (DVec3, f64),
}

impl Elbow {
    fn new(character: &Character, bones: &[Bone], joint: u32, shortest: f64) -> Option<Self> {
        let skeleton = character.skeleton();
        if !skeleton.joints()[joint as usize].deforms {
            return None;
        }
        let at = skeleton.rest_position(joint);
        let direction = |v: DVec3| Some((v / v.length(), v.length())).filter(|d| d.1 > shortest);
        let mut parent = skeleton.joints()[joint as usize].parent;
        let mut before = None;
        while let Some(p) = parent.filter(|&p| before.is_none() && skeleton.joints()[p as usize].deforms) {
            before = direction(at - skeleton.rest_position(p));
            parent = skeleton.joints()[p as usize].parent;
        }
        let before = before?;
        // Bones of no length pass on to what follows them.
        let mut starts = vec![joint];
        let mut after: Option<(DVec3, f64)> = None;
        while let Some(start) = starts.pop() {
            let first = bones.partition_point(|b| b.joint < start);
            for bone in bones[first..].iter().take_while(|b| b.joint == start) {
                match direction(bone.end - at) {
                    Some(d) if after.is_none_or(|a| d.0.dot(before.0) > a.0.dot(before.0)) => after = Some(d),
                    None => starts.extend(bone.end_joint),
                    _ => {}
                }
            }
        }
        Some(Self { joint, at, before, after: after.unwrap_or((before.0, 0.0)) })
    }

    fn loops(&self, skin: &Skin) -> Vec<Loop> {
        let (before, after) = (self.before, self.after);
        let mut near = skin.cut(self.at, after.0, &[0.0, 0.25 * after.1]);
        near.extend(skin.cut(self.at, before.0, &[-0.25 * before.1]));
        let smallest = near.iter().flatten().map(|l| l.0).reduce(f64::min);
        let Some(area) = smallest else { return Vec::new() };
        let reach = REACH * (area / std::f64::consts::PI).sqrt();

        let steps = |side: std::ops::RangeInclusive<i32>, length: f64| -> Vec<f64> {
            side.map(|k| f64::from(k) / f64::from(SLICES_PER_SIDE) * reach.min(length)).collect()
        };
        let mut found = skin.cut(self.at, before.0, &steps(-SLICES_PER_SIDE..=-1, before.1));
        // With no bone to go on along there is but the slice at the joint.
        let last = if after.1 > 0.0 { SLICES_PER_SIDE } else { 0 };
        found.extend(skin.cut(self.at, after.0, &steps(0..=last, after.1)));
        let mut found: Vec<_> = found.into_iter().flatten().collect();

        let mut areas: Vec<f64> = found.iter().map(|l| l.0).collect();
        areas.sort_by(f64::total_cmp);
        let Some(&median) = areas.get(areas.len() / 2) else { return Vec::new() };
        found.retain(|l| l.0 <= median * JUMP && l.0 * JUMP >= median);
        found.into_iter().map(|(_, crossings)| Loop { joint: self.joint, crossings }).collect()
    }
}

/// The rest skin, to be sliced.
struct Skin<'a> {
    triangles: &'a [[u32; 3]],
    rest: &'a [DVec3],
    piece_of: &'a [u32],
    /// Lowest and highest corner of the box around each piece, at the piece's first triangle.
    boxes: Vec<(DVec3, DVec3)>,
}

/// Area and crossings of a loop.
type Slice = (f64, Vec<(u32, u32, f64)>);

impl<'a> Skin<'a> {
    fn new(topology: &'a Topology, rest: &'a [DVec3]) -> Self {
        let mut boxes = vec![(DVec3::INFINITY, DVec3::NEG_INFINITY); topology.triangles.len()];
        for (t, &piece) in topology.triangles.iter().zip(&topology.piece_of) {
            for p in t.map(|p| rest[p as usize]) {
                let (low, high) = boxes[piece as usize];
                boxes[piece as usize] = (low.min(p), high.max(p));
            }
        }
        Self { triangles: &topology.triangles, rest, piece_of: &topology.piece_of, boxes }
    }

    /// For each offset (in order) the loop of the slice perpendicular to `along` that goes around the point
    /// `at + along * offset`.
    fn cut(&self, at: DVec3, along: DVec3, offsets: &[f64]) -> Vec<Option<Slice>> {
        let heights: Vec<f64> = self.rest.iter().map(|&p| (p - at).dot(along)).collect();
        let mut crossed: Vec<Vec<u32>> = vec![Vec::new(); offsets.len()];
        for (index, t) in self.triangles.iter().enumerate() {
            let [a, b, c] = t.map(|p| heights[p as usize]);
            let (low, high) = (a.min(b).min(c), a.max(b).max(c));
            // A point on the plane counts as above it, so that every triangle is crossed at two edges or none.
            let first = offsets.partition_point(|&o| o <= low);
            for k in first..offsets.len() {
                if offsets[k] > high {
                    break;
                }
                // Only a piece whose box holds the bone's point can go around it.
                let (centre, bounds) = (at + along * offsets[k], self.boxes[self.piece_of[index] as usize]);
                if centre.cmpge(bounds.0).all() && centre.cmple(bounds.1).all() {
                    crossed[k].push(index as u32);
                }
            }
        }
        let slice = |k: usize| self.slice(&crossed[k], &heights, offsets[k], at + along * offsets[k], along);
        (0..offsets.len()).map(slice).collect()
    }

    fn slice(&self, crossed: &[u32], heights: &[f64], offset: f64, at: DVec3, along: DVec3) -> Option<Slice> {
        // Which triangles meet at each crossed edge.
        let mut at_edge: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        let above = |p: u32| heights[p as usize] >= offset;
        let edges_of = |triangle: u32| -> [(u32, u32); 2] {
            let [a, b, c] = self.triangles[triangle as usize];
            let lone = [a, b, c]
                .into_iter()
                .find(|&p| [a, b, c].iter().filter(|&&q| above(q) == above(p)).count() == 1);
            let lone = lone.unwrap_or(a);
            let [x, y] = if lone == a {
                [b, c]
            } else if lone == b {
                [c, a]
            } else {
                [a, b]
            };
            [(lone.min(x), lone.max(x)), (lone.min(y), lone.max(y))]
        };
        for &triangle in crossed {
            edges_of(triangle).iter().for_each(|&e| at_edge.entry(e).or_default().push(triangle));
        }
        let (e1, e2) = along.any_orthonormal_pair();
        let mut used: BTreeSet<u32> = BTreeSet::new();
        let mut best: Option<Slice> = None;
        for &first in crossed {
            if !used.insert(first) {
                continue;
            }
            let [start, mut edge] = edges_of(first);
            let mut line = vec![start];
            // Onwards through triangles not yet walked, until the line comes back to where it started.
            while edge != start {
                line.push(edge);
                let next = at_edge[&edge].iter().copied().find(|t| !used.contains(t));
                let Some(next) = next else { break };
                used.insert(next);
                let [a, b] = edges_of(next);
                edge = if a == edge { b } else { a };
            }
            if edge != start {
                continue;
            }
            let crossing = |&(a, b): &(u32, u32)| {
                let (from, to) = (heights[a as usize], heights[b as usize]);
                (a, b, ((offset - from) / (to - from)).clamp(0.0, 1.0))
            };
            let crossings: Vec<_> = line.iter().map(crossing).collect();
            let flat = crossings.iter().map(|&(a, b, t)| {
                let p = self.rest[a as usize].lerp(self.rest[b as usize], t) - at;
                DVec2::new(p.dot(e1), p.dot(e2))
            });
            let flat: Vec<DVec2> = flat.collect();
            let area = polygon_area(&flat);
            if area > 0.0 && winding(&flat) != 0 && best.as_ref().is_none_or(|b| area < b.0) {
                best = Some((area, crossings));
            }
        }
        best
    }
}

fn polygon_area(polygon: &[DVec2]) -> f64 {
    let next = polygon.iter().cycle().skip(1);
    0.5 * polygon.iter().zip(next).map(|(a, b)| a.perp_dot(*b)).sum::<f64>().abs()
}

/// How many times a polygon goes around the origin.
fn winding(polygon: &[DVec2]) -> i32 {
    let next = polygon.iter().cycle().skip(1);
    let turns = polygon.iter().zip(next).map(|(a, b)| match (a.y <= 0.0, b.y <= 0.0) {
        (true, false) => i32::from(a.perp_dot(*b) > 0.0),
        (false, true) => -i32::from(a.perp_dot(*b) < 0.0),
        _ => 0,
    });
    turns.sum()
}
