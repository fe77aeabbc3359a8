//! How far limbs are rolled about themselves, on the way from a recording to another skeleton.

use pliant::asset::{
    Channel, Character, Clip, Joint, Local, Part, RawCharacter, Skeleton, Surface, Target, Track, Weights,
};
use pliant::glam::{DAffine3, DQuat, DVec3, Vec3};
use pliant::rig::retarget::{Mapping, Named, retarget};
use pliant::rig::{Motion, Playback, Pose, weights};
use pliant::zoo;

const RATE: f64 = 30.0;

fn human() -> Skeleton {
    zoo::character("human", Some(2000)).unwrap().skeleton().clone()
}

fn find(skeleton: &Skeleton, name: &str) -> usize {
    skeleton.joints().iter().position(|j| j.name == name).unwrap()
}

/// A skeleton whose joints have these names, parents and offsets, none turned at rest.
fn skeleton(like: &Skeleton, offsets: &[DVec3]) -> Skeleton {
    let mut joints: Vec<Joint> = Vec::new();
    for (joint, &offset) in like.joints().iter().zip(offsets) {
        let above = joint.parent.map_or(DVec3::ZERO, |p| joints[p as usize].world_from_rest.translation);
        joints.push(Joint {
            name: joint.name.clone(),
            parent: joint.parent,
            local: Local::offset(offset),
            world_from_rest: DAffine3::from_translation(above + offset),
            deforms: true,
            tails: joint.tails.clone(),
        });
    }
    Skeleton::new(joints).unwrap()
}

fn offsets(skeleton: &Skeleton) -> Vec<DVec3> {
    let at = |j: u32| skeleton.rest_position(j);
    let joints = skeleton.joints().iter();
    (0..).zip(joints).map(|(j, joint)| at(j) - joint.parent.map_or(DVec3::ZERO, at)).collect()
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

/// A clip that turns joints against their parents; `turns` has a frame's for all joints.
fn clip(skeleton: &Skeleton, turns: &[Vec<DQuat>]) -> Clip {
    let mut channels = Vec::new();
    for joint in 0..skeleton.len() {
        let keys = turns.iter().flat_map(|t| t[joint].to_array().map(|c| c as f32)).collect();
        let track = Track::recorded(4, RATE, keys).unwrap();
        channels.push(Channel { target: Target::Rotation(joint as u32), track });
    }
    Clip::recorded("test".into(), channels, turns.len(), RATE).unwrap()
}

/// The joints in the scene, frame by frame.
fn poses(character: &Character, clip: &Clip, frames: usize) -> Vec<Vec<DAffine3>> {
    let motion = Playback::once(character, Some(clip));
    let mut pose = Pose::default();
    let at = |frame: usize| {
        motion.pose(frame as f64 / RATE, &mut pose);
        pose.world_from_joint.clone()
    };
    (0..frames).map(at).collect()
}

fn on(from: &Skeleton, clip: &Clip, character: &Character) -> Clip {
    let (own, to) = (Named::new(from), Named::new(character.skeleton()));
    retarget(&own, clip, character, &Mapping::find(&own, &to, &[])).unwrap().clip
}

fn turn_of(world: &DAffine3) -> DQuat {
    DQuat::from_mat3(&world.matrix3).normalize()
}

/// How far a joint is rolled about its bone against another, in degrees within half a turn.
fn roll(pose: &[DAffine3], above: usize, own: usize, along: DVec3) -> f64 {
    let turn = turn_of(&pose[above]).inverse() * turn_of(&pose[own]);
    let angle =
        2.0 * libm::atan2(DVec3::new(turn.x, turn.y, turn.z).dot(along.normalize()), turn.w).to_degrees();
    angle - 360.0 * (angle / 360.0).round()
}

/// An elbow that is straight, or bent backwards a little, is recorded as a hinge that has been rolled by half a turn, and
/// the hand rolled back: shoulder and wrist would be wrung.
#[test]
fn what_shoulder_and_wrist_undo_between_them_is_not_passed_on() {
    let human = human();
    let bigger: Vec<DVec3> = offsets(&human).iter().map(|o| *o * 1.2).collect();
    let from = skeleton(&human, &bigger);
    let frames = 121;
    for (side, sign) in [("Left", 1.0), ("Right", -1.0)] {
        let [collar, upper, lower, hand] =
            ["Shoulder", "UpperArm", "LowerArm", "Hand"].map(|part| find(&human, &format!("{side}{part}")));
        let ways = [lower, hand].map(|j| offsets(&human)[j].normalize());
        let hinge = ways[0].cross(DVec3::Z).normalize();
        // Straight, with a roll that grows past half a turn and comes back; then bent, with a roll that is seen.
        let rolled =
            |frame: usize| sign * 200.0 * libm::sin(frame as f64 / 60.0 * std::f64::consts::PI).max(0.0);
        let seen = |frame: usize| sign * 60.0 * ((frame as f64 - 90.0) / 30.0).clamp(0.0, 1.0);
        let bend = |frame: usize| 70.0 * ((frame as f64 - 60.0) / 30.0).clamp(0.0, 1.0);
        let about = |axis: DVec3, degrees: f64| DQuat::from_axis_angle(axis, degrees.to_radians());
        let turns: Vec<Vec<DQuat>> = (0..frames)
            .map(|frame| {
                let mut turns = vec![DQuat::IDENTITY; human.len()];
                turns[upper] =
                    DQuat::from_rotation_z(sign * 0.8) * about(ways[0], rolled(frame) + seen(frame));
                turns[lower] = about(hinge, bend(frame));
                turns[hand] = about(ways[1], -rolled(frame));
                turns
            })
            .collect();
        let recorded = clip(&from, &turns);
        let character = bare(human.clone());
        let was = poses(&bare(from.clone()), &recorded, frames);
        let is = poses(&character, &on(&from, &recorded, &character), frames);
        for (frame, (was, is)) in was.iter().zip(&is).enumerate() {
            let way = |pose: &[DAffine3], a: usize, b: usize| {
                (pose[b].translation - pose[a].translation).normalize()
            };
            for [a, b] in [[upper, lower], [lower, hand]] {
                assert!(way(was, a, b).distance(way(is, a, b)) < 1e-3, "{side}, frame {frame}: joint {a}");
            }
            let off = turn_of(&was[hand]).angle_between(turn_of(&is[hand])).to_degrees();
            assert!(off < 0.1, "{side}, frame {frame}: the hand is turned by {off}");
            let at_shoulder = roll(is, collar, upper, ways[0]);
            let wanted = if frame <= 60 { 0.0 } else { seen(frame) };
            assert!(
                (at_shoulder - wanted).abs() < 12.0,
                "{side}, frame {frame}: rolled by {at_shoulder}, not {wanted}"
            );
        }
    }
}

/// Rokoko's bones rest along X, which no body can: a frame of the motion stands for the rest pose, and limbs are rolled in
/// it. Which way elbows and knees bend says how far.
#[test]
fn limbs_are_rolled_as_recorded_where_the_rest_pose_is_none() {
    let human = human();
    let own = offsets(&human);
    let main_child =
        |joint: usize| (0..human.len()).find(|&c| human.joints()[c].parent == Some(joint as u32));
    // Each joint is turned so that its bone rests along X, and by some more about that.
    let rests: Vec<DQuat> = (0..human.len())
        .map(|joint| {
            let way = main_child(joint).map_or(DVec3::X, |c| own[c].normalize());
            DQuat::from_rotation_arc(DVec3::X, way) * DQuat::from_rotation_x(joint as f64)
        })
        .collect();
    let above = |joint: usize| human.joints()[joint].parent.map_or(DQuat::IDENTITY, |p| rests[p as usize]);
    let rest: Vec<DVec3> = (0..human.len()).map(|j| above(j).inverse() * own[j]).collect();
    let from = skeleton(&human, &rest);
    let frames = 90;
    let [hips, arms, legs] =
        [["Hips"; 3], ["Shoulder", "UpperArm", "LowerArm"], ["Hips", "UpperLeg", "LowerLeg"]];
    let joint = |side: &str, part: &str| {
        find(&human, &if part == hips[0] { part.to_owned() } else { format!("{side}{part}") })
    };
    let about = |axis: DVec3, degrees: f64| DQuat::from_axis_angle(axis, degrees.to_radians());
    let turns: Vec<Vec<DQuat>> = (0..frames)
        .map(|frame| {
            let phase = frame as f64 / 15.0;
            let mut turns = vec![DQuat::IDENTITY; human.len()];
            for (side, sign) in [("Left", 1.0), ("Right", -1.0)] {
                let [_, upper, lower] = arms.map(|part| joint(side, part));
                turns[upper] = DQuat::from_rotation_z(sign * 0.3 * libm::sin(phase))
                    * about(own[lower].normalize(), sign * (55.0 + 15.0 * libm::cos(phase)));
                turns[lower] = about(own[lower].cross(DVec3::Z).normalize(), 50.0 + 30.0 * libm::sin(phase));
                let [_, upper, lower] = legs.map(|part| joint(side, part));
                turns[upper] = DQuat::from_rotation_x(-0.4 - 0.3 * libm::sin(phase) * sign)
                    * about(own[lower].normalize(), sign * 25.0);
                turns[lower] = DQuat::from_rotation_x(0.8 + 0.4 * libm::cos(phase));
            }
            turns
        })
        .collect();
    let recorded: Vec<Vec<DQuat>> = turns
        .iter()
        .map(|turns| (0..human.len()).map(|j| above(j).inverse() * turns[j] * rests[j]).collect())
        .collect();
    let character = bare(human.clone());
    let was = poses(&character, &clip(&human, &turns), frames);
    let is = poses(&character, &on(&from, &clip(&from, &recorded), &character), frames);
    for (frame, (was, is)) in was.iter().zip(&is).enumerate() {
        for side in ["Left", "Right"] {
            for [carrier, upper, lower] in [arms, legs].map(|limb| limb.map(|part| joint(side, part))) {
                let rolls = [was, is].map(|pose| roll(pose, carrier, upper, own[lower]));
                let name = &human.joints()[upper].name;
                assert!((rolls[0] - rolls[1]).abs() < 15.0, "frame {frame}: {name} is rolled by {rolls:?}");
            }
        }
    }
}
