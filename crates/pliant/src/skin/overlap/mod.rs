//! Skin that a skinning has pushed through itself is parted again.
//!
//! Bones that share a joint: see `hinge.rs`. Bones that do not: see `limb.rs`. Both are continuous in the pose: whatever is
//! moved is moved by nothing at first, so that nothing pops.
//!
//! An [`Overlap`] is prepared once and shared; each moving copy has an [`OverlapState`].

mod hinge;
mod kernel;
mod limb;

use super::SkinError;
use super::mesh::Mesh;
use super::volume::{Giver, Giving, Hold};
use crate::asset::Character;
use crate::body::topology::Lists;
use crate::parallel;
use crate::rig::SkinMatrix;
use crate::simd::Path;
use glam::{DAffine3, DMat3, DVec3, Vec3};
use hinge::Hinge;
use kernel::Kernels;
use limb::Limbs;

/// Triangles a task when normals are turned.
const TURNS: usize = 256;

/// The repair of overlaps prepared for a character: shared by all its copies.
pub struct Overlap {
    kernels: Kernels,
    mesh: Mesh,
    vertices_of_point: Lists,
    hinges: Vec<Hinge>,
    /// Nothing where skin is not parted.
    limbs: Option<Limbs>,
}

/// What one moving copy needs from step to step. Reused, so that steps allocate nothing.
#[derive(Clone)]
pub struct OverlapState {
    posed: Vec<DAffine3>,
    /// Per hinge.
    folded: Vec<hinge::Folded>,
    givings: Vec<Giving>,
    limbs: limb::LimbState,
    /// How far each point is about to be moved, and which are.
    moved: Vec<Vec3>,
    moving: Vec<u32>,
    /// Where points were, and which have been moved by anything.
    before: Vec<Vec3>,
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    /// Triangles around points whose normals turn, with twice their areas before and after.
    triangles: Vec<(u32, [Vec3; 2])>,
    is_known: Vec<bool>,
    /// Those points, and what their triangles sum to.
    turns: Vec<u32>,
    is_turned: Vec<bool>,
    areas: Vec<[Vec3; 2]>,
}

impl OverlapState {
    /// Vertices that are held where they are, each once for everything that it touches.
    pub fn holds(&self) -> impl Iterator<Item = Hold> + '_ {
        self.folded.iter().flat_map(|folded| &folded.holds).chain(&self.limbs.holds).copied()
    }

    /// How much the flesh of each of [`Overlap::givers`] gives way.
    pub fn givings(&self) -> &[Giving] {
        &self.givings
    }

    /// The welded points that were moved, each once.
    pub fn moved(&self) -> &[u32] {
        &self.touched
    }

    /// Moves a point as far as it is not going that way already: what several push the same way goes there once.
    fn push(&mut self, point: u32, by: Vec3) {
        if by == Vec3::ZERO {
            return;
        }
        let moved = &mut self.moved[point as usize];
        if *moved == Vec3::ZERO {
            self.moving.push(point);
            *moved = by;
            return;
        }
        let length = by.length();
        if length > 0.0 {
            let way = by / length;
            *moved += way * (length - moved.dot(way).clamp(0.0, length));
        }
    }

    /// All that were pushed go there.
    fn apply(&mut self, mesh: &Mesh, positions: &mut [Vec3]) {
        for point in self.moving.drain(..) {
            let place = &mut positions[mesh.vertex_of_point[point as usize] as usize];
            if !std::mem::replace(&mut self.is_touched[point as usize], true) {
                self.before[point as usize] = *place;
                self.touched.push(point);
            }
            *place += std::mem::take(&mut self.moved[point as usize]);
        }
    }
}

impl Overlap {
    /// Prepares the repair. Where skin is not to be parted contacts are found all the same, and nothing is moved.
    pub fn new(character: &Character, parts: bool, path: Path) -> Result<Self, SkinError> {
        if !path.is_available() {
            return Err(SkinError::Unavailable { path, available: Path::available() });
        }
        let mesh = Mesh::new(character);
        let members: Vec<[u32; 1]> = mesh.point_of_vertex.iter().map(|&p| [p]).collect();
        let vertices_of_point = Lists::group(mesh.len(), &members);
        let hinges = hinge::hinges(character, &mesh);
        let limbs = parts.then(|| Limbs::new(character, &mesh));
        Ok(Self { kernels: kernel::kernels(path), mesh, vertices_of_point, hinges, limbs })
    }

    /// The flesh of each joint that gives way beside a contact there.
    pub fn givers(&self) -> Vec<Vec<Giver>> {
        self.hinges.iter().map(Hinge::givers).collect()
    }

    /// A state for one copy.
    pub fn state(&self) -> OverlapState {
        let points = self.mesh.len();
        OverlapState {
            posed: Vec::new(),
            folded: self.hinges.iter().map(Hinge::state).collect(),
            givings: Vec::with_capacity(self.hinges.len()),
            limbs: self.limbs.as_ref().map(|limbs| limbs.state(points)).unwrap_or_default(),
            moved: vec![Vec3::ZERO; points],
            moving: Vec::with_capacity(points),
            before: vec![Vec3::ZERO; points],
            touched: Vec::with_capacity(points),
            is_touched: vec![false; points],
            triangles: Vec::with_capacity(self.mesh.triangles.len()),
            is_known: vec![false; self.mesh.triangles.len()],
            turns: Vec::with_capacity(points),
            is_turned: vec![false; points],
            areas: vec![[Vec3::ZERO; 2]; points],
        }
    }

    /// Parts skin in its skinned place; how many vertices are moved. That is done to the first vertex of each point: the
    /// rest, and normals, are for [`Overlap::show`], or whoever moves the skin next.
    ///
    /// # Panics
    /// If matrices or positions are not of the character's size, or the state is of another repair.
    pub fn part(&self, matrices: &[SkinMatrix], state: &mut OverlapState, positions: &mut [Vec3]) -> usize {
        state.posed.clear();
        state.posed.extend(matrices.iter().map(affine));
        state.touched.clear();
        self.part_hinges(state, positions);
        if let Some(limbs) = &self.limbs {
            self.part_limbs(limbs, state, positions);
        }
        let OverlapState { touched, is_touched, .. } = state;
        touched.iter().for_each(|&p| is_touched[p as usize] = false);
        touched.iter().map(|&p| self.vertices_of_point.of(p as usize).len()).sum()
    }

    /// The first vertices of the points that were moved, each once.
    pub fn moved_vertices<'s>(&'s self, state: &'s OverlapState) -> impl Iterator<Item = u32> + 's {
        state.touched.iter().map(|&point| self.mesh.vertex_of_point[point as usize])
    }

    fn place(&self, positions: &[Vec3], point: u32) -> Vec3 {
        positions[self.mesh.vertex_of_point[point as usize] as usize]
    }

    /// Closes the seams around moved points, and turns normals, if there are any, as those of the welded skin are. Only for points that are
    /// `asked` for, by their first vertices.
    pub fn show(
        &self,
        asked: impl Fn(u32) -> bool,
        state: &mut OverlapState,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        let asked = |point: u32| asked(self.mesh.vertex_of_point[point as usize]);
        for &point in state.touched.iter().filter(|&&p| asked(p)) {
            state.is_touched[point as usize] = true;
            let place = self.place(positions, point);
            self.vertices_of_point.of(point as usize).iter().for_each(|&v| positions[v as usize] = place);
        }
        if normals.is_empty() {
            return state.touched.iter().for_each(|&p| state.is_touched[p as usize] = false);
        }
        // Normals change where a corner of a triangle around has moved.
        let OverlapState {
            touched, is_touched, before, turns, is_turned, triangles, is_known, areas, ..
        } = state;
        turns.clear();
        triangles.clear();
        let mut see = |triangle: u32| {
            if !std::mem::replace(&mut is_known[triangle as usize], true) {
                triangles.push((triangle, [Vec3::ZERO; 2]));
            }
        };
        for &point in touched.iter().filter(|&&p| is_touched[p as usize]) {
            self.mesh.for_neighbours(point as usize, |n| {
                if !std::mem::replace(&mut is_turned[n], true) {
                    turns.push(n as u32);
                    self.mesh.around.of(n).iter().for_each(|&t| see(t));
                }
            });
        }
        parallel::for_each_chunk_mut(triangles, TURNS, |_, triangles| {
            for (triangle, areas) in triangles {
                let corners = self.mesh.triangles[*triangle as usize];
                let now = corners.map(|p| self.place(positions, p));
                let mut was = now;
                for (was, &p) in was.iter_mut().zip(&corners) {
                    if is_touched[p as usize] {
                        *was = before[p as usize];
                    }
                }
                *areas = [was, now].map(|[a, b, c]| (b - a).cross(c - a));
            }
        });
        for (triangle, [was, now]) in triangles.iter() {
            is_known[*triangle as usize] = false;
            for &p in self.mesh.triangles[*triangle as usize].iter().filter(|&&p| is_turned[p as usize]) {
                areas[p as usize][0] += *was;
                areas[p as usize][1] += *now;
            }
        }
        for &point in turns.iter() {
            is_turned[point as usize] = false;
            let [was, now] = std::mem::take(&mut areas[point as usize]).map(Vec3::normalize_or_zero);
            if was == Vec3::ZERO || now == Vec3::ZERO {
                continue;
            }
            for &vertex in self.vertices_of_point.of(point as usize) {
                let normal = &mut normals[vertex as usize];
                *normal = (*normal + now - was).try_normalize().unwrap_or(*normal);
            }
        }
        touched.iter().for_each(|&p| is_touched[p as usize] = false);
    }
}

/// A skin matrix, to compute with.
pub(crate) fn affine(m: &SkinMatrix) -> DAffine3 {
    let column = |i: usize| DVec3::new(m[0][i].into(), m[1][i].into(), m[2][i].into());
    DAffine3 { matrix3: DMat3::from_cols(column(0), column(1), column(2)), translation: column(3) }
}
