use crate::asset::{Character, Slot};
use crate::rig::Pose;
use glam::{DAffine3, DMat3, DVec3};

/// Joint scales closer to one than this are rounding.
const SCALE_TOLERANCE: f64 = 1e-6;

/// The joints that carry each of some vertices, and how much.
#[derive(Debug, Clone)]
pub(super) struct Carriers {
    slots: Vec<Slot>,
    /// Of the `i`-th vertex: entries `offsets[i]..offsets[i + 1]`.
    offsets: Vec<u32>,
    weights: Vec<(u16, f32)>,
}

impl Carriers {
    pub(super) fn new(character: &Character, vertices: &[u32]) -> Self {
        let (mut offsets, mut weights) = (vec![0], Vec::new());
        for &v in vertices {
            weights.extend(character.weights().of(v as usize));
            offsets.push(weights.len() as u32);
        }
        Self { slots: character.slots().to_vec(), offsets, weights }
    }

    fn of(&self) -> impl Iterator<Item = &[(u16, f32)]> {
        self.offsets.windows(2).map(|w| &self.weights[w[0] as usize..w[1] as usize])
    }

    /// The scale that the pose gives to each, `sum_j w_j cbrt(det S_j)`: negative where it mirrors. None where no joint
    /// is scaled.
    pub(super) fn scales(&self, pose: &Pose) -> Option<Vec<f64>> {
        let of_slot = self.slots.iter().map(|slot| {
            let world = pose.world_from_joint.get(slot.joint as usize)?;
            let m: DMat3 = world.matrix3 * slot.joint_from_rest.matrix3;
            Some(libm::cbrt(m.determinant())).filter(|s| s.is_finite())
        });
        let of_slot: Vec<f64> = of_slot.map(|s| s.unwrap_or(1.0)).collect();
        if of_slot.iter().all(|s| (s - 1.0).abs() < SCALE_TOLERANCE) {
            return None;
        }
        let blended =
            |w: &[(u16, f32)]| w.iter().map(|&(slot, w)| f64::from(w) * of_slot[slot as usize]).sum();
        Some(self.of().map(blended).collect())
    }

    /// Each of these points at rest in its place by linear blend skinning, `sum_j w_j S_j p`.
    pub(super) fn carried(&self, pose: &Pose, rest: &[DVec3]) -> Vec<DVec3> {
        let world = |joint: u32| pose.world_from_joint.get(joint as usize).copied();
        let of_slot: Vec<DAffine3> = self
            .slots
            .iter()
            .map(|s| world(s.joint).map_or(DAffine3::IDENTITY, |world| world * s.joint_from_rest))
            .collect();
        let place = |(w, &p): (&[(u16, f32)], &DVec3)| {
            w.iter().map(|&(slot, w)| f64::from(w) * of_slot[slot as usize].transform_point3(p)).sum()
        };
        self.of().zip(rest).map(place).collect()
    }
}
