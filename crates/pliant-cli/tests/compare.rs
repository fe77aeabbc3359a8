//! Methods side by side, as a user compares them.

mod common;

use common::{fails, files_in, json, pliant, refused, sample, text, works};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Compares on a small cylinder that is twisted; gives results.json and the page.
fn compare(folder: &Path, file: &Path, more: &[&str]) -> (Value, String) {
    let mut args = vec!["compare", text(file), "--clip", "twist", "-q", "-o", text(folder)];
    args.extend(more);
    works(&args);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    (json(&read("results.json")), read("index.html"))
}

/// As many pictures as the page says it has.
fn pictures(page: &str) -> usize {
    let count = page.matches("<img ").count();
    assert_eq!(count, page.matches("src=\"data:image/png;base64,iVBOR").count(), "all are within the page");
    assert!(page.contains(&format!(">Pictures: {count}.")), "{count} pictures are not what the page says");
    count
}

#[test]
fn methods_are_measured_and_shown_side_by_side() {
    let (folder, file) = sample("cylinder", 800);
    let out = folder.path().join("new/comparison");
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join("notes.txt"), "mine").unwrap();
    let (results, page) = compare(&out, &file, &["--methods", "lbs,dqs,position", "--fps", "5"]);
    assert_eq!(files_in(&out), ["index.html", "notes.txt", "results.json"]);

    let methods = results["methods"].as_array().unwrap();
    let names: Vec<_> = methods.iter().map(|m| m["method"].as_str().unwrap()).collect();
    assert_eq!(names, ["lbs", "dqs", "position"]);
    let number = |m: &Value, at: &str| {
        let value = m.pointer(at).and_then(Value::as_f64);
        value.filter(|v| v.is_finite()).unwrap_or_else(|| panic!("{at} of {}", m["method"]))
    };
    for method in methods {
        for at in [
            "/volume_error_percent/max",
            "/edge_stretch/max",
            "/area_ratio/min",
            "/joint_section_min",
            "/self_intersections_max/adjacent",
            "/self_intersections_max/other",
            "/kinetic_energy_max",
            "/prepare_ms",
            "/ms_per_frame/total",
        ] {
            number(method, at);
        }
        assert_eq!(method["frames"], results["frames"]);
    }
    for at in ["/tet_volume_error_percent/max", "/inverted_tets_max", "/residual_mean", "/ms_per_frame/solve"]
    {
        number(&methods[2], at);
    }
    // The candy wrapper, and its cure.
    let section = |k: usize| number(&methods[k], "/joint_section_min");
    assert!(section(0) < 0.3 && section(2) > 2.0 * section(0), "{} {}", section(0), section(2));
    let best = &results["best"]["Joint section / rest, smallest"];
    assert!(!best.as_array().unwrap().contains(&"lbs".into()), "{best}");

    // Lbs is the worst by its sections, and the moment shown is the one at which it is.
    let shown = results["shown"].as_array().unwrap();
    let by = |m: &&Value| m["worst"].as_array().unwrap().iter().any(|w| w["measure"] == "joint section");
    let worst = shown.iter().find(by).expect("the worst section is shown");
    assert!(worst["worst"].as_array().unwrap().iter().any(|w| w["method"] == "lbs"));
    let frame = &methods[0]["per_frame"][worst["frame"].as_u64().unwrap() as usize];
    assert_eq!(frame["joint_section_min"], methods[0]["joint_section_min"]);

    // Rest, each moment by every method, and two heat maps by every method.
    assert_eq!(pictures(&page), 1 + (shown.len() + 2) * 3);
    assert!(page.contains("edge length against rest") && page.contains("local volume against rest"));
    for title in ["Volume error", "Smallest joint section", "Kinetic energy"] {
        assert!(page.contains(&format!("<b>{title}</b>")), "{title} has no curve");
    }
    assert!(!page.contains("<script") && !page.contains("http:") && !page.contains("https:"));
    assert!(page.contains("<td class=\"best\">"));
}

#[test]
fn evenly_spread_frames_take_the_place_of_the_worst() {
    let (folder, file) = sample("cylinder", 600);
    let (results, page) =
        compare(folder.path(), &file, &["--methods", "dqs,lbs", "--fps", "8", "--frames", "3"]);
    let last = results["frames"].as_u64().unwrap() - 1;
    let frames: Vec<_> =
        results["shown"].as_array().unwrap().iter().map(|m| m["frame"].as_u64().unwrap()).collect();
    assert_eq!((frames.len(), frames[0], frames[2]), (3, 0, last));
    assert_eq!(pictures(&page), 1 + (3 + 2) * 2);
    assert_eq!(results["methods"][0]["method"], "dqs", "in the order asked for");
}

/// A comparison says of a method what a bake says of it.
#[test]
fn a_comparison_agrees_with_a_bake() {
    let (folder, file) = sample("cylinder", 600);
    let cut = ["--fps", "10", "--start", "0.4", "--end", "1"];
    let mut bake = vec!["bake", text(&file), "--clip", "twist", "--method", "position", "-q", "--json", "-o"];
    let out = folder.path().join("out.npz");
    bake.push(text(&out));
    bake.extend(cut);
    let baked = json(&works(&bake));
    let mut args = vec!["--methods", "position", "--frames", "1"];
    args.extend(cut);
    let (results, _) = compare(&folder.path().join("c"), &file, &args);
    assert_eq!(results["methods"][0]["state_hash"], baked["state_hash"]);
    assert_eq!(results["methods"][0]["times"], baked["times"]);
}

#[test]
fn json_is_what_is_written() {
    let (folder, file) = sample("cylinder", 600);
    let args = ["compare", text(&file), "--methods", "lbs", "--fps", "2", "--json", "-o"];
    let printed = works(&[&args[..], &[text(folder.path())]].concat());
    let written = fs::read_to_string(folder.path().join("results.json")).unwrap();
    assert_eq!(printed.trim_end(), written);
}

/// No tet is as large as that: the methods that need some are named with the reason, the others go on.
#[test]
fn methods_that_cannot_be_prepared_are_listed() {
    let (folder, file) = sample("cylinder", 600);
    let (config, out) = (folder.path().join("coarse.toml"), folder.path().join("out"));
    fs::write(&config, "[body]\ncell = 1e9\n").unwrap();
    let base = ["compare", text(&file), "--config", text(&config), "--fps", "2", "-o", text(&out)];
    let output = pliant(&[&base[..], &["--methods", "lbs,position"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("warning: position is not compared: "), "{said}");
    let results = json(&fs::read_to_string(out.join("results.json")).unwrap());
    assert_eq!(results["methods"].as_array().unwrap().len(), 1);
    assert_eq!(results["failed"][0]["method"], "position");
    assert!(fs::read_to_string(out.join("index.html")).unwrap().contains("position is not compared: "));
    // Without others there is nothing to show, and nothing new is written.
    let before = fs::read(out.join("index.html")).unwrap();
    let said = fails(&[&base[..], &["--methods", "position", "-q"]].concat(), 1);
    assert!(said.contains("none of the methods can be prepared"), "{said}");
    assert_eq!((fs::read(out.join("index.html")).unwrap(), files_in(&out).len()), (before, 2));
}

#[test]
fn wrong_usage_is_told() {
    let (folder, file) = sample("cylinder", 600);
    let out = folder.path().join("out");
    let wrong = |more: &[&str]| fails(&[&["compare", text(&file), "-o", text(&out)], more].concat(), 2);
    let said = wrong(&["--methods", "lbs,postion"]);
    assert!(said.contains("'postion'") && said.contains("similar value exists: 'position'"), "{said}");
    assert!(wrong(&["--frames", "0"]).contains("worst, or a whole number"));
    assert!(wrong(&["--clip", "all"]).contains("one motion"));
    assert!(wrong(&["--start", "2", "--end", "1"]).contains("after"));
    let said = refused(&["compare", text(&file), "--clip", "none", "-o", text(&out)]);
    assert!(said.contains("there is no clip 'none'"), "{said}");
    assert!(!out.exists());
}

#[test]
fn inputs_are_not_written_over() {
    let (folder, file) = sample("cylinder", 600);
    let before = fs::read(&file).unwrap();
    let said = refused(&["compare", text(&file), "--methods", "lbs", "-o", text(&file)]);
    assert!(said.contains("this is an input"), "{said}");
    // Weights may be a file of that very name.
    let weights = folder.path().join("results.json");
    fs::write(&weights, "{}").unwrap();
    let rig = folder.path().join("rig.tgf");
    let obj = folder.path().join("body.obj");
    let base = ["compare", text(&obj), "--skeleton", text(&rig), "--weights-file", text(&weights)];
    let said = refused(&[&base[..], &["-o", text(folder.path())]].concat());
    assert!(said.contains("results.json: this is an input"), "{said}");
    assert_eq!((fs::read(&file).unwrap(), fs::read(&weights).unwrap()), (before, b"{}".to_vec()));
    assert_eq!(files_in(folder.path()), ["character.glb", "results.json"]);
    let other = folder.path().join("character.txt");
    fs::write(&other, "").unwrap();
    let said = refused(&["compare", text(&file), "--methods", "lbs", "-o", text(&other)]);
    assert!(said.contains("it is a file"), "{said}");
}
