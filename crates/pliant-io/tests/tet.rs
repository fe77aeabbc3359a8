//! Tet mesh files: every format gives the same mesh however it is spelled, what is written comes back bit for bit,
//! and what is wrong is named with its place.

mod text_data;

use pliant::asset::TetMesh;
use pliant::body::topology::surface;
use pliant::glam::Vec3;
use pliant_io::Files;
use pliant_io::files::{Folder, NoFiles, commit};
use pliant_io::tet::{Field, Fields, Format, Gmsh, Tets, Vtu, create, encode, read, read_tetgen};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use text_data::data::{data, files_below};
use text_data::{Random, broken};

/// Every format that is read.
const FORMATS: [Format; 8] = [
    Format::Medit,
    Format::MeditBinary,
    Format::TetGen,
    Format::Gmsh(Gmsh::Text22),
    Format::Gmsh(Gmsh::Binary22),
    Format::Gmsh(Gmsh::Text41),
    Format::Gmsh(Gmsh::Binary41),
    Format::Vega,
];

/// Two tets that share a face.
fn pair() -> TetMesh {
    let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.5, -1e-7]];
    TetMesh::new(positions.map(Vec3::from).to_vec(), vec![[0, 1, 2, 3], [1, 4, 2, 3]]).unwrap()
}

fn bits(mesh: &TetMesh) -> Vec<[u32; 3]> {
    mesh.positions().iter().map(|p| p.to_array().map(f32::to_bits)).collect()
}

fn same(a: &TetMesh, b: &TetMesh) -> bool {
    bits(a) == bits(b) && a.tets() == b.tets()
}

/// The files of a mesh by name, the first of which is to be read.
fn written(format: Format, mesh: &TetMesh) -> (String, BTreeMap<String, Vec<u8>>) {
    let files = encode(format, mesh, &Fields::default()).unwrap();
    let named: Vec<_> = files.into_iter().map(|(ending, bytes)| (format!("m.{ending}"), bytes)).collect();
    (named[0].0.clone(), named.into_iter().collect())
}

fn again(format: Format, mesh: &TetMesh) -> Tets {
    let (name, files) = written(format, mesh);
    read(&name, &files[&name], &files).unwrap_or_else(|e| panic!("{format:?}: {e}"))
}

fn text(name: &str, text: &str) -> Result<Tets, String> {
    read(name, text.as_bytes(), &NoFiles).map_err(|e| e.to_string())
}

const MEDIT: &str = "MeshVersionFormatted 1\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n1 1.5 -1e-7 7\n\
    Triangles\n1\n1 2 3 0\nTetrahedra\n2\n1 2 3 4 0\n2 5 3 4 9\nEdges\n0\nEnd\n";
const NODE: &str = "5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 1 1.5 -1e-7\n";
const ELE: &str = "2 4 0\n0 0 1 2 3\n1 1 4 2 3\n";
const MSH2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1.5 -1e-7\n\
    $EndNodes\n$Elements\n4\n1 2 2 0 1 1 2 3\n2 4 2 0 1 1 2 3 4\n3 4 0 2 5 3 4\n4 15 1 7 1\n$EndElements\n";
const MSH4: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 5 1 5\n3 1 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n\
    3 1 0 2\n4\n5\n0 0 1\n1 1.5 -1e-7\n$EndNodes\n$Elements\n2 3 1 3\n2 1 2 1\n1 1 2 3\n3 1 4 2\n2 1 2 3 4\n3 2 5 3 4\n\
    $EndElements\n";
const VEG: &str = "# Vega\n*VERTICES\n5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1.5 -1e-7\n\n*ELEMENTS\nTET\n2 4 0\n\
    1 1 2 3 4\n2 2 5 3 4\n\n*MATERIAL BODY\nENU, 1, 2, 0.4\n*REGION\nallElements, BODY\n";

fn samples() -> [(&'static str, &'static str); 4] {
    [("a.mesh", MEDIT), ("a.msh", MSH2), ("b.msh", MSH4), ("a.veg", VEG)]
}

fn tetgen(node: &str, ele: &str) -> Result<Tets, String> {
    read_tetgen(node.as_bytes(), ele.as_bytes()).map_err(|e| e.to_string())
}

#[test]
fn a_mesh_in_many_spellings_is_the_same_mesh() {
    let mesh = pair();
    let respell = |text: &str| {
        [
            text.to_string(),
            text.replace('\n', "\r\n"),
            text.replace('\n', "\r"),
            text.replace(' ', " \t "),
            text.replace('\n', "  \n\n\n"),
            text.trim_end().to_string(),
            format!("\u{feff}{text}"),
            text.replace("-1e-7", "-1.0D-07"),
            text.replace("-1e-7", "-1.E-7"),
            text.replace("1 2 3 4", "1 3 2 4"),
        ]
    };
    for (name, sample) in samples() {
        for spelled in respell(sample) {
            let same_mesh = text(name, &spelled).unwrap_or_else(|e| panic!("{e} in {spelled:?}"));
            // The other winding is turned by a swap of the middle two.
            assert!(same(&same_mesh.mesh, &mesh), "{spelled:?}");
            assert!(same_mesh.warnings.is_empty(), "{:?} in {spelled:?}", same_mesh.warnings);
        }
    }
    for spelled in respell(NODE).iter().zip(respell(ELE)) {
        let read = tetgen(spelled.0, &spelled.1).unwrap_or_else(|e| panic!("{e} in {spelled:?}"));
        assert!(same(&read.mesh, &mesh), "{spelled:?}");
    }
    // What one format alone allows.
    for (name, spelled) in [
        (
            "a.mesh",
            MEDIT
                .replace("Dimension 3", "Dimension\n3 # space")
                .replace("1 2 3 4 0", "# a comment 1 2\n1 2 3 4 0"),
        ),
        (
            "a.mesh",
            MEDIT
                .replace("End\n", "")
                .replace("MeshVersionFormatted 1", "# by hand\nMeshVersionFormatted\n2"),
        ),
        (
            "a.mesh",
            format!(
                "MeshVersionFormatted 2\nTetrahedra\n2\n1 2 3 4 0\n2 5 3 4 0\nDimension 3\nVertices{}",
                &MEDIT.split("Vertices").nth(1).unwrap().split("Triangles").next().unwrap()
            ),
        ),
        ("a.msh", MSH2.replace("$Nodes", "$Comments\n$Nodes and more\n$EndComments\n$Nodes")),
        ("a.msh", MSH2.replace("\n5 1 1.5", "\n900000000000 1 1.5").replace("2 5 3 4", "2 900000000000 3 4")),
        ("a.msh", MSH4.replace("\n5\n", "\n-7\n").replace("2 5 3 4", "2 -7 3 4")),
        ("a.msh", format!("{MSH4}$Surface\n1\n1 2 3\n$EndSurface\n$NodeData\n1\n\"x\"\n$EndNodeData")),
        (
            "a.msh",
            MSH4.replace(
                "3 1 0 2\n4\n5\n0 0 1\n1 1.5 -1e-7",
                "2 1 1 2\n4\n5\n0 0 1 0.5 0.5\n1 1.5 -1e-7 0.1 0.2",
            ),
        ),
        ("a.veg", VEG.replace("TET", "tets").replace("1 1 2 3 4", "1, 1, 2, 3, 4")),
        ("a.VEG", VEG.replace("*VERTICES", "*vertices # all")),
    ] {
        let read = text(name, &spelled).unwrap_or_else(|e| panic!("{e} in {spelled:?}"));
        assert!(same(&read.mesh, &mesh), "{spelled:?}");
    }
    let one_based = NODE.lines().skip(1).map(|l| {
        let (number, rest) = l.split_once(' ').unwrap();
        format!("{} {rest} 0.5 -3 # attribute and marker\n", number.parse::<i32>().unwrap() + 1)
    });
    let node = format!("# by hand\n\n5 3 1 1\n{}# the end", one_based.collect::<String>());
    let ele = "2 10 1\n1 1 2 3 4 9 9 9 9 9 9 1.5\n2 2 5 3 4 9 9 9 9 9 9 2.5\n";
    let read = tetgen(&node, ele).unwrap();
    assert!(same(&read.mesh, &mesh));
    assert!(read.warnings.len() == 1 && read.warnings[0].count == 2, "{:?}", read.warnings);
    assert_eq!(read.warnings[0].place, ".ele file, line 2");
}

#[test]
fn second_order_tets_are_used_by_their_corners() {
    // The six middle nodes, far away so that they would show.
    let middles: Vec<String> = (6..12).map(|n| format!("{n} 50 {n} 50\n")).collect();
    let msh = MSH2
        .replace("$Nodes\n5\n", "$Nodes\n11\n")
        .replace("$EndNodes", &format!("{}$EndNodes", middles.concat()))
        .replace("2 4 2 0 1 1 2 3 4", "2 11 2 0 1 1 2 3 4 6 7 8 9 10 11");
    let mesh = text("a.msh", &msh).unwrap();
    assert!(same(&mesh.mesh, &pair()));
    assert_eq!(mesh.warnings.iter().map(|w| w.count).collect::<Vec<_>>(), [1]);
    let p2 = MEDIT.replace(
        "Tetrahedra\n2\n1 2 3 4 0\n2 5 3 4 9",
        "TetrahedraP2\n1\n1 2 3 4 5 5 5 5 5 5 0\nTetrahedra\n1\n2 5 3 4 9",
    );
    assert!(same(&text("a.mesh", &p2).unwrap().mesh, &pair()));
}

/// The bytes of numbers, the highest first or last.
struct Bytes {
    big: bool,
    bytes: Vec<u8>,
}

impl Bytes {
    fn put<const N: usize>(&mut self, mut little: [u8; N]) -> &mut Self {
        if self.big {
            little.reverse();
        }
        self.bytes.extend(little);
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.bytes.extend(text.as_bytes());
        self
    }

    fn ints(&mut self, values: &[i32]) -> &mut Self {
        for v in values {
            self.put(v.to_le_bytes());
        }
        self
    }

    /// Counts and node numbers of `.msh` 4.1, of four or eight bytes.
    fn sizes(&mut self, long: bool, values: &[i32]) -> &mut Self {
        for &v in values {
            if long {
                self.put(i64::from(v).to_le_bytes())
            } else {
                self.put(v.to_le_bytes())
            };
        }
        self
    }

    fn points(&mut self, mesh: &TetMesh, range: std::ops::Range<usize>) -> &mut Self {
        for p in &mesh.positions()[range] {
            for c in p.to_array() {
                self.put(f64::from(c).to_le_bytes());
            }
        }
        self
    }
}

#[test]
fn binary_gmsh_comes_in_either_byte_order_and_both_sizes() {
    let mesh = pair();
    for big in [false, true] {
        for long in [false, true] {
            let mut b = Bytes { big, bytes: Vec::new() };
            b.text(&format!("$MeshFormat\n4.1 1 {}\n", if long { 8 } else { 4 })).ints(&[1]);
            b.text("\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"$Nodes\"\n$EndPhysicalNames\n$Nodes\n");
            // Numbers with gaps, out of order, in two blocks, the second of which has parameters.
            b.sizes(long, &[2, 5, 3, 90]).ints(&[3, 1, 0]).sizes(long, &[3, 30, 90, 31]).points(&mesh, 0..3);
            b.ints(&[1, 1, 1]).sizes(long, &[2, 3, 4]).points(&mesh, 3..4);
            b.put(0.5f64.to_le_bytes()).points(&mesh, 4..5).put(0.75f64.to_le_bytes());
            b.text("\n$EndNodes\n$Elements\n").sizes(long, &[3, 4, 1, 4]);
            b.ints(&[2, 1, 2]).sizes(long, &[1, 1, 30, 90, 31]);
            b.ints(&[3, 1, 4]).sizes(long, &[2, 2, 30, 90, 31, 3, 3, 90, 4, 31, 3]);
            b.ints(&[3, 2, 5]).sizes(long, &[1, 4, 3, 3, 3, 3, 4, 4, 4, 4]);
            b.text("\n$EndElements\n");
            let read = read("a.msh", &b.bytes, &NoFiles).unwrap_or_else(|e| panic!("{big} {long}: {e}"));
            assert!(same(&read.mesh, &mesh), "{big} {long}");
            assert!(read.warnings.len() == 1 && read.warnings[0].what.contains("no tetrahedron"));
        }
        let mut b = Bytes { big, bytes: Vec::new() };
        b.text("$MeshFormat\n2.2 1 8\n").ints(&[1]).text("\n$EndMeshFormat\n$Nodes\n5\n");
        for (n, number) in [8, 3, 5, 1, 9].into_iter().enumerate() {
            b.ints(&[number]).points(&mesh, n..n + 1);
        }
        b.text("\n$EndNodes\n$Elements\n3\n").ints(&[2, 1, 1, 1, 7, 8, 3, 5]);
        b.ints(&[4, 1, 0, 2, 8, 3, 5, 1]).ints(&[4, 1, 2, 3, 0, 0, 3, 9, 5, 1]).text("\n$EndElements\n");
        let read = read("a.msh", &b.bytes, &NoFiles).unwrap_or_else(|e| panic!("{big}: {e}"));
        assert!(same(&read.mesh, &mesh), "{big}");
    }
}

#[test]
fn binary_medit_comes_in_four_versions_and_either_byte_order() {
    let mesh = pair();
    for big in [false, true] {
        for version in 1..=4 {
            let mut b = Bytes { big, bytes: Vec::new() };
            let places = if version >= 3 { 8 } else { 4 };
            let ints = if version == 4 { 8 } else { 4 };
            b.ints(&[1, version]);
            let head = |b: &mut Bytes, code: i32, bytes: usize| {
                b.ints(&[code]);
                let next = (b.bytes.len() + places + bytes) as i32;
                b.sizes(version >= 3, &[next]);
            };
            let long = version == 4;
            head(&mut b, 3, 4);
            b.ints(&[3]);
            // A list that is not known is passed over.
            head(&mut b, 77, 5);
            b.text("12345");
            // Tets before the vertices.
            head(&mut b, 8, ints * 11);
            b.sizes(long, &[2, 1, 2, 3, 4, 0, 2, 5, 3, 4, 0]);
            head(&mut b, 4, ints + 5 * (ints + 3 * if version == 1 { 4 } else { 8 }));
            b.sizes(long, &[5]);
            for (n, p) in mesh.positions().iter().enumerate() {
                if version == 1 {
                    for c in p.to_array() {
                        b.put(c.to_le_bytes());
                    }
                } else {
                    b.points(&mesh, n..n + 1);
                }
                b.sizes(long, &[0]);
            }
            b.ints(&[54]).sizes(version >= 3, &[0]);
            let read = read("a.meshb", &b.bytes, &NoFiles).unwrap_or_else(|e| panic!("{big} {version}: {e}"));
            assert!(same(&read.mesh, &mesh), "{big} {version}");
        }
    }
}

#[test]
fn flat_tets_are_left_out_and_counted() {
    let flat =
        MEDIT.replace("Tetrahedra\n2", "Tetrahedra\n4").replace("Edges", "1 2 3 1 0\n1 2 3 3 0\nEdges");
    let read = text("a.mesh", &flat).unwrap();
    assert!(same(&read.mesh, &pair()));
    assert_eq!((read.warnings[0].count, &read.warnings[0].place[..]), (2, "line 17"));
    let four_in_a_plane = MEDIT.replace("0 0 1 0\n", "1 1 0 0\n").replace("2 5 3 4 9", "1 2 3 4 9");
    let error = text("a.mesh", &four_in_a_plane).unwrap_err();
    assert!(error.contains("all tetrahedra are flat (2"), "{error}");
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let cases: &[(&str, &str, &str, &str, &str)] = &[
        ("a.mesh", MEDIT, "1 1.5 -1e-7 7", "1 nan -1e-7 7", "line 9: \"nan\" is not a finite"),
        ("a.mesh", MEDIT, "1 1.5 -1e-7 7", "1 1e30 -1e-7 7", "line 9: 1e30 is too large"),
        ("a.mesh", MEDIT, "1 1.5 -1e-7 7", "1 1.5", "line 10: \"Triangles\" is not a number"),
        ("a.mesh", MEDIT, "2 5 3 4 9", "2 6 3 4 9", "line 16: a tetrahedron refers to node 6"),
        ("a.mesh", MEDIT, "2 5 3 4 9", "2 0 3 4 9", "numbered 1 to 5"),
        ("a.mesh", MEDIT, "2 5 3 4 9", "2 1.5 3 4 9", "\"1.5\" is not a whole number"),
        ("a.mesh", MEDIT, "Vertices\n5", "Vertices\n-5", "line 4: -5 is no count"),
        (
            "a.mesh",
            MEDIT,
            "Vertices\n5",
            "Vertices\n888888888888888888",
            "line 4: 888888888888888888 vertices are announced",
        ),
        ("a.mesh", MEDIT, "Tetrahedra\n2", "Tetrahedra\n99999", "line 14: 99999 tetrahedra are announced"),
        ("a.mesh", MEDIT, "Tetrahedra", "Hexahedra", "only other elements"),
        ("a.mesh", MEDIT, "Tetrahedra\n2", "Tetrahedra\n0", "only a surface"),
        ("a.mesh", MEDIT, "Dimension 3", "Dimension 2", "line 2: the mesh has 2 dimensions"),
        ("a.mesh", MEDIT, "Triangles", "Vertices", "line 10: a second list of vertices"),
        ("a.mesh", MEDIT, "MeshVersionFormatted", "$MeshFormat", "rename it to .msh"),
        ("a.mesh", MEDIT, MEDIT, "", "the file is empty"),
        ("a.mesh", MEDIT, "Vertices", "Corners", "there are no vertices"),
        ("a.msh", MSH2, "2.2 0 8", "4 0 8", "line 2: version 4 of Gmsh's format is not read"),
        ("a.msh", MSH2, "2.2 0 8", "2.2 3 8", "neither 0 (text) nor 1"),
        ("a.msh", MSH2, "2.2 0 8", "2.2 1 8", "byte "),
        ("a.msh", MSH2, "$MeshFormat\n", "$NOD\n", "version 1 of Gmsh's format"),
        ("a.msh", MSH2, "$MeshFormat\n", "MeshVersionFormatted 1\n", "rename it to .mesh"),
        ("a.msh", MSH2, "\n5 1 1.5", "\n4 1 1.5", "two nodes have the number 4"),
        ("a.msh", MSH2, "3 4 0 2 5 3 4", "3 4 0 2 7 3 4", "line 16: a tetrahedron refers to node 7"),
        ("a.msh", MSH2, "3 4 0 2 5 3 4", "3 77 0 2 5 3 4", "line 16: elements of type 77 are not known"),
        ("a.msh", MSH2, "3 4 0 2 5 3 4", "3 4 -1 2 5 3 4", "line 16: -1 is no count of tags"),
        ("a.msh", MSH2, "$Nodes\n5", "$Nodes\n4", "\"5\" stands where \"$EndNodes\" is expected"),
        ("a.msh", MSH2, "$EndElements", "", "\"$EndElements\" is missing"),
        ("a.msh", MSH2, "$Elements\n4", "$Elements\n4000000000", "4000000000 elements are announced"),
        ("a.msh", MSH2, "$Elements", "$Other", "\"$EndOther\" is missing"),
        ("a.msh", MSH2, "$Nodes", "$ParametricNodes", "$ParametricNodes"),
        ("a.msh", MSH4, "2 5 1 5", "99999999 5 1 5", "99999999 blocks are announced"),
        ("a.msh", MSH4, "3 1 0 2", "5 1 0 2", "an entity has 5 dimensions"),
        ("a.msh", MSH4, "3 1 4 2", "3 1 4 -2", "-2 is no count of elements"),
        ("a.msh", MSH4, "0 0 1\n", "0 inf 1\n", "line 16: \"inf\" is not a finite number"),
        ("a.veg", VEG, "TET", "CUBIC", "line 11: the elements are hexahedra (CUBIC)"),
        ("a.veg", VEG, "TET", "PYRAMID", "\"PYRAMID\" are not known"),
        ("a.veg", VEG, "5 3 0 0", "6 3 0 0", "line 10: the list ends after 5 of 6 nodes"),
        ("a.veg", VEG, "5 3 0 0", "*INCLUDE a.node", "the included file \"a.node\" cannot be read"),
        ("a.veg", VEG, "*VERTICES", "*NODES", "line 10: the elements come before the vertices"),
        ("a.veg", VEG, VEG, "hello", "there is no *VERTICES"),
        ("a.veg", VEG, "2 4 0", "2 8 0", "the elements have 8 nodes"),
    ];
    for &(name, sample, from, to, what) in cases {
        assert!(sample.contains(from), "{from:?} is not in the sample");
        let error = text(name, &sample.replacen(from, to, 1)).expect_err(to);
        assert!(error.contains(what), "{name}, {to:?}: {error}");
        assert!(!error.contains('\n') && error.len() < 250, "{error}");
    }
    for (node, ele, what) in [
        (NODE.replace("5 3", "6 3"), ELE.into(), ".node file, line 7: the list ends after 5 of 6 nodes"),
        (NODE.replace("5 3", "999999999999 3"), ELE.into(), "the list ends after 5 of 999999999999"),
        (NODE.replace("5 3", "5 2"), ELE.into(), "2 coordinates"),
        (NODE.replace("5 3", "-5 3"), ELE.into(), ".node file, line 1: \"-5\" is no count of nodes"),
        (NODE.replace("4 1 1.5 -1e-7", "4 1 1.5"), ELE.into(), ".node file, line 6: a node needs"),
        (
            NODE.into(),
            ELE.replace("1 1 4 2 3", "1 1 5 2 3"),
            ".ele file, line 3: a tetrahedron refers to node 5",
        ),
        (NODE.into(), ELE.replace("1 1 4 2 3", "1 1 4 2"), ".ele file, line 3: the line has too few numbers"),
        (NODE.into(), String::new(), ".ele file, line 1: the file is empty"),
        (MEDIT.into(), ELE.into(), "\"MeshVersionFormatted\" is no count of nodes"),
    ] {
        let error = tetgen(&node, &ele).expect_err(what);
        assert!(error.contains(what), "{error}");
    }
    for name in ["a.vtu", "a.stl", "a", "", "mesh"] {
        assert!(text(name, MEDIT).unwrap_err().contains("give .mesh"), "{name}");
    }
    let more = tetgen(NODE, &ELE.replace("2 4 0", "1 4 0")).unwrap();
    assert!(
        more.mesh.tets().len() == 1 && more.warnings[0].place == ".ele file, line 3",
        "{:?}",
        more.warnings
    );
}

#[test]
fn files_beside_are_found_and_nothing_else() {
    let mesh = pair();
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    files.insert("a.node".into(), NODE.into());
    files.insert("a.ele".into(), ELE.into());
    files.insert("B.ELE".into(), ELE.into());
    for (name, bytes) in [("a.node", NODE), ("a.ele", ELE), ("x/y/a.node", NODE), ("B.NODE", NODE)] {
        let read = read(name, bytes.as_bytes(), &files).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(same(&read.mesh, &mesh));
    }
    let error = text("a.ele", ELE).unwrap_err();
    assert!(error.contains("\"a.node\"") && error.contains("side by side"), "{error}");
    // A problem is in the file that has it.
    let error = read("a.node", NODE.replace("0 0 1", "0 x 1").as_bytes(), &files).unwrap_err().to_string();
    assert!(error.starts_with("line 5: "), "{error}");
    files.insert("a.ele".into(), ELE.replace("0 0 1 2 3", "0 0 1 2 9").into());
    let error = read("a.node", NODE.as_bytes(), &files).unwrap_err().to_string();
    assert!(error.starts_with("a.ele, line 2: "), "{error}");

    files.insert("a.ele".into(), ELE.into());
    let veg = "*VERTICES\n*INCLUDE ./a.node\n*ELEMENTS\nTET\n*INCLUDE a.ele\n*MATERIAL m\nENU, 1, 1, 0.3\n";
    assert!(same(&read("a.veg", veg.as_bytes(), &files).unwrap().mesh, &mesh));

    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(folder.path().join("a.node"), NODE).unwrap();
    let error = read("a.veg", veg.replace("./a", "../a").as_bytes(), &Folder::of(&inside.join("a.veg")));
    assert!(error.unwrap_err().to_string().contains("outside"));
}

#[test]
fn files_appear_whole_and_both_or_none() {
    let mesh = pair();
    let folder = tempfile::tempdir().unwrap();
    let names = || -> Vec<String> {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter(|n| !n.starts_with('.'))
            .collect()
    };
    std::fs::create_dir(folder.path().join("bad.ele")).unwrap();
    let bad = folder.path().join("bad.node");
    assert!(create(&bad, Format::TetGen, &mesh, &Fields::default()).is_err());
    assert_eq!(names(), ["bad.ele"]);
    std::fs::remove_dir(folder.path().join("bad.ele")).unwrap();
    for name in ["a.mesh", "a.meshb", "b.node", "c.ele", "a.msh", "a.veg", "a.vtu"] {
        let path = folder.path().join(name);
        let format = Format::of(&path).unwrap();
        let ready = create(&path, format, &mesh, &Fields::default()).unwrap();
        assert!(!path.exists());
        let paths = commit(ready).unwrap();
        assert!(paths.contains(&path), "{name}");
        if name == "a.vtu" {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        assert!(same(&read(name, &bytes, &Folder::of(&path)).unwrap().mesh, &mesh), "{name}");
    }
    let mut names = names();
    names.sort();
    let all = ["a.mesh", "a.meshb", "a.msh", "a.veg", "a.vtu", "b.ele", "b.node", "c.ele", "c.node"];
    assert_eq!(names, all);
    assert_eq!((Format::of(Path::new("a.glb")), Format::of(Path::new("mesh"))), (None, None));
}

#[test]
fn medit_holds_the_surface_too() {
    let mesh = pair();
    let (name, files) = written(Format::Medit, &mesh);
    let text = String::from_utf8(files[&name].clone()).unwrap();
    let mut lines = text.lines().skip_while(|l| *l != "Triangles").skip(1);
    assert_eq!(lines.next(), Some("6"));
    for ((triangle, _), line) in surface(&mesh).iter().zip(lines) {
        let [a, b, c] = triangle.map(|n| n + 1);
        assert_eq!(line, format!("{a} {b} {c} 0"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bits of a number that is taken come back, from every format.
    #[test]
    fn numbers_come_back_bit_for_bit(raw in proptest::collection::vec(any::<u32>(), 12 * 3)) {
        let usable = |b: u32| {
            let v = f32::from_bits(b);
            if v.abs() <= 1e18 { v } else { f32::from_bits(b & 0x83ff_ffff) }
        };
        let positions: Vec<Vec3> =
            raw.chunks(3).map(|c| Vec3::new(usable(c[0]), usable(c[1]), usable(c[2]))).collect();
        let tets = vec![[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [3, 5, 7, 11]];
        if let Ok(mesh) = TetMesh::new(positions, tets)
            // Not those so thin that rounding alone says how they are wound.
            && (0..4).all(|t| mesh.volume_of(t) > 0.0)
        {
            for format in FORMATS {
                prop_assert!(same(&again(format, &mesh).mesh, &mesh), "{format:?}");
            }
        }
    }
}

/// The numbers of a `.vtu` array as bytes, found by its name as a reader does.
fn appended<'a>(file: &'a [u8], name: &str) -> &'a [u8] {
    let start = file.windows(2).position(|w| w == b"\n_").unwrap() + 2;
    let xml = String::from_utf8_lossy(&file[..start]);
    let tag = xml.lines().find(|l| l.contains(&format!("Name=\"{name}\""))).unwrap();
    let offset: usize = tag.split("offset=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    let data = &file[start + offset..];
    let length = u64::from_le_bytes(data[..8].try_into().unwrap()) as usize;
    &data[8..8 + length]
}

#[test]
fn vtu_holds_cells_and_named_numbers() {
    let mesh = pair();
    let (masses, moves) = ([1.0, 2.0, 3.0, 4.0, f32::NAN], [0.5f32; 15]);
    let quality = [0.25f32, 0.75];
    let nodes =
        [Field { name: "mass", values: &masses, width: 1 }, Field { name: "move", values: &moves, width: 3 }];
    let tets = [Field { name: "a<b & \"c\"", values: &quality, width: 1 }];
    let fields = Fields { nodes: &nodes, tets: &tets };
    let file = encode(Format::Vtu(Vtu::Binary), &mesh, &fields).unwrap().remove(0).1;
    let floats = |name: &str| -> Vec<f32> {
        appended(&file, name).chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    };
    let ints = |name: &str| -> Vec<i64> {
        appended(&file, name).chunks(8).map(|b| i64::from_le_bytes(b.try_into().unwrap())).collect()
    };
    assert_eq!(floats("Points"), mesh.positions().iter().flat_map(|p| p.to_array()).collect::<Vec<_>>());
    assert_eq!(floats("mass").iter().map(|v| v.to_bits()).collect::<Vec<_>>(), masses.map(f32::to_bits));
    assert_eq!((floats("move"), floats("a&lt;b &amp; &quot;c&quot;")), (moves.to_vec(), quality.to_vec()));
    assert_eq!(
        ints("connectivity"),
        mesh.tets().as_flattened().iter().map(|&n| i64::from(n)).collect::<Vec<_>>()
    );
    assert_eq!((ints("offsets"), appended(&file, "types")), (vec![4, 8], &[10u8, 10][..]));
    // VTK takes the corners as one list of single numbers, and refuses rows of four.
    let xml = String::from_utf8_lossy(&file);
    let wide: Vec<_> = xml.lines().filter(|l| l.contains("NumberOfComponents")).collect();
    assert!(wide.len() == 2 && wide[0].contains("\"move\"") && wide[1].contains("\"Points\""), "{wide:?}");
    assert!(file.ends_with(b"\n</AppendedData>\n</VTKFile>\n"));

    let refused = |fields: Fields, form| encode(Format::Vtu(form), &mesh, &fields).unwrap_err().to_string();
    assert!(refused(fields, Vtu::Text).contains("\"mass\": the number of element 4 is not finite"));
    let short = [Field { name: "x", values: &quality, width: 1 }];
    assert!(refused(Fields { nodes: &short, tets: &[] }, Vtu::Binary).contains("2 where 5 are needed"));
    let twice = [tets[0], tets[0]];
    assert!(refused(Fields { nodes: &[], tets: &twice }, Vtu::Binary).contains("empty or taken"));
    let text = encode(Format::Vtu(Vtu::Text), &mesh, &Fields { nodes: &nodes[1..], tets: &tets })
        .unwrap()
        .remove(0)
        .1;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("\n1.0 1.5 -1e-7\n") && text.contains("\n1 4 2 3\n"), "{text}");
}

/// What the table of the shared data says: nodes, tets, triangles of the boundary, volume.
const REAL: [(&str, usize, usize, usize, f64); 10] = [
    ("libigl/hand.mesh", 7234, 29998, 9556, 0.1605),
    ("libigl/hand.msh", 7234, 29998, 9556, 0.1605),
    ("libigl/octopus-low.mesh", 452, 1140, 898, 0.009136),
    ("armadillo_4k.node", 1180, 3717, 2102, 1.86),
    ("armadillo_4k.ele", 1180, 3717, 2102, 1.86),
    ("vega/beam3_tet.veg", 208, 450, 412, 0.0048),
    ("ipc/cow_head.msh", 1328, 5029, 1986, 0.01454),
    ("ipc/sphere1K.msh", 1760, 6851, 2474, 0.5185),
    ("ipc/mat20x20.msh", 800, 2166, 1596, 0.013),
    ("ipc/bar-186.msh", 86, 186, 168, 5.0),
];

#[test]
fn every_shared_mesh_reads_and_survives_every_format() {
    let Some(data) = data() else { return };
    let folder = data.join("tet");
    let mut seen = 0;
    for path in files_below(&folder, &["mesh", "msh", "node", "ele", "veg"]) {
        let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
        let result = read(&name, &std::fs::read(&path).unwrap(), &Folder::of(&path));
        if name == "vega/beam3.veg" {
            assert!(result.unwrap_err().to_string().contains("hexahedra (CUBIC)"));
            continue;
        }
        let tets = result.unwrap_or_else(|e| panic!("{name}: {e}"));
        let mesh = &tets.mesh;
        let found = (mesh.positions().len(), mesh.tets().len(), surface(mesh).len());
        println!("{name}: {found:?}, volume {:.5}, {:?}", mesh.volume(), tets.warnings);
        if let Some(&(_, nodes, count, triangles, volume)) = REAL.iter().find(|r| r.0 == name) {
            assert_eq!(found, (nodes, count, triangles), "{name}");
            assert!((mesh.volume() / volume - 1.0).abs() < 1e-3, "{name}: {}", mesh.volume());
            seen += 1;
        }
        for format in FORMATS {
            assert!(same(&again(format, mesh).mesh, mesh), "{name} as {format:?}");
        }
    }
    assert_eq!(seen, REAL.len());
}

/// A file that pretends to have everything beside it.
struct Anything(Vec<u8>);

impl Files for Anything {
    fn read(&self, _: &str, _: u64) -> std::io::Result<Vec<u8>> {
        Ok(self.0.clone())
    }
}

#[test]
fn broken_copies_are_refused_or_read_and_never_break_the_reader() {
    let mut random = Random(0x5eed_7e75);
    let mesh = pair();
    let (mut good, mut bad) = (0, 0);
    let mut check = |result: Result<Tets, pliant_io::ReadError>| match result {
        Ok(tets) => {
            good += 1;
            assert!((0..tets.mesh.tets().len()).all(|t| tets.mesh.volume_of(t) > 0.0));
            assert!(tets.mesh.positions().iter().all(|p| p.is_finite()));
        }
        Err(error) => {
            bad += 1;
            let line = error.to_string();
            assert!(!line.is_empty() && line.len() < 400 && !line.contains('\n'), "{line}");
        }
    };
    for format in FORMATS {
        let (name, files) = written(format, &mesh);
        for _ in 0..3000 {
            check(read(&name, &broken(&files[&name], &mut random), &files));
        }
        // Every cut, and every byte as each of a few others.
        let whole = &files[&name];
        for end in 0..whole.len() {
            check(read(&name, &whole[..end], &files));
            for byte in [0, 1, 0x7f, 0x80, 0xff, b'9', b'-', b'$', b'*', b' '] {
                let mut copy = whole.clone();
                copy[end] = byte;
                check(read(&name, &copy, &files));
            }
        }
    }
    for (name, sample) in samples() {
        for _ in 0..3000 {
            check(read(name, &broken(sample.as_bytes(), &mut random), &NoFiles));
        }
    }
    for _ in 0..3000 {
        let ele = Anything(broken(ELE.as_bytes(), &mut random));
        check(read("a.node", NODE.as_bytes(), &ele));
        check(read("a.veg", b"*VERTICES\n*INCLUDE a\n*ELEMENTS\nTET\n*INCLUDE b\n", &ele));
    }
    println!("{good} read, {bad} refused");
    assert!(good > 1000 && bad > 1000);
}
