//! Stills of characters: a small software renderer.
//!
//! [`render`] frames a [`Scene`] with a long lens, lights it like a product shot (soft key, fill, rim and sky, all
//! shadowed) and gives an [`Image`]. One pass finds which triangle each sample sees (`raster`), another lights it
//! (`light`); how much of the sky and of the key light reaches a vertex is found beforehand (`shadow`), so that
//! shading is smooth whatever the mesh. The same scene gives the same bytes for any number of threads.

mod camera;
mod font;
mod heat;
mod image;
mod light;
mod line;
mod raster;
mod scene;
mod shadow;
#[cfg(test)]
mod tests;
mod texture;

pub(crate) use camera::View;
pub(crate) use heat::{Legend, Scale, heat};
pub(crate) use image::Image;
pub(crate) use scene::{Line, Mesh, Paint, Scene};
pub(crate) use texture::{Texture, decode_texture};

use anyhow::{Result, ensure};
use glam::Vec3;

/// What stands behind the character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Background {
    /// A light, neutral studio with soft fall-off.
    Studio,
    /// One colour, linear RGB: what the tests measure against.
    #[cfg(test)]
    Plain([f32; 3]),
}

/// How to take the picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Options {
    /// Pixels across, 16 to 8192.
    pub(crate) width: u32,
    /// Pixels down, 16 to 8192.
    pub(crate) height: u32,
    /// Where the camera stands.
    pub(crate) view: View,
    /// Samples per pixel along each axis, 1 to 4: 2 is clean, 3 is for print.
    pub(crate) samples: u32,
    /// Draw the triangles' edges.
    pub(crate) edges: bool,
    /// Cast a shadow on the ground, the lowest level of `frame`.
    pub(crate) ground: bool,
    /// Points that must be in the picture. Pictures that are compared share them, and so share the camera. None: those of
    /// the scene.
    pub(crate) frame: Vec<Vec3>,
    /// What stands behind.
    pub(crate) background: Background,
}

impl Options {
    /// A clean picture of the whole scene.
    pub(crate) fn new(width: u32, height: u32, view: View) -> Self {
        Self {
            width,
            height,
            view,
            samples: 2,
            edges: false,
            ground: true,
            frame: vec![],
            background: Background::Studio,
        }
    }
}

/// Smallest and largest picture, in pixels along each side.
const SIDES: std::ops::RangeInclusive<u32> = 16..=8192;

/// Takes the picture. Triangles that are degenerate, not finite or out of range are left out; an empty scene gives
/// the background.
pub(crate) fn render(scene: &Scene, options: &Options) -> Result<Image> {
    let (width, height) = (options.width, options.height);
    ensure!(
        SIDES.contains(&width) && SIDES.contains(&height),
        "a picture of {width} x {height} pixels: each side must be {} to {}",
        SIDES.start(),
        SIDES.end()
    );
    ensure!(
        (1..=raster::MAX_SAMPLES as u32).contains(&options.samples),
        "{} samples per pixel along each axis: must be 1 to {}",
        options.samples,
        raster::MAX_SAMPLES
    );
    let stage = scene::Stage::new(scene, options);
    let mut image = light::develop(&stage, options);
    if let Some(legend) = &scene.legend {
        legend.draw(&mut image);
    }
    Ok(image)
}
