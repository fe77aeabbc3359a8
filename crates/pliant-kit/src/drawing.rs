//! What is in the flesh, as lines, dots, facets and balls that any renderer can draw.

use glam::{DMat3, DVec3, Quat, Vec3};
use pliant::asset::TetMesh;
use pliant::body::topology::{Adjacency, FACES};
use std::collections::BTreeMap;

/// Linear RGB.
pub type Colour = [f32; 3];

/// Along the fibre, away from it, around it.
pub const AXES: [Colour; 3] = [[0.85, 0.02, 0.01], [0.02, 0.5, 0.03], [0.02, 0.1, 0.85]];
/// Nodes that no bone holds.
pub const FREE: Colour = [0.2, 0.2, 0.22];
/// Springs between balls.
const SPRING: Colour = [0.02, 0.02, 0.03];
/// A body's outside, and faces between tets that a cut lays open.
pub const OUTSIDE: Colour = [0.56, 0.42, 0.30];
/// Faces between tets that a cut lays open.
pub const INSIDE: Colour = [0.74, 0.17, 0.11];
/// No bone holds a node.
const NONE: u32 = u32::MAX;

/// About so many frames are drawn: more hide each other.
const FRAMES: f64 = 300.0;
/// Half the length of an axis, over the distance of those that are drawn: they do not touch.
const HALF: f64 = 0.3;

/// A line, or a dot where both ends are one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// One end.
    pub from: Vec3,
    /// The other.
    pub to: Vec3,
    /// Its colour.
    pub colour: Colour,
    /// How wide, over the picture's side.
    pub width: f32,
}

/// A triangle of one colour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facet {
    /// Its corners, seen from outside against the clock.
    pub corners: [Vec3; 3],
    /// Its colour.
    pub colour: Colour,
}

/// A ball of one colour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball {
    /// Its middle and radius.
    pub place: [f32; 4],
    /// Its colour.
    pub colour: Colour,
}

/// All that is drawn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Drawing {
    /// Lines, and dots.
    pub lines: Vec<Line>,
    /// Triangles.
    pub facets: Vec<Facet>,
    /// Balls.
    pub balls: Vec<Ball>,
}

/// The axes of some tets, spread evenly, as the deformation has turned and stretched them.
pub fn frames(mesh: &TetMesh, nodes: &[Vec3], frames: &[Quat]) -> Vec<Line> {
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
            let width = if is_fibre { 1.0 / 450.0 } else { 1.0 / 800.0 };
            let [from, to] = [middle - half, middle + half].map(|p| p.as_vec3());
            lines.push(Line { from, to, colour, width });
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

/// A dot for each node, and the edges of tets that one bone holds whole, in the bone's colour.
pub fn pins(mesh: &TetMesh, nodes: &[Vec3], pins: &[u32]) -> Vec<Line> {
    let line = |from: u32, to: u32, colour: Colour, width: f32| Line {
        from: nodes[from as usize],
        to: nodes[to as usize],
        colour,
        width,
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
    let edges = held.into_iter().map(|([a, b], pin)| line(a, b, of_bone(pin), 1.0 / 700.0));
    let dots = (0..nodes.len() as u32).map(|node| match pins[node as usize] {
        NONE => line(node, node, FREE, 1.0 / 600.0),
        pin => line(node, node, of_bone(pin), 1.0 / 160.0),
    });
    dots.chain(edges).collect()
}

/// Balls, each in the colour of its bone, and lines between those that a spring joins.
pub fn balls(balls: &[[f32; 4]], slots: &[u16], springs: &[[u32; 2]]) -> Drawing {
    let center = |ball: u32| {
        let [x, y, z, _] = balls[ball as usize];
        Vec3::new(x, y, z)
    };
    let line =
        |&[a, b]: &[u32; 2]| Line { from: center(a), to: center(b), colour: SPRING, width: 1.0 / 900.0 };
    let drawn = balls.iter().zip(slots).map(|(&place, &slot)| Ball { place, colour: of_bone(slot.into()) });
    Drawing { lines: springs.iter().map(line).collect(), facets: vec![], balls: drawn.collect() }
}

/// A strong colour for a bone, unlike those of its neighbours: hues a golden section apart.
pub fn of_bone(slot: u32) -> Colour {
    let hue = (f64::from(slot) * 0.618_034).fract() * 6.0;
    let channel = |at: f64| {
        let off = (hue - at).abs().min(6.0 - (hue - at).abs());
        (0.02 + 0.78 * (2.0 - off).clamp(0.0, 1.0)) as f32
    };
    [channel(0.0), channel(2.0), channel(4.0)]
}

/// A body of tets, cut open: a share of its volume nearest to the eye is left out, tet by tet. `colour` is that of each
/// tet's faces, told whether the face is laid open by the cut.
pub fn cut_open(
    mesh: &TetMesh,
    nodes: &[Vec3],
    to_eye: DVec3,
    share: f64,
    colour: impl Fn(usize, bool) -> Colour,
) -> Vec<Facet> {
    let kept = kept(mesh, nodes, to_eye, share);
    let mut facets = Vec::new();
    for (tet, across) in Adjacency::new(mesh).across.iter().enumerate().filter(|(t, _)| kept[*t]) {
        let corners = mesh.tets()[tet].map(|n| nodes[n as usize]);
        for (face, &other) in FACES.iter().zip(across) {
            let is_open = match kept.get(other as usize) {
                None => false,
                Some(false) => true,
                Some(true) => continue,
            };
            facets.push(Facet { corners: face.map(|k| corners[k]), colour: colour(tet, is_open) });
        }
    }
    facets
}

/// Which tets are left of a body whose side towards the eye is cut away.
fn kept(mesh: &TetMesh, nodes: &[Vec3], to_eye: DVec3, share: f64) -> Vec<bool> {
    let tets = mesh.tets().len();
    let depth = |tet: usize| {
        let corners = mesh.tets()[tet].map(|n| nodes[n as usize].as_dvec3().dot(to_eye));
        corners.iter().sum::<f64>()
    };
    let mut nearest_first: Vec<(f64, usize)> = (0..tets).map(|t| (depth(t), t)).collect();
    nearest_first.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let away = share * mesh.volume();
    let mut kept = vec![true; tets];
    let mut volume = 0.0;
    for (_, tet) in nearest_first {
        let own = mesh.volume_of(tet);
        if volume + 0.5 * own > away {
            break;
        }
        volume += own;
        kept[tet] = false;
    }
    kept
}

/// Colours of layers around the bones, from red at the bones over yellow to blue.
pub fn of_layer(layer: u32, layers: u32) -> Colour {
    const STOPS: [Colour; 4] = [[0.65, 0.03, 0.02], [0.85, 0.45, 0.05], [0.35, 0.6, 0.2], [0.03, 0.12, 0.55]];
    let at = layer as f32 / layers.max(1) as f32 * (STOPS.len() - 1) as f32;
    let first = (at as usize).min(STOPS.len() - 2);
    let mix = (at - first as f32).clamp(0.0, 1.0);
    std::array::from_fn(|c| STOPS[first][c] + (STOPS[first + 1][c] - STOPS[first][c]) * mix)
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
        let [rest, moved] = [mesh.positions(), &stretched].map(|nodes| frames(&mesh, nodes, &frames_of));
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
        for line in pins(&mesh, mesh.positions(), &held) {
            let wanted = match (pin(&line.from), pin(&line.to)) {
                (NONE, NONE) => FREE,
                (a, b) => {
                    assert_eq!(a, b, "no line from a held node to one that is not");
                    of_bone(a)
                }
            };
            assert_eq!(line.colour, wanted);
        }
        assert_ne!(of_bone(0), of_bone(7));
    }

    /// What is left of a body is closed, holds the rest of its volume, and lies away from the eye.
    #[test]
    fn a_cut_leaves_a_closed_body() {
        let mesh = bar();
        for (to_eye, share) in [(DVec3::X, 0.5), (DVec3::new(0.0, 0.6, 0.8), 0.25), (DVec3::Z, 0.0)] {
            let facets = cut_open(&mesh, mesh.positions(), to_eye, share, |_, open| [f32::from(open); 3]);
            let corners = |f: &Facet| f.corners.map(|c| c.as_dvec3());
            let volume: f64 = facets.iter().map(corners).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
            let left = (1.0 - share) * mesh.volume();
            assert!((volume - left).abs() < 0.01 * mesh.volume(), "{volume} {left}");
            assert_eq!(facets.iter().any(|f| f.colour == [1.0; 3]), share > 0.0);
        }
    }
}
