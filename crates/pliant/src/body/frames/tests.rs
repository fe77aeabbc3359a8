use super::Frame;
use super::along::normals;
use super::smooth::mean;
use crate::asset::{Curve, CurvePoint};
use glam::{DMat3, DQuat, DVec3};
use proptest::prelude::*;

fn helix(radius: f64, rise: f64, turns: f64, points: usize) -> Vec<CurvePoint> {
    let point = |i: usize| {
        let angle = turns * std::f64::consts::TAU * i as f64 / (points - 1) as f64;
        let (sine, cosine) = libm::sincos(angle);
        CurvePoint {
            position: DVec3::new(radius * cosine, radius * sine, rise * angle),
            tangent: DVec3::new(-radius * sine, radius * cosine, rise).normalize(),
        }
    };
    (0..points).map(point).collect()
}

/// Against the principal normal, which points to the axis, the frame turns back by the torsion times the length.
#[test]
fn on_a_helix_the_frame_turns_by_its_torsion() {
    let (radius, rise, turns) = (1.0, 0.5, 1.5);
    let square = radius * radius + rise * rise;
    let length = turns * std::f64::consts::TAU * f64::sqrt(square);
    let wanted = -rise / square * length;
    let error = |points: usize| {
        let curve = helix(radius, rise, turns, points);
        let normals = normals(&curve);
        let angle = |i: usize| {
            let inwards = DVec3::new(-curve[i].position.x, -curve[i].position.y, 0.0).normalize();
            let beside = curve[i].tangent.cross(inwards);
            libm::atan2(normals[i].dot(beside), normals[i].dot(inwards))
        };
        let turned = angle(points - 1) - angle(0) - wanted;
        (turned - std::f64::consts::TAU * libm::round(turned / std::f64::consts::TAU)).abs()
    };
    let [coarse, fine] = [error(41), error(81)];
    assert!(coarse < 1e-3 && fine > 1e-12, "{coarse} {fine}");
    // Fourth order: half the step, a sixteenth of the error.
    assert!((12.0..20.0).contains(&(coarse / fine)), "{coarse} {fine}");
}

#[test]
fn on_a_plane_curve_the_binormal_stays() {
    let points = [[0.0, 0.0], [1.0, 2.0], [2.0, -1.0], [3.0, 1.0], [2.5, 2.5]];
    let [u, v] = [DVec3::new(0.6, 0.0, 0.8), DVec3::Y];
    let points = points.map(|[x, y]| u * x + v * y);
    let normal = u.cross(v);
    let curve = Curve::new(3, &points, None, None).unwrap().drawn(0.05);
    let normals = normals(&curve);
    // Its angle to the plane stays, and so does that of the binormal.
    for (point, own) in curve.iter().zip(&normals) {
        assert!((own.dot(normal) - normals[0].dot(normal)).abs() < 1e-9);
        assert!(own.dot(point.tangent).abs() < 1e-12);
    }
}

#[test]
fn on_a_line_nothing_turns() {
    let curve = Curve::polyline(&[DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0)]).unwrap().drawn(0.01);
    let normals = normals(&curve);
    assert!(normals.len() > 300 && normals.iter().all(|n| n.distance(normals[0]) < 1e-12));
}

#[test]
fn kinks_and_ways_back_have_frames() {
    let [o, x, y] = [DVec3::ZERO, DVec3::X, DVec3::Y];
    for points in [&[o, o, x, x, y][..], &[o, x, o, x], &[o, x, x + y, x, o]] {
        for degree in 1..=3 {
            let curve = Curve::new(degree, points, None, None).unwrap().drawn(0.2);
            for (point, normal) in curve.iter().zip(normals(&curve)) {
                let q = Frame::nearest(point.tangent, normal, normal).axes();
                assert!(q.x_axis.distance(point.tangent) < 1e-12 && (q.determinant() - 1.0).abs() < 1e-12);
            }
        }
    }
    assert!(normals(&[]).is_empty());
}

fn rotation() -> impl Strategy<Value = DQuat> {
    let part = -1.0..1.0f64;
    let usable = |(x, y, z, w): &(f64, f64, f64, f64)| x * x + y * y + z * z + w * w > 0.01;
    (part.clone(), part.clone(), part.clone(), part)
        .prop_filter("has a length", usable)
        .prop_map(|(x, y, z, w)| DQuat::from_xyzw(x, y, z, w).normalize())
}

fn frame(q: DQuat) -> Frame {
    let axes = DMat3::from_quat(q);
    Frame { first: axes.x_axis, second: axes.y_axis }
}

/// The rotational factor of a matrix's polar decomposition, by Newton's steps.
fn polar(m: DMat3) -> DMat3 {
    (0..100).fold(m, |x, _| (x + x.inverse().transpose()) * 0.5)
}

proptest! {
    /// Near each other, as neighbours are; signs as they come.
    #[test]
    fn the_mean_is_the_polar_factor_of_the_sum(
        start in rotation(),
        turns in prop::collection::vec((rotation(), 0.1..2.0f64, any::<bool>(), any::<bool>()), 1..5),
    ) {
        let near = |q: DQuat| (start + q * 0.3 * q.dot(start).signum()).normalize();
        let frames = turns.iter().map(|&(q, weight, first, second)| (frame(near(q)), weight, first, second));
        let flipped = frames.clone().map(|(f, weight, first, second)| {
            let sign = |axis: DVec3, flip: bool| if flip { -axis } else { axis };
            (Frame { first: sign(f.first, first), second: sign(f.second, second) }, weight)
        });
        let mean = mean(frame(start), flipped).axes();
        // The second and third axes count next to nothing.
        let weights = DMat3::from_diagonal(DVec3::new(1.0, 1e-4, 1e-4));
        let sum = frames.fold(DMat3::ZERO, |sum, (f, weight, ..)| sum + f.axes() * weights * weight);
        let wanted = polar(sum);
        prop_assert!((mean.determinant() - 1.0).abs() < 1e-9);
        prop_assert!(mean.x_axis.distance(wanted.x_axis) < 1e-3, "{mean:?} {wanted:?}");
        // About the fibre, up to what the third axes add to the second.
        prop_assert!(mean.y_axis.dot(wanted.y_axis) > 0.97, "{mean:?} {wanted:?}");
    }
}
