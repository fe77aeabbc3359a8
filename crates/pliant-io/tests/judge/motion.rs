//! Animations: sections 3.11 and appendix C of the standard.

use super::file::{File, index, list};
use super::matrix::{Quat, slerp, unit};
use serde_json::Value;

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Step,
    Linear,
    Cubic,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Property {
    Translation,
    Rotation,
    Scale,
    Weights,
}

/// One animated property of one node.
pub(crate) struct Channel {
    pub(crate) node: usize,
    pub(crate) property: Property,
    mode: Mode,
    times: Vec<f64>,
    /// Per key `width` numbers; three such groups for splines: in-tangent, value, out-tangent.
    values: Vec<f64>,
    width: usize,
}

pub(crate) struct Animation {
    pub(crate) name: String,
    pub(crate) duration: f64,
    pub(crate) channels: Vec<Channel>,
}

impl Animation {
    pub(crate) fn read(file: &File, json: &Value) -> Result<Self, String> {
        let mut channels = Vec::new();
        for channel in list(json, "channels") {
            let target = channel.get("target").ok_or("a channel without target")?;
            // A channel without a node, or of a path that an extension defines, moves nothing here.
            let Some(node) = index(target, "node")? else { continue };
            let property = match target.get("path").and_then(Value::as_str) {
                Some("translation") => Property::Translation,
                Some("rotation") => Property::Rotation,
                Some("scale") => Property::Scale,
                Some("weights") => Property::Weights,
                _ => continue,
            };
            let sampler = index(channel, "sampler")?.and_then(|s| list(json, "samplers").get(s));
            let sampler = sampler.ok_or("a channel without sampler")?;
            let mode = match sampler.get("interpolation").and_then(Value::as_str) {
                None | Some("LINEAR") => Mode::Linear,
                Some("STEP") => Mode::Step,
                Some("CUBICSPLINE") => Mode::Cubic,
                Some(other) => return Err(format!("interpolation {other}")),
            };
            let times = file.accessor(index(sampler, "input")?.ok_or("a sampler without input")?)?.values;
            let values = file.accessor(index(sampler, "output")?.ok_or("a sampler without output")?)?.values;
            let groups = times.len() * if mode == Mode::Cubic { 3 } else { 1 };
            let width = match property {
                Property::Rotation => 4,
                Property::Weights => values.len().checked_div(groups).unwrap_or(0),
                _ => 3,
            };
            if times.is_empty() || width == 0 || values.len() != groups * width {
                return Err(format!("{} keys with {} numbers", times.len(), values.len()));
            }
            channels.push(Channel { node, property, mode, times, values, width });
        }
        let last = |c: &Channel| c.times.last().copied().unwrap_or(0.0);
        let duration = channels.iter().map(last).fold(0.0, f64::max);
        let name = json.get("name").and_then(Value::as_str).unwrap_or("").to_string();
        Ok(Self { name, duration, channels })
    }
}

impl Channel {
    /// The value at `time`; outside the keys the nearest one holds.
    pub(crate) fn at(&self, time: f64) -> Vec<f64> {
        let group = |g: usize| &self.values[g * self.width..(g + 1) * self.width];
        let value = |key: usize| if self.mode == Mode::Cubic { group(3 * key + 1) } else { group(key) };
        let last = self.times.len() - 1;
        let whole =
            |v: &[f64]| if self.property == Property::Rotation { unit(quat(v)).to_vec() } else { v.to_vec() };
        if time <= self.times[0] {
            return whole(value(0));
        }
        if time >= self.times[last] {
            return whole(value(last));
        }
        // Between two keys now: the last one that is not after `time`, and the next.
        let key = self.times.iter().rposition(|&t| t <= time).unwrap_or(0);
        let span = self.times[key + 1] - self.times[key];
        let t = (time - self.times[key]) / span;
        match self.mode {
            Mode::Step => whole(value(key)),
            Mode::Linear if self.property == Property::Rotation => {
                slerp(quat(value(key)), quat(value(key + 1)), t).to_vec()
            }
            Mode::Linear => {
                value(key).iter().zip(value(key + 1)).map(|(a, b)| (1.0 - t) * a + t * b).collect()
            }
            Mode::Cubic => {
                let (out_tangent, in_tangent) = (group(3 * key + 2), group(3 * key + 3));
                let (v, w) = (value(key), value(key + 1));
                let (t2, t3) = (t * t, t * t * t);
                let mixed: Vec<f64> = (0..self.width)
                    .map(|k| {
                        (2.0 * t3 - 3.0 * t2 + 1.0) * v[k]
                            + span * (t3 - 2.0 * t2 + t) * out_tangent[k]
                            + (3.0 * t2 - 2.0 * t3) * w[k]
                            + span * (t3 - t2) * in_tangent[k]
                    })
                    .collect();
                whole(&mixed)
            }
        }
    }
}

pub(crate) fn quat(v: &[f64]) -> Quat {
    std::array::from_fn(|k| v.get(k).copied().unwrap_or(0.0))
}
