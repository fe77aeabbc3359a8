//! Bones that share a joint: where a limb is bent so far that its two halves pass through each other, a plane parts them.
//!
//! The plane goes through the posed joint and contains the axis of the bend, tilted so that distances from its points to the
//! two bones are as the limbs' radii. What lies inside the bend and on the wrong side is put back to its own, with a small
//! gap, evened out over the skin and put back again, a few times.

use super::kernel::{Kernels, Members, Plane, ROW, Scan, Scanned, Side};
use super::{Overlap, OverlapState};
use crate::asset::{Bone, Character};
use crate::parallel;
use crate::skin::mesh::{Mesh, Rows, on_segment, smooth, smooth_step};
use crate::skin::volume::{Giver, Giving, Hold};
use glam::{DAffine3, DVec3, Vec3, Vec3A, Vec4};
use std::cmp::Reverse;

/// Degrees by which a joint is closed, against rest, from which on anything is done, and at which all is.
const CLOSED: [f64; 2] = [10.0, 30.0];
/// Degrees between the bones above which there is no inside of the bend.
const OPEN: [f64; 2] = [165.0, 145.0];
/// How much of the bend there must be for each degree of twist, from which on anything is done, and at which all is: skin that
/// is wound about a limb passes the plane without passing through itself.
const TWISTED: [f64; 2] = [0.25, 0.5];
/// How deep flesh must have passed the plane, over the radius, from which on anything is done, and at which all is: less than
/// not at all, for what comes fast is slowed down before it meets.
const DEEP: [f32; 2] = [-0.08, 0.0];
/// How far the plane goes to where the skin is of both bones alike, at most, over the radius; and how many members of both
/// are too few to tell.
const SHIFT: f32 = 0.25;
const FEW: f32 = 0.1;
/// Over which part of the radius the repair fades in from the joint inwards.
const INNER: f32 = 0.06;
/// The gap that is left, over the radius; less where both bones have their say.
const GAP: f32 = 0.03;
/// How far on its own side of that flesh is slowed down, over the radius.
const SOFT: f32 = 0.12;
/// Skin this near to the plane, over the radius, is in contact: less and less of it is moved for the volume's sake.
const CONTACT: f32 = 0.6;
const NEAR: f32 = GAP + CONTACT + SHIFT;
/// How much the flesh beside the contact gives way, against that of the joint.
const GIVE: f32 = 0.5;
/// Over how many radii beyond the contact it still does.
const BESIDE: f32 = 3.0;
/// The weight from which on a member is moved by one bone alone.
const RIGID: f32 = 0.98;
const ROUNDS: usize = 5;
/// How much of the way to the middle of its neighbours a point goes in each, and how far it must have been moved for that,
/// over the radius.
const EVEN: f32 = 0.75;
const EVENED: f32 = 0.1;
/// Flesh that hangs on the two bones: distance over radius up to which it counts wholly, and at all.
const OWN: [f64; 2] = [2.2, 3.0];
/// Bones of this length, over the radius, up to which nothing is done, and from which on all is: which way a bone goes that
/// is shorter than the flesh around it is thick says nothing of how that lies.
const SHORT: [f64; 2] = [0.45, 0.75];
/// How far along the bones flesh can meet, in radii.
const REACH: f64 = 7.0;

/// Two bones and the flesh on them, at rest.
pub(super) struct Hinge {
    /// Of the parent's bone and of the child's.
    slots: [u16; 2],
    joint: DVec3,
    /// From the joint along both.
    ways: [DVec3; 2],
    radii: [f64; 2],
    /// Degrees between the bones.
    rest: f64,
    /// Nearest to the joint first.
    members: Vec<Member>,
    around: Around,
    rows: Vec<Row>,
}

/// Points a group: there are seldom more around a point.
const GROUP: usize = 8;

/// Who is beside each member, in groups that are filled up: no loop over them ends early.
#[derive(Default)]
struct Around {
    /// The first group of each member; one more at the end.
    starts: Vec<u32>,
    /// Members, then others; one more than there are fills up.
    groups: Vec<[u32; GROUP]>,
    /// Their vertices; the member's own fills up.
    vertices: Vec<[u32; GROUP]>,
    /// One over how many they are; none where there are none.
    per_neighbour: Vec<f32>,
    /// Members and others.
    count: usize,
}

impl Around {
    fn of(&self, member: u32) -> impl ExactSizeIterator<Item = (&[u32; GROUP], &[u32; GROUP])> {
        let range = self.starts[member as usize] as usize..self.starts[member as usize + 1] as usize;
        self.groups[range.clone()].iter().zip(&self.vertices[range])
    }
}

/// [`ROW`] members.
struct Row {
    members: Members,
    /// How far along its bone the nearest is, and how far from it the farthest, in radii.
    along: f32,
    off: f32,
}

impl Row {
    /// Whether any of it can be near the plane.
    fn passes(&self, fold: &Fold) -> bool {
        // `along sin(a) - off cos(a) < NEAR` with `1 / tan(a)` the contact.
        let contact = fold.steepest;
        self.along < NEAR * (1.0 + contact * contact).sqrt() + self.off * contact
    }
}

#[derive(Debug, Clone, Copy)]
struct Member {
    point: u32,
    vertex: u32,
    /// `2 W - 1`: from -1 for the parent's alone to 1 for the child's.
    side: f32,
    fade: f32,
    /// Radii from the joint.
    from: f32,
}

/// A hinge in a frame.
#[derive(Clone)]
pub(super) struct Folded {
    fold: Fold,
    /// Rows with members near the plane, and those members that are past it.
    near: Vec<Near>,
    parted: Vec<Parted>,
    /// How far each of the latter is moved, from [`FIRST`] on, and the same in the next round: before that what stays.
    moved: Vec<Vec3A>,
    smoothed: Vec<Vec3A>,
    /// For each of [`Around`] where it is among those, else [`STAYS`].
    moved_of: Vec<u32>,
    /// The same for those beside each of them, group after group.
    beside: Vec<[u32; GROUP]>,
    pub(super) holds: Vec<Hold>,
}

/// What is not past the plane.
const STAYS: u32 = 0;
const FIRST: usize = 1;

/// Members of a row that are near the plane.
#[derive(Clone)]
struct Near {
    row: u32,
    /// Which of them are, and which are past it.
    near: u32,
    parted: u32,
    side: Side,
}

/// A member past the plane.
#[derive(Clone)]
struct Parted {
    index: u32,
    vertex: u32,
    /// What it lacks to its place on its own side.
    gap: f32,
    /// Which side that is: 1 where the plane's normal goes, or -1.
    side: f32,
    share: f32,
    /// How much of the way to the middle of its neighbours it goes; where that is from it, as long as none is moved; and
    /// one over how many they are.
    even: f32,
    middle: Vec3A,
    per_neighbour: f32,
    /// In `beside`, and how many groups.
    beside: u32,
    groups: u32,
}

impl Parted {
    /// What it has to go yet to where it should be, of a way that it has gone.
    fn lacks(&self, normal: Vec3A, moved: Vec3A) -> Vec3A {
        normal * (self.side * (self.gap - self.side * moved.dot(normal)).max(0.0) * self.share)
    }
}

/// Where a hinge's plane lies in a pose.
#[derive(Debug, Clone, Copy, Default)]
struct Fold {
    /// How far the joint is bent, 0 to 1.
    bent: f32,
    /// How much of the repair is done, 0 to 1: the same where the skin is folded.
    ease: f32,
    joint: Vec3,
    /// Towards the child's side.
    normal: Vec3,
    /// From the joint into the bend.
    inwards: Vec3,
    radius: f32,
    /// How far from the joint the halves touch, in radii: `1 / tan(angle / 2)`.
    contact: f32,
    /// The largest `1 / tan` of the angles between the plane and the bones.
    steepest: f32,
}

/// A place on the way along which a joint's own flesh lies.
fn main_way(bones: &[Bone], joint: u32) -> Option<DVec3> {
    let own: Vec<DVec3> = bones.iter().filter(|b| b.joint == joint).map(|b| b.end - b.start).collect();
    let longest = own.iter().copied().max_by(|a, b| a.length().total_cmp(&b.length()))?;
    let mean = own.iter().sum::<DVec3>() / own.len() as f64;
    // Fingers fan out from a hand: their mean is its way. Where bones go every way, the longest.
    Some(if mean.length() > 0.6 * longest.length() { mean } else { longest })
}

pub(super) fn hinges(character: &Character, mesh: &Mesh) -> Vec<Hinge> {
    let skeleton = character.skeleton();
    let joints = skeleton.joints();
    let bones = skeleton.bones();
    let diagonal = character.diagonal();
    let slot_of = |joint: u32| character.slots().iter().position(|s| s.joint == joint).map(|s| s as u16);
    let mut points_of: Vec<Vec<u32>> = vec![Vec::new(); joints.len()];
    for p in 0..mesh.len() {
        if let Some(&(slot, _)) = mesh.weights(p).first() {
            points_of[character.slots()[slot as usize].joint as usize].push(p as u32);
        }
    }
    let is_below = |joint: u32, top: u32| {
        let mut at = Some(joint);
        while let Some(j) = at {
            if j == top {
                return true;
            }
            at = joints[j as usize].parent;
        }
        false
    };
    let mut hinges = Vec::new();
    let mut local = vec![u32::MAX; mesh.len()];
    for child in 0..joints.len() as u32 {
        let Some(parent) = joints[child as usize].parent else { continue };
        let (Some(upper), Some(lower)) = (slot_of(parent), slot_of(child)) else { continue };
        let joint = skeleton.rest_position(child);
        let ways = [skeleton.rest_position(parent) - joint, main_way(&bones, child).unwrap_or_default()];
        if ways.iter().any(|w| w.length() <= 1e-4 * diagonal) {
            continue;
        }
        // Flesh of the two bones, and of others that lie along them (twist bones).
        let along = |other: u32, way: DVec3| {
            let at = skeleton.rest_position(other);
            at.distance(on_segment(joint, joint + way, at)) < 0.1 * way.length()
                && at.distance(joint) < 0.9 * way.length()
        };
        let sides: [Vec<u32>; 2] = [0, 1].map(|side| {
            let mut own = points_of[[parent, child][side] as usize].clone();
            for other in (0..joints.len() as u32).filter(|&o| o != parent && o != child) {
                let of_child = is_below(other, child);
                let of_parent = is_below(other, parent) && !of_child;
                if [of_parent, of_child][side] && along(other, ways[side]) {
                    own.extend(&points_of[other as usize]);
                }
            }
            own
        });
        let distance = |p: u32, side: usize| {
            let at = mesh.points[p as usize];
            at.distance(on_segment(joint, joint + ways[side], at))
        };
        let radius = |side: usize, most: f64| -> Option<f64> {
            // Near the joint, where the halves meet.
            let mut near: Vec<f64> = sides[side]
                .iter()
                .filter(|&&p| mesh.points[p as usize].distance(joint) < most)
                .map(|&p| distance(p, side))
                .collect();
            near.sort_by(f64::total_cmp);
            near.get(near.len() / 2).copied().filter(|r| *r > 0.0)
        };
        let Some(lower_radius) = radius(1, 0.7 * ways[1].length()).or(radius(1, 2.0 * ways[1].length()))
        else {
            continue;
        };
        let Some(upper_radius) = radius(0, 3.0 * lower_radius) else { continue };
        let radii = [upper_radius.min(2.5 * lower_radius), lower_radius];
        let shortest = (ways[0].length() / radii[0]).min(ways[1].length() / radii[1]);
        let long_enough = smooth_step((shortest - SHORT[0]) / (SHORT[1] - SHORT[0]));
        let mut hinge = Hinge {
            slots: [upper, lower],
            joint,
            ways: ways.map(DVec3::normalize),
            radii,
            rest: ways[0].angle_between(ways[1]).to_degrees(),
            members: Vec::new(),
            around: Around::default(),
            rows: Vec::new(),
        };
        let reach = REACH * radii[0].max(radii[1]);
        let across = (hinge.ways[1] - hinge.ways[0]).normalize_or_zero();
        for side in [0, 1] {
            for &point in &sides[side] {
                let off = mesh.points[point as usize] - joint;
                let below: f32 = mesh
                    .weights(point as usize)
                    .iter()
                    .filter(|w| is_below(character.slots()[w.0 as usize].joint, child))
                    .map(|w| w.1)
                    .sum();
                let twice = (2.0 * below - 1.0).clamp(-1.0, 1.0);
                // What is on the other's side at rest already belongs there.
                let own_side = off.dot(across) * f64::from(twice).signum() / radii[side];
                let near = (OWN[1] - distance(point, side) / radii[side]) / (OWN[1] - OWN[0]);
                let fade = long_enough
                    * smooth_step(near)
                    * smooth_step((own_side + 0.5) / 0.3)
                    * smooth_step((reach - off.length()) / radii[side]);
                if fade > 0.0 {
                    let vertex = mesh.vertex_of_point[point as usize];
                    let from = (off.length() / (0.5 * (radii[0] + radii[1]))) as f32;
                    hinge.members.push(Member { point, vertex, side: twice, fade: fade as f32, from });
                }
            }
        }
        hinge.members.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.point.cmp(&b.point)));
        hinge.find_around(mesh, &mut local);
        hinge.find_rows(mesh);
        if hinge.members.iter().any(|m| m.side > 0.0) && hinge.members.iter().any(|m| m.side < 0.0) {
            hinges.push(hinge);
        }
    }
    // What takes long comes first.
    hinges.sort_by_key(|hinge| Reverse(hinge.members.len()));
    hinges
}

impl Hinge {
    /// The plane in a pose, where the bend is sharp enough.
    fn plane(&self, posed: &[DAffine3]) -> Fold {
        let [upper, lower] = self.slots.map(|slot| &posed[slot as usize]);
        let joint = lower.transform_point3(self.joint);
        let ways = [upper.transform_vector3(self.ways[0]), lower.transform_vector3(self.ways[1])];
        let scale = 0.5 * (ways[0].length() + ways[1].length());
        let [Some(a), Some(b)] = ways.map(DVec3::try_normalize) else { return Fold::default() };
        let angle = libm::acos(a.dot(b).clamp(-1.0, 1.0)).to_degrees();
        let closed = self.rest - angle;
        let mut ease = smooth_step((closed - CLOSED[0]) / (CLOSED[1] - CLOSED[0]))
            * smooth_step((OPEN[0] - angle) / (OPEN[0] - OPEN[1]));
        if ease > 0.0 {
            let twist = self.twist(upper, lower).max(f64::MIN_POSITIVE);
            ease *= smooth_step((closed / twist - TWISTED[0]) / (TWISTED[1] - TWISTED[0]));
        }
        // Points at `r_c a + r_p b` are as far from the bones as the limbs are thick.
        let inwards = (a * self.radii[1] + b * self.radii[0]).try_normalize();
        let axis = a.cross(b).try_normalize();
        let (Some(inwards), Some(axis)) = (inwards, axis) else { return Fold::default() };
        let normal = axis.cross(inwards);
        let normal = if normal.dot(b) < 0.0 { -normal } else { normal };
        let radius = scale * 0.5 * (self.radii[0] + self.radii[1]);
        if !(ease > 0.0 && radius.is_finite() && joint.is_finite()) {
            return Fold::default();
        }
        Fold {
            bent: ease as f32,
            ease: 0.0,
            joint: joint.as_vec3(),
            normal: normal.as_vec3(),
            inwards: inwards.as_vec3(),
            radius: radius as f32,
            steepest: {
                let cos = inwards.dot(a).max(inwards.dot(b)).min(0.99);
                (cos / (1.0 - cos * cos).sqrt()) as f32
            },
            contact: (libm::tan(0.5 * angle.to_radians()).recip()).min(REACH) as f32,
        }
    }

    /// Degrees by which the child's bone is turned about itself against the parent's.
    fn twist(&self, upper: &DAffine3, lower: &DAffine3) -> f64 {
        let turn = upper.matrix3.inverse() * lower.matrix3;
        let way = self.ways[1].normalize_or_zero();
        let side = way.any_orthonormal_vector();
        let now = (turn * way).normalize_or_zero();
        // Bent back the shortest way, about `now x way`; where it is turned over there is none.
        let (axis, cos) = (now.cross(way), 1.0 + now.dot(way));
        let turned = turn * side;
        let back = turned * (cos - 1.0) + axis.cross(turned) + axis * (axis.dot(turned) / cos);
        let back = (back - way * back.dot(way)).normalize_or(side);
        libm::acos(back.dot(side).clamp(-1.0, 1.0)).to_degrees()
    }

    /// Who is beside whom. `local` has a number for each point, and is left as it came.
    fn find_around(&mut self, mesh: &Mesh, local: &mut [u32]) {
        let mut points: Vec<u32> = self.members.iter().map(|m| m.point).collect();
        for (index, &point) in points.iter().enumerate() {
            local[point as usize] = index as u32;
        }
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        for index in 0..self.members.len() {
            mesh.for_neighbours(points[index] as usize, |n| {
                if local[n] == u32::MAX {
                    local[n] = points.len() as u32;
                    points.push(n as u32);
                }
                pairs.push([index as u32, local[n]]);
            });
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut around = Around { count: points.len(), ..Around::default() };
        let mut pairs = &pairs[..];
        for index in 0..self.members.len() as u32 {
            let (own, others) = pairs.split_at(pairs.partition_point(|p| p[0] <= index));
            pairs = others;
            around.starts.push(around.groups.len() as u32);
            for group in own.chunks(GROUP) {
                let of = |k: usize, fill: u32| group.get(k).map_or(fill, |p| p[1]);
                around.groups.push(std::array::from_fn(|k| of(k, points.len() as u32)));
                let vertex = |k| mesh.vertex_of_point[points[of(k, index) as usize] as usize];
                around.vertices.push(std::array::from_fn(vertex));
            }
            around.per_neighbour.push(if own.is_empty() { 0.0 } else { 1.0 / own.len() as f32 });
        }
        around.starts.push(around.groups.len() as u32);
        self.around = around;
        points.iter().for_each(|&p| local[p as usize] = u32::MAX);
    }

    fn find_rows(&mut self, mesh: &Mesh) {
        let radius = 0.5 * (self.radii[0] + self.radii[1]);
        let row = |members: &[Member]| {
            let of = |k: usize| &members[k.min(members.len() - 1)];
            let all = Members {
                vertices: std::array::from_fn(|k| of(k).vertex),
                sides: std::array::from_fn(|k| of(k).side),
                fades: std::array::from_fn(|k| members.get(k).map_or(0.0, |m| m.fade)),
                froms: std::array::from_fn(|k| of(k).from),
            };
            let mut row = Row { members: all, along: f32::INFINITY, off: 0.0 };
            for member in members {
                let off = mesh.points[member.point as usize] - self.joint;
                let along = off.dot(self.ways[usize::from(member.side > 0.0)]);
                let from = (off.length_squared() - along * along).max(0.0).sqrt();
                // What several bones move may be anywhere between.
                let is_rigid = mesh.weights(member.point as usize)[0].1 > RIGID;
                let along = if is_rigid { along } else { 0.0 };
                row.along = row.along.min((along / radius) as f32);
                row.off = row.off.max((from / radius) as f32);
            }
            row
        };
        self.rows = self.members.chunks(ROW).map(row).collect();
    }

    /// The points that it may move, with what they give way by.
    pub(super) fn givers(&self) -> Vec<Giver> {
        let giver = |m: &Member| Giver { vertex: m.vertex, share: m.fade, from: m.from };
        self.members.iter().map(giver).collect()
    }

    pub(super) fn state(&self) -> Folded {
        let members = self.members.len();
        let moves = || {
            let mut moves = Vec::with_capacity(FIRST + members);
            moves.resize(FIRST, Vec3A::ZERO);
            moves
        };
        Folded {
            fold: Fold::default(),
            near: Vec::with_capacity(self.rows.len()),
            parted: Vec::with_capacity(members),
            moved: moves(),
            smoothed: moves(),
            moved_of: vec![STAYS; self.around.count + 1],
            beside: Vec::with_capacity(self.around.groups.len()),
            holds: Vec::with_capacity(members),
        }
    }

    /// Puts flesh back to its own side of the plane.
    fn unfold(
        &self,
        kernels: &Kernels,
        posed: &[DAffine3],
        positions: &[Vec3],
        parts: bool,
        state: &mut Folded,
    ) {
        let Folded { fold, near, parted, holds, .. } = state;
        near.clear();
        parted.clear();
        holds.clear();
        *fold = self.plane(posed);
        if fold.bent == 0.0 {
            return;
        }
        let radius = fold.radius;
        // Flesh as thick as any that hangs on the bones passes the plane no farther out than this.
        let reach = BESIDE * (1.0 + fold.contact * fold.contact).sqrt() + 1.0;
        // Weights are seldom painted along the plane: it goes where the skin is of both bones alike.
        let Fold { joint, normal, inwards, .. } = *fold;
        let job = Scan { joint, normal, inwards, limit: NEAR * radius, inner: INNER * radius, reach };
        let mut found = Scanned { says: [0.0; ROW], said: [0.0; ROW] };
        for (row, index) in self.rows.iter().zip(0..) {
            if row.members.froms[0] >= reach {
                break;
            }
            if !row.passes(fold) {
                continue;
            }
            near.push(Near { row: index, near: 0, parted: 0, side: Side::NONE });
            let Some(last) = near.last_mut() else { break };
            // SAFETY: the path was found available.
            last.near = unsafe { (kernels.scan)(&job, &row.members, positions, &mut found, &mut last.side) };
            if last.near == 0 {
                near.pop();
            }
        }
        let (shift, all) = (found.said.iter().sum::<f32>(), FEW + found.says.iter().sum::<f32>());
        let most = SHIFT * radius;
        let plane = Plane {
            shift: (shift / all).clamp(-most, most),
            radius,
            gap: GAP,
            soft: SOFT,
            per_contact: 1.0 / (CONTACT * radius),
        };
        let mut past = [f32::NEG_INFINITY; ROW];
        for near in near.iter_mut() {
            let members = &self.rows[near.row as usize].members;
            // SAFETY: the path was found available.
            unsafe { (kernels.own)(&plane, members, near.near, &mut near.side, &mut past) };
        }
        let past = past.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        if parts {
            fold.ease = fold.bent * smooth((past / radius - DEEP[0]) / (DEEP[1] - DEEP[0]));
        }
        if fold.ease > 0.0 {
            self.part(kernels, &plane, positions, state);
        }
        let Folded { fold, near, parted, moved, holds, .. } = state;
        let normal = Vec3A::from(normal);
        let mut moves = parted.iter().zip(&moved[FIRST..]);
        // The inside of a bend is held even where nothing has met yet: it would be pushed through itself.
        for near in near.iter() {
            let mut by = [0.0; ROW];
            for lane in lanes(near.parted) {
                by[lane] = moves.next().map_or(0.0, |(part, moved)| part.side * moved.dot(normal));
            }
            let mut shares = [0.0; ROW];
            // SAFETY: the path was found available.
            let held = unsafe { (kernels.hold)(&plane, fold.bent, &near.side, &by, &mut shares) } & near.near;
            let vertices = &self.rows[near.row as usize].members.vertices;
            holds.extend(lanes(held).map(|lane| Hold { vertex: vertices[lane], share: shares[lane] }));
        }
    }

    /// How far each member near the plane is to be moved.
    fn part(&self, kernels: &Kernels, plane: &Plane, positions: &[Vec3], state: &mut Folded) {
        let Folded { fold, near, parted, moved, smoothed, moved_of, beside, .. } = state;
        let normal = Vec3A::from(fold.normal);
        let per_evened = 1.0 / (EVENED * fold.radius);
        for near in near.iter_mut() {
            let members = &self.rows[near.row as usize].members;
            let mut gaps = [0.0; ROW];
            // SAFETY: the path was found available.
            let wanting = unsafe { (kernels.gaps)(plane, members, &near.side, &mut gaps) };
            // Others are not evened out either, and stay.
            near.parted = wanting & near.near;
            for lane in lanes(near.parted) {
                let index = near.row * ROW as u32 + lane as u32;
                moved_of[index as usize] = (FIRST + parted.len()) as u32;
                let (gap, share) = (gaps[lane], fold.ease * near.side.shares[lane]);
                parted.push(Parted {
                    index,
                    vertex: members.vertices[lane],
                    gap,
                    side: 1f32.copysign(members.sides[lane]),
                    share,
                    // By what it lacks, not by how far it has come: that would grow from round to round.
                    even: EVEN * smooth(gap * share * per_evened),
                    middle: Vec3A::ZERO,
                    per_neighbour: self.around.per_neighbour[index as usize],
                    beside: 0,
                    groups: 0,
                });
            }
        }
        beside.clear();
        let rows = Rows::new(positions);
        for part in parted.iter_mut() {
            part.beside = beside.len() as u32;
            if part.even > 0.0 && part.per_neighbour > 0.0 {
                let start = rows.of(part.vertex);
                let mut sum = Vec4::ZERO;
                let around = self.around.of(part.index);
                part.groups = around.len() as u32;
                for (group, vertices) in around {
                    beside.push(group.map(|n| moved_of[n as usize]));
                    vertices.iter().for_each(|&vertex| sum += rows.of(vertex) - start);
                }
                part.middle = Vec3A::from_vec4(sum * part.per_neighbour);
            } else {
                part.even = 0.0;
            }
        }
        parted.iter().for_each(|part| moved_of[part.index as usize] = STAYS);
        moved.truncate(FIRST);
        moved.extend(parted.iter().map(|part| part.lacks(normal, Vec3A::ZERO)));
        smoothed.resize(moved.len(), Vec3A::ZERO);
        for _ in 1..ROUNDS {
            // What was pushed through the plane lies on it in folds: evened out by its neighbours, and put back.
            for ((part, own), smoothed) in parted.iter().zip(&moved[FIRST..]).zip(&mut smoothed[FIRST..]) {
                let mut sum = Vec3A::ZERO;
                for group in &beside[part.beside as usize..][..part.groups as usize] {
                    let [a, b, c, d, e, f, g, h] = group.map(|n| moved[n as usize]);
                    sum += ((a + b) + (c + d)) + ((e + f) + (g + h));
                }
                let even = *own + (part.middle + sum * part.per_neighbour - *own) * part.even;
                *smoothed = even + part.lacks(normal, even);
            }
            std::mem::swap(moved, smoothed);
        }
    }
}

/// Which bits are set, lowest first.
fn lanes(bits: u32) -> impl Iterator<Item = usize> {
    let next = |left: &u32| Some(left & (left - 1)).filter(|rest| *rest != 0);
    std::iter::successors(Some(bits).filter(|bits| *bits != 0), next)
        .map(|left| left.trailing_zeros() as usize)
}

impl Folded {
    /// What was cut off goes to the flesh around it: as far along the limb as the halves touch, and a little farther.
    fn giving(&self) -> Giving {
        let Fold { ease, contact, .. } = self.fold;
        Giving { amount: GIVE * ease, reach: contact + BESIDE, over: BESIDE }
    }
}

impl Overlap {
    /// Parts the halves of limbs that are bent.
    pub(super) fn part_hinges(&self, state: &mut OverlapState, positions: &mut [Vec3]) {
        let mut folded = std::mem::take(&mut state.folded);
        let (posed, place) = (&state.posed, &*positions);
        let parts = self.limbs.is_some();
        parallel::for_each_uneven(&mut folded, 1, |index, folded| {
            self.hinges[index].unfold(&self.kernels, posed, place, parts, &mut folded[0]);
        });
        for Folded { parted, moved, .. } in &folded {
            for (part, &moved) in parted.iter().zip(&moved[FIRST..]) {
                state.push(self.mesh.point_of_vertex[part.vertex as usize], Vec3::from(moved));
            }
        }
        state.givings.clear();
        state.givings.extend(folded.iter().map(Folded::giving));
        state.folded = folded;
        state.apply(&self.mesh, positions);
    }
}
