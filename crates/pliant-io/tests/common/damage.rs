//! Files damaged on purpose, the same in every run, and files that ask for too much.

use super::data::data;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// A skinned triangle pair with a clip and a morph, complete in itself: the seed where no data is there.
pub(crate) fn sample() -> Vec<u8> {
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

pub(crate) fn glb(json: &[u8], bin: &[u8]) -> Vec<u8> {
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
pub(crate) fn split(file: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let length = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let json_end = 20 + length(12);
    let bin = if file.len() > json_end { file[json_end + 8..].to_vec() } else { Vec::new() };
    (file[20..json_end].to_vec(), bin)
}

/// Puts another number in place of one in the JSON.
pub(crate) fn edit_number(json: &[u8], random: &mut Random) -> Vec<u8> {
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

/// The sample with an extension of the whole file.
pub(crate) fn extended(name: &str, extension: &str) -> Vec<u8> {
    let (text, bin) = split(&sample());
    let text = String::from_utf8(text).unwrap();
    let text = text.replacen('{', &format!(r#"{{"extensions":{{"{name}":{extension}}},"#), 1);
    glb(text.as_bytes(), &bin)
}

/// Whole files, to be damaged.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![sample()];
    if let Some(data) = data() {
        let names = [
            "RiggedSimple.glb",
            "assimp-quad_skin-10-influences.glb",
            "VRM-pose_rotation_scale_shape_key_skinned.vrm",
        ];
        seeds.extend(names.iter().map(|n| std::fs::read(data.join("gltf").join(n)).unwrap()));
    }
    seeds
}

/// A damaged copy: by turns bits flipped, the file or its JSON cut, numbers of the JSON replaced, and bytes with them.
pub(crate) fn damaged(seed: &[u8], round: usize, random: &mut Random) -> Vec<u8> {
    let (json, mut bin) = split(seed);
    match round % 8 {
        0 | 4 => {
            let mut file = seed.to_vec();
            for _ in 0..1 + random.below(8) {
                let at = random.below(file.len());
                file[at] ^= 1 << random.below(8);
            }
            file
        }
        1 => seed[..random.below(seed.len())].to_vec(),
        5 => glb(&json[..random.below(json.len())], &bin),
        2 | 6 => glb(&edit_number(&json, random), &bin),
        _ => {
            for _ in 0..1 + random.below(4) {
                let at = random.below(bin.len());
                bin[at] = random.next() as u8;
            }
            glb(&edit_number(&json, random), &bin)
        }
    }
}

/// Few bytes that ask for much, each with a word of what it must be refused for.
pub(crate) fn greedy() -> Vec<(&'static str, Vec<u8>)> {
    let (json, bin) = split(&sample());
    let json = String::from_utf8(json).unwrap();
    // Zeros without a buffer view, as many as one likes.
    let absent = r#"{"componentType":5126,"count":9000000000,"type":"VEC3"}"#;
    let morph = r#"{"bufferView":4,"componentType":5126,"count":4,"type":"VEC3"}"#;
    let count = r#""count":4,"type":"VEC3","min""#;
    let endless = r#""count":4611686018427387904,"type":"VEC3","min""#;
    let files = [
        ("elements", json.replace(morph, absent)),
        ("fit", json.replace(count, endless)),
        // A loop, and a node with two parents.
        ("ancestor", json.replace(r#"{"translation":[0,0.5,0]}"#, r#"{"children":[0]}"#)),
        ("parent already", json.replace(r#""children":[1]"#, r#""children":[1,1]"#)),
    ];
    let mut files: Vec<_> = files.into_iter().map(|(why, json)| (why, glb(json.as_bytes(), &bin))).collect();
    files.push(("too many vertices", zeros(1_000_000, 20)));
    // Nesting without end, where nothing is expected of it.
    files.push(("EOF while parsing", format!("{{\"extras\":{}", "[".repeat(100_000)).into_bytes()));
    files
}

/// The sample with a mesh of `count` vertices that are all zeros, without a buffer view, shown `times` times.
pub(crate) fn zeros(count: usize, times: usize) -> Vec<u8> {
    let (json, bin) = split(&sample());
    let mut json = String::from_utf8(json).unwrap();
    for view in [0, 1, 4, 5] {
        json = json.replace(&format!(r#""bufferView":{view},"#), "");
    }
    let shown = vec![r#"{"mesh":0,"skin":0}"#; times].join(",");
    let json = json
        .replace(r#""count":4"#, &format!(r#""count":{count}"#))
        .replace(r#"{"mesh":0,"skin":0,"weights":[0.5]}"#, &shown);
    glb(json.as_bytes(), &bin)
}
