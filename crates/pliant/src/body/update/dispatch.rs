//! One function per task and instruction set: everything is inlined into it, and only here are features enabled.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "machines without wide registers use none of it"
    )
)]

use super::kernel::{Job, NodeKernel, VertexKernel};
use super::pack::Entry;
use crate::simd::Path;
use glam::Vec3;

/// The kernels of a path.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    pub nodes: NodeKernel,
    pub vertices: VertexKernel,
}

/// The kernels of a path; none for the plain code, and for paths of other machines.
pub(super) fn kernels(path: Path) -> Option<Kernels> {
    match path {
        #[cfg(target_arch = "x86_64")]
        Path::Sse => Some(Kernels { nodes: sse_nodes, vertices: sse_vertices }),
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 => Some(Kernels { nodes: avx2_nodes, vertices: avx2_vertices }),
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 => Some(Kernels { nodes: avx512_nodes, vertices: avx512_vertices }),
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Path::Simd128 => Some(Kernels { nodes: wasm_nodes, vertices: wasm_vertices }),
        _ => None,
    }
}

/// Both kernels for a register.
macro_rules! kernels_of {
    ($(#[$attribute:meta])* $lanes:ty: $nodes:ident, $vertices:ident) => {
        $(#[$attribute])*
        pub(super) unsafe fn $nodes(job: &Job<'_>, chunk: usize, entries: &mut [Entry]) {
            // SAFETY: the caller's promise, passed on.
            unsafe { $crate::body::update::kernel::nodes::<$lanes>(job, chunk, entries) }
        }

        $(#[$attribute])*
        pub(super) unsafe fn $vertices(
            job: &Job<'_>,
            entries: &[Entry],
            chunk: usize,
            positions: &mut [Vec3],
            normals: &mut [Vec3],
        ) {
            // SAFETY: the caller's promise, passed on.
            unsafe { $crate::body::update::kernel::vertices::<$lanes>(job, entries, chunk, positions, normals) }
        }
    };
}

#[cfg(test)]
pub(super) use kernels_of;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use crate::simd::{Avx, Avx512, Sse};

    kernels_of!(Sse: sse_nodes, sse_vertices);
    kernels_of!(#[target_feature(enable = "avx2")] Avx: avx2_nodes, avx2_vertices);
    kernels_of!(#[target_feature(enable = "avx512f")] Avx512: avx512_nodes, avx512_vertices);
}
#[cfg(target_arch = "x86_64")]
use x86::*;

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
kernels_of!(crate::simd::Wasm: wasm_nodes, wasm_vertices);
