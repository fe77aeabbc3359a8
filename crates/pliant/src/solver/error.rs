use crate::simd::Path;
use thiserror::Error;

/// Why there is no solver.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SolverError {
    /// The path needs instructions that this machine has not got.
    #[error("this machine cannot run the SIMD path '{path}'")]
    Unavailable {
        /// The path asked for.
        path: Path,
    },
}
