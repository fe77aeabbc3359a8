//! What the solver's tests share.
#![allow(dead_code, unused_imports, unreachable_pub, reason = "each test file uses its part")]

#[path = "../body_common/mod.rs"]
mod body_common;

pub use body_common::{Random, armadillo, diagonal, shaken_block};
use pliant::asset::TetMesh;
use pliant::body::Node;
use pliant::glam::{DVec3, Vec3};
use pliant::simd::Path;
use pliant::solver::{Solver, SolverState};

/// The tet at the origin with edges along the axes.
pub fn one_tet() -> TetMesh {
    TetMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], vec![[0, 1, 2, 3]]).expect("sound")
}

pub fn place(node: Node) -> DVec3 {
    DVec3::new(node[0].into(), node[1].into(), node[2].into())
}

pub fn node(p: DVec3, inverse_mass: f32) -> Node {
    [p.x as f32, p.y as f32, p.z as f32, inverse_mass]
}

/// The nodes of a mesh, moved, of one inverse mass.
pub fn moved(mesh: &TetMesh, inverse_mass: f32, by: impl Fn(DVec3) -> DVec3) -> Vec<Node> {
    mesh.positions().iter().map(|p| node(by(p.as_dvec3()), inverse_mass)).collect()
}

pub fn volume(tet: [u32; 4], nodes: &[Node]) -> f64 {
    let [a, b, c, d] = tet.map(|n| place(nodes[n as usize]));
    (b - a).cross(c - a).dot(d - a) / 6.0
}

pub fn distance(nodes: &[Node], a: usize, b: usize) -> f64 {
    place(nodes[a]).distance(place(nodes[b]))
}

/// The best path, with one stiffness for all edges and one for all tets.
pub fn solver(mesh: &TetMesh, stretch: f32, volume: f32) -> (Solver, SolverState) {
    let solver = Solver::new(mesh, Path::best()).expect("available");
    let mut state = solver.state();
    solver.set_stretch(&mut state, |_| stretch);
    solver.set_volume(&mut state, |_| volume);
    (solver, state)
}

/// Largest distance between nodes of two bodies.
pub fn farthest(a: &[Node], b: &[Node]) -> f64 {
    a.iter().zip(b).map(|(a, b)| place(*a).distance(place(*b))).fold(0.0, f64::max)
}
