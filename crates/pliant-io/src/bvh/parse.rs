//! BVH text to numbers.

use crate::text::{Lines, at_line, number, shown, without_bom, words};
use crate::{Problem, ReadError, Warning};
use pliant::glam::DVec3;

/// Most joints that are taken: skin weights count joints in 16 bits.
const MOST_JOINTS: usize = 1 << 16;

/// What a channel changes: a coordinate (0, 1, 2 for x, y, z).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Position(usize),
    Rotation(usize),
}

/// A ROOT or JOINT.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) parent: Option<u32>,
    pub(super) offset: DVec3,
    pub(super) axes: Vec<Axis>,
    /// Its first channel within a frame.
    pub(super) first: usize,
    pub(super) tails: Vec<DVec3>,
}

/// The file's content.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) nodes: Vec<Node>,
    pub(super) channels: usize,
    /// All frames, `channels` numbers each.
    values: Vec<f64>,
    pub(super) frame_time: f64,
    pub(super) frame_time_line: usize,
    pub(super) warnings: Vec<Warning>,
}

impl Parsed {
    /// How many whole frames there are.
    pub(super) fn frames(&self) -> usize {
        self.values.len().checked_div(self.channels).unwrap_or(0)
    }

    /// A joint's numbers in a frame.
    pub(super) fn values_of(&self, node: &Node, frame: usize) -> &[f64] {
        let start = frame * self.channels + node.first;
        &self.values[start..start + node.axes.len()]
    }
}

pub(super) fn parse(bytes: &[u8]) -> Result<Parsed, ReadError> {
    let mut cursor = Cursor { bytes: without_bom(bytes), at: 0, line: 1 };
    let mut parsed = Parsed::default();
    let moves = hierarchy(&mut cursor, &mut parsed)?;
    if parsed.nodes.is_empty() {
        return Err(at_line(cursor.line, "there is no ROOT joint").into());
    }
    if moves {
        motion(&cursor, &mut parsed)?;
    } else {
        parsed.warnings.push(Warning::new("", "there is no MOTION: the skeleton stands still", 1));
    }
    Ok(parsed)
}

/// A place in the text.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Cursor<'a> {
    fn step(&mut self) {
        let byte = self.bytes.get(self.at);
        let ends_line = match byte {
            Some(b'\n') => true,
            Some(b'\r') => self.bytes.get(self.at + 1) != Some(&b'\n'),
            _ => false,
        };
        self.line += usize::from(ends_line);
        self.at += 1;
    }

    fn skip_blanks(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.step();
        }
    }

    /// The next word, if any. Braces are words of their own.
    fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let start = self.at;
        while let Some(&b) = self.bytes.get(self.at) {
            let brace = b == b'{' || b == b'}';
            if b.is_ascii_whitespace() || (brace && self.at > start) {
                break;
            }
            self.at += 1;
            if brace {
                break;
            }
        }
        (self.at > start).then(|| &self.bytes[start..self.at])
    }

    /// A joint's name: what is left of the line, blanks and colons included, up to a brace.
    fn name(&mut self) -> String {
        self.skip_blanks();
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|b| !matches!(b, b'\n' | b'\r' | b'{' | b'}')) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.bytes[start..self.at]).trim().to_string()
    }

    fn problem(&self, what: impl Into<String>) -> Problem {
        at_line(self.line, what)
    }

    fn expect(&mut self, wanted: &str) -> Result<(), Problem> {
        match self.word() {
            Some(word) if word.eq_ignore_ascii_case(wanted.as_bytes()) => Ok(()),
            found => Err(self.problem(format!("{wanted} is expected here, not {}", named(found)))),
        }
    }

    fn number(&mut self) -> Result<f64, Problem> {
        match self.word() {
            Some(word) => number(word).map_err(|what| self.problem(what)),
            None => Err(self.problem("a number is expected here, not the end of the file")),
        }
    }

    fn vector(&mut self) -> Result<DVec3, Problem> {
        Ok(DVec3::new(self.number()?, self.number()?, self.number()?))
    }
}

fn named(word: Option<&[u8]>) -> String {
    word.map_or("the end of the file".to_string(), |w| format!("\"{}\"", shown(w)))
}

/// What a brace closes.
enum Open {
    Joint(u32),
    EndSite,
}

/// Reads joints up to MOTION, and tells whether that follows.
fn hierarchy(cursor: &mut Cursor, parsed: &mut Parsed) -> Result<bool, Problem> {
    cursor.expect("HIERARCHY").map_err(|p| p.hint("is this a BVH file?"))?;
    // A stack, not recursion: a file may nest as deep as it is long.
    let mut open: Vec<Open> = Vec::new();
    let mut opened_at: Vec<usize> = Vec::new();
    loop {
        let Some(word) = cursor.word() else {
            return match opened_at.last() {
                Some(line) => {
                    Err(cursor.problem(format!("the file ends before the joint of line {line} is closed")))
                }
                None => Ok(false),
            };
        };
        let keyword = word.to_ascii_uppercase();
        let joint = match open.last() {
            Some(&Open::Joint(joint)) => Some(joint),
            _ => None,
        };
        match (keyword.as_slice(), joint) {
            (b"MOTION", _) if open.is_empty() => return Ok(true),
            (b"ROOT", _) if open.is_empty() => {
                opened_at.push(cursor.line);
                open.push(start(cursor, parsed, None)?);
            }
            (b"JOINT", Some(parent)) => {
                opened_at.push(cursor.line);
                open.push(start(cursor, parsed, Some(parent))?);
            }
            (b"END", Some(_)) => {
                opened_at.push(cursor.line);
                // "Site", or a name: neither means anything.
                cursor.name();
                cursor.expect("{")?;
                open.push(Open::EndSite);
            }
            (b"OFFSET", Some(joint)) => parsed.nodes[joint as usize].offset = cursor.vector()?,
            (b"OFFSET", None) if !open.is_empty() => {
                let tail = cursor.vector()?;
                let above = open.iter().rev().find_map(|o| match o {
                    Open::Joint(joint) => Some(*joint),
                    Open::EndSite => None,
                });
                if let Some(joint) = above {
                    parsed.nodes[joint as usize].tails.push(tail);
                }
            }
            (b"CHANNELS", Some(joint)) => channels(cursor, parsed, joint)?,
            (b"}", _) if open.pop().is_some() => {
                opened_at.pop();
            }
            _ => {
                let place = if open.is_empty() { "between joints" } else { "within a joint" };
                return Err(cursor.problem(format!("{} is not known {place}", named(Some(word)))));
            }
        }
    }
}

fn start(cursor: &mut Cursor, parsed: &mut Parsed, parent: Option<u32>) -> Result<Open, Problem> {
    if parsed.nodes.len() >= MOST_JOINTS {
        return Err(cursor.problem(format!("there are more than {MOST_JOINTS} joints")));
    }
    let name = cursor.name();
    cursor.expect("{")?;
    parsed.nodes.push(Node { name, parent, ..Node::default() });
    Ok(Open::Joint(parsed.nodes.len() as u32 - 1))
}

/// Most channels of one joint: three positions, three rotations, and as many again for files with repeated axes.
const MOST_CHANNELS: f64 = 12.0;

fn channels(cursor: &mut Cursor, parsed: &mut Parsed, joint: u32) -> Result<(), Problem> {
    let node = &mut parsed.nodes[joint as usize];
    if !node.axes.is_empty() {
        return Err(cursor.problem("the joint has CHANNELS twice"));
    }
    let count = cursor.number()?;
    if !(0.0..=MOST_CHANNELS).contains(&count) || count.fract() != 0.0 {
        return Err(cursor.problem(format!("a joint cannot have {count} channels")));
    }
    node.first = parsed.channels;
    for _ in 0..count as usize {
        let word = cursor.word();
        let axis = word.and_then(channel).ok_or_else(|| {
            cursor.problem(format!(
                "a channel such as Xposition or Zrotation is expected here, not {}",
                named(word)
            ))
        })?;
        if matches!(axis, Axis::Position(_)) && node.axes.contains(&axis) {
            return Err(cursor.problem("the joint has the same position channel twice"));
        }
        node.axes.push(axis);
    }
    parsed.channels += node.axes.len();
    Ok(())
}

fn channel(word: &[u8]) -> Option<Axis> {
    let (first, kind) = word.split_first()?;
    let axis = match first.to_ascii_lowercase() {
        b'x' => 0,
        b'y' => 1,
        b'z' => 2,
        _ => return None,
    };
    match kind.to_ascii_lowercase().as_slice() {
        b"position" => Some(Axis::Position(axis)),
        b"rotation" => Some(Axis::Rotation(axis)),
        _ => None,
    }
}

/// Reads frames. A frame is a line; one that is too short goes on in the next, and none may be too long.
fn motion(cursor: &Cursor, parsed: &mut Parsed) -> Result<(), Problem> {
    let mut declared: Option<f64> = None;
    let mut timed = false;
    let mut in_frame = 0;
    let mut last_line = cursor.line;
    for (number_here, text) in Lines::new(&cursor.bytes[cursor.at..]) {
        let line = cursor.line + number_here - 1;
        let mut here = words(text).peekable();
        let Some(&first) = here.peek() else { continue };
        last_line = line;
        if !timed || declared.is_none() {
            let lower = text.trim_ascii().to_ascii_lowercase();
            if let Some(rest) = lower.strip_prefix(b"frames") {
                // A count too large to be one is as wrong as any other: the frames that are there are used.
                declared = Some(after_colon(rest, count).map_err(|what| at_line(line, what))?);
                continue;
            }
            let rest = lower.strip_prefix(b"frame").and_then(|r| r.trim_ascii_start().strip_prefix(b"time"));
            if let Some(rest) = rest {
                parsed.frame_time = after_colon(rest, number).map_err(|what| at_line(line, what))?;
                parsed.frame_time_line = line;
                timed = true;
                if parsed.frame_time < 0.0 {
                    return Err(at_line(line, "the frame time is negative"));
                }
                continue;
            }
            if !timed {
                let what = format!("\"Frame Time:\" is expected here, not {}", named(Some(first)));
                return Err(at_line(line, what));
            }
        }
        for word in here {
            in_frame += 1;
            if in_frame > parsed.channels {
                let what = format!("a frame has more than the {} numbers declared", parsed.channels);
                return Err(at_line(line, what).hint("is a number missing or added near this line?"));
            }
            parsed.values.push(number(word).map_err(|what| at_line(line, what))?);
        }
        if in_frame == parsed.channels {
            in_frame = 0;
        }
    }
    if in_frame > 0 {
        parsed.values.truncate(parsed.values.len() - in_frame);
        let what = format!("the last frame has {in_frame} of {} numbers and is left out", parsed.channels);
        parsed.warnings.push(Warning::new(format!("line {last_line}"), what, 1));
    }
    let frames = parsed.frames();
    match declared {
        Some(count) if count != frames as f64 => {
            let count = if count.is_finite() { count.to_string() } else { "more than 1e18".into() };
            let what = format!("\"Frames:\" says {count}, but there are {frames}; those are used");
            parsed.warnings.push(Warning::new("MOTION", what, 1));
        }
        None => parsed.warnings.push(Warning::new("MOTION", "\"Frames:\" is missing", 1)),
        _ => {}
    }
    if frames == 0 {
        parsed.warnings.push(Warning::new("MOTION", "there are no frames: the skeleton stands still", 1));
    }
    Ok(())
}

fn after_colon(rest: &[u8], read: impl Fn(&[u8]) -> Result<f64, String>) -> Result<f64, String> {
    let rest = rest.trim_ascii_start();
    read(rest.strip_prefix(b":").unwrap_or(rest).trim_ascii())
}

/// A number, or infinity for digits that are more than any.
fn count(word: &[u8]) -> Result<f64, String> {
    let digits = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    number(word).or_else(|what| if digits { Ok(f64::INFINITY) } else { Err(what) })
}
