//! What the command and the page share: any file to a character with weights and settings, a motion for it, and the
//! motion played through a method.
//!
//! A shell is a [`host::Host`]: it finds bytes and hears how far the work is.

pub mod clock;
pub mod drawing;
pub mod drive;
pub mod field;
pub mod flesh;
pub mod hash;
pub mod host;
pub mod input;
pub mod mocap;
pub mod motion;
pub mod player;
mod prepare;
pub mod wishes;

pub use prepare::prepare;
