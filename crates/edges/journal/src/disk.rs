//! The disk operations of the journal, as a trait so that tests can simulate disk failures.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use crate::private_files;

/// A disk.
pub(crate) trait JournalDisk: Debug + Send + Sync {
    /// Creates a folder and its parents, accessible only to the user. Syncs it to disk.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Creates or truncates a file that only the user can access. Syncs its name to disk.
    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>>;
}

/// An append-only file.
pub(crate) trait AppendFile: Debug + Send {
    /// Appends bytes. After an error, some of them may be written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Syncs the file to disk. After an error, the state of the bytes since the last sync is
    /// unknown.
    fn sync(&mut self) -> io::Result<()>;

    /// Truncates the file to this length.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

/// The disk of this machine.
#[derive(Debug)]
pub(crate) struct RealDisk;

impl JournalDisk for RealDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if let Some(above) = path.parent() {
            self.create_folder(above)?;
        }
        match private_files::create_folder(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => other?,
        }
        path.parent().map_or(Ok(()), private_files::sync_folder)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        let file =
            private_files::open(path, OpenOptions::new().write(true).create(true).truncate(true))?;
        path.parent().map_or(Ok(()), private_files::sync_folder)?;
        Ok(Box::new(file))
    }
}

impl AppendFile for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length))?;
        Ok(())
    }
}
