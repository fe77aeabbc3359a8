//! What a frame carries: the skin, the joints, numbers, colours and drawings.

use crate::answer::Answer;
use crate::command::{DrawingKind, Heat, Show};
use crate::live::Live;
use glam::{DVec3, Vec3};
use pliant::body::Node;
use pliant::solver;
use pliant_kit::drawing::{self, Colour, Drawing};
use pliant_kit::field;
use serde_json::{Value, json};

/// Arrays of the last frame, which its answer points at.
#[derive(Default)]
pub(crate) struct Buffers {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    joints: Vec<[f32; 16]>,
    heat: Vec<f32>,
    lines: Vec<[Vec3; 2]>,
    line_colours: Vec<Colour>,
    dots: Vec<Vec3>,
    dot_colours: Vec<Colour>,
    facets: Vec<[Vec3; 3]>,
    facet_colours: Vec<Colour>,
    balls: Vec<[f32; 4]>,
    ball_colours: Vec<Colour>,
}

impl Buffers {
    /// The frame that a player shows.
    pub(crate) fn frame(&mut self, live: &Live, show: &Show) -> Answer {
        let player = live.player();
        self.positions.clone_from(&player.shape().positions);
        self.normals.clone_from(&player.shape().normals);
        self.joints.clear();
        self.joints.extend(player.pose().world_from_joint.iter().map(|m| {
            let [x, y, z] = [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis].map(|c| c.as_vec3());
            let t = m.translation.as_vec3();
            [x.x, x.y, x.z, 0.0, y.x, y.y, y.z, 0.0, z.x, z.y, z.z, 0.0, t.x, t.y, t.z, 1.0]
        }));
        let heat = show.heat.and_then(|heat| heat_of(live, heat));
        let drawn = show.drawing.and_then(|kind| drawing_of(live, kind, show));
        let value = json!({
            "seconds": player.seconds(),
            "numbers": numbers(live),
            "heat": heat.is_some(),
            "drawing": drawn.is_some(),
        });
        let mut answer = Answer::new(value)
            .with("positions", "f32", &self.positions)
            .with("normals", "f32", &self.normals)
            .with("joints", "f32", &self.joints);
        if let Some(heat) = heat {
            self.heat = heat;
            answer = answer.with("heat", "f32", &self.heat);
        }
        if let Some(drawn) = drawn {
            self.take(drawn);
            answer = answer
                .with("lines", "f32", &self.lines)
                .with("lineColours", "f32", &self.line_colours)
                .with("dots", "f32", &self.dots)
                .with("dotColours", "f32", &self.dot_colours)
                .with("facets", "f32", &self.facets)
                .with("facetColours", "f32", &self.facet_colours)
                .with("balls", "f32", &self.balls)
                .with("ballColours", "f32", &self.ball_colours);
        }
        answer
    }

    fn take(&mut self, drawn: Drawing) {
        let (dots, lines): (Vec<_>, Vec<_>) = drawn.lines.into_iter().partition(|l| l.from == l.to);
        self.lines = lines.iter().map(|l| [l.from, l.to]).collect();
        self.line_colours = lines.iter().map(|l| l.colour).collect();
        self.dots = dots.iter().map(|l| l.from).collect();
        self.dot_colours = dots.iter().map(|l| l.colour).collect();
        self.facets = drawn.facets.iter().map(|f| f.corners).collect();
        self.facet_colours = drawn.facets.iter().map(|f| f.colour).collect();
        self.balls = drawn.balls.iter().map(|b| b.place).collect();
        self.ball_colours = drawn.balls.iter().map(|b| b.colour).collect();
    }
}

fn numbers(live: &Live) -> Value {
    let player = live.player();
    let (pose, positions) = (player.pose(), &player.shape().positions);
    let nodes = player.instance().nodes();
    // Tets that only tell the skin's volume lie as its weights say: there is no flesh to be inside out.
    let is_flesh = player.health().off.is_none();
    let tets = live.tets.as_ref().zip(nodes).and_then(|(judge, nodes)| judge.frame(pose, nodes));
    let of_skin = live.judge.volume_error_percent(pose, positions);
    let of_tets = tets.as_ref().and_then(|t| t.volume_error_percent);
    let (volume, source) = match (of_skin, of_tets) {
        (Some(skin), _) => (Some(skin), Some("skin")),
        (None, Some(tets)) => (Some(tets), Some("tets")),
        (None, None) => (None, None),
    };
    let ms = player.milliseconds();
    let stage = |ms: Option<f64>| ms.unwrap_or(0.0);
    json!({
        "volumeErrorPercent": volume,
        "volumeSource": source,
        "residual": player.health().residual,
        "invertedTets": tets.filter(|_| is_flesh).map(|t| t.inverted),
        "held": player.health().held,
        "milliseconds": {
            "total": ms.total,
            "skin": stage(ms.skin),
            "solve": stage(ms.solve),
            "embed": stage(ms.embed),
            "filter": stage(ms.filter),
            "overlap": stage(ms.overlap),
        },
    })
}

/// Which heat maps there are.
pub(crate) fn heats(live: &Live) -> Vec<Heat> {
    let all = [Heat::Stretch, Heat::Volume, Heat::Softness, Heat::Residual];
    let is_flesh = live.deformer().body().is_some();
    all.into_iter().filter(|heat| *heat != Heat::Residual || is_flesh).collect()
}

/// Which drawings there are.
pub(crate) fn drawings(live: &Live) -> Vec<DrawingKind> {
    let deformer = live.deformer();
    let (body, pins) = (deformer.body().is_some(), deformer.pins().is_some());
    let all = [
        (DrawingKind::Tets, body),
        (DrawingKind::Layers, body && pins),
        (DrawingKind::Pins, body && pins),
        (DrawingKind::Frames, body && deformer.frames().is_some()),
        (DrawingKind::Balls, deformer.packing().is_some()),
    ];
    all.into_iter().filter(|(_, is_there)| *is_there).map(|(kind, _)| kind).collect()
}

/// One number a vertex; none where the method has no such thing.
pub(crate) fn heat_of(live: &Live, heat: Heat) -> Option<Vec<f32>> {
    let player = live.player();
    let (pose, positions) = (player.pose(), &player.shape().positions);
    match heat {
        Heat::Stretch => Some(live.judge.stretch(pose, positions)),
        Heat::Volume => Some(live.judge.volume_field(pose, positions)),
        Heat::Softness => field::softness(&live.settings, &live.input().character).ok(),
        Heat::Residual => Some(field::residual(live.deformer().body()?, player.instance().nodes()?)),
    }
}

/// How a heat map is to be read.
pub(crate) fn scale(heat: Heat) -> Value {
    let (title, low, high, unit) = match heat {
        Heat::Stretch => ("edge length against rest", -0.5, 0.5, "%"),
        Heat::Volume => ("local volume against rest", -0.5, 0.5, "%"),
        Heat::Softness => ("softness", -1.0, 1.0, ""),
        Heat::Residual => ("tets against their rest shape", -0.25, 0.25, "%"),
    };
    json!({ "title": title, "unit": unit, "low": low, "neutral": 0.0, "high": high })
}

fn drawing_of(live: &Live, kind: DrawingKind, show: &Show) -> Option<Drawing> {
    let (deformer, instance) = (live.deformer(), live.player().instance());
    if kind == DrawingKind::Balls {
        let packing = deformer.packing()?;
        return Some(drawing::balls(instance.balls()?, packing.slots, packing.springs));
    }
    let mesh = deformer.body()?.tets();
    let place = |&[x, y, z, _]: &Node| Vec3::new(x, y, z);
    let nodes: Vec<Vec3> = instance.nodes()?.iter().map(place).collect();
    let eye = DVec3::from_array(show.eye).normalize_or(DVec3::Z);
    let lines = |lines| Some(Drawing { lines, ..Drawing::default() });
    match kind {
        DrawingKind::Tets => {
            let colour = |_: usize, is_open: bool| if is_open { drawing::INSIDE } else { drawing::OUTSIDE };
            let facets = drawing::cut_open(mesh, &nodes, eye, show.cut, colour);
            Some(Drawing { facets, ..Drawing::default() })
        }
        DrawingKind::Layers => {
            let pinned: Vec<bool> = deformer.pins()?.iter().map(|&pin| pin != u32::MAX).collect();
            let layers = solver::layers(mesh, &pinned);
            let last = layers.iter().copied().max().unwrap_or(0);
            let colour = |tet: usize, _: bool| drawing::of_layer(layers[tet], last);
            let facets = drawing::cut_open(mesh, &nodes, eye, show.cut, colour);
            Some(Drawing { facets, ..Drawing::default() })
        }
        DrawingKind::Pins => lines(drawing::pins(mesh, &nodes, deformer.pins()?)),
        DrawingKind::Frames => lines(drawing::frames(mesh, &nodes, deformer.frames()?)),
        DrawingKind::Balls => None,
    }
}
