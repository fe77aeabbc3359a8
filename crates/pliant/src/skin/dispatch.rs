//! One function per method and instruction set: everything is inlined into it, and only here are features enabled.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "machines without wide registers use none of it, and only AVX-512 tables"
    )
)]

use super::kernel::{Dual, Job, Kernel, Linear, ScaledDual, rows};
use crate::simd::Path;
use glam::Vec3;

/// The kernels of a path.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    pub linear: Kernel,
    pub dual: Kernel,
    pub scaled_dual: Kernel,
}

/// The kernels of a path; none for the plain code, and for paths of other machines.
pub(super) fn kernels(path: Path) -> Option<Kernels> {
    match path {
        #[cfg(target_arch = "x86_64")]
        Path::Sse => Some(Kernels { linear: sse_linear, dual: sse_dual, scaled_dual: sse_scaled_dual }),
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 => Some(Kernels { linear: avx2_linear, dual: avx2_dual, scaled_dual: avx2_scaled_dual }),
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 => {
            Some(Kernels { linear: avx512_linear, dual: avx512_dual, scaled_dual: avx512_scaled_dual })
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Path::Simd128 => {
            Some(Kernels { linear: wasm_linear, dual: wasm_dual, scaled_dual: wasm_scaled_dual })
        }
        _ => None,
    }
}

macro_rules! kernels {
    ($($(#[$attribute:meta])* $name:ident = $run:expr;)*) => {
        $($(#[$attribute])*
        unsafe fn $name(job: &Job<'_>, chunk: usize, positions: &mut [Vec3], normals: &mut [Vec3]) {
            // SAFETY: the caller's promise, passed on.
            unsafe { $run(job, chunk, positions, normals) }
        })*
    };
}

#[cfg(target_arch = "x86_64")]
use {
    super::kernel::tabled,
    crate::simd::{Avx, Avx512, Sse},
};

#[cfg(target_arch = "x86_64")]
kernels! {
    sse_linear = rows::<Sse, Linear>;
    sse_dual = rows::<Sse, Dual>;
    sse_scaled_dual = rows::<Sse, ScaledDual>;
    #[target_feature(enable = "avx2")]
    avx2_linear = rows::<Avx, Linear>;
    #[target_feature(enable = "avx2")]
    avx2_dual = rows::<Avx, Dual>;
    #[target_feature(enable = "avx2")]
    avx2_scaled_dual = rows::<Avx, ScaledDual>;
    #[target_feature(enable = "avx512f")]
    avx512_linear = tabled::<Avx512, Linear>;
    #[target_feature(enable = "avx512f")]
    avx512_dual = tabled::<Avx512, Dual>;
    #[target_feature(enable = "avx512f")]
    avx512_scaled_dual = tabled::<Avx512, ScaledDual>;
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use crate::simd::Wasm;

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
kernels! {
    wasm_linear = rows::<Wasm, Linear>;
    wasm_dual = rows::<Wasm, Dual>;
    wasm_scaled_dual = rows::<Wasm, ScaledDual>;
}
