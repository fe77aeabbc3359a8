//! The samples as users get them: their skin, skeleton, weights and motions.

use pliant::asset::{Bone, Character, Target};
use pliant::glam::{DVec3, Vec3};
use pliant::rig::Pose;
use pliant::zoo::{self, ZooError};
use std::sync::OnceLock;

/// All samples at their own density, made once.
fn all() -> &'static [(&'static zoo::Sample, Character)] {
    static ALL: OnceLock<Vec<(&zoo::Sample, Character)>> = OnceLock::new();
    ALL.get_or_init(|| zoo::list().iter().map(|s| (s, zoo::character(s.name, None).unwrap())).collect())
}

fn find(name: &str) -> &'static Character {
    &all().iter().find(|(s, _)| s.name == name).unwrap().1
}

/// Closed, one piece, of genus 0, wound outward, no vertex unused.
fn assert_sphere(name: &str, character: &Character) {
    let surface = character.surface();
    let (positions, triangles) = (surface.positions(), surface.triangles());
    let mut sides: Vec<(u32, u32)> =
        triangles.iter().flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]).collect();
    sides.sort_unstable();
    assert!(sides.windows(2).all(|w| w[0] != w[1]), "{name}: a side used twice in one direction");
    assert!(sides.iter().all(|&(a, b)| sides.binary_search(&(b, a)).is_ok()), "{name}: an open edge");
    let euler = positions.len() as i64 - sides.len() as i64 / 2 + triangles.len() as i64;
    assert_eq!(euler, 2, "{name}: not a sphere");
    fn root(group: &mut [usize], mut v: usize) -> usize {
        while group[v] != v {
            group[v] = group[group[v]];
            v = group[v];
        }
        v
    }
    let mut group: Vec<usize> = (0..positions.len()).collect();
    for &(a, b) in &sides {
        let (a, b) = (root(&mut group, a as usize), root(&mut group, b as usize));
        group[a] = b;
    }
    assert_eq!((0..positions.len()).filter(|&v| group[v] == v).count(), 1, "{name}: in pieces");
    let corner = |v: u32| positions[v as usize].as_dvec3();
    let volume: f64 =
        triangles.iter().map(|t| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0).sum();
    assert!(volume > 0.0, "{name}: inside out");
}

/// Smallest angle of every triangle in degrees, sorted.
fn smallest_angles(character: &Character) -> Vec<f64> {
    let positions = character.surface().positions();
    let angle = |t: &[u32; 3]| {
        let p = t.map(|v| positions[v as usize].as_dvec3());
        let at = |k: usize| (p[(k + 1) % 3] - p[k]).angle_between(p[(k + 2) % 3] - p[k]).to_degrees();
        at(0).min(at(1)).min(at(2))
    };
    let mut angles: Vec<f64> = character.surface().triangles().iter().map(angle).collect();
    angles.sort_by(f64::total_cmp);
    angles
}

#[test]
fn every_sample_is_a_sphere_of_the_right_size() {
    for (sample, character) in all() {
        assert_eq!(character.surface().positions().len(), sample.default_vertices, "{}", sample.name);
        assert_sphere(sample.name, character);
        let angles = smallest_angles(character);
        assert!(angles[0] > 5.0, "{}: an angle of {} degrees", sample.name, angles[0]);
        let (percent, median) = (angles[angles.len() / 100], angles[angles.len() / 2]);
        assert!(percent > 25.0 && median > 50.0, "{}: {percent}, {median}", sample.name);
    }
}

#[test]
fn density_is_exact_from_hundreds_to_many_thousands() {
    for sample in zoo::list() {
        let coarse = zoo::character(sample.name, Some(zoo::MIN_VERTICES)).unwrap();
        assert_eq!(coarse.surface().positions().len(), zoo::MIN_VERTICES);
        assert_sphere(sample.name, &coarse);
    }
    for (name, count) in [("human", 20_000), ("octopus", 20_001), ("hand", 3_217), ("giraffe", 24_461)] {
        let character = zoo::character(name, Some(count)).unwrap();
        assert_eq!(character.surface().positions().len(), count);
        assert_sphere(name, &character);
        let angles = smallest_angles(&character);
        assert!(angles[angles.len() / 100] > 30.0, "{name}: {}", angles[angles.len() / 100]);
    }
}

#[test]
fn the_same_character_comes_out_twice() {
    assert_eq!(&zoo::character("bunny", None).unwrap(), find("bunny"));
}

#[test]
fn skeletons_have_the_bones_they_should_and_stand_on_the_ground() {
    let counts =
        [("human", 25), ("bunny", 29), ("octopus", 63), ("horse", 43), ("torso", 25), ("cylinder", 2)];
    for (name, count) in counts {
        assert_eq!(find(name).skeleton().len(), count, "{name}");
    }
    for name in ["leg", "human", "bunny", "octopus", "horse", "giraffe", "elephant", "chubby", "armadillo"] {
        let lowest = find(name).surface().positions().iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
        assert!((-0.002..0.02).contains(&lowest), "{name} stands at {lowest}");
    }
    let tall = find("human").surface().positions().iter().map(|p| p.y).fold(0.0, f32::max);
    assert!((tall - 1.75).abs() < 0.02, "{tall}");
}

#[test]
fn skeletons_are_mirrored() {
    let flip = DVec3::new(-1.0, 1.0, 1.0);
    let mut pairs = 0;
    for (sample, character) in all() {
        let joints = character.skeleton().joints();
        for joint in joints {
            let Some(rest) = joint.name.strip_prefix("Left") else { continue };
            let twin = joints.iter().find(|j| j.name == format!("Right{rest}")).unwrap();
            let (left, right) = (joint.world_from_rest.translation, twin.world_from_rest.translation);
            assert_eq!(left * flip, right, "{} {}", sample.name, joint.name);
            assert_eq!(joint.tails.iter().map(|t| *t * flip).collect::<Vec<_>>(), twin.tails);
            pairs += 1;
        }
    }
    assert!(pairs > 100);
}

#[test]
fn weights_are_few_and_every_joint_moves_something() {
    for (sample, character) in all() {
        let weights = character.weights();
        assert!(weights.max_influences() <= 4, "{}", sample.name);
        let mut moved = vec![0.0; character.skeleton().len()];
        for v in 0..weights.vertex_count() {
            let sum: f32 = weights.of(v).map(|e| e.1).sum();
            assert!((sum - 1.0).abs() < 1e-5);
            weights.of(v).for_each(|(j, w)| moved[j as usize] += w);
        }
        for (joint, moved) in character.skeleton().joints().iter().zip(moved) {
            assert!(moved > 2.0, "{}: {} moves {moved} vertices", sample.name, joint.name);
        }
    }
}

/// The joint whose bone is nearest to a point at rest.
fn nearest_joint(bones: &[Bone], p: Vec3) -> u32 {
    let distance = |b: &Bone| {
        let along = b.end - b.start;
        let t = ((p.as_dvec3() - b.start).dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
        p.as_dvec3().distance(b.start + along * t)
    };
    bones.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap().joint
}

#[test]
fn weights_do_not_bleed_between_limbs() {
    // On a limb's vertices, joints of the other limb weigh nothing, however near they come.
    let cases: [(&str, &[&str], &[&str]); 4] = [
        ("human", &["LeftHand", "LeftFingers", "LeftThumb"], &["UpperLeg", "LowerLeg", "Hips", "Right"]),
        ("hand", &["Index2", "Index3"], &["Middle", "Ring", "Little", "Thumb"]),
        ("octopus", &["LeftArm1_5", "LeftArm1_6"], &["LeftArm2", "Right", "Mantle"]),
        ("horse", &["LeftFrontCannon", "LeftFrontHoof"], &["Right", "Hind", "Spine"]),
    ];
    for (name, limb, others) in cases {
        let character = find(name);
        let (joints, bones) = (character.skeleton().joints(), character.skeleton().bones());
        let mut seen = 0;
        for (v, &p) in character.surface().positions().iter().enumerate() {
            if !limb.contains(&joints[nearest_joint(&bones, p) as usize].name.as_str()) {
                continue;
            }
            seen += 1;
            for (slot, weight) in character.weights().of(v) {
                let joint = &joints[character.slots()[slot as usize].joint as usize].name;
                assert!(!others.iter().any(|o| joint.contains(o)), "{name}: {joint} weighs {weight} at {p}");
            }
        }
        assert!(seen > 20, "{name}: {seen}");
    }
}

#[test]
fn weights_change_gradually() {
    // Along an edge weights differ by no more than a blend over about a limb's radius allows.
    for (name, most) in [("cylinder", 0.35), ("arm", 0.5), ("human", 0.75)] {
        let character = find(name);
        let (weights, positions) = (character.weights(), character.surface().positions());
        let of = |v: u32, j: u16| weights.of(v as usize).find(|e| e.0 == j).map_or(0.0, |e| e.1);
        for t in character.surface().triangles() {
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                for (j, w) in weights.of(a as usize) {
                    let (joint, p) = (&character.skeleton().joints()[j as usize].name, positions[a as usize]);
                    assert!((w - of(b, j)).abs() < most, "{name}: {joint} {w}, {} at {p}", of(b, j));
                }
            }
        }
    }
}

/// Degrees between two orientations whose quaternions have this dot product.
fn degrees_apart(dot: f64) -> f64 {
    let c = dot.abs().min(1.0);
    2.0 * DVec3::X.angle_between(DVec3::new(c, (1.0 - c * c).sqrt(), 0.0)).to_degrees()
}

#[test]
fn motions_are_those_listed_and_turn_gently() {
    for (sample, character) in all() {
        let names: Vec<&str> = character.clips().iter().map(|c| c.name()).collect();
        assert_eq!(names, sample.motions, "{}", sample.name);
        assert!(names.len() >= 2);
        for clip in character.clips() {
            let label = format!("{} {}", sample.name, clip.name());
            assert!((0.5..=3.0).contains(&clip.end()), "{label}: {} s", clip.end());
            assert!(!clip.channels().is_empty(), "{label}");
            for channel in clip.channels().iter().filter(|c| matches!(c.target, Target::Rotation(_))) {
                let keys: Vec<&[f32]> = channel.track.values().chunks_exact(4).collect();
                for pair in keys.windows(2) {
                    let dot: f32 = (0..4).map(|k| pair[0][k] * pair[1][k]).sum();
                    let degrees = degrees_apart(f64::from(dot));
                    assert!(dot >= 0.0 && degrees <= 90.0, "{label}: {degrees} degrees between keys");
                }
            }
        }
    }
}

#[test]
fn bends_reach_150_degrees_and_twists_180() {
    let turned = |name: &str, clip: &str, joint: &str| {
        let character = find(name);
        let clip = character.clips().iter().find(|c| c.name() == clip).unwrap();
        let joint = character.skeleton().joints().iter().position(|j| j.name == joint).unwrap();
        let channel = clip.channels().iter().find(|c| c.target == Target::Rotation(joint as u32)).unwrap();
        assert!(degrees_apart(channel.track.sample_rotation(0.0).w) < 0.1, "{name} does not start at rest");
        degrees_apart(channel.track.sample_rotation(clip.end()).w)
    };
    let hinges = [("cylinder", "Upper"), ("arm", "LowerArm"), ("leg", "LowerLeg"), ("human", "LeftLowerArm")];
    for (name, joint) in hinges {
        let (bend, twist) = (turned(name, "bend", joint), turned(name, "twist", joint));
        assert!((bend - 150.0).abs() < 0.1 && (twist - 180.0).abs() < 0.1, "{name}: {bend}, {twist}");
    }
}

/// The skin at a moment, by plain linear blending.
fn skin(character: &Character, clip: &str, time: f64) -> Vec<Vec3> {
    let clip = character.clips().iter().find(|c| c.name() == clip).unwrap();
    let pose = Pose::sample(character, Some(clip), time);
    let mut matrices = Vec::new();
    pose.skin_matrices(character, &mut matrices);
    let blend = |(v, p): (usize, &Vec3)| {
        let moved = |m: &[[f32; 4]; 3]| {
            let row = |k: usize| m[k][0] * p.x + m[k][1] * p.y + m[k][2] * p.z + m[k][3];
            Vec3::new(row(0), row(1), row(2))
        };
        character.weights().of(v).map(|(slot, w)| moved(&matrices[slot as usize]) * w).sum()
    };
    character.surface().positions().iter().enumerate().map(blend).collect()
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn walks_and_runs_close_on_themselves() {
    for (sample, character) in all() {
        for name in ["walk", "run"] {
            let Some(clip) = character.clips().iter().find(|c| c.name() == name) else { continue };
            let apart = farthest(&skin(character, name, 0.0), &skin(character, name, clip.end()));
            assert!(apart < 1e-4, "{} {name}: {apart}", sample.name);
        }
    }
}

#[test]
fn walking_feet_stay_on_the_ground_and_keep_its_pace() {
    for name in ["human", "chubby", "horse", "giraffe", "elephant"] {
        let character = find(name);
        let clip = character.clips().iter().find(|c| c.name() == "walk").unwrap();
        let height = character.surface().positions().iter().map(|p| p.y).fold(0.0, f32::max);
        for k in 0..24 {
            let posed = skin(character, "walk", clip.end() * f64::from(k) / 24.0);
            let lowest = posed.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
            assert!(lowest.abs() < 0.03 * height, "{name} at {k}/24: lowest point at {lowest}");
        }
    }
    // While a foot of the human stands, its ball goes back as far as the ground does in that time.
    let character = find("human");
    let clip = character.clips().iter().find(|c| c.name() == "walk").unwrap();
    let toes = character.skeleton().joints().iter().position(|j| j.name == "LeftToes").unwrap();
    let ball = |phase: f64| {
        Pose::sample(character, Some(clip), phase * clip.end()).world_from_joint[toes].translation
    };
    let pace = (ball(0.45).z - ball(0.1).z) / 0.35;
    assert!(pace < -0.5, "walks backwards: {pace}");
    for k in 2..9 {
        let phase = 0.05 * f64::from(k);
        let slid = ball(phase).z - (ball(0.1).z + pace * (phase - 0.1));
        assert!(slid.abs() < 0.02, "slides by {slid} at {phase}");
    }
}

#[test]
fn shaking_stops_dead() {
    for (sample, character) in all().iter().filter(|(s, _)| s.motions.contains(&"shake")) {
        let end = character.clips().iter().find(|c| c.name() == "shake").unwrap().end();
        let moved = |a: f64, b: f64| farthest(&skin(character, "shake", a), &skin(character, "shake", b));
        assert!(moved(1.3, end) < 1e-6, "{} still moves", sample.name);
        assert!(moved(0.9, 1.0) + moved(0.8, 0.9) > 1e-3, "{} does not shake", sample.name);
    }
}

#[test]
fn wrong_requests_say_what_is_right() {
    let error = zoo::character("hoorse", None).unwrap_err();
    assert!(matches!(&error, ZooError::UnknownName { nearest: "horse", .. }), "{error}");
    assert!(error.to_string().contains("giraffe"));
    for count in [0, zoo::MIN_VERTICES - 1, zoo::MAX_VERTICES + 1, usize::MAX] {
        assert_eq!(zoo::character("arm", Some(count)).unwrap_err(), ZooError::VertexCount { count });
    }
}
