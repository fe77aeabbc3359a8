//! The report as one page that needs nothing else.

use super::chart::{Chart, Series};
use super::{Frame, Report};
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");

/// One self-contained page: what was measured as a table and as curves, and PNG pictures with their captions.
pub(crate) fn html(report: &Report, pictures: &[(String, Vec<u8>)]) -> String {
    let clip = report.clip.as_deref().filter(|c| !c.is_empty());
    let title = match clip {
        Some(clip) => format!("{}, {clip}, {}", report.character, report.method),
        None => format!("{}, {}", report.character, report.method),
    };
    let mut out = String::new();
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>{0}: Pliant report</title><style>{STYLE}</style></head>\n<body><main><h1>{0}</h1><p class=\"lead\">{1}</p>",
        escape(&title),
        escape(&lead(report))
    );
    warnings(&mut out, report);
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
        for (caption, png) in pictures {
            let caption = escape(caption);
            let _ = write!(
                out,
                "<figure><img alt=\"{caption}\" src=\"data:image/png;base64,{}\"><figcaption>{caption}</figcaption></figure>",
                base64(png)
            );
        }
        out.push_str("</div></section>");
    }
    let _ = writeln!(
        out,
        "<footer>{}. State hash <code>{}</code>.</footer></main></body></html>",
        escape(&report.generator),
        escape(&report.state_hash)
    );
    out
}

fn lead(report: &Report) -> String {
    let mut text = format!("{} frame{}", report.frames, if report.frames == 1 { "" } else { "s" });
    if let (Some(first), Some(last)) = (report.per_frame.first(), report.per_frame.last()) {
        let _ = write!(text, " from {} to {} s", short(first.time), short(last.time));
    }
    if let Some(fps) = report.fps {
        let _ = write!(text, " at {} a second", short(fps));
    }
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

fn warnings(out: &mut String, report: &Report) {
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
    if !report.warnings.is_empty() {
        out.push_str("<section class=\"warn\" aria-label=\"Warnings\"><h2>Warnings</h2><ul>");
        for warning in &report.warnings {
            let _ = write!(out, "<li>{}</li>", escape(warning));
        }
        out.push_str("</ul></section>");
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
    if !drawn.is_empty() {
        let _ = write!(
            out,
            "<section aria-label=\"Curves\"><h2>Against time</h2><div class=\"charts\">{}</div></section>",
            drawn.concat()
        );
    }
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

/// A number to about four digits.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = (3 - libm::log10(size).floor() as i32).clamp(0, 7) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Text that cannot be taken for markup, in content or in quotes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Controls have no place in HTML.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().enumerate().fold(0u32, |n, (k, &b)| n | u32::from(b) << (16 - 8 * k));
        for k in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * k)) as usize & 63];
            out.push(if k <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (plain, coded) in cases {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.12345, "0.1235"),
            (12.345, "12.35"),
            (123_456.7, "123457"),
            (-2.5, "-2.5"),
            (1e-9, "1.00e-9"),
            (100.0, "100"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }
}
