//! Where nodes start from in a tick, and the points on their bones that they keep their distance from.

use super::{Position, State};
use crate::method::flesh::{CHUNK, Flesh, Run, apply, at, put};
use crate::method::{Model, Prediction};
use crate::parallel;

/// How far flesh may be from its linear blend, in distances from its bone (and half a cell). Linear blending errs by its
/// distance from the bone where it collapses wholly; farther, flesh has been carried astray.
const REACH: f32 = 1.05;
/// How far soft flesh may swing from where the bones would carry it, likewise. Farther (whirled at hundreds of g, wound up
/// by a limb that spins), it may come to rest folded or on the wrong side of its bone, where nothing brings it back.
const SWING: f32 = 0.6;
/// Share of the bind stiffness that is left where bent joints have set the flesh free: more, and it is caught between
/// the bones and bulges.
const LEAST_BIND: f32 = 0.05;
/// Downwards, where the settings do not say.
const GRAVITY: [f64; 3] = [0.0, -9.81, 0.0];

impl Position {
    pub(super) fn start_from(
        &self,
        flesh: &Flesh<'_>,
        run: &mut Run,
        state: &mut State,
        seconds: f32,
        inert: bool,
    ) {
        let Flesh { rig, inverse_masses, .. } = flesh;
        let Run { settings, nodes, velocities, carried, skinned, tissue, .. } = run;
        if let Some((turned, scratch)) = self.turned.as_ref().zip(state.turned.as_mut()) {
            turned.positions(&carried.linear, scratch, &mut state.places);
        }
        let cell = flesh.body.cell() as f32;
        let prediction = settings.position.prediction;
        let pull = flesh.gravity(settings.simulation.gravity.unwrap_or(GRAVITY)) * (seconds * seconds);
        let turned = &state.places;
        parallel::for_each_chunk_mut(nodes, CHUNK, |chunk, nodes| {
            for (k, node) in nodes.iter_mut().enumerate() {
                let index = chunk * CHUNK + k;
                let weights = rig.weights.of(index);
                let (old, linear, anchor) = (at(node), at(&skinned[index]), skinned[index][3]);
                if !weights.iter().all(|w| carried.sure[w.0 as usize]) {
                    // A bone of no size, or turned inside out, says nothing of where flesh was: it is held.
                    put(node, linear);
                    node[3] = 0.0;
                    continue;
                }
                node[3] = inverse_masses[index];
                let mut place = match prediction {
                    Prediction::Advected => {
                        let advected = carried.advected(weights, old);
                        let off = (advected - linear) * (1.0 - anchor);
                        let reach = REACH * rig.bounds[index].distance + 0.5 * cell;
                        linear + off * (reach / off.length().max(reach))
                    }
                    Prediction::Linear => linear,
                    Prediction::DualQuaternion => turned[index],
                };
                let softness = if inert { tissue[index].softness } else { 0.0 };
                if softness > 0.0 {
                    // v_bone + (v - v_bone) e^(-c h): drag against the bones, not against the air. The bones' motion
                    // at the node itself: the way to its linear blend would be a spring, the stiffer the shorter a step.
                    let along = carried.advected(weights, old) - old;
                    let kept = libm::expf(-tissue[index].damping * seconds);
                    let swung = old + along + (velocities[index] * seconds - along) * kept + pull;
                    let off = (swung - place) * softness;
                    let swing = SWING * rig.bounds[index].distance + cell;
                    place += off * (swing / off.length().max(swing));
                }
                put(node, place);
            }
        });
    }
}

/// Where the points on the bones are.
pub(super) fn bind(flesh: &Flesh<'_>, run: &Run, state: &mut State) {
    let (rig, carried) = (&flesh.rig, &run.carried);
    let rest = flesh.body.tets().positions();
    let compliant = run.settings.simulation.model == Model::Compliance;
    let State { binds, bind_stiffness, bind, .. } = state;
    parallel::for_each_chunk_pair_mut(binds, bind_stiffness, CHUNK, |chunk, binds, stiffness| {
        for (k, (to, stiffness)) in binds.iter_mut().zip(stiffness).enumerate() {
            let index = chunk * CHUNK + k;
            let bound = &rig.bounds[index];
            let m = &carried.linear[bound.slot as usize];
            let p = apply(m, bound.point);
            let distance = if carried.scaled { (apply(m, rest[index]) - p).length() } else { bound.distance };
            *to = [p.x, p.y, p.z, distance];
            // Near a bent joint the bones have little to say, or flesh would be caught between them.
            let share = LEAST_BIND + (1.0 - LEAST_BIND) * run.skinned[index][3];
            *stiffness = if compliant { bind[index] / share } else { bind[index] * share };
        }
    });
}
