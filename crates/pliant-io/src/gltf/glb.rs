use crate::{Problem, ReadError, Warning};
use std::ops::Range;

const MAGIC: &[u8; 4] = b"glTF";
const JSON: u32 = 0x4e4f_534a;
const BIN: u32 = 0x004e_4942;
const HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;

/// Where the two parts of a glTF file are.
#[derive(Debug, PartialEq)]
pub(crate) struct Container {
    pub(crate) json: Range<usize>,
    pub(crate) binary: Option<Range<usize>>,
    pub(crate) is_glb: bool,
}

/// Finds the JSON and the binary chunk of a GLB, or takes the whole file as JSON.
pub(crate) fn split(file: &[u8], warnings: &mut Vec<Warning>) -> Result<Container, ReadError> {
    if !file.starts_with(MAGIC) {
        if file.is_empty() {
            return Err(Problem::new("", "the file is empty").into());
        }
        return Ok(Container { json: 0..file.len(), binary: None, is_glb: false });
    }
    let bad = |what: String| -> ReadError {
        Problem::new("GLB", what).hint("the file is damaged or cut short: export or download it again").into()
    };
    let word = |at: usize| -> Option<u32> {
        let bytes = file.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let (Some(version), Some(length)) = (word(4), word(8)) else {
        return Err(bad(format!("the header is cut short at {} of {HEADER} bytes", file.len())));
    };
    if version != 2 {
        return Err(Problem::new("GLB", format!("container version {version}; only version 2 can be read"))
            .hint("convert it to glTF 2.0")
            .into());
    }
    if length as usize != file.len() {
        return Err(bad(format!("the header says {length} bytes, the file has {}", file.len())));
    }
    let (mut json, mut binary) = (None, None);
    let mut at = HEADER;
    while at < file.len() {
        let (Some(size), Some(kind)) = (word(at), word(at + 4)) else {
            return Err(bad(format!("the chunk header at byte {at} is cut short")));
        };
        let start = at + CHUNK_HEADER;
        let end = start.checked_add(size as usize).filter(|&e| e <= file.len());
        let Some(end) = end else {
            return Err(bad(format!("the chunk at byte {at} has {size} bytes, beyond the end of the file")));
        };
        if size % 4 != 0 {
            return Err(bad(format!("the chunk at byte {at} has {size} bytes, not a multiple of 4")));
        }
        match kind {
            JSON if json.is_none() && at == HEADER => json = Some(start..end),
            BIN if json.is_some() && binary.is_none() => binary = Some(start..end),
            _ if json.is_none() => return Err(bad("the first chunk is not JSON".into())),
            JSON | BIN => return Err(bad(format!("the chunk at byte {at} is the second of its kind"))),
            _ => {
                warnings.push(Warning::new("GLB", format!("unknown chunk type {kind:#010x} passed over"), 1))
            }
        }
        at = end;
    }
    let json = json.ok_or_else(|| bad("there is no JSON chunk".into()))?;
    Ok(Container { json, binary, is_glb: true })
}
