//! What the tests of bodies share.
#![allow(dead_code, unused_imports, unreachable_pub, reason = "each test file uses its part")]

#[path = "../../../pliant-io/tests/common/data.rs"]
mod data;
#[path = "../skin_common/mod.rs"]
mod skin_common;

use pliant::asset::TetMesh;
use pliant::body::{Node, bench_block, rest_nodes};
use pliant::glam::{DAffine3, DVec3, Vec3};
pub use skin_common::{Random, bits};

/// A block with its inner and outer nodes shaken, so that nothing is regular.
pub fn shaken_block(random: &mut Random, cells: [usize; 3], low: DVec3, high: DVec3) -> TetMesh {
    let block = bench_block(cells, low, high).expect("sound");
    let [nx, ny, nz] = cells.map(|n| n as f64);
    let cell = ((high - low) / DVec3::new(nx, ny, nz)).min_element();
    let shaken = block.positions().iter().map(|p| (p.as_dvec3() + random.vector() * 0.12 * cell).as_vec3());
    TetMesh::new(shaken.collect(), block.tets().to_vec()).expect("shaken too little to turn over")
}

/// A real tet mesh with slivers and fingers; none where the real files are not here.
pub fn armadillo() -> Option<TetMesh> {
    let folder = data::data()?.join("tet");
    let rows = |ending: &str| -> Vec<Vec<f64>> {
        let path = folder.join(format!("armadillo_4k.{ending}"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let row = |line: &str| line.split_whitespace().map(|n| n.parse().expect("a number")).collect();
        text.lines().skip(1).filter(|line| !line.starts_with('#')).map(row).collect()
    };
    let nodes = rows("node").iter().map(|r| DVec3::new(r[1], r[2], r[3]).as_vec3()).collect();
    let tets = rows("ele").iter().map(|r| [r[1], r[2], r[3], r[4]].map(|n| n as u32)).collect();
    Some(TetMesh::new(nodes, tets).expect("a sound file"))
}

/// The meshes that tests run on.
pub fn meshes(random: &mut Random) -> Vec<TetMesh> {
    let block = shaken_block(random, [6, 3, 3], DVec3::new(-2.0, -1.0, -1.0), DVec3::new(2.0, 1.0, 1.0));
    let far = shaken_block(random, [5, 4, 3], DVec3::new(100.0, 40.0, 7.0), DVec3::new(101.0, 40.9, 7.5));
    [Some(block), Some(far), armadillo()].into_iter().flatten().collect()
}

pub fn bounds(mesh: &TetMesh) -> (DVec3, DVec3) {
    let all = || mesh.positions().iter().map(|p| p.as_dvec3());
    (all().fold(DVec3::INFINITY, DVec3::min), all().fold(DVec3::NEG_INFINITY, DVec3::max))
}

pub fn diagonal(mesh: &TetMesh) -> f64 {
    let (low, high) = bounds(mesh);
    low.distance(high)
}

/// Points in and around a mesh, up to `beyond` of its size outside.
pub fn points(random: &mut Random, mesh: &TetMesh, count: usize, beyond: f64) -> Vec<Vec3> {
    let (low, high) = bounds(mesh);
    let (middle, half) = ((low + high) / 2.0, (high - low) * (0.5 + beyond));
    (0..count).map(|_| (middle + random.vector() * half).as_vec3()).collect()
}

pub fn normals(random: &mut Random, count: usize) -> Vec<Vec3> {
    (0..count).map(|_| random.vector().normalize_or(DVec3::X).as_vec3()).collect()
}

/// The nodes of a mesh, moved.
pub fn moved(mesh: &TetMesh, by: impl Fn(DVec3) -> DVec3) -> Vec<Node> {
    let mut nodes = rest_nodes(mesh);
    for node in &mut nodes {
        let p = by(DVec3::new(node[0].into(), node[1].into(), node[2].into())).as_vec3();
        // An inverse mass that would show if it were read.
        *node = [p.x, p.y, p.z, f32::NAN];
    }
    nodes
}

/// A map that turns, shears, squeezes and shifts.
pub fn affine(random: &mut Random) -> DAffine3 {
    let scale =
        DVec3::new(1.0 + 0.5 * random.number(), 1.0 + 0.5 * random.number(), 1.0 + 0.5 * random.number());
    DAffine3::from_quat(random.rotation()) * DAffine3::from_scale(scale) * random.rigid()
}

/// The weights of a point on a tet's corners.
pub fn barycentrics(mesh: &TetMesh, tet: usize, p: DVec3) -> [f64; 4] {
    let whole = mesh.corners(tet);
    let volume = |[a, b, c, d]: [DVec3; 4]| (b - a).cross(c - a).dot(d - a);
    [0, 1, 2, 3].map(|k| {
        let mut corners = whole;
        corners[k] = p;
        volume(corners) / volume(whole)
    })
}
