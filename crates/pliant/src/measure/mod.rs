//! An independent judge of deformed skin: shares no kernel with the skinnings or the solver.
//!
//! A [`Judge`] is prepared once from a character and then looks at frames: the pose that was asked for and the skin
//! that came out. All is measured in f64 on the welded skin, against a *reference*: the rest shape with the pose's
//! morph weights (so that a blend shape is not counted as stretch), its lengths multiplied by the pose's joint scales
//! (areas by their square, volumes by their cube) where a clip scales joints. A [`Recorder`] collects the frames of a
//! clip into a [`Summary`].
//!
//! | measure | what it is |
//! | --- | --- |
//! | volume error | `abs(V / V0 - 1)` of all closed pieces together, signed volumes |
//! | edge stretch | length over reference; largest, and 99th percentile (interpolated) of a frame's edges |
//! | area ratio | triangle area over reference, smallest and largest |
//! | joint section | a rest slice around a joint carried along as material: vector area over reference |
//! | self-intersections | pairs of triangles that cross now and neither cross nor touch at rest |
//! | kinetic energy | half the mean squared velocity, by rest area, from the frame before |
//! | LBS distance | largest distance of a vertex from its place by linear blend skinning, over the diagonal |
//! | jiggle energy | as the kinetic energy, of the motion against linear blend skinning |
//!
//! A [`TetJudge`] does the same for the flesh inside, where there are tets: the error of their total volume, how many
//! are inside out, the smallest `det F`, and the kinetic energy of their nodes by volume.
//!
//! The clip's largest stretch, percentile, error, count and energy are those of its worst frame.

mod crossing;
mod field;
mod joints;
mod reference;
mod section;
mod summary;
mod tets;
mod topology;
mod triangle;

pub use summary::{Crossings, FrameMeasures, JointSection, MaxMean, Range, Recorder, Stretch, Summary};
pub use tets::{TetJudge, TetMeasures};

use crate::asset::Character;
use crate::parallel;
use crate::rig::Pose;
use crossing::Detector;
use field::Fans;
use glam::{DVec3, Vec3};
use reference::{Reference, RestShape};
use section::Loop;
use std::borrow::Cow;
use topology::Topology;

/// Where the volume of a report was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VolumeSource {
    /// The closed pieces of the skin.
    Skin,
    /// The tet body.
    Tets,
}

/// What to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Count crossing triangles: by far the dearest measure (on by default).
    pub self_intersections: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { self_intersections: true }
    }
}

/// Closed pieces must hold this share of the rest area for their volume to stand for the body's: the eyeballs of an
/// open body say nothing about its flesh.
const CLOSED_SHARE: f64 = 0.5;

/// Lengths below this fraction of the diagonal have no ratio: rounding of f32 positions alone is a tenth of it.
const LENGTH_FLOOR: f64 = 1e-6;

/// A judge prepared for one character.
#[derive(Debug, Clone)]
pub struct Judge {
    topology: Topology,
    rest: RestShape,
    reference: Reference,
    loops: Vec<Loop>,
    detector: Option<Detector>,
    fans: Fans,
    volume: bool,
    warnings: Vec<String>,
}

impl Judge {
    /// Prepares all that depends on the rest shape alone: edges, closed pieces, slices around joints, and which
    /// triangles touch already at rest.
    pub fn new(character: &Character, options: Options) -> Self {
        let topology = Topology::new(character);
        let rest = RestShape::new(character, &topology);
        let points = rest.points(&[]);
        let (loops, unsliced) = section::loops(character, &topology, &points, rest.diagonal);
        let reference = Reference::new(&topology, &loops, &points, None, rest.diagonal);
        let mut warnings = Vec::new();
        if unsliced > 0 {
            warnings
                .push(format!("the skin is too crowded to be sliced around all joints: {unsliced} left out"));
        }

        let closed = topology.closed_share(&reference.areas);
        // A shell thinner than the floor holds nothing.
        let hollow = LENGTH_FLOOR * rest.diagonal * rest.diagonal * rest.diagonal;
        let volume = closed >= CLOSED_SHARE && reference.total_volume() > hollow;
        if topology.open_edges > 0 {
            let then = if volume {
                format!("volume is that of the closed pieces ({})", topology.pieces.len())
            } else {
                "the skin's volume is not measured".to_owned()
            };
            warnings.push(format!(
                "the skin is open: open or unevenly wound edges: {}, in {} of {} pieces; {then}",
                topology.open_edges,
                topology.piece_count - topology.pieces.len(),
                topology.piece_count,
            ));
        } else if !volume && !topology.triangles.is_empty() {
            warnings.push("the skin encloses no volume: it is not measured".to_owned());
        }
        let detector = if options.self_intersections {
            let detector = Detector::new(character, &topology, &points, rest.diagonal);
            if detector.is_none() {
                warnings.push(
                    "too much of the skin touches itself at rest: self-intersections are not counted".into(),
                );
            }
            detector
        } else {
            None
        };
        let fans = Fans::new(character, &topology, &points, rest.diagonal);
        Self { topology, rest, reference, loops, detector, fans, volume, warnings }
    }

    /// What could not be measured, and why.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Where volume errors come from: the skin, or nothing that the skin's judge knows where it is open.
    pub fn volume_source(&self) -> Option<VolumeSource> {
        self.volume.then_some(VolumeSource::Skin)
    }

    /// Starts collecting the frames of a clip, with those of the tet body where there is a judge of it.
    pub fn record<'a>(&'a self, tets: Option<&'a TetJudge>) -> Recorder<'a> {
        Recorder::new(self, tets)
    }

    /// Measures one frame: the pose that was asked for, and a position for every vertex of the character's surface.
    /// Kinetic energy needs the frame before: see [`Recorder`]. Where positions are missing or not finite nothing else
    /// is measured.
    pub fn frame(&self, pose: &Pose, positions: &[Vec3]) -> FrameMeasures {
        self.frame_and_offsets(pose, positions).0
    }

    /// A frame, and how far each welded point is from its place by linear blend skinning (empty where positions are
    /// missing or not finite).
    fn frame_and_offsets(&self, pose: &Pose, positions: &[Vec3]) -> (FrameMeasures, Vec<DVec3>) {
        let mut measures = FrameMeasures { non_finite: self.non_finite(positions), ..Default::default() };
        if measures.non_finite > 0 {
            return (measures, Vec::new());
        }
        let points = self.topology.points(positions);
        let reference = self.reference(pose);
        measures.volume_error_percent = self.volume.then(|| self.volume_error(&reference, &points)).flatten();
        measures.edge_stretch = self.edge_stretch(&reference, &points);
        measures.area_ratio = self.area_ratio(&reference, &points);
        measures.sections = section::ratios(&self.loops, &reference.sections, &points);
        measures.self_intersections = self.detector.as_ref().map(|d| d.count(&points));
        let carried = self.rest.carriers.carried(pose, &self.rest.points(&pose.morph_weights));
        let offsets: Vec<DVec3> = points.iter().zip(carried).map(|(&p, lbs)| p - lbs).collect();
        let farthest = offsets.iter().map(|offset| offset.length()).fold(0.0, f64::max);
        measures.lbs_distance = Some(farthest / self.rest.diagonal).filter(|d| d.is_finite());
        (measures, offsets)
    }

    /// The volume error of a frame alone, in percent; none where the skin has no volume to measure.
    pub fn volume_error_percent(&self, pose: &Pose, positions: &[Vec3]) -> Option<f64> {
        if !self.volume || self.non_finite(positions) > 0 {
            return None;
        }
        self.volume_error(&self.reference(pose), &self.topology.points(positions))
    }

    /// Half the mean squared velocity between two frames (energy per unit of mass, each vertex by its share of the
    /// rest area); none where it is not a number.
    pub fn kinetic_energy(&self, before: &[Vec3], after: &[Vec3], seconds: f64) -> Option<f64> {
        if self.non_finite(before) + self.non_finite(after) > 0 {
            return None;
        }
        self.energy_of(&self.topology.points(before), &self.topology.points(after), seconds)
    }

    /// The kinetic energy of welded points.
    fn energy_of(&self, before: &[DVec3], after: &[DVec3], seconds: f64) -> Option<f64> {
        let masses = &self.rest.masses;
        if seconds <= 0.0 || before.len() != masses.len() || after.len() != masses.len() {
            return None;
        }
        let moved = before.iter().zip(after).zip(masses).map(|((b, a), mass)| mass * a.distance_squared(*b));
        let energy = 0.5 * moved.sum::<f64>() / (masses.iter().sum::<f64>() * seconds * seconds);
        energy.is_finite().then_some(energy)
    }

    /// How much each vertex's edges are stretched, for pictures: of all edges at the vertex the largest departure
    /// from the reference length, `length / reference - 1`: negative where squeezed.
    pub fn stretch(&self, pose: &Pose, positions: &[Vec3]) -> Vec<f32> {
        if self.non_finite(positions) > 0 {
            return vec![0.0; self.topology.point_of_vertex.len()];
        }
        let points = self.topology.points(positions);
        self.to_vertices(&field::stretch(&self.topology, &self.reference(pose), &points))
    }

    /// How much the flesh under each vertex has grown or shrunk, for pictures: the volume of the cone from the
    /// triangles around the vertex to the nearest point of its main bone, which that bone carries along rigidly,
    /// `volume / reference - 1`. It needs no closed skin. Where the bone sees the surface edge-on (flat sheets) it is
    /// the area that counts.
    pub fn volume_field(&self, pose: &Pose, positions: &[Vec3]) -> Vec<f32> {
        if self.non_finite(positions) > 0 {
            return vec![0.0; self.topology.point_of_vertex.len()];
        }
        let points = self.topology.points(positions);
        let rest = self.rest.points(&pose.morph_weights);
        let scales = self.rest.carriers.scales(pose);
        self.to_vertices(&self.fans.field(&self.topology.triangles, pose, &rest, scales.as_deref(), &points))
    }

    fn to_vertices(&self, of_points: &[f32]) -> Vec<f32> {
        self.topology.point_of_vertex.iter().map(|&p| of_points[p as usize]).collect()
    }

    /// How many vertices have no finite position.
    fn non_finite(&self, positions: &[Vec3]) -> usize {
        let expected = self.topology.point_of_vertex.len();
        let bad = positions.iter().take(expected).filter(|p| !p.is_finite()).count();
        bad + expected.saturating_sub(positions.len())
    }

    fn reference(&self, pose: &Pose) -> Cow<'_, Reference> {
        let scales = self.rest.carriers.scales(pose);
        if scales.is_none() && !self.rest.morphed(&pose.morph_weights) {
            return Cow::Borrowed(&self.reference);
        }
        let points = self.rest.points(&pose.morph_weights);
        let diagonal = self.rest.diagonal;
        Cow::Owned(Reference::new(&self.topology, &self.loops, &points, scales.as_deref(), diagonal))
    }

    fn volume_error(&self, reference: &Reference, points: &[DVec3]) -> Option<f64> {
        let origin = topology::centroid(points);
        let pieces = self.topology.pieces.iter().zip(&self.reference.volumes);
        // A piece modelled inside out adds to the body like the others.
        let now: f64 = pieces
            .map(|(piece, rest)| rest.signum() * self.topology.piece_volume(piece, points, origin))
            .sum();
        let error = 100.0 * (now / reference.signed_volume(&self.reference.volumes) - 1.0).abs();
        error.is_finite().then_some(error)
    }

    fn edge_stretch(&self, reference: &Reference, points: &[DVec3]) -> Option<Stretch> {
        const CHUNK: usize = 16 * 1024;
        let mut ratios = vec![0.0f64; self.topology.edges.len()];
        parallel::for_each_chunk_mut(&mut ratios, CHUNK, |chunk, ratios| {
            for (k, ratio) in ratios.iter_mut().enumerate() {
                let edge = chunk * CHUNK + k;
                let [a, b] = self.topology.edges[edge].map(|p| points[p as usize]);
                *ratio = a.distance(b) / reference.lengths[edge];
            }
        });
        // Edges of no reference length have none to compare with (their ratio is infinite or not a number).
        ratios.retain(|r| r.is_finite());
        let max = ratios.iter().copied().reduce(f64::max)?;
        Some(Stretch { max, p99: quantile(&mut ratios, 0.99)? })
    }

    fn area_ratio(&self, reference: &Reference, points: &[DVec3]) -> Option<Range> {
        let triangles = self.topology.triangles.iter().zip(&reference.areas);
        let ratios = triangles.map(|(t, rest)| triangle::area(t.map(|p| points[p as usize])) / rest);
        Range::of(ratios.filter(|r| r.is_finite()))
    }
}

/// The value that a share of `q` lies below, between neighbours in proportion.
fn quantile(values: &mut [f64], q: f64) -> Option<f64> {
    let rank = q * values.len().checked_sub(1)? as f64;
    let below = rank as usize;
    let (_, &mut low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let high = above.iter().copied().reduce(f64::min).unwrap_or(low);
    Some(low + (high - low) * (rank - below as f64))
}
