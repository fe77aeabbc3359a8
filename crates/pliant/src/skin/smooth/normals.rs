//! Normals of a deformed skin from its triangles: the blend of bones bends the skin by the slope of the weights too, which
//! no matrix of a point knows, and so does a bulge.

use super::stars::{Around, Stars};
use crate::parallel;
use crate::simd::Path;
use crate::simd::vectors::plain::{unit_or, unsigned_zeros};
use glam::Vec3;
use std::collections::BTreeMap;

/// Vertices of a point whose normals are this near (cosine) share a face of the skin; others lie across a hard edge.
const SAME_FACE: f32 = 0.99;

/// Rest normals this near (cosine, 0.1 degrees) to those of the triangles are theirs.
const SAME: f32 = 0.999_998;

/// A normal that is not its fan's.
const TURNED: u32 = 1 << 31;

/// Vertices a parallel task.
const CHUNK: usize = 1024;

/// The smooth pieces of the skin around each point: fans.
#[derive(Debug)]
pub(in crate::skin) struct Normals {
    fans: Stars,
    /// Two places each, the point's and a neighbour's: which way is along the skin.
    edges: Vec<[u32; 2]>,
    /// For each vertex its fan, and whether its normal is [`TURNED`] against that of the fan.
    fan_of_vertex: Vec<u32>,
    /// For each vertex its rest normal along the fan's normal, its edge, and across both.
    parts: Vec<Vec3>,
}

impl Normals {
    /// `faces` between vertices; `rest` places are followed by one that is not used.
    pub(in crate::skin) fn new(
        rest: &[Vec3],
        faces: &[[u32; 3]],
        place_of_vertex: &[u32],
        normals: &[Vec3],
        path: Path,
    ) -> Self {
        // Vertices of each place, by the fan that they belong to.
        let mut of_place: BTreeMap<u32, Vec<(Vec3, u32)>> = BTreeMap::new();
        let mut fan_of_vertex: Vec<u32> = Vec::with_capacity(normals.len());
        let mut fans: Vec<(u32, Vec<[u32; 2]>)> = Vec::new();
        for (vertex, &place) in place_of_vertex.iter().enumerate() {
            let known = of_place.entry(place).or_default();
            let normal = normals[vertex];
            let fan = match known.iter().find(|fan| fan.0.dot(normal) > SAME_FACE) {
                Some(fan) => fan.1,
                None => {
                    let fan = fans.len() as u32;
                    fans.push((place, Vec::new()));
                    known.push((normal, fan));
                    fan
                }
            };
            fan_of_vertex.push(fan);
        }
        for &[a, b, c] in faces {
            for [v, next, last] in [[a, b, c], [b, c, a], [c, a, b]] {
                let ends = [next, last].map(|v| place_of_vertex[v as usize]);
                fans[fan_of_vertex[v as usize] as usize].1.push(ends);
            }
        }
        let edge = |(place, pairs): &(u32, Vec<[u32; 2]>)| [*place, pairs.first().map_or(*place, |p| p[0])];
        let edges: Vec<[u32; 2]> = fans.iter().map(edge).collect();
        let mut rank = vec![0; fans.len()];
        let (fans, order) = Stars::new(fans, |_| 0, path);
        order.iter().enumerate().for_each(|(k, &fan)| rank[fan as usize] = k as u32);
        fan_of_vertex.iter_mut().for_each(|fan| *fan = rank[*fan as usize]);
        let edges = order.iter().map(|&fan| edges[fan as usize]).collect();
        let mut made = Self { fans, edges, fan_of_vertex, parts: Vec::new() };
        let mut around = Around::default();
        made.fans.look(rest, &mut around);
        let parts = normals.iter().zip(&made.fan_of_vertex).map(|(&n, &fan)| {
            let g = around.normals[fan as usize];
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
        for (fan, parts) in made.fan_of_vertex.iter_mut().zip(&made.parts) {
            *fan |= if *parts == Vec3::X { 0 } else { TURNED };
        }
        made
    }

    /// A fan's unit edge, across its normal.
    fn edge(&self, fan: usize, normal: Vec3, places: &[Vec3]) -> Vec3 {
        let [from, to] = self.edges[fan].map(|p| places[p as usize]);
        let edge = to - from;
        unit_or(edge - normal * normal.dot(edge), Vec3::ZERO)
    }

    /// Unit normals of a skin whose points are at `places`, and one more; where its triangles have none, the rest's.
    /// `turned` vertices are inside out.
    pub(in crate::skin) fn normals(
        &self,
        places: &[Vec3],
        rest: &[Vec3],
        turned: impl Fn(usize) -> bool + Sync + Send,
        around: &mut Around,
        out: &mut [Vec3],
    ) {
        self.look(places, around);
        let around = &*around;
        parallel::for_each_chunk_mut(out, CHUNK, |chunk, normals| {
            for (index, normal) in normals.iter_mut().enumerate() {
                let vertex = chunk * CHUNK + index;
                *normal = self.normal(vertex, places, rest, turned(vertex), around);
            }
        });
    }

    /// The first half of [`Normals::normals`]: the skin around all points.
    pub(in crate::skin) fn look(&self, places: &[Vec3], around: &mut Around) {
        self.fans.look(places, around);
    }

    /// The second half of it, for one vertex.
    #[inline(always)]
    pub(in crate::skin) fn normal(
        &self,
        vertex: usize,
        places: &[Vec3],
        rest: &[Vec3],
        is_turned: bool,
        around: &Around,
    ) -> Vec3 {
        let fan = (self.fan_of_vertex[vertex] & !TURNED) as usize;
        let g = around.normals[fan];
        let sum = if self.fan_of_vertex[vertex] & TURNED == 0 {
            g
        } else {
            let parts = self.parts[vertex];
            let t = self.edge(fan, g, places);
            unit_or(g * parts.x + t * parts.y + g.cross(t) * parts.z, Vec3::ZERO)
        };
        let sum = if is_turned { -sum } else { sum };
        unsigned_zeros(if sum == Vec3::ZERO { rest[vertex] } else { sum })
    }
}
