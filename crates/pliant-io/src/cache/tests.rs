use super::*;
use crate::testing::sample;
use std::io::Cursor;

fn shape(character: &Character, frame: usize) -> Shape {
    let mut shape = Shape::rest(character);
    shape.positions.iter_mut().for_each(|p| *p += Vec3::new(frame as f32, 0.0, -0.5));
    shape
}

fn words<const BIG: bool>(bytes: &[u8]) -> Vec<u32> {
    let word = |b: &[u8]| {
        if BIG {
            u32::from_be_bytes(b.try_into().unwrap())
        } else {
            u32::from_le_bytes(b.try_into().unwrap())
        }
    };
    bytes.chunks(4).map(word).collect()
}

fn bits(positions: &[Vec3]) -> Vec<u32> {
    positions.iter().flat_map(|p| p.to_array()).map(f32::to_bits).collect()
}

/// Bakes two frames and gives the files.
fn files(name: &str) -> (Character, Vec<(String, Vec<u8>)>) {
    let character = sample();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut writer = create(&path, Format::of(&path).unwrap(), &character, &[0.0, 0.5]).unwrap();
    for frame in 0..2 {
        writer.push(&shape(&character, frame)).unwrap();
        assert!(
            std::fs::read_dir(folder.path()).unwrap().all(|f| f
                .unwrap()
                .file_name()
                .to_str()
                .unwrap()
                .starts_with('.'))
        );
    }
    assert!(writer.push(&shape(&character, 2)).is_err(), "more frames than were announced");
    let paths = crate::files::commit(writer.finish().unwrap()).unwrap();
    let name = |p: &PathBuf| p.file_name().unwrap().to_str().unwrap().to_string();
    (character, paths.iter().map(|p| (name(p), std::fs::read(p).unwrap())).collect())
}

#[test]
fn pc2_is_a_header_and_points() {
    let (character, files) = files("out.pc2");
    let names: Vec<_> = files.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(names, ["out-body.pc2", "out-näse.pc2"]);
    for ((_, bytes), range) in files.iter().zip([0..8, 8..12]) {
        assert_eq!(&bytes[..12], b"POINTCACHE2\0");
        let numbers = words::<false>(&bytes[12..]);
        let header = [1, range.len() as u32, 0f32.to_bits(), 1f32.to_bits(), 2];
        assert_eq!(numbers[..5], header);
        let points: Vec<u32> =
            (0..2).flat_map(|f| bits(&shape(&character, f).positions[range.clone()])).collect();
        assert_eq!(numbers[5..], points);
    }
}

#[test]
fn mdd_is_big_endian() {
    let (character, files) = files("out.MDD");
    let numbers = words::<true>(&files[1].1);
    assert_eq!(numbers[..4], [2, 4, 0f32.to_bits(), 0.5f32.to_bits()]);
    let points: Vec<u32> = (0..2).flat_map(|f| bits(&shape(&character, f).positions[8..12])).collect();
    assert_eq!(numbers[4..], points);
}

#[test]
fn an_obj_per_frame_keeps_every_vertex() {
    let (character, files) = files("out.obj");
    assert_eq!(files[1].0, "out_0001.obj");
    let text = std::str::from_utf8(&files[1].1).unwrap();
    let vectors = |tag: &str| -> Vec<Vec3> {
        let lines = text.lines().filter_map(|l| l.strip_prefix(tag)?.strip_prefix(' '));
        lines
            .map(|l| l.split(' ').map(|x| x.parse().unwrap()).collect::<Vec<f32>>())
            .map(|v| Vec3::new(v[0], v[1], v[2]))
            .collect()
    };
    assert_eq!(vectors("v"), shape(&character, 1).positions);
    assert_eq!(vectors("vn"), character.surface().normals());
    assert_eq!(
        text.lines().filter(|l| l.starts_with("o ")).collect::<Vec<_>>(),
        ["o body", "o body", "o näse"]
    );
    let faces: Vec<Vec<u32>> = text
        .lines()
        .filter_map(|l| l.strip_prefix("f "))
        .map(|l| {
            l.split(' ')
                .map(|c| c.split_once("//").unwrap())
                .map(|(a, b)| (a == b).then(|| a.parse::<u32>().unwrap() - 1).unwrap())
                .collect()
        })
        .collect();
    assert_eq!(faces, character.surface().triangles());
}

/// The entries of a ZIP by its directory, checked against what stands before each of them.
fn unzip(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let u16_at = |at: usize| u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()) as usize;
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let end = bytes.len() - 22;
    assert_eq!(u32_at(end), 0x0605_4b50);
    let mut at = u32_at(end + 16);
    (0..u16_at(end + 10))
        .map(|_| {
            assert_eq!(u32_at(at), 0x0201_4b50);
            let (size, name, offset) = (u32_at(at + 20), u16_at(at + 28), u32_at(at + 42));
            let text = std::str::from_utf8(&bytes[at + 46..at + 46 + name]).unwrap().to_string();
            assert_eq!(u32_at(offset), 0x0403_4b50);
            assert_eq!(u32_at(offset + 14), u32_at(at + 16), "checksums agree");
            let data = offset + 30 + name + u16_at(offset + 28);
            at += 46 + name + u16_at(at + 30);
            (text, bytes[data..data + size].to_vec())
        })
        .collect()
}

#[test]
fn npz_has_the_promised_arrays() {
    let (character, files) = files("out.npz");
    let entries = unzip(&files[0].1);
    let array = |name: &str| {
        let (_, bytes) = entries.iter().find(|e| e.0 == format!("{name}.npy")).unwrap();
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let data = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
        assert_eq!(data % 64, 0);
        (std::str::from_utf8(&bytes[10..data]).unwrap().trim_end().to_string(), bytes[data..].to_vec())
    };
    let head = |kind: &str, shape: &str| {
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}")
    };
    let (text, bytes) = array("positions");
    assert_eq!(text, head("<f4", "(2, 12, 3)"));
    let points: Vec<u32> = (0..2).flat_map(|f| bits(&shape(&character, f).positions)).collect();
    assert_eq!(words::<false>(&bytes), points);
    assert_eq!(words::<false>(&array("rest").1), bits(&character.rest_positions()));
    assert_eq!(array("times"), (head("<f8", "(2,)"), [0f64.to_le_bytes(), 0.5f64.to_le_bytes()].concat()));
    assert_eq!(array("triangles").0, head("<u4", "(12, 3)"));
    assert_eq!(words::<false>(&array("part_offsets").1), [0, 4, 8, 12]);
    let (text, bytes) = array("part_names");
    assert_eq!(text, head("<U4", "(3,)"));
    let names: String = words::<false>(&bytes).into_iter().map(|c| char::from_u32(c).unwrap()).collect();
    assert_eq!(names, "bodybodynäse");
}

/// NumPy itself, where it is.
#[test]
fn numpy_reads_it() {
    let python = std::env::var("PLIANT_PYTHON").unwrap_or_else(|_| "python3".into());
    let character = sample();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let mut writer = create(&path, Format::Npz, &character, &[0.0, 0.5]).unwrap();
    (0..2).for_each(|f| writer.push(&shape(&character, f)).unwrap());
    crate::files::commit(writer.finish().unwrap()).unwrap();
    let script = "import sys\ntry:\n import numpy\nexcept ImportError:\n print('absent'); sys.exit()\n\
        f = numpy.load(sys.argv[1])\n\
        print(f['positions'].shape, f['positions'].dtype, f['positions'].sum(), f['times'].tolist(), f['triangles'][-1].tolist(), f['part_names'].tolist(), f['part_offsets'].tolist())";
    let output = match std::process::Command::new(&python).args(["-c", script]).arg(&path).output() {
        Ok(output) => String::from_utf8(output.stdout).unwrap(),
        Err(error) => {
            return eprintln!("{python} does not run ({error}): the archive is not checked with NumPy");
        }
    };
    if output.trim() == "absent" {
        return eprintln!("{python} has no NumPy: the archive is not checked with it");
    }
    let words: Vec<_> = output.trim().splitn(6, ' ').collect();
    assert_eq!(words[..4], ["(2,", "12,", "3)", "float32"], "{output}");
    let sum: f64 =
        (0..2).flat_map(|f| shape(&character, f).positions).map(|p| f64::from(p.element_sum())).sum();
    assert!((words[4].parse::<f64>().unwrap() - sum).abs() < 1e-3, "{output}");
    assert_eq!(words[5], "[0.0, 0.5] [9, 10, 11] ['body', 'body', 'näse'] [0, 4, 8, 12]");
}

#[test]
fn large_archives_get_wide_records() {
    /// Keeps the ends of what is written, and how much it was.
    #[derive(Default)]
    struct Sparse {
        bytes: std::collections::BTreeMap<u64, Vec<u8>>,
        at: u64,
    }
    impl Write for Sparse {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if bytes.len() < 1000 {
                self.bytes.insert(self.at, bytes.to_vec());
            }
            self.at += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    impl std::io::Seek for Sparse {
        fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
            if let std::io::SeekFrom::Start(at) = to {
                self.at = at;
            }
            Ok(self.at)
        }
    }
    let mut zip = zip::Zip::new(Sparse::default());
    let megabyte = vec![0; 1 << 20];
    zip.begin("large", 4097 << 20).unwrap();
    (0..4097).for_each(|_| zip.write(&megabyte).unwrap());
    zip.begin("late", 3).unwrap();
    zip.write(b"abc").unwrap();
    let sparse = zip.finish().unwrap();
    let (_, local) = sparse.bytes.first_key_value().unwrap();
    let size = (4097u64 << 20).to_le_bytes();
    assert_eq!(local[18..26], [0xFF; 8]);
    assert_eq!(local[35..55], [[1, 0, 16, 0].as_slice(), &size, &size].concat());
    let (start, list) = sparse.bytes.last_key_value().unwrap();
    assert_eq!(list[42..46], [0; 4], "the first entry's place fits");
    let late = 46 + 5 + 4 + 16;
    assert_eq!(list[late + 42..late + 46], [0xFF; 4]);
    assert_eq!(list[late + 50..late + 54], [1, 0, 8, 0]);
    let record = late + 46 + 4 + 4 + 8;
    assert_eq!(list[record..record + 4], 0x0606_4b50u32.to_le_bytes());
    assert_eq!(list[record + 48..record + 56], start.to_le_bytes());
    assert_eq!(list[record + 64..record + 72], (start + record as u64).to_le_bytes());
    assert_eq!(list.len(), record + 56 + 20 + 22);
}

#[test]
fn bad_frames_are_refused_and_leave_nothing() {
    let character = sample();
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.pc2", "a.mdd", "a.npz", "a.obj"] {
        let path = folder.path().join(name);
        let format = Format::of(&path).unwrap();
        let mut broken = shape(&character, 0);
        broken.positions[9].y = f32::NAN;
        let mut writer = create(&path, format, &character, &[0.0]).unwrap();
        assert!(matches!(writer.push(&broken), Err(WriteError::NotFinite { .. })), "{name}");
        let mut short = shape(&character, 0);
        short.positions.pop();
        assert!(matches!(writer.push(&short), Err(WriteError::Length { .. })), "{name}");
        assert!(writer.finish().is_err(), "{name}: a frame is missing");
        if matches!(format, Format::Mdd | Format::Npz) {
            assert!(create(&path, format, &character, &[f64::INFINITY]).is_err());
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn names_of_meshes_stay_in_the_folder_and_apart() {
    let mesh = |name: &str| MeshRange { name: name.into(), vertices: 0..1 };
    let meshes = [mesh("../etc"), mesh("Body"), mesh("body"), mesh(""), mesh("body_2")];
    let paths = mesh_paths(Path::new("d/x.pc2"), &meshes);
    let names: Vec<_> = paths.iter().map(|p| p.to_str().unwrap()).collect();
    assert_eq!(names, ["d/x-___etc.pc2", "d/x-Body.pc2", "d/x-body_2.pc2", "d/x-_3.pc2", "d/x-body_2_4.pc2"]);
    assert_eq!(mesh_paths(Path::new("x.pc2"), &meshes[..1]), [PathBuf::from("x.pc2")]);
}

#[test]
fn a_cache_goes_to_anything() {
    let mut cache = Pc2::new(Cursor::new(Vec::new()), 1, 1).unwrap();
    cache.push(&[Vec3::X]).unwrap();
    assert_eq!(cache.finish().unwrap().into_inner().len(), 32 + 12);
}
