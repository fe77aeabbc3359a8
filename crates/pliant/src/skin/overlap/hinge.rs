//! Bones that share a joint: where a limb is bent so far that its two halves pass through each other, a plane parts them.
//!
//! The plane goes through the posed joint and contains the axis of the bend, tilted so that distances from its points to the
//! two bones are as the limbs' radii. What lies inside the bend and on the wrong side is put back to its own, with a small
//! gap, evened out over the skin and put back again, a few times.

use super::{Overlap, OverlapState};
use crate::asset::{Bone, Character};
use crate::parallel;
use crate::skin::mesh::{Mesh, on_segment, smooth_step};
use glam::{DAffine3, DVec3, Vec3};

/// Degrees by which a joint is closed, against rest, from which on anything is done, and at which all is.
const CLOSED: [f64; 2] = [10.0, 30.0];
/// Degrees between the bones above which there is no inside of the bend.
const OPEN: [f64; 2] = [165.0, 145.0];
/// How deep both halves must have passed the plane for the whole repair, over the radius; and how deep one of them, where
/// the other is too thick to. Weights that are not painted along the plane pass it a little at any bend.
const DEEP: f32 = 0.04;
const DEEP_ALONE: [f32; 2] = [0.1, 0.2];
/// Over which part of the radius the repair fades in from the joint inwards.
const INNER: f64 = 0.06;
/// The gap that is left, over the radius; less where both bones have their say.
const GAP: f64 = 0.03;
/// Skin this near to the plane, over the radius, is in contact: less and less of it is moved for the volume's sake.
const CONTACT: f64 = 0.6;
/// How much the flesh beside the contact gives way, against that of the joint.
const GIVE: f32 = 0.5;
/// Over how many radii beyond the contact it still does.
const BESIDE: f32 = 3.0;
const ROUNDS: usize = 8;
/// How much of the way to the middle of its neighbours a point goes in each, and how far it must have been moved for that,
/// over the radius.
const EVEN: f32 = 0.5;
const EVENED: f32 = 0.1;
/// Flesh that hangs on the two bones: distance over radius up to which it counts wholly, and at all.
const OWN: [f64; 2] = [2.2, 3.0];
/// How far along the bones flesh can meet, in radii.
const REACH: f64 = 7.0;

/// Two bones and the flesh on them, at rest.
pub(super) struct Hinge {
    /// Of the parent's bone and of the child's.
    slots: [u16; 2],
    joint: DVec3,
    /// From the joint along both.
    ways: [DVec3; 2],
    radii: [f64; 2],
    /// Degrees between the bones.
    rest: f64,
    members: Vec<Member>,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    point: u32,
    vertex: u32,
    /// `2 W - 1`: from -1 for the parent's alone to 1 for the child's.
    side: f32,
    fade: f32,
}

/// Where a hinge's plane lies in a pose.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fold {
    /// How far the joint is bent, 0 to 1.
    pub(super) bent: f32,
    /// How much of the repair is done, 0 to 1: the same where the skin is folded.
    ease: f32,
    joint: Vec3,
    /// Towards the child's side.
    normal: Vec3,
    /// From the joint into the bend.
    inwards: Vec3,
    radius: f32,
    /// How far from the joint the halves touch, in radii: `1 / tan(angle / 2)`.
    contact: f32,
}

impl Fold {
    fn inside(&self, place: Vec3) -> f32 {
        smooth((place - self.joint).dot(self.inwards) / (INNER as f32 * self.radius))
    }
}

fn smooth(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// A place on the way along which a joint's own flesh lies.
fn main_way(bones: &[Bone], joint: u32) -> Option<DVec3> {
    let own: Vec<DVec3> = bones.iter().filter(|b| b.joint == joint).map(|b| b.end - b.start).collect();
    let longest = own.iter().copied().max_by(|a, b| a.length().total_cmp(&b.length()))?;
    let mean = own.iter().sum::<DVec3>() / own.len() as f64;
    // Fingers fan out from a hand: their mean is its way. Where bones go every way, the longest.
    Some(if mean.length() > 0.6 * longest.length() { mean } else { longest })
}

pub(super) fn hinges(character: &Character, mesh: &Mesh) -> Vec<Hinge> {
    let skeleton = character.skeleton();
    let joints = skeleton.joints();
    let bones = skeleton.bones();
    let diagonal = character.diagonal();
    let slot_of = |joint: u32| character.slots().iter().position(|s| s.joint == joint).map(|s| s as u16);
    let mut points_of: Vec<Vec<u32>> = vec![Vec::new(); joints.len()];
    for p in 0..mesh.len() {
        if let Some(&(slot, _)) = mesh.weights(p).first() {
            points_of[character.slots()[slot as usize].joint as usize].push(p as u32);
        }
    }
    let is_below = |joint: u32, top: u32| {
        let mut at = Some(joint);
        while let Some(j) = at {
            if j == top {
                return true;
            }
            at = joints[j as usize].parent;
        }
        false
    };
    let mut hinges = Vec::new();
    for child in 0..joints.len() as u32 {
        let Some(parent) = joints[child as usize].parent else { continue };
        let (Some(upper), Some(lower)) = (slot_of(parent), slot_of(child)) else { continue };
        let joint = skeleton.rest_position(child);
        let ways = [skeleton.rest_position(parent) - joint, main_way(&bones, child).unwrap_or_default()];
        if ways.iter().any(|w| w.length() <= 1e-4 * diagonal) {
            continue;
        }
        // Flesh of the two bones, and of others that lie along them (twist bones).
        let along = |other: u32, way: DVec3| {
            let at = skeleton.rest_position(other);
            at.distance(on_segment(joint, joint + way, at)) < 0.1 * way.length()
                && at.distance(joint) < 0.9 * way.length()
        };
        let sides: [Vec<u32>; 2] = [0, 1].map(|side| {
            let mut own = points_of[[parent, child][side] as usize].clone();
            for other in (0..joints.len() as u32).filter(|&o| o != parent && o != child) {
                let of_child = is_below(other, child);
                let of_parent = is_below(other, parent) && !of_child;
                if [of_parent, of_child][side] && along(other, ways[side]) {
                    own.extend(&points_of[other as usize]);
                }
            }
            own
        });
        let distance = |p: u32, side: usize| {
            let at = mesh.points[p as usize];
            at.distance(on_segment(joint, joint + ways[side], at))
        };
        let radius = |side: usize, most: f64| -> Option<f64> {
            // Near the joint, where the halves meet.
            let mut near: Vec<f64> = sides[side]
                .iter()
                .filter(|&&p| mesh.points[p as usize].distance(joint) < most)
                .map(|&p| distance(p, side))
                .collect();
            near.sort_by(f64::total_cmp);
            near.get(near.len() / 2).copied().filter(|r| *r > 0.0)
        };
        let Some(lower_radius) = radius(1, 0.7 * ways[1].length()).or(radius(1, 2.0 * ways[1].length()))
        else {
            continue;
        };
        let Some(upper_radius) = radius(0, 3.0 * lower_radius) else { continue };
        let radii = [upper_radius.min(2.5 * lower_radius), lower_radius];
        let mut hinge = Hinge {
            slots: [upper, lower],
            joint,
            ways: ways.map(DVec3::normalize),
            radii,
            rest: ways[0].angle_between(ways[1]).to_degrees(),
            members: Vec::new(),
        };
        let reach = REACH * radii[0].max(radii[1]);
        let across = (hinge.ways[1] - hinge.ways[0]).normalize_or_zero();
        for side in [0, 1] {
            for &point in &sides[side] {
                let off = mesh.points[point as usize] - joint;
                let below: f32 = mesh
                    .weights(point as usize)
                    .iter()
                    .filter(|w| is_below(character.slots()[w.0 as usize].joint, child))
                    .map(|w| w.1)
                    .sum();
                let twice = (2.0 * below - 1.0).clamp(-1.0, 1.0);
                // What is on the other's side at rest already belongs there.
                let own_side = off.dot(across) * f64::from(twice).signum() / radii[side];
                let near = (OWN[1] - distance(point, side) / radii[side]) / (OWN[1] - OWN[0]);
                let fade = smooth_step(near)
                    * smooth_step((own_side + 0.5) / 0.3)
                    * smooth_step((reach - off.length()) / radii[side]);
                if fade > 0.0 {
                    let vertex = mesh.vertex_of_point[point as usize];
                    hinge.members.push(Member { point, vertex, side: twice, fade: fade as f32 });
                }
            }
        }
        hinge.members.sort_by_key(|m| m.point);
        if hinge.members.iter().any(|m| m.side > 0.0) && hinge.members.iter().any(|m| m.side < 0.0) {
            hinges.push(hinge);
        }
    }
    hinges
}

impl Hinge {
    /// The plane in a pose, where the bend is sharp enough.
    fn plane(&self, posed: &[DAffine3]) -> Fold {
        let [upper, lower] = self.slots.map(|slot| &posed[slot as usize]);
        let joint = lower.transform_point3(self.joint);
        let ways = [upper.transform_vector3(self.ways[0]), lower.transform_vector3(self.ways[1])];
        let scale = 0.5 * (ways[0].length() + ways[1].length());
        let [Some(a), Some(b)] = ways.map(DVec3::try_normalize) else { return Fold::default() };
        let angle = libm::acos(a.dot(b).clamp(-1.0, 1.0)).to_degrees();
        let ease = smooth_step((self.rest - angle - CLOSED[0]) / (CLOSED[1] - CLOSED[0]))
            * smooth_step((OPEN[0] - angle) / (OPEN[0] - OPEN[1]));
        // Points at `r_c a + r_p b` are as far from the bones as the limbs are thick.
        let inwards = (a * self.radii[1] + b * self.radii[0]).try_normalize();
        let axis = a.cross(b).try_normalize();
        let (Some(inwards), Some(axis)) = (inwards, axis) else { return Fold::default() };
        let normal = axis.cross(inwards);
        let normal = if normal.dot(b) < 0.0 { -normal } else { normal };
        let radius = scale * 0.5 * (self.radii[0] + self.radii[1]);
        if !(ease > 0.0 && radius.is_finite() && joint.is_finite()) {
            return Fold::default();
        }
        Fold {
            bent: ease as f32,
            ease: 0.0,
            joint: joint.as_vec3(),
            normal: normal.as_vec3(),
            inwards: inwards.as_vec3(),
            radius: radius as f32,
            contact: (libm::tan(0.5 * angle.to_radians()).recip()).min(REACH) as f32,
        }
    }

    /// The first vertices of the points that it may move.
    pub(super) fn vertices(&self) -> impl Iterator<Item = u32> + '_ {
        self.members.iter().map(|m| m.vertex)
    }

    /// How much both halves, or one of them, have passed the plane.
    fn depth(&self, fold: &Fold, positions: &[Vec3]) -> f32 {
        let mut past = [0f32; 2];
        for member in &self.members {
            let place = positions[member.vertex as usize];
            let height = (place - fold.joint).dot(fold.normal);
            let own = if member.side > 0.0 { height } else { -height };
            if own < 0.0 {
                let side = usize::from(member.side > 0.0);
                past[side] = past[side].max(-own * fold.inside(place) * member.fade * member.side.abs());
            }
        }
        let [both, one] = [past[0].min(past[1]), past[0].max(past[1])].map(|depth| depth / fold.radius);
        smooth(both / DEEP).max(smooth((one - DEEP_ALONE[0]) / (DEEP_ALONE[1] - DEEP_ALONE[0])))
    }
}

impl Overlap {
    /// Which hinges are folded, and how far the repair of each is eased in.
    pub(super) fn find_folds(&self, state: &mut OverlapState, positions: &[Vec3]) {
        let OverlapState { posed, folds, .. } = state;
        let hinges = &self.hinges;
        parallel::for_each_chunk_mut(folds, 1, |index, folds| {
            let mut fold = hinges[index].plane(posed);
            if fold.bent > 0.0 {
                fold.ease = fold.bent * hinges[index].depth(&fold, positions);
            }
            folds[0] = fold;
        });
    }

    /// Puts flesh back to its own side of the plane.
    pub(super) fn unfold(&self, hinge: usize, state: &mut OverlapState, positions: &mut [Vec3]) {
        let (hinge, fold) = (&self.hinges[hinge], state.folds[hinge]);
        let gap_of = |member: &Member| GAP as f32 * fold.radius * (3.0 * member.side.abs()).min(1.0);
        let own = |member: &Member, place: Vec3| {
            let height = (place - fold.joint).dot(fold.normal);
            if member.side > 0.0 { height } else { -height }
        };
        // In `near`: members, not points.
        state.near.clear();
        for (index, member) in hinge.members.iter().enumerate() {
            let place = positions[member.vertex as usize];
            if own(member, place) < gap_of(member) + CONTACT as f32 * fold.radius && fold.inside(place) > 0.0
            {
                state.near.push(index as u32);
            }
        }
        let near = std::mem::take(&mut state.near);
        let rounds = if fold.ease > 0.0 { ROUNDS } else { 0 };
        for round in 0..rounds {
            for &index in &near {
                let member = &hinge.members[index as usize];
                let start = positions[member.vertex as usize];
                let share = fold.ease * member.fade * fold.inside(start);
                let moved = &mut state.moved[member.point as usize];
                let lacks = gap_of(member) - own(member, start + *moved);
                if lacks > 0.0 {
                    *moved += fold.normal * (lacks * share).copysign(member.side);
                }
            }
            if round + 1 == ROUNDS {
                break;
            }
            // What was pushed through the plane lies on it in folds: evened out by its neighbours.
            for &index in &near {
                let Member { point, vertex, .. } = hinge.members[index as usize];
                let own = state.moved[point as usize];
                let share = EVEN * smooth(own.length() / (EVENED * fold.radius));
                let (mut sum, mut count) = (Vec3::ZERO, 0.0);
                if share > 0.0 {
                    self.mesh.for_neighbours(point as usize, |n| {
                        sum += self.place(positions, n as u32) + state.moved[n];
                        count += 1.0;
                    });
                }
                let even = if count > 0.0 { sum / count - positions[vertex as usize] } else { own };
                state.smoothed[point as usize] = own + (even - own) * share;
            }
            for &index in &near {
                let point = hinge.members[index as usize].point as usize;
                state.moved[point] = std::mem::take(&mut state.smoothed[point]);
            }
        }
        for &index in &near {
            let member = &hinge.members[index as usize];
            let moved = std::mem::take(&mut state.moved[member.point as usize]);
            let start = positions[member.vertex as usize];
            if moved != Vec3::ZERO {
                state.touch(member.point, start);
                positions[member.vertex as usize] = start + moved;
            }
            let from_plane = own(member, start + moved) / (CONTACT as f32 * fold.radius);
            // The inside of a bend is held even where nothing has met yet: it would be pushed through itself.
            let share = fold.bent * member.fade * fold.inside(start);
            state.meet(member.point, 0.0, share * smooth(1.0 - from_plane));
        }
        state.near = near;
        if fold.ease == 0.0 {
            return;
        }
        // What was cut off goes to the flesh around it: as far along the limb as the halves touch, and a little farther.
        for member in &hinge.members {
            let from = positions[member.vertex as usize].distance(fold.joint) / fold.radius;
            let give = GIVE * fold.ease * member.fade * smooth((fold.contact + BESIDE - from) / BESIDE);
            if give > 0.0 {
                state.meet(member.point, give, 0.0);
            }
        }
    }
}
