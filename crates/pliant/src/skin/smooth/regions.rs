//! The volume around each joint: triangles, closed by fans over the borders of their region.

use crate::parallel;
use crate::rig::SkinMatrix;
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use std::ops::Range;

/// No joint, no record.
pub(super) const NONE: u32 = u32::MAX;

/// Triangles a parallel task.
const TASK: usize = 1024;

/// Determinants of joints closer to one than this are rounding of f32 matrices.
const NO_SCALE: f64 = 1e-5;

/// An edge of a border: places, and what raises them.
#[derive(Debug, Clone, Copy)]
struct Edge {
    ends: [u32; 2],
    records: [u32; 2],
}

/// All regions, one per joint.
#[derive(Debug, Default)]
pub(super) struct Regions {
    /// By region.
    triangles: Vec<[u32; 3]>,
    /// What raises each corner.
    records: Vec<[u32; 3]>,
    /// Region and triangles of each task.
    tasks: Vec<(u32, Range<u32>)>,
    /// Tasks of each region.
    tasks_of: Vec<Range<u32>>,
    /// A place of each region, to measure from: less cancellation.
    origins: Vec<u32>,
    /// Pieces of border, each closed by a fan around its middle.
    borders: Vec<Vec<Vec<Edge>>>,
    volumes: Vec<f64>,
    /// How much each slot carries of a region: its volume goes with their scales.
    carriers: Vec<Vec<(u16, f64)>>,
}

/// What one moving copy needs.
#[derive(Debug, Default, Clone)]
pub(super) struct State {
    sums: Vec<[f64; 4]>,
    cubics: Vec<[f64; 4]>,
}

impl State {
    /// The volume of a region as a cubic of the height of its bulge.
    pub(super) fn of(&self, region: usize) -> [f64; 4] {
        self.cubics[region]
    }
}

impl Regions {
    pub(super) fn new(
        joint_of_place: &[u32],
        count: usize,
        rest: &[Vec3],
        triangles: &[[u32; 3]],
        slots: impl Fn(usize) -> Vec<(u16, f64)>,
    ) -> Self {
        let region = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|p| joint_of_place[p as usize]);
            if b == c { b } else { a }
        };
        let mut sorted: Vec<(u32, u32)> =
            triangles.iter().enumerate().map(|(index, t)| (region(t), index as u32)).collect();
        sorted.retain(|t| t.0 != NONE);
        sorted.sort_unstable();
        let mut made = Self {
            triangles: sorted.iter().map(|t| triangles[t.1 as usize]).collect(),
            tasks_of: vec![0..0; count],
            origins: vec![0; count],
            borders: vec![Vec::new(); count],
            volumes: vec![0.0; count],
            carriers: vec![Vec::new(); count],
            ..Self::default()
        };
        let mut start = 0;
        for run in sorted.chunk_by(|a, b| a.0 == b.0) {
            let region = run[0].0 as usize;
            let end = start + run.len();
            let first_task = made.tasks.len() as u32;
            for from in (start..end).step_by(TASK) {
                made.tasks.push((region as u32, from as u32..end.min(from + TASK) as u32));
            }
            made.tasks_of[region] = first_task..made.tasks.len() as u32;
            made.origins[region] = made.triangles[start][0];
            made.borders[region] = borders(&made.triangles[start..end]);
            made.carriers[region] = carriers(&made.triangles[start..end], rest, &slots);
            start = end;
        }
        made.records = vec![[NONE; 3]; made.triangles.len()];
        let mut volumes = Vec::new();
        made.volumes(rest, &mut State::default(), &mut volumes);
        made.volumes = volumes;
        made
    }

    /// Asks for what raises each corner for the region's own joint.
    pub(super) fn find_records(&mut self, find: impl Fn(usize, u32) -> u32) {
        let found: Vec<[u32; 3]> = self
            .tasks
            .iter()
            .flat_map(|(region, range)| {
                let own = &self.triangles[range.start as usize..range.end as usize];
                own.iter().map(|t| t.map(|place| find(*region as usize, place))).collect::<Vec<_>>()
            })
            .collect();
        self.records = found;
        for (region, borders) in self.borders.iter_mut().enumerate() {
            for edge in borders.iter_mut().flatten() {
                edge.records = edge.ends.map(|place| find(region, place));
            }
        }
    }

    /// The volume of a region at rest.
    pub(super) fn volume(&self, region: usize) -> f64 {
        self.volumes[region]
    }

    /// -1 where the skin is modelled inside out.
    pub(super) fn sign(&self, region: usize) -> f64 {
        if self.volumes[region] < 0.0 { -1.0 } else { 1.0 }
    }

    /// What the joints' scales make of a region's volume.
    pub(super) fn scale(&self, region: usize, matrices: &[SkinMatrix]) -> f64 {
        let of_slot = |slot: u16| {
            let [x, y, z] = matrices[usize::from(slot)].map(|r| DVec3::new(r[0].into(), r[1].into(), r[2].into()));
            let det = x.dot(y.cross(z));
            if (det - 1.0).abs() < NO_SCALE { 1.0 } else { det }
        };
        self.carriers[region].iter().map(|&(slot, share)| share * of_slot(slot)).sum()
    }

    /// The volume of each region.
    pub(super) fn volumes(&self, places: &[Vec3], state: &mut State, out: &mut Vec<f64>) {
        self.cubics(places, |_| Vec3::ZERO, state);
        out.clear();
        out.extend(state.cubics.iter().map(|c| c[0]));
    }

    /// The volume of each region as a cubic of the height of its bulge: points go along `raised` of their record.
    pub(super) fn cubics(&self, places: &[Vec3], raised: impl Fn(u32) -> Vec3 + Sync, state: &mut State) {
        state.sums.resize(self.tasks.len(), [0.0; 4]);
        let origin = |region: u32| places[self.origins[region as usize] as usize];
        parallel::for_each_chunk_mut(&mut state.sums, 1, |task, sum| {
            let (region, range) = &self.tasks[task];
            let range = range.start as usize..range.end as usize;
            let origin = origin(*region);
            let mut total = [0.0f64; 4];
            for (corners, records) in self.triangles[range.clone()].iter().zip(&self.records[range]) {
                let x = corners.map(|p| places[p as usize] - origin);
                let terms = if *records == [NONE; 3] {
                    [x[0].dot(x[1].cross(x[2])), 0.0, 0.0, 0.0]
                } else {
                    cubic(x, records.map(&raised))
                };
                (0..4).for_each(|k| total[k] += f64::from(terms[k]));
            }
            sum[0] = total;
        });
        state.cubics.clear();
        for (region, tasks) in self.tasks_of.iter().enumerate() {
            let mut total = [0.0f64; 4];
            for sum in &state.sums[tasks.start as usize..tasks.end as usize] {
                (0..4).for_each(|k| total[k] += sum[k]);
            }
            for border in &self.borders[region] {
                let origin = origin(region as u32);
                let share = 1.0 / border.len() as f32;
                let (mut middle, mut lifted) = (Vec3::ZERO, Vec3::ZERO);
                for edge in border {
                    middle += (places[edge.ends[0] as usize] - origin) * share;
                    lifted += raised(edge.records[0]) * share;
                }
                for edge in border {
                    let [a, b] = edge.ends.map(|p| places[p as usize] - origin);
                    let [up_a, up_b] = edge.records.map(&raised);
                    let terms = cubic([middle, b, a], [lifted, up_b, up_a]);
                    (0..4).for_each(|k| total[k] += f64::from(terms[k]));
                }
            }
            state.cubics.push(total.map(|t| t / 6.0));
        }
    }
}

/// `det(x + A d)` of three corners, by powers of `A`.
fn cubic(x: [Vec3; 3], d: [Vec3; 3]) -> [f32; 4] {
    let (bc, ca, ab) = (x[1].cross(x[2]), x[2].cross(x[0]), x[0].cross(x[1]));
    let (up_bc, up_ca, up_ab) = (d[1].cross(d[2]), d[2].cross(d[0]), d[0].cross(d[1]));
    [
        x[0].dot(bc),
        d[0].dot(bc) + d[1].dot(ca) + d[2].dot(ab),
        x[0].dot(up_bc) + x[1].dot(up_ca) + x[2].dot(up_ab),
        d[0].dot(up_bc),
    ]
}

/// The edges that only one side of belongs to the region, as connected pieces.
fn borders(triangles: &[[u32; 3]]) -> Vec<Vec<Edge>> {
    // Of each edge, by its lower end first, how often it is passed that way less how often the other way.
    let mut passes: BTreeMap<(u32, u32), i32> = BTreeMap::new();
    for &[a, b, c] in triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            *passes.entry((from.min(to), from.max(to))).or_default() += if from < to { 1 } else { -1 };
        }
    }
    let mut edges: Vec<[u32; 2]> = Vec::new();
    for ((low, high), count) in passes {
        let ends = if count > 0 { [low, high] } else { [high, low] };
        edges.extend((0..count.unsigned_abs()).map(|_| ends));
    }
    // Pieces by the lowest place that they reach.
    let mut first: BTreeMap<u32, u32> = edges.iter().flatten().map(|&p| (p, p)).collect();
    fn root(first: &mut BTreeMap<u32, u32>, mut place: u32) -> u32 {
        while first[&place] != place {
            let up = first[&first[&place]];
            first.insert(place, up);
            place = up;
        }
        place
    }
    for &[a, b] in &edges {
        let (a, b) = (root(&mut first, a), root(&mut first, b));
        first.insert(a.max(b), a.min(b));
    }
    let mut pieces: BTreeMap<u32, Vec<Edge>> = BTreeMap::new();
    for ends in edges {
        let piece = root(&mut first, ends[0]);
        pieces.entry(piece).or_default().push(Edge { ends, records: [NONE; 2] });
    }
    pieces.into_values().collect()
}

/// How much each slot carries, by area.
fn carriers(
    triangles: &[[u32; 3]],
    rest: &[Vec3],
    slots: &impl Fn(usize) -> Vec<(u16, f64)>,
) -> Vec<(u16, f64)> {
    let mut sums: BTreeMap<u16, f64> = BTreeMap::new();
    for corners in triangles {
        let [a, b, c] = corners.map(|p| rest[p as usize].as_dvec3());
        let area = (b - a).cross(c - a).length().max(f64::MIN_POSITIVE);
        for &corner in corners {
            for (slot, weight) in slots(corner as usize) {
                *sums.entry(slot).or_default() += area * weight;
            }
        }
    }
    let total: f64 = sums.values().sum();
    sums.into_iter().map(|(slot, sum)| (slot, sum / total)).collect()
}
