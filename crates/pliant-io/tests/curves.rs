//! Files of curves: what is right is read, what is wrong is told by its place, and nothing panics or takes long.

use pliant::asset::Curve;
use pliant::glam::DVec3;
use pliant_io::curves::read;
use pliant_io::settings;
use std::collections::BTreeMap;
use std::f64::consts::FRAC_1_SQRT_2;

fn curve(file: &str, text: &str) -> Curve {
    let mut all = read(file, text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0).1
}

fn refused(file: &str, text: &str) -> String {
    let error = read(file, text.as_bytes()).expect_err(text).to_string();
    assert!(!error.contains('\n') && error.len() < 600, "{error}");
    error
}

fn line(points: &[[f64; 3]]) -> Curve {
    Curve::polyline(&points.iter().map(|&p| DVec3::from_array(p)).collect::<Vec<_>>()).unwrap()
}

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

#[test]
fn json_is_a_list_or_an_object() {
    let one = r#"{"name": "biceps", "points": [[0,0,0],[1,0,0],[1,1,0.5]], "degree": 1}"#;
    for text in [format!("[{one}]"), format!("\u{feff} {{\"curves\": [{one}]}}")] {
        let all = read("a.JSON", text.as_bytes()).unwrap();
        assert_eq!(all, [("biceps".to_owned(), line(&[[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.5]]))]);
    }
    let text = format!(
        r#"[{{"points": [[1,0,0],[1,1,0],[0,1,0]], "weights": [1,{FRAC_1_SQRT_2},1], "knots": [0,0,0,1,1,1]}}]"#
    );
    let quarter = curve("c.json", &text);
    assert_eq!(quarter.degree(), 2);
    assert!((quarter.at(0.37).length() - 1.0).abs() < 1e-12);
    let four = curve("c.json", r#"[{"points": [[0,0,0],[1,0,0],[1,1,0],[2,1,0],[2,2,0]]}]"#);
    assert_eq!(four.degree(), 3);
}

#[test]
fn obj_has_polylines() {
    let whole = line(&[[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]);
    for lines in [
        "l 1 2 3 4",
        "l -4 -3 -2 -1",
        "l 1/1 2/2 \\\n3/3 4",
        "l 1 2\nl 2 3\nl 3 4",
        "f 1 2 3\nl 1 2 3 4 # all",
    ] {
        assert_eq!(curve("a.obj", &format!("{SQUARE}{lines}")), whole, "{lines}");
    }
    // Vertices may come later; lines that do not go on from each other are curves of their own.
    let two = read("a.obj", format!("o left\nl 1 2\no right\nl 2 3\nl 1 4\n{SQUARE}").as_bytes()).unwrap();
    let names: Vec<&str> = two.iter().map(|c| &c.0[..]).collect();
    assert_eq!(names, ["left", "right", "right"]);
}

#[test]
fn obj_has_free_form_curves() {
    let arc = format!(
        "v 1 0 0 1\nv 1 1 0 {FRAC_1_SQRT_2}\nv 0 1 0 1\ncstype rat bspline\ndeg 2\ncurv 0 1 1 2 3\nparm u 0 0 0 1 1 1\nend\n"
    );
    let bezier = format!(
        "v 1 0 0 1\nv 1 1 0 {FRAC_1_SQRT_2}\nv 0 1 0 1\ncstype rat bezier\ndeg 2\ncurv 0 1 1 2 3\nparm u 0 1\nend"
    );
    for text in [arc, bezier] {
        let quarter = curve("a.obj", &text);
        for i in 0..=10 {
            assert!((quarter.at(f64::from(i) / 10.0).length() - 1.0).abs() < 1e-12);
        }
    }
    // Two pieces of a cubic, without weights even where vertices have them.
    let vertices: String = (0..7).map(|i| format!("v {i} {} 0 3\n", i % 2)).collect();
    let two = curve("a.obj", &format!("{vertices}cstype bezier\ndeg 3\ncurv 0 2 1 2 3 4 5 6 7\nend"));
    assert!(two.at(1.0).distance(DVec3::new(3.0, 1.0, 0.0)) < 1e-12);
    // (0, 1, 0, 1) by Bernstein's polynomials at a half: 3/8 + 1/8.
    assert!(two.at(0.5).distance(DVec3::new(1.5, 0.5, 0.0)) < 1e-12);
}

#[test]
fn what_is_wrong_is_told_by_its_place() {
    for (file, text, parts) in [
        ("a.json", "", &["line 1"][..]),
        ("a.json", "[{\"points\": [[0,0,0],\n[1,0", &["line 2"]),
        ("a.json", "[{\"points\": [[0,0,0],\n[1,NaN,0]]}]", &["line 2"]),
        ("a.json", "[{\"points\": [[0,0,0],[1,0,1e999]]}]", &["line 1", "out of range"]),
        ("a.json", "[{\"pionts\": [[0,0,0],[1,0,0]]}]", &["line 1", "pionts"]),
        ("a.json", "[{\"points\": [[0,0],[1,0,0]]}]", &["line 1"]),
        ("a.json", "[{\"points\": [[0,0,0]]}]", &["curves[0]", "too few"]),
        ("a.json", "[{\"points\": [[0,0,0],[0,0,0]]}]", &["curves[0]", "no length"]),
        ("a.json", "[{\"points\": [[0,0,0],[1,0,0]], \"weights\": [1,0]}]", &["curves[0]", "weight 1 is 0"]),
        ("a.json", "[{\"points\": [[0,0,0],[1,0,0]], \"knots\": [0,1]}]", &["curves[0]"]),
        (
            "a.json",
            "[{\"points\": [[0,0,0],[1,0,0]], \"degree\": 18446744073709551615}]",
            &["curves[0]", "degree"],
        ),
        ("a.json", "[]", &["no curves"]),
        ("a.json", "{\"curves\": 3}", &["line 1"]),
        ("a.json", &"[".repeat(100_000), &["line 1"]),
        ("a.obj", "", &["no curves"]),
        ("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 1", &["no curves"]),
        ("a.obj", "v 0 0 0\nv 1 0 0\nl 1 3", &["line 3", "vertex 3", "only 2"]),
        ("a.obj", "v 0 0 0\nl 0 1", &["line 2", "no vertex 0"]),
        ("a.obj", "v 0 0 0\nl -2 1", &["line 2", "vertex -2"]),
        ("a.obj", "l 1 9223372036854775807", &["line 1", "vertex 1 is named, but there are only 0"]),
        ("a.obj", "v 0 0 0\nl 1 9223372036854775807", &["line 2", "vertex 9223372036854775807"]),
        ("a.obj", "l 1 -9223372036854775808", &["line 1"]),
        ("a.obj", "l 1 99999999999999999999", &["line 1", "is not a vertex"]),
        ("a.obj", "v 0 0 0\nv 0 nan 0\nl 1 2", &["line 2", "not a finite number"]),
        ("a.obj", "v 0 0 0\nv 1 0\nl 1 2", &["line 2", "three coordinates"]),
        ("a.obj", "v 0 0 0\nl 1", &["line 2", "two vertices"]),
        ("a.obj", "v 0 0 0\nv 1 0 0\nl 1 1", &["line 3", "no length"]),
        ("a.obj", "v 0 0 0\nv 1 0 0\ncurv 0 1 1 2\nend", &["line 4", "line 3", "bspline"]),
        ("a.obj", "v 0 0 0\nv 1 0 0\ncstype bspline\ndeg 1\ncurv 0", &["line 5", "range"]),
        (
            "a.obj",
            "v 0 0 0\nv 1 0 0\ncstype bspline\ndeg 9\ncurv 0 1 1 2\nparm u 0 1",
            &["line 5", "too few"],
        ),
        (
            "a.obj",
            "v 0 0 0\nv 1 0 0\ncstype bezier\ndeg 99999999999\ncurv 0 1 1 2\nend",
            &["line 5", "degree"],
        ),
        (
            "a.obj",
            "v 0 0 0\nv 1 0 0\nv 2 1 0\nv 3 0 0\ncstype bezier\ndeg 2\ncurv 0 1 1 2 3 4\nend",
            &["line 7", "knots"],
        ),
        (
            "a.obj",
            "v 0 0 0 0\nv 1 0 0 1\ncstype rat bspline\ndeg 1\ncurv 0 1 1 2\nend",
            &["line 5", "weight 0 is 0"],
        ),
        ("a.txt", "", &[".txt", "give .json or .obj"]),
    ] {
        let error = refused(file, text);
        assert!(parts.iter().all(|part| error.contains(part)), "{}: {error}", &text[..text.len().min(200)]);
    }
    let many = format!("[{}]", [r#"{"points":[[0,0,0],[1,0,0]]}"#; 10_001].join(","));
    assert!(refused("a.json", &many).contains("too many"));
}

/// Cut anywhere, and with any byte changed, files are read or refused in one line.
#[test]
fn damaged_files_are_read_or_refused() {
    let json = r#"{"curves": [{"name": "a", "points": [[0,0,0],[1,2,3],[4,5,6]], "degree": 2, "weights": [1,2,1], "knots": [0,0,0,1,1,1]}]}"#;
    let obj = "v 0 0 0 1\nv 1 0 0 2\nv 1 1 0 1\no a\nl 1 2 -1\ncstype rat bspline\ndeg 2\ncurv 0 1 1 2 3\nparm u 0 0 0 1 1 1\nend\n";
    let try_read = |file: &str, bytes: &[u8]| {
        if let Err(error) = read(file, bytes) {
            assert!(!error.to_string().contains('\n') && error.to_string().len() < 600);
        }
    };
    for (file, text) in [("a.json", json), ("a.obj", obj)] {
        for at in 0..text.len() {
            try_read(file, &text.as_bytes()[..at]);
            for byte in [b'9', b'-', b' ', b'\n', b'e', b'.', b'[', b'\\', 0, 0xff] {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] = byte;
                try_read(file, &bytes);
                bytes.insert(at, byte);
                try_read(file, &bytes);
            }
        }
    }
}

#[test]
fn settings_name_curves_and_files_of_curves() {
    let text = r#"
[[fibre]]
name = "thigh"
points = [[0, 0, 0], [0, 1, 0], [0, 2, 0.5]]
degree = 1
radius = 0.2
stretch = [1, 0.1, 0.1]
[[fibre]]
file = "sub/lines.obj"
volume = 0.5
"#;
    let mut file = settings::read(text.as_bytes()).unwrap();
    let obj = format!("{SQUARE}l 1 2 3\nl 4 1").into_bytes();
    let files: BTreeMap<String, Vec<u8>> = [("sub/lines.obj".to_owned(), obj)].into();
    file.fetch(&files).unwrap();
    let [thigh, lines] = &file.settings.fibres[..] else { panic!() };
    assert_eq!((thigh.name.as_str(), thigh.degree, thigh.stretch), ("thigh", Some(1), Some([1.0, 0.1, 0.1])));
    assert_eq!((thigh.drawn.len(), lines.drawn.len(), lines.volume), (0, 2, Some(0.5)));

    let broken: BTreeMap<String, Vec<u8>> = [("sub/lines.obj".to_owned(), b"l 1 2".to_vec())].into();
    for (files, what) in [(broken, "line 1: vertex 1"), (BTreeMap::new(), "cannot read it")] {
        let error = file.fetch(&files).unwrap_err().to_string();
        assert!(
            error.starts_with("line 9: fibre[1].file: sub/lines.obj: ") && error.contains(what),
            "{error}"
        );
    }
}

#[test]
fn settings_of_fibres_are_refused_by_line() {
    for (text, parts) in [
        ("[[fibre]]", &["line 1", "fibre[0].points", "0 points are too few"][..]),
        ("[[fibre]]\npoints = [[0,0,0]]", &["line 2", "fibre[0].points", "too few"]),
        ("[[fibre]]\npoints = [[0,0,0],[1,0]]", &["line 2", "points[1]", "three numbers"]),
        ("[[fibre]]\npoints = [[0,0,0],[nan,0,0]]", &["line 2", "fibre[0].points", "not finite"]),
        ("[[fibre]]\npoints = [[0,0,0],[1,0,0]]\ndegree = 2", &["too few"]),
        ("[[fibre]]\npoints = [[0,0,0],[1,0,0]]\ndegree = 0", &["line 3", "fibre[0].degree"]),
        ("[[fibre]]\npoints = [[0,0,0],[1,0,0]]\nweights = [1,-1]", &["line 3", "fibre[0].weights"]),
        ("[[fibre]]\npoints = [[0,0,0],[1,0,0]]\nknots = [0,1,0,1]", &["line 3", "fibre[0].knots"]),
        ("[[fibre]]\npoints = [[0,0,0],[1,0,0]]\nradius = 0", &["line 3", "fibre[0].radius", "out of range"]),
        ("[[fibre]]\npoints = [[0,0,0],[1,0,0]]\nstretch = [2,0,0]", &["line 3", "fibre[0].stretch"]),
        (
            "[[fibre]]\nfile = 'a.json'\ndegree = 2",
            &["line 3", "fibre[0].degree", "'file' goes in its place"],
        ),
        ("[[fibre]]\nfile = ''", &["line 2", "fibre[0].file", "is empty"]),
        ("[[fibre]]\npiont = 1", &["line 2", "'piont'", "did you mean 'points'?"]),
    ] {
        let error = settings::read(text.as_bytes()).expect_err(text).to_string();
        assert!(!error.contains('\n') && parts.iter().all(|part| error.contains(part)), "{text}: {error}");
    }
}
