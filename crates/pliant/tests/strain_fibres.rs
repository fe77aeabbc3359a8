//! Fibres of the method `strain`: frames along what is drawn, materials near it, and settings that cannot be used.

use pliant::asset::Character;
use pliant::glam::{DMat3, DVec3};
use pliant::method::{self, BodySettings, Deformer, Fibre, PrepareError, Settings, Setup};
use pliant::simd::Path;
use pliant::zoo;

fn settings(fibres: Vec<Fibre>) -> Settings {
    let body = BodySettings { tets: Some(2000), cell: None };
    Settings { body, fibres, ..Settings::default() }
}

fn prepare<'c>(
    character: &'c Character,
    settings: &Settings,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let setup = Setup { path: Path::best(), settings, tets: None, progress: &mut |_| true };
    method::prepare("strain", character, setup)
}

fn arm() -> Character {
    zoo::character("arm", Some(2000)).unwrap()
}

/// From tet to tet: its middle and its first axis.
fn fibres(deformer: &dyn Deformer) -> Vec<(DVec3, DVec3)> {
    let mesh = deformer.body().unwrap().tets();
    let frames = deformer.frames().unwrap();
    assert_eq!(frames.len(), mesh.tets().len());
    let middle = |tet: usize| mesh.corners(tet).into_iter().sum::<DVec3>() / 4.0;
    let first = |tet: usize| DMat3::from_quat(frames[tet].as_dquat()).x_axis;
    (0..frames.len()).map(|tet| (middle(tet), first(tet))).collect()
}

#[test]
fn fibres_follow_the_bones_or_what_is_drawn() {
    let character = arm();
    let along = fibres(&*prepare(&character, &settings(vec![])).unwrap());
    // Upper and lower arm of the sample lie along x to a few degrees.
    assert!(along.iter().all(|(_, x)| x.x.abs() > 0.99));
    let across = |x: f64| vec![[x, 0.06, -0.03], [x, 0.14, 0.03]];
    let drawn = [0.05, 0.3, 0.6].map(|x| Fibre { points: across(x), ..Fibre::default() });
    let prepared = prepare(&character, &settings(drawn.to_vec())).unwrap();
    let way = DVec3::new(0.0, 0.08, 0.06).normalize();
    assert!(fibres(&*prepared).iter().all(|(_, x)| x.dot(way).abs() > 0.99));
    assert!(prepared.warnings().iter().all(|w| !w.contains("fibre")), "{:?}", prepared.warnings());
}

#[test]
fn pins_are_the_slots_that_hold_nodes() {
    let character = arm();
    let prepared = prepare(&character, &settings(vec![])).unwrap();
    let pins = prepared.pins().unwrap();
    assert_eq!(pins.len(), prepared.body().unwrap().tets().positions().len());
    let held = pins.iter().filter(|&&p| p != u32::MAX);
    assert!(held.clone().count() > 10 && held.clone().count() < pins.len() / 2);
    assert!(held.clone().all(|&slot| (slot as usize) < character.slots().len()));
}

#[test]
fn a_fibre_far_from_the_flesh_is_told_by_its_name() {
    let far = |name: &str| Fibre {
        name: name.to_owned(),
        points: vec![[5.0, 5.0, 5.0], [6.0, 5.0, 5.0]],
        ..Fibre::default()
    };
    let character = arm();
    let prepared = prepare(&character, &settings(vec![far("lost"), far("")])).unwrap();
    let warned = prepared.warnings().join("\n");
    assert!(warned.contains("fibre 'lost'") && warned.contains("fibre fibre[1]"), "{warned}");
}

#[test]
fn fibres_that_cannot_be_used_are_refused() {
    let character = arm();
    let unread = Fibre { file: Some("a.json".into()), ..Fibre::default() };
    let error = prepare(&character, &settings(vec![unread])).err().unwrap().to_string();
    assert!(error.starts_with("fibre[0].file: 'a.json' has not been read"), "{error}");
    let many = vec![Fibre { points: vec![[0.0; 3], [1.0; 3]], ..Fibre::default() }; 1025];
    assert!(settings(many).check().unwrap_err().to_string().contains("1025 are too many"));
}

/// While it plays a fibre's numbers may change, its place not.
#[test]
fn only_a_fibre_s_numbers_are_live() {
    let character = arm();
    let points = vec![[0.05, 0.1, 0.0], [0.3, 0.1, 0.0]];
    let fibre = Fibre { points, stretch: Some([1.0, 0.1, 0.1]), ..Fibre::default() };
    let prepared = prepare(&character, &settings(vec![fibre.clone()])).unwrap();
    let mut instance = prepared.instance();
    let other = Fibre { stretch: Some([0.5; 3]), ..fibre.clone() };
    assert!(instance.tune(&settings(vec![other])).is_ok());
    for moved in [
        vec![],
        vec![Fibre { radius: Some(0.3), ..fibre.clone() }],
        vec![Fibre { stretch: None, ..fibre.clone() }],
        vec![Fibre { points: vec![[0.0; 3], [0.3; 3]], ..fibre }],
    ] {
        assert_eq!(instance.tune(&settings(moved)), Err(PrepareError::NotLive));
    }
}
