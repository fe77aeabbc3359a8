//! Fibres that are set, as curves.

use super::check::SettingsError;
use super::settings::Fibre;
use crate::asset::{Curve, CurveError};
use glam::DVec3;

/// What curves have where nobody says: bends, but none that was not drawn.
const DEGREE: usize = 3;

impl Fibre {
    /// The curve of its points.
    pub(super) fn curve(&self) -> Result<Curve, SettingsError> {
        let points: Vec<DVec3> = self.points.iter().map(|&p| DVec3::from_array(p)).collect();
        let (weights, knots) = (self.weights.as_deref(), self.knots.as_deref());
        Self::curve_of(&points, self.degree, weights, knots).map_err(|error| {
            let (key, allowed) = match error {
                CurveError::Degree { .. } => ("degree", "leave it out for 3"),
                CurveError::WeightCount { .. } | CurveError::Weight { .. } => {
                    ("weights", "leave them out for 1 each")
                }
                CurveError::KnotCount { .. } | CurveError::Knot { .. } | CurveError::Torn { .. } => {
                    ("knots", "leave them out for even ones")
                }
                _ => ("points", "give two different ones or more, or a 'file' in their place"),
            };
            SettingsError::new(key, error.to_string(), allowed)
        })
    }

    /// A curve whose degree may be left open: then it is what the knots ask for, else 3, or less where there are fewer
    /// points.
    pub fn curve_of(
        points: &[DVec3],
        degree: Option<usize>,
        weights: Option<&[f64]>,
        knots: Option<&[f64]>,
    ) -> Result<Curve, CurveError> {
        let asked = knots.map(|knots| knots.len().saturating_sub(points.len() + 1));
        let usual = DEGREE.min(points.len().saturating_sub(1)).max(1);
        Curve::new(degree.or(asked).unwrap_or(usual), points, weights, knots)
    }

    /// Its curves, each with a name for people.
    pub(super) fn curves(&self) -> Result<Vec<(String, Curve)>, SettingsError> {
        match &self.file {
            None => Ok(vec![(self.name.clone(), self.curve()?)]),
            Some(file) if self.drawn.is_empty() => {
                Err(SettingsError::new("file", format!("'{file}' has not been read"), "give its curves"))
            }
            Some(file) => {
                let numbered = self.drawn.iter().enumerate();
                Ok(numbered
                    .map(|(i, (name, curve))| {
                        let name =
                            if name.is_empty() { format!("curve {i} of {file}") } else { name.clone() };
                        (name, curve.clone())
                    })
                    .collect())
            }
        }
    }
}
