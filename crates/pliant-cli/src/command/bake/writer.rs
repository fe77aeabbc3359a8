//! Where the frames of a bake go.

use crate::args::{BakeArgs, Common};
use crate::shell;
use crate::take::Take;
use crate::terminal::shown;
use anyhow::{Context, Result};
use pliant::method::Shape;
use pliant_io::cache::{self, FrameWriter};
use pliant_io::files::{ReadyFile, WholeFile};
use pliant_io::gltf::{BakedClip, GlbBake};
use pliant_kit::input::Input;
use std::path::PathBuf;

/// Where the frames go: one GLB for all takes, or a cache for each. Files are opened one after the other.
pub(super) struct Writer<'a> {
    input: &'a Input,
    /// For caches: what is to come, the next one last.
    ahead: Vec<(PathBuf, &'a Take)>,
    /// The writer that takes frames now, and how many more.
    open: Option<(Box<dyn FrameWriter>, usize)>,
    /// All there but for their names.
    pub(super) ready: Vec<ReadyFile>,
}

impl<'a> Writer<'a> {
    pub(super) fn create(
        input: &'a Input,
        takes: &'a [Take],
        args: &BakeArgs,
        common: &Common,
    ) -> Result<Self> {
        let output = &args.output;
        let named = || shown(output);
        let mut writer = Self { input, ahead: vec![], open: None, ready: vec![] };
        if cache::Format::of(output).is_some() {
            let paths = cache::named_paths(output, takes.iter().map(|t| &t.name[..]));
            writer.ahead = paths.into_iter().zip(takes).rev().collect();
            // What cannot be written should fail before anything is computed.
            writer.open_next()?;
        } else {
            let clips: Vec<BakedClip> = takes
                .iter()
                .map(|t| BakedClip { clip: t.clip, name: &t.name, times: &t.schedule.times })
                .collect();
            let sink = WholeFile::create(output).with_context(named)?;
            let files = input.files.as_ref();
            let (glb, warnings) =
                GlbBake::new(sink, &input.document, &input.character, files, &clips).with_context(named)?;
            shell::warn(&warnings, common);
            let frames = takes.iter().map(|t| t.schedule.times.len()).sum();
            writer.open = Some((Box::new(glb), frames));
        }
        Ok(writer)
    }

    fn open_next(&mut self) -> Result<()> {
        if let Some((path, take)) = self.ahead.pop() {
            let format = cache::Format::of(&path).context("not a cache")?;
            let times = &take.schedule.times;
            let cache =
                cache::create(&path, format, &self.input.character, times).with_context(|| shown(&path))?;
            self.open = Some((cache, times.len()));
        }
        Ok(())
    }

    pub(super) fn push(&mut self, shape: &Shape) -> Result<()> {
        let (writer, left) = self.open.as_mut().context("more frames than were announced")?;
        writer.push(shape)?;
        *left -= 1;
        if *left == 0
            && let Some((full, _)) = self.open.take()
        {
            self.ready.extend(full.finish()?);
            self.open_next()?;
        }
        Ok(())
    }
}
