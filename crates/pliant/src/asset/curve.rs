use glam::{DVec3, DVec4};
use thiserror::Error;

/// The highest degree. People draw with 3, rarely 5; far beyond, rounding eats the curve.
const MAX_DEGREE: usize = 16;
/// The most control points of one curve.
const MAX_POINTS: usize = 100_000;
/// The largest coordinate: its square and cube are far from where `f64` ends.
const MAX_COORDINATE: f64 = 1e18;
/// Weights from one over this to this. Beyond, one point swallows the others.
const MAX_WEIGHT: f64 = 1e9;

/// The most points that one curve is drawn with, however short the step.
const MAX_SAMPLES: f64 = 65_536.0;
/// Chords that the length of a span is guessed from, and that a bent span has at least.
const CHORDS: usize = 8;

/// Why numbers are no curve.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum CurveError {
    /// No degree that can be used.
    #[error("degree {degree} is out of range: 1 to {MAX_DEGREE} are allowed")]
    Degree {
        /// The degree.
        degree: usize,
    },
    /// Too few control points for the degree, or too many for anything.
    #[error("{count} points are {}: degree {degree} takes {} to {MAX_POINTS}", few(*count, *degree), degree + 1)]
    Points {
        /// How many there are.
        count: usize,
        /// The degree.
        degree: usize,
    },
    /// A coordinate that cannot be computed with.
    #[error("point {index} is not finite, or beyond {MAX_COORDINATE:e}")]
    Coordinate {
        /// Which point, from 0.
        index: usize,
    },
    /// Another number of weights than of points.
    #[error("{found} weights do not go with {expected} points")]
    WeightCount {
        /// How many there are.
        found: usize,
        /// How many points there are.
        expected: usize,
    },
    /// A weight that is none.
    #[error("weight {index} is {value}: {:e} to {MAX_WEIGHT:e} are allowed", 1.0 / MAX_WEIGHT)]
    Weight {
        /// Which one, from 0.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// Another number of knots than points and degree ask for.
    #[error("{found} knots do not go with {points} points of degree {degree}: {} are needed", points + degree + 1)]
    KnotCount {
        /// How many there are.
        found: usize,
        /// How many points there are.
        points: usize,
        /// The degree.
        degree: usize,
    },
    /// A knot that is not finite, too large, or lower than the one before.
    #[error("knot {index} is {value}: knots must be finite and must not fall")]
    Knot {
        /// Which one, from 0.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// So many equal knots that the curve is torn there.
    #[error("knot {index} is {value}, as are too many others: the curve is torn there")]
    Torn {
        /// Which one, from 0.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// The first and the last point of the domain are one, or all control points are.
    #[error("the curve has no length")]
    NoLength,
}

fn few(count: usize, degree: usize) -> &'static str {
    if count <= degree { "too few" } else { "too many" }
}

/// A NURBS curve: sound by construction, with a length.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    degree: usize,
    /// Control points times their weights, and the weights.
    points: Vec<DVec4>,
    /// As many as points, and one more than the degree besides.
    knots: Vec<f64>,
}

/// A place on a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Where it is.
    pub position: DVec3,
    /// Where the curve goes from there, of length one.
    pub tangent: DVec3,
}

impl Curve {
    /// A curve by control points. Weights are all 1 where not given; knots are spaced evenly and clamped, so that the
    /// curve starts at the first point and ends at the last. Knots are as many as points and degree and one together.
    pub fn new(
        degree: usize,
        points: &[DVec3],
        weights: Option<&[f64]>,
        knots: Option<&[f64]>,
    ) -> Result<Self, CurveError> {
        let count = points.len();
        if !(1..=MAX_DEGREE).contains(&degree) {
            return Err(CurveError::Degree { degree });
        }
        if !(degree + 1..=MAX_POINTS).contains(&count) {
            return Err(CurveError::Points { count, degree });
        }
        // NaN is below nothing.
        let usable = |p: &DVec3| p.abs().cmple(DVec3::splat(MAX_COORDINATE)).all();
        if let Some(index) = points.iter().position(|p| !usable(p)) {
            return Err(CurveError::Coordinate { index });
        }
        if points.iter().all(|p| *p == points[0]) {
            return Err(CurveError::NoLength);
        }
        if let Some(weights) = weights {
            if weights.len() != count {
                return Err(CurveError::WeightCount { found: weights.len(), expected: count });
            }
            let usable = 1.0 / MAX_WEIGHT..=MAX_WEIGHT;
            if let Some(index) = weights.iter().position(|w| !usable.contains(w)) {
                return Err(CurveError::Weight { index, value: weights[index] });
            }
        }
        let knots = match knots {
            Some(knots) => {
                check_knots(knots, count, degree)?;
                knots.to_vec()
            }
            None => {
                let spans = count - degree;
                let inner = (1..spans).map(|k| k as f64 / spans as f64);
                let ends = |at: f64| std::iter::repeat_n(at, degree + 1);
                ends(0.0).chain(inner).chain(ends(1.0)).collect()
            }
        };
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let points = points.iter().enumerate().map(|(i, p)| (*p * weight(i)).extend(weight(i))).collect();
        Ok(Self { degree, points, knots })
    }

    /// Straight from point to point.
    pub fn polyline(points: &[DVec3]) -> Result<Self, CurveError> {
        Self::new(1, points, None, None)
    }

    /// The degree.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// From and to which parameter it runs.
    pub fn domain(&self) -> [f64; 2] {
        [self.knots[self.degree], self.knots[self.points.len()]]
    }

    /// The place at a parameter; before the domain and beyond it, its ends.
    pub fn at(&self, parameter: f64) -> DVec3 {
        let [low, high] = self.domain();
        let parameter = parameter.max(low).min(high);
        // The span that the parameter starts or is in; the last one at the end.
        let last = self.knots.partition_point(|&k| k < high) - 1;
        let span = (self.knots.partition_point(|&k| k <= parameter) - 1).min(last);
        self.within(span, parameter).0
    }

    /// Place and derivative at a parameter of the span that starts at knot `span`: de Boor's algorithm on points times
    /// weights. Of its last two points the difference is the derivative.
    fn within(&self, span: usize, parameter: f64) -> (DVec3, DVec3) {
        let degree = self.degree;
        let mut points = [DVec4::ZERO; MAX_DEGREE + 1];
        points[..=degree].copy_from_slice(&self.points[span - degree..=span]);
        let mut slope = DVec4::ZERO;
        for level in 1..=degree {
            for i in (level..=degree).rev() {
                let (low, high) = (self.knots[span - degree + i], self.knots[span + 1 + i - level]);
                let share = (parameter - low) / (high - low);
                if level == degree {
                    slope = (points[i] - points[i - 1]) * (degree as f64 / (high - low));
                }
                points[i] = points[i - 1] * (1.0 - share) + points[i] * share;
            }
        }
        let whole = points[degree];
        let place = whole.truncate() / whole.w;
        (place, (slope.truncate() - place * slope.w) / whole.w)
    }

    /// The curve as a chain of points no farther than about `step` from one to the next, kinks and span ends among them.
    /// No two neighbours are at one place.
    pub fn drawn(&self, step: f64) -> Vec<CurvePoint> {
        let spans: Vec<usize> =
            (self.degree..self.points.len()).filter(|&s| self.knots[s] < self.knots[s + 1]).collect();
        let at = |span: usize, share: f64| {
            let [low, high] = [self.knots[span], self.knots[span + 1]];
            self.within(span, low * (1.0 - share) + high * share)
        };
        let lengths: Vec<f64> = spans
            .iter()
            .map(|&span| {
                let places: Vec<DVec3> = (0..=CHORDS).map(|i| at(span, i as f64 / CHORDS as f64).0).collect();
                places.windows(2).map(|p| p[0].distance(p[1])).sum()
            })
            .collect();
        let total: f64 = lengths.iter().sum();
        let step = step.max(total / MAX_SAMPLES).max(f64::MIN_POSITIVE);
        let mut all: Vec<(DVec3, DVec3)> = Vec::new();
        for (&span, length) in spans.iter().zip(&lengths) {
            let least = if self.degree == 1 { 1 } else { CHORDS };
            let count = ((length / step).min(MAX_SAMPLES) as usize + 1).max(least);
            for i in 0..=count {
                let (place, slope) = at(span, i as f64 / count as f64);
                let slope = slope.normalize_or_zero();
                match all.last_mut() {
                    // Where spans or doubled points meet, the way on is between the way in and the way out.
                    Some(last) if last.0.distance(place) <= 1e-9 * step.min(total) => {
                        last.1 = (last.1 + slope).try_normalize().unwrap_or(last.1);
                    }
                    _ => all.push((place, slope)),
                }
            }
        }
        let chord = |i: usize| all[(i + 1).min(all.len() - 1)].0 - all[i.saturating_sub(1)].0;
        let point = |i: usize| {
            let (position, slope) = all[i];
            // A cusp has no slope: the way from the point before to the point after.
            let tangent = if slope == DVec3::ZERO { chord(i).normalize_or(DVec3::X) } else { slope };
            CurvePoint { position, tangent }
        };
        (0..all.len()).map(point).collect()
    }
}

fn check_knots(knots: &[f64], points: usize, degree: usize) -> Result<(), CurveError> {
    if knots.len() != points + degree + 1 {
        return Err(CurveError::KnotCount { found: knots.len(), points, degree });
    }
    let falls = |i: usize| i > 0 && knots[i] < knots[i - 1];
    let usable = |k: f64| k.abs() <= MAX_COORDINATE;
    if let Some(index) = (0..knots.len()).find(|&i| !usable(knots[i]) || falls(i)) {
        return Err(CurveError::Knot { index, value: knots[index] });
    }
    let (low, high) = (knots[degree], knots[points]);
    if low >= high {
        return Err(CurveError::NoLength);
    }
    // Inside the domain as many equal knots as the degree are a kink; one more and there is a gap.
    let torn = (1..points).find(|&i| knots[i] > low && knots[i] < high && knots[i] == knots[i + degree]);
    torn.map_or(Ok(()), |index| Err(CurveError::Torn { index, value: knots[index] }))
}
