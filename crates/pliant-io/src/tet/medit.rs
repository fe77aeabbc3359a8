//! Medit's `.mesh`, and `.meshb` with the same lists as bytes.

use super::build::Builder;
use super::input::{Form, Input};
use super::{Tets, hint_at_kind};
use crate::{Problem, ReadError, WriteError};
use glam::Vec3;
use pliant::asset::TetMesh;
use pliant::body::topology::surface;
use std::io::Write;

/// Nodes of a volume element that is no tet, by its keyword in the text and its code in the binary form.
const OTHER_VOLUMES: [(&str, i64); 5] =
    [("hexahedra", 10), ("prisms", 9), ("wedges", 9), ("pyramids", 49), ("pentahedra", 9)];

/// Lists that are surfaces.
const FACES: [(&str, i64); 2] = [("triangles", 6), ("quadrilaterals", 7)];

/// Tets, and the nodes each has.
const TETS: [(&str, i64, usize); 2] = [("tetrahedra", 8, 4), ("tetrahedrap2", 30, 10)];

const DIMENSION: i64 = 3;
const VERTICES: i64 = 4;
const END: i64 = 54;

fn not_medit(bytes: &[u8]) -> Problem {
    let what = "it does not begin with \"MeshVersionFormatted\", so it is no Medit mesh";
    Problem::new("line 1", what).hint(hint_at_kind(bytes))
}

fn plane(input: &Input, dimension: i64) -> Problem {
    input.problem(format!("the mesh has {dimension} dimensions, but a body needs 3"))
}

fn doubled(input: &Input, what: &str) -> Problem {
    input.problem(format!("a second list of {what} begins here")).hint("give a file with one mesh")
}

/// Lists of tets, with the nodes of each, that stand before the vertices and are read after them.
type Waiting<'a> = Vec<(Input<'a>, usize)>;

/// Keeps a list for later. No more than one of each kind, lest they overlap and be read over and over.
fn wait<'a>(waiting: &mut Waiting<'a>, input: &Input<'a>, nodes: usize) -> Result<(), Problem> {
    if waiting.iter().any(|w| w.1 == nodes) {
        return Err(doubled(input, "tetrahedra"));
    }
    waiting.push((input.clone(), nodes));
    Ok(())
}

fn no_vertices() -> Problem {
    Problem::new("", "there are no vertices").hint("is the file cut off?")
}

/// Reads either form; which one it is shows in the first bytes.
pub(super) fn read(bytes: &[u8]) -> Result<Tets, ReadError> {
    match bytes.first_chunk() {
        Some([1, 0, 0, 0]) => read_binary(bytes, false),
        Some([0, 0, 0, 1]) => read_binary(bytes, true),
        _ => read_text(bytes),
    }
}

fn read_text(bytes: &[u8]) -> Result<Tets, ReadError> {
    let mut input = Input::new(bytes);
    if !input.word().is_some_and(|w| w.eq_ignore_ascii_case(b"MeshVersionFormatted")) {
        return Err(not_medit(bytes).into());
    }
    input.int("the version")?;
    let mut builder = Builder::default();
    let mut waiting = Waiting::new();
    while let Some(word) = input.word() {
        // Numbers of lists that are not needed.
        if !word[0].is_ascii_alphabetic() {
            continue;
        }
        let keyword = String::from_utf8_lossy(word).to_ascii_lowercase();
        if let Some(&(_, _, nodes)) = TETS.iter().find(|t| t.0 == keyword) {
            if builder.node_count() == 0 {
                wait(&mut waiting, &input, nodes)?;
            } else {
                text_tets(&mut input, nodes, &mut builder)?;
            }
        } else if OTHER_VOLUMES.iter().any(|o| o.0 == keyword) {
            let count = input.int("a count")?;
            builder.other_volumes.add(input.count(count, 10, "elements")?, || input.place());
        } else if FACES.iter().any(|f| f.0 == keyword) {
            let count = input.int("a count")?;
            builder.faces += input.count(count, 6, "faces")?;
        } else if keyword == "dimension" {
            let dimension = input.int("the dimension")?;
            if dimension != 3 {
                return Err(plane(&input, dimension).into());
            }
        } else if keyword == "vertices" {
            if builder.node_count() > 0 {
                return Err(doubled(&input, "vertices").into());
            }
            let count = input.int("the number of vertices")?;
            for number in 1..=input.count(count, 8, "vertices")? {
                let position = Vec3::new(input.real()?, input.real()?, input.real()?);
                input.int("the reference of a vertex")?;
                builder.node(number as i64, position);
            }
            builder.nodes_done(input.place())?;
        } else if keyword == "end" {
            break;
        }
    }
    if builder.node_count() == 0 {
        return Err(no_vertices().into());
    }
    for (mut input, nodes) in waiting {
        text_tets(&mut input, nodes, &mut builder)?;
    }
    builder.finish()
}

fn text_tets(input: &mut Input, nodes: usize, builder: &mut Builder) -> Result<(), Problem> {
    let count = input.int("the number of tetrahedra")?;
    let count = input.count(count, 2 * (nodes + 1), "tetrahedra")?;
    tets(input, count, nodes, builder, |input, what| input.int(what))
}

/// Tets of so many nodes, each with a reference after them.
fn tets(
    input: &mut Input,
    count: usize,
    nodes: usize,
    builder: &mut Builder,
    int: impl Fn(&mut Input, &str) -> Result<i64, Problem>,
) -> Result<(), Problem> {
    for _ in 0..count {
        let mut corners = [0; 4];
        for corner in &mut corners {
            *corner = int(input, "a node of a tetrahedron")?;
        }
        let place = input.clone();
        for _ in 4..nodes {
            int(input, "a node of a tetrahedron")?;
        }
        int(input, "the reference of a tetrahedron")?;
        builder.tet(corners, || place.place())?;
        builder.curved.add(usize::from(nodes > 4), || place.place());
    }
    Ok(())
}

/// The widths of numbers that depend on the version of a binary file.
#[derive(Clone, Copy)]
struct Widths {
    short_reals: bool,
    long_places: bool,
    long_ints: bool,
}

impl Widths {
    fn int(self, input: &mut Input, what: &str) -> Result<i64, Problem> {
        if self.long_ints { input.long(what) } else { input.int(what) }
    }

    fn real(self, input: &mut Input) -> Result<f32, Problem> {
        if self.short_reals { input.short_real() } else { input.real() }
    }
}

fn read_binary(bytes: &[u8], big: bool) -> Result<Tets, ReadError> {
    let mut input = Input::new(bytes);
    input.form = Form::Binary { big };
    input.int("the mark of the byte order")?;
    let version = input.int("the version")?;
    if !(1..=4).contains(&version) {
        let what = format!("version {version} of a binary Medit mesh is not known");
        return Err(input.problem(what).hint("versions 1 to 4 can be read; is this a .meshb file?").into());
    }
    let widths = Widths { short_reals: version == 1, long_places: version >= 3, long_ints: version == 4 };
    let mut builder = Builder::default();
    let mut waiting = Waiting::new();
    // Every turn ends further on, so this ends.
    loop {
        let code = input.int("a keyword or the end mark")?;
        if code == END {
            break;
        }
        let next = if widths.long_places { input.long("a place")? } else { input.int("a place")? };
        if let Some(&(_, _, nodes)) = TETS.iter().find(|t| t.1 == code) {
            if builder.node_count() == 0 {
                wait(&mut waiting, &input, nodes)?;
            } else {
                binary_tets(&mut input, widths, nodes, &mut builder)?;
            }
        } else if OTHER_VOLUMES.iter().any(|o| o.1 == code) {
            let count = widths.int(&mut input, "a count")?;
            builder.other_volumes.add(input.count(count, 24, "elements")?, || input.place());
        } else if FACES.iter().any(|f| f.1 == code) {
            let count = widths.int(&mut input, "a count")?;
            builder.faces += input.count(count, 16, "faces")?;
        } else if code == DIMENSION {
            let dimension = input.int("the dimension")?;
            if dimension != 3 {
                return Err(plane(&input, dimension).into());
            }
        } else if code == VERTICES {
            if builder.node_count() > 0 {
                return Err(doubled(&input, "vertices").into());
            }
            let count = widths.int(&mut input, "the number of vertices")?;
            for number in 1..=input.count(count, 16, "vertices")? {
                let mut real = || widths.real(&mut input);
                let position = Vec3::new(real()?, real()?, real()?);
                widths.int(&mut input, "the reference of a vertex")?;
                builder.node(number as i64, position);
            }
            builder.nodes_done(input.place())?;
        }
        // The last list may say that none follows.
        if next == 0 {
            break;
        }
        input.jump(usize::try_from(next).unwrap_or(0))?;
    }
    if builder.node_count() == 0 {
        return Err(no_vertices().into());
    }
    for (mut input, nodes) in waiting {
        binary_tets(&mut input, widths, nodes, &mut builder)?;
    }
    builder.finish()
}

fn binary_tets(
    input: &mut Input,
    widths: Widths,
    nodes: usize,
    builder: &mut Builder,
) -> Result<(), Problem> {
    let count = widths.int(input, "the number of tetrahedra")?;
    let count = input.count(count, 4 * (nodes + 1), "tetrahedra")?;
    tets(input, count, nodes, builder, |input, what| widths.int(input, what))
}

/// Writes the text form: vertices, the surface, tets.
pub(super) fn write(sink: &mut impl Write, mesh: &TetMesh) -> Result<(), WriteError> {
    writeln!(sink, "MeshVersionFormatted 1\nDimension 3\nVertices\n{}", mesh.positions().len())?;
    for p in mesh.positions() {
        writeln!(sink, "{:?} {:?} {:?} 0", p.x, p.y, p.z)?;
    }
    let surface = surface(mesh);
    writeln!(sink, "Triangles\n{}", surface.len())?;
    for (triangle, _) in surface {
        let [a, b, c] = triangle.map(|n| u64::from(n) + 1);
        writeln!(sink, "{a} {b} {c} 0")?;
    }
    writeln!(sink, "Tetrahedra\n{}", mesh.tets().len())?;
    for tet in mesh.tets() {
        let [a, b, c, d] = tet.map(|n| u64::from(n) + 1);
        writeln!(sink, "{a} {b} {c} {d} 0")?;
    }
    writeln!(sink, "End")?;
    Ok(())
}

/// Writes the binary form, version 3: reals and places of eight bytes, whole numbers of four.
pub(super) fn write_binary(sink: &mut impl Write, mesh: &TetMesh) -> Result<(), WriteError> {
    let surface = surface(mesh);
    super::check_ints(".meshb", mesh, "write .msh (4.1) or .vtu instead")?;
    let mut at = 8u64;
    sink.write_all(&1i32.to_le_bytes())?;
    sink.write_all(&3i32.to_le_bytes())?;
    // A keyword, the place of the next one, a count, and what the list takes.
    let mut head = |sink: &mut dyn Write, code: i64, count: usize, each: usize| {
        at += 16 + (count * each) as u64;
        sink.write_all(&(code as i32).to_le_bytes())?;
        sink.write_all(&at.to_le_bytes())?;
        sink.write_all(&(count as i32).to_le_bytes())
    };
    let list = |sink: &mut dyn Write, nodes: &[u32]| -> std::io::Result<()> {
        nodes.iter().try_for_each(|n| sink.write_all(&(*n as i32 + 1).to_le_bytes()))?;
        sink.write_all(&0i32.to_le_bytes())
    };
    // The dimension stands where others have a count.
    head(sink, DIMENSION, 3, 0)?;
    head(sink, VERTICES, mesh.positions().len(), 28)?;
    for p in mesh.positions() {
        p.to_array().iter().try_for_each(|c| sink.write_all(&f64::from(*c).to_le_bytes()))?;
        sink.write_all(&0i32.to_le_bytes())?;
    }
    head(sink, FACES[0].1, surface.len(), 16)?;
    surface.iter().try_for_each(|(triangle, _)| list(sink, triangle))?;
    head(sink, TETS[0].1, mesh.tets().len(), 20)?;
    mesh.tets().iter().try_for_each(|tet| list(sink, tet))?;
    sink.write_all(&(END as i32).to_le_bytes())?;
    sink.write_all(&0u64.to_le_bytes())?;
    Ok(())
}
