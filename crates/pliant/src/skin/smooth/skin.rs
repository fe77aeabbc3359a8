use super::bulge::{self, Bulge, Posed};
use super::flesh::Flesh;
use super::normals::Normals;
use super::stars::Around;
use super::{Smooth, SmoothOptions, SmoothState};
use crate::asset::{Character, Weights, Weld};
use crate::parallel;
use crate::rig::SkinMatrix;
use crate::simd::Path;
use crate::skin::SkinError;
use crate::skin::pack::BATCH;
use glam::{Mat3, Vec3};

/// Vertices a parallel task.
const CHUNK: usize = 4096;

/// A character's skin prepared for one path: shared by all copies.
pub struct SmoothSkin {
    smooth: Smooth,
    normals: Normals,
    bulge: Bulge,
    place_of_vertex: Vec<u32>,
    /// The slot of each vertex's largest weight.
    leads: Vec<u16>,
    rest_normals: Vec<Vec3>,
    /// Rest positions in order of places.
    rest: Vec<Vec3>,
    /// What each morph moves, places once each.
    morphs: Vec<Vec<(u32, Vec3)>>,
}

/// What one moving copy of a skin needs from step to step.
#[derive(Clone)]
pub struct SmoothSkinState {
    smooth: SmoothState,
    around: Around,
    bulge: bulge::State,
    /// Rest positions in order of places, with morphs in them.
    rest: Vec<Vec3>,
    morph_weights: Vec<f32>,
    /// For each slot whether it turns the skin inside out.
    mirrored: Vec<bool>,
}

impl SmoothSkin {
    /// Prepares a skin with these weights: the character's own, or others for its slots.
    pub fn new(
        character: &Character,
        weights: &Weights,
        options: &SmoothOptions,
        path: Path,
    ) -> Result<Self, SkinError> {
        let surface = character.surface();
        let (vertices, weighted) = (surface.positions().len(), weights.vertex_count());
        if vertices != weighted {
            return Err(SkinError::Mismatch { vertices, weighted });
        }
        let weld = Weld::by_weights(character, weights);
        let positions: Vec<Vec3> =
            weld.vertex_of_point.iter().map(|&v| surface.positions()[v as usize]).collect();
        let welded = weld.vertex_of_point.iter().map(|&v| weights.of(v as usize));
        // These are right already: normalising finds nothing to refuse.
        let welded = Weights::normalised(welded, weights.slot_count(), |_| None);
        let welded = welded.map_err(|_| SkinError::Mismatch { vertices, weighted })?.0;
        let smooth = Smooth::new(&positions, &welded, character.skeleton(), character.slots(), path)?;
        let smooth = smooth.with_limits(options);
        let place_of = |point: u32| smooth.programs.place_of_point[point as usize];
        let place_of_vertex: Vec<u32> = weld.point_of_vertex.iter().map(|&p| place_of(p)).collect();
        let is_whole = |t: &&[u32; 3]| {
            let [a, b, c] = t.map(|v| place_of_vertex[v as usize]);
            a != b && b != c && c != a
        };
        let faces: Vec<[u32; 3]> = surface.triangles().iter().filter(is_whole).copied().collect();
        let corners = |t: &[u32; 3]| t.map(|v| place_of_vertex[v as usize]);
        let triangles: Vec<[u32; 3]> = faces.iter().map(corners).collect();
        let rest = smooth.rest_places();
        let options = at_points(options, &weld.vertex_of_point);
        let flesh = Flesh {
            tree: &smooth.tree,
            weights: &welded,
            point_of_place: &smooth.programs.point_of_place,
            rest: &rest,
        };
        let bulge = Bulge::new(&flesh, &triangles, &options, path);
        let normals = Normals::new(&rest, &faces, &place_of_vertex, surface.normals(), path);
        let leads = (0..vertices).map(|v| weights.of(v).next().map_or(0, |w| w.0)).collect();
        let morphs = character.morphs().iter().map(|morph| {
            let moved = morph.vertices.iter().zip(&morph.positions);
            let mut moved: Vec<(u32, Vec3)> =
                moved.map(|(&v, &offset)| (place_of_vertex[v as usize], offset)).collect();
            moved.sort_by_key(|m| m.0);
            moved.dedup_by_key(|m| m.0);
            moved
        });
        let morphs = morphs.collect();
        let rest_normals = surface.normals().to_vec();
        Ok(Self { smooth, normals, bulge, place_of_vertex, leads, rest_normals, rest, morphs })
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> usize {
        self.place_of_vertex.len()
    }

    /// A state for one copy of the skin.
    pub fn state(&self) -> SmoothSkinState {
        SmoothSkinState {
            smooth: self.smooth.state(),
            around: Around::default(),
            bulge: self.bulge.state(),
            rest: self.rest.clone(),
            morph_weights: vec![0.0; self.morphs.len()],
            mirrored: Vec::new(),
        }
    }

    /// Blends morphs into the skin that later steps of this state start from; nothing to do while weights stay.
    pub fn morph(&self, weights: &[f32], state: &mut SmoothSkinState) {
        let weight = |index: usize| weights.get(index).copied().unwrap_or(0.0);
        let SmoothSkinState { smooth, rest, morph_weights: before, bulge, .. } = state;
        if (0..self.morphs.len()).all(|i| before[i] == weight(i)) {
            return;
        }
        let touched = |i: usize, before: &[f32]| before[i] != 0.0 || weight(i) != 0.0;
        for (_, moved) in self.morphs.iter().enumerate().filter(|(i, _)| touched(*i, before)) {
            moved.iter().for_each(|&(place, _)| rest[place as usize] = self.rest[place as usize]);
        }
        for (index, moved) in self.morphs.iter().enumerate().filter(|(i, _)| weight(*i) != 0.0) {
            moved.iter().for_each(|&(place, offset)| rest[place as usize] += offset * weight(index));
        }
        let packed = smooth.rest.get_or_insert_with(|| self.smooth.rest.clone());
        for (_, moved) in self.morphs.iter().enumerate().filter(|(i, _)| touched(*i, before)) {
            for &(place, _) in moved {
                packed[place as usize / BATCH].set(place as usize % BATCH, rest[place as usize]);
            }
        }
        bulge.is_rest_new = true;
        (0..self.morphs.len()).for_each(|i| before[i] = weight(i));
    }

    /// Poses the skin's positions, and its unit normals unless that slice is empty, by one matrix per slot.
    ///
    /// # Panics
    /// If `matrices` or the outputs are not of the character's size, or the state is of another skin.
    pub fn pose(
        &self,
        matrices: &[SkinMatrix],
        state: &mut SmoothSkinState,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        assert_eq!(positions.len(), self.vertex_count(), "one position per vertex");
        assert!(normals.is_empty() || normals.len() == self.vertex_count(), "one normal per vertex");
        self.smooth.place(matrices, &mut state.smooth);
        let SmoothSkinState { smooth, around, mirrored, bulge, rest, .. } = state;
        let SmoothState { turns, places, .. } = smooth;
        if !self.bulge.is_empty() && self.bulge.find_bent(&self.smooth.tree, turns, bulge) {
            let pose = Posed { turns, matrices, rest };
            self.bulge.raise(&pose, places, bulge);
        }
        let places = &places[..];
        parallel::for_each_chunk_mut(positions, CHUNK, |chunk, out| {
            let from = &self.place_of_vertex[chunk * CHUNK..][..out.len()];
            out.iter_mut().zip(from).for_each(|(p, &place)| *p = places[place as usize]);
        });
        if normals.is_empty() {
            return;
        }
        mirrored.clear();
        mirrored.extend(matrices.iter().map(|m| {
            let [x, y, z] = m.map(|r| Vec3::new(r[0], r[1], r[2]));
            Mat3::from_cols(x, y, z).determinant() < 0.0
        }));
        let is_any = mirrored.contains(&true);
        let turned = |vertex: usize| is_any && mirrored[usize::from(self.leads[vertex])];
        self.normals.normals(places, &self.rest_normals, turned, around, normals);
    }
}

/// The same, with what is painted on vertices for points.
fn at_points(options: &SmoothOptions, vertex_of_point: &[u32]) -> SmoothOptions {
    let mut options = options.clone();
    for control in options.joints.values_mut().chain([&mut options.usual]) {
        if let Some(fat) = &mut control.fat {
            let at = |&vertex: &u32| fat.get(vertex as usize).copied().unwrap_or(1.0);
            *fat = vertex_of_point.iter().map(at).collect();
        }
    }
    options
}
