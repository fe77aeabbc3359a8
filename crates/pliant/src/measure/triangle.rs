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

/// Whether two triangles pass through each other. Touching, or lying in one plane, is not crossing.
pub(super) fn cross(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    // Each pair of sums of signs is cheap and parts most neighbours; coordinates come from f32, so that in f64 the
    // signs are right but for cases closer to touching than f32 can tell.
    let below_a = b.map(|p| side(a, p));
    if parted(below_a) {
        return false;
    }
    let below_b = a.map(|p| side(b, p));
    if parted(below_b) {
        return false;
    }
    pierces(b, below_a, a) || pierces(a, below_b, b)
}

fn side(t: [DVec3; 3], p: DVec3) -> f64 {
    (t[1] - t[0]).cross(t[2] - t[0]).dot(p - t[0])
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
pub(super) fn near(a: [DVec3; 3], b: [DVec3; 3], gap: f64) -> bool {
    const SIDES: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 0)];
    let sides = || SIDES.into_iter().flat_map(|s| SIDES.map(|t| (s, t)));
    cross(a, b)
        || sides().any(|(s, t)| segment_distance([a[s.0], a[s.1]], [b[t.0], b[t.1]]) < gap)
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
