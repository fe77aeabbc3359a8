//! The page as a shell of the kit: files that it has handed over, and its ear for progress.

use anyhow::{Context, Result};
use pliant_io::Files;
use pliant_kit::host::{Host, Progress};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::rc::Rc;

/// Files that were dropped on the page, by name.
#[derive(Default, Clone)]
pub(crate) struct Dropped(pub(crate) BTreeMap<String, Rc<Vec<u8>>>);

impl Host for Dropped {
    fn bytes(&self, path: &Path) -> Result<Vec<u8>> {
        let name = path.to_string_lossy();
        let bytes = self.0.get(&name[..]).with_context(|| format!("{name}: it was not dropped"))?;
        Ok(bytes.to_vec())
    }

    fn beside(&self, path: &Path) -> Box<dyn Files> {
        let name = path.to_string_lossy();
        let folder = name.rfind('/').map_or("", |slash| &name[..=slash]).to_owned();
        Box::new(Beside { files: self.clone(), folder })
    }

    fn progress(&self, _: &str, steps: usize) -> Box<dyn Progress> {
        Box::new(Share { done: 0, of: steps })
    }
}

/// Files in the folder of one, and below.
struct Beside {
    files: Dropped,
    /// With a `/` at its end, or empty.
    folder: String,
}

impl Files for Beside {
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        let name = name.strip_prefix("./").unwrap_or(name);
        let bytes = self.files.0.get(&format!("{}{name}", self.folder)).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "it was not dropped: drop the whole folder, or all files at once",
            )
        })?;
        if bytes.len() as u64 > limit {
            let what = format!("it is larger than {limit} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        Ok(bytes.to_vec())
    }
}

/// Steps as a share.
struct Share {
    done: usize,
    of: usize,
}

impl Progress for Share {
    fn now(&mut self, _: &str) {}

    fn more(&mut self, steps: usize) {
        self.of += steps;
    }

    fn step(&mut self) {
        self.done += 1;
        tell(self.done as f32 / self.of.max(1) as f32);
    }
}

#[cfg(target_arch = "wasm32")]
fn tell(share: f32) {
    #[link(wasm_import_module = "pliant")]
    unsafe extern "C" {
        safe fn progress(share: f32);
    }
    progress(share);
}

#[cfg(not(target_arch = "wasm32"))]
fn tell(_: f32) {}
