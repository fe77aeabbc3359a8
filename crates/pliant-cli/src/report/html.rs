//! The report as one page that needs nothing else.

use super::chart::{self, Chart, Series};
use super::page::{self, escape, short};
use super::{Captioned, Frame, Report};
use std::fmt::Write as _;

/// One self-contained page: what was measured as a table and as curves, and PNG pictures with their captions.
pub(crate) fn html(report: &Report, pictures: &[Captioned]) -> String {
    let clip = report.clip.as_deref().filter(|c| !c.is_empty());
    let title = match clip {
        Some(clip) => format!("{}, {clip}, {}", report.character, report.method),
        None => format!("{}, {}", report.character, report.method),
    };
    let mut out = page::begin(&title, "report", &lead(report));
    flags(&mut out, report);
    page::warnings(&mut out, &report.warnings);
    out.push_str("<section aria-label=\"Summary\"><h2>Summary</h2><div class=\"tables\">");
    for (caption, rows) in tables(report) {
        let _ = write!(out, "<table><caption>{caption}</caption><tbody>");
        for (name, value) in rows {
            let value =
                value.map_or_else(|| "<span class=\"none\">not measured</span>".to_owned(), |v| escape(&v));
            let _ = write!(out, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>");
        }
        out.push_str("</tbody></table>");
    }
    out.push_str("</div></section>");
    curves(&mut out, report);
    joints(&mut out, report);
    if !pictures.is_empty() {
        out.push_str("<section aria-label=\"Pictures\"><h2>Pictures</h2><div class=\"pictures\">");
        pictures.iter().for_each(|(caption, png)| page::picture(&mut out, caption, &escape(caption), png));
        out.push_str("</div></section>");
    }
    let (generator, hash) = (escape(&report.generator), escape(&report.state_hash));
    page::end(&mut out, &format!("{generator}. State hash <code>{hash}</code>."));
    out
}

fn lead(report: &Report) -> String {
    let mut text = page::extent(&report.times, report.fps);
    let _ = write!(text, "; {} vertices, {} triangles", report.vertices, report.triangles);
    if let Some(tets) = report.tets {
        let _ = write!(text, ", {tets} tets");
    }
    if let Some(balls) = report.balls {
        let covered = balls.coverage_percent;
        let _ = write!(text, ", {} balls that cover {covered:.1} % of the body", balls.count);
    }
    text + "."
}

fn flags(out: &mut String, report: &Report) {
    if !report.flagged_frames.is_empty() {
        let some: Vec<String> = report.flagged_frames.iter().take(20).map(usize::to_string).collect();
        let more = if report.flagged_frames.len() > 20 { ", ..." } else { "" };
        let _ = write!(
            out,
            "<p class=\"bad\" role=\"alert\">Flagged, {} of {} frames (red lines below): {}{more}</p>",
            report.flagged_frames.len(),
            report.frames,
            some.join(", ")
        );
    }
}

type Rows = Vec<(&'static str, Option<String>)>;

fn tables(report: &Report) -> [(&'static str, Rows); 3] {
    let percent = |m: &super::MaxMean| format!("{} % at most, {} % on average", short(m.max), short(m.mean));
    let ms = |v: f64| format!("{} ms", short(v));
    let source =
        report.volume_source.map(|s| if s == "tets" { "the tet body" } else { "the skin's closed pieces" });
    let mut shape: Rows = vec![
        ("Volume error", report.volume_error_percent.as_ref().map(percent)),
        ("Volume measured on", source.map(str::to_owned)),
        (
            "Edge stretch",
            report
                .edge_stretch
                .map(|s| format!("{} at most, {} for 99 of 100 edges", short(s.max), short(s.p99))),
        ),
        (
            "Triangle area over rest",
            report.area_ratio.map(|r| format!("{} to {}", short(r.min), short(r.max))),
        ),
        ("Smallest joint section", report.joint_section_min.map(short)),
        ("Largest joint section", report.joint_section_max.map(short)),
        (
            "Self-intersections, most in a frame",
            report
                .self_intersections_max
                .map(|c| format!("{} near joints, {} elsewhere", c.adjacent, c.other)),
        ),
    ];
    if report.volume_error_before_overlap_percent.is_some() {
        let before = report.volume_error_before_overlap_percent.as_ref().map(percent);
        shape.insert(1, ("Volume error before overlap repair", before));
    }
    let mut body: Rows = vec![
        ("Largest kinetic energy, per unit mass", report.kinetic_energy_max.map(short)),
        ("of it against plain skinning", report.jiggle_energy_max.map(short)),
        (
            "Farthest from plain skinning",
            report.lbs_distance_max.map(|d| format!("{} % of the diagonal", short(100.0 * d))),
        ),
    ];
    if let Some(cycle) = report.cycle {
        let within = short(100.0 * cycle.closes_within);
        let text = format!("within {within} % of the diagonal, after {} cycles", cycle.cycles);
        body.push(("Loop closes", Some(text)));
    }
    if report.tets.is_some() {
        body.extend([
            ("Tet volume error", report.tet_volume_error_percent.as_ref().map(percent)),
            ("Most inverted tets", report.inverted_tets_max.map(|n| n.to_string())),
            ("Smallest det F", report.min_det_f.map(short)),
        ]);
    }
    if report.residual_mean.is_some() {
        body.push(("Mean residual", report.residual_mean.map(short)));
    }
    let times = report.ms_per_frame;
    let mut time: Rows = vec![
        ("Method", Some(report.method.clone())),
        ("Weights", Some(report.weights.to_owned())),
        ("Preparation", Some(ms(report.prepare_ms))),
        ("Per frame", Some(ms(times.total))),
    ];
    if report.preroll_ms > 0.0 {
        time.insert(3, ("Up to the first frame", Some(ms(report.preroll_ms))));
    }
    let stages = [
        ("of it skinning", times.skin),
        ("of it solving", times.solve),
        ("of it embedding", times.embed),
        ("of it bringing back detail", times.filter),
        ("of it parting overlaps", times.overlap),
    ];
    for (name, value) in stages {
        if value.is_some() {
            time.push((name, value.map(ms)));
        }
    }
    time.push(("Threads", Some(report.threads.to_string())));
    [("Shape", shape), ("Motion and body", body), ("Time", time)]
}

/// Times that only grow: where a clip follows another, its time goes on from there.
fn strung(times: &[f64]) -> Vec<f64> {
    let mut strung: Vec<f64> = Vec::with_capacity(times.len());
    let mut shift = 0.0;
    for (i, &time) in times.iter().enumerate() {
        if i > 0 && time <= times[i - 1] {
            // As far apart as the frames before: the next clip starts with the next frame.
            let step = if i > 1 { (times[i - 1] - times[i - 2]).max(0.0) } else { 0.0 };
            shift = strung[i - 1] + step.max(1e-3) - time;
        }
        strung.push(time + shift);
    }
    strung
}

fn curves(out: &mut String, report: &Report) {
    let series = |name, value: &dyn Fn(&Frame) -> Option<f64>| Series {
        name,
        values: report.per_frame.iter().map(value).collect(),
    };
    let mut volume = vec![series("skin", &|f| f.volume_error_percent)];
    if report.tet_volume_error_percent.is_some() {
        volume.push(series("tets", &|f| f.tet_volume_error_percent));
    }
    if report.volume_error_before_overlap_percent.is_some() {
        volume.push(series("skin before overlap repair", &|f| f.volume_error_before_overlap_percent));
    }
    let chart = |title, unit, note, base, whole, series| Chart { title, unit, note, series, base, whole };
    let charts = [
        chart("Volume error", "percent", "0 is the volume at rest", 0.0, false, volume),
        chart(
            "Edge stretch",
            "length / rest",
            "1 is the length at rest",
            1.0,
            false,
            vec![
                series("longest", &|f| f.edge_stretch.map(|s| s.max)),
                series("99 of 100 below", &|f| f.edge_stretch.map(|s| s.p99)),
            ],
        ),
        chart(
            "Joint sections",
            "area / rest",
            "below 1 collapse, above 1 bulge",
            1.0,
            false,
            vec![series("smallest", &|f| f.joint_section_min), series("largest", &|f| f.joint_section_max)],
        ),
        chart(
            "Self-intersections",
            "triangle pairs",
            "new since rest",
            0.0,
            true,
            vec![
                series("near joints", &|f| f.self_intersections.map(|c| c.adjacent as f64)),
                series("elsewhere", &|f| f.self_intersections.map(|c| c.other as f64)),
            ],
        ),
        chart(
            "Kinetic energy",
            "½ v², units²/s²",
            "mean per unit of mass",
            0.0,
            false,
            vec![
                series("all of it", &|f| f.kinetic_energy),
                series("against plain skinning", &|f| f.jiggle_energy),
            ],
        ),
        chart(
            "Smallest det F",
            "volume / rest",
            "of all tets; below 0 inside out",
            1.0,
            false,
            vec![series("smallest", &|f| f.min_det_f)],
        ),
        chart(
            "Constraint residual",
            "mean",
            "what the solver leaves",
            0.0,
            false,
            vec![series("residual", &|f| f.residual)],
        ),
    ];
    let times = strung(&report.times);
    let drawn: Vec<String> =
        charts.iter().enumerate().filter_map(|(id, c)| c.svg(id, &times, &report.flagged_frames)).collect();
    chart::section(out, &drawn);
}

/// Joints by how much they collapse, worst first.
fn joints(out: &mut String, report: &Report) {
    const SHOWN: usize = 24;
    if report.joint_sections.is_empty() {
        return;
    }
    let mut sections: Vec<_> = report.joint_sections.iter().collect();
    let departure = |s: &super::JointSection| (1.0 - s.min).max(s.max - 1.0);
    sections.sort_by(|a, b| departure(b).total_cmp(&departure(a)));
    out.push_str(
        "<section aria-label=\"Joints\"><h2>Joints, worst first</h2><table class=\"joints\"><thead><tr>\
         <th scope=\"col\">Joint</th><th scope=\"col\">Smallest section</th><th scope=\"col\">Largest section</th>\
         </tr></thead><tbody>",
    );
    for s in sections.iter().take(SHOWN) {
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>",
            escape(&s.joint),
            short(s.min),
            short(s.max)
        );
    }
    out.push_str("</tbody></table>");
    if sections.len() > SHOWN {
        let _ = write!(out, "<p class=\"note\">and {} more, in the JSON report</p>", sections.len() - SHOWN);
    }
    out.push_str("</section>");
}
