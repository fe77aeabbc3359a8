//! The judge on trial: cases small enough to be worked out by hand, and real files that must agree with each other.

mod judge;

use judge::build::{Builder, Store};
use judge::data::{data, gltf_files};
use judge::file::{self, File, list};
use judge::matrix::{Matrix, Vec3, distance, slerp};
use judge::{Judge, diagonal};
use serde_json::json;
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::path::Path;

fn near(a: Vec3, b: Vec3) {
    assert!(distance(a, b) < 1e-6, "{a:?} is not {b:?}");
}

/// A turn about z.
fn about_z(radians: f64) -> [f64; 4] {
    let (sin, cos) = (libm::sin(radians / 2.0), libm::cos(radians / 2.0));
    [0.0, 0.0, sin, cos]
}

fn parse(file: Builder) -> Judge {
    Judge::parse(&file.glb(), Path::new(".")).expect("a valid file")
}

/// Two triangles bound to two joints, the second at (0, 1, 0); the upper triangle's last vertex to both, another to none.
fn two_triangles() -> Builder {
    let mut file = Builder::new();
    let positions = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 2.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 3.0, 0.0],
    ];
    let position = file.attribute(Store::F32, &positions, 8);
    let normal = file.attribute(Store::F32, &[[1.0, 0.0, 0.0]; 6], 0);
    let joints =
        [[0.0; 4], [0.0; 4], [0.0; 4], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 9.0, 0.0]];
    let one = [1.0, 0.0, 0.0, 0.0];
    // Vertex 4: half and half, but summing to 0.5. Vertex 5: nothing, and a joint that is not there at weight 0.
    let weights = [one, one, one, one, [0.25, 0.25, 0.0, 0.0], [0.0; 4]];
    let joints = file.attribute(Store::U8, &joints, 0);
    let weights = file.attribute(Store::F32, &weights, 0);
    let attributes =
        json!({ "POSITION": position, "NORMAL": normal, "JOINTS_0": joints, "WEIGHTS_0": weights });
    file.push("meshes", json!({ "primitives": [{ "attributes": attributes }] }));
    let mut matrices = [[0.0; 16]; 2];
    for (matrix, y) in matrices.iter_mut().zip([0.0, -1.0]) {
        (0..4).for_each(|k| matrix[k * 5] = 1.0);
        matrix[13] = y;
    }
    let matrices = file.accessor(Store::F32, &matrices);
    file.push("skins", json!({ "joints": [1, 2], "inverseBindMatrices": matrices }));
    file.json["nodes"] = json!([
        // Its transform must not count.
        { "mesh": 0, "skin": 0, "translation": [50.0, 0.0, 0.0], "scale": [3.0, 3.0, 3.0] },
        { "children": [2] },
        { "translation": [0.0, 1.0, 0.0] },
    ]);
    file.json["scenes"] = json!([{ "nodes": [0, 1] }]);
    file
}

fn animate(file: &mut Builder, node: usize, path: &str, mode: &str, times: &[[f64; 1]], output: usize) {
    let input = file.accessor(Store::F32, times);
    let sampler = json!({ "input": input, "output": output, "interpolation": mode });
    let channel = json!({ "sampler": 0, "target": { "node": node, "path": path } });
    file.push("animations", json!({ "name": mode, "samplers": [sampler], "channels": [channel] }));
}

#[test]
fn a_quarter_turn_of_the_upper_joint() {
    let mut file = two_triangles();
    let output = file.accessor(Store::F32, &[about_z(0.0), about_z(PI)]);
    animate(&mut file, 2, "rotation", "LINEAR", &[[1.0], [3.0]], output);
    let judge = parse(file);
    assert_eq!(judge.animations(), [("LINEAR", 3.0)]);
    let bind = &judge.skinned(None, 0.0)[0];
    near(bind.positions[3], [0.0, 2.0, 0.0]);
    near(bind.positions[4], [1.0, 1.0, 0.0]);
    // Before the first key it holds; halfway it is a quarter turn.
    assert_eq!(judge.skinned(Some(0), 0.5)[0].positions[3], bind.positions[3]);
    let turned = &judge.skinned(Some(0), 2.0)[0];
    near(turned.positions[2], [0.0, 1.0, 0.0]);
    near(turned.positions[3], [-1.0, 1.0, 0.0]);
    // Half at (1, 1), half at (0, 2): weights were made to sum to one.
    near(turned.positions[4], [0.5, 1.5, 0.0]);
    let normals = turned.normals.as_ref().expect("normals");
    near(normals[0], [1.0, 0.0, 0.0]);
    near(normals[3], [0.0, 1.0, 0.0]);
    near(normals[4], [FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0.0]);
    assert_eq!(turned.zero_weight, [false, false, false, false, false, true]);
    near(judge.skinned(Some(0), 9.0)[0].positions[3], [0.0, 0.0, 0.0]);
}

#[test]
fn glb_and_data_uri_are_the_same() {
    let glb = parse(two_triangles());
    let gltf = Judge::parse(&two_triangles().gltf(), Path::new(".")).expect("a valid file");
    assert_eq!(glb.skinned(None, 0.0), gltf.skinned(None, 0.0));
}

#[test]
fn no_bind_matrices_are_identity_and_rest_follows_the_top_joint() {
    let mut file = two_triangles();
    file.json["skins"][0] = json!({ "joints": [2, 1] });
    file.json["nodes"][1]["scale"] = json!([2.0, 2.0, 2.0]);
    let judge = parse(file);
    let skinned = &judge.skinned(None, 0.0)[0];
    // Index 0 is node 2 now: doubled, and up by 2.
    near(skinned.positions[1], [2.0, 2.0, 0.0]);
    near(skinned.positions[3], [0.0, 4.0, 0.0]);
    // G is node 1's, though it is listed last.
    near(judge.rest()[0].positions[1], [2.0, 0.0, 0.0]);
}

#[test]
fn a_matrix_node_with_shear_and_normals_by_the_inverse_transpose() {
    let mut file = two_triangles();
    // x' = x + y, y' = y, z' = -z, and up by 5.
    file.json["nodes"][1]["matrix"] =
        json!([1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 5.0, 0.0, 1.0]);
    let judge = parse(file);
    let skinned = &judge.skinned(None, 0.0)[0];
    near(skinned.positions[3], [2.0, 7.0, 0.0]);
    // The plane x = 0 becomes x = y: its normal is (1, -1, 0), and a mirror in z does not turn it round.
    near(skinned.normals.as_ref().expect("normals")[3], [FRAC_1_SQRT_2, -FRAC_1_SQRT_2, 0.0]);
}

#[test]
fn morphs_come_before_the_skin() {
    let mut file = two_triangles();
    let shift = file.sparse(6, &[(3, [1.0, 0.0, 0.0])]);
    let lift = file.attribute(Store::F32, &[[0.0, 0.0, 1.0]; 6], 0);
    file.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": shift }, { "POSITION": lift }]);
    file.json["meshes"][0]["weights"] = json!([1.0, 0.0]);
    file.json["nodes"][2]["rotation"] = json!(about_z(PI / 2.0));
    // (1, 2, 0) turned about (0, 1, 0).
    near(parse(file).skinned(None, 0.0)[0].positions[3], [-1.0, 2.0, 0.0]);
}

#[test]
fn weights_of_the_node_win_over_the_mesh_and_of_the_clip_over_both() {
    let mut file = two_triangles();
    let lift = file.attribute(Store::F32, &[[0.0, 0.0, 1.0]; 6], 0);
    file.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": lift }]);
    file.json["meshes"][0]["weights"] = json!([1.0]);
    file.json["nodes"][0]["weights"] = json!([0.5]);
    file.push("nodes", json!({ "mesh": 0, "skin": 0 }));
    let output = file.accessor(Store::UnitU8, &[[0.0], [1.0]]);
    animate(&mut file, 0, "weights", "LINEAR", &[[0.0], [1.0]], output);
    let judge = parse(file);
    let height = |animation, time: f64| {
        judge.skinned(animation, time).iter().map(|p| p.positions[3][2]).collect::<Vec<_>>()
    };
    assert_eq!(height(None, 0.0), [0.5, 1.0]);
    assert_eq!(height(Some(0), 0.25), [0.25, 1.0]);
}

#[test]
fn step_and_cubic_by_hand() {
    let mut file = two_triangles();
    let output = file.accessor(Store::F32, &[[0.0, 1.0, 0.0], [4.0, 1.0, 0.0]]);
    animate(&mut file, 2, "translation", "STEP", &[[0.0], [1.0]], output);
    // From 0 to 4 in 2 s, leaving at 3 a second, arriving at 0: at the middle 4/2 + 2 (3 - 0) / 8 = 2.75.
    let y = |x: f64, y: f64| [x, y, 0.0];
    let rows = [y(9.0, 9.0), y(0.0, 1.0), y(3.0, 0.0), y(0.0, 0.0), y(4.0, 1.0), y(9.0, 9.0)];
    let output = file.accessor(Store::F32, &rows);
    animate(&mut file, 2, "translation", "CUBICSPLINE", &[[1.0], [3.0]], output);
    // A spline of rotations is made unit: the middle of a quarter turn without tangents.
    let none = [0.0; 4];
    let rows = [none, about_z(0.0), none, none, about_z(PI / 2.0), none];
    let output = file.accessor(Store::F32, &rows);
    animate(&mut file, 2, "rotation", "CUBICSPLINE", &[[0.0], [1.0]], output);
    let judge = parse(file);
    let top = |animation, time| judge.skinned(Some(animation), time)[0].positions[3];
    near(top(0, 0.999), [0.0, 2.0, 0.0]);
    near(top(0, 1.0), [4.0, 2.0, 0.0]);
    near(top(1, 0.0), [0.0, 2.0, 0.0]);
    near(top(1, 2.0), [2.75, 2.0, 0.0]);
    near(top(1, 3.5), [4.0, 2.0, 0.0]);
    near(top(2, 0.5), [-FRAC_1_SQRT_2, 1.0 + FRAC_1_SQRT_2, 0.0]);
}

#[test]
fn slerp_takes_the_shorter_arc_at_an_even_pace() {
    let (from, to) = (about_z(0.2), about_z(1.7));
    for k in 0..=10 {
        let t = f64::from(k) / 10.0;
        let expected = about_z(0.2 + 1.5 * t);
        for q in [slerp(from, to, t), slerp(from, to.map(|x| -x), t)] {
            let same: f64 = (0..4).map(|k| q[k] * expected[k]).sum();
            assert!((same.abs() - 1.0).abs() < 1e-14);
        }
    }
    let tiny = slerp(about_z(0.0), about_z(1e-9), 0.5);
    assert!((tiny[2] - 2.5e-10).abs() < 1e-18);
    assert_eq!(slerp(from, from, 0.3), slerp(from, from, 0.9));
}

#[test]
fn inverse_undoes() {
    let m = Matrix::from_trs([1.0, 2.0, 3.0], [0.1, 0.2, 0.3, 0.9], [100.0, 0.5, 2.0]);
    near(m.inverse().expect("it has volume").times(&m).point([4.0, 5.0, 6.0]), [4.0, 5.0, 6.0]);
    assert_eq!(Matrix::ZERO.inverse(), None);
}

#[test]
fn rigid_meshes_go_with_their_node() {
    let mut file = two_triangles();
    let position = file.attribute(Store::I16, &[[1.0, 2.0, 3.0], [0.0; 3], [1.0, 0.0, 0.0]], 0);
    file.push("meshes", json!({ "primitives": [{ "attributes": { "POSITION": position } }] }));
    file.push("nodes", json!({ "mesh": 1, "scale": [2.0, 2.0, 2.0] }));
    file.json["nodes"][2]["children"] = json!([3]);
    let judge = parse(file);
    let rigid = judge.unskinned(None, 0.0);
    assert_eq!((rigid.len(), rigid[0].node), (1, 3));
    near(rigid[0].positions[0], [2.0, 5.0, 6.0]);
    assert_eq!(judge.triangles(&rigid[0]), [[0, 1, 2]]);
}

#[test]
fn what_is_broken_is_refused() {
    let broken = |spoil: fn(&mut Builder)| {
        let mut file = two_triangles();
        spoil(&mut file);
        assert!(Judge::parse(&file.glb(), Path::new(".")).is_err());
    };
    broken(|f| f.json["nodes"][2]["children"] = json!([1]));
    broken(|f| f.json["nodes"][0]["children"] = json!([2]));
    broken(|f| f.json["nodes"][0]["skin"] = json!(3));
    broken(|f| f.json["skins"][0]["joints"] = json!([1, 8]));
    broken(|f| f.json["skins"][0]["joints"] = json!([1]));
    broken(|f| f.json["accessors"][0]["count"] = json!(7));
    broken(|f| f.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]));
}

#[test]
fn simple_skin_and_its_embedded_twin() {
    let Some(data) = data() else { return };
    let open = |name: &str| Judge::open(&data.join("gltf").join(name)).expect("it is valid");
    let (apart, embedded) = (open("SimpleSkin/SimpleSkin.gltf"), open("SimpleSkin-embedded.gltf"));
    for frame in 0..=165 {
        let time = f64::from(frame) / 30.0;
        assert_eq!(apart.skinned(Some(0), time), embedded.skinned(Some(0), time));
    }
    // The tutorial's strip: bends to a quarter turn at 1 s; the top row starts at y = 2, bound to joint 1 at y = 1.
    let top = apart.skinned(Some(0), 1.0)[0].positions[8];
    near(apart.skinned(Some(0), 0.0)[0].positions[8], [-0.5, 2.0, 0.0]);
    near(top, [-1.0, 0.5, 0.0]);
}

/// Khronos's truth for samplers: keys half a second apart; what they hold was read from the file by eye.
#[test]
fn interpolation_test_between_its_keys() {
    let Some(data) = data() else { return };
    let judge = Judge::open(&data.join("gltf/InterpolationTest.glb")).expect("it is valid");
    let animations = judge.animations();
    let at = |name: &str, time: f64| {
        let a = animations.iter().position(|(n, _)| *n == name).expect("the clip is there");
        let node = judge.json["animations"][a]["channels"][0]["target"]["node"].as_u64().expect("a node");
        judge.globals(Some(a), time)[node as usize].0
    };
    let close =
        |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
    // Down from 1 to 0, then up again. A smooth step is 0.15625 at a quarter.
    for (name, early, late) in
        [("Step Scale", 1.0, 0.0), ("Linear Scale", 0.75, 0.25), ("CubicSpline Scale", 0.84375, 0.15625)]
    {
        close(at(name, 0.125)[0][0], early);
        close(at(name, 0.625)[1][1], late);
    }
    // Up from 6.8 to 10.8.
    for (name, y) in [
        ("Step Translation", 6.8),
        ("Linear Translation", 7.8),
        ("CubicSpline Translation", 6.8 + 4.0 * 0.15625),
    ] {
        close(at(name, 0.125)[3][1], y);
        close(at(name, 0.5)[3][1], 10.8);
    }
    // Every key 45 degrees on, backwards. The spline's tangents are (0, 0, 0, 1): at the middle they cancel, before
    // it they do not.
    let (z, w) = (-libm::sin(PI / 8.0), libm::cos(PI / 8.0));
    let spline = 2.0 * libm::atan2(0.15625 * z, 0.84375 + 0.15625 * w + 0.5 * (0.140625 - 0.046875));
    for (name, early, middle) in [
        ("Step Rotation", 0.0, 0.0),
        ("Linear Rotation", -PI / 16.0, -PI / 8.0),
        ("CubicSpline Rotation", spline, -PI / 8.0),
    ] {
        for (time, angle) in [(0.125, early), (0.25, middle), (2.0, -PI)] {
            let [x, y, ..] = at(name, time)[0];
            close(x, libm::cos(angle));
            close(y, libm::sin(angle));
        }
    }
}

/// Exporters wrote down the extremes of their accessors: a foreign check of everything that decodes them.
#[test]
fn accessors_reach_the_bounds_their_exporters_wrote() {
    let Some(data) = data() else { return };
    let mut checked = 0;
    for path in gltf_files(&data.join("gltf")) {
        let bytes = std::fs::read(&path).expect("it is there");
        let Ok(file) = File::parse(&bytes, path.parent().expect("a folder")) else { continue };
        for (a, json) in list(&file.json, "accessors").iter().enumerate() {
            let bounds = |key| json.get(key).and_then(file::numbers);
            let (Some(low), Some(high)) = (bounds("min"), bounds("max")) else { continue };
            if json.get("normalized").is_some_and(|n| n == true) {
                continue;
            }
            let found = file.accessor(a).expect("it is valid");
            for k in 0..found.width {
                let column = || found.values.iter().skip(k).step_by(found.width).copied();
                let (least, most) = (column().fold(f64::MAX, f64::min), column().fold(f64::MIN, f64::max));
                // Written with as few as six digits.
                let close = |a: f64, b: f64| (a - b).abs() <= 2e-6 * a.abs().max(b.abs()).max(1e-3);
                assert!(close(least, low[k]) && close(most, high[k]), "{} accessor {a}", path.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 3000, "{checked} bounds");
}

/// Every file opens unless it is compressed, and its skin at default pose is of the size of its rest.
#[test]
fn real_files_open() {
    let Some(data) = data() else { return };
    let mut opened = 0;
    for path in gltf_files(&data.join("gltf")) {
        let judge = judge::open(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let Some(judge) = judge else { continue };
        opened += 1;
        let (rest, posed) = (diagonal(&judge.rest()), diagonal(&judge.skinned(None, 0.0)));
        assert!(posed.is_finite() && posed <= 4.0 * rest && rest <= 4.0 * posed, "{}", path.display());
    }
    assert!(opened > 30, "{opened} files opened");
}
