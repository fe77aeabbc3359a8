//! `pliant compare`: one motion by several methods, measured and shown side by side.

mod pictures;

use crate::Outcome;
use crate::args::{Common, CompareArgs, Shown};
use crate::picture::View;
use crate::portrait::Portrait;
use crate::record::{Ready, Record, check_finite};
use crate::report::comparison::{Comparison, Failed, Moment};
use crate::report::{MEASURES, Report};
use crate::shell;
use crate::take::Take;
use crate::terminal::{say, shown};
use anyhow::{Context, Result, bail};
use glam::Vec3;
use pictures::Studio;
use pliant::measure::{Judge, Options};
use pliant::method::{Deformer, Settings};
use pliant_io::files::{ReadyFile, WholeFile, commit};
use pliant_kit::drive::Drive;
use pliant_kit::host::{Host, Progress};
use pliant_kit::input::Input;
use pliant_kit::motion;
use std::io::Write;
use std::iter::once;
use std::path::Path;

/// Each picture's size in pixels: several fit beside each other, and people are taller than wide.
const SIZE: (u32, u32) = (400, 460);

/// What is written.
const FILES: [&str; 2] = ["index.html", "results.json"];

/// A method that has played the motion.
struct Played<'a> {
    deformer: Box<dyn Deformer + 'a>,
    /// What a picture must hold, by frame.
    outermost: Vec<Vec<Vec3>>,
    /// What was odd about it, in words.
    odd: Vec<String>,
    is_flagged: bool,
}

pub(crate) fn run(args: &CompareArgs, common: &Common) -> Result<Outcome> {
    let folder = Folder::create(args)?;
    let [page_file, json_file] = folder.files()?;
    let methods = args.methods();
    let (input, settings) = args.flesh.wishes()?.open_for(&methods, &args.input.request(), common)?;
    shell::warn(&input.warnings, common);
    let clip = motion::choose(&input, args.clip.as_deref())?.first().copied();
    let take = Take::cut(&input, clip, &args.span, args.input.speed, motion::MAX_FRAMES, common)?;

    let mut failures = Failures::default();
    let cast = prepared(&methods, &settings, &input, common, &mut failures)?;
    let steps = cast.iter().map(|(_, ready)| Drive::steps(&*ready.deformer, &take.schedule)).sum();
    let mut progress = common.progress("preparing to measure", steps);
    let judge = Judge::new(&input.character, Options::default());
    let portrait = Portrait::new(&input, SIZE.0, SIZE.1, View::Quarter, false);
    let (mut played, mut reports) = (Vec::new(), Vec::new());
    for (method, ready) in cast {
        progress.now(&format!("playing {method}"));
        match play(ready, &input, &take, &judge, &portrait, &mut *progress) {
            Ok((method, report)) => {
                played.push(method);
                reports.push(report);
            }
            Err(error) => failures.add(method, error),
        }
    }
    if played.is_empty() {
        return Err(failures.into_error("none of the methods can play it"));
    }

    let moments = moments(&reports, &take, args.frames);
    let studio = Studio { input: &input, judge: &judge, portrait: &portrait, take: &take };
    let strips = studio.strips(&played, &reports, &moments, &mut *progress)?;
    progress.now("writing");
    let is_flagged = played.iter().any(|p| p.is_flagged);
    let named =
        played.iter().zip(&reports).flat_map(|(p, r)| p.odd.iter().map(|odd| format!("{}: {odd}", r.method)));
    let odd: Vec<String> = failures.said().chain(named).collect();
    let comparison = Comparison::new(reports, failures.failed, moments).context("nothing was measured")?;
    let json = comparison.json()?;
    let ready = [ready(page_file, &comparison.html(&strips))?, ready(json_file, &json)?];
    drop(progress);

    // All work is done: now the files appear.
    let written = commit(ready.into())?;
    if !common.quiet {
        odd.iter().for_each(|odd| say(&format!("warning: {odd}")));
    }
    if args.json {
        writeln!(std::io::stdout(), "{json}")?;
    } else if !common.quiet {
        let written: Vec<_> = written.iter().map(|path| shown(path)).collect();
        say(&format!("wrote {}", written.join(", ")));
    }
    Ok(if is_flagged { Outcome::Flagged } else { Outcome::Done })
}

/// Where the files go. One that was made for them is not left behind empty.
struct Folder<'a> {
    path: &'a Path,
    is_new: bool,
}

impl<'a> Folder<'a> {
    fn create(args: &'a CompareArgs) -> Result<Self> {
        let path = args.output.as_path();
        let files = FILES.map(|name| path.join(name));
        args.input.check_not_among(once(path).chain(files.iter().map(|p| p.as_path())))?;
        if path.exists() && !path.is_dir() {
            bail!("{}: it is a file; name a folder to write to", shown(path));
        }
        let is_new = !path.exists();
        std::fs::create_dir_all(path).with_context(|| format!("{}: cannot make the folder", shown(path)))?;
        Ok(Self { path, is_new })
    }

    /// The files, not there yet: what cannot be written should fail before anything is computed.
    fn files(&self) -> Result<[WholeFile; 2]> {
        let [page, json] = FILES.map(|name| {
            let path = self.path.join(name);
            WholeFile::create(&path).with_context(|| shown(&path))
        });
        Ok([page?, json?])
    }
}

impl Drop for Folder<'_> {
    fn drop(&mut self) {
        if self.is_new {
            // Fails where there is anything in it.
            let _ = std::fs::remove_dir(self.path);
        }
    }
}

fn ready(mut file: WholeFile, text: &str) -> Result<ReadyFile> {
    file.write_all(text.as_bytes()).context("cannot write")?;
    file.ready().context("cannot write")
}

/// Methods that cannot be compared; the others go on.
#[derive(Default)]
struct Failures {
    failed: Vec<Failed>,
    first: Option<anyhow::Error>,
}

impl Failures {
    fn add(&mut self, method: &str, error: anyhow::Error) {
        self.failed.push(Failed { method: method.to_owned(), reason: format!("{error:#}") });
        self.first.get_or_insert(error);
    }

    fn said(&self) -> impl Iterator<Item = String> + '_ {
        self.failed.iter().map(|f| format!("{} is not compared: {}", f.method, f.reason))
    }

    /// Where there are no others. The first failure stands for all.
    fn into_error(self, what: &'static str) -> anyhow::Error {
        match self.first {
            Some(error) => error.context(what),
            None => anyhow::Error::msg(what),
        }
    }
}

/// The methods that can be prepared.
fn prepared<'a>(
    methods: &[&'static str],
    settings: &Settings,
    input: &'a Input,
    common: &Common,
    failures: &mut Failures,
) -> Result<Vec<(&'static str, Ready<'a>)>> {
    let mut cast = Vec::new();
    for &method in methods {
        match Ready::prepare(method, settings, input, common) {
            Ok(ready) => cast.push((method, ready)),
            Err(error) => failures.add(method, error),
        }
    }
    if cast.is_empty() {
        return Err(std::mem::take(failures).into_error("none of the methods can be prepared"));
    }
    Ok(cast)
}

/// Plays the motion by a method, and measures it.
fn play<'a>(
    ready: Ready<'a>,
    input: &Input,
    take: &Take,
    judge: &Judge,
    portrait: &Portrait<'_>,
    progress: &mut dyn Progress,
) -> Result<(Played<'a>, Report)> {
    let Ready { deformer, tets, mut about, mut odd } = ready;
    let mut record = Record::new(Some(judge), tets.as_ref());
    let mut outermost = Vec::new();
    let mut drive = Drive::new(&input.character, &*deformer);
    drive.play(take.source(input), &take.schedule, progress, &mut |frame| {
        check_finite(frame.shape, input, &take.name, frame.time)?;
        record.frame(&take.name, &frame);
        outermost.push(portrait.outermost(frame.shape, frame.pose));
        Ok(())
    })?;
    about.preroll_ms = drive.preroll_ms;
    drop(drive);
    let flagged = record.flagged();
    let is_flagged = flagged.is_some();
    odd.extend(flagged);
    about.warnings.extend(odd.iter().cloned());
    let report = record.report(input, std::slice::from_ref(take), about)?;
    Ok((Played { deformer, outermost, odd, is_flagged }, report))
}

/// The frames to show, in order: the worst by each measure, where several share one it is shown once; or evenly spread
/// ones.
fn moments(reports: &[Report], take: &Take, wish: Shown) -> Vec<Moment> {
    let times = &take.schedule.times;
    let moment = |frame: usize| Moment { frame, time: times[frame], worst: vec![] };
    let mut moments: Vec<Moment> = match wish {
        Shown::Worst => vec![],
        Shown::Even(count) => spread(times.len(), count).into_iter().map(moment).collect(),
    };
    for measure in &MEASURES {
        let Some(worst) = measure.moment(reports) else { continue };
        match moments.iter_mut().find(|m| m.frame == worst.frame) {
            Some(known) => known.worst.extend(worst.worst),
            None if wish == Shown::Worst => moments.push(worst),
            None => {}
        }
    }
    moments.sort_by_key(|m| m.frame);
    moments
}

/// So many of so many frames, from the first to the last; a lone one is in the middle.
fn spread(frames: usize, count: usize) -> Vec<usize> {
    let last = frames.saturating_sub(1);
    if count == 1 {
        return vec![last / 2];
    }
    let mut spread: Vec<usize> = (0..count).map(|k| (k * last + (count - 1) / 2) / (count - 1)).collect();
    spread.dedup();
    spread
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn frames_are_spread_from_the_first_to_the_last() {
        assert_eq!(spread(11, 3), [0, 5, 10]);
        assert_eq!(spread(10, 4), [0, 3, 6, 9]);
        assert_eq!(spread(3, 7), [0, 1, 2]);
        assert_eq!(spread(1, 5), [0]);
        assert_eq!(spread(9, 1), [4]);
    }
}
