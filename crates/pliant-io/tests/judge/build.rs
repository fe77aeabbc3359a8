//! Small glTF files made by hand.

use serde_json::{Value, json};

/// A GLB in the making: JSON that tests fill in, and accessors over one buffer.
pub(crate) struct Builder {
    pub(crate) json: Value,
    binary: Vec<u8>,
}

/// How numbers are stored.
#[derive(Clone, Copy)]
pub(crate) enum Store {
    I8,
    U8,
    I16,
    U16,
    F32,
    /// Normalised: given as 0..1 or -1..1.
    UnitI8,
    UnitI16,
    UnitU8,
    UnitU16,
}

impl Store {
    fn component(self) -> usize {
        match self {
            Self::I8 | Self::UnitI8 => 5120,
            Self::U8 | Self::UnitU8 => 5121,
            Self::I16 | Self::UnitI16 => 5122,
            Self::U16 | Self::UnitU16 => 5123,
            Self::F32 => 5126,
        }
    }

    fn normalised(self) -> bool {
        matches!(self, Self::UnitI8 | Self::UnitI16 | Self::UnitU8 | Self::UnitU16)
    }

    fn push(self, number: f64, out: &mut Vec<u8>) {
        match self {
            Self::I8 => out.extend((number as i8).to_le_bytes()),
            Self::U8 => out.push(number as u8),
            Self::I16 => out.extend((number as i16).to_le_bytes()),
            Self::U16 => out.extend((number as u16).to_le_bytes()),
            Self::F32 => out.extend((number as f32).to_le_bytes()),
            Self::UnitI8 => out.extend(((number * 127.0).round() as i8).to_le_bytes()),
            Self::UnitI16 => out.extend(((number * 32767.0).round() as i16).to_le_bytes()),
            Self::UnitU8 => out.push((number * 255.0).round() as u8),
            Self::UnitU16 => out.extend(((number * 65535.0).round() as u16).to_le_bytes()),
        }
    }
}

impl Builder {
    pub(crate) fn new() -> Self {
        let json = json!({ "asset": { "version": "2.0" }, "accessors": [], "bufferViews": [] });
        Self { json, binary: Vec::new() }
    }

    /// Adds to a list of the document and gives the index.
    pub(crate) fn push(&mut self, list: &str, value: Value) -> usize {
        let list = &mut self.json[list];
        if list.is_null() {
            *list = json!([]);
        }
        let list = list.as_array_mut().expect("a list");
        list.push(value);
        list.len() - 1
    }

    /// A view of bytes laid at a multiple of four.
    pub(crate) fn view(&mut self, bytes: &[u8], stride: Option<usize>) -> usize {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        let offset = self.binary.len();
        self.binary.extend_from_slice(bytes);
        let mut view = json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() });
        if let Some(stride) = stride {
            view["byteStride"] = json!(stride);
        }
        self.push("bufferViews", view)
    }

    /// An accessor of `rows`, tightly packed.
    pub(crate) fn accessor<const N: usize>(&mut self, store: Store, rows: &[[f64; N]]) -> usize {
        let mut bytes = Vec::new();
        rows.as_flattened().iter().for_each(|&n| store.push(n, &mut bytes));
        let view = self.view(&bytes, None);
        self.describe(store, N, rows, Some(view), 0)
    }

    /// An accessor for a vertex attribute, each element padded to a multiple of four bytes as the standard wants, and
    /// `gap` bytes more.
    pub(crate) fn attribute<const N: usize>(&mut self, store: Store, rows: &[[f64; N]], gap: usize) -> usize {
        let (mut bytes, mut stride) = (Vec::new(), 0);
        for row in rows {
            let start = bytes.len();
            row.iter().for_each(|&n| store.push(n, &mut bytes));
            bytes.resize((bytes.len() - start).next_multiple_of(4) + start + gap, 0xEE);
            stride = bytes.len() - start;
        }
        let view = self.view(&bytes, Some(stride));
        self.describe(store, N, rows, Some(view), 0)
    }

    /// Positions and normals of f32 in one view, side by side.
    pub(crate) fn interleaved(&mut self, a: &[[f64; 3]], b: &[[f64; 3]]) -> (usize, usize) {
        let mut bytes = Vec::new();
        for (a, b) in a.iter().zip(b) {
            a.iter().chain(b).for_each(|&n| Store::F32.push(n, &mut bytes));
        }
        let view = self.view(&bytes, Some(24));
        (self.describe(Store::F32, 3, a, Some(view), 0), self.describe(Store::F32, 3, b, Some(view), 12))
    }

    /// An accessor without a view, zero but at `entries`, which are in order of index.
    pub(crate) fn sparse(&mut self, count: usize, entries: &[(u16, [f64; 3])]) -> usize {
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for (index, value) in entries {
            indices.extend(index.to_le_bytes());
            value.iter().for_each(|&n| Store::F32.push(n, &mut values));
        }
        let (indices, values) = (self.view(&indices, None), self.view(&values, None));
        let mut rows = vec![[0.0; 3]; count];
        entries.iter().for_each(|e| rows[e.0 as usize] = e.1);
        let accessor = self.describe(Store::F32, 3, &rows, None, 0);
        self.json["accessors"][accessor]["sparse"] = json!({
            "count": entries.len(),
            "indices": { "bufferView": indices, "componentType": 5123 },
            "values": { "bufferView": values },
        });
        accessor
    }

    fn describe<const N: usize>(
        &mut self,
        store: Store,
        width: usize,
        rows: &[[f64; N]],
        view: Option<usize>,
        offset: usize,
    ) -> usize {
        let kind = match width {
            1 => "SCALAR",
            2 => "VEC2",
            3 => "VEC3",
            4 => "VEC4",
            _ => "MAT4",
        };
        let mut accessor = json!({ "componentType": store.component(), "type": kind, "count": rows.len() });
        if let Some(view) = view {
            accessor["bufferView"] = json!(view);
        }
        if offset > 0 {
            accessor["byteOffset"] = json!(offset);
        }
        if store.normalised() {
            accessor["normalized"] = json!(true);
        }
        // As stored: f32 rounded, normalised integers as integers.
        let stored = |number: f64| match store {
            Store::UnitI8 => (number * 127.0).round(),
            Store::UnitI16 => (number * 32767.0).round(),
            Store::UnitU8 => (number * 255.0).round(),
            Store::UnitU16 => (number * 65535.0).round(),
            _ => f64::from(number as f32),
        };
        let edge = |pick: fn(f64, f64) -> f64| -> Vec<f64> {
            (0..N).map(|k| rows.iter().map(|r| stored(r[k])).reduce(pick).unwrap_or(0.0)).collect()
        };
        accessor["min"] = json!(edge(f64::min));
        accessor["max"] = json!(edge(f64::max));
        self.push("accessors", accessor)
    }

    /// The whole file.
    pub(crate) fn glb(mut self) -> Vec<u8> {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        self.json["buffers"] = json!([{ "byteLength": self.binary.len() }]);
        let mut text = self.json.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut out = Vec::new();
        out.extend(b"glTF");
        let total = 12 + 8 + text.len() + 8 + self.binary.len();
        [2, total as u32, text.len() as u32].iter().for_each(|w| out.extend(w.to_le_bytes()));
        out.extend(b"JSON");
        out.extend(text);
        out.extend((self.binary.len() as u32).to_le_bytes());
        out.extend(b"BIN\0");
        out.extend(self.binary);
        out
    }

    /// The same as JSON text with the buffer as a data URI.
    pub(crate) fn gltf(mut self) -> Vec<u8> {
        let mut text = String::from("data:application/octet-stream;base64,");
        let digit = |six: u32| match six as u8 {
            six @ 0..26 => b'A' + six,
            six @ 26..52 => b'a' + six - 26,
            six @ 52..62 => b'0' + six - 52,
            62 => b'+',
            _ => b'/',
        };
        for three in self.binary.chunks(3) {
            let bits = (0..3).fold(0, |bits, k| bits << 8 | u32::from(three.get(k).copied().unwrap_or(0)));
            for k in 0..4 {
                text.push(if k > three.len() { '=' } else { digit(bits >> (18 - 6 * k) & 63) as char });
            }
        }
        self.json["buffers"] = json!([{ "byteLength": self.binary.len(), "uri": text }]);
        self.json.to_string().into_bytes()
    }
}
