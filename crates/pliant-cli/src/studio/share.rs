//! The character that the page is to begin with: its files, and no others.

use crate::args::Common;
use crate::shell;
use anyhow::{Context, Result};
use pliant::rig::weights::WeightKind;
use pliant_io::files::{Folder, read_limited};
use pliant_kit::input::{Input, Request, sample_name};
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};

pub(crate) enum Share {
    /// The page makes it itself.
    Sample(String),
    Files(Files),
}

pub(crate) struct Files {
    /// The character's own file first.
    listed: Vec<Listed>,
    /// Where the rest of a glTF is.
    folder: Folder,
    skeleton: Option<String>,
    weights: Option<String>,
}

/// A file under the name that the page knows it by.
struct Listed {
    name: String,
    /// As the command line says; else it is found by its name.
    given: Option<PathBuf>,
}

impl Share {
    /// Opens the character as every command does: what cannot be moved is refused here, not on the page.
    pub(crate) fn open(request: Request, common: &Common) -> Result<Self> {
        // The page makes weights where there are none; these only need to be quick.
        let usual_weights = Some(WeightKind::Distance(Default::default()));
        let request = Request { usual_weights, ..request };
        let input = Input::open(&request, common)?;
        shell::warn(&input.warnings, common);
        if let Some(name) = sample_name(&request.file) {
            return Ok(Self::Sample(name.to_owned()));
        }
        let given = |path: &PathBuf| Listed { name: name_of(path), given: Some(path.clone()) };
        let mut listed = vec![given(&request.file)];
        listed.extend([&request.skeleton, &request.weights_file].into_iter().flatten().map(given));
        let folder = Folder::of(&request.file);
        // Images that are missing or lie outside are passed over, as everywhere.
        let beside = input.document.beside().into_iter();
        let beside = beside.filter(|name| *name != listed[0].name && folder.path(name).is_ok());
        let beside: Vec<_> = beside.map(|name| Listed { name, given: None }).collect();
        listed.extend(beside);
        let [skeleton, weights] =
            [&request.skeleton, &request.weights_file].map(|p| p.as_deref().map(name_of));
        Ok(Self::Files(Files { listed, folder, skeleton, weights }))
    }

    /// What there is to open.
    pub(super) fn about(&self) -> Result<Value> {
        match self {
            Self::Sample(name) => Ok(json!({ "sample": name })),
            Self::Files(files) => files.about(),
        }
    }

    /// A file's bytes, as they are now; `None` where there is no such file.
    pub(super) fn bytes(&self, index: usize) -> Option<Result<Vec<u8>>> {
        let Self::Files(files) = self else { return None };
        let file = files.listed.get(index)?;
        let read = files.path(file).and_then(|path| read_limited(&path, shell::MAX_FILE_BYTES));
        Some(read.with_context(|| cannot_read(file)))
    }
}

impl Files {
    fn about(&self) -> Result<Value> {
        let size = |file: &Listed| Ok::<_, io::Error>(self.path(file)?.metadata()?.len());
        let files = self.listed.iter().map(|file| {
            let size = size(file).with_context(|| cannot_read(file))?;
            Ok(json!({ "name": file.name, "size": size }))
        });
        let mut about = json!({ "main": self.listed[0].name, "files": files.collect::<Result<Value>>()? });
        for (key, name) in [("skeleton", &self.skeleton), ("weights", &self.weights)] {
            if let Some(name) = name {
                about[key] = json!(name);
            }
        }
        Ok(about)
    }

    fn path(&self, file: &Listed) -> io::Result<PathBuf> {
        file.given.clone().map_or_else(|| self.folder.path(&file.name), Ok)
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn cannot_read(file: &Listed) -> String {
    format!("{}: cannot read it", file.name)
}
