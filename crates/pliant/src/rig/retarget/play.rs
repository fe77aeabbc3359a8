//! The frames of a recording as a clip of the character.

use super::align::{self, Reference};
use super::frame::{Stance, axis, swing, turn};
use super::humanoid::{Humanoid, Role, Side};
use super::mapping::{Mapping, Named, Span};
use crate::asset::{AssetError, Channel, Clip, Skeleton, Target, Track, slerp};
use crate::rig::pose::{has_inverse, place_joints};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use thiserror::Error;

/// Frames a second that a clip is taken at where it does not say.
const RATE: f64 = 30.0;
/// Frames that are looked at to find which way is up and where the floor is.
const LOOKED_AT: usize = 1000;
/// A first frame is no part of the motion where it is further from the second than this many times the farthest that any
/// other frame is from its next, and by this share of the body's size.
const JUMP: f64 = 4.0;
const JUMP_SIZE: f64 = 0.1;
/// Frames that it takes to know a motion's pace.
const PACE: usize = 4;

/// Why a recording cannot move a character.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RetargetError {
    /// No joint of one skeleton is known in the other.
    #[error("no joint of the motion belongs to a joint of the character")]
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

/// Makes a clip of the skeleton `to` from a clip of the skeleton `from`.
pub fn retarget(
    from: &Named<'_>,
    clip: &Clip,
    to: &Named<'_>,
    mapping: &Mapping,
) -> Result<Retargeted, RetargetError> {
    if mapping.links.is_empty() {
        return Err(RetargetError::NothingInCommon);
    }
    let recording = Recording::new(from.skeleton, clip);
    let plan = Plan::new(&recording, to.skeleton, mapping);
    let clip = plan.clip(clip.name().to_owned())?;
    let unused = mapping.unused(from, |joint| recording.moves(joint));
    Ok(Retargeted { clip, skipped: recording.skipped, scale: plan.scale, unused })
}

/// A clip frame by frame.
struct Recording<'a> {
    skeleton: &'a Skeleton,
    clip: &'a Clip,
    rate: f64,
    frames: usize,
    skipped: usize,
}

impl<'a> Recording<'a> {
    fn new(skeleton: &'a Skeleton, clip: &'a Clip) -> Self {
        let rate = clip.frame_rate().unwrap_or(RATE);
        let frames = (clip.end() * rate + 1e-6).floor() as usize + 1;
        let whole = Self { skeleton, clip, rate, frames, skipped: 0 };
        let skipped = usize::from(whole.starts_apart());
        Self { skipped, ..whole }
    }

    /// Where the joints are in a frame.
    fn at(&self, frame: usize, worlds: &mut Vec<DAffine3>) {
        place_joints(self.skeleton, Some(self.clip), frame as f64 / self.rate, worlds);
    }

    fn stance<'s>(&'s self, body: &'s Humanoid, worlds: &'s [DAffine3]) -> Stance<'s> {
        Stance { body, skeleton: self.skeleton, worlds }
    }

    /// Some of the frames that are taken, from the first to the last.
    fn some(&self) -> impl Iterator<Item = usize> {
        let step = (self.frames - self.skipped).div_ceil(LOOKED_AT).max(1);
        (self.skipped..self.frames).step_by(step)
    }

    /// Whether the first frame is in another place than the motion that follows.
    fn starts_apart(&self) -> bool {
        if self.frames < PACE {
            return false;
        }
        let (mut now, mut next) = (Vec::new(), Vec::new());
        self.at(0, &mut now);
        let size = size(&now);
        let (mut first, mut pace) = (0.0, 0.0);
        for frame in 1..self.frames {
            self.at(frame, &mut next);
            let far =
                now.iter().zip(&next).map(|(a, b)| a.translation.distance(b.translation)).fold(0.0, f64::max);
            match frame {
                1 => first = far,
                _ => pace = far.max(pace),
            }
            std::mem::swap(&mut now, &mut next);
        }
        first > JUMP * pace && first > JUMP_SIZE * size
    }

    /// Whether a joint turns against its parent at all.
    fn moves(&self, joint: u32) -> bool {
        let turns = |c: &&Channel| c.target == Target::Rotation(joint);
        let Some(track) = self.clip.channels().iter().find(turns).map(|c| &c.track) else { return false };
        let first = track.sample_rotation(self.skipped as f64 / self.rate);
        // Within a degree a joint stands still.
        let same = |frame: usize| track.sample_rotation(frame as f64 / self.rate).dot(first).abs() > 0.999_96;
        !self.some().all(same)
    }
}

/// The diagonal of the box around all joints.
fn size(worlds: &[DAffine3]) -> f64 {
    let Some(first) = worlds.first().map(|w| w.translation) else { return 0.0 };
    let (low, high) = worlds
        .iter()
        .fold((first, first), |(low, high), w| (low.min(w.translation), high.max(w.translation)));
    high.distance(low)
}

fn rotation(world: &DAffine3) -> DQuat {
    world.to_scale_rotation_translation().1.normalize()
}

/// A joint of a foot, in both skeletons.
struct Sole {
    from: u32,
    to: u32,
    /// How high the recording's is above the sole.
    height: f64,
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
    root: Option<(u32, u32)>,
    soles: Vec<Sole>,
    /// Up in the recording's world and in the character's.
    ups: [DVec3; 2],
    /// The recording's floor; none where both have one world.
    floor: Option<f64>,
    /// How much higher the character's body is than a scaled one would be.
    lift: f64,
    /// Length of the recording's leg.
    leg: f64,
}

/// Which way the recording's world lies, and where its body stands alike.
struct Footing {
    world: DQuat,
    reference: Vec<DAffine3>,
    from_facing: DQuat,
    to_facing: DQuat,
    ups: [DVec3; 2],
}

impl Footing {
    /// Both as they are, where one has no body.
    fn plain(rest: Vec<DAffine3>) -> Self {
        let same = DQuat::IDENTITY;
        Self { world: same, reference: rest, from_facing: same, to_facing: same, ups: [DVec3::Y; 2] }
    }

    fn find(recording: &Recording<'_>, body: &Humanoid, to: &Stance<'_>) -> Self {
        let rest: Vec<DAffine3> = recording.skeleton.joints().iter().map(|j| j.world_from_rest).collect();
        let Some((to_up, to_facing)) = align::stand(to) else { return Self::plain(rest) };
        let mut worlds = Vec::new();
        let mut mean = DVec3::ZERO;
        for frame in recording.some() {
            recording.at(frame, &mut worlds);
            let here = recording.stance(body, &worlds);
            // From the feet where there are any: they are below however a dancer bends.
            let low = here.middle(Role::Foot).or(here.joint(Role::Hips));
            let high = here.joint(Role::Head).or(here.middle(Role::UpperArm)).or(here.joint(Role::Chest));
            mean += low.zip(high).map_or(DVec3::ZERO, |(low, high)| (high - low).normalize_or_zero());
        }
        mean /= recording.some().count() as f64;
        let own = recording.stance(body, &rest);
        if let Some((own_up, from_facing)) = align::stand(&own).filter(|_| own.stands()) {
            // The rest pose's up is the world's, unless the root turns it over in all frames.
            let is_other = mean.dot(own_up) < 0.4 && mean.length() > 0.4;
            let up = if is_other { axis(mean) } else { own_up };
            let forward = swing(own_up, up, DVec3::X) * from_facing * DVec3::Z;
            let world = to_facing * turn(up, forward).unwrap_or(from_facing).inverse();
            return Self { world, reference: rest, from_facing, to_facing, ups: [up, to_up] };
        }
        // The rest pose is none that a body can have (Rokoko's bones all point along X): the frame that is most like the
        // character's rest pose takes its place.
        let up = if mean.length() > 0.1 { axis(mean) } else { DVec3::Y };
        let mut best: Option<(f64, usize, DQuat)> = None;
        for frame in recording.some() {
            recording.at(frame, &mut worlds);
            let here = recording.stance(body, &worlds);
            let Some(facing) = here.facing(up).filter(|_| here.up().is_some_and(|u| u.dot(up) > UPRIGHT))
            else {
                continue;
            };
            let alike = align::likeness(&here, facing, to, to_facing);
            if best.is_none_or(|(most, ..)| alike > most) {
                best = Some((alike, frame, facing));
            }
        }
        let Some((_, frame, from_facing)) = best else { return Self::plain(rest) };
        recording.at(frame, &mut worlds);
        // By custom Y-up files look along Z, and Z-up files against Y.
        let forward = if up.y.abs() > 0.5 { DVec3::Z } else { up.cross(DVec3::NEG_X) };
        let world = to_facing * turn(up, forward).unwrap_or(DQuat::IDENTITY).inverse();
        Self { world, reference: worlds, from_facing, to_facing, ups: [up, to_up] }
    }
}

/// A trunk that leans no further than this stands (cosine of 25 degrees).
const UPRIGHT: f64 = 0.906;

impl<'a> Plan<'a> {
    fn new(recording: &'a Recording<'a>, to: &'a Skeleton, mapping: &'a Mapping) -> Self {
        let rest: Vec<DAffine3> = to.joints().iter().map(|j| j.world_from_rest).collect();
        let stance = Stance { body: &mapping.to, skeleton: to, worlds: &rest };
        let footing = Footing::find(recording, &mapping.from, &stance);
        let Footing { world, reference, from_facing, to_facing, ups } = footing;
        let from = recording.stance(&mapping.from, &reference);
        let turns = Reference { from, to: stance, world, from_facing, to_facing }.turns();
        let stand = (world * from_facing * to_facing.inverse()).normalize();

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
        let mut plan = Self {
            recording,
            to,
            mapping,
            world,
            scale: scale(&from, &stance),
            from_reference: reference.iter().map(|w| rotation(w).inverse()).collect(),
            aligned,
            carriers,
            order,
            root: hips.or(highest.map(|l| (l.from, l.to))),
            soles: soles(&from, &stance, from_facing * DVec3::Y),
            ups,
            floor: None,
            lift: 0.0,
            leg: leg(&from).unwrap_or_else(|| size(&reference)),
            reference,
        };
        plan.find_floor(from_facing * DVec3::Y);
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

/// The points of the feet that may touch the floor.
fn soles(from: &Stance<'_>, to: &Stance<'_>, up: DVec3) -> Vec<Sole> {
    let mut soles = Vec::new();
    let mut lowest = f64::INFINITY;
    for role in Side::BOTH.into_iter().flat_map(|side| [Role::Foot(side), Role::Toes(side)]) {
        let (Some(own), Some(other)) = (from.body.joint(role), to.body.joint(role)) else { continue };
        soles.push(Sole { from: own, to: other, height: from.at(own).dot(up) });
        let ends = [Some(from.at(own)), from.tip(own)];
        lowest = ends.into_iter().flatten().fold(lowest, |low, end| low.min(end.dot(up)));
    }
    soles.iter_mut().for_each(|sole| sole.height -= lowest);
    soles
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
        let both = |body: &Humanoid| {
            let [left, right] = Side::BOTH.map(|side| body.joint(Role::UpperLeg(side)));
            left.zip(right)
        };
        both(&self.mapping.from)?;
        let (left, right) = both(&self.mapping.to)?;
        Some(0.5 * (self.to.rest_position(left) + self.to.rest_position(right)))
    }

    /// How high the lowest point of the recording's feet is, were it standing flat on height 0.
    fn clearance(&self, worlds: &[DAffine3]) -> Option<f64> {
        let height = |sole: &Sole| worlds[sole.from as usize].translation.dot(self.ups[0]) - sole.height;
        self.soles.iter().map(height).reduce(f64::min)
    }

    /// The recording's floor, and how the character's body is lifted onto its own. `up` is that of the reference pose.
    fn find_floor(&mut self, up: DVec3) {
        let at = self.anchor(&self.reference);
        let near = 1e-3 * self.leg;
        let is_here = (self.world * at * self.scale).distance(self.rest_anchor()) < near;
        if is_here && (self.scale - 1.0).abs() < 1e-3 {
            // Both stand in one place: they share a world.
            return;
        }
        let mut worlds = Vec::new();
        let mut heights = Vec::new();
        for frame in self.recording.some() {
            self.recording.at(frame, &mut worlds);
            heights.push(self.clearance(&worlds).unwrap_or_else(|| self.anchor(&worlds).dot(self.ups[0])));
        }
        heights.sort_by(f64::total_cmp);
        // A tenth of the time, or nearly, a foot is down; single frames may be too low by an error.
        let floor = heights[heights.len() / 10];
        let lowest = |sole: &Sole| self.reference[sole.from as usize].translation.dot(up) - sole.height;
        let stood = self.soles.iter().map(lowest).reduce(f64::min).map_or(0.0, |low| at.dot(up) - low);
        self.lift = self.rest_anchor().dot(self.ups[1]) - self.scale * stood;
        self.floor = Some(floor);
    }

    fn clip(&self, name: String) -> Result<Clip, AssetError> {
        let joints = self.to.joints();
        let linked = self.linked();
        let is_placed = |j: u32| {
            self.root.is_some_and(|r| r.1 == j) || self.carriers[j as usize] != joints[j as usize].parent
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
        let Scratch { from, worlds, turns } = scratch;
        self.recording.at(frame, from);
        let delta = |j: u32| (rotation(&from[j as usize]) * self.from_reference[j as usize]).normalize();
        let here = |turn: DQuat| (self.world * turn * self.world.inverse()).normalize();
        turns.clear();
        turns.resize(self.to.len(), DQuat::IDENTITY);
        worlds.clear();
        worlds.extend(self.to.joints().iter().map(|j| j.world_from_rest));
        for &joint in &self.order {
            let j = joint as usize;
            let rest = self.to.joints()[j].world_from_rest;
            let carrier = self.carriers[j];
            turns[j] = match linked[j] {
                Some(Drive::Joint { from: own, end }) => {
                    let mut turn = delta(own);
                    if let Some(end) = end {
                        let way = |w: &[DAffine3]| w[end as usize].translation - w[own as usize].translation;
                        turn = swing(turn * way(&self.reference), way(from), DVec3::X) * turn;
                    }
                    (here(turn) * self.aligned[j]).normalize()
                }
                Some(Drive::Along(span, along)) => {
                    let above =
                        span.from.iter().position(|s| s.0 >= along).unwrap_or(span.from.len() - 1).max(1);
                    let ((low, a), (high, b)) = (span.from[above - 1], span.from[above]);
                    let share = if high > low { ((along - low) / (high - low)).clamp(0.0, 1.0) } else { 1.0 };
                    (here(slerp(delta(a), delta(b), share)) * self.aligned[j]).normalize()
                }
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
                None => rest.translation,
            };
            worlds[j] = DAffine3 { matrix3: DMat3::from_quat(turns[j]) * rest.matrix3, translation: place };
        }
        self.stand(from, worlds);
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
    fn stand(&self, from: &[DAffine3], worlds: &mut [DAffine3]) {
        let (Some(floor), Some(own), Some((_, root))) = (self.floor, self.clearance(from), self.root) else {
            return;
        };
        let up = self.ups[1];
        let height =
            |sole: &Sole| (worlds[sole.to as usize].translation - self.to.rest_position(sole.to)).dot(up);
        let Some(now) = self.soles.iter().map(height).reduce(f64::min) else { return };
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
}

/// A joint against its parent; none where the parent has no size.
fn local(parent: Option<u32>, joint: u32, worlds: &[DAffine3]) -> Option<DAffine3> {
    let own = worlds[joint as usize];
    match parent.map(|p| worlds[p as usize]) {
        None => Some(own),
        Some(parent) => has_inverse(&parent).then(|| parent.inverse() * own),
    }
}
