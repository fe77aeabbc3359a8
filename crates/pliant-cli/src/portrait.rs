//! A character, posed and shaped, as a picture.

use crate::load::Input;
use crate::picture::{self, Image, Legend, Mesh, Paint, Scale, Scene, Texture, View};
use anyhow::Result;
use glam::{Vec2, Vec3};
use pliant::method::Shape;
use pliant::rig::Pose;

/// Measures that can colour the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heat {
    Stretch,
    Volume,
}

impl Heat {
    fn legend(self) -> Legend {
        let (title, scale) = match self {
            Self::Stretch => ("edge length against rest", Scale { low: -50.0, neutral: 0.0, high: 50.0 }),
            Self::Volume => ("local volume against rest", Scale { low: -50.0, neutral: 0.0, high: 50.0 }),
        };
        Legend { title: title.to_owned(), unit: "%".to_owned(), scale }
    }
}

/// The camera and the character's look, for one picture or several.
pub(crate) struct Portrait<'a> {
    input: &'a Input,
    options: picture::Options,
    /// For each part its texture, if it has one that can be read.
    textures: Vec<Option<(Vec<Vec2>, Texture)>>,
}

impl<'a> Portrait<'a> {
    pub(crate) fn new(input: &'a Input, width: u32, height: u32) -> Self {
        let parts = 0..input.character.parts().len();
        let textures = parts.map(|part| input.texture(part)).collect();
        Self { input, options: picture::Options::new(width, height, View::Quarter), textures }
    }

    pub(crate) fn view(mut self, view: View, edges: bool) -> Self {
        self.options.view = view;
        self.options.edges = edges;
        self
    }

    /// The picture, coloured by values per vertex (0 is neutral) where given.
    pub(crate) fn take(&self, shape: &Shape, pose: &Pose, heat: Option<(Heat, &[f32])>) -> Result<Image> {
        let surface = self.input.character.surface();
        let props: Vec<(Vec<Vec3>, &_)> =
            self.input.props.iter().map(|prop| (prop.positions(pose), prop)).collect();
        let colors = heat.map(|(kind, values)| {
            let percent: Vec<f32> = values.iter().map(|v| v * 100.0).collect();
            picture::heat(&percent, kind.legend().scale)
        });
        let parts = self.input.character.parts().iter().zip(&self.textures).map(|(part, texture)| Mesh {
            positions: &shape.positions,
            normals: Some(&shape.normals),
            triangles: &surface.triangles()[part.triangles.start as usize..part.triangles.end as usize],
            paint: match (&colors, texture) {
                (Some(colors), _) => Paint::Vertex(colors),
                (None, Some((uvs, image))) => Paint::Texture { uvs, image, tint: part.color, cutoff: None },
                (None, None) => Paint::Flat(part.color),
            },
        });
        let grey = [0.35; 3];
        let props = props.iter().map(|(positions, prop)| Mesh {
            positions,
            normals: None,
            triangles: prop.surface.triangles(),
            paint: Paint::Flat(if heat.is_some() { grey } else { prop.color }),
        });
        let scene = Scene {
            meshes: parts.chain(props).collect(),
            lines: vec![],
            legend: heat.map(|(kind, _)| kind.legend()),
        };
        picture::render(&scene, &self.options)
    }
}
