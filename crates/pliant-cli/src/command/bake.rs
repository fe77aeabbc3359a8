//! `pliant bake`: sample pose, step, check, measure, write.

mod record;
mod writer;

use crate::Outcome;
use crate::args::{BakeArgs, Common};
use crate::report;
use crate::report::Balls;
use crate::shell;
use crate::terminal::{say, shown};
use anyhow::{Context, Result, ensure};
use pliant::asset::Clip;
use pliant::measure::{Judge, Options, TetJudge};
use pliant::method::Shape;
use pliant_io::Warning;
use pliant_io::files::{ReadyFile, WholeFile, commit};
use pliant_kit::drive::{CLOSED, Cycle, Drive, Sink};
use pliant_kit::host::Host;
use pliant_kit::input::{Input, extension};
use pliant_kit::motion::{self, Schedule};
use pliant_kit::wishes::Task;
use pliant_kit::{clock, prepare};
use record::{Circumstances, Record};
use std::io::Write;
use std::path::PathBuf;
use writer::Writer;

/// One motion to bake.
struct Take {
    /// The character's clip; none for a still.
    clip: Option<usize>,
    name: String,
    schedule: Schedule,
}

pub(crate) fn run(args: &BakeArgs, common: &Common) -> Result<Outcome> {
    let wishes = args.settings.wishes()?;
    let Task { input, settings, method } = wishes.open(&args.input.request(), common)?;
    shell::warn(&input.warnings, common);
    let takes = takes(&input, args, common)?;
    let mut writer = Writer::create(&input, &takes, args, common)?;
    let report_file = args
        .report
        .as_ref()
        .map(|path| WholeFile::create(path).with_context(|| shown(path)).map(|file| (path, file)));
    let report_file = report_file.transpose()?;

    let started = clock::milliseconds();
    let deformer = prepare(&method, &settings, &input, common.path(), common)?;
    let deformer = &*deformer;
    let mut about = Circumstances {
        method,
        prepare_ms: clock::milliseconds() - started,
        preroll_ms: 0.0,
        balls: deformer.packing().map(|p| Balls::new(&p, input.character.diagonal())),
        cycles: vec![],
        warnings: input.warnings.iter().map(ToString::to_string).collect(),
    };
    let mut odd = input.unused_tets(deformer);
    odd.extend(deformer.warnings().iter().cloned());

    let steps = takes.iter().map(|take| Drive::steps(deformer, &take.schedule)).sum();
    let mut progress = common.progress("preparing", steps);
    let wants_report = report_file.is_some() || args.json;
    let judge = wants_report.then(|| Judge::new(&input.character, Options::default()));
    let tets = deformer.body().map(|body| TetJudge::new(&input.character, body));
    progress.now("baking");
    let mut record = Record::new(judge.as_ref(), tets.as_ref());
    for take in &takes {
        let clip = take.clip.map(|index| &input.character.clips()[index]);
        let mut drive = Drive::new(&input.character, deformer);
        let sink: Sink = &mut |frame| {
            check_finite(frame.shape, &input, &take.name, frame.time)?;
            record.frame(&take.name, &frame);
            writer.push(frame.shape)
        };
        match clip {
            _ if args.rest => drive.rest(&mut *progress, sink)?,
            Some(clip) if args.cycle && take.schedule.times.len() > 1 => {
                let cycle = drive.cycle(clip, &take.schedule, &mut *progress, sink)?;
                odd.extend(unclosed(&take.name, &cycle));
                about.cycles.push(cycle);
            }
            clip => drive.play(clip, &take.schedule, &mut *progress, sink)?,
        }
        about.preroll_ms += drive.preroll_ms;
    }
    progress.now("reporting");
    let flagged = record.flagged();
    odd.extend(flagged.clone());
    about.warnings.extend(odd.iter().cloned());
    let report = match &judge {
        Some(judge) => Some(record.report(&input, judge, &takes, args, about)?),
        None => None,
    };
    drop(progress);

    let mut ready = writer.ready;
    if let (Some((path, mut file)), Some((report, pictures))) = (report_file, &report) {
        let is_page = extension(path) == "html";
        let text = if is_page { report::html(report, pictures) } else { report.json()? };
        file.write_all(text.as_bytes()).with_context(|| shown(path))?;
        ready.push(file.ready().with_context(|| shown(path))?);
    }
    // All work is done: now the files appear.
    args.input.check_not_among(ready.iter().map(ReadyFile::path))?;
    let written = commit(ready)?;
    if !common.quiet {
        odd.iter().for_each(|odd| say(&format!("warning: {odd}")));
    }
    match &report {
        Some((report, _)) if args.json => writeln!(std::io::stdout(), "{}", report.json()?)?,
        _ if common.quiet => {}
        _ => say(&format!("wrote {}", described(&written))),
    }
    Ok(if flagged.is_some() { Outcome::Flagged } else { Outcome::Done })
}

/// What keeps a cycle from being a clean loop, in words.
fn unclosed(clip: &str, cycle: &Cycle) -> Vec<String> {
    let percent = |share: f64| format!("{:.2} % of the character's size", 100.0 * share);
    let mut odd = Vec::new();
    if cycle.seam > CLOSED {
        odd.push(format!(
            "--loop: '{clip}' ends in another pose than it begins with, so that it jumps by {} at the seam",
            percent(cycle.seam)
        ));
    }
    if cycle.cycles > 0 && cycle.closes_within > CLOSED {
        odd.push(format!(
            "--loop: '{clip}' does not close: after {} cycles flesh is still {} off from one cycle to the next",
            cycle.cycles,
            percent(cycle.closes_within)
        ));
    }
    odd
}

fn takes(input: &Input, args: &BakeArgs, common: &Common) -> Result<Vec<Take>> {
    let clips = input.character.clips();
    let chosen = if args.rest { vec![] } else { motion::choose(input, args.clip.as_deref())? };
    let mut room = motion::MAX_FRAMES;
    let warn = |option: &str, what: String| shell::warn(&[Warning::new(option, what, 1)], common);
    // A motion is cut as it was recorded, however fast it is played.
    let speed = args.input.speed.unwrap_or(1.0);
    let played = |seconds: Option<f64>| seconds.map(|s| s / speed);
    let mut take = |clip: Option<usize>| -> Result<Take> {
        let clip_or_none = clip.map(|i| &clips[i]);
        let schedule = match clip_or_none {
            Some(clip) if args.cycle => Schedule::cycle(clip, args.fps, room)?,
            clip => Schedule::new(clip, args.fps, played(args.start), played(args.end), room)?,
        };
        room -= schedule.times.len();
        let last = speed * clip_or_none.map_or(0.0, Clip::end);
        if let Some(end) = args.end.filter(|&end| end > last + 1e-6) {
            warn("--end", format!("{end} s is past the clip's end at {last} s"));
        }
        let name = match clip {
            Some(i) if !clips[i].name().is_empty() => clips[i].name().to_owned(),
            Some(i) => format!("clip {i}"),
            None if args.rest => "rest".to_owned(),
            None => "default pose".to_owned(),
        };
        if args.cycle && schedule.times.len() < 2 {
            warn("--loop", format!("'{name}' has no motion: it is written as it is"));
        }
        Ok(Take { clip, name, schedule })
    };
    if chosen.is_empty() {
        return Ok(vec![take(None)?]);
    }
    chosen.into_iter().map(|i| take(Some(i))).collect()
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
