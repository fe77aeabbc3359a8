//! The studio: the engine as WASM, the page around it, the command that serves both, and their tests in a browser.

use crate::{Build, apt_install, npm_ci, pliant_built, root, run, run_with, samples, target, text};
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds everything and opens it, with what was given to `pliant studio`.
pub(crate) fn studio(arguments: impl Iterator<Item = OsString>) -> Result<()> {
    build_wasm()?;
    build_page(Build::Release)?;
    let pliant = pliant_with_page(Build::Release)?;
    // From where the user is: files are named from there.
    let status = Command::new(&pliant).arg("studio").args(arguments).status();
    if !status.with_context(|| format!("cannot run {pliant}"))?.success() {
        bail!("the studio has ended");
    }
    Ok(())
}

/// The engine for the page, where the page's bundler finds it.
pub(crate) fn build_wasm() -> Result<()> {
    const TARGET: &str = "wasm32-unknown-unknown";
    run(&["rustup", "target", "add", TARGET])?;
    run_with(
        &["cargo", "build", "--profile", "web", "--quiet", "--package", "pliant-web", "--target", TARGET],
        &[("RUSTFLAGS", "-C target-feature=+simd128")],
    )?;
    let built = target().join(TARGET).join("web/pliant_web.wasm");
    let public = root().join("studio/public");
    std::fs::create_dir_all(&public)?;
    let bytes = std::fs::copy(&built, public.join("pliant.wasm"))
        .with_context(|| format!("cannot copy {} to {}", built.display(), public.display()))?;
    println!("the engine: {bytes} bytes of WASM");
    Ok(())
}

/// The samples as files, which the page reads quicker than it could make them.
fn write_samples(build: Build) -> Result<()> {
    let pliant = pliant_built(build, &[])?;
    let folder = root().join("studio/public/samples");
    std::fs::create_dir_all(&folder)?;
    for (sample, _) in samples(&pliant)? {
        let file = folder.join(format!("{sample}.glb"));
        run(&[&pliant, "sample", &sample, "-o", text(&file)?, "--quiet"])?;
    }
    Ok(())
}

/// The page as static files, in `studio/dist`; the engine must be built.
pub(crate) fn build_page(build: Build) -> Result<()> {
    write_samples(build)?;
    npm_ci("studio")?;
    run(&["npm", "run", "build", "--prefix", "studio"])
}

/// The command with the page in it, which must be built.
fn pliant_with_page(build: Build) -> Result<String> {
    pliant_built(build, &["--features", "studio"])
}

/// The command that serves the page, then the page in a browser as a user would use it. `data` has real characters.
pub(crate) fn test_page(data: Option<&Path>) -> Result<()> {
    run(&[
        "cargo",
        "test",
        "--quiet",
        "--package",
        "pliant-cli",
        "--features",
        "studio",
        "--test",
        "studio",
    ])?;
    let Some(chrome) = chrome()? else { return Ok(()) };
    let pliant = pliant_with_page(Build::Tests)?;
    let mut environment = vec![("PLIANT_BIN", &pliant[..]), ("CHROME", text(&chrome)?)];
    if let Some(data) = data {
        environment.push(("PLIANT_DATA", text(data)?));
    }
    run_with(&["npm", "test", "--prefix", "studio"], &environment)
}

/// The browser to test in: the one that is named, found or, where this may be done, installed.
fn chrome() -> Result<Option<PathBuf>> {
    if let Some(named) = std::env::var_os("CHROME") {
        let named = std::path::absolute(named)?;
        if !named.is_file() {
            bail!("CHROME: {} is no file", named.display());
        }
        return Ok(Some(named));
    }
    if let Some(found) = installed_chrome() {
        return Ok(Some(found));
    }
    if is_root() {
        apt_install(&["chromium"])?;
        return installed_chrome().context("chromium was installed, but is not on PATH").map(Some);
    }
    let missing = "the page is not tested: no chromium, chromium-browser or google-chrome on PATH, and CHROME names none";
    // Where nobody reads what is printed, a test that is left out must show.
    if std::env::var_os("CI").is_some() {
        bail!("{missing}");
    }
    println!("\n*** {missing} ***\n");
    Ok(None)
}

fn installed_chrome() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|file| file.is_file())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0")
}
