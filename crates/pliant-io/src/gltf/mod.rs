//! glTF 2.0: `.glb`, `.gltf`, `.vrm`.

mod accessor;
mod buffers;
mod build;
mod data;
mod document;
mod glb;
mod json;
mod look;
mod meshopt;
mod motion;
mod place;
mod read;
mod schema;
mod skin;
mod summary;
mod tree;
mod validate;

pub use document::Document;
pub use look::{LookImage, Looks, PartLook};
pub use read::{Loaded, inspect, read};
pub use summary::{ClipSummary, Images, SkinSummary, Summary};

/// How far a quaternion may be from unit length: exporters round, and all are made unit; beyond this it is no rotation.
const UNIT_TOLERANCE: f64 = 0.05;
