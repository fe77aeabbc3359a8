//! The method `strain` on the samples: pins, joints, gravity, damping, the same bits on every path.

mod position_common;

use pliant::asset::Character;
use pliant::body::{Body, Node};
use pliant::glam::{DAffine3, DVec3, Vec3};
use pliant::measure::TetJudge;
use pliant::method::{Damping, Deformer, Fibre, Model, Place, Preset, Region, Settings, Shape};
use pliant::rig::{Motion, Pose};
use pliant::simd::Path;
use position_common::{
    bits, coarse, farthest, judge, linear, navel, play, pose_at, prepare_as, sample, scripted, settings, step,
};

/// Of the limbs among the samples.
const RADIUS: f32 = 0.12;

fn prepare<'c>(character: &'c Character, settings: &Settings) -> Box<dyn Deformer + 'c> {
    prepare_as("strain", character, settings, Path::best())
}

fn place(node: &Node) -> Vec3 {
    Vec3::new(node[0], node[1], node[2])
}

fn moved(a: &[Node], b: &[Node]) -> f32 {
    a.iter().zip(b).map(|(a, b)| place(a).distance(place(b))).fold(0.0, f32::max)
}

/// The longest edge of a body's tets, in cells.
fn longest_edge(body: &Body, nodes: &[Node]) -> f32 {
    let edges = body.tets().tets().iter().flat_map(|t| [0, 1, 2, 3].map(|k| [t[k], t[(k + 1) % 4]]));
    let length = |[a, b]: [u32; 2]| place(&nodes[a as usize]).distance(place(&nodes[b as usize]));
    edges.map(length).fold(0.0, f32::max) / body.cell() as f32
}

#[test]
fn joints_keep_their_sections_and_volume_and_hold_still() {
    for name in ["cylinder", "arm"] {
        let character = sample(name);
        for clip in ["twist", "bend"] {
            let deformer = prepare(&character, &settings(5000));
            let (judge, flesh) =
                (judge(&character), TetJudge::new(&character, deformer.body().expect("flesh")));
            let motion = play(&character, clip);
            let mut instance = deformer.instance();
            let mut shape = Shape::rest(&character);
            for frame in 0..=60 {
                let time = f64::from(frame) / 30.0;
                assert_eq!(step(instance.as_mut(), &motion, time, &mut shape).held, 0);
                let pose = pose_at(&motion, time);
                let section = judge.frame(&pose, &shape.positions).section().expect("sections");
                assert!(section.min >= 0.85, "{name} {clip} at {time}: {}", section.min);
                let tets = flesh.frame(&pose, instance.nodes().expect("nodes")).expect("finite");
                assert_eq!(tets.inverted, 0, "{name} {clip} at {time}");
                let volume = tets.volume_error_percent.expect("not scaled");
                assert!(volume <= 1.0, "{name} {clip} at {time}: {volume} %");
            }
        }
    }
}

/// Bent and held, nothing moves any more.
/// As stiff as can be, with long ticks and heavy inner layers: the flesh in the hollow of a knee has no room.
#[test]
fn crushed_flesh_is_turned_right() {
    let character = sample("leg");
    let mut settings = settings(12_000);
    settings.simulation.step = Some(1.0 / 30.0);
    settings.strain.stretch = [1.0; 3];
    settings.strain.shear = [1.0; 3];
    settings.strain.consolidating = Some(6);
    let deformer = prepare(&character, &settings);
    let judge = TetJudge::new(&character, deformer.body().expect("flesh"));
    let motion = play(&character, "bend");
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(&character);
    for frame in 0..=60 {
        let time = f64::from(frame) / 30.0;
        step(instance.as_mut(), &motion, time, &mut shape);
        let found = judge.frame(&pose_at(&motion, time), instance.nodes().expect("nodes")).expect("measures");
        assert_eq!(found.inverted, 0, "at {time}");
        assert!(found.volume_error_percent.expect("a volume").abs() < 1.0, "at {time}");
        let longest = longest_edge(deformer.body().expect("flesh"), instance.nodes().expect("nodes"));
        assert!(longest < 4.0, "at {time}: a node is thrown out, its edges are {longest} cells long");
    }
}

/// A foot is short: a bend of the ankle sets all of it free, and its bone pins next to nothing. What is the foot's alone
/// turns with it all the same, heel and all.
#[test]
fn a_foot_turns_as_one() {
    let character = sample("human");
    let (joints, slots) = (character.skeleton().joints(), character.slots());
    let foot = joints.iter().position(|j| j.name == "LeftFoot").expect("a foot");
    let slot = slots.iter().position(|s| s.joint as usize == foot).expect("its slot");
    let rest = character.rest_positions();
    let of_foot = |v: &usize| character.weights().of(*v).any(|(s, w)| s as usize == slot && w > 0.99);
    let own: Vec<usize> = (0..rest.len()).filter(of_foot).collect();
    let ends = |far: fn(f32, f32) -> f32, start: f32| own.iter().map(|&v| rest[v].z).fold(start, far);
    let length = ends(f32::max, f32::MIN) - ends(f32::min, f32::MAX);
    for axis in [DVec3::X, DVec3::Y] {
        let motion = scripted(&character, |time: f64, joint, local: DAffine3| {
            let turn = DAffine3::from_axis_angle(axis, 45f64.to_radians() * (2.0 * time).min(1.0));
            if joint == foot { local * turn } else { local }
        });
        let deformer = prepare(&character, &settings(8000));
        let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
        for frame in 0..=30 {
            step(instance.as_mut(), &motion, f64::from(frame) / 30.0, &mut shape);
        }
        let carried = pose_at(&motion, 1.0).world_from_joint[foot] * slots[slot].joint_from_rest;
        let off = |v: usize| {
            carried.transform_point3(rest[v].as_dvec3()).as_vec3().distance(shape.positions[v]) / length
        };
        let most = own.iter().map(|&v| off(v)).fold(0.0, f32::max);
        assert!(most < 0.08, "turned about {axis}: {most} of the foot's length off");
    }
}

#[test]
fn a_held_bend_does_not_jitter() {
    let character = sample("cylinder");
    let motion = scripted(&character, |time: f64, joint, local: DAffine3| {
        let turn = DAffine3::from_axis_angle(DVec3::NEG_Z, 150f64.to_radians() * time.min(1.0));
        if joint == 1 { local * turn } else { local }
    });
    let deformer = prepare(&character, &settings(3000));
    let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
    for frame in 0..=60 {
        step(instance.as_mut(), &motion, f64::from(frame) / 30.0, &mut shape);
    }
    for frame in 201..=230 {
        let before = instance.nodes().expect("nodes").to_vec();
        step(instance.as_mut(), &motion, f64::from(frame) / 100.0, &mut shape);
        let far = moved(&before, instance.nodes().expect("nodes"));
        assert!(far < 2e-3 * RADIUS, "{frame}: {} radii in a tick", far / RADIUS);
    }
}

/// Pinned nodes ride on their bone; every bone has some, no tet is between two.
#[test]
fn pins_ride_on_their_bones() {
    for name in ["arm", "human"] {
        let character = sample(name);
        let deformer = prepare(&character, &settings(8000));
        let (pins, body) = (deformer.pins().expect("pins").to_vec(), deformer.body().expect("flesh"));
        for (slot, joint) in character.slots().iter().enumerate() {
            let bones = pins.iter().filter(|&&p| p == slot as u32).count();
            let name = &character.skeleton().joints()[joint.joint as usize].name;
            assert!(bones > 0, "{name} holds nothing");
        }
        for tet in body.tets().tets() {
            let mut held: Vec<u32> =
                tet.iter().map(|&n| pins[n as usize]).filter(|&p| p != u32::MAX).collect();
            held.dedup();
            assert!(held.len() < 2, "{name}: a tet between bones {held:?}");
        }
        let motion = play(&character, "bend");
        let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
        step(instance.as_mut(), &motion, 0.7, &mut shape);
        let pose = pose_at(&motion, 0.7);
        let nodes = instance.nodes().expect("nodes");
        for (node, &slot) in pins.iter().enumerate().filter(|(_, p)| **p != u32::MAX) {
            let slot = &character.slots()[slot as usize];
            let carried = pose.world_from_joint[slot.joint as usize] * slot.joint_from_rest;
            let rest = body.tets().positions()[node].as_dvec3();
            let off = carried.transform_point3(rest).as_vec3().distance(place(&nodes[node]));
            assert!(off < 1e-4, "{name}, node {node}: {off} off its bone");
        }
    }
}

/// How far the skin of a limb is turned about its bone, in shares of the bone from its start: `turned` is the turn of the
/// limb without it, from rest.
fn turns_along(character: &Character, joint: usize, turned: DAffine3, shape: &Shape) -> Vec<f64> {
    let skeleton = character.skeleton();
    let bone = skeleton.bones().into_iter().find(|b| b.joint == joint as u32).expect("a bone");
    let way = bone.end - bone.start;
    let rest = character.rest_positions();
    let mut sums = [[0.0f64; 2]; 8];
    for (rest, posed) in rest.iter().zip(&shape.positions) {
        let off = rest.as_dvec3() - bone.start;
        let share = off.dot(way) / way.length_squared();
        let was = off - way * share;
        if (0.3..0.9).contains(&share) && was.length() < 0.1 {
            let back = turned.inverse().transform_point3(posed.as_dvec3()) - bone.start;
            let is = back - way * (back.dot(way) / way.length_squared());
            let sum = &mut sums[((share - 0.3) / 0.075) as usize];
            sum[0] += was.cross(is).dot(way.normalize());
            sum[1] += was.dot(is);
        }
    }
    sums.iter().map(|[sine, cosine]| libm::atan2(*sine, *cosine).to_degrees()).collect()
}

/// An arm that is raised and rolled fast is wrung nowhere: the roll grows evenly from the shoulder to the elbow, and goes
/// on where it passes half a turn.
#[test]
fn a_roll_is_spread_along_the_arm() {
    let character = sample("human");
    let skeleton = character.skeleton();
    let joint = skeleton.joints().iter().position(|j| j.name == "RightUpperArm").expect("an arm");
    let bone = skeleton.bones().into_iter().find(|b| b.joint == joint as u32).expect("a bone");
    let axis = (bone.end - bone.start).normalize();
    let raise = DAffine3::from_axis_angle(DVec3::NEG_Z, 0.5);
    let roll = |time: f64| 100.0 * (time / 0.15).min(1.0) + 100.0 * (time - 0.5).clamp(0.0, 1.0);
    let motion = scripted(&character, |time: f64, own, local: DAffine3| {
        let roll = DAffine3::from_axis_angle(axis, roll(time).to_radians());
        if own == joint { local * raise * roll } else { local }
    });
    let deformer = prepare(&character, &settings(8000));
    let (judge, flesh) = (judge(&character), TetJudge::new(&character, deformer.body().expect("flesh")));
    let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
    let start = DAffine3::from_translation(bone.start);
    let raised = start * raise * start.inverse();
    let mut middle = 0.0f64;
    for frame in 0..=45 {
        let time = f64::from(frame) / 30.0;
        step(instance.as_mut(), &motion, time, &mut shape);
        let pose = pose_at(&motion, time);
        let found = flesh.frame(&pose, instance.nodes().expect("nodes")).expect("measures");
        assert_eq!(found.inverted, 0, "at {time}");
        let section = judge.frame(&pose, &shape.positions).section().expect("sections");
        let turns = turns_along(&character, joint, raised, &shape);
        assert!(section.min >= 0.85, "at {time}: {}", section.min);
        middle += (turns[3] - middle + 180.0).rem_euclid(360.0) - 180.0;
        if time > 0.3 {
            let share = middle / roll(time);
            assert!((0.45..0.75).contains(&share), "at {time}: the middle takes {share} of the roll");
        }
        if (0.3..0.5).contains(&time) {
            let steps = turns.windows(2).map(|t| (t[1] - t[0]) / roll(time));
            assert!(steps.clone().all(|s| (0.02..0.15).contains(&s)), "at {time}: {turns:?}");
            assert!(turns[7] > 0.85 * roll(time), "at {time}: {turns:?}");
        }
    }
}

/// Nothing moves at rest, and a character that is carried slowly through space keeps its shape.
#[test]
fn rest_and_slow_travel_leave_the_shape_alone() {
    let character = coarse("human", 2000);
    let deformer = prepare(&character, &settings(3000));
    let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
    let rest = Pose::rest(&character);
    step(instance.as_mut(), &rest, 0.5, &mut shape);
    assert!(farthest(&character.rest_positions(), &shape.positions) < 1e-4);
    let motion = scripted(&character, |time: f64, joint, local: DAffine3| {
        let way = DAffine3::from_translation(DVec3::new(0.3 * time, 0.0, 0.0));
        if joint == 0 { way * local } else { local }
    });
    let mut instance = deformer.instance();
    for frame in 0..=60 {
        step(instance.as_mut(), &motion, f64::from(frame) / 30.0, &mut shape);
    }
    let way = Vec3::new(0.6, 0.0, 0.0);
    let carried: Vec<Vec3> = character.rest_positions().iter().map(|p| *p + way).collect();
    let off = farthest(&carried, &shape.positions);
    assert!(off < 2e-3, "{off}");
}

/// Gravity in g pulls soft flesh down; settled flesh bears its weight in the rest pose and hangs where it is turned over.
#[test]
fn settled_flesh_does_not_sag_at_rest() {
    let character = sample("chubby");
    let navel = navel(&character);
    let sag = |settled: bool, over: bool| {
        let mut settings = settings(4000);
        settings.strain.settled = settled;
        settings.strain.hold = 0.0;
        settings.simulation.gravity = Some([0.0, -9.81, 0.0]);
        let jelly = Region { softness: Some(1.0), ..Region::new("", Place::All, Preset::Jelly) };
        settings.regions.push(jelly);
        let deformer = prepare(&character, &settings);
        let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
        let turn = if over { DAffine3::from_rotation_z(std::f64::consts::PI) } else { DAffine3::IDENTITY };
        let motion = scripted(&character, |_, joint, local| if joint == 0 { turn * local } else { local });
        step(instance.as_mut(), &motion, 0.0, &mut shape);
        step(instance.as_mut(), &motion, 2.0, &mut shape);
        let rest = turn.transform_point3(character.rest_positions()[navel].as_dvec3()).y;
        rest - f64::from(shape.positions[navel].y)
    };
    let (pulled, settled, hung) = (sag(false, false), sag(true, false), sag(true, true));
    assert!(pulled > 0.002, "flesh has no weight: {pulled}");
    assert!(settled.abs() < 0.05 * pulled, "settled flesh sags by {settled} of {pulled}");
    assert!(hung > 1.3 * pulled, "turned over it hangs by {hung}, its weight alone is {pulled}");
}

/// A fibre down the belly bears its weight; the same one across it does not.
#[test]
fn a_fibre_bears_along_its_way() {
    let character = sample("chubby");
    let navel = navel(&character);
    let front = character.rest_positions()[navel].as_dvec3();
    let sag = |model: Model, way: Option<DVec3>| {
        let mut settings = settings(4000);
        settings.simulation.model = model;
        settings.strain.young = 3e5;
        settings.strain.hold = 0.0;
        settings.strain.stretch = [0.05; 3];
        settings.strain.shear = [0.02; 3];
        settings.simulation.gravity = Some([0.0, -9.81, 0.0]);
        settings.fibres.extend(way.map(|way| Fibre {
            points: [-0.3, 0.0, 0.3].map(|t| (front + way * t - DVec3::Z * 0.05).to_array()).to_vec(),
            radius: Some(0.4),
            stretch: Some([0.9, 0.05, 0.05]),
            ..Fibre::default()
        }));
        let deformer = prepare(&character, &settings);
        let mut shape = Shape::rest(&character);
        step(deformer.instance().as_mut(), &Pose::rest(&character), 1.0, &mut shape);
        character.rest_positions()[navel].y - shape.positions[navel].y
    };
    for model in [Model::Stiffness, Model::Compliance] {
        let [none, down, across] = [None, Some(DVec3::Y), Some(DVec3::X)].map(|way| sag(model, way));
        assert!(none > 1e-3, "{model:?}: soft flesh hangs: {none}");
        assert!(
            down < 0.8 * none && down < 0.8 * across,
            "{model:?}: none {none}, down {down}, across {across}"
        );
    }
}

/// Either damping brings swinging flesh to rest; more of it sooner.
#[test]
fn damping_ends_a_swing() {
    let character = sample("chubby");
    let navel = navel(&character);
    // To the side and back within a fifth of a second, then still.
    let motion = scripted(&character, |time: f64, joint, local: DAffine3| {
        let share = (time / 0.2).clamp(0.0, 1.0);
        let way =
            DAffine3::from_translation(DVec3::new(0.1 * libm::sin(share * std::f64::consts::PI), 0.0, 0.0));
        if joint == 0 { way * local } else { local }
    });
    let swing = |model: Damping, damping: f64| {
        let mut settings = settings(3000);
        settings.strain.damping_model = model;
        settings.strain.hold = 0.0;
        let region = Region::new("", Place::All, Preset::Jelly);
        settings.regions.push(Region { damping: Some(damping), ..region });
        let deformer = prepare(&character, &settings);
        let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
        let mut speed = 0.0f32;
        let mut before = shape.positions[navel];
        for tick in 0..120 {
            step(instance.as_mut(), &motion, f64::from(tick) / 100.0, &mut shape);
            if tick > 40 {
                speed = speed.max(before.distance(shape.positions[navel]));
            }
            before = shape.positions[navel];
        }
        speed
    };
    for model in [Damping::Viscous, Damping::Momentum] {
        let (little, much) = (swing(model, 0.5), swing(model, 20.0));
        assert!(little > 1e-4, "{model:?}: nothing swings, {little}");
        assert!(much < 0.5 * little, "{model:?}: {much} against {little}");
    }
}

/// The same settings give the same shape at 3,400 and at 24,800 tets.
#[test]
fn fineness_is_no_stiffness() {
    let character = coarse("leg", 3000);
    let motion = play(&character, "bend");
    let bent = |tets: usize| {
        let mut settings = settings(tets);
        settings.strain.consolidating = Some(6);
        settings.strain.hold = 0.0;
        let deformer = prepare(&character, &settings);
        let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
        for frame in 0..=10 {
            step(instance.as_mut(), &motion, f64::from(frame) / 10.0, &mut shape);
        }
        shape.positions
    };
    let (low, high) = (bent(3452), bent(24_837));
    let heights = character.rest_positions().into_iter().map(|p| p.y);
    let length = heights.clone().fold(f32::MIN, f32::max) - heights.fold(f32::MAX, f32::min);
    let mean = low.iter().zip(&high).map(|(a, b)| a.distance(*b)).sum::<f32>() / low.len() as f32;
    assert!(mean < 0.01 * length, "{} of the length on average", mean / length);
    assert!(farthest(&character.rest_positions(), &high) > 0.2 * length, "it does not bend");
}

#[test]
fn all_paths_and_threads_give_the_same_bits() {
    let character = coarse("arm", 1500);
    let motion = play(&character, "bend");
    let run = |path: Path, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let deformer = prepare_as("strain", &character, &settings(3000), path);
            let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
            for frame in 0..12 {
                step(instance.as_mut(), &motion as &dyn Motion, f64::from(frame) / 12.0, &mut shape);
            }
            bits(&shape)
        })
    };
    let reference = run(Path::Scalar, 1);
    for path in Path::available() {
        for threads in [1, 2, 3] {
            assert!(run(path, threads) == reference, "{path}, {threads} threads");
        }
    }
}

/// A person's fingers are thinner than the body's cells: left to its inertia, the little flesh in theirs would lag behind a
/// hand that is shaken by more than a finger is thick, and that of each finger by another way.
#[test]
fn what_is_thinner_than_a_cell_goes_with_its_bones() {
    let character = sample("human");
    let motion = scripted(&character, |time: f64, joint, local: DAffine3| {
        let shake = DAffine3::from_translation(DVec3::Z * 0.08 * libm::sin(30.0 * time));
        if joint == 0 { shake * local } else { local }
    });
    let deformer = prepare(&character, &settings(8000));
    let (mut instance, mut shape) = (deformer.instance(), Shape::rest(&character));
    let (joints, slots) = (character.skeleton().joints(), character.slots());
    let with = |name: &str| -> Vec<usize> {
        let of = |v: &usize| {
            character
                .weights()
                .of(*v)
                .any(|(s, w)| joints[slots[s as usize].joint as usize].name == name && w > 0.9)
        };
        (0..character.rest_positions().len()).filter(of).collect()
    };
    let (fingers, belly) = (with("LeftFingers"), navel(&character));
    assert!(fingers.len() > 20);
    let (mut of_fingers, mut of_belly) = (0.0f32, 0.0f32);
    for frame in 0..=60 {
        let time = f64::from(frame) / 60.0;
        step(instance.as_mut(), &motion, time, &mut shape);
        let carried = linear(&character, &pose_at(&motion, time));
        let off = |v: usize| carried[v].distance(shape.positions[v]);
        of_fingers = fingers.iter().map(|&v| off(v)).fold(of_fingers, f32::max);
        of_belly = of_belly.max(off(belly));
    }
    assert!(of_belly > 0.005, "the belly swings by {of_belly}");
    assert!(of_fingers < 0.003, "fingers lag by {of_fingers}");
}
