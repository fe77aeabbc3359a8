use super::buffers::{Uri, uri};
use super::read::read;
use super::schema::Root;
use super::write::{joint_nodes, write_character};
use crate::WriteError;
use crate::files::NoFiles;
use pliant::asset::Character;
use std::collections::BTreeSet;
use std::ops::Range;

/// Where the bytes of a buffer are.
#[derive(Debug, Clone)]
pub(crate) enum Bytes {
    /// A range of the file itself (a GLB's binary chunk).
    InFile(Range<usize>),
    /// Read from beside the file, from a data URI, or decompressed.
    Own(Vec<u8>),
}

/// Which primitive of which node a part of the character came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartSource {
    pub(crate) node: usize,
    pub(crate) primitive: usize,
}

/// A glTF file that has been read and checked, kept as it came so that everything Pliant does not deform survives to
/// the output, with what ties a [`pliant::asset::Character`] to it.
#[derive(Debug, Clone)]
pub struct Document {
    /// The whole file.
    pub(crate) file: Vec<u8>,
    /// The JSON text within `file`.
    pub(crate) json: Range<usize>,
    /// Every buffer. Empty for the placeholder buffers of compressed views.
    pub(crate) buffers: Vec<Bytes>,
    /// The buffer views that were compressed, decoded: `decoded[i]` for view `i`.
    pub(crate) decoded_views: Vec<Option<Vec<u8>>>,
    /// For each part of the character, where it came from.
    pub(crate) parts: Vec<PartSource>,
    /// For each joint of the character's skeleton, its node.
    pub(crate) joint_nodes: Vec<usize>,
    /// For each clip of the character, its animation.
    pub(crate) clip_animations: Vec<usize>,
}

impl Document {
    /// The document of a character that came from no glTF file.
    pub fn of(character: &Character) -> Result<Self, WriteError> {
        let file = write_character(character)?;
        let read = read(file, &NoFiles);
        let read = read.map_err(|error| WriteError::at("character", error.to_string()))?;
        // A reader numbers joints as it meets them, parents before their children; the character may not.
        Ok(Self { joint_nodes: joint_nodes(character), ..read.document })
    }

    /// The JSON text.
    pub fn json(&self) -> &[u8] {
        &self.file[self.json.clone()]
    }

    /// The files that it refers to, there or not, by their names from its own folder: buffers, then images, each once.
    pub fn beside(&self) -> Vec<String> {
        let Ok(root) = serde_json::from_slice::<Root<'_>>(self.json()) else { return vec![] };
        let buffers = root.buffers.iter().filter_map(|b| b.uri.as_deref());
        let images = root.images.iter().filter_map(|i| i.uri.as_deref());
        let names = buffers.chain(images).filter_map(|text| match uri(text) {
            Ok(Uri::Beside(name)) => Some(name),
            _ => None,
        });
        let mut known = BTreeSet::new();
        names.filter(|name| known.insert(name.clone())).collect()
    }

    /// The whole file as it came.
    pub fn file(&self) -> &[u8] {
        &self.file
    }

    /// For each part of the character, its node and which primitive of that node's mesh it is.
    pub fn part_sources(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.parts.iter().map(|source| (source.node, source.primitive))
    }

    /// For each joint of the character's skeleton, its node.
    pub fn joint_nodes(&self) -> &[usize] {
        &self.joint_nodes
    }

    /// Bytes of a buffer.
    pub(crate) fn buffer(&self, index: usize) -> &[u8] {
        match &self.buffers[index] {
            Bytes::InFile(range) => &self.file[range.clone()],
            Bytes::Own(bytes) => bytes,
        }
    }
}
