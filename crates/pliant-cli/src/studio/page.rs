//! The page, where this build has it.

use super::Asset;

/// Every file of the page, as `build.rs` found them.
#[cfg(feature = "studio")]
pub(crate) const PAGE: Option<&[Asset]> = Some(include!(concat!(env!("OUT_DIR"), "/page.rs")));

/// This build has none.
#[cfg(not(feature = "studio"))]
pub(crate) const PAGE: Option<&[Asset]> = None;
