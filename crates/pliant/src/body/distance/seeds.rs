//! Where a bone lies in the tets.
//!
//! Bodies overlap themselves where thin parts that almost touch were thickened: a finger's bone then also lies in tets
//! of the finger beside it. So a bone is followed from tet to tet, from where its parent bone ended.

use super::march::{Field, Graph, Origin};
use crate::asset::Bone;
use crate::parallel;
use crate::rig::weights::BoneDistances;
use glam::DVec3;
use std::collections::BTreeMap;

/// Rounding, as a share of a tet's height or of a bone's length.
const ROUNDING: f64 = 1e-9;
/// Tets of one box: neighbours in number are mostly neighbours in space. 16 to 256 take about the same time.
const BLOCK: usize = 64;

/// Tets at one place that a bone is tried to be followed from. Around an edge there are 6, around a node two dozen; a
/// heap of tets in one place would take minutes.
const STARTS: usize = 32;

/// A piece of a bone within a tet, as shares of the bone's length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hit {
    from: f64,
    to: f64,
    pub(super) tet: u32,
}

/// The tets that each bone passes through, in order along it; nothing for a bone outside.
pub(super) fn paths(graph: &Graph, bones: &BoneDistances) -> Vec<Vec<Hit>> {
    let blocks: Vec<(DVec3, DVec3)> =
        graph.mesh.tets().chunks(BLOCK).map(|b| bounds(graph, b.as_flattened())).collect();
    let bones = bones.bones().iter().map(|(_, bone)| (*bone, bones.knots(bone))).collect::<Vec<_>>();
    let hits = parallel::map(bones.len(), |bone| hits(graph, &blocks, &bones[bone].0));
    // The tet where the bones end that end at a knot. Bones come in order of their start joints, parents first.
    let mut homes: BTreeMap<u32, u32> = BTreeMap::new();
    let mut paths: Vec<Vec<Hit>> = Vec::with_capacity(bones.len());
    for ((_, [start, end]), hits) in bones.iter().zip(hits) {
        let path = follow(graph, hits, start.and_then(|start| homes.get(&start).copied()));
        if let (Some(end), Some(last)) = (end, path.last().filter(|h| h.to >= 1.0 - ROUNDING)) {
            homes.insert(*end, last.tet);
        }
        paths.push(path);
    }
    paths
}

fn bounds(graph: &Graph, nodes: &[u32]) -> (DVec3, DVec3) {
    let points = nodes.iter().map(|&n| graph.positions[n as usize]);
    points.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)))
}

/// All tets that a bone passes through, where it comes to them.
fn hits(graph: &Graph, blocks: &[(DVec3, DVec3)], bone: &Bone) -> Vec<Hit> {
    let (low, high) = (bone.start.min(bone.end), bone.start.max(bone.end));
    let apart = |b: &(DVec3, DVec3)| b.0.cmpgt(high).any() || b.1.cmplt(low).any();
    let mut hits = Vec::new();
    for (block, tets) in blocks.iter().zip(graph.mesh.tets().chunks(BLOCK).enumerate()) {
        if apart(block) {
            continue;
        }
        for (i, tet) in tets.1.iter().enumerate().filter(|(_, tet)| !apart(&bounds(graph, *tet))) {
            let corners = tet.map(|n| graph.positions[n as usize]);
            if let Some([from, to]) = clip(corners, [bone.start, bone.end]) {
                hits.push(Hit { from, to, tet: (tets.0 * BLOCK + i) as u32 });
            }
        }
    }
    hits.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.tet.cmp(&b.tet)));
    hits
}

/// The piece of a way within a tet, as shares of its length.
pub(in crate::body) fn clip(corners: [DVec3; 4], [start, end]: [DVec3; 2]) -> Option<[f64; 2]> {
    let way = end - start;
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for face in super::super::topology::FACES {
        let [a, b, c] = face.map(|i| corners[i]);
        let outwards = (b - a).cross(c - a);
        let opposite = corners[6 - face[0] - face[1] - face[2]];
        let height = outwards.dot(a - opposite);
        // How far inside of this face, as a share of the tet's height: at the start, and more at the end.
        let (inside, more) = (outwards.dot(a - start) / height + ROUNDING, -outwards.dot(way) / height);
        if more == 0.0 {
            if inside < 0.0 {
                return None;
            }
        } else if more > 0.0 {
            from = from.max(-inside / more);
        } else {
            to = to.min(-inside / more);
        }
    }
    (from <= to).then_some([from, to])
}

/// Chooses, of tets that hold the same piece of the bone, the one that goes on from the tet before; at the start the
/// one at `home`, else the one that the bone can be followed from farthest.
fn follow(graph: &Graph, hits: Vec<Hit>, home: Option<u32>) -> Vec<Hit> {
    let mut by_tet = hits.clone();
    by_tet.sort_unstable_by_key(|h| h.tet);
    let mut path: Vec<Hit> = Vec::new();
    let mut covered = -1.0;
    let at_home = home.and_then(|home| of_tet(&by_tet, home).filter(|h| h.from <= ROUNDING));
    if let Some(first) = at_home {
        walk(graph, &by_tet, first, &mut path);
        covered = path.last().map_or(covered, |h| h.to);
    }
    // The bone may leave the body and come back.
    let mut next = 0;
    loop {
        while hits.get(next).is_some_and(|h| h.from <= covered - ROUNDING || h.to <= covered + ROUNDING) {
            next += 1;
        }
        let Some(start) = hits.get(next).map(|h| h.from) else { return path };
        let mut best: Vec<Hit> = Vec::new();
        let reached = |path: &[Hit]| path.last().map_or(-1.0, |h| h.to);
        for &hit in hits[next..].iter().take_while(|h| h.from <= start + ROUNDING).take(STARTS) {
            let mut found = Vec::new();
            walk(graph, &by_tet, hit, &mut found);
            if reached(&found) > reached(&best) + ROUNDING {
                best = found;
            }
        }
        covered = reached(&best);
        path.extend(best);
    }
}

fn of_tet(by_tet: &[Hit], tet: u32) -> Option<Hit> {
    by_tet.binary_search_by_key(&tet, |h| h.tet).ok().map(|at| by_tet[at])
}

/// Follows a bone from one tet on, through tets that share the most corners, until it leaves the body.
fn walk(graph: &Graph, by_tet: &[Hit], first: Hit, path: &mut Vec<Hit>) {
    let mut at = first;
    path.push(at);
    loop {
        let own = graph.mesh.tets()[at.tet as usize];
        let shared =
            |hit: &Hit| graph.mesh.tets()[hit.tet as usize].iter().filter(|n| own.contains(n)).count();
        let around = own.iter().flat_map(|&n| graph.tets_of(n as usize));
        let hits = around.filter_map(|&tet| of_tet(by_tet, tet));
        let onwards = hits.filter(|h| h.from <= at.to + 2.0 * ROUNDING && h.to > at.to + ROUNDING);
        let Some(best) = onwards.min_by_key(|h| (4 - shared(h), h.tet)) else { return };
        at = best;
        path.push(at);
    }
}

/// Seeds a field with a bone that lies in the body: the corners of its tets see the piece within the tet.
pub(super) fn seed_inside(field: &mut Field, graph: &Graph, bone: &Bone, path: &[Hit]) {
    let at = |share: f64| bone.start + (bone.end - bone.start) * share;
    for run in path.chunk_by(|a, b| b.from <= a.to + 2.0 * ROUNDING) {
        let end = run.iter().map(|h| h.to).fold(0.0, f64::max);
        let whole = Origin::segment(at(run[0].from), at(end));
        for hit in run {
            let within = Origin::segment(at(hit.from), at(hit.to));
            for node in graph.mesh.tets()[hit.tet as usize] {
                let position = graph.positions[node as usize];
                let nearest = within.closest(position);
                // The bone may be nearer in another tet, which this corner need not see.
                let sees_all = whole.distance(position) >= nearest.distance(position) * (1.0 - ROUNDING);
                field.seed(node, position, if sees_all { whole } else { Origin::point(nearest, 0.0) });
            }
        }
    }
}

/// The nearest of some nodes to a bone; of equals the first.
pub(super) fn nearest_node(graph: &Graph, bone: &Bone, nodes: &[u32]) -> Option<u32> {
    let all = nodes.iter().map(|&n| (bone.distance(graph.positions[n as usize]), n));
    all.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, node)| node)
}

/// Seeds a field with a bone that lies outside: the nearest node and all around it see it through the air.
pub(super) fn seed_outside(field: &mut Field, graph: &Graph, bone: &Bone, nearest: u32) {
    for &tet in graph.tets_of(nearest as usize) {
        for node in graph.mesh.tets()[tet as usize] {
            field.seed(node, graph.positions[node as usize], Origin::segment(bone.start, bone.end));
        }
    }
}
