use crate::asset::{Character, Clip, Local, Target};
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

    /// The pose of a clip at `time` seconds, or the character's default pose.
    pub fn sample(character: &Character, clip: Option<&Clip>, time: f64) -> Self {
        let mut pose = Self::default();
        pose.resample(character, clip, time);
        pose
    }

    /// As [`Pose::sample`], into this pose: allocates nothing once it has the character's size.
    pub fn resample(&mut self, character: &Character, clip: Option<&Clip>, time: f64) {
        let joints = character.skeleton().joints();
        self.morph_weights.clear();
        self.morph_weights.extend(character.morphs().iter().map(|m| m.default_weight));
        self.world_from_joint.clear();
        self.world_from_joint.extend(joints.iter().map(|j| j.local.to_affine()));
        if let Some(clip) = clip {
            self.apply(character, clip, time);
        }
        for (index, joint) in joints.iter().enumerate() {
            if let Some(parent) = joint.parent {
                self.world_from_joint[index] =
                    self.world_from_joint[parent as usize] * self.world_from_joint[index];
            }
        }
    }

    /// Sets what the clip animates; `world_from_joint` still holds transforms against the parent.
    fn apply(&mut self, character: &Character, clip: &Clip, time: f64) {
        for channels in clip.channels().chunk_by(|a, b| a.target.joint() == b.target.joint()) {
            let Some(joint) = channels[0].target.joint() else {
                for channel in channels {
                    if let Target::Morphs { first, count } = channel.target {
                        for k in 0..count {
                            self.morph_weights[(first + k) as usize] =
                                channel.track.sample(time, k as usize) as f32;
                        }
                    }
                }
                continue;
            };
            let (mut scale, mut rotation, mut translation) =
                match character.skeleton().joints()[joint as usize].local {
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
            self.world_from_joint[joint as usize] =
                DAffine3::from_scale_rotation_translation(scale, rotation, translation);
        }
    }

    /// The skin matrix of every slot, in f64 until the last moment: scaled rigs multiply 100 by 0.01.
    pub fn skin_matrices(&self, character: &Character, out: &mut Vec<SkinMatrix>) {
        out.clear();
        out.extend(character.slots().iter().map(|slot| {
            let m = self.world_from_joint[slot.joint as usize] * slot.joint_from_rest;
            let row = |i: usize| {
                let [x, y, z] = [m.matrix3.x_axis[i], m.matrix3.y_axis[i], m.matrix3.z_axis[i]];
                [x as f32, y as f32, z as f32, m.translation[i] as f32]
            };
            [row(0), row(1), row(2)]
        }));
    }
}
