//! Which triangle each sample sees.

use super::scene::{Paint, Stage};
use glam::{DVec3, Vec2};
use pliant::parallel;

/// No triangle.
pub(crate) const NONE: u32 = u32::MAX;

/// Sample positions are cut to this share of a sample: with it all edge sums below are exact in f64, so that
/// neighbouring triangles neither overlap nor leave a gap.
const SNAP: f64 = 256.0;

/// Most samples per pixel along an axis.
pub(crate) const MAX_SAMPLES: usize = 4;

/// A triangle as the picture sees it, in samples.
struct Flat {
    corners: [[f64; 2]; 3],
    /// 1 / depth at the corners.
    nearness: [f64; 3],
    /// Rows that it may touch.
    rows: [f64; 2],
    face: u32,
}

/// The stage before the camera.
pub(crate) struct Shot<'a> {
    pub(crate) stage: &'a Stage<'a>,
    /// Stage vertices in camera space.
    pub(crate) seen: Vec<DVec3>,
    /// Samples per pixel along each axis.
    pub(crate) samples: usize,
    /// Samples across.
    pub(crate) width: usize,
    /// By how much samples are moved off their grid, so that no two of a pixel share a row or a column: a sample's x
    /// by its row in the pixel, its y back by its column. Upright edges get as many steps as samples, not their root.
    shifts: Vec<f64>,
    flats: Vec<Flat>,
}

impl<'a> Shot<'a> {
    pub(crate) fn new(stage: &'a Stage, width: usize, height: usize, samples: usize) -> Self {
        let seen: Vec<DVec3> = stage.positions.iter().map(|&p| stage.camera.see(p)).collect();
        let shift = |i: usize| (((i as f64 + 0.5) / samples as f64 - 0.5) * SNAP).round() / SNAP;
        let shifts = (0..samples).map(shift).collect();
        let mut shot = Self { stage, seen, samples, width: width * samples, shifts, flats: Vec::new() };
        let rows = (height * samples) as f64;
        const CHUNK: usize = 4096;
        shot.flats = parallel::map(stage.faces.len().div_ceil(CHUNK), |chunk| {
            let faces = chunk * CHUNK..stage.faces.len().min((chunk + 1) * CHUNK);
            let mut flats = Vec::with_capacity(faces.len());
            faces.for_each(|face| shot.flatten(face, rows, &mut flats));
            flats
        })
        .into_iter()
        .flatten()
        .collect();
        shot
    }

    /// Projects a triangle, cut by the near plane and to twice the picture where it goes beyond.
    fn flatten(&self, face: usize, rows: f64, out: &mut Vec<Flat>) {
        let camera = &self.stage.camera;
        let samples = self.samples as f64;
        let columns = self.width as f64;
        let corners = self.stage.faces[face].indices().map(|v| self.seen[v]);
        // Directions to the corners of a picture twice as large bound the side planes.
        let low = camera.ray(-0.5 * columns / samples, 1.5 * rows / samples);
        let high = camera.ray(1.5 * columns / samples, -0.5 * rows / samples);
        let planes: [(DVec3, f64); 5] = [
            (DVec3::Z, camera.near),
            (DVec3::new(1.0, 0.0, -low.x), 0.0),
            (DVec3::new(-1.0, 0.0, high.x), 0.0),
            (DVec3::new(0.0, 1.0, -low.y), 0.0),
            (DVec3::new(0.0, -1.0, high.y), 0.0),
        ];
        let mut polygon = corners.to_vec();
        for (normal, offset) in planes {
            let inside = |p: &DVec3| p.dot(normal) - offset;
            if polygon.iter().all(|p| inside(p) >= 0.0) {
                continue;
            }
            let mut cut = Vec::with_capacity(polygon.len() + 1);
            for (i, &a) in polygon.iter().enumerate() {
                let b = polygon[(i + 1) % polygon.len()];
                let (da, db) = (inside(&a), inside(&b));
                if da >= 0.0 {
                    cut.push(a);
                }
                if (da >= 0.0) != (db >= 0.0) {
                    cut.push(a + (b - a) * (da / (da - db)));
                }
            }
            polygon = cut;
            if polygon.len() < 3 {
                return;
            }
        }
        let project = |p: DVec3| {
            let pixel = camera.pixel(p).map(|c| (c * samples * SNAP).round() / SNAP);
            (pixel, 1.0 / p.z)
        };
        let (first, first_near) = project(polygon[0]);
        for pair in polygon[1..].windows(2) {
            let ((b, b_near), (c, c_near)) = (project(pair[0]), project(pair[1]));
            let area = (b[0] - first[0]) * (c[1] - first[1]) - (b[1] - first[1]) * (c[0] - first[0]);
            let flip = area < 0.0;
            // NaN fails this too.
            if !(area.abs() > 0.0 && (first_near + b_near + c_near).is_finite()) {
                continue;
            }
            let rows = [first[1].min(b[1]).min(c[1]), first[1].max(b[1]).max(c[1])];
            let (corners, nearness) = if flip {
                ([first, c, b], [first_near, c_near, b_near])
            } else {
                ([first, b, c], [first_near, b_near, c_near])
            };
            out.push(Flat { corners, nearness, rows, face: face as u32 });
        }
    }

    /// Finds what the samples of rows `first..first + count` see.
    pub(crate) fn expose(&self, first: usize, count: usize) -> Exposure {
        let mut exposure = Exposure {
            first,
            width: self.width,
            nearness: vec![0.0; self.width * count],
            faces: vec![NONE; self.width * count],
        };
        let (top, bottom) = (first as f64, (first + count) as f64);
        for flat in self.flats.iter().filter(|f| f.rows[1] + 0.5 > top && f.rows[0] - 0.5 < bottom) {
            self.fill(flat, &mut exposure);
        }
        exposure
    }

    fn fill(&self, flat: &Flat, out: &mut Exposure) {
        let count = out.faces.len() / self.width;
        let [a, b, c] = flat.corners;
        // Samples lie less than half a step off their centres.
        let whole = |low: f64, high: f64, limit: usize| {
            let start = (low - 1.0).ceil().max(0.0) as usize;
            let end = high.ceil().clamp(0.0, limit as f64) as usize;
            start..end
        };
        let columns = whole(a[0].min(b[0]).min(c[0]), a[0].max(b[0]).max(c[0]), self.width);
        let top = out.first as f64;
        let rows = whole(flat.rows[0] - top, flat.rows[1] - top, count);
        if columns.is_empty() || rows.is_empty() {
            return;
        }
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        let (x0, y0) = (columns.start as f64 + 0.5, (rows.start + out.first) as f64 + 0.5);
        // Twice the area that each edge spans with the sample, and its change per column and row. A sample exactly
        // on an edge belongs to the triangle below or to the right of it: the others get less than one step less.
        let edge = |p: [f64; 2], q: [f64; 2]| {
            let (dx, dy) = (q[0] - p[0], q[1] - p[1]);
            let owns = dy < 0.0 || (dy == 0.0 && dx > 0.0);
            let value = dx * (y0 - p[1]) - dy * (x0 - p[0]);
            (value - if owns { 0.0 } else { 0.5 / (SNAP * SNAP) }, -dy, dx)
        };
        let edges = [edge(b, c), edge(c, a), edge(a, b)];
        let near = flat.nearness.map(|n| n / area);
        let cut = self.cutoff(flat.face);
        let mut column_shifts = [[0.0; 3]; MAX_SAMPLES];
        for (out, shift) in column_shifts.iter_mut().zip(&self.shifts) {
            *out = edges.map(|(_, _, per_row)| -shift * per_row);
        }
        for (step, y) in rows.enumerate() {
            let shift = self.shifts[(y + out.first) % self.samples];
            let mut e =
                edges.map(|(value, per_column, per_row)| value + shift * per_column + step as f64 * per_row);
            let row = y * self.width;
            let mut phase = columns.start % self.samples;
            for x in columns.clone() {
                let [u, v, w] = [0, 1, 2].map(|k| e[k] + column_shifts[phase][k]);
                if u >= 0.0 && v >= 0.0 && w >= 0.0 {
                    let i = row + x;
                    let value = (u * near[0] + v * near[1] + w * near[2]) as f32;
                    let is_seen = value > out.nearness[i]
                        && cut.is_none_or(|cut| self.opacity(flat.face, x, y + out.first) >= cut);
                    if is_seen {
                        out.nearness[i] = value;
                        out.faces[i] = flat.face;
                    }
                }
                for k in 0..3 {
                    e[k] += edges[k].1;
                }
                phase = if phase + 1 == self.samples { 0 } else { phase + 1 };
            }
        }
    }

    /// Where a sample lies in the picture, in samples.
    pub(crate) fn place(&self, x: usize, y: usize) -> [f64; 2] {
        let (across, down) = (self.shifts[y % self.samples], -self.shifts[x % self.samples]);
        [x as f64 + 0.5 + across, y as f64 + 0.5 + down]
    }

    /// Camera-space direction of a place in the picture, in samples.
    pub(crate) fn ray(&self, [x, y]: [f64; 2]) -> DVec3 {
        let scale = 1.0 / self.samples as f64;
        self.stage.camera.ray(x * scale, y * scale)
    }

    fn cutoff(&self, face: u32) -> Option<f32> {
        match self.stage.scene.meshes[self.stage.faces[face as usize].mesh as usize].paint {
            Paint::Texture { cutoff, .. } => cutoff,
            _ => None,
        }
    }

    fn opacity(&self, face: u32, x: usize, y: usize) -> f32 {
        let weights = Spanner::new(self, face).weights(self.ray(self.place(x, y)));
        let face = &self.stage.faces[face as usize];
        match &self.stage.scene.meshes[face.mesh as usize].paint {
            Paint::Texture { image, .. } => {
                let uvs = self.uvs(face.mesh, face.vertices);
                image.sample(uvs[0] * weights[0] + uvs[1] * weights[1] + uvs[2] * weights[2], 0.0)[3]
            }
            _ => 1.0,
        }
    }

    /// Texture coordinates of stage vertices of a mesh; the origin where there are none.
    pub(crate) fn uvs(&self, mesh: u32, vertices: [u32; 3]) -> [Vec2; 3] {
        let first = self.stage.first_vertex[mesh as usize];
        match self.stage.scene.meshes[mesh as usize].paint {
            Paint::Texture { uvs, .. } => {
                vertices.map(|v| uvs.get((v - first) as usize).copied().unwrap_or_default())
            }
            _ => Default::default(),
        }
    }
}

/// What a band of samples sees.
pub(crate) struct Exposure {
    /// The first row.
    pub(crate) first: usize,
    /// Samples across.
    pub(crate) width: usize,
    /// 1 / depth; 0 for nothing.
    pub(crate) nearness: Vec<f32>,
    /// Faces of the stage, or [`NONE`].
    pub(crate) faces: Vec<u32>,
}

/// Weights of a triangle's corners along a ray: the volumes the ray spans with its edges, which is exact in
/// perspective and needs no clipping.
pub(crate) struct Spanner([DVec3; 3]);

impl Spanner {
    pub(crate) fn new(shot: &Shot, face: u32) -> Self {
        let [a, b, c] = shot.stage.faces[face as usize].indices().map(|v| shot.seen[v]);
        // About one corner: the edges' products would cancel far from the eye.
        let (ab, ac) = (b - a, c - a);
        let (b_side, c_side) = (ac.cross(a), a.cross(ab));
        Self([ab.cross(ac) - b_side - c_side, b_side, c_side])
    }

    /// Weights at a ray, none negative, summing to 1.
    pub(crate) fn weights(&self, ray: DVec3) -> [f32; 3] {
        let volumes = self.0.map(|side| side.dot(ray));
        let sum = volumes[0] + volumes[1] + volumes[2];
        // A sample at the rim may lie a hair outside.
        let w = volumes.map(|v| (v / sum).clamp(0.0, 1.0));
        let sum = w[0] + w[1] + w[2];
        if sum > 0.0 { w.map(|w| (w / sum) as f32) } else { [1.0 / 3.0; 3] }
    }
}
