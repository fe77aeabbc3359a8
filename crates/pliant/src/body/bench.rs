//! A body of any size for tests and benches: a bar of tets with a tube of skin.

use super::update::{Node, rest_nodes};
use crate::asset::{AssetError, Surface, TetMesh};
use glam::{DVec3, Vec3};

/// Length of the bar; its sides are 1.
const LENGTH: f64 = 4.0;

/// A block of cells with these counts, each cut into six tets around its diagonal, between two corners.
#[doc(hidden)]
pub fn bench_block(cells: [usize; 3], low: DVec3, high: DVec3) -> Result<TetMesh, AssetError> {
    let [nx, ny, nz] = cells.map(|n| n.max(1));
    let index = |[x, y, z]: [usize; 3]| ((z * (ny + 1) + y) * (nx + 1) + x) as u32;
    let count = DVec3::new(nx as f64, ny as f64, nz as f64);
    let (mut positions, mut tets) = (Vec::new(), Vec::new());
    for z in 0..=nz {
        for y in 0..=ny {
            for x in 0..=nx {
                let at = DVec3::new(x as f64, y as f64, z as f64) / count;
                positions.push((low + (high - low) * at).as_vec3());
                if x < nx && y < ny && z < nz {
                    // Every way from one end of the diagonal to the other along three edges is a tet.
                    for [a, b, c] in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]] {
                        let mut corner = [x, y, z];
                        tets.push([3, a, b, c].map(|axis| {
                            if axis < 3 {
                                corner[axis] += 1;
                            }
                            index(corner)
                        }));
                    }
                }
            }
        }
    }
    TetMesh::new(positions, tets)
}

/// A bar along x of about as many tets, and a tube of skin, now in it and now out of it, of as many vertices ring by
/// ring.
#[doc(hidden)]
pub fn bench_body(tets: usize, vertices: usize) -> Result<(TetMesh, Surface), AssetError> {
    const RING: usize = 64;
    let side = libm::cbrt(tets as f64 / 6.0 / LENGTH);
    let cells = [side * LENGTH, side, side].map(|n| libm::round(n) as usize);
    let half = DVec3::new(LENGTH, 1.0, 1.0) / 2.0;
    let mesh = bench_block(cells, -half, half)?;
    let rings = vertices.div_ceil(RING).max(2);
    let position = |vertex: usize| {
        let (sine, cosine) = libm::sincos((vertex % RING) as f64 / RING as f64 * std::f64::consts::TAU);
        let along = (vertex / RING) as f64 / (rings - 1) as f64;
        let radius = 0.5 + 0.05 * libm::sin(along * 20.0);
        DVec3::new((along - 0.5) * LENGTH, radius * cosine, radius * sine).as_vec3()
    };
    let positions: Vec<Vec3> = (0..vertices).map(position).collect();
    let triangles = (0..vertices.saturating_sub(RING + 1)).flat_map(|v| {
        let (a, b, c, d) = (v, v + 1, v + RING, v + RING + 1);
        [[a, b, c], [b, d, c]].map(|t| t.map(|v| v as u32))
    });
    Ok((mesh, Surface::new(positions, None, triangles.collect())?))
}

/// The bar bent into an arc of this angle (radians) about z, and twisted by as much.
#[doc(hidden)]
pub fn bench_bend(mesh: &TetMesh, angle: f64) -> Vec<Node> {
    let mut nodes = rest_nodes(mesh);
    let radius = LENGTH / angle;
    for node in &mut nodes {
        let [x, y, z, _] = node.map(f64::from);
        let turn = x / LENGTH * angle;
        let (sine, cosine) = libm::sincos(turn);
        let (y, z) = (y * cosine - z * sine, z * cosine + y * sine);
        let p = DVec3::new((radius - y) * sine, radius - (radius - y) * cosine, z).as_vec3();
        *node = [p.x, p.y, p.z, 1.0];
    }
    nodes
}
