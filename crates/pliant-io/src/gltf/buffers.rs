//! The bytes a glTF refers to: chunks, data URIs, files beside it, compressed views.

use super::document::Bytes;
use super::glb::Container;
use super::meshopt;
use super::schema::Root;
use crate::{Files, Problem, Warning};
use std::collections::BTreeSet;

/// All files beside together: what a 32-bit length can say.
const MAX_BUFFER: u64 = u32::MAX as u64;
/// Of those, files that several buffers name: each gets its own copy.
const MAX_REPEATED: u64 = 64 << 20;
/// What decompression may make of a file: real files stay far below 32 times their size.
const MAX_EXPANSION: usize = 32;
const EXPANSION_FLOOR: usize = 32 << 20;

/// What a URI says.
pub(crate) enum Uri {
    Data(Vec<u8>),
    Beside(String),
}

/// Takes a URI apart; anything but data and relative paths is refused.
pub(crate) fn uri(text: &str) -> Result<Uri, String> {
    if let Some(data) = text.strip_prefix("data:") {
        let (about, body) = data.split_once(',').ok_or("the data URI has no comma")?;
        let bytes = if about.ends_with(";base64") { base64(body)? } else { percent(body)? };
        return Ok(Uri::Data(bytes));
    }
    let scheme = text.split(['/', '?', '#']).next().unwrap_or("");
    if scheme.contains(':') {
        return Err(format!("\"{}\" is not a file beside this one", shorten(text, NAME)));
    }
    let name = String::from_utf8(percent(text)?).map_err(|_| "the URI is not UTF-8")?;
    if name.is_empty() { Err("the URI is empty".into()) } else { Ok(Uri::Beside(name)) }
}

/// Characters of a name that an error line shows.
pub(crate) const NAME: usize = 60;

/// Text fit for an error line.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        text.into()
    } else {
        text.chars().take(limit).chain("...".chars()).collect()
    }
}

fn percent(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16)).map(|d| d as u8);
            match (digit(bytes.next()), digit(bytes.next())) {
                (Some(high), Some(low)) => out.push(high << 4 | low),
                _ => return Err("a percent sign in the URI is not followed by two hex digits".into()),
            }
        } else {
            out.push(byte);
        }
    }
    Ok(out)
}

fn base64(text: &str) -> Result<Vec<u8>, String> {
    const BAD: u8 = 255;
    const TABLE: [u8; 256] = {
        let mut table = [BAD; 256];
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut i = 0;
        while i < 64 {
            table[letters[i] as usize] = i as u8;
            i += 1;
        }
        table[b'-' as usize] = 62;
        table[b'_' as usize] = 63;
        table
    };
    let text = text.trim_end_matches('=').as_bytes();
    if text.len() % 4 == 1 {
        return Err("the base64 data is cut short".into());
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let mut bad = 0;
    for group in text.chunks(4) {
        let digit = |i: usize| group.get(i).map_or(0, |&b| TABLE[b as usize]);
        let [a, b, c, d] = [digit(0), digit(1), digit(2), digit(3)];
        bad |= (a | b | c | d) & 0x80;
        let word = [a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | (d & 63)];
        out.extend_from_slice(&word[..group.len() - 1]);
    }
    if bad == 0 { Ok(out) } else { Err("the data URI is not base64".into()) }
}

/// Fetches every buffer. A buffer that has no place to come from is left empty, with a warning: it may be the
/// placeholder of compressed views.
pub(crate) fn load(
    root: &Root<'_>,
    container: &Container,
    files: &dyn Files,
    problems: &mut Vec<Problem>,
    warnings: &mut Vec<Warning>,
) -> Vec<Bytes> {
    let mut buffers = Vec::with_capacity(root.buffers.len());
    let mut fetched: BTreeSet<String> = BTreeSet::new();
    let (mut fresh, mut again) = (MAX_BUFFER, MAX_REPEATED);
    for (index, buffer) in root.buffers.iter().enumerate() {
        let place = || format!("buffers[{index}]");
        let declared = buffer.byte_length.0;
        if declared == 0 {
            problems.push(Problem::new(format!("buffers[{index}].byteLength"), "must not be 0"));
        }
        let bytes = match (&buffer.uri, &container.binary) {
            (None, Some(range)) if index == 0 && !range.is_empty() => Bytes::InFile(range.clone()),
            (None, _) => Bytes::Own(Vec::new()),
            (Some(text), _) => match uri(text) {
                Ok(Uri::Data(bytes)) => Bytes::Own(bytes),
                Ok(Uri::Beside(name)) => {
                    let budget = if fetched.contains(&name) { &mut again } else { &mut fresh };
                    match files.read(&name, *budget) {
                        Ok(bytes) => {
                            *budget = budget.saturating_sub(bytes.len() as u64);
                            fetched.insert(name);
                            Bytes::Own(bytes)
                        }
                        Err(error) => {
                            problems.push(
                                Problem::new(
                                    format!("buffers[{index}].uri"),
                                    format!("\"{}\": {error}", shorten(&name, NAME)),
                                )
                                .hint("put that file beside this one, or export as .glb"),
                            );
                            Bytes::Own(Vec::new())
                        }
                    }
                }
                Err(what) => {
                    problems.push(
                        Problem::new(format!("buffers[{index}].uri"), what)
                            .hint("buffers must be embedded or files beside this one"),
                    );
                    Bytes::Own(Vec::new())
                }
            },
        };
        let found = match &bytes {
            Bytes::InFile(range) => range.len(),
            Bytes::Own(own) => own.len(),
        };
        if found > 0 && found < declared {
            problems.push(Problem::new(place(), format!("has {found} bytes where {declared} are declared")));
        } else if matches!(bytes, Bytes::InFile(_)) && found - declared > 3 {
            let extra = found - declared;
            warnings.push(Warning::new(place(), format!("the binary chunk has {extra} bytes too many"), 1));
        }
        buffers.push(bytes);
    }
    buffers
}

/// Decodes the compressed views. `buffer` gives a buffer's bytes.
pub(crate) fn decompress<'d>(
    root: &Root<'_>,
    file_len: usize,
    buffer: impl Fn(usize) -> &'d [u8],
    problems: &mut Vec<Problem>,
) -> Vec<Option<Vec<u8>>> {
    let mut decoded = vec![None; root.buffer_views.len()];
    let mut budget = EXPANSION_FLOOR.saturating_add(file_len.saturating_mul(MAX_EXPANSION));
    for (index, view) in root.buffer_views.iter().enumerate() {
        let Some(packed) = view.meshopt() else { continue };
        let mut fail = |what: String| {
            problems.push(
                Problem::new(format!("bufferViews[{index}]"), format!("meshopt compression: {what}"))
                    .hint("the file is damaged: export it again"),
            );
        };
        let size = packed.count.0.checked_mul(packed.byte_stride.0);
        if size != Some(view.byte_length.0) {
            fail(format!(
                "{} elements of {} bytes do not make the declared {} bytes",
                packed.count.0, packed.byte_stride.0, view.byte_length.0
            ));
            continue;
        }
        let Some(rest) = budget.checked_sub(view.byte_length.0) else {
            fail(format!("it would grow the file more than {MAX_EXPANSION} times"));
            continue;
        };
        budget = rest;
        if packed.buffer.0 >= root.buffers.len() {
            fail(format!("there is no buffer {}", packed.buffer.0));
            continue;
        }
        let start = packed.byte_offset.0;
        let end = start.checked_add(packed.byte_length.0);
        let Some(data) = end.and_then(|end| buffer(packed.buffer.0).get(start..end)) else {
            fail("the compressed bytes lie outside their buffer".into());
            continue;
        };
        let filter = packed.filter.as_deref();
        match meshopt::decode(&packed.mode, filter, data, packed.count.0, packed.byte_stride.0) {
            Ok(bytes) => decoded[index] = Some(bytes),
            Err(what) => fail(what.into()),
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris() {
        let data = |text: &str| match uri(text) {
            Ok(Uri::Data(bytes)) => Ok(bytes),
            Ok(Uri::Beside(name)) => Err(name),
            Err(what) => Err(what),
        };
        assert_eq!(data("data:application/octet-stream;base64,AAH+/w=="), Ok(vec![0, 1, 254, 255]));
        assert_eq!(data("data:;base64,AAH+/w"), Ok(vec![0, 1, 254, 255]));
        assert_eq!(data("data:text/plain,a%20b"), Ok(b"a b".to_vec()));
        assert_eq!(data("my%20file.bin"), Err("my file.bin".into()));
        for bad in
            ["data:", "data:;base64,A", "data:;base64,A!AA", ":", "http://x/y.bin", "C:/x.bin", "a%2", ""]
        {
            assert!(uri(bad).is_err(), "{bad}");
        }
    }
}
