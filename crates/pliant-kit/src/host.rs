//! What a shell gives to the work: files, and an ear for how far it is.

use anyhow::Result;
use pliant_io::Files;
use std::path::Path;

/// A shell.
pub trait Host {
    /// A file's bytes, or why not, by name.
    fn bytes(&self, path: &Path) -> Result<Vec<u8>>;

    /// The files beside one.
    fn beside(&self, path: &Path) -> Box<dyn Files>;

    /// Work of so many steps begins.
    fn progress(&self, what: &str, steps: usize) -> Box<dyn Progress>;
}

/// Work on its way; over when it is dropped.
pub trait Progress {
    /// Says what is done now.
    fn now(&mut self, what: &str);

    /// So many steps more than were known of.
    fn more(&mut self, steps: usize);

    /// A step is done.
    fn step(&mut self);
}

/// Nobody listens.
impl Progress for () {
    fn now(&mut self, _: &str) {}
    fn more(&mut self, _: usize) {}
    fn step(&mut self) {}
}

/// Work that tells how far it is by a share from 0 to 1, as steps. It is never asked to stop: who does not want it any
/// more ends the whole process, or worker.
pub(crate) fn in_steps(host: &dyn Host, what: &str) -> impl FnMut(f32) -> bool {
    const STEPS: usize = 100;
    let mut bar = host.progress(what, STEPS);
    let mut shown = 0;
    move |share| {
        while shown < (share * STEPS as f32) as usize {
            shown += 1;
            bar.step();
        }
        true
    }
}
