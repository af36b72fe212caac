//! Watches ingested files and folders and keeps the library current.
//!
//! Each relevant folder is watched separately, so ignored folders cost nothing, and only changed
//! paths are scanned again. All paths are also scanned periodically, because the system limits the
//! number of watches and can lose events. A scan is cheap: it opens no unchanged file.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, sleep_until};
use toolgate_host::error_chain;

use crate::error::ContextError;
use crate::ingest::{IngestProgress, IngestReport, IngestRoot, Ingester, folders};

/// A change is processed once nothing else has changed for this long.
const QUIET: Duration = Duration::from_millis(300);
/// A change is processed after this time at the latest.
const LATEST: Duration = Duration::from_secs(5);
/// The interval of full scans if folders cannot be watched.
const POLL: Duration = Duration::from_secs(10);
/// The interval of full scans if folders are watched.
const CHECK: Duration = Duration::from_secs(300);
/// The interval is at least this many times the duration of a scan.
const SHARE: u32 = 20;
/// More changed paths than this cause a scan of the whole path.
const MOST_PLACES: usize = 100;
/// Files whose change affects everything in their folder.
const RULES: [&str; 2] = [".gitignore", ".ignore"];

/// An event of watched paths.
#[derive(Debug)]
pub enum WatchEvent {
    /// The progress of an ingest.
    Progress(IngestProgress),
    /// A path was scanned for the first time, or something in it changed.
    Report(PathBuf, IngestReport),
    /// A path could not be read. It is tried again.
    Failed(PathBuf, ContextError),
}

/// Receives the events of watched paths.
pub type WatchCallback<'a> = &'a mut (dyn FnMut(WatchEvent) + Send);

/// Ingests these paths, and again whatever changes in them, until the ingester is stopped or the
/// future is dropped.
pub async fn watch_paths(ingest: &Ingester, paths: &[PathBuf], on_event: WatchCallback<'_>) {
    let mut follower = IngestWatcher::new(ingest, paths);
    tokio::select! {
        () = follower.run(on_event) => {}
        () = ingest.wait_for_stop() => {}
    }
}

/// Watches paths like [`watch_paths`] and logs what happens. For a program that serves meanwhile.
pub async fn keep_current(ingest: &Ingester, paths: &[PathBuf]) {
    watch_paths(ingest, paths, &mut |followed| match followed {
        WatchEvent::Report(path, report) if report.changed_anything() => tracing::info!(
            target: "toolgate::context",
            "{}: {} documents added, {} changed, {} removed",
            path.display(), report.added, report.changed, report.removed
        ),
        WatchEvent::Failed(path, error) => tracing::warn!(
            target: "toolgate::context",
            "cannot update the local context from {}: {error}",
            path.display(), error = error_chain(&error)
        ),
        WatchEvent::Report(..) | WatchEvent::Progress(_) => {}
    })
    .await;
}

/// Watches several paths and ingests their changes.
struct IngestWatcher<'a> {
    ingest: &'a Ingester,
    roots: Vec<WatchedPath>,
    signal: Arc<ChangeSignal>,
    watches: FolderWatches,
    /// The duration of the last full scan.
    last_scan_time: Duration,
}

/// The watched folders.
#[derive(Default)]
struct FolderWatches {
    /// `None` if watching is impossible; then only periodic scans find changes.
    watcher: Option<RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
}

/// A path that is watched.
struct WatchedPath {
    path: PathBuf,
    /// The last successful resolution.
    root: Option<IngestRoot>,
    /// The last error, so that it is reported once.
    last_error: Option<String>,
    reported: bool,
}

/// Collects the events of the operating system and wakes the watcher.
#[derive(Default)]
struct ChangeSignal {
    changes: Mutex<PathChanges>,
    wake: Notify,
}

/// The changes since the last scan.
#[derive(Default)]
struct PathChanges {
    places: BTreeSet<PathBuf>,
    /// The system lost events.
    rescan_all: bool,
}

impl<'a> IngestWatcher<'a> {
    fn new(ingest: &'a Ingester, paths: &[PathBuf]) -> Self {
        let signal = Arc::<ChangeSignal>::default();
        let heard = signal.clone();
        let watcher = notify::recommended_watcher(move |event| heard.record_event(event));
        let watcher = watcher.map_err(|error| warn_polling(&error)).ok();
        let watched = |path: &PathBuf| WatchedPath::new(path.clone());
        let roots = paths.iter().map(watched).collect();
        let watches = FolderWatches { watcher, folders: BTreeSet::new() };
        Self { ingest, roots, signal, watches, last_scan_time: Duration::ZERO }
    }

    async fn run(&mut self, on_event: WatchCallback<'_>) {
        loop {
            self.scan_all(on_event).await;
            let next = Instant::now() + self.rescan_interval();
            while let Some(changes) = self.changes_until(next).await {
                if changes.rescan_all {
                    break;
                }
                self.scan_places(changes.places, on_event).await;
            }
        }
    }

    /// Returns the time until the next full scan.
    fn rescan_interval(&self) -> Duration {
        let least = if self.watches.watcher.is_some() { CHECK } else { POLL };
        least.max(self.last_scan_time * SHARE)
    }

    /// Waits for changes until things are quiet. Returns `None` if nothing changed until then.
    async fn changes_until(&self, until: Instant) -> Option<PathChanges> {
        tokio::select! {
            () = self.signal.wake.notified() => {}
            () = sleep_until(until) => return None,
        }
        let latest = Instant::now() + LATEST;
        loop {
            let quiet = (Instant::now() + QUIET).min(latest);
            tokio::select! {
                () = self.signal.wake.notified() => {}
                () = sleep_until(quiet) => break,
            }
        }
        Some(std::mem::take(&mut *self.signal.changes()))
    }

    async fn scan_all(&mut self, on_event: WatchCallback<'_>) {
        let begun = Instant::now();
        // Set up all watches again: a folder can have been replaced by another of the same name.
        self.watches.folders.clear();
        for at in 0..self.roots.len() {
            let Some(root) = self.roots[at].resolve_root(on_event).await else { continue };
            self.scan(at, &root, None, on_event).await;
        }
        self.last_scan_time = begun.elapsed();
    }

    async fn scan_places(&mut self, places: BTreeSet<PathBuf>, on_event: WatchCallback<'_>) {
        for at in 0..self.roots.len() {
            let Some(root) = self.roots[at].resolve_root(on_event).await else { continue };
            let within = |place: &&PathBuf| place.starts_with(&root.path);
            let within: BTreeSet<_> =
                places.iter().filter(within).map(|it| affected_path(it)).collect();
            if within.is_empty() {
                continue;
            }
            let all = within.len() > MOST_PLACES || within.contains(&root.path);
            self.scan(at, &root, (!all).then_some(&within), on_event).await;
        }
    }

    /// Watches before it reads, so that no change in between is missed.
    async fn scan(
        &mut self,
        at: usize,
        root: &IngestRoot,
        places: Option<&BTreeSet<PathBuf>>,
        on_event: WatchCallback<'_>,
    ) {
        self.watch(root, places).await;
        let mut progress = |progress| on_event(WatchEvent::Progress(progress));
        let ingested = self.ingest.ingest_places(root, places, &mut progress).await;
        let watched = &mut self.roots[at];
        match ingested {
            Ok(report) => {
                if report.changed_anything() || !watched.reported {
                    watched.reported = true;
                    on_event(WatchEvent::Report(watched.path.clone(), report));
                }
            }
            Err(error) => {
                on_event(WatchEvent::Failed(watched.path.clone(), error));
                // Do not retry in a busy loop.
                sleep(QUIET).await;
            }
        }
    }

    /// Watches folders on a blocking thread, because listing them waits for the disk.
    async fn watch(&mut self, root: &IngestRoot, places: Option<&BTreeSet<PathBuf>>) {
        let mut watches = std::mem::take(&mut self.watches);
        let (root, places) = (root.clone(), places.cloned());
        let options = self.ingest.options().clone();
        let watching = move || {
            watches.add(folders(&root, places.as_ref(), &options));
            watches
        };
        // If the task fails, there are no watches, and periodic scans find the changes.
        self.watches = spawn_blocking(watching).await.unwrap_or_default();
    }
}

impl FolderWatches {
    fn add(&mut self, folders: Vec<PathBuf>) {
        for folder in folders {
            let Some(watcher) = &mut self.watcher else { return };
            if !self.folders.insert(folder.clone()) {
                continue;
            }
            let watched = watcher.watch(&folder, RecursiveMode::NonRecursive);
            // The watch of the parent reports a folder that vanished.
            if let Err(error) = watched
                && folder.exists()
            {
                warn_polling(&error);
                self.watcher = None;
            }
        }
    }
}

impl WatchedPath {
    fn new(named: PathBuf) -> Self {
        Self { path: named, root: None, last_error: None, reported: false }
    }

    /// Resolves the path. A removed file resolves to its old location, so that its document is
    /// removed. A missing folder resolves to `None`: it can be on a disk that is not mounted.
    async fn resolve_root(&mut self, on_event: WatchCallback<'_>) -> Option<IngestRoot> {
        let named = self.path.clone();
        let error = match spawn_blocking(move || IngestRoot::resolve(&named)).await.ok()? {
            Ok(root) => {
                self.last_error = None;
                self.root = Some(root);
                return self.root.clone();
            }
            Err(error) => error,
        };
        if is_missing(&error) && self.root.as_ref().is_some_and(file_in_a_folder) {
            return self.root.clone();
        }
        let why = error.to_string();
        if self.last_error.as_ref() != Some(&why) {
            self.last_error = Some(why);
            on_event(WatchEvent::Failed(self.path.clone(), error));
        }
        None
    }
}

fn is_missing(error: &ContextError) -> bool {
    matches!(error, ContextError::Path { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

fn file_in_a_folder(root: &IngestRoot) -> bool {
    !root.is_folder && Path::new(&root.folder).is_dir()
}

/// Returns the path to scan after a change at `place`.
fn affected_path(place: &Path) -> PathBuf {
    let is_rule = place.file_name().is_some_and(|name| RULES.iter().any(|rule| name == *rule));
    place.parent().filter(|_| is_rule).unwrap_or(place).to_owned()
}

fn warn_polling(error: &notify::Error) {
    tracing::warn!(
        target: "toolgate::context",
        "cannot watch folders, scanning them every {POLL:?} instead: {error}"
    );
}

impl ChangeSignal {
    fn changes(&self) -> MutexGuard<'_, PathChanges> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record_event(&self, event: notify::Result<Event>) {
        let Ok(event) = event else {
            self.changes().rescan_all = true;
            return self.wake.notify_one();
        };
        let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
        if event.kind.is_access() && event.kind != written {
            return; // reads change nothing, and the ingest itself reads
        }
        let mut changes = self.changes();
        changes.rescan_all |= event.need_rescan();
        changes.places.extend(event.paths);
        drop(changes);
        self.wake.notify_one();
    }
}
