//! Several methods on one motion: JSON for programs, one page for people.

use super::chart::{self, Chart, Series};
use super::measures::{Better, TABLE};
use super::page::{self, escape, short};
use super::{Frame, Measure, Report};
use crate::picture::Legend;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// One motion by several methods.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Comparison {
    pub(crate) generator: String,
    pub(crate) character: String,
    pub(crate) clip: String,
    /// Where the skin weights come from.
    pub(crate) weights: &'static str,
    pub(crate) fps: f64,
    pub(crate) frames: usize,
    /// Seconds, per frame.
    pub(crate) times: Vec<f64>,
    pub(crate) vertices: usize,
    pub(crate) triangles: usize,
    pub(crate) threads: usize,
    /// By measure, the methods that are best.
    pub(crate) best: BTreeMap<&'static str, Vec<String>>,
    /// The frames that the page shows.
    pub(crate) shown: Vec<Moment>,
    /// Methods that are not compared.
    pub(crate) failed: Vec<Failed>,
    /// A report each, in the order asked for.
    pub(crate) methods: Vec<Report>,
}

/// A frame that the page shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Moment {
    pub(crate) frame: usize,
    /// Seconds.
    pub(crate) time: f64,
    /// What it is the worst by.
    pub(crate) worst: Vec<WorstBy>,
}

/// A measure, and the method that does worst by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct WorstBy {
    pub(crate) measure: &'static str,
    pub(crate) method: String,
}

/// A method that cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Failed {
    pub(crate) method: String,
    pub(crate) reason: String,
}

/// Pictures that are looked at together.
pub(crate) struct Strip {
    pub(crate) title: String,
    pub(crate) note: String,
    /// A name, what is said of it, and a PNG.
    pub(crate) pictures: Vec<(String, String, Vec<u8>)>,
    /// Of its colours.
    pub(crate) legend: Option<Legend>,
}

impl Comparison {
    /// Of methods that were judged on one motion: there must be one at least, or there is nothing to compare.
    pub(crate) fn new(methods: Vec<Report>, failed: Vec<Failed>, shown: Vec<Moment>) -> Option<Self> {
        let first = methods.first()?;
        let rows = TABLE.iter().flat_map(|(_, rows)| *rows);
        let best = rows.map(|row| {
            let values: Vec<_> = methods.iter().map(row.value).collect();
            let marks = row.better.best(&values).into_iter().zip(&methods);
            (row.name, marks.filter(|m| m.0).map(|m| m.1.method.clone()).collect())
        });
        Some(Self {
            generator: first.generator.clone(),
            character: first.character.clone(),
            clip: first.clip.clone().unwrap_or_default(),
            weights: first.weights,
            fps: first.fps.unwrap_or_default(),
            frames: first.frames,
            times: first.times.clone(),
            vertices: first.vertices,
            triangles: first.triangles,
            threads: first.threads,
            best: best.filter(|(_, names): &(_, Vec<String>)| !names.is_empty()).collect(),
            shown,
            failed,
            methods,
        })
    }

    /// As indented JSON.
    pub(crate) fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    /// What there is to say of a method at a moment: what that is shown for.
    pub(crate) fn said(report: &Report, moment: &Moment) -> String {
        let measures = moment.worst.iter().filter_map(|w| Measure::named(w.measure));
        measures.filter_map(|m| m.said(report, moment.frame)).collect::<Vec<_>>().join(", ")
    }

    /// One self-contained page.
    pub(crate) fn html(&self, strips: &[Strip]) -> String {
        let title = format!("{}, {}: methods compared", self.character, self.clip);
        let mut out = page::begin(&title, "comparison", &self.lead());
        self.problems(&mut out);
        page::warnings(&mut out, &self.warnings());
        self.table(&mut out);
        self.curves(&mut out);
        self.pictures(&mut out, strips);
        self.joints(&mut out);
        page::end(&mut out, &format!("{}. All numbers are in results.json.", escape(&self.generator)));
        out
    }

    fn lead(&self) -> String {
        format!(
            "{}; {} vertices, {} triangles, weights: {}, threads: {}.",
            page::extent(&self.times, Some(self.fps)),
            self.vertices,
            self.triangles,
            self.weights,
            self.threads
        )
    }

    fn problems(&self, out: &mut String) {
        for Failed { method, reason } in &self.failed {
            let _ = write!(
                out,
                "<p class=\"bad\" role=\"alert\">{} is not compared: {}</p>",
                escape(method),
                escape(reason)
            );
        }
        for report in self.methods.iter().filter(|r| !r.flagged_frames.is_empty()) {
            let (flagged, frames) = (report.flagged_frames.len(), report.frames);
            let _ = write!(
                out,
                "<p class=\"bad\" role=\"alert\">{}: flagged, {flagged} of {frames} frames</p>",
                escape(&report.method)
            );
        }
    }

    /// Each once, with the methods that it is about where that is not all of them.
    fn warnings(&self) -> Vec<String> {
        let mut said: Vec<(&String, Vec<&str>)> = Vec::new();
        for report in &self.methods {
            for warning in &report.warnings {
                match said.iter_mut().find(|(known, _)| *known == warning) {
                    Some((_, methods)) => methods.push(&report.method),
                    None => said.push((warning, vec![&report.method])),
                }
            }
        }
        let all = self.methods.len();
        let words = |(warning, methods): (&String, Vec<&str>)| match methods.len() {
            n if n >= all => warning.clone(),
            _ => format!("{}: {warning}", methods.join(", ")),
        };
        said.into_iter().map(words).collect()
    }

    /// A table with a column for every method.
    fn head(&self, out: &mut String, label: &str, first: &str) {
        let _ = write!(
            out,
            "<section aria-label=\"{label}\"><h2>{label}</h2><div class=\"wide\" tabindex=\"0\">\
             <table class=\"compared\"><thead><tr><th scope=\"col\">{first}</th>"
        );
        for report in &self.methods {
            let _ = write!(out, "<th scope=\"col\">{}</th>", escape(&report.method));
        }
        out.push_str("</tr></thead>");
    }

    fn table(&self, out: &mut String) {
        self.head(out, "Measures", "");
        for (part, rows) in TABLE {
            let rows: String = rows
                .iter()
                .filter_map(|row| {
                    cells(row.name, row.better, &self.methods.iter().map(row.value).collect::<Vec<_>>())
                })
                .collect();
            if !rows.is_empty() {
                let across = self.methods.len() + 1;
                let _ = write!(
                    out,
                    "<tbody><tr><th class=\"part\" scope=\"rowgroup\" colspan=\"{across}\">{part}</th></tr>{rows}</tbody>"
                );
            }
        }
        out.push_str(
            "</table></div><p class=\"note\"><b class=\"best\">Marked</b>: the best of a row. Energy, distance from plain \
             skinning and residual have no best: they tell methods apart. A dash: the method has no such thing.</p></section>",
        );
    }

    /// Smallest sections at the joints, the worst first.
    fn joints(&self, out: &mut String) {
        const SHOWN: usize = 24;
        let mut joints: Vec<(&str, Vec<Option<f64>>)> = Vec::new();
        for (k, report) in self.methods.iter().enumerate() {
            for section in &report.joint_sections {
                let known = joints.iter().position(|(joint, _)| *joint == section.joint);
                let at = known.unwrap_or_else(|| {
                    joints.push((&section.joint, vec![None; self.methods.len()]));
                    joints.len() - 1
                });
                joints[at].1[k] = Some(section.min);
            }
        }
        if joints.is_empty() {
            return;
        }
        let least = |values: &[Option<f64>]| values.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        joints.sort_by(|a, b| least(&a.1).total_cmp(&least(&b.1)));
        self.head(out, "Smallest section at each joint, worst first", "Joint");
        out.push_str("<tbody>");
        joints
            .iter()
            .take(SHOWN)
            .filter_map(|(joint, v)| cells(joint, Better::NearOne, v))
            .for_each(|row| *out += &row);
        out.push_str("</tbody></table></div>");
        if joints.len() > SHOWN {
            let _ = write!(out, "<p class=\"note\">and {} more, in results.json</p>", joints.len() - SHOWN);
        }
        out.push_str("</section>");
    }

    fn curves(&self, out: &mut String) {
        let chart = |title, unit, note, base, value: fn(&Frame) -> Option<f64>| Chart {
            title,
            unit,
            note,
            base,
            whole: false,
            series: self
                .methods
                .iter()
                .map(|r| Series { name: &r.method, values: r.per_frame.iter().map(value).collect() })
                .collect(),
        };
        let charts = [
            chart("Volume error", "percent", "0 is the volume at rest", 0.0, |f| f.volume_error_percent),
            chart("Smallest joint section", "area / rest", "below 1 collapse", 1.0, |f| f.joint_section_min),
            chart("Edge stretch", "length / rest", "the longest; 1 is the length at rest", 1.0, |f| {
                f.edge_stretch.map(|s| s.max)
            }),
            chart("Kinetic energy", "½ v², units²/s²", "mean per unit of mass", 0.0, |f| {
                f.kinetic_energy
            }),
        ];
        let drawn: Vec<String> =
            charts.iter().enumerate().filter_map(|(id, c)| c.svg(id, &self.times, &[])).collect();
        chart::section(out, &drawn);
    }

    fn pictures(&self, out: &mut String, strips: &[Strip]) {
        let count: usize = strips.iter().map(|s| s.pictures.len()).sum();
        let _ = write!(
            out,
            "<section aria-label=\"Pictures\"><h2>Pictures</h2>\
             <p class=\"note\">Pictures: {count}. Those of one moment are by one camera.</p>"
        );
        for strip in strips {
            let _ = write!(out, "<h3>{}</h3>", escape(&strip.title));
            if !strip.note.is_empty() {
                let _ = write!(out, "<p class=\"note\">{}</p>", escape(&strip.note));
            }
            if let Some(legend) = &strip.legend {
                *out += &scale(legend);
            }
            out.push_str("<div class=\"pictures strip\">");
            for (name, said, png) in &strip.pictures {
                let caption = format!("<b>{}</b> {}", escape(name), escape(said));
                page::picture(out, &format!("{name}, {}", strip.title), &caption, png);
            }
            out.push_str("</div>");
        }
        out.push_str("</section>");
    }
}

/// A row of numbers with the best marked; none where there are no numbers.
fn cells(name: &str, better: Better, values: &[Option<f64>]) -> Option<String> {
    values.iter().flatten().next()?;
    let mut out = format!("<tr><th scope=\"row\">{}</th>", escape(name));
    for (value, is_best) in values.iter().zip(better.best(values)) {
        let class = if is_best { " class=\"best\"" } else { "" };
        let text = value.map_or_else(|| "<span class=\"none\">–</span>".to_owned(), short);
        let _ = write!(out, "<td{class}>{text}</td>");
    }
    Some(out + "</tr>")
}

/// The colours of a strip's pictures.
fn scale(legend: &Legend) -> String {
    let stops: Vec<String> = legend.stops().iter().map(|[r, g, b]| format!("rgb({r} {g} {b})")).collect();
    let [low, neutral, high] = [legend.scale.low, legend.scale.neutral, legend.scale.high]
        .map(|v| format!("{}{}", short(v.into()), escape(&legend.unit)));
    format!(
        "<div class=\"scale\"><span>{}</span><span>{low}</span>\
         <span class=\"bar\" style=\"background:linear-gradient(to right,{})\"><span>{neutral}</span></span><span>{high}</span></div>",
        escape(&legend.title),
        stops.join(",")
    )
}
