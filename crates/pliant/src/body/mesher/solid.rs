//! From any skin to closed surfaces with an inside: welded, turned outwards, holes capped, sheets set apart.

use super::super::embedding::places;
use super::super::{BodyError, Fate, Shell};
use super::union::Union;
use glam::{DVec3, Vec3};

/// Caps over more than this share of a shell's whole surface make it a sheet (a cape, a skirt, a hair card), not a
/// body with holes. A flat sheet has 0.5, a hemisphere 0.33, a torso open at neck, arms and waist under 0.2.
const OPEN_SHARE: f64 = 0.3;

/// Where every shell is open, those that enclose at least this much (volume over area to the 1.5; a ball has 0.094,
/// a hemisphere 0.08) are taken as bodies after all.
const FULL_ENOUGH: f64 = 0.01;

/// A volume less than this, over the cube of the shell's size, is rounding.
const NO_VOLUME: f64 = 1e-9;

/// The closed surfaces of a skin.
#[derive(Debug, Clone)]
pub(crate) struct Solid {
    /// Welded points, then the middles of caps.
    pub(crate) points: Vec<DVec3>,
    /// Skin triangles of shells with an inside, turned outwards, then caps.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The shell of each triangle.
    pub(crate) shell_of_triangle: Vec<u32>,
    /// What is known of each shell.
    pub(crate) shells: Vec<ShellShape>,
    /// The point of each vertex of the skin.
    pub(crate) point_of_vertex: Vec<u32>,
    /// The shell of each point.
    pub(crate) shell_of_point: Vec<u32>,
    /// Box around the triangles.
    pub(crate) low: DVec3,
    pub(crate) high: DVec3,
}

/// A connected piece of a skin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShellShape {
    pub(crate) first_vertex: u32,
    pub(crate) vertices: u32,
    pub(crate) area: f64,
    pub(crate) volume: f64,
    /// Longest side of the box around it.
    pub(crate) size: f64,
    pub(crate) open: bool,
}

impl ShellShape {
    pub(crate) fn shell(&self, fate: Fate) -> Shell {
        Shell { vertex: self.first_vertex, vertices: self.vertices, fate }
    }
}

impl Solid {
    pub(crate) fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<Self, BodyError> {
        let none = |why| Err(BodyError::NoVolume { why });
        if triangles.is_empty() {
            return none("it has no triangles");
        }
        let (firsts, point_of_vertex) = places(positions);
        let mut points: Vec<DVec3> =
            firsts.iter().map(|&v| to_lattice(positions[v as usize].as_dvec3())).collect();
        let mut triangles = clean(&points, triangles, &point_of_vertex);
        if triangles.is_empty() {
            return none("its triangles have no area");
        }
        let mut union = Union::new(points.len());
        triangles.iter().for_each(|&[a, b, c]| {
            union.join(a, b);
            union.join(b, c);
        });
        let mut shells: Vec<ShellShape> = Vec::new();
        let mut shell_of_root = vec![u32::MAX; points.len()];
        for (vertex, &point) in point_of_vertex.iter().enumerate() {
            let shell = &mut shell_of_root[union.root(point) as usize];
            if *shell == u32::MAX {
                *shell = shells.len() as u32;
                let first_vertex = vertex as u32;
                shells.push(ShellShape {
                    first_vertex,
                    vertices: 0,
                    area: 0.0,
                    volume: 0.0,
                    size: 0.0,
                    open: true,
                });
            }
            shells[*shell as usize].vertices += 1;
        }
        let shell_of_point: Vec<u32> =
            (0..points.len() as u32).map(|p| shell_of_root[union.root(p) as usize]).collect();
        // By shell, so that each is a run.
        triangles.sort_by_key(|t| shell_of_point[t[0] as usize]);
        let mut kept = Vec::new();
        let mut step_at = vec![u32::MAX; points.len()];
        for run in triangles.chunk_by(|a, b| shell_of_point[a[0] as usize] == shell_of_point[b[0] as usize]) {
            let shape = &mut shells[shell_of_point[run[0][0] as usize] as usize];
            let mut run = run.to_vec();
            turn_alike(&points, &mut run);
            let caps = cap(&mut points, &run, &mut step_at);
            let area: f64 = run.iter().map(|t| area_of(&points, t)).sum();
            let cap_area: f64 = caps.iter().map(|t| area_of(&points, t)).sum();
            run.extend(caps);
            // From the shell's own place, where less cancels.
            let origin = points[run[0][0] as usize];
            let volume: f64 = run.iter().map(|t| volume_of(&points, t, origin)).sum();
            shape.area = area + cap_area;
            shape.volume = volume;
            let (low, high) = bounds(run.iter().flatten().map(|&p| points[p as usize]));
            shape.size = (high - low).max_element();
            shape.open = cap_area > OPEN_SHARE * shape.area;
            kept.push(run);
        }
        let full = |s: &ShellShape| s.volume.abs() > FULL_ENOUGH * s.area * s.area.sqrt();
        if shells.iter().all(|s| s.open) {
            shells.iter_mut().for_each(|s| s.open = !full(s));
        }
        let flat = |s: &ShellShape| s.volume.abs() <= NO_VOLUME * s.size * s.size * s.size;
        shells.iter_mut().for_each(|s| s.open |= flat(s));
        if shells.iter().all(|s| s.open) {
            return none("it is flat, or open sheets");
        }
        let mut solid = Self {
            points,
            triangles: Vec::new(),
            shell_of_triangle: Vec::new(),
            shells,
            point_of_vertex,
            shell_of_point,
            low: DVec3::ZERO,
            high: DVec3::ZERO,
        };
        for run in kept {
            let shell = solid.shell_of_point[run[0][0] as usize];
            if !solid.shells[shell as usize].open {
                solid.shell_of_triangle.extend(std::iter::repeat_n(shell, run.len()));
                solid.triangles.extend(run);
            }
        }
        solid.turn_outwards();
        solid.measure();
        Ok(solid)
    }

    /// Shells that are inside out are turned, save those that are the wall of a hollow in another.
    fn turn_outwards(&mut self) {
        let inverted: Vec<u32> = (0..self.shells.len() as u32)
            .filter(|&s| !self.shells[s as usize].open && self.shells[s as usize].volume < 0.0)
            .collect();
        if inverted.is_empty() {
            return;
        }
        let upright: Vec<[u32; 3]> = (self.triangles.iter().zip(&self.shell_of_triangle))
            .filter(|(_, s)| self.shells[**s as usize].volume > 0.0)
            .map(|(t, _)| *t)
            .collect();
        let bvh = super::super::bvh::Bvh::new(&self.points, &upright);
        let mut scratch = Vec::new();
        for shell in inverted {
            let place =
                self.points[self.point_of_vertex[self.shells[shell as usize].first_vertex as usize] as usize];
            if bvh.winding(place, &mut scratch) > 0 {
                continue;
            }
            self.shells[shell as usize].volume *= -1.0;
            for (triangle, _) in
                self.triangles.iter_mut().zip(&self.shell_of_triangle).filter(|(_, s)| **s == shell)
            {
                triangle.swap(1, 2);
            }
        }
    }

    /// Without the shells that are not to be filled.
    pub(crate) fn keep(&mut self, wanted: &[bool]) {
        let of = std::mem::take(&mut self.shell_of_triangle);
        let mut shells = of.iter();
        self.triangles.retain(|_| shells.next().is_some_and(|&s| wanted[s as usize]));
        self.shell_of_triangle = of.into_iter().filter(|&s| wanted[s as usize]).collect();
        self.measure();
    }

    /// Splits edges longer than `longest`, so that what is known at points is known everywhere. Triangles at a split
    /// edge are split alike: the surface stays closed.
    pub(crate) fn refine(&mut self, longest: f64) {
        loop {
            let long =
                |&[p, q]: &[u32; 2]| self.points[p as usize].distance(self.points[q as usize]) > longest;
            let mut split: Vec<[u32; 2]> = Vec::new();
            for &[a, b, c] in &self.triangles {
                split.extend(
                    [[a, b], [b, c], [c, a]].map(|[p, q]| [p.min(q), p.max(q)]).iter().filter(|e| long(e)),
                );
            }
            if split.is_empty() {
                return;
            }
            split.sort_unstable();
            split.dedup();
            let first = self.points.len() as u32;
            let middles: Vec<DVec3> = split
                .iter()
                .map(|&[p, q]| (self.points[p as usize] + self.points[q as usize]) / 2.0)
                .collect();
            self.points.extend(middles);
            let middle =
                |p: u32, q: u32| split.binary_search(&[p.min(q), p.max(q)]).ok().map(|k| first + k as u32);
            let (mut triangles, mut shells) = (Vec::new(), Vec::new());
            for (&[a, b, c], &shell) in self.triangles.iter().zip(&self.shell_of_triangle) {
                let before = triangles.len();
                match (middle(a, b), middle(b, c), middle(c, a)) {
                    (None, None, None) => triangles.push([a, b, c]),
                    (Some(m), None, None) => triangles.extend([[a, m, c], [m, b, c]]),
                    (None, Some(m), None) => triangles.extend([[b, m, a], [m, c, a]]),
                    (None, None, Some(m)) => triangles.extend([[c, m, b], [m, a, b]]),
                    (Some(m), Some(n), None) => triangles.extend([[m, b, n], [a, m, n], [a, n, c]]),
                    (None, Some(m), Some(n)) => triangles.extend([[m, c, n], [b, m, n], [b, n, a]]),
                    (Some(n), None, Some(m)) => triangles.extend([[m, a, n], [c, m, n], [c, n, b]]),
                    (Some(m), Some(n), Some(o)) => {
                        triangles.extend([[a, m, o], [m, b, n], [o, n, c], [m, n, o]]);
                    }
                }
                shells.extend(std::iter::repeat_n(shell, triangles.len() - before));
            }
            self.triangles = triangles;
            self.shell_of_triangle = shells;
        }
    }

    fn measure(&mut self) {
        (self.low, self.high) = bounds(self.triangles.iter().flatten().map(|&p| self.points[p as usize]));
    }

    /// Corners of a triangle.
    pub(crate) fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.triangles[triangle as usize].map(|p| self.points[p as usize])
    }

    /// Outward unit normal of a triangle.
    pub(crate) fn normal(&self, triangle: u32) -> DVec3 {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(c - a).normalize_or_zero()
    }
}

/// Sine and cosine of the turn about x between the character and the lattice (22.6 degrees). Limbs that lie along a
/// lattice axis are cut the same way all along: their tet count jumps with the cell, and a wrong cell is wrong
/// everywhere. A turn about x keeps the lattice its own mirror image from left to right, as most bodies are.
const TURN: (f64, f64) = (5.0 / 13.0, 12.0 / 13.0);

pub(crate) fn to_lattice(p: DVec3) -> DVec3 {
    DVec3::new(p.x, TURN.1 * p.y - TURN.0 * p.z, TURN.0 * p.y + TURN.1 * p.z)
}

/// Back from the frame that all of this works in.
pub(crate) fn from_lattice(p: DVec3) -> DVec3 {
    DVec3::new(p.x, TURN.1 * p.y + TURN.0 * p.z, TURN.1 * p.z - TURN.0 * p.y)
}

fn bounds(points: impl Iterator<Item = DVec3>) -> (DVec3, DVec3) {
    points.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)))
}

/// Triangles between points: those of no area and all but the first of those with the same three points are left
/// out (a sheet drawn from both sides is one sheet).
fn clean(points: &[DVec3], triangles: &[[u32; 3]], point_of_vertex: &[u32]) -> Vec<[u32; 3]> {
    let mut keyed: Vec<([u32; 3], u32)> = Vec::with_capacity(triangles.len());
    for (index, triangle) in triangles.iter().enumerate() {
        let mut key = triangle.map(|v| point_of_vertex[v as usize]);
        if area_of(points, &key) > 0.0 {
            key.sort_unstable();
            keyed.push((key, index as u32));
        }
    }
    keyed.sort_unstable();
    keyed.dedup_by_key(|k| k.0);
    keyed.sort_unstable_by_key(|k| k.1);
    keyed.iter().map(|k| triangles[k.1 as usize].map(|v| point_of_vertex[v as usize])).collect()
}

fn area_of(points: &[DVec3], &[a, b, c]: &[u32; 3]) -> f64 {
    let [a, b, c] = [a, b, c].map(|p| points[p as usize]);
    (b - a).cross(c - a).length() / 2.0
}

fn volume_of(points: &[DVec3], &[a, b, c]: &[u32; 3], origin: DVec3) -> f64 {
    let [a, b, c] = [a, b, c].map(|p| points[p as usize] - origin);
    a.cross(b).dot(c) / 6.0
}

/// An undirected edge, the triangle it is of, and whether that goes from the lower point to the higher.
fn edges(triangles: &[[u32; 3]]) -> Vec<([u32; 2], u32, bool)> {
    let mut edges = Vec::with_capacity(triangles.len() * 3);
    for (index, t) in triangles.iter().enumerate() {
        for (p, q) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            edges.push(([p.min(q), p.max(q)], index as u32, p < q));
        }
    }
    edges.sort_unstable();
    edges
}

/// Makes neighbours agree on which side is out, by the side that more area has.
fn turn_alike(points: &[DVec3], triangles: &mut [[u32; 3]]) {
    let edges = edges(triangles);
    let pairs = edges.chunk_by(|a, b| a.0 == b.0).filter(|g| g.len() == 2);
    let pairs: Vec<(u32, u32, bool)> = pairs.map(|g| (g[0].1, g[1].1, g[0].2 == g[1].2)).collect();
    if pairs.iter().all(|p| !p.2) {
        return;
    }
    let mut neighbours: Vec<Vec<(u32, bool)>> = vec![Vec::new(); triangles.len()];
    for &(a, b, differ) in &pairs {
        neighbours[a as usize].push((b, differ));
        neighbours[b as usize].push((a, differ));
    }
    let mut turned: Vec<Option<bool>> = vec![None; triangles.len()];
    for seed in 0..triangles.len() {
        if turned[seed].is_some() {
            continue;
        }
        turned[seed] = Some(false);
        let mut patch = vec![seed];
        let mut next = 0;
        while let Some(&triangle) = patch.get(next) {
            next += 1;
            for &(other, differ) in &neighbours[triangle] {
                if turned[other as usize].is_none() {
                    turned[other as usize] = turned[triangle].map(|t| t ^ differ);
                    patch.push(other as usize);
                }
            }
        }
        let area_turned = |wanted: bool| -> f64 {
            let some = patch.iter().filter(|t| turned[**t] == Some(wanted));
            some.map(|&t| area_of(points, &triangles[t])).sum()
        };
        let minority = area_turned(true) <= area_turned(false);
        for &t in &patch {
            if turned[t] == Some(minority) {
                triangles[t].swap(1, 2);
            }
        }
    }
}

/// Fans over the boundary loops, so that every directed edge has its opposite and winding numbers are whole. The
/// boundary of any set of triangles is a set of closed loops, however wild the mesh.
///
/// `step_at` is scratch: all `u32::MAX`, as many as points, and left so.
fn cap(points: &mut Vec<DVec3>, triangles: &[[u32; 3]], step_at: &mut [u32]) -> Vec<[u32; 3]> {
    // Directed edges that lack an opposite, as often as they lack it.
    let mut open: Vec<[u32; 2]> = Vec::new();
    for group in edges(triangles).chunk_by(|a, b| a.0 == b.0) {
        let up = group.iter().filter(|e| e.2).count();
        let down = group.len() - up;
        let [p, q] = group[0].0;
        let edge = if up > down { [p, q] } else { [q, p] };
        open.extend(std::iter::repeat_n(edge, up.abs_diff(down)));
    }
    open.sort_unstable();
    let mut used = vec![false; open.len()];
    let first_from = |p: u32| open.partition_point(|e| e[0] < p);
    let mut caps = Vec::new();
    for start in 0..open.len() {
        // Walk until a point comes again; that closes a loop, and the walk goes on from there.
        let mut walk: Vec<usize> = Vec::new();
        let mut at = start;
        while !used[at] {
            used[at] = true;
            step_at[open[at][0] as usize] = walk.len() as u32;
            walk.push(at);
            let end = open[at][1];
            let seen = step_at[end as usize] as usize;
            if seen < walk.len() {
                let ring: Vec<u32> = walk.drain(seen..).map(|e| open[e][0]).collect();
                ring.iter().for_each(|&p| step_at[p as usize] = u32::MAX);
                fan(points, &ring, &mut caps);
            }
            let Some(next) =
                (first_from(end)..open.len()).take_while(|&e| open[e][0] == end).find(|&e| !used[e])
            else {
                break;
            };
            at = next;
        }
        walk.iter().for_each(|&e| step_at[open[e][0] as usize] = u32::MAX);
    }
    caps
}

/// Closes a loop that the triangles beside it run along in the order given.
fn fan(points: &mut Vec<DVec3>, ring: &[u32], caps: &mut Vec<[u32; 3]>) {
    match *ring {
        [_] | [_, _] | [] => {}
        [a, b, c] => caps.push([a, c, b]),
        _ => {
            let middle = ring.iter().map(|&p| points[p as usize]).sum::<DVec3>() / ring.len() as f64;
            let centre = points.len() as u32;
            points.push(middle);
            for (k, &p) in ring.iter().enumerate() {
                caps.push([ring[(k + 1) % ring.len()], p, centre]);
            }
        }
    }
}
