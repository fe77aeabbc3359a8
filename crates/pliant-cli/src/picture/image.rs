//! Finished pictures: encoding, tiling, captions.

use super::font;
use anyhow::{Context, Result, ensure};
use std::sync::LazyLock;

/// Largest picture that tiling may make, in pixels.
const MAX_PIXELS: usize = 1 << 28;

/// A picture, sRGB, top row first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) pixels: Vec<[u8; 3]>,
}

impl Image {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![PAPER; width * height] }
    }

    /// Pixels across.
    #[cfg(test)]
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Pixels down.
    #[cfg(test)]
    pub(crate) fn height(&self) -> usize {
        self.height
    }

    /// sRGB of a pixel; `None` outside.
    pub(crate) fn pixel(&self, x: usize, y: usize) -> Option<[u8; 3]> {
        (x < self.width).then(|| self.pixels.get(y * self.width + x).copied()).flatten()
    }

    /// This picture with a share, 0 to 1, of another of the same size over it.
    pub(crate) fn mixed(mut self, over: &Image, share: f32) -> Image {
        for (under, over) in self.pixels.as_flattened_mut().iter_mut().zip(over.pixels.as_flattened()) {
            *under = (f32::from(*under) * (1.0 - share) + f32::from(*over) * share + 0.5) as u8;
        }
        self
    }

    /// A PNG file.
    pub(crate) fn to_png(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let (width, height) = (u32::try_from(self.width)?, u32::try_from(self.height)?);
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header().context("the picture's PNG header")?;
        writer.write_image_data(self.pixels.as_flattened()).context("the picture's PNG data")?;
        writer.finish().context("the picture's PNG end")?;
        Ok(bytes)
    }

    /// Pictures in a row, each over its caption (none where it is empty).
    pub(crate) fn beside(tiles: &[(&str, &Image)]) -> Result<Image> {
        let unit = tiles.iter().map(|(_, image)| image.text_unit()).fold(1.0, f32::max);
        let gap = (2.0 * unit) as usize;
        let has_captions = tiles.iter().any(|(caption, _)| !caption.is_empty());
        let caption = if has_captions { (14.0 * unit) as usize } else { 0 };
        let height = tiles.iter().map(|(_, image)| image.height).max().unwrap_or(1);
        let across: usize = tiles.iter().map(|(_, image)| image.width + gap).sum();
        let mut row = Self::checked(across.saturating_sub(gap).max(1), height + caption)?;
        let mut x = 0;
        for (text, image) in tiles {
            row.paste(image, x, (height - image.height) / 2);
            let unit = unit.min(0.94 * image.width as f32 / font::width(text).max(1.0));
            let middle = x as f32 + 0.5 * image.width as f32;
            let top = height as f32 + 0.5 * (caption as f32 - font::CAP_HEIGHT * unit);
            row.text(text, middle - 0.5 * unit * font::width(text), top, unit, CAPTION);
            x += image.width + gap;
        }
        Ok(row)
    }

    /// Pictures one above the other.
    pub(crate) fn stacked(tiles: &[Image]) -> Result<Image> {
        let gap = tiles.iter().map(|image| 2.0 * image.text_unit()).fold(2.0, f32::max) as usize;
        let width = tiles.iter().map(|image| image.width).max().unwrap_or(1);
        let down: usize = tiles.iter().map(|image| image.height + gap).sum();
        let mut column = Self::checked(width, down.saturating_sub(gap).max(1))?;
        let mut y = 0;
        for image in tiles {
            column.paste(image, (width - image.width) / 2, y);
            y += image.height + gap;
        }
        Ok(column)
    }

    /// Whether so many pictures of this size fit on a sheet, captions included.
    pub(crate) fn check_sheet(width: u32, height: u32, columns: usize, rows: usize) -> Result<()> {
        Self::check(width as usize * columns * 11 / 10, height as usize * rows * 11 / 10)
    }

    fn checked(width: usize, height: usize) -> Result<Self> {
        Self::check(width, height)?;
        Ok(Self::new(width, height))
    }

    fn check(width: usize, height: usize) -> Result<()> {
        ensure!(
            width.checked_mul(height).is_some_and(|count| count <= MAX_PIXELS),
            "pictures side by side would make {width} x {height} pixels, over {MAX_PIXELS} in all: make each smaller"
        );
        Ok(())
    }

    /// Copies `image`, which must fit, to a corner at `x`, `y`.
    fn paste(&mut self, image: &Image, x: usize, y: usize) {
        for (row, pixels) in image.pixels.chunks_exact(image.width.max(1)).enumerate() {
            let start = (y + row) * self.width + x;
            self.pixels[start..start + image.width].copy_from_slice(pixels);
        }
    }

    /// Pixels per unit of the font that suit this picture.
    pub(super) fn text_unit(&self) -> f32 {
        (self.width.min(self.height) as f32 / 300.0).clamp(1.0, 12.0)
    }

    /// Writes `text` with the top left of its capitals at `x`, `y`.
    pub(super) fn text(&mut self, text: &str, x: f32, y: f32, unit: f32, colour: [u8; 3]) {
        // Half the pen's width, and half a pixel of soft rim.
        let reach = 0.42 * unit + 0.5;
        let span = |low: f32, high: f32, limit: usize| {
            let clamp = |at: f32| at.clamp(0.0, limit as f32) as usize;
            clamp((low - reach).floor())..clamp((high + reach).ceil())
        };
        let columns = span(x, x + font::width(text) * unit, self.width);
        let rows = span(y, y + font::DEPTH * unit, self.height);
        // The most that any stroke covers: blending one by one would darken where they meet.
        let mut covers = vec![0.0f32; columns.len() * rows.len()];
        font::strokes(text, |a, b| {
            let place = |p: [f32; 2]| [x + p[0] * unit, y + p[1] * unit];
            let (a, b) = (place(a), place(b));
            let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
            let length_squared = (dx * dx + dy * dy).max(f32::MIN_POSITIVE);
            for py in span(a[1].min(b[1]), a[1].max(b[1]), self.height) {
                for px in span(a[0].min(b[0]), a[0].max(b[0]), self.width) {
                    let (ox, oy) = (px as f32 + 0.5 - a[0], py as f32 + 0.5 - a[1]);
                    let t = ((ox * dx + oy * dy) / length_squared).clamp(0.0, 1.0);
                    let (ex, ey) = (ox - t * dx, oy - t * dy);
                    let cover = (reach - (ex * ex + ey * ey).sqrt()).clamp(0.0, 1.0);
                    if columns.contains(&px) && rows.contains(&py) {
                        let most = &mut covers[(py - rows.start) * columns.len() + px - columns.start];
                        *most = most.max(cover);
                    }
                }
            }
        });
        for (i, cover) in covers.iter().enumerate().filter(|(_, cover)| **cover > 0.0) {
            let (px, py) = (columns.start + i % columns.len(), rows.start + i / columns.len());
            let pixel = &mut self.pixels[py * self.width + px];
            for c in 0..3 {
                let mixed = f32::from(pixel[c]) * (1.0 - cover) + f32::from(colour[c]) * cover;
                pixel[c] = (mixed + 0.5) as u8;
            }
        }
    }

    /// A text colour that reads on what is at a pixel.
    pub(super) fn ink(&self, x: usize, y: usize) -> [u8; 3] {
        let is_dark = self.pixel(x, y).is_some_and(|p| p.iter().map(|&c| u32::from(c)).sum::<u32>() < 330);
        if is_dark { PAPER } else { CAPTION }
    }
}

/// Behind tiles and captions.
const PAPER: [u8; 3] = [248, 248, 249];
/// Text on it.
const CAPTION: [u8; 3] = [44, 47, 54];

static LINEAR: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|i| {
        let s = i as f32 / 255.0;
        if s <= 0.040_45 { s / 12.92 } else { libm::powf((s + 0.055) / 1.055, 2.4) }
    })
});

/// Entries of the sRGB table: a fifth of a level at most between neighbours.
const STEPS: usize = 1 << 14;

static SRGB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let encode = |i: usize| {
        let x = i as f32 / (STEPS - 1) as f32;
        let s = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * libm::powf(x, 1.0 / 2.4) - 0.055 };
        (s * 255.0 + 0.5) as u8
    };
    (0..STEPS).map(encode).collect()
});

/// Light of an sRGB value.
pub(super) fn linear_from_srgb(value: u8) -> f32 {
    LINEAR[usize::from(value)]
}

/// The sRGB value of light, 0 to 1.
pub(super) fn srgb_from_linear(light: f32) -> u8 {
    // A cast sends NaN and what is below 0 to 0.
    let step = (light.min(1.0) * (STEPS - 1) as f32 + 0.5) as usize;
    SRGB[step.min(STEPS - 1)]
}
