//! The fat bulge (seed 002, section 3): where a bend squeezes flesh, a ridge around the inside of the joint takes up the
//! volume that was lost there.
//!
//! About a joint `x` is the azimuth, 0 on the inner side of the bend, and `y` the angle at the joint away from the nearer
//! bone. The ridge is at `y_r = (2 pi - 4 a0)/pi^2 x^2 + a0`; with `R = y/y_r` the height is `A (4 ((R-1)/q)^2 - 1)^2`
//! within `|R-1| < q/2`. It fades towards the outer side, along the bones and with distance.

use super::SmoothOptions;
use super::flesh::{Flesh, Record};
use super::heights::{self, Bent, Block, Heights};
use super::regions::{self, NONE, Regions};
use super::stars::{Around, Stars};
use super::tree::{Tree, Turn};
use crate::parallel::{self, Scattered};
use crate::rig::SkinMatrix;
use crate::simd::Path;
use crate::skin::pack::{BATCH, Vectors};
use glam::Vec3;
use std::collections::BTreeMap;
use std::f64::consts::PI;

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

/// What one joint raises of one region.
#[derive(Debug, Clone)]
struct Run {
    joint: u16,
    region: u32,
    blocks: Vec<u32>,
}

/// What is prepared.
#[derive(Debug)]
pub(super) struct Bulge {
    joints: Vec<Joint>,
    regions: Regions,
    /// The points that bulges can raise, sixteen side by side: those of a batch are all in one region, or in [`NONE`].
    stars: Stars,
    /// Where each of them is, or [`NONE`] where a batch is filled up.
    place_of_point: Vec<u32>,
    /// Batch by batch, one for each joint that raises any of it: those of batch `k` are
    /// `blocks[block_starts[k]..block_starts[k + 1]]`.
    blocks: Vec<Block>,
    joint_of_block: Vec<u16>,
    block_starts: Vec<u32>,
    runs: Vec<Run>,
    /// Runs of each region.
    runs_of: Vec<Vec<u32>>,
    kernel: heights::Kernel,
}

/// What one moving copy needs.
#[derive(Debug, Default, Clone)]
pub(super) struct State {
    /// One per joint.
    bent: Vec<Bent>,
    /// How far bulges of `A = 1` raise the points of each block.
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
            stars: Stars::new(Vec::new(), |_| NONE, path).0,
            place_of_point: Vec::new(),
            blocks: Vec::new(),
            joint_of_block: Vec::new(),
            block_starts: vec![0],
            runs: Vec::new(),
            kernel: heights::kernel(path),
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
        let mut found: Vec<(u32, Vec<Record>)> = Vec::new();
        for place in flesh.places() {
            let mut records = Vec::new();
            for slot in flesh.near_joints(place) {
                let joint = joint_of_slot[usize::from(slot)];
                let Some(known) = self.joints.get(joint as usize).filter(|j| j.gain > 0.0) else { continue };
                let control = options.control(flesh.tree.nodes[usize::from(slot)].joint);
                if let Some(mut record) = flesh.record(place, slot, known.radius, control) {
                    record.base *= self.regions.sign(joint as usize) as f32;
                    record.joint = joint as u16;
                    records.push(record);
                }
            }
            if !records.is_empty() {
                found.push((place as u32, records));
            }
        }
        let region = |place: u32| joint_of_place[place as usize];
        found.sort_by_key(|f| (region(f.0), f.0));
        let mut pairs: Vec<Vec<[u32; 2]>> = vec![Vec::new(); flesh.rest.len()];
        for &[a, b, c] in triangles {
            [(a, [b, c]), (b, [c, a]), (c, [a, b])].iter().for_each(|p| pairs[p.0 as usize].push(p.1));
        }
        let around = found.iter().map(|&(place, _)| (place, std::mem::take(&mut pairs[place as usize])));
        let (stars, lanes) = Stars::new(around.collect(), region, path);
        self.stars = stars;
        self.place_of_point = vec![NONE; lanes.len()];
        let mut joints_of = vec![Vec::new(); flesh.rest.len()];
        let mut runs: BTreeMap<(u16, u32), Vec<u32>> = BTreeMap::new();
        for (batch, lanes) in lanes.chunks(BATCH).enumerate() {
            let own = |lane: usize| &found[lanes[lane] as usize];
            // Those after the last one only fill up.
            let count = 1 + (1..BATCH).filter(|&lane| lanes[lane] != lanes[lane - 1]).count();
            for lane in 0..count {
                let (place, records) = own(lane);
                self.place_of_point[batch * BATCH + lane] = *place;
                joints_of[*place as usize] = records.iter().map(|r| r.joint).collect();
            }
            let mut joints: Vec<u16> = (0..count).flat_map(|k| own(k).1.iter().map(|r| r.joint)).collect();
            joints.sort_unstable();
            joints.dedup();
            for joint in joints {
                runs.entry((joint, region(own(0).0))).or_default().push(self.blocks.len() as u32);
                let of = |lane: usize| own(lane).1.iter().find(|r| r.joint == joint);
                self.blocks.push(block(joint, batch as u32, (0..count).map(of)));
                self.joint_of_block.push(joint);
            }
            self.block_starts.push(self.blocks.len() as u32);
        }
        for ((joint, region), blocks) in runs {
            self.runs_of.get_mut(region as usize).into_iter().for_each(|r| r.push(self.runs.len() as u32));
            self.runs.push(Run { joint, region, blocks });
        }
        self.regions.set_movers(|place| joints_of[place as usize].clone());
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
            for &block in blocks {
                let Block { curvature, batch, .. } = &self.blocks[block as usize];
                let areas = &around.areas[*batch as usize * BATCH..][..BATCH];
                let Heights(heights) = &heights[block as usize];
                for lane in 0..BATCH {
                    let added = heights[lane] * areas[lane];
                    sums[0][lane] += added;
                    sums[1][lane] += added * heights[lane] * curvature[lane];
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

    /// Raises points by what the last step added.
    fn displace(&self, places: &mut [Vec3], state: &State) {
        const BATCHES: usize = CHUNK / BATCH;
        let State { heights, amounts, around, .. } = state;
        let places = Scattered::new(places);
        let tasks = 0..self.place_of_point.len().div_ceil(CHUNK);
        let raise = |task: usize, ()| {
            let batches = task * BATCHES..((task + 1) * BATCHES).min(self.block_starts.len() - 1);
            for batch in batches {
                let (mut up, mut is_raised) = ([0f32; BATCH], false);
                let own = self.block_starts[batch] as usize..self.block_starts[batch + 1] as usize;
                for (Heights(heights), &joint) in heights[own.clone()].iter().zip(&self.joint_of_block[own]) {
                    let amount = amounts[usize::from(joint)][1] as f32;
                    if amount != 0.0 {
                        is_raised = true;
                        up.iter_mut().zip(heights).for_each(|(up, height)| *up += height * amount);
                    }
                }
                for lane in (0..BATCH).take_while(|_| is_raised) {
                    let point = batch * BATCH + lane;
                    let place = self.place_of_point[point] as usize;
                    if self.place_of_point[point] != NONE {
                        // SAFETY: a place has one point, which is in one batch.
                        unsafe { places.set(place, places.get(place) + around.normals[point] * up[lane]) }
                    }
                }
            }
        };
        parallel::for_each_part(tasks, (), |(), _| ((), ()), raise);
    }
}

/// A pose, and the skin that is in it.
pub(super) struct Posed<'a> {
    pub turns: &'a [Turn],
    pub matrices: &'a [SkinMatrix],
    /// Rest positions, with morphs.
    pub rest: &'a [Vec3],
}

/// What one joint does to a batch: a record for each of its points, where there is one.
fn block<'a>(joint: u16, batch: u32, records: impl Iterator<Item = Option<&'a Record>>) -> Block {
    let zeros = [0.0; BATCH];
    let (out, angle, child, base, curvature) = (Vectors([zeros; 3]), zeros, zeros, zeros, zeros);
    let mut block = Block { out, angle, child, base, curvature, joint, batch };
    for (lane, record) in records.enumerate() {
        let Some(record) = record else { continue };
        block.out.set(lane, record.out);
        block.angle[lane] = record.angle;
        block.child[lane] = record.child;
        block.base[lane] = record.base;
        block.curvature[lane] = record.curvature;
    }
    block
}
