//! The same constraints as they are published: one after another, each with its own gradients and its own way to the
//! nodes. What the fused form is checked against and timed beside.

use super::{REGULAR, SEVEN, SHEARS, VOLUME, columns};
use crate::asset::TetMesh;
use crate::body::Node;
use glam::{Mat3, Quat, Vec3};

/// Tets one after another, one constraint at a time.
#[derive(Debug, Clone)]
pub struct Textbook {
    tets: Vec<Tet>,
}

#[derive(Debug, Clone)]
struct Tet {
    nodes: [u32; 4],
    /// `Dm^-1 Q`
    rest: Mat3,
    /// What is added to denominators, over the mean inverse mass.
    regular: f32,
    stiffness: [f32; SEVEN],
}

impl Textbook {
    /// These tets of a mesh in this order, with what [`super::StrainSolver::set_stiffness`] takes.
    ///
    /// # Panics
    /// If there is no such tet, or no frame for one.
    pub fn new(
        mesh: &TetMesh,
        tets: &[u32],
        frames: Option<&[Quat]>,
        stiffness: impl Fn(usize) -> [f32; SEVEN],
    ) -> Self {
        let tet = |&tet: &u32| {
            let tet = tet as usize;
            let numbers = columns(mesh, tet, frames.map(|frames| frames[tet]));
            Tet {
                nodes: mesh.tets()[tet],
                rest: Mat3::from_cols_slice(&numbers[..9]),
                regular: 4.0 * numbers[9],
                stiffness: stiffness(tet),
            }
        };
        Self { tets: tets.iter().map(tet).collect() }
    }

    /// Projects every constraint once.
    ///
    /// # Panics
    /// If a tet has a node that is not there.
    pub fn sweep(&self, nodes: &mut [Node]) {
        for tet in &self.tets {
            for constraint in std::iter::once(VOLUME).chain(0..VOLUME) {
                tet.project(constraint, nodes);
            }
        }
    }
}

impl Tet {
    fn project(&self, constraint: usize, nodes: &mut [Node]) {
        let own = self.nodes.map(|node| nodes[node as usize]);
        let p = own.map(|n| Vec3::from_slice(&n));
        let w = own.map(|n| n[3]);
        let f = Mat3::from_cols(p[1] - p[0], p[2] - p[0], p[3] - p[0]) * self.rest;
        // The gradients of the last three nodes are the columns of `g rest^T`.
        let (value, g) = match constraint {
            i @ 0..3 => {
                let mut g = Mat3::ZERO;
                let length = f.col(i).length();
                if length < 1e-6 {
                    return;
                }
                *g.col_mut(i) = f.col(i) / length;
                (length - 1.0, g)
            }
            k @ 3..6 => {
                let [i, j] = SHEARS[k - 3];
                let mut g = Mat3::ZERO;
                *g.col_mut(i) = f.col(j);
                *g.col_mut(j) = f.col(i);
                (f.col(i).dot(f.col(j)), g)
            }
            _ => {
                let [a, b, c] = [f.x_axis, f.y_axis, f.z_axis];
                let g = Mat3::from_cols(b.cross(c), c.cross(a), a.cross(b));
                (a.dot(g.x_axis) - 1.0, g)
            }
        };
        let g = g * self.rest.transpose();
        let gradients = [-(g.x_axis + g.y_axis + g.z_axis), g.x_axis, g.y_axis, g.z_axis];
        let sum: f32 = w.iter().zip(&gradients).map(|(w, g)| w * g.length_squared()).sum();
        let regular = self.regular * (w[0] + w[1] + w[2] + w[3]) / 4.0;
        if regular <= 0.0 {
            return;
        }
        let mut over = sum + regular;
        if constraint == VOLUME {
            over = over.max(value * value * regular / REGULAR as f32);
        }
        let step = -self.stiffness[constraint] * value / over;
        for k in 0..4 {
            let p = p[k] + gradients[k] * (step * w[k]);
            nodes[self.nodes[k] as usize] = [p.x, p.y, p.z, w[k]];
        }
    }
}
