//! Khronos's validator, where node and `tools/validator/node_modules` are there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How often each error occurs in a file.
pub(crate) type Errors = BTreeMap<String, usize>;

fn folder() -> PathBuf {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/validator");
    std::env::var_os("PLIANT_VALIDATOR").map_or_else(|| default.into(), PathBuf::from)
}

/// The errors in each file; `None`, and a line that says so, where the validator is absent.
pub(crate) fn validate(files: &[PathBuf]) -> Option<Vec<Errors>> {
    let folder = folder();
    if !folder.join("node_modules/gltf-validator").is_dir() {
        eprintln!("no gltf-validator in {}: run `npm ci` there to check outputs with it", folder.display());
        return None;
    }
    let output = match Command::new("node").arg(folder.join("validate.mjs")).args(files).output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("node does not run ({error}): outputs are not checked with the validator");
            return None;
        }
    };
    let text = String::from_utf8(output.stdout).expect("the validator prints JSON");
    let reports: Vec<_> = text
        .lines()
        .map(|line| {
            let report: serde_json::Value = serde_json::from_str(line).expect("a line of JSON per file");
            let mut errors = Errors::new();
            for error in report["errors"].as_array().expect("errors are a list") {
                let code = error["code"].as_str().expect("a code").to_string();
                *errors.entry(code).or_default() += 1;
            }
            if std::env::var_os("PLIANT_VALIDATOR_SHOW").is_some() && !errors.is_empty() {
                eprintln!("{line:.2000}");
            }
            errors
        })
        .collect();
    assert_eq!(reports.len(), files.len(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(reports)
}

/// Asserts that bytes have no error that the file they were made from has not.
pub(crate) fn assert_no_new_errors(outputs: &[(PathBuf, Vec<u8>)]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut paths: Vec<PathBuf> = Vec::new();
    for (index, (input, bytes)) in outputs.iter().enumerate() {
        let path = folder.path().join(format!("{index}.glb"));
        std::fs::write(&path, bytes).expect("the output");
        paths.extend([input.clone(), path]);
    }
    let Some(reports) = validate(&paths) else { return };
    for (pair, (input, _)) in reports.chunks(2).zip(outputs) {
        for (code, count) in &pair[1] {
            let before = pair[0].get(code).copied().unwrap_or(0);
            assert!(*count <= before, "{}: {code} {count} times, {before} before", input.display());
        }
    }
}

/// Asserts that bytes that were made from nothing have no error at all.
pub(crate) fn assert_valid(outputs: &[&[u8]]) {
    let folder = tempfile::tempdir().expect("a folder");
    let paths: Vec<_> = (0..outputs.len()).map(|i| folder.path().join(format!("{i}.glb"))).collect();
    for (path, bytes) in paths.iter().zip(outputs) {
        std::fs::write(path, bytes).expect("the output");
    }
    for errors in validate(&paths).into_iter().flatten() {
        assert!(errors.is_empty(), "{errors:?}");
    }
}

/// Real files, where they are.
pub(crate) fn data() -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let path = std::env::var_os("PLIANT_DATA").map_or_else(|| default.into(), PathBuf::from);
    if Path::is_dir(&path) {
        return Some(path);
    }
    eprintln!("no data in {}: built-in samples only", path.display());
    None
}
