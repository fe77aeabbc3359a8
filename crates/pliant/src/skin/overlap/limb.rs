//! Bones that do not share a joint: flesh of one that has got into another's is put back to where its distance from both,
//! over the radius of each, is the same. Raw distances would give a belly's skin to the arm that rests on it.

use super::{Overlap, OverlapState};
use crate::asset::Character;
use crate::skin::mesh::{Mesh, on_segment, smooth_step};
use glam::{DAffine3, DVec3, Vec3};

/// Stations along a bone, and directions around it, at which the flesh's radius is known.
const ALONG: usize = 8;
const AROUND: usize = 16;
/// Fewer points than this are no limb.
const LEAST_POINTS: usize = 24;
/// Flesh that is nearer than this at rest, in radii, belongs there.
const APART: [f64; 2] = [0.1, 0.4];
/// The most that flesh is moved by, over its own distance from its bone.
const MOST: f64 = 0.5;
/// Points that are looked at, or passed over, together.
const CLUSTER: usize = 32;
/// How far skinning may take flesh from where its own bone alone would, over the limb's largest radius.
const ASTRAY: f64 = 0.5;
/// Weight on the other bone from which on flesh is blended, not in contact.
const SHARED: f32 = 0.02;

/// A joint's bone with its flesh, at rest.
struct Limb {
    slot: u16,
    joint: u32,
    start: DVec3,
    end: DVec3,
    /// Square to the bone, and to each other.
    axes: [DVec3; 2],
    radii: Vec<f32>,
    most: f64,
    points: Vec<(u32, f32)>,
}

/// Points of one limb that another may get into, each with how much that counts, in clusters.
struct Side {
    fades: Vec<(u32, f32)>,
    clusters: Vec<Cluster>,
}

/// [`CLUSTER`] points in a row, in a ball at rest.
struct Cluster {
    center: DVec3,
    radius: f64,
}

struct Meeting {
    limbs: [u32; 2],
    sides: [Side; 2],
}

impl Side {
    /// Points that lie together at rest come together.
    fn new(mesh: &Mesh, own: &Limb, mut fades: Vec<(u32, f32)>) -> Self {
        let place = |p: u32| {
            let at = mesh.points[p as usize];
            let on = on_segment(own.start, own.end, at);
            let turn = diamond((at - on).dot(own.axes[0]), (at - on).dot(own.axes[1]));
            (((on - own.start).length() / own.most) as u32, (2.0 * turn) as u32, p)
        };
        fades.sort_by_cached_key(|f| place(f.0));
        let cluster = |points: &[(u32, f32)]| {
            let at = |f: &(u32, f32)| mesh.points[f.0 as usize];
            let center = points.iter().map(at).sum::<DVec3>() / points.len() as f64;
            let radius = points.iter().map(|f| at(f).distance(center)).fold(0.0, f64::max);
            Cluster { center, radius }
        };
        let clusters = fades.chunks(CLUSTER).map(cluster).collect();
        Self { fades, clusters }
    }
}

pub(super) struct Limbs {
    limbs: Vec<Limb>,
    meetings: Vec<Meeting>,
}

pub(super) struct LimbState {
    inverses: Vec<Option<DAffine3>>,
    moves: Vec<(u32, Vec3)>,
}

impl Limb {
    /// Distance from the bone over the flesh's radius there; the way from the bone, and the radius.
    fn ratio(&self, at: DVec3) -> (f64, DVec3, f64) {
        let on = on_segment(self.start, self.end, at);
        let off = at - on;
        let radius = self.radius(at, on);
        (off.length() / radius, off.normalize_or_zero(), radius)
    }

    /// The flesh's radius towards a place.
    fn radius(&self, at: DVec3, on: DVec3) -> f64 {
        let way = self.end - self.start;
        let square = way.length_squared();
        let along = if square > 0.0 { ((on - self.start).dot(way) / square).clamp(0.0, 1.0) } else { 0.0 };
        let off = at - on;
        let turn = diamond(off.dot(self.axes[0]), off.dot(self.axes[1])) * (AROUND as f64 / 4.0);
        let (row, column) = (along * (ALONG - 1) as f64, turn);
        let (r, c) = ((row as usize).min(ALONG - 2), column as usize % AROUND);
        let (u, v) = (row - r as f64, column - column.floor());
        let number = |r: usize, c: usize| f64::from(self.radii[r * AROUND + c % AROUND]);
        let upper = number(r, c) * (1.0 - v) + number(r, c + 1) * v;
        let lower = number(r + 1, c) * (1.0 - v) + number(r + 1, c + 1) * v;
        upper * (1.0 - u) + lower * u
    }
}

/// The squared distance between two segments.
fn between([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> f64 {
    let (u, v, w) = (b - a, d - c, a - c);
    let (uu, uv, vv) = (u.length_squared(), u.dot(v), v.length_squared());
    let (uw, vw) = (u.dot(w), v.dot(w));
    let whole = uu * vv - uv * uv;
    let s = if whole > 1e-12 * uu * vv { ((uv * vw - vv * uw) / whole).clamp(0.0, 1.0) } else { 0.0 };
    let t = if vv > 0.0 { ((uv * s + vw) / vv).clamp(0.0, 1.0) } else { 0.0 };
    let s = if uu > 0.0 { ((uv * t - uw) / uu).clamp(0.0, 1.0) } else { 0.0 };
    (w + u * s - v * t).length_squared()
}

/// An angle from 0 to 4 with no sines in it.
fn diamond(x: f64, y: f64) -> f64 {
    let sum = x.abs() + y.abs();
    if sum <= 0.0 {
        return 0.0;
    }
    match (x >= 0.0, y >= 0.0) {
        (true, true) => y / sum,
        (false, true) => 1.0 - x / sum,
        (false, false) => 2.0 - y / sum,
        (true, false) => 3.0 + x / sum,
    }
}

impl Limbs {
    pub(super) fn new(character: &Character, mesh: &Mesh) -> Self {
        let bones = character.skeleton().bones();
        let joints = character.skeleton().joints();
        let mut points_of: Vec<Vec<(u32, f32)>> = vec![Vec::new(); joints.len()];
        for p in 0..mesh.len() {
            if let Some(&(slot, weight)) = mesh.weights(p).first() {
                points_of[character.slots()[slot as usize].joint as usize].push((p as u32, weight));
            }
        }
        let mut limbs = Vec::new();
        for (joint, points) in points_of.into_iter().enumerate() {
            let slot = character.slots().iter().position(|s| s.joint as usize == joint);
            let own = bones.iter().filter(|b| b.joint as usize == joint);
            let bone = own.max_by(|a, b| a.start.distance(a.end).total_cmp(&b.start.distance(b.end)));
            let (Some(slot), Some(bone)) = (slot, bone) else { continue };
            if points.len() >= LEAST_POINTS {
                limbs.extend(limb(mesh, slot as u16, joint as u32, [bone.start, bone.end], points));
            }
        }
        let meetings = meetings(character, mesh, &limbs);
        Self { limbs, meetings }
    }

    pub(super) fn state(&self, points: usize) -> LimbState {
        LimbState { inverses: vec![None; self.limbs.len()], moves: Vec::with_capacity(points) }
    }
}

fn limb(
    mesh: &Mesh,
    slot: u16,
    joint: u32,
    [start, end]: [DVec3; 2],
    points: Vec<(u32, f32)>,
) -> Option<Limb> {
    let way = (end - start).try_normalize().unwrap_or(DVec3::Y);
    let side = way.any_orthonormal_vector();
    let mut limb = Limb {
        slot,
        joint,
        start,
        end,
        axes: [side, way.cross(side)],
        radii: vec![0.0; ALONG * AROUND],
        most: 0.0,
        points,
    };
    // Mean distances, point by point; then what is empty from its neighbours.
    let mut sums = vec![(0.0, 0.0); ALONG * AROUND];
    let (mut all, length) = ((0.0, 0.0), start.distance(end));
    for &(p, _) in &limb.points {
        let at = mesh.points[p as usize];
        let on = on_segment(start, end, at);
        let off = at - on;
        let along = if length > 0.0 { on.distance(start) / length } else { 0.0 };
        let row = (along * (ALONG - 1) as f64 + 0.5) as usize;
        let turn = diamond(off.dot(limb.axes[0]), off.dot(limb.axes[1])) * (AROUND as f64 / 4.0);
        let cell = row.min(ALONG - 1) * AROUND + (turn + 0.5) as usize % AROUND;
        let (distance, area) = (off.length(), mesh.areas[p as usize]);
        sums[cell] = (sums[cell].0 + distance * area, sums[cell].1 + area);
        all = (all.0 + distance * area, all.1 + area);
        limb.most = limb.most.max(distance);
    }
    let mean = all.0 / all.1;
    if !(mean > 0.0 && mean.is_finite()) {
        return None;
    }
    // Empty cells belong to what other bones move: nothing is known of flesh there, so there is none.
    for (radius, (sum, area)) in limb.radii.iter_mut().zip(&sums) {
        *radius = if *area > 0.0 { (sum / area) as f32 } else { (0.3 * mean) as f32 };
    }
    Some(limb)
}

/// Pairs of limbs that share no joint, with the flesh of each that may get into the other.
fn meetings(character: &Character, mesh: &Mesh, limbs: &[Limb]) -> Vec<Meeting> {
    let joints = character.skeleton().joints();
    let parent = |joint: u32| joints[joint as usize].parent;
    let mut meetings = Vec::new();
    for a in 0..limbs.len() {
        for b in a + 1..limbs.len() {
            let [ja, jb] = [limbs[a].joint, limbs[b].joint];
            // Parent and child, and children of one joint: the plane rule's, or grown together.
            let shares = parent(ja) == Some(jb) || parent(jb) == Some(ja);
            if shares || (parent(ja).is_some() && parent(ja) == parent(jb) && limbs.len() > 64) {
                continue;
            }
            let fades =
                [[a, b], [b, a]].map(|[own, other]| fades(character, mesh, &limbs[own], &limbs[other]));
            if fades.iter().any(|f| !f.is_empty()) {
                let [of_a, of_b] = fades;
                let sides = [Side::new(mesh, &limbs[a], of_a), Side::new(mesh, &limbs[b], of_b)];
                meetings.push(Meeting { limbs: [a as u32, b as u32], sides });
            }
        }
    }
    meetings
}

fn fades(character: &Character, mesh: &Mesh, own: &Limb, other: &Limb) -> Vec<(u32, f32)> {
    let mut fades = Vec::new();
    for &(p, weight) in &own.points {
        let weights = mesh.weights(p as usize);
        let is_other = |w: &&(u16, f32)| character.slots()[w.0 as usize].joint == other.joint;
        let shared: f32 = weights.iter().filter(is_other).map(|w| w.1).sum();
        if shared > SHARED {
            continue;
        }
        let at = mesh.points[p as usize];
        let apart = other.ratio(at).0 - 1.0;
        let fade = smooth_step((apart - APART[0]) / (APART[1] - APART[0])) * f64::from(weight);
        if fade > 0.0 {
            fades.push((p, fade as f32));
        }
    }
    fades
}

impl Overlap {
    /// Parts limbs that have got into each other.
    pub(super) fn part_limbs(&self, state: &mut OverlapState, positions: &mut [Vec3]) {
        let Limbs { limbs, meetings } = &self.limbs;
        state.limbs.inverses.fill(None);
        for meeting in meetings {
            let [a, b] = meeting.limbs.map(|l| &limbs[l as usize]);
            let [ma, mb] = [a, b].map(|l| state.posed[l.slot as usize]);
            let scale = |m: &DAffine3| m.matrix3.x_axis.length().max(m.matrix3.y_axis.length());
            let bones = [(a, &ma), (b, &mb)].map(|(l, m)| [l.start, l.end].map(|p| m.transform_point3(p)));
            let reach = a.most * scale(&ma) + b.most * scale(&mb);
            let near = between(bones[0], bones[1]) < reach * reach;
            // False, too, where a bone's place is not a number.
            if !near {
                continue;
            }
            // All are looked at before any is moved: both sides see the same.
            state.limbs.moves.clear();
            for (side, [own, other]) in [[a, b], [b, a]].into_iter().enumerate() {
                self.part_limb(own, other, meeting.limbs[1 - side], &meeting.sides[side], state, positions);
            }
            let moves = std::mem::take(&mut state.limbs.moves);
            for &(point, moved) in &moves {
                let vertex = self.mesh.vertex_of_point[point as usize] as usize;
                state.touch(point, positions[vertex]);
                positions[vertex] += moved;
            }
            state.limbs.moves = moves;
        }
    }

    fn part_limb(
        &self,
        own: &Limb,
        other: &Limb,
        other_index: u32,
        side: &Side,
        state: &mut OverlapState,
        positions: &[Vec3],
    ) {
        let posed = state.posed[other.slot as usize];
        let slot = &mut state.limbs.inverses[other_index as usize];
        let inverse = *slot.get_or_insert_with(|| posed.inverse());
        if !inverse.is_finite() {
            return;
        }
        let own_posed = state.posed[own.slot as usize];
        let [start, end] = [own.start, own.end].map(|p| own_posed.transform_point3(p));
        let most = other.most * other.most;
        let scale = |m: &DAffine3| m.matrix3.x_axis.length().max(m.matrix3.y_axis.length());
        let other_bone = [other.start, other.end].map(|p| posed.transform_point3(p));
        let astray = ASTRAY * own.most * scale(&own_posed) + other.most * scale(&posed);
        let clusters = side.fades.chunks(CLUSTER).zip(&side.clusters).filter(|(_, cluster)| {
            let center = own_posed.transform_point3(cluster.center);
            let reach = cluster.radius * scale(&own_posed) + astray;
            center.distance_squared(on_segment(other_bone[0], other_bone[1], center)) < reach * reach
        });
        for &(point, fade) in clusters.flat_map(|(points, _)| points) {
            let place = self.place(positions, point).as_dvec3();
            let there = inverse.transform_point3(place);
            let on = on_segment(other.start, other.end, there);
            if there.distance_squared(on) > most {
                continue;
            }
            let (ratio, way, radius) = other.ratio(there);
            if ratio >= 1.0 {
                continue;
            }
            // f = d_other / r_other - d_own / r_own should not be negative.
            let rest = self.mesh.points[point as usize];
            let own_radius = rest.distance(on_segment(own.start, own.end, rest));
            let off = place - on_segment(start, end, place);
            let distance = off.length();
            if own_radius <= 0.0 || distance <= 0.0 {
                continue;
            }
            let lacks = distance / own_radius - ratio;
            let away = posed.transform_vector3(way).normalize_or_zero();
            let slope = away / radius - off / (distance * own_radius);
            let square = slope.length_squared();
            if lacks > 0.0 && square > 0.0 {
                let moved = slope * (f64::from(fade) * lacks / square);
                let moved = moved * (MOST * own_radius / moved.length().max(MOST * own_radius));
                state.limbs.moves.push((point, moved.as_vec3()));
                let share = (moved.length() / (0.1 * own_radius)).min(1.0);
                state.meet(point, 0.0, share as f32);
            }
        }
    }
}
