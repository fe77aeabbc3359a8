//! Volume is kept to a millionth, where it was lost and by the flesh that lost it.

mod volume_common;

use pliant::asset::{Character, Morph, Painted, Surface};
use pliant::body::{Body, Fineness};
use pliant::glam::{DAffine3, DVec3, Vec3};
use pliant::method::{self, CorrectionMap, Direction, Settings, Setup, Shape, Skinning};
use pliant::rig::{Motion, Playback, Pose};
use pliant::simd::Path;
use volume_common::{farthest, joint, judge, prepare, sample, skin, turned, with_overlap};

/// What the judge, who shares no code with the method, may find at most: in percent.
const EXACT: f64 = 1e-4;

fn settings(map: CorrectionMap) -> Settings {
    let mut settings = Settings::default();
    settings.volume.map = map;
    settings
}

#[test]
fn samples_keep_their_volume_in_every_frame() {
    for (name, clips) in
        [("giraffe", ["walk", "bend"]), ("elephant", ["run", "jump"]), ("hand", ["bend", "wave"])]
    {
        let character = sample(name, None);
        let judge = judge(&character, false);
        for map in [CorrectionMap::Rubber, CorrectionMap::Organic] {
            let deformer = prepare("volume", &character, &settings(map), Path::best());
            for clip in clips {
                let clip = character.clips().iter().find(|c| c.name() == clip).unwrap();
                let motion = Playback::once(&character, Some(clip));
                let (mut instance, mut pose) = (deformer.instance(), Pose::default());
                let mut shape = pliant::method::Shape::rest(&character);
                for frame in 0..6 {
                    let time = clip.end() * f64::from(frame) / 5.0;
                    let health = instance.step(&motion, time, &mut shape, &mut |_| {});
                    motion.pose(time, &mut pose);
                    let error = judge.frame(&pose, &shape.positions).volume_error_percent.unwrap();
                    assert!(
                        error < EXACT,
                        "{name} {} {map:?} frame {frame}: {error} %, {health:?}",
                        clip.name()
                    );
                    assert!(health.off.unwrap().abs() < 1e-6, "{name}: {health:?}");
                    assert!(shape.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-3));
                }
            }
        }
    }
}

#[test]
fn bases_and_directions_keep_it_too() {
    let character = sample("arm", Some(2000));
    let judge = judge(&character, false);
    let elbow = joint(&character, "LowerArm");
    let pose = turned(&character, &[(elbow, DVec3::Z, 80.0)]);
    let plain = judge.frame(&pose, &skin("lbs", &character, &Settings::default(), &pose).0.positions);
    assert!(plain.volume_error_percent.unwrap() > 0.5);
    for skinning in [Skinning::Lbs, Skinning::Dqs, Skinning::Smooth] {
        for direction in [Direction::Normals, Direction::AwayFromBone] {
            let mut settings = Settings { skinning, ..Settings::default() };
            settings.volume.direction = direction;
            let (shape, _) = skin("volume", &character, &settings, &pose);
            let error = judge.frame(&pose, &shape.positions).volume_error_percent.unwrap();
            assert!(error < EXACT, "{skinning:?} {direction:?}: {error} %");
        }
    }
}

/// One arm says nothing to the other.
#[test]
fn corrections_are_local() {
    let character = sample("human", None);
    let size = character.diagonal();
    let rest = Pose::rest(&character);
    let (still, _) = skin("volume", &character, &Settings::default(), &rest);
    assert!(farthest(&still.positions, character.surface().positions()) < 1e-6 * size);
    for name in ["LeftLowerArm", "LeftUpperArm"] {
        let pose = turned(&character, &[(joint(&character, name), DVec3::Y, 70.0)]);
        let (bent, _) = skin("volume", &character, &Settings::default(), &pose);
        let (plain, _) = skin("lbs", &character, &Settings::default(), &pose);
        assert!(farthest(&bent.positions, &plain.positions) > 1e-3 * size, "something is corrected");
        let right = |v: usize| character.surface().positions()[v].x < -0.1;
        for v in (0..bent.positions.len()).filter(|&v| right(v)) {
            let moved = f64::from(bent.positions[v].distance(plain.positions[v]));
            assert!(moved < 1e-6 * size, "{name}: vertex {v} moved by {moved}");
        }
    }
}

/// Organic flesh gives way where it is thick: inside the arm's bend. Rubber all around.
#[test]
fn organic_goes_to_the_fleshy_side() {
    let character = sample("arm", Some(3000));
    let elbow = joint(&character, "LowerArm");
    let pose = turned(&character, &[(elbow, DVec3::Z, 70.0)]);
    let plain = skin("lbs", &character, &Settings::default(), &pose).0.positions;
    let bone = character.skeleton().rest_position(elbow as u32).y;
    let share = |map| {
        let mut settings = with_overlap(false);
        settings.volume.map = map;
        let moved = skin("volume", &character, &settings, &pose).0.positions;
        let (mut thick, mut thin) = (0.0f64, 0.0f64);
        for (v, p) in character.surface().positions().iter().enumerate() {
            let way = f64::from(moved[v].distance(plain[v]));
            // The bone lies low in the arm: above it is flesh.
            let side = if f64::from(p.y) > bone { &mut thick } else { &mut thin };
            *side = side.max(way);
        }
        thick / thin
    };
    let (organic, rubber) = (share(CorrectionMap::Organic), share(CorrectionMap::Rubber));
    assert!(organic > 1.3 * rubber, "organic {organic}, rubber {rubber}");
}

#[test]
fn joints_can_be_merged_left_out_and_painted_over() {
    let character = sample("arm", Some(1500));
    let mut raw = character.clone().into_raw();
    raw.paint.push(Painted { name: "_KEEP".into(), values: vec![0.0; raw.surface.positions().len()] });
    let character = Character::new(raw).unwrap();
    let pose = turned(&character, &[(joint(&character, "LowerArm"), DVec3::Z, 70.0)]);
    let plain = skin("lbs", &character, &Settings::default(), &pose).0.positions;
    let changes: [fn(&mut Settings); 3] = [
        |s| s.volume.excluded = vec!["LowerArm".into()],
        |s| s.volume.merged = vec![vec!["LowerArm".into(), "UpperArm".into()]],
        |s| s.volume.painted = Some("_KEEP".into()),
    ];
    for (k, change) in changes.iter().enumerate() {
        let mut settings = with_overlap(false);
        let (corrected, _) = skin("volume", &character, &settings, &pose);
        assert!(farthest(&corrected.positions, &plain) > 1e-3);
        change(&mut settings);
        let (left, health) = skin("volume", &character, &settings, &pose);
        assert!(farthest(&left.positions, &plain) < 1e-6, "change {k}");
        assert!(k == 1 || health.off.is_some());
    }
    let mut settings = Settings::default();
    settings.volume.excluded = vec!["Elbow".into()];
    assert!(settings.check_on(&character).unwrap_err().path.ends_with("excluded"));
}

/// A morph and a scale change the volume that is to be kept.
#[test]
fn morphs_and_scales_count() {
    let mut raw = sample("arm", Some(1500)).into_raw();
    let (vertices, positions): (Vec<u32>, Vec<Vec3>) = (raw.surface.positions().iter().enumerate())
        .filter(|(_, p)| p.x > 0.1 && p.x < 0.25)
        .map(|(v, p)| (v as u32, Vec3::new(0.0, p.y - 0.1, p.z) * 0.3))
        .unzip();
    let normals = vec![Vec3::ZERO; vertices.len()];
    raw.morphs.push(Morph { name: "strong".into(), vertices, positions, normals, default_weight: 0.0 });
    let character = Character::new(raw).unwrap();
    let judge = judge(&character, false);
    let mut pose = turned(&character, &[(joint(&character, "LowerArm"), DVec3::Z, 60.0)]);
    pose.morph_weights = vec![0.8];
    for world in &mut pose.world_from_joint {
        *world = DAffine3::from_scale(DVec3::splat(1.7)) * *world;
    }
    let (shape, health) = skin("volume", &character, &Settings::default(), &pose);
    let error = judge.frame(&pose, &shape.positions).volume_error_percent.unwrap();
    assert!(error < EXACT, "{error} %, {health:?}");
}

#[test]
fn paths_and_threads_give_the_same_bits() {
    let character = sample("human", Some(3000));
    let clip = character.clips().iter().find(|c| c.name() == "bend").unwrap();
    let motion = Playback::once(&character, Some(clip));
    for direction in [Direction::Normals, Direction::AwayFromBone] {
        let mut settings = Settings::default();
        settings.volume.direction = direction;
        let frames = |path, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let deformer = prepare("volume", &character, &settings, path);
                let mut instance = deformer.instance();
                let mut shape = pliant::method::Shape::rest(&character);
                let mut all = Vec::new();
                for time in [0.0, 0.7, 1.0, 0.2] {
                    instance.step(&motion, time * clip.end(), &mut shape, &mut |_| {});
                    all.extend(
                        shape
                            .positions
                            .iter()
                            .chain(&shape.normals)
                            .flat_map(|v| v.to_array().map(f32::to_bits)),
                    );
                }
                all
            })
        };
        let reference = frames(Path::Scalar, 1);
        for path in Path::available() {
            for threads in [1, 3] {
                assert!(frames(path, threads) == reference, "{path}, {threads} threads");
            }
        }
    }
}

/// Skins that enclose nothing, or are no flesh, stay as they are, with a word about it.
#[test]
fn open_and_odd_skins() {
    let mut raw = sample("arm", Some(1200)).into_raw();
    let triangles: Vec<[u32; 3]> = (raw.surface.triangles().iter())
        .filter(|t| t.iter().any(|&v| raw.surface.positions()[v as usize].z > 0.0))
        .copied()
        .collect();
    raw.parts[0].triangles = 0..triangles.len() as u32;
    raw.surface = pliant::asset::Surface::new(raw.surface.positions().to_vec(), None, triangles).unwrap();
    let half = Character::new(raw).unwrap();
    let pose = turned(&half, &[(joint(&half, "LowerArm"), DVec3::Z, 70.0)]);
    let deformer = prepare("volume", &half, &with_overlap(false), Path::best());
    assert!(deformer.warnings().iter().any(|w| w.contains("open") && w.contains("edges: ")));
    let (shape, _) = skin("volume", &half, &with_overlap(false), &pose);
    assert!(shape.positions.iter().all(|p| p.is_finite()));
    let sheet = pliant::skin::bench_rig(200, 3, 1).unwrap();
    let (shape, _) = skin("volume", &sheet, &Settings::default(), &pliant::skin::bench_pose(&sheet));
    assert!(shape.positions.iter().chain(&shape.normals).all(|p| p.is_finite()));
}

/// The volume of an open skin is that of the tets inside it.
#[test]
fn an_open_skin_with_tets_keeps_their_volume() {
    let whole = sample("arm", Some(2000));
    let (positions, triangles) = (whole.surface().positions(), whole.surface().triangles());
    let body = Body::of_skin(positions, triangles, Fineness::Tets(3000), &mut |_| true).unwrap();
    let tets = body.tets().clone();
    // Cut off at the shoulder: the rest is a tube with one end.
    let mut raw = whole.clone().into_raw();
    let kept = triangles.iter().filter(|t| t.iter().any(|&v| positions[v as usize].x > 0.05));
    let kept: Vec<[u32; 3]> = kept.copied().collect();
    assert!(kept.len() + 10 < triangles.len(), "something is cut off");
    raw.parts[0].triangles = 0..kept.len() as u32;
    raw.surface = Surface::new(positions.to_vec(), None, kept).unwrap();
    let open = Character::new(raw).unwrap();
    for skinning in [Skinning::Lbs, Skinning::Dqs, Skinning::Smooth] {
        let settings = Settings { skinning, ..with_overlap(false) };
        let setup = Setup {
            path: Path::best(),
            settings: &settings,
            tets: Some(tets.clone()),
            progress: &mut |_| true,
        };
        let deformer = method::prepare("volume", &open, setup).unwrap();
        assert!(deformer.warnings().is_empty(), "{:?}", deformer.warnings());
        let mut instance = deformer.instance();
        let (mut shape, mut alone) = (Shape::rest(&open), Shape::positions_alone(&open));
        for (degrees, least) in [(0.0, 0.0), (40.0, 1e-4), (90.0, 1e-3)] {
            let pose = turned(&open, &[(joint(&open, "LowerArm"), DVec3::Z, degrees)]);
            let health = instance.step(&pose, 0.0, &mut shape, &mut |_| {});
            // Smooth skinning keeps nearly all by itself.
            let is_lost = skinning != Skinning::Smooth;
            let before = health.off_before_overlap.unwrap().abs();
            assert!(!is_lost || before >= least, "{skinning:?} {degrees}: {health:?}");
            assert!(health.off.unwrap().abs() < 1e-6, "{skinning:?} {degrees}: {health:?}");
            let nodes: Vec<DVec3> =
                (instance.nodes().unwrap().iter()).map(|n| Vec3::new(n[0], n[1], n[2]).as_dvec3()).collect();
            let volume = |at: &dyn Fn(u32) -> DVec3| -> f64 {
                let of = |t: &[u32; 4]| {
                    let [a, b, c, d] = t.map(at);
                    (b - a).cross(c - a).dot(d - a) / 6.0
                };
                tets.tets().iter().map(of).sum()
            };
            let rest = volume(&|n| tets.positions()[n as usize].as_dvec3());
            let error = volume(&|n| nodes[n as usize]) / rest - 1.0;
            assert!(error.abs() < 1e-6, "{skinning:?} {degrees}: {error}");
            // The skin goes along: where it is whole it encloses as much, but for how coarse the tets are.
            let judged = judge(&whole, false).frame(&pose, &shape.positions).volume_error_percent.unwrap();
            let plain = skin(["lbs", "dqs", "smooth"][skinning as usize], &whole, &settings, &pose).0;
            let before = judge(&whole, false).frame(&pose, &plain.positions).volume_error_percent.unwrap();
            assert!(!is_lost || judged <= 0.2 * before, "{skinning:?} {degrees}: {judged} of {before} %");
            assert!(shape.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-3));
            instance.step(&pose, 0.0, &mut alone, &mut |_| {});
            assert!(alone.positions == shape.positions && alone.normals.is_empty(), "{skinning:?} {degrees}");
        }
    }
}
