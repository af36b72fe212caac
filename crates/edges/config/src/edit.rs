//! Changes a file in place: whole or not at all, one writer at a time.
//!
//! The new text is written beside the file, forced to disk and renamed over it, so a reader, a crash
//! or a kill finds the old text or the new one. Mode, owner and a link to the file stay. What the
//! change is, is the caller's: nothing here knows a dialect.
//!
//! Writers exclude each other by a lock on the folder itself, which needs no file beside the target
//! and holds between processes and between homes.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use toolgate_dialects::EditError;

use crate::ConfigError;
use crate::files::{is_absent, read_text};
use crate::platform::files;

/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked whether he is done.
const GLANCE: Duration = Duration::from_millis(10);
/// As many links in a row are followed; more is a circle.
const MOST_LINKS: usize = 40;
/// What the names of our unfinished files hold.
const UNFINISHED: &str = ".toolgate-unfinished-";

/// How a file is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Editing {
    /// Who may read the file, where it has to be created.
    pub access: Access,
    /// Whether the text before the change is kept beside the file.
    pub backup: bool,
}

/// Who may read a file that is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The user alone.
    Private,
    /// Whoever may read the project.
    Shared,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The file itself, links followed.
    pub path: PathBuf,
    /// Whether it holds something else now.
    pub changed: bool,
    /// Whether it was not there before.
    pub created: bool,
    /// Where the text before the change is kept.
    pub backup: Option<PathBuf>,
}

/// The text of a file that may be changed; `None` if it does not exist.
pub fn read_file(path: &Path) -> Result<Option<String>, ConfigError> {
    match read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(ConfigError::Read { path: path.to_owned(), source }),
    }
}

/// Changes a file: `change` is given its text, empty where it does not exist, and says what it is to
/// hold, or `None` for nothing else. While it runs nobody else of ours changes the file.
pub fn edit_file(
    path: &Path,
    editing: Editing,
    change: impl FnOnce(&str) -> Result<Option<String>, EditError>,
) -> Result<Edited, ConfigError> {
    let failed = |source| ConfigError::Write { path: path.to_owned(), source };
    let real = std::path::absolute(path).and_then(|path| follow(&path)).map_err(failed)?;
    let Some(folder) = real.parent() else {
        return Err(failed(io::Error::other("it is no file")));
    };
    create_folder(folder, editing.access).map_err(failed)?;
    let _lock = lock(folder, PATIENCE, path)?;

    let before = read_file(&real)?;
    let text = before.as_deref().unwrap_or_default();
    let changed = change(text)
        .map_err(|source| ConfigError::Edit { path: path.to_owned(), source })?
        .filter(|after| before.as_deref() != Some(after));
    let unchanged = Edited { path: real.clone(), changed: false, created: false, backup: None };
    let Some(after) = changed else { return Ok(unchanged) };
    sweep(folder, &real);
    let backup = match (&before, editing.backup) {
        (Some(before), true) => Some(back_up(&real, before).map_err(failed)?),
        _ => None,
    };
    replace(folder, &real, &after, editing.access).map_err(failed)?;
    Ok(Edited { changed: true, created: before.is_none(), backup, ..unchanged })
}

/// The file a path leads to: links are followed by hand, because the last one may lead to a file
/// that is not there yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links go in a circle"))
}

fn create_folder(folder: &Path, access: Access) -> io::Result<()> {
    match access {
        Access::Private => files::create_private_folder(folder),
        Access::Shared => fs::create_dir_all(folder),
    }
}

/// Waits until nobody else of ours writes in a folder; dropping the file lets the next one in. The
/// system lets go of it too when its owner dies.
fn lock(folder: &Path, patience: Duration, path: &Path) -> Result<File, ConfigError> {
    let failed = |source| ConfigError::Write { path: path.to_owned(), source };
    let handle = files::lock_handle(folder).map_err(failed)?;
    let deadline = Instant::now() + patience;
    loop {
        match handle.try_lock() {
            Ok(()) => return Ok(handle),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(GLANCE);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(ConfigError::Busy { path: path.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
    }
}

/// Takes away what a killed writer left: under the lock nobody is writing it any more.
fn sweep(folder: &Path, real: &Path) {
    let prefix = unfinished(real);
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// How the names of a file's unfinished successors begin.
fn unfinished(real: &Path) -> String {
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    format!(".{name}{UNFINISHED}")
}

/// Keeps a text beside its file, under the first number that is free.
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
    Err(io::Error::other("no number is left for a backup"))
}

/// Puts a text in place of a file. Until the rename nothing has happened to it; whatever fails, the
/// unfinished file is taken away.
fn replace(folder: &Path, real: &Path, text: &str, access: Access) -> io::Result<()> {
    let prefix = unfinished(real);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    let before = fs::metadata(real).ok();
    if before.is_none() && access == Access::Shared {
        files::share(&mut builder);
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Some(before) = before {
        files::make_like(file.as_file(), &before)?;
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
        let held = lock(folder.path(), PATIENCE, &path).unwrap();
        let error = lock(folder.path(), Duration::from_millis(50), &path).unwrap_err();
        assert!(error.to_string().contains("another toolgate is changing it"), "{error}");
        drop(held);
        lock(folder.path(), Duration::from_millis(50), &path).unwrap();
    }

    #[test]
    fn what_a_killed_writer_left_is_swept_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("x.toml");
        let left = folder.path().join(format!("{}abc", unfinished(&real)));
        let other = folder.path().join(".y.toml.toolgate-unfinished-abc");
        for path in [&left, &other] {
            fs::write(path, "half").unwrap();
        }
        let editing = Editing { access: Access::Shared, backup: false };
        edit_file(&real, editing, |_| Ok(Some("whole".into()))).unwrap();
        assert!(!left.exists() && other.exists());
    }
}
