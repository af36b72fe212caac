//! Files and folders for the user alone, their owners, and a lock between writers.
//!
//! Where a system has no modes, a folder of the user's is what keeps others out, and the functions
//! that would close a file do nothing.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

/// Creates a folder and those above it, for the user alone.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A new file that nobody else can read, whatever it is given later.
pub(crate) fn create_private_file(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Lets a temporary file be read by whom the user's mask lets.
pub(crate) fn share(builder: &mut tempfile::Builder<'_, '_>) {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    #[cfg(not(unix))]
    let _ = builder;
}

/// Closes a file that is there to everybody but its owner.
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

/// Gives a file the owner and the mode of the one before it. The owner can be kept by those only
/// whom the system lets: for others the file becomes theirs, as with every editor.
pub(crate) fn make_like(file: &File, before: &Metadata) -> io::Result<()> {
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

/// What writers in a folder lock: the folder itself, which needs no file beside theirs.
#[cfg(unix)]
pub(crate) fn lock_handle(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

/// A folder cannot be opened here: a file in the user's temporary folder stands for it.
#[cfg(not(unix))]
pub(crate) fn lock_handle(folder: &Path) -> io::Result<File> {
    let folder = folder.canonicalize()?;
    let digest = toolgate_model::Digest::of_parts([folder.as_os_str().as_encoded_bytes()]);
    let name: String = digest.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    File::create(std::env::temp_dir().join(format!("toolgate-lock-{name}")))
}

/// Forces to disk that a file was renamed within a folder.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
