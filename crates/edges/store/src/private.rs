//! Files and folders that nobody but the user can read, from the moment they exist, their names on
//! disk, and files where others write: what systems do in different ways.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates the file if it is missing, and takes others' rights to it away; SQLite gives the files
/// it puts beside it the same mode.
pub(crate) fn ensure(path: &Path) -> io::Result<()> {
    let file = open(path, OpenOptions::new().write(true).create(true).truncate(false))?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    drop(file);
    Ok(())
}

/// Opens a file; if that makes it, for the user alone.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

/// Makes a folder for the user alone.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Brings the names in a folder to the disk, where a system knows how.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    match cfg!(unix) {
        true => File::open(path)?.sync_all(),
        false => Ok(()),
    }
}

/// Opens a file for reading. A link is not followed, since it may lead anywhere, and what is no file
/// is not waited for, since it may never answer. Where a system has no such way of opening, a link is
/// told by looking first.
pub fn open_plain(path: &Path) -> io::Result<File> {
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
        assert!(open_plain(&path("file")).is_ok());
        for name in ["link", "pipe", ".", "missing"] {
            assert!(open_plain(&path(name)).is_err(), "{name}");
        }
    }
}
