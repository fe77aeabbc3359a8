use super::{Frames, PointCache, count, short_times};
use crate::WriteError;
use crate::files::WholeFile;
use glam::Vec3;
use std::io::Write;

/// A `.mdd` point cache, big-endian: counts of frames and points, the frames' times, then their points.
#[derive(Debug)]
pub struct Mdd<W> {
    sink: W,
    frames: Frames,
    bytes: Vec<u8>,
}

impl<W: Write> Mdd<W> {
    /// Starts a cache of so many points with frames at these times.
    pub fn new(mut sink: W, points: usize, times: &[f64]) -> Result<Self, WriteError> {
        sink.write_all(&count(".mdd", times.len())?.to_be_bytes())?;
        sink.write_all(&count(".mdd", points)?.to_be_bytes())?;
        for time in short_times(times)? {
            sink.write_all(&time.to_be_bytes())?;
        }
        Ok(Self { sink, frames: Frames::new(points, times.len()), bytes: Vec::new() })
    }

    /// Writes the next frame.
    pub fn push(&mut self, positions: &[Vec3]) -> Result<(), WriteError> {
        self.frames.next(positions)?;
        self.bytes.clear();
        self.bytes.extend(positions.iter().flat_map(|p| p.to_array()).flat_map(f32::to_be_bytes));
        Ok(self.sink.write_all(&self.bytes)?)
    }

    /// Checks that all frames came.
    pub fn finish(self) -> Result<W, WriteError> {
        self.frames.done()?;
        Ok(self.sink)
    }
}

impl PointCache for Mdd<WholeFile> {
    fn push(&mut self, positions: &[Vec3]) -> Result<(), WriteError> {
        Mdd::push(self, positions)
    }

    fn finish(self) -> Result<WholeFile, WriteError> {
        Mdd::finish(self)
    }
}
