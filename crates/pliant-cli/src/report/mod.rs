//! What a bake, or a comparison, has to say about itself: JSON for programs, HTML for people.

mod chart;
pub(crate) mod comparison;
mod html;
mod measures;
mod page;

pub(crate) use html::html;
pub(crate) use measures::{MEASURES, Measure};

use pliant::measure::{self, Summary, VolumeSource};
use pliant::method::Packing;
use pliant_kit::drive::Milliseconds;
use serde::Serialize;

/// A caption and a PNG.
pub(crate) type Captioned = (String, Vec<u8>);

/// A clip baked by a method. What does not apply is null.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    pub(crate) generator: String,
    pub(crate) character: String,
    pub(crate) clip: Option<String>,
    pub(crate) method: String,
    /// Where the skin weights come from.
    pub(crate) weights: &'static str,
    pub(crate) fps: Option<f64>,
    pub(crate) frames: usize,
    pub(crate) vertices: usize,
    pub(crate) triangles: usize,
    pub(crate) tets: Option<usize>,
    /// Where the body is filled with balls.
    pub(crate) balls: Option<Balls>,
    pub(crate) threads: usize,
    pub(crate) prepare_ms: f64,
    /// Playing the clip up to the first frame.
    pub(crate) preroll_ms: f64,
    /// Means over frames.
    pub(crate) ms_per_frame: Milliseconds,
    /// Where the clip was played as a cycle; the worst of several clips.
    #[serde(rename = "loop")]
    pub(crate) cycle: Option<Loop>,
    pub(crate) volume_error_percent: Option<MaxMean>,
    pub(crate) tet_volume_error_percent: Option<MaxMean>,
    pub(crate) volume_error_before_overlap_percent: Option<MaxMean>,
    /// Most vertices that the repair of overlaps has moved in a frame.
    pub(crate) overlap_vertices_max: Option<usize>,
    pub(crate) volume_source: Option<&'static str>,
    pub(crate) inverted_tets_max: Option<usize>,
    pub(crate) min_det_f: Option<f64>,
    /// Length over rest.
    pub(crate) edge_stretch: Option<Stretch>,
    pub(crate) area_ratio: Option<Range>,
    pub(crate) joint_section_min: Option<f64>,
    pub(crate) joint_section_max: Option<f64>,
    pub(crate) joint_sections: Vec<JointSection>,
    pub(crate) self_intersections_max: Option<Crossings>,
    /// Largest distance of a vertex from its place by linear blend skinning, over the character's diagonal.
    pub(crate) lbs_distance_max: Option<f64>,
    /// Of the skin, per unit of mass.
    pub(crate) kinetic_energy_max: Option<f64>,
    /// Of the skin's motion against linear blend skinning.
    pub(crate) jiggle_energy_max: Option<f64>,
    /// Of the tet body's nodes.
    pub(crate) tet_kinetic_energy_max: Option<f64>,
    pub(crate) residual_mean: Option<f64>,
    pub(crate) flagged_frames: Vec<usize>,
    pub(crate) warnings: Vec<String>,
    pub(crate) state_hash: String,
    /// Seconds, per frame.
    pub(crate) times: Vec<f64>,
    pub(crate) per_frame: Vec<Frame>,
}

/// One frame of a report.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Frame {
    pub(crate) frame: usize,
    /// The clip that it is of.
    pub(crate) clip: Option<String>,
    /// Seconds.
    pub(crate) time: f64,
    pub(crate) ms: Option<Milliseconds>,
    pub(crate) volume_error_percent: Option<f64>,
    pub(crate) tet_volume_error_percent: Option<f64>,
    pub(crate) volume_error_before_overlap_percent: Option<f64>,
    pub(crate) overlap_vertices: Option<usize>,
    pub(crate) inverted_tets: Option<usize>,
    pub(crate) min_det_f: Option<f64>,
    pub(crate) edge_stretch: Option<Stretch>,
    pub(crate) area_ratio: Option<Range>,
    pub(crate) joint_section_min: Option<f64>,
    pub(crate) joint_section_max: Option<f64>,
    pub(crate) self_intersections: Option<Crossings>,
    pub(crate) lbs_distance: Option<f64>,
    pub(crate) kinetic_energy: Option<f64>,
    pub(crate) jiggle_energy: Option<f64>,
    pub(crate) tet_kinetic_energy: Option<f64>,
    pub(crate) residual: Option<f64>,
    /// Nodes that could not be solved for.
    pub(crate) held_nodes: usize,
}

/// A clip played as a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Loop {
    /// Cycles played before the one that was written.
    pub(crate) cycles: usize,
    /// The most that anything moved from one cycle's start to the next one's, over the character's diagonal.
    pub(crate) closes_within: f64,
}

/// Balls that fill a body.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Balls {
    pub(crate) count: usize,
    pub(crate) springs: usize,
    /// Of the body's volume, within any of them.
    pub(crate) coverage_percent: f64,
    /// Mean distance of the skin's vertices from the nearest, over the character's diagonal.
    pub(crate) gap: f64,
}

impl Balls {
    pub(crate) fn new(packing: &Packing<'_>, diagonal: f64) -> Self {
        Self {
            count: packing.balls.balls().len(),
            springs: packing.springs.len(),
            coverage_percent: packing.balls.coverage() * 100.0,
            gap: packing.balls.gap() / diagonal,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct MaxMean {
    pub(crate) max: f64,
    pub(crate) mean: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Stretch {
    pub(crate) max: f64,
    pub(crate) p99: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Range {
    pub(crate) min: f64,
    pub(crate) max: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Crossings {
    pub(crate) adjacent: usize,
    pub(crate) other: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct JointSection {
    pub(crate) joint: String,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl From<measure::MaxMean> for MaxMean {
    fn from(m: measure::MaxMean) -> Self {
        Self { max: m.max, mean: m.mean }
    }
}

impl From<measure::Stretch> for Stretch {
    fn from(m: measure::Stretch) -> Self {
        Self { max: m.max, p99: m.p99 }
    }
}

impl From<measure::Range> for Range {
    fn from(m: measure::Range) -> Self {
        Self { min: m.min, max: m.max }
    }
}

impl From<measure::Crossings> for Crossings {
    fn from(m: measure::Crossings) -> Self {
        Self { adjacent: m.adjacent, other: m.other }
    }
}

/// What the judge does not know about a bake.
#[derive(Debug, Clone, Default)]
pub(crate) struct Run {
    pub(crate) character: String,
    pub(crate) clip: Option<String>,
    pub(crate) method: String,
    /// Where the skin weights come from.
    pub(crate) weights: &'static str,
    pub(crate) fps: Option<f64>,
    pub(crate) vertices: usize,
    pub(crate) triangles: usize,
    pub(crate) tets: Option<usize>,
    pub(crate) balls: Option<Balls>,
    pub(crate) threads: usize,
    pub(crate) prepare_ms: f64,
    pub(crate) preroll_ms: f64,
    pub(crate) cycle: Option<Loop>,
    /// The clips one after the other, each with its number of frames.
    pub(crate) takes: Vec<(String, usize)>,
    /// Per frame; may be shorter than the clip.
    pub(crate) ms: Vec<Milliseconds>,
    /// Names by joint.
    pub(crate) joint_names: Vec<String>,
    /// Said before those of the judge.
    pub(crate) warnings: Vec<String>,
    /// From [`pliant_kit::hash::StateHash::hex`].
    pub(crate) state_hash: String,
}

impl Report {
    /// The report of a run that was judged.
    pub(crate) fn new(run: Run, summary: &Summary) -> Self {
        let joint_name = |joint: u32| {
            let given = run.joint_names.get(joint as usize).filter(|n| !n.is_empty());
            given.cloned().unwrap_or_else(|| format!("joint {joint}"))
        };
        let sections = summary.sections.iter();
        let joint_sections =
            sections.map(|s| JointSection { joint: joint_name(s.joint), min: s.min, max: s.max }).collect();
        let mut clips = run.takes.iter().flat_map(|(name, frames)| std::iter::repeat_n(name, *frames));
        let frames = summary.frames.iter().zip(&summary.times).enumerate();
        let per_frame = frames.map(|(frame, (m, &time))| Frame {
            frame,
            clip: clips.next().cloned(),
            time,
            ms: run.ms.get(frame).copied(),
            volume_error_percent: m.volume_error_percent,
            tet_volume_error_percent: m.tet_volume_error_percent,
            volume_error_before_overlap_percent: m.volume_error_before_overlap_percent,
            overlap_vertices: m.overlap_vertices,
            inverted_tets: m.inverted_tets,
            min_det_f: m.min_det_f,
            edge_stretch: m.edge_stretch.map(Into::into),
            area_ratio: m.area_ratio.map(Into::into),
            joint_section_min: m.section().map(|s| s.min),
            joint_section_max: m.section().map(|s| s.max),
            self_intersections: m.self_intersections.map(Into::into),
            lbs_distance: m.lbs_distance,
            kinetic_energy: m.kinetic_energy,
            jiggle_energy: m.jiggle_energy,
            tet_kinetic_energy: m.tet_kinetic_energy,
            residual: m.residual,
            held_nodes: m.held,
        });
        Self {
            generator: concat!("pliant ", env!("CARGO_PKG_VERSION")).to_owned(),
            frames: summary.frames.len(),
            times: summary.times.clone(),
            per_frame: per_frame.collect(),
            joint_sections,
            character: run.character,
            clip: run.clip,
            method: run.method,
            weights: run.weights,
            fps: run.fps,
            vertices: run.vertices,
            triangles: run.triangles,
            tets: run.tets,
            balls: run.balls,
            threads: run.threads,
            prepare_ms: run.prepare_ms,
            preroll_ms: run.preroll_ms,
            cycle: run.cycle,
            ms_per_frame: Milliseconds::mean(&run.ms),
            volume_error_percent: summary.volume_error_percent.map(Into::into),
            tet_volume_error_percent: summary.tet_volume_error_percent.map(Into::into),
            volume_error_before_overlap_percent: summary.volume_error_before_overlap_percent.map(Into::into),
            overlap_vertices_max: summary.overlap_vertices_max,
            volume_source: summary.volume_source.map(|s| match s {
                VolumeSource::Skin => "skin",
                VolumeSource::Tets => "tets",
            }),
            inverted_tets_max: summary.inverted_tets_max,
            min_det_f: summary.min_det_f,
            edge_stretch: summary.edge_stretch.map(Into::into),
            area_ratio: summary.area_ratio.map(Into::into),
            joint_section_min: summary.section.map(|s| s.min),
            joint_section_max: summary.section.map(|s| s.max),
            self_intersections_max: summary.self_intersections_max.map(Into::into),
            lbs_distance_max: summary.lbs_distance_max,
            kinetic_energy_max: summary.kinetic_energy_max,
            jiggle_energy_max: summary.jiggle_energy_max,
            tet_kinetic_energy_max: summary.tet_kinetic_energy_max,
            residual_mean: summary.residual_mean,
            flagged_frames: summary.flagged_frames.clone(),
            warnings: run.warnings.into_iter().chain(summary.warnings.iter().cloned()).collect(),
            state_hash: run.state_hash,
        }
    }

    /// As indented JSON.
    pub(crate) fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}

#[cfg(test)]
mod tests;
