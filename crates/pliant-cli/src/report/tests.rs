use super::comparison::{Comparison, Failed, Strip};
use super::*;
use crate::picture::{Legend, Scale};
use pliant::measure::FrameMeasures;

/// Half a minute of a limb that bends and comes back, with a gap and a flagged frame.
fn sample() -> Report {
    let mut frames: Vec<FrameMeasures> = Vec::new();
    for k in 0..120 {
        let u = f64::from(k) / 119.0;
        let bend = 4.0 * u * (1.0 - u);
        frames.push(FrameMeasures {
            volume_error_percent: Some(6.4 * bend * bend),
            edge_stretch: Some(measure::Stretch { max: 1.0 + 0.8 * bend, p99: 1.0 + 0.3 * bend }),
            area_ratio: Some(measure::Range { min: 1.0 - 0.5 * bend, max: 1.0 + 0.4 * bend }),
            sections: vec![
                measure::JointSection { joint: 1, min: 1.0 - 0.4 * bend, max: 1.0 + 0.05 * bend },
                measure::JointSection { joint: 2, min: 0.99, max: 1.0 },
            ],
            self_intersections: Some(measure::Crossings {
                adjacent: (40.0 * (bend - 0.7).max(0.0)) as usize,
                other: usize::from(k == 70),
                capped: false,
            }),
            kinetic_energy: (k > 0).then_some(0.4 * (1.0 - bend)),
            ..Default::default()
        });
    }
    frames[30] = FrameMeasures { non_finite: 3, ..Default::default() };
    let summary = Summary {
        volume_error_percent: Some(measure::MaxMean { max: 6.4, mean: 3.2 }),
        tet_volume_error_percent: None,
        volume_error_before_overlap_percent: None,
        overlap_vertices_max: None,
        volume_source: Some(VolumeSource::Skin),
        inverted_tets_max: None,
        min_det_f: None,
        edge_stretch: Some(measure::Stretch { max: 1.8, p99: 1.3 }),
        area_ratio: Some(measure::Range { min: 0.5, max: 1.4 }),
        section: Some(measure::Range { min: 0.6, max: 1.05 }),
        sections: vec![
            measure::JointSection { joint: 1, min: 0.6, max: 1.05 },
            measure::JointSection { joint: 2, min: 0.99, max: 1.0 },
        ],
        self_intersections_max: Some(measure::Crossings { adjacent: 11, other: 1, capped: false }),
        lbs_distance_max: Some(0.02),
        kinetic_energy_max: Some(0.4),
        jiggle_energy_max: Some(0.1),
        tet_kinetic_energy_max: None,
        residual_mean: None,
        flagged_frames: vec![30],
        warnings: vec!["1 frames have positions that are not finite".into()],
        times: (0..120).map(|k| f64::from(k) / 30.0).collect(),
        frames,
    };
    let ms = Milliseconds { total: 1.5, skin: Some(1.25), ..Default::default() };
    let run = Run {
        character: "<b>\"Arm\" & co</b>".into(),
        clip: Some("bend</title><script>alert(1)</script>".into()),
        method: "lbs".into(),
        weights: "file",
        fps: Some(30.0),
        vertices: 4000,
        triangles: 7996,
        threads: 2,
        prepare_ms: 12.0,
        ms: vec![ms; 120],
        joint_names: vec!["shoulder".into(), "elbow".into()],
        warnings: vec!["3 vertices had no weights: bound to the nearest bone".into()],
        state_hash: String::new(),
        ..Default::default()
    };
    Report::new(run, &summary)
}

#[test]
fn json_has_every_key_and_null_for_what_does_not_apply() {
    let json: serde_json::Value = serde_json::from_str(&sample().json().unwrap()).unwrap();
    let keys = "method frames vertices tets threads prepare_ms ms_per_frame volume_error_percent \
        tet_volume_error_percent volume_error_before_overlap_percent volume_source inverted_tets_max min_det_f \
        edge_stretch area_ratio joint_section_min joint_section_max self_intersections_max kinetic_energy_max \
        residual_mean flagged_frames warnings per_frame state_hash clip fps times character generator \
        preroll_ms loop lbs_distance_max jiggle_energy_max tet_kinetic_energy_max";
    let object = json.as_object().unwrap();
    for key in keys.split_whitespace() {
        assert!(object.contains_key(key), "{key} is missing");
    }
    for key in ["tets", "tet_volume_error_percent", "min_det_f", "inverted_tets_max", "residual_mean", "loop"]
    {
        assert!(object[key].is_null(), "{key}");
    }
    assert_eq!(json["volume_error_percent"]["max"], 6.4);
    assert_eq!(json["ms_per_frame"]["total"], 1.5);
    assert!(json["ms_per_frame"]["solve"].is_null());
    assert_eq!(json["self_intersections_max"]["other"], 1);
    assert_eq!(json["joint_sections"][0]["joint"], "elbow");
    assert_eq!(json["joint_sections"][1]["joint"], "joint 2");
    assert_eq!(json["per_frame"].as_array().unwrap().len(), 120);
    assert!(json["per_frame"][30]["edge_stretch"].is_null());
    assert_eq!(json["per_frame"][60]["time"], 2.0);
    assert_eq!(json["warnings"].as_array().unwrap().len(), 2);
}

#[test]
fn html_is_whole_and_escaped() {
    let png = vec![0x89, b'P', b'N', b'G'];
    let page = html(&sample(), &[("front <view>".into(), png)]);
    assert!(!page.contains("<script") && !page.contains("<b>\"Arm\""));
    assert!(page.contains("&lt;script&gt;") && page.contains("front &lt;view&gt;"));
    assert!(page.contains("data:image/png;base64,iVBORw=="));
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("url("));
    assert!(!page.contains("NaN") && !page.contains(">inf"));
    for title in ["Volume error", "Edge stretch", "Joint sections", "Self-intersections", "Kinetic energy"] {
        assert!(page.contains(&format!("{title}, ")), "{title} has a curve");
    }
    check_tags(&page);
}

/// What is opened is closed.
fn check_tags(page: &str) {
    let tags = "figure svg table tbody tr td section figcaption g title span main div p ul li h3";
    for tag in tags.split(' ') {
        let open = page.matches(&format!("<{tag} ")).count() + page.matches(&format!("<{tag}>")).count();
        assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn a_comparison_is_whole_and_escaped() {
    let mut other = sample();
    other.method = "dqs".into();
    other.volume_error_percent = Some(MaxMean { max: 1.5, mean: 0.5 });
    other.warnings.push("only here".into());
    let failed = vec![Failed { method: "strain".into(), reason: "no <b>flesh</b>".into() }];
    let moment = Measure::named("volume error").unwrap().moment(&[sample(), other.clone()]).unwrap();
    assert_eq!((moment.time, &moment.worst[0].method[..]), (moment.frame as f64 / 30.0, "lbs"));
    let said = Comparison::said(&other, &moment);
    assert!(said.starts_with("volume error 6.399 %"), "{said}");
    let comparison = Comparison::new(vec![sample(), other], failed, vec![moment]).unwrap();
    assert_eq!(comparison.best["Volume error, most (%)"], ["dqs"]);
    let legend = Legend {
        title: "how <far>".into(),
        unit: "%".into(),
        scale: Scale { low: -50.0, neutral: 0.0, high: 50.0 },
    };
    let strip = Strip {
        title: "At <1 s>".into(),
        note: "worst & last".into(),
        pictures: vec![("lbs".into(), said, vec![0x89, b'P', b'N', b'G'])],
        legend: Some(legend),
    };
    let page = comparison.html(&[strip]);
    check_tags(&page);
    assert!(!page.contains("<script") && !page.contains("<1 s>") && !page.contains("<far>"));
    assert!(page.contains("strain is not compared: no &lt;b&gt;flesh&lt;/b&gt;"));
    assert!(page.contains("<td>6.4</td><td class=\"best\">1.5</td>"));
    assert!(page.contains("<li>dqs: only here</li>") && page.matches("had no weights").count() == 1);
    assert!(page.contains(">Pictures: 1.") && !page.contains("NaN") && !page.contains("url("));
    assert!(Comparison::new(vec![], vec![], vec![]).is_none());
}

#[test]
fn a_report_of_nothing_still_makes_a_page() {
    let mut report = sample();
    report.per_frame.clear();
    report.frames = 0;
    report.joint_sections.clear();
    report.volume_error_percent = None;
    let page = html(&report, &[]);
    assert!(page.contains("not measured") && !page.contains("<figure>"));
}
