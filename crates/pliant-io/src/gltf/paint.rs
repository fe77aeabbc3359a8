//! Numbers painted on the vertices of the skin: attributes of the file's own, and the channels of colours.

use super::accessor::{Elements, Store};
use super::document::{Document, PartSource};
use super::schema::{Accessor, Component, Kind, Primitive, Root};
use crate::text::named;
use crate::{Problem, ReadError, Warning};
use pliant::asset::Painted;
use std::collections::BTreeSet;

/// Names that are told of a file.
const MOST_NAMES: usize = 64;
const CHANNELS: [&str; 4] = ["r", "g", "b", "a"];

impl Document {
    /// What is painted on the skin under a name: an attribute of one number whose name starts with `_`, or a colour's
    /// channel such as `COLOR_0.r`. 0 where a part does not have it, `None` where no part does. Numbers beyond 0 to 1
    /// are cut to that, with a warning.
    ///
    /// Only `_SOFTNESS` is part of the character at once: colours are many numbers that most have no use for.
    pub fn paint(&self, name: &str, warnings: &mut Vec<Warning>) -> Result<Option<Painted>, ReadError> {
        let root: Root<'_> =
            serde_json::from_slice(self.json()).map_err(|e| Problem::new("", e.to_string()))?;
        let store = Store { file: &self.file, buffers: &self.buffers, decoded: &self.decoded_views };
        read(&root, &store, &self.parts, name, warnings)
    }
}

/// The names of all that is painted on skinned meshes, in the file's order.
pub(crate) fn names(root: &Root<'_>) -> Vec<String> {
    let (mut known, mut names) = (BTreeSet::new(), Vec::new());
    let skinned = root.nodes.iter().filter(|n| n.skin.is_some()).filter_map(|n| n.mesh);
    let meshes: BTreeSet<usize> = skinned.map(|m| m.0).collect();
    let primitives = meshes.iter().flat_map(|&m| root.meshes[m].primitives.iter());
    for (name, index) in primitives.flat_map(|p| &p.attributes.0) {
        let Some(accessor) = root.accessors.get(index.0) else { continue };
        let mut add = |name: String| {
            if names.len() < MOST_NAMES && known.insert(name.clone()) {
                names.push(name);
            }
        };
        if is_scalar(name, accessor) {
            add(named(name));
        } else if is_color(name, accessor) {
            CHANNELS.iter().take(accessor.kind.numbers()).for_each(|c| add(format!("{}.{c}", named(name))));
        }
    }
    names
}

fn is_scalar(name: &str, accessor: &Accessor) -> bool {
    name.starts_with('_') && accessor.kind == Kind::Scalar
}

fn is_color(name: &str, accessor: &Accessor) -> bool {
    let fraction = accessor.normalized && matches!(accessor.component_type, Component::U8 | Component::U16);
    name.starts_with("COLOR_")
        && matches!(accessor.kind, Kind::Vec3 | Kind::Vec4)
        && (accessor.component_type == Component::F32 || fraction)
}

/// The attribute of a name, and which of its numbers.
fn channel(name: &str) -> (&str, usize) {
    let split = name.strip_prefix("COLOR_").and_then(|_| name.rsplit_once('.'));
    let found = split.and_then(|(color, channel)| {
        CHANNELS.iter().position(|c| *c == channel).map(|channel| (color, channel))
    });
    found.unwrap_or((name, 0))
}

/// What is painted on the parts of a character under a name.
pub(crate) fn read(
    root: &Root<'_>,
    store: &Store<'_>,
    parts: &[PartSource],
    name: &str,
    warnings: &mut Vec<Warning>,
) -> Result<Option<Painted>, ReadError> {
    let (attribute, channel) = channel(name);
    let mesh_of = |part: &PartSource| root.nodes.get(part.node).and_then(|n| n.mesh).map(|m| m.0);
    let (mut values, mut vertices, mut found, mut beyond) = (Vec::new(), 0, false, 0);
    for part in parts {
        let Some(mesh) = mesh_of(part) else { continue };
        let Some(primitive) = root.meshes.get(mesh).and_then(|m| m.primitives.get(part.primitive)) else {
            continue;
        };
        let place = || format!("meshes[{mesh}].primitives[{}].attributes.{attribute}", part.primitive);
        if let Some(elements) = elements(root, store, primitive, attribute, channel, place)? {
            found = true;
            values.resize(vertices, 0.0);
            let mut odd = None;
            let mut take = |value: f32| {
                if !value.is_finite() {
                    odd.get_or_insert(values.len() - vertices);
                }
                beyond += usize::from(!(0.0..=1.0).contains(&value));
                values.push(value.clamp(0.0, 1.0));
            };
            match elements.kind {
                Kind::Scalar => elements.for_each::<1>(|[v]| take(v)),
                Kind::Vec3 => elements.for_each::<3>(|v| take(v[channel])),
                _ => elements.for_each::<4>(|v| take(v[channel])),
            }
            if let Some(vertex) = odd {
                let what = format!("vertex {vertex} is not a finite number");
                return Err(Problem::new(place(), what).into());
            }
        }
        let positions = primitive.attributes.get("POSITION").and_then(|a| root.accessors.get(a.0));
        vertices += positions.map_or(0, |a| a.count.0);
    }
    if !found {
        return Ok(None);
    }
    values.resize(vertices, 0.0);
    if beyond > 0 {
        warnings.push(Warning::new(attribute, "a number beyond 0 to 1 is cut to that", beyond));
    }
    Ok(Some(Painted { name: name.to_owned(), values }))
}

/// The elements of a painted attribute, if a primitive has it and it is of the right kind.
fn elements<'d>(
    root: &Root<'_>,
    store: &Store<'d>,
    primitive: &Primitive<'_>,
    attribute: &str,
    channel: usize,
    place: impl Fn() -> String,
) -> Result<Option<Elements<'d>>, ReadError> {
    let Some(index) = primitive.attributes.get(attribute) else { return Ok(None) };
    let fits = root
        .accessors
        .get(index.0)
        .is_some_and(|a| is_scalar(attribute, a) || (is_color(attribute, a) && channel < a.kind.numbers()));
    // A primitive without positions has no vertices.
    if !fits || primitive.attributes.get("POSITION").is_none() {
        return Ok(None);
    }
    let elements = store.elements(root, index.0);
    Ok(Some(elements.ok_or_else(|| Problem::new(place(), "has no data"))?))
}
