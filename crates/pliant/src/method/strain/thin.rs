//! Flesh thinner than the body's cells: toes, fingers, ears.
//!
//! Its tets are mostly empty, and one toe may have a tet for each of its sides. Flesh in them weighs next to nothing against
//! what they span: left to its inertia it would lag behind a foot that runs by more than a toe is thick, and each side of it by
//! another way. So it goes with its bones, and what is left to it is to keep its shape.

use crate::body::{Body, topology};
use crate::method::flesh::smooth;

/// How full the tets around a node are where it follows none of its inertia, and from where on it follows all. Tets are
/// full but where the flesh is so thin that they had to be thickened.
const EMPTY: f64 = 0.3;
const FULL: f64 = 0.7;

/// How much of its inertia each node follows, 0 to 1.
pub(super) fn swing(body: &Body) -> Vec<f32> {
    let whole = topology::node_volumes(body.tets(), &vec![1.0; body.fill().len()]);
    let filled = topology::node_volumes(body.tets(), body.fill());
    let share = |(filled, whole): (&f32, &f32)| f64::from(*filled) / f64::from(*whole);
    filled.iter().zip(&whole).map(share).map(|full| smooth((full - EMPTY) / (FULL - EMPTY)) as f32).collect()
}
