//! The command as a user runs it.

#![allow(dead_code, reason = "not every test uses all of it")]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) fn pliant(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pliant")).args(args).output().expect("the command starts")
}

/// Runs and expects success; gives standard output.
pub(crate) fn works(args: &[&str]) -> String {
    let output = pliant(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs and expects exit code `code`; gives standard error.
pub(crate) fn fails(args: &[&str], code: i32) -> String {
    let output = pliant(args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    assert!(!said.contains("panicked"), "{args:?}: {said}");
    said
}

/// Input that cannot be used: one line, exit code 1.
pub(crate) fn refused(args: &[&str]) -> String {
    let said = fails(args, 1);
    assert_eq!(said.trim_end().lines().count(), 1, "{args:?}: {said}");
    assert!(said.starts_with("error: "), "{said}");
    said
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A small sample written to a folder of its own.
pub(crate) fn sample(name: &str, vertices: usize) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("character.glb");
    works(&["sample", name, "--vertices", &vertices.to_string(), "-o", text(&file)]);
    (folder, file)
}

pub(crate) fn files_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
