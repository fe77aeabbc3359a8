//! Numbers one after the other, as text or as bytes, with the place of each.

use crate::Problem;
use crate::text::{LARGEST, number, shown, without_bom};

/// How the numbers of a file are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As words; `#` starts a comment.
    Text,
    /// As bytes, the highest first (`big`) or last.
    Binary { big: bool },
}

/// A file's bytes and how far they are read.
#[derive(Debug, Clone)]
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where what was read last begins.
    last: usize,
    /// The line of what was read last, from 1; kept for text alone.
    line: usize,
    pub(super) form: Form,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: without_bom(bytes), at: 0, last: 0, line: 1, form: Form::Text }
    }

    /// Where what was read last stands.
    pub(super) fn place(&self) -> String {
        match self.form {
            Form::Text => format!("line {}", self.line),
            Form::Binary { .. } => format!("byte {}", self.last),
        }
    }

    /// A problem with what was read last.
    pub(super) fn problem(&self, what: impl Into<String>) -> Problem {
        Problem::new(self.place(), what)
    }

    /// How many bytes are not read yet.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Goes on at a byte of a binary file; only forwards, so that no file is read without end.
    pub(super) fn jump(&mut self, to: usize) -> Result<(), Problem> {
        if to < self.at || to > self.bytes.len() {
            let what = format!("the next part is said to begin at byte {to}, which cannot be");
            return Err(self.problem(what).hint("the file is damaged or cut off"));
        }
        self.at = to;
        Ok(())
    }

    fn step(&mut self) {
        let byte = self.bytes[self.at];
        self.at += 1;
        // CR LF is one line end.
        self.line += usize::from(byte == b'\n' || (byte == b'\r' && self.bytes.get(self.at) != Some(&b'\n')));
    }

    /// The next word between blanks.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'#' && self.form == Form::Text {
                while self.bytes.get(self.at).is_some_and(|b| !matches!(b, b'\n' | b'\r')) {
                    self.at += 1;
                }
            } else if byte.is_ascii_whitespace() {
                self.step();
            } else {
                break;
            }
        }
        self.last = self.at;
        let rest = &self.bytes[self.at..];
        let ends = |&b: &u8| b.is_ascii_whitespace() || (b == b'#' && self.form == Form::Text);
        let word = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
        self.at += word.len();
        (!word.is_empty()).then_some(word)
    }

    /// Passes over the end of a line, after which bytes follow that are no text.
    pub(super) fn end_line(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
        if self.bytes.get(self.at) == Some(&b'\n') {
            self.step();
        }
    }

    /// Goes on after the next place where `mark` stands; `false`, at the end, where it is nowhere.
    pub(super) fn skip_past(&mut self, mark: &[u8]) -> bool {
        while self.at < self.bytes.len() {
            if self.bytes[self.at..].starts_with(mark) {
                self.at += mark.len();
                return true;
            }
            self.step();
        }
        false
    }

    /// The next bytes of a binary file.
    pub(super) fn bytes<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Problem> {
        self.last = self.at;
        match self.bytes[self.at..].first_chunk::<N>() {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(self.ends(what)),
        }
    }

    fn ends(&self, what: &str) -> Problem {
        self.problem(format!("the file ends where {what} is expected")).hint("is it cut off?")
    }

    /// A whole number in words, or of four bytes.
    pub(super) fn int(&mut self, what: &str) -> Result<i64, Problem> {
        match self.form {
            Form::Text => self.text_int(what),
            Form::Binary { big: true } => Ok(i32::from_be_bytes(self.bytes(what)?).into()),
            Form::Binary { big: false } => Ok(i32::from_le_bytes(self.bytes(what)?).into()),
        }
    }

    /// A whole number in words, or of eight bytes.
    pub(super) fn long(&mut self, what: &str) -> Result<i64, Problem> {
        match self.form {
            Form::Text => self.text_int(what),
            Form::Binary { big: true } => Ok(i64::from_be_bytes(self.bytes(what)?)),
            Form::Binary { big: false } => Ok(i64::from_le_bytes(self.bytes(what)?)),
        }
    }

    /// A whole number in words, in any file.
    pub(super) fn text_int(&mut self, what: &str) -> Result<i64, Problem> {
        let word = self.word().ok_or_else(|| self.ends(what))?;
        integer(word).map_err(|wrong| self.problem(format!("{wrong}, but {what} is expected")))
    }

    /// A coordinate in words, or of eight bytes.
    pub(super) fn real(&mut self) -> Result<f32, Problem> {
        const WHAT: &str = "a coordinate";
        let value = match self.form {
            Form::Text => {
                let word = self.word().ok_or_else(|| self.ends(WHAT))?;
                return coordinate(word).map_err(|what| self.problem(what));
            }
            Form::Binary { big: true } => f64::from_be_bytes(self.bytes(WHAT)?),
            Form::Binary { big: false } => f64::from_le_bytes(self.bytes(WHAT)?),
        };
        self.checked(value)
    }

    /// A coordinate of four bytes.
    pub(super) fn short_real(&mut self) -> Result<f32, Problem> {
        let bytes = self.bytes("a coordinate")?;
        let big = self.form == Form::Binary { big: true };
        let value = if big { f32::from_be_bytes(bytes) } else { f32::from_le_bytes(bytes) };
        self.checked(value.into())
    }

    fn checked(&self, value: f64) -> Result<f32, Problem> {
        if value.abs() <= LARGEST {
            Ok(value as f32)
        } else {
            Err(self.problem(format!("the coordinate is {value:e}, which cannot be used")))
        }
    }

    /// A count, if what follows can hold that many of at least `least` bytes.
    pub(super) fn count(&self, value: i64, least: usize, what: &str) -> Result<usize, Problem> {
        let Ok(count) = usize::try_from(value) else {
            return Err(self.problem(format!("{value} is no count of {what}")));
        };
        // The last of a text has no blank after it.
        if count > (self.left() + 1) / least {
            let what =
                format!("{count} {what} are announced, more than the {} bytes after it hold", self.left());
            return Err(self.problem(what).hint("is the file cut off?"));
        }
        Ok(count)
    }
}

/// A whole number.
pub(super) fn integer(word: &[u8]) -> Result<i64, String> {
    let value = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
    value.ok_or_else(|| format!("\"{}\" is not a whole number", shown(word)))
}

/// A coordinate, rounded once: what was written from an f32 comes back as it was.
pub(super) fn coordinate(word: &[u8]) -> Result<f32, String> {
    let parse = |word: &[u8]| {
        let value = std::str::from_utf8(word).ok()?.parse::<f32>().ok()?;
        (f64::from(value.abs()) <= LARGEST).then_some(value)
    };
    if let Some(value) = parse(word) {
        return Ok(value);
    }
    // Fortran's double precision: 1.5D+00.
    let is_d = |b: &u8| matches!(b, b'd' | b'D');
    let plain = |b: &u8| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.') || is_d(b);
    if word.len() < 64 && word.iter().any(is_d) && word.iter().all(plain) {
        let word: Vec<u8> = word.iter().map(|b| if is_d(b) { b'e' } else { *b }).collect();
        if let Some(value) = parse(&word) {
            return Ok(value);
        }
    }
    number(word).map(|v| v as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_their_lines() {
        let mut input = Input::new(b"\xEF\xBB\xBF a # b c\r\n\r\n12\rx#y\n z");
        let mut seen = Vec::new();
        while let Some(word) = input.word() {
            seen.push((word.to_vec(), input.place()));
        }
        let expected = [("a", 1), ("12", 3), ("x", 4), ("z", 5)];
        assert_eq!(seen, expected.map(|(w, l)| (w.as_bytes().to_vec(), format!("line {l}"))));
    }

    #[test]
    fn coordinates_are_rounded_once() {
        // Just above the middle of two neighbours: rounded to an f64 first it would be the middle, and go down to 1.
        let above = "1.00000005960464477539062500001";
        assert_eq!(coordinate(above.as_bytes()), Ok(1.0 + f32::EPSILON));
        assert_eq!(above.parse::<f64>().unwrap() as f32, 1.0);
        assert_eq!(coordinate(b"-1.5D+01"), Ok(-15.0));
        assert_eq!(coordinate(b"2d0"), Ok(2.0));
        assert_eq!(coordinate(b"-0").map(f32::to_bits), Ok((-0.0f32).to_bits()));
        for bad in ["nan", "inf", "1e40", "1e19", "d", "1d99", "x1", "infinity"] {
            assert!(coordinate(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
