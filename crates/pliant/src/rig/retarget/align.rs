//! Two rest poses made one: the pose in which the character's limbs point where the recording's do in its reference.

use super::frame::{self, Stance, swing};
use super::humanoid::{Digit, Humanoid, Role, Side};
use glam::{DQuat, DVec3};
use std::collections::BTreeMap;

/// A hand, a toe or a thumb that points as differently as this (cosine of 45 degrees) is at another angle to its limb;
/// below that it is only built differently.
const BUILT: f64 = 0.707;
/// A leg that is splayed by more than this, in radians, and a foot that is rolled with it to within the next.
const SPLAYED: f64 = 0.17;
const ROLLED: f64 = 0.09;

/// Where the recording's body stands, and how its world lies in the character's.
pub(super) struct Reference<'a> {
    /// The recording's body at the reference moment.
    pub(super) from: Stance<'a>,
    /// The character's at rest.
    pub(super) to: Stance<'a>,
    /// The character's world from the recording's.
    pub(super) world: DQuat,
    /// The recording's body at the reference moment, upright and facing: its world from the frame of any body.
    pub(super) from_facing: DQuat,
    /// The same of the character.
    pub(super) to_facing: DQuat,
    /// Which way elbows and knees bend at the reference moment, where limbs may be rolled in it.
    pub(super) hinges: &'a BTreeMap<Role, DVec3>,
}

impl Reference<'_> {
    /// For every role that both have, the turn that takes the character's rest to the reference pose. Limbs are swung
    /// one after the other from the trunk on, each the shortest way, so that no limb is twisted against the one that
    /// carries it. Trunk, collar bones and head, which point differently in differently built bodies, stay as they are.
    pub(super) fn turns(&self) -> BTreeMap<Role, DQuat> {
        let stand = (self.world * self.from_facing * self.to_facing.inverse()).normalize();
        let mut turns = BTreeMap::new();
        for role in ordered(self.to.body) {
            let carrier = self.to.body.carrier(role).and_then(|r| turns.get(&r)).copied().unwrap_or(stand);
            turns.insert(role, self.turn(role, carrier, stand));
        }
        turns
    }

    fn turn(&self, role: Role, carried: DQuat, stand: DQuat) -> DQuat {
        let both = self.to.direction(role).zip(self.from.direction(role));
        let both = both.map(|(own, goal)| (own, self.world * goal));
        let spare = stand * self.to_facing * DVec3::Z;
        match role {
            Role::Hips | Role::Chest | Role::Head | Role::Collar(_) => stand,
            Role::UpperArm(_) | Role::LowerArm(_) | Role::UpperLeg(_) | Role::LowerLeg(_) => {
                let turned =
                    |(own, goal)| self.rolled(role, goal, swing(carried * own, goal, spare) * carried);
                both.map_or(carried, turned)
            }
            Role::Finger(_, digit, _) if digit != Digit::Thumb => {
                both.map_or(carried, |(own, goal)| swing(carried * own, goal, spare) * carried)
            }
            // Soles are flat on the floor in both, wherever the bone in the foot points, unless the recording's foot rolls
            // with a splayed leg (CMU).
            Role::Foot(side) => self.roll(side) * stand,
            Role::Hand(_) | Role::Toes(_) | Role::Finger(..) => match both {
                Some((own, goal)) if (carried * own).dot(goal) < BUILT => {
                    swing(carried * own, goal, spare) * carried
                }
                _ => carried,
            },
        }
        .normalize()
    }

    /// A limb's turn, rolled about where it points so that it bends the way that the recording's does: a body at rest
    /// bends its elbows forwards and its knees backwards.
    fn rolled(&self, role: Role, goal: DVec3, turn: DQuat) -> DQuat {
        let Some(&hinge) = self.hinges.get(&role) else { return turn };
        let forward = self.to_facing * DVec3::Z;
        let own = turn * if matches!(role, Role::UpperLeg(_)) { -forward } else { forward };
        let across = |way: DVec3| (way - goal * way.dot(goal)).try_normalize();
        let Some((own, hinge)) = across(own).zip(across(self.world * hinge)) else { return turn };
        swing(own, hinge, goal) * turn
    }

    /// The roll of the recording's foot about the way it faces.
    fn roll(&self, side: Side) -> DQuat {
        let seen = |role| self.from.direction(role).map(|d| self.from_facing.inverse() * d);
        let (Some(leg), Some(foot)) = (seen(Role::LowerLeg(side)), seen(Role::Foot(side))) else {
            return DQuat::IDENTITY;
        };
        let tilt = |d: DVec3| libm::atan2(d.x, -d.y);
        if tilt(leg).abs() < SPLAYED || (tilt(leg) - tilt(foot)).abs() > ROLLED {
            return DQuat::IDENTITY;
        }
        let (sine, cosine) = libm::sincos(0.5 * tilt(leg));
        let forward = self.world * self.from_facing * DVec3::Z * sine;
        DQuat::from_xyzw(forward.x, forward.y, forward.z, cosine)
    }
}

/// Roles with those that carry them first.
fn ordered(body: &Humanoid) -> Vec<Role> {
    let depth = |role: Role| std::iter::successors(role.carrier(), |r| r.carrier()).count();
    let mut roles: Vec<Role> = body.joints.keys().copied().collect();
    roles.sort_by_key(|&role| (depth(role), role));
    roles
}

/// How alike two bodies stand, each seen in its own frame: the mean cosine between their limbs.
pub(super) fn likeness(a: &Stance<'_>, a_facing: DQuat, b: &Stance<'_>, b_facing: DQuat) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for side in Side::BOTH {
        for role in [Role::UpperArm, Role::LowerArm, Role::UpperLeg, Role::LowerLeg].map(|role| role(side)) {
            if let (Some(a), Some(b)) = (a.direction(role), b.direction(role)) {
                sum += (a_facing.inverse() * a).dot(b_facing.inverse() * b);
                count += 1.0;
            }
        }
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Upright and facing of a body that stands.
pub(super) fn stand(stance: &Stance<'_>) -> Option<(DVec3, DQuat)> {
    let up = frame::straightened(stance.up()?);
    Some((up, stance.facing(up)?))
}
