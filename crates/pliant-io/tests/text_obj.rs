//! OBJ files: the vertices are the `v` lines, faces are cut into fans, what is wrong is named with its line.

mod text_data;

use pliant::glam::Vec3;
use pliant_io::obj::{ObjMesh, read};
use std::path::Path;
use text_data::data::{data, files_below};
use text_data::{Random, broken};

fn area(mesh: &ObjMesh) -> f64 {
    let corner = |v: u32| mesh.positions[v as usize].as_dvec3();
    let area = |&[a, b, c]: &[u32; 3]| (corner(b) - corner(a)).cross(corner(c) - corner(a)).length() / 2.0;
    mesh.triangles.iter().map(area).sum()
}

fn problem(text: &str) -> String {
    read(text.as_bytes()).expect_err(text).to_string()
}

const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

#[test]
fn a_cube_in_many_spellings_is_the_same_cube() {
    let cube = read(CUBE.as_bytes()).unwrap();
    let summary = cube.summary();
    assert_eq!((summary.vertices, summary.faces, summary.triangles), (8, 6, 12));
    assert!(summary.closed && summary.components == 1 && summary.unused_vertices == 0);
    assert!((area(&cube) - 6.0).abs() < 1e-12);

    let relative = CUBE.lines().map(|l| match l.strip_prefix("f ") {
        Some(rest) => {
            let numbers = rest.split(' ').map(|w| (w.parse::<i32>().unwrap() - 9).to_string());
            format!("f {}", numbers.collect::<Vec<_>>().join(" "))
        }
        None => l.to_string(),
    });
    let relative = relative.collect::<Vec<_>>().join("\n");
    let faces = CUBE.lines().filter(|l| l.starts_with('f'));
    let spelled = [
        CUBE.replace('\n', "\r\n"),
        CUBE.replace('\n', "\r"),
        CUBE.replace(' ', "\t  "),
        CUBE.replace("f 4 3 2 1", "# a path C:\\\nf 4 3 \\\n  2\\\r\n 1 # a comment"),
        CUBE.replace("f 5 6 7 8", "f 5/1/2 6/1 7//3 8"),
        format!("\u{feff}{}", CUBE.trim_end()),
        // Faces may stand before their vertices.
        faces.chain(CUBE.lines().filter(|l| l.starts_with('v'))).collect::<Vec<_>>().join("\n"),
        relative,
    ];
    for text in spelled {
        let same = read(text.as_bytes()).unwrap_or_else(|e| panic!("{e} in {text:?}"));
        assert_eq!(same.positions, cube.positions, "{text:?}");
        assert_eq!(same.triangles, cube.triangles, "{text:?}");
    }
}

#[test]
fn groups_come_back_by_name_and_colours_when_all_have_them() {
    let text = "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nf 1 2 3\ng  body  x\nf 1 3 2\no other\ng body x\nf 2 3 1\n";
    let mesh = read(text.as_bytes()).unwrap();
    assert_eq!(mesh.groups, ["", "body x"]);
    assert_eq!(mesh.triangle_groups, [0, 1, 1]);
    assert_eq!(mesh.colors, Some(vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]));
    let some = read(text.replacen(" 1 0 0\n", "\n", 1).as_bytes()).unwrap();
    assert_eq!(some.colors, None);
    assert_eq!(some.positions, mesh.positions);
}

#[test]
fn unusable_files_are_refused_with_the_line() {
    let with = |line: &str| format!("v 0 0 0\nv 1 0 0\nv 0 1 0\n{line}\nf 1 2 3\n");
    for (line, what) in [
        ("v 1 2", "three coordinates"),
        ("v 1 nan 2", "not a finite"),
        ("v 1 inf 2", "not a finite"),
        ("v 1 1e300 2", "too large"),
        ("v 1 x 2", "not a number"),
        ("f 0 1 2", "count from 1"),
        ("f 1 2 4", "only 3"),
        ("f 1 2 -4", "only 3 come before"),
        ("f 1 2 99999999999", "more than can be handled"),
        ("f 1 2 x", "not a corner"),
        ("f 1/2/3/4 2 3", "not a corner"),
        ("f 1 2 3.0", "not a corner"),
    ] {
        let error = problem(&with(line));
        assert!(error.starts_with("line 4: ") && error.contains(what), "{line}: {error}");
    }
    for empty in ["", "\n\n", "v 0 0 0\n", "f 1 2\nv 0 0 0\nv 0 0 1\n", "hello", "v 0 0 0\nf 1 1 1"] {
        assert!(problem(empty).contains("there are no faces"), "{empty:?}");
    }
    let many = read(format!("{}v 0 0 0\n", "f 0 0 0\n".repeat(1000)).as_bytes()).unwrap_err();
    assert_eq!(many.problems().len(), 20);
}

#[test]
fn odd_files_load_with_counted_warnings() {
    let text = format!("{CUBE}f 1 2\nf 3\nf 1 2 2 3\nvw 0 0 1\nl 1 2\np 1\nhello world\n");
    let mesh = read(text.as_bytes()).unwrap();
    let counts: Vec<usize> = mesh.warnings.iter().map(|w| w.count).collect();
    assert_eq!(counts, [2, 1, 1, 2, 1], "{:?}", mesh.warnings);
    assert_eq!(mesh.warnings[0].place, "line 15");
    assert_eq!(mesh.triangles.len(), 13);
}

/// Vertices counted by the plainest means: words that start lines.
fn v_lines(bytes: &[u8]) -> Vec<Vec3> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().filter_map(|l| l.trim_start().strip_prefix("v "));
    let coordinates = lines.map(|l| l.split_whitespace().take(3).map(|w| w.parse().unwrap()).collect());
    coordinates.map(|c: Vec<f32>| Vec3::from_slice(&c)).collect()
}

#[test]
fn every_shared_surface_reads_as_its_v_lines_and_as_another_reader_sees_it() {
    let Some(data) = data() else { return };
    let mut seen = 0;
    for path in files_below(&data.join("obj"), &["obj"]) {
        let bytes = std::fs::read(&path).unwrap();
        let mesh = read(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(mesh.positions, v_lines(&bytes), "{}", path.display());
        assert_eq!(mesh.triangle_groups.len(), mesh.triangles.len());

        // tobj splits by group and renumbers, but the corners of the triangles are in the same places.
        let options = tobj::LoadOptions { triangulate: true, ..Default::default() };
        let no_materials = |_: &Path| Err(tobj::LoadError::OpenFileFailed);
        let (models, _) = tobj::load_obj_buf(&mut bytes.as_slice(), &options, no_materials).unwrap();
        let mut theirs = Vec::new();
        for model in &models {
            let at = |&i: &u32| {
                Vec3::from_slice(&model.mesh.positions[3 * i as usize..]).to_array().map(f32::to_bits)
            };
            theirs.extend(model.mesh.indices.chunks(3).map(|t| [at(&t[0]), at(&t[1]), at(&t[2])]));
        }
        let at = |v: u32| mesh.positions[v as usize].to_array().map(f32::to_bits);
        let mut ours: Vec<_> = mesh.triangles.iter().map(|t| t.map(at)).collect();
        ours.sort_unstable();
        theirs.sort_unstable();
        assert!(ours == theirs, "{}: triangles differ", path.display());
        seen += 1;
    }
    assert!(seen >= 11, "{seen} files");
}

/// The numbers that the data's README gives, taken by other programs.
#[test]
fn summaries_agree_with_what_is_known_of_the_shared_surfaces() {
    let Some(data) = data() else { return };
    for (file, vertices, faces, triangles, boundary, components) in [
        ("libigl/arm.obj", 8311, 16618, 16618, 0, 1),
        ("libigl/elephant.obj", 6034, 12064, 12064, 0, 1),
        ("libigl/horse_quad.obj", 2400, 2398, 4796, 0, 1),
        ("libigl/camel_b.obj", 2032, 3576, 3576, 486, 1),
        ("makehuman/base.obj", 19158, 18486, 36972, 784, 154),
        ("penguin_control_mesh.obj", 201, 221, 398, 0, 1),
        ("tinyobj_skin-weight.obj", 8, 6, 12, 0, 1),
        ("tinyobj_cube-vertexcol.obj", 8, 6, 12, 0, 1),
    ] {
        let mesh = read(&std::fs::read(data.join("obj").join(file)).unwrap()).unwrap();
        let s = mesh.summary();
        assert_eq!((s.vertices, s.faces, s.triangles), (vertices, faces, triangles), "{file}");
        assert_eq!((s.boundary_edges, s.components), (boundary, components), "{file}");
        assert_eq!(s.closed, boundary == 0, "{file}");
        assert_eq!(s.colors, file.contains("vertexcol"), "{file}");
    }
}

#[test]
fn the_bad_files_are_refused_or_loaded_as_they_deserve() {
    let Some(data) = data() else { return };
    let load = |name: &str| read(&std::fs::read(data.join("bad/obj").join(name)).unwrap());
    for (name, what) in [
        ("malformed.obj", "line 23: the face refers to vertex 12"),
        ("empty.obj", "there are no faces"),
        ("invalid-face-definition.obj", "no faces of three"),
        ("invalid-relative-vertex-index.obj", "line 1: a face refers to vertex -4"),
        ("test-nan.obj", "line 12: \"nan\""),
        ("issue-140-zero-face-idx.obj", "line 16: a face refers to vertex 0"),
    ] {
        let error = load(name).expect_err(name);
        let all: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
        assert!(all.iter().any(|p| p.contains(what)), "{name}: {all:?}");
    }
    let thin = load("issue-330.obj").unwrap().summary();
    assert_eq!((thin.triangles, thin.boundary_edges, thin.unused_vertices), (3, 5, 2));
    let degenerate = load("degenerated.obj").unwrap().summary();
    assert_eq!((degenerate.triangles, degenerate.boundary_edges, degenerate.non_manifold_edges), (24, 0, 6));
}

#[test]
fn broken_copies_never_panic() {
    let mut samples = vec![CUBE.as_bytes().to_vec()];
    if let Some(data) = data() {
        let bad = files_below(&data.join("bad/obj"), &["obj"]);
        let small = files_below(&data.join("obj"), &["obj"])
            .into_iter()
            .filter(|p| p.metadata().unwrap().len() < 10_000);
        samples.extend(bad.into_iter().chain(small).map(|p| std::fs::read(p).unwrap()));
    }
    let mut random = Random(7);
    let (mut read_ok, mut refused) = (0, 0);
    for round in 0..6000 {
        let bytes = broken(&samples[round % samples.len()], &mut random);
        match read(&bytes) {
            Ok(mesh) => {
                read_ok += 1;
                let summary = mesh.summary();
                assert!(mesh.triangles.iter().flatten().all(|&v| (v as usize) < summary.vertices));
                assert!(mesh.positions.iter().all(|p| p.is_finite()));
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(read_ok > 100 && refused > 100, "{read_ok} read, {refused} refused");
}

#[test]
fn time_grows_with_the_size_only() {
    // A fan of one face with very many corners, and one line continued very often.
    let mut text = String::new();
    for i in 0..200_000 {
        text.push_str(&format!("v {i} {} 0\n", i % 7));
    }
    text.push('f');
    for i in 1..=200_000 {
        text.push_str(&format!(" \\\n{i}"));
    }
    let started = std::time::Instant::now();
    assert_eq!(read(text.as_bytes()).unwrap().triangles.len(), 199_998);
    assert!(started.elapsed().as_secs() < 5);
}
