//! Which joint of a recording moves which joint of a character.

use super::frame::{Stance, straightened};
use super::humanoid::{Humanoid, Role, Side, Tree};
use crate::asset::Skeleton;
use glam::{DAffine3, DVec3};
use std::collections::{BTreeMap, BTreeSet};

/// A skeleton and what its joints are called.
#[derive(Debug, Clone)]
pub struct Named<'a> {
    /// The skeleton.
    pub skeleton: &'a Skeleton,
    /// A name for each joint.
    pub names: Vec<&'a str>,
}

impl<'a> Named<'a> {
    /// A skeleton whose joints go by their own names.
    pub fn new(skeleton: &'a Skeleton) -> Self {
        Self { skeleton, names: skeleton.joints().iter().map(|j| &j.name[..]).collect() }
    }

    /// A skeleton of which the file says which joints are bones of a body (VRM does): no other joint is one, whatever it
    /// is called. Where it says nothing joints go by their own names.
    pub fn with_bones(skeleton: &'a Skeleton, bones: &'a [(u32, String)]) -> Self {
        if bones.is_empty() {
            return Self::new(skeleton);
        }
        let mut names = vec![""; skeleton.len()];
        for (joint, bone) in bones {
            if let Some(name) = names.get_mut(*joint as usize) {
                *name = bone;
            }
        }
        Self { skeleton, names }
    }

    /// How tall a body of these points is; none where the skeleton is not of one that has legs and a head.
    pub fn height(&self, points: impl Iterator<Item = DVec3>) -> Option<f64> {
        let body = Humanoid::find(self.skeleton, &self.names)?;
        let has = |role| body.joint(role).is_some();
        if !Side::BOTH.iter().all(|&side| has(Role::LowerLeg(side))) || !has(Role::Head) {
            return None;
        }
        let worlds: Vec<DAffine3> = self.skeleton.joints().iter().map(|j| j.world_from_rest).collect();
        let up = straightened(Stance { body: &body, skeleton: self.skeleton, worlds: &worlds }.up()?);
        let ends = points.map(|p| p.dot(up)).fold(None, |ends: Option<(f64, f64)>, h| {
            Some(ends.map_or((h, h), |(low, high)| (low.min(h), high.max(h))))
        });
        ends.map(|(low, high)| high - low).filter(|&height| height > 0.0)
    }
}

/// A joint of a character, and the joint of the recording that it turns with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The recording's joint.
    pub from: u32,
    /// The character's joint.
    pub to: u32,
    /// What both are, where they are parts of a body.
    pub role: Option<Role>,
}

/// Joints of the character between two others that turn with them, in shares: a spine or neck with more or fewer joints
/// than the recording's.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    /// The recording's joints, from the lower end's to the upper end's, and how far up each is, 0 to 1.
    pub(super) from: Vec<(f64, u32)>,
    /// The character's joints strictly between the ends, and how far up each is.
    pub(super) to: Vec<(f64, u32)>,
}

/// How the joints of a recording and of a character belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapping {
    /// Joints that turn together, in order of the character's.
    pub links: Vec<Link>,
    pub(super) spans: Vec<Span>,
    pub(super) from: Humanoid,
    pub(super) to: Humanoid,
    is_asked_for: bool,
}

impl Mapping {
    /// Finds what belongs together: first as `wishes` say (a joint of the recording, and the character's that it moves,
    /// or none), then by parts of a human body, then by equal names.
    pub fn find(from: &Named<'_>, to: &Named<'_>, wishes: &[(u32, Option<u32>)]) -> Self {
        let (from_tree, to_tree) = (Tree::new(from.skeleton), Tree::new(to.skeleton));
        let mut source = Humanoid::find(from.skeleton, &from.names).unwrap_or_default();
        let mut target = Humanoid::find(to.skeleton, &to.names).unwrap_or_default();
        let mut links = BTreeMap::new();
        let mut left_out = BTreeSet::new();
        for &(joint, wish) in wishes {
            match wish {
                None => {
                    source.forget(joint);
                    left_out.insert(joint);
                }
                Some(moved) => {
                    let role = target.role_of(moved).or(source.role_of(joint));
                    source.forget(joint);
                    target.forget(moved);
                    if let Some(role) = role {
                        source.joints.insert(role, joint);
                        target.joints.insert(role, moved);
                    }
                    links.insert(moved, Link { from: joint, to: moved, role });
                }
            }
        }
        source.refill(&from_tree);
        target.refill(&to_tree);
        for (&role, &to) in &target.joints {
            if let Some(from) = source.joint(role) {
                links.entry(to).or_insert(Link { from, to, role: Some(role) });
            }
        }
        for &(to, role) in &target.twins {
            if let Some(from) = source.joint(role) {
                links.entry(to).or_insert(Link { from, to, role: None });
            }
        }
        let mut spans = Vec::new();
        let ends = [(&source, from.skeleton), (&target, to.skeleton)];
        for [below, above] in [[Role::Hips, Role::Chest], [Role::Chest, Role::Head]] {
            let [Some(own), Some(other)] =
                ends.map(|(body, skeleton)| Ladder::new(body, skeleton, below, above))
            else {
                continue;
            };
            if own.between.len() == other.between.len() {
                for (&from, &to) in own.between.iter().zip(&other.between) {
                    links.entry(to).or_insert(Link { from, to, role: None });
                }
            } else {
                let free = |&(_, joint): &(f64, u32)| !links.contains_key(&joint);
                let to = other.steps[1..other.steps.len() - 1].iter().copied().filter(free).collect();
                spans.push(Span { from: own.steps, to });
            }
        }
        // What is no part of a body on either side goes by name.
        let spanned: BTreeSet<u32> = spans.iter().flat_map(|s| s.to.iter().map(|t| t.1)).collect();
        let used: BTreeSet<u32> = links.values().map(|l: &Link| l.from).chain(left_out).collect();
        let mut by_name: BTreeMap<String, Option<u32>> = BTreeMap::new();
        for (joint, name) in (0..).zip(&from.names) {
            let is_free = !used.contains(&joint) && !source.has(joint) && !plain(name).is_empty();
            if is_free {
                by_name.entry(plain(name)).and_modify(|twice| *twice = None).or_insert(Some(joint));
            }
        }
        for (to, name) in (0..).zip(&to.names) {
            if let Some(&Some(from)) = by_name.get(&plain(name))
                && !target.has(to)
                && !spanned.contains(&to)
            {
                links.entry(to).or_insert(Link { from, to, role: None });
            }
        }
        let is_asked_for = wishes.iter().any(|w| w.1.is_some());
        Self { links: links.into_values().collect(), spans, from: source, to: target, is_asked_for }
    }

    /// Whether this is enough to move a character by: a body's hips and two pairs of limb bones, half of the joints of
    /// either skeleton, or what the user has asked for.
    pub(super) fn is_enough(&self, from: &Skeleton, to: &Skeleton) -> bool {
        let moved = |role: Role| self.links.iter().any(|l| l.role == Some(role));
        let limbs = self.links.iter().filter(|l| l.role.is_some_and(Role::is_limb)).count();
        let deforming = to.joints().iter().filter(|j| j.deforms).count();
        let is_body = moved(Role::Hips) && limbs >= 4;
        let is_alike = self.links.len() >= 3 && 2 * self.links.len() >= from.len().min(deforming);
        !self.links.is_empty() && (is_body || is_alike || self.is_asked_for)
    }

    /// Joints of the character that share in the turns of two joints of the recording: theirs and those two.
    pub fn shared(&self) -> Vec<(u32, [u32; 2])> {
        let one =
            |span: &Span, to: u32| span.from.first().zip(span.from.last()).map(|(a, b)| (to, [a.1, b.1]));
        self.spans.iter().flat_map(|span| span.to.iter().filter_map(|t| one(span, t.1))).collect()
    }

    /// Joints of the recording that move nothing here. What is on hands, feet and head is of no weight.
    pub(super) fn unused(&self, from: &Skeleton) -> Vec<u32> {
        let tree = Tree::new(from);
        let ends = Side::BOTH.into_iter().flat_map(|side| [Role::Hand(side), Role::Foot(side)]);
        let ends: Vec<u32> = ends.chain([Role::Head]).filter_map(|role| self.from.joint(role)).collect();
        let is_small = |j: u32| ends.iter().any(|&end| tree.is_below(j, end));
        let used: BTreeSet<u32> = self.links.iter().map(|l| l.from).collect();
        let spanned: BTreeSet<u32> = self.spans.iter().flat_map(|s| s.from.iter().map(|f| f.1)).collect();
        (0..from.len() as u32)
            .filter(|j| !used.contains(j) && !spanned.contains(j) && !is_small(*j))
            .collect()
    }

    /// Parts of the character's body that nothing moves, fingers and toes aside.
    pub fn unmoved(&self) -> Vec<u32> {
        let moved: BTreeSet<u32> = self.links.iter().map(|l| l.to).collect();
        let matters = |role: &Role| !matches!(role, Role::Finger(..) | Role::Toes(_));
        let parts = self.to.joints.iter().filter(|(role, _)| matters(role));
        parts.map(|(_, &joint)| joint).filter(|j| !moved.contains(j)).collect()
    }
}

impl Humanoid {
    fn role_of(&self, joint: u32) -> Option<Role> {
        self.joints.iter().find(|(_, j)| **j == joint).map(|(role, _)| *role)
    }

    fn has(&self, joint: u32) -> bool {
        let among = |list: &[u32]| list.contains(&joint);
        self.role_of(joint).is_some() || among(&self.spine) || among(&self.neck)
    }

    fn forget(&mut self, joint: u32) {
        self.joints.retain(|_, j| *j != joint);
        self.twins.retain(|(j, _)| *j != joint);
        self.spine.retain(|j| *j != joint);
        self.neck.retain(|j| *j != joint);
    }

    /// Finds what is between hips, chest and head where wishes have said what those are.
    fn refill(&mut self, tree: &Tree) {
        let ends = [Role::Hips, Role::Chest, Role::Head].map(|role| self.joint(role));
        let path = |a: Option<u32>, b: Option<u32>| match (a, b) {
            (Some(a), Some(b)) if tree.is_below(b, a) => tree.between(a, b),
            _ => Vec::new(),
        };
        if self.spine.is_empty() {
            self.spine = path(ends[0], ends[1]);
        }
        if self.neck.is_empty() {
            self.neck = path(ends[1], ends[2]);
        }
    }
}

/// The joints from one end of a spine or neck to the other.
struct Ladder {
    /// All of them with how far up they are.
    steps: Vec<(f64, u32)>,
    between: Vec<u32>,
}

impl Ladder {
    fn new(body: &Humanoid, skeleton: &Skeleton, below: Role, above: Role) -> Option<Self> {
        let (low, high) = (body.joint(below)?, body.joint(above)?);
        let between = if below == Role::Hips { &body.spine } else { &body.neck }.clone();
        let all: Vec<u32> = [low].into_iter().chain(between.iter().copied()).chain([high]).collect();
        let mut length = 0.0;
        let mut steps = vec![(0.0, low)];
        for pair in all.windows(2) {
            let bone = skeleton.rest_position(pair[0]).distance(skeleton.rest_position(pair[1]));
            // A joint between stands for the middle of its bone.
            if pair[0] != low {
                steps.push((length + 0.5 * bone, pair[0]));
            }
            length += bone;
        }
        steps.push((length, high));
        let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
        steps.iter_mut().for_each(|step| step.0 *= scale);
        // Ends are ends, whatever rounding says.
        let last = steps.len() - 1;
        steps[last].0 = 1.0;
        Some(Self { steps, between })
    }
}

/// A name without namespace, case and punctuation.
fn plain(name: &str) -> String {
    let own = name.rsplit([':', '|']).next().unwrap_or(name);
    own.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
