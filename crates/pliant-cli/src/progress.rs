//! Progress with time left, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pliant_kit::host::Progress;
use std::time::{Duration, Instant};

/// A bar that appears once the work has taken a second.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// When to appear; never when quiet.
    due: Option<Instant>,
}

impl Bar {
    pub(crate) fn new(what: &str, steps: usize, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        Self { bar, due: (!quiet).then(|| Instant::now() + Duration::from_secs(1)) }
    }

    /// Work of unknown length.
    pub(crate) fn busy(what: &'static str, quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target).with_message(what);
        bar.enable_steady_tick(Duration::from_secs(1));
        Self { bar, due: None }
    }

    fn appear(&mut self) {
        if self.due.is_some_and(|due| Instant::now() >= due) {
            self.due = None;
            // Draws nothing where standard error is not a terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
    }
}

impl Progress for Bar {
    fn now(&mut self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.appear();
    }

    fn more(&mut self, steps: usize) {
        self.bar.inc_length(steps as u64);
    }

    fn step(&mut self) {
        self.appear();
        self.bar.inc(1);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
