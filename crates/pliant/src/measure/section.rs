//! Slices of the rest skin around joints, carried along as material.
//!
//! Around each joint that ends a bone and moves some skin (not controls and IK targets) there are 13 slices within 1.7 local radii: before the joint perpendicular to
//! the bone that ends there, from the joint on perpendicular to the bone that goes straightest on. Slices stay on
//! these two bones: where a bone is shorter than 1.7 radii they lie closer. The local radius is that of a disc as
//! large as the smallest of three slices: at the joint and a quarter along either bone (at a shoulder the first takes
//! in half the chest). Of a slice only the loop around the bone counts, the smallest where shells are nested. A slice
//! more than three times larger or smaller than the median of its joint is left out: it cut a trunk for a limb, or
//! just a fingertip.

use super::crossing::{self, Node};
use super::summary::JointSection;
use super::topology::Topology;
use crate::asset::{Bone, Character};
use crate::parallel;
use glam::{DVec2, DVec3, Vec3};

/// Slices on either side of a joint; with the one at the joint 13.
const SLICES_PER_SIDE: i32 = 6;
/// How far the outermost slices are from the joint, in local radii.
const REACH: f64 = 1.7;
/// How many times larger or smaller than the median of its joint a slice may be.
const JUMP: f64 = 3.0;
/// Bones shorter than this fraction of the diagonal have no direction.
const SHORTEST_BONE: f64 = 1e-6;
/// Boxes looked at to slice all joints, at most, and to slice one: a second's worth, and far more than any body needs
/// whose joints are apart.
const WORK: usize = 1 << 28;
const WORK_PER_JOINT: usize = WORK / 16;
/// Boxes that take the time of one crossed triangle.
const WORK_PER_CROSSING: usize = 48;
/// Joints sliced between looks at what is left of the work, whatever the number of threads.
const JOINTS_AT_ONCE: usize = 64;
/// Joints in one place that a search for a bone of some length passes, at most.
const MOST_IN_ONE_PLACE: usize = 256;

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

/// All loops of a character, joint by joint, and how many joints were left out because they take too long.
pub(super) fn loops(
    character: &Character,
    topology: &Topology,
    rest: &[DVec3],
    diagonal: f64,
) -> (Vec<Loop>, usize) {
    let bones = character.skeleton().bones();
    let skin = Skin::new(topology, rest);
    let mut moves_skin = vec![false; character.skeleton().len()];
    for &v in &topology.vertex_of_point {
        for (slot, _) in character.weights().of(v as usize) {
            moves_skin[character.slots()[slot as usize].joint as usize] = true;
        }
    }
    let joints: Vec<u32> = (0..moves_skin.len() as u32).filter(|&j| moves_skin[j as usize]).collect();
    let (mut loops, mut left_out, mut left) = (Vec::new(), 0, WORK);
    for batch in joints.chunks(JOINTS_AT_ONCE) {
        if left == 0 {
            left_out += batch.len();
            continue;
        }
        let found = parallel::map(batch.len(), |k| {
            let mut work = WORK_PER_JOINT;
            let elbow = Elbow::new(character, &bones, batch[k], diagonal * SHORTEST_BONE);
            let loops = elbow.map_or_else(|| Some(Vec::new()), |e| e.loops(&skin, &mut work));
            (loops, WORK_PER_JOINT - work)
        });
        for (of_joint, work) in found {
            left = left.saturating_sub(work);
            left_out += usize::from(of_joint.is_none());
            loops.extend(of_joint.into_iter().flatten());
        }
    }
    (loops, left_out)
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
        for _ in 0..MOST_IN_ONE_PLACE {
            let Some(p) = parent.filter(|&p| before.is_none() && skeleton.joints()[p as usize].deforms)
            else {
                break;
            };
            before = direction(at - skeleton.rest_position(p));
            parent = skeleton.joints()[p as usize].parent;
        }
        let before = before?;
        // Bones of no length pass on to what follows them.
        let mut starts = vec![joint];
        let mut after: Option<(DVec3, f64)> = None;
        for _ in 0..MOST_IN_ONE_PLACE {
            let Some(start) = starts.pop() else { break };
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

    /// None when work runs out.
    fn loops(&self, skin: &Skin, work: &mut usize) -> Option<Vec<Loop>> {
        let (before, after) = (self.before, self.after);
        let mut cut = |along: DVec3, offsets: &[f64]| skin.cut(&Planes { at: self.at, along, offsets }, work);
        let mut near = cut(after.0, &[0.0, 0.25 * after.1])?;
        near.extend(cut(before.0, &[-0.25 * before.1])?);
        let smallest = near.iter().flatten().map(|l| l.0).reduce(f64::min);
        let Some(area) = smallest else { return Some(Vec::new()) };
        let reach = REACH * (area / std::f64::consts::PI).sqrt();

        let steps = |side: std::ops::RangeInclusive<i32>, length: f64| -> Vec<f64> {
            side.map(|k| f64::from(k) / f64::from(SLICES_PER_SIDE) * reach.min(length)).collect()
        };
        let mut found = cut(before.0, &steps(-SLICES_PER_SIDE..=-1, before.1))?;
        // With no bone to go on along there is but the slice at the joint.
        let last = if after.1 > 0.0 { SLICES_PER_SIDE } else { 0 };
        found.extend(cut(after.0, &steps(0..=last, after.1))?);
        let mut found: Vec<_> = found.into_iter().flatten().collect();

        let mut areas: Vec<f64> = found.iter().map(|l| l.0).collect();
        areas.sort_by(f64::total_cmp);
        let Some(&median) = areas.get(areas.len() / 2) else { return Some(Vec::new()) };
        found.retain(|l| l.0 <= median * JUMP && l.0 * JUMP >= median);
        Some(found.into_iter().map(|(_, crossings)| Loop { joint: self.joint, crossings }).collect())
    }
}

/// The rest skin, to be sliced.
struct Skin<'a> {
    triangles: &'a [[u32; 3]],
    rest: &'a [DVec3],
    piece_of: &'a [u32],
    /// Around each piece, at the piece's first triangle.
    pieces: Vec<Aabb>,
    /// A tree over the triangles, which are in the leaves in this order.
    order: Vec<u32>,
    nodes: Vec<Node>,
    /// For each node the box around its triangles, and the one around their pieces.
    boxes: Vec<(Aabb, Aabb)>,
}

#[derive(Debug, Clone, Copy)]
struct Aabb {
    low: DVec3,
    high: DVec3,
}

impl Aabb {
    const EMPTY: Self = Self { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn holds(&self, p: DVec3) -> bool {
        p.cmpge(self.low).all() && p.cmple(self.high).all()
    }
}

/// Area and crossings of a loop.
type Slice = (f64, Vec<(u32, u32, f64)>);

/// Planes across one line: `at + along * offset` for each offset, in order.
struct Planes<'a> {
    at: DVec3,
    along: DVec3,
    offsets: &'a [f64],
}

impl Planes<'_> {
    fn centre(&self, k: usize) -> DVec3 {
        self.at + self.along * self.offsets[k]
    }

    fn height(&self, p: DVec3) -> f64 {
        (p - self.at).dot(self.along)
    }

    /// Whether a plane may cut something within `own` that belongs to pieces within `pieces`.
    fn may_cut(&self, own: &Aabb, pieces: &Aabb) -> bool {
        let middle = self.height((own.low + own.high) * 0.5);
        let half = ((own.high - own.low) * 0.5).dot(self.along.abs());
        // Far more than rounding may be off.
        let far = own.low.abs().max(own.high.abs()).max(self.at.abs()).max_element();
        let reach = half + 1e-12 * far;
        let near = |k: &usize| (self.offsets[*k] - middle).abs() <= reach && pieces.holds(self.centre(*k));
        (0..self.offsets.len()).any(|k| near(&k))
    }
}

impl<'a> Skin<'a> {
    fn new(topology: &'a Topology, rest: &'a [DVec3]) -> Self {
        let triangles = &topology.triangles;
        let around = |t: usize| {
            let corners = triangles[t].map(|p| rest[p as usize]);
            corners.iter().fold(Aabb::EMPTY, |b, &p| b.with(Aabb { low: p, high: p }))
        };
        let mut pieces = vec![Aabb::EMPTY; triangles.len()];
        for (t, &piece) in topology.piece_of.iter().enumerate() {
            pieces[piece as usize] = pieces[piece as usize].with(around(t));
        }
        let centre =
            |t: usize| (triangles[t].iter().map(|&p| rest[p as usize]).sum::<DVec3>() / 3.0).as_vec3();
        let centres: Vec<Vec3> = (0..triangles.len()).map(centre).collect();
        let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
        let mut nodes: Vec<Node> = Vec::with_capacity(triangles.len());
        crossing::build(&mut nodes, &mut order, 0, &centres);

        let mut boxes = vec![(Aabb::EMPTY, Aabb::EMPTY); nodes.len()];
        let join = |a: (Aabb, Aabb), b: (Aabb, Aabb)| (a.0.with(b.0), a.1.with(b.1));
        for (index, node) in nodes.iter().enumerate().rev() {
            boxes[index] = if node.right == 0 {
                let own = order[node.first as usize..(node.first + node.count) as usize].iter();
                let each = own.map(|&t| (around(t as usize), pieces[topology.piece_of[t as usize] as usize]));
                each.fold(boxes[index], join)
            } else {
                join(boxes[index + 1], boxes[node.right as usize])
            };
        }
        Self { triangles, rest, piece_of: &topology.piece_of, pieces, order, nodes, boxes }
    }

    /// For each plane the loop of its slice that goes around its point of the line. None at all when work runs out.
    fn cut(&self, planes: &Planes, work: &mut usize) -> Option<Vec<Option<Slice>>> {
        let offsets = planes.offsets;
        let mut crossed: Vec<Vec<u32>> = vec![Vec::new(); offsets.len()];
        let mut stack: Vec<usize> = if self.nodes.is_empty() { Vec::new() } else { vec![0] };
        while let Some(index) = stack.pop() {
            *work = work.checked_sub(1)?;
            let (own, pieces) = &self.boxes[index];
            if !planes.may_cut(own, pieces) {
                continue;
            }
            let node = self.nodes[index];
            if node.right != 0 {
                stack.extend([index + 1, node.right as usize]);
                continue;
            }
            for &t in &self.order[node.first as usize..(node.first + node.count) as usize] {
                let [a, b, c] = self.triangles[t as usize].map(|p| planes.height(self.rest[p as usize]));
                let (low, high) = (a.min(b).min(c), a.max(b).max(c));
                // A point on the plane counts as above it, so that every triangle is crossed at two edges or none.
                let first = offsets.partition_point(|&o| o <= low);
                for k in (first..offsets.len()).take_while(|&k| offsets[k] <= high) {
                    // Only a piece whose box holds the bone's point can go around it.
                    if self.pieces[self.piece_of[t as usize] as usize].holds(planes.centre(k)) {
                        *work = work.checked_sub(WORK_PER_CROSSING)?;
                        crossed[k].push(t);
                    }
                }
            }
        }
        crossed.iter_mut().for_each(|c| c.sort_unstable());
        Some((0..offsets.len()).map(|k| self.slice(&crossed[k], planes, k)).collect())
    }

    fn slice(&self, crossed: &[u32], planes: &Planes, k: usize) -> Option<Slice> {
        let (offset, at) = (planes.offsets[k], planes.centre(k));
        let height = |p: u32| planes.height(self.rest[p as usize]);
        let edges_of = |index: usize| -> [(u32, u32); 2] {
            let corners = self.triangles[crossed[index] as usize];
            let above = corners.map(|p| height(p) >= offset);
            let lone = (0..3).find(|&i| above.iter().filter(|&&a| a == above[i]).count() == 1).unwrap_or(0);
            let [lone, x, y] = [lone, lone + 1, lone + 2].map(|i| corners[i % 3]);
            [(lone.min(x), lone.max(x)), (lone.min(y), lone.max(y))]
        };
        // Which triangles meet at each crossed edge, by their place in `crossed`.
        let mut at_edge: Vec<((u32, u32), usize)> =
            (0..crossed.len()).flat_map(|i| edges_of(i).map(|e| (e, i))).collect();
        at_edge.sort_unstable();
        // At an edge's first entry: how many of its triangles are known to be walked.
        let mut walked = vec![0; at_edge.len()];
        let (e1, e2) = planes.along.any_orthonormal_pair();
        let mut used = vec![false; crossed.len()];
        let mut best: Option<Slice> = None;
        for first in 0..crossed.len() {
            if std::mem::replace(&mut used[first], true) {
                continue;
            }
            let [start, mut edge] = edges_of(first);
            let mut line = vec![start];
            // Onwards through triangles not yet walked, until the line comes back to where it started.
            while edge != start {
                line.push(edge);
                let group = at_edge.partition_point(|e| e.0 < edge);
                let here = at_edge[group + walked[group]..].iter().take_while(|e| e.0 == edge);
                let Some((passed, next)) = here.map(|e| e.1).enumerate().find(|&(_, t)| !used[t]) else {
                    break;
                };
                walked[group] += passed;
                used[next] = true;
                let [a, b] = edges_of(next);
                edge = if a == edge { b } else { a };
            }
            if edge != start {
                continue;
            }
            let crossing = |&(a, b): &(u32, u32)| {
                let (from, to) = (height(a), height(b));
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
