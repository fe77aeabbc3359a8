//! Balls at the joints: where two bones share skin, it turns about the joint by a turn between theirs.
//!
//! The blend goes through a ladder of turns from one bone's to the other's, made once a frame for all skin of the pair, so
//! that a vertex is on two rungs of it with a weight each: `v = sum_r w_r (o_r + R_r (v - p))`. Straight between rungs a
//! limb that is twisted by half a turn loses a third of a percent of its radius.

use super::MetaballsSettings;
use super::rig::Bound;
use crate::asset::{Character, Skeleton, Slot};
use crate::body::{Body, OnSkin};
use crate::method::check::SettingsError;
use crate::method::flesh::hang;
use crate::method::regions::{Joints, no_joint};
use crate::skin::mesh::smooth_step;
use glam::{DMat3, DVec3};
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_4;

/// Steps from one bone's turn to the other's.
pub(super) const RUNGS: usize = 20;
/// How far flesh at a joint swells at most, and shrinks, over its radius.
const SWELLS: [f64; 2] = [-0.15, 0.3];
/// Tets that belong to the two bones of a pair: the share of their weights.
const OWN: f32 = 0.5;
/// Bones of a vertex whose pairs are looked at.
const BONES: usize = 3;
/// The smaller weight from which on a vertex tells where a joint is, and how many it takes.
const SHARED: f32 = 0.05;
const FEW: usize = 3;
/// How far from a joint skin is taken to be that bones share which do not meet there, over what those share that do. Of an arm's
/// weights some are far down the trunk: with a radius to match, that skin is turned about the shoulder, and stands off as wings.
const BESIDE: f64 = 1.25;
/// The most pairs: the strongest.
const MOST: usize = 1000;

/// Vertices that two bones share, and the smaller weight of each.
type Shared = Vec<(u32, f64)>;

/// Two bones with skin in common.
pub(super) struct Pair {
    pub(super) slots: [u16; 2],
    /// Where one turns against the other, at rest.
    pub(super) pivot: DVec3,
    inner: f64,
    outer: f64,
    /// What a turn about each axis adds to the volume, per radian.
    squeezed: DVec3,
    /// The volume that swells, by how much it does, its middle, and the directions in which.
    room: f64,
    pub(super) middle: DVec3,
    pub(super) across: DMat3,
}

impl Pair {
    /// How much of skin so far from the joint follows its ball.
    fn weight(&self, distance: f64) -> f64 {
        if distance <= self.inner {
            return 1.0;
        }
        if distance >= self.outer {
            return 0.0;
        }
        1.0 - smooth_step((distance - self.inner) / (self.outer - self.inner))
    }

    /// Finds what a bend does to the flesh, given the weights of the body's nodes.
    ///
    /// With the turn `t w` at the height `t` of the ladder the flesh is deformed by `F = R (I + (w x r) (x) grad t)`, whose
    /// determinant is `1 + w.(r x grad t)`: so `dV = w . sum_T V r x grad t`, however far it is bent.
    fn squeeze(&mut self, body: &Body, nodes: &[Bound]) {
        let [a, b] = self.slots;
        let of = |bound: &Bound, slot: u16| bound.iter().find(|w| w.0 == slot).map_or(0.0, |w| w.1);
        let (mut along, mut middle) = (DVec3::ZERO, DVec3::ZERO);
        for (tet, corners) in body.tets().tets().iter().enumerate() {
            let both = corners.map(|n| [of(&nodes[n as usize], a), of(&nodes[n as usize], b)]);
            if both.iter().any(|[a, b]| a + b < OWN) {
                continue;
            }
            let heights = both.map(|[a, b]| f64::from(b / (a + b)));
            let height = heights.iter().sum::<f64>() / 4.0;
            let [p, q, r, s] = body.tets().corners(tet);
            let edges = DMat3::from_cols(q - p, r - p, s - p);
            let volume = edges.determinant() / 6.0;
            let rise = DVec3::new(heights[1] - heights[0], heights[2] - heights[0], heights[3] - heights[0]);
            if volume <= 0.0 {
                continue;
            }
            let slope = edges.transpose().inverse() * rise * volume;
            let center = (p + q + r + s) / 4.0;
            let room = swell_at(height) * volume;
            self.squeezed += (center - self.pivot).cross(slope);
            along += slope;
            middle += center * room;
            self.room += room;
        }
        self.middle = if self.room > 0.0 { middle / self.room } else { self.pivot };
        let along = along.normalize_or_zero();
        self.across = DMat3::IDENTITY - DMat3::from_cols(along * along.x, along * along.y, along * along.z);
    }

    /// How much flesh halfway up the ladder swells, for its volume to stay, when the second bone has turned against the
    /// first by this axis and angle.
    pub(super) fn swelling(&self, axis: DVec3, angle: f64) -> f64 {
        let change = self.squeezed.dot(axis) * angle;
        // As much of the change is where it swells as the mean of that over all heights.
        let room = (self.room + change * FRAC_PI_4).max(0.3 * self.room);
        if room > 0.0 { (-0.5 * change / room).clamp(SWELLS[0], SWELLS[1]) } else { 0.0 }
    }
}

/// How much of a joint's swelling there is at a rung of the ladder: a half circle, which reaches farther along the limb than
/// what is blended.
pub(super) fn swell(rung: usize) -> f64 {
    let height = rung as f64 / RUNGS as f64;
    (4.0 * height * (1.0 - height)).max(0.0).sqrt()
}

/// The same between rungs, as skin sees it.
fn swell_at(height: f64) -> f64 {
    let rung = height * RUNGS as f64;
    let low = (rung as usize).min(RUNGS - 1);
    let up = rung - low as f64;
    swell(low) * (1.0 - up) + swell(low + 1) * up
}

pub(super) struct JointBalls {
    pub(super) pairs: Vec<Pair>,
    by_slots: BTreeMap<[u16; 2], usize>,
    /// Pairs of each slot.
    of_slot: Vec<Vec<usize>>,
    /// Slots that each hangs on, itself too.
    above: Vec<Vec<u16>>,
    /// Slots with the one that each hangs on next, from the top.
    pub(super) hangs_on: Vec<[u16; 2]>,
}

impl JointBalls {
    pub(super) fn new(
        character: &Character,
        body: &Body,
        settings: &MetaballsSettings,
    ) -> Result<Self, SettingsError> {
        let (rest, triangles) = (character.rest_positions(), character.surface().triangles());
        let nodes = hang(character, body, &OnSkin::new(body, &rest, triangles));
        let skeleton = character.skeleton();
        let reach_of = Self::reaches(skeleton, settings)?;
        let mut shared: BTreeMap<[u16; 2], Shared> = BTreeMap::new();
        for vertex in 0..character.weights().vertex_count() {
            let own: Bound = character.weights().of(vertex).take(BONES).collect();
            for (k, a) in own.iter().enumerate() {
                for b in &own[k + 1..] {
                    let both = a.1.min(b.1);
                    if both >= SHARED {
                        let slots = [a.0.min(b.0), a.0.max(b.0)];
                        shared.entry(slots).or_default().push((vertex as u32, f64::from(both)));
                    }
                }
            }
        }
        let mut ranked: Vec<([u16; 2], Shared)> =
            shared.into_iter().filter(|(_, skin)| skin.len() >= FEW).collect();
        let strength = |skin: &[(u32, f64)]| -> f64 { skin.iter().map(|s| s.1).sum() };
        ranked.sort_by(|a, b| strength(&b.1).total_cmp(&strength(&a.1)).then(a.0.cmp(&b.0)));
        ranked.truncate(MOST);
        let positions = character.surface().positions();
        let above = above(character);
        let mut made = Self {
            pairs: Vec::new(),
            by_slots: BTreeMap::new(),
            of_slot: vec![Vec::new(); character.slots().len()],
            hangs_on: hangs_on(character, &above),
            above,
        };
        let mut found = Vec::with_capacity(ranked.len());
        // How far from a joint the skin is that the two bones share which meet there.
        let mut radii: BTreeMap<u32, f64> = BTreeMap::new();
        for (slots, skin) in ranked {
            let at = |vertex: u32| positions[vertex as usize].as_dvec3();
            let whole = strength(&skin);
            let middle = skin.iter().map(|&(v, w)| at(v) * w).sum::<DVec3>() / whole;
            let ends = slots.map(|s| character.slots()[s as usize].joint);
            let Some(joint) = between(skeleton, ends, middle) else { continue };
            let pivot = skeleton.rest_position(joint);
            // Where both have as much say the skin is beside the joint: a limb's radius away.
            let (sum, weight) = skin.iter().fold((0.0, 0.0), |(sum, weight), &(v, w)| {
                (sum + at(v).distance(pivot) * w * w, weight + w * w)
            });
            let radius = sum / weight;
            if made.hangs_on.iter().any(|on| *on == slots || [on[1], on[0]] == slots) {
                let known = radii.entry(joint).or_insert(radius);
                *known = known.max(radius);
            }
            found.push((slots, joint, pivot, radius));
        }
        for (slots, joint, pivot, radius) in found {
            let most = radii.get(&joint).map_or(f64::INFINITY, |known| BESIDE * known);
            let reach = reach_of.get(&joint).copied().unwrap_or(settings.joint_radius);
            let outer = reach * radius.min(most);
            if outer <= 0.0 {
                continue;
            }
            let index = made.pairs.len();
            made.by_slots.insert(slots, index);
            slots.iter().for_each(|&s| made.of_slot[s as usize].push(index));
            let mut pair = Pair {
                slots,
                pivot,
                inner: settings.inner_radius * outer,
                outer,
                squeezed: DVec3::ZERO,
                room: 0.0,
                middle: pivot,
                across: DMat3::ZERO,
            };
            pair.squeeze(body, &nodes);
            made.pairs.push(pair);
        }
        Ok(made)
    }

    /// How far the balls of joints reach that are told apart by name.
    pub(super) fn reaches(
        skeleton: &Skeleton,
        settings: &MetaballsSettings,
    ) -> Result<BTreeMap<u32, f64>, SettingsError> {
        let joints = Joints::of(skeleton);
        let mut reach_of = BTreeMap::new();
        for (index, joint) in settings.joints.iter().enumerate() {
            let missing = || no_joint("joint", &joint.joint, skeleton).under(&format!("joint[{index}]"));
            let found = joints.find(&joint.joint).ok_or_else(missing)?;
            reach_of.extend(found.into_iter().map(|j| (j, joint.radius)));
        }
        Ok(reach_of)
    }

    /// Whether one of two bones hangs on the other.
    fn is_line(&self, a: u16, b: u16) -> bool {
        self.above[a as usize].contains(&b) || self.above[b as usize].contains(&a)
    }

    /// The rungs that a vertex is on, as pairs, heights from the first bone to the second, and weights; they sum to how
    /// much of it follows joints' balls at all.
    pub(super) fn of(&self, at: DVec3, own: &[(u16, f32)]) -> Vec<(usize, f64, f64)> {
        let mut found = Vec::new();
        let near = |pair: usize| self.pairs[pair].weight(self.pairs[pair].pivot.distance(at));
        let own = &own[..own.len().min(BONES)];
        // Of three bones in a row the outer two turn alike or not; pairs that say different things, averaged, draw the skin in:
        // the one that shares most of it leads. Where bones go side by side that would fold the skin between them.
        let in_line = own.iter().all(|a| own.iter().all(|b| self.is_line(a.0, b.0)));
        let (mut sum, mut whole) = (0.0, 0.0);
        for (k, &(a, weight_a)) in own.iter().enumerate() {
            for &(b, weight_b) in &own[k + 1..] {
                let slots = [a.min(b), a.max(b)];
                let [low, high] =
                    if a < b { [weight_a, weight_b] } else { [weight_b, weight_a] }.map(f64::from);
                let say = if in_line { (low * high).powi(2) } else { low * high };
                whole += say;
                if let Some(&pair) = self.by_slots.get(&slots) {
                    sum += say;
                    found.push((pair, high / (low + high), say * near(pair)));
                }
            }
        }
        if whole > 0.0 {
            // What pairs without a joint would say is left to the balls.
            let by = if sum > 0.0 { 1.0 / whole } else { 0.0 };
            found.iter_mut().for_each(|f| f.2 *= by);
        } else if let Some(&(slot, _)) = own.first() {
            // One bone alone: the foot or the top of the ladder.
            let best = self.of_slot[slot as usize].iter().max_by(|&&a, &&b| near(a).total_cmp(&near(b)));
            if let Some(&pair) = best {
                let height = if self.pairs[pair].slots[1] == slot { 1.0 } else { 0.0 };
                found.push((pair, height, near(pair)));
            }
        }
        found.retain(|f| f.2 > 0.0);
        found
    }
}

/// The slots of each slot's joint and of those that it hangs on.
fn above(character: &Character) -> Vec<Vec<u16>> {
    let (joints, slots) = (character.skeleton().joints(), character.slots());
    let of_slot = |slot: &Slot| {
        let line = std::iter::successors(Some(slot.joint), |&j| joints[j as usize].parent);
        let all =
            line.flat_map(|joint| (0..slots.len() as u16).filter(move |&s| slots[s as usize].joint == joint));
        all.collect()
    };
    slots.iter().map(of_slot).collect()
}

/// Each slot with the one that it hangs on next, from the top; of a joint's slots all on the first, and so those at the top.
fn hangs_on(character: &Character, above: &[Vec<u16>]) -> Vec<[u16; 2]> {
    let joint = |slot: u16| character.slots()[slot as usize].joint;
    let mut from_top: Vec<u16> = (0..above.len() as u16).collect();
    from_top.sort_by_key(|&slot| above[slot as usize].len());
    let top = from_top.first().copied();
    let next = |slot: u16| {
        let own = &above[slot as usize];
        let first = own.first().copied().filter(|&first| first != slot);
        first.or_else(|| own.iter().copied().find(|&other| joint(other) != joint(slot))).or(top)
    };
    let all = from_top.iter().filter_map(|&slot| Some([slot, next(slot)?]));
    all.filter(|[slot, on]| slot != on).collect()
}

/// The joint at which two joints' flesh meets: of those on the way from one to the other, save the topmost, the nearest to a
/// place.
fn between(skeleton: &Skeleton, [a, b]: [u32; 2], place: DVec3) -> Option<u32> {
    let chain = |joint: u32| {
        let parent = |&j: &u32| skeleton.joints()[j as usize].parent;
        std::iter::successors(Some(joint), parent).collect::<Vec<u32>>()
    };
    let (from_a, from_b) = (chain(a), chain(b));
    let own = |chain: &[u32], other: &[u32]| -> Vec<u32> {
        chain.iter().copied().take_while(|j| !other.contains(j)).collect()
    };
    let mut on_way = own(&from_a, &from_b);
    on_way.extend(own(&from_b, &from_a));
    let distance = |&j: &u32| skeleton.rest_position(j).distance(place);
    on_way.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}
