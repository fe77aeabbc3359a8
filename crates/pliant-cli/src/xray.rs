//! What is in the flesh, seen through the skin: the frames of its tets, what holds its nodes, the balls that fill it.

use crate::picture::{self, Image, Line, Mesh, Options, Paint, Scene, View};
use anyhow::Result;
use glam::Vec3;
use pliant_kit::drawing::{self, Drawing};

/// The skin, linear RGB: light, so that lines stand out.
const SKIN: [f32; 3] = [0.72, 0.74, 0.78];
/// The picture from one side, with lines over the skin.
pub(crate) fn take(
    skin: &[Vec3],
    triangles: &[[u32; 3]],
    lines: &[Line],
    width: u32,
    height: u32,
    view: View,
) -> Result<Image> {
    // The nearest last, over the others.
    let to_eye = view.to_eye();
    let nearness = |line: &Line| (line.from + line.to).as_dvec3().dot(to_eye);
    let mut lines = lines.to_vec();
    lines.sort_by(|a, b| nearness(a).total_cmp(&nearness(b)));
    let skin = Mesh { positions: skin, normals: None, triangles, paint: Paint::Flat(SKIN) };
    let scene = Scene { meshes: vec![skin], lines, ..Scene::default() };
    picture::render(&scene, &Options { samples: 3, ..Options::new(width, height, view) })
}

/// Lines as a picture has them. `side` is the picture's, in pixels.
pub(crate) fn drawn(lines: &[drawing::Line], side: f32) -> Vec<Line> {
    let line = |&drawing::Line { from, to, colour, width }: &drawing::Line| Line {
        from,
        to,
        colour,
        width: width * side,
        on_top: true,
    };
    lines.iter().map(line).collect()
}

/// Steps around a drawn ball, and from its top to its bottom.
const AROUND: usize = 16;
const DOWN: usize = 8;

/// Balls as a picture has them.
pub(crate) struct Balls {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    colours: Vec<[f32; 3]>,
    springs: Vec<Line>,
}

impl Balls {
    /// Balls as spheres, and springs as lines. `side` is the picture's, in pixels.
    pub(crate) fn new(drawing: &Drawing, side: f32) -> Self {
        let mut made = Self {
            positions: Vec::new(),
            normals: Vec::new(),
            triangles: Vec::new(),
            colours: Vec::new(),
            springs: drawn(&drawing.lines, side),
        };
        for &drawing::Ball { place: [x, y, z, radius], colour } in &drawing.balls {
            let first = made.positions.len() as u32;
            for down in 0..=DOWN {
                for around in 0..AROUND {
                    let tilt = std::f32::consts::PI * down as f32 / DOWN as f32;
                    let turn = std::f32::consts::TAU * around as f32 / AROUND as f32;
                    let ring = libm::sinf(tilt);
                    let out = Vec3::new(ring * libm::cosf(turn), libm::cosf(tilt), ring * libm::sinf(turn));
                    made.positions.push(Vec3::new(x, y, z) + out * radius);
                    made.normals.push(out);
                    made.colours.push(colour);
                }
            }
            for down in 0..DOWN {
                for around in 0..AROUND {
                    let at =
                        |d: usize, a: usize| first + ((down + d) * AROUND + (around + a) % AROUND) as u32;
                    made.triangles.push([at(0, 0), at(0, 1), at(1, 0)]);
                    made.triangles.push([at(0, 1), at(1, 1), at(1, 0)]);
                }
            }
        }
        made
    }

    /// The picture from one side.
    pub(crate) fn take(&self, width: u32, height: u32, view: View) -> Result<Image> {
        let balls = Mesh {
            positions: &self.positions,
            normals: Some(&self.normals),
            triangles: &self.triangles,
            paint: Paint::Vertex(&self.colours),
        };
        let scene = Scene { meshes: vec![balls], lines: self.springs.clone(), ..Scene::default() };
        picture::render(&scene, &Options { samples: 3, ..Options::new(width, height, view) })
    }
}
