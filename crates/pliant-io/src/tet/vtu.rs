//! VTK's `.vtu`, for ParaView and its kin; written only.

use super::{Field, Fields};
use crate::WriteError;
use pliant::asset::TetMesh;
use std::io::{self, Write};

/// How the numbers of a `.vtu` are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Vtu {
    /// As bytes after the XML: small and fast.
    #[default]
    Binary,
    /// As words within the XML.
    Text,
}

/// VTK's number of a tet.
const VTK_TETRA: u8 = 10;

/// The numbers of one array.
enum Values<'a> {
    Reals(&'a [f32]),
    Nodes(&'a [u32]),
    /// Where each tet's corners end.
    Ends(usize),
    /// The kind of each cell.
    Kinds(usize),
}

impl Values<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Reals(_) => "Float32",
            Self::Nodes(_) | Self::Ends(_) => "Int64",
            Self::Kinds(_) => "UInt8",
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::Reals(values) => values.len() as u64 * 4,
            Self::Nodes(values) => values.len() as u64 * 8,
            Self::Ends(count) => *count as u64 * 8,
            Self::Kinds(count) => *count as u64,
        }
    }

    fn write_binary(&self, sink: &mut impl Write) -> io::Result<()> {
        sink.write_all(&self.bytes().to_le_bytes())?;
        match self {
            Self::Reals(values) => values.iter().try_for_each(|v| sink.write_all(&v.to_le_bytes())),
            Self::Nodes(values) => {
                values.iter().try_for_each(|&v| sink.write_all(&u64::from(v).to_le_bytes()))
            }
            Self::Ends(count) => (1..=*count as u64).try_for_each(|c| sink.write_all(&(4 * c).to_le_bytes())),
            Self::Kinds(count) => (0..*count).try_for_each(|_| sink.write_all(&[VTK_TETRA])),
        }
    }

    /// A line for every `width` numbers, or every tet: to VTK the corners are one long list.
    fn write_text(&self, sink: &mut impl Write, width: usize) -> io::Result<()> {
        let width = if matches!(self, Self::Nodes(_)) { 4 } else { width };
        let mut put = |index: usize, word: &dyn std::fmt::Display| {
            let end = if (index + 1).is_multiple_of(width) { '\n' } else { ' ' };
            write!(sink, "{word}{end}")
        };
        match self {
            // As `{:?}`: the fewest digits that give the same bits, and no row of zeros.
            Self::Reals(values) => {
                values.iter().enumerate().try_for_each(|(i, v)| put(i, &format_args!("{v:?}")))
            }
            Self::Nodes(values) => values.iter().enumerate().try_for_each(|(i, v)| put(i, v)),
            Self::Ends(count) => (0..*count).try_for_each(|i| put(i, &(4 * (i + 1)))),
            Self::Kinds(count) => (0..*count).try_for_each(|i| put(i, &VTK_TETRA)),
        }
    }
}

/// A name as XML has it.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => text.push('_'),
            c => text.push(c),
        }
    }
    text
}

fn check(fields: &[Field], count: usize, form: Vtu, what: &'static str) -> Result<(), WriteError> {
    for (index, field) in fields.iter().enumerate() {
        let place = || format!("data array \"{}\"", field.name);
        if field.name.trim().is_empty() || fields[..index].iter().any(|f| f.name == field.name) {
            return Err(WriteError::at(place(), "its name is empty or taken"));
        }
        if field.width == 0 {
            return Err(WriteError::at(place(), "it has no numbers for each element"));
        }
        WriteError::check_length(what, count.saturating_mul(field.width), field.values.len())?;
        // VTK reads no NaN from text.
        if let Some(at) = field.values.iter().position(|v| form == Vtu::Text && !v.is_finite()) {
            let what = format!("the number of element {} is not finite", at / field.width);
            return Err(WriteError::at(place(), what));
        }
    }
    Ok(())
}

/// Writes the mesh, with numbers for nodes and tets.
pub(super) fn write(
    sink: &mut impl Write,
    mesh: &TetMesh,
    fields: &Fields,
    form: Vtu,
) -> Result<(), WriteError> {
    let (n, t) = (mesh.positions().len(), mesh.tets().len());
    check(fields.nodes, n, form, "numbers of a data array for the nodes")?;
    check(fields.tets, t, form, "numbers of a data array for the tets")?;
    let sections = [
        ("PointData", arrays(fields.nodes)),
        ("CellData", arrays(fields.tets)),
        ("Points", vec![("Points".into(), 3, Values::Reals(bytemuck::cast_slice(mesh.positions())))]),
        (
            "Cells",
            vec![
                ("connectivity".into(), 1, Values::Nodes(mesh.tets().as_flattened())),
                ("offsets".into(), 1, Values::Ends(t)),
                ("types".into(), 1, Values::Kinds(t)),
            ],
        ),
    ];
    writeln!(sink, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    let kind = r#"type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64""#;
    writeln!(sink, "<VTKFile {kind}>\n<UnstructuredGrid>")?;
    writeln!(sink, "<Piece NumberOfPoints=\"{n}\" NumberOfCells=\"{t}\">")?;
    let mut offset = 0;
    for (section, arrays) in &sections {
        writeln!(sink, "<{section}>")?;
        for (name, width, values) in arrays {
            // One number an element is no vector of one.
            let width_text = match width {
                1 => String::new(),
                _ => format!(" NumberOfComponents=\"{width}\""),
            };
            write!(sink, "<DataArray type=\"{}\" Name=\"{name}\"{width_text}", values.kind())?;
            match form {
                Vtu::Binary => writeln!(sink, " format=\"appended\" offset=\"{offset}\"/>")?,
                Vtu::Text => {
                    writeln!(sink, " format=\"ascii\">")?;
                    values.write_text(sink, *width)?;
                    writeln!(sink, "</DataArray>")?;
                }
            }
            offset += 8 + values.bytes();
        }
        writeln!(sink, "</{section}>")?;
    }
    writeln!(sink, "</Piece>\n</UnstructuredGrid>")?;
    if form == Vtu::Binary {
        write!(sink, "<AppendedData encoding=\"raw\">\n_")?;
        for (_, _, values) in sections.iter().flat_map(|s| &s.1) {
            values.write_binary(sink)?;
        }
        writeln!(sink, "\n</AppendedData>")?;
    }
    writeln!(sink, "</VTKFile>")?;
    Ok(())
}

/// Name, width and numbers of each.
fn arrays<'a>(fields: &[Field<'a>]) -> Vec<(String, usize, Values<'a>)> {
    fields.iter().map(|f| (escaped(f.name), f.width, Values::Reals(f.values))).collect()
}
