//! One moving copy: its clock, its nodes, and what a tick does to them.

use super::carried::{Carried, at, put};
use super::mend::Mender;
use super::tissue::{self, NodeTissue};
use super::{Flesh, Physics, PointsState};
use crate::body::{Node, SkinScratch, rest_nodes};
use crate::method::clock::{Clock, between_roots};
use crate::method::skinned::BaseState;
use crate::method::{Model, PrepareError, Settings, Stage};
use crate::parallel;
use crate::rig::{Motion, Pose};
use glam::{DAffine3, Vec3};

/// Degrees that two bones which share flesh may turn against each other in one go: more, and the blend of their
/// turns draws nodes in by more than the solver mends.
const MOST_TURN: f64 = 30.0;
/// Most parts that a tick is cut into for that: enough for half a turn.
const MOST_PARTS: usize = 12;
/// How often a tick that went wrong is tried again in twice as many parts.
const RETRIES: u32 = 4;
/// Rounds of more volume sweeps where tets are inside out or volume is missing, and sweeps in each.
const MORE_ROUNDS: usize = 8;
const MORE_SWEEPS: u32 = 4;
/// Share of the body's volume that may be missing before those rounds: well within what eyes see.
const VOLUME_ERROR: f64 = 0.003;
/// Motion in a tick, as a share of the body's size, below which flesh counts as settled.
const SETTLED: f32 = 1e-6;
/// Nodes and vertices worked on at a time, for each thread.
pub(in crate::method) const CHUNK: usize = 256;

/// A moment of the simulation: that of a tick.
#[derive(Clone)]
pub(super) struct Moment {
    pub(super) tick: i64,
    pub(super) nodes: Vec<Node>,
    /// Scene from rest, per slot.
    pub(super) posed: Vec<DAffine3>,
}

/// What physics sees of a moving copy, and changes.
#[derive(Clone)]
pub(in crate::method) struct Run {
    pub(in crate::method) settings: Settings,
    /// Where nodes are, and their inverse masses.
    pub(in crate::method) nodes: Vec<Node>,
    /// Where they were at the start of the tick.
    pub(in crate::method) origin: Vec<Node>,
    pub(in crate::method) velocities: Vec<Vec3>,
    pub(in crate::method) carried: Carried,
    /// Where linear blend skinning puts the nodes, and how much each is held there.
    pub(in crate::method) skinned: Vec<Node>,
    pub(in crate::method) tissue: Vec<NodeTissue>,
}

/// One moving copy of a prepared character.
pub(super) struct State<'p, P: Physics> {
    pub(super) flesh: &'p Flesh<'p>,
    pub(super) physics: &'p P,
    pub(super) own: P::State,
    pub(super) run: Run,
    pub(super) clock: Clock,
    /// Of `run.nodes`: scene from rest, per slot.
    pub(super) posed_now: Vec<DAffine3>,
    pub(super) before: Moment,
    /// The pose now, and others on the way.
    pose_now: Pose,
    pub(super) pose: Pose,
    part: Pose,
    pub(super) posed: Vec<DAffine3>,
    /// How much of each region there is; `None` before stiffness is set.
    shares: Option<Vec<f32>>,
    next_shares: Vec<f32>,
    /// Seconds that the compliance of constraints was set for.
    set_for: f64,
    /// Lengths of the axes of each slot that targets were set for.
    scaled: Vec<[f64; 3]>,
    target_volume: f64,
    volumes: Vec<f64>,
    mender: Mender,
    /// To go back to when a tick goes wrong.
    saved: Vec<Node>,
    saved_velocities: Vec<Vec3>,
    saved_posed: Vec<DAffine3>,
    pub(super) held: usize,
    pub(super) shown: Vec<Node>,
    pub(super) shown_before: Vec<Node>,
    pub(super) skin: BaseState,
    pub(super) points: PointsState,
    pub(super) scratch: SkinScratch,
    pub(super) embedded: Vec<Vec3>,
    pub(super) normals: Vec<Vec3>,
    pub(super) node_places: Vec<Vec3>,
}

// Derived, it would ask that the physics can be cloned, which all copies share.
impl<P: Physics> Clone for State<'_, P> {
    fn clone(&self) -> Self {
        Self {
            flesh: self.flesh,
            physics: self.physics,
            own: self.own.clone(),
            run: self.run.clone(),
            clock: self.clock,
            posed_now: self.posed_now.clone(),
            before: self.before.clone(),
            pose_now: self.pose_now.clone(),
            pose: self.pose.clone(),
            part: self.part.clone(),
            posed: self.posed.clone(),
            shares: self.shares.clone(),
            next_shares: self.next_shares.clone(),
            set_for: self.set_for,
            scaled: self.scaled.clone(),
            target_volume: self.target_volume,
            volumes: self.volumes.clone(),
            mender: self.mender.clone(),
            saved: self.saved.clone(),
            saved_velocities: self.saved_velocities.clone(),
            saved_posed: self.saved_posed.clone(),
            held: self.held,
            shown: self.shown.clone(),
            shown_before: self.shown_before.clone(),
            skin: self.skin.clone(),
            points: self.points.clone(),
            scratch: self.scratch.clone(),
            embedded: self.embedded.clone(),
            normals: self.normals.clone(),
            node_places: self.node_places.clone(),
        }
    }
}

impl<'p, P: Physics> State<'p, P> {
    pub(super) fn new(flesh: &'p Flesh<'p>, physics: &'p P) -> Self {
        let Flesh { character, settings, .. } = flesh;
        let slots = character.slots().len();
        let mut nodes = rest_nodes(flesh.body.tets());
        nodes.iter_mut().zip(&flesh.inverse_masses).for_each(|(n, &w)| n[3] = w);
        let posed = vec![DAffine3::IDENTITY; slots];
        Self {
            flesh,
            physics,
            own: physics.state(settings),
            run: Run {
                settings: settings.clone(),
                nodes: nodes.clone(),
                origin: nodes.clone(),
                velocities: vec![Vec3::ZERO; nodes.len()],
                carried: Carried::new(slots, flesh.rig.pairs.len()),
                skinned: nodes.clone(),
                tissue: vec![physics.tissue(settings); nodes.len()],
            },
            clock: Clock::default(),
            posed_now: posed.clone(),
            before: Moment { tick: 0, nodes: nodes.clone(), posed: posed.clone() },
            pose_now: Pose::rest(character),
            pose: Pose::rest(character),
            part: Pose::rest(character),
            posed: posed.clone(),
            shares: None,
            next_shares: vec![0.0; settings.regions.len()],
            set_for: 0.0,
            scaled: vec![[1.0; 3]; slots],
            target_volume: flesh.body.tets().volume(),
            volumes: vec![0.0; flesh.body.surface().len().div_ceil(CHUNK)],
            mender: Mender::new(flesh),
            saved: nodes.clone(),
            saved_velocities: vec![Vec3::ZERO; nodes.len()],
            saved_posed: posed,
            held: 0,
            shown: nodes.clone(),
            shown_before: nodes.clone(),
            skin: flesh.base.state(),
            points: flesh.points.state(),
            scratch: flesh.skin.scratch(),
            embedded: vec![Vec3::ZERO; flesh.skin.vertex_count()],
            normals: vec![Vec3::Y; flesh.skin.vertex_count()],
            node_places: vec![Vec3::ZERO; nodes.len()],
        }
    }

    /// Takes other numbers for the same regions: from the next tick on.
    pub(super) fn tune(&mut self, settings: Settings) -> Result<(), PrepareError> {
        let (old, new) = (&self.flesh.settings, &settings);
        let same = old.body == new.body
            && old.simulation.step == new.simulation.step
            && old.simulation.model == new.simulation.model
            && old.simulation.metres_per_unit == new.simulation.metres_per_unit
            && old.regions.iter().map(|r| &r.on).eq(new.regions.iter().map(|r| &r.on))
            && self.physics.is_live(old, new);
        if !same {
            return Err(PrepareError::NotLive);
        }
        self.run.settings = settings;
        self.shares = None;
        Ok(())
    }

    /// Ticks up to the first at or after `seconds`.
    pub(super) fn advance(&mut self, motion: &dyn Motion, seconds: f64, finished: &mut dyn FnMut(Stage)) {
        self.held = 0;
        if !self.clock.started {
            self.start(motion, seconds, finished);
        }
        let last = self.clock.reach(seconds);
        while self.clock.tick < last {
            self.remember();
            let tick = self.clock.tick + 1;
            let mut pose = std::mem::take(&mut self.pose);
            if self.clock.is_seam(tick) {
                // The flesh goes along.
                let jump = self.clock.seam(motion, tick, self.flesh.root, &mut self.part, &mut pose);
                self.carry(&jump);
            } else {
                motion.pose(self.clock.at(tick), &mut pose);
            }
            self.teleport(&pose);
            self.go_to(&pose, self.clock.at(tick), self.clock.step, true, finished);
            self.clock.tick = tick;
            self.pose = pose;
        }
    }

    /// From rest to the first pose, on a way that turns bones little by little, then still there until nothing moves.
    /// The flesh starts with the speed of its bones.
    fn start(&mut self, motion: &dyn Motion, seconds: f64, finished: &mut dyn FnMut(Stage)) {
        let step = self.run.settings.simulation.step.unwrap_or_else(|| self.physics.step(motion));
        self.clock = Clock::start(motion, seconds, step);
        let (step, time) = (self.clock.step, self.clock.at(self.clock.tick));
        let mut pose = std::mem::take(&mut self.pose);
        motion.pose(time, &mut pose);
        let jump = between_roots(&self.pose_now, &pose, self.flesh.root);
        self.carry(&jump);
        self.go_to(&pose, time, step, false, finished);
        let size = self.flesh.character.diagonal() as f32;
        let ticks = (self.run.settings.simulation.preroll / step).ceil() as usize;
        for _ in 0..ticks {
            self.remember();
            self.go_to(&pose, time, step, true, finished);
            let moved = self.run.nodes.iter().zip(&self.before.nodes).map(|(a, b)| at(a).distance(at(b)));
            if moved.fold(0.0, f32::max) < SETTLED * size {
                break;
            }
        }
        self.remember();
        self.set_off(motion, &mut pose);
        self.pose = pose;
    }

    /// Gives nodes the speed at which their bones will carry them in the first tick. At rest where bones run, flesh would be
    /// hit by all of their speed at once. Ticks that go too far to leave flesh behind (`teleport`, `go_to`) forget this
    /// speed as any other.
    fn set_off(&mut self, motion: &dyn Motion, pose: &mut Pose) {
        let tick = self.clock.tick + 1;
        if self.clock.is_seam(tick) {
            let jump = self.clock.seam(motion, tick, self.flesh.root, &mut self.part, pose).inverse();
            pose.world_from_joint.iter_mut().for_each(|m| *m = jump * *m);
        } else {
            motion.pose(self.clock.at(tick), pose);
        }
        let mut posed = std::mem::take(&mut self.posed);
        self.posed_of(pose, &mut posed);
        self.run.carried.set(&self.posed_now, &posed);
        let (rig, carried, nodes) = (&self.flesh.rig, &self.run.carried, &self.run.nodes);
        let rate = 1.0 / self.clock.step as f32;
        parallel::for_each_chunk_mut(&mut self.run.velocities, CHUNK, |chunk, velocities| {
            for (k, velocity) in velocities.iter_mut().enumerate() {
                let index = chunk * CHUNK + k;
                let old = at(&nodes[index]);
                *velocity += (carried.advected(rig.weights.of(index), old) - old) * rate;
            }
        });
        self.posed = posed;
    }

    /// Keeps this moment as the one before.
    fn remember(&mut self) {
        self.before.tick = self.clock.tick;
        self.before.nodes.copy_from_slice(&self.run.nodes);
        self.before.posed.copy_from_slice(&self.posed_now);
    }

    /// Moves flesh and bones as one.
    fn carry(&mut self, by: &DAffine3) {
        if *by == DAffine3::IDENTITY {
            return;
        }
        for (node, velocity) in self.run.nodes.iter_mut().zip(&mut self.run.velocities) {
            put(node, by.transform_point3(at(node).as_dvec3()).as_vec3());
            *velocity = by.transform_vector3(velocity.as_dvec3()).as_vec3();
        }
        self.posed_now.iter_mut().for_each(|m| *m = *by * *m);
        self.pose_now.world_from_joint.iter_mut().for_each(|m| *m = *by * *m);
    }

    /// A root that has jumped takes the flesh along, and its swing is forgotten.
    fn teleport(&mut self, pose: &Pose) {
        let root = self.flesh.root;
        let way = pose.world_from_joint[root]
            .translation
            .distance(self.pose_now.world_from_joint[root].translation);
        if way > self.run.settings.simulation.teleport * self.flesh.character.diagonal() * self.clock.step {
            let jump = between_roots(&self.pose_now, pose, root);
            self.carry(&jump);
            self.run.velocities.fill(Vec3::ZERO);
        }
    }

    pub(super) fn posed_of(&self, pose: &Pose, out: &mut Vec<DAffine3>) {
        out.clear();
        let slots = self.flesh.character.slots().iter();
        out.extend(slots.map(|s| pose.world_from_joint[s.joint as usize] * s.joint_from_rest));
    }

    /// Brings the nodes to a pose within `seconds`, in as many parts as its turns ask for. A way that ends in numbers
    /// that are none is gone again in smaller parts; where that does not help, the flesh is held at its skinned place.
    fn go_to(&mut self, pose: &Pose, time: f64, seconds: f64, inert: bool, finished: &mut dyn FnMut(Stage)) {
        let mut posed = std::mem::take(&mut self.posed);
        self.posed_of(pose, &mut posed);
        let most = self.run.carried.most_turn(&self.flesh.rig.pairs, &self.posed_now, &posed);
        // Bones that turn on this fast take their flesh along: left behind, it would be wound up about them.
        let inert = inert && most <= MOST_TURN;
        let mut parts = ((most / MOST_TURN).ceil() as usize).clamp(1, MOST_PARTS);
        if self.run.settings.simulation.model == Model::Compliance {
            parts = parts.max(self.run.settings.simulation.substeps as usize);
        }
        self.saved.copy_from_slice(&self.run.nodes);
        self.saved_velocities.copy_from_slice(&self.run.velocities);
        self.saved_posed.copy_from_slice(&self.posed_now);
        let from = std::mem::take(&mut self.pose_now);
        for retry in 0..=RETRIES {
            for k in 1..=parts {
                let mut part = std::mem::take(&mut self.part);
                part.between(self.flesh.character.skeleton(), &from, pose, k as f64 / parts as f64);
                self.posed_of(&part, &mut posed);
                self.part = part;
                self.tick(&posed, time, seconds / parts as f64, inert, finished);
            }
            if self.run.nodes.iter().all(|n| at(n).is_finite()) {
                break;
            }
            parts *= 2;
            self.run.velocities.copy_from_slice(&self.saved_velocities);
            if retry == RETRIES {
                self.hold();
            } else {
                self.run.nodes.copy_from_slice(&self.saved);
                self.posed_now.copy_from_slice(&self.saved_posed);
            }
        }
        if !inert {
            self.run.velocities.fill(Vec3::ZERO);
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
        self.run.carried.set(&self.posed_now, posed);
        self.run.carried.let_go(&self.flesh.rig.pairs, posed);
        self.rescale(posed);
        self.predict(seconds as f32, inert);
        self.posed_now.copy_from_slice(posed);
        finished(Stage::Skin);
        self.solve();
        if seconds > 0.0 {
            let rate = 1.0 / seconds as f32;
            for (velocity, (new, old)) in
                self.run.velocities.iter_mut().zip(self.run.nodes.iter().zip(&self.run.origin))
            {
                *velocity = (at(new) - at(old)) * rate;
            }
        }
        finished(Stage::Solve);
    }

    /// Sets stiffness anew where regions have come or gone, or the user has changed something.
    fn retune(&mut self, time: f64, seconds: f64) {
        let clip_time = self.clock.in_clip(time);
        for (share, region) in self.next_shares.iter_mut().zip(&self.run.settings.regions) {
            *share = tissue::presence(region, clip_time);
        }
        let compliant = self.run.settings.simulation.model == Model::Compliance;
        let stale = compliant && (seconds - self.set_for).abs() > 1e-9 * seconds;
        if self.shares.as_ref() == Some(&self.next_shares) && !stale {
            return;
        }
        self.run.tissue.fill(self.physics.tissue(&self.run.settings));
        tissue::blend(self.flesh, &self.run.settings, &self.next_shares, &mut self.run.tissue);
        let shares = self.shares.get_or_insert_default();
        shares.clone_from(&self.next_shares);
        self.set_for = seconds;
        let Run { settings, tissue, .. } = &self.run;
        self.physics.set(self.flesh, settings, tissue, seconds, &mut self.own);
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
        self.run.carried.scaled = !unscaled;
        self.target_volume = self.physics.set_targets(self.flesh, &self.run.carried, unscaled, &mut self.own);
    }

    /// Where nodes start from.
    fn predict(&mut self, seconds: f32, inert: bool) {
        let (flesh, run) = (self.flesh, &mut self.run);
        flesh.points.positions(&run.carried.linear, &mut self.points, &mut self.node_places);
        let (carried, places) = (&run.carried, &self.node_places);
        parallel::for_each_chunk_mut(&mut run.skinned, CHUNK, |chunk, skinned| {
            for (k, node) in skinned.iter_mut().enumerate() {
                let index = chunk * CHUNK + k;
                put(node, places[index]);
                node[3] = carried.anchor(&flesh.rig, index);
            }
        });
        run.origin.copy_from_slice(&run.nodes);
        self.physics.predict(flesh, run, &mut self.own, seconds, inert);
    }

    /// Projects the constraints, then mends what is left of volume and of tets that are inside out.
    fn solve(&mut self) {
        let (yields, scaled) = (self.yields(), self.run.carried.scaled);
        let (flesh, physics, own) = (self.flesh, self.physics, &mut self.own);
        physics.solve(&mut self.run, own);
        let nodes = &mut self.run.nodes;
        for round in 0..MORE_ROUNDS {
            let check = physics.check(nodes, own);
            let volume = body_volume(flesh.body.surface(), nodes, &mut self.volumes);
            let missing = (volume - self.target_volume).abs() > VOLUME_ERROR * self.target_volume;
            if !check.finite || !(missing || check.flat > 0) {
                return;
            }
            // Sweeps turn most tets, too.
            if missing || round == 0 {
                physics.sweep_volume(nodes, MORE_SWEEPS, own);
            }
            self.mender.mend(flesh, nodes, yields, scaled);
        }
    }

    /// Whether nodes that bones hold give way to tets that are inside out. Only pinned ones need to; and what scaled
    /// joints make of a tet only the solver knows.
    fn yields(&self) -> bool {
        self.physics.pins().is_some() && !self.run.carried.scaled
    }

    /// Turns tets that are inside out in what is shown.
    pub(super) fn mend_shown(&mut self) {
        let (yields, scaled) = (self.yields(), self.run.carried.scaled);
        let check = self.physics.check(&self.shown, &mut self.own);
        if check.flat > 0 && check.finite {
            self.mender.mend(self.flesh, &mut self.shown, yields, scaled);
        }
    }

    /// Nodes that are no numbers go to where linear blending has them, and all swing is forgotten.
    fn hold(&mut self) {
        for (node, skinned) in self.run.nodes.iter_mut().zip(&self.run.skinned) {
            if !at(node).is_finite() {
                put(node, at(skinned));
                self.held += 1;
            }
        }
        self.run.velocities.fill(Vec3::ZERO);
    }
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
