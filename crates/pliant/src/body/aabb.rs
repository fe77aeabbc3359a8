//! A tree of boxes over anything that has a box.

use glam::{DVec3, Vec3};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Items a leaf holds at most. Fewer make a deeper tree, more are tested in vain.
const LEAF: usize = 4;

/// The box of some points: its low and its high corner.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aabb {
    low: Vec3,
    high: Vec3,
}

impl Aabb {
    const EMPTY: Self = Self { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    pub(super) fn of<const N: usize>(points: [Vec3; N]) -> Self {
        points.into_iter().fold(Self::EMPTY, |b, p| Self { low: b.low.min(p), high: b.high.max(p) })
    }

    fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// As much larger on every side, and by rounding.
    pub(super) fn grown(self, by: f64) -> Self {
        let by = by + 1e-6 * f64::from(self.low.abs().max(self.high.abs()).max_element());
        let [low, high] = [self.low, self.high].map(Vec3::as_dvec3);
        Self { low: (low - by).as_vec3(), high: (high + by).as_vec3() }
    }

    fn touches(&self, other: &Self) -> bool {
        other.high.cmpge(self.low).all() && other.low.cmple(self.high).all()
    }

    fn distance_squared(&self, p: DVec3) -> f64 {
        p.distance_squared(p.max(self.low.as_dvec3()).min(self.high.as_dvec3()))
    }
}

/// Boxes within boxes. The same items make the same tree.
#[derive(Debug)]
pub(super) struct Tree {
    /// Depth first: the first child of a branch is the node after it.
    nodes: Vec<Node>,
    items: Vec<u32>,
}

#[derive(Debug)]
struct Node {
    bounds: Aabb,
    /// A leaf's first item, or a branch's second child.
    at: u32,
    /// Items of a leaf; 0 for a branch.
    count: u32,
}

/// An item while the tree is built.
struct Item {
    /// Twice the middle of its box.
    middle: Vec3,
    index: u32,
}

impl Tree {
    /// A tree over items with these boxes.
    pub(super) fn new(boxes: &[Aabb]) -> Self {
        let mut tree =
            Self { nodes: Vec::with_capacity(boxes.len()), items: Vec::with_capacity(boxes.len()) };
        let middles = boxes.iter().zip(0..).map(|(b, index)| Item { middle: b.low + b.high, index });
        if !boxes.is_empty() {
            tree.add(boxes, &mut middles.collect::<Vec<_>>());
        }
        tree
    }

    /// Halves the items along their longest side, so that the tree is at most log2 of them deep.
    fn add(&mut self, boxes: &[Aabb], items: &mut [Item]) -> Aabb {
        let node = self.nodes.len();
        let leaf = items.len() <= LEAF;
        let (at, count) = if leaf { (self.items.len(), items.len()) } else { (0, 0) };
        self.nodes.push(Node { bounds: Aabb::EMPTY, at: at as u32, count: count as u32 });
        let bounds = if leaf {
            self.items.extend(items.iter().map(|item| item.index));
            items.iter().fold(Aabb::EMPTY, |b, item| b.with(boxes[item.index as usize]))
        } else {
            let spread = items.iter().fold(Aabb::EMPTY, |b, item| b.with(Aabb::of([item.middle])));
            let axis = (spread.high - spread.low).max_position();
            let half = items.len() / 2;
            items.select_nth_unstable_by(half, |a, b| {
                a.middle[axis].total_cmp(&b.middle[axis]).then(a.index.cmp(&b.index))
            });
            let (low, high) = items.split_at_mut(half);
            let low = self.add(boxes, low);
            self.nodes[node].at = self.nodes.len() as u32;
            low.with(self.add(boxes, high))
        };
        self.nodes[node].bounds = bounds;
        bounds
    }

    /// Visits all items whose boxes hold the point, and some others, in no particular order.
    pub(super) fn around(&self, p: Vec3, visit: impl FnMut(u32)) {
        self.touching(Aabb::of([p]), visit);
    }

    /// Visits all items whose boxes touch this one, and some others, in no particular order.
    pub(super) fn touching(&self, bounds: Aabb, mut visit: impl FnMut(u32)) {
        // The second children that wait: one a level, and a tree of 2^32 items has 32.
        let (mut waiting, mut depth) = ([0u32; 40], 0);
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            let inside = node.bounds.touches(&bounds);
            if inside && node.count == 0 {
                waiting[depth] = node.at;
                depth += 1;
                at += 1;
                continue;
            }
            if inside {
                self.items[node.at as usize..][..node.count as usize].iter().for_each(|&item| visit(item));
            }
            if depth == 0 {
                return;
            }
            depth -= 1;
            at = waiting[depth] as usize;
        }
    }

    /// Visits items from the nearest on, until `visit` answers false. Of equals the lower index comes first.
    pub(super) fn by_distance(
        &self,
        p: DVec3,
        queue: &mut Queue,
        distance_squared: impl Fn(u32) -> f64,
        mut visit: impl FnMut(u32, f64) -> bool,
    ) {
        queue.0.clear();
        let wait = |node: usize| {
            let bound = self.nodes[node].bounds.distance_squared(p);
            Waiting { distance_squared: bound, is_item: false, index: node as u32 }
        };
        queue.0.extend((!self.nodes.is_empty()).then(|| wait(0)));
        while let Some(Waiting { distance_squared: nearest, is_item, index }) = queue.0.pop() {
            if is_item {
                if !visit(index, nearest) {
                    return;
                }
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.count == 0 {
                queue.0.extend([wait(index as usize + 1), wait(node.at as usize)]);
                continue;
            }
            for &item in &self.items[node.at as usize..][..node.count as usize] {
                queue.0.push(Waiting {
                    distance_squared: distance_squared(item),
                    is_item: true,
                    index: item,
                });
            }
        }
    }
}

/// What a search by distance has still to look at; kept between searches for its memory.
#[derive(Default)]
pub(super) struct Queue(BinaryHeap<Waiting>);

struct Waiting {
    distance_squared: f64,
    is_item: bool,
    index: u32,
}

impl Ord for Waiting {
    /// The nearest is the greatest; boxes go before items at their distance, which may hold its equals.
    fn cmp(&self, other: &Self) -> Ordering {
        let nearer = other.distance_squared.total_cmp(&self.distance_squared);
        nearer.then(other.is_item.cmp(&self.is_item)).then(other.index.cmp(&self.index))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}
