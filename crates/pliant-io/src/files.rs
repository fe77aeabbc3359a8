//! Files beside a file, and files written whole.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

/// Where a reader finds the files that a file refers to.
pub trait Files {
    /// The bytes of `name`, a relative path with `/`. Refuses what lies outside, and more than `limit` bytes.
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>>;
}

/// No files: a lone file must be complete.
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str, _: u64) -> io::Result<Vec<u8>> {
        Err(io::Error::new(io::ErrorKind::NotFound, "there are no files beside this one"))
    }
}

/// A folder on disk and all below it; nothing outside, not even through a link.
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// The folder that `file` lies in.
    pub fn of(file: &Path) -> Self {
        let parent = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self { root: parent.to_path_buf() }
    }
}

impl Files for Folder {
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        let outside = || io::Error::new(io::ErrorKind::PermissionDenied, "it lies outside the file's folder");
        let relative = Path::new(name);
        if name.contains('\\')
            || !relative.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir))
        {
            return Err(outside());
        }
        let path = self.root.join(relative).canonicalize()?;
        if !path.starts_with(self.root.canonicalize()?) {
            return Err(outside());
        }
        read_limited(&path, limit)
    }
}

/// Files held in memory, by name.
impl Files for BTreeMap<String, Vec<u8>> {
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        let bytes = self.get(name).ok_or(io::ErrorKind::NotFound)?;
        if bytes.len() as u64 > limit { Err(too_large(limit)) } else { Ok(bytes.clone()) }
    }
}

fn too_large(limit: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {limit} bytes"))
}

/// A regular file's bytes, if there are no more than `limit` of them.
pub fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = std::fs::File::open(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    if about.len() > limit {
        return Err(too_large(limit));
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large(limit)) } else { Ok(bytes) }
}

/// Writes several files so that each appears whole or not at all, and none before all are on disk beside their places.
pub fn write_whole(files: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
    let mut ready = Vec::with_capacity(files.len());
    for (path, bytes) in files {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut temporary = tempfile::Builder::new().prefix(".pliant-").tempfile_in(folder)?;
        temporary.write_all(bytes)?;
        temporary.as_file().sync_all()?;
        ready.push((temporary, path));
    }
    for (temporary, path) in ready {
        let file = temporary.persist(path).map_err(|e| e.error)?;
        // Temporary files are private to their maker; what a user asked for is an ordinary file.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
        }
        drop(file);
    }
    Ok(())
}
