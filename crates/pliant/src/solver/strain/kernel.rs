//! The kernels, written once for every register width.

use super::super::pack::{Offsets, Row};
use super::pack::{Columns, Seven};

/// What a sweep projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// All seven constraints.
    All,
    /// The same, corners in finished layers heavier.
    Consolidating,
    /// Volume alone.
    Volume,
}

/// The tets of a slab.
pub(super) struct Task<'a> {
    pub plain: &'a [[u32; 4]],
    pub offsets: &'a [Offsets],
    pub columns: &'a [Columns],
    pub finished: &'a [Row],
    pub stiffness: &'a [Seven],
    pub block_of: &'a [u32],
    /// Empty: stiffness. Else compliance.
    pub multipliers: &'a mut [Seven],
    /// What inverse masses of corners in finished layers are multiplied with while consolidating.
    pub lighter: f32,
}
