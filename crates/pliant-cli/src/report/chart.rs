//! Curves against time as inline SVG.

use super::page::{escape, short};
use std::fmt::Write as _;

/// A quantity of every frame.
pub(super) struct Series<'a> {
    pub(super) name: &'a str,
    pub(super) values: Vec<Option<f64>>,
}

/// A picture of some quantities against time.
pub(super) struct Chart<'a> {
    pub(super) title: &'static str,
    /// Of the vertical axis.
    pub(super) unit: &'static str,
    /// What it tells.
    pub(super) note: &'static str,
    pub(super) series: Vec<Series<'a>>,
    /// A value that the axis must hold; drawn as a line unless 0.
    pub(super) base: f64,
    /// Counts: no ticks between whole numbers.
    pub(super) whole: bool,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 270.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 46.0;
/// Above this many frames a curve keeps only the extremes of each stretch: no screen shows more.
const MOST_POINTS: usize = 1400;
/// Above this many frames there is no text to show under the pointer: it would make the file large.
const MOST_HINTS: usize = 600;

impl Chart<'_> {
    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.series.iter().flat_map(|s| s.values.iter().flatten().copied()).filter(|v| v.is_finite())
    }

    /// A figure, or nothing where nothing was measured.
    pub(super) fn svg(&self, id: usize, times: &[f64], flagged: &[usize]) -> Option<String> {
        self.values().next()?;
        let (low, high) = self.values().fold((self.base, self.base), |(l, h), v| (l.min(v), h.max(v)));
        let y = Axis::new(low, high, HEIGHT - BOTTOM, TOP, 5.0, self.whole);
        let first = times.first().copied().unwrap_or(0.0);
        let x = Axis::exact(first, times.last().copied().unwrap_or(first), LEFT, WIDTH - RIGHT, 8.0);

        let mut out = String::new();
        let _ = write!(
            out,
            "<figure><figcaption><b>{}</b> <span class=\"note\">{}</span>{}</figcaption>\
             <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"c{id}t c{id}d\">\
             <title id=\"c{id}t\">{}, {} against time</title><desc id=\"c{id}d\">{}</desc>",
            escape(self.title),
            escape(self.note),
            self.legend(),
            escape(self.title),
            escape(self.unit),
            escape(&self.describe(times)),
        );
        self.axes(&mut out, &x, &y);
        for &frame in flagged {
            if let Some(&t) = times.get(frame) {
                let at = x.at(t);
                let _ = write!(out, "<path class=\"flag\" d=\"M{at:.1} {TOP}V{:.1}\"/>", HEIGHT - BOTTOM);
            }
        }
        for (index, series) in self.series.iter().enumerate() {
            let _ = write!(out, "<g class=\"s{index}\">{}</g>", curve(&series.values, times, &x, &y));
        }
        if times.len() <= MOST_HINTS {
            self.hints(&mut out, times, &x);
        }
        out.push_str("</svg></figure>");
        Some(out)
    }

    fn legend(&self) -> String {
        if self.series.len() < 2 {
            return String::new();
        }
        let entry = |(k, s): (usize, &Series<'_>)| {
            format!(
                "<span class=\"key\"><svg width=\"26\" height=\"8\" aria-hidden=\"true\"><g class=\"s{k}\">\
                 <path d=\"M0 4H26\"/></g></svg> {}</span>",
                escape(s.name)
            )
        };
        format!(
            "<span class=\"legend\">{}</span>",
            self.series.iter().enumerate().map(entry).collect::<String>()
        )
    }

    /// For those who cannot see the curve.
    fn describe(&self, times: &[f64]) -> String {
        let mut text = String::new();
        for series in &self.series {
            let present = || series.values.iter().zip(times).filter_map(|(v, t)| v.map(|v| (v, *t)));
            let least = present().min_by(|a, b| a.0.total_cmp(&b.0));
            let most = present().max_by(|a, b| a.0.total_cmp(&b.0));
            if let (Some(least), Some(most)) = (least, most) {
                let _ = write!(
                    text,
                    "{}: smallest {} at {} s, largest {} at {} s. ",
                    series.name,
                    short(least.0),
                    short(least.1),
                    short(most.0),
                    short(most.1)
                );
            }
        }
        text
    }

    fn axes(&self, out: &mut String, x: &Axis, y: &Axis) {
        let floor = HEIGHT - BOTTOM;
        for (value, label) in y.ticks() {
            let at = y.at(value);
            let _ = write!(
                out,
                "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                WIDTH - RIGHT,
                LEFT - 7.0,
                at + 5.0
            );
        }
        for (value, label) in x.ticks() {
            let at = x.at(value);
            let _ = write!(
                out,
                "<path class=\"axis\" d=\"M{at:.1} {floor}v5\"/>\
                 <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
                floor + 20.0
            );
        }
        let middle = TOP + 0.5 * (floor - TOP);
        let _ = write!(
            out,
            "<path class=\"axis\" d=\"M{LEFT} {TOP}V{floor}H{}\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">time (s)</text>\
             <text transform=\"translate(15 {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            WIDTH - RIGHT,
            LEFT + 0.5 * (WIDTH - RIGHT - LEFT),
            HEIGHT - 8.0,
            escape(self.unit)
        );
        if self.base != 0.0 {
            let at = y.at(self.base);
            let _ = write!(out, "<path class=\"base\" d=\"M{LEFT} {at:.1}H{}\"/>", WIDTH - RIGHT);
        }
    }

    /// A strip per frame that names its values under the pointer.
    fn hints(&self, out: &mut String, times: &[f64], x: &Axis) {
        out.push_str("<g class=\"hint\">");
        for (frame, &time) in times.iter().enumerate() {
            let before =
                frame.checked_sub(1).and_then(|f| times.get(f)).map_or(LEFT, |&t| x.at(0.5 * (t + time)));
            let after = times.get(frame + 1).map_or(WIDTH - RIGHT, |&t| x.at(0.5 * (t + time)));
            let _ = write!(
                out,
                "<rect x=\"{before:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{}\"><title>frame {frame}, {} s",
                (after - before).max(0.0),
                HEIGHT - BOTTOM - TOP,
                short(time)
            );
            for series in &self.series {
                if let Some(Some(value)) = series.values.get(frame) {
                    let _ = write!(out, "\n{} {}", series.name, short(*value));
                }
            }
            out.push_str("</title></rect>");
        }
        out.push_str("</g>");
    }
}

/// Charts that were drawn, where any were.
pub(super) fn section(out: &mut String, drawn: &[String]) {
    if !drawn.is_empty() {
        let _ = write!(
            out,
            "<section aria-label=\"Curves\"><h2>Against time</h2><div class=\"charts\">{}</div></section>",
            drawn.concat()
        );
    }
}

/// The curve, broken where values are missing; a lone value is a dot.
fn curve(values: &[Option<f64>], times: &[f64], x: &Axis, y: &Axis) -> String {
    let mut out = String::new();
    let points: Vec<Option<(f64, f64)>> = values
        .iter()
        .zip(times)
        .map(|(v, &t)| v.filter(|v| v.is_finite()).map(|v| (x.at(t), y.at(v))))
        .collect();
    for run in points.chunk_by(|a, b| a.is_some() == b.is_some()) {
        let run: Vec<(f64, f64)> = thinned(run.iter().flatten().copied().collect());
        match run[..] {
            [] => {}
            [(x, y)] => {
                let _ = write!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>");
            }
            _ => {
                let line: Vec<String> = run.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
                let _ = write!(out, "<path d=\"M{}\"/>", line.join("L"));
            }
        }
    }
    out
}

/// The highest and lowest of each stretch, in order.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points;
    }
    let stretch = points.len().div_ceil(MOST_POINTS / 2);
    let extremes = |c: &[(f64, f64)]| {
        let by_height = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let mut ends: Vec<(f64, f64)> =
            c.iter().min_by(by_height).into_iter().chain(c.iter().max_by(by_height)).copied().collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends
    };
    points.chunks(stretch).flat_map(extremes).collect()
}

/// A scale from values to places, with ticks at round values.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    step: f64,
}

impl Axis {
    /// From a round value to a round value.
    fn new(low: f64, high: f64, from: f64, to: f64, ticks: f64, whole: bool) -> Self {
        let span = if high > low { high - low } else { low.abs().max(1.0) * 0.1 };
        let high = low + span;
        let step = round_step(span / ticks, whole);
        Self { low: (low / step).floor() * step, high: (high / step).ceil() * step, from, to, step }
    }

    /// From the first to the last value.
    fn exact(low: f64, high: f64, from: f64, to: f64, ticks: f64) -> Self {
        let (low, high) = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
        Self { low, high, from, to, step: round_step((high - low) / ticks, false) }
    }

    fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        let decimals = (0..12).find(|&d| {
            let scaled = self.step * 10f64.powi(d);
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        });
        let first = (self.low / self.step - 1e-6).ceil();
        let count = ((self.high - self.low) / self.step + 1e-6).floor().clamp(0.0, 20.0) as usize;
        let tick = |k: usize| {
            let value = (first + k as f64) * self.step;
            let label = match decimals {
                Some(d) if value.abs() < 1e6 => format!("{:.*}", d as usize, value + 0.0),
                _ => short(value),
            };
            (value, label)
        };
        (0..=count).map(tick).filter(|t| t.0 <= self.high + 1e-6 * self.step).collect()
    }
}

/// 1, 2 or 5 times a power of ten, at least `least`.
fn round_step(least: f64, whole: bool) -> f64 {
    let least = if least.is_finite() && least > 1e-300 { least } else { 1.0 };
    let power = 10f64.powi(libm::log10(least).floor().clamp(-300.0, 300.0) as i32);
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&s| s >= least * 0.999);
    let step = step.unwrap_or(10.0 * power);
    if whole { step.max(1.0) } else { step }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_hold_the_values() {
        for (low, high) in [(0.0, 3.7), (0.62, 1.04), (1.0, 1.0), (0.0, 0.0), (0.0, 1.3e-7), (0.0, 4.2e9)] {
            let axis = Axis::new(low, high, 0.0, 100.0, 5.0, false);
            let ticks = axis.ticks();
            assert!((2..=11).contains(&ticks.len()), "{low} {high}: {ticks:?}");
            assert!(ticks[0].0 <= low + 1e-12 && ticks[ticks.len() - 1].0 >= high * (1.0 - 1e-12));
            let labels: Vec<_> = ticks.iter().map(|t| &t.1).collect();
            assert!(labels.windows(2).all(|w| w[0] != w[1]), "{labels:?}");
        }
        let counts = Axis::new(0.0, 2.0, 0.0, 1.0, 5.0, true);
        assert_eq!(counts.ticks().iter().map(|t| t.1.as_str()).collect::<Vec<_>>(), ["0", "1", "2"]);
    }

    #[test]
    fn thinning_keeps_the_peak() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|k| (f64::from(k), f64::from(k % 7))).collect();
        points[4321].1 = 99.0;
        let thin = thinned(points);
        assert!(thin.len() <= MOST_POINTS + 2 && thin.contains(&(4321.0, 99.0)));
        assert!(thin.windows(2).all(|w| w[0].0 <= w[1].0));
    }

    #[test]
    fn gaps_break_the_curve() {
        let axis = Axis::exact(0.0, 4.0, 0.0, 4.0, 4.0);
        let values = [Some(1.0), Some(2.0), None, Some(3.0), Some(f64::NAN)];
        let svg = curve(&values, &[0.0, 1.0, 2.0, 3.0, 4.0], &axis, &axis);
        assert_eq!((svg.matches("<path").count(), svg.matches("<circle").count()), (1, 1));
        assert!(!svg.contains("NaN"));
    }
}
