//! The objects of a glTF 2.0 file, as far as Pliant reads them.

use super::json::{AnyObject, List, Map, MeshExtras, Numbers, RootExtensions, Str, Whole};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Root<'a> {
    #[serde(borrow)]
    pub(crate) asset: Asset<'a>,
    #[serde(borrow, default)]
    pub(crate) extensions_used: Vec<Str<'a>>,
    #[serde(borrow, default)]
    pub(crate) extensions_required: Vec<Str<'a>>,
    #[serde(borrow, default)]
    pub(crate) extensions: RootExtensions<'a>,
    pub(crate) scene: Option<Whole>,
    #[serde(default)]
    pub(crate) scenes: List<Scene>,
    #[serde(borrow, default)]
    pub(crate) nodes: List<Node<'a>>,
    #[serde(borrow, default)]
    pub(crate) meshes: List<Mesh<'a>>,
    #[serde(borrow, default)]
    pub(crate) skins: List<Skin<'a>>,
    #[serde(borrow, default)]
    pub(crate) animations: List<Animation<'a>>,
    #[serde(default)]
    pub(crate) accessors: List<Accessor>,
    #[serde(borrow, default)]
    pub(crate) buffer_views: List<BufferView<'a>>,
    #[serde(borrow, default)]
    pub(crate) buffers: List<Buffer<'a>>,
    #[serde(default)]
    pub(crate) materials: Vec<Material>,
    #[serde(default)]
    pub(crate) textures: Vec<Texture>,
    #[serde(borrow, default)]
    pub(crate) images: Vec<Image<'a>>,
    #[serde(default, rename = "samplers")]
    pub(crate) _samplers: Vec<AnyObject>,
    #[serde(default)]
    pub(crate) cameras: Vec<AnyObject>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asset<'a> {
    #[serde(borrow)]
    pub(crate) version: Str<'a>,
    #[serde(borrow)]
    pub(crate) min_version: Option<Str<'a>>,
    #[serde(borrow)]
    pub(crate) generator: Option<Str<'a>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Scene {
    #[serde(default)]
    pub(crate) nodes: List<Whole>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Node<'a> {
    #[serde(borrow)]
    pub(crate) name: Option<Str<'a>>,
    #[serde(default)]
    pub(crate) children: List<Whole>,
    pub(crate) mesh: Option<Whole>,
    pub(crate) skin: Option<Whole>,
    pub(crate) camera: Option<Whole>,
    pub(crate) matrix: Option<Box<[f64; 16]>>,
    pub(crate) translation: Option<[f64; 3]>,
    pub(crate) rotation: Option<[f64; 4]>,
    pub(crate) scale: Option<[f64; 3]>,
    pub(crate) weights: Option<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Mesh<'a> {
    #[serde(borrow)]
    pub(crate) name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(crate) primitives: List<Primitive<'a>>,
    pub(crate) weights: Option<Vec<f64>>,
    #[serde(borrow, default)]
    pub(crate) extras: MeshExtras<'a>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Primitive<'a> {
    #[serde(borrow)]
    pub(crate) attributes: Map<'a, Whole>,
    pub(crate) indices: Option<Whole>,
    pub(crate) material: Option<Whole>,
    pub(crate) mode: Option<Whole>,
    #[serde(borrow, default)]
    pub(crate) targets: List<Map<'a, Whole>>,
    #[serde(default)]
    pub(crate) extensions: PrimitiveExtensions,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    pub(crate) draco: Option<AnyObject>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Skin<'a> {
    #[serde(borrow)]
    pub(crate) name: Option<Str<'a>>,
    pub(crate) joints: List<Whole>,
    pub(crate) inverse_bind_matrices: Option<Whole>,
    pub(crate) skeleton: Option<Whole>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Animation<'a> {
    #[serde(borrow)]
    pub(crate) name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(crate) channels: List<Channel<'a>>,
    pub(crate) samplers: List<Sampler>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Channel<'a> {
    pub(crate) sampler: Whole,
    #[serde(borrow)]
    pub(crate) target: Target<'a>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Target<'a> {
    pub(crate) node: Option<Whole>,
    #[serde(borrow)]
    pub(crate) path: Str<'a>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(crate) enum Mode {
    #[default]
    #[serde(rename = "LINEAR")]
    Linear,
    #[serde(rename = "STEP")]
    Step,
    #[serde(rename = "CUBICSPLINE")]
    CubicSpline,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Sampler {
    pub(crate) input: Whole,
    pub(crate) output: Whole,
    #[serde(default)]
    pub(crate) interpolation: Mode,
}

/// The type of a number in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    pub(crate) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }
}

impl<'de> Deserialize<'de> for Component {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Whole::deserialize(from)?.0 {
            5120 => Ok(Self::I8),
            5121 => Ok(Self::U8),
            5122 => Ok(Self::I16),
            5123 => Ok(Self::U16),
            5125 => Ok(Self::U32),
            5126 => Ok(Self::F32),
            other => Err(D::Error::custom(format_args!("{other} is not a component type of glTF 2.0"))),
        }
    }
}

/// How many numbers an element has, and how they are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Kind {
    Scalar,
    Vec2,
    Vec3,
    Vec4,
    Mat2,
    Mat3,
    Mat4,
}

impl Kind {
    pub(crate) fn numbers(self) -> usize {
        match self {
            Self::Scalar => 1,
            Self::Vec2 => 2,
            Self::Vec3 => 3,
            Self::Vec4 | Self::Mat2 => 4,
            Self::Mat3 => 9,
            Self::Mat4 => 16,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Accessor {
    pub(crate) buffer_view: Option<Whole>,
    #[serde(default)]
    pub(crate) byte_offset: Whole,
    pub(crate) component_type: Component,
    #[serde(default)]
    pub(crate) normalized: bool,
    pub(crate) count: Whole,
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    pub(crate) min: Option<Numbers>,
    pub(crate) max: Option<Numbers>,
    pub(crate) sparse: Option<Box<Sparse>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Sparse {
    pub(crate) count: Whole,
    pub(crate) indices: SparseIndices,
    pub(crate) values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SparseIndices {
    pub(crate) buffer_view: Whole,
    #[serde(default)]
    pub(crate) byte_offset: Whole,
    pub(crate) component_type: Component,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SparseValues {
    pub(crate) buffer_view: Whole,
    #[serde(default)]
    pub(crate) byte_offset: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BufferView<'a> {
    pub(crate) buffer: Whole,
    #[serde(default)]
    pub(crate) byte_offset: Whole,
    pub(crate) byte_length: Whole,
    pub(crate) byte_stride: Option<Whole>,
    pub(crate) target: Option<Whole>,
    #[serde(borrow, default)]
    pub(crate) extensions: ViewExtensions<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct ViewExtensions<'a> {
    #[serde(borrow, rename = "KHR_meshopt_compression")]
    khr_meshopt: Option<Meshopt<'a>>,
    #[serde(borrow, rename = "EXT_meshopt_compression")]
    ext_meshopt: Option<Meshopt<'a>>,
}

impl<'a> BufferView<'a> {
    /// How the view is compressed, if it is.
    pub(crate) fn meshopt(&self) -> Option<&Meshopt<'a>> {
        self.extensions.khr_meshopt.as_ref().or(self.extensions.ext_meshopt.as_ref())
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Meshopt<'a> {
    pub(crate) buffer: Whole,
    #[serde(default)]
    pub(crate) byte_offset: Whole,
    pub(crate) byte_length: Whole,
    pub(crate) byte_stride: Whole,
    pub(crate) count: Whole,
    #[serde(borrow)]
    pub(crate) mode: Str<'a>,
    #[serde(borrow)]
    pub(crate) filter: Option<Str<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Buffer<'a> {
    #[serde(borrow)]
    pub(crate) uri: Option<Str<'a>>,
    pub(crate) byte_length: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Material {
    #[serde(default)]
    pub(crate) pbr_metallic_roughness: Pbr,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pbr {
    pub(crate) base_color_factor: Option<[f64; 4]>,
    pub(crate) base_color_texture: Option<TextureInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TextureInfo {
    pub(crate) index: Whole,
    #[serde(default)]
    pub(crate) tex_coord: Whole,
    #[serde(default)]
    pub(crate) extensions: TextureInfoExtensions,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub(crate) transform: Option<TextureTransform>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TextureTransform {
    #[serde(default)]
    pub(crate) offset: [f64; 2],
    #[serde(default)]
    pub(crate) rotation: f64,
    pub(crate) scale: Option<[f64; 2]>,
    pub(crate) tex_coord: Option<Whole>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Texture {
    pub(crate) source: Option<Whole>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Image<'a> {
    #[serde(borrow)]
    pub(crate) uri: Option<Str<'a>>,
    #[serde(borrow)]
    pub(crate) mime_type: Option<Str<'a>>,
    pub(crate) buffer_view: Option<Whole>,
}
