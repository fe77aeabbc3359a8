//! Where the nodes of a body are nearest to its skin: how what is painted on the skin reaches the flesh under it.

use super::bvh::{Bvh, Nearest};
use super::{Body, topology};
use crate::parallel;
use glam::{DVec3, Vec3};
use std::cell::OnceCell;

/// A vertex this near to a node, in cells, is in the same flesh only if its tet is at most two edges away: else a slit is
/// between them.
const NEAR: f32 = 1.5;
/// How far from a node skin of its own flesh is looked for, in cells, before any will do.
const FAR: f64 = 4.0;

/// For each node of a body the nearest place on the skin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OnSkin {
    corners: Vec<[u32; 3]>,
    weights: Vec<[f32; 3]>,
}

impl OnSkin {
    /// Finds the places, each on the skin of the node's own part, and on its own side of slits that are narrower than a
    /// cell: a lip's flesh is not to hang on the other lip. Shells without flesh do not count, unless there are no others.
    pub(crate) fn new(body: &Body, positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let fleshy = body.fleshy(triangles);
        let points: Vec<DVec3> = positions.iter().map(|p| p.as_dvec3()).collect();
        let parts: Vec<(Bvh, Vec<[u32; 3]>)> = (0..body.part_count())
            .map(|part| {
                let is_own = |t: &[u32; 3]| body.part_of_vertex(t[0]) == part;
                let own: Vec<[u32; 3]> = fleshy.iter().copied().filter(is_own).collect();
                (Bvh::new(&points, &own), own)
            })
            .collect();
        let nodes = body.tets().positions();
        let neighbours = topology::neighbours(body.tets());
        let found = parallel::map(nodes.len(), |node| {
            let (bvh, fleshy) = &parts[body.part_of_node(node) as usize];
            let around = OnceCell::new();
            let is_beyond = |triangle: u32| {
                let mut near = fleshy[triangle as usize]
                    .into_iter()
                    .filter(|&v| nodes[node].distance(positions[v as usize]) < NEAR * body.cell() as f32)
                    .peekable();
                let around = || around.get_or_init(|| two_edges_around(&neighbours, node));
                let is_apart = |v: u32| {
                    let tet = body.tets().tets()[body.embedding().tets()[v as usize] as usize];
                    !tet.iter().any(|n| around().binary_search(n).is_ok())
                };
                near.peek().is_some() && near.all(is_apart)
            };
            let (mut reach, mut best) = (body.cell(), None::<Nearest>);
            // Doubling reaches any skin soon; what cannot be reached in this many doublings is not finite.
            for _ in 0..64 {
                bvh.near(nodes[node].as_dvec3(), reach, |near| {
                    let nearer = |b: Nearest| {
                        near.distance < b.distance
                            || (near.distance == b.distance && near.triangle < b.triangle)
                    };
                    if best.is_none_or(nearer) && (reach > FAR * body.cell() || !is_beyond(near.triangle)) {
                        best = Some(near);
                    }
                });
                if best.is_some() {
                    break;
                }
                reach *= 2.0;
            }
            let Some(best) = best else { return ([0; 3], [1.0, 0.0, 0.0]) };
            (fleshy[best.triangle as usize], best.weights.map(|w| w as f32))
        });
        let (corners, weights) = found.into_iter().unzip();
        Self { corners, weights }
    }

    /// The corners of the nearest triangle and their weights, which sum to one.
    pub(crate) fn of(&self, node: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.corners[node].into_iter().zip(self.weights[node])
    }

    /// A number of the skin's vertices at a node.
    pub(crate) fn value(&self, node: usize, values: &[f32]) -> f32 {
        self.of(node).map(|(vertex, weight)| weight * values[vertex as usize]).sum()
    }
}

/// A node and those at most two edges away, in order.
fn two_edges_around(neighbours: &topology::Lists, node: usize) -> Vec<u32> {
    let next = neighbours.of(node);
    let mut around: Vec<u32> = next.iter().flat_map(|&n| neighbours.of(n as usize)).copied().collect();
    around.extend(next);
    around.push(node as u32);
    around.sort_unstable();
    around
}

/// Which nodes lie on the body's surface.
pub(crate) fn surface_nodes(body: &Body) -> Vec<bool> {
    let mut on = vec![false; body.tets().positions().len()];
    body.surface().iter().flat_map(|(corners, _)| corners).for_each(|&n| on[n as usize] = true);
    on
}

/// Spreads sparse weights into the inside: nodes marked `fixed` keep theirs, the others become the mean of their
/// neighbours', `passes` times. Kept are the `keep` largest; they sum to one.
pub(crate) fn spread(
    body: &Body,
    fixed: &[bool],
    weights: &mut [Vec<(u16, f32)>],
    passes: usize,
    keep: usize,
) {
    let neighbours = topology::neighbours(body.tets());
    for _ in 0..passes {
        let next = parallel::map(weights.len(), |node| {
            if fixed[node] {
                return weights[node].clone();
            }
            let own = std::iter::once(node as u32).chain(neighbours.of(node).iter().copied());
            let mut sum: Vec<(u16, f32)> = own.flat_map(|n| weights[n as usize].iter().copied()).collect();
            sum.sort_by_key(|e| e.0);
            sum.dedup_by(|b, a| {
                let same = a.0 == b.0;
                if same {
                    a.1 += b.1;
                }
                same
            });
            prune(&mut sum, keep);
            sum
        });
        weights.iter_mut().zip(next).for_each(|(w, n)| *w = n);
    }
}

/// Keeps the `keep` largest weights, largest first, of equals the lower slot, and makes them sum to one.
pub(crate) fn prune(weights: &mut Vec<(u16, f32)>, keep: usize) {
    weights.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    weights.truncate(keep);
    let sum: f32 = weights.iter().map(|w| w.1).sum();
    if sum > 0.0 {
        weights.iter_mut().for_each(|w| w.1 /= sum);
    }
}
