//! Pliant gives skeleton-driven characters soft, volume-keeping skin.
//!
//! Data goes one way: a checked [`asset::Character`] is prepared once by a [`method`] into a deformer, which is fed
//! poses sampled by [`rig`] and writes the skin's vertices; [`measure`] judges them. The engine computes: it never
//! touches files, clocks, terminals or threads of its own making.
//!
//! Modules depend only upwards in this list: `asset`, `rig`, `body`, `skin`, `solver`, `method`, `measure`, `zoo`
//! (`parallel` and `simd` serve them all).

pub mod asset;
pub mod body;
pub mod measure;
pub mod method;
pub mod parallel;
pub mod rig;
pub mod simd;
pub mod skin;
pub mod solver;
pub mod zoo;

/// The `glam` this crate's types are made of.
pub use glam;
