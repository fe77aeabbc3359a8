//! Stiffness in physical units: a round bar along its bone, pulled sideways by gravity, sags by what it is made of and
//! not by how time is cut.

mod position_common;

use pliant::asset::Character;
use pliant::glam::Vec3;
use pliant::method::{Model, Place, Preset, Region, Settings, Shape};
use pliant::rig::Pose;
use position_common::{prepare, sample, settings, step};

const TETS: usize = 1500;

fn bar(young: f64, substeps: u32, seconds: f64) -> Settings {
    let mut settings = settings(TETS);
    settings.simulation.model = Model::Compliance;
    settings.simulation.gravity = Some([9.81, 0.0, 0.0]);
    settings.simulation.substeps = substeps;
    settings.simulation.step = Some(seconds);
    settings.simulation.preroll = 0.0;
    settings.position.young = young;
    let one = Some(1.0);
    let region = Region::new("all", Place::All, Preset::Fat);
    settings.regions.push(Region {
        softness: one,
        stretch: one,
        volume: one,
        bind: one,
        damping: Some(8.0),
        ..region
    });
    settings
}

/// How far the skin hangs in the end.
fn sag(character: &Character, settings: &Settings) -> f32 {
    let deformer = prepare(character, settings);
    let mut instance = deformer.instance();
    let (rest, mut shape) = (Pose::rest(character), Shape::rest(character));
    for frame in 0..=40 {
        step(instance.as_mut(), &rest, f64::from(frame) / 20.0, &mut shape);
    }
    let moved = shape.positions.iter().zip(character.surface().positions()).map(|(a, b)| *a - *b);
    moved.sum::<Vec3>().x / character.surface().positions().len() as f32
}

#[test]
fn sag_is_a_matter_of_the_material() {
    let character = sample("cylinder");
    let expected = sag(&character, &bar(5e3, 4, 0.01));
    assert!(expected > 1e-3, "{expected}");
    for (substeps, seconds) in [(16, 0.01), (4, 0.005)] {
        let found = sag(&character, &bar(5e3, substeps, seconds));
        assert!((found / expected - 1.0).abs() < 0.1, "{substeps} of {seconds} s: {found}, {expected}");
    }
    let half = sag(&character, &bar(1e4, 4, 0.01));
    assert!((half / expected - 0.5).abs() < 0.05, "{half} of {expected}");
}

/// Damping slows a motion; it does not hold up what hangs.
#[test]
fn damping_carries_no_weight() {
    let character = sample("cylinder");
    for model in [Model::Stiffness, Model::Compliance] {
        let damped = |damping: f64| {
            let mut settings = bar(5e3, 4, 0.01);
            settings.simulation.model = model;
            settings.position.stretch = 0.1;
            settings.position.bind = 0.05;
            settings.regions[0].damping = Some(damping);
            sag(&character, &settings)
        };
        let (little, much) = (damped(6.0), damped(18.0));
        assert!((much / little - 1.0).abs() < 0.02, "{model:?}: {little}, {much}");
    }
}
