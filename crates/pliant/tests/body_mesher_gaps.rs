//! The tetrahedraliser where skins are not one clean closed surface: narrow gaps, holes, shells in shells, sheets.

#![allow(clippy::disallowed_methods, reason = "shapes need not have the same bits on every machine")]

mod mesher_common;
mod skin_common;

use mesher_common::{Skin, fates, nodes_under, short_of_goals, unsound, way};
use pliant::body::{Body, Fate, Fineness};
use pliant::glam::{DQuat, DVec3};
use skin_common::Random;
use std::f64::consts::PI;

const ORIGIN: DVec3 = DVec3::ZERO;

fn ball() -> Skin {
    Skin::sphere(ORIGIN, 1.0, 24)
}

/// Sound, in so many pieces, and with about this volume.
fn assert_body(what: &str, skin: &Skin, body: &Body, pieces: usize, volume: f64, off: f64) {
    let mut missed = unsound(skin, body);
    if body.pieces().len() != pieces {
        missed.push(format!("pieces of {:?} tets", body.pieces()));
    }
    for (whose, found) in [("skin", body.skin_volume()), ("tets", body.tets().volume())] {
        if (found / volume - 1.0).abs() > off {
            missed.push(format!("{whose} volume {:.4} of what it should be", found / volume));
        }
    }
    assert!(missed.is_empty(), "{what}: {missed:#?}");
}

/// A comb: boxes of 1 x 10 x 1 side by side, `gap` apart, on a bar of height 1. Turned, so that no face lies along the
/// lattice.
fn comb(teeth: usize, thick: f64, gap: f64) -> (Skin, impl Fn(DVec3) -> DVec3) {
    let x: Vec<f64> =
        (0..teeth).flat_map(|k| [k as f64 * (thick + gap), k as f64 * (thick + gap) + thick]).collect();
    let skin = Skin::blocks([&x, &[0.0, 10.0, 11.0], &[0.0, thick]], |[i, j, _]| j == 1 || i % 2 == 0);
    let turn = DQuat::from_xyzw(0.2, 0.1, 0.3, 0.9).normalize();
    (skin.moved(|p| turn * p), move |p| turn.inverse() * p)
}

/// The way from the end of each tooth to the end of the next goes up to the bar and down again.
fn assert_teeth_are_apart(teeth: usize, thick: f64, gap: f64, cell: f64) {
    let (skin, upright) = comb(teeth, thick, gap);
    let body = skin.body(Fineness::Cell(cell));
    assert_body("a comb", &skin, &body, 1, skin.volume(), 0.15);
    let end = |tooth: usize| {
        let low = tooth as f64 * (thick + gap);
        nodes_under(&skin, &body, |p| {
            let p = upright(p);
            p.y < 0.01 && (low - 1e-6..low + thick + 1e-6).contains(&p.x)
        })
    };
    for tooth in 1..teeth {
        let found = way(body.tets(), &end(tooth - 1), &end(tooth));
        // Ends are rounded off by up to a cell, and so is the notch.
        let least = 2.0 * (10.0 - 2.0 * cell);
        assert!((least..26.0).contains(&found), "teeth {tooth} of {teeth}: {found} < {least}");
    }
}

#[test]
fn legs_that_nearly_touch_are_not_glued() {
    for cell in [0.35, 0.5] {
        assert_teeth_are_apart(2, 1.0, 0.1 * cell, cell);
    }
}

#[test]
fn five_thin_fingers_are_not_glued() {
    // Just under a cell thick, so that thickening makes neighbours overlap.
    assert_teeth_are_apart(5, 0.4, 0.05, 0.45);
}

#[test]
fn balls_apart_are_two_and_overlapping_are_one() {
    let with = |x: f64| ball().and(&Skin::sphere(DVec3::new(x, 0.1, 0.2), 1.0, 24));
    let apart = with(2.1);
    let missed = short_of_goals(&apart, &apart.body(Fineness::Tets(6000)), 6000, 2);
    assert!(missed.is_empty(), "{missed:#?}");
    let overlapping = with(1.2);
    let body = overlapping.body(Fineness::Tets(6000));
    // The lens that two balls share, by the distance of their centres.
    let d = DVec3::new(1.2, 0.1, 0.2).length();
    let lens = PI * (4.0 + d) * (2.0 - d).powi(2) / 12.0;
    assert_body("overlapping", &overlapping, &body, 1, overlapping.volume() - lens, 0.02);
}

#[test]
fn a_ball_that_is_damaged_is_still_a_ball() {
    let volume = ball().volume();
    let check = |what: &str, skin: Skin, off: f64| {
        let body = skin.body(Fineness::Tets(4000));
        assert_body(what, &skin, &body, 1, volume, off);
        let count = body.tets().tets().len() as f64 / 4000.0;
        assert!((count - 1.0).abs() < 0.05 && fates(&body)[0] == Fate::Flesh, "{what}: {count}");
    };
    check("whole", ball(), 0.02);
    check("inside out", ball().inside_out(), 0.02);
    check("from both sides", ball().and(&ball().inside_out()), 0.02);
    let mut doubled = ball();
    doubled.triangles.extend(ball().triangles);
    check("drawn twice", doubled, 0.02);
    // Not welded: every triangle with vertices of its own.
    let points = ball().triangles.iter().flatten().map(|&v| ball_point(v)).collect::<Vec<_>>();
    let triangles = (0..points.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    check("of loose triangles", Skin { points, triangles }, 0.02);
    let mut holed = ball();
    // A cap around one pole: a tenth of the triangles, in one hole.
    let height = |s: &Skin, t: &[u32; 3]| t.iter().map(|&v| s.points[v as usize].z).sum::<f64>();
    let mut heights: Vec<f64> = holed.triangles.iter().map(|t| height(&holed, t)).collect();
    heights.sort_by(f64::total_cmp);
    let top = heights[heights.len() * 9 / 10];
    let all = holed.clone();
    holed.triangles.retain(|t| height(&all, t) < top);
    check("with a hole", holed, 0.05);
    let random = &mut Random(7);
    let mut sieve = ball();
    sieve.triangles.retain(|_| random.below(10) > 0);
    check("as a sieve", sieve, 0.05);
    let mut flipped = ball();
    flipped.triangles.iter_mut().filter(|_| random.below(100) == 0).for_each(|t| t.swap(0, 1));
    assert!(flipped.volume() < 0.999 * volume);
    check("with some triangles flipped", flipped, 0.02);
}

fn ball_point(vertex: u32) -> DVec3 {
    use std::sync::OnceLock;
    static BALL: OnceLock<Skin> = OnceLock::new();
    BALL.get_or_init(ball).points[vertex as usize]
}

#[test]
fn a_hollow_stays_hollow() {
    let inner = Skin::sphere(ORIGIN, 0.5, 16);
    let hollow = ball().and(&inner.clone().inside_out());
    let body = hollow.body(Fineness::Cell(0.12));
    assert_body("hollow", &hollow, &body, 1, ball().volume() - inner.volume(), 0.03);
    let middles = (0..body.tets().tets().len()).map(|t| body.tets().corners(t).iter().sum::<DVec3>() / 4.0);
    let nearest = middles.map(DVec3::length).fold(f64::INFINITY, f64::min);
    assert!(nearest > 0.4, "a tet {nearest} from the middle");
    // An inner wall that is turned outwards is a thing inside (an eye, a skull), not a hollow.
    let filled = ball().and(&inner);
    assert_body("filled", &filled, &filled.body(Fineness::Cell(0.15)), 1, ball().volume(), 0.02);
}

#[test]
fn what_has_no_flesh_rides_and_says_why() {
    let cape = Skin::sheet(12, |u, v| {
        let (s, c) = libm::sincos(PI * (u - 0.5));
        DVec3::new(1.3 * s, -1.3 * c, 2.0 * v - 1.0)
    });
    let lash = Skin::cuboid(DVec3::new(1.1, -1.0, 0.0), DVec3::new(3.1, 1.0, 0.01));
    let bead = Skin::sphere(DVec3::new(0.0, 1.2, 0.0), 0.02, 6);
    let skin = ball().and(&cape).and(&lash).and(&bead);
    let body = skin.body(Fineness::Tets(4000));
    // The lash's volume is more than a cell cubed, so that it is thinness that counts.
    assert!(body.cell().powi(3) < lash.volume(), "{}", body.cell());
    assert_eq!(fates(&body), [Fate::Flesh, Fate::Open, Fate::Thin, Fate::Small]);
    let missed = short_of_goals(&skin, &body, 4000, 1);
    assert!(missed.is_empty(), "{missed:#?}");
    let of_ball = ball().points.len();
    assert!((0..skin.points.len()).all(|v| body.rides(v) == (v >= of_ball)));
    let sizes: Vec<usize> = body.shells().iter().map(|s| s.vertices as usize).collect();
    assert_eq!(sizes, [of_ball, cape.points.len(), lash.points.len(), bead.points.len()]);
    assert_eq!(body.shells()[1].vertex as usize, of_ball);
}

#[test]
fn a_thin_plate_alone_is_one_piece() {
    for thick in [0.05, 0.01] {
        let plate = Skin::cuboid(DVec3::new(-1.0, -1.0, 0.0), DVec3::new(1.0, 1.0, thick));
        let plate = plate.moved(|p| DQuat::from_xyzw(0.3, -0.2, 0.1, 0.9).normalize() * p);
        let body = plate.body(Fineness::Tets(2000));
        assert_eq!(fates(&body), [Fate::Flesh]);
        let mut missed = short_of_goals(&plate, &body, 2000, 1);
        if (body.skin_volume() / (4.0 * thick) - 1.0).abs() > 0.05 {
            missed.push(format!("skin volume {} of {}", body.skin_volume(), 4.0 * thick));
        }
        assert!(missed.is_empty(), "{thick}: {missed:#?}");
    }
}
