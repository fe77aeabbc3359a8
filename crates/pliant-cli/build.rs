//! With the feature `studio`: writes a table of the page's files, for `src/studio/page.rs` to embed.

use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_STUDIO").is_none() {
        return;
    }
    println!("cargo::rerun-if-env-changed=PLIANT_STUDIO_DIST");
    let beside = || Path::new(&variable("CARGO_MANIFEST_DIR")).join("../../studio/dist");
    let folder = env::var_os("PLIANT_STUDIO_DIST").map_or_else(beside, PathBuf::from);
    if let Err(problem) = table(&folder).and_then(|table| {
        let out = Path::new(&variable("OUT_DIR")).join("page.rs");
        std::fs::write(&out, table).map_err(|e| format!("{}: {e}", out.display()))
    }) {
        println!("cargo::error={problem}");
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

/// A Rust expression: every file of the page with its name, media type and bytes.
fn table(folder: &Path) -> Result<String, String> {
    let missing = |_| format!("no page in {}: build the page first: cargo xtask studio", folder.display());
    let folder = folder.canonicalize().map_err(missing)?;
    folder.join("index.html").metadata().map_err(missing)?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    collect(&folder, "", &mut names)?;
    names.sort();
    let mut table = "&[\n".to_owned();
    for name in names {
        let path = folder.join(&name);
        let path = path.to_str().ok_or_else(|| format!("{}: the path is not Unicode", path.display()))?;
        let mime = mime(&name);
        let _ = writeln!(
            table,
            "    Asset {{ name: {name:?}, mime: {mime:?}, bytes: include_bytes!({path:?}) }},"
        );
    }
    Ok(table + "]\n")
}

/// The names of all files below `prefix`, from `folder` on, with `/`.
fn collect(folder: &Path, prefix: &str, names: &mut Vec<String>) -> Result<(), String> {
    let at = folder.join(prefix);
    let wrong = |e: std::io::Error| format!("{}: {e}", at.display());
    for entry in std::fs::read_dir(&at).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        // The server compares names as they come: none may need escapes in an address.
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b)) {
            return Err(format!(
                "{}: name it with letters, digits, '-', '_' and '.' alone",
                entry.path().display()
            ));
        }
        if entry.path().is_dir() {
            collect(folder, &format!("{name}/"), names)?;
        } else {
            names.push(name);
        }
    }
    Ok(())
}

fn mime(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "txt" => "text/plain; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "glb" => "model/gltf-binary",
        _ => "application/octet-stream",
    }
}
