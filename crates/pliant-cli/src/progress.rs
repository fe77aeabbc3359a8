//! Progress with time left, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// A bar that appears once the work has taken a second.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// When to appear; never when quiet.
    due: Option<Instant>,
}

impl Progress {
    pub(crate) fn new(what: &str, steps: usize, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        Self { bar, due: (!quiet).then(|| Instant::now() + Duration::from_secs(1)) }
    }

    pub(crate) fn step(&mut self) {
        if self.due.is_some_and(|due| Instant::now() >= due) {
            self.due = None;
            // Draws nothing where standard error is not a terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
