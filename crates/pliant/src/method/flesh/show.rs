//! The skin at a moment: its own linear blend, and what the flesh under it has been moved by.

use super::carried::{at, put};
use super::state::{CHUNK, State};
use super::{Flesh, Physics};
use crate::method::{Health, Shape, Stage};
use crate::parallel;
use crate::rig::Motion;

impl<P: Physics> State<'_, P> {
    /// The skin at a moment between the last two ticks.
    ///
    /// A vertex is where the tets have it, `E(x)`. That alone would lose what the skin does by its own weights between
    /// the nodes of a tet (lips, eyelids), morphs, and shells without flesh: so what linear blending moves the vertex
    /// by beyond its tet, `v_LBS - E(x_LBS)`, is added; less where bent joints have set the flesh free, since that is
    /// also what linear blending does wrong.
    pub(super) fn show(
        &mut self,
        motion: &dyn Motion,
        seconds: f64,
        out: &mut Shape,
        finished: &mut dyn FnMut(Stage),
    ) -> Health {
        let Flesh { character, rig, base, skin, points, .. } = self.flesh;
        let mut pose = std::mem::take(&mut self.pose);
        motion.pose(seconds, &mut pose);
        let mut posed = std::mem::take(&mut self.posed);
        self.posed_of(&pose, &mut posed);
        self.place(&posed, seconds);
        self.run.carried.let_go(&self.flesh.rig.pairs, &posed);
        points.positions(&self.run.carried.linear, &mut self.points, &mut self.node_places);
        let (carried, places) = (&self.run.carried, &self.node_places);
        parallel::for_each_chunk_mut(&mut self.run.skinned, CHUNK, |chunk, skinned| {
            for (k, node) in skinned.iter_mut().enumerate() {
                let index = chunk * CHUNK + k;
                put(node, places[index]);
                node[3] = carried.anchor(rig, index);
            }
        });
        finished(Stage::Skin);
        base.pose(character, &pose.morph_weights, &self.run.carried.linear, &mut self.skin, out);
        skin.positions(&self.run.skinned, &mut self.embedded);
        let (tets, embedding) = (self.flesh.body.tets().tets(), self.flesh.body.embedding());
        let (linear, shown) = (&self.run.skinned, &self.shown);
        let (embedded, details, strays) = (&self.embedded, &self.flesh.details, &self.flesh.strays);
        parallel::for_each_chunk_mut(&mut out.positions, CHUNK, |chunk, positions| {
            for (k, position) in positions.iter_mut().enumerate() {
                let vertex = chunk * CHUNK + k;
                let nodes = tets[embedding.tets()[vertex] as usize];
                let weights = embedding.weights()[vertex];
                let with = 1.0 - strays[vertex];
                if details[vertex] {
                    // With the flesh at the nearest place of its tet: on from there, a far shell would fly about.
                    let within = weights.map(|w| w.max(0.0));
                    let whole: f32 = within.iter().sum();
                    for c in 0..4 {
                        let moved = at(&shown[nodes[c] as usize]) - at(&linear[nodes[c] as usize]);
                        *position += moved * (within[c] / whole * with);
                    }
                } else {
                    let held = (0..4).map(|c| weights[c] * linear[nodes[c] as usize][3]).sum::<f32>();
                    let detail = (*position - embedded[vertex]) * held.clamp(0.0, 1.0);
                    *position = detail * with + *position * strays[vertex];
                }
            }
        });
        if out.normals.is_empty() {
            skin.positions(&self.shown, &mut self.embedded);
            let embedded = &self.embedded;
            parallel::for_each_chunk_mut(&mut out.positions, CHUNK, |chunk, positions| {
                for (k, position) in positions.iter_mut().enumerate() {
                    let vertex = chunk * CHUNK + k;
                    if !details[vertex] {
                        *position += embedded[vertex] * (1.0 - strays[vertex]);
                    }
                }
            });
        } else {
            self.with_normals(out);
        }
        self.pose = pose;
        self.posed = posed;
        finished(Stage::Embed);
        let residual = self.physics.residual(&self.run.nodes, &mut self.own);
        Health { residual: Some(residual), held: self.held, ..Health::default() }
    }

    /// Brings the skin along with the flesh, and normals with it.
    fn with_normals(&mut self, out: &mut Shape) {
        let Flesh { skin, details, strays, .. } = self.flesh;
        skin.positions_and_normals(&self.shown, &mut self.scratch, &mut self.embedded, &mut self.normals);
        let (embedded, normals) = (&self.embedded, &self.normals);
        parallel::for_each_chunk_pair_mut(&mut out.positions, &mut out.normals, CHUNK, |chunk, p, n| {
            for (k, (position, normal)) in p.iter_mut().zip(n).enumerate() {
                let vertex = chunk * CHUNK + k;
                if !details[vertex] {
                    let with = 1.0 - strays[vertex];
                    *position += embedded[vertex] * with;
                    let both = *normal * strays[vertex] + normals[vertex] * with;
                    *normal = both.normalize_or(normals[vertex]);
                }
            }
        });
    }

    /// The nodes at a moment between the last two ticks: both carried to it by the bones, then blended. A straight way
    /// would cut the corner of a fast turn, and lose volume.
    fn place(&mut self, posed: &[glam::DAffine3], seconds: f64) {
        let span = (self.clock.tick - self.before.tick) as f64;
        let since = seconds / self.clock.step - self.before.tick as f64;
        let share = if span > 0.0 { since / span } else { 1.0 };
        let rig = &self.flesh.rig;
        if share > 1.0 - 1e-6 {
            self.run.carried.set(&self.posed_now, posed);
            self.shown.copy_from_slice(&self.run.nodes);
            return;
        }
        let share = share.max(0.0) as f32;
        let moments = [
            (&self.before.nodes, &self.before.posed, &mut self.shown_before),
            (&self.run.nodes, &self.posed_now, &mut self.shown),
        ];
        for (nodes, posed_then, shown) in moments {
            self.run.carried.set(posed_then, posed);
            let carried = &self.run.carried;
            parallel::for_each_chunk_mut(shown, CHUNK, |chunk, shown| {
                for (k, node) in shown.iter_mut().enumerate() {
                    let index = chunk * CHUNK + k;
                    put(node, carried.advected(rig.weights.of(index), at(&nodes[index])));
                }
            });
        }
        let before = &self.shown_before;
        parallel::for_each_chunk_mut(&mut self.shown, CHUNK, |chunk, shown| {
            for (node, before) in shown.iter_mut().zip(&before[chunk * CHUNK..]) {
                let (from, to) = (at(before), at(node));
                put(node, from + (to - from) * share);
            }
        });
        // Halfway between two sound shapes a squeezed tet may be inside out.
        self.mend_shown();
    }
}
