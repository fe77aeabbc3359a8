//! Baked motion as vertices per frame: point caches (`.pc2`, `.mdd`), `.npz` and OBJ sequences.
//!
//! Each writer is told how many frames there will be, takes them one by one, and keeps none: a cache of any length
//! takes the memory of one frame. [`create`] puts a whole character's cache on disk; the formats' own types write to
//! anything.

mod mdd;
mod npz;
mod obj;
mod pc2;
mod zip;

pub use mdd::Mdd;
pub use npz::Npz;
pub use obj::write_obj;
pub use pc2::Pc2;

use crate::WriteError;
use crate::files::{ReadyFile, WholeFile};
use crate::gltf::mesh_name;
use glam::Vec3;
use pliant::asset::Character;
use pliant::method::Shape;
use std::collections::BTreeSet;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Takes the frames of a bake in order.
pub trait FrameWriter {
    /// Takes the next frame.
    fn push(&mut self, frame: &Shape) -> Result<(), WriteError>;

    /// All frames are there: the files lack only their names, which [`files::commit`](crate::files::commit) gives.
    fn finish(self: Box<Self>) -> Result<Vec<ReadyFile>, WriteError>;
}

/// The formats that [`create`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Point cache of Blender, 3ds Max, Houdini.
    Pc2,
    /// Point cache of LightWave, Blender, Maya.
    Mdd,
    /// Arrays for NumPy.
    Npz,
    /// One OBJ a frame.
    Obj,
}

impl Format {
    /// The format that a file name's ending asks for, if it is one of these.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "pc2" => Some(Self::Pc2),
            "mdd" => Some(Self::Mdd),
            "npz" => Some(Self::Npz),
            "obj" => Some(Self::Obj),
            _ => None,
        }
    }
}

/// Vertices that one point cache file holds: all parts of one mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshRange {
    /// Its name in the file.
    pub name: String,
    /// Its vertices in the character's surface.
    pub vertices: Range<usize>,
}

/// The meshes of a character, in order.
pub fn meshes(character: &Character) -> Vec<MeshRange> {
    let groups = character.parts().chunk_by(|a, b| a.mesh == b.mesh);
    let range = |parts: &[pliant::asset::Part]| MeshRange {
        name: mesh_name(parts).to_owned(),
        vertices: parts[0].vertices.start as usize..parts[parts.len() - 1].vertices.end as usize,
    };
    groups.map(range).collect()
}

/// Starts a character's cache at `path`: `times` are those of the frames to come. Point caches get one file per mesh
/// (`name-mesh.pc2` where there are several), an OBJ sequence one per frame (`name_0000.obj`).
pub fn create(
    path: &Path,
    format: Format,
    character: &Character,
    times: &[f64],
) -> Result<Box<dyn FrameWriter>, WriteError> {
    let per_mesh = || {
        let meshes = meshes(character);
        let paths = mesh_paths(path, &meshes);
        meshes.into_iter().zip(paths)
    };
    Ok(match format {
        Format::Pc2 => {
            let mut files = Vec::new();
            for (mesh, path) in per_mesh() {
                let sink = WholeFile::create(&path)?;
                files.push((Pc2::new(sink, mesh.vertices.len(), times.len())?, mesh.vertices));
            }
            Box::new(PerMesh { files, vertices: character.surface().positions().len() })
        }
        Format::Mdd => {
            let mut files = Vec::new();
            for (mesh, path) in per_mesh() {
                let sink = WholeFile::create(&path)?;
                files.push((Mdd::new(sink, mesh.vertices.len(), times)?, mesh.vertices));
            }
            Box::new(PerMesh { files, vertices: character.surface().positions().len() })
        }
        Format::Npz => Box::new(NpzFile(Npz::new(WholeFile::create(path)?, character, times)?)),
        Format::Obj => Box::new(ObjSequence {
            path: path.to_path_buf(),
            character: character.clone(),
            frames: Frames::new(character.surface().positions().len(), times.len()),
            ready: Vec::new(),
        }),
    })
}

/// A point cache of one mesh.
trait PointCache {
    fn push(&mut self, positions: &[Vec3]) -> Result<(), WriteError>;
    fn finish(self) -> Result<WholeFile, WriteError>;
}

struct PerMesh<C> {
    files: Vec<(C, Range<usize>)>,
    vertices: usize,
}

impl<C: PointCache> FrameWriter for PerMesh<C> {
    fn push(&mut self, frame: &Shape) -> Result<(), WriteError> {
        WriteError::check_length("vertices of a frame", self.vertices, frame.positions.len())?;
        self.files.iter_mut().try_for_each(|(file, range)| file.push(&frame.positions[range.clone()]))
    }

    fn finish(self: Box<Self>) -> Result<Vec<ReadyFile>, WriteError> {
        self.files.into_iter().map(|(file, _)| Ok(file.finish()?.ready()?)).collect()
    }
}

struct NpzFile(Npz<WholeFile>);

impl FrameWriter for NpzFile {
    fn push(&mut self, frame: &Shape) -> Result<(), WriteError> {
        self.0.push(&frame.positions)
    }

    fn finish(self: Box<Self>) -> Result<Vec<ReadyFile>, WriteError> {
        Ok(vec![self.0.finish()?.ready()?])
    }
}

struct ObjSequence {
    path: PathBuf,
    character: Character,
    frames: Frames,
    ready: Vec<ReadyFile>,
}

impl FrameWriter for ObjSequence {
    fn push(&mut self, frame: &Shape) -> Result<(), WriteError> {
        let index = self.frames.pushed;
        self.frames.next(&frame.positions)?;
        let digits = self.frames.expected.saturating_sub(1).to_string().len().max(4);
        let mut file = WholeFile::create(&renamed(&self.path, &format!("_{index:0digits$}")))?;
        write_obj(&mut file, &self.character, frame)?;
        self.ready.push(file.ready()?);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<ReadyFile>, WriteError> {
        self.frames.done()?;
        Ok(self.ready)
    }
}

/// `path` with something added before its ending.
fn renamed(path: &Path, addition: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push(addition);
    if let Some(ending) = path.extension() {
        name.push(".");
        name.push(ending);
    }
    path.with_file_name(name)
}

/// One path per mesh: the given one where there is one mesh, else with the mesh's name added.
fn mesh_paths(path: &Path, meshes: &[MeshRange]) -> Vec<PathBuf> {
    named_paths(path, meshes.iter().map(|m| &m.name[..]))
}

/// One path per name: the given one where there is one name, else `path-name.ending`, no two alike.
pub fn named_paths<'n>(path: &Path, names: impl ExactSizeIterator<Item = &'n str>) -> Vec<PathBuf> {
    if names.len() == 1 {
        return vec![path.to_path_buf()];
    }
    let mut taken = BTreeSet::new();
    let mut paths = Vec::new();
    for (index, name) in names.enumerate() {
        // Names come from a file: letters and digits only, so that none leaves the folder or needs quoting.
        let safe = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '_' };
        let mut name: String = name.chars().take(60).map(safe).collect();
        // Compared in lower case: some file systems hold `Body` and `body` for one name.
        if name.is_empty() || !taken.insert(name.to_lowercase()) {
            name = format!("{name}_{index}");
            while !taken.insert(name.to_lowercase()) {
                name.push('_');
            }
        }
        paths.push(renamed(path, &format!("-{name}")));
    }
    paths
}

/// Counts frames and checks each.
#[derive(Debug)]
struct Frames {
    vertices: usize,
    expected: usize,
    pushed: usize,
}

impl Frames {
    fn new(vertices: usize, expected: usize) -> Self {
        Self { vertices, expected, pushed: 0 }
    }

    fn next(&mut self, positions: &[Vec3]) -> Result<(), WriteError> {
        WriteError::check_length("vertices of a frame", self.vertices, positions.len())?;
        if self.pushed == self.expected {
            return WriteError::check_length("frames", self.expected, self.pushed + 1);
        }
        if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
            return Err(WriteError::NotFinite { what: "position", vertex, frame: self.pushed });
        }
        self.pushed += 1;
        Ok(())
    }

    fn done(&self) -> Result<(), WriteError> {
        WriteError::check_length("frames", self.expected, self.pushed)
    }
}

/// A count that the format keeps as a signed 32-bit number.
fn count(format: &'static str, value: usize) -> Result<i32, WriteError> {
    let hint = "write .npz instead";
    i32::try_from(value).map_err(|_| WriteError::TooLarge { format, bytes: value as u64 * 12, hint })
}

/// Times as f32, in which the formats keep them.
fn short_times(times: &[f64]) -> Result<Vec<f32>, WriteError> {
    let short: Vec<f32> = times.iter().map(|&t| t as f32).collect();
    match short.iter().position(|t| !t.is_finite()) {
        None => Ok(short),
        Some(frame) => Err(WriteError::at(format!("frame {frame}"), "its time is not a finite number")),
    }
}

/// Positions (or normals) as little-endian bytes.
pub(crate) fn write_positions(sink: &mut impl Write, positions: &[Vec3]) -> std::io::Result<()> {
    if cfg!(target_endian = "little") {
        return sink.write_all(bytemuck::cast_slice(positions));
    }
    positions.iter().flat_map(|p| p.to_array()).try_for_each(|x| sink.write_all(&x.to_le_bytes()))
}

#[cfg(test)]
mod tests;
