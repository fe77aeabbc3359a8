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

use super::judge::{Errors, Flat};
use super::kernel::{Bind, Sweep};
use crate::simd::Path;

/// The kernels of a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernels {
    pub stretch: Sweep<2>,
    pub volume: Sweep<4>,
    pub bind: Bind,
    pub stretch_errors: Errors<2>,
    pub volume_errors: Errors<4>,
    pub flat: Flat,
}

/// The kernels of a path; none for the plain code, and for paths of other machines.
pub(super) fn kernels(path: Path) -> Option<Kernels> {
    match path {
        #[cfg(target_arch = "x86_64")]
        Path::Sse => Some(sse::KERNELS),
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 => Some(avx2::KERNELS),
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 => Some(avx512::KERNELS),
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Path::Simd128 => Some(wasm::KERNELS),
        _ => None,
    }
}

/// A module with all kernels for a register.
macro_rules! kernels_of {
    ($name:ident: $lanes:ty $(, #[$attribute:meta])?) => {
        mod $name {
            use $crate::body::Node;
            use $crate::solver::dispatch::Kernels;
            use $crate::solver::judge::{self, Sums};
            use $crate::solver::kernel::{self, Binds, Task};

            pub(super) const KERNELS: Kernels =
                Kernels { stretch, volume, bind, stretch_errors, volume_errors, flat };

            $(#[$attribute])?
            unsafe fn stretch(task: &mut Task<'_, 2>, nodes: &mut [Node]) {
                // SAFETY: the caller's promise, passed on.
                unsafe { kernel::stretch::<$lanes>(task, nodes) }
            }
            $(#[$attribute])?
            unsafe fn volume(task: &mut Task<'_, 4>, nodes: &mut [Node]) {
                // SAFETY: the caller's promise, passed on.
                unsafe { kernel::volume::<$lanes>(task, nodes) }
            }
            $(#[$attribute])?
            unsafe fn bind(binds: &mut Binds<'_>, nodes: &mut [Node]) {
                // SAFETY: the caller's promise, passed on.
                unsafe { kernel::bind::<$lanes>(binds, nodes) }
            }
            $(#[$attribute])?
            unsafe fn stretch_errors(task: &Task<'_, 2>, nodes: &[Node]) -> Sums {
                // SAFETY: the caller's promise, passed on.
                unsafe { judge::stretch_errors::<$lanes>(task, nodes) }
            }
            $(#[$attribute])?
            unsafe fn volume_errors(task: &Task<'_, 4>, nodes: &[Node]) -> Sums {
                // SAFETY: the caller's promise, passed on.
                unsafe { judge::volume_errors::<$lanes>(task, nodes) }
            }
            $(#[$attribute])?
            unsafe fn flat(task: &Task<'_, 4>, nodes: &[Node], share: f32) -> Sums {
                // SAFETY: the caller's promise, passed on.
                unsafe { judge::flat::<$lanes>(task, nodes, share) }
            }
        }
    };
}

#[cfg(test)]
pub(super) use kernels_of;

#[cfg(target_arch = "x86_64")]
kernels_of!(sse: crate::simd::Sse);
#[cfg(target_arch = "x86_64")]
kernels_of!(avx2: crate::simd::Avx, #[target_feature(enable = "avx2")]);
#[cfg(target_arch = "x86_64")]
kernels_of!(avx512: crate::simd::Avx512, #[target_feature(enable = "avx512f")]);

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
kernels_of!(wasm: crate::simd::Wasm);
