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

const SIZE: (u32, u32) = (720, 400);

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
            let mut builder = ChartBuilder::on(&root);
            builder
                .margin(12)
                .caption(self.title, ("sans-serif", 18))
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
            .light_line_style(WHITE)
            .y_label_formatter(&|v| short(*v))
            .x_label_formatter(&|v| short(*v))
            .draw()?;
        for (index, (name, points)) in self.series.iter().enumerate() {
            let style = COLORS[index % COLORS.len()].stroke_width(2);
            let drawn = points.iter().map(|&(x, y)| (x, y.max(floor)));
            chart
                .draw_series(LineSeries::new(drawn, style))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        }
        if self.series.len() > 1 {
            chart
                .configure_series_labels()
                .background_style(WHITE.mix(0.85))
                .border_style(RGBColor(200, 200, 200))
                .position(SeriesLabelPosition::UpperRight)
                .draw()?;
        }
        Ok(())
    }
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
