//! Who touches whom, against asking everyone.

mod body_common;

use body_common::*;
use pliant::asset::TetMesh;
use pliant::body::{bench_block, topology};
use pliant::glam::{DVec3, Vec3};
use std::collections::{BTreeMap, BTreeSet};

/// Two blocks of different sizes, apart.
fn apart() -> TetMesh {
    let small = bench_block([1, 1, 1], DVec3::ZERO, DVec3::ONE).expect("sound");
    let large = bench_block([3, 2, 2], DVec3::splat(5.0), DVec3::splat(8.0)).expect("sound");
    let count = small.positions().len() as u32;
    let nodes = small.positions().iter().chain(large.positions()).copied().collect();
    let shifted = large.tets().iter().map(|t| t.map(|n| n + count));
    TetMesh::new(nodes, small.tets().iter().copied().chain(shifted).collect()).expect("sound")
}

#[test]
fn lists_edges_and_faces_are_those_of_the_definition() {
    let random = &mut Random(21);
    for mesh in meshes(random).into_iter().chain([apart()]) {
        let tets = mesh.tets();
        let (node_tets, neighbours) = (topology::tets_of_nodes(&mesh), topology::neighbours(&mesh));
        let mut edges = BTreeSet::new();
        for node in 0..mesh.positions().len() as u32 {
            let own: Vec<u32> =
                (0..tets.len() as u32).filter(|&t| tets[t as usize].contains(&node)).collect();
            assert_eq!(node_tets.of(node as usize), own);
            let near: BTreeSet<u32> =
                own.iter().flat_map(|&t| tets[t as usize]).filter(|&n| n != node).collect();
            assert!(neighbours.of(node as usize).iter().eq(&near));
            edges.extend(near.iter().map(|&n| [n.min(node), n.max(node)]));
        }
        assert!(topology::edges(&mesh).iter().eq(&edges));
        let mut faces: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
        let key = |t: u32, f: [usize; 3]| {
            let mut nodes = f.map(|c| tets[t as usize][c]).to_vec();
            nodes.sort_unstable();
            nodes
        };
        for t in 0..tets.len() as u32 {
            topology::FACES.iter().for_each(|&f| faces.entry(key(t, f)).or_default().push(t));
        }
        let adjacency = topology::Adjacency::new(&mesh);
        for t in 0..tets.len() as u32 {
            for (f, &corners) in topology::FACES.iter().enumerate() {
                let other = faces[&key(t, corners)].iter().copied().find(|&o| o != t);
                assert_eq!(adjacency.across[t as usize][f], other.unwrap_or(topology::NONE));
            }
        }
        assert_eq!(adjacency.crowded, 0);
        let surface = topology::surface(&mesh);
        assert_eq!(surface.len(), faces.values().filter(|t| t.len() == 1).count());
        // Closed, and wound outwards: it encloses what the tets fill.
        let volume: f64 = surface
            .iter()
            .map(|(f, _)| f.map(|n| mesh.positions()[n as usize].as_dvec3() - mesh.positions()[0].as_dvec3()))
            .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
            .sum();
        assert!((volume / mesh.volume() - 1.0).abs() < 1e-9);
    }
}

#[test]
fn layers_are_those_of_the_definition() {
    let random = &mut Random(22);
    for mesh in meshes(random).into_iter().chain([apart()]) {
        let tets = mesh.tets();
        let seeds = [0, tets.len() as u32 / 3, 0, u32::MAX];
        let mut expected = vec![topology::NONE; tets.len()];
        seeds[..3].iter().for_each(|&s| expected[s as usize] = 0);
        for layer in 0.. {
            let nodes: BTreeSet<u32> =
                (0..tets.len()).filter(|&t| expected[t] == layer).flat_map(|t| tets[t]).collect();
            let touched = |t: &usize| tets[*t].iter().any(|n| nodes.contains(n));
            let next: Vec<usize> =
                (0..tets.len()).filter(|&t| expected[t] == topology::NONE).filter(touched).collect();
            next.iter().for_each(|&t| expected[t] = layer + 1);
            if next.is_empty() {
                break;
            }
        }
        assert_eq!(topology::layers(&mesh, seeds), expected);
    }
    let unreached = topology::layers(&apart(), [0]);
    assert!(unreached[..6].iter().all(|&l| l != topology::NONE));
    assert!(unreached[6..].iter().all(|&l| l == topology::NONE));
    assert!(topology::layers(&apart(), []).iter().all(|&l| l == topology::NONE));
}

#[test]
fn pieces_are_joined_by_faces_and_the_largest_comes_first() {
    let pieces = topology::pieces(&apart());
    assert_eq!(pieces.sizes, [72, 6]);
    assert!(pieces.of_tet[..6].iter().all(|&p| p == 1) && pieces.of_tet[6..].iter().all(|&p| p == 0));
    // Two tets that share an edge alone are two pieces.
    let nodes = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, 0], [0, 0, -1]];
    let nodes: Vec<Vec3> = nodes.map(|n| Vec3::from(n.map(|c| c as f32))).to_vec();
    let edge = TetMesh::new(nodes.clone(), vec![[0, 1, 2, 3], [0, 1, 4, 5]]).expect("sound");
    assert_eq!(topology::pieces(&edge).sizes, [1, 1]);
    // Three that share a face are one piece with a crowded face, which is no surface.
    let three = vec![[0, 1, 2, 3], [0, 1, 2, 5], [0, 1, 2, 4]];
    let mut nodes = nodes;
    nodes[4] = Vec3::new(0.2, 0.2, 2.0);
    let crowd = TetMesh::new(nodes, three).expect("sound");
    let adjacency = topology::Adjacency::new(&crowd);
    assert_eq!((adjacency.crowded, adjacency.pieces().sizes), (1, vec![3]));
    assert_eq!(topology::surface(&crowd).len(), 9);
}

#[test]
fn node_volumes_sum_to_the_flesh_and_are_never_zero() {
    let random = &mut Random(23);
    for mesh in meshes(random) {
        let fill: Vec<f32> = mesh.tets().iter().map(|_| 0.5 + 0.5 * random.number() as f32).collect();
        let flesh: f64 = (0..fill.len()).map(|t| mesh.volume_of(t) * f64::from(fill[t])).sum();
        let sum: f64 = topology::node_volumes(&mesh, &fill).iter().map(|&v| f64::from(v)).sum();
        assert!((0.9999..1.02).contains(&(sum / flesh)), "{sum} {flesh}");
        assert!(topology::node_volumes(&mesh, &vec![0.0; fill.len()]).iter().all(|&v| v > 0.0));
    }
}
