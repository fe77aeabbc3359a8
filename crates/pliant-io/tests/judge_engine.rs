//! The engine's linear skinning against the judge: every real file, every clip, every frame, every vertex; and files
//! made to be misread.

mod judge;

use judge::data::{data, for_all, gltf_files};
use judge::hostile::{folded, hostile};
use judge::matrix::{Vec3, distance, dot};
use judge::{Judge, Primitive, diagonal, off, open_skinned};
use pliant::asset::Character;
use pliant::glam;
use pliant::method::{self, Shape};
use pliant::rig::Pose;
use pliant::simd;
use pliant_io::files::{Folder, NoFiles};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Of the body's diagonal.
const TOLERANCE: f64 = 1e-5;

/// Radians. Nearly flat skin matrices, which f32 cannot invert better, are what it leaves room for.
const NORMAL_TOLERANCE: f64 = 1e-3;

/// What one file came to.
#[derive(Default)]
struct Verdict {
    frames: usize,
    vertices: usize,
    skipped: usize,
    /// Largest distance, over the diagonal, and where.
    worst: f64,
    place: String,
    /// Largest angle between normals, in radians.
    normals: f64,
}

impl Verdict {
    fn complaint(&self) -> Option<String> {
        if self.worst > TOLERANCE {
            return Some(format!("off by {:.1e} of the diagonal at {}", self.worst, self.place));
        }
        (self.normals > NORMAL_TOLERANCE).then(|| format!("normals off by {:.1e} rad", self.normals))
    }
}

/// All moments of a file: the default pose, then each clip at 30 frames a second, its end, and a while after.
fn moments(judge: &Judge) -> Vec<(Option<usize>, f64)> {
    let mut moments = vec![(None, 0.0)];
    for (a, (_, end)) in judge.animations().iter().enumerate() {
        let last = (end * 30.0 + 1e-6).floor() as usize;
        moments.extend((0..=last).map(|i| (Some(a), i as f64 / 30.0)));
        moments.extend([(Some(a), *end), (Some(a), end + 1.0)]);
    }
    moments
}

/// The rest body's diagonal; of one that is folded away at rest, the largest it unfolds to.
fn size(judge: &Judge, rest: &[Primitive]) -> f64 {
    let unfolded = || moments(judge).iter().map(|&(a, t)| diagonal(&judge.skinned(a, t))).fold(0.0, f64::max);
    Some(diagonal(rest)).filter(|&d| d > 0.0).unwrap_or_else(unfolded)
}

fn to_f64(v: glam::Vec3) -> Vec3 {
    v.as_dvec3().to_array()
}

/// The engine's frames of `character` beside the judge's.
fn compare(judge: &Judge, character: &Character, path: simd::Path) -> Verdict {
    let rest = judge.rest();
    let size = size(judge, &rest);
    agree_on_shape(judge, character, &rest, size);

    let deformer = method::prepare_default("lbs", character, path).expect("lbs is a method");
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(character);
    let mut verdict = Verdict { vertices: shape.positions.len(), ..Verdict::default() };
    for (animation, time) in moments(judge) {
        let clip = animation.map(|a| &character.clips()[a]);
        let pose = Pose::sample(character, clip, time);
        instance.step(&pose, 1.0 / 30.0, &mut shape, &mut |_| {});
        let truth = judge.skinned(animation, time);
        verdict.frames += 1;
        verdict.skipped = 0;
        let mut vertex = 0;
        for part in &truth {
            for (v, &expected) in part.positions.iter().enumerate() {
                if part.zero_weight[v] {
                    verdict.skipped += 1;
                } else {
                    let off = off(to_f64(shape.positions[vertex]), expected, size);
                    if off > verdict.worst {
                        verdict.worst = off;
                        verdict.place = format!(
                            "vertex {v} of node {} primitive {}, clip {animation:?} at {time:.4}",
                            part.node, part.primitive
                        );
                    }
                    if let Some(normals) = &part.normals {
                        verdict.normals =
                            verdict.normals.max(angle(to_f64(shape.normals[vertex]), normals[v]));
                    }
                }
                vertex += 1;
            }
        }
    }
    verdict
}

/// Between a unit vector and a true normal, which is zero where a skin matrix is flat and leaves none.
fn angle(found: Vec3, truth: Vec3) -> f64 {
    if dot(truth, truth) == 0.0 {
        return 0.0;
    }
    let cosine = dot(found, truth) / (dot(found, found) * dot(truth, truth)).sqrt();
    if cosine.is_nan() { f64::INFINITY } else { libm::acos(cosine.clamp(-1.0, 1.0)) }
}

/// Clips, parts, triangles and the rest shape.
fn agree_on_shape(judge: &Judge, character: &Character, rest: &[Primitive], size: f64) {
    let clips: Vec<&str> = character.clips().iter().map(|c| c.name()).collect();
    assert_eq!(clips, judge.animations().iter().map(|a| a.0).collect::<Vec<_>>(), "clips");
    let counts: Vec<usize> = character.parts().iter().map(|p| p.vertices.len()).collect();
    let expected: Vec<usize> = rest.iter().map(|p| p.positions.len()).collect();
    assert_eq!(counts, expected, "vertices of every primitive of every skinned node, in order");
    let positions = character.rest_positions();
    // Where the topmost joint is folded to nothing no rest is told; the reader may choose one.
    let has_rest = diagonal(rest) > 0.0;
    for (part, truth) in character.parts().iter().zip(rest) {
        let start = part.vertices.start as usize;
        for (v, &p) in truth.positions.iter().enumerate() {
            let off = distance(to_f64(positions[start + v]), p) / size;
            assert!(
                off <= TOLERANCE || !has_rest,
                "rest: vertex {v} of node {} is off by {off:.1e}",
                truth.node
            );
        }
        let triangles =
            &character.surface().triangles()[part.triangles.start as usize..part.triangles.end as usize];
        let triangles: Vec<[usize; 3]> = triangles.iter().map(|t| t.map(|v| v as usize - start)).collect();
        assert_eq!(turned(&triangles), turned(judge.triangles(truth)), "triangles of node {}", truth.node);
    }
}

/// Triangles with the lowest vertex first: which corner starts one means nothing.
fn turned(triangles: &[[usize; 3]]) -> Vec<[usize; 3]> {
    let start = |t: &[usize; 3]| (0..3).min_by_key(|&k| t[k]).unwrap_or(0);
    triangles.iter().map(|t| std::array::from_fn(|k| t[(start(t) + k) % 3])).collect()
}

#[test]
fn real_files_at_every_frame() {
    let Some(data) = data() else { return };
    let folder = data.join("gltf");
    let mut files = gltf_files(&folder);
    // The longest first, so that no core is left with it alone at the end.
    files.sort_by_key(|f| std::cmp::Reverse(std::fs::metadata(f).map_or(0, |m| m.len())));
    let complaints = Mutex::new(Vec::new());
    let judged = AtomicUsize::new(0);
    for_all(&files, |path| {
        let name = path.strip_prefix(&folder).unwrap_or(path).display();
        let judge = match open_skinned(path) {
            Ok(Some(judge)) => judge,
            Ok(None) => return println!("{name}: compressed, or without a skin"),
            Err(why) => {
                return complaints.lock().expect("no thread panicked").push(format!("{name}: {why}"));
            }
        };
        let verdict = std::panic::catch_unwind(|| {
            let bytes = std::fs::read(path).expect("it is there");
            let read = pliant_io::gltf::read(bytes, &Folder::of(path)).expect("a valid file is read");
            compare(&judge, &read.character, simd::Path::best())
        });
        match verdict {
            Ok(v) => {
                judged.fetch_add(1, Ordering::Relaxed);
                println!(
                    "{name}: {} frames of {} vertices ({} without weight), off by {:.1e} of the diagonal, normals {:.1e} rad",
                    v.frames, v.vertices, v.skipped, v.worst, v.normals
                );
                if let Some(complaint) = v.complaint() {
                    complaints.lock().expect("no thread panicked").push(format!("{name}: {complaint}"));
                }
            }
            Err(why) => {
                let why = why.downcast_ref::<String>().cloned().unwrap_or_default();
                complaints.lock().expect("no thread panicked").push(format!("{name}: {why}"));
            }
        }
    });
    let complaints = complaints.into_inner().expect("no thread panicked");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(judged.into_inner() > 25, "most files of the set have a skin");
}

fn judge_hostile(name: &str, bytes: Vec<u8>, may_refuse: Option<&str>) {
    let judge = Judge::parse(&bytes, Path::new(".")).expect("hostile, but valid");
    let read = match pliant_io::gltf::read(bytes, &NoFiles) {
        Ok(read) => read,
        Err(why) if may_refuse.is_some_and(|reason| why.to_string().contains(reason)) => return,
        Err(why) => panic!("{name}: {why}"),
    };
    for path in simd::Path::available() {
        let v = compare(&judge, &read.character, path);
        println!("{name} {path}: off by {:.1e} of the diagonal, normals {:.1e} rad", v.worst, v.normals);
        assert_eq!(v.complaint(), None, "{name}, {path}");
    }
}

#[test]
fn hostile_files_by_every_path() {
    (0..24).for_each(|seed| judge_hostile(&format!("hostile {seed}"), hostile(seed), None));
}

#[test]
fn characters_folded_away_at_rest() {
    // Deformed rightly, or refused for that very reason.
    let refusal = Some("no rest shape");
    (0..8).for_each(|seed| judge_hostile(&format!("folded {seed}"), folded(seed), refusal));
}

/// A clip ends with its last key, also where that key moves nothing of the skin: what is rigid plays on.
#[test]
fn clips_end_with_their_last_key() {
    for seed in 0..4 {
        let bytes = hostile(seed);
        let judge = Judge::parse(&bytes, Path::new(".")).expect("hostile, but valid");
        let read = pliant_io::gltf::read(bytes, &NoFiles).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let ends: Vec<(&str, f64)> = read.character.clips().iter().map(|c| (c.name(), c.end())).collect();
        assert_eq!(ends, judge.animations(), "seed {seed}");
    }
}
