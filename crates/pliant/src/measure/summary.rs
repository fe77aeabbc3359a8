use super::tets::TetJudge;
use super::{Judge, VolumeSource};
use crate::body::Node;
use crate::rig::Pose;
use glam::{DVec3, Vec3};

/// The largest of a clip's frames, and their mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaxMean {
    /// Worst frame.
    pub max: f64,
    /// Mean of all frames that have the value.
    pub mean: f64,
}

/// Edge lengths over reference lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// Longest.
    pub max: f64,
    /// 99 of 100 edges of a frame are shorter; of a clip, that of the frame where it is largest.
    pub p99: f64,
}

/// Smallest and largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Range {
    /// Of some values; none of none.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        values.fold(None, |range, v| {
            let r: Self = range.unwrap_or(Self { min: v, max: v });
            Some(Self { min: r.min.min(v), max: r.max.max(v) })
        })
    }
}

/// Cross-sections around one joint over their reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointSection {
    /// The joint.
    pub joint: u32,
    /// Smallest: below one where the limb collapses or twists shut.
    pub min: f64,
    /// Largest: above one where it bulges.
    pub max: f64,
}

/// Pairs of triangles that cross and do not touch at rest. Pairs that share a point, or have corners at one place at
/// rest, are never counted: they always meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Crossings {
    /// Pairs moved mostly by the same bone or by two that share a joint: the crease of an elbow.
    pub adjacent: usize,
    /// All others: an arm in the belly.
    pub other: usize,
    /// There may be more: the skin was so tangled that the count was broken off.
    pub capped: bool,
}

/// One frame. What does not apply is `None`. The last ones are for whoever knows them to fill in.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FrameMeasures {
    /// Vertices with no finite position; where there are any nothing else is measured.
    pub non_finite: usize,
    /// Of the skin; of the tet body where the skin is open.
    pub volume_error_percent: Option<f64>,
    /// Length over reference.
    pub edge_stretch: Option<Stretch>,
    /// Triangle area over reference.
    pub area_ratio: Option<Range>,
    /// Per joint that has any slice.
    pub sections: Vec<JointSection>,
    /// Crossing triangles.
    pub self_intersections: Option<Crossings>,
    /// Largest distance of a vertex from its place by linear blend skinning, over the character's diagonal.
    pub lbs_distance: Option<f64>,
    /// Of the skin, per unit of mass, against the frame before.
    pub kinetic_energy: Option<f64>,
    /// As the kinetic energy, but of the skin's motion against its place by linear blend skinning.
    pub jiggle_energy: Option<f64>,
    /// Of the tet body's total.
    pub tet_volume_error_percent: Option<f64>,
    /// Tets turned inside out.
    pub inverted_tets: Option<usize>,
    /// Smallest determinant of a tet's deformation gradient.
    pub min_det_f: Option<f64>,
    /// Of the tet body's nodes, per unit of mass, against the frame before.
    pub tet_kinetic_energy: Option<f64>,
    /// Of the skin, before overlaps were repaired.
    pub volume_error_before_overlap_percent: Option<f64>,
    /// Vertices that the repair of overlaps has moved.
    pub overlap_vertices: Option<usize>,
    /// Mean constraint residual.
    pub residual: Option<f64>,
    /// Nodes that were held at their skinned places.
    pub held: usize,
}

impl FrameMeasures {
    /// Smallest and largest section of all joints.
    pub fn section(&self) -> Option<Range> {
        Range::of(self.sections.iter().flat_map(|s| [s.min, s.max]))
    }

    /// Whether the frame is not fit to be used: positions that are no numbers, tets inside out, or nodes held.
    pub fn flagged(&self) -> bool {
        self.non_finite > 0 || self.held > 0 || self.inverted_tets.is_some_and(|n| n > 0)
    }
}

/// Collects the frames of a clip, in order of time.
#[derive(Debug, Clone)]
pub struct Recorder<'a> {
    judge: &'a Judge,
    tets: Option<&'a TetJudge>,
    before: Before,
    times: Vec<f64>,
    frames: Vec<FrameMeasures>,
}

/// What is kept of the last frame, to tell velocities.
#[derive(Debug, Clone, Default)]
struct Before {
    positions: Vec<Vec3>,
    /// How far each welded point was from its place by linear blend skinning.
    offsets: Vec<DVec3>,
    nodes: Vec<Node>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(judge: &'a Judge, tets: Option<&'a TetJudge>) -> Self {
        Self { judge, tets, before: Before::default(), times: Vec::new(), frames: Vec::new() }
    }

    /// Measures a frame at `time` seconds, and gives what was measured to be added to. `nodes` are the tet body's, where
    /// there is one.
    pub fn frame(
        &mut self,
        time: f64,
        pose: &Pose,
        positions: &[Vec3],
        nodes: Option<&[Node]>,
    ) -> &mut FrameMeasures {
        let judge = self.judge;
        let (mut measures, offsets) = judge.frame_and_offsets(pose, positions);
        let seconds = self.times.last().map_or(0.0, |last| time - last);
        let before = &mut self.before;
        measures.kinetic_energy = judge.kinetic_energy(&before.positions, positions, seconds);
        measures.jiggle_energy = judge.energy_of(&before.offsets, &offsets, seconds);
        if let (Some(tets), Some(nodes)) = (self.tets, nodes) {
            if let Some(flesh) = tets.frame(pose, nodes) {
                measures.tet_volume_error_percent = flesh.volume_error_percent;
                measures.inverted_tets = Some(flesh.inverted);
                measures.min_det_f = flesh.min_det_f;
                if judge.volume_source().is_none() {
                    measures.volume_error_percent = flesh.volume_error_percent;
                }
            }
            measures.tet_kinetic_energy = tets.kinetic_energy(&before.nodes, nodes, seconds);
        }
        before.positions.clear();
        before.positions.extend_from_slice(positions);
        before.nodes.clear();
        before.nodes.extend_from_slice(nodes.unwrap_or_default());
        before.offsets = offsets;
        self.times.push(time);
        let at = self.frames.len();
        self.frames.push(measures);
        &mut self.frames[at]
    }

    /// The clip as a whole.
    pub fn finish(self) -> Summary {
        Summary::new(self.judge, self.times, self.frames)
    }
}

/// A clip. What does not apply is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Of the skin; of the tet body where the skin is open.
    pub volume_error_percent: Option<MaxMean>,
    /// Of the tet body.
    pub tet_volume_error_percent: Option<MaxMean>,
    /// Of the skin, before overlaps were repaired.
    pub volume_error_before_overlap_percent: Option<MaxMean>,
    /// Most vertices that the repair of overlaps has moved in a frame.
    pub overlap_vertices_max: Option<usize>,
    /// Where volume was measured.
    pub volume_source: Option<VolumeSource>,
    /// Most tets inside out in a frame.
    pub inverted_tets_max: Option<usize>,
    /// Smallest in any frame.
    pub min_det_f: Option<f64>,
    /// Largest in any frame.
    pub edge_stretch: Option<Stretch>,
    /// Over all frames.
    pub area_ratio: Option<Range>,
    /// Over all frames and joints.
    pub section: Option<Range>,
    /// Per joint, over all frames.
    pub sections: Vec<JointSection>,
    /// Most in a frame, each kind apart.
    pub self_intersections_max: Option<Crossings>,
    /// Largest distance from linear blend skinning in any frame, over the character's diagonal.
    pub lbs_distance_max: Option<f64>,
    /// Largest of any frame.
    pub kinetic_energy_max: Option<f64>,
    /// Largest of any frame.
    pub jiggle_energy_max: Option<f64>,
    /// Largest of any frame.
    pub tet_kinetic_energy_max: Option<f64>,
    /// Mean over frames.
    pub residual_mean: Option<f64>,
    /// Frames not fit to be used.
    pub flagged_frames: Vec<usize>,
    /// What could not be measured, and why.
    pub warnings: Vec<String>,
    /// Seconds, per frame.
    pub times: Vec<f64>,
    /// All frames.
    pub frames: Vec<FrameMeasures>,
}

impl Summary {
    fn new(judge: &Judge, times: Vec<f64>, frames: Vec<FrameMeasures>) -> Self {
        fn values<'f, T>(
            frames: &'f [FrameMeasures],
            value: impl Fn(&'f FrameMeasures) -> Option<T> + 'f,
        ) -> impl Iterator<Item = T> + 'f {
            frames.iter().filter_map(value)
        }
        let tets = max_mean(values(&frames, |f| f.tet_volume_error_percent));
        let ranges = |range: fn(&FrameMeasures) -> Option<Range>| {
            Range::of(values(&frames, range).flat_map(|r| [r.min, r.max]))
        };
        let mut warnings = judge.warnings().to_vec();
        let volume_source = judge.volume_source().or(tets.map(|_| VolumeSource::Tets));
        if volume_source == Some(VolumeSource::Tets) {
            warnings.push("volume errors are those of the tet body".to_owned());
        }
        let capped = values(&frames, |f| f.self_intersections).filter(|c| c.capped).count();
        if capped > 0 {
            warnings.push(format!(
                "self-intersections too many to count, so that there are more than said, in frames: {capped}"
            ));
        }
        let broken = frames.iter().filter(|f| f.non_finite > 0).count();
        if broken > 0 {
            warnings.push(format!(
                "positions that are not finite, so that nothing else is measured, in frames: {broken}"
            ));
        }
        Self {
            volume_error_percent: max_mean(values(&frames, |f| f.volume_error_percent)),
            volume_error_before_overlap_percent: max_mean(values(&frames, |f| {
                f.volume_error_before_overlap_percent
            })),
            overlap_vertices_max: values(&frames, |f| f.overlap_vertices).max(),
            volume_source,
            tet_volume_error_percent: tets,
            inverted_tets_max: values(&frames, |f| f.inverted_tets).max(),
            min_det_f: values(&frames, |f| f.min_det_f).reduce(f64::min),
            edge_stretch: values(&frames, |f| f.edge_stretch)
                .reduce(|a, b| Stretch { max: a.max.max(b.max), p99: a.p99.max(b.p99) }),
            area_ratio: ranges(|f| f.area_ratio),
            section: ranges(FrameMeasures::section),
            sections: sections(&frames),
            self_intersections_max: values(&frames, |f| f.self_intersections).reduce(|a, b| Crossings {
                adjacent: a.adjacent.max(b.adjacent),
                other: a.other.max(b.other),
                capped: a.capped | b.capped,
            }),
            lbs_distance_max: values(&frames, |f| f.lbs_distance).reduce(f64::max),
            kinetic_energy_max: values(&frames, |f| f.kinetic_energy).reduce(f64::max),
            jiggle_energy_max: values(&frames, |f| f.jiggle_energy).reduce(f64::max),
            tet_kinetic_energy_max: values(&frames, |f| f.tet_kinetic_energy).reduce(f64::max),
            residual_mean: max_mean(values(&frames, |f| f.residual)).map(|r| r.mean),
            flagged_frames: (0..frames.len()).filter(|&f| frames[f].flagged()).collect(),
            warnings,
            times,
            frames,
        }
    }
}

fn max_mean(values: impl Iterator<Item = f64>) -> Option<MaxMean> {
    let (count, sum, max) =
        values.fold((0usize, 0.0, f64::NEG_INFINITY), |(n, s, m), v| (n + 1, s + v, m.max(v)));
    (count > 0).then(|| MaxMean { max, mean: sum / count as f64 })
}

fn sections(frames: &[FrameMeasures]) -> Vec<JointSection> {
    let mut all: Vec<JointSection> = frames.iter().flat_map(|f| f.sections.iter().copied()).collect();
    all.sort_by_key(|s| s.joint);
    let joint = |group: &[JointSection]| {
        let fold = |a: JointSection, b: &JointSection| JointSection {
            min: a.min.min(b.min),
            max: a.max.max(b.max),
            ..a
        };
        group.iter().fold(group[0], fold)
    };
    all.chunk_by(|a, b| a.joint == b.joint).map(joint).collect()
}
