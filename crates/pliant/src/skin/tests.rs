//! Every register width against the plain code, through emulated registers: also those that this machine has not got.

use super::kernel::{Dual, Job, Linear, ScaledDual, rows, tabled};
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
    /// `calm`: turned by less than a half, so that signs mostly suit; `rigid`: without a scale.
    fn matrix(&mut self, calm: bool, rigid: bool) -> SkinMatrix {
        let (axis, w) = (self.vector(), if calm { 2.0 } else { self.number() });
        let rotation = Quat::from_xyzw(axis.x, axis.y, axis.z, w).normalize();
        let scale = match self.below(8) {
            _ if rigid => Vec3::ONE,
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
        matrices: (0..slots).map(|_| random.matrix(true, false)).collect(),
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
    dual4 = rows::<Emulated<4>, Dual>;
    scaled4 = rows::<Emulated<4>, ScaledDual>;
    linear8 = rows::<Emulated<8>, Linear>;
    dual8 = rows::<Emulated<8>, Dual>;
    scaled8 = rows::<Emulated<8>, ScaledDual>;
    linear16 = rows::<Emulated<16>, Linear>;
    dual16 = rows::<Emulated<16>, Dual>;
    scaled16 = rows::<Emulated<16>, ScaledDual>;
    linear_tabled = tabled::<Emulated<16>, Linear>;
    dual_tabled = tabled::<Emulated<16>, Dual>;
    scaled_tabled = tabled::<Emulated<16>, ScaledDual>;
}

fn check(rig: &Rig) {
    let Rig { surface, weights, matrices } = rig;
    let widths = [
        (Path::Sse, Kernels { linear: linear4, dual: dual4, scaled_dual: scaled4 }),
        (Path::Avx2, Kernels { linear: linear8, dual: dual8, scaled_dual: scaled8 }),
        (Path::Avx2, Kernels { linear: linear16, dual: dual16, scaled_dual: scaled16 }),
        (Path::Avx512, Kernels { linear: linear_tabled, dual: dual_tabled, scaled_dual: scaled_tabled }),
    ];
    for blend in [Blend::Linear, Blend::DualQuaternion] {
        let plain = Skinner::new(blend, surface, weights, Path::Scalar).expect("always there");
        let expected = bits(&plain, matrices);
        for (path, kernels) in widths {
            let skinner = Skinner::with_kernels(blend, Cow::Borrowed(surface), weights, path, Some(kernels));
            assert!(bits(&skinner.expect("one size"), matrices) == expected, "{blend:?} {path}");
        }
    }
}

#[test]
fn all_widths_have_the_bits_of_the_plain_code() {
    let random = &mut Random(1);
    for (vertices, slots, influences) in
        [(1, 1, 1), (15, 2, 2), (16, 4, 4), (17, 32, 12), (1000, 30, 4), (1025, 33, 3), (3000, 301, 12)]
    {
        let mut rig = rig(random, vertices, slots, influences, slots);
        for (calm, rigid) in [(false, false), (true, false), (false, true), (true, true)] {
            rig.matrices.fill_with(|| random.matrix(calm, rigid));
            check(&rig);
        }
    }
}

#[test]
fn large_rigs_have_small_tables_where_the_skin_is_local() {
    let rig = rig(&mut Random(2), 4 * CHUNK + 5, 400, 6, 18);
    let pack = Pack::new(&Influences::new(&rig.weights), 400, layout(Path::Avx512));
    let tables = pack.kinds.iter().filter(|k| matches!(k, Kind::Table(list) if list.len() <= TABLE)).count();
    assert!(tables >= 3, "{:?}", pack.kinds);
    check(&rig);
}

/// Three joints a third of a turn apart cannot all be aligned: whatever the walk chooses, some vertices must be done
/// again. Two joints always can.
#[test]
fn signs_suit_all_vertices_or_name_those_they_do_not() {
    let turns = [0.0f32, 120.0, 240.0].map(|degrees| {
        let m = Mat3::from_quat(Quat::from_rotation_z(degrees.to_radians()));
        Rigid::new(&[0, 1, 2].map(|i| [m.x_axis[i], m.y_axis[i], m.z_axis[i], 0.0]))
    });
    let met = |pairs: &[[u16; 2]]| {
        let weights: Vec<_> = pairs.iter().map(|p| vec![(p[0], 0.6), (p[1], 0.4)]).collect();
        let influences = Influences::new(&Weights::new(&weights, 3).expect("sound"));
        let signs = Signs::new(&influences, 3);
        let mut rigids = turns;
        signs.align(&mut rigids);
        let mut unsuited = Vec::new();
        signs.find_unsuited(&rigids, &mut unsuited);
        let unsuited: Vec<usize> = signs.vertices(&unsuited, 0..9).collect();
        for (vertex, pair) in pairs.iter().enumerate() {
            let [a, b] = pair.map(|slot| &rigids[usize::from(slot)]);
            assert_eq!(plain::opposed(a, b), unsuited.contains(&vertex), "{pairs:?} {vertex}");
        }
        unsuited.len()
    };
    assert_eq!(met(&[[0, 1], [1, 2]]), 0);
    assert_eq!(met(&[[2, 0], [0, 2], [0, 1], [1, 0]]), 0);
    assert_eq!(met(&[[0, 1], [1, 2], [0, 1], [2, 1], [0, 2]]), 1);
}

#[test]
fn a_path_of_another_machine_is_refused_by_name() {
    let rig = rig(&mut Random(4), 3, 2, 2, 2);
    let missing = if cfg!(target_arch = "wasm32") { Path::Avx2 } else { Path::Simd128 };
    let error = Skinner::new(Blend::Linear, &rig.surface, &rig.weights, missing).err().expect("not here");
    assert!(error.to_string().contains(missing.name()) && error.to_string().contains("scalar"));
}
