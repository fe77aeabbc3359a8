//! Real characters: every one loads, or is refused for a reason that is true of it.

mod common;

use common::data::{data, gltf_files};
use pliant::rig::Pose;

#[test]
fn every_file_loads_or_is_refused_with_a_reason() {
    let Some(data) = data() else { return };
    for path in gltf_files(&data.join("gltf")) {
        let name = path.strip_prefix(&data).unwrap().display().to_string();
        let summary = common::inspect(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        println!(
            "{name}: {} vertices, {} triangles, influences {}, {:?} {:?} {:?}",
            summary.vertices,
            summary.triangles,
            summary.influences_max,
            summary.skins,
            summary.clips.len(),
            summary.warnings
        );
        match common::read(&path) {
            Ok(loaded) => {
                let c = &loaded.character;
                assert!(summary.bakeable, "{name}");
                assert_eq!(loaded.summary, summary);
                assert_eq!(c.clips().len(), summary.clips.len(), "{name}");
                assert!(c.diagonal() > 0.0 && !c.slots().is_empty());
                for clip in c.clips().iter().map(Some).chain([None]) {
                    let pose = Pose::sample(c, clip, 0.3);
                    assert!(pose.world_from_joint.iter().all(|m| m.is_finite()), "{name}");
                }
            }
            Err(error) => {
                let text = error.to_string();
                let draco = summary.extensions_required.iter().any(|e| e.contains("draco"));
                assert!(!summary.bakeable && summary.reason == text, "{name}: {text}");
                assert!(
                    if draco { text.contains("Draco") } else { text.contains("no skinned mesh") },
                    "{name}: {text}"
                );
                assert!(draco || summary.skins.is_empty(), "{name}");
            }
        }
    }
}

fn load(name: &str) -> Option<pliant_io::gltf::Loaded> {
    let path = data()?.join("gltf").join(name);
    Some(common::read(&path).unwrap_or_else(|e| panic!("{name}: {e}")))
}

#[test]
fn the_same_character_in_other_clothes_is_the_same() {
    let (Some(beside), Some(embedded)) =
        (load("SimpleSkin/SimpleSkin.gltf"), load("SimpleSkin-embedded.gltf"))
    else {
        return;
    };
    assert_eq!(beside.character, embedded.character);
    // Joints as bytes with normalised weights, and as words with float weights.
    let (Some(small), Some(large)) = (
        load("Animation_SkinType_01/Animation_SkinType_01.gltf"),
        load("Animation_SkinType_03/Animation_SkinType_03.gltf"),
    ) else {
        return;
    };
    assert_eq!(small.character, large.character);
}

const BOUND_AT_DEFAULT: [&str; 7] = [
    "SimpleSkin/SimpleSkin.gltf",
    "RiggedSimple.glb",
    "Babylon-r_hand_rhs.glb",
    "VRM0-sphere.vrm",
    "KayKit-Knight.glb",
    "CesiumMan.glb",
    "Quaternius-Men-Casual.glb",
];

/// Where the default pose is the bind pose, every skin matrix leaves rest alone, however the armature is scaled.
#[test]
fn bind_pose_is_rest() {
    for name in BOUND_AT_DEFAULT {
        let Some(loaded) = load(name) else { return };
        let c = &loaded.character;
        let pose = Pose::sample(c, None, 0.0);
        let mut matrices = Vec::new();
        pose.skin_matrices(c, &mut matrices);
        let (diagonal, mut worst) = (c.diagonal() as f32, 0f32);
        for (v, &p) in c.surface().positions().iter().enumerate() {
            for (slot, _) in c.weights().of(v) {
                let m = matrices[slot as usize];
                let moved = m.map(|r| r[0] * p.x + r[1] * p.y + r[2] * p.z + r[3]);
                worst = worst.max((pliant::glam::Vec3::from_array(moved) - p).length() / diagonal);
            }
        }
        println!("{name}: {worst}");
        assert!(worst < 1e-5, "{name}: {worst}");
    }
}

/// The topmost joint's skin matrix is the identity at node defaults in every file: rest is defined by it.
#[test]
fn some_joint_is_at_rest_in_every_file() {
    let Some(data) = data() else { return };
    for path in gltf_files(&data.join("gltf")) {
        let Ok(loaded) = common::read(&path) else { continue };
        let c = &loaded.character;
        let pose = Pose::sample(c, None, 0.0);
        let nearest = c.slots().iter().map(|slot| {
            let s = pose.world_from_joint[slot.joint as usize] * slot.joint_from_rest;
            let identity = pliant::glam::DAffine3::IDENTITY;
            let off =
                |a: [f64; 12], b: [f64; 12]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            off(s.to_cols_array(), identity.to_cols_array())
        });
        assert!(nearest.fold(f64::INFINITY, f64::min) < 1e-9 * (1.0 + c.diagonal()), "{}", path.display());
    }
}

#[test]
fn instances_influences_and_repairs() {
    let Some(recursive) = load("RecursiveSkeletons.glb") else { return };
    assert_eq!(recursive.character.parts().len(), 84);
    assert_eq!(recursive.character.surface().positions().len(), 84 * 40);
    let ten = load("assimp-quad_skin-10-influences.glb").unwrap();
    assert_eq!(ten.character.weights().max_influences(), 10);
    let robot = load("RobotExpressive.glb").unwrap();
    assert!(
        robot.warnings.iter().any(|w| w.count == 752 && w.what.contains("normalised")),
        "{:?}",
        robot.warnings
    );
    assert_eq!(robot.character.clips().len(), 14);
    assert!(robot.character.clips().iter().any(|c| c.name() == "Dance"));
    let fox = load("Fox/Fox.gltf").unwrap();
    assert_eq!(fox.character.surface().triangles().len(), 576);
    let alien = load("Alien/Alien.gltf").unwrap();
    assert!(!alien.character.morphs().is_empty());
    // Parents first; every joint is bound, carries a rigid mesh, or is above one that does.
    for loaded in [recursive, ten, robot, fox, alien] {
        let joints = loaded.character.skeleton().joints();
        assert!(joints.iter().enumerate().all(|(i, j)| j.parent.is_none_or(|p| (p as usize) < i)));
        let props = loaded.document.looks(&pliant_io::files::NoFiles).props;
        let carries = |i: usize| props.iter().any(|p| p.joint as usize == i);
        let mut needed: Vec<bool> = joints.iter().enumerate().map(|(i, j)| j.deforms || carries(i)).collect();
        for (i, joint) in joints.iter().enumerate().rev() {
            if let (true, Some(parent)) = (needed[i], joint.parent) {
                needed[parent as usize] = true;
            }
        }
        assert!(needed.iter().all(|&n| n));
    }
}

#[test]
fn textures_come_with_their_coordinates() {
    let Some(loaded) = load("CesiumMan.glb") else { return };
    let folder = pliant_io::files::NoFiles;
    let looks = loaded.document.looks(&folder);
    assert_eq!(looks.images.len(), 1);
    assert!(looks.images[0].mime == "image/jpeg" && looks.images[0].bytes.starts_with(&[0xff, 0xd8]));
    let part = looks.parts[0].as_ref().unwrap();
    assert_eq!((part.image, part.uvs.len()), (0, loaded.character.surface().positions().len()));
    assert!(part.uvs.iter().flatten().all(|c| (-0.01..=1.01).contains(c)));
}
