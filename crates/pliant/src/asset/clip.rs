use super::AssetError;
use glam::{DQuat, DVec3};

/// How a track goes from key to key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// Straight, or along the arc for rotations.
    Linear,
    /// Holds a key until the next.
    Step,
    /// Cubic Hermite; each key has an in-tangent, a value and an out-tangent.
    CubicSpline,
}

/// Keys of one animated value of `width` numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    interpolation: Interpolation,
    width: usize,
    times: Vec<f32>,
    values: Vec<f32>,
    /// Keys a second where they come at a fixed rate from time 0 on.
    rate: Option<f64>,
}

/// A moment this near to a key of a recording, in keys, is that key: the rounding of `i / rate`, no more.
const ON_KEY: f64 = 1e-6;

impl Track {
    /// Checks lengths, finiteness and that times increase.
    pub fn new(
        interpolation: Interpolation,
        width: usize,
        times: Vec<f32>,
        values: Vec<f32>,
    ) -> Result<Self, AssetError> {
        if times.is_empty() {
            return Err(AssetError::Empty { what: "keys of a track" });
        }
        let per_key = width * if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        if values.len() != times.len() * per_key {
            let expected = times.len() * per_key;
            return Err(AssetError::Length { what: "values of a track", expected, found: values.len() });
        }
        if let Some(index) = times.iter().position(|t| !t.is_finite()) {
            return Err(AssetError::NotFinite { what: "time of key", index });
        }
        if let Some(index) = values.iter().position(|v| !v.is_finite()) {
            return Err(AssetError::NotFinite { what: "value of a track", index });
        }
        if let Some(before) = times.windows(2).position(|w| w[1] <= w[0]) {
            return Err(AssetError::KeyOrder { key: before + 1 });
        }
        Ok(Self { interpolation, width, times, values, rate: None })
    }

    /// Keys at a fixed rate from time 0 on, blended linearly: a recording. Key `i` is at `i / rate` exactly, not only
    /// as near as `f32` times come, which late in a long clip is far enough from the key to show.
    pub fn recorded(width: usize, rate: f64, values: Vec<f32>) -> Result<Self, AssetError> {
        let keys = values.len().checked_div(width).unwrap_or(0);
        let times = (0..keys).map(|i| (i as f64 / rate) as f32).collect();
        Ok(Self { rate: Some(rate), ..Self::new(Interpolation::Linear, width, times, values)? })
    }

    fn speed_up(&mut self, speed: f64) -> Result<(), AssetError> {
        let mut values = std::mem::take(&mut self.values);
        if self.interpolation == Interpolation::CubicSpline {
            // Tangents are changes a second.
            for (index, value) in values.iter_mut().enumerate() {
                let is_tangent = (index / self.width) % 3 != 1;
                *value = if is_tangent { (f64::from(*value) * speed) as f32 } else { *value };
            }
        }
        let rate = self.rate.map(|rate| rate * speed);
        let times = match rate {
            Some(rate) => (0..self.times.len()).map(|i| (i as f64 / rate) as f32).collect(),
            None => self.times.iter().map(|&t| (f64::from(t) / speed) as f32).collect(),
        };
        *self = Self { rate, ..Self::new(self.interpolation, self.width, times, values)? };
        Ok(())
    }

    /// Numbers per value.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Key times in seconds.
    pub fn times(&self) -> &[f32] {
        &self.times
    }

    /// Key values, `width` numbers each; three such groups a key for [`Interpolation::CubicSpline`].
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// How the track goes from key to key.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// The key at or before `time`, and how far on to the next one: 0 at the key itself and outside the keys.
    fn locate(&self, time: f64) -> (usize, f64) {
        if let Some(rate) = self.rate {
            let at = (time * rate).clamp(0.0, (self.times.len() - 1) as f64);
            let between = (at - at.round()).abs() > ON_KEY;
            return if between { (at as usize, at.fract()) } else { (at.round() as usize, 0.0) };
        }
        let after = self.times.partition_point(|&t| f64::from(t) <= time);
        if after == 0 {
            return (0, 0.0);
        }
        let key = after - 1;
        match self.times.get(after) {
            None => (key, 0.0),
            Some(&next) => {
                let start = f64::from(self.times[key]);
                (key, (time - start) / (f64::from(next) - start))
            }
        }
    }

    fn number(&self, key: usize, component: usize) -> f64 {
        let index = match self.interpolation {
            Interpolation::CubicSpline => (key * 3 + 1) * self.width + component,
            _ => key * self.width + component,
        };
        f64::from(self.values[index])
    }

    /// glTF 2.0, appendix C.5.
    fn cubic(&self, key: usize, u: f64, component: usize) -> f64 {
        let seconds = f64::from(self.times[key + 1]) - f64::from(self.times[key]);
        let at = |group: usize| f64::from(self.values[group * self.width + component]);
        let (value, out_tangent) = (at(key * 3 + 1), at(key * 3 + 2) * seconds);
        let (in_tangent, next) = (at(key * 3 + 3) * seconds, at(key * 3 + 4));
        let (u2, u3) = (u * u, u * u * u);
        (2.0 * u3 - 3.0 * u2 + 1.0) * value
            + (u3 - 2.0 * u2 + u) * out_tangent
            + (3.0 * u2 - 2.0 * u3) * next
            + (u3 - u2) * in_tangent
    }

    /// One number of the value at `time`; before the first and after the last key that key holds.
    pub fn sample(&self, time: f64, component: usize) -> f64 {
        let (key, u) = self.locate(time);
        if u == 0.0 || self.interpolation == Interpolation::Step {
            return self.number(key, component);
        }
        if self.interpolation == Interpolation::CubicSpline {
            return self.cubic(key, u, component);
        }
        let (a, b) = (self.number(key, component), self.number(key + 1, component));
        a + (b - a) * u
    }

    /// A value of three numbers at `time`.
    pub fn sample_vector(&self, time: f64) -> DVec3 {
        DVec3::new(self.sample(time, 0), self.sample(time, 1), self.sample(time, 2))
    }

    /// A rotation (x, y, z, w) at `time`: along the shorter arc between linear keys.
    pub fn sample_rotation(&self, time: f64) -> DQuat {
        let (key, u) = self.locate(time);
        let at = |key| DQuat::from_array([0, 1, 2, 3].map(|c| self.number(key, c)));
        let q = match self.interpolation {
            _ if u == 0.0 => at(key),
            Interpolation::Step => at(key),
            Interpolation::CubicSpline => DQuat::from_array([0, 1, 2, 3].map(|c| self.cubic(key, u, c))),
            Interpolation::Linear => return slerp(unit(at(key)), unit(at(key + 1)), u),
        };
        unit(q)
    }
}

fn unit(q: DQuat) -> DQuat {
    let length = q.length();
    if length > f64::MIN_POSITIVE { q / length } else { DQuat::IDENTITY }
}

/// Spherical interpolation along the shorter arc. glam's falls back to a straight line below 2 degrees, which shows
/// at the ends of long limbs.
pub(crate) fn slerp(a: DQuat, b: DQuat, u: f64) -> DQuat {
    let mut cosine = a.dot(b);
    let b = if cosine < 0.0 { -b } else { b };
    cosine = cosine.abs();
    // Below this angle (1e-5 rad) the arc and its chord are the same in f64.
    if cosine > 1.0 - 1e-10 {
        return unit(a * (1.0 - u) + b * u);
    }
    let angle = libm::acos(cosine);
    let (from, to) = (libm::sin((1.0 - u) * angle), libm::sin(u * angle));
    unit(a * from + b * to)
}

/// What a channel animates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Translation of a joint against its parent.
    Translation(u32),
    /// Rotation of a joint against its parent.
    Rotation(u32),
    /// Scale of a joint.
    Scale(u32),
    /// Weights of `count` morphs from `first` on.
    Morphs {
        /// First morph.
        first: u32,
        /// How many.
        count: u32,
    },
}

impl Target {
    /// The joint that is animated, if it is one.
    pub fn joint(self) -> Option<u32> {
        match self {
            Self::Translation(j) | Self::Rotation(j) | Self::Scale(j) => Some(j),
            Self::Morphs { .. } => None,
        }
    }

    /// Joints in order, their properties together, morphs last.
    fn order(self) -> (u64, u8) {
        match self {
            Self::Translation(j) => (u64::from(j), 0),
            Self::Rotation(j) => (u64::from(j), 1),
            Self::Scale(j) => (u64::from(j), 2),
            Self::Morphs { first, .. } => (u64::from(u32::MAX) + 1 + u64::from(first), 3),
        }
    }
}

/// An animated value: what, and its keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// What is animated.
    pub target: Target,
    /// Its keys.
    pub track: Track,
}

/// A motion.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    name: String,
    channels: Vec<Channel>,
    frame_rate: Option<f64>,
    end: f64,
}

impl Clip {
    /// A clip that starts at 0 and ends with its last key. Of two channels with one target the last counts.
    pub fn new(name: String, mut channels: Vec<Channel>) -> Self {
        let last = channels.iter().filter_map(|c| c.track.times().last()).fold(0.0f32, |a, &b| a.max(b));
        channels.sort_by_key(|c| c.target.order());
        Self { name, channels, frame_rate: None, end: f64::from(last) }
    }

    /// The same clip by another name.
    pub fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// The same clip played faster: 2 is twice as fast. A recording keeps its frame rate: that is how often a motion is
    /// looked at, not how fast it goes.
    pub fn sped(mut self, speed: f64) -> Result<Self, AssetError> {
        if !(speed > 0.0 && speed.is_finite()) {
            return Err(AssetError::Rate { rate: speed });
        }
        for channel in &mut self.channels {
            channel.track.speed_up(speed)?;
        }
        Ok(Self { end: self.end / speed, ..self })
    }

    /// The same clip, ending at `end` if that is later than its last key.
    pub fn until(self, end: f64) -> Self {
        let end = if end.is_finite() { self.end.max(end) } else { self.end };
        Self { end, ..self }
    }

    /// A clip recorded at a fixed rate: `frames` frames from time 0.
    pub fn recorded(
        name: String,
        channels: Vec<Channel>,
        frames: usize,
        frame_rate: f64,
    ) -> Result<Self, AssetError> {
        let end = frames.saturating_sub(1) as f64 / frame_rate;
        if !(frame_rate > 0.0 && frame_rate.is_finite() && end.is_finite()) {
            return Err(AssetError::Rate { rate: frame_rate });
        }
        Ok(Self { frame_rate: Some(frame_rate), end, ..Self::new(name, channels) })
    }

    /// Its name in the file; may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Animated values: first all of the lowest joint, then of the next, then morphs.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Frames a second that the motion was recorded at, where the file says so (BVH).
    pub fn frame_rate(&self) -> Option<f64> {
        self.frame_rate
    }

    /// Time of the last key, in seconds. Time 0 is the start.
    pub fn end(&self) -> f64 {
        self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_keys_are_met_exactly_and_blended_between() {
        // Keys 0, 1, 4, 9, ... at 120 Hz; in f32 the later times are off by more than a millionth of a key.
        let keys = 4000;
        let track = Track::recorded(1, 120.0, (0..keys).map(|i| (i * i) as f32).collect()).unwrap();
        for i in 0..keys {
            assert_eq!(track.sample(i as f64 / 120.0, 0), f64::from((i * i) as f32));
            assert_eq!(track.sample(i as f64 * (1.0 / 120.0), 0), f64::from((i * i) as f32));
        }
        assert!((track.sample(1.25 / 120.0, 0) - 1.75).abs() < 1e-12);
        assert_eq!(track.sample(-1.0, 0), 0.0);
        assert_eq!(track.sample(f64::NAN, 0), 0.0);
        assert_eq!(track.sample(1e9, 0), f64::from((3999 * 3999) as f32));
        assert!(Track::recorded(3, 30.0, vec![]).is_err() && Track::recorded(0, 30.0, vec![1.0]).is_err());
        assert!(Track::recorded(1, 0.0, vec![1.0, 2.0]).is_err());
        assert!(Track::recorded(1, f64::NAN, vec![1.0]).is_err());
        assert!(Track::recorded(2, 1.0, vec![1.0; 3]).is_err());
    }
}
