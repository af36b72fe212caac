//! Changes a file in place, atomically and one writer at a time.
//!
//! The new text is written to a temporary file, synced to disk and renamed over the target, so a
//! reader or a crash sees the old text or the new one. Mode, owner and symbolic links are
//! preserved. The caller supplies the change; this module knows no dialects.
//!
//! Writers lock the folder of the file. That needs no lock file, and works across processes and
//! homes.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use toolgate_dialects::EditError;

use crate::ConfigError;
use crate::files::{is_absent, read_text};
use crate::platform::files;

/// How long to wait for another writer.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// How often to retry the lock.
const LOCK_POLL: Duration = Duration::from_millis(10);
/// How many symbolic links in a row to follow. More are treated as a cycle.
const MOST_LINKS: usize = 40;
/// Part of the name of every temporary file.
const UNFINISHED: &str = ".toolgate-unfinished-";

/// How to change a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditOptions {
    /// Who may read the file, if it has to be created.
    pub access: FileAccess,
    /// Whether to keep a backup of the old text beside the file.
    pub backup: bool,
}

/// Who may read a file that is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAccess {
    /// Only the user.
    Private,
    /// Everyone who may read the project.
    Shared,
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditOutcome {
    /// The file itself, after following symbolic links.
    pub path: PathBuf,
    /// Whether the text changed.
    pub changed: bool,
    /// Whether the file was created.
    pub created: bool,
    /// The backup of the old text, if one was made.
    pub backup: Option<PathBuf>,
}

/// Returns the text of a file; `None` if it does not exist.
pub fn read_file(path: &Path) -> Result<Option<String>, ConfigError> {
    match read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(ConfigError::Read { path: path.to_owned(), source }),
    }
}

/// Changes a file. `change` receives the current text (empty if the file does not exist) and
/// returns the new text, or `None` to leave the file alone. No other Toolgate process changes the
/// file meanwhile.
pub fn edit_file(
    path: &Path,
    editing: EditOptions,
    change: impl FnOnce(&str) -> Result<Option<String>, EditError>,
) -> Result<EditOutcome, ConfigError> {
    let failed = |source| ConfigError::Write { path: path.to_owned(), source };
    let real = std::path::absolute(path).and_then(|path| follow(&path)).map_err(failed)?;
    let Some(folder) = real.parent() else {
        return Err(failed(io::Error::other("not a regular file")));
    };
    create_folder(folder, editing.access).map_err(failed)?;
    let _lock = lock(folder, LOCK_TIMEOUT, path)?;

    let before = read_file(&real)?;
    let text = before.as_deref().unwrap_or_default();
    let changed = change(text)
        .map_err(|source| ConfigError::Edit { path: path.to_owned(), source })?
        .filter(|after| before.as_deref() != Some(after));
    let unchanged =
        EditOutcome { path: real.clone(), changed: false, created: false, backup: None };
    let Some(after) = changed else { return Ok(unchanged) };
    remove_unfinished(folder, &real);
    let backup = match (&before, editing.backup) {
        (Some(before), true) => Some(back_up(&real, before).map_err(failed)?),
        _ => None,
    };
    replace(folder, &real, &after, editing.access).map_err(failed)?;
    Ok(EditOutcome { changed: true, created: before.is_none(), backup, ..unchanged })
}

/// Resolves symbolic links by hand, because the last link may point to a file that does not exist
/// yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn create_folder(folder: &Path, access: FileAccess) -> io::Result<()> {
    match access {
        FileAccess::Private => files::create_private_folder(folder),
        FileAccess::Shared => fs::create_dir_all(folder),
    }
}

/// Waits for the lock of a folder. Dropping the returned file releases the lock, and so does the
/// end of the process.
fn lock(folder: &Path, patience: Duration, path: &Path) -> Result<File, ConfigError> {
    let failed = |source| ConfigError::Write { path: path.to_owned(), source };
    let handle = files::lock_handle(folder).map_err(failed)?;
    let deadline = Instant::now() + patience;
    loop {
        match handle.try_lock() {
            Ok(()) => return Ok(handle),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(LOCK_POLL);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(ConfigError::Busy { path: path.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
    }
}

/// Removes temporary files that a killed writer left behind. The caller holds the lock, so no
/// other process is writing to them.
fn remove_unfinished(folder: &Path, real: &Path) {
    let prefix = unfinished_prefix(real);
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns the prefix of the temporary files for this file.
fn unfinished_prefix(real: &Path) -> String {
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    format!(".{name}{UNFINISHED}")
}

/// Writes a backup beside the file, under the first free number.
fn back_up(real: &Path, text: &str) -> io::Result<PathBuf> {
    let permissions = fs::metadata(real)?.permissions();
    for number in 1_u32.. {
        let mut path = real.as_os_str().to_owned();
        path.push(format!(".toolgate-backup-{number}"));
        let path = PathBuf::from(path);
        match files::create_private_file(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes())?;
                file.set_permissions(permissions)?;
                file.sync_all()?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("no free backup name is left"))
}

/// Replaces the content of a file. The file is untouched until the rename; on failure the temporary
/// file is removed.
fn replace(folder: &Path, real: &Path, text: &str, access: FileAccess) -> io::Result<()> {
    let prefix = unfinished_prefix(real);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    let before = fs::metadata(real).ok();
    if before.is_none() && access == FileAccess::Shared {
        files::share(&mut builder);
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Some(before) = before {
        files::copy_ownership(file.as_file(), &before)?;
    }
    file.as_file().sync_all()?;
    file.persist(real).map_err(|failed| failed.error)?;
    files::sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_who_does_not_let_go_is_not_waited_for_forever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.toml");
        let held = lock(folder.path(), LOCK_TIMEOUT, &path).unwrap();
        let error = lock(folder.path(), Duration::from_millis(50), &path).unwrap_err();
        assert!(error.to_string().contains("another toolgate is changing it"), "{error}");
        drop(held);
        lock(folder.path(), Duration::from_millis(50), &path).unwrap();
    }

    #[test]
    fn what_a_killed_writer_left_is_swept_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("x.toml");
        let left = folder.path().join(format!("{}abc", unfinished_prefix(&real)));
        let other = folder.path().join(".y.toml.toolgate-unfinished-abc");
        for path in [&left, &other] {
            fs::write(path, "half").unwrap();
        }
        let editing = EditOptions { access: FileAccess::Shared, backup: false };
        edit_file(&real, editing, |_| Ok(Some("whole".into()))).unwrap();
        assert!(!left.exists() && other.exists());
    }
}
