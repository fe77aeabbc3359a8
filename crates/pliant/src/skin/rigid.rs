//! Skin matrices as rotation, translation and scale: what dual quaternion skinning blends.

use crate::rig::SkinMatrix;
use glam::{DMat3, DQuat, DVec3};

/// A skin matrix `S v = R (A v) + t`: a unit dual quaternion for `R` and `t`, and the symmetric scale `A`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rigid {
    /// `R`, as x y z w.
    pub rotation: [f32; 4],
    /// Half of `t` times the rotation, as x y z w.
    pub dual: [f32; 4],
    /// `A`: xx yy zz xy xz yz.
    pub scale: [f32; 6],
}

/// A scale this close to one is none: rest matrices come as f32 numbers, whose rounding looks like a scale of some 1e-7.
const NO_SCALE: f64 = 1e-6;

impl Rigid {
    pub(super) fn new(matrix: &SkinMatrix) -> Self {
        let [x, y, z] = matrix.map(|row| f64::from(row[3]));
        let (q, scale) = turn_and_scale(matrix);
        let [qx, qy, qz, qw] = q.to_array();
        let t = DVec3::new(x, y, z) * 0.5;
        let r = DVec3::new(qx, qy, qz);
        let v = t * qw + t.cross(r);
        let unscaled = (scale - DMat3::IDENTITY).to_cols_array().iter().all(|x| x.abs() < NO_SCALE);
        let scale = if unscaled { DMat3::IDENTITY } else { scale };
        let [a, b, c] = [scale.x_axis, scale.y_axis, scale.z_axis];
        Self {
            rotation: q.to_array().map(|x| x as f32),
            dual: [v.x, v.y, v.z, -t.dot(r)].map(|x| x as f32),
            scale: [a.x, b.y, c.z, 0.5 * (a.y + b.x), 0.5 * (a.z + c.x), 0.5 * (b.z + c.y)].map(|x| x as f32),
        }
    }

    /// Whether there is rotation and translation alone.
    pub(super) fn is_unscaled(&self) -> bool {
        self.scale == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    }
}

/// The turn and the symmetric scale of a skin matrix, `S v = R (A v) + t`.
pub(crate) fn turn_and_scale(matrix: &SkinMatrix) -> (DQuat, DMat3) {
    let [x, y, z] = matrix.map(|row| row.map(f64::from));
    let m = DMat3::from_cols_array(&[x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]]);
    let (rotation, scale) = polar(m);
    (DQuat::from_mat3(&rotation), scale)
}

/// A matrix whose determinant is smaller than this, against the cube of its size, is as good as flat: Newton's steps
/// would have to divide by it.
const FLAT: f64 = 1e-12;

/// Splits `m` into a proper rotation and a symmetric scale, `m = rotation * scale`. For a mirrored matrix both factors
/// change sign: so all joints of a mirrored character get the same mirrored scale, and blend as if they had none.
fn polar(m: DMat3) -> (DMat3, DMat3) {
    let size = norm(m);
    if !size.is_finite() || size < f64::MIN_POSITIVE.sqrt() {
        return (DMat3::IDENTITY, m);
    }
    let unit = m * size.recip();
    let det = unit.determinant();
    let rotation = if det.abs() > FLAT { newton(unit) } else { flat(unit) };
    let rotation = if rotation.determinant() < 0.0 { -rotation } else { rotation };
    (rotation, rotation.transpose() * m)
}

/// Higham's iteration to the orthogonal factor: `X <- (g X + (g X)^-T) / 2` with `g` to make both of one size.
fn newton(m: DMat3) -> DMat3 {
    let mut x = m;
    // A dozen steps are enough for the flattest matrix that comes here; four for a rotation with a scale.
    for _ in 0..24 {
        let inverse = cofactors(x) * x.determinant().recip();
        let g = (norm(inverse) / norm(x)).sqrt();
        let next = (x * g + inverse * g.recip()) * 0.5;
        let change = norm(next - x);
        x = next;
        // Quadratic convergence: after a change of 1e-8 what is left is below f64's rounding.
        if change < 1e-8 {
            break;
        }
    }
    x
}

/// The orthogonal factor of a matrix that squashes at least one direction to nothing: the squashed directions turn with
/// the others, by the smallest angle.
fn flat(m: DMat3) -> DMat3 {
    let (mut gram, mut axes) = (m.transpose() * m, DMat3::IDENTITY);
    // Jacobi: 8 sweeps end at f64's rounding for any 3x3.
    for _ in 0..8 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = gram.col(q)[p];
            if off == 0.0 {
                continue;
            }
            let tau = (gram.col(q)[q] - gram.col(p)[p]) / (2.0 * off);
            let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
            let c = (1.0 + t * t).sqrt().recip();
            let mut turn = DMat3::IDENTITY;
            (turn.col_mut(p)[p], turn.col_mut(q)[q]) = (c, c);
            (turn.col_mut(p)[q], turn.col_mut(q)[p]) = (-t * c, t * c);
            gram = turn.transpose() * gram * turn;
            axes *= turn;
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| gram.col(b)[b].total_cmp(&gram.col(a)[a]));
    let [v0, v1] = [axes.col(order[0]), axes.col(order[1])];
    let u0 = (m * v0).normalize_or(v0);
    let image = m * v1;
    let image = image - u0 * u0.dot(image);
    // With one direction left, the second goes where the smallest turn that takes the first there puts it.
    let u1 = if image.length() > 1e-9 { image } else { DQuat::from_rotation_arc(v0, u0) * v1 };
    let u1 = (u1 - u0 * u0.dot(u1)).normalize_or(u0.any_orthonormal_vector());
    let (from, to) = (DMat3::from_cols(v0, v1, v0.cross(v1)), DMat3::from_cols(u0, u1, u0.cross(u1)));
    to * from.transpose()
}

fn cofactors(m: DMat3) -> DMat3 {
    let [a, b, c] = [m.x_axis, m.y_axis, m.z_axis];
    DMat3::from_cols(b.cross(c), c.cross(a), a.cross(b))
}

fn norm(m: DMat3) -> f64 {
    (m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn() -> DMat3 {
        DMat3::from_quat(DQuat::from_xyzw(0.3, -0.5, 0.2, 0.7).normalize())
    }

    fn check(m: DMat3) -> (DMat3, DMat3) {
        let (r, a) = polar(m);
        assert!(norm(r.transpose() * r - DMat3::IDENTITY) < 1e-12, "{r} is no rotation, of {m}");
        assert!(r.determinant() > 0.0);
        assert!(norm(r * a - m) < 1e-12 * norm(m).max(1.0));
        assert!(norm(a - a.transpose()) < 1e-9 * norm(m).max(1e-9), "{a} is not symmetric, of {m}");
        (r, a)
    }

    #[test]
    fn rotation_and_scale_are_found_again() {
        let scale = DMat3::from_diagonal(DVec3::new(0.5, 2.0, 3.0));
        for size in [1e-6, 0.01, 1.0, 100.0, 1e6] {
            let (r, a) = check(turn() * scale * size);
            assert!(norm(r - turn()) < 1e-12);
            assert!(norm(a - scale * size) < 1e-11 * size);
        }
    }

    #[test]
    fn a_mirror_goes_to_the_scale() {
        let (_, a) = check(turn() * DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0)));
        assert!(norm(a + DMat3::IDENTITY) < 1e-12);
    }

    #[test]
    fn flat_matrices_still_turn() {
        for scale in [DVec3::new(1.0, 2.0, 0.0), DVec3::new(1.0, 2.0, 1e-14)] {
            let (r, _) = check(turn() * DMat3::from_diagonal(scale));
            assert!(norm(r - turn()) < 1e-9);
        }
        check(turn() * DMat3::from_diagonal(DVec3::new(0.0, 2.0, 0.0)));
        check(DMat3::from_cols(DVec3::ZERO, DVec3::new(0.0, -3.0, 0.0), DVec3::ZERO));
        assert_eq!(check(DMat3::ZERO).0, DMat3::IDENTITY);
    }
}
