//! NURBS curves: exact facts, and numbers that are no curve.

mod skin_common;

use pliant::asset::{Curve, CurveError, CurvePoint};
use pliant::glam::DVec3;
use skin_common::Random;
use std::f64::consts::FRAC_1_SQRT_2;

fn random_points(random: &mut Random, count: usize) -> Vec<DVec3> {
    (0..count).map(|_| random.vector()).collect()
}

/// Parameters over the whole domain.
fn parameters(curve: &Curve) -> impl Iterator<Item = f64> + use<> {
    let [low, high] = curve.domain();
    (0..=200).map(move |i| low + (high - low) * f64::from(i) / 200.0)
}

#[test]
fn a_rational_quadratic_is_a_circle() {
    let quarter = [DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y];
    let quarter = Curve::new(2, &quarter, Some(&[1.0, FRAC_1_SQRT_2, 1.0]), None).unwrap();
    let at = |x: f64, y: f64| DVec3::new(x, y, 0.0);
    let around = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0)];
    let around = around.map(|(x, y)| at(f64::from(x), f64::from(y)));
    let weights: Vec<f64> = (0..9).map(|i| if i % 2 == 0 { 1.0 } else { FRAC_1_SQRT_2 }).collect();
    let knots = [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 4.0];
    let whole = Curve::new(2, &around, Some(&weights), Some(&knots)).unwrap();
    for curve in [&quarter, &whole] {
        for t in parameters(curve) {
            assert!((curve.at(t).length() - 1.0).abs() < 1e-12, "{t}");
        }
        let drawn = curve.drawn(0.05);
        for p in &drawn {
            assert!((p.position.length() - 1.0).abs() < 1e-12);
            let tangent = at(-p.position.y, p.position.x);
            assert!(p.tangent.distance(tangent) < 1e-9, "{p:?}");
        }
        assert!(drawn.windows(2).all(|p| p[0].position.distance(p[1].position) < 0.1));
    }
    assert!(whole.at(2.0).distance(-DVec3::X) < 1e-12);
}

/// Bernstein's polynomials are what a curve without inner knots is made of.
#[test]
fn without_inner_knots_it_is_a_bezier_curve() {
    let mut random = Random(1);
    for degree in 1..=7 {
        let points = random_points(&mut random, degree + 1);
        let curve = Curve::new(degree, &points, None, None).unwrap();
        for t in parameters(&curve) {
            let mut choose = 1.0;
            let mut sum = DVec3::ZERO;
            for (i, point) in points.iter().enumerate() {
                sum += *point * (choose * t.powi(i as i32) * (1.0 - t).powi((degree - i) as i32));
                choose *= (degree - i) as f64 / (i + 1) as f64;
            }
            assert!(curve.at(t).distance(sum) < 1e-12);
        }
    }
}

/// Basis functions that sum to one move a curve as its points are moved, whatever weights and knots are.
#[test]
fn a_moved_curve_is_the_curve_of_moved_points() {
    let mut random = Random(2);
    for round in 0..40 {
        let (degree, count) = (1 + round % 5, 6 + round);
        let points = random_points(&mut random, count);
        let weights: Vec<f64> = (0..count).map(|_| 1.1 + random.number()).collect();
        let mut knots = Vec::new();
        let mut last = random.number();
        for _ in 0..count + degree + 1 {
            last += 0.05 + random.number().abs();
            knots.push(last);
        }
        let by = random.rigid();
        let moved: Vec<DVec3> = points.iter().map(|p| by.transform_point3(*p)).collect();
        let [a, b] = [points, moved].map(|p| Curve::new(degree, &p, Some(&weights), Some(&knots)).unwrap());
        for t in parameters(&a) {
            assert!(b.at(t).distance(by.transform_point3(a.at(t))) < 1e-12);
        }
        // Smooth: all but a few of the steps, at bends that are nearly cusps, go as the tangents do.
        if degree > 1 {
            let drawn = b.drawn(1e-3);
            let goes = |pair: &&[CurvePoint]| {
                let way = (pair[1].position - pair[0].position).normalize();
                way.dot((pair[0].tangent + pair[1].tangent).normalize()) > 0.999
            };
            let going = drawn.windows(2).filter(goes).count();
            assert!(going * 1000 > drawn.len() * 995, "{going} of {}", drawn.len());
        }
    }
}

#[test]
fn clamped_ends_are_the_end_points() {
    let mut random = Random(3);
    for degree in 1..=6 {
        let points = random_points(&mut random, degree + 4);
        let curve = Curve::new(degree, &points, None, None).unwrap();
        let [low, high] = curve.domain();
        let drawn = curve.drawn(0.1);
        for (at, own) in [(curve.at(low), points[0]), (curve.at(high), points[degree + 3])] {
            assert!(at.distance(own) < 1e-12);
        }
        assert_eq!((drawn[0].position, curve.at(low - 1.0)), (curve.at(low), curve.at(low)));
        let start = (points[1] - points[0]).normalize();
        assert!(drawn[0].tangent.distance(start) < 1e-9);
    }
}

#[test]
fn degree_one_is_straight_from_point_to_point() {
    let mut random = Random(4);
    let points = random_points(&mut random, 9);
    let curve = Curve::polyline(&points).unwrap();
    for (i, point) in points.iter().enumerate() {
        assert!(curve.at(i as f64 / 8.0).distance(*point) < 1e-12);
    }
    let drawn = curve.drawn(0.01);
    assert!(points.iter().all(|p| drawn.iter().any(|d| d.position.distance(*p) < 1e-12)));
    for pair in drawn.windows(2) {
        assert!(pair[0].position.distance(pair[1].position) < 0.0101);
    }
    // At a corner between both ways.
    let corner = drawn.iter().find(|d| d.position.distance(points[1]) < 1e-12).unwrap();
    let ways = [points[1] - points[0], points[2] - points[1]].map(DVec3::normalize);
    assert!(corner.tangent.distance((ways[0] + ways[1]).normalize()) < 1e-9);
}

/// From the other end: the same places, the other way.
#[test]
fn a_reversed_curve_is_the_same_line() {
    let mut random = Random(5);
    for degree in 1..=4 {
        let mut points = random_points(&mut random, 7);
        let there = Curve::new(degree, &points, None, None).unwrap().drawn(0.05);
        points.reverse();
        let back = Curve::new(degree, &points, None, None).unwrap().drawn(0.05);
        assert_eq!(there.len(), back.len());
        for (a, b) in there.iter().zip(back.iter().rev()) {
            assert!(a.position.distance(b.position) < 1e-12 && a.tangent.distance(-b.tangent) < 1e-9);
        }
    }
}

#[test]
fn what_is_no_curve_is_refused() {
    let line = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let error = |degree, points: &[DVec3], weights: Option<&[f64]>, knots: Option<&[f64]>| {
        let error = Curve::new(degree, points, weights, knots).unwrap_err();
        assert!(!error.to_string().contains('\n'));
        error
    };
    assert_eq!(error(0, &line, None, None), CurveError::Degree { degree: 0 });
    assert_eq!(error(usize::MAX, &line, None, None), CurveError::Degree { degree: usize::MAX });
    assert_eq!(error(4, &line, None, None), CurveError::Points { count: 4, degree: 4 });
    assert_eq!(error(1, &[], None, None), CurveError::Points { count: 0, degree: 1 });
    assert!(error(1, &vec![DVec3::X; 100_001], None, None).to_string().contains("too many"));
    for bad in [f64::NAN, f64::INFINITY, -1e30] {
        let points = [DVec3::ZERO, DVec3::new(0.0, bad, 0.0)];
        assert_eq!(error(1, &points, None, None), CurveError::Coordinate { index: 1 });
    }
    assert_eq!(error(2, &[DVec3::ONE; 5], None, None), CurveError::NoLength);
    let few = CurveError::WeightCount { found: 3, expected: 4 };
    assert_eq!(error(1, &line, Some(&[1.0; 3]), None), few);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        assert!(matches!(
            error(1, &line, Some(&[1.0, 1.0, bad, 1.0]), None),
            CurveError::Weight { index: 2, .. }
        ));
    }
    let knots = |knots: &[f64]| error(2, &line, None, Some(knots));
    assert!(knots(&[0.0; 6]).to_string().contains("7 are needed"));
    assert_eq!(knots(&[0.0; 7]), CurveError::NoLength);
    assert!(matches!(knots(&[0.0, 0.0, 0.0, 1.0, 0.5, 1.0, 1.0]), CurveError::Knot { index: 4, value: 0.5 }));
    assert!(matches!(knots(&[0.0, 0.0, 0.0, f64::NAN, 1.0, 1.0, 1.0]), CurveError::Knot { index: 3, .. }));
    let torn = error(1, &line, None, Some(&[0.0, 0.0, 0.5, 0.5, 1.0, 1.0]));
    assert!(matches!(torn, CurveError::Torn { value: 0.5, .. }), "{torn}");
}

/// Doubled points, cusps, ways back, and a domain that only some of the points have a say in.
#[test]
fn degenerate_curves_are_drawn_with_numbers() {
    let [o, x, y] = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let cases = [
        Curve::polyline(&[o, o, x, x, x, y, y]),
        Curve::polyline(&[o, x, o, x]),
        Curve::new(3, &[o, x, o, x], None, None),
        Curve::new(3, &[o, o, o, o, x], None, None),
        Curve::new(2, &[o, x, x, o, o, y], Some(&[1e-9, 1e9, 1.0, 1e9, 1e-9, 1.0]), None),
        Curve::new(1, &[o, x, x], None, Some(&[0.0, 1.0, 1.0, 2.0, 3.0])),
        Curve::new(1, &[o, x, x * 1e18], None, Some(&[0.0, 0.0, 5e-324, 1e-300, 1e18])),
    ];
    for (i, curve) in cases.into_iter().enumerate() {
        let curve = curve.unwrap();
        for step in [1e-300, 0.1, 1e300] {
            let drawn = curve.drawn(step);
            assert!(!drawn.is_empty() && drawn.len() < 1_000_000, "case {i}: {}", drawn.len());
            for p in &drawn {
                assert!(p.position.is_finite() && (p.tangent.length() - 1.0).abs() < 1e-9, "case {i}: {p:?}");
            }
            assert!(drawn.windows(2).all(|p| p[0].position != p[1].position), "case {i}");
        }
    }
}
