//! The reference: plain Rust, one tet after the other. What every other path must equal to the last bit, and what benches
//! compare with.

use super::super::judge::Sums;
use super::super::pack::BATCH;
use super::super::{DIRECTION_FLOOR, NO_STIFFNESS};
use super::kernel::{Kind, Task};
use super::pack::Columns;
use super::{LIMIT, SHEARS, VOLUME};
use crate::body::Node;
use crate::simd::vectors::plain::dot;
use glam::Vec3;

/// The larger; `b` where they are equal or one is NaN.
fn max(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// A tet as its constraints see it: the columns of `F` and what has been added to them, with `M` in the place of masses.
struct Tet {
    f: [Vec3; 3],
    /// What is to be added to the nodes: `dp_k = w_k sum_i c_i[k] L_i`.
    pull: [Vec3; 3],
    m: [[f32; 3]; 3],
    least: f32,
}

/// The seven numbers of a tet and their multipliers, where these are kept.
struct Material<'a> {
    stiffness: [f32; 7],
    multipliers: Option<&'a mut [f32; 7]>,
}

impl Material<'_> {
    /// What to add to the multiplier of constraint `k`, divided by `scale`: `over` is the denominator with the least
    /// share added.
    fn step(&mut self, k: usize, short: f32, scale: f32, over: f32) -> f32 {
        let stiffness = self.stiffness[k];
        match &mut self.multipliers {
            None => stiffness * short / (scale * over),
            Some(multipliers) => {
                let mut step = 0.0;
                if stiffness < NO_STIFFNESS {
                    step = (short - stiffness * multipliers[k]) / (scale * (over + stiffness));
                }
                multipliers[k] += step * scale;
                step
            }
        }
    }
}

fn columns_of(columns: &Columns, lane: usize) -> [Vec3; 3] {
    let at = |row: usize| columns[row].0[lane];
    [Vec3::new(at(0), at(1), at(2)), Vec3::new(at(3), at(4), at(5)), Vec3::new(at(6), at(7), at(8))]
}

/// `F Q = Ds Dm^-1 Q`
fn gradient(p: [Vec3; 4], c: [Vec3; 3]) -> [Vec3; 3] {
    let (a, b, d) = (p[1] - p[0], p[2] - p[0], p[3] - p[0]);
    c.map(|c| a * c.x + b * c.y + d * c.z)
}

impl Tet {
    fn new(p: [Vec3; 4], w: [f32; 4], c: [Vec3; 3], share: f32) -> Self {
        let s = c.map(|c| c.x + c.y + c.z);
        let wc = c.map(|c| Vec3::new(w[1] * c.x, w[2] * c.y, w[3] * c.z));
        let ws = s.map(|s| w[0] * s);
        let m = std::array::from_fn(|i| {
            std::array::from_fn(|j: usize| {
                let (i, j) = (i.min(j), i.max(j));
                dot(wc[i], c[j]) + ws[i] * s[j]
            })
        });
        let least = (w[0] + w[1] + w[2] + w[3]) * share;
        // Nothing to move: any number that keeps quotients finite.
        let least = if least <= 0.0 { 1.0 } else { least };
        Self { f: gradient(p, c), pull: [Vec3::ZERO; 3], m, least }
    }

    /// `C = |f_i| - 1`
    fn stretch(&mut self, i: usize, material: &mut Material<'_>) {
        let square = dot(self.f[i], self.f[i]);
        if square <= DIRECTION_FLOOR * DIRECTION_FLOOR {
            self.f[i][i] = DIRECTION_FLOOR;
        }
        let f = self.f[i];
        let length = max(square.sqrt(), DIRECTION_FLOOR);
        let step = material.step(i, 1.0 - length, length, self.m[i][i] + self.least);
        let by = f * step;
        self.pull[i] += by;
        for j in 0..3 {
            self.f[j] += by * self.m[i][j];
        }
    }

    /// `C = f_i . f_j`
    fn shear(&mut self, k: usize, material: &mut Material<'_>) {
        let [i, j] = SHEARS[k];
        let (a, b) = (self.f[i], self.f[j]);
        let value = dot(a, b);
        let mixed = (self.m[i][j] + self.m[i][j]) * value;
        let over = self.m[i][i] * dot(b, b) + mixed + (self.m[j][j] * dot(a, a) + self.least);
        let step = material.step(3 + k, -value, 1.0, over);
        let (on_i, on_j) = (b * step, a * step);
        self.pull[i] += on_i;
        self.pull[j] += on_j;
        for n in 0..3 {
            self.f[n] += on_i * self.m[i][n] + on_j * self.m[j][n];
        }
    }

    /// `C = det F - 1`, the first that a tet meets.
    fn volume(&mut self, material: &mut Material<'_>) {
        let [a, b, c] = self.f;
        let g = [b.cross(c), c.cross(a), a.cross(b)];
        let short = 1.0 - dot(a, g[0]);
        // What a pull by `g` adds to the columns.
        let h = self.m.map(|m| g[0] * m[0] + g[1] * m[1] + g[2] * m[2]);
        let over = dot(g[0], h[0]) + dot(g[1], h[1]) + dot(g[2], h[2]) + self.least;
        let over = max(short * short * (self.least * LIMIT), over);
        let step = material.step(VOLUME, short, 1.0, over);
        self.pull = g.map(|g| g * step);
        for a in 0..3 {
            self.f[a] += h[a] * step;
        }
    }
}

pub(super) fn sweep(task: &mut Task<'_>, kind: Kind, nodes: &mut [Node]) {
    for (slot, corners) in task.plain.iter().enumerate() {
        let (batch, lane) = (slot / BATCH, slot % BATCH);
        if corners[0] == corners[1] {
            continue;
        }
        let own = corners.map(|n| nodes[n as usize]);
        let p = own.map(|[x, y, z, _]| Vec3::new(x, y, z));
        let mut w = own.map(|n| n[3]);
        if kind == Kind::Consolidating {
            let finished = task.finished[batch].0[lane] as u32;
            for (corner, w) in w.iter_mut().enumerate() {
                if finished & (8 >> corner) != 0 {
                    *w *= task.lighter;
                }
            }
        }
        let c = columns_of(&task.columns[batch], lane);
        let mut tet = Tet::new(p, w, c, task.columns[batch][9].0[lane]);
        let block = &task.stiffness[task.block_of[batch] as usize];
        let mut kept = task.multipliers.get(batch).map(|rows| std::array::from_fn(|k| rows[k].0[lane]));
        let mut material =
            Material { stiffness: std::array::from_fn(|k| block[k].0[lane]), multipliers: kept.as_mut() };
        tet.volume(&mut material);
        if kind != Kind::Volume {
            (0..3).for_each(|i| tet.stretch(i, &mut material));
            (0..3).for_each(|k| tet.shear(k, &mut material));
        }
        if let (Some(kept), Some(rows)) = (kept, task.multipliers.get_mut(batch)) {
            (0..7).for_each(|k| rows[k].0[lane] = kept[k]);
        }
        let u: [Vec3; 3] =
            std::array::from_fn(|k| tet.pull[0] * c[0][k] + tet.pull[1] * c[1][k] + tet.pull[2] * c[2][k]);
        let moved =
            [p[0] - (u[0] + u[1] + u[2]) * w[0], p[1] + u[0] * w[1], p[2] + u[1] * w[2], p[3] + u[2] * w[3]];
        for corner in 0..4 {
            let p = moved[corner];
            nodes[corners[corner] as usize] = [p.x, p.y, p.z, own[corner][3]];
        }
    }
}

/// The columns of `F` of a slot; none of a filler.
fn gradient_of(task: &Task<'_>, nodes: &[Node], slot: usize) -> Option<[Vec3; 3]> {
    let (batch, lane) = (slot / BATCH, slot % BATCH);
    let p = task.plain[slot].map(|n| Vec3::from_slice(&nodes[n as usize]));
    let columns = &task.columns[batch];
    (columns[9].0[lane] > 0.0).then(|| gradient(p, columns_of(columns, lane)))
}

pub(super) fn errors(task: &Task<'_>, nodes: &[Node]) -> Sums {
    let mut sums = [0.0; BATCH];
    for slot in 0..task.plain.len() {
        let Some([a, b, c]) = gradient_of(task, nodes, slot) else { continue };
        let stretch = [a, b, c].map(|f| (dot(f, f).sqrt() - 1.0).abs());
        let shear = [dot(a, b).abs(), dot(a, c).abs(), dot(b, c).abs()];
        let volume = (dot(a, b.cross(c)) - 1.0).abs();
        let sum = |[a, b, c]: [f32; 3]| a + b + c;
        sums[slot % BATCH] += f64::from(sum(stretch) + sum(shear) + volume);
    }
    sums
}

pub(super) fn flat(task: &Task<'_>, nodes: &[Node], share: f32) -> Sums {
    let mut sums = [0.0; BATCH];
    for slot in 0..task.plain.len() {
        let Some([a, b, c]) = gradient_of(task, nodes, slot) else { continue };
        sums[slot % BATCH] += if dot(a, b.cross(c)) <= share { 1.0 } else { 0.0 };
    }
    sums
}
