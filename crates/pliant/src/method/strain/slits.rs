//! Slits that are narrower than the body's cells: eyelids, lips, nostrils.
//!
//! The two sides of a slit are in tets that share no face, so that lips can part. Nothing else holds the sides to each
//! other: swinging on their own they would shut an eye, and tear at its corner, where skin passes from the one to the
//! other. So what flesh does beyond its bones is evened out across slits, between flesh on the same bones. What the bones
//! do to the sides is left as it is.

use crate::body;
use crate::method::flesh::{CHUNK, Flesh, NodeRig, Run, at, put, smooth};
use crate::parallel;
use glam::Vec3;

/// How far it is evened out, in cells.
const REACH: f32 = 1.5;
/// Share of two nodes' weights on the same bones from which on they go along with each other, and at which wholly.
const ALIKE: [f32; 2] = [0.8, 0.95];
/// What part of all that is near a node is across a slit, by weight, where that begins to count, and from where on it is
/// evened out wholly.
const ACROSS: [f32; 2] = [0.01, 0.1];
/// What part of all that is across hangs on the same bones, as above. Of a mouth that a jaw opens the sides are nobody's
/// to even out.
const AGREED: [f32; 2] = [0.7, 0.95];

/// The nodes at slits.
pub(super) struct Slits {
    sides: Vec<Side>,
    /// The nodes near each of them, list after list, with shares that sum to one.
    near: Vec<(u32, f32)>,
}

struct Side {
    node: u32,
    /// How much it goes by what is near, 0 to 1.
    share: f32,
    /// Where its list ends.
    end: u32,
}

impl Slits {
    pub(super) fn new(flesh: &Flesh<'_>) -> Self {
        let mut slits = Self { sides: Vec::new(), near: Vec::new() };
        for (node, near) in body::slits(&flesh.body, &flesh.neighbours, REACH) {
            let first = slits.near.len();
            let (mut sum, mut across, mut agreed) = (0.0f32, 0.0f32, 0.0f32);
            for other in near {
                let inner = 1.0 - (other.distance / REACH).powi(2);
                let weight = inner * inner * alike(&flesh.rig, node, other.node);
                across += inner * inner * other.across;
                agreed += weight * other.across;
                if weight > 0.0 {
                    sum += weight;
                    slits.near.push((other.node, weight));
                }
            }
            let share = between(ACROSS, across / sum) * between(AGREED, agreed / across);
            if share <= 0.0 {
                slits.near.truncate(first);
                continue;
            }
            slits.near[first..].iter_mut().for_each(|n| n.1 /= sum);
            slits.sides.push(Side { node, share, end: slits.near.len() as u32 });
        }
        slits
    }

    /// How many nodes are at slits: what `evened` is to have room for.
    pub(super) fn len(&self) -> usize {
        self.sides.len()
    }

    /// Evens out how far nodes are from where their bones alone would have them.
    pub(super) fn even_out(&self, run: &mut Run, evened: &mut [Vec3]) {
        let (nodes, skinned) = (&mut run.nodes, &run.skinned);
        let off = |node: u32| at(&nodes[node as usize]) - at(&skinned[node as usize]);
        // Around bent joints it is the shape of the fold that flesh is off by, no swing.
        let anchor = |node: u32| skinned[node as usize][3];
        parallel::for_each_chunk_mut(evened, CHUNK, |chunk, evened| {
            for (k, evened) in evened.iter_mut().enumerate() {
                let index = chunk * CHUNK + k;
                let side = &self.sides[index];
                let first = index.checked_sub(1).map_or(0, |before| self.sides[before].end);
                let near = &self.near[first as usize..side.end as usize];
                let own = off(side.node);
                let apart = |&(other, weight): &(u32, f32)| (off(other) - own) * (weight * anchor(other));
                *evened = own + near.iter().map(apart).sum::<Vec3>() * (side.share * anchor(side.node));
            }
        });
        for (side, &off) in self.sides.iter().zip(&*evened) {
            let node = &mut nodes[side.node as usize];
            if node[3] > 0.0 {
                put(node, at(&skinned[side.node as usize]) + off);
            }
        }
    }
}

/// Whether two nodes hang on the same bones, 0 to 1.
fn alike(rig: &NodeRig, a: u32, b: u32) -> f32 {
    let of_b = rig.weights.of(b as usize);
    let both =
        |&(slot, weight): &(u16, f32)| of_b.iter().find(|w| w.0 == slot).map_or(0.0, |w| w.1.min(weight));
    between(ALIKE, rig.weights.of(a as usize).iter().map(both).sum())
}

/// 0 up to the first, 1 from the second on.
fn between([from, to]: [f32; 2], x: f32) -> f32 {
    smooth(f64::from((x - from) / (to - from))) as f32
}
