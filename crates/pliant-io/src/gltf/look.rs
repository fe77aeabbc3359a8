//! What pictures show beyond the skin: base colour textures, and the rigid meshes that ride on the skeleton.

use super::accessor::Store;
use super::buffers::{Uri, uri};
use super::build::Budget;
use super::document::Document;
use super::props::Prop;
use super::schema::{Root, TextureTransform};
use crate::Files;

/// The longest image that is fetched.
const MAX_IMAGE: u64 = 256 << 20;

/// The base colour textures of a character's parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Looks {
    /// The images that parts use, still encoded.
    pub images: Vec<LookImage>,
    /// For each part of the character, its texture if it has one that can be found.
    pub parts: Vec<Option<PartLook>>,
    /// Meshes without a skin.
    pub props: Vec<Prop>,
}

/// An encoded image.
#[derive(Debug, Clone, PartialEq)]
pub struct LookImage {
    /// Its media type, such as `image/png`; empty where the file does not say.
    pub mime: String,
    /// The file's bytes.
    pub bytes: Vec<u8>,
}

/// The texture of a part.
#[derive(Debug, Clone, PartialEq)]
pub struct PartLook {
    /// Which of [`Looks::images`].
    pub image: usize,
    /// Texture coordinates of the part's vertices, from the image's top left corner.
    pub uvs: Vec<[f32; 2]>,
}

impl Document {
    /// The base colour textures of the character's parts. What cannot be found is left out.
    pub fn looks(&self, files: &dyn Files) -> Looks {
        let mut looks = Looks::default();
        let Ok(root) = serde_json::from_slice::<Root<'_>>(self.json()) else { return looks };
        let store = Store { file: &self.file, buffers: &self.buffers, decoded: &self.decoded_views };
        // For each image of the file: where it is among the looks, once it was asked for.
        let mut known: Vec<Option<Option<usize>>> = vec![None; root.images.len()];
        let mut look = |node: usize, primitive: usize, images: &mut Vec<LookImage>| {
            let (image, uvs) = self.texture(&root, &store, node, primitive)?;
            let found = known.get_mut(image)?.get_or_insert_with(|| {
                images.push(fetch(&root, &store, image, files)?);
                Some(images.len() - 1)
            });
            found.map(|image| PartLook { image, uvs })
        };
        let images = &mut looks.images;
        looks.parts = self.parts.iter().map(|part| look(part.node, part.primitive, images)).collect();
        let mut budget = Budget::new(&store);
        for (joint, &n) in self.joint_nodes.iter().enumerate() {
            let Some((node, mesh)) = root.nodes.get(n).and_then(|node| Some((node, node.mesh?))) else {
                continue;
            };
            if node.skin.is_some() {
                continue;
            }
            let Some(mesh) = root.meshes.get(mesh.0) else { continue };
            for (p, primitive) in mesh.primitives.iter().enumerate() {
                let name = node.name.as_deref().unwrap_or("");
                // A small file may show one mesh many times, but not fill the memory: the rest is left out.
                if budget.take(Prop::size(&root, primitive), || "meshes", "vertices").is_err() {
                    return looks;
                }
                let Some(prop) = Prop::read(&root, &store, primitive, name, joint as u32) else { continue };
                looks.props.push(Prop { look: look(n, p, images), ..prop });
            }
        }
        looks
    }

    /// The image and the texture coordinates of a primitive.
    fn texture(
        &self,
        root: &Root<'_>,
        store: &Store<'_>,
        node: usize,
        primitive: usize,
    ) -> Option<(usize, Vec<[f32; 2]>)> {
        let mesh = root.meshes.get(root.nodes.get(node)?.mesh?.0)?;
        let primitive = mesh.primitives.get(primitive)?;
        let material = root.materials.get(primitive.material?.0)?;
        let info = material.pbr_metallic_roughness.base_color_texture.as_ref()?;
        let image = root.textures.get(info.index.0)?.source?.0;
        let transform = info.extensions.transform;
        let set = transform.and_then(|t| t.tex_coord).unwrap_or(info.tex_coord).0;
        let accessor = primitive.attributes.get(&format!("TEXCOORD_{set}"))?;
        let mut uvs = store.elements(root, accessor.0)?.vectors::<2>();
        if let Some(transform) = transform {
            uvs.iter_mut().for_each(|uv| *uv = apply(&transform, *uv));
        }
        Some((image, uvs))
    }
}

/// Scale, then rotation, then offset.
fn apply(transform: &TextureTransform, [u, v]: [f32; 2]) -> [f32; 2] {
    let [sx, sy] = transform.scale.unwrap_or([1.0; 2]);
    let (u, v) = (f64::from(u) * sx, f64::from(v) * sy);
    let (sin, cos) = libm::sincos(transform.rotation);
    let [x, y] = transform.offset;
    [(cos * u + sin * v + x) as f32, (cos * v - sin * u + y) as f32]
}

fn fetch(root: &Root<'_>, store: &Store<'_>, image: usize, files: &dyn Files) -> Option<LookImage> {
    let image = root.images.get(image)?;
    let mut mime = image.mime_type.as_deref().unwrap_or("").to_owned();
    let bytes = match (&image.uri, image.buffer_view) {
        (Some(text), _) => {
            if let Some(data) = text.strip_prefix("data:").filter(|_| mime.is_empty()) {
                mime = data.split([';', ',']).next().unwrap_or("").to_owned();
            }
            match uri(text).ok()? {
                Uri::Data(bytes) => bytes,
                Uri::Beside(name) => files.read(&name, MAX_IMAGE).ok()?,
            }
        }
        (None, Some(view)) => store.view(root, view.0)?.to_vec(),
        (None, None) => return None,
    };
    Some(LookImage { mime, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texture_transforms_scale_turn_and_shift() {
        let quarter = std::f64::consts::FRAC_PI_2;
        let t = TextureTransform {
            offset: [1.0, 2.0],
            rotation: quarter,
            scale: Some([2.0, 3.0]),
            tex_coord: None,
        };
        let [u, v] = apply(&t, [0.5, 1.0]);
        assert!((u - 4.0).abs() < 1e-6 && (v - 1.0).abs() < 1e-6, "{u} {v}");
    }
}
