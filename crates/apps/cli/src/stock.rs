//! The local context as a gateway offers it: its server, and whether it holds something.
//!
//! Nobody waits for it: a file that is damaged is told and counts as empty, one that somebody is
//! writing counts as filled, and one that does not exist is not made.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use tokio::time::{sleep, timeout};
use toolgate_context::{Names, Shelf, gateway_server};
use toolgate_host::local::LocalServer;

use crate::context::Context;
use crate::exit::chain;

/// So long a gateway waits for a look into it.
const PATIENCE: Duration = Duration::from_millis(300);
/// So often it is looked whether somebody wrote into it.
const PAUSE: Duration = Duration::from_secs(2);

/// The local context of a home. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Stock {
    shelf: Shelf,
    file: PathBuf,
    holds: Arc<AtomicBool>,
}

impl Stock {
    /// That of this run's home. Nothing is opened yet.
    pub fn of(context: &Context) -> Self {
        Self { shelf: context.shelf(), file: context.context_file(), holds: Arc::default() }
    }

    /// Where it lies.
    pub fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// The server that offers it under these names.
    pub fn server(&self, names: Names) -> LocalServer {
        gateway_server(self.shelf.clone(), names)
    }

    /// Whether it held something when it was last looked into.
    pub fn holds(&self) -> bool {
        self.holds.load(Ordering::Relaxed)
    }

    /// Looks into it; whether that is news.
    pub async fn look(&self) -> bool {
        let holds = match timeout(PATIENCE, self.documents()).await {
            Ok(documents) => documents > 0,
            // Somebody is writing a lot.
            Err(_) => true,
        };
        self.holds.swap(holds, Ordering::Relaxed) != holds
    }

    async fn documents(&self) -> u64 {
        let documents = async {
            match self.shelf.look().await? {
                Some(library) => library.status().await.map(|status| status.documents),
                None => Ok(0),
            }
        };
        documents.await.unwrap_or_else(|error| {
            tracing::error!(target: "toolgate::context", "failed to {}", chain(&error));
            0
        })
    }

    /// Waits until somebody has filled it, or emptied it.
    pub async fn changed(&self) {
        let mut known = self.stamp();
        loop {
            sleep(PAUSE).await;
            let now = self.stamp();
            if now != known && self.look().await {
                return;
            }
            known = now;
        }
    }

    /// What every writing changes, of the file and of the log beside it.
    fn stamp(&self) -> [Option<(u64, Option<SystemTime>)>; 2] {
        let log = self.file.with_extension("db-wal");
        [&self.file, &log].map(|path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.len(), metadata.modified().ok()))
        })
    }
}
