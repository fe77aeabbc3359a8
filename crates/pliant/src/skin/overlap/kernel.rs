//! What is asked of many points: rows of them side by side, in plain loops that compilers make wide.
//!
//! There is one code for all paths, compiled once for what every machine has and once for each width of wider registers: each operation is
//! rounded on its own in both, so they give the same bits. No closures in here: they would not have the instructions.

use crate::simd::Path;
use glam::{Mat3, Vec3};

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
}

/// The kernels of a path that the machine has.
pub(super) fn kernels(path: Path) -> Kernels {
    match path {
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 => avx2::KERNELS,
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 => avx512::KERNELS,
        _ => Kernels { scan, own, gaps, hold, beside, meet },
    }
}

/// The kernels compiled for an instruction set.
#[cfg(target_arch = "x86_64")]
macro_rules! kernels_of {
    ($module:ident, $feature:literal, $($name:ident($($arg:ident: $type:ty),+) -> $found:ty;)+) => {
        mod $module {
            use super::{Balls, Beside, Bone, Cells, Kernels, Members, Own, Plane, ROW, Scan, Scanned, Side};
            use glam::Vec3;

            pub(super) const KERNELS: Kernels = Kernels { $($name),+ };

            $(#[target_feature(enable = $feature)]
            unsafe fn $name($($arg: $type),+) -> $found {
                super::$name($($arg),+)
            })+
        }
    };
    ($module:ident, $feature:literal) => {
        kernels_of!($module, $feature,
            scan(job: &Scan, all: &Members, at: &[Vec3], found: &mut Scanned, side: &mut Side) -> u32;
            own(plane: &Plane, all: &Members, near: u32, side: &mut Side, past: &mut [f32; ROW]) -> ();
            gaps(plane: &Plane, all: &Members, side: &Side, gaps: &mut [f32; ROW]) -> u32;
            hold(plane: &Plane, bent: f32, side: &Side, by: &[f32; ROW], shares: &mut [f32; ROW]) -> u32;
            beside(
                bone: &Bone, own: &Own<'_>, squares: &Cells, vertices: &[u32; ROW], at: &[Vec3],
                found: &mut Beside
            ) -> u32;
            meet(bone: &Bone, reach: [f32; 2], balls: &Balls, found: &mut Beside) -> u32;
        );
    };
}

#[cfg(target_arch = "x86_64")]
kernels_of!(avx2, "avx2");
#[cfg(target_arch = "x86_64")]
kernels_of!(avx512, "avx512f");

#[inline(always)]
fn gather(vertices: &[u32; ROW], positions: &[Vec3]) -> [[f32; ROW]; 3] {
    let mut places = [[0f32; ROW]; 3];
    for lane in 0..ROW {
        let at = positions[vertices[lane] as usize];
        (places[0][lane], places[1][lane], places[2][lane]) = (at.x, at.y, at.z);
    }
    places
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
fn scan(job: &Scan, members: &Members, positions: &[Vec3], found: &mut Scanned, beside: &mut Side) -> u32 {
    let [x, y, z] = gather(&members.vertices, positions);
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
fn beside(
    bone: &Bone,
    own: &Own<'_>,
    squares: &Cells,
    vertices: &[u32; ROW],
    positions: &[Vec3],
    found: &mut Beside,
) -> u32 {
    let places = gather(vertices, positions);
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
