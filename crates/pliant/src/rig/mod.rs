//! From clips to poses, and from poses to the matrices that skinning needs.

mod motion;
mod pose;
pub mod retarget;
pub mod weights;

pub use motion::{Motion, Playback};
pub use pose::{Pose, SkinMatrix};
pub(crate) use pose::{has_inverse, skin_matrix};
