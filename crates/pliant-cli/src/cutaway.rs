//! A body of tets as a picture, cut open to look inside.

use crate::args::Cut;
use crate::picture::{self, Image, Mesh, Options, Paint, Scene, View};
use anyhow::Result;
use glam::{DVec3, Vec3};
use pliant::asset::TetMesh;
use pliant_kit::drawing::{INSIDE, OUTSIDE, cut_open};

/// The skin, and how much of it is seen.
const GHOST: [f32; 3] = [0.30, 0.38, 0.50];
const GHOSTLY: f32 = 0.2;

/// Triangles that share no vertex, so that every one is flat.
#[derive(Default)]
struct Facets {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Facets {
    fn push(&mut self, corners: [DVec3; 3]) {
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a).normalize_or_zero().as_vec3();
        let first = self.positions.len() as u32;
        self.positions.extend(corners.map(|p| p.as_vec3()));
        self.normals.extend([normal; 3]);
        self.triangles.push([first, first + 1, first + 2]);
    }

    fn mesh(&self, colour: [f32; 3]) -> Mesh<'_> {
        Mesh {
            positions: &self.positions,
            normals: Some(&self.normals),
            triangles: &self.triangles,
            paint: Paint::Flat(colour),
        }
    }
}

/// A body of tets with its skin, at rest or deformed.
#[derive(Clone, Copy)]
pub(crate) struct Cutaway<'a> {
    /// At rest.
    pub(crate) mesh: &'a TetMesh,
    /// Where its nodes are.
    pub(crate) nodes: &'a [Vec3],
    /// Where the skin's vertices are.
    pub(crate) skin: &'a [Vec3],
    pub(crate) triangles: &'a [[u32; 3]],
}

impl Cutaway<'_> {
    /// Takes the picture from one side. Tets between the cut and the camera are left out whole. The skin as a ghost shows
    /// what is cut away.
    pub(crate) fn take(&self, cut: Cut, width: u32, height: u32, view: View) -> Result<Image> {
        let (mut outside, mut inside) = (Facets::default(), Facets::default());
        let colour = |_: usize, is_open: bool| if is_open { INSIDE } else { OUTSIDE };
        for facet in cut_open(self.mesh, self.nodes, self.side(cut, view), cut.share, colour) {
            let facets = if facet.colour == INSIDE { &mut inside } else { &mut outside };
            facets.push(facet.corners.map(|c| c.as_dvec3()));
        }
        // Framed as a whole, so that pictures of several cuts can be compared.
        let used = self.triangles.iter().flatten().map(|&v| self.skin[v as usize]);
        let framed: Vec<Vec3> = self.nodes.iter().copied().chain(used).collect();
        let options = Options { edges: true, samples: 3, ..Options::new(width, height, view) };
        let scene = |meshes| Scene { meshes, framed: &framed, ..Scene::default() };
        let picture = picture::render(&scene(vec![outside.mesh(OUTSIDE), inside.mesh(INSIDE)]), &options)?;
        let ghost = Mesh {
            positions: self.skin,
            normals: None,
            triangles: self.triangles,
            paint: Paint::Flat(GHOST),
        };
        let ghost = picture::render(&scene(vec![ghost]), &Options { edges: false, ..options })?;
        Ok(picture.mixed(&ghost, GHOSTLY))
    }

    /// From which side the body is cut: along an axis, from where the camera is.
    fn side(&self, cut: Cut, view: View) -> DVec3 {
        let to_eye = view.to_eye();
        let level = if to_eye.x.abs() > to_eye.z.abs() { 0 } else { 2 };
        let axis = cut.axis.unwrap_or(level);
        let sign = if to_eye[axis] < -1e-9 { -1.0 } else { 1.0 };
        sign * [DVec3::X, DVec3::Y, DVec3::Z][axis]
    }
}
