//! What carries the skin in a pose: balls, the rungs of joints, and the bones themselves, a matrix each.

use super::joints::{JointBalls, RUNGS, swell};
use super::rig::{BallRig, Bound};
use crate::body::Node;
use crate::parallel;
use crate::rig::{SkinMatrix, has_inverse, skin_matrix};
use crate::skin::{overlap::affine, turn_and_scale};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::f64::consts::FRAC_1_SQRT_2;

/// Balls a parallel task, and pairs of bones.
const CHUNK: usize = 64;
const PAIRS: usize = 4;

/// How much a place must be nearer to both bones to be taken for the joint between: little turns say little of where.
const TRUST: f64 = 0.05;

/// A bone in a pose.
#[derive(Debug, Clone, Copy)]
pub(super) struct PosedBone {
    pub(super) place: DAffine3,
    pub(super) turn: DQuat,
    scale: DMat3,
}

impl PosedBone {
    pub(super) fn new(matrix: &SkinMatrix) -> Self {
        let (turn, scale) = turn_and_scale(matrix);
        Self { place: affine(matrix), turn, scale }
    }
}

/// A ball as it swells: about which line, and by how much.
#[derive(Debug, Clone, Copy)]
pub(super) struct Swelling {
    /// On its bone, and along it, at rest.
    pub(super) point: DVec3,
    pub(super) axis: DVec3,
}

/// Half a turn goes either way: room for rounding, in the cosine of half the angle, until it is more than that.
const HALF_TURN: f64 = 1e-6;

/// A way round by the joints that is longer than three quarters of a turn, by the cosine of half of it, is none: such bones hang
/// on something else than what they move with, as feet that are led by hand do.
const TOO_FAR: f64 = -FRAC_1_SQRT_2;

/// Brings each bone's quaternion to the side of that of the bone which it hangs on: given bones and those, from the top. From
/// then on the way from one bone's turn to another's is that by the joints between, however far it is: a finger that is rolled
/// up by more than half a turn in all does not lie through the back of the hand.
pub(super) fn turn_by_joints(hangs_on: &[[u16; 2]], bones: &mut [PosedBone]) {
    for &[bone, on] in hangs_on {
        let on = bones[on as usize].turn;
        let turn = &mut bones[bone as usize].turn;
        if on.dot(*turn) < -HALF_TURN {
            *turn = -*turn;
        }
    }
}

/// Which carrier is which.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carriers {
    pub(super) balls: usize,
    pub(super) pairs: usize,
    pub(super) bones: usize,
}

impl Carriers {
    pub(super) fn len(&self) -> usize {
        self.balls + self.pairs * (RUNGS + 1) + self.bones
    }

    pub(super) fn rung(&self, pair: usize, rung: usize) -> u16 {
        (self.balls + pair * (RUNGS + 1) + rung) as u16
    }

    pub(super) fn bone(&self, slot: u16) -> u16 {
        (self.balls + self.pairs * (RUNGS + 1)) as u16 + slot
    }
}

/// Where balls are by their bones: `sum_j w_j S_j c`.
pub(super) fn place_balls(rig: &BallRig<'_>, bones: &[PosedBone], nodes: &mut [Node]) {
    parallel::for_each_chunk_mut(nodes, CHUNK, |chunk, nodes| {
        for (k, node) in nodes.iter_mut().enumerate() {
            let ball = chunk * CHUNK + k;
            let rest = rig.balls()[ball].center.as_dvec3();
            let on = rig.on_bones[ball].iter();
            let (sum, whole) = on.fold((DVec3::ZERO, 0.0), |(sum, whole), &(slot, weight)| {
                let weight = f64::from(weight);
                (sum + bones[slot as usize].place.transform_point3(rest) * weight, whole + weight)
            });
            // Weights are rounded; at rest a ball is where it is.
            let place = (sum / whole).as_vec3();
            (node[0], node[1], node[2]) = (place.x, place.y, place.z);
        }
    });
}

/// How balls are turned: the way from the first bone's turn to each other's, by its weight.
pub(super) fn turn_balls(rig: &BallRig<'_>, bones: &[PosedBone], turns: &mut [DQuat]) {
    parallel::for_each_chunk_mut(turns, CHUNK, |chunk, turns| {
        for (k, turn) in turns.iter_mut().enumerate() {
            *turn = blended_turn(&rig.on_bones[chunk * CHUNK + k], bones);
        }
    });
}

fn blended_turn(on: &Bound, bones: &[PosedBone]) -> DQuat {
    let Some(&(first, _)) = on.first() else { return DQuat::IDENTITY };
    let base = bones[first as usize].turn;
    let way = on[1..].iter().fold(DVec3::ZERO, |sum, &(slot, weight)| {
        let (axis, angle) = axis_angle(base.conjugate() * bones[slot as usize].turn);
        sum + axis * (angle * f64::from(weight))
    });
    let angle = way.length();
    if angle > 0.0 { base * turn_about(way / angle, angle) } else { base }
}

/// The longer way round where the real part is negative, if it is not too far.
fn axis_angle(turn: DQuat) -> (DVec3, f64) {
    let [x, y, z, w] = if turn.w < TOO_FAR { (-turn).to_array() } else { turn.to_array() };
    let axis = DVec3::new(x, y, z);
    let length = axis.length();
    if length > 0.0 { (axis / length, 2.0 * libm::atan2(length, w)) } else { (DVec3::X, 0.0) }
}

fn turn_about(axis: DVec3, angle: f64) -> DQuat {
    let (sin, cos) = libm::sincos(0.5 * angle);
    DQuat::from_xyzw(axis.x * sin, axis.y * sin, axis.z * sin, cos)
}

/// The matrices of balls: `c' + R (A (v - c) + (g - 1) P (v - o))`, with `A` the bones' scale and `P` across the bone.
pub(super) fn ball_matrices(
    rig: &BallRig<'_>,
    bones: &[PosedBone],
    nodes: &[Node],
    turns: &[DQuat],
    (swelling, gains): (&[Swelling], &[f64]),
    out: &mut [SkinMatrix],
) {
    parallel::for_each_chunk_mut(out, CHUNK, |chunk, out| {
        for (k, out) in out.iter_mut().enumerate() {
            let ball = chunk * CHUNK + k;
            let on = rig.on_bones[ball].iter();
            let (sum, whole) = on.fold((DMat3::ZERO, 0.0), |(sum, whole), &(slot, weight)| {
                (sum + bones[slot as usize].scale * f64::from(weight), whole + f64::from(weight))
            });
            let scale = sum * (1.0 / whole);
            let turn = DMat3::from_quat(turns[ball]);
            let node = nodes[ball];
            let place = DVec3::new(node[0].into(), node[1].into(), node[2].into());
            let rest = rig.balls()[ball].center.as_dvec3();
            let mut linear = scale;
            let mut from = scale * rest;
            let more = gains[ball] - 1.0;
            if more != 0.0 {
                let Swelling { point, axis } = swelling[ball];
                let along = DMat3::from_cols(axis * axis.x, axis * axis.y, axis * axis.z);
                let across = (DMat3::IDENTITY - along) * more;
                linear += across;
                from += across * point;
            }
            *out = skin_matrix(&DAffine3 { matrix3: turn * linear, translation: place - turn * from });
        }
    });
}

/// How far from a pair's joint the place is that both bones have in the same place: nowhere else where it is the joint
/// between them; elsewhere where there are more joints between, and others of them turn.
///
/// The least of `|(B - I) x + d|^2 + l |x|^2`, with `B` the second bone as the first sees it and `d` where that has the joint.
fn off_pivot(a: &PosedBone, b: &PosedBone, pivot: DVec3) -> DVec3 {
    if !has_inverse(&a.place) {
        return DVec3::ZERO;
    }
    let back = a.place.inverse();
    let apart = back.transform_point3(b.place.transform_point3(pivot)) - pivot;
    let turned = DMat3::from_quat(a.turn.conjugate() * b.turn) - DMat3::IDENTITY;
    let square = turned.transpose() * turned + DMat3::from_diagonal(DVec3::splat(TRUST));
    let off = square.inverse() * (turned.transpose() * -apart);
    if off.is_finite() { off } else { DVec3::ZERO }
}

/// The matrices of all rungs of all pairs of bones. Flesh that is to be parted would swell into itself where it is bent, not
/// where it is twisted.
pub(super) fn rung_matrices(
    joints: &JointBalls,
    bones: &[PosedBone],
    strength: f64,
    parts: bool,
    out: &mut [SkinMatrix],
) {
    parallel::for_each_chunk_mut(out, PAIRS * (RUNGS + 1), |chunk, out| {
        for (k, rungs) in out.chunks_mut(RUNGS + 1).enumerate() {
            let pair = &joints.pairs[chunk * PAIRS + k];
            let [a, b] = pair.slots.map(|slot| &bones[slot as usize]);
            let pivot = pair.pivot + off_pivot(a, b, pair.pivot);
            let places = [a, b].map(|bone| bone.place.transform_point3(pivot));
            let (axis, angle) = axis_angle(a.turn.conjugate() * b.turn);
            let by = turn_about(axis, angle / RUNGS as f64);
            let twisted = (1.0 - (pair.across * axis).length_squared()).max(0.0);
            let swelling = strength * if parts { twisted } else { 1.0 } * pair.swelling(axis, angle);
            let mut turn = a.turn;
            for (rung, out) in rungs.iter_mut().enumerate() {
                let height = rung as f64 / RUNGS as f64;
                let scale = a.scale * (1.0 - height) + b.scale * height;
                let turned = DMat3::from_quat(turn);
                let swollen = pair.across * (swelling * swell(rung));
                let place = places[0].lerp(places[1], height);
                // o + R (A (v - p) + s Q (v - m))
                let translation = place - turned * (scale * pivot + swollen * pair.middle);
                *out = skin_matrix(&DAffine3 { matrix3: turned * (scale + swollen), translation });
                turn *= by;
            }
        }
    });
}
