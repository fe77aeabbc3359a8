//! Skin that a skinning has pushed through itself is parted again.
//!
//! Bones that share a joint: see `hinge.rs`. Bones that do not: see `limb.rs`. Both are continuous in the pose: whatever is
//! moved is moved by nothing at first, so that nothing pops.
//!
//! An [`Overlap`] is prepared once and shared; each moving copy has an [`OverlapState`].

mod hinge;
mod limb;

use super::mesh::Mesh;
use super::volume::Contact;
use crate::asset::Character;
use crate::body::topology::Lists;
use crate::rig::SkinMatrix;
use glam::{DAffine3, DMat3, DVec3, Vec3};
use hinge::Hinge;
use limb::Limbs;

/// The repair of overlaps prepared for a character: shared by all its copies.
pub struct Overlap {
    mesh: Mesh,
    vertices_of_point: Lists,
    hinges: Vec<Hinge>,
    limbs: Limbs,
}

/// What one moving copy needs from step to step. Reused, so that steps allocate nothing.
pub struct OverlapState {
    posed: Vec<DAffine3>,
    /// Per hinge: how far it is bent and folded, and where its plane lies.
    folds: Vec<hinge::Fold>,
    /// Where points were, per point, and how far each has been moved by what is being repaired.
    before: Vec<Vec3>,
    moved: Vec<Vec3>,
    smoothed: Vec<Vec3>,
    /// Points that are being looked at, and those that have been moved by anything.
    near: Vec<u32>,
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    /// Per point: how much it gives way, and is held.
    contact_of_point: Vec<[f32; 2]>,
    met: Vec<u32>,
    contacts: Vec<Contact>,
    limbs: limb::LimbState,
}

impl OverlapState {
    /// Vertices in contact.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    fn touch(&mut self, point: u32, place: Vec3) {
        if !std::mem::replace(&mut self.is_touched[point as usize], true) {
            self.before[point as usize] = place;
            self.touched.push(point);
        }
    }

    fn meet(&mut self, point: u32, give: f32, hold: f32) {
        let contact = &mut self.contact_of_point[point as usize];
        if *contact == [0.0; 2] && (give > 0.0 || hold > 0.0) {
            self.met.push(point);
        }
        *contact = [contact[0].max(give), contact[1].max(hold)];
    }
}

impl Overlap {
    /// Prepares the repair.
    pub fn new(character: &Character) -> Self {
        let mesh = Mesh::new(character);
        let members: Vec<[u32; 1]> = mesh.point_of_vertex.iter().map(|&p| [p]).collect();
        let vertices_of_point = Lists::group(mesh.len(), &members);
        let hinges = hinge::hinges(character, &mesh);
        let limbs = Limbs::new(character, &mesh);
        Self { mesh, vertices_of_point, hinges, limbs }
    }

    /// Vertices that may be in contact, or beside it.
    pub fn reach(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.hinges.iter().flat_map(Hinge::vertices).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// A state for one copy.
    pub fn state(&self) -> OverlapState {
        let points = self.mesh.len();
        OverlapState {
            posed: Vec::new(),
            folds: vec![hinge::Fold::default(); self.hinges.len()],
            before: vec![Vec3::ZERO; points],
            moved: vec![Vec3::ZERO; points],
            smoothed: vec![Vec3::ZERO; points],
            near: Vec::with_capacity(points),
            touched: Vec::with_capacity(points),
            is_touched: vec![false; points],
            contact_of_point: vec![[0.0; 2]; points],
            met: Vec::with_capacity(points),
            contacts: Vec::with_capacity(points),
            limbs: self.limbs.state(points),
        }
    }

    /// Parts skin in its skinned place, and turns normals along. How many vertices were moved.
    ///
    /// # Panics
    /// If matrices, positions or normals are not of the character's size, or the state is of another repair.
    pub fn part(
        &self,
        matrices: &[SkinMatrix],
        state: &mut OverlapState,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) -> usize {
        state.posed.clear();
        state.posed.extend(matrices.iter().map(affine));
        state.touched.clear();
        state.met.clear();
        state.contacts.clear();
        self.find_folds(state, positions);
        for hinge in 0..self.hinges.len() {
            if state.folds[hinge].bent > 0.0 {
                self.unfold(hinge, state, positions);
            }
        }
        self.part_limbs(state, positions);
        let moved = self.show(state, positions, normals);
        for &point in &state.met {
            let [give, hold] = std::mem::take(&mut state.contact_of_point[point as usize]);
            let vertex = self.mesh.vertex_of_point[point as usize];
            state.contacts.push(Contact { vertex, give, hold });
        }
        moved
    }

    fn place(&self, positions: &[Vec3], point: u32) -> Vec3 {
        positions[self.mesh.vertex_of_point[point as usize] as usize]
    }

    /// Seams closed, and normals turned as those of the welded skin are.
    fn show(&self, state: &mut OverlapState, positions: &mut [Vec3], normals: &mut [Vec3]) -> usize {
        let mut count = 0;
        for &point in &state.touched {
            let place = self.place(positions, point);
            let vertices = self.vertices_of_point.of(point as usize);
            count += vertices.len();
            vertices.iter().for_each(|&v| positions[v as usize] = place);
        }
        // Normals change where a corner of a triangle around has moved.
        state.near.clear();
        for &point in &state.touched {
            self.mesh.for_neighbours(point as usize, |n| {
                if state.smoothed[n] == Vec3::ZERO {
                    state.smoothed[n] = Vec3::ONE;
                    state.near.push(n as u32);
                }
            });
        }
        for &point in &state.near {
            state.smoothed[point as usize] = Vec3::ZERO;
            let now = |p: u32| self.place(positions, p);
            let was = |p: u32| if state.is_touched[p as usize] { state.before[p as usize] } else { now(p) };
            let [before, after] = [self.area(point, was), self.area(point, now)];
            let turn = after.normalize_or_zero() - before.normalize_or_zero();
            if before == Vec3::ZERO || after == Vec3::ZERO {
                continue;
            }
            for &vertex in self.vertices_of_point.of(point as usize) {
                let normal = &mut normals[vertex as usize];
                *normal = (*normal + turn).try_normalize().unwrap_or(*normal);
            }
        }
        state.touched.iter().for_each(|&p| state.is_touched[p as usize] = false);
        count
    }

    /// Twice the vector area around a point.
    fn area(&self, point: u32, place: impl Fn(u32) -> Vec3) -> Vec3 {
        let around = self.mesh.around.of(point as usize).iter();
        let area = |&t: &u32| {
            let [a, b, c] = self.mesh.triangles[t as usize].map(&place);
            (b - a).cross(c - a)
        };
        around.map(area).sum()
    }
}

fn affine(m: &SkinMatrix) -> DAffine3 {
    let column = |i: usize| DVec3::new(m[0][i].into(), m[1][i].into(), m[2][i].into());
    DAffine3 { matrix3: DMat3::from_cols(column(0), column(1), column(2)), translation: column(3) }
}
