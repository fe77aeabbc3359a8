//! Strokes over the picture: triangle edges and overlays.

use super::raster::{Exposure, Shot};
use glam::{DVec3, Vec3};

/// Width of edges in pixels.
const EDGE_WIDTH: f64 = 1.0;
/// Strokes on a surface are drawn this share of their distance nearer, so that it does not swallow them.
const PULL: f64 = 0.0015;
/// The rim around overlays that keeps them readable on any colour: its width in pixels and its strength.
const HALO_WIDTH: f64 = 1.2;
const HALO_STRENGTH: f32 = 0.75;
const HALO: Vec3 = Vec3::new(0.015, 0.02, 0.03);

/// A capsule in samples.
struct Stroke {
    ends: [[f64; 2]; 2],
    /// 1 / depth at the ends; infinite for what shows through everything.
    nearness: [f64; 2],
    half_width: f64,
    colour: Vec3,
}

/// All strokes of a picture.
pub(crate) struct Strokes {
    edges: Vec<Stroke>,
    lines: Vec<Stroke>,
    /// One pixel, in samples.
    pixel: f64,
}

impl Strokes {
    pub(crate) fn new(shot: &Shot, with_edges: bool) -> Self {
        let pixel = shot.samples as f64;
        let mut edges = Vec::new();
        if with_edges {
            let mut pairs: Vec<[u32; 2]> = Vec::with_capacity(3 * shot.stage.faces.len());
            for [a, b, c] in shot.stage.faces.iter().map(|f| f.vertices) {
                pairs.extend([[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]));
            }
            pairs.sort_unstable();
            pairs.dedup();
            let stroke = |&[a, b]: &[u32; 2]| {
                let ends = [a, b].map(|v| shot.seen[v as usize]);
                Stroke::new(shot, ends, EDGE_WIDTH * pixel, Vec3::ZERO, false)
            };
            edges = pairs.iter().filter_map(stroke).collect();
        }
        let lines = shot.stage.scene.lines.iter().filter_map(|line| {
            let is_usable = line.from.is_finite() && line.to.is_finite() && line.width > 0.0;
            let ends = [line.from, line.to].map(|p| shot.stage.camera.see(shot.stage.place(p)));
            let width = f64::from(line.width.min(1000.0)) * pixel;
            is_usable.then(|| Stroke::new(shot, ends, width, Vec3::from(line.colour), line.on_top)).flatten()
        });
        Self { edges, lines: lines.collect(), pixel }
    }

    /// Calls `draw(sample, cover)` once for each sample that edges cover, by most.
    pub(crate) fn ink(&self, band: &Exposure, mut draw: impl FnMut(usize, f32)) {
        if self.edges.is_empty() {
            return;
        }
        // Blending stroke by stroke would leave dark dots where edges meet.
        let mut most = vec![0.0f32; band.faces.len()];
        for edge in &self.edges {
            edge.cover(band, self.pixel, 0.0, |i, cover| most[i] = most[i].max(cover));
        }
        most.iter().enumerate().filter(|(_, cover)| **cover > 0.0).for_each(|(i, &cover)| draw(i, cover));
    }

    /// Calls `draw(sample, cover, colour)` for overlays in order, halos first.
    pub(crate) fn lines(&self, band: &Exposure, mut draw: impl FnMut(usize, f32, Vec3)) {
        for line in &self.lines {
            let halo = HALO_WIDTH * self.pixel;
            line.cover(band, self.pixel, halo, |i, cover| draw(i, cover * HALO_STRENGTH, HALO));
        }
        for line in &self.lines {
            line.cover(band, self.pixel, 0.0, |i, cover| draw(i, cover, line.colour));
        }
    }
}

impl Stroke {
    /// Between two points in camera space; `None` if it is behind the eye.
    fn new(shot: &Shot, mut ends: [DVec3; 2], width: f64, colour: Vec3, on_top: bool) -> Option<Self> {
        let near = shot.stage.camera.near;
        if ends[0].z > ends[1].z {
            ends.swap(0, 1);
        }
        let [a, b] = ends;
        if b.z.is_nan() || b.z <= near {
            return None;
        }
        if a.z < near {
            ends[0] = a + (b - a) * ((near - a.z) / (b.z - a.z));
        }
        let place = |p| shot.stage.camera.pixel(p).map(|c| c * shot.samples as f64);
        let nearness = |p: DVec3| if on_top { f64::INFINITY } else { 1.0 / (p.z * (1.0 - PULL)) };
        let stroke =
            Self { ends: ends.map(place), nearness: ends.map(nearness), half_width: 0.5 * width, colour };
        stroke.ends.as_flattened().iter().all(|c| c.is_finite()).then_some(stroke)
    }

    /// Calls `draw(sample, cover)` for the samples of a band under the stroke, made wider by `extra` at each side.
    fn cover(&self, band: &Exposure, pixel: f64, extra: f64, mut draw: impl FnMut(usize, f32)) {
        let [a, b] = self.ends;
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length_squared = dx * dx + dy * dy;
        let half_width = self.half_width + extra;
        // Cover falls from 1 to 0 over one pixel around the rim.
        let reach = half_width + 0.5 * pixel;
        let width = band.width;
        let count = band.faces.len() / width;
        let row_of = |y: f64| (y - band.first as f64).clamp(0.0, count as f64) as usize;
        for row in row_of(a[1].min(b[1]) - reach)..row_of(a[1].max(b[1]) + reach + 1.0) {
            let y = (row + band.first) as f64 + 0.5;
            // The part of the stroke within reach of this row.
            let (t0, t1) = if dy.abs() > 1e-9 {
                let (p, q) = ((y - reach - a[1]) / dy, (y + reach - a[1]) / dy);
                (p.min(q).clamp(0.0, 1.0), p.max(q).clamp(0.0, 1.0))
            } else {
                (0.0, 1.0)
            };
            let (x0, x1) = (a[0] + t0 * dx, a[0] + t1 * dx);
            let column_of = |x: f64| x.clamp(0.0, width as f64) as usize;
            for column in column_of(x0.min(x1) - reach)..column_of(x0.max(x1) + reach + 1.0) {
                let (px, py) = (column as f64 + 0.5 - a[0], y - a[1]);
                let t = if length_squared > 0.0 {
                    ((px * dx + py * dy) / length_squared).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let (ex, ey) = (px - t * dx, py - t * dy);
                let distance = (ex * ex + ey * ey).sqrt();
                let cover = ((reach - distance) / pixel).clamp(0.0, 1.0);
                let i = row * width + column;
                let nearness = self.nearness[0] + t * (self.nearness[1] - self.nearness[0]);
                // Infinite ends give NaN between them, which hides nothing either.
                let is_hidden = nearness < f64::from(band.nearness[i]);
                if cover > 0.0 && !is_hidden {
                    draw(i, cover as f32);
                }
            }
        }
    }
}
