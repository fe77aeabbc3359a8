//! The fat bulge (seed 002, section 3): where a bend squeezes flesh, a ridge around the inside of the joint takes up the
//! volume that was lost there.
//!
//! About a joint `x` is the azimuth, 0 on the inner side of the bend, and `y` the angle at the joint away from the nearer
//! bone. The ridge is at `y_r = (2 pi - 4 a0)/pi^2 x^2 + a0`; with `R = y/y_r` the height is `A (4 ((R-1)/q)^2 - 1)^2`
//! within `|R-1| < q/2`. It fades towards the outer side, along the bones and with distance.

use super::SmoothOptions;
use super::flesh::{self, Flesh, Record};
use super::heights::{self, Bent, Block, Heights};
use super::regions::{self, NONE, Regions};
use super::stars::{Around, Stars};
use super::tree::{Tree, Turn};
use crate::parallel;
use crate::rig::SkinMatrix;
use crate::simd::Path;
use crate::skin::pack::{BATCH, Vectors};
use glam::Vec3;
use std::f64::consts::PI;
use std::ops::Range;

/// The ridge at its highest, in limb radii; beyond it is hard (dihedrals of 96 degrees).
const MOST: f64 = 0.28;
/// The bend, in radians, up to which less than that is allowed, in proportion: what a joint nearby has lost raises
/// nothing at a joint that is nearly straight, where a coarse skin would show it as a spike.
const EASE: f64 = 75.0 * PI / 180.0;
/// Bends below this, radians, have no inner side.
const STRAIGHT: f64 = 1e-3;
/// Newton's steps, at most, and rounds over all joints in each: their bulges reach into each other.
const STEPS: usize = 4;
const ROUNDS: usize = 3;
/// What may be missing of a region's volume, as a share of it, where steps end.
const ENOUGH: f64 = 5e-5;
/// How far the estimate of a step's second order may be off.
const DOUBT: f64 = 0.5;
/// Elements a parallel task.
const CHUNK: usize = 1024;
/// Volumes below this many cubes of the limb's radius are none: a cape, a flat fin.
const FLAT: f64 = 0.2;

/// A joint that flesh can bulge at.
#[derive(Debug, Clone)]
struct Joint {
    slot: u16,
    /// The limb's radius there.
    radius: f64,
    /// Limit angle `a0`, radians.
    limit: f32,
    /// Ridge width `q`.
    width: f32,
    gain: f64,
}

/// Records of one joint whose points are in one region, or in [`NONE`].
#[derive(Debug, Clone)]
struct Run {
    joint: u16,
    region: u32,
    blocks: Range<u32>,
}

/// What is prepared.
#[derive(Debug)]
pub(super) struct Bulge {
    joints: Vec<Joint>,
    regions: Regions,
    /// By run; records are their lanes.
    blocks: Vec<Block>,
    /// Of each record its point and curvature; fillers have the first point.
    points: Vec<(u32, f32)>,
    runs: Vec<Run>,
    /// Runs of each region.
    runs_of: Vec<Vec<u32>>,
    kernel: heights::Kernel,
    /// Which of the points that a bulge can raise is at each place, or [`NONE`].
    point_of_place: Vec<u32>,
    stars: Stars,
    /// Records of point `k` and their joints: `by_point[record_starts[k]..record_starts[k + 1]]`.
    record_starts: Vec<u32>,
    by_point: Vec<(u32, u16)>,
}

/// What one moving copy needs.
#[derive(Debug, Default, Clone)]
pub(super) struct State {
    /// One per joint.
    bent: Vec<Bent>,
    /// How far a bulge of `A = 1` raises the point of each record.
    heights: Vec<Heights>,
    /// The skin around each point.
    around: Around,
    regions: regions::State,
    /// What bulges of `A = 1` add to regions, to first and second order: per run.
    gains: Vec<[f64; 2]>,
    /// `A` of each joint, and what was added to it last.
    amounts: Vec<[f64; 2]>,
    /// Volumes at rest, with morphs.
    volumes: Vec<f64>,
    pub is_rest_new: bool,
}

impl Bulge {
    /// `triangles` between places.
    pub(super) fn new(
        flesh: &Flesh<'_>,
        triangles: &[[u32; 3]],
        options: &SmoothOptions,
        path: Path,
    ) -> Self {
        let limits = flesh.limits(options);
        let mut joint_of_place = flesh.nearest_joints(&limits);
        let mut joints = Vec::new();
        let mut joint_of_slot = vec![NONE; limits.len()];
        for (slot, limit) in limits.iter().enumerate() {
            let Some((limit, radius)) = limit.zip(flesh.radius(slot, &joint_of_place)) else { continue };
            let control = options.control(flesh.tree.nodes[slot].joint);
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
        let region_of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|p| joint_of_place[p as usize]);
            if b == c { b } else { a }
        };
        let slots = |place: usize| flesh.own(place).collect::<Vec<_>>();
        let regions = Regions::new(joints.len(), flesh.rest, triangles, region_of, slots, path);
        for (index, joint) in joints.iter_mut().enumerate() {
            let cube = joint.radius * joint.radius * joint.radius;
            if regions.volume(index).abs() < FLAT * cube {
                joint.gain = 0.0;
            }
        }
        let mut made = Self {
            runs_of: vec![Vec::new(); joints.len()],
            joints,
            regions,
            blocks: Vec::new(),
            points: Vec::new(),
            runs: Vec::new(),
            kernel: heights::kernel(path),
            point_of_place: vec![NONE; flesh.rest.len()],
            stars: Stars::new(Vec::new(), path).0,
            record_starts: Vec::new(),
            by_point: Vec::new(),
        };
        made.find(flesh, triangles, options, &joint_of_place, &joint_of_slot, path);
        made
    }

    /// Finds all that can be raised.
    fn find(
        &mut self,
        flesh: &Flesh<'_>,
        triangles: &[[u32; 3]],
        options: &SmoothOptions,
        joint_of_place: &[u32],
        joint_of_slot: &[u32],
        path: Path,
    ) {
        let mut found: Vec<(u32, Record)> = Vec::new();
        for place in flesh.places() {
            for slot in flesh.near_joints(place) {
                let joint = joint_of_slot[usize::from(slot)];
                let Some(known) = self.joints.get(joint as usize).filter(|j| j.gain > 0.0) else { continue };
                let control = options.control(flesh.tree.nodes[usize::from(slot)].joint);
                if let Some(mut record) = flesh.record(place, slot, known.radius, control) {
                    record.base *= self.regions.sign(joint as usize) as f32;
                    record.joint = joint as u16;
                    found.push((place as u32, record));
                }
            }
        }
        let mut places: Vec<u32> = found.iter().map(|f| f.0).collect();
        places.dedup();
        let mut pairs: Vec<Vec<[u32; 2]>> = vec![Vec::new(); flesh.rest.len()];
        for &[a, b, c] in triangles {
            [(a, [b, c]), (b, [c, a]), (c, [a, b])].iter().for_each(|p| pairs[p.0 as usize].push(p.1));
        }
        let around = places.iter().map(|&place| (place, std::mem::take(&mut pairs[place as usize])));
        let (stars, order) = Stars::new(around.collect(), path);
        self.stars = stars;
        for (k, &old) in order.iter().enumerate() {
            self.point_of_place[places[old as usize] as usize] = k as u32;
        }
        for (place, record) in &mut found {
            record.point = self.point_of_place[*place as usize];
        }
        let run = |(place, record): &(u32, Record)| (record.joint, joint_of_place[*place as usize]);
        found.sort_by_key(|f| (run(f), f.1.point));
        let mut by_point: Vec<(u32, u32, u16)> = Vec::new();
        for records in found.chunk_by(|a, b| run(a) == run(b)) {
            let first = self.blocks.len() as u32;
            for records in records.chunks(BATCH) {
                let index = (self.blocks.len() * BATCH) as u32;
                self.blocks.push(block(records));
                for lane in 0..BATCH {
                    let own = records.get(lane).map(|(_, r)| (r.point, r.curvature));
                    self.points.push(own.unwrap_or((0, 0.0)));
                }
                let own = records.iter().enumerate();
                by_point.extend(own.map(|(lane, (_, r))| (r.point, index + lane as u32, r.joint)));
            }
            let (joint, region) = run(&records[0]);
            self.runs_of.get_mut(region as usize).into_iter().for_each(|r| r.push(self.runs.len() as u32));
            self.runs.push(Run { joint, region, blocks: first..self.blocks.len() as u32 });
        }
        by_point.sort_unstable();
        self.record_starts = flesh::starts(places.len(), by_point.iter().map(|p| p.0));
        self.by_point = by_point.iter().map(|p| (p.1, p.2)).collect();
        let Self { regions, point_of_place, .. } = self;
        let (starts, by_point) = (&self.record_starts, &self.by_point);
        regions.set_movers(|place| match point_of_place[place as usize] {
            NONE => Vec::new(),
            k => records_of(starts, by_point, k as usize).iter().map(|r| r.1).collect(),
        });
    }

    /// Whether nothing can bulge.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// A state for one copy.
    pub(super) fn state(&self) -> State {
        State { is_rest_new: true, ..State::default() }
    }

    /// Finds the joints that are bent; whether there are any.
    pub(super) fn find_bent(&self, tree: &Tree, turns: &[Turn], state: &mut State) -> bool {
        state.bent.clear();
        state.bent.extend(self.joints.iter().map(|joint| {
            let turn = &turns[usize::from(joint.slot)];
            // The bone's end moves towards the inner side.
            let inner = turn.axis.cross(tree.nodes[usize::from(joint.slot)].along);
            Bent {
                inner: inner.as_vec3().to_array(),
                axis: turn.axis.as_vec3().to_array(),
                twist: turn.twist as f32,
                limit: joint.limit,
                width: joint.width,
                is_bent: turn.swing > STRAIGHT && joint.gain > 0.0 && inner.is_finite(),
            }
        }));
        state.amounts.clear();
        state.amounts.resize(self.joints.len(), [0.0; 2]);
        state.bent.iter().any(|b| b.is_bent)
    }

    /// Raises the points, by what the bends of this pose took.
    pub(super) fn raise(&self, pose: &Posed<'_>, places: &mut [Vec3], state: &mut State) {
        if state.is_rest_new {
            self.regions.measure(pose.rest, |_| true, &mut state.regions);
            state.volumes.clone_from(&state.regions.volumes);
            state.is_rest_new = false;
        }
        self.heights(state);
        self.stars.look(places, &mut state.around);
        self.gains(state);
        for step in 0..STEPS {
            let State { bent, regions, amounts, .. } = &mut *state;
            let moved = |joint: &u16| amounts[usize::from(*joint)][1] != 0.0;
            let is_wanted = |task: &regions::Task| {
                bent[task.region as usize].is_bent && (step == 0 || task.joints.iter().any(moved))
            };
            self.regions.measure(places, is_wanted, regions);
            let missing = self.solve(pose, state);
            self.displace(places, state);
            if missing < ENOUGH {
                break;
            }
        }
    }

    fn heights(&self, state: &mut State) {
        const BLOCKS: usize = CHUNK / BATCH;
        let State { bent, heights, .. } = state;
        heights.resize(self.blocks.len(), Heights([0.0; BATCH]));
        parallel::for_each_chunk_mut(heights, BLOCKS, |chunk, heights| {
            let blocks = &self.blocks[chunk * BLOCKS..][..heights.len()];
            // SAFETY: the path was found available when the skin was made; blocks name joints.
            unsafe { (self.kernel)(blocks, bent, heights) }
        });
    }

    /// How much volume bulges of height 1 add. To second order as on a round limb: `d + H d^2` on each unit of area, `H` the
    /// mean curvature.
    fn gains(&self, state: &mut State) {
        let State { bent, gains, heights, around, .. } = state;
        gains.resize(self.runs.len(), [0.0; 2]);
        parallel::for_each_chunk_mut(gains, 1, |index, gain| {
            let Run { joint, region, blocks } = &self.runs[index];
            gain[0] = [0.0; 2];
            if *region == NONE || !bent[usize::from(*joint)].is_bent {
                return;
            }
            // A sum for each lane: additions one after the other would wait for each other.
            let mut sums = [[0f32; BATCH]; 2];
            for block in blocks.start as usize..blocks.end as usize {
                let points = &self.points[block * BATCH..][..BATCH];
                for lane in 0..BATCH {
                    let (height, (point, curvature)) = (heights[block].0[lane], points[lane]);
                    let added = height * around.areas[point as usize];
                    sums[0][lane] += added;
                    sums[1][lane] += added * height * curvature;
                }
            }
            gain[0] = sums.map(|lanes| lanes.iter().map(|&x| f64::from(x)).sum::<f64>() / 6.0);
        });
    }

    /// A Newton step for `A` of all joints: what brings each region back to its volume, as far as may be. The largest
    /// share of a region's volume that may still be missing for want of another step.
    fn solve(&self, pose: &Posed<'_>, state: &mut State) -> f64 {
        let State { bent, regions, gains, amounts, volumes, .. } = state;
        amounts.iter_mut().for_each(|a| a[1] = 0.0);
        let mut missing: f64 = 0.0;
        for round in 0..ROUNDS {
            for (index, joint) in self.joints.iter().enumerate().filter(|(i, _)| bent[*i].is_bent) {
                let (mut own, mut spilled) = ([0.0; 2], 0.0);
                for &run in &self.runs_of[index] {
                    let (run, gain) = (&self.runs[run as usize], &gains[run as usize]);
                    if usize::from(run.joint) == index {
                        own = *gain;
                    } else {
                        spilled += gain[0] * amounts[usize::from(run.joint)][1];
                    }
                }
                let sign = self.regions.sign(index);
                let scale = self.regions.scale(index, pose.matrices);
                let target = sign * volumes[index] * scale;
                let [before, _] = amounts[index];
                let (second, slope) = (own[1], sign * own[0] + 2.0 * own[1] * before / joint.gain);
                let miss = sign * (regions.volumes[index] + spilled) - target;
                if slope <= 0.0 || target <= 0.0 || !miss.is_finite() {
                    continue;
                }
                // The root of `miss + slope d + second d^2`, nearly.
                let first = -miss / slope;
                let step = -miss / (slope + second * first).max(0.5 * slope);
                let radius = joint.radius * libm::cbrt(scale.abs());
                let most = MOST * radius * (pose.turns[usize::from(joint.slot)].swing / EASE).min(1.0);
                let now = (before + joint.gain * step).clamp(0.0, joint.gain * most);
                amounts[index][1] = now - before;
                if round + 1 == ROUNDS {
                    let step = (now - before) / joint.gain;
                    missing = missing.max(DOUBT * second.abs() * step * step / target);
                }
            }
        }
        amounts.iter_mut().for_each(|a| a[0] += a[1]);
        missing
    }

    fn displace(&self, places: &mut [Vec3], state: &State) {
        let height = |record: usize| state.heights[record / BATCH].0[record % BATCH];
        parallel::for_each_chunk_mut(places, CHUNK, |chunk, places| {
            let points = &self.point_of_place[chunk * CHUNK..][..places.len()];
            for (place, &k) in places.iter_mut().zip(points).filter(|(_, k)| **k != NONE) {
                let k = k as usize;
                let own = records_of(&self.record_starts, &self.by_point, k);
                let up = own.iter().fold(0.0, |sum, &(record, joint)| {
                    sum + height(record as usize) * state.amounts[usize::from(joint)][1] as f32
                });
                *place += state.around.normals[k] * up;
            }
        });
    }
}

/// A pose, and the skin that is in it.
pub(super) struct Posed<'a> {
    pub turns: &'a [Turn],
    pub matrices: &'a [SkinMatrix],
    /// Rest positions, with morphs.
    pub rest: &'a [Vec3],
}

/// Records of a point and their joints.
fn records_of<'a>(starts: &[u32], by_point: &'a [(u32, u16)], point: usize) -> &'a [(u32, u16)] {
    &by_point[starts[point] as usize..starts[point + 1] as usize]
}

/// A block of some records, which are of one joint.
fn block(records: &[(u32, Record)]) -> Block {
    let zeros = [0.0; BATCH];
    let joint = records.first().map_or(0, |r| r.1.joint);
    let mut block = Block { out: Vectors([zeros; 3]), angle: zeros, child: zeros, base: zeros, joint };
    for (lane, (_, record)) in records.iter().enumerate() {
        block.out.set(lane, record.out);
        block.angle[lane] = record.angle;
        block.child[lane] = record.child;
        block.base[lane] = record.base;
    }
    block
}
