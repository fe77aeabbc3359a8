//! What can be asked for, and what can be held: said before memory or time is spent.

use super::super::{BodyError, Fineness};
use super::search::FINE;
use super::solid::Solid;

/// Counts of tets that can be asked for.
const FEWEST: usize = 50;
const MOST: usize = 10_000_000;

/// More crossings of lattice lines than this (a million tets have five million) would take minutes: the cell is too
/// small for the skin's size.
const MOST_CROSSINGS: f64 = 1e8;

/// Half cells across the body that a node's coordinates can count with room to spare.
const MOST_ACROSS: f64 = 1e8;

/// Cells across the body below which there is no lattice to speak of.
const LEAST_ACROSS: f64 = 1e-3;

/// Sizes of bodies whose tets' volumes single precision can hold.
const SMALLEST_BODY: f64 = 1e-9;
const LARGEST_BODY: f64 = 1e11;

/// Whether a setting is one.
pub(crate) fn check(fineness: Fineness) -> Result<(), BodyError> {
    match fineness {
        Fineness::Tets(count) if !(FEWEST..=MOST).contains(&count) => Err(BodyError::Setting {
            what: "a number of tets",
            value: count as f64,
            range: "50 to 10,000,000",
        }),
        Fineness::Cell(cell) if !(cell.is_finite() && cell > 0.0) => {
            Err(BodyError::Setting { what: "a cell", value: cell, range: "a length above 0" })
        }
        _ => Ok(()),
    }
}

/// Whether a lattice this fine can be counted and held.
pub(crate) fn check_size(solid: &Solid, cell: f64) -> Result<(), BodyError> {
    let across = (solid.high - solid.low).max_element() / cell;
    let volume: f64 = solid.shells.iter().filter(|s| !s.open).map(|s| s.volume.abs()).sum();
    // Lines through the box of a triangle, not the triangle: what is looped over, and what refining may add.
    let lines = |t: u32| {
        let [a, b, c] = solid.corners(t);
        let side = a.distance(b).max(b.distance(c)).max(c.distance(a)) / cell;
        side * side
    };
    let crossings = (0..solid.triangles.len() as u32).map(lines).sum::<f64>() * FINE * FINE;
    let tets = 12.0 * volume / (cell * cell * cell);
    let size = (solid.high - solid.low).max_element();
    if !(SMALLEST_BODY..=LARGEST_BODY).contains(&size) {
        return Err(BodyError::NoVolume {
            why: "it is too large or too small to count its volume; scale it",
        });
    }
    if across < LEAST_ACROSS {
        return Err(BodyError::Setting { what: "a cell", value: cell, range: "one no larger than the body" });
    }
    if across > MOST_ACROSS || crossings > MOST_CROSSINGS || tets > 2.0 * MOST as f64 {
        return Err(BodyError::Setting {
            what: "a cell",
            value: cell,
            range: "a larger one, or ask for fewer tets: this skin would need too many",
        });
    }
    Ok(())
}
