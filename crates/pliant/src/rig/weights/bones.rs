use crate::asset::{AssetError, Bone, Skeleton};
use crate::parallel;
use glam::{DVec3, Vec3};

/// Bones shorter than this, over the character's size, have no direction and are passed over when distances are
/// measured: the bones that meet there stand for them.
const SHORTEST_BONE: f64 = 1e-6;
/// Distances below this, over the character's size, count as this: a vertex on a bone is not divided by zero.
const NEAREST: f64 = 1e-6;
/// How many slots [`NearBones`] remembers of each point, unless told otherwise. Weights use 4; the others are for
/// smoothing to choose from. More cost memory (12 bytes each for every vertex) and time.
pub const KEEP: usize = 8;

/// Diagonal of the box around some points and the bones of a skeleton; 0 where there are none.
pub fn rest_size(positions: &[Vec3], skeleton: &Skeleton) -> f64 {
    let mut bounds: Option<(DVec3, DVec3)> = None;
    let mut add = |p: DVec3| {
        let (low, high) = bounds.unwrap_or((p, p));
        bounds = Some((low.min(p), high.max(p)));
    };
    positions.iter().for_each(|p| add(p.as_dvec3()));
    for bone in skeleton.bones() {
        add(bone.start);
        add(bone.end);
    }
    bounds.map_or(0.0, |(low, high)| low.distance(high))
}

/// The bones of each slot, ready to be measured to.
#[derive(Debug, Clone, PartialEq)]
pub struct BoneDistances {
    /// In order of slots.
    bones: Vec<(u16, Bone)>,
    /// For each joint the first of the joints at its place that only bones of no length lie between.
    knot_of_joint: Vec<u32>,
    slot_count: usize,
    smallest: f64,
}

impl BoneDistances {
    /// Takes the bones of a skeleton. `size` is the character's. Slots are those of [`super::slots`].
    pub fn new(skeleton: &Skeleton, size: f64) -> Result<Self, AssetError> {
        let mut slot_of_joint = Vec::with_capacity(skeleton.len());
        let mut count = 0usize;
        for joint in skeleton.joints() {
            slot_of_joint.push(count);
            count += usize::from(joint.deforms);
        }
        let limit = u16::MAX as usize + 1;
        if count > limit {
            return Err(AssetError::TooMany { what: "deforming joints", count, limit });
        }
        let all: Vec<_> =
            skeleton.bones().iter().map(|bone| (slot_of_joint[bone.joint as usize] as u16, *bone)).collect();
        let mut bones = all.clone();
        // A joint on its own, such as a foot that hangs on no leg, is a point that nothing else stands for.
        let joints = skeleton.joints();
        let is_lone = |bone: &Bone| {
            let above = joints[bone.joint as usize].parent;
            bone.end_joint.is_none() && above.is_none_or(|above| !joints[above as usize].deforms)
        };
        bones.retain(|(_, bone)| bone.start.distance(bone.end) > SHORTEST_BONE * size || is_lone(bone));
        let mut knot_of_joint: Vec<u32> = (0..skeleton.len() as u32).collect();
        for (_, bone) in all.iter().filter(|(_, b)| b.start.distance(b.end) <= SHORTEST_BONE * size) {
            if let Some(end) = bone.end_joint {
                knot_of_joint[end as usize] = knot_of_joint[bone.joint as usize];
            }
        }
        // Nothing of any length: the joints themselves are all there is to measure to.
        let bones = if bones.is_empty() { all } else { bones };
        if bones.is_empty() {
            return Err(AssetError::Empty { what: "deforming joints" });
        }
        let smallest = (NEAREST * size).max(f64::MIN_POSITIVE);
        Ok(Self { bones, knot_of_joint, slot_count: count, smallest })
    }

    /// Takes places in place of bones, a slot each. `size` is the character's.
    pub fn of_places(places: &[Vec3], size: f64) -> Result<Self, AssetError> {
        let (count, limit) = (places.len(), u16::MAX as usize + 1);
        if count == 0 {
            return Err(AssetError::Empty { what: "places" });
        }
        if count > limit {
            return Err(AssetError::TooMany { what: "places", count, limit });
        }
        let bone = |(joint, place): (u32, &Vec3)| {
            let start = place.as_dvec3();
            (joint as u16, Bone { joint, end_joint: None, start, end: start })
        };
        Ok(Self {
            bones: (0..).zip(places).map(bone).collect(),
            knot_of_joint: (0..count as u32).collect(),
            slot_count: count,
            smallest: (NEAREST * size).max(f64::MIN_POSITIVE),
        })
    }

    /// The bones that are measured to, each with its slot, in order of slots.
    pub fn bones(&self) -> &[(u16, Bone)] {
        &self.bones
    }

    /// How many slots there are, those without a bone to measure to included.
    pub fn slot_count(&self) -> usize {
        self.slot_count
    }

    /// Distances below this count as this.
    pub fn smallest(&self) -> f64 {
        self.smallest
    }

    /// Where a bone starts and ends, as the first of the joints at that place; bones that meet share one.
    pub fn knots(&self, bone: &Bone) -> [Option<u32>; 2] {
        [Some(bone.joint), bone.end_joint].map(|joint| joint.map(|j| self.knot_of_joint[j as usize]))
    }

    /// Distance from a point to the nearest bone of each slot that has one, by slot, into `out`.
    pub fn measure(&self, point: DVec3, out: &mut Vec<(f64, u16)>) {
        out.clear();
        for &(slot, bone) in &self.bones {
            let distance = bone.distance(point).max(self.smallest);
            match out.last_mut().filter(|last| last.1 == slot) {
                Some(last) => last.0 = last.0.min(distance),
                None => out.push((distance, slot)),
            }
        }
    }

    /// The slot whose bone is nearest; of equals the first.
    pub fn nearest(&self, point: DVec3) -> u16 {
        let mut found = Vec::new();
        self.measure(point, &mut found);
        found.iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |f| f.1)
    }
}

/// A bone near a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// How far it is.
    pub distance: f32,
    /// The bone, in [`BoneDistances::bones`].
    pub bone: u32,
    /// Its slot.
    pub slot: u16,
}

impl Near {
    const NONE: Self = Self { distance: f32::INFINITY, bone: u32::MAX, slot: u16::MAX };

    fn is_before(&self, other: &Self) -> bool {
        (self.distance, self.slot) < (other.distance, other.slot)
    }
}

/// For each of some points the slots whose bones are nearest, each once, by its nearest bone. However they were
/// measured: weights are made of these alone.
#[derive(Debug, Clone, PartialEq)]
pub struct NearBones {
    keep: usize,
    /// `keep` for each point, nearest first, of equals the lower slot; the rest [`Near::NONE`].
    entries: Vec<Near>,
}

impl NearBones {
    /// Nothing near any of `points` points yet; the nearest `keep` slots of each will be remembered.
    pub fn new(points: usize, keep: usize) -> Self {
        let keep = keep.max(1);
        Self { keep, entries: vec![Near::NONE; points * keep] }
    }

    /// Measures along straight lines.
    pub fn straight(positions: &[Vec3], bones: &BoneDistances) -> Self {
        let mut all = Self::new(positions.len(), KEEP);
        all.for_each_mut(|point, entries| straight(positions[point].as_dvec3(), bones, entries));
        all
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.entries.len() / self.keep
    }

    /// How many slots of a point are remembered at most.
    pub fn room(&self) -> usize {
        self.keep
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The nearest slots of a point, nearest first.
    pub fn of(&self, point: usize) -> &[Near] {
        let entries = &self.entries[point * self.keep..][..self.keep];
        &entries[..entries.partition_point(|e| e.distance.is_finite())]
    }

    /// Forgets all that is near a point but this.
    pub fn set_only(&mut self, point: usize, near: Near) {
        let entries = &mut self.entries[point * self.keep..][..self.keep];
        entries.fill(Near::NONE);
        entries[0] = near;
    }

    /// How far the farthest slot is that a point has room for: others beyond it will be forgotten.
    pub fn reach(&self, point: usize) -> f32 {
        self.entries[(point + 1) * self.keep - 1].distance
    }

    /// Calls `work` with each point and its entries, in any order.
    pub fn for_each_mut(&mut self, work: impl Fn(usize, &mut [Near]) + Sync + Send) {
        // Points by the thousand: a few distances each are too little for a task.
        const CHUNK: usize = 1024;
        let keep = self.keep;
        parallel::for_each_chunk_mut(&mut self.entries, CHUNK * keep, |chunk, entries| {
            let points = entries.chunks_exact_mut(keep).enumerate();
            points.for_each(|(i, entries)| work(chunk * CHUNK + i, entries));
        });
    }
}

/// Adds a bone to the entries of a point, if it is near enough.
pub fn add(entries: &mut [Near], near: Near) {
    // Where it is already, or the last: the one that makes room.
    let own = entries.iter().position(|e| e.slot == near.slot && e.distance.is_finite());
    let mut at = own.unwrap_or(entries.len() - 1);
    if !near.is_before(&entries[at]) {
        return;
    }
    while at > 0 && near.is_before(&entries[at - 1]) {
        entries[at] = entries[at - 1];
        at -= 1;
    }
    entries[at] = near;
}

/// Adds all bones along straight lines to the entries of a point.
pub fn straight(point: DVec3, bones: &BoneDistances, entries: &mut [Near]) {
    for (index, &(slot, bone)) in bones.bones.iter().enumerate() {
        let distance = bone.distance(point).max(bones.smallest) as f32;
        // Points as far apart as f32 reaches overflow; they are still somewhere.
        add(entries, Near { distance: distance.min(f32::MAX), bone: index as u32, slot });
    }
}
