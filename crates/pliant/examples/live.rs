//! A character that something else moves, frame by frame, as in a game: poses in, vertices out.
//!
//! `cargo run --release -p pliant --example live`

use pliant::asset::{Character, Skeleton};
use pliant::method::{self, Preset, Settings, Setup, Shape};
use pliant::rig::{Motion, Pose};
use pliant::{simd, zoo};
use std::error::Error;

/// From the pose of one frame to that of the next. The flesh has a clock of its own and asks for poses in between.
struct Between<'a> {
    skeleton: &'a Skeleton,
    start: f64,
    end: f64,
    from: Pose,
    to: Pose,
}

impl Motion for Between<'_> {
    fn pose(&self, seconds: f64, out: &mut Pose) {
        let share = (seconds - self.start) / (self.end - self.start);
        out.between(self.skeleton, &self.from, &self.to, share.clamp(0.0, 1.0));
    }
}

/// Stands for an engine's own animation: where the joints are, in the order of the skeleton.
fn posed_by_the_game(character: &Character, seconds: f64) -> Pose {
    let jump = character.clips().iter().find(|clip| clip.name() == "jump");
    Pose::sample(character, jump, seconds)
}

fn main() -> Result<(), Box<dyn Error>> {
    let character = zoo::character("bunny", None)?;
    let mut settings = Settings { preset: Some(Preset::Fat), ..Settings::default() };
    let setup = Setup { path: simd::Path::best(), settings: &settings, tets: None, progress: &mut |_| true };
    let deformer = method::prepare("position", &character, setup)?;
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(&character);

    let mut motion = Between {
        skeleton: character.skeleton(),
        start: 0.0,
        end: 1.0 / 60.0,
        from: posed_by_the_game(&character, 0.0),
        to: posed_by_the_game(&character, 1.0 / 60.0),
    };
    // The first step is the start; it settles there.
    instance.step(&motion, 0.0, &mut shape, &mut |_| {});
    for frame in 1..=60 {
        if frame == 30 {
            // Numbers may change while it plays; what the preparation rests on may not.
            settings.preset = Some(Preset::Muscle);
            instance.tune(&settings)?;
        }
        let health = instance.step(&motion, motion.end, &mut shape, &mut |_| {});
        if health.held > 0 {
            eprintln!("frame {frame}: {} nodes were held at their skinned places", health.held);
        }
        // `shape.positions` and `shape.normals` go to the GPU, in the order of the character's vertices.
        motion.start = motion.end;
        motion.end = f64::from(frame + 1) / 60.0;
        std::mem::swap(&mut motion.from, &mut motion.to);
        motion.to = posed_by_the_game(&character, motion.end);
    }
    let highest = shape.positions.iter().map(|p| p.y).fold(f32::MIN, f32::max);
    println!("{} vertices, the highest at {highest:.3}", shape.positions.len());
    Ok(())
}
