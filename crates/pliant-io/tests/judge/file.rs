//! The container: GLB chunks, buffers wherever they are, and accessors as f64.

use serde_json::Value;
use std::path::Path;

/// A file's JSON and the bytes of its buffers.
pub(crate) struct File {
    pub(crate) json: Value,
    buffers: Vec<Vec<u8>>,
}

/// An accessor's numbers, `width` per element.
pub(crate) struct Numbers {
    pub(crate) width: usize,
    pub(crate) values: Vec<f64>,
}

impl Numbers {
    pub(crate) fn rows<const N: usize>(&self) -> Result<Vec<[f64; N]>, String> {
        if self.width != N {
            return Err(format!("elements of {} numbers where {N} belong", self.width));
        }
        Ok(self.values.chunks_exact(N).map(|c| std::array::from_fn(|k| c[k])).collect())
    }
}

/// A whole number, also one written as `3.0`.
pub(crate) fn whole(value: &Value) -> Option<usize> {
    let number = value.as_f64()?;
    (number >= 0.0 && number.fract() == 0.0).then_some(number as usize)
}

/// A whole number that may be missing.
pub(crate) fn index(of: &Value, key: &str) -> Result<Option<usize>, String> {
    match of.get(key) {
        None => Ok(None),
        Some(value) => whole(value).map(Some).ok_or(format!("{key} is {value}")),
    }
}

/// An array, empty if missing.
pub(crate) fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}

impl File {
    pub(crate) fn parse(bytes: &[u8], folder: &Path) -> Result<Self, String> {
        let (json, binary) = if bytes.starts_with(b"glTF") { chunks(bytes)? } else { (bytes, None) };
        let json: Value = serde_json::from_slice(json).map_err(|e| e.to_string())?;
        for name in list(&json, "extensionsRequired") {
            let known = ["KHR_mesh_quantization", "KHR_texture_transform", "KHR_materials_unlit"];
            if !name.as_str().is_some_and(|n| known.contains(&n)) {
                return Err(format!("requires {name}"));
            }
        }
        let mut buffers = Vec::new();
        for (i, buffer) in list(&json, "buffers").iter().enumerate() {
            let mut bytes = match buffer.get("uri").and_then(Value::as_str) {
                Some(uri) => fetch(uri, folder)?,
                None if i == 0 => binary.ok_or("buffer 0 has no bytes")?.to_vec(),
                None => return Err(format!("buffer {i} has no bytes")),
            };
            let length = index(buffer, "byteLength")?.ok_or("a buffer without byteLength")?;
            if bytes.len() < length {
                return Err(format!("buffer {i} has {} bytes of {length}", bytes.len()));
            }
            bytes.truncate(length);
            buffers.push(bytes);
        }
        Ok(Self { json, buffers })
    }

    /// Bytes of a view from `offset` on, and its stride.
    fn view(&self, view: usize, offset: usize) -> Result<(&[u8], Option<usize>), String> {
        let json = list(&self.json, "bufferViews").get(view).ok_or(format!("no buffer view {view}"))?;
        let buffer = index(json, "buffer")?.and_then(|b| self.buffers.get(b)).ok_or("no such buffer")?;
        let start = index(json, "byteOffset")?.unwrap_or(0);
        let length = index(json, "byteLength")?.ok_or("a view without byteLength")?;
        let bytes = buffer
            .get(start..start.saturating_add(length))
            .ok_or(format!("view {view} leaves its buffer"))?;
        let bytes = bytes.get(offset..).ok_or(format!("an offset leaves view {view}"))?;
        Ok((bytes, index(json, "byteStride")?))
    }

    /// All numbers of an accessor: strided, sparse, normalised, or without a view (zeros).
    pub(crate) fn accessor(&self, accessor: usize) -> Result<Numbers, String> {
        self.read(accessor).map_err(|e| format!("accessor {accessor}: {e}"))
    }

    fn read(&self, accessor: usize) -> Result<Numbers, String> {
        let json = list(&self.json, "accessors").get(accessor).ok_or("there is none")?;
        let component = Component::of(json)?;
        let normalised = json.get("normalized").and_then(Value::as_bool).unwrap_or(false);
        let count = index(json, "count")?.ok_or("no count")?;
        let (columns, rows) = match json.get("type").and_then(Value::as_str) {
            Some("SCALAR") => (1, 1),
            Some("VEC2") => (1, 2),
            Some("VEC3") => (1, 3),
            Some("VEC4") => (1, 4),
            Some("MAT2") => (2, 2),
            Some("MAT3") => (3, 3),
            Some("MAT4") => (4, 4),
            other => return Err(format!("type {other:?}")),
        };
        let width = columns * rows;
        // Matrix columns start at multiples of four bytes.
        let column_bytes = match columns {
            1 => rows * component.size(),
            _ => (rows * component.size()).next_multiple_of(4),
        };
        let element_bytes = columns * column_bytes;
        let element = |bytes: &[u8], at: usize, out: &mut [f64]| -> Result<(), String> {
            for (k, out) in out.iter_mut().enumerate() {
                let start = at + k / rows * column_bytes + k % rows * component.size();
                let raw = bytes.get(start..start + component.size()).ok_or("it leaves its buffer view")?;
                *out = component.decode(raw, normalised);
            }
            Ok(())
        };

        let mut values = Vec::new();
        let offset = index(json, "byteOffset")?.unwrap_or(0);
        match index(json, "bufferView")? {
            None => values.resize(count.checked_mul(width).filter(|&n| n < 1 << 28).ok_or("too long")?, 0.0),
            Some(view) => {
                let (bytes, stride) = self.view(view, offset)?;
                let stride = stride.unwrap_or(element_bytes);
                if count > bytes.len() {
                    return Err("more elements than bytes".into());
                }
                values.resize(count * width, 0.0);
                for (i, out) in values.chunks_exact_mut(width).enumerate() {
                    element(bytes, i * stride, out)?;
                }
            }
        }
        if let Some(sparse) = json.get("sparse") {
            let part = |key: &str| -> Result<_, String> {
                let part = sparse.get(key).ok_or(format!("sparse without {key}"))?;
                let view = index(part, "bufferView")?.ok_or("sparse without a view")?;
                Ok((part, self.view(view, index(part, "byteOffset")?.unwrap_or(0))?.0))
            };
            let (indices, index_bytes) = part("indices")?;
            let (_, value_bytes) = part("values")?;
            let kind = Component::of(indices)?;
            for i in 0..index(sparse, "count")?.ok_or("sparse without count")? {
                let raw = index_bytes
                    .get(i * kind.size()..(i + 1) * kind.size())
                    .ok_or("sparse indices run out")?;
                let target = kind.decode(raw, false) as usize;
                let out = values.chunks_exact_mut(width).nth(target).ok_or("sparse index out of range")?;
                element(value_bytes, i * element_bytes, out)?;
            }
        }
        Ok(Numbers { width, values })
    }
}

#[derive(Clone, Copy)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn of(json: &Value) -> Result<Self, String> {
        Ok(match index(json, "componentType")? {
            Some(5120) => Self::I8,
            Some(5121) => Self::U8,
            Some(5122) => Self::I16,
            Some(5123) => Self::U16,
            Some(5125) => Self::U32,
            Some(5126) => Self::F32,
            other => return Err(format!("componentType {other:?}")),
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// Section 3.11 of the standard for normalised integers. `raw` has `size` bytes.
    fn decode(self, raw: &[u8], normalised: bool) -> f64 {
        let mut bytes = [0; 4];
        bytes[..raw.len()].copy_from_slice(raw);
        let low = u16::from_le_bytes([bytes[0], bytes[1]]);
        let (number, most) = match self {
            Self::I8 => (f64::from(bytes[0] as i8), 127.0),
            Self::U8 => (f64::from(bytes[0]), 255.0),
            Self::I16 => (f64::from(low as i16), 32767.0),
            Self::U16 => (f64::from(low), 65535.0),
            Self::U32 => (f64::from(u32::from_le_bytes(bytes)), 4294967295.0),
            Self::F32 => (f64::from(f32::from_le_bytes(bytes)), 1.0),
        };
        if normalised { (number / most).max(-1.0) } else { number }
    }
}

/// The JSON and binary chunks of a GLB.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), String> {
    let word =
        |at: usize| -> Option<u32> { Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)) };
    if word(4) != Some(2) {
        return Err("not GLB version 2".into());
    }
    let (mut at, mut json, mut binary) = (12, None, None);
    while let (Some(length), Some(kind)) = (word(at), word(at + 4)) {
        let chunk = bytes.get(at + 8..at + 8 + length as usize).ok_or("a chunk leaves the file")?;
        match &kind.to_le_bytes() {
            b"JSON" => json = json.or(Some(chunk)),
            b"BIN\0" => binary = binary.or(Some(chunk)),
            _ => {}
        }
        at += 8 + length as usize;
    }
    Ok((json.ok_or("no JSON chunk")?, binary))
}

fn fetch(uri: &str, folder: &Path) -> Result<Vec<u8>, String> {
    if let Some(data) = uri.strip_prefix("data:") {
        let (kind, data) = data.split_once(',').ok_or("a data URI without data")?;
        return if kind.ends_with(";base64") { base64(data) } else { percent(data) };
    }
    let name = String::from_utf8(percent(uri)?).map_err(|e| e.to_string())?;
    std::fs::read(folder.join(&name)).map_err(|e| format!("{name}: {e}"))
}

fn percent(text: &str) -> Result<Vec<u8>, String> {
    let (mut out, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let hex = tail.get(..2).and_then(|h| std::str::from_utf8(h).ok()).ok_or("a bare % in a URI")?;
            out.push(u8::from_str_radix(hex, 16).map_err(|e| e.to_string())?);
            rest = &tail[2..];
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    Ok(out)
}

fn base64(text: &str) -> Result<Vec<u8>, String> {
    let (mut out, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            other => return Err(format!("byte {other} in base64")),
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    Ok(out)
}
