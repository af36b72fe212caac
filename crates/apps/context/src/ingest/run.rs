//! One ingest: workers that read, and one writer that keeps.
//!
//! ```text
//! tasks ─► workers: read, cut into passages, find terms ─► queue ─► batch ─► one transaction
//! ```
//!
//! The queue is bounded by a budget of bytes, and a batch holds whole documents. Whoever stops
//! waiting drops the queue, which ends the workers; the transaction that runs is kept or not, whole.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::timeout;
use toolgate_reading::terms::Indexer;
use toolgate_store::StoreError;
use toolgate_store::context::{Prepared, Stamp, Trust};

use super::budget::{Budget, Share};
use super::plan::{Plan, Task};
use super::refused::Refusal;
use super::walk::Root;
use super::work::{Outcome, Taken, Worker};
use super::{Ingest, Progress, Report};
use crate::error::ContextError;

/// Bytes of files that are in memory at once. What is made of a file takes a few times its size.
const BUDGET: u64 = 20 << 20;

/// Bytes of text in one transaction.
const BATCH: usize = 4 << 20;

/// And the most changes, where documents are small.
const MOST_CHANGES: usize = 2000;

/// And the longest it may take to gather: more is not lost when somebody pulls the plug.
const LONGEST: Duration = Duration::from_secs(1);

/// How long a batch waits for more: others wait for its share of the budget.
const PATIENCE: Duration = Duration::from_millis(200);

/// More than this many threads only wait for the writer.
const MOST_WORKERS: usize = 4;

/// Documents nest, and what reads them may follow.
const STACK: usize = 16 << 20;

/// What became of one file.
type Finding = (Task, Outcome);

/// Reads what is to be read, keeps it, and forgets what is gone.
pub(super) async fn run(
    ingest: &Ingest,
    root: &Root,
    plan: Plan,
    (report, told): (&mut Report, &mut (dyn FnMut(Progress) + Send)),
) -> Result<(), ContextError> {
    let bytes = plan.tasks.iter().map(|task| task.found.bytes).sum();
    let files = plan.tasks.len() as u64;
    let mut progress = Progress { files, bytes, ..Progress::default() };
    told(progress);
    // First: a document that was renamed is never there twice.
    report.removed += ingest.library.forget(&plan.gone).await?;
    ingest.library.entrust(&plan.mistaken.trusted, Trust::Untrusted).await?;
    ingest.library.entrust(&plan.mistaken.distrusted, Trust::Trusted).await?;
    let mut findings = start(ingest, root, plan.tasks)?;
    let mut batch = Batch::default();
    loop {
        match timeout(PATIENCE, findings.recv()).await {
            Ok(Some((task, outcome))) => {
                progress.files_done += 1;
                progress.bytes_done += task.found.bytes;
                batch.add(ingest, task, outcome, report);
                if batch.is_full() {
                    batch.keep(ingest, report).await?;
                }
                told(progress);
            }
            Ok(None) => break,
            Err(_) => batch.keep(ingest, report).await?,
        }
    }
    batch.keep(ingest, report).await?;
    Ok(())
}

/// Starts the workers: one will do, if the system has no more threads.
fn start(
    ingest: &Ingest,
    root: &Root,
    tasks: Vec<Task>,
) -> Result<mpsc::Receiver<Finding>, ContextError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let workers = cores.min(MOST_WORKERS).min(tasks.len());
    let (sender, receiver) = mpsc::channel(MOST_CHANGES);
    let tasks = Arc::new(Mutex::new(tasks.into_iter()));
    let budget = Budget::new(BUDGET);
    for number in 0..workers {
        let worker = Worker {
            folder: root.folder.as_str().into(),
            options: ingest.options.clone(),
            pdf: ingest.pdf.clone(),
            budget: budget.clone(),
            indexer: Indexer::new(),
        };
        let (tasks, sender, stop) = (tasks.clone(), sender.clone(), ingest.stop.clone());
        let next = move || {
            let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
            next.filter(|_| !*stop.borrow())
        };
        let work = move || work(worker, next, &sender);
        let started = thread::Builder::new().name("ingest".into()).stack_size(STACK).spawn(work);
        match started {
            Ok(_) => {}
            Err(error) if number == 0 => return Err(ContextError::Worker(error.to_string())),
            Err(error) => {
                tracing::warn!(target: "toolgate::context", "a worker did not start: {error}");
            }
        }
    }
    Ok(receiver)
}

fn work(mut worker: Worker, next: impl Fn() -> Option<Task>, findings: &mpsc::Sender<Finding>) {
    while let Some(task) = next() {
        let outcome = worker.read(&task);
        if findings.blocking_send((task, outcome)).is_err() {
            return;
        }
    }
}

/// Changes that go into one transaction each.
#[derive(Default)]
struct Batch {
    documents: Vec<Prepared>,
    size: usize,
    stamps: Vec<(String, Stamp)>,
    gone: Vec<String>,
    /// Counted once they are kept.
    counts: Counts,
    /// When the first of it came.
    begun: Option<Instant>,
    /// Come back when the batch is kept.
    shares: Vec<Share>,
}

#[derive(Default)]
struct Counts {
    added: u64,
    changed: u64,
    bytes: u64,
    passages: u64,
}

impl Batch {
    fn add(&mut self, ingest: &Ingest, task: Task, outcome: Outcome, report: &mut Report) {
        let Task { found, known } = task;
        self.begun.get_or_insert_with(Instant::now);
        match outcome {
            Outcome::Taken(taken) => {
                let Taken { prepared, bytes, passages, notes, share } = *taken;
                notes.into_iter().for_each(|note| report.noted.add(&found.key, note));
                self.counts.added += u64::from(known.is_none());
                self.counts.changed += u64::from(known.is_some());
                self.counts.bytes += bytes;
                self.counts.passages += passages;
                self.size += prepared.size();
                self.documents.push(prepared);
                self.shares.push(share);
            }
            Outcome::Same(stamp) => {
                report.unchanged += 1;
                self.stamps.push((found.key, stamp));
            }
            Outcome::Refused(refusal) => {
                ingest.refused.note(&found, refusal.clone());
                // What it said is not what it says.
                self.gone.extend(known.is_some().then(|| found.key.clone()));
                match refusal {
                    Refusal::Binary => report.binary += 1,
                    Refusal::Because(why) => report.skipped.add(found.key, why),
                }
            }
            Outcome::Failed(why) => report.skipped.add(found.key, why),
        }
    }

    fn is_full(&self) -> bool {
        let changes = self.documents.len() + self.stamps.len() + self.gone.len();
        let old = self.begun.is_some_and(|begun| begun.elapsed() >= LONGEST);
        self.size >= BATCH || changes >= MOST_CHANGES || old
    }

    /// Keeps what there is, and begins anew.
    async fn keep(&mut self, ingest: &Ingest, report: &mut Report) -> Result<(), StoreError> {
        let Self { documents, stamps, gone, counts, shares, .. } = std::mem::take(self);
        if !gone.is_empty() {
            report.removed += ingest.library.forget(&gone).await?;
        }
        if !stamps.is_empty() {
            ingest.library.restamp(stamps).await?;
        }
        if !documents.is_empty() {
            ingest.library.keep_prepared(documents).await?;
        }
        report.added += counts.added;
        report.changed += counts.changed;
        report.bytes += counts.bytes;
        report.passages += counts.passages;
        drop(shares);
        Ok(())
    }
}
