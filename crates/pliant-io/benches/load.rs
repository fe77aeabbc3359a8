//! Loading beside the `gltf` crate: its parse plus reading every accessor through its readers, images left undecoded
//! on both sides. Files come from `PLIANT_DATA`, else from beside the workspace; or give paths as arguments.

#[path = "../tests/common/data.rs"]
mod data;

use pliant_io::Files;
use pliant_io::files::Folder;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Best of this many: the machine's other work only ever adds time.
const RUNS: usize = 40;

fn main() {
    let given: Vec<PathBuf> =
        std::env::args().skip(1).filter(|a| !a.starts_with('-')).map(PathBuf::from).collect();
    let files = if given.is_empty() {
        data::data().map_or_else(Vec::new, |data| data::gltf_files(&data.join("gltf")))
    } else {
        given
    };
    if files.is_empty() {
        println!("no files: set PLIANT_DATA or give paths");
    }
    println!("{:<44} {:>9} {:>9} {:>6}", "file", "ours ms", "gltf ms", "ratio");
    for path in files {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let folder = Folder::of(&path);
        if let Err(error) = pliant_io::gltf::read(bytes.clone(), &folder) {
            println!("{:<44} refused: {error}", name(&path));
            continue;
        }
        // Data URIs are not decoded on their side: such a row would compare nothing.
        if read_all(&bytes, &folder) == 0 {
            println!("{:<44} left out: not read on the other side", name(&path));
            continue;
        }
        let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..RUNS {
            let copy = bytes.clone();
            ours = ours.min(milliseconds(|| drop(black_box(pliant_io::gltf::read(copy, &folder)))));
            theirs = theirs.min(milliseconds(|| {
                black_box(read_all(&bytes, &folder));
            }));
        }
        println!("{:<44} {ours:>9.3} {theirs:>9.3} {:>6.2}", name(&path), ours / theirs);
    }
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

fn milliseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

/// Parses with the `gltf` crate and collects every accessor that its readers give. The sum keeps it from being
/// optimised away.
fn read_all(bytes: &[u8], folder: &Folder) -> usize {
    let Ok(gltf::Gltf { document, blob }) = gltf::Gltf::from_slice(bytes) else { return 0 };
    let mut blob = blob;
    let buffers: Vec<Vec<u8>> = document
        .buffers()
        .map(|b| match b.source() {
            gltf::buffer::Source::Bin => blob.take().unwrap_or_default(),
            gltf::buffer::Source::Uri(uri) => folder.read(uri, u64::from(u32::MAX)).unwrap_or_default(),
        })
        .collect();
    if document.buffers().zip(&buffers).any(|(b, bytes)| bytes.len() < b.length()) {
        return 0;
    }
    let data = |buffer: gltf::Buffer<'_>| buffers.get(buffer.index()).map(Vec::as_slice);
    let mut numbers = 0;
    for primitive in document.meshes().flat_map(|m| m.primitives().collect::<Vec<_>>()) {
        let reader = primitive.reader(data);
        numbers += reader.read_positions().map_or(0, |i| black_box(i.collect::<Vec<_>>()).len());
        numbers += reader.read_normals().map_or(0, |i| black_box(i.collect::<Vec<_>>()).len());
        numbers += reader.read_tangents().map_or(0, |i| black_box(i.collect::<Vec<_>>()).len());
        numbers += reader.read_indices().map_or(0, |i| black_box(i.into_u32().collect::<Vec<_>>()).len());
        for set in 0.. {
            let mut any = false;
            if let Some(i) = reader.read_tex_coords(set) {
                numbers += black_box(i.into_f32().collect::<Vec<_>>()).len();
                any = true;
            }
            if let Some(i) = reader.read_colors(set) {
                numbers += black_box(i.into_rgba_f32().collect::<Vec<_>>()).len();
                any = true;
            }
            if let Some(i) = reader.read_joints(set) {
                numbers += black_box(i.into_u16().collect::<Vec<_>>()).len();
                any = true;
            }
            if let Some(i) = reader.read_weights(set) {
                numbers += black_box(i.into_f32().collect::<Vec<_>>()).len();
                any = true;
            }
            if !any {
                break;
            }
        }
        for (positions, normals, tangents) in reader.read_morph_targets() {
            numbers += positions.map_or(0, |i| black_box(i.collect::<Vec<_>>()).len());
            numbers += normals.map_or(0, |i| black_box(i.collect::<Vec<_>>()).len());
            numbers += tangents.map_or(0, |i| black_box(i.collect::<Vec<_>>()).len());
        }
    }
    for skin in document.skins() {
        let reader = skin.reader(data);
        numbers += reader.read_inverse_bind_matrices().map_or(0, |i| black_box(i.collect::<Vec<_>>()).len());
    }
    for channel in document.animations().flat_map(|a| a.channels().collect::<Vec<_>>()) {
        use gltf::animation::util::ReadOutputs;
        let reader = channel.reader(data);
        numbers += reader.read_inputs().map_or(0, |i| black_box(i.collect::<Vec<_>>()).len());
        numbers += match reader.read_outputs() {
            Some(ReadOutputs::Translations(i)) => black_box(i.collect::<Vec<_>>()).len(),
            Some(ReadOutputs::Rotations(i)) => black_box(i.into_f32().collect::<Vec<_>>()).len(),
            Some(ReadOutputs::Scales(i)) => black_box(i.collect::<Vec<_>>()).len(),
            Some(ReadOutputs::MorphTargetWeights(i)) => black_box(i.into_f32().collect::<Vec<_>>()).len(),
            None => 0,
        };
    }
    numbers
}
