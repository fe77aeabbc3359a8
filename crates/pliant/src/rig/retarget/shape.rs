//! A human body found by the skeleton's shape, where names do not tell: two like limbs that hang from the hips, two
//! from the chest above them, and a head.

use super::humanoid::{Humanoid, Role, Side, Tree};
use super::names::Label;
use crate::asset::Skeleton;
use glam::DVec3;

/// Joints of a skeleton that is looked at: those of people have some hundred.
const MOST_JOINTS: usize = 4096;
/// How unlike two limbs of one body may be, over their length.
const UNLIKE: f64 = 0.1;

/// Two limbs that mirror each other.
struct Pair {
    /// The joint that both grow from.
    from: u32,
    limbs: [Vec<u32>; 2],
    length: f64,
}

struct Shape<'a> {
    skeleton: &'a Skeleton,
    tree: &'a Tree,
    /// From each joint, the child that the longest chain goes on with.
    main: Vec<Option<u32>>,
}

/// The body in a skeleton; none where there is none, or where left and right cannot be told.
pub(super) fn find(skeleton: &Skeleton, tree: &Tree, labels: &[Option<Label>]) -> Option<Humanoid> {
    if skeleton.len() > MOST_JOINTS {
        return None;
    }
    let shape = Shape::new(skeleton, tree);
    let pairs = shape.pairs();
    let mut best: Option<(f64, &Pair, &Pair)> = None;
    for legs in &pairs {
        for arms in pairs.iter().filter(|arms| tree.is_below(arms.from, legs.from)) {
            let (hips, chest) = (shape.at(legs.from), shape.at(arms.from));
            let Some(up) = (chest - hips).try_normalize() else { continue };
            let hangs = |limb: &Vec<u32>| {
                limb.last().is_some_and(|&end| (shape.at(end) - hips).dot(up) < -0.5 * legs.length)
            };
            let size = legs.length + arms.length;
            if legs.limbs.iter().all(hangs) && best.is_none_or(|(most, ..)| size > most) {
                best = Some((size, legs, arms));
            }
        }
    }
    let (_, legs, arms) = best?;
    shape.body(legs, arms, labels)
}

impl<'a> Shape<'a> {
    fn new(skeleton: &'a Skeleton, tree: &'a Tree) -> Self {
        let mut reach = vec![0.0; skeleton.len()];
        let mut main = vec![None; skeleton.len()];
        for (joint, about) in skeleton.joints().iter().enumerate().rev() {
            let Some(parent) = about.parent.filter(|_| about.deforms) else { continue };
            let own =
                skeleton.rest_position(joint as u32).distance(skeleton.rest_position(parent)) + reach[joint];
            if own > reach[parent as usize] {
                (reach[parent as usize], main[parent as usize]) = (own, Some(joint as u32));
            }
        }
        Self { skeleton, tree, main }
    }

    fn at(&self, joint: u32) -> DVec3 {
        self.skeleton.rest_position(joint)
    }

    fn chain(&self, from: u32) -> Vec<u32> {
        std::iter::successors(Some(from), |&joint| self.main[joint as usize]).collect()
    }

    fn pairs(&self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for from in 0..self.skeleton.len() as u32 {
            let limbs: Vec<Vec<u32>> =
                self.tree.children[from as usize].iter().map(|&c| self.chain(c)).collect();
            for (index, a) in limbs.iter().enumerate() {
                for b in &limbs[index + 1..] {
                    pairs.extend(self.pair(from, a, b));
                }
            }
        }
        pairs
    }

    /// Two limbs, if one is the other's mirror image.
    fn pair(&self, from: u32, a: &[u32], b: &[u32]) -> Option<Pair> {
        if a.len() != b.len() || a.len() < 3 {
            return None;
        }
        let length =
            |limb: &[u32]| limb.windows(2).map(|w| self.at(w[0]).distance(self.at(w[1]))).sum::<f64>();
        let length = length(a).max(length(b));
        // The plane between the limbs' first joints is between all others too.
        let across = (self.at(a[0]) - self.at(b[0])).try_normalize()?;
        let middle = 0.5 * (self.at(a[0]) + self.at(b[0]));
        let mirrored = a.iter().zip(b).all(|(&a, &b)| {
            let a = self.at(a) - middle;
            let image = a - 2.0 * a.dot(across) * across;
            image.distance(self.at(b) - middle) < UNLIKE * length
        });
        (length > 0.0 && mirrored).then(|| Pair { from, limbs: [a.to_vec(), b.to_vec()], length })
    }

    fn body(&self, legs: &Pair, arms: &Pair, labels: &[Option<Label>]) -> Option<Humanoid> {
        let mut found = Humanoid::default();
        for (limbs, collar, [upper, lower, end], beyond) in [
            (legs, None, [Role::UpperLeg, Role::LowerLeg, Role::Foot], Some(Role::Toes as fn(Side) -> Role)),
            (
                arms,
                Some(Role::Collar as fn(Side) -> Role),
                [Role::UpperArm, Role::LowerArm, Role::Hand],
                None,
            ),
        ] {
            let left_first = self.is_left(limbs, legs, arms, labels)?;
            let sides = if left_first { Side::BOTH } else { [Side::Right, Side::Left] };
            for (side, limb) in sides.into_iter().zip(&limbs.limbs) {
                // Thigh and shin, upper arm and forearm are a limb's two longest bones in a row.
                let length = |k: usize| self.at(limb[k]).distance(self.at(limb[k + 1]));
                let first = (0..limb.len() - 2).max_by(|&a, &b| {
                    let both = |k: usize| length(k) + length(k + 1);
                    both(a).total_cmp(&both(b)).then(b.cmp(&a))
                })?;
                for (role, &joint) in [upper, lower, end].into_iter().zip(&limb[first..]) {
                    found.joints.insert(role(side), joint);
                }
                if let (Some(role), true) = (collar, first > 0) {
                    found.joints.insert(role(side), limb[first - 1]);
                }
                if let (Some(role), Some(&joint)) = (beyond, limb.get(first + 3)) {
                    found.joints.insert(role(side), joint);
                }
            }
        }
        let up = self.at(arms.from) - self.at(legs.from);
        let rise =
            |chain: &[u32]| chain.last().map_or(0.0, |&end| (self.at(end) - self.at(arms.from)).dot(up));
        let others = self.tree.children[arms.from as usize].iter();
        let others = others.filter(|&&c| arms.limbs.iter().all(|limb| limb[0] != c)).map(|&c| self.chain(c));
        let neck = others.filter(|chain| rise(chain) > 0.0).max_by(|a, b| rise(a).total_cmp(&rise(b)));
        if let Some(&head) = neck.as_ref().and_then(|chain| chain.last()) {
            found.joints.insert(Role::Head, head);
        }
        found.with_trunk(self.tree, labels)
    }

    /// Whether the first of two limbs is the left one: by name, or by where the feet point.
    fn is_left(&self, limbs: &Pair, legs: &Pair, arms: &Pair, labels: &[Option<Label>]) -> Option<bool> {
        let named = |limb: &[u32]| limb.iter().find_map(|&j| labels[j as usize].and_then(|l| l.side));
        match [named(&limbs.limbs[0]), named(&limbs.limbs[1])] {
            [Some(Side::Left), Some(Side::Right)] => return Some(true),
            [Some(Side::Right), Some(Side::Left)] => return Some(false),
            _ => {}
        }
        let up = (self.at(arms.from) - self.at(legs.from)).try_normalize()?;
        let mut forward = DVec3::ZERO;
        for leg in &legs.limbs {
            let [.., heel, toe] = leg[..] else { return None };
            let foot = self.at(toe) - self.at(heel);
            forward += foot - up * foot.dot(up);
        }
        // A foot that points nowhere says nothing of where the body looks.
        if forward.length() < 0.1 * legs.length {
            return None;
        }
        let left = up.cross(forward);
        Some((self.at(limbs.limbs[0][0]) - self.at(limbs.limbs[1][0])).dot(left) > 0.0)
    }
}
