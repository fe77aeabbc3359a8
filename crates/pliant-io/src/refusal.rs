use std::io;
use thiserror::Error;

/// Why something cannot be written. Nothing is left on disk then.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The disk, or whatever is written to, said no.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A NaN or an infinity, which no viewer can show.
    #[error("{what} of vertex {vertex} in frame {frame} is not a finite number")]
    NotFinite {
        /// Kind of value.
        what: &'static str,
        /// Which vertex.
        vertex: usize,
        /// Which frame, counted from 0 over all clips.
        frame: usize,
    },
    /// A frame, or a list that goes with it, of the wrong length.
    #[error("{what}: {found} where {expected} are needed")]
    Length {
        /// What is miscounted.
        what: &'static str,
        /// Count needed.
        expected: usize,
        /// Count found.
        found: usize,
    },
    /// More morph targets than viewers bear.
    #[error(
        "{frames} frames are more than the {limit} that a baked .glb may hold; \
         bake fewer (--start, --end, --fps) or write a point cache (.pc2)"
    )]
    TooManyFrames {
        /// Frames asked for.
        frames: usize,
        /// The most there may be.
        limit: usize,
    },
    /// More pieces than a reader of the file could hold.
    #[error(
        "{parts} parts in {frames} frames are more than a baked .glb can list; bake fewer frames (--start, --end, \
         --fps) or write a point cache (.npz, .pc2)"
    )]
    TooManyParts {
        /// Parts of the character.
        parts: usize,
        /// Frames asked for.
        frames: usize,
    },
    /// More bytes than the format can count.
    #[error("it would take {bytes} bytes, more than {format} can hold; {hint}")]
    TooLarge {
        /// The format's name.
        format: &'static str,
        /// Bytes needed.
        bytes: u64,
        /// What to do instead.
        hint: &'static str,
    },
    /// Something that the format cannot express.
    #[error("{place}: {what}")]
    Unwritable {
        /// Where: a JSON path of the input, or what the data is called.
        place: String,
        /// What is wrong with it.
        what: String,
    },
}

impl WriteError {
    pub(crate) fn at(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Unwritable { place: place.into(), what: what.into() }
    }

    /// An error unless two counts agree.
    pub(crate) fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), Self> {
        if expected == found { Ok(()) } else { Err(Self::Length { what, expected, found }) }
    }
}
