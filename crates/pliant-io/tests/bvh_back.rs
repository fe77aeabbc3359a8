//! A motion that is written as a BVH and comes back onto its character is the motion that it was.

use pliant::asset::{Character, Clip};
use pliant::glam::{DAffine3, EulerRot};
use pliant::rig::Pose;
use pliant::rig::retarget::{Mapping, Named, retarget};
use pliant::zoo;
use pliant_io::bvh;
use std::fmt::Write;

const RATE: f64 = 30.0;

fn frames(clip: &Clip) -> usize {
    (clip.end() * RATE + 1e-6) as usize + 1
}

/// A BVH of a clip: joints without rotations at rest, as the samples have them.
fn written(character: &Character, clip: &Clip) -> String {
    let joints = character.skeleton().joints();
    let mut text = String::from("HIERARCHY\n");
    let mut order = Vec::new();
    fn joint(text: &mut String, order: &mut Vec<usize>, character: &Character, index: usize) {
        let joints = character.skeleton().joints();
        let own = &joints[index];
        let above = own.parent.map_or(Default::default(), |p| joints[p as usize].world_from_rest.translation);
        let at = own.world_from_rest.translation - above;
        let (kind, places) = match own.parent {
            None => ("ROOT", "6 Xposition Yposition Zposition "),
            Some(_) => ("JOINT", "3 "),
        };
        let channels = format!("CHANNELS {places}Zrotation Xrotation Yrotation");
        writeln!(text, "{kind} {}\n{{\nOFFSET {} {} {}\n{channels}", own.name, at.x, at.y, at.z).unwrap();
        order.push(index);
        let children: Vec<usize> =
            (0..joints.len()).filter(|&c| joints[c].parent == Some(index as u32)).collect();
        for &child in &children {
            joint(text, order, character, child);
        }
        for tail in &own.tails {
            writeln!(text, "End Site\n{{\nOFFSET {} {} {}\n}}", tail.x, tail.y, tail.z).unwrap();
        }
        *text += "}\n";
    }
    joint(&mut text, &mut order, character, 0);
    writeln!(text, "MOTION\nFrames: {}\nFrame Time: {}", frames(clip), 1.0 / RATE).unwrap();
    for frame in 0..frames(clip) {
        let pose = Pose::sample(character, Some(clip), frame as f64 / RATE);
        for &index in &order {
            let world = pose.world_from_joint[index];
            let above =
                joints[index].parent.map_or(DAffine3::IDENTITY, |p| pose.world_from_joint[p as usize]);
            let local = above.inverse() * world;
            if joints[index].parent.is_none() {
                let at = local.translation;
                write!(text, "{} {} {} ", at.x, at.y, at.z).unwrap();
            }
            let (z, x, y) = local.to_scale_rotation_translation().1.to_euler(EulerRot::ZXY);
            write!(text, "{} {} {} ", z.to_degrees(), x.to_degrees(), y.to_degrees()).unwrap();
        }
        text += "\n";
    }
    text
}

#[test]
fn a_written_motion_comes_back() {
    for name in ["human", "chubby", "cat"] {
        let Ok(character) = zoo::character(name, Some(1500)) else { continue };
        for clip in character.clips().iter().take(4) {
            let read = bvh::read(written(&character, clip).as_bytes()).unwrap();
            let (from, to) = (Named::new(&read.skeleton), Named::new(character.skeleton()));
            let mapping = Mapping::find(&from, &to, &[]);
            let back = retarget(&from, read.clip.as_ref().unwrap(), &character, &mapping).unwrap();
            assert_eq!(back.skipped, 0);
            assert!((back.clip.frame_rate().unwrap() - RATE).abs() < 1e-9);
            for frame in 0..frames(clip) {
                let at =
                    |clip: &Clip| Pose::sample(&character, Some(clip), frame as f64 / RATE).world_from_joint;
                for (was, is) in at(clip).iter().zip(at(&back.clip)) {
                    assert!(was.abs_diff_eq(is, 1e-4), "{name}, {}, frame {frame}: {was} {is}", clip.name());
                }
            }
        }
    }
}
