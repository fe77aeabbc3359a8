//! From clips to poses, and from poses to the matrices that skinning needs.

mod pose;
pub mod weights;

pub use pose::{Pose, SkinMatrix};
