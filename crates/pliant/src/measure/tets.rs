//! The flesh inside: tets against their rest volumes.

use super::LENGTH_FLOOR;
use super::joints::Carriers;
use crate::asset::Character;
use crate::body::{Body, Node, topology};
use crate::rig::Pose;
use glam::DVec3;
use std::collections::VecDeque;

/// A judge of a character's tet body.
#[derive(Debug, Clone)]
pub struct TetJudge {
    tets: Vec<[u32; 4]>,
    rest: Vec<RestTet>,
    /// A quarter of the rest volume of the tets around each node.
    masses: Vec<f64>,
    /// Of each node: those of the skin vertex that is nearest through the tets.
    carriers: Carriers,
    diagonal: f64,
}

#[derive(Debug, Clone, Copy)]
struct RestTet {
    volume: f64,
    /// Least distance of a corner from the face opposite.
    height: f64,
}

/// One frame of the tet body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TetMeasures {
    /// `100 abs(sum V / sum V0 - 1)`; none where the pose scales the whole body to nothing.
    pub volume_error_percent: Option<f64>,
    /// Tets of no or negative volume.
    pub inverted: usize,
    /// Smallest determinant of a tet's deformation gradient, `V / V0`.
    pub min_det_f: Option<f64>,
}

impl TetJudge {
    /// Prepares all that depends on the rest shape alone.
    pub fn new(character: &Character, body: &Body) -> Self {
        let mesh = body.tets();
        let mut masses = vec![0.0; mesh.positions().len()];
        let rest = (0..mesh.tets().len()).map(|t| {
            let corners = mesh.corners(t);
            let volume = mesh.volume_of(t);
            mesh.tets()[t].iter().for_each(|&n| masses[n as usize] += volume / 4.0);
            let area = |face: [usize; 3]| {
                let [a, b, c] = face.map(|k| corners[k]);
                (b - a).cross(c - a).length() / 2.0
            };
            let largest = topology::FACES.map(area).into_iter().fold(0.0, f64::max);
            RestTet { volume, height: 3.0 * volume / largest }
        });
        Self {
            rest: rest.collect(),
            masses,
            carriers: Carriers::new(character, &nearest_vertices(character, body)),
            tets: mesh.tets().to_vec(),
            diagonal: character.diagonal(),
        }
    }

    /// How many tets there are.
    pub fn tet_count(&self) -> usize {
        self.tets.len()
    }

    /// Measures one frame: the pose that was asked for, and where the nodes are. None where nodes are missing or not
    /// finite.
    pub fn frame(&self, pose: &Pose, nodes: &[Node]) -> Option<TetMeasures> {
        let points = self.points(nodes)?;
        let scales = self.carriers.scales(pose);
        // Flatter tets have the sign that rounding gives them: slivers, and flesh whose joint is scaled to nothing.
        let floor = LENGTH_FLOOR * self.diagonal;
        let (mut now, mut reference) = (0.0, 0.0);
        let (mut inverted, mut min_det_f) = (0, None);
        for (corners, rest) in self.tets.iter().zip(&self.rest) {
            let [a, b, c, d] = corners.map(|n| points[n as usize]);
            let volume = (b - a).cross(c - a).dot(d - a) / 6.0;
            let cubes = scales.as_ref().map(|s| corners.map(|n| s[n as usize]).map(|s| s * s * s));
            // Rest volumes grow with the cube of the joints' scales; negative where these mirror.
            let growth = cubes.map_or(1.0, |cubes| cubes.iter().sum::<f64>() / 4.0);
            now += volume;
            reference += rest.volume * growth;
            if rest.height * libm::cbrt(growth.abs()) > floor {
                let det_f = volume / (rest.volume * growth);
                inverted += usize::from(det_f <= 0.0);
                min_det_f = Some(min_det_f.map_or(det_f, |least: f64| least.min(det_f)));
            }
        }
        let error = 100.0 * (now / reference - 1.0).abs();
        Some(TetMeasures { volume_error_percent: Some(error).filter(|e| e.is_finite()), inverted, min_det_f })
    }

    /// Half the mean squared velocity of the nodes between two frames, each by the flesh around it; none where it is not
    /// a number.
    pub fn kinetic_energy(&self, before: &[Node], after: &[Node], seconds: f64) -> Option<f64> {
        if seconds <= 0.0 {
            return None;
        }
        let (before, after) = (self.points(before)?, self.points(after)?);
        let moved = before.iter().zip(&after).zip(&self.masses).map(|((b, a), m)| m * a.distance_squared(*b));
        let energy = 0.5 * moved.sum::<f64>() / (self.masses.iter().sum::<f64>() * seconds * seconds);
        energy.is_finite().then_some(energy)
    }

    fn points(&self, nodes: &[Node]) -> Option<Vec<DVec3>> {
        let sound =
            nodes.len() == self.masses.len() && nodes.iter().all(|[x, y, z, _]| (x + y + z).is_finite());
        sound.then(|| nodes.iter().map(|&[x, y, z, _]| DVec3::new(x.into(), y.into(), z.into())).collect())
    }
}

/// For each node the skin vertex that is nearest, by edges through the flesh: near in a straight line may be another
/// limb.
fn nearest_vertices(character: &Character, body: &Body) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let (mesh, embedding) = (body.tets(), body.embedding());
    let mut vertex_of = vec![NONE; mesh.positions().len()];
    // Next to the skin: the vertex that the node carries most of.
    let mut most = vec![f32::NEG_INFINITY; vertex_of.len()];
    for (vertex, (&tet, weights)) in embedding.tets().iter().zip(embedding.weights()).enumerate() {
        for (&node, &weight) in mesh.tets()[tet as usize].iter().zip(weights) {
            if weight > most[node as usize] {
                most[node as usize] = weight;
                vertex_of[node as usize] = vertex as u32;
            }
        }
    }
    let neighbours = topology::neighbours(mesh);
    let mut queue: VecDeque<u32> =
        (0..vertex_of.len() as u32).filter(|&n| vertex_of[n as usize] != NONE).collect();
    for start in 0..vertex_of.len() {
        while let Some(node) = queue.pop_front() {
            for &other in neighbours.of(node as usize) {
                if vertex_of[other as usize] == NONE {
                    vertex_of[other as usize] = vertex_of[node as usize];
                    queue.push_back(other);
                }
            }
        }
        // A piece of a body from a file that no skin is near: all of it goes with the vertex nearest to its first node.
        if vertex_of[start] == NONE {
            let place = mesh.positions()[start];
            let skin = character.surface().positions().iter().enumerate();
            let nearest =
                skin.min_by(|a, b| a.1.distance_squared(place).total_cmp(&b.1.distance_squared(place)));
            vertex_of[start] = nearest.map_or(0, |(vertex, _)| vertex as u32);
            queue.push_back(start as u32);
        }
    }
    vertex_of
}
