//! Anisotropic flesh on bones alone: nodes that bones pass through are pinned to them, all others follow by strain
//! constraints, solved in layers from the bones outwards. No weights are blended.

mod damping;
mod fibres;
pub(super) mod materials;
mod pins;
mod slits;
mod thin;
mod twist;

use super::flesh::{self, CHUNK, Carried, Flesh, NodeTissue, Physics, Run, apply, at, put};
use super::{Damping, Deformer, Model, PrepareError, Settings, Setup, Skinning, StrainOrder};
use crate::asset::Character;
use crate::body::Node;
use crate::parallel;
use crate::rig::{Motion, SkinMatrix};
use crate::solver::{Check, Effort, Order, StrainSolver, StrainState};
use fibres::Fibres;
use glam::{Quat, Vec3};
use pins::Pin;
use slits::Slits;
use twist::{Angles, Twists};

pub(super) const NAME: &str = "strain";

/// Seconds from tick to tick, where the motion has no frames of its own.
const STEP: f64 = 0.01;
/// Downwards, for settled flesh where the settings do not say.
const GRAVITY: [f64; 3] = [0.0, -9.81, 0.0];
/// How far flesh may swing from where the bones would carry it, in distances from its bone (and a cell). Farther, it may
/// come to rest on the wrong side of its bone, where nothing brings it back.
const SWING: f32 = 1.0;

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let density = setup.settings.strain.density;
    flesh::prepare(character, setup, Skinning::Lbs, density, Strain::new)
}

/// What all copies share.
struct Strain {
    solver: StrainSolver,
    pins: Vec<Pin>,
    /// How firmly nodes are held at their linear blend at least.
    firmness: Vec<f32>,
    /// How much of their inertia nodes follow, whatever the tissue.
    swing: Vec<f32>,
    twists: Twists,
    /// The pins as pictures know them.
    pinned_to: Vec<u32>,
    fibres: Fibres,
    slits: Slits,
}

impl Strain {
    fn new(flesh: &Flesh<'_>, warnings: &mut Vec<String>) -> Result<Self, PrepareError> {
        let Flesh { settings, body, path, .. } = flesh;
        let pins = pins::pins(flesh, warnings);
        let firmness = pins::firmness(flesh);
        let swing = thin::swing(body);
        let twists = Twists::new(flesh, &pins);
        let pinned: Vec<bool> = pins.iter().map(|p| matches!(p, Pin::Bone(_) | Pin::Skinned)).collect();
        let order = match settings.strain.order {
            StrainOrder::Layered => Order::Layered,
            StrainOrder::Unordered => Order::Unordered,
        };
        let fibres = Fibres::new(flesh, warnings)?;
        let solver = StrainSolver::new(body.tets(), &pinned, Some(&fibres.frames), order, *path)?;
        let slot = |pin: &Pin| if let Pin::Bone(slot) = pin { u32::from(*slot) } else { u32::MAX };
        let pinned_to = pins.iter().map(slot).collect();
        Ok(Self { solver, pins, firmness, swing, twists, pinned_to, fibres, slits: Slits::new(flesh) })
    }
}

/// What each copy has.
#[derive(Clone)]
pub(super) struct Own {
    solver: StrainState,
    twisted: Angles,
    /// Room for [`Slits::even_out`].
    evened: Vec<Vec3>,
}

impl Physics for Strain {
    type State = Own;

    fn state(&self, settings: &Settings) -> Own {
        let mut solver = self.solver.state();
        solver.use_compliance(settings.simulation.model == Model::Compliance);
        Own { solver, twisted: self.twists.angles(), evened: vec![Vec3::ZERO; self.slits.len()] }
    }

    /// A recording's own frames, cut into equal parts of at most 1/60 s.
    fn step(&self, motion: &dyn Motion) -> f64 {
        motion
            .frame_time()
            .filter(|t| *t > 0.0)
            .map_or(STEP, |time| time / (time * 60.0 - 1e-6).ceil().max(1.0))
    }

    fn is_live(&self, old: &Settings, new: &Settings) -> bool {
        let fibres = fibres::is_live(&old.fibres, &new.fibres);
        let (old, new) = (&old.strain, &new.strain);
        fibres && old.density == new.density && old.order == new.order
    }

    /// All of it follows its inertia.
    fn tissue(&self, settings: &Settings) -> NodeTissue {
        NodeTissue { softness: 1.0, damping: settings.strain.damping as f32, ..NodeTissue::FIRM }
    }

    fn set(
        &self,
        flesh: &Flesh<'_>,
        settings: &Settings,
        tissue: &[NodeTissue],
        seconds: f64,
        state: &mut Own,
    ) {
        materials::set(self, flesh, settings, tissue, seconds, &mut state.solver);
    }

    fn set_targets(&self, flesh: &Flesh<'_>, carried: &Carried, unscaled: bool, state: &mut Own) -> f64 {
        let tets = flesh.body.tets();
        let det = |m: &SkinMatrix| {
            let [x, y, z] = m.map(|r| Vec3::new(r[0], r[1], r[2]));
            x.dot(y.cross(z)).max(0.0)
        };
        let blended = |node: u32| -> f32 {
            let weights = flesh.rig.weights.of(node as usize).iter();
            weights.map(|&(slot, weight)| weight * det(&carried.linear[slot as usize])).sum()
        };
        // Volumes go with the mean of the joints' determinants, lengths with its cube root.
        let grown = |tet: usize| -> f64 {
            let mean: f32 = tets.tets()[tet].iter().map(|&n| 0.25 * blended(n)).sum();
            if unscaled { 1.0 } else { f64::from(mean).max(1e-9) }
        };
        self.solver.set_scale(&mut state.solver, |tet| libm::cbrt(grown(tet)) as f32);
        (0..tets.tets().len()).map(|tet| tets.volume_of(tet) * grown(tet)).sum()
    }

    fn predict(&self, flesh: &Flesh<'_>, run: &mut Run, state: &mut Own, seconds: f32, inert: bool) {
        let Flesh { rig, inverse_masses, body, .. } = flesh;
        let Run { settings, nodes, velocities, carried, skinned, tissue, .. } = run;
        let viscous = settings.strain.damping_model == Damping::Viscous;
        if inert && !viscous {
            damping::keep_momentum(nodes, velocities, tissue, seconds);
        }
        self.twists.follow(carried, &mut state.twisted);
        let twisted = &state.twisted;
        let settled = settings.strain.settled;
        let none = if settled { GRAVITY } else { [0.0; 3] };
        let gravity = flesh.gravity(settings.simulation.gravity.unwrap_or(none));
        let (rest, cell) = (body.tets().positions(), body.cell() as f32);
        parallel::for_each_chunk_mut(nodes, CHUNK, |chunk, nodes| {
            for (k, node) in nodes.iter_mut().enumerate() {
                let index = chunk * CHUNK + k;
                let weights = rig.weights.of(index);
                let held = match self.pins[index] {
                    Pin::Bone(slot) => {
                        let place = self.twists.untwisted(index, rest[index], twisted);
                        Some(apply(&carried.linear[slot as usize], place))
                    }
                    Pin::Skinned => Some(at(&skinned[index])),
                    // A bone of no size, or turned inside out, says nothing of where flesh was.
                    _ if !weights.iter().all(|w| carried.sure[w.0 as usize]) => Some(at(&skinned[index])),
                    Pin::Free | Pin::Joint(_) => None,
                };
                if let Some(place) = held {
                    put(node, place);
                    node[3] = 0.0;
                    continue;
                }
                node[3] = inverse_masses[index];
                let old = at(node);
                let along = carried.advected(weights, old) - old;
                let mut place = old + along;
                if inert {
                    let kept = if viscous { libm::expf(-tissue[index].damping * seconds) } else { 1.0 };
                    // Flesh that has settled at rest is tense just so that it bears its weight there; turned with its
                    // bone, the tension turns along: what is left to pull is `g - R g`.
                    let tension = if settled {
                        turned(&carried.linear[weights[0].0 as usize], gravity)
                    } else {
                        Vec3::ZERO
                    };
                    let pull = (gravity - tension) * (seconds * seconds);
                    let off = ((velocities[index] * seconds - along) * kept + pull)
                        * (tissue[index].softness * self.swing[index]);
                    let swing = SWING * rig.bounds[index].distance + cell;
                    place += off * (swing / off.length().max(swing));
                }
                let hold = tissue[index].bind * settings.strain.hold as f32;
                let returned = 1.0 - libm::expf(-hold * seconds);
                let held = skinned[index][3].max(self.firmness[index]);
                place += (at(&skinned[index]) - place) * (held * returned);
                if let Pin::Joint(slot) = self.pins[index] {
                    let on_bone = apply(&carried.linear[slot as usize], rest[index]);
                    place += (on_bone - place) * skinned[index][3];
                }
                put(node, place);
            }
        });
    }

    fn solve(&self, run: &mut Run, state: &mut Own) {
        self.solver.solve(&mut state.solver, &mut run.nodes, materials::effort(&run.settings));
        self.slits.even_out(run, &mut state.evened);
    }

    fn check(&self, nodes: &[Node], state: &mut Own) -> Check {
        self.solver.check(&mut state.solver, nodes, 0.0)
    }

    fn sweep_volume(&self, nodes: &mut [Node], sweeps: u32, state: &mut Own) {
        let effort = Effort { iterations: 0, consolidating: 0, mass_gain: 1.0, volume_sweeps: sweeps };
        self.solver.solve(&mut state.solver, nodes, effort);
    }

    fn residual(&self, nodes: &[Node], state: &mut Own) -> f32 {
        self.solver.residual(&mut state.solver, nodes)
    }

    fn pins(&self) -> Option<&[u32]> {
        Some(&self.pinned_to)
    }

    fn frames(&self) -> Option<&[Quat]> {
        Some(&self.fibres.frames)
    }
}

/// A direction turned by a matrix, its length kept.
fn turned(m: &SkinMatrix, v: Vec3) -> Vec3 {
    (apply(m, v) - apply(m, Vec3::ZERO)).normalize_or_zero() * v.length()
}
