//! Bodies made by hand for the judge's tests, and motions written straight onto their vertices.
#![allow(dead_code, unreachable_pub, clippy::disallowed_methods)]

use pliant::asset::{Character, Joint, Local, Morph, Part, RawCharacter, Skeleton, Slot, Surface, Weights};
use pliant::glam::{DAffine3, DMat3, DVec3, Vec3};
use pliant::rig::Pose;
use std::f64::consts::TAU;

/// Vertices and outward triangles.
#[derive(Clone, Default)]
pub struct Mesh {
    pub positions: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    pub fn add(&mut self, other: &Mesh) {
        let first = self.positions.len() as u32;
        self.positions.extend(&other.positions);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + first)));
    }

    pub fn map(mut self, f: impl Fn(DVec3) -> DVec3) -> Self {
        self.positions.iter_mut().for_each(|p| *p = f(*p));
        self
    }

    /// A vertex of its own for every corner.
    pub fn unindexed(&self) -> Self {
        let positions: Vec<DVec3> =
            self.triangles.iter().flatten().map(|&v| self.positions[v as usize]).collect();
        let triangles = (0..self.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        Self { positions, triangles }
    }
}

/// A tube along +Y from -`half` to `half`, with end caps if `closed`.
pub fn tube(half: f64, radius: f64, rings: usize, around: usize, closed: bool) -> Mesh {
    let mut mesh = Mesh::default();
    for ring in 0..=rings {
        let y = half * (2.0 * ring as f64 / rings as f64 - 1.0);
        for k in 0..around {
            let angle = TAU * (k as f64 + 0.25) / around as f64;
            mesh.positions.push(DVec3::new(radius * angle.cos(), y, -radius * angle.sin()));
        }
    }
    let at = |ring: usize, k: usize| (ring * around + k % around) as u32;
    for ring in 0..rings {
        for k in 0..around {
            let (a, b, c, d) = (at(ring, k), at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k));
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    if closed {
        for (ring, y) in [(0, -half), (rings, half)] {
            let centre = mesh.positions.len() as u32;
            mesh.positions.push(DVec3::Y * y);
            for k in 0..around {
                let (a, b) = (at(ring, k), at(ring, k + 1));
                mesh.triangles.push(if ring == 0 { [centre, b, a] } else { [centre, a, b] });
            }
        }
    }
    mesh
}

/// A sphere with poles on the Y axis.
pub fn sphere(centre: DVec3, radius: f64, rings: usize, around: usize) -> Mesh {
    let mut mesh = Mesh { positions: vec![-DVec3::Y, DVec3::Y], triangles: Vec::new() };
    for ring in 1..rings {
        let polar = std::f64::consts::PI * ring as f64 / rings as f64;
        for k in 0..around {
            let angle = TAU * (k as f64 + 0.3) / around as f64;
            mesh.positions.push(DVec3::new(
                polar.sin() * angle.cos(),
                -polar.cos(),
                -polar.sin() * angle.sin(),
            ));
        }
    }
    let at = |ring: usize, k: usize| (2 + (ring - 1) * around + k % around) as u32;
    for k in 0..around {
        mesh.triangles.push([0, at(1, k + 1), at(1, k)]);
        mesh.triangles.push([1, at(rings - 1, k), at(rings - 1, k + 1)]);
        for ring in 1..rings - 1 {
            let (a, b, c, d) = (at(ring, k), at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k));
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh.map(|p| p * radius + centre)
}

/// Joints in a chain at the given places, the last with an end site at `tail`; the weights of a vertex from its
/// rest position.
pub fn character(
    mesh: &Mesh,
    joints: &[DVec3],
    tail: DVec3,
    weights: impl Fn(usize, DVec3) -> Vec<(u16, f32)>,
) -> Character {
    raw(mesh, joints, tail, weights, Vec::new())
}

pub fn raw(
    mesh: &Mesh,
    joints: &[DVec3],
    tail: DVec3,
    weights: impl Fn(usize, DVec3) -> Vec<(u16, f32)>,
    morphs: Vec<Morph>,
) -> Character {
    let joint = |k: usize| Joint {
        name: format!("joint{k}"),
        parent: k.checked_sub(1).map(|p| p as u32),
        local: Local::offset(joints[k] - if k > 0 { joints[k - 1] } else { DVec3::ZERO }),
        world_from_rest: DAffine3::from_translation(joints[k]),
        deforms: true,
        tails: if k + 1 == joints.len() { vec![tail - joints[k]] } else { Vec::new() },
    };
    let slot = |k: usize| Slot { joint: k as u32, joint_from_rest: DAffine3::from_translation(-joints[k]) };
    let positions: Vec<Vec3> = mesh.positions.iter().map(|p| p.as_vec3()).collect();
    let per_vertex: Vec<_> = mesh.positions.iter().enumerate().map(|(v, &p)| weights(v, p)).collect();
    Character::new(RawCharacter {
        skeleton: Skeleton::new((0..joints.len()).map(joint).collect()).unwrap(),
        parts: vec![Part {
            name: "skin".into(),
            mesh: 0,
            vertices: 0..positions.len() as u32,
            triangles: 0..mesh.triangles.len() as u32,
            has_normals: false,
            color: [1.0; 3],
        }],
        surface: Surface::new(positions, None, mesh.triangles.clone()).unwrap(),
        slots: (0..joints.len()).map(slot).collect(),
        weights: Weights::new(&per_vertex, joints.len()).unwrap(),
        morphs,
        clips: Vec::new(),
        paint: Vec::new(),
    })
    .unwrap()
}

/// Half the length of [`limb`]; its radius is 1 and its joint at the origin.
pub const HALF: f64 = 5.0;

pub fn limb_mesh() -> Mesh {
    tube(HALF, 1.0, 40, 24, true)
}

/// Bones along Y that meet at the origin; weights blend over one radius on either side.
pub fn limb(mesh: &Mesh) -> Character {
    character(mesh, &[DVec3::Y * -HALF, DVec3::ZERO], DVec3::Y * HALF, |_, p| blend(p))
}

pub fn blend(p: DVec3) -> Vec<(u16, f32)> {
    let upper = (0.5 + 0.5 * p.y).clamp(0.0, 1.0) as f32;
    [(0, 1.0 - upper), (1, upper)].into_iter().filter(|w| w.1 > 0.0).collect()
}

/// The pose where joint `k` has moved by `moves[k]` from rest.
pub fn pose(character: &Character, moves: &[DAffine3]) -> Pose {
    let joints = character.skeleton().joints();
    Pose {
        world_from_joint: joints.iter().zip(moves).map(|(j, m)| *m * j.world_from_rest).collect(),
        morph_weights: character.morphs().iter().map(|m| m.default_weight).collect(),
    }
}

/// Linear blend skinning in five lines.
pub fn skinned(character: &Character, moves: &[DAffine3]) -> Vec<Vec3> {
    let vertex = |(v, p): (usize, &Vec3)| {
        let blend =
            |(slot, w): (u16, f32)| moves[slot as usize].transform_point3(p.as_dvec3()) * f64::from(w);
        character.weights().of(v).map(blend).sum::<DVec3>().as_vec3()
    };
    character.surface().positions().iter().enumerate().map(vertex).collect()
}

pub fn moved(character: &Character, f: impl Fn(DVec3) -> DVec3) -> Vec<Vec3> {
    character.rest_positions().iter().map(|p| f(p.as_dvec3()).as_vec3()).collect()
}

/// A turn about an axis through the origin.
pub fn turn(axis: DVec3, degrees: f64) -> DAffine3 {
    DAffine3::from_mat3(DMat3::from_axis_angle(axis.normalize(), degrees.to_radians()))
}
