//! Normals of a deformed skin from its triangles: the blend of bones bends the skin by the slope of the weights too, which
//! no matrix of a point knows, and so does a bulge.

use crate::parallel;
use crate::simd::vectors::plain::{unit_or, unsigned_zeros};
use glam::Vec3;
use std::collections::BTreeMap;

/// Vertices of a point whose normals are this near (cosine) share a face of the skin; others lie across a hard edge.
const SAME_FACE: f32 = 0.99;

/// Rest normals this near (cosine, 0.1 degrees) to those of the triangles are theirs.
const SAME: f32 = 0.999_998;

/// Elements a parallel task.
const CHUNK: usize = 1024;

/// The smooth pieces of the skin around each point.
#[derive(Debug, Default)]
pub(super) struct Normals {
    /// Corners as places.
    pub triangles: Vec<[u32; 3]>,
    /// Triangles of fan `f`: `faces[starts[f]..starts[f + 1]]`.
    starts: Vec<u32>,
    faces: Vec<u32>,
    /// Two places each, the point's and a neighbour's: which way is along the skin.
    edges: Vec<[u32; 2]>,
    /// For each vertex its fan.
    fan_of_vertex: Vec<u32>,
    /// For each vertex its rest normal along the fan's normal, its edge, and across both.
    parts: Vec<Vec3>,
}

/// What a step needs.
#[derive(Debug, Default, Clone)]
pub(super) struct Scratch {
    /// Twice the area vector of each triangle.
    pub areas: Vec<Vec3>,
}

impl Normals {
    /// `triangles` between places, in the order of `faces`, triangles between vertices.
    pub(super) fn new(
        rest: &[Vec3],
        triangles: Vec<[u32; 3]>,
        faces: &[[u32; 3]],
        place_of_vertex: &[u32],
        normals: &[Vec3],
    ) -> Self {
        // Vertices of each place, by the fan that they belong to.
        let mut of_place: BTreeMap<u32, Vec<(Vec3, u32)>> = BTreeMap::new();
        let mut made = Self { triangles, ..Self::default() };
        let mut places: Vec<u32> = Vec::new();
        for (vertex, &place) in place_of_vertex.iter().enumerate() {
            let known = of_place.entry(place).or_default();
            let normal = normals[vertex];
            let fan = match known.iter().find(|fan| fan.0.dot(normal) > SAME_FACE) {
                Some(fan) => fan.1,
                None => {
                    let fan = places.len() as u32;
                    places.push(place);
                    known.push((normal, fan));
                    fan
                }
            };
            made.fan_of_vertex.push(fan);
        }
        let mut around: Vec<(u32, u32)> = Vec::with_capacity(3 * faces.len());
        for (index, face) in faces.iter().enumerate() {
            around.extend(face.iter().map(|&v| (made.fan_of_vertex[v as usize], index as u32)));
        }
        around.sort_unstable();
        around.dedup();
        made.starts.push(0);
        let mut next = 0;
        for (fan, &place) in places.iter().enumerate() {
            let mut other = place;
            while let Some(&(_, face)) = around.get(next).filter(|a| a.0 as usize == fan) {
                if other == place {
                    let corners = made.triangles[face as usize];
                    other = corners.into_iter().find(|&c| c != place).unwrap_or(place);
                }
                made.faces.push(face);
                next += 1;
            }
            made.starts.push(made.faces.len() as u32);
            made.edges.push([place, other]);
        }
        let mut scratch = Scratch::default();
        made.areas(rest, &mut scratch);
        let parts = normals.iter().zip(&made.fan_of_vertex).map(|(&n, &fan)| {
            let g = made.normal(fan as usize, &scratch.areas);
            let t = made.edge(fan as usize, g, rest);
            let parts = Vec3::new(n.dot(g), n.dot(t), n.dot(g.cross(t)));
            if parts.x > SAME {
                Vec3::X
            } else if parts.length_squared() > 0.5 {
                parts
            } else {
                // A point in no triangle keeps its normal.
                Vec3::ZERO
            }
        });
        made.parts = parts.collect();
        made
    }

    /// Twice the area vector of each triangle.
    pub(super) fn areas(&self, places: &[Vec3], scratch: &mut Scratch) {
        scratch.areas.resize(self.triangles.len(), Vec3::ZERO);
        parallel::for_each_chunk_mut(&mut scratch.areas, CHUNK, |chunk, areas| {
            let triangles = &self.triangles[chunk * CHUNK..][..areas.len()];
            for (area, &[a, b, c]) in areas.iter_mut().zip(triangles) {
                let [a, b, c] = [places[a as usize], places[b as usize], places[c as usize]];
                *area = (b - a).cross(c - a);
            }
        });
    }

    /// The unit normal of a fan.
    fn normal(&self, fan: usize, areas: &[Vec3]) -> Vec3 {
        let faces = &self.faces[self.starts[fan] as usize..self.starts[fan + 1] as usize];
        unit_or(faces.iter().fold(Vec3::ZERO, |sum, &f| sum + areas[f as usize]), Vec3::ZERO)
    }

    /// Its unit edge, across the normal.
    fn edge(&self, fan: usize, normal: Vec3, places: &[Vec3]) -> Vec3 {
        let [from, to] = self.edges[fan].map(|p| places[p as usize]);
        let edge = to - from;
        unit_or(edge - normal * normal.dot(edge), Vec3::ZERO)
    }

    /// Unit normals of a skin whose points are at `places`; where its triangles have none, the rest's. `turned` vertices
    /// are inside out.
    pub(super) fn normals(
        &self,
        places: &[Vec3],
        rest: &[Vec3],
        turned: impl Fn(usize) -> bool + Sync + Send,
        scratch: &mut Scratch,
        out: &mut [Vec3],
    ) {
        self.areas(places, scratch);
        let areas = &scratch.areas[..];
        parallel::for_each_chunk_mut(out, CHUNK, |chunk, normals| {
            for (index, normal) in normals.iter_mut().enumerate() {
                let vertex = chunk * CHUNK + index;
                let (fan, parts) = (self.fan_of_vertex[vertex] as usize, self.parts[vertex]);
                let g = self.normal(fan, areas);
                let sum = if parts == Vec3::X {
                    g
                } else {
                    let t = self.edge(fan, g, places);
                    g * parts.x + t * parts.y + g.cross(t) * parts.z
                };
                let sum = if turned(vertex) { -sum } else { sum };
                *normal = unsigned_zeros(unit_or(sum, rest[vertex]));
            }
        });
    }
}
