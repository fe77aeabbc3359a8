//! A file in, a file out: what `pliant bake` does, in a page.
//!
//! `cargo run --release -p pliant-io --example bake -- character.glb soft.glb`

use pliant::measure::{Judge, Options, TetJudge};
use pliant::method::{self, Setup, Shape};
use pliant::rig::{Motion, Playback, Pose};
use pliant::simd;
use pliant_io::files::{Folder, write_whole};
use pliant_io::gltf::{self, BakedClip};
use pliant_io::settings;
use std::error::Error;
use std::path::Path;

/// As in a file for `--config`.
const SETTINGS: &str = r#"
[[region]]
name = "all of it, a little soft"
on = "all"
preset = "muscle"
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = std::env::args().collect::<Vec<_>>();
    let [_, input, output] = &arguments[..] else {
        return Err("usage: bake IN.glb OUT.glb".into());
    };

    // The character: checked data that nothing changes any more. Files beside it (buffers, images) are found there.
    let input = Path::new(input);
    let files = Folder::of(input);
    let loaded = gltf::read(std::fs::read(input)?, &files)?;
    let character = &loaded.character;
    let clip = character.clips().first().ok_or("the file has no motion")?;

    // The method, prepared once; any number of instances may share it.
    let settings = settings::read(SETTINGS.as_bytes())?.settings;
    settings.check_on(character)?; // joints and paint that it names are there
    let setup = Setup { path: simd::Path::best(), settings: &settings, tets: None, progress: &mut |_| true };
    let deformer = method::prepare("position", character, setup)?;
    deformer.warnings().iter().for_each(|warning| eprintln!("warning: {warning}"));

    // Frames in order of time, each measured.
    let motion = Playback::once(character, Some(clip));
    let times = (0..=(clip.end() * 30.0) as usize).map(|i| i as f64 / 30.0).collect::<Vec<_>>();
    let mut instance = deformer.instance();
    let (mut pose, mut frames) = (Pose::rest(character), Vec::new());
    let judge = Judge::new(character, Options::default());
    let tets = deformer.body().map(|body| TetJudge::new(character, body));
    let mut recorder = judge.record(tets.as_ref());
    for &time in &times {
        let mut shape = Shape::rest(character);
        let health = instance.step(&motion, time, &mut shape, &mut |_stage| {});
        motion.pose(time, &mut pose);
        recorder.frame(time, &pose, &shape.positions, instance.nodes()).held = health.held;
        frames.push(shape);
    }
    let summary = recorder.finish();
    if let Some(error) = summary.volume_error_percent {
        println!("volume error: {:.3} % at most, {:.3} % on average", error.max, error.mean);
    }
    println!("frames not fit to be used: {:?}", summary.flagged_frames);

    // The input's document with the frames as morph targets; on disk whole or not at all.
    let baked = BakedClip { clip: Some(0), name: clip.name(), times: &times };
    let (glb, warnings) = gltf::bake(&loaded.document, character, &files, &[baked], &frames)?;
    warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    write_whole(&[(output.into(), glb)])?;
    Ok(())
}
