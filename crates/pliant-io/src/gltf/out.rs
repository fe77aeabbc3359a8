//! What both writers put into a GLB: accessors, bounds, the container.

use glam::Vec3;
use serde::Serialize;

pub(super) const F32: u32 = 5126;
pub(super) const U32: u32 = 5125;
pub(super) const U16: u32 = 5123;
pub(super) const U8: u32 = 5121;
/// Buffer view targets.
pub(super) const VERTICES: u32 = 34962;
pub(super) const INDICES: u32 = 34963;

/// The parts of a GLB that are not its data: file header, JSON chunk header, binary chunk header.
pub(super) const FILE_HEAD: u64 = 12;
pub(super) const CHUNK_HEAD: u64 = 8;

fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// Smallest and largest value, component by component.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Limit {
    Scalar([f32; 1]),
    Vector([f32; 3]),
}

/// A new accessor. Typed, since a long bake has hundreds of thousands, and as JSON values they take 1 KB each.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) buffer_view: Option<usize>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) byte_offset: u64,
    pub(super) component_type: u32,
    pub(super) count: usize,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max: Option<Limit>,
}

impl Accessor {
    pub(super) fn new(view: usize, component_type: u32, kind: &'static str, count: usize) -> Self {
        Self { buffer_view: Some(view), byte_offset: 0, component_type, count, kind, min: None, max: None }
    }

    pub(super) fn bounded(mut self, (min, max): (Limit, Limit)) -> Self {
        (self.min, self.max) = (Some(min), Some(max));
        self
    }
}

/// A new buffer view.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    pub(super) buffer: u32,
    pub(super) byte_offset: u64,
    pub(super) byte_length: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) byte_stride: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<u32>,
}

impl View {
    pub(super) fn new(byte_offset: u64, byte_length: u64) -> Self {
        Self { buffer: 0, byte_offset, byte_length, byte_stride: None, target: None }
    }

    /// A view of positions or normals, which several accessors may share.
    pub(super) fn vectors(byte_offset: u64, byte_length: u64) -> Self {
        Self { byte_stride: Some(12), target: Some(VERTICES), ..Self::new(byte_offset, byte_length) }
    }
}

/// Bounds of vectors; of none, zero.
pub(super) fn vector_bounds(values: impl IntoIterator<Item = Vec3>) -> (Limit, Limit) {
    let mut values = values.into_iter();
    let first = values.next().unwrap_or(Vec3::ZERO);
    let (low, high) = values.fold((first, first), |(low, high), v| (low.min(v), high.max(v)));
    (Limit::Vector(low.to_array()), Limit::Vector(high.to_array()))
}

/// Bounds of key times, which increase.
pub(super) fn time_bounds(times: &[f32]) -> (Limit, Limit) {
    let at = |time: Option<&f32>| Limit::Scalar([time.copied().unwrap_or(0.0)]);
    (at(times.first()), at(times.last()))
}

/// What stands before the binary data of a GLB. `json` is padded to a multiple of 4 bytes already.
pub(super) fn glb_head(json: &[u8], data_len: u64) -> Vec<u8> {
    let data_chunk = if data_len > 0 { CHUNK_HEAD + data_len } else { 0 };
    let total = FILE_HEAD + CHUNK_HEAD + json.len() as u64 + data_chunk;
    let mut head = Vec::with_capacity((total - data_len) as usize);
    head.extend(b"glTF");
    head.extend(2u32.to_le_bytes());
    head.extend((total as u32).to_le_bytes());
    head.extend((json.len() as u32).to_le_bytes());
    head.extend(b"JSON");
    head.extend(json);
    if data_len > 0 {
        head.extend((data_len as u32).to_le_bytes());
        head.extend(b"BIN\0");
    }
    head
}
