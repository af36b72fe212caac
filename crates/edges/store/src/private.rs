//! Files and folders that nobody but the user can read, from the moment they exist, and their names
//! on disk: what systems do in different ways.

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
