//! Rules that no compiler checks: the engine stays an engine, and the documents stay true.

use anyhow::{Result, bail};
use std::path::Path;

/// What the engine must never know, and why.
const FORBIDDEN_IN_ENGINE: [(&str, &str); 6] = [
    ("std::fs", "files belong to pliant-io"),
    ("std::time", "clocks belong to the shells"),
    ("std::thread", "threads belong to the shells; parallel.rs is the one parallel-for"),
    ("println!", "the terminal belongs to the command"),
    ("HashMap", "its order differs from run to run; use BTreeMap or sort"),
    ("HashSet", "its order differs from run to run; use BTreeSet or sort"),
];

/// Modules of the engine, each may use only those before it.
const ENGINE_ORDER: [&str; 8] = ["asset", "rig", "body", "skin", "solver", "method", "measure", "zoo"];

/// What the judge must not share code with, though it comes after them.
const JUDGED: [&str; 3] = ["skin", "solver", "method"];

/// A longer file has more than one topic.
const MAX_LINES: usize = 800;

pub(crate) fn check(root: &Path) -> Result<()> {
    let mut problems = Vec::new();
    for crate_name in ["pliant", "pliant-io", "pliant-kit", "pliant-web", "pliant-cli", "pliant-paper"] {
        let source = root.join("crates").join(crate_name).join("src");
        for path in rust_files(&source)? {
            let text = std::fs::read_to_string(&path)?;
            let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            if text.lines().count() > MAX_LINES {
                problems.push(format!("{shown}: over {MAX_LINES} lines; split it by topic"));
            }
            if crate_name == "pliant" {
                problems.extend(engine_problems(&path, &source, &text).map(|p| format!("{shown}: {p}")));
            }
        }
    }
    for document in ["ARCHITECTURE.md", "README.md"] {
        let text = std::fs::read_to_string(root.join(document))?;
        for named in named_paths(&text).filter(|p| !root.join(p).exists()) {
            problems.push(format!("{document}: names `{named}`, which does not exist"));
        }
    }
    problems.extend(crate::links::problems(root)?);
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{}", problems.join("\n"))
}

fn engine_problems<'a>(path: &Path, source: &Path, text: &'a str) -> impl Iterator<Item = String> + 'a {
    let module = path
        .strip_prefix(source)
        .ok()
        .and_then(|p| p.components().next())
        .map(|c| c.as_os_str().to_string_lossy().into_owned())
        .unwrap_or_default();
    let rank = ENGINE_ORDER.iter().position(|m| *m == module);
    // Tests may look wherever they like.
    let is_test = path.file_stem().is_some_and(|s| s == "tests" || s == "emulated");
    let code = if is_test { "" } else { text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text) };
    let forbidden = FORBIDDEN_IN_ENGINE
        .iter()
        .filter(move |(word, _)| code.lines().any(|l| l.contains(word) && !l.trim_start().starts_with("//")))
        .map(|(word, why)| format!("uses {word}: {why}"));
    let upwards = ENGINE_ORDER
        .iter()
        .skip(rank.map_or(usize::MAX, |r| r + 1))
        .chain(if module == "measure" { &JUDGED[..] } else { &[] })
        .filter(move |other| code.contains(&format!("crate::{other}")))
        .map(|other| format!("uses {other}, which it must not know"));
    forbidden.chain(upwards)
}

fn rust_files(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Paths in back quotes that look like the project's own: `crates/...`, `studio/...`, `xtask/...`, `tools/...`, `docs/...`.
fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|quoted| {
        ["crates/", "studio/", "xtask/", "tools/", "docs/"].iter().any(|p| quoted.starts_with(p))
            && !quoted.contains(char::is_whitespace)
            && !quoted.contains('*')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_may_not_touch_files_or_look_upwards() {
        let source = Path::new("src");
        let found: Vec<_> =
            engine_problems(Path::new("src/rig/a.rs"), source, "use std::fs;\nuse crate::skin::X;").collect();
        assert_eq!(found.len(), 2, "{found:?}");
        let fine = "use crate::asset::X;\n#[cfg(test)]\nmod tests {\nuse crate::zoo;";
        assert_eq!(engine_problems(Path::new("src/rig/a.rs"), source, fine).count(), 0);
    }

    #[test]
    fn the_project_keeps_to_the_rules() {
        check(&crate::root()).expect("tidy");
    }

    #[test]
    fn paths_are_found_in_prose() {
        let found: Vec<_> = named_paths("see `crates/pliant` and `cargo xtask test`, not `x`").collect();
        assert_eq!(found, ["crates/pliant"]);
    }
}
