//! Links between the documents: what they point to is there, and the book has every page.

use anyhow::Result;
use std::path::{Component, Path, PathBuf};

/// What is wrong with the links of the README and of everything in `docs`.
pub(crate) fn problems(root: &Path) -> Result<Vec<String>> {
    let docs = root.join("docs");
    let pages = markdown_files(&docs)?;
    let mut problems = Vec::new();
    let readme = root.join("README.md");
    for page in pages.iter().chain(std::iter::once(&readme)) {
        let text = std::fs::read_to_string(page)?;
        let shown = page.strip_prefix(root).unwrap_or(page).display();
        for link in links(&text) {
            if let Some(problem) = broken(page, link, page.starts_with(&docs).then_some(&docs)) {
                problems.push(format!("{shown}: the link to {link}: {problem}"));
            }
        }
    }
    let summary = docs.join("SUMMARY.md");
    let text = std::fs::read_to_string(&summary)?;
    let listed = links(&text).map(|link| tidy(&docs.join(link))).collect::<Vec<_>>();
    for page in pages.iter().filter(|page| **page != summary && !listed.contains(page)) {
        let shown = page.strip_prefix(root).unwrap_or(page).display();
        problems.push(format!("docs/SUMMARY.md: {shown} is not in it"));
    }
    Ok(problems)
}

/// Why a link leads nowhere. Pages of the book may not lead out of it: a site made of them has nothing else.
fn broken(page: &Path, link: &str, book: Option<&PathBuf>) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
    let target = if file.is_empty() {
        page.to_owned()
    } else {
        tidy(&page.parent().unwrap_or(Path::new("")).join(file))
    };
    if !target.exists() {
        return Some("there is no such file".into());
    }
    if book.is_some_and(|book| !target.starts_with(book)) {
        return Some("it leads out of docs, and so out of the book".into());
    }
    let heading = heading?;
    let text = std::fs::read_to_string(&target).ok()?;
    let found = prose(&text).filter_map(|l| l.strip_prefix('#')).any(|l| anchor(l) == heading);
    (!found).then(|| "there is no such heading".into())
}

fn markdown_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(markdown_files(&path)?);
        } else if path.extension().is_some_and(|e| e == "md") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Lines that are not in a block of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Where links and images of a page point to.
fn links(text: &str) -> impl Iterator<Item = &str> {
    // What is between back quotes is shown as it is.
    let parts = prose(text).flat_map(|line| line.split('`').step_by(2));
    parts.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split([')', ' ']).next())
}

/// What mdBook and GitHub make of a heading, as far as this book's go.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Without `..`, so that it can be compared.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(tidy.pop()),
            Component::CurDir => {}
            other => tidy.push(other),
        }
    }
    tidy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_in_prose_alone() {
        let text = "a [b](c.md) ![d](e.png \"f\")\n```\n[no](x)\n```\n`[nor](y)` [g](#h) | [`i`](j.md) |";
        // A link whose text is code is split at its back quotes, and still found.
        assert_eq!(links(text).collect::<Vec<_>>(), ["c.md", "e.png", "#h", "j.md"]);
    }

    #[test]
    fn what_is_missing_is_said() {
        let folder = std::env::temp_dir().join(format!("pliant-links-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        write("README.md", "[in](docs/a.md) [gone](docs/gone.png) [web](https://example.org)");
        write("docs/SUMMARY.md", "- [A](a.md)\n- [B](b/b.md)");
        write("docs/a.md", "# One `two`\n[here](#one-two) [nowhere](#three) [there](b/b.md#b)");
        write("docs/b/b.md", "# B\n[out](../../README.md) [up](../a.md)");
        write("docs/b/lost.md", "");
        let found = problems(&folder);
        std::fs::remove_dir_all(&folder).expect("removed");
        assert_eq!(
            found.expect("read"),
            [
                "docs/a.md: the link to #three: there is no such heading",
                "docs/b/b.md: the link to ../../README.md: it leads out of docs, and so out of the book",
                "README.md: the link to docs/gone.png: there is no such file",
                "docs/SUMMARY.md: docs/b/lost.md is not in it",
            ]
        );
    }
}
