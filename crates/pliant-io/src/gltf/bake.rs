//! A baked GLB: the file as it came, with its skinned meshes turned into morph targets, one per frame.

mod pack;
mod scene;

use super::Document;
use super::out::{Accessor, CHUNK_HEAD, F32, FILE_HEAD, View, glb_head, time_bounds, vector_bounds};
use crate::cache::{FrameWriter, write_positions};
use crate::files::{ReadyFile, WholeFile};
use crate::{Files, Warning, WriteError};
use glam::Vec3;
use pack::Packed;
use pliant::asset::Character;
use pliant::method::Shape;
use scene::Scene;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::io::{Cursor, Seek, SeekFrom, Write};
use std::ops::Range;

/// More morph targets than this make viewers choke.
const MAX_FRAMES: usize = 2_000;
/// More accessors than this, one or two for each part and frame, take gigabytes of JSON.
const MAX_ACCESSORS: usize = 1_000_000;
/// Most characters that an f32 takes in JSON ("-1234567800000000.0"), less those of the "0.0" it stands for.
const NUMBER_ROOM: usize = 20 - 3;
/// A vector of three f32.
const VECTOR: u64 = 12;

/// A motion to bake: which, and when its frames are.
#[derive(Debug, Clone, Copy)]
pub struct BakedClip<'a> {
    /// The character's clip; its joints keep moving as they did, so that rigid children follow. `None` where the frames
    /// come from elsewhere.
    pub clip: Option<usize>,
    /// The animation's name.
    pub name: &'a str,
    /// Times of the frames in seconds, increasing, not negative. A still without a clip needs one, whatever it is.
    pub times: &'a [f64],
}

/// Where the parts of the character stand in the output.
struct Target {
    vertices: Range<usize>,
    normals: bool,
    mesh: usize,
    primitive: usize,
}

/// A baked GLB in the making. Frames go straight to the sink: it takes the memory of one, not of all.
///
/// Every skinned node becomes a root of its scene without skin or transform; its mesh has the rest pose and one morph
/// target per frame. A file with one frame shows it at once, one with more when it is played.
pub struct GlbBake<W> {
    sink: W,
    root: Root,
    targets: Vec<Target>,
    rest: Shape,
    /// Room left for the JSON before the data.
    json_room: usize,
    data_len: u64,
    /// Index of the first frame's first accessor.
    first: usize,
    frames: usize,
    pushed: usize,
    /// One frame's, kept to save allocations.
    deltas: Vec<Vec3>,
}

/// The JSON: what came from the input as values, and the new accessors.
struct Root {
    map: Map<String, Value>,
    old: Vec<Value>,
    new: Vec<Accessor>,
    old_views: Vec<Value>,
    new_views: Vec<View>,
}

struct Joined<'a, A, B>(&'a [A], &'a [B]);

impl<A: Serialize, B: Serialize> Serialize for Joined<'_, A, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeSeq;
        let mut list = serializer.serialize_seq(Some(self.0.len() + self.1.len()))?;
        self.0.iter().try_for_each(|a| list.serialize_element(a))?;
        self.1.iter().try_for_each(|b| list.serialize_element(b))?;
        list.end()
    }
}

impl Serialize for Root {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in &self.map {
            map.serialize_entry(key, value)?;
        }
        if self.old.len() + self.new.len() > 0 {
            map.serialize_entry("accessors", &Joined(&self.old, &self.new))?;
        }
        if self.old_views.len() + self.new_views.len() > 0 {
            map.serialize_entry("bufferViews", &Joined(&self.old_views, &self.new_views))?;
        }
        map.end()
    }
}

impl Root {
    /// A new view of what comes next, and its index.
    fn view(&mut self, view: View) -> usize {
        self.new_views.push(view);
        self.old_views.len() + self.new_views.len() - 1
    }

    fn accessor(&mut self, accessor: Accessor) -> usize {
        self.new.push(accessor);
        self.old.len() + self.new.len() - 1
    }

    fn text(&self) -> Result<Vec<u8>, WriteError> {
        Ok(serde_json::to_vec(self).map_err(std::io::Error::from)?)
    }
}

/// Bakes frames that are all there already: those of all clips, one after the other.
pub fn bake<'a>(
    document: &Document,
    character: &Character,
    files: &dyn Files,
    clips: &[BakedClip],
    frames: impl IntoIterator<Item = &'a Shape>,
) -> Result<(Vec<u8>, Vec<Warning>), WriteError> {
    let (mut file, warnings) = GlbBake::new(Cursor::new(Vec::new()), document, character, files, clips)?;
    for frame in frames {
        file.push(frame)?;
    }
    Ok((file.finish()?.into_inner(), warnings))
}

impl<W: Write + Seek> GlbBake<W> {
    /// Writes everything but the frames: those of all clips are to follow by [`GlbBake::push`], one after the other.
    /// Without any clip the rest pose alone is written. `files` has the images beside the input; those that cannot be
    /// had stay references, with a warning.
    pub fn new(
        sink: W,
        document: &Document,
        character: &Character,
        files: &dyn Files,
        clips: &[BakedClip],
    ) -> Result<(Self, Vec<Warning>), WriteError> {
        let frames: usize = clips.iter().map(|c| c.times.len()).sum();
        if frames > MAX_FRAMES {
            return Err(WriteError::TooManyFrames { frames, limit: MAX_FRAMES });
        }
        let parts = character.parts();
        let per_frame: usize = parts.iter().map(|p| 1 + usize::from(p.has_normals)).sum();
        if per_frame.saturating_mul(frames) > MAX_ACCESSORS {
            return Err(WriteError::TooManyParts { parts: parts.len(), frames });
        }
        let times = clips.iter().map(key_times).collect::<Result<Vec<_>, _>>()?;
        let Scene { mut map, targets, nodes, mut warnings } = Scene::new(document, character, clips)?;
        let images = pack::read_images(&mut map, files, &mut warnings);
        let Packed { accessors, views, pieces } = pack::pack(&mut map, document)?;
        let root = Root { map, old: accessors, new: Vec::new(), old_views: views, new_views: Vec::new() };
        let rest = Shape::rest(character);
        let mut file = Self {
            sink,
            root,
            targets,
            rest,
            json_room: 0,
            data_len: pieces.last().map_or(0, |p| p.at + p.bytes.len() as u64),
            first: 0,
            frames,
            pushed: 0,
            deltas: Vec::new(),
        };
        let old_len = file.data_len;
        let mut fresh = Vec::new();
        for (index, bytes, kind) in images {
            let view = file.place(View::new(0, bytes.len() as u64));
            fresh.push(bytes);
            if let Some(image) = file.root.map["images"].get_mut(index).and_then(Value::as_object_mut) {
                image.remove("uri");
                image.insert("bufferView".into(), view.into());
                image.insert("mimeType".into(), kind.into());
            }
        }
        fresh.extend(file.add_rest()?);
        fresh.extend(file.add_keys(&times, &nodes));
        file.add_targets();
        file.finish_map();
        file.reserve()?;

        file.sink.seek(SeekFrom::Start(0))?;
        let room = vec![b' '; file.head_len() as usize];
        file.sink.write_all(&room)?;
        let mut at = 0;
        for piece in &pieces {
            pad(&mut file.sink, piece.at - at)?;
            file.sink.write_all(piece.bytes)?;
            at = piece.at + piece.bytes.len() as u64;
        }
        debug_assert_eq!(at, old_len);
        for bytes in fresh {
            pad(&mut file.sink, at.next_multiple_of(4) - at)?;
            file.sink.write_all(&bytes)?;
            at = at.next_multiple_of(4) + bytes.len() as u64;
        }
        pad(&mut file.sink, at.next_multiple_of(4) - at)?;
        Ok((file, warnings))
    }

    /// Appends a view to the data, at a multiple of 4 bytes.
    fn place(&mut self, view: View) -> usize {
        let byte_offset = self.data_len.next_multiple_of(4);
        self.data_len = byte_offset + view.byte_length;
        self.root.view(View { byte_offset, ..view })
    }

    fn primitive(&mut self, target: usize) -> Option<&mut Map<String, Value>> {
        let Target { mesh, primitive, .. } = self.targets[target];
        self.root.map["meshes"][mesh]["primitives"][primitive].as_object_mut()
    }

    /// Vectors that one frame (or the rest pose) has: positions of each part, and normals where it has them.
    fn vectors(&self) -> u64 {
        self.targets.iter().map(|t| t.vertices.len() as u64 * (1 + u64::from(t.normals))).sum()
    }

    /// The rest pose, which the targets add to.
    fn add_rest(&mut self) -> Result<Option<Vec<u8>>, WriteError> {
        if self.targets.is_empty() {
            return Ok(None);
        }
        let view = self.place(View::vectors(0, self.vectors() * VECTOR));
        let mut bytes = Vec::new();
        for index in 0..self.targets.len() {
            let Target { ref vertices, normals, .. } = self.targets[index];
            let (range, count) = (vertices.clone(), vertices.len());
            let at = bytes.len() as u64;
            write_positions(&mut bytes, &self.rest.positions[range.clone()])?;
            let bounds = vector_bounds(self.rest.positions[range.clone()].iter().copied());
            let position = Accessor { byte_offset: at, ..Accessor::new(view, F32, "VEC3", count) };
            let position = self.root.accessor(position.bounded(bounds));
            let mut attributes = vec![("POSITION", position)];
            if normals {
                let at = bytes.len() as u64;
                write_positions(&mut bytes, &self.rest.normals[range])?;
                let normal = Accessor { byte_offset: at, ..Accessor::new(view, F32, "VEC3", count) };
                attributes.push(("NORMAL", self.root.accessor(normal)));
            }
            if let Some(primitive) = self.primitive(index) {
                for (name, accessor) in attributes {
                    primitive["attributes"][name] = accessor.into();
                }
            }
        }
        Ok(Some(bytes))
    }

    /// One sampler per clip that shows frame after frame, which all baked nodes share.
    fn add_keys(&mut self, times: &[Vec<f32>], nodes: &BTreeSet<usize>) -> Vec<Vec<u8>> {
        let mut fresh = Vec::new();
        let mut shown = 0;
        for (clip, times) in times.iter().enumerate() {
            let before = shown;
            shown += times.len();
            if times.is_empty() || nodes.is_empty() {
                continue;
            }
            let Some(animation) = self.root.map.get("animations").and_then(|a| a.get(clip)) else { continue };
            // A still without a clip is shown by its default weight alone.
            if animation.is_null() {
                continue;
            }
            let view = self.place(View::new(0, times.len() as u64 * 4));
            let input = Accessor::new(view, F32, "SCALAR", times.len()).bounded(time_bounds(times));
            let input = self.root.accessor(input);
            fresh.push(times.iter().flat_map(|t| t.to_le_bytes()).collect());

            let count = times.len() * self.frames;
            let view = self.place(View::new(0, count as u64 * 4));
            let output = self.root.accessor(Accessor::new(view, F32, "SCALAR", count));
            let mut weights = vec![0u8; count * 4];
            for frame in 0..times.len() {
                let at = (frame * self.frames + before + frame) * 4;
                weights[at..at + 4].copy_from_slice(&1f32.to_le_bytes());
            }
            fresh.push(weights);
            let animation = &mut self.root.map["animations"][clip];
            let sampler = animation["samplers"].as_array().map_or(0, Vec::len);
            if let Some(samplers) = animation["samplers"].as_array_mut() {
                samplers.push(json!({"input": input, "output": output, "interpolation": "LINEAR"}));
            }
            if let Some(channels) = animation["channels"].as_array_mut() {
                for node in nodes {
                    channels.push(json!({"sampler": sampler, "target": {"node": node, "path": "weights"}}));
                }
            }
        }
        fresh
    }

    /// A morph target per frame: a view for each frame, an accessor for each part's positions and normals.
    fn add_targets(&mut self) {
        self.first = self.root.new.len();
        if self.targets.is_empty() {
            return;
        }
        let length = self.vectors() * VECTOR;
        let mut lists: Vec<Vec<Value>> = vec![Vec::with_capacity(self.frames); self.targets.len()];
        for _ in 0..self.frames {
            let view = self.place(View::vectors(0, length));
            let mut at = 0;
            for (target, list) in self.targets.iter().zip(&mut lists) {
                let count = target.vertices.len();
                let mut put = |bounded| {
                    let accessor = Accessor { byte_offset: at, ..Accessor::new(view, F32, "VEC3", count) };
                    at += count as u64 * VECTOR;
                    self.root.accessor(if bounded { accessor.bounded(vector_bounds(None)) } else { accessor })
                };
                let mut attributes = json!({"POSITION": put(true)});
                if target.normals {
                    attributes["NORMAL"] = put(false).into();
                }
                list.push(attributes);
            }
        }
        if self.frames == 0 {
            return;
        }
        let weights = if self.frames == 1 { vec![1.0] } else { vec![0.0; self.frames] };
        for (index, list) in lists.into_iter().enumerate() {
            let mesh = self.targets[index].mesh;
            if let Some(primitive) = self.primitive(index) {
                primitive.insert("targets".into(), list.into());
            }
            self.root.map["meshes"][mesh]["weights"] = json!(weights);
        }
    }

    /// Takes out what stayed empty, and says how long the one buffer is.
    fn finish_map(&mut self) {
        self.data_len = self.data_len.next_multiple_of(4);
        let map = &mut self.root.map;
        if let Some(animations) = map.get_mut("animations").and_then(Value::as_array_mut) {
            animations.retain(|a| a["channels"].as_array().is_some_and(|c| !c.is_empty()));
            if animations.is_empty() {
                map.remove("animations");
            }
        }
        if self.data_len > 0 {
            map.insert("buffers".into(), json!([{"byteLength": self.data_len}]));
        } else {
            map.remove("buffers");
        }
    }

    /// Works out how much room the JSON can take once the bounds of the frames are known.
    fn reserve(&mut self) -> Result<(), WriteError> {
        let bounds = self.root.new[self.first..].iter().filter(|a| a.min.is_some()).count();
        self.json_room = (self.root.text()?.len() + bounds * 6 * NUMBER_ROOM).next_multiple_of(4);
        let bytes = self.head_len() + self.data_len;
        if bytes > u64::from(u32::MAX) {
            let hint = "bake fewer frames or write a point cache (.pc2)";
            return Err(WriteError::TooLarge { format: "a .glb (4 GiB)", bytes, hint });
        }
        Ok(())
    }

    fn head_len(&self) -> u64 {
        let data = if self.data_len > 0 { CHUNK_HEAD } else { 0 };
        FILE_HEAD + CHUNK_HEAD + self.json_room as u64 + data
    }

    /// Writes the next frame.
    pub fn push(&mut self, frame: &Shape) -> Result<(), WriteError> {
        if self.pushed == self.frames {
            return WriteError::check_length("frames", self.frames, self.pushed + 1);
        }
        let vertices = self.rest.positions.len();
        WriteError::check_length("vertices of a frame", vertices, frame.positions.len())?;
        WriteError::check_length("normals of a frame", vertices, frame.normals.len())?;
        let per_frame: usize = self.targets.iter().map(|t| 1 + usize::from(t.normals)).sum();
        let mut accessor = self.first + self.pushed * per_frame;
        self.deltas.clear();
        for target in &self.targets {
            let range = target.vertices.clone();
            let arrays = [
                ("position", &frame.positions, &self.rest.positions),
                ("normal", &frame.normals, &self.rest.normals),
            ];
            for (what, moved, rest) in arrays.into_iter().take(1 + usize::from(target.normals)) {
                let from = self.deltas.len();
                self.deltas
                    .extend(moved[range.clone()].iter().zip(&rest[range.clone()]).map(|(&a, &b)| a - b));
                let deltas = &self.deltas[from..];
                if let Some(vertex) = deltas.iter().position(|d| !d.is_finite()) {
                    let vertex = vertex + range.start;
                    return Err(WriteError::NotFinite { what, vertex, frame: self.pushed });
                }
                if what == "position" {
                    let (min, max) = vector_bounds(deltas.iter().copied());
                    let accessor = &mut self.root.new[accessor];
                    (accessor.min, accessor.max) = (Some(min), Some(max));
                }
                accessor += 1;
            }
        }
        write_positions(&mut self.sink, &self.deltas)?;
        self.pushed += 1;
        Ok(())
    }

    /// Checks that all frames came, and writes what stands before the data.
    pub fn finish(mut self) -> Result<W, WriteError> {
        WriteError::check_length("frames", self.frames, self.pushed)?;
        let mut text = self.root.text()?;
        WriteError::check_length("room for the JSON", self.json_room, self.json_room.max(text.len()))?;
        text.resize(self.json_room, b' ');
        self.sink.seek(SeekFrom::Start(0))?;
        self.sink.write_all(&glb_head(&text, self.data_len))?;
        self.sink.seek(SeekFrom::End(0))?;
        self.sink.flush()?;
        Ok(self.sink)
    }
}

impl FrameWriter for GlbBake<WholeFile> {
    fn push(&mut self, frame: &Shape) -> Result<(), WriteError> {
        GlbBake::push(self, frame)
    }

    fn finish(self: Box<Self>) -> Result<Vec<ReadyFile>, WriteError> {
        Ok(vec![GlbBake::finish(*self)?.ready()?])
    }
}

fn pad(sink: &mut impl Write, count: u64) -> std::io::Result<()> {
    sink.write_all(&[0; 16][..count.min(16) as usize])
}

/// Key times as glTF has them: f32, increasing, not negative.
fn key_times(clip: &BakedClip) -> Result<Vec<f32>, WriteError> {
    let times: Vec<f32> = clip.times.iter().map(|&t| t as f32).collect();
    let wrong = |frame: usize, what: &str| {
        Err(WriteError::at(format!("clip {}, frame {frame}", clip.name), format!("its time {what}")))
    };
    if let Some(frame) = times.iter().position(|t| !t.is_finite() || *t < 0.0) {
        return wrong(frame, "is negative or not a finite number");
    }
    match times.windows(2).position(|w| w[1] <= w[0]) {
        Some(before) => wrong(before + 1, "is not later than that of the frame before it"),
        None => Ok(times),
    }
}

#[cfg(test)]
mod tests;
