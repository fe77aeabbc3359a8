//! Checks of the numbers in buffers, against what the file says of them and what they are used for.

use super::UNIT_TOLERANCE;
use super::accessor::{Elements, Store};
use super::schema::{Accessor, Component, Kind, Mode, Root};
use super::validate::Uses;
use crate::{Problem, Warning};

/// How far a declared bound may be from the data, as a part of the values' size: exporters round bounds.
const BOUND_TOLERANCE: f64 = 1e-4;
/// Normals further from unit length than this are odd.
const NORMAL_TOLERANCE: f32 = 0.01;
/// What accessors without data may claim beyond the file's own size, in bytes.
const ZEROS_LIMIT: usize = 16 << 20;

/// How many times over accessors may read a file: interleaved and shared data make this one or two.
const MOST_READS: usize = 16;
/// What accessors may read beyond that, in bytes.
const READS_FLOOR: usize = 256 << 20;

/// What the numbers are.
#[derive(Default)]
pub(crate) struct DataFindings {
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Warning>,
}

/// Checks all accessors whose bytes are there.
pub(crate) fn check(root: &Root<'_>, store: &Store<'_>, uses: &[Uses]) -> DataFindings {
    let mut found = DataFindings::default();
    let held: usize = store.file.len()
        + (0..root.buffers.len()).map(|b| store.buffer(b).len()).sum::<usize>()
        + store.decoded.iter().flatten().map(Vec::len).sum::<usize>();
    let size = |a: &Accessor| a.count.0.saturating_mul(super::accessor::element_size(a));
    let asked = root.accessors.iter().map(size).fold(0, usize::saturating_add);
    if asked > held.saturating_mul(MOST_READS).saturating_add(READS_FLOOR) {
        let what = format!("together they read {asked} bytes of a file that has {held}");
        found.problems.push(Problem::new("accessors", what));
        return found;
    }
    let mut highest = vec![0.0; root.accessors.len()];
    let limit = ZEROS_LIMIT.saturating_add(store.file.len());
    for (index, accessor) in root.accessors.iter().enumerate() {
        let place = |part: &str| format!("accessors[{index}]{part}");
        if accessor.buffer_view.is_none() {
            let size = super::accessor::element_size(accessor);
            if accessor.count.0.checked_mul(size).is_none_or(|bytes| bytes > limit) {
                let what =
                    format!("{} elements without data are more than this file can mean", accessor.count.0);
                found.problems.push(Problem::new(place(".count"), what));
                continue;
            }
            if accessor.sparse.is_none() {
                continue;
            }
        }
        if let Some(problem) = sparse_order(root, store, index) {
            found.problems.push(problem);
            continue;
        }
        // Only matrices of small numbers have gaps within their elements; nothing here uses those.
        let padded = matches!(accessor.kind, Kind::Mat2 | Kind::Mat3) && accessor.component_type.size() < 4;
        let bounded = accessor.min.is_some() || accessor.max.is_some() || uses[index].index;
        if padded || !(bounded || accessor.component_type == Component::F32) {
            continue;
        }
        let Some(elements) = store.elements(root, index) else { continue };
        let bounds = elements.bounds();
        highest[index] = bounds.high[0];
        if let Some(element) = bounds.not_finite {
            let what = format!("element {element} is not a finite number");
            if uses[index].only_decor() {
                found.warnings.push(Warning::new(place(""), what, 1));
            } else {
                found.problems.push(Problem::new(place(""), what));
            }
            continue;
        }
        // A filter rounds the data after the bounds were taken.
        let view = accessor.buffer_view.and_then(|v| root.buffer_views.get(v.0));
        if view.and_then(|v| v.meshopt()).is_some_and(|m| m.filter.as_deref().is_some_and(|f| f != "NONE")) {
            continue;
        }
        for (name, declared, actual, sign) in
            [("min", &accessor.min, &bounds.low, 1.0), ("max", &accessor.max, &bounds.high, -1.0)]
        {
            let Some(declared) = declared else { continue };
            for (k, &bound) in declared.iter().enumerate() {
                let size = bounds.low[k].abs().max(bounds.high[k].abs()).max(bound.abs());
                let beyond = (bound - actual[k]) * sign;
                if beyond.abs() <= BOUND_TOLERANCE * size {
                    continue;
                }
                let (place, what) = (
                    format!("accessors[{index}].{name}[{k}]"),
                    format!("declares {bound}, but the data reach {}", actual[k]),
                );
                if beyond > 0.0 && !uses[index].only_decor() {
                    found.problems.push(Problem::new(place, what));
                } else {
                    found.warnings.push(Warning::new(place, what, 1));
                }
            }
        }
        if uses[index].color
            && (0..4).any(|k| bounds.low[k] < 0.0 || (bounds.high[k] > 1.0 && !elements.is_whole()))
        {
            found.warnings.push(Warning::new(place(""), "ACCESSOR_NON_CLAMPED: colours beyond 0 to 1", 1));
        }
        if uses[index].time {
            key_times(&place, &elements, &mut found.problems);
        }
    }
    indices(root, &highest, &mut found.problems);
    normals(root, store, &mut found.warnings);
    bind_matrices(root, store, &mut found.problems);
    rotations(root, store, &mut found);
    found
}

/// Whether an accessor is more than zeros.
fn has_data(root: &Root<'_>, index: usize) -> bool {
    root.accessors.get(index).is_some_and(|a| a.buffer_view.is_some() || a.sparse.is_some())
}

/// Sparse indices must increase and lie within the accessor.
fn sparse_order(root: &Root<'_>, store: &Store<'_>, index: usize) -> Option<Problem> {
    let accessor = &root.accessors[index];
    let mut before = None;
    for place in store.sparse_indices(root, accessor)? {
        if place as usize >= accessor.count.0 || before.is_some_and(|b| b >= place) {
            let what = format!("{place} is out of order or beyond {} elements", accessor.count.0);
            return Some(Problem::new(format!("accessors[{index}].sparse.indices"), what));
        }
        before = Some(place);
    }
    None
}

fn key_times(place: &impl Fn(&str) -> String, elements: &Elements<'_>, problems: &mut Vec<Problem>) {
    let (mut before, mut key, mut late) = (f32::NEG_INFINITY, 0, None);
    let mut first = 0.0;
    elements.for_each::<1>(|[time]| {
        if key == 0 {
            first = time;
        }
        if time <= before && late.is_none() {
            late = Some((key, time));
        }
        (before, key) = (time, key + 1);
    });
    if first < 0.0 {
        problems.push(Problem::new(place(""), "key times must not be negative"));
    }
    if let Some((key, time)) = late {
        let what = format!("key {key} at {time} s does not come after the one before it");
        problems.push(Problem::new(place(""), what));
    }
}

fn indices(root: &Root<'_>, highest: &[f64], problems: &mut Vec<Problem>) {
    for (m, mesh) in root.meshes.iter().enumerate() {
        for (p, primitive) in mesh.primitives.iter().enumerate() {
            let vertices = primitive.attributes.0.first().and_then(|a| root.accessors.get(a.1.0));
            let (Some(indices), Some(vertices)) = (primitive.indices, vertices) else { continue };
            let highest = highest.get(indices.0).copied().unwrap_or(0.0);
            if highest >= vertices.count.0 as f64 {
                let place = format!("meshes[{m}].primitives[{p}].indices");
                let what = format!("there is no vertex {highest}: the primitive has {}", vertices.count.0);
                problems.push(Problem::new(place, what).hint("export the file again"));
            }
        }
    }
}

fn normals(root: &Root<'_>, store: &Store<'_>, warnings: &mut Vec<Warning>) {
    let mut seen = vec![false; root.accessors.len()];
    for (m, mesh) in root.meshes.iter().enumerate() {
        for (p, primitive) in mesh.primitives.iter().enumerate() {
            let Some(index) = primitive.attributes.get("NORMAL") else { continue };
            if seen.get_mut(index.0).is_none_or(|s| std::mem::replace(s, true)) {
                continue;
            }
            if !has_data(root, index.0) {
                continue;
            }
            let Some(elements) = store.elements(root, index.0) else { continue };
            let tolerance = match elements.component {
                Component::I8 => 0.03,
                _ => NORMAL_TOLERANCE,
            };
            let (low, high) = ((1.0 - tolerance) * (1.0 - tolerance), (1.0 + tolerance) * (1.0 + tolerance));
            let mut odd = 0;
            elements.for_each::<3>(|n| {
                odd += usize::from(!(low..=high).contains(&(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])));
            });
            if odd > 0 {
                let place = format!("meshes[{m}].primitives[{p}].attributes.NORMAL");
                warnings.push(Warning::new(place, "normals that are not unit vectors were made so", odd));
            }
        }
    }
}

fn bind_matrices(root: &Root<'_>, store: &Store<'_>, problems: &mut Vec<Problem>) {
    for (s, skin) in root.skins.iter().enumerate() {
        let bind = skin.inverse_bind_matrices.filter(|a| has_data(root, a.0));
        let Some(elements) = bind.and_then(|a| store.elements(root, a.0)) else { continue };
        for (k, m) in elements.rows::<f32, 16>().take(skin.joints.len()).enumerate() {
            if m[3] != 0.0 || m[7] != 0.0 || m[11] != 0.0 || (m[15] - 1.0).abs() > 1e-4 {
                let what = format!("the last row of matrix {k} is not 0 0 0 1");
                problems.push(Problem::new(format!("skins[{s}].inverseBindMatrices"), what));
                break;
            }
        }
    }
}

fn rotations(root: &Root<'_>, store: &Store<'_>, found: &mut DataFindings) {
    let mut seen = vec![false; root.accessors.len()];
    let (low, high) = ((1.0 - UNIT_TOLERANCE).powi(2) as f32, (1.0 + UNIT_TOLERANCE).powi(2) as f32);
    for (a, animation) in root.animations.iter().enumerate() {
        for (c, channel) in animation.channels.iter().enumerate() {
            let Some(sampler) = animation.samplers.get(channel.sampler.0) else { continue };
            if &*channel.target.path != "rotation"
                || seen.get_mut(sampler.output.0).is_none_or(|s| std::mem::replace(s, true))
            {
                continue;
            }
            let Some(elements) = store.elements(root, sampler.output.0) else { continue };
            let cubic = sampler.interpolation == Mode::CubicSpline;
            let (mut key, mut odd) = (0, None);
            elements.for_each::<4>(|q| {
                let square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
                // Of a cubic key only the middle is a rotation, the others are its tangents.
                if (!cubic || key % 3 == 1) && !(low..=high).contains(&square) && odd.is_none() {
                    odd = Some(key);
                }
                key += 1;
            });
            if let Some(key) = odd {
                let place = format!("animations[{a}].channels[{c}].sampler");
                found.problems.push(Problem::new(place, format!("rotation {key} is not a unit quaternion")));
            }
        }
    }
}
