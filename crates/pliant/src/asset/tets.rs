use super::AssetError;
use glam::{DVec3, Vec3};

/// A tetrahedral mesh: nodes and tets, every tet of positive volume.
#[derive(Debug, Clone, PartialEq)]
pub struct TetMesh {
    positions: Vec<Vec3>,
    tets: Vec<[u32; 4]>,
}

impl TetMesh {
    /// Checks indices and numbers. A tet of negative volume is turned the right way round (files come in either
    /// winding); one of no volume is an error. Nodes that no tet uses are left out, the others keep their order.
    pub fn new(positions: Vec<Vec3>, tets: Vec<[u32; 4]>) -> Result<Self, AssetError> {
        let count = positions.len();
        for (what, count) in [("nodes", count), ("tets", tets.len())] {
            if count > u32::MAX as usize {
                return Err(AssetError::TooMany { what, count, limit: u32::MAX as usize });
            }
        }
        if tets.is_empty() {
            return Err(AssetError::Empty { what: "tets" });
        }
        if let Some(index) = positions.iter().position(|p| !p.is_finite()) {
            return Err(AssetError::NotFinite { what: "node", index });
        }
        let mut mesh = Self { positions, tets };
        let mut used = vec![false; count];
        for index in 0..mesh.tets.len() {
            let tet = mesh.tets[index];
            if let Some(&value) = tet.iter().find(|&&n| n as usize >= count) {
                let value = value as usize;
                return Err(AssetError::OutOfRange { what: "tet", index, target: "node", value, count });
            }
            let volume = mesh.volume_of(index);
            if volume == 0.0 {
                return Err(AssetError::FlatTet { tet: index });
            }
            if volume < 0.0 {
                // Of all swaps, the one that turns the computed volume's sign exactly.
                mesh.tets[index].swap(1, 2);
            }
            tet.iter().for_each(|&n| used[n as usize] = true);
        }
        if used.contains(&false) {
            mesh.drop_unused(&used);
        }
        Ok(mesh)
    }

    fn drop_unused(&mut self, used: &[bool]) {
        let mut new_of_old = Vec::with_capacity(used.len());
        let mut kept = 0u32;
        for &used in used {
            new_of_old.push(kept);
            kept += u32::from(used);
        }
        let mut uses = used.iter();
        self.positions.retain(|_| *uses.next().unwrap_or(&false));
        self.tets.iter_mut().flatten().for_each(|n| *n = new_of_old[*n as usize]);
    }

    /// Node positions.
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Tets as node indices, wound so that `(b - a) x (c - a) . (d - a)` is positive.
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// The corners of a tet.
    pub fn corners(&self, tet: usize) -> [DVec3; 4] {
        self.tets[tet].map(|n| self.positions[n as usize].as_dvec3())
    }

    /// The signed volume of a tet; positive by construction at rest.
    pub fn volume_of(&self, tet: usize) -> f64 {
        let [a, b, c, d] = self.corners(tet);
        (b - a).cross(c - a).dot(d - a) / 6.0
    }

    /// The volume of all tets.
    pub fn volume(&self) -> f64 {
        (0..self.tets.len()).map(|t| self.volume_of(t)).sum()
    }
}
