//! A motion played through a method, frame by frame, on the machine's clock.

use crate::clock;
use crate::host::Progress;
use crate::motion::Schedule;
use anyhow::Result;
use glam::{DAffine3, DVec3, Vec3};
use pliant::asset::{Character, Clip};
use pliant::body::Node;
use pliant::method::{self, Deformer, Health, Instance, PrepareError, Shape, Stage};
use pliant::rig::{Motion, Playback, Pose};
use pliant::simd;
use serde::Serialize;

/// A loop is closed when nothing moves by more than this share of the character's size from one cycle's start to the
/// next one's: a tenth of a millimetre or two on a person, which no eye sees.
pub const CLOSED: f64 = 1e-4;

/// Cycles played, at most, for a loop to close. Flesh that swings for longer than 30 walks is not meant to loop.
const MOST_CYCLES: usize = 30;

/// One frame of a motion, deformed.
pub struct Frame<'f> {
    /// Seconds of the clip.
    pub time: f64,
    /// Where the joints are.
    pub pose: &'f Pose,
    /// Where the skin is.
    pub shape: &'f Shape,
    /// Where the tet body's nodes are.
    pub nodes: Option<&'f [Node]>,
    /// Where balls are, and their radii.
    pub balls: Option<&'f [[f32; 4]]>,
    /// How the step went.
    pub health: Health,
    /// How long it took.
    pub ms: Milliseconds,
}

/// Time by stage; null for stages that a method does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Milliseconds {
    /// Of everything.
    pub total: f64,
    /// See [`Stage`].
    pub skin: Option<f64>,
    /// See [`Stage`].
    pub solve: Option<f64>,
    /// See [`Stage`].
    pub embed: Option<f64>,
    /// See [`Stage`].
    pub filter: Option<f64>,
    /// See [`Stage`].
    pub overlap: Option<f64>,
}

impl Milliseconds {
    /// Means, each over the frames that have the stage.
    pub fn mean(of: &[Self]) -> Self {
        let stage = |value: fn(&Self) -> Option<f64>| {
            let (sum, count) = of.iter().filter_map(value).fold((0.0, 0), |(s, n), v| (s + v, n + 1));
            (count > 0).then(|| sum / f64::from(count))
        };
        Self {
            total: stage(|m| Some(m.total)).unwrap_or(0.0),
            skin: stage(|m| m.skin),
            solve: stage(|m| m.solve),
            embed: stage(|m| m.embed),
            filter: stage(|m| m.filter),
            overlap: stage(|m| m.overlap),
        }
    }
}

/// What is done with each frame.
pub type Sink<'s> = &'s mut dyn FnMut(Frame<'_>) -> Result<()>;

/// How a cycle went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cycle {
    /// Cycles played before the one that was taken.
    pub cycles: usize,
    /// The most that anything moved from the start of the cycle taken to the start of the next, over the character's
    /// size.
    pub closes_within: f64,
    /// The most that a vertex is off in the clip's last pose against its first, travel taken out and by linear blend
    /// skinning, over the character's size.
    pub seam: f64,
}

/// A character's instance on its way through a motion.
pub struct Drive<'a> {
    character: &'a Character,
    deformer: &'a dyn Deformer,
    instance: Box<dyn Instance + Send + 'a>,
    pose: Pose,
    shape: Shape,
    /// Milliseconds for frames that were not taken.
    pub preroll_ms: f64,
}

impl<'a> Drive<'a> {
    /// At rest.
    pub fn new(character: &'a Character, deformer: &'a dyn Deformer) -> Self {
        Self {
            character,
            deformer,
            instance: deformer.instance(),
            pose: Pose::rest(character),
            shape: Shape::rest(character),
            preroll_ms: 0.0,
        }
    }

    /// How many steps [`Drive::play`] takes.
    pub fn steps(deformer: &dyn Deformer, schedule: &Schedule) -> usize {
        let before = if deformer.remembers() { schedule.before().count() + 1 } else { 0 };
        before + schedule.times.len()
    }

    /// Plays a clip once. A method that remembers sees all of it from its start on, so that a frame is the same whichever
    /// ones are taken.
    pub fn play(
        &mut self,
        clip: Option<&Clip>,
        schedule: &Schedule,
        progress: &mut dyn Progress,
        sink: Sink<'_>,
    ) -> Result<()> {
        let motion = Playback::once(self.character, clip);
        if self.deformer.remembers() {
            // The first frame twice: settling in its pose is no frame's work.
            let first = schedule.times.first().copied();
            schedule.before().chain(first).for_each(|time| self.skip(&motion, time, progress));
        }
        for &time in &schedule.times {
            let (health, ms) = self.step(&motion, time);
            motion.pose(time, &mut self.pose);
            sink(self.frame(time, health, ms))?;
            progress.step();
        }
        Ok(())
    }

    /// The rest pose, untouched by the method.
    pub fn rest(&mut self, progress: &mut dyn Progress, sink: Sink<'_>) -> Result<()> {
        sink(Frame { nodes: None, ..self.frame(0.0, Health::default(), Milliseconds::default()) })?;
        progress.step();
        Ok(())
    }

    /// Plays a clip over and over until a cycle ends as it began, then takes the next one: frames at all of the
    /// schedule's times, from the clip's start to its end. Where the clip's last pose is its first the last frame is the
    /// first one too, to the bit, and carried along with a body that has travelled.
    pub fn cycle(
        &mut self,
        clip: &Clip,
        schedule: &Schedule,
        progress: &mut dyn Progress,
        sink: Sink<'_>,
    ) -> Result<Cycle> {
        let seam = Seam::new(self.character, clip)?;
        let motion = Playback::cycle(self.character, clip);
        let period = motion.period().filter(|_| self.deformer.remembers());
        let (&[first, ref within @ .., last], Some(period)) = (&schedule.times[..], period) else {
            self.play(Some(clip), schedule, progress, sink)?;
            return Ok(Cycle { cycles: 0, closes_within: seam.gap, seam: seam.gap });
        };
        progress.more(1);
        self.skip(&motion, 0.0, progress);
        let mut start = self.state();
        let mut cycles = 0;
        let (mut closes_within, (health, ms)) = loop {
            progress.now(&format!("closing the loop, cycle {}", cycles + 1));
            progress.more(within.len() + 1);
            within.iter().for_each(|time| self.skip(&motion, cycles as f64 * period + time, progress));
            cycles += 1;
            let stepped = self.step(&motion, cycles as f64 * period);
            progress.step();
            let moved = self.moved_from(&mut start);
            if moved < CLOSED || cycles == MOST_CYCLES {
                break (moved, stepped);
            }
            self.preroll_ms += stepped.1.total;
        };
        progress.now("baking");
        let begin = cycles as f64 * period;
        let once = Playback::once(self.character, Some(clip));
        once.pose(first, &mut self.pose);
        sink(self.frame(first, health, ms))?;
        progress.step();
        let (first_shape, first_nodes) = (self.shape.clone(), self.instance.nodes().map(<[Node]>::to_vec));
        for &time in within {
            let (health, ms) = self.step(&motion, begin + time);
            once.pose(time, &mut self.pose);
            sink(self.frame(time, health, ms))?;
            progress.step();
        }
        once.pose(last, &mut self.pose);
        if let Some(travel) = seam.travel {
            let (health, ms) = self.step(&motion, begin + period);
            let shape = moved_shape(&first_shape, &travel);
            let nodes = first_nodes.map(|nodes| moved_nodes(&nodes, &travel));
            sink(Frame { shape: &shape, nodes: nodes.as_deref(), ..self.frame(last, health, ms) })?;
            closes_within = self.moved_from(&mut start);
        } else {
            let end = begin + period;
            let (health, ms) = self.step(&Ending { motion, once, period, end }, end);
            sink(self.frame(last, health, ms))?;
        }
        progress.step();
        Ok(Cycle { cycles, closes_within, seam: seam.gap })
    }

    fn frame(&self, time: f64, health: Health, ms: Milliseconds) -> Frame<'_> {
        let (nodes, balls) = (self.instance.nodes(), self.instance.balls());
        Frame { time, pose: &self.pose, shape: &self.shape, nodes, balls, health, ms }
    }

    /// A step that nobody looks at.
    fn skip(&mut self, motion: &dyn Motion, seconds: f64, progress: &mut dyn Progress) {
        self.preroll_ms += self.step(motion, seconds).1.total;
        progress.step();
    }

    /// A step, how long it took, and its stages.
    fn step(&mut self, motion: &dyn Motion, seconds: f64) -> (Health, Milliseconds) {
        timed_step(&mut *self.instance, motion, seconds, &mut self.shape)
    }

    /// All that may still move at the same moment of a cycle: the nodes, or the skin where there are none.
    fn state(&self) -> Vec<Vec3> {
        match self.instance.nodes() {
            Some(nodes) => nodes.iter().map(|n| Vec3::new(n[0], n[1], n[2])).collect(),
            None => self.shape.positions.clone(),
        }
    }

    /// The most that anything has moved since, over the character's size; `since` becomes now.
    fn moved_from(&self, since: &mut Vec<Vec3>) -> f64 {
        let now = self.state();
        let moved = farthest(since, &now);
        *since = now;
        moved / self.character.diagonal()
    }
}

/// A step of an instance, how long it took, and its stages.
pub fn timed_step(
    instance: &mut dyn Instance,
    motion: &dyn Motion,
    seconds: f64,
    shape: &mut Shape,
) -> (Health, Milliseconds) {
    let started = clock::milliseconds();
    let mut spent = Milliseconds::default();
    let mut last = started;
    let health = instance.step(motion, seconds, shape, &mut |stage| {
        let ms = match stage {
            Stage::Skin => &mut spent.skin,
            Stage::Solve => &mut spent.solve,
            Stage::Embed => &mut spent.embed,
            Stage::Filter => &mut spent.filter,
            Stage::Overlap => &mut spent.overlap,
        };
        let now = clock::milliseconds();
        *ms = Some(ms.unwrap_or(0.0) + now - last);
        last = now;
    });
    spent.total = clock::milliseconds() - started;
    (health, spent)
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.as_dvec3().distance(b.as_dvec3())).fold(0.0, f64::max)
}

/// A cycle that does not start again, but ends in its last pose: the next one's first may be far from it.
struct Ending<'a> {
    motion: Playback<'a>,
    once: Playback<'a>,
    /// Seconds of a cycle, and at which this one ends.
    period: f64,
    end: f64,
}

impl Motion for Ending<'_> {
    fn pose(&self, seconds: f64, out: &mut Pose) {
        // Ends may be a rounding away from themselves.
        if seconds < self.end * (1.0 - 1e-9) {
            self.motion.pose(seconds, out);
        } else {
            self.once.pose(self.period, out);
        }
    }

    fn period(&self) -> Option<f64> {
        Some(self.period)
    }

    fn frame_time(&self) -> Option<f64> {
        self.motion.frame_time()
    }
}

/// How a clip's end meets its start.
struct Seam {
    /// What carries the body from where it starts to where it ends; none where it ends in another pose.
    travel: Option<DAffine3>,
    /// The most that a vertex is off, by linear blend skinning and over the character's size, after the best of travels.
    gap: f64,
}

impl Seam {
    fn new(character: &Character, clip: &Clip) -> Result<Self, PrepareError> {
        let plain = method::prepare_default("lbs", character, simd::Path::best())?;
        let motion = Playback::once(character, Some(clip));
        let at = |seconds: f64| {
            let (mut shape, mut pose) = (Shape::rest(character), Pose::default());
            plain.instance().step(&motion, seconds, &mut shape, &mut |_| {});
            motion.pose(seconds, &mut pose);
            (shape.positions, pose.world_from_joint)
        };
        let ((start, from), (end, to)) = (at(0.0), at(clip.end()));
        let near = CLOSED * character.diagonal();
        let mut best = Self { travel: None, gap: farthest(&start, &end) };
        if best.gap <= near {
            best.travel = Some(DAffine3::IDENTITY);
        } else {
            // The whole body travels with some joint or other: a root, or the hips under one that stays.
            let joints = from.iter().zip(&to).map(|(from, to)| *to * from.inverse());
            for travel in joints.filter(|travel| travel.is_finite()) {
                let off =
                    |(s, e): (&Vec3, &Vec3)| travel.transform_point3(s.as_dvec3()).distance(e.as_dvec3());
                let mut gap = 0.0;
                let worse = start.iter().zip(&end).map(off).any(|off| {
                    gap = f64::max(gap, off);
                    off >= best.gap
                });
                if !worse {
                    best = Self { travel: Some(travel), gap };
                }
            }
            best.travel = best.travel.filter(|_| best.gap <= near);
        }
        best.gap /= character.diagonal();
        Ok(best)
    }
}

fn moved_shape(shape: &Shape, travel: &DAffine3) -> Shape {
    if *travel == DAffine3::IDENTITY {
        return shape.clone();
    }
    let turn = travel.matrix3.inverse().transpose();
    let place = |p: &Vec3| travel.transform_point3(p.as_dvec3()).as_vec3();
    let normal = |n: &Vec3| (turn * n.as_dvec3()).normalize_or(DVec3::Y).as_vec3();
    Shape {
        positions: shape.positions.iter().map(place).collect(),
        normals: shape.normals.iter().map(normal).collect(),
    }
}

fn moved_nodes(nodes: &[Node], travel: &DAffine3) -> Vec<Node> {
    if *travel == DAffine3::IDENTITY {
        return nodes.to_vec();
    }
    let place = |&[x, y, z, w]: &Node| {
        let p = travel.transform_point3(DVec3::new(x.into(), y.into(), z.into())).as_vec3();
        [p.x, p.y, p.z, w]
    };
    nodes.iter().map(place).collect()
}

#[cfg(test)]
mod tests;
