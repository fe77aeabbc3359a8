//! The body of every real character and OBJ, against the goals: `--nocapture` prints the table.

mod common;
#[path = "../../pliant-io/tests/common/data.rs"]
mod data;

use common::{json, pliant, text};
use data::{data, files_below, for_all, gltf_files};
use serde_json::Value;
use std::path::Path;
use std::sync::Mutex;

const WANTED: f64 = 8000.0;

/// Files with nothing to fill, and those that cannot be read for reasons of their own: what their refusals say.
fn may_be_refused(said: &str) -> bool {
    ["encloses no volume", "Draco", "no skin", "no triangles"].iter().any(|why| said.contains(why))
}

/// What a body misses of the goals.
fn misses(about: &Value) -> Vec<String> {
    let number = |path: &str| about.pointer(path).and_then(Value::as_f64);
    let mut missed = Vec::new();
    let mut goal = |what: &str, path: &str, low: f64, high: f64| {
        let value = number(path).unwrap_or_else(|| panic!("{path} in {about}"));
        if !(low..=high).contains(&value) {
            missed.push(format!("{what} {value:.4}"));
        }
    };
    goal("tets", "/tets", WANTED * 0.95, WANTED * 1.05);
    goal("smallest dihedral", "/dihedral/min", 10.0, 180.0);
    goal("1st percentile", "/dihedral/p1", 20.0, 180.0);
    goal("largest dihedral", "/dihedral/max", 0.0, 155.0);
    goal("volume ratio", "/volume_ratio", 0.85, 1.15);
    goal("cells outside", "/farthest_outside/flesh/cells", 0.0, 0.75);
    goal("inverted tets", "/inverted_tets", 0.0, 0.0);
    goal("crowded faces", "/crowded_faces", 0.0, 0.0);
    // Shells that overlap are one body: never more pieces than shells.
    goal("pieces", "/pieces/count", 1.0, number("/shells/flesh").unwrap_or(0.0));
    missed
}

fn row(name: &str, about: &Value) -> String {
    let at = |path: &str| about.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN);
    format!(
        "{name:48} {:6} tets  {:5.1} {:5.1} {:6.1} deg  volume {:.3}  pieces {:3} of {:3} shells  outside {:.2}  {:5.0} ms",
        at("/tets"),
        at("/dihedral/min"),
        at("/dihedral/p1"),
        at("/dihedral/max"),
        at("/volume_ratio"),
        at("/pieces/count"),
        at("/shells/flesh"),
        at("/farthest_outside/flesh/cells"),
        at("/milliseconds"),
    )
}

#[test]
fn every_real_skin_with_flesh_gets_a_body_that_meets_the_goals() {
    let Some(data) = data() else { return };
    let mut files = gltf_files(&data.join("gltf"));
    files.extend(files_below(&data.join("obj"), &["obj"]));
    let table = Mutex::new(Vec::new());
    for_all(&files, |file| {
        let name = file.strip_prefix(&data).unwrap_or(file).display().to_string();
        let (line, missed) = meshed(&name, file);
        table.lock().unwrap().push((name, line, missed));
    });
    let mut table = table.into_inner().unwrap();
    table.sort();
    let mut wrong = Vec::new();
    for (name, line, missed) in &table {
        println!("{line}");
        wrong.extend(missed.iter().map(|m| format!("{name}: {m}")));
    }
    let bodies = table.iter().filter(|(_, line, _)| line.contains(" tets ")).count();
    assert!(bodies > 24, "only {bodies} bodies");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A row of the table, and what is missed.
fn meshed(name: &str, file: &Path) -> (String, Vec<String>) {
    let output = pliant(&["tets", text(file), "--target", "8000", "--threads", "1", "--json", "--quiet"]);
    if output.status.success() {
        let about = json(&String::from_utf8_lossy(&output.stdout));
        return (row(name, &about), misses(&about));
    }
    let said = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    let missed = if may_be_refused(&said) { Vec::new() } else { vec![said.clone()] };
    (format!("{name:48} {said}"), missed)
}
