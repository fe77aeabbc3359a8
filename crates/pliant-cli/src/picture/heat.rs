//! Numbers as colours: blue below neutral, white at it, red above. Told apart with any colour vision, since lightness
//! falls away from neutral and blue and red differ for all.

use super::font;
use super::image::{Image, linear_from_srgb, srgb_from_linear};

/// Which numbers get the two strongest colours, and which is white.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    /// Strongest blue, and all below.
    pub(crate) low: f32,
    /// White.
    pub(crate) neutral: f32,
    /// Strongest red, and all above.
    pub(crate) high: f32,
}

/// sRGB from strongest to weakest.
const BLUES: [[u8; 3]; 5] = [[24, 60, 134], [35, 100, 170], [82, 152, 205], [156, 202, 230], [241, 240, 238]];
const REDS: [[u8; 3]; 5] = [[134, 14, 32], [178, 35, 40], [219, 98, 70], [245, 171, 138], [241, 240, 238]];
/// What is not a number.
const UNKNOWN: [u8; 3] = [90, 90, 90];

impl Scale {
    /// A colour, linear RGB.
    pub(crate) fn colour(&self, value: f32) -> [f32; 3] {
        if value.is_nan() {
            return UNKNOWN.map(linear_from_srgb);
        }
        let (stops, end) = if value < self.neutral { (&BLUES, self.low) } else { (&REDS, self.high) };
        let strength = (value - self.neutral) / (end - self.neutral);
        // A scale without width (0 / 0) has no strength.
        let strength = if strength.is_nan() { 0.0 } else { strength.clamp(0.0, 1.0) };
        let at = (1.0 - strength) * (stops.len() - 1) as f32;
        let first = (at as usize).min(stops.len() - 2);
        let mix = at - first as f32;
        std::array::from_fn(|c| {
            let (a, b) = (linear_from_srgb(stops[first][c]), linear_from_srgb(stops[first + 1][c]));
            a + (b - a) * mix
        })
    }
}

/// A colour for each value, linear RGB; grey for what is not a number.
pub(crate) fn heat(values: &[f32], scale: Scale) -> Vec<[f32; 3]> {
    values.iter().map(|&value| scale.colour(value)).collect()
}

/// A scale to be drawn along the picture's lower edge.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Legend {
    /// What is shown.
    pub(crate) title: String,
    /// Unit after the numbers, such as `%`; may be empty.
    pub(crate) unit: String,
    /// Numbers to colours.
    pub(crate) scale: Scale,
}

/// Smallest picture with room for a legend.
const MIN_SIDE: u32 = 120;

impl Legend {
    /// Its colours from low over neutral to high in equal steps, sRGB, for those who draw it themselves.
    pub(crate) fn stops(&self) -> [[u8; 3]; 9] {
        let Scale { low, neutral, high } = self.scale;
        std::array::from_fn(|k| {
            let t = k as f32 / 4.0 - 1.0;
            let value = if t < 0.0 { neutral + (neutral - low) * t } else { neutral + (high - neutral) * t };
            self.scale.colour(value).map(srgb_from_linear)
        })
    }

    /// Height of the strip that a picture keeps free for a legend, in pixels.
    pub(super) fn strip(width: u32, height: u32) -> u32 {
        let side = width.min(height);
        if side < MIN_SIDE { 0 } else { (28.0 * (side as f32 / 300.0).clamp(1.0, 12.0)) as u32 }
    }

    pub(super) fn draw(&self, image: &mut Image) {
        if image.width.min(image.height) < MIN_SIDE as usize {
            return;
        }
        let unit = image.text_unit();
        let (width, height) = (image.width as f32, image.height as f32);
        let bar = (width * 0.62).min(160.0 * unit).round();
        let left = (0.5 * (width - bar)).round();
        let top = height - 28.0 * unit;
        let ink = image.ink(image.width / 2, top as usize);
        let fit = |text: &str, room: f32| unit.min(room / font::width(text).max(1.0));
        let title_unit = fit(&self.title, 0.94 * width);
        image.text(
            &self.title,
            0.5 * (width - font::width(&self.title) * title_unit),
            top + 0.5 * unit,
            title_unit,
            ink,
        );
        let Scale { low, neutral, high } = self.scale;
        let half = 0.5 * bar;
        let (first_row, last_row) = ((top + 10.0 * unit) as usize, (top + 15.0 * unit) as usize);
        for x in 0..bar as usize {
            let t = (x as f32 + 0.5) / half - 1.0;
            let value = if t < 0.0 { neutral + (neutral - low) * t } else { neutral + (high - neutral) * t };
            let colour = self.scale.colour(value).map(srgb_from_linear);
            for y in first_row..last_row.min(image.height) {
                let at = y * image.width + left as usize + x;
                if let Some(pixel) = image.pixels.get_mut(at) {
                    *pixel = colour;
                }
            }
        }
        for (k, value) in [low, neutral, high].into_iter().enumerate() {
            let text = format!("{}{}", number(value, high - low), self.unit);
            let unit = fit(&text, 0.45 * bar);
            let middle = left + half * k as f32;
            let x = (middle - 0.5 * font::width(&text) * unit).max(unit);
            image.text(&text, x.min(width - unit - font::width(&text) * unit), top + 17.5 * unit, unit, ink);
        }
    }
}

/// A number with the digits that matter over a span.
fn number(value: f32, span: f32) -> String {
    let span = span.abs();
    if !(span.is_finite() && (1e-4..1e6).contains(&span)) {
        return format!("{value:.2e}");
    }
    let digits = (1..=6).rev().find(|&d| span < libm::powf(10.0, 2.0 - d as f32)).unwrap_or(0);
    format!("{value:.digits$}")
}
