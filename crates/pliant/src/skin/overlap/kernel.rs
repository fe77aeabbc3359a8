//! What is asked of many points: rows of them side by side, in plain loops that compilers make wide.
//!
//! There is one code for all paths, compiled once for what every machine has and once for wider registers: each operation is
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

/// What a scan finds. Sums go on from row to row, each lane's on its own.
pub(super) struct Scanned {
    /// How high above the plane points are, towards the child's side.
    pub heights: [f32; ROW],
    /// How much of what is done to them is, for where they lie.
    pub shares: [f32; ROW],
    /// How much each has its say where the plane goes, and that times the height.
    pub says: [f32; ROW],
    pub said: [f32; ROW],
}

/// A bone in the place of its rest.
pub(super) struct Bone {
    /// To rest.
    pub back: Mat3,
    pub back_by: Vec3,
    pub start: Vec3,
    pub way: Vec3,
    /// The way over its squared length.
    pub along: Vec3,
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
pub(super) type ScanKernel = unsafe fn(&Scan, &Members, &[Vec3], &mut Scanned) -> u32;
/// How far along the bone points are, from 0 to 1, and their squared distances; which are no farther than that.
pub(super) type BesideKernel =
    unsafe fn(&Bone, f32, &[u32; ROW], &[Vec3], &mut [f32; ROW], &mut [f32; ROW]) -> u32;

/// The same for the centers of balls, which may be farther by their radii times a factor.
pub(super) type MeetKernel = unsafe fn(&Bone, [f32; 2], &Balls, &mut [f32; ROW], &mut [f32; ROW]) -> u32;

#[derive(Clone, Copy)]
pub(super) struct Kernels {
    pub scan: ScanKernel,
    pub beside: BesideKernel,
    pub meet: MeetKernel,
}

/// The kernels of a path that the machine has.
pub(super) fn kernels(path: Path) -> Kernels {
    match path {
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 | Path::Avx512 => Kernels { scan: avx2::scan, beside: avx2::beside, meet: avx2::meet },
        _ => Kernels { scan, beside, meet },
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Balls, Bone, Members, ROW, Scan, Scanned};
    use glam::Vec3;

    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn scan(job: &Scan, members: &Members, positions: &[Vec3], found: &mut Scanned) -> u32 {
        super::scan(job, members, positions, found)
    }

    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn beside(
        bone: &Bone,
        square: f32,
        vertices: &[u32; ROW],
        positions: &[Vec3],
        along: &mut [f32; ROW],
        squares: &mut [f32; ROW],
    ) -> u32 {
        super::beside(bone, square, vertices, positions, along, squares)
    }

    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn meet(
        bone: &Bone,
        reach: [f32; 2],
        balls: &Balls,
        along: &mut [f32; ROW],
        squares: &mut [f32; ROW],
    ) -> u32 {
        super::meet(bone, reach, balls, along, squares)
    }
}

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
fn scan(job: &Scan, members: &Members, positions: &[Vec3], found: &mut Scanned) -> u32 {
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
        found.heights[lane] = height;
        found.shares[lane] = share;
        near[lane] = is_near;
    }
    bits(&near)
}

#[inline(always)]
fn beside(
    bone: &Bone,
    square: f32,
    vertices: &[u32; ROW],
    positions: &[Vec3],
    along: &mut [f32; ROW],
    squares: &mut [f32; ROW],
) -> u32 {
    measure(bone, &gather(vertices, positions), along, squares);
    let mut near = [false; ROW];
    for lane in 0..ROW {
        // False, too, where a place is not a number.
        near[lane] = squares[lane] <= square;
    }
    bits(&near)
}

#[inline(always)]
fn meet(
    bone: &Bone,
    [most, factor]: [f32; 2],
    balls: &Balls,
    along: &mut [f32; ROW],
    squares: &mut [f32; ROW],
) -> u32 {
    measure(bone, &balls.centers, along, squares);
    let mut near = [false; ROW];
    for lane in 0..ROW {
        let reach = most + balls.radii[lane] * factor;
        near[lane] = squares[lane] < reach * reach;
    }
    bits(&near)
}

/// How far along a bone places are, and how far from it, squared.
#[inline(always)]
fn measure(bone: &Bone, places: &[[f32; ROW]; 3], along: &mut [f32; ROW], squares: &mut [f32; ROW]) {
    let (a, b, c) = (bone.back.x_axis, bone.back.y_axis, bone.back.z_axis);
    let (by, start, way, rate) = (bone.back_by, bone.start, bone.way, bone.along);
    for lane in 0..ROW {
        let (x, y, z) = (places[0][lane], places[1][lane], places[2][lane]);
        let u = a.x * x + b.x * y + c.x * z + by.x - start.x;
        let v = a.y * x + b.y * y + c.y * z + by.y - start.y;
        let w = a.z * x + b.z * y + c.z * z + by.z - start.z;
        let t = u * rate.x + v * rate.y + w * rate.z;
        let t = if t > 0.0 { t } else { 0.0 };
        let t = if t < 1.0 { t } else { 1.0 };
        let (u, v, w) = (u - way.x * t, v - way.y * t, w - way.z * t);
        along[lane] = t;
        squares[lane] = u * u + v * v + w * w;
    }
}
