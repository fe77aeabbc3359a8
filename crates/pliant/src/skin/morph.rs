//! Blend shapes, added to the rest skin before it is posed.

use super::pack::{BATCH, Vectors};
use crate::asset::{Morph, Surface};
use glam::Vec3;

/// A copy of the rest skin with morphs in it, packed and plain.
#[derive(Clone)]
pub(super) struct Morphed {
    pub plain_positions: Vec<Vec3>,
    pub plain_normals: Vec<Vec3>,
    /// Empty where the plain code runs.
    pub positions: Vec<Vectors>,
    pub normals: Vec<Vectors>,
    /// The weights that are in it.
    weights: Vec<f32>,
}

impl Morphed {
    pub(super) fn new(surface: &Surface, positions: &[Vectors], normals: &[Vectors]) -> Self {
        Self {
            plain_positions: surface.positions().to_vec(),
            plain_normals: surface.normals().to_vec(),
            positions: positions.to_vec(),
            normals: normals.to_vec(),
            weights: Vec::new(),
        }
    }

    /// Whether it differs from the rest skin.
    pub(super) fn is_active(&self) -> bool {
        self.weights.iter().any(|&w| w != 0.0)
    }

    /// Puts morphs in at new weights; those without a weight count as zero. Only vertices that a morph moves, or moved
    /// before, are touched.
    pub(super) fn update(&mut self, surface: &Surface, morphs: &[Morph], weights: &[f32]) {
        self.weights.resize(morphs.len(), 0.0);
        let weight = |index: usize| weights.get(index).copied().unwrap_or(0.0);
        if (0..morphs.len()).all(|i| self.weights[i] == weight(i)) {
            return;
        }
        for (index, morph) in morphs.iter().enumerate() {
            if self.weights[index] != 0.0 || weight(index) != 0.0 {
                for vertex in morph.vertices.iter().map(|&v| v as usize) {
                    self.plain_positions[vertex] = surface.positions()[vertex];
                    self.plain_normals[vertex] = surface.normals()[vertex];
                }
            }
        }
        for (index, morph) in morphs.iter().enumerate().filter(|(i, _)| weight(*i) != 0.0) {
            let offsets = morph.positions.iter().zip(&morph.normals);
            for (&vertex, (&position, &normal)) in morph.vertices.iter().zip(offsets) {
                self.plain_positions[vertex as usize] += position * weight(index);
                self.plain_normals[vertex as usize] += normal * weight(index);
            }
        }
        for (index, morph) in morphs.iter().enumerate() {
            if self.weights[index] != 0.0 || weight(index) != 0.0 {
                for vertex in morph.vertices.iter().map(|&v| v as usize) {
                    self.settle(vertex, surface);
                }
            }
            self.weights[index] = weight(index);
        }
    }

    /// Makes a vertex's normal unit again, and packs the vertex. Harmless when done twice.
    fn settle(&mut self, vertex: usize, surface: &Surface) {
        let normal = &mut self.plain_normals[vertex];
        let length = normal.as_dvec3().length();
        // Rest normals are unit: one that a morph has shrunk to this has lost its direction.
        *normal = if length > 1e-6 && length.is_finite() {
            (normal.as_dvec3() / length).as_vec3()
        } else {
            surface.normals()[vertex]
        };
        if let Some(batch) = self.positions.get_mut(vertex / BATCH) {
            batch.set(vertex % BATCH, self.plain_positions[vertex]);
        }
        if let Some(batch) = self.normals.get_mut(vertex / BATCH) {
            batch.set(vertex % BATCH, *normal);
        }
    }
}
