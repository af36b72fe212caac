//! Runs one ingest: several workers read, and one writer stores.
//!
//! ```text
//! tasks ─► workers: read, cut into passages, find terms ─► queue ─► batch ─► one transaction
//! ```
//!
//! A byte budget bounds the queue, and a batch holds whole documents. Dropping the future drops the
//! queue, which ends the workers; the running transaction is stored completely or not at all.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout;
use toolgate_library::{DocumentTrust, PreparedDocument, SourceStamp};
use toolgate_reading::terms::TermIndexer;
use toolgate_store::StoreError;

use super::plan::{FileToRead, IngestPlan};
use super::refused_files::FileRefusal;
use super::walk::IngestRoot;
use super::worker::{BUDGET, FileOutcome, IngestWorker, IngestedDocument};
use super::{IngestProgress, IngestReport, Ingester};
use crate::error::ContextError;

/// The text in one transaction, in bytes.
const BATCH: usize = 4 << 20;

/// The maximum number of changes in one transaction, for small documents.
const MOST_CHANGES: usize = 2000;

/// The maximum age of a batch. A power failure loses no more than that.
const LONGEST: Duration = Duration::from_secs(1);

/// How long a batch waits for the next document. Workers wait for the budget that the batch holds.
const PATIENCE: Duration = Duration::from_millis(200);

/// The maximum number of workers. More of them would only wait for the writer.
const MOST_WORKERS: usize = 4;

/// The stack size of workers, for parsers that recurse into nested documents.
const STACK: usize = 16 << 20;

/// A task and its outcome.
type FileReadResult = (FileToRead, FileOutcome);

/// Reads and stores the files of a plan, and removes the documents whose file is gone.
pub(super) async fn run(
    ingest: &Ingester,
    root: &IngestRoot,
    plan: IngestPlan,
    (report, on_progress): (&mut IngestReport, &mut (dyn FnMut(IngestProgress) + Send)),
) -> Result<(), ContextError> {
    let bytes = plan.tasks.iter().map(|task| task.file.bytes).sum();
    let files = plan.tasks.len() as u64;
    let mut progress = IngestProgress { files, bytes, ..IngestProgress::default() };
    on_progress(progress);
    // Remove first, so that a renamed document never exists twice.
    report.removed += ingest.library.forget(&plan.removed).await?;
    ingest.library.set_trust(&plan.to_distrust, DocumentTrust::Untrusted).await?;
    ingest.library.set_trust(&plan.to_trust, DocumentTrust::Trusted).await?;
    let mut findings = start_workers(ingest, root, plan.tasks)?;
    let mut batch = IngestBatch::default();
    loop {
        match timeout(PATIENCE, findings.recv()).await {
            Ok(Some((task, outcome))) => {
                progress.files_done += 1;
                progress.bytes_done += task.file.bytes;
                batch.add(ingest, task, outcome, report);
                if batch.is_full() {
                    batch.commit(ingest, report).await?;
                }
                on_progress(progress);
            }
            Ok(None) => break,
            Err(_) => batch.commit(ingest, report).await?,
        }
    }
    batch.commit(ingest, report).await?;
    Ok(())
}

/// Starts the workers. Fails only if not a single thread can be started.
fn start_workers(
    ingest: &Ingester,
    root: &IngestRoot,
    tasks: Vec<FileToRead>,
) -> Result<mpsc::Receiver<FileReadResult>, ContextError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let workers = cores.min(MOST_WORKERS).min(tasks.len());
    let (sender, receiver) = mpsc::channel(MOST_CHANGES);
    let tasks = Arc::new(Mutex::new(tasks.into_iter()));
    let memory = Arc::new(Semaphore::new((BUDGET >> 10) as usize));
    for number in 0..workers {
        let worker = IngestWorker {
            folder: root.folder.as_str().into(),
            options: ingest.options.clone(),
            pdf: ingest.pdf.clone(),
            memory: memory.clone(),
            runtime: Handle::current(),
            indexer: TermIndexer::new(),
        };
        let (tasks, sender, stop) = (tasks.clone(), sender.clone(), ingest.stop.clone());
        let next = move || {
            let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
            next.filter(|_| !*stop.borrow())
        };
        let work = move || run_worker(worker, next, &sender);
        let started = thread::Builder::new().name("ingest".into()).stack_size(STACK).spawn(work);
        match started {
            Ok(_) => {}
            Err(error) if number == 0 => return Err(ContextError::Worker(error.to_string())),
            Err(error) => {
                tracing::warn!(target: "toolgate::context", "cannot start another worker: {error}");
            }
        }
    }
    Ok(receiver)
}

fn run_worker(
    mut worker: IngestWorker,
    next: impl Fn() -> Option<FileToRead>,
    findings: &mpsc::Sender<FileReadResult>,
) {
    while let Some(task) = next() {
        let outcome = worker.read(&task);
        if findings.blocking_send((task, outcome)).is_err() {
            return;
        }
    }
}

/// Changes that are written together.
#[derive(Default)]
struct IngestBatch {
    documents: Vec<PreparedDocument>,
    size: usize,
    stamps: Vec<(String, SourceStamp)>,
    gone: Vec<String>,
    /// Added to the report once the batch is stored.
    counts: IngestReport,
    /// When the first change was added.
    begun: Option<Instant>,
    /// Released when the batch is stored.
    memory: Vec<OwnedSemaphorePermit>,
}

impl IngestBatch {
    fn add(
        &mut self,
        ingest: &Ingester,
        task: FileToRead,
        outcome: FileOutcome,
        report: &mut IngestReport,
    ) {
        let FileToRead { file: found, known_digest: known } = task;
        self.begun.get_or_insert_with(Instant::now);
        match outcome {
            FileOutcome::Ingested(taken) => {
                let IngestedDocument { prepared, bytes, passages, notes, memory } = *taken;
                notes.into_iter().for_each(|note| report.noted.add(&found.key, note));
                self.counts.added += u64::from(known.is_none());
                self.counts.changed += u64::from(known.is_some());
                self.counts.bytes += bytes;
                self.counts.passages += passages;
                self.size += prepared.text_bytes();
                self.documents.push(prepared);
                self.memory.push(memory);
            }
            FileOutcome::Unchanged(stamp) => {
                report.unchanged += 1;
                self.stamps.push((found.key, stamp));
            }
            FileOutcome::Refused(refusal) => {
                ingest.refused_files.note(&found, refusal.clone());
                // The stored text no longer matches the file.
                self.gone.extend(known.is_some().then(|| found.key.clone()));
                match refusal {
                    FileRefusal::Binary => report.binary += 1,
                    FileRefusal::Reason(why) => report.skipped.add(found.key, why),
                }
            }
            FileOutcome::Failed(why) => report.skipped.add(found.key, why),
        }
    }

    fn is_full(&self) -> bool {
        let changes = self.documents.len() + self.stamps.len() + self.gone.len();
        let old = self.begun.is_some_and(|begun| begun.elapsed() >= LONGEST);
        self.size >= BATCH || changes >= MOST_CHANGES || old
    }

    /// Stores the batch and empties it.
    async fn commit(
        &mut self,
        ingest: &Ingester,
        report: &mut IngestReport,
    ) -> Result<(), StoreError> {
        let Self { documents, stamps, gone, counts, memory, .. } = std::mem::take(self);
        if !gone.is_empty() {
            report.removed += ingest.library.forget(&gone).await?;
        }
        if !stamps.is_empty() {
            ingest.library.update_stamps(stamps).await?;
        }
        if !documents.is_empty() {
            ingest.library.keep_prepared(documents).await?;
        }
        report.join(counts);
        drop(memory);
        Ok(())
    }
}
