//! Tet meshes: Medit `.mesh` and `.meshb`, TetGen `.node` with `.ele`, Gmsh `.msh`, Vega `.veg`; `.vtu` is written.
//!
//! Nodes and tets keep the file's order; nodes that no tet uses are left out, and tets of either winding are taken.
//! What is written comes back bit for bit, from every format that is read.

mod build;
mod gmsh;
mod input;
mod medit;
mod rows;
mod tetgen;
mod vega;
mod vtu;

pub use gmsh::Gmsh;
pub use vtu::Vtu;

use crate::files::{ReadyFile, WholeFile};
use crate::{Files, Problem, ReadError, Warning, WriteError};
use pliant::asset::TetMesh;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Most bytes that are read of a file beside the one that was given: as much as the readers of other formats take.
const MOST_BYTES: u64 = u32::MAX as u64;

/// A tet mesh from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Tets {
    /// The mesh.
    pub mesh: TetMesh,
    /// What was odd.
    pub warnings: Vec<Warning>,
}

/// The formats of tet meshes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Medit's `.mesh`, text, with the surface's triangles.
    Medit,
    /// Medit's `.meshb`, the same as bytes.
    MeditBinary,
    /// TetGen's `.node` and `.ele`.
    TetGen,
    /// Gmsh's `.msh`.
    Gmsh(Gmsh),
    /// Vega FEM's `.veg`.
    Vega,
    /// VTK's `.vtu`, which is written and not read.
    Vtu(Vtu),
}

impl Format {
    /// The format that a file name's ending asks for, if it is one of these.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "mesh" => Some(Self::Medit),
            "meshb" => Some(Self::MeditBinary),
            "node" | "ele" => Some(Self::TetGen),
            "msh" => Some(Self::Gmsh(Gmsh::default())),
            "veg" => Some(Self::Vega),
            "vtu" => Some(Self::Vtu(Vtu::default())),
            _ => None,
        }
    }
}

/// Reads the tet mesh of a file that is called `name`, whose ending says what it is. `files` has what lies beside it:
/// TetGen's other half (either may be given), and what a `.veg` includes.
pub fn read(name: &str, bytes: &[u8], files: &dyn Files) -> Result<Tets, ReadError> {
    match Format::of(Path::new(name)) {
        Some(Format::Medit | Format::MeditBinary) => medit::read(bytes),
        Some(Format::Gmsh(_)) => gmsh::read(bytes),
        Some(Format::Vega) => vega::read(bytes, files),
        Some(Format::TetGen) => read_pair(name, bytes, files),
        Some(Format::Vtu(_)) => {
            let problem = Problem::new("", "a .vtu file can be written, not read");
            Err(problem.hint("give .mesh, .node, .ele, .msh or .veg").into())
        }
        None => {
            let ending = name.rsplit_once('.').map_or("", |n| n.1);
            let what =
                format!("\".{}\" is not a kind of tet mesh file that can be read", shown_ending(ending));
            Err(Problem::new("", what).hint("give .mesh, .meshb, .node, .ele, .msh or .veg").into())
        }
    }
}

fn shown_ending(ending: &str) -> String {
    crate::text::shown(ending.as_bytes())
}

/// Reads TetGen's two files, given both.
pub fn read_tetgen(node: &[u8], ele: &[u8]) -> Result<Tets, ReadError> {
    tetgen::read((node, Some(".node file")), (ele, Some(".ele file")))
}

/// Reads TetGen's two files, given one and its name.
fn read_pair(name: &str, bytes: &[u8], files: &dyn Files) -> Result<Tets, ReadError> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_node = ending.eq_ignore_ascii_case("node");
    let mut other = if is_node { "ele" } else { "node" }.to_string();
    if ending.chars().all(|c| c.is_ascii_uppercase()) {
        other.make_ascii_uppercase();
    }
    let other = format!("{stem}.{other}");
    let beside = files.read(&other, MOST_BYTES).map_err(|e| {
        let what = format!("the other half, \"{other}\", cannot be read: {e}");
        Problem::new("", what).hint("TetGen's .node and .ele files must lie side by side")
    })?;
    let (given, beside) = ((bytes, None), (&beside[..], Some(&other[..])));
    if is_node { tetgen::read(given, beside) } else { tetgen::read(beside, given) }
}

/// What a file may be that is not what its ending says.
fn hint_at_kind(bytes: &[u8]) -> &'static str {
    let text = crate::text::without_bom(bytes).trim_ascii_start();
    let starts = |marks: &[&[u8]]| marks.iter().any(|m| text.starts_with(m));
    if text.is_empty() {
        "the file is empty"
    } else if starts(&[b"$MeshFormat", b"$NOD", b"$Comments"]) {
        "it looks like a Gmsh mesh: rename it to .msh"
    } else if starts(&[b"MeshVersionFormatted"]) || bytes.starts_with(&[1, 0, 0, 0]) {
        "it looks like a Medit mesh: rename it to .mesh or .meshb"
    } else if starts(&[b"*VERTICES", b"# Vega"]) {
        "it looks like a Vega mesh: rename it to .veg"
    } else if starts(&[b"<?xml", b"<VTKFile"]) {
        "it looks like XML; give .mesh, .node, .ele, .msh or .veg"
    } else {
        "is this a file of the kind that its name says?"
    }
}

/// A named list of numbers for a `.vtu`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field<'a> {
    /// What ParaView calls it.
    pub name: &'a str,
    /// `width` numbers for each node or tet.
    pub values: &'a [f32],
    /// 1 for a number, 3 for a vector.
    pub width: usize,
}

/// Numbers that go with a mesh. Only `.vtu` keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Fields<'a> {
    /// For each node.
    pub nodes: &'a [Field<'a>],
    /// For each tet.
    pub tets: &'a [Field<'a>],
}

/// The mesh as a file's bytes, or two files' (TetGen), each with the ending that it must have.
pub fn encode(
    format: Format,
    mesh: &TetMesh,
    fields: &Fields,
) -> Result<Vec<(&'static str, Vec<u8>)>, WriteError> {
    let mut bytes = Vec::new();
    let ending = match format {
        Format::Medit => medit::write(&mut bytes, mesh).map(|()| "mesh"),
        Format::MeditBinary => medit::write_binary(&mut bytes, mesh).map(|()| "meshb"),
        Format::Gmsh(form) => gmsh::write(&mut bytes, mesh, form).map(|()| "msh"),
        Format::Vega => vega::write(&mut bytes, mesh).map(|()| "veg"),
        Format::Vtu(form) => vtu::write(&mut bytes, mesh, fields, form).map(|()| "vtu"),
        Format::TetGen => {
            let mut tets = Vec::new();
            tetgen::write_nodes(&mut bytes, mesh)?;
            tetgen::write_tets(&mut tets, mesh)?;
            return Ok(vec![("node", bytes), ("ele", tets)]);
        }
    };
    Ok(vec![(ending?, bytes)])
}

/// Writes the mesh beside its place: [`files::commit`](crate::files::commit) then gives the file its name, or both
/// files theirs (TetGen). A format of one file keeps `path` as it is.
pub fn create(
    path: &Path,
    format: Format,
    mesh: &TetMesh,
    fields: &Fields,
) -> Result<Vec<ReadyFile>, WriteError> {
    let files = encode(format, mesh, fields)?;
    let alone = files.len() == 1;
    let mut ready = Vec::with_capacity(files.len());
    for (ending, bytes) in files {
        let path: PathBuf = if alone { path.to_path_buf() } else { path.with_extension(ending) };
        let mut file = WholeFile::create(&path)?;
        file.write_all(&bytes)?;
        ready.push(file.ready()?);
    }
    Ok(ready)
}

/// Refuses more than signed 32-bit numbers can count.
fn check_ints(format: &'static str, mesh: &TetMesh, hint: &'static str) -> Result<(), WriteError> {
    // A surface has at most four triangles a tet.
    let most = mesh.positions().len().max(mesh.tets().len() * 4);
    if most < i32::MAX as usize {
        return Ok(());
    }
    Err(WriteError::TooLarge { format, bytes: most as u64 * 4, hint })
}
