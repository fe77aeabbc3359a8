//! Curves that people draw: fibres for anisotropic flesh.
//!
//! JSON is a list of curves, or an object with the list under `curves`; each has `points`, and may have `name`, `degree`,
//! `weights` and `knots`, as in a settings file. OBJ has polylines (`l`) and free-form curves (`curv` of a `bspline` or
//! `bezier`, rational or not), as modelling tools export them.

use crate::text::{Lines, Problems, at_line, named, number, shown, without_bom, words};
use crate::{Problem, ReadError};
use pliant::asset::Curve;
use pliant::glam::DVec3;
use pliant::method::Fibre;
use serde::Deserialize;

/// A larger file (64 MB) holds no curves that anyone drew.
pub const MAX_BYTES: u64 = 64 << 20;
/// The most curves of one file.
pub const MAX_CURVES: usize = 10_000;

/// Reads the curves of a file with their names, which may be empty: `.json` or `.obj`, told by the end of its name.
pub fn read(file: &str, bytes: &[u8]) -> Result<Vec<(String, Curve)>, ReadError> {
    let extension = file.rsplit_once('.').map_or(file, |(_, after)| after).to_ascii_lowercase();
    let curves = match &extension[..] {
        "json" => read_json(bytes)?,
        "obj" => Obj::read(bytes)?,
        other => {
            let what =
                format!("\".{}\" is not a kind of curve file that can be read", shown(other.as_bytes()));
            return Err(Problem::new("", what).hint("give .json or .obj").into());
        }
    };
    match curves.len() {
        0 => Err(Problem::new("", "there are no curves").hint("is this a file of curves?").into()),
        1..=MAX_CURVES => Ok(curves),
        count => {
            let what = format!("{count} curves are too many");
            Err(Problem::new("", what).hint(format!("{MAX_CURVES} at most")).into())
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    name: String,
    points: Vec<[f64; 3]>,
    degree: Option<usize>,
    weights: Option<Vec<f64>>,
    knots: Option<Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entries {
    curves: Vec<Entry>,
}

fn read_json(bytes: &[u8]) -> Result<Vec<(String, Curve)>, ReadError> {
    let text = without_bom(bytes);
    let is_list = text.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'[');
    let parsed = if is_list {
        serde_json::from_slice(text)
    } else {
        serde_json::from_slice(text).map(|all: Entries| all.curves)
    };
    let entries: Vec<Entry> = parsed.map_err(|error| {
        let message = error.to_string();
        let message = shown(message.split(" at line ").next().unwrap_or_default().as_bytes());
        Problem::new(format!("line {}, column {}", error.line(), error.column()), message)
            .hint("a list of curves with points is needed")
    })?;
    let mut problems = Problems::default();
    let mut curves = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let points: Vec<DVec3> = entry.points.iter().map(|&p| DVec3::from_array(p)).collect();
        match Fibre::curve_of(&points, entry.degree, entry.weights.as_deref(), entry.knots.as_deref()) {
            Ok(curve) => curves.push((named(&entry.name), curve)),
            Err(error) => problems.push(Problem::new(format!("curves[{index}]"), error.to_string())),
        }
    }
    problems.check()?;
    Ok(curves)
}

/// What kind of free-form curve follows.
#[derive(Clone, Copy)]
enum Kind {
    Spline,
    Bezier,
    Other,
}

/// A free-form curve whose `parm` and `end` are still to come.
struct Open {
    line: usize,
    points: Vec<usize>,
    knots: Option<Vec<f64>>,
}

/// A polyline or a free-form curve by vertices, before all vertices are known.
struct Drawn {
    line: usize,
    name: String,
    points: Vec<usize>,
    degree: usize,
    rational: bool,
    knots: Option<Vec<f64>>,
}

struct Obj {
    /// Positions, and the weights that `v` lines have for rational curves.
    vertices: Vec<(DVec3, f64)>,
    name: String,
    kind: Kind,
    rational: bool,
    degree: usize,
    open: Option<Open>,
    drawn: Vec<Drawn>,
}

impl Obj {
    fn read(bytes: &[u8]) -> Result<Vec<(String, Curve)>, ReadError> {
        let mut obj = Self {
            vertices: Vec::new(),
            name: String::new(),
            kind: Kind::Other,
            rational: false,
            degree: 0,
            open: None,
            drawn: Vec::new(),
        };
        let mut problems = Problems::default();
        let mut lines = Lines::new(bytes);
        while let Some((line, text)) = lines.next_joined() {
            if let Err(what) = obj.line(line, &text) {
                problems.push(at_line(line, what));
            }
            if problems.full() {
                break;
            }
        }
        if let Err(what) = obj.close() {
            problems.push(Problem::new("", what));
        }
        let mut curves = Vec::new();
        for drawn in &obj.drawn {
            match obj.curve(drawn) {
                Ok(curve) => curves.push((drawn.name.clone(), curve)),
                Err(what) => problems.push(at_line(drawn.line, what)),
            }
        }
        problems.check()?;
        Ok(curves)
    }

    fn line(&mut self, line: usize, text: &[u8]) -> Result<(), String> {
        let mut all = words(text);
        let Some(keyword) = all.next() else { return Ok(()) };
        let mut rest = all.take_while(|w| !w.starts_with(b"#"));
        match keyword {
            b"v" => {
                let numbers: Result<Vec<f64>, String> = rest.take(4).map(number).collect();
                // A vertex that cannot be read still counts, so that others keep their numbers.
                let (place, weight) = match numbers.as_deref() {
                    Ok([x, y, z, w]) => (DVec3::new(*x, *y, *z), *w),
                    Ok([x, y, z]) => (DVec3::new(*x, *y, *z), 1.0),
                    _ => (DVec3::ZERO, 1.0),
                };
                self.vertices.push((place, weight));
                if numbers?.len() < 3 {
                    return Err("a vertex needs three coordinates".to_owned());
                }
            }
            b"o" | b"g" => {
                let names: Vec<_> = words(text).skip(1).map(String::from_utf8_lossy).collect();
                self.name = named(&names.join(" "));
            }
            b"l" => {
                let points = rest.map(|word| self.vertex(word)).collect::<Result<Vec<_>, _>>()?;
                if points.len() < 2 {
                    return Err("a line needs two vertices or more".to_owned());
                }
                // Modelling tools write a polyline edge by edge.
                match self.drawn.last_mut().filter(|d| d.degree == 1 && !d.rational && d.name == self.name) {
                    Some(last) if last.points.last() == points.first() => {
                        last.points.extend(&points[1..]);
                    }
                    _ => {
                        let name = self.name.clone();
                        self.drawn.push(Drawn {
                            line,
                            name,
                            points,
                            degree: 1,
                            rational: false,
                            knots: None,
                        });
                    }
                }
            }
            b"cstype" => {
                let words: Vec<&[u8]> = rest.collect();
                self.rational = words.first() == Some(&&b"rat"[..]);
                self.kind = match words.last() {
                    Some(&b"bspline") => Kind::Spline,
                    Some(&b"bezier") => Kind::Bezier,
                    _ => Kind::Other,
                };
            }
            b"deg" => {
                let word = rest.next().unwrap_or_default();
                let degree = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
                self.degree = degree.ok_or_else(|| format!("\"{}\" is not a degree", shown(word)))?;
            }
            b"curv" => {
                self.close()?;
                for _ in 0..2 {
                    number(rest.next().ok_or("a curve needs the ends of its range")?)?;
                }
                let points = rest.map(|word| self.vertex(word)).collect::<Result<Vec<_>, _>>()?;
                self.open = Some(Open { line, points, knots: None });
            }
            b"parm" => {
                if let Some(open) = self.open.as_mut().filter(|_| rest.next() == Some(b"u")) {
                    let knots = rest.map(number).collect::<Result<Vec<_>, _>>()?;
                    open.knots.get_or_insert_default().extend(knots);
                }
            }
            b"end" => self.close()?,
            _ => {}
        }
        Ok(())
    }

    /// Counted from 1, or back from the last vertex; whether it is there is known at the end.
    fn vertex(&self, word: &[u8]) -> Result<usize, String> {
        let field = word.split(|&b| b == b'/').next().unwrap_or_default();
        let index: Option<i64> = std::str::from_utf8(field).ok().and_then(|f| f.parse().ok());
        match index {
            None => Err(format!("\"{}\" is not a vertex", shown(word))),
            Some(0) => Err("vertices count from 1, there is no vertex 0".to_owned()),
            Some(index @ 1..) => usize::try_from(index - 1).map_err(|e| e.to_string()),
            Some(back) => {
                let known = self.vertices.len();
                let at = usize::try_from(back.unsigned_abs()).ok().and_then(|back| known.checked_sub(back));
                at.ok_or_else(|| format!("vertex {back} is named, but only {known} come before it"))
            }
        }
    }

    /// Ends a free-form curve.
    fn close(&mut self) -> Result<(), String> {
        let Some(Open { line, points, knots }) = self.open.take() else { return Ok(()) };
        let knots = match self.kind {
            Kind::Spline => knots,
            Kind::Bezier => Some(bezier_knots(points.len(), self.degree)),
            Kind::Other => {
                return Err(format!("the curve on line {line} is neither a bspline nor a bezier"));
            }
        };
        let (name, degree, rational) = (self.name.clone(), self.degree, self.rational);
        self.drawn.push(Drawn { line, name, points, degree, rational, knots });
        Ok(())
    }

    fn curve(&self, drawn: &Drawn) -> Result<Curve, String> {
        let count = self.vertices.len();
        let found = |&v: &usize| {
            let missing = || format!("vertex {} is named, but there are only {count}", v as u64 + 1);
            self.vertices.get(v).copied().ok_or_else(missing)
        };
        let vertices = drawn.points.iter().map(found).collect::<Result<Vec<_>, _>>()?;
        let (points, weights): (Vec<DVec3>, Vec<f64>) = vertices.into_iter().unzip();
        let weights = drawn.rational.then_some(&weights[..]);
        Curve::new(drawn.degree, &points, weights, drawn.knots.as_deref()).map_err(|e| e.to_string())
    }
}

/// Bezier pieces end to end: kinks where they meet. Of a number of points that makes no whole pieces come knots that do not
/// go with it.
fn bezier_knots(points: usize, degree: usize) -> Vec<f64> {
    let pieces = points.saturating_sub(1).checked_div(degree).unwrap_or(0);
    let mut knots = vec![0.0];
    for piece in 0..=pieces {
        knots.extend(std::iter::repeat_n(piece as f64, degree.min(points)));
    }
    knots.push(pieces as f64);
    knots
}
