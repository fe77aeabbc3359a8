//! Biovision BVH: a skeleton and its recorded motion.
//!
//! How it is read:
//! - A joint's rotation is the product of its rotation channels in the order they are declared, whatever stands
//!   between them; its rest pose has none. All angles are degrees.
//! - Position channels *replace* the joint's offset, wherever they stand; an axis without a channel keeps the
//!   offset's coordinate. Some exporters (older Blender, so MakeHuman's pose files) write on joints below a root how
//!   far the joint is *from* its offset: near zero where the offset is not. Where most such joints are nearer to
//!   zero than to their offset over the whole motion, positions below roots are added to the offset, with a warning.
//! - Frame `i` is at time `i * frame_time`.

mod parse;
mod stick;

pub use stick::stick_character;

use crate::text::{named, refused};
use crate::{Problem, ReadError, Warning};
use parse::{Axis, Node, Parsed};
use pliant::asset::{Channel, Clip, Joint, Local, Skeleton, Target, Track};
use pliant::glam::{DAffine3, DQuat, DVec3};
use serde::Serialize;

/// A BVH file: skeleton, motion, and what was odd.
#[derive(Debug, Clone, PartialEq)]
pub struct Bvh {
    /// Joints, as deforming joints without rotation at rest; end sites as tails.
    pub skeleton: Skeleton,
    /// The motion; none where the file has no frames.
    pub clip: Option<Clip>,
    /// Seconds a frame; 0 where the file has no motion.
    pub frame_time: f64,
    /// How many frames the motion has.
    pub frames: usize,
    /// How many numbers a frame has.
    pub channels: usize,
    /// What was odd.
    pub warnings: Vec<Warning>,
}

/// What is in a BVH file, for people and programs that ask before they use it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BvhSummary {
    /// Joints, end sites not counted.
    pub joints: usize,
    /// Joints without a parent.
    pub roots: usize,
    /// End sites.
    pub end_sites: usize,
    /// Numbers a frame.
    pub channels: usize,
    /// Frames.
    pub frames: usize,
    /// Seconds a frame, as the file says.
    pub frame_time: f64,
    /// Frames a second.
    pub fps: Option<f64>,
    /// From the first frame to the last.
    pub seconds: f64,
}

impl Bvh {
    /// What is in it.
    pub fn summary(&self) -> BvhSummary {
        let joints = self.skeleton.joints();
        BvhSummary {
            joints: joints.len(),
            roots: joints.iter().filter(|j| j.parent.is_none()).count(),
            end_sites: joints.iter().map(|j| j.tails.len()).sum(),
            channels: self.channels,
            frames: self.frames,
            frame_time: self.frame_time,
            fps: self.clip.as_ref().and_then(Clip::frame_rate),
            seconds: self.clip.as_ref().map_or(0.0, Clip::end),
        }
    }
}

/// Reads a BVH file.
pub fn read(bytes: &[u8]) -> Result<Bvh, ReadError> {
    let mut parsed = parse::parse(bytes)?;
    let mut joints: Vec<Joint> = Vec::with_capacity(parsed.nodes.len());
    for node in &parsed.nodes {
        let above = node.parent.map_or(DVec3::ZERO, |p| joints[p as usize].world_from_rest.translation);
        joints.push(Joint {
            name: named(&node.name),
            parent: node.parent,
            local: Local::offset(node.offset),
            world_from_rest: DAffine3::from_translation(above + node.offset),
            deforms: true,
            tails: node.tails.clone(),
        });
    }
    let skeleton = Skeleton::new(joints).map_err(refused("HIERARCHY"))?;
    let mut warnings = std::mem::take(&mut parsed.warnings);
    let clip = clip(&parsed, &mut warnings)?;
    Ok(Bvh {
        skeleton,
        frame_time: if clip.is_some() { parsed.frame_time } else { 0.0 },
        frames: if clip.is_some() { parsed.frames() } else { 0 },
        channels: parsed.channels,
        clip,
        warnings,
    })
}

/// Frames a second where a file gives a frame time that cannot be meant.
const ASSUMED_RATE: f64 = 30.0;
/// Seconds a frame that can be meant: from a hundred thousand frames a second to one in a quarter of an hour.
const FRAME_TIMES: std::ops::RangeInclusive<f64> = 1e-5..=1e3;

fn clip(parsed: &Parsed, warnings: &mut Vec<Warning>) -> Result<Option<Clip>, ReadError> {
    let frames = parsed.frames();
    if frames == 0 {
        return Ok(None);
    }
    let seconds = if FRAME_TIMES.contains(&parsed.frame_time) {
        parsed.frame_time
    } else {
        let given =
            if parsed.frame_time == 0.0 { "zero".into() } else { format!("{:e} s", parsed.frame_time) };
        let what = format!("the frame time is {given}; {ASSUMED_RATE} frames a second are assumed");
        warnings.push(Warning::new(format!("line {}", parsed.frame_time_line), what, 1));
        1.0 / ASSUMED_RATE
    };
    let rate = 1.0 / seconds;
    // Keys must be apart in f32 too; whether they are at the end shows it.
    let (last, before) = ((frames - 1) as f64 / rate, frames.saturating_sub(2) as f64 / rate);
    if !rate.is_finite() || (frames > 1 && last as f32 <= before as f32) || !(last as f32).is_finite() {
        let what = format!("a frame time of {seconds} s cannot tell {frames} frames apart");
        return Err(Problem::new(format!("line {}", parsed.frame_time_line), what).into());
    }
    let displaced = displaced_joints(parsed);
    if displaced > 0 {
        let what = "position channels below the root hold shifts from the offset and are added to it";
        warnings.push(Warning::new("MOTION", what, displaced));
    }
    let mut channels = Vec::new();
    for (index, node) in parsed.nodes.iter().enumerate() {
        let mut add = |target, width, values| -> Result<(), ReadError> {
            let track = Track::recorded(width, rate, values);
            channels.push(Channel { target, track: track.map_err(refused("MOTION"))? });
            Ok(())
        };
        if node.axes.iter().any(|a| matches!(a, Axis::Position(_))) {
            let base = if displaced > 0 && node.parent.is_some() { node.offset } else { DVec3::ZERO };
            let mut values = Vec::with_capacity(frames * 3);
            for frame in 0..frames {
                let place = node.position(parsed.values_of(node, frame), base);
                values.extend(place.to_array().map(|c| c as f32));
            }
            add(Target::Translation(index as u32), 3, values)?;
        }
        if node.axes.iter().any(|a| matches!(a, Axis::Rotation(_))) {
            let mut values = Vec::with_capacity(frames * 4);
            let mut before = DQuat::IDENTITY;
            for frame in 0..frames {
                let q = node.rotation(parsed.values_of(node, frame));
                // q and -q turn alike; the nearer one lets neighbours be blended number by number too.
                before = if before.dot(q) < 0.0 { -q } else { q };
                values.extend(before.to_array().map(|c| c as f32));
            }
            add(Target::Rotation(index as u32), 4, values)?;
        }
    }
    Ok(Some(Clip::recorded(String::new(), channels, frames, rate).map_err(refused("motion"))?))
}

impl Node {
    /// Where the joint is against its parent: channels on top of `base`, the offset where there is none.
    fn position(&self, values: &[f64], base: DVec3) -> DVec3 {
        let mut place = self.offset;
        for (axis, &value) in self.axes.iter().zip(values) {
            if let Axis::Position(c) = *axis {
                place[c] = base[c] + value;
            }
        }
        place
    }

    /// The product of the rotation channels, in order.
    fn rotation(&self, values: &[f64]) -> DQuat {
        let mut q = DQuat::IDENTITY;
        for (axis, &degrees) in self.axes.iter().zip(values) {
            if let Axis::Rotation(c) = *axis {
                q = (q * turn(c, degrees)).normalize();
            }
        }
        q
    }
}

/// A rotation about a coordinate axis. Full turns are taken off first: they are exact in degrees, not in radians.
fn turn(axis: usize, degrees: f64) -> DQuat {
    let (sine, cosine) = libm::sincos((degrees % 720.0).to_radians() * 0.5);
    let mut q = [0.0, 0.0, 0.0, cosine];
    q[axis] = sine;
    DQuat::from_array(q)
}

/// How many joints below roots have position channels, if those hold shifts from the offset; otherwise 0.
fn displaced_joints(parsed: &Parsed) -> usize {
    let (mut joints, mut shifted, mut votes) = (0, 0, 0);
    for node in parsed.nodes.iter().filter(|n| n.parent.is_some()) {
        if !node.axes.iter().any(|a| matches!(a, Axis::Position(_))) {
            continue;
        }
        joints += 1;
        let (mut from_zero, mut from_offset) = (0.0, 0.0);
        for frame in 0..parsed.frames() {
            for (axis, &value) in node.axes.iter().zip(parsed.values_of(node, frame)) {
                if let Axis::Position(c) = *axis {
                    from_zero += value.abs();
                    from_offset += (value - node.offset[c]).abs();
                }
            }
        }
        // An offset of zero says nothing: both readings are the same.
        votes += usize::from(from_zero != from_offset);
        shifted += usize::from(from_zero < from_offset);
    }
    if shifted * 2 > votes { joints } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::glam::DMat3;
    use proptest::prelude::*;

    /// A rotation matrix about a coordinate axis, written out.
    fn matrix(axis: usize, degrees: f64) -> DMat3 {
        let (s, c) = libm::sincos(degrees.to_radians());
        match axis {
            0 => DMat3::from_cols_array(&[1.0, 0.0, 0.0, 0.0, c, s, 0.0, -s, c]),
            1 => DMat3::from_cols_array(&[c, 0.0, -s, 0.0, 1.0, 0.0, s, 0.0, c]),
            _ => DMat3::from_cols_array(&[c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0]),
        }
    }

    proptest! {
        #[test]
        fn rotation_is_the_product_in_the_declared_order(
            order in proptest::collection::vec(0usize..3, 0..5),
            angles in proptest::collection::vec(-720.0f64..720.0, 5),
        ) {
            let node = Node { axes: order.iter().map(|&c| Axis::Rotation(c)).collect(), ..Node::default() };
            let q = node.rotation(&angles);
            let expected = order.iter().zip(&angles).fold(DMat3::IDENTITY, |m, (&c, &a)| m * matrix(c, a));
            let found = DMat3::from_quat(q);
            for c in 0..3 {
                prop_assert!((found.col(c) - expected.col(c)).length() < 1e-13);
            }
        }

        /// Euler angles of a rotation found from its matrix give the rotation back.
        #[test]
        fn euler_angles_round_trip(x in -179.0f64..179.0, y in -89.0f64..89.0, z in -179.0f64..179.0) {
            let axes = [2, 1, 0].map(Axis::Rotation).to_vec();
            let node = Node { axes, ..Node::default() };
            // R = Rz Ry Rx: its first column and last row give the angles back.
            let m = DMat3::from_quat(node.rotation(&[z, y, x]));
            let back_z = libm::atan2(m.x_axis.y, m.x_axis.x).to_degrees();
            let back_y = libm::asin((-m.x_axis.z).clamp(-1.0, 1.0)).to_degrees();
            let back_x = libm::atan2(m.y_axis.z, m.z_axis.z).to_degrees();
            for (found, given) in [(back_x, x), (back_y, y), (back_z, z)] {
                prop_assert!((found - given).abs() < 1e-9, "{} for {}", found, given);
            }
        }
    }
}
