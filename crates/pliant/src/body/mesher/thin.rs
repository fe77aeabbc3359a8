//! Parts thinner than a cell are meshed thicker than they are, so that the lattice does not step over them.

use super::super::bvh::{Bvh, Nearest, map_with_scratch, nearest_on};
use super::lattice::Lattice;
use super::solid::Solid;
use super::union::Union;
use glam::{DVec3, IVec3};

/// Thickness, in cells, that every part is brought to. More makes fins and fingers fat (1.12 would leave no gap
/// between nodes); with less they break up, and are held together by [`STEPPED_OVER`] nodes one by one.
const THICKNESS: f64 = 1.0;

/// A part this thick, in cells, has a node inside wherever it is: the lattice has no larger ball between its nodes.
pub(crate) const STEPPED_OVER: f64 = 1.12;

/// How far around a node, in cells, patches of skin are joined into one part: a little more than the nearest node of
/// any place is away (0.56). Farther would join fingers well above the web between them.
const REACH: f64 = 0.7;

/// How thick the solid is under each triangle, infinite from `limit` on.
pub(crate) fn thicknesses(solid: &Solid, bvh: &Bvh, limit: f64) -> Vec<f64> {
    let hair = 1e-6 * (solid.high - solid.low).length();
    map_with_scratch(solid.triangles.len(), |t, crossings: &mut Vec<_>| {
        let t = t as u32;
        let [a, b, c] = solid.corners(t);
        let middle = (a + b + c) / 3.0;
        let normal = solid.normal(t);
        bvh.crossings(middle, middle - normal * limit, crossings);
        let mut winding = 1;
        for crossing in crossings.iter().filter(|c| c.triangle != t) {
            winding += crossing.step;
            if winding <= 0 {
                let thickness = crossing.at * limit;
                // A wall inside another shell is not where the body ends.
                let hidden = bvh.winding(middle + normal * hair, crossings) > 0;
                return if hidden { f64::INFINITY } else { thickness };
            }
        }
        f64::INFINITY
    })
}

/// How far the skin is moved outwards, at each point, for a lattice of `cell`.
pub(crate) struct Offsets {
    at_point: Vec<f64>,
    /// A ball around each triangle, from its middle.
    balls: Vec<(DVec3, f64)>,
}

impl Offsets {
    pub(crate) fn new(solid: &Solid, thicknesses: &[f64], cell: f64) -> Self {
        let wanted = THICKNESS * cell;
        let mut sums = vec![(0.0f64, 0.0f64); solid.points.len()];
        for (t, triangle) in solid.triangles.iter().enumerate() {
            let [a, b, c] = solid.corners(t as u32);
            let area = (b - a).cross(c - a).length();
            let lack = (wanted - thicknesses[t]).max(0.0) / 2.0;
            for &p in triangle {
                sums[p as usize].0 += area * lack;
                sums[p as usize].1 += area;
            }
        }
        let ball = |t: u32| {
            let corners = solid.corners(t);
            let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
            (middle, corners.map(|c| c.distance(middle)).into_iter().fold(0.0, f64::max))
        };
        Self {
            at_point: sums.iter().map(|&(sum, area)| if area > 0.0 { sum / area } else { 0.0 }).collect(),
            balls: (0..solid.triangles.len() as u32).map(ball).collect(),
        }
    }

    /// At a place on a triangle.
    pub(crate) fn at(&self, solid: &Solid, triangle: u32, weights: [f64; 3]) -> f64 {
        let points = solid.triangles[triangle as usize];
        (0..3).map(|k| weights[k] * self.at_point[points[k] as usize]).sum()
    }

    fn largest(&self, triangle: &[u32; 3]) -> f64 {
        triangle.iter().map(|&p| self.at_point[p as usize]).fold(0.0, f64::max)
    }
}

/// A node outside a thin part that stands for it, with the patch of skin that it is near. Two fingers side by side
/// give one node two layers: they overlap in space and are still two.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub(crate) node: IVec3,
    /// In order.
    pub(crate) patch: Vec<u32>,
    /// The place on the patch that is nearest to the node.
    pub(crate) nearest: DVec3,
    /// How far inside the thickened patch the node is; see [`depth`].
    pub(crate) depth: f64,
}

/// The layers of all nodes that thickened skin reaches from outside, and of those that stand in for triangles that
/// the lattice stepped over (see [`stand_ins`]). In order of z, y, x.
pub(crate) fn layers(
    solid: &Solid,
    bvh: &Bvh,
    lattice: &Lattice,
    offsets: &Offsets,
    stand_ins: &[(IVec3, u32)],
) -> Vec<Layer> {
    let mut nodes = reached(solid, lattice, offsets);
    nodes.extend(stand_ins);
    nodes.sort_unstable_by_key(|n| (n.0.z, n.0.y, n.0.x, n.1));
    nodes.dedup();
    let groups: Vec<&[(IVec3, u32)]> = nodes.chunk_by(|a, b| a.0 == b.0).collect();
    let found = map_with_scratch(groups.len(), |k, near: &mut Vec<Nearest>| {
        let node = groups[k][0].0;
        let place = lattice.place(node);
        near.clear();
        bvh.near(place, REACH * lattice.cell, |n| near.push(n));
        near.sort_unstable_by_key(|n| n.triangle);
        let mut layers = Vec::new();
        for patch in patches(solid, near) {
            let needed = groups[k].iter().any(|n| patch.binary_search_by_key(&n.1, |p| p.triangle).is_ok());
            if let Some((nearest, depth)) = nearest_if_outside(solid, offsets, place, &patch, needed) {
                let patch = patch.iter().map(|n| n.triangle).collect();
                layers.push(Layer { node, patch, nearest, depth });
            }
        }
        layers
    });
    found.into_iter().flatten().collect()
}

/// The nodes nearest to the middle of thin parts, each with the skin between it and that middle, for triangles that
/// the lattice stepped over. Nearest nodes of neighbouring places are neighbours in the lattice, so what these stand
/// in for hangs together, however thin.
pub(crate) fn stand_ins(
    solid: &Solid,
    bvh: &Bvh,
    lattice: &Lattice,
    thicknesses: &[f64],
    stepped_over: impl Fn(DVec3, bool) -> bool + Sync + Send,
) -> Vec<(IVec3, u32)> {
    let found = map_with_scratch(solid.triangles.len(), |t, crossings: &mut Vec<_>| {
        let deepest = STEPPED_OVER * lattice.cell;
        let corners = solid.corners(t as u32);
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        let inwards = solid.normal(t as u32) * (thicknesses[t].min(deepest) / -2.0);
        if !stepped_over(middle + inwards, thicknesses[t] < deepest) {
            return Vec::new();
        }
        let at = [middle, corners[0], corners[1], corners[2]].map(|c| middle.lerp(c, 0.5) + inwards);
        let node_at = |place: DVec3| {
            let node = lattice.nearest(place);
            bvh.crossings(lattice.place(node), place, crossings);
            crossings.iter().find(|c| c.step > 0).map(|c| (node, c.triangle))
        };
        at.into_iter().filter_map(node_at).collect()
    });
    found.into_iter().flatten().collect()
}

/// Nodes within the offset of some triangle, on either side. No triangle needs them, so they name none.
fn reached(solid: &Solid, lattice: &Lattice, offsets: &Offsets) -> Vec<(IVec3, u32)> {
    let mut nodes = Vec::new();
    for (t, triangle) in solid.triangles.iter().enumerate() {
        let reach = offsets.largest(triangle);
        if reach <= 0.0 {
            continue;
        }
        let corners = solid.corners(t as u32);
        let low = lattice.coordinates(corners[0].min(corners[1]).min(corners[2]) - reach);
        let high = lattice.coordinates(corners[0].max(corners[1]).max(corners[2]) + reach);
        for odd in 0..2 {
            let first = |c: f64| ((c - f64::from(odd)) / 2.0).ceil() as i32;
            let last = |c: f64| ((c - f64::from(odd)) / 2.0).floor() as i32;
            for z in first(low.z)..=last(high.z) {
                for y in first(low.y)..=last(high.y) {
                    for x in first(low.x)..=last(high.x) {
                        let node = IVec3::new(x, y, z) * 2 + odd;
                        let place = lattice.place(node);
                        let (weights, nearest) = nearest_on(place, corners);
                        if nearest.distance(place) < offsets.at(solid, t as u32, weights) {
                            nodes.push((node, u32::MAX));
                        }
                    }
                }
            }
        }
    }
    nodes
}

/// Triangles grouped by what they share points with, each group in order.
fn patches(solid: &Solid, near: &[Nearest]) -> Vec<Vec<Nearest>> {
    let mut union = Union::new(near.len());
    let mut touches: Vec<(u32, u32)> = Vec::with_capacity(near.len() * 3);
    for (k, n) in near.iter().enumerate() {
        touches.extend(solid.triangles[n.triangle as usize].map(|p| (p, k as u32)));
    }
    touches.sort_unstable();
    touches.windows(2).filter(|w| w[0].0 == w[1].0).for_each(|w| union.join(w[0].1, w[1].1));
    let mut patch_of_root = vec![usize::MAX; near.len()];
    let mut patches: Vec<Vec<Nearest>> = Vec::new();
    for (k, n) in near.iter().enumerate() {
        let patch = &mut patch_of_root[union.root(k as u32) as usize];
        if *patch == usize::MAX {
            *patch = patches.len();
            patches.push(Vec::new());
        }
        patches[*patch].push(*n);
    }
    patches
}

/// The nearest place of a patch that has the node on its outer side, and the node's depth in it when thickened, if the
/// node is needed or comes as near as the patch is moved outwards.
fn nearest_if_outside(
    solid: &Solid,
    offsets: &Offsets,
    place: DVec3,
    patch: &[Nearest],
    needed: bool,
) -> Option<(DVec3, f64)> {
    let best = patch.iter().min_by(|a, b| a.distance.total_cmp(&b.distance))?;
    let offset = offsets.at(solid, best.triangle, best.weights);
    if !needed && best.distance >= offset {
        return None;
    }
    // At an edge or a corner the triangles that share it decide together.
    let same = best.distance * (1.0 + 1e-9);
    let normal: DVec3 = patch.iter().filter(|n| n.distance <= same).map(|n| solid.normal(n.triangle)).sum();
    let corners = solid.corners(best.triangle);
    let nearest: DVec3 = (0..3).map(|k| corners[k] * best.weights[k]).sum();
    ((place - nearest).dot(normal) > 0.0).then_some((nearest, offset - best.distance))
}

/// How far inside the thickened patch a place is (below 0: outside), and the way out of it.
pub(crate) fn depth(solid: &Solid, offsets: &Offsets, place: DVec3, patch: &[u32]) -> (f64, DVec3) {
    // The nearest triangle is no farther than the nearest middle, and none is nearer than its ball: few are left.
    let to_middle = |t: u32| offsets.balls[t as usize].0.distance_squared(place);
    let farthest = patch.iter().map(|&t| to_middle(t)).fold(f64::INFINITY, f64::min).sqrt() * (1.0 + 1e-9);
    let mut best = (f64::INFINITY, 0.0, DVec3::ZERO);
    for &triangle in patch {
        let reach = farthest.min(best.0) + offsets.balls[triangle as usize].1;
        if to_middle(triangle) > reach * reach * (1.0 + 1e-9) {
            continue;
        }
        let (weights, nearest) = nearest_on(place, solid.corners(triangle));
        let distance = nearest.distance(place);
        if distance < best.0 {
            best = (distance, offsets.at(solid, triangle, weights), (place - nearest).normalize_or_zero());
        }
    }
    (best.1 - best.0, best.2)
}
