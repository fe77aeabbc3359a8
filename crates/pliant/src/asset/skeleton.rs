use super::AssetError;
use glam::{DAffine3, DQuat, DVec3};

/// A transform relative to the parent joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Local {
    /// Translation, rotation and scale: what clips animate.
    Trs {
        /// Offset from the parent.
        translation: DVec3,
        /// Unit quaternion.
        rotation: DQuat,
        /// Scale along the joint's own axes.
        scale: DVec3,
    },
    /// A matrix that may hold shear; never animated.
    Matrix(DAffine3),
}

impl Local {
    /// No change against the parent.
    pub const IDENTITY: Self =
        Self::Trs { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE };

    /// A pure offset.
    pub fn offset(translation: DVec3) -> Self {
        Self::Trs { translation, rotation: DQuat::IDENTITY, scale: DVec3::ONE }
    }

    /// As a matrix, parent from joint.
    pub fn to_affine(self) -> DAffine3 {
        match self {
            Self::Trs { translation, rotation, scale } => {
                DAffine3::from_scale_rotation_translation(scale, rotation, translation)
            }
            Self::Matrix(m) => m,
        }
    }

    fn is_finite(&self) -> bool {
        match self {
            Self::Trs { translation, rotation, scale } => {
                translation.is_finite() && rotation.is_finite() && scale.is_finite()
            }
            Self::Matrix(m) => m.is_finite(),
        }
    }

    fn is_unit(&self) -> bool {
        // Rounding of f32 quaternions, no more.
        !matches!(self, Self::Trs { rotation, .. } if (rotation.length() - 1.0).abs() > 1e-5)
    }
}

/// One joint of a skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Its name in the file; may be empty and need not be unique.
    pub name: String,
    /// Its parent, which comes before it.
    pub parent: Option<u32>,
    /// Default transform against the parent: the pose where no clip says otherwise.
    pub local: Local,
    /// Rest transform, scene from joint: the pose in which the skin was bound (`B_j`).
    pub world_from_rest: DAffine3,
    /// Whether the skin is bound to it. Plain nodes above the skeleton (an "Armature") carry transforms but have no
    /// bone.
    pub deforms: bool,
    /// End sites, in joint space: bones that end in no joint.
    pub tails: Vec<DVec3>,
}

/// A bone: the segment from a joint to one of its children or end sites, in the rest pose. It moves with its *start*
/// joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bone {
    /// The joint that it starts at and moves with.
    pub joint: u32,
    /// The joint that it ends at, unless at an end site.
    pub end_joint: Option<u32>,
    /// Start, in the rest pose.
    pub start: DVec3,
    /// End, in the rest pose.
    pub end: DVec3,
}

impl Bone {
    /// Straight-line distance from a point.
    pub fn distance(&self, point: DVec3) -> f64 {
        let (from_start, way) = (point - self.start, self.end - self.start);
        let square = way.length_squared();
        let along = if square > 0.0 { (from_start.dot(way) / square).clamp(0.0, 1.0) } else { 0.0 };
        (from_start - way * along).length()
    }
}

/// A forest of joints, parents before children.
#[derive(Debug, Clone, PartialEq)]
pub struct Skeleton {
    joints: Vec<Joint>,
}

impl Skeleton {
    /// Checks the order of parents and that all numbers are finite.
    pub fn new(joints: Vec<Joint>) -> Result<Self, AssetError> {
        if joints.len() > u32::MAX as usize {
            return Err(AssetError::TooMany {
                what: "joints",
                count: joints.len(),
                limit: u32::MAX as usize,
            });
        }
        for (index, joint) in joints.iter().enumerate() {
            if let Some(parent) = joint.parent
                && parent as usize >= index
            {
                return Err(AssetError::ParentOrder { joint: index, parent: parent as usize });
            }
            let finite = joint.local.is_finite()
                && joint.world_from_rest.is_finite()
                && joint.tails.iter().all(|t| t.is_finite());
            if !finite {
                return Err(AssetError::NotFinite { what: "transform of joint", index });
            }
            if !joint.local.is_unit() {
                return Err(AssetError::NotUnit { joint: index });
            }
        }
        Ok(Self { joints })
    }

    /// All joints, parents before children.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// How many joints there are.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Whether there is no joint.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// Rest position of a joint in scene space.
    pub fn rest_position(&self, joint: u32) -> DVec3 {
        self.joints[joint as usize].world_from_rest.translation
    }

    /// The bones between deforming joints, in order of their start joints. A deforming leaf joint without an end site
    /// gets a segment along its parent's direction, half as long as its parent's bone, so that hands, heads and tails
    /// have bones; a lone joint gets one of no length.
    pub fn bones(&self) -> Vec<Bone> {
        let mut bones = Vec::new();
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); self.len()];
        for (index, joint) in self.joints.iter().enumerate() {
            if let Some(parent) = joint.parent {
                children[parent as usize].push(index as u32);
            }
        }
        for (index, joint) in self.joints.iter().enumerate() {
            if !joint.deforms {
                continue;
            }
            let (index, start) = (index as u32, joint.world_from_rest.translation);
            let before = bones.len();
            for &child in &children[index as usize] {
                if self.joints[child as usize].deforms {
                    let end = self.rest_position(child);
                    bones.push(Bone { joint: index, end_joint: Some(child), start, end });
                }
            }
            for &tail in &joint.tails {
                let end = joint.world_from_rest.transform_point3(tail);
                bones.push(Bone { joint: index, end_joint: None, start, end });
            }
            if bones.len() == before {
                let parent = joint.parent.filter(|&p| self.joints[p as usize].deforms);
                let along = parent.map_or(DVec3::ZERO, |p| start - self.rest_position(p));
                bones.push(Bone { joint: index, end_joint: None, start, end: start + along * 0.5 });
            }
        }
        bones
    }
}
