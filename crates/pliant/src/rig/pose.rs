use crate::asset::{Character, Clip, Local, Skeleton, Target, slerp};
use glam::DAffine3;

/// The upper three rows of a skin matrix `S_j = M_j B_j^-1`, row by row.
pub type SkinMatrix = [[f32; 4]; 3];

/// Where every joint is at one moment, and how much of each morph.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pose {
    /// `M_j`, scene from joint.
    pub world_from_joint: Vec<DAffine3>,
    /// Weight of each morph.
    pub morph_weights: Vec<f32>,
}

impl Pose {
    /// The pose in which the skin was bound.
    pub fn rest(character: &Character) -> Self {
        let joints = character.skeleton().joints();
        Self {
            world_from_joint: joints.iter().map(|j| j.world_from_rest).collect(),
            morph_weights: character.morphs().iter().map(|m| m.default_weight).collect(),
        }
    }

    /// Becomes another pose: allocates nothing once it has that pose's size.
    pub fn copy_from(&mut self, other: &Self) {
        self.world_from_joint.clone_from(&other.world_from_joint);
        self.morph_weights.clone_from(&other.morph_weights);
    }

    /// The pose a share `u` of the way from `a` to `b`, joint by joint against the parent, so that bones stay joined and
    /// turn along the shorter arc.
    pub fn between(&mut self, skeleton: &Skeleton, a: &Self, b: &Self, u: f64) {
        if u >= 1.0 {
            return self.copy_from(b);
        }
        self.world_from_joint.clear();
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let (from, to) = (a.world_from_joint[index], b.world_from_joint[index]);
            let parents =
                joint.parent.map(|p| (a.world_from_joint[p as usize], b.world_from_joint[p as usize], p));
            // A parent of no size has no inverse: its children go straight.
            let local = match parents {
                None => Some((from, to)),
                Some((pa, pb, _)) if has_inverse(&pa) && has_inverse(&pb) => {
                    Some((pa.inverse() * from, pb.inverse() * to))
                }
                Some(_) => None,
            };
            let blended = match local {
                Some((from, to)) => blend(&from, &to, u),
                None => straight(&from, &to, u),
            };
            let parent = parents.filter(|_| local.is_some()).map(|p| self.world_from_joint[p.2 as usize]);
            self.world_from_joint.push(parent.map_or(blended, |p| p * blended));
        }
        self.morph_weights.clear();
        let weights = a.morph_weights.iter().zip(&b.morph_weights);
        self.morph_weights.extend(weights.map(|(a, b)| a + (b - a) * u as f32));
    }

    /// The pose of a clip at `time` seconds, or the character's default pose.
    pub fn sample(character: &Character, clip: Option<&Clip>, time: f64) -> Self {
        let mut pose = Self::default();
        pose.resample(character, clip, time);
        pose
    }

    /// As [`Pose::sample`], into this pose: allocates nothing once it has the character's size.
    pub fn resample(&mut self, character: &Character, clip: Option<&Clip>, time: f64) {
        self.morph_weights.clear();
        self.morph_weights.extend(character.morphs().iter().map(|m| m.default_weight));
        for channel in clip.map_or(&[][..], Clip::channels) {
            if let Target::Morphs { first, count } = channel.target {
                for k in 0..count {
                    self.morph_weights[(first + k) as usize] = channel.track.sample(time, k as usize) as f32;
                }
            }
        }
        place_joints(character.skeleton(), clip, time, &mut self.world_from_joint);
    }

    /// The skin matrix of every slot, in f64 until the last moment: scaled rigs multiply 100 by 0.01.
    pub fn skin_matrices(&self, character: &Character, out: &mut Vec<SkinMatrix>) {
        out.clear();
        out.extend(
            character.slots().iter().map(|slot| {
                skin_matrix(&(self.world_from_joint[slot.joint as usize] * slot.joint_from_rest))
            }),
        );
    }
}

/// Where a skeleton's joints are at `time` of a clip, scene from joint, or in the default pose. Allocates nothing once
/// `out` has the skeleton's size.
pub(crate) fn place_joints(skeleton: &Skeleton, clip: Option<&Clip>, time: f64, out: &mut Vec<DAffine3>) {
    out.clear();
    out.extend(skeleton.joints().iter().map(|j| j.local.to_affine()));
    let channels = clip.map_or(&[][..], Clip::channels);
    for channels in channels.chunk_by(|a, b| a.target.joint() == b.target.joint()) {
        let Some(joint) = channels[0].target.joint() else { continue };
        let (mut scale, mut rotation, mut translation) = match skeleton.joints()[joint as usize].local {
            Local::Trs { translation, rotation, scale } => (scale, rotation, translation),
            Local::Matrix(m) => m.to_scale_rotation_translation(),
        };
        for channel in channels {
            match channel.target {
                Target::Translation(_) => translation = channel.track.sample_vector(time),
                Target::Rotation(_) => rotation = channel.track.sample_rotation(time),
                Target::Scale(_) => scale = channel.track.sample_vector(time),
                Target::Morphs { .. } => {}
            }
        }
        out[joint as usize] = DAffine3::from_scale_rotation_translation(scale, rotation, translation);
    }
    for (index, joint) in skeleton.joints().iter().enumerate() {
        if let Some(parent) = joint.parent {
            out[index] = out[parent as usize] * out[index];
        }
    }
}

/// A transform as kernels take it.
pub(crate) fn skin_matrix(m: &DAffine3) -> SkinMatrix {
    let row = |i: usize| {
        let [x, y, z] = [m.matrix3.x_axis[i], m.matrix3.y_axis[i], m.matrix3.z_axis[i]];
        [x as f32, y as f32, z as f32, m.translation[i] as f32]
    };
    [row(0), row(1), row(2)]
}

/// Whether a transform can be undone without blowing up.
pub(crate) fn has_inverse(m: &DAffine3) -> bool {
    let columns = [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis];
    let box_volume: f64 = columns.iter().map(|c| c.length()).product();
    let det = m.matrix3.determinant().abs();
    det.is_finite() && det > f64::MIN_POSITIVE && det > 1e-9 * box_volume
}

/// Between two transforms: turned along the arc, scaled and moved straight; shear comes in straight as well.
fn blend(a: &DAffine3, b: &DAffine3, u: f64) -> DAffine3 {
    if !(has_inverse(a) && has_inverse(b)) {
        return straight(a, b, u);
    }
    let ((sa, ra, ta), (sb, rb, tb)) = (a.to_scale_rotation_translation(), b.to_scale_rotation_translation());
    DAffine3::from_scale_rotation_translation(sa.lerp(sb, u), slerp(ra, rb, u), ta.lerp(tb, u))
}

fn straight(a: &DAffine3, b: &DAffine3, u: f64) -> DAffine3 {
    DAffine3 {
        matrix3: a.matrix3 * (1.0 - u) + b.matrix3 * u,
        translation: a.translation.lerp(b.translation, u),
    }
}
