//! Damaged files never panic or hang: bytes flipped, files cut, numbers in the JSON replaced. What they may take of
//! memory is counted in `memory.rs`.

mod common;

use common::damage::{Random, damaged, edit_number, glb, greedy, sample, seeds, split};
use common::data::data;
use pliant_io::files::NoFiles;
use pliant_io::gltf;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[test]
fn the_sample_is_sound() {
    let loaded = gltf::read(sample(), &NoFiles).unwrap();
    let c = &loaded.character;
    assert_eq!(c.surface().triangles(), [[0, 1, 2], [1, 3, 2]]);
    assert_eq!((c.morphs().len(), c.clips().len(), c.slots().len()), (1, 1, 2));
    assert_eq!(c.morphs()[0].vertices, [0, 2]);
    assert_eq!(c.morphs()[0].default_weight, 0.5);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

#[test]
fn damage_never_panics() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut read, mut refused) = (0, 0);
    for seed in seeds() {
        for round in 0..800 {
            let file = damaged(&seed, round, &mut random);
            let start = Instant::now();
            match gltf::read(file.clone(), &NoFiles) {
                Ok(loaded) => {
                    read += 1;
                    assert!(loaded.character.surface().positions().iter().all(|p| p.is_finite()));
                }
                Err(error) => {
                    refused += 1;
                    assert!(!error.problems().is_empty() && !error.to_string().is_empty());
                }
            }
            let _ = gltf::inspect(file, &NoFiles);
            assert!(start.elapsed() < Duration::from_secs(5), "too slow");
        }
    }
    // Both must happen, or the damage is of no use.
    assert!(read > 50 && refused > 50, "{read} read, {refused} refused");
}

#[test]
fn damaged_compression_never_panics() {
    let Some(data) = data() else { return };
    let folder = data.join("gltf/MeshoptCubeTest");
    let json = std::fs::read(folder.join("MeshoptCubeTest.gltf")).unwrap();
    let mut beside: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap().flatten() {
        beside.insert(entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).unwrap());
    }
    assert!(gltf::inspect(json.clone(), &beside).is_ok());
    let mut random = Random(77);
    let mut refused = 0;
    for _ in 0..300 {
        let mut damaged = beside.clone();
        for bytes in damaged.values_mut().filter(|b| b.len() > 16) {
            for _ in 0..2 {
                let at = random.below(bytes.len());
                bytes[at] = random.next() as u8;
            }
        }
        let json = if random.below(2) == 0 { edit_number(&json, &mut random) } else { json.clone() };
        refused += usize::from(gltf::inspect(json, &damaged).is_err());
    }
    assert!(refused > 20, "{refused}");
}

/// Few bytes that ask for much: refused, quickly.
#[test]
fn greedy_files_are_refused() {
    for (why, file) in greedy() {
        let start = Instant::now();
        let error = gltf::read(file, &NoFiles).expect_err(why).to_string();
        assert!(error.contains(why), "{why}: {error:.300}");
        assert!(start.elapsed() < Duration::from_secs(5), "{why}: too slow");
    }
}

/// A long name on many parts is not copied whole to each.
#[test]
fn long_names_are_cut() {
    let (json, bin) = split(&sample());
    let long = "\u{fc}".repeat(50_000);
    let primitive =
        r#"{"attributes":{"POSITION":0,"JOINTS_0":5,"WEIGHTS_0":1},"mode":5,"targets":[{"POSITION":4}]}"#;
    let json = String::from_utf8(json).unwrap();
    assert!(json.contains(primitive));
    let json = json
        .replace(primitive, &[primitive; 50].join(","))
        .replace(r#""mesh":0,"#, &format!(r#""name":"{long}","mesh":0,"#))
        .replace(r#""primitives""#, &format!(r#""extras":{{"targetNames":["{long}"]}},"primitives""#))
        .replace(r#""name":"hip""#, &format!(r#""name":"{long}""#))
        .replace(r#""channels""#, &format!(r#""name":"{long}","channels""#));
    let loaded = gltf::read(glb(json.as_bytes(), &bin), &NoFiles).unwrap();
    let c = &loaded.character;
    assert_eq!(c.parts().len(), 50);
    let names = c.parts().iter().map(|p| p.name.as_str()).chain([c.morphs()[0].name.as_str()]);
    for name in names.chain([c.skeleton().joints()[0].name.as_str(), c.clips()[0].name()]) {
        assert!((200..210).contains(&name.chars().count()), "{}", name.len());
    }
}

/// Text of the file that a message quotes is cut too.
#[test]
fn messages_stay_short() {
    let (json, bin) = split(&sample());
    let json = String::from_utf8(json).unwrap();
    let long = "x".repeat(1_000_000);
    let deep = format!(r#""extras":{}{}"#, r#"{"a":"#.repeat(100_000), long);
    for (from, to) in [
        (r#""version":"2.0""#, format!(r#""version":"{long}""#)),
        (r#""scene":0"#, format!(r#""extensionsRequired":["{long}"],"extensionsUsed":["{long}"],"scene":0"#)),
        (r#""POSITION":0"#, format!(r#""{long}":0,"POSITION":0"#)),
        (r#"[{"POSITION":4}]"#, format!(r#"[{{"{long}":4}}]"#)),
        (r#""scene":0"#, deep),
    ] {
        let file = glb(json.replace(from, &to).as_bytes(), &bin);
        let error = gltf::read(file, &NoFiles).unwrap_err().to_string();
        assert!(error.len() < 400, "{error:.500}");
    }
}

/// What could not be written again is refused when it is read.
#[test]
fn json_nested_too_deep_is_refused() {
    let (json, bin) = split(&sample());
    let json = String::from_utf8(json).unwrap();
    let nested = |levels: usize| {
        // Brackets in text do not count, nor does a quote after a backslash end it.
        let extras =
            format!(r#""extras":["{}\"[[",{}{}]"#, "[".repeat(500), "[".repeat(levels), "]".repeat(levels));
        glb(json.replace(r#""scene":0"#, &format!(r#"{extras},"scene":0"#)).as_bytes(), &bin)
    };
    let loaded = gltf::read(nested(98), &NoFiles).unwrap();
    let baked = gltf::bake(&loaded.document, &loaded.character, &NoFiles, &[], []);
    assert!(baked.is_ok(), "{:?}", baked.err());
    for levels in [99, 10_000] {
        let error = gltf::inspect(nested(levels), &NoFiles).unwrap_err().to_string();
        assert!(error.starts_with("extras") && error.contains("nested too deep"), "{error:.300}");
    }
}

/// Many skins at the end of a long chain of joints.
#[test]
fn skins_on_a_long_chain_are_checked_in_time() {
    let (json, bin) = split(&sample());
    let (links, skins) = (60_000, 20_000);
    let first = 3;
    let link = |k: usize| match k + 1 {
        next if next < links => format!(r#"{{"children":[{}]}}"#, first + next),
        _ => "{}".into(),
    };
    let chain: Vec<_> = (0..links).map(link).collect();
    let last = first + links - 1;
    let skin = format!(r#"{{"joints":[{},{last}]}}"#, last - 1);
    let json = String::from_utf8(json)
        .unwrap()
        .replace(r#""weights":[0.5]}]"#, &format!(r#""weights":[0.5]}},{}]"#, chain.join(",")))
        .replace(r#""skins":["#, &format!(r#""skins":[{},"#, vec![skin; skins].join(",")))
        .replace(r#""skin":0"#, &format!(r#""skin":{skins}"#));
    let file = glb(json.as_bytes(), &bin);
    let start = Instant::now();
    gltf::inspect(file, &NoFiles).unwrap();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}
