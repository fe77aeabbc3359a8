//! Bones that do not share a joint: flesh of one that has got into another's is put back to where its distance from both,
//! over the radius of each, is the same. Raw distances would give a belly's skin to the arm that rests on it.
//!
//! All limbs are looked at in the same place before any is moved: pairs cost nothing where balls around a few points
//! each, in the pose, do not come near the other's bone.

use super::kernel::{
    ALONG, AROUND, Balls, Beside, BesideKernel, Bone, Cell, Cells, MeetKernel, Own, PER_TURN, ROW as CLUSTER,
    Radii, SLACK, Sink, Sunk, diamond,
};
use super::{Overlap, OverlapState};
use crate::asset::Character;
use crate::parallel;
use crate::skin::mesh::{Mesh, Rows, smooth};
use crate::skin::volume::Hold;
use glam::{DAffine3, DMat3, DVec3, Mat3, Vec3, Vec4};
use std::ops::{Range, RangeInclusive};

/// Fewer points than this are no limb.
const LEAST_POINTS: usize = 24;
/// How far off its radii a limb's skin may lie, over those, by the root of its mean square: flesh that has armour over it, or a
/// skin of a few large triangles, is not where they say, and what is parted from it gets in the way of something else.
const ROUGH: f64 = 0.15;
/// Flesh that is nearer than this at rest, in radii, belongs there.
const APART: [f32; 2] = [0.1, 0.4];
/// The most that flesh is moved by, over its own distance from its bone.
const MOST: f32 = 0.5;
/// And over the other's radius: in a thick limb a thin one leaves a dent as deep as it is thick, not a hole.
const DENT: f32 = 2.0;
/// Flesh that is moved by this, over the same, is held where it is for the volume's sake.
const HELD: f32 = 0.1;
/// Clusters that are looked at side by side before what they found is taken in.
const BATCH: usize = 512;
/// Clusters a task, and rows of balls, and limbs.
const TASK: usize = 8;
const BALLS: usize = 4;
/// Rounding when points are passed over for where they are in the flesh, in squared distances.
const DEEPER: f32 = 1.002;
/// Weight on the other bone from which on flesh is blended, not in contact.
const SHARED: f32 = 0.02;

/// A joint's bone with its flesh, at rest.
struct Limb {
    slot: u16,
    joint: u32,
    start: Vec3,
    end: Vec3,
    /// From start to end, over its squared length.
    along: Vec3,
    /// Square to the bone, and to each other.
    axes: [Vec3; 2],
    radii: [[f32; AROUND]; ALONG],
    /// The largest radius, and that between each station and the next.
    most: f32,
    most_along: [f32; ALONG - 1],
    /// The largest between each station and direction and the next ones.
    most_around: Cells,
    /// Squares of those, with room for rounding.
    reaches: Cells,
    /// One over the length of the bone.
    per_length: f32,
    mean_along: [f32; ALONG],
    points: Vec<Flesh>,
    /// Of its points, in rows of [`CLUSTER`], among all limbs' clusters; and of the rows of as many balls around those.
    first_cluster: u32,
    first_balls: u32,
    /// Against which others, among all limbs' sides.
    sides: Range<usize>,
}

/// A point of a limb.
#[derive(Debug, Clone, Copy)]
struct Flesh {
    point: u32,
    vertex: u32,
    weight: f32,
    /// Distance from the bone at rest.
    radius: f32,
}

/// One limb's flesh that may get into another.
struct Side {
    own: u32,
    other: u32,
    /// Which points of each of its clusters are not grown together with the other at rest, and which clusters have any, by
    /// rows.
    apart: Vec<u32>,
    any: Vec<u32>,
    /// Which of those are far from the other at rest: all of their own weight counts.
    far: Vec<u32>,
}

pub(super) struct Limbs {
    limbs: Vec<Limb>,
    sides: Vec<Side>,
    /// The vertices of each cluster; the last one's again where it is not full.
    clusters: Vec<[u32; CLUSTER]>,
    /// And their distances from the bone at rest; one over the squares of those.
    from_bones: Vec<[f32; CLUSTER]>,
    per_squares: Vec<[f32; CLUSTER]>,
    /// The first cluster of each row of balls, and how many there are.
    balls: Vec<(u32, u32)>,
    /// Distance from its limb's bone at rest, per point.
    radii: Vec<f32>,
}

/// A side, and a cluster and points of it.
type Near = (u32, (u32, u32));

/// A limb in a pose.
#[derive(Debug, Clone, Copy)]
struct Posed {
    place: Mat3,
    /// To its rest.
    back: Mat3,
    back_by: Vec3,
    bone: [Vec3; 2],
    /// A ball around it.
    middle: Vec3,
    half: f32,
    /// From its start to its end, over the squared length.
    along: Vec3,
    /// How much larger things are at rest, and in the pose.
    shrinks: f32,
    grows: f32,
    /// How far from the bone its flesh is.
    reach: f32,
}

#[derive(Clone, Default)]
pub(super) struct LimbState {
    posed: Vec<Option<Posed>>,
    balls: Vec<Balls>,
    /// Sides with clusters that are near enough to be looked at, and points of them.
    near: Vec<Near>,
    /// The same by the limb whose clusters they are.
    near_of: Vec<Vec<Near>>,
    pub(super) holds: Vec<Hold>,
    found: Vec<Found>,
}

/// Which points of a cluster are to be moved, and how.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    moving: u32,
    moves: [Vec3; CLUSTER],
}

impl Limb {
    /// The nearest place on the bone, and how far along it that is.
    fn on(&self, at: Vec3) -> (Vec3, f32) {
        let along = (at - self.start).dot(self.along).clamp(0.0, 1.0);
        (self.start + (self.end - self.start) * along, along)
    }

    fn at_rest(&self) -> Bone {
        self.bone(Mat3::IDENTITY, Vec3::ZERO)
    }

    /// In a place from which one comes back to its rest so.
    fn bone(&self, back: Mat3, back_by: Vec3) -> Bone {
        Bone {
            back,
            back_by,
            start: self.start,
            way: self.end - self.start,
            along: self.along,
            axes: self.axes,
        }
    }

    /// Which of some balls come near the limb's flesh.
    fn met(&self, meet: MeetKernel, posed: &Posed, balls: &Balls, asked: u32) -> u32 {
        let mut beside = Beside::NONE;
        let reach = [self.most, posed.shrinks];
        // SAFETY: the path was found available.
        let mut left =
            unsafe { meet(&self.bone(posed.back, posed.back_by), reach, balls, &mut beside) } & asked;
        let mut near = 0;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let radius = balls.radii[lane] * posed.shrinks;
            let share = radius * self.per_length;
            let rows = row_at(beside.along[lane] - share)..=row_at(beside.along[lane] + share);
            let reach = SLACK * (self.most_facing(rows, beside.turns[lane], beside.others[lane]) + radius);
            near |= u32::from(beside.squares[lane] < reach * reach) << lane;
        }
        near
    }

    /// Which of some points of a cluster are in the flesh of the bone, and deeper in it than in their own; rounding aside,
    /// which here is not that of `ratio`.
    fn reached(
        &self,
        beside: BesideKernel,
        posed: &Posed,
        (asked, own): (u32, &Own<'_>),
        vertices: &[u32; CLUSTER],
        positions: &[Vec3],
    ) -> u32 {
        let bone = self.bone(posed.back, posed.back_by);
        let mut found = Beside::NONE;
        // SAFETY: the path was found available.
        let mut left = asked & unsafe { beside(&bone, own, &self.reaches, vertices, positions, &mut found) };
        let mut near = 0;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let cell = Cell::new(found.along[lane], found.turns[lane]);
            // Between those two, whatever the direction.
            let radius = cell.of(&self.radii).max(cell.mean(&self.mean_along));
            let reach = DEEPER * radius * radius * found.others[lane].min(1.0);
            near |= u32::from(found.squares[lane] <= reach) << lane;
        }
        near
    }

    /// Distance of a place at rest from the bone over the flesh's radius there.
    fn ratio(&self, at: Vec3) -> f32 {
        self.radii().there(&self.at_rest(), at.to_array()).ratio
    }

    fn radii(&self) -> Radii<'_> {
        Radii { around: &self.radii, means: &self.mean_along }
    }

    /// The largest radius of flesh between stations, as far to both sides of a direction.
    fn most_facing(&self, rows: RangeInclusive<usize>, turn: f32, width: f32) -> f32 {
        let rows = &self.most_around[rows];
        // False, too, where that is not a number.
        let is_narrow = width < 0.25 * AROUND as f32;
        if !is_narrow {
            return rows.as_flattened().iter().copied().fold(0.0, f32::max);
        }
        let first = (turn - width + AROUND as f32) as usize;
        let last = (turn + width + AROUND as f32) as usize;
        let cells = (first..=last).map(|c| c % AROUND);
        cells.flat_map(|c| rows.iter().map(move |row| row[c])).fold(0.0, f32::max)
    }
}

/// The station before a place along a bone.
fn row_at(along: f32) -> usize {
    ((along.clamp(0.0, 1.0) * (ALONG - 1) as f32) as usize).min(ALONG - 2)
}

/// The squared distance between two segments.
fn between([a, b]: [Vec3; 2], [c, d]: [Vec3; 2]) -> f32 {
    let (u, v, w) = (b - a, d - c, a - c);
    let (uu, uv, vv) = (u.length_squared(), u.dot(v), v.length_squared());
    let (uw, vw) = (u.dot(w), v.dot(w));
    let whole = uu * vv - uv * uv;
    let s = if whole > 1e-6 * uu * vv { ((uv * vw - vv * uw) / whole).clamp(0.0, 1.0) } else { 0.0 };
    let t = if vv > 0.0 { ((uv * s + vw) / vv).clamp(0.0, 1.0) } else { 0.0 };
    let s = if uu > 0.0 { ((uv * t - uw) / uu).clamp(0.0, 1.0) } else { 0.0 };
    (w + u * s - v * t).length_squared()
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
        let (mut limbs, mut clusters, mut balls) = (Vec::new(), Vec::new(), Vec::new());
        let (mut from_bones, mut per_squares) = (Vec::new(), Vec::new());
        for (joint, points) in points_of.into_iter().enumerate() {
            let slot = character.slots().iter().position(|s| s.joint as usize == joint);
            let own = bones.iter().filter(|b| b.joint as usize == joint);
            let bone = own.max_by(|a, b| a.start.distance(a.end).total_cmp(&b.start.distance(b.end)));
            let (Some(slot), Some(bone)) = (slot, bone) else { continue };
            if points.len() < LEAST_POINTS {
                continue;
            }
            if let Some(mut limb) = limb(mesh, slot as u16, joint as u32, [bone.start, bone.end], &points) {
                (limb.first_cluster, limb.first_balls) = (clusters.len() as u32, balls.len() as u32);
                let flesh = |points: &[Flesh], k: usize| points[k.min(points.len() - 1)];
                let rows = || limb.points.chunks(CLUSTER);
                clusters.extend(rows().map(|points| std::array::from_fn(|k| flesh(points, k).vertex)));
                let per_square = |radius: f32| if radius > 0.0 { (radius * radius).recip() } else { 0.0 };
                from_bones.extend(rows().map(|p| std::array::from_fn(|k| flesh(p, k).radius)));
                per_squares.extend(rows().map(|p| std::array::from_fn(|k| per_square(flesh(p, k).radius))));
                let first = (limb.first_cluster..clusters.len() as u32).step_by(CLUSTER);
                balls.extend(first.map(|k| (k, (clusters.len() as u32 - k).min(CLUSTER as u32))));
                limbs.push(limb);
            }
        }
        let mut radii = vec![f32::INFINITY; mesh.len()];
        limbs.iter().flat_map(|l| &l.points).for_each(|flesh| radii[flesh.point as usize] = flesh.radius);
        let mut limbs = Self { limbs, sides: Vec::new(), clusters, from_bones, per_squares, balls, radii };
        limbs.find_sides(character, mesh);
        limbs
    }

    /// Pairs of limbs that share no joint, with the flesh of each that may get into the other.
    fn find_sides(&mut self, character: &Character, mesh: &Mesh) {
        let Self { limbs, sides, .. } = self;
        let mut ranges = Vec::with_capacity(limbs.len());
        let joints = character.skeleton().joints();
        let parent = |joint: u32| joints[joint as usize].parent;
        for (own, a) in limbs.iter().enumerate() {
            let first = sides.len();
            for (other, b) in limbs.iter().enumerate().filter(|(other, _)| *other != own) {
                let [ja, jb] = [a.joint, b.joint];
                // Parent and child, and children of one joint: the plane rule's, or grown together.
                let shares = parent(ja) == Some(jb) || parent(jb) == Some(ja);
                if shares || (parent(ja).is_some() && parent(ja) == parent(jb) && limbs.len() > 64) {
                    continue;
                }
                let fades = |points: &[Flesh]| {
                    let mut bits = [0; 2];
                    for (k, flesh) in points.iter().enumerate() {
                        let fade = b.fade(mesh, flesh);
                        bits[0] |= u32::from(fade > 0.0) << k;
                        bits[1] |= u32::from(fade == flesh.weight) << k;
                    }
                    (bits[0], bits[1])
                };
                let (apart, far): (Vec<u32>, Vec<u32>) = a.points.chunks(CLUSTER).map(fades).unzip();
                let bit = |(k, apart): (usize, &u32)| u32::from(*apart != 0) << k;
                let any = |apart: &[u32]| apart.iter().enumerate().map(bit).sum();
                let any: Vec<u32> = apart.chunks(CLUSTER).map(any).collect();
                if any.iter().any(|&any| any != 0) {
                    sides.push(Side { own: own as u32, other: other as u32, apart, any, far });
                }
            }
            ranges.push(first..sides.len());
        }
        limbs.iter_mut().zip(ranges).for_each(|(limb, range)| limb.sides = range);
    }

    pub(super) fn state(&self, points: usize) -> LimbState {
        let clusters = |sides: &[Side]| sides.iter().map(|s| s.apart.len()).sum();
        let most: usize = clusters(&self.sides);
        LimbState {
            posed: vec![None; self.limbs.len()],
            balls: vec![Balls::NONE; self.balls.len()],
            near: Vec::with_capacity(most),
            near_of: self
                .limbs
                .iter()
                .map(|limb| Vec::with_capacity(clusters(&self.sides[limb.sides.clone()])))
                .collect(),
            found: vec![Found::default(); BATCH.min(most)],
            holds: Vec::with_capacity(points),
        }
    }
}

impl Limb {
    /// How far off its radii its skin lies at rest, over those, by the root of its mean square.
    fn roughness(&self, mesh: &Mesh) -> f64 {
        let (sum, area) = self.points.iter().fold((0.0, 0.0), |(sum, area), flesh| {
            let rest = mesh.points[flesh.point as usize].as_vec3();
            let off = f64::from(self.ratio(rest)) - 1.0;
            let own = mesh.areas[flesh.point as usize];
            (sum + off * off * own, area + own)
        });
        (sum / area).sqrt()
    }

    /// How much of another limb's flesh may be parted from this one: none of what is grown together with it.
    fn fade(&self, mesh: &Mesh, flesh: &Flesh) -> f32 {
        let weights = mesh.weights(flesh.point as usize).iter();
        let shared: f32 = weights.filter(|w| w.0 == self.slot).map(|w| w.1).sum();
        if shared > SHARED {
            return 0.0;
        }
        let rest = mesh.points[flesh.point as usize].as_vec3();
        let apart = self.ratio(rest) - 1.0;
        smooth((apart - APART[0]) / (APART[1] - APART[0])) * flesh.weight
    }
}

fn limb(mesh: &Mesh, slot: u16, joint: u32, [start, end]: [DVec3; 2], points: &[(u32, f32)]) -> Option<Limb> {
    let way = (end - start).try_normalize()?;
    let side = way.any_orthonormal_vector();
    let mut limb = Limb {
        slot,
        joint,
        start: start.as_vec3(),
        end: end.as_vec3(),
        along: ((end - start) / (end - start).length_squared()).as_vec3(),
        axes: [side, way.cross(side)].map(|a| a.as_vec3()),
        radii: [[0.0; AROUND]; ALONG],
        most: 0.0,
        most_along: [0.0; ALONG - 1],
        most_around: [[0.0; AROUND]; ALONG - 1],
        reaches: [[0.0; AROUND]; ALONG - 1],
        per_length: (end - start).length().recip() as f32,
        mean_along: [0.0; ALONG],
        points: Vec::with_capacity(points.len()),
        first_cluster: 0,
        first_balls: 0,
        sides: 0..0,
    };
    // Mean distances, point by point.
    let mut sums = vec![(0.0, 0.0); ALONG * AROUND];
    let mut all = (0.0, 0.0);
    let mut places = Vec::with_capacity(points.len());
    for &(point, weight) in points {
        let at = mesh.points[point as usize].as_vec3();
        let (on, along) = limb.on(at);
        let off = at - on;
        let row = (along * (ALONG - 1) as f32 + 0.5) as usize;
        let turn = diamond(off.dot(limb.axes[0]), off.dot(limb.axes[1])) * PER_TURN;
        let cell = row.min(ALONG - 1) * AROUND + (turn + 0.5) as usize % AROUND;
        let (distance, area) = (f64::from(off.length()), mesh.areas[point as usize]);
        sums[cell] = (sums[cell].0 + distance * area, sums[cell].1 + area);
        all = (all.0 + distance * area, all.1 + area);
        let vertex = mesh.vertex_of_point[point as usize];
        places.push((at, Flesh { point, vertex, weight, radius: off.length() }));
    }
    let mean = all.0 / all.1;
    if !(mean > 0.0 && mean.is_finite()) {
        return None;
    }
    gather(&mut places);
    limb.points.extend(places.iter().map(|p| p.1));
    // Empty cells belong to what other bones move: nothing is known of flesh there, so there is none.
    for (radius, (sum, area)) in limb.radii.as_flattened_mut().iter_mut().zip(&sums) {
        *radius = if *area > 0.0 { (sum / area) as f32 } else { (0.3 * mean) as f32 };
    }
    let most = |radii: &[f32]| radii.iter().copied().fold(0.0, f32::max);
    limb.most = most(limb.radii.as_flattened());
    for (row, mean) in limb.radii.iter().zip(&mut limb.mean_along) {
        *mean = row.iter().sum::<f32>() / AROUND as f32;
    }
    for row in 0..ALONG - 1 {
        let means = &limb.mean_along[row..row + 2];
        limb.most_along[row] = most(limb.radii[row..row + 2].as_flattened());
        for (c, around) in limb.most_around[row].iter_mut().enumerate() {
            let next = (c + 1) % AROUND;
            // Means, too: beyond an end they stand for all directions.
            let corners =
                [(row, c), (row, next), (row + 1, c), (row + 1, next)].map(|(row, c)| limb.radii[row][c]);
            *around = most(&corners).max(most(means));
            limb.reaches[row][c] = DEEPER * (SLACK * *around) * (SLACK * *around);
        }
    }
    (limb.roughness(mesh) <= ROUGH).then_some(limb)
}

/// Points that lie together come together, a cluster after the other: halved across where they lie farthest apart.
fn gather(points: &mut [(Vec3, Flesh)]) {
    if points.len() <= CLUSTER {
        return;
    }
    let low = points.iter().fold(Vec3::INFINITY, |low, p| low.min(p.0));
    let high = points.iter().fold(Vec3::NEG_INFINITY, |high, p| high.max(p.0));
    let axis = (high - low).max_position();
    points.sort_by(|(a, p), (b, q)| a[axis].total_cmp(&b[axis]).then(p.point.cmp(&q.point)));
    let (before, after) = points.split_at_mut((points.len() / 2).next_multiple_of(CLUSTER));
    gather(before);
    gather(after);
}

impl Posed {
    fn new(limb: &Limb, place: &DAffine3, balls: impl Iterator<Item = (Vec3, f32)>) -> Option<Self> {
        let back = place.inverse();
        let largest = |m: &DMat3| m.x_axis.length().max(m.y_axis.length()).max(m.z_axis.length()) as f32;
        let bone = [limb.start, limb.end].map(|p| place.transform_point3(p.as_dvec3()).as_vec3());
        let way = bone[1] - bone[0];
        let square = way.length_squared();
        let mut posed = Self {
            place: place.matrix3.as_mat3(),
            back: back.matrix3.as_mat3(),
            back_by: back.translation.as_vec3(),
            bone,
            middle: 0.5 * (bone[0] + bone[1]),
            half: 0.5 * SLACK * way.length(),
            along: if square > 0.0 { way / square } else { Vec3::ZERO },
            shrinks: largest(&back.matrix3),
            grows: largest(&place.matrix3),
            reach: 0.0,
        };
        for (center, radius) in balls {
            posed.reach = posed.reach.max(posed.on(center).distance(center) + radius);
        }
        (place.is_finite() && back.is_finite() && posed.reach.is_finite()).then_some(posed)
    }

    fn own<'a>(&self, per_squares: &'a [f32; CLUSTER]) -> Own<'a> {
        let [start, end] = self.bone;
        Own { start, way: end - start, along: self.along, per_squares }
    }

    fn on(&self, at: Vec3) -> Vec3 {
        let [start, end] = self.bone;
        start + (end - start) * (at - start).dot(self.along).clamp(0.0, 1.0)
    }
}

impl Overlap {
    /// Parts limbs that have got into each other.
    pub(super) fn part_limbs(&self, known: &Limbs, state: &mut OverlapState, positions: &mut [Vec3]) {
        let Limbs { limbs, sides, .. } = known;
        known.place(state, positions);
        known.find_near(self.kernels.meet, &mut state.limbs);
        let near = std::mem::take(&mut state.limbs.near);
        for near in near.chunks(BATCH) {
            let LimbState { posed, found, .. } = &mut state.limbs;
            let place: &[Vec3] = positions;
            parallel::for_each_uneven(&mut found[..near.len()], TASK, |task, found| {
                for (found, &(side, cluster)) in found.iter_mut().zip(&near[task * TASK..]) {
                    known.look_at(self, &sides[side as usize], cluster, posed, place, found);
                }
            });
            for (k, &(side, (cluster, _))) in near.iter().enumerate() {
                let points = &limbs[sides[side as usize].own as usize].points[cluster as usize * CLUSTER..];
                let mut left = state.limbs.found[k].moving;
                while left != 0 {
                    let lane = left.trailing_zeros() as usize;
                    left &= left - 1;
                    state.push(points[lane].point, state.limbs.found[k].moves[lane]);
                }
            }
        }
        state.limbs.near = near;
        for &point in &state.moving {
            let hold = state.moved[point as usize].length() / (HELD * known.radii[point as usize]);
            let vertex = self.mesh.vertex_of_point[point as usize];
            state.limbs.holds.push(Hold { vertex, share: hold.min(1.0) });
        }
        state.apply(&self.mesh, positions);
    }
}

impl Limbs {
    /// Where limbs are.
    fn place(&self, state: &mut OverlapState, positions: &[Vec3]) {
        let LimbState { posed, balls, .. } = &mut state.limbs;
        let rows = Rows::new(positions);
        parallel::for_each_chunk_mut(balls, BALLS, |chunk, balls| {
            for (balls, &(first, count)) in balls.iter_mut().zip(&self.balls[chunk * BALLS..]) {
                for (lane, vertices) in self.clusters[first as usize..][..count as usize].iter().enumerate() {
                    // Four at a time, which need not wait for each other.
                    let (mut lows, mut highs) = ([Vec4::INFINITY; 4], [Vec4::NEG_INFINITY; 4]);
                    for vertices in vertices.as_chunks::<4>().0 {
                        for (k, &vertex) in vertices.iter().enumerate() {
                            let at = rows.of(vertex);
                            (lows[k], highs[k]) = (lows[k].min(at), highs[k].max(at));
                        }
                    }
                    let low = lows[0].min(lows[1]).min(lows[2].min(lows[3])).truncate();
                    let high = highs[0].max(highs[1]).max(highs[2].max(highs[3])).truncate();
                    let center = 0.5 * (low + high);
                    (0..3).for_each(|i| balls.centers[i][lane] = center[i]);
                    balls.radii[lane] = 0.5 * low.distance(high);
                }
            }
        });
        let (balls, places) = (&*balls, &state.posed);
        parallel::for_each_chunk_mut(posed, BALLS, |chunk, posed| {
            for (posed, limb) in posed.iter_mut().zip(&self.limbs[chunk * BALLS..]) {
                let clusters = 0..limb.points.len().div_ceil(CLUSTER);
                let ball = |k: usize| balls[limb.first_balls as usize + k / CLUSTER].get(k % CLUSTER);
                *posed = Posed::new(limb, &places[limb.slot as usize], clusters.map(ball));
            }
        });
    }

    /// Which clusters are to be looked at.
    fn find_near(&self, meet: MeetKernel, state: &mut LimbState) {
        let LimbState { posed, balls, near_of, near, holds, .. } = state;
        let (posed, balls) = (&*posed, &*balls);
        parallel::for_each_uneven(near_of, 1, |own, near| {
            let near = &mut near[0];
            near.clear();
            let (own, Some(own_posed)) = (&self.limbs[own], &posed[own]) else { return };
            for index in own.sides.clone() {
                let side = &self.sides[index];
                let (other, Some(posed)) = (&self.limbs[side.other as usize], &posed[side.other as usize])
                else {
                    continue;
                };
                let reach = own_posed.reach + posed.grows * other.most;
                let far = reach + own_posed.half + posed.half;
                if own_posed.middle.distance_squared(posed.middle) < far * far
                    && between(own_posed.bone, posed.bone) < reach * reach
                {
                    let rows = &balls[own.first_balls as usize..];
                    let any = side.any.iter().zip(0..).filter(|(any, _)| **any != 0);
                    for (&any, row) in any {
                        let mut left = other.met(meet, posed, &rows[row as usize], any);
                        while left != 0 {
                            let cluster = row * CLUSTER as u32 + left.trailing_zeros();
                            left &= left - 1;
                            near.push((index as u32, (cluster, side.apart[cluster as usize])));
                        }
                    }
                }
            }
        });
        near.clear();
        near_of.iter().for_each(|own| near.extend(own));
        holds.clear();
    }

    /// How flesh of a cluster is to be moved.
    fn look_at(
        &self,
        Overlap { mesh, kernels, .. }: &Overlap,
        side: &Side,
        (cluster, apart): (u32, u32),
        posed: &[Option<Posed>],
        positions: &[Vec3],
        found: &mut Found,
    ) {
        found.moving = 0;
        let limbs = &self.limbs;
        let (own, other) = (&limbs[side.own as usize], &limbs[side.other as usize]);
        let (Some(own_posed), Some(posed)) = (&posed[side.own as usize], &posed[side.other as usize]) else {
            return;
        };
        let points = &own.points[cluster as usize * CLUSTER..];
        let index = (own.first_cluster + cluster) as usize;
        let of_own = own_posed.own(&self.per_squares[index]);
        let vertices = &self.clusters[index];
        let mut left = other.reached(kernels.beside, posed, (apart, &of_own), vertices, positions);
        if left == 0 {
            return;
        }
        let job = Sink {
            bone: other.bone(posed.back, posed.back_by),
            radii: other.radii(),
            place: posed.place,
            dent: DENT * posed.grows,
            most: MOST,
            own: of_own,
            from_own: &self.from_bones[index],
        };
        let mut sunk = Sunk::NONE;
        // SAFETY: the path was found available.
        unsafe { (kernels.sink)(&job, left, vertices, positions, &mut sunk) };
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let (moved, most) = (Vec3::from(sunk.moves.map(|numbers| numbers[lane])), sunk.most[lane]);
            if moved != Vec3::ZERO {
                let is_far = side.far[cluster as usize] >> lane & 1 == 1;
                let flesh = &points[lane];
                let moved = moved * if is_far { flesh.weight } else { other.fade(mesh, flesh) };
                found.moving |= 1 << lane;
                found.moves[lane] = moved * (most / moved.length().max(most));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel::kernels;
    use super::*;
    use crate::simd::Path;
    use crate::zoo;

    /// Flesh inside a limb is never passed over, point by point or in balls, nor flesh that is deeper in it than in its own;
    /// most balls that are beside it are, and most points that are deeper in their own.
    #[test]
    fn nothing_inside_is_passed_over() {
        let character = zoo::character("hand", None).unwrap();
        let limbs = Limbs::new(&character, &Mesh::new(&character)).limbs;
        let kernels = kernels(Path::Scalar);
        let mut seed = 1u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / (1 << 24) as f32
        };
        let (mut inside, mut beside, mut left) = (0, 0, 0);
        let (mut reaching, mut passed) = (0, 0);
        for limb in &limbs {
            let posed = Posed::new(limb, &DAffine3::IDENTITY, std::iter::empty()).unwrap();
            for _ in 0..1000 {
                let on = limb.start + (limb.end - limb.start) * (1.4 * random() - 0.2);
                let [x, y] = [0, 1].map(|i| limb.axes[i] * (limb.most * (3.0 * random() - 1.5)));
                let (center, radius) = (on + x + y, 0.5 * limb.most * random());
                let mut aside = || radius * 0.57 * (2.0 * random() - 1.0);
                let points: [Vec3; CLUSTER] =
                    std::array::from_fn(|_| center + Vec3::new(aside(), aside(), aside()));
                let ratio = |at: &Vec3| limb.ratio(*at);
                let within: u32 =
                    points.iter().enumerate().map(|(k, p)| u32::from(ratio(p) < 1.0) << k).sum();
                let vertices = std::array::from_fn(|k| k as u32);
                let reached = |per_square: f32| {
                    let per_squares = [per_square; CLUSTER];
                    let own = Own {
                        start: center + radius,
                        way: Vec3::ZERO,
                        along: Vec3::ZERO,
                        per_squares: &per_squares,
                    };
                    limb.reached(kernels.beside, &posed, (u32::MAX, &own), &vertices, &points)
                };
                assert_eq!(within & !reached(f32::MAX), 0, "{center} {radius}");
                // Of a bone that is a point, at such a distance.
                let own_radius = radius * (0.5 + 4.0 * random());
                let reached = reached((own_radius * own_radius).recip());
                for (lane, point) in points.iter().enumerate().filter(|(lane, _)| within >> lane & 1 == 1) {
                    let lacks = point.distance(center + radius) / own_radius - ratio(point);
                    assert!(lacks <= 0.0 || reached >> lane & 1 == 1, "{point} {own_radius}");
                    reaching += u32::from(lacks <= 0.0);
                    passed += u32::from(lacks <= 0.0 && reached >> lane & 1 == 0);
                }
                let mut balls = Balls::NONE;
                (0..3).for_each(|i| balls.centers[i][3] = center[i]);
                balls.radii[3] = radius;
                let is_met = limb.met(kernels.meet, &posed, &balls, 1 << 3) != 0;
                assert!(is_met || within == 0, "{center} {radius}");
                inside += within.count_ones();
                beside += u32::from(within == 0);
                left += u32::from(!is_met);
            }
        }
        assert!(inside > 1000 && left > beside / 2, "{inside} {left} of {beside}");
        assert!(reaching > 1000 && passed > reaching / 2, "{passed} of {reaching}");
    }

    /// Flesh in another's is brought to where it is as deep in either, and one by one to the same bits as side by side, on
    /// every path.
    #[test]
    fn flesh_comes_out_the_same_one_by_one() {
        let character = zoo::character("hand", None).unwrap();
        let limbs = Limbs::new(&character, &Mesh::new(&character)).limbs;
        let limb = &limbs[limbs.len() / 2];
        let middle = 0.5 * (limb.start + limb.end);
        // Beside the bone, each a little farther out; their own bone is beyond, and they reach from there past this one.
        let points: [Vec3; CLUSTER] =
            std::array::from_fn(|k| middle + limb.axes[0] * (limb.most * (0.2 + 0.02 * k as f32)));
        let own = middle + limb.axes[0] * (3.0 * limb.most);
        let from_own = [3.0 * limb.most; CLUSTER];
        let per_squares = from_own.map(|r| (r * r).recip());
        let vertices = std::array::from_fn(|k| k as u32);
        let run = |path: Path, asked: u32| {
            let job = Sink {
                bone: limb.at_rest(),
                radii: limb.radii(),
                place: Mat3::IDENTITY,
                dent: DENT,
                most: MOST,
                own: Own { start: own, way: Vec3::ZERO, along: Vec3::ZERO, per_squares: &per_squares },
                from_own: &from_own,
            };
            let mut sunk = Sunk::NONE;
            // SAFETY: only available paths are asked for.
            unsafe { (kernels(path).sink)(&job, asked, &vertices, &points, &mut sunk) };
            sunk
        };
        let lacks = |at: Vec3| at.distance(own) / from_own[0] - limb.ratio(at);
        let all = run(Path::Scalar, u32::MAX);
        let mut moved = 0;
        for lane in 0..CLUSTER {
            let by = Vec3::from(all.moves.map(|numbers| numbers[lane]));
            let (before, after) = (lacks(points[lane]), lacks(points[lane] + by));
            assert!(before <= 0.0 && by == Vec3::ZERO || after < 0.5 * before, "{lane}: {before} {after}");
            moved += u32::from(by != Vec3::ZERO);
            for path in Path::available() {
                for asked in [u32::MAX, 1 << lane, (1 << lane) | 1] {
                    let sunk = run(path, asked);
                    let same = (0..3).all(|i| sunk.moves[i][lane].to_bits() == all.moves[i][lane].to_bits());
                    assert!(same && sunk.most[lane].to_bits() == all.most[lane].to_bits(), "{path} {lane}");
                }
            }
        }
        assert!(moved > 8, "{moved}");
    }
}
