//! Pictures of all methods at the same moments.

use super::Played;
use crate::portrait::{Heat, Portrait};
use crate::report::comparison::{Comparison, Moment, Strip, WorstBy};
use crate::report::{Measure, Report};
use crate::take::Take;
use anyhow::{Context, Result};
use glam::Vec3;
use pliant::measure::Judge;
use pliant::method::Shape;
use pliant::rig::Pose;
use pliant_kit::drive::{Drive, Frame};
use pliant_kit::host::Progress;
use pliant_kit::input::Input;
use pliant_kit::motion::Schedule;

/// Where pictures are taken.
pub(super) struct Studio<'s> {
    pub(super) input: &'s Input,
    pub(super) judge: &'s Judge,
    pub(super) portrait: &'s Portrait<'s>,
    pub(super) take: &'s Take,
}

/// A picture of every method.
struct Shot {
    moment: Moment,
    heat: Option<Heat>,
    /// The outermost points of all methods, so that one camera serves all.
    frame: Vec<Vec3>,
}

impl Studio<'_> {
    /// Rest, the moments, and heat maps of the worst of them, each by all methods.
    pub(super) fn strips(
        &self,
        played: &[Played<'_>],
        reports: &[Report],
        moments: &[Moment],
        progress: &mut dyn Progress,
    ) -> Result<Vec<Strip>> {
        let shots = self.shots(played, reports, moments);
        let frames: Vec<usize> = shots.iter().map(|s| s.moment.frame).collect();
        let schedules: Vec<Schedule> = played.iter().map(|p| self.schedule(p, &frames)).collect();
        let steps = played.iter().zip(&schedules).map(|(p, s)| Drive::steps(&*p.deformer, s));
        progress.more(steps.sum::<usize>() + shots.len() * played.len() + 1);
        let mut strips = vec![self.rest()?];
        progress.step();
        strips.extend(shots.iter().map(|s| Strip {
            title: title(s),
            note: note(s),
            pictures: vec![],
            legend: s.heat.map(Heat::legend),
        }));
        for ((played, report), schedule) in played.iter().zip(reports).zip(&schedules) {
            progress.now(&format!("pictures of {}", report.method));
            let pictures = self.album(played, schedule, &shots, progress)?;
            for ((strip, shot), picture) in strips.iter_mut().skip(1).zip(&shots).zip(pictures) {
                let said = Comparison::said(report, &shot.moment);
                strip.pictures.push((report.method.clone(), said, picture));
            }
        }
        Ok(strips)
    }

    fn rest(&self) -> Result<Strip> {
        let character = &self.input.character;
        let png = self.portrait.take(&Shape::rest(character), &Pose::rest(character), None)?.to_png()?;
        let pictures = vec![("rest".to_owned(), "before any method moves it".to_owned(), png)];
        Ok(Strip { title: "Rest".to_owned(), note: String::new(), pictures, legend: None })
    }

    /// All that is taken of each method.
    fn shots(&self, played: &[Played<'_>], reports: &[Report], moments: &[Moment]) -> Vec<Shot> {
        let shot = |moment: Moment, heat| {
            let frame = played.iter().flat_map(|p| &p.outermost[moment.frame]).copied().collect();
            Shot { frame, moment, heat }
        };
        let plain = moments.iter().cloned().map(|m| shot(m, None));
        // An open skin has no volume to be worst by.
        let heats = [(Heat::Stretch, ["edge stretch"; 2]), (Heat::Volume, ["volume error", "edge stretch"])];
        let heats = heats.iter().filter_map(|(heat, measures)| {
            let worst = measures.iter().filter_map(|name| Measure::named(name)?.moment(reports));
            Some(shot(worst.into_iter().next()?, Some(*heat)))
        });
        plain.chain(heats).collect()
    }

    /// The frames that a method has to be played at for some to be seen: all up to the last where it remembers.
    fn schedule(&self, played: &Played<'_>, frames: &[usize]) -> Schedule {
        let Schedule { fps, times } = &self.take.schedule;
        let last = frames.iter().max().map_or(0, |last| last + 1);
        let is_taken = |frame: &usize| played.deformer.remembers() || frames.contains(frame);
        Schedule { fps: *fps, times: (0..last).filter(is_taken).map(|frame| times[frame]).collect() }
    }

    /// A method's pictures, as PNG and in the order of the shots.
    fn album(
        &self,
        played: &Played<'_>,
        schedule: &Schedule,
        shots: &[Shot],
        progress: &mut dyn Progress,
    ) -> Result<Vec<Vec<u8>>> {
        let mut pictures = vec![None; shots.len()];
        let mut drive = Drive::new(&self.input.character, &*played.deformer);
        let mut taken = 0;
        drive.play(self.take.source(self.input), schedule, progress, &mut |frame| {
            let due = shots.iter().zip(&mut pictures).filter(|(s, _)| s.moment.time == frame.time);
            for (shot, picture) in due {
                *picture = Some(self.picture(shot, &frame)?);
                taken += 1;
            }
            Ok(())
        })?;
        (0..taken).for_each(|_| progress.step());
        pictures.into_iter().collect::<Option<_>>().context("a moment was not played")
    }

    fn picture(&self, shot: &Shot, frame: &Frame<'_>) -> Result<Vec<u8>> {
        let (shape, pose) = (frame.shape, frame.pose);
        let values = shot.heat.map(|heat| (heat, heat.values(self.judge, pose, &shape.positions)));
        let heat = values.as_ref().map(|(heat, values)| (*heat, &values[..]));
        self.portrait.take_within(&shot.frame, shape, pose, heat)?.to_png()
    }
}

fn title(shot: &Shot) -> String {
    let at = format!("frame {}, at {:.3} s", shot.moment.frame, shot.moment.time);
    match shot.heat {
        Some(Heat::Stretch) => format!("Stretch, {at}"),
        Some(Heat::Volume) => format!("Local volume, {at}"),
        None => format!("At {:.3} s, frame {}", shot.moment.time, shot.moment.frame),
    }
}

/// What makes the moment worth a look.
fn note(shot: &Shot) -> String {
    let by = |w: &WorstBy| Some(format!("{} ({})", Measure::named(w.measure)?.most, w.method));
    let by: Vec<String> = shot.moment.worst.iter().filter_map(by).collect();
    if by.is_empty() { String::new() } else { format!("Here: {}", by.join(", ")) }
}
