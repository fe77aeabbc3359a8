//! Recorded motion onto other skeletons: what must be the same afterwards, and what must follow the body.

use pliant::asset::{
    Channel, Character, Clip, Joint, Local, Part, RawCharacter, Skeleton, Surface, Target, Track, Weights,
};
use pliant::glam::{DAffine3, DQuat, DVec3, Vec3};
use pliant::rig::retarget::{Humanoid, Mapping, Named, Retargeted, Role, Side, retarget};
use pliant::rig::{Motion, Playback, Pose, weights};
use pliant::zoo;

const RATE: f64 = 30.0;

fn human() -> Character {
    zoo::character("human", Some(2000)).unwrap()
}

/// A skeleton without rotations at rest.
fn skeleton(joints: &[(String, Option<u32>, DVec3, Vec<DVec3>)]) -> Skeleton {
    let joint = |(name, parent, at, tails): &(String, Option<u32>, DVec3, Vec<DVec3>)| Joint {
        name: name.clone(),
        parent: *parent,
        local: Local::offset(*at - parent.map_or(DVec3::ZERO, |p| joints[p as usize].2)),
        world_from_rest: DAffine3::from_translation(*at),
        deforms: true,
        tails: tails.clone(),
    };
    Skeleton::new(joints.iter().map(joint).collect()).unwrap()
}

/// The joints of a character, to be changed.
fn parts(skeleton: &Skeleton) -> Vec<(String, Option<u32>, DVec3, Vec<DVec3>)> {
    let joints = skeleton.joints().iter();
    joints.map(|j| (j.name.clone(), j.parent, j.world_from_rest.translation, j.tails.clone())).collect()
}

fn moved(skeleton_: &Skeleton, place: impl Fn(DVec3) -> DVec3) -> Skeleton {
    let mut all = parts(skeleton_);
    let origin = place(DVec3::ZERO);
    for (_, _, at, tails) in &mut all {
        *at = place(*at);
        tails.iter_mut().for_each(|t| *t = place(*t) - origin);
    }
    skeleton(&all)
}

/// A character of nothing but joints and a triangle on the first.
fn bare(skeleton: Skeleton) -> Character {
    let at = skeleton.rest_position(0).as_vec3();
    let positions = vec![at, at + Vec3::X * 0.01, at + Vec3::Y * 0.01];
    let slots = weights::slots(&skeleton);
    let part = Part {
        name: String::new(),
        mesh: 0,
        vertices: 0..3,
        triangles: 0..1,
        has_normals: false,
        color: [0.5; 3],
    };
    Character::new(RawCharacter {
        weights: Weights::new(&vec![vec![(0, 1.0)]; 3], slots.len()).unwrap(),
        surface: Surface::new(positions, None, vec![[0, 1, 2]]).unwrap(),
        skeleton,
        parts: vec![part],
        slots,
        morphs: vec![],
        clips: vec![],
        paint: vec![],
    })
    .unwrap()
}

fn on(from: &Skeleton, clip: &Clip, character: &Character) -> (Retargeted, Mapping) {
    let (own, to) = (Named::new(from), Named::new(character.skeleton()));
    let mapping = Mapping::find(&own, &to, &[]);
    (retarget(&own, clip, character, &mapping).unwrap(), mapping)
}

fn poses(character: &Character, clip: &Clip) -> Vec<Vec<DAffine3>> {
    let frames = (clip.end() * RATE + 1e-6) as usize + 1;
    let motion = Playback::once(character, Some(clip));
    let mut pose = Pose::default();
    let mut all = Vec::new();
    for frame in 0..frames {
        motion.pose(frame as f64 / RATE, &mut pose);
        all.push(pose.world_from_joint.clone());
    }
    all
}

/// A clip of a skeleton without rotations at rest, as one of a skeleton that is placed by a similarity: rotations turned
/// with it, the root's places mapped.
fn placed(clip: &Clip, turn: DQuat, place: impl Fn(DVec3) -> DVec3) -> Clip {
    let f32s = |v: &[f64]| v.iter().map(|&c| c as f32).collect::<Vec<f32>>();
    let frames = (clip.end() * RATE + 1e-6) as usize + 1;
    let mut channels = Vec::new();
    for channel in clip.channels() {
        let mut keys = Vec::new();
        for frame in 0..frames {
            let time = frame as f64 / RATE;
            match channel.target {
                Target::Rotation(_) => {
                    let q = turn * channel.track.sample_rotation(time) * turn.inverse();
                    keys.extend(f32s(&q.to_array()));
                }
                _ => keys.extend(f32s(&place(channel.track.sample_vector(time)).to_array())),
            }
        }
        let width = channel.track.width();
        channels.push(Channel { target: channel.target, track: Track::recorded(width, RATE, keys).unwrap() });
    }
    Clip::recorded(clip.name().into(), channels, frames, RATE).unwrap()
}

/// A recording such as CMU's: other units, hips at the origin at rest, with the floor at 0 in the motion.
fn recording(clip: &str) -> (Skeleton, Clip) {
    let human = human();
    let hips = human.skeleton().rest_position(0);
    let clip = human.clips().iter().find(|c| c.name() == clip).unwrap();
    let scale = 20.0;
    let from = moved(human.skeleton(), |p| (p - hips) * scale);
    (from, placed(clip, DQuat::IDENTITY, |p| p * scale))
}

fn assert_near(a: &[Vec<DAffine3>], b: &[Vec<DAffine3>], tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (frame, (a, b)) in a.iter().zip(b).enumerate() {
        for (joint, (a, b)) in a.iter().zip(b).enumerate() {
            assert!(a.abs_diff_eq(*b, tolerance), "{what}: frame {frame}, joint {joint}: {a} against {b}");
        }
    }
}

#[test]
fn an_identical_skeleton_gets_the_very_same_motion() {
    for name in ["human", "chubby", "torso", "horse", "octopus"] {
        let character = zoo::character(name, Some(2000)).unwrap();
        for clip in character.clips() {
            let (done, mapping) = on(character.skeleton(), clip, &character);
            assert_eq!(mapping.links.len(), character.skeleton().len(), "{name}");
            assert!(done.unused.is_empty() && (done.scale - 1.0).abs() < 1e-12);
            let clip_name = clip.name();
            let (was, is) = (poses(&character, clip), poses(&character, &done.clip));
            assert_near(&was[done.skipped..], &is, 2e-5, &format!("{clip_name} of {name}"));
        }
    }
}

#[test]
fn a_body_that_is_turned_and_scaled_moves_turned_and_scaled() {
    let human = human();
    let (from, clip) = recording("kick");
    let base = bare(moved(human.skeleton(), |p| p));
    let was = poses(&base, &on(&from, &clip, &base).0.clip);
    for (turn, scale) in [
        (DQuat::from_rotation_y(0.65), 1.0),
        (DQuat::from_rotation_y(3.1), 0.01),
        (DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2), 100.0),
    ] {
        let other = bare(moved(human.skeleton(), |p| turn * p * scale));
        let (done, _) = on(&from, &clip, &other);
        for (was, is) in was.iter().zip(poses(&other, &done.clip)) {
            for (a, b) in was.iter().zip(&is) {
                let off = (turn * a.translation * scale).distance(b.translation);
                assert!(off < 1e-4 * scale, "{turn} {scale}: {off}");
            }
        }
    }
}

#[test]
fn a_recording_of_any_up_and_unit_is_the_same_motion() {
    let human = human();
    let (from, clip) = recording("walk");
    let was = poses(&human, &on(&from, &clip, &human).0.clip);
    // Z-up files that face against Y, in inches.
    let (turn, scale) = (DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2), 39.37);
    let z_up = moved(&from, |p| turn * p * scale);
    let is = poses(&human, &on(&z_up, &placed(&clip, turn, |p| turn * p * scale), &human).0.clip);
    assert_near(&was, &is, 1e-4, "Z up");
    // A root that turns a lying rest pose up in every frame.
    let lying = moved(&from, |p| turn * p);
    let up = |c: &Channel| {
        let mut keys = Vec::new();
        for frame in 0..c.track.times().len() {
            let q = c.track.sample_rotation(frame as f64 / RATE);
            let q = match c.target {
                Target::Rotation(0) => q * turn.inverse(),
                Target::Rotation(_) => turn * q * turn.inverse(),
                _ => return c.clone(),
            };
            keys.extend(q.to_array().map(|c| c as f32));
        }
        Channel { target: c.target, track: Track::recorded(4, RATE, keys).unwrap() }
    };
    let frames = clip.channels()[0].track.times().len();
    let channels = clip.channels().iter().map(up).collect();
    let risen = Clip::recorded(String::new(), channels, frames, RATE).unwrap();
    let is = poses(&human, &on(&lying, &risen, &human).0.clip);
    assert_near(&was, &is, 1e-4, "lying at rest");
}

/// The joint that is the mirror image of another.
fn twin(skeleton: &Skeleton, joint: usize) -> usize {
    let name = &skeleton.joints()[joint].name;
    let other = match name.strip_prefix("Left") {
        Some(rest) => format!("Right{rest}"),
        None => name.strip_prefix("Right").map_or(name.clone(), |rest| format!("Left{rest}")),
    };
    skeleton.joints().iter().position(|j| j.name == other).unwrap()
}

#[test]
fn a_mirrored_recording_moves_a_body_mirrored() {
    let human = bare(moved(human().skeleton(), |p| p));
    let (from, clip) = recording("kick");
    let mirrored = clip.channels().iter().map(|c| {
        let other = |j: u32| twin(&from, j as usize) as u32;
        let (target, signs): (_, &[f32]) = match c.target {
            Target::Rotation(j) => (Target::Rotation(other(j)), &[1.0, -1.0, -1.0, 1.0]),
            Target::Translation(j) => (Target::Translation(other(j)), &[-1.0, 1.0, 1.0]),
            other => (other, &[1.0]),
        };
        let keys = c.track.values().iter().enumerate().map(|(k, v)| v * signs[k % signs.len()]).collect();
        Channel { target, track: Track::recorded(c.track.width(), RATE, keys).unwrap() }
    });
    let frames = clip.channels()[0].track.times().len();
    let mirrored = Clip::recorded(String::new(), mirrored.collect(), frames, RATE).unwrap();
    let was = poses(&human, &on(&from, &clip, &human).0.clip);
    let is = poses(&human, &on(&from, &mirrored, &human).0.clip);
    for (was, is) in was.iter().zip(&is) {
        for (joint, a) in was.iter().enumerate() {
            let b = is[twin(human.skeleton(), joint)].translation;
            let off = (a.translation * DVec3::new(-1.0, 1.0, 1.0)).distance(b);
            assert!(off < 1e-4, "joint {joint}: {off}");
        }
    }
}

/// The human with its arms turned about the shoulders, at rest.
fn arms_at(human: &Skeleton, degrees: f64) -> Skeleton {
    let mut all = parts(human);
    let find = |name: &str| human.joints().iter().position(|j| j.name == name).unwrap();
    for (side, sign) in [("Left", 1.0), ("Right", -1.0)] {
        let shoulder = find(&format!("{side}UpperArm"));
        let pivot = all[shoulder].2;
        let turn = DQuat::from_rotation_z(sign * degrees.to_radians());
        for j in 0..all.len() {
            let mut above = Some(j as u32);
            while above.is_some_and(|a| a as usize != shoulder) {
                above = human.joints()[above.unwrap() as usize].parent;
            }
            if above.is_some() {
                all[j].2 = pivot + turn * (all[j].2 - pivot);
                all[j].3.iter_mut().for_each(|t| *t = turn * *t);
            }
        }
    }
    skeleton(&all)
}

#[test]
fn limbs_point_where_they_did_whatever_the_rest_poses() {
    let human = human();
    let (from, clip) = recording("wave");
    let body = Humanoid::find(human.skeleton(), &Named::new(human.skeleton()).names).unwrap();
    let source = poses(&bare(moved(&from, |p| p)), &clip);
    for degrees in [-45.0, 0.0, 40.0, 80.0] {
        let character = bare(arms_at(human.skeleton(), degrees));
        let is = poses(&character, &on(&from, &clip, &character).0.clip);
        for (was, is) in source.iter().zip(&is) {
            for side in [Side::Left, Side::Right] {
                for [a, b] in [
                    [Role::UpperArm(side), Role::LowerArm(side)],
                    [Role::LowerArm(side), Role::Hand(side)],
                    [Role::UpperLeg(side), Role::LowerLeg(side)],
                    [Role::LowerLeg(side), Role::Foot(side)],
                ] {
                    let [a, b] = [a, b].map(|role| body.joint(role).unwrap() as usize);
                    let way = |w: &[DAffine3]| (w[b].translation - w[a].translation).normalize();
                    assert!(way(was).distance(way(is)) < 1e-4, "arms at {degrees}: joint {a}");
                }
            }
        }
    }
}

#[test]
fn a_shorter_spine_still_brings_chest_and_head_where_they_look() {
    let human = human();
    let (from, clip) = recording("bend");
    let gone = human.skeleton().joints().iter().position(|j| j.name == "Spine").unwrap();
    let mut all = parts(human.skeleton());
    all.remove(gone);
    let below = |p: u32| if p as usize == gone { 0 } else { p - u32::from(p as usize > gone) };
    all.iter_mut().for_each(|part| part.1 = part.1.map(below));
    let character = bare(skeleton(&all));
    let source = poses(&bare(moved(&from, |p| p)), &clip);
    let is = poses(&character, &on(&from, &clip, &character).0.clip);
    for name in ["Chest", "Head", "LeftHand", "RightFoot"] {
        let find = |s: &Skeleton| s.joints().iter().position(|j| j.name == name).unwrap();
        let (a, b) = (find(&from), find(character.skeleton()));
        for (was, is) in source.iter().zip(&is) {
            assert!(was[a].matrix3.abs_diff_eq(is[b].matrix3, 1e-5), "{name}");
        }
    }
}

#[test]
fn steps_are_as_long_as_the_legs_and_feet_are_on_the_floor() {
    let human = human();
    let (from, clip) = recording("run");
    for (legs, scale) in [(1.0, 1.0), (0.5, 1.0), (2.0, 2.0)] {
        // Longer or shorter below the knees only: a bent leg then is not as high as its length says.
        let knee = human.skeleton().joints().iter().position(|j| j.name == "LeftLowerLeg").unwrap() as u32;
        let knee = human.skeleton().rest_position(knee).y;
        let place = |p: DVec3| {
            let y = if p.y < knee { knee + (p.y - knee) * legs } else { p.y };
            DVec3::new(p.x, y, p.z) * scale
        };
        let character = bare(moved(human.skeleton(), place));
        let (done, _) = on(&from, &clip, &character);
        let leg = |s: &Skeleton| {
            let at =
                |name: &str| s.rest_position(s.joints().iter().position(|j| j.name == name).unwrap() as u32);
            at("LeftUpperLeg").distance(at("LeftLowerLeg")) + at("LeftLowerLeg").distance(at("LeftFoot"))
        };
        let ratio = leg(character.skeleton()) / leg(&from);
        assert!((done.scale - ratio).abs() < 0.02 * ratio, "{} for {ratio}", done.scale);
        let body = Humanoid::find(character.skeleton(), &Named::new(character.skeleton()).names).unwrap();
        let low = |w: &[DAffine3]| {
            let foot = |side| w[body.joint(Role::Toes(side)).unwrap() as usize].translation.y;
            foot(Side::Left).min(foot(Side::Right))
        };
        let rest: Vec<DAffine3> = character.skeleton().joints().iter().map(|j| j.world_from_rest).collect();
        let mut heights: Vec<f64> =
            poses(&character, &done.clip).iter().map(|w| low(w) - low(&rest)).collect();
        heights.sort_by(f64::total_cmp);
        let size = leg(character.skeleton());
        let middle = heights[heights.len() / 2];
        assert!(middle.abs() < 0.03 * size, "legs {legs}: toes are at {middle} of {size}");
        assert!(heights[0] > -0.06 * size, "legs {legs}: a toe is at {}", heights[0]);
    }
}

#[test]
fn a_first_frame_to_calibrate_by_is_left_out() {
    let human = human();
    let (from, clip) = recording("walk");
    let frames = clip.channels()[0].track.times().len();
    let with_first = |first: fn(Target) -> Vec<f32>| {
        let longer = |c: &Channel| {
            let keys = [first(c.target), c.track.values().to_vec()].concat();
            Channel { target: c.target, track: Track::recorded(c.track.width(), RATE, keys).unwrap() }
        };
        let channels = clip.channels().iter().map(longer).collect();
        Clip::recorded(clip.name().into(), channels, frames + 1, RATE).unwrap()
    };
    let (plain, _) = on(&from, &clip, &human);
    assert_eq!(plain.skipped, 0);
    // All rotations zero, somewhere else.
    let t_pose = with_first(|target| match target {
        Target::Rotation(_) => vec![0.0, 0.0, 0.0, 1.0],
        _ => vec![30.0, 20.0, -15.0],
    });
    let (done, _) = on(&from, &t_pose, &human);
    assert_eq!(done.skipped, 1);
    assert_near(&poses(&human, &plain.clip), &poses(&human, &done.clip), 1e-6, "without its first frame");
    // A motion that jumps all the time has no such frame.
    let (jumpy, _) = on(&from, &placed(&clip, DQuat::IDENTITY, |p| p * p.z.abs().min(3.0)), &human);
    assert_eq!(jumpy.skipped, 0);
}

/// The human's joints by the names of other conventions, in its own order of names.
const CONVENTIONS: [(&str, [&str; 18]); 8] = [
    (
        "Mixamo",
        [
            "mixamorig:Hips",
            "mixamorig:Spine",
            "mixamorig:Spine1",
            "mixamorig:Neck",
            "mixamorig:Head",
            "mixamorig:@Shoulder",
            "mixamorig:@Arm",
            "mixamorig:@ForeArm",
            "mixamorig:@Hand",
            "mixamorig:@HandIndex1",
            "mixamorig:@HandThumb1",
            "mixamorig:@UpLeg",
            "mixamorig:@Leg",
            "mixamorig:@Foot",
            "mixamorig:@ToeBase",
            "Left",
            "Right",
            "",
        ],
    ),
    (
        "Unreal",
        [
            "pelvis",
            "spine_01",
            "spine_02",
            "neck_01",
            "head",
            "clavicle_@",
            "upperarm_@",
            "lowerarm_@",
            "hand_@",
            "index_01_@",
            "thumb_01_@",
            "thigh_@",
            "calf_@",
            "foot_@",
            "ball_@",
            "l",
            "r",
            "",
        ],
    ),
    (
        "VRM",
        [
            "hips",
            "spine",
            "chest",
            "neck",
            "head",
            "@Shoulder",
            "@UpperArm",
            "@LowerArm",
            "@Hand",
            "@IndexProximal",
            "@ThumbMetacarpal",
            "@UpperLeg",
            "@LowerLeg",
            "@Foot",
            "@Toes",
            "left",
            "right",
            "",
        ],
    ),
    (
        "MakeHuman",
        [
            "root",
            "spine02",
            "spine01",
            "neck01",
            "head",
            "clavicle.@",
            "upperarm01.@",
            "lowerarm01.@",
            "wrist.@",
            "finger2-1.@",
            "finger1-1.@",
            "upperleg01.@",
            "lowerleg01.@",
            "foot.@",
            "toe1-1.@",
            "L",
            "R",
            "",
        ],
    ),
    (
        "Biovision",
        [
            "Hips",
            "Chest",
            "Chest2",
            "Neck",
            "Head",
            "@Collar",
            "@Shoulder",
            "@Elbow",
            "@Wrist",
            "@Index",
            "@Thumb",
            "@Hip",
            "@Knee",
            "@Ankle",
            "@Toe",
            "Left",
            "Right",
            "",
        ],
    ),
    (
        "Rigify",
        [
            "DEF-hips",
            "DEF-spine.001",
            "DEF-spine.002",
            "DEF-neck",
            "DEF-head",
            "DEF-shoulder.@",
            "DEF-upper_arm.@",
            "DEF-forearm.@",
            "DEF-hand.@",
            "DEF-f_index.01.@",
            "DEF-thumb.01.@",
            "DEF-thigh.@",
            "DEF-shin.@",
            "DEF-foot.@",
            "DEF-toe.@",
            "L",
            "R",
            "",
        ],
    ),
    (
        "Biped",
        [
            "Bip01 Pelvis",
            "Bip01 Spine",
            "Bip01 Spine1",
            "Bip01 Neck",
            "Bip01 Head",
            "Bip01 @ Clavicle",
            "Bip01 @ UpperArm",
            "Bip01 @ Forearm",
            "Bip01 @ Hand",
            "Bip01 @ Finger1",
            "Bip01 @ Finger0",
            "Bip01 @ Thigh",
            "Bip01 @ Calf",
            "Bip01 @ Foot",
            "Bip01 @ Toe0",
            "L",
            "R",
            "",
        ],
    ),
    (
        "snake case",
        [
            "hips",
            "spine",
            "chest",
            "neck",
            "head",
            "@_shoulder",
            "@_arm",
            "@_forearm",
            "@_hand",
            "@_index",
            "@_thumb",
            "@_thigh",
            "@_shin",
            "@_foot",
            "@_toes",
            "left",
            "right",
            "",
        ],
    ),
];

/// The human's own names, in the order of [`CONVENTIONS`].
const OWN: [&str; 15] = [
    "Hips",
    "Spine",
    "Chest",
    "Neck",
    "Head",
    "@Shoulder",
    "@UpperArm",
    "@LowerArm",
    "@Hand",
    "@Fingers",
    "@Thumb",
    "@UpperLeg",
    "@LowerLeg",
    "@Foot",
    "@Toes",
];

fn renamed(human: &Skeleton, names: &[&str; 18]) -> Skeleton {
    let mut all = parts(human);
    for part in &mut all {
        let (side, plain) = match (part.0.strip_prefix("Left"), part.0.strip_prefix("Right")) {
            (Some(rest), _) => (names[15], format!("@{rest}")),
            (_, Some(rest)) => (names[16], format!("@{rest}")),
            _ => ("", part.0.clone()),
        };
        let which = OWN.iter().position(|own| **own == plain).unwrap();
        part.0 = names[which].replace('@', side);
    }
    skeleton(&all)
}

#[test]
fn names_of_every_convention_find_the_same_body() {
    let human = human();
    let find = |s: &Skeleton| Humanoid::find(s, &Named::new(s).names).unwrap();
    let own = find(human.skeleton());
    assert_eq!(own.joints.len() + own.spine.len() + own.neck.len(), human.skeleton().len());
    for (convention, names) in &CONVENTIONS {
        assert_eq!(find(&renamed(human.skeleton(), names)), own, "{convention}");
    }
}

#[test]
fn a_body_without_names_is_found_by_its_shape() {
    let human = human();
    let mut all = parts(human.skeleton());
    all.iter_mut().enumerate().for_each(|(k, part)| part.0 = format!("Bone.{k:03}"));
    let own = Humanoid::find(human.skeleton(), &Named::new(human.skeleton()).names).unwrap();
    for turn in [DQuat::IDENTITY, DQuat::from_rotation_x(1.2), DQuat::from_rotation_y(2.0)] {
        let nameless = moved(&skeleton(&all), |p| turn * p * 7.0);
        let found = Humanoid::find(&nameless, &Named::new(&nameless).names).unwrap();
        for (role, joint) in &found.joints {
            assert_eq!(own.joint(*role), Some(*joint), "{role:?}");
        }
        assert!(found.joints.len() >= 16, "{}", found.joints.len());
        assert_eq!((&found.spine, &found.neck), (&own.spine, &own.neck));
    }
    // Four legs are no body.
    for beast in ["horse", "octopus", "snake"] {
        let Ok(beast) = zoo::character(beast, Some(1500)) else { continue };
        let mut all = parts(beast.skeleton());
        all.iter_mut().for_each(|part| part.0 = String::new());
        let nameless = skeleton(&all);
        assert_eq!(Humanoid::find(&nameless, &Named::new(&nameless).names), None);
    }
}

#[test]
fn what_belongs_nowhere_is_said() {
    let human = human();
    let (from, clip) = recording("walk");
    // A tail that wags.
    let mut all = parts(&from);
    all.push(("Tail".into(), Some(0), DVec3::NEG_Z, vec![]));
    let tail = all.len() as u32 - 1;
    let with_tail = skeleton(&all);
    let frames = clip.channels()[0].track.times().len();
    let wag = |k: usize| DQuat::from_rotation_y(0.3 * (k % 2) as f64).to_array().map(|c| c as f32);
    let track = Track::recorded(4, RATE, (0..frames).flat_map(wag).collect()).unwrap();
    let mut channels = clip.channels().to_vec();
    channels.push(Channel { target: Target::Rotation(tail), track });
    let clip = Clip::recorded(String::new(), channels, frames, RATE).unwrap();
    let (done, mapping) = on(&with_tail, &clip, &human);
    assert_eq!(done.unused, [tail]);
    assert!(mapping.unmoved().is_empty());
    // A wish sends it to the head; then the recording's own head has no place.
    let (own, to) = (Named::new(&with_tail), Named::new(human.skeleton()));
    let head = human.skeleton().joints().iter().position(|j| j.name == "Head").unwrap() as u32;
    let mapping = Mapping::find(&own, &to, &[(tail, Some(head))]);
    let link = mapping.links.iter().find(|l| l.to == head).unwrap();
    assert_eq!(link.from, tail);
    let mapping = Mapping::find(&own, &to, &[(head, None)]);
    assert!(mapping.links.iter().all(|l| l.from != head) && mapping.unmoved() == [head]);
    // An octopus has nothing of a human.
    let octopus = zoo::character("octopus", Some(1500)).unwrap();
    let mapping = Mapping::find(&own, &Named::new(octopus.skeleton()), &[]);
    assert!(retarget(&own, &clip, &octopus, &mapping).is_err());
}

#[test]
fn a_faster_clip_is_the_same_sooner_at_its_own_rate() {
    let human = human();
    let (from, clip) = recording("walk");
    let clip = on(&from, &clip, &human).0.clip;
    let fast = clip.clone().sped(2.0).unwrap();
    assert_eq!(fast.frame_rate(), clip.frame_rate());
    assert!((fast.end() - clip.end() / 2.0).abs() < 1e-9);
    let motion = Playback::once(&human, Some(&fast));
    assert_eq!(motion.frame_time(), Some(1.0 / RATE));
    for time in [0.0, 0.1, 0.3] {
        let (a, b) = (Pose::sample(&human, Some(&clip), time), Pose::sample(&human, Some(&fast), time / 2.0));
        assert!(a.world_from_joint.iter().zip(&b.world_from_joint).all(|(a, b)| a.abs_diff_eq(*b, 1e-9)));
    }
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(clip.clone().sped(speed).is_err());
    }
}
