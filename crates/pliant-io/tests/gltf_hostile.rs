//! Damaged files never panic or hang: bytes flipped, files cut, numbers in the JSON replaced. What they may take of
//! memory is counted in `memory.rs`.

mod common;

use common::damage::{Random, damaged, edit_number, greedy, sample, seeds};
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
