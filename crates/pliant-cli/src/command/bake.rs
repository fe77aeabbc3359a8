//! `pliant bake`: sample pose, step, check, measure, write.

use crate::Outcome;
use crate::args::{BakeArgs, Common};
use crate::load::{self, Input};
use crate::motion::{self, Schedule};
use crate::picture::View;
use crate::portrait::{Heat, Portrait};
use crate::progress::Progress;
use crate::report::{self, Milliseconds, Report, Run, StateHash};
use crate::settings::{Task, Wishes};
use crate::terminal::{say, shown};
use anyhow::{Context, Result, ensure};
use pliant::asset::Clip;
use pliant::measure::{Judge, Options, Recorder};
use pliant::method::{self, Setup, Shape, Stage};
use pliant::rig::Pose;
use pliant::simd;
use pliant_io::Warning;
use pliant_io::cache::{self, FrameWriter};
use pliant_io::files::{ReadyFile, WholeFile, commit};
use pliant_io::gltf::{BakedClip, GlbBake};
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// One motion to bake.
struct Take {
    /// The character's clip; none for a still.
    clip: Option<usize>,
    name: String,
    schedule: Schedule,
}

pub(crate) fn run(args: &BakeArgs, common: &Common) -> Result<Outcome> {
    let wishes = Wishes::read(&args.settings)?;
    let Task { input, settings, method } = wishes.on(Input::open(&args.input, common)?)?;
    input.warn(common);
    let takes = takes(&input, args, common)?;
    let frames: usize = takes.iter().map(|t| t.schedule.times.len()).sum();
    let mut writer = Writer::create(&input, &takes, args, common)?;
    let report_file = args
        .report
        .as_ref()
        .map(|path| WholeFile::create(path).with_context(|| shown(path)).map(|file| (path, file)));
    let report_file = report_file.transpose()?;

    let started = Instant::now();
    let path = common.simd.unwrap_or_else(simd::Path::best);
    let setup = Setup { path, settings: &settings, tets: None, progress: &mut |_| true };
    let deformer = method::prepare(&method, &input.character, setup)?;
    let prepare_ms = milliseconds(started);

    let mut progress = Progress::new("preparing", frames, common.quiet);
    let wants_report = report_file.is_some() || args.json;
    let judge = wants_report.then(|| Judge::new(&input.character, Options::default()));
    progress.now("baking");
    let mut record = Record::new(judge.as_ref());
    let mut shape = Shape::rest(&input.character);
    for take in &takes {
        let clip = take.clip.map(|index| &input.character.clips()[index]);
        let mut instance = deformer.instance();
        let mut pose = Pose::rest(&input.character);
        for &time in &take.schedule.times {
            if !args.rest {
                pose.resample(&input.character, clip, time);
                record.ms.push(timed(|finished| _ = instance.step(&pose, time, &mut shape, finished)));
            }
            check_finite(&shape, &input, &take.name, time)?;
            record.frame(time, &pose, &shape);
            writer.push(&shape)?;
            progress.step();
        }
    }
    progress.now("reporting");
    let report = match &judge {
        Some(judge) => Some(record.report(&input, judge, &takes, args, &method, prepare_ms)?),
        None => None,
    };
    drop(progress);

    let mut ready = writer.ready;
    if let (Some((path, mut file)), Some((report, pictures))) = (report_file, &report) {
        let is_page = load::extension(path) == "html";
        let text = if is_page { report::html(report, pictures) } else { report.json()? };
        file.write_all(text.as_bytes()).with_context(|| shown(path))?;
        ready.push(file.ready().with_context(|| shown(path))?);
    }
    // All work is done: now the files appear.
    args.input.check_not_among(ready.iter().map(ReadyFile::path))?;
    let written = commit(ready)?;
    match &report {
        Some((report, _)) if args.json => writeln!(std::io::stdout(), "{}", report.json()?)?,
        _ if common.quiet => {}
        _ => say(&format!("wrote {}", described(&written))),
    }
    let flagged = report.is_some_and(|(report, _)| !report.flagged_frames.is_empty());
    Ok(if flagged { Outcome::Flagged } else { Outcome::Done })
}

fn takes(input: &Input, args: &BakeArgs, common: &Common) -> Result<Vec<Take>> {
    let clips = input.character.clips();
    let chosen = if args.rest { vec![] } else { motion::choose(&input.character, args.clip.as_deref())? };
    let mut room = motion::MAX_FRAMES;
    let mut take = |clip: Option<usize>| -> Result<Take> {
        let clip_or_none = clip.map(|i| &clips[i]);
        let schedule = Schedule::new(clip_or_none, args.fps, args.start, args.end, room)?;
        room -= schedule.times.len();
        if let Some(end) = args.end.filter(|&end| end > clip_or_none.map_or(0.0, Clip::end) + 1e-6) {
            let last = clip_or_none.map_or(0.0, Clip::end);
            load::warn(
                &[Warning::new("--end", format!("{end} s is past the clip's end at {last} s"), 1)],
                common,
            );
        }
        let name = match clip {
            Some(i) if !clips[i].name().is_empty() => clips[i].name().to_owned(),
            Some(i) => format!("clip {i}"),
            None if args.rest => "rest".to_owned(),
            None => "default pose".to_owned(),
        };
        Ok(Take { clip, name, schedule })
    };
    if chosen.is_empty() {
        return Ok(vec![take(None)?]);
    }
    chosen.into_iter().map(|i| take(Some(i))).collect()
}

/// Where the frames go: one GLB for all takes, or a cache for each. Files are opened one after the other.
struct Writer<'a> {
    input: &'a Input,
    /// For caches: what is to come, the next one last.
    ahead: Vec<(PathBuf, &'a Take)>,
    /// The writer that takes frames now, and how many more.
    open: Option<(Box<dyn FrameWriter>, usize)>,
    /// All there but for their names.
    ready: Vec<ReadyFile>,
}

impl<'a> Writer<'a> {
    fn create(input: &'a Input, takes: &'a [Take], args: &BakeArgs, common: &Common) -> Result<Self> {
        let output = &args.output;
        let named = || shown(output);
        let mut writer = Self { input, ahead: vec![], open: None, ready: vec![] };
        if cache::Format::of(output).is_some() {
            let paths = cache::named_paths(output, takes.iter().map(|t| &t.name[..]));
            writer.ahead = paths.into_iter().zip(takes).rev().collect();
            // What cannot be written should fail before anything is computed.
            writer.open_next()?;
        } else {
            let clips: Vec<BakedClip> = takes
                .iter()
                .map(|t| BakedClip { clip: t.clip, name: &t.name, times: &t.schedule.times })
                .collect();
            let sink = WholeFile::create(output).with_context(named)?;
            let files = input.files.as_ref();
            let (glb, warnings) =
                GlbBake::new(sink, &input.document, &input.character, files, &clips).with_context(named)?;
            load::warn(&warnings, common);
            let frames = takes.iter().map(|t| t.schedule.times.len()).sum();
            writer.open = Some((Box::new(glb), frames));
        }
        Ok(writer)
    }

    fn open_next(&mut self) -> Result<()> {
        if let Some((path, take)) = self.ahead.pop() {
            let format = cache::Format::of(&path).context("not a cache")?;
            let times = &take.schedule.times;
            let cache =
                cache::create(&path, format, &self.input.character, times).with_context(|| shown(&path))?;
            self.open = Some((cache, times.len()));
        }
        Ok(())
    }

    fn push(&mut self, shape: &Shape) -> Result<()> {
        let (writer, left) = self.open.as_mut().context("more frames than were announced")?;
        writer.push(shape)?;
        *left -= 1;
        if *left == 0
            && let Some((full, _)) = self.open.take()
        {
            self.ready.extend(full.finish()?);
            self.open_next()?;
        }
        Ok(())
    }
}

fn described(written: &[PathBuf]) -> String {
    match written {
        [first, _, _, .., last] => format!("{} files, {} to {}", written.len(), shown(first), shown(last)),
        few => few.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", "),
    }
}

fn check_finite(shape: &Shape, input: &Input, clip: &str, time: f64) -> Result<()> {
    let bad = shape.positions.iter().zip(&shape.normals).position(|(p, n)| !(p.is_finite() && n.is_finite()));
    if let Some(vertex) = bad {
        let joint = input.character.weights().of(vertex).next().map(|(slot, _)| {
            let joint = input.character.slots()[slot as usize].joint as usize;
            input.character.skeleton().joints()[joint].name.clone()
        });
        let joint = joint.unwrap_or_default();
        ensure!(
            false,
            "vertex {vertex} is not finite at {time} s of '{clip}': check joint '{joint}' of the input"
        );
    }
    Ok(())
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// How long a step takes, and its stages.
fn timed(step: impl FnOnce(&mut dyn FnMut(Stage))) -> Milliseconds {
    let started = Instant::now();
    let mut spent = Milliseconds::default();
    let mut last = started;
    step(&mut |stage| {
        let ms = match stage {
            Stage::Skin => &mut spent.skin,
            Stage::Solve => &mut spent.solve,
            Stage::Embed => &mut spent.embed,
        };
        *ms = Some(ms.unwrap_or(0.0) + milliseconds(last));
        last = Instant::now();
    });
    spent.total = milliseconds(started);
    spent
}

/// A caption and a PNG.
type Captioned = (String, Vec<u8>);

/// A frame worth a picture.
struct Worst {
    time: f64,
    stretch: f64,
    pose: Pose,
    shape: Shape,
}

/// What is kept of the frames as they go by.
struct Record<'a> {
    hash: StateHash,
    ms: Vec<Milliseconds>,
    recorder: Option<Recorder<'a>>,
    worst: Option<Worst>,
}

impl<'a> Record<'a> {
    fn new(judge: Option<&'a Judge>) -> Self {
        let recorder = judge.map(Judge::record);
        Self { hash: StateHash::default(), ms: vec![], recorder, worst: None }
    }

    /// Everything measured, and pictures if the report shows them.
    fn report(
        &mut self,
        input: &Input,
        judge: &Judge,
        takes: &[Take],
        args: &BakeArgs,
        method: &str,
        prepare_ms: f64,
    ) -> Result<(Report, Vec<Captioned>)> {
        let summary = self.recorder.take().map(Recorder::finish).context("nothing was measured")?;
        let character = &input.character;
        let run = Run {
            character: input.name.clone(),
            clip: Some(takes.iter().map(|t| &t.name[..]).collect::<Vec<_>>().join(", ")),
            method: method.to_owned(),
            weights: input.weights,
            fps: Some(takes[0].schedule.fps),
            takes: takes.iter().map(|t| (t.name.clone(), t.schedule.times.len())).collect(),
            vertices: character.surface().positions().len(),
            triangles: character.surface().triangles().len(),
            tets: None,
            threads: rayon::current_num_threads(),
            prepare_ms,
            ms: std::mem::take(&mut self.ms),
            joint_names: character.skeleton().joints().iter().map(|j| j.name.clone()).collect(),
            warnings: input.warnings.iter().map(ToString::to_string).collect(),
            state_hash: self.hash.hex(),
        };
        let shows_pictures = args.report.as_ref().is_some_and(|path| load::extension(path) == "html");
        let pictures = if shows_pictures { pictures(input, judge, self.worst.take())? } else { vec![] };
        Ok((Report::new(run, &summary), pictures))
    }

    fn frame(&mut self, time: f64, pose: &Pose, shape: &Shape) {
        let Some(recorder) = &mut self.recorder else { return };
        self.hash.frame(&shape.positions);
        let stretch = recorder.frame(time, pose, &shape.positions).edge_stretch.map_or(0.0, |s| s.max);
        if self.worst.as_ref().is_none_or(|w| stretch > w.stretch) {
            self.worst = Some(Worst { time, stretch, pose: pose.clone(), shape: shape.clone() });
        }
    }
}

/// Rest, worst frame, and what is wrong with it, by one camera.
fn pictures(input: &Input, judge: &Judge, worst: Option<Worst>) -> Result<Vec<Captioned>> {
    let Some(worst) = worst else { return Ok(vec![]) };
    let rest = Shape::rest(&input.character);
    let rest_pose = Pose::rest(&input.character);
    let portrait = Portrait::new(input, 640, 640, View::Quarter, false);
    let stretch = judge.stretch(&worst.pose, &worst.shape.positions);
    let volume = judge.volume_field(&worst.pose, &worst.shape.positions);
    let at = format!("most stretched frame, at {:.3} s", worst.time);
    let shot = |caption: &str, shape: &Shape, pose: &Pose, heat| -> Result<Captioned> {
        Ok((caption.to_owned(), portrait.take(shape, pose, heat)?.to_png()?))
    };
    let (shape, pose) = (&worst.shape, &worst.pose);
    Ok(vec![
        shot("rest", &rest, &rest_pose, None)?,
        shot(&at, shape, pose, None)?,
        shot(&format!("stretch, {at}"), shape, pose, Some((Heat::Stretch, &stretch[..])))?,
        shot(&format!("volume, {at}"), shape, pose, Some((Heat::Volume, &volume[..])))?,
    ])
}
