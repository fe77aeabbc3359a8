//! Settings as a user gives them: a file, a preset, what the character's file brings; and the schema they keep to.

mod common;

use common::{edited, fails, json, pliant, refused, sample, text, works};
use pliant::asset::{Character, Painted};
use pliant::method::{Preset, SOFTNESS, Settings};
use pliant::zoo;
use pliant_io::gltf::write_character;
use serde_json::{Value, json as value};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EXAMPLE: &str = include_str!("../../../examples/settings.toml");

/// The example with everything in it that stands behind a #.
fn uncommented() -> String {
    let is_setting = |line: &str| {
        let word = line.split(' ').next().unwrap_or_default();
        let assigned = line.starts_with(&format!("{word} = "));
        line.starts_with("[[") || (assigned && word.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
    };
    let line = |line: &str| match line.strip_prefix("# ").filter(|l| is_setting(l)) {
        Some(setting) => format!("{setting}\n"),
        None => format!("{line}\n"),
    };
    EXAMPLE.lines().map(line).collect()
}

/// The paths of all keys in a settings file; lists are `[]`.
fn keys(value: &Value, path: &str, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                out.insert(path.clone());
                keys(value, &path, out);
            }
        }
        Value::Array(list) => list.iter().for_each(|v| keys(v, &format!("{path}[]"), out)),
        Value::String(choice) if path.ends_with(".on") => drop(out.insert(format!("{path}.{choice}"))),
        _ => {}
    }
}

/// The paths of all keys that a schema knows, each with what it says of it.
fn known<'s>(root: &'s Value, schema: &'s Value, path: &str, out: &mut Vec<(String, &'s Value)>) {
    let followed = schema["$ref"].as_str().map(|name| &root["$defs"][name.rsplit('/').next().unwrap()]);
    if let Some(definition) = followed {
        known(root, definition, path, out);
    }
    for choice in ["oneOf", "anyOf"].iter().filter_map(|k| schema[k].as_array()).flatten() {
        if let Some(name) = choice["const"].as_str().filter(|_| path.ends_with(".on")) {
            out.push((format!("{path}.{name}"), choice));
        }
        known(root, choice, path, out);
    }
    if schema["items"].is_object() {
        known(root, &schema["items"], &format!("{path}[]"), out);
    }
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        out.push((path.clone(), property));
        known(root, property, &path, out);
    }
}

fn schema() -> Value {
    json(&works(&["schema"]))
}

/// The example, the schema and the code know the same keys, and the example's values are the defaults.
#[test]
fn the_example_shows_every_key_with_its_default() {
    let file = pliant_io::settings::read(EXAMPLE.as_bytes()).unwrap();
    assert_eq!(file.settings, Settings::default());

    let all = uncommented();
    let mut shown = BTreeSet::new();
    keys(&toml::from_str(&all).unwrap(), "", &mut shown);
    let schema = schema();
    let mut listed = Vec::new();
    known(&schema, &schema, "", &mut listed);
    let listed: BTreeSet<String> = listed.into_iter().map(|(path, _)| path).collect();
    assert_eq!(shown, listed);
    assert!(listed.len() > 45, "{listed:?}");

    // Either of two ways to say how fine the body is.
    let loadable: String = all.lines().filter(|l| !l.starts_with("cell")).map(|l| format!("{l}\n")).collect();
    let settings = pliant_io::settings::read(loadable.as_bytes()).unwrap().settings;
    assert_eq!(settings.regions.len(), 6);
    assert_eq!(settings.regions[0].resolved(), Preset::Fat.tissue());
    assert_eq!(settings.position, Settings::default().position);
}

#[test]
fn the_schema_describes_and_defaults() {
    let schema = schema();
    let mut listed = Vec::new();
    known(&schema, &schema, "", &mut listed);
    for (path, property) in &listed {
        let described = property["description"].is_string() || property["$ref"].is_string();
        let is_choice = ["painted", "bone", "sphere", "capsule", "weights"].iter().any(|c| path.ends_with(c));
        assert!(described || is_choice, "{path} is not described");
        for rust in ["::", "[`"] {
            assert!(!property.to_string().contains(rust), "{path}: {property}");
        }
    }
    assert_eq!(schema["properties"]["simulation"]["default"]["preroll"], 1.0);
    assert_eq!(schema["additionalProperties"], false);
}

/// A settings file with one key set.
fn setting(path: &str, value: f64, whole: bool) -> String {
    let number = if whole { format!("{value}") } else { format!("{value:?}") };
    match path.strip_prefix("region[].on.") {
        Some(inner) => {
            let (place, key) = inner.split_once('.').unwrap();
            let others: &[&str] = match place {
                "bone" => &["joint = \"a\""],
                "sphere" => &["center = [0, 0, 0]", "radius = 1"],
                _ => &["from = [0, 0, 0]", "to = [0, 1, 0]", "radius = 1"],
            };
            let others: Vec<_> = others.iter().filter(|o| !o.starts_with(key)).copied().collect();
            format!("[[region]]\non = {{ {place} = {{ {}, {key} = {number} }} }}", others.join(", "))
        }
        None => match path.split_once("[].") {
            Some(("fibre", key)) => format!("[[fibre]]\nfile = \"a.json\"\n{key} = {number}"),
            Some(("smooth.joint", key)) => format!("[[smooth.joint]]\njoint = \"a\"\n{key} = {number}"),
            Some(("metaballs.joint", key)) => format!(
                "[[metaballs.joint]]\njoint = \"a\"\nradius = 1.0\n{key} = {number}"
            )
            .replacen("radius = 1.0\nradius", "radius", 1),
            Some(("metaballs.muscle", key)) => {
                let ends = "from = { joint = \"a\" }\nto = { joint = \"b\" }";
                format!("[[metaballs.muscle]]\n{ends}\n{key} = {number}")
            }
            Some((_, key)) => format!("[[region]]\non = \"all\"\n{key} = {number}"),
            None => format!("{path} = {number}"),
        },
    }
}

/// The ranges of the schema are those of the check, to the edge.
#[test]
fn the_schema_has_the_ranges_of_the_check() {
    let schema = schema();
    let mut listed = Vec::new();
    known(&schema, &schema, "", &mut listed);
    let mut tried = 0;
    for (path, property) in listed {
        let (Some(low), Some(high)) = (property["minimum"].as_f64(), property["maximum"].as_f64()) else {
            continue;
        };
        let whole = property["type"].to_string().contains("integer");
        let (less, more) = if whole { (low - 1.0, high + 1.0) } else { (low.next_down(), high.next_up()) };
        for (value, right) in [(low, true), (high, true), (less, false), (more, false)] {
            let text = setting(&path, value, whole);
            let read = pliant_io::settings::read(text.as_bytes());
            assert_eq!(read.is_ok(), right, "{text}: {:?}", read.err());
        }
        tried += 1;
    }
    assert!(tried >= 25, "{tried}");
}

/// A settings file beside a small sample.
fn with_config(config: &str) -> (tempfile::TempDir, PathBuf, PathBuf, PathBuf) {
    let (folder, file) = sample("cylinder", 600);
    let (path, out) = (folder.path().join("c.toml"), folder.path().join("out.npz"));
    fs::write(&path, config).unwrap();
    (folder, file, path, out)
}

#[test]
fn what_is_wrong_is_told_by_file_line_and_key() {
    for (config, expected) in [
        (
            "[simulation]\nitterations = 3",
            "c.toml: line 2: simulation: unknown key 'itterations'; did you mean 'iterations'?",
        ),
        (
            "\n[position]\nstretch = 2",
            "c.toml: line 3: position.stretch: 2 is out of range; 0 to 1 are allowed",
        ),
        (
            "[simulation]\nstep = nan",
            "c.toml: line 2: simulation.step: NaN is out of range; 0.0001 to 0.1 are allowed",
        ),
        (
            "[[region]]\non = 'all'\npreset = 'fatt'",
            "c.toml: line 3: region[0].preset: unknown choice 'fatt'; did you mean 'fat'?",
        ),
        ("x", "c.toml: line 1: this is not TOML: "),
    ] {
        let (_folder, file, path, out) = with_config(config);
        for command in ["bake", "picture"] {
            let to = if command == "bake" { out.clone() } else { out.with_extension("png") };
            let said = refused(&[command, text(&file), "--config", text(&path), "-o", text(&to)]);
            assert!(said.contains(expected), "{said}");
            assert!(!to.exists());
        }
    }
}

/// Joints and paint depend on the character, and are told by line all the same.
#[test]
fn names_that_the_character_does_not_have_are_told_by_line() {
    let character = zoo::character("cylinder", Some(600)).unwrap();
    let joint = &character.skeleton().joints().iter().rfind(|j| j.deforms).unwrap().name;
    let config = format!(
        "[[region]]\non = {{ bone = {{ joint = \"{joint}\" }} }}\n\n[[region]]\non = {{ weights = [\"{joint}\", \"{joint}e\"] }}"
    );
    let (_folder, file, path, out) = with_config(&config);
    let said = refused(&["bake", text(&file), "--config", text(&path), "-o", text(&out)]);
    let expected = format!(
        "c.toml: line 5: region[1].on.weights: there is no joint '{joint}e'; did you mean '{joint}'?"
    );
    assert!(said.contains(&expected), "{said}");

    let (_folder, file, path, out) = with_config("[[region]]\non.painted = \"COLOR_0.r\"");
    let said = refused(&["bake", text(&file), "--config", text(&path), "-o", text(&out)]);
    assert!(
        said.contains(
            "line 2: region[0].on.painted: there is no painted attribute 'COLOR_0.r'; there are none"
        ),
        "{said}"
    );
}

#[test]
fn hostile_config_files_end_in_one_line() {
    let (folder, file, path, out) = with_config("");
    let bake = |config: &Path| {
        let started = Instant::now();
        let said = refused(&["bake", text(&file), "--config", text(config), "-o", text(&out)]);
        assert!(said.len() < 700 && started.elapsed() < Duration::from_secs(5), "{said}");
        said
    };
    // A gigabyte that takes no room on the disk.
    fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
    bake(&path);
    fs::write(&path, format!("name = \"{}\"", "x".repeat(1 << 20))).unwrap();
    bake(&path);
    fs::write(&path, format!("a = {}", "[".repeat(1_000_000))).unwrap();
    bake(&path);
    fs::write(&path, "[[region]]\non = 'all'\n".repeat(257)).unwrap();
    assert!(bake(&path).contains("257 are too many; 256 at most"));
    fs::write(&path, "[[region]]\n".repeat(10_000_000)).unwrap();
    bake(&path);
    fs::write(&path, b"\xff\xfe\0\0").unwrap();
    bake(&path);
    assert!(bake(&folder.path().join("none.toml")).contains("none.toml: cannot read it"));
    let directory = folder.path().join("d.toml");
    fs::create_dir(&directory).unwrap();
    bake(&directory);
    // A settings file is told from an output by its name.
    fails(&["bake", text(&file), "--config", text(&out), "-o", text(&out)], 2);
}

#[test]
fn the_method_may_be_set_and_the_command_line_counts_more() {
    let (_folder, file, path, out) = with_config("method = \"dqs\"");
    let method = |extra: &[&str]| {
        let mut args = vec!["bake", text(&file), "--clip", "twist", "-o", text(&out), "--json"];
        args.extend(extra);
        let report = json(&works(&args));
        (report["method"].as_str().unwrap().to_owned(), report["state_hash"].clone())
    };
    let (plain, asked) = (method(&[]), method(&["--method", "dqs"]));
    assert_eq!((&plain.0[..], &asked.0[..]), ("lbs", "dqs"));
    assert_eq!(method(&["--config", text(&path)]), asked);
    assert_eq!(method(&["--config", text(&path), "--method", "lbs"]), plain);
    // What skinning has no use for does not change it.
    assert_eq!(method(&["--preset", "jelly"]), plain);
}

/// Soft flesh swings by its own inertia; a preset for all of it is a region on all of it.
#[test]
fn settings_reach_the_flesh() {
    let (folder, file, _, out) = with_config("");
    let hash = |name: &str, config: &str, extra: &[&str]| {
        let path = folder.path().join(format!("{name}.toml"));
        fs::write(&path, format!("method = \"position\"\n{config}\n[body]\ntets = 300\n")).unwrap();
        let mut args =
            vec!["bake", text(&file), "--config", text(&path), "--end", "0.2", "-o", text(&out), "--json"];
        args.extend(extra);
        let output = pliant(&args);
        let report = json(std::str::from_utf8(&output.stdout).unwrap());
        report["state_hash"].as_str().unwrap().to_owned()
    };
    let (plain, jelly) = (hash("a", "", &[]), hash("b", "preset = \"jelly\"", &[]));
    assert_ne!(plain, jelly);
    assert_eq!(hash("c", "", &["--preset", "jelly"]), jelly);
    assert_eq!(hash("d", "region = [{ on = \"all\", preset = \"jelly\" }]", &[]), jelly);
    // Of two on one place the later counts.
    let on_all = |presets: [&str; 2]| {
        let [first, then] = presets.map(|p| format!("{{ on = \"all\", preset = \"{p}\" }}"));
        hash("e", &format!("region = [{first}, {then}]"), &[])
    };
    assert_ne!(on_all(["fat", "jelly"]), on_all(["jelly", "fat"]));
}

#[test]
fn presets_are_known_by_name() {
    let (_folder, file, _, out) = with_config("");
    for preset in ["firm", "muscle", "fat", "jelly"] {
        works(&["bake", text(&file), "--preset", preset, "--end", "0.1", "-o", text(&out)]);
    }
    let said = fails(&["bake", text(&file), "--preset", "bone", "-o", text(&out)], 2);
    assert!(said.contains("firm") && said.contains("jelly"), "{said}");
}

/// A sample with paint on it, and a folder for more.
fn painted(names: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let mut raw = zoo::character("cylinder", Some(600)).unwrap().into_raw();
    let count = raw.surface.positions().len();
    let values: Vec<f32> = (0..count).map(|v| v as f32 / count as f32).collect();
    raw.paint = names.iter().map(|n| Painted { name: (*n).into(), values: values.clone() }).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("painted.glb");
    fs::write(&file, write_character(&Character::new(raw).unwrap()).unwrap()).unwrap();
    (folder, file)
}

/// What a bake says on the way.
fn said(args: &[&str]) -> String {
    let output = pliant(args);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

#[test]
fn painted_softness_needs_no_settings() {
    let (folder, file) = painted(&[SOFTNESS]);
    let (config, out) = (folder.path().join("c.toml"), folder.path().join("o.npz"));
    let mut args = vec!["bake", text(&file), "--end", "0.1", "-o", text(&out)];
    let note = "soft regions: what is painted _SOFTNESS is soft as fat";
    assert!(said(&args).contains(note));
    args.push("--json");
    let report = json(&works(&args));
    assert!(report["warnings"].to_string().contains(note), "{}", report["warnings"]);
    // Who says what is soft, or that nothing is, is heard.
    for text_of in ["file_regions = false", "preset = \"firm\"", "[[region]]\non = \"all\""] {
        fs::write(&config, text_of).unwrap();
        let args = ["bake", text(&file), "--end", "0.1", "--config", text(&config), "-o", text(&out)];
        assert!(!said(&args).contains("soft regions"), "{text_of}");
    }
    // A region on the same paint.
    fs::write(&config, "[[region]]\non.painted = \"_SOFTNESS\"\npreset = \"jelly\"").unwrap();
    works(&["bake", text(&file), "--end", "0.1", "--config", text(&config), "-o", text(&out)]);
}

#[test]
fn other_paint_is_fetched_when_a_region_names_it() {
    let (folder, file) = painted(&["_FAT", "_THIN"]);
    let (config, out) = (folder.path().join("c.toml"), folder.path().join("o.npz"));
    let args = ["bake", text(&file), "--end", "0.1", "--config", text(&config), "-o", text(&out)];
    fs::write(&config, "[[region]]\non.painted = \"_FAT\"").unwrap();
    works(&args);
    fs::write(&config, "[[region]]\non.painted = \"_FATT\"").unwrap();
    let said = refused(&args);
    assert!(said.contains("did you mean '_FAT'? there are '_FAT', '_THIN'"), "{said}");
}

#[test]
fn inspect_lists_paint_and_soft_regions() {
    let (_folder, file) = painted(&[SOFTNESS, "_FAT"]);
    let about = json(&works(&["inspect", text(&file), "--json"]));
    assert_eq!(about["painted"], value!(["_FAT", "_SOFTNESS"]));
    assert_eq!(about["soft_regions"][0]["name"], SOFTNESS);
    let shown = works(&["inspect", text(&file)]);
    assert!(shown.contains("painted: _FAT, _SOFTNESS\n"), "{shown}");
    assert!(shown.contains("soft regions: 1\n") && shown.contains("name _SOFTNESS, softness 1"), "{shown}");
    let plain = works(&["inspect", "sample:arm"]);
    assert!(!plain.contains("painted") && !plain.contains("soft regions"), "{plain}");
}

/// A VRM made of a sample: its last joints swing.
#[test]
fn springs_of_a_vrm_are_soft_unless_told_otherwise() {
    let (folder, file) = sample("cylinder", 600);
    let vrm = edited(&fs::read(&file).unwrap(), |about| {
        let joint = about["skins"][0]["joints"].as_array().unwrap().last().unwrap().clone();
        let spring = value!({"name": "tail", "joints": [{"node": joint, "stiffness": 0.5}]});
        let lost = value!({"name": "lost", "joints": [{"node": 5000}]});
        about["extensions"] = value!({"VRMC_springBone": {"specVersion": "1.0", "springs": [spring, lost]}});
        about["extensionsUsed"] = value!(["VRMC_springBone"]);
    });
    let (file, config) = (folder.path().join("a.vrm"), folder.path().join("c.toml"));
    fs::write(&file, vrm).unwrap();
    let out = folder.path().join("o.npz");
    let args = ["bake", text(&file), "--end", "0.1", "-o", text(&out)];
    let heard = said(&args);
    assert!(heard.contains("soft regions: 'tail' is soft"), "{heard}");
    assert!(heard.contains("springs[1]: there is no node 5000"), "{heard}");
    fs::write(&config, "file_regions = false").unwrap();
    assert!(!said(&[&args[..], &["--config", text(&config)]].concat()).contains("is soft"));
    let about = json(&works(&["inspect", text(&file), "--json"]));
    assert_eq!(about["soft_regions"].as_array().unwrap().len(), 1);
    assert_eq!(about["soft_regions"][0]["name"], "tail");
    assert!(works(&["inspect", text(&file)]).contains(", name tail, "));
}

#[test]
fn pictures_take_settings_too() {
    let (folder, file, path, _) = with_config("method = \"dqs\"\n[body]\ntets = 500");
    let out = folder.path().join("p.png");
    let picture = |extra: &[&str]| {
        let mut args = vec!["picture", text(&file), "--size", "64x64", "-o", text(&out)];
        args.extend(extra);
        works(&args);
        fs::read(&out).unwrap()
    };
    let twisted = ["--clip", "twist", "--time", "50%"];
    let by = |more: &[&str]| picture(&[&twisted[..], more].concat());
    assert_eq!(by(&["--config", text(&path)]), by(&["--method", "dqs"]));
    assert_ne!(by(&["--config", text(&path)]), by(&[]));
    // The body of the settings, where the command line names none.
    let tets = picture(&["--show", "tets", "--config", text(&path)]);
    assert_eq!(tets, picture(&["--show", "tets", "--target", "500"]));
    assert_ne!(tets, picture(&["--show", "tets"]));
}

/// Curves beside the settings are read, from nowhere else; what lies outside the flesh is told by name.
#[test]
fn fibres_come_from_the_settings_and_files_beside_them() {
    let (folder, character) = sample("arm", 500);
    let at = |name: &str| folder.path().join(name);
    let picture = |extra: &[&str]| {
        let mut args = vec!["picture", text(&character), "--show", "frames", "--target", "500"];
        let (config, out) = (at("c.toml"), at("p.png"));
        let [config, out] = [&config, &out].map(|p| text(p).to_owned());
        args.extend(["--config", &config, "--size", "64x64", "-o", &out]);
        args.extend(extra);
        pliant(&args)
    };
    let said = |extra: &[&str]| String::from_utf8(picture(extra).stderr).unwrap();
    fs::create_dir(at("sub")).unwrap();
    fs::write(at("sub/lines.obj"), "o biceps\nv 0.05 0.1 0\nv 0.3 0.12 0\nl 1 2\n").unwrap();
    let near = "[[fibre]]\nfile = 'sub/lines.obj'\n";
    let far = "[[fibre]]\nname = 'lost'\npoints = [[9, 9, 9], [8, 8, 8]]\n";
    fs::write(at("c.toml"), format!("method = 'strain'\n{near}{far}")).unwrap();
    let warned = said(&[]);
    assert!(
        warned.contains("fibre 'lost'") && !warned.contains("biceps") && at("p.png").exists(),
        "{warned}"
    );

    for (name, what) in [("../lines.obj", "outside"), ("none.json", "cannot read it"), ("c.toml", ".toml")] {
        fs::write(at("c.toml"), format!("method = 'strain'\n[[fibre]]\nfile = '{name}'\n")).unwrap();
        let output = picture(&[]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.trim_end().lines().count()), (Some(1), 1), "{said}");
        assert!(said.contains("line 3: fibre[0].file") && said.contains(what), "{said}");
    }
}

#[test]
fn methods_without_frames_or_pins_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("p.png");
    let args = ["picture", "sample:arm", "--method", "lbs", "--show", "balls", "-q", "-o", text(&out)];
    assert!(fails(&args, 1).contains("lbs has no balls; use --method metaballs"));
    for (method, show) in [("lbs", "frames"), ("position", "pins"), ("dqs", "pins"), ("position", "frames")] {
        let args = ["picture", "sample:arm", "--method", method, "--show", show, "-q", "-o", text(&out)];
        let said = refused(&args);
        assert!(said.contains(&format!("{method} has no {show}; use --method strain")), "{said}");
    }
    let cut =
        ["picture", "sample:arm", "--method", "strain", "--show", "pins", "--cut", "x", "-o", text(&out)];
    assert!(fails(&cut, 2).contains("--cut goes with --show tets"));
    assert!(!out.exists());
}
