//! Bodies and weights as a user asks for them: `pliant tets`, `--show tets`, `--tets`, `--weights`.

mod common;

use common::{fails, files_in, json, refused, shares, text, works};
use pliant_io::files::Folder;
use pliant_io::tet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A box as OBJ, from one corner to the other.
fn cuboid(low: [f32; 3], high: [f32; 3], first: usize) -> String {
    let mut obj = String::new();
    for i in 0..8usize {
        let at = [0, 1, 2].map(|k| if i >> k & 1 == 1 { high[k] } else { low[k] });
        obj += &format!("v {} {} {}\n", at[0], at[1], at[2]);
    }
    for f in [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]] {
        let [a, b, c, d] = f.map(|v: usize| v + first);
        obj += &format!("f {a} {b} {c} {d}\n");
    }
    obj
}

/// A folder with a block of 1 x 4 x 1 and a skeleton of two bones along it.
fn block() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (obj, rig) = (folder.path().join("block.obj"), folder.path().join("rig.tgf"));
    fs::write(&obj, cuboid([0.0; 3], [1.0, 4.0, 1.0], 0)).unwrap();
    fs::write(&rig, "1 0.5 0.2 0.5\n2 0.5 2 0.5\n3 0.5 3.8 0.5\n#\n1 2 1 0 0\n2 3 1 0 0\n").unwrap();
    (folder, obj, rig)
}

fn read_back(path: &Path) -> tet::Tets {
    tet::read(text(path), &fs::read(path).unwrap(), &Folder::of(path)).unwrap()
}

#[test]
fn a_body_is_written_in_every_format_and_is_the_same_body() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut bodies = Vec::new();
    for name in ["a.mesh", "a.meshb", "a.node", "b.ele", "a.msh", "a.veg", "a.vtu"] {
        let about = works(&["tets", "sample:arm", "--target", "2000", "--json", "-o", text(&at(name))]);
        let about = json(&about);
        if name != "a.vtu" {
            let mesh = read_back(&at(name)).mesh;
            assert_eq!(about["tets"], mesh.tets().len(), "{name}");
            assert_eq!(about["nodes"], mesh.positions().len(), "{name}");
            bodies.push(mesh);
        }
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    assert!(at("a.ele").exists() && at("b.node").exists(), "either name writes both");
    let vtu = fs::read(at("a.vtu")).unwrap();
    let vtu = String::from_utf8_lossy(&vtu);
    for field in ["\"fill\"", "\"piece\"", "\"dihedral_min\"", "\"volume\""] {
        assert!(vtu.contains(field), "{field}");
    }
}

#[test]
fn what_is_said_of_a_body_is_true() {
    let folder = tempfile::tempdir().unwrap();
    let (obj, out) = (folder.path().join("leaning.obj"), folder.path().join("body.mesh"));
    // Turned twice, so that no face lies along the lattice.
    let upright = cuboid([0.0; 3], [1.0, 4.0, 1.0], 0);
    let lines = upright.lines().map(|line| {
        let Some(vertex) = line.strip_prefix("v ") else { return format!("{line}\n") };
        let at: Vec<f64> = vertex.split(' ').map(|c| c.parse().unwrap()).collect();
        let (x, y) = (0.8 * at[0] - 0.6 * at[1], 0.6 * at[0] + 0.8 * at[1]);
        format!("v {x} {} {}\n", 0.96 * y - 0.28 * at[2], 0.28 * y + 0.96 * at[2])
    });
    fs::write(&obj, lines.collect::<String>()).unwrap();
    let about = json(&works(&["tets", text(&obj), "--target", "3000", "--json", "-o", text(&out)]));
    let mesh = read_back(&out).mesh;
    let volume = about["volume"].as_f64().unwrap();
    assert!((volume / mesh.volume() - 1.0).abs() < 1e-4, "{volume}");
    assert!((about["skin_volume"].as_f64().unwrap() - 4.0).abs() < 0.02, "{about}");
    assert!((about["volume_ratio"].as_f64().unwrap() - volume / 4.0).abs() < 0.01);
    assert!((about["tets"].as_f64().unwrap() / 3000.0 - 1.0).abs() < 0.1);
    assert_eq!((&about["pieces"]["count"], &about["pieces"]["tets"][0]), (&1.into(), &about["tets"]));
    let dihedral = |key: &str| about["dihedral"][key].as_f64().unwrap();
    let angles = ["min", "p1", "p50", "p99", "max"].map(dihedral);
    assert!(angles.is_sorted() && angles[0] > 0.0 && angles[4] < 180.0, "{angles:?}");
    let flesh = &about["farthest_outside"]["flesh"];
    let (distance, cells) = (flesh["distance"].as_f64().unwrap(), flesh["cells"].as_f64().unwrap());
    assert!((distance / about["cell"].as_f64().unwrap() - cells).abs() < 1e-3, "{flesh}");
    assert!(flesh["vertex"].as_u64().unwrap() < 8);
    assert!(about["farthest_outside"]["riding"].is_null());
    assert_eq!((&about["inverted_tets"], &about["crowded_faces"]), (&0.into(), &0.into()));
    assert!((0.5..=1.0).contains(&about["fill_mean"].as_f64().unwrap()));
    assert!(about["milliseconds"].as_f64().unwrap() > 0.0);
    assert_eq!((&about["shells"]["count"], &about["shells"]["flesh"]), (&1.into(), &1.into()));
    // The same for people, without a file.
    let said = works(&["tets", text(&obj), "--cell", "0.25"]);
    for word in ["tets", "dihedral", "volume", "pieces", "farthest", "milliseconds"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn what_rides_is_named_with_the_reason() {
    let (folder, obj, _) = block();
    let cape = folder.path().join("cape.obj");
    let body = fs::read_to_string(&obj).unwrap();
    let sheet = "g cape\nv 0 1 1.2\nv 1 1 1.2\nv 1 3 1.2\nv 0 3 1.2\nf 9 10 11 12\n";
    let bead = cuboid([0.5, 4.2, 0.5], [0.51, 4.21, 0.51], 12);
    fs::write(&cape, format!("g trunk\n{body}{sheet}g bead\n{bead}")).unwrap();
    let about = json(&works(&["tets", text(&cape), "--target", "2000", "--json"]));
    assert_eq!((&about["shells"]["count"], &about["shells"]["flesh"]), (&3.into(), &1.into()));
    let riding = about["shells"]["riding"].as_array().unwrap();
    let row = |part: &str| riding.iter().find(|r| r["part"] == part).unwrap_or_else(|| panic!("{about}"));
    assert_eq!((&row("cape")["why"], &row("cape")["vertices"]), (&"open".into(), &4.into()));
    assert_eq!((&row("bead")["why"], &row("bead")["vertices"]), (&"small".into(), &8.into()));
    let farthest = &about["farthest_outside"]["riding"];
    assert!(farthest["part"] == "cape" || farthest["part"] == "bead", "{farthest}");
    assert!(farthest["distance"].as_f64().unwrap() > 0.1, "{farthest}");
}

#[test]
fn threads_do_not_change_a_body() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = |threads: &str| {
        let out = folder.path().join(format!("{threads}.meshb"));
        works(&["tets", "sample:hand", "--target", "3000", "--threads", threads, "-o", text(&out)]);
        fs::read(out).unwrap()
    };
    let one = bytes("1");
    assert!(bytes("2") == one && bytes("7") == one);
}

#[test]
fn what_has_no_body_is_refused_in_one_line_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, content: &str| {
        fs::write(at(name), content).unwrap();
        text(&at(name)).to_owned()
    };
    let whole = cuboid([0.0; 3], [1.0; 3], 0);
    let bad = [
        write("empty.obj", ""),
        write("one.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
        write("flat.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nf 4 3 2 1\n"),
        write("nan.obj", &whole.replacen("1", "nan", 1)),
        write(
            "motion.bvh",
            "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\n}\nMOTION\nFrames: 0\nFrame Time: 1\n",
        ),
        write("character.fbx", "x"),
        at("absent.obj").to_str().unwrap().to_owned(),
        "sample:nobody".to_owned(),
    ];
    let good = write("good.obj", &whole);
    let before = files_in(folder.path());
    let out = at("out.mesh");
    for file in &bad {
        let said = refused(&["tets", file, "-o", text(&out)]);
        let name = Path::new(file).file_name().unwrap().to_str().unwrap();
        assert!(said.contains(name.trim_start_matches("sample:")), "{said}");
        refused(&["picture", file, "--show", "tets", "-o", text(&at("p.png"))]);
    }
    let said = refused(&["tets", &good, "-o", text(&at("no/such/folder.mesh"))]);
    assert!(said.contains("no/such/folder.mesh"), "{said}");
    for wrong in
        [["--target", "0"], ["--target", "10"], ["--cell", "-1"], ["--cell", "nan"], ["--cell", "1e-9"]]
    {
        let said = fails(&["tets", &good, wrong[0], wrong[1], "-o", text(&out)], 2);
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    }
    fails(&["tets", &good, "-o", text(&at("out.stl"))], 2);
    fails(&["tets", &good, "--target", "many"], 2);
    fails(&["tets", &good, "--target", "500", "--cell", "1"], 2);
    assert_eq!(files_in(folder.path()), before);
}

#[cfg(unix)]
#[test]
fn a_body_is_not_written_over_its_skin() {
    let (folder, obj, _) = block();
    let link = folder.path().join("link.mesh");
    std::os::unix::fs::symlink(&obj, &link).unwrap();
    let before = fs::read(&obj).unwrap();
    let said = refused(&["tets", text(&obj), "--target", "500", "-o", text(&link)]);
    assert!(said.contains("input"), "{said}");
    assert_eq!(fs::read(&obj).unwrap(), before);
    assert_eq!(files_in(folder.path()), ["block.obj", "link.mesh", "rig.tgf"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_mesher_leaves_nothing_behind() {
    let (folder, obj, _) = block();
    let out = folder.path().join("out.mesh");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(["tets", text(&obj), "--target", "9000000", "-o", text(&out)])
        .spawn()
        .unwrap();
    // Long enough for the mesher to begin, by far too short for it to end.
    std::thread::sleep(std::time::Duration::from_millis(700));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(files_in(folder.path()), ["block.obj", "rig.tgf"]);
}

/// A picture's pixels, RGB.
fn pixels(path: &Path) -> Vec<u8> {
    let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

#[test]
fn a_cut_lays_the_inside_open() {
    let (folder, obj, _) = block();
    let (out, body) = (folder.path().join("p.png"), folder.path().join("body.mesh"));
    let red = |extra: &[&str]| {
        let mut args = vec!["picture", text(&obj), "--show", "tets", "--size", "200x200", "-o", text(&out)];
        args.extend(extra);
        works(&args);
        // The inside is far redder than the skin and the studio.
        pixels(&out).chunks(3).filter(|p| p[0] > 60 && u32::from(p[0]) > 3 * u32::from(p[1]) / 2).count()
    };
    assert_eq!(red(&["--target", "500", "--cut", "none"]), 0);
    for view in ["front", "side", "back", "quarter"] {
        assert!(red(&["--target", "500", "--view", view]) > 500, "{view}: one looks into the body");
    }
    // Seen from the front, a cut across x is seen edge on at most.
    assert!(red(&["--target", "500", "--view", "side", "--cut", "x=0.3"]) > 500);
    assert!(red(&["--target", "500", "--view", "side", "--cut", "x=1"]) == 0, "nothing is left");
    works(&["tets", text(&obj), "--target", "500", "-o", text(&body)]);
    assert!(red(&["--tets", text(&body)]) > 500);
    assert_eq!(red(&["--tets", text(&body)]), red(&["--target", "500"]), "it is the same body");
    let wrong: [&[&str]; 4] = [
        &["--show", "tets", "--cut", "w"],
        &["--show", "tets", "--cut", "x=2"],
        &["--show", "tets", "--tets", "a.mesh", "--target", "500"],
        &["--cut", "x"],
    ];
    for wrong in wrong {
        let mut args = vec!["picture", text(&obj), "-o", "never.png"];
        args.extend(wrong);
        fails(&args, 2);
    }
}

/// Legs of 1 x 10 x 1 a tenth apart below a trunk, in squares, and a bone in each.
fn legs(folder: &Path) -> (PathBuf, PathBuf) {
    const ACROSS: [f32; 4] = [0.0, 1.0, 1.1, 2.1];
    let is_solid =
        |x: i32, y: i32, z: i32| (0..3).contains(&x) && (0..12).contains(&y) && z == 0 && (x != 1 || y >= 10);
    let number = |[x, y, z]: [i32; 3]| 1 + x + 4 * (y + 13 * z);
    let mut obj = String::new();
    for (z, y, x) in (0..2).flat_map(|z| (0..13).flat_map(move |y| (0..4).map(move |x| (z, y, x)))) {
        obj += &format!("v {} {y} {z}\n", ACROSS[x]);
    }
    for (x, y) in (0..12).flat_map(|y| (0..3).map(move |x| (x, y))).filter(|&(x, y)| is_solid(x, y, 0)) {
        for axis in 0..3 {
            for side in 0..2 {
                let mut beyond = [x, y, 0];
                beyond[axis] += 2 * side - 1;
                if is_solid(beyond[0], beyond[1], beyond[2]) {
                    continue;
                }
                // A square across the axis, turned outwards.
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let corner = |i: i32, j: i32| {
                    let mut at = [x, y, 0];
                    (at[axis], at[u], at[v]) = (at[axis] + side, at[u] + i, at[v] + j);
                    number(at)
                };
                let mut square = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                if side == 0 {
                    square.reverse();
                }
                obj += &format!("f {} {} {} {}\n", square[0], square[1], square[2], square[3]);
            }
        }
    }
    let (mesh, rig) = (folder.join("legs.obj"), folder.join("legs.tgf"));
    fs::write(&mesh, obj).unwrap();
    let joints = "1 1.05 11.5 0.5\n2 0.5 10.5 0.5\n3 0.5 0.2 0.5\n4 1.6 10.5 0.5\n5 1.6 0.2 0.5\n";
    fs::write(&rig, format!("{joints}#\n1 2 1 0 0\n2 3 1 0 0\n1 4 1 0 0\n4 5 1 0 0\n")).unwrap();
    (mesh, rig)
}

#[test]
fn legs_that_nearly_touch_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let (obj, rig) = legs(folder.path());
    let positions = pliant_io::obj::read(&fs::read(&obj).unwrap()).unwrap().positions;
    // The most that the left leg's bone moves the right leg, and the least that it moves its own, below the knee.
    let bleed = |weights: &[&str]| {
        let shares = shares(&obj, &rig, 4, &[1], weights);
        let low = || positions.iter().zip(&shares).filter(|(p, _)| p.y < 6.0);
        let other = low().filter(|(p, _)| p.x > 1.05).map(|(_, s)| *s).fold(0.0, f32::max);
        let own = low().filter(|(p, _)| p.x < 1.05).map(|(_, s)| *s).fold(1.0, f32::min);
        (other, own)
    };
    let (distance, _) = bleed(&["--weights", "distance"]);
    assert!(distance > 0.2, "in straight lines they mix, which is what this is about: {distance}");
    for weights in [&[][..], &["--weights", "geodesic"], &["--weights", "segment"]] {
        let (other, own) = bleed(weights);
        assert!(other < 0.02 && own > 0.95, "{weights:?}: {other} of the other leg, {own} of its own");
    }
    // A body of one's own serves as well; a coarse one that glues nothing.
    let body = folder.path().join("body.msh");
    works(&["tets", text(&obj), "--target", "3000", "-o", text(&body)]);
    let (other, own) = bleed(&["--tets", text(&body)]);
    assert!(other < 0.02 && own > 0.95, "by --tets: {other}, {own}");
    refused(&[
        "bake",
        text(&obj),
        "--skeleton",
        text(&rig),
        "--tets",
        text(&folder.path().join("no.mesh")),
        "-o",
        "n.glb",
    ]);
}

#[test]
fn inspect_says_which_weights_will_be_used() {
    let (folder, obj, rig) = block();
    let of = |args: &[&str]| {
        let mut all = vec!["inspect", "--json"];
        all.extend(args);
        json(&works(&all))["weights"].as_str().unwrap().to_owned()
    };
    let obj_args = [text(&obj), "--skeleton", text(&rig)];
    assert_eq!(of(&obj_args), "geodesic");
    for kind in ["segment", "geodesic", "distance"] {
        assert_eq!(of(&[&obj_args[..], &["--weights", kind]].concat()), kind);
    }
    let glb = folder.path().join("c.glb");
    works(&["sample", "cylinder", "--vertices", "600", "-o", text(&glb)]);
    assert_eq!(of(&[text(&glb)]), "file");
    assert_eq!(of(&[text(&glb), "--weights", "file"]), "file");
    assert_eq!(of(&[text(&glb), "--weights", "segment"]), "segment");
    assert_eq!(of(&["sample:cylinder", "--weights", "geodesic"]), "geodesic");
    let mut args = vec!["bake", "-o", "never.glb", "--weights", "file"];
    args.extend(obj_args);
    let said = refused(&args);
    assert!(said.contains("no weights"), "{said}");
    args.extend(["--weights-file", "w.dmat", "--weights", "segment"]);
    fails(&args, 2);
}

#[test]
fn a_gltf_without_weights_gets_them() {
    let folder = tempfile::tempdir().unwrap();
    let (glb, out) = (folder.path().join("c.glb"), folder.path().join("out.npz"));
    works(&["sample", "cylinder", "--vertices", "800", "-o", text(&glb)]);
    let bake = |extra: &[&str]| {
        let mut args = vec!["bake", text(&glb), "--clip", "bend", "--json", "-q", "-o", text(&out)];
        args.extend(extra);
        json(&works(&args))
    };
    let geodesic = bake(&["--weights", "geodesic"]);
    // Attributes that are nobody's business, of names as long as the ones that they replace.
    let mut bytes = fs::read(&glb).unwrap();
    for (name, other) in [(&b"JOINTS_0"[..], &b"_OINTS_0"[..]), (b"WEIGHTS_0", b"_EIGHTS_0")] {
        while let Some(at) = bytes.windows(name.len()).position(|w| w == name) {
            bytes[at..at + name.len()].copy_from_slice(other);
        }
    }
    fs::write(&glb, bytes).unwrap();
    let made = bake(&[]);
    assert_eq!((&made["weights"], &made["state_hash"]), (&"geodesic".into(), &geodesic["state_hash"]));
    assert!(
        refused(&["bake", text(&glb), "-q", "--weights", "file", "-o", text(&out)]).contains("no weights")
    );
}

#[test]
fn a_file_can_be_given_other_weights_and_bakes_right() {
    let folder = tempfile::tempdir().unwrap();
    let (glb, out) = (folder.path().join("c.glb"), folder.path().join("out.glb"));
    works(&["sample", "cylinder", "--vertices", "1500", "-o", text(&glb)]);
    let bake = |extra: &[&str]| {
        let mut args = vec!["bake", text(&glb), "--clip", "bend", "--json", "-q", "-o", text(&out)];
        args.extend(extra);
        json(&works(&args))
    };
    let own = bake(&[]);
    assert_eq!(bake(&["--weights", "file"])["state_hash"], own["state_hash"]);
    let mut hashes = vec![own["state_hash"].clone()];
    for kind in ["segment", "geodesic", "distance"] {
        let rest = bake(&["--weights", kind, "--end", "0"]);
        assert!(
            rest["volume_error_percent"]["max"].as_f64().unwrap() < 1e-3,
            "{kind}: the clip begins at rest"
        );
        let bent = bake(&["--weights", kind]);
        // It bends as far as with the file's weights: joints keep moving what is theirs.
        let energy = |r: &serde_json::Value| r["kinetic_energy_max"].as_f64().unwrap();
        assert!((energy(&bent) / energy(&own) - 1.0).abs() < 0.25, "{kind}");
        assert!(!hashes.contains(&bent["state_hash"]), "{kind}");
        hashes.push(bent["state_hash"].clone());
        // What is written plays as what was measured: the same character, morph for morph.
        let about = json(&works(&["inspect", text(&out), "--json"]));
        assert_eq!(about["morph_targets"], bent["frames"], "{kind}");
    }
}

#[test]
fn what_is_odd_about_bones_and_bodies_is_said_by_name() {
    let (folder, obj, rig) = block();
    let at = |name: &str| folder.path().join(name);
    let said = |obj: &Path, rig: &Path| {
        let about = json(&works(&["inspect", text(obj), "--skeleton", text(rig), "--json"]));
        (about["warnings"].to_string(), about["weights"].as_str().unwrap().to_owned())
    };
    assert_eq!(said(&obj, &rig).0, "[]");
    // A third bone beside the block.
    let outside = "1 0.5 0.2 0.5\n2 0.5 2 0.5\n3 3 2 0.5\n4 4 2 0.5\n#\n1 2 1 0 0\n3 4 1 0 0\n";
    fs::write(at("outside.tgf"), outside).unwrap();
    let (warnings, _) = said(&obj, &at("outside.tgf"));
    assert!(warnings.contains("outside the skin"), "{warnings}");
    // A block that floats, with no bone in it.
    let island = cuboid([3.0, 1.0, 0.0], [4.0, 2.0, 1.0], 8);
    fs::write(at("two.obj"), fs::read_to_string(&obj).unwrap() + &island).unwrap();
    let (warnings, _) = said(&at("two.obj"), &rig);
    assert!(warnings.contains("no bone lies in") && warnings.contains("8 vertices"), "{warnings}");
    let shares = shares(&at("two.obj"), &rig, 2, &[0], &[]);
    assert!(shares[8..].iter().all(|s| (*s - shares[8]).abs() < 1e-6), "it moves as one: {shares:?}");
    assert!(shares[8] == 0.0 || shares[8] == 1.0, "with one bone: {shares:?}");
    // No volume: straight lines, and it is said.
    fs::write(at("sheet.obj"), "v 0 0 0\nv 1 0 0\nv 1 4 0\nv 0 4 0\nf 1 2 3 4\n").unwrap();
    let (warnings, weights) = said(&at("sheet.obj"), &rig);
    assert!(warnings.contains("no volume") && warnings.contains("straight lines"), "{warnings}");
    assert_eq!(weights, "geodesic, in straight lines");
    // A body of something else.
    works(&["tets", text(&obj), "--target", "500", "-o", text(&at("body.mesh"))]);
    fs::write(at("far.obj"), cuboid([50.0; 3], [60.0; 3], 0)).unwrap();
    let (far, body) = (at("far.obj"), at("body.mesh"));
    let args = ["inspect", text(&far), "--skeleton", text(&rig), "--tets", text(&body), "--json"];
    let about = json(&works(&args));
    assert!(about["warnings"].to_string().contains("far outside these tets"), "{about}");
}
