//! How good the tets of a mesh are.

use crate::asset::TetMesh;
use glam::DVec3;

/// Dihedral angles and volume of a tet mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// Number of tets.
    pub tets: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Volume of all tets.
    pub volume: f64,
    /// Smallest dihedral angle, in degrees.
    pub dihedral_min: f64,
    /// 1st percentile of all dihedral angles.
    pub dihedral_p1: f64,
    /// The middle one.
    pub dihedral_p50: f64,
    /// 99th percentile.
    pub dihedral_p99: f64,
    /// Largest dihedral angle.
    pub dihedral_max: f64,
}

impl Quality {
    /// Measures a mesh.
    pub fn of(mesh: &TetMesh) -> Self {
        let mut angles: Vec<f64> = Vec::with_capacity(mesh.tets().len() * 6);
        (0..mesh.tets().len()).for_each(|t| angles.extend(dihedrals(mesh.corners(t))));
        angles.sort_by(f64::total_cmp);
        let at = |share: f64| angles[(share * (angles.len() - 1) as f64) as usize];
        Self {
            tets: mesh.tets().len(),
            nodes: mesh.positions().len(),
            volume: mesh.volume(),
            dihedral_min: at(0.0),
            dihedral_p1: at(0.01),
            dihedral_p50: at(0.5),
            dihedral_p99: at(0.99),
            dihedral_max: at(1.0),
        }
    }
}

/// The six angles between the faces of a tet, in degrees.
pub fn dihedrals(corners: [DVec3; 4]) -> [f64; 6] {
    let unit_normals = super::topology::FACES
        .map(|[i, j, k]| (corners[j] - corners[i]).cross(corners[k] - corners[i]).normalize_or_zero());
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    pairs.map(|(f, g)| libm::acos((-unit_normals[f].dot(unit_normals[g])).clamp(-1.0, 1.0)).to_degrees())
}
