//! Which skin stands for which joint's volume.
//!
//! Volume is lost at joints: a region is a connected stretch of skin that several bones move, grown over the rigid skin
//! around it until it meets the next. Borders so lie on rigid skin, which the correction does not move. Fans over the borders (one
//! apex, the mean of the border's points, for each connected piece of it) close every region; neighbours share them, so
//! that the regions' volumes sum to that of the whole.

use crate::skin::mesh::Mesh;
use glam::DVec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A point that bones other than its first move by more than this is soft.
const SOFT: f64 = 1e-3;
/// Softness from which on flesh counts as a joint's, tried one after the other where a region holds several joints:
/// weights of soft bodies never quite end between them.
const CORES: [f64; 3] = [0.01, 0.05, 0.12];
/// Soft points below this are specks, no joint.
const LEAST_POINTS: usize = 3;
/// An open piece whose holes, closed flat, take more than this share of its area encloses nothing.
const MOST_HOLE: f64 = 0.35;

/// No region.
pub(super) const NONE: u32 = u32::MAX;

/// Skin cut into regions.
#[derive(Debug, Default)]
pub(super) struct Regions {
    pub count: usize,
    /// For each region its triangles and those of its fans; apexes are numbered on from the points.
    pub triangles: Vec<Vec<[u32; 3]>>,
    /// The piece of the skin that each region is of.
    pub piece: Vec<u32>,
    /// The points whose mean each apex is.
    pub apexes: Vec<Vec<u32>>,
    /// Points that lie on a border or at a hole: they are held.
    pub held: Vec<bool>,
    /// What could not be closed, in words.
    pub warnings: Vec<String>,
}

struct Side {
    edge: [u32; 2],
    triangle: u32,
    up: bool,
}

impl Regions {
    /// `soft` says how far bones other than its first move each point, 0 to 1.
    pub(super) fn new(mesh: &Mesh, soft: &[f64], part_of: &dyn Fn(u32) -> String) -> Self {
        let sides = sides(&mesh.triangles);
        let (piece_of, count) = pieces(mesh, &sides);
        let mut regions = Self { held: vec![false; mesh.len()], ..Self::default() };
        let closed = regions.closed(mesh, &sides, &piece_of, count, soft, part_of);
        let usable = |point: usize| {
            mesh.around.of(point).first().is_some_and(|&t| closed[piece_of[t as usize] as usize])
        };
        let seeds = seeds(mesh, soft, &usable);
        let (of_point, distance) = grown(mesh, &seeds);
        // The nearest corner's: all triangles around a soft point are of its region.
        let of_triangle: Vec<u32> = mesh
            .triangles
            .iter()
            .map(|t| {
                let nearest =
                    t.iter().min_by(|a, b| distance[**a as usize].total_cmp(&distance[**b as usize]));
                nearest.map_or(NONE, |&p| of_point[p as usize])
            })
            .collect();
        regions.count = of_point.iter().filter(|r| **r != NONE).max().map_or(0, |r| *r as usize + 1);
        regions.triangles = vec![Vec::new(); regions.count];
        regions.piece = vec![0; regions.count];
        for (t, corners) in mesh.triangles.iter().enumerate() {
            if of_triangle[t] != NONE {
                regions.triangles[of_triangle[t] as usize].push(*corners);
                regions.piece[of_triangle[t] as usize] = piece_of[t];
            }
        }
        regions.add_fans(mesh, &sides, &of_triangle);
        regions
    }

    /// Which pieces enclose a volume, holes closed flat.
    fn closed(
        &mut self,
        mesh: &Mesh,
        sides: &[Side],
        piece_of: &[u32],
        count: usize,
        soft: &[f64],
        part_of: &dyn Fn(u32) -> String,
    ) -> Vec<bool> {
        let mut open: Vec<Vec<[u32; 2]>> = vec![Vec::new(); count];
        for group in sides.chunk_by(|a, b| a.edge == b.edge) {
            let up = group.iter().filter(|s| s.up).count();
            if 2 * up != group.len() {
                open[piece_of[group[0].triangle as usize] as usize].push(group[0].edge);
            }
        }
        let (mut area, mut is_soft) = (vec![0.0; count], vec![false; count]);
        for (t, corners) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = corners.map(|p| mesh.points[p as usize]);
            area[piece_of[t] as usize] += 0.5 * (b - a).cross(c - a).length();
            is_soft[piece_of[t] as usize] |= corners.iter().any(|&p| soft[p as usize] > SOFT);
        }
        let whole: f64 = area.iter().sum();
        let (mut capped, mut left) = ((0, 0), (0, 0, 0.0, None));
        let closed: Vec<bool> = (0..count)
            .map(|piece| {
                if open[piece].is_empty() {
                    return true;
                }
                let holes = hole_area(mesh, &open[piece]);
                let closes = holes <= MOST_HOLE * area[piece];
                if is_soft[piece] && closes {
                    capped = (capped.0 + 1, capped.1 + open[piece].len());
                } else if is_soft[piece] {
                    let first = left.3.or(Some(open[piece][0][0]));
                    left = (left.0 + 1, left.1 + open[piece].len(), left.2 + area[piece], first);
                }
                closes
            })
            .collect();
        if capped.0 > 0 {
            self.warnings.push(format!(
                "volume of {} open pieces is kept as if their holes were closed flat (open edges: {})",
                capped.0, capped.1
            ));
        }
        if let Some(point) = left.3 {
            let vertex = mesh.vertex_of_point[point as usize];
            self.warnings.push(format!(
                "volume of {} open pieces, {:.0} % of the skin, cannot be kept: open or unevenly wound edges: {}, \
                 the first at vertex {vertex} of '{}'",
                left.0,
                100.0 * left.2 / whole.max(f64::MIN_POSITIVE),
                left.1,
                part_of(vertex)
            ));
        }
        closed
    }

    fn add_fans(&mut self, mesh: &Mesh, sides: &[Side], of_triangle: &[u32]) {
        // For each border edge, how often each region runs along it, from the lower point to the higher.
        let mut nets: Vec<([u32; 2], u32, i32)> = Vec::new();
        let mut leader: Vec<u32> = (0..mesh.len() as u32).collect();
        for group in sides.chunk_by(|a, b| a.edge == b.edge) {
            let first = nets.len();
            for side in group {
                let region = of_triangle[side.triangle as usize];
                let turn = if side.up { 1 } else { -1 };
                match nets[first..].iter_mut().find(|n| n.1 == region) {
                    Some(net) => net.2 += turn,
                    None => nets.push((group[0].edge, region, turn)),
                }
            }
            let mut at = first;
            while at < nets.len() {
                if nets[at].2 == 0 || nets[at].1 == NONE {
                    nets.swap_remove(at);
                } else {
                    at += 1;
                }
            }
            if nets.len() > first {
                unite(&mut leader, group[0].edge[0], group[0].edge[1]);
                group[0].edge.iter().for_each(|&p| self.held[p as usize] = true);
            }
        }
        let mut apex_of = vec![NONE; mesh.len()];
        for &([a, b], region, net) in &nets {
            let lead = find(&mut leader, a) as usize;
            if apex_of[lead] == NONE {
                apex_of[lead] = self.apexes.len() as u32;
                self.apexes.push(Vec::new());
            }
            let apex = mesh.len() as u32 + apex_of[lead];
            let fan = if net > 0 { [b, a, apex] } else { [a, b, apex] };
            (0..net.abs()).for_each(|_| self.triangles[region as usize].push(fan));
        }
        for point in (0..mesh.len() as u32).filter(|&p| self.held[p as usize]) {
            let apex = apex_of[find(&mut leader, point) as usize];
            if apex != NONE {
                self.apexes[apex as usize].push(point);
            }
        }
    }
}

fn sides(triangles: &[[u32; 3]]) -> Vec<Side> {
    let mut sides = Vec::with_capacity(3 * triangles.len());
    for (triangle, &[a, b, c]) in triangles.iter().enumerate() {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            sides.push(Side { edge: [from.min(to), from.max(to)], triangle: triangle as u32, up: from < to });
        }
    }
    sides.sort_unstable_by_key(|s| (s.edge, s.triangle, s.up));
    sides
}

/// The piece of each triangle, joined over edges.
fn pieces(mesh: &Mesh, sides: &[Side]) -> (Vec<u32>, usize) {
    let mut leader: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
    for pair in sides.windows(2).filter(|w| w[0].edge == w[1].edge) {
        unite(&mut leader, pair[0].triangle, pair[1].triangle);
    }
    let mut number = vec![NONE; leader.len()];
    let mut count = 0;
    let of = (0..leader.len() as u32).map(|t| {
        let lead = find(&mut leader, t) as usize;
        if number[lead] == NONE {
            number[lead] = count;
            count += 1;
        }
        number[lead]
    });
    let of: Vec<u32> = of.collect();
    (of, count as usize)
}

/// Area of flat fans over all holes.
fn hole_area(mesh: &Mesh, open: &[[u32; 2]]) -> f64 {
    let mut points: Vec<u32> = open.iter().flatten().copied().collect();
    points.sort_unstable();
    points.dedup();
    let index = |p: u32| points.binary_search(&p).unwrap_or(0) as u32;
    let mut leader: Vec<u32> = (0..points.len() as u32).collect();
    open.iter().for_each(|&[a, b]| unite(&mut leader, index(a), index(b)));
    let mut sums = vec![(DVec3::ZERO, 0.0); points.len()];
    for (k, &p) in points.iter().enumerate() {
        let sum = &mut sums[find(&mut leader, k as u32) as usize];
        *sum = (sum.0 + mesh.points[p as usize], sum.1 + 1.0);
    }
    let fan = |&[a, b]: &[u32; 2], leader: &mut Vec<u32>| {
        let (sum, n) = sums[find(leader, index(a)) as usize];
        let apex = sum / f64::max(n, 1.0);
        0.5 * (mesh.points[a as usize] - apex).cross(mesh.points[b as usize] - apex).length()
    };
    open.iter().map(|edge| fan(edge, &mut leader)).sum()
}

/// For each point the joint whose soft flesh it is of, if any.
fn seeds(mesh: &Mesh, soft: &[f64], usable: &dyn Fn(usize) -> bool) -> Vec<u32> {
    let inside = |point: usize, level: f64| soft[point] > level && usable(point);
    let mut of = vec![NONE; mesh.len()];
    let mut count = 0;
    let all: Vec<u32> = (0..mesh.len() as u32).filter(|&p| inside(p as usize, SOFT)).collect();
    let mut open: Vec<(Vec<u32>, usize)> =
        connected(mesh, &all, 0.0, soft).into_iter().map(|c| (c, 0)).collect();
    open.reverse();
    while let Some((flesh, level)) = open.pop() {
        if flesh.len() < LEAST_POINTS {
            continue;
        }
        // Split only where that gives several whole joints.
        let cores = CORES.get(level).map(|&least| connected(mesh, &flesh, least, soft)).unwrap_or_default();
        let large = |core: &Vec<u32>| 20 * core.len() >= flesh.len().max(20 * LEAST_POINTS);
        if cores.iter().filter(|c| large(c)).count() > 1 {
            open.extend(cores.into_iter().rev().filter(large).map(|c| (c, level + 1)));
        } else if level + 1 < CORES.len() {
            open.push((flesh, level + 1));
        } else {
            flesh.iter().for_each(|&p| of[p as usize] = count);
            count += 1;
        }
    }
    of
}

/// Connected flesh among some points, softer than `least`.
fn connected(mesh: &Mesh, among: &[u32], least: f64, soft: &[f64]) -> Vec<Vec<u32>> {
    let mut is_in = vec![false; mesh.len()];
    among.iter().filter(|&&p| soft[p as usize] > least).for_each(|&p| is_in[p as usize] = true);
    let mut found = Vec::new();
    for &start in among {
        if !std::mem::take(&mut is_in[start as usize]) {
            continue;
        }
        let mut flesh = vec![start];
        let mut next = 0;
        while let Some(&point) = flesh.get(next) {
            mesh.for_neighbours(point as usize, |n| {
                if std::mem::take(&mut is_in[n]) {
                    flesh.push(n as u32);
                }
            });
            next += 1;
        }
        found.push(flesh);
    }
    found
}

/// How far each point is from what is held, along edges.
pub(super) fn from_held(mesh: &Mesh, held: &[bool]) -> Vec<f64> {
    let seeds: Vec<u32> = held.iter().map(|&held| if held { 0 } else { NONE }).collect();
    grown(mesh, &seeds).1
}

/// Every point that can be reached from soft flesh to the nearest of it, along edges, with the distance.
fn grown(mesh: &Mesh, seeds: &[u32]) -> (Vec<u32>, Vec<f64>) {
    let mut of = seeds.to_vec();
    let mut distance: Vec<f64> = of.iter().map(|&r| if r == NONE { f64::INFINITY } else { 0.0 }).collect();
    // Distances are not negative: their bits are in their order.
    let mut queue: BinaryHeap<Reverse<(u64, u32)>> =
        (0..of.len()).filter(|&p| of[p] != NONE).map(|p| Reverse((0, p as u32))).collect();
    while let Some(Reverse((bits, point))) = queue.pop() {
        let (here, point) = (f64::from_bits(bits), point as usize);
        if here > distance[point] {
            continue;
        }
        mesh.for_neighbours(point, |n| {
            let there = here + mesh.points[point].distance(mesh.points[n]);
            if there < distance[n] {
                (distance[n], of[n]) = (there, of[point]);
                queue.push(Reverse((there.to_bits(), n as u32)));
            }
        });
    }
    (of, distance)
}

fn find(leader: &mut [u32], of: u32) -> u32 {
    let mut at = of;
    while leader[at as usize] != at {
        leader[at as usize] = leader[leader[at as usize] as usize];
        at = leader[at as usize];
    }
    at
}

fn unite(leader: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(leader, a), find(leader, b));
    leader[a.max(b) as usize] = a.min(b);
}
