//! Watches the configuration files and reports when one of them has changed.
//!
//! Watches the folders in which the files are looked up instead of the files: editors write a new
//! file and rename it, symbolic links are swapped, and a file may appear later together with its
//! folder. This module reads no files; the caller decides what a change means.
//!
//! If the system has no watches left, or reports nothing (some network folders), the files are
//! polled.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

/// How long nothing must happen before a change is reported.
const QUIET: Duration = Duration::from_millis(200);
/// The longest delay of a report while changes continue.
const LATEST: Duration = Duration::from_secs(2);
/// How often to poll files that cannot be watched.
const POLL: Duration = Duration::from_secs(2);
/// How often to poll files that are watched, in case the system misses an event.
const CHECK: Duration = Duration::from_secs(30);
/// How many symbolic links in a row to follow.
const MAX_LINKS: usize = 40;

/// Reports when one of a set of files has changed.
pub struct FileWatcher {
    files: BTreeSet<PathBuf>,
    signal: Arc<WatchSignal>,
    /// `None` if the files are only polled.
    watcher: Option<RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
    seen: BTreeMap<PathBuf, Option<FileStamp>>,
    /// When an unreported change began.
    change_started: Option<Instant>,
}

/// The state that the watcher's event handler shares with the watcher.
#[derive(Default)]
struct WatchSignal {
    watched_paths: Mutex<WatchedPaths>,
    wake: Notify,
}

/// The paths whose events are relevant.
#[derive(Default)]
struct WatchedPaths {
    /// A component on the way to a file, or a folder.
    names: BTreeSet<PathBuf>,
    /// Folders in which every file is relevant.
    whole: BTreeSet<PathBuf>,
}

/// Metadata that tells two versions of a file apart without reading it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    len: u64,
    pub modified: Option<SystemTime>,
    /// Differs if another file was renamed over this one.
    created: Option<SystemTime>,
}

impl FileWatcher {
    /// Watches these files from now on, existing or not. If a path is a folder, watches every file
    /// in it.
    pub fn new(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let signal = Arc::<WatchSignal>::default();
        let handler = signal.clone();
        let watcher = notify::recommended_watcher(move |event| handler.handle_event(event));
        let watcher = watcher.map_err(|error| warn_polling(&error)).ok();
        Self::with(files.into_iter().collect(), signal, watcher)
    }

    fn with(
        files: BTreeSet<PathBuf>,
        signal: Arc<WatchSignal>,
        watcher: Option<RecommendedWatcher>,
    ) -> Self {
        let (folders, seen) = (BTreeSet::new(), BTreeMap::new());
        let mut watch = Self { files, signal, watcher, folders, seen, change_started: None };
        watch.refresh_watches();
        watch
    }

    /// Replaces the set of watched files. Returns false if the set is the same.
    pub fn set_files(&mut self, files: impl IntoIterator<Item = PathBuf>) -> bool {
        let files = files.into_iter().collect();
        let differs = self.files != files;
        if differs {
            self.files = files;
            self.refresh_watches();
        }
        differs
    }

    /// Completes once something has changed and nothing more is changing. Cancel safe.
    pub async fn changed(&mut self) {
        let begun = match self.change_started {
            Some(begun) => begun,
            None => self.wait_for_first_change().await,
        };
        self.change_started = Some(begun);
        loop {
            let quiet = (Instant::now() + QUIET).min(begun + LATEST);
            tokio::select! {
                () = self.signal.wake.notified() => {}
                () = sleep_until(quiet) => break,
            }
        }
        self.change_started = None;
        // Folders may have appeared or vanished. Later changes are reported separately.
        self.refresh_watches();
    }

    /// Waits for the first sign of a change.
    async fn wait_for_first_change(&self) -> Instant {
        let pause = if self.watcher.is_some() { CHECK } else { POLL };
        loop {
            tokio::select! {
                () = self.signal.wake.notified() => return Instant::now(),
                () = sleep(pause) => {}
            }
            if self.stamps() != self.seen {
                return Instant::now();
            }
        }
    }

    /// Watches every folder in which the files are looked up, and records the state of the files.
    fn refresh_watches(&mut self) {
        let whole: BTreeSet<_> = self.files.iter().filter(|file| file.is_dir()).cloned().collect();
        let mut folders = whole.clone();
        let mut names = BTreeSet::new();
        for (folder, name) in self.files.iter().flat_map(|file| lookups(file)) {
            names.insert(folder.join(name));
            names.insert(folder.clone());
            folders.insert(folder);
        }
        *self.signal.watched_paths() = WatchedPaths { names, whole };
        self.watch_folders(folders);
        self.seen = self.stamps();
    }

    fn watch_folders(&mut self, folders: BTreeSet<PathBuf>) {
        let Some(watcher) = &mut self.watcher else { return };
        for left in self.folders.difference(&folders) {
            // A folder that is gone is not watched any more.
            let _ = watcher.unwatch(left);
        }
        // Known folders are watched again: the same name may now be another folder.
        let watched = folders.iter().try_for_each(|folder| {
            let watched = watcher.watch(folder, RecursiveMode::NonRecursive);
            // If a folder has vanished, the watch on its parent or the next poll notices it.
            if folder.exists() { watched } else { Ok(()) }
        });
        self.folders = folders;
        if let Err(error) = watched {
            warn_polling(&error);
            self.watcher = None;
        }
    }

    fn stamps(&self) -> BTreeMap<PathBuf, Option<FileStamp>> {
        let stamp =
            |file: &PathBuf| (file.clone(), fs::metadata(file).ok().map(|it| FileStamp::of(&it)));
        self.files.iter().map(stamp).collect()
    }
}

fn warn_polling(error: &notify::Error) {
    tracing::warn!(
        target: "toolgate::config",
        "cannot watch config files, so they are checked every {POLL:?}: {error}"
    );
}

impl WatchSignal {
    fn watched_paths(&self) -> MutexGuard<'_, WatchedPaths> {
        self.watched_paths.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle_event(&self, event: notify::Result<Event>) {
        if event.map_or(true, |event| self.is_relevant(&event)) {
            self.wake.notify_one();
        }
    }

    fn is_relevant(&self, event: &Event) -> bool {
        let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
        if event.kind.is_access() && event.kind != written {
            return false; // reading changes nothing, and we read them ourselves
        }
        let WatchedPaths { names, whole } = &*self.watched_paths();
        let concerns = |path: &PathBuf| {
            names.contains(path) || path.parent().is_some_and(|folder| whole.contains(folder))
        };
        event.need_rescan() || event.paths.iter().any(concerns)
    }
}

impl FileStamp {
    pub fn of(metadata: &Metadata) -> Self {
        let (modified, created) = (metadata.modified().ok(), metadata.created().ok());
        Self { len: metadata.len(), modified, created }
    }
}

/// Returns every folder that determines where a path leads, with the name looked up in it: the last
/// folder, the folder of every symbolic link on the way, and the first folder in which a name is
/// missing.
fn lookups(path: &Path) -> Vec<(PathBuf, OsString)> {
    let mut lookups = Vec::new();
    let mut rest: VecDeque<OsString> = parts(path).collect();
    let (mut at, mut links) = (PathBuf::new(), 0);
    while let Some(name) = rest.pop_front() {
        match Path::new(&name).components().next() {
            Some(Component::Normal(_)) => {}
            Some(Component::ParentDir) => {
                at.pop();
                continue;
            }
            // A root or a drive replaces the path before it.
            _ => {
                at.push(name);
                continue;
            }
        }
        let next = at.join(&name);
        let Ok(metadata) = fs::symlink_metadata(&next) else {
            lookups.push((at, name));
            break;
        };
        let is_link = metadata.is_symlink();
        if is_link || rest.is_empty() {
            lookups.push((at.clone(), name));
        }
        match fs::read_link(&next) {
            Ok(target) if is_link && links < MAX_LINKS => {
                links += 1;
                rest = parts(&target).chain(rest).collect();
            }
            _ => at = next,
        }
    }
    lookups
}

/// Returns the components of a path, without `.`.
fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.map(|part| part.as_os_str().to_owned())
}

#[cfg(test)]
#[cfg(unix)] // links
mod tests;
