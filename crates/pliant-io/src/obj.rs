//! Wavefront OBJ surfaces.
//!
//! The vertices are exactly the `v` lines in order: skeletons and weights kept in other files count on them. That is
//! why this is not one of the public readers, which merge, split or drop vertices to make them ready for drawing.

use crate::text::{Lines, Problems, at_line, number, shown, words};
use crate::{Problem, ReadError, Warning};
use pliant::glam::Vec3;
use serde::Serialize;
use std::collections::HashMap;

/// A surface as an OBJ file has it. Indices are in range, numbers finite, and there is at least one triangle.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjMesh {
    /// The `v` lines, in order, unused ones too.
    pub positions: Vec<Vec3>,
    /// Colours of the vertices, where every `v` line has one.
    pub colors: Option<Vec<[f32; 3]>>,
    /// Faces, cut into fans.
    pub triangles: Vec<[u32; 3]>,
    /// For each triangle its group, an index into `groups`.
    pub triangle_groups: Vec<u32>,
    /// Names given by `g` and `o` lines that hold faces; each name once. Faces before any such line are in a group
    /// without a name.
    pub groups: Vec<String>,
    /// How many faces the file has.
    pub faces: usize,
    /// What was odd.
    pub warnings: Vec<Warning>,
}

/// What is in an OBJ file, for people and programs that ask before they use it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ObjSummary {
    /// `v` lines.
    pub vertices: usize,
    /// Vertices that no face uses.
    pub unused_vertices: usize,
    /// Faces of three or more vertices.
    pub faces: usize,
    /// Triangles after cutting faces into fans.
    pub triangles: usize,
    /// Group names in order of their first face.
    pub groups: Vec<String>,
    /// Whether every edge has a triangle on both sides.
    pub closed: bool,
    /// Edges with one triangle.
    pub boundary_edges: usize,
    /// Edges with more than two triangles.
    pub non_manifold_edges: usize,
    /// Pieces that share no vertex.
    pub components: usize,
    /// Whether vertices have colours.
    pub colors: bool,
    /// Lowest and highest coordinates.
    pub bounds: [[f32; 3]; 2],
}

/// Reads an OBJ file. Materials, texture coordinates and normals are passed over: what deforms is the surface.
pub fn read(bytes: &[u8]) -> Result<ObjMesh, ReadError> {
    let mut reader = Reader::default();
    let mut lines = Lines::new(bytes);
    while let Some((number, line)) = lines.next_joined() {
        reader.line(number, &line);
        if reader.problems.full() {
            break;
        }
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    positions: Vec<Vec3>,
    colors: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
    triangle_groups: Vec<u32>,
    groups: Vec<String>,
    group_ids: HashMap<String, u32>,
    /// The name that faces now belong to.
    group_name: String,
    /// Its number, once it has a face.
    group: Option<u32>,
    /// Vertices of the face being read.
    face: Vec<u32>,
    faces: usize,
    /// Lines that refer to vertices further down, and which.
    ahead: Vec<(usize, u32)>,
    short_faces: Tally,
    collapsed: Tally,
    skin_weights: Tally,
    other_elements: Tally,
    unknown: Tally,
    problems: Problems,
}

/// How often something happened, and first where.
#[derive(Default)]
struct Tally {
    count: usize,
    first: usize,
}

impl Tally {
    fn add(&mut self, line: usize) {
        if self.count == 0 {
            self.first = line;
        }
        self.count += 1;
    }

    fn warn(&self, what: &str, warnings: &mut Vec<Warning>) {
        if self.count > 0 {
            warnings.push(Warning::new(format!("line {}", self.first), what, self.count));
        }
    }
}

impl Reader {
    fn line(&mut self, line: usize, text: &[u8]) {
        let mut all = words(text);
        let Some(keyword) = all.next() else { return };
        let rest = all.take_while(|w| !w.starts_with(b"#"));
        let done = match keyword {
            b"v" => self.vertex(rest),
            b"f" | b"fo" => self.face(line, rest),
            b"g" | b"o" => {
                let names: Vec<_> = words(text).skip(1).map(String::from_utf8_lossy).collect();
                self.group_name = names.join(" ");
                self.group = None;
                Ok(())
            }
            b"vw" => {
                self.skin_weights.add(line);
                Ok(())
            }
            b"p" | b"l" | b"curv" | b"curv2" | b"surf" => {
                self.other_elements.add(line);
                Ok(())
            }
            b"vt" | b"vn" | b"vp" | b"s" | b"usemtl" | b"mtllib" | b"mg" | b"usemap" | b"maplib" | b"lod"
            | b"shadow_obj" | b"trace_obj" | b"bevel" | b"c_interp" | b"d_interp" | b"deg" | b"cstype"
            | b"parm" | b"trim" | b"hole" | b"end" | b"step" | b"bmat" | b"ctech" | b"stech" | b"scrv"
            | b"sp" | b"con" | b"call" | b"csh" => Ok(()),
            _ if keyword.starts_with(b"#") => Ok(()),
            _ => {
                self.unknown.add(line);
                Ok(())
            }
        };
        if let Err(what) = done {
            self.problems.push(at_line(line, what));
        }
    }

    fn vertex<'a>(&mut self, mut rest: impl Iterator<Item = &'a [u8]>) -> Result<(), String> {
        let mut coordinate = || match rest.next() {
            Some(word) => number(word).map(|v| v as f32),
            None => Err("a vertex needs three coordinates".to_string()),
        };
        // A vertex that cannot be read still counts, so that faces are judged by the right numbers.
        let position = coordinate().and_then(|x| Ok(Vec3::new(x, coordinate()?, coordinate()?)));
        self.positions.push(*position.as_ref().unwrap_or(&Vec3::ZERO));
        position?;
        // Three more numbers are a colour; one alone is the weight of a rational curve.
        let mut color = [0.0; 3];
        let mut count = 0;
        for (slot, word) in color.iter_mut().zip(rest) {
            let Ok(value) = number(word) else { break };
            *slot = value as f32;
            count += 1;
        }
        if count == 3 {
            self.colors.push(color);
        }
        Ok(())
    }

    fn face<'a>(&mut self, line: usize, rest: impl Iterator<Item = &'a [u8]>) -> Result<(), String> {
        self.face.clear();
        let known = self.positions.len();
        for word in rest {
            let vertex = corner(word, known)?;
            if vertex as usize >= known {
                self.ahead.push((line, vertex));
            }
            self.face.push(vertex);
        }
        if self.face.len() < 3 {
            self.short_faces.add(line);
            return Ok(());
        }
        self.faces += 1;
        let group = self.group();
        let first = self.face[0];
        for pair in self.face[1..].windows(2) {
            let [a, b, c] = [first, pair[0], pair[1]];
            if a == b || b == c || c == a {
                self.collapsed.add(line);
            } else {
                self.triangles.push([a, b, c]);
                self.triangle_groups.push(group);
            }
        }
        Ok(())
    }

    /// The number of the group that faces now belong to.
    fn group(&mut self) -> u32 {
        if let Some(group) = self.group {
            return group;
        }
        let next = self.groups.len() as u32;
        let group = *self.group_ids.entry(self.group_name.clone()).or_insert(next);
        if group == next {
            self.groups.push(self.group_name.clone());
        }
        self.group = Some(group);
        group
    }

    fn finish(mut self) -> Result<ObjMesh, ReadError> {
        let count = self.positions.len();
        if count > u32::MAX as usize {
            self.problems.push(Problem::new("", format!("{count} vertices are more than can be handled")));
        }
        // Not when reading was given up: the vertices may well have followed.
        if !self.problems.full() {
            for &(line, vertex) in self.ahead.iter().filter(|a| a.1 as usize >= count) {
                let what = format!(
                    "the face refers to vertex {}, but there are only {count}",
                    u64::from(vertex) + 1
                );
                self.problems.push(at_line(line, what));
            }
        }
        self.problems.check()?;
        if self.triangles.is_empty() {
            let what = match self.faces + self.short_faces.count {
                0 => "there are no faces",
                _ => "there are no faces of three different vertices",
            };
            return Err(Problem::new("", what).hint("is this an OBJ file with a surface in it?").into());
        }
        let mut warnings = Vec::new();
        self.short_faces.warn("a face has fewer than three vertices and is left out", &mut warnings);
        self.collapsed.warn("a triangle names one vertex twice and is left out", &mut warnings);
        self.skin_weights.warn("skin weights on vw lines are not read: give a weights file", &mut warnings);
        self.other_elements.warn("points, lines and curves are left out", &mut warnings);
        self.unknown.warn("a line starts with an unknown word and is passed over", &mut warnings);
        Ok(ObjMesh {
            colors: (self.colors.len() == count).then_some(self.colors),
            positions: self.positions,
            triangles: self.triangles,
            triangle_groups: self.triangle_groups,
            groups: self.groups,
            faces: self.faces,
            warnings,
        })
    }
}

/// The vertex of a corner: `v`, `v/vt`, `v//vn` or `v/vt/vn`, counted from 1, or from the last one when negative.
fn corner(word: &[u8], known: usize) -> Result<u32, String> {
    let mut fields = word.split(|&b| b == b'/');
    let integer = |field: &[u8]| -> Result<i64, String> {
        let value = std::str::from_utf8(field).ok().and_then(|f| f.parse().ok());
        value.ok_or_else(|| format!("\"{}\" is not a corner of a face", shown(word)))
    };
    let index = integer(fields.next().unwrap_or_default())?;
    let mut others = 0;
    for field in fields {
        others += 1;
        if !field.is_empty() {
            integer(field)?;
        }
    }
    if others > 2 {
        return Err(format!("\"{}\" is not a corner of a face", shown(word)));
    }
    let vertex = match index {
        0 => return Err("a face refers to vertex 0, but they count from 1".to_string()),
        1.. => index - 1,
        _ => {
            let back = known as i64 + index;
            if back < 0 {
                return Err(format!("a face refers to vertex {index}, but only {known} come before it"));
            }
            back
        }
    };
    u32::try_from(vertex).map_err(|_| format!("a face refers to vertex {index}, more than can be handled"))
}

impl ObjMesh {
    /// What is in it.
    pub fn summary(&self) -> ObjSummary {
        let mut used = vec![false; self.positions.len()];
        self.triangles.iter().flatten().for_each(|&v| used[v as usize] = true);
        let (boundary_edges, non_manifold_edges) = self.odd_edges();
        let first = self.positions.first().copied().unwrap_or(Vec3::ZERO);
        let (low, high) =
            self.positions.iter().fold((first, first), |(low, high), &p| (low.min(p), high.max(p)));
        ObjSummary {
            vertices: self.positions.len(),
            unused_vertices: used.iter().filter(|u| !**u).count(),
            faces: self.faces,
            triangles: self.triangles.len(),
            groups: self.groups.clone(),
            closed: boundary_edges == 0,
            boundary_edges,
            non_manifold_edges,
            components: self.components(&used),
            colors: self.colors.is_some(),
            bounds: [low.to_array(), high.to_array()],
        }
    }

    /// Edges with one triangle, and edges with more than two.
    fn odd_edges(&self) -> (usize, usize) {
        let mut edges: Vec<(u32, u32)> = Vec::with_capacity(self.triangles.len() * 3);
        for &[a, b, c] in &self.triangles {
            edges.extend([(a, b), (b, c), (c, a)].map(|(a, b)| (a.min(b), a.max(b))));
        }
        edges.sort_unstable();
        edges.chunk_by(|a, b| a == b).fold((0, 0), |(one, many), same| {
            (one + usize::from(same.len() == 1), many + usize::from(same.len() > 2))
        })
    }

    fn components(&self, used: &[bool]) -> usize {
        let mut parent: Vec<u32> = (0..self.positions.len() as u32).collect();
        fn root(parent: &mut [u32], mut v: u32) -> u32 {
            while parent[v as usize] != v {
                let above = parent[parent[v as usize] as usize];
                parent[v as usize] = above;
                v = above;
            }
            v
        }
        for &[a, b, c] in &self.triangles {
            for (from, to) in [(a, b), (b, c)] {
                let (from, to) = (root(&mut parent, from), root(&mut parent, to));
                parent[from.max(to) as usize] = from.min(to);
            }
        }
        (0..parent.len()).filter(|&v| used[v] && parent[v] == v as u32).count()
    }
}
