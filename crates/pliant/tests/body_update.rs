//! The skin goes where its tets go.

mod body_common;

use body_common::*;
use pliant::asset::TetMesh;
use pliant::body::{EmbeddedSkin, Embedding, Node, bench_body, rest_nodes, topology};
use pliant::glam::{DAffine3, DMat3, DVec3, Vec3};
use pliant::simd::Path;

fn run(
    mesh: &TetMesh,
    points: &[Vec3],
    normals: &[Vec3],
    path: Path,
    nodes: &[Node],
) -> (Vec<Vec3>, Vec<Vec3>) {
    let embedding = Embedding::new(mesh, &topology::surface(mesh), points);
    let skin = EmbeddedSkin::new(mesh, &embedding, normals, path).expect("available");
    let (mut p, mut n) = (vec![Vec3::NAN; points.len()], vec![Vec3::NAN; points.len()]);
    skin.positions_and_normals(nodes, &mut skin.scratch(), &mut p, &mut n);
    let mut alone = vec![Vec3::NAN; points.len()];
    skin.positions(nodes, &mut alone);
    assert_eq!(bits(&p), bits(&alone), "normals or not, positions are the same");
    (p, n)
}

#[test]
fn rest_and_affine_motion_come_out_exactly() {
    let random = &mut Random(11);
    for mesh in meshes(random) {
        let points = points(random, &mesh, 1500, 0.5);
        let normals = normals(random, points.len());
        // Far from the origin f32 itself has no more digits.
        let (low, high) = bounds(&mesh);
        let digits = f64::from(f32::EPSILON) * low.abs().max(high.abs()).max_element();
        let rest = run(&mesh, &points, &normals, Path::best(), &rest_nodes(&mesh));
        for (v, (p, n)) in rest.0.iter().zip(&rest.1).enumerate() {
            assert!(f64::from(p.distance(points[v])) < 1e-6 * diagonal(&mesh) + 2.0 * digits, "vertex {v}");
            assert!(n.distance(normals[v]) < 1e-4, "vertex {v}");
        }
        let middle = (bounds(&mesh).0 + bounds(&mesh).1) / 2.0;
        let about =
            |map: DAffine3| DAffine3::from_translation(middle) * map * DAffine3::from_translation(-middle);
        let maps = [about(affine(random)), about(random.rigid()), about(affine(random))];
        for map in maps {
            let by_normals: DMat3 = map.matrix3.inverse().transpose();
            let (p, n) =
                run(&mesh, &points, &normals, Path::best(), &moved(&mesh, |p| map.transform_point3(p)));
            for v in 0..points.len() {
                let expected = map.transform_point3(points[v].as_dvec3());
                assert!(
                    p[v].as_dvec3().distance(expected) < 4e-6 * diagonal(&mesh) + 8.0 * digits,
                    "vertex {v}"
                );
                let expected = (by_normals * normals[v].as_dvec3()).normalize();
                assert!(n[v].as_dvec3().distance(expected) < 3e-4, "vertex {v}: {} {expected}", n[v]);
            }
        }
    }
}

/// A smooth bend: normals are near its own, finer tets bring them nearer, and from vertex to vertex the error jumps less
/// than that of normals taken tet by tet.
#[test]
fn normals_of_a_bent_bar_are_smooth() {
    let bend = |p: DVec3| {
        let (sine, cosine) = (0.4 * p.x).sin_cos_of();
        DVec3::new((2.5 - p.y) * sine, 2.5 - (2.5 - p.y) * cosine, p.z)
    };
    let mut errors = Vec::new();
    for tets in [1000, 8000, 50_000] {
        let (mesh, surface) = bench_body(tets, 4000).expect("sound");
        let (points, normals) = (surface.positions(), surface.normals());
        let (_, n) = run(&mesh, points, normals, Path::best(), &moved(&mesh, bend));
        let embedding = Embedding::new(&mesh, &topology::surface(&mesh), points);
        let (mut worst, mut jump, mut tet_jump) = (0.0f64, 0.0f64, 0.0f64);
        let mut last = [DVec3::ZERO; 2];
        for v in 0..points.len() {
            let p = points[v].as_dvec3();
            let column = |axis: DVec3| (bend(p + axis * 1e-5) - bend(p - axis * 1e-5)) / 2e-5;
            let f = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
            let by = |f: DMat3| (f.inverse().transpose() * normals[v].as_dvec3()).normalize();
            let [a, b, c, d] = mesh.corners(embedding.tets()[v] as usize);
            let rest = DMat3::from_cols(b - a, c - a, d - a);
            let [a, b, c, d] = [a, b, c, d].map(bend);
            let in_tet = DMat3::from_cols(b - a, c - a, d - a) * rest.inverse();
            let error = [n[v].as_dvec3() - by(f), by(in_tet) - by(f)];
            worst = worst.max(error[0].length());
            if v > 0 {
                jump += error[0].distance(last[0]);
                tet_jump += error[1].distance(last[1]);
            }
            last = error;
        }
        println!("{tets} tets: error {worst:.4}; jumps {jump:.2}, tet by tet {tet_jump:.2}");
        assert!(jump < 0.6 * tet_jump, "{tets} tets: {jump} {tet_jump}");
        errors.push(worst);
    }
    assert!(errors[0] > errors[1] && errors[1] > errors[2] && errors[2] < 0.05, "{errors:?}");
}

/// Sine and cosine from `libm`, as everywhere.
trait SinCos {
    fn sin_cos_of(self) -> (f64, f64);
}
impl SinCos for f64 {
    fn sin_cos_of(self) -> (f64, f64) {
        let q = pliant::glam::DQuat::from_rotation_z(self) * DVec3::X;
        (q.y, q.x)
    }
}

#[test]
fn seams_stay_closed_and_paths_and_threads_agree_whatever_the_nodes_do() {
    let random = &mut Random(12);
    for mesh in meshes(random) {
        let mut points = points(random, &mesh, 2500, 0.4);
        let twins: Vec<(usize, usize)> = (0..400).map(|i| (random.below(2500), 2500 + i)).collect();
        twins.iter().for_each(|&(of, _)| points.push(points[of]));
        // Both sides of a seam with one normal: that stays one too.
        let mut normals = normals(random, 2500);
        twins.iter().for_each(|&(of, _)| normals.push(normals[of]));
        let size = diagonal(&mesh);
        let mut wild = rest_nodes(&mesh);
        for node in &mut wild {
            let by = (random.vector() * size * 0.3).as_vec3();
            *node = [node[0] + by.x, node[1] + by.y, node[2] + by.z, 1.0];
        }
        // All in one place: no normal can be made, and the rest's is kept.
        let fallen = vec![[0.0, -0.0, 1.0, 0.0]; wild.len()];
        for nodes in [&wild, &fallen] {
            let expected = run(&mesh, &points, &normals, Path::Scalar, nodes);
            assert!(expected.0.iter().chain(&expected.1).all(|v| v.is_finite()));
            assert!(expected.1.iter().all(|n| (n.length() - 1.0).abs() < 1e-5));
            for &(of, twin) in &twins {
                assert_eq!(bits(&expected.0[of..=of]), bits(&expected.0[twin..=twin]));
                assert_eq!(bits(&expected.1[of..=of]), bits(&expected.1[twin..=twin]));
            }
            for path in Path::available() {
                for threads in [1, 2, 3, 8] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                    let (p, n) = pool.install(|| run(&mesh, &points, &normals, path, nodes));
                    assert_eq!(bits(&p), bits(&expected.0), "{path} {threads}");
                    assert_eq!(bits(&n), bits(&expected.1), "{path} {threads}");
                }
            }
        }
    }
}
