//! A closed triangle mesh that can be changed edge by edge: split, collapse, flip. Each keeps it closed, manifold and
//! of the same genus, or refuses.

use glam::DVec3;

pub(super) const NONE: u32 = u32::MAX;

/// Half-edges by threes: half-edge `h` of triangle `h / 3` goes from `origin[h]` to the origin of the next.
#[derive(Debug, Clone)]
pub(super) struct Mesh {
    pub position: Vec<DVec3>,
    origin: Vec<u32>,
    twin: Vec<u32>,
    /// A half-edge that leaves the vertex; `NONE` where it is gone.
    leaving: Vec<u32>,
    alive: usize,
}

pub(super) fn next(h: u32) -> u32 {
    if h % 3 == 2 { h - 2 } else { h + 1 }
}

pub(super) fn prev(h: u32) -> u32 {
    if h.is_multiple_of(3) { h + 2 } else { h - 1 }
}

impl Mesh {
    /// `None` where an edge does not have exactly two triangles that go opposite ways along it.
    pub(super) fn new(position: Vec<DVec3>, triangles: &[[u32; 3]]) -> Option<Self> {
        let origin: Vec<u32> = triangles.iter().flatten().copied().collect();
        let count = origin.len() as u32;
        let mut edges: Vec<(u32, u32, u32)> =
            (0..count).map(|h| (origin[h as usize], origin[next(h) as usize], h)).collect();
        edges.sort_unstable();
        let mut twin = vec![NONE; origin.len()];
        let mut leaving = vec![NONE; position.len()];
        for (k, &(a, b, h)) in edges.iter().enumerate() {
            if k > 0 && (edges[k - 1].0, edges[k - 1].1) == (a, b) {
                return None;
            }
            let opposite = edges.binary_search_by_key(&(b, a), |e| (e.0, e.1)).ok()?;
            twin[h as usize] = edges[opposite].2;
            leaving[a as usize] = h;
        }
        let alive = leaving.iter().filter(|&&h| h != NONE).count();
        Some(Self { position, origin, twin, leaving, alive })
    }

    /// How many vertices there are.
    pub(super) fn len(&self) -> usize {
        self.alive
    }

    /// One past the largest half-edge; some may be gone.
    pub(super) fn half_edges(&self) -> u32 {
        self.origin.len() as u32
    }

    pub(super) fn has_edge(&self, h: u32) -> bool {
        self.origin[h as usize] != NONE
    }

    pub(super) fn has_vertex(&self, v: u32) -> bool {
        self.leaving[v as usize] != NONE
    }

    pub(super) fn twin(&self, h: u32) -> u32 {
        self.twin[h as usize]
    }

    pub(super) fn from(&self, h: u32) -> u32 {
        self.origin[h as usize]
    }

    pub(super) fn to(&self, h: u32) -> u32 {
        self.origin[next(h) as usize]
    }

    pub(super) fn length(&self, h: u32) -> f64 {
        self.at(self.from(h)).distance(self.at(self.to(h)))
    }

    pub(super) fn at(&self, v: u32) -> DVec3 {
        self.position[v as usize]
    }

    /// Half-edges that leave a vertex, all around it.
    pub(super) fn around(&self, v: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.leaving[v as usize];
        let mut at = Some(first).filter(|&h| h != NONE);
        std::iter::from_fn(move || {
            let h = at?;
            let following = self.twin(prev(h));
            at = (following != first).then_some(following);
            Some(h)
        })
    }

    /// Area vector (twice the area long) of a half-edge's triangle.
    pub(super) fn area(&self, h: u32) -> DVec3 {
        let [a, b, c] = [self.from(h), self.to(h), self.from(prev(h))].map(|v| self.at(v));
        (b - a).cross(c - a)
    }

    fn join(&mut self, a: u32, b: u32) {
        self.twin[a as usize] = b;
        self.twin[b as usize] = a;
    }

    /// Puts a new vertex on an edge and returns it.
    pub(super) fn split(&mut self, h: u32, position: DVec3) -> u32 {
        let g = self.twin(h);
        let (a, b) = (self.from(h), self.from(g));
        let (c, d) = (self.from(prev(h)), self.from(prev(g)));
        let (bc, ad) = (self.twin(next(h)), self.twin(next(g)));
        let (t, m) = (self.half_edges(), self.position.len() as u32);
        self.position.push(position);
        self.leaving.push(t);
        self.alive += 1;
        // (a, b, c) becomes (a, m, c) and (m, b, c); (b, a, d) becomes (b, m, d) and (m, a, d).
        self.origin.extend([m, b, c, m, a, d]);
        self.twin.extend([NONE; 6]);
        self.origin[next(h) as usize] = m;
        self.origin[next(g) as usize] = m;
        self.join(t, g);
        self.join(t + 1, bc);
        self.join(t + 2, next(h));
        self.join(t + 3, h);
        self.join(t + 4, ad);
        self.join(t + 5, next(g));
        self.leaving[a as usize] = h;
        self.leaving[b as usize] = g;
        m
    }

    /// Whether an edge can collapse and leave a manifold: its ends share exactly the two vertices across from it.
    fn can_collapse(&self, h: u32) -> bool {
        let (a, b) = (self.from(h), self.to(h));
        let (c, d) = (self.from(prev(h)), self.from(prev(self.twin(h))));
        let shared = self.around(a).filter(|&e| self.around(b).any(|f| self.to(f) == self.to(e))).count();
        shared == 2 && c != d && self.around(c).count() > 3 && self.around(d).count() > 3
    }

    /// Moves the start of an edge into its end, which goes to `position`. Refuses where topology would change.
    pub(super) fn collapse(&mut self, h: u32, position: DVec3) -> bool {
        if !self.can_collapse(h) {
            return false;
        }
        let g = self.twin(h);
        let (a, b) = (self.from(h), self.from(g));
        let (c, d) = (self.from(prev(h)), self.from(prev(g)));
        let spokes: Vec<u32> = self.around(a).collect();
        for e in spokes {
            self.origin[e as usize] = b;
        }
        let (cb, bc) = (self.twin(next(h)), self.twin(prev(h)));
        let (db, bd) = (self.twin(next(g)), self.twin(prev(g)));
        self.join(cb, bc);
        self.join(db, bd);
        self.leaving[a as usize] = NONE;
        self.leaving[b as usize] = bd;
        self.leaving[c as usize] = cb;
        self.leaving[d as usize] = db;
        for e in [h, next(h), prev(h), g, next(g), prev(g)] {
            self.origin[e as usize] = NONE;
        }
        self.position[b as usize] = position;
        self.alive -= 1;
        true
    }

    /// Turns an edge to join the two vertices across from it. Refuses where they are joined already.
    pub(super) fn flip(&mut self, h: u32) -> bool {
        let g = self.twin(h);
        let (a, b) = (self.from(h), self.from(g));
        let (c, d) = (self.from(prev(h)), self.from(prev(g)));
        let joined = self.around(c).any(|e| self.to(e) == d);
        if c == d || joined || self.around(a).count() <= 3 || self.around(b).count() <= 3 {
            return false;
        }
        let (bc, ca) = (self.twin(next(h)), self.twin(prev(h)));
        let (ad, db) = (self.twin(next(g)), self.twin(prev(g)));
        // (a, b, c), (b, a, d) become (c, d, b), (d, c, a).
        for (e, v) in [(h, c), (next(h), d), (prev(h), b), (g, d), (next(g), c), (prev(g), a)] {
            self.origin[e as usize] = v;
        }
        self.join(next(h), db);
        self.join(prev(h), bc);
        self.join(next(g), ca);
        self.join(prev(g), ad);
        self.leaving[a as usize] = prev(g);
        self.leaving[b as usize] = prev(h);
        self.leaving[c as usize] = h;
        self.leaving[d as usize] = g;
        true
    }

    /// Vertices that are left, then triangles that refer to them.
    pub(super) fn compact(&self) -> (Vec<u32>, Vec<[u32; 3]>) {
        let kept: Vec<u32> = (0..self.position.len() as u32).filter(|&v| self.has_vertex(v)).collect();
        let mut new = vec![NONE; self.position.len()];
        kept.iter().enumerate().for_each(|(k, &v)| new[v as usize] = k as u32);
        let whole = self.origin.chunks_exact(3).filter(|t| t[0] != NONE);
        let triangles = whole.map(|t| [0, 1, 2].map(|k| new[t[k] as usize])).collect();
        (kept, triangles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An octahedron, split a few times.
    fn ball() -> Mesh {
        let position = [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::Z, DVec3::NEG_Z].to_vec();
        let triangles =
            [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
        let mut mesh = Mesh::new(position, &triangles).unwrap();
        for h in [0, 7, 13, 20, 31] {
            let middle = mesh.at(mesh.from(h)).midpoint(mesh.at(mesh.to(h)));
            mesh.split(h, middle);
        }
        mesh
    }

    /// Twins, rings and the Euler characteristic agree.
    fn assert_sound(mesh: &Mesh) {
        let (kept, triangles) = mesh.compact();
        assert_eq!(kept.len(), mesh.len());
        assert_eq!(2 * kept.len(), triangles.len() + 4, "not a sphere");
        assert!(Mesh::new(kept.iter().map(|&v| mesh.at(v)).collect(), &triangles).is_some());
        for h in (0..mesh.half_edges()).filter(|&h| mesh.has_edge(h)) {
            assert_eq!(mesh.twin(mesh.twin(h)), h);
            assert_eq!(mesh.from(mesh.twin(h)), mesh.to(h));
        }
        for v in (0..mesh.position.len() as u32).filter(|&v| mesh.has_vertex(v)) {
            let degree = (0..mesh.half_edges()).filter(|&h| mesh.has_edge(h) && mesh.from(h) == v).count();
            assert_eq!(mesh.around(v).count(), degree);
        }
    }

    #[test]
    fn splits_flips_and_collapses_keep_a_sphere() {
        let mut mesh = ball();
        assert_eq!(mesh.len(), 11);
        assert_sound(&mesh);
        let flipped = (0..mesh.half_edges()).filter(|&h| mesh.flip(h)).count();
        assert!(flipped > 0);
        assert_sound(&mesh);
        for h in 0..mesh.half_edges() {
            if mesh.has_edge(h) {
                let to = mesh.at(mesh.to(h));
                mesh.collapse(h, to);
                assert_sound(&mesh);
            }
        }
        // Nothing smaller than a tetrahedron is a closed surface.
        assert!(mesh.len() >= 4 && mesh.len() < 11);
    }

    #[test]
    fn a_flip_joins_the_opposite_vertices() {
        let mut mesh = ball();
        let h = (0..mesh.half_edges()).find(|&h| mesh.clone().flip(h)).unwrap();
        let across = [prev(h), prev(mesh.twin(h))].map(|e| mesh.from(e));
        assert!(mesh.flip(h));
        assert_eq!([mesh.from(h), mesh.to(h)], across);
    }

    #[test]
    fn open_and_doubled_surfaces_are_refused() {
        let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let closed = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
        assert!(Mesh::new(points.clone(), &closed).is_some());
        assert!(Mesh::new(points.clone(), &closed[..3]).is_none());
        assert!(Mesh::new(points, &[closed, closed].concat()).is_none());
    }
}
