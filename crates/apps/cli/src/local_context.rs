//! The local context of a home as a gateway offers it: its server, and whether it has documents.
//!
//! The gateway never waits long for it: a damaged file is logged and counts as empty, a file that
//! is busy counts as having documents, and a missing file is not created.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use tokio::time::{sleep, timeout};
use toolgate_context::{LibraryHandle, Names, gateway_server};
use toolgate_host::local::InProcessServer;

use crate::cli_context::CliContext;
use crate::exit::error_chain;

/// How long to wait for the number of documents.
const LOOK_TIMEOUT: Duration = Duration::from_millis(300);
/// How often the files are checked for changes.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The local context of a home. Cheap to clone.
#[derive(Debug, Clone)]
pub struct LocalContext {
    /// The handle of the library.
    pub shelf: LibraryHandle,
    file: PathBuf,
    has_documents: Arc<AtomicBool>,
}

impl LocalContext {
    /// Returns the local context of this run's home without opening it.
    pub fn of(context: &CliContext) -> Self {
        Self { shelf: context.shelf(), file: context.context_file(), has_documents: Arc::default() }
    }

    /// Returns the server that offers it under these tool names.
    pub fn server(&self, names: Names) -> InProcessServer {
        gateway_server(self.shelf.clone(), names)
    }

    /// Returns true if it had documents at the last [`refresh`](Self::refresh).
    pub fn has_documents(&self) -> bool {
        self.has_documents.load(Ordering::Relaxed)
    }

    /// Checks whether it has documents. Returns true if that changed.
    pub async fn refresh(&self) -> bool {
        let has_documents = match timeout(LOOK_TIMEOUT, self.count_documents()).await {
            Ok(documents) => documents > 0,
            // Another process is writing to it.
            Err(_) => true,
        };
        self.has_documents.swap(has_documents, Ordering::Relaxed) != has_documents
    }

    async fn count_documents(&self) -> u64 {
        let documents = async {
            match self.shelf.open_existing().await? {
                Some(library) => library.status().await.map(|status| status.documents),
                None => Ok(0),
            }
        };
        documents.await.unwrap_or_else(|error| {
            tracing::error!(target: "toolgate::context", "{}", error_chain(&error));
            0
        })
    }

    /// Waits until it gets its first document or loses its last.
    pub async fn wait_for_change(&self) {
        let mut known = self.file_stamps();
        loop {
            sleep(POLL_INTERVAL).await;
            let now = self.file_stamps();
            if now != known && self.refresh().await {
                return;
            }
            known = now;
        }
    }

    /// Returns the size and modification time of the file and of its write-ahead log. Every write
    /// changes them.
    fn file_stamps(&self) -> [Option<(u64, Option<SystemTime>)>; 2] {
        let log = self.file.with_extension("db-wal");
        [&self.file, &log].map(|path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.len(), metadata.modified().ok()))
        })
    }
}
