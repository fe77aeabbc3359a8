//! Files beside a file, and files written whole.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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

    /// Where the file of that name is. Refuses what lies outside.
    pub fn path(&self, name: &str) -> io::Result<PathBuf> {
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
        Ok(path)
    }
}

impl Files for Folder {
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        read_limited(&self.path(name)?, limit)
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

fn regular(about: &std::fs::Metadata) -> io::Result<()> {
    if about.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(())
}

/// A regular file's bytes, if there are no more than `limit` of them.
pub fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // Before it is opened: opening a pipe waits for whoever writes to it. And after, for what may have changed.
    regular(&std::fs::metadata(path)?)?;
    let file = std::fs::File::open(path)?;
    let about = file.metadata()?;
    regular(&about)?;
    if about.len() > limit {
        return Err(too_large(limit));
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large(limit)) } else { Ok(bytes) }
}

/// A file in the making: it appears under its name, whole, only when it is [committed](WholeFile::commit). Dropped
/// before that it leaves nothing behind.
#[derive(Debug)]
pub struct WholeFile {
    file: BufWriter<tempfile::NamedTempFile>,
    path: PathBuf,
    known: Known,
}

/// A file that is all on disk and lacks only its name. Holds nothing open, so that there may be thousands.
#[derive(Debug)]
pub struct ReadyFile {
    temporary: tempfile::TempPath,
    path: PathBuf,
    known: Known,
}

/// The temporary files of this process, for [`remove_temporary_files`].
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Keeps a temporary file's path in [`TEMPORARY`] for as long as it lives.
#[derive(Debug)]
struct Known(PathBuf);

impl Known {
    fn new(path: &Path) -> Self {
        TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf());
        Self(path.to_path_buf())
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// Removes all files in the making: for a process that is told to stop and will not drop them.
pub fn remove_temporary_files() {
    for path in TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = std::fs::remove_file(path);
    }
}

impl WholeFile {
    /// Starts the file beside its place, so that the last step is a rename within one folder.
    pub fn create(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if path.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".pliant-");
        // Temporary files are private to their maker; what a user asked for is an ordinary file (less the umask).
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder)?;
        let known = Known::new(file.path());
        Ok(Self { file: BufWriter::with_capacity(1 << 16, file), path: path.to_path_buf(), known })
    }

    /// Everything is written: puts it on disk, without its name yet.
    pub fn ready(self) -> io::Result<ReadyFile> {
        let temporary = self.file.into_inner().map_err(|e| e.into_error())?;
        temporary.as_file().sync_all()?;
        Ok(ReadyFile { temporary: temporary.into_temp_path(), path: self.path, known: self.known })
    }

    /// Everything is written: the file appears, in place of any that had its name.
    pub fn commit(self) -> io::Result<PathBuf> {
        self.ready()?.commit()
    }
}

impl ReadyFile {
    /// Where it will appear.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file appears, in place of any that had its name.
    pub fn commit(self) -> io::Result<PathBuf> {
        let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", self.path.display()));
        self.temporary.persist(&self.path).map_err(|e| named(e.error))?;
        drop(self.known);
        Ok(self.path)
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Writes several files so that each appears whole or not at all, and none before all are on disk beside their places.
pub fn write_whole(files: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
    let mut ready = Vec::with_capacity(files.len());
    for (path, bytes) in files {
        let mut file = WholeFile::create(path)?;
        file.write_all(bytes)?;
        ready.push(file.ready()?);
    }
    commit(ready).map(drop)
}

/// Files that are all on disk appear, one after the other; gives their paths.
pub fn commit(ready: Vec<ReadyFile>) -> io::Result<Vec<PathBuf>> {
    ready.into_iter().map(ReadyFile::commit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        std::fs::write(&path, b"old").unwrap();
        let mut dropped = WholeFile::create(&path).unwrap();
        dropped.write_all(b"half").unwrap();
        drop(dropped);
        assert_eq!(
            (std::fs::read(&path).unwrap(), names(folder.path())),
            (b"old".to_vec(), vec!["a.bin".into()])
        );

        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"..w").unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(b"ne").unwrap();
        let ready = file.ready().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        ready.commit().unwrap();
        assert_eq!(
            (std::fs::read(&path).unwrap(), names(folder.path())),
            (b"new".to_vec(), vec!["a.bin".into()])
        );
    }

    /// A pipe that nobody writes to would be waited for without end.
    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe.glb");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        if !made.is_ok_and(|m| m.success()) {
            println!("mkfifo is not there");
            return;
        }
        let (told, tells) = std::sync::mpsc::channel();
        std::thread::spawn(move || told.send(read_limited(&path, 100)));
        let read = tells.recv_timeout(std::time::Duration::from_secs(10)).expect("it waits");
        assert!(read.is_err_and(|e| e.to_string().contains("regular file")));
        assert!(read_limited(folder.path(), 100).is_err_and(|e| e.kind() == io::ErrorKind::IsADirectory));
    }

    #[test]
    fn none_appears_when_one_cannot() {
        let folder = tempfile::tempdir().unwrap();
        let bad = folder.path().join("missing/b.bin");
        let files = [(folder.path().join("a.bin"), vec![1]), (bad, vec![2])];
        assert!(write_whole(&files).is_err());
        assert!(names(folder.path()).is_empty());
        assert!(WholeFile::create(folder.path()).is_err());
    }
}
