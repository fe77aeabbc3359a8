//! Results as Markdown.

use crate::result::{Record, Results, Verdict};
use crate::{Chapter, Experiment};
use std::fmt::Write as _;

/// The page of a chapter, of what has been run of it.
pub(crate) fn chapter(chapter: &Chapter, records: &[(&Experiment, Option<Record>)]) -> String {
    let mut out = format!("# {}\n\n{}\n\n", chapter.title, chapter.about);
    let _ = writeln!(
        out,
        "Made by `cargo xtask paper {}`. A ratio is the published time over ours. Raw figures: `data/`.\n",
        chapter.name
    );
    for (experiment, record) in records {
        let _ = writeln!(out, "## {}\n", experiment.title);
        match record {
            Some(record) => {
                results(&mut out, &record.results);
                let _ = writeln!(
                    out,
                    "<sub>{}, {}, engine {}, {:.0} s</sub>\n",
                    record.machine, record.date, record.stamp.engine, record.seconds
                );
            }
            None => out.push_str("Not run yet.\n\n"),
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn results(out: &mut String, results: &Results) {
    if !results.findings.is_empty() {
        let has_ratio = results.findings.iter().any(|f| f.ratio.is_some());
        let ratio_head = if has_ratio { " ratio |" } else { "" };
        let ratio_line = if has_ratio { "---:|" } else { "" };
        let _ = writeln!(
            out,
            "| claim | published or asked | Pliant |{ratio_head} |\n|---|---|---|{ratio_line}---|"
        );
        for f in &results.findings {
            let ratio = match (has_ratio, f.ratio) {
                (false, _) => String::new(),
                (true, None) => " |".to_owned(),
                (true, Some(ratio)) => format!(" {ratio:.1} |"),
            };
            let _ = writeln!(
                out,
                "| {} | {} | {} |{ratio} {} |",
                f.claim,
                f.published,
                f.ours,
                f.verdict.words()
            );
        }
        out.push('\n');
    }
    for table in &results.tables {
        if !table.title.is_empty() {
            let _ = writeln!(out, "{}\n", table.title);
        }
        let _ = writeln!(out, "| {} |", table.head.join(" | "));
        let _ = writeln!(out, "|---|{}", "---:|".repeat(table.head.len().saturating_sub(1)));
        for row in &table.rows {
            let _ = writeln!(out, "| {} |", row.join(" | "));
        }
        out.push('\n');
    }
    for figure in &results.figures {
        match &figure.pictures[..] {
            [(label, file)] => {
                let _ = writeln!(out, "![{label}]({file})\n");
            }
            many => {
                let cells = |cell: &dyn Fn(&(String, String)) -> String| {
                    many.iter().map(cell).collect::<Vec<_>>().join(" | ")
                };
                let _ = writeln!(out, "| {} |", cells(&|(label, _)| label.clone()));
                let _ = writeln!(out, "|{}", "---|".repeat(many.len()));
                let _ = writeln!(out, "| {} |\n", cells(&|(label, file)| format!("![{label}]({file})")));
            }
        }
        let _ = writeln!(out, "*{}*\n", figure.caption);
    }
    for note in &results.notes {
        let _ = writeln!(out, "{note}\n");
    }
}

/// The front page: every chapter with what became of its claims.
pub(crate) fn index(chapters: &[(&Chapter, Vec<Option<Record>>)], engine: &str) -> String {
    let mut out = String::from(
        "# Results\n\n\
         Every table and figure that the papers behind Pliant claim, and every goal it set itself, run by its own engine. \
         `cargo xtask paper` makes these pages anew and leaves out what is newer than the code; \
         `cargo xtask paper 002` makes one of them, `--again` all of it, `--check` says what is out of date. Speed beside \
         other programs is in [bench](bench/README.md), made by `cargo xtask bench --peers`.\n\n",
    );
    let _ = writeln!(out, "Engine {engine} (a hash of its source).\n");
    out.push_str("| page | hold | do not | shown | not run |\n|---|---:|---:|---:|---:|\n");
    for (chapter, records) in chapters {
        let findings = || records.iter().flatten().flat_map(|r| &r.results.findings);
        let count = |verdict: Verdict| findings().filter(|f| f.verdict == verdict).count();
        let missing = records.iter().filter(|r| r.is_none()).count();
        let _ = writeln!(
            out,
            "| [{}]({}.md) | {} | {} | {} | {} |",
            chapter.title,
            chapter.name,
            count(Verdict::Holds),
            count(Verdict::DoesNot),
            count(Verdict::Shown),
            count(Verdict::NotRun) + missing
        );
    }
    out.push_str("\n## What does not hold\n\n");
    let mut any = false;
    for (chapter, records) in chapters {
        for f in records.iter().flatten().flat_map(|r| &r.results.findings) {
            if f.verdict == Verdict::DoesNot {
                any = true;
                let _ = writeln!(
                    out,
                    "- [{}]({}.md): {}; published or asked: {}; seen: {}.",
                    chapter.name, chapter.name, f.claim, f.published, f.ours
                );
            }
        }
    }
    if !any {
        out.push_str("Nothing of what has been run.\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Stamp;

    fn no_run(_: &crate::lab::Lab<'_>) -> anyhow::Result<Results> {
        Ok(Results::default())
    }

    const CHAPTER: Chapter = Chapter {
        name: "009",
        title: "009: a paper",
        about: "About it.",
        source: "",
        experiments: &[
            Experiment { name: "a", title: "First", run: no_run },
            Experiment { name: "b", title: "Second", run: no_run },
        ],
    };

    fn record() -> Record {
        let mut results = Results::default();
        results.find("fast", "10 ms", "2 ms", Some(5.0), Verdict::Holds);
        results.claim("sound", "yes", "no", false);
        results.table("Numbers", &["a", "b"], vec![vec!["1".into(), "2".into()]]);
        results.figure("Two", vec![("x".into(), "009/x.png".into()), ("y".into(), "009/y.png".into())]);
        let stamp = Stamp { engine: "e".into(), experiment: "x".into() };
        let (machine, date) = ("a machine".to_owned(), "2026-01-31".to_owned());
        Record { id: "009-a".into(), stamp, machine, date, seconds: 1.0, results }
    }

    #[test]
    fn a_page_has_claims_beside_figures_and_says_what_is_missing() {
        let page =
            chapter(&CHAPTER, &[(&CHAPTER.experiments[0], Some(record())), (&CHAPTER.experiments[1], None)]);
        assert!(page.contains("| fast | 10 ms | 2 ms | 5.0 | holds |"), "{page}");
        assert!(page.contains("| sound | yes | no | | **does not hold** |"), "{page}");
        assert!(page.contains("| ![x](009/x.png) | ![y](009/y.png) |"), "{page}");
        assert!(
            page.contains("a machine, 2026-01-31") && page.contains("## Second\n\nNot run yet."),
            "{page}"
        );
        // Rows are as wide as their heads.
        for table in page.split("\n\n").filter(|block| block.starts_with('|')) {
            let widths: Vec<usize> = table.lines().map(|line| line.matches('|').count()).collect();
            assert!(widths.iter().all(|w| *w == widths[0]), "{table}");
        }
    }

    #[test]
    fn the_index_counts_and_names_what_does_not_hold() {
        let page = index(&[(&CHAPTER, vec![Some(record()), None])], "e");
        assert!(page.contains("| [009: a paper](009.md) | 1 | 1 | 0 | 1 |"), "{page}");
        assert!(page.contains("- [009](009.md): sound; published or asked: yes; seen: no."), "{page}");
    }
}
