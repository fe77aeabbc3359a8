//! From any skin to tets: isosurface stuffing on a body-centred cubic lattice, with thin parts thickened and parts
//! that nearly touch kept apart.

mod complex;
mod improve;
mod lattice;
mod solid;
mod stuff;
mod thin;
mod union;

use super::bvh::{Bvh, Crossing};
use super::{BodyError, Fate, Fineness, Progress, Shell};
use crate::asset::TetMesh;
use complex::Complex;
use glam::{DVec3, IVec3, Vec3};
use lattice::{Lattice, STEPS};
use solid::{ShellShape, Solid, from_lattice, to_lattice};
use stuff::{Stuffed, stuff};
use thin::{Offsets, STEPPED_OVER, layers, stand_ins, thicknesses};

/// What can be asked for.
const FEWEST: usize = 50;
const MOST: usize = 10_000_000;

/// A count within this share of the wanted one is good enough: below it the lattice's own luck decides.
const CLOSE_ENOUGH: f64 = 0.015;

/// Tries at the wanted count; two or three do.
const MOST_TRIES: usize = 12;

/// Tries after which the lattice is moved.
const LUCKLESS: usize = 3;

/// The shift that most bodies need, in cells, where the search starts.
const USUAL_SHIFT: f64 = 0.0;

/// Cuttings tried for the skin's volume, and the share of it that is near enough.
const MOST_LEVELLINGS: usize = 5;
const LEVEL: f64 = 0.002;

/// The skin is moved by no more than this, in cells, to make the tets' volume the skin's.
const MOST_SHIFT: f64 = 0.15;

/// Times that nodes of flat tets are cut in the plain way; each may show up a neighbour.
const MOST_RECUTS: usize = 5;

/// Lines for the skin's volume, to a cell.
const FINE: f64 = 4.0;

/// Times that a lattice is mended where it steps over skin; what is left then stays as it is.
const MOST_REPAIRS: usize = 3;

/// The middle of a thin part has an inner node no farther than this, in cells: its skin is then never much farther
/// than half a cell outside the tets.
const COVERED: f64 = 0.65;

/// The same for a place half a cell under thick skin, where only tips have no node that near.
const COVERED_WHEN_THICK: f64 = 0.66;

/// A shell whose volume is below this, in cells cubed (12 tets), is too small to be meshed.
const SMALL: f64 = 1.0;

/// A shell whose mean thickness (twice its volume over its area) is below this, in cells, is too thin: thickening
/// would make of a blade or an eyelash something else.
const THIN: f64 = 0.15;

/// A shell with this share of all volume is the body, however thin or small.
const MAIN_SHARE: f64 = 0.2;

/// More crossings of lattice lines than this (a million tets have five million) would take minutes; the cell is too small for the skin's size.
const MOST_CROSSINGS: f64 = 1e8;

/// Half cells across the body that a node's coordinates can count with room to spare.
const MOST_ACROSS: f64 = 1e8;

/// Cells across the body below which there is no lattice to speak of.
const LEAST_ACROSS: f64 = 1e-3;

/// Sizes of bodies whose tets' volumes single precision can hold.
const SMALLEST_BODY: f64 = 1e-9;
const LARGEST_BODY: f64 = 1e11;

/// Tets inside a skin, and what is known of how they lie in it.
pub(crate) struct Meshed {
    pub(crate) tets: TetMesh,
    pub(crate) cell: f64,
    pub(crate) skin_volume: f64,
    pub(crate) shells: Vec<Shell>,
    pub(crate) shell_of_vertex: Vec<u32>,
    solid: Solid,
    bvh: Bvh,
    lattice: Lattice,
    complex: Complex,
    /// The tet of the complex that each tet came from.
    source: Vec<u32>,
    /// The solid's triangles at each point, as starts and items.
    touching: (Vec<u32>, Vec<u32>),
}

/// Meshes a skin.
pub(crate) fn mesh(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    fineness: Fineness,
    progress: Progress,
) -> Result<Meshed, BodyError> {
    check(fineness)?;
    let mut step = |share: f32| if progress(share) { Ok(()) } else { Err(BodyError::Stopped) };
    step(0.0)?;
    let mut solid = Solid::new(positions, triangles)?;
    step(0.1)?;
    let first = first_cell(&solid.shells, fineness);
    check_size(&solid, first)?;
    let fates = fates(&solid.shells, first);
    if !fates.contains(&Fate::Flesh) {
        return Err(BodyError::NoVolume { why: "its pieces are all smaller than a cell; ask for more tets" });
    }
    solid.keep(&fates.iter().map(|f| *f == Fate::Flesh).collect::<Vec<_>>());
    solid.refine(first);
    let bvh = Bvh::new(&solid.points, &solid.triangles);
    step(0.2)?;
    // The cell may grow on the way; thickness is known a little beyond what the first one needs.
    let thick = thicknesses(&solid, &bvh, STEPPED_OVER * first * 1.5);
    step(0.3)?;
    let mut search = Search::new(&solid, fineness, first);
    let mut best: Option<Try> = None;
    for index in 0..MOST_TRIES {
        let tried = attempt(&solid, &bvh, &thick, &search);
        step(0.3 + 0.5 * (index + 1) as f32 / MOST_TRIES as f32)?;
        let good = search.learn(&tried);
        if best.as_ref().is_none_or(|b| search.miss(&tried) < search.miss(b)) {
            best = Some(tried);
        }
        if good {
            break;
        }
    }
    let Some(Try { lattice, complex, mut stuffed, shift }) = best else { return Err(BodyError::Stopped) };
    let mut plain = vec![false; complex.inner.len()];
    for _ in 0..MOST_RECUTS {
        if !improve::flat_at(&stuffed, &complex, &mut plain) {
            break;
        }
        stuffed = stuff(&complex, &lattice, shift * lattice.cell, &plain);
    }
    let skin_volume = search.volume;
    let bodies = complex.bodies().body;
    stuffed.sweep(|source| {
        complex.tets[source as usize].iter().find_map(|&c| bodies.get(c as usize)).copied().unwrap_or(0)
    });
    if stuffed.tets.is_empty() {
        return Err(BodyError::NoVolume { why: "it is thinner than a cell everywhere; ask for more tets" });
    }
    improve::improve(&mut stuffed, lattice.cell);
    step(0.9)?;
    let positions = stuffed.positions.iter().map(|&p| from_lattice(p).as_vec3()).collect();
    let tets = TetMesh::new(positions, stuffed.tets)?;
    let (shells, shell_of_vertex) = named_shells(&solid, &fates);
    let touching = touching(&solid);
    Ok(Meshed {
        tets,
        cell: lattice.cell,
        skin_volume,
        shells,
        shell_of_vertex,
        solid,
        bvh,
        lattice,
        complex,
        source: stuffed.source,
        touching,
    })
}

fn check(fineness: Fineness) -> Result<(), BodyError> {
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
fn check_size(solid: &Solid, cell: f64) -> Result<(), BodyError> {
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

/// A cell that gives about the wanted count: `N = 12 V / a^3` inside, and cut tets at the skin.
fn first_cell(shells: &[ShellShape], fineness: Fineness) -> f64 {
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

/// Which shells are filled with tets of this size.
fn fates(shells: &[ShellShape], cell: f64) -> Vec<Fate> {
    let total: f64 = shells.iter().filter(|s| !s.open).map(|s| s.volume.abs()).sum();
    let fate = |shell: &ShellShape| {
        if shell.open {
            Fate::Open
        } else if shell.volume.abs() >= MAIN_SHARE * total {
            Fate::Flesh
        } else if shell.volume.abs() < SMALL * cell * cell * cell {
            Fate::Small
        } else if 2.0 * shell.volume.abs() < THIN * cell * shell.area {
            Fate::Thin
        } else {
            Fate::Flesh
        }
    };
    shells.iter().map(fate).collect()
}

/// One lattice tried.
struct Try {
    lattice: Lattice,
    complex: Complex,
    stuffed: Stuffed,
    /// In cells.
    shift: f64,
}

fn attempt(solid: &Solid, bvh: &Bvh, thick: &[f64], search: &Search) -> Try {
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
struct Search {
    wanted: Option<f64>,
    cell: f64,
    /// In cells.
    shift: f64,
    volume: f64,
    area: f64,
    tries: usize,
    /// Where the lattice lies, in cells: small bodies can have bad luck with one place.
    luck: f64,
    /// Cells known to give too many tets and too few.
    small: f64,
    large: f64,
}

impl Search {
    fn new(solid: &Solid, fineness: Fineness, cell: f64) -> Self {
        let area = (0..solid.triangles.len() as u32)
            .map(|t| {
                let [a, b, c] = solid.corners(t);
                (b - a).cross(c - a).length() / 2.0
            })
            .sum();
        let wanted = if let Fineness::Tets(count) = fineness { Some(count as f64) } else { None };
        let volume = Lattice::new(solid, cell, 0.0).volume_inside(solid, FINE);
        Self {
            wanted,
            cell,
            shift: USUAL_SHIFT,
            volume,
            area,
            tries: 0,
            luck: 0.0,
            small: 0.0,
            large: f64::INFINITY,
        }
    }

    /// How far a try is from the wanted count.
    fn miss(&self, tried: &Try) -> f64 {
        self.wanted.map_or(0.0, |w| (tried.stuffed.tets.len() as f64 / w - 1.0).abs())
    }

    /// Sets what to try next; whether this try was good enough.
    fn learn(&mut self, tried: &Try) -> bool {
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

/// Shells for those who ask, and the shell of each vertex: vertices of no triangle make none.
fn named_shells(solid: &Solid, fates: &[Fate]) -> (Vec<Shell>, Vec<u32>) {
    let mut shells = Vec::new();
    let mut name = vec![u32::MAX; solid.shells.len()];
    for (index, (shape, &fate)) in
        solid.shells.iter().zip(fates).enumerate().filter(|(_, (s, _))| s.area > 0.0)
    {
        name[index] = shells.len() as u32;
        shells.push(shape.shell(fate));
    }
    let shell_of_vertex =
        solid.point_of_vertex.iter().map(|&p| name[solid.shell_of_point[p as usize] as usize]);
    (shells, shell_of_vertex.collect())
}

/// The triangles at each point.
fn touching(solid: &Solid) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; solid.points.len() + 1];
    solid.triangles.iter().flatten().for_each(|&p| starts[p as usize + 1] += 1);
    (0..solid.points.len()).for_each(|p| starts[p + 1] += starts[p]);
    let mut next = starts.clone();
    let mut items = vec![0u32; solid.triangles.len() * 3];
    for (t, triangle) in solid.triangles.iter().enumerate() {
        for &p in triangle {
            items[next[p as usize] as usize] = t as u32;
            next[p as usize] += 1;
        }
    }
    (starts, items)
}

impl Meshed {
    /// Whether a vertex of the skin lies on the part of the body that a tet belongs to, and not on another that is
    /// near it in space. Vertices of shells without flesh may ride on any.
    pub(crate) fn belongs(&self, vertex: usize, tet: u32) -> bool {
        let crossings = &mut Vec::new();
        let point = self.solid.point_of_vertex[vertex] as usize;
        let around = &self.touching.1[self.touching.0[point] as usize..self.touching.0[point + 1] as usize];
        if around.is_empty() {
            return true;
        }
        let place = self.solid.points[point];
        let corners = self.complex.tets[self.source[tet as usize] as usize];
        let inner = corners.iter().filter_map(|&c| self.complex.inner.get(c as usize));
        inner.into_iter().any(|node| {
            if node.winding == 0 {
                return around.iter().any(|t| node.patch.binary_search(t).is_ok());
            }
            // From the node to the vertex without leaving the solid, save through triangles around the vertex.
            self.bvh.crossings(self.lattice.place(node.node), place, crossings);
            let mut winding = node.winding;
            for crossing in crossings.iter() {
                winding += crossing.step;
                if winding <= 0 {
                    let exit = self.solid.triangles[crossing.triangle as usize];
                    let mut near = around.iter().flat_map(|&t| self.solid.triangles[t as usize]);
                    return near.any(|p| exit.contains(&p));
                }
            }
            true
        })
    }

    /// How much of each tet the skin encloses. Only tets of thickened parts are less than full.
    pub(crate) fn fill(&self) -> Vec<f32> {
        let thick = |tet: u32| {
            let corners = self.complex.tets[self.source[tet as usize] as usize];
            corners.iter().filter_map(|&c| self.complex.inner.get(c as usize)).any(|n| n.winding == 0)
        };
        super::bvh::map_with_scratch(self.tets.tets().len(), |tet, crossings: &mut Vec<Crossing>| {
            if !thick(tet as u32) {
                return 1.0;
            }
            let corners = self.tets.corners(tet).map(to_lattice);
            let inside = |w: &[f64; 4]| {
                let place: DVec3 = (0..4).map(|k| corners[k] * w[k]).sum();
                self.bvh.winding(place, crossings) > 0
            };
            let points = sample_points();
            let share = points.iter().map(inside).filter(|&i| i).count() as f32 / points.len() as f32;
            // Flesh that no point hit is still flesh.
            share.max(0.5 / points.len() as f32)
        })
    }
}

/// Points spread evenly over a tet, as weights of its corners.
fn sample_points() -> Vec<[f64; 4]> {
    const STEPS: usize = 5;
    let mut points = Vec::new();
    for i in 0..STEPS {
        for j in 0..STEPS - i {
            for k in 0..STEPS - i - j {
                let l = STEPS - 1 - i - j - k;
                points.push([i, j, k, l].map(|n| (n as f64 + 0.25) / STEPS as f64));
            }
        }
    }
    points
}
