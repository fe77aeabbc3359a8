//! One moving copy: its clock, its nodes, and what a tick does to them.

use super::predict::{Carried, apply, at, put};
use super::tissue::{self, NodeTissue};
use super::{Prepared, materials};
use crate::body::{Node, SkinScratch, rest_nodes};
use crate::method::{Model, Prediction, PrepareError, Settings, Stage};
use crate::parallel;
use crate::rig::{Motion, Pose, has_inverse};
use crate::skin::{self, Skinner};
use crate::solver::SolverState;
use glam::{DAffine3, Vec3};

/// Degrees that two bones which share flesh may turn against each other in one go: more, and the blend of their
/// turns draws nodes in by more than the solver mends.
const MOST_TURN: f64 = 30.0;
/// Most parts that a tick is cut into for that: enough for half a turn.
const MOST_PARTS: usize = 12;
/// How often a tick that went wrong is tried again in twice as many parts.
const RETRIES: u32 = 4;
/// How far flesh may be from its linear blend, in distances from its bone (and half a cell). Linear blending errs by its
/// distance from the bone where it collapses wholly; farther, flesh has been carried astray.
const REACH: f32 = 1.05;
/// How far soft flesh may swing from where the bones would carry it, likewise. Farther (whirled at hundreds of g, wound up
/// by a limb that spins), it may come to rest folded or on the wrong side of its bone, where nothing brings it back.
const SWING: f32 = 0.6;
/// Rounds of more volume sweeps where tets are inside out or volume is missing, and sweeps in each.
const MORE_ROUNDS: usize = 8;
const MORE_SWEEPS: u32 = 4;
/// Share of the body's volume that may be missing before those rounds: well within what eyes see.
const VOLUME_ERROR: f64 = 0.003;
/// Motion in a tick, as a share of the body's size, below which flesh counts as settled.
const SETTLED: f32 = 1e-6;
/// Share of the bind stiffness that is left where bent joints have set the flesh free: more, and it is caught between
/// the bones and bulges.
const LEAST_BIND: f32 = 0.05;
/// Nodes and vertices worked on at a time, for each thread.
pub(super) const CHUNK: usize = 256;

/// A moment of the simulation: that of a tick.
pub(super) struct Moment {
    pub(super) tick: i64,
    pub(super) nodes: Vec<Node>,
    /// Scene from rest, per slot.
    pub(super) posed: Vec<DAffine3>,
}

impl Moment {
    fn copy_from(&mut self, other: &Self) {
        self.tick = other.tick;
        self.nodes.copy_from_slice(&other.nodes);
        self.posed.copy_from_slice(&other.posed);
    }
}

/// One moving copy of a prepared character.
pub(super) struct State<'p> {
    pub(super) prepared: &'p Prepared<'p>,
    pub(super) settings: Settings,
    /// Seconds from tick to tick, and ticks in a cycle of a motion that has one.
    pub(super) step: f64,
    pub(super) cycle: Option<i64>,
    pub(super) before: Moment,
    pub(super) now: Moment,
    pub(super) velocities: Vec<Vec3>,
    pub(super) started: bool,
    /// The pose of `now`, and others on the way.
    pub(super) pose_now: Pose,
    pub(super) pose: Pose,
    pub(super) part: Pose,
    pub(super) posed: Vec<DAffine3>,
    pub(super) carried: Carried,
    /// Where linear blend skinning puts the nodes, and how much each is held there.
    pub(super) skinned: Vec<Node>,
    pub(super) binds: Vec<[f32; 4]>,
    pub(super) bind_stiffness: Vec<f32>,
    pub(super) tissue: Vec<NodeTissue>,
    /// Bind stiffness per node where no joint frees it.
    pub(super) bind: Vec<f32>,
    /// How much of each region there is; `None` before stiffness is set.
    pub(super) shares: Option<Vec<f32>>,
    pub(super) next_shares: Vec<f32>,
    /// Seconds that the compliance of constraints was set for.
    pub(super) set_for: f64,
    /// Lengths of the axes of each slot that targets were set for.
    pub(super) scaled: Vec<[f64; 3]>,
    pub(super) target_volume: f64,
    pub(super) volumes: Vec<f64>,
    pub(super) solver: SolverState,
    /// To go back to when a tick goes wrong.
    pub(super) saved: Vec<Node>,
    pub(super) saved_velocities: Vec<Vec3>,
    pub(super) saved_posed: Vec<DAffine3>,
    /// Nodes at the start of a part.
    pub(super) origin: Vec<Node>,
    pub(super) held: usize,
    pub(super) shown: Vec<Node>,
    pub(super) shown_before: Vec<Node>,
    pub(super) skin: skin::State,
    pub(super) points: skin::State,
    pub(super) turned: Option<skin::State>,
    pub(super) scratch: SkinScratch,
    pub(super) embedded: Vec<Vec3>,
    pub(super) normals: Vec<Vec3>,
    pub(super) node_places: Vec<Vec3>,
}

impl<'p> State<'p> {
    pub(super) fn new(prepared: &'p Prepared<'p>) -> Self {
        let character = prepared.character;
        let slots = character.slots().len();
        let mut nodes = rest_nodes(prepared.body.tets());
        nodes.iter_mut().zip(&prepared.inverse_masses).for_each(|(n, &w)| n[3] = w);
        let posed = vec![DAffine3::IDENTITY; slots];
        let moment = || Moment { tick: 0, nodes: nodes.clone(), posed: posed.clone() };
        let mut solver = prepared.solver.state();
        solver.use_compliance(prepared.settings.simulation.model == Model::Compliance);
        let regions = prepared.settings.regions.len();
        Self {
            prepared,
            settings: prepared.settings.clone(),
            step: prepared.settings.simulation.step,
            cycle: None,
            before: moment(),
            now: moment(),
            velocities: vec![Vec3::ZERO; nodes.len()],
            started: false,
            pose_now: Pose::rest(character),
            pose: Pose::rest(character),
            part: Pose::rest(character),
            posed: posed.clone(),
            carried: Carried::new(prepared),
            skinned: nodes.clone(),
            binds: vec![[0.0; 4]; nodes.len()],
            bind_stiffness: vec![0.0; nodes.len()],
            tissue: vec![NodeTissue::FIRM; nodes.len()],
            bind: vec![0.0; nodes.len()],
            shares: None,
            next_shares: vec![0.0; regions],
            set_for: 0.0,
            scaled: vec![[1.0; 3]; slots],
            target_volume: prepared.body.tets().volume(),
            volumes: vec![0.0; prepared.body.surface().len().div_ceil(CHUNK)],
            solver,
            saved: nodes.clone(),
            saved_velocities: vec![Vec3::ZERO; nodes.len()],
            saved_posed: posed.clone(),
            origin: nodes.clone(),
            held: 0,
            shown: nodes.clone(),
            shown_before: nodes.clone(),
            skin: prepared.skinner.state(),
            points: prepared.points.state(),
            turned: prepared.turned.as_ref().map(Skinner::state),
            scratch: prepared.skin.scratch(),
            embedded: vec![Vec3::ZERO; prepared.skin.vertex_count()],
            normals: vec![Vec3::Y; prepared.skin.vertex_count()],
            node_places: vec![Vec3::ZERO; nodes.len()],
        }
    }

    /// Takes other numbers for the same regions: from the next tick on.
    pub(super) fn tune(&mut self, settings: Settings) -> Result<(), PrepareError> {
        let (old, new) = (&self.prepared.settings, &settings);
        let same = old.body == new.body
            && old.simulation.step == new.simulation.step
            && old.simulation.model == new.simulation.model
            && old.simulation.metres_per_unit == new.simulation.metres_per_unit
            && old.position.density == new.position.density
            && old.regions.iter().map(|r| &r.on).eq(new.regions.iter().map(|r| &r.on));
        if !same {
            return Err(PrepareError::NotLive);
        }
        self.settings = settings;
        self.shares = None;
        Ok(())
    }

    /// Ticks up to the first at or after `seconds`.
    pub(super) fn advance(&mut self, motion: &dyn Motion, seconds: f64, finished: &mut dyn FnMut(Stage)) {
        self.held = 0;
        if !self.started {
            self.start(motion, seconds, finished);
        }
        let last = (seconds / self.step - 1e-6).ceil() as i64;
        while self.now.tick < last {
            self.before.copy_from(&self.now);
            let tick = self.now.tick + 1;
            let mut pose = std::mem::take(&mut self.pose);
            if self.cycle.is_some_and(|ticks| tick % ticks == 0) {
                // The end of a cycle and the start of the next may lie apart (a walk that gets on): the flesh goes along.
                motion.pose((tick as f64 - 1e-6) * self.step, &mut self.part);
                motion.pose(tick as f64 * self.step, &mut pose);
                let root = self.prepared.root;
                let jump = between_roots(&self.part, &pose, root);
                self.carry(&jump);
            } else {
                motion.pose(tick as f64 * self.step, &mut pose);
            }
            self.teleport(&pose);
            self.go_to(&pose, tick as f64 * self.step, self.step, true, finished);
            self.now.tick = tick;
            self.pose = pose;
        }
    }

    /// From rest to the first pose, on a way that turns bones little by little, then still there until nothing moves.
    fn start(&mut self, motion: &dyn Motion, seconds: f64, finished: &mut dyn FnMut(Stage)) {
        self.started = true;
        if let Some(period) = motion.period() {
            let ticks = (period / self.step - 1e-6).ceil().max(1.0);
            self.step = period / ticks;
            self.cycle = Some(ticks as i64);
        }
        let first = (seconds / self.step + 1e-6).floor();
        let time = first * self.step;
        let mut pose = std::mem::take(&mut self.pose);
        motion.pose(time, &mut pose);
        let jump = between_roots(&self.pose_now, &pose, self.prepared.root);
        self.carry(&jump);
        self.go_to(&pose, time, self.step, false, finished);
        let size = self.prepared.character.diagonal() as f32;
        let ticks = (self.settings.simulation.preroll / self.step).ceil() as usize;
        for _ in 0..ticks {
            self.before.copy_from(&self.now);
            self.go_to(&pose, time, self.step, true, finished);
            let moved = self.now.nodes.iter().zip(&self.before.nodes).map(|(a, b)| at(a).distance(at(b)));
            if moved.fold(0.0, f32::max) < SETTLED * size {
                break;
            }
        }
        self.now.tick = first as i64;
        self.before.copy_from(&self.now);
        self.pose = pose;
    }

    /// Moves flesh and bones as one.
    fn carry(&mut self, by: &DAffine3) {
        if *by == DAffine3::IDENTITY {
            return;
        }
        for (node, velocity) in self.now.nodes.iter_mut().zip(&mut self.velocities) {
            put(node, by.transform_point3(at(node).as_dvec3()).as_vec3());
            *velocity = by.transform_vector3(velocity.as_dvec3()).as_vec3();
        }
        self.now.posed.iter_mut().for_each(|m| *m = *by * *m);
        self.pose_now.world_from_joint.iter_mut().for_each(|m| *m = *by * *m);
    }

    /// A root that has jumped takes the flesh along, and its swing is forgotten.
    fn teleport(&mut self, pose: &Pose) {
        let root = self.prepared.root;
        let way = pose.world_from_joint[root]
            .translation
            .distance(self.pose_now.world_from_joint[root].translation);
        if way > self.settings.simulation.teleport * self.prepared.character.diagonal() * self.step {
            let jump = between_roots(&self.pose_now, pose, root);
            self.carry(&jump);
            self.velocities.fill(Vec3::ZERO);
        }
    }

    pub(super) fn posed_of(&self, pose: &Pose, out: &mut Vec<DAffine3>) {
        out.clear();
        let slots = self.prepared.character.slots().iter();
        out.extend(slots.map(|s| pose.world_from_joint[s.joint as usize] * s.joint_from_rest));
    }

    /// Brings the nodes to a pose within `seconds`, in as many parts as its turns ask for. A way that ends in numbers
    /// that are none is gone again in smaller parts; where that does not help, the flesh is held at its skinned place.
    fn go_to(&mut self, pose: &Pose, time: f64, seconds: f64, inert: bool, finished: &mut dyn FnMut(Stage)) {
        let mut posed = std::mem::take(&mut self.posed);
        self.posed_of(pose, &mut posed);
        let most = self.carried.most_turn(&self.prepared.rig.pairs, &self.now.posed, &posed);
        // Bones that turn on this fast take their flesh along: left behind, it would be wound up about them.
        let inert = inert && most <= MOST_TURN;
        let mut parts = ((most / MOST_TURN).ceil() as usize).clamp(1, MOST_PARTS);
        if self.settings.simulation.model == Model::Compliance {
            parts = parts.max(self.settings.simulation.substeps as usize);
        }
        self.saved.copy_from_slice(&self.now.nodes);
        self.saved_velocities.copy_from_slice(&self.velocities);
        self.saved_posed.copy_from_slice(&self.now.posed);
        let from = std::mem::take(&mut self.pose_now);
        for retry in 0..=RETRIES {
            for k in 1..=parts {
                let mut part = std::mem::take(&mut self.part);
                part.between(self.prepared.character.skeleton(), &from, pose, k as f64 / parts as f64);
                self.posed_of(&part, &mut posed);
                self.part = part;
                self.tick(&posed, time, seconds / parts as f64, inert, finished);
            }
            if self.now.nodes.iter().all(|n| at(n).is_finite()) {
                break;
            }
            parts *= 2;
            self.velocities.copy_from_slice(&self.saved_velocities);
            if retry == RETRIES {
                self.hold();
            } else {
                self.now.nodes.copy_from_slice(&self.saved);
                self.now.posed.copy_from_slice(&self.saved_posed);
            }
        }
        if !inert {
            self.velocities.fill(Vec3::ZERO);
        }
        self.pose_now = from;
        self.pose_now.copy_from(pose);
        self.posed = posed;
    }

    /// One solve, from where the nodes are to a pose.
    fn tick(
        &mut self,
        posed: &[DAffine3],
        time: f64,
        seconds: f64,
        inert: bool,
        finished: &mut dyn FnMut(Stage),
    ) {
        self.retune(time, seconds);
        self.carried.set(&self.now.posed, posed);
        self.carried.let_go(self.prepared, posed);
        self.rescale(posed);
        self.predict(seconds as f32, inert);
        self.bind();
        self.now.posed.copy_from_slice(posed);
        finished(Stage::Skin);
        self.solve();
        if seconds > 0.0 {
            let rate = 1.0 / seconds as f32;
            for (velocity, (new, old)) in
                self.velocities.iter_mut().zip(self.now.nodes.iter().zip(&self.origin))
            {
                *velocity = (at(new) - at(old)) * rate;
            }
        }
        finished(Stage::Solve);
    }

    /// Sets stiffness anew where regions have come or gone, or the user has changed something.
    fn retune(&mut self, time: f64, seconds: f64) {
        let clip_time = match self.cycle {
            Some(ticks) => {
                time - (time / (ticks as f64 * self.step) + 1e-9).floor() * ticks as f64 * self.step
            }
            None => time,
        };
        for (share, region) in self.next_shares.iter_mut().zip(&self.settings.regions) {
            *share = tissue::presence(region, clip_time);
        }
        let compliant = self.settings.simulation.model == Model::Compliance;
        let stale = compliant && (seconds - self.set_for).abs() > 1e-9 * seconds;
        if self.shares.as_ref() == Some(&self.next_shares) && !stale {
            return;
        }
        tissue::blend(self.prepared, &self.settings, &self.next_shares, &mut self.tissue);
        let shares = self.shares.get_or_insert_default();
        shares.clone_from(&self.next_shares);
        self.set_for = seconds;
        materials::set(
            self.prepared,
            &self.settings,
            &self.tissue,
            seconds,
            &mut self.solver,
            &mut self.bind,
        );
    }

    /// Sets targets anew where joints have changed their scale.
    fn rescale(&mut self, posed: &[DAffine3]) {
        let axes =
            |m: &DAffine3| [m.matrix3.x_axis.length(), m.matrix3.y_axis.length(), m.matrix3.z_axis.length()];
        // Rounding of f32 matrices, no more.
        let same = |a: [f64; 3], b: [f64; 3]| (0..3).all(|k| (a[k] - b[k]).abs() < 1e-5);
        if posed.iter().zip(&self.scaled).all(|(m, &old)| same(axes(m), old)) {
            return;
        }
        self.scaled.iter_mut().zip(posed).for_each(|(old, m)| *old = axes(m));
        let unscaled = self.scaled.iter().all(|&s| same(s, [1.0; 3]));
        self.carried.scaled = !unscaled;
        self.target_volume = materials::set_targets(self.prepared, &self.carried, unscaled, &mut self.solver);
    }

    /// Where nodes start from.
    fn predict(&mut self, seconds: f32, inert: bool) {
        let Prepared { points, turned, rig, inverse_masses, .. } = self.prepared;
        let carried = &self.carried;
        points.positions(&carried.linear, &mut self.points, &mut self.node_places);
        for (skinned, place) in self.skinned.iter_mut().zip(&self.node_places) {
            put(skinned, *place);
        }
        if let Some((turned, state)) = turned.as_ref().zip(self.turned.as_mut()) {
            turned.positions(&carried.linear, state, &mut self.node_places);
        }
        self.origin.copy_from_slice(&self.now.nodes);
        let cell = self.prepared.body.cell() as f32;
        let advects = self.settings.position.prediction == Prediction::Advected;
        let pull = self.prepared.gravity(&self.settings) * (seconds * seconds);
        let (tissue, velocities, reset) = (&self.tissue, &self.velocities, &self.node_places);
        let nodes = &mut self.now.nodes;
        parallel::for_each_chunk_pair_mut(nodes, &mut self.skinned, CHUNK, |chunk, nodes, skinned| {
            for (k, (node, skinned)) in nodes.iter_mut().zip(skinned).enumerate() {
                let index = chunk * CHUNK + k;
                let weights = rig.weights.of(index);
                let (old, linear) = (at(node), at(skinned));
                skinned[3] = carried.anchor(rig, index);
                if !weights.iter().all(|w| carried.sure[w.0 as usize]) {
                    // A bone of no size, or turned inside out, says nothing of where flesh was: it is held.
                    put(node, linear);
                    node[3] = 0.0;
                    continue;
                }
                node[3] = inverse_masses[index];
                let mut place = if advects {
                    let advected = carried.advected(weights, old);
                    let off = (advected - linear) * (1.0 - skinned[3]);
                    let reach = REACH * rig.bounds[index].distance + 0.5 * cell;
                    linear + off * (reach / off.length().max(reach))
                } else {
                    reset[index]
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

    /// Where the points on the bones are.
    fn bind(&mut self) {
        let (rig, carried) = (&self.prepared.rig, &self.carried);
        let rest = self.prepared.body.tets().positions();
        let (own, skinned) = (&self.bind, &self.skinned);
        let compliant = self.settings.simulation.model == Model::Compliance;
        let binds = &mut self.binds;
        parallel::for_each_chunk_pair_mut(
            binds,
            &mut self.bind_stiffness,
            CHUNK,
            |chunk, binds, stiffness| {
                for (k, (bind, stiffness)) in binds.iter_mut().zip(stiffness).enumerate() {
                    let index = chunk * CHUNK + k;
                    let bound = &rig.bounds[index];
                    let m = &carried.linear[bound.slot as usize];
                    let p = apply(m, bound.point);
                    let distance =
                        if carried.scaled { (apply(m, rest[index]) - p).length() } else { bound.distance };
                    *bind = [p.x, p.y, p.z, distance];
                    // Near a bent joint the bones have little to say, or flesh would be caught between them.
                    let share = LEAST_BIND + (1.0 - LEAST_BIND) * skinned[index][3];
                    *stiffness = if compliant { own[index] / share } else { own[index] * share };
                }
            },
        );
    }

    fn solve(&mut self) {
        let solver = &self.prepared.solver;
        let simulation = &self.settings.simulation;
        let iterations = materials::iterations(&self.settings);
        let (state, nodes) = (&mut self.solver, &mut self.now.nodes);
        solver.solve(state, nodes, &self.binds, &self.bind_stiffness, iterations, simulation.volume_sweeps);
        for round in 0..MORE_ROUNDS {
            let check = solver.check(state, nodes, 0.0);
            let volume = body_volume(self.prepared.body.surface(), nodes, &mut self.volumes);
            let missing = (volume - self.target_volume).abs() > VOLUME_ERROR * self.target_volume;
            if !check.finite || !(missing || check.flat > 0) {
                break;
            }
            if check.flat > 0 && round > 0 {
                untangle(self.prepared, nodes);
            }
            solver.sweep_volume(state, nodes, MORE_SWEEPS);
        }
    }

    /// Turns tets that are inside out in what is shown.
    pub(super) fn mend_shown(&mut self) {
        let solver = &self.prepared.solver;
        for round in 0..MORE_ROUNDS {
            let check = solver.check(&mut self.solver, &self.shown, 0.0);
            if check.flat == 0 || !check.finite {
                break;
            }
            if round > 0 {
                untangle(self.prepared, &mut self.shown);
            }
            solver.sweep_volume(&mut self.solver, &mut self.shown, MORE_SWEEPS);
        }
    }

    /// Nodes that are no numbers go to where linear blending has them, and all swing is forgotten.
    fn hold(&mut self) {
        for (node, skinned) in self.now.nodes.iter_mut().zip(&self.skinned) {
            if !at(node).is_finite() {
                put(node, at(skinned));
                self.held += 1;
            }
        }
        self.velocities.fill(Vec3::ZERO);
    }
}

/// The rigid way from where a joint is in one pose to where it is in another.
fn between_roots(from: &Pose, to: &Pose, root: usize) -> DAffine3 {
    let rigid = |m: &DAffine3| {
        let (_, turn, place) = m.to_scale_rotation_translation();
        has_inverse(m).then(|| DAffine3::from_rotation_translation(turn.normalize(), place))
    };
    let (from, to) = (rigid(&from.world_from_joint[root]), rigid(&to.world_from_joint[root]));
    from.zip(to).map_or(DAffine3::IDENTITY, |(from, to)| to * from.inverse())
}

/// The volume within a body's surface: `sum x_a . (x_b x x_c) / 6`, from the first node on to keep digits.
fn body_volume(surface: &[([u32; 3], u32)], nodes: &[Node], sums: &mut [f64]) -> f64 {
    let origin = at(&nodes[0]);
    parallel::for_each_chunk_mut(sums, 1, |chunk, sum| {
        let triangles = &surface[chunk * CHUNK..surface.len().min((chunk + 1) * CHUNK)];
        let six = triangles.iter().map(|(corners, _)| {
            let [a, b, c] = corners.map(|n| (at(&nodes[n as usize]) - origin).as_dvec3());
            a.dot(b.cross(c))
        });
        sum[0] = six.sum::<f64>() / 6.0;
    });
    sums.iter().sum()
}

/// Draws the corners of tets that are inside out to the middle of their neighbours. Sweeps alone may not turn such a
/// tet: where others hold its corners, all corrections go round in circles.
fn untangle(prepared: &Prepared<'_>, nodes: &mut [Node]) {
    for tet in prepared.body.tets().tets() {
        let [a, b, c, d] = tet.map(|n| at(&nodes[n as usize]));
        if (b - a).cross(c - a).dot(d - a) > 0.0 {
            continue;
        }
        for &node in tet {
            let around = prepared.neighbours.of(node as usize);
            let sum: Vec3 = around.iter().map(|&n| at(&nodes[n as usize])).sum();
            if nodes[node as usize][3] > 0.0 && !around.is_empty() {
                let (place, middle) = (at(&nodes[node as usize]), sum / around.len() as f32);
                put(&mut nodes[node as usize], place + (middle - place) * 0.5);
            }
        }
    }
}
