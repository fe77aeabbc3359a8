//! Which instructions the kernels use, chosen at run time. Every path gives the same bits.

#[cfg(test)]
mod emulated;
mod lanes;
#[cfg(any(test, target_arch = "x86_64"))]
mod twin;
pub(crate) mod vectors;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(test)]
pub(crate) use emulated::Emulated;
pub(crate) use lanes::{Lanes, Tables, gather_rows, load_rows, scatter_rows, store_rows, transpose};
#[cfg(any(test, target_arch = "x86_64"))]
pub(crate) use twin::Twin;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use wasm::Wasm;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx, Avx512, Sse};

use std::fmt;
use std::str::FromStr;

/// Asks for a cache line ahead of its time. Any address will do: nothing is read that is not there.
#[inline(always)]
pub(crate) fn prefetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has the instruction, and it reads nothing that a program could see.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Has the function it is inlined into keep its stack on cache lines. Where nothing on the stack asks for that before
/// registers are handed out, what does not fit into them is kept across two lines, and takes twice the time to come and go.
#[inline(always)]
pub(crate) fn stack_on_cache_lines() {
    #[repr(align(64))]
    struct Line(#[allow(dead_code, reason = "only its place counts")] u8);
    // Not by a shared reference: a constant has its place elsewhere.
    std::hint::black_box(&mut Line(0));
}

/// A way to run the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Path {
    /// Plain Rust, one element at a time: the reference that tests and benches compare with.
    Scalar,
    /// x86-64 baseline, 128 bits.
    Sse,
    /// 256 bits.
    Avx2,
    /// 512 bits.
    Avx512,
    /// WASM, 128 bits.
    Simd128,
}

impl Path {
    /// All paths that this machine can run, slowest first.
    pub fn available() -> Vec<Self> {
        let mut paths = vec![Self::Scalar];
        #[cfg(target_arch = "x86_64")]
        {
            paths.push(Self::Sse);
            if is_x86_feature_detected!("avx2") {
                paths.push(Self::Avx2);
            }
            if is_x86_feature_detected!("avx512f") {
                paths.push(Self::Avx512);
            }
        }
        if cfg!(all(target_arch = "wasm32", target_feature = "simd128")) {
            paths.push(Self::Simd128);
        }
        paths
    }

    /// The fastest path that this machine can run.
    pub fn best() -> Self {
        Self::available().pop().unwrap_or(Self::Scalar)
    }

    /// Whether this machine can run it.
    pub fn is_available(self) -> bool {
        Self::available().contains(&self)
    }

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Sse => "sse",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Simd128 => "simd128",
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Path {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        [Self::Scalar, Self::Sse, Self::Avx2, Self::Avx512, Self::Simd128]
            .into_iter()
            .find(|p| p.name() == name)
            .ok_or_else(|| format!("unknown SIMD path '{name}': one of scalar, sse, avx2, avx512, simd128"))
    }
}
