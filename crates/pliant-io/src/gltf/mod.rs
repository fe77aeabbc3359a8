//! glTF 2.0: `.glb`, `.gltf`, `.vrm`.

mod accessor;
mod add;
mod bake;
mod buffers;
mod build;
mod data;
mod document;
mod glb;
mod humanoid;
mod json;
mod look;
mod meshopt;
mod motion;
mod out;
mod paint;
mod place;
mod props;
mod read;
mod schema;
mod skin;
mod springs;
mod summary;
#[cfg(test)]
pub(crate) mod testing;
mod tree;
mod validate;
mod validate_motion;
mod worn;
mod write;

pub use bake::{BakedClip, GlbBake, bake};
pub use document::Document;
pub use look::{LookImage, Looks, PartLook};
pub use props::Prop;
pub use read::{Loaded, inspect, read};
pub use summary::{ClipSummary, Images, RegionSummary, SkinSummary, Summary};
pub(crate) use write::mesh_name;
pub use write::write_character;

/// How far a quaternion may be from unit length: exporters round, and all are made unit; beyond this it is no rotation.
const UNIT_TOLERANCE: f64 = 0.05;
