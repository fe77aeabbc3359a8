//! From clips to poses, and from poses to the matrices that skinning needs.

mod motion;
mod pose;
pub mod weights;

pub use motion::{Motion, Playback};
pub(crate) use pose::has_inverse;
pub use pose::{Pose, SkinMatrix};
