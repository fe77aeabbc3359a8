//! The regions' points in batches of sixteen, the same for every width of register.

use super::kernel::Block;
use super::plain;
use super::regions::{NONE, Regions};
use crate::body::topology::Lists;
use crate::skin::mesh::Mesh;
use crate::skin::pack::ring;
use glam::DVec3;
use std::ops::Range;

/// Points a batch: the widest register there is.
pub(super) const BATCH: usize = 16;
/// Batches a parallel task: a few microseconds of work.
pub(super) const CHUNK: usize = 24;
/// Batches that are passed over together where a frame changes nothing there.
pub(super) const RUN: usize = 4;
/// Points of a region that lie together come together, whatever happens to them: threads share out all kinds of them alike.
const SECTOR: usize = 8192;
/// Points within which those with rings of one length are brought together.
const WINDOW: usize = 128;

/// A few batches in a row of one region and one kind, within a chunk.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub batches: Range<usize>,
    pub region: u32,
    /// What one bone carries, with everything around it.
    pub carried: Option<Carried>,
}

/// Areas that turn with a bone.
#[derive(Debug, Clone)]
pub(super) struct Carried {
    pub slot: u16,
    /// At rest, what they sum to, and what `x . A` does.
    pub area: DVec3,
    pub volume: f64,
}

/// What may happen to a point. Those of a kind come together, so that runs are passed over where nothing does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// It is moved for the volume's sake.
    Soft,
    /// It is around those that are.
    Beside,
    /// Several bones carry it, or it is around those that several do.
    Blended,
    /// One bone carries it and all around it.
    Carried(u16),
}

impl Run {
    pub(super) fn places(&self) -> Range<usize> {
        self.batches.start * BATCH..self.batches.end * BATCH
    }
}

/// Points region by region; those on a border once for each region.
#[derive(Debug)]
pub(super) struct Pack {
    /// For each batch the first of its rows of sixteen in `rings`; one more at the end.
    pub starts: Vec<u32>,
    /// The points around each point, one after the other, as offsets in numbers of four: consecutive ones make triangles
    /// with it. The point itself stands for a gap.
    pub rings: Vec<u32>,
    /// Whether all rings of a batch are closed: then their last points make triangles with their first.
    pub closed: Vec<bool>,
    pub runs: Vec<Run>,
    /// The first run of each chunk; one more at the end.
    pub run_starts: Vec<u32>,
    pub run_of_batch: Vec<u32>,
    /// The point of each place; one of the region's where a batch is filled up.
    pub point_of_place: Vec<u32>,
    /// Whether a place only fills up.
    pub filler: Vec<bool>,
    /// The first place of each point, and all of them.
    pub place_of_point: Vec<u32>,
    pub places_of_point: Lists,
    /// For each point, then for each apex, the runs whose areas, or whose points' normals, change where it is moved.
    pub runs_of_point: Lists,
    /// The same of those that bones carry alone.
    pub carried_of_point: Lists,
    /// For each run those that have to be looked at where its points are moved.
    pub runs_of_run: Lists,
    /// Areas at rest of what bones carry, batch by batch.
    pub rest_areas: Vec<Block>,
    /// Points that an apex is the mean of.
    pub is_around_apex: Vec<bool>,
    /// A place of each region.
    pub origins: Vec<u32>,
    /// Edges of the fans, by apex and region, as places.
    pub fans: Vec<Fan>,
    /// The places whose mean each apex is.
    pub apexes: Vec<Vec<u32>>,
}

/// What one apex adds to one region.
#[derive(Debug)]
pub(super) struct Fan {
    pub apex: u32,
    pub region: u32,
    pub edges: Vec<[u32; 2]>,
}

/// A point of a region, and the points around it there.
struct Star {
    point: u32,
    ring: Vec<u32>,
    region: u32,
    kind: Kind,
}

impl Pack {
    /// `soft` says which points a correction moves of itself, `bone` which slot alone carries a point.
    pub(super) fn new(
        mesh: &Mesh,
        regions: &Regions,
        soft: &[bool],
        bone: &dyn Fn(u32) -> Option<u16>,
    ) -> Self {
        let points = mesh.len() as u32;
        let kind = |point: u32, ring: &[u32]| {
            let own = bone(point);
            match own {
                _ if soft[point as usize] => Kind::Soft,
                Some(slot)
                    if !regions.held[point as usize]
                        && ring.iter().all(|&p| p < points && bone(p) == own) =>
                {
                    Kind::Carried(slot)
                }
                _ if ring.iter().any(|&p| p < points && soft[p as usize]) => Kind::Beside,
                _ => Kind::Blended,
            }
        };
        let mut pack = Self {
            starts: Vec::new(),
            rings: Vec::new(),
            closed: Vec::new(),
            runs: Vec::new(),
            run_starts: Vec::new(),
            run_of_batch: Vec::new(),
            point_of_place: Vec::new(),
            filler: Vec::new(),
            place_of_point: vec![NONE; mesh.len()],
            places_of_point: Lists::group::<1>(0, &[]),
            runs_of_point: Lists::group::<1>(0, &[]),
            carried_of_point: Lists::group::<1>(0, &[]),
            runs_of_run: Lists::group::<1>(0, &[]),
            rest_areas: Vec::new(),
            is_around_apex: vec![false; mesh.len()],
            origins: vec![0; regions.triangles.len()],
            fans: Vec::new(),
            apexes: Vec::new(),
        };
        let mut rings: Vec<Vec<u32>> = Vec::new();
        let mut fans: Vec<(u32, u32, Vec<[u32; 2]>)> = Vec::new();
        let mut kinds: Vec<(u32, Kind)> = Vec::new();
        let order = curve(&mesh.points);
        let mut stars = Vec::new();
        for (region, triangles) in (0..).zip(&regions.triangles) {
            let mut pairs: Vec<(u32, [u32; 2])> = Vec::with_capacity(3 * triangles.len());
            for &[a, b, c] in triangles {
                pairs.extend([(a, [b, c]), (b, [c, a]), (c, [a, b])]);
            }
            pairs.sort_by_key(|p| p.0);
            for star in pairs.chunk_by(|a, b| a.0 == b.0) {
                let point = star[0].0;
                let pairs: Vec<[u32; 2]> = star.iter().map(|s| s.1).collect();
                if point >= points {
                    fans.push((point - points, region, pairs));
                    continue;
                }
                let ring = ring(point, pairs);
                let kind = kind(point, &ring);
                stars.push(Star { point, ring, region, kind });
            }
        }
        stars.sort_by_key(|star| (star.region, order[star.point as usize]));
        let sectors = stars.chunk_by_mut(|a, b| a.region == b.region).flat_map(|s| s.chunks_mut(SECTOR));
        sectors.for_each(|sector| sector.sort_by_key(|star| star.kind));
        for stars in stars.chunk_by_mut(|a, b| (a.region, a.kind) == (b.region, b.kind)) {
            // By bones as well, so that those of a batch are mostly the same.
            let slots = |star: &Star, k: usize| mesh.weights(star.point as usize).get(k).map(|w| w.0);
            let key = |star: &Star| (star.ring.len(), slots(star, 0), slots(star, 1));
            stars.chunks_mut(WINDOW).for_each(|window| window.sort_by_key(key));
            for batch in stars.chunks(BATCH) {
                for lane in 0..BATCH {
                    let star = batch.get(lane);
                    let point = star.unwrap_or(&batch[0]).point;
                    if star.is_some() && pack.place_of_point[point as usize] == NONE {
                        pack.place_of_point[point as usize] = pack.point_of_place.len() as u32;
                    }
                    pack.point_of_place.push(point);
                    pack.filler.push(star.is_none());
                    rings.push(star.map_or(Vec::new(), |s| s.ring.clone()));
                }
                kinds.push((batch[0].region, batch[0].kind));
            }
        }
        pack.lay_out(&rings, points);
        pack.cut(&kinds);
        pack.carry(mesh, &rings);
        pack.find_places(mesh.len());
        pack.find_runs(&rings, mesh.len() + regions.apexes.len());
        regions.apexes.iter().flatten().for_each(|&p| pack.is_around_apex[p as usize] = true);
        let place = |p: u32| pack.place_of_point[p as usize];
        let fan = |(apex, region, edges): (u32, u32, Vec<[u32; 2]>)| Fan {
            apex,
            region,
            edges: edges.iter().map(|e| e.map(place)).collect(),
        };
        pack.fans = fans.into_iter().map(fan).collect();
        pack.apexes = regions.apexes.iter().map(|a| a.iter().map(|&p| place(p)).collect()).collect();
        pack
    }

    /// Rings, sixteen side by side.
    fn lay_out(&mut self, rings: &[Vec<u32>], points: u32) {
        let apexes = self.point_of_place.len() as u32;
        for (batch, own) in rings.chunks(BATCH).enumerate() {
            self.starts.push((self.rings.len() / BATCH) as u32);
            let closed = own.iter().all(|ring| ring.first() == ring.last());
            self.closed.push(closed);
            let once = |ring: &Vec<u32>| ring.len().saturating_sub(usize::from(closed));
            let longest = own.iter().map(once).max().unwrap_or(0);
            for row in 0..longest {
                for (lane, ring) in own.iter().enumerate() {
                    // The last again where a ring is shorter than others, so that nothing is added.
                    let last = once(ring).checked_sub(1);
                    let place = match last.map(|last| ring[row.min(last)]) {
                        Some(p) if p >= points => apexes + (p - points),
                        Some(p) => self.place_of_point[p as usize],
                        None => (batch * BATCH + lane) as u32,
                    };
                    self.rings.push(4 * place);
                }
            }
        }
        self.starts.push((self.rings.len() / BATCH) as u32);
    }

    fn cut(&mut self, kinds: &[(u32, Kind)]) {
        for (chunk, kinds) in kinds.chunks(CHUNK).enumerate() {
            self.run_starts.push(self.runs.len() as u32);
            let mut at = chunk * CHUNK;
            for run in kinds.chunk_by(|a, b| a == b).flat_map(|run| run.chunks(RUN)) {
                self.run_of_batch.extend(run.iter().map(|_| self.runs.len() as u32));
                let carried = match run[0].1 {
                    Kind::Carried(slot) => Some(Carried { slot, area: DVec3::ZERO, volume: 0.0 }),
                    _ => None,
                };
                self.runs.push(Run { batches: at..at + run.len(), region: run[0].0, carried });
                at += run.len();
            }
        }
        self.run_starts.push(self.runs.len() as u32);
        for run in self.runs.iter().rev() {
            self.origins[run.region as usize] = run.places().start as u32;
        }
    }

    /// Areas at rest of what bones carry.
    fn carry(&mut self, mesh: &Mesh, rings: &[Vec<u32>]) {
        self.rest_areas = vec![[[0.0; BATCH]; 3]; self.batch_count()];
        for run in &mut self.runs {
            let places = run.places();
            let Some(carried) = &mut run.carried else { continue };
            for place in places {
                let at = mesh.points[self.point_of_place[place] as usize];
                let from = |p: u32| mesh.points[p as usize] - at;
                let area: DVec3 = rings[place].windows(2).map(|w| from(w[0]).cross(from(w[1]))).sum();
                carried.area += area;
                carried.volume += at.dot(area);
                plain::put(&mut self.rest_areas[place / BATCH], place % BATCH, area.as_vec3());
            }
        }
    }

    fn find_places(&mut self, points: usize) {
        let places: Vec<u32> = (0..self.len() as u32).filter(|&p| !self.filler[p as usize]).collect();
        let of: Vec<[u32; 1]> = places.iter().map(|&p| [self.point_of_place[p as usize]]).collect();
        self.places_of_point = Lists::group(points, &of).with(|k| places[k as usize]);
    }

    fn find_runs(&mut self, rings: &[Vec<u32>], points: usize) {
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        for (place, ring) in rings.iter().enumerate().filter(|(place, _)| !self.filler[*place]) {
            let point = self.point_of_place[place];
            // A point on a border has its area in several runs.
            for &own in self.places_of_point.of(point as usize) {
                let run = self.run_of_batch[own as usize / BATCH];
                pairs.extend(ring.iter().chain([&point]).map(|&p| [p, run]));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let of_point = |pairs: &[[u32; 2]]| {
            let owners: Vec<[u32; 1]> = pairs.iter().map(|p| [p[0]]).collect();
            Lists::group(points, &owners).with(|pair| pairs[pair as usize][1])
        };
        self.runs_of_point = of_point(&pairs);
        pairs.retain(|&[_, run]| self.runs[run as usize].carried.is_some());
        self.carried_of_point = of_point(&pairs);
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        for place in (0..self.len()).filter(|&place| !self.filler[place]) {
            let run = self.run_of_batch[place / BATCH];
            let others = self.runs_of_point.of(self.point_of_place[place] as usize);
            pairs.extend(others.iter().map(|&other| [run, other]));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let owners: Vec<[u32; 1]> = pairs.iter().map(|p| [p[0]]).collect();
        self.runs_of_run = Lists::group(self.runs.len(), &owners).with(|pair| pairs[pair as usize][1]);
    }

    /// Places, fillers included, without apexes.
    pub(super) fn len(&self) -> usize {
        self.point_of_place.len()
    }

    pub(super) fn batch_count(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn runs_of(&self, chunk: usize) -> &[Run] {
        &self.runs[self.run_starts[chunk] as usize..self.run_starts[chunk + 1] as usize]
    }
}

/// For each point where it comes along a curve that fills space.
fn curve(points: &[DVec3]) -> Vec<u32> {
    const BITS: u32 = 10;
    let low = points.iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
    let high = points.iter().fold(DVec3::NEG_INFINITY, |high, p| high.max(*p));
    let per_cell = f64::from((1 << BITS) - 1) / (high - low).max_element().max(f64::MIN_POSITIVE);
    let key = |point: &DVec3| {
        let cell = ((*point - low) * per_cell).to_array().map(|x| x as u32);
        let bits = (0..BITS).rev().flat_map(|bit| cell.map(|x| x >> bit & 1));
        bits.fold(0, |key, bit| key << 1 | bit)
    };
    points.iter().map(key).collect()
}
