//! One file per command.

pub(crate) mod bake;
pub(crate) mod bench;
pub(crate) mod compare;
pub(crate) mod inspect;
pub(crate) mod picture;
pub(crate) mod sample;
pub(crate) mod studio;
pub(crate) mod tets;
