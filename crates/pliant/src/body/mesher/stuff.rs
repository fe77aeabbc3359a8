//! Cutting the lattice's tets where the body ends (Labelle & Shewchuk 2007, Isosurface Stuffing).

use super::super::topology::Adjacency;
use super::complex::{Complex, Cut, NONE};
use super::lattice::{LONG, Lattice, STEPS, direction};
use glam::{DVec3, IVec3};

/// A cut nearer to a node than this share of a long or a short edge moves the node onto the skin instead: shorter
/// edges would make flat tets. The paper's values for its bound on the dihedral angles (10.7 to 164.8 degrees).
const NEAR_LONG: f64 = 0.24999;
const NEAR_SHORT: f64 = 0.41189;

/// Tips are not shortened by more than this, in cells.
const BLUNT: f64 = 0.3;

/// A node that must stay inside is at least this far from the skin, in cells, where there is room.
const DRAWN_BACK: f64 = 0.3;

fn near(way: usize) -> f64 {
    if way < LONG { NEAR_LONG } else { NEAR_SHORT }
}

/// Tets that end at the skin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stuffed {
    pub(crate) positions: Vec<DVec3>,
    pub(crate) tets: Vec<[u32; 4]>,
    /// The tet of the complex that each came from.
    pub(crate) source: Vec<u32>,
}

/// A piece with less than this share of its body's tets is a crumb that cutting left beside it.
const CRUMB: f64 = 0.1;

impl Stuffed {
    pub(crate) fn volume(&self) -> f64 {
        let six_volumes = self.tets.iter().map(|t| {
            let [a, b, c, d] = t.map(|n| self.positions[n as usize]);
            (b - a).cross(c - a).dot(d - a)
        });
        six_volumes.sum::<f64>() / 6.0
    }

    /// Leaves out tets that share a face with two others, and crumbs: pieces beside a larger one of the same body.
    /// `body` names the body of a tet of the complex.
    pub(crate) fn sweep(&mut self, mut body: impl FnMut(u32) -> u32) {
        // A crowded face is the only one whose neighbour does not point back.
        let across = Adjacency::of(&self.tets, self.positions.len()).across;
        let crowds = |t: usize| {
            across[t]
                .iter()
                .any(|&n| n != NONE && (n as usize) < t && !across[n as usize].contains(&(t as u32)))
        };
        let crowded: Vec<bool> = (0..self.tets.len()).map(crowds).collect();
        self.keep(|t| !crowded[t]);
        let pieces = Adjacency::of(&self.tets, self.positions.len()).pieces();
        if pieces.sizes.len() < 2 {
            return;
        }
        let mut body_of_piece = vec![0u32; pieces.sizes.len()];
        (self.source.iter().zip(&pieces.of_tet)).for_each(|(&s, &p)| body_of_piece[p as usize] = body(s));
        let largest = |of: u32| {
            let own = pieces.sizes.iter().zip(&body_of_piece).filter(|(_, b)| **b == of);
            own.map(|(s, _)| *s).max().unwrap_or(0)
        };
        let stays: Vec<bool> = (pieces.sizes.iter().zip(&body_of_piece))
            .map(|(&size, &body)| f64::from(size) >= CRUMB * f64::from(largest(body)))
            .collect();
        self.keep(|t| stays[pieces.of_tet[t] as usize]);
    }

    fn keep(&mut self, wanted: impl Fn(usize) -> bool) {
        let mut index = 0..self.tets.len();
        self.tets.retain(|_| index.next().is_some_and(&wanted));
        let mut index = 0..self.source.len();
        self.source.retain(|_| index.next().is_some_and(&wanted));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    In,
    On,
    Out,
}

/// What is decided about the nodes before tets are cut.
struct Warp<'a> {
    /// By inner node; may be empty.
    plain: &'a [bool],
    complex: &'a Complex,
    lattice: &'a Lattice,
    /// By inner node and direction: where the edge is cut.
    cuts: Vec<[f64; 14]>,
    /// By how far, along the normal, a cut that was moved along its edge is put back onto the skin.
    drops: Vec<[f64; 14]>,
    sides: Vec<Side>,
    positions: Vec<DVec3>,
}

/// Cuts a complex at the skin moved outwards by `shift`. Cuts of `plain` nodes that have to move away from them move
/// along their edges and off the skin: less handsome, and never flat.
pub(crate) fn stuff(complex: &Complex, lattice: &Lattice, shift: f64, plain: &[bool]) -> Stuffed {
    let cut = |cut: Cut| (cut.at + cut.slope * shift).clamp(0.0, 1.0);
    let mut sides = vec![Side::In; complex.inner.len()];
    sides.resize(complex.nodes.len(), Side::Out);
    let mut warp = Warp {
        plain,
        complex,
        lattice,
        cuts: complex.inner.iter().map(|i| i.cuts.map(cut)).collect(),
        drops: vec![[0.0; 14]; complex.inner.len()],
        sides,
        positions: complex.nodes.iter().map(|&n| lattice.place(n)).collect(),
    };
    (0..complex.inner.len()).for_each(|node| warp.settle_inner(node));
    (0..complex.edges_of_outer.len()).for_each(|outer| warp.settle_outer(outer));
    warp.tets()
}

impl Warp<'_> {
    /// Moves a node inside onto the skin if a cut is near it, unless the body hangs together through it (a limb one
    /// node thick would lose it) or ends in it (fingers would wear away from the tip). Then the node draws back
    /// inwards instead, and the near cuts spread out along the skin.
    fn settle_inner(&mut self, node: usize) {
        let inner = &self.complex.inner[node];
        let too_near: Vec<usize> =
            (0..14).filter(|&way| inner.links[way] == NONE && self.cuts[node][way] < near(way)).collect();
        let length = |way: usize| if way < LONG { 1.0 } else { 0.75f64.sqrt() };
        let distance = |way: usize| self.cuts[node][way] * length(way);
        let nearest = too_near.iter().copied().min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        let Some(nearest) = nearest else { return };
        let inside = inner.links.iter().copied().filter(|&n| n != NONE && self.sides[n as usize] == Side::In);
        let mut neighbours: Vec<u32> = inside.collect();
        neighbours.sort_unstable();
        if neighbours.len() > 2 && self.hang_together(&neighbours) && !self.would_blunt(node, nearest) {
            self.move_onto_skin(node, node, nearest);
            return;
        }
        if !self.is_plain(node) {
            self.draw_back(node, &too_near);
        }
        for way in too_near {
            self.move_cut(node, way, near(way));
        }
    }

    /// Whether skin beyond the node would be given up if it moved onto the skin beside it: some other cut lies far
    /// out, by its own normal, from there. On flat skin none does.
    fn would_blunt(&self, node: usize, way: usize) -> bool {
        let end = self.cut_place(node, way);
        let inner = &self.complex.inner[node];
        let cuts = (0..14).filter(|&w| inner.links[w] == NONE);
        let out = cuts.map(|w| (self.cut_place(node, w) - end).dot(inner.cuts[w].normal.as_dvec3()));
        out.fold(0.0, f64::max) > BLUNT * self.lattice.cell
    }

    /// Moves a node away from the skin that is too near, as far as the skin on the other side allows.
    fn draw_back(&mut self, node: usize, too_near: &[usize]) {
        let inner = &self.complex.inner[node];
        let room = DRAWN_BACK * self.lattice.cell;
        let start = self.positions[node];
        let gap = |place: DVec3, way: usize| {
            (self.cut_place(node, way) - place).dot(inner.cuts[way].normal.as_dvec3())
        };
        let mut end = start;
        for _ in 0..2 {
            for &way in too_near {
                end -= inner.cuts[way].normal.as_dvec3() * (room - gap(end, way)).max(0.0);
            }
        }
        let others = (0..14).filter(|w| inner.links[*w] == NONE && !too_near.contains(w));
        let mut share = (room / start.distance(end)).min(1.0);
        for way in others {
            let (before, after) = (gap(start, way), gap(end, way));
            if after < room / 2.0 && after < before {
                share = share.min(((before - room / 2.0) / (before - after)).max(0.0));
            }
        }
        if share.is_finite() {
            self.positions[node] = start.lerp(end, share);
        }
    }

    /// Moves a cut along its edge, then along the normal back to the skin.
    fn move_cut(&mut self, node: usize, way: usize, to: f64) {
        let along = (to - self.cuts[node][way]) * self.lattice.cell / 2.0;
        let normal = self.complex.inner[node].cuts[way].normal.as_dvec3();
        self.cuts[node][way] = to;
        if self.is_plain(node) {
            return;
        }
        self.drops[node][way] += STEPS[way].as_dvec3().dot(normal) * along;
    }

    fn is_plain(&self, node: usize) -> bool {
        self.plain.get(node).copied().unwrap_or(false)
    }

    /// The same for a node outside: it may not join parts that do not hang together.
    fn settle_outer(&mut self, outer: usize) {
        let edges: Vec<(u32, u8)> = self.complex.edges_of_outer[outer]
            .iter()
            .copied()
            .filter(|e| self.sides[e.0 as usize] == Side::In)
            .collect();
        let left = |w: &Self, e: &(u32, u8)| 1.0 - w.cuts[e.0 as usize][e.1 as usize];
        let nearest = edges
            .iter()
            .filter(|e| left(self, e) < near(e.1 as usize))
            .min_by(|a, b| left(self, a).total_cmp(&left(self, b)));
        let Some(&(from, way)) = nearest else { return };
        let mut neighbours: Vec<u32> = edges.iter().map(|e| e.0).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        if self.hang_together(&neighbours) {
            self.move_onto_skin(self.complex.inner.len() + outer, from as usize, way as usize);
            return;
        }
        for (from, way) in edges {
            let (from, way) = (from as usize, way as usize);
            if self.cuts[from][way] > 1.0 - near(way) {
                self.move_cut(from, way, 1.0 - near(way));
            }
        }
    }

    fn move_onto_skin(&mut self, node: usize, from: usize, way: usize) {
        self.positions[node] = self.cut_place(from, way);
        self.sides[node] = Side::On;
    }

    /// Where an edge is cut, measured from the node's place in the lattice.
    fn cut_place(&self, from: usize, way: usize) -> DVec3 {
        let start = self.lattice.place(self.complex.nodes[from]);
        let normal = self.complex.inner[from].cuts[way].normal.as_dvec3();
        start + STEPS[way].as_dvec3() * (self.lattice.cell / 2.0 * self.cuts[from][way])
            - normal * self.drops[from][way]
    }

    /// Whether nodes, in order, are joined by links among themselves.
    fn hang_together(&self, nodes: &[u32]) -> bool {
        let mut reached = vec![false; nodes.len()];
        reached[0] = true;
        let mut stack = vec![nodes[0]];
        while let Some(node) = stack.pop() {
            for other in self.complex.inner[node as usize].links {
                if let Ok(k) = nodes.binary_search(&other)
                    && !reached[k]
                {
                    reached[k] = true;
                    stack.push(other);
                }
            }
        }
        !reached.contains(&false)
    }

    /// The tets that remain inside.
    fn tets(&self) -> Stuffed {
        let mut build = Builder {
            warp: self,
            vertex_of_node: vec![NONE; self.complex.nodes.len()],
            vertex_of_cut: vec![NONE; self.complex.inner.len() * 14],
            out: Stuffed::default(),
        };
        for (index, tet) in self.complex.tets.iter().enumerate() {
            build.tet(index as u32, *tet);
        }
        build.out
    }
}

/// A corner of a cut tet: a node, or the cut of the edge between two.
#[derive(Debug, Clone, Copy)]
enum Corner {
    Node(u32),
    Cut(u32, u32),
}

struct Builder<'a> {
    warp: &'a Warp<'a>,
    vertex_of_node: Vec<u32>,
    vertex_of_cut: Vec<u32>,
    out: Stuffed,
}

impl Builder<'_> {
    fn tet(&mut self, source: u32, tet: [u32; 4]) {
        let side = |n: u32| self.warp.sides[n as usize];
        let of = |wanted: Side| tet.into_iter().filter(move |&n| side(n) == wanted).collect::<Vec<u32>>();
        let (inside, on, out) = (of(Side::In), of(Side::On), of(Side::Out));
        use Corner::{Cut, Node};
        match (inside.as_slice(), out.as_slice()) {
            ([], _) => {}
            (_, []) => self.emit(source, tet.map(Node)),
            // One node inside: a smaller tet.
            (&[p], _) => {
                self.emit(source, tet.map(|n| if side(n) == Side::Out { Cut(p, n) } else { Node(n) }))
            }
            // A pyramid on a cut face.
            (&[p, q], &[m]) => {
                let (p, q) = self.ordered(p, q, m);
                self.emit(source, [Node(on[0]), Node(p), Node(q), Cut(q, m)]);
                self.emit(source, [Node(on[0]), Node(p), Cut(q, m), Cut(p, m)]);
            }
            // A wedge: the edge inside against the quadrilateral of four cuts.
            (&[p, q], &[m, n]) => {
                let pillars = [(Node(p), Node(q)), (Cut(p, m), Cut(q, m)), (Cut(p, n), Cut(q, n))];
                let p_first_at = |x: u32| self.ordered(p, q, x).0 == p;
                let orders = acyclic(|order| {
                    let before = |i: usize, j: usize| place(order, i) < place(order, j);
                    before(0, 1) == p_first_at(m) && before(0, 2) == p_first_at(n)
                });
                let best = self.best(&orders, &pillars);
                self.prism(source, &pillars, best);
            }
            (&[p, q, r], &[m]) => {
                let pillars = [p, q, r].map(|n| (Node(n), Cut(n, m)));
                let nodes = [p, q, r];
                let orders = acyclic(|order| {
                    [(0, 1), (0, 2), (1, 2)].iter().all(|&(i, j)| {
                        let i_first = self.ordered(nodes[i], nodes[j], m).0 == nodes[i];
                        (place(order, i) < place(order, j)) == i_first
                    })
                });
                let best = self.best(&orders, &pillars);
                self.prism(source, &pillars, best);
            }
            _ => {}
        }
    }

    /// Which of two nodes inside has the diagonal of the quadrilateral that the cuts towards `m` leave of their
    /// face. It depends on the face alone, so the tets on both sides of it agree; and three faces of a tet never go
    /// round in a circle, which could not be filled.
    fn ordered(&self, p: u32, q: u32, m: u32) -> (u32, u32) {
        let at = |n: u32| self.warp.complex.nodes[n as usize];
        let p_first = if direction(at(q) - at(p)) < LONG {
            even(at(p))
        } else {
            (direction(at(m) - at(p)) < LONG) == LONG_FIRST
        };
        if p_first { (p, q) } else { (q, p) }
    }

    /// Of several ways to cut a prism, that with the best worst tet.
    fn best(&self, orders: &[[usize; 3]], pillars: &[(Corner, Corner); 3]) -> [usize; 3] {
        let worst = |order: &[usize; 3]| {
            let tets = split(pillars, *order);
            let quality = |tet: [Corner; 4]| shape(tet.map(|c| self.place(c)));
            tets.into_iter().map(quality).fold(f64::INFINITY, f64::min)
        };
        match orders {
            [only] => *only,
            _ => *orders.iter().max_by(|a, b| worst(a).total_cmp(&worst(b))).unwrap_or(&[0, 1, 2]),
        }
    }

    fn prism(&mut self, source: u32, pillars: &[(Corner, Corner); 3], order: [usize; 3]) {
        for tet in split(pillars, order) {
            self.emit(source, tet);
        }
    }

    fn place(&self, corner: Corner) -> DVec3 {
        match corner {
            Corner::Node(n) => self.warp.positions[n as usize],
            Corner::Cut(from, to) => self.warp.cut_place(from as usize, self.way(from, to)),
        }
    }

    fn way(&self, from: u32, to: u32) -> usize {
        direction(self.warp.complex.nodes[to as usize] - self.warp.complex.nodes[from as usize])
    }

    /// Where the corner would be in an unmoved lattice cut in the middle: which way round a tet goes is read from
    /// that, so that a tet turned inside out by its real corners shows as such.
    fn lattice_place(&self, corner: Corner) -> DVec3 {
        let at = |n: u32| self.warp.complex.nodes[n as usize].as_dvec3();
        match corner {
            Corner::Node(n) => at(n),
            Corner::Cut(from, to) => (at(from) + at(to)) / 2.0,
        }
    }

    fn emit(&mut self, source: u32, corners: [Corner; 4]) {
        let mut tet = corners.map(|corner| self.vertex(corner));
        let [a, b, c, d] = corners.map(|corner| self.lattice_place(corner));
        if (b - a).cross(c - a).dot(d - a) < 0.0 {
            tet.swap(2, 3);
        }
        self.out.tets.push(tet);
        self.out.source.push(source);
    }

    fn vertex(&mut self, corner: Corner) -> u32 {
        let place = self.place(corner);
        let known = match corner {
            Corner::Node(n) => &mut self.vertex_of_node[n as usize],
            Corner::Cut(from, to) => {
                let way =
                    direction(self.warp.complex.nodes[to as usize] - self.warp.complex.nodes[from as usize]);
                &mut self.vertex_of_cut[from as usize * 14 + way]
            }
        };
        if *known == NONE {
            *known = self.out.positions.len() as u32;
            self.out.positions.push(place);
        }
        *known
    }
}

/// On a face with one long and one short cut edge, whether the node at the long one has the diagonal.
const LONG_FIRST: bool = false;

/// Of the two ends of a long edge, one is even.
fn even(node: IVec3) -> bool {
    (node.x.div_euclid(2) + node.y.div_euclid(2) + node.z.div_euclid(2)) & 1 == 0
}

/// The orders of three pillars that a rule allows. Every order fills a prism: its diagonals go from the foot of an
/// earlier pillar to the top of a later one.
fn acyclic(allowed: impl Fn(&[usize; 3]) -> bool) -> Vec<[usize; 3]> {
    const ALL: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    ALL.into_iter().filter(|order| allowed(order)).collect()
}

fn place(order: &[usize; 3], pillar: usize) -> usize {
    order.iter().position(|&p| p == pillar).unwrap_or(3)
}

/// A prism between three pillars as three tets.
fn split(pillars: &[(Corner, Corner); 3], order: [usize; 3]) -> [[Corner; 4]; 3] {
    let [x, y, z] = order.map(|k| pillars[k]);
    [[x.0, y.0, z.0, z.1], [x.0, y.0, y.1, z.1], [x.0, x.1, y.1, z.1]]
}

/// Volume over the cube of the root mean square edge: 0 when flat, largest when regular.
pub(crate) fn shape([a, b, c, d]: [DVec3; 4]) -> f64 {
    let volume = (b - a).cross(c - a).dot(d - a).abs();
    let squares: f64 = [b - a, c - a, d - a, c - b, d - b, d - c].iter().map(|e| e.length_squared()).sum();
    volume / (squares * squares.sqrt())
}
