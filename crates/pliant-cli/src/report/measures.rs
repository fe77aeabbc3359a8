//! What methods are compared by: the rows of a table, and what makes a frame worth a look.

use super::comparison::{Moment, WorstBy};
use super::page::short;
use super::{Frame, Report};

/// Which of two values is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    Less,
    More,
    /// Ratios: as far below as above.
    NearOne,
    /// Other, not worse: flesh that swings has more energy, and each solver a residual of its own.
    Neither,
}

impl Better {
    /// The less the better; none where nothing is.
    fn score(self, value: f64) -> Option<f64> {
        match self {
            Self::Less => Some(value),
            Self::More => Some(-value),
            Self::NearOne => Some(libm::log(value.max(0.0)).abs()),
            Self::Neither => None,
        }
    }

    /// Which values are the best, as far as people see them; none where there is nothing to choose.
    pub(super) fn best(self, values: &[Option<f64>]) -> Vec<bool> {
        let none = vec![false; values.len()];
        let present = || values.iter().flatten().filter(|v| v.is_finite());
        let scored = present().filter_map(|&v| Some((self.score(v)?, v)));
        let Some((_, best)) = scored.min_by(|a, b| a.0.total_cmp(&b.0)) else { return none };
        let best = short(best);
        if present().all(|&v| short(v) == best) {
            return none;
        }
        values.iter().map(|v| v.is_some_and(|v| short(v) == best)).collect()
    }
}

/// A row of the table: a measure of a whole clip.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) better: Better,
    pub(super) value: fn(&Report) -> Option<f64>,
}

const fn row(name: &'static str, better: Better, value: fn(&Report) -> Option<f64>) -> Row {
    Row { name, better, value }
}

/// The table, in parts.
pub(super) const TABLE: [(&str, &[Row]); 4] = [
    (
        "Shape",
        &[
            row("Volume error, most (%)", Better::Less, |r| r.volume_error_percent.map(|v| v.max)),
            row("Volume error, mean (%)", Better::Less, |r| r.volume_error_percent.map(|v| v.mean)),
            row("Volume error before overlaps are parted, most (%)", Better::Neither, |r| {
                r.volume_error_before_overlap_percent.map(|v| v.max)
            }),
            row("Edge stretch, most (length / rest)", Better::Less, |r| r.edge_stretch.map(|s| s.max)),
            row("Edge stretch, 99 of 100 edges", Better::Less, |r| r.edge_stretch.map(|s| s.p99)),
            row("Triangle area / rest, smallest", Better::NearOne, |r| r.area_ratio.map(|a| a.min)),
            row("Triangle area / rest, largest", Better::NearOne, |r| r.area_ratio.map(|a| a.max)),
            row("Joint section / rest, smallest", Better::NearOne, |r| r.joint_section_min),
            row("Joint section / rest, largest", Better::NearOne, |r| r.joint_section_max),
            row("Self-intersections near joints, most", Better::Less, |r| {
                r.self_intersections_max.map(|c| c.adjacent as f64)
            }),
            row("Self-intersections elsewhere, most", Better::Less, |r| {
                r.self_intersections_max.map(|c| c.other as f64)
            }),
        ],
    ),
    (
        "Body",
        &[
            row("Tet volume error, most (%)", Better::Less, |r| r.tet_volume_error_percent.map(|v| v.max)),
            row("Tet volume error, mean (%)", Better::Less, |r| r.tet_volume_error_percent.map(|v| v.mean)),
            row("Inverted tets, most", Better::Less, |r| r.inverted_tets_max.map(|n| n as f64)),
            row("Smallest det F", Better::More, |r| r.min_det_f),
            row("Mean residual", Better::Neither, |r| r.residual_mean),
            row("Flagged frames", Better::Less, |r| Some(r.flagged_frames.len() as f64)),
        ],
    ),
    (
        "Motion",
        &[
            row("Kinetic energy per unit mass, most", Better::Neither, |r| r.kinetic_energy_max),
            row("of it against plain skinning", Better::Neither, |r| r.jiggle_energy_max),
            row("Kinetic energy of the tets, most", Better::Neither, |r| r.tet_kinetic_energy_max),
            row("Farthest from plain skinning (% of the diagonal)", Better::Neither, |r| {
                r.lbs_distance_max.map(|d| 100.0 * d)
            }),
        ],
    ),
    (
        "Time (ms)",
        &[
            row("Preparation", Better::Less, |r| Some(r.prepare_ms)),
            row("Up to the first frame", Better::Less, |r| Some(r.preroll_ms).filter(|ms| *ms > 0.0)),
            row("Per frame", Better::Less, |r| Some(r.ms_per_frame.total)),
            row("of it skinning", Better::Less, |r| r.ms_per_frame.skin),
            row("of it solving", Better::Less, |r| r.ms_per_frame.solve),
            row("of it embedding", Better::Less, |r| r.ms_per_frame.embed),
            row("of it bringing back detail", Better::Less, |r| r.ms_per_frame.filter),
            row("of it parting overlaps", Better::Less, |r| r.ms_per_frame.overlap),
        ],
    ),
];

/// What the worst frame is looked for by.
pub(crate) struct Measure {
    pub(crate) name: &'static str,
    /// What its worst frame has.
    pub(crate) most: &'static str,
    /// The more the worse; nothing is wrong at 0.
    badness: fn(&Frame) -> Option<f64>,
    /// The value as people read it.
    text: fn(&Frame) -> Option<String>,
}

fn volume_error(f: &Frame) -> Option<f64> {
    f.volume_error_percent.or(f.tet_volume_error_percent)
}

fn crossings(f: &Frame) -> Option<usize> {
    f.self_intersections.map(|c| c.adjacent + c.other)
}

/// All of them.
pub(crate) const MEASURES: [Measure; 8] = [
    Measure {
        name: "volume error",
        most: "the largest volume error",
        badness: volume_error,
        text: |f| Some(format!("volume error {} %", short(volume_error(f)?))),
    },
    Measure {
        name: "edge stretch",
        most: "the most stretched edge",
        badness: |f| f.edge_stretch.map(|s| s.max - 1.0),
        text: |f| Some(format!("stretch {}", short(f.edge_stretch?.max))),
    },
    Measure {
        name: "area ratio",
        most: "the area farthest from rest",
        badness: |f| f.area_ratio.map(|a| (-libm::log(a.min.max(0.0))).max(libm::log(a.max))),
        text: |f| f.area_ratio.map(|a| format!("areas {} to {}", short(a.min), short(a.max))),
    },
    Measure {
        name: "joint section",
        most: "the smallest joint section",
        badness: |f| f.joint_section_min.map(|s| 1.0 - s),
        text: |f| Some(format!("smallest section {}", short(f.joint_section_min?))),
    },
    Measure {
        name: "self-intersections",
        most: "the most self-intersections",
        badness: |f| crossings(f).map(|n| n as f64),
        text: |f| Some(format!("{} self-intersections", crossings(f)?)),
    },
    Measure {
        name: "inverted tets",
        most: "the most inverted tets",
        badness: |f| f.inverted_tets.map(|n| n as f64),
        text: |f| Some(format!("{} inverted tets", f.inverted_tets?)),
    },
    Measure {
        name: "kinetic energy",
        most: "the most kinetic energy",
        badness: |f| f.kinetic_energy,
        text: |f| Some(format!("kinetic energy {}", short(f.kinetic_energy?))),
    },
    Measure {
        name: "residual",
        most: "the largest residual",
        badness: |f| f.residual,
        text: |f| Some(format!("residual {}", short(f.residual?))),
    },
];

impl Measure {
    /// The measure of that name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        MEASURES.iter().find(|m| m.name == name)
    }

    /// The frame, and the report, in which the worst of all methods is worst; none where nothing is wrong anywhere.
    fn worst<'r>(&self, reports: &'r [Report]) -> Option<(usize, &'r Report)> {
        let frames = reports.iter().flat_map(|r| r.per_frame.iter().map(move |f| (r, f)));
        let bad = frames.filter_map(|(r, f)| Some(((self.badness)(f).filter(|b| *b > 0.0)?, f.frame, r)));
        // Of equals the first, so that the same moment is found whatever the order of methods is.
        let worst = bad.reduce(|a, b| if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a })?;
        Some((worst.1, worst.2))
    }

    /// The moment in which the worst of all methods is worst.
    pub(crate) fn moment(&self, reports: &[Report]) -> Option<Moment> {
        let (frame, report) = self.worst(reports)?;
        let worst = WorstBy { measure: self.name, method: report.method.clone() };
        Some(Moment { frame, time: *report.times.get(frame)?, worst: vec![worst] })
    }

    /// What a report says of a frame.
    pub(super) fn said(&self, report: &Report, frame: usize) -> Option<String> {
        report.per_frame.get(frame).and_then(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_what_people_see_as_such() {
        let best = |better: Better, values: &[f64]| {
            better.best(&values.iter().map(|&v| Some(v)).collect::<Vec<_>>())
        };
        assert_eq!(best(Better::Less, &[2.0, 1.0, 3.0]), [false, true, false]);
        assert_eq!(best(Better::More, &[2.0, 1.0, 3.0]), [false, false, true]);
        assert_eq!(best(Better::NearOne, &[0.4, 0.8, 1.3, 0.0]), [false, true, false, false]);
        assert_eq!(best(Better::Neither, &[2.0, 1.0]), [false, false]);
        // Equal to all digits that are shown.
        assert_eq!(best(Better::Less, &[1.0, 1.000_001, 2.0]), [true, true, false]);
        assert_eq!(best(Better::Less, &[1.0, 1.0]), [false, false]);
        assert_eq!(
            Better::Less.best(&[Some(f64::NAN), Some(3.0), None, Some(4.0)]),
            [false, true, false, false]
        );
    }
}
