//! What can be said on the command line.

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use pliant::method::NAMES;
use pliant::{simd, zoo};
use std::path::PathBuf;

/// Soft, volume-keeping skin for skeleton-driven characters.
#[derive(Parser)]
#[command(
    name = "pliant",
    version,
    arg_required_else_help = true,
    propagate_version = true,
    after_help = "\
A complete example:
  pliant sample human -o human.glb
  pliant bake human.glb --clip walk --method dqs -o soft.glb --report report.html
  pliant picture human.glb --clip walk --time 0.4 --method dqs -o still.png

Anywhere a character is read, `sample:NAME` stands for a built-in one: pliant picture sample:octopus -o o.png

Exit codes: 0 done, 1 input that cannot be used, 2 wrong usage, 3 written but with frames flagged."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Options of every command.
#[derive(Args)]
pub(crate) struct Common {
    /// Threads to use (default: one per core; `bench` takes several: 1,2). Never changes the result.
    #[arg(long, global = true, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Vec<u16>,
    /// Instructions to use: scalar, sse, avx2, avx512 (default: the fastest here). Never changes the result.
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) simd: Option<simd::Path>,
    /// No progress and no warnings.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Write a built-in sample character.
    #[command(after_help = "Example: pliant sample octopus --vertices 20000 -o octopus.glb")]
    Sample(SampleArgs),
    /// Say what is in a file, and what will not work, before anything runs.
    #[command(after_help = "Example: pliant inspect character.glb --json")]
    Inspect(InspectArgs),
    /// Deform a character through a motion and write the result.
    #[command(after_help = "\
Examples:
  pliant bake character.glb -o soft.glb --report report.html
  pliant bake character.glb --clip Run --method dqs --fps 60 -o run.npz
  pliant bake body.obj --skeleton body.mhskel --weights-file body.mhw -o body.glb
  pliant bake elephant.obj --skeleton elephant.tgf --motion elephant-anim.dmat -o elephant.glb
  pliant bake walk.bvh -o walk.glb")]
    Bake(BakeArgs),
    /// Render a still of a character.
    #[command(
        after_help = "Example: pliant picture character.glb --clip 0 --time 0.5 --view side --heat stretch -o p.png"
    )]
    Picture(PictureArgs),
    /// Time the kernels: the scalar reference beside the real path, in one run, best of several.
    #[command(after_help = "Example: pliant bench --method lbs --sizes 34594,200000 --threads 1,2")]
    Bench(BenchArgs),
    /// Print a shell completion script.
    #[command(after_help = "Example: pliant completions bash > /etc/bash_completion.d/pliant")]
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

/// What names a character: a file, and for an OBJ what rigs it.
#[derive(Args)]
pub(crate) struct InputArgs {
    /// Character: .glb, .gltf, .vrm, .obj, .bvh, or sample:NAME.
    #[arg(value_name = "F")]
    pub(crate) file: PathBuf,
    /// Skeleton of an OBJ: .tgf, .bvh or .mhskel.
    #[arg(long, value_name = "FILE")]
    pub(crate) skeleton: Option<PathBuf>,
    /// Skin weights of an OBJ: .dmat, .mhw or MakeHuman .json (default: by distance to the bones).
    #[arg(long, value_name = "FILE", requires = "skeleton")]
    pub(crate) weights_file: Option<PathBuf>,
    /// Motion of an OBJ's skeleton: a .dmat of bone transforms, 30 frames a second.
    #[arg(long, value_name = "FILE", requires = "skeleton", value_parser = |p: &str| ending(p, &["dmat"]))]
    pub(crate) motion: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct SampleArgs {
    /// Which one; see --list.
    #[arg(required_unless_present = "list")]
    pub(crate) name: Option<String>,
    /// List the samples and their motions.
    #[arg(long, conflicts_with_all = ["name", "vertices", "output"])]
    pub(crate) list: bool,
    /// How many vertices, exactly.
    #[arg(long, value_name = "N", value_parser = |t: &str| whole(t, zoo::MIN_VERTICES, zoo::MAX_VERTICES))]
    pub(crate) vertices: Option<usize>,
    /// Where to write the GLB.
    #[arg(short, long, value_name = "OUT.glb", required_unless_present = "list", value_parser = |p: &str| ending(p, &["glb"]))]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Machine-readable.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct BakeArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// How to deform.
    #[arg(long, default_value = "lbs", value_name = "NAME", value_parser = PossibleValuesParser::new(NAMES))]
    pub(crate) method: String,
    /// Motion: a name, an index from 0, or `all` (default: the first; the default pose where there is none).
    #[arg(long, value_name = "NAME|INDEX|all")]
    pub(crate) clip: Option<String>,
    /// Frames a second (default: 30, or the recording's own rate).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = |t: &str| number(t, 1e-3, 1e5))]
    pub(crate) fps: Option<f64>,
    /// Start, in seconds of the clip.
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = |t: &str| number(t, 0.0, 1e9))]
    pub(crate) start: Option<f64>,
    /// End, in seconds of the clip.
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = |t: &str| number(t, 0.0, 1e9))]
    pub(crate) end: Option<f64>,
    /// The rest pose alone.
    #[arg(long, conflicts_with_all = ["clip", "start", "end", "fps"])]
    pub(crate) rest: bool,
    /// Where to write: .glb, .pc2, .mdd, .obj (one file a frame) or .npz.
    #[arg(short, long, value_name = "OUT", value_parser = |p: &str| ending(p, &["glb", "pc2", "mdd", "obj", "npz"]))]
    pub(crate) output: PathBuf,
    /// Also write a report: .json, or .html with curves and pictures.
    #[arg(long, value_name = "R", value_parser = |p: &str| ending(p, &["json", "html"]))]
    pub(crate) report: Option<PathBuf>,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Side of the picture's camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViewArg {
    Front,
    Side,
    Back,
    Quarter,
    /// All four, on one sheet.
    All,
}

/// What to draw over the skin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    Skeleton,
}

/// A moment of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Moment {
    Seconds(f64),
    /// Of the clip's length, 0 to 1.
    Part(f64),
}

/// What to colour by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeatArg {
    None,
    Stretch,
    Volume,
}

#[derive(Args)]
pub(crate) struct PictureArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// How to deform.
    #[arg(long, default_value = "lbs", value_name = "NAME", value_parser = PossibleValuesParser::new(NAMES))]
    pub(crate) method: String,
    /// Motion: a name or an index from 0 (default: the first).
    #[arg(long, value_name = "NAME|INDEX")]
    pub(crate) clip: Option<String>,
    /// Moment, in seconds of the clip or in percent, such as 50% (default: the rest pose).
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = parse_moment)]
    pub(crate) time: Option<Moment>,
    /// From where.
    #[arg(long, value_enum, default_value = "quarter")]
    pub(crate) view: ViewArg,
    /// Colour by a measure.
    #[arg(long, value_enum, default_value = "none")]
    pub(crate) heat: HeatArg,
    /// Draw the triangles' edges.
    #[arg(long)]
    pub(crate) edges: bool,
    /// Draw what is under the skin.
    #[arg(long, value_enum)]
    pub(crate) show: Option<Show>,
    /// Width and height in pixels (of each picture on a sheet of all views).
    #[arg(long, default_value = "1024x1024", value_name = "WxH", value_parser = parse_size)]
    pub(crate) size: (u32, u32),
    /// Where to write the PNG.
    #[arg(short, long, value_name = "P.png", value_parser = |p: &str| ending(p, &["png"]))]
    pub(crate) output: PathBuf,
}

#[derive(Args)]
pub(crate) struct BenchArgs {
    /// Method (default: all).
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(NAMES))]
    pub(crate) method: Option<String>,
    /// Sizes in vertices.
    #[arg(long, value_delimiter = ',', default_value = "8620,24461,34594,200000", value_name = "N,...", value_parser = |t: &str| whole(t, 1, 20_000_000))]
    pub(crate) sizes: Vec<usize>,
    /// Machine-readable.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A number within limits.
fn number(text: &str, low: f64, high: f64) -> Result<f64, String> {
    let parsed = text.parse::<f64>().ok().filter(|n| (low..=high).contains(n));
    parsed.ok_or_else(|| format!("must be a number from {low} to {high}"))
}

fn parse_moment(text: &str) -> Result<Moment, String> {
    match text.strip_suffix('%') {
        Some(percent) => Ok(Moment::Part(number(percent, 0.0, 100.0)? / 100.0)),
        None => Ok(Moment::Seconds(number(text, 0.0, 1e9)?)),
    }
}

/// A whole number within limits.
fn whole(text: &str, low: usize, high: usize) -> Result<usize, String> {
    let parsed = text.parse::<usize>().ok().filter(|n| (low..=high).contains(n));
    parsed.ok_or_else(|| format!("must be a whole number from {low} to {high}"))
}

/// A path that ends in one of these.
fn ending(text: &str, known: &[&str]) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let found = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    if known.contains(&&found[..]) {
        return Ok(path);
    }
    Err(format!("its name must end in .{}", known.join(" or .")))
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let bad = || format!("'{text}' is not a size such as 1280x720, each side from 16 to 8192");
    let (width, height) = text.split_once('x').ok_or_else(bad)?;
    let side = |s: &str| s.parse::<u32>().ok().filter(|n| (16..=8192).contains(n)).ok_or_else(bad);
    Ok((side(width)?, side(height)?))
}
