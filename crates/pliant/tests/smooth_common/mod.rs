//! What tests of smooth skinning share.
#![allow(dead_code, reason = "each test uses its part")]

use pliant::asset::{Character, Joint, Local, Part, RawCharacter, Skeleton, Surface, Weights};
use pliant::glam::{DAffine3, DVec3, Vec3};
use pliant::method::{self, Settings, Setup, Shape, SmoothWeights};
use pliant::rig::weights::{self, WeightKind};
use pliant::rig::{Playback, Pose};
use pliant::simd::Path;
use std::collections::BTreeMap;

/// Settings with weights from angles and this much bulge.
pub(crate) fn angles(bulge: f64) -> Settings {
    let mut settings = Settings::default();
    settings.smooth.weights = SmoothWeights::Angle;
    settings.smooth.bulge = bulge;
    settings
}

/// Shapes at some times of a clip, by a method.
pub(crate) fn played(
    character: &Character,
    method: &str,
    settings: &Settings,
    clip: &str,
    times: &[f64],
) -> Vec<Shape> {
    let setup = Setup { path: Path::best(), settings, tets: None, progress: &mut |_| true };
    let deformer = method::prepare(method, character, setup).expect("prepared");
    let mut instance = deformer.instance();
    let clip = character.clips().iter().find(|c| c.name() == clip).expect("a clip of that name");
    let motion = Playback::once(character, Some(clip));
    times
        .iter()
        .map(|&time| {
            let mut shape = Shape::rest(character);
            instance.step(&motion, time, &mut shape, &mut |_| {});
            shape
        })
        .collect()
}

/// The shape of a pose that is held.
pub(crate) fn held(character: &Character, method: &str, settings: &Settings, pose: &Pose) -> Shape {
    let setup = Setup { path: Path::best(), settings, tets: None, progress: &mut |_| true };
    let deformer = method::prepare(method, character, setup).expect("prepared");
    let mut shape = Shape::rest(character);
    deformer.instance().step(pose, 0.0, &mut shape, &mut |_| {});
    shape
}

/// Volume of a closed skin.
pub(crate) fn volume(character: &Character, positions: &[Vec3]) -> f64 {
    let corners = |t: &[u32; 3]| t.map(|v| positions[v as usize].as_dvec3());
    let triangles = character.surface().triangles().iter().map(corners);
    triangles.map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum()
}

/// Volume against rest less one, in percent.
pub(crate) fn change(character: &Character, positions: &[Vec3]) -> f64 {
    100.0 * (volume(character, positions) / volume(character, character.surface().positions()) - 1.0)
}

/// Area-weighted unit normals of a skin without seams.
pub(crate) fn normals(character: &Character, positions: &[Vec3]) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; positions.len()];
    for t in character.surface().triangles() {
        let [a, b, c] = t.map(|v| positions[v as usize].as_dvec3());
        t.iter().for_each(|&v| sums[v as usize] += (b - a).cross(c - a));
    }
    sums.iter().map(|s| s.normalize_or_zero()).collect()
}

pub(crate) fn farthest(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a.distance(*b))).fold(0.0, f64::max)
}

/// A tapered arm of two bones along x, a bone's length each, its bones towards the outside of a bend about z: closed, with
/// rings around the bone's line. `radii` at its start and end, `off` of the radius is how far the bone lies off-centre.
pub(crate) fn off_centre_arm(radii: [f64; 2], off: f64) -> Character {
    const RING: usize = 48;
    const RINGS: usize = 96;
    const LENGTH: f64 = 2.0;
    let joint = |name: &str, parent: Option<u32>, x: f64, tails: Vec<DVec3>| Joint {
        name: name.into(),
        parent,
        local: Local::offset(DVec3::X * if parent.is_some() { 1.0 } else { x }),
        world_from_rest: DAffine3::from_translation(DVec3::X * x),
        deforms: true,
        tails,
    };
    let joints = vec![joint("upper", None, 0.0, vec![]), joint("lower", Some(0), 1.0, vec![DVec3::X])];
    let mut positions = Vec::new();
    for ring in 0..=RINGS {
        let u = ring as f64 / RINGS as f64;
        let radius = radii[0] + (radii[1] - radii[0]) * u;
        for k in 0..RING {
            let angle = k as f64 / RING as f64 * std::f64::consts::TAU;
            // A bend about +z goes up: the flesh lies above the bone.
            let (y, z) = (radius * (libm::cos(angle) + off), radius * libm::sin(angle));
            positions.push(DVec3::new(u * LENGTH, y, z).as_vec3());
        }
    }
    let ends = [0.0, 1.0].map(|u| DVec3::new(u * LENGTH, off * radii[u as usize], 0.0).as_vec3());
    let first_end = positions.len() as u32;
    positions.extend(ends);
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    let at = |ring: usize, k: usize| (ring * RING + k % RING) as u32;
    for k in 0..RING {
        for ring in 0..RINGS {
            let (a, b, c, d) = (at(ring, k), at(ring, k + 1), at(ring + 1, k), at(ring + 1, k + 1));
            triangles.extend([[a, b, c], [b, d, c]]);
        }
        triangles.push([first_end, at(0, k + 1), at(0, k)]);
        triangles.push([first_end + 1, at(RINGS, k), at(RINGS, k + 1)]);
    }
    let count = positions.len();
    let part = Part {
        name: "arm".into(),
        mesh: 0,
        vertices: 0..count as u32,
        triangles: 0..triangles.len() as u32,
        has_normals: false,
        color: [0.8; 3],
    };
    let skeleton = Skeleton::new(joints).expect("sound");
    let raw = RawCharacter {
        surface: Surface::new(positions, None, triangles).expect("sound"),
        parts: vec![part],
        slots: weights::slots(&skeleton),
        weights: Weights::new(&vec![vec![(0, 1.0)]; count], 2).expect("sound"),
        skeleton,
        morphs: Vec::new(),
        clips: Vec::new(),
        paint: Vec::new(),
    };
    let character = Character::new(raw).expect("sound");
    let made = weights::weigh_straight(&character, WeightKind::Angle).expect("weights");
    weights::bind(character, made).expect("bound")
}

/// The arm bent by some degrees.
pub(crate) fn bent(character: &Character, degrees: f64) -> Pose {
    let mut pose = Pose::rest(character);
    pose.world_from_joint[1] *= DAffine3::from_rotation_z(degrees.to_radians());
    pose
}

/// The sharpest angle between neighbouring triangles, in degrees, of those that `chosen` takes.
pub(crate) fn sharpest(character: &Character, positions: &[Vec3], chosen: impl Fn(u32) -> bool) -> f64 {
    let mut sides: BTreeMap<(u32, u32), DVec3> = BTreeMap::new();
    let mut worst: f64 = 0.0;
    for t in character.surface().triangles() {
        let [a, b, c] = t.map(|v| positions[v as usize].as_dvec3());
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for (from, to) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            if let Some(other) = sides.insert((from.min(to), from.max(to)), normal)
                && chosen(from)
                && chosen(to)
            {
                worst = worst.max(libm::acos(normal.dot(other).clamp(-1.0, 1.0)).to_degrees());
            }
        }
    }
    worst
}
