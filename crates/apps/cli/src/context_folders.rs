//! Keeps the local context up to date with the configured folders while a gateway serves.
//!
//! The context crate decides what to read and when. This module starts it, and restarts it when the
//! configured folders change.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::sleep;
use toolgate_context::ingest::IngestOptions;
use toolgate_context::{Ingester, PdfReader, keep_current};
use toolgate_model::ContextSettings;

use crate::control::ControlHandler;
use crate::exit::error_chain;

/// How long to wait before opening the library again after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// Ingests the configured folders and follows their changes. Does not return while the gateway
/// runs.
pub async fn follow_folders(control: &ControlHandler) {
    let mut receiver = control.context_settings.subscribe();
    loop {
        let settings = receiver.borrow_and_update().clone();
        tokio::select! {
            () = ingest_folders(control, &settings) => {}
            changed = receiver.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
    }
}

async fn ingest_folders(control: &ControlHandler, settings: &ContextSettings) {
    if settings.folders.is_empty() {
        return std::future::pending().await;
    }
    let library = match control.local_context.shelf.open_or_create().await {
        Ok(library) => library,
        Err(error) => {
            tracing::warn!(target: "toolgate::context", "{}", error_chain(&error));
            return sleep(RETRY_INTERVAL).await;
        }
    };
    // A folder that does not exist yet has no canonical path.
    let canonical = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let trusted = settings.trusted.iter().map(canonical).collect();
    let options = IngestOptions { trusted, ..IngestOptions::default() };
    let ingest = Ingester::new(library, PdfReader::current()).with_options(options);
    keep_current(&ingest, &settings.folders).await;
}
