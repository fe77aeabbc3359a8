//! Where points sit in a tet mesh, against looking at every tet.

mod body_common;

use body_common::*;
use pliant::asset::TetMesh;
use pliant::body::{Embedding, bench_block, topology};
use pliant::glam::{DVec3, Vec3};

/// As the skin does it, in f64.
fn at_rest(mesh: &TetMesh, embedding: &Embedding, point: usize) -> DVec3 {
    let corners = mesh.corners(embedding.tets()[point] as usize);
    corners.iter().zip(embedding.weights()[point]).map(|(&c, w)| c * f64::from(w)).sum()
}

fn embed(mesh: &TetMesh, points: &[Vec3]) -> Embedding {
    Embedding::new(mesh, &topology::surface(mesh), points)
}

/// By projection onto the plane and the three sides, whichever is nearest of those that apply.
fn to_triangle([a, b, c]: [DVec3; 3], p: DVec3) -> f64 {
    let segment = |a: DVec3, b: DVec3| {
        let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        p.distance(a.lerp(b, t))
    };
    let n = (b - a).cross(c - a).normalize();
    let foot = p - n * n.dot(p - a);
    let inside = [(a, b), (b, c), (c, a)].iter().all(|&(a, b)| (b - a).cross(foot - a).dot(n) >= 0.0);
    let rim = segment(a, b).min(segment(b, c)).min(segment(c, a));
    if inside { p.distance(foot) } else { rim }
}

#[test]
fn points_in_a_tet_get_the_lowest_and_points_outside_the_nearest_face() {
    let random = &mut Random(1);
    for mesh in meshes(random) {
        let surface = topology::surface(&mesh);
        let points = points(random, &mesh, 400, 0.2);
        let embedding = Embedding::new(&mesh, &surface, &points);
        let (mut inside, mut outside) = (0, 0);
        for (index, point) in points.iter().enumerate() {
            let (p, tet) = (point.as_dvec3(), embedding.tets()[index]);
            let holds = |t: &usize| barycentrics(&mesh, *t, p).into_iter().all(|w| w >= 0.0);
            if let Some(holder) = (0..mesh.tets().len()).find(holds) {
                assert_eq!(tet as usize, holder);
                inside += 1;
                continue;
            }
            outside += 1;
            let unfit = |face: [DVec3; 3], tet: u32| {
                let area = (face[1] - face[0]).cross(face[2] - face[0]).length() / 2.0;
                let far = barycentrics(&mesh, tet as usize, p).into_iter().any(|w| w < -1.0);
                far && 3.0 * mesh.volume_of(tet as usize) / area < 0.1 * area.sqrt()
            };
            let faces = surface.iter().map(|(f, t)| (f.map(|n| mesh.positions()[n as usize].as_dvec3()), *t));
            let fit: Vec<([DVec3; 3], u32)> = faces.filter(|&(f, t)| !unfit(f, t)).collect();
            let distance = |own: bool| {
                let faces = fit.iter().filter(|(_, t)| !own || *t == tet);
                faces.map(|(f, _)| to_triangle(*f, p)).fold(f64::INFINITY, f64::min)
            };
            assert!(distance(true) <= distance(false) * (1.0 + 1e-6), "point {index}");
        }
        assert!(inside > 10 && outside > 10, "{inside} in, {outside} out");
    }
}

#[test]
fn the_rest_pose_comes_out_as_it_was_even_far_outside() {
    let random = &mut Random(2);
    for mesh in meshes(random) {
        let points = points(random, &mesh, 2000, 1.0);
        let embedding = embed(&mesh, &points);
        for (index, point) in points.iter().enumerate() {
            let weights = embedding.weights()[index].map(f64::from);
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-6 * weights[0].abs().max(1.0));
            // What the f32 sum weights to, taken about a corner: the origin may be far away.
            let corners = mesh.corners(embedding.tets()[index] as usize);
            let about = corners[0];
            let sum: DVec3 = (1..4).map(|k| (corners[k] - about) * weights[k]).sum();
            assert!((about + sum).distance(point.as_dvec3()) < 1e-6 * diagonal(&mesh), "point {index}");
        }
    }
}

/// Nodes, middles of edges and of faces lie in several tets and on every boundary there is.
#[test]
fn points_on_faces_edges_and_nodes_are_inside() {
    let random = &mut Random(3);
    for mesh in meshes(random) {
        let at = |n: u32| mesh.positions()[n as usize].as_dvec3();
        let mut points = mesh.positions().to_vec();
        points.extend(topology::edges(&mesh).iter().map(|&[a, b]| ((at(a) + at(b)) / 2.0).as_vec3()));
        points.extend(mesh.tets().iter().map(|t| ((at(t[0]) + at(t[1]) + at(t[2])) / 3.0).as_vec3()));
        let embedding = embed(&mesh, &points);
        for (index, point) in points.iter().enumerate() {
            // Rounding the middle to f32 may put it outside by a little, of a sliver by more.
            assert!(embedding.weights()[index].iter().all(|&w| w > -1e-2), "point {index}");
            assert!(at_rest(&mesh, &embedding, index).distance(point.as_dvec3()) < 1e-5 * diagonal(&mesh));
        }
    }
}

#[test]
fn points_at_one_place_share_tet_and_weights_though_zeros_have_signs() {
    let random = &mut Random(4);
    let mesh = shaken_block(random, [4, 4, 4], DVec3::NEG_ONE, DVec3::ONE);
    let mut points = points(random, &mesh, 300, 0.3);
    points.push(Vec3::new(0.0, 0.25, 0.0));
    points.push(Vec3::new(-0.0, 0.25, -0.0));
    let twins: Vec<usize> = (0..900).map(|_| random.below(points.len())).collect();
    let split: Vec<Vec3> = twins.iter().map(|&t| points[t]).collect();
    // Acceptance that tells the two sides of every seam apart does not open it.
    let accept = |point: usize, tet: u32| (point as u32 + tet).is_multiple_of(3);
    let embedding = Embedding::accepted(&mesh, &topology::surface(&mesh), &split, accept);
    for i in 0..twins.len() {
        for j in 0..i {
            if points[twins[i]] == points[twins[j]] {
                assert_eq!(embedding.tets()[i], embedding.tets()[j]);
                assert_eq!(
                    embedding.weights()[i].map(f32::to_bits),
                    embedding.weights()[j].map(f32::to_bits)
                );
            }
        }
    }
}

/// Two sheets that overlap, as thickened fingers do: the lower is 0..72, the upper the rest.
fn sheets() -> (TetMesh, u32) {
    let low = bench_block([6, 2, 1], DVec3::ZERO, DVec3::new(6.0, 2.0, 1.0)).expect("sound");
    let high = bench_block([6, 2, 1], DVec3::new(0.1, 0.1, 0.8), DVec3::new(6.1, 2.1, 1.8)).expect("sound");
    let nodes = low.positions().iter().chain(high.positions()).copied().collect();
    let (count, split) = (low.positions().len() as u32, low.tets().len() as u32);
    let shifted = high.tets().iter().map(|t| t.map(|n| n + count));
    (TetMesh::new(nodes, low.tets().iter().copied().chain(shifted).collect()).expect("sound"), split)
}

#[test]
fn overlapping_sheets_take_the_points_they_are_accepted_for() {
    let (mesh, split) = sheets();
    let surface = topology::surface(&mesh);
    // In both; in the lower only; in the upper only; above both; below both.
    let heights = [0.9, 0.5, 1.4, 2.0, -0.2];
    let points: Vec<Vec3> = heights.map(|z| Vec3::new(3.3, 1.3, z)).to_vec();
    for wants_upper in [false, true] {
        let accept = |_: usize, tet: u32| (tet >= split) == wants_upper;
        let embedding = Embedding::accepted(&mesh, &surface, &points, accept);
        // A point inside the other sheet still rides on its own: on the face that is nearest there.
        for (index, &tet) in embedding.tets().iter().enumerate() {
            let far = (index == 3 && !wants_upper) || (index == 4 && wants_upper);
            assert!(far || (tet >= split) == wants_upper, "point {index} upper {wants_upper}: {tet}");
            let moved = at_rest(&mesh, &embedding, index).distance(points[index].as_dvec3());
            assert!(moved < 1e-5, "{index} {moved}");
        }
    }
    let nobody = Embedding::accepted(&mesh, &surface, &points, |_, _| false);
    assert_eq!(nobody, Embedding::new(&mesh, &surface, &points), "where none is accepted, all are");
}

#[test]
fn a_flat_tet_is_not_extrapolated_from() {
    // A lid almost flat on top of a block: one tet on the middle of its top face.
    let block = bench_block([1, 1, 1], DVec3::ZERO, DVec3::ONE).expect("sound");
    let mut nodes = block.positions().to_vec();
    let mut tets = block.tets().to_vec();
    let top = topology::surface(&block)
        .into_iter()
        .find(|(f, _)| f.iter().all(|&n| nodes[n as usize].z == 1.0))
        .expect("a block has a top");
    let middle = top.0.iter().map(|&n| nodes[n as usize]).sum::<Vec3>() / 3.0;
    nodes.push(middle + Vec3::Z * 1e-3);
    tets.push([top.0[0], top.0[1], top.0[2], nodes.len() as u32 - 1]);
    let mesh = TetMesh::new(nodes, tets).expect("thin but sound");
    let embedding = embed(&mesh, &[middle + Vec3::Z * 0.5]);
    let largest = embedding.weights()[0].iter().fold(0.0f32, |m, w| m.max(w.abs()));
    assert!(largest < 5.0, "{:?}", embedding.weights()[0]);
}

#[test]
fn far_apart_pieces_and_odd_points_do_no_harm() {
    let near = bench_block([2, 2, 2], DVec3::ZERO, DVec3::ONE).expect("sound");
    let nodes = near.positions().iter().copied();
    let far = near.positions().iter().map(|p| *p + Vec3::splat(1e6));
    let tets = near.tets().iter().flat_map(|t| [*t, t.map(|n| n + near.positions().len() as u32)]);
    let mesh = TetMesh::new(nodes.chain(far).collect(), tets.collect()).expect("sound");
    let odd = [Vec3::NAN, Vec3::INFINITY, Vec3::splat(1e38), Vec3::splat(0.5), Vec3::splat(1e6 + 0.5)];
    let embedding = embed(&mesh, &odd);
    assert!(embedding.tets().iter().all(|&t| (t as usize) < mesh.tets().len()));
    for inside in [3, 4] {
        assert!(embedding.weights()[inside].iter().all(|w| (0.0..=1.0).contains(w)));
    }
    assert!(embed(&mesh, &[]).tets().is_empty());
}

#[test]
fn threads_agree() {
    let random = &mut Random(5);
    let mesh = shaken_block(random, [12, 10, 8], DVec3::NEG_ONE, DVec3::ONE);
    let points = points(random, &mesh, 5000, 0.3);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| embed(&mesh, &points))
    };
    let one = run(1);
    [2, 3, 8].into_iter().for_each(|threads| assert_eq!(run(threads), one));
}
