//! Inert, checked data. A value of any type here is sound by construction: no index out of range, no number that is
//! not finite, no parent cycle, no weights that do not sum to one.

mod character;
mod clip;
mod curve;
mod error;
mod skeleton;
mod surface;
mod tets;
mod weights;
mod weld;

pub use character::{Character, Morph, Painted, Part, RawCharacter, Slot};
pub(crate) use clip::slerp;
pub use clip::{Channel, Clip, Interpolation, Target, Track};
pub use curve::{Curve, CurveError, CurvePoint};
pub use error::AssetError;
pub use skeleton::{Bone, Joint, Local, Skeleton};
pub use surface::Surface;
pub use tets::TetMesh;
pub use weights::{Repairs, Weights};
pub use weld::Weld;
