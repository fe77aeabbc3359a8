//! What a person or CI runs: `cargo xtask demo`, `cargo xtask studio`, `cargo xtask test`, `cargo xtask bench`.

mod book;
mod links;
mod page;
mod tidy;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask demo     bake a built-in character; leaves a GLB, a report and a picture in out/demo
cargo xtask studio   build the studio's page and open it; all that follows goes to `pliant studio`: a character, --no-open
cargo xtask test     every test, with all the set-up it needs
cargo xtask bench    the benchmarks: kernels against their scalar reference, loading against the gltf crate
                     (--peers [GROUP...]: beside pyPBD, newton, numpy, libigl, Blender and fTetWild, which Python's pip
                     installs under target/; results in docs/results/bench. Groups: solver, skinning, tets, scaling.
                     What is there for this commit is skipped unless --again; --quick only tries the scripts)
cargo xtask paper    what the papers behind Pliant claim, run anew: pages in docs/results. All that follows goes to it:
                     000 to 004, solver, tets, figures; --again for what is up to date as well; --check runs nothing and
                     says what is older than the code
cargo xtask gallery  pictures of every sample at rest and in every motion, in out/gallery
cargo xtask pictures the pictures of the README and the book, in docs/images
cargo xtask book     the book's page of settings, from the schema; the book too, in target/book, where mdBook is installed";

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    let result = match task.as_str() {
        "demo" => demo(),
        "studio" => page::studio(std::env::args_os().skip(2)),
        "test" => test(),
        "bench" if std::env::args().nth(2).as_deref() == Some("--peers") => peers(std::env::args().skip(3)),
        "bench" => bench(),
        "paper" => paper(std::env::args().skip(2)),
        "gallery" => gallery(),
        "pictures" => pictures(),
        "book" => book::book(),
        _ => {
            println!("{HELP}");
            return if task.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) };
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Runs a command in the project's root, its output shown; an error if it fails.
fn run(command: &[&str]) -> Result<()> {
    run_with(command, &[])
}

fn run_with(command: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    println!("$ {}", command.join(" "));
    let status = Command::new(command[0])
        .args(&command[1..])
        .envs(environment.iter().copied())
        .current_dir(root())
        .status()
        .with_context(|| format!("cannot run {}", command[0]))?;
    if !status.success() {
        bail!("failed: {}", command.join(" "));
    }
    Ok(())
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
}

fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from))
}

/// How the command is built: for users, or as the tests have built most of it already.
#[derive(Clone, Copy)]
enum Build {
    Release,
    Tests,
}

/// The command, with what is asked of cargo beside.
fn pliant_built(build: Build, options: &[&str]) -> Result<String> {
    let (profile, folder) = match build {
        Build::Release => ("release", "release"),
        Build::Tests => ("dev", "debug"),
    };
    let command = ["cargo", "build", "--quiet", "--package", "pliant-cli", "--profile", profile];
    run(&[&command[..], options].concat())?;
    let path = target().join(folder).join(format!("pliant{}", std::env::consts::EXE_SUFFIX));
    text(&path).map(str::to_owned)
}

/// The release build of the command.
fn pliant() -> Result<String> {
    pliant_built(Build::Release, &[])
}

/// The built-in characters, each with its motions.
fn samples(pliant: &str) -> Result<Vec<(String, Vec<String>)>> {
    let list = Command::new(pliant).args(["sample", "--list"]).output()?;
    if !list.status.success() {
        bail!("cannot list the samples");
    }
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    // Two lines a sample: its name first on one, its motions on the next.
    let pairs = list.lines().collect::<Vec<_>>();
    let sample = |[about, motions]: &[&str; 2]| {
        let name = about.split_whitespace().next().unwrap_or_default().to_owned();
        let motions = motions.trim().trim_start_matches("motions: ").split(", ");
        (name, motions.map(str::to_owned).collect())
    };
    Ok(pairs.as_chunks::<2>().0.iter().map(sample).collect())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("the path {} is not Unicode", path.display()))
}

fn demo() -> Result<()> {
    let pliant = pliant()?;
    let out = root().join("out/demo");
    std::fs::create_dir_all(&out)?;
    let file = |name: &str| out.join(name).to_string_lossy().into_owned();
    let (character, baked, report) = (file("human.glb"), file("human-soft.glb"), file("report.html"));
    run(&[&pliant, "sample", "human", "-o", &character])?;
    run(&[
        &pliant, "bake", &character, "--clip", "walk", "--method", "position", "-o", &baked, "--report",
        &report,
    ])?;
    let picture = file("human.png");
    run(&[
        &pliant, "picture", &character, "--clip", "walk", "--time", "0.3", "--method", "position", "-o",
        &picture,
    ])?;
    println!(
        "\nThe baked character:  {baked}\nThe report:           {report}\nA still:              {picture}"
    );
    println!("Open the GLB in any glTF viewer and the report in a browser.");
    Ok(())
}

fn test() -> Result<()> {
    tidy::check(&root())?;
    run(&["cargo", "fmt", "--all", "--check"])?;
    run(&["cargo", "clippy", "--quiet", "--workspace", "--all-targets", "--", "--deny", "warnings"])?;
    set_up_validator()?;
    // Named, so that a test cannot pass for want of them.
    let validator = std::path::absolute(root().join("tools/validator"))?;
    let data = data()?;
    let mut environment = vec![("PLIANT_VALIDATOR", text(&validator)?)];
    match &data {
        Some(folder) => {
            println!("Real files: {}", folder.display());
            environment.push(("PLIANT_DATA", text(folder)?));
        }
        None => {
            println!("Real files: none, so only built-in samples are tested (PLIANT_DATA names their folder)")
        }
    }
    run_with(&["cargo", "test", "--quiet", "--workspace"], &environment)?;
    book::check()?;
    // One thread and no rayon: the same bits.
    let same_bits = ["--lib", "--test", "*same_bits*"];
    run(&[&["cargo", "test", "--quiet", "--package", "pliant", "--no-default-features"], &same_bits[..]]
        .concat())?;
    run_with(
        &["cargo", "doc", "--quiet", "--workspace", "--no-deps"],
        &[("RUSTDOCFLAGS", "--deny warnings")],
    )?;
    page::build_wasm()?;
    page::build_page(Build::Tests)?;
    page::test_page(data.as_deref())
}

/// The folder of real characters, where there is one.
fn data() -> Result<Option<PathBuf>> {
    let Some(folder) = std::env::var_os("PLIANT_DATA") else {
        return Ok(Some(std::path::absolute(root().join("../shared/data"))?).filter(|beside| beside.is_dir()));
    };
    let folder = std::path::absolute(folder)?;
    if !folder.is_dir() {
        bail!("PLIANT_DATA: {} is no folder", folder.display());
    }
    Ok(Some(folder))
}

/// Khronos's validator, from npm, judges every GLB that the tests write.
fn set_up_validator() -> Result<()> {
    npm_ci("tools/validator")
}

/// Installs what a folder's `package-lock.json` says, and npm itself where it is not there.
fn npm_ci(folder: &str) -> Result<()> {
    if !is_there("npm") {
        apt_install(&["nodejs", "npm"])?;
    }
    run(&["npm", "ci", "--prefix", folder, "--no-audit", "--no-fund"])
}

fn apt_install(packages: &[&str]) -> Result<()> {
    run(&["apt-get", "update"])?;
    run(&[&["apt-get", "install", "--yes"], packages].concat())
}

fn bench() -> Result<()> {
    let pliant = pliant()?;
    run(&[&pliant, "bench"])?;
    run(&["cargo", "bench", "--quiet", "--package", "pliant-io", "--bench", "load"])
}

/// The papers' tables and figures by our own engine.
fn paper(words: impl Iterator<Item = String>) -> Result<()> {
    let pliant = pliant()?;
    let (root, data) = (root(), data()?);
    let mut command =
        vec!["cargo", "run", "--quiet", "--release", "--package", "pliant-paper", "--", "--pliant", &pliant];
    command.extend(["--root", text(&root)?]);
    if let Some(data) = &data {
        command.extend(["--data", text(data)?]);
    }
    let words: Vec<String> = words.collect();
    command.extend(words.iter().map(String::as_str));
    run(&command)
}

/// Pliant beside its peers, in one run; `xtask/peers/run.py` does the work and takes what follows `--peers`.
fn peers(words: impl Iterator<Item = String>) -> Result<()> {
    let pliant = pliant()?;
    let (target, data) = (target(), data()?);
    let mut command = vec![if is_there("python3") { "python3" } else { "python" }, "xtask/peers/run.py"];
    command.extend([&pliant, text(&target)?]);
    if let Some(data) = &data {
        command.extend(["--data", text(data)?]);
    }
    let words: Vec<String> = words.collect();
    command.extend(words.iter().map(String::as_str));
    run(&command)
}

/// What the README shows, linear blending above and ours below: the picture's name, and how it is taken.
const README_PICTURES: [(&str, &str); 10] = [
    ("strip-twist-lbs", "sample:arm --clip twist --time 1.5 --method lbs"),
    ("strip-twist-strain", "sample:arm --clip twist --time 1.5 --method strain"),
    ("strip-knee-lbs", "sample:leg --clip bend --time 1.2 --view side --method lbs"),
    ("strip-knee-position", "sample:leg --clip bend --time 1.2 --view side --method position"),
    ("strip-fold-lbs", "sample:leg --clip bend --time 1.5 --view side --method lbs"),
    ("strip-fold-volume", "sample:leg --clip bend --time 1.5 --view side --method volume"),
    ("strip-person-lbs", "sample:human --clip twist --time 60% --view front --method lbs"),
    ("strip-person-metaballs", "sample:human --clip twist --time 60% --view front --method metaballs"),
    ("strip-belly-lbs", "sample:bunny --clip run --time 0.35 --view side --method lbs"),
    (
        "bunny-run-anisotropic",
        "sample:bunny --clip run --time 0.35 --view side --config examples/anisotropic.toml",
    ),
];

/// What the book shows beside them.
const BOOK_PICTURES: [(&str, &str); 32] = [
    ("octopus-tets", "sample:octopus --show tets --view quarter"),
    ("hand-tets", "sample:hand --show tets --view quarter"),
    ("elephant-tets", "sample:elephant --show tets --view side"),
    ("cylinder-twist-lbs", "sample:cylinder --clip twist --time 2 --method lbs"),
    ("cylinder-twist-dqs", "sample:cylinder --clip twist --time 2 --method dqs"),
    ("cylinder-twist-position", "sample:cylinder --clip twist --time 2 --method position"),
    ("cylinder-twist-metaballs", "sample:cylinder --clip twist --time 80% --method metaballs"),
    ("human-balls", "sample:human --method metaballs --show balls"),
    ("hand-bend-metaballs", "sample:hand --clip bend --time 80% --method metaballs"),
    ("human-pins", "sample:human --clip kick --time 0.6 --method strain --show pins"),
    (
        "bunny-run-isotropic",
        "sample:bunny --clip run --time 0.35 --view side --config examples/isotropic.toml",
    ),
    ("cylinder-rest", "sample:cylinder"),
    ("cylinder-bend-lbs", "sample:cylinder --clip bend --time 1.2 --view front --method lbs"),
    ("cylinder-bend-dqs", "sample:cylinder --clip bend --time 1.2 --view front --method dqs"),
    ("cylinder-bend-smooth", "sample:cylinder --clip bend --time 1.2 --view front --method smooth"),
    ("cylinder-bend-volume", "sample:cylinder --clip bend --time 1.2 --view front --method volume"),
    ("cylinder-bend-position", "sample:cylinder --clip bend --time 1.2 --view front --method position"),
    ("cylinder-bend-strain", "sample:cylinder --clip bend --time 1.2 --view front --method strain"),
    ("cylinder-bend-metaballs", "sample:cylinder --clip bend --time 1.2 --view front --method metaballs"),
    ("cylinder-twist-smooth", "sample:cylinder --clip twist --time 2 --method smooth"),
    ("cylinder-twist-volume", "sample:cylinder --clip twist --time 2 --method volume"),
    ("cylinder-twist-strain", "sample:cylinder --clip twist --time 2 --method strain"),
    ("leg-bend-lbs", "sample:leg --clip bend --time 1.5 --view side --method lbs"),
    ("leg-bend-volume", "sample:leg --clip bend --time 1.5 --view side --method volume"),
    ("leg-bend-strain", "sample:leg --clip bend --time 1.5 --view side --method strain"),
    ("leg-bend-metaballs", "sample:leg --clip bend --time 1.5 --view side --method metaballs"),
    ("leg-stretch-lbs", "sample:leg --clip bend --time 1.2 --heat stretch --view side --method lbs"),
    ("leg-volume-lbs", "sample:leg --clip bend --time 1.2 --heat volume --view side --method lbs"),
    (
        "leg-stretch-position",
        "sample:leg --clip bend --time 1.2 --heat stretch --view side --method position",
    ),
    ("leg-volume-position", "sample:leg --clip bend --time 1.2 --heat volume --view side --method position"),
    (
        "chubby-jump-lbs",
        "sample:chubby --clip jump --time 1.33 --view side --config examples/belly.toml --method lbs",
    ),
    (
        "chubby-jump-position",
        "sample:chubby --clip jump --time 1.33 --view side --config examples/belly.toml --method position",
    ),
];

fn pictures() -> Result<()> {
    let pliant = pliant()?;
    let out = root().join("docs/images");
    std::fs::create_dir_all(&out)?;
    for (name, how) in README_PICTURES.iter().chain(&BOOK_PICTURES) {
        let file = out.join(format!("{name}.png")).to_string_lossy().into_owned();
        let how = how.split_whitespace().collect::<Vec<_>>();
        run(&[&[&pliant[..], "picture"], &how[..], &["--size", "280x280", "-o", &file]].concat())?;
    }
    Ok(())
}

/// Every sample at rest and in the middle of every motion, to be looked at.
fn gallery() -> Result<()> {
    let pliant = pliant()?;
    let out = root().join("out/gallery");
    std::fs::create_dir_all(&out)?;
    for (name, motions) in samples(&pliant)? {
        let character = format!("sample:{name}");
        let file = |what: &str| out.join(format!("{name}-{what}.png")).to_string_lossy().into_owned();
        run(&[&pliant, "picture", &character, "-o", &file("rest")])?;
        for motion in &motions {
            run(&[&pliant, "picture", &character, "--clip", motion, "--time", "50%", "-o", &file(motion)])?;
        }
    }
    println!("\nPictures are in {}", out.display());
    Ok(())
}
