//! A body of tets as a picture, cut open to look inside.

use crate::args::Cut;
use crate::flesh::Skin;
use crate::picture::{self, Image, Mesh, Options, Paint, Scene, View};
use anyhow::Result;
use glam::{DVec3, Vec3};
use pliant::body::Body;
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

/// Takes the picture of a body from one side. Tets between the cut and the camera are left out whole.
/// The skin as a ghost shows what is cut away.
pub(crate) fn take(body: &Body, skin: &Skin, cut: Cut, width: u32, height: u32, view: View) -> Result<Image> {
    let tets = body.tets();
    let kept = kept(body, cut, view);
    let (mut outside, mut inside) = (Facets::default(), Facets::default());
    for (tet, across) in Adjacency::new(tets).across.iter().enumerate().filter(|(tet, _)| kept[*tet]) {
        let corners = tets.corners(tet);
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
    let used = skin.triangles.iter().flatten().map(|&v| skin.positions[v as usize]);
    let framed: Vec<Vec3> = tets.positions().iter().copied().chain(used).collect();
    let options = Options { edges: true, samples: 3, ..Options::new(width, height, view) };
    let scene = |meshes| Scene { meshes, framed: &framed, ..Scene::default() };
    let picture = picture::render(&scene(vec![outside.mesh(OUTSIDE), inside.mesh(INSIDE)]), &options)?;
    let ghost = Mesh {
        positions: &skin.positions,
        normals: None,
        triangles: &skin.triangles,
        paint: Paint::Flat(GHOST),
    };
    let ghost = picture::render(&scene(vec![ghost]), &Options { edges: false, ..options })?;
    Ok(picture.mixed(&ghost, GHOSTLY))
}

/// Which tets are left of a body whose side towards the camera is cut away.
fn kept(body: &Body, cut: Cut, view: View) -> Vec<bool> {
    let tets = body.tets();
    let to_eye = view.to_eye();
    let level = if to_eye.x.abs() > to_eye.z.abs() { 0 } else { 2 };
    let axis = cut.axis.unwrap_or(level);
    let sign = if to_eye[axis] < -1e-9 { -1.0 } else { 1.0 };
    let depth = |tet: usize| sign * tets.corners(tet).iter().map(|c| c[axis]).sum::<f64>();
    let mut nearest_first: Vec<(f64, usize)> = (0..tets.tets().len()).map(|t| (depth(t), t)).collect();
    nearest_first.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let away = cut.share * tets.volume();
    let mut kept = vec![true; nearest_first.len()];
    let mut volume = 0.0;
    for (_, tet) in nearest_first {
        let own = tets.volume_of(tet);
        if volume + 0.5 * own > away {
            break;
        }
        volume += own;
        kept[tet] = false;
    }
    kept
}
