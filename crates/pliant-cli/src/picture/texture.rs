//! Textures: decoding, and sampling with the right blur for their size in the picture.

use super::image::{linear_from_srgb, srgb_from_linear};
use glam::Vec2;
use png::{BitDepth, ColorType, Transformations};
use zune_jpeg::zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};

/// Largest texture accepted, in pixels along a side.
const MAX_SIDE: usize = 16384;
/// Largest texture accepted, in pixels: 256 MB decoded.
const MAX_PIXELS: usize = 1 << 26;

/// A decoded picture with its halved copies.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Texture {
    /// From full size down to one pixel.
    levels: Vec<Level>,
}

#[derive(Debug, Clone, PartialEq)]
struct Level {
    width: usize,
    height: usize,
    /// Rows from the top; sRGB and opacity.
    pixels: Vec<[u8; 4]>,
}

impl Texture {
    /// From rows of sRGB pixels with opacity, top row first. `None` if the sizes disagree or are zero.
    pub(crate) fn new(width: usize, height: usize, pixels: Vec<[u8; 4]>) -> Option<Self> {
        if width == 0 || height == 0 || width.checked_mul(height) != Some(pixels.len()) {
            return None;
        }
        let mut level = Level { width, height, pixels };
        let mut levels = Vec::new();
        while level.width > 1 || level.height > 1 {
            let half = level.halved();
            levels.push(std::mem::replace(&mut level, half));
        }
        levels.push(level);
        Some(Self { levels })
    }

    /// Pixels across.
    pub(crate) fn width(&self) -> usize {
        self.levels[0].width
    }

    /// Pixels down.
    pub(crate) fn height(&self) -> usize {
        self.levels[0].height
    }

    /// Linear RGB and opacity at `uv` (origin top left, repeating), blurred over `2^blur` pixels.
    pub(crate) fn sample(&self, uv: Vec2, blur: f32) -> [f32; 4] {
        let last = self.levels.len() - 1;
        // Not clamp, which keeps NaN.
        let blur = blur.max(0.0).min(last as f32);
        let fine = blur as usize;
        let mix = blur - fine as f32;
        let near = self.levels[fine].sample(uv);
        if mix == 0.0 {
            return near;
        }
        let far = self.levels[(fine + 1).min(last)].sample(uv);
        std::array::from_fn(|c| near[c] + (far[c] - near[c]) * mix)
    }
}

impl Level {
    /// Half the size, averaged in linear light; clear pixels lend no colour.
    fn halved(&self) -> Self {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let at = |dx: usize, dy: usize| {
                    let (x, y) = ((2 * x + dx).min(self.width - 1), (2 * y + dy).min(self.height - 1));
                    self.pixels[y * self.width + x]
                };
                let four = [at(0, 0), at(1, 0), at(0, 1), at(1, 1)];
                let alpha: f32 = four.iter().map(|p| f32::from(p[3])).sum();
                let mut out = [0, 0, 0, (alpha * 0.25 + 0.5) as u8];
                for c in 0..3 {
                    let weigh = |p: &[u8; 4]| {
                        linear_from_srgb(p[c]) * if alpha > 0.0 { f32::from(p[3]) } else { 1.0 }
                    };
                    let sum: f32 = four.iter().map(weigh).sum();
                    out[c] = srgb_from_linear(sum / if alpha > 0.0 { alpha } else { 4.0 });
                }
                pixels.push(out);
            }
        }
        Self { width, height, pixels }
    }

    /// Bilinear, repeating.
    fn sample(&self, uv: Vec2) -> [f32; 4] {
        let place = |t: f32, size: usize| {
            let t = if t.is_finite() { t - t.floor() } else { 0.0 };
            let at = t * size as f32 - 0.5;
            let low = at.floor();
            let wrap = |i: isize| i.rem_euclid(size as isize) as usize;
            ([wrap(low as isize), wrap(low as isize + 1)], at - low)
        };
        let (xs, fx) = place(uv.x, self.width);
        let (ys, fy) = place(uv.y, self.height);
        let mut sum = [0.0; 4];
        for (y, wy) in ys.into_iter().zip([1.0 - fy, fy]) {
            for (x, wx) in xs.into_iter().zip([1.0 - fx, fx]) {
                let pixel = self.pixels[y * self.width + x];
                for c in 0..3 {
                    sum[c] += wx * wy * linear_from_srgb(pixel[c]);
                }
                sum[3] += wx * wy * f32::from(pixel[3]) / 255.0;
            }
        }
        sum
    }
}

/// Decodes PNG (any colour type and depth) or JPEG; `None` if the bytes are neither, broken, or over 64 megapixels.
pub(crate) fn decode_texture(bytes: &[u8]) -> Option<Texture> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => decode_png(bytes),
        [0xff, 0xd8, ..] => decode_jpeg(bytes),
        _ => None,
    }
}

fn fits(width: usize, height: usize) -> bool {
    width.max(height) <= MAX_SIDE && width * height <= MAX_PIXELS
}

fn decode_png(bytes: &[u8]) -> Option<Texture> {
    let limits = png::Limits { bytes: 4 * MAX_PIXELS };
    let mut decoder = png::Decoder::new_with_limits(std::io::Cursor::new(bytes), limits);
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info().ok()?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    if !fits(width, height) {
        return None;
    }
    let mut data = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut data).ok()?;
    let data = data.get(..info.buffer_size())?;
    if info.bit_depth != BitDepth::Eight {
        return None;
    }
    let pixels = match info.color_type {
        ColorType::Grayscale => data.iter().map(|&g| [g, g, g, 255]).collect(),
        ColorType::GrayscaleAlpha => data.chunks_exact(2).map(|p| [p[0], p[0], p[0], p[1]]).collect(),
        ColorType::Rgb => opaque(data),
        ColorType::Rgba => data.chunks_exact(4).map(|p| [p[0], p[1], p[2], p[3]]).collect(),
        ColorType::Indexed => return None, // EXPAND leaves none
    };
    Texture::new(width, height, pixels)
}

fn decode_jpeg(bytes: &[u8]) -> Option<Texture> {
    let options = DecoderOptions::default()
        .set_max_width(MAX_SIDE)
        .set_max_height(MAX_SIDE)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().ok()?;
    let info = decoder.info()?;
    let (width, height) = (usize::from(info.width), usize::from(info.height));
    if !fits(width, height) {
        return None;
    }
    Texture::new(width, height, opaque(&decoder.decode().ok()?))
}

fn opaque(rgb: &[u8]) -> Vec<[u8; 4]> {
    rgb.chunks_exact(3).map(|p| [p[0], p[1], p[2], 255]).collect()
}
