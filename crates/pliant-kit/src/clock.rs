//! The time of day, for timing alone: nothing that is computed depends on it.

/// Milliseconds since some moment.
#[cfg(not(target_arch = "wasm32"))]
pub fn milliseconds() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e3
}

/// Milliseconds since some moment.
#[cfg(target_arch = "wasm32")]
pub fn milliseconds() -> f64 {
    #[link(wasm_import_module = "pliant")]
    unsafe extern "C" {
        safe fn milliseconds() -> f64;
    }
    milliseconds()
}
