//! Follows what becomes of files and folders that were taken in.
//!
//! The folders that count are watched one by one, so that what is ignored costs nothing; what
//! changed in them is looked at again, and only that. Where the system gives no watches (their number
//! is limited), and in case it did not tell, everything is looked at now and then: a look costs
//! little, because a file that did not change is not opened.

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

use crate::error::ContextError;
use crate::ingest::{Ingest, Progress, Report, Root, folders};

/// A change counts once nothing more has happened for so long.
const QUIET: Duration = Duration::from_millis(300);
/// And at the latest after so long.
const LATEST: Duration = Duration::from_secs(5);
/// How often everything is looked at that cannot be watched.
const POLL: Duration = Duration::from_secs(10);
/// How often everything is looked at that is watched.
const CHECK: Duration = Duration::from_secs(300);
/// Looking takes at most this part of the time.
const SHARE: u32 = 20;
/// More changes than this are looked at as a whole.
const MOST_PLACES: usize = 100;
/// Files whose change concerns everything beside and below them.
const RULES: [&str; 2] = [".gitignore", ".ignore"];

/// What following some paths tells.
#[derive(Debug)]
pub enum Followed {
    /// How far the ingest of a path is.
    Progress(Progress),
    /// A path was looked at for the first time, or something in it was different.
    Report(PathBuf, Report),
    /// A path could not be read; it is tried again.
    Failed(PathBuf, ContextError),
}

/// Who is told.
pub type Told<'a> = &'a mut (dyn FnMut(Followed) + Send);

/// Takes these paths in, and again whatever changes in them, until the ingest is stopped or nobody
/// waits any more.
pub async fn follow(ingest: &Ingest, paths: &[PathBuf], told: Told<'_>) {
    let mut follower = Follower::new(ingest, paths);
    tokio::select! {
        () = follower.run(told) => {}
        () = ingest.ended() => {}
    }
}

/// The same for a program that serves meanwhile: what happens is logged.
pub async fn keep_current(ingest: &Ingest, paths: &[PathBuf]) {
    follow(ingest, paths, &mut |followed| match followed {
        Followed::Report(path, report) if report.changed_anything() => tracing::info!(
            target: "toolgate::context",
            "{}: {} documents added, {} changed, {} removed",
            path.display(), report.added, report.changed, report.removed
        ),
        Followed::Failed(path, error) => tracing::warn!(
            target: "toolgate::context",
            "{} is not in the local context: failed to {error}", path.display()
        ),
        Followed::Report(..) | Followed::Progress(_) => {}
    })
    .await;
}

struct Follower<'a> {
    ingest: &'a Ingest,
    roots: Vec<Watched>,
    signal: Arc<Signal>,
    watches: Watches,
    /// How long the last look at everything took.
    look: Duration,
}

/// The folders that are watched.
#[derive(Default)]
struct Watches {
    /// None: everything is only looked at.
    watcher: Option<RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
}

/// A path that is followed.
struct Watched {
    named: PathBuf,
    /// What it led to last.
    root: Option<Root>,
    /// Why it could not be read last, which is told once.
    failed: Option<String>,
    reported: bool,
}

/// What the system's events are for.
#[derive(Default)]
struct Signal {
    changes: Mutex<Changes>,
    wake: Notify,
}

/// What changed.
#[derive(Default)]
struct Changes {
    places: BTreeSet<PathBuf>,
    /// The system has lost count.
    everything: bool,
}

impl<'a> Follower<'a> {
    fn new(ingest: &'a Ingest, paths: &[PathBuf]) -> Self {
        let signal = Arc::<Signal>::default();
        let heard = signal.clone();
        let watcher = notify::recommended_watcher(move |event| heard.hear(event));
        let watcher = watcher.map_err(|error| fall_back(&error)).ok();
        let watched = |path: &PathBuf| Watched::new(path.clone());
        let roots = paths.iter().map(watched).collect();
        let watches = Watches { watcher, folders: BTreeSet::new() };
        Self { ingest, roots, signal, watches, look: Duration::ZERO }
    }

    async fn run(&mut self, told: Told<'_>) {
        loop {
            self.look_at_everything(told).await;
            let next = Instant::now() + self.pause();
            while let Some(changes) = self.changes_until(next).await {
                if changes.everything {
                    break;
                }
                self.look_at(changes.places, told).await;
            }
        }
    }

    /// How long until everything is looked at again.
    fn pause(&self) -> Duration {
        let least = if self.watches.watcher.is_some() { CHECK } else { POLL };
        least.max(self.look * SHARE)
    }

    /// What changed, once nothing more does; none if nothing did until then.
    async fn changes_until(&self, until: Instant) -> Option<Changes> {
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

    async fn look_at_everything(&mut self, told: Told<'_>) {
        let begun = Instant::now();
        // Watches are made anew: a folder of the same name may be another by now.
        self.watches.folders.clear();
        for at in 0..self.roots.len() {
            let Some(root) = self.roots[at].find(told).await else { continue };
            self.look(at, &root, None, told).await;
        }
        self.look = begun.elapsed();
    }

    async fn look_at(&mut self, places: BTreeSet<PathBuf>, told: Told<'_>) {
        for at in 0..self.roots.len() {
            let Some(root) = self.roots[at].find(told).await else { continue };
            let within = |place: &&PathBuf| place.starts_with(&root.path);
            let within: BTreeSet<_> = places.iter().filter(within).map(|it| whole(it)).collect();
            if within.is_empty() {
                continue;
            }
            let all = within.len() > MOST_PLACES || within.contains(&root.path);
            self.look(at, &root, (!all).then_some(&within), told).await;
        }
    }

    /// Watches first and reads then: what changes in between is noticed, if twice.
    async fn look(
        &mut self,
        at: usize,
        root: &Root,
        places: Option<&BTreeSet<PathBuf>>,
        told: Told<'_>,
    ) {
        self.watch(root, places).await;
        let mut progress = |progress| told(Followed::Progress(progress));
        let ingested = self.ingest.places(root, places, &mut progress).await;
        let watched = &mut self.roots[at];
        match ingested {
            Ok(report) => {
                if report.changed_anything() || !watched.reported {
                    watched.reported = true;
                    told(Followed::Report(watched.named.clone(), report));
                }
            }
            Err(error) => {
                told(Followed::Failed(watched.named.clone(), error));
                // Whatever it is, it must not be tried without end.
                sleep(QUIET).await;
            }
        }
    }

    /// On another thread, as all that waits for a disk: somebody may be served meanwhile.
    async fn watch(&mut self, root: &Root, places: Option<&BTreeSet<PathBuf>>) {
        let mut watches = std::mem::take(&mut self.watches);
        let (root, places) = (root.clone(), places.cloned());
        let options = self.ingest.options().clone();
        let watching = move || {
            watches.add(folders(&root, places.as_ref(), &options));
            watches
        };
        // One that fails leaves none, and everything is looked at now and then.
        self.watches = spawn_blocking(watching).await.unwrap_or_default();
    }
}

impl Watches {
    fn add(&mut self, folders: Vec<PathBuf>) {
        for folder in folders {
            let Some(watcher) = &mut self.watcher else { return };
            if !self.folders.insert(folder.clone()) {
                continue;
            }
            let watched = watcher.watch(&folder, RecursiveMode::NonRecursive);
            // One that vanished meanwhile is noticed with its parent.
            if let Err(error) = watched
                && folder.exists()
            {
                fall_back(&error);
                self.watcher = None;
            }
        }
    }
}

impl Watched {
    fn new(named: PathBuf) -> Self {
        Self { named, root: None, failed: None, reported: false }
    }

    /// What it leads to now. A file that is gone still leads to where it was; of a folder that is
    /// gone nothing is known, it may be on a disk that is not there.
    async fn find(&mut self, told: Told<'_>) -> Option<Root> {
        let named = self.named.clone();
        let error = match spawn_blocking(move || Root::find(&named)).await.ok()? {
            Ok(root) => {
                self.failed = None;
                self.root = Some(root);
                return self.root.clone();
            }
            Err(error) => error,
        };
        if is_missing(&error) && self.root.as_ref().is_some_and(file_in_a_folder) {
            return self.root.clone();
        }
        let why = error.to_string();
        if self.failed.as_ref() != Some(&why) {
            self.failed = Some(why);
            told(Followed::Failed(self.named.clone(), error));
        }
        None
    }
}

fn is_missing(error: &ContextError) -> bool {
    matches!(error, ContextError::Path { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

fn file_in_a_folder(root: &Root) -> bool {
    !root.is_folder && Path::new(&root.folder).is_dir()
}

/// What must be looked at when this changed.
fn whole(place: &Path) -> PathBuf {
    let is_rule = place.file_name().is_some_and(|name| RULES.iter().any(|rule| name == *rule));
    place.parent().filter(|_| is_rule).unwrap_or(place).to_owned()
}

fn fall_back(error: &notify::Error) {
    tracing::warn!(
        target: "toolgate::context",
        "folders are looked at every {POLL:?}, because they cannot be watched: {error}"
    );
}

impl Signal {
    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, event: notify::Result<Event>) {
        let Ok(event) = event else {
            self.changes().everything = true;
            return self.wake.notify_one();
        };
        let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
        if event.kind.is_access() && event.kind != written {
            return; // reading changes nothing, and we read them ourselves
        }
        let mut changes = self.changes();
        changes.everything |= event.need_rescan();
        changes.places.extend(event.paths);
        drop(changes);
        self.wake.notify_one();
    }
}
