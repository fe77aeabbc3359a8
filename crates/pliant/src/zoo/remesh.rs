//! Even triangles, finer on thin limbs, with exactly the number of vertices asked for.

use super::grid::Body;
use super::mesh::{Mesh, next, prev};
use crate::parallel;
use glam::DVec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Edges longer than this many times their target split, shorter ones collapse: after either, edges are nearer to
/// the target than before.
const LONG: f64 = 4.0 / 3.0;
const SHORT: f64 = 4.0 / 5.0;
/// Rounds of split, collapse, flip and relax before the exact count; then rounds that keep the count.
const ROUNDS: usize = 6;
const POLISH: usize = 4;
/// How much finer one step of refinement is than the one before.
const FINER: f64 = 1.6;
/// Area of an even mesh per vertex, in squared edge lengths.
const AREA_PER_VERTEX: f64 = 0.866;
/// Vertices relaxed per parallel task.
const CHUNK: usize = 512;

/// A mesh on a field's surface whose edges follow the limbs' radii.
pub(super) struct Remesher<'a> {
    body: &'a Body,
    pub mesh: Mesh,
    /// Relative edge length wanted at each vertex.
    size: Vec<f64>,
    /// Unit normals of the field at each vertex.
    normal: Vec<DVec3>,
    /// Edge length wanted where the relative one is 1.
    scale: f64,
}

/// Relative edge length on a limb of some radius: thin limbs get finer triangles, but not as much finer as thinner.
fn size(radius: f64) -> f64 {
    libm::sqrt(radius)
}

impl<'a> Remesher<'a> {
    pub(super) fn new(body: &'a Body, mesh: Mesh) -> Self {
        let probes = parallel::map(mesh.position.len(), |v| body.probe(mesh.position[v]));
        let size = probes.iter().map(|p| size(p.radius)).collect();
        let normal = probes.iter().map(|p| p.gradient.normalize_or(DVec3::Y)).collect();
        let mut new = Self { body, mesh, size, normal, scale: 1.0 };
        new.settle(|_, mesh, v| mesh.at(v), 1);
        new
    }

    /// Remeshes to exactly `count` vertices, or as near as topology allows.
    pub(super) fn run(&mut self, count: usize) {
        let even: f64 = (0..self.mesh.half_edges() / 3).map(|t| self.evenness(3 * t)).sum();
        let scale = |count: usize| libm::sqrt(even / (AREA_PER_VERTEX * count as f64));
        let aim = scale(count);
        // The first mesh is full of slivers: a coarse, clean one comes first, then finer ones by steps.
        self.scale = scale(self.mesh.len() / 2);
        while self.scale > aim {
            self.round();
            self.round();
            self.scale /= FINER;
        }
        self.scale = aim;
        for round in 0..ROUNDS {
            if round < 3 {
                self.tidy();
            }
            self.round();
            if round > 0 {
                self.scale *= libm::sqrt(self.mesh.len() as f64 / count as f64).clamp(0.8, 1.25);
            }
        }
        self.add_to(count);
        self.remove_to(count);
        for _ in 0..POLISH {
            self.flip();
            self.relax();
        }
    }

    /// Drops what is gone and puts neighbours near each other in memory: the passes are bound by it.
    fn tidy(&mut self) {
        let (kept, triangles) = self.mesh.compact();
        let low = kept.iter().map(|&v| self.mesh.at(v)).fold(DVec3::INFINITY, DVec3::min);
        // Bits of the three coordinates in turn, in steps of two edges.
        let key = |k: u32| {
            let at = (self.mesh.at(kept[k as usize]) - low) / (2.0 * self.scale * size(0.05));
            let [x, y, z] = at.to_array().map(|c| c as u64);
            (0..16).fold(0, |key, bit| {
                let spread = |c: u64, axis: u32| (c >> bit & 1) << (3 * bit + axis);
                key | spread(x, 0) | spread(y, 1) | spread(z, 2)
            })
        };
        let mut order: Vec<(u64, u32)> = (0..kept.len() as u32).map(|k| (key(k), k)).collect();
        order.sort_unstable();
        let mut new = vec![0; kept.len()];
        order.iter().zip(0..).for_each(|(&(_, k), place)| new[k as usize] = place);
        let mut triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|k| new[k as usize])).collect();
        triangles.sort_unstable_by_key(|t| (t.iter().copied().min(), t[0], t[1], t[2]));
        let old = |&(_, k): &(u64, u32)| kept[k as usize] as usize;
        let position = order.iter().map(|o| self.mesh.position[old(o)]).collect();
        if let Some(mesh) = Mesh::new(position, &triangles) {
            self.mesh = mesh;
            self.size = order.iter().map(|o| self.size[old(o)]).collect();
            self.normal = order.iter().map(|o| self.normal[old(o)]).collect();
        }
    }

    /// Makes edges longer or shorter where they should be, and triangles rounder.
    fn round(&mut self) {
        self.split_long();
        self.collapse_short();
        self.flip();
        self.relax();
    }

    /// A triangle's area in units of the relative size there.
    fn evenness(&self, h: u32) -> f64 {
        let around: f64 = [h, next(h), prev(h)].map(|e| self.size[self.mesh.from(e) as usize]).iter().sum();
        0.5 * self.mesh.area(h).length() * 9.0 / (around * around)
    }

    fn target(&self, a: u32, b: u32) -> f64 {
        0.5 * self.scale * (self.size[a as usize] + self.size[b as usize])
    }

    /// Length of an edge over its target.
    fn relative(&self, h: u32) -> f64 {
        self.mesh.length(h) / self.target(self.mesh.from(h), self.mesh.to(h))
    }

    /// Half-edges that name each edge once.
    fn is_edge(&self, h: u32) -> bool {
        self.mesh.has_edge(h) && h < self.mesh.twin(h)
    }

    fn split(&mut self, h: u32) {
        let (a, b) = (self.mesh.from(h), self.mesh.to(h));
        let middle = self.mesh.at(a).midpoint(self.mesh.at(b));
        let (mut p, probe) = self.body.project(middle, 0.5 * self.mesh.length(h), 1);
        // In a fold the nearest skin may be the wrong one.
        let across = |e: u32| {
            let halves = [self.mesh.from(e), self.mesh.to(e)].map(|v| self.mesh.at(v));
            let apex = self.mesh.at(self.mesh.from(prev(e)));
            let old = self.mesh.area(e);
            let areas = [(p - halves[0]).cross(apex - p), (halves[1] - p).cross(apex - p)];
            areas.iter().all(|a| a.dot(old) > 0.3 * a.length() * old.length())
        };
        let [near, far] = [a, b].map(|v| self.mesh.at(v).distance(p));
        let between = near.min(far) > 0.25 * self.mesh.length(h);
        if !(between && across(h) && across(self.mesh.twin(h))) {
            p = middle;
        }
        self.mesh.split(h, p);
        self.size.push(size(probe.radius));
        self.normal.push(probe.gradient.normalize_or(DVec3::Y));
    }

    fn split_long(&mut self) {
        for h in 0..self.mesh.half_edges() {
            if self.is_edge(h) && self.relative(h) > LONG {
                self.split(h);
            }
        }
    }

    /// Collapses an edge if what comes out has no edge over `long` targets and no triangle turned over.
    fn collapse(&mut self, h: u32, long: f64, turn: f64) -> bool {
        let (a, b) = (self.mesh.from(h), self.mesh.to(h));
        let middle = self.mesh.at(a).midpoint(self.mesh.at(b));
        let (p, probe) = self.body.project(middle, 0.5 * self.mesh.length(h), 1);
        let fine = [(a, b), (b, a)].iter().all(|&(v, other)| {
            self.mesh.around(v).all(|e| {
                let (q, r) = (self.mesh.to(e), self.mesh.from(prev(e)));
                let near = q == other || self.mesh.at(q).distance(p) <= long * self.target(v, q);
                let gone = q == other || r == other;
                near && (gone || self.upright(e, p, turn))
            })
        });
        if !fine || !self.mesh.collapse(h, p) {
            return false;
        }
        self.size[b as usize] = size(probe.radius);
        self.normal[b as usize] = probe.gradient.normalize_or(DVec3::Y);
        true
    }

    /// Whether the triangle of a half-edge would face as before, to some cosine, with the edge's start at `p`.
    fn upright(&self, h: u32, p: DVec3, cosine: f64) -> bool {
        let [u, q, r] = [self.mesh.from(h), self.mesh.to(h), self.mesh.from(prev(h))];
        let area = (self.mesh.at(q) - p).cross(self.mesh.at(r) - p);
        let old = self.mesh.area(h);
        // A sliver faces nowhere: the skin's normals stand in for it.
        let sliver = old.length() < 0.02 * self.mesh.length(h).max(self.mesh.length(prev(h))).powi(2);
        let facing = match sliver {
            true => [u, q, r].iter().map(|&v| self.normal[v as usize]).sum(),
            false => old,
        };
        area.dot(facing) > cosine * area.length() * facing.length()
    }

    /// Whether the triangle of a half-edge would not become a needle, or a worse one, with the edge's start at `p`.
    /// In the corner of a fold the skin would draw many vertices into one point.
    fn stays_round(&self, h: u32, p: DVec3) -> bool {
        let [u, q, r] =
            [self.mesh.from(h), self.mesh.to(h), self.mesh.from(prev(h))].map(|v| self.mesh.at(v));
        let round = |a: DVec3| {
            let longest =
                (q - a).length_squared().max((r - a).length_squared()).max((q - r).length_squared());
            (q - a).cross(r - a).length() / longest.max(f64::MIN_POSITIVE)
        };
        round(p) >= f64::min(0.25, round(u))
    }

    fn collapse_short(&mut self) {
        for h in 0..self.mesh.half_edges() {
            if self.is_edge(h) && self.relative(h) < SHORT {
                // Crumbs go even where that bends the skin.
                self.collapse(h, LONG, if self.relative(h) < 0.2 { -0.5 } else { 0.3 });
            }
        }
    }

    /// Flips edges whose opposite angles sum to more than two right ones, where that bends nothing.
    fn flip(&mut self) {
        for h in 0..self.mesh.half_edges() {
            if !self.is_edge(h) {
                continue;
            }
            let g = self.mesh.twin(h);
            let [a, b, c, d] =
                [self.mesh.from(h), self.mesh.from(g), self.mesh.from(prev(h)), self.mesh.from(prev(g))];
            let [pa, pb, pc, pd] = [a, b, c, d].map(|v| self.mesh.at(v));
            let cotangent = |p: DVec3| (pa - p).dot(pb - p) / (pa - p).cross(pb - p).length().max(1e-300);
            if cotangent(pc) + cotangent(pd) >= -1e-6 {
                continue;
            }
            let old = (self.mesh.area(h) + self.mesh.area(g)).normalize_or_zero();
            let upright = |area: DVec3| area.dot(old) > 0.3 * area.length();
            if upright((pd - pc).cross(pb - pc)) && upright((pc - pd).cross(pa - pd)) {
                self.mesh.flip(h);
            }
        }
    }

    /// Moves vertices along the surface towards the middle of their neighbours' triangles.
    fn relax(&mut self) {
        self.settle(
            |this, mesh, v| {
                let (mut sum, mut total) = (DVec3::ZERO, 0.0);
                for e in mesh.around(v) {
                    let [q, r] = [mesh.to(e), mesh.from(prev(e))];
                    let weight = this.evenness(e);
                    sum += (mesh.at(v) + mesh.at(q) + mesh.at(r)) * (weight / 3.0);
                    total += weight;
                }
                let p = mesh.at(v);
                let step = if total > 0.0 { sum / total - p } else { DVec3::ZERO };
                let n = this.normal[v as usize];
                p + (step - n * step.dot(n))
            },
            1,
        );
    }

    /// Moves every vertex to `place`, then onto the surface; those that would turn a triangle over or flatten
    /// it stay.
    fn settle(&mut self, place: impl Fn(&Self, &Mesh, u32) -> DVec3 + Sync + Send, steps: usize) {
        let this = &*self;
        let count = this.mesh.position.len();
        let moved = parallel::map(count.div_ceil(CHUNK), |chunk| {
            let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(count);
            let project = |v: usize| {
                let v = v as u32;
                if !this.mesh.has_vertex(v) {
                    return None;
                }
                let stride = this.mesh.around(v).map(|e| this.mesh.length(e)).fold(f64::INFINITY, f64::min);
                Some(this.body.project(place(this, &this.mesh, v), stride, steps))
            };
            range.map(project).collect::<Vec<_>>()
        });
        for (v, found) in moved.into_iter().flatten().enumerate() {
            let Some((p, probe)) = found else { continue };
            let fine = |e| self.upright(e, p, 0.3) && self.stays_round(e, p);
            if self.mesh.around(v as u32).all(fine) {
                self.mesh.position[v] = p;
                self.size[v] = size(probe.radius);
                self.normal[v] = probe.gradient.normalize_or(DVec3::Y);
            }
        }
    }

    /// Splits the relatively longest edges until there are enough vertices.
    fn add_to(&mut self, count: usize) {
        if self.mesh.len() >= count {
            return;
        }
        let entry = |this: &Self, h: u32| (this.relative(h).to_bits(), Reverse(h));
        let mut heap: BinaryHeap<_> =
            (0..self.mesh.half_edges()).filter(|&h| self.is_edge(h)).map(|h| entry(self, h)).collect();
        while self.mesh.len() < count {
            let Some((bits, Reverse(h))) = heap.pop() else { return };
            if self.relative(h).to_bits() != bits {
                heap.push(entry(self, h));
                continue;
            }
            self.split(h);
            let middle = self.mesh.position.len() as u32 - 1;
            let spokes: Vec<u32> = self.mesh.around(middle).collect();
            heap.extend(spokes.into_iter().map(|e| entry(self, e)));
        }
    }

    /// Collapses the relatively shortest edges until few enough vertices are left.
    fn remove_to(&mut self, count: usize) {
        for (long, turn) in [(1.5, 0.3), (2.5, 0.1), (f64::INFINITY, -0.5), (f64::INFINITY, -2.0)] {
            let entry = |this: &Self, h: u32| Reverse((this.relative(h).to_bits(), h));
            let mut heap: BinaryHeap<_> =
                (0..self.mesh.half_edges()).filter(|&h| self.is_edge(h)).map(|h| entry(self, h)).collect();
            while self.mesh.len() > count {
                let Some(Reverse((bits, h))) = heap.pop() else { break };
                if !self.mesh.has_edge(h) || self.relative(h).to_bits() != bits {
                    continue;
                }
                let kept = self.mesh.to(h);
                if self.collapse(h, long, turn) {
                    let spokes: Vec<u32> = self.mesh.around(kept).collect();
                    heap.extend(spokes.into_iter().map(|e| entry(self, e)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::Mesh;
    use super::*;
    use crate::zoo::written;

    #[test]
    fn counts_are_exact_and_vertices_on_the_skin() {
        let figure = written("leg").unwrap().0;
        let body = Body::new(figure.field(), figure.cell);
        let (points, triangles) = body.polygonise();
        for count in [500, 1234, 20_001] {
            let mesh = Mesh::new(points.clone(), &triangles).unwrap();
            let mut remesher = Remesher::new(&body, mesh);
            remesher.run(count);
            let mesh = &remesher.mesh;
            assert_eq!(mesh.len(), count);
            let longest = (0..mesh.half_edges())
                .filter(|&h| mesh.has_edge(h))
                .map(|h| remesher.relative(h))
                .fold(0.0, f64::max);
            assert!(longest < 2.2, "{count}: an edge is {longest} times what it should be");
            let (kept, _) = mesh.compact();
            let off = kept.iter().map(|&v| body.probe(mesh.at(v)).distance.abs()).fold(0.0, f64::max);
            assert!(off < 0.25 * figure.cell, "{count}: {off} off the skin");
        }
    }
}
