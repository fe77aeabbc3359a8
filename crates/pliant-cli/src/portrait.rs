//! A character, posed and shaped, as a picture.

use crate::picture::{self, Image, Legend, Line, Mesh, Paint, Scale, Scene, Texture, View};
use anyhow::Result;
use glam::{DVec3, Vec2, Vec3};
use pliant::asset::Bone;
use pliant::measure::Judge;
use pliant::method::Shape;
use pliant::rig::Pose;
use pliant_io::gltf::{PartLook, Prop};
use pliant_kit::input::Input;

/// Measures that can colour the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heat {
    Stretch,
    Volume,
}

/// A measure, and its value at every vertex.
pub(crate) type Coloured<'v> = (Heat, &'v [f32]);

impl Heat {
    /// The measure at every vertex.
    pub(crate) fn values(self, judge: &Judge, pose: &Pose, positions: &[Vec3]) -> Vec<f32> {
        match self {
            Self::Stretch => judge.stretch(pose, positions),
            Self::Volume => judge.volume_field(pose, positions),
        }
    }

    /// Its colours.
    pub(crate) fn legend(self) -> Legend {
        let title = match self {
            Self::Stretch => "edge length against rest",
            Self::Volume => "local volume against rest",
        };
        let scale = Scale { low: -50.0, neutral: 0.0, high: 50.0 };
        Legend { title: title.to_owned(), unit: "%".to_owned(), scale }
    }
}

/// What rigid meshes look like beside a skin that is coloured by a measure, linear RGB.
const PROP_GREY: [f32; 3] = [0.35; 3];

/// Bones drawn over the skin, linear RGB.
const BONE_COLOR: [f32; 3] = [0.9, 0.25, 0.02];

/// A texture on a mesh.
struct Picture {
    uvs: Vec<Vec2>,
    /// Which of the textures.
    image: usize,
}

/// A part of the skin: its triangles between its own vertices, and its texture.
struct PartPicture {
    triangles: Vec<[u32; 3]>,
    texture: Option<Picture>,
}

/// Pixels of all textures together that are decoded; what is beyond is painted in plain colours.
const MAX_TEXELS: usize = 64 << 20;

/// The camera and the character's look, for one picture or several.
pub(crate) struct Portrait<'a> {
    input: &'a Input,
    options: picture::Options,
    /// Those that could be decoded.
    textures: Vec<Option<Texture>>,
    parts: Vec<PartPicture>,
    props: Vec<(Prop, Option<Picture>)>,
    skeleton: bool,
}

impl<'a> Portrait<'a> {
    pub(crate) fn new(input: &'a Input, width: u32, height: u32, view: View, edges: bool) -> Self {
        let looks = input.document.looks(input.files.as_ref());
        let picture = |look: PartLook| Picture {
            uvs: look.uvs.into_iter().map(Vec2::from).collect(),
            image: look.image,
        };
        let triangles = input.character.surface().triangles();
        let parts = input.character.parts().iter().zip(looks.parts).map(|(part, look)| {
            let own = &triangles[part.triangles.start as usize..part.triangles.end as usize];
            let triangles = own.iter().map(|t| t.map(|v| v - part.vertices.start)).collect();
            PartPicture { triangles, texture: look.map(picture) }
        });
        let props = looks.props.into_iter().map(|mut prop| {
            let look = prop.look.take().map(picture);
            (prop, look)
        });
        let mut texels = 0;
        let textures = looks.images.iter().map(|image| {
            let texture = (texels < MAX_TEXELS).then(|| picture::decode_texture(&image.bytes)).flatten()?;
            texels += texture.width() * texture.height();
            Some(texture)
        });
        Self {
            input,
            options: picture::Options { edges, ..picture::Options::new(width, height, view) },
            textures: textures.collect(),
            parts: parts.collect(),
            props: props.collect(),
            skeleton: false,
        }
    }

    /// From another side.
    pub(crate) fn from(self, view: View) -> Self {
        Self { options: picture::Options { view, ..self.options }, ..self }
    }

    /// With the bones drawn over the skin.
    pub(crate) fn with_skeleton(self) -> Self {
        Self { skeleton: true, ..self }
    }

    /// Every bone, moved with its joint.
    fn bones(&self, pose: &Pose) -> Vec<Line> {
        let skeleton = self.input.character.skeleton();
        let moved = |joint: u32, p: DVec3| {
            let rest = skeleton.joints()[joint as usize].world_from_rest;
            (pose.world_from_joint[joint as usize] * rest.inverse()).transform_point3(p).as_vec3()
        };
        let line = |bone: &Bone| Line {
            from: moved(bone.joint, bone.start),
            to: moved(bone.joint, bone.end),
            colour: BONE_COLOR,
            width: self.options.width.min(self.options.height) as f32 / 200.0,
            on_top: true,
        };
        skeleton.bones().iter().map(line).collect()
    }

    fn paint<'p>(&'p self, picture: Option<&'p Picture>, color: [f32; 3]) -> Paint<'p> {
        let textured = picture.and_then(|p| Some((&p.uvs, self.textures.get(p.image)?.as_ref()?)));
        match textured {
            Some((uvs, image)) => Paint::Texture { uvs, image, tint: color, cutoff: None },
            None => Paint::Flat(color),
        }
    }

    /// The outermost points of all that would be in the picture.
    pub(crate) fn outermost(&self, shape: &Shape, pose: &Pose) -> Vec<Vec3> {
        let props = self.props.iter().flat_map(|(prop, _)| prop.positions(pose));
        self.options.view.outermost(shape.positions.iter().copied().chain(props))
    }

    /// The picture, coloured by values per vertex (0 is neutral) where given.
    pub(crate) fn take(&self, shape: &Shape, pose: &Pose, heat: Option<Coloured<'_>>) -> Result<Image> {
        self.draw(shape, pose, heat, heat.map(|(kind, _)| kind.legend()), &self.options)
    }

    /// The same to be seen beside others: by the camera that holds all of some points, and without a legend of its own.
    pub(crate) fn take_within(
        &self,
        frame: &[Vec3],
        shape: &Shape,
        pose: &Pose,
        heat: Option<Coloured<'_>>,
    ) -> Result<Image> {
        self.draw(
            shape,
            pose,
            heat,
            None,
            &picture::Options { frame: frame.to_vec(), ..self.options.clone() },
        )
    }

    fn draw(
        &self,
        shape: &Shape,
        pose: &Pose,
        heat: Option<Coloured<'_>>,
        legend: Option<Legend>,
        options: &picture::Options,
    ) -> Result<Image> {
        let props: Vec<Vec<Vec3>> = self.props.iter().map(|(prop, _)| prop.positions(pose)).collect();
        let colors = heat.map(|(kind, values)| {
            let percent: Vec<f32> = values.iter().map(|v| v * 100.0).collect();
            picture::heat(&percent, kind.legend().scale)
        });
        let parts = self.input.character.parts().iter().zip(&self.parts).map(|(part, picture)| {
            let own = part.vertices.start as usize..part.vertices.end as usize;
            Mesh {
                positions: &shape.positions[own.clone()],
                normals: part.has_normals.then_some(&shape.normals[own.clone()]),
                triangles: &picture.triangles,
                paint: match &colors {
                    Some(colors) => Paint::Vertex(&colors[own]),
                    None => self.paint(picture.texture.as_ref(), part.color),
                },
            }
        });
        let props = self.props.iter().zip(&props).map(|((prop, look), positions)| Mesh {
            positions,
            normals: None,
            triangles: prop.surface.triangles(),
            paint: match heat {
                Some(_) => Paint::Flat(PROP_GREY),
                None => self.paint(look.as_ref(), prop.color),
            },
        });
        let scene = Scene {
            meshes: parts.chain(props).collect(),
            lines: if self.skeleton { self.bones(pose) } else { vec![] },
            legend,
            framed: &[],
        };
        picture::render(&scene, options)
    }
}
