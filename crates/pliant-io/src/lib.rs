//! Bytes to and from [`pliant`]'s assets.
//!
//! Readers take bytes and a way to fetch the files that a file refers to ([`Files`]); they check sizes before they
//! allocate, and name the place of whatever is wrong. Writers give bytes; [`files::write_whole`] puts them on disk
//! whole or not at all.

pub mod files;
pub mod gltf;
mod problem;

pub use files::Files;
pub use problem::{Problem, ReadError, Warning};
