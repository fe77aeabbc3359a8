//! One moving copy: from a pose to its balls, from its balls to the skin.

use super::jiggle::JiggleState;
use super::pose::{self, PosedBone};
use super::{ITERATIONS, Metaballs};
use crate::body::Node;
use crate::method::{Health, Instance, PrepareError, Settings, Shape, Stage};
use crate::parallel;
use crate::rig::{Motion, Pose, SkinMatrix};
use crate::skin::balls::BallSkinState;
use crate::skin::overlap::OverlapState;
use crate::solver::{SolverState, per_iteration};
use glam::DQuat;

/// Balls in a pose, before the skin.
#[derive(Clone)]
pub(super) struct Balls {
    pub(super) bones: Vec<PosedBone>,
    matrices: Vec<SkinMatrix>,
    /// Their places, and how freely springs move them.
    pub(super) nodes: Vec<Node>,
    pub(super) turns: Vec<DQuat>,
    springs: SolverState,
    stiffness: f64,
}

impl Balls {
    fn new(prepared: &Metaballs<'_>) -> Self {
        let node = |(ball, &w): (&crate::body::Ball, &f32)| [ball.center.x, ball.center.y, ball.center.z, w];
        Self {
            bones: Vec::with_capacity(prepared.carriers.bones),
            matrices: Vec::with_capacity(prepared.carriers.bones),
            nodes: prepared.rig.balls().iter().zip(&prepared.inverse_masses).map(node).collect(),
            turns: vec![DQuat::IDENTITY; prepared.carriers.balls],
            springs: prepared.solver.state(),
            stiffness: 0.0,
        }
    }

    /// By the bones alone.
    pub(super) fn carry(&mut self, prepared: &Metaballs<'_>, pose: &Pose) {
        pose.skin_matrices(&prepared.rig.character, &mut self.matrices);
        self.bones.clear();
        self.bones.extend(self.matrices.iter().map(PosedBone::new));
        pose::turn_by_joints(&prepared.joints.hangs_on, &mut self.bones);
        pose::place_balls(&prepared.rig, &self.bones, &mut self.nodes);
        pose::turn_balls(&prepared.rig, &self.bones, &mut self.turns);
    }

    /// By the springs between them.
    pub(super) fn relax(&mut self, prepared: &Metaballs<'_>, settings: &Settings) {
        let springs = settings.metaballs.springs;
        if springs > 0.0 {
            let sweeps = iterations(settings);
            if self.stiffness != springs {
                self.stiffness = springs;
                let stiffness = per_iteration(springs, sweeps);
                prepared.solver.set_stretch(&mut self.springs, |_| stiffness);
            }
            prepared.solver.sweep_stretch(&mut self.springs, &mut self.nodes, sweeps);
        }
    }
}

pub(super) fn iterations(settings: &Settings) -> u32 {
    settings.simulation.iterations.unwrap_or(ITERATIONS)
}

#[derive(Clone)]
pub(super) struct Moving<'p> {
    prepared: &'p Metaballs<'p>,
    settings: Settings,
    pose: Pose,
    balls: Balls,
    gains: Vec<f64>,
    /// Of all carriers.
    carriers: Vec<SkinMatrix>,
    skin: BallSkinState,
    overlap: Option<OverlapState>,
    jiggle: Option<JiggleState>,
    /// Where balls are, and how large.
    shown: Vec<[f32; 4]>,
}

impl<'p> Moving<'p> {
    pub(super) fn new(prepared: &'p Metaballs<'p>) -> Self {
        let ball = |b: &crate::body::Ball| [b.center.x, b.center.y, b.center.z, b.radius];
        Self {
            prepared,
            settings: prepared.settings.clone(),
            pose: Pose::rest(&prepared.rig.character),
            balls: Balls::new(prepared),
            gains: vec![1.0; prepared.carriers.balls],
            carriers: vec![SkinMatrix::default(); prepared.carriers.len()],
            skin: prepared.skin.state(),
            overlap: prepared.overlap.as_ref().map(|overlap| overlap.state()),
            jiggle: prepared.jiggle.as_ref().map(|jiggle| JiggleState::new(jiggle, prepared)),
            shown: prepared.rig.balls().iter().map(ball).collect(),
        }
    }

    /// How much each ball grows: by the muscle that has most of it.
    fn bulge(&mut self) {
        self.gains.fill(1.0);
        for line in &self.prepared.lines {
            let more = line.growth(&self.balls.bones) - 1.0;
            for &(ball, share) in &line.balls {
                let gain = &mut self.gains[ball as usize];
                let own = more * share;
                if own.abs() > (*gain - 1.0).abs() {
                    *gain = 1.0 + own;
                }
            }
        }
    }

    /// The matrices of all that carries skin.
    fn set_carriers(&mut self) {
        let Metaballs { rig, joints, swelling, carriers, .. } = self.prepared;
        let Balls { bones, matrices, nodes, turns, .. } = &self.balls;
        let (balls, others) = self.carriers.split_at_mut(carriers.balls);
        pose::ball_matrices(rig, bones, nodes, turns, (swelling, &self.gains), balls);
        let (rungs, of_bones) = others.split_at_mut(others.len() - carriers.bones);
        let swelling = self.settings.metaballs.joint_swelling;
        pose::rung_matrices(joints, bones, swelling, self.overlap.is_some(), rungs);
        of_bones.copy_from_slice(matrices);
        for (shown, (ball, (node, gain))) in
            self.shown.iter_mut().zip(rig.balls().iter().zip(nodes.iter().zip(&self.gains)))
        {
            *shown = [node[0], node[1], node[2], ball.radius * *gain as f32];
        }
    }
}

impl Instance for Moving<'_> {
    fn step(
        &mut self,
        motion: &dyn Motion,
        seconds: f64,
        out: &mut Shape,
        finished: &mut dyn FnMut(Stage),
    ) -> Health {
        let mut health = Health::default();
        let prepared = self.prepared;
        let Metaballs { rig, skin, overlap, jiggle, .. } = prepared;
        if let (Some(jiggle), Some(state)) = (jiggle, &mut self.jiggle) {
            health.held = jiggle.advance(prepared, &self.settings, motion, seconds, &mut self.balls, state);
            finished(Stage::Solve);
        }
        motion.pose(seconds, &mut self.pose);
        parallel::within(|| self.balls.carry(prepared, &self.pose));
        self.bulge();
        finished(Stage::Skin);
        self.balls.relax(prepared, &self.settings);
        if let Some(state) = &self.jiggle {
            state.show(seconds, &mut self.balls);
        }
        finished(Stage::Solve);
        out.resize(rig.character.surface().positions().len());
        let Shape { positions, normals } = out;
        parallel::within(|| {
            self.set_carriers();
            let (morphs, weights) = (rig.character.morphs(), &self.pose.morph_weights);
            skin.pose(morphs, &self.carriers, weights, &mut self.skin, positions, normals);
        });
        finished(Stage::Embed);
        let own = &self.settings.metaballs;
        let steps = (own.border_steps, own.filter_steps, own.filter as f32);
        parallel::within(|| skin.filter(&self.carriers, steps, &mut self.skin, positions));
        finished(Stage::Filter);
        if let (Some(overlap), Some(state)) = (overlap, &mut self.overlap) {
            let count = parallel::within(|| {
                let count = overlap.part(&self.balls.matrices, state, positions);
                overlap.show(|vertex| !skin.shows(vertex), state, positions, normals);
                count
            });
            health.parted = Some(count);
            finished(Stage::Overlap);
        }
        // Where what was parted lies is known only now.
        let parted = self.overlap.as_ref();
        parallel::within(|| {
            let moved =
                parted.zip(overlap.as_ref()).into_iter().flat_map(|(state, o)| o.moved_vertices(state));
            skin.show(moved, &mut self.skin, positions, normals);
        });
        finished(Stage::Filter);
        health
    }

    fn tune(&mut self, settings: &Settings) -> Result<(), PrepareError> {
        settings.check()?;
        let new = settings.spelled_out();
        // All that can change live is put to the old value, and nothing else may differ.
        let (old, mut same) = (&self.prepared.settings, new.clone());
        let (own, was) = (&mut same.metaballs, &old.metaballs);
        (own.springs, own.filter, own.joint_swelling) = (was.springs, was.filter, was.joint_swelling);
        (own.border_steps, own.filter_steps) = (was.border_steps, was.filter_steps);
        same.simulation.iterations = old.simulation.iterations;
        same.simulation.gravity = old.simulation.gravity;
        if same.metaballs != old.metaballs
            || same.simulation != old.simulation
            || same.body != old.body
            || same.overlap != old.overlap
            || !same.regions.iter().map(|r| &r.on).eq(old.regions.iter().map(|r| &r.on))
        {
            return Err(PrepareError::NotLive);
        }
        self.settings = new;
        self.balls.stiffness = 0.0;
        if let Some(state) = &mut self.jiggle {
            state.retune();
        }
        Ok(())
    }

    fn copy<'a>(&self) -> Box<dyn Instance + Send + 'a>
    where
        Self: 'a,
    {
        Box::new(self.clone())
    }

    fn balls(&self) -> Option<&[[f32; 4]]> {
        Some(&self.shown)
    }
}
