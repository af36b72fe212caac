//! A database file that nobody but the user can read, from the moment it exists.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

/// Creates the file if it is missing, and takes others' rights to it away; SQLite gives the files
/// it puts beside it the same mode.
pub(crate) fn ensure(path: &Path) -> io::Result<()> {
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
