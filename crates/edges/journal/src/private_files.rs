//! Creates files and folders that only the user can read, and syncs folders.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file. If this creates it, only the user can access it.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

/// Creates a folder that only the user can access.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Syncs the names in a folder to disk, on systems that support it.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    match cfg!(unix) {
        true => File::open(path)?.sync_all(),
        false => Ok(()),
    }
}
