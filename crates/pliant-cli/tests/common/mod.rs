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

/// How far each vertex of an OBJ moves along z when some of the bones do by 1: the sum of their weights.
pub(crate) fn shares(obj: &Path, rig: &Path, bones: usize, moved: &[usize], weights: &[&str]) -> Vec<f32> {
    let folder = tempfile::tempdir().unwrap();
    let (motion, out) = (folder.path().join("m.dmat"), folder.path().join("out.mdd"));
    let mut dmat = format!("2 {}\n", 12 * bones);
    for frame in 0..2 {
        for (row, bone) in (0..3).flat_map(|row| (0..bones).map(move |bone| (row, bone))) {
            let mut entries = [0.0; 4];
            entries[row] = 1.0;
            entries[3] = if frame == 1 && moved.contains(&bone) && row == 2 { 1.0 } else { 0.0 };
            entries.iter().for_each(|e| dmat += &format!("{e}\n"));
        }
    }
    fs::write(&motion, dmat).unwrap();
    let mut args = vec!["bake", text(obj), "--skeleton", text(rig), "--motion", text(&motion)];
    args.extend(["-q", "-o", text(&out)]);
    args.extend(weights);
    works(&args);
    let bytes = fs::read(&out).unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(number(0), 2, "frames");
    let points = number(4) as usize;
    let z = |frame: usize, point: usize| f32::from_bits(number(16 + 12 * (frame * points + point) + 8));
    (0..points).map(|p| z(1, p) - z(0, p)).collect()
}

/// A GLB with its JSON changed.
pub(crate) fn edited(glb: &[u8], edit: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let word = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().unwrap()) as usize;
    let end = 20 + word(12);
    let mut about = serde_json::from_slice(&glb[20..end]).unwrap();
    edit(&mut about);
    let mut text = about.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut edited = glb[..8].to_vec();
    edited.extend((20 + text.len() as u32 + (glb.len() - end) as u32).to_le_bytes());
    edited.extend((text.len() as u32).to_le_bytes());
    edited.extend(b"JSON");
    edited.extend(text);
    edited.extend(&glb[end..]);
    edited
}
