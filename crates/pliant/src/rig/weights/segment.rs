use super::{BoneDistances, Near, NearBones};
use crate::asset::{AssetError, Weights};
use crate::parallel;
use glam::Vec3;

/// How much of a bone, from either end, is bound to all that meet there; the middle is stiff. More is smoother and
/// loses more volume where a joint bends.
const END: f64 = 1.0 / 6.0;
/// How many joints a vertex near a bone's end is bound to at most.
const MEETING: usize = 3;

/// Weights by the nearest bone alone: a vertex beside its middle two thirds is bound to it; one beside an end equally
/// to the bones that meet there, at most the 3 nearest, bones that move with one joint counted once.
pub fn segment(positions: &[Vec3], bones: &BoneDistances, near: &NearBones) -> Result<Weights, AssetError> {
    if near.len() != positions.len() {
        let (expected, found) = (positions.len(), near.len());
        return Err(AssetError::Length { what: "points with near bones", expected, found });
    }
    // The slots of the bones that meet at each knot, each once.
    let knots = bones.bones().iter().flat_map(|(slot, bone)| bones.knots(bone).map(|k| (k, *slot)));
    let mut meeting: Vec<(u32, u16)> = knots.filter_map(|(knot, slot)| Some((knot?, slot))).collect();
    meeting.sort_unstable();
    meeting.dedup();
    let bound = parallel::map(positions.len(), |vertex| {
        let near = near.of(vertex);
        let Some(first) = near.first() else { return Vec::new() };
        let (_, bone) = bones.bones()[first.bone as usize];
        let way = bone.end - bone.start;
        // A bone of no length (a lone joint) is all middle.
        let along = (positions[vertex].as_dvec3() - bone.start).dot(way) / way.length_squared();
        let [start, end] = bones.knots(&bone);
        let knot = if along < END {
            start
        } else if along > 1.0 - END {
            end
        } else {
            None
        };
        let Some(knot) = knot else { return vec![(first.slot, 1.0)] };
        let from = meeting.partition_point(|m| m.0 < knot);
        let here = &meeting[from..meeting.partition_point(|m| m.0 <= knot)];
        let meets = |n: &&Near| here.binary_search(&(knot, n.slot)).is_ok();
        let nearest: Vec<u16> = near.iter().filter(meets).take(MEETING).map(|n| n.slot).collect();
        nearest.iter().map(|&slot| (slot, 1.0 / nearest.len() as f32)).collect()
    });
    Ok(Weights::normalised(bound.iter().map(|v| v.iter().copied()), bones.slot_count(), |_| None)?.0)
}
