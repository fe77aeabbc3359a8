//! Animations to clips.

use super::accessor::Store;
use super::build::Budget;
use super::schema::{Mode, Root};
use crate::text::named;
use crate::{Problem, ReadError};
use pliant::asset::{Channel, Clip, Interpolation, Target, Track};

/// One clip per animation, with the channels that move joints or morphs of skinned meshes.
pub(crate) fn clips(
    root: &Root<'_>,
    store: &Store<'_>,
    joint_of_node: &[Option<u32>],
    morphs_of_node: &[Option<(u32, u32)>],
) -> Result<Vec<Clip>, ReadError> {
    let mut budget = Budget::new(store);
    let mut clips = Vec::with_capacity(root.animations.len());
    for (a, animation) in root.animations.iter().enumerate() {
        let mut channels = Vec::with_capacity(animation.channels.len());
        let mut end = 0.0;
        for (c, channel) in animation.channels.iter().enumerate() {
            let Some(node) = channel.target.node else { continue };
            let sampler = &animation.samplers[channel.sampler.0];
            let place = || format!("animations[{a}].channels[{c}]");
            let read = |accessor: usize| {
                let elements = store.elements(root, accessor);
                elements.ok_or_else(|| Problem::new(place(), "its keys have no data"))
            };
            // A clip ends with its last key, whatever that moves.
            let input = read(sampler.input.0)?;
            budget.take(input.count, || "animations", "keys")?;
            let times = input.numbers();
            end = times.last().map_or(end, |&last| f64::from(last).max(end));
            let joint = joint_of_node[node.0];
            let (target, width) = match (&*channel.target.path, joint, morphs_of_node[node.0]) {
                ("translation", Some(joint), _) => (Target::Translation(joint), 3),
                ("rotation", Some(joint), _) => (Target::Rotation(joint), 4),
                ("scale", Some(joint), _) => (Target::Scale(joint), 3),
                ("weights", _, Some((first, count))) => (Target::Morphs { first, count }, count as usize),
                _ => continue,
            };
            let output = read(sampler.output.0)?;
            budget.take(output.count.saturating_mul(output.kind.numbers()), || "animations", "keys")?;
            let interpolation = match sampler.interpolation {
                Mode::Linear => Interpolation::Linear,
                Mode::Step => Interpolation::Step,
                Mode::CubicSpline => Interpolation::CubicSpline,
            };
            let track = Track::new(interpolation, width, times, output.numbers())
                .map_err(|e| Problem::new(place(), e.to_string()))?;
            channels.push(Channel { target, track });
        }
        clips.push(Clip::new(named(animation.name.as_deref().unwrap_or("")), channels).until(end));
    }
    Ok(clips)
}
