//! Samples of a body's inside on a lattice, each with its distance from the skin.

use super::super::{Body, Bvh};
use super::{Ball, PROUD};
use crate::parallel;
use glam::{DVec3, IVec3};

/// The most cells in a box around the body: stringy bodies get a coarser lattice.
const MOST_CELLS: f64 = 8e6;
/// Share of the samples that the skin must enclose for it to say what is inside; else it is open, and tets say.
const CLOSED: f64 = 0.7;

const NONE: u32 = u32::MAX;

pub(super) struct Lattice {
    step: f64,
    low: DVec3,
    size: IVec3,
    /// Sample in each cell.
    cells: Vec<u32>,
    samples: Vec<IVec3>,
    radii: Vec<f64>,
}

/// A bit for each cell: rows of them are counted at once.
pub(super) struct Marks {
    /// A row's.
    words: usize,
    bits: Vec<u64>,
}

impl Lattice {
    /// About so many samples of the inside.
    pub(super) fn new(body: &Body, skin: &Bvh, count: f64) -> Self {
        let tets = body.tets();
        let places = tets.positions().iter().map(|p| p.as_dvec3());
        let (low, high) =
            places.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
        let sides = (high - low).max(DVec3::splat(f64::MIN_POSITIVE));
        let step = libm::cbrt((tets.volume() / count).max(sides.x * sides.y * sides.z / MOST_CELLS));
        // Off the planes that made bodies are cut along.
        let low = low + step * DVec3::new(0.31, 0.37, 0.43);
        let size = ((high - low) / step).floor().as_ivec3().max(IVec3::ZERO) + 1;
        let mut lattice = Self {
            step,
            low,
            size,
            cells: vec![NONE; (size.x * size.y * size.z) as usize],
            samples: Vec::new(),
            radii: Vec::new(),
        };
        for tet in 0..tets.tets().len() {
            lattice.add_within(tets.corners(tet));
        }
        lattice.samples.sort_unstable_by_key(|c| (c.z, c.y, c.x));
        let inside = lattice.measure(skin);
        if inside.iter().filter(|&&is| is).count() as f64 >= CLOSED * inside.len() as f64 {
            lattice.keep(&inside);
        }
        for (index, &cell) in lattice.samples.iter().enumerate() {
            lattice.cells[cell_of(size, cell)] = index as u32;
        }
        lattice
    }

    fn add_within(&mut self, corners: [DVec3; 4]) {
        let [a, b, c, d] = corners;
        let (low, high) = (a.min(b).min(c).min(d), a.max(b).max(c).max(d));
        let from = ((low - self.low) / self.step).ceil().as_ivec3().max(IVec3::ZERO);
        let to = ((high - self.low) / self.step).floor().as_ivec3().min(self.size - 1);
        let six = |p: DVec3, q: DVec3, r: DVec3, s: DVec3| (q - p).cross(r - p).dot(s - p);
        let whole = six(a, b, c, d);
        for z in from.z..=to.z {
            for y in from.y..=to.y {
                for x in from.x..=to.x {
                    let cell = IVec3::new(x, y, z);
                    let p = self.place(cell);
                    let parts = [six(p, b, c, d), six(a, p, c, d), six(a, b, p, d), six(a, b, c, p)];
                    let index = cell_of(self.size, cell);
                    if self.cells[index] == NONE && parts.iter().all(|&part| part / whole >= 0.0) {
                        self.cells[index] = self.samples.len() as u32;
                        self.samples.push(cell);
                    }
                }
            }
        }
    }

    fn keep(&mut self, wanted: &[bool]) {
        for (&cell, _) in self.samples.iter().zip(wanted).filter(|(_, is)| !**is) {
            self.cells[cell_of(self.size, cell)] = NONE;
        }
        let mut keep = wanted.iter();
        self.samples.retain(|_| *keep.next().unwrap_or(&true));
        let mut keep = wanted.iter();
        self.radii.retain(|_| *keep.next().unwrap_or(&true));
    }

    /// Distances from the skin, and whether it encloses samples, row by row: from one to the next distances change by no more
    /// than the way, and what is enclosed changes only where the skin is no farther than that.
    fn measure(&mut self, skin: &Bvh) -> Vec<bool> {
        let rows: Vec<&[IVec3]> = self.samples.chunk_by(|a, b| (a.z, a.y) == (b.z, b.y)).collect();
        let far = self.size.as_dvec3().length() * self.step;
        let found = parallel::map(rows.len(), |row| {
            let mut crossings = Vec::new();
            let mut last = None::<(i32, f64, bool)>;
            let measured = rows[row].iter().map(|&cell| {
                let place = self.place(cell);
                let way = |x: i32| f64::from(cell.x - x) * self.step * 1.001;
                let bound = last.map_or(far, |(x, distance, _)| distance + way(x));
                let is_in = match last {
                    Some((x, distance, is_in)) if way(x) < distance => is_in,
                    _ => skin.winding(place, &mut crossings) != 0,
                };
                let distance = skin.distance(place, bound);
                last = Some((cell.x, distance, is_in));
                (distance, is_in)
            });
            measured.collect::<Vec<(f64, bool)>>()
        });
        let (radii, inside) = found.into_iter().flatten().unzip();
        self.radii = radii;
        inside
    }

    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    fn place(&self, cell: IVec3) -> DVec3 {
        self.low + cell.as_dvec3() * self.step
    }

    pub(super) fn at(&self, sample: u32) -> DVec3 {
        self.place(self.samples[sample as usize])
    }

    /// Of the ball there.
    pub(super) fn radius(&self, sample: u32) -> f64 {
        self.radii[sample as usize] * (1.0 + PROUD)
    }

    pub(super) fn ball(&self, sample: u32) -> Ball {
        Ball { center: self.at(sample).as_vec3(), radius: self.radius(sample) as f32 }
    }

    fn sample(&self, cell: IVec3) -> Option<u32> {
        let is_in = cell.cmpge(IVec3::ZERO).all() && cell.cmplt(self.size).all();
        Some(self.cells[cell_of(self.size, cell)]).filter(|&s| is_in && s != NONE)
    }

    /// Calls `work` with the samples around one, and how far each is.
    pub(super) fn for_neighbours(&self, sample: u32, mut work: impl FnMut(u32, f64)) {
        let own = self.samples[sample as usize];
        for z in -1..=1 {
            for y in -1..=1 {
                for x in -1..=1 {
                    let off = IVec3::new(x, y, z);
                    if off != IVec3::ZERO
                        && let Some(s) = self.sample(own + off)
                    {
                        work(s, off.as_dvec3().length() * self.step);
                    }
                }
            }
        }
    }

    /// Calls `work` with all samples within a sample's ball.
    pub(super) fn for_each_within(&self, sample: u32, mut work: impl FnMut(u32)) {
        self.for_rows_within(sample, |row, [from, to]| {
            let first = row * self.size.x as usize;
            let cells = &self.cells[first + from..=first + to];
            cells.iter().filter(|&&s| s != NONE).for_each(|&s| work(s));
        });
    }

    /// Calls `work` with the rows of cells within a sample's ball: which, and the first and last cell of each.
    fn for_rows_within(&self, sample: u32, mut work: impl FnMut(usize, [usize; 2])) {
        let (own, radius) = (self.samples[sample as usize], self.radius(sample) / self.step);
        let (square, most) = (radius * radius, radius.floor() as i32);
        for z in (-most).max(-own.z)..=most.min(self.size.z - 1 - own.z) {
            let left = square - f64::from(z * z);
            let rows = left.max(0.0).sqrt() as i32;
            for y in (-rows).max(-own.y)..=rows.min(self.size.y - 1 - own.y) {
                let along = (left - f64::from(y * y)).max(0.0).sqrt() as i32;
                let (from, to) = ((own.x - along).max(0), (own.x + along).min(self.size.x - 1));
                work(((own.z + z) * self.size.y + own.y + y) as usize, [from as usize, to as usize]);
            }
        }
    }

    /// Marks, one for each sample, all set.
    pub(super) fn marks(&self) -> Marks {
        let words = (self.size.x as usize).div_ceil(64);
        let mut marks = Marks { words, bits: vec![0; words * (self.size.y * self.size.z) as usize] };
        (0..self.samples.len() as u32).for_each(|s| self.mark(&mut marks, s, true));
        marks
    }

    pub(super) fn mark(&self, marks: &mut Marks, sample: u32, set: bool) {
        let cell = self.samples[sample as usize];
        let word = (cell.z * self.size.y + cell.y) as usize * marks.words + cell.x as usize / 64;
        let bit = 1 << (cell.x % 64);
        if set { marks.bits[word] |= bit } else { marks.bits[word] &= !bit }
    }

    /// How many samples within a sample's ball are marked.
    pub(super) fn count_within(&self, marks: &Marks, sample: u32) -> u32 {
        let mut count = 0;
        self.for_rows_within(sample, |row, [from, to]| {
            let words = &marks.bits[row * marks.words..][from / 64..=to / 64];
            let last = words.len() - 1;
            for (k, &word) in words.iter().enumerate() {
                let after = if k == 0 { u64::MAX << (from % 64) } else { u64::MAX };
                let before = if k == last { u64::MAX >> (63 - to % 64) } else { u64::MAX };
                count += (word & after & before).count_ones();
            }
        });
        count
    }

    /// The sample nearest to a place within the body, then on to where the flesh is thickest, no farther away than it is
    /// thick there.
    pub(super) fn middle_near(&self, place: DVec3) -> Option<u32> {
        let cell = ((place - self.low) / self.step).round().as_ivec3();
        let mut near = None::<(f64, u32)>;
        for z in -1..=1 {
            for y in -1..=1 {
                for x in -1..=1 {
                    if let Some(s) = self.sample(cell + IVec3::new(x, y, z)) {
                        let distance = self.at(s).distance(place);
                        if near.is_none_or(|n| distance < n.0) {
                            near = Some((distance, s));
                        }
                    }
                }
            }
        }
        let (_, mut best) = near?;
        loop {
            let mut next = best;
            self.for_neighbours(best, |s, _| {
                let thicker = self.radius(s) > self.radius(next) * (1.0 + 1e-9);
                if thicker && self.at(s).distance(place) <= self.radius(s) {
                    next = s;
                }
            });
            if next == best {
                return Some(best);
            }
            best = next;
        }
    }
}

fn cell_of(size: IVec3, cell: IVec3) -> usize {
    let [x, y, z] = [cell.x, cell.y, cell.z].map(|c| c.max(0) as usize);
    let index = (z * size.y as usize + y) * size.x as usize + x;
    // Cells outside are refused by the caller; any index does.
    index.min((size.x as usize * size.y as usize * size.z as usize).saturating_sub(1))
}
