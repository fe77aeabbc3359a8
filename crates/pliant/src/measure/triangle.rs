//! What the judge knows about triangles.

use glam::DVec3;

pub(super) fn area([a, b, c]: [DVec3; 3]) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}

pub(super) fn longest_side([a, b, c]: [DVec3; 3]) -> f64 {
    a.distance(b).max(b.distance(c)).max(c.distance(a))
}

/// Six times the signed volume of the tetrahedron under a triangle: positive where `apex` is behind it.
pub(super) fn cone([a, b, c]: [DVec3; 3], apex: DVec3) -> f64 {
    (a - apex).dot((b - apex).cross(c - apex))
}

/// Heights over a plane below this fraction of the distance are zero: what f64 makes of corners that lie in one plane.
const FLAT: f64 = 1e-10;

/// A triangle with its normal, twice its area long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facet {
    corners: [DVec3; 3],
    normal: DVec3,
}

impl Facet {
    pub(super) fn new(corners: [DVec3; 3]) -> Self {
        Self { corners, normal: (corners[1] - corners[0]).cross(corners[2] - corners[0]) }
    }

    /// How high the corners of another triangle are over this one's plane, in no particular unit.
    fn heights(&self, of: &Self) -> [f64; 3] {
        let least = FLAT * FLAT * self.normal.length_squared();
        of.corners.map(|p| {
            let from = p - self.corners[0];
            let height = self.normal.dot(from);
            if height * height > least * from.length_squared() { height } else { 0.0 }
        })
    }
}

/// Whether two triangles pass through each other. Touching, or lying in one plane, is not crossing.
pub(super) fn cross(a: &Facet, b: &Facet) -> bool {
    let b_over_a = a.heights(b);
    if parted(b_over_a) {
        return false;
    }
    let a_over_b = b.heights(a);
    !parted(a_over_b) && (pierces(b.corners, b_over_a, a.corners) || pierces(a.corners, a_over_b, b.corners))
}

fn parted(d: [f64; 3]) -> bool {
    d.iter().all(|&d| d >= 0.0) || d.iter().all(|&d| d <= 0.0)
}

/// Whether an edge of `t`, whose corners are `d` above the plane of `other`, goes through `other`.
fn pierces(t: [DVec3; 3], d: [f64; 3], other: [DVec3; 3]) -> bool {
    [(0, 1), (1, 2), (2, 0)].into_iter().any(|(i, j)| {
        let through = (d[i] > 0.0 && d[j] < 0.0) || (d[i] < 0.0 && d[j] > 0.0);
        if !through {
            return false;
        }
        let along = t[j] - t[i];
        let [a, b, c] = other.map(|p| p - t[i]);
        let turns = [along.dot(a.cross(b)), along.dot(b.cross(c)), along.dot(c.cross(a))];
        turns.iter().all(|&x| x >= 0.0) || turns.iter().all(|&x| x <= 0.0)
    })
}

/// Whether two triangles cross or come closer than `gap`.
pub(super) fn near(a: &Facet, b: &Facet, gap: f64) -> bool {
    const SIDES: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 0)];
    let sides = || SIDES.into_iter().flat_map(|s| SIDES.map(|t| (s, t)));
    if cross(a, b) {
        return true;
    }
    let (a, b) = (a.corners, b.corners);
    sides().any(|(s, t)| segment_distance([a[s.0], a[s.1]], [b[t.0], b[t.1]]) < gap)
        || a.iter().any(|&p| hovers(b, p, gap))
        || b.iter().any(|&p| hovers(a, p, gap))
}

/// Whether a point lies right above the inside of a triangle, closer than `gap`.
fn hovers(t: [DVec3; 3], p: DVec3, gap: f64) -> bool {
    let normal = (t[1] - t[0]).cross(t[2] - t[0]);
    let length = normal.length();
    length > 0.0
        && normal.dot(p - t[0]).abs() < gap * length
        && [(0, 1), (1, 2), (2, 0)].into_iter().all(|(i, j)| normal.dot((t[j] - t[i]).cross(p - t[i])) >= 0.0)
}

fn segment_distance([p, q]: [DVec3; 2], [r, s]: [DVec3; 2]) -> f64 {
    let (u, v, w) = (q - p, s - r, p - r);
    let (uu, uv, vv, uw, vw) = (u.dot(u), u.dot(v), v.dot(v), u.dot(w), v.dot(w));
    let ratio = |n: f64, d: f64| if d > 0.0 { (n / d).clamp(0.0, 1.0) } else { 0.0 };
    // Closest points of the lines, held to the first segment, then each to the other in turn.
    let along = ratio(uv * vw - vv * uw, uu * vv - uv * uv);
    let across = ratio(vw + along * uv, vv);
    let along = ratio(across * uv - uw, uu);
    (w + u * along - v * across).length()
}
