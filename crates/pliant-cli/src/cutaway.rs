//! A body of tets as a picture, cut open to look inside.

use crate::args::Cut;
use crate::picture::{self, Image, Mesh, Options, Paint, Scene, View};
use anyhow::Result;
use glam::{DVec3, Vec3};
use pliant::asset::TetMesh;
use pliant::body::topology::{Adjacency, FACES};

/// The body's outside, linear RGB.
const OUTSIDE: [f32; 3] = [0.56, 0.42, 0.30];
/// Faces between tets that the cut lays open.
const INSIDE: [f32; 3] = [0.74, 0.17, 0.11];

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
        let kept = self.kept(cut, view);
        let (mut outside, mut inside) = (Facets::default(), Facets::default());
        for (tet, across) in Adjacency::new(self.mesh).across.iter().enumerate().filter(|(t, _)| kept[*t]) {
            let corners = self.corners(tet);
            for (face, &other) in FACES.iter().zip(across) {
                let corners = face.map(|k| corners[k]);
                match kept.get(other as usize) {
                    None => outside.push(corners),
                    Some(false) => inside.push(corners),
                    Some(true) => {}
                }
            }
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

    fn corners(&self, tet: usize) -> [DVec3; 4] {
        self.mesh.tets()[tet].map(|n| self.nodes[n as usize].as_dvec3())
    }

    /// Which tets are left of a body whose side towards the camera is cut away.
    fn kept(&self, cut: Cut, view: View) -> Vec<bool> {
        let to_eye = view.to_eye();
        let level = if to_eye.x.abs() > to_eye.z.abs() { 0 } else { 2 };
        let axis = cut.axis.unwrap_or(level);
        let sign = if to_eye[axis] < -1e-9 { -1.0 } else { 1.0 };
        let depth = |tet: usize| sign * self.corners(tet).iter().map(|c| c[axis]).sum::<f64>();
        let tets = self.mesh.tets().len();
        let mut nearest_first: Vec<(f64, usize)> = (0..tets).map(|t| (depth(t), t)).collect();
        nearest_first.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let away = cut.share * self.mesh.volume();
        let mut kept = vec![true; tets];
        let mut volume = 0.0;
        for (_, tet) in nearest_first {
            let own = self.mesh.volume_of(tet);
            if volume + 0.5 * own > away {
                break;
            }
            volume += own;
            kept[tet] = false;
        }
        kept
    }
}
