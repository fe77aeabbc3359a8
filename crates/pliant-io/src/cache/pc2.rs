use super::{Frames, PointCache, count, write_positions};
use crate::WriteError;
use crate::files::WholeFile;
use glam::Vec3;
use std::io::Write;

/// A `.pc2` point cache: a 32-byte header, then the points of each sample, little-endian.
#[derive(Debug)]
pub struct Pc2<W> {
    sink: W,
    frames: Frames,
}

impl<W: Write> Pc2<W> {
    /// Starts a cache of so many points and samples, one sample a frame from frame 0 on.
    pub fn new(mut sink: W, points: usize, samples: usize) -> Result<Self, WriteError> {
        sink.write_all(b"POINTCACHE2\0")?;
        sink.write_all(&1i32.to_le_bytes())?;
        sink.write_all(&count(".pc2", points)?.to_le_bytes())?;
        // First frame, and frames from sample to sample.
        sink.write_all(&0f32.to_le_bytes())?;
        sink.write_all(&1f32.to_le_bytes())?;
        sink.write_all(&count(".pc2", samples)?.to_le_bytes())?;
        Ok(Self { sink, frames: Frames::new(points, samples) })
    }

    /// Writes the next sample.
    pub fn push(&mut self, positions: &[Vec3]) -> Result<(), WriteError> {
        self.frames.next(positions)?;
        Ok(write_positions(&mut self.sink, positions)?)
    }

    /// Checks that all samples came.
    pub fn finish(self) -> Result<W, WriteError> {
        self.frames.done()?;
        Ok(self.sink)
    }
}

impl PointCache for Pc2<WholeFile> {
    fn push(&mut self, positions: &[Vec3]) -> Result<(), WriteError> {
        Pc2::push(self, positions)
    }

    fn finish(self) -> Result<WholeFile, WriteError> {
        Pc2::finish(self)
    }
}
