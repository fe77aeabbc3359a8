//! Smooth skinning (seed 002): bones blended two at a time along the arc about their joint, twist apart from swing, and
//! flesh that bulges where a bend has squeezed it.
//!
//! A [`Smooth`] poses any points that have weights; a [`SmoothSkin`] is one for a character's skin, with its normals and
//! the bulge. Both are prepared once and shared; each moving copy has a state.

mod bulge;
mod dynamic;
mod flesh;
mod heights;
pub(super) mod kernel;
mod normals;
mod program;
mod regions;
mod skin;
mod stars;
mod tree;

pub(super) use normals::Normals;
pub(super) use stars::Around;

pub use dynamic::LEAST_LIMIT;
pub use skin::{SmoothSkin, SmoothSkinState};

use super::SkinError;
use super::pack::{BATCH, Vectors};
use crate::asset::{Skeleton, Slot, Weights};
use crate::parallel;
use crate::rig::SkinMatrix;
use crate::simd::Path;
use dynamic::Dynamic;
use glam::{DQuat, Vec3};
use kernel::{CHUNK, Job, Kernel};
use program::{Programs, Shares};
use tree::{Bend, Tree, Turn};

/// What an artist may say of a joint.
#[derive(Debug, Clone, PartialEq)]
pub struct JointControl {
    /// Angle from a bone, in radians, within which the skin moves with that bone alone; the bulge's ridge lies there.
    pub limit_angle: f64,
    /// Times the height of the bulge that would bring the volume back; 0 is none.
    pub gain: f64,
    /// `q`: how wide the ridge is.
    pub ridge_width: f64,
    /// How far from the joint flesh bulges, in radii of the limb.
    pub fat_radius: f64,
    /// How much each vertex may bulge, 0 to 1.
    pub fat: Option<Vec<f32>>,
}

impl Default for JointControl {
    fn default() -> Self {
        let limit_angle = std::f64::consts::PI / 6.0;
        Self { limit_angle, gain: 1.0, ridge_width: 1.6, fat_radius: 4.0, fat: None }
    }
}

/// How a skin is to be prepared.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SmoothOptions {
    /// Of joints that have none of their own.
    pub usual: JointControl,
    /// Whether limit angles shrink as joints bend. Only for weights from angles that were made with limits of at most
    /// [`LEAST_LIMIT`].
    pub dynamic_limit: bool,
    /// Joints, by number in the skeleton, with controls of their own.
    pub joints: std::collections::BTreeMap<u32, JointControl>,
}

impl SmoothOptions {
    fn control(&self, joint: u32) -> &JointControl {
        self.joints.get(&joint).unwrap_or(&self.usual)
    }
}

/// Points prepared for one path: shared by all copies.
pub struct Smooth {
    tree: Tree,
    programs: Programs,
    rest: Vec<Vectors>,
    /// Rest positions of joints, one per slot.
    joints: Vec<[f32; 3]>,
    dynamic: Option<Dynamic>,
    kernel: Kernel,
    slot_count: usize,
    point_count: usize,
}

/// What one moving copy needs from step to step. Reused, so that steps allocate nothing.
#[derive(Clone, Default)]
pub struct SmoothState {
    rotations: Vec<DQuat>,
    bends: Vec<Bend>,
    turns: Vec<Turn>,
    /// Posed, in order of places: sixteen for each batch, and one more, so that four numbers can be read from any.
    places: Vec<Vec3>,
    limits: Vec<f32>,
    /// Shares of this pose, where limit angles follow it.
    shares: Vec<Shares>,
    /// Rest positions where they are not those that were prepared.
    rest: Option<Vec<Vectors>>,
}

impl Smooth {
    /// Prepares points: the skin's, or the nodes of a body. Weights refer to `slots`, slots to the skeleton.
    pub fn new(
        positions: &[Vec3],
        weights: &Weights,
        skeleton: &Skeleton,
        slots: &[Slot],
        path: Path,
    ) -> Result<Self, SkinError> {
        if !path.is_available() {
            return Err(SkinError::Unavailable { path, available: Path::available() });
        }
        let (vertices, weighted) = (positions.len(), weights.vertex_count());
        if vertices != weighted {
            return Err(SkinError::Mismatch { vertices, weighted });
        }
        let tree = Tree::new(skeleton, slots, weights);
        let programs = Programs::new(&tree, weights);
        let at = |point: &u32| positions.get(*point as usize).copied();
        let mut last = Vec3::ZERO;
        let placed = programs.point_of_place.iter().map(|point| {
            last = at(point).unwrap_or(last);
            last
        });
        let rest = Vectors::pack(&placed.collect::<Vec<_>>());
        let joints = tree.nodes.iter().map(|node| node.at.as_vec3().to_array()).collect();
        let kernel = kernel::kernel(path);
        Ok(Self {
            tree,
            programs,
            rest,
            joints,
            dynamic: None,
            kernel,
            slot_count: slots.len(),
            point_count: vertices,
        })
    }

    /// Lets limit angles follow the bend: see [`SmoothOptions::dynamic_limit`].
    pub fn with_limits(mut self, options: &SmoothOptions) -> Self {
        let rest = self.rest_places();
        self.dynamic =
            options.dynamic_limit.then(|| Dynamic::new(&self.tree, &self.programs, &rest, options));
        self
    }

    /// How many points there are.
    pub fn point_count(&self) -> usize {
        self.point_count
    }

    /// A state for one copy.
    pub fn state(&self) -> SmoothState {
        let places = vec![Vec3::ZERO; self.programs.batches.len() * BATCH + 1];
        SmoothState { places, ..SmoothState::default() }
    }

    /// Poses the points, by one matrix per slot.
    ///
    /// # Panics
    /// If `matrices` or `positions` are not of the size that was prepared, or the state is of another.
    pub fn positions(&self, matrices: &[SkinMatrix], state: &mut SmoothState, positions: &mut [Vec3]) {
        self.place(matrices, state);
        assert_eq!(positions.len(), self.point_count, "one position per point");
        self.collect(&state.places, positions);
    }

    /// Poses the points in order of places.
    fn place(&self, matrices: &[SkinMatrix], state: &mut SmoothState) {
        assert_eq!(matrices.len(), self.slot_count, "one matrix per slot");
        let SmoothState { rotations, bends, turns, places, limits, shares, rest } = state;
        tree::bend(&self.tree, matrices, rotations, bends, turns);
        let prepared = &self.programs.shares[..];
        if let Some(dynamic) = &self.dynamic {
            dynamic.shares(&self.tree, turns, prepared, limits, shares);
        }
        let job = Job {
            programs: &self.programs,
            shares: if self.dynamic.is_some() { shares } else { prepared },
            matrices,
            joints: &self.joints,
            bends,
            rest: rest.as_deref().unwrap_or(&self.rest),
        };
        let count = self.programs.batches.len() * BATCH;
        assert_eq!(places.len(), count + 1, "a state of these points");
        parallel::for_each_chunk_mut(&mut places[..count], CHUNK * BATCH, |chunk, out| {
            // SAFETY: the path was found available when this was made; job and output are of these programs.
            unsafe { (self.kernel)(&job, chunk * CHUNK, out) }
        });
    }

    /// Rest positions in order of places, and one more.
    fn rest_places(&self) -> Vec<Vec3> {
        let lanes = self.rest.iter().flat_map(|batch| (0..BATCH).map(|lane| batch.0.map(|c| c[lane])));
        lanes.map(Vec3::from_array).chain([Vec3::ZERO]).collect()
    }

    /// From places to points.
    fn collect(&self, places: &[Vec3], positions: &mut [Vec3]) {
        const POINTS: usize = 4096;
        parallel::for_each_chunk_mut(positions, POINTS, |chunk, out| {
            let from = &self.programs.place_of_point[chunk * POINTS..][..out.len()];
            out.iter_mut().zip(from).for_each(|(p, &place)| *p = places[place as usize]);
        });
    }
}
