//! The tetrahedraliser on clean skins: every goal, the same for any thread count, size, place and side.

#![allow(clippy::disallowed_methods, reason = "shapes need not have the same bits on every machine")]

mod mesher_common;

use mesher_common::{Skin, short_of_goals};
use pliant::body::{Body, Fineness};
use pliant::glam::DVec3;

const SAMPLES: [&str; 6] = ["cylinder", "arm", "hand", "human", "octopus", "bunny"];

fn all_goals_are_met(wanted: usize, most_off: f64) {
    let mut misses = Vec::new();
    for name in SAMPLES {
        let skin = Skin::sample(name);
        let body = skin.body(Fineness::Tets(wanted));
        let mut missed = short_of_goals(&skin, &body, wanted, 1);
        let ratio = body.tets().volume() / body.skin_volume();
        if (ratio - 1.0).abs() > most_off {
            missed.push(format!("volume {ratio:.4} of the skin's"));
        }
        let known = body.skin_volume() / skin.volume();
        if (known - 1.0).abs() > 0.01 {
            missed.push(format!("a skin volume {known:.4} of the true one"));
        }
        misses.extend(missed.iter().map(|m| format!("{name} at {wanted}: {m}")));
    }
    assert!(misses.is_empty(), "{misses:#?}");
}

#[test]
fn samples_meet_the_goals_at_2k() {
    // Thin parts are thickened to a cell, so a coarse body is larger.
    all_goals_are_met(2000, 0.15);
}

#[test]
fn samples_meet_the_goals_at_8k() {
    all_goals_are_met(8000, 0.02);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for name in ["hand", "octopus"] {
        let skin = Skin::sample(name);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| skin.body(Fineness::Tets(3000)))
        };
        let bits = |body: &Body| -> Vec<u32> {
            let of_nodes = body.tets().positions().iter().flat_map(|p| p.to_array());
            let of_skin = body.embedding().weights().iter().flatten().copied();
            let others = body.fill().iter().chain(body.node_volumes()).copied();
            of_nodes.chain(of_skin).chain(others).map(f32::to_bits).collect()
        };
        let one = with(1);
        for threads in [2, 4] {
            let more = with(threads);
            assert!(one == more && bits(&one) == bits(&more), "{name} with {threads} threads");
        }
    }
}

/// How far nodes are from where the same skin, moved and scaled, should have them, in cells: the worst but one in a
/// hundred, and the worst.
fn off(body: &Body, other: &Body, to: impl Fn(DVec3) -> DVec3) -> (f64, f64) {
    let pairs = body.tets().positions().iter().zip(other.tets().positions());
    let mut off: Vec<f64> =
        pairs.map(|(a, b)| to(a.as_dvec3()).distance(b.as_dvec3()) / other.cell()).collect();
    off.sort_by(f64::total_cmp);
    (off[off.len() * 99 / 100], off[off.len() - 1])
}

#[test]
fn size_and_place_of_the_skin_do_not_matter() {
    for name in ["arm", "hand"] {
        let skin = Skin::sample(name);
        let body = skin.body(Fineness::Tets(2000));
        let far = DVec3::new(6.0, -7.0, 3.5) * skin.diagonal();
        for (scale, shift) in [(1024.0, DVec3::ZERO), (1000.0, DVec3::ZERO), (0.001, DVec3::ZERO), (1.0, far)]
        {
            let to = |p: DVec3| p * scale + shift;
            let other = skin.clone().moved(to).body(Fineness::Tets(2000));
            let what = format!("{name} times {scale} at {shift}");
            assert_eq!(body.tets().tets(), other.tets().tets(), "{what}");
            // Far away the skin itself is rounded; where it runs along a lattice edge, the cut moves by more than that.
            let (most, worst) = off(&body, &other, to);
            // Rounding of the input may tip one node onto the skin or off it; the rest stays.
            assert!(most < 1e-2 && worst < 0.4, "{what}: {most} {worst}");
            assert!(
                (other.skin_volume() / (body.skin_volume() * scale.powi(3)) - 1.0).abs() < 1e-4,
                "{what}"
            );
        }
    }
}

#[test]
fn a_mirror_image_gets_a_like_body() {
    for name in ["arm", "hand", "human"] {
        let skin = Skin::sample(name);
        let mirrored = skin.clone().moved(|p| DVec3::new(-p.x, p.y, p.z)).inside_out();
        let [a, b] = [skin, mirrored].map(|s| s.body(Fineness::Tets(4000)));
        let ratio = |a: f64, b: f64| (a / b - 1.0).abs();
        assert!(ratio(a.tets().volume(), b.tets().volume()) < 0.03, "{name}");
        assert!(ratio(a.tets().tets().len() as f64, b.tets().tets().len() as f64) < 0.03, "{name}");
    }
}
