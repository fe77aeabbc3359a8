//! `cargo xtask paper`: every table and figure that the papers behind Pliant claim, run anew, written to `docs/results`.
//!
//! A chapter is a paper, an experiment one of its claims. What an experiment finds is kept in `data/` with a stamp of the
//! code it depends on; it runs again only where that has changed, so that a run which was broken off goes on where it was.

mod figures;
mod lab;
mod metaballs;
mod page;
mod plot;
mod position;
mod result;
mod smooth;
mod solver;
mod strain;
mod tets;
mod volume;

use anyhow::{Context, Result, bail};
use lab::Lab;
use result::{Record, Results, Stamp, Verdict};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use xxhash_rust::xxh3::Xxh3;

/// One claim, or a few that one run tells about.
struct Experiment {
    /// Of its files.
    name: &'static str,
    title: &'static str,
    run: fn(&Lab) -> Result<Results>,
}

/// A page.
struct Chapter {
    /// What the command takes, and the page's file.
    name: &'static str,
    title: &'static str,
    about: &'static str,
    /// What its experiments depend on beside the engine.
    source: &'static str,
    experiments: &'static [Experiment],
}

const CHAPTERS: [&Chapter; 8] = [
    &position::CHAPTER,
    &strain::CHAPTER,
    &smooth::CHAPTER,
    &volume::CHAPTER,
    &metaballs::CHAPTER,
    &solver::CHAPTER,
    &tets::CHAPTER,
    &figures::CHAPTER,
];

/// What is asked for on the command line.
struct Args {
    pliant: PathBuf,
    root: PathBuf,
    data: Option<PathBuf>,
    chapters: Vec<&'static Chapter>,
    /// Run what is up to date as well.
    again: bool,
    /// Run nothing: say what is out of date.
    check: bool,
}

fn args() -> Result<Args> {
    let (mut pliant, mut root, mut data) = (None, None, None);
    let (mut chapters, mut again, mut check) = (Vec::new(), false, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut path = || words.next().map(PathBuf::from).with_context(|| format!("{word} needs a path"));
        match word.as_str() {
            "--pliant" => pliant = Some(path()?),
            "--root" => root = Some(path()?),
            "--data" => data = Some(path()?),
            "--again" => again = true,
            "--check" => check = true,
            name => chapters.push(*CHAPTERS.iter().find(|c| c.name == name).with_context(|| {
                let names: Vec<&str> = CHAPTERS.iter().map(|c| c.name).collect();
                format!("`{name}` is no chapter; there are: {}, --again, --check", names.join(", "))
            })?),
        }
    }
    if chapters.is_empty() {
        chapters = CHAPTERS.to_vec();
    }
    let (pliant, root) =
        pliant.zip(root).context("--pliant and --root are needed: run it as `cargo xtask paper`")?;
    Ok(Args { pliant, root, data, chapters, again, check })
}

fn main() -> Result<()> {
    let args = args()?;
    let out = args.root.join("docs/results");
    let engine = hash_of_folder(&args.root.join("crates/pliant/src"))?;
    let stamp =
        |chapter: &Chapter| Stamp { engine: engine.clone(), experiment: hash(&[chapter.source.as_bytes()]) };
    let mut todo = Vec::new();
    for chapter in &args.chapters {
        for experiment in chapter.experiments {
            let is_fresh = read(&out, chapter, experiment)?.is_some_and(|r| r.stamp == stamp(chapter));
            if !is_fresh || args.again {
                todo.push((*chapter, experiment));
            }
        }
    }
    if args.check {
        for (chapter, experiment) in &todo {
            println!("{} {}: out of date", chapter.name, experiment.name);
        }
        if !todo.is_empty() {
            bail!("{} results are older than the code: run `cargo xtask paper`", todo.len());
        }
        println!("all results are those of this code");
        return Ok(());
    }
    let machine = lab::machine();
    let mut failed = Vec::new();
    for (done, (chapter, experiment)) in todo.iter().enumerate() {
        println!("[{}/{}] {} {}", done + 1, todo.len(), chapter.name, experiment.title);
        let started = Instant::now();
        let lab = Lab::new(&args.pliant, &args.root, args.data.as_deref(), &out, chapter.name)?;
        match (experiment.run)(&lab) {
            Ok(results) => {
                let seconds = started.elapsed().as_secs_f64();
                for finding in &results.findings {
                    let mark = if finding.verdict == Verdict::DoesNot { " (does not hold)" } else { "" };
                    println!("    {}: {}{mark}", finding.claim, finding.ours);
                }
                let record = Record {
                    id: format!("{}-{}", chapter.name, experiment.name),
                    stamp: stamp(chapter),
                    machine: machine.clone(),
                    date: today(),
                    seconds,
                    results,
                };
                write(&file(&out, chapter, experiment), &serde_json::to_string_pretty(&record)?)?;
                pages(&out, &engine)?;
            }
            // The rest can still be had.
            Err(error) => {
                println!("    failed: {error:#}");
                failed.push(format!("{} {}", chapter.name, experiment.name));
            }
        }
    }
    pages(&out, &engine)?;
    println!("{} of {} run; pages are in docs/results", todo.len() - failed.len(), todo.len());
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

fn file(out: &Path, chapter: &Chapter, experiment: &Experiment) -> PathBuf {
    out.join(format!("data/{}-{}.json", chapter.name, experiment.name))
}

/// What was found before; what cannot be read was not.
fn read(out: &Path, chapter: &Chapter, experiment: &Experiment) -> Result<Option<Record>> {
    let path = file(out, chapter, experiment);
    if !path.is_file() {
        return Ok(None);
    }
    Ok(serde_json::from_str(&std::fs::read_to_string(path)?).ok())
}

/// Writes a file whole or not at all.
fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().context("a file is in a folder")?;
    std::fs::create_dir_all(folder)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut new, text.as_bytes())?;
    new.persist(path).with_context(|| path.display().to_string())?;
    Ok(())
}

/// All pages anew, from what is kept.
fn pages(out: &Path, engine: &str) -> Result<()> {
    let mut all = Vec::new();
    for chapter in CHAPTERS {
        let records = chapter.experiments.iter().map(|e| Ok((e, read(out, chapter, e)?)));
        let records = records.collect::<Result<Vec<_>>>()?;
        write(&out.join(format!("{}.md", chapter.name)), &page::chapter(chapter, &records))?;
        all.push((chapter, records.into_iter().map(|(_, record)| record).collect()));
    }
    write(&out.join("README.md"), &page::index(&all, engine))
}

fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = Xxh3::new();
    parts.iter().for_each(|part| hasher.update(part));
    format!("{:016x}", hasher.digest())
}

/// Of all files of a folder, by their names in order.
fn hash_of_folder(folder: &Path) -> Result<String> {
    fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
        for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() { collect(&path, files)? } else { files.push(path) }
        }
        Ok(())
    }
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let mut hasher = Xxh3::new();
    for path in files {
        hasher.update(path.strip_prefix(folder)?.to_string_lossy().as_bytes());
        hasher.update(&std::fs::read(&path)?);
    }
    Ok(format!("{:016x}", hasher.digest()))
}

fn today() -> String {
    day(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() / 86_400) as i64)
}

/// The day in Greenwich so many days after 1 January 1970, as 2026-01-31.
fn day(days: i64) -> String {
    // Days since 1 March of the year 0: leap days come last.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let of_era_years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_era_years + of_era_years / 4 - of_era_years / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + of_era_years + i64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted() {
        let known = [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (19_723, "2024-01-01"),
            (20_819, "2027-01-01"),
        ];
        known.iter().for_each(|(days, shown)| assert_eq!(day(*days), *shown));
    }

    #[test]
    fn chapters_and_experiments_have_names_of_their_own() {
        let mut files: Vec<PathBuf> =
            CHAPTERS.iter().flat_map(|c| c.experiments.iter().map(|e| file(Path::new(""), c, e))).collect();
        let count = files.len();
        files.sort();
        files.dedup();
        assert_eq!(files.len(), count);
    }

    #[test]
    fn a_changed_file_changes_the_stamp() -> Result<()> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join("a"))?;
        std::fs::write(folder.path().join("a/b.rs"), "one")?;
        let before = hash_of_folder(folder.path())?;
        assert_eq!(before, hash_of_folder(folder.path())?);
        std::fs::write(folder.path().join("a/b.rs"), "two")?;
        let changed = hash_of_folder(folder.path())?;
        std::fs::rename(folder.path().join("a/b.rs"), folder.path().join("a/c.rs"))?;
        assert!(before != changed && changed != hash_of_folder(folder.path())?);
        Ok(())
    }
}
