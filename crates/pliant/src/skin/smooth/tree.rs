//! The slots of a skin as a tree of bones, and how far each is bent against the one that it hangs on.

use crate::asset::{Skeleton, Slot, Weights};
use crate::rig::SkinMatrix;
use crate::skin::rigid::Rigid;
use glam::{DAffine3, DQuat, DVec3};

/// Bones shorter than this, over the skeleton's size, have no direction.
const SHORTEST_BONE: f64 = 1e-6;
/// Joints in one place that a search for a bone of some length passes, at most.
const MOST_IN_ONE_PLACE: usize = 256;

/// A slot among the others, at rest.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// The slot that it hangs on, if any: bound like it, of the nearest joint above that has one.
    pub parent: Option<u16>,
    /// The joint.
    pub joint: u32,
    /// Where the joint is.
    pub at: DVec3,
    /// Unit directions and lengths of the joint's bones; none where they have no length.
    pub bones: Vec<(DVec3, f64)>,
    /// The way of its bones together, unit: what it twists about. Zero where it has none.
    pub along: DVec3,
    /// Unit direction and length to the other end of the bone that ends here.
    pub back: Option<(DVec3, f64)>,
    /// How many slots it hangs below.
    pub depth: u32,
    /// Its number, and that after the last that hangs on it, where all that hangs on a slot follows it.
    pub ranks: [u32; 2],
}

/// All slots.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub nodes: Vec<Node>,
    /// In order of slots.
    pub children: Vec<Vec<u16>>,
    /// Diagonal of the box around all joints.
    pub size: f64,
}

impl Tree {
    pub(super) fn new(skeleton: &Skeleton, slots: &[Slot], weights: &Weights) -> Self {
        let joints = skeleton.joints();
        let rest: Vec<DAffine3> = slots
            .iter()
            .map(|slot| {
                let inverse = slot.joint_from_rest.inverse();
                if inverse.is_finite() { inverse } else { joints[slot.joint as usize].world_from_rest }
            })
            .collect();
        // How each slot is bound against the skeleton's rest: skins bound alike have the same.
        let bound: Vec<DAffine3> = slots
            .iter()
            .zip(&rest)
            .map(|(slot, &rest)| rest * joints[slot.joint as usize].world_from_rest.inverse())
            .collect();
        let families = families(weights, slots.len());
        let mut of_joint: Vec<Vec<u16>> = vec![Vec::new(); joints.len()];
        for (index, slot) in slots.iter().enumerate() {
            of_joint[slot.joint as usize].push(index as u16);
        }
        // The nearest joint from each one up that has a slot.
        let mut slotted: Vec<Option<u32>> = Vec::with_capacity(joints.len());
        for (index, joint) in joints.iter().enumerate() {
            let above = joint.parent.and_then(|p| slotted[p as usize]);
            slotted.push(if of_joint[index].is_empty() { above } else { Some(index as u32) });
        }
        let parent = |slot: usize| {
            let joint = slotted[joints[slots[slot].joint as usize].parent? as usize]?;
            of_joint[joint as usize].iter().copied().min_by(|&a, &b| {
                let key = |s: u16| {
                    let other = families[s as usize] != families[slot];
                    (other, difference(&bound[s as usize], &bound[slot]))
                };
                let (a, b) = (key(a), key(b));
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
            })
        };
        let parents: Vec<Option<u16>> = (0..slots.len()).map(parent).collect();
        let (low, high) = rest.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), r| {
            (low.min(r.translation), high.max(r.translation))
        });
        let size = if slots.is_empty() { 0.0 } else { low.distance(high) };
        let shortest = SHORTEST_BONE * size;
        let direction = |way: DVec3| Some((way / way.length(), way.length())).filter(|d| d.1 > shortest);
        let bones = skeleton.bones();
        let mut nodes: Vec<Node> = Vec::with_capacity(slots.len());
        for (index, slot) in slots.iter().enumerate() {
            let at = rest[index].translation;
            let first = bones.partition_point(|b| b.joint < slot.joint);
            let own = bones[first..].iter().take_while(|b| b.joint == slot.joint);
            // Bones are the skeleton's, brought to where this slot is bound.
            let own: Vec<(DVec3, f64)> =
                own.filter_map(|b| direction(bound[index].transform_vector3(b.end - b.start))).collect();
            // A joint above at the same place stands for the next one up.
            let (mut back, mut above) = (None, parents[index]);
            for _ in 0..MOST_IN_ONE_PLACE {
                let Some(p) = above.filter(|_| back.is_none()) else { break };
                back = direction(rest[p as usize].translation - at);
                above = parents[p as usize];
            }
            let sum: DVec3 = own.iter().map(|bone| bone.0).sum();
            let first = own.first().map_or(DVec3::ZERO, |bone| bone.0);
            let mut along = if sum.length() > 0.1 { sum / sum.length() } else { first };
            if own.is_empty()
                && let Some((back, _)) = back
            {
                along = -back;
            }
            let (depth, ranks) = (0, [0; 2]);
            nodes.push(Node {
                parent: parents[index],
                joint: slot.joint,
                at,
                bones: own,
                along,
                back,
                depth,
                ranks,
            });
        }
        let mut children = vec![Vec::new(); slots.len()];
        for (index, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent as usize].push(index as u16);
            }
        }
        let mut made = Self { nodes, children, size };
        made.rank();
        made
    }

    /// Numbers slots so that all that hangs on one follows it.
    fn rank(&mut self) {
        let roots = self.nodes.iter().enumerate().filter(|(_, node)| node.parent.is_none());
        let roots = roots.map(|(slot, _)| slot as u16);
        let mut stack: Vec<(u16, u32, bool)> = roots.map(|root| (root, 0, false)).collect();
        let mut next = 0;
        while let Some((slot, depth, is_done)) = stack.pop() {
            let node = &mut self.nodes[slot as usize];
            if is_done {
                node.ranks[1] = next;
                continue;
            }
            (node.depth, node.ranks[0]) = (depth, next);
            next += 1;
            stack.push((slot, depth, true));
            stack.extend(self.children[slot as usize].iter().map(|&child| (child, depth + 1, false)));
        }
    }

    /// Whether a slot is another, or hangs on it.
    pub(super) fn hangs(&self, slot: u16, on: u16) -> bool {
        let [first, end] = self.nodes[on as usize].ranks;
        (first..end).contains(&self.nodes[slot as usize].ranks[0])
    }
}

fn difference(a: &DAffine3, b: &DAffine3) -> f64 {
    let axes = (a.matrix3 - b.matrix3).to_cols_array().iter().map(|x| x * x).sum::<f64>();
    let sum = axes + a.translation.distance_squared(b.translation);
    if sum.is_finite() { sum } else { f64::MAX }
}

/// For each slot the first of those that some points bind it together with: slots of one skin.
fn families(weights: &Weights, count: usize) -> Vec<u16> {
    let mut first: Vec<u16> = (0..count).map(|s| s as u16).collect();
    fn root(first: &mut [u16], mut slot: u16) -> u16 {
        while first[slot as usize] != slot {
            first[slot as usize] = first[first[slot as usize] as usize];
            slot = first[slot as usize];
        }
        slot
    }
    for vertex in 0..weights.vertex_count() {
        let mut of = weights.of(vertex);
        let Some((lead, _)) = of.next() else { continue };
        for (slot, _) in of {
            let (a, b) = (root(&mut first, lead), root(&mut first, slot));
            first[a.max(b) as usize] = a.min(b);
        }
    }
    (0..count).map(|s| root(&mut first, s as u16)).collect()
}

/// How a slot is turned against the one that it hangs on, in the space of the scene: what a step of two bones needs.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Bend {
    /// The joint as the parent carries it, and as the child does: one place unless the joint is moved.
    pub joint: [[f32; 3]; 2],
    /// The axis of twist, unit, as the parent carries it, and as the child does.
    pub axis: [[f32; 3]; 2],
    /// The axis of swing, unit.
    pub swing_axis: [f32; 3],
    /// Twist about the axis, radians; zero where it is as good as none.
    pub twist: f32,
    /// Its sine and cosine.
    pub twist_sines: [f32; 2],
}

/// A joint's turn, in rest space.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Turn {
    /// Twist about the bone, radians, -pi to pi.
    pub twist: f64,
    /// Swing, radians, 0 to pi.
    pub swing: f64,
    /// The swing's axis, unit; zero without swing.
    pub axis: DVec3,
}

/// Twists below this, radians, are rounding of f32 matrices: there is nothing to undo.
const NO_TWIST: f64 = 1e-5;

impl Turn {
    /// Splits `q` into a twist about `along`, first, then a swing about an axis across it.
    pub(super) fn new(q: DQuat, along: DVec3) -> Self {
        let q = if q.w < 0.0 { -q } else { q };
        let (v, w) = (DVec3::new(q.x, q.y, q.z), q.w);
        let about = v.dot(along);
        // At half a turn of swing there is no twist to tell.
        let length = about.hypot_exact(w);
        let (twist, untwist) = if length > 1e-9 && along != DVec3::ZERO {
            let half = libm::atan2(about, w);
            let back = DQuat::from_xyzw(
                -along.x * about / length,
                -along.y * about / length,
                -along.z * about / length,
                w / length,
            );
            (2.0 * half, back)
        } else {
            (0.0, DQuat::IDENTITY)
        };
        let s = q * untwist;
        let s = if s.w < 0.0 { -s } else { s };
        let axis = DVec3::new(s.x, s.y, s.z);
        let sine = axis.length();
        let swing = 2.0 * libm::atan2(sine, s.w);
        let axis = if sine > 1e-9 { axis / sine } else { DVec3::ZERO };
        Self { twist, swing, axis }
    }
}

trait Hypot {
    fn hypot_exact(self, other: Self) -> Self;
}

impl Hypot for f64 {
    /// Plain operations only: the same bits everywhere.
    fn hypot_exact(self, other: f64) -> f64 {
        (self * self + other * other).sqrt()
    }
}

/// The bends of a pose, into `bends` and `turns`, one per slot.
pub(super) fn bend(
    tree: &Tree,
    matrices: &[SkinMatrix],
    rotations: &mut Vec<DQuat>,
    bends: &mut Vec<Bend>,
    turns: &mut Vec<Turn>,
) {
    rotations.clear();
    rotations.extend(matrices.iter().map(rotation));
    bends.clear();
    turns.clear();
    for (index, node) in tree.nodes.iter().enumerate() {
        let carried = |matrix: &SkinMatrix| {
            let p = node.at;
            matrix.map(|r| {
                let [x, y, z, t] = r.map(f64::from);
                (x * p.x + y * p.y + z * p.z + t) as f32
            })
        };
        let Some(parent) = node.parent.map(usize::from) else {
            bends.push(Bend { joint: [carried(&matrices[index]); 2], ..Bend::default() });
            turns.push(Turn::default());
            continue;
        };
        let (q_parent, q_child) = (rotations[parent], rotations[index]);
        let mut turn = Turn::new((q_parent.inverse() * q_child).normalize(), node.along);
        if turn.twist.abs() < NO_TWIST {
            turn.twist = 0.0;
        }
        let f32s = |v: DVec3| v.as_vec3().to_array();
        bends.push(Bend {
            joint: [carried(&matrices[parent]), carried(&matrices[index])],
            axis: [f32s(q_parent * node.along), f32s(q_child * node.along)],
            swing_axis: f32s(q_parent * turn.axis),
            twist: turn.twist as f32,
            twist_sines: [libm::sin(turn.twist) as f32, libm::cos(turn.twist) as f32],
        });
        turns.push(turn);
    }
}

/// The proper rotation nearest to a skin matrix.
fn rotation(matrix: &SkinMatrix) -> DQuat {
    let [x, y, z, w] = Rigid::new(matrix).rotation.map(f64::from);
    let q = DQuat::from_xyzw(x, y, z, w);
    if q.is_finite() && q.length_squared() > 0.25 { q.normalize() } else { DQuat::IDENTITY }
}
