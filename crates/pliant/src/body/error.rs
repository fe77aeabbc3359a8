use crate::asset::AssetError;
use crate::simd::Path;
use thiserror::Error;

/// Why a skin gets no body.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BodyError {
    /// No part of the skin encloses anything.
    #[error("the skin encloses no volume: {why}")]
    NoVolume {
        /// What the skin is instead.
        why: &'static str,
    },
    /// A setting out of its range.
    #[error("{what} of {value} is out of range: give {range}")]
    Setting {
        /// The setting.
        what: &'static str,
        /// What was asked.
        value: f64,
        /// What can be had.
        range: &'static str,
    },
    /// The progress function said stop.
    #[error("stopped")]
    Stopped,
    /// The path needs instructions that this machine has not got.
    #[error("this machine cannot run the SIMD path '{path}'")]
    Unavailable {
        /// The path asked for.
        path: Path,
    },
    /// The tets do not make a mesh.
    #[error(transparent)]
    Asset(#[from] AssetError),
}
