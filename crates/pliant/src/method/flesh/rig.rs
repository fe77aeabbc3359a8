//! How the nodes of a body hang on the bones: weights, the point on the bone that each keeps its distance from, and
//! the joints whose bending sets it free.

use crate::asset::{Bone, Character};
use crate::body::{self, Body, OnSkin};
use glam::{DVec3, Vec3};

/// Influences kept on a node: what spreading into the inside mixes beyond that is next to nothing.
const INFLUENCES: usize = 8;
/// Passes that even out the weights inside, where the nearest skin jumps from one side of a limb to the other.
const SPREAD: usize = 6;
/// Radii from a joint within which its bending frees a node wholly, and from which on not at all. Less, and flesh
/// that a bend squeezes has nowhere to go; more, and whole limbs are set free.
const FREE_WITHIN: f64 = 2.0;
const FREE_UNTIL: f64 = 3.5;

/// A node shared by two bones, the lesser with at least this weight, is wholly freed when they turn against each
/// other: linear blending would draw it in by this share of its radius at a twist of 90 degrees.
const SHARED: f32 = 0.1;

/// Lists of pairs (index, number) per node, end to end.
#[derive(Default)]
pub(in crate::method) struct PerNode {
    offsets: Vec<u32>,
    entries: Vec<(u16, f32)>,
}

impl PerNode {
    fn new(lists: &[Vec<(u16, f32)>]) -> Self {
        let mut all = Self { offsets: vec![0], entries: Vec::new() };
        for list in lists {
            all.entries.extend_from_slice(list);
            all.offsets.push(all.entries.len() as u32);
        }
        all
    }

    pub(in crate::method) fn of(&self, node: usize) -> &[(u16, f32)] {
        &self.entries[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }
}

/// The point on a bone that a node keeps its distance from.
#[derive(Clone, Copy)]
pub(in crate::method) struct Bound {
    /// It rides with this slot.
    pub(in crate::method) slot: u16,
    /// Where it is at rest.
    pub(in crate::method) point: Vec3,
    /// How far the node is from it at rest.
    pub(in crate::method) distance: f32,
}

/// How nodes hang on bones.
pub(in crate::method) struct NodeRig {
    /// Slots and weights.
    pub(in crate::method) weights: PerNode,
    pub(in crate::method) bounds: Vec<Bound>,
    /// Pairs of slots that turn against each other.
    pub(in crate::method) pairs: Vec<[u16; 2]>,
    /// Pairs that free a node, and how much, 0 to 1.
    pub(in crate::method) freed_by: PerNode,
    /// How thick the flesh is around each joint that bends; 0 for others.
    pub(in crate::method) radii: Vec<f64>,
}

impl NodeRig {
    pub(in crate::method) fn new(character: &Character, body: &Body, on_skin: &OnSkin) -> Self {
        let weights = hang(character, body, on_skin);
        let bones = character.skeleton().bones();
        let mut bones_of_joint: Vec<Vec<Bone>> = vec![Vec::new(); character.skeleton().len()];
        bones.iter().for_each(|b| bones_of_joint[b.joint as usize].push(*b));
        let nodes = body.tets().positions();
        let bounds = (0..nodes.len())
            .map(|n| bound(character, &bones_of_joint, nodes[n].as_dvec3(), &weights[n]))
            .collect();
        let mut pairs = Vec::new();
        let mut radii = vec![0.0; character.skeleton().len()];
        let freed_by = freed_by(character, body, &bones_of_joint, &weights, &mut pairs, &mut radii);
        Self { radii, weights: PerNode::new(&weights), bounds, pairs, freed_by: PerNode::new(&freed_by) }
    }
}

/// The skin's weights where a node is nearest to it, evened out inside.
pub(in crate::method) fn hang(character: &Character, body: &Body, on_skin: &OnSkin) -> Vec<Vec<(u16, f32)>> {
    let mut weights: Vec<Vec<(u16, f32)>> = (0..body.tets().positions().len())
        .map(|node| {
            let mut sum: Vec<(u16, f32)> = Vec::new();
            for (vertex, share) in on_skin.of(node) {
                for (slot, weight) in character.weights().of(vertex as usize) {
                    match sum.iter_mut().find(|e| e.0 == slot) {
                        Some(entry) => entry.1 += share * weight,
                        None => sum.push((slot, share * weight)),
                    }
                }
            }
            sum.retain(|e| e.1 > 0.0);
            body::prune(&mut sum, INFLUENCES);
            sum
        })
        .collect();
    body::spread(body, &body::surface_nodes(body), &mut weights, SPREAD, INFLUENCES);
    weights
}

/// The nearest bone, among those that have a say: an arm that hangs near the hip is not bound to the thigh.
fn bound(character: &Character, bones_of_joint: &[Vec<Bone>], place: DVec3, weights: &[(u16, f32)]) -> Bound {
    let lead = weights.first().map_or(0.0, |w| w.1);
    let mut best: Option<(f64, Bound)> = None;
    for &(slot, _) in weights.iter().filter(|w| w.1 >= 0.5 * lead) {
        let joint = character.slots()[slot as usize].joint as usize;
        for bone in &bones_of_joint[joint] {
            let way = bone.end - bone.start;
            let square = way.length_squared();
            let along =
                if square > 0.0 { ((place - bone.start).dot(way) / square).clamp(0.0, 1.0) } else { 0.0 };
            let point = bone.start + way * along;
            let distance = point.distance(place);
            if best.as_ref().is_none_or(|b| distance < b.0) {
                best = Some((distance, Bound { slot, point: point.as_vec3(), distance: distance as f32 }));
            }
        }
    }
    let lead_slot = weights.first().map_or(0, |w| w.0);
    best.map_or(Bound { slot: lead_slot, point: place.as_vec3(), distance: 0.0 }, |b| b.1)
}

/// Which turning pairs of slots free which nodes.
fn freed_by(
    character: &Character,
    body: &Body,
    bones_of_joint: &[Vec<Bone>],
    weights: &[Vec<(u16, f32)>],
    pairs: &mut Vec<[u16; 2]>,
    joint_radii: &mut [f64],
) -> Vec<Vec<(u16, f32)>> {
    let joints = character.skeleton().joints();
    let nodes = body.tets().positions();
    let on_surface = body::surface_nodes(body);
    let lead_joint: Vec<u32> = weights
        .iter()
        .map(|w| w.first().map_or(u32::MAX, |w| character.slots()[w.0 as usize].joint))
        .collect();
    let mut lists: Vec<Vec<(u16, f32)>> = vec![Vec::new(); nodes.len()];
    let mut index_of = |pair: [u16; 2]| -> Option<u16> {
        let at = pairs.iter().position(|&p| p == pair).unwrap_or_else(|| {
            pairs.push(pair);
            pairs.len() - 1
        });
        u16::try_from(at).ok()
    };
    let mut free = |node: usize, pair: [u16; 2], share: f32| {
        let pair = [pair[0].min(pair[1]), pair[0].max(pair[1])];
        if share > 0.0
            && let Some(pair) = index_of(pair)
        {
            match lists[node].iter_mut().find(|e| e.0 == pair) {
                Some(entry) => entry.1 = entry.1.max(share),
                None => lists[node].push((pair, share)),
            }
        }
    };
    // Shared nodes: by whatever they are shared between.
    for (node, weights) in weights.iter().enumerate() {
        for &(slot, weight) in weights.iter().skip(1) {
            free(node, [weights[0].0, slot], (weight / SHARED).min(1.0));
        }
    }
    // Nodes near a joint: by the bones that meet there.
    let slot_of = |joint: u32| character.slots().iter().position(|s| s.joint == joint).map(|s| s as u16);
    for (index, joint) in joints.iter().enumerate() {
        let index = index as u32;
        let Some(parent) = joint.parent.filter(|&p| joint.deforms && joints[p as usize].deforms) else {
            continue;
        };
        let (Some(own), Some(above)) = (slot_of(index), slot_of(parent)) else { continue };
        let center = joint.world_from_rest.translation;
        let meets = |n: usize| lead_joint[n] == index || lead_joint[n] == parent;
        let near = (0..nodes.len()).filter(|&n| meets(n) && on_surface[n]);
        let to_center = |n: usize| nodes[n].as_dvec3().distance(center);
        let Some(nearest) = near.clone().map(to_center).min_by(f64::total_cmp) else { continue };
        let to_bone = |n: usize| {
            let bones = bones_of_joint[index as usize].iter().chain(&bones_of_joint[parent as usize]);
            bones.map(|b| b.distance(nodes[n].as_dvec3())).fold(f64::INFINITY, f64::min)
        };
        let mut radii: Vec<f64> =
            near.filter(|&n| to_center(n) <= FREE_UNTIL * nearest).map(to_bone).collect();
        radii.sort_by(f64::total_cmp);
        let radius = radii[radii.len() / 2].max(nearest);
        joint_radii[index as usize] = radius;
        // A short bone's flesh is held at its far end, or nothing would say how it is turned about the bone.
        let longest = |joint: u32| {
            let lengths = bones_of_joint[joint as usize].iter().map(|b| b.start.distance(b.end));
            lengths.fold(0.0, f64::max)
        };
        let radius_of = [index, parent].map(|joint| radius.min(longest(joint) / FREE_UNTIL));
        for node in (0..nodes.len()).filter(|&n| meets(n)) {
            let radius = radius_of[usize::from(lead_joint[node] == parent)];
            let at = (FREE_UNTIL - to_center(node) / radius) / (FREE_UNTIL - FREE_WITHIN);
            free(node, [own, above], smooth(at) as f32);
        }
    }
    lists
}

/// From 0 to 1 with no corner.
pub(in crate::method) fn smooth(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
