//! What is asked of many points: rows of them side by side, in plain loops that compilers make wide.
//!
//! There is one code for all paths, compiled once for what every machine has and once for each width of wider registers: each operation is
//! rounded on its own in both, so they give the same bits. No closures in here: they would not have the instructions.

use crate::simd::Path;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Lanes, gather_rows};
use glam::{Mat3, Vec3};
#[cfg(target_arch = "x86_64")]
use std::marker::PhantomData;

/// Points a row: as many as an u32 has bits.
pub(super) const ROW: usize = 32;

/// A plane, for points near it on the inner side of a bend.
pub(super) struct Scan {
    pub joint: Vec3,
    pub normal: Vec3,
    pub inwards: Vec3,
    /// How far on their own side they may be.
    pub limit: f32,
    /// How far inwards they count wholly.
    pub inner: f32,
    /// How far from the joint they count at all.
    pub reach: f32,
}

/// Members of a hinge.
pub(super) struct Members {
    pub vertices: [u32; ROW],
    /// `2 W - 1`: from -1 for the parent's alone to 1 for the child's.
    pub sides: [f32; ROW],
    /// None where there is no member.
    pub fades: [f32; ROW],
    /// Radii from the joint.
    pub froms: [f32; ROW],
}

/// Members beside a plane.
#[derive(Clone)]
pub(super) struct Side {
    /// How high above it they are, towards the child's side; then how far on their own side.
    pub heights: [f32; ROW],
    /// How much of what is done to them is, for where they lie.
    pub shares: [f32; ROW],
}

impl Side {
    pub(super) const NONE: Self = Self { heights: [0.0; ROW], shares: [0.0; ROW] };
}

/// A plane, moved to where the skin is of both bones alike.
pub(super) struct Plane {
    /// By this much towards the child's side.
    pub shift: f32,
    pub radius: f32,
    /// What is left between the plane and those that are sure of their side, and over which way they are slowed down, over
    /// the radius.
    pub gap: f32,
    pub soft: f32,
    /// One over how far from it flesh is in contact.
    pub per_contact: f32,
}

/// What scans find. Sums go on from row to row, each lane's on its own.
pub(super) struct Scanned {
    /// How much each has its say where the plane goes, and that times the height.
    pub says: [f32; ROW],
    pub said: [f32; ROW],
}

/// Stations along a bone at which the flesh's radius is known.
pub(super) const ALONG: usize = 8;
/// Directions around it in which it is, and those in a unit of diamond angles, which go from 0 to 4.
pub(super) const AROUND: usize = 16;
pub(super) const PER_TURN: f32 = AROUND as f32 / 4.0;
/// Rounding when points are passed over.
pub(super) const SLACK: f32 = 1.0001;
/// The gap that is left between limbs, in radii.
const GAP: f32 = 0.05;
/// From which share of another's radius outwards flesh is moved wholly, and from how far below all of it less and less.
const CORE: f32 = 0.3;
const EDGE: f32 = 0.1;
/// The same of directions.
const TURN: f32 = 0.01;

/// A bone in the place of its rest.
pub(super) struct Bone {
    /// To rest.
    pub back: Mat3,
    pub back_by: Vec3,
    pub start: Vec3,
    pub way: Vec3,
    /// The way over its squared length.
    pub along: Vec3,
    /// Square to it, and to each other.
    pub axes: [Vec3; 2],
}

/// The bone that points hang on, in the pose.
pub(super) struct Own<'a> {
    pub start: Vec3,
    pub way: Vec3,
    /// The way over its squared length.
    pub along: Vec3,
    /// One over the squared distance of each at rest.
    pub per_squares: &'a [f32; ROW],
}

/// For each part of a bone between two stations, and between two directions, a number.
pub(super) type Cells = [[f32; AROUND]; ALONG - 1];

/// Places beside a bone.
pub(super) struct Beside {
    /// How far along it, from 0 to 1, and how far from it, squared.
    pub along: [f32; ROW],
    pub squares: [f32; ROW],
    /// In which direction around it.
    pub turns: [f32; ROW],
    /// Of balls, how much more to both sides; of points, how far they are from their own bone against rest, squared.
    pub others: [f32; ROW],
}

impl Beside {
    pub(super) const NONE: Self =
        Self { along: [0.0; ROW], squares: [0.0; ROW], turns: [0.0; ROW], others: [0.0; ROW] };
}

/// The radii of flesh around a bone at rest: by station and direction, and the mean of each station.
#[derive(Clone, Copy)]
pub(super) struct Radii<'a> {
    pub around: &'a [[f32; AROUND]; ALONG],
    pub means: &'a [f32; ALONG],
}

/// Flesh that points are in, and their own.
pub(super) struct Sink<'a> {
    pub bone: Bone,
    pub radii: Radii<'a>,
    /// From the bone's rest to the pose.
    pub place: Mat3,
    /// What they may be moved by at most, over the flesh's radius; and over their own.
    pub dent: f32,
    pub most: f32,
    pub own: Own<'a>,
    /// How far they are from their own bone at rest.
    pub from_own: &'a [f32; ROW],
}

/// How far points are moved, and how far they may be at most.
pub(super) struct Sunk {
    pub moves: [[f32; ROW]; 3],
    pub most: [f32; ROW],
}

impl Sunk {
    pub(super) const NONE: Self = Self { moves: [[0.0; ROW]; 3], most: [0.0; ROW] };
}

/// Balls around as many clusters of points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Balls {
    pub centers: [[f32; ROW]; 3],
    pub radii: [f32; ROW],
}

impl Balls {
    pub(super) const NONE: Self = Self { centers: [[0.0; ROW]; 3], radii: [0.0; ROW] };

    pub(super) fn get(&self, lane: usize) -> (Vec3, f32) {
        (Vec3::from(self.centers.map(|numbers| numbers[lane])), self.radii[lane])
    }
}

/// Which members are near a plane.
pub(super) type ScanKernel = unsafe fn(&Scan, &Members, &[Vec3], &mut Scanned, &mut Side) -> u32;
/// How far members are on their own side, and how far past the plane each lane's are at most, of those that are near.
pub(super) type OwnKernel = unsafe fn(&Plane, &Members, u32, &mut Side, &mut [f32; ROW]);
/// What they lack to their places on their own side, and which lack any.
pub(super) type GapsKernel = unsafe fn(&Plane, &Members, &Side, &mut [f32; ROW]) -> u32;
/// How much of them is held after they were moved, and which are at all.
pub(super) type HoldKernel = unsafe fn(&Plane, f32, &Side, &[f32; ROW], &mut [f32; ROW]) -> u32;
/// Where points are beside a bone and beside their own; which are no farther from the former than those, squared, times how
/// near they are to their own against rest.
pub(super) type BesideKernel = unsafe fn(&Bone, &Own<'_>, &Cells, &[u32; ROW], &[Vec3], &mut Beside) -> u32;

/// How far points that are in the flesh of a bone are to be moved towards their own: those that are asked for.
pub(super) type SinkKernel = unsafe fn(&Sink<'_>, u32, &[u32; ROW], &[Vec3], &mut Sunk);

/// The same for the centers of balls, which may be farther by their radii times a factor.
pub(super) type MeetKernel = unsafe fn(&Bone, [f32; 2], &Balls, &mut Beside) -> u32;

#[derive(Clone, Copy)]
pub(super) struct Kernels {
    pub scan: ScanKernel,
    pub own: OwnKernel,
    pub gaps: GapsKernel,
    pub hold: HoldKernel,
    pub beside: BesideKernel,
    pub meet: MeetKernel,
    pub sink: SinkKernel,
}

/// The kernels of a path that the machine has.
pub(super) fn kernels(path: Path) -> Kernels {
    match path {
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 => avx2::KERNELS,
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 => avx512::KERNELS,
        _ => Kernels {
            scan: scan::<Plain>,
            own,
            gaps,
            hold,
            beside: beside::<Plain>,
            meet,
            sink: sink::<Plain>,
        },
    }
}

/// The kernels compiled for an instruction set.
#[cfg(target_arch = "x86_64")]
macro_rules! kernels_of {
    ($module:ident, $lanes:ty, $feature:literal,
        $($name:ident$(::<$gather:ty>)?($($arg:ident: $type:ty),+) -> $found:ty;)+) => {
        mod $module {
            use super::{
                Balls, Beside, Bone, Cells, Kernels, Members, Own, Plane, ROW, Rows, Scan, Scanned, Side, Sink,
                Sunk,
            };
            use glam::Vec3;

            pub(super) const KERNELS: Kernels = Kernels { $($name),+ };

            $(#[target_feature(enable = $feature)]
            unsafe fn $name($($arg: $type),+) -> $found {
                super::$name$(::<$gather>)?($($arg),+)
            })+
        }
    };
    ($module:ident, $lanes:ty, $feature:literal) => {
        kernels_of!($module, $lanes, $feature,
            scan::<Rows<$lanes>>(
                job: &Scan, all: &Members, at: &[Vec3], found: &mut Scanned, side: &mut Side
            ) -> u32;
            own(plane: &Plane, all: &Members, near: u32, side: &mut Side, past: &mut [f32; ROW]) -> ();
            gaps(plane: &Plane, all: &Members, side: &Side, gaps: &mut [f32; ROW]) -> u32;
            hold(plane: &Plane, bent: f32, side: &Side, by: &[f32; ROW], shares: &mut [f32; ROW]) -> u32;
            beside::<Rows<$lanes>>(
                bone: &Bone, own: &Own<'_>, squares: &Cells, vertices: &[u32; ROW], at: &[Vec3],
                found: &mut Beside
            ) -> u32;
            meet(bone: &Bone, reach: [f32; 2], balls: &Balls, found: &mut Beside) -> u32;
            sink::<Rows<$lanes>>(
                job: &Sink<'_>, asked: u32, vertices: &[u32; ROW], at: &[Vec3], sunk: &mut Sunk
            ) -> ();
        );
    };
}

#[cfg(target_arch = "x86_64")]
kernels_of!(avx2, crate::simd::Avx, "avx2");
#[cfg(target_arch = "x86_64")]
kernels_of!(avx512, crate::simd::Avx512, "avx512f");

/// A way to bring points side by side.
trait Gather {
    /// # Safety
    /// The instructions must be enabled.
    unsafe fn gather(vertices: &[u32; ROW], positions: &[Vec3]) -> [[f32; ROW]; 3];
}

/// Number by number.
struct Plain;

impl Gather for Plain {
    #[inline(always)]
    unsafe fn gather(vertices: &[u32; ROW], positions: &[Vec3]) -> [[f32; ROW]; 3] {
        let mut places = [[0f32; ROW]; 3];
        for lane in 0..ROW {
            let at = positions[vertices[lane] as usize];
            (places[0][lane], places[1][lane], places[2][lane]) = (at.x, at.y, at.z);
        }
        places
    }
}

/// By whole rows of four numbers.
#[cfg(target_arch = "x86_64")]
struct Rows<V>(PhantomData<V>);

#[cfg(target_arch = "x86_64")]
impl<V: Lanes> Gather for Rows<V> {
    #[inline(always)]
    unsafe fn gather(vertices: &[u32; ROW], positions: &[Vec3]) -> [[f32; ROW]; 3] {
        let (mut offsets, mut last) = ([0; ROW], 0);
        for lane in 0..ROW {
            offsets[lane] = 3 * vertices[lane];
            last = if vertices[lane] > last { vertices[lane] } else { last };
        }
        // A row has the next point's first number, too.
        if last as usize + 1 >= positions.len() {
            // SAFETY: it asks for no instructions.
            return unsafe { Plain::gather(vertices, positions) };
        }
        let mut places = [[0f32; ROW]; 3];
        for first in (0..ROW).step_by(V::WIDTH) {
            // SAFETY: the caller's promise; no row ends after the last point.
            unsafe {
                let [x, y, z, _] = gather_rows::<V>(positions.as_ptr().cast(), offsets.as_ptr().add(first));
                x.store(places[0].as_mut_ptr().add(first));
                y.store(places[1].as_mut_ptr().add(first));
                z.store(places[2].as_mut_ptr().add(first));
            }
        }
        places
    }
}

#[inline(always)]
fn bits(yes: &[bool; ROW]) -> u32 {
    let mut bits = 0;
    for lane in 0..ROW {
        bits |= u32::from(yes[lane]) << lane;
    }
    bits
}

/// From 0 to 1 with no corner.
#[inline(always)]
fn eased(x: f32) -> f32 {
    let x = if x > 0.0 { x } else { 0.0 };
    let x = if x < 1.0 { x } else { 1.0 };
    x * x * (3.0 - 2.0 * x)
}

#[inline(always)]
fn scan<G: Gather>(
    job: &Scan,
    members: &Members,
    positions: &[Vec3],
    found: &mut Scanned,
    beside: &mut Side,
) -> u32 {
    // SAFETY: whoever calls this has the instructions.
    let [x, y, z] = unsafe { G::gather(&members.vertices, positions) };
    let Scan { joint, normal, inwards, limit, inner, reach } = *job;
    let (per_limit, per_inner) = (1.0 / limit, 1.0 / inner);
    let mut near = [false; ROW];
    for lane in 0..ROW {
        let (x, y, z) = (x[lane] - joint.x, y[lane] - joint.y, z[lane] - joint.z);
        let height = x * normal.x + y * normal.y + z * normal.z;
        let inside = eased((x * inwards.x + y * inwards.y + z * inwards.z) * per_inner);
        let side = members.sides[lane];
        let own = if side > 0.0 { height } else { -height };
        let share = inside * members.fades[lane] * eased(reach - members.froms[lane]);
        let is_near = (own < limit) & (share > 0.0);
        let blended = 1.0 - side.abs();
        let level = eased(1.0 - height.abs() * per_limit);
        let says = if is_near { blended * blended * level * share } else { 0.0 };
        found.says[lane] += says;
        found.said[lane] += says * height;
        beside.heights[lane] = height;
        beside.shares[lane] = share;
        near[lane] = is_near;
    }
    bits(&near)
}

/// Less where both bones have their say.
#[inline(always)]
fn sureness(side: f32) -> f32 {
    let sure = 3.0 * side.abs();
    if sure < 1.0 { sure } else { 1.0 }
}

#[inline(always)]
fn own(plane: &Plane, members: &Members, near: u32, beside: &mut Side, past: &mut [f32; ROW]) {
    let Plane { shift, radius, .. } = *plane;
    for lane in 0..ROW {
        let height = beside.heights[lane] - shift;
        let side = members.sides[lane];
        let own = if side > 0.0 { height } else { -height };
        let sure = beside.shares[lane] * sureness(side);
        // What has still a way to go, or is not sure to be past.
        let short = own + (1.0 - sure) * radius;
        let by = if own < 0.0 { -own * sure } else { -short };
        let counts = (near >> lane & 1 == 1) & (by > past[lane]);
        past[lane] = if counts { by } else { past[lane] };
        beside.heights[lane] = own;
    }
}

#[inline(always)]
fn gaps(plane: &Plane, members: &Members, beside: &Side, gaps: &mut [f32; ROW]) -> u32 {
    let mut lacking = [false; ROW];
    for lane in 0..ROW {
        let sure = plane.radius * sureness(members.sides[lane]);
        let gap = eased_in(plane.gap * sure - beside.heights[lane], plane.soft * sure);
        gaps[lane] = gap;
        lacking[lane] = gap > 0.0;
    }
    bits(&lacking)
}

/// The larger of a number and 0, rounded off where it passes 0 by less than `over`: flesh that comes fast is slowed down
/// before it is stopped.
#[inline(always)]
fn eased_in(x: f32, over: f32) -> f32 {
    let between = (x + over) * (x + over) / (4.0 * over);
    let beyond = if x < over { between } else { x };
    if x <= -over { 0.0 } else { beyond }
}

#[inline(always)]
fn hold(plane: &Plane, bent: f32, beside: &Side, by: &[f32; ROW], shares: &mut [f32; ROW]) -> u32 {
    let mut held = [false; ROW];
    for lane in 0..ROW {
        let from_plane = (beside.heights[lane] + by[lane]) * plane.per_contact;
        let hold = bent * beside.shares[lane] * eased(1.0 - from_plane);
        shares[lane] = hold;
        held[lane] = hold > 0.0;
    }
    bits(&held)
}

#[inline(always)]
fn beside<G: Gather>(
    bone: &Bone,
    own: &Own<'_>,
    squares: &Cells,
    vertices: &[u32; ROW],
    positions: &[Vec3],
    found: &mut Beside,
) -> u32 {
    // SAFETY: whoever calls this has the instructions.
    let places = unsafe { G::gather(vertices, positions) };
    let _ = measure(bone, &places, found);
    let Own { start, way, along, per_squares } = *own;
    let squares = squares.as_flattened();
    let mut reach = [0f32; ROW];
    for lane in 0..ROW {
        // Not a number where a place is none.
        let turn = if found.turns[lane] < AROUND as f32 { found.turns[lane] } else { 0.0 };
        let row = found.along[lane] * (ALONG - 1) as f32;
        // SAFETY: both are small and not negative, which compilers are not told: checked ones go lane by lane.
        let [row, turn] = unsafe { [row.to_int_unchecked::<i32>(), turn.to_int_unchecked::<i32>()] };
        let row = if row < ALONG as i32 - 2 { row } else { ALONG as i32 - 2 };
        reach[lane] = squares[(row * AROUND as i32 + turn) as usize];
    }
    let mut near = [false; ROW];
    for lane in 0..ROW {
        let (u, v, w) = (places[0][lane] - start.x, places[1][lane] - start.y, places[2][lane] - start.z);
        let t = clamped(u * along.x + v * along.y + w * along.z);
        let (u, v, w) = (u - way.x * t, v - way.y * t, w - way.z * t);
        let other = (u * u + v * v + w * w) * per_squares[lane];
        found.others[lane] = other;
        // False, too, where a place is not a number.
        near[lane] = found.squares[lane] <= reach[lane] * if other < 1.0 { other } else { 1.0 };
    }
    bits(&near)
}

/// Steps to where flesh belongs: what is far from a bone is not what the bone's slope says.
const STEPS: usize = 3;
/// Fewer points than this are faster one by one than all side by side.
const FEW: u32 = 5;

#[inline(always)]
fn sink<G: Gather>(job: &Sink<'_>, asked: u32, vertices: &[u32; ROW], positions: &[Vec3], sunk: &mut Sunk) {
    if asked.count_ones() < FEW {
        let mut left = asked;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let (start, own) = (positions[vertices[lane] as usize], job.from_own[lane]);
            let mut moved = Moved { by: [0.0; 3], most: job.most * own, goes_on: true };
            for _ in 0..STEPS {
                moved = moved.step(job, start.to_array(), own);
            }
            (0..3).for_each(|i| sunk.moves[i][lane] = moved.by[i]);
            sunk.most[lane] = moved.most;
        }
        return;
    }
    // SAFETY: whoever calls this has the instructions.
    let places = unsafe { G::gather(vertices, positions) };
    let mut goes_on = [false; ROW];
    for lane in 0..ROW {
        goes_on[lane] = asked >> lane & 1 == 1;
        sunk.most[lane] = job.most * job.from_own[lane];
    }
    let [x, y, z] = &mut sunk.moves;
    (*x, *y, *z) = ([0.0; ROW], [0.0; ROW], [0.0; ROW]);
    for _ in 0..STEPS {
        for lane in 0..ROW {
            let moved =
                Moved { by: [x[lane], y[lane], z[lane]], most: sunk.most[lane], goes_on: goes_on[lane] };
            let start = [places[0][lane], places[1][lane], places[2][lane]];
            let moved = moved.step(job, start, job.from_own[lane]);
            (x[lane], y[lane], z[lane]) = (moved.by[0], moved.by[1], moved.by[2]);
            (sunk.most[lane], goes_on[lane]) = (moved.most, moved.goes_on);
        }
    }
}

/// A point on its way out of another's flesh.
struct Moved {
    by: [f32; 3],
    most: f32,
    goes_on: bool,
}

impl Moved {
    /// A step on. `f = d_other / r_other - d_own / r_own` should not be negative.
    #[inline(always)]
    fn step(self, job: &Sink<'_>, start: [f32; 3], from_own: f32) -> Self {
        let at = [start[0] + self.by[0], start[1] + self.by[1], start[2] + self.by[2]];
        let there = job.radii.there(&job.bone, to_rest(&job.bone, at));
        let (own, along) = (job.own.start, job.own.along);
        let off = [at[0] - own.x, at[1] - own.y, at[2] - own.z];
        let t = clamped(off[0] * along.x + off[1] * along.y + off[2] * along.z);
        let way = job.own.way;
        let off = [off[0] - way.x * t, off[1] - way.y * t, off[2] - way.z * t];
        let distance = (off[0] * off[0] + off[1] * off[1] + off[2] * off[2]).sqrt();
        let per_own = 1.0 / from_own;
        let lacks = distance * per_own - there.ratio;
        // False, too, where something is not a number.
        let goes_on =
            self.goes_on & (there.ratio < 1.0) & (from_own > 0.0) & (distance > 0.0) & (lacks > 0.0);
        let dent = job.dent * there.radius;
        let most = if self.most < dent { self.most } else { dent };
        // Towards its own bone: sideways, out of the other's way, skin would fold. Where that leads to the other's bone as
        // well, no farther than its own flesh is in excess.
        let per_distance = -1.0 / distance;
        let inwards = [off[0] * per_distance, off[1] * per_distance, off[2] * per_distance];
        let (a, b, c) = (job.place.x_axis, job.place.y_axis, job.place.z_axis);
        let [u, v, w] = there.way;
        let away = [a.x * u + b.x * v + c.x * w, a.y * u + b.y * v + c.y * w, a.z * u + b.z * v + c.z * w];
        let length = (away[0] * away[0] + away[1] * away[1] + away[2] * away[2]).sqrt();
        let towards = away[0] * inwards[0] + away[1] * inwards[1] + away[2] * inwards[2];
        let towards = if (towards > 0.0) & (length > 0.0) { towards / length } else { 0.0 };
        let per_length = towards / there.radius + per_own;
        // Nothing where the other's flesh begins, nor on its bone, from where every way out is as far.
        let share = eased((1.0 - there.ratio) * (1.0 / EDGE)) * eased(there.ratio * (1.0 / CORE));
        let by = share * (lacks + GAP * eased(lacks * (1.0 / GAP))) / per_length;
        let [x, y, z] = self.by;
        let far = [x + inwards[0] * by, y + inwards[1] * by, z + inwards[2] * by];
        if goes_on {
            Self { by: far, most, goes_on }
        } else {
            Self { by: [x, y, z], most: self.most, goes_on }
        }
    }
}

/// Where a place is beside a bone.
pub(super) struct There {
    /// Its distance from the bone over the flesh's radius there.
    pub ratio: f32,
    /// The way from the bone.
    pub way: [f32; 3],
    pub radius: f32,
}

impl Radii<'_> {
    /// Where a place at rest is.
    #[inline(always)]
    pub(super) fn there(&self, bone: &Bone, [x, y, z]: [f32; 3]) -> There {
        let (start, way, along) = (bone.start, bone.way, bone.along);
        let (u, v, w) = (x - start.x, y - start.y, z - start.z);
        let t = clamped(u * along.x + v * along.y + w * along.z);
        let (u, v, w) = (u - way.x * t, v - way.y * t, w - way.z * t);
        let [side, up] = bone.axes;
        let (x, y) = (u * side.x + v * side.y + w * side.z, u * up.x + v * up.y + w * up.z);
        let distance = (u * u + v * v + w * w).sqrt();
        let per_distance = if distance > 0.0 { 1.0 / distance } else { 0.0 };
        // Beyond an end, in the bone's own way, there is no direction around it.
        let aside = (x.abs() + y.abs()) * per_distance;
        let aside = if aside < 1.0 { aside } else { 1.0 };
        let cell = Cell::new(t, diamond(x, y) * PER_TURN);
        let mean = cell.mean(self.means);
        let radius = mean + (cell.of(self.around) - mean) * aside;
        let way = [u * per_distance, v * per_distance, w * per_distance];
        There { ratio: distance / radius, way, radius }
    }
}

/// Where a place beside a bone is among its stations and directions: the ones before it, and how far it is from those.
pub(super) struct Cell {
    row: i32,
    turn: i32,
    from_row: f32,
    from_turn: f32,
}

impl Cell {
    #[inline(always)]
    pub(super) fn new(along: f32, turn: f32) -> Self {
        let row = clamped(along) * (ALONG - 1) as f32;
        // Not a number where a place is none.
        let turn = if (turn >= 0.0) & (turn < AROUND as f32) { turn } else { 0.0 };
        // SAFETY: both are small and not negative, which compilers are not told: checked ones go lane by lane.
        let [in_row, in_turn] = unsafe { [row.to_int_unchecked::<i32>(), turn.to_int_unchecked::<i32>()] };
        let in_row = if in_row < ALONG as i32 - 2 { in_row } else { ALONG as i32 - 2 };
        Self { row: in_row, turn: in_turn, from_row: row - in_row as f32, from_turn: turn - in_turn as f32 }
    }

    #[inline(always)]
    pub(super) fn of(&self, radii: &[[f32; AROUND]; ALONG]) -> f32 {
        let next = (self.turn + 1) & (AROUND as i32 - 1);
        let radii = radii.as_flattened();
        let (row, far) = (self.row * AROUND as i32, self.from_turn);
        // SAFETY: only [`Cell::new`] makes one, with a station and a direction that there are.
        let [a, b, c, d] = unsafe {
            [
                number(radii, row + self.turn),
                number(radii, row + next),
                number(radii, row + AROUND as i32 + self.turn),
                number(radii, row + AROUND as i32 + next),
            ]
        };
        let (upper, lower) = (a * (1.0 - far) + b * far, c * (1.0 - far) + d * far);
        upper * (1.0 - self.from_row) + lower * self.from_row
    }

    #[inline(always)]
    pub(super) fn mean(&self, means: &[f32; ALONG]) -> f32 {
        // SAFETY: as above.
        let [before, after] = unsafe { [number(means, self.row), number(means, self.row + 1)] };
        before * (1.0 - self.from_row) + after * self.from_row
    }
}

/// A number that is there: compilers go lane by lane where they check.
#[inline(always)]
unsafe fn number(of: &[f32], index: i32) -> f32 {
    debug_assert!((index as usize) < of.len());
    // SAFETY: the caller's promise.
    unsafe { *of.get_unchecked(index as usize) }
}

#[inline(always)]
fn to_rest(bone: &Bone, [x, y, z]: [f32; 3]) -> [f32; 3] {
    let (a, b, c, by) = (bone.back.x_axis, bone.back.y_axis, bone.back.z_axis, bone.back_by);
    [
        a.x * x + b.x * y + c.x * z + by.x,
        a.y * x + b.y * y + c.y * z + by.y,
        a.z * x + b.z * y + c.z * z + by.z,
    ]
}

#[inline(always)]
fn meet(bone: &Bone, [most, factor]: [f32; 2], balls: &Balls, found: &mut Beside) -> u32 {
    let asides = measure(bone, &balls.centers, found);
    let mut near = [false; ROW];
    for lane in 0..ROW {
        let radius = balls.radii[lane] * factor;
        let reach = most + radius;
        near[lane] = found.squares[lane] < reach * reach;
        // The tangent of half the angle that a ball covers is more than that angle; diamonds turn no faster than circles.
        // Not a number, or infinite, where the bone goes through it.
        let tangent = radius / (asides[lane] - radius * radius).sqrt();
        found.others[lane] = SLACK * PER_TURN * tangent + TURN;
    }
    bits(&near)
}

#[inline(always)]
fn clamped(t: f32) -> f32 {
    let t = if t > 0.0 { t } else { 0.0 };
    if t < 1.0 { t } else { 1.0 }
}

/// Where places are beside a bone; how far they are from its line, squared.
#[inline(always)]
fn measure(bone: &Bone, places: &[[f32; ROW]; 3], found: &mut Beside) -> [f32; ROW] {
    let (a, b, c) = (bone.back.x_axis, bone.back.y_axis, bone.back.z_axis);
    let (by, start, way, rate) = (bone.back_by, bone.start, bone.way, bone.along);
    let [side, up] = bone.axes;
    let mut asides = [0f32; ROW];
    for lane in 0..ROW {
        let (x, y, z) = (places[0][lane], places[1][lane], places[2][lane]);
        let u = a.x * x + b.x * y + c.x * z + by.x - start.x;
        let v = a.y * x + b.y * y + c.y * z + by.y - start.y;
        let w = a.z * x + b.z * y + c.z * z + by.z - start.z;
        let (x, y) = (u * side.x + v * side.y + w * side.z, u * up.x + v * up.y + w * up.z);
        let t = clamped(u * rate.x + v * rate.y + w * rate.z);
        let (u, v, w) = (u - way.x * t, v - way.y * t, w - way.z * t);
        found.along[lane] = t;
        found.squares[lane] = u * u + v * v + w * w;
        found.turns[lane] = diamond(x, y) * PER_TURN;
        asides[lane] = x * x + y * y;
    }
    asides
}

/// An angle from 0 to 4 with no sines in it.
#[inline(always)]
pub(super) fn diamond(x: f32, y: f32) -> f32 {
    let sum = x.abs() + y.abs();
    let (of_x, of_y) = (x / sum, y / sum);
    let above = if x >= 0.0 { of_y } else { 1.0 - of_x };
    let below = if x >= 0.0 { 3.0 + of_x } else { 2.0 - of_y };
    let turn = if y >= 0.0 { above } else { below };
    if sum > 0.0 { turn } else { 0.0 }
}
