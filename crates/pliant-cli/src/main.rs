//! The `pliant` command: a thin shell around the engine.

mod args;
mod command;
mod cutaway;
#[cfg(test)]
#[path = "../../pliant-io/tests/common/data.rs"]
mod data;
mod picture;
mod portrait;
mod progress;
mod record;
mod report;
mod shell;
mod studio;
mod take;
mod terminal;
mod xray;

use anyhow::{Context, Result};
use args::{Cli, Command};
use clap::{CommandFactory, Parser, error::ErrorKind};
use pliant::body::BodyError;
use pliant::method::Settings;
use std::io::Write;
use std::process::ExitCode;

/// What a command says when it is done without an error.
pub(crate) enum Outcome {
    Done,
    /// Written, but with frames flagged.
    Flagged,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let several = cli.common.threads.len() > 1;
    if several && !matches!(cli.command, Command::Bench(_)) {
        let message = "--threads takes one number here; only `bench` takes several";
        Cli::command().error(ErrorKind::TooManyValues, message).exit();
    }
    if let Some(message) = cli.command.misuse() {
        Cli::command().error(ErrorKind::ValueValidation, message).exit();
    }
    // Stopped half way: nothing stays behind. Without a handler it would only be untidy.
    let _ = ctrlc::set_handler(|| {
        pliant_io::files::remove_temporary_files();
        std::process::exit(130);
    });
    match run(cli) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Flagged) => ExitCode::from(3),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::say(&format!("error: {error:#}"));
            if is_misuse(&error) { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

fn run(cli: Cli) -> Result<Outcome> {
    let common = &cli.common;
    if let Some(path) = common.simd
        && !path.is_available()
    {
        let have: Vec<_> = pliant::simd::Path::available().iter().map(|p| p.name()).collect();
        anyhow::bail!("--simd {path}: this machine does not have it; it has {}", have.join(", "));
    }
    if let [threads] = common.threads[..] {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .context("cannot start threads")?;
    }
    match &cli.command {
        Command::Sample(args) => command::sample::run(args, common),
        Command::Inspect(args) => command::inspect::run(args, common),
        Command::Bake(args) => command::bake::run(args, common),
        Command::Compare(args) => command::compare::run(args, common),
        Command::Picture(args) => command::picture::run(args, common),
        Command::Tets(args) => command::tets::run(args, common),
        Command::Studio(args) => command::studio::run(args, common),
        Command::Bench(args) => command::bench::run(args, common),
        Command::Schema => {
            writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&Settings::schema())?)?;
            Ok(Outcome::Done)
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "pliant", &mut script);
            std::io::stdout().write_all(&script)?;
            Ok(Outcome::Done)
        }
    }
}

/// A setting that the engine refuses is wrong usage, not wrong input.
fn is_misuse(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(cause.downcast_ref(), Some(BodyError::Setting { .. })))
}

/// A reader that has seen enough (`pliant inspect F | head`) is no error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
