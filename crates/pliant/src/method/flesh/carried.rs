//! How nodes are carried on by the bones.

use super::rig::{NodeRig, smooth};
use crate::body::Node;
use crate::rig::{SkinMatrix, has_inverse, skin_matrix};
use crate::skin::linear_blend;
use glam::{DAffine3, DMat3, DQuat, Vec3};

/// Degrees between two bones from which on the flesh they share is let go of its linear blend, and at which it is let
/// go wholly. Linear blending draws flesh in by 1 % of its radius at 16 degrees, and by 3 % at 30.
const LET_GO: [f64; 2] = [5.0, 30.0];

/// The motion of the bones from one pose to the next.
#[derive(Clone)]
pub(in crate::method) struct Carried {
    /// Scene from rest, per slot: for linear blending.
    pub(in crate::method) linear: Vec<SkinMatrix>,
    /// From the old pose to the new, per slot.
    on: Vec<SkinMatrix>,
    /// Whether a slot's motion is known: not where a joint has no size or is turned inside out.
    pub(in crate::method) sure: Vec<bool>,
    /// How far each slot is turned from rest, and how far on from the old pose.
    pub(in crate::method) turns: Vec<DQuat>,
    turns_on: Vec<DQuat>,
    /// How far each pair of slots has let go of the flesh between them.
    let_go: Vec<f32>,
    /// Whether any joint is scaled.
    pub(in crate::method) scaled: bool,
}

impl Carried {
    pub(in crate::method) fn new(slots: usize, pairs: usize) -> Self {
        Self {
            linear: vec![SkinMatrix::default(); slots],
            on: vec![SkinMatrix::default(); slots],
            sure: vec![true; slots],
            turns: vec![DQuat::IDENTITY; slots],
            turns_on: vec![DQuat::IDENTITY; slots],
            let_go: vec![0.0; pairs],
            scaled: false,
        }
    }

    /// From one pose to another.
    pub(in crate::method) fn set(&mut self, old: &[DAffine3], new: &[DAffine3]) {
        for (slot, (old, new)) in old.iter().zip(new).enumerate() {
            let known = |m: &DAffine3| has_inverse(m) && m.matrix3.determinant() > 0.0;
            self.sure[slot] = known(old) && known(new);
            self.linear[slot] = skin_matrix(new);
            self.on[slot] = if self.sure[slot] {
                skin_matrix(&(*new * old.inverse()))
            } else {
                skin_matrix(&DAffine3::IDENTITY)
            };
        }
    }

    /// Lets go of flesh between bones that are turned against each other.
    pub(in crate::method) fn let_go(&mut self, pairs: &[[u16; 2]], posed: &[DAffine3]) {
        self.turns.iter_mut().zip(posed).for_each(|(turn, m)| *turn = turn_of(&m.matrix3));
        for (&[a, b], let_go) in pairs.iter().zip(&mut self.let_go) {
            let turn = angle(self.turns[a as usize], self.turns[b as usize]);
            *let_go = smooth((turn - LET_GO[0]) / (LET_GO[1] - LET_GO[0])) as f32;
        }
    }

    /// The most that two slots which share flesh turn against each other on the way from one pose to another, in degrees.
    pub(in crate::method) fn most_turn(
        &mut self,
        pairs: &[[u16; 2]],
        old: &[DAffine3],
        new: &[DAffine3],
    ) -> f64 {
        for (turn, (old, new)) in self.turns_on.iter_mut().zip(old.iter().zip(new)) {
            *turn = turn_of(&new.matrix3) * turn_of(&old.matrix3).conjugate();
        }
        let angles = pairs.iter().map(|&[a, b]| angle(self.turns_on[a as usize], self.turns_on[b as usize]));
        angles.fold(0.0, f64::max)
    }

    /// How much a node is held at its linear blend, 0 to 1.
    pub(in crate::method) fn anchor(&self, rig: &NodeRig, node: usize) -> f32 {
        let freed = rig.freed_by.of(node).iter().map(|&(pair, share)| share * self.let_go[pair as usize]);
        1.0 - freed.fold(0.0, f32::max)
    }

    /// `sum_j w_j (M_j M_j_old^-1) x_old`: a place, carried on by the blend of the bones' motions.
    pub(in crate::method) fn advected(&self, weights: &[(u16, f32)], old: Vec3) -> Vec3 {
        apply(&linear_blend(weights.iter().copied(), &self.on), old)
    }
}

pub(in crate::method) fn at(node: &Node) -> Vec3 {
    Vec3::new(node[0], node[1], node[2])
}

pub(in crate::method) fn put(node: &mut Node, place: Vec3) {
    (node[0], node[1], node[2]) = (place.x, place.y, place.z);
}

pub(in crate::method) fn apply(m: &SkinMatrix, p: Vec3) -> Vec3 {
    let row = |r: &[f32; 4]| r[0] * p.x + r[1] * p.y + r[2] * p.z + r[3];
    Vec3::new(row(&m[0]), row(&m[1]), row(&m[2]))
}

/// The turn in a matrix, scale taken out; none where an axis has no length.
fn turn_of(m: &DMat3) -> DQuat {
    let axes = [m.x_axis, m.y_axis, m.z_axis].map(|axis| axis.try_normalize());
    let [Some(x), Some(y), Some(z)] = axes else { return DQuat::IDENTITY };
    let turn = DQuat::from_mat3(&DMat3::from_cols(x, y, z));
    // Axes that are not square to each other give a length other than one.
    if turn.is_finite() && turn.length() > 0.0 { turn.normalize() } else { DQuat::IDENTITY }
}

/// The angle between two turns, in degrees.
fn angle(a: DQuat, b: DQuat) -> f64 {
    2.0 * libm::acos(a.dot(b).abs().min(1.0)).to_degrees()
}
