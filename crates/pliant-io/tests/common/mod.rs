//! Where the tests find real files.

use pliant_io::files::Folder;
use pliant_io::gltf::{Loaded, Summary};
use pliant_io::{ReadError, gltf};
use std::path::{Path, PathBuf};

/// The folder of real files, if it is there.
pub(crate) fn data() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let path = std::env::var_os("PLIANT_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    if path.join("README.md").is_file() {
        Some(path)
    } else {
        eprintln!("no test data at {}: set PLIANT_DATA", path.display());
        None
    }
}

/// All files below a folder with one of these endings, in order.
#[allow(dead_code, reason = "not every test binary lists files")]
pub(crate) fn files_below(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a readable folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| endings.contains(&e)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[allow(dead_code, reason = "not every test binary reads characters")]
pub(crate) fn read(path: &Path) -> Result<Loaded, ReadError> {
    gltf::read(std::fs::read(path).expect("a readable file"), &Folder::of(path))
}

#[allow(dead_code, reason = "not every test binary inspects")]
pub(crate) fn inspect(path: &Path) -> Result<Summary, ReadError> {
    gltf::inspect(std::fs::read(path).expect("a readable file"), &Folder::of(path))
}
