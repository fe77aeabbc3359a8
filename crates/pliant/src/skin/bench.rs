//! A rig of any size for tests and benches: a long, knobbly limb with a chain of bones.

use crate::asset::{
    AssetError, Character, Joint, Local, Part, RawCharacter, Skeleton, Slot, Surface, Weights,
};
use crate::rig::Pose;
use glam::{DAffine3, DQuat, DVec3, Vec3};

/// A closed-looking tube around a chain of bones, each vertex bound to its `influences` nearest bones. Vertices run
/// along the limb ring by ring, as modelled characters' do.
pub fn bench_rig(vertices: usize, bones: usize, influences: usize) -> Result<Character, AssetError> {
    const RING: usize = 64;
    let bones = bones.max(1);
    let at = |bone: f64| DVec3::new(bone, 0.0, 0.0);
    let joints = (0..bones)
        .map(|bone| Joint {
            name: format!("bone {bone}"),
            parent: bone.checked_sub(1).map(|p| p as u32),
            local: Local::offset(if bone == 0 { DVec3::ZERO } else { at(1.0) }),
            world_from_rest: DAffine3::from_translation(at(bone as f64)),
            deforms: true,
            tails: Vec::new(),
        })
        .collect();
    let slots = (0..bones)
        .map(|bone| Slot {
            joint: bone as u32,
            joint_from_rest: DAffine3::from_translation(-at(bone as f64)),
        })
        .collect();
    let rings = vertices.div_ceil(RING).max(2);
    let along = |vertex: usize| (vertex / RING) as f64 / (rings - 1) as f64 * bones as f64;
    let position = |vertex: usize| {
        let (sine, cosine) = libm::sincos((vertex % RING) as f64 / RING as f64 * std::f64::consts::TAU);
        let radius = 0.4 + 0.05 * libm::sin(along(vertex) * 3.0);
        DVec3::new(along(vertex), radius * cosine, radius * sine).as_vec3()
    };
    let weights: Vec<Vec<(u16, f32)>> = (0..vertices)
        .map(|vertex| {
            let mut near: Vec<(u16, f64)> = (0..bones)
                .map(|bone| (bone as u16, (along(vertex) - bone as f64 - 0.5).abs() + 0.2))
                .collect();
            near.sort_by(|a, b| a.1.total_cmp(&b.1));
            near.truncate(influences.max(1));
            near.iter().map(|&(bone, distance)| (bone, 1.0 / (distance * distance) as f32)).collect()
        })
        .collect();
    let (weights, _) = Weights::normalised(weights.iter().map(|w| w.iter().copied()), bones, |_| Some(0))?;
    let positions: Vec<Vec3> = (0..vertices).map(position).collect();
    let triangles: Vec<[u32; 3]> = (0..vertices.saturating_sub(RING + 1))
        .flat_map(|v| {
            let (a, b, c, d) = (v, v + 1, v + RING, v + RING + 1);
            [[a, c, b], [b, c, d]].map(|t| t.map(|v| v as u32))
        })
        .collect();
    let part = Part {
        name: "limb".into(),
        mesh: 0,
        vertices: 0..vertices as u32,
        triangles: 0..triangles.len() as u32,
        has_normals: false,
        color: [0.8, 0.6, 0.5],
    };
    Character::new(RawCharacter {
        skeleton: Skeleton::new(joints)?,
        surface: Surface::new(positions, None, triangles)?,
        parts: vec![part],
        slots,
        weights,
        morphs: Vec::new(),
        clips: Vec::new(),
        paint: Vec::new(),
    })
}

/// The rig curled up: every joint bent by 12 degrees and twisted by 6.
pub fn bench_pose(character: &Character) -> Pose {
    let turn = DQuat::from_xyzw(libm::sin(0.052), 0.0, libm::sin(0.105), 1.0).normalize();
    let mut pose = Pose::default();
    for joint in character.skeleton().joints() {
        let local = joint.local.to_affine() * DAffine3::from_quat(turn);
        let parent = joint.parent.map_or(DAffine3::IDENTITY, |p| pose.world_from_joint[p as usize]);
        pose.world_from_joint.push(parent * local);
    }
    pose.morph_weights = character.morphs().iter().map(|m| m.default_weight).collect();
    pose
}
