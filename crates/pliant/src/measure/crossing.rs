//! Counting triangles that pass through each other: a tree of boxes built at rest and refitted each frame, walked
//! against itself.

use super::summary::Crossings;
use super::topology::Topology;
use super::triangle::{self, Facet};
use crate::asset::Character;
use crate::parallel;
use glam::{DVec3, Vec3, Vec3A};

/// Triangles closer than this fraction of the diagonal at rest touch there: a hundred times the rounding of f32
/// positions, far less than any visible gap.
const TOUCH: f64 = 1e-5;
/// Triangles in a leaf.
const LEAF: usize = 4;
/// Pieces that the walk is cut into, whatever the number of threads.
const TASKS: usize = 512;
/// Pairs of triangles looked at closely in a frame, at most: this many, or so many a triangle. A fair skin needs about
/// 30 a triangle; one that has collapsed into a point would need them all.
const MOST_TESTS: usize = 16_000_000;
const MOST_TESTS_PER_TRIANGLE: usize = 400;
/// Pairs of boxes that take the time of one pair of triangles: they count too, or a skin whose triangles all share a
/// point would be walked to the end for nothing.
const VISITS_PER_TEST: usize = 4;
/// Pairs that touch at rest, at most, per triangle (and never fewer than a million in all).
const MOST_TOUCHING_PER_TRIANGLE: usize = 16;

/// Prepared for one skin.
#[derive(Debug, Clone)]
pub(super) struct Detector {
    /// In the order of the leaves.
    triangles: Vec<[u32; 3]>,
    /// Where each point is at rest, as a number: points at one place share it.
    place: Vec<u32>,
    nodes: Vec<Node>,
    /// The bone that moves most of each triangle.
    bone: Vec<u32>,
    /// For each bone the bone that it hangs on.
    parent_bone: Vec<u32>,
    /// Pairs that touch at rest, lower triangle first, in order.
    touching: Vec<(u32, u32)>,
}

/// A node of the tree; nodes come parents first, the left child right after its parent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) first: u32,
    pub(super) count: u32,
    /// The right child; 0 for a leaf.
    pub(super) right: u32,
}

#[derive(Debug, Clone, Copy)]
struct Aabb {
    low: Vec3A,
    high: Vec3A,
}

impl Aabb {
    const EMPTY: Self = Self { low: Vec3A::INFINITY, high: Vec3A::NEG_INFINITY };

    fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn meets(&self, other: &Self) -> bool {
        (self.low.cmple(other.high) & other.low.cmple(self.high)).all()
    }
}

/// The tree as it lies around the skin of one frame.
struct Fitted<'a> {
    detector: &'a Detector,
    facets: Vec<Facet>,
    of_triangle: Vec<Aabb>,
    of_node: Vec<Aabb>,
}

impl Detector {
    /// None where so much touches at rest that counting what is new has no sense.
    pub(super) fn new(
        character: &Character,
        topology: &Topology,
        rest: &[DVec3],
        diagonal: f64,
    ) -> Option<Self> {
        let count = topology.triangles.len();
        let centres: Vec<Vec3> = topology
            .triangles
            .iter()
            .map(|t| (t.iter().map(|&p| rest[p as usize]).sum::<DVec3>() / 3.0).as_vec3())
            .collect();
        let mut order: Vec<u32> = (0..count as u32).collect();
        let mut nodes = Vec::with_capacity(count);
        build(&mut nodes, &mut order, 0, &centres);

        let triangles: Vec<[u32; 3]> = order.iter().map(|&t| topology.triangles[t as usize]).collect();
        let (joint_bone, parent_bone) = bones(character, diagonal);
        let bone = triangles.iter().map(|t| joint_bone[main_joint(character, topology, t)]).collect();
        let mut detector =
            Self { triangles, place: places(rest), nodes, bone, parent_bone, touching: Vec::new() };

        let gap = diagonal * TOUCH;
        let fitted = detector.fit(rest, gap as f32);
        let tasks = fitted.tasks();
        let limit = (MOST_TOUCHING_PER_TRIANGLE * count).max(1_000_000) / tasks.len().max(1);
        let found = parallel::map(tasks.len(), |k| {
            let mut pairs = Vec::new();
            let whole = fitted.walk(tasks[k], detector.test_limit(tasks.len()), |i, j| {
                if triangle::near(&fitted.facets[i as usize], &fitted.facets[j as usize], gap) {
                    pairs.push((i.min(j), i.max(j)));
                }
                pairs.len() <= limit
            });
            whole.then_some(pairs)
        });
        let mut touching = Vec::new();
        for pairs in found {
            touching.extend(pairs?);
        }
        touching.sort_unstable();
        detector.touching = touching;
        Some(detector)
    }

    /// Pairs that cross in this frame.
    pub(super) fn count(&self, points: &[DVec3]) -> Crossings {
        let fitted = self.fit(points, 0.0);
        let tasks = fitted.tasks();
        let limit = self.test_limit(tasks.len());
        let counts = parallel::map(tasks.len(), |k| {
            let mut count = Crossings::default();
            let whole = fitted.walk(tasks[k], limit, |i, j| {
                if triangle::cross(&fitted.facets[i as usize], &fitted.facets[j as usize])
                    && !self.touch_at_rest(i, j)
                {
                    if self.adjacent(i, j) { count.adjacent += 1 } else { count.other += 1 }
                }
                true
            });
            count.capped = !whole;
            count
        });
        counts.iter().fold(Crossings::default(), |sum, c| Crossings {
            adjacent: sum.adjacent + c.adjacent,
            other: sum.other + c.other,
            capped: sum.capped | c.capped,
        })
    }

    fn test_limit(&self, tasks: usize) -> usize {
        MOST_TESTS.max(MOST_TESTS_PER_TRIANGLE * self.triangles.len()) / tasks.max(1)
    }

    fn touch_at_rest(&self, i: u32, j: u32) -> bool {
        self.touching.binary_search(&(i.min(j), i.max(j))).is_ok()
    }

    fn adjacent(&self, i: u32, j: u32) -> bool {
        let (a, b) = (self.bone[i as usize], self.bone[j as usize]);
        a == b || self.parent_bone[a as usize] == b || self.parent_bone[b as usize] == a
    }

    fn fit(&self, points: &[DVec3], margin: f32) -> Fitted<'_> {
        let of_triangle: Vec<Aabb> = self
            .triangles
            .iter()
            .map(|t| {
                // Exact: points come from f32; morphed rest points do not, but they have the margin.
                let corners = t.map(|p| Vec3A::from(points[p as usize].as_vec3()));
                let b = corners.iter().fold(Aabb::EMPTY, |b, &p| b.with(Aabb { low: p, high: p }));
                Aabb { low: b.low - margin, high: b.high + margin }
            })
            .collect();
        let mut of_node = vec![Aabb::EMPTY; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().rev() {
            of_node[index] = if node.right == 0 {
                let range = node.first as usize..(node.first + node.count) as usize;
                of_triangle[range].iter().fold(Aabb::EMPTY, |a, &b| a.with(b))
            } else {
                of_node[index + 1].with(of_node[node.right as usize])
            };
        }
        let facets = self.triangles.iter().map(|t| Facet::new(t.map(|p| points[p as usize]))).collect();
        Fitted { detector: self, facets, of_triangle, of_node }
    }
}

impl Fitted<'_> {
    /// Pairs of nodes that together hold all that may cross, the same for any number of threads.
    fn tasks(&self) -> Vec<(u32, u32)> {
        let mut tasks = if self.detector.nodes.is_empty() { Vec::new() } else { vec![(0, 0)] };
        loop {
            let mut next = Vec::with_capacity(tasks.len() * 3);
            for &pair in &tasks {
                if !self.split(pair, &mut next) && self.meets(pair) {
                    next.push(pair);
                }
            }
            let done = next.len() >= TASKS || next.len() == tasks.len();
            tasks = next;
            if done {
                return tasks;
            }
        }
    }

    fn meets(&self, (a, b): (u32, u32)) -> bool {
        self.of_node[a as usize].meets(&self.of_node[b as usize])
    }

    /// Replaces a pair of nodes by pairs of children; false if both are leaves.
    fn split(&self, (a, b): (u32, u32), out: &mut Vec<(u32, u32)>) -> bool {
        let (of_a, of_b) = (self.detector.nodes[a as usize], self.detector.nodes[b as usize]);
        if of_a.right == 0 && of_b.right == 0 {
            return false;
        }
        let mut push = |pair: (u32, u32)| {
            if self.meets(pair) {
                out.push(pair);
            }
        };
        if a == b {
            push((a + 1, a + 1));
            push((of_a.right, of_a.right));
            push((a + 1, of_a.right));
        } else if of_b.right == 0 || (of_a.right != 0 && of_a.count >= of_b.count) {
            push((a + 1, b));
            push((of_a.right, b));
        } else {
            push((a, b + 1));
            push((a, of_b.right));
        }
        true
    }

    /// Shows `test` every pair of triangles under a pair of nodes whose boxes meet and that share no point. Gives up,
    /// and says so by `false`, past the limit of work or when `test` says no.
    fn walk(&self, task: (u32, u32), limit: usize, mut test: impl FnMut(u32, u32) -> bool) -> bool {
        let (mut stack, mut work) = (vec![task], 0);
        let most = limit.saturating_mul(VISITS_PER_TEST);
        while let Some((a, b)) = stack.pop() {
            work += 1;
            if work > most {
                return false;
            }
            if self.split((a, b), &mut stack) {
                continue;
            }
            let (of_a, of_b) = (self.detector.nodes[a as usize], self.detector.nodes[b as usize]);
            for i in of_a.first..of_a.first + of_a.count {
                let from = if a == b { i + 1 } else { of_b.first };
                for j in from..of_b.first + of_b.count {
                    work += 1;
                    if self.of_triangle[i as usize].meets(&self.of_triangle[j as usize]) && !self.share(i, j)
                    {
                        work += VISITS_PER_TEST;
                        if !test(i, j) || work > most {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }

    fn share(&self, i: u32, j: u32) -> bool {
        let places = |t: u32| self.detector.triangles[t as usize].map(|p| self.detector.place[p as usize]);
        let of_j = places(j);
        places(i).iter().any(|p| of_j.contains(p))
    }
}

/// Halves triangles along the longest side of the box of their centres, down to leaves.
pub(super) fn build(nodes: &mut Vec<Node>, order: &mut [u32], first: u32, centres: &[Vec3]) {
    if order.is_empty() {
        return;
    }
    let index = nodes.len();
    nodes.push(Node { first, count: order.len() as u32, right: 0 });
    if order.len() <= LEAF {
        return;
    }
    let at = |t: u32| centres[t as usize];
    let low = order.iter().fold(Vec3::INFINITY, |m, &t| m.min(at(t)));
    let high = order.iter().fold(Vec3::NEG_INFINITY, |m, &t| m.max(at(t)));
    let axis = (high - low).max_position();
    let middle = order.len() / 2;
    order.select_nth_unstable_by(middle, |&s, &t| at(s)[axis].total_cmp(&at(t)[axis]).then(s.cmp(&t)));
    let (left, right) = order.split_at_mut(middle);
    build(nodes, left, first, centres);
    nodes[index].right = nodes.len() as u32;
    build(nodes, right, first + middle as u32, centres);
}

/// A number for each point, the same for points at the same place.
fn places(rest: &[DVec3]) -> Vec<u32> {
    let key = |p: u32| rest[p as usize].to_array().map(|c| (c + 0.0).to_bits());
    let mut order: Vec<u32> = (0..rest.len() as u32).collect();
    order.sort_unstable_by_key(|&p| (key(p), p));
    let mut place = vec![0; rest.len()];
    for group in order.chunk_by(|&a, &b| key(a) == key(b)) {
        group.iter().for_each(|&p| place[p as usize] = group[0]);
    }
    place
}

/// For each joint its bone (joints at one place share the first one's), and for each bone the one it hangs on
/// (itself, if none).
fn bones(character: &Character, diagonal: f64) -> (Vec<u32>, Vec<u32>) {
    let joints = character.skeleton().joints();
    let (mut bone, mut parent_bone) = (Vec::with_capacity(joints.len()), Vec::with_capacity(joints.len()));
    for (index, joint) in joints.iter().enumerate() {
        let parent = joint.parent.filter(|&p| joints[p as usize].deforms);
        let here = joint.world_from_rest.translation;
        let merges = |p: u32| here.distance(character.skeleton().rest_position(p)) <= 1e-6 * diagonal;
        let own = match parent {
            Some(p) if merges(p) => bone[p as usize],
            _ => index as u32,
        };
        bone.push(own);
        let hangs_on = if own == index as u32 { parent.map_or(own, |p| bone[p as usize]) } else { own };
        parent_bone.push(hangs_on);
    }
    (bone, parent_bone)
}

/// The joint with most weight in a triangle; the lower of equals.
fn main_joint(character: &Character, topology: &Topology, triangle: &[u32; 3]) -> usize {
    let mut sums: Vec<(u32, f32)> = Vec::with_capacity(8);
    for &p in triangle {
        for (slot, weight) in character.weights().of(topology.vertex_of_point[p as usize] as usize) {
            let joint = character.slots()[slot as usize].joint;
            match sums.iter_mut().find(|s| s.0 == joint) {
                Some(sum) => sum.1 += weight,
                None => sums.push((joint, weight)),
            }
        }
    }
    let most = sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    most.map_or(0, |s| s.0 as usize)
}
