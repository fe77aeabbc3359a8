//! Who asks for no normals gets the same positions, to the bit.

use pliant::asset::{Character, RawCharacter, Surface, Weights};
use pliant::method::{self, Deformer, Settings, Setup, Shape, Skinning};
use pliant::rig::Playback;
use pliant::simd::Path;
use pliant::zoo;

/// Every triangle with vertices of its own: seams everywhere.
fn split(character: &Character) -> Character {
    let surface = character.surface();
    let corners: Vec<u32> = surface.triangles().iter().flatten().copied().collect();
    let positions = corners.iter().map(|&v| surface.positions()[v as usize]).collect();
    let triangles: Vec<[u32; 3]> = (0..corners.len() as u32).collect::<Vec<_>>().as_chunks::<3>().0.to_vec();
    let row = |&v: &u32| character.weights().of(v as usize).collect();
    let rows: Vec<Vec<(u16, f32)>> = corners.iter().map(row).collect();
    let weights = Weights::new(&rows, character.slots().len()).expect("those of the whole");
    let mut raw: RawCharacter = character.clone().into_raw();
    (raw.parts[0].vertices, raw.parts[0].triangles) = (0..corners.len() as u32, 0..triangles.len() as u32);
    raw.surface = Surface::new(positions, None, triangles).expect("sound");
    raw.weights = weights;
    raw.paint.clear();
    Character::new(raw).expect("sound")
}

fn prepare<'c>(method: &str, character: &'c Character, settings: &Settings) -> Box<dyn Deformer + 'c> {
    let setup = Setup { path: Path::best(), settings, tets: None, progress: &mut |_| true };
    method::prepare(method, character, setup).expect("it can be prepared")
}

#[test]
fn positions_are_the_same_without_normals() {
    let whole = zoo::character("armadillo", Some(3000)).expect("a sample");
    let settings = |skinning, overlap| {
        let mut settings = Settings { skinning, overlap, ..Settings::default() };
        settings.body.tets = Some(1500);
        settings
    };
    let default = || settings(Skinning::default(), None);
    let uncorrected = || {
        let mut settings = default();
        settings.volume.excluded = whole.skeleton().joints().iter().map(|j| j.name.clone()).collect();
        settings
    };
    for (name, character) in [("whole", &whole), ("split", &split(&whole))] {
        let clip = character.clips().iter().find(|c| c.name() == "run").expect("it runs");
        let motion = Playback::once(character, Some(clip));
        for (method, settings) in [
            ("lbs", default()),
            ("lbs", settings(Skinning::default(), Some(true))),
            ("dqs", default()),
            ("smooth", default()),
            ("volume", default()),
            ("volume", settings(Skinning::Smooth, Some(true))),
            ("volume", settings(Skinning::Dqs, Some(false))),
            // Nothing is corrected, and what is parted is shown all the same.
            ("volume", uncorrected()),
            ("position", default()),
            ("strain", default()),
            ("metaballs", default()),
        ] {
            let deformer = prepare(method, character, &settings);
            let [mut one, mut other] = [deformer.instance(), deformer.instance()];
            let (mut with, mut alone) = (Shape::rest(character), Shape::positions_alone(character));
            for frame in 0..12 {
                let time = f64::from(frame) / 15.0;
                let a = one.step(&motion, time, &mut with, &mut |_| {});
                let b = other.step(&motion, time, &mut alone, &mut |_| {});
                assert!(with.positions == alone.positions, "{name}, {method}, frame {frame}");
                assert_eq!(
                    (a.off, a.parted, a.held),
                    (b.off, b.parted, b.held),
                    "{name}, {method}, frame {frame}"
                );
                assert!(alone.normals.is_empty());
            }
        }
    }
}
