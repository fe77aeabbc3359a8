//! A method made ready for a character.

use crate::args::Common;
use crate::load::Input;
use crate::progress::Progress;
use anyhow::{Context, Result};
use pliant::method::{self, Deformer, Settings, Setup};
use pliant::simd;

/// Prepares a method, with a bar where that takes long. Interrupted, the whole command ends (see `main`).
pub(crate) fn prepare<'c>(
    name: &str,
    settings: &Settings,
    input: &'c Input,
    common: &Common,
) -> Result<Box<dyn Deformer + 'c>> {
    const STEPS: usize = 100;
    let mut bar = Progress::new("preparing", STEPS, common.quiet);
    let mut shown = 0;
    let setup = Setup {
        path: common.simd.unwrap_or_else(simd::Path::best),
        settings,
        tets: input.tets.clone(),
        progress: &mut |share| {
            while shown < (share * STEPS as f32) as usize {
                shown += 1;
                bar.step();
            }
            true
        },
    };
    method::prepare(name, &input.character, setup).with_context(|| input.name.clone())
}
