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
use super::kernel::{self, Kind, Sweep, SweepTwo, Task, Weigh};
use crate::body::Node;
use crate::simd::Path;

/// The kernels of a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernels {
    pub sweep: Sweep,
    /// None: one slab after the other is as fast.
    pub sweep_two: Option<SweepTwo>,
    pub weigh: Weigh,
    pub errors: Errors,
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
        Path::Avx512 => Some(Kernels { sweep_two: Some(avx512_two), ..avx512::KERNELS }),
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
            use $crate::solver::judge::Sums;
            use $crate::solver::strain::dispatch::Kernels;
            use $crate::solver::strain::judge;
            use $crate::solver::strain::kernel::{self, Kind, Task};
            use $crate::solver::strain::pack::Gram;

            pub(super) const KERNELS: Kernels = Kernels { sweep, sweep_two: None, weigh, errors, flat };

            $(#[$attribute])?
            unsafe fn sweep(task: &mut Task<'_>, kind: Kind, nodes: &mut [Node]) {
                // SAFETY: the caller's promise, passed on.
                unsafe { kernel::sweep::<$lanes>(task, kind, nodes) }
            }
            $(#[$attribute])?
            unsafe fn weigh(task: &Task<'_>, kind: Kind, nodes: &[Node], grams: &mut [Gram]) {
                // SAFETY: the caller's promise, passed on.
                unsafe { kernel::weigh::<$lanes>(task, kind, nodes, grams) }
            }
            $(#[$attribute])?
            unsafe fn errors(task: &Task<'_>, nodes: &[Node]) -> Sums {
                // SAFETY: the caller's promise, passed on.
                unsafe { judge::errors::<$lanes>(task, nodes) }
            }
            $(#[$attribute])?
            unsafe fn flat(task: &Task<'_>, nodes: &[Node], share: f32) -> Sums {
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
kernels_of!(avx2: crate::simd::Twin<crate::simd::Avx>, #[target_feature(enable = "avx2")]);
#[cfg(target_arch = "x86_64")]
kernels_of!(avx512: crate::simd::Avx512, #[target_feature(enable = "avx512f")]);

/// Two slabs at once need registers for both.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn avx512_two(tasks: [&mut Task<'_>; 2], kind: Kind, nodes: [&mut [Node]; 2]) {
    // SAFETY: the caller's promise, passed on.
    unsafe { kernel::sweep_two::<crate::simd::Avx512>(tasks, kind, nodes) }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
kernels_of!(wasm: crate::simd::Wasm);
