//! Meshes without a skin: armour, eyes, weapons that ride on a joint. They are not deformed, but belong in a picture.

use super::accessor::Store;
use super::build::triangulate;
use super::look::PartLook;
use super::schema::{Primitive, Root};
use crate::text::named;
use glam::Vec3;
use pliant::asset::Surface;
use pliant::rig::Pose;

/// A rigid mesh and the joint (or plain node of the skeleton) that carries it.
#[derive(Debug, Clone, PartialEq)]
pub struct Prop {
    /// Its name in the file; may be empty.
    pub name: String,
    /// The joint that carries it.
    pub joint: u32,
    /// Its surface, in the joint's space.
    pub surface: Surface,
    /// Base colour, linear RGB.
    pub color: [f32; 3],
    /// Its texture, if it has one that can be found.
    pub look: Option<PartLook>,
}

impl Prop {
    /// A primitive that has triangles; morph targets stay at rest.
    pub(crate) fn read(
        root: &Root<'_>,
        store: &Store<'_>,
        primitive: &Primitive<'_>,
        name: &str,
        joint: u32,
    ) -> Option<Self> {
        let vectors = |attribute: &str| {
            let vectors = store.elements(root, primitive.attributes.get(attribute)?.0)?.vectors::<3>();
            Some(vectors.into_iter().map(Vec3::from).collect::<Vec<_>>())
        };
        let positions = vectors("POSITION")?;
        let indices = match primitive.indices {
            Some(index) => store.elements(root, index.0)?.wholes::<1>().into_flattened(),
            None => (0..positions.len() as u32).collect(),
        };
        let mut triangles = Vec::new();
        triangulate(primitive.mode.map_or(4, |m| m.0), &indices, 0, &mut triangles);
        let surface = Surface::new(positions, vectors("NORMAL"), triangles).ok()?;
        let material = primitive.material.and_then(|m| root.materials.get(m.0));
        let color = material.and_then(|m| m.pbr_metallic_roughness.base_color_factor).unwrap_or([1.0; 4]);
        let [r, g, b, _] = color.map(|c| c as f32);
        Some(Self { name: named(name), joint, surface, color: [r, g, b], look: None })
    }

    /// Vertices and corners that reading a primitive takes.
    pub(crate) fn size(root: &Root<'_>, primitive: &Primitive<'_>) -> usize {
        let count = |accessor: usize| root.accessors.get(accessor).map_or(0, |a| a.count.0);
        let vertices = primitive.attributes.get("POSITION").map_or(0, |a| count(a.0));
        vertices.saturating_add(primitive.indices.map_or(vertices, |i| count(i.0)))
    }

    /// Where its vertices are in a pose, in scene space.
    pub fn positions(&self, pose: &Pose) -> Vec<Vec3> {
        let world_from_joint = pose.world_from_joint[self.joint as usize];
        let moved = |p: &Vec3| world_from_joint.transform_point3(p.as_dvec3()).as_vec3();
        self.surface.positions().iter().map(moved).collect()
    }
}
