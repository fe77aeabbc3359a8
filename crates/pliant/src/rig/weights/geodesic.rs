use super::{BoneDistances, KEEP, NearBones};
use crate::asset::{AssetError, Character, Weights, Weld};
use crate::parallel;
use glam::Vec3;

/// Weights below this share of a vertex's largest are none: it is taken off all of them, so that they still fade.
/// Without it every vertex is a little bound to a bone half a body away; at 0.1 joints crease.
const LEAST: f64 = 0.01;
/// How much of a vertex's weights one smoothing pass takes from its neighbours'. 1 would let chequers survive.
const SHARE: f32 = 0.5;

/// How [`geodesic`] weighs bones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeodesicSettings {
    /// `a` in `((1-a)d + a d^2)^-2`: 0 is soft, 1 firm, and normal. On rigged characters (a person, a fox, a knight,
    /// a hand, an octopus, a bunny) 1 comes nearest to the weights that their makers gave them, without exception, by a
    /// third to a half nearer than 0, and stretches edges less. Joints keep more of their volume when firm, and bend
    /// over a length like the limb's own thickness.
    pub falloff: f64,
    /// How many times weights are smoothed over the skin; 3 normally. On the same characters 1 leaves edges that
    /// stretch half as much again where triangles are large; 6 and more take nothing off that and lead coarse skins
    /// away from their makers' weights.
    pub passes: usize,
    /// How many joints a vertex is bound to at most; 4 normally, as much as game engines take.
    pub influences: usize,
}

impl Default for GeodesicSettings {
    fn default() -> Self {
        Self { falloff: 1.0, passes: 3, influences: 4 }
    }
}

/// What a vertex is bound to, while weights are made.
type Bound = Vec<(u16, f32)>;

/// Weights by falloff with distance (Dionne & de Lasa 2013): `((1-a)d + a d^2)^-2`, smoothed along the edges of the
/// welded skin, so never across a gap; the largest few are kept.
///
/// `d` is over the distance of the nearest bone, where the paper's is over the size of the character: a finger then
/// bends like a thigh.
pub fn geodesic(
    character: &Character,
    bones: &BoneDistances,
    near: &NearBones,
    settings: GeodesicSettings,
) -> Result<Weights, AssetError> {
    let (expected, found) = (character.surface().positions().len(), near.len());
    if expected != found {
        return Err(AssetError::Length { what: "points with near bones", expected, found });
    }
    let a = settings.falloff.clamp(0.0, 1.0);
    let weights = |vertex: usize| {
        let near = near.of(vertex);
        // The smallest distance may be 0 as an f32 where all there is lies in one point.
        let first = near.first().map_or(1.0, |n| f64::from(n.distance.max(f32::MIN_POSITIVE)));
        let weigh = |distance: f32| {
            let d = (f64::from(distance) / first).max(1.0);
            let law = (1.0 - a) * d + a * d * d;
            (1.0 / (law * law) - LEAST) as f32
        };
        let all = near.iter().map(|n| (n.slot, weigh(n.distance)));
        all.filter(|w| w.1 > 0.0).collect::<Bound>()
    };
    let of_vertices = normalised(&parallel::map(near.len(), weights), bones)?;
    let weld = Weld::by_weights(character, &of_vertices);
    let mut points: Vec<Bound> =
        weld.vertex_of_point.iter().map(|&v| of_vertices.of(v as usize).collect()).collect();
    let place = |&v: &u32| {
        let bone = near.of(v as usize).first().map_or(0.0, |n| n.distance);
        (character.surface().positions()[v as usize], bone)
    };
    let places: Vec<(Vec3, f32)> = weld.vertex_of_point.iter().map(place).collect();
    smooth(&mut points, &places, &weld.triangles, settings.passes);
    points.iter_mut().for_each(|bound| bound.truncate(settings.influences.max(1)));
    let vertices = weld.point_of_vertex.iter().map(|&p| points[p as usize].iter().copied());
    Ok(Weights::normalised(vertices, bones.slot_count(), |_| None)?.0)
}

fn normalised(bound: &[Bound], bones: &BoneDistances) -> Result<Weights, AssetError> {
    Ok(Weights::normalised(bound.iter().map(|v| v.iter().copied()), bones.slot_count(), |_| None)?.0)
}

/// Moves the weights of each point towards the mean of its neighbours', some times; largest first afterwards. `places`
/// are where points are and how far the nearest bone is, about the limb's radius: neighbours farther apart than that
/// count less, or a coarse skin would be smoothed from one limb to the next.
fn smooth(points: &mut Vec<Bound>, places: &[(Vec3, f32)], triangles: &[[u32; 3]], passes: usize) {
    let mut edges: Vec<[u32; 2]> =
        triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, a], [b, c], [c, b], [c, a], [a, c]]).collect();
    edges.sort_unstable();
    edges.dedup();
    for _ in 0..passes {
        *points = parallel::map(points.len(), |point| {
            let from = edges.partition_point(|e| (e[0] as usize) < point);
            let around = edges[from..].iter().take_while(|e| e[0] as usize == point);
            let count = around.clone().count();
            if count == 0 {
                return points[point].clone();
            }
            let mut sums: Bound = Vec::with_capacity(2 * KEEP);
            let mut add = |bound: &Bound, share: f32| {
                for &(slot, weight) in bound {
                    match sums.iter_mut().find(|s| s.0 == slot) {
                        Some(sum) => sum.1 += weight * share,
                        None => sums.push((slot, weight * share)),
                    }
                }
            };
            let mut own = 1.0;
            for other in around.map(|e| e[1] as usize) {
                let (here, there) = (places[point], places[other]);
                let length = here.0.distance(there.0).max(f32::MIN_POSITIVE);
                let share = SHARE / count as f32 * ((here.1 + there.1) / (2.0 * length)).min(1.0);
                add(&points[other], share);
                own -= share;
            }
            add(&points[point], own);
            sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            sums.truncate(KEEP);
            sums
        });
    }
}
