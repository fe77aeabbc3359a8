//! Settings files: TOML to [`Settings`], with the line of whatever is wrong.

mod json;
mod tree;

pub use json::{from_json, to_json};

use crate::text::{shown, without_bom};
use crate::{Files, Problem, ReadError, curves};
use pliant::method::{Settings, SettingsError};
use serde::Deserialize;
use toml::de::{DeTable, DeValue};
use tree::{Fault, Value};

/// A larger file (2 MB) is no settings file: some 170,000 painted vertices fit in.
pub const MAX_BYTES: u64 = 1 << 21;

/// Bytes of a file whose errors are all looked at.
const MAX_SEARCHED: usize = 1 << 16;

/// Settings read from a file, and the file, to name lines by.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsFile {
    /// What it sets; all else is at its default.
    pub settings: Settings,
    text: String,
}

/// Reads a settings file. The numbers are checked; joints and painted attributes, which depend on the character, are
/// not. Files that it names are read by [`SettingsFile::fetch`].
pub fn read(bytes: &[u8]) -> Result<SettingsFile, ReadError> {
    let (text, table) = table(bytes, "a settings file")?;
    let root = DeValue::Table(table);
    let settings = Settings::deserialize(Value::new(&root, 0))
        .map_err(|fault: Fault| fault.problem(|at| line_of(text, at)))?;
    let file = SettingsFile { settings, text: text.to_owned() };
    file.settings.check().map_err(|e| file.refuse(e))?;
    Ok(file)
}

/// The text of a TOML file, and what is in it.
pub(crate) fn table<'b>(bytes: &'b [u8], kind: &str) -> Result<(&'b str, DeTable<'b>), Problem> {
    if bytes.len() as u64 > MAX_BYTES {
        let what = format!("{} bytes are too many for {kind}", bytes.len());
        return Err(Problem::new("", what).hint(format!("{MAX_BYTES} at most")));
    }
    let text = std::str::from_utf8(without_bom(bytes)).map_err(|e| {
        let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        Problem::new(format!("line {line}"), "is not UTF-8 text")
    })?;
    let table = DeTable::parse(text).map_err(|found| {
        let error = first_error(text).unwrap_or(found);
        let at = error.span().map_or(text.len(), |span| span.start);
        Problem::new(line_of(text, at), format!("this is not TOML: {}", error.message().replace('\n', " ")))
    })?;
    Ok((text, table.into_inner()))
}

/// The error that stands first in a file: the parser finds an open string only after what comes of it.
fn first_error(text: &str) -> Option<toml::de::Error> {
    // A megabyte of brackets has a million errors.
    if text.len() > MAX_SEARCHED {
        return None;
    }
    let (_, errors) = DeTable::parse_recoverable(text);
    errors.into_iter().min_by_key(|e| e.span().map_or(usize::MAX, |span| span.start))
}

/// The line of a place in a text.
pub(crate) fn line_of(text: &str, at: usize) -> String {
    let before = &text.as_bytes()[..at.min(text.len())];
    format!("line {}", 1 + before.iter().filter(|&&b| b == b'\n').count())
}

impl SettingsFile {
    /// Reads the files of curves that fibres name.
    pub fn fetch(&mut self, files: &dyn Files) -> Result<(), ReadError> {
        for index in 0..self.settings.fibres.len() {
            let Some(name) = self.settings.fibres[index].file.clone() else { continue };
            let refuse = |what: String| {
                let path = format!("fibre[{index}].file");
                let what = format!("{path}: {}: {what}", shown(name.as_bytes()));
                ReadError::from(Problem::new(self.place_of(&path).unwrap_or_default(), what))
            };
            let bytes =
                files.read(&name, curves::MAX_BYTES).map_err(|e| refuse(format!("cannot read it: {e}")))?;
            let drawn = curves::read(&name, &bytes).map_err(|e| refuse(e.to_string()))?;
            self.settings.fibres[index].drawn = drawn;
        }
        Ok(())
    }

    /// An error about these settings, with the line of the key that is wrong.
    pub fn refuse(&self, error: SettingsError) -> ReadError {
        let place = self.place_of(&error.path).unwrap_or_default();
        Problem::new(place, format!("{}: {}", error.path, error.what)).hint(error.allowed).into()
    }

    /// Where a key such as `region[2].on.bone` is, or else what holds it.
    fn place_of(&self, path: &str) -> Option<String> {
        let table = DeTable::parse(&self.text).ok()?;
        let (mut value, mut at) = (&DeValue::Table(table.into_inner()), None);
        for step in path.split(['.', '[']) {
            let (found, start) = match (value, step.strip_suffix(']')) {
                (DeValue::Array(list), Some(index)) => {
                    let Some(item) = list.get(index.parse::<usize>().ok()?) else { break };
                    (item.get_ref(), item.span().start)
                }
                (DeValue::Table(table), None) => {
                    let Some((key, item)) = table.iter().find(|(key, _)| key.get_ref() == step) else {
                        break;
                    };
                    (item.get_ref(), key.span().start)
                }
                _ => break,
            };
            (value, at) = (found, Some(start));
        }
        at.map(|at| line_of(&self.text, at))
    }
}
