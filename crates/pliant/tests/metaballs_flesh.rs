//! Balls fill the body, muscles make them grow, and soft ones swing.

mod position_common;

use pliant::asset::{Character, Surface};
use pliant::body::{Balls, Body, Fineness};
use pliant::glam::{DVec3, Vec3};
use pliant::method::{
    Driver, Muscle, MusclePoint, Packing, PrepareError, Preset, Settings, Shape, prepare_default,
};
use pliant::simd::Path;
use position_common::{bits, coarse, farthest, linear, navel, play, pose_at, prepare_as, sample, step};

const NAME: &str = "metaballs";

fn body(character: &Character) -> Body {
    let rest = character.rest_positions();
    let triangles = character.surface().triangles();
    Body::of_skin(&rest, triangles, Fineness::default(), &mut |_| true).expect("a body")
}

fn fill(character: &Character, body: &Body, count: usize) -> Balls {
    let rest = character.rest_positions();
    let bones = character.skeleton().bones();
    Balls::fill(body, &rest, character.surface().triangles(), &bones, count)
}

/// Numbers from 0 to 1, the same ones always.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// Places spread evenly in a body's tets.
fn places(body: &Body, count: usize) -> Vec<DVec3> {
    let mesh = body.tets();
    let mut ends: Vec<f64> = Vec::new();
    for tet in 0..mesh.tets().len() {
        ends.push(ends.last().unwrap_or(&0.0) + mesh.volume_of(tet));
    }
    let (whole, mut state) = (ends[ends.len() - 1], 7);
    let place = |_| {
        let wanted = random(&mut state) * whole;
        let tet = ends.partition_point(|&end| end < wanted).min(ends.len() - 1);
        // Even in a tet: gaps between three sorted numbers.
        let mut cuts = [random(&mut state), random(&mut state), random(&mut state)];
        cuts.sort_by(f64::total_cmp);
        let shares = [cuts[0], cuts[1] - cuts[0], cuts[2] - cuts[1], 1.0 - cuts[2]];
        mesh.corners(tet).iter().zip(shares).map(|(c, s)| *c * s).sum()
    };
    (0..count).map(place).collect()
}

/// As much is covered as is said, told by places that the packing has not seen; and the more balls the more.
#[test]
fn balls_cover_the_body() {
    for name in ["human", "chubby", "octopus"] {
        let character = sample(name);
        let body = body(&character);
        let places = places(&body, 20_000);
        let mut before = 0.0;
        for count in [100, 200, 500] {
            let filled = fill(&character, &body, count);
            let held = |p: &&DVec3| {
                let p = p.as_vec3();
                filled.balls().iter().any(|b| b.center.distance(p) <= b.radius)
            };
            let covered = places.iter().filter(held).count() as f64 / places.len() as f64;
            println!("{name}, {count}: {covered:.3} covered, {:.3} said", filled.coverage());
            assert!(filled.balls().len() <= count);
            assert!(covered > before, "{name}, {count}: {covered} after {before}");
            // Tets stand out of the skin here and there: what they hold beyond it no ball covers.
            assert!((filled.coverage() - covered).abs() < 0.06, "{name}: {covered} {}", filled.coverage());
            before = covered;
        }
        assert!(before > 0.9, "{name}: {before}");
    }
}

/// Balls reach no farther than a little beyond the skin, and every bone has one.
#[test]
fn balls_stay_in_the_skin() {
    let character = sample("hand");
    let body = body(&character);
    let filled = fill(&character, &body, 300);
    let rest = character.rest_positions();
    for ball in filled.balls() {
        let nearest = rest.iter().map(|p| p.distance(ball.center)).fold(f32::INFINITY, f32::min);
        // Vertices are farther apart than the skin between them.
        assert!(ball.radius < 1.1 * nearest, "{} {nearest}", ball.radius);
    }
    for bone in character.skeleton().bones() {
        let middle = (0.5 * (bone.start + bone.end)).as_vec3();
        let near = filled.balls().iter().any(|b| b.center.distance(middle) < 1.5 * b.radius);
        assert!(near, "no ball at {middle}");
    }
    assert!(filled.gap() < 0.01 * character.diagonal());
}

/// Springs join what touches, and nothing across the gap between fingers.
#[test]
fn springs_do_not_cross_gaps() {
    let character = sample("hand");
    let deformer = prepare_default(NAME, &character, Path::best()).expect("prepared");
    let Packing { balls, slots, springs } = deformer.packing().expect("balls");
    assert!(springs.len() > balls.balls().len());
    let name = |slot: u16| {
        let joint = character.slots()[slot as usize].joint;
        character.skeleton().joints()[joint as usize].name.clone()
    };
    let finger = |slot: u16| {
        let name = name(slot);
        ["Thumb", "Index", "Middle", "Ring", "Pinky", "Little"]
            .iter()
            .position(|f| name.starts_with(f))
            .filter(|_| !name.ends_with('1'))
    };
    let mut of_fingers = 0;
    for &[a, b] in springs {
        let [x, y] = [a, b].map(|ball| balls.balls()[ball as usize]);
        assert!(x.center.distance(y.center) <= 1.2 * (x.radius + y.radius));
        // Beyond the knuckles fingers are apart.
        if let (Some(x), Some(y)) = (finger(slots[a as usize]), finger(slots[b as usize])) {
            assert_eq!(x, y, "{} to {}", name(slots[a as usize]), name(slots[b as usize]));
            of_fingers += 1;
        }
    }
    assert!(of_fingers > 20, "{of_fingers}");
}

/// How often a closed skin encloses a place, by the solid angles of its triangles.
fn winding(at: DVec3, skin: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    let seen = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| skin[v as usize] - at);
        let [x, y, z] = [a, b, c].map(DVec3::length);
        2.0 * libm::atan2(a.dot(b.cross(c)), x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y)
    };
    triangles.iter().map(seen).sum::<f64>() / (4.0 * std::f64::consts::PI)
}

/// A human whose legs are so close together that there is but a crack between them.
fn with_closed_legs() -> Character {
    let character = coarse("human", 6000);
    let (rest, joints) = (character.rest_positions(), character.skeleton().joints());
    let (slice, crack) = (0.02 * character.diagonal() as f32, 0.003 * character.diagonal() as f32);
    let is_of_leg = |vertex: usize| {
        let slot = character.weights().of(vertex).next().expect("a weight").0;
        let name = &joints[character.slots()[slot as usize].joint as usize].name;
        name.contains("Leg") || name.contains("Foot") || name.contains("Toe")
    };
    let closed = |vertex: usize| {
        let at = rest[vertex];
        let beside = rest.iter().filter(|p| (p.y - at.y).abs() < slice);
        let inner = beside.map(|p| p.x.abs()).fold(f32::INFINITY, f32::min);
        let by = if is_of_leg(vertex) { (inner - 0.5 * crack).max(0.0) } else { 0.0 };
        at - Vec3::X * by.copysign(at.x)
    };
    let positions = (0..rest.len()).map(closed).collect();
    let mut raw = character.clone().into_raw();
    raw.surface = Surface::new(positions, None, character.surface().triangles().to_vec()).expect("a surface");
    Character::new(raw).expect("a character")
}

/// Balls that nearly touch across the air between two limbs have no spring.
#[test]
fn springs_do_not_cross_the_air() {
    let character = with_closed_legs();
    let skin: Vec<DVec3> = character.rest_positions().iter().map(|p| p.as_dvec3()).collect();
    let mut apart = 0;
    for count in [60, 100, 200] {
        let mut settings = Settings::default();
        settings.metaballs.balls = count;
        let deformer = prepare_as(NAME, &character, &settings, Path::best());
        let Packing { balls, springs, .. } = deformer.packing().expect("balls");
        let balls = balls.balls();
        for [a, b] in (0..balls.len()).flat_map(|b| (0..b).map(move |a| [a, b])) {
            let [p, q] = [a, b].map(|k| balls[k].center.as_dvec3());
            let [x, y] = [a, b].map(|k| f64::from(balls[k].radius));
            let (way, gap) = (p.distance(q), p.distance(q) - x - y);
            // Within the balls all is flesh; between them is the middle of what is not.
            let between = p.lerp(q, (x + 0.5 * gap) / way);
            if gap > 0.0
                && gap < 0.15 * (x + y)
                && winding(between, &skin, character.surface().triangles()) < 0.5
            {
                apart += 1;
                assert!(springs.binary_search(&[a as u32, b as u32]).is_err(), "{count}: {p} to {q}");
            }
        }
    }
    println!("{apart} pairs across the air");
    assert!(apart >= 4, "{apart}");
}

/// An arm with one muscle along its upper bone.
fn with_biceps(character: &Character, gain: f64, driver: Driver) -> Settings {
    let joints = character.skeleton().joints();
    let at = |name: &str| {
        let joint = joints.iter().position(|j| j.name == name).expect("a joint");
        character.skeleton().rest_position(joint as u32)
    };
    let (shoulder, elbow, wrist) = (at("UpperArm"), at("LowerArm"), at("Hand"));
    // On the side that the forearm comes up on.
    let pose = pose_at(&play(character, "bend"), 0.9);
    let hand = joints.iter().position(|j| j.name == "Hand").expect("a joint");
    let lifted = pose.world_from_joint[hand].translation - elbow;
    let along = (elbow - shoulder).normalize();
    let inside = (lifted - along * lifted.dot(along)).normalize() * 0.05 * elbow.distance(shoulder);
    let point = |joint: &str, at: DVec3| MusclePoint { joint: joint.into(), at: Some(at.to_array()) };
    let mut settings = Settings { overlap: Some(false), ..Settings::default() };
    settings.metaballs.muscles = vec![Muscle {
        name: "biceps".into(),
        from: point("UpperArm", shoulder + inside),
        via: vec![],
        to: point("LowerArm", elbow + (wrist - elbow) * 0.1 + inside),
        gain,
        radius: Some(elbow.distance(shoulder)),
        driver,
    }];
    settings
}

/// Mean distance from the upper arm's bone of the skin around its middle, over that at rest.
fn girth(character: &Character, settings: &Settings, seconds: f64) -> f64 {
    let deformer = prepare_as(NAME, character, settings, Path::best());
    let motion = play(character, "bend");
    let mut shape = Shape::rest(character);
    step(deformer.instance().as_mut(), &motion, seconds, &mut shape);
    let pose = pose_at(&motion, seconds);
    let joint = character.skeleton().joints().iter().position(|j| j.name == "UpperArm").expect("a joint");
    let bones = character.skeleton().bones();
    let bone = *bones.iter().find(|b| b.joint == joint as u32).expect("a bone");
    let rest_from = character.skeleton().joints()[joint].world_from_rest;
    let back = rest_from * pose.world_from_joint[joint].inverse();
    let (mut sum, mut rest_sum) = (0.0, 0.0);
    for (now, rest) in shape.positions.iter().zip(character.rest_positions()) {
        let rest = rest.as_dvec3();
        let way = bone.end - bone.start;
        let along = (rest - bone.start).dot(way) / way.length_squared();
        if (along - 0.45).abs() < 0.06 {
            sum += bone.distance(back.transform_point3(now.as_dvec3()));
            rest_sum += bone.distance(rest);
        }
    }
    sum / rest_sum
}

/// `r (1 + s bend/90)`, and the skin follows.
#[test]
fn a_muscle_grows_with_the_bend_by_its_gain() {
    let character = coarse("arm", 4000);
    for gain in [0.15, 0.3] {
        let settings = with_biceps(&character, gain, Driver::Bend);
        assert!((girth(&character, &settings, 0.0) - 1.0).abs() < 1e-4);
        for (seconds, degrees) in [(0.3, 30.0), (0.6, 60.0), (0.9, 90.0)] {
            let (found, wanted) = (girth(&character, &settings, seconds), 1.0 + gain * degrees / 90.0);
            println!("gain {gain} at {degrees}: {found:.4}, {wanted:.4} wanted");
            assert!((found - wanted).abs() < 0.02, "gain {gain} at {degrees}: {found}, not {wanted}");
        }
    }
    let none = with_biceps(&character, 0.0, Driver::Bend);
    assert!((girth(&character, &none, 0.9) - 1.0).abs() < 5e-3);
    // A line that shortens by about a third.
    let shortened = girth(&character, &with_biceps(&character, 0.6, Driver::Shortening), 1.2);
    assert!(shortened > 1.005 && shortened < 1.4, "{shortened}");
}

/// Found by names, on both sides, and the other side of the bend does not grow.
#[test]
fn a_human_body_has_muscles() {
    let character = coarse("human", 6000);
    let mut settings = Settings { overlap: Some(false), ..Settings::default() };
    let plain = prepare_as(NAME, &character, &settings, Path::best());
    settings.metaballs.humanoid_muscles = Some(0.3);
    let strong = prepare_as(NAME, &character, &settings, Path::best());
    assert_eq!(strong.warnings(), &[] as &[String]);
    let motion = play(&character, "bend");
    let mut shapes = [0; 2].map(|_| Shape::rest(&character));
    for (deformer, shape) in [&plain, &strong].into_iter().zip(&mut shapes) {
        step(deformer.instance().as_mut(), &motion, 1.2, shape);
    }
    let grown = farthest(&shapes[0].positions, &shapes[1].positions);
    assert!(f64::from(grown) > 2e-3 * character.diagonal(), "{grown}");
    // No human body: that is said.
    let octopus = coarse("octopus", 2000);
    let odd = prepare_as(NAME, &octopus, &settings, Path::best());
    assert!(odd.warnings().iter().any(|w| w.contains("no human body")), "{:?}", odd.warnings());
}

fn soft(character: &Character, preset: Preset) -> Settings {
    let mut settings = Settings { overlap: Some(false), ..Settings::default() };
    settings.regions.push(position_common::belly(character, preset));
    settings
}

/// A belly swings on when the bones stop dead, and comes to rest.
#[test]
fn soft_balls_swing_and_come_to_rest() {
    const STOP: f64 = 1.2;
    let character = coarse("chubby", 4000);
    let motion = play(&character, "shake");
    let navel = navel(&character);
    let mut reached = Vec::new();
    for preset in [Preset::Muscle, Preset::Fat, Preset::Jelly] {
        let deformer = prepare_as(NAME, &character, &soft(&character, preset), Path::best());
        assert!(deformer.remembers());
        let mut instance = deformer.instance();
        let mut shape = Shape::rest(&character);
        let mut after: Vec<Vec3> = Vec::new();
        for tick in 0..=500 {
            let time = f64::from(tick) / 100.0;
            let health = step(instance.as_mut(), &motion, time, &mut shape);
            assert_eq!(health.held, 0);
            if time > STOP {
                after.push(shape.positions[navel]);
            }
        }
        let settled = after[after.len() - 1];
        let swing = |part: &[Vec3]| {
            let all = part.iter().map(|p| f64::from(p.distance(settled)) / character.diagonal());
            all.fold(0.0, f64::max)
        };
        let (first, last) = (swing(&after[..50]), swing(&after[after.len() - 60..]));
        println!("{preset:?}: {first:.4} after the stop, {last:.6} at the end");
        // Past where it comes to rest, to the other side: without inertia it would only creep there.
        let off = |p: &Vec3| (*p - settled).as_dvec3();
        let far = after.iter().map(off).max_by(|a, b| a.length().total_cmp(&b.length())).expect("frames");
        let past = after.iter().map(|p| -off(p).dot(far) / far.length_squared()).fold(0.0, f64::max);
        assert!(past > if preset == Preset::Muscle { 0.1 } else { 0.4 }, "{preset:?}: {past}");
        // Jelly takes its time.
        let most = if preset == Preset::Jelly { 0.25 } else { 0.05 };
        assert!(last < most * first.max(1e-3), "{preset:?}: {first} {last}");
        reached.push(first);
    }
    assert!(reached[1] > 2e-3, "{reached:?}");
    assert!(reached[0] < 0.5 * reached[1] && reached[0] < 0.5 * reached[2], "{reached:?}");
}

/// A swing with the damping `c` dies down by `exp(-c t / 2)` more than one with none.
#[test]
fn a_swing_dies_down_by_its_damping() {
    const STOP: f64 = 1.2;
    let character = coarse("chubby", 3000);
    let motion = play(&character, "shake");
    let navel = navel(&character);
    // The navel's fastest, in each half second after the bones have stopped.
    let speeds = |damping: f64| {
        let mut settings = soft(&character, Preset::Jelly);
        settings.regions[0].damping = Some(damping);
        let deformer = prepare_as(NAME, &character, &settings, Path::best());
        let mut instance = deformer.instance();
        let mut shape = Shape::rest(&character);
        let (mut most, mut before) = ([0f32; 4], Vec3::ZERO);
        for tick in 0..320 {
            let time = f64::from(tick) / 100.0;
            step(instance.as_mut(), &motion, time, &mut shape);
            let at = std::mem::replace(&mut before, shape.positions[navel]);
            if time > STOP {
                let most = &mut most[((time - STOP) / 0.5) as usize];
                *most = most.max(at.distance(before));
            }
        }
        most.map(f64::from)
    };
    let free = speeds(0.0);
    for damping in [2.0, 4.0] {
        let damped = speeds(damping);
        for (half, seconds) in [(2, 1.25), (3, 1.75)] {
            let (found, wanted) = (damped[half] / free[half], libm::exp(-0.5 * damping * seconds));
            println!("damping {damping} after {seconds} s: {found:.4}, {wanted:.4} wanted");
            assert!(found > 0.6 * wanted && found < 1.6 * wanted, "{damping}: {found}, not {wanted}");
        }
    }
}

/// Outside its time a region is as firm as the rest, to the bit.
#[test]
fn a_region_is_soft_within_its_time() {
    let character = coarse("chubby", 3000);
    let mut windowed = soft(&character, Preset::Fat);
    (windowed.regions[0].start, windowed.regions[0].end) = (Some(0.5), Some(1.6));
    // As good as firm, in the same place.
    let mut firm = soft(&character, Preset::Firm);
    firm.regions[0].softness = Some(1e-9);
    let (soft, firm) = (
        prepare_as(NAME, &character, &windowed, Path::best()),
        prepare_as(NAME, &character, &firm, Path::best()),
    );
    let motion = play(&character, "shake");
    let (mut a, mut b) = (soft.instance(), firm.instance());
    let mut shapes = [0; 2].map(|_| Shape::rest(&character));
    let mut within = 0.0f64;
    for tick in 0..250 {
        let time = f64::from(tick) / 100.0;
        step(a.as_mut(), &motion, time, &mut shapes[0]);
        step(b.as_mut(), &motion, time, &mut shapes[1]);
        let apart = f64::from(farthest(&shapes[0].positions, &shapes[1].positions)) / character.diagonal();
        if time <= 0.5 || time > 1.8 {
            assert!(apart < 1e-4, "{time}: {apart}");
        } else {
            within = within.max(apart);
        }
    }
    assert!(within > 2e-3, "{within}");
}

/// What can change while playing does so, and what cannot is refused.
#[test]
fn numbers_change_live() {
    let character = coarse("arm", 2000);
    let deformer = prepare_default(NAME, &character, Path::best()).expect("prepared");
    let motion = play(&character, "bend");
    let mut instance = deformer.instance();
    let mut shape = Shape::rest(&character);
    step(instance.as_mut(), &motion, 1.0, &mut shape);
    let before = bits(&shape);
    let mut settings = Settings::default();
    settings.metaballs.filter_steps = 6;
    instance.tune(&settings).expect("live");
    step(instance.as_mut(), &motion, 1.0, &mut shape);
    assert!(bits(&shape) != before);
    instance.tune(&Settings::default()).expect("live");
    step(instance.as_mut(), &motion, 1.0, &mut shape);
    assert!(bits(&shape) == before);
    settings.metaballs.balls = 100;
    assert_eq!(instance.tune(&settings), Err(PrepareError::NotLive));
}

/// Each stage that is left out changes the skin; with all of them it is where its bones have it far from joints.
#[test]
fn every_stage_can_be_left_out() {
    type Change = dyn Fn(&mut Settings);
    let character = coarse("human", 4000);
    let motion = play(&character, "bend");
    let run = |change: &Change| {
        let mut settings = Settings::default();
        change(&mut settings);
        let deformer = prepare_as(NAME, &character, &settings, Path::best());
        let mut shape = Shape::rest(&character);
        step(deformer.instance().as_mut(), &motion, 1.2, &mut shape);
        shape
    };
    let all = run(&|_| {});
    let far = f64::from(farthest(&all.positions, &linear(&character, &pose_at(&motion, 1.2))));
    assert!(far < 0.08 * character.diagonal(), "{far}");
    let without: [(&str, &Change); 5] = [
        ("springs", &|s| s.metaballs.springs = 0.0),
        ("joints' balls", &|s| s.metaballs.joint_radius = 0.0),
        ("border", &|s| s.metaballs.border_steps = 0),
        ("filter", &|s| s.metaballs.filter_steps = 0),
        ("overlap", &|s| s.overlap = Some(false)),
    ];
    for (stage, change) in without {
        assert!(bits(&run(change)) != bits(&all), "{stage} does nothing");
    }
}
