//! `pliant inspect`: what is in a file, and what will not work, before anything runs.

use crate::Outcome;
use crate::args::{Common, InspectArgs, WeightsArg};
use crate::shell::bytes;
use crate::terminal;
use anyhow::{Context, Result};
use pliant_io::files::Folder;
use pliant_io::gltf::RegionSummary;
use pliant_io::{Warning, bvh, gltf, obj};
use pliant_kit::input::{self, Format, Input};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;

pub(crate) fn run(args: &InspectArgs, common: &Common) -> Result<Outcome> {
    let path = &args.input.file;
    let named = || path.display().to_string();
    let mut about = if input::sample_name(path).is_some() || args.input.skeleton.is_some() {
        rigged(&Input::open(&args.input.request(), common)?)
    } else {
        match Format::of(path).ok_or_else(|| input::unknown_format(path))? {
            Format::Gltf => {
                let summary = gltf::inspect(bytes(path)?, &Folder::of(path)).with_context(named)?;
                let mut about = value(&summary)?;
                let own =
                    summary.influences_max > 0 && matches!(args.input.weights, None | Some(WeightsArg::File));
                if own && args.input.tets.is_none() {
                    about["weights"] = json!("file");
                } else if summary.bakeable {
                    // What is odd about the weights shows once they are made.
                    let input = Input::open(&args.input.request(), common)?;
                    about["weights"] = json!(input.weights);
                    about = with_warnings(about, &input.warnings);
                }
                about
            }
            Format::Obj => {
                let mesh = obj::read(&bytes(path)?).with_context(named)?;
                let mut about = value(&mesh.summary())?;
                about["bakeable"] = json!(false);
                about["reason"] = json!("an OBJ has no skeleton: give one with --skeleton");
                with_warnings(about, &mesh.warnings)
            }
            Format::Bvh => {
                let motion = bvh::read(&bytes(path)?).with_context(named)?;
                let mut about = value(&motion.summary())?;
                about["bakeable"] = json!(true);
                with_warnings(about, &motion.warnings)
            }
        }
    };
    if args.input.motion.as_ref().is_some_and(|file| input::extension(file) == "bvh") {
        let input = Input::open(&args.input.request(), common)?;
        about["motion"] = value(&input.motion.as_ref().map(|m| &m.1))?;
        about = with_warnings(about, &input.warnings);
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&about)?)?;
    } else {
        writeln!(out, "{}", terminal::one_line(&named()))?;
        print(&mut out, &about, 1)?;
    }
    Ok(Outcome::Done)
}

fn value(about: &impl Serialize) -> Result<Value> {
    Ok(serde_json::to_value(about)?)
}

fn with_warnings(mut about: Value, warnings: &[Warning]) -> Value {
    about["warnings"] = warnings.iter().map(|w| w.to_string()).collect();
    about
}

fn rigged(input: &Input) -> Value {
    let character = &input.character;
    let clips: Vec<Value> = character
        .clips()
        .iter()
        .map(|c| json!({ "name": c.name(), "seconds": c.end(), "channels": c.channels().len() }))
        .collect();
    let deforming = character.skeleton().joints().iter().filter(|j| j.deforms).count();
    let about = json!({
        "vertices": character.surface().positions().len(),
        "triangles": character.surface().triangles().len(),
        "parts": character.parts().len(),
        "joints": deforming,
        "weights": input.weights,
        "influences_max": character.weights().max_influences(),
        "morphs": character.morphs().len(),
        "clips": clips,
        "painted": character.paint().iter().map(|p| &p.name).collect::<Vec<_>>(),
        "soft_regions": RegionSummary::all(character, &input.regions),
        "bakeable": true,
    });
    with_warnings(about, &input.warnings)
}

/// Items of a list within a line.
const LISTED: usize = 16;

/// The same for people: one fact a line, lists short.
pub(super) fn print(out: &mut impl Write, about: &Value, depth: usize) -> std::io::Result<()> {
    let Some(map) = about.as_object() else { return Ok(()) };
    let indent = "  ".repeat(depth);
    for (key, value) in map {
        let key = key.replace('_', " ");
        match value {
            Value::Null => {}
            Value::Array(list) if list.is_empty() => {}
            Value::Object(_) => {
                writeln!(out, "{indent}{key}:")?;
                print(out, value, depth + 1)?;
            }
            Value::Array(list)
                if list.iter().any(|v| v.is_object() || v.as_str().is_some_and(|s| s.len() > 30)) =>
            {
                writeln!(out, "{indent}{key}: {}", list.len())?;
                for item in list {
                    writeln!(out, "{indent}  {}", one_line(item))?;
                }
            }
            _ => writeln!(out, "{indent}{key}: {}", one_line(value))?,
        }
    }
    Ok(())
}

fn one_line(value: &Value) -> String {
    match value {
        Value::String(text) => terminal::one_line(text),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(list) => {
            let mut items: Vec<String> = list.iter().take(LISTED).map(one_line).collect();
            if list.len() > LISTED {
                items.push(format!("and {} more", list.len() - LISTED));
            }
            items.join(", ")
        }
        Value::Object(map) => {
            let is_empty = |v: &Value| v.is_null() || v.as_array().is_some_and(Vec::is_empty);
            let facts = map.iter().filter(|(_, v)| !is_empty(v));
            facts
                .map(|(k, v)| format!("{} {}", k.replace('_', " "), one_line(v)))
                .collect::<Vec<_>>()
                .join(", ")
        }
        other => other.to_string(),
    }
}
