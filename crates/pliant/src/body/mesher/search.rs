//! The lattice that gives the wanted number of tets.

use super::super::Fineness;
use super::super::bvh::Bvh;
use super::complex::Complex;
use super::lattice::{Lattice, STEPS};
use super::solid::{ShellShape, Solid};
use super::stuff::{Stuffed, stuff};
use super::thin::{Offsets, layers, stand_ins};
use glam::IVec3;

/// A count within this share of the wanted one is good enough: below it the lattice's own luck decides.
const CLOSE_ENOUGH: f64 = 0.015;

/// Tries at the wanted count; two or three do.
pub(crate) const MOST_TRIES: usize = 12;

/// Tries after which the lattice is moved.
const LUCKLESS: usize = 3;

/// Cuttings tried for the skin's volume, and the share of it that is near enough.
const MOST_LEVELLINGS: usize = 5;
const LEVEL: f64 = 0.002;

/// The skin is moved by no more than this, in cells, to make the tets' volume the skin's.
const MOST_SHIFT: f64 = 0.15;

/// Lines for the skin's volume, to a cell.
pub(crate) const FINE: f64 = 4.0;

/// Times that a lattice is mended where it steps over skin; what is left then stays as it is.
const MOST_REPAIRS: usize = 3;

/// The middle of a thin part has an inner node no farther than this, in cells: its skin is then never much farther
/// than half a cell outside the tets.
const COVERED: f64 = 0.65;

/// The same for a place half a cell under thick skin, where only tips have no node that near.
const COVERED_WHEN_THICK: f64 = 0.66;

/// A cell that gives about the wanted count: `N = 12 V / a^3` inside, and cut tets at the skin.
pub(crate) fn first_cell(shells: &[ShellShape], fineness: Fineness) -> f64 {
    let closed = || shells.iter().filter(|s| !s.open);
    match fineness {
        Fineness::Cell(cell) => cell,
        Fineness::Tets(count) => {
            let volume: f64 = closed().map(|s| s.volume.abs()).sum();
            let area: f64 = closed().map(|s| s.area).sum();
            cell_for(count as f64, volume, area, USUAL_CUT)
        }
    }
}

/// Tets that the skin adds, to a cell squared of its area: seen on many bodies.
const USUAL_CUT: f64 = 8.0;

/// Solves `N = 12 V / a^3 + k A / a^2` for `a` by halving: the right side only falls.
fn cell_for(count: f64, volume: f64, area: f64, k: f64) -> f64 {
    let tets = |a: f64| 12.0 * volume / (a * a * a) + k * area / (a * a);
    let (mut low, mut high) = (1.0f64, 1.0f64);
    while tets(low) < count && low > f64::MIN_POSITIVE {
        low /= 2.0;
    }
    while tets(high) > count && high < f64::MAX {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if tets(middle) > count { low = middle } else { high = middle }
    }
    (low * high).sqrt()
}

/// One lattice tried.
pub(crate) struct Try {
    pub(crate) lattice: Lattice,
    pub(crate) complex: Complex,
    pub(crate) stuffed: Stuffed,
    /// In cells.
    pub(crate) shift: f64,
}

pub(crate) fn attempt(solid: &Solid, bvh: &Bvh, thick: &[f64], search: &Search) -> Try {
    let cell = search.cell;
    let lattice = Lattice::new(solid, cell, search.luck);
    let offsets = Offsets::new(solid, thick, cell);
    let inside = lattice.inside(solid);
    let mut helpers = Vec::new();
    let mut round = 0;
    let complex = loop {
        let layers = layers(solid, bvh, &lattice, &offsets, &helpers);
        let complex = Complex::new(solid, bvh, &lattice, &offsets, inside.clone(), layers);
        round += 1;
        let missing =
            if round > MOST_REPAIRS { Vec::new() } else { missing(solid, bvh, &lattice, thick, &complex) };
        let known = helpers.len();
        helpers.extend(missing);
        helpers.sort_unstable_by_key(|h: &(IVec3, u32)| (h.0.to_array(), h.1));
        helpers.dedup();
        if helpers.len() == known {
            break complex;
        }
    };
    let (stuffed, shift) = level(&complex, &lattice, search);
    Try { lattice, complex, stuffed, shift }
}

/// Nodes that a complex lacks: near parts that hang on nothing, and where the lattice stepped over skin.
fn missing(
    solid: &Solid,
    bvh: &Bvh,
    lattice: &Lattice,
    thick: &[f64],
    complex: &Complex,
) -> Vec<(IVec3, u32)> {
    let bodies = complex.bodies();
    let any_astray = bodies.astray.contains(&true);
    stand_ins(solid, bvh, lattice, thick, |place, thin| {
        let middle = lattice.nearest(place);
        // Only thin parts are asked whether they are astray, and only where anything is.
        let may_stray = any_astray && thin;
        let (mut found, mut astray) = complex.finds(middle, &bodies);
        if found && !may_stray {
            return false;
        }
        let covered = if thin { COVERED } else { COVERED_WHEN_THICK };
        for step in STEPS {
            let near = lattice.place(middle + step).distance(place) < covered * lattice.cell;
            if !near && !may_stray {
                continue;
            }
            let (inner, stray) = complex.finds(middle + step, &bodies);
            found |= inner && near;
            astray |= stray;
        }
        !found || astray && may_stray
    })
}

/// Cuts a complex, moving the skin until the tets' volume is the skin's; returns the shift in cells.
fn level(complex: &Complex, lattice: &Lattice, search: &Search) -> (Stuffed, f64) {
    let cut = |shift: f64| stuff(complex, lattice, shift * lattice.cell, &[]);
    let miss = |s: &Stuffed| s.volume() / search.volume - 1.0;
    let (mut best, mut shift) = (cut(search.shift), search.shift);
    for _ in 0..MOST_LEVELLINGS {
        let more = miss(&best) * search.volume / (search.area * lattice.cell);
        let next = (shift - more).clamp(-MOST_SHIFT, MOST_SHIFT);
        if miss(&best).abs() < LEVEL || next == shift {
            break;
        }
        let again = cut(next);
        if miss(&again).abs() >= miss(&best).abs() {
            break;
        }
        (best, shift) = (again, next);
    }
    (best, shift)
}

/// The search for a cell that gives the wanted count.
pub(crate) struct Search {
    wanted: Option<f64>,
    cell: f64,
    /// In cells.
    shift: f64,
    /// Of the skin.
    pub(crate) volume: f64,
    area: f64,
    tries: usize,
    /// Where the lattice lies, in cells: small bodies can have bad luck with one place.
    luck: f64,
    /// Cells known to give too many tets and too few.
    small: f64,
    large: f64,
}

impl Search {
    pub(crate) fn new(solid: &Solid, fineness: Fineness, cell: f64) -> Self {
        let area = (0..solid.triangles.len() as u32)
            .map(|t| {
                let [a, b, c] = solid.corners(t);
                (b - a).cross(c - a).length() / 2.0
            })
            .sum();
        let wanted = if let Fineness::Tets(count) = fineness { Some(count as f64) } else { None };
        let volume = Lattice::new(solid, cell, 0.0).volume_inside(solid, FINE);
        Self { wanted, cell, shift: 0.0, volume, area, tries: 0, luck: 0.0, small: 0.0, large: f64::INFINITY }
    }

    /// How far a try is from the wanted count.
    pub(crate) fn miss(&self, tried: &Try) -> f64 {
        self.wanted.map_or(0.0, |w| (tried.stuffed.tets.len() as f64 / w - 1.0).abs())
    }

    /// Sets what to try next; whether this try was good enough.
    pub(crate) fn learn(&mut self, tried: &Try) -> bool {
        let Some(wanted) = self.wanted.filter(|_| self.miss(tried) > CLOSE_ENOUGH) else { return true };
        let (count, cell) = (tried.stuffed.tets.len() as f64, tried.lattice.cell);
        self.shift = tried.shift;
        if count > wanted {
            self.small = self.small.max(cell);
        } else {
            self.large = self.large.min(cell);
        }
        let inside = 12.0 * self.volume / (cell * cell * cell);
        let k = ((count - inside) * cell * cell / self.area).max(0.1);
        // Never half as large again at once: thickness is known no farther.
        self.cell = cell_for(wanted, self.volume, self.area, k).clamp(cell / 1.4, cell * 1.4);
        self.tries += 1;
        if self.tries.is_multiple_of(LUCKLESS) {
            self.luck += 0.15;
            (self.small, self.large) = (0.0, f64::INFINITY);
        }
        if self.small < self.large && !(self.small..=self.large).contains(&self.cell) {
            self.cell = (self.small * self.large).sqrt();
        }
        false
    }
}
