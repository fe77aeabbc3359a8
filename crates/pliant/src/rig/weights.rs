//! Skin weights made from a skeleton alone.

use crate::asset::{AssetError, Bone, Skeleton, Slot, Weights};
use crate::parallel;
use glam::{DVec3, Vec3};

/// Bones shorter than this, over the character's size, have no direction and are passed over when distances are
/// measured: the bones that meet there stand for them.
const SHORTEST_BONE: f64 = 1e-6;
/// Distances below this, over the character's size, count as this: a vertex on a bone is not divided by zero.
const NEAREST: f64 = 1e-6;

/// How [`distance`] weighs bones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistanceSettings {
    /// `k` in `w ~ (1/d)^k`; 4 normally. Less is softer; much more is stiff between bones and creased at joints.
    pub power: f64,
    /// How many joints a vertex is bound to at most; 4 normally, as much as game engines take.
    pub influences: usize,
}

impl Default for DistanceSettings {
    fn default() -> Self {
        Self { power: 4.0, influences: 4 }
    }
}

/// A slot for each deforming joint, in order, bound at the skeleton's rest.
pub fn slots(skeleton: &Skeleton) -> Vec<Slot> {
    let joints = skeleton.joints().iter().enumerate().filter(|(_, joint)| joint.deforms);
    joints
        .map(|(index, joint)| Slot { joint: index as u32, joint_from_rest: joint.world_from_rest.inverse() })
        .collect()
}

/// Diagonal of the box around some points and the bones of a skeleton; 0 where there are none.
pub fn rest_size(positions: &[Vec3], skeleton: &Skeleton) -> f64 {
    let mut bounds: Option<(DVec3, DVec3)> = None;
    let mut add = |p: DVec3| {
        let (low, high) = bounds.unwrap_or((p, p));
        bounds = Some((low.min(p), high.max(p)));
    };
    positions.iter().for_each(|p| add(p.as_dvec3()));
    for bone in skeleton.bones() {
        add(bone.start);
        add(bone.end);
    }
    bounds.map_or(0.0, |(low, high)| low.distance(high))
}

/// The bones of each slot, ready to be measured to.
#[derive(Debug, Clone, PartialEq)]
pub struct BoneDistances {
    /// In order of slots.
    bones: Vec<(u16, Bone)>,
    smallest: f64,
}

impl BoneDistances {
    /// Takes the bones of a skeleton. `size` is the character's. Slots are those of [`slots`].
    pub fn new(skeleton: &Skeleton, size: f64) -> Result<Self, AssetError> {
        let mut slot_of_joint = Vec::with_capacity(skeleton.len());
        let mut count = 0usize;
        for joint in skeleton.joints() {
            slot_of_joint.push(count);
            count += usize::from(joint.deforms);
        }
        let limit = u16::MAX as usize + 1;
        if count > limit {
            return Err(AssetError::TooMany { what: "deforming joints", count, limit });
        }
        let all: Vec<_> =
            skeleton.bones().iter().map(|bone| (slot_of_joint[bone.joint as usize] as u16, *bone)).collect();
        let mut bones = all.clone();
        bones.retain(|(_, bone)| bone.start.distance(bone.end) > SHORTEST_BONE * size);
        // Nothing of any length: the joints themselves are all there is to measure to.
        let bones = if bones.is_empty() { all } else { bones };
        if bones.is_empty() {
            return Err(AssetError::Empty { what: "deforming joints" });
        }
        Ok(Self { bones, smallest: (NEAREST * size).max(f64::MIN_POSITIVE) })
    }

    /// Distance from a point to the nearest bone of each slot that has one, by slot, into `out`.
    pub fn measure(&self, point: DVec3, out: &mut Vec<(f64, u16)>) {
        out.clear();
        for &(slot, bone) in &self.bones {
            let distance = bone.distance(point).max(self.smallest);
            match out.last_mut().filter(|last| last.1 == slot) {
                Some(last) => last.0 = last.0.min(distance),
                None => out.push((distance, slot)),
            }
        }
    }

    /// The slot whose bone is nearest; of equals the first.
    pub fn nearest(&self, point: DVec3) -> u16 {
        let mut found = Vec::new();
        self.measure(point, &mut found);
        found.iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |f| f.1)
    }
}

/// Weights by straight-line distance: `w ~ (1/d)^k` over the nearest bones, each joint counted once, by its nearest
/// bone. Slots are those of [`slots`].
///
/// A straight line leaves the body between an arm and the hip beside it: good for limbs apart from each other.
pub fn distance(
    positions: &[Vec3],
    skeleton: &Skeleton,
    settings: DistanceSettings,
) -> Result<Weights, AssetError> {
    let bones = BoneDistances::new(skeleton, rest_size(positions, skeleton))?;
    // Vertices by the thousand, so that scratch is made seldom.
    const CHUNK: usize = 1024;
    let chunks = parallel::map(positions.len().div_ceil(CHUNK), |chunk| {
        let mut near = Vec::new();
        let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(positions.len());
        let weigh = |point: &Vec3| {
            bones.measure(point.as_dvec3(), &mut near);
            near.sort_by(|a, b| a.0.total_cmp(&b.0));
            near.truncate(settings.influences.max(1));
            let first = near.first().map_or(1.0, |n| n.0);
            // Against the nearest, which has 1: no power overflows.
            near.iter().map(|&(d, slot)| (slot, libm::pow(first / d, settings.power) as f32)).collect()
        };
        positions[range].iter().map(weigh).collect::<Vec<Vec<(u16, f32)>>>()
    });
    let count = skeleton.joints().iter().filter(|j| j.deforms).count();
    let per_vertex = chunks.iter().flatten().map(|v| v.iter().copied());
    Ok(Weights::normalised(per_vertex, count, |_| None)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::{Joint, Local};
    use glam::DAffine3;
    use proptest::prelude::*;

    fn skeleton(offsets: &[(Option<u32>, DVec3)]) -> Skeleton {
        let mut joints: Vec<Joint> = Vec::new();
        for &(parent, offset) in offsets {
            let above = parent.map_or(DVec3::ZERO, |p| joints[p as usize].world_from_rest.translation);
            joints.push(Joint {
                name: String::new(),
                parent,
                local: Local::offset(offset),
                world_from_rest: DAffine3::from_translation(above + offset),
                deforms: true,
                tails: Vec::new(),
            });
        }
        Skeleton::new(joints).unwrap()
    }

    fn limb() -> Skeleton {
        skeleton(&[(None, DVec3::ZERO), (Some(0), DVec3::X), (Some(1), DVec3::X * 1e-12)])
    }

    #[test]
    fn the_law_holds_between_two_bones() {
        // Bones 0..1 and (leaf, half as long) 1..1.5; the third joint has only a bone of no length.
        let skeleton = skeleton(&[(None, DVec3::ZERO), (Some(0), DVec3::X)]);
        let p = Vec3::new(1.3, 0.4, 0.0);
        let weights = distance(&[p], &skeleton, DistanceSettings::default()).unwrap();
        let (near, far) = (0.4f64, 0.5f64);
        let expected = libm::pow(near / far, 4.0);
        let found: Vec<_> = weights.of(0).collect();
        assert_eq!(found[0].0, 1);
        assert!((f64::from(found[1].1 / found[0].1) - expected).abs() < 1e-6);
    }

    #[test]
    fn bones_of_no_length_are_passed_over() {
        let weights = distance(&[Vec3::new(0.5, 0.1, 0.0)], &limb(), DistanceSettings::default()).unwrap();
        assert_eq!(weights.slot_count(), 3);
        assert!(weights.of(0).all(|(slot, _)| slot == 0));
    }

    #[test]
    fn a_lone_joint_takes_all_and_none_is_an_error() {
        let lone = skeleton(&[(None, DVec3::ONE)]);
        let weights = distance(&[Vec3::ONE, Vec3::ZERO], &lone, DistanceSettings::default()).unwrap();
        assert_eq!(weights.of(0).collect::<Vec<_>>(), [(0, 1.0)]);
        assert!(distance(&[Vec3::ZERO], &skeleton(&[]), DistanceSettings::default()).is_err());
        assert_eq!(rest_size(&[], &skeleton(&[])), 0.0);
    }

    proptest! {
        #[test]
        fn sums_to_one_and_nearest_is_heaviest(
            points in proptest::collection::vec(proptest::array::uniform3(-3.0f32..3.0), 1..20),
            offsets in proptest::collection::vec(proptest::array::uniform3(-1.0f64..1.0), 1..12),
            power in 0.5f64..12.0,
        ) {
            let chain: Vec<_> = offsets.iter().enumerate()
                .map(|(i, &o)| ((i > 0).then(|| (i as u32 - 1) / 2), DVec3::from_array(o))).collect();
            let skeleton = skeleton(&chain);
            let points: Vec<Vec3> = points.into_iter().map(Vec3::from_array).collect();
            let weights = distance(&points, &skeleton, DistanceSettings { power, influences: 4 }).unwrap();
            let bones = BoneDistances::new(&skeleton, rest_size(&points, &skeleton)).unwrap();
            let mut near = Vec::new();
            for (v, point) in points.iter().enumerate() {
                let sum: f32 = weights.of(v).map(|e| e.1).sum();
                prop_assert!((sum - 1.0).abs() < 1e-5 && weights.of(v).len() <= 4);
                bones.measure(point.as_dvec3(), &mut near);
                let of = |slot| near.iter().find(|n| n.1 == slot).unwrap().0;
                let heaviest = weights.of(v).next().unwrap().0;
                let shortest = near.iter().map(|n| n.0).fold(f64::MAX, f64::min);
                prop_assert!(of(heaviest) <= shortest * (1.0 + 1e-6));
                prop_assert_eq!(of(bones.nearest(point.as_dvec3())), shortest);
            }
        }

        /// Turning, moving and scaling body and skeleton together changes no weight.
        #[test]
        fn weights_do_not_depend_on_the_frame(
            p in proptest::array::uniform3(-2.0f64..2.0), angle in 0.0f64..6.0, scale in 0.01f64..100.0,
        ) {
            let shift = DVec3::new(5.0, -2.0, 1.0) * scale;
            let turn = DAffine3::from_scale_rotation_translation(
                DVec3::splat(scale), glam::DQuat::from_rotation_y(angle), shift);
            let build = |m: DAffine3| {
                let at = |p: DVec3| m.transform_point3(p);
                let [a, b, c] = [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.3)].map(at);
                let body = [DVec3::from_array(p), DVec3::new(-1.0, 0.0, 0.0)].map(|p| at(p).as_vec3());
                let skeleton = skeleton(&[(None, a), (Some(0), b - a), (Some(1), c - b)]);
                distance(&body, &skeleton, DistanceSettings::default()).unwrap()
            };
            let (plain, moved) = (build(DAffine3::IDENTITY), build(turn));
            for (slot, weight) in plain.of(0) {
                let other = moved.of(0).find(|e| e.0 == slot).map_or(0.0, |e| e.1);
                prop_assert!((weight - other).abs() < 2e-4, "{} {}", weight, other);
            }
        }
    }
}
