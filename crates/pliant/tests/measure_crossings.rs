//! Self-intersections: against a count by brute force, by kind, and the same for any number of threads.
#![allow(clippy::disallowed_methods)]
mod measure_bodies;

use measure_bodies::*;
use pliant::asset::Character;
use pliant::glam::{DAffine3, DVec3};
use pliant::measure::{Crossings, Judge, Options};
use proptest::prelude::*;

/// Three balls in a row, one for each joint of a chain.
fn beads() -> Character {
    let mut mesh = Mesh::default();
    for k in 0..3 {
        mesh.add(&sphere(DVec3::X * 3.0 * f64::from(k), 1.0, 9, 14));
    }
    let per_bead = mesh.positions.len() / 3;
    let joints = [DVec3::ZERO, DVec3::X * 3.0, DVec3::X * 6.0];
    character(&mesh, &joints, DVec3::X * 7.0, |v, _| vec![((v / per_bead) as u16, 1.0)])
}

fn count(body: &Character, moves: &[DAffine3]) -> Crossings {
    let judge = Judge::new(body, Options::default());
    judge.frame(&pose(body, moves), &skinned(body, moves)).self_intersections.unwrap()
}

fn shift(x: f64, y: f64) -> DAffine3 {
    DAffine3::from_translation(DVec3::new(x, y, 0.05))
}

/// Moller and Trumbore's test of a segment against a triangle, written apart from the judge.
fn pierced(p: DVec3, q: DVec3, [a, b, c]: [DVec3; 3]) -> bool {
    let (along, e1, e2) = (q - p, b - a, c - a);
    let h = along.cross(e2);
    let det = e1.dot(h);
    if det == 0.0 {
        return false;
    }
    let s = (p - a) / det;
    let (u, q) = (s.dot(h), s.cross(e1));
    let (v, t) = (along.dot(q), e2.dot(q));
    u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0 && t < 1.0
}

fn crossing_pairs(mesh: &Mesh, at: &[DVec3]) -> Vec<(usize, usize)> {
    let corners = |t: usize| mesh.triangles[t].map(|v| at[v as usize]);
    let edges = |[a, b, c]: [DVec3; 3]| [(a, b), (b, c), (c, a)];
    let mut pairs = Vec::new();
    for i in 0..mesh.triangles.len() {
        for j in i + 1..mesh.triangles.len() {
            let shared = mesh.triangles[i].iter().any(|v| mesh.triangles[j].contains(v));
            let (a, b) = (corners(i), corners(j));
            let cross = edges(a).iter().any(|e| pierced(e.0, e.1, b))
                || edges(b).iter().any(|e| pierced(e.0, e.1, a));
            if !shared && cross {
                pairs.push((i, j));
            }
        }
    }
    pairs
}

#[test]
fn beads_apart_do_not_cross() {
    assert_eq!(count(&beads(), &[DAffine3::IDENTITY; 3]), Crossings::default());
}

#[test]
fn neighbours_are_told_from_strangers() {
    let rest = DAffine3::IDENTITY;
    let neighbours = count(&beads(), &[rest, shift(-1.5, 0.1), rest]);
    assert!(neighbours.adjacent > 20 && neighbours.other == 0, "{neighbours:?}");
    let strangers = count(&beads(), &[rest, shift(0.0, 9.0), shift(-4.5, 0.1)]);
    assert!(strangers.other > 20 && strangers.adjacent == 0, "{strangers:?}");
    assert_eq!(neighbours.adjacent, strangers.other, "the same two balls, the same overlap");
    assert!(!strangers.capped);
}

#[test]
fn what_crosses_at_rest_is_not_counted() {
    let mut mesh = sphere(DVec3::ZERO, 1.0, 9, 14);
    mesh.add(&sphere(DVec3::X * 1.3, 1.0, 9, 14));
    let half = mesh.positions.len() / 2;
    let body =
        character(&mesh, &[DVec3::ZERO, DVec3::X], DVec3::X * 2.0, |v, _| vec![((v >= half) as u16, 1.0)]);
    let rest = DAffine3::IDENTITY;
    assert_eq!(count(&body, &[rest, rest]), Crossings::default());
    assert_eq!(count(&body, &[turn(DVec3::ONE, 77.0); 2]), Crossings::default(), "nor when all moves as one");
    assert!(count(&body, &[rest, shift(-0.4, 0.0)]).adjacent > 10);
}

#[test]
fn shells_that_touch_at_rest_stay_quiet_under_motion() {
    // The same surface twice, triangulated differently: rounding makes it cross itself in every pose.
    let mut mesh = tube(2.0, 1.0, 8, 12, false);
    let mut twin = tube(2.0, 1.0, 8, 12, false);
    for quad in twin.triangles.chunks_mut(2) {
        let ([a, b, c], [_, _, d]) = (quad[0], quad[1]);
        (quad[0], quad[1]) = ([a, b, d], [b, c, d]);
    }
    mesh.add(&twin);
    let half = mesh.positions.len() / 2;
    // Different weights keep the two from being welded; both joints move as one.
    let body =
        character(&mesh, &[DVec3::ZERO, DVec3::Y], DVec3::Y * 2.0, |v, _| vec![((v >= half) as u16, 1.0)]);
    for degrees in [13.0, 77.0, 140.0] {
        assert_eq!(count(&body, &[turn(DVec3::new(1.0, 2.0, 0.3), degrees); 2]), Crossings::default());
    }
}

#[test]
fn a_folded_limb_crosses_itself_in_the_crease() {
    let body = limb(&limb_mesh());
    let fold = [DAffine3::IDENTITY, turn(DVec3::Z, 150.0)];
    let crossings = count(&body, &fold);
    assert!(crossings.adjacent > 20 && crossings.other == 0, "{crossings:?}");
}

#[test]
fn a_collapsed_skin_is_given_up_on_in_time() {
    // All of a dense skin in a space of no size, but not flat: every pair of boxes meets.
    let body = limb(&tube(HALF, 1.0, 120, 90, true));
    let judge = Judge::new(&body, Options::default());
    let mut seed = 1u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(seed >> 8) / f64::from(1 << 24)
    };
    let heap: Vec<_> =
        (0..body.surface().positions().len()).map(|_| DVec3::new(next(), next(), next()).as_vec3()).collect();
    let crossings = judge.frame(&pose(&body, &[DAffine3::IDENTITY; 2]), &heap).self_intersections.unwrap();
    assert!(crossings.capped && crossings.adjacent > 100_000, "{crossings:?}");
}

/// Pairs that share a point are never counted, but looking at them takes time too.
#[test]
fn triangles_that_all_share_a_point_are_given_up_on_in_time() {
    let count = 100_000u32;
    let rim = |k: u32| {
        let angle = f64::from(k) * std::f64::consts::TAU / f64::from(count);
        DVec3::new(angle.cos(), angle.sin(), 0.0)
    };
    let mut fan = Mesh { positions: vec![DVec3::ZERO], ..Mesh::default() };
    fan.positions.extend((0..count).map(rim));
    fan.triangles = (0..count).map(|k| [0, 1 + k, 1 + (k + 1) % count]).collect();
    let body = character(&fan, &[DVec3::ZERO], DVec3::X, |_, _| vec![(0, 1.0)]);
    let start = std::time::Instant::now();
    let judge = Judge::new(&body, Options::default());
    let measures = judge.frame(&pose(&body, &[DAffine3::IDENTITY]), &moved(&body, |p| p));
    // All five billion pairs would take minutes unoptimised.
    assert!(start.elapsed() < std::time::Duration::from_secs(60), "{:?}", start.elapsed());
    assert!(measures.self_intersections.is_none_or(|c| c.capped && c.adjacent + c.other == 0));
}

#[cfg(feature = "parallel")]
#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let body = limb(&tube(HALF, 1.0, 60, 40, true));
    let fold = [DAffine3::IDENTITY, turn(DVec3::Z, 150.0) * turn(DVec3::Y, 40.0)];
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let judge = Judge::new(&body, Options::default());
            let (asked, skin) = (pose(&body, &fold), skinned(&body, &fold));
            (judge.frame(&asked, &skin), judge.stretch(&asked, &skin), judge.volume_field(&asked, &skin))
        })
    };
    let one = run(1);
    assert!(one.0.self_intersections.unwrap().adjacent > 0);
    for threads in [2, 3, 8] {
        assert_eq!(run(threads), one, "{threads} threads");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_soup_counts_as_by_brute_force(
        corners in prop::collection::vec(prop::array::uniform3(-1.0..1.0f32), 30..120),
        moved_to in prop::collection::vec(prop::array::uniform3(-1.0..1.0f32), 120),
    ) {
        let triangles = (0..corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let positions = corners.iter().map(|&c| DVec3::from(c.map(f64::from))).collect();
        let mesh = Mesh { positions, triangles };
        let body = limb(&mesh);
        let judge = Judge::new(&body, Options::default());
        let skin: Vec<_> = moved_to[..corners.len()].iter().map(|&c| pliant::glam::Vec3::from(c)).collect();
        let count = judge.frame(&pose(&body, &[DAffine3::IDENTITY; 2]), &skin).self_intersections.unwrap();

        let before = crossing_pairs(&mesh, &mesh.positions);
        let at: Vec<DVec3> = skin.iter().map(|p| p.as_dvec3()).collect();
        let fresh = crossing_pairs(&mesh, &at).into_iter().filter(|p| !before.contains(p)).count();
        // Pairs that come within a hair at rest without crossing are left out by the judge: rare in a soup.
        prop_assert!(count.adjacent + count.other <= fresh && count.adjacent + count.other + 1 >= fresh);
    }
}
