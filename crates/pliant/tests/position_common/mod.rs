//! What the tests of the simulated methods share.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use pliant::asset::{Bone, Character, Joint, Local, Part, RawCharacter, Skeleton, Slot, Surface, Weights};
use pliant::glam::{DAffine3, DVec3, Vec3};
use pliant::measure::{Judge, Options};
use pliant::method::{self, Deformer, Health, Instance, Place, Preset, Region, Settings, Setup, Shape};
use pliant::rig::{Motion, Playback, Pose};
use pliant::simd::Path;
use pliant::zoo;

/// A sample character.
pub fn sample(name: &str) -> Character {
    zoo::character(name, None).expect("a sample")
}

/// A sample character with a coarser skin.
pub fn coarse(name: &str, vertices: usize) -> Character {
    zoo::character(name, Some(vertices)).expect("a sample")
}

/// A bone of a figure.
pub struct Limb {
    pub name: &'static str,
    pub parent: Option<u32>,
    pub from: DVec3,
    pub to: DVec3,
}

/// A character of such bones, whose slots are in their order.
pub fn figure(
    points: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    weights: &[Vec<(u16, f32)>],
    limbs: &[Limb],
) -> Character {
    let joints = limbs.iter().map(|limb| Joint {
        name: limb.name.into(),
        parent: limb.parent,
        local: Local::offset(limb.from - limb.parent.map_or(DVec3::ZERO, |p| limbs[p as usize].from)),
        world_from_rest: DAffine3::from_translation(limb.from),
        deforms: true,
        tails: vec![limb.to - limb.from],
    });
    let slots = limbs
        .iter()
        .zip(0..)
        .map(|(limb, joint)| Slot { joint, joint_from_rest: DAffine3::from_translation(-limb.from) });
    let part = Part {
        name: "figure".into(),
        mesh: 0,
        vertices: 0..points.len() as u32,
        triangles: 0..triangles.len() as u32,
        has_normals: false,
        color: [0.5; 3],
    };
    Character::new(RawCharacter {
        skeleton: Skeleton::new(joints.collect()).expect("sound"),
        weights: Weights::new(weights, limbs.len()).expect("sound"),
        slots: slots.collect(),
        surface: Surface::new(points, None, triangles).expect("sound"),
        parts: vec![part],
        morphs: Vec::new(),
        clips: Vec::new(),
        paint: Vec::new(),
    })
    .expect("sound")
}

/// Settings for about so many tets.
pub fn settings(tets: usize) -> Settings {
    let mut settings = Settings::default();
    settings.body.tets = Some(tets);
    settings
}

/// `position`, prepared on the fastest path.
pub fn prepare<'c>(character: &'c Character, settings: &Settings) -> Box<dyn Deformer + 'c> {
    prepare_on(character, settings, Path::best())
}

pub fn prepare_on<'c>(character: &'c Character, settings: &Settings, path: Path) -> Box<dyn Deformer + 'c> {
    prepare_as("position", character, settings, path)
}

pub fn prepare_as<'c>(
    name: &str,
    character: &'c Character,
    settings: &Settings,
    path: Path,
) -> Box<dyn Deformer + 'c> {
    let setup = Setup { path, settings, tets: None, progress: &mut |_| true };
    method::prepare(name, character, setup).expect("prepared")
}

/// A judge that does not look for crossings.
pub fn judge(character: &Character) -> Judge {
    Judge::new(character, Options { self_intersections: false })
}

/// A clip of the character, played once.
pub fn play<'c>(character: &'c Character, clip: &str) -> Playback<'c> {
    let clip = character.clips().iter().find(|c| c.name() == clip).expect("a clip of the sample");
    Playback::once(character, Some(clip))
}

/// A motion by code: what becomes of each joint's transform against its parent at a time.
pub struct Scripted<'c, F> {
    pub character: &'c Character,
    pub local: F,
    pub period: Option<f64>,
}

/// A motion that does not start again.
pub fn scripted<F: Fn(f64, usize, DAffine3) -> DAffine3 + Sync>(
    character: &Character,
    local: F,
) -> Scripted<'_, F> {
    Scripted { character, local, period: None }
}

impl<F: Fn(f64, usize, DAffine3) -> DAffine3 + Sync> Motion for Scripted<'_, F> {
    fn pose(&self, seconds: f64, out: &mut Pose) {
        let time = self.period.map_or(seconds, |p| (seconds - (seconds / p + 1e-9).floor() * p).max(0.0));
        out.morph_weights.clear();
        out.morph_weights.extend(self.character.morphs().iter().map(|m| m.default_weight));
        out.world_from_joint.clear();
        for (index, joint) in self.character.skeleton().joints().iter().enumerate() {
            let local = (self.local)(time, index, joint.local.to_affine());
            let parent = joint.parent.map(|p| out.world_from_joint[p as usize]);
            out.world_from_joint.push(parent.map_or(local, |p| p * local));
        }
    }

    fn period(&self) -> Option<f64> {
        self.period
    }
}

/// The pose of a motion at a time.
pub fn pose_at(motion: &dyn Motion, seconds: f64) -> Pose {
    let mut pose = Pose::default();
    motion.pose(seconds, &mut pose);
    pose
}

/// Steps an instance to a time and gives the skin.
pub fn step(
    instance: &mut (dyn Instance + Send + '_),
    motion: &dyn Motion,
    seconds: f64,
    out: &mut Shape,
) -> Health {
    instance.step(motion, seconds, out, &mut |_| {})
}

/// Linear blend skinning of a pose, in f64, apart from the engine's kernels.
pub fn linear(character: &Character, pose: &Pose) -> Vec<Vec3> {
    let posed: Vec<DAffine3> = character
        .slots()
        .iter()
        .map(|s| pose.world_from_joint[s.joint as usize] * s.joint_from_rest)
        .collect();
    let rest = character.rest_positions();
    let place = |vertex: usize| {
        let p = rest[vertex].as_dvec3();
        let shares = character.weights().of(vertex);
        let sum: DVec3 =
            shares.map(|(slot, w)| posed[slot as usize].transform_point3(p) * f64::from(w)).sum();
        sum.as_vec3()
    };
    (0..rest.len()).map(place).collect()
}

/// The largest distance between two skins.
pub fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    assert_eq!(a.len(), b.len());
    let distances = a.iter().zip(b).map(|(a, b)| a.distance(*b));
    // A distance that is no number is the farthest of all.
    distances.fold(0.0, |most, d| if d > most || d.is_nan() { d } else { most })
}

pub fn finite(points: &[Vec3]) -> bool {
    points.iter().all(|p| p.is_finite())
}

/// The bits of a skin.
pub fn bits(shape: &Shape) -> Vec<u32> {
    let all = shape.positions.iter().chain(&shape.normals);
    all.flat_map(|v| v.to_array().map(f32::to_bits)).collect()
}

/// The vertex of the belly that is farthest from its bones: foremost on the middle line, between two joints.
pub fn navel(character: &Character) -> usize {
    let joint = |name: &str| {
        let joints = character.skeleton().joints();
        let found = joints.iter().find(|j| j.name == name).expect("a joint of the sample");
        found.world_from_rest.translation
    };
    let (low, high) = (joint("Hips"), joint("Chest"));
    let spine = Bone { joint: 0, end_joint: None, start: low, end: high };
    let rest = character.rest_positions();
    let belly = |p: &Vec3| {
        let p = p.as_dvec3();
        let before = p.z > low.z && p.y > low.y - 0.1 * (high.y - low.y) && p.y < high.y;
        if before && p.x.abs() < 0.05 * character.diagonal() { spine.distance(p) } else { 0.0 }
    };
    let all = 0..rest.len();
    all.max_by(|&a, &b| belly(&rest[a]).total_cmp(&belly(&rest[b]))).expect("vertices")
}

/// A ball on the belly.
pub fn belly(character: &Character, preset: Preset) -> Region {
    let center = character.rest_positions()[navel(character)].as_dvec3().to_array();
    let on = Place::Sphere { center, radius: 0.12 * character.diagonal(), falloff: None };
    Region::new("belly", on, preset)
}
