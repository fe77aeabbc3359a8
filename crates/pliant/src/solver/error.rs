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
    /// There are not as many of something as the mesh has nodes or tets.
    #[error("{found} {what} for a mesh with {expected}")]
    Count {
        /// What is counted.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many the mesh has.
        expected: usize,
    },
    /// A frame that is no rotation.
    #[error("the frame of tet {tet} is no rotation")]
    Frame {
        /// Which tet.
        tet: usize,
    },
}
