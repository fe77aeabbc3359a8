//! Curves as SVG files.

use anyhow::{Result, anyhow};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// A name, and points from left to right.
pub(crate) type Series = (String, Vec<(f64, f64)>);

/// What an axis says; the vertical one may be logarithmic.
pub(crate) struct Plot<'a> {
    pub(crate) title: &'a str,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    pub(crate) log_y: bool,
    pub(crate) series: Vec<Series>,
}

const SIZE: (u32, u32) = (760, 380);
/// Width of the column of names.
const NAMES: u32 = 210;

/// Colours that stay apart for most eyes.
const COLORS: [RGBColor; 8] = [
    RGBColor(0, 90, 181),
    RGBColor(220, 50, 32),
    RGBColor(0, 130, 90),
    RGBColor(150, 90, 190),
    RGBColor(200, 130, 0),
    RGBColor(90, 90, 90),
    RGBColor(60, 170, 210),
    RGBColor(180, 60, 120),
];

impl Plot<'_> {
    /// The SVG's text.
    pub(crate) fn svg(&self) -> Result<String> {
        let points = || self.series.iter().flat_map(|(_, points)| points.iter().copied());
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
        };
        let (left, right) = range(&mut points().map(|p| p.0));
        let (low, high) = range(&mut points().map(|p| p.1));
        if !(left < right && low <= high) {
            return Err(anyhow!("{}: nothing to draw", self.title));
        }
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
            root.fill(&WHITE)?;
            // Names stand beside the curves, never on them.
            let names = if self.series.len() > 1 { NAMES } else { 0 };
            let (left_side, right_side) = root.split_horizontally(SIZE.0 - names);
            for (index, (name, _)) in self.series.iter().enumerate().filter(|_| names > 0) {
                let y = 50 + 22 * index as i32;
                right_side.draw(&PathElement::new([(4, y), (24, y)], style(index)))?;
                right_side.draw(&Text::new(name.as_str(), (30, y - 6), ("sans-serif", 14)))?;
            }
            let mut builder = ChartBuilder::on(&left_side);
            builder
                .margin(12)
                .caption(self.title, ("sans-serif", 20))
                .x_label_area_size(42)
                .y_label_area_size(70);
            if self.log_y {
                let floor = points().map(|p| p.1).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
                let chart = builder.build_cartesian_2d(left..right, (floor * 0.8..high * 1.3).log_scale())?;
                self.draw(chart, floor)?;
            } else {
                let room = (high - low).max(1e-12) * 0.06;
                let chart = builder.build_cartesian_2d(left..right, low - room..high + room)?;
                self.draw(chart, f64::NEG_INFINITY)?;
            }
            root.present()?;
        }
        Ok(text)
    }

    fn draw<'b, Y>(
        &self,
        mut chart: ChartContext<'b, SVGBackend<'b>, Cartesian2d<RangedCoordf64, Y>>,
        floor: f64,
    ) -> Result<()>
    where
        Y: plotters::coord::ranged1d::Ranged<ValueType = f64>
            + ValueFormatter<f64>
            + AsRangedCoord<Value = f64>,
    {
        chart
            .configure_mesh()
            .x_desc(self.x)
            .y_desc(self.y)
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .label_style(("sans-serif", 14))
            .y_label_formatter(&|v| short(*v))
            .x_label_formatter(&|v| short(*v))
            .draw()?;
        for (index, (_, points)) in self.series.iter().enumerate() {
            chart
                .draw_series(LineSeries::new(points.iter().map(|&(x, y)| (x, y.max(floor))), style(index)))?;
        }
        Ok(())
    }
}

fn style(index: usize) -> ShapeStyle {
    COLORS[index % COLORS.len()].stroke_width(2)
}

/// As few digits as tell it.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if size >= 1000.0 {
        format!("{value:.0}")
    } else if size >= 0.01 {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.1e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_lie_within_the_picture() {
        for log_y in [false, true] {
            let series = vec![
                ("a".into(), vec![(0.0, 1e-3), (1.0, 2.0)]),
                ("b & c".into(), vec![(0.0, 0.5), (2.0, 1.0)]),
            ];
            let text = Plot { title: "t", x: "x", y: "y", log_y, series }.svg().expect("drawn");
            assert!(text.starts_with("<svg") && text.contains("b &amp; c"), "{text}");
            let lines = text
                .split("<polyline")
                .skip(1)
                .filter_map(|l| l.split("points=\"").nth(1)?.split('"').next());
            let curves: Vec<&str> = lines.filter(|l| l.split_whitespace().count() == 2).collect();
            assert!(curves.len() >= 2, "{text}");
            for number in
                curves.iter().flat_map(|l| l.split([' ', ','])).filter_map(|n| n.parse::<f64>().ok())
            {
                assert!((0.0..=f64::from(SIZE.0)).contains(&number), "{number}");
            }
        }
    }

    #[test]
    fn nothing_to_draw_is_an_error() {
        let plot = Plot { title: "t", x: "x", y: "y", log_y: false, series: vec![("a".into(), Vec::new())] };
        assert!(plot.svg().is_err());
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 0.5, 12.25, 1234.5, 1e-4].map(short);
        assert_eq!(shown, ["0", "0.5", "12.25", "1234", "1.0e-4"]);
    }
}
