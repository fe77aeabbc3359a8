//! 4 x 4 matrices and quaternions (x, y, z, w) in f64, as the standard writes them: columns, `M v`.

pub(crate) type Vec3 = [f64; 3];
pub(crate) type Quat = [f64; 4];

/// Column-major: `self.0[column][row]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Matrix(pub(crate) [[f64; 4]; 4]);

impl Matrix {
    pub(crate) const IDENTITY: Self =
        Self([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]);
    pub(crate) const ZERO: Self = Self([[0.0; 4]; 4]);

    /// Sixteen numbers, column by column.
    pub(crate) fn from_columns(n: &[f64]) -> Option<Self> {
        let n: &[f64; 16] = n.try_into().ok()?;
        Some(Self(std::array::from_fn(|c| std::array::from_fn(|r| n[c * 4 + r]))))
    }

    /// `T R S`.
    pub(crate) fn from_trs(t: Vec3, q: Quat, s: Vec3) -> Self {
        let [x, y, z, w] = unit(q);
        let r = [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w), 2.0 * (x * z - y * w)],
            [2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w)],
            [2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)],
        ];
        let column = |c: usize| [r[c][0] * s[c], r[c][1] * s[c], r[c][2] * s[c], 0.0];
        Self([column(0), column(1), column(2), [t[0], t[1], t[2], 1.0]])
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut out = Self::ZERO;
        for c in 0..4 {
            for r in 0..4 {
                out.0[c][r] = (0..4).map(|k| self.0[k][r] * other.0[c][k]).sum();
            }
        }
        out
    }

    /// Adds `other` times `weight`.
    pub(crate) fn add(&mut self, other: &Self, weight: f64) {
        for c in 0..4 {
            for r in 0..4 {
                self.0[c][r] += other.0[c][r] * weight;
            }
        }
    }

    pub(crate) fn point(&self, p: Vec3) -> Vec3 {
        let m = &self.0;
        std::array::from_fn(|r| m[0][r] * p[0] + m[1][r] * p[1] + m[2][r] * p[2] + m[3][r])
    }

    /// A unit normal under the inverse transpose; where the matrix is flat, the limit that its cofactors give.
    pub(crate) fn normal(&self, n: Vec3) -> Vec3 {
        let [a, b, c] = [0, 1, 2].map(|k| [self.0[k][0], self.0[k][1], self.0[k][2]]);
        let cofactors = [cross(b, c), cross(c, a), cross(a, b)];
        // The inverse transpose is the cofactors over the determinant, of which only the sign outlives normalising.
        let side = if dot(a, cofactors[0]) < 0.0 { -1.0 } else { 1.0 };
        let out: Vec3 = std::array::from_fn(|r| side * (0..3).map(|k| cofactors[k][r] * n[k]).sum::<f64>());
        let length = dot(out, out).sqrt();
        if length > 0.0 { out.map(|x| x / length) } else { out }
    }

    /// Of an affine matrix; none where it is flat.
    pub(crate) fn inverse(&self) -> Option<Self> {
        let [a, b, c, t] = self.0.map(|k| [k[0], k[1], k[2]]);
        let rows = [cross(b, c), cross(c, a), cross(a, b)];
        let determinant = dot(a, rows[0]);
        if determinant == 0.0 || !determinant.is_finite() {
            return None;
        }
        let rows = rows.map(|r| r.map(|x| x / determinant));
        let column = |c: usize| [rows[0][c], rows[1][c], rows[2][c], 0.0];
        let back = rows.map(|r| -dot(r, t));
        Some(Self([column(0), column(1), column(2), [back[0], back[1], back[2], 1.0]]))
    }
}

pub(crate) fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn distance(a: Vec3, b: Vec3) -> f64 {
    let d: Vec3 = std::array::from_fn(|k| a[k] - b[k]);
    dot(d, d).sqrt()
}

pub(crate) fn unit(q: Quat) -> Quat {
    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 { q.map(|x| x / length) } else { [0.0, 0.0, 0.0, 1.0] }
}

/// Appendix C.4 of the standard: along the shorter arc.
pub(crate) fn slerp(from: Quat, to: Quat, t: f64) -> Quat {
    let (from, to) = (unit(from), unit(to));
    let cosine: f64 = (0..4).map(|k| from[k] * to[k]).sum();
    let to = if cosine < 0.0 { to.map(|x| -x) } else { to };
    // The angle from chord and sum, which stays exact where an arc cosine loses half its digits.
    let norm = |f: &dyn Fn(usize) -> f64| (0..4).map(|k| f(k) * f(k)).sum::<f64>().sqrt();
    let angle = 2.0 * f64::atan2(norm(&|k| to[k] - from[k]), norm(&|k| to[k] + from[k]));
    if angle.sin() == 0.0 {
        return from;
    }
    let (a, b) = (((1.0 - t) * angle).sin() / angle.sin(), (t * angle).sin() / angle.sin());
    unit(std::array::from_fn(|k| a * from[k] + b * to[k]))
}
