//! Per-vertex fields for pictures.

use super::reference::Reference;
use super::topology::Topology;
use super::triangle;
use crate::asset::{Bone, Character};
use crate::rig::Pose;
use glam::{DAffine3, DVec3};

/// Of all edges at each point the largest departure from its reference length, with its sign.
pub(super) fn stretch(topology: &Topology, reference: &Reference, points: &[DVec3]) -> Vec<f32> {
    let mut field = vec![0.0f32; points.len()];
    for (edge, rest) in topology.edges.iter().zip(&reference.lengths) {
        let [a, b] = edge.map(|p| points[p as usize]);
        let strain = (a.distance(b) / rest - 1.0) as f32;
        if strain.is_finite() {
            for &p in edge {
                let worst = &mut field[p as usize];
                *worst = if strain.abs() > worst.abs() { strain } else { *worst };
            }
        }
    }
    field
}

/// Below this the bone sees the triangles around a point edge-on: height of the cone over its slant.
const FLATTEST: f64 = 0.1;

/// The apex of each point's cone: a place on its main bone.
#[derive(Debug, Clone)]
pub(super) struct Fans {
    apexes: Vec<(u16, DVec3)>,
    joint_of_slot: Vec<(u32, DAffine3)>,
}

impl Fans {
    pub(super) fn new(character: &Character, topology: &Topology, rest: &[DVec3], diagonal: f64) -> Self {
        let bones = character.skeleton().bones();
        let apexes = topology.vertex_of_point.iter().zip(rest).map(|(&v, &at)| {
            let Some((slot, _)) = character.weights().of(v as usize).next() else { return (0, at) };
            let joint = character.slots()[slot as usize].joint;
            let first = bones.partition_point(|b| b.joint < joint);
            let own = bones[first..].iter().take_while(|b| b.joint == joint);
            let places = own.map(|b| nearest(b, at, diagonal));
            let apex = places.min_by(|p, q| p.distance_squared(at).total_cmp(&q.distance_squared(at)));
            (slot, apex.unwrap_or_else(|| character.skeleton().rest_position(joint)))
        });
        let joint_of_slot = character.slots().iter().map(|s| (s.joint, s.joint_from_rest)).collect();
        Self { apexes: apexes.collect(), joint_of_slot }
    }

    pub(super) fn field(
        &self,
        triangles: &[[u32; 3]],
        pose: &Pose,
        rest: &[DVec3],
        scales: Option<&[f64]>,
        points: &[DVec3],
    ) -> Vec<f32> {
        let of_slot = self.joint_of_slot.iter().map(|&(joint, joint_from_rest)| {
            let world = pose.world_from_joint.get(joint as usize);
            world.map_or(DAffine3::IDENTITY, |w| *w * joint_from_rest)
        });
        let of_slot: Vec<DAffine3> = of_slot.collect();
        let carried = |p: usize| {
            let (slot, apex) = self.apexes[p];
            of_slot.get(slot as usize).map_or(apex, |m| m.transform_point3(apex))
        };
        let carried: Vec<DVec3> = (0..self.apexes.len()).map(carried).collect();

        let mut sums = vec![Cone::default(); points.len()];
        for t in triangles {
            let (before, after) = (t.map(|p| rest[p as usize]), t.map(|p| points[p as usize]));
            let (area, area_now) = (triangle::area(before), triangle::area(after));
            let middle = before.iter().sum::<DVec3>() / 3.0;
            for &p in t {
                let (sum, apex) = (&mut sums[p as usize], self.apexes[p as usize].1);
                sum.volume += triangle::cone(before, apex);
                sum.volume_now += triangle::cone(after, carried[p as usize]);
                sum.area += area;
                sum.area_now += area_now;
                sum.slant += area * middle.distance(apex);
            }
        }
        let value = |(p, cone): (usize, &Cone)| {
            let s = scales.map_or(1.0, |s| s[p].abs());
            let mirrored = scales.is_some_and(|s| s[p] < 0.0);
            let value = cone.change(s, mirrored) as f32;
            if value.is_finite() { value } else { 0.0 }
        };
        sums.iter().enumerate().map(value).collect()
    }
}

/// What lies around one point.
#[derive(Debug, Clone, Copy, Default)]
struct Cone {
    /// Six times the volume, at rest and now.
    volume: f64,
    volume_now: f64,
    area: f64,
    area_now: f64,
    /// Area times distance to the apex, at rest.
    slant: f64,
}

impl Cone {
    fn change(&self, scale: f64, mirrored: bool) -> f64 {
        // Volume = area * height / 3.
        if self.volume.abs() > 2.0 * FLATTEST * self.slant {
            let sign = if mirrored { -1.0 } else { 1.0 };
            sign * self.volume_now / (self.volume * scale * scale * scale) - 1.0
        } else {
            self.area_now / (self.area * scale * scale) - 1.0
        }
    }
}

/// The nearest point of a bone.
fn nearest(bone: &Bone, at: DVec3, diagonal: f64) -> DVec3 {
    let along = bone.end - bone.start;
    let squared = along.length_squared();
    if squared <= 1e-12 * diagonal * diagonal {
        return bone.start;
    }
    bone.start + along * ((at - bone.start).dot(along) / squared).clamp(0.0, 1.0)
}
