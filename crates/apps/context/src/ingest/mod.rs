//! Takes documents in: files and folders, and texts that are handed over.
//!
//! An ingest walks a folder, leaves alone what did not change, reads the rest on worker threads and
//! keeps it in batches of whole documents. What one document is like never stops another: it is
//! reported by name. Nothing outside the paths that were named is read, and nothing is executed.

mod budget;
mod decode;
mod options;
mod plan;
mod refused;
mod report;
mod run;
mod text;
mod walk;
mod work;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use toolgate_store::context::Library;

pub use options::{MOST_PDF, MOST_TEXT, Options};
pub use report::{MOST_NAMED, Progress, Remark, Remarks, Report};

use crate::error::ContextError;
use crate::pdf::PdfReader;
use plan::Comparing;
pub(crate) use plan::now;
use refused::Refused;
use walk::Walked;
pub(crate) use walk::{Root, folders};
pub(crate) use work::{format, text as document};

/// Takes documents into a library. Cheap to clone; all clones stop together.
#[derive(Debug, Clone)]
pub struct Ingest {
    library: Library,
    pdf: PdfReader,
    options: Arc<Options>,
    refused: Refused,
    stop: Arc<watch::Sender<bool>>,
}

impl Ingest {
    /// Takes documents into this library, PDFs with this reader.
    pub fn new(library: Library, pdf: PdfReader) -> Self {
        let (options, refused) = Default::default();
        Self { library, pdf, options, refused, stop: Arc::new(watch::Sender::new(false)) }
    }

    /// With these options instead of the usual ones.
    #[must_use]
    pub fn with(self, options: Options) -> Self {
        Self { options: Arc::new(options.exact()), ..self }
    }

    /// What is taken in.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Lets every ingest that runs end after the documents it is at, and every later one at once.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Whether it was asked to stop.
    pub fn stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Ready once it was asked to stop.
    pub(crate) async fn ended(&self) {
        let mut stop = self.stop.subscribe();
        // The sender is ours, so it is not gone.
        let _ = stop.wait_for(|stop| *stop).await;
    }

    /// Takes in a file, or a folder and all below it, and forgets what is gone from it. Whoever stops
    /// waiting stops it; what was kept until then stays.
    pub async fn path(
        &self,
        path: &Path,
        told: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Report, ContextError> {
        let named = path.to_owned();
        let root = off_the_runtime(move || Root::find(&named)).await??;
        self.places(&root, None, told).await
    }

    /// The same for a path that was found before; of it only these places, if some are given.
    pub(crate) async fn places(
        &self,
        root: &Root,
        places: Option<&BTreeSet<PathBuf>>,
        told: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Report, ContextError> {
        let mut report = Report::default();
        let walked = self.walk(root, places, told).await?;
        if !self.stopped() {
            let Self { library, options, refused, .. } = self;
            let comparing = Comparing { library, options, refused, root, places };
            let plan = comparing.plan(walked, &mut report).await?;
            run::run(self, root, plan, (&mut report, told)).await?;
            self.tidy(&report).await?;
        }
        report.stopped = self.stopped();
        Ok(report)
    }

    /// Walks on a thread of its own: a folder may be on a slow disk.
    async fn walk(
        &self,
        root: &Root,
        places: Option<&BTreeSet<PathBuf>>,
        told: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Walked, ContextError> {
        let (sender, mut seen) = mpsc::unbounded_channel();
        let (root, places) = (root.clone(), places.cloned());
        let (options, stop) = (self.options.clone(), self.stop.clone());
        let walking = off_the_runtime(move || {
            let mut told = |count| sender.send(count).is_ok() && !*stop.borrow();
            walk::walk(&root, places.as_ref(), &options, &mut told)
        });
        let telling = async {
            while let Some(seen) = seen.recv().await {
                told(Progress { seen, ..Progress::default() });
            }
        };
        let (walked, ()) = tokio::join!(walking, telling);
        walked
    }

    /// Brings the index into shape after much has changed.
    async fn tidy(&self, report: &Report) -> Result<(), ContextError> {
        let mut more = report.changed_anything();
        while more && !self.stopped() {
            more = self.library.tidy().await?;
        }
        Ok(())
    }
}

/// Does something that takes its time where nobody waits for it.
async fn off_the_runtime<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ContextError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| ContextError::Worker(error.to_string()))
}
