//! Turns tets that are inside out, by moving their corners one at a time.
//!
//! Solver sweeps alone may not turn such a tet: where others hold its corners, all corrections go round in circles. So
//! `E = sum s max(0, aim - V/V0)^2` over all tets goes down here, node by node: volumes are linear in the place of one
//! node, which makes it a small convex problem for each, and no step that would raise `E` is taken.

use super::Flesh;
use super::carried::{at, put};
use crate::body::Node;
use glam::{DMat3, DVec3, Vec3};

/// Times that the corners of tets that are still inside out are gone through; nodes that bones hold join in later.
const ROUNDS: usize = 30;
const FIRM_ROUNDS: usize = 10;
/// What each tet is to have at least, of its volume at rest: just so that it is not inside out. The rest is the solver's.
const AIM: f64 = 0.02;
/// Of the mean diagonal of a node's equations, what is added to it: where its tets say nothing, it stays.
const REGULAR: f64 = 1e-3;
/// Times that a step which would raise the sum is halved.
const HALVINGS: usize = 4;
/// Cells from where it was that a node is moved at most: to tets that are all but flat a far place looks as good as a near
/// one, and skin would be drawn there.
const REACH: f64 = 1.0;
/// How much more a tet counts after each round in which it stayed inside out.
const MORE: f64 = 4.0;

/// What mending needs beside the nodes.
#[derive(Debug, Clone, Default)]
pub(super) struct Mender {
    /// Tets that are inside out, and all that share a node with them.
    flat: Vec<u32>,
    around: Vec<u32>,
    seen: Vec<bool>,
    /// How much each tet counts, and those that count for more than 1.
    stress: Vec<f64>,
    stressed: Vec<u32>,
    /// Of the tets around a node.
    planes: Vec<Plane>,
    /// Where nodes were before.
    from: Vec<Vec3>,
}

impl Mender {
    /// With room for a body, so that steps allocate nothing.
    pub(super) fn new(flesh: &Flesh<'_>) -> Self {
        let tets = flesh.body.tets().tets().len();
        let most = (0..flesh.tets_of_node.len()).map(|n| flesh.tets_of_node.of(n).len()).max().unwrap_or(0);
        Self {
            flat: Vec::with_capacity(tets),
            around: Vec::with_capacity(tets),
            seen: vec![false; tets],
            stress: vec![1.0; tets],
            stressed: Vec::with_capacity(tets),
            planes: Vec::with_capacity(most),
            from: vec![Vec3::ZERO; flesh.body.tets().positions().len()],
        }
    }

    /// Mends what can be. Where that is not enough and they do yield, nodes that bones hold move too: between two bones
    /// that have come too near there may be no room else. Tets that are `scaled` are to be as large as those around them.
    pub(super) fn mend(&mut self, flesh: &Flesh<'_>, nodes: &mut [Node], yields: bool, scaled: bool) {
        let tets = flesh.body.tets().tets();
        let is_flat = |nodes: &[Node], t: u32| six_volumes(nodes, &tets[t as usize]) <= 0.0;
        self.flat.clear();
        self.flat.extend((0..tets.len() as u32).filter(|&t| is_flat(nodes, t)));
        if self.flat.is_empty() {
            return;
        }
        self.from.iter_mut().zip(nodes.iter()).for_each(|(from, node)| *from = at(node));
        for round in 0..if yields { ROUNDS } else { FIRM_ROUNDS } {
            if self.flat.is_empty() {
                break;
            }
            self.look_around(flesh);
            for i in 0..self.around.len() {
                for node in tets[self.around[i] as usize] {
                    if nodes[node as usize][3] > 0.0 || round >= FIRM_ROUNDS {
                        self.step(flesh, nodes, node, scaled);
                    }
                }
            }
            self.flat.clear();
            self.flat.extend(self.around.iter().filter(|&&t| is_flat(nodes, t)));
            // What is left counts for more: those around it have room to spare.
            for &tet in &self.flat {
                if self.stress[tet as usize] == 1.0 {
                    self.stressed.push(tet);
                }
                self.stress[tet as usize] *= MORE;
            }
        }
        self.stressed.drain(..).for_each(|tet| self.stress[tet as usize] = 1.0);
    }

    /// Finds the tets that share a node with the flat ones.
    fn look_around(&mut self, flesh: &Flesh<'_>) {
        self.around.clear();
        for &flat in &self.flat {
            for node in flesh.body.tets().tets()[flat as usize] {
                for &tet in flesh.tets_of_node.of(node as usize) {
                    if !self.seen[tet as usize] {
                        self.seen[tet as usize] = true;
                        self.around.push(tet);
                    }
                }
            }
        }
        self.around.iter().for_each(|&tet| self.seen[tet as usize] = false);
    }

    /// Moves a node to where the tets around it are less short of their aims: a Newton step, shortened until it helps.
    fn step(&mut self, flesh: &Flesh<'_>, nodes: &mut [Node], node: u32, scaled: bool) {
        let mesh = flesh.body.tets();
        let place = at(&nodes[node as usize]);
        self.planes.clear();
        for &tet in flesh.tets_of_node.of(node as usize) {
            let corners = mesh.tets()[tet as usize];
            let own = corners.iter().position(|&n| n == node).unwrap_or(0);
            let [a, b, c] = OTHERS[own].map(|k| (at(&nodes[corners[k] as usize]) - place).as_dvec3());
            // Six volumes with the node at `x`: (a - x) . (b - x) x (c - x).
            let over = 1.0 / (6.0 * mesh.volume_of(tet as usize));
            let slope = (b.cross(c) + c.cross(a) + a.cross(b)) * -over;
            self.planes.push(Plane {
                slope,
                share: a.dot(b.cross(c)) * over,
                stress: self.stress[tet as usize],
            });
        }
        let mean = self.planes.iter().map(|p| p.share.abs()).sum::<f64>() / self.planes.len().max(1) as f64;
        let aim = if scaled { AIM * mean.min(1.0) } else { AIM };
        let (mut push, mut matrix) = (DVec3::ZERO, DMat3::ZERO);
        for &Plane { slope, share, stress } in self.planes.iter().filter(|p| p.share < aim) {
            push += slope * (stress * (aim - share));
            matrix += DMat3::from_cols(slope * slope.x, slope * slope.y, slope * slope.z) * stress;
        }
        let trace = matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z;
        if trace <= 0.0 {
            return;
        }
        let regular = matrix + DMat3::from_diagonal(DVec3::splat(REGULAR * trace / 3.0));
        let missing = |step: DVec3| -> f64 {
            let short = |p: &Plane| (aim - p.share - p.slope.dot(step)).max(0.0);
            self.planes.iter().map(|p| p.stress * short(p) * short(p)).sum()
        };
        let (mut step, before) = (regular.inverse() * push, missing(DVec3::ZERO));
        let grown = if scaled { libm::cbrt(mean.max(1.0)) } else { 1.0 };
        let back = (self.from[node as usize] - place).as_dvec3();
        step = back + (step - back).clamp_length_max(REACH * grown * flesh.body.cell());
        for _ in 0..HALVINGS {
            if step.is_finite() && missing(step) < before {
                put(&mut nodes[node as usize], place + step.as_vec3());
                return;
            }
            step *= 0.5;
        }
    }
}

/// A tet around a node: its volume over that at rest is `share + slope . step`.
#[derive(Debug, Clone, Copy)]
struct Plane {
    slope: DVec3,
    share: f64,
    stress: f64,
}

/// The other corners of a positive tet, so that they are seen in the same order from each.
const OTHERS: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

fn six_volumes(nodes: &[Node], tet: &[u32; 4]) -> f32 {
    let [a, b, c, d]: [Vec3; 4] = tet.map(|n| at(&nodes[n as usize]));
    (b - a).cross(c - a).dot(d - a)
}
