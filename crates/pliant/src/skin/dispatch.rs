//! One function per blend and instruction set: everything is inlined into it, and only here are features enabled.

use super::Blend;
use super::kernel::{Dual, Job, Kernel, Linear, rows, tabled};
use crate::simd::Path;
use glam::Vec3;

/// The kernel of a blend on a path; none for the plain code, and for paths of other machines.
pub(super) fn kernel(blend: Blend, path: Path) -> Option<Kernel> {
    use Blend::{DualQuaternion, Linear};
    match (blend, path) {
        #[cfg(target_arch = "x86_64")]
        (Linear, Path::Sse) => Some(sse_linear),
        #[cfg(target_arch = "x86_64")]
        (DualQuaternion, Path::Sse) => Some(sse_dual),
        #[cfg(target_arch = "x86_64")]
        (Linear, Path::Avx2) => Some(avx2_linear),
        #[cfg(target_arch = "x86_64")]
        (DualQuaternion, Path::Avx2) => Some(avx2_dual),
        #[cfg(target_arch = "x86_64")]
        (Linear, Path::Avx512) => Some(avx512_linear),
        #[cfg(target_arch = "x86_64")]
        (DualQuaternion, Path::Avx512) => Some(avx512_dual),
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        (Linear, Path::Simd128) => Some(wasm_linear),
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        (DualQuaternion, Path::Simd128) => Some(wasm_dual),
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
kernels! {
    sse_linear = rows::<crate::simd::Sse, Linear>;
    sse_dual = rows::<crate::simd::Sse, Dual>;
    #[target_feature(enable = "avx2")]
    avx2_linear = rows::<crate::simd::Avx, Linear>;
    #[target_feature(enable = "avx2")]
    avx2_dual = rows::<crate::simd::Avx, Dual>;
    #[target_feature(enable = "avx512f")]
    avx512_linear = tabled::<crate::simd::Avx512>;
    #[target_feature(enable = "avx512f")]
    avx512_dual = rows::<crate::simd::Avx512, Dual>;
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
kernels! {
    wasm_linear = rows::<crate::simd::Wasm, Linear>;
    wasm_dual = rows::<crate::simd::Wasm, Dual>;
}
