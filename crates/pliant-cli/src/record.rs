//! A method made ready for a character, and what is kept of its frames as they go by.

use crate::args::Common;
use crate::report::{Balls, Loop, Report, Run};
use crate::take::Take;
use anyhow::{Context, Result, bail};
use pliant::measure::{Judge, Recorder, TetJudge};
use pliant::method::{Deformer, Settings, Shape};
use pliant_kit::drive::{Cycle, Frame, Milliseconds};
use pliant_kit::hash::StateHash;
use pliant_kit::input::Input;
use pliant_kit::{clock, prepare};

/// A method made ready for a character.
pub(crate) struct Ready<'a> {
    pub(crate) deformer: Box<dyn Deformer + 'a>,
    /// Of its flesh, where it has any.
    pub(crate) tets: Option<TetJudge>,
    /// What is known of it before it plays.
    pub(crate) about: Circumstances,
    /// What was odd about it, in words.
    pub(crate) odd: Vec<String>,
}

impl<'a> Ready<'a> {
    pub(crate) fn prepare(
        method: &str,
        settings: &Settings,
        input: &'a Input,
        common: &Common,
    ) -> Result<Self> {
        let started = clock::milliseconds();
        let deformer = prepare(method, settings, input, common.path(), common)?;
        let about = Circumstances {
            method: method.to_owned(),
            prepare_ms: clock::milliseconds() - started,
            preroll_ms: 0.0,
            balls: deformer.packing().map(|p| Balls::new(&p, input.character.diagonal())),
            cycles: vec![],
            warnings: input.warnings.iter().map(ToString::to_string).collect(),
        };
        let mut odd = input.unused_tets(&*deformer);
        odd.extend(deformer.warnings().iter().cloned());
        let tets = deformer.body().map(|body| TetJudge::new(&input.character, body));
        Ok(Self { deformer, tets, about, odd })
    }
}

/// Frames that are not fit to be used.
#[derive(Default)]
struct Flags {
    frames: usize,
    /// Of them: with tets inside out, and with nodes held.
    inverted: usize,
    held: usize,
    /// Clip and seconds of the first.
    first: Option<(String, f64)>,
}

/// What is kept of the frames as they go by.
pub(crate) struct Record<'a> {
    hash: StateHash,
    ms: Vec<Milliseconds>,
    tets: Option<&'a TetJudge>,
    recorder: Option<Recorder<'a>>,
    frames: usize,
    flags: Flags,
}

/// What a report says beside what was measured.
pub(crate) struct Circumstances {
    pub(crate) method: String,
    pub(crate) prepare_ms: f64,
    pub(crate) preroll_ms: f64,
    pub(crate) balls: Option<Balls>,
    pub(crate) cycles: Vec<Cycle>,
    /// All that was odd, in words.
    pub(crate) warnings: Vec<String>,
}

impl<'a> Record<'a> {
    /// Measures all that there is a judge for.
    pub(crate) fn new(judge: Option<&'a Judge>, tets: Option<&'a TetJudge>) -> Self {
        Self {
            hash: StateHash::default(),
            ms: vec![],
            tets,
            recorder: judge.map(|judge| judge.record(tets)),
            frames: 0,
            flags: Flags::default(),
        }
    }

    /// Takes in the next frame; gives its largest stretch, where that is measured.
    pub(crate) fn frame(&mut self, clip: &str, frame: &Frame<'_>) -> Option<f64> {
        let Frame { time, pose, shape, nodes, health, ms, .. } = *frame;
        // Tets that only tell the skin's volume lie as its weights say: there is no flesh to be inside out.
        let is_flesh = health.off.is_none();
        let (inverted, stretch) = match &mut self.recorder {
            Some(recorder) => {
                let measures = recorder.frame(time, pose, &shape.positions, nodes);
                measures.inverted_tets = measures.inverted_tets.filter(|_| is_flesh);
                measures.min_det_f = measures.min_det_f.filter(|_| is_flesh);
                measures.residual = health.residual.map(f64::from);
                measures.held = health.held;
                measures.volume_error_before_overlap_percent =
                    health.off_before_overlap.map(|off| 100.0 * off.abs());
                measures.overlap_vertices = health.parted;
                self.ms.push(ms);
                self.hash.frame(&shape.positions);
                (measures.inverted_tets, measures.edge_stretch.map(|s| s.max))
            }
            // The end of the command does not depend on whether a report is asked for.
            None => {
                let tets = self.tets.filter(|_| is_flesh).zip(nodes);
                (tets.and_then(|(tets, nodes)| tets.frame(pose, nodes)).map(|m| m.inverted), None)
            }
        };
        let (is_inverted, is_held) = (inverted.is_some_and(|n| n > 0), health.held > 0);
        self.frames += 1;
        if is_inverted || is_held {
            self.flags.frames += 1;
            self.flags.inverted += usize::from(is_inverted);
            self.flags.held += usize::from(is_held);
            self.flags.first.get_or_insert_with(|| (clip.to_owned(), time));
        }
        stretch
    }

    /// What is wrong with the frames, in words; none where nothing is.
    pub(crate) fn flagged(&self) -> Option<String> {
        let (clip, time) = self.flags.first.as_ref()?;
        let kinds = [
            ("tets inside out", self.flags.inverted),
            ("nodes that could not be solved for", self.flags.held),
        ];
        let kinds: Vec<_> =
            kinds.iter().filter(|k| k.1 > 0).map(|(what, n)| format!("{what} in {n}")).collect();
        Some(format!(
            "flagged, {} of {} frames: {}; the first at {time:.3} s of '{clip}'",
            self.flags.frames,
            self.frames,
            kinds.join(", ")
        ))
    }

    /// Everything measured.
    pub(crate) fn report(mut self, input: &Input, takes: &[Take], about: Circumstances) -> Result<Report> {
        let summary = self.recorder.take().map(Recorder::finish).context("nothing was measured")?;
        let character = &input.character;
        let worst = |value: fn(&Cycle) -> f64| about.cycles.iter().map(value).reduce(f64::max);
        let run = Run {
            character: input.name.clone(),
            clip: Some(takes.iter().map(|t| &t.name[..]).collect::<Vec<_>>().join(", ")),
            method: about.method,
            weights: input.weights,
            fps: Some(takes[0].schedule.fps),
            takes: takes.iter().map(|t| (t.name.clone(), t.schedule.times.len())).collect(),
            vertices: character.surface().positions().len(),
            triangles: character.surface().triangles().len(),
            tets: self.tets.map(TetJudge::tet_count),
            balls: about.balls,
            threads: rayon::current_num_threads(),
            prepare_ms: about.prepare_ms,
            preroll_ms: about.preroll_ms,
            cycle: about
                .cycles
                .iter()
                .map(|c| c.cycles)
                .max()
                .zip(worst(|c| c.closes_within))
                .map(|(cycles, closes_within)| Loop { cycles, closes_within }),
            ms: self.ms,
            joint_names: character.skeleton().joints().iter().map(|j| j.name.clone()).collect(),
            warnings: about.warnings,
            state_hash: self.hash.hex(),
        };
        Ok(Report::new(run, &summary))
    }
}

/// An error where a frame has places that are not numbers: nothing may be made of it.
pub(crate) fn check_finite(shape: &Shape, input: &Input, clip: &str, time: f64) -> Result<()> {
    let bad = |values: &[pliant::glam::Vec3]| values.iter().position(|v| !v.is_finite());
    let Some(vertex) = bad(&shape.positions).or_else(|| bad(&shape.normals)) else { return Ok(()) };
    let character = &input.character;
    let joint = character.weights().of(vertex).next().map(|(slot, _)| {
        let joint = character.slots()[slot as usize].joint as usize;
        character.skeleton().joints()[joint].name.clone()
    });
    let joint = joint.unwrap_or_default();
    bail!("vertex {vertex} is not finite at {time} s of '{clip}': check joint '{joint}' of the input")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::asset::Character;
    use pliant::method::Health;
    use pliant::rig::Pose;
    use pliant::zoo;

    #[test]
    fn held_nodes_are_told_of_without_a_report() {
        let character: Character = zoo::character("cylinder", Some(500)).unwrap();
        let (pose, shape) = (Pose::rest(&character), Shape::rest(&character));
        let mut record = Record::new(None, None);
        for (frame, held) in [0, 3, 0, 1].into_iter().enumerate() {
            assert_eq!(record.flagged().is_some(), frame > 1);
            record.frame(
                "kick",
                &Frame {
                    time: 0.1 * frame as f64,
                    pose: &pose,
                    shape: &shape,
                    nodes: None,
                    balls: None,
                    health: Health { held, ..Default::default() },
                    ms: Milliseconds::default(),
                },
            );
        }
        let said = record.flagged().unwrap();
        assert!(said.contains("2 of 4 frames") && said.contains("0.100 s of 'kick'"), "{said}");
        assert!(!said.contains("inside out"), "{said}");
    }
}
