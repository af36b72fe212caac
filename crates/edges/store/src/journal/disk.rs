//! The few things the journal asks of a disk, so that tests can put one in its place that fails,
//! tears and forgets.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use crate::private;

/// A disk.
pub(super) trait Disk: Debug + Send + Sync {
    /// Makes a folder with those above it, for the user alone. It is on disk when this returns.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Makes an empty file for the user alone, or empties it. Its name is on disk when this returns.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Sink>>;
}

/// A file that is only added to.
pub(super) trait Sink: Debug + Send {
    /// Adds to the end. After an error some of it may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Brings everything to the disk. After an error nothing is known of what was added since the
    /// last time.
    fn sync(&mut self) -> io::Result<()>;

    /// Takes away what is behind this length.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

/// The disk of this machine.
#[derive(Debug)]
pub(super) struct RealDisk;

impl Disk for RealDisk {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if let Some(above) = path.parent() {
            self.create_folder(above)?;
        }
        match private::create_folder(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => other?,
        }
        path.parent().map_or(Ok(()), private::sync_folder)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Sink>> {
        let file = private::open(path, OpenOptions::new().write(true).create(true).truncate(true))?;
        path.parent().map_or(Ok(()), private::sync_folder)?;
        Ok(Box::new(file))
    }
}

impl Sink for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length))?;
        Ok(())
    }
}
