//! Reading takes memory in proportion to what is read, whatever a file claims. Alone in its file, and one test: a
//! neighbour's allocations would be counted too.

mod common;

use common::damage::{self, Random};
use common::data::{data, gltf_files};
use pliant::skin::bench_rig;
use pliant_io::Files;
use pliant_io::files::{Folder, NoFiles};
use pliant_io::gltf::{self, write_character};
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
        let beside = Beside { files, sizes: RefCell::default() };
        let before = HELD.load(Ordering::Relaxed);
        let bytes = bytes();
        let size = bytes.len();
        PEAK.store(HELD.load(Ordering::Relaxed), Ordering::Relaxed);
        let result = gltf::read(bytes, &beside);
        let peak = PEAK.load(Ordering::Relaxed) - before;
        self.read += usize::from(result.is_ok());
        drop(result);
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
    for (vertices, bones, influences) in [(200_000, 30, 4), (20_000, 200, 8)] {
        let rig = bench_rig(vertices, bones, influences).expect("a sound rig");
        let file = write_character(&rig).expect("it is written");
        drop(rig);
        dearest.read(&format!("{vertices} vertices, {bones} bones"), || file.clone(), &NoFiles);
    }
    dearest.print("large");
    assert_eq!(dearest.read, dearest.files);
}
