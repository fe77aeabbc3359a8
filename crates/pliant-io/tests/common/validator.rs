//! Khronos's validator, where node and `tools/validator/node_modules` are there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// How often each error occurs in a file.
pub(crate) type Errors = BTreeMap<String, usize>;

/// The errors in each file; `None`, and a line that says so, where the validator is absent.
pub(crate) fn validate(files: &[PathBuf]) -> Option<Vec<Errors>> {
    validate_with(std::env::var_os("PLIANT_VALIDATOR").map(PathBuf::from), files)
}

/// A validator that was asked for must be there: neither a typo nor a failed installation may turn tests off.
pub(crate) fn validate_with(asked: Option<PathBuf>, files: &[PathBuf]) -> Option<Vec<Errors>> {
    let is_asked = asked.is_some();
    let absent = |why: String| {
        assert!(!is_asked, "PLIANT_VALIDATOR is set, but {why}");
        println!("{why}: outputs are not checked with the validator");
        None
    };
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/validator");
    let folder = asked.unwrap_or_else(|| beside.into());
    if !folder.join("node_modules/gltf-validator").is_dir() {
        return absent(format!("there is no gltf-validator in {} (run `npm ci` there)", folder.display()));
    }
    let output = match Command::new("node").arg(folder.join("validate.mjs")).args(files).output() {
        Ok(output) => output,
        Err(error) => return absent(format!("node does not run ({error})")),
    };
    assert!(output.status.success(), "node fails: {}", String::from_utf8_lossy(&output.stderr));
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
