//! Every register width against the plain code, through emulated registers: also those that this machine has not got.

use super::*;
use crate::body::{bench_bend, bench_body, topology};
use crate::simd::Emulated;
use pack::Entry;

mod four {
    use super::*;
    dispatch::kernels_of!(Emulated<4>: nodes, vertices);
}
mod eight {
    use super::*;
    dispatch::kernels_of!(Emulated<8>: nodes, vertices);
}
mod sixteen {
    use super::*;
    dispatch::kernels_of!(Emulated<16>: nodes, vertices);
}

#[test]
fn all_widths_have_the_bits_of_the_plain_code() {
    let widths = [
        Kernels { nodes: four::nodes, vertices: four::vertices },
        Kernels { nodes: eight::nodes, vertices: eight::vertices },
        Kernels { nodes: sixteen::nodes, vertices: sixteen::vertices },
    ];
    for (tets, vertices) in [(30, 1), (300, 15), (300, 16), (3000, 1025), (6000, 2100)] {
        let (mesh, surface) = bench_body(tets, vertices).expect("sound");
        let embedding = Embedding::new(&mesh, &topology::surface(&mesh), surface.positions());
        let nodes = bench_bend(&mesh, 2.0);
        let run = |kernels: Option<Kernels>| {
            let skin =
                EmbeddedSkin::with_kernels(&mesh, &embedding, surface.normals(), Path::Scalar, kernels);
            let mut out = [vec![Vec3::NAN; vertices], vec![Vec3::NAN; vertices], vec![Vec3::NAN; vertices]];
            let [alone, positions, normals] = &mut out;
            skin.positions(&nodes, alone);
            skin.positions_and_normals(&nodes, &mut skin.scratch(), positions, normals);
            out.map(|v| v.iter().map(|v| v.to_array().map(f32::to_bits)).collect::<Vec<_>>())
        };
        let expected = run(None);
        assert_eq!(expected[0], expected[1]);
        for kernels in widths {
            assert!(run(Some(kernels)) == expected, "{tets} tets, {vertices} vertices");
        }
    }
}

#[test]
fn a_path_of_another_machine_is_refused_by_name() {
    let (mesh, surface) = bench_body(30, 8).expect("sound");
    let embedding = Embedding::new(&mesh, &topology::surface(&mesh), surface.positions());
    let missing = if cfg!(target_arch = "wasm32") { Path::Avx2 } else { Path::Simd128 };
    let error = EmbeddedSkin::new(&mesh, &embedding, surface.normals(), missing).err().expect("not here");
    assert!(error.to_string().contains(missing.name()));
}
