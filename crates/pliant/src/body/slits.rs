//! Nodes on two sides of a slit: near each other in space, and far through the flesh.

use super::Body;
use super::aabb::{Aabb, Tree};
use super::topology::Lists;
use glam::Vec3;

/// How much farther than straight the way through the flesh is, in cells, from which on a slit is between two nodes, and
/// from which on it is so wholly. Along the edges of a lattice ways are longer by a third of a cell.
const DETOUR: [f32; 2] = [0.5, 1.0];

/// A node that is near another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Near {
    pub(crate) node: u32,
    /// How far it is, in cells.
    pub(crate) distance: f32,
    /// Whether a slit is between the two, 0 to 1.
    pub(crate) across: f32,
}

/// Nodes at slits, and what is nearer to each than `reach` cells, itself among them.
pub(crate) fn slits(body: &Body, neighbours: &Lists, reach: f32) -> Vec<(u32, Vec<Near>)> {
    let places = body.tets().positions();
    let tree = Tree::new(&places.iter().map(|&p| Aabb::of([p])).collect::<Vec<_>>());
    let cell = body.cell() as f32;
    let at_node = |node: usize| {
        let mut near = Vec::new();
        tree.touching(Aabb::of([places[node]]).grown(f64::from(reach * cell)), |other| {
            let distance = places[other as usize].distance(places[node]) / cell;
            if distance < reach {
                near.push(Near { node: other, distance, across: 0.0 });
            }
        });
        near.sort_unstable_by_key(|n| n.node);
        // Mostly all are a few edges away.
        let mut known = neighbours.of(node).to_vec();
        neighbours.of(node).iter().for_each(|&n| known.extend(neighbours.of(n as usize)));
        known.sort_unstable();
        let is_known = |n: &Near| n.node as usize == node || known.binary_search(&n.node).is_ok();
        if near.iter().all(is_known) {
            return None;
        }
        let ways = ways(places, neighbours, node as u32, (reach + DETOUR[1]) * cell);
        for near in near.iter_mut().filter(|n| !is_known(n)) {
            let way = ways.iter().find(|w| w.0 == near.node).map_or(f32::INFINITY, |w| w.1 / cell);
            near.across = ((way - near.distance - DETOUR[0]) / (DETOUR[1] - DETOUR[0])).clamp(0.0, 1.0);
        }
        near.iter().any(|n| n.across > 0.0).then_some((node as u32, near))
    };
    crate::parallel::map(places.len(), at_node).into_iter().flatten().collect()
}

/// The nodes within `limit` of one along edges, and how far they are. They are few enough to look through.
fn ways(places: &[Vec3], neighbours: &Lists, from: u32, limit: f32) -> Vec<(u32, f32)> {
    let mut ways = vec![(from, 0.0f32)];
    let mut settled = 0;
    while settled < ways.len() {
        let next = (settled..ways.len()).min_by(|&a, &b| ways[a].1.total_cmp(&ways[b].1)).unwrap_or(settled);
        ways.swap(settled, next);
        let (node, way) = ways[settled];
        settled += 1;
        for &other in neighbours.of(node as usize) {
            let way = way + places[node as usize].distance(places[other as usize]);
            match ways.iter_mut().find(|w| w.0 == other) {
                Some(known) => known.1 = known.1.min(way),
                None if way < limit => ways.push((other, way)),
                None => {}
            }
        }
    }
    ways
}
