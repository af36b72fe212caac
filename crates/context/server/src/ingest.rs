//! Ingests files, folders and given texts into the library.
//!
//! An ingest walks a folder, skips unchanged files, reads the others on worker threads, and stores
//! them in batches of whole documents. A problem with one document is reported and does not stop
//! the others. An ingest reads nothing outside the given paths and executes nothing.

mod options;
mod plan;
mod refused_files;
mod report;
mod run;
mod text;
mod walk;
mod worker;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use toolgate_library::Library;

pub use options::{IngestOptions, MOST_PDF, MOST_TEXT};
pub use report::{IngestProgress, IngestRemark, IngestRemarks, IngestReport, MOST_NAMED};

use crate::error::ContextError;
use crate::pdf::PdfReader;
use plan::IngestPlanner;
pub(crate) use plan::now;
use refused_files::RefusedFiles;
use walk::WalkResult;
pub(crate) use walk::{IngestRoot, folders};
pub(crate) use worker::read_text;

/// Ingests documents into a library. Cheap to clone; all clones stop together.
#[derive(Debug, Clone)]
pub struct Ingester {
    library: Library,
    pdf: PdfReader,
    options: Arc<IngestOptions>,
    refused_files: RefusedFiles,
    stop: Arc<watch::Sender<bool>>,
}

impl Ingester {
    /// Returns an ingester for this library that reads PDFs with `pdf`.
    pub fn new(library: Library, pdf: PdfReader) -> Self {
        let (options, refused) = Default::default();
        Self {
            library,
            pdf,
            options,
            refused_files: refused,
            stop: Arc::new(watch::Sender::new(false)),
        }
    }

    /// Replaces the options.
    #[must_use]
    pub fn with_options(self, options: IngestOptions) -> Self {
        Self { options: Arc::new(options.canonicalize_trusted()), ..self }
    }

    /// Returns the options.
    pub fn options(&self) -> &IngestOptions {
        &self.options
    }

    /// Stops all running ingests after the current documents, and all later ones at once.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Returns true if [`stop`](Self::stop) was called.
    pub fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Waits until [`stop`](Self::stop) is called.
    pub(crate) async fn wait_for_stop(&self) {
        let mut stop = self.stop.subscribe();
        // `self` holds the sender, so the channel is open.
        let _ = stop.wait_for(|stop| *stop).await;
    }

    /// Ingests a file, or a folder and everything below it, and removes documents whose file is
    /// gone. Dropping the future stops the ingest; documents stored until then stay.
    pub async fn ingest_path(
        &self,
        path: &Path,
        on_progress: &mut (dyn FnMut(IngestProgress) + Send),
    ) -> Result<IngestReport, ContextError> {
        let named = path.to_owned();
        let root = run_blocking(move || IngestRoot::resolve(&named)).await??;
        self.ingest_places(&root, None, on_progress).await
    }

    /// Ingests a resolved path, or only the given places below it.
    pub(crate) async fn ingest_places(
        &self,
        root: &IngestRoot,
        places: Option<&BTreeSet<PathBuf>>,
        on_progress: &mut (dyn FnMut(IngestProgress) + Send),
    ) -> Result<IngestReport, ContextError> {
        let mut report = IngestReport::default();
        let walked = self.walk(root, places, on_progress).await?;
        if !self.is_stopped() {
            let planner = IngestPlanner { ingest: self, root, places };
            let plan = planner.plan(walked, &mut report).await?;
            run::run(self, root, plan, (&mut report, on_progress)).await?;
            self.tidy(&report).await?;
        }
        report.stopped = self.is_stopped();
        Ok(report)
    }

    /// Walks on a blocking thread, because a folder can be on a slow disk.
    async fn walk(
        &self,
        root: &IngestRoot,
        places: Option<&BTreeSet<PathBuf>>,
        on_progress: &mut (dyn FnMut(IngestProgress) + Send),
    ) -> Result<WalkResult, ContextError> {
        let (sender, mut seen) = mpsc::unbounded_channel();
        let (root, places) = (root.clone(), places.cloned());
        let (options, stop) = (self.options.clone(), self.stop.clone());
        let walking = run_blocking(move || {
            let mut on_progress = |count| sender.send(count).is_ok() && !*stop.borrow();
            walk::walk(&root, places.as_ref(), &options, &mut on_progress)
        });
        let telling = async {
            while let Some(seen) = seen.recv().await {
                on_progress(IngestProgress { seen, ..IngestProgress::default() });
            }
        };
        let (walked, ()) = tokio::join!(walking, telling);
        walked
    }

    /// Optimizes the index after changes.
    async fn tidy(&self, report: &IngestReport) -> Result<(), ContextError> {
        let mut more = report.changed_anything();
        while more && !self.is_stopped() {
            more = self.library.tidy().await?;
        }
        Ok(())
    }
}

/// Runs blocking work on a thread of its own.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ContextError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| ContextError::Worker(error.to_string()))
}
