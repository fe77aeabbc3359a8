//! The tets of the lattice that the body passes through, told apart where the body does not hang together.
//!
//! Only nodes inside count. A node inside the solid has one copy; where thickened parts overlap it has one for each.
//! Copies are linked along lattice edges that do not leave the body; a lattice tet is taken once for each group of
//! its corners that links hold together. Legs, fingers and lips that almost touch share no link, so they share no
//! tet, and need no finer lattice to stay apart.

use super::super::bvh::{Bvh, Crossing, map_with_scratch};
use super::super::topology::{Adjacency, FACES};
use super::lattice::{Lattice, STEPS, direction, opposite, star};
use super::solid::Solid;
use super::thin::{Layer, Offsets, depth};
use super::union::Union;
use glam::{DVec3, IVec3, Vec3};

/// No node, no link.
pub(crate) const NONE: u32 = u32::MAX;

/// Gaps shorter than this, over the body's size, are rounding between parts that were meant to touch.
const SEAM: f64 = 1e-5;

/// Times that necks are closed; each reaches one node farther.
const MOST_CLOSINGS: usize = 3;

/// The offset of a surface met at a slant reaches farther along the edge; no slant counts for more than this.
const LEAST_COSINE: f64 = 0.4;

/// A cut that a thickened part pushes outwards stays this far, in edges, from the outer node.
const FARTHEST_CUT: f64 = 0.95;

/// Where an edge leaves the body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    /// As a share of the edge.
    pub(crate) at: f64,
    /// By how much that grows as the skin is moved outwards.
    pub(crate) slope: f64,
    /// Out of the skin there; zero where there is none to meet.
    pub(crate) normal: Vec3,
}

impl Cut {
    /// Where there is no skin to meet.
    const MIDDLE: Self = Self { at: 0.5, slope: 0.0, normal: Vec3::ZERO };
}

/// A copy of a lattice node inside the body.
#[derive(Debug, Clone)]
pub(crate) struct Inner {
    pub(crate) node: IVec3,
    /// Winding number of a node inside the solid; 0 for a layer.
    pub(crate) winding: i32,
    /// The skin that the node is near, for a layer, and the place of it that is nearest.
    pub(crate) patch: Vec<u32>,
    nearest: DVec3,
    /// How far inside its thickened skin a layer is.
    depth: f64,
    /// A shell through which an edge from here leaves the body, or `NONE`.
    shell: u32,
    /// The copies at the ends of the 14 lattice edges, or `NONE` where the edge leaves the body.
    pub(crate) links: [u32; 14],
    /// Where it leaves.
    pub(crate) cuts: [Cut; 14],
}

/// The lattice's tets in the body, before they are cut.
#[derive(Debug, Clone)]
pub(crate) struct Complex {
    pub(crate) inner: Vec<Inner>,
    /// Lattice nodes of the inner copies, then of the outer ones.
    pub(crate) nodes: Vec<IVec3>,
    /// Positive tets; corners below `inner.len()` are inside.
    pub(crate) tets: Vec<[u32; 4]>,
    /// For each outer node, the edges from inside that end in it: inner node and direction.
    pub(crate) edges_of_outer: Vec<Vec<(u32, u8)>>,
}

/// Inner nodes by what holds them together.
pub(crate) struct Bodies {
    /// The body of each.
    pub(crate) body: Vec<u32>,
    /// Whether it is cut off from the main part of its body.
    pub(crate) astray: Vec<bool>,
}

/// What becomes of one end of a lattice edge.
enum End {
    Link(u32, u32),
    /// With the shell that the edge leaves through.
    Cut(u32, Cut, u32),
}

impl Complex {
    pub(crate) fn new(
        solid: &Solid,
        bvh: &Bvh,
        lattice: &Lattice,
        offsets: &Offsets,
        inside: Vec<(IVec3, i32)>,
        layers: Vec<Layer>,
    ) -> Self {
        let mut inner: Vec<Inner> = Vec::with_capacity(inside.len() + layers.len());
        let solid_nodes =
            inside.into_iter().map(|(node, winding)| (node, winding, Vec::new(), DVec3::ZERO, 0.0));
        let layer_nodes = layers.into_iter().map(|l| (l.node, 0, l.patch, l.nearest, l.depth));
        for (node, winding, patch, nearest, depth) in solid_nodes.chain(layer_nodes) {
            inner.push(Inner {
                node,
                winding,
                patch,
                nearest,
                depth,
                shell: NONE,
                links: [NONE; 14],
                cuts: [Cut::MIDDLE; 14],
            });
        }
        inner.sort_by_key(|i| (key(i.node), i.winding == 0));
        link(&mut inner, &Edges { solid, bvh, lattice, offsets });
        let mut complex = Self { inner, nodes: Vec::new(), tets: Vec::new(), edges_of_outer: Vec::new() };
        complex.build();
        for _ in 0..MOST_CLOSINGS {
            if !complex.close_necks() {
                break;
            }
            complex.build();
        }
        complex
    }

    /// Tets and outer nodes from the links.
    fn build(&mut self) {
        let (tets, outer) = tets(&self.inner);
        self.nodes = self.inner.iter().map(|i| i.node).collect();
        self.tets = tets;
        self.edges_of_outer.clear();
        self.name_outer(outer);
    }

    /// Where a thin part turns, two neighbours of a node may lie across a gap from each other. The tet that has all
    /// three takes them as one, its neighbour that lacks the middle one does not: they meet in no face. Where a part
    /// hangs on the rest by such tets alone, the gap is linked. Not everywhere: between fingers, gaps are meant.
    fn close_necks(&mut self) -> bool {
        let across = Adjacency::of(&self.tets, self.nodes.len()).across;
        let inner = self.inner.len() as u32;
        let mut held = Union::new(self.inner.len());
        // Tets that meet in a face with an inner corner hold their inner corners together.
        let mut piece = Union::new(self.tets.len());
        for (t, tet) in self.tets.iter().enumerate() {
            for face in (0..4).filter(|&f| across[t][f] != NONE && FACES[f].iter().any(|&k| tet[k] < inner)) {
                piece.join(t as u32, across[t][face]);
            }
        }
        let mut size = vec![0u32; self.tets.len()];
        (0..self.tets.len() as u32).for_each(|t| size[piece.root(t) as usize] += 1);
        for tet in &self.tets {
            let corners: Vec<u32> = tet.iter().copied().filter(|&c| c < inner).collect();
            corners.windows(2).for_each(|w| held.join(w[0], w[1]));
        }
        let mut largest = vec![0u32; self.inner.len()];
        for t in 0..self.tets.len() as u32 {
            let body = self.tets[t as usize].iter().find(|&&c| c < inner).map_or(0, |&c| held.root(c));
            let largest = &mut largest[body as usize];
            *largest = (*largest).max(size[piece.root(t) as usize]);
        }
        let mut cut_off = vec![false; self.inner.len()];
        for t in 0..self.tets.len() as u32 {
            for &corner in self.tets[t as usize].iter().filter(|&&c| c < inner) {
                let body = held.root(corner);
                cut_off[corner as usize] |= size[piece.root(t) as usize] < largest[body as usize];
            }
        }
        let mut closed = false;
        for tet in &self.tets {
            if !tet.iter().any(|&c| c < inner && cut_off[c as usize]) {
                continue;
            }
            for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                let (a, b) = (tet[i], tet[j]);
                if a >= inner || b >= inner {
                    continue;
                }
                let way = direction(self.inner[b as usize].node - self.inner[a as usize].node);
                let free = |n: u32, way: usize| self.inner[n as usize].links[way] == NONE;
                if free(a, way) && free(b, opposite(way)) {
                    self.inner[a as usize].links[way] = b;
                    self.inner[b as usize].links[opposite(way)] = a;
                    closed = true;
                }
            }
        }
        closed
    }

    /// What hangs together, and what should. Links hold inner nodes together; those whose edges leave through one
    /// shell should be, since a shell is one surface.
    pub(crate) fn bodies(&self) -> Bodies {
        let count = self.inner.len();
        let mut held = Union::new(count);
        for (node, inner) in self.inner.iter().enumerate() {
            inner.links.iter().filter(|&&l| l != NONE).for_each(|&l| held.join(node as u32, l));
        }
        let part: Vec<u32> = (0..count as u32).map(|n| held.root(n)).collect();
        let mut of_shell: Vec<(u32, u32)> =
            self.inner.iter().enumerate().map(|(n, i)| (i.shell, n as u32)).filter(|s| s.0 != NONE).collect();
        of_shell.sort_unstable();
        of_shell.windows(2).filter(|w| w[0].0 == w[1].0).for_each(|w| held.join(w[0].1, w[1].1));
        let body: Vec<u32> = (0..count as u32).map(|n| held.root(n)).collect();
        let mut size = vec![0u32; count];
        part.iter().for_each(|&p| size[p as usize] += 1);
        let mut main = vec![NONE; count];
        for node in 0..count {
            let main = &mut main[body[node] as usize];
            if *main == NONE || size[part[node] as usize] > size[*main as usize] {
                *main = part[node];
            }
        }
        let astray = (0..count).map(|n| main[body[n] as usize] != part[n]).collect();
        Bodies { body, astray }
    }

    /// Whether a lattice node has a copy inside, and whether one that is astray.
    pub(crate) fn finds(&self, node: IVec3, bodies: &Bodies) -> (bool, bool) {
        let inner = &self.nodes[..self.inner.len()];
        let first = inner.partition_point(|&n| key(n) < key(node));
        let copies = (first..inner.len()).take_while(|&n| inner[n] == node);
        copies.fold((false, false), |found, n| (true, found.1 | bodies.astray[n]))
    }

    /// Outer corners that hang together through the tets around them become one node.
    fn name_outer(&mut self, mut union: Union) {
        let inner = self.inner.len() as u32;
        let mut name_of_root = vec![NONE; self.inner.len() * 14];
        for edge in 0..name_of_root.len() as u32 {
            // Only edges that some tet uses; those were given a root in the tets.
            let root = union.root(edge);
            let (from, way) = (edge / 14, (edge % 14) as usize);
            if self.inner[from as usize].links[way] != NONE {
                continue;
            }
            let name = &mut name_of_root[root as usize];
            if *name == NONE {
                *name = inner + self.edges_of_outer.len() as u32;
                self.edges_of_outer.push(Vec::new());
                self.nodes.push(self.inner[from as usize].node + STEPS[way]);
            }
            self.edges_of_outer[(*name - inner) as usize].push((from, way as u8));
        }
        for tet in &mut self.tets {
            for corner in tet.iter_mut().filter(|c| **c >= inner) {
                let root = union.root(*corner - inner);
                *corner = name_of_root[root as usize];
            }
        }
    }
}

fn key(node: IVec3) -> (i32, i32, i32) {
    (node.z, node.y, node.x)
}

/// What an edge is judged by.
struct Edges<'a> {
    solid: &'a Solid,
    bvh: &'a Bvh,
    lattice: &'a Lattice,
    offsets: &'a Offsets,
}

/// Links copies along every lattice edge, and cuts where there is no link.
fn link(inner: &mut [Inner], edges: &Edges) {
    let mut groups: Vec<(IVec3, u32, u32)> = Vec::new();
    let mut first = 0;
    for group in inner.chunk_by(|a, b| a.node == b.node) {
        groups.push((group[0].node, first, first + group.len() as u32));
        first += group.len() as u32;
    }
    let copies_at = |node: IVec3| match groups.binary_search_by_key(&key(node), |g| key(g.0)) {
        Ok(g) => groups[g].1..groups[g].2,
        Err(_) => 0..0,
    };
    let shared: &[Inner] = inner;
    let ends = map_with_scratch(groups.len(), |g, crossings: &mut Vec<Crossing>| {
        let (node, from, to) = groups[g];
        let mut ends: Vec<(u8, End)> = Vec::new();
        for (way, &step) in STEPS.iter().enumerate() {
            let others = copies_at(node + step);
            // An edge with copies at both ends is judged once, from its lower end.
            if others.is_empty() || key(node) < key(node + step) {
                edges.judge(shared, from..to, others, way, crossings, &mut ends);
            }
        }
        ends
    });
    for (way, end) in ends.into_iter().flatten() {
        let way = way as usize;
        match end {
            End::Link(a, b) => {
                inner[a as usize].links[way] = b;
                inner[b as usize].links[opposite(way)] = a;
            }
            End::Cut(a, cut, shell) => {
                inner[a as usize].cuts[way] = cut;
                inner[a as usize].shell = inner[a as usize].shell.min(shell);
            }
        }
    }
}

impl Edges<'_> {
    fn judge(
        &self,
        inner: &[Inner],
        here: std::ops::Range<u32>,
        there: std::ops::Range<u32>,
        way: usize,
        crossings: &mut Vec<Crossing>,
        ends: &mut Vec<(u8, End)>,
    ) {
        let node = inner[here.start as usize].node;
        let (start, end) = (self.lattice.place(node), self.lattice.place(node + STEPS[way]));
        self.bvh.crossings(start, end, crossings);
        let length = start.distance(end);
        let seam = SEAM * (self.solid.high - self.solid.low).length() / length;
        let winding_here = inner[here.start as usize].winding;
        let exit_here = (winding_here > 0).then(|| first_exit(winding_here, crossings, seam)).flatten();
        let back: Vec<Crossing> =
            crossings.iter().rev().map(|c| Crossing { at: 1.0 - c.at, step: -c.step, ..*c }).collect();
        let winding_there = there.clone().next().map_or(0, |t| inner[t as usize].winding);
        let exit_there = (winding_there > 0).then(|| first_exit(winding_there, &back, seam)).flatten();
        let mut taken_here = 0u64;
        let mut taken_there = 0u64;
        for a in here.clone() {
            for b in there.clone() {
                let (bit_a, bit_b) = (1 << (a - here.start).min(63), 1 << (b - there.start).min(63));
                if taken_here & bit_a != 0 || taken_there & bit_b != 0 {
                    continue;
                }
                let (p, q) = (&inner[a as usize], &inner[b as usize]);
                let joined = match (p.winding > 0, q.winding > 0) {
                    (true, true) => exit_here.is_none() && exit_there.is_none(),
                    (true, false) => self.sees(p, exit_here, q, seam),
                    (false, true) => self.sees(q, exit_there, p, seam),
                    (false, false) => shares(&p.patch, &q.patch) || through(crossings, &p.patch, &q.patch),
                };
                if joined {
                    taken_here |= bit_a;
                    taken_there |= bit_b;
                    ends.push((way as u8, End::Link(a, b)));
                }
            }
        }
        for a in here.clone().filter(|a| taken_here >> (a - here.start).min(63) & 1 == 0) {
            let from = &inner[a as usize];
            ends.push((way as u8, End::Cut(a, self.cut(from, way, exit_here), self.shell(from, exit_here))));
        }
        for b in there.clone().filter(|b| taken_there >> (b - there.start).min(63) & 1 == 0) {
            let way = opposite(way);
            let from = &inner[b as usize];
            ends.push((
                way as u8,
                End::Cut(b, self.cut(from, way, exit_there), self.shell(from, exit_there)),
            ));
        }
    }

    /// Whether an edge leaves the solid through a layer's patch, or the solid node sees the patch from inside.
    fn sees(&self, node: &Inner, exit: Option<Crossing>, layer: &Inner, seam: f64) -> bool {
        let Some(exit) = exit else { return false };
        if has(&layer.patch, exit.triangle) {
            return true;
        }
        let start = self.lattice.place(node.node);
        let mut crossings = Vec::new();
        // A little beyond, so that the patch itself is crossed.
        self.bvh.crossings(start, start.lerp(layer.nearest, 1.0 + 1e-6), &mut crossings);
        first_exit(node.winding, &crossings, seam).is_none_or(|e| has(&layer.patch, e.triangle))
    }

    /// The shell that an edge leaves the body through.
    fn shell(&self, from: &Inner, exit: Option<Crossing>) -> u32 {
        let triangle = from.patch.first().copied().or(exit.map(|e| e.triangle));
        triangle.map_or(NONE, |t| self.solid.shell_of_triangle[t as usize])
    }

    /// Where an edge leaves the body.
    fn cut(&self, from: &Inner, way: usize, exit: Option<Crossing>) -> Cut {
        let (start, end) = (self.lattice.place(from.node), self.lattice.place(from.node + STEPS[way]));
        let length = start.distance(end);
        let along = (end - start) / length;
        if from.winding > 0 {
            let Some(exit) = exit else { return Cut::MIDDLE };
            let normal = self.solid.normal(exit.triangle);
            let cosine = normal.dot(along).abs().max(LEAST_COSINE);
            let place = start.lerp(end, exit.at);
            let (weights, _) = super::super::bvh::nearest_on(place, self.solid.corners(exit.triangle));
            let offset = self.offsets.at(self.solid, exit.triangle, weights);
            let slope = 1.0 / (length * cosine);
            let at = if offset > 0.0 {
                (exit.at + offset * slope).min(FARTHEST_CUT.max(exit.at))
            } else {
                exit.at
            };
            return Cut { at, slope, normal: normal.as_vec3() };
        }
        let depth_at = |share: f64| depth(self.solid, self.offsets, start.lerp(end, share), &from.patch);
        let mut inside = (0.0, from.depth);
        if inside.1 <= 0.0 {
            // But a stand-in.
            return Cut::MIDDLE;
        }
        let mut outside = (1.0, depth_at(1.0).0);
        if outside.1 > 0.0 {
            // The far end is in the thickened skin too, but of another part.
            return Cut::MIDDLE;
        }
        // False position: depth is close to linear along an edge.
        let mut way_out = DVec3::ZERO;
        let mut at = 0.0;
        for _ in 0..2 {
            at = inside.0 + (outside.0 - inside.0) * inside.1 / (inside.1 - outside.1);
            let (deep, out) = depth_at(at);
            way_out = out;
            if deep > 0.0 { inside = (at, deep) } else { outside = (at, deep) }
        }
        let cosine = way_out.dot(along).abs().max(LEAST_COSINE);
        Cut { at, slope: 1.0 / (length * cosine), normal: way_out.as_vec3() }
    }
}

/// Where the winding number falls to 0 and stays there for more than a seam.
fn first_exit(mut winding: i32, crossings: &[Crossing], seam: f64) -> Option<Crossing> {
    for (k, crossing) in crossings.iter().enumerate() {
        winding += crossing.step;
        if winding <= 0 {
            let back = crossings.get(k + 1).is_some_and(|n| n.step > 0 && n.at - crossing.at < seam);
            if !back {
                return Some(*crossing);
            }
        }
    }
    None
}

fn has(patch: &[u32], triangle: u32) -> bool {
    patch.binary_search(&triangle).is_ok()
}

/// Whether two ordered lists have an element in common.
fn shares(a: &[u32], b: &[u32]) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
        }
    }
    false
}

/// Whether a segment goes in through one patch and straight out through the other, as through an ear.
fn through(crossings: &[Crossing], near: &[u32], far: &[u32]) -> bool {
    let enters = crossings.iter().position(|c| c.step > 0 && has(near, c.triangle));
    let Some(enters) = enters else { return false };
    crossings[enters..].iter().find(|c| c.step < 0).is_some_and(|c| has(far, c.triangle))
}

/// Each lattice tet once for each group of linked corners. An outer corner has the number of an edge that leads to it
/// (`inner.len() + 14 * node + direction`), and all edges to one corner of a tet are joined: `name_outer` numbers
/// the sets.
fn tets(inner: &[Inner]) -> (Vec<[u32; 4]>, Union) {
    let star = star();
    let base = inner.len() as u32;
    let mut union = Union::new(inner.len() * 14);
    let mut tets = Vec::new();
    for first in 0..base {
        for ways in &star {
            let node = inner[first as usize].node;
            let places = [node, node + STEPS[ways[0]], node + STEPS[ways[1]], node + STEPS[ways[2]]];
            let mut corners = [first, NONE, NONE, NONE];
            // Three rounds reach everything that a chain of links within the tet can reach.
            for _ in 0..3 {
                for i in 0..4 {
                    if corners[i] == NONE {
                        continue;
                    }
                    for j in 0..4 {
                        if corners[j] == NONE {
                            corners[j] = inner[corners[i] as usize].links[direction(places[j] - places[i])];
                        }
                    }
                }
            }
            // Found once from each of its inner corners: the lowest one keeps it.
            if corners.iter().any(|&c| c < first) {
                continue;
            }
            let mut tet = corners;
            for j in (0..4).filter(|&j| corners[j] == NONE) {
                let edges = (0..4).filter(|&i| corners[i] != NONE);
                let edges = edges.map(|i| corners[i] * 14 + direction(places[j] - places[i]) as u32);
                let edges: Vec<u32> = edges.collect();
                edges.windows(2).for_each(|w| union.join(w[0], w[1]));
                tet[j] = base + edges[0];
            }
            tets.push(tet);
        }
    }
    (tets, union)
}
