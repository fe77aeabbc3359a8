//! One moving copy: its clock, its nodes, and what a tick does to them.

use super::Prepared;
use super::rig::smooth;
use super::trial::SolverState;
use crate::body::{Node, SkinScratch, rest_nodes};
use crate::method::{Health, Shape, Stage};
use crate::parallel;
use crate::rig::{Motion, Pose, SkinMatrix, has_inverse};
use crate::skin;
use glam::{DAffine3, DMat3, DQuat, Vec3};

/// Degrees that two bones which share flesh may turn against each other in one go: more, and the blend of their
/// turns draws nodes in by more than the solver mends.
const MOST_TURN: f64 = 30.0;
/// Most parts that a tick is cut into for it: enough for half a turn.
const MOST_PARTS: usize = 12;
/// Degrees between two bones from which on the flesh they share is let go of its linear blend, and at which it is let
/// go wholly.
const LET_GO: [f64; 2] = [5.0, 30.0];
/// Nodes worked on at a time, for each thread.
const CHUNK: usize = 256;

/// A moment of the simulation.
struct Moment {
    /// Its tick; the time is this times the step.
    tick: i64,
    nodes: Vec<Node>,
    /// Scene from rest, per slot.
    posed: Vec<DAffine3>,
}

pub(super) struct State<'p> {
    prepared: &'p Prepared<'p>,
    /// Seconds from tick to tick.
    step: f64,
    before: Moment,
    now: Moment,
    started: bool,
    pose: Pose,
    pose_now: Pose,
    part: Pose,
    posed: Vec<DAffine3>,
    linear: Vec<SkinMatrix>,
    carried: Vec<SkinMatrix>,
    sure: Vec<bool>,
    let_go: Vec<f32>,
    /// Where linear blend skinning puts the nodes.
    skinned: Vec<Node>,
    binds: Vec<[f32; 4]>,
    bind_stiffness: Vec<f32>,
    solver: SolverState,
    /// What the last step showed.
    pub(super) shown: Vec<Node>,
    shown_before: Vec<Node>,
    skin: skin::State,
    scratch: SkinScratch,
    embedded: Vec<Vec3>,
    matrices: Vec<SkinMatrix>,
    pub(super) stats: [usize; 2],
}

fn at(n: &Node) -> Vec3 {
    Vec3::new(n[0], n[1], n[2])
}

fn put(n: &mut Node, p: Vec3) {
    (n[0], n[1], n[2]) = (p.x, p.y, p.z);
}

fn matrix(m: &DAffine3) -> SkinMatrix {
    let row = |i: usize| {
        let [x, y, z] = [m.matrix3.x_axis[i], m.matrix3.y_axis[i], m.matrix3.z_axis[i]];
        [x as f32, y as f32, z as f32, m.translation[i] as f32]
    };
    [row(0), row(1), row(2)]
}

fn blend(weights: &[(u16, f32)], matrices: &[SkinMatrix]) -> SkinMatrix {
    let mut sum = [[0.0; 4]; 3];
    for &(slot, weight) in weights {
        let m = &matrices[slot as usize];
        for row in 0..3 {
            for column in 0..4 {
                sum[row][column] += weight * m[row][column];
            }
        }
    }
    sum
}

fn apply(m: &SkinMatrix, p: Vec3) -> Vec3 {
    let row = |r: &[f32; 4]| r[0] * p.x + r[1] * p.y + r[2] * p.z + r[3];
    Vec3::new(row(&m[0]), row(&m[1]), row(&m[2]))
}

/// The angle between two turns, in degrees; scale is taken out.
fn angle(a: &DMat3, b: &DMat3) -> f64 {
    let turn = |m: &DMat3| {
        let det = m.determinant();
        (det.is_finite() && det.abs() > f64::MIN_POSITIVE)
            .then(|| DQuat::from_mat3(&DMat3::from_cols(m.x_axis.normalize(), m.y_axis.normalize(), m.z_axis.normalize())))
    };
    let (Some(a), Some(b)) = (turn(a), turn(b)) else { return 0.0 };
    let cosine = (a.dot(b) / (a.length() * b.length())).abs().min(1.0);
    if cosine.is_finite() { 2.0 * libm::acos(cosine).to_degrees() } else { 0.0 }
}

impl<'p> State<'p> {
    pub(super) fn new(prepared: &'p Prepared<'p>) -> Self {
        let character = prepared.character;
        let slots = character.slots().len();
        let mut nodes = rest_nodes(prepared.body.tets());
        nodes.iter_mut().for_each(|n| n[3] = 1.0);
        let posed = vec![DAffine3::IDENTITY; slots];
        let moment = || Moment { tick: 0, nodes: nodes.clone(), posed: posed.clone() };
        let mut solver = prepared.solver.state();
        let simulation = &prepared.settings.simulation;
        let position = &prepared.settings.position;
        let per = |k: f64| (1.0 - libm::pow(1.0 - k, 1.0 / f64::from(simulation.iterations))) as f32;
        prepared.solver.set_stretch(&mut solver, |_| per(position.stretch));
        prepared.solver.set_volume(&mut solver, |_| per(position.volume));
        Self {
            prepared,
            step: simulation.step,
            before: moment(),
            now: moment(),
            started: false,
            pose: Pose::rest(character),
            pose_now: Pose::rest(character),
            part: Pose::rest(character),
            posed: posed.clone(),
            linear: vec![SkinMatrix::default(); slots],
            carried: vec![SkinMatrix::default(); slots],
            sure: vec![true; slots],
            let_go: vec![0.0; prepared.rig.pairs.len()],
            skinned: nodes.clone(),
            binds: vec![[0.0; 4]; nodes.len()],
            bind_stiffness: vec![per(position.bind); nodes.len()],
            solver,
            shown: nodes.clone(),
            shown_before: nodes.clone(),
            skin: prepared.skinner.state(),
            scratch: prepared.skin.scratch(),
            embedded: vec![Vec3::ZERO; prepared.skin.vertex_count()],
            matrices: Vec::with_capacity(slots),
            stats: [0; 2],
        }
    }

    fn posed_of(&self, pose: &Pose, out: &mut Vec<DAffine3>) {
        out.clear();
        let slots = self.prepared.character.slots().iter();
        out.extend(slots.map(|s| pose.world_from_joint[s.joint as usize] * s.joint_from_rest));
    }

    /// Ticks up to the first at or after `seconds`.
    pub(super) fn advance(&mut self, motion: &dyn Motion, seconds: f64, finished: &mut dyn FnMut(Stage)) {
        let last = (seconds / self.step - 1e-6).ceil() as i64;
        if !self.started {
            self.started = true;
            let first = (seconds / self.step + 1e-6).floor() as i64;
            self.now.tick = first;
            let mut pose = std::mem::take(&mut self.pose);
            motion.pose(first as f64 * self.step, &mut pose);
            self.go_to(&pose, finished);
            self.pose = pose;
            // Settle.
            for _ in 0..10 {
                let pose = std::mem::take(&mut self.pose);
                self.go_to(&pose, finished);
                self.pose = pose;
            }
            self.before.nodes.copy_from_slice(&self.now.nodes);
            self.before.posed.copy_from_slice(&self.now.posed);
            self.before.tick = first;
        }
        while self.now.tick < last {
            let tick = self.now.tick + 1;
            let mut pose = std::mem::take(&mut self.pose);
            motion.pose(tick as f64 * self.step, &mut pose);
            self.before.nodes.copy_from_slice(&self.now.nodes);
            self.before.posed.copy_from_slice(&self.now.posed);
            self.before.tick = self.now.tick;
            self.go_to(&pose, finished);
            self.now.tick = tick;
            self.pose = pose;
        }
    }

    /// Brings the nodes to a pose, in as many parts as its turns ask for.
    fn go_to(&mut self, pose: &Pose, finished: &mut dyn FnMut(Stage)) {
        let mut posed = std::mem::take(&mut self.posed);
        self.posed_of(pose, &mut posed);
        let turn = self.prepared.rig.pairs.iter().map(|&[a, b]| {
            let [a, b] = [a as usize, b as usize];
            let turn = |s: usize| {
                let old = self.now.posed[s];
                if has_inverse(&old) { posed[s].matrix3 * old.matrix3.inverse() } else { DMat3::IDENTITY }
            };
            angle(&turn(a), &turn(b))
        });
        let most = turn.fold(0.0, f64::max);
        let parts = ((most / MOST_TURN).ceil() as usize).clamp(1, MOST_PARTS);
        let from = std::mem::take(&mut self.pose_now);
        for k in 1..=parts {
            let mut part = std::mem::take(&mut self.part);
            part.between(self.prepared.character.skeleton(), &from, pose, k as f64 / parts as f64);
            self.posed_of(&part, &mut posed);
            self.part = part;
            self.tick(&posed, finished);
        }
        self.pose_now = from;
        self.pose_now.copy_from(pose);
        self.posed = posed;
    }

    /// One solve, from where the nodes are to this pose.
    fn tick(&mut self, posed: &[DAffine3], finished: &mut dyn FnMut(Stage)) {
        let rig = &self.prepared.rig;
        let rest = self.prepared.body.tets().positions();
        for (slot, new) in posed.iter().enumerate() {
            let old = &self.now.posed[slot];
            self.sure[slot] = has_inverse(old) && has_inverse(new);
            self.linear[slot] = matrix(new);
            self.carried[slot] = if self.sure[slot] { matrix(&(*new * old.inverse())) } else { self.linear[slot] };
        }
        for (pair, let_go) in rig.pairs.iter().zip(&mut self.let_go) {
            let [a, b] = pair.map(|s| &posed[s as usize].matrix3);
            *let_go = smooth((angle(a, b) - LET_GO[0]) / (LET_GO[1] - LET_GO[0])) as f32;
        }
        let (linear, carried, sure, let_go) = (&self.linear, &self.carried, &self.sure, &self.let_go);
        parallel::for_each_chunk_pair_mut(&mut self.now.nodes, &mut self.skinned, CHUNK, |chunk, nodes, skinned| {
            for (k, (node, skinned)) in nodes.iter_mut().zip(skinned).enumerate() {
                let index = chunk * CHUNK + k;
                let weights = rig.weights.of(index);
                let blended = apply(&blend(weights, linear), rest[index]);
                put(skinned, blended);
                if !weights.iter().all(|w| sure[w.0 as usize]) {
                    put(node, blended);
                    continue;
                }
                let freed = rig.freed_by.of(index).iter().map(|&(pair, share)| share * let_go[pair as usize]);
                let anchor = 1.0 - freed.fold(0.0, f32::max);
                let advected = apply(&blend(weights, carried), at(node));
                put(node, advected + (blended - advected) * anchor);
            }
        });
        for (bind, bound) in self.binds.iter_mut().zip(&rig.bounds) {
            let p = apply(&linear[bound.slot as usize], bound.point);
            *bind = [p.x, p.y, p.z, bound.distance];
        }
        finished(Stage::Skin);
        let solver = &self.prepared.solver;
        let simulation = &self.prepared.settings.simulation;
        solver.solve(
            &mut self.solver,
            &mut self.now.nodes,
            &self.binds,
            &self.bind_stiffness,
            simulation.iterations,
            simulation.volume_sweeps,
        );
        for round in 0..8 {
            let check = solver.check(&self.solver, &self.now.nodes, 0.0);
            if check.flat == 0 {
                break;
            }
            if round == 0 { self.stats[0] += 1; }
            if round == 7 { self.stats[1] += 1; }
            for _ in 0..4 {
                solver.sweep_volume(&self.solver, &mut self.now.nodes);
            }
        }
        self.now.posed.copy_from_slice(posed);
        finished(Stage::Solve);
    }

    /// The skin at a moment between the last two ticks.
    pub(super) fn show(
        &mut self,
        motion: &dyn Motion,
        seconds: f64,
        out: &mut Shape,
        finished: &mut dyn FnMut(Stage),
    ) -> Health {
        let Prepared { character, rig, skinner, skin, .. } = self.prepared;
        let mut pose = std::mem::take(&mut self.pose);
        motion.pose(seconds, &mut pose);
        let mut posed = std::mem::take(&mut self.posed);
        self.posed_of(&pose, &mut posed);
        self.linear.iter_mut().zip(&posed).for_each(|(l, p)| *l = matrix(p));
        let rest = self.prepared.body.tets().positions();
        let linear = &self.linear;
        parallel::for_each_chunk_mut(&mut self.skinned, CHUNK, |chunk, skinned| {
            for (k, node) in skinned.iter_mut().enumerate() {
                let index = chunk * CHUNK + k;
                put(node, apply(&blend(rig.weights.of(index), linear), rest[index]));
            }
        });
        let span = (self.now.tick - self.before.tick) as f64;
        let share = if span > 0.0 { (seconds / self.step - self.before.tick as f64) / span } else { 1.0 };
        let share = if share > 1.0 - 1e-6 { 1.0 } else { share.max(0.0) };
        if share == 1.0 {
            self.shown.copy_from_slice(&self.now.nodes);
        } else {
            for (moment, shown) in [(&self.before, &mut self.shown_before), (&self.now, &mut self.shown)] {
                for (slot, new) in posed.iter().enumerate() {
                    let old = &moment.posed[slot];
                    self.carried[slot] =
                        if has_inverse(old) { matrix(&(*new * old.inverse())) } else { matrix(&DAffine3::IDENTITY) };
                }
                let carried = &self.carried;
                parallel::for_each_chunk_mut(shown, CHUNK, |chunk, shown| {
                    for (k, node) in shown.iter_mut().enumerate() {
                        let index = chunk * CHUNK + k;
                        put(node, apply(&blend(rig.weights.of(index), carried), at(&moment.nodes[index])));
                    }
                });
            }
            let share = share as f32;
            for (now, before) in self.shown.iter_mut().zip(&self.shown_before) {
                let p = at(before) + (at(now) - at(before)) * share;
                put(now, p);
            }
        }
        pose.skin_matrices(character, &mut self.matrices);
        skinner.morph(character.morphs(), &pose.morph_weights, &mut self.skin);
        skinner.positions_and_normals(&self.matrices, &mut self.skin, &mut out.positions, &mut out.normals);
        skin.positions(&self.skinned, &mut self.embedded);
        out.positions.iter_mut().zip(&self.embedded).for_each(|(o, e)| *o -= *e);
        skin.positions_and_normals(&self.shown, &mut self.scratch, &mut self.embedded, &mut out.normals);
        out.positions.iter_mut().zip(&self.embedded).for_each(|(o, e)| *o += *e);
        self.pose = pose;
        self.posed = posed;
        finished(Stage::Embed);
        Health { residual: Some(self.prepared.solver.residual(&self.solver, &self.now.nodes)), held: 0 }
    }
}
