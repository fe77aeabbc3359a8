//! A limit angle that follows the bend: `a = smin(a_user, beta/2)`, `beta` the angle between the bones now, at least ten
//! degrees. Only for weights from angles, which were made with the least limit: so all that a pose can blend is known.

use super::SmoothOptions;
use super::program::{Op, Programs, Shares};
use super::tree::{Tree, Turn};
use crate::parallel;
use crate::rig::weights::{between, child_share, limit_angle};
use crate::skin::pack::BATCH;
use glam::{DQuat, DVec3, Vec3};
use std::f64::consts::PI;

/// The least limit angle, radians.
pub const LEAST_LIMIT: f64 = 10.0 * PI / 180.0;
/// `k` of the smooth minimum, radians.
const BLEND: f64 = 10.0 * PI / 180.0;
/// Shares that differ by this from what the angles say are not made of them alone (branches, far joints): they stay.
const FOREIGN: f32 = 0.1;
/// Rows a parallel task.
const CHUNK: usize = 64;

/// Sixteen points at one blend.
#[derive(Debug, Clone)]
struct Row {
    slot: u16,
    to_parent: [f32; BATCH],
    to_child: [f32; BATCH],
    /// What the angles say at the least limit.
    least: [f32; BATCH],
    /// How far they count.
    own: [f32; BATCH],
}

/// What is prepared: a row for each of the programs', where angles make it.
#[derive(Debug)]
pub(super) struct Dynamic {
    rows: Vec<Option<Row>>,
    /// Of each slot: the limit that was asked for, and the least.
    limits: Vec<[f64; 2]>,
}

impl Dynamic {
    pub(super) fn new(tree: &Tree, programs: &Programs, rest: &[Vec3], options: &SmoothOptions) -> Self {
        let limits: Vec<[f64; 2]> = tree
            .nodes
            .iter()
            .map(|node| {
                let Some((back, _)) = node.back else { return [0.0; 2] };
                let at_rest = node.bones.iter().map(|b| between(back, b.0)).fold(PI, f64::min);
                let wanted = options.control(node.joint).limit_angle;
                [limit_angle(wanted, at_rest), limit_angle(wanted.min(LEAST_LIMIT), at_rest)]
            })
            .collect();
        let mut rows = vec![None; programs.shares.len()];
        for (index, batch) in programs.batches.iter().enumerate() {
            let ops = &programs.ops[batch.ops as usize..(batch.ops + batch.count) as usize];
            let blends = ops.iter().filter(|op| !matches!(op, Op::Push(_)));
            for (k, op) in blends.enumerate() {
                let slot = match op {
                    Op::Merge(slot) | Op::Join(slot) => *slot,
                    _ => continue,
                };
                let node = &tree.nodes[usize::from(slot)];
                let Some((back, _)) = node.back.filter(|_| !node.bones.is_empty()) else { continue };
                let zeros = [0.0; BATCH];
                let mut row = Row { slot, to_parent: zeros, to_child: zeros, least: zeros, own: zeros };
                let shares = &programs.shares[batch.shares as usize + k];
                for lane in 0..BATCH {
                    let way = rest[index * BATCH + lane].as_dvec3() - node.at;
                    let to_parent = between(way, back);
                    let to_child = node.bones.iter().map(|b| between(way, b.0)).fold(PI, f64::min);
                    let least = child_share(to_parent, to_child, limits[usize::from(slot)][1]) as f32;
                    row.to_parent[lane] = to_parent as f32;
                    row.to_child[lane] = to_child as f32;
                    row.least[lane] = least;
                    row.own[lane] = (1.0 - (shares.child[lane] - least).abs() / FOREIGN).max(0.0);
                }
                rows[batch.shares as usize + k] = Some(row);
            }
        }
        Self { rows, limits }
    }

    /// The shares of a pose.
    pub(super) fn shares(
        &self,
        tree: &Tree,
        turns: &[Turn],
        prepared: &[Shares],
        limits: &mut Vec<f32>,
        out: &mut Vec<Shares>,
    ) {
        limits.clear();
        limits.extend(tree.nodes.iter().zip(turns).zip(&self.limits).map(
            |((node, turn), &[user, least])| {
                let Some((back, _)) = node.back else { return 0.0 };
                let swing = DQuat::from_axis_angle(axis_or_x(turn.axis), turn.swing);
                let beta = between(back, swing * node.along);
                smooth_min(user, 0.5 * beta).max(least) as f32
            },
        ));
        out.clear();
        out.extend_from_slice(prepared);
        let limits = &limits[..];
        parallel::for_each_chunk_mut(out, CHUNK, |chunk, shares| {
            for (shares, row) in shares.iter_mut().zip(&self.rows[chunk * CHUNK..]) {
                let Some(row) = row else { continue };
                let limit = limits[usize::from(row.slot)];
                for lane in 0..BATCH {
                    let now = child_share_f32(row.to_parent[lane], row.to_child[lane], limit);
                    let moved = shares.child[lane] + row.own[lane] * (now - row.least[lane]);
                    shares.child[lane] = moved.clamp(0.0, 1.0);
                }
            }
        });
    }
}

fn axis_or_x(axis: DVec3) -> DVec3 {
    if axis == DVec3::ZERO { DVec3::X } else { axis }
}

/// `min(p, q) - h^2 k / 4`, `h = max(k - |p - q|, 0) / k`.
fn smooth_min(p: f64, q: f64) -> f64 {
    let h = (BLEND - (p - q).abs()).max(0.0) / BLEND;
    p.min(q) - h * h * BLEND / 4.0
}

/// As [`child_share`].
fn child_share_f32(to_parent: f32, to_child: f32, limit: f32) -> f32 {
    let (parent, child) = ((to_parent - limit).max(0.0), (to_child - limit).max(0.0));
    let r = if parent + child > 0.0 { parent / (parent + child) } else { 0.5 };
    r * r * (6.2 + r * (-14.8 + r * (16.0 - 6.4 * r)))
}
