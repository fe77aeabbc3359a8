//! `pliant bake`: sample pose, step, check, measure, write.

mod worst;
mod writer;

use crate::Outcome;
use crate::args::{BakeArgs, Common};
use crate::record::{Ready, Record, check_finite};
use crate::report;
use crate::shell;
use crate::take::Take;
use crate::terminal::{say, shown};
use anyhow::{Context, Result};
use pliant::measure::{Judge, Options};
use pliant_io::Warning;
use pliant_io::files::{ReadyFile, WholeFile, commit};
use pliant_kit::drive::{CLOSED, Cycle, Drive, Sink};
use pliant_kit::host::Host;
use pliant_kit::input::{Input, extension};
use pliant_kit::motion::{self, Schedule};
use pliant_kit::wishes::Task;
use std::io::Write;
use std::path::PathBuf;
use worst::Worst;
use writer::Writer;

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

    let Ready { deformer, tets, mut about, mut odd } = Ready::prepare(&method, &settings, &input, common)?;
    let deformer = &*deformer;

    let steps = takes.iter().map(|take| Drive::steps(deformer, &take.schedule)).sum();
    let mut progress = common.progress("preparing", steps);
    let shows_pictures = args.report.as_ref().is_some_and(|path| extension(path) == "html");
    let wants_report = report_file.is_some() || args.json;
    let judge = wants_report.then(|| Judge::new(&input.character, Options::default()));
    progress.now("baking");
    let mut record = Record::new(judge.as_ref(), tets.as_ref());
    let mut worst = None;
    for take in &takes {
        let mut drive = Drive::new(&input.character, deformer);
        let sink: Sink = &mut |frame| {
            check_finite(frame.shape, &input, &take.name, frame.time)?;
            let stretch = record.frame(&take.name, &frame);
            if shows_pictures {
                Worst::keep(&mut worst, stretch.unwrap_or(0.0), &frame);
            }
            writer.push(frame.shape)
        };
        match take.source(&input) {
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
        Some(judge) => {
            let pictures = worst.map(|worst| worst::pictures(&input, judge, &worst)).transpose()?;
            Some((record.report(&input, &takes, about)?, pictures.unwrap_or_default()))
        }
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
    if args.rest {
        let take = Take::cut(input, None, &args.span, None, motion::MAX_FRAMES, common)?;
        return Ok(vec![Take { name: "rest".to_owned(), ..take }]);
    }
    let chosen = motion::choose(input, args.clip.as_deref())?;
    let chosen = if chosen.is_empty() { vec![None] } else { chosen.into_iter().map(Some).collect() };
    let mut room = motion::MAX_FRAMES;
    let mut takes = Vec::new();
    for clip in chosen {
        let take = match clip.filter(|_| args.cycle) {
            Some(i) => {
                let schedule = Schedule::cycle(&input.character.clips()[i], args.span.fps, room)?;
                Take::new(input, clip, schedule)
            }
            None => Take::cut(input, clip, &args.span, args.input.speed, room, common)?,
        };
        room -= take.schedule.times.len();
        if args.cycle && take.schedule.times.len() < 2 {
            let what = format!("'{}' has no motion: it is written as it is", take.name);
            shell::warn(&[Warning::new("--loop", what, 1)], common);
        }
        takes.push(take);
    }
    Ok(takes)
}

fn described(written: &[PathBuf]) -> String {
    match written {
        [first, _, _, .., last] => format!("{} files, {} to {}", written.len(), shown(first), shown(last)),
        few => few.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", "),
    }
}
