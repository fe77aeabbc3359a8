//! BVH files: poses equal those of forward kinematics written apart from the reader, and files as people write them.

mod text_data;

use pliant::asset::{Character, Target, Weld};
use pliant::glam::{DMat4, DVec3};
use pliant::rig::Pose;
use pliant_io::bvh::{Bvh, read, stick_character};
use proptest::prelude::*;
use text_data::data::{data, files_below};
use text_data::{Random, broken};

/// A reader for well-formed files only, of words, and kinematics in matrices: shares nothing with the crate's.
struct Judge {
    joints: Vec<JudgeJoint>,
    frames: Vec<Vec<f64>>,
    frame_time: f64,
    /// Whether positions below the root are added to the offset.
    relative: bool,
}

struct JudgeJoint {
    parent: Option<usize>,
    offset: [f64; 3],
    channels: Vec<String>,
}

impl Judge {
    fn new(text: &str, relative: bool) -> Self {
        let (head, motion) = text.split_once("MOTION").unwrap();
        // Names may hold blanks, so the hierarchy goes by lines.
        let mut joints: Vec<JudgeJoint> = Vec::new();
        let mut stack: Vec<Option<usize>> = Vec::new();
        for line in head.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.first().copied() {
                Some("ROOT" | "JOINT") => {
                    let parent = stack.iter().rev().find_map(|s| *s);
                    stack.push(Some(joints.len()));
                    joints.push(JudgeJoint { parent, offset: [0.0; 3], channels: Vec::new() });
                }
                Some("End") => stack.push(None),
                Some("}") => drop(stack.pop()),
                Some("OFFSET") => {
                    if let Some(Some(joint)) = stack.last() {
                        joints[*joint].offset = [1, 2, 3].map(|i| words[i].parse().unwrap());
                    }
                }
                Some("CHANNELS") => {
                    let joint = stack.last().unwrap().unwrap();
                    joints[joint].channels = words[2..].iter().map(|w| w.to_lowercase()).collect();
                }
                _ => {}
            }
        }
        let after = |what: &str| motion.split_once(what).unwrap().1.split_whitespace().next().unwrap();
        let frame_time = after("Frame Time:").parse().unwrap();
        let rest = motion.split_once("Frame Time:").unwrap().1.split_once('\n').unwrap().1;
        let frames = rest
            .lines()
            .map(|l| l.split_whitespace().map(|w| w.parse().unwrap()).collect::<Vec<f64>>())
            .filter(|f| !f.is_empty())
            .collect();
        Self { joints, frames, frame_time, relative }
    }

    /// World matrices of all joints in a frame.
    fn pose(&self, frame: usize) -> Vec<DMat4> {
        let mut numbers = self.frames[frame].iter().copied();
        let mut world: Vec<DMat4> = Vec::new();
        for joint in &self.joints {
            let mut at = joint.offset;
            let mut turn = DMat4::IDENTITY;
            for channel in &joint.channels {
                let value = numbers.next().unwrap();
                let axis = (channel.as_bytes()[0] - b'x') as usize;
                if channel.ends_with("position") {
                    let base = if self.relative && joint.parent.is_some() { joint.offset[axis] } else { 0.0 };
                    at[axis] = base + value;
                } else {
                    turn *= rotation(axis, value);
                }
            }
            let local = DMat4::from_translation(DVec3::from_array(at)) * turn;
            world.push(joint.parent.map_or(DMat4::IDENTITY, |p| world[p]) * local);
        }
        assert_eq!(numbers.next(), None);
        world
    }
}

/// A turn about a coordinate axis, by its definition: the two other axes mix.
fn rotation(axis: usize, degrees: f64) -> DMat4 {
    let (s, c) = libm::sincos(degrees * std::f64::consts::PI / 180.0);
    let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut m = DMat4::IDENTITY.to_cols_array_2d();
    m[j][j] = c;
    m[k][k] = c;
    m[j][k] = s;
    m[k][j] = -s;
    DMat4::from_cols_array_2d(&m)
}

/// Keys are f32: a turn is kept to about 1e-7 rad, and a chain of joints adds those up.
const TOLERANCE: f64 = 5e-7;

/// Largest difference of any joint's matrix over the clip, against the skeleton's size and its way from the origin.
fn worst_difference(bvh: &Bvh, character: &Character, judge: &Judge) -> f64 {
    let clip = bvh.clip.as_ref().unwrap();
    let size = pliant::rig::weights::rest_size(&[], &bvh.skeleton);
    let mut pose = Pose::default();
    let mut worst = 0.0f64;
    for frame in 0..judge.frames.len() {
        pose.resample(character, Some(clip), frame as f64 * judge.frame_time);
        for (found, expected) in pose.world_from_joint.iter().zip(judge.pose(frame)) {
            let scale = size + expected.w_axis.truncate().length();
            worst = worst.max((found.translation - expected.w_axis.truncate()).length() / scale);
            for (a, b) in [
                (found.matrix3.x_axis, expected.x_axis),
                (found.matrix3.y_axis, expected.y_axis),
                (found.matrix3.z_axis, expected.z_axis),
            ] {
                worst = worst.max((a - b.truncate()).length());
            }
        }
    }
    worst
}

fn warned(bvh: &Bvh, what: &str) -> bool {
    bvh.warnings.iter().any(|w| w.what.contains(what))
}

#[test]
fn every_shared_motion_equals_kinematics_written_apart() {
    let Some(data) = data() else { return };
    let mut seen = 0;
    for path in files_below(&data.join("bvh"), &["bvh"]) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let bvh = read(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        let relative = matches!(name.as_str(), "makehuman_tpose.bvh" | "makehuman_benchmark.bvh");
        assert_eq!(warned(&bvh, "shifts from the offset"), relative, "{name}: {:?}", bvh.warnings);
        let judge = Judge::new(&String::from_utf8_lossy(&bytes), relative);
        let rigged = stick_character(bvh.clone()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let worst = worst_difference(&bvh, &rigged.character, &judge);
        println!("{name}: {worst:.1e}");
        assert!(worst < TOLERANCE, "{name}: {worst}");
        assert_eq!(bvh.frames, judge.frames.len(), "{name}");
        assert_eq!(bvh.frame_time, judge.frame_time, "{name}");
        seen += 1;
    }
    assert!(seen >= 20, "{seen} files");
}

/// Where only roots have position channels bones are stiff: lengths never change.
#[test]
fn bones_keep_their_lengths() {
    let Some(data) = data() else { return };
    let mut stiff = 0;
    for path in files_below(&data.join("bvh"), &["bvh"]) {
        let bvh = read(&std::fs::read(&path).unwrap()).unwrap();
        let clip = bvh.clip.clone().unwrap();
        let joints = bvh.skeleton.joints().to_vec();
        let moves = |t: Target| matches!(t, Target::Translation(j) if joints[j as usize].parent.is_some());
        if clip.channels().iter().any(|c| moves(c.target)) {
            continue;
        }
        stiff += 1;
        let character = stick_character(bvh).unwrap().character;
        let size = character.diagonal();
        for frame in 0..=(clip.end() * 30.0) as usize {
            // Times that fall between keys too.
            let pose = Pose::sample(&character, Some(&clip), frame as f64 / 30.0);
            for (index, joint) in joints.iter().enumerate() {
                let Some(parent) = joint.parent else { continue };
                let at = |j: usize| pose.world_from_joint[j].translation;
                let length = at(index).distance(at(parent as usize));
                let rest = joint.local.to_affine().translation.length();
                assert!((length - rest).abs() < 1e-9 * size, "{}: {length} {rest}", path.display());
            }
        }
    }
    assert!(stiff >= 18, "{stiff}");
}

/// Why positions below the root are added to the offset in MakeHuman's poses: so read, no bone is stretched; read as
/// places they would draw every joint into its parent.
#[test]
fn shifts_from_the_offset_leave_bones_as_long_as_they_are() {
    let Some(data) = data() else { return };
    for file in ["makehuman_tpose", "makehuman_benchmark"] {
        let bvh = read(&std::fs::read(data.join(format!("bvh/{file}.bvh"))).unwrap()).unwrap();
        let (clip, joints) = (bvh.clip.clone(), bvh.skeleton.joints().to_vec());
        let character = stick_character(bvh).unwrap().character;
        let pose = Pose::sample(&character, clip.as_ref(), 0.0);
        for (index, joint) in joints.iter().enumerate() {
            let Some(parent) = joint.parent else { continue };
            let at = |j: usize| pose.world_from_joint[j].translation;
            let rest = joint.local.to_affine().translation.length();
            let length = at(index).distance(at(parent as usize));
            assert!(
                (length - rest).abs() < 1e-3 * character.diagonal(),
                "{file} {}: {length} {rest}",
                joint.name
            );
        }
    }
}

#[test]
fn summaries_agree_with_what_is_known_of_the_shared_motions() {
    let Some(data) = data() else { return };
    for (file, joints, ends, channels, frames, frame_time) in [
        ("cmu_02_01", 31, 7, 96, 344, 0.0083333),
        ("makehuman_tpose", 173, 49, 951, 1, 0.041667),
        ("makehuman_walk1", 75, 16, 228, 14, 0.041667),
        ("rokoko_jesse_dance", 60, 13, 183, 1007, 0.01),
        ("test_freebvh", 55, 15, 168, 69, 0.0333333),
        ("pybvh_full_precision_frame_time", 2, 1, 9, 3, 0.0417083750417),
        ("bvh_anim_test_simple", 2, 1, 9, 2, 0.033333333),
    ] {
        let bvh = read(&std::fs::read(data.join(format!("bvh/{file}.bvh"))).unwrap()).unwrap();
        let s = bvh.summary();
        assert_eq!((s.joints, s.end_sites, s.channels, s.frames), (joints, ends, channels, frames), "{file}");
        assert_eq!((s.roots, s.frame_time), (1, frame_time), "{file}");
        assert!((s.seconds - (frames - 1) as f64 * frame_time).abs() < 1e-9, "{file}");
        assert!((s.fps.unwrap() * frame_time - 1.0).abs() < 1e-12, "{file}");
    }
}

#[test]
fn rotations_of_neighbouring_frames_are_on_one_side() {
    let Some(data) = data() else { return };
    for path in files_below(&data.join("bvh"), &["bvh"]) {
        let clip = read(&std::fs::read(&path).unwrap()).unwrap().clip.unwrap();
        for channel in clip.channels().iter().filter(|c| matches!(c.target, Target::Rotation(_))) {
            let keys: Vec<&[f32]> = channel.track.values().chunks(4).collect();
            for pair in keys.windows(2) {
                let dot: f32 = pair[0].iter().zip(pair[1]).map(|(a, b)| a * b).sum();
                assert!(dot >= -1e-6, "{}", path.display());
            }
        }
    }
}

const SMALL: &str = "HIERARCHY\nROOT Hips\n{\n\tOFFSET 1 2 3\n\tCHANNELS 6 Xposition Yposition Zposition Zrotation \
    Xrotation Yrotation\n\tJOINT Spine\n\t{\n\t\tOFFSET 0 10 0\n\t\tCHANNELS 3 Zrotation Xrotation Yrotation\n\
    \t\tEnd Site\n\t\t{\n\t\t\tOFFSET 0 5 0\n\t\t}\n\t}\n}\nMOTION\nFrames: 2\nFrame Time: 0.04\n\
    1 2 3 10 20 30 40 50 60\n2 3 4 11 21 31 41 51 61\n";

#[test]
fn one_motion_in_many_spellings() {
    let small = read(SMALL.as_bytes()).unwrap();
    assert!(small.warnings.is_empty(), "{:?}", small.warnings);
    let character = stick_character(small.clone()).unwrap().character;
    let worst = worst_difference(&small, &character, &Judge::new(SMALL, false));
    assert!(worst < TOLERANCE, "{worst}");
    for text in [
        SMALL.replace('\n', "\r\n"),
        SMALL.replace('\n', "\r"),
        SMALL.replace('\t', "    "),
        SMALL.to_lowercase().replace("hips", "Hips").replace("spine", "Spine"),
        SMALL.to_uppercase().replace("HIPS", "Hips").replace("SPINE", "Spine"),
        SMALL.replace("\n{", " {").replace("\n\t{", "{").replace("\n\t\t{", " {"),
        SMALL.trim_end().to_string(),
        format!("\u{feff}\n\n{SMALL}\n\n  \n"),
        SMALL.replace("Frames: 2", "Frames:2").replace("Frame Time: 0.04", "Frame Time:\t4e-2"),
        SMALL.replace("30 40", "30\n40"),
        SMALL.replace("End Site", "End Site of the spine"),
        SMALL.replace("ROOT Hips", "ROOT   Hips  \t"),
    ] {
        assert_eq!(read(text.as_bytes()).as_ref(), Ok(&small), "{text}");
    }
    let named = read(SMALL.replace("Spine", "mixamorig:Left Up Leg").as_bytes()).unwrap();
    assert_eq!(named.skeleton.joints()[1].name, "mixamorig:Left Up Leg");
}

#[test]
fn odd_motions_load_with_a_warning() {
    let load = |text: String| read(text.as_bytes()).unwrap_or_else(|e| panic!("{e}: {text}"));
    for count in ["1", "3", "99999999999999", "99999999999999999999", "-7", "0.5"] {
        let bvh = load(SMALL.replace("Frames: 2", &format!("Frames: {count}")));
        assert!(warned(&bvh, "\"Frames:\" says") && bvh.frames == 2, "{:?}", bvh.warnings);
    }
    let cut = load(SMALL.replace(" 61\n", "\n"));
    assert!(warned(&cut, "last frame") && cut.frames == 1);
    let still = load(SMALL.split_once("MOTION").unwrap().0.to_string());
    assert!(warned(&still, "no MOTION") && still.clip.is_none());
    for (time, rate) in
        [("0", 30.0), ("1e-300", 30.0), ("9e-6", 30.0), ("1.1e-5", 1.0 / 1.1e-5), ("1e9", 30.0)]
    {
        let bvh = load(SMALL.replace("Frame Time: 0.04", &format!("Frame Time: {time}")));
        assert_eq!(warned(&bvh, "assumed"), rate == 30.0, "{time}: {:?}", bvh.warnings);
        let found = bvh.clip.unwrap().frame_rate().unwrap();
        assert!((found / rate - 1.0).abs() < 1e-6, "{time}: {found}");
    }
    let none = load(SMALL.split_once("1 2 3 10").unwrap().0.to_string());
    assert!(warned(&none, "no frames") && none.clip.is_none() && none.summary().seconds == 0.0);
    let two = load(SMALL.replace("MOTION", "ROOT Other\n{\nOFFSET 0 0 0\nCHANNELS 0\n}\nMOTION"));
    assert_eq!((two.summary().roots, two.summary().joints), (2, 3));
}

#[test]
fn unusable_motions_are_refused_with_the_line() {
    for (from, to, line, what) in [
        ("HIERARCHY", "solid cube", 1, "HIERARCHY is expected"),
        ("OFFSET 0 10 0", "OFFSET 0 nan 0", 8, "not a finite"),
        ("OFFSET 0 10 0", "OFFSET 0 10", 9, "not a number"),
        ("Zrotation Xrotation Yrotation\n\t\tEnd", "Zrotation Wrotation Yrotation\n\t\tEnd", 9, "Wrotation"),
        ("CHANNELS 6", "CHANNELS 7", 6, "JOINT"),
        ("CHANNELS 6", "CHANNELS 600000000", 5, "cannot have"),
        ("CHANNELS 6", "CHANNELS -1", 5, "cannot have"),
        ("Yposition", "Xposition", 5, "twice"),
        ("Frame Time: 0.04", "Frame Time: inf", 18, "not a finite"),
        ("Frame Time: 0.04", "Frame Time: -1", 18, "negative"),
        ("Frame Time: 0.04", "", 19, "Frame Time"),
        ("2 3 4 11", "2 3 nan 11", 20, "not a finite"),
        ("2 3 4 11", "2 3 4 5 11", 20, "more than the 9"),
        ("2 3 4 11", "2 3 1e200 11", 20, "too large"),
        ("ROOT", "JOINT", 2, "between joints"),
    ] {
        let error = read(SMALL.replacen(from, to, 1).as_bytes()).expect_err(to).to_string();
        assert!(error.starts_with(&format!("line {line}: ")) && error.contains(what), "{to}: {error}");
    }
    let open = read(SMALL.split_once("End Site").unwrap().0.as_bytes()).unwrap_err().to_string();
    assert!(open.contains("joint of line 6"), "{open}");
    assert!(read(b"").is_err() && read(b"HIERARCHY").is_err() && read(b"HIERARCHY MOTION").is_err());
}

#[test]
fn joints_may_nest_as_deep_as_the_file_is_long() {
    let deep = 30_000;
    let mut text = "HIERARCHY ROOT a{OFFSET 0 0 0 CHANNELS 0\n".to_string();
    text.push_str(&"JOINT b\n{OFFSET 0 1 0 CHANNELS 0\n".repeat(deep));
    text.push_str(&"}".repeat(deep + 1));
    let started = std::time::Instant::now();
    let rigged = stick_character(read(text.as_bytes()).unwrap()).unwrap();
    assert_eq!(rigged.character.skeleton().len(), deep + 1);
    assert!(rigged.character.surface().positions().len() < 16 * (deep + 1));
    let many = "HIERARCHY ".to_string() + &"ROOT a\n{OFFSET 0 0 0}".repeat(70_000);
    assert!(read(many.as_bytes()).unwrap_err().to_string().contains("more than 65536"));
    assert!(started.elapsed().as_secs() < 10);
}

/// Six times the volume that closed triangles hold.
fn volume(character: &Character) -> f64 {
    let p = |v: u32| character.surface().positions()[v as usize].as_dvec3();
    character.surface().triangles().iter().map(|&[a, b, c]| p(a).dot(p(b).cross(p(c)))).sum()
}

#[test]
fn stick_bodies_are_closed_and_follow_their_joints() {
    let mut texts = vec![SMALL.to_string(), "HIERARCHY ROOT lone\n{ OFFSET 1 2 3 }".to_string()];
    if let Some(data) = data() {
        for path in files_below(&data.join("bvh"), &["bvh"]) {
            texts.push(String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
        }
    }
    for text in texts {
        let bvh = read(text.as_bytes()).unwrap();
        let bones: Vec<_> = bvh.skeleton.bones();
        let character = stick_character(bvh).unwrap().character;
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for &[a, b, c] in character.surface().triangles() {
            edges.extend([(a, b), (b, c), (c, a)]);
        }
        edges.sort_unstable();
        // Closed and oriented: each edge once each way; and outwards, so the volume is positive.
        assert!(edges.windows(2).all(|w| w[0] != w[1]));
        assert!(edges.iter().all(|&(a, b)| edges.binary_search(&(b, a)).is_ok()));
        assert!(volume(&character) > 0.0);
        assert_eq!(Weld::new(&character).triangles.len(), character.surface().triangles().len());
        // Every vertex near the bone that moves it.
        let size = character.diagonal();
        for (v, p) in character.surface().positions().iter().enumerate() {
            let (slot, weight) = character.weights().of(v).next().unwrap();
            assert_eq!(weight, 1.0);
            let p = p.as_dvec3();
            let near = bones.iter().filter(|b| b.joint == u32::from(slot)).any(|b| {
                let way = b.end - b.start;
                let t = ((p - b.start).dot(way) / way.length_squared().max(1e-300)).clamp(0.0, 1.0);
                (b.start + way * t).distance(p) <= 0.04 * size.max(1.0)
            });
            assert!(near);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Channels may be declared in any order: the same numbers under the same names give the same pose, as long as
    /// rotations keep their order among themselves.
    #[test]
    fn the_place_of_position_channels_does_not_matter(
        slots in proptest::sample::subsequence(vec![0usize, 1, 2, 3, 4, 5], 3),
        positions in proptest::array::uniform3(-9.0f64..9.0),
        angles in proptest::array::uniform3(-180.0f64..180.0),
        order in Just(["X", "Y", "Z"]).prop_shuffle(),
        turns in Just(["Z", "X", "Y"]).prop_shuffle(),
    ) {
        let write = |mixed: bool| {
            let (mut names, mut numbers) = (Vec::new(), Vec::new());
            let (mut moved, mut turned) = (0..3, 0..3);
            for place in 0..6 {
                if if mixed { slots.contains(&place) } else { place < 3 } {
                    let i = moved.next().unwrap();
                    let axis = if mixed { order[i] } else { ["X", "Y", "Z"][i] };
                    names.push(format!("{axis}position"));
                    numbers.push(positions["XYZ".find(axis).unwrap()].to_string());
                } else {
                    let i = turned.next().unwrap();
                    names.push(format!("{}rotation", turns[i]));
                    numbers.push(angles[i].to_string());
                }
            }
            format!(
                "HIERARCHY\nROOT a\n{{\nOFFSET 1 1 1\nCHANNELS 6 {}\nJOINT b\n{{\nOFFSET 0 1 0\n}}\n}}\n\
                 MOTION\nFrames: 1\nFrame Time: 1\n{}\n", names.join(" "), numbers.join(" "))
        };
        let (plain, mixed) = (write(false), write(true));
        let [a, b] = [&plain, &mixed].map(|text| read(text.as_bytes()).unwrap());
        prop_assert_eq!(&a, &b);
        let character = stick_character(b.clone()).unwrap().character;
        prop_assert!(worst_difference(&b, &character, &Judge::new(&mixed, false)) < TOLERANCE);
    }
}

#[test]
fn broken_copies_never_panic() {
    let mut samples = vec![SMALL.as_bytes().to_vec()];
    if let Some(data) = data() {
        let small = files_below(&data.join("bvh"), &["bvh"])
            .into_iter()
            .filter(|p| p.metadata().unwrap().len() < 50_000);
        samples.extend(small.map(|p| std::fs::read(p).unwrap()));
    }
    let mut random = Random(11);
    let (mut read_ok, mut refused) = (0, 0);
    for round in 0..3000 {
        // The small one as often as all others together: more of it is syntax.
        let sample = if round % 2 == 0 { 0 } else { round / 2 % samples.len() };
        match read(&broken(&samples[sample], &mut random)) {
            Ok(bvh) => {
                read_ok += 1;
                let clip = bvh.clip.clone();
                let character = stick_character(bvh).unwrap().character;
                let pose = Pose::sample(&character, clip.as_ref(), 0.01);
                assert!(pose.world_from_joint.iter().all(|m| m.is_finite()));
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(read_ok > 100 && refused > 100, "{read_ok} read, {refused} refused");
}
