//! Moving vertices a little where tets came out flat.

use super::super::topology::{Adjacency, FACES, Lists, NONE};
use super::complex::Complex;
use super::stuff::Stuffed;
use glam::DVec3;

/// Tets below this [`worth`] (24 degrees, or 147) are worth a try: stuffing alone leaves one angle in a hundred under
/// 20 degrees, the worst near 11 and 155.
const POOR: f64 = 0.407;

/// Obtuse angles count for less than acute ones of the same sine: 150 degrees are as bad as 22.
const OBTUSE: f64 = 0.75;

/// Tets below this are cut in another way.
const FLAT: f64 = 0.225;

/// For tets below this (18 degrees, or 156) surface vertices may leave the surface.
const WORST: f64 = 0.31;

/// Farthest that a vertex goes in one try, in cells, then half as far, and half of that. More would fold neighbours
/// and leave the skin.
const STEP: f64 = 0.12;

/// Times over all vertices; later sweeps find little.
const SWEEPS: usize = 2;

/// Edges of a tet with the faces that meet there (face `k` lies opposite corner `k`).
const EDGES: [(usize, usize, usize, usize); 6] =
    [(0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2), (1, 2, 0, 3), (1, 3, 0, 2), (2, 3, 0, 1)];

/// The smallest sine of a dihedral angle, obtuse ones discounted; negative for a tet inside out.
pub(crate) fn worth(corners: [DVec3; 4]) -> f64 {
    let normals = FACES.map(|[i, j, k]| (corners[j] - corners[i]).cross(corners[k] - corners[i]));
    let areas = normals.map(|n| n.length());
    let volume = (corners[1] - corners[0]).cross(corners[2] - corners[0]).dot(corners[3] - corners[0]);
    // sin = 3/2 V e / (A B), with six volumes and twice the areas: V6 e / (A2 B2).
    let sine = |&(i, j, f, g): &(usize, usize, usize, usize)| {
        let discount = if normals[f].dot(normals[g]) > 0.0 { OBTUSE } else { 1.0 };
        discount * volume * corners[i].distance(corners[j]) / (areas[f] * areas[g]).max(f64::MIN_POSITIVE)
    };
    EDGES.iter().map(sine).fold(f64::INFINITY, f64::min)
}

/// The inner nodes of tets so flat (under 13 degrees, or over 163) that moving vertices may not mend them.
pub(crate) fn flat_at(stuffed: &Stuffed, complex: &Complex, nodes: &mut [bool]) -> bool {
    let mut found = false;
    for (tet, &source) in stuffed.tets.iter().zip(&stuffed.source) {
        if worth(tet.map(|n| stuffed.positions[n as usize])) < FLAT {
            for node in complex.tets[source as usize] {
                if let Some(node @ false) = nodes.get_mut(node as usize) {
                    *node = true;
                    found = true;
                }
            }
        }
    }
    found
}

/// Moves the vertices of poor tets, one at a time, wherever that makes the worst tet around them better. Vertices on
/// the surface move along it, so the body keeps its shape and volume.
pub(crate) fn improve(stuffed: &mut Stuffed, cell: f64) {
    let count = stuffed.positions.len();
    let around = Lists::group(count, &stuffed.tets);
    let mut worths: Vec<f64> = (0..stuffed.tets.len() as u32)
        .map(|t| worth(corners_of(&stuffed.tets, &stuffed.positions, t)))
        .collect();
    let outward = surface_normals(stuffed);
    let mut positions = std::mem::take(&mut stuffed.positions);
    for _ in 0..SWEEPS {
        for vertex in 0..count {
            let ring = around.of(vertex);
            let worst =
                ring.iter().copied().min_by(|&a, &b| worths[a as usize].total_cmp(&worths[b as usize]));
            let Some(worst) = worst.filter(|&t| worths[t as usize] < POOR) else { continue };
            let before = positions[vertex];
            let mut best = (worths[worst as usize], before);
            for way in ways(&stuffed.tets, &positions, ring, worst, vertex) {
                let off = if best.0 < WORST { 0.0 } else { way.dot(outward[vertex]) };
                let way = (way - outward[vertex] * off).normalize_or_zero();
                for step in [STEP, STEP / 2.0, STEP / 4.0] {
                    positions[vertex] = before + way * (step * cell);
                    let sine = ring.iter().map(|&t| worth(corners_of(&stuffed.tets, &positions, t)));
                    // Stops at the first tet that is no better.
                    let least = sine
                        .take_while(|&s| s > best.0)
                        .fold((f64::INFINITY, 0), |l, s| (l.0.min(s), l.1 + 1));
                    if least.1 == ring.len() {
                        best = (least.0, positions[vertex]);
                    }
                }
            }
            positions[vertex] = best.1;
            if best.1 != before {
                ring.iter()
                    .for_each(|&t| worths[t as usize] = worth(corners_of(&stuffed.tets, &positions, t)));
            }
        }
    }
    stuffed.positions = positions;
}

fn corners_of(tets: &[[u32; 4]], positions: &[DVec3], tet: u32) -> [DVec3; 4] {
    tets[tet as usize].map(|n| positions[n as usize])
}

/// Directions worth trying: away from and along the worst tet's opposite face, and to the middle of the neighbours.
fn ways(tets: &[[u32; 4]], positions: &[DVec3], ring: &[u32], worst: u32, vertex: usize) -> [DVec3; 7] {
    let here = positions[vertex];
    let others: Vec<DVec3> = tets[worst as usize]
        .iter()
        .filter(|&&n| n as usize != vertex)
        .map(|&n| positions[n as usize])
        .collect();
    let normal = (others[1] - others[0]).cross(others[2] - others[0]);
    let middle: DVec3 =
        ring.iter().flat_map(|&t| tets[t as usize]).map(|n| positions[n as usize]).sum::<DVec3>()
            / (4 * ring.len()) as f64;
    let centre = (others[0] + others[1] + others[2]) / 3.0;
    let away = if normal.dot(here - centre) < 0.0 { -normal } else { normal };
    [away, middle - here, centre - here, here - centre, others[0] - here, others[1] - here, others[2] - here]
}

/// Unit normals at surface vertices, zero inside.
fn surface_normals(stuffed: &Stuffed) -> Vec<DVec3> {
    let across = Adjacency::of(&stuffed.tets, stuffed.positions.len()).across;
    let mut normals = vec![DVec3::ZERO; stuffed.positions.len()];
    for (tet, across) in stuffed.tets.iter().zip(across) {
        for face in (0..4).filter(|&f| across[f] == NONE) {
            let nodes = FACES[face].map(|k| tet[k]);
            let [a, b, c] = nodes.map(|n| stuffed.positions[n as usize]);
            nodes.iter().for_each(|&n| normals[n as usize] += (b - a).cross(c - a));
        }
    }
    normals.into_iter().map(|n| n.normalize_or_zero()).collect()
}
