//! Lines of numbers, as TetGen's and Vega's lists have them.

use super::build::Builder;
use super::input::{coordinate, integer};
use crate::Problem;
use crate::text::{Lines, shown};
use glam::Vec3;

/// Lines that say something, without their comments.
pub(super) struct Rows<'a> {
    lines: Lines<'a>,
    /// Named in places where it is not the file that was asked for.
    file: Option<&'a str>,
    last: usize,
}

/// A line's number and what it says.
pub(super) type Row<'a> = (usize, &'a [u8]);

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        for (number, line) in self.lines.by_ref() {
            self.last = number;
            let end = line.iter().position(|&b| b == b'#').unwrap_or(line.len());
            let text = line[..end].trim_ascii();
            if !text.is_empty() {
                return Some((number, text));
            }
        }
        None
    }
}

/// The fields of a line: between blanks, commas or semicolons.
pub(super) fn fields(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    row.split(|b| b.is_ascii_whitespace() || matches!(b, b',' | b';')).filter(|f| !f.is_empty())
}

impl<'a> Rows<'a> {
    pub(super) fn new(bytes: &'a [u8], file: Option<&'a str>) -> Self {
        Self { lines: Lines::new(bytes), file, last: 0 }
    }

    /// Where a line is.
    pub(super) fn place(&self, line: usize) -> String {
        match self.file {
            Some(file) => format!("{file}, line {line}"),
            None => format!("line {line}"),
        }
    }

    pub(super) fn problem(&self, line: usize, what: impl Into<String>) -> Problem {
        Problem::new(self.place(line), what)
    }

    /// The line of what was read last.
    pub(super) fn last(&self) -> usize {
        self.last
    }

    /// A line of a list, which must be there.
    fn row(&mut self, so_far: usize, count: usize, what: &str) -> Result<Row<'a>, Problem> {
        match self.next() {
            // Where the next section of a Vega file begins.
            Some((line, text)) if text.starts_with(b"*") => Err((line, text)),
            Some(row) => Ok(row),
            None => Err((self.last, &b""[..])),
        }
        .map_err(|(line, _)| {
            let what = format!("the list ends after {so_far} of {count} {what}");
            self.problem(line, what).hint("is the file cut off?")
        })
    }

    /// The first line of a list: how many follow, and the other numbers as far as they are there.
    fn head<const N: usize>(
        &self,
        (line, text): Row,
        what: &str,
    ) -> Result<(usize, [Option<i64>; N]), Problem> {
        let mut fields = fields(text);
        let word = fields.next().unwrap_or_default();
        let count = match integer(word) {
            Ok(count) if count >= 0 => count as usize,
            _ => {
                let what = format!("\"{}\" is no count of {what}", shown(word));
                return Err(self.problem(line, what).hint("is this a file of the kind that its name says?"));
            }
        };
        Ok((count, std::array::from_fn(|_| fields.next().and_then(|f| integer(f).ok()))))
    }

    fn ints<'t>(&self, line: usize, words: &mut impl Iterator<Item = &'t [u8]>) -> Result<i64, Problem> {
        let word = words.next().ok_or_else(|| self.problem(line, "the line has too few numbers"))?;
        integer(word).map_err(|what| self.problem(line, what))
    }

    /// Reads a list of nodes, of which `head` is the first line: `count dimension attributes markers`, then lines
    /// `number x y z ...`.
    pub(super) fn nodes(&mut self, head: Row, builder: &mut Builder) -> Result<(), Problem> {
        let (count, [dimension]) = self.head(head, "nodes")?;
        if let Some(other) = dimension.filter(|&d| d != 3) {
            return Err(
                self.problem(head.0, format!("the nodes have {other} coordinates, but a body needs 3"))
            );
        }
        if count == 0 {
            let hint = "where they are kept in a .poly, .smesh or other file, write them to a .node file";
            return Err(self.problem(head.0, "there are no nodes").hint(hint));
        }
        for done in 0..count {
            let (line, text) = self.row(done, count, "nodes")?;
            let mut words = fields(text);
            let number = self.ints(line, &mut words)?;
            let mut real = || match words.next() {
                Some(word) => coordinate(word).map_err(|what| self.problem(line, what)),
                None => Err(self.problem(line, "a node needs a number and three coordinates")),
            };
            builder.node(number, Vec3::new(real()?, real()?, real()?));
        }
        builder.nodes_done(self.place(head.0))
    }

    /// Reads a list of tets, of which `head` is the first line: `count nodes attributes`, then lines
    /// `number a b c d ...`.
    pub(super) fn tets(&mut self, head: Row, builder: &mut Builder) -> Result<(), Problem> {
        let (count, [nodes]) = self.head(head, "tetrahedra")?;
        let nodes = nodes.unwrap_or(4);
        if nodes != 4 && nodes != 10 {
            let what = format!("the elements have {nodes} nodes, but tetrahedra have 4 (or 10)");
            return Err(self.problem(head.0, what));
        }
        for done in 0..count {
            let (line, text) = self.row(done, count, "tetrahedra")?;
            let mut words = fields(text);
            self.ints(line, &mut words)?;
            let mut tet = [0; 4];
            for corner in &mut tet {
                *corner = self.ints(line, &mut words)?;
            }
            builder.tet(tet, || self.place(line))?;
            builder.curved.add(usize::from(nodes == 10), || self.place(line));
        }
        Ok(())
    }
}
