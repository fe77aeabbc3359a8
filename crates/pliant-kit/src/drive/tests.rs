use super::*;
use crate::motion::MAX_FRAMES;
use glam::Quat;
use pliant::asset::{Channel, Interpolation, Target, Track};
use pliant::method::{Stage, prepare_default};
use pliant::zoo;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Flesh that lags behind linear blend skinning: a share of the distance is left after each tick of 10 ms.
struct Lagging<'c> {
    plain: Box<dyn Deformer + 'c>,
    left: f32,
    steps: AtomicUsize,
}

impl<'c> Lagging<'c> {
    fn new(character: &'c Character, left: f32) -> Self {
        let plain = prepare_default("lbs", character, simd::Path::Scalar).unwrap();
        Self { plain, left, steps: AtomicUsize::new(0) }
    }
}

impl Deformer for Lagging<'_> {
    fn instance(&self) -> Box<dyn Instance + Send + '_> {
        let shape = Shape { positions: vec![], normals: vec![] };
        Box::new(Lag { of: self, plain: self.plain.instance(), tick: None, shape, offsets: vec![] })
    }

    fn remembers(&self) -> bool {
        true
    }
}

struct Lag<'p> {
    of: &'p Lagging<'p>,
    plain: Box<dyn Instance + Send + 'p>,
    /// None before the first step, which starts where it is.
    tick: Option<i64>,
    shape: Shape,
    offsets: Vec<Vec3>,
}

impl Instance for Lag<'_> {
    fn step(
        &mut self,
        motion: &dyn Motion,
        seconds: f64,
        out: &mut Shape,
        finished: &mut dyn FnMut(Stage),
    ) -> Health {
        self.of.steps.fetch_add(1, Relaxed);
        let cycle =
            |tick: i64| motion.period().map(|period| (tick as f64 * 0.01 / period + 1e-9).floor() as i64);
        let last = (seconds * 100.0 + 1e-6).floor() as i64;
        while self.tick.is_none_or(|tick| tick < last) {
            let before = self.shape.positions.clone();
            let tick = self.tick.map_or(last, |tick| tick + 1);
            self.plain.step(motion, tick as f64 * 0.01, &mut self.shape, &mut |_| {});
            self.offsets.resize(self.shape.positions.len(), Vec3::ZERO);
            // What starts again elsewhere takes its flesh along.
            let jumps = before.is_empty() || cycle(tick - 1) != cycle(tick);
            for (k, offset) in self.offsets.iter_mut().enumerate() {
                let moved = if jumps { Vec3::ZERO } else { before[k] - self.shape.positions[k] };
                *offset = (*offset + moved) * self.of.left;
            }
            self.tick = Some(tick);
        }
        self.plain.step(motion, seconds, out, finished);
        out.positions.iter_mut().zip(&self.offsets).for_each(|(p, o)| *p += *o);
        Health::default()
    }

    fn copy<'a>(&self) -> Box<dyn Instance + Send + 'a>
    where
        Self: 'a,
    {
        let (shape, offsets) = (self.shape.clone(), self.offsets.clone());
        Box::new(Lag { of: self.of, plain: self.plain.copy(), tick: self.tick, shape, offsets })
    }
}

/// A cylinder that bends by these degrees in 0.6 s each, and travels by as much in the meantime.
fn bender(degrees: &[f32], travel: Vec3) -> Character {
    let mut raw = zoo::character("cylinder", Some(500)).unwrap().into_raw();
    let times: Vec<f32> = (0..degrees.len()).map(|k| 0.6 * k as f32).collect();
    let turns = degrees.iter().flat_map(|d| Quat::from_rotation_z(d.to_radians()).to_array()).collect();
    let start = raw.skeleton.joints()[0].local.to_affine().translation.as_vec3();
    let part = |k: usize| k as f32 / (degrees.len() - 1) as f32;
    let places = (0..degrees.len()).flat_map(|k| (start + travel * part(k)).to_array()).collect();
    let channels = vec![
        Channel {
            target: Target::Rotation(1),
            track: Track::new(Interpolation::Linear, 4, times.clone(), turns).unwrap(),
        },
        Channel {
            target: Target::Translation(0),
            track: Track::new(Interpolation::Linear, 3, times, places).unwrap(),
        },
    ];
    raw.clips = vec![Clip::new("bend".into(), channels)];
    Character::new(raw).unwrap()
}

/// There and back.
const CLOSED_BEND: [f32; 3] = [0.0, 60.0, 0.0];

struct Taken {
    times: Vec<f64>,
    shapes: Vec<Vec<Vec3>>,
    cycle: Option<Cycle>,
    preroll_ms: f64,
}

fn take(character: &Character, deformer: &dyn Deformer, schedule: &Schedule, cycles: bool) -> Taken {
    let clip = &character.clips()[0];
    let (mut times, mut shapes) = (vec![], vec![]);
    let mut drive = Drive::new(character, deformer);
    let sink: Sink = &mut |frame| {
        times.push(frame.time);
        shapes.push(frame.shape.positions.clone());
        Ok(())
    };
    let cycle = if cycles {
        Some(drive.cycle(clip, schedule, &mut (), sink).unwrap())
    } else {
        drive.play(Some(clip), schedule, &mut (), sink).unwrap();
        None
    };
    Taken { preroll_ms: drive.preroll_ms, times, shapes, cycle }
}

fn schedule(character: &Character, start: Option<f64>, end: Option<f64>) -> Schedule {
    Schedule::new(Some(&character.clips()[0]), None, start, end, MAX_FRAMES).unwrap()
}

#[test]
fn a_cut_gives_the_frames_of_the_whole_where_flesh_remembers() {
    let character = bender(&CLOSED_BEND, Vec3::X);
    let flesh = Lagging::new(&character, 0.97);
    let whole = take(&character, &flesh, &schedule(&character, None, None), false);
    let cut = take(&character, &flesh, &schedule(&character, Some(0.5), Some(1.0)), false);
    assert_eq!(cut.shapes.len(), 16);
    assert!(cut.shapes == whole.shapes[15..=30] && cut.times == whole.times[15..=30]);
    assert!(cut.preroll_ms > whole.preroll_ms && whole.preroll_ms > 0.0);
    // Between the frames of the whole, too, flesh is where it comes to from the start.
    let between = take(&character, &flesh, &schedule(&character, Some(0.51), Some(0.51)), false);
    let plain = take(&character, &*flesh.plain, &schedule(&character, Some(0.51), Some(0.51)), false);
    assert!(farthest(&between.shapes[0], &plain.shapes[0]) > 1e-3);
    // What remembers nothing is not played to the start.
    assert_eq!(plain.preroll_ms, 0.0);
}

#[test]
fn a_loop_is_played_until_it_closes() {
    let character = bender(&CLOSED_BEND, Vec3::ZERO);
    let flesh = Lagging::new(&character, 0.98);
    let schedule = schedule(&character, None, None);
    let looped = take(&character, &flesh, &schedule, true);
    let cycle = looped.cycle.unwrap();
    assert!((1..MOST_CYCLES).contains(&cycle.cycles) && cycle.closes_within < CLOSED, "{cycle:?}");
    assert!(cycle.seam < CLOSED && looped.preroll_ms > 0.0);
    assert_eq!(looped.times, schedule.times);
    let (first, last) = (&looped.shapes[0], &looped.shapes[looped.shapes.len() - 1]);
    assert_eq!(first, last, "to the bit");
    // Played once it starts at rest, and does not close: the cycle was not simply cut there.
    let once = take(&character, &flesh, &schedule, false);
    let size = character.diagonal();
    let open = farthest(&once.shapes[0], &once.shapes[once.shapes.len() - 1]) / size;
    assert!(open > 10.0 * CLOSED, "{open}");
    // The step into the last frame is like those around it: nothing is made to fit there.
    let moved = |k: usize| farthest(&looped.shapes[k], &looped.shapes[k + 1]);
    let (into, out_of) = (moved(looped.shapes.len() - 2), moved(0));
    assert!(into < 3.0 * out_of + 1e-3 * size, "{into} into the last frame, {out_of} out of the first");
}

#[test]
fn a_body_that_travels_loops_where_it_has_come_to() {
    let travel = Vec3::new(3.0, 0.0, -1.0);
    let character = bender(&CLOSED_BEND, travel);
    let flesh = Lagging::new(&character, 0.98);
    let looped = take(&character, &flesh, &schedule(&character, None, None), true);
    let cycle = looped.cycle.unwrap();
    assert!(cycle.closes_within < CLOSED && cycle.seam < CLOSED, "{cycle:?}");
    let moved: Vec<Vec3> = looped.shapes[0].iter().map(|p| *p + travel).collect();
    let off = farthest(&moved, &looped.shapes[looped.shapes.len() - 1]);
    assert!(off < 1e-5, "{off}");
}

#[test]
fn a_loop_that_never_closes_says_by_how_much() {
    let character = bender(&CLOSED_BEND, Vec3::ZERO);
    let flesh = Lagging::new(&character, 0.99995);
    let looped = take(&character, &flesh, &schedule(&character, None, None), true);
    let cycle = looped.cycle.unwrap();
    assert!(cycle.cycles == MOST_CYCLES && cycle.closes_within > CLOSED && cycle.seam < CLOSED, "{cycle:?}");
    assert_eq!(looped.shapes.len(), looped.times.len());
}

#[test]
fn a_clip_that_ends_elsewhere_keeps_its_end() {
    let character = bender(&[0.0, 60.0], Vec3::ZERO);
    let flesh = Lagging::new(&character, 0.5);
    let schedule = schedule(&character, None, None);
    let looped = take(&character, &flesh, &schedule, true);
    assert!(looped.cycle.unwrap().seam > 10.0 * CLOSED);
    let plain = take(&character, &*flesh.plain, &schedule, false);
    let last = schedule.times.len() - 1;
    let size = character.diagonal();
    assert!(farthest(&looped.shapes[last], &plain.shapes[last]) < 0.02 * size);
    assert!(farthest(&looped.shapes[last], &looped.shapes[0]) > 0.1 * size);
}

#[test]
fn plain_skinning_loops_by_itself() {
    let character = bender(&CLOSED_BEND, Vec3::X);
    let flesh = Lagging::new(&character, 0.5);
    let schedule = schedule(&character, None, None);
    let looped = take(&character, &*flesh.plain, &schedule, true);
    let cycle = looped.cycle.unwrap();
    assert!(cycle.cycles == 0 && cycle.closes_within < CLOSED && looped.preroll_ms == 0.0, "{cycle:?}");
    assert!(looped.shapes == take(&character, &*flesh.plain, &schedule, false).shapes);
    assert_eq!(flesh.steps.load(Relaxed), 0);
}
