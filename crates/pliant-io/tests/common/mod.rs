//! What the tests of the glTF reader share.

#![allow(dead_code, reason = "not every test binary uses all of it")]

pub(crate) mod damage;
pub(crate) mod data;

use pliant_io::files::Folder;
use pliant_io::gltf::{Loaded, Summary};
use pliant_io::{ReadError, gltf};
use std::path::Path;

pub(crate) fn read(path: &Path) -> Result<Loaded, ReadError> {
    gltf::read(std::fs::read(path).expect("a readable file"), &Folder::of(path))
}

pub(crate) fn inspect(path: &Path) -> Result<Summary, ReadError> {
    gltf::inspect(std::fs::read(path).expect("a readable file"), &Folder::of(path))
}
