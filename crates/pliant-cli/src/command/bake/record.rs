//! What is kept of a bake's frames as they go by.

use super::Take;
use crate::args::BakeArgs;
use crate::picture::View;
use crate::portrait::{Heat, Portrait};
use crate::report::{Balls, Loop, Report, Run};
use anyhow::{Context, Result};
use pliant::measure::{Judge, Recorder, TetJudge};
use pliant::method::Shape;
use pliant::rig::Pose;
use pliant_kit::drive::{Cycle, Frame, Milliseconds};
use pliant_kit::hash::StateHash;
use pliant_kit::input::{Input, extension};

/// A caption and a PNG.
type Captioned = (String, Vec<u8>);

/// A frame worth a picture.
struct Worst {
    time: f64,
    stretch: f64,
    pose: Pose,
    shape: Shape,
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
pub(super) struct Record<'a> {
    hash: StateHash,
    ms: Vec<Milliseconds>,
    tets: Option<&'a TetJudge>,
    recorder: Option<Recorder<'a>>,
    worst: Option<Worst>,
    frames: usize,
    flags: Flags,
}

/// What a report says beside what was measured.
pub(super) struct Circumstances {
    pub(super) method: String,
    pub(super) prepare_ms: f64,
    pub(super) preroll_ms: f64,
    pub(super) balls: Option<Balls>,
    pub(super) cycles: Vec<Cycle>,
    /// All that was odd, in words.
    pub(super) warnings: Vec<String>,
}

impl<'a> Record<'a> {
    /// Measures all that there is a judge for.
    pub(super) fn new(judge: Option<&'a Judge>, tets: Option<&'a TetJudge>) -> Self {
        Self {
            hash: StateHash::default(),
            ms: vec![],
            tets,
            recorder: judge.map(|judge| judge.record(tets)),
            worst: None,
            frames: 0,
            flags: Flags::default(),
        }
    }

    pub(super) fn frame(&mut self, clip: &str, frame: &Frame<'_>) {
        let Frame { time, pose, shape, nodes, health, ms, .. } = *frame;
        // Tets that only tell the skin's volume lie as its weights say: there is no flesh to be inside out.
        let is_flesh = health.off.is_none();
        let inverted = match &mut self.recorder {
            Some(recorder) => {
                let measures = recorder.frame(time, pose, &shape.positions, nodes);
                measures.inverted_tets = measures.inverted_tets.filter(|_| is_flesh);
                measures.min_det_f = measures.min_det_f.filter(|_| is_flesh);
                measures.residual = health.residual.map(f64::from);
                measures.held = health.held;
                measures.volume_error_before_overlap_percent =
                    health.off_before_overlap.map(|off| 100.0 * off.abs());
                measures.overlap_vertices = health.parted;
                let stretch = measures.edge_stretch.map_or(0.0, |s| s.max);
                let inverted = measures.inverted_tets;
                self.ms.push(ms);
                self.hash.frame(&shape.positions);
                if self.worst.as_ref().is_none_or(|w| stretch > w.stretch) {
                    self.worst = Some(Worst { time, stretch, pose: pose.clone(), shape: shape.clone() });
                }
                inverted
            }
            // The end of the command does not depend on whether a report is asked for.
            None => {
                let tets = self.tets.filter(|_| is_flesh).zip(nodes);
                tets.and_then(|(tets, nodes)| tets.frame(pose, nodes)).map(|m| m.inverted)
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
    }

    /// What is wrong with the frames, in words; none where nothing is.
    pub(super) fn flagged(&self) -> Option<String> {
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

    /// Everything measured, and pictures if the report shows them.
    pub(super) fn report(
        mut self,
        input: &Input,
        judge: &Judge,
        takes: &[Take],
        args: &BakeArgs,
        about: Circumstances,
    ) -> Result<(Report, Vec<Captioned>)> {
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
        let shows_pictures = args.report.as_ref().is_some_and(|path| extension(path) == "html");
        let pictures = if shows_pictures { pictures(input, judge, self.worst.take())? } else { vec![] };
        Ok((Report::new(run, &summary), pictures))
    }
}

/// Rest, worst frame, and what is wrong with it, by one camera.
fn pictures(input: &Input, judge: &Judge, worst: Option<Worst>) -> Result<Vec<Captioned>> {
    let Some(worst) = worst else { return Ok(vec![]) };
    let rest = Shape::rest(&input.character);
    let rest_pose = Pose::rest(&input.character);
    let portrait = Portrait::new(input, 640, 640, View::Quarter, false);
    let stretch = judge.stretch(&worst.pose, &worst.shape.positions);
    let volume = judge.volume_field(&worst.pose, &worst.shape.positions);
    let at = format!("most stretched frame, at {:.3} s", worst.time);
    let shot = |caption: &str, shape: &Shape, pose: &Pose, heat| -> Result<Captioned> {
        Ok((caption.to_owned(), portrait.take(shape, pose, heat)?.to_png()?))
    };
    let (shape, pose) = (&worst.shape, &worst.pose);
    Ok(vec![
        shot("rest", &rest, &rest_pose, None)?,
        shot(&at, shape, pose, None)?,
        shot(&format!("stretch, {at}"), shape, pose, Some((Heat::Stretch, &stretch[..])))?,
        shot(&format!("volume, {at}"), shape, pose, Some((Heat::Volume, &volume[..])))?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::asset::Character;
    use pliant::method::Health;
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
