//! Numbers changed while playing; and what the flesh costs.

mod position_common;

use pliant::asset::Character;
use pliant::method::{Place, PrepareError, Preset, Region, Settings, Shape};
use pliant::simd::Path;
use pliant::solver::Solver;
use position_common::{bits, farthest, play, prepare, sample, settings, step};

fn soft(preset: Preset) -> Settings {
    let mut settings = settings(1500);
    // Sideways, so that it sags.
    settings.simulation.gravity = Some([9.81, 0.0, 0.0]);
    settings.regions.push(Region::new("all", Place::All, preset));
    settings
}

fn time(tick: i32) -> f64 {
    f64::from(tick) / 100.0
}

/// The last skin of a clip that is held until all is still.
fn settled(character: &Character, settings: &Settings) -> Shape {
    let deformer = prepare(character, settings);
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(character);
    for tick in 0..600 {
        step(instance.as_mut(), &play(character, "shake"), time(tick), &mut shape);
    }
    shape
}

#[test]
fn other_numbers_count_from_the_next_tick_on() {
    let character = sample("cylinder");
    let mut tuned = soft(Preset::Jelly);
    tuned.position.stretch = 0.8;
    tuned.regions[0].preset = Some(Preset::Fat);
    tuned.regions[0].damping = Some(3.0);
    let deformer = prepare(&character, &soft(Preset::Jelly));
    let motion = play(&character, "shake");
    let (mut changed, mut plain) = (deformer.instance(), deformer.instance());
    let (mut a, mut b) = (Shape::rest(&character), Shape::rest(&character));
    for tick in 0..600 {
        if tick == 50 {
            changed.tune(&tuned).expect("live");
        }
        step(changed.as_mut(), &motion, time(tick), &mut a);
        if tick <= 51 {
            step(plain.as_mut(), &motion, time(tick), &mut b);
            assert_eq!(bits(&a) == bits(&b), tick < 50, "tick {tick}");
        }
    }
    let size = character.diagonal();
    let (then, jelly) = (settled(&character, &tuned), settled(&character, &soft(Preset::Jelly)));
    let far = f64::from(farthest(&a.positions, &then.positions)) / size;
    let differ = f64::from(farthest(&jelly.positions, &then.positions)) / size;
    assert!(far < 1e-4, "{far}");
    assert!(differ > 1e-3, "the change shows: {differ}");
}

#[test]
fn what_is_prepared_cannot_be_tuned() {
    let character = sample("cylinder");
    let deformer = prepare(&character, &soft(Preset::Fat));
    let motion = play(&character, "shake");
    let (mut asked, mut plain) = (deformer.instance(), deformer.instance());
    let refused: [fn(&mut Settings); 7] = [
        |s| s.regions[0].on = Place::Sphere { center: [0.0; 3], radius: 1.0, falloff: None },
        |s| s.regions.clear(),
        |s| s.regions.push(Region::new("more", Place::All, Preset::Fat)),
        |s| s.preset = Some(Preset::Jelly),
        |s| s.body.tets = Some(3000),
        |s| s.simulation.step = Some(0.02),
        |s| s.position.density = 500.0,
    ];
    for change in refused {
        let mut settings = soft(Preset::Fat);
        change(&mut settings);
        assert_eq!(asked.tune(&settings), Err(PrepareError::NotLive));
    }
    let mut wrong = soft(Preset::Fat);
    wrong.position.stretch = 2.0;
    assert!(matches!(asked.tune(&wrong), Err(PrepareError::Settings(_))));
    let (mut a, mut b) = (Shape::rest(&character), Shape::rest(&character));
    for tick in 0..20 {
        step(asked.as_mut(), &motion, time(tick), &mut a);
        step(plain.as_mut(), &motion, time(tick), &mut b);
    }
    assert!(bits(&a) == bits(&b));
}

#[test]
fn the_solver_takes_at_most_400_bytes_a_tet() {
    let character = sample("arm");
    let deformer = prepare(&character, &settings(14_000));
    let tets = deformer.body().expect("flesh").tets();
    for path in Path::available() {
        let solver = Solver::new(tets, path).expect("available");
        let bytes = (solver.bytes() + solver.state().bytes()) as f64 / tets.tets().len() as f64;
        assert!(bytes <= 400.0, "{path}: {bytes}");
    }
}
