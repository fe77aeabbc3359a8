//! A character as it is written down: joints, the flesh on them, and motions.

use super::field::{Field, Lump, Node};
use super::{grid::Body, mesh::Mesh, motion::Motion, remesh::Remesher, weigh};
use crate::asset::{
    AssetError, Character, Joint, Local, Part, RawCharacter, Skeleton, Slot, Surface, Weights,
};
use crate::parallel;
use glam::{DAffine3, DQuat, DVec3};

/// Short for a point or direction.
pub(super) fn v(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

/// A turn about an axis.
pub(super) fn rotation(axis: DVec3, degrees: f64) -> DQuat {
    DQuat::from_axis_angle(axis.normalize(), degrees.to_radians())
}

/// One joint as written down. Radius and the rest have sensible values unless set.
#[derive(Debug, Clone)]
pub(super) struct Pin {
    pub name: String,
    pub parent: Option<usize>,
    pub at: DVec3,
    /// Where the bone of a leaf ends.
    pub tail: Option<DVec3>,
    /// Limb radius at the joint: weights blend over about this much on both sides.
    pub radius: Option<f64>,
    /// Normal of the plane across which weights blend, towards this joint's side.
    pub across: Option<DVec3>,
    /// How far from its flesh a limb still has a say where other flesh is nearer: wide where it grows out of a
    /// round body, narrow between neighbours.
    pub say: Option<f64>,
    /// Where this limb melts into its parent's, over which width and how far around.
    pub seam: Option<DVec3>,
    pub melt: Option<f64>,
    pub reach: Option<f64>,
    pub lumps: Vec<Lump>,
}

/// A character in the making. Left is +X; what is called `Left...` gets a mirrored twin by [`Figure::mirror`].
#[derive(Debug, Clone)]
pub(super) struct Figure {
    pub pins: Vec<Pin>,
    /// Lattice cell of the first mesh, which decides the topology: below the narrowest gap and the thinnest part.
    pub cell: f64,
    pub color: [f32; 3],
    /// Whether it stands on flat soles at y = 0.
    pub stands: bool,
}

impl Figure {
    pub(super) fn new(cell: f64, color: [f32; 3]) -> Self {
        Self { pins: Vec::new(), cell, color, stands: false }
    }

    /// A figure that stands on the ground.
    pub(super) fn standing(cell: f64, color: [f32; 3]) -> Self {
        Self { stands: true, ..Self::new(cell, color) }
    }

    fn pin(&mut self, name: &str, parent: Option<usize>, at: DVec3) -> usize {
        let (name, lumps) = (name.to_owned(), Vec::new());
        self.pins.push(Pin {
            name,
            parent,
            at,
            lumps,
            tail: None,
            radius: None,
            across: None,
            say: None,
            seam: None,
            melt: None,
            reach: None,
        });
        self.pins.len() - 1
    }

    pub(super) fn root(&mut self, name: &str, at: DVec3) -> usize {
        self.pin(name, None, at)
    }

    pub(super) fn joint(&mut self, parent: usize, name: &str, at: DVec3) -> usize {
        self.pin(name, Some(parent), at)
    }

    pub(super) fn set(&mut self, joint: usize) -> &mut Pin {
        &mut self.pins[joint]
    }

    /// Adds a round cone to a joint.
    pub(super) fn cone(&mut self, joint: usize, a: DVec3, ra: f64, b: DVec3, rb: f64) -> &mut Lump {
        self.add(joint, Lump::cone(a, ra, b, rb))
    }

    /// Adds an ellipsoid to a joint.
    pub(super) fn ball(&mut self, joint: usize, center: DVec3, radii: DVec3) -> &mut Lump {
        self.add(joint, Lump::ball(center, radii))
    }

    fn add(&mut self, joint: usize, lump: Lump) -> &mut Lump {
        let lumps = &mut self.pins[joint].lumps;
        lumps.push(lump);
        let last = lumps.len() - 1;
        &mut lumps[last]
    }

    /// A chain of joints along points, each with a cone to the next point; the last point is the tail. Names are
    /// numbered from 1. Returns the joints.
    pub(super) fn chain(&mut self, parent: usize, name: &str, points: &[(DVec3, f64)]) -> Vec<usize> {
        let mut joints: Vec<usize> = Vec::new();
        for (k, pair) in points.windows(2).enumerate() {
            let from = joints.last().copied().unwrap_or(parent);
            let joint = self.joint(from, &format!("{name}{}", k + 1), pair[0].0);
            self.cone(joint, pair[0].0, pair[0].1, pair[1].0, pair[1].1);
            joints.push(joint);
        }
        if let (Some(&last), Some(end)) = (joints.last(), points.last()) {
            self.pins[last].tail = Some(end.0);
        }
        joints
    }

    /// A chain of named joints with a cone from each to the next, the last to `end`. Returns the joints.
    pub(super) fn limb(
        &mut self,
        parent: usize,
        joints: &[(&str, DVec3, f64)],
        end: (DVec3, f64),
    ) -> Vec<usize> {
        let mut made: Vec<usize> = Vec::new();
        for (k, &(name, at, radius)) in joints.iter().enumerate() {
            let joint = self.joint(made.last().copied().unwrap_or(parent), name, at);
            let to = joints.get(k + 1).map_or(end, |j| (j.1, j.2));
            self.cone(joint, at, radius, to.0, to.1);
            made.push(joint);
        }
        if let Some(&last) = made.last() {
            self.pins[last].tail = Some(end.0);
        }
        made
    }

    /// Sets how a limb melts into its parent's: over which width, and how far around the joint.
    pub(super) fn blend(&mut self, joint: usize, melt: f64, reach: f64) {
        (self.pins[joint].melt, self.pins[joint].reach) = (Some(melt), Some(reach));
    }

    /// Gives every `Left` joint a `Right` twin, and lumps marked so a twin on their own joint.
    pub(super) fn mirror(&mut self) {
        let flip = DVec3::new(-1.0, 1.0, 1.0);
        for pin in &mut self.pins {
            let twins: Vec<Lump> = pin.lumps.iter().filter(|l| l.both).map(Lump::mirrored).collect();
            pin.lumps.extend(twins);
        }
        let count = self.pins.len();
        let mut twin: Vec<usize> = (0..count).collect();
        for index in 0..count {
            let left = self.pins[index].clone();
            if let Some(rest) = left.name.strip_prefix("Left") {
                twin[index] = self.pins.len();
                self.pins.push(Pin {
                    name: format!("Right{rest}"),
                    parent: left.parent.map(|p| twin[p]),
                    at: left.at * flip,
                    tail: left.tail.map(|t| t * flip),
                    across: left.across.map(|n| n * flip),
                    seam: left.seam.map(|s| s * flip),
                    lumps: left.lumps.iter().map(Lump::mirrored).collect(),
                    ..left
                });
            }
        }
    }

    pub(super) fn children(&self, joint: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.pins.len()).filter(move |&c| self.pins[c].parent == Some(joint))
    }

    /// Where a joint's bone points: to its tail, else to its first child.
    pub(super) fn direction(&self, joint: usize) -> DVec3 {
        let pin = &self.pins[joint];
        let end = pin.tail.or_else(|| self.children(joint).next().map(|c| self.pins[c].at));
        let own = end.map_or(DVec3::ZERO, |e| (e - pin.at).normalize_or_zero());
        let before = pin.parent.map_or(DVec3::Y, |p| (pin.at - self.pins[p].at).normalize_or(DVec3::Y));
        if own == DVec3::ZERO { before } else { own }
    }

    pub(super) fn radius(&self, joint: usize) -> f64 {
        let pin = &self.pins[joint];
        pin.radius.or_else(|| pin.lumps.first().map(Lump::size)).unwrap_or(self.cell)
    }

    /// Normal of the plane across which a joint's weights blend: halfway between its bone and its parent's.
    pub(super) fn across(&self, joint: usize) -> DVec3 {
        let pin = &self.pins[joint];
        let before = pin.parent.map_or(DVec3::ZERO, |p| (pin.at - self.pins[p].at).normalize_or_zero());
        let own = self.direction(joint);
        pin.across.unwrap_or(before + own).normalize_or(own)
    }

    pub(super) fn field(&self) -> Field {
        let node = |joint: usize| {
            let pin = &self.pins[joint];
            let radius = self.radius(joint);
            Node {
                lumps: pin.lumps.clone(),
                children: self.children(joint).collect(),
                seam: pin.seam.unwrap_or(pin.at),
                melt: pin.melt.unwrap_or(0.1 * radius),
                reach: pin.reach.unwrap_or(3.0 * radius),
                ..Node::default()
            }
        };
        Field::new((0..self.pins.len()).map(node).collect(), 0.5 * self.cell, self.stands)
    }

    /// The skin, with exactly `vertices` vertices, and a weight function applied to each.
    pub(super) fn build(
        &self,
        name: &str,
        vertices: usize,
        motions: &[Motion],
    ) -> Result<Character, AssetError> {
        let field = self.field();
        let body = Body::new(field.clone(), self.cell);
        let (points, triangles) = body.polygonise();
        let mesh =
            Mesh::new(points, &triangles).ok_or(AssetError::Empty { what: "closed surface of a sample" })?;
        let mut remesher = Remesher::new(&body, mesh);
        remesher.run(vertices);
        let (kept, triangles) = remesher.mesh.compact();
        let points: Vec<DVec3> = kept.iter().map(|&k| remesher.mesh.at(k)).collect();

        let scale = weigh::Scale::new(self, &field);
        let weights = weigh::finish(parallel::map(points.len(), |k| scale.weights(points[k])), &triangles);
        let count = points.len() as u32;
        let part = Part {
            name: name.to_owned(),
            mesh: 0,
            vertices: 0..count,
            triangles: 0..triangles.len() as u32,
            has_normals: false,
            color: self.color,
        };
        let positions = points.iter().map(|p| p.as_vec3()).collect();
        Character::new(RawCharacter {
            skeleton: self.skeleton()?,
            surface: Surface::new(positions, None, triangles)?,
            parts: vec![part],
            slots: self.slots(),
            weights: Weights::new(&weights, self.pins.len())?,
            morphs: Vec::new(),
            clips: motions.iter().map(|m| m.clip(self)).collect::<Result<_, _>>()?,
            paint: Vec::new(),
        })
    }

    pub(super) fn skeleton(&self) -> Result<Skeleton, AssetError> {
        let joint = |pin: &Pin| Joint {
            name: pin.name.clone(),
            parent: pin.parent.map(|p| p as u32),
            local: Local::offset(pin.at - pin.parent.map_or(DVec3::ZERO, |p| self.pins[p].at)),
            world_from_rest: DAffine3::from_translation(pin.at),
            deforms: true,
            tails: pin.tail.iter().map(|&t| t - pin.at).collect(),
        };
        Skeleton::new(self.pins.iter().map(joint).collect())
    }

    fn slots(&self) -> Vec<Slot> {
        let slot = |(joint, pin): (usize, &Pin)| Slot {
            joint: joint as u32,
            joint_from_rest: DAffine3::from_translation(-pin.at),
        };
        self.pins.iter().enumerate().map(slot).collect()
    }
}
