//! The welded skin with its weights, as repairs of the skinned shape see it: files split vertices at seams, flesh does not.

use crate::asset::{Bone, Character, Weld};
use crate::body::topology::Lists;
use glam::{DVec3, Vec3, Vec4};

/// A welded skin at rest.
pub(crate) struct Mesh {
    /// No morph applied.
    pub points: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
    pub point_of_vertex: Vec<u32>,
    pub vertex_of_point: Vec<u32>,
    /// Triangles around each point.
    pub around: Lists,
    /// A third of the area of the triangles around each point.
    pub areas: Vec<f64>,
    offsets: Vec<u32>,
    weights: Vec<(u16, f32)>,
}

impl Mesh {
    pub(crate) fn new(character: &Character) -> Self {
        let Weld { point_of_vertex, vertex_of_point, triangles } = Weld::new(character);
        let positions = character.surface().positions();
        let points: Vec<DVec3> = vertex_of_point.iter().map(|&v| positions[v as usize].as_dvec3()).collect();
        let (mut offsets, mut weights) = (vec![0], Vec::new());
        for &v in &vertex_of_point {
            weights.extend(character.weights().of(v as usize));
            offsets.push(weights.len() as u32);
        }
        Self::build(points, triangles, [point_of_vertex, vertex_of_point], offsets, weights)
    }

    fn build(
        points: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
        [point_of_vertex, vertex_of_point]: [Vec<u32>; 2],
        offsets: Vec<u32>,
        weights: Vec<(u16, f32)>,
    ) -> Self {
        let around = Lists::group(points.len(), &triangles);
        let mut areas = vec![0.0; points.len()];
        for t in &triangles {
            let [a, b, c] = t.map(|p| points[p as usize]);
            let share = (b - a).cross(c - a).length() / 6.0;
            t.iter().for_each(|&p| areas[p as usize] += share);
        }
        Self { points, triangles, point_of_vertex, vertex_of_point, around, areas, offsets, weights }
    }

    /// How many points there are.
    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    /// The slots and weights of a point, largest first.
    pub(crate) fn weights(&self, point: usize) -> &[(u16, f32)] {
        &self.weights[self.offsets[point] as usize..self.offsets[point + 1] as usize]
    }

    /// Calls `work` with each point that shares a triangle with this one; those of two triangles come twice.
    pub(crate) fn for_neighbours(&self, point: usize, mut work: impl FnMut(usize)) {
        for &t in self.around.of(point) {
            let corners = self.triangles[t as usize];
            corners.iter().filter(|&&p| p as usize != point).for_each(|&p| work(p as usize));
        }
    }
}

/// Positions that are read four numbers at a time, in one move: the fourth is whatever comes next.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    positions: &'a [Vec3],
    numbers: &'a [f32],
}

impl<'a> Rows<'a> {
    pub(crate) fn new(positions: &'a [Vec3]) -> Self {
        Self { positions, numbers: bytemuck::cast_slice(positions) }
    }

    #[inline(always)]
    pub(crate) fn of(self, vertex: u32) -> Vec4 {
        match self.numbers.get(3 * vertex as usize..).and_then(|rest| rest.first_chunk()) {
            Some(four) => Vec4::from_array(*four),
            None => self.positions[vertex as usize].extend(0.0),
        }
    }
}

/// The bones of each slot's joint at rest; where a joint has none, its place.
pub(crate) struct SlotBones {
    of_slot: Vec<Vec<Bone>>,
}

/// A place on a bone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnBone {
    pub slot: u16,
    pub point: DVec3,
    pub distance: f64,
}

impl SlotBones {
    pub(crate) fn new(character: &Character) -> Self {
        let skeleton = character.skeleton();
        let bones = skeleton.bones();
        let of_joint = |joint: u32| {
            let own: Vec<Bone> = bones.iter().filter(|b| b.joint == joint).copied().collect();
            let start = skeleton.rest_position(joint);
            if own.is_empty() { vec![Bone { joint, end_joint: None, start, end: start }] } else { own }
        };
        Self { of_slot: character.slots().iter().map(|slot| of_joint(slot.joint)).collect() }
    }

    /// The nearest place on the bones of the slots that move a point.
    pub(crate) fn nearest(&self, at: DVec3, weights: &[(u16, f32)]) -> OnBone {
        let mut best = OnBone { slot: 0, point: at, distance: f64::INFINITY };
        for &(slot, _) in weights {
            for bone in &self.of_slot[slot as usize] {
                let point = on_segment(bone.start, bone.end, at);
                let distance = point.distance(at);
                if distance < best.distance {
                    best = OnBone { slot, point, distance };
                }
            }
        }
        best
    }
}

/// The nearest place on a segment.
pub(crate) fn on_segment(start: DVec3, end: DVec3, at: DVec3) -> DVec3 {
    let way = end - start;
    let square = way.length_squared();
    let along = if square > 0.0 { ((at - start).dot(way) / square).clamp(0.0, 1.0) } else { 0.0 };
    start + way * along
}

/// As [`smooth_step`].
pub(crate) fn smooth(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// From 0 to 1 with no corner.
pub(crate) fn smooth_step(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
