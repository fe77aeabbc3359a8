//! Bytes to and from [`pliant`]'s assets.
//!
//! Readers take bytes and a way to fetch the files that a file refers to ([`Files`]); they check sizes before they
//! allocate, and name the place of whatever is wrong. Writers take frames one by one and write to anything;
//! [`files::WholeFile`] puts a file on disk whole or not at all.

pub mod bvh;
pub mod cache;
pub mod curves;
pub mod files;
pub mod gltf;
pub mod joint_map;
pub mod obj;
mod problem;
mod refusal;
pub mod rigging;
pub mod settings;
pub mod tet;
mod text;

#[cfg(test)]
#[path = "../tests/common/data.rs"]
mod data;
#[cfg(test)]
mod testing;
#[cfg(test)]
#[path = "../tests/common/validator.rs"]
mod validator;

pub use files::Files;
pub use problem::{Problem, ReadError, Warning};
pub use refusal::WriteError;
