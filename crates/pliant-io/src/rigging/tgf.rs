//! libigl's `.tgf` skeletons: handles (numbered points), `#`, edges between them.

use super::Rig;
use crate::text::{Lines, Problems, at_line, number, refused, shown, words};
use crate::{Problem, ReadError, Warning};
use pliant::asset::{Joint, Local, Skeleton};
use pliant::glam::{DAffine3, DVec3};
use std::collections::{BTreeMap, VecDeque};

/// An edge between handles, by their places in the file's list.
struct Edge {
    line: usize,
    from: usize,
    to: usize,
}

/// Reads a `.tgf` skeleton.
///
/// Weights and motions of libigl have one column a bone *edge*, and a bone moves with its start joint: so each bone
/// edge is a joint, at the edge's first handle, below the edge that ends there. Edges that leave one handle are joints
/// in one place. Handles that no bone touches are joints of their own; their columns come before those of the edges.
pub fn read(bytes: &[u8]) -> Result<Rig, ReadError> {
    let mut problems = Problems::default();
    let mut handles: Vec<DVec3> = Vec::new();
    let mut labels: BTreeMap<u64, usize> = BTreeMap::new();
    let mut label_of: Vec<u64> = Vec::new();
    let mut edges: Vec<Edge> = Vec::new();
    let (mut section, mut passed_over) = (0, 0);
    for (line, text) in Lines::new(bytes) {
        let mut here = words(text);
        let Some(first) = here.clone().next() else { continue };
        if first.starts_with(b"#") {
            section += 1;
            continue;
        }
        let done = match section {
            0 => {
                here.next();
                index(first).and_then(|label| {
                    let mut coordinate = || match here.next() {
                        Some(word) => number(word),
                        None => Err("a handle needs a number and three coordinates".to_string()),
                    };
                    let at = DVec3::new(coordinate()?, coordinate()?, coordinate()?);
                    if labels.insert(label, handles.len()).is_some() {
                        return Err(format!("handle {label} is there twice"));
                    }
                    handles.push(at);
                    label_of.push(label);
                    Ok(())
                })
            }
            1 => edge(line, here, &labels).map(|edge| match edge {
                Some(edge) => edges.push(edge),
                None => passed_over += 1,
            }),
            // What follows is not described anywhere, and no file is known to need it.
            _ => break,
        };
        if let Err(what) = done {
            problems.push(at_line(line, what));
        }
        if problems.full() {
            break;
        }
    }
    problems.check()?;
    if handles.is_empty() {
        return Err(Problem::new("", "there are no handles").hint("is this a .tgf skeleton?").into());
    }
    let mut warnings = Vec::new();
    if passed_over > 0 {
        let what = "an edge of a cage or a pseudo-edge is no bone and is passed over";
        warnings.push(Warning::new("edges", what, passed_over));
    }
    build(&handles, &label_of, &edges, warnings)
}

/// A handle's number. Written as a plain integer, or as some exporters do with a point.
fn index(word: &[u8]) -> Result<u64, String> {
    match number(word)? {
        value if value >= 0.0 && value.fract() == 0.0 => Ok(value as u64),
        _ => Err(format!("\"{}\" is not the number of a handle", shown(word))),
    }
}

/// `from to [bone pseudo cage]`: two numbers alone are a bone.
fn edge<'a>(
    line: usize,
    mut here: impl Iterator<Item = &'a [u8]>,
    labels: &BTreeMap<u64, usize>,
) -> Result<Option<Edge>, String> {
    let mut handle = || {
        let word = here.next().ok_or("an edge needs two handles")?;
        let label = index(word)?;
        labels.get(&label).copied().ok_or_else(|| format!("there is no handle {label}"))
    };
    let (from, to) = (handle()?, handle()?);
    let flags: Vec<f64> = here.map(number).collect::<Result<_, _>>()?;
    if from == to {
        return Err("an edge goes from a handle to itself".to_string());
    }
    Ok(flags.first().is_none_or(|&bone| bone != 0.0).then_some(Edge { line, from, to }))
}

fn build(
    handles: &[DVec3],
    labels: &[u64],
    edges: &[Edge],
    mut warnings: Vec<Warning>,
) -> Result<Rig, ReadError> {
    let mut arriving: Vec<Option<usize>> = vec![None; handles.len()];
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); handles.len()];
    let mut touched = vec![false; handles.len()];
    let mut second_parents = 0;
    for (index, edge) in edges.iter().enumerate() {
        leaving[edge.from].push(index);
        touched[edge.from] = true;
        touched[edge.to] = true;
        if arriving[edge.to].is_some() {
            second_parents += 1;
        } else {
            arriving[edge.to] = Some(index);
        }
    }
    if second_parents > 0 {
        let what = "several bones end at one handle: those that start there follow the first";
        warnings.push(Warning::new("edges", what, second_parents));
    }
    let mut joints: Vec<Joint> = Vec::new();
    let mut columns = Vec::new();
    let joint = |name, parent: Option<(u32, DVec3)>, at: DVec3, tails| Joint {
        name,
        parent: parent.map(|p| p.0),
        local: Local::offset(at - parent.map_or(DVec3::ZERO, |p| p.1)),
        world_from_rest: DAffine3::from_translation(at),
        deforms: true,
        tails,
    };
    for handle in (0..handles.len()).filter(|&h| !touched[h]) {
        columns.push(joints.len() as u32);
        joints.push(joint(labels[handle].to_string(), None, handles[handle], Vec::new()));
    }
    // Parents first: from the edges that no other leads to.
    let mut joint_of: Vec<Option<u32>> = vec![None; edges.len()];
    let mut next: VecDeque<usize> = (0..edges.len()).filter(|&e| arriving[edges[e].from].is_none()).collect();
    while let Some(index) = next.pop_front() {
        let Edge { from, to, .. } = edges[index];
        let parent = arriving[from].and_then(|p| Some((joint_of[p]?, handles[edges[p].from])));
        // Of several bones that end here only the first has those that start here below it.
        let leads = arriving[to] == Some(index);
        let tails = if leads && !leaving[to].is_empty() { vec![] } else { vec![handles[to] - handles[from]] };
        joint_of[index] = Some(joints.len() as u32);
        joints.push(joint(format!("{}-{}", labels[from], labels[to]), parent, handles[from], tails));
        if leads {
            next.extend(&leaving[to]);
        }
    }
    for (edge, joint) in edges.iter().zip(&joint_of) {
        let joint = joint.ok_or_else(|| at_line(edge.line, "the bones go round in a circle"))?;
        columns.push(joint);
    }
    let skeleton = Skeleton::new(joints).map_err(refused("skeleton"))?;
    Ok(Rig { skeleton, columns, clips: Vec::new(), warnings })
}
