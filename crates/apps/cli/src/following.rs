//! The folders that files name for the local context, followed as long as a gateway serves.
//!
//! What is read in them, and when, is the context's own affair. Here it only begins, and begins anew
//! when the files name others.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::sleep;
use toolgate_context::ingest::Options;
use toolgate_context::{Ingest, PdfReader, keep_current};
use toolgate_model::ContextSettings;

use crate::control::Desk;
use crate::exit::chain;

/// How long until a library that could not be opened is tried again.
const PAUSE: Duration = Duration::from_secs(30);

/// Follows them. Never ends by itself.
pub async fn follow(desk: &Desk) {
    let mut said = desk.context_settings();
    loop {
        let settings = said.borrow_and_update().clone();
        tokio::select! {
            () = keep(desk, &settings) => {}
            changed = said.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
    }
}

async fn keep(desk: &Desk, settings: &ContextSettings) {
    if settings.folders.is_empty() {
        return std::future::pending().await;
    }
    let library = match desk.stock().shelf().open().await {
        Ok(library) => library,
        Err(error) => {
            tracing::warn!(target: "toolgate::context", "failed to {}", chain(&error));
            return sleep(PAUSE).await;
        }
    };
    let trusted = settings.trusted.iter().map(|path| canonical(path)).collect();
    let options = Options { trusted, ..Options::default() };
    let ingest = Ingest::new(library, PdfReader::current()).with(options);
    keep_current(&ingest, &settings.folders).await;
}

/// A folder that is not there yet counts as it is written.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
