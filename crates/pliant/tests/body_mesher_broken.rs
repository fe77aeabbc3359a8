//! The tetrahedraliser on input that is no body: an error or a sound body, never a panic, never for ever.

#![allow(clippy::disallowed_methods, reason = "shapes need not have the same bits on every machine")]

mod mesher_common;
mod skin_common;

use mesher_common::{Skin, unsound};
use pliant::body::{Body, BodyError, Fineness};
use pliant::glam::{DVec3, Vec3};
use proptest::prelude::*;
use skin_common::Random;
use std::f64::consts::{PI, TAU};
use std::panic::catch_unwind;

const ORIGIN: DVec3 = DVec3::ZERO;

fn ball() -> Skin {
    Skin::sphere(ORIGIN, 1.0, 16)
}

fn of(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Skin {
    Skin { points: points.iter().map(|&p| p.into()).collect(), triangles: triangles.to_vec() }
}

/// Triangles with corners of their own, of about `size` in a cube of side 2.
fn soup(random: &mut Random, count: u32, size: f64) -> Skin {
    let mut points = Vec::new();
    for _ in 0..count {
        let place = random.vector();
        points.extend((0..3).map(|_| place + size * random.vector()));
    }
    Skin { points, triangles: (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect() }
}

/// Meshes, and tells of a panic or of an unsound body; whether there is a body.
fn attempt(skin: &Skin, fineness: Fineness) -> Result<bool, String> {
    let done = catch_unwind(|| match skin.meshed(fineness) {
        Ok(body) => {
            let missed = unsound(skin, &body);
            if missed.is_empty() { Ok(true) } else { Err(format!("{missed:?}")) }
        }
        Err(_) => Ok(false),
    });
    done.unwrap_or_else(|_| Err("panicked".into()))
}

/// Each with whether it has a body, where that is beyond dispute.
fn check(cases: Vec<(&str, Skin, Option<bool>)>) {
    let mut wrong = Vec::new();
    for (name, skin, has_body) in cases {
        for fineness in [Fineness::Tets(500), Fineness::Tets(3000)] {
            match attempt(&skin, fineness) {
                Err(what) => wrong.push(format!("{name}, {fineness:?}: {what}")),
                Ok(found) if has_body.is_some_and(|wanted| wanted != found) => {
                    wrong.push(format!("{name}, {fineness:?}: body {found}"));
                }
                Ok(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_flat_or_nothing_is_refused() {
    let one = of(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.3]], &[[0, 1, 2]]);
    let mut loose = one.clone();
    loose.triangles.clear();
    check(vec![
        ("nothing", Skin::default(), Some(false)),
        ("points alone", loose, Some(false)),
        ("a triangle", one.clone(), Some(false)),
        ("two coincident triangles", one.clone().and(&one), Some(false)),
        ("a triangle from both sides", one.clone().and(&one.inside_out()), Some(false)),
        ("a flat sheet", Skin::sheet(8, |u, v| DVec3::new(u, v, 0.0)), Some(false)),
        ("a slanted sheet", Skin::sheet(8, |u, v| DVec3::new(u, v, 0.3 * u - 0.7 * v)), Some(false)),
        ("a point", ball().moved(|_| DVec3::ONE), Some(false)),
        ("a line", ball().moved(|p| DVec3::new(p.x, 2.0 * p.x, -p.x)), Some(false)),
        ("a pancake", ball().moved(|p| DVec3::new(p.x, p.y, 0.0)), Some(false)),
        ("a ball in no triangle", Skin { triangles: vec![[3, 3, 3]; 20], ..ball() }, Some(false)),
    ]);
}

#[test]
fn strange_sizes_and_places() {
    let mut far = ball();
    far.points.push(DVec3::X * 2e6);
    let mut spike = ball();
    spike.points[40] *= 2e6;
    check(vec![
        ("huge", ball().moved(|p| p * 1e30), None),
        ("nearly too large to write", ball().moved(|p| p * 3e38), None),
        ("tiny", ball().moved(|p| p * 1e-30), None),
        ("below what can be written", ball().moved(|p| p * 1e-44), None),
        ("a loose vertex far away", far, Some(true)),
        ("one vertex of it far away", spike, None),
        ("rounded to a few places", ball().moved(|p| p * 1e-6 + DVec3::ONE), None),
        ("a needle", ball().moved(|p| DVec3::new(p.x * 1e2, p.y, p.z)), None),
        ("two balls far apart", ball().and(&ball().moved(|p| p + DVec3::X * 1e5)), Some(true)),
    ]);
}

#[test]
fn wild_surfaces() {
    let random = &mut Random(3);
    let mut shells = Skin::default();
    for k in 0..1000 {
        shells = shells.and(&Skin::sphere(ORIGIN, 1.0 - 0.0009 * f64::from(k), 5));
    }
    let mut turned = Skin::default();
    for k in 0..20 {
        let shell = Skin::sphere(ORIGIN, 1.0 - 0.04 * f64::from(k), 8);
        turned = turned.and(&if k % 2 == 0 { shell } else { shell.inside_out() });
    }
    let moebius = Skin::sheet(30, |u, v| {
        let ((s, c), (hs, hc)) = (libm::sincos(TAU * u), libm::sincos(PI * u));
        DVec3::new((1.0 + 0.4 * (v - 0.5) * hc) * c, (1.0 + 0.4 * (v - 0.5) * hc) * s, 0.4 * (v - 0.5) * hs)
    });
    let mut fan = of(&[[0.0; 3], [0.0, 0.0, 1.0]], &[]);
    for k in 0..40 {
        let (s, c) = libm::sincos(TAU * f64::from(k) / 40.0);
        fan.points.push(DVec3::new(c, s, 0.5));
        fan.triangles.push([0, 1, 2 + k]);
    }
    // A box with one face split where its neighbours are not.
    let mut junction = Skin::cuboid(ORIGIN, DVec3::new(1.0, 2.0, 1.0));
    let [a, b, c] = junction.triangles[0];
    junction.points.push((junction.points[a as usize] + junction.points[b as usize]) / 2.0);
    junction.triangles[0] = [a, 8, c];
    junction.triangles.push([8, b, c]);
    // Boxes that touch along an edge and at a corner.
    let edge = Skin::blocks([&[0.0, 1.0, 2.0]; 3], |[i, j, k]| i == j && k < 2);
    let corner = Skin::blocks([&[0.0, 1.0, 2.0]; 3], |[i, j, k]| i == j && j == k);
    check(vec![
        ("a thousand shells", shells, None),
        ("shells turned in and out", turned, Some(true)),
        ("a Moebius strip", moebius, None),
        ("a fan about an edge", fan, None),
        ("a T-junction", junction, Some(true)),
        ("boxes along an edge", edge, Some(true)),
        ("boxes at a corner", corner, Some(true)),
        (
            "a ball with a fin",
            ball().and(&of(&[[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]], &[[0, 1, 2]])),
            None,
        ),
        (
            "a crumpled ball",
            ball().moved(|p| {
                p + 0.4 * DVec3::new(libm::sin(9.0 * p.y), libm::sin(9.0 * p.z), libm::sin(9.0 * p.x))
            }),
            Some(true),
        ),
        (
            "shaken",
            {
                let mut s = ball();
                s.points.iter_mut().for_each(|p| *p += 0.5 * random.vector());
                s
            },
            None,
        ),
        (
            "random corners",
            Skin {
                points: soup(random, 70, 1.0).points,
                triangles: (0..600).map(|_| [0; 3].map(|_| random.below(200) as u32)).collect(),
            },
            None,
        ),
        ("soup", soup(random, 20_000, 0.1), None),
        ("coarse soup", soup(random, 300, 1.0), None),
    ]);
}

#[test]
fn slices_that_make_no_skin_are_refused() {
    let (positions, triangles) = (ball().positions(), ball().triangles);
    let refused = |positions: &[Vec3], triangles: &[[u32; 3]]| {
        let made = catch_unwind(|| Body::of_skin(positions, triangles, Fineness::Tets(500), &mut |_| true));
        matches!(made, Ok(Err(_)))
    };
    let mut wrong = Vec::new();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for vertex in [0, 77] {
            let mut spoilt = positions.clone();
            spoilt[vertex].y = bad;
            if !refused(&spoilt, &triangles) {
                wrong.push(format!("vertex {vertex} at {bad}"));
            }
        }
    }
    for index in [positions.len() as u32, u32::MAX] {
        let mut spoilt = triangles.clone();
        spoilt[50][1] = index;
        if !refused(&positions, &spoilt) {
            wrong.push(format!("index {index}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn progress_rises_to_one_and_stops_at_any_call() {
    let skin = Skin::sample("hand");
    let mut told = Vec::new();
    let run = |progress: &mut dyn FnMut(f32) -> bool| {
        Body::of_skin(&skin.positions(), &skin.triangles, Fineness::Tets(2000), progress)
    };
    run(&mut |share| {
        told.push(share);
        true
    })
    .expect("a body");
    assert!(told.is_sorted() && told.len() > 3, "{told:?}");
    assert_eq!((told[0], told[told.len() - 1]), (0.0, 1.0));
    for last in 0..told.len() {
        let mut calls = 0;
        let stopped = run(&mut |_| {
            calls += 1;
            calls <= last
        });
        assert_eq!(stopped, Err(BodyError::Stopped), "call {last}");
        assert_eq!(calls, last + 1, "it goes on after it was stopped");
    }
}

#[test]
fn fineness_out_of_range_is_refused() {
    use Fineness::{Cell, Tets};
    for fineness in [Tets(0), Tets(49), Tets(10_000_001), Tets(usize::MAX)] {
        assert!(matches!(ball().meshed(fineness), Err(BodyError::Setting { .. })), "{fineness:?}");
    }
    for cell in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-5, 1e-12, 1e-300, f64::MIN_POSITIVE] {
        assert!(matches!(ball().meshed(Cell(cell)), Err(BodyError::Setting { .. })), "{cell}");
    }
    assert_eq!(attempt(&ball(), Tets(50)), Ok(true));
    // Cells larger than all of it: whatever comes is no panic.
    for cell in [3.0, 100.0, 1e30, f64::MAX] {
        attempt(&ball(), Cell(cell)).unwrap_or_else(|e| panic!("{cell}: {e}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_small_soup_gets_an_error_or_a_sound_body(
        corners in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 4..30),
        picks in prop::collection::vec(prop::array::uniform3(0usize..1000), 1..80),
    ) {
        let triangles = picks.iter().map(|t| t.map(|v| (v % corners.len()) as u32)).collect();
        let skin = Skin { points: corners.into_iter().map(DVec3::from).collect(), triangles };
        if let Err(what) = attempt(&skin, Fineness::Tets(300)) {
            prop_assert!(false, "{what}");
        }
    }
}
