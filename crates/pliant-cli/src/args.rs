//! What can be said on the command line.

use crate::command::bench::{EMBED, STRAIN, TETS};
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use pliant::body::Fineness;
use pliant::method::{NAMES, Preset, Skinning};
use pliant::{simd, zoo};
use pliant_kit::input;
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
    #[command(after_help = "\
Examples:
  pliant inspect character.glb --json
  pliant inspect character.glb --motion walk.bvh")]
    Inspect(InspectArgs),
    /// Deform a character through a motion and write the result.
    #[command(after_help = "\
Examples:
  pliant bake character.glb -o soft.glb --report report.html
  pliant bake character.glb --clip Run --method dqs --fps 60 -o run.npz
  pliant bake character.glb --clip Walk --loop -o walk.glb
  pliant bake character.glb --config soft.toml --preset muscle -o soft.glb
  pliant bake body.obj --skeleton body.mhskel --weights-file body.mhw -o body.glb
  pliant bake elephant.obj --skeleton elephant.tgf --motion elephant-anim.dmat -o elephant.glb
  pliant bake character.glb --motion walk.bvh --start 1 --end 3 -o walk.glb
  pliant bake walk.bvh -o walk.glb")]
    Bake(BakeArgs),
    /// Play one motion by several methods and show them side by side: measures, curves, pictures.
    #[command(after_help = "\
Examples:
  pliant compare character.glb -o comparison
  pliant compare character.glb --clip Run --methods lbs,dqs,position --preset fat -o comparison
  pliant compare character.glb --motion walk.bvh --start 1 --end 3 --frames 6 -o comparison
  pliant compare sample:cylinder --clip twist --methods lbs,volume -o comparison --json")]
    Compare(CompareArgs),
    /// Render a still of a character.
    #[command(after_help = "\
Examples:
  pliant picture character.glb --clip 0 --time 0.5 --view side --heat stretch -o p.png
  pliant picture character.glb --motion walk.bvh --time 50% -o walk.png
  pliant picture character.glb --show tets --cut x=0.4 -o inside.png
  pliant picture character.glb --method position --clip 0 --time 50% --show tets -o moved.png
  pliant picture character.glb --method strain --show frames -o fibres.png
  pliant picture character.glb --method metaballs --show balls -o balls.png")]
    Picture(PictureArgs),
    /// Fill a skin with tets: the body that soft flesh needs, and how good it is.
    #[command(after_help = "\
Examples:
  pliant tets character.glb -o body.mesh
  pliant tets scan.obj --target 20000 -o body.vtu
  pliant tets character.glb --json
  pliant picture character.glb --show tets --view side -o inside.png")]
    Tets(TetsArgs),
    /// Open the studio: a page in the browser where a character moves, and its flesh is felt for and changed.
    #[command(after_help = "\
Serves the page to this machine alone, at the address that it prints, until Ctrl-C.

Examples:
  pliant studio
  pliant studio character.glb
  pliant studio sample:octopus
  pliant studio body.obj --skeleton body.mhskel --weights-file body.mhw
  pliant studio character.glb --port 8080 --no-open")]
    Studio(StudioArgs),
    /// Time the kernels: the scalar reference beside the real path, in one run, best of several.
    #[command(after_help = "\
Examples:
  pliant bench --method lbs --sizes 34594,200000 --threads 1,2
  pliant bench --method position --sizes 14000,90000 --iterations 12
  pliant bench --method position --body body.mesh")]
    Bench(BenchArgs),
    /// Print the JSON schema of settings files.
    #[command(after_help = "Example: pliant schema > pliant.schema.json")]
    Schema,
    /// Print a shell completion script.
    #[command(after_help = "Example: pliant completions bash > /etc/bash_completion.d/pliant")]
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

/// What names a character: a file, and for an OBJ what rigs it.
#[derive(Args, Clone)]
pub(crate) struct InputArgs {
    /// Character: .glb, .gltf, .vrm, .obj, .bvh, or sample:NAME.
    #[arg(value_name = "F")]
    pub(crate) file: PathBuf,
    /// Skeleton of an OBJ: .tgf, .bvh or .mhskel.
    #[arg(long, value_name = "FILE")]
    pub(crate) skeleton: Option<PathBuf>,
    /// Skin weights (default: the file's own where it has any, else geodesic; for the method smooth, angle).
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) weights: Option<WeightsArg>,
    /// Skin weights of an OBJ: .dmat, .mhw or MakeHuman .json.
    #[arg(long, value_name = "FILE", requires = "skeleton")]
    pub(crate) weights_file: Option<PathBuf>,
    /// Tets to use as the body in place of making them: .mesh, .meshb, .node/.ele, .msh or .veg.
    #[arg(long, value_name = "FILE", value_parser = |p: &str| ending(p, &["mesh", "meshb", "node", "ele", "msh", "veg"]))]
    pub(crate) tets: Option<PathBuf>,
    /// Motion: a .bvh of any skeleton (motion capture), or for an OBJ a .dmat of bone transforms, 30 frames a second.
    #[arg(long, value_name = "FILE", value_parser = |p: &str| ending(p, &["bvh", "dmat"]))]
    pub(crate) motion: Option<PathBuf>,
    /// Which joint of a .bvh moves which of the character's, where names do not tell: lines
    /// "joint of the motion" = "joint of the character", "" for none.
    #[arg(long, value_name = "MAP.toml", requires = "motion", value_parser = |p: &str| ending(p, &["toml"]))]
    pub(crate) map: Option<PathBuf>,
    /// How fast --motion is played: 2 is twice as fast.
    #[arg(long, value_name = "N", requires = "motion", allow_negative_numbers = true, value_parser = |t: &str| number(t, 1e-3, 1e3))]
    pub(crate) speed: Option<f64>,
}

/// Where skin weights come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WeightsArg {
    /// Stiff between joints, shared at them; distances inside the body.
    Segment,
    /// Smooth; distances inside the body, so that neighbouring limbs do not mix.
    Geodesic,
    /// Smooth; distances in straight lines, no body needed.
    Distance,
    /// From the angles at the joints: what `smooth` was made for.
    Angle,
    /// The file's own; an error where it has none.
    File,
}

/// How fine a body is to be.
#[derive(Args)]
pub(crate) struct FinenessArgs {
    /// About so many tets (default: 8000).
    #[arg(long, value_name = "N", conflicts_with = "cell")]
    pub(crate) target: Option<usize>,
    /// Lattice cells of this edge, in the character's units.
    #[arg(long, value_name = "LENGTH", allow_negative_numbers = true)]
    pub(crate) cell: Option<f64>,
}

impl FinenessArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.target.is_some() || self.cell.is_some()
    }

    pub(crate) fn fineness(&self) -> Fineness {
        let cell = self.cell.map(Fineness::Cell);
        cell.or(self.target.map(Fineness::Tets)).unwrap_or_default()
    }
}

/// A method, and how flesh is to behave.
#[derive(Args)]
pub(crate) struct SettingsArgs {
    /// How to deform (default: as --config says, else lbs).
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(NAMES))]
    pub(crate) method: Option<String>,
    #[command(flatten)]
    pub(crate) flesh: FleshArgs,
}

/// How flesh is to behave, whatever the method.
#[derive(Args)]
pub(crate) struct FleshArgs {
    /// Settings: clock, stiffness, soft regions (`pliant schema` has all keys).
    #[arg(long, value_name = "C.toml", value_parser = |p: &str| ending(p, &["toml"]))]
    pub(crate) config: Option<PathBuf>,
    /// Tissue of the whole body; regions of --config still count.
    #[arg(long, value_enum, value_name = "TISSUE")]
    pub(crate) preset: Option<PresetArg>,
    /// What skins under the methods volume and position (default: as --config says, else lbs).
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) skinning: Option<SkinningArg>,
    /// Part skin that has passed through itself at bent joints, or into another limb (default: with volume and metaballs).
    #[arg(long, value_name = "on|off", value_parser = on_or_off, num_args = 0..=1, default_missing_value = "on")]
    pub(crate) overlap: Option<bool>,
    /// Metres that one unit of the character is long (default: 1; of OBJ and BVH what makes a human body 1.7 m tall).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = |t: &str| number(t, 1e-6, 1e6))]
    pub(crate) metres_per_unit: Option<f64>,
    /// Method strain: gravity is on, and the rest shape is what it has made of the flesh.
    #[arg(long)]
    pub(crate) settled: bool,
}

/// How bones move what has weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SkinningArg {
    /// Linear blend skinning.
    Lbs,
    /// Dual quaternion skinning.
    Dqs,
    /// Bones blended along the arc about their joint.
    Smooth,
}

impl From<SkinningArg> for Skinning {
    fn from(skinning: SkinningArg) -> Self {
        match skinning {
            SkinningArg::Lbs => Self::Lbs,
            SkinningArg::Dqs => Self::Dqs,
            SkinningArg::Smooth => Self::Smooth,
        }
    }
}

fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("'on' or 'off' is needed".to_owned()),
    }
}

/// Tissues that people know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetArg {
    /// Follows the bones; joints keep their volume, nothing swings.
    Firm,
    /// Tense muscle: a short, small swing.
    Muscle,
    /// Belly and cheeks: two or three swings.
    Fat,
    /// Swings long and far.
    Jelly,
}

impl From<PresetArg> for Preset {
    fn from(preset: PresetArg) -> Self {
        match preset {
            PresetArg::Firm => Self::Firm,
            PresetArg::Muscle => Self::Muscle,
            PresetArg::Fat => Self::Fat,
            PresetArg::Jelly => Self::Jelly,
        }
    }
}

#[derive(Args)]
pub(crate) struct TetsArgs {
    /// Skin: .glb, .gltf, .vrm, .obj (no skeleton needed), or sample:NAME.
    #[arg(value_name = "F")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) fineness: FinenessArgs,
    /// Where to write: .mesh, .meshb, .node or .ele (both are written), .msh, .veg or .vtu (default: nowhere).
    #[arg(short, long, value_name = "OUT", value_parser = |p: &str| ending(p, &["mesh", "meshb", "node", "ele", "msh", "veg", "vtu"]))]
    pub(crate) output: Option<PathBuf>,
    /// Machine-readable.
    #[arg(long)]
    pub(crate) json: bool,
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
pub(crate) struct StudioArgs {
    /// Character to begin with: .glb, .gltf, .vrm, .obj, .bvh, or sample:NAME (default: the page has some to choose from).
    #[arg(value_name = "F")]
    pub(crate) file: Option<PathBuf>,
    /// Skeleton of an OBJ: .tgf, .bvh or .mhskel.
    #[arg(long, value_name = "FILE", requires = "file")]
    pub(crate) skeleton: Option<PathBuf>,
    /// Skin weights of an OBJ: .dmat, .mhw or MakeHuman .json.
    #[arg(long, value_name = "FILE", requires = "skeleton")]
    pub(crate) weights_file: Option<PathBuf>,
    /// Port to serve the page on (default: 0, any that is free).
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Print the address and open no browser.
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// Which moments of a clip.
#[derive(Args)]
pub(crate) struct SpanArgs {
    /// Frames a second (default: 30, or the recording's own rate).
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = |t: &str| number(t, 1e-3, 1e5))]
    pub(crate) fps: Option<f64>,
    /// Start, in seconds of the clip (of --motion, as recorded). Soft flesh still moves from the clip's start on: frames are those of the whole clip.
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = |t: &str| number(t, 0.0, 1e9))]
    pub(crate) start: Option<f64>,
    /// End, in seconds of the clip (of --motion, as recorded).
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = |t: &str| number(t, 0.0, 1e9))]
    pub(crate) end: Option<f64>,
}

#[derive(Args)]
pub(crate) struct BakeArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Motion: a name, an index from 0, or `all` (default: the first; the default pose where there is none).
    #[arg(long, value_name = "NAME|INDEX|all")]
    pub(crate) clip: Option<String>,
    #[command(flatten)]
    pub(crate) span: SpanArgs,
    /// Play the clip as a cycle until it ends as it began, and write one whole cycle: its last frame is its first (moved
    /// along, where the character travels). Of several clips each is a cycle of its own; --fps is the nearest rate at
    /// which a cycle is a whole number of frames; a file without motion is written as ever.
    #[arg(long = "loop", conflicts_with_all = ["start", "end", "rest"])]
    pub(crate) cycle: bool,
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

/// All methods, or all clips.
const ALL: &str = "all";

/// Which frames a comparison shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The worst by each measure.
    Worst,
    /// So many, spread evenly.
    Even(usize),
}

#[derive(Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Which methods, in the order in which they are shown: all, or names with commas. All get the same skin weights.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_value = ALL, value_parser = PossibleValuesParser::new(NAMES.into_iter().chain([ALL])))]
    pub(crate) methods: Vec<String>,
    #[command(flatten)]
    pub(crate) flesh: FleshArgs,
    /// Motion: a name or an index from 0 (default: the first; the default pose where there is none).
    #[arg(long, value_name = "NAME|INDEX")]
    pub(crate) clip: Option<String>,
    #[command(flatten)]
    pub(crate) span: SpanArgs,
    /// Pictures: of the worst frame by each measure, or of so many frames spread evenly.
    #[arg(long, value_name = "worst|N", default_value = "worst", value_parser = parse_shown)]
    pub(crate) frames: Shown,
    /// Folder for index.html and results.json; made where it is not there. Other files in it stay.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Print results.json.
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

/// What to draw that is under the skin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    /// The bones, over the skin.
    Skeleton,
    /// The body's tets, cut open: at rest (an OBJ needs no skeleton), or those of a --method that has tets, with --time moved.
    Tets,
    /// The axes of the flesh along its fibres (red) and across (green, blue), through the skin.
    Frames,
    /// The flesh that bones hold, each in a colour of its own, and free nodes in grey, through the skin.
    Pins,
    /// The balls that fill the flesh, each in its bone's colour, and the springs between them.
    Balls,
}

/// What a body is cut open by: a plane across an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cut {
    /// 0 to 2 for x to z; the axis nearest to the view's where none is said.
    pub(crate) axis: Option<usize>,
    /// How much of the flesh is taken away, from the camera's side, 0 to 1.
    pub(crate) share: f64,
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
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
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
    #[command(flatten)]
    pub(crate) fineness: FinenessArgs,
    /// Where --show tets cuts the body open: an axis and the share of the flesh that is taken away, such as x=0.3 or
    /// z, or none (default: half of it, across the view).
    #[arg(long, value_name = "AXIS[=SHARE]|none", value_parser = parse_cut)]
    pub(crate) cut: Option<Cut>,
    /// Width and height in pixels (of each picture on a sheet of all views).
    #[arg(long, default_value = "1024x1024", value_name = "WxH", value_parser = parse_size)]
    pub(crate) size: (u32, u32),
    /// Where to write the PNG.
    #[arg(short, long, value_name = "P.png", value_parser = |p: &str| ending(p, &["png"]))]
    pub(crate) output: PathBuf,
}

#[derive(Args)]
pub(crate) struct BenchArgs {
    /// A method, `embed` (the skin from its tets) or `tets` (the tets from a skin) (default: all).
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(NAMES.into_iter().filter(|n| *n != STRAIN).chain([STRAIN, EMBED, TETS])))]
    pub(crate) method: Option<String>,
    /// Sizes in vertices; of `tets`, `position` and `strain`, in tets (default: 8620,24461,34594,200000; 7000,90000;
    /// 5000,14000,90000; 5000,14000,90000,250000).
    #[arg(long, value_delimiter = ',', value_name = "N,...", value_parser = |t: &str| whole(t, 1, 20_000_000))]
    pub(crate) sizes: Option<Vec<usize>>,
    /// Solver iterations of `position` and `strain`, which are a tick's projection on a bar of tets that is bent and
    /// twisted (default: 12; 10). Stiffness per iteration stays that of the default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) iterations: Option<u32>,
    /// Leave out the constraints of `position` that bind nodes to the bar's axis.
    #[arg(long)]
    pub(crate) no_bind: bool,
    /// Leave out the constraints of `strain` that keep volumes.
    #[arg(long)]
    pub(crate) no_volume: bool,
    /// Tets for `position` and `strain` in place of bars: .mesh, .meshb, .node/.ele, .msh or .veg.
    #[arg(long, value_name = "FILE", conflicts_with = "sizes", value_parser = |p: &str| ending(p, &["mesh", "meshb", "node", "ele", "msh", "veg"]))]
    pub(crate) body: Option<PathBuf>,
    /// In place of all that: the table of the paper that `position` (or `strain` or `metaballs`, with --method) comes from, on
    /// the built-in characters.
    #[arg(long, conflicts_with_all = ["sizes", "iterations", "no_bind", "no_volume", "body", "save"])]
    pub(crate) table: bool,
    /// In place of all that: how the layers of `strain` converge on the built-in leg, and from where a body comes back.
    #[arg(long, conflicts_with_all = ["table", "method", "sizes", "iterations", "no_bind", "no_volume", "body", "save"])]
    pub(crate) curves: bool,
    /// Write the bodies of `position` and `strain`, at rest and bent, to a folder, for others to be measured with.
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Machine-readable.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Command {
    /// What is wrong with options that are right each by itself.
    pub(crate) fn misuse(&self) -> Option<String> {
        match self {
            Self::Bake(args) => args.misuse(),
            Self::Compare(args) => args.misuse(),
            Self::Inspect(args) => args.input.misuse(),
            Self::Picture(args) => args.misuse(),
            _ => None,
        }
    }
}

impl InputArgs {
    fn misuse(&self) -> Option<String> {
        let computed = self.weights.is_some_and(|w| w != WeightsArg::File);
        if computed && self.weights_file.is_some() {
            return Some("--weights-file goes with --weights file, or without --weights".to_owned());
        }
        let is_recording = self.motion.as_ref().is_some_and(|file| input::extension(file) == "bvh");
        if self.motion.is_some() && !is_recording && self.skeleton.is_none() {
            return Some("--motion with a .dmat goes with --skeleton".to_owned());
        }
        (self.map.is_some() && !is_recording).then(|| "--map goes with --motion and a .bvh".to_owned())
    }
}

impl SpanArgs {
    fn misuse(&self) -> Option<String> {
        let (start, end) = (self.start.unwrap_or(0.0), self.end.unwrap_or(f64::INFINITY));
        (start > end).then(|| format!("--start {start} is after --end {end}"))
    }
}

impl BakeArgs {
    fn misuse(&self) -> Option<String> {
        self.span.misuse().or_else(|| self.input.misuse())
    }
}

impl CompareArgs {
    /// The methods by name, each once, as they were asked for.
    pub(crate) fn methods(&self) -> Vec<&'static str> {
        let wants = |name: &str| self.methods.iter().any(|m| m == name);
        if wants(ALL) {
            return NAMES.to_vec();
        }
        let place = |name: &&str| self.methods.iter().position(|m| m == name);
        let mut chosen: Vec<_> = NAMES.into_iter().filter(|name| wants(name)).collect();
        chosen.sort_by_key(place);
        chosen
    }

    fn misuse(&self) -> Option<String> {
        let several = self.clip.as_deref() == Some(ALL);
        let several = several.then(|| "--clip all: one motion is compared at a time".to_owned());
        several.or_else(|| self.span.misuse()).or_else(|| self.input.misuse())
    }
}

impl PictureArgs {
    /// The moment to show; none at rest.
    pub(crate) fn moment(&self) -> Option<Moment> {
        self.time.or(self.clip.is_some().then_some(Moment::Seconds(0.0)))
    }

    fn misuse(&self) -> Option<String> {
        let name = match self.show {
            Some(Show::Tets) => "tets",
            Some(Show::Frames) => "frames",
            Some(Show::Pins) => "pins",
            Some(Show::Balls) => "balls",
            Some(Show::Skeleton) | None => {
                let inside = self.fineness.is_given() || self.cut.is_some();
                let message = || "--target, --cell and --cut go with --show tets".to_owned();
                return inside.then(message).or_else(|| self.input.misuse());
            }
        };
        if self.cut.is_some() && self.show != Some(Show::Tets) {
            return Some("--cut goes with --show tets".to_owned());
        }
        if self.heat != HeatArg::None {
            return Some(format!("--show {name} has no colours of its own to give: leave out --heat"));
        }
        (self.input.tets.is_some() && self.fineness.is_given())
            .then(|| "--tets is a body as it is: leave out --target and --cell".to_owned())
    }
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

fn parse_shown(text: &str) -> Result<Shown, String> {
    if text == "worst" {
        return Ok(Shown::Worst);
    }
    whole(text, 1, 100)
        .map(Shown::Even)
        .map_err(|_| "must be worst, or a whole number from 1 to 100".to_owned())
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

fn parse_cut(text: &str) -> Result<Cut, String> {
    if text == "none" {
        return Ok(Cut { axis: None, share: 0.0 });
    }
    let (axis, share) = text.split_once('=').map_or((text, None), |(a, s)| (a, Some(s)));
    let axis = ["x", "y", "z"].iter().position(|known| *known == axis);
    let axis = axis.ok_or("must be x, y or z, with a share such as x=0.3, or none")?;
    let share = share.map_or(Ok(0.5), |share| number(share, 0.0, 1.0))?;
    Ok(Cut { axis: Some(axis), share })
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let bad = || format!("'{text}' is not a size such as 1280x720, each side from 16 to 8192");
    let (width, height) = text.split_once('x').ok_or_else(bad)?;
    let side = |s: &str| s.parse::<u32>().ok().filter(|n| (16..=8192).contains(n)).ok_or_else(bad);
    Ok((side(width)?, side(height)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    /// Whatever the documents tell people to type is understood: lines of shell blocks in the README and the book.
    #[test]
    fn commands_in_the_documents_are_right() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut pages = vec![root.join("README.md")];
        pages.extend(std::fs::read_dir(root.join("docs/book")).unwrap().map(|entry| entry.unwrap().path()));
        let mut count = 0;
        for page in pages {
            let text = std::fs::read_to_string(&page).unwrap();
            let blocks = text.split("```sh\n").skip(1).filter_map(|block| block.split("```").next());
            for line in blocks.flat_map(str::lines).filter(|line| line.starts_with("pliant ")) {
                // A remark is no argument, nor is where the output goes; `#` alone may be in a name.
                let command = line.split(" #").next().and_then(|l| l.split(" > ").next()).unwrap_or(line);
                let parsed = Cli::try_parse_from(command.split_whitespace());
                let misuse = parsed.map(|cli| cli.command.misuse());
                assert!(matches!(misuse, Ok(None)), "{}: {line}", page.display());
                count += 1;
            }
        }
        assert!(count > 30, "{count}");
    }
}
