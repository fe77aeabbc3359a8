//! The frame of a bake that its report shows.

use crate::picture::View;
use crate::portrait::{Heat, Portrait};
use crate::report::Captioned;
use anyhow::Result;
use pliant::measure::Judge;
use pliant::method::Shape;
use pliant::rig::Pose;
use pliant_kit::drive::Frame;
use pliant_kit::input::Input;

/// The most stretched frame.
pub(super) struct Worst {
    time: f64,
    stretch: f64,
    pose: Pose,
    shape: Shape,
}

impl Worst {
    /// Of the worst so far and the next frame the worse.
    pub(super) fn keep(worst: &mut Option<Self>, stretch: f64, frame: &Frame<'_>) {
        if worst.as_ref().is_none_or(|w| stretch > w.stretch) {
            let (pose, shape) = (frame.pose.clone(), frame.shape.clone());
            *worst = Some(Self { time: frame.time, stretch, pose, shape });
        }
    }
}

/// Rest, worst frame, and what is wrong with it, by one camera.
pub(super) fn pictures(input: &Input, judge: &Judge, worst: &Worst) -> Result<Vec<Captioned>> {
    let rest = Shape::rest(&input.character);
    let rest_pose = Pose::rest(&input.character);
    let portrait = Portrait::new(input, 640, 640, View::Quarter, false);
    let stretch = Heat::Stretch.values(judge, &worst.pose, &worst.shape.positions);
    let volume = Heat::Volume.values(judge, &worst.pose, &worst.shape.positions);
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
