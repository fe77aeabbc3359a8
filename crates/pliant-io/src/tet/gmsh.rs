//! Gmsh's `.msh`, versions 2 and 4.1, as text and as bytes.

use super::build::Builder;
use super::input::{Form, Input};
use super::{Tets, hint_at_kind};
use crate::text::shown;
use crate::{Problem, ReadError, WriteError};
use glam::Vec3;
use pliant::asset::TetMesh;
use std::io::Write;

/// Which `.msh` is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gmsh {
    /// Version 2.2 as text: older, and read by all that read newer ones too.
    #[default]
    Text22,
    /// Version 2.2 as bytes.
    Binary22,
    /// Version 4.1 as text.
    Text41,
    /// Version 4.1 as bytes.
    Binary41,
}

/// The number of Gmsh's four-node tet.
const TET: i64 = 4;
/// Gmsh's tets of any order: the first four nodes are the corners.
const TETS: [i64; 5] = [TET, 11, 29, 30, 31];
/// Hexahedra, prisms and pyramids.
const OTHER_VOLUMES: [i64; 11] = [5, 6, 7, 12, 13, 14, 17, 18, 19, 92, 93];

/// Letters of a section's name; those in use have under 30. A name as long as a file would take its square to look for.
const LONGEST_NAME: usize = 200;

/// How many nodes Gmsh's elements have, by their number.
fn nodes_of(kind: i64) -> Option<usize> {
    const NODES: [usize; 32] = [
        0, 2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5, 6,
        20, 35, 56,
    ];
    match kind {
        92 => Some(64),
        93 => Some(125),
        _ => NODES.get(usize::try_from(kind).ok()?).copied().filter(|&n| n > 0),
    }
}

/// Reads any of the four.
pub(super) fn read(bytes: &[u8]) -> Result<Tets, ReadError> {
    let mut input = Input::new(bytes);
    let Some(first) = input.word().filter(|w| w.starts_with(b"$")) else {
        let what = "it does not begin with \"$MeshFormat\", so it is no Gmsh mesh";
        return Err(Problem::new("line 1", what).hint(hint_at_kind(bytes)).into());
    };
    let mut builder = Builder::default();
    let mut format = None;
    let (mut nodes, mut elements) = (false, false);
    let mut section = Some(first);
    while let Some(name) = section {
        match (name, &format) {
            (b"$MeshFormat", None) => {
                format = Some(Format::read(&mut input)?);
                end(&mut input, b"$EndMeshFormat")?;
            }
            (b"$NOD", None) => return Err(old(&input, "1").into()),
            (b"$Nodes", Some(format)) => {
                if nodes {
                    return Err(input.problem("a second list of nodes begins here").into());
                }
                nodes = true;
                format.nodes(&mut input, &mut builder)?;
                end(&mut input, b"$EndNodes")?;
            }
            (b"$Elements", Some(format)) => {
                if !nodes {
                    return Err(input.problem("the elements come before the nodes").into());
                }
                elements = true;
                format.elements(&mut input, &mut builder)?;
                end(&mut input, b"$EndElements")?;
            }
            (b"$Nodes" | b"$Elements", None) => {
                return Err(input.problem("the $MeshFormat section is missing").into());
            }
            (b"$ParametricNodes", _) => {
                let what = "nodes with parameters ($ParametricNodes) are not read";
                return Err(input.problem(what).hint("save the mesh without them").into());
            }
            _ if name.len() > LONGEST_NAME => {
                let what = format!("\"{}\" is no section of a Gmsh mesh", shown(name));
                return Err(input.problem(what).hint("the file is damaged").into());
            }
            _ => {
                let end = [b"$End", &name[1..]].concat();
                if name.len() > 1 && !name.starts_with(b"$End") && !input.skip_past(&end) {
                    let what = format!("\"{}\" is missing", shown(&end));
                    return Err(input.problem(what).hint("is the file cut off?").into());
                }
            }
        }
        section = next_section(&mut input);
    }
    for (there, what) in [(format.is_some(), "$MeshFormat"), (nodes, "$Nodes"), (elements, "$Elements")] {
        if !there {
            let what = format!("there is no {what} section");
            return Err(Problem::new("", what).hint("is the file cut off?").into());
        }
    }
    builder.finish()
}

/// The next word that begins with `$`.
fn next_section<'a>(input: &mut Input<'a>) -> Option<&'a [u8]> {
    loop {
        match input.word() {
            Some(word) if word.starts_with(b"$") => return Some(word),
            Some(_) => {}
            None => return None,
        }
    }
}

fn end(input: &mut Input, mark: &'static [u8]) -> Result<(), Problem> {
    match input.word() {
        Some(word) if word == mark => Ok(()),
        Some(word) => {
            let what = format!("\"{}\" stands where \"{}\" is expected", shown(word), shown(mark));
            Err(input.problem(what).hint("is a count wrong?"))
        }
        None => Err(input.problem(format!("\"{}\" is missing", shown(mark))).hint("is the file cut off?")),
    }
}

fn old(input: &Input, version: &str) -> Problem {
    let what = format!("version {version} of Gmsh's format is not read");
    input.problem(what).hint("save it as version 2.2 or 4.1 (gmsh -save -format msh41)")
}

/// What the head of a file says.
#[derive(Clone, Copy)]
struct Format {
    /// Version 4.1, else 2.
    blocks: bool,
    /// In version 4.1, counts and numbers of nodes have eight bytes, else four.
    long: bool,
}

impl Format {
    fn read(input: &mut Input) -> Result<Self, Problem> {
        let version = input.word().unwrap_or_default();
        let blocks = match version {
            b"2" | b"2.0" | b"2.1" | b"2.2" => false,
            b"4.1" => true,
            _ => return Err(old(input, &shown(version))),
        };
        let kind = input.text_int("0 (text) or 1 (binary)")?;
        if kind != 0 && kind != 1 {
            return Err(input.problem(format!("{kind} is neither 0 (text) nor 1 (binary)")));
        }
        let size = input.text_int("the size of a number")?;
        if size != 8 && !(size == 4 && (blocks || kind == 0)) {
            return Err(input.problem(format!("numbers of {size} bytes are not known; 8 is usual")));
        }
        if kind == 1 {
            input.end_line();
            input.form = Form::Binary { big: false };
            input.form = match input.bytes("the mark of the byte order")? {
                [1, 0, 0, 0] => Form::Binary { big: false },
                [0, 0, 0, 1] => Form::Binary { big: true },
                _ => {
                    return Err(input
                        .problem("the mark of the byte order is not 1")
                        .hint("the file is damaged"));
                }
            };
        }
        Ok(Self { blocks, long: size == 8 })
    }

    /// A count or the number of a node or element.
    fn size(self, input: &mut Input, what: &str) -> Result<i64, Problem> {
        if self.blocks && self.long { input.long(what) } else { input.int(what) }
    }

    /// The bytes that a number takes at least.
    fn least(self, input: &Input) -> usize {
        match input.form {
            Form::Text => 2,
            Form::Binary { .. } => 4,
        }
    }

    /// The count that begins a list of version 2: words even in a binary file.
    fn text_count(self, input: &mut Input, numbers: usize, what: &str) -> Result<usize, Problem> {
        let count = input.text_int("a count")?;
        if input.form != Form::Text {
            input.end_line();
        }
        input.count(count, numbers * self.least(input), what)
    }

    fn nodes(self, input: &mut Input, builder: &mut Builder) -> Result<(), Problem> {
        if self.blocks {
            self.node_blocks(input, builder)?;
        } else {
            for _ in 0..self.text_count(input, 4, "nodes")? {
                let number = input.int("the number of a node")?;
                builder.node(number, position(input)?);
            }
        }
        builder.nodes_done(input.place())
    }

    /// Passes over the end of the section's first line, and gives the number of blocks.
    fn blocks(self, input: &mut Input) -> Result<usize, Problem> {
        if input.form != Form::Text {
            input.end_line();
        }
        let blocks = self.size(input, "the number of blocks")?;
        // The count of all, and the lowest and highest number: each block says the same again.
        for _ in 0..3 {
            self.size(input, "a count")?;
        }
        input.count(blocks, 4 * self.least(input), "blocks")
    }

    fn node_blocks(self, input: &mut Input, builder: &mut Builder) -> Result<(), Problem> {
        for _ in 0..self.blocks(input)? {
            let dimension = input.int("the dimension of an entity")?;
            if !(0..=3).contains(&dimension) {
                return Err(input.problem(format!("an entity has {dimension} dimensions, not 0 to 3")));
            }
            input.int("the number of an entity")?;
            let parametric = input.int("0 or 1")? != 0;
            let count = self.size(input, "the number of nodes")?;
            let count = input.count(count, 4 * self.least(input), "nodes")?;
            // The numbers of all nodes come before their positions.
            let mut numbers = input.clone();
            for _ in 0..count {
                self.size(input, "the number of a node")?;
            }
            for _ in 0..count {
                let number = self.size(&mut numbers, "the number of a node")?;
                builder.node(number, position(input)?);
                if parametric {
                    for _ in 0..dimension {
                        input.real()?;
                    }
                }
            }
        }
        Ok(())
    }

    fn elements(self, input: &mut Input, builder: &mut Builder) -> Result<(), Problem> {
        if self.blocks {
            for _ in 0..self.blocks(input)? {
                input.int("the dimension of an entity")?;
                input.int("the number of an entity")?;
                let kind = Kind::read(input)?;
                let count = self.size(input, "the number of elements")?;
                let count = input.count(count, (1 + kind.nodes) * self.least(input), "elements")?;
                for _ in 0..count {
                    self.size(input, "the number of an element")?;
                    self.element(input, &kind, builder)?;
                }
            }
            return Ok(());
        }
        let count = self.text_count(input, 2, "elements")?;
        let text = input.form == Form::Text;
        let mut done = 0;
        while done < count {
            // Each line of a text says its kind; in a binary file a run of elements shares it.
            let number = if text { Some(input.int("the number of an element")?) } else { None };
            let kind = Kind::read(input)?;
            let run = match number {
                Some(_) => 1,
                None => input.int("the number of elements")?,
            };
            let tags = input.int("the number of tags")?;
            let tags = input.count(tags, self.least(input), "tags")?;
            let run = input.count(run, if text { 1 } else { 8 }, "elements")?;
            if run == 0 || run > count - done {
                let what = format!("a run of {run} elements cannot be: {} of {count} are left", count - done);
                return Err(input.problem(what));
            }
            for _ in 0..run {
                if !text {
                    input.int("the number of an element")?;
                }
                for _ in 0..tags {
                    input.int("a tag")?;
                }
                self.element(input, &kind, builder)?;
            }
            done += run;
        }
        Ok(())
    }

    fn element(self, input: &mut Input, kind: &Kind, builder: &mut Builder) -> Result<(), Problem> {
        let mut corners = [0; 4];
        for node in 0..kind.nodes {
            let number = self.size(input, "a node of an element")?;
            if let Some(corner) = corners.get_mut(node) {
                *corner = number;
            }
        }
        if TETS.contains(&kind.number) {
            builder.tet(corners, || input.place())?;
            builder.curved.add(usize::from(kind.number != TET), || input.place());
        } else if OTHER_VOLUMES.contains(&kind.number) {
            builder.other_volumes.add(1, || input.place());
        } else {
            builder.faces += 1;
        }
        Ok(())
    }
}

/// The kind of an element.
struct Kind {
    number: i64,
    nodes: usize,
}

impl Kind {
    fn read(input: &mut Input) -> Result<Self, Problem> {
        let number = input.int("the type of an element")?;
        match nodes_of(number) {
            Some(nodes) => Ok(Self { number, nodes }),
            None => Err(input.problem(format!("elements of type {number} are not known"))),
        }
    }
}

fn position(input: &mut Input) -> Result<Vec3, Problem> {
    Ok(Vec3::new(input.real()?, input.real()?, input.real()?))
}

/// Writes the nodes and the tets, all in one volume.
pub(super) fn write(sink: &mut impl Write, mesh: &TetMesh, form: Gmsh) -> Result<(), WriteError> {
    let (nodes, tets) = (mesh.positions(), mesh.tets());
    let (n, t) = (nodes.len(), tets.len());
    let head = |sink: &mut dyn Write, version: &str, binary: bool| {
        writeln!(sink, "$MeshFormat\n{version} {} 8", u8::from(binary))?;
        if binary {
            sink.write_all(&[1, 0, 0, 0, b'\n'])?;
        }
        writeln!(sink, "$EndMeshFormat")
    };
    let ints = |sink: &mut dyn Write, values: &[u32]| {
        values.iter().try_for_each(|v| sink.write_all(&v.to_le_bytes()))
    };
    let sizes = |sink: &mut dyn Write, values: &[u64]| {
        values.iter().try_for_each(|v| sink.write_all(&v.to_le_bytes()))
    };
    let reals = |sink: &mut dyn Write, p: &Vec3| {
        p.to_array().iter().try_for_each(|c| sink.write_all(&f64::from(*c).to_le_bytes()))
    };
    match form {
        Gmsh::Text22 => {
            head(sink, "2.2", false)?;
            writeln!(sink, "$Nodes\n{n}")?;
            for (p, number) in nodes.iter().zip(1u64..) {
                writeln!(sink, "{number} {:?} {:?} {:?}", p.x, p.y, p.z)?;
            }
            writeln!(sink, "$EndNodes\n$Elements\n{t}")?;
            for (tet, number) in tets.iter().zip(1u64..) {
                let [a, b, c, d] = tet.map(|n| u64::from(n) + 1);
                // Two tags: physical group (none is 0) and volume.
                writeln!(sink, "{number} 4 2 0 1 {a} {b} {c} {d}")?;
            }
            writeln!(sink, "$EndElements")?;
        }
        Gmsh::Binary22 => {
            super::check_ints(".msh 2.2", mesh, "write .msh 4.1 instead")?;
            head(sink, "2.2", true)?;
            writeln!(sink, "$Nodes\n{n}")?;
            for (p, number) in nodes.iter().zip(1..) {
                ints(sink, &[number])?;
                reals(sink, p)?;
            }
            writeln!(sink, "\n$EndNodes\n$Elements\n{t}")?;
            ints(sink, &[TET as u32, t as u32, 2])?;
            for (tet, number) in tets.iter().zip(1..) {
                let [a, b, c, d] = tet.map(|n| n + 1);
                ints(sink, &[number, 0, 1, a, b, c, d])?;
            }
            writeln!(sink, "\n$EndElements")?;
        }
        Gmsh::Text41 => {
            head(sink, "4.1", false)?;
            writeln!(sink, "$Nodes\n1 {n} 1 {n}\n3 1 0 {n}")?;
            (1..=n).try_for_each(|number| writeln!(sink, "{number}"))?;
            nodes.iter().try_for_each(|p| writeln!(sink, "{:?} {:?} {:?}", p.x, p.y, p.z))?;
            writeln!(sink, "$EndNodes\n$Elements\n1 {t} 1 {t}\n3 1 4 {t}")?;
            for (tet, number) in tets.iter().zip(1u64..) {
                let [a, b, c, d] = tet.map(|n| u64::from(n) + 1);
                writeln!(sink, "{number} {a} {b} {c} {d}")?;
            }
            writeln!(sink, "$EndElements")?;
        }
        Gmsh::Binary41 => {
            let (n, t) = (n as u64, t as u64);
            head(sink, "4.1", true)?;
            writeln!(sink, "$Nodes")?;
            sizes(sink, &[1, n, 1, n])?;
            ints(sink, &[3, 1, 0])?;
            sizes(sink, &[n])?;
            (1..=n).try_for_each(|number| sizes(sink, &[number]))?;
            nodes.iter().try_for_each(|p| reals(sink, p))?;
            writeln!(sink, "\n$EndNodes\n$Elements")?;
            sizes(sink, &[1, t, 1, t])?;
            ints(sink, &[3, 1, TET as u32])?;
            sizes(sink, &[t])?;
            for (tet, number) in tets.iter().zip(1u64..) {
                let [a, b, c, d] = tet.map(|n| u64::from(n) + 1);
                sizes(sink, &[number, a, b, c, d])?;
            }
            writeln!(sink, "\n$EndElements")?;
        }
    }
    Ok(())
}
