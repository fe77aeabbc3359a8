//! The frames of a recording as a clip of the character.

use super::align::Reference;
use super::footing::Footing;
use super::frame::{Stance, swing};
use super::humanoid::{Humanoid, Role, Side};
use super::mapping::{Link, Mapping, Named, Span};
use super::recording::{Recording, rotation, size};
use super::roll::{Arm, Rolls};
use super::soles::{self, Sole};
use crate::asset::{AssetError, Channel, Character, Clip, Skeleton, Target, Track, slerp};
use crate::rig::pose::has_inverse;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use thiserror::Error;

/// Why a recording cannot move a character.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RetargetError {
    /// Too few joints of one skeleton are known in the other.
    #[error("too few joints of the motion are known to belong to joints of the character")]
    NothingInCommon,
    /// Numbers that make no clip.
    #[error(transparent)]
    Asset(#[from] AssetError),
}

/// A recording as a clip of a character.
#[derive(Debug, Clone, PartialEq)]
pub struct Retargeted {
    /// The clip; time 0 is the first frame that is taken.
    pub clip: Clip,
    /// Frames at the start that are left out: a pose to calibrate by, not a part of the motion.
    pub skipped: usize,
    /// How much longer the character's legs are.
    pub scale: f64,
    /// Joints of the recording that move, but move nothing here.
    pub unused: Vec<u32>,
}

/// Makes a clip of a character from a clip of the skeleton `from`, by a mapping of its joints to the character's.
pub fn retarget(
    from: &Named<'_>,
    clip: &Clip,
    character: &Character,
    mapping: &Mapping,
) -> Result<Retargeted, RetargetError> {
    if !mapping.is_enough(from.skeleton, character.skeleton()) {
        return Err(RetargetError::NothingInCommon);
    }
    let recording = Recording::new(from.skeleton, clip);
    let plan = Plan::new(&recording, character, mapping);
    let clip = plan.clip(clip.name().to_owned())?;
    let mut unused = mapping.unused(from.skeleton);
    unused.retain(|&joint| recording.moves(joint));
    Ok(Retargeted { clip, skipped: recording.skipped, scale: plan.scale, unused })
}

/// What is the same in all frames.
struct Plan<'a> {
    recording: &'a Recording<'a>,
    to: &'a Skeleton,
    mapping: &'a Mapping,
    /// The character's world from the recording's.
    world: DQuat,
    scale: f64,
    /// What undoes each joint's rotation in the reference pose, and where joints are in it.
    from_reference: Vec<DQuat>,
    reference: Vec<DAffine3>,
    /// The turn from rest to the reference pose, of each of the character's joints.
    aligned: Vec<DQuat>,
    /// The joint that each of the character's moves with: its parent, or what carries it in a body.
    carriers: Vec<Option<u32>>,
    /// The character's joints with those that carry them first.
    order: Vec<u32>,
    /// Arms whose rolls are not as recorded where they cancel.
    arms: Vec<Arm>,
    root: Option<(u32, u32)>,
    /// Points of both bodies' feet.
    from_soles: Vec<Sole>,
    to_soles: Vec<Sole>,
    /// Height of the character's floor.
    to_floor: f64,
    /// Up in the recording's world and in the character's.
    ups: [DVec3; 2],
    /// Whether the bodies are where their thighs are, not where their roots are.
    by_thighs: bool,
    /// The recording's floor; none where both have one world.
    floor: Option<f64>,
    /// How much higher the character's body is than a scaled one would be.
    lift: f64,
    /// Length of the recording's leg.
    leg: f64,
}

impl<'a> Plan<'a> {
    fn new(recording: &'a Recording<'a>, character: &'a Character, mapping: &'a Mapping) -> Self {
        let to = character.skeleton();
        let rest: Vec<DAffine3> = to.joints().iter().map(|j| j.world_from_rest).collect();
        let stance = Stance { body: &mapping.to, skeleton: to, worlds: &rest };
        // Joints that rest in the same places are one skeleton, of whatever body: nothing stands between them.
        let near = 1e-6 * size(&rest);
        let apart = |l: &Link| recording.skeleton.rest_position(l.from).distance(to.rest_position(l.to));
        let is_same = mapping.spans.is_empty() && mapping.links.iter().all(|l| apart(l) <= near);
        let footing = if is_same {
            Footing::plain(recording.skeleton.joints().iter().map(|j| j.world_from_rest).collect())
        } else {
            Footing::find(recording, &mapping.from, &stance)
        };
        let Footing { world, reference, flat, hinges, from_facing, to_facing, ups } = footing;
        let from = recording.stance(&mapping.from, &reference);
        let mut turns =
            Reference { from, to: stance, world, from_facing, to_facing, hinges: &hinges }.turns();
        let stand = (world * from_facing * to_facing.inverse()).normalize();

        let mut from_reference: Vec<DQuat> = reference.iter().map(|w| rotation(w).inverse()).collect();
        let (mut from_soles, mut to_soles) = (Vec::new(), Vec::new());
        let (from_up, forward) = (from_facing * DVec3::Y, to_facing * DVec3::Z);
        for (k, side) in Side::BOTH.into_iter().enumerate() {
            let flat = flat.as_ref().map(|flat| recording.stance(&mapping.from, &flat[k]));
            from_soles.extend(soles::of_joints(
                flat.as_ref().unwrap_or(&from),
                side,
                if flat.is_some() { ups[0] } else { from_up },
            ));
            to_soles.extend(soles::of_skin(character, &stance, side, forward, ups[1]));
            let Some(flat) = flat else { continue };
            // Both soles flat, both feet pointing the same way along the floor.
            let level = |way: DVec3, up: DVec3| (way - up * way.dot(up)).try_normalize();
            let from_way = flat.direction(Role::Foot(side)).and_then(|way| level(way, ups[0]));
            let to_way =
                stance.direction(Role::Foot(side)).and_then(|way| level(way, ups[1])).unwrap_or(forward);
            let turn = from_way.map_or(stand, |way| swing(to_way, world * way, ups[1]));
            for role in [Role::Foot(side), Role::Toes(side)] {
                if let Some(joint) = mapping.from.joint(role) {
                    from_reference[joint as usize] = rotation(&flat.worlds[joint as usize]).inverse();
                    turns.insert(role, turn);
                }
            }
        }

        let carriers = carriers(to, &mapping.to);
        let depth = |j: u32| std::iter::successors(carriers[j as usize], |&j| carriers[j as usize]).count();
        let mut order: Vec<u32> = (0..to.len() as u32).collect();
        order.sort_by_cached_key(|&j| (depth(j), j));
        let mut aligned = vec![stand; to.len()];
        for &joint in &order {
            let role = mapping.to.joints.iter().find(|(_, j)| **j == joint).map(|(role, _)| role);
            let twin = mapping.to.twins.iter().find(|(j, _)| *j == joint).map(|(_, role)| role);
            let is_trunk = mapping.to.spine.contains(&joint) || mapping.to.neck.contains(&joint);
            aligned[joint as usize] =
                match (role.or(twin).and_then(|r| turns.get(r)), carriers[joint as usize]) {
                    (Some(turn), _) => *turn,
                    (None, Some(carrier)) if !is_trunk => aligned[carrier as usize],
                    _ => stand,
                };
        }
        let hips = mapping.from.joint(Role::Hips).zip(mapping.to.joint(Role::Hips));
        let highest = order.iter().find_map(|&j| mapping.links.iter().find(|l| l.to == j));
        let is_root = |j: u32| recording.skeleton.joints()[j as usize].parent.is_none();
        let mut plan = Self {
            recording,
            to,
            mapping,
            world,
            scale: scale(&from, &stance),
            from_reference,
            aligned,
            carriers,
            order,
            arms: if is_same { Vec::new() } else { Arm::both(&stance) },
            // What carries no body moves nothing along unless it is all that the recording has.
            root: hips.or(highest.filter(|l| is_root(l.from)).map(|l| (l.from, l.to))),
            to_floor: to_soles
                .iter()
                .map(|s| s.at(&rest[s.joint as usize], DQuat::IDENTITY).dot(ups[1]))
                .fold(f64::INFINITY, f64::min),
            from_soles,
            to_soles,
            ups,
            by_thighs: true,
            floor: None,
            lift: 0.0,
            leg: leg(&from).unwrap_or_else(|| size(&reference)),
            reference,
        };
        plan.find_floor(from_up);
        plan
    }
}

/// What each joint moves with: its parent, or what carries it in a body where the rig has them apart (feet that hang from
/// the root, to be placed by hand).
fn carriers(skeleton: &Skeleton, body: &Humanoid) -> Vec<Option<u32>> {
    let mut carriers: Vec<Option<u32>> = skeleton.joints().iter().map(|j| j.parent).collect();
    let twins = body.twins.iter().map(|&(joint, role)| (role, joint));
    for (role, joint) in body.joints.iter().map(|(&role, &joint)| (role, joint)).chain(twins) {
        let Some(carrier) = body.carrier(role).and_then(|r| body.joint(r)) else { continue };
        let above = |joint: u32| std::iter::successors(Some(joint), |&j| carriers[j as usize]);
        if carrier != joint && !above(joint).any(|j| j == carrier) && !above(carrier).any(|j| j == joint) {
            carriers[joint as usize] = Some(carrier);
        }
    }
    carriers
}

/// The mean length of a leg.
fn leg(stance: &Stance<'_>) -> Option<f64> {
    let one = |side| {
        let [hip, knee, foot] =
            [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)].map(|role| stance.joint(role));
        Some(hip?.distance(knee?) + knee?.distance(foot?))
    };
    let [left, right] = Side::BOTH.map(one);
    Some(0.5 * (left? + right?)).filter(|&length| length > 0.0)
}

/// How much larger the character is: by its legs, or its trunk, or all of it.
fn scale(from: &Stance<'_>, to: &Stance<'_>) -> f64 {
    let trunk = |s: &Stance<'_>| {
        let low = s.joint(Role::Hips)?;
        s.middle(Role::UpperArm).or(s.joint(Role::Head)).map(|high| high.distance(low)).filter(|&l| l > 0.0)
    };
    let whole = || Some((size(from.worlds), size(to.worlds))).filter(|s| s.0 > 0.0);
    let sizes = leg(from).zip(leg(to)).or_else(|| trunk(from).zip(trunk(to))).or_else(whole);
    sizes.map_or(1.0, |(from, to)| to / from)
}

impl Plan<'_> {
    /// The point of the recording that says where the body is: between the thighs, or the root itself.
    fn anchor(&self, worlds: &[DAffine3]) -> DVec3 {
        let middle = self
            .between_thighs()
            .and_then(|_| self.recording.stance(&self.mapping.from, worlds).middle(Role::UpperLeg));
        middle.or(self.root.map(|(from, _)| worlds[from as usize].translation)).unwrap_or_default()
    }

    /// Where the character's is, at rest.
    fn rest_anchor(&self) -> DVec3 {
        let root = self.root.map(|(_, to)| self.to.rest_position(to));
        self.between_thighs().or(root).unwrap_or_default()
    }

    /// The character's point between its thighs, if both bodies have two.
    fn between_thighs(&self) -> Option<DVec3> {
        if !self.by_thighs {
            return None;
        }
        let both = |body: &Humanoid| {
            let [left, right] = Side::BOTH.map(|side| body.joint(Role::UpperLeg(side)));
            left.zip(right)
        };
        both(&self.mapping.from)?;
        let (left, right) = both(&self.mapping.to)?;
        Some(0.5 * (self.to.rest_position(left) + self.to.rest_position(right)))
    }

    /// How a joint of the recording is turned against its reference.
    fn delta(&self, worlds: &[DAffine3], joint: u32) -> DQuat {
        (rotation(&worlds[joint as usize]) * self.from_reference[joint as usize]).normalize()
    }

    /// How high the lowest point of the recording's feet is.
    fn lowest(&self, worlds: &[DAffine3]) -> Option<f64> {
        let soles = self.from_soles.iter();
        let at = |s: &Sole| s.at(&worlds[s.joint as usize], self.delta(worlds, s.joint));
        soles.map(|s| at(s).dot(self.ups[0])).reduce(f64::min)
    }

    /// The recording's floor, and how the character's body is lifted onto its own. `up` is that of the reference pose.
    fn find_floor(&mut self, up: DVec3) {
        let at = self.anchor(&self.reference);
        let is_here = (self.world * at * self.scale).distance(self.rest_anchor()) < 1e-3 * self.leg;
        if is_here && (self.scale - 1.0).abs() < 1e-3 {
            // Both stand in one place: they share a world, and their roots move alike.
            self.by_thighs = false;
            return;
        }
        let mut worlds = Vec::new();
        let mut heights = Vec::new();
        for frame in self.recording.some() {
            self.recording.at(frame, &mut worlds);
            heights.push(self.lowest(&worlds).unwrap_or_else(|| self.anchor(&worlds).dot(self.ups[0])));
        }
        let floor = densest(heights);
        let low =
            self.from_soles.iter().map(|s| (self.reference[s.joint as usize].translation + s.arm).dot(up));
        let stood = low.reduce(f64::min).map_or(0.0, |low| at.dot(up) - low);
        self.lift = self.rest_anchor().dot(self.ups[1]) - self.scale * stood;
        self.floor = Some(floor);
    }

    fn clip(&self, name: String) -> Result<Clip, AssetError> {
        let joints = self.to.joints();
        let linked = self.linked();
        let is_placed = |j: u32| {
            let is_root = self.root.is_some_and(|r| r.1 == j);
            is_root
                || self.goes_along(j, &linked).is_some()
                || self.carriers[j as usize] != joints[j as usize].parent
        };
        let is_turned = |j: u32| linked[j as usize].is_some() || is_placed(j);
        let mut turned: Vec<Vec<f32>> = vec![Vec::new(); joints.len()];
        let mut placed = turned.clone();
        let (mut before, mut scratch) = (vec![DQuat::IDENTITY; joints.len()], Scratch::default());
        for frame in self.recording.skipped..self.recording.frames {
            self.pose(frame, &linked, &mut scratch);
            for (j, joint) in (0..).zip(joints).filter(|(j, _)| is_turned(*j)) {
                let Some(local) = local(joint.parent, j, &scratch.worlds) else { continue };
                let (_, rotation, place) = local.to_scale_rotation_translation();
                // q and -q turn alike: the nearer one, so that neighbours blend number by number too.
                let near =
                    if before[j as usize].dot(rotation) < 0.0 { -rotation } else { rotation }.normalize();
                before[j as usize] = near;
                turned[j as usize].extend(near.to_array().map(|c| c as f32));
                if is_placed(j) {
                    placed[j as usize].extend(place.to_array().map(|c| c as f32));
                }
            }
        }
        let rate = self.recording.rate;
        let mut channels = Vec::new();
        let rest: Vec<DAffine3> = joints.iter().map(|j| j.world_from_rest).collect();
        for (j, joint) in (0..).zip(joints) {
            let mut add = |target, width, keys: Vec<f32>| -> Result<(), AssetError> {
                channels.push(Channel { target, track: Track::recorded(width, rate, keys)? });
                Ok(())
            };
            // What does not move is as it was bound: a file's default pose may be another.
            let Some(local) = local(joint.parent, j, &rest) else { continue };
            let (scale, rotation, place) = local.to_scale_rotation_translation();
            let (default_scale, default_rotation, default_place) =
                joint.local.to_affine().to_scale_rotation_translation();
            let turns = std::mem::take(&mut turned[j as usize]);
            let places = std::mem::take(&mut placed[j as usize]);
            let is_moved = !turns.is_empty();
            if is_moved {
                add(Target::Rotation(j), 4, turns)?;
            } else if rotation.dot(default_rotation).abs() < 1.0 - 1e-9 {
                add(Target::Rotation(j), 4, rotation.to_array().map(|c| c as f32).to_vec())?;
            }
            if !places.is_empty() {
                add(Target::Translation(j), 3, places)?;
            } else if place.distance(default_place) > 1e-6 * place.length() {
                add(Target::Translation(j), 3, place.to_array().map(|c| c as f32).to_vec())?;
            }
            if scale.distance(default_scale) > 1e-6 * scale.length() {
                add(Target::Scale(j), 3, scale.to_array().map(|c| c as f32).to_vec())?;
            }
        }
        Clip::recorded(name, channels, self.recording.frames - self.recording.skipped, rate)
    }

    /// What turns each joint of the character.
    fn linked(&self) -> Vec<Option<Drive<'_>>> {
        let mut linked: Vec<Option<Drive<'_>>> = vec![None; self.to.len()];
        for link in &self.mapping.links {
            let from = &self.mapping.from;
            // A limb that the recording has in several pieces (MakeHuman) points where its ends are.
            let bone = link.role.filter(|r| r.is_limb()).and_then(|r| from.joint(r.next()?));
            let parent = |j: u32| self.recording.skeleton.joints()[j as usize].parent;
            let end = bone.filter(|&end| parent(end) != Some(link.from));
            linked[link.to as usize] = Some(Drive::Joint { from: link.from, end });
        }
        for span in &self.mapping.spans {
            for &(along, joint) in &span.to {
                linked[joint as usize] = Some(Drive::Along(span, along));
            }
        }
        linked
    }

    /// Where the character's joints are in a frame.
    fn pose(&self, frame: usize, linked: &[Option<Drive<'_>>], scratch: &mut Scratch) {
        let Scratch { from, worlds, turns, back, rolls } = scratch;
        self.recording.at(frame, from);
        let delta = |j: u32| self.delta(from, j);
        let here = |turn: DQuat| (self.world * turn * self.world.inverse()).normalize();
        // How the recording turns a joint from rest.
        let driven = |joint: u32| {
            let turn = match linked[joint as usize]? {
                Drive::Joint { from: own, end } => {
                    let turn = delta(own);
                    let way = |w: &[DAffine3], end| w[end as usize].translation - w[own as usize].translation;
                    let swung =
                        |end| swing(turn * way(&self.reference, end), way(from, end), DVec3::X) * turn;
                    end.map_or(turn, swung)
                }
                Drive::Along(span, along) => {
                    let above =
                        span.from.iter().position(|s| s.0 >= along).unwrap_or(span.from.len() - 1).max(1);
                    let ((low, a), (high, b)) = (span.from[above - 1], span.from[above]);
                    let share = if high > low { ((along - low) / (high - low)).clamp(0.0, 1.0) } else { 1.0 };
                    slerp(delta(a), delta(b), share)
                }
            };
            Some((here(turn) * self.aligned[joint as usize]).normalize())
        };
        turns.clear();
        turns.resize(self.to.len(), DQuat::IDENTITY);
        worlds.clear();
        worlds.extend(self.to.joints().iter().map(|j| j.world_from_rest));
        back.clear();
        back.resize(self.to.len(), None);
        rolls.resize(self.arms.len(), None);
        for &joint in &self.order {
            let j = joint as usize;
            let rest = self.to.joints()[j].world_from_rest;
            let carrier = self.carriers[j];
            if let Some((arm, rolls)) = self.arms.iter().zip(&mut *rolls).find(|(a, _)| a.upper == joint)
                && let [Some(upper), Some(lower), Some(hand)] = [arm.upper, arm.lower, arm.hand].map(driven)
            {
                let above = carrier.map_or(DQuat::IDENTITY, |c| turns[c as usize]);
                let [of_upper, of_lower] = arm.unrolled([above, upper, lower, hand], rolls);
                (back[j], back[arm.lower as usize]) = (Some(of_upper), Some(of_lower));
            }
            turns[j] = match driven(joint) {
                Some(turn) => back[j].map_or(turn, |back| (back * turn).normalize()),
                None => carrier.map_or(DQuat::IDENTITY, |c| turns[c as usize]),
            };
            let place = match carrier {
                _ if self.root.is_some_and(|r| r.1 == joint) => {
                    self.root_place(from, turns[j], rest.translation)
                }
                Some(c) => {
                    let arm = rest.translation - self.to.rest_position(c);
                    worlds[c as usize].translation + turns[c as usize] * arm
                }
                None => match self.goes_along(joint, linked) {
                    Some(own) => self.world * from[own as usize].translation * self.scale,
                    None => rest.translation,
                },
            };
            worlds[j] = DAffine3 { matrix3: DMat3::from_quat(turns[j]) * rest.matrix3, translation: place };
        }
        self.stand(from, worlds, turns);
    }

    /// The joint of the recording whose places a joint above the body has: in a world that both share.
    fn goes_along(&self, joint: u32, linked: &[Option<Drive<'_>>]) -> Option<u32> {
        match linked[joint as usize] {
            Some(Drive::Joint { from, .. }) if !self.by_thighs && self.carriers[joint as usize].is_none() => {
                Some(from)
            }
            _ => None,
        }
    }

    fn root_place(&self, from: &[DAffine3], turn: DQuat, rest: DVec3) -> DVec3 {
        let anchor = self.anchor(from);
        let mut place = self.world * anchor * self.scale;
        if let Some(floor) = self.floor {
            let height = self.scale * (anchor.dot(self.ups[0]) - floor) + self.lift;
            place += self.ups[1] * (height - place.dot(self.ups[1]));
        }
        place - turn * (self.rest_anchor() - rest)
    }

    /// Lifts or lowers the body until its lower foot is as high above the floor as the recording's: bodies are built
    /// differently, and scaling alone lets feet float or sink. Feet that are high in the air say nothing.
    fn stand(&self, from: &[DAffine3], worlds: &mut [DAffine3], turns: &[DQuat]) {
        let (Some(floor), Some(own), Some((_, root))) = (self.floor, self.lowest(from), self.root) else {
            return;
        };
        let up = self.ups[1];
        let at = |s: &Sole| s.at(&worlds[s.joint as usize], turns[s.joint as usize]);
        let Some(now) = self.to_soles.iter().map(|s| at(s).dot(up)).reduce(f64::min) else { return };
        let now = now - self.to_floor;
        let own = own - floor;
        let share = (1.0 - own / (HIGH * self.leg)).clamp(0.0, 1.0);
        let lift = up * share * share * (3.0 - 2.0 * share) * (self.scale * own - now);
        let mut moves = vec![false; worlds.len()];
        for &joint in &self.order {
            let carried = self.carriers[joint as usize].is_some_and(|c| moves[c as usize]);
            if joint == root || carried {
                moves[joint as usize] = true;
                worlds[joint as usize].translation += lift;
            }
        }
    }
}

/// The value that most values are near to: feet are on the floor more often than at any other height.
fn densest(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    // The narrowest range that a quarter of them are in.
    let share = values.len() / 4;
    let spread = |k: usize| values[k + share] - values[k];
    let first = (0..values.len() - share).min_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0);
    values[first + share / 2]
}

/// A foot that is higher than this share of the leg's length has left the floor.
const HIGH: f64 = 0.3;

/// What turns a joint.
#[derive(Clone, Copy)]
enum Drive<'a> {
    Joint { from: u32, end: Option<u32> },
    Along(&'a Span, f64),
}

#[derive(Default)]
struct Scratch {
    from: Vec<DAffine3>,
    worlds: Vec<DAffine3>,
    turns: Vec<DQuat>,
    /// What undoes a joint's roll.
    back: Vec<Option<DQuat>>,
    /// Of each arm, in the frame before.
    rolls: Vec<Rolls>,
}

/// A joint against its parent; none where the parent has no size.
fn local(parent: Option<u32>, joint: u32, worlds: &[DAffine3]) -> Option<DAffine3> {
    let own = worlds[joint as usize];
    match parent.map(|p| worlds[p as usize]) {
        None => Some(own),
        Some(parent) => has_inverse(&parent).then(|| parent.inverse() * own),
    }
}
