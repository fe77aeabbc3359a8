//! Which way the recording's world lies in the character's, and the pose in which both bodies stand alike.

use super::align;
use super::frame::{Stance, axis, swing, turn};
use super::humanoid::{Humanoid, Role, Side};
use super::recording::{Recording, rotation};
use glam::{DAffine3, DQuat, DVec3};
use std::collections::BTreeMap;

/// Which way the recording's world lies, and where its body stands alike.
pub(super) struct Footing {
    /// The character's world from the recording's.
    pub(super) world: DQuat,
    /// The recording's joints in the reference pose.
    pub(super) reference: Vec<DAffine3>,
    /// Where they are when the left foot, and when the right one, is flat on the floor; none where that is the reference.
    pub(super) flat: Option<[Vec<DAffine3>; 2]>,
    /// Which way elbows and knees bend, by the roles of the bones above them, as these are rolled in the reference pose;
    /// nothing where that is a pose that bodies rest in, their limbs not rolled.
    pub(super) hinges: BTreeMap<Role, DVec3>,
    /// The recording's body in the reference pose, upright and facing, and the character's at rest: its world from the
    /// frame of any body.
    pub(super) from_facing: DQuat,
    pub(super) to_facing: DQuat,
    /// Up in the recording's world and in the character's.
    pub(super) ups: [DVec3; 2],
}

impl Footing {
    /// Both as they are: where they are one, or one has no body.
    pub(super) fn plain(rest: Vec<DAffine3>) -> Self {
        let same = DQuat::IDENTITY;
        Self {
            world: same,
            reference: rest,
            flat: None,
            hinges: BTreeMap::new(),
            from_facing: same,
            to_facing: same,
            ups: [DVec3::Y; 2],
        }
    }

    pub(super) fn find(recording: &Recording<'_>, body: &Humanoid, to: &Stance<'_>) -> Self {
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
            let (flat, hinges) = (None, BTreeMap::new());
            return Self { world, reference: rest, flat, hinges, from_facing, to_facing, ups: [up, to_up] };
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
        // A dancer's feet are anywhere in that frame: each is flat where heel and toe are lowest.
        let flat = Side::BOTH.map(|side| {
            let mut lowest = (f64::INFINITY, frame);
            let mut now = Vec::new();
            for frame in recording.some() {
                recording.at(frame, &mut now);
                let here = recording.stance(body, &now);
                let ends = [Role::Foot(side), Role::Toes(side)].map(|role| here.joint(role));
                let height =
                    ends.into_iter().flatten().map(|end| end.dot(up)).fold(f64::NEG_INFINITY, f64::max);
                if height.is_finite() && height < lowest.0 {
                    lowest = (height, frame);
                }
            }
            recording.at(lowest.1, &mut now);
            now
        });
        let hinges = hinges(recording, body, &worlds);
        let flat = Some(flat);
        Self { world, reference: worlds, flat, hinges, from_facing, to_facing, ups: [up, to_up] }
    }
}

/// Which way the forearm and the shin leave the line of the bone above, on average over all frames and as seen from that
/// bone, in the reference pose.
fn hinges(recording: &Recording<'_>, body: &Humanoid, reference: &[DAffine3]) -> BTreeMap<Role, DVec3> {
    let limbs = Side::BOTH.into_iter().flat_map(|side| {
        [(Role::UpperArm(side), Role::LowerArm(side)), (Role::UpperLeg(side), Role::LowerLeg(side))]
    });
    let limbs: Vec<_> = limbs.filter_map(|(upper, lower)| Some((upper, lower, body.joint(upper)?))).collect();
    let mut bends = vec![DVec3::ZERO; limbs.len()];
    let mut worlds = Vec::new();
    for frame in recording.some() {
        recording.at(frame, &mut worlds);
        let here = recording.stance(body, &worlds);
        for ((upper, lower, joint), bend) in limbs.iter().zip(&mut bends) {
            if let Some((above, below)) = here.direction(*upper).zip(here.direction(*lower)) {
                let off = below - above * below.dot(above);
                *bend += rotation(&worlds[*joint as usize]).inverse() * off;
            }
        }
    }
    let count = recording.some().count() as f64;
    let bent = limbs.into_iter().zip(bends).filter(|(_, bend)| bend.length() > HINGED * count);
    bent.map(|((role, _, joint), bend)| (role, rotation(&reference[joint as usize]) * bend)).collect()
}

/// A limb that leaves the line by less than this on average (sine of 6 degrees) does not show which way it bends.
const HINGED: f64 = 0.1;
/// A trunk that leans no further than this stands (cosine of 25 degrees).
const UPRIGHT: f64 = 0.906;
