//! Recorded motion onto another skeleton.
//!
//! A joint of the character turns as the recording's does *in the scene*, from a pose in which both bodies stand alike
//! to the frame: with `R(t)` the scene rotation of the recording's joint, `R(0)` that in its reference pose, `W` the
//! turn from the recording's world to the character's and `E` the turn from the character's rest to the pose that has
//! its limbs where the reference has them,
//!
//! `M_j(t) = W R(t) R(0)^-1 W^-1 E B_j`
//!
//! for the linear part of each joint. So a joint that one skeleton lacks costs nothing: what it carries is where it was.
//! Rolls of an arm that cancel are left out (`roll.rs`). The hips go where the recording's went, scaled by the length of
//! the legs, and feet that were on the floor are.

mod align;
mod footing;
mod frame;
mod humanoid;
mod mapping;
mod names;
mod play;
mod recording;
mod roll;
mod shape;
mod soles;

pub use humanoid::{Digit, Humanoid, Role, Side};
pub use mapping::{Link, Mapping, Named};
pub use play::{RetargetError, Retargeted, retarget};
