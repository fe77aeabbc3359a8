//! `pliant sample`: the built-in characters.

use crate::Outcome;
use crate::args::{Common, SampleArgs};
use crate::progress::Bar;
use crate::terminal::{say, shown};
use anyhow::{Context, Result};
use pliant::zoo;
use pliant_io::files::write_whole;
use pliant_io::gltf;
use std::io::Write;

pub(crate) fn run(args: &SampleArgs, common: &Common) -> Result<Outcome> {
    if args.list {
        return list();
    }
    let (name, output) = (args.name.as_deref().unwrap_or_default(), args.output.as_ref());
    let output = output.context("where to? give -o OUT.glb")?;
    let progress = Bar::busy("making the character", common.quiet);
    let character = zoo::character(name, args.vertices)?;
    drop(progress);
    let file = gltf::write_character(&character)?;
    write_whole(&[(output.clone(), file)]).with_context(|| output.display().to_string())?;
    if !common.quiet {
        let vertices = character.surface().positions().len();
        let clips: Vec<_> = character.clips().iter().map(|c| c.name()).collect();
        say(&format!("wrote {}: {vertices} vertices, clips {}", shown(output), clips.join(", ")));
    }
    Ok(Outcome::Done)
}

fn list() -> Result<Outcome> {
    let mut out = std::io::stdout().lock();
    for sample in zoo::list() {
        writeln!(out, "{:10} {:>6} vertices  {}", sample.name, sample.default_vertices, sample.about)?;
        writeln!(out, "{:10} motions: {}", "", sample.motions.join(", "))?;
    }
    Ok(Outcome::Done)
}
