//! From any skin to tets: isosurface stuffing on a body-centred cubic lattice, with thin parts thickened and parts
//! that nearly touch kept apart.

mod complex;
mod improve;
mod lattice;
mod limits;
mod search;
mod solid;
mod stuff;
mod thin;
mod union;

use super::bvh::{Bvh, Crossing};
use super::topology::Lists;
use super::{BodyError, Fate, Fineness, Progress, Shell};
use crate::asset::TetMesh;
use complex::Complex;
use glam::{DVec3, Vec3};
use lattice::Lattice;
use limits::{check, check_size};
use search::{MOST_TRIES, Search, Try, attempt, first_cell};
use solid::{ShellShape, Solid, from_lattice, to_lattice};
use stuff::stuff;
use thin::{STEPPED_OVER, thicknesses};

/// Times that nodes of flat tets are cut in the plain way; each may show up a neighbour.
const MOST_RECUTS: usize = 5;

/// A shell whose volume is below this, in cells cubed (12 tets), is too small to be meshed.
const SMALL: f64 = 1.0;

/// A shell whose mean thickness (twice its volume over its area) is below this, in cells, is too thin: thickening
/// would make of a blade or an eyelash something else.
const THIN: f64 = 0.15;

/// A shell with this share of all volume is the body, however thin or small.
const MAIN_SHARE: f64 = 0.2;

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
    /// The solid's triangles at each point.
    touching: Lists,
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
    let touching = Lists::group(solid.points.len(), &solid.triangles);
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

impl Meshed {
    /// Whether a vertex of the skin lies on the part of the body that a tet belongs to, and not on another that is
    /// near it in space. Vertices of shells without flesh may ride on any.
    pub(crate) fn belongs(&self, vertex: usize, tet: u32) -> bool {
        let crossings = &mut Vec::new();
        let point = self.solid.point_of_vertex[vertex] as usize;
        let around = self.touching.of(point);
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
