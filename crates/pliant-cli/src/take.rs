//! One motion to play: a clip, and which moments of it.

use crate::args::{Common, SpanArgs};
use crate::shell;
use anyhow::Result;
use pliant::asset::Clip;
use pliant_io::Warning;
use pliant_kit::input::Input;
use pliant_kit::motion::Schedule;

/// One motion to play.
pub(crate) struct Take {
    /// The character's clip; none for a still.
    pub(crate) clip: Option<usize>,
    pub(crate) name: String,
    pub(crate) schedule: Schedule,
}

impl Take {
    pub(crate) fn new(input: &Input, clip: Option<usize>, schedule: Schedule) -> Self {
        let name = match clip.map(|i| (i, input.character.clips()[i].name())) {
            Some((i, "")) => format!("clip {i}"),
            Some((_, name)) => name.to_owned(),
            None => "default pose".to_owned(),
        };
        Self { clip, name, schedule }
    }

    /// A clip, or the default pose where there is none, cut as the command line says: as it was recorded, however fast it
    /// is played.
    pub(crate) fn cut(
        input: &Input,
        clip: Option<usize>,
        span: &SpanArgs,
        speed: Option<f64>,
        most: usize,
        common: &Common,
    ) -> Result<Self> {
        let speed = speed.unwrap_or(1.0);
        let played = |seconds: Option<f64>| seconds.map(|s| s / speed);
        let source = clip.map(|i| &input.character.clips()[i]);
        let schedule = Schedule::new(source, span.fps, played(span.start), played(span.end), most)?;
        let last = speed * source.map_or(0.0, Clip::end);
        if let Some(end) = span.end.filter(|&end| end > last + 1e-6) {
            let what = format!("{end} s is past the clip's end at {last} s");
            shell::warn(&[Warning::new("--end", what, 1)], common);
        }
        Ok(Self::new(input, clip, schedule))
    }

    /// What is played; none for a still.
    pub(crate) fn source<'i>(&self, input: &'i Input) -> Option<&'i Clip> {
        self.clip.map(|index| &input.character.clips()[index])
    }
}
