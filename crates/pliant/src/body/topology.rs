//! Who touches whom in a tet mesh.

use crate::asset::TetMesh;

/// The four faces of a positive tet as its corners, wound to be seen anticlockwise from outside.
pub const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The triangles that only one tet has, seen anticlockwise from outside, with that tet; in order of tets.
pub fn surface(mesh: &TetMesh) -> Vec<([u32; 3], u32)> {
    let mut faces: Vec<([u32; 3], u32, u8)> = Vec::with_capacity(mesh.tets().len() * 4);
    for (t, tet) in mesh.tets().iter().enumerate() {
        for (f, corners) in FACES.iter().enumerate() {
            let mut key = corners.map(|c| tet[c]);
            key.sort_unstable();
            faces.push((key, t as u32, f as u8));
        }
    }
    faces.sort_unstable();
    let mut lone: Vec<(u32, u8)> = Vec::new();
    for group in faces.chunk_by(|a, b| a.0 == b.0) {
        if let [(_, tet, face)] = group {
            lone.push((*tet, *face));
        }
    }
    lone.sort_unstable();
    let triangle = |(t, f): (u32, u8)| (FACES[f as usize].map(|c| mesh.tets()[t as usize][c]), t);
    lone.into_iter().map(triangle).collect()
}
