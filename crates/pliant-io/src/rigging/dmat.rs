//! libigl's `.dmat` matrices: weights, and motions of `.tgf` skeletons.

use super::{FileWeights, Rig};
use crate::obj::ObjMesh;
use crate::text::{Lines, at_line, number, refused, shown, without_bom, words};
use crate::{Problem, ReadError, Warning};
use pliant::asset::{Channel, Clip, Target, Track};
use pliant::glam::{DAffine3, DMat3, DVec3};

/// A matrix of finite numbers, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// `rows` numbers for each column.
    pub values: Vec<f64>,
}

/// Most rows or columns that are taken.
const MOST: f64 = u32::MAX as f64;

/// Reads a `.dmat`: `columns rows`, then the numbers as text; or `0 0`, a line `columns rows`, and the numbers as
/// little-endian f64.
pub fn read(bytes: &[u8]) -> Result<Matrix, ReadError> {
    let bytes = without_bom(bytes);
    let mut line = 1;
    let (columns, rows, rest) = header(bytes, &mut line)?;
    if (columns, rows) != (0, 0) {
        return text(columns, rows, rest, line);
    }
    let (columns, rows, rest) = header(rest, &mut line)?;
    let wanted = columns.checked_mul(rows).and_then(|n| n.checked_mul(8));
    if wanted.is_none_or(|n| rest.len() < n) {
        let what = format!("{columns} x {rows} numbers are announced, but only {} bytes follow", rest.len());
        return Err(at_line(line, what).into());
    }
    let values: Vec<f64> = rest
        .chunks_exact(8)
        .take(columns * rows)
        .map(|b| f64::from_le_bytes(std::array::from_fn(|i| b[i])))
        .collect();
    if let Some(index) = values.iter().position(|v| !v.is_finite() || v.abs() > 1e18) {
        let (column, row) = (index / rows.max(1), index % rows.max(1));
        let what = format!("the number is {}, which cannot be used", values[index]);
        return Err(Problem::new(format!("column {}, row {}", column + 1, row + 1), what).into());
    }
    Ok(Matrix { rows, columns, values })
}

/// The two counts of a header line, and what follows that line.
fn header<'a>(bytes: &'a [u8], line: &mut usize) -> Result<(usize, usize, &'a [u8]), ReadError> {
    let end = bytes.iter().position(|&b| b == b'\n').unwrap_or(bytes.len());
    let text = &bytes[..end];
    let mut counts = words(text).map(|word| match number(word) {
        Ok(n) if (0.0..=MOST).contains(&n) && n.fract() == 0.0 => Ok(n as usize),
        _ => Err(at_line(*line, format!("\"{}\" is not a count", shown(word)))),
    });
    let (Some(columns), Some(rows), None) = (counts.next(), counts.next(), counts.next()) else {
        let what = "two counts are expected here: columns and rows";
        return Err(at_line(*line, what).hint("is this a .dmat file?").into());
    };
    let counts = (columns?, rows?);
    *line += 1;
    Ok((counts.0, counts.1, bytes.get(end + 1..).unwrap_or_default()))
}

fn text(columns: usize, rows: usize, rest: &[u8], first_line: usize) -> Result<Matrix, ReadError> {
    // Two bytes a number at least, so a lying header cannot ask for more than the file is worth.
    let wanted = columns.checked_mul(rows).filter(|&n| n <= rest.len() / 2 + 1);
    let Some(wanted) = wanted else {
        let what = format!("{columns} x {rows} numbers are announced, more than the file holds");
        return Err(at_line(first_line - 1, what).into());
    };
    let mut values = Vec::with_capacity(wanted);
    let mut last = first_line;
    'lines: for (line, text) in Lines::new(rest) {
        last = first_line + line - 1;
        for word in words(text) {
            if values.len() == wanted {
                break 'lines;
            }
            values.push(number(word).map_err(|what| at_line(last, what))?);
        }
    }
    if values.len() < wanted {
        let what = format!("the file ends after {} of {wanted} numbers", values.len());
        return Err(at_line(last, what).into());
    }
    Ok(Matrix { rows, columns, values })
}

/// Weights below this are rounding beside a weight of one (a unit in the last place of an f32): left out.
const SMALLEST: f64 = 6e-8;
/// Weights may be this far below zero, which is what solvers leave; more is a mistake.
const MOST_NEGATIVE: f64 = -1e-4;

/// Weights: a row for each vertex, a column for each bone of the skeleton.
pub fn read_weights(bytes: &[u8], mesh: &ObjMesh, rig: &Rig) -> Result<FileWeights, ReadError> {
    let matrix = read(bytes)?;
    let (vertices, bones) = (mesh.positions.len(), rig.columns.len());
    if (matrix.rows, matrix.columns) != (vertices, bones) {
        let what = format!(
            "there are {} rows and {} columns of weights for {vertices} vertices and {bones} bones",
            matrix.rows, matrix.columns
        );
        return Err(Problem::new("header", what)
            .hint("do surface, skeleton and weights belong together?")
            .into());
    }
    let mut entries = Vec::new();
    let mut negative = 0;
    for (column, &joint) in matrix.values.chunks_exact(matrix.rows.max(1)).zip(&rig.columns) {
        for (vertex, &weight) in column.iter().enumerate() {
            if weight < MOST_NEGATIVE {
                let what = format!("the weight {weight} is negative");
                return Err(Problem::new(format!("vertex {}, joint {joint}", vertex + 1), what).into());
            }
            negative += usize::from(weight < 0.0);
            if weight > SMALLEST {
                entries.push((vertex as u32, joint, weight as f32));
            }
        }
    }
    let mut warnings = Vec::new();
    if negative > 0 {
        let what = "a weight is a little below zero and counts as zero";
        warnings.push(Warning::new("weights", what, negative));
    }
    Ok(FileWeights::new(entries, warnings))
}

/// How far a joint's matrix may be from a rotation, in any entry: what a motion of stiff bones is written with.
const RIGID: f64 = 1e-3;

/// A motion of a `.tgf` skeleton: a column for each frame, 12 numbers for each bone. The first third of a column holds
/// the first rows of all skin matrices, four numbers each, then come the second rows and the third.
pub fn read_clip(bytes: &[u8], rig: &Rig, frame_rate: f64) -> Result<Clip, ReadError> {
    let matrix = read(bytes)?;
    let bones = rig.columns.len();
    if matrix.rows != 12 * bones || matrix.columns == 0 {
        let what = format!(
            "there are {} rows and {} columns, but a motion of {bones} bones has {} rows and a column a frame",
            matrix.rows,
            matrix.columns,
            12 * bones
        );
        return Err(Problem::new("header", what).into());
    }
    if !(frame_rate > 0.0 && frame_rate.is_finite()) {
        return Err(Problem::new("", format!("{frame_rate} frames a second cannot be played")).into());
    }
    let joints = rig.skeleton.joints();
    // Keys of each joint: translation, then rotation.
    let mut keys: Vec<[Vec<f32>; 2]> = vec![[Vec::new(), Vec::new()]; joints.len()];
    let mut world_from_joint = vec![DAffine3::IDENTITY; joints.len()];
    for (frame, column) in matrix.values.chunks_exact(matrix.rows).enumerate() {
        for (bone, &joint) in rig.columns.iter().enumerate() {
            let entry = |row: usize, c: usize| column[4 * (bones * row + bone) + c];
            let axis = |c| DVec3::new(entry(0, c), entry(1, c), entry(2, c));
            let turn = DMat3::from_cols(axis(0), axis(1), axis(2));
            let error = turn.transpose() * turn - DMat3::IDENTITY;
            let stiff = error.to_cols_array().iter().all(|e| e.abs() < RIGID) && turn.determinant() > 0.0;
            if !stiff {
                let what = "the bone is stretched or mirrored, not only turned and moved";
                return Err(Problem::new(format!("frame {frame}, bone {}", bone + 1), what).into());
            }
            let skin = DAffine3::from_mat3_translation(turn, axis(3));
            world_from_joint[joint as usize] = skin * joints[joint as usize].world_from_rest;
        }
        for (joint, keys) in keys.iter_mut().enumerate() {
            let parent = joints[joint].parent.map(|p| world_from_joint[p as usize].inverse());
            let local = parent.unwrap_or(DAffine3::IDENTITY) * world_from_joint[joint];
            let (_, mut turn, place) = local.to_scale_rotation_translation();
            if let Some(before) = keys[1].last_chunk::<4>() {
                let same: f64 = before.iter().zip(turn.to_array()).map(|(&a, b)| f64::from(a) * b).sum();
                turn = if same < 0.0 { -turn } else { turn };
            }
            keys[0].extend(place.to_array().map(|c| c as f32));
            keys[1].extend(turn.to_array().map(|c| c as f32));
        }
    }
    let frames = matrix.columns;
    let mut channels = Vec::with_capacity(joints.len() * 2);
    for (joint, [places, turns]) in keys.into_iter().enumerate() {
        let joint = joint as u32;
        for (target, width, values) in
            [(Target::Translation(joint), 3, places), (Target::Rotation(joint), 4, turns)]
        {
            let track = Track::recorded(width, frame_rate, values);
            channels.push(Channel { target, track: track.map_err(refused("motion"))? });
        }
    }
    Clip::recorded(String::new(), channels, frames, frame_rate).map_err(refused("motion"))
}
