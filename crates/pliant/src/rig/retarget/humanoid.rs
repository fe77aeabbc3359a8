//! Which joints of a skeleton are which parts of a human body.

use super::frame::Stance;
use super::names::{self, Label, Part};
use super::shape;
use crate::asset::Skeleton;
use glam::{DAffine3, DVec3};
use std::collections::BTreeMap;

/// A side of the body: the body's own, not the onlooker's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Side {
    Left,
    Right,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::Left, Self::Right];
}

/// A finger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Digit {
    Thumb,
    Index,
    Middle,
    Ring,
    Little,
}

impl Digit {
    pub(super) const ALL: [Self; 5] = [Self::Thumb, Self::Index, Self::Middle, Self::Ring, Self::Little];
}

/// What a joint is in a human body. Joints of the spine between hips and chest, and of the neck, are told apart by
/// where they are, as skeletons have different numbers of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Role {
    Hips,
    /// The joint that arms and neck grow from.
    Chest,
    Head,
    Collar(Side),
    UpperArm(Side),
    LowerArm(Side),
    Hand(Side),
    /// A finger's joint, the knuckle being 0.
    Finger(Side, Digit, u8),
    UpperLeg(Side),
    LowerLeg(Side),
    Foot(Side),
    Toes(Side),
}

impl Role {
    /// The role whose joint carries this one's in any human body; none for the hips.
    pub(super) fn carrier(self) -> Option<Self> {
        Some(match self {
            Self::Hips => return None,
            Self::Chest | Self::UpperLeg(_) => Self::Hips,
            Self::Head | Self::Collar(_) => Self::Chest,
            Self::UpperArm(side) => Self::Collar(side),
            Self::LowerArm(side) => Self::UpperArm(side),
            Self::Hand(side) => Self::LowerArm(side),
            Self::Finger(side, _, 0) => Self::Hand(side),
            Self::Finger(side, digit, n) => Self::Finger(side, digit, n - 1),
            Self::LowerLeg(side) => Self::UpperLeg(side),
            Self::Foot(side) => Self::LowerLeg(side),
            Self::Toes(side) => Self::Foot(side),
        })
    }

    /// Whether its bone is one of a limb's two long ones.
    pub(super) fn is_limb(self) -> bool {
        matches!(self, Self::UpperArm(_) | Self::LowerArm(_) | Self::UpperLeg(_) | Self::LowerLeg(_))
    }

    /// The role at the other end of its bone, where the bone has a direction of its own.
    pub(super) fn next(self) -> Option<Self> {
        Some(match self {
            Self::UpperArm(side) => Self::LowerArm(side),
            Self::LowerArm(side) => Self::Hand(side),
            Self::UpperLeg(side) => Self::LowerLeg(side),
            Self::LowerLeg(side) => Self::Foot(side),
            Self::Foot(side) => Self::Toes(side),
            Self::Collar(side) => Self::UpperArm(side),
            Self::Finger(side, digit, n) => Self::Finger(side, digit, n + 1),
            _ => return None,
        })
    }
}

/// A human body in a skeleton.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Humanoid {
    /// The joint of each role that there is.
    pub joints: BTreeMap<Role, u32>,
    /// Joints between hips and chest, from below.
    pub spine: Vec<u32>,
    /// Joints between chest and head, from below.
    pub neck: Vec<u32>,
    /// More joints that go with a role's: the other toes, the other parts of a palm.
    pub twins: Vec<(u32, Role)>,
}

impl Humanoid {
    /// The body's left, up and forward in the rest pose; none where it does not show.
    pub fn directions(&self, skeleton: &Skeleton) -> Option<[DVec3; 3]> {
        let worlds: Vec<DAffine3> = skeleton.joints().iter().map(|j| j.world_from_rest).collect();
        let stance = Stance { body: self, skeleton, worlds: &worlds };
        let (up, left) = (stance.up()?, stance.left()?);
        let left = (left - up * left.dot(up)).try_normalize()?;
        Some([left, up, left.cross(up)])
    }

    /// Finds a human body by the joints' names, or by the skeleton's shape where names do not say enough; none where
    /// there are neither two arms nor two legs. `names` are the joints', or better ones.
    pub fn find<S: AsRef<str>>(skeleton: &Skeleton, names: &[S]) -> Option<Self> {
        let tree = Tree::new(skeleton);
        let labels: Vec<Option<Label>> = names.iter().map(|name| names::read(name.as_ref())).collect();
        by_names(&tree, &labels).or_else(|| shape::find(skeleton, &tree, &labels))
    }

    /// The joint of a role.
    pub fn joint(&self, role: Role) -> Option<u32> {
        self.joints.get(&role).copied()
    }

    /// The role that carries another's joint here: of those that there are.
    pub(super) fn carrier(&self, role: Role) -> Option<Role> {
        let mut above = role.carrier();
        while let Some(role) = above.filter(|r| !self.joints.contains_key(r)) {
            above = role.carrier();
        }
        above
    }

    /// Fills in what follows from limbs and head: hips, chest and what is between.
    pub(super) fn with_trunk(mut self, tree: &Tree, labels: &[Option<Label>]) -> Option<Self> {
        let pair = |role: fn(Side) -> Role| match Side::BOTH.map(|side| self.joint(role(side))) {
            [Some(left), Some(right)] => tree.common(left, right),
            _ => None,
        };
        let head = self.joint(Role::Head);
        let below = |top: u32, joint: u32| top == joint || tree.is_below(joint, top);
        let chest = pair(Role::UpperArm).map(|c| head.and_then(|head| tree.common(c, head)).unwrap_or(c));
        let upper_end = chest.or(head);
        let named = |l: &Option<Label>| l.is_some_and(|l| l.part == Part::Pelvis);
        let named = || labels.iter().position(named).map(|j| j as u32);
        let hips = pair(Role::UpperLeg).or_else(named)?;
        let hips = upper_end.map_or(Some(hips), |end| tree.common(hips, end))?;
        self.joints.insert(Role::Hips, hips);
        if let Some(chest) = chest.filter(|&c| c != hips) {
            self.spine = tree.between(hips, chest);
            self.joints.insert(Role::Chest, chest);
        }
        let base = chest.unwrap_or(hips);
        self.neck = head.filter(|&head| below(base, head)).map_or(vec![], |head| tree.between(base, head));
        Some(self)
    }
}

/// Parents and children of a skeleton's joints.
pub(super) struct Tree {
    pub(super) parents: Vec<Option<u32>>,
    pub(super) children: Vec<Vec<u32>>,
    pub(super) depths: Vec<u32>,
}

impl Tree {
    pub(super) fn new(skeleton: &Skeleton) -> Self {
        let parents: Vec<Option<u32>> = skeleton.joints().iter().map(|j| j.parent).collect();
        let (mut children, mut depths) = (vec![Vec::new(); parents.len()], vec![0; parents.len()]);
        for (joint, parent) in parents.iter().enumerate() {
            if let Some(parent) = *parent {
                children[parent as usize].push(joint as u32);
                depths[joint] = depths[parent as usize] + 1;
            }
        }
        Self { parents, children, depths }
    }

    /// Whether a joint is below another.
    pub(super) fn is_below(&self, joint: u32, other: u32) -> bool {
        self.above(joint).any(|above| above == other)
    }

    /// Joints above one, nearest first.
    pub(super) fn above(&self, joint: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(self.parents[joint as usize], |&j| self.parents[j as usize])
    }

    /// The lowest joint that both are, or are below.
    pub(super) fn common(&self, a: u32, b: u32) -> Option<u32> {
        let own = std::iter::once(a).chain(self.above(a));
        own.into_iter().find(|&j| j == b || self.is_below(b, j))
    }

    /// Joints strictly between one and one below it, from above.
    pub(super) fn between(&self, above: u32, below: u32) -> Vec<u32> {
        let mut path: Vec<u32> = self.above(below).take_while(|&j| j != above).collect();
        path.reverse();
        path
    }
}

/// The body that names tell of, if they tell of two arms or two legs.
fn by_names(tree: &Tree, labels: &[Option<Label>]) -> Option<Humanoid> {
    let mut found = Humanoid::default();
    for side in Side::BOTH {
        let limb = Limb { tree, labels, side };
        limb.arm(&mut found);
        limb.leg(&mut found);
    }
    let both = |roles: [fn(Side) -> Role; 2]| {
        Side::BOTH.iter().all(|&side| roles.iter().all(|role| found.joints.contains_key(&role(side))))
    };
    if !both([Role::UpperArm, Role::LowerArm]) && !both([Role::UpperLeg, Role::LowerLeg]) {
        return None;
    }
    let all = |part: Part| {
        let named = move |l: &Option<Label>| l.is_some_and(|l| l.part == part);
        (0..labels.len() as u32).filter(move |&j| named(&labels[j as usize]))
    };
    // A head is the highest so called; a neck of two joints without a head ends in it.
    let head = all(Part::Head).min_by_key(|&j| tree.depths[j as usize]);
    let necks: Vec<u32> = all(Part::Neck).collect();
    let last_neck = necks.iter().copied().max_by_key(|&j| tree.depths[j as usize]);
    if let Some(head) = head.or(last_neck.filter(|_| necks.len() > 1)) {
        found.joints.insert(Role::Head, head);
    }
    found.with_trunk(tree, labels)
}

/// One side of a body, by names.
struct Limb<'a> {
    tree: &'a Tree,
    labels: &'a [Option<Label>],
    side: Side,
}

impl Limb<'_> {
    /// Joints that are called so, highest first.
    fn called(&self, part: Part) -> Vec<u32> {
        let label = Some(Label { part, side: Some(self.side) });
        let mut all: Vec<u32> =
            (0..self.labels.len() as u32).filter(|&j| self.labels[j as usize] == label).collect();
        all.sort_by_key(|&j| self.tree.depths[j as usize]);
        all
    }

    fn first(&self, part: Part) -> Option<u32> {
        self.called(part).first().copied()
    }

    fn arm(&self, found: &mut Humanoid) {
        let (shoulder, arm) = (self.first(Part::Shoulder), self.first(Part::Arm));
        let upper = self.first(Part::UpperArm).or(arm).or(shoulder);
        let lower = self.first(Part::LowerArm);
        // Without a better name the collar is the shoulder above the upper arm.
        let over = |j: &u32| upper.is_some_and(|upper| self.tree.is_below(upper, *j));
        let collar = self.first(Part::Collar).filter(over).or(shoulder.filter(over));
        let below = |j: &u32| lower.is_none_or(|lower| self.tree.is_below(*j, lower));
        let hand = self.called(Part::Hand).into_iter().find(below).or(self.first(Part::Hand));
        let side = self.side;
        self.put(found, Role::Collar(side), collar);
        self.put(found, Role::UpperArm(side), upper);
        self.put(found, Role::LowerArm(side), lower);
        self.put(found, Role::Hand(side), hand);
        self.twins(found, Role::Hand(side), Part::Hand);
        let Some(top) = hand.map(|h| self.tree.parents[h as usize].unwrap_or(h)) else { return };
        for digit in Digit::ALL {
            // A finger is of the hand that it is on, whatever side its name says.
            let label = |j: &u32| self.labels[*j as usize].is_some_and(|l| l.part == Part::Finger(digit));
            let mut chain: Vec<u32> =
                (0..self.labels.len() as u32).filter(|j| label(j) && self.tree.is_below(*j, top)).collect();
            chain.sort_by_key(|&j| self.tree.depths[j as usize]);
            for (n, joint) in chain.into_iter().take(3).enumerate() {
                self.put(found, Role::Finger(side, digit, n as u8), Some(joint));
            }
        }
    }

    fn leg(&self, found: &mut Humanoid) {
        let (leg, hip) = (self.first(Part::Leg), self.first(Part::Hip));
        let upper = self.first(Part::UpperLeg).or(hip);
        let upper = upper.or(leg.filter(|_| self.first(Part::LowerLeg).is_some()));
        let lower = self.first(Part::LowerLeg).or(leg).filter(|&j| Some(j) != upper);
        let side = self.side;
        self.put(found, Role::UpperLeg(side), upper);
        self.put(found, Role::LowerLeg(side), lower);
        self.put(found, Role::Foot(side), self.first(Part::Foot));
        self.put(found, Role::Toes(side), self.first(Part::Toes));
        self.twins(found, Role::Toes(side), Part::Toes);
    }

    fn put(&self, found: &mut Humanoid, role: Role, joint: Option<u32>) {
        if let Some(joint) = joint {
            found.joints.insert(role, joint);
        }
    }

    /// Joints beside a role's that are called the same.
    fn twins(&self, found: &mut Humanoid, role: Role, part: Part) {
        let Some(joint) = found.joint(role) else { return };
        let parent = |j: u32| self.tree.parents[j as usize];
        let beside = self.called(part).into_iter().filter(|&j| j != joint && parent(j) == parent(joint));
        found.twins.extend(beside.map(|j| (j, role)));
    }
}
