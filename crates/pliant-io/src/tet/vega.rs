//! Vega FEM's `.veg`.

use super::build::Builder;
use super::rows::{Row, Rows, fields};
use super::{MOST_BYTES, Tets, hint_at_kind, tetgen};
use crate::text::shown;
use crate::{Files, Problem, ReadError, WriteError};
use pliant::asset::TetMesh;
use std::io::Write;

/// Reads a file whose elements are tets. Materials, sets and regions are passed over.
pub(super) fn read(bytes: &[u8], files: &dyn Files) -> Result<Tets, ReadError> {
    let mut rows = Rows::new(bytes, None);
    let mut builder = Builder::default();
    let (mut nodes, mut tets) = (false, false);
    while let Some((line, text)) = rows.next() {
        let mut words = fields(text);
        let word = words.next().unwrap_or_default();
        if word.eq_ignore_ascii_case(b"*VERTICES") {
            if nodes {
                return Err(rows.problem(line, "a second list of vertices begins here").into());
            }
            nodes = true;
            list(&mut rows, line, files, |rows, head| rows.nodes(head, &mut builder))?;
        } else if word.eq_ignore_ascii_case(b"*ELEMENTS") {
            if !nodes {
                return Err(rows.problem(line, "the elements come before the vertices").into());
            }
            kind(&mut rows, line)?;
            tets = true;
            list(&mut rows, line, files, |rows, head| rows.tets(head, &mut builder))?;
        }
    }
    if !nodes || !tets {
        let what = if nodes { "there is no *ELEMENTS section" } else { "there is no *VERTICES section" };
        return Err(Problem::new("", what).hint(hint_at_kind(bytes)).into());
    }
    builder.finish()
}

/// The kind of the elements, which must be tets.
fn kind(rows: &mut Rows, line: usize) -> Result<(), Problem> {
    let Some((line, text)) = rows.next() else {
        return Err(rows.problem(line, "the file ends where the kind of the elements is expected"));
    };
    let is = |names: &[&str]| names.iter().any(|n| text.eq_ignore_ascii_case(n.as_bytes()));
    if is(&["TET", "TETS", "TETRAHEDRA"]) {
        Ok(())
    } else if is(&["CUBIC", "CUBES", "HEX"]) {
        let what = format!("the elements are hexahedra ({}), not tetrahedra", shown(text));
        Err(rows.problem(line, what).hint("split them into tetrahedra first"))
    } else {
        let what = format!("elements of the kind \"{}\" are not known", shown(text));
        Err(rows.problem(line, what).hint("TET is the one that can be read"))
    }
}

/// Reads a list that stands here, or in the file that is named here.
fn list(
    rows: &mut Rows,
    line: usize,
    files: &dyn Files,
    mut read: impl FnMut(&mut Rows, Row) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let Some((line, text)) = rows.next() else {
        return Err(rows.problem(line, "the file ends where a list is expected"));
    };
    let word = fields(text).next().unwrap_or_default();
    if !word.eq_ignore_ascii_case(b"*INCLUDE") {
        return read(rows, (line, text));
    }
    let name = String::from_utf8_lossy(text[word.len()..].trim_ascii()).into_owned();
    let shown = shown(name.as_bytes());
    let bytes = files.read(name.trim_start_matches("./"), MOST_BYTES).map_err(|e| {
        let what = format!("the included file \"{shown}\" cannot be read: {e}");
        rows.problem(line, what).hint("it must lie in the same folder")
    })?;
    let mut rows = Rows::new(&bytes, Some(&shown));
    match rows.next() {
        Some(head) => read(&mut rows, head),
        None => Err(rows.problem(1, "the file is empty where a list is expected")),
    }
}

/// Writes vertices and tets counted from 1, with one material, which Vega asks for.
pub(super) fn write(sink: &mut impl Write, mesh: &TetMesh) -> Result<(), WriteError> {
    let (nodes, tets) = (mesh.positions().len(), mesh.tets().len());
    writeln!(sink, "# Vega mesh file.\n# {nodes} vertices, {tets} elements\n\n*VERTICES")?;
    tetgen::write_nodes(sink, mesh)?;
    writeln!(sink, "\n*ELEMENTS\nTET")?;
    tetgen::write_tets(sink, mesh)?;
    // Density in kg/m^3, Young's modulus in Pa and Poisson's ratio of soft flesh: a start, for the user to change.
    writeln!(sink, "\n*MATERIAL BODY\nENU, 1000, 60000, 0.45\n\n*REGION\nallElements, BODY")?;
    Ok(())
}
