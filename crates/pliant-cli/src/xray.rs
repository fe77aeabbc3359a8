//! What is in the flesh, seen through the skin: the frames of its tets, what holds its nodes, the balls that fill it.

use crate::picture::{self, Image, Line, Mesh, Options, Paint, Scene, View};
use anyhow::Result;
use glam::{DMat3, DVec3, Quat, Vec3};
use pliant::asset::TetMesh;
use std::collections::BTreeMap;

/// The skin, linear RGB: light, so that lines stand out.
const SKIN: [f32; 3] = [0.72, 0.74, 0.78];
/// Along the fibre, away from it, around it.
const AXES: [[f32; 3]; 3] = [[0.85, 0.02, 0.01], [0.02, 0.5, 0.03], [0.02, 0.1, 0.85]];
/// Nodes that no bone holds.
const FREE: [f32; 3] = [0.2, 0.2, 0.22];
/// No bone holds a node.
const NONE: u32 = u32::MAX;

/// About so many frames are drawn: more hide each other.
const FRAMES: f64 = 300.0;
/// Half the length of an axis, over the distance of those that are drawn: they do not touch.
const HALF: f64 = 0.3;

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

/// The axes of some tets, spread evenly, as the deformation has turned and stretched them. `side` is the picture's, in
/// pixels.
pub(crate) fn frames(mesh: &TetMesh, nodes: &[Vec3], frames: &[Quat], side: f32) -> Vec<Line> {
    let apart = libm::cbrt(mesh.volume() / FRAMES);
    let mut lines = Vec::new();
    for tet in spread(mesh, apart) {
        let [rest, now] = [mesh.corners(tet), mesh.tets()[tet].map(|n| nodes[n as usize].as_dvec3())];
        let [rest_edges, edges] = [rest, now].map(|[a, b, c, d]| DMat3::from_cols(b - a, c - a, d - a));
        let deformed = edges * rest_edges.inverse() * DMat3::from_quat(frames[tet].as_dquat());
        let middle = now.into_iter().sum::<DVec3>() / 4.0;
        for (axis, colour) in [deformed.x_axis, deformed.y_axis, deformed.z_axis].into_iter().zip(AXES) {
            let is_fibre = colour == AXES[0];
            let half = axis * (apart * if is_fibre { HALF } else { 0.5 * HALF });
            let width = side / if is_fibre { 450.0 } else { 800.0 };
            let [from, to] = [middle - half, middle + half].map(|p| p.as_vec3());
            lines.push(Line { from, to, colour, width, on_top: true });
        }
    }
    lines
}

/// One tet in each cube of a lattice: that nearest to the cube's middle.
fn spread(mesh: &TetMesh, apart: f64) -> Vec<usize> {
    let mut best: BTreeMap<[i64; 3], (f64, usize)> = BTreeMap::new();
    for tet in 0..mesh.tets().len() {
        let place = mesh.corners(tet).into_iter().sum::<DVec3>() / 4.0 / apart;
        let cube = place.floor();
        let off = place.distance(cube + 0.5);
        let entry = best.entry(cube.to_array().map(|c| c as i64)).or_insert((off, tet));
        if off < entry.0 {
            *entry = (off, tet);
        }
    }
    best.into_values().map(|(_, tet)| tet).collect()
}

/// A dot for each node, and the edges of tets that one bone holds whole, in the bone's colour. `side` is the picture's, in
/// pixels.
pub(crate) fn pins(mesh: &TetMesh, nodes: &[Vec3], pins: &[u32], side: f32) -> Vec<Line> {
    let line = |from: u32, to: u32, colour: [f32; 3], share: f32| Line {
        from: nodes[from as usize],
        to: nodes[to as usize],
        colour,
        width: side * share,
        on_top: true,
    };
    let mut held: Vec<([u32; 2], u32)> = Vec::new();
    for tet in mesh.tets() {
        let pin = pins[tet[0] as usize];
        if pin != NONE && tet.iter().all(|&n| pins[n as usize] == pin) {
            for [a, b] in [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]].map(|e| e.map(|k| tet[k])) {
                held.push(([a.min(b), a.max(b)], pin));
            }
        }
    }
    held.sort_unstable();
    held.dedup();
    let edges = held.into_iter().map(|([a, b], pin)| line(a, b, colour(pin), 1.0 / 700.0));
    let dots = (0..nodes.len() as u32).map(|node| match pins[node as usize] {
        NONE => line(node, node, FREE, 1.0 / 600.0),
        pin => line(node, node, colour(pin), 1.0 / 160.0),
    });
    dots.chain(edges).collect()
}

/// Springs between balls.
const SPRING: [f32; 3] = [0.02, 0.02, 0.03];
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
    /// Centres and radii, each in the colour of its bone; lines between those that a spring joins. `side` is the picture's,
    /// in pixels.
    pub(crate) fn new(balls: &[[f32; 4]], slots: &[u16], springs: &[[u32; 2]], side: f32) -> Self {
        let center = |ball: u32| {
            let [x, y, z, _] = balls[ball as usize];
            Vec3::new(x, y, z)
        };
        let line = |&[a, b]: &[u32; 2]| Line {
            from: center(a),
            to: center(b),
            colour: SPRING,
            width: side / 900.0,
            on_top: true,
        };
        let mut made = Self {
            positions: Vec::new(),
            normals: Vec::new(),
            triangles: Vec::new(),
            colours: Vec::new(),
            springs: springs.iter().map(line).collect(),
        };
        for (index, (&[_, _, _, radius], &slot)) in balls.iter().zip(slots).enumerate() {
            let first = made.positions.len() as u32;
            for down in 0..=DOWN {
                for around in 0..AROUND {
                    let tilt = std::f32::consts::PI * down as f32 / DOWN as f32;
                    let turn = std::f32::consts::TAU * around as f32 / AROUND as f32;
                    let ring = libm::sinf(tilt);
                    let out = Vec3::new(ring * libm::cosf(turn), libm::cosf(tilt), ring * libm::sinf(turn));
                    made.positions.push(center(index as u32) + out * radius);
                    made.normals.push(out);
                    made.colours.push(colour(slot.into()));
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

/// A strong colour for a bone, unlike those of its neighbours: hues a golden section apart.
fn colour(slot: u32) -> [f32; 3] {
    let hue = (f64::from(slot) * 0.618_034).fract() * 6.0;
    let channel = |at: f64| {
        let off = (hue - at).abs().min(6.0 - (hue - at).abs());
        (0.02 + 0.78 * (2.0 - off).clamp(0.0, 1.0)) as f32
    };
    [channel(0.0), channel(2.0), channel(4.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::body::bench_block;

    fn bar() -> TetMesh {
        bench_block([24, 6, 6], DVec3::new(-2.0, -0.5, -0.5), DVec3::new(2.0, 0.5, 0.5)).expect("sound")
    }

    /// Each drawn frame has its axes in their colours, moved as the body is, and they do not touch.
    #[test]
    fn axes_are_drawn_where_the_flesh_is() {
        let mesh = bar();
        let turn = Quat::from_rotation_z(0.7);
        let frames_of = vec![turn; mesh.tets().len()];
        let stretched: Vec<Vec3> = mesh.positions().iter().map(|p| *p * Vec3::new(1.0, 2.0, 1.0)).collect();
        let [rest, moved] =
            [mesh.positions(), &stretched].map(|nodes| frames(&mesh, nodes, &frames_of, 1000.0));
        assert!(rest.len() % 3 == 0 && (600..3000).contains(&rest.len()), "{}", rest.len());
        for (a, b) in rest.iter().zip(&moved) {
            let axis = AXES.iter().position(|c| *c == a.colour).expect("one of the three");
            let way = (a.to - a.from).normalize();
            assert!(way.dot(turn * [Vec3::X, Vec3::Y, Vec3::Z][axis]) > 1.0 - 1e-5);
            assert!((b.to - b.from).distance((a.to - a.from) * Vec3::new(1.0, 2.0, 1.0)) < 1e-5);
            assert!(a.from.distance(b.from * Vec3::new(1.0, 0.5, 1.0)) < 1e-5);
        }
    }

    #[test]
    fn held_nodes_have_their_bone_s_colour() {
        let mesh = bar();
        let pin = |p: &Vec3| match p.x {
            x if x < -1.0 => 0,
            x if x > 1.0 => 7,
            _ => NONE,
        };
        let held: Vec<u32> = mesh.positions().iter().map(pin).collect();
        for line in pins(&mesh, mesh.positions(), &held, 1000.0) {
            let wanted = match (pin(&line.from), pin(&line.to)) {
                (NONE, NONE) => FREE,
                (a, b) => {
                    assert_eq!(a, b, "no line from a held node to one that is not");
                    colour(a)
                }
            };
            assert_eq!(line.colour, wanted);
        }
        assert_ne!(colour(0), colour(7));
    }
}
