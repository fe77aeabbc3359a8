use super::{AssetError, Clip, Skeleton, Surface, Target, Weights};
use glam::{DAffine3, Vec3};
use std::collections::BTreeSet;
use std::ops::Range;

/// What a skin weight refers to: a joint, and where the skin was when it was bound to it. Two skins may bind the same
/// joint differently; then it has two slots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slot {
    /// The joint.
    pub joint: u32,
    /// `B_j^-1`: from rest, in scene space, into the joint's space. The skin matrix is `M_j` times this.
    pub joint_from_rest: DAffine3,
}

/// A piece of the skin that the file keeps apart: one primitive of one skinned node.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its name in the file.
    pub name: String,
    /// Which mesh it belongs to: parts of one skinned node share a number, and come one after the other.
    pub mesh: u32,
    /// Its vertices in the character's surface.
    pub vertices: Range<u32>,
    /// Its triangles in the character's surface.
    pub triangles: Range<u32>,
    /// Whether its normals are the file's (else they were computed).
    pub has_normals: bool,
    /// Base colour, linear RGB.
    pub color: [f32; 3],
}

/// A blend shape: what it adds to the rest positions and normals of some vertices at weight 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Morph {
    /// Its name in the file; may be empty.
    pub name: String,
    /// The vertices it moves.
    pub vertices: Vec<u32>,
    /// How far, per moved vertex.
    pub positions: Vec<Vec3>,
    /// What it adds to the normal, per moved vertex.
    pub normals: Vec<Vec3>,
    /// Its weight where no clip says otherwise.
    pub default_weight: f32,
}

/// A number painted on every vertex: how soft the artist wants it, or a channel of a colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Painted {
    /// Its name: the file's attribute, such as `_SOFTNESS`, with a channel where it has several: `COLOR_0.r`.
    pub name: String,
    /// One number for each vertex of the surface, 0 to 1.
    pub values: Vec<f32>,
}

/// A character before it is checked: see [`Character::new`].
#[derive(Debug, Clone, PartialEq)]
pub struct RawCharacter {
    /// Joints.
    pub skeleton: Skeleton,
    /// The whole skin in the rest pose, in scene units, all parts one after the other, morphs not applied.
    pub surface: Surface,
    /// The pieces of the surface, in order, covering it.
    pub parts: Vec<Part>,
    /// What weights refer to.
    pub slots: Vec<Slot>,
    /// Weights of every vertex of the surface.
    pub weights: Weights,
    /// Blend shapes.
    pub morphs: Vec<Morph>,
    /// Motions.
    pub clips: Vec<Clip>,
    /// What is painted on the skin.
    pub paint: Vec<Painted>,
}

/// A rigged character: skeleton, skin, weights, blend shapes and motions, checked against each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Character(RawCharacter);

impl Character {
    /// Checks that everything that refers to something refers to what is there.
    pub fn new(raw: RawCharacter) -> Result<Self, AssetError> {
        let joints = raw.skeleton.len();
        let vertices = raw.surface.positions().len();
        let range = |what, index, target, value, count| {
            if value < count {
                Ok(())
            } else {
                Err(AssetError::OutOfRange { what, index, target, value, count })
            }
        };
        let length = |what, expected, found| {
            if expected == found { Ok(()) } else { Err(AssetError::Length { what, expected, found }) }
        };
        for (index, slot) in raw.slots.iter().enumerate() {
            range("slot", index, "joint", slot.joint as usize, joints)?;
            if !slot.joint_from_rest.is_finite() {
                return Err(AssetError::NotFinite { what: "bind matrix of slot", index });
            }
        }
        length("weighted vertices", vertices, raw.weights.vertex_count())?;
        length("slots", raw.weights.slot_count(), raw.slots.len())?;

        let (mut vertex, mut triangle) = (0, 0);
        let triangles = raw.surface.triangles();
        let mut meshes = BTreeSet::new();
        let mut mesh_before = None;
        for (index, part) in raw.parts.iter().enumerate() {
            let wrong = |why| Err(AssetError::Part { part: index, why });
            length("first vertex of a part", vertex, part.vertices.start as usize)?;
            length("first triangle of a part", triangle, part.triangles.start as usize)?;
            if part.vertices.end < part.vertices.start || part.triangles.end < part.triangles.start {
                return wrong("ends before it starts");
            }
            (vertex, triangle) = (part.vertices.end as usize, part.triangles.end as usize);
            let Some(own) = triangles.get(part.triangles.start as usize..triangle) else {
                return wrong("has triangles that are not there");
            };
            if own.iter().flatten().any(|v| !part.vertices.contains(v)) {
                return wrong("has triangles between vertices of another part");
            }
            if !part.color.iter().all(|c| c.is_finite()) {
                return Err(AssetError::NotFinite { what: "colour of part", index });
            }
            if mesh_before != Some(part.mesh) && !meshes.insert(part.mesh) {
                return wrong("stands apart from the other parts of its mesh");
            }
            mesh_before = Some(part.mesh);
        }
        length("vertices in parts", vertices, vertex)?;
        length("triangles in parts", triangles.len(), triangle)?;

        for (index, morph) in raw.morphs.iter().enumerate() {
            length("offsets of a morph", morph.vertices.len(), morph.positions.len())?;
            length("normals of a morph", morph.vertices.len(), morph.normals.len())?;
            for &v in &morph.vertices {
                range("morph", index, "vertex", v as usize, vertices)?;
            }
            let finite = morph.default_weight.is_finite()
                && morph.positions.iter().chain(&morph.normals).all(|d| d.is_finite());
            if !finite {
                return Err(AssetError::NotFinite { what: "offset of morph", index });
            }
        }
        for (index, painted) in raw.paint.iter().enumerate() {
            length("painted vertices", vertices, painted.values.len())?;
            if !painted.values.iter().all(|v| (0.0..=1.0).contains(v)) {
                return Err(AssetError::Paint { index, why: "is not a number from 0 to 1 everywhere" });
            }
            if raw.paint[..index].iter().any(|p| p.name == painted.name) {
                return Err(AssetError::Paint { index, why: "has the name of another" });
            }
        }
        for clip in &raw.clips {
            for (index, channel) in clip.channels().iter().enumerate() {
                let width = match channel.target {
                    Target::Translation(j) | Target::Scale(j) => {
                        range("channel", index, "joint", j as usize, joints)?;
                        3
                    }
                    Target::Rotation(j) => {
                        range("channel", index, "joint", j as usize, joints)?;
                        4
                    }
                    Target::Morphs { first, count } => {
                        let last = first as usize + (count as usize).saturating_sub(1);
                        range("channel", index, "morph", last, raw.morphs.len())?;
                        count as usize
                    }
                };
                length("numbers per key of a channel", width, channel.track.width())?;
            }
        }
        Ok(Self(raw))
    }

    /// Joints.
    pub fn skeleton(&self) -> &Skeleton {
        &self.0.skeleton
    }

    /// The whole skin in the rest pose, in scene units, morphs not applied.
    pub fn surface(&self) -> &Surface {
        &self.0.surface
    }

    /// The pieces of the surface, in order.
    pub fn parts(&self) -> &[Part] {
        &self.0.parts
    }

    /// What weights refer to.
    pub fn slots(&self) -> &[Slot] {
        &self.0.slots
    }

    /// Skin weights.
    pub fn weights(&self) -> &Weights {
        &self.0.weights
    }

    /// Blend shapes.
    pub fn morphs(&self) -> &[Morph] {
        &self.0.morphs
    }

    /// Motions.
    pub fn clips(&self) -> &[Clip] {
        &self.0.clips
    }

    /// What is painted on the skin.
    pub fn paint(&self) -> &[Painted] {
        &self.0.paint
    }

    /// Gives up the checks, to change something and check again.
    pub fn into_raw(self) -> RawCharacter {
        self.0
    }

    /// Rest positions with morphs at their default weights.
    pub fn rest_positions(&self) -> Vec<Vec3> {
        let mut positions = self.surface().positions().to_vec();
        for morph in self.morphs().iter().filter(|m| m.default_weight != 0.0) {
            for (&v, &offset) in morph.vertices.iter().zip(&morph.positions) {
                positions[v as usize] += offset * morph.default_weight;
            }
        }
        positions
    }

    /// Length of the diagonal of the rest skin's bounding box: the yardstick for all default lengths.
    pub fn diagonal(&self) -> f64 {
        let positions = self.surface().positions();
        let Some(&first) = positions.first() else { return 0.0 };
        let (low, high) = positions.iter().fold((first, first), |(l, h), &p| (l.min(p), h.max(p)));
        high.as_dvec3().distance(low.as_dvec3())
    }
}
