//! What animations must keep to before their keys are looked at.

use super::buffers::{NAME, shorten};
use super::schema::{Component, Kind, Mode, Sampler};
use super::validate::Check;

impl Check<'_, '_> {
    pub(super) fn animations(&mut self) {
        let root = self.root;
        let accessors = root.accessors.len();
        for (a, animation) in root.animations.iter().enumerate() {
            for (list, hollow) in
                [("channels", animation.channels.is_hollow()), ("samplers", animation.samplers.is_hollow())]
            {
                if hollow {
                    self.problem(format!("animations[{a}].{list}"), "is empty");
                }
            }
            for (s, sampler) in animation.samplers.iter().enumerate() {
                let input = || format!("animations[{a}].samplers[{s}].input");
                if self.refers(input, "accessor", sampler.input.0, accessors) {
                    self.found.uses[sampler.input.0].time = true;
                    let accessor = &root.accessors[sampler.input.0];
                    if (accessor.kind, accessor.component_type) != (Kind::Scalar, Component::F32) {
                        self.problem(input(), "key times must be scalar floats");
                    }
                    if accessor.min.is_none() || accessor.max.is_none() {
                        self.problem(input(), "the accessor of key times needs min and max");
                    }
                    self.no_stride(input, accessor);
                }
                let output = || format!("animations[{a}].samplers[{s}].output");
                if self.refers(output, "accessor", sampler.output.0, accessors) {
                    self.found.uses[sampler.output.0].output = true;
                    self.no_stride(output, &root.accessors[sampler.output.0]);
                }
            }
            let mut targets: Vec<(usize, &str, usize)> = Vec::with_capacity(animation.channels.len());
            for (c, channel) in animation.channels.iter().enumerate() {
                let place = |part: &str| format!("animations[{a}].channels[{c}]{part}");
                let sound =
                    self.refers(|| place(".sampler"), "sampler", channel.sampler.0, animation.samplers.len());
                let Some(node) = channel.target.node else { continue };
                if !self.refers(|| place(".target.node"), "node", node.0, root.nodes.len()) {
                    continue;
                }
                targets.push((node.0, &channel.target.path, c));
                if sound {
                    self.channel(
                        || place(""),
                        node.0,
                        &channel.target.path,
                        &animation.samplers[channel.sampler.0],
                    );
                }
            }
            targets.sort_unstable();
            for pair in targets.windows(2) {
                if (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1) {
                    let place = format!("animations[{a}].channels[{}].target", pair[1].2);
                    self.problem(place, format!("channel {} animates the same", pair[0].2));
                }
            }
        }
    }

    fn channel(&mut self, place: impl Fn() -> String, node: usize, path: &str, sampler: &Sampler) {
        use Component::{F32, I8, I16, U8, U16};
        const FRACTIONS: [(Component, bool); 5] =
            [(F32, false), (I8, true), (U8, true), (I16, true), (U16, true)];
        let root = self.root;
        let accessors = (root.accessors.get(sampler.input.0), root.accessors.get(sampler.output.0));
        let (Some(input), Some(output)) = accessors else { return };
        let about = &root.nodes[node];
        let mut values = 1;
        let (kind, allowed) = match path {
            "translation" | "scale" => (Kind::Vec3, &FRACTIONS[..1]),
            "rotation" => {
                self.found.uses[sampler.output.0].rotation = true;
                (Kind::Vec4, &FRACTIONS[..])
            }
            "weights" => {
                let mesh = about.mesh.and_then(|m| root.meshes.get(m.0));
                values = mesh.and_then(|m| m.primitives.first()).map_or(0, |p| p.targets.len());
                if values == 0 {
                    self.problem(format!("{}.target", place()), format!("node {node} has no morph targets"));
                    return;
                }
                (Kind::Scalar, &FRACTIONS[..])
            }
            _ => {
                self.warn(
                    format!("{}.target.path", place()),
                    format!("\"{}\" is passed over", shorten(path, NAME)),
                );
                return;
            }
        };
        if path != "weights" && about.matrix.is_some() {
            self.warn(
                format!("{}.target", place()),
                format!("node {node} has a matrix: it is taken apart to be animated"),
            );
        }
        if output.kind != kind || !allowed.contains(&(output.component_type, output.normalized)) {
            let what = format!("{:?} of {:?} cannot be a {path}", output.kind, output.component_type);
            self.problem(format!("{}.sampler", place()), what);
        }
        let per_key = if sampler.interpolation == Mode::CubicSpline { 3 } else { 1 } * values;
        if input.count.0.checked_mul(per_key) != Some(output.count.0) {
            let what = format!(
                "{} keys need {per_key} values each, but there are {}",
                input.count.0, output.count.0
            );
            self.problem(format!("{}.sampler", place()), what);
        }
    }
}
