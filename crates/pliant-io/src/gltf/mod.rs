//! glTF 2.0: `.glb`, `.gltf`, `.vrm`.

mod document;

pub use document::Document;
