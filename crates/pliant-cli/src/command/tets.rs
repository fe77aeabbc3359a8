//! `pliant tets`: the body alone, and how good it is.

use super::inspect;
use crate::Outcome;
use crate::args::{Common, TetsArgs};
use crate::shell;
use crate::terminal::{self, say, shown};
use anyhow::{Context, Result};
use pliant::body::quality::{Quality, dihedrals};
use pliant::body::topology::Adjacency;
use pliant::body::{Body, Fate};
use pliant_io::files::{ReadyFile, WholeFile, commit};
use pliant_io::tet::{self, Field, Fields};
use pliant_kit::flesh::{self, Skin};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &TetsArgs, common: &Common) -> Result<Outcome> {
    let skin = Skin::open(&args.file, common)?;
    shell::warn(&skin.warnings, common);
    let output = args.output.as_deref();
    if let Some(output) = output {
        // What cannot be written should fail before anything is computed.
        WholeFile::create(output).with_context(|| shown(output))?;
    }
    let started = Instant::now();
    let body = flesh::make(&skin.positions, &skin.triangles, args.fineness.fineness(), common)
        .with_context(|| shown(&args.file))?;
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    let adjacency = Adjacency::new(body.tets());
    let about = described(&skin, &body, &adjacency, milliseconds);
    if let Some(output) = output {
        let ready = written(output, &body, &adjacency).with_context(|| shown(output))?;
        shell::check_not_among(std::iter::once(&args.file), ready.iter().map(ReadyFile::path))?;
        let written = commit(ready)?;
        if !common.quiet {
            let names: Vec<_> = written.iter().map(|path| shown(path)).collect();
            say(&format!("wrote {}", names.join(", ")));
        }
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&about)?)?;
    } else {
        writeln!(out, "{}", terminal::one_line(&shown(&args.file)))?;
        inspect::print(&mut out, &about, 1)?;
    }
    Ok(Outcome::Done)
}

/// The body's file or files, all there but for their names.
fn written(path: &Path, body: &Body, adjacency: &Adjacency) -> Result<Vec<ReadyFile>> {
    let format = tet::Format::of(path).context("not a kind of tet file")?;
    let piece: Vec<f32> = adjacency.pieces().of_tet.iter().map(|&p| p as f32).collect();
    let tets = body.tets();
    let sharpest = |t: usize| dihedrals(tets.corners(t)).into_iter().fold(180.0, f64::min) as f32;
    let dihedral: Vec<f32> = (0..tets.tets().len()).map(sharpest).collect();
    let field = |name, values| Field { name, values, width: 1 };
    let of_tets = [field("fill", body.fill()), field("piece", &piece), field("dihedral_min", &dihedral)];
    let fields = Fields { nodes: &[field("volume", body.node_volumes())], tets: &of_tets };
    Ok(tet::create(path, format, tets, &fields)?)
}

/// Everything that there is to say about a body.
fn described(skin: &Skin, body: &Body, adjacency: &Adjacency, milliseconds: f64) -> Value {
    let tets = body.tets();
    let quality = Quality::of(tets);
    let inverted = (0..tets.tets().len()).filter(|&t| tets.volume_of(t) <= 0.0).count();
    let fill = body.fill().iter().map(|&f| f64::from(f)).sum::<f64>() / body.fill().len() as f64;
    json!({
        "tets": quality.tets,
        "nodes": quality.nodes,
        "cell": short(body.cell()),
        "dihedral": {
            "min": short(quality.dihedral_min),
            "p1": short(quality.dihedral_p1),
            "p50": short(quality.dihedral_p50),
            "p99": short(quality.dihedral_p99),
            "max": short(quality.dihedral_max),
        },
        "volume": short(quality.volume),
        "skin_volume": short(body.skin_volume()),
        "volume_ratio": short(quality.volume / body.skin_volume()),
        "pieces": { "count": body.pieces().len(), "tets": body.pieces() },
        "farthest_outside": {
            "flesh": farthest(skin, body, false),
            "riding": farthest(skin, body, true),
        },
        "fill_mean": short(fill),
        "shells": shells(skin, body),
        "inverted_tets": inverted,
        "crowded_faces": adjacency.crowded,
        "milliseconds": short(milliseconds),
        "warnings": skin.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// The vertex that lies farthest outside its tet: of flesh, or of what rides on it. None where there is no such vertex.
fn farthest(skin: &Skin, body: &Body, riding: bool) -> Value {
    let outside = body.outside(&skin.positions);
    let asked = outside.iter().enumerate().filter(|(v, _)| body.rides(*v) == riding);
    let used = asked.filter_map(|(v, &distance)| Some((v, distance, skin.name_of(v)?)));
    match used.max_by(|a, b| a.1.total_cmp(&b.1)) {
        None => Value::Null,
        Some((vertex, distance, part)) => json!({
            "distance": short(f64::from(distance)),
            "cells": short(f64::from(distance) / body.cell()),
            "vertex": vertex,
            "part": part,
        }),
    }
}

/// How many pieces of the skin are flesh, and which ride on it, by part and reason.
fn shells(skin: &Skin, body: &Body) -> Value {
    let (mut count, mut flesh) = (0, 0);
    // In the file's order; parts are few.
    let mut riding: Vec<(&str, &str, u32, u32)> = Vec::new();
    for shell in body.shells() {
        // Vertices that no triangle has are shells of their own.
        let Some(part) = skin.name_of(shell.vertex as usize) else { continue };
        count += 1;
        let why = match shell.fate {
            Fate::Flesh => {
                flesh += 1;
                continue;
            }
            Fate::Open => "open",
            Fate::Thin => "thin",
            Fate::Small => "small",
        };
        match riding.iter_mut().find(|r| (r.0, r.1) == (part, why)) {
            Some(row) => (row.2, row.3) = (row.2 + 1, row.3 + shell.vertices),
            None => riding.push((part, why, 1, shell.vertices)),
        }
    }
    let row = |&(part, why, shells, vertices): &(&str, &str, u32, u32)| json!({ "part": part, "why": why, "shells": shells, "vertices": vertices });
    json!({ "count": count, "flesh": flesh, "riding": riding.iter().map(row).collect::<Vec<_>>() })
}

/// Six digits: as many as mean anything.
fn short(value: f64) -> Value {
    let text = format!("{value:.5e}");
    json!(text.parse::<f64>().unwrap_or(value))
}
