use super::AssetError;
use glam::{DVec3, Vec3};

/// A triangle surface: positions, unit normals and triangles.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// Checks indices and numbers. Normals are made unit; where they are missing (`None`, or of no length) they are
    /// computed from the triangles around the vertex, weighted by area.
    pub fn new(
        positions: Vec<Vec3>,
        normals: Option<Vec<Vec3>>,
        triangles: Vec<[u32; 3]>,
    ) -> Result<Self, AssetError> {
        let count = positions.len();
        if count > u32::MAX as usize {
            return Err(AssetError::TooMany { what: "vertices", count, limit: u32::MAX as usize });
        }
        if let Some(index) = positions.iter().position(|p| !p.is_finite()) {
            return Err(AssetError::NotFinite { what: "position", index });
        }
        for (index, triangle) in triangles.iter().enumerate() {
            if let Some(&value) = triangle.iter().find(|&&v| v as usize >= count) {
                return Err(AssetError::OutOfRange {
                    what: "triangle",
                    index,
                    target: "vertex",
                    value: value as usize,
                    count,
                });
            }
        }
        let normals = match normals {
            None => Self::vertex_normals(&positions, &triangles),
            Some(given) => {
                if given.len() != count {
                    return Err(AssetError::Length { what: "normals", expected: count, found: given.len() });
                }
                if let Some(index) = given.iter().position(|n| !n.is_finite()) {
                    return Err(AssetError::NotFinite { what: "normal", index });
                }
                let mut unit = given;
                // Most files have unit normals: what rounding leaves (1e-6 of the square) needs no mending.
                for normal in unit.iter_mut().filter(|n| (n.length_squared() - 1.0).abs() > 1e-6) {
                    *normal = unit_or_zero(normal.as_dvec3());
                }
                if unit.contains(&Vec3::ZERO) {
                    let computed = Self::vertex_normals(&positions, &triangles);
                    for (normal, fallback) in unit.iter_mut().zip(computed) {
                        if *normal == Vec3::ZERO {
                            *normal = fallback;
                        }
                    }
                }
                unit
            }
        };
        Ok(Self { positions, normals, triangles })
    }

    /// Area-weighted vertex normals; up (+Y) at vertices that no triangle of any area touches.
    pub fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
        let mut sums = vec![DVec3::ZERO; positions.len()];
        for triangle in triangles {
            let [a, b, c] = triangle.map(|v| positions[v as usize].as_dvec3());
            let area = (b - a).cross(c - a);
            triangle.iter().for_each(|&v| sums[v as usize] += area);
        }
        let up = |n: Vec3| if n == Vec3::ZERO { Vec3::Y } else { n };
        sums.into_iter().map(|s| up(unit_or_zero(s))).collect()
    }

    /// Vertex positions.
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Unit vertex normals, as many as positions.
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// Triangles, as vertex indices.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }
}

fn unit_or_zero(v: DVec3) -> Vec3 {
    let length = v.length();
    // Smallest normal f64: shorter vectors have no direction worth the name.
    if length > f64::MIN_POSITIVE { (v / length).as_vec3() } else { Vec3::ZERO }
}
