//! Reading takes memory in proportion to what is read, whatever a file claims. Alone in its file, and one test: a
//! neighbour's allocations would be counted too.

mod common;

use common::damage::{self, Random};
use common::data::{data, gltf_files};
use pliant::asset::TetMesh;
use pliant::glam::Vec3;
use pliant::skin::bench_rig;
use pliant_io::Files;
use pliant_io::files::{Folder, NoFiles};
use pliant_io::gltf::{self, write_character};
use pliant_io::tet::{self, Fields, Format, Gmsh, encode};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most bytes held at once for each byte of the file and the files beside it that it reads.
const PER_BYTE: usize = 16;

/// Granted to every file: some hundred bytes of sparse or compressed data are rightly thousands.
const ALLOWANCE: usize = 64 << 20;

/// Counts the bytes that are held, and the most there ever were. Growth counts as old and new at once.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let before = HELD.fetch_add(layout.size(), Ordering::Relaxed);
        PEAK.fetch_max(before + layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let before = HELD.fetch_add(layout.size(), Ordering::Relaxed);
        PEAK.fetch_max(before + layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Remembers how large each file is that was read.
struct Beside<'a> {
    files: &'a dyn Files,
    sizes: RefCell<BTreeMap<String, usize>>,
}

impl Files for Beside<'_> {
    fn read(&self, name: &str, limit: u64) -> std::io::Result<Vec<u8>> {
        let bytes = self.files.read(name, limit)?;
        self.sizes.borrow_mut().insert(name.into(), bytes.len());
        Ok(bytes)
    }
}

/// The dearest of several files.
#[derive(Default)]
struct Dearest {
    files: usize,
    read: usize,
    /// Peak per byte of input, of those that outgrow the small change of any program.
    ratio: f64,
    ratio_of: String,
    peak: usize,
    peak_of: String,
}

impl Dearest {
    /// Reads a file, made by `bytes` so that they count too, and holds it to the bounds.
    fn read(&mut self, name: &str, bytes: impl FnOnce() -> Vec<u8>, files: &dyn Files) {
        self.read_by(name, bytes, files, |bytes, files| gltf::read(bytes, files).is_ok());
    }

    /// The same for any reader, which says whether the file is sound.
    fn read_by(
        &mut self,
        name: &str,
        bytes: impl FnOnce() -> Vec<u8>,
        files: &dyn Files,
        reader: impl FnOnce(Vec<u8>, &dyn Files) -> bool,
    ) {
        let beside = Beside { files, sizes: RefCell::default() };
        let before = HELD.load(Ordering::Relaxed);
        let bytes = bytes();
        let size = bytes.len();
        PEAK.store(HELD.load(Ordering::Relaxed), Ordering::Relaxed);
        let read = reader(bytes, &beside);
        let peak = PEAK.load(Ordering::Relaxed) - before;
        self.read += usize::from(read);
        let input = size + beside.sizes.borrow().values().sum::<usize>();
        assert!(
            peak <= PER_BYTE * input + ALLOWANCE,
            "{name}: {peak} bytes held to read {input}, {:.1} times as many",
            peak as f64 / input as f64
        );
        self.files += 1;
        let ratio = peak as f64 / input as f64;
        if ratio > self.ratio && peak > 1 << 20 {
            (self.ratio, self.ratio_of) = (ratio, name.into());
        }
        if peak > self.peak {
            (self.peak, self.peak_of) = (peak, name.into());
        }
    }

    fn print(&self, what: &str) {
        println!(
            "{what}: {} of {} files read; most memory {:.1} MB ({}); most for its size {:.1} times ({})",
            self.read,
            self.files,
            self.peak as f64 / f64::from(1 << 20),
            self.peak_of,
            self.ratio,
            self.ratio_of
        );
    }
}

#[test]
fn reading_takes_memory_in_proportion() {
    if let Some(data) = data() {
        for (folder, least) in [("gltf", 25), ("bad", 1)] {
            let mut dearest = Dearest::default();
            for path in gltf_files(&data.join(folder)) {
                let bytes = || std::fs::read(&path).expect("a readable file");
                dearest.read(&path.display().to_string(), bytes, &Folder::of(&path));
            }
            dearest.print(folder);
            assert!(dearest.read >= least, "{} of {folder} read", dearest.read);
        }
    }

    let mut dearest = Dearest::default();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for (s, seed) in damage::seeds().iter().enumerate() {
        for round in 0..400 {
            let file = damage::damaged(seed, round, &mut random);
            dearest.read(&format!("seed {s} round {round}"), || file.clone(), &NoFiles);
        }
    }
    dearest.print("damaged");
    assert!(dearest.read > 25 && dearest.read < dearest.files);

    let mut dearest = Dearest::default();
    for (why, file) in damage::greedy().into_iter().filter(|g| g.0 != "too many vertices") {
        dearest.read(why, || file.clone(), &NoFiles);
    }
    dearest.print("greedy");
    assert_eq!(dearest.read, 0);

    let mut dearest = Dearest::default();
    // Vertices that are all zeros take no room in the file; nor do meshes shown again.
    for (thousands, times) in
        [(1, 1), (100, 1), (399, 1), (1, 399), (19, 20), (1000, 8), (1000, 20), (5000, 1)]
    {
        let (name, file) =
            (format!("{thousands} thousand zeros {times} times"), damage::zeros(thousands * 1000, times));
        dearest.read(&name, || file.clone(), &NoFiles);
    }
    dearest.print("instances");
    assert_eq!((dearest.read, dearest.files), (5, 8));

    let mut dearest = Dearest::default();
    // Lists of nothing in the extensions that are read.
    for (name, extension) in [
        ("VRM", format!(r#"{{"secondaryAnimation":{{"boneGroups":[{}0]}}}}"#, "0,".repeat(4_190_000))),
        ("VRM", format!(r#"{{"secondaryAnimation":{{"boneGroups":[{}{{}}]}}}}"#, "{},".repeat(2_700_000))),
        (
            "VRMC_springBone",
            format!(r#"{{"springs":[{{"joints":[{}0]}}]}}"#, "{\"node\":0},".repeat(600_000)),
        ),
    ] {
        let file = damage::extended(name, &extension);
        dearest.read(name, || file.clone(), &NoFiles);
    }
    dearest.print("springs");
    assert_eq!(dearest.read, dearest.files);

    let mut dearest = Dearest::default();
    for (vertices, bones, influences) in [(200_000, 30, 4), (20_000, 200, 8)] {
        let rig = bench_rig(vertices, bones, influences).expect("a sound rig");
        let file = write_character(&rig).expect("it is written");
        drop(rig);
        dearest.read(&format!("{vertices} vertices, {bones} bones"), || file.clone(), &NoFiles);
    }
    dearest.print("large");
    assert_eq!(dearest.read, dearest.files);

    tet_meshes();
}

/// Many tets in as few bytes as can be, whole and damaged; and counts without end.
fn tet_meshes() {
    let read = |name: &str, file: &[u8], dearest: &mut Dearest| {
        let reader = |bytes: Vec<u8>, files: &dyn Files| tet::read(name, &bytes, files).is_ok();
        let beside = BTreeMap::from([("m.ele".to_string(), b"1 4 0\n0 0 1 2 3\n".to_vec())]);
        dearest.read_by(name, || file.to_vec(), &beside, reader);
    };
    let points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Vec3::from);
    let mut positions = points.repeat(50_000);
    positions[3].z = 2.0;
    let tets = (0..400_000).map(|i| [4 * (i % 50_000), 1, 2, 3]).collect();
    let mesh = TetMesh::new(positions, tets).expect("a sound mesh");
    let formats = [
        Format::Medit,
        Format::MeditBinary,
        Format::Gmsh(Gmsh::Text22),
        Format::Gmsh(Gmsh::Binary22),
        Format::Gmsh(Gmsh::Text41),
        Format::Gmsh(Gmsh::Binary41),
        Format::Vega,
    ];
    let (mut whole, mut damaged) = (Dearest::default(), Dearest::default());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for format in formats {
        let (ending, file) = encode(format, &mesh, &Fields::default()).expect("it is written").remove(0);
        let name = format!("m.{ending}");
        read(&name, &file, &mut whole);
        for _ in 0..20 {
            let mut copy = file.clone();
            // Near the front, where the counts are.
            for limit in [100, 100, copy.len()] {
                copy[random.below(limit)] = random.next() as u8;
            }
            read(&name, &copy, &mut damaged);
        }
    }
    whole.print("tet meshes");
    assert_eq!(whole.read, whole.files);
    damaged.print("damaged tet meshes");

    let mut greedy = Dearest::default();
    let most = i64::MAX;
    let msh = |rest: &str| format!("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n{rest}");
    for (name, text) in [
        ("m.mesh", format!("MeshVersionFormatted 1\nDimension 3\nVertices\n{most}\n0 0 0 0\n")),
        ("m.node", format!("{most} 3 0 0\n0 0 0 0\n")),
        ("m.msh", msh(&format!("$Nodes\n1 {most} 1 {most}\n3 1 0 {most}\n1\n"))),
        ("m.msh", msh(&format!("$Nodes\n{most} {most} 1 {most}\n3 1 0 0\n"))),
        ("m.veg", format!("*VERTICES\n{most} 3 0 0\n1 0 0 0\n")),
    ] {
        read(name, text.as_bytes(), &mut greedy);
    }
    greedy.print("greedy tet meshes");
    assert_eq!(greedy.read, 0);
}
