//! One bone's distances: a front that runs from node to node and remembers where it came from in a straight line.
//!
//! Fast marching solves for the front's value alone and takes it as flat within a tet, which is wrong by several
//! percent where tets are as large as the distances, as they are in a finger. Here each node knows the *origin* that
//! it sees: the bone itself, or the node where the way last bent. A straight line on from the origin is exact;
//! whether the next node sees the origin too is told by the face that the line comes through.

use super::super::topology::{self, Lists};
use crate::asset::TetMesh;
use glam::DVec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Least share by which a way must be shorter to be taken. Smaller, and rounding makes work without end.
const SHORTER: f64 = 1e-7;
/// Rounding of the share of a face's corner at a point of the face. A line along a face or an edge must be seen by the
/// tets around it.
const ON_FACE: f64 = 1e-9;
/// How much farther than remembered a way may lead, as a share. Of true distances nothing would be lost at 1: whoever
/// is among the nearest at a point is so all along the way to it. These are a few percent off around corners.
const SLACK: f64 = 1.1;
/// And in longest edges around the node. A straight way is seen by the corners beside it, up to an edge away, where
/// the bone may be an edge farther and the remembered ones an edge nearer. With less, coarse tets bend ways that are
/// straight; more takes time.
const BESIDE: f64 = 2.0;

/// Who touches whom, made once for all bones.
pub(super) struct Graph<'a> {
    pub(super) mesh: &'a TetMesh,
    pub(super) positions: Vec<DVec3>,
    neighbours: Lists,
    tets_of_node: Lists,
    /// Of each node; 0 where it has none.
    longest_edge: Vec<f64>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(mesh: &'a TetMesh) -> Self {
        let positions: Vec<DVec3> = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
        let neighbours = topology::neighbours(mesh);
        let longest = |node: usize| {
            let lengths =
                neighbours.of(node).iter().map(|&n| positions[n as usize].distance(positions[node]));
            lengths.fold(0.0, f64::max)
        };
        let longest_edge = (0..positions.len()).map(longest).collect();
        Self { mesh, positions, neighbours, tets_of_node: topology::tets_of_nodes(mesh), longest_edge }
    }

    /// The length of the longest edge of a node.
    pub(super) fn longest_edge(&self, node: usize) -> f64 {
        self.longest_edge[node]
    }

    pub(super) fn tets_of(&self, node: usize) -> &[u32] {
        self.tets_of_node.of(node)
    }
}

/// Where straight ways start: a piece of a bone, or a point that the way to it bends at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    start: DVec3,
    way: DVec3,
    /// Over the squared length; 0 for a point.
    inverse_square: f64,
    /// How far the origin is from the bone.
    base: f64,
}

impl Origin {
    pub(super) fn segment(start: DVec3, end: DVec3) -> Self {
        let way = end - start;
        let inverse = 1.0 / way.length_squared();
        Self { start, way, inverse_square: if inverse.is_finite() { inverse } else { 0.0 }, base: 0.0 }
    }

    pub(super) fn point(at: DVec3, base: f64) -> Self {
        Self { start: at, way: DVec3::ZERO, inverse_square: 0.0, base }
    }

    pub(super) fn closest(&self, p: DVec3) -> DVec3 {
        let along = (p - self.start).dot(self.way) * self.inverse_square;
        self.start + self.way * along.clamp(0.0, 1.0)
    }

    /// Distance of a point that sees the origin.
    pub(super) fn distance(&self, p: DVec3) -> f64 {
        self.base + p.distance(self.closest(p))
    }
}

/// What a node knows of the bone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Label {
    pub(super) distance: f64,
    /// The origin that it sees, in [`Field::origins`].
    pub(super) origin: u32,
}

/// The distances of one bone.
pub(super) struct Field {
    /// Infinite where the bone was not followed to.
    pub(super) labels: Vec<Label>,
    pub(super) origins: Vec<Origin>,
}

impl Field {
    pub(super) fn new(nodes: usize) -> Self {
        Self { labels: vec![Label { distance: f64::INFINITY, origin: 0 }; nodes], origins: Vec::new() }
    }

    /// Lets a node see an origin, if that makes it nearer.
    pub(super) fn seed(&mut self, node: u32, position: DVec3, origin: Origin) {
        let distance = origin.distance(position);
        if distance < self.labels[node as usize].distance {
            self.labels[node as usize] = Label { distance, origin: self.origins.len() as u32 };
            self.origins.push(origin);
        }
    }

    /// Runs from the seeds until nothing gets nearer. Ways that lead much
    /// farther than `reach` of a node are not followed.
    pub(super) fn march(&mut self, graph: &Graph, reach: impl Fn(usize) -> f32) {
        // Distances are not negative, so their bits are in their order; of equals the lower node goes first.
        let entry = |distance: f64, node: u32| Reverse((distance.to_bits(), node));
        let mut front = BinaryHeap::new();
        let known = self.labels.iter().zip(0..).filter(|(label, _)| label.distance.is_finite());
        front.extend(known.map(|(label, node)| entry(label.distance, node)));
        while let Some(Reverse((bits, node))) = front.pop() {
            if bits != self.labels[node as usize].distance.to_bits() {
                continue;
            }
            self.look_back(graph, node);
            let here = graph.positions[node as usize];
            let Label { distance, origin: seen } = self.labels[node as usize];
            let origin = self.origins[seen as usize];
            let mut bend = None;
            for &next in graph.neighbours.of(node as usize) {
                let (to, old) = (graph.positions[next as usize], self.labels[next as usize].distance);
                let far =
                    f64::from(reach(next as usize)) * SLACK + BESIDE * graph.longest_edge(next as usize);
                let enough = (old * (1.0 - SHORTER)).min(far);
                let straight = origin.distance(to);
                if straight >= enough {
                    continue;
                }
                let new = if self.sees(graph, next, node, &origin) {
                    Label { distance: straight, origin: seen }
                } else {
                    let bent = distance + to.distance(here);
                    if bent >= enough {
                        continue;
                    }
                    let origin = *bend.get_or_insert_with(|| {
                        self.origins.push(Origin::point(here, distance));
                        self.origins.len() as u32 - 1
                    });
                    Label { distance: bent, origin }
                };
                self.labels[next as usize] = new;
                front.push(entry(new.distance, next));
            }
        }
    }

    /// A node whose turn it is may see more than when it was reached: its neighbours have been reached since.
    fn look_back(&mut self, graph: &Graph, node: u32) {
        let here = graph.positions[node as usize];
        for &other in graph.neighbours.of(node as usize) {
            let (label, own) = (self.labels[other as usize], self.labels[node as usize]);
            if label.origin == own.origin || !label.distance.is_finite() {
                continue;
            }
            let origin = self.origins[label.origin as usize];
            let distance = origin.distance(here);
            if distance < own.distance * (1.0 - SHORTER) && self.sees(graph, node, other, &origin) {
                self.labels[node as usize] = Label { distance, origin: label.origin };
            }
        }
    }

    /// Whether the straight line from a node to an origin leaves its tets by a face with the corner `through`, all of
    /// whose corners beside the line are as near as the origin makes them.
    fn sees(&self, graph: &Graph, node: u32, through: u32, origin: &Origin) -> bool {
        let here = graph.positions[node as usize];
        let line = origin.closest(here) - here;
        graph.tets_of(through as usize).iter().any(|&tet| {
            let corners = graph.mesh.tets()[tet as usize];
            let Some(own) = corners.iter().position(|&c| c == node) else { return false };
            let face = topology::FACES[own].map(|c| corners[c]);
            let [a, b, c] = face.map(|n| graph.positions[n as usize] - here);
            let opposite = [b.cross(c), c.cross(a), a.cross(b)];
            let inverse = 1.0 / a.dot(opposite[0]);
            let shares = opposite.map(|o| line.dot(o) * inverse);
            let sum = shares[0] + shares[1] + shares[2];
            // An origin short of the face is another bone's piece in a fold of the body over itself, or a seed's.
            let through_face = sum >= 1.0 - ON_FACE && shares.iter().all(|&s| s >= -ON_FACE * sum);
            through_face
                && face.iter().zip(shares).filter(|(_, share)| *share > ON_FACE * sum).all(|(&n, _)| {
                    let straight = origin.distance(graph.positions[n as usize]);
                    self.labels[n as usize].distance <= straight * (1.0 + 2.0 * SHORTER)
                })
        })
    }
}
