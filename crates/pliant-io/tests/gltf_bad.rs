//! Broken and hostile files: what must be refused is refused, what is valid loads, nothing panics.

mod common;

use common::data::{data, gltf_files};
use std::collections::BTreeMap;

/// Codes that touch neither geometry nor skin nor animation: such files may load with a warning.
const HARMLESS: [&str; 6] = [
    "ACCESSOR_VECTOR3_NON_UNIT",
    "ACCESSOR_INVALID_SIGN",
    "ACCESSOR_NON_CLAMPED",
    "SKIN_SKELETON_INVALID",
    "MESH_PRIMITIVE_TOO_FEW_TEXCOORDS",
    "EMPTY_ENTITY of a scene",
];

/// What the data's README expects of each file: its verdict column.
fn expectations(readme: &str) -> BTreeMap<String, String> {
    let mut expected = BTreeMap::new();
    let bad = readme.split("## bad/").nth(1).expect("a section about bad files");
    for line in bad.lines().filter(|l| l.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let name = cells[0].trim_matches(['|', ' ', '`']).to_owned();
        let verdict = if cells.len() > 3 { cells[3] } else { cells[1] };
        let name = if cells.len() > 3 { name } else { format!("gltf-validator/{name}") };
        expected.insert(name, verdict.trim_matches(['|', ' ']).to_owned());
    }
    expected
}

#[test]
fn verdicts_are_those_of_the_list() {
    let Some(data) = data() else { return };
    let expected = expectations(&std::fs::read_to_string(data.join("README.md")).unwrap());
    let mut wrong = Vec::new();
    let mut seen = 0;
    for path in gltf_files(&data.join("bad")) {
        let name = path.strip_prefix(data.join("bad")).unwrap().to_string_lossy().into_owned();
        let Some(verdict) = expected.get(&name) else { panic!("{name} is not in the list") };
        seen += 1;
        let result = common::inspect(&path);
        let _ = common::read(&path);
        let codes = verdict.strip_prefix("errors: ").unwrap_or("");
        let harmless = !codes.is_empty() && codes.split(", ").all(|c| HARMLESS.contains(&c))
            || name.ends_with("scene/empty_nodes_array.gltf");
        let ok = match (&result, verdict.as_str()) {
            (Ok(_), v) if v == "valid" || v.starts_with("warning") => true,
            (Err(_), v) => v != "valid" && !v.starts_with("warning"),
            (Ok(summary), _) => harmless && !summary.warnings.is_empty(),
        };
        match &result {
            Ok(s) => {
                println!("ok      {name} ({verdict}): bakeable {}, {} {:?}", s.bakeable, s.reason, s.warnings)
            }
            Err(e) => {
                println!("refused {name} ({verdict}): {e}");
                assert!(e.problems().iter().all(|p| !p.what.is_empty()));
            }
        }
        if !ok {
            wrong.push(format!(
                "{name}: expected {verdict}, got {}",
                result.map_or_else(|e| e.to_string(), |_| "ok".into())
            ));
        }
    }
    assert!(seen > 100, "{seen} files");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
