//! glTF 2.0: `.glb`, `.gltf`, `.vrm`.

mod bake;
mod document;
mod out;
#[cfg(test)]
pub(crate) mod testing;
mod write;

pub use bake::{BakedClip, GlbBake, bake};
pub use document::Document;
pub use write::write_character;
