//! Settings files: what is right is read, what is wrong is told by line, and nothing takes long.

use pliant::method::{Place, Preset, Settings};
use pliant_io::settings::{MAX_BYTES, read};
use std::time::{Duration, Instant};

fn refused(text: &str) -> String {
    let error = read(text.as_bytes()).expect_err(text).to_string();
    assert!(!error.contains('\n') && error.len() < 600, "{error}");
    error
}

#[test]
fn nothing_set_is_the_default() {
    for text in ["", "\n", "# a remark", "\u{feff}[simulation]\n", "[body]\n[position]\r\n"] {
        assert_eq!(read(text.as_bytes()).unwrap().settings, Settings::default(), "{text:?}");
    }
}

#[test]
fn what_is_set_is_read() {
    let text = r#"
method = "dqs"
preset = "muscle"
simulation = { step = 0.02, gravity = [0, -1, 0.5] }
[position]
prediction = "dual-quaternion"
stretch = 1
[[region]]
name = "belly"
on = { bone = { joint = "Spine" } }
preset = "jelly"
damping = 0.25
[[region]]
on = "all"
[[region]]
on.painted = "COLOR_0.r"
[[region]]
on = { weights = ["a", 'b'] }
"#;
    let settings = read(text.as_bytes()).unwrap().settings;
    assert_eq!((settings.method.as_deref(), settings.preset), (Some("dqs"), Some(Preset::Muscle)));
    assert_eq!((settings.simulation.step, settings.simulation.iterations), (Some(0.02), None));
    assert_eq!(settings.simulation.gravity, Some([0.0, -1.0, 0.5]));
    assert_eq!(settings.position.stretch, 1.0);
    let bone = Place::Bone { joint: "Spine".into(), reach: 0.5, falloff: 0.5 };
    let painted = Place::Painted("COLOR_0.r".into());
    let places = [bone, Place::All, painted, Place::Weights(vec!["a".into(), "b".into()])];
    assert_eq!(settings.regions.iter().map(|r| r.on.clone()).collect::<Vec<_>>(), places);
    assert_eq!(settings.regions[0].damping, Some(0.25));
}

#[test]
fn errors_name_line_key_and_what_was_meant() {
    for (text, line, parts) in [
        (
            "[simulation]\nstep = 0.01\nitterations = 3",
            3,
            &["simulation", "'itterations'", "'iterations'?"][..],
        ),
        ("colour = 1", 1, &["unknown key 'colour'", "known are method, preset"]),
        ("\n\npreset = \"fatt\"", 3, &["preset", "'fatt'", "did you mean 'fat'?"]),
        ("[simulation]\nmodel = \"xpbd\"", 2, &["simulation.model", "known are stiffness, compliance"]),
        (
            "[simulation]\niterations = \"twelve\"",
            2,
            &["simulation.iterations", "a whole number", "\"twelve\""],
        ),
        ("[simulation]\niterations = 1.5", 2, &["simulation.iterations", "a whole number", "not 1.5"]),
        ("[simulation]\niterations = -1", 2, &["simulation.iterations", "not negative", "not -1"]),
        ("[simulation]\niterations = 0", 2, &["simulation.iterations", "0 is out of range", "1 to 1000"]),
        ("[simulation]\n\nstep = nan", 3, &["simulation.step", "NaN is out of range"]),
        ("[simulation]\npreroll = inf", 2, &["simulation.preroll", "inf is out of range"]),
        ("[simulation]\ngravity = [0, 1]", 2, &["simulation.gravity", "three numbers"]),
        ("[simulation]\ngravity = [0, 1, 'x']", 2, &["simulation.gravity[2]", "a number is needed"]),
        ("[body]\ntets = 99999999999999999999999", 2, &["body.tets", "too large"]),
        ("file_regions = 1", 1, &["file_regions", "true or false"]),
        ("simulation = 3", 1, &["simulation", "a table is needed, not 3"]),
        ("method = \"lps\"", 1, &["there is no method 'lps'", "did you mean 'lbs'?"]),
        ("method = 1979-05-27", 1, &["method", "text in quotes is needed", "a date"]),
        ("region = 3", 1, &["region", "a list"]),
        ("[[region]]\non = 'all'\n\n[[region]]\nname = 'b'", 4, &["region[1]", "'on' is missing"]),
        ("[[region]]\non = 'all'\n[[region]]\non='all'\nsoftness = 2", 5, &["region[1].softness", "0 to 1"]),
        ("[[region]]\non = 'al'", 2, &["region[0].on", "did you mean 'all'?"]),
        ("[[region]]\non = 'painted'", 2, &["region[0].on", "'painted' needs a value"]),
        ("[[region]]\non = { all = 1 }", 2, &["region[0].on", "'all' takes no value"]),
        ("[[region]]\non = { bones = {} }", 2, &["region[0].on", "did you mean 'bone'?"]),
        (
            "[[region]]\non = { bone = { joint = 'a', reach = -1 } }",
            2,
            &["on.bone.reach", "-1 is out of range"],
        ),
        ("[[region]]\non = { bone = { reach = 1 } }", 2, &["region[0].on.bone", "'joint' is missing"]),
        ("[[region]]\non = 5", 2, &["region[0].on", "one of all, painted, bone"]),
        (
            "[[region]]\n[region.on]\n[region.on.sphere]\ncenter = [0, 0, 0]\nradius = 0",
            5,
            &["sphere.radius"],
        ),
        ("[[region]]\non = { weights = [] }", 2, &["on.weights", "is empty"]),
        ("[simulation]\nstep = \n", 2, &["this is not TOML"]),
        ("[simulation]\nstep = 1\nstep = 2", 3, &["this is not TOML", "duplicate"]),
        ("a = \"x\ny\"", 1, &["this is not TOML"]),
    ] {
        let error = refused(text);
        assert!(error.starts_with(&format!("line {line}: ")), "{text:?}: {error}");
        for part in parts {
            assert!(error.contains(part), "{text:?}: {error}: no {part:?}");
        }
    }
    let error = read(b"a = 1\nb = \"\xff\"").unwrap_err().to_string();
    assert_eq!(error, "line 2: is not UTF-8 text");
}

/// What a hostile or a careless hand might write: one line, at once.
#[test]
fn monsters_are_refused_quickly() {
    let most = MAX_BYTES as usize;
    let fill = |piece: &str| piece.repeat(most / piece.len());
    let long = "x".repeat(most - 100);
    for (text, part) in [
        (fill("[[region]]\non=\"all\"\n"), "too many"),
        (fill("[[region]]\n"), "'on' is missing"),
        (fill("["), "not TOML"),
        ("a.".repeat(most / 2 - 9) + "b=1", "not TOML"),
        (format!("a = {}", fill("[")), "too many for a settings file"),
        (format!("a = {}", "[".repeat(most - 100)), "not TOML"),
        (format!("a = {}", "{a=".repeat(most / 4)), "not TOML"),
        (format!("a = [{}]", "{},".repeat(most / 4)), "unknown key 'a'"),
        (format!("{long} = 1"), "unknown key"),
        (format!("method = \"{long}\""), "there is no method"),
        (format!("preset = \"{long}\""), "unknown choice"),
        (format!("[simulation]\nstep = \"{long}\""), "a number is needed"),
        (format!("[simulation]\nstep = {}", "9".repeat(most - 100)), "too large"),
        (format!("[simulation]\nstep = 0.{}", "9".repeat(most - 100)), "out of range"),
        (format!("[simulation]\nstep = 1e{}", "9".repeat(most - 100)), "simulation.step"),
        (fill("\u{0}"), "not TOML"),
        (fill("#\r"), "not TOML"),
        ((0..60_000).map(|i| format!("k{i} = {i}\n")).collect(), "unknown key"),
        ("x".repeat(most + 1), "too many"),
    ] {
        let started = Instant::now();
        let error = refused(&text);
        assert!(error.contains(part), "{error}: no {part:?}");
        assert!(started.elapsed() < Duration::from_secs(2), "{part}: {:?}", started.elapsed());
    }
}

/// Damage never panics.
#[test]
fn damaged_files_never_panic() {
    let text = include_str!("../../../examples/settings.toml").replace("\n# ", "\n");
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit as u64) as usize
    };
    let (mut read_well, mut refused) = (0, 0);
    for _ in 0..3000 {
        let mut bytes = include_str!("../../../examples/settings.toml").as_bytes().to_vec();
        if random(2) == 0 {
            bytes = text.clone().into_bytes();
        }
        for _ in 0..1 + random(6) {
            let at = random(bytes.len());
            match random(3) {
                0 => bytes[at] = b"[]{}=.,\"'\n#-0e\xff\x00"[random(16)],
                1 if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => bytes.truncate(at + 2),
            }
        }
        match read(&bytes) {
            Ok(file) => {
                assert_eq!(file.settings.check(), Ok(()));
                read_well += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(read_well > 100 && refused > 100, "{read_well} {refused}");
}

/// Every example is a file of settings that can be used.
#[test]
fn examples_are_sound() {
    for text in
        [include_str!("../../../examples/isotropic.toml"), include_str!("../../../examples/anisotropic.toml")]
    {
        let settings = read(text.as_bytes()).expect("an example").settings;
        settings.check().expect("an example that can be used");
        assert_eq!(settings.method.as_deref(), Some("strain"));
    }
}

/// Whatever the documents show as settings can be read: fenced blocks of TOML in the README and the book.
#[test]
fn settings_in_the_documents_are_right() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    pages.extend(std::fs::read_dir(root.join("docs/book")).unwrap().map(|entry| entry.unwrap().path()));
    let mut count = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for block in text.split("```toml\n").skip(1) {
            let block = block.split("```").next().unwrap();
            if let Err(error) = read(block.as_bytes()) {
                panic!("{}: {error}\n{block}", page.display());
            }
            count += 1;
        }
    }
    assert!(count > 5, "{count}");
}
