//! The data of a baked file: everything that is still needed, in one buffer.

use crate::gltf::Document;
use crate::{Files, Warning, WriteError};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ops::Range;

const MESHOPT: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];
/// The most an image may take.
const MAX_IMAGE: u64 = 1 << 30;

/// Extensions that name no accessor and no buffer view, by name or by the beginning of it. Where a file has none but
/// these, accessors may be renumbered, and what nothing uses any more is left out.
const HARMLESS: [&str; 16] = [
    "KHR_materials_",
    "KHR_texture_",
    "KHR_lights_punctual",
    "KHR_mesh_quantization",
    "KHR_animation_pointer",
    "KHR_node_",
    "KHR_xmp",
    "EXT_texture_",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "EXT_lights_image_based",
    "FB_ngon_encoding",
    "MSFT_lod",
    "MSFT_texture_",
    "VRMC_",
    "VRM",
];

/// Bytes that go to a place in the output's data.
pub(super) struct Piece<'a> {
    pub(super) at: u64,
    pub(super) bytes: &'a [u8],
}

pub(super) struct Packed<'a> {
    pub(super) accessors: Vec<Value>,
    pub(super) views: Vec<Value>,
    /// In order of place, not overlapping.
    pub(super) pieces: Vec<Piece<'a>>,
}

/// Takes accessors and buffer views out of the JSON, less those that nothing uses, and lays out their bytes.
pub(super) fn pack<'a>(
    map: &mut Map<String, Value>,
    document: &'a Document,
) -> Result<Packed<'a>, WriteError> {
    let mut accessors = take_list(map, "accessors");
    let mut views = take_list(map, "bufferViews");
    let mut decoded: Vec<_> = (0..views.len()).map(|i| document.decoded_views.get(i)?.as_deref()).collect();
    if is_harmless(map) && accessors.iter().chain(&views).all(is_harmless_value) {
        let mut used = vec![false; accessors.len()];
        each_accessor(map, &mut |i| mark(&mut used, i));
        let numbers = renumber(&used);
        each_accessor(map, &mut |i| substitute(&numbers, i));
        accessors = keep(accessors, &used);

        let mut used = vec![false; views.len()];
        each_view(map, &mut accessors, &mut |i| mark(&mut used, i));
        let numbers = renumber(&used);
        each_view(map, &mut accessors, &mut |i| substitute(&numbers, i));
        views = keep(views, &used);
        decoded = keep(decoded, &used);
    }
    let pieces = lay_out(&mut views, &decoded, document)?;
    for key in ["extensionsUsed", "extensionsRequired"] {
        let Some(names) = map.get_mut(key).and_then(Value::as_array_mut) else { continue };
        names.retain(|n| !n.as_str().is_some_and(|n| MESHOPT.contains(&n)));
        if names.is_empty() {
            map.remove(key);
        }
    }
    Ok(Packed { accessors, views, pieces })
}

fn take_list(map: &mut Map<String, Value>, key: &str) -> Vec<Value> {
    match map.remove(key) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

/// Whether every extension anywhere in an object is known to name no accessor.
fn is_harmless(object: &Map<String, Value>) -> bool {
    let known = |name: &String| HARMLESS.iter().any(|h| name.starts_with(h));
    object.iter().all(|(key, value)| match value {
        // Nobody but its maker gives a number in here a meaning.
        _ if key == "extras" => true,
        Value::Object(extensions) if key == "extensions" => {
            extensions.keys().all(known) && is_harmless(extensions)
        }
        _ => is_harmless_value(value),
    })
}

fn is_harmless_value(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().all(is_harmless_value),
        Value::Object(object) => is_harmless(object),
        _ => true,
    }
}

/// Calls `visit` with every reference to an accessor that glTF itself has.
fn each_accessor(map: &mut Map<String, Value>, visit: &mut impl FnMut(&mut Value)) {
    for mesh in items(map.get_mut("meshes")) {
        for primitive in items(mesh.get_mut("primitives")) {
            members(primitive.get_mut("attributes")).for_each(&mut *visit);
            primitive.get_mut("indices").into_iter().for_each(&mut *visit);
            items(primitive.get_mut("targets")).for_each(|t| members(Some(t)).for_each(&mut *visit));
        }
    }
    for skin in items(map.get_mut("skins")) {
        skin.get_mut("inverseBindMatrices").into_iter().for_each(&mut *visit);
    }
    for animation in items(map.get_mut("animations")) {
        for sampler in items(animation.get_mut("samplers")) {
            for key in ["input", "output"] {
                sampler.get_mut(key).into_iter().for_each(&mut *visit);
            }
        }
    }
}

/// Calls `visit` with every reference to a buffer view that glTF itself has.
fn each_view(map: &mut Map<String, Value>, accessors: &mut [Value], visit: &mut impl FnMut(&mut Value)) {
    for accessor in accessors {
        for path in ["/bufferView", "/sparse/indices/bufferView", "/sparse/values/bufferView"] {
            accessor.pointer_mut(path).into_iter().for_each(&mut *visit);
        }
    }
    for image in items(map.get_mut("images")) {
        image.get_mut("bufferView").into_iter().for_each(&mut *visit);
    }
}

fn items(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    list.and_then(Value::as_array_mut).into_iter().flatten()
}

fn members(object: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    object.and_then(Value::as_object_mut).into_iter().flat_map(|o| o.values_mut())
}

fn mark(used: &mut [bool], index: &Value) {
    if let Some(used) = index.as_u64().and_then(|i| used.get_mut(i as usize)) {
        *used = true;
    }
}

/// For each element its number once those that are not used have gone.
fn renumber(used: &[bool]) -> Vec<usize> {
    let count = |next: &mut usize, &used: &bool| {
        let number = *next;
        *next += usize::from(used);
        Some(number)
    };
    used.iter().scan(0, count).collect()
}

fn substitute(numbers: &[usize], index: &mut Value) {
    if let Some(&number) = index.as_u64().and_then(|i| numbers.get(i as usize)) {
        *index = number.into();
    }
}

fn keep<T>(list: Vec<T>, used: &[bool]) -> Vec<T> {
    list.into_iter().zip(used).filter(|(_, used)| **used).map(|(item, _)| item).collect()
}

/// Gives the bytes of every view a place. Views that overlap stay so: no byte is written twice.
fn lay_out<'a>(
    views: &mut [Value],
    decoded: &[Option<&'a [u8]>],
    document: &'a Document,
) -> Result<Vec<Piece<'a>>, WriteError> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    // The start of a range, as accessors need it: components of 8 bytes at most stay aligned if they were.
    let mut append = |bytes: &'a [u8], start: usize| {
        let end = pieces.last().map_or(0, |p| p.at + p.bytes.len() as u64);
        let at = end + (start as u64 % 8 + 8 - end % 8) % 8;
        pieces.push(Piece { at, bytes });
        at
    };
    let mut ranges: BTreeMap<usize, Vec<Range<usize>>> = BTreeMap::new();
    let mut places = vec![(0, 0..0); views.len()];
    for (index, view) in views.iter().enumerate().filter(|(i, _)| decoded[*i].is_none()) {
        let place = || format!("bufferViews[{index}]");
        let number = |key: &str| view.get(key).map_or(Some(0), Value::as_u64).map(|n| n as usize);
        let range =
            number("byteOffset").and_then(|start| Some(start..start.checked_add(number("byteLength")?)?));
        let buffer = number("buffer").filter(|b| *b < document.buffers.len());
        let (Some(buffer), Some(range)) = (buffer, range) else {
            return Err(WriteError::at(place(), "it refers to no buffer"));
        };
        if range.end > document.buffer(buffer).len() {
            return Err(WriteError::at(place(), "it goes beyond its buffer"));
        }
        ranges.entry(buffer).or_default().push(range.clone());
        places[index] = (buffer, range);
    }
    // Ranges that overlap become one.
    let mut placed: BTreeMap<usize, Vec<(Range<usize>, u64)>> = BTreeMap::new();
    for (buffer, mut list) in ranges {
        list.sort_by_key(|r| (r.start, r.end));
        let mut merged: Vec<Range<usize>> = Vec::new();
        for range in list {
            match merged.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        let bytes = document.buffer(buffer);
        let places = merged.into_iter().map(|r| (r.clone(), append(&bytes[r.clone()], r.start)));
        placed.insert(buffer, places.collect());
    }
    for (index, view) in views.iter_mut().enumerate() {
        let Some(view) = view.as_object_mut() else { continue };
        let at = match decoded[index] {
            Some(bytes) => {
                view.insert("byteLength".into(), bytes.len().into());
                if let Some(extensions) = view.get_mut("extensions").and_then(Value::as_object_mut) {
                    extensions.retain(|name, _| !MESHOPT.contains(&name.as_str()));
                    if extensions.is_empty() {
                        view.remove("extensions");
                    }
                }
                append(bytes, 0)
            }
            None => {
                let (buffer, range) = &places[index];
                let list = placed.get(buffer).map_or(&[][..], Vec::as_slice);
                let home = list.partition_point(|(r, _)| r.start <= range.start).checked_sub(1);
                home.map_or(0, |h| list[h].1 + (range.start - list[h].0.start) as u64)
            }
        };
        view.insert("buffer".into(), 0.into());
        view.insert("byteOffset".into(), at.into());
    }
    Ok(pieces)
}

/// Reads the images that lie beside the file: which, their bytes, and their type.
pub(super) fn read_images(
    map: &mut Map<String, Value>,
    files: &dyn Files,
    warnings: &mut Vec<Warning>,
) -> Vec<(usize, Vec<u8>, &'static str)> {
    let mut found = Vec::new();
    for (index, image) in items(map.get_mut("images")).enumerate() {
        let Some(uri) = image.get("uri").and_then(Value::as_str) else { continue };
        if uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
            continue;
        }
        let mut warn = |why: String| {
            let what = format!("{uri} is not embedded: {why}; the reference stays");
            warnings.push(Warning::new(format!("images[{index}].uri"), what, 1));
        };
        match files.read(&unescape(uri), MAX_IMAGE) {
            Err(error) => warn(error.to_string()),
            Ok(bytes) => match image_type(&bytes) {
                None => warn("it is no PNG, JPEG, WebP, AVIF or KTX2 image".into()),
                Some(kind) => found.push((index, bytes, kind)),
            },
        }
    }
    found
}

fn image_type(bytes: &[u8]) -> Option<&'static str> {
    let starts = |at: usize, magic: &[u8]| bytes.get(at..).is_some_and(|b| b.starts_with(magic));
    match () {
        () if starts(0, b"\x89PNG\r\n\x1a\n") => Some("image/png"),
        () if starts(0, b"\xFF\xD8\xFF") => Some("image/jpeg"),
        () if starts(0, b"RIFF") && starts(8, b"WEBP") => Some("image/webp"),
        () if starts(4, b"ftypavif") => Some("image/avif"),
        () if starts(0, b"\xABKTX 20\xBB\r\n\x1a\n") => Some("image/ktx2"),
        () => None,
    }
}

/// A URI's `%20` and the like as the bytes they stand for; as it is where that is no text.
fn unescape(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).filter(|_| *first == b'%').and_then(|two| {
            let digit = |b: u8| (b as char).to_digit(16);
            Some((digit(two[0])? * 16 + digit(two[1])?) as u8)
        });
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| uri.to_string())
}
