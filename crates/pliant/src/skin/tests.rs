//! Every register width against the plain code, through emulated registers: also those that this machine has not got.

use super::kernel::{Dual, Job, Kernel, Linear, rows, tabled};
use super::pack::{CHUNK, Kind};
use super::*;
use crate::simd::Emulated;
use glam::{Mat3, Quat};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
    /// In -1..1.
    fn number(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number())
    }
    fn matrix(&mut self) -> SkinMatrix {
        let (axis, w) = (self.vector(), self.number());
        let rotation = Quat::from_xyzw(axis.x, axis.y, axis.z, w).normalize();
        let scale = match self.below(8) {
            0 => Vec3::ZERO,
            1 => Vec3::new(-1.0, 1.0, 1.0),
            2 => self.vector() * 3.0,
            3 => Vec3::new(1.0, 0.0, 2.0),
            _ => Vec3::ONE,
        };
        let m = Mat3::from_quat(rotation) * Mat3::from_diagonal(scale);
        let t = self.vector() * 2.0;
        [0, 1, 2].map(|i| [m.x_axis[i], m.y_axis[i], m.z_axis[i], t[i]])
    }
}

struct Rig {
    surface: Surface,
    weights: Weights,
    matrices: Vec<SkinMatrix>,
}

/// `reach`: how many slots a neighbourhood of vertices draws from.
fn rig(random: &mut Random, vertices: usize, slots: usize, influences: usize, reach: usize) -> Rig {
    let per_vertex: Vec<Vec<(u16, f32)>> = (0..vertices)
        .map(|v| {
            let count = 1 + random.below(influences);
            let from = v / 700 * 13;
            (0..count)
                .map(|_| (((from + random.below(reach)) % slots) as u16, random.number().abs() + 1e-3))
                .collect()
        })
        .collect();
    let weights = Weights::normalised(per_vertex.iter().map(|w| w.iter().copied()), slots, |_| None);
    // Some exact zeros, whose signs are the first thing to differ.
    let positions =
        (0..vertices).map(|v| if v % 7 == 0 { Vec3::ZERO } else { random.vector() * 5.0 }).collect();
    let normals = (0..vertices).map(|v| if v % 5 == 0 { Vec3::NEG_X } else { random.vector() }).collect();
    Rig {
        surface: Surface::new(positions, Some(normals), Vec::new()).expect("finite"),
        weights: weights.expect("in range").0,
        matrices: (0..slots).map(|_| random.matrix()).collect(),
    }
}

fn bits(skinner: &Skinner<'_>, matrices: &[SkinMatrix]) -> [Vec<[u32; 3]>; 2] {
    let mut state = skinner.state();
    let mut positions = vec![Vec3::NAN; skinner.vertex_count()];
    let (mut alone, mut normals) = (positions.clone(), positions.clone());
    skinner.positions_and_normals(matrices, &mut state, &mut positions, &mut normals);
    skinner.positions(matrices, &mut state, &mut alone);
    assert!(positions.iter().chain(&normals).all(|v| v.is_finite()));
    assert!(normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-5));
    let bits = |v: &[Vec3]| v.iter().map(|v| v.to_array().map(f32::to_bits)).collect::<Vec<_>>();
    assert_eq!(bits(&positions), bits(&alone), "normals or not, positions are the same");
    [bits(&positions), bits(&normals)]
}

macro_rules! emulated {
    ($($name:ident = $run:expr;)*) => {
        $(unsafe fn $name(job: &Job<'_>, chunk: usize, positions: &mut [Vec3], normals: &mut [Vec3]) {
            // SAFETY: emulated registers need no instructions; the rest is passed on.
            unsafe { $run(job, chunk, positions, normals) }
        })*
    };
}

emulated! {
    linear4 = rows::<Emulated<4>, Linear>;
    linear8 = rows::<Emulated<8>, Linear>;
    linear16 = rows::<Emulated<16>, Linear>;
    tabled16 = tabled::<Emulated<16>>;
    dual4 = rows::<Emulated<4>, Dual>;
    dual8 = rows::<Emulated<8>, Dual>;
    dual16 = rows::<Emulated<16>, Dual>;
}

fn check(rig: &Rig) {
    let Rig { surface, weights, matrices } = rig;
    let linear: [(Kernel, Path); 4] =
        [(linear4, Path::Sse), (linear8, Path::Avx2), (linear16, Path::Avx2), (tabled16, Path::Avx512)];
    let dual: [(Kernel, Path); 3] = [(dual4, Path::Sse), (dual8, Path::Avx2), (dual16, Path::Avx512)];
    for (blend, kernels) in [(Blend::Linear, &linear[..]), (Blend::DualQuaternion, &dual[..])] {
        let plain = Skinner::new(blend, surface, weights, Path::Scalar).expect("always there");
        let expected = bits(&plain, matrices);
        for &(kernel, path) in kernels {
            let skinner =
                Skinner::with_kernel(blend, surface, weights, path, Some(kernel)).expect("one size");
            assert!(bits(&skinner, matrices) == expected, "{blend:?} {path}");
        }
    }
}

#[test]
fn all_widths_have_the_bits_of_the_plain_code() {
    let random = &mut Random(1);
    for (vertices, slots, influences) in
        [(1, 1, 1), (15, 2, 2), (16, 4, 4), (17, 32, 12), (1000, 30, 4), (1025, 33, 3), (3000, 301, 12)]
    {
        check(&rig(random, vertices, slots, influences, slots));
    }
}

#[test]
fn large_rigs_have_small_tables_where_the_skin_is_local() {
    let rig = rig(&mut Random(2), 4 * CHUNK + 5, 400, 6, 18);
    let pack = Pack::new(&Influences::new(&rig.weights), layout(Blend::Linear, Path::Avx512));
    let tables = pack.kinds.iter().filter(|k| matches!(k, Kind::Table(list) if list.len() <= TABLE)).count();
    assert!(tables >= 3, "{:?}", pack.kinds);
    check(&rig);
}

#[test]
fn chunks_with_too_many_pairs_fall_back_to_the_plain_code() {
    let rig = rig(&mut Random(3), 12 * CHUNK, 2000, 12, 2000);
    let pack = Pack::new(&Influences::new(&rig.weights), layout(Blend::DualQuaternion, Path::Avx2));
    assert!(pack.kinds.contains(&Kind::Plain));
    assert!(pack.entries.len() <= 1 << 16);
    check(&rig);
}

#[test]
fn a_path_of_another_machine_is_refused_by_name() {
    let rig = rig(&mut Random(4), 3, 2, 2, 2);
    let missing = if cfg!(target_arch = "wasm32") { Path::Avx2 } else { Path::Simd128 };
    let error = Skinner::new(Blend::Linear, &rig.surface, &rig.weights, missing).err().expect("not here");
    assert!(error.to_string().contains(missing.name()) && error.to_string().contains("scalar"));
}
