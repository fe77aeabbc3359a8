//! TetGen's `.node` and `.ele`, which belong together.

use super::Tets;
use super::build::Builder;
use super::rows::Rows;
use crate::{Problem, ReadError, WriteError};
use pliant::asset::TetMesh;
use std::io::Write;

/// One of the pair: its bytes, and its name where places must tell it from the other.
pub(super) type Half<'a> = (&'a [u8], Option<&'a str>);

/// Reads both. Nodes count from 0 or 1, whatever the `.node` file says.
pub(super) fn read(node: Half, ele: Half) -> Result<Tets, ReadError> {
    let mut builder = Builder::default();
    let mut rows = Rows::new(node.0, node.1);
    let head = rows.next().ok_or_else(|| empty(&rows, "nodes"))?;
    rows.nodes(head, &mut builder)?;
    pass_over(rows, &mut builder);
    let mut rows = Rows::new(ele.0, ele.1);
    let head = rows.next().ok_or_else(|| empty(&rows, "tetrahedra"))?;
    rows.tets(head, &mut builder)?;
    pass_over(rows, &mut builder);
    builder.finish()
}

fn empty(rows: &Rows, what: &str) -> Problem {
    rows.problem(rows.last().max(1), format!("the file is empty where a count of {what} is expected"))
}

/// Lines after those that were announced: a wrong count would leave out tets unseen.
fn pass_over(mut rows: Rows, builder: &mut Builder) {
    if let Some((line, _)) = rows.next() {
        let count = 1 + rows.by_ref().count();
        builder.beyond.add(count, || rows.place(line));
    }
}

/// Writes the nodes, counted from 1 as TetGen itself does unless told otherwise.
pub(super) fn write_nodes(sink: &mut impl Write, mesh: &TetMesh) -> Result<(), WriteError> {
    writeln!(sink, "{} 3 0 0", mesh.positions().len())?;
    for (p, number) in mesh.positions().iter().zip(1..) {
        writeln!(sink, "{} {:?} {:?} {:?}", number as u64, p.x, p.y, p.z)?;
    }
    Ok(())
}

/// Writes the tets.
pub(super) fn write_tets(sink: &mut impl Write, mesh: &TetMesh) -> Result<(), WriteError> {
    writeln!(sink, "{} 4 0", mesh.tets().len())?;
    for (tet, number) in mesh.tets().iter().zip(1..) {
        let [a, b, c, d] = tet.map(|n| u64::from(n) + 1);
        writeln!(sink, "{} {a} {b} {c} {d}", number as u64)?;
    }
    Ok(())
}
