//! Soft flesh swings on when the bones stop dead, and comes to rest; firm flesh does not.

mod position_common;

use pliant::asset::Character;
use pliant::glam::Vec3;
use pliant::measure::TetJudge;
use pliant::method::{Preset, Region, Settings, Shape};
use position_common::{belly, bits, coarse, farthest, play, pose_at, prepare, settings, step};

/// Seconds at which the clip `shake` stops dead.
const STOP: f64 = 1.2;
/// Ticks a second.
const RATE: i32 = 100;

fn soft(region: Region, tets: usize) -> Settings {
    let mut settings = settings(tets);
    settings.regions.push(region);
    settings
}

/// What the belly does after the stop.
struct Swing {
    /// Farthest on each side of where it comes to rest, from side to side, as shares of the body's size.
    sides: Vec<f64>,
    /// Kinetic energy two seconds later over its peak.
    left: f64,
    inverted: usize,
}

fn shaken(character: &Character, region: Region) -> Swing {
    let chosen = region.choice(character).expect("a region");
    let deformer = prepare(character, &soft(region, 4000));
    let motion = play(character, "shake");
    let flesh = TetJudge::new(character, deformer.body().expect("flesh"));
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(character);
    let (mut frames, mut energies, mut inverted) = (Vec::new(), Vec::new(), 0);
    let mut before = Vec::new();
    for tick in 0..=5 * RATE {
        let time = f64::from(tick) / f64::from(RATE);
        step(instance.as_mut(), &motion, time, &mut shape);
        let nodes = instance.nodes().expect("nodes");
        inverted = inverted.max(flesh.frame(&pose_at(&motion, time), nodes).expect("finite").inverted);
        if time > STOP {
            frames.push(shape.positions.clone());
            energies.push(flesh.kinetic_energy(&before, nodes, 1.0 / f64::from(RATE)).expect("finite"));
        }
        before = nodes.to_vec();
    }
    // Of the whole belly, the vertex that swings farthest from where it comes to rest.
    let last = frames.len() - 50;
    let swing = |vertex: usize| -> Vec<Vec3> {
        let settled = frames[last..].iter().map(|f| f[vertex]).sum::<Vec3>() / 50.0;
        frames.iter().map(|f| f[vertex] - settled).collect()
    };
    let reach = |swing: &[Vec3]| swing.iter().copied().max_by(|a, b| a.length().total_cmp(&b.length()));
    let whole = (0..chosen.len()).filter(|&v| chosen[v] >= 1.0).map(swing);
    let most = whole.max_by(|a, b| {
        let [a, b] = [a, b].map(|s| reach(s).map_or(0.0, |r| r.length()));
        a.total_cmp(&b)
    });
    let swing = most.expect("a belly");
    let along = reach(&swing).map_or(Vec3::ZERO, Vec3::normalize_or_zero);
    let shares: Vec<f64> = swing.iter().map(|s| f64::from(s.dot(along)) / character.diagonal()).collect();
    let sides = shares.chunk_by(|a, b| (*a > 0.0) == (*b > 0.0));
    let sides = sides.map(|side| side.iter().map(|s| s.abs()).fold(0.0, f64::max)).collect();
    let peak = energies.iter().copied().fold(0.0, f64::max);
    let late = energies[2 * RATE as usize..].iter().copied().fold(0.0, f64::max);
    Swing { sides, left: late / peak, inverted }
}

#[test]
fn a_belly_swings_on_and_comes_to_rest() {
    for name in ["chubby", "bunny"] {
        let character = coarse(name, 3000);
        let mut reached = Vec::new();
        for preset in [Preset::Muscle, Preset::Fat, Preset::Jelly] {
            let swing = shaken(&character, belly(&character, preset));
            assert_eq!(swing.inverted, 0, "{name} {preset:?}");
            reached.push(swing.sides.iter().copied().fold(0.0, f64::max));
            if preset == Preset::Fat {
                let most = swing.sides.iter().position(|&s| s >= reached[1]).expect("a side");
                assert!(reached[1] > 2e-3 && swing.sides.len() >= most + 2, "{name}: {:?}", swing.sides);
                assert!(swing.sides[most + 1] >= 0.3 * reached[1], "{name}: {:?}", swing.sides);
                assert!(swing.left < 0.05, "{name}: {}", swing.left);
            }
        }
        // The stiffer, the less.
        assert!(reached[0] < 0.8 * reached[1] && reached[1] < 0.9 * reached[2], "{name}: {reached:?}");
    }
}

#[test]
fn no_softness_is_no_swing() {
    let character = coarse("chubby", 3000);
    let plain = prepare(&character, &settings(3000));
    let firm = prepare(&character, &soft(belly(&character, Preset::Firm), 3000));
    let slack = Region { softness: Some(0.0), ..belly(&character, Preset::Jelly) };
    let slack = prepare(&character, &soft(slack, 3000));
    let motion = play(&character, "shake");
    let mut all = [plain.instance(), firm.instance(), slack.instance()];
    let mut shapes = [0; 3].map(|_| Shape::rest(&character));
    let mut stopped: Option<Vec<Vec3>> = None;
    for tick in 0..2 * RATE {
        let time = f64::from(tick) / f64::from(RATE);
        for (instance, shape) in all.iter_mut().zip(&mut shapes) {
            step(instance.as_mut(), &motion, time, shape);
        }
        assert!(bits(&shapes[0]) == bits(&shapes[1]), "{time}");
        if time > STOP + 0.1 {
            let stopped = stopped.get_or_insert_with(|| shapes[2].positions.clone());
            let far = f64::from(farthest(&shapes[2].positions, stopped));
            assert!(far < 1e-4 * character.diagonal(), "{time}: {far}");
        }
    }
}

#[test]
fn a_region_is_soft_within_its_time() {
    let character = coarse("chubby", 3000);
    let (start, end) = (0.5, 1.6);
    let region = Region { start: Some(start), end: Some(end), ..belly(&character, Preset::Fat) };
    let windowed = prepare(&character, &soft(region, 3000));
    let plain = prepare(&character, &settings(3000));
    let motion = play(&character, "shake");
    let (mut a, mut b) = (windowed.instance(), plain.instance());
    let (mut soft, mut firm) = (Shape::rest(&character), Shape::rest(&character));
    let (mut within, mut biggest_jump, mut before) = (0.0f64, 0.0f64, 0.0f64);
    for tick in 0..(2 * RATE + RATE / 2) {
        let time = f64::from(tick) / f64::from(RATE);
        step(a.as_mut(), &motion, time, &mut soft);
        step(b.as_mut(), &motion, time, &mut firm);
        let apart = f64::from(farthest(&soft.positions, &firm.positions)) / character.diagonal();
        if time <= start {
            assert!(bits(&soft) == bits(&firm), "{time}: {apart}");
        } else if time <= end {
            within = within.max(apart);
        } else if time > end + 0.2 {
            assert!(apart < 1e-4, "{time}: {apart}");
        }
        if time > STOP {
            biggest_jump = biggest_jump.max((apart - before).abs());
        }
        before = apart;
    }
    assert!(within > 2e-3, "{within}");
    // It fades: it does not jump back to the bones.
    assert!(biggest_jump < 0.5 * within, "{biggest_jump} of {within}");
}
