//! File operations that differ between systems: creating files that only the user can read, and
//! safely opening files in folders that others can write.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates the file if it is missing, and restricts it to the user. SQLite gives the files beside
/// it the same mode.
pub fn ensure_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    drop(file);
    Ok(())
}

/// Opens a regular file for reading. Refuses symbolic links, which may lead anywhere, and does not
/// block on special files. Systems without such open flags check for a link before opening.
pub fn open_regular_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;

        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    #[cfg(not(unix))]
    if path.is_symlink() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn only_a_file_is_opened() {
        use rustix::fs::{CWD, FileType, mknodat};

        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "text").unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        mknodat(CWD, path("pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(open_regular_file(&path("file")).is_ok());
        for name in ["link", "pipe", ".", "missing"] {
            assert!(open_regular_file(&path(name)).is_err(), "{name}");
        }
    }
}
