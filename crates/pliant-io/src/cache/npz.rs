use super::zip::Zip;
use super::{Frames, write_positions};
use crate::WriteError;
use glam::Vec3;
use pliant::asset::Character;
use std::io::{Seek, Write};

/// A NumPy archive: `positions` (frames x vertices x 3), `rest` (vertices x 3), `times` (frames), `triangles`
/// (triangles x 3), `part_names` (parts) and `part_offsets` (parts + 1; part `i` has vertices
/// `part_offsets[i]..part_offsets[i + 1]`), all in scene space.
#[derive(Debug)]
pub struct Npz<W> {
    zip: Zip<W>,
    frames: Frames,
    bytes: Vec<u8>,
}

impl<W: Write + Seek> Npz<W> {
    /// Writes everything but the frames, which are to come at these times.
    pub fn new(sink: W, character: &Character, times: &[f64]) -> Result<Self, WriteError> {
        if let Some(frame) = times.iter().position(|t| !t.is_finite()) {
            return Err(WriteError::at(format!("frame {frame}"), "its time is not a finite number"));
        }
        let rest = character.rest_positions();
        let triangles = character.surface().triangles();
        let parts = character.parts();
        // NumPy keeps text as UTF-32, every string as wide as the widest.
        let width = parts.iter().map(|p| p.name.chars().count()).max().unwrap_or(0).max(1);
        let names = parts.iter().flat_map(|part| {
            let padding = std::iter::repeat('\0');
            part.name.chars().chain(padding).take(width).flat_map(|c| u32::from(c).to_le_bytes())
        });
        let offsets = std::iter::once(0).chain(parts.iter().map(|p| p.vertices.end));

        let mut zip = Zip::new(sink);
        let mut put = |name, kind: &str, shape: &[usize], data: Vec<u8>| {
            let head = head(kind, shape);
            zip.begin(name, (head.len() + data.len()) as u64)?;
            zip.write(&head)?;
            zip.write(&data)
        };
        let mut bytes = Vec::new();
        write_positions(&mut bytes, &rest)?;
        put("rest.npy", "<f4", &[rest.len(), 3], bytes)?;
        put("times.npy", "<f8", &[times.len()], times.iter().flat_map(|t| t.to_le_bytes()).collect())?;
        let corners = triangles.iter().flatten().flat_map(|v| v.to_le_bytes());
        put("triangles.npy", "<u4", &[triangles.len(), 3], corners.collect())?;
        put("part_names.npy", &format!("<U{width}"), &[parts.len()], names.collect())?;
        let offsets = offsets.flat_map(u32::to_le_bytes).collect();
        put("part_offsets.npy", "<u4", &[parts.len() + 1], offsets)?;

        let head = head("<f4", &[times.len(), rest.len(), 3]);
        zip.begin("positions.npy", head.len() as u64 + times.len() as u64 * rest.len() as u64 * 12)?;
        zip.write(&head)?;
        Ok(Self { zip, frames: Frames::new(rest.len(), times.len()), bytes: Vec::new() })
    }

    /// Writes the next frame.
    pub fn push(&mut self, positions: &[Vec3]) -> Result<(), WriteError> {
        self.frames.next(positions)?;
        self.bytes.clear();
        write_positions(&mut self.bytes, positions)?;
        Ok(self.zip.write(&self.bytes)?)
    }

    /// Checks that all frames came, and writes the archive's directory.
    pub fn finish(self) -> Result<W, WriteError> {
        self.frames.done()?;
        Ok(self.zip.finish()?)
    }
}

/// The head of an array, padded so that its data begins at a multiple of 64 bytes.
fn head(kind: &str, shape: &[usize]) -> Vec<u8> {
    // Python's tuples: `(3,)` and `(3, 4)`.
    let sizes: Vec<_> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let text =
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}{comma}), }}", sizes.join(", "));
    // Magic, version and length take 10 bytes, the final line feed one.
    let padding = (64 - (text.len() + 11) % 64) % 64;
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend(((text.len() + padding + 1) as u16).to_le_bytes());
    head.extend(text.bytes());
    head.extend(std::iter::repeat_n(b' ', padding));
    head.push(b'\n');
    head
}
