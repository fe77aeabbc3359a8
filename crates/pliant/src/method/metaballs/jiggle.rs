//! Balls of soft regions follow their own inertia: springs to their neighbours and to where the bones have them bring them
//! back, on a clock of their own. All others follow the skeleton.

use super::Metaballs;
use super::moving::{Balls, iterations};
use super::rig::BallRig;
use crate::body::Node;
use crate::method::clock::{Clock, between_roots};
use crate::method::flesh::{NodeTissue, at, presence, put};
use crate::method::{PrepareError, Settings};
use crate::rig::{Motion, Pose};
use crate::solver::{SolverState, per_iteration};
use glam::{DAffine3, DQuat, DVec3, Vec3};

/// Share of the way to where the bones have it that firm flesh goes in a tick.
const BIND: f64 = 0.15;
/// How far a ball may swing, in radii of its limb.
const SWING: f64 = 0.6;
/// Downwards, where the settings do not say, in metres per second squared.
const GRAVITY: [f64; 3] = [0.0, -9.81, 0.0];
/// Seconds from tick to tick, likewise.
const STEP: f64 = 0.01;
/// Motion in a tick, as a share of the body's size, below which flesh counts as settled.
const SETTLED: f32 = 1e-6;

/// Which balls are soft: what all copies share.
pub(super) struct Jiggle {
    /// Of each region, how much of each ball it takes.
    choices: Vec<Vec<f32>>,
    /// How far each ball may swing.
    swings: Vec<f32>,
    root: usize,
}

/// What one copy needs for it.
#[derive(Clone)]
pub(super) struct JiggleState {
    clock: Clock,
    pose: Pose,
    before: Pose,
    tissue: Vec<NodeTissue>,
    /// How much of each region there is; `None` before stiffness is set.
    shares: Option<Vec<f32>>,
    next_shares: Vec<f32>,
    /// Where balls are with their inertia, and without it at the tick before.
    nodes: Vec<Node>,
    firm: Vec<Node>,
    velocities: Vec<Vec3>,
    springs: SolverState,
    binds: Vec<[f32; 4]>,
    bind_stiffness: Vec<f32>,
    /// How far they are from where the bones have them, in the balls' own axes: now, and a tick before.
    swung: Vec<Vec3>,
    swung_before: Vec<Vec3>,
}

impl Jiggle {
    /// Nothing where nothing is soft.
    pub(super) fn new(rig: &BallRig<'_>, settings: &Settings) -> Result<Option<Self>, PrepareError> {
        if settings.regions.iter().all(|r| r.resolved().softness == 0.0) {
            return Ok(None);
        }
        let count = rig.balls().len();
        let on_balls = |choice: &Vec<f32>| {
            let (mut sums, mut weights) = (vec![0.0f32; count], vec![0.0f32; count]);
            for (vertex, &choice) in choice.iter().enumerate() {
                for &(ball, weight) in &rig.on_balls[vertex] {
                    let weight = weight * rig.share[vertex];
                    sums[ball as usize] += weight * choice;
                    weights[ball as usize] += weight;
                }
            }
            // Large balls carry skin on all sides: half of it is enough.
            let mean = |(sum, &weight): (&f32, &f32)| {
                if weight > 0.0 { (2.0 * sum / weight).min(1.0) } else { 0.0 }
            };
            sums.iter().zip(&weights).map(mean).collect::<Vec<f32>>()
        };
        let choices = settings.choices(&rig.character)?;
        let swing = |on: &super::Bound| on.first().map_or(0.0, |b| (SWING * rig.limb_radius(b.0)) as f32);
        let joints = rig.character.skeleton().joints();
        Ok(Some(Self {
            choices: choices.iter().map(on_balls).collect(),
            swings: rig.on_bones.iter().map(swing).collect(),
            root: joints.iter().position(|j| j.deforms).unwrap_or(0),
        }))
    }

    /// How much of each ball may swing.
    pub(super) fn softness(&self) -> Vec<f32> {
        let of_ball = |ball: usize| self.choices.iter().map(|choice| choice[ball]).fold(0.0, f32::max);
        (0..self.swings.len()).map(of_ball).collect()
    }

    /// Ticks up to the first at or after `seconds`. How many balls had to be held.
    pub(super) fn advance(
        &self,
        prepared: &Metaballs<'_>,
        settings: &Settings,
        motion: &dyn Motion,
        seconds: f64,
        balls: &mut Balls,
        state: &mut JiggleState,
    ) -> usize {
        let mut held = 0;
        if !state.clock.started {
            held += self.start(prepared, settings, motion, seconds, balls, state);
        }
        let last = state.clock.reach(seconds);
        while state.clock.tick < last {
            let tick = state.clock.tick + 1;
            std::mem::swap(&mut state.pose, &mut state.before);
            if state.clock.is_seam(tick) {
                let mut end = std::mem::take(&mut state.before);
                let jump = state.clock.seam(motion, tick, self.root, &mut end, &mut state.pose);
                state.before = end;
                state.carry(&jump);
            } else {
                motion.pose(state.clock.at(tick), &mut state.pose);
                let [from, to] = [&state.before, &state.pose].map(|p| p.world_from_joint[self.root]);
                let way = from.translation.distance(to.translation);
                let most = settings.simulation.teleport * prepared.rig.character.diagonal();
                if way > most * state.clock.step {
                    state.carry(&between_roots(&state.before, &state.pose, self.root));
                    state.velocities.fill(Vec3::ZERO);
                }
            }
            state.clock.tick = tick;
            held += self.tick(prepared, settings, balls, state);
        }
        held
    }

    /// Settles in the first pose.
    fn start(
        &self,
        prepared: &Metaballs<'_>,
        settings: &Settings,
        motion: &dyn Motion,
        seconds: f64,
        balls: &mut Balls,
        state: &mut JiggleState,
    ) -> usize {
        state.clock = Clock::start(motion, seconds, settings.simulation.step.unwrap_or(STEP));
        motion.pose(state.clock.at(state.clock.tick), &mut state.pose);
        balls.carry(prepared, &state.pose);
        balls.relax(prepared, settings);
        state.nodes.copy_from_slice(&balls.nodes);
        state.firm.copy_from_slice(&balls.nodes);
        let size = prepared.rig.character.diagonal() as f32;
        let mut held = 0;
        for _ in 0..(settings.simulation.preroll / state.clock.step).ceil() as usize {
            held += self.tick(prepared, settings, balls, state);
            let moved = state.swung.iter().zip(&state.swung_before).map(|(a, b)| a.distance(*b));
            if moved.fold(0.0, f32::max) < SETTLED * size {
                break;
            }
        }
        state.swung_before.copy_from_slice(&state.swung);
        held
    }

    /// On to the state's pose.
    fn tick(
        &self,
        prepared: &Metaballs<'_>,
        settings: &Settings,
        balls: &mut Balls,
        state: &mut JiggleState,
    ) -> usize {
        let seconds = state.clock.step as f32;
        self.set_tissue(prepared, settings, state);
        balls.carry(prepared, &state.pose);
        balls.relax(prepared, settings);
        let units = settings.simulation.metres_per_unit.unwrap_or(1.0);
        let gravity = settings.simulation.gravity.unwrap_or(GRAVITY);
        let gravity = DVec3::from_array(gravity) / units * f64::from(seconds * seconds);
        for (ball, node) in state.nodes.iter_mut().enumerate() {
            let (target, softness) = (at(&balls.nodes[ball]), state.tissue[ball].softness);
            (state.binds[ball], node[3]) = ([target.x, target.y, target.z, 0.0], softness);
            let old = at(node);
            let along = target - at(&state.firm[ball]);
            // v_bone + (v - v_bone) e^(-c h): drag against the bones, not against the air.
            // The rest shape is what gravity has made of it: only what has changed since then pulls.
            let pull = (gravity - balls.turns[ball] * gravity).as_vec3();
            let kept = libm::expf(-state.tissue[ball].damping * seconds);
            let swung = old + along + (state.velocities[ball] * seconds - along) * kept + pull;
            let off = (swung - target) * softness;
            // From where it was, to know its speed by.
            state.velocities[ball] = old;
            let most = self.swings[ball];
            put(node, target + off * (most / off.length().max(most.max(f32::MIN_POSITIVE))));
        }
        let firm = &balls.nodes;
        let length = |[a, b]: [u32; 2], _| at(&firm[a as usize]).distance(at(&firm[b as usize]));
        prepared.solver.set_lengths(&mut state.springs, length);
        let (springs, binds, stiffness) = (&mut state.springs, &state.binds, &state.bind_stiffness);
        prepared.solver.solve(springs, &mut state.nodes, binds, stiffness, iterations(settings), 0);
        std::mem::swap(&mut state.swung, &mut state.swung_before);
        let mut held = 0;
        for (ball, node) in state.nodes.iter_mut().enumerate() {
            let target = at(&balls.nodes[ball]);
            if !at(node).is_finite() {
                put(node, target);
                state.velocities[ball] = target;
                held += 1;
            }
            let now = at(node);
            state.velocities[ball] = (now - state.velocities[ball]) / seconds;
            state.swung[ball] = (balls.turns[ball].conjugate() * (now - target).as_dvec3()).as_vec3();
        }
        state.firm.copy_from_slice(&balls.nodes);
        held
    }

    /// What flesh is like at the tick; anew where regions have come or gone.
    fn set_tissue(&self, prepared: &Metaballs<'_>, settings: &Settings, state: &mut JiggleState) {
        let time = state.clock.in_clip(state.clock.at(state.clock.tick));
        for (share, region) in state.next_shares.iter_mut().zip(&settings.regions) {
            *share = presence(region, time);
        }
        if state.shares.as_ref() == Some(&state.next_shares) {
            return;
        }
        state.shares.get_or_insert_default().clone_from(&state.next_shares);
        state.tissue.fill(NodeTissue::FIRM);
        for ((region, choice), &share) in settings.regions.iter().zip(&self.choices).zip(&state.next_shares) {
            let tissue = region.resolved();
            for (own, &choice) in state.tissue.iter_mut().zip(choice).filter(|(_, c)| **c * share > 0.0) {
                own.towards(&tissue, choice * share, true);
            }
        }
        let (tissue, sweeps) = (&state.tissue, iterations(settings));
        let springs = settings.metaballs.springs;
        let stretch = |nodes: [u32; 2]| {
            let [a, b] = nodes.map(|n| tissue[n as usize].stretch);
            per_iteration(springs * f64::from(0.5 * (a + b)), sweeps)
        };
        prepared.solver.set_stretch(&mut state.springs, stretch);
        for (stiffness, tissue) in state.bind_stiffness.iter_mut().zip(tissue) {
            *stiffness = per_iteration(BIND * f64::from(tissue.bind), sweeps);
        }
    }
}

impl JiggleState {
    pub(super) fn new(jiggle: &Jiggle, prepared: &Metaballs<'_>) -> Self {
        let count = prepared.carriers.balls;
        let rest = Pose::rest(&prepared.rig.character);
        Self {
            clock: Clock::default(),
            pose: rest.clone(),
            before: rest,
            tissue: vec![NodeTissue::FIRM; count],
            shares: None,
            next_shares: vec![0.0; jiggle.choices.len()],
            nodes: vec![[0.0; 4]; count],
            firm: vec![[0.0; 4]; count],
            velocities: vec![Vec3::ZERO; count],
            springs: prepared.solver.state(),
            binds: vec![[0.0; 4]; count],
            bind_stiffness: vec![0.0; count],
            swung: vec![Vec3::ZERO; count],
            swung_before: vec![Vec3::ZERO; count],
        }
    }

    /// Stiffness is set anew at the next tick.
    pub(super) fn retune(&mut self) {
        self.shares = None;
    }

    /// Flesh goes along where the bones jump.
    fn carry(&mut self, by: &DAffine3) {
        let place = |node: &mut Node| put(node, by.transform_point3(at(node).as_dvec3()).as_vec3());
        self.nodes.iter_mut().chain(&mut self.firm).for_each(place);
        self.velocities.iter_mut().for_each(|v| *v = by.transform_vector3(v.as_dvec3()).as_vec3());
    }

    /// Moves balls that bones have placed to where they swing at a moment between the last two ticks.
    pub(super) fn show(&self, seconds: f64, balls: &mut Balls) {
        let since = seconds / self.clock.step - (self.clock.tick - 1) as f64;
        let share = since.clamp(0.0, 1.0) as f32;
        let turned = |turn: DQuat, by: Vec3| (turn * by.as_dvec3()).as_vec3();
        for (ball, node) in balls.nodes.iter_mut().enumerate() {
            let (from, to) = (self.swung_before[ball], self.swung[ball]);
            let place = at(node) + turned(balls.turns[ball], from + (to - from) * share);
            put(node, place);
        }
    }
}
