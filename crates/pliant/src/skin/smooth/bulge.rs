//! The fat bulge (seed 002, section 3): where a bend squeezes flesh, a ridge around the inside of the joint takes up the
//! volume that was lost there.
//!
//! About a joint `x` is the azimuth, 0 on the inner side of the bend, and `y` the angle at the joint away from the nearer
//! bone. The ridge is at `y_r = (2 pi - 4 a0)/pi^2 x^2 + a0`; with `R = y/y_r` the height is `A (4 ((R-1)/q)^2 - 1)^2`
//! within `|R-1| < q/2`. It fades towards the outer side, along the bones and with distance.

use super::kernel::sincos;
use super::regions::{NONE, Regions};
use super::tree::{Tree, Turn};
use super::{JointControl, SmoothOptions};
use crate::asset::Weights;
use crate::parallel;
use crate::rig::SkinMatrix;
use crate::simd::vectors::plain::unit_or;
use glam::{DVec3, Vec3};
use std::f64::consts::PI;

/// The ridge at its highest, in limb radii; beyond it is hard (dihedrals of 96 degrees).
const MOST: f64 = 0.28;
/// The bend, in radians, up to which less than that is allowed, in proportion: what a joint nearby has lost raises
/// nothing at a joint that is nearly straight, where a coarse skin would show it as a spike.
const EASE: f64 = 75.0 * PI / 180.0;
/// Bends below this, radians, have no inner side.
const STRAIGHT: f64 = 1e-3;
/// Shares of a bone between which the bulge fades.
const BONE_FADE: [f64; 2] = [0.5, 0.95];
/// Cosines of the azimuth between which it fades, from nothing on the outer side.
const OUTER: f32 = -0.87;
/// Newton's steps to a joint's height, and rounds over all joints, whose bulges reach into each other.
const STEPS: usize = 4;
const ROUNDS: usize = 3;
/// Elements a parallel task.
const CHUNK: usize = 1024;

/// A joint that flesh can bulge at.
#[derive(Debug, Clone)]
pub(super) struct Joint {
    pub slot: u16,
    /// The limb's radius there.
    pub radius: f64,
    /// Limit angle `a0`, radians.
    limit: f32,
    /// Ridge width `q`.
    width: f32,
    gain: f64,
}

/// How a bulge raises a point, at rest.
#[derive(Debug, Clone, Copy)]
struct Record {
    /// Unit, from the bone out to the point.
    out: Vec3,
    /// `y`, radians.
    angle: f32,
    /// Child's share.
    child: f32,
    /// What all fades leave.
    base: f32,
    /// Which of the points.
    point: u32,
    joint: u16,
}

/// What is prepared.
#[derive(Debug, Default)]
pub(super) struct Bulge {
    pub joints: Vec<Joint>,
    regions: Regions,
    /// By joint, then by region of the point.
    records: Vec<Record>,
    /// Joint, region (or [`NONE`]) and records of each run.
    runs: Vec<(u16, u32, std::ops::Range<u32>)>,
    /// Places of the points that a bulge can raise.
    places: Vec<u32>,
    /// Triangles around point `k`: `faces[starts[k]..starts[k + 1]]`.
    starts: Vec<u32>,
    faces: Vec<u32>,
    /// Records of point `k`: `by_point[record_starts[k]..record_starts[k + 1]]`.
    record_starts: Vec<u32>,
    by_point: Vec<(u32, u16)>,
    /// The reverse of `places`.
    point_of_place: Vec<u32>,
}

/// What one moving copy needs.
#[derive(Debug, Default, Clone)]
pub(super) struct State {
    /// Of each joint: the inner side, the swing's axis, the twist, and whether it is bent at all.
    bent: Vec<(Vec3, Vec3, f32, bool)>,
    /// How far, and which way, a bulge of `A = 1` raises the point of each record.
    lifts: Vec<Vec3>,
    /// Unit normal of each point, and the slope of the volume there.
    normals: Vec<(Vec3, Vec3)>,
    regions: super::regions::State,
    /// What neighbours' bulges add to a region: per run.
    spills: Vec<f64>,
    /// `A` of each joint.
    pub amounts: Vec<f64>,
    /// Volumes at rest, with morphs.
    volumes: Vec<f64>,
    pub is_rest_new: bool,
}

/// What a bulge is prepared from: points in order of places.
pub(super) struct Flesh<'a> {
    pub tree: &'a Tree,
    pub weights: &'a Weights,
    pub point_of_place: &'a [u32],
    pub rest: &'a [Vec3],
    pub triangles: &'a [[u32; 3]],
}

impl Bulge {
    pub(super) fn new(flesh: &Flesh<'_>, options: &SmoothOptions) -> Self {
        let Flesh { tree, weights, point_of_place, rest, triangles } = *flesh;
        let limits: Vec<Option<f64>> =
            (0..tree.nodes.len()).map(|slot| limit(tree, slot, options.control(tree.nodes[slot].joint))).collect();
        let is_real = |place: &usize| point_of_place[*place] != u32::MAX;
        let own = |place: usize| weights.of(point_of_place[place] as usize);
        // Each point to the nearest joint of the bone that carries most of it.
        let mut joint_of_place: Vec<u32> = vec![NONE; rest.len()];
        for place in (0..rest.len()).filter(is_real) {
            let Some((lead, _)) = own(place).next() else { continue };
            let around = std::iter::once(lead).chain(tree.children[usize::from(lead)].iter().copied());
            let can = around.filter(|&slot| limits[usize::from(slot)].is_some());
            let p = rest[place].as_dvec3();
            let far = |slot: u16| p.distance_squared(tree.nodes[usize::from(slot)].at);
            let nearest = can.min_by(|&a, &b| far(a).total_cmp(&far(b)).then(a.cmp(&b)));
            joint_of_place[place] = nearest.map_or(NONE, u32::from);
        }
        let mut joints = Vec::new();
        let mut joint_of_slot = vec![NONE; tree.nodes.len()];
        for (slot, limit) in limits.iter().enumerate() {
            let Some(limit) = *limit else { continue };
            let Some(radius) = radius(tree, slot, rest, &joint_of_place) else { continue };
            let control = options.control(tree.nodes[slot].joint);
            joint_of_slot[slot] = joints.len() as u32;
            joints.push(Joint {
                slot: slot as u16,
                radius,
                limit: limit as f32,
                width: control.ridge_width as f32,
                gain: control.gain,
            });
        }
        for joint in joint_of_place.iter_mut().filter(|j| **j != NONE) {
            *joint = joint_of_slot[*joint as usize];
        }
        let slots = |place: usize| own(place).map(|(slot, w)| (slot, f64::from(w))).collect::<Vec<_>>();
        let regions = Regions::new(&joint_of_place, joints.len(), rest, triangles, slots);
        let mut made = Self { joints, regions, ..Self::default() };
        made.records(flesh, options, &joint_of_place, &joint_of_slot);
        made.drop_flat();
        made
    }

    /// All that can be raised.
    fn records(
        &mut self,
        flesh: &Flesh<'_>,
        options: &SmoothOptions,
        joint_of_place: &[u32],
        joint_of_slot: &[u32],
    ) {
        let Flesh { tree, weights, point_of_place, rest, triangles } = *flesh;
        let mut found: Vec<(u32, Record)> = Vec::new();
        for (place, &point) in point_of_place.iter().enumerate().filter(|p| *p.1 != u32::MAX) {
            let own: Vec<(u16, f64)> =
                weights.of(point as usize).map(|(slot, w)| (slot, f64::from(w))).collect();
            let near = own.iter().flat_map(|(slot, _)| {
                std::iter::once(*slot).chain(tree.children[usize::from(*slot)].iter().copied())
            });
            let mut near: Vec<u16> = near.filter(|&s| joint_of_slot[usize::from(s)] != NONE).collect();
            near.sort_unstable();
            near.dedup();
            for slot in near {
                let joint = joint_of_slot[usize::from(slot)];
                let radius = self.joints[joint as usize].radius;
                let control = options.control(tree.nodes[usize::from(slot)].joint);
                let painted = control.fat.as_ref().map_or(1.0, |fat| f64::from(fat[point as usize]));
                let record = record(tree, usize::from(slot), rest[place].as_dvec3(), &own, radius, control);
                if let Some(record) = record.filter(|r| f64::from(r.base) * painted > 1e-4) {
                    let sign = self.regions.sign(joint as usize);
                    let base = record.base * (painted * sign) as f32;
                    found.push((place as u32, Record { base, joint: joint as u16, ..record }));
                }
            }
        }
        self.places = found.iter().map(|f| f.0).collect();
        self.places.dedup();
        let mut order = vec![NONE; rest.len()];
        self.places.iter().enumerate().for_each(|(k, &place)| order[place as usize] = k as u32);
        for (place, record) in &mut found {
            record.point = order[*place as usize];
        }
        let region = |place: u32| joint_of_place[place as usize];
        found.sort_by_key(|(place, r)| (r.joint, region(*place), r.point));
        for (index, (place, record)) in found.iter().enumerate() {
            let here = (record.joint, region(*place));
            let index = index as u32;
            match self.runs.last_mut().filter(|run| (run.0, run.1) == here) {
                Some(run) => run.2.end = index + 1,
                None => self.runs.push((here.0, here.1, index..index + 1)),
            }
        }
        self.records = found.iter().map(|f| f.1).collect();
        let mut by_point: Vec<(u32, u32)> =
            self.records.iter().enumerate().map(|(index, r)| (r.point, index as u32)).collect();
        by_point.sort_unstable();
        self.record_starts = starts(self.places.len(), by_point.iter().map(|p| p.0));
        self.by_point =
            by_point.iter().map(|p| (p.1, self.records[p.1 as usize].joint)).collect();
        let mut around: Vec<(u32, u32)> = Vec::new();
        for (face, corners) in triangles.iter().enumerate() {
            let raised = corners.iter().map(|&c| order[c as usize]).filter(|&k| k != NONE);
            around.extend(raised.map(|k| (k, face as u32)));
        }
        around.sort_unstable();
        self.starts = starts(self.places.len(), around.iter().map(|a| a.0));
        self.faces = around.iter().map(|a| a.1).collect();
        // Which record raises a corner for the region's own joint.
        let find = |joint: usize, place: u32| {
            let point = order[place as usize];
            if point == NONE {
                return NONE;
            }
            let range = self.record_starts[point as usize]..self.record_starts[point as usize + 1];
            let mut own = self.by_point[range.start as usize..range.end as usize].iter();
            own.find(|r| usize::from(r.1) == joint).map_or(NONE, |r| r.0)
        };
        self.regions.find_records(find);
        self.point_of_place = order;
    }

    /// Joints whose flesh has no volume to speak of (a cape, a flat fin) have nothing to bulge.
    fn drop_flat(&mut self) {
        for (index, joint) in self.joints.iter_mut().enumerate() {
            let cube = joint.radius * joint.radius * joint.radius;
            if self.regions.volume(index).abs() < 0.2 * cube {
                joint.gain = 0.0;
            }
        }
    }

    /// Whether nothing can bulge.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() || self.joints.iter().all(|j| j.gain == 0.0)
    }

    /// A state for one copy.
    pub(super) fn state(&self) -> State {
        State { is_rest_new: true, ..State::default() }
    }

    /// Raises the points, by what the bends of this pose took. `areas` are twice the area vectors of all triangles.
    pub(super) fn raise(
        &self,
        turns: &[Turn],
        matrices: &[SkinMatrix],
        rest: &[Vec3],
        areas: &[Vec3],
        places: &mut [Vec3],
        state: &mut State,
    ) {
        if state.is_rest_new {
            self.regions.volumes(rest, &mut state.regions, &mut state.volumes);
            state.is_rest_new = false;
        }
        self.normals(areas, state);
        self.lift(state);
        let lifts = &state.lifts[..];
        let raised = |record: u32| lifts.get(record as usize).copied().unwrap_or(Vec3::ZERO);
        self.regions.cubics(places, raised, &mut state.regions);
        self.spills(state);
        self.solve(turns, matrices, state);
        self.displace(places, state);
    }

    /// Finds the joints that are bent; whether there are any.
    pub(super) fn find_bent(&self, tree: &Tree, turns: &[Turn], state: &mut State) -> bool {
        state.bent.clear();
        for joint in &self.joints {
            let turn = &turns[usize::from(joint.slot)];
            let along = tree.nodes[usize::from(joint.slot)].along;
            // The bone's end moves towards the inner side.
            let inner = turn.axis.cross(along);
            let is_bent = turn.swing > STRAIGHT && joint.gain > 0.0 && inner.is_finite();
            state.bent.push((inner.as_vec3(), turn.axis.as_vec3(), turn.twist as f32, is_bent));
        }
        state.amounts.clear();
        state.amounts.resize(self.joints.len(), 0.0);
        state.bent.iter().any(|b| b.3)
    }

    fn lift(&self, state: &mut State) {
        let State { bent, lifts, normals, .. } = state;
        lifts.resize(self.records.len(), Vec3::ZERO);
        let (bent, normals) = (&bent[..], &normals[..]);
        parallel::for_each_chunk_mut(lifts, CHUNK, |chunk, lifts| {
            let records = &self.records[chunk * CHUNK..][..lifts.len()];
            for (lift, record) in lifts.iter_mut().zip(records) {
                let (inner, axis, twist, is_bent) = bent[usize::from(record.joint)];
                let joint = &self.joints[usize::from(record.joint)];
                let height = if is_bent { joint.height(record, inner, axis, twist) } else { 0.0 };
                *lift = normals[record.point as usize].0 * height;
            }
        });
    }

    fn normals(&self, areas: &[Vec3], state: &mut State) {
        state.normals.resize(self.places.len(), (Vec3::ZERO, Vec3::ZERO));
        parallel::for_each_chunk_mut(&mut state.normals, CHUNK, |chunk, normals| {
            for (index, normal) in normals.iter_mut().enumerate() {
                let k = chunk * CHUNK + index;
                let faces = &self.faces[self.starts[k] as usize..self.starts[k + 1] as usize];
                let sum = faces.iter().fold(Vec3::ZERO, |sum, &f| sum + areas[f as usize]);
                *normal = (unit_or(sum, Vec3::ZERO), sum * (1.0 / 6.0));
            }
        });
    }

    /// How much volume a bulge of height 1 adds to regions of other joints.
    fn spills(&self, state: &mut State) {
        let State { bent, spills, lifts, normals, .. } = state;
        spills.resize(self.runs.len(), 0.0);
        for ((joint, region, records), spill) in self.runs.iter().zip(spills) {
            *spill = 0.0;
            if u32::from(*joint) == *region || *region == NONE || !bent[usize::from(*joint)].3 {
                continue;
            }
            let range = records.start as usize..records.end as usize;
            let own = self.records[range.clone()].iter().zip(&lifts[range]);
            *spill = own.map(|(r, lift)| f64::from(normals[r.point as usize].1.dot(*lift))).sum();
        }
    }

    /// `A` of all joints: what brings each region back to its volume, as far as may be.
    fn solve(&self, turns: &[Turn], matrices: &[SkinMatrix], state: &mut State) {
        let State { bent, regions, spills, amounts, volumes, .. } = state;
        for _ in 0..ROUNDS {
            for (index, joint) in self.joints.iter().enumerate().filter(|(i, _)| bent[*i].3) {
                let sign = self.regions.sign(index);
                let others = self.runs.iter().zip(&*spills).filter(|(run, _)| run.1 as usize == index);
                let spilled: f64 = others.map(|(run, s)| s * amounts[usize::from(run.0)]).sum();
                let target = volumes[index] * self.regions.scale(index, matrices);
                let [c0, c1, c2, c3] = regions.of(index).map(|c| c * sign);
                let miss = c0 + sign * spilled - sign * target;
                let most = MOST * joint.radius * (turns[usize::from(joint.slot)].swing / EASE).min(1.0);
                let mut a = 0.0;
                if miss < 0.0 && c1 > 0.0 && sign * target > 0.0 {
                    for _ in 0..STEPS {
                        let value = miss + a * (c1 + a * (c2 + a * c3));
                        let slope = c1 + a * (2.0 * c2 + 3.0 * a * c3);
                        if slope <= 0.1 * c1 {
                            break;
                        }
                        a = (a - value / slope).clamp(0.0, most);
                    }
                }
                amounts[index] = if a.is_finite() { a * joint.gain } else { 0.0 };
            }
        }
    }

    fn displace(&self, places: &mut [Vec3], state: &State) {
        parallel::for_each_chunk_mut(places, CHUNK, |chunk, places| {
            let points = &self.point_of_place[chunk * CHUNK..][..places.len()];
            for (place, &k) in places.iter_mut().zip(points).filter(|(_, k)| **k != NONE) {
                let k = k as usize;
                let range = self.record_starts[k] as usize..self.record_starts[k + 1] as usize;
                let own = self.by_point[range].iter();
                *place += own.fold(Vec3::ZERO, |sum, &(record, joint)| {
                    sum + state.lifts[record as usize] * state.amounts[usize::from(joint)] as f32
                });
            }
        });
    }
}

impl Joint {
    /// The bulge's height at a point, for `A = 1`.
    fn height(&self, record: &Record, inner: Vec3, axis: Vec3, twist: f32) -> f32 {
        let (sine, cosine) = if twist == 0.0 { (0.0, 1.0) } else { sincos(twist * record.child) };
        let cosine = (record.out.dot(inner) * cosine - record.out.dot(axis) * sine).clamp(-1.0, 1.0);
        if cosine <= OUTER {
            return 0.0;
        }
        let azimuth = arccosine(cosine);
        let pi = std::f32::consts::PI;
        let ridge = (2.0 * pi - 4.0 * self.limit) / (pi * pi) * azimuth * azimuth + self.limit;
        let off = (record.angle / ridge - 1.0) / self.width;
        if off.abs() >= 0.5 {
            return 0.0;
        }
        let bump = 4.0 * off * off - 1.0;
        let side = ((cosine - OUTER) / -OUTER).min(1.0);
        record.base * bump * bump * side * side * (3.0 - 2.0 * side)
    }
}

/// To 2e-7: `sqrt(1 - |c|)` times a polynomial through Chebyshev points.
fn arccosine(cosine: f32) -> f32 {
    const TERMS: [f32; 7] =
        [1.570_796_1, -0.214_581_99, 0.088_718_09, -0.048_644_333, 0.026_597_796, -0.010_879_67, 0.002_207_656];
    let c = cosine.abs();
    let sum = TERMS.iter().rev().fold(0.0, |sum, t| sum * c + t);
    let acute = (1.0 - c).max(0.0).sqrt() * sum;
    if cosine >= 0.0 { acute } else { std::f32::consts::PI - acute }
}

/// The limit angle of a joint that has two bones to be bent.
fn limit(tree: &Tree, slot: usize, control: &JointControl) -> Option<f64> {
    let node = &tree.nodes[slot];
    let (back, _) = node.back?;
    let angles = node.bones.iter().map(|bone| angle(bone.0, back));
    let between = angles.reduce(f64::min)?;
    let limit = control.limit_angle.min(0.4 * between);
    Some(limit).filter(|&l| l > 0.05)
}

/// The angle between two unit vectors.
pub(super) fn angle(a: DVec3, b: DVec3) -> f64 {
    libm::atan2(a.cross(b).length(), a.dot(b))
}

/// Which side of the joint a point is on, and the angle and the share of the bone there.
struct Side {
    angle: f64,
    /// Unit, away from the joint.
    bone: DVec3,
    along: f64,
    is_child: bool,
}

fn side(tree: &Tree, slot: usize, p: DVec3) -> Option<Side> {
    let node = &tree.nodes[slot];
    let back = node.back?;
    let way = p - node.at;
    let unit = way.try_normalize()?;
    let one = |bone: (DVec3, f64), is_child: bool| {
        let angle = angle(unit, bone.0);
        Side { angle, bone: bone.0, along: way.dot(bone.0) / bone.1, is_child }
    };
    let all = node.bones.iter().map(|&bone| one(bone, true)).chain([one(back, false)]);
    all.min_by(|a, b| a.angle.total_cmp(&b.angle))
}

/// The median distance from the bone of the points beside a joint.
fn radius(tree: &Tree, slot: usize, rest: &[Vec3], joint_of_place: &[u32]) -> Option<f64> {
    let own = rest.iter().zip(joint_of_place).filter(|(_, j)| **j as usize == slot);
    let sides: Vec<(f64, f64)> = own
        .filter_map(|(p, _)| {
            let p = p.as_dvec3();
            let side = side(tree, slot, p)?;
            Some((side.angle, p.distance(tree.nodes[slot].at) * libm::sin(side.angle)))
        })
        .collect();
    let beside = |least: f64| sides.iter().filter(|s| s.0 > least).map(|s| s.1).collect::<Vec<_>>();
    let mut distances = beside(PI / 4.0);
    if distances.len() < 3 {
        distances = beside(0.0);
    }
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() / 2).copied().filter(|&r| r > 1e-9 * tree.size)
}

fn record(
    tree: &Tree,
    slot: usize,
    p: DVec3,
    own: &[(u16, f64)],
    radius: f64,
    control: &JointControl,
) -> Option<Record> {
    let node = &tree.nodes[slot];
    let side = side(tree, slot, p)?;
    let weight = |of: u16| own.iter().find(|w| w.0 == of).map_or(0.0, |w| w.1);
    let hangs = |mut of: u16| loop {
        if usize::from(of) == slot {
            return true;
        }
        match tree.nodes[usize::from(of)].parent {
            Some(parent) => of = parent,
            None => return false,
        }
    };
    let parent = node.parent.map_or(0.0, weight);
    let below: f64 = own.iter().filter(|w| hangs(w.0)).map(|w| w.1).sum();
    let child = if parent + below > 0.0 { below / (parent + below) } else { f64::from(side.is_child) };
    let back = node.back?.0;
    let bone = if side.is_child { side.bone } else { node.along };
    let axis = (bone * child - back * (1.0 - child)).try_normalize()?;
    let way = p - node.at;
    let out = (way - axis * axis.dot(way)).try_normalize()?;
    let step = |from: f64, to: f64, x: f64| {
        let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
        1.0 - t * t * (3.0 - 2.0 * t)
    };
    let held = (2.0 * (parent + weight(slot as u16))).min(1.0);
    let reach = control.fat_radius * radius;
    let base =
        held * step(BONE_FADE[0], BONE_FADE[1], side.along) * step(0.5 * reach, reach, way.length());
    Some(Record {
        out: out.as_vec3(),
        angle: side.angle as f32,
        child: child as f32,
        base: base as f32,
        point: NONE,
        joint: 0,
    })
}

/// Where the runs of equal numbers start that `sorted` has.
fn starts(count: usize, sorted: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut starts = vec![0u32; count + 1];
    sorted.for_each(|k| starts[k as usize + 1] += 1);
    for k in 0..count {
        starts[k + 1] += starts[k];
    }
    starts
}
