//! All paths and any number of threads give the same bits.

use pliant::method::{self, BallWeights, Preset, Settings, Setup, Shape};
use pliant::rig::Playback;
use pliant::simd::Path;
use pliant::zoo;

fn bits(name: &str, settings: &Settings, clip: usize, path: Path) -> Vec<[u32; 3]> {
    let character = zoo::character(name, Some(3000)).expect("a sample");
    let setup = Setup { path, settings, tets: None, progress: &mut |_| true };
    let deformer = method::prepare("metaballs", &character, setup).expect("prepared");
    let mut instance = deformer.instance();
    let motion = Playback::once(&character, Some(&character.clips()[clip]));
    let mut shape = Shape::rest(&character);
    let mut all = Vec::new();
    for time in [0.2, 0.8, 1.3] {
        instance.step(&motion, time, &mut shape, &mut |_| {});
        all.extend(shape.positions.iter().chain(&shape.normals).map(|p| p.to_array().map(f32::to_bits)));
    }
    all
}

#[test]
fn on_every_path_and_with_every_number_of_threads() {
    let mut soft = Settings { preset: Some(Preset::Fat), ..Settings::default() };
    soft.metaballs.weights = BallWeights::Inside;
    soft.metaballs.humanoid_muscles = Some(0.2);
    for (name, clip, settings) in [("hand", 0, Settings::default()), ("human", 1, soft)] {
        let reference = bits(name, &settings, clip, Path::Scalar);
        for path in Path::available() {
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                let found = pool.install(|| bits(name, &settings, clip, path));
                assert!(found == reference, "{name}: {path} with {threads} threads");
            }
        }
    }
}
