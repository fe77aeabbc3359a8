//! Frame fields: proper everywhere, along what was drawn, and moved, mirrored and turned with the body.

#[path = "body_common/mod.rs"]
mod common;

use common::{Random, shaken_block};
use pliant::asset::{Curve, Joint, Local, Skeleton, TetMesh};
use pliant::body::topology::{self, Adjacency, NONE};
use pliant::body::{FrameField, bench_block, near_curves};
use pliant::glam::{DAffine3, DMat3, DVec3};
use pliant::rig::weights::{BoneDistances, NearBones, rest_size};

const LOW: DVec3 = DVec3::new(-2.0, -0.5, -0.5);
const HIGH: DVec3 = DVec3::new(2.0, 0.5, 0.5);

/// Joints one after the other; the last is an end site.
fn chain(points: &[DVec3]) -> Skeleton {
    let joint = |i: usize| Joint {
        name: String::new(),
        parent: i.checked_sub(1).map(|p| p as u32),
        local: Local::offset(if i > 0 { points[i] - points[i - 1] } else { points[i] }),
        world_from_rest: DAffine3::from_translation(points[i]),
        deforms: true,
        tails: if i + 2 == points.len() { vec![points[i + 1] - points[i]] } else { vec![] },
    };
    Skeleton::new((0..points.len() - 1).map(joint).collect()).unwrap()
}

fn field_within(mesh: &TetMesh, bones: &[DVec3], curves: &[Curve], reach: f64) -> FrameField {
    let skeleton = chain(bones);
    let bones = BoneDistances::new(&skeleton, rest_size(mesh.positions(), &skeleton)).unwrap();
    let near = NearBones::straight(mesh.positions(), &bones);
    FrameField::new(mesh, &bones, &near, curves, reach)
}

fn field(mesh: &TetMesh, bones: &[DVec3], curves: &[Curve]) -> FrameField {
    field_within(mesh, bones, curves, 0.1)
}

fn axes(field: &FrameField) -> Vec<DMat3> {
    field.frames.iter().map(|q| DMat3::from_quat(q.as_dquat())).collect()
}

fn centre(mesh: &TetMesh, tet: usize) -> DVec3 {
    mesh.corners(tet).into_iter().sum::<DVec3>() / 4.0
}

/// The largest angle between axes of the same name, whatever their signs.
fn apart(a: &DMat3, b: &DMat3) -> f64 {
    let angle = |a: DVec3, b: DVec3| libm::asin(a.cross(b).length().min(1.0));
    angle(a.x_axis, b.x_axis).max(angle(a.y_axis, b.y_axis)).max(angle(a.z_axis, b.z_axis))
}

fn worst(a: &[DMat3], b: &[DMat3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| apart(a, b)).fold(0.0, f64::max)
}

fn assert_proper(frames: &[DMat3]) {
    for q in frames {
        assert!((q.determinant() - 1.0).abs() < 1e-5);
        assert!((q.transpose() * *q - DMat3::IDENTITY).to_cols_array().iter().all(|x| x.abs() < 1e-5));
    }
}

fn bar() -> TetMesh {
    shaken_block(&mut Random(7), [24, 6, 6], LOW, HIGH)
}

const STRAIGHT: [DVec3; 2] = [DVec3::new(-2.0, 0.0, 0.0), DVec3::new(2.0, 0.0, 0.0)];
/// Neither along an axis nor through nodes.
const BENT: [DVec3; 3] =
    [DVec3::new(-1.9, 0.03, 0.02), DVec3::new(0.05, -0.11, 0.07), DVec3::new(1.9, 0.13, -0.04)];

/// Three curves that disagree, one of them half outside.
fn curves() -> Vec<Curve> {
    let p = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
    let bow = [p(-1.7, -0.31, 0.3), p(-1.0, 0.4, 0.2), p(-0.3, -0.3, -0.4), p(0.1, 0.1, 0.2)];
    let across = [p(1.21, -0.43, -0.3), p(1.33, 0.41, 0.37)];
    let over = [p(0.4, 0.45, 0.1), p(1.8, 0.57, -0.2)];
    vec![
        Curve::new(3, &bow, Some(&[1.0, 2.0, 0.7, 1.0]), None).unwrap(),
        Curve::polyline(&across).unwrap(),
        Curve::polyline(&over).unwrap(),
    ]
}

/// The curves with their points moved.
fn moved(by: impl Fn(DVec3) -> DVec3, reverse: bool) -> Vec<Curve> {
    let p = |x: f64, y: f64, z: f64| by(DVec3::new(x, y, z));
    let order = |mut points: Vec<DVec3>| {
        if reverse {
            points.reverse();
        }
        points
    };
    let bow = order(vec![p(-1.7, -0.31, 0.3), p(-1.0, 0.4, 0.2), p(-0.3, -0.3, -0.4), p(0.1, 0.1, 0.2)]);
    let across = order(vec![p(1.21, -0.43, -0.3), p(1.33, 0.41, 0.37)]);
    let over = order(vec![p(0.4, 0.45, 0.1), p(1.8, 0.57, -0.2)]);
    let weights = if reverse { [1.0, 0.7, 2.0, 1.0] } else { [1.0, 2.0, 0.7, 1.0] };
    vec![
        Curve::new(3, &bow, Some(&weights), None).unwrap(),
        Curve::polyline(&across).unwrap(),
        Curve::polyline(&over).unwrap(),
    ]
}

#[test]
fn without_curves_frames_follow_the_bone() {
    let mesh = bar();
    let frames = axes(&field(&mesh, &STRAIGHT, &[]));
    assert_proper(&frames);
    for (tet, q) in frames.iter().enumerate() {
        let at = centre(&mesh, tet);
        let away = DVec3::new(0.0, at.y, at.z).normalize();
        assert!(q.x_axis.dot(DVec3::X).abs() > 1.0 - 1e-6 && q.y_axis.dot(away).abs() > 1.0 - 1e-6, "{tet}");
    }
}

/// Around a bent joint fibres turn from one bone to the next; far from it they are the bone's.
#[test]
fn at_a_joint_fibres_turn_from_bone_to_bone() {
    let (mesh, joint) = (bench_block([48, 12, 12], LOW, HIGH).unwrap(), DVec3::new(0.0, -0.4, 0.0));
    let ends = [DVec3::new(-2.0, 0.3, 0.0), joint, DVec3::new(2.0, 0.3, 0.0)];
    let frames = axes(&field(&mesh, &ends, &[]));
    assert_proper(&frames);
    let ways = [(joint - ends[0]).normalize(), (ends[2] - joint).normalize()];
    let bend = libm::acos(ways[0].dot(ways[1]));
    let steps = Adjacency::new(&mesh);
    let mut largest = 0.0f64;
    for (tet, q) in frames.iter().enumerate() {
        let at = centre(&mesh, tet);
        if at.x.abs() > 1.0 {
            assert!(q.x_axis.dot(ways[usize::from(at.x > 0.0)]).abs() > 1.0 - 1e-6);
        }
        // Where the bones are far enough away for their angle to be spread over some tets.
        for other in steps.across[tet].into_iter().filter(|&o| o != NONE && at.y > 0.2) {
            largest = largest.max(libm::acos(q.x_axis.dot(frames[other as usize].x_axis).abs().min(1.0)));
        }
    }
    assert!(largest > 0.0 && largest < 0.6 * bend, "{largest} of {bend}");
}

#[test]
fn seeds_are_the_tets_that_a_curve_passes_and_keep_its_direction() {
    let mesh = bar();
    let [start, end] = [DVec3::new(-1.73, -0.21, 0.13), DVec3::new(1.61, 0.33, -0.27)];
    let found = field(&mesh, &STRAIGHT, &[Curve::polyline(&[start, end]).unwrap()]);
    let way = (end - start).normalize();
    let frames = axes(&found);
    // Every tet with a piece of the line in it that can be seen; walked by points a thousandth of a tet apart.
    let mut passed: Vec<u32> = Vec::new();
    let inside =
        |tet: usize, p: DVec3, by: f64| common::barycentrics(&mesh, tet, p).into_iter().all(|w| w > by);
    let near: Vec<usize> = (0..mesh.tets().len())
        .filter(|&t| {
            let at = centre(&mesh, t) - start;
            (at - way * at.dot(way)).length() < 0.3
        })
        .collect();
    for i in 0..20_000 {
        let p = start + (end - start) * (f64::from(i) / 20_000.0);
        passed.extend(near.iter().filter(|&&t| inside(t, p, 0.0)).map(|&t| t as u32));
    }
    passed.sort_unstable();
    passed.dedup();
    assert!(passed.len() > 60 && passed.iter().all(|t| found.seeds.binary_search(t).is_ok()));
    assert!(found.seeds.len() <= passed.len() + 3, "{} {}", found.seeds.len(), passed.len());
    assert!(found.missed.is_empty());
    for &tet in &found.seeds {
        assert!(frames[tet as usize].x_axis.dot(way).abs() > 1.0 - 1e-6);
    }
}

/// Rotation-minimising frames say what the tets on a curve have, whatever others around them have.
#[test]
fn smoothing_leaves_seeds_as_they_are() {
    let mesh = bar();
    let all = curves();
    let together = field(&mesh, &BENT, &all);
    for curve in &all {
        let alone = field(&mesh, &BENT, std::slice::from_ref(curve));
        assert!(alone.seeds.len() > 5);
        let shared = |tet: u32| {
            all.iter().filter(|c| field(&mesh, &BENT, std::slice::from_ref(c)).seeds.contains(&tet)).count()
        };
        let (a, b) = (axes(&alone), axes(&together));
        for &tet in &alone.seeds {
            assert!(together.seeds.binary_search(&tet).is_ok());
            if apart(&a[tet as usize], &b[tet as usize]) > 1e-6 {
                assert!(shared(tet) > 1, "tet {tet}");
            }
        }
    }
}

#[test]
fn every_other_frame_is_the_mean_of_those_around() {
    let mesh = bar();
    let found = field(&mesh, &BENT, &curves());
    let frames = axes(&found);
    assert_proper(&frames);
    let adjacency = Adjacency::new(&mesh);
    let mut angles = Vec::new();
    for (tet, q) in frames.iter().enumerate() {
        if found.seeds.binary_search(&(tet as u32)).is_ok() {
            continue;
        }
        // Along the fibre: the mean of the lines around is the first eigenvector of their tensors.
        let around = adjacency.across[tet].into_iter().filter(|&n| n != NONE);
        let lines = around.map(|n| frames[n as usize].x_axis);
        let mean = lines.fold(DVec3::ZERO, |sum, x| sum + x * x.dot(q.x_axis).signum());
        angles.push(q.x_axis.cross(mean.normalize()).length());
    }
    angles.sort_by(f64::total_cmp);
    let [typical, nearly_all] = [0.5, 0.99].map(|share| angles[(share * angles.len() as f64) as usize]);
    assert!(typical < 0.01 && nearly_all < 0.1, "{typical} {nearly_all}");
}

#[test]
fn a_turned_body_has_the_turned_field() {
    let mesh = bar();
    let before = axes(&field(&mesh, &BENT, &curves()));
    let by = DAffine3::from_rotation_translation(Random(3).rotation(), DVec3::new(0.3, -1.0, 2.0));
    let at = |p: DVec3| by.transform_point3(p);
    let nodes = mesh.positions().iter().map(|p| at(p.as_dvec3()).as_vec3()).collect();
    let turned = TetMesh::new(nodes, mesh.tets().to_vec()).unwrap();
    for curved in [true, false] {
        let own = if curved { moved(at, false) } else { vec![] };
        let before = if curved { before.clone() } else { axes(&field(&mesh, &BENT, &[])) };
        let after = axes(&field(&turned, &BENT.map(at), &own));
        let wanted: Vec<DMat3> = before.iter().map(|q| by.matrix3 * *q).collect();
        assert!(worst(&wanted, &after) < 1e-2, "{}", worst(&wanted, &after));
    }
}

#[test]
fn a_mirrored_body_has_the_mirrored_field() {
    let mesh = bar();
    let mirror = DVec3::new(1.0, 1.0, -1.0);
    let nodes = mesh.positions().iter().map(|p| (p.as_dvec3() * mirror).as_vec3()).collect();
    let mirrored = TetMesh::new(nodes, mesh.tets().to_vec()).unwrap();
    for curved in [true, false] {
        let [own, others] = if curved { [curves(), moved(|p| p * mirror, false)] } else { [vec![], vec![]] };
        let before = axes(&field(&mesh, &BENT, &own));
        let after = axes(&field(&mirrored, &BENT.map(|p| p * mirror), &others));
        // Mirrored axes, the last turned over so that it is a rotation again.
        let wanted: Vec<DMat3> = before
            .iter()
            .map(|q| DMat3::from_diagonal(mirror) * *q * DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0)))
            .collect();
        assert_proper(&after);
        assert!(worst(&wanted, &after) < 1e-2, "{}", worst(&wanted, &after));
    }
}

#[test]
fn curves_drawn_from_the_other_end_give_the_same_axes() {
    let mesh = bar();
    let there = axes(&field(&mesh, &BENT, &curves()));
    let back = axes(&field(&mesh, &BENT, &moved(|p| p, true)));
    assert!(worst(&there, &back) < 1e-2, "{}", worst(&there, &back));
}

/// Fibres drawn in opposite directions agree in between: along both, or from one slant to the other where they differ.
#[test]
fn opposite_curves_agree_in_between() {
    let mesh = bar();
    for slant in [0.0, 0.15] {
        let way = |sign: f64| DVec3::new(1.9, 0.0, 1.9 * slant * sign);
        let at = |y: f64| DVec3::new(0.0, y, 0.01);
        let there = Curve::polyline(&[at(0.41) - way(1.0), at(0.41) + way(1.0)]).unwrap();
        let back = Curve::polyline(&[at(-0.43) + way(-1.0), at(-0.43) - way(-1.0)]).unwrap();
        let least = way(1.0).normalize().x - 1e-3;
        for q in axes(&field(&mesh, &BENT, &[there, back])) {
            assert!(q.x_axis.x.abs() > least && q.x_axis.y.abs() < 0.02, "{slant}: {q:?}");
        }
    }
}

/// A helix under the surface of a bar: all around it fibres run as it does.
#[test]
fn fibres_follow_a_helix() {
    let mesh = bench_block([80, 20, 20], LOW, HIGH).unwrap();
    let (radius, rise) = (0.4, 0.06);
    let at = |angle: f64| {
        let (sine, cosine) = libm::sincos(angle);
        DVec3::new(rise * angle, radius * cosine, radius * sine)
    };
    let points: Vec<DVec3> = (-300..=300).map(|i| at(f64::from(i) * 0.1)).collect();
    let frames = axes(&field(&mesh, &STRAIGHT, &[Curve::new(3, &points, None, None).unwrap()]));
    assert_proper(&frames);
    let mut errors: Vec<f64> = Vec::new();
    for (tet, q) in frames.iter().enumerate() {
        let p = centre(&mesh, tet);
        let from_axis = DVec3::new(0.0, p.y, p.z);
        if (from_axis.length() - radius).abs() > 0.08 || p.x.abs() > 1.5 {
            continue;
        }
        let around = DVec3::X.cross(from_axis.normalize());
        let way = (DVec3::X * rise + around * radius).normalize();
        errors.push(libm::asin(q.x_axis.cross(way).length().min(1.0)).to_degrees());
    }
    errors.sort_by(f64::total_cmp);
    let [typical, nearly_all] = [0.5, 0.95].map(|share| errors[(share * errors.len() as f64) as usize]);
    assert!(errors.len() > 10_000 && typical < 5.0 && nearly_all < 12.0, "{typical} {nearly_all}");
}

/// Two blocks that share nothing; a curve in one leaves the other to its bone.
#[test]
fn pieces_without_a_curve_follow_the_bone() {
    let near = bench_block([12, 6, 6], LOW, DVec3::new(0.0, 0.5, 0.5)).unwrap();
    let shift = DVec3::new(2.5, 0.0, 0.0);
    let count = near.positions().len() as u32;
    let nodes = near.positions().iter().copied();
    let far = near.positions().iter().map(|p| (p.as_dvec3() + shift).as_vec3());
    let tets = near.tets().iter().copied().chain(near.tets().iter().map(|t| t.map(|n| n + count)));
    let mesh = TetMesh::new(nodes.chain(far).collect(), tets.collect()).unwrap();
    assert_eq!(topology::pieces(&mesh).sizes.len(), 2);
    let curve = Curve::polyline(&[DVec3::new(-1.5, -0.4, 0.03), DVec3::new(-0.5, 0.4, 0.03)]).unwrap();
    let bones = [DVec3::new(-2.0, 0.0, 0.0), DVec3::new(3.0, 0.0, 0.0)];
    let plain = axes(&field(&mesh, &bones, &[]));
    let drawn = axes(&field(&mesh, &bones, &[curve]));
    let half = near.tets().len();
    assert_eq!(plain[half..], drawn[half..]);
    assert!(plain[..half].iter().zip(&drawn[..half]).all(|(a, b)| a.x_axis.dot(b.x_axis).abs() < 0.9));
}

#[test]
fn curves_outside_go_to_the_nearest_tets_within_reach() {
    let mesh = bar();
    let above = |y: f64| Curve::polyline(&[DVec3::new(-1.0, y, 0.1), DVec3::new(1.0, y, -0.2)]).unwrap();
    let way = DVec3::new(2.0, 0.0, -0.3).normalize();
    let found = field_within(&mesh, &STRAIGHT, &[above(0.8), above(3.0)], 0.5);
    assert_eq!(found.missed, [1]);
    let surface: Vec<u32> = topology::surface(&mesh).iter().map(|f| f.1).collect();
    let frames = axes(&found);
    assert!(found.seeds.len() > 10);
    for &tet in &found.seeds {
        assert!(surface.contains(&tet) && centre(&mesh, tet as usize).y > 0.3);
        assert!(frames[tet as usize].x_axis.dot(way).abs() > 1.0 - 1e-6);
    }
    let missed = field_within(&mesh, &STRAIGHT, &[above(0.8), above(3.0)], 0.1);
    assert_eq!((missed.missed.len(), missed.seeds.len()), (2, 0));
    assert_eq!(missed.frames, field(&mesh, &STRAIGHT, &[]).frames);
}

#[test]
fn a_curve_s_material_fades_with_the_distance() {
    let mesh = bar();
    let [start, end] = [DVec3::new(-1.0, 0.1, 0.0), DVec3::new(1.0, 0.1, 0.0)];
    let curve = Curve::polyline(&[start, end]).unwrap();
    let shares = near_curves(&mesh, &[curve], 0.3, 0.2);
    let mut seen = [0; 3];
    for (tet, &share) in shares.iter().enumerate() {
        let p = centre(&mesh, tet);
        let distance = p.distance(DVec3::new(p.x.clamp(-1.0, 1.0), 0.1, 0.0));
        match share {
            1.0 => assert!(distance <= 0.3 + 1e-6),
            0.0 => assert!(distance >= 0.5 - 1e-6),
            _ => {
                let t = (distance - 0.3) / 0.2;
                assert!((f64::from(share) - (1.0 - t * t * (3.0 - 2.0 * t))).abs() < 1e-5);
            }
        }
        seen[if share == 1.0 { 0 } else { 1 + usize::from(share == 0.0) }] += 1;
    }
    assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let mesh = bar();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| field(&mesh, &BENT, &curves()))
    };
    let one = with(1);
    for threads in [2, 3, 8] {
        let bits =
            |f: &FrameField| f.frames.iter().map(|q| q.to_array().map(f32::to_bits)).collect::<Vec<_>>();
        assert_eq!(bits(&one), bits(&with(threads)));
    }
}
