//! Damaged files never panic, hang or ask for much memory: bytes flipped, files cut, numbers in the JSON replaced.

mod common;

use pliant_io::files::NoFiles;
use pliant_io::gltf;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// A skinned triangle pair with a clip and a morph, complete in itself: the seed where no data is there.
fn sample() -> Vec<u8> {
    let mut bin = Vec::new();
    let mut put = |numbers: &[f32]| {
        let at = bin.len();
        numbers.iter().for_each(|n| bin.extend(n.to_le_bytes()));
        (at, bin.len() - at)
    };
    let positions = put(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
    let weights = put(&[1.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.25, 0.75, 0.0, 0.0]);
    let times = put(&[0.0, 1.0]);
    let rotations = put(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
    let morph = put(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0]);
    let joints = (bin.len(), 16);
    (0..4).for_each(|_| bin.extend([0u8, 1, 0, 0]));
    let views: Vec<String> = [positions, weights, times, rotations, morph, joints]
        .iter()
        .map(|(at, len)| format!(r#"{{"buffer":0,"byteOffset":{at},"byteLength":{len}}}"#))
        .collect();
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0,2]}}],
"nodes":[{{"name":"hip","children":[1]}},{{"translation":[0,0.5,0]}},{{"mesh":0,"skin":0,"weights":[0.5]}}],
"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,"JOINTS_0":5,"WEIGHTS_0":1}},"mode":5,"targets":[{{"POSITION":4}}]}}]}}],
"skins":[{{"joints":[0,1]}}],
"animations":[{{"channels":[{{"sampler":0,"target":{{"node":1,"path":"rotation"}}}}],"samplers":[{{"input":2,"output":3}}]}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}},
{{"bufferView":1,"componentType":5126,"count":4,"type":"VEC4"}},
{{"bufferView":2,"componentType":5126,"count":2,"type":"SCALAR","min":[0],"max":[1]}},
{{"bufferView":3,"componentType":5126,"count":2,"type":"VEC4"}},
{{"bufferView":4,"componentType":5126,"count":4,"type":"VEC3"}},
{{"bufferView":5,"componentType":5121,"count":4,"type":"VEC4"}}],
"bufferViews":[{}],"buffers":[{{"byteLength":{}}}]}}"#,
        views.join(","),
        bin.len()
    );
    glb(json.as_bytes(), &bin)
}

fn glb(json: &[u8], bin: &[u8]) -> Vec<u8> {
    let pad = |bytes: &[u8], with: u8| {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), with);
        bytes
    };
    let (json, bin) = (pad(json, b' '), pad(bin, 0));
    let mut file = b"glTF".to_vec();
    file.extend(2u32.to_le_bytes());
    file.extend((28 + json.len() as u32 + bin.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", bin)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    file
}

/// The JSON and the binary chunk of a GLB.
fn split(file: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let length = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let json_end = 20 + length(12);
    let bin = if file.len() > json_end { file[json_end + 8..].to_vec() } else { Vec::new() };
    (file[20..json_end].to_vec(), bin)
}

/// Puts another number in place of one in the JSON.
fn edit_number(json: &[u8], random: &mut Random) -> Vec<u8> {
    const NUMBERS: [&str; 16] = [
        "0",
        "1",
        "-1",
        "2",
        "3",
        "5",
        "255",
        "65535",
        "65536",
        "4294967295",
        "4294967296",
        "18446744073709551615",
        "9007199254740993",
        "1e30",
        "0.5",
        "5126",
    ];
    let starts: Vec<usize> =
        (1..json.len()).filter(|&i| json[i].is_ascii_digit() && !json[i - 1].is_ascii_digit()).collect();
    if starts.is_empty() {
        return json.to_vec();
    }
    let start = starts[random.below(starts.len())];
    let end = (start..json.len()).find(|&i| !json[i].is_ascii_digit()).unwrap_or(json.len());
    [&json[..start], NUMBERS[random.below(NUMBERS.len())].as_bytes(), &json[end..]].concat()
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![sample()];
    if let Some(data) = common::data() {
        let names = [
            "RiggedSimple.glb",
            "assimp-quad_skin-10-influences.glb",
            "VRM-pose_rotation_scale_shape_key_skinned.vrm",
        ];
        seeds.extend(names.iter().map(|n| std::fs::read(data.join("gltf").join(n)).unwrap()));
    }
    seeds
}

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
        let (json, bin) = split(&seed);
        for round in 0..800 {
            let file = match round % 4 {
                0 => {
                    let mut file = seed.clone();
                    for _ in 0..1 + random.below(8) {
                        let at = random.below(file.len());
                        file[at] ^= 1 << random.below(8);
                    }
                    file
                }
                1 => {
                    let json = &json[..random.below(json.len())];
                    if round % 8 == 1 { seed[..random.below(seed.len())].to_vec() } else { glb(json, &bin) }
                }
                2 => glb(&edit_number(&json, &mut random), &bin),
                _ => {
                    let mut bin = bin.clone();
                    for _ in 0..1 + random.below(4) {
                        let at = random.below(bin.len());
                        bin[at] = random.next() as u8;
                    }
                    glb(&edit_number(&json, &mut random), &bin)
                }
            };
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
    let Some(data) = common::data() else { return };
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
    let (json, bin) = split(&sample());
    let json = String::from_utf8(json).unwrap();
    let refuse = |json: String, what: &str| {
        let error = gltf::read(glb(json.as_bytes(), &bin), &NoFiles).expect_err(what).to_string();
        assert!(error.contains(what), "{error}");
    };
    // Zeros without a buffer view, as many as one likes.
    let zeros = r#"{"componentType":5126,"count":9000000000,"type":"VEC3"}"#;
    let morph = r#"{"bufferView":4,"componentType":5126,"count":4,"type":"VEC3"}"#;
    refuse(json.replace(morph, zeros), "elements");
    refuse(
        json.replace(
            r#""count":4,"type":"VEC3","min""#,
            r#""count":4611686018427387904,"type":"VEC3","min""#,
        ),
        "fit",
    );
    // A mesh of a million zeros, shown twenty times.
    let mut many =
        json.replace(r#"{"mesh":0,"skin":0,"weights":[0.5]}"#, &[r#"{"mesh":0,"skin":0}"#; 20].join(","));
    for view in [0, 1, 4, 5] {
        many = many
            .replace(&format!(r#""bufferView":{view},"#), "")
            .replace(r#""count":4"#, r#""count":1000000"#);
    }
    refuse(many, "too many vertices");
    // A loop, and a node with two parents.
    refuse(json.replace(r#"{"translation":[0,0.5,0]}"#, r#"{"children":[0]}"#), "ancestor");
    refuse(json.replace(r#""children":[1]"#, r#""children":[1,1]"#), "parent already");
    // Nesting without end.
    let deep = format!("{{\"asset\":{}", "[".repeat(100_000));
    assert!(gltf::read(deep.into_bytes(), &NoFiles).is_err());
}
