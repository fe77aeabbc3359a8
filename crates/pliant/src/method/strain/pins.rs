//! Rigging without weights: which nodes a bone takes along, and which are left to the flesh.
//!
//! A tet that the bones of one joint pass through is pinned to that joint, `v' = M_b B_b^-1 v0`, and follows its twist as
//! `twist.rs` says. Near joints nodes are released, those that two bones would claim too: flesh there must have room to
//! bend.

use crate::asset::{Bone, Character, TetMesh};
use crate::body::topology::NONE;
use crate::method::flesh::{Flesh, NodeRig, smooth};
use glam::DVec3;

/// Radii from a joint within which nodes are released: pinned nearer, a bend of 150 degrees turns tets inside out.
const RELEASE: f64 = 2.0;
/// But at most this share of the bone: the middle of a short bone keeps hold, or nothing would say where it is.
const MOST_OF_BONE: f64 = 0.45;
/// Share of a node's largest weight from which on a joint has a say there.
const OWN: f32 = 0.5;
/// How far from a tet, over the body's cells, a bone may be and still pass through it: bones lie on faces and edges.
const TOUCH: f64 = 1e-6;
/// Bones whose joints release more than all of them are short: feet, collar bones, the arms of a stout figure. Those a
/// little longer than that are so in part.
const SHORT_UNTIL: f64 = 1.15;
/// Weight from which on flesh counts as a bone's own, and is held by it as if nothing bent nearby.
const OWNED: f64 = 0.75;
/// Names in a warning.
const NAMED: usize = 5;

/// What holds a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pin {
    /// The flesh around it.
    Free,
    /// The bones of a slot.
    Bone(u16),
    /// The bones of a slot as long as the joint nearby is not bent, else the flesh.
    Joint(u16),
    /// The skin's weights: a node of a piece that no bone passes through.
    Skinned,
}

/// The pins of a body's nodes.
pub(super) fn pins(flesh: &Flesh<'_>, warnings: &mut Vec<String>) -> Vec<Pin> {
    let Flesh { character, body, rig, .. } = flesh;
    let mesh = body.tets();
    let leads = leading_nodes(character, rig, mesh.positions().len());
    let bones = bones(character, mesh, &leads);
    let crossed = claimed(mesh, &claimed_tets(flesh, &bones));
    let mut claims = crossed.clone();
    release(character, rig, mesh, &bones, &mut claims);
    part(flesh, &mut claims);
    hold_every_bone(flesh, &bones, &leads, &mut claims, warnings);
    let slot = |node, joint| slot(character, rig, node, joint);
    let pin = |(node, (&firm, &crossed)): (usize, (&u32, &u32))| match (firm, crossed) {
        (NONE, NONE) => Pin::Free,
        (NONE, joint) => Pin::Joint(slot(node, joint)),
        (joint, _) => Pin::Bone(slot(node, joint)),
    };
    let mut pins: Vec<Pin> = claims.iter().zip(&crossed).enumerate().map(pin).collect();
    skin_loose_pieces(flesh, &mut pins, warnings);
    pins
}

/// How firmly short bones hold flesh of their own, 0 to 1, whatever the joints nearby do. On a long bone what a bend has
/// set free finds its place between what both bones pin; a short one pins next to nothing, and a heel would stay with the
/// shin while the toes turn.
pub(super) fn firmness(flesh: &Flesh<'_>) -> Vec<f32> {
    let Flesh { character, body, rig, .. } = flesh;
    let leads = leading_nodes(character, rig, body.tets().positions().len());
    let mut shortness = vec![1.0f64; character.skeleton().len()];
    for bone in bones(character, body.tets(), &leads) {
        let end = bone.end_joint.map_or(0.0, |end| rig.radii[end as usize]);
        let released = RELEASE * (rig.radii[bone.joint as usize] + end);
        let length = bone.start.distance(bone.end) / released.max(f64::MIN_POSITIVE);
        let short = smooth((SHORT_UNTIL - length) / (SHORT_UNTIL - 1.0));
        let of_joint = &mut shortness[bone.joint as usize];
        *of_joint = of_joint.min(short);
    }
    let mut firmness = vec![0.0; body.tets().positions().len()];
    for (joint, own) in leads.iter().enumerate() {
        for &node in own {
            let of_joint = |w: &&(u16, f32)| character.slots()[w.0 as usize].joint as usize == joint;
            let weight: f32 = rig.weights.of(node as usize).iter().filter(of_joint).map(|w| w.1).sum();
            let own = smooth((f64::from(weight) - OWNED) / (1.0 - OWNED));
            firmness[node as usize] = (shortness[joint] * own) as f32;
        }
    }
    firmness
}

/// The nodes on which each joint has the largest weight. A joint without any moves no flesh: helpers, props.
fn leading_nodes(character: &Character, rig: &NodeRig, nodes: usize) -> Vec<Vec<u32>> {
    let mut leads = vec![Vec::new(); character.skeleton().len()];
    for node in 0..nodes {
        if let Some(&(slot, _)) = rig.weights.of(node).first() {
            leads[character.slots()[slot as usize].joint as usize].push(node as u32);
        }
    }
    leads
}

/// The bones that move flesh. Of a leaf's bone files do not say where it ends: into the middle of its flesh, or a head
/// would hang on its neck alone.
fn bones(character: &Character, mesh: &TetMesh, leads: &[Vec<u32>]) -> Vec<Bone> {
    let joints = character.skeleton().joints();
    let mut bones = character.skeleton().bones();
    bones.retain(|b| !leads[b.joint as usize].is_empty());
    for bone in
        bones.iter_mut().filter(|b| b.end_joint.is_none() && joints[b.joint as usize].tails.is_empty())
    {
        let own = &leads[bone.joint as usize];
        let sum: DVec3 = own.iter().map(|&n| mesh.positions()[n as usize].as_dvec3()).sum();
        bone.end = sum / own.len() as f64;
    }
    bones
}

/// The slot of a joint for a node: files may bind a joint in several skins.
fn slot(character: &Character, rig: &NodeRig, node: usize, joint: u32) -> u16 {
    let own = rig.weights.of(node).iter().map(|w| w.0);
    let is_joint = |slot: &u16| character.slots()[*slot as usize].joint == joint;
    let first = || character.slots().iter().position(|s| s.joint == joint).unwrap_or(0) as u16;
    own.into_iter().find(is_joint).unwrap_or_else(first)
}

/// Two joints, or more, pass through.
const SEVERAL: u32 = NONE - 1;

/// For each tet the joint whose bones pass through it, [`NONE`] or [`SEVERAL`]. Bones pass through flesh that is none
/// of theirs, such as those from a root to the handles of its feet: only such that the skin's weights know there count.
fn claimed_tets(flesh: &Flesh<'_>, bones: &[Bone]) -> Vec<u32> {
    let (mesh, slots) = (flesh.body.tets(), flesh.character.slots());
    let touch = TOUCH * flesh.body.cell();
    let owns = |node: u32, joint: u32| {
        let weights = flesh.rig.weights.of(node as usize);
        let most = weights.first().map_or(0.0, |w| w.1);
        weights.iter().any(|w| w.1 >= OWN * most && slots[w.0 as usize].joint == joint)
    };
    crate::parallel::map(mesh.tets().len(), |tet| {
        let corners = mesh.corners(tet);
        let low = corners.iter().fold(DVec3::INFINITY, |l, c| l.min(*c)) - touch;
        let high = corners.iter().fold(DVec3::NEG_INFINITY, |h, c| h.max(*c)) + touch;
        let mut claim = NONE;
        for bone in bones {
            let near =
                bone.start.min(bone.end).cmple(high).all() && bone.start.max(bone.end).cmpge(low).all();
            if near
                && claim != bone.joint
                && passes(bone, &corners, touch)
                && mesh.tets()[tet].iter().any(|&n| owns(n, bone.joint))
            {
                if claim != NONE {
                    return SEVERAL;
                }
                claim = bone.joint;
            }
        }
        claim
    })
}

/// Whether a bone passes through a tet: what four planes leave of it.
fn passes(bone: &Bone, corners: &[DVec3; 4], touch: f64) -> bool {
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for [a, b, c, opposite] in [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]] {
        let normal = (corners[b] - corners[a]).cross(corners[c] - corners[a]).normalize_or_zero();
        let inwards = if normal.dot(corners[opposite] - corners[a]) < 0.0 { -normal } else { normal };
        let depth = |p: DVec3| (p - corners[a]).dot(inwards) + touch;
        let (start, end) = (depth(bone.start), depth(bone.end));
        match (start >= 0.0, end >= 0.0) {
            (false, false) => return false,
            (true, true) => {}
            (false, true) => from = from.max(start / (start - end)),
            (true, false) => to = to.min(start / (start - end)),
        }
    }
    from <= to
}

/// For each node the joint that claims it, or [`NONE`]: none where two do.
fn claimed(mesh: &TetMesh, of_tet: &[u32]) -> Vec<u32> {
    let mut claims = vec![NONE; mesh.positions().len()];
    for (tet, &joint) in mesh.tets().iter().zip(of_tet).filter(|(_, j)| **j < SEVERAL) {
        for &node in tet {
            let claim = &mut claims[node as usize];
            *claim = if *claim == NONE || *claim == joint { joint } else { SEVERAL };
        }
    }
    claims.iter_mut().filter(|c| **c == SEVERAL).for_each(|c| *c = NONE);
    claims
}

/// Releases nodes near joints that bend.
fn release(character: &Character, rig: &NodeRig, mesh: &TetMesh, bones: &[Bone], claims: &mut [u32]) {
    let joints = character.skeleton().joints();
    let length = |of: &dyn Fn(&Bone) -> bool| {
        bones.iter().filter(|b| of(b)).map(|b| b.start.distance(b.end)).fold(0.0, f64::max)
    };
    for (index, joint) in joints.iter().enumerate().filter(|(i, _)| rig.radii[*i] > 0.0) {
        let (index, parent) = (index as u32, joint.parent.unwrap_or(NONE));
        let reach = RELEASE * rig.radii[index as usize];
        let below = reach.min(MOST_OF_BONE * length(&|b| b.joint == index));
        let above = reach.min(MOST_OF_BONE * length(&|b| b.joint == parent && b.end_joint == Some(index)));
        let center = joint.world_from_rest.translation;
        for (claim, place) in claims.iter_mut().zip(mesh.positions()) {
            let within = match *claim {
                c if c == index => below,
                c if c == parent => above,
                _ => continue,
            };
            if place.as_dvec3().distance(center) < within {
                *claim = NONE;
            }
        }
    }
}

/// Releases nodes next to nodes that another joint claims: between them tets would have no room to bend.
fn part(flesh: &Flesh<'_>, claims: &mut [u32]) {
    let is_between = |node: usize| {
        let others = flesh.neighbours.of(node).iter().map(|&n| claims[n as usize]);
        claims[node] != NONE && others.into_iter().any(|c| c != NONE && c != claims[node])
    };
    let between: Vec<usize> = (0..claims.len()).filter(|&n| is_between(n)).collect();
    between.iter().for_each(|&n| claims[n] = NONE);
}

/// Pins the nearest tet of its own flesh to each bone that would pin nothing.
fn hold_every_bone(
    flesh: &Flesh<'_>,
    bones: &[Bone],
    leads: &[Vec<u32>],
    claims: &mut [u32],
    warnings: &mut Vec<String>,
) {
    let (mesh, neighbours) = (flesh.body.tets(), &flesh.neighbours);
    let joints = flesh.character.skeleton().joints();
    let mut holds = vec![false; joints.len()];
    claims.iter().filter(|c| **c != NONE).for_each(|&c| holds[c as usize] = true);
    let (mut thin, mut loose): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for joint in 0..joints.len() as u32 {
        let own: Vec<&Bone> = bones.iter().filter(|b| b.joint == joint).collect();
        if own.is_empty() || holds[joint as usize] {
            continue;
        }
        let mut is_own = vec![false; claims.len()];
        leads[joint as usize].iter().for_each(|&n| is_own[n as usize] = true);
        let distance = |tet: &[u32; 4]| {
            let middle = tet.iter().map(|&n| mesh.positions()[n as usize].as_dvec3()).sum::<DVec3>() / 4.0;
            own.iter().map(|b| middle.distance((b.start + b.end) / 2.0)).fold(f64::INFINITY, f64::min)
        };
        let is_free = |node: u32| {
            let around = neighbours.of(node as usize).iter();
            claims[node as usize] == NONE && around.into_iter().all(|&n| claims[n as usize] == NONE)
        };
        let free =
            |tet: &&[u32; 4]| tet.iter().any(|&n| is_own[n as usize]) && tet.iter().all(|&n| is_free(n));
        let nearest = mesh.tets().iter().filter(free).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let name = joints[joint as usize].name.as_str();
        match nearest.copied() {
            Some(tet) => {
                tet.iter().for_each(|&n| claims[n as usize] = joint);
                thin.push(name);
            }
            None => loose.push(name),
        }
    }
    if !thin.is_empty() {
        let those = listed(&thin);
        warnings.push(format!(
            "{those}: too thin or too short to pin flesh of its own; the nearest tet is pinned"
        ));
    }
    if !loose.is_empty() {
        warnings.push(format!("{}: no flesh is left to pin; a finer body may have some", listed(&loose)));
    }
}

/// The first few names.
fn listed(names: &[&str]) -> String {
    let first = names[..names.len().min(NAMED)].join(", ");
    let more = names.len().saturating_sub(NAMED);
    if more > 0 { format!("{first} and {more} more bones") } else { first }
}

/// Pieces that no bone passes through (clothes, hair) go by the skin's weights: nothing else would hold them.
fn skin_loose_pieces(flesh: &Flesh<'_>, pins: &mut [Pin], warnings: &mut Vec<String>) {
    let mut piece = vec![NONE; pins.len()];
    let (mut stack, mut loose) = (Vec::new(), 0usize);
    for seed in 0..pins.len() {
        if piece[seed] != NONE {
            continue;
        }
        let (mut nodes, mut held) = (Vec::new(), false);
        piece[seed] = seed as u32;
        stack.push(seed as u32);
        while let Some(node) = stack.pop() {
            nodes.push(node);
            held |= matches!(pins[node as usize], Pin::Bone(_));
            for &next in flesh.neighbours.of(node as usize) {
                if piece[next as usize] == NONE {
                    piece[next as usize] = seed as u32;
                    stack.push(next);
                }
            }
        }
        if !held {
            nodes.iter().for_each(|&n| pins[n as usize] = Pin::Skinned);
            loose += usize::from(nodes.len() > 1);
        }
    }
    if loose > 0 {
        let pieces =
            if loose == 1 { "1 piece of flesh has".into() } else { format!("{loose} pieces of flesh have") };
        warnings.push(format!("{pieces} no bone inside and move by the skin's weights"));
    }
}
