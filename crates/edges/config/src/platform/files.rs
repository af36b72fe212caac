//! Private files and folders, file ownership, and the lock between writers.
//!
//! On systems without file modes, the user's folders keep other users out, and the functions that
//! restrict a file do nothing.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

/// Creates a folder and its parents, accessible only to the user.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Creates a file that only the user can read.
pub(crate) fn create_private_file(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a temporary file readable as the user's umask allows.
pub(crate) fn share(builder: &mut tempfile::Builder<'_, '_>) {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    #[cfg(not(unix))]
    let _ = builder;
}

/// Removes the access of other users to an existing file.
pub(crate) fn close_to_others(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Copies the owner and the mode of the previous file. Changing the owner needs privileges; without
/// them the file belongs to the current user, as with every editor.
pub(crate) fn copy_ownership(file: &File, before: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let ours = file.metadata()?;
        if (ours.uid(), ours.gid()) != (before.uid(), before.gid()) {
            let _ = std::os::unix::fs::fchown(file, Some(before.uid()), Some(before.gid()));
        }
    }
    file.set_permissions(before.permissions())
}

/// Returns the handle that writers in a folder lock: the folder itself, so no lock file is needed.
#[cfg(unix)]
pub(crate) fn lock_handle(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// Returns the handle that writers in a folder lock. Folders cannot be opened here, so it is a file
/// in the user's temporary folder.
#[cfg(not(unix))]
pub(crate) fn lock_handle(folder: &Path) -> io::Result<File> {
    let folder = folder.canonicalize()?;
    let digest = toolgate_model::Digest::of_parts([folder.as_os_str().as_encoded_bytes()]);
    let name: String = digest.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    File::create(std::env::temp_dir().join(format!("toolgate-lock-{name}")))
}

/// Syncs a rename within a folder to disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
