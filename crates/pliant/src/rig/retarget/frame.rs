//! Where a body is upright, which way it looks, and which way its bones point.

use super::humanoid::{Digit, Humanoid, Role, Side};
use crate::asset::Skeleton;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// A rest pose leans by a spine's bend: up is the axis of the file that is nearest, if it is this near (cosine of 30
/// degrees). A frame tilted by the lean would make the floor a slope.
const UP: f64 = 0.866;

/// The joints of a body at one moment.
#[derive(Clone, Copy)]
pub(super) struct Stance<'a> {
    pub(super) body: &'a Humanoid,
    pub(super) skeleton: &'a Skeleton,
    /// Scene from joint.
    pub(super) worlds: &'a [DAffine3],
}

impl Stance<'_> {
    pub(super) fn joint(&self, role: Role) -> Option<DVec3> {
        self.body.joint(role).map(|joint| self.at(joint))
    }

    pub(super) fn at(&self, joint: u32) -> DVec3 {
        self.worlds[joint as usize].translation
    }

    /// Where a joint's bone ends: at what it carries, children or end sites.
    pub(super) fn tip(&self, joint: u32) -> Option<DVec3> {
        let own = self.skeleton.joints()[joint as usize].tails.iter();
        let tails = own.map(|&tail| self.worlds[joint as usize].transform_point3(tail));
        let children = (0..).zip(self.skeleton.joints()).filter(|(_, j)| j.parent == Some(joint));
        let ends = tails.chain(children.map(|(child, _)| self.at(child)));
        let (sum, count) = ends.fold((DVec3::ZERO, 0.0), |(sum, count), end| (sum + end, count + 1.0));
        (count > 0.0).then(|| sum / count)
    }

    /// Which way a role's bone points.
    pub(super) fn direction(&self, role: Role) -> Option<DVec3> {
        let joint = self.body.joint(role)?;
        let next = match role {
            Role::Hand(side) => {
                // A hand points to its knuckles.
                let knuckles = Digit::ALL[1..].iter().filter_map(|&d| self.joint(Role::Finger(side, d, 0)));
                let (sum, count) = knuckles.fold((DVec3::ZERO, 0.0), |(s, n), k| (s + k, n + 1.0));
                (count > 0.0).then(|| sum / count)
            }
            _ => role.next().and_then(|next| self.joint(next)),
        };
        (next.or_else(|| self.tip(joint))? - self.at(joint)).try_normalize()
    }

    /// The middle of the left and the right one.
    pub(super) fn middle(&self, role: fn(Side) -> Role) -> Option<DVec3> {
        let [left, right] = Side::BOTH.map(|side| self.joint(role(side)));
        Some(0.5 * (left? + right?))
    }

    /// From hips to shoulders.
    pub(super) fn up(&self) -> Option<DVec3> {
        let low = self.middle(Role::UpperLeg).or(self.joint(Role::Hips))?;
        let high = self.middle(Role::UpperArm).or(self.joint(Role::Head)).or(self.joint(Role::Chest))?;
        (high - low).try_normalize()
    }

    /// From the right side to the left, by hips and shoulders.
    pub(super) fn left(&self) -> Option<DVec3> {
        let across = |role: fn(Side) -> Role| {
            let [left, right] = Side::BOTH.map(|side| self.joint(role(side)));
            (left? - right?).try_normalize()
        };
        let both = [across(Role::UpperLeg), across(Role::UpperArm)];
        both.into_iter().flatten().reduce(|a, b| a + b)?.try_normalize()
    }

    /// Whether it stands: legs against the trunk, the sides on two sides.
    pub(super) fn stands(&self) -> bool {
        let (Some(up), Some(left)) = (self.up(), self.left()) else { return false };
        let hangs = |side| {
            let leg = self.joint(Role::Foot(side)).or(self.joint(Role::LowerLeg(side)));
            let leg = leg.zip(self.joint(Role::UpperLeg(side))).map(|(foot, hip)| foot - hip);
            leg.is_none_or(|leg| leg.dot(up) < -0.5 * leg.length())
        };
        up.dot(left).abs() < 0.5 && Side::BOTH.into_iter().all(hangs)
    }

    /// The turn from the frame with left along X, up along Y and forward along Z to this body's.
    pub(super) fn facing(&self, up: DVec3) -> Option<DQuat> {
        let left = self.left()?;
        let left = (left - up * left.dot(up)).try_normalize()?;
        turn(up, left.cross(up))
    }
}

/// The turn that takes Y to `up` and Z to `forward`, as near as a right angle allows.
pub(super) fn turn(up: DVec3, forward: DVec3) -> Option<DQuat> {
    let left = up.cross(forward).try_normalize()?;
    Some(DQuat::from_mat3(&DMat3::from_cols(left, up, left.cross(up))).normalize())
}

/// Up, straightened to the file's axis where it leans.
pub(super) fn straightened(up: DVec3) -> DVec3 {
    let axis = axis(up);
    if axis.dot(up) >= UP { axis } else { up }
}

/// The coordinate axis that is nearest.
pub(super) fn axis(direction: DVec3) -> DVec3 {
    let size = direction.abs();
    if size.y >= size.x && size.y >= size.z {
        DVec3::Y * direction.y.signum()
    } else if size.z >= size.x {
        DVec3::Z * direction.z.signum()
    } else {
        DVec3::X * direction.x.signum()
    }
}

/// The least turn from one direction to another; about `spare` where they are opposite.
pub(super) fn swing(from: DVec3, to: DVec3, spare: DVec3) -> DQuat {
    let (Some(from), Some(to)) = (from.try_normalize(), to.try_normalize()) else { return DQuat::IDENTITY };
    // Half a turn has no axis of its own: 1e-9 is some 4e-5 radians from it.
    if from.dot(to) < -1.0 + 1e-9 {
        let axis = (spare - from * spare.dot(from)).try_normalize().unwrap_or(from.any_orthonormal_vector());
        return DQuat::from_xyzw(axis.x, axis.y, axis.z, 0.0);
    }
    // The half-way quaternion: twice the half angle's cosine is |from + to|.
    let axis = from.cross(to);
    DQuat::from_xyzw(axis.x, axis.y, axis.z, 1.0 + from.dot(to)).normalize()
}
