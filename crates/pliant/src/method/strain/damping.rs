//! Damping that leaves the motion of the whole alone.

use crate::body::Node;
use crate::method::flesh::{CHUNK, NodeTissue, at};
use crate::parallel;
use glam::{DMat3, DVec3, Vec3};

/// Draws velocities towards those of a rigid body with the same momentum and angular momentum,
/// `v += (1 - e^(-c h)) (v_cm + w x r - v)`. (M. Mueller et al., Position Based Dynamics, 2007, section 3.5.)
pub(super) fn keep_momentum(nodes: &[Node], velocities: &mut [Vec3], tissue: &[NodeTissue], seconds: f32) {
    let moving = || nodes.iter().zip(velocities.iter()).filter(|(n, _)| n[3] > 0.0);
    let of =
        |node: &Node, velocity: &Vec3| (1.0 / f64::from(node[3]), at(node).as_dvec3(), velocity.as_dvec3());
    let (mut mass, mut middle, mut momentum) = (0.0, DVec3::ZERO, DVec3::ZERO);
    for (m, x, v) in moving().map(|(n, v)| of(n, v)) {
        mass += m;
        middle += m * x;
        momentum += m * v;
    }
    if mass == 0.0 {
        return;
    }
    let (middle, mean) = (middle / mass, momentum / mass);
    let (mut angular, mut inertia) = (DVec3::ZERO, DMat3::ZERO);
    for (m, x, v) in moving().map(|(n, v)| of(n, v)) {
        let r = x - middle;
        angular += r.cross(m * v);
        inertia += m * (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer(r));
    }
    // Nodes in a line have no inertia about it, and no turn to keep.
    let turn = if inertia.determinant() > 0.0 { inertia.inverse() * angular } else { DVec3::ZERO };
    let turn = if turn.is_finite() { turn } else { DVec3::ZERO };
    parallel::for_each_chunk_mut(velocities, CHUNK, |chunk, velocities| {
        for (k, velocity) in velocities.iter_mut().enumerate() {
            let index = chunk * CHUNK + k;
            let rigid = (mean + turn.cross(at(&nodes[index]).as_dvec3() - middle)).as_vec3();
            let lost = 1.0 - libm::expf(-tissue[index].damping * seconds);
            *velocity += (rigid - *velocity) * lost;
        }
    });
}

fn outer(r: DVec3) -> DMat3 {
    DMat3::from_cols(r * r.x, r * r.y, r * r.z)
}
