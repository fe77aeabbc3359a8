//! One function per pass and instruction set: everything is inlined into it, and only here are features enabled.
#![cfg_attr(
    not(any(test, target_arch = "x86_64")),
    allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "machines without wide registers use none of it"
    )
)]

use super::kernel::{Areas, Carry, Give, Settle, Step, Take, Weigh};
use super::plain;
use crate::simd::Path;

/// The passes of a path.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    pub areas: Areas,
    pub carry: Carry,
    pub step: Step,
    pub weigh: Weigh,
    pub give: Give,
    pub take: Take,
    pub settle: Settle,
}

/// The passes of a path; the plain code for paths of other machines.
pub(super) fn kernels(path: Path) -> Kernels {
    match path {
        #[cfg(target_arch = "x86_64")]
        Path::Sse => sse::KERNELS,
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 => avx2::KERNELS,
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 => avx512::KERNELS,
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Path::Simd128 => wasm::KERNELS,
        _ => Kernels {
            areas: plain::areas,
            carry: plain::carry,
            step: plain::step,
            weigh: plain::weigh,
            give: plain::give,
            take: plain::take,
            settle: plain::settle,
        },
    }
}

/// A module with all passes for a register.
macro_rules! kernels_of {
    ($name:ident: $lanes:ty $(, #[$attribute:meta])?) => {
        mod $name {
            use $crate::skin::volume::dispatch::Kernels;
            use $crate::skin::volume::gives::{GiveRow, Giving};
            use $crate::skin::volume::kernel::{
                self, AreaJob, Block, Row, SettleJob, StepJob, Sums, TakeJob, WeighJob,
            };
            use $crate::skin::volume::pack::Run;

            pub(super) const KERNELS: Kernels = Kernels { areas, carry, step, weigh, give, take, settle };

            $(#[$attribute])?
            unsafe fn areas(job: &AreaJob<'_>, run: &Run, areas: &mut [Block]) -> Sums {
                // SAFETY: the caller's promise, passed on.
                unsafe { kernel::areas::<$lanes>(job, run, areas) }
            }
            $(#[$attribute])?
            unsafe fn step(job: &StepJob<'_>, run: &Run, points: &mut [Row], moves: &mut [Block]) -> Sums {
                // SAFETY: the caller's promise, passed on.
                unsafe { kernel::step::<$lanes>(job, run, points, moves) }
            }
            $(#[$attribute])?
            unsafe fn weigh(job: &WeighJob<'_>, batch: usize, weights: &mut [f32]) {
                // SAFETY: the caller's promise, passed on.
                unsafe { kernel::weigh::<$lanes>(job, batch, weights) }
            }
            $(#[$attribute])?
            unsafe fn take(job: &TakeJob<'_>, weights: &mut [f32], keeps: &mut [f32]) -> Sums {
                // SAFETY: the caller's promise, passed on.
                unsafe { kernel::take::<$lanes>(job, weights, keeps) }
            }
            $(#[$attribute])?
            unsafe fn settle(
                job: &SettleJob<'_>,
                points: &[Row],
                settled: &mut [Row],
                normals: &mut [Row],
            ) {
                // SAFETY: the caller's promise, passed on.
                unsafe { kernel::settle::<$lanes>(job, points, settled, normals) }
            }
            $(#[$attribute])?
            unsafe fn carry(turns: &[[f32; 3]; 3], rest: &[Block], areas: &mut [Block]) {
                // SAFETY: the caller's promise, passed on.
                unsafe { kernel::carry::<$lanes>(turns, rest, areas) }
            }
            $(#[$attribute])?
            unsafe fn give(giving: &Giving, row: &GiveRow, weights: &mut [f32]) {
                // SAFETY: the caller's promise, passed on.
                unsafe { kernel::give::<$lanes>(giving, row, weights) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
kernels_of!(sse: crate::simd::Sse);
#[cfg(target_arch = "x86_64")]
kernels_of!(avx2: crate::simd::Avx, #[target_feature(enable = "avx2")]);
#[cfg(target_arch = "x86_64")]
kernels_of!(avx512: crate::simd::Avx512, #[target_feature(enable = "avx512f")]);
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
kernels_of!(wasm: crate::simd::Wasm);
