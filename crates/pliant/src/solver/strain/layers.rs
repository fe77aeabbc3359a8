//! Layers of tets around what is pinned.

use crate::asset::TetMesh;
use crate::body::topology::{NONE, neighbours};

/// How far each node is from a pinned one, in edges; 0 where none reaches.
pub(super) fn distances(mesh: &TetMesh, pinned: &[bool]) -> Vec<u32> {
    let neighbours = neighbours(mesh);
    let mut distance = vec![NONE; neighbours.len()];
    let mut queue: Vec<u32> = (0..neighbours.len() as u32).filter(|&node| pinned[node as usize]).collect();
    queue.iter().for_each(|&node| distance[node as usize] = 0);
    let mut next = 0;
    while let Some(&node) = queue.get(next) {
        next += 1;
        for &other in neighbours.of(node as usize) {
            if distance[other as usize] == NONE {
                distance[other as usize] = distance[node as usize] + 1;
                queue.push(other);
            }
        }
    }
    distance.iter_mut().filter(|distance| **distance == NONE).for_each(|distance| *distance = 0);
    distance
}

/// The layer of each tet: 0 where all its nodes are pinned; each next layer is the tets that share a node with the one
/// before. Pieces that no pin reaches are in layer 1 as a whole: nothing in them is nearer to a bone than the rest.
///
/// # Panics
/// If `pinned` is not one per node.
pub fn layers(mesh: &TetMesh, pinned: &[bool]) -> Vec<u32> {
    assert_eq!(pinned.len(), mesh.positions().len(), "one flag per node");
    of_distances(mesh, pinned, &distances(mesh, pinned))
}

/// A tet with a node at distance `d` shares it with a tet that has one at `d - 1`.
pub(super) fn of_distances(mesh: &TetMesh, pinned: &[bool], distances: &[u32]) -> Vec<u32> {
    let layer = |tet: &[u32; 4]| match tet.iter().all(|&node| pinned[node as usize]) {
        true => 0,
        false => 1 + tet.iter().map(|&node| distances[node as usize]).min().unwrap_or(0),
    };
    mesh.tets().iter().map(layer).collect()
}
