//! Where the real files are. Nothing but the standard library, so that anything that tests may include it.

#![allow(dead_code, reason = "not everything that includes it uses all of it")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The folder of real files: `PLIANT_DATA`, else the one beside the project; `None`, and a line that says so, where
/// there is none.
pub(crate) fn data() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    choose(std::env::var_os("PLIANT_DATA").map(PathBuf::from), Path::new(beside))
}

/// A folder that was asked for must be there: a typo must not turn tests off.
pub(crate) fn choose(asked: Option<PathBuf>, beside: &Path) -> Option<PathBuf> {
    if let Some(folder) = asked {
        assert!(
            folder.is_dir(),
            "PLIANT_DATA is {:?}, which is no folder (seen from {}): give its absolute path, or unset it",
            folder.display().to_string(),
            std::env::current_dir().unwrap_or_default().display()
        );
        return Some(folder);
    }
    if beside.is_dir() {
        return Some(beside.to_path_buf());
    }
    println!("no real files at {}: set PLIANT_DATA to test them too", beside.display());
    None
}

/// All files below a folder with one of these endings, in order.
pub(crate) fn files_below(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for path in entries.map(|entry| entry.expect("a readable folder").path()) {
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

/// Every glTF file below a folder, in order.
pub(crate) fn gltf_files(folder: &Path) -> Vec<PathBuf> {
    files_below(folder, &["glb", "gltf", "vrm"])
}

/// Calls `work` for every item, on all cores.
pub(crate) fn for_all<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}
