//! Valid glTF that uses, all at once, what simple readers get wrong; another file for every seed.

use super::build::{Builder, Store};
use super::matrix::{Matrix, Quat, Vec3, unit};
use serde_json::{Value, json};

/// Splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    pub(crate) fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn vector(&mut self, size: f64) -> Vec3 {
        std::array::from_fn(|_| self.range(-size, size))
    }

    fn rotation(&mut self) -> Quat {
        unit(std::array::from_fn(|_| self.range(-1.0, 1.0)))
    }

    /// A rotation of at most about `size` radians.
    fn turn(&mut self, size: f64) -> Quat {
        let [x, y, z] = self.vector(size / 2.0);
        unit([x, y, z, 1.0])
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// A node before it gets its place in the file.
struct Bone {
    parent: Option<usize>,
    json: Value,
    local: Matrix,
    has_matrix: bool,
}

const JOINTS: usize = 14;

/// A character with everything; `seed % 4 == 3` leaves out inverse bind matrices of the second skin.
pub(crate) fn hostile(seed: u64) -> Vec<u8> {
    make(seed, false)
}

/// One whose topmost joint is scaled to nothing until its clip opens it: no pose but a moving one has a size.
pub(crate) fn folded(seed: u64) -> Vec<u8> {
    make(seed, true)
}

fn make(seed: u64, folded: bool) -> Vec<u8> {
    let random = &mut Random(seed);
    let mut file = Builder::new();
    file.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    file.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let (bones, place) = skeleton(random);
    let globals = globals(&bones);

    // Bones 0 and 1 are plain nodes above; bone 5 is a plain node in the middle that moves but binds nothing.
    let mut first: Vec<usize> = (2..bones.len()).filter(|&b| b != 5).collect();
    // Shares the lower joints with the first skin but has them bound elsewhere, and its own order.
    let mut second: Vec<usize> = (2..JOINTS / 2 + 2).filter(|&b| b != 5).collect();
    random.shuffle(&mut first);
    random.shuffle(&mut second);
    let skins = [
        skin(random, &mut file, &first, &place, &globals, true),
        skin(random, &mut file, &second, &place, &globals, seed % 4 != 3),
    ];

    let body = json!({
        "name": "body",
        "primitives": [
            primitive(random, &mut file, first.len(), Store::UnitU8, 2),
            primitive(random, &mut file, first.len(), Store::F32, 2),
        ],
        "weights": [0.25, -0.5],
    });
    let body = file.push("meshes", body);
    let coat = json!({ "primitives": [primitive(random, &mut file, second.len(), Store::UnitU16, 0)] });
    let coat = file.push("meshes", coat);
    let sword = json!({ "primitives": [rigid(random, &mut file)] });
    let sword = file.push("meshes", sword);

    // Nodes: bones by `place`, then what is drawn, below a joint so that its ignored transform would show.
    let mut nodes = vec![Value::Null; bones.len()];
    for (bone, &at) in bones.iter().zip(&place) {
        nodes[at] = bone.json.clone();
    }
    // A joint that is also where a skinned mesh hangs: it moves the skin as a joint only.
    nodes[place[6]]["mesh"] = json!(coat);
    nodes[place[6]]["skin"] = json!(skins[1]);
    if folded {
        nodes[place[2]]["scale"] = json!([0.0, 0.0, 0.0]);
    }
    let drawn = [
        json!({ "mesh": body, "skin": skins[0], "translation": [7.0, -3.0, 2.0], "scale": [2.0, 1.0, 0.5] }),
        json!({ "mesh": coat, "skin": skins[1], "rotation": [0.0, 0.6, 0.0, 0.8] }),
        // The first skin has more joints than the coat names, so it may wear it as well.
        json!({ "mesh": coat, "skin": skins[0] }),
        json!({ "mesh": body, "skin": skins[0], "weights": [0.0, 1.0] }),
        json!({ "mesh": sword, "translation": [0.1, 0.2, 0.3] }),
        json!({ "name": "lone", "translation": [1.0, 2.0, 3.0] }),
    ];
    let start = nodes.len();
    nodes.extend(drawn);
    let hold = |nodes: &mut [Value], parent: usize, child: usize| match nodes[parent].get_mut("children") {
        Some(Value::Array(children)) => children.push(json!(child)),
        _ => nodes[parent]["children"] = json!([child]),
    };
    for (b, bone) in bones.iter().enumerate() {
        if let Some(parent) = bone.parent {
            hold(&mut nodes, place[parent], place[b]);
        }
    }
    hold(&mut nodes, place[4], start);
    hold(&mut nodes, place[0], start + 1);
    hold(&mut nodes, place[7], start + 4);
    file.json["scenes"] = json!([{ "nodes": [place[0], start + 2, start + 3, start + 5] }]);
    file.json["scene"] = json!(0);
    file.json["nodes"] = Value::Array(nodes);

    animations(random, &mut file, &bones, &place, start, folded);
    file.glb()
}

/// Two plain nodes, then joints, in a random tree; where each stands in the file (children may come first).
fn skeleton(random: &mut Random) -> (Vec<Bone>, Vec<usize>) {
    let armature = [100.0, 0.01, 1.0, 3.0][random.below(4)];
    let mut bones: Vec<Bone> = Vec::new();
    for b in 0..JOINTS + 2 {
        let parent = match b {
            0 => None,
            1 | 2 => Some(b - 1),
            _ => Some(2 + random.below(b - 2)),
        };
        let size = if b < 2 { 0.1 } else { 0.6 / armature };
        let t = random.vector(size);
        let r = if b == 1 { random.rotation() } else { random.turn(1.0) };
        let s = match b {
            0 => [armature; 3],
            // Not on 2: its inverse would carry the shear of all below into every bind matrix.
            _ if b > 2 && random.below(3) == 0 => std::array::from_fn(|_| random.range(0.6, 1.6)),
            _ => [1.0; 3],
        };
        let has_matrix = b == 1 || b > 8 && random.below(4) == 0;
        // Mirrored, which a reader that takes matrices apart into rotation and scale easily loses.
        let s = if has_matrix && b > 1 { [-s[0], s[1], s[2]] } else { s };
        let local = Matrix::from_trs(t, r, s);
        let json = if has_matrix {
            json!({ "name": format!("bone {b}"), "matrix": local.0.as_flattened() })
        } else {
            json!({ "name": format!("bone {b}"), "translation": t, "rotation": r, "scale": s })
        };
        bones.push(Bone { parent, json, local, has_matrix });
    }
    let mut place: Vec<usize> = (0..bones.len()).collect();
    random.shuffle(&mut place);
    (bones, place)
}

fn globals(bones: &[Bone]) -> Vec<Matrix> {
    let mut out: Vec<Matrix> = Vec::new();
    for bone in bones {
        out.push(bone.parent.map_or(bone.local, |p| out[p].times(&bone.local)));
    }
    out
}

/// Bound a little off the default pose, so that default and bind pose differ.
fn skin(
    random: &mut Random,
    file: &mut Builder,
    joints: &[usize],
    place: &[usize],
    globals: &[Matrix],
    with_matrices: bool,
) -> usize {
    let nodes: Vec<usize> = joints.iter().map(|&j| place[j]).collect();
    let mut skin = json!({ "joints": nodes });
    if with_matrices {
        let bind = Matrix::from_trs(random.vector(0.3), random.turn(0.5), [1.0; 3]);
        let rows: Vec<[f64; 16]> = joints
            .iter()
            .map(|&j| {
                let jitter = Matrix::from_trs(random.vector(0.05), random.turn(0.2), [1.0; 3]);
                let inverse = globals[j].inverse().expect("joints have volume").times(&bind).times(&jitter);
                // One joint draws all that is bound to it to a point.
                let flat = if j == 9 && random.below(2) == 0 { 0.0 } else { 1.0 };
                std::array::from_fn(|k| inverse.0[k / 4][k % 4] * if k < 12 { flat } else { 1.0 })
            })
            .collect();
        skin["inverseBindMatrices"] = json!(file.accessor(Store::F32, &rows));
    }
    file.push("skins", skin)
}

/// Three sets of joints, twelve influences at most, weights stored as told and summing to one in that store.
fn primitive(
    random: &mut Random,
    file: &mut Builder,
    joints: usize,
    weights: Store,
    targets: usize,
) -> Value {
    let count = 3 * (5 + random.below(6));
    let positions: Vec<Vec3> = (0..count).map(|_| random.vector(1.0)).collect();
    let normals: Vec<Vec3> = (0..count).map(|_| direction(random)).collect();
    let (position, normal) = match weights {
        Store::UnitU16 => {
            (file.attribute(Store::UnitI16, &positions, 0), file.attribute(Store::UnitI8, &normals, 0))
        }
        _ => file.interleaved(&positions, &normals),
    };
    let mut attributes = json!({ "POSITION": position, "NORMAL": normal });

    let steps = match weights {
        Store::UnitU8 => 255,
        _ => 65535,
    };
    let mut sets = vec![(Vec::new(), Vec::new()); 3];
    for _ in 0..count {
        let mut order: Vec<usize> = (0..joints).collect();
        random.shuffle(&mut order);
        let influences = 1 + random.below(joints.min(12));
        // Cut `steps` at random places, so that integers sum to one exactly.
        let mut cuts: Vec<usize> = (1..influences).map(|_| random.below(steps + 1)).collect();
        cuts.extend([0, steps]);
        cuts.sort_unstable();
        let mut entries: Vec<(f64, f64)> = (0..influences)
            .map(|k| (order[k] as f64, (cuts[k + 1] - cuts[k]) as f64 / steps as f64))
            .collect();
        // The standard wants joint 0 where there is no weight.
        entries.iter_mut().filter(|e| e.1 == 0.0).for_each(|e| e.0 = 0.0);
        entries.resize(12, (0.0, 0.0));
        random.shuffle(&mut entries);
        for (set, four) in sets.iter_mut().zip(entries.chunks_exact(4)) {
            set.0.push(std::array::from_fn::<f64, 4, _>(|k| four[k].0));
            set.1.push(std::array::from_fn::<f64, 4, _>(|k| four[k].1));
        }
    }
    for (k, (joints, values)) in sets.iter().enumerate() {
        let store = if k == 1 { Store::U16 } else { Store::U8 };
        attributes[format!("JOINTS_{k}")] = json!(file.attribute(store, joints, 4 * k));
        attributes[format!("WEIGHTS_{k}")] = json!(file.attribute(weights, values, 0));
    }
    let mut primitive = json!({ "attributes": attributes });
    if random.below(2) == 0 {
        let corners: Vec<[f64; 1]> = (0..count).rev().map(|i| [i as f64]).collect();
        primitive["indices"] = json!(file.accessor(Store::U16, &corners));
    }
    // Triangles, a strip or a fan.
    primitive["mode"] = json!(4 + random.below(3));
    for target in 0..targets {
        let shift = if target == 0 {
            let rows: Vec<Vec3> = (0..count).map(|_| random.vector(0.3)).collect();
            let turns: Vec<Vec3> = (0..count).map(|_| random.vector(0.2)).collect();
            json!({ "POSITION": file.attribute(Store::F32, &rows, 0), "NORMAL": file.attribute(Store::F32, &turns, 0) })
        } else {
            json!({ "POSITION": file.sparse(count, &[(1, random.vector(0.5)), (4, random.vector(0.5))]) })
        };
        match primitive.get_mut("targets") {
            Some(Value::Array(targets)) => targets.push(shift),
            _ => primitive["targets"] = json!([shift]),
        }
    }
    primitive
}

fn direction(random: &mut Random) -> Vec3 {
    let [x, y, z, _] = unit([random.range(-1.0, 1.0), random.range(-1.0, 1.0), random.range(0.1, 1.0), 0.0]);
    [x, y, z]
}

fn rigid(random: &mut Random, file: &mut Builder) -> Value {
    let positions: Vec<Vec3> = (0..6).map(|_| random.vector(1.0)).collect();
    json!({ "attributes": { "POSITION": file.attribute(Store::F32, &positions, 0) } })
}

/// One clip with every interpolation on every property, one of morphs only, one that moves only a node apart.
fn animations(
    random: &mut Random,
    file: &mut Builder,
    bones: &[Bone],
    place: &[usize],
    drawn: usize,
    folded: bool,
) {
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    let mut add = |file: &mut Builder, node: usize, path: &str, mode: &str, times: &[f64], output: usize| {
        let rows: Vec<[f64; 1]> = times.iter().map(|&t| [t]).collect();
        let input = file.accessor(Store::F32, &rows);
        samplers.push(json!({ "input": input, "output": output, "interpolation": mode }));
        channels.push(json!({ "sampler": samplers.len() - 1, "target": { "node": node, "path": path } }));
    };
    for (b, bone) in bones.iter().enumerate().filter(|b| !b.1.has_matrix) {
        let number = |key: &str, k: usize| bone.json[key][k].as_f64().unwrap_or(0.0);
        let rest: Vec3 = std::array::from_fn(|k| number("translation", k));
        let scale: Vec3 = std::array::from_fn(|k| number("scale", k));
        let times = times(random);
        let keys = times.len();
        let node = place[b];
        match random.below(4) {
            0 => {
                // In-tangent, value, out-tangent; the first and last tangents are unused.
                let rows: Vec<Quat> = (0..3 * keys)
                    .map(|k| if k % 3 == 1 { random.rotation() } else { random.rotation().map(|x| x * 0.8) })
                    .collect();
                let output = file.accessor(Store::F32, &rows);
                add(file, node, "rotation", "CUBICSPLINE", &times, output);
            }
            1 => {
                let rows: Vec<Quat> = (0..keys).map(|_| random.rotation()).collect();
                let output = file.accessor(Store::UnitI16, &rows);
                add(file, node, "rotation", "LINEAR", &times, output);
            }
            2 => {
                // Close keys with opposite signs: the shorter arc is the one that does not pass through zero.
                let rows: Vec<Quat> =
                    (0..keys).map(|k| random.turn(0.6).map(|x| if k % 2 == 0 { x } else { -x })).collect();
                let output = file.accessor(Store::F32, &rows);
                add(file, node, "rotation", "LINEAR", &times, output);
            }
            _ => {
                let rows: Vec<Quat> = (0..keys).map(|_| random.rotation()).collect();
                let output = file.accessor(Store::F32, &rows);
                add(file, node, "rotation", "STEP", &times, output);
            }
        }
        if random.below(2) == 0 {
            let cubic = random.below(2) == 0;
            let size = rest.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            let mut near = |k: usize| -> Vec3 {
                let base = if !cubic || k % 3 == 1 { rest } else { [0.0; 3] };
                std::array::from_fn(|c| base[c] + random.range(-0.5, 0.5) * size)
            };
            let rows: Vec<Vec3> = (0..keys * if cubic { 3 } else { 1 }).map(&mut near).collect();
            let output = file.accessor(Store::F32, &rows);
            add(file, node, "translation", if cubic { "CUBICSPLINE" } else { "LINEAR" }, &times, output);
        }
        if b > 2 && random.below(2) == 0 {
            let mode = ["LINEAR", "STEP"][random.below(2)];
            // A hidden limb: scaled to nothing for a while.
            let hide = random.below(4) == 0;
            let rows: Vec<Vec3> = (0..keys)
                .map(|k| scale.map(|s| if hide && k == 1 { 0.0 } else { s * random.range(0.7, 1.4) }))
                .collect();
            let output = file.accessor(Store::F32, &rows);
            add(file, node, "scale", mode, &times, output);
        }
    }
    if folded {
        let output = file.accessor(Store::F32, &[[0.0; 3], [1.0; 3]]);
        add(file, place[2], "scale", "LINEAR", &[0.0, 0.5], output);
    }
    let morph_times = times(random);
    let rows: Vec<[f64; 1]> = (0..morph_times.len() * 2 * 3).map(|_| [random.range(-1.0, 1.0)]).collect();
    let output = file.accessor(Store::F32, &rows);
    add(file, drawn, "weights", "CUBICSPLINE", &morph_times, output);
    // Motion of the ignored transform of a skinned node.
    let output = file.accessor(Store::F32, &[[0.0; 3], [5.0, 6.0, 7.0]]);
    add(file, drawn + 3, "translation", "LINEAR", &[0.0, 0.5], output);
    file.push("animations", json!({ "name": "all", "samplers": samplers, "channels": channels }));

    let rows: Vec<[f64; 1]> = (0..morph_times.len() * 2).map(|_| [random.range(0.0, 1.0)]).collect();
    let output = file.accessor(Store::UnitU8, &rows);
    let clock: Vec<[f64; 1]> = morph_times.iter().map(|&t| [t]).collect();
    let input = file.accessor(Store::F32, &clock);
    let channel = json!({ "sampler": 0, "target": { "node": drawn + 3, "path": "weights" } });
    let sampler = json!({ "input": input, "output": output });
    file.push("animations", json!({ "name": "face", "samplers": [sampler], "channels": [channel] }));

    let output = file.accessor(Store::F32, &[[1.0, 2.0, 3.0], [0.0; 3]]);
    let input = file.accessor(Store::F32, &[[0.0], [0.75]]);
    let channel = json!({ "sampler": 0, "target": { "node": drawn + 5, "path": "translation" } });
    let sampler = json!({ "input": input, "output": output });
    file.push("animations", json!({ "name": "apart", "samplers": [sampler], "channels": [channel] }));
}

/// Increasing, at least two, often from later than 0.
fn times(random: &mut Random) -> Vec<f64> {
    let mut time = if random.below(2) == 0 { 0.0 } else { random.range(0.0, 0.4) };
    (0..2 + random.below(4))
        .map(|_| {
            let now = time;
            time += random.range(0.05, 0.6);
            now
        })
        .collect()
}
