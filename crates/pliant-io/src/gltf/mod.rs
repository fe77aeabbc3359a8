//! glTF 2.0: `.glb`, `.gltf`, `.vrm`.

mod bake;
mod document;
mod out;
mod write;

pub use bake::{BakedClip, GlbBake, bake};
pub use document::Document;
pub use write::write_character;
