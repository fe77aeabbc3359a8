//! What the readers of text files share: lines with their numbers, words, and numbers that can be computed with.

use crate::{Problem, ReadError};
use pliant::asset::AssetError;
use std::borrow::Cow;

/// Largest coordinate that is taken: squares of it still fit in an `f32`.
pub(crate) const LARGEST: f64 = 1e18;

/// Most problems that are told of one file: a file that is wrong on every line is told from the first ones.
const MOST_PROBLEMS: usize = 20;

/// A finite number of a size that can be computed with, or what is wrong with it.
pub(crate) fn number(word: &[u8]) -> Result<f64, String> {
    let value: Option<f64> = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
    match value {
        None => Err(format!("\"{}\" is not a number", shown(word))),
        Some(v) if !v.is_finite() => Err(format!("\"{}\" is not a finite number", shown(word))),
        Some(v) if v.abs() > LARGEST => Err(format!("{} is too large (over 1e18)", shown(word))),
        Some(v) => Ok(v),
    }
}

/// Text of a file for a message: short, and without control characters.
pub(crate) fn shown(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(&word[..word.len().min(160)]);
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match clean.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &clean[..end]),
        None => clean,
    }
}

/// Most characters of a name that are kept: one name of a megabyte on thousands of parts would fill the memory.
const LONGEST_NAME: usize = 200;

/// A name of the file as a character bears it: cut if nobody could read it anyway.
pub(crate) fn named(name: &str) -> String {
    let end = name.char_indices().nth(LONGEST_NAME).map_or(name.len(), |(end, _)| end);
    name[..end].to_owned()
}

/// Words between blanks.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    line.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty())
}

/// Without the mark that some editors put before UTF-8.
pub(crate) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// Lines with their numbers from 1. A line ends with LF, CR LF or CR.
pub(crate) struct Lines<'a> {
    rest: Option<&'a [u8]>,
    number: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: Some(without_bom(bytes)), number: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest?;
        self.number += 1;
        let Some(end) = rest.iter().position(|&b| b == b'\n' || b == b'\r') else {
            self.rest = None;
            return Some((self.number, rest));
        };
        let after = if rest[end..].starts_with(b"\r\n") { end + 2 } else { end + 1 };
        self.rest = Some(&rest[after..]);
        Some((self.number, &rest[..end]))
    }
}

impl<'a> Lines<'a> {
    /// The next line of an OBJ file: a backslash at the end of a line joins the next one to it, but not in a comment that
    /// ends in a path.
    pub(crate) fn next_joined(&mut self) -> Option<(usize, Cow<'a, [u8]>)> {
        let (number, first) = self.next()?;
        let mut line = Cow::Borrowed(first);
        while !line.starts_with(b"#") && line.ends_with(b"\\") {
            let joined = line.to_mut();
            joined.pop();
            joined.push(b' ');
            match self.next() {
                Some((_, next)) => joined.extend_from_slice(next),
                None => break,
            }
        }
        Some((number, line))
    }
}

/// A problem on a line.
pub(crate) fn at_line(line: usize, what: impl Into<String>) -> Problem {
    Problem::new(format!("line {line}"), what)
}

/// An asset that could not be made of what a file holds.
pub(crate) fn refused(place: &str) -> impl Fn(AssetError) -> ReadError + '_ {
    move |error| Problem::new(place, error.to_string()).into()
}

/// Problems as they are found; no more than can be of use.
#[derive(Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    pub(crate) fn push(&mut self, problem: Problem) {
        if !self.full() {
            self.0.push(problem);
        }
    }

    pub(crate) fn full(&self) -> bool {
        self.0.len() >= MOST_PROBLEMS
    }

    pub(crate) fn check(self) -> Result<(), ReadError> {
        ReadError::check(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_three_ways() {
        let lines: Vec<_> = Lines::new(b"\xEF\xBB\xBFa\r\nb\rc\n\nd").collect();
        assert_eq!(lines, [(1, &b"a"[..]), (2, b"b"), (3, b"c"), (4, b""), (5, b"d")]);
    }

    #[test]
    fn names_are_cut_between_characters() {
        assert_eq!(named("hüfte"), "hüfte");
        assert_eq!(named(&"ü".repeat(200)), "ü".repeat(200));
        assert_eq!(named(&"ü".repeat(1_000_000)), "ü".repeat(200));
    }

    #[test]
    fn numbers_are_finite_and_bounded() {
        assert_eq!(number(b"-1.5e3"), Ok(-1500.0));
        for bad in ["nan", "inf", "1e400", "1e19", "x", "", "1.#IND", "0x10", "1,5"] {
            assert!(number(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(number(&[b'9'; 3000]).is_err_and(|e| e.len() < 200));
    }
}
