//! A method made ready for a character.

use crate::host::{Host, in_steps};
use crate::input::Input;
use anyhow::{Context, Result};
use pliant::method::{self, Deformer, Settings, Setup};
use pliant::simd;

/// Prepares a method, and tells how far that is.
pub fn prepare<'c>(
    name: &str,
    settings: &Settings,
    input: &'c Input,
    path: simd::Path,
    host: &dyn Host,
) -> Result<Box<dyn Deformer + 'c>> {
    let what = format!("preparing {name}");
    let mut progress = in_steps(host, &what);
    let setup = Setup { path, settings, tets: input.tets.clone(), progress: &mut progress };
    method::prepare(name, &input.character, setup).with_context(|| input.name.clone())
}
