//! A body for a skeleton that has none: a capsule along every bone, stiff, moved by the bone's joint.

use super::Bvh;
use crate::rigging::Rigged;
use crate::text::refused;
use crate::{Problem, ReadError};
use pliant::asset::{Character, Part, RawCharacter, Skeleton, Surface, Weights};
use pliant::glam::{DVec3, Vec3};
use pliant::rig::weights::{rest_size, slots};
use std::f64::consts::TAU;

/// Radius over length of a bone.
const SLENDERNESS: f64 = 0.16;
/// Thinnest and thickest capsule, over the size of the skeleton.
const RADII: [f64; 2] = [0.004, 0.03];
/// Radius at a bone's end over that at its start: shows which way a bone points.
const TAPER: f64 = 0.7;
/// Bones shorter than this, over the skeleton's size, have no direction.
const SHORTEST: f64 = 1e-6;
/// Beyond so many bones capsules are coarse, so that a small file cannot ask for a huge body.
const FINE_BONES: usize = 1000;

/// A character whose body is made of sticks: the skeleton of a BVH and its motion can be seen and baked without any
/// other file.
pub fn stick_character(bvh: Bvh) -> Result<Rigged, ReadError> {
    let Bvh { skeleton, clip, warnings, .. } = bvh;
    let body = Body::of(&skeleton);
    let slots = slots(&skeleton);
    if slots.len() > u16::MAX as usize + 1 {
        return Err(Problem::new("HIERARCHY", format!("{} joints are too many", slots.len())).into());
    }
    // All joints deform, so a joint's slot has its number.
    let weights = body.joints.iter().map(|&joint| std::iter::once((joint as u16, 1.0)));
    let (weights, _) = Weights::normalised(weights, slots.len(), |_| None).map_err(refused("body"))?;
    let part = Part {
        name: "sticks".to_string(),
        mesh: 0,
        vertices: 0..body.positions.len() as u32,
        triangles: 0..body.triangles.len() as u32,
        has_normals: false,
        color: [0.6, 0.6, 0.6],
    };
    let character = Character::new(RawCharacter {
        surface: Surface::new(body.positions, None, body.triangles).map_err(refused("body"))?,
        skeleton,
        parts: vec![part],
        slots,
        weights,
        morphs: Vec::new(),
        clips: clip.into_iter().collect(),
        paint: Vec::new(),
    });
    Ok(Rigged { character: character.map_err(refused("body"))?, warnings })
}

#[derive(Default)]
struct Body {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// The joint of each vertex.
    joints: Vec<u32>,
}

impl Body {
    fn of(skeleton: &Skeleton) -> Self {
        let bones = skeleton.bones();
        let size = match rest_size(&[], skeleton) {
            0.0 => 1.0,
            size => size,
        };
        // Where nothing of any length starts there is a ball, so that a lone joint is seen.
        let mut bare = vec![true; skeleton.len()];
        let mut body = Self::default();
        let (sides, rings) = if bones.len() > FINE_BONES { (6, 1) } else { (12, 3) };
        for bone in &bones {
            let length = bone.start.distance(bone.end);
            if length <= SHORTEST * size {
                continue;
            }
            bare[bone.joint as usize] = false;
            let radius = (SLENDERNESS * length).clamp(RADII[0] * size, RADII[1] * size);
            body.capsule(bone.joint, [bone.start, bone.end], [radius, radius * TAPER], sides, rings);
        }
        // A root that is still bare has all its joints in one place.
        for (index, joint) in skeleton.joints().iter().enumerate().rev() {
            match joint.parent {
                Some(parent) => bare[parent as usize] &= bare[index],
                None if bare[index] => {
                    let (at, radius) = (skeleton.rest_position(index as u32), RADII[1] * size);
                    let half = DVec3::Y * (radius * 0.1);
                    body.capsule(index as u32, [at - half, at + half], [radius; 2], sides, rings);
                }
                None => {}
            }
        }
        body
    }

    /// A closed surface: half a ball at each end, of `rings` rings each, and a cone between.
    fn capsule(&mut self, joint: u32, ends: [DVec3; 2], radii: [f64; 2], sides: u32, rings: u32) {
        let axis = (ends[1] - ends[0]).try_normalize().unwrap_or(DVec3::Y);
        let (across, other) = axis.any_orthonormal_pair();
        let first = self.positions.len() as u32;
        let mut add = |p: DVec3| {
            self.positions.push(p.as_vec3());
            self.joints.push(joint);
        };
        add(ends[0] - axis * radii[0]);
        for ring in 0..2 * rings {
            // From the pole behind the start to the rim, then from the rim at the end to the pole beyond it.
            let end = usize::from(ring >= rings);
            let step = if end == 0 { ring + 1 } else { 2 * rings - ring };
            let angle = TAU / 4.0 * f64::from(step) / f64::from(rings);
            let (sine, cosine) = libm::sincos(angle);
            let along = if end == 0 { -cosine } else { cosine };
            for side in 0..sides {
                let (y, x) = libm::sincos(TAU * f64::from(side) / f64::from(sides));
                add(ends[end] + axis * (along * radii[end]) + (across * x + other * y) * (sine * radii[end]));
            }
        }
        add(ends[1] + axis * radii[1]);
        let last = self.positions.len() as u32 - 1;
        let ring_at = |ring: u32, side: u32| first + 1 + ring * sides + side % sides;
        for side in 0..sides {
            self.triangles.push([first, ring_at(0, side + 1), ring_at(0, side)]);
            for ring in 0..2 * rings - 1 {
                let [a, b] = [ring_at(ring, side), ring_at(ring, side + 1)];
                let [c, d] = [ring_at(ring + 1, side), ring_at(ring + 1, side + 1)];
                self.triangles.extend([[a, b, d], [a, d, c]]);
            }
            self.triangles.push([ring_at(2 * rings - 1, side), ring_at(2 * rings - 1, side + 1), last]);
        }
    }
}
