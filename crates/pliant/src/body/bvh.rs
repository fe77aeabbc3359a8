//! A tree of boxes over triangles: what a segment crosses, what is nearest, what is near.

use crate::parallel;
use glam::DVec3;
use std::cell::Cell;

/// Triangles in a leaf; fewer makes the tree deeper, more makes every visit dearer.
const LEAF: usize = 4;

/// Triangles under a tree of boxes.
#[derive(Debug, Clone)]
pub(crate) struct Bvh {
    nodes: Vec<Node>,
    /// Corners of the triangles in the order of the leaves.
    triangles: Vec<Triangle>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    low: DVec3,
    high: DVec3,
    /// A leaf's first triangle; of an inner node the right child (the left one follows it).
    first: u32,
    /// Triangles of a leaf; 0 for an inner node.
    count: u32,
}

#[derive(Debug, Clone, Copy)]
struct Triangle {
    corners: [DVec3; 3],
    /// As long as twice the area.
    normal: DVec3,
    points: [u32; 3],
    id: u32,
}

/// Where a segment crosses a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Crossing {
    /// Share of the segment, 0 at its start.
    pub(crate) at: f64,
    /// Change of the winding number on the way: -1 out through the front, +1 in.
    pub(crate) step: i32,
    /// The triangle.
    pub(crate) triangle: u32,
}

/// The nearest place on a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nearest {
    pub(crate) triangle: u32,
    pub(crate) distance: f64,
    pub(crate) weights: [f64; 3],
}

impl Bvh {
    /// Builds the tree. Points of a triangle are told apart by their indices.
    pub(crate) fn new(points: &[DVec3], triangles: &[[u32; 3]]) -> Self {
        let mut items: Vec<Triangle> = triangles
            .iter()
            .enumerate()
            .map(|(id, t)| {
                let corners @ [a, b, c] = t.map(|p| points[p as usize]);
                Triangle { corners, normal: (b - a).cross(c - a), points: *t, id: id as u32 }
            })
            .collect();
        let mut nodes = Vec::with_capacity(items.len() / 2 + 1);
        if !items.is_empty() {
            build(&mut items, 0, &mut nodes);
        }
        Self { nodes, triangles: items }
    }

    /// All crossings of a segment, in order along it. Neighbouring triangles agree on who has the crossing at their
    /// shared edge, so a closed surface is crossed as often outwards as inwards.
    pub(crate) fn crossings(&self, start: DVec3, end: DVec3, out: &mut Vec<Crossing>) {
        out.clear();
        let way = end - start;
        let inverse = way.recip();
        self.visit(
            |node| {
                // Slab test; a way along an axis gives infinities, and NaN (0 * inf) compares as a miss nowhere.
                let a = (node.low - start) * inverse;
                let b = (node.high - start) * inverse;
                let mut from = 0.0f64;
                let mut to = 1.0f64;
                for axis in 0..3 {
                    if way[axis] == 0.0 {
                        if start[axis] < node.low[axis] || start[axis] > node.high[axis] {
                            return false;
                        }
                    } else {
                        from = from.max(a[axis].min(b[axis]));
                        to = to.min(a[axis].max(b[axis]));
                    }
                }
                from <= to * (1.0 + 1e-12) + 1e-12
            },
            |triangle| {
                if let Some(crossing) = cross(start, end, triangle) {
                    out.push(crossing);
                }
            },
        );
        out.sort_by(|p, q| p.at.total_cmp(&q.at).then(p.triangle.cmp(&q.triangle)));
    }

    /// The winding number at a point: how often the surface encloses it.
    pub(crate) fn winding(&self, point: DVec3, scratch: &mut Vec<Crossing>) -> i32 {
        let Some(root) = self.nodes.first() else { return 0 };
        // Out by the nearest side, a little askew so that no edge of a box-like body is met end on.
        let size = (root.high - root.low).max_element();
        let out =
            if point.x - root.low.x < root.high.x - point.x { root.low.x - size } else { root.high.x + size };
        let end = DVec3::new(out, point.y + 0.013 * size, point.z + 0.017 * size);
        self.crossings(point, end, scratch);
        -scratch.iter().map(|c| c.step).sum::<i32>()
    }

    /// Every triangle with a point no farther than `reach`, with that point, in no order worth the name.
    pub(crate) fn near(&self, point: DVec3, reach: f64, mut found: impl FnMut(Nearest)) {
        let squared_reach = reach * reach;
        self.visit(
            |node| node.squared_distance(point) <= squared_reach,
            |triangle| {
                let (weights, place) = nearest_on(point, triangle.corners);
                let squared = place.distance_squared(point);
                if squared <= squared_reach {
                    found(Nearest { triangle: triangle.id, distance: squared.sqrt(), weights });
                }
            },
        );
    }

    /// The distance of the nearest triangle; `bound` where none is nearer.
    pub(crate) fn distance(&self, point: DVec3, bound: f64) -> f64 {
        let nearest = Cell::new(bound * bound);
        self.visit(
            |node| node.squared_distance(point) < nearest.get(),
            |triangle| {
                let squared = nearest_on(point, triangle.corners).1.distance_squared(point);
                nearest.set(squared.min(nearest.get()));
            },
        );
        nearest.get().sqrt()
    }

    fn visit(&self, enters: impl Fn(&Node) -> bool, mut leaf: impl FnMut(&Triangle)) {
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = [0u32; 64];
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let index = stack[depth];
            let node = &self.nodes[index as usize];
            if !enters(node) {
                continue;
            }
            if node.count > 0 {
                self.leaf(node).iter().for_each(&mut leaf);
            } else {
                stack[depth] = node.first;
                stack[depth + 1] = index + 1;
                depth += 2;
            }
        }
    }

    fn leaf(&self, node: &Node) -> &[Triangle] {
        &self.triangles[node.first as usize..(node.first + node.count) as usize]
    }
}

impl Node {
    fn squared_distance(&self, point: DVec3) -> f64 {
        (self.low - point).max(point - self.high).max(DVec3::ZERO).length_squared()
    }
}

/// Splits at the middle triangle along the longest side: never deeper than the logarithm, whatever the mesh.
fn build(items: &mut [Triangle], first: u32, nodes: &mut Vec<Node>) {
    let mut low = DVec3::INFINITY;
    let mut high = DVec3::NEG_INFINITY;
    for triangle in items.iter() {
        for corner in triangle.corners {
            low = low.min(corner);
            high = high.max(corner);
        }
    }
    let at = nodes.len();
    nodes.push(Node { low, high, first, count: items.len() as u32 });
    if items.len() <= LEAF {
        return;
    }
    let middle = |t: &Triangle| t.corners[0] + t.corners[1] + t.corners[2];
    let (mut from, mut to) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for triangle in items.iter() {
        from = from.min(middle(triangle));
        to = to.max(middle(triangle));
    }
    let sides = to - from;
    let axis = if sides.x >= sides.y && sides.x >= sides.z { 0 } else { 1 + usize::from(sides.z > sides.y) };
    let half = items.len() / 2;
    items.select_nth_unstable_by(half, |p, q| {
        middle(p)[axis].total_cmp(&middle(q)[axis]).then(p.id.cmp(&q.id))
    });
    let (left, right) = items.split_at_mut(half);
    build(left, first, nodes);
    nodes[at].first = nodes.len() as u32;
    nodes[at].count = 0;
    build(right, first + half as u32, nodes);
}

/// Six times the signed volume of four points.
fn volume(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> f64 {
    (b - a).cross(c - a).dot(d - a)
}

/// Whether the segment passes a directed edge on its left: computed from the lower point to the higher, so that the
/// two triangles at an edge get opposite answers from the same number.
fn left_of(start: DVec3, end: DVec3, triangle: &Triangle, i: usize, j: usize) -> bool {
    let (p, q) = (triangle.corners[i], triangle.corners[j]);
    if triangle.points[i] < triangle.points[j] {
        volume(start, end, p, q) > 0.0
    } else {
        volume(start, end, q, p) <= 0.0
    }
}

fn cross(start: DVec3, end: DVec3, triangle: &Triangle) -> Option<Crossing> {
    // Most triangles that are met have both ends on one side, which is the cheapest to find out.
    let (above, below) =
        (triangle.normal.dot(start - triangle.corners[0]), triangle.normal.dot(end - triangle.corners[0]));
    if (above >= 0.0) == (below >= 0.0) {
        return None;
    }
    let first = left_of(start, end, triangle, 0, 1);
    if left_of(start, end, triangle, 1, 2) != first || left_of(start, end, triangle, 2, 0) != first {
        return None;
    }
    let at = above / (above - below);
    Some(Crossing { at, step: if below >= 0.0 { -1 } else { 1 }, triangle: triangle.id })
}

/// The nearest place on a triangle, as weights of its corners (Ericson, Real-Time Collision Detection, 5.1.5).
pub(crate) fn nearest_on(point: DVec3, [a, b, c]: [DVec3; 3]) -> ([f64; 3], DVec3) {
    let (ab, ac, ap) = (b - a, c - a, point - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    let weights = 'found: {
        if d1 <= 0.0 && d2 <= 0.0 {
            break 'found [1.0, 0.0, 0.0];
        }
        let bp = point - b;
        let (d3, d4) = (ab.dot(bp), ac.dot(bp));
        if d3 >= 0.0 && d4 <= d3 {
            break 'found [0.0, 1.0, 0.0];
        }
        let vc = d1 * d4 - d3 * d2;
        if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
            let v = d1 / (d1 - d3);
            break 'found [1.0 - v, v, 0.0];
        }
        let cp = point - c;
        let (d5, d6) = (ab.dot(cp), ac.dot(cp));
        if d6 >= 0.0 && d5 <= d6 {
            break 'found [0.0, 0.0, 1.0];
        }
        let vb = d5 * d2 - d1 * d6;
        if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
            let w = d2 / (d2 - d6);
            break 'found [1.0 - w, 0.0, w];
        }
        let va = d3 * d6 - d5 * d4;
        if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
            let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
            break 'found [0.0, 1.0 - w, w];
        }
        let sum = va + vb + vc;
        [va / sum, vb / sum, vc / sum]
    };
    // A triangle of no area divides nothing by nothing: any corner will do.
    let weights = if weights.iter().all(|w| w.is_finite()) { weights } else { [1.0, 0.0, 0.0] };
    (weights, a * weights[0] + b * weights[1] + c * weights[2])
}

/// Calls for each of `count` items with scratch of its own, in order of index, computed in any.
pub(crate) fn map_with_scratch<S: Default, T: Send>(
    count: usize,
    work: impl Fn(usize, &mut S) -> T + Sync + Send,
) -> Vec<T> {
    const CHUNK: usize = 256;
    let chunks = parallel::map(count.div_ceil(CHUNK), |chunk| {
        let mut scratch = S::default();
        let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(count);
        range.map(|i| work(i, &mut scratch)).collect::<Vec<T>>()
    });
    chunks.into_iter().flatten().collect()
}
